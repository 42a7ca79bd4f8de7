/* Ends of messages, in any order in, by rank and time out, in bounded memory: a merge sort that
 * keeps what does not fit into CSV_SPOOL_RUN ends in files that have no names. */
#ifndef HOLTER_IMPORT_CSV_SPOOL_H
#define HOLTER_IMPORT_CSV_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#define CSV_SPOOL_RUN (1u << 20) /**< ends in memory, 56 MiB; a smaller one for tests */
#define CSV_SPOOL_RUNS 1024u     /**< at most */

enum csv_end_kind {
    CSV_END_POST, /**< a receive takes its place in the order of messages: when its send began */
    CSV_END_SEND,
    CSV_END_RECEIVE,
};

/** Ends are in the order of rank, time, kind and then all else, so that the order in which they
 * come does not matter. Times are nanoseconds. */
struct csv_end {
    uint64_t at;           /**< sends, posts: when the send began; receives: when they ended */
    uint64_t enter, leave; /**< of the call; posts: leave is that of the send's call */
    uint64_t bytes;
    uint32_t rank;
    int32_t peer;
    uint32_t request; /**< the same for a receive and its post; not compared */
    int32_t tag;      /**< below 0: it is not matched */
    uint16_t communicator, region;
    uint16_t call; /**< sends */
    uint16_t kind; /**< enum csv_end_kind */
};

/** Which of two names comes first, by their numbers, as strcmp(3): numbers may depend on the order
 * of the input. */
typedef int csv_compare_names(const void *user, unsigned first, unsigned second);

struct csv_spool;

struct csv_spool_options {
    const char *folder; /**< for files without a name */
    size_t run;         /**< ends in memory; 0: CSV_SPOOL_RUN */
    csv_compare_names *communicators, *regions;
    const void *user;
};

/** @return 0 or -ENOMEM */
int csv_spool_create(struct csv_spool **out, const struct csv_spool_options *options);

/** NULL is fine. */
void csv_spool_destroy(struct csv_spool *spool);

/** @return 0, -HOLTER_ELIMIT when there are too many, or what write(2) says */
int csv_spool_add(struct csv_spool *spool, const struct csv_end *end);

/** All are there. @return 0 or a negative error */
int csv_spool_sort(struct csv_spool *spool, uint32_t ranks);

/** How many ends a rank has; after sorting. */
uint64_t csv_spool_count(const struct csv_spool *spool, uint32_t rank);

/** Read ends of a rank, from a position on. From several threads. @return how many, or a negative
 * error */
int csv_spool_read(const struct csv_spool *spool, uint32_t rank, uint64_t position,
                   struct csv_end *out, uint32_t most);

#endif
