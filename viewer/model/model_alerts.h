/* Alerts of the job with their evidence: each is an episode with one number, updated while it
 * lasts. */
#ifndef HOLTER_VIEWER_MODEL_MODEL_ALERTS_H
#define HOLTER_VIEWER_MODEL_MODEL_ALERTS_H

#include "holter/wire.h"

#define ALERTS 256     /**< maximum stored; the oldest resolved ones are dropped first */
#define ALERT_CAUSES 8 /**< maximum of causes stored for an alert, the largest */
#define ALERT_CAUSE_NAME 33
#define ALERT_SPANS 64 /**< maximum of rank spans stored for an alert */

enum alert_state { ALERT_PENDING, ALERT_FIRING, ALERT_RESOLVED };

struct alert_cause {
    char name[ALERT_CAUSE_NAME];
    double share; /**< 0 to 1; NaN: not reported */
    char text[257];
};

struct alert_span {
    uint64_t first, last; /**< ranks, both included */
};

struct alert {
    uint64_t id;
    enum alert_state state;
    uint64_t since_ns, updated_ns; /**< daemon time; of a resolved one updated is its end */
    uint64_t onset_ns;             /**< onset of the growth; since_ns when not reported */
    uint64_t fired_ns;             /**< when it began to fire; 0: it never did */
    int64_t rank;                  /**< -1: none */
    uint64_t region;               /**< 0: none */
    double ratio, worst;           /**< now, and the largest so far; NaN: does not apply */
    double slope;                  /**< NaN: does not apply */
    double progress;               /**< work a second by that before; NaN: not known */
    uint64_t lost_ns;              /**< time that the job has lost */
    uint64_t error_ns, updates;
    char kind[33], title[129], text[1025], host[65], rule[65], severity[17];
    char ranks[257], locality[17], sizes[129], advice[513], nodes[257];
    char culprit[17], culprits[513]; /**< what explains it: a kind of scope, and names */
    char alternatives[257],
        victims[257]; /**< ranks that no message distinguishes from it; ranks it delays */
    char links[513];  /**< hot links on the routes of its ranks, for display */
    struct alert_span spans[ALERT_SPANS]; /**< the ranks that carry it, as spans */
    uint32_t span_count;
    struct alert_cause causes[ALERT_CAUSES];
    uint32_t cause_count;
};

/** Zero-initialised is empty. */
struct alerts {
    struct alert *items; /**< owned; the newest number first */
    uint32_t count;
    uint64_t dropped; /**< alerts dropped because the maximum was reached */
};

/** An alert that is resolved and never fired is removed. @return 0 or -ENOMEM */
int alerts_apply(struct alerts *alerts, const struct wire_alert *message);

void alerts_finish(struct alerts *alerts);

/** By number; NULL: not known. */
const struct alert *alerts_find(const struct alerts *alerts, uint64_t id);

/** How many are in a state. */
uint32_t alerts_count(const struct alerts *alerts, enum alert_state state);

/** The ratio to show: now, or when the alert is over, at worst; NaN: does not apply. */
double alert_ratio(const struct alert *alert);

/** 1 if the first is to be seen before the second: by severity, then by what it cost. */
int alert_is_worse(const struct alert *alert, const struct alert *than);

/** Name of a cause, for people: "computes longer", "I/O". @param out  receives it */
void alert_cause_format(const struct alert_cause *cause, char out[ALERT_CAUSE_NAME]);

/** Whether a rank is among those that carry it. */
int alert_has_rank(const struct alert *alert, uint64_t rank);

/** How long it lasts or lasted, until now_ns unless it is resolved. */
uint64_t alert_length_ns(const struct alert *alert, uint64_t now_ns);

#endif
