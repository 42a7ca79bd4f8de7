/* Reaching a daemon from the command line: endpoint and keys from options, environment or run
 * directory. */
#ifndef HOLTER_AGENT_DIAL_H
#define HOLTER_AGENT_DIAL_H

#include "proto/client.h"

#include <limits.h>
#include <stdint.h>

struct dial {
    const char *command; /**< "tap": put before what is said */
    char endpoint[PATH_MAX];
    char keys[PATH_MAX]; /**< "": none */
    int named;           /**< the endpoint was given, not found */
    int keys_named;      /**< the key directory was given */
    enum role role;
    uint64_t patience_ns; /**< how long a daemon may be away before it is given up */
};

/** Find out where to dial.
 *  @param connect  endpoint, NULL: see session_find_daemon()
 *  @param keys     directory, NULL: see session_find_keys()
 *  @return 0, or the exit status, after saying why */
int dial_resolve(struct dial *dial, const char *connect, const char *keys);

/** Make the client. @return 0, or the exit status, after saying why */
int dial_open(const struct dial *dial, struct client **out);

/** Has another daemon appeared where daemons are looked for, while the one dialled has never
 *  answered? The client is then made anew, for that one; what it followed or asked is gone.
 *  @return 1 when it was */
int dial_moved(struct dial *dial, struct client **client);

/** Wait until the daemon has said welcome. @return 0, or the exit status, after saying why */
int dial_wait(struct dial *dial, struct client **client);

/** A time in seconds from the command line, "2.5". @return nanoseconds, or 0 when it is none
 *  above 0 */
uint64_t dial_seconds(const char *text);

/** Is the daemon out of reach for good: refused, or away for too long? Says so then.
 *  @param since_ns  state of the caller, 0 at first: since when the daemon is away, CLOCK_MONOTONIC
 *  @return 1 when it is to be given up */
int dial_is_hopeless(const struct dial *dial, const struct client *client, uint64_t *since_ns);

#endif
