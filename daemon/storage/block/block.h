/* Blocks of a recording: some hundred messages packed together.
 *
 * Window messages are tables of numbers, row by row. A block holds them column by column: all
 * numbers of one column of one field, of all its messages, one after the other, as themselves or as
 * differences to their neighbours, what is left to find in them compressed with zstd. This takes
 * less than half of what the same messages take compressed as they are. What comes out is what went
 * in, byte for byte: a message that is not MessagePack in its shortest form, or not shaped like a
 * wire message, is kept as it is.
 *
 * docs/recording.md describes the bytes. Nothing in a block is trusted when it is read. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_H

#include "daemon/storage/block/recorded.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define BLOCK_BYTES ((size_t)1 << 20) /**< messages that make a block, bytes together */
/** Bytes of messages in one block at most: the last one may be as long as a message can be. */
#define BLOCK_MOST_BYTES (BLOCK_BYTES + ((size_t)16 << 20))
#define BLOCK_MOST_MESSAGES (1u << 20)

/* ---- writing ------------------------------------------------------------- */

struct block_writer;

/** @return 0 or -ENOMEM */
int block_writer_create(struct block_writer **out);

/** NULL is fine. */
void block_writer_destroy(struct block_writer *writer);

/** Add a message. @param head  instance: number of the agent in the file
 *  @return 0; -ENOMEM: it was not added; -HOLTER_ELIMIT: there are too many, or it is too long */
int block_add(struct block_writer *writer, const struct recorded *head, const void *bytes,
              size_t length);

#define BLOCK_SLICE_HINTS 256u

struct block_slice_shape;

/** A decoded message, cut into columns. Zero is empty; used from message to message. */
struct block_slices {
    uint8_t *heads, *rows; /**< owned */
    size_t head_length, head_room, row_length, row_room;
    size_t usual; /**< room for what messages take, as the one before */
    /** Bytes that the numbers of a message's first, second ... column of integers took in the
     * message before. */
    uint8_t widths[BLOCK_SLICE_HINTS];
    size_t cut;                      /**< columns of integers of this message */
    struct block_slice_shape *known; /**< owned: of the message before; NULL: none */
};

void block_slices_finish(struct block_slices *slices);

/** Cut a message, in any thread.
 *  @param message  as wire_decode() gave it
 *  @return 0; -HOLTER_EPROTOCOL: block_add() must look at its bytes; -ENOMEM */
int block_slice(struct block_slices *slices, const struct wire_message *message);

/** What was cut, in one piece, for block_source: once for each message.
 *  @param length  set to its bytes @return for free(); NULL: no memory */
void *block_slices_take(struct block_slices *slices, size_t *length);

/** A message that the writer takes over: it is not copied, and not taken apart again where it was
 * cut. */
struct block_source {
    const void *bytes; /**< the message, until the release */
    size_t length;
    void *slices;                 /**< of block_slices_take(); NULL: the message was not cut */
    void (*release)(void *owner); /**< of the bytes, when they are needed no more */
    void *owner;
};

/** block_add() of a message that is handed over, also after a failure, with the same result. */
int block_add_source(struct block_writer *writer, const struct recorded *head,
                     const struct block_source *source);

/** Messages added since block_clear(), and their bytes; since block_mark(). */
size_t block_messages(const struct block_writer *writer);
size_t block_bytes(const struct block_writer *writer);
size_t block_messages_marked(const struct block_writer *writer);
size_t block_bytes_marked(const struct block_writer *writer);

/** From here on. */
void block_mark(struct block_writer *writer);

/** Pack what was added since block_clear(); or since block_mark(), which takes far less time and
 * more room, as messages are kept as they are. It stays in the writer.
 *  @param level  of zstd
 *  @param out    valid until the next call @return 0 or -ENOMEM */
int block_pack(struct block_writer *writer, int marked, int level, const void **out,
               size_t *length);

/** Begin anew. */
void block_clear(struct block_writer *writer);

/* ---- reading ------------------------------------------------------------- */

struct block_reader;

/** @return 0 or -ENOMEM */
int block_reader_create(struct block_reader **out);

/** NULL is fine. */
void block_reader_destroy(struct block_reader *reader);

#define BLOCK_ALL_ROWS UINT64_MAX

/** Which rows of windows are wanted, of blocks opened from now on: all, at first. Columns of others
 * are not looked at, which takes a part of the time: block_next_decoded() gives windows without
 * these rows, or with them, and of windows no length; block_next() and block_decoded_bytes() are
 * not for such a block.
 *  @param fields  bits of the keys of fields; other fields than rows, and other messages, are
 * always read */
void block_want(struct block_reader *reader, uint64_t fields);

/** Open a packed block. @param packed  not needed any more afterwards
 *  @return 0, -HOLTER_ECORRUPT or -ENOMEM: there is nothing to read */
int block_open(struct block_reader *reader, const void *packed, size_t length);

/** Messages that the block says it has. */
size_t block_count(const struct block_reader *reader);

/** Next message.
 *  @param bytes  valid until the next call
 *  @return 1, 0 at the end, -HOLTER_ECORRUPT or -ENOMEM: nothing more can be read of this block */
int block_next(struct block_reader *reader, struct recorded *head, const void **bytes,
               size_t *length);

/** Next message, as wire_decode() would make it of its bytes. These are not made where the columns
 * tell all: that takes a quarter of the time.
 *  @param arena   what the message points into, until its next use
 *  @param length  set to that of the bytes
 *  @param fault   set to 0, or why the bytes are no message: then `out` is nothing to read
 *  @return as block_next(); -EAGAIN: not all rows are wanted, but bytes are: open it again, with
 * all */
int block_next_decoded(struct block_reader *reader, struct recorded *head, struct wire_message *out,
                       struct wire_arena *arena, size_t *length, int *fault);

/** Bytes of the message that block_next_decoded() gave. @param bytes  valid until the next call
 *  @return 0, -HOLTER_ECORRUPT or -ENOMEM */
int block_decoded_bytes(struct block_reader *reader, const void **bytes, size_t *length);

#endif
