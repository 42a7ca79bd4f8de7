/* Runs the command of `holter run`, passes signals on and waits for it. */
#include "agent/launch/run.h"

#include "agent/terminal/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is passed on to the launcher. SIGCHLD is ours. */
static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1,
                                SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH, SIGALRM};

static void run_child_fill_mask(sigset_t *mask)
{
    sigemptyset(mask);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(mask, passed_on[i]);
    sigaddset(mask, SIGCHLD);
}

/** The terminal sends its signals to the whole process group, so the launcher has those already,
 *  and some take a second one for a demand to give up everything at once. */
static int run_child_sent_by_terminal(const siginfo_t *info)
{
    return info->si_code == SI_KERNEL;
}

struct waiting {
    pid_t child;
    struct run_session *session; /**< NULL: no daemon */
    int status;                  /**< of the child; -1: it still runs */
    int pausing;                 /**< SIGTSTP came, and no SIGCONT since then */
};

/** A launcher that the terminal stops stops us too, so that the shell has its prompt. Not one that
 *  got SIGSTOP alone, or with us: whoever continues it may not continue us, or has done so. */
static int run_child_is_to_stop(const struct waiting *w, int status)
{
    sigset_t pending;
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1)
        return 0;
    return WSTOPSIG(status) != SIGSTOP || w->pausing;
}

/** Look at the children that changed. */
static void run_child_reap(struct waiting *w)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (pid == w->child && WIFSTOPPED(status)) {
            if (run_child_is_to_stop(w, status))
                kill(getpid(), SIGSTOP);
        } else if (pid == w->child) {
            w->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        } else if (w->session != NULL && pid == w->session->daemon && !WIFSTOPPED(status)) {
            run_daemon_ended(w->session, status);
        }
    }
}

static void run_child_exec_command(const struct run_command *command, const sigset_t *mask)
{
    for (int i = 0; command->environment[i] != NULL; i++)
        putenv(command->environment[i]);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(command->program, command->words);
    int error = errno;
    if (error == ENOEXEC) /* a script without "#!", which execvp(3) and the shells run */
        execvp(command->program, command->words);
    terminal_print("%s: %s", command->program, strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

void run_child_hold_signals(sigset_t *before)
{
    sigset_t mask;
    run_child_fill_mask(&mask);
    sigaddset(&mask, SIGXFSZ); /* a write beyond the limit of setrlimit(2) fails, and no more */
    sigprocmask(SIG_BLOCK, &mask, before);
    signal(SIGCHLD, SIG_DFL); /* an ignored one would take the children's statuses away */
}

int run_child_end_requested(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action;
    sigset_t pending;
    if (sigpending(&pending) < 0)
        return 0;
    /* One that is ignored, as below nohup, is pending, too, while it is blocked. */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigismember(&pending, ends[i]) == 1 && sigaction(ends[i], NULL, &action) == 0 &&
            action.sa_handler != SIG_IGN)
            return 1;
    return 0;
}

int run_child_run_and_wait(const struct run_command *command, struct run_session *session,
                           const sigset_t *before)
{
    sigset_t mask;
    run_child_fill_mask(&mask);
    struct waiting w = {.child = fork(), .session = session, .status = -1};
    if (w.child == 0)
        run_child_exec_command(command, before);
    if (w.child < 0) {
        terminal_print("%s: %s", command->program, strerror(errno));
        w.status = 126;
    }
    while (w.status < 0) {
        siginfo_t info;
        int number = sigwaitinfo(&mask, &info);
        w.pausing = number == SIGTSTP || (w.pausing && number != SIGCONT);
        if (number == SIGCHLD)
            run_child_reap(&w);
        else if (number > 0 && !run_child_sent_by_terminal(&info))
            kill(w.child, number);
    }
    return w.status;
}
