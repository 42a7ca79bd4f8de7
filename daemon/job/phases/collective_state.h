/* What collective_table.c and collective_ingest.c share: the collectives and communicators of a
 * job.
 */
#ifndef HOLTER_DAEMON_JOB_PHASES_COLLECTIVE_STATE_H
#define HOLTER_DAEMON_JOB_PHASES_COLLECTIVE_STATE_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/job/phases/collective_table.h"

#define COLLECTIVE_NO_RANK UINT32_MAX /**< a rank, or the position of one, that is not known */
#define MAXIMUM_COLLECTIVES 65536u
#define COLLECTIVE_UNKNOWN MAXIMUM_COLLECTIVES /**< number of what did not fit */

struct comm {
    uint64_t size;
    int is_inter;
    uint32_t *ranks; /* owned; by position; NULL: none are known */
    uint32_t positions;
};

struct collective {
    uint32_t comm; /* number */
    uint16_t call;
    int64_t root; /* world rank; negative: none */
};

struct collective_table {
    struct key_table comm_keys; /* hi: id */
    struct comm *comms;
    size_t comm_capacity;
    struct key_table keys; /* hi: number of the communicator, lo: call and root */
    struct collective *list;
    size_t capacity;
    uint32_t positions; /* kept, of all communicators */
    uint32_t steps;     /* of this window */
    uint32_t rows;
    uint32_t *numbers;
    size_t numbers_capacity;
    uint32_t *position_of; /* by rank; of the current communicator, to be checked against it */
    size_t rank_capacity;
    uint32_t *begin, *order; /* rows of a burst by collective */
    size_t begin_capacity, order_capacity;
    struct bursts *into;      /* while a burst is expanded */
    struct burst_pair *pairs; /* those that lie in the set */
    size_t pair_count, pair_capacity;
    struct collective_messages made;
};

#endif
