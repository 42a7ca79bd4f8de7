#include "daemon/analysis/sums/sums.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- canonical order ----------------------------------------------------- */

struct sort_key {
    uint64_t hi, lo;
    uint32_t number;
};

static int key_precedes(const struct sort_key *a, const struct sort_key *b)
{
    return a->hi != b->hi ? a->hi < b->hi : a->lo < b->lo;
}

static size_t run_end(const struct sort_key *keys, size_t from, size_t count)
{
    size_t end = from + 1;
    while (end < count && key_precedes(&keys[end - 1], &keys[end]))
        end++;
    return end < count ? end : count;
}

static void sum_result_merge(struct sort_key *out, const struct sort_key *a, size_t na,
                             const struct sort_key *b, size_t nb)
{
    while (na > 0 && nb > 0) {
        if (key_precedes(b, a)) {
            *out++ = *b++;
            nb--;
        } else {
            *out++ = *a++;
            na--;
        }
    }
    memcpy(out, a, na * sizeof(*a));
    memcpy(out + na, b, nb * sizeof(*b));
}

/* Natural merge sort (Knuth, The Art of Computer Programming 3, section 5.2.4, algorithm N): what
 * was sorted before is one run, and agents list their rows in order, so there are few runs.
 * @return which of the two arrays holds the result */
static struct sort_key *sum_result_sort(struct sort_key *keys, struct sort_key *spare, size_t count)
{
    for (;;) {
        size_t runs = 0;
        for (size_t from = 0; from < count; runs++) {
            size_t middle = run_end(keys, from, count);
            size_t end = middle < count ? run_end(keys, middle, count) : count;
            sum_result_merge(spare + from, keys + from, middle - from, keys + middle, end - middle);
            from = end;
        }
        struct sort_key *sorted = spare;
        spare = keys;
        keys = sorted;
        if (runs <= 1)
            return keys;
    }
}

/* Numbers of communicators and regions depend on who reported first; their places in order do not.
 * New ones change the places of others, but never which of two comes first, so an order once found
 * stays valid. */
static uint64_t sum_result_canonical_key(uint64_t lo, const struct run_sum *run)
{
    uint32_t comm = (uint32_t)(lo >> 32), region = (uint32_t)(lo >> 16) & 0xffff;
    return (uint64_t)run->comm_position[comm] << 32 | (uint64_t)run->region_position[region] << 16 |
           (lo & 0xffff);
}

int order_update(struct order *order, const struct key_table *table, const struct run_sum *run)
{
    size_t count = table->count;
    if (order->count == count)
        return 0;
    struct sort_key *keys = malloc(2 * count * sizeof(*keys));
    uint32_t *numbers = realloc(order->numbers, count * sizeof(*numbers));
    if (numbers != NULL)
        order->numbers = numbers;
    if (keys == NULL || numbers == NULL) {
        free(keys);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = i < order->count ? numbers[i] : i;
        struct key key = table->keys[number];
        keys[i] = (struct sort_key){key.hi, sum_result_canonical_key(key.lo, run), number};
    }
    const struct sort_key *sorted = sum_result_sort(keys, keys + count, count);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = sorted[i].number;
    order->count = (uint32_t)count;
    free(keys);
    return 0;
}

static int compare_comms(const void *a, const void *b, void *rows)
{
    uint64_t x = ((const struct comm_row *)rows)[*(const uint32_t *)a].id;
    uint64_t y = ((const struct comm_row *)rows)[*(const uint32_t *)b].id;
    return x < y ? -1 : x > y;
}

static int sum_result_compare_regions(const void *a, const void *b, void *rows)
{
    return strcmp(((const struct region_row *)rows)[*(const uint32_t *)a].name,
                  ((const struct region_row *)rows)[*(const uint32_t *)b].name);
}

