/* Bursts of a window, from messages and calls to rows, and that a daemon would take them. */
#include "daemon/analysis/events/burst_gather.h"

#include "holter/call.h"
#include "holter/event.h"
#include "holter/size_class.h"

#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAIRS 20000u
#define BEGIN UINT64_C(500000000000)
#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define AHEAD UINT64_C(7000000000) /* of daemon time */
#define UNKNOWN (PAIRS - 1)        /* number of a pair that is not known */

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int pair_of(const void *user, uint32_t number, struct burst_pair *out)
{
    (void)user;
    out->source = number % 64;
    out->destination = number / 64;
    out->size_class = number % 7;
    return number == UNKNOWN;
}

static const struct burst_names names = {pair_of, NULL};

static uint64_t daemon_time(const void *user, uint64_t mono_ns)
{
    (void)user;
    return mono_ns + AHEAD;
}

static const struct burst_clock clock_of_window = {daemon_time, NULL, BEGIN + AHEAD,
                                                   BEGIN + AHEAD + SECOND};

struct bed {
    struct burst_gather *gather;
    uint64_t messages[PAIRS]; /* put in, by number */
    uint64_t count, bytes;
};

static void make(struct bed *bed)
{
    memset(bed, 0, sizeof *bed);
    assert_int_equal(burst_gather_create(&bed->gather), 0);
}

static void send_message(struct bed *bed, uint64_t time, uint32_t number, uint64_t bytes)
{
    struct burst_log *log = burst_gather_log(bed->gather);
    if (burst_log_full(log))
        burst_gather_messages(bed->gather, &names);
    burst_log_add(log, time, bytes, number);
    bed->messages[number]++;
    bed->count++;
    bed->bytes += bytes;
}

/* What a set takes, it has checked. */
static void check_burst(const struct wire_burst_row *row, const struct wire_burst_pair_row *pairs)
{
    struct burst_pair *copies = calloc(row->pairs + 1, sizeof *copies);
    assert_non_null(copies);
    for (uint64_t i = 0; i < row->pairs; i++)
        copies[i] = (struct burst_pair){(uint32_t)pairs[i].source,
                                        (uint32_t)pairs[i].destination,
                                        (uint32_t)pairs[i].size_class,
                                        0,
                                        pairs[i].messages,
                                        pairs[i].bytes};
    struct burst_sums sums = {
        .first_ns = row->first_ns,
        .last_ns = row->last_ns,
        .time_sum_high = row->time_sum_high,
        .time_sum_low = row->time_sum_low,
        .messages = row->messages,
        .bytes = row->bytes,
        .others = {row->other_messages, row->other_bytes, row->other_pairs},
        .pairs = copies,
        .pair_count = row->pairs,
    };
    struct bursts *set;
    assert_int_equal(bursts_create(&set, &BURSTS_DEFAULTS), 0);
    assert_int_equal(bursts_add(set, &sums), 0);
    bursts_destroy(set);
    free(copies);
}

struct sums {
    uint64_t messages, bytes, others, bursts, calls, call_bytes, call_bursts;
};

static struct sums check_rows(const struct burst_rows *rows, uint64_t most)
{
    struct sums sums = {0};
    uint64_t at = 0;
    assert_true(rows->bursts_count + rows->pairs_count <= (most < 2 ? 2 : most));
    for (uint64_t i = 0; i < rows->bursts_count; i++) {
        const struct wire_burst_row *row = &rows->bursts[i];
        assert_true(i == 0 || row->collective > row[-1].collective ||
                    row->first_ns + row->last_ns >= row[-1].first_ns);
        assert_true(at + row->pairs <= rows->pairs_count);
        check_burst(row, rows->pairs + at);
        for (uint64_t j = at; row->collective && j < at + row->pairs; j++)
            assert_true(rows->pairs[j].destination < rows->collectives_count);
        at += row->pairs;
        sums.others += row->other_messages;
        *(row->collective ? &sums.calls : &sums.messages) += row->messages;
        *(row->collective ? &sums.call_bytes : &sums.bytes) += row->bytes;
        ++*(row->collective ? &sums.call_bursts : &sums.bursts);
    }
    assert_int_equal(at, rows->pairs_count);
    return sums;
}

