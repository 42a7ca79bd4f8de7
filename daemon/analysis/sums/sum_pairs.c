/* Figures of pairs: of a window, and of the run. They lie in 32 bits each; a report with which one
 * of its pairs has more is added to others of 64 bits, and what a pair has is the sum of both. */
#include "daemon/analysis/sums/sums.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#if __BYTE_ORDER == __BIG_ENDIAN
#define LOW_HALVES 1, 3, 5, 7 /* of four numbers of 64 bits, as numbers of 32 */
#else
#define LOW_HALVES 0, 2, 4, 6
#endif
#define NEW_AHEAD 8u /* rows between fetching a new pair's place and looking at it */

_Static_assert(offsetof(struct pair_row, bytes) ==
                   offsetof(struct pair_row, messages) + sizeof(uint64_t),
               "figures of a row of pairs follow each other");

/* ---- a window --------------------------------------------------------------- */

/* Number of a pair when the table has reached its limit: its own if it is known, else that of the
 * rest of its source. */
static uint32_t pair_of_full_table(struct run_sum *run, const struct pair_row *row, struct key key)
{
    uint32_t at = key_table_find(&run->pairs, key);
    if (at != KEY_NONE)
        return at;
    run->turned_away++;
    return key_table_add_hashed(&run->pairs, sums_pair_key(row->source, -1, 0, 0, 0));
}

static struct key key_of_pair(const struct pair_row *row)
{
    return sums_pair_key(row->source, row->destination, row->comm, row->region, row->size_class);
}

static void number_pairs(struct run_sum *run, const struct window_rows *rows,
                         struct row_numbers *numbers)
{
    uint64_t turned_away = run->turned_away;
    uint32_t before = KEY_NONE, guess = numbers->pair_count > 0 ? numbers->pairs[0] : 0;
    numbers->pairs_follow = 1;
    for (size_t i = 0; i < rows->pair_count; i++) {
        const struct pair_row *row = &rows->pairs[i];
        struct key key = key_of_pair(row);
        uint32_t known = run->pairs.count;
        uint32_t at = known < run->limits.pairs ? key_table_add(&run->pairs, key, before, guess)
                                                : pair_of_full_table(run, row, key);
        if (at == known && i + NEW_AHEAD < rows->pair_count) /* one new pair is rarely alone */
            key_table_prefetch(&run->pairs, key_of_pair(&rows->pairs[i + NEW_AHEAD]));
        numbers->pairs_follow &= i == 0 || at == before + 1;
        numbers->pairs[i] = before = at;
    }
    /* Rows that are turned away are counted each time. */
    numbers->pair_count = run->turned_away == turned_away ? rows->pair_count : 0;
}

/* Rows of a report, and the numbers of their pairs. */
struct told_pairs {
    struct figures_again list;
    const uint32_t *numbers;
    size_t count;
    int follow;
};

static uint32_t sum_pairs_number_at(const struct told_pairs *t, size_t i)
{
    return t->follow ? t->numbers[0] + (uint32_t)i : t->numbers[i];
}

/* Figures of two pairs, and of one as they are told. */
typedef uint32_t two_pairs __attribute__((vector_size(2 * sizeof(struct narrow_figures))));
typedef uint64_t one_told __attribute__((vector_size(2 * sizeof(uint64_t))));

static inline two_pairs two_at(const struct narrow_figures *at)
{
    two_pairs two;
    memcpy(&two, at, sizeof(two));
    return two;
}

static inline one_told sum_pairs_figures_at(const uint64_t *row)
{
    one_told one;
    memcpy(&one, row, sizeof(one));
    return one;
}

/* What a sum has beyond its 32 bits, as the highest of them. */
static inline two_pairs carry_of(two_pairs a, two_pairs b, two_pairs sum)
{
    return (a & b) | ((a | b) & ~sum);
}

/* @return beyond 32 bits: not 0 where a sum, or a row, is too large; then what lies there is of no
 * use before sum_pairs_revert() */
static inline uint64_t sum_pairs_add_narrow(struct narrow_figures *sum, const uint64_t *row)
{
    uint64_t messages = sum->messages + row[0], bytes = sum->bytes + row[1];
    *sum = (struct narrow_figures){(uint32_t)messages, (uint32_t)bytes};
    return messages | bytes | row[0] | row[1];
}

/* The same of pairs that follow each other, two at once. */
static uint64_t add_following(struct narrow_figures *sums, const struct told_pairs *t)
{
    const uint64_t *row = t->list.first;
    const size_t stride = t->list.stride, even = t->count - t->count % 2;
    two_pairs carry = {0};
    one_told large = {0};
    for (size_t i = 0; i < even; i += 2, row += 2 * stride) {
        const one_told one = sum_pairs_figures_at(row), other = sum_pairs_figures_at(row + stride);
        const two_pairs more =
                            __builtin_shufflevector((two_pairs)one, (two_pairs)other, LOW_HALVES),
                        sum = two_at(&sums[i]), both = sum + more;
        large |= one | other;
        carry |= carry_of(sum, more, both);
        memcpy(&sums[i], &both, sizeof(both));
    }
    const uint64_t last = even < t->count ? sum_pairs_add_narrow(&sums[even], row) : 0;
    const uint64_t carries = (carry[0] | carry[1] | carry[2] | carry[3]) >> 31;
    return large[0] | large[1] | last | carries << 32;
}

