/* Window messages in groups of ranks, against sums over all rows. */
#include "daemon/analysis/groups/rank_groups.h"

#include "holter/event.h"
#include "tests/daemon/analysis/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORLD = 64, ROWS = 200, BURSTS = 6, NODE = 5 };

/* A random message, and its rows. */
struct message {
    struct wire_window window;
    struct wire_rank_row ranks[WORLD];
    struct wire_pair_row pairs[ROWS];
    struct wire_call_row calls[ROWS];
    struct wire_transfer_row transfers[ROWS];
    struct wire_burst_row bursts[BURSTS];
    struct wire_burst_pair_row burst_pairs[ROWS];
    struct wire_half_row half;
    struct wire_death_row death;
    struct wire_pending_row pending;
    struct wire_process_row process;
};

static uint64_t below(struct noise *noise, uint64_t end)
{
    return noise_uint(noise) % end;
}

/* Set all columns of a row to random numbers. */
#define FILL(noise, row)                                                                           \
    for (uint64_t *at = (uint64_t *)&(row); at < (uint64_t *)(&(row) + 1); at++)                   \
    *at = below(noise, 1000)

static void message_fill_bursts(struct message *m, struct noise *noise)
{
    uint64_t rows = 0;
    for (uint64_t i = 0; i < BURSTS; i++) {
        struct wire_burst_row *b = &m->bursts[i];
        FILL(noise, *b);
        b->collective = i % 3 == 1;
        b->pairs = below(noise, ROWS / BURSTS);
        b->messages = b->other_messages = 5 + below(noise, 5);
        b->bytes = b->other_bytes = below(noise, 1000);
        b->other_pairs = below(noise, 5);
        for (uint64_t k = 0; k < b->pairs; k++, rows++) {
            m->burst_pairs[rows] = (struct wire_burst_pair_row){
                below(noise, WORLD), below(noise, WORLD), below(noise, 2), 1 + below(noise, 9),
                below(noise, 1000)};
            b->messages += m->burst_pairs[rows].messages;
            b->bytes += m->burst_pairs[rows].bytes;
        }
    }
    m->window.burst_pairs_count = rows;
}

static void message_fill(struct message *m, struct noise *noise)
{
    memset(m, 0, sizeof(*m));
    for (uint64_t i = 0; i < WORLD; i++) {
        FILL(noise, m->ranks[i]);
        m->ranks[i].rank = i;
    }
    for (uint64_t i = 0; i < ROWS; i++) {
        m->pairs[i] =
            (struct wire_pair_row){below(noise, WORLD), (int64_t)below(noise, WORLD + 1) - 1,
                                   below(noise, 2),     below(noise, 2),
                                   below(noise, 2),     below(noise, 100),
                                   below(noise, 1000)};
        FILL(noise, m->calls[i]);
        m->calls[i].rank = below(noise, WORLD);
        m->calls[i].call = below(noise, 3);
        m->calls[i].comm = m->calls[i].region = below(noise, 2);
        FILL(noise, m->transfers[i]);
        m->transfers[i].source = below(noise, WORLD);
        m->transfers[i].destination = i % 9 == 0 ? UINT64_MAX : below(noise, WORLD);
        m->transfers[i].size_class = below(noise, 2);
    }
    struct wire_window *w = &m->window;
    *w = (struct wire_window){.window = 7,
                              .job = "j",
                              .ranks = m->ranks,
                              .ranks_count = below(noise, WORLD + 1),
                              .pairs = m->pairs,
                              .pairs_count = below(noise, ROWS + 1),
                              .calls = m->calls,
                              .calls_count = below(noise, ROWS + 1),
                              .transfers = m->transfers,
                              .transfers_count = below(noise, ROWS + 1),
                              .bursts = m->bursts,
                              .bursts_count = BURSTS,
                              .burst_pairs = m->burst_pairs,
                              .halves = &m->half,
                              .halves_count = 1,
                              .deaths = &m->death,
                              .deaths_count = 1,
                              .pending = &m->pending,
                              .pending_count = 1,
                              .processes = &m->process,
                              .processes_count = 1};
    m->half.source = m->death.rank = WORLD - 1;
    message_fill_bursts(m, noise);
}

static uint64_t group_of(uint64_t rank, unsigned shift)
{
    const uint64_t size = UINT64_C(1) << shift;
    return rank == UINT64_MAX ? UINT64_MAX : rank / size * size;
}