static int sum_result_positions(uint32_t **out, uint32_t *done, uint32_t count, void *rows,
                                int (*compare)(const void *, const void *, void *))
{
    if (*done == count)
        return 0;
    uint32_t *sorted = malloc(count * sizeof(*sorted));
    uint32_t *position = realloc(*out, count * sizeof(*position));
    if (position != NULL)
        *out = position;
    if (sorted == NULL || position == NULL) {
        free(sorted);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    qsort_r(sorted, count, sizeof(*sorted), compare, rows);
    for (uint32_t i = 0; i < count; i++)
        position[sorted[i]] = i;
    *done = count;
    free(sorted);
    return 0;
}

int order_positions(struct run_sum *run)
{
    int code = sum_result_positions(&run->comm_position, &run->comm_positions, run->comm_ids.count,
                                    run->comms, compare_comms);
    return code != 0 ? code
                     : sum_result_positions(&run->region_position, &run->region_positions,
                                            run->region_names.count, run->regions,
                                            sum_result_compare_regions);
}

/* ---- results ------------------------------------------------------------- */

void sum_result_finish(struct sum_result *result)
{
    free(result->ranks);
    free(result->pairs);
    free(result->calls);
    free(result->comms);
    free(result->regions);
    free(result->pair_numbers);
    free(result->told);
    free(result->told_blocks);
    *result = (struct sum_result){0};
}

static int sum_result_fit(void **array, size_t element, size_t count)
{
    void *grown = realloc(*array, element * (count == 0 ? 1 : count));
    if (grown == NULL)
        return -ENOMEM;
    *array = grown;
    return 0;
}

static int collect_ranks(struct run_sum *run, const struct figures *f, struct sum_result *out)
{
    int code = order_update(&run->rank_order, &run->ranks, run);
    code = code != 0 ? code
                     : sum_result_fit((void **)&out->ranks, sizeof(*out->ranks), run->ranks.count);
    if (code != 0)
        return code;
    out->rank_count = 0;
    for (uint32_t i = 0; i < run->rank_order.count; i++) {
        uint32_t number = run->rank_order.numbers[i];
        if (number < f->rank_room && bit_get(f->rank_present, number))
            out->ranks[out->rank_count++] = f->ranks[number];
    }
    return 0;
}

/* Bytes of the k-th largest row, counted from 1, found a byte at a time from the top, so that no
 * order of rows
 * is a bad one. @param ties  set to how many rows of exactly that size are among the k largest */
static uint64_t kth_largest(const struct pair_row *rows, size_t count, size_t k, size_t *ties)
{
    uint64_t prefix = 0, known = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        size_t histogram[256] = {0};
        for (size_t i = 0; i < count; i++) {
            if ((rows[i].bytes & known) == prefix)
                histogram[rows[i].bytes >> shift & 255]++;
        }
        unsigned digit = 255;
        for (; digit > 0 && histogram[digit] < k; digit--)
            k -= histogram[digit];
        prefix |= (uint64_t)digit << shift;
        known |= UINT64_C(255) << shift;
    }
    *ties = k;
    return prefix;
}

/* Keep the largest rows, and for each source one that holds the rest; it comes first, as canonical
 * order has it. In place: what is kept moves down to rows that were read already. */
static void sum_result_fold(struct sum_result *out, size_t most)
{
    size_t ties = 0, kept = 0;
    uint64_t least = most == 0 ? UINT64_MAX : kth_largest(out->pairs, out->pair_count, most, &ties);
    struct pair_row *rows = out->pairs;
    for (size_t from = 0; from < out->pair_count;) {
        struct pair_row rest = {.source = rows[from].source, .destination = -1};
        size_t first = kept, in_rest = 0;
        for (; from < out->pair_count && rows[from].source == rest.source; from++) {
            int tie = rows[from].bytes == least && ties > 0;
            if (rows[from].destination >= 0 && (rows[from].bytes > least || tie)) {
                ties -= (size_t)tie;
                rows[kept++] = rows[from];
                continue;
            }
            in_rest++;
            out->folded += rows[from].destination >= 0;
            rest.messages += rows[from].messages;
            rest.bytes += rows[from].bytes;
        }
        if (in_rest > 0) {
            memmove(&rows[first + 1], &rows[first], (kept - first) * sizeof(*rows));
            rows[first] = rest;
            kept++;
        }
    }
    out->pair_count = kept;
}

