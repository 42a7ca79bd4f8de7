/* Messages for the user, which end nothing where they cannot be written. */
#ifndef HOLTER_QUIET_WRITE_H
#define HOLTER_QUIET_WRITE_H

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/** Write a message once. Where its reader has gone (SIGPIPE), or the file is at its size limit
 *  (SIGXFSZ, setrlimit(2)), it is lost, and the process goes on: both signals are sent to the
 *  thread that writes, which blocks them and takes them back. On Linux sigprocmask(2) is about that
 *  thread alone; pthread_sigmask(3) would need glibc 2.32. */
static inline void quiet_write(int fd, const void *bytes, size_t length)
{
    static const struct timespec at_once = {0};
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &signals, &before);
    if (write(fd, bytes, length) < 0)
        sigtimedwait(&signals, NULL, &at_once);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

#endif
