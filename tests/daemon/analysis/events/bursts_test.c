#include "daemon/analysis/events/bursts.h"

#include "holter/size_class.h"
#include "tests/daemon/analysis/events/burst_feed.h"
#include "tests/daemon/analysis/events/bursts_plain.h"
#include "tests/memory.h"

#include <errno.h>

static uint32_t next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33);
}

static void put(struct bursts *set, uint64_t time)
{
    const struct burst_message m = {.time_ns = time, .messages = 1, .bytes = 8};
    assert_int_equal(burst_feed_message(set, &m), 0);
}

static void put_all(struct bursts *set, const struct burst_message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(burst_feed_message(set, &messages[i]), 0);
}

static void make(struct burst_message *messages, size_t count, uint32_t span, uint64_t *random)
{
    for (size_t i = 0; i < count; i++)
        messages[i] = (struct burst_message){.time_ns = UINT64_C(1) << 40 | next(random) % span,
                                             .source = next(random) % SIDE,
                                             .destination = next(random) % SIDE,
                                             .size_class = next(random) % SIDE,
                                             .messages = 1 + next(random) % 3,
                                             .bytes = next(random) % 1000};
}

static void shuffle(struct burst_message *messages, size_t count, uint64_t *random)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = next(random) % i;
        struct burst_message kept = messages[i - 1];
        messages[i - 1] = messages[other];
        messages[other] = kept;
    }
}

/* ---- tests ------------------------------------------------------------------------------ */

/* Small spans give many equal times and ties. */
static void bursts_within_the_budget_are_the_batch_clustering(void **state)
{
    static const uint32_t spans[] = {20, 300, 5000, 1u << 30};
    static struct burst_message messages[MOST];
    static struct plain plain;
    uint64_t random = 1;
    (void)state;
    for (uint32_t round = 0; round < 120; round++) {
        size_t count = 1 + next(&random) % (round < 100 ? 60 : 400);
        uint64_t cell = round % 3 == 0 ? 1 : UINT64_C(1) << next(&random) % 8;
        make(messages, count, spans[round % 4], &random);
        struct bursts *set = create((uint32_t)count, 64, cell);
        put_all(set, messages, count);
        plain_of(&plain, messages, count);
        for (uint32_t most = (uint32_t)count; most > 0; most -= 1 + most / 3) {
            bursts_reduce(set, most);
            plain_cluster(&plain, cell, most);
            assert_is(set, &plain);
        }
        bursts_destroy(set);
    }
}

static void each_distinct_time_is_a_burst_while_there_is_capacity(void **state)
{
    struct bursts *set = create(3, 8, 1);
    (void)state;
    put(set, 7), put(set, 5), put(set, 7), put(set, 6), put(set, 5);
    assert_int_equal(bursts_count(set), 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct item item = item_read(set, i);
        assert_int_equal(item.first, 5 + i);
        assert_int_equal(item.last, 5 + i);
        assert_int_equal(item.messages, i == 1 ? 1 : 2);
    }
    bursts_destroy(set);
}

static void messages_may_come_in_any_order(void **state)
{
    static struct burst_message messages[MOST];
    uint64_t random = 2;
    (void)state;
    for (uint32_t round = 0; round < 30; round++) {
        make(messages, 200, 3000, &random);
        struct bursts *one = create(200, 64, 4), *other = create(200, 64, 4);
        put_all(one, messages, 200);
        shuffle(messages, 200, &random);
        put_all(other, messages, 200);
        assert_same(one, other);
        bursts_destroy(one);
        bursts_destroy(other);
    }
}

static void of_equal_gaps_the_earlier_closes(void **state)
{
    struct bursts *set = create(4, 8, 1);
    (void)state;
    put(set, 10), put(set, 20), put(set, 30), put(set, 40);
    bursts_reduce(set, 3);
    struct item item = item_read(set, 0);
    assert_int_equal(mean(&item), 15);
    bursts_reduce(set, 2);
    item = item_read(set, 1);
    assert_int_equal(mean(&item), 35); /* 15 20 30 40: gaps of 15 and 10 */
    bursts_reduce(set, 0);
    assert_int_equal(bursts_count(set), 1);
    bursts_destroy(set);
}