static int collect_pairs(struct run_sum *run, const struct figures *f, size_t most,
                         struct sum_result *out)
{
    int code = order_update(&run->pair_order, &run->pairs, run);
    code = code != 0 ? code
                     : sum_result_fit((void **)&out->pairs, sizeof(*out->pairs),
                                      (size_t)run->pairs.count + 1);
    if (code == 0)
        code = array_fit(&out->pair_numbers, sizeof(*out->pair_numbers), &out->pair_number_room,
                         run->pairs.count);
    if (code != 0)
        return code;
    out->pair_count = 0;
    out->folded = run->turned_away;
    for (uint32_t i = 0; i < run->pair_order.count; i++) {
        uint32_t number = run->pair_order.numbers[i];
        if (number >= f->pair_room)
            continue;
        struct pair_figures figures = figures_pair(f, number);
        if (figures.messages == 0)
            continue;
        struct key key = run->pairs.keys[number];
        out->pair_numbers[out->pair_count] = number;
        out->pairs[out->pair_count++] = (struct pair_row){
            .source = (uint32_t)(key.hi >> 32),
            .destination = (int32_t)(uint32_t)key.hi - 1,
            .comm = (uint32_t)(key.lo >> 32),
            .region = (uint16_t)(key.lo >> 16),
            .size_class = (uint16_t)key.lo,
            .messages = figures.messages,
            .bytes = figures.bytes,
        };
    }
    out->names = out->pair_count > most ? 0 : run->names;
    if (out->pair_count > most)
        sum_result_fold(out, most);
    return 0;
}

static int collect_calls(struct run_sum *run, const struct figures *f, struct sum_result *out)
{
    int code = order_update(&run->call_order, &run->calls, run);
    code = code != 0 ? code
                     : sum_result_fit((void **)&out->calls, sizeof(*out->calls), run->calls.count);
    if (code != 0)
        return code;
    out->call_count = 0;
    for (uint32_t i = 0; i < run->call_order.count; i++) {
        uint32_t number = run->call_order.numbers[i];
        if (number >= f->call_room || f->calls[number].ranks == 0)
            continue;
        const struct call_figures *c = &f->calls[number];
        uint64_t key = run->calls.keys[number].lo;
        out->calls[out->call_count++] = (struct call_row){
            .rank = (uint32_t)c->ranks,
            .call = (uint32_t)key & 0xffff,
            .comm = (uint32_t)(key >> 32),
            .region = (uint32_t)(key >> 16) & 0xffff,
            .calls = c->calls,
            .bytes = c->bytes,
            .bytes_in = c->bytes_in,
            .time_ns = c->time_ns,
            .longest_ns = c->longest_ns,
        };
    }
    return 0;
}

/* ---- the communicators and regions that rows name ------------------------ */

/* Of those marked, list the ones in order; place[number] becomes the position in the list. Number 0
 * is always the first. */
static uint32_t number_marked(uint32_t *place, const uint32_t *position, uint32_t count,
                              uint32_t *listed)
{
    for (uint32_t i = 0; i < count; i++)
        listed[position[i]] = place[i] != 0 || i == 0 ? i : KEY_NONE;
    uint32_t marked = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (listed[i] == KEY_NONE)
            continue;
        place[listed[i]] = marked;
        listed[marked++] = listed[i];
    }
    return marked;
}

