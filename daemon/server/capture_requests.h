/* Asking agents for captures: because a person wants one, or because an alert fires.
 *
 * Bounded: of a capture at most CAPTURES_RECORDS in all, of a job one capture for alerts in
 * CAPTURES_PAUSE_NS, of persons CAPTURES_WAITING_MAXIMUM that wait for answers. Replays ask nobody:
 * what a recording holds of captures is told by the job (job_captures.h). */
#ifndef HOLTER_DAEMON_SERVER_CAPTURE_REQUESTS_H
#define HOLTER_DAEMON_SERVER_CAPTURE_REQUESTS_H

#include "daemon/alert/rules.h"
#include "daemon/job/jobs.h"
#include "daemon/server/peers.h"

#define CAPTURES_RECORDS (1u << 18) /**< of one capture, over all ranks */
#define CAPTURES_EVENTS 256u        /**< of one rank, unless something else is wanted */
#define CAPTURES_RANKS 64u          /**< of an alert, and as many that they exchange most with */
#define CAPTURES_PAUSE_NS UINT64_C(10000000000)
#define CAPTURES_TIMEOUT_NS UINT64_C(5000000000) /**< for answers, to a person who waits */
#define CAPTURES_WAITING_MAXIMUM 16u

struct captures;

struct captures_options {
    struct jobs *jobs;         /**< borrowed */
    const struct rules *rules; /**< borrowed: whether a rule wants captures */
    void *user;
    /** Send the question to agents. */
    void (*ask)(void *user, const uint64_t *instances, size_t count,
                const struct wire_capture_ask *ask);
    /** Send a message to a person who waits. @param peer  routing id
     *  @return 0, or a negative error: the person has gone, or does not read */
    int (*send)(void *user, const void *peer, size_t length, enum wire_type type,
                const void *message);
};

/** @return 0 or -ENOMEM */
int captures_create(struct captures **out, const struct captures_options *options);
/** NULL is fine. */
void captures_destroy(struct captures *captures);

/** A person's request: the peer is sent CAPTURED messages as they come in, and a REPLY in the end.
 *  @param why  set on failure @return 0, -HOLTER_EUSAGE, -HOLTER_ENOJOB, -HOLTER_EEMPTY: nobody has
 *          such ranks, -HOLTER_EFULL, or -ENOMEM: no reply follows */
int captures_request(struct captures *captures, const struct peer *peer,
                     const struct wire_request *request, uint64_t now_ns, char *why, size_t room);

/** An alert was published: is it to be captured? Done with the next captures_tick(). */
void captures_alert(struct captures *captures, const struct wire_alert *alert);

/** An agent has told of a capture. @param id  number that it got, see job_captured() */
void captures_captured(struct captures *captures, uint64_t instance,
                       const struct wire_captured *captured, uint64_t id);

/** To be called often: asks for what alerts want, and gives up waiting. */
void captures_tick(struct captures *captures, uint64_t now_ns);

#endif
