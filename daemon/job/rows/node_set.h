/* A set of the nodes of a job, one bit a node. */
#ifndef HOLTER_DAEMON_JOB_ROWS_NODE_SET_H
#define HOLTER_DAEMON_JOB_ROWS_NODE_SET_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stdint.h>

/** Zero-initialised is empty. */
struct node_set {
    uint64_t *bits; /**< by node, owned */
    uint32_t words;
};

void node_set_finish(struct node_set *set);

/** Take all nodes out, and keep the memory. */
void node_set_clear(struct node_set *set);

int node_set_contains(const struct node_set *set, uint32_t node);

/** @return 1: it was not in it; 0: it was; or -ENOMEM */
int node_set_add(struct node_set *set, uint32_t node);

/** Add the nodes of another set; without memory none is added. @return how many were not in it */
uint64_t node_set_join(struct node_set *set, const struct node_set *more);

/** See state_bytes.h. */
void node_set_copy_state(struct state_bytes *b, struct node_set *set);

#endif