static void bursts_join_that_are_nearer_than_a_gap(void **state)
{
    struct bursts *set = create(8, 8, 1);
    (void)state;
    bursts_join_near(set, 8);
    put(set, 10), put(set, 15), put(set, 21), put(set, 30), put(set, 38);
    bursts_join_near(set, 8); /* 12 21 30 38: nine and eight apart */
    assert_int_equal(bursts_count(set), 4);
    struct item item = item_read(set, 0);
    assert_int_equal(mean(&item), 12);
    bursts_join_near(set, 9); /* 12 21 34: the mean moves away */
    assert_int_equal(bursts_count(set), 3);
    bursts_join_near(set, 100);
    assert_int_equal(bursts_count(set), 1);
    bursts_destroy(set);
}

/* Runs of messages with pauses longer than the runs, as many as the budget: told apart whether
 * messages come in order of time or rank by rank. */
static void runs_with_pauses_are_the_bursts(void **state)
{
    (void)state;
    for (uint32_t by_rank = 0; by_rank < 2; by_rank++) {
        struct bursts *set = create(8, 64, 16);
        for (uint32_t i = 0; i < 8 * 1000; i++) {
            uint32_t rank = by_rank ? i / 2000 : i % 4, step = by_rank ? i % 2000 : i / 4;
            uint64_t time = step / 250 * 1000000 + step % 250 * 1000 + rank * 100;
            const struct burst_message m = {time, rank, (rank + 1) % 4, 3, 1, 3};
            assert_int_equal(burst_feed_message(set, &m), 0);
            assert_true(bursts_count(set) <= 8);
        }
        assert_int_equal(bursts_count(set), 8);
        for (uint32_t run = 0; run < 8; run++) {
            struct item item = item_read(set, run);
            assert_int_equal(item.first, run * 1000000);
            assert_int_equal(item.last, run * 1000000 + 249 * 1000 + 300);
            assert_int_equal(item.messages, 1000);
            assert_int_equal(item.pair_messages[(0 * SIDE + 1) * SIDE + 3], 250);
        }
        bursts_destroy(set);
    }
}

static void beyond_the_budget_sums_stay_and_times_ascend(void **state)
{
    static struct burst_message messages[MOST];
    uint64_t random = 3;
    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        uint32_t budget = 1 + next(&random) % 12;
        struct bursts *set = create(budget, 64, UINT64_C(1) << round % 6);
        struct item sum = {.first = UINT64_MAX}, read = {.first = UINT64_MAX};
        uint64_t time = 0;
        for (uint32_t part = 0; part < 5; part++) {
            make(messages, MOST, round % 2 == 0 ? 2000 : 1u << 30, &random);
            put_all(set, messages, MOST);
            for (size_t i = 0; i < MOST; i++) {
                struct item item = item_of(&messages[i]);
                put_together(&sum, &item);
            }
            assert_true(bursts_count(set) <= budget);
        }
        for (uint32_t i = 0; i < bursts_count(set); i++) {
            struct item item = item_read(set, i);
            assert_true(i == 0 || mean(&item) > time);
            time = mean(&item);
            put_together(&read, &item);
        }
        assert_same_item(&read, &sum);
        assert_conserved(set, sum.messages, sum.bytes);
        bursts_destroy(set);
    }
}

static void late_messages_find_their_burst(void **state)
{
    struct bursts *set = create(2, 8, 1);
    (void)state;
    put(set, 1000), put(set, 1010), put(set, 5000);
    put(set, 1005); /* within a burst */
    struct item item = item_read(set, 0);
    assert_int_equal(item.messages, 3);
    put(set, 990); /* before the earliest */
    item = item_read(set, 0);
    assert_int_equal(item.messages, 4);
    assert_int_equal(item.first, 990);
    put(set, 2000); /* between: nearest to the earlier */
    item = item_read(set, 0);
    assert_int_equal(item.messages, 5);
    assert_int_equal(item.last, 2000);
    bursts_destroy(set);
}

#define NODES 16u
#define EACH 8u

/* Nodes that were over their budgets, all with messages in the same time. */
static void make_nodes(struct bursts **nodes, uint64_t *random)
{
    static struct burst_message messages[MOST];
    for (uint32_t n = 0; n < NODES; n++) {
        nodes[n] = create(EACH, 64, 32);
        size_t count = n == 3 ? 0 : 1 + next(random) % 100;
        make(messages, count, 20000, random);
        put_all(nodes[n], messages, count);
    }
}

