/* Turns the pieces of a burst into rows sorted by the number of their edge. */
#include "daemon/analysis/phases/phase_burst.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* ---- checking ------------------------------------------------------------------- */

int phase_burst_check(const struct phase_burst *burst, struct phase_burst_sums *out)
{
    struct phase_burst_sums sums = {burst->other_messages, burst->other_bytes};
    if (burst->first_ns < -PHASE_GRAPHS_TIME_MAXIMUM ||
        burst->last_ns > PHASE_GRAPHS_TIME_MAXIMUM || burst->first_ns > burst->time_ns ||
        burst->time_ns > burst->last_ns)
        return -HOLTER_ERANGE;
    for (size_t i = 0; i < burst->count; i++) {
        const struct burst_pair *pair = &burst->pairs[i];
        if (pair->size_class >= SIZE_CLASSES || pair->modelled > 1 ||
            __builtin_add_overflow(sums.messages, pair->messages, &sums.messages) ||
            (pair->messages > 0 && __builtin_add_overflow(sums.bytes, pair->bytes, &sums.bytes)))
            return -HOLTER_ERANGE;
    }
    *out = sums;
    return 0;
}

/* ---- numbering ------------------------------------------------------------------ */

/* Keys compare as edges do: by source, destination, modelled, size class. */
static struct key phase_burst_key(const struct burst_pair *pair)
{
    return (struct key){(uint64_t)pair->source << 32 | pair->destination,
                        (uint64_t)pair->modelled << 32 | pair->size_class};
}

struct phase_edge phase_edge_numbered(const struct phase_edge_numbers *numbers, uint32_t number)
{
    const struct key *key = &numbers->table.keys[number];
    return (struct phase_edge){.source = (uint32_t)(key->hi >> 32),
                               .destination = (uint32_t)key->hi,
                               .size_class = (uint32_t)key->lo,
                               .modelled = (uint32_t)(key->lo >> 32)};
}

void phase_edge_numbers_finish(struct phase_edge_numbers *numbers)
{
    key_table_finish(&numbers->table);
    free(numbers->order);
}

static bool phase_edge_is_after(const struct phase_edge_numbers *numbers, uint32_t a, uint32_t b)
{
    const struct key *keys = numbers->table.keys;
    return keys[a].hi > keys[b].hi || (keys[a].hi == keys[b].hi && keys[a].lo > keys[b].lo);
}

/* The new numbers are sorted, then merged with those before from the end on. */
int phase_edge_numbers_sort(struct phase_edge_numbers *numbers)
{
    const struct key *keys = numbers->table.keys;
    const uint32_t first = numbers->ordered, count = numbers->table.count - first;
    if (count == 0)
        return 0;
    struct key_place *places = malloc(2 * (size_t)count * sizeof(*places)), *sorted;
    if (places == NULL || ARRAY_RESIZE(numbers->order, first + count) != 0) {
        free(places);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct key_place){keys[first + i].lo, first + i};
    sorted = key_order(places, places + count, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i].key = keys[sorted[i].place].hi;
    sorted = key_order(sorted, sorted == places ? places + count : places, count);
    for (uint32_t known = first, new = count, at = first + count; new > 0;) {
        const bool move = known > 0 && phase_edge_is_after(numbers, numbers->order[known - 1],
                                                           sorted[new - 1].place);
        numbers->order[--at] = move ? numbers->order[--known] : sorted[--new].place;
    }
    numbers->ordered += count;
    free(places);
    return 0;
}

/* @param before  number of the previous pair; KEY_NONE for the first
 * @return KEY_NONE: the edge is new, and the maximum number of edges is reached */
static uint32_t phase_burst_number(struct phase_edge_numbers *numbers,
                                   const struct burst_pair *pair, uint32_t before)
{
    struct key_table *table = &numbers->table;
    struct key key = phase_burst_key(pair);
    uint32_t known = table->count, highest, number;
    if (known >= numbers->maximum) {
        number = before < known ? table->after[before] : KEY_NONE;
        number = key_table_is(table, number, key) ? number : key_table_find(table, key);
    } else {
        number = key_table_number_after(table, key, before);
    }
    if (number >= known) { /* the ranks of a known edge are already counted */
        highest = pair->source > pair->destination ? pair->source : pair->destination;
        if (highest >= numbers->ranks)
            numbers->ranks = (uint64_t)highest + 1;
    }
    return number;
}

/* The pairs of a burst that have messages and an edge number, in the order of arrival. */
struct numbered_pairs {
    struct key_place *places; /* owned: edge numbers, and indices in `pairs`; two for each pair, as
                                 space for sorting */
    const struct burst_pair **pairs; /* owned; each borrowed */
    size_t count;
};

static void numbered_pairs_finish(struct numbered_pairs *pairs)
{
    free(pairs->places);
    free(pairs->pairs);
}

static void phase_burst_number_pairs(struct phase_edge_numbers *numbers,
                                     const struct phase_burst *burst, struct numbered_pairs *out,
                                     struct phase_excess *excess)
{
    for (size_t i = 0; i < burst->count; i++) {
        const struct burst_pair *pair = &burst->pairs[i];
        if (pair->messages == 0)
            continue;
        uint32_t before = out->count > 0 ? (uint32_t)out->places[out->count - 1].key : KEY_NONE;
        uint32_t number = phase_burst_number(numbers, pair, before);
        if (number == KEY_NONE) {
            excess->messages += pair->messages;
            excess->bytes += pair->bytes;
            continue;
        }
        out->places[out->count] = (struct key_place){number, (uint32_t)out->count};
        out->pairs[out->count++] = pair;
    }
}

/* ---- listing -------------------------------------------------------------------- */

/* The table has space for the rows of each pair: sums need no more rows than that. */
static void phase_burst_sum_pairs(const struct numbered_pairs *pairs, struct phase_rows *table,
                                  struct phase_excess *excess)
{
    const struct key_place *sorted =
        key_order(pairs->places, pairs->places + pairs->count, pairs->count);
    for (size_t i = 0; i < pairs->count;) {
        uint64_t edge = sorted[i].key, messages = 0, bytes = 0;
        for (; i < pairs->count && sorted[i].key == edge; i++) {
            messages += pairs->pairs[sorted[i].place]->messages;
            bytes += pairs->pairs[sorted[i].place]->bytes;
        }
        phase_rows_append(table, (uint32_t)edge, messages, bytes, excess);
    }
    phase_rows_fit(table);
}

int phase_burst_list(struct phase_edge_numbers *numbers, const struct phase_burst *burst,
                     struct phase_rows *table, struct phase_excess *excess)
{
    size_t count = burst->count, rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += phase_rows_needed(burst->pairs[i].messages);
    if (rows == 0)
        return 0;
    size_t reserved = numbers->maximum - numbers->table.count;
    reserved = count < reserved ? count : reserved;
    struct numbered_pairs pairs = {.places = malloc(2 * count * sizeof(*pairs.places)),
                                   .pairs = malloc(count * sizeof(*pairs.pairs))};
    table->rows = malloc(rows * sizeof(*table->rows));
    if (pairs.places == NULL || pairs.pairs == NULL || table->rows == NULL ||
        key_table_reserve(&numbers->table, reserved) != 0) {
        numbered_pairs_finish(&pairs);
        phase_rows_finish(table);
        return -ENOMEM;
    }
    phase_burst_number_pairs(numbers, burst, &pairs, excess);
    phase_burst_sum_pairs(&pairs, table, excess);
    numbered_pairs_finish(&pairs);
    return 0;
}
