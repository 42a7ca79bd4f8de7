/* What tests of blocks stand on: a writer, a reader, what was put in, and windows to put in. */
#ifndef TESTS_DAEMON_STORAGE_BLOCK_BLOCK_BED_H
#define TESTS_DAEMON_STORAGE_BLOCK_BLOCK_BED_H

#include "daemon/storage/block/block.h"
#include "holter/wire.h"

#define BLOCK_BED_MOST 2000u

/** What was put in. */
struct block_bed_kept {
    struct recorded head;
    uint8_t *bytes;
    size_t length;
};

struct block_bed {
    struct block_writer *writer;
    struct block_reader *reader;
    struct block_bed_kept kept[BLOCK_BED_MOST];
    size_t count;
    uint64_t seed; /* the same at the begin of each test */
    size_t raw;    /* bytes put in */
};

extern struct block_bed block_bed;

/** For cmocka: before and after each test. */
int block_bed_set_up(void **state);
int block_bed_tear_down(void **state);

/** Put a message of any bytes in, with a head of its own. */
void block_bed_add(const void *bytes, size_t length);
void block_bed_add_window(const struct wire_window *window);
/** Put a window in: with pairs, ranks and a node. */
void block_bed_window(uint64_t number);
/** With ends of messages between two nodes, and keys that are there once, or three times: those of
 * one node, or of the other. */
void block_bed_halves(uint64_t number, unsigned node);
/** With ends as agents tell them: of three ranks one after the other, with keys of channels, calls
 * that follow one another, and some that completed several messages. @param ordinal  of the
 * channels' first message; moved on */
void block_bed_calls(uint64_t number, uint64_t *ordinal);

/** Pack, open, and check that what comes out is what went in, from a message on, as bytes and
 * decoded.
 *  @return bytes packed */
size_t block_bed_check(size_t from);
/** Messages of the block that is open come out decoded as their bytes would be, and their bytes can
 * be made of each second one. */
void block_bed_check_decoded(size_t from);

#endif