static uint64_t sum_pairs_add_all(struct figures *f, const struct told_pairs *t)
{
    const uint64_t *row = t->list.first;
    uint64_t large = 0;
    if (t->follow)
        return add_following(f->pairs + t->numbers[0], t) >> 32;
    for (size_t i = 0; i < t->count; i++, row += t->list.stride)
        large |= sum_pairs_add_narrow(&f->pairs[t->numbers[i]], row);
    return large >> 32;
}

static void sum_pairs_revert(struct figures *f, const struct told_pairs *t)
{
    const uint64_t *row = t->list.first;
    for (size_t i = 0; i < t->count; i++, row += t->list.stride) {
        struct narrow_figures *sum = &f->pairs[sum_pairs_number_at(t, i)];
        sum->messages -= (uint32_t)row[0];
        sum->bytes -= (uint32_t)row[1];
    }
}

static int sum_pairs_add_wide(struct figures *f, const struct told_pairs *t)
{
    const uint64_t *row = t->list.first;
    if (figures_fit_wide(f) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < t->count; i++, row += t->list.stride) {
        struct pair_figures *sum = &f->wide[sum_pairs_number_at(t, i)];
        sum->messages += row[0];
        sum->bytes += row[1];
    }
    f->has_wide = 1;
    return 0;
}

static void mark_blocks(struct figures *f, const struct told_pairs *t)
{
    if (!t->follow) {
        for (size_t i = 0; i < t->count; i++)
            bit_set(f->pair_blocks, t->numbers[i] / PAIR_BLOCK);
        return;
    }
    uint32_t last = sum_pairs_number_at(t, t->count - 1) / PAIR_BLOCK;
    for (uint32_t block = t->numbers[0] / PAIR_BLOCK; block <= last; block++)
        bit_set(f->pair_blocks, block);
}

static int sum_pairs_add_pairs(struct figures *f, const struct told_pairs *t)
{
    if (t->count == 0)
        return 0;
    mark_blocks(f, t);
    if (sum_pairs_add_all(f, t) == 0)
        return 0;
    sum_pairs_revert(f, t);
    return sum_pairs_add_wide(f, t);
}

int window_pairs_add(struct window_sum *w, const struct window_rows *rows,
                     struct row_numbers *numbers)
{
    uint64_t turned_away = w->run->turned_away;
    struct told_pairs told = {.list = rows->pairs_again, .count = numbers->pair_count};
    if (rows->pairs_again.first == NULL) {
        number_pairs(w->run, rows, numbers);
        told.count = rows->pair_count;
        if (told.count > 0)
            told.list = (struct figures_again){&rows->pairs[0].messages,
                                               sizeof(*rows->pairs) / sizeof(uint64_t)};
    }
    told.numbers = numbers->pairs;
    told.follow = numbers->pairs_follow;
    int code = sum_pairs_add_pairs(&w->figures, &told);
    if (code != 0) {
        w->run->turned_away = turned_away;
        numbers->pair_count = 0; /* they may not be those of the report before */
    }
    return code;
}

/* ---- the run ----------------------------------------------------------------- */

/* @return whether a sum does not fit: then nothing has changed */
static int sum_pairs_add_block(struct narrow_figures *sum, const struct narrow_figures *from)
{
    two_pairs carry = {0};
    for (size_t i = 0; i < PAIR_BLOCK; i += 2) {
        two_pairs a = two_at(&sum[i]), b = two_at(&from[i]), both = a + b;
        carry |= carry_of(a, b, both);
        memcpy(&sum[i], &both, sizeof(both));
    }
    if ((carry[0] | carry[1] | carry[2] | carry[3]) >> 31 == 0)
        return 0;
    for (size_t i = 0; i < PAIR_BLOCK; i++) {
        sum[i].messages -= from[i].messages;
        sum[i].bytes -= from[i].bytes;
    }
    return 1;
}

/* What a block has comes to the wide sums, and what is added to it. */
static void widen_block(struct pair_figures *wide, struct narrow_figures *sum,
                        const struct narrow_figures *from)
{
    for (uint32_t i = 0; i < PAIR_BLOCK; i++) {
        wide[i].messages += (uint64_t)sum[i].messages + from[i].messages;
        wide[i].bytes += (uint64_t)sum[i].bytes + from[i].bytes;
        sum[i] = (struct narrow_figures){0, 0};
    }
}

void run_pairs_absorb(struct run_sum *run, const struct figures *f)
{
    struct figures *total = &run->total;
    for (uint32_t from = 0; from < f->pair_room; from += PAIR_BLOCK) {
        if (!bit_get(f->pair_blocks, from / PAIR_BLOCK))
            continue;
        struct pair_figures *wide = total->wide + from;
        if (sum_pairs_add_block(&total->pairs[from], &f->pairs[from]))
            widen_block(wide, &total->pairs[from], &f->pairs[from]);
        for (uint32_t i = 0; f->has_wide && i < PAIR_BLOCK; i++) {
            wide[i].messages += f->wide[from + i].messages;
            wide[i].bytes += f->wide[from + i].bytes;
        }
    }
}
