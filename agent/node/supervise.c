/* Forks the worker, waits for it and starts it again after a crash. */
#include "agent/node/supervise.h"

#include "agent/launch/restarts.h"
#include "proto/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOG_TOPIC "supervise"

/* A larger exit status does not come from the code of the worker, but from a sanitizer or
 * abort(3). */
#define WORST_STATUS 2

static unsigned long supervise_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long)now.tv_sec;
}

static pid_t supervise_start_worker(int (*work)(void *user), void *user, const sigset_t *handled)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    sigprocmask(SIG_UNBLOCK, handled, NULL);
    exit(work(user));
}

/* Waits for the worker and forwards signals. @return its wait status; *asked is set when a signal
 * requested a stop */
static int supervise_wait_for(pid_t worker, const sigset_t *handled, int *asked)
{
    for (;;) {
        int status, number = sigwaitinfo(handled, NULL);
        if (number == SIGTERM || number == SIGINT || number == SIGHUP) {
            *asked = 1;
            kill(worker, SIGTERM);
        }
        if (waitpid(worker, &status, WNOHANG) == worker)
            return status;
    }
}

int supervise_worker(int (*work)(void *user), void (*restarted)(void *user), void *user)
{
    struct restarts restarts = {0};
    int asked = 0;
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, SIGCHLD);
    sigaddset(&handled, SIGTERM);
    sigaddset(&handled, SIGINT);
    sigaddset(&handled, SIGHUP);
    sigprocmask(SIG_BLOCK, &handled, NULL);
    for (;;) {
        pid_t worker = supervise_start_worker(work, user, &handled);
        if (worker < 0) {
            log_error("no worker can be started: %s", strerror(errno));
            return 1;
        }
        int status = supervise_wait_for(worker, &handled, &asked);
        if (WIFEXITED(status) && WEXITSTATUS(status) <= WORST_STATUS)
            return WEXITSTATUS(status);
        if (asked)
            return 1;
        int wait_ms = restarts_record_crash(&restarts, supervise_seconds());
        log_error("the worker %s %d", WIFSIGNALED(status) ? "was ended by signal" : "exited with",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        if (wait_ms < 0) {
            log_error("it ended so %d times within %u s: giving up", RESTARTS_MAXIMUM + 1,
                      RESTARTS_SECONDS);
            return 1;
        }
        struct timespec pause = {wait_ms / 1000, wait_ms % 1000 * 1000000L};
        nanosleep(&pause, NULL);
        restarted(user);
    }
}