static struct sums ask(struct bed *bed, uint64_t most, struct burst_rows *rows)
{
    assert_int_equal(burst_gather_rows(bed->gather, &names, &clock_of_window, most, rows), 0);
    struct sums sums = check_rows(rows, most);
    assert_int_equal(sums.messages, bed->count);
    assert_int_equal(sums.bytes, bed->bytes);
    return sums;
}

static void window_without_messages_has_no_rows(void **state)
{
    (void)state;
    struct bed bed;
    struct burst_rows rows;
    make(&bed);
    ask(&bed, BURST_GATHER_ROWS, &rows);
    assert_int_equal(rows.bursts_count + rows.pairs_count + rows.collectives_count, 0);
    burst_gather_destroy(bed.gather);
}

/* Ranks are drained one after the other, so their messages come out of order. */
static void runs_between_pauses_are_distinguished_exactly(void **state)
{
    (void)state;
    struct bed bed;
    struct burst_rows rows;
    uint64_t random = 5, time_sum[3] = {0}, first[3], last[3] = {0}, each = 50 * 40;
    make(&bed);
    memset(first, 0xff, sizeof first);
    for (unsigned rank = 0; rank < 50; rank++)
        for (unsigned i = 0; i < 3 * 40; i++) {
            uint64_t time = BEGIN + i / 40 * 300 * MS + random_next(&random) % (5 * MS);
            send_message(&bed, time, rank, 1 + i / 40);
            time_sum[i / 40] += time - BEGIN;
            first[i / 40] = time < first[i / 40] ? time : first[i / 40];
            last[i / 40] = time > last[i / 40] ? time : last[i / 40];
        }
    /* With up to 32 bursts each has more than one; 3 times 51 rows leave room for 3. */
    ask(&bed, 3 * 51, &rows);
    assert_int_equal(rows.bursts_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct wire_burst_row *row = &rows.bursts[i];
        __extension__ typedef unsigned __int128 wide;
        wide sum = (wide)row->time_sum_high << 64 | row->time_sum_low;
        assert_int_equal(row->messages, each);
        assert_int_equal(row->bytes, each * (i + 1));
        assert_int_equal(row->pairs, 50);
        assert_int_equal(row->first_ns, first[i] + AHEAD);
        assert_int_equal(row->last_ns, last[i] + AHEAD);
        assert_true(sum - (wide)(BEGIN + AHEAD) * each == time_sum[i]);
    }
    assert_int_equal(rows.folded, 0);
    burst_gather_destroy(bed.gather);
}

/* As many moments as bursts: whatever the order, each is one. */
static void moments_are_bursts_while_there_are_few(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct bed bed;
        struct burst_rows rows;
        uint64_t random = seed * 77, count[BURST_GATHER_BURSTS] = {0};
        make(&bed);
        for (unsigned i = 0; i < BURST_GATHER_BURSTS; i++) {
            count[i]++;
            send_message(&bed, BEGIN + (uint64_t)i * i * MS, i, 8);
        }
        for (unsigned i = 0; i < 2000; i++) {
            uint64_t moment = random_next(&random) % BURST_GATHER_BURSTS;
            count[moment]++;
            send_message(&bed, BEGIN + moment * moment * MS, (uint32_t)moment, 8);
        }
        ask(&bed, BURST_GATHER_ROWS, &rows);
        assert_int_equal(rows.bursts_count, BURST_GATHER_BURSTS);
        for (unsigned i = 0; i < BURST_GATHER_BURSTS; i++) {
            assert_int_equal(rows.bursts[i].messages, count[i]);
            assert_int_equal(rows.bursts[i].first_ns, BEGIN + AHEAD + (uint64_t)i * i * MS);
        }
        burst_gather_destroy(bed.gather);
    }
}

