/* Which ranks are in contact: the edges between which communication regions are sought.
 *
 * Not every pair that ever exchanged a message is an edge: at the start all ranks may greet each
 * other, rank 0 collects results now and then, and an edge that comes and goes with each window
 * would move the regions. So a pair is judged by what it exchanged lately, in both directions
 * together, against what its ends exchange with others:
 *   - its weight is the mean number of messages a window, fading with the horizon (an exponential
 *     moving average); it fades only in windows in which one of its ends communicated at all, so
 *     that a job that computes for a minute keeps its edges;
 *   - it becomes an edge when it had messages in `steady` windows and its weight is at least
 *     `enter` of the heaviest pair of one of its ends: a worker's master is its partner even where
 *     the master has larger ones;
 *   - it stops being an edge when its weight is less than `leave` of the heaviest pair of both
 *     ends, or when it is forgotten: nothing is left of a single message after about three
 * horizons.
 *
 * Results do not depend on the order in which messages of a window are added. Pure: no clock, no
 * file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_REGIONS_CONTACT_H
#define HOLTER_DAEMON_ANALYSIS_REGIONS_CONTACT_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Start from CONTACT_DEFAULTS. */
struct contact_params {
    uint32_t horizon;      /**< windows, at least 1 */
    uint32_t steady;       /**< windows with messages before a pair can be an edge, at least 1 */
    double enter;          /**< share of the heaviest pair, above 0, at most 1 */
    double leave;          /**< likewise; at most enter */
    uint32_t max_vertices; /**< vertices are 0 to one less than this; at most 2^24 */
    uint32_t max_pairs;    /**< pairs that are remembered, about 70 bytes each; at most 2^28 */
};

#define CONTACT_DEFAULTS                                                                           \
    ((struct contact_params){.horizon = 30,                                                        \
                             .steady = 2,                                                          \
                             .enter = 0.10,                                                        \
                             .leave = 0.05,                                                        \
                             .max_vertices = 16384,                                                \
                             .max_pairs = 1u << 23})

/** An edge that appeared or disappeared. */
struct contact_edge {
    uint32_t a, b; /**< a below b */
    bool present;
};

struct contact;

/** @param params  copied @return 0, -ENOMEM, or -HOLTER_ERANGE: a parameter outside its range */
int contact_create(struct contact **out, const struct contact_params *params);

/** NULL is fine. */
void contact_destroy(struct contact *contact);

/** Add messages to the open window. Those of a vertex to itself do not count.
 *  @return 0, -ENOMEM, -HOLTER_ERANGE: a vertex that is not below max_vertices, or
 *          -HOLTER_ELIMIT: there are max_pairs, and this is a new pair; the messages are left out.
 *          Which pairs are known then depends on the order: let nodes stand for their ranks */
int contact_add(struct contact *contact, uint32_t source, uint32_t destination, uint64_t messages);

/** Close the window and open the next.
 *  @param edges  set to the edges that appeared or disappeared, by a, then b; borrowed until the
 *                next call
 *  @return 0, or -ENOMEM: then the window is still open */
int contact_close(struct contact *contact, const struct contact_edge **edges, size_t *count);

/** See state_bytes.h. */
void contact_copy_state(struct state_bytes *b, struct contact **contact);

#endif
