#include "daemon/job/report_rows.h"

#include "daemon/analysis/hang/hang.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/fetch.h"
#include "daemon/analysis/tables/wide.h"

#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* What fits in a row that is kept. */
#define MOST_CLASS 1023u
#define MOST_PAIR_NAME 2047u
#define MOST_CALL 4095u
#define MOST_CALL_NAME 1023u

void report_rows_finish(struct report_rows *r)
{
    free(r->names);
    free(r->pairs);
    free(r->calls);
    free(r->counting);
    row_numbers_finish(&r->numbers);
    *r = (struct report_rows){0};
}

/* Positions are the same only where there are as many of them. */
static int is_alike(const struct report_rows *r, const struct wire_window *m, uint64_t world)
{
    return r->world == world && r->comms == m->comms_count && r->regions == m->regions_count;
}

/* Rows were looked at a window ago, and are far by now. */
#define AHEAD ((size_t)1024) /* bytes that are fetched before they are looked at */

static void fetch_begin(const void *rows, size_t bytes)
{
    for (size_t at = 0; at < AHEAD && at < bytes; at += FETCH_LINE)
        fetch_after(rows, at);
}

/* @return 0: no row differs */
static uint64_t pairs_differ(const struct report_pair *known, const struct wire_pair_row *rows,
                             size_t count)
{
    uint64_t differs = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wire_pair_row *p = &rows[i];
        const struct report_pair *k = &known[i];
        differs |= (p->source ^ k->source) | (uint64_t)(p->destination ^ k->destination) |
                   (p->comm ^ (k->names & MOST_PAIR_NAME)) |
                   (p->region ^ (k->names >> 11 & MOST_PAIR_NAME)) |
                   (p->size_class ^ k->names >> 22);
    }
    return differs;
}

static uint64_t calls_differ(const struct report_call *known, const struct wire_call_row *rows,
                             size_t count)
{
    uint64_t differs = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wire_call_row *c = &rows[i];
        const struct report_call *k = &known[i];
        differs |= (c->rank ^ k->rank) | (c->call ^ (k->names & MOST_CALL)) |
                   (c->comm ^ (k->names >> 12 & MOST_CALL_NAME)) | (c->region ^ k->names >> 22);
    }
    return differs;
}

#ifdef __x86_64__
/* The same where a processor shifts four numbers by four others: in half the instructions. */

_Static_assert(offsetof(struct wire_pair_row, destination) == 8 &&
                   offsetof(struct wire_pair_row, comm) == 16 &&
                   offsetof(struct wire_pair_row, region) == 24 &&
                   offsetof(struct wire_pair_row, size_class) == 32 &&
                   sizeof(struct wire_pair_row) >= 48,
               "keys of a row of pairs follow each other, and a figure them");
_Static_assert(offsetof(struct wire_call_row, call) == 8 &&
                   offsetof(struct wire_call_row, comm) == 16 &&
                   offsetof(struct wire_call_row, region) == 24,
               "keys of a row of calls follow each other");

WIDE static uint64_t pairs_differ_wide(const struct report_pair *known,
                                       const struct wire_pair_row *rows, size_t count)
{
    const __m128i shifts = _mm_setr_epi32(0, 11, 22, 0),
                  most = _mm_setr_epi32(MOST_PAIR_NAME, MOST_PAIR_NAME, MOST_CLASS, 0);
    __m128i ends = _mm_setzero_si128();
    __m256i names = _mm256_setzero_si256(); /* the last is of a figure, and does not count */
    for (size_t i = 0; i < count; i++) {
        const uint64_t *row = &rows[i].source;
        fetch_after(&known[i], AHEAD);
        __m128i k = _mm_cvtepi32_epi64(_mm_loadl_epi64((const __m128i *)&known[i]));
        ends = _mm_or_si128(ends, _mm_xor_si128(k, _mm_loadu_si128((const __m128i *)row)));
        k = _mm_and_si128(_mm_srlv_epi32(_mm_set1_epi32((int)known[i].names), shifts), most);
        __m256i differ = _mm256_xor_si256(_mm256_cvtepu32_epi64(k),
                                          _mm256_loadu_si256((const __m256i *)(row + 2)));
        names = _mm256_or_si256(names, differ);
    }
    uint64_t two[2], four[4];
    _mm_storeu_si128((__m128i *)two, ends);
    _mm256_storeu_si256((__m256i *)four, names);
    return two[0] | two[1] | four[0] | four[1] | four[2];
}