/* Every pair's messages are those that were put in, if there is room for all. */
static void pairs_have_the_messages_that_were_put_in(void **state)
{
    (void)state;
    struct bed bed;
    struct burst_rows rows;
    uint64_t random = 99, *told = calloc(PAIRS, sizeof *told);
    assert_non_null(told);
    make(&bed);
    for (unsigned i = 0; i < 30000; i++)
        send_message(&bed, BEGIN + random_next(&random) % SECOND,
                     (uint32_t)(random_next(&random) % 2000), random_next(&random) % 5000);
    struct sums sums = ask(&bed, BURST_GATHER_ROWS, &rows);
    assert_int_equal(sums.others, 0);
    assert_true(rows.bursts_count > 1);
    for (uint64_t i = 0; i < rows.pairs_count; i++)
        told[rows.pairs[i].destination * 64 + rows.pairs[i].source] += rows.pairs[i].messages;
    assert_memory_equal(told, bed.messages, 2000 * sizeof *told);
    for (uint64_t i = 0; i + 1 < rows.bursts_count; i++)
        assert_true(rows.bursts[i].last_ns < rows.bursts[i + 1].first_ns);
    free(told);
    burst_gather_destroy(bed.gather);
}

static void rows_stay_in_bounds_and_sums_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 12; seed++) {
        struct bed bed;
        struct burst_rows rows;
        uint64_t random = seed * 1234567, span = UINT64_C(1) << (10 + 2 * seed);
        make(&bed);
        for (unsigned i = 0; i < 20000; i++) {
            send_message(&bed, BEGIN + random_next(&random) % span,
                         (uint32_t)(random_next(&random) % (seed * 1600)), 1 + i % 100);
            struct burst_call call = {BEGIN + i * 1000, 4, i % 64, 1 + i % 3, 0, PEER_NONE,
                                      CALL_Allreduce};
            if (i % 10 == 0)
                burst_gather_call(bed.gather, BURST_COLLECTIVE, &call);
        }
        for (uint64_t most = BURST_GATHER_ROWS; most > 0; most /= 3) {
            struct sums sums = ask(&bed, most, &rows);
            assert_int_equal(sums.calls, 2000);
            assert_int_equal(sums.call_bytes, 8000);
            assert_int_equal(rows.folded, sums.others > 0);
        }
        burst_gather_destroy(bed.gather);
    }
}

static uint64_t bytes_of_pair(uint32_t number)
{
    return 1 + number * 37 % 10;
}

/* Pairs that keep a row before this one does: those with more bytes, of equal ones those with the
 * lower ranks. */
static uint32_t pairs_before(uint32_t number, uint32_t count)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < count; i++)
        before += bytes_of_pair(i) > bytes_of_pair(number) ||
                  (bytes_of_pair(i) == bytes_of_pair(number) &&
                   i % 64 * PAIRS + i / 64 < number % 64 * PAIRS + number / 64);
    return before;
}

static void pairs_with_the_most_bytes_keep_their_rows(void **state)
{
    (void)state;
    enum { COUNT = 300, KEPT = 120 };
    struct bed bed;
    struct burst_rows rows;
    uint32_t last = 0;
    make(&bed);
    for (uint32_t i = 0; i < COUNT; i++)
        send_message(&bed, BEGIN, i, bytes_of_pair(i));
    struct sums sums = ask(&bed, 1 + KEPT, &rows);
    assert_int_equal(rows.pairs_count, KEPT);
    assert_int_equal(sums.others, COUNT - KEPT);
    for (uint64_t i = 0; i < rows.pairs_count; i++) {
        const uint32_t source = (uint32_t)rows.pairs[i].source;
        const uint32_t destination = (uint32_t)rows.pairs[i].destination;
        assert_true(pairs_before(destination * 64 + source, COUNT) < KEPT);
        assert_true(i == 0 || source * PAIRS + destination > last);
        last = source * PAIRS + destination;
    }
    burst_gather_destroy(bed.gather);
}

static void pair_that_is_not_known_counts_without_a_row(void **state)
{
    (void)state;
    struct bed bed;
    struct burst_rows rows;
    make(&bed);
    for (unsigned i = 0; i < 10; i++)
        send_message(&bed, BEGIN + i, UNKNOWN, 3);
    send_message(&bed, BEGIN, 1, 3);
    struct sums sums = ask(&bed, BURST_GATHER_ROWS, &rows);
    assert_int_equal(sums.others, 10);
    assert_int_equal(rows.pairs_count, 1);
    assert_int_equal(rows.folded, 0);
    burst_gather_destroy(bed.gather);
}