static void order_of_nodes_does_not_show(void **state)
{
    static struct plain plain;
    uint64_t random = 4;
    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        struct bursts *nodes[NODES], *flat = create(NODES * EACH, 64, 32),
                                     *tree = create(NODES * EACH, 64, 32);
        make_nodes(nodes, &random);
        plain.count = 0;
        for (uint32_t n = 0; n < NODES; n++)
            for (uint32_t i = 0; i < bursts_count(nodes[n]); i++)
                plain.items[plain.count++] = item_read(nodes[n], i);
        for (uint32_t n = 0; n < NODES; n++)
            assert_int_equal(burst_feed_set(flat, nodes[n]), 0);
        for (uint32_t relay = 0, first = next(&random); relay < 4; relay++) {
            struct bursts *part = create(4 * EACH, 64, 32);
            for (uint32_t n = 0; n < 4; n++)
                assert_int_equal(burst_feed_set(part, nodes[(first + relay * 4 + 3 - n) % NODES]),
                                 0);
            assert_int_equal(burst_feed_set(tree, part), 0);
            bursts_destroy(part);
        }
        assert_same(flat, tree);
        for (uint32_t most = NODES * EACH; most > 0; most /= 2) {
            bursts_reduce(flat, most);
            plain_cluster(&plain, 32, most);
            assert_is(flat, &plain);
        }
        for (uint32_t n = 0; n < NODES; n++)
            bursts_destroy(nodes[n]);
        bursts_destroy(flat);
        bursts_destroy(tree);
    }
}

/* A budget exceeded while merging: sums and the budget hold. Then further messages. */
static void merging_beyond_the_budget_keeps_the_sums(void **state)
{
    static struct burst_message messages[100];
    uint64_t random = 5, count = 0, bytes = 0;
    (void)state;
    struct bursts *nodes[NODES], *set = create(6, 64, 32);
    make_nodes(nodes, &random);
    for (uint32_t n = 0; n < NODES; n++) {
        assert_int_equal(burst_feed_set(set, nodes[n]), 0);
        count += bursts_messages(nodes[n]);
        bytes += bursts_bytes(nodes[n]);
        assert_true(bursts_count(set) <= 6);
        bursts_destroy(nodes[n]);
    }
    make(messages, 100, 30000, &random);
    put_all(set, messages, 100);
    for (uint32_t i = 0; i < 100; i++) {
        count += messages[i].messages;
        bytes += messages[i].bytes;
    }
    assert_conserved(set, count, bytes);
    for (uint32_t i = 1; i < bursts_count(set); i++) {
        struct item before = item_read(set, i - 1), item = item_read(set, i);
        assert_true(mean(&before) / 32 < mean(&item) / 32);
    }
    bursts_destroy(set);
}

static void a_burst_that_was_read_can_be_added(void **state)
{
    uint64_t random = 6;
    struct bursts *nodes[NODES], *merged = create(20, 64, 32), *added = create(20, 64, 32);
    (void)state;
    make_nodes(nodes, &random);
    for (uint32_t n = 0; n < NODES; n++) {
        assert_int_equal(burst_feed_set(merged, nodes[n]), 0);
        for (uint32_t i = 0; i < bursts_count(nodes[n]); i++) {
            struct burst_sums b;
            assert_int_equal(bursts_read(nodes[n], i, &b), 0);
            assert_int_equal(bursts_add(added, &b), 0);
        }
        bursts_destroy(nodes[n]);
    }
    assert_same(merged, added);
    bursts_destroy(merged);
    bursts_destroy(added);
}

static void of_too_many_pairs_the_least_are_folded(void **state)
{
    struct bursts *set = create(2, 8, 1);
    struct burst_sums b;
    (void)state;
    for (uint32_t i = 0; i < 13; i++) {
        const struct burst_message m = {100, i, 0, 0, 2, i == 4 ? 50 : i};
        assert_int_equal(burst_feed_message(set, &m), 0);
    }
    assert_int_equal(bursts_read(set, 0, &b), 0);
    assert_int_equal(b.pair_count, 8);
    assert_int_equal(b.pairs[0].source, 4);
    for (uint32_t i = 1; i < 8; i++)
        assert_int_equal(b.pairs[i].source, 5 + i);
    assert_int_equal(b.others.pairs, 5);
    assert_int_equal(b.others.messages, 10);
    assert_int_equal(b.others.bytes, 0 + 1 + 2 + 3 + 5);
    assert_int_equal(b.messages, 26);
    bursts_destroy(set);
}