/* Does the row of the message belong to the row of groups? */
static int in_rank(const struct wire_rank_row *in, const struct wire_rank_row *out, unsigned shift)
{
    return group_of(in->rank, shift) == out->rank;
}

static int in_pair(const struct wire_pair_row *in, const struct wire_pair_row *out, unsigned shift)
{
    return group_of(in->source, shift) == out->source &&
           group_of((uint64_t)in->destination, shift) == (uint64_t)out->destination &&
           in->comm == out->comm && in->region == out->region && in->size_class == out->size_class;
}

static int in_call(const struct wire_call_row *in, const struct wire_call_row *out, unsigned shift)
{
    return group_of(in->rank, shift) == out->rank && in->call == out->call &&
           in->comm == out->comm && in->region == out->region;
}

static int in_transfer(const struct wire_transfer_row *in, const struct wire_transfer_row *out,
                       unsigned shift)
{
    (void)shift; /* the node stands for all of its ranks */
    return out->source == NODE && out->destination == NODE && in->size_class == out->size_class;
}

static int in_burst_pair(const struct wire_burst_pair_row *in,
                         const struct wire_burst_pair_row *out, unsigned shift)
{
    return group_of(in->source, shift) == out->source &&
           group_of(in->destination, shift) == out->destination &&
           in->size_class == out->size_class;
}

/* Every row of the message is in exactly one row of groups, and no row of groups is without one. */
#define ASSERT_COVERED(in_row, in, in_count, out, out_count, shift)                                \
    do {                                                                                           \
        for (uint64_t i_ = 0; i_ < (in_count); i_++) {                                             \
            int rows_ = 0;                                                                         \
            for (uint64_t o_ = 0; o_ < (out_count); o_++)                                          \
                rows_ += in_row(&(in)[i_], &(out)[o_], shift);                                     \
            assert_int_equal(rows_, 1);                                                            \
        }                                                                                          \
        for (uint64_t o_ = 0; o_ < (out_count); o_++) {                                            \
            int rows_ = 0;                                                                         \
            for (uint64_t i_ = 0; i_ < (in_count); i_++)                                           \
                rows_ += in_row(&(in)[i_], &(out)[o_], shift);                                     \
            assert_true(rows_ > 0);                                                                \
        }                                                                                          \
    } while (0)

/* A column of every row of groups is the sum, or the maximum, over its rows of the message. */
#define ASSERT_COLUMN(in_row, in, in_count, out, out_count, shift, column, largest)                \
    for (uint64_t o_ = 0; o_ < (out_count); o_++) {                                                \
        uint64_t sum_ = 0;                                                                         \
        for (uint64_t i_ = 0; i_ < (in_count); i_++) {                                             \
            uint64_t add_ = in_row(&(in)[i_], &(out)[o_], shift) ? (in)[i_].column : 0;            \
            sum_ = !(largest) ? sum_ + add_ : add_ > sum_ ? add_ : sum_;                           \
        }                                                                                          \
        assert_int_equal((out)[o_].column, sum_);                                                  \
    }

static void check_ranks(const struct message *m, const struct wire_window *out, unsigned shift)
{
    ASSERT_COVERED(in_rank, m->window.ranks, m->window.ranks_count, out->ranks, out->ranks_count,
                   shift);
#define SUM(column)                                                                                \
    ASSERT_COLUMN(in_rank, m->window.ranks, m->window.ranks_count, out->ranks, out->ranks_count,   \
                  shift, column, 0)
    SUM(events)
    SUM(lost)
    SUM(calls)
    SUM(polls)
    SUM(sent)
    SUM(sent_bytes)
    SUM(received)
    SUM(received_bytes)
    SUM(send_ns)
    SUM(recv_ns)
    SUM(wait_ns)
    SUM(poll_ns)
    SUM(collective_ns)
    SUM(one_sided_ns)
    SUM(io_ns)
    SUM(other_ns)
    SUM(untracked)
    SUM(send_wait_ns)
    SUM(tallied)
#undef SUM
    ASSERT_COLUMN(in_rank, m->window.ranks, m->window.ranks_count, out->ranks, out->ranks_count,
                  shift, threads, 1)
    uint64_t ranks = 0;
    for (uint64_t i = 0; i < out->ranks_count; i++) {
        ranks += out->ranks[i].ranks;
        assert_int_equal(out->ranks[i].in_call, 0);
        assert_int_equal(out->ranks[i].in_call_peer, PEER_NONE);
        assert_int_equal(out->ranks[i].awaited, 0);
    }
    assert_int_equal(ranks, m->window.ranks_count);
}