static int name_comms_and_regions(const struct run_sum *run, struct sum_result *out)
{
    uint32_t comms = run->comm_ids.count, regions = run->region_names.count;
    uint32_t *comm = calloc(2 * ((size_t)comms + regions), sizeof(*comm));
    if (comm == NULL)
        return -ENOMEM;
    uint32_t *region = comm + comms, *listed = region + regions;
    for (size_t i = 0; i < out->pair_count; i++)
        comm[out->pairs[i].comm] = region[out->pairs[i].region] = 1;
    for (size_t i = 0; i < out->call_count; i++)
        comm[out->calls[i].comm] = region[out->calls[i].region] = 1;

    out->comm_count = number_marked(comm, run->comm_position, comms, listed);
    int code = sum_result_fit((void **)&out->comms, sizeof(*out->comms), out->comm_count);
    for (size_t i = 0; code == 0 && i < out->comm_count; i++)
        out->comms[i] = run->comms[listed[i]];
    out->region_count = number_marked(region, run->region_position, regions, listed);
    code = code != 0
               ? code
               : sum_result_fit((void **)&out->regions, sizeof(*out->regions), out->region_count);
    for (size_t i = 0; code == 0 && i < out->region_count; i++)
        out->regions[i] = run->regions[listed[i]];

    for (size_t i = 0; i < out->pair_count; i++) {
        out->pairs[i].comm = comm[out->pairs[i].comm];
        out->pairs[i].region = (uint16_t)region[out->pairs[i].region];
    }
    for (size_t i = 0; i < out->call_count; i++) {
        out->calls[i].comm = comm[out->calls[i].comm];
        out->calls[i].region = region[out->calls[i].region];
    }
    free(comm);
    return code;
}

static int sum_result_collect(struct run_sum *run, const struct figures *f, enum sum_part part,
                              size_t most_pairs, struct sum_result *out)
{
    out->rank_count = out->pair_count = out->call_count = out->comm_count = out->region_count = 0;
    out->folded = out->names = 0;
    out->told_count = 0;
    int code = order_positions(run);
    if (code != 0)
        return code;
    if (part == SUM_RANKS)
        return collect_ranks(run, f, out);
    code = part == SUM_PAIRS ? collect_pairs(run, f, most_pairs, out) : collect_calls(run, f, out);
    return code != 0 ? code : name_comms_and_regions(run, out);
}

int window_sum_result(const struct window_sum *window, enum sum_part part, size_t most_pairs,
                      struct sum_result *out)
{
    return sum_result_collect(window->run, &window->figures, part, most_pairs, out);
}

int window_sum_ranks(const struct window_sum *window, struct sum_result *spare,
                     struct rank_rows *out)
{
    const struct run_sum *run = window->run;
    if (run->ranks_in_order == run->ranks.count && window->totals.ranks == run->ranks.count) {
        *out = (struct rank_rows){window->figures.ranks, run->ranks.count};
        return 0;
    }
    int code = window_sum_result(window, SUM_RANKS, 0, spare);
    if (code == 0)
        *out = (struct rank_rows){spare->ranks, spare->rank_count};
    return code;
}

static size_t sum_result_count_reported_pairs(const struct run_sum *run, const struct figures *f)
{
    return f->pair_room < run->pairs.count ? f->pair_room : run->pairs.count;
}

static uint32_t blocks_of(size_t pairs)
{
    return (uint32_t)((pairs + PAIR_BLOCK - 1) / PAIR_BLOCK);
}

static uint32_t sum_result_words_of(uint32_t blocks)
{
    return (blocks + 63) / 64;
}

/* Keep figures as they lie in the window, of blocks that have any: rows are three times as many
 * bytes. Without memory none are kept. */
