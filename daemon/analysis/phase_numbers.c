#include "daemon/analysis/phase_numbers.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/phase_graphs.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>

#define KEPT (1u << 14) /* spans and places */

void phase_numbers_init(struct phase_numbers *n, uint32_t most)
{
    *n = (struct phase_numbers){.most = most, .first = KEY_NONE};
    key_table_init(&n->edges);
}

static void free_room(struct phase_numbers *n)
{
    free(n->spans);
    free(n->places);
    n->spans = NULL;
    n->places = n->order = NULL;
    n->span_room = n->place_room = 0;
}

void phase_numbers_finish(struct phase_numbers *n)
{
    key_table_finish(&n->edges);
    free_room(n);
}

size_t phase_numbers_bytes(const struct phase_numbers *n)
{
    return key_table_bytes(&n->edges) + n->span_room * sizeof(*n->spans) +
           n->place_room * sizeof(*n->places);
}

/* ---- edges that are known ------------------------------------------------------------ */

/* @param before  edge of the row before it @return KEY_NONE: it has no number yet */
static uint32_t number_of(struct phase_numbers *n, const struct burst_pair *row, uint32_t before)
{
    const struct key key = phase_edge_key(row);
    uint32_t *guess = before < n->edges.count ? &n->edges.after[before] : &n->first;
    if (!key_table_is(&n->edges, *guess, key))
        *guess = key_table_find(&n->edges, key);
    return *guess;
}

/* Add up rows as long as their edges have the numbers from one on. Of their messages bits are looked at, of all
 * rows at once: of a row's and of one less.
 * @return how many rows have */
static uint32_t add_span(const struct phase_numbers *n, uint32_t edge,
                         const struct burst_pair *rows, size_t most, struct phase_total *total,
                         uint64_t *bits)
{
    uint32_t known = n->edges.count - edge;
    const struct key *there = n->edges.keys + edge;
    const struct burst_pair *row = rows, *end = rows + (most < known ? most : known);
    uint64_t some = *bits, messages = total->messages, bytes = total->bytes, carries = 0;
    for (; row < end; row++, there++) {
        const struct key key = phase_edge_key(row);
        if (there->hi != key.hi || there->lo != key.lo)
            break;
        some |= row->messages | (row->messages - 1);
        messages +=
            row->messages; /* fewer than 2^32 rows of 2^32: does not pass 2^64 more than once */
        carries += __builtin_add_overflow(bytes, row->bytes, &bytes);
    }
    *bits = carries > 0 || messages < total->messages ? UINT64_MAX : some;
    total->messages = messages;
    total->bytes = bytes;
    return (uint32_t)(row - rows);
}

/* Find the spans of rows that are plain and of known edges.
 * @return whether all are, and no sum passes 2^64: else nothing is said of them */
static bool find_spans(struct phase_numbers *n, const struct burst_piece *pieces, size_t count,
                       struct phase_total *total)
{
    uint64_t bits = 0;
    uint32_t before = KEY_NONE;
    n->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct burst_pair *row = pieces[i].rows, *end = row + pieces[i].count;
        while (row < end) {
            uint32_t edge = number_of(n, row, before), rows;
            if (edge == KEY_NONE ||
                array_fit(&n->spans, sizeof(*n->spans), &n->span_room, n->count + 1) != 0)
                return false;
            rows = add_span(n, edge, row, (size_t)(end - row), total, &bits);
            if (bits > UINT32_MAX)
                return false;
            n->spans[n->count++] = (struct phase_span){row, edge, rows};
            before = edge + rows - 1;
            row += rows;
        }
        total->rows += pieces[i].count;
    }
    total->plain = total->known = true;
    total->high = (uint32_t)bits;
    return true;
}

/* ---- checking ------------------------------------------------------------------------ */

/* Add up rows that are plain: each has at least one message and at most 2^32. Bits of all are looked at,
 * in place of each row's: that may say no where rows are in order, but not yes where they are not.
 * @return whether they are, and no sum passes 2^64 */
