/* The amount and position of messages in a recording, from its table of blocks: no block is
 * unpacked. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_BLOCKS_H
#define HOLTER_DAEMON_STORAGE_RECORDING_BLOCKS_H

#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>

/** How much was received up to a time. Zero-initialised: nothing is known, all sums are 0. */
struct recording_weights {
    struct recording_weight {
        uint64_t begin_ns;        /**< of a block; ascending */
        uint64_t messages, bytes; /**< sums of all blocks before it; bytes as received */
    } * list; /**< owned; one more than there are blocks: the last has the sums of all */
    size_t count, capacity;
};

/** @return 0, -ENOMEM, -HOLTER_ECORRUPT or -EIO */
int recording_weights_read(struct recording_weights *out, struct recording_cursor *cursor);
/** Zero-initialised is fine. */
void recording_weights_finish(struct recording_weights *weights);

/** Messages, and their bytes, in the blocks that begin from one time up to another. */
struct recording_weight recording_weights_between(const struct recording_weights *weights,
                                                  uint64_t from_ns, uint64_t to_ns);

/** Find the block from which to read so that at least `bytes` bytes are received before a time;
 * not a block before `least_ns`. All earlier blocks only have messages received before that time.
 * @param number    set to the number of the block's first message
 * @param begin_ns  set to the arrival of that message
 * @return 0, -HOLTER_EEMPTY: there is no such block, or another error */
int recording_block_before(struct recording_cursor *cursor, uint64_t time_ns, uint64_t least_ns,
                           uint64_t bytes, uint64_t *number, uint64_t *begin_ns);

/** Find the next block that has messages other than windows.
 * @param number  the search begins after this message; set to the number of the block's first
 * message
 * @param last    set to the number of its last message
 * @return 1, 0: there is none, or negative */
int recording_block_with_other_messages(struct recording_cursor *cursor, uint64_t *number,
                                        uint64_t *last);

#endif
