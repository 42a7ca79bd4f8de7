/* Rows of integers of a block that is being read, taken straight into their structs. */
#ifndef HOLTER_DAEMON_BLOCK_ROWS_H
#define HOLTER_DAEMON_BLOCK_ROWS_H

#include "daemon/block_reader.h"
#include "proto/wire_arena.h"
#include "proto/wire_table.h"

/** Rows that stay where they are from one window of an agent to the next: 32 MiB at most. @return 0 or -ENOMEM */
int block_stays_create(struct block_stays **out);

/** NULL is fine. */
void block_stays_destroy(struct block_stays *stays);

/** A message of an agent is taken next. */
void block_stays_begin(struct block_stays *stays, uint64_t agent, unsigned type);

/** Take rows of a field that is `straight`. They stand in the memory of those that stay, until the next message is
 *  taken; or in the arena.
 *  @param count  1 at least @param out  set to the first row
 *  @return 0, BLOCK_AS_BYTES: something is odd, columns stand somewhere; or -ENOMEM */
int block_rows_take(struct block_reader *reader, struct wire_arena *arena,
                    const struct read_field *field, size_t count, void **out);

#endif
