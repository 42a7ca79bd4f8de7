/* Asks agents for captures: on the request of an operator, or because an alert fires.
 *
 * Limits: CAPTURES_RECORDS of a capture in all; of a job one capture for alerts in
 * CAPTURES_PAUSE_NS, CAPTURES_WAITING_MAXIMUM operators that wait. A replay asks no agent:
 * what a recording holds of captures is published by the job (job_captures.h). */
#ifndef HOLTER_DAEMON_SERVER_CAPTURE_REQUESTS_H
#define HOLTER_DAEMON_SERVER_CAPTURE_REQUESTS_H

#include "daemon/alert/rules.h"
#include "daemon/job/jobs.h"
#include "daemon/server/peers.h"

#define CAPTURES_RECORDS (1u << 18) /**< of one capture, over all ranks */
#define CAPTURES_EVENTS 256u        /**< default number of events of a rank */
#define CAPTURES_RANKS 64u          /**< ranks of an alert, and as many of their partners */
#define CAPTURES_PAUSE_NS UINT64_C(10000000000)
#define CAPTURES_TIMEOUT_NS UINT64_C(5000000000) /**< how long an operator waits for answers */
#define CAPTURES_WAITING_MAXIMUM 16u

struct captures;

struct captures_options {
    struct jobs *jobs;         /**< borrowed */
    const struct rules *rules; /**< borrowed: whether a rule wants captures */
    void *user;
    /** Send the question to agents. */
    void (*ask)(void *user, const uint64_t *instances, size_t count,
                const struct wire_capture_ask *ask);
    /** Send a message to an operator who waits. @param peer  routing id
     *  @return 0, or a negative error: the peer has left, or does not read */
    int (*send)(void *user, const struct peer_id *peer, enum wire_type type, const void *message);
};

/** @return 0 or -ENOMEM */
int captures_create(struct captures **out, const struct captures_options *options);
/** NULL is fine. */
void captures_destroy(struct captures *captures);

/** An operator's request: the peer is sent each CAPTURED message, and a REPLY at the end.
 *  @param why  set on failure @return 0, -HOLTER_EUSAGE, -HOLTER_ENOJOB, -HOLTER_EEMPTY: no agent
 * has such ranks, -HOLTER_EFULL, or -ENOMEM: no reply follows */
int captures_request(struct captures *captures, const struct peer *peer,
                     const struct wire_request *request, uint64_t now_ns, char *why,
                     size_t capacity);

/** An alert was published. If its rule asks for a capture, the next captures_tick() does. */
void captures_alert(struct captures *captures, const struct wire_alert *alert);

/** An agent has sent a capture. @param id  its number, see job_accept_captured() */
void captures_captured(struct captures *captures, uint64_t instance,
                       const struct wire_captured *captured, uint64_t id);

/** To be called often: asks for the captures of alerts, and ends waiting. */
void captures_tick(struct captures *captures, uint64_t now_ns);

#endif
