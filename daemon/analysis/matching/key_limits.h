/* The keys whose ends nodes have left out of their reports, window by window.
 *
 * A node with more ends than fit into its report keeps those with the smallest keys. An end whose
 * other end may have been left out that way is no sign of a lost message.
 *
 * Memory: of nodes that left something out, and of the ranks seen since the first did. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_KEY_LIMITS_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_KEY_LIMITS_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/state_bytes.h"

/** Keys from `below` up were left out in a window. */
struct key_limit {
    uint64_t window;
    uint64_t below; /**< 0: nothing noted here */
};

struct key_limits {
    uint32_t span;             /**< windows before and after one that count */
    struct key_limit *anyone;  /**< owned; by window modulo ring */
    struct key_table nodes;    /**< hi: node */
    struct key_limit *of_node; /**< owned; by node's number, then window modulo ring */
    size_t node_capacity;
    struct key_table ranks; /**< hi: rank */
    uint32_t *node_of;      /**< owned; by rank's number */
    size_t rank_capacity;
};

/** @return 0 or -ENOMEM */
int key_limits_init(struct key_limits *limits, uint32_t span);
void key_limits_finish(struct key_limits *limits);

/** A node left out keys from `below` up. Without memory it holds for all nodes.
 *  @param node  KEY_NONE: any of them may have */
void key_limits_note(struct key_limits *limits, uint32_t node, uint64_t window, uint64_t below);

/** A rank lives on a node. Asked for only once a node has left something out. */
void key_limits_rank(struct key_limits *limits, uint32_t rank, uint32_t node);

static inline int key_limits_any(const struct key_limits *limits)
{
    return limits->nodes.count > 0;
}

/** May the end that a rank's node was to report have been left out? The other end was reported in
 *  that window, this one up to `span` windows earlier or later. */
int key_limits_left_out(const struct key_limits *limits, uint32_t rank, uint64_t window,
                        uint64_t key);

/** See state_bytes.h. */
void key_limits_copy_state(struct state_bytes *b, struct key_limits *limits);

#endif
