/* A sorter for ends of messages, which are added in any order and read by rank and time. It stores
 * them in an unnamed file that is mapped into memory, so that they may exceed the main memory. */
#ifndef HOLTER_IMPORT_CSV_SPOOL_H
#define HOLTER_IMPORT_CSV_SPOOL_H

#include <stdint.h>

enum csv_end_kind {
    CSV_END_POST, /**< the post of a receive, at the begin of its send, so that receives are posted
                     in the order of sends */
    CSV_END_SEND,
    CSV_END_RECEIVE,
};

/** An end of a message. Ends are ordered by rank, time, kind and then all other members, so that
 * the result does not depend on the order of the input. Times are nanoseconds. */
struct csv_end {
    uint64_t at; /**< sends, posts: begin of the send; receives: end of the receive */
    uint64_t enter,
        leave; /**< begin and end of the call; posts: leave is that of the send's call */
    uint64_t bytes;
    uint32_t rank;
    int32_t peer;
    uint32_t request; /**< the same for a receive and its post; not part of the order */
    int32_t tag;      /**< below 0: the message is not matched */
    uint16_t communicator, region;
    uint16_t call; /**< sends */
    uint16_t kind; /**< enum csv_end_kind */
};

struct csv_spool;

/** @param folder  for the file @return 0, or -errno: no file can be created */
int csv_spool_create(struct csv_spool **out, const char *folder);

/** NULL is fine. */
void csv_spool_destroy(struct csv_spool *spool);

/** @return 0, or -errno: the file cannot grow */
int csv_spool_add(struct csv_spool *spool, const struct csv_end *end);

/** Sort, after all ends are added.
 * @param communicators, regions  by number in the ends so far: the new one, in the order of names,
 * which does not depend on the order of the input
 * @return 0 or -ENOMEM */
int csv_spool_sort(struct csv_spool *spool, uint32_t ranks, const uint16_t *communicators,
                   const uint16_t *regions);

/** Read ends of a rank, starting at a position; after sorting. Thread-safe. @return their number */
uint32_t csv_spool_read(const struct csv_spool *spool, uint32_t rank, uint64_t position,
                        struct csv_end *out, uint32_t most);

#endif
