/* Rows of ranks: those of a window, and of the run that windows are added to. */
#include "daemon/analysis/sums/window_sum.h"
#include "tests/daemon/analysis/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NODES 6u
#define RANKS 9u /* of a node, which has every NODES-th one */
#define WORLD (NODES * RANKS)
#define WINDOWS 60u

/* Figures of all windows together, by rank. */
struct known {
    struct wire_rank_row rows[WORLD];
    uint64_t newest[WORLD];
};

static void draw(struct wire_rank_row *row, uint32_t rank, struct noise *noise)
{
    int seldom = noise_uint(noise) % 4 == 0;
    *row = (struct wire_rank_row){.rank = rank,
                                  .in_call = (uint32_t)(noise_uint(noise) % 3),
                                  .in_call_ns = noise_uint(noise) % 50,
                                  .in_call_peer = (int64_t)(noise_uint(noise) % 9) - 3,
                                  .process_state = 'R',
                                  .threads = noise_uint(noise) % 4,
                                  .events = noise_uint(noise) % 100,
                                  .collective_ns = noise_uint(noise) % 100};
    if (seldom) {
        row->lost = noise_uint(noise) % 3;
        row->untracked = noise_uint(noise) % 3;
        row->io_ns = noise_uint(noise) % 3;
    }
}

static void assert_same(const struct wire_rank_row *a, const struct wire_rank_row *b)
{
#define X(name) assert_int_equal(a->name, b->name);
    RANK_SUMS(X)
    X(rank) X(in_call) X(in_call_ns) X(in_call_comm) X(in_call_peer) X(process_state) X(threads)
#undef X
}

static void know(struct known *known, const struct wire_rank_row *row, uint64_t window)
{
    struct wire_rank_row *sum = &known->rows[row->rank];
    struct wire_rank_row before = *sum;
    *sum = *row;
#define X(name) sum->name += before.name;
    RANK_SUMS(X)
#undef X
    sum->threads = before.threads > row->threads ? before.threads : row->threads;
    known->newest[row->rank] = window + 1;
}

/* A node reports some of its ranks, or all. @param all  of the window, by rank; threads of all
 * others 99 */
static void report(struct window_sum *window, uint32_t node, uint32_t count,
                   struct wire_rank_row *all, struct noise *noise)
{
    struct wire_rank_row rows[RANKS];
    for (uint32_t i = 0; i < count; i++) {
        draw(&rows[i], i * NODES + node, noise);
        all[rows[i].rank] = rows[i];
    }
    const struct sum_rows reported = {.ranks = rows, .rank_count = count};
    assert_int_equal(window_sum_update(window, &reported), 0);
}

static void check_window(const struct window_sum *window, const struct wire_rank_row *all,
                         uint64_t number, struct known *known)
{
    struct sum_result made = {0};
    size_t at = 0;
    assert_int_equal(window_sum_result(window, SUM_RANKS, 0, &made), 0);
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        if (all[rank].threads == 99)
            continue;
        assert_true(at < made.rank_count);
        assert_same(&made.ranks[at], &all[rank]);
        know(known, &all[rank], number);
        at++;
    }
    assert_int_equal(at, made.rank_count);
    sum_result_finish(&made);
}

static void check_run(struct run_sum *run, const struct known *known)
{
    struct sum_result made = {0};
    size_t at = 0;
    assert_int_equal(run_sum_result(run, SUM_RANKS, 0, &made), 0);
    for (uint32_t rank = 0; rank < WORLD; rank++)
        if (known->newest[rank] != 0)
            assert_same(&made.ranks[at++], &known->rows[rank]);
    assert_int_equal(at, made.rank_count);
    sum_result_finish(&made);
}

/* Nodes come one by one, report in any order, and now and then not all of their ranks. */
static void report_windows(uint64_t seed, uint32_t first_nodes)
{
    const struct run_sum_limits limits = {
        .ranks = 1000, .pairs = 10, .calls = 10, .comms = 10, .regions = 10};
    struct noise noise = {.state = seed};
    static struct known known;
    struct wire_rank_row all[WORLD];
    struct window_sum *late = NULL;
    struct run_sum *run;
    memset(&known, 0, sizeof(known));
    assert_int_equal(run_sum_create(&run, &limits), 0);
    for (uint64_t w = 0; w < WINDOWS; w++) {
        struct window_sum *window;
        uint64_t nodes = first_nodes + w / 3 < NODES ? first_nodes + w / 3 : NODES;
        assert_int_equal(window_sum_create(&window, run), 0);
        for (uint32_t rank = 0; rank < WORLD; rank++)
            all[rank].threads = 99;
        uint32_t from = (uint32_t)(noise_uint(&noise) % nodes);
        uint32_t missing = noise_uint(&noise) % 8 == 0 ? 2 : 0;
        for (uint32_t i = 0; i < nodes; i++)
            report(window, (uint32_t)((from + i) % nodes), RANKS - missing, all, &noise);
        check_window(window, all, w, &known);
        assert_int_equal(run_sum_update(run, window, w), 0);
        if (noise_uint(&noise) % 5 == 0) /* reported after the window was added: not in the run */
            report(window, 0, RANKS, all, &noise);
        if (noise_uint(&noise) % 5 == 0)
            check_run(run, &known);
        window_sum_destroy(window);
        if (noise_uint(&noise) % 5 == 0)
            check_run(run, &known);
        /* Now and then another window is open. */
        if (late != NULL)
            window_sum_destroy(late);
        late = NULL;
        if (w % 7 == 0)
            assert_int_equal(window_sum_create(&late, run), 0);
    }
    window_sum_destroy(late);
    check_run(run, &known);
    run_sum_destroy(run);
}

static void ranks_of_windows_and_of_the_run_are_sums_of_reports(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 8; seed++)
        report_windows(seed, 1 + (uint32_t)seed % NODES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_windows_and_of_the_run_are_sums_of_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
