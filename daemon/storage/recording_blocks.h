/* What the table of blocks tells of a recording without a look into them: how much there is, and
 * where. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_BLOCKS_H
#define HOLTER_DAEMON_STORAGE_RECORDING_BLOCKS_H

#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>

/** How much was received up to a time. Zero-initialised: nothing is known, and all is weightless.
 */
struct recording_weights {
    struct recording_weight {
        uint64_t begin_ns;        /**< of a block; ascending */
        uint64_t messages, bytes; /**< of all blocks before it, bytes as received */
    } * list;                     /**< owned; one more than there are blocks: what all have */
    size_t count, room;
};

/** @return 0, -ENOMEM, -HOLTER_ECORRUPT or -EIO */
int recording_weights_read(struct recording_weights *out, struct recording_cursor *cursor);
/** Zero-initialised is fine. */
void recording_weights_finish(struct recording_weights *weights);

/** Messages, and their bytes, of the blocks that begin from one time up to another. */
struct recording_weight recording_weights_between(const struct recording_weights *weights,
                                                  uint64_t from_ns, uint64_t to_ns);

/** The block at which to begin so that so many bytes, or a bit more, come before a time; not before
 * `least_ns`. All blocks before it have messages of before that time alone.
 *  @param number    set to the number of its first message
 *  @param begin_ns  set to when that was received @return 0, -HOLTER_EEMPTY: there is none, or
 * another error */
int recording_block_before(struct recording_cursor *cursor, uint64_t time_ns, uint64_t least_ns,
                           uint64_t bytes, uint64_t *number, uint64_t *begin_ns);

/** The next block that has, or may have, messages that are no windows.
 *  @param number  behind which; set to the number of its first message
 *  @param last    set to that of its last @return 1, 0: there is none, or negative */
int recording_block_of_others(struct recording_cursor *cursor, uint64_t *number, uint64_t *last);

#endif