static bool add_plain(const struct burst_piece *piece, struct phase_total *total)
{
    uint64_t kinds = 0, bits = 0, messages = 0, carries = 0, bytes = total->bytes;
    for (const struct burst_pair *e = piece->rows, *end = e + piece->count; e < end; e++) {
        kinds |= (uint64_t)e->modelled << 32 | e->size_class;
        bits |= e->messages | (e->messages - 1);
        messages += e->messages;
        carries += __builtin_add_overflow(bytes, e->bytes, &bytes);
    }
    if (carries > 0 || bits > UINT32_MAX || kinds >> 33 != 0 || (uint32_t)kinds >= SIZE_CLASSES ||
        piece->count > UINT32_MAX || __builtin_add_overflow(total->messages, messages, &messages))
        return false;
    total->messages = messages;
    total->bytes = bytes;
    total->high |= (uint32_t)bits;
    return true;
}

/* Each row for itself. @return 0 or -HOLTER_ERANGE */
static int add_rows(const struct burst_piece *piece, struct phase_total *total)
{
    for (size_t i = 0; i < piece->count; i++) {
        const struct burst_pair *e = &piece->rows[i];
        if (e->size_class >= SIZE_CLASSES || e->modelled > 1 ||
            __builtin_add_overflow(total->messages, e->messages, &total->messages) ||
            (e->messages > 0 && __builtin_add_overflow(total->bytes, e->bytes, &total->bytes)))
            return -HOLTER_ERANGE;
        total->large += e->messages > UINT32_MAX;
    }
    total->plain = false;
    return 0;
}

int phase_numbers_check(struct phase_numbers *n, const struct burst_piece *pieces, size_t count,
                        struct phase_total *total)
{
    struct phase_total begin = {.messages = total->messages, .bytes = total->bytes, .plain = true};
    int code = 0;
    *total = begin;
    if (find_spans(n, pieces, count, total))
        return 0;
    *total = begin;
    for (size_t i = 0; code == 0 && i < count; i++) {
        total->rows += pieces[i].count;
        code = add_plain(&pieces[i], total) ? 0 : add_rows(&pieces[i], total);
    }
    return code;
}

/* ---- numbering ----------------------------------------------------------------------- */

/* How many rows have the edges from a number on, one after the other. */
static uint32_t match(const struct phase_numbers *n, uint32_t edge, const struct burst_pair *rows,
                      size_t most)
{
    uint32_t known = n->edges.count - edge;
    const struct key *there = n->edges.keys + edge;
    const struct burst_pair *row = rows, *end = rows + (most < known ? most : known);
    for (; row < end; row++, there++) {
        const struct key key = phase_edge_key(row);
        if (there->hi != key.hi || there->lo != key.lo)
            break;
    }
    return (uint32_t)(row - rows);
}

static void note_ranks(struct phase_numbers *n, const struct burst_pair *e)
{
    uint32_t highest = e->source > e->destination ? e->source : e->destination;
    n->ranks = highest >= n->ranks ? (uint64_t)highest + 1 : n->ranks;
}

/* Number the edges of a piece; those that have no number any more become others. Mostly the next row has the
 * next number. @param before  edge of the row before it @return that of the last row */
static uint32_t number_edges(struct phase_numbers *n, const struct burst_piece *piece,
                             uint32_t before, struct phase_excess *others)
{
    for (size_t i = 0, count; i < piece->count; i += count) {
        const struct burst_pair *e = &piece->rows[i];
        const struct key key = phase_edge_key(e);
        count = 1;
        if (e->messages == 0)
            continue;
        note_ranks(n, e); /* of edges that are known it is */
        uint32_t edge = n->edges.count < n->most ? key_table_add(&n->edges, key, before, n->first)
                                                 : key_table_find(&n->edges, key);
        if (edge == KEY_NONE) {
            others->messages += e->messages;
            others->bytes += e->bytes;
            continue;
        }
        if (before == KEY_NONE)
            n->first = edge;
        uint32_t more = match(n, edge + 1, e + 1, piece->count - i - 1);
        n->spans[n->count++] = (struct phase_span){e, edge, more + 1};
        before = edge + more;
        count += more;
    }
    return before;
}

/* ---- listing ------------------------------------------------------------------------- */

