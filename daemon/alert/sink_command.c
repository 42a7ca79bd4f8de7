/* Alerts for a command of the user: /bin/sh -c, the alert as JSON on its standard input. It is a
 * process group of its own, which is killed when its time is over. */
#include "daemon/alert/sink.h"
#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 250 /* how often the time is looked at */

extern char **environ;

struct run {
    pid_t pid;
    int ended;  /* pidfd: readable when it has */
    int input;  /* its standard input, our end; -1: closed */
    int errors; /* its standard error, our end; -1: closed */
    const char *json;
    size_t left;    /* of it to write */
    char said[120]; /* begin of what it said on standard error */
    size_t said_length;
};

/* ---- starting ------------------------------------------------------------ */

/* Nothing of the daemon goes on into the command but the two pipes and the environment. */
static int spawn(pid_t *out, const char *command, int input, int errors)
{
    static const char shell[] = "/bin/sh";
    char *const words[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    int code = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    code = code != 0 ? code : posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    code = code != 0 ? code
                     : posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                                        O_WRONLY, 0);
    code = code != 0 ? code : posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    code = code != 0 ? code : posix_spawn(out, shell, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int start(struct run *run, const char *command)
{
    int in[2] = {-1, -1}, err[2] = {-1, -1};
    int code = pipe2(in, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 ? -errno : 0;
    code = code != 0 ? code : spawn(&run->pid, command, in[0], err[1]);
    close_one(&in[0]);
    close_one(&err[1]);
    if (code == 0) {
        fcntl(in[1], F_SETFL, O_NONBLOCK);
        fcntl(err[0], F_SETFL, O_NONBLOCK);
        run->ended = (int)syscall(SYS_pidfd_open, run->pid, 0);
        if (run->ended < 0) {
            code = -errno;
            kill(-run->pid, SIGKILL);
            waitpid(run->pid, NULL, 0);
        }
    }
    if (code != 0) {
        close_one(&in[1]);
        close_one(&err[0]);
        return code;
    }
    run->input = in[1];
    run->errors = err[0];
    return 0;
}

/* ---- running ------------------------------------------------------------- */

static void feed(struct run *run)
{
    ssize_t n = write(run->input, run->json, run->left);
    if (n > 0) {
        run->json += n;
        run->left -= (size_t)n;
    }
    if (run->left == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_one(&run->input); /* it need not read all, or anything */
}

/* What it says is read to the end, however much it is; the begin is kept. */
static void hear(struct run *run)
{
    char text[4096];
    ssize_t n = read(run->errors, text, sizeof(text));
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_one(&run->errors);
        return;
    }
    size_t room = sizeof(run->said) - 1 - run->said_length;
    size_t taken = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room;
    memcpy(run->said + run->said_length, text, taken);
    run->said_length += taken;
    run->said[run->said_length] = '\0';
}

/* @return 1 when the command has ended, 0 when its time is over */
static int attend(struct run *run, const struct telling *telling)
{
    for (;;) {
        struct pollfd fds[3] = {{.fd = run->ended, .events = POLLIN},
                                {.fd = run->input, .events = POLLOUT},
                                {.fd = run->errors, .events = POLLIN}};
        int left = sink_time_left(telling);
        if (left == 0)
            return 0;
        /* The time may become shorter: the daemon leaves. */
        if (poll(fds, 3, left < LOOK_MS ? left : LOOK_MS) <= 0)
            continue;
        if (fds[1].revents != 0)
            feed(run);
        if (fds[2].revents != 0)
            hear(run);
        /* Why it failed may still wait to be read; but others may hold its standard error open, and
         * say ever more. */
        if (fds[0].revents != 0 && (fds[2].revents == 0 || run->errors < 0 || run->said_length > 0))
            return 1;
    }
}

static int judge(const struct run *run, int in_time, int status, char *why, size_t room)
{
    size_t line = strcspn(run->said, "\n");
    if (!in_time)
        snprintf(why, room, "it was killed because it took too long");
    else if (WIFSIGNALED(status))
        snprintf(why, room, "it was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(why, room, "it ended with status %d%s%.*s", WEXITSTATUS(status),
                 line == 0 ? "" : ": ", (int)line, run->said);
    else
        return 0;
    return -HOLTER_ETIMEOUT;
}

static int tell(void *state, const struct sink_rule *rule, const struct telling *telling, char *why,
                size_t room)
{
    struct run run = {.json = telling->json, .left = telling->json_length};
    int status = 0;
    (void)state;
    if (sink_time_left(telling) == 0) {
        snprintf(why, room, "no time is left for it");
        return -HOLTER_ETIMEOUT;
    }
    int code = start(&run, rule->target);
    if (code != 0) {
        snprintf(why, room, "it cannot be started: %s", holter_strerror(code));
        return code;
    }
    int in_time = attend(&run, telling);
    if (!in_time)
        kill(-run.pid, SIGKILL); /* not waited for yet: the number is still its own */
    waitpid(run.pid, &status, 0);
    close_one(&run.input);
    close_one(&run.errors);
    close(run.ended);
    return judge(&run, in_time, status, why, room);
}

const struct sink_type sink_command = {.name = "command", .workers = 4, .tell = tell};
