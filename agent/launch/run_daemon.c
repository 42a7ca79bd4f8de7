/* The daemon of `holter run`: its command line, its start, its restarts after a crash, its end. */
#include "agent/launch/run.h"

#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define START_TIMEOUT (5 * SECOND) /**< for the daemon's first answer */
#define STOP_TIMEOUT (8 * SECOND)  /**< between SIGTERM and SIGKILL; its sinks may take 4 s */

const char **run_daemon_command(const struct run_session *session,
                                const struct run_options *options, const char *program)
{
    int remote = session->remote[0] != '\0', records = session->record[0] != '\0';
    const char *listen = options->listen != NULL ? options->listen : session->remote;
    const struct {
        const char *option, *value; /* NULL: not given */
    } pairs[] = {
        {"--session", session->key},
        {"--listen", session->local},
        {"--listen", remote ? listen : NULL},
        {"--keys", session->keys[0] != '\0' ? session->keys : NULL},
        {"--record", records ? session->record : NULL},
        {"--max-size", records ? options->max_size : NULL},
        {"--window", options->window},
        {"--topology", options->topology},
    };
    const char **words = calloc(22 + RUN_ALERT_WORDS, sizeof *words);
    int n = 0;
    if (words == NULL)
        return NULL;
    words[n++] = program;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].value != NULL) {
            words[n++] = pairs[i].option;
            words[n++] = pairs[i].value;
        }
    }
    if (!records)
        words[n++] = "--no-record";
    run_alert_words(words + n, options);
    return words;
}

/** In the forked process: become the daemon. It leaves the terminal's process group, so that Ctrl-C
 *  reaches the launcher alone, and ends when we do. */
static void run_daemon_exec(const struct run_session *s, const char **words, pid_t parent,
                            unsigned wait_ms)
{
    struct timespec pause = {wait_ms / 1000, wait_ms % 1000 * 1000000L};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int null = open("/dev/null", O_RDWR);
    int log = s->options->verbose ? STDERR_FILENO
                                  : open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
    if (getppid() != parent || null < 0 || log < 0)
        _exit(127);
    dup2(null, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* alerts are for the user */
    dup2(log, STDERR_FILENO);
    syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
    nanosleep(&pause, NULL);
    execv(words[0], (char *const *)(void *)words);
    dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static int run_daemon_fail(struct run_session *s, const char *why)
{
    snprintf(s->start_fault, sizeof s->start_fault, "%s", why);
    terminal_print("cannot start holterd: %s", why);
    return -1;
}

/** Start the daemon. Does not wait for it: signals and the job's end are not delayed.
 *  @param wait_ms  time that the new process sleeps before it becomes the daemon
 *  @return 0, or -1 after having said what is wrong */
static int run_daemon_fork(struct run_session *s, unsigned wait_ms)
{
    char program[PATH_MAX];
    int rc = paths_program(program, sizeof program, "holterd");
    const char **words = rc < 0 ? NULL : run_daemon_command(s, s->options, program);
    if (words == NULL)
        return run_daemon_fail(s, holter_strerror(rc < 0 ? rc : -ENOMEM));
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        run_daemon_exec(s, words, parent, wait_ms);
    free(words);
    if (pid < 0)
        return run_daemon_fail(s, strerror(errno));
    s->daemon = pid;
    return 0;
}

void run_daemon_ended(struct run_session *s, int status)
{
    int in_order = WIFEXITED(status) && WEXITSTATUS(status) == 0; /* an operator stopped it */
    int wait_ms =
        in_order ? -1
                 : restarts_record_crash(&s->crashes, (unsigned long)(clock_mono_ns() / SECOND));
    s->daemon = 0;
    int restarted = wait_ms >= 0 && run_daemon_fork(s, (unsigned)wait_ms) == 0;
    s->restarted += (unsigned)restarted;
    terminal_print("holterd %s %d; %s",
                   WIFSIGNALED(status) ? "was ended by signal" : "ended with status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                   restarted ? "it is restarted" : "the job goes on unwatched");
}

/** Wait until the daemon answers. @return 0, or -1 when it ended or says nothing */
static int run_daemon_await(struct run_session *s)
{
    struct client *client = NULL;
    struct client_options options = {
        .endpoint = s->local,
        .key_dir = s->keys[0] == '\0' ? NULL : s->keys,
        .role = ROLE_VIEWER,
    };
    char words[512] = "it does not answer";
    uint64_t deadline = clock_mono_ns() + START_TIMEOUT;
    int rc = client_create(&client, &options);
    if (rc < 0)
        snprintf(words, sizeof words, "%s", holter_strerror(rc));
    while (rc == 0 && client_state(client) != CLIENT_CONNECTED) {
        struct client_message message;
        int status;
        if (waitpid(s->daemon, &status, WNOHANG) == s->daemon) {
            if (WIFSIGNALED(status))
                run_daemon_ended(s, status);
            else
                s->daemon = 0;
            rc = s->daemon > 0 ? 0 : -1;
            if (rc < 0)
                bound_child_explain(s->log, words, sizeof words);
        } else if (clock_mono_ns() > deadline) {
            rc = -1;
        } else if (client_next(client, 20, &message) < 0 ||
                   client_state(client) == CLIENT_REFUSED) {
            snprintf(words, sizeof words, "%s", client_error(client));
            rc = -1;
        }
    }
    client_destroy(client);
    if (rc < 0)
        terminal_print("holterd did not start: %s", words);
    return rc < 0 ? -1 : 0;
}

int run_daemon_start(struct run_session *s)
{
    return run_daemon_fork(s, 0) < 0 ? -1 : run_daemon_await(s);
}

int run_daemon_revive(struct run_session *s)
{
    int status;
    if (s->daemon <= 0 || waitpid(s->daemon, &status, WNOHANG) != s->daemon)
        return 0;
    run_daemon_ended(s, status);
    return s->daemon > 0;
}

void run_daemon_stop(struct run_session *s)
{
    uint64_t deadline = clock_mono_ns() + STOP_TIMEOUT;
    struct timespec pause = {.tv_nsec = 5000000};
    int status;
    if (s->daemon <= 0)
        return;
    kill(s->daemon, SIGTERM);
    while (waitpid(s->daemon, &status, WNOHANG) == 0) {
        if (clock_mono_ns() > deadline) {
            terminal_print(
                "holterd did not end in time and was killed; its recording holds all but the last "
                "second");
            kill(s->daemon, SIGKILL);
            waitpid(s->daemon, NULL, 0);
            s->daemon = 0;
            return;
        }
        nanosleep(&pause, NULL);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM)
        terminal_print("holterd was ended by signal %d before it had closed its recordings; they "
                       "hold all but the last second",
                       WTERMSIG(status));
    s->daemon = 0;
}
