#include "daemon/job/job_validate.h"
#include "daemon/job/rows/latency_rows.h"
#include "holter/error.h"
#include "holter/time_class.h"
#include "tests/daemon/analysis/latency/counted.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static struct wire_transfer_row transfer;
static struct wire_latency_row latency;
static struct wire_half_row half;
static struct wire_pending_row pending;
static struct job_fault fault;

static struct wire_window message_of(void)
{
    transfer = (struct wire_transfer_row){.source = 1,
                                          .destination = 2,
                                          .size_class = 100,
                                          .messages = 3,
                                          .delayed = 1,
                                          .transfer_ns = 9000,
                                          .network_ns = 5000,
                                          .log2_sum = 3 * time_log2(3000)};
    latency = (struct wire_latency_row){0, 100, time_class_of(3000), 3};
    half = (struct wire_half_row){.key = 5,
                                  .receive = 1,
                                  .source = 1,
                                  .destination = 3,
                                  .bytes = 10,
                                  .begin_ns = -20,
                                  .length_ns = 100,
                                  .together = 1,
                                  .local_ns = -20};
    pending = (struct wire_pending_row){.rank = 2, .source = -3, .tag = -2, .waited_ns = 4 * S};
    return (struct wire_window){.window = 7,
                                .length_ns = S,
                                .transfers = &transfer,
                                .transfers_count = 1,
                                .latencies = &latency,
                                .latencies_count = 1,
                                .halves = &half,
                                .halves_count = 1,
                                .pending = &pending,
                                .pending_count = 1};
}

static void assert_wrong(const struct wire_window *message, const char *where)
{
    fault.text[0] = '\0';
    assert_int_equal(job_validate_window(message, 4, &fault), -HOLTER_ERANGE);
    assert_non_null(strstr(fault.text, where));
}

static void honest_rows_are_right(void **state)
{
    (void)state;
    struct wire_window message = message_of();
    assert_int_equal(job_validate_window(&message, 4, &fault), 0);
    transfer.destination = UINT64_MAX; /* several together, of an agent over its budget */
    struct latency_rows rows = {0};
    assert_int_equal(job_validate_window(&message, 4, &fault), 0);
    assert_int_equal(latency_rows_add(&rows, &message), 0);
    assert_int_equal(rows.transfers.rows[0].destination, UINT32_MAX);
    latency_rows_finish(&rows);
}

static void rows_that_contradict_themselves_are_named(void **state)
{
    (void)state;
    struct wire_window message = message_of();
    transfer.destination = 4;
    assert_wrong(&message, "window.transfers[0]");
    message = message_of();
    transfer.delayed = 4;
    assert_wrong(&message, "window.transfers[0]");
    message = message_of();
    transfer.messages = 0;
    assert_wrong(&message, "window.transfers[0]");
    message = message_of();
    transfer.network_ns = UINT64_MAX;
    assert_wrong(&message, "window.transfers[0]");
    message = message_of();
    transfer.late_sender_ns = 3 * UINT64_C(31536000000000000); /* a year for each message */
    assert_int_equal(job_validate_window(&message, 4, &fault), 0);
    transfer.late_sender_ns++;
    assert_wrong(&message, "window.transfers[0]");
    message = message_of();
    transfer.messages = UINT64_C(1) << 40;
    assert_int_equal(job_validate_window(&message, 4, &fault), 0);
    transfer.messages++;
    assert_wrong(&message, "window.transfers[0]");
    message = message_of();
    transfer.messages = UINT64_MAX;
    assert_wrong(&message, "window.transfers[0]");
    message = message_of();
    transfer.log2_sum = UINT64_MAX;
    assert_wrong(&message, "window.transfers[0]");
    message = message_of();
    latency.bucket = TIME_CLASSES;
    assert_wrong(&message, "window.latencies[0]");
    message = message_of();
    latency.size_class = SIZE_CLASSES;
    assert_wrong(&message, "window.latencies[0]");
    message = message_of();
    half.begin_ns = INT64_MIN;
    assert_wrong(&message, "window.halves[0]");
    message = message_of();
    half.source = 4;
    assert_wrong(&message, "window.halves[0]");
    message = message_of();
    pending.rank = 4;
    assert_wrong(&message, "window.pending[0]");
}

static void keep_joined(void *user, const struct joined *message)
{
    *(struct joined *)user = *message;
}

