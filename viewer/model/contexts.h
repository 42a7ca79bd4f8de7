/* What ranks sent to each other within one communicator and code region, since the start: for
 * pictures that are restricted to them. In bounded memory: rows beyond CONTEXTS_MAXIMUM are
 * counted, but not stored. */
#ifndef HOLTER_VIEWER_MODEL_CONTEXTS_H
#define HOLTER_VIEWER_MODEL_CONTEXTS_H

#include "daemon/analysis/tables/key_table.h"

#define CONTEXTS_MAXIMUM (1u << 20) /**< rows, of about 56 bytes */

/** Key of a row: ranks, and the communicator and code region by their indices in the model. */
struct context {
    uint32_t source, destination, comm, region;
};

/** Zero-initialised is empty. */
struct contexts {
    struct key_table keys; /**< hi: source << 32 | destination, lo: communicator << 32 | region */
    uint32_t last;         /**< number added last */
    uint64_t *sums;        /**< owned; messages and bytes of each */
    uint32_t capacity;
    uint64_t left_out; /**< messages of rows that were not stored */
    uint64_t version;  /**< incremented when a sum changed */
};

void contexts_finish(struct contexts *contexts);

/** Sets all sums to 0, as when a new current state begins; rows keep their numbers. */
void contexts_restart(struct contexts *contexts);

/** @return 0 or -ENOMEM */
int contexts_add(struct contexts *contexts, const struct context *row, uint64_t messages,
                 uint64_t bytes);

struct context contexts_at(const struct contexts *contexts, uint32_t number);

#endif
