/* The options of what serves agents and clients, for running jobs as for replays. */
#ifndef HOLTER_DAEMON_SERVER_SERVER_OPTIONS_H
#define HOLTER_DAEMON_SERVER_SERVER_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#define SERVER_ENDPOINTS_MAXIMUM 8u

struct server_options {
    const char *listen[SERVER_ENDPOINTS_MAXIMUM]; /**< endpoints; borrowed, as all texts here */
    size_t listen_count;
    const char *keys;    /**< directory of CURVE keys; NULL: no keys */
    const char *session; /**< key of the session whose agents are served; NULL: all are */
    const char *rules;   /**< file of alert rules, reported to clients; NULL: the built-in ones */
    uint64_t window_ns;  /**< length of windows */
    int users;           /**< keys may belong to users, who see their own jobs only */
    int replays;         /**< a recording is replayed: there are no agents */
};

/** How long after its end a window of this length waits for late agents, unless it is given;
 * nanoseconds. */
static inline uint64_t server_default_grace(uint64_t window_ns)
{
    const uint64_t maximum_ns = 250000000;
    return window_ns / 4 < maximum_ns ? window_ns / 4 : maximum_ns;
}

#endif
