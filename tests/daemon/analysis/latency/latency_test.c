/* Latencies of a window by job, locality, region and rank. */
#include "daemon/analysis/latency/latency.h"
#include "holter/time_class.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 4u
#define REPORTED 3u /* ranks: the last one has not */
#define REGIONS 2u
#define CLASS 100u

static struct latency_scale scale;
static struct latency_sum regions[REGIONS];
static struct latency_rank ranks[RANKS];
static struct message_ranks messages;
static const uint32_t region_of[RANKS] = {0, 0, 1, REGIONS};

static struct latency_groups begin(double recent, double reference)
{
    memset(regions, 0, sizeof(regions));
    memset(ranks, 0, sizeof(ranks));
    assert_int_equal(message_ranks_begin(&messages, REPORTED), 0);
    for (unsigned l = 0; l < LOCALITIES; l++) {
        for (unsigned c = 0; c < SIZE_CLASSES; c++) {
            scale.recent[l][c] = recent;
            scale.reference[l][c] = reference;
        }
    }
    return (struct latency_groups){.regions = regions,
                                   .region_count = REGIONS,
                                   .region_of = region_of,
                                   .rank_count = RANKS,
                                   .messages = &messages,
                                   .ranks = ranks};
}

static struct transfer row_of(uint32_t from, uint32_t to, unsigned locality, uint64_t ns)
{
    return (struct transfer){.source = from,
                             .destination = to,
                             .size_class = CLASS,
                             .locality = (uint8_t)locality,
                             .messages = 1,
                             .transfer_ns = ns,
                             .log2_sum = time_log2(ns)};
}

static void add(struct latency_groups *groups, const struct transfer *rows, size_t count)
{
    struct transfers list = {0};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(transfers_add(&list, &rows[i]), 0);
    latency_add(groups, &scale, &list);
    transfers_finish(&list);
}

static void latency_is_the_mean_of_transfer_times_by_their_criterion(void **state)
{
    (void)state;
    struct latency_groups groups = begin(500, 1000);
    struct transfer rows[] = {row_of(0, 1, LOCALITY_INTRA, 1000),
                              row_of(0, 2, LOCALITY_INTER, 4000)};
    add(&groups, rows, 2);
    assert_true(fabs(latency_recent(&groups.job) - 5) < 0.01);
    assert_true(fabs(latency_reference(&groups.job) - 2.5) < 0.01);
    assert_true(fabs(latency_typical(&groups.job) - 2) < 0.02);
    assert_true(fabs(latency_reference(&groups.localities[LOCALITY_INTRA]) - 1) < 0.01);
    assert_true(fabs(latency_reference(&groups.localities[LOCALITY_INTER]) - 4) < 0.01);
}

static void a_message_counts_for_the_regions_and_ranks_at_both_ends(void **state)
{
    (void)state;
    struct latency_groups groups = begin(1000, 1000);
    struct transfer rows[] = {row_of(0, 1, 0, 1000), row_of(1, 2, 1, 3000), row_of(2, 3, 1, 5000),
                              row_of(3, 3, 0, 7000)};
    add(&groups, rows, 4);
    assert_int_equal(regions[0].messages, 2);
    assert_true(fabs(latency_reference(&regions[0]) - 2) < 0.01);
    assert_int_equal(regions[1].messages, 2);
    assert_true(fabs(latency_reference(&regions[1]) - 4) < 0.01);
    assert_true(fabs(latency_rank_reference(&ranks[2]) - 4) < 0.01);
    assert_true(fabs(latency_rank_typical(&ranks[2]) - sqrt(15)) < 0.01);
    assert_int_equal(ranks[3].messages, 2);
    assert_int_equal(groups.job.messages, 4);
}

static void the_latency_of_a_rank_has_the_error_of_its_messages_between_nodes(void **state)
{
    (void)state;
    struct latency_groups groups = begin(1000, 2000);
    struct transfer rows[] = {row_of(0, 1, 0, 1000), row_of(1, 2, 1, 3000), row_of(1, 2, 1, 5000)};
    rows[1].error_ns = 3000;
    rows[2].error_ns = 4200;
    add(&groups, rows, 3);
    assert_true(latency_rank_error(&ranks[0]) == 0);
    assert_true(fabs(latency_rank_error(&ranks[1]) - 1.2) < 0.01); /* one of three has none */
    assert_true(fabs(latency_rank_error(&ranks[2]) - 1.8) < 0.01);
    assert_true(isnan(latency_rank_error(&ranks[3])));
}

static void one_held_up_message_moves_the_mean_and_not_the_typical(void **state)
{
    (void)state;
    struct latency_groups groups = begin(1000, 1000);
    struct transfer rows[1000];
    for (unsigned i = 0; i < 1000; i++)
        rows[i] = row_of(0, 1, 0, i == 7 ? 10000000 : 1000);
    add(&groups, rows, 1000);
    assert_true(latency_reference(&groups.job) > 10);
    assert_true(latency_typical(&groups.job) < 1.02);
}