static void check_pairs_and_calls(const struct message *m, const struct wire_window *out,
                                  unsigned shift)
{
    const struct wire_window *w = &m->window;
    ASSERT_COVERED(in_pair, w->pairs, w->pairs_count, out->pairs, out->pairs_count, shift);
    ASSERT_COLUMN(in_pair, w->pairs, w->pairs_count, out->pairs, out->pairs_count, shift, messages,
                  0)
    ASSERT_COLUMN(in_pair, w->pairs, w->pairs_count, out->pairs, out->pairs_count, shift, bytes, 0)
    ASSERT_COVERED(in_call, w->calls, w->calls_count, out->calls, out->calls_count, shift);
#define SUM(column, largest)                                                                       \
    ASSERT_COLUMN(in_call, w->calls, w->calls_count, out->calls, out->calls_count, shift, column,  \
                  largest)
    SUM(calls, 0)
    SUM(bytes, 0)
    SUM(bytes_in, 0)
    SUM(time_ns, 0)
    SUM(longest_ns, 1)
    SUM(polls, 0)
#undef SUM
}

static void check_transfers(const struct message *m, const struct wire_window *out, unsigned shift)
{
    const struct wire_window *w = &m->window;
    ASSERT_COVERED(in_transfer, w->transfers, w->transfers_count, out->transfers,
                   out->transfers_count, shift);
#define SUM(column)                                                                                \
    ASSERT_COLUMN(in_transfer, w->transfers, w->transfers_count, out->transfers,                   \
                  out->transfers_count, shift, column, 0)
    SUM(messages)
    SUM(delayed)
    SUM(transfer_ns)
    SUM(late_sender_ns)
    SUM(late_receiver_ns)
    SUM(network_ns)
    SUM(joint_ns)
    SUM(log2_sum)
    SUM(send_wait_ns)
#undef SUM
}

static void check_bursts(const struct message *m, const struct wire_window *out, unsigned shift)
{
    const struct wire_burst_pair_row *in = m->burst_pairs, *rows = out->burst_pairs;
    assert_int_equal(out->bursts_count, m->window.bursts_count);
    for (uint64_t i = 0; i < out->bursts_count; i++) {
        const struct wire_burst_row *b = &out->bursts[i], *was = &m->bursts[i];
        uint64_t messages = b->other_messages, bytes = b->other_bytes;
        assert_int_equal(b->messages, was->messages);
        assert_int_equal(b->first_ns, was->first_ns);
        for (uint64_t k = 0; k < b->pairs; k++) {
            messages += rows[k].messages;
            bytes += rows[k].bytes;
        }
        assert_int_equal(messages, was->messages);
        assert_int_equal(bytes, was->bytes);
        if (was->collective) {
            assert_int_equal(b->pairs, 0);
        } else {
            ASSERT_COVERED(in_burst_pair, in, was->pairs, rows, b->pairs, shift);
            ASSERT_COLUMN(in_burst_pair, in, was->pairs, rows, b->pairs, shift, messages, 0)
            ASSERT_COLUMN(in_burst_pair, in, was->pairs, rows, b->pairs, shift, bytes, 0)
        }
        in += was->pairs;
        rows += b->pairs;
    }
    assert_int_equal(rows - out->burst_pairs, out->burst_pairs_count);
}

static void rows_of_groups_are_the_sums_of_the_rows_of_their_ranks(void **state)
{
    (void)state;
    struct noise noise = {20261127};
    struct rank_groups groups = {0};
    static struct message message;
    for (int i = 0; i < 200; i++) {
        unsigned shift = (unsigned)(i % 7);
        struct wire_window out;
        message_fill(&message, &noise);
        assert_int_equal(rank_groups_convert(&groups, &message.window, shift, NODE, &out), 0);
        check_ranks(&message, &out, shift);
        check_pairs_and_calls(&message, &out, shift);
        check_transfers(&message, &out, shift);
        check_bursts(&message, &out, shift);
    }
    rank_groups_finish(&groups);
}

