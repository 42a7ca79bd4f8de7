#include "daemon/job/rank_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define FIRST UINT64_C(1000)

/* Figures of a rank in a window: small ones, and ones of all sizes that rise and fall from rank to
 * rank. */
static struct wire_rank_row figures(uint32_t rank, uint64_t window)
{
    const uint64_t polls = window % 3 == 0 ? rank : 0; /* otherwise no rank polls */
    const uint64_t other = rank % 200 < 70 ? 7 : 0;
    return (struct wire_rank_row){.rank = rank,
                                  .sent = rank + window,
                                  .wait_ns = 3 * rank * window,
                                  .polls = polls,
                                  .other_ns = other,
                                  .received_bytes = (window * 2654435761u + rank) << rank / 50 % 30,
                                  .in_call = 5,
                                  .threads = 2};
}

/* Some ranks are idle in some windows; every third window has all ranks. */
static int rests(uint32_t rank, uint64_t window)
{
    return window % 64 > 32 && window % 3 != 0 && (rank + window) % 5 == 0;
}

static void put(struct rank_history *h, uint64_t window, uint32_t ranks)
{
    struct wire_rank_row *rows = calloc(ranks, sizeof(*rows));
    size_t count = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (!rests(rank, window))
            rows[count++] = figures(rank, window);
    }
    rank_history_put(h, window, rows, count);
    free(rows);
}

static void stretches_have_all_windows_of_all_ranks(void **state)
{
    enum { RANKS = 3001, WINDOWS = 130 };
    struct rank_history h;
    struct wire_history m;
    uint64_t next = FIRST, *sent = calloc(RANKS, sizeof(*sent)),
             *wait = calloc(RANKS, sizeof(*wait)), *bytes = calloc(RANKS, sizeof(*bytes)),
             *polls = calloc(RANKS, sizeof(*polls));
    size_t i = 0;
    (void)state;
    rank_history_init(&h);
    for (uint64_t w = FIRST; w < FIRST + WINDOWS; w++)
        put(&h, w, RANKS);
    for (; rank_history_message(&h, i, &m); i++) {
        assert_int_equal(m.first, next);
        assert_true(m.last >= m.first);
        next = m.last + 1;
        for (uint64_t n = 0; n < m.ranks_count; n++) {
            const struct wire_rank_row *row = &m.ranks[n];
            assert_true(n == 0 || row->rank > row[-1].rank);
            assert_int_equal(row->in_call, 0);
            sent[row->rank] += row->sent;
            wait[row->rank] += row->wait_ns;
            bytes[row->rank] += row->received_bytes;
            polls[row->rank] += row->polls;
        }
    }
    assert_int_equal(next, FIRST + WINDOWS);
    assert_true(i > 1 && i < WINDOWS); /* bounded: older windows are merged */
    assert_true(h.stretches.bytes <= RANK_HISTORY_BYTES);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint64_t w = FIRST; w < FIRST + WINDOWS; w++) {
            sent[rank] -= rests(rank, w) ? 0 : figures(rank, w).sent;
            wait[rank] -= rests(rank, w) ? 0 : figures(rank, w).wait_ns;
            bytes[rank] -= rests(rank, w) ? 0 : figures(rank, w).received_bytes;
            polls[rank] -= rests(rank, w) ? 0 : figures(rank, w).polls;
        }
        assert_int_equal(sent[rank], 0);
        assert_int_equal(wait[rank], 0);
        assert_int_equal(bytes[rank], 0);
        assert_int_equal(polls[rank], 0);
    }
    free(sent);
    free(wait);
    free(bytes);
    free(polls);
    rank_history_finish(&h);
}

static void a_correction_is_added_to_its_window(void **state)
{
    struct rank_history h;
    struct wire_history m;
    struct wire_rank_row row = figures(3, FIRST);
    (void)state;
    rank_history_init(&h);
    rank_history_put(&h, FIRST, &row, 1);
    rank_history_put(&h, FIRST + 1, &row, 1);
    rank_history_put(&h, FIRST, &row, 1);
    assert_true(rank_history_message(&h, 0, &m));
    assert_int_equal(m.last, FIRST);
    assert_int_equal(m.ranks_count, 1);
    assert_int_equal(m.ranks[0].sent, 2 * row.sent);
    rank_history_finish(&h);
}

static void of_very_many_ranks_nothing_is_kept(void **state)
{
    struct rank_history h;
    struct wire_history m;
    (void)state;
    rank_history_init(&h);
    put(&h, FIRST, 100);
    assert_true(rank_history_message(&h, 0, &m));
    put(&h, FIRST + 1, 2 * WIRE_PART_ROWS);
    assert_false(rank_history_message(&h, 0, &m));
    put(&h, FIRST + 2, 100);
    assert_false(rank_history_message(&h, 0, &m));
    assert_int_equal(h.stretches.bytes, 0);
    rank_history_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_have_all_windows_of_all_ranks),
        cmocka_unit_test(a_correction_is_added_to_its_window),
        cmocka_unit_test(of_very_many_ranks_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
