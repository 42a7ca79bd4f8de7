#include "daemon/analysis/phases/phase_numbers.h"

#include "daemon/analysis/phases/phase_graphs.h"
#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>

#define KEPT (1u << 14) /* spans and places */
#define SPAN_ROWS 16u   /* of a run that is remembered, in the mean at least */

void phase_numbers_init(struct phase_numbers *n, uint32_t most)
{
    *n = (struct phase_numbers){.most = most, .first = KEY_NONE};
    key_table_init(&n->edges);
}

static void free_room(struct phase_numbers *n)
{
    free(n->spans);
    free(n->places);
    free(n->run_spans);
    n->spans = NULL;
    n->run_spans = NULL;
    n->places = n->order = NULL;
    n->span_room = n->place_room = n->run_span_room = 0;
}

void phase_numbers_finish(struct phase_numbers *n)
{
    key_table_finish(&n->edges);
    phase_runs_finish(&n->runs);
    free_room(n);
}

size_t phase_numbers_bytes(const struct phase_numbers *n)
{
    return key_table_bytes(&n->edges) + n->span_room * sizeof(*n->spans) +
           n->place_room * sizeof(*n->places) + n->run_span_room * sizeof(*n->run_spans) +
           phase_runs_bytes(&n->runs);
}

/* ---- edges that are known ------------------------------------------------------------ */

/* @param before  edge of the row before it @return KEY_NONE: it has no number yet */
static uint32_t phase_numbers_number_of(struct phase_numbers *n, const struct burst_pair *row,
                                        uint32_t before)
{
    const struct key key = phase_edge_key(row);
    uint32_t *guess = before < n->edges.count ? &n->edges.after[before] : &n->first;
    if (!key_table_is(&n->edges, *guess, key))
        *guess = key_table_find(&n->edges, key);
    return *guess;
}

/* Add up rows as long as their edges have the numbers from one on. Of their messages bits are
 * looked at, of all rows at once: of a row's and of one less.
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

static bool add_to_spans(struct phase_numbers *n, const struct phase_span *span)
{
    if (array_fit(&n->spans, sizeof(*n->spans), &n->span_room, n->count + 1) != 0)
        return false;
    n->spans[n->count++] = *span;
    return true;
}

/* A piece that may be a run of its own from now on, as long as there is room for it.
 * @return one above its place among those apart; 0: it may not */
static uint32_t phase_numbers_set_apart(struct phase_numbers *n, const struct burst_piece *piece,
                                        const struct phase_run *known)
{
    if (piece->stays == 0 || piece->count < PHASE_RUN_LEAST || piece->count > PHASE_RUN_MOST ||
        n->apart_count == PHASE_APART)
        return 0;
    n->apart[n->apart_count] = (struct phase_apart){{.piece = *piece}, known};
    return ++n->apart_count;
}

/* As add_spans(), of a piece that is known. */
static bool phase_numbers_add_known(struct phase_numbers *n, const struct burst_piece *piece,
                                    const struct phase_run *known, struct phase_total *total,
                                    uint32_t *before)
{
    const struct burst_pair *row = piece->rows;
    uint32_t apart = phase_numbers_set_apart(n, piece, known);
    for (uint32_t i = 0; i < known->span_count; row += known->spans[i++].count) {
        const struct phase_span span = {row, known->spans[i].edge, known->spans[i].count, apart};
        if (!add_to_spans(n, &span))
            return false;
        *before = span.edge + span.count - 1;
    }
    total->high |= known->high;
    return !__builtin_add_overflow(total->messages, known->messages, &total->messages) &&
           !__builtin_add_overflow(total->bytes, known->bytes, &total->bytes);
}

/* Find the spans of a piece.
 * @param before  edge of the row before it; set to that of the last row
 * @return whether all rows are plain and of known edges, and no sum passes 2^64 */
static bool add_spans(struct phase_numbers *n, const struct burst_piece *piece,
                      struct phase_total *total, uint32_t *before)
{
    const struct burst_pair *row = piece->rows, *end = row + piece->count;
    uint64_t bits = 0, messages = total->messages, bytes = total->bytes;
    uint32_t apart = phase_numbers_set_apart(n, piece, NULL), count = 0;
    while (row < end) {
        struct phase_span span = {row, phase_numbers_number_of(n, row, *before), 0, apart};
        if (span.edge == KEY_NONE)
            return false;
        span.count = add_span(n, span.edge, row, (size_t)(end - row), total, &bits);
        if (bits > UINT32_MAX || !add_to_spans(n, &span))
            return false;
        *before = span.edge + span.count - 1;
        row += span.count;
        count++;
    }
    total->high |= (uint32_t)bits;
    if (apart > 0) {
        struct phase_run *run = &n->apart[apart - 1].run;
        run->messages = total->messages - messages;
        run->bytes = total->bytes - bytes;
        run->high = (uint32_t)bits;
        run->span_count = count;
    }
    return true;
}

