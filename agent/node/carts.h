/* Cartesian communicators of one job on this node: what its ranks recorded of them, stored once for
 * all ranks, to be announced with the ranks.
 * Bounds: CARTS_MAXIMUM communicators, SEGMENT_CARTS of each rank; more are not announced.
 * Nothing in a rank's memory is trusted: an entry that is not a grid of at most all ranks of the
 * job is skipped. */
#ifndef HOLTER_AGENT_NODE_CARTS_H
#define HOLTER_AGENT_NODE_CARTS_H

#include "holter/segment.h"
#include "holter/wire.h"

#define CARTS_MAXIMUM 1024u

/** Zero-initialised is empty. Arrays are owned. */
struct carts {
    struct cart {
        uint64_t id, made;
        uint32_t dimensions, periods, sizes[CART_DIMENSIONS];
        int wanted;   /**< its rows are requested by the current carts_list_rows() */
        uint64_t row; /**< index of its first row */
    } * list;
    uint32_t count, capacity;
    struct cart_place {
        uint32_t cart; /**< position in the list */
        uint32_t position;
        uint64_t rank;
    } * places;
    uint32_t place_count, place_capacity;
    uint32_t announced;                   /**< members that a message has announced */
    struct wire_cart_row *rows;           /**< of carts_list_rows() */
    struct wire_cart_member_row *members; /**< of carts_list_rows() */
};

/** Adds a rank to a communicator.
 *  @param slot   a copy of the slot in its segment
 *  @param world  ranks of the job
 *  @return 1: it is stored; 0: the slot is not valid, or the list is full */
int carts_add(struct carts *carts, const struct cart_slot *slot, uint64_t rank, uint64_t world);

/** Lists what was not announced yet, or everything, as rows. The memory belongs to the carts and is
 *  valid until the next call.
 *  @param out  its fields carts and cart_members are set; without memory to nothing
 *  @return 0 or -ENOMEM */
int carts_list_rows(struct carts *carts, int all, struct wire_ranks *out);

/** The rows were announced. */
void carts_mark_announced(struct carts *carts);

void carts_finish(struct carts *carts);

#endif
