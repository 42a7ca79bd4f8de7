/* The two ZeroMQ sockets of the daemon, on all endpoints of its options. */
#ifndef HOLTER_DAEMON_SERVER_SOCKETS_H
#define HOLTER_DAEMON_SERVER_SOCKETS_H

#include "daemon/server/listen.h"
#include "daemon/server/server_options.h"

#include <stddef.h>

#define SOCKETS_SUBSCRIPTION_BYTES 512 /**< bytes of the longest subscription message */

/** The front, ROUTER: agents and clients.
 *  @param locks  gets the locks of ipc endpoints; to be released after the ZeroMQ context has
 * ended, because libzmq removes a socket's file some time after the socket was closed
 *  @param why    set on failure: a sentence for people @return 0, -EADDRINUSE or another -errno */
int sockets_open_front(void **out, void *context, const struct server_options *options,
                       struct listen_locks *locks, char *why, size_t capacity);

/** The stream, XPUB: what is published. @return as sockets_open_front() */
int sockets_open_stream(void **out, void *context, const struct server_options *options, char *why,
                        size_t capacity);

#endif
