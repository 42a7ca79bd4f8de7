/* What calls of collectives are expanded to, by a table that has done so before and by new ones. */
#include "daemon/job/phases/collective_table.h"
#include "holter/call.h"
#include "holter/error.h"
#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORLD 24u
#define PART 9u /* ranks of the second communicator, the third ones each */
#define COMMS 3u
#define CALLS 7u
#define MOST_ROWS 200u

static const uint16_t calls[CALLS] = {CALL_Barrier,   CALL_Bcast,   CALL_Allreduce, CALL_Alltoall,
                                      CALL_Allgather, CALL_Scatter, CALL_Iallreduce};

static uint32_t next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 33);
}

/* A window of calls, and which positions of the second communicator are reported with it. */
struct told {
    struct wire_collective_row collectives[COMMS * CALLS];
    struct wire_comm_member_row members[PART];
    uint64_t member_count;
    struct burst_pair rows[MOST_ROWS];
    size_t row_count;
    uint64_t world;
};

static const struct wire_comm_row comms[COMMS] = {{.id = 1, .size = WORLD, .name = "world"},
                                                  {.id = 7, .size = PART, .name = "part"},
                                                  {.id = 9, .size = 4, .name = "nobody's"}};

static void take(struct collective_table *table, const struct told *told, const uint32_t **numbers)
{
    const struct wire_window m = {.comms = comms,
                                  .comms_count = COMMS,
                                  .collectives = told->collectives,
                                  .collectives_count = COMMS * CALLS,
                                  .comm_members = told->members,
                                  .comm_members_count = told->member_count};
    assert_int_equal(collective_table_add(table, &m, numbers), 0);
}

static void make_collectives(struct told *told)
{
    for (uint32_t i = 0; i < COMMS * CALLS; i++) {
        uint16_t call = calls[i % CALLS];
        int rooted = call == CALL_Bcast || call == CALL_Scatter;
        told->collectives[i] =
            (struct wire_collective_row){.call = call, .comm = i / CALLS, .root = rooted ? 6 : -1};
    }
}

/* The same few calls again and again, and now and then others. */
static void make_rows(struct told *told, uint64_t *random)
{
    told->row_count = next(random) % MOST_ROWS;
    for (size_t i = 0; i < told->row_count; i++) {
        uint64_t messages = 1 + next(random) % 3;
        uint64_t each = next(random) % 8 == 0 ? next(random) % 100000 : 8u << next(random) % 3 * 6;
        told->rows[i] = (struct burst_pair){.source = next(random) % WORLD,
                                            .destination = next(random) % (COMMS * CALLS),
                                            .messages = messages,
                                            .bytes = messages * each};
    }
    told->rows[0].source = 6; /* a root's */
    told->rows[0].destination = 1;
}

/* By collective, then by rank. */
static int by_collective(const void *left, const void *right)
{
    const struct burst_pair *a = left, *b = right;
    if (a->destination != b->destination)
        return a->destination < b->destination ? -1 : 1;
    return (a->source > b->source) - (a->source < b->source);
}

/* Positions 0 to count - 1, of every third rank; from rank `first` on. */
static void make_members(struct told *told, uint64_t count, uint64_t first)
{
    told->member_count = count;
    for (uint64_t i = 0; i < count; i++)
        told->members[i] = (struct wire_comm_member_row){
            .comm = 1, .rank = (first + 3 * i) % WORLD, .position = i};
}

static struct collective_messages expand(struct collective_table *table, const struct told *told,
                                         struct bursts *into)
{
    struct collective_messages made;
    const uint32_t *numbers;
    struct burst_pair rows[MOST_ROWS];
    struct burst_sums burst = {.pairs = rows, .pair_count = told->row_count};
    take(table, told, &numbers);
    for (size_t i = 0; i < told->row_count; i++) {
        rows[i] = told->rows[i];
        rows[i].destination = numbers[rows[i].destination];
        burst.messages += rows[i].messages;
        burst.bytes += rows[i].bytes;
    }
    collective_table_begin_window(table);
    assert_int_equal(collective_table_expand(table, told->world, &burst, into, &made), 0);
    return made;
}

static struct bursts *make_set(void)
{
    const struct bursts_params params = {.budget = 8, .pairs = 4096, .cell_ns = 1};
    struct bursts *set;
    assert_int_equal(bursts_create(&set, &params), 0);
    return set;
}

static void assert_same(const struct collective_messages *a, const struct collective_messages *b)
{
    uint64_t messages = a->others.messages, bytes = a->others.bytes;
    assert_int_equal(a->count, b->count);
    assert_true(a->messages == b->messages && a->bytes == b->bytes);
    assert_true(a->others.messages == b->others.messages && a->others.bytes == b->others.bytes);
    assert_true(a->others.pairs == b->others.pairs);
    for (size_t i = 0; i < a->count; i++) {
        const struct burst_pair *one = &a->pairs[i], *other = &b->pairs[i];
        assert_true(one->source == other->source && one->destination == other->destination);
        assert_true(one->size_class == other->size_class && one->modelled && other->modelled);
        assert_true(one->messages == other->messages && one->bytes == other->bytes);
        messages += one->messages;
        bytes += one->bytes;
    }
    assert_true(messages == a->messages && bytes == a->bytes);
}