WIDE static uint64_t calls_differ_wide(const struct report_call *known,
                                       const struct wire_call_row *rows, size_t count)
{
    const __m128i shifts = _mm_setr_epi32(0, 0, 12, 22),
                  most = _mm_setr_epi32(-1, MOST_CALL, MOST_CALL_NAME, MOST_CALL_NAME);
    __m256i differs = _mm256_setzero_si256();
    for (size_t i = 0; i < count; i++) {
        fetch_after(&known[i], AHEAD);
        __m128i k = _mm_loadl_epi64((const __m128i *)&known[i]);
        k = _mm_shuffle_epi32(k, _MM_SHUFFLE(1, 1, 1, 0)); /* rank, and three times the names */
        k = _mm_and_si128(_mm_srlv_epi32(k, shifts), most);
        __m256i row = _mm256_loadu_si256((const __m256i *)&rows[i].rank);
        differs = _mm256_or_si256(differs, _mm256_xor_si256(_mm256_cvtepu32_epi64(k), row));
    }
    uint64_t four[4];
    _mm256_storeu_si256((__m256i *)four, differs);
    return four[0] | four[1] | four[2] | four[3];
}
#else
#define pairs_differ_wide pairs_differ
#define calls_differ_wide calls_differ
#endif

int report_rows_pairs(const struct report_rows *r, const struct wire_window *m, uint64_t world)
{
    size_t count = r->pair_count;
    if (m->pairs_count != count || r->numbers.pair_count != count || !is_alike(r, m, world))
        return 0;
    fetch_begin(r->pairs, count * sizeof(*r->pairs));
    fetch_begin(r->calls, r->call_count * sizeof(*r->calls));
    return (wide_is_here() ? pairs_differ_wide : pairs_differ)(r->pairs, m->pairs, count) == 0;
}

int report_rows_calls(const struct report_rows *r, const struct wire_window *m, uint64_t world)
{
    size_t count = r->call_count;
    if (m->calls_count != count || r->numbers.call_count != count || !is_alike(r, m, world))
        return 0;
    return (wide_is_here() ? calls_differ_wide : calls_differ)(r->calls, m->calls, count) == 0;
}

int report_rows_named(const struct report_rows *r, const uint32_t *names, size_t count)
{
    return r->world != 0 && memcmp(r->names, names, count * sizeof(*names)) == 0;
}

/* @return how many rows, or more than any message has: one does not fit */
static size_t keep_pairs(struct report_rows *r, const struct wire_window *m)
{
    for (size_t i = 0; i < m->pairs_count; i++) {
        const struct wire_pair_row *p = &m->pairs[i];
        if (p->size_class > MOST_CLASS || p->comm > MOST_PAIR_NAME || p->region > MOST_PAIR_NAME)
            return SIZE_MAX;
        r->pairs[i] =
            (struct report_pair){(uint32_t)p->source, (int32_t)p->destination,
                                 (uint32_t)(p->comm | p->region << 11 | p->size_class << 22)};
    }
    return m->pairs_count;
}

static size_t keep_calls(struct report_rows *r, const struct wire_window *m)
{
    int fits = 1;
    r->counting_count = 0;
    for (size_t i = 0; i < m->calls_count; i++) {
        const struct wire_call_row *c = &m->calls[i];
        if (hang_counts((uint32_t)c->call))
            r->counting[r->counting_count++] = (uint32_t)i;
        fits &= c->call <= MOST_CALL && c->comm <= MOST_CALL_NAME && c->region <= MOST_CALL_NAME;
        r->calls[i] = (struct report_call){(uint32_t)c->rank,
                                           (uint32_t)(c->call | c->comm << 12 | c->region << 22)};
    }
    return fits ? m->calls_count : SIZE_MAX;
}

void report_rows_keep(struct report_rows *r, const struct wire_window *m, uint64_t world,
                      const uint32_t *names, size_t count)
{
    r->world = 0; /* which is alike to none */
    if (array_fit(&r->names, sizeof(*r->names), &r->name_room, count) != 0 ||
        array_fit(&r->pairs, sizeof(*r->pairs), &r->pair_room, m->pairs_count) != 0 ||
        array_fit(&r->calls, sizeof(*r->calls), &r->call_room, m->calls_count) != 0 ||
        array_fit(&r->counting, sizeof(*r->counting), &r->counting_room, m->calls_count) != 0)
        return;
    memcpy(r->names, names, count * sizeof(*names));
    r->pair_count = keep_pairs(r, m);
    r->call_count = keep_calls(r, m);
    r->comms = m->comms_count;
    r->regions = m->regions_count;
    r->world = world;
}
