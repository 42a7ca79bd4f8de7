/* The alerts of one job. One episode is one alert: it is pending until it has lasted, fires, is
 * updated while it lasts, and is resolved. An alert that never fired is resolved with fired_ns 0.
 */
#ifndef HOLTER_DAEMON_ALERT_ALERTS_H
#define HOLTER_DAEMON_ALERT_ALERTS_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#define ALERTS_MAXIMUM 16384u /**< alerts of a job; further episodes are dropped */

#define ALERT_CAUSES 8u
#define ALERT_TITLE 128u /**< bytes of a title at most */

enum alert_state { ALERT_PENDING, ALERT_FIRING, ALERT_RESOLVED };

/** The evidence of an alert; meaning as in the fields of WIRE_ALERT. */
struct alert_evidence {
    char rule[65];
    char severity[17];
    uint64_t region;
    char ranks[257];
    double ratio; /**< NaN: does not apply */
    double slope; /**< NaN: does not apply */
    uint64_t onset_ns;
    char locality[17];
    char sizes[129];
    struct {
        char name[33];
        double share;
        char text[257];
    } causes[ALERT_CAUSES];
    size_t cause_count;
    char advice[513];
    uint64_t error_ns, comm;
    char nodes[257];
    char links[513];
    uint64_t episode;
    char culprit[17], culprits[513], alternatives[257], victims[257];
    double ratio_worst, progress; /**< NaN: does not apply */
    uint64_t lost_ns;
};

struct alert {
    uint64_t id;
    char kind[33];
    char host[65]; /**< "": about no node */
    int64_t rank;  /**< -1: about no rank */
    enum alert_state state;
    uint64_t since_ns, fired_ns, updated_ns; /**< daemon time; fired_ns 0: it has not */
    uint64_t updates;
    char title[ALERT_TITLE + 1];
    char text[1025];
    struct alert_evidence *evidence;                /**< owned; NULL: none */
    struct wire_cause_row cause_rows[ALERT_CAUSES]; /**< texts lie in the evidence */
};

/** The present state of an episode. Texts are copied. */
struct alert_report {
    const char *kind;
    const char *host; /**< NULL or "": none */
    int64_t rank;     /**< -1: none */
    enum alert_state state;
    uint64_t since_ns, now_ns;
    const char *title;
    const char *text;                      /**< NULL: "" */
    const struct alert_evidence *evidence; /**< NULL: none */
};

struct alerts {
    struct alert **list; /**< owned; by id, from 1 up */
    size_t count, capacity;
    struct key_table
        subjects;          /**< hi: hash of the host, or else of rule and episode; lo: of kind */
    struct alert **newest; /**< owned; by subject: its newest alert */
    uint32_t newest_capacity;
};

/** Zero-initialised is empty. */
void alerts_finish(struct alerts *alerts);

/** Begin, update or end the episode of this kind on this host, or, where the alert concerns no
 * host, of this rule. An episode with the since_ns of a restored alert continues that alert: its
 * messages are being read again from a recording.
 *  @return the alert when something changed that people should know, NULL otherwise (also without
 *          memory) */
const struct alert *alerts_report(struct alerts *alerts, const struct alert_report *report);

/** Begin or update a firing episode of this kind on this host, without evidence.
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

/** The alert of this kind on this host that fires. @return NULL: none does */
const struct alert *alerts_find_firing(const struct alerts *alerts, const char *kind,
                                       const char *host);

/** Add an alert of a recording; in order of ids. Of an alert that is there the newest report is
 * taken over, unless it is an episode that is found again in the messages.
 *  @return 0, -ENOMEM or -HOLTER_ERANGE */
int alerts_restore(struct alerts *alerts, const struct wire_alert *alert);

/** As a message; texts and rows are borrowed from the alert. */
struct wire_alert alert_message(const struct alert *alert, const char *job);

/** See state_bytes.h. */
void alerts_copy_state(struct state_bytes *b, struct alerts *alerts);

#endif