/* Find the spans of rows that are plain and of known edges.
 * @return whether all are, and no sum passes 2^64: else nothing is said of them */
static bool find_spans(struct phase_numbers *n, const struct phase_pool *pool,
                       const struct burst_piece *pieces, size_t count, struct phase_total *total)
{
    uint32_t before = KEY_NONE;
    n->count = n->apart_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct phase_run *known = phase_runs_find(&n->runs, &pool->store, &pieces[i]);
        if (known != NULL ? !phase_numbers_add_known(n, &pieces[i], known, total, &before)
                          : !add_spans(n, &pieces[i], total, &before))
            return false;
        total->rows += pieces[i].count;
    }
    total->plain = total->known = true;
    return true;
}

/* ---- checking ------------------------------------------------------------------------ */

/* Add up rows that are plain: each has at least one message and at most 2^32. Bits of all are
 * looked at, in place of each row's: that may say no where rows are in order, but not yes where
 * they are not.
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
static int phase_numbers_add_rows(const struct burst_piece *piece, struct phase_total *total)
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

int phase_numbers_check(struct phase_numbers *n, const struct phase_pool *pool,
                        const struct burst_piece *pieces, size_t count, struct phase_total *total)
{
    struct phase_total begin = {.messages = total->messages, .bytes = total->bytes, .plain = true};
    int code = 0;
    *total = begin;
    if (find_spans(n, pool, pieces, count, total))
        return 0;
    *total = begin;
    n->apart_count = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        total->rows += pieces[i].count;
        code = add_plain(&pieces[i], total) ? 0 : phase_numbers_add_rows(&pieces[i], total);
    }
    return code;
}

/* ---- numbering ----------------------------------------------------------------------- */

/* How many rows have the edges from a number on, one after the other. */
static uint32_t phase_numbers_match(const struct phase_numbers *n, uint32_t edge,
                                    const struct burst_pair *rows, size_t most)
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

static void phase_numbers_note_ranks(struct phase_numbers *n, const struct burst_pair *e)
{
    uint32_t highest = e->source > e->destination ? e->source : e->destination;
    n->ranks = highest >= n->ranks ? (uint64_t)highest + 1 : n->ranks;
}

/* Number the edges of a piece; those that have no number any more become others. Mostly the next
 * row has the next number. @param before  edge of the row before it @return that of the last row */
