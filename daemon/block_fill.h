/* Columns of integers of a block, into the slots of rows. */
#ifndef HOLTER_DAEMON_BLOCK_FILL_H
#define HOLTER_DAEMON_BLOCK_FILL_H

#include "daemon/block_reader.h"

/** Slots of some rows in one column. */
struct block_slots {
    uint64_t *first;
    size_t stride; /**< from row to row, in slots */
    size_t count;  /**< rows, up to BLOCK_TAKEN_AT_ONCE */
    /* Set by block_fill(): */
    uint64_t all; /**< the values, or-ed */
    size_t bytes; /**< of them as MessagePack */
};

/** Take the next integers of a column. Those to the left, as far as its coding reaches, stand in the slots before.
 *  @return 0 when the column has no more, or a damaged one: then it stands somewhere */
int block_fill(struct read_column *column, struct block_slots *slots);

#ifdef __x86_64__
/** The same with instructions that most processors of this kind have (BMI2). */
int block_fill_bmi2(struct read_column *column, struct block_slots *slots);
#endif

/** The one that is fastest here. */
typedef int block_filler(struct read_column *column, struct block_slots *slots);
block_filler *block_fill_best(void);

/** Bytes of an integer as MessagePack. @param negative  of its column: 2^63 and more are below 0 */
size_t block_size_of_integer(uint64_t number, int negative);

#endif
