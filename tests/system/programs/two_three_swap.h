/* 2-3 swap: parallel image compositing among any number of ranks.
 * Source: H. Yu, C. Wang, K.-L. Ma, "Massively parallel volume rendering using 2-3 swap image
 * compositing", SC 2008.
 *
 * Ranks are the leaves of a tree in which every group is made of two or three, and all leaves are
 * equally deep: floor(log2 ranks) stages. Before stage k the members of a group hold one part each
 * of an image of that group, all of equal size. When groups join, the image is divided anew among
 * all their members, in the order in which their parts began, and each sends to the others what of
 * its old part is theirs now. For a power of two this is binary swap.
 *
 * The tree is not prescribed by the paper; here groups are halved as evenly as can be, and
 * cut in three only where halves would be too many for their height. */
#ifndef TWO_THREE_SWAP_H
#define TWO_THREE_SWAP_H

#include <stddef.h>
#include <stdint.h>

/** A part of the image, on its way from one rank to another. */
struct swap_message {
    uint32_t stage; /**< from 0 */
    uint32_t from, to;
    uint64_t first, bytes; /**< part of the image */
};

struct swap_plan {
    struct swap_message *messages; /**< owned; by stage, then sender */
    size_t count, room;
    uint32_t stages;
    uint32_t *owner; /**< owned; rank that holds the part i of the image at the end */
};

/** @param ranks  1 to 2^24
 *  @param bytes  of the image
 *  @return 0, -ENOMEM or -ERANGE */
int swap_plan_make(struct swap_plan *out, uint32_t ranks, uint64_t bytes);
void swap_plan_finish(struct swap_plan *plan);

/** Where the part of a member begins; of member `of` where the image ends. */
uint64_t swap_part(uint64_t bytes, uint32_t member, uint32_t of);

#endif
