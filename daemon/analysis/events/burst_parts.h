/* Rows of bursts that are stored as they were added: one array for a set of bursts; each burst is a
 * list of parts of it. Nodes report rows in order, so two bursts are merged and read without
 * copying a row.
 *
 * Memory: 32 bytes a row, at most the given maximum, and 16 for each part; and 24 for each part of
 * one burst and 2 for each of its rows.
 *
 * Part of bursts.[ch]. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_EVENTS_BURST_PARTS_H
#define HOLTER_DAEMON_ANALYSIS_EVENTS_BURST_PARTS_H

#include "daemon/analysis/events/burst_pairs.h"

#include <stdbool.h>

#define BURST_PARTS_NONE UINT32_MAX

struct burst_part {
    uint32_t first, count; /**< rows */
    uint32_t next;         /**< part of the same burst, or BURST_PARTS_NONE */
    bool ascends;          /**< strictly, by key */
};

/** Of a set. */
struct burst_parts {
    struct burst_pair *rows; /**< owned */
    size_t count, capacity;
    uint32_t maximum;        /**< rows */
    struct burst_part *list; /**< owned */
    size_t list_count, list_capacity;
    struct burst_piece *pieces; /**< owned; as read last */
    struct burst_piece *queue;  /**< owned; what is left of each part while one is read */
    size_t piece_capacity, queue_capacity;
};

/** Of a burst. */
struct burst_chain {
    uint32_t head, tail; /**< parts */
    uint32_t parts, rows;
};

#define BURST_CHAIN_EMPTY ((struct burst_chain){BURST_PARTS_NONE, BURST_PARTS_NONE, 0, 0})

void burst_parts_finish(struct burst_parts *parts);

/** Forget all rows, keep the memory. */
void burst_parts_clear(struct burst_parts *parts);

/** Reserve space for rows that are to be added next; rows written there are preserved when more
 * space is reserved. @return NULL: the limit of rows is reached, or there is no memory */
struct burst_pair *burst_parts_reserve(struct burst_parts *parts, size_t rows);

/** Add rows to a burst. They are copied, unless they lie where burst_parts_reserve() said.
 *  @param count    at least 1
 *  @param ascends  are they known to ascend strictly? If false, their order is checked
 *  @return false: the limit is reached, or there is no memory */
bool burst_parts_add(struct burst_parts *parts, struct burst_chain *chain,
                     const struct burst_pair *rows, size_t count, bool ascends);

/** Rows of a part. */
static inline struct burst_piece burst_parts_rows(const struct burst_parts *parts,
                                                  const struct burst_part *part)
{
    return (struct burst_piece){parts->rows + part->first, part->count};
}

/** Add all of one burst to another; it is empty after that. */
void burst_parts_join(struct burst_parts *parts, struct burst_chain *to, struct burst_chain *from);

/** The rows of a burst in the order of their keys, each pair once, if parts only have to be cut
 * into pieces for that. @return false: rows have to be added up, or there is no memory */
bool burst_parts_read(struct burst_parts *parts, const struct burst_chain *chain,
                      const struct burst_piece **pieces, size_t *count);

#endif