/* @return whether each edge is in one span only */
static bool order_spans(struct phase_numbers *n)
{
    struct key_place *order = n->places;
    bool sorted = true;
    for (size_t i = 0; i < n->count; i++) {
        order[i] = (struct key_place){n->spans[i].edge, (uint32_t)i};
        sorted = sorted && (i == 0 || order[i - 1].key < order[i].key);
    }
    if (!sorted)
        order = key_order(order, order + n->count, n->count);
    for (size_t i = 1; i < n->count; i++) {
        const struct phase_span *before = &n->spans[order[i - 1].place];
        if (before->edge + before->count > order[i].key)
            return false;
    }
    n->order = order;
    return true;
}

static void list_spans(const struct phase_numbers *n, struct phase_pool *pool,
                       struct phase_list *list)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct phase_span *span = &n->spans[n->order[i].place];
        const struct burst_pair *e = span->rows;
        uint32_t edge = span->edge;
        for (size_t left = span->count, here; left > 0; left -= here) {
            struct phase_row *row = phase_list_extend(pool, list, left, &here);
            for (struct phase_row *end = row + here; row < end; e++, row++)
                *row = (struct phase_row){edge++, (uint32_t)e->messages, e->bytes};
        }
    }
}

/* Row by row: edges may be told more than once, or need several rows. */
static void list_rows(const struct phase_numbers *n, struct phase_pool *pool,
                      struct phase_list *list, struct phase_excess *others)
{
    struct key_place *places = n->places;
    size_t count = 0;
    for (uint32_t s = 0; s < n->count; s++)
        for (uint32_t i = 0; i < n->spans[s].count; i++)
            places[count++] = (struct key_place){(uint64_t)n->spans[s].edge + i, s};
    places = key_order(places, places + count, count);
    for (size_t i = 0; i < count;) {
        uint64_t edge = places[i].key, messages = 0, bytes = 0;
        for (; i < count && places[i].key == edge; i++) {
            const struct phase_span *span = &n->spans[places[i].place];
            const struct burst_pair *row = &span->rows[edge - span->edge];
            messages += row->messages;
            bytes += row->messages > 0 ? row->bytes : 0;
        }
        if (messages > 0)
            phase_list_append(pool, list, (uint32_t)edge, messages, bytes, others);
    }
}

/* Room for what a burst may need: for spans, where they are not there yet, and to sort all rows. */
static int reserve(struct phase_numbers *n, const struct phase_total *total,
                   struct phase_pool *pool)
{
    size_t further = n->most - n->edges.count;
    uint64_t rows = total->rows + total->large * PHASE_ROW_SPLIT;
    if (total->rows > PHASE_GRAPHS_MOST_ROWS ||
        array_fit(&n->places, sizeof(*n->places), &n->place_room, 2 * total->rows + 1) != 0)
        return -ENOMEM;
    if (!total->known &&
        (array_fit(&n->spans, sizeof(*n->spans), &n->span_room, total->rows + 1) != 0 ||
         key_table_reserve(&n->edges, total->rows < further ? total->rows : further) != 0))
        return -ENOMEM;
    return phase_pool_reserve(pool, rows / PHASE_BLOCK + 1 + PHASE_MERGE_BLOCKS);
}

int phase_numbers_list(struct phase_numbers *n, const struct burst_piece *pieces, size_t count,
                       const struct phase_total *total, struct phase_pool *pool,
                       struct phase_list *list, struct phase_excess *others)
{
    uint32_t before = KEY_NONE;
    int code = reserve(n, total, pool);
    if (code == 0 && !total->known) {
        n->count = 0;
        for (size_t i = 0; i < count; i++)
            before = number_edges(n, &pieces[i], before, others);
    }
    bool apart = code == 0 && order_spans(n) && total->plain;
    if (apart)
        list_spans(n, pool, list);
    else if (code == 0)
        list_rows(n, pool, list, others);
    phase_list_complete(pool, list, apart ? total->high : UINT32_MAX);
    if (n->span_room > KEPT || n->place_room > 2 * KEPT)
        free_room(n);
    return code;
}
