/* Messages between ranks: how many cross nodes, and who a rank exchanges most with. */
#include "daemon/analysis/attribution/attribution_state.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void attribution_traffic_finish(struct attribution_traffic *traffic)
{
    free(traffic->rows);
    free(traffic->turns);
    *traffic = (struct attribution_traffic){0};
}

/* ---- partners -------------------------------------------------------------- */

/* Bits of the places that have this rank, be there one or not. */
static inline unsigned places_of(const struct attribution_partners *partners, uint32_t rank)
{
#ifdef __SSE2__
    const __m128i *ranks = (const __m128i *)partners->ranks, wanted = _mm_set1_epi32((int32_t)rank);
    const __m128i low = _mm_cmpeq_epi32(_mm_loadu_si128(ranks), wanted),
                  high = _mm_cmpeq_epi32(_mm_loadu_si128(ranks + 1), wanted);
    const __m128i all = _mm_packs_epi32(low, high);
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(all, _mm_setzero_si128()));
#else
    unsigned places = 0;
    for (unsigned i = 0; i < ATTRIBUTION_PARTNERS; i++)
        places |= (unsigned)(partners->ranks[i] == rank) << i;
    return places;
#endif
}

_Static_assert(ATTRIBUTION_PARTNERS == 8, "partners are looked through at once");

/* The first of those with the fewest messages. Which one it is cannot be foreseen: so nothing
 * branches. */
static inline uint8_t find_lightest(const uint64_t *messages)
{
    uint64_t least = messages[0];
    uint8_t at = 0;
#pragma GCC unroll 8
    for (uint8_t i = 1; i < ATTRIBUTION_PARTNERS; i++) {
        at = messages[i] < least ? i : at;
        least = messages[i] < least ? messages[i] : least;
    }
    return at;
}

/* Among the partners that are kept the heaviest stay: a new one takes the place and the count of
 * the lightest (Metwally et al. 2005, space saving).
 * @param replaced  set when it is a new one @return its place */
static __attribute__((noinline)) uint8_t find_partner(struct attribution_partners *partners,
                                                      uint32_t rank, bool *replaced)
{
    for (unsigned left = places_of(partners, rank); left != 0; left &= left - 1) {
        const uint8_t at = (uint8_t)__builtin_ctz(left);
        if (partners->messages[at] > 0)
            return at;
    }
    const uint8_t lightest = find_lightest(partners->messages);
    partners->ranks[lightest] = rank;
    *replaced = true;
    return lightest;
}

/* @param turn  where it probably is; then where the next one probably is */
static inline void add_partner(struct attribution_partners *partners, uint8_t *turn, uint32_t rank,
                               uint64_t messages, bool *replaced)
{
    uint8_t at = *turn;
    if (at >= ATTRIBUTION_PARTNERS || partners->ranks[at] != rank || partners->messages[at] == 0)
        at = find_partner(partners, rank, replaced);
    partners->messages[at] += messages;
    *turn = (uint8_t)(at + 1);
}

/* To those of both ends. */
static void add_partners(const struct attribution *a, uint32_t from, uint32_t to, uint64_t messages,
                         bool *replaced)
{
    struct attribution_turn *turns = a->traffic.turns;
    add_partner(&a->partners[from], &turns[from].sends, to, messages, replaced);
    add_partner(&a->partners[to], &turns[to].receives, from, messages, replaced);
}

static void begin_turns(struct attribution *a)
{
    if (a->traffic.turn_room > 0)
        memset(a->traffic.turns, 0, a->traffic.turn_room * sizeof(*a->traffic.turns));
}

/* The repeats end: what they came to is kept as all else is. */
static void add_repeats(struct attribution_traffic *traffic)
{
    for (uint32_t i = 0; traffic->repeats > 0 && i < traffic->count; i++)
        traffic->rows[i].messages += traffic->rows[i].each * traffic->repeats;
    traffic->repeats = 0;
}

void attribution_traffic_settle(struct attribution *a)
{
    struct attribution_traffic *traffic = &a->traffic;
    bool replaced = false; /* never: see struct attribution_traffic */
    if (!traffic->kept)
        return;
    begin_turns(a);
    add_repeats(traffic);
    for (uint32_t i = 0; i < traffic->count; i++) {
        struct attribution_traffic_row *row = &traffic->rows[i];
        if (row->messages > 0)
            add_partners(a, row->from, row->to, row->messages, &replaced);
        row->messages = 0;
    }
    traffic->kept = 0;
}

/* ---- rows of pairs ----------------------------------------------------------- */

/* Messages to others of the job, and to no one else. */
static inline bool counts(uint32_t from, uint32_t to, uint32_t rank_count)
{
    return from < rank_count && to < rank_count && to != from;
}

static inline void add_figure(struct narrow_table *sums, size_t rank_at, enum rank_figure f,
                              uint64_t value)
{
    narrow_table_add(sums, RANK_TRAFFIC, rank_at + (f - RANK_INTER_IN), value);
}

