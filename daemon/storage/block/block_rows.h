/* Rows of integers of a block that is being read, taken straight into their structs. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_ROWS_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_ROWS_H

#include "daemon/storage/block/block_reader.h"
#include "proto/wire_arena.h"
#include "proto/wire_table.h"

/** Find out which columns of a field that is `straight` must be read row by row. It is straight no
 * more where a value that stands for all is above its limit. @param rows  what these are */
void block_rows_resolve(const struct block_reader *reader, struct read_field *field,
                        const struct wire_rows *rows);

/** Take rows of a field that is `straight`. They stand in the arena.
 *  @param count  1 at least @param out  set to the first row
 *  @return 0, BLOCK_AS_BYTES: something is odd, columns stand somewhere; or -ENOMEM */
int block_rows_take(struct block_reader *reader, struct wire_arena *arena,
                    const struct read_field *field, size_t count, void **out);

#endif
