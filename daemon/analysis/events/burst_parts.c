/* Rows of bursts that stay where they are: each burst is a list of parts. */
#include "daemon/analysis/events/burst_parts.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "holter/bisect.h"

#include <stdlib.h>
#include <string.h>

#define MINIMUM_PIECE 8u /* rows, in the mean: shorter ones are quicker to sort */

void burst_parts_finish(struct burst_parts *p)
{
    free(p->rows);
    free(p->list);
    free(p->pieces);
    free(p->queue);
    *p = (struct burst_parts){.maximum = p->maximum};
}

void burst_parts_clear(struct burst_parts *p)
{
    p->count = p->list_count = 0;
}

struct burst_pair *burst_parts_reserve(struct burst_parts *p, size_t rows)
{
    if (rows > p->maximum - p->count ||
        array_fit(&p->rows, sizeof(*p->rows), &p->capacity, p->count + rows) != 0)
        return NULL;
    return p->rows + p->count;
}

static bool burst_parts_precedes(const struct burst_pair *a, const struct burst_pair *b)
{
    return burst_pair_compare(a, b) < 0;
}

/* One load, turned round. */
static uint64_t burst_parts_ranks_of(const struct burst_pair *row)
{
    uint64_t ranks = (uint64_t)row->destination << 32 | row->source;
    return ranks << 32 | ranks >> 32;
}

/* @param count  at least 1 */
static bool burst_parts_do_ascend(const struct burst_pair *rows, size_t count)
{
    uint64_t before = burst_parts_ranks_of(&rows[0]);
    uint32_t some = rows[0].modelled, all = some;
    for (size_t i = 1; i < count; i++) {
        uint64_t ranks = burst_parts_ranks_of(&rows[i]);
        some |= rows[i].modelled;
        all &= rows[i].modelled;
        if (ranks <= before && !burst_parts_precedes(&rows[i - 1], &rows[i]))
            return false;
        before = ranks;
    }
    for (size_t i = 1; some != all && i < count; i++)
        if (!burst_parts_precedes(&rows[i - 1], &rows[i]))
            return false;
    return true;
}

/* Space for it was made. */
static void burst_parts_append(struct burst_parts *p, struct burst_chain *chain,
                               const struct burst_part *part)
{
    uint32_t at = (uint32_t)p->list_count++;
    p->list[at] = *part;
    *(chain->parts == 0 ? &chain->head : &p->list[chain->tail].next) = at;
    chain->tail = at;
    chain->parts++;
    chain->rows += part->count;
}

bool burst_parts_add(struct burst_parts *p, struct burst_chain *chain,
                     const struct burst_pair *rows, size_t count, bool ascends)
{
    bool there = p->rows != NULL && rows == p->rows + p->count;
    if (p->maximum == 0 || count > p->maximum - p->count || p->list_count >= BURST_PARTS_NONE ||
        array_fit(&p->list, sizeof(*p->list), &p->list_capacity, p->list_count + 1) != 0)
        return false;
    struct burst_pair *to = there ? p->rows + p->count : burst_parts_reserve(p, count);
    if (to == NULL)
        return false;
    if (!there)
        memcpy(to, rows, count * sizeof(*rows));
    const struct burst_part part = {.first = (uint32_t)p->count,
                                    .count = (uint32_t)count,
                                    .next = BURST_PARTS_NONE,
                                    .ascends = ascends || burst_parts_do_ascend(to, count)};
    burst_parts_append(p, chain, &part);
    p->count += count;
    return true;
}

void burst_parts_join(struct burst_parts *p, struct burst_chain *to, struct burst_chain *from)
{
    if (from->parts > 0) {
        *(to->parts == 0 ? &to->head : &p->list[to->tail].next) = from->head;
        to->tail = from->tail;
        to->parts += from->parts;
        to->rows += from->rows;
    }
    *from = BURST_CHAIN_EMPTY;
}

/* Parts by the ranks of their first rows, or nearly so: keys have a bit more than fits. */
static uint64_t burst_parts_order_of(const struct burst_pair *first)
{
    return (uint64_t)first->modelled << 63 | burst_pair_ranks(first) >> 1;
}

/* Parts by what they begin with. @return whether all ascend, and there was memory */
static bool burst_parts_sort(struct burst_parts *p, const struct burst_chain *chain)
{
    struct key_place *places = malloc(2 * (size_t)chain->parts * sizeof(*places)), *order = places;
    size_t count = 0;
    bool ascends = places != NULL;
    if (array_fit(&p->queue, sizeof(*p->queue), &p->queue_capacity, chain->parts) != 0)
        ascends = false;
    for (uint32_t at = chain->head; ascends && at != BURST_PARTS_NONE; at = p->list[at].next) {
        ascends = p->list[at].ascends;
        places[count++] =
            (struct key_place){burst_parts_order_of(burst_parts_rows(p, &p->list[at]).rows), at};
    }
    if (ascends)
        order = key_order(places, places + count, count);
    for (size_t i = 0; ascends && i < count; i++) {
        p->queue[i] = burst_parts_rows(p, &p->list[order[i].place]);
    }
    free(places);
    return ascends;
}

/* @return rows of a piece before a row; the first is */
static size_t burst_parts_rows_before(const struct burst_piece *piece, const struct burst_pair *row)
{
    return BISECT(i, 1, piece->count, burst_parts_precedes(&piece->rows[i], row));
}

/* Insert the rest of the first piece of a queue at its new position in the queue. */
static void burst_parts_put_back(struct burst_piece *queue, size_t count, struct burst_piece rest)
{
    size_t at = 0;
    for (; at + 1 < count && burst_parts_precedes(&queue[at + 1].rows[0], &rest.rows[0]); at++)
        queue[at] = queue[at + 1];
    queue[at] = rest;
}

bool burst_parts_read(struct burst_parts *p, const struct burst_chain *chain,
                      const struct burst_piece **pieces, size_t *count)
{
    size_t made = 0, maximum = chain->parts + chain->rows / MINIMUM_PIECE;
    if (chain->parts == 0 || !burst_parts_sort(p, chain) ||
        array_fit(&p->pieces, sizeof(*p->pieces), &p->piece_capacity, maximum) != 0)
        return false;
    for (size_t head = 0; head < chain->parts;) {
        struct burst_piece first = p->queue[head];
        const struct burst_pair *next = head + 1 < chain->parts ? p->queue[head + 1].rows : NULL;
        size_t rows = first.count;
        if (next != NULL && !burst_parts_precedes(&first.rows[rows - 1], next)) {
            if (!burst_parts_precedes(&first.rows[0], next))
                return false; /* both have this pair */
            rows = burst_parts_rows_before(&first, next);
        }
        if (made == maximum)
            return false;
        p->pieces[made++] = (struct burst_piece){first.rows, rows};
        if (rows == first.count)
            head++;
        else
            burst_parts_put_back(p->queue + head, chain->parts - head,
                                 (struct burst_piece){first.rows + rows, first.count - rows});
    }
    *pieces = p->pieces;
    *count = made;
    return true;
}