static void times_of_halves_are_made_absolute(void **state)
{
    (void)state;
    struct wire_window message = message_of();
    struct join *join;
    struct joined joined = {0};
    const struct join_params params = {.windows = 2, .most_halves = 100};
    assert_int_equal(join_create(&join, &params), 0);
    message.clock_error_ns = 10;
    assert_int_equal(join_add_window(join, &message, 9, 7), 0);
    /* Sent 25 ns after the receive was entered, as another node reported in the window before. */
    half.receive = 0;
    half.begin_ns = (int64_t)S + 5;
    message.window = 6;
    message.clock_error_ns = 20;
    assert_int_equal(join_add_window(join, &message, 8, 6), 0);
    assert_int_equal(join_close(join, 7, keep_joined, &joined), 0);
    assert_int_equal(joined.source, 1);
    assert_int_equal(joined.destination, 3);
    assert_int_equal(joined.bytes, 10);
    assert_int_equal(joined.window, 7);
    assert_int_equal(joined.transfer_ns, 75);
    assert_int_equal(joined.late_sender_ns, 0); /* 25 are less than the uncertainty of the clocks */
    assert_int_equal(joined.network_ns, 75);
    assert_int_equal(joined.error_ns, 30);
    join_destroy(join);
}

static void a_message_without_halves_reports_what_was_left_out(void **state)
{
    (void)state;
    struct wire_window message = message_of();
    struct join *join;
    struct join_counts counts;
    struct joined joined;
    const struct join_params params = {.windows = 1, .most_halves = 100};
    assert_int_equal(join_create(&join, &params), 0);
    assert_int_equal(join_add_window(join, &message, 9, 7), 0);
    message.halves_count = 0;
    assert_int_equal(join_add_window(join, &message, 8, 7), 0);
    message.keys_below = 1;
    assert_int_equal(join_add_window(join, &message, 8, 7), 0);
    assert_int_equal(join_close(join, 7, keep_joined, &joined), 0);
    assert_int_equal(join_close(join, 9, keep_joined, &joined), 0);
    join_count(join, &counts);
    assert_int_equal(counts.unmatched, 0);
    assert_int_equal(counts.waiting, 0);
    join_destroy(join);
}

static void rows_of_messages_and_of_joined_ones_are_collected_and_moved(void **state)
{
    (void)state;
    struct wire_window message = message_of();
    struct latency_rows rows = {0}, later = {0};
    struct joined joined = {
        .source = 1, .destination = 3, .bytes = 10, .transfer_ns = 80, .network_ns = 60};
    double recent[SIZE_CLASSES];
    for (unsigned c = 0; c < SIZE_CLASSES; c++)
        recent[c] = c == size_class_of(10) ? 79 : NAN;
    assert_int_equal(latency_rows_add(&rows, &message), 0);
    assert_int_equal(counted_messages(&rows.times), 3);
    latency_rows_undo(&rows, &message);
    assert_int_equal(rows.transfers.count + counted_messages(&rows.times), 0);
    assert_int_equal(latency_rows_add(&rows, &message), 0);
    assert_int_equal(latency_rows_add_joined(&rows, &joined, recent), 0);
    assert_int_equal(latency_rows_move(&later, &rows), 0);
    assert_int_equal(rows.transfers.count + counted_messages(&rows.times), 0);
    assert_int_equal(later.transfers.count, 2);
    assert_int_equal(later.transfers.rows[0].locality, LOCALITY_INTRA);
    assert_int_equal(later.transfers.rows[0].transfer_ns, 9000);
    assert_int_equal(later.transfers.rows[1].locality, LOCALITY_INTER);
    assert_int_equal(later.transfers.rows[1].size_class, size_class_of(10));
    assert_int_equal(later.transfers.rows[1].delayed, 1);
    assert_int_equal(counted_messages(&later.times), 4);
    joined.bytes = 5000; /* of a class without a criterion */
    assert_int_equal(latency_rows_add_joined(&later, &joined, recent), 0);
    assert_int_equal(later.transfers.rows[2].delayed, 0);
    const struct histogram *times =
        later.times.cells->of[time_counts_class(LOCALITY_INTER, size_class_of(10))];
    assert_int_equal(histogram_count(times, time_class_of(80)), 1);
    latency_rows_finish(&rows);
    latency_rows_finish(&later);
}

