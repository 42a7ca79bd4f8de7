#include "daemon/job/report_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define WORLD 100u

static struct wire_comm_row comms[] = {{.id = 1}, {.id = 7}};
static struct wire_region_row regions[] = {{""}};
static struct wire_pair_row pairs[3];
static struct wire_call_row calls[2];
static const uint32_t names[] = {1, 2, 0};
static struct wire_window message;
static struct report_rows rows;

static int set_up(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        pairs[i] = (struct wire_pair_row){.source = i,
                                          .destination = (int64_t)i - 1,
                                          .comm = i % 2,
                                          .size_class = 5 + i,
                                          .messages = 10 + i,
                                          .bytes = 100 + i};
    for (uint64_t i = 0; i < 2; i++)
        calls[i] = (struct wire_call_row){.rank = i,
                                          .call = 3,
                                          .comm = 1,
                                          .calls = 4 + i,
                                          .bytes = 1,
                                          .bytes_in = 2,
                                          .time_ns = 3,
                                          .longest_ns = 9};
    message = (struct wire_window){.comms = comms,
                                   .comms_count = 2,
                                   .regions = regions,
                                   .regions_count = 1,
                                   .pairs = pairs,
                                   .pairs_count = 3,
                                   .calls = calls,
                                   .calls_count = 2};
    report_rows_keep(&rows, &message, WORLD, names, 3);
    rows.numbers.pair_count = 3; /* as window_sum_update() would */
    rows.numbers.call_count = 2;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    report_rows_finish(&rows);
    return 0;
}

static int knows_pairs(uint64_t world)
{
    return report_rows_pairs(&rows, &message, world);
}

static int knows_calls(uint64_t world)
{
    return report_rows_calls(&rows, &message, world);
}

static void rows_with_other_figures_are_known(void **state)
{
    (void)state;
    pairs[1].messages = 77;
    calls[1].longest_ns = 88;
    assert_true(knows_pairs(WORLD) && knows_calls(WORLD));
}

static void rows_with_another_key_are_not(void **state)
{
    (void)state;
    uint64_t *const of_pairs[] = {&pairs[2].source, (uint64_t *)&pairs[2].destination,
                                  &pairs[2].comm, &pairs[2].region, &pairs[2].size_class};
    uint64_t *const of_calls[] = {&calls[1].rank, &calls[1].call, &calls[1].comm, &calls[1].region};
    /* Beyond 32 bits too: what is kept is narrower. */
    static const uint64_t more[] = {1, UINT64_C(1) << 32, UINT64_C(1) << 63};
    for (size_t m = 0; m < 3; m++) {
        for (size_t i = 0; i < 5; i++) {
            *of_pairs[i] += more[m];
            assert_false(knows_pairs(WORLD));
            *of_pairs[i] -= more[m];
        }
        for (size_t i = 0; i < 4; i++) {
            *of_calls[i] += more[m];
            assert_false(knows_calls(WORLD));
            *of_calls[i] -= more[m];
        }
    }
    assert_true(knows_pairs(WORLD) && knows_calls(WORLD));
    message.pairs_count = 2;
    message.calls_count = 1;
    assert_false(knows_pairs(WORLD) || knows_calls(WORLD));
}

static void what_they_were_checked_against_must_be_the_same(void **state)
{
    (void)state;
    assert_false(knows_pairs(WORLD - 1) || knows_calls(WORLD - 1));
    message.comms_count = 1;
    assert_false(knows_pairs(WORLD) || knows_calls(WORLD));
    message.comms_count = 2;
    message.regions_count = 0;
    assert_false(knows_pairs(WORLD) || knows_calls(WORLD));
    assert_true(report_rows_named(&rows, names, 3));
    assert_false(report_rows_named(&rows, (const uint32_t[]){1, 3, 0}, 3));
}

static void rows_without_numbers_are_not_known(void **state)
{
    (void)state;
    rows.numbers.pair_count = 0; /* one was turned away */
    assert_false(knows_pairs(WORLD));
    assert_true(knows_calls(WORLD));
}

static void rows_with_larger_keys_than_are_kept_are_not_known(void **state)
{
    (void)state;
    message.comms_count = message.regions_count = UINT64_C(1) << 40;
    uint64_t *const of_rows[] = {&pairs[1].comm, &pairs[1].region, &calls[0].comm, &calls[0].region,
                                 &calls[0].call};
    static const uint64_t kept[] = {2047, 2047, 1023, 1023, 4095};
    for (size_t i = 0; i < 5; i++) {
        for (uint64_t beyond = 0; beyond < 2; beyond++) {
            *of_rows[i] = kept[i] + beyond;
            report_rows_keep(&rows, &message, WORLD, names, 3);
            assert_int_equal(knows_pairs(WORLD), i >= 2 || beyond == 0);
            assert_int_equal(knows_calls(WORLD), i < 2 || beyond == 0);
        }
        *of_rows[i] = 0;
    }
    report_rows_keep(&rows, &message, WORLD, names, 3);
    assert_true(knows_pairs(WORLD) && knows_calls(WORLD));
}

static void nothing_is_known_at_first(void **state)
{
    (void)state;
    const struct report_rows none = {0};
    message = (struct wire_window){.window = 1};
    assert_false(report_rows_pairs(&none, &message, WORLD) ||
                 report_rows_calls(&none, &message, WORLD) || report_rows_named(&none, names, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_with_other_figures_are_known),
        TEST(rows_with_another_key_are_not),
        TEST(what_they_were_checked_against_must_be_the_same),
        TEST(rows_without_numbers_are_not_known),
        TEST(rows_with_larger_keys_than_are_kept_are_not_known),
        TEST(nothing_is_known_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