static inline void add_figures(const struct attribution *a, struct narrow_table *sums,
                               const struct pair_row *row)
{
    uint32_t from = row->source, to = (uint32_t)row->destination;
    uint32_t from_node = attribution_node_of(a, from), to_node = attribution_node_of(a, to);
    bool near = from_node == to_node && from_node != ATTRIBUTION_NO_NODE;
    size_t out = (size_t)from * RANK_TRAFFIC;
    add_figure(sums, out, near ? RANK_INTRA_OUT : RANK_INTER_OUT, row->messages);
    add_figure(sums, out, near ? RANK_INTRA_BYTES : RANK_INTER_BYTES, row->bytes);
    if (!near)
        add_figure(sums, (size_t)to * RANK_TRAFFIC, RANK_INTER_IN, row->messages);
}

/* Rows that stand where they stood in the window before. @return how many */
static uint32_t add_known(struct attribution *a, const struct attribution_slice *slice,
                          const struct pair_row *rows, size_t count)
{
    struct attribution_traffic *traffic = &a->traffic;
    const uint32_t rank_count = slice->ranks.count;
    if (traffic->rank_count != rank_count)
        return 0;
    uint32_t most = count < traffic->count ? (uint32_t)count : traffic->count, i = 0;
    for (; i < most; i++) {
        struct attribution_traffic_row *known = &traffic->rows[i];
        uint32_t from = rows[i].source, to = (uint32_t)rows[i].destination;
        if (known->from != from || known->to != to)
            break;
        if (!counts(from, to, rank_count))
            continue;
        known->messages += rows[i].messages;
        known->each = rows[i].messages;
        add_figures(a, &slice->ranks.traffic->table, &rows[i]);
    }
    traffic->kept |= i > 0;
    return i;
}

static void add_others(struct attribution *a, const struct attribution_slice *slice,
                       const struct pair_row *rows, size_t from_row, size_t count)
{
    struct attribution_traffic *traffic = &a->traffic;
    bool replaced = false;
    begin_turns(a);
    traffic->rank_count = slice->ranks.count;
    traffic->count = (uint32_t)from_row;
    for (size_t i = from_row; i < count; i++) {
        uint32_t from = rows[i].source, to = (uint32_t)rows[i].destination;
        bool counted = counts(from, to, slice->ranks.count);
        if (i < traffic->room)
            traffic->rows[traffic->count++] =
                (struct attribution_traffic_row){from, to, counted ? rows[i].messages : 0, 0};
        if (!counted)
            continue;
        add_figures(a, &slice->ranks.traffic->table, &rows[i]);
        add_partners(a, from, to, rows[i].messages, &replaced);
    }
    if (replaced)
        traffic->count = 0;
}

int attribution_traffic_room(struct attribution *a, uint32_t ranks)
{
    struct attribution_traffic *traffic = &a->traffic;
    int error = array_fit_zero(&a->partners, sizeof(*a->partners), &a->partner_room, ranks);
    if (error == 0)
        error =
            array_fit_zero(&traffic->turns, sizeof(*traffic->turns), &traffic->turn_room, ranks);
    if (error == 0)
        error = array_fit_zero(&traffic->rows, sizeof(*traffic->rows), &traffic->room,
                               (uint64_t)ranks * ATTRIBUTION_PARTNERS);
    return error;
}

/* Whether all rows are those of the window before, which is in the ring. */
static bool is_again(const struct attribution *a, const struct attribution_slice *slice,
                     const struct attribution_window *window)
{
    const struct attribution_traffic *traffic = &a->traffic;
    return window->figured != 0 && window->figured == traffic->figured && a->slice_count > 0 &&
           traffic->count == window->pair_count && traffic->rank_count == slice->ranks.count;
}

/* Sums that no window has. There are as many as windows that are kept. */
static struct attribution_traffic_sums *free_sums(const struct attribution *a)
{
    struct attribution_traffic_sums *sums = a->traffic_sums;
    while (sums->uses > 0)
        sums++;
    return sums;
}

/* Sums of their own, all zero, for a slice. @return 0 or -ENOMEM */
static int begin_sums(const struct attribution *a, struct attribution_slice *slice)
{
    struct attribution_traffic_sums *sums = free_sums(a);
    int error = narrow_table_fit(&sums->table, RANK_TRAFFIC, slice->ranks.count);
    if (error)
        return error;
    narrow_table_begin(&sums->table);
    for (uint32_t r = 0; r < slice->ranks.count; r++)
        narrow_table_clear(&sums->table, RANK_TRAFFIC, r);
    sums->uses = 1;
    slice->ranks.traffic = sums;
    return 0;
}

int attribution_traffic_add(struct attribution *a, struct attribution_slice *slice,
                            const struct attribution_window *window)
{
    const size_t count = window->pair_count;
    if (is_again(a, slice, window)) {
        slice->ranks.traffic = attribution_slice_at(a, a->slice_count - 1)->ranks.traffic;
        slice->ranks.traffic->uses++;
        a->traffic.repeats++;
        a->traffic.kept = 1;
        return 0;
    }
    int error = begin_sums(a, slice);
    if (error)
        return error;
    add_repeats(&a->traffic);
    uint32_t known = add_known(a, slice, window->pairs, count);
    if (known < count) {
        attribution_traffic_settle(a);
        add_others(a, slice, window->pairs, known, count);
    }
    return slice->ranks.traffic->table.failed ? -ENOMEM : 0;
}