/* For any size and time, classes and logarithms are the same as in agents. */
static void joined_messages_count_in_their_classes(void **state)
{
    (void)state;
    struct latency_rows rows = {0};
    static const int64_t around[] = {-1, 0, 1, 1237};
    double recent[SIZE_CLASSES];
    for (unsigned c = 0; c < SIZE_CLASSES; c++)
        recent[c] = 1000;
    for (unsigned i = 0; i < 4 * 61; i++) {
        const uint64_t ns = (UINT64_C(1) << i / 4) + (uint64_t)around[i % 4];
        const uint64_t bytes = (UINT64_C(3) << (i * 7 % 61)) + (uint64_t)around[i % 4];
        const struct joined unknown = {.source = 9,
                                       .bytes = bytes,
                                       .transfer_ns = ns,
                                       .error_ns = UINT64_MAX},
                            joined = {.source = i,
                                      .bytes = bytes,
                                      .transfer_ns = ns,
                                      .late_sender_ns = 7,
                                      .error_ns = 3 * ns,
                                      .uncertain = 1};
        const unsigned class_ = time_counts_class(LOCALITY_INTER, size_class_of(bytes));
        assert_int_equal(latency_rows_add_joined(&rows, &unknown, recent), 0);
        assert_int_equal(rows.transfers.count, i);
        assert_int_equal(latency_rows_add_joined(&rows, &joined, recent), 0);
        assert_int_equal(rows.transfers.count, i + 1);
        const struct transfer row = rows.transfers.rows[i];
        assert_int_equal(row.source, i);
        assert_int_equal(row.size_class, size_class_of(bytes));
        assert_int_equal(row.messages, 1);
        assert_int_equal(row.delayed, ns > 1000);
        assert_int_equal(row.transfer_ns, ns);
        assert_int_equal(row.error_ns, 3 * ns);
        assert_int_equal(row.late_sender_ns, 7);
        assert_int_equal(row.log2_sum, time_log2(ns));
        const struct histogram *times = rows.times.cells->of[class_];
        assert_true(histogram_count(times, time_class_of(ns)) > 0);
    }
    assert_int_equal(counted_messages(&rows.times), 4 * 61);
    latency_rows_finish(&rows);
}

/* Many rows that fit; then alternately one that fits, two with one figure that does not, and one
 * that fits. */
static void rows_that_fit_and_wide_ones_are_taken_in_their_order(void **state)
{
    (void)state;
    enum { FIT = 150, ROWS = 191 };
    static struct wire_transfer_row from[ROWS];
    struct wire_window message = {.transfers = from, .transfers_count = ROWS};
    struct latency_rows rows = {0};
    for (uint32_t i = 0; i < ROWS; i++)
        from[i] =
            (struct wire_transfer_row){.source = i % 3,
                                       .destination = i == 7 ? UINT64_MAX : i % 2,
                                       .size_class = i,
                                       .messages = i >= FIT && i % 4 == 1 ? 1023 + 1 : i + 1,
                                       .delayed = i,
                                       .transfer_ns = 100 + i,
                                       .late_sender_ns = 200 + i,
                                       .late_receiver_ns = 300 + i,
                                       .network_ns = 400 + i,
                                       .joint_ns = (uint64_t)(i >= FIT && i % 4 == 2) << 32 | i,
                                       .log2_sum = 500 + i};
    for (uint32_t turn = 0; turn < 2; turn++) {
        assert_int_equal(latency_rows_add(&rows, &message), 0);
        assert_int_equal(rows.transfers.count, (turn + 1) * ROWS);
        for (uint32_t i = 0; i < ROWS; i++) {
            const struct transfer row = rows.transfers.rows[turn * ROWS + i];
            assert_int_equal(row.source, from[i].source);
            assert_int_equal(row.destination, (uint32_t)from[i].destination);
            assert_int_equal(row.size_class, i);
            assert_int_equal(row.locality, LOCALITY_INTRA);
#define X(name) assert_int_equal(row.name, from[i].name);
            TRANSFER_SUMS(X)
#undef X
        }
    }
    latency_rows_undo(&rows, &message);
    assert_int_equal(rows.transfers.count, ROWS);
    latency_rows_finish(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_rows_are_right),
        cmocka_unit_test(rows_that_contradict_themselves_are_named),
        cmocka_unit_test(times_of_halves_are_made_absolute),
        cmocka_unit_test(a_message_without_halves_reports_what_was_left_out),
        cmocka_unit_test(rows_of_messages_and_of_joined_ones_are_collected_and_moved),
        cmocka_unit_test(joined_messages_count_in_their_classes),
        cmocka_unit_test(rows_that_fit_and_wide_ones_are_taken_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
