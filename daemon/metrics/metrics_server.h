/* The page of metrics over HTTP: GET and HEAD of /metrics, and nothing else.
 *
 * A thread of libmicrohttpd's serves the connections, so that a slow or hostile client costs the
 * event loop nothing: the thread asks the loop for a page, waits for it, and sends it. The loop
 * makes at most one page of each format in METRICS_INTERVAL_NS, and rests METRICS_REST times as
 * long as that took, whoever asks how often. There is no encryption; readers have to send a token,
 * if one is given. */
#ifndef HOLTER_DAEMON_METRICS_METRICS_SERVER_H
#define HOLTER_DAEMON_METRICS_METRICS_SERVER_H

#include "daemon/metrics/metrics_text.h"

#include <uv.h>

#define METRICS_INTERVAL_NS UINT64_C(250000000) /**< a page that is younger is sent again */
#define METRICS_REST 50u /**< pages of one format take at most a fiftieth of the loop's time */
#define METRICS_CONNECTIONS 32u /**< open at once; one address gets half at most */

struct metrics_server;

struct metrics_server_options {
    const char
        *token; /**< readers have to send "Authorization: Bearer TOKEN"; NULL: anybody reads */
    const char *address; /**< HOST:PORT, an IPv6 address in brackets; port 0: any that is free */
    void *user;
    /** Make the text of a page; in the loop. @return owned, NULL without memory */
    char *(*make_page)(void *user, enum metrics_format format, size_t *length);
};

/** Whether this build can serve metrics there now.
 *  @param why  set on failure: a sentence for people @return 0 or a negative error */
int metrics_server_check(const char *address, char *why, size_t capacity);

/** @param why  set on failure @return 0 or a negative error */
int metrics_server_create(struct metrics_server **out, uv_loop_t *loop,
                          const struct metrics_server_options *options, char *why, size_t capacity);

/** "http://127.0.0.1:9464/metrics", with the port that was bound. */
const char *metrics_server_url(const struct metrics_server *server);

/** The thread ends, and connections are closed; a handle closes in later turns of the loop. NULL is
 * fine. */
void metrics_server_destroy(struct metrics_server *server);

#endif
