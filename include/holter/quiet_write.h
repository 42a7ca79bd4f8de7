/* Messages for the user, which end nothing where they cannot be written. */
#ifndef HOLTER_QUIET_WRITE_H
#define HOLTER_QUIET_WRITE_H

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/** Write a message once. Where its reader has gone (SIGPIPE), or the file is at its size limit
 *  (SIGXFSZ, setrlimit(2)), it is lost, and the process goes on: both signals are sent to the
 * thread that writes, which blocks them and takes them back. */
static inline void quiet_write(int fd, const void *bytes, size_t length)
{
    static const struct timespec at_once = {0};
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    if (write(fd, bytes, length) < 0)
        sigtimedwait(&signals, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#endif
