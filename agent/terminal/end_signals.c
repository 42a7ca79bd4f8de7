/* Signals that end a command. */
#include "agent/terminal/end_signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

int end_signals_open(int hangup)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (hangup)
        sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}
