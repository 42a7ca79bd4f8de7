/* Scopes: where have the times of messages grown?
 *
 * A fault sits at a node, between two nodes, on a link, at a rank, or it concerns all messages
 * within or between nodes. Each is a scope: a set of communicating pairs of ranks. In every window
 * the time of flight of the messages of a pair and size class, from the moment at which both ends
 * were ready, is compared with what it was for the same pair and class before; the deviation is a
 * natural logarithm, so that 0.69 is twice as long. The deviations are explained by as few scopes
 * as possible:
 *
 *   - each pair weighs by the reciprocal of its variance: that of its own messages, and for a pair
 *     that was hardly seen before that between pairs, since it is compared with other pairs then;
 *   - a single pair that is far off is evidence only of what happens by chance so rarely, which is
 *     learned: where times have heavy tails, some messages of many pairs have to take longer;
 *   - what is common to all messages within or between nodes is a random effect whose variance is
 *     known from the windows before (generalised least squares), so that common noise neither
 *     raises nor hides a scope; much of it is common to both localities, so that the one shows
 *     what to expect of the other (scopes_levels.c);
 *   - a scope whose mean deviation persists (CUSUM, Page) starts a search: the scope
 *     that explains most of the sum of squares is the culprit, its effect is subtracted, and the
 *     search goes on until no scope is significant. What its short messages deviate by may be
 *     another multiple of the effect than what its long ones do (scopes_response.c). Scopes that no
 *     traffic can tell apart are alternatives of the same finding.
 *
 * In a job of few pairs of nodes a fault is most of what is measured, and would hide in the noise
 * that is learned from it. There, what deviates is judged by the noise that was known before, and
 * how far noise goes on from one window to the next is learned: the mean of several windows counts
 * the less for it.
 *
 * Thousands of scopes are tested in every window. The thresholds grow with their number as in a
 * Bonferroni correction, so that the expected number of false findings in a day is below one. That
 * is so for normal noise; how far the noise of the job goes is learned (scopes_peaks.c).
 *
 * The second question is who is waited for: the time per message for which partners waited for a
 * rank. See scopes_waits.c.
 *
 * References go on learning. What a finding explains is subtracted before, so that a fault does
 * not become the normal state, and a pattern that was never seen (a new phase) is compared
 * between its own pairs, so that it is no fault as a whole.
 *
 * Results do not depend on the order of rows. Cost and memory are linear in communicating pairs.
 * Pure. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_SCOPES_SCOPES_H
#define HOLTER_DAEMON_ANALYSIS_SCOPES_SCOPES_H

#include "daemon/analysis/matching/transfers.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stddef.h>
#include <stdint.h>

#define SCOPE_MEMBERS 32u     /**< scopes that one finding names at most */
#define SCOPE_ALTERNATIVES 8u /**< scopes with the same messages as a finding, at most */
#define SCOPE_FINDINGS 16u    /**< findings at one time */
#define SCOPE_NO_NODE UINT32_MAX

enum scope_kind {
    SCOPE_JOB,       /**< all messages */
    SCOPE_INTRA,     /**< all messages within nodes */
    SCOPE_INTER,     /**< all messages between nodes */
    SCOPE_NODE,      /**< a: the node */
    SCOPE_NODE_PAIR, /**< a, b: the nodes; from a to b when it is directed */
    SCOPE_LINK,      /**< a: number of the link, as scope_route_fn gives it */
    SCOPE_RANK       /**< a: the rank */
};

/** Messages of the scope that are concerned. */
enum scope_direction {
    SCOPE_OUT,
    SCOPE_IN,
    SCOPE_BOTH,  /**< of a node: all to and from others */
    SCOPE_ALL,   /**< also those within the node */
    SCOPE_WITHIN /**< only those */
};

struct scope {
    enum scope_kind kind;
    enum scope_direction direction; /**< node pair: SCOPE_OUT for a to b, else SCOPE_BOTH */
    uint32_t a, b;
};

/** What has grown. */
enum scope_part {
    SCOPE_TRANSFER, /**< the time of flight */
    SCOPE_LATENESS, /**< the time for which others wait for the ranks of the scope */
    SCOPE_WORK      /**< the time outside of MPI for the same work: by the attribution alone */
};

/** Something that has grown, and where. */
struct scope_finding {
    uint64_t id; /**< from 1 up, never reused */
    enum scope_part part;
    struct scope members[SCOPE_MEMBERS]; /**< of one kind; ascending */
    double effects[SCOPE_MEMBERS];       /**< ratio now of each member */
    uint32_t member_count;
    struct scope alternatives[SCOPE_ALTERNATIVES]; /**< the same messages belong to these */
    uint32_t alternative_count;
    uint64_t onset, found; /**< numbers of windows */
    double ratio;          /**< typical time now by that before the onset */
    double worst;          /**< largest ratio so far */
    double excess_ns;      /**< time by which the messages of this window took longer, together */
    double peak_ns;        /**< largest excess of a window so far */
    double share;          /**< of the excess of all messages of this window, 0 to 1 */
    uint64_t messages;     /**< of this window in the scope; 0: the ratio is an earlier one */
    uint64_t symptom_of;   /**< id of the finding that this one follows from; 0: of none */
    int uncertain;         /**< several ranks are about as late: one may hold up the others */
    int over;              /**< back at its level: the finding is gone with the next window */
};

struct scopes;

/** @return 0 or -ENOMEM */
int scopes_create(struct scopes **out);
void scopes_destroy(struct scopes *scopes);

/** Forget all windows; ranks stay where they are, and findings get further numbers. Routes are to
 * be set again. @return 0 or -ENOMEM: nothing has changed */
int scopes_restart(struct scopes **scopes);

/** Where a rank runs. @return 0, -ENOMEM, or -ERANGE from rank or node 2^20 up */
int scopes_place(struct scopes *scopes, uint32_t rank, uint32_t node);

/** The links of the route from one node to another.
 *  @param out  space for `capacity` numbers of links, each below 2^24
 *  @return how many there are; 0: not known */
typedef size_t scope_route_fn(const void *user, uint32_t from, uint32_t to, uint32_t *out,
                              size_t capacity);

/** Routes are known, or have changed. @param route  NULL: links are no scopes. Its user data is
 * borrowed until the next call. */
void scopes_set_routes(struct scopes *scopes, scope_route_fn *route, const void *user);

/** Compare a window with those before it.
 *  @param number  above that of the window before
 *  @param rows    matched messages; rows of the same ranks and class may stand more than once
 *  @return 0, -ENOMEM: the window was not compared, or -ERANGE for a number that is not above */
int scopes_window(struct scopes *scopes, uint64_t number, uint64_t length_ns,
                  const struct transfers *rows);

/** Findings that are open, or over with the last window, in the order in which they were found. */
const struct scope_finding *scopes_findings(const struct scopes *scopes, size_t *count);

/** Does the scope have messages from source to destination? */
int scopes_covers(const struct scopes *scopes, const struct scope *scope, uint32_t source,
                  uint32_t destination);

/** See state_bytes.h. @param user  of the routes, where they were set */
void scopes_copy_state(struct state_bytes *b, struct scopes **scopes, scope_route_fn *route,
                       const void *user);

#endif
