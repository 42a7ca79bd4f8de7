/* The amount and position of messages in a recording, from its table of blocks: no block is
 * unpacked. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_BLOCKS_H
#define HOLTER_DAEMON_STORAGE_RECORDING_BLOCKS_H

#include "daemon/storage/recording.h"

#include <stdint.h>

/** Messages, and their bytes as received, in the blocks that begin from one time up to another.
 * @return 0; otherwise nothing is known, and both are 0 */
int recording_blocks_between(struct recording_cursor *cursor, uint64_t from_ns, uint64_t to_ns,
                             uint64_t *messages, uint64_t *bytes);

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

/** Bound the messages among which those of the windows in a span are: most of a long recording is
 * not needed. A window is not received before it begins, except for the difference between clocks
 * (one minute is allowed for). If all windows of the span were complete when they were published,
 * none of their messages arrived later.
 * @param from_ns, to_ns  daemon time
 * @param start    set to the number of the first message to read
 * @param stop_ns  set: no window of the span is received later; UINT64_MAX: not known */
void recording_blocks_bound(struct recording_cursor *cursor, uint64_t from_ns, uint64_t to_ns,
                            uint64_t *start, uint64_t *stop_ns);

#endif
