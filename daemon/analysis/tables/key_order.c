/* A sort of 64-bit keys: runs are merged, evenly spread keys go through buckets, others through a
 * radix sort (Knuth, The Art of Computer Programming 3, section 5.2.5). */
#include "daemon/analysis/tables/key_order.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 8u
#define DIGITS 8u
#define RADIX 256u
#define SHORT 24u               /* insertion is quicker for so few */
#define MAXIMUM_BUCKET_BITS 13u /* 32 KiB of counts: what the nearest cache holds */
#define MAXIMUM_IN_BUCKET 64u
#define MAXIMUM_RUNS 64u
#define FEW_RUNS 8u /* that are quicker to merge than to spread */

static struct key_place *key_order_insertion_sort(struct key_place *places, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct key_place moving = places[i];
        size_t at = i;
        for (; at > 0 && places[at - 1].key > moving.key; at--)
            places[at] = places[at - 1];
        places[at] = moving;
    }
    return places;
}

/* The number of bits that spreads keys over about a quarter as many buckets as there are keys. */
static unsigned key_order_bucket_bits(size_t count)
{
    unsigned bits = 61u - (unsigned)__builtin_clzll(count);
    return bits < MAXIMUM_BUCKET_BITS ? bits : MAXIMUM_BUCKET_BITS;
}

/* Keys that spread evenly over a range, as ranks and hashes do, need one pass by the highest bits
 * in which they differ, and insertion in the few that have those in common.
 * @return NULL: too many have them in common, and nothing has changed */
static struct key_place *key_order_spread(struct key_place *places, struct key_place *spare,
                                          size_t count)
{
    uint32_t counts[1u << MAXIMUM_BUCKET_BITS];
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++)
        differ |= places[i].key ^ places[0].key;
    if (differ == 0)
        return places;
    unsigned bits = key_order_bucket_bits(count), top = 64u - (unsigned)__builtin_clzll(differ);
    unsigned shift = top > bits ? top - bits : 0;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    memset(counts, 0, sizeof(*counts) << bits);
    for (size_t i = 0; i < count; i++)
        counts[places[i].key >> shift & mask]++;
    uint32_t at = 0, maximum = 0;
    for (uint64_t b = 0; b <= mask; b++) {
        uint32_t in_bucket = counts[b];
        maximum = in_bucket > maximum ? in_bucket : maximum;
        counts[b] = at;
        at += in_bucket;
    }
    if (shift > 0 && maximum > MAXIMUM_IN_BUCKET)
        return NULL;
    for (size_t i = 0; i < count; i++)
        spare[counts[places[i].key >> shift & mask]++] = places[i];
    return shift > 0 ? key_order_insertion_sort(spare, count) : spare;
}

struct runs {
    size_t from[MAXIMUM_RUNS + 1]; /* after the last: where all end */
    size_t count;
};

/* @return whether they are few */
static bool key_order_find_runs(struct runs *runs, const struct key_place *places, size_t count)
{
    runs->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && places[i - 1].key <= places[i].key)
            continue;
        if (runs->count == MAXIMUM_RUNS)
            return false;
        runs->from[runs->count++] = i;
    }
    runs->from[runs->count] = count;
    return true;
}

/* Rows that several peers reported in order often form runs of which one ends before the next
 * begins: concatenate them, by their first keys. @return whether the runs are of that kind */
static bool key_order_put_runs(const struct runs *runs, const struct key_place *places,
                               struct key_place *spare)
{
    size_t order[MAXIMUM_RUNS];
    const size_t *from = runs->from;
    for (size_t i = 0; i < runs->count; i++) {
        size_t at = i;
        for (; at > 0 && places[from[order[at - 1]]].key > places[from[i]].key; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 1; i < runs->count; i++)
        if (places[from[order[i - 1] + 1] - 1].key >= places[from[order[i]]].key)
            return false;
    for (size_t i = 0, at = 0; i < runs->count; i++) {
        size_t length = from[order[i] + 1] - from[order[i]];
        memcpy(spare + at, places + from[order[i]], length * sizeof(*places));
        at += length;
    }
    return true;
}

static void key_order_merge(struct key_place *out, const struct key_place *left, size_t lefts,
                            const struct key_place *right, size_t rights)
{
    while (lefts > 0 && rights > 0) {
        bool first = left->key <= right->key;
        *out++ = first ? *left : *right;
        left += first;
        lefts -= first;
        right += !first;
        rights -= !first;
    }
    memcpy(out, left, lefts * sizeof(*left));
    memcpy(out + lefts, right, rights * sizeof(*right));
}

/* @return where the sorted ones are; NULL: there are many runs, and nothing has changed */
static struct key_place *key_order_merge_runs(struct key_place *places, struct key_place *spare,
                                              size_t count)
{
    struct runs runs;
    if (!key_order_find_runs(&runs, places, count))
        return NULL;
    if (runs.count > 1 && key_order_put_runs(&runs, places, spare))
        return spare;
    if (runs.count > FEW_RUNS)
        return NULL;
    while (runs.count > 1) {
        size_t merged = 0;
        for (size_t i = 0; i < runs.count; i += 2, merged++) {
            size_t from = runs.from[i], middle = runs.from[i + 1];
            size_t end = i + 2 <= runs.count ? runs.from[i + 2] : middle;
            key_order_merge(spare + from, places + from, middle - from, places + middle,
                            end - middle);
            runs.from[merged] = from;
        }
        runs.from[merged] = count;
        runs.count = merged;
        struct key_place *sorted = spare;
        spare = places;
        places = sorted;
    }
    return places;
}

struct key_place *key_order(struct key_place *places, struct key_place *spare, size_t count)
{
    if (count <= SHORT)
        return key_order_insertion_sort(places, count);
    struct key_place *sorted = key_order_merge_runs(places, spare, count);
    if (sorted == NULL && count <= UINT32_MAX)
        sorted = key_order_spread(places, spare, count);
    if (sorted != NULL)
        return sorted;
    size_t counts[DIGITS][RADIX];
    memset(counts, 0, sizeof(counts));
    for (size_t i = 0; i < count; i++)
        for (unsigned d = 0; d < DIGITS; d++)
            counts[d][places[i].key >> d * DIGIT_BITS & (RADIX - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        unsigned shift = d * DIGIT_BITS;
        if (counts[d][places[0].key >> shift & (RADIX - 1)] == count)
            continue; /* the same digit in all keys */
        size_t at = 0;
        for (unsigned r = 0; r < RADIX; r++) {
            size_t in_bucket = counts[d][r];
            counts[d][r] = at;
            at += in_bucket;
        }
        for (size_t i = 0; i < count; i++)
            spare[counts[d][places[i].key >> shift & (RADIX - 1)]++] = places[i];
        sorted = spare;
        spare = places;
        places = sorted;
    }
    return places;
}