/* Many more messages than the log holds, all the pairs there are, no two at one time. */
static void memory_is_bounded(void **state)
{
    (void)state;
    struct bed bed;
    struct burst_rows rows;
    uint64_t random = 31337;
    const size_t before = memory_used();
    make(&bed);
    for (int window = 0; window < 3; window++) {
        for (unsigned i = 0; i < 400000; i++) {
            uint64_t at = random_next(&random);
            send_message(&bed, BEGIN + at % SECOND, (uint32_t)(at >> 40) % PAIRS, at >> 50);
            struct burst_call call = {BEGIN + at % SECOND, at >> 40,  i, i % 9000, i,
                                      (int32_t)(i % 5000), CALL_Bcast};
            burst_gather_call(bed.gather, i % 2 ? BURST_COLLECTIVE : BURST_INIT, &call);
        }
        struct sums sums = ask(&bed, BURST_GATHER_ROWS, &rows);
        assert_int_equal(sums.calls, 200000);
        assert_int_equal(rows.folded, 1);
        assert_true(memory_used() - before < 16u << 20);
        burst_gather_clear(bed.gather);
        bed.count = bed.bytes = 0;
    }
    burst_gather_destroy(bed.gather);
}

/* Calls of minutes, and nonsense: sums hold, and times are near the window. */
static void hostile_times_and_sizes_do_no_harm(void **state)
{
    (void)state;
    static const uint64_t times[] = {
        0, 1, BEGIN - 400 * SECOND, BEGIN, BEGIN + SECOND, UINT64_MAX / 2, UINT64_MAX - AHEAD};
    uint64_t random = 17, count = 5000;
    struct bed bed;
    struct burst_rows rows;
    make(&bed);
    for (unsigned i = 0; i < count; i++)
        send_message(&bed, times[random_next(&random) % 7] + random_next(&random) % 9, i % 3,
                     UINT64_MAX - i);
    for (uint64_t most = 100; most > 0; most /= 4) {
        assert_int_equal(burst_gather_rows(bed.gather, &names, &clock_of_window, most, &rows), 0);
        assert_int_equal(check_rows(&rows, most).messages, count);
        for (uint64_t i = 0; i < rows.bursts_count; i++) {
            assert_true(rows.bursts[i].first_ns + BURST_GATHER_SLACK_NS >= BEGIN + AHEAD);
            assert_true(rows.bursts[i].last_ns <= BEGIN + AHEAD + SECOND + BURST_GATHER_SLACK_NS);
        }
    }
    burst_gather_destroy(bed.gather);
}

static void call_collective(struct bed *bed, uint16_t number, uint32_t rank, uint32_t comm,
                            int32_t root, uint32_t request)
{
    struct burst_call call = {BEGIN + rank * 1000, 16, rank, comm, request, root, number};
    enum burst_kind kind = burst_kind_of(number);
    if (kind != BURST_NO_COLLECTIVE)
        burst_gather_call(bed->gather, kind, &call);
}

static const struct wire_collective_row *collective_of(const struct burst_rows *rows, uint16_t call)
{
    for (uint64_t i = 0; i < rows->collectives_count; i++)
        if (rows->collectives[i].call == call)
            return &rows->collectives[i];
    return NULL;
}

