/* Listening on endpoints, each by one daemon at a time.
 *
 * libzmq removes whatever lies at an ipc path and binds again, so a second daemon would take the
 * socket away from the first one. Therefore a lock file "<path>.lock" is held while an ipc endpoint
 * is listened on: a dead daemon's socket is replaced, a live one's is respected. Sockets are made
 * for their owner only. */
#ifndef HOLTER_DAEMON_SERVER_LISTEN_H
#define HOLTER_DAEMON_SERVER_LISTEN_H

#include <stddef.h>

/** The locks of a daemon. Zero-initialised is empty. */
struct listen_locks {
    struct listen_lock {
        int fd;
        char path[300];
    } held[16];
    size_t count;
};

/** Bind a ZeroMQ socket.
 *  @param locks  gets the lock of an ipc endpoint; NULL: it is held already
 *  @param why    set on failure: a sentence for people
 *  @return 0 or -errno; -EADDRINUSE when another process listens there */
int listen_bind(struct listen_locks *locks, void *socket, const char *endpoint, char *why,
                size_t capacity);

/** Remove the sockets of ipc endpoints, their streams and their locks; after the ZeroMQ context has
 *  ended. */
void listen_finish(struct listen_locks *locks);

#endif