static uint32_t phase_numbers_number_edges(struct phase_numbers *n, const struct burst_piece *piece,
                                           uint32_t before, struct phase_excess *others)
{
    for (size_t i = 0, count; i < piece->count; i += count) {
        const struct burst_pair *e = &piece->rows[i];
        const struct key key = phase_edge_key(e);
        count = 1;
        if (e->messages == 0)
            continue;
        phase_numbers_note_ranks(n, e); /* of edges that are known it is */
        uint32_t edge = n->edges.count < n->most ? key_table_add(&n->edges, key, before, n->first)
                                                 : key_table_find(&n->edges, key);
        if (edge == KEY_NONE) {
            others->messages += e->messages;
            others->bytes += e->bytes;
            continue;
        }
        if (before == KEY_NONE)
            n->first = edge;
        uint32_t more = phase_numbers_match(n, edge + 1, e + 1, piece->count - i - 1);
        n->spans[n->count++] = (struct phase_span){e, edge, more + 1, 0};
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

/* The edges of spans that are in order, of which each is in one only. */
static void set_ranges(const struct phase_numbers *n, struct phase_ranges *ranges)
{
    struct phase_range of[PHASE_RANGES_MOST];
    uint32_t count = 0;
    bool fit = true;
    for (size_t i = 0; fit && i < n->count; i++) {
        const struct phase_span *span = &n->spans[n->order[i].place];
        fit = phase_ranges_append(of, &count, span->edge, span->edge + span->count);
    }
    if (fit)
        phase_ranges_set(ranges, of, count);
}

/* Is a span of a piece that is apart, or if that is 0, of one that is not? */
static bool phase_numbers_is_of(const struct phase_numbers *n, const struct phase_span *span,
                                uint32_t apart)
{
    return span->apart == apart || n->apart_count == 0;
}

/* @param apart  of which piece; 0: of all that are not apart */
static void list_spans(const struct phase_numbers *n, uint32_t apart, struct phase_pool *pool,
                       struct phase_list *list)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct phase_span *span = &n->spans[n->order[i].place];
        const struct burst_pair *e = span->rows;
        if (!phase_numbers_is_of(n, span, apart))
            continue;
        if (n->cut && apart == 0 && list->rows > 0)
            phase_list_break(pool, list);
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

static size_t blocks_for(size_t rows)
{
    return (rows + PHASE_BLOCK - 1) / PHASE_BLOCK;
}

/* Each span of pieces that are not apart begins a block, unless that would leave too much of them
 * unused. Nodes tell the same spans again and again, in bursts with these nodes or those: so they
 * lie in the same blocks.
 * @param apart  blocks of pieces that are */
static void choose_cut(struct phase_numbers *n, size_t rows, size_t apart)
{
    size_t blocks = apart;
    for (size_t i = 0; i < n->count; i++)
        blocks += phase_numbers_is_of(n, &n->spans[i], 0) ? blocks_for(n->spans[i].count) : 0;
    n->cut = phase_list_may_link(rows, blocks, n->apart_count + 1);
}

/* Pieces that are apart become runs, unless these would leave too much of their blocks unused, or
 * consist of too many spans to be remembered. */
static void choose_apart(struct phase_numbers *n, size_t rows)
{
    size_t blocks = 0, main = rows;
    bool fit = true;
    for (uint32_t i = 0; i < n->apart_count; i++) {
        const struct phase_apart *a = &n->apart[i];
        blocks += blocks_for(a->run.piece.count);
        main -= a->run.piece.count;
        fit = fit && (a->known != NULL || a->run.span_count <= a->run.piece.count / SPAN_ROWS);
    }
    if (!fit || !phase_list_may_link(rows, blocks + blocks_for(main), n->apart_count + 1))
        n->apart_count = 0;
    choose_cut(n, rows, n->apart_count > 0 ? blocks : 0);
}

static void phase_numbers_remember(struct phase_numbers *n, uint32_t apart,
                                   const struct phase_pool *pool, const struct phase_list *list)
{
    struct phase_run *run = &n->apart[apart - 1].run;
    size_t count = 0;
    if (array_fit(&n->run_spans, sizeof(*n->run_spans), &n->run_span_room, run->span_count) != 0)
        return;
    for (size_t i = 0; i < n->count; i++)
        if (n->spans[i].apart == apart)
            n->run_spans[count++] = (struct phase_run_span){n->spans[i].edge, n->spans[i].count};
    run->spans = n->run_spans;
    phase_runs_keep(&n->runs, pool, run, list);
}

/* A piece that is apart, as a run. */
static struct phase_list list_run(struct phase_numbers *n, uint32_t apart, struct phase_pool *pool)
{
    const struct phase_apart *a = &n->apart[apart - 1];
    struct phase_list run = PHASE_LIST_EMPTY;
    if (a->known != NULL) {
        phase_run_list(a->known, pool, &run);
    } else {
        list_spans(n, apart, pool, &run);
        phase_list_complete(pool, &run, a->run.high);
        phase_numbers_remember(n, apart, pool, &run);
    }
    return run;
}

/* Put the pieces that are apart behind a list that has the others and is complete. Those that are
 * known come first: another one that is remembered may be in place of one of them. */
static void list_apart(struct phase_numbers *n, struct phase_pool *pool, struct phase_list *list,
                       struct phase_excess *others)
{
    for (int known = 1; known >= 0; known--) {
        for (uint32_t i = 1; i <= n->apart_count; i++) {
            if ((n->apart[i - 1].known != NULL) != known)
                continue;
            struct phase_list run = list_run(n, i, pool);
            if (!phase_list_link(pool, list, &run))
                phase_list_merge(pool, list, &run, others);
        }
    }
}

/* Room for what a burst may need: for spans, where they are not there yet, and to sort all rows. */
static int phase_numbers_reserve(struct phase_numbers *n, const struct phase_total *total,
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
    return phase_pool_reserve(pool, phase_blocks_most(rows) + PHASE_APART + PHASE_MERGE_BLOCKS);
}

int phase_numbers_list(struct phase_numbers *n, const struct burst_piece *pieces, size_t count,
                       const struct phase_total *total, struct phase_pool *pool,
                       const struct phase_listed *out, struct phase_excess *others)
{
    struct phase_list *list = out->list;
    uint32_t before = KEY_NONE;
    int code = phase_numbers_reserve(n, total, pool);
    if (code == 0 && !total->known) {
        n->count = n->apart_count = 0;
        for (size_t i = 0; i < count; i++)
            before = phase_numbers_number_edges(n, &pieces[i], before, others);
    }
    bool apart = code == 0 && order_spans(n) && total->plain;
    if (apart) {
        choose_apart(n, total->rows);
        set_ranges(n, out->ranges);
        list_spans(n, 0, pool, list);
    } else if (code == 0) {
        list_rows(n, pool, list, others);
    }
    phase_list_complete(pool, list, apart ? total->high : UINT32_MAX);
    if (apart)
        list_apart(n, pool, list, others);
    if (n->span_room > KEPT || n->place_room > 2 * KEPT)
        free_room(n);
    return code;
}
