/* Sums of transfer times, and which ends of messages between nodes are picked. */
#include "daemon/analysis/matching/transfer_sum.h"

#include "holter/size_class.h"
#include "holter/time_class.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t same_time(const void *user, uint64_t mono_ns)
{
    (void)user;
    return mono_ns;
}

static const struct transfer_clock plain = {same_time, NULL, 1000};

static struct transfer_sum *make(uint32_t most_pairs)
{
    struct transfer_sum *sum;
    assert_int_equal(transfer_sum_create(&sum, most_pairs), 0);
    return sum;
}

static struct transfer_rows rows_of(struct transfer_sum *sum)
{
    struct transfer_rows rows;
    assert_int_equal(transfer_sum_rows(sum, &plain, &rows), 0);
    return rows;
}

static struct match_message draw_message(uint64_t *random)
{
    uint64_t transfer = random_next(random) % 1000000;
    return (struct match_message){
        .source = (uint32_t)(random_next(random) % 5),
        .destination = (uint32_t)(random_next(random) % 5),
        .bytes = random_next(random) % 3 * 1000,
        .transfer_ns = transfer,
        .late_sender_ns = random_next(random) % 1000,
        .late_receiver_ns = transfer / 2,
        .network_ns = transfer / 3,
        .joint_ns = transfer / 7,
        .send_wait_ns = transfer / 5,
    };
}

static void add_row(struct wire_transfer_row *to, const struct wire_transfer_row *row)
{
    to->messages += row->messages;
    to->transfer_ns += row->transfer_ns;
    to->late_sender_ns += row->late_sender_ns;
    to->late_receiver_ns += row->late_receiver_ns;
    to->network_ns += row->network_ns;
    to->joint_ns += row->joint_ns;
    to->send_wait_ns += row->send_wait_ns;
    to->log2_sum += row->log2_sum;
}

/* Whatever the number of rows that there is room for. */
static void totals_are_exact(uint32_t most_pairs)
{
    struct transfer_sum *sum = make(most_pairs);
    struct wire_transfer_row expected = {0}, got = {0};
    uint64_t random = 77, counted = 0;
    double logs = 0;
    for (int i = 0; i < 5000; i++) {
        struct match_message m = draw_message(&random);
        struct wire_transfer_row row = {.messages = 1,
                                        .transfer_ns = m.transfer_ns,
                                        .late_sender_ns = m.late_sender_ns,
                                        .late_receiver_ns = m.late_receiver_ns,
                                        .network_ns = m.network_ns,
                                        .joint_ns = m.joint_ns,
                                        .send_wait_ns = m.send_wait_ns};
        add_row(&expected, &row);
        logs += m.transfer_ns > 0 ? log2((double)m.transfer_ns) : 0;
        transfer_sum_message(sum, &m);
    }
    struct transfer_rows rows = rows_of(sum);
    for (uint64_t i = 0; i < rows.transfers_count; i++)
        add_row(&got, &rows.transfers[i]);
    for (uint64_t i = 0; i < rows.latencies_count; i++)
        counted += rows.latencies[i].messages;
    assert_true(fabs((double)got.log2_sum / 65536 - logs) < 0.001 * 5000);
    got.log2_sum = 0;
    assert_memory_equal(&got, &expected, sizeof got);
    assert_int_equal(counted, 5000);
    assert_int_equal(rows.folded, most_pairs < 75);
    assert_true(rows.transfers_count <= 75);
    transfer_sum_clear(sum);
    rows = rows_of(sum);
    assert_int_equal(rows.transfers_count + rows.latencies_count, 0);
    transfer_sum_destroy(sum);
}

static void sums_are_those_of_the_messages(void **state)
{
    (void)state;
    totals_are_exact(1000);
}

static void beyond_its_rows_totals_stay_exact(void **state)
{
    (void)state;
    totals_are_exact(10);
}

static void histogram_has_the_classes_of_size_and_time(void **state)
{
    (void)state;
    struct transfer_sum *sum = make(100);
    struct match_message message = {.bytes = 5000, .transfer_ns = 123456};
    transfer_sum_message(sum, &message);
    transfer_sum_message(sum, &message);
    struct transfer_rows rows = rows_of(sum);
    assert_int_equal(rows.latencies_count, 1);
    assert_int_equal(rows.latencies[0].locality, 0);
    assert_int_equal(rows.latencies[0].size_class, size_class_of(5000));
    assert_int_equal(rows.latencies[0].bucket, time_class_of(123456));
    assert_int_equal(rows.latencies[0].messages, 2);
    transfer_sum_destroy(sum);
}

/* Two nodes with different room see the same keys in different orders. */
static void every_node_picks_the_same_messages(void **state)
{
    (void)state;
    enum { KEYS = 3000 };
    struct wire_criteria few = {.most_halves = 100}, more = {.most_halves = 700};
    struct transfer_sum *one = make(10), *other = make(10);
    transfer_sum_criteria(one, &few);
    transfer_sum_criteria(other, &more);
    uint64_t random = 99;
    static struct match_half halves[KEYS];
    for (int i = 0; i < KEYS; i++)
        halves[i] = (struct match_half){.key = random_next(&random), .enter_ns = 5000};
    for (int i = 0; i < KEYS; i++) {
        transfer_sum_half(one, &halves[i]);
        transfer_sum_half(other, &halves[KEYS - 1 - i]);
    }
    struct transfer_rows a = rows_of(one), b = rows_of(other);
    assert_int_equal(a.halves_count, 100);
    assert_int_equal(b.halves_count, 700);
    assert_int_equal(transfer_sum_sampled(one) + transfer_sum_passed_over(one), KEYS);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(a.halves[i].key == b.halves[i].key);
    assert_true(a.halves[99].key < a.keys_below && a.keys_below == b.halves[100].key);
    assert_int_equal(a.halves[0].begin_ns, 4000);
    assert_int_equal(a.halves[0].local_ns, 4000);
    rows_of(one); /* asked again, the same */
    transfer_sum_half(one, &(struct match_half){.key = 1});
    a = rows_of(one);
    assert_int_equal(a.halves_count, 100);
    assert_true(a.halves[0].key == 1);
    transfer_sum_destroy(one);
    transfer_sum_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_messages),
        cmocka_unit_test(beyond_its_rows_totals_stay_exact),
        cmocka_unit_test(histogram_has_the_classes_of_size_and_time),
        cmocka_unit_test(every_node_picks_the_same_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