static void processes_of_a_node_are_one_row_with_the_mean_of_their_clocks(void **state)
{
    (void)state;
    struct rank_groups groups = {0};
    const struct wire_process_row processes[] = {
        {.rank = 1, .length_ns = 10, .user_ns = 7, .samples = 4, .blocked = 1, .clock_khz = 3000},
        {.rank = 6, .length_ns = 10, .user_ns = 2, .samples = 4, .blocked = 3, .clock_khz = 2000}};
    const struct wire_process_row sum = {
        .rank = NODE, .length_ns = 20, .user_ns = 9, .samples = 8, .blocked = 4, .clock_khz = 2500};
    struct wire_window out, window = {.processes = processes, .processes_count = 2};
    assert_int_equal(rank_groups_convert(&groups, &window, 3, NODE, &out), 0);
    assert_int_equal(out.processes_count, 1);
    assert_memory_equal(out.processes, &sum, sizeof(sum));
    rank_groups_finish(&groups);
}

/* Agents do not know the clock of a process that has only waited so far. */
static void a_clock_that_is_not_known_is_not_in_the_mean_of_the_others(void **state)
{
    (void)state;
    struct rank_groups groups = {0};
    struct wire_process_row processes[] = {{.rank = 1, .length_ns = 10, .clock_khz = 3000},
                                           {.rank = 2, .length_ns = 10},
                                           {.rank = 6, .length_ns = 10, .clock_khz = 2000},
                                           {.rank = 7, .length_ns = 10}};
    struct wire_window out, window = {.processes = processes, .processes_count = 4};
    assert_int_equal(rank_groups_convert(&groups, &window, 3, NODE, &out), 0);
    assert_int_equal(out.processes[0].length_ns, 40);
    assert_int_equal(out.processes[0].clock_khz, 2500);
    processes[0].clock_khz = processes[2].clock_khz = 0;
    assert_int_equal(rank_groups_convert(&groups, &window, 3, NODE, &out), 0);
    assert_int_equal(out.processes[0].clock_khz, 0);
    rank_groups_finish(&groups);
}

static void what_is_of_single_ranks_is_left_out_or_keeps_its_ranks(void **state)
{
    (void)state;
    struct noise noise = {1};
    struct rank_groups groups = {0};
    static struct message message;
    struct wire_window out;
    message_fill(&message, &noise);
    assert_int_equal(rank_groups_convert(&groups, &message.window, 3, NODE, &out), 0);
    assert_int_equal(out.window, 7);
    assert_int_equal(out.pending_count + out.collectives_count, 0);
    assert_int_equal(out.halves[0].source, WORLD - 1);
    assert_int_equal(out.deaths[0].rank, WORLD - 1);
    rank_groups_finish(&groups);
}

static void a_message_without_rows_stays_without_rows(void **state)
{
    (void)state;
    struct rank_groups groups = {0};
    struct wire_window empty = {.window = 7}, out;
    assert_int_equal(rank_groups_convert(&groups, &empty, 3, NODE, &out), 0);
    assert_int_equal(out.ranks_count + out.pairs_count + out.calls_count + out.bursts_count, 0);
    rank_groups_finish(&groups);
}

static void only_jobs_above_the_threshold_have_groups(void **state)
{
    (void)state;
    assert_int_equal(rank_groups_shift(0, 65536), 0);
    assert_int_equal(rank_groups_shift(65536, 65536), 0);
    assert_int_equal(rank_groups_shift(65537, 65536), 8); /* 257 groups of 256 */
    assert_int_equal(rank_groups_shift(1u << 20, 65536), 11);
    assert_int_equal(rank_groups_shift((1u << 20) + 1, 65536), 12);
    assert_int_equal(rank_groups_shift(16, 4), 2);
    assert_int_equal(rank_groups_shift(17, 4), 3);
    assert_int_equal(rank_groups_shift(17, 1), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_groups_are_the_sums_of_the_rows_of_their_ranks),
        cmocka_unit_test(processes_of_a_node_are_one_row_with_the_mean_of_their_clocks),
        cmocka_unit_test(a_clock_that_is_not_known_is_not_in_the_mean_of_the_others),
        cmocka_unit_test(what_is_of_single_ranks_is_left_out_or_keeps_its_ranks),
        cmocka_unit_test(a_message_without_rows_stays_without_rows),
        cmocka_unit_test(only_jobs_above_the_threshold_have_groups),
    };
    return cmocka_run_group_tests_name("rank_groups", tests, NULL, NULL);
}