static void rows_in_any_order_and_cut_give_the_same(void **state)
{
    (void)state;
    struct latency_groups groups = begin(777, 3333), again;
    struct transfer rows[500];
    srand(5);
    for (unsigned i = 0; i < 500; i++) {
        rows[i] = row_of((uint32_t)rand() % RANKS, (uint32_t)rand() % RANKS,
                         (unsigned)rand() % LOCALITIES, (uint64_t)rand());
        rows[i].size_class = (uint16_t)(rand() % (int)SIZE_CLASSES);
    }
    add(&groups, rows, 500);
    struct latency_sum first[REGIONS];
    memcpy(first, regions, sizeof(first));
    again = begin(777, 3333);
    for (unsigned i = 500; i-- > 0;)
        add(&again, &rows[i], 1);
    assert_memory_equal(&groups.job, &again.job, sizeof(again.job));
    assert_memory_equal(first, regions, sizeof(first));
}

/* Sums by rank are of messages whose ends have both reported. */
static void messages_of_ranks_that_did_not_report_are_in_no_sum_by_rank(void **state)
{
    (void)state;
    struct latency_groups groups = begin(1000, 1000);
    struct transfer rows[] = {row_of(0, 1, 0, 1000), row_of(1, 3, 1, 3000), row_of(3, 2, 0, 5000)};
    for (unsigned i = 0; i < 3; i++)
        rows[i].late_sender_ns = 10;
    add(&groups, rows, 3);
    assert_int_equal(messages.figures[0][MESSAGES_AWAITED], 10);
    assert_int_equal(messages.figures[1][MESSAGES_WAITED], 10);
    assert_int_equal(messages.figures[1][MESSAGES_AWAITED], 0);
    assert_int_equal(messages.figures[2][MESSAGES_WAITED], 0);
    assert_int_equal(messages.figures[1][MESSAGES_NEAR], 1);
    for (size_t r = 0; r < RANKS; r++)
        assert_int_equal(ranks[r].messages, r == 0 || r == 2 ? 1 : 2);
}

/* What a class without a recent criterion has is no latency, but something is expected of it. */
static void messages_are_expected_by_the_reference_alone(void **state)
{
    (void)state;
    struct latency_groups groups = begin(NAN, 1000);
    struct transfer row = row_of(0, 1, 1, 5000);
    row.network_ns = 2000;
    add(&groups, &row, 1);
    assert_int_equal(messages.figures[1][MESSAGES_FAR], 1);
    assert_int_equal(messages.figures[1][MESSAGES_FAR_EXPECTED], 1000);
    assert_int_equal(messages.figures[0][MESSAGES_NETWORK_OUT], 2000);
    assert_int_equal(ranks[1].messages, 0);
}

static int free_messages(void **state)
{
    (void)state;
    message_ranks_finish(&messages);
    return 0;
}

static void messages_without_a_criterion_are_counted_and_have_no_latency(void **state)
{
    (void)state;
    struct latency_groups groups = begin(NAN, NAN);
    struct transfer row = row_of(0, 9, 0, 1000);
    assert_true(isnan(latency_reference(&groups.job)));
    add(&groups, &row, 1);
    assert_int_equal(groups.job.messages, 1);
    assert_true(isnan(latency_reference(&groups.job)) && isnan(latency_typical(&groups.job)));
    assert_true(latency_moved(&groups.job) == 0);
    assert_true(isnan(latency_rank_reference(&ranks[0])));
    assert_true(isnan(latency_rank_typical(&ranks[0])));
}

static void no_transfer_time_overflows_the_sums(void **state)
{
    (void)state;
    struct latency_groups groups = begin(1, 1);
    struct transfer row = row_of(0, 1, 0, UINT64_MAX);
    for (unsigned i = 0; i < 1000; i++)
        add(&groups, &row, 1);
    assert_true(fabs(latency_reference(&groups.job) - 1e6) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_is_the_mean_of_transfer_times_by_their_criterion),
        cmocka_unit_test(a_message_counts_for_the_regions_and_ranks_at_both_ends),
        cmocka_unit_test(the_latency_of_a_rank_has_the_error_of_its_messages_between_nodes),
        cmocka_unit_test(one_held_up_message_moves_the_mean_and_not_the_typical),
        cmocka_unit_test(rows_in_any_order_and_cut_give_the_same),
        cmocka_unit_test(messages_without_a_criterion_are_counted_and_have_no_latency),
        cmocka_unit_test(messages_of_ranks_that_did_not_report_are_in_no_sum_by_rank),
        cmocka_unit_test(messages_are_expected_by_the_reference_alone),
        cmocka_unit_test(no_transfer_time_overflows_the_sums),
    };
    return cmocka_run_group_tests(tests, NULL, free_messages);
}
