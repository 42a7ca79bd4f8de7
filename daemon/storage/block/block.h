/* Blocks of a recording: some hundred wire messages, packed together.
 *
 * Window messages are tables of numbers, row by row. A block holds them column by column: all
 * numbers of one column of one field, of all its messages, one after the other, as themselves or as
 * differences to the one before, and compressed with Zstandard. This takes less than half of what
 * the same messages take compressed as they are. What comes out is what went in, byte for byte: a
 * message that wire_encode() would not write in the same way is kept as it is.
 *
 * block_format.h describes the bytes. Nothing in a block is trusted when it is read. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_H

#include "daemon/storage/block/recorded.h"
#include "holter/wire.h"

#include <stddef.h>

#define BLOCK_BYTES ((size_t)1 << 20) /**< bytes of messages after which a block is full */
/** Bytes of messages in one block at most: the last one may be as long as a message can be. */
#define BLOCK_MAX_BYTES (BLOCK_BYTES + ((size_t)16 << 20))
#define BLOCK_MAX_MESSAGES (1u << 20)

/* ---- writing ------------------------------------------------------------- */

struct block_writer;

/** @return 0 or -ENOMEM */
int block_writer_create(struct block_writer **out);

/** NULL is fine. */
void block_writer_destroy(struct block_writer *writer);

/** Add a message.
 *  @param head  instance: number of the agent in the file
 *  @return 0; -ENOMEM: the block cannot be packed any more; -HOLTER_ELIMIT: it was not added, since
 *  the block has too many, or it is too long */
int block_writer_add(struct block_writer *writer, const struct recorded *head, const void *bytes,
                     size_t length);

/** Number of messages added since block_writer_clear(), and their bytes. */
size_t block_writer_messages(const struct block_writer *writer);
size_t block_writer_bytes(const struct block_writer *writer);

/** Pack the messages added since block_writer_clear(). They stay in the writer.
 *  @param level  of Zstandard
 *  @param out    valid until the next call for this writer
 *  @return 0 or -ENOMEM */
int block_writer_pack(struct block_writer *writer, int level, const void **out, size_t *length);

/** Remove all messages. */
void block_writer_clear(struct block_writer *writer);

/* ---- reading ------------------------------------------------------------- */

struct block_reader;

/** @return 0 or -ENOMEM */
int block_reader_create(struct block_reader **out);

/** NULL is fine. */
void block_reader_destroy(struct block_reader *reader);

/** Open a packed block.
 *  @param packed  not needed after the call
 *  @return 0, -HOLTER_ECORRUPT or -ENOMEM: then the reader has no messages */
int block_reader_open(struct block_reader *reader, const void *packed, size_t length);

/** Number of messages that the open block claims to have. */
size_t block_reader_count(const struct block_reader *reader);

/** Read the next message as bytes.
 *  @param bytes  valid until the next call for this reader
 *  @return 1, 0 at the end, -HOLTER_ECORRUPT or -ENOMEM: nothing more can be read of this block */
int block_reader_next(struct block_reader *reader, struct recorded *head, const void **bytes,
                      size_t *length);

/** Read the next message decoded, as wire_decode() would give it, without making its bytes.
 *  @param arena   the message points into it, until its next use
 *  @param length  set to the length of the message's bytes
 *  @param fault   set to 0, or to why the bytes are no message: then `out` is not set
 *  @return as block_reader_next() */
int block_reader_next_decoded(struct block_reader *reader, struct recorded *head,
                              struct wire_message *out, struct wire_arena *arena, size_t *length,
                              int *fault);

/** Bytes of the message that block_reader_next_decoded() gave last, which has to be unchanged.
 *  @param bytes  valid until the next call for this reader
 *  @return 0, -HOLTER_ECORRUPT or -ENOMEM */
int block_reader_bytes(struct block_reader *reader, const void **bytes, size_t *length);

#endif
