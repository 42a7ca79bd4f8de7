/* The alerts of one job. One episode is one alert: it is raised once, updated while it lasts, and
 * resolved. */
#ifndef HOLTER_DAEMON_ALERTS_H
#define HOLTER_DAEMON_ALERTS_H

#include "daemon/analysis/key_table.h"
#include "holter/wire.h"

#define ALERTS_MOST 16384u /**< alerts kept for a job; further episodes are not told apart */

struct alert {
    uint64_t id;
    char kind[33];
    char host[65]; /**< "": about no node */
    int64_t rank;  /**< -1: about no rank */
    int firing;
    uint64_t since_ns, updated_ns; /**< daemon time */
    char title[129];
    char text[1025];
};

struct alerts {
    struct alert **list; /**< owned; by id, from 1 up */
    size_t count;
    struct key_table subjects; /**< hi: hash of the host; lo: of the kind */
    struct alert **newest;     /**< owned; by subject: its newest alert */
    uint32_t newest_room;
};

/** Zero-initialised is empty. */
void alerts_finish(struct alerts *alerts);

/** Begin or update the episode of this kind on this host.
 *  @param host   NULL or "": none
 *  @param text   may be NULL
 *  @return the alert when something changed that people should know, NULL otherwise (also without
 *          memory) */
const struct alert *alerts_raise(struct alerts *alerts, const char *kind, const char *host,
                                 int64_t rank, uint64_t now_ns, const char *title,
                                 const char *text);

/** End the episode. @return the alert, or NULL when there was none firing */
const struct alert *alerts_resolve(struct alerts *alerts, const char *kind, const char *host,
                                   uint64_t now_ns);

/** Does the episode of this kind on this host go on? */
int alerts_fires(const struct alerts *alerts, const char *kind, const char *host);

/** Take one over from a recording, in order of ids. @return 0, -ENOMEM or -HOLTER_ERANGE */
int alerts_restore(struct alerts *alerts, const struct wire_alert *alert);

/** As a message; texts are borrowed from the alert. */
struct wire_alert alert_message(const struct alert *alert, const char *job);

#endif
