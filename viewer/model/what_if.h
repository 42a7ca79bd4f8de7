/* The what-if of the network: a stack of steps, each a mapping or routes that the daemon suggested,
 * and the state that all of them make together: where each rank sits, and which routes replace
 * those of the topology. The reality is the state without steps. Memory: a copy of each answer (4
 * bytes a rank; 56 bytes a route and 4 for each of its vertices), and once more for the state. */
#ifndef HOLTER_VIEWER_MODEL_WHAT_IF_H
#define HOLTER_VIEWER_MODEL_WHAT_IF_H

#include "viewer/model/model_network.h"

#define WHAT_IF_STEPS 16u /**< steps of a stack at most */

struct what_if_step {
    enum suggestion_kind kind;
    uint64_t state;           /**< number of the state that begins with it; above 0 */
    char name[128];           /**< for people: "mapping for less hop-bytes" */
    struct suggestion answer; /**< owned copy */
};

/** Zero-initialised is the reality. */
struct what_if {
    struct what_if_step *steps; /**< owned; the oldest first */
    uint32_t count;

    /* the state of all steps together */
    uint32_t *seats; /**< owned; vertex by rank, TOPOLOGY_NONE: as it is; of the last mapping */
    uint32_t seat_count;
    struct network_reroute *routes; /**< owned; by source, then destination; the later step wins */
    uint32_t route_count;
    uint32_t *path; /**< owned */
    uint32_t path_count;

    uint64_t version;         /**< incremented by every change */
    uint64_t last_state;      /**< number of the newest state */
    char job[65];             /**< the job that the steps are about */
    uint32_t vertices, links; /**< of its network */
};

/** Number of the present state; 0: the reality. An answer fits the state that it was asked for. */
uint64_t what_if_state(const struct what_if *what_if);

/** Adds an answer as a step.
 *  @param answer  of the network; copied
 *  @return 0, -HOLTER_EEMPTY: there is no answer, -HOLTER_EUSAGE: it was asked for another state,
 *          -HOLTER_EFULL: too many steps, or -ENOMEM */
int what_if_push(struct what_if *what_if, const char *job, const struct network *network,
                 enum suggestion_kind kind, const char *name);

/** Drops the newest step. @return 0, or -ENOMEM (nothing changed) */
int what_if_undo(struct what_if *what_if);

/** Drops all steps if they are about another job or network. @return 1 when it did */
int what_if_check(struct what_if *what_if, const char *job, const struct network *network);

/** Kinds of the steps, 1 << enum suggestion_kind, or-ed. */
unsigned what_if_kinds(const struct what_if *what_if);

/** Route in force between two vertices; NULL: that of the topology. */
const struct network_reroute *what_if_route(const struct what_if *what_if, uint32_t source,
                                            uint32_t destination);

/** "suggestion 2: mapping + routes"; "reality". */
char *what_if_text(const struct what_if *what_if, char *out, size_t capacity);

void what_if_finish(struct what_if *what_if);

#endif