static void collectives_are_reported_with_roots_and_members(void **state)
{
    (void)state;
    struct bed bed;
    struct burst_rows rows;
    make(&bed);
    for (uint32_t rank = 0; rank < 4; rank++) {
        call_collective(&bed, CALL_Bcast, rank, 2, 3, 0);
        call_collective(&bed, CALL_Iallreduce, rank, 1, PEER_NONE, 5);
        call_collective(&bed, CALL_Reduce_init, rank, 3, 0, 7); /* moves nothing yet */
        call_collective(&bed, CALL_Start, rank, 3, 0, 7);
        call_collective(&bed, CALL_Start, rank, 3, 0, 7);
        call_collective(&bed, CALL_Comm_dup, rank, 1, PEER_NONE, 0);
        call_collective(&bed, CALL_Neighbor_alltoall, rank, 1, PEER_NONE, 0);
        call_collective(&bed, CALL_Waitall, rank, 1, PEER_NONE, 0);
        for (uint64_t i = 0; i < 8; i++) /* twice each: a freed one may come again */
            burst_gather_member(bed.gather,
                                &(struct wire_comm_member_row){2 + i / 2, rank, 3 - rank});
    }
    struct sums sums = ask(&bed, BURST_GATHER_ROWS, &rows);
    assert_int_equal(sums.calls, 16);
    assert_int_equal(rows.collectives_count, 3);
    assert_int_equal(collective_of(&rows, CALL_Bcast)->root, 3);
    assert_int_equal(collective_of(&rows, CALL_Bcast)->comm, 2);
    assert_int_equal(collective_of(&rows, CALL_Iallreduce)->root, PEER_NONE);
    assert_int_equal(collective_of(&rows, CALL_Reduce_init)->comm, 3);
    assert_int_equal(rows.members_count, 8); /* of 2 and 3; nobody names 4 and 5 */
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(rows.members[i].comm, 2 + i / 4);
        assert_int_equal(rows.members[i].rank, i % 4);
        assert_int_equal(rows.members[i].position, 3 - i % 4);
    }
    uint64_t started = 0;
    for (uint64_t i = 0; i < rows.pairs_count; i++)
        started += rows.collectives[rows.pairs[i].destination].call == CALL_Reduce_init
                       ? rows.pairs[i].messages
                       : 0;
    assert_int_equal(started, 8);
    burst_gather_clear(bed.gather); /* requests outlive the window */
    call_collective(&bed, CALL_Startall, 1, 3, 0, 7);
    call_collective(&bed, CALL_Startall, 1, 3, 0, 8);
    ask(&bed, BURST_GATHER_ROWS, &rows);
    assert_int_equal(rows.collectives_count, 2);
    assert_non_null(collective_of(&rows, CALL_Reduce_init));
    assert_non_null(collective_of(&rows, CALL_Startall)); /* nobody saw it made */
    assert_int_equal(rows.members_count, 0);
    burst_gather_destroy(bed.gather);
}

static void without_rows_for_calls_no_collective_is_named(void **state)
{
    (void)state;
    struct bed bed;
    struct burst_rows rows;
    make(&bed);
    send_message(&bed, BEGIN, 1, 1);
    call_collective(&bed, CALL_Bcast, 1, 2, 3, 0);
    call_collective(&bed, CALL_Barrier, 1, 2, PEER_NONE, 0);
    struct sums sums = ask(&bed, 2, &rows);
    assert_int_equal(sums.calls, 2);
    assert_int_equal(rows.collectives_count, 0);
    assert_int_equal(rows.bursts_count, 2);
    burst_gather_destroy(bed.gather);
}

static void shift_moves_all_times(void **state)
{
    (void)state;
    struct wire_burst_row row = {.first_ns = 10, .last_ns = 30, .time_sum_low = 40, .messages = 2};
    burst_rows_shift(&row, 1, -5);
    assert_int_equal(row.first_ns, 5);
    assert_int_equal(row.last_ns, 25);
    assert_int_equal(row.time_sum_low, 30);
    assert_int_equal(row.time_sum_high, 0);
    burst_rows_shift(&row, 1, INT64_MAX);
    assert_int_equal(row.time_sum_high, 1);
    assert_int_equal(row.time_sum_low, 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_without_messages_has_no_rows),
        cmocka_unit_test(runs_between_pauses_are_distinguished_exactly),
        cmocka_unit_test(moments_are_bursts_while_there_are_few),
        cmocka_unit_test(pairs_have_the_messages_that_were_put_in),
        cmocka_unit_test(rows_stay_in_bounds_and_sums_exact),
        cmocka_unit_test(pairs_with_the_most_bytes_keep_their_rows),
        cmocka_unit_test(pair_that_is_not_known_counts_without_a_row),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(hostile_times_and_sizes_do_no_harm),
        cmocka_unit_test(collectives_are_reported_with_roots_and_members),
        cmocka_unit_test(without_rows_for_calls_no_collective_is_named),
        cmocka_unit_test(shift_moves_all_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