static void what_was_folded_is_merged_too(void **state)
{
    struct bursts *one = create(2, 8, 1), *other = create(2, 8, 1), *set = create(4, 8, 1);
    struct burst_sums b;
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        const struct burst_message m = {i % 2 == 0 ? 100 : 900, i / 2, 0, 0, 2, i};
        assert_int_equal(burst_feed_message(i % 3 == 0 ? one : other, &m), 0);
    }
    assert_int_equal(burst_feed_set(set, one), 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(bursts_read(other, i, &b), 0);
        assert_int_equal(bursts_add(set, &b), 0);
    }
    assert_int_equal(bursts_count(set), 2);
    assert_conserved(set, 400, 199 * 100);
    bursts_reduce(set, 1);
    assert_conserved(set, 400, 199 * 100);
    assert_int_equal(bursts_read(set, 0, &b), 0);
    assert_int_equal(b.pair_count, 8);
    for (uint32_t i = 0; i < 8; i++) /* those with the most bytes, whatever the order */
        assert_true(b.pairs[i].source >= 92);
    bursts_destroy(one);
    bursts_destroy(other);
    bursts_destroy(set);
}

/* Two sets get the same, one is read all the time. */
/* In each round another burst has many pairs. */
static void a_set_that_is_used_again_does_not_keep_the_memory_of_every_large_burst(void **state)
{
    enum { SLOTS = 64, MANY = 4096 };
    const struct bursts_params params = {.budget = SLOTS, .pairs = MANY, .cell_ns = 1};
    struct bursts *set;
    (void)state;
    size_t before = memory_used();
    assert_int_equal(bursts_create(&set, &params), 0);
    for (uint32_t round = 0; round < SLOTS; round++) {
        for (uint32_t i = 0; i < SLOTS; i++)
            put(set, 1000 + UINT64_C(1000000) * i);
        for (uint32_t i = 0; i < MANY; i++) {
            const struct burst_message m = {.time_ns = 1000 + UINT64_C(1000000) * round,
                                            .source = i / 64,
                                            .destination = i % 64,
                                            .messages = 1,
                                            .bytes = 8};
            assert_int_equal(burst_feed_message(set, &m), 0);
        }
        bursts_clear(set);
    }
    assert_true(memory_used() - before < 8 * MANY * sizeof(struct burst_pair));
    bursts_destroy(set);
}

static void reading_changes_nothing(void **state)
{
    uint64_t random = 7, count = 0, bytes = 0;
    const size_t before = memory_used();
    struct bursts *set = create(5, 20, 1), *other = create(5, 20, 1);
    struct burst_sums a, b;
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        const struct burst_message m = {next(&random),
                                        next(&random) % 50,
                                        next(&random) % 3,
                                        next(&random) % SIZE_CLASSES,
                                        1,
                                        next(&random) % 5000};
        assert_int_equal(burst_feed_message(set, &m), 0);
        assert_int_equal(burst_feed_message(other, &m), 0);
        assert_int_equal(bursts_read(set, i % bursts_count(set), &a), 0);
        count += m.messages;
        bytes += m.bytes;
    }
    for (uint32_t i = 0; i < bursts_count(set); i++) {
        assert_int_equal(bursts_read(set, i, &a), 0);
        assert_int_equal(bursts_read(other, i, &b), 0);
        assert_in_range(a.pair_count, 1, 20);
        assert_int_equal(a.pair_count, b.pair_count);
        assert_int_equal(a.others.pairs, b.others.pairs);
        assert_int_equal(a.others.bytes, b.others.bytes);
        for (size_t r = 0; r < a.pair_count; r++) {
            assert_int_equal(a.pairs[r].source, b.pairs[r].source);
            assert_int_equal(a.pairs[r].bytes, b.pairs[r].bytes);
        }
    }
    assert_conserved(set, count, bytes);
    bursts_destroy(other);
    /* The bound of the header. */
    assert_true(memory_used() - before < 6 * (40 * 32 + 144) + 96 * 20 + 1024);
    bursts_destroy(set);
}

static void extreme_times_are_times(void **state)
{
    struct bursts *set = create(2, 8, 1);
    (void)state;
    const struct burst_message late = {UINT64_MAX, 0, 0, 0, UINT64_C(1) << 63, 0};
    put(set, 0);
    assert_int_equal(burst_feed_message(set, &late), 0);
    struct item item = item_read(set, 1);
    assert_int_equal(mean(&item), UINT64_MAX);
    put(set, UINT64_MAX);
    put(set, UINT64_C(1) << 63);
    assert_int_equal(bursts_count(set), 2);
    bursts_reduce(set, 1);
    item = item_read(set, 0);
    assert_int_equal(item.first, 0);
    assert_int_equal(item.last, UINT64_MAX);
    assert_int_equal(item.messages, (UINT64_C(1) << 63) + 3);
    put(set, 0), put(set, UINT64_MAX);
    bursts_destroy(set);
}