static void sum_result_list_reported(const struct run_sum *run, const struct figures *f,
                                     struct sum_result *out)
{
    size_t count = sum_result_count_reported_pairs(run, f);
    uint32_t blocks = blocks_of(count), words = sum_result_words_of(blocks);
    out->told_count = 0;
    if (out->names == 0 || f->has_wide || count == 0 ||
        array_fit(&out->told, sizeof(*out->told), &out->told_room, (size_t)blocks * PAIR_BLOCK) !=
            0 ||
        array_fit(&out->told_blocks, sizeof(*out->told_blocks), &out->told_words, words) != 0)
        return;
    memcpy(out->told_blocks, f->pair_blocks, words * sizeof(*out->told_blocks));
    for (uint32_t block = 0; block < blocks; block++) {
        size_t from = (size_t)block * PAIR_BLOCK;
        if (bit_get(f->pair_blocks, block))
            memcpy(out->told + from, f->pairs + from, PAIR_BLOCK * sizeof(*out->told));
    }
    out->told_count = count;
}

/* Do the rows that are listed hold, with their figures? */
static int sum_result_is_reported(const struct run_sum *run, const struct figures *f,
                                  const struct sum_result *out)
{
    uint32_t blocks = blocks_of(out->told_count), words = sum_result_words_of(blocks);
    if (out->names != run->names || f->has_wide || out->told_count == 0 ||
        out->told_count != sum_result_count_reported_pairs(run, f) ||
        memcmp(out->told_blocks, f->pair_blocks, words * sizeof(*out->told_blocks)) != 0)
        return 0;
    for (uint32_t block = 0; block < blocks; block++) {
        size_t from = (size_t)block * PAIR_BLOCK;
        if (bit_get(f->pair_blocks, block) &&
            memcmp(out->told + from, f->pairs + from, PAIR_BLOCK * sizeof(*out->told)) != 0)
            return 0;
    }
    return 1;
}

/* Pairs with messages. */
static size_t pairs_sending(const struct run_sum *run, const struct figures *f)
{
    size_t sending = 0;
    for (uint32_t block = 0, blocks = blocks_of(sum_result_count_reported_pairs(run, f));
         block < blocks; block++) {
        size_t from = (size_t)block * PAIR_BLOCK;
        if (!bit_get(f->pair_blocks, block))
            continue;
        for (size_t i = from; i < from + PAIR_BLOCK; i++)
            sending += f->pairs[i].messages != 0 || (f->has_wide && f->wide[i].messages != 0);
    }
    return sending;
}

/* Have the pairs that are listed, and no others, messages in the window? Then the rows get its
 * figures. */
static int list_again(const struct run_sum *run, const struct figures *f, struct sum_result *out)
{
    uint64_t differs = 0;
    if (out->names != run->names || pairs_sending(run, f) != out->pair_count)
        return 0;
    out->told_count = 0; /* until all rows are written */
    for (size_t i = 0; i < out->pair_count; i++) {
        uint32_t number = out->pair_numbers[i];
        if (number >= f->pair_room)
            return 0;
        const struct pair_figures now = figures_pair(f, number);
        if (now.messages == 0)
            return 0;
        struct pair_row *row = &out->pairs[i];
        differs |= (row->messages ^ now.messages) | (row->bytes ^ now.bytes);
        row->messages = now.messages;
        row->bytes = now.bytes;
    }
    out->figured += differs != 0;
    out->folded = run->turned_away;
    return 1;
}

int window_sum_pairs(const struct window_sum *window, size_t most_pairs, struct sum_result *out)
{
    struct run_sum *run = window->run;
    const struct figures *f = &window->figures;
    if (out->pair_count <= most_pairs && sum_result_is_reported(run, f, out)) {
        out->folded = run->turned_away;
        return 0;
    }
    int code = 0;
    if (out->pair_count > most_pairs || !list_again(run, f, out)) {
        out->listed++;
        out->figured++;
        code = sum_result_collect(run, f, SUM_PAIRS, most_pairs, out);
        out->names = code == 0 ? out->names : 0;
    }
    sum_result_list_reported(run, f, out);
    return code;
}

int run_sum_result(struct run_sum *run, enum sum_part part, size_t most_pairs,
                   struct sum_result *out)
{
    if (part == SUM_RANKS)
        run_ranks_pay(run);
    return sum_result_collect(run, &run->total, part, most_pairs, out);
}
