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

#define TIME_CHECK_MS 250 /* between two checks of the time left */

extern char **environ;

struct command_process {
    pid_t pid;
    int ended;  /* pidfd: readable when the command has ended */
    int input;  /* its standard input, our end; -1: closed */
    int errors; /* its standard error, our end; -1: closed */
    const char *json;
    size_t left;          /* bytes of json to be written */
    char error_text[120]; /* begin of its standard error */
    size_t error_length;
};

/* ---- starting ------------------------------------------------------------ */

/* The command inherits only the two pipes and the environment. */
static int command_spawn(pid_t *out, const char *command, int input, int errors)
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

static void command_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int command_start(struct command_process *run, const char *command)
{
    int in[2] = {-1, -1}, err[2] = {-1, -1};
    int code = pipe2(in, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 ? -errno : 0;
    code = code != 0 ? code : command_spawn(&run->pid, command, in[0], err[1]);
    command_close_fd(&in[0]);
    command_close_fd(&err[1]);
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
        command_close_fd(&in[1]);
        command_close_fd(&err[0]);
        return code;
    }
    run->input = in[1];
    run->errors = err[0];
    return 0;
}

/* ---- running ------------------------------------------------------------- */

static void command_write_input(struct command_process *run)
{
    ssize_t n = write(run->input, run->json, run->left);
    if (n > 0) {
        run->json += n;
        run->left -= (size_t)n;
    }
    if (run->left == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        command_close_fd(&run->input); /* the command need not read its input */
}

/* Standard error is read to its end, and its begin is stored. */
static void command_read_errors(struct command_process *run)
{
    char text[4096];
    ssize_t n = read(run->errors, text, sizeof(text));
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        command_close_fd(&run->errors);
        return;
    }
    size_t capacity = sizeof(run->error_text) - 1 - run->error_length;
    size_t taken = n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
    memcpy(run->error_text + run->error_length, text, taken);
    run->error_length += taken;
    run->error_text[run->error_length] = '\0';
}

/* @return 1 when the command has ended, 0 when its time is over */
static int command_run(struct command_process *run, const struct sink_delivery *delivery)
{
    for (;;) {
        struct pollfd fds[3] = {{.fd = run->ended, .events = POLLIN},
                                {.fd = run->input, .events = POLLOUT},
                                {.fd = run->errors, .events = POLLIN}};
        int left = sink_time_left(delivery);
        if (left == 0)
            return 0;
        /* The time may become shorter: the daemon leaves. */
        if (poll(fds, 3, left < TIME_CHECK_MS ? left : TIME_CHECK_MS) <= 0)
            continue;
        if (fds[1].revents != 0)
            command_write_input(run);
        if (fds[2].revents != 0)
            command_read_errors(run);
        /* The reason of a failure may still be unread; but children of the command may hold its
         * standard error open, and write on. */
        if (fds[0].revents != 0 &&
            (fds[2].revents == 0 || run->errors < 0 || run->error_length > 0))
            return 1;
    }
}

static int command_check_status(const struct command_process *run, int in_time, int status,
                                char *why, size_t capacity)
{
    size_t line = strcspn(run->error_text, "\n");
    if (!in_time)
        snprintf(why, capacity, "it was killed because it took too long");
    else if (WIFSIGNALED(status))
        snprintf(why, capacity, "it was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(why, capacity, "it ended with status %d%s%.*s", WEXITSTATUS(status),
                 line == 0 ? "" : ": ", (int)line, run->error_text);
    else
        return 0;
    return -HOLTER_ETIMEOUT;
}

static int command_send(void *state, const struct sink_rule *rule,
                        const struct sink_delivery *delivery, char *why, size_t capacity)
{
    struct command_process run = {.json = delivery->json, .left = delivery->json_length};
    int status = 0;
    (void)state;
    if (sink_time_left(delivery) == 0) {
        snprintf(why, capacity, "no time is left for it");
        return -HOLTER_ETIMEOUT;
    }
    int code = command_start(&run, rule->target);
    if (code != 0) {
        snprintf(why, capacity, "it cannot be started: %s", holter_strerror(code));
        return code;
    }
    int in_time = command_run(&run, delivery);
    if (!in_time)
        kill(-run.pid, SIGKILL); /* before waitpid(): the process id is still its own */
    waitpid(run.pid, &status, 0);
    command_close_fd(&run.input);
    command_close_fd(&run.errors);
    close(run.ended);
    return command_check_status(&run, in_time, status, why, capacity);
}

const struct sink_operations sink_command = {.name = "command", .workers = 4, .send = command_send};