static void sums_beyond_64_bits_are_refused_whole(void **state)
{
    struct bursts *set = create(4, 8, 1), *other = create(4, 8, 1);
    struct burst_message m = {.time_ns = 5, .messages = 1, .bytes = UINT64_MAX};
    struct burst_sums b;
    (void)state;
    assert_int_equal(burst_feed_message(set, &m), 0);
    m.bytes = 1;
    assert_int_equal(burst_feed_message(set, &m), -EOVERFLOW);
    assert_int_equal(burst_feed_message(other, &m), 0);
    assert_int_equal(burst_feed_set(set, other), -EOVERFLOW);
    assert_int_equal(bursts_read(other, 0, &b), 0);
    assert_int_equal(bursts_add(set, &b), -EOVERFLOW);
    m.bytes = 0, m.messages = UINT64_MAX;
    assert_int_equal(burst_feed_message(set, &m), -EOVERFLOW);
    assert_conserved(set, 1, UINT64_MAX);
    m.messages = 1;
    assert_int_equal(burst_feed_message(set, &m), 0);
    assert_conserved(set, 2, UINT64_MAX);
    bursts_destroy(set);
    bursts_destroy(other);
}

static void an_empty_set_has_no_bursts_and_changes_none(void **state)
{
    struct bursts *set = create(4, 8, 1), *empty = create(4, 8, 1);
    struct burst_sums b;
    (void)state;
    bursts_reduce(empty, 1);
    assert_int_equal(bursts_count(empty), 0);
    assert_int_equal(bursts_read(empty, 0, &b), -ERANGE);
    put(set, 3);
    assert_int_equal(burst_feed_set(set, empty), 0);
    assert_conserved(set, 1, 8);
    assert_int_equal(burst_feed_set(empty, set), 0);
    assert_same(empty, set);
    bursts_clear(set);
    assert_int_equal(bursts_count(set), 0);
    assert_conserved(set, 0, 0);
    put(set, 1);
    assert_conserved(set, 1, 8);
    bursts_destroy(set);
    bursts_destroy(empty);
    bursts_destroy(NULL);
}

static void parameters_out_of_range_are_refused(void **state)
{
    static const struct bursts_params bad[] = {{0, 8, 1},         {BURSTS_MAXIMUM + 1, 8, 1},
                                               {1, 7, 1},         {1, BURSTS_MAXIMUM_PAIRS + 1, 1},
                                               {1, 8, 0},         {1, 8, 3},
                                               {1, 8, 1ull << 41}};
    struct bursts *set;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(bursts_create(&set, &bad[i]), -EINVAL);
    assert_int_equal(bursts_create(&set, &BURSTS_DEFAULTS), 0);
    bursts_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_within_the_budget_are_the_batch_clustering),
        cmocka_unit_test(each_distinct_time_is_a_burst_while_there_is_capacity),
        cmocka_unit_test(messages_may_come_in_any_order),
        cmocka_unit_test(of_equal_gaps_the_earlier_closes),
        cmocka_unit_test(bursts_join_that_are_nearer_than_a_gap),
        cmocka_unit_test(runs_with_pauses_are_the_bursts),
        cmocka_unit_test(beyond_the_budget_sums_stay_and_times_ascend),
        cmocka_unit_test(late_messages_find_their_burst),
        cmocka_unit_test(order_of_nodes_does_not_show),
        cmocka_unit_test(merging_beyond_the_budget_keeps_the_sums),
        cmocka_unit_test(a_burst_that_was_read_can_be_added),
        cmocka_unit_test(of_too_many_pairs_the_least_are_folded),
        cmocka_unit_test(what_was_folded_is_merged_too),
        cmocka_unit_test(a_set_that_is_used_again_does_not_keep_the_memory_of_every_large_burst),
        cmocka_unit_test(reading_changes_nothing),
        cmocka_unit_test(extreme_times_are_times),
        cmocka_unit_test(sums_beyond_64_bits_are_refused_whole),
        cmocka_unit_test(an_empty_set_has_no_bursts_and_changes_none),
        cmocka_unit_test(parameters_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