/* In sets both are the same burst. */
static void add_and_compare(struct bursts *set, const struct collective_messages *made,
                            struct bursts *other, const struct collective_messages *plain)
{
    const struct collective_messages *both[2] = {made, plain};
    struct bursts *sets[2] = {set, other};
    struct burst_sums read[2];
    if (made->messages == 0)
        return;
    for (size_t i = 0; i < 2; i++) {
        const struct burst_sums burst = {.messages = both[i]->messages,
                                         .bytes = both[i]->bytes,
                                         .others = both[i]->others,
                                         .pairs = both[i]->pairs,
                                         .pair_count = both[i]->count};
        assert_int_equal(bursts_add(sets[i], &burst), 0);
        assert_int_equal(bursts_read(sets[i], 0, &read[i]), 0);
    }
    assert_int_equal(read[0].pair_count, read[1].pair_count);
    assert_memory_equal(read[0].pairs, read[1].pairs, read[0].pair_count * sizeof(*read[0].pairs));
    assert_true(read[0].others.messages == read[1].others.messages);
    assert_true(read[0].messages == made->messages && read[0].bytes == made->bytes);
}

/* One table gets all windows; for each window another is created, which got the positions only. */
static void a_table_that_is_used_again_expands_like_a_new_one(void **state)
{
    struct collective_table *table;
    struct bursts *set = make_set(), *other = make_set();
    struct told told = {.world = 0};
    uint64_t random = 1;
    (void)state;
    assert_int_equal(collective_table_create(&table), 0);
    make_collectives(&told);
    for (uint32_t window = 0; window < 300; window++) {
        struct collective_table *fresh;
        assert_int_equal(collective_table_create(&fresh), 0);
        if (window % 4 == 0)
            make_rows(&told, &random);
        if (window < 40) /* no positions, some, then all */
            make_members(&told, window < 20 ? window / 2 : PART, 0);
        else if (window % 50 == 0) /* others than before */
            make_members(&told, PART, window / 50);
        if (window % 8 == 4) /* in the order in which nodes report them; else in any order */
            qsort(told.rows, told.row_count, sizeof(told.rows[0]), by_collective);
        told.world = window < 100 ? 0 : window < 200 ? WORLD : WORLD + 8;
        struct collective_messages made = expand(table, &told, set);
        struct collective_messages plain = expand(fresh, &told, other);
        assert_same(&made, &plain);
        assert_true(window < 250 || made.count > 0);
        add_and_compare(set, &made, other, &plain);
        collective_table_destroy(fresh);
        bursts_clear(set);
        bursts_clear(other);
    }
    collective_table_destroy(table);
    bursts_destroy(set);
    bursts_destroy(other);
}

/* Of a large communicator each window is as the first, up to the bound and beyond it. */
static void bounds_of_a_window_hold_for_what_is_known(void **state)
{
    enum { RANKS = 16384 };
    struct wire_comm_row comm = {.id = 1, .size = RANKS, .name = "world"};
    struct wire_collective_row row = {.call = CALL_Allreduce, .root = -1};
    const struct wire_window m = {
        .comms = &comm, .comms_count = 1, .collectives = &row, .collectives_count = 1};
    struct burst_pair *rows = calloc(2 * RANKS, sizeof(*rows));
    struct collective_messages first = {0}, made;
    struct collective_table *table;
    struct bursts *set = make_set();
    struct burst_pair *pairs = calloc(COLLECTIVE_ROWS, sizeof(*pairs));
    const uint32_t *numbers;
    (void)state;
    assert_non_null(rows);
    assert_non_null(pairs);
    assert_int_equal(collective_table_create(&table), 0);
    assert_int_equal(collective_table_add(table, &m, &numbers), 0);
    for (uint32_t i = 0; i < 2 * RANKS; i++)
        rows[i] = (struct burst_pair){i % RANKS, numbers[0], 0, 0, 1 + i / RANKS, 8};
    const struct burst_sums burst = {.pairs = rows, .pair_count = 2 * RANKS};
    for (unsigned window = 0; window < 3; window++) {
        collective_table_begin_window(table);
        assert_int_equal(collective_table_expand(table, RANKS, &burst, set, &made), 0);
        assert_int_equal(made.count, COLLECTIVE_ROWS);
        assert_true(made.others.messages > 0 && made.others.pairs <= 2 * RANKS);
        first = window == 0 ? made : first;
        assert_true(made.messages == first.messages && made.bytes == first.bytes);
        assert_true(made.others.messages == first.others.messages);
        assert_true(made.others.pairs == first.others.pairs);
        if (window == 0)
            memcpy(pairs, made.pairs, made.count * sizeof(*pairs));
        assert_memory_equal(made.pairs, pairs, made.count * sizeof(*pairs));
        bursts_clear(set);
    }
    free(pairs);
    size_t bytes = memory_used();
    collective_table_destroy(table);
    assert_true(bytes - memory_used() < 64u << 20);
    bursts_destroy(set);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_that_is_used_again_expands_like_a_new_one),
        cmocka_unit_test(bounds_of_a_window_hold_for_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
