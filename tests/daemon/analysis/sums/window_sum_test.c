#include "daemon/analysis/sums/window_sum.h"

#include "tests/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct run_sum_limits roomy = {
    .ranks = 1u << 20, .pairs = 1u << 24, .calls = 1u << 24, .comms = 1000, .regions = 1000};

static uint64_t random_below(uint64_t *state, uint64_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % bound;
}

/* What an agent of a synthetic job reports in a window. Communicators and regions are positions in
 * the lists below. */
#define COMMS 4u
#define REGIONS 3u
#define RANKS 8u
#define PAIRS 60u
#define CALLS 40u

static const uint64_t comm_ids[COMMS] = {900, 1, 77, 0};
static const char *const region_names[REGIONS] = {"", "solve", "io"};

struct report {
    struct wire_rank_row ranks[RANKS];
    struct wire_pair_row pairs[PAIRS];
    struct wire_call_row calls[CALLS];
};

static void make_report(struct report *r, uint32_t agent, uint64_t window)
{
    uint64_t random = agent * 1000 + window + 1;
    memset(r, 0, sizeof(*r));
    for (uint32_t i = 0; i < RANKS; i++) {
        uint64_t n = random_below(&random, 1000);
        r->ranks[i] = (struct wire_rank_row){.rank = agent * RANKS + i,
                                             .events = n,
                                             .calls = n + 1,
                                             .sent = n,
                                             .wait_ns = 10 * n,
                                             .threads = 1 + n % 3,
                                             .in_call = (uint32_t)(n % 5),
                                             .in_call_ns = n * 7,
                                             .untracked = n % 2};
    }
    for (uint32_t i = 0; i < PAIRS; i++)
        r->pairs[i] =
            (struct wire_pair_row){.source = agent * RANKS + (uint32_t)random_below(&random, RANKS),
                                   .destination = (int32_t)random_below(&random, 64) - 1,
                                   .comm = (uint32_t)random_below(&random, COMMS),
                                   .region = (uint16_t)random_below(&random, REGIONS),
                                   .size_class = (uint16_t)random_below(&random, 4),
                                   .messages = 1 + random_below(&random, 100),
                                   .bytes = random_below(&random, 100000)};
    for (uint32_t i = 0; i < CALLS; i++)
        r->calls[i] =
            (struct wire_call_row){.rank = agent * RANKS + (uint32_t)random_below(&random, RANKS),
                                   .call = 1 + (uint32_t)random_below(&random, 10),
                                   .comm = (uint32_t)random_below(&random, COMMS),
                                   .region = (uint32_t)random_below(&random, REGIONS),
                                   .calls = 1 + random_below(&random, 9),
                                   .time_ns = random_below(&random, 1000),
                                   .longest_ns = random_below(&random, 500)};
}

/* Add rows first to last of a report, with the numbers that this run gives to communicators and
 * regions. */
static void add_part(struct run_sum *run, struct window_sum *window, const struct report *report,
                     size_t first, size_t last)
{
    struct report r = *report;
    uint32_t comm[COMMS], region[REGIONS];
    for (uint32_t i = 0; i < COMMS; i++) {
        struct wire_comm_row row = {.id = comm_ids[i], .size = 8};
        comm[i] = (uint32_t)run_sum_comm(run, &row);
    }
    for (uint32_t i = 0; i < REGIONS; i++)
        region[i] = (uint32_t)run_sum_region(run, region_names[i]);
    for (uint32_t i = 0; i < PAIRS; i++) {
        r.pairs[i].comm = comm[r.pairs[i].comm];
        r.pairs[i].region = (uint16_t)region[r.pairs[i].region];
    }
    for (uint32_t i = 0; i < CALLS; i++) {
        r.calls[i].comm = comm[r.calls[i].comm];
        r.calls[i].region = region[r.calls[i].region];
    }
    struct sum_rows rows = {.ranks = r.ranks,
                            .rank_count = first == 0 ? RANKS : 0,
                            .pairs = r.pairs + first,
                            .pair_count = last - first,
                            .calls = r.calls,
                            .call_count = first == 0 ? CALLS : 0};
    assert_int_equal(window_sum_update(window, &rows), 0);
}

static void add(struct run_sum *run, struct window_sum *window, uint32_t agent, uint64_t number)
{
    struct report report;
    make_report(&report, agent, number);
    add_part(run, window, &report, 0, PAIRS);
}

static void assert_same_pair(const struct wire_pair_row *a, const struct wire_pair_row *b)
{
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->destination, b->destination);
    assert_int_equal(a->comm, b->comm);
    assert_int_equal(a->region, b->region);
    assert_int_equal(a->size_class, b->size_class);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->bytes, b->bytes);
}

static void assert_same_results(const struct sum_result *a, const struct sum_result *b)
{
    assert_int_equal(a->rank_count, b->rank_count);
    assert_int_equal(a->pair_count, b->pair_count);
    assert_int_equal(a->call_count, b->call_count);
    assert_int_equal(a->comm_count, b->comm_count);
    assert_int_equal(a->region_count, b->region_count);
    assert_int_equal(a->folded, b->folded);
    for (size_t i = 0; i < a->rank_count; i++)
        assert_memory_equal(&a->ranks[i], &b->ranks[i], sizeof(a->ranks[i]));
    for (size_t i = 0; i < a->pair_count; i++)
        assert_same_pair(&a->pairs[i], &b->pairs[i]);
    for (size_t i = 0; i < a->call_count; i++)
        assert_memory_equal(&a->calls[i], &b->calls[i], sizeof(a->calls[i]));
    for (size_t i = 0; i < a->comm_count; i++)
        assert_int_equal(a->comms[i].id, b->comms[i].id);
    for (size_t i = 0; i < a->region_count; i++)
        assert_string_equal(a->regions[i].name, b->regions[i].name);
}

static void assert_same_windows(const struct window_sum *a, const struct window_sum *b)
{
    struct sum_result x = {0}, y = {0};
    for (int part = SUM_RANKS; part <= SUM_CALLERS; part++) {
        assert_int_equal(window_sum_result(a, (enum sum_part)part, SIZE_MAX, &x), 0);
        assert_int_equal(window_sum_result(b, (enum sum_part)part, SIZE_MAX, &y), 0);
        assert_same_results(&x, &y);
    }
    sum_result_finish(&x);
    sum_result_finish(&y);
}

static void assert_same_runs(struct run_sum *a, struct run_sum *b)
{
    struct sum_result x = {0}, y = {0};
    for (int part = SUM_RANKS; part <= SUM_CALLERS; part++) {
        assert_int_equal(run_sum_result(a, (enum sum_part)part, SIZE_MAX, &x), 0);
        assert_int_equal(run_sum_result(b, (enum sum_part)part, SIZE_MAX, &y), 0);
        assert_same_results(&x, &y);
    }
    sum_result_finish(&x);
    sum_result_finish(&y);
}

struct pair_of_runs {
    struct run_sum *run;
    struct window_sum *window;
};

static void open_run(struct pair_of_runs *r)
{
    assert_int_equal(run_sum_create(&r->run, &roomy), 0);
    assert_int_equal(window_sum_create(&r->window, r->run), 0);
}

static void close_run(struct pair_of_runs *r)
{
    window_sum_destroy(r->window);
    run_sum_destroy(r->run);
}

static void the_order_in_which_nodes_report_does_not_show(void **state)
{
    struct pair_of_runs a, b;
    (void)state;
    open_run(&a);
    open_run(&b);
    for (uint32_t agent = 0; agent < 8; agent++)
        add(a.run, a.window, agent, 5);
    for (uint32_t i = 0; i < 8; i++)
        add(b.run, b.window, (i * 5 + 3) % 8, 5);
    assert_same_windows(a.window, b.window);
    close_run(&a);
    close_run(&b);
}

static void how_reports_are_cut_into_messages_does_not_show(void **state)
{
    struct pair_of_runs a, b;
    struct report report;
    (void)state;
    open_run(&a);
    open_run(&b);
    make_report(&report, 3, 1);
    add_part(a.run, a.window, &report, 0, PAIRS);
    add_part(b.run, b.window, &report, 40, PAIRS);
    add_part(b.run, b.window, &report, 0, 17);
    add_part(b.run, b.window, &report, 17, 40);
    assert_same_windows(a.window, b.window);
    close_run(&a);
    close_run(&b);
}

static void windows_add_up_to_the_run_in_any_order(void **state)
{
    struct pair_of_runs a, b;
    (void)state;
    open_run(&a);
    open_run(&b);
    for (uint64_t i = 0; i < 6; i++) {
        struct window_sum *x, *y;
        uint64_t other = (i * 5 + 2) % 6;
        assert_int_equal(window_sum_create(&x, a.run), 0);
        assert_int_equal(window_sum_create(&y, b.run), 0);
        for (uint32_t agent = 0; agent < 3; agent++) {
            add(a.run, x, agent, i);
            add(b.run, y, 2 - agent, other);
        }
        assert_int_equal(run_sum_update(a.run, x, i), 0);
        assert_int_equal(run_sum_update(b.run, y, other), 0);
        window_sum_destroy(x);
        window_sum_destroy(y);
    }
    assert_same_runs(a.run, b.run);
    struct sum_result result = {0};
    assert_int_equal(run_sum_result(a.run, SUM_RANKS, 0, &result), 0);
    uint64_t sent = 0, total = 0;
    for (uint64_t i = 0; i < 6; i++) {
        for (uint32_t agent = 0; agent < 3; agent++) {
            struct report report;
            make_report(&report, agent, i);
            for (uint32_t r = 0; r < RANKS; r++)
                sent += report.ranks[r].sent;
        }
    }
    for (size_t i = 0; i < result.rank_count; i++)
        total += result.ranks[i].sent;
    assert_int_equal(total, sent);
    assert_int_equal(result.rank_count, 3 * RANKS);
    sum_result_finish(&result);
    close_run(&a);
    close_run(&b);
}

static void an_empty_window_changes_nothing(void **state)
{
    struct pair_of_runs a, b;
    struct window_sum *empty;
    (void)state;
    open_run(&a);
    open_run(&b);
    add(a.run, a.window, 1, 1);
    add(b.run, b.window, 1, 1);
    assert_int_equal(run_sum_update(a.run, a.window, 1), 0);
    assert_int_equal(run_sum_update(b.run, b.window, 1), 0);
    assert_int_equal(window_sum_create(&empty, b.run), 0);
    assert_int_equal(run_sum_update(b.run, empty, 2), 0);
    assert_same_runs(a.run, b.run);
    window_sum_destroy(empty);
    close_run(&a);
    close_run(&b);
}

static void rows_come_in_canonical_order_and_name_what_is_listed(void **state)
{
    struct pair_of_runs a;
    struct sum_result r = {0};
    (void)state;
    open_run(&a);
    add(a.run, a.window, 2, 1);
    assert_int_equal(window_sum_result(a.window, SUM_PAIRS, SIZE_MAX, &r), 0);
    assert_int_equal(r.comms[0].id, 0);
    assert_string_equal(r.regions[0].name, "");
    for (size_t i = 1; i < r.comm_count; i++)
        assert_true(r.comms[i - 1].id < r.comms[i].id);
    for (size_t i = 0; i < r.pair_count; i++) {
        assert_true(r.pairs[i].comm < r.comm_count && r.pairs[i].region < r.region_count);
        if (i > 0)
            assert_true(r.pairs[i - 1].source < r.pairs[i].source ||
                        (r.pairs[i - 1].source == r.pairs[i].source &&
                         r.pairs[i - 1].destination <= r.pairs[i].destination));
    }
    sum_result_finish(&r);
    close_run(&a);
}

static void the_call_in_progress_is_that_of_the_newest_window(void **state)
{
    struct pair_of_runs a;
    struct sum_result r = {0};
    (void)state;
    open_run(&a);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t number = (uint64_t[]){4, 9, 2}[i];
        struct window_sum *w;
        struct wire_rank_row row = {
            .rank = 3, .in_call = (uint32_t)number, .in_call_ns = 100 - number};
        assert_int_equal(window_sum_create(&w, a.run), 0);
        assert_int_equal(window_sum_update(w, &(struct sum_rows){.ranks = &row, .rank_count = 1}),
                         0);
        assert_int_equal(run_sum_update(a.run, w, number), 0);
        window_sum_destroy(w);
    }
    assert_int_equal(run_sum_result(a.run, SUM_RANKS, 0, &r), 0);
    assert_int_equal(r.rank_count, 1);
    assert_int_equal(r.ranks[0].in_call, 9);
    sum_result_finish(&r);
    close_run(&a);
}

static void a_communicator_on_which_no_call_has_ended_is_named_by_the_call_in_progress(void **state)
{
    struct pair_of_runs a;
    struct sum_result r = {0};
    const struct wire_comm_row comm = {.id = 77, .size = 4, .name = "row"};
    struct wire_rank_row row = {.rank = 3, .in_call = 9, .in_call_comm = 77};
    (void)state;
    open_run(&a);
    assert_true(run_sum_comm(a.run, &comm) > 0);
    assert_int_equal(
        window_sum_update(a.window, &(struct sum_rows){.ranks = &row, .rank_count = 1}), 0);
    assert_int_equal(window_sum_result(a.window, SUM_CALLS, 0, &r), 0);
    assert_int_equal(r.comm_count, 2);
    assert_int_equal(r.comms[1].id, 77);
    assert_int_equal(r.comms[1].size, 4);
    sum_result_finish(&r);
    close_run(&a);
}

static void calls_count_each_rank_once(void **state)
{
    struct pair_of_runs a;
    struct sum_result r = {0};
    (void)state;
    open_run(&a);
    for (uint32_t i = 0; i < 12; i++) { /* four ranks, three reports each */
        struct wire_call_row row = {
            .rank = i % 4, .call = 40, .calls = 1, .time_ns = 5, .longest_ns = i};
        assert_int_equal(
            window_sum_update(a.window, &(struct sum_rows){.calls = &row, .call_count = 1}), 0);
    }
    assert_int_equal(window_sum_result(a.window, SUM_CALLS, 0, &r), 0);
    assert_int_equal(r.call_count, 1);
    assert_int_equal(r.calls[0].rank, 4);
    assert_int_equal(r.calls[0].calls, 12);
    assert_int_equal(r.calls[0].longest_ns, 11);
    assert_int_equal(run_sum_update(a.run, a.window, 1), 0);
    assert_int_equal(run_sum_update(a.run, a.window, 2), 0);
    assert_int_equal(run_sum_result(a.run, SUM_CALLS, 0, &r), 0);
    assert_int_equal(r.calls[0].rank, 4);
    assert_int_equal(r.calls[0].calls, 24);
    sum_result_finish(&r);
    close_run(&a);
}

static void assert_caller(const struct wire_call_row *row, uint32_t rank, uint32_t call,
                          uint64_t calls, uint64_t time_ns)
{
    assert_int_equal(row->rank, rank);
    assert_int_equal(row->call, call);
    assert_int_equal(row->calls, calls);
    assert_int_equal(row->time_ns, time_ns);
    assert_int_equal(row->bytes, 3 * calls);
    assert_int_equal(row->bytes_in, 2 * calls);
}

static void callers_are_the_calls_of_each_rank(void **state)
{
    struct pair_of_runs a;
    struct sum_result r = {0};
    (void)state;
    open_run(&a);
    for (uint32_t i = 0; i < 6; i++) { /* ranks 2, 1, 0, each twice */
        struct wire_call_row rows[2] = {
            {.rank = 2 - i % 3, .call = 40, .calls = 1, .time_ns = i},
            {.rank = 2 - i % 3, .call = 7, .calls = 4, .time_ns = 10 * i}};
        for (int k = 0; k < 2; k++) {
            rows[k].bytes = 3 * rows[k].calls;
            rows[k].bytes_in = 2 * rows[k].calls;
        }
        assert_int_equal(
            window_sum_update(a.window, &(struct sum_rows){.calls = rows, .call_count = 2}), 0);
    }
    assert_int_equal(window_sum_result(a.window, SUM_CALLERS, 6, &r), 0);
    assert_int_equal(r.call_count, 6);
    assert_int_equal(r.left_out, 0);
    for (uint32_t rank = 0; rank < 3; rank++) { /* the reports of rank 2 - n are n and n + 3 */
        assert_caller(&r.calls[2 * rank], rank, 7, 8, 10 * (2 * (2 - rank) + 3));
        assert_caller(&r.calls[2 * rank + 1], rank, 40, 2, 2 * (2 - rank) + 3);
    }
    assert_int_equal(run_sum_update(a.run, a.window, 1), 0);
    assert_int_equal(run_sum_update(a.run, a.window, 2), 0);
    assert_int_equal(run_sum_result(a.run, SUM_CALLERS, 6, &r), 0);
    assert_caller(&r.calls[0], 0, 7, 16, 2 * 10 * 7);
    sum_result_finish(&r);
    close_run(&a);
}

static void callers_beyond_the_limit_are_left_out_by_whole_kinds(void **state)
{
    struct pair_of_runs a;
    struct sum_result r = {0};
    (void)state;
    open_run(&a);
    for (uint32_t rank = 0; rank < 4; rank++) {
        /* call 9 takes most time but only of two ranks, call 8 of all, call 5 is the least */
        const struct wire_call_row rows[3] = {
            {.rank = rank, .call = 5, .calls = 1, .time_ns = 1},
            {.rank = rank, .call = 8, .calls = 1, .time_ns = 10},
            {.rank = rank, .call = 9, .calls = 1, .time_ns = 100}};
        assert_int_equal(
            window_sum_update(a.window,
                              &(struct sum_rows){.calls = rows, .call_count = rank < 2 ? 3 : 2}),
            0);
    }
    assert_int_equal(window_sum_result(a.window, SUM_CALLERS, 9, &r), 0);
    assert_int_equal(r.call_count, 6);
    assert_int_equal(r.left_out, 4);
    assert_int_equal(r.left_out_ns, 4);
    for (size_t i = 0; i < r.call_count; i++)
        assert_int_not_equal(r.calls[i].call, 5);
    assert_int_equal(window_sum_result(a.window, SUM_CALLERS, 5, &r), 0);
    assert_int_equal(r.call_count, 2); /* call 8 does not fit */
    assert_int_equal(r.left_out, 8);
    assert_int_equal(r.left_out_ns, 44);
    assert_int_equal(window_sum_result(a.window, SUM_CALLERS, 100, &r), 0);
    assert_int_equal(r.call_count, 10);
    assert_int_equal(r.left_out, 0);
    sum_result_finish(&r);
    close_run(&a);
}

static int compare_bytes_down(const void *a, const void *b)
{
    uint64_t x = ((const struct wire_pair_row *)a)->bytes,
             y = ((const struct wire_pair_row *)b)->bytes;
    return x > y ? -1 : x < y;
}

/* Against all rows: the kept ones are the largest, and nothing is lost from any source's sum. */
static void folding_keeps_the_largest_and_every_sum(void **state)
{
    (void)state;
    for (size_t most = 0; most < 240; most += 13) {
        struct pair_of_runs a;
        struct sum_result all = {0}, folded = {0};
        open_run(&a);
        for (uint32_t agent = 0; agent < 4; agent++)
            add(a.run, a.window, agent, 7);
        assert_int_equal(window_sum_result(a.window, SUM_PAIRS, SIZE_MAX, &all), 0);
        assert_int_equal(window_sum_result(a.window, SUM_PAIRS, most, &folded), 0);
        uint64_t messages[64] = {0}, bytes[64] = {0}, kept = 0, in_rest = 0, least = UINT64_MAX;
        for (size_t i = 0; i < all.pair_count; i++) {
            messages[all.pairs[i].source] += all.pairs[i].messages;
            bytes[all.pairs[i].source] += all.pairs[i].bytes;
            in_rest += all.pairs[i].destination >= 0;
        }
        for (size_t i = 0; i < folded.pair_count; i++) {
            const struct wire_pair_row *p = &folded.pairs[i];
            messages[p->source] -= p->messages;
            bytes[p->source] -= p->bytes;
            kept += p->destination >= 0;
            least = p->destination >= 0 && p->bytes < least ? p->bytes : least;
            if (i > 0)
                assert_true(p[-1].source < p->source ||
                            (p[-1].source == p->source && p[-1].destination <= p->destination));
        }
        for (int i = 0; i < 64; i++) {
            assert_int_equal(messages[i], 0);
            assert_int_equal(bytes[i], 0);
        }
        assert_true(kept <= most || all.pair_count <= most);
        assert_int_equal(folded.folded, all.pair_count > most ? in_rest - kept : 0);
        qsort(all.pairs, all.pair_count, sizeof(*all.pairs), compare_bytes_down);
        if (kept > 0 && all.pair_count > most)
            assert_true(least >= all.pairs[most - 1].bytes);
        sum_result_finish(&all);
        sum_result_finish(&folded);
        close_run(&a);
    }
}

static void beyond_the_limit_pairs_join_the_rest_of_their_source(void **state)
{
    struct run_sum_limits tight = roomy;
    struct run_sum *run;
    struct window_sum *window;
    struct sum_result r = {0};
    (void)state;
    tight.pairs = 10;
    assert_int_equal(run_sum_create(&run, &tight), 0);
    assert_int_equal(window_sum_create(&window, run), 0);
    for (int32_t i = 0; i < 1000; i++) {
        struct wire_pair_row row = {
            .source = (uint32_t)i % 4, .destination = i, .messages = 1, .bytes = 8};
        assert_int_equal(
            window_sum_update(window, &(struct sum_rows){.pairs = &row, .pair_count = 1}), 0);
    }
    assert_true(run_sum_pair_count(run) <= 10 + 4);
    assert_int_equal(window_sum_result(window, SUM_PAIRS, SIZE_MAX, &r), 0);
    uint64_t messages = 0;
    for (size_t i = 0; i < r.pair_count; i++)
        messages += r.pairs[i].messages;
    assert_int_equal(messages, 1000);
    assert_true(r.folded > 0);
    sum_result_finish(&r);
    window_sum_destroy(window);
    run_sum_destroy(run);
}

static void more_ranks_than_the_limit_are_refused_whole(void **state)
{
    struct run_sum_limits tight = roomy;
    struct run_sum *run;
    struct window_sum *window;
    struct wire_rank_row rows[5] = {
        {.rank = 1}, {.rank = 2}, {.rank = 3}, {.rank = 4}, {.rank = 5}};
    struct sum_totals totals;
    (void)state;
    tight.ranks = 4;
    assert_int_equal(run_sum_create(&run, &tight), 0);
    assert_int_equal(window_sum_create(&window, run), 0);
    assert_int_equal(window_sum_update(window, &(struct sum_rows){.ranks = rows, .rank_count = 5}),
                     -ERANGE);
    totals = *window_sum_totals(window);
    assert_int_equal(totals.ranks, 0);
    assert_int_equal(window_sum_update(window, &(struct sum_rows){.ranks = rows, .rank_count = 4}),
                     0);
    assert_int_equal(window_sum_update(window, &(struct sum_rows){.ranks = rows, .rank_count = 4}),
                     0);
    window_sum_destroy(window);
    run_sum_destroy(run);
}

static void too_many_communicators_and_regions_count_as_unknown(void **state)
{
    struct run_sum_limits tight = roomy;
    struct run_sum *run;
    (void)state;
    tight.comms = tight.regions = 3;
    assert_int_equal(run_sum_create(&run, &tight), 0);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(run_sum_comm(run, &(struct wire_comm_row){.id = 10 * i}), (int64_t)i);
    assert_int_equal(run_sum_comm(run, &(struct wire_comm_row){.id = 40}), 0);
    assert_int_equal(run_sum_comm(run, &(struct wire_comm_row){.id = 20}), 2);
    assert_int_equal(run_sum_region(run, "a"), 1);
    assert_int_equal(run_sum_region(run, "b"), 2);
    assert_int_equal(run_sum_region(run, "c"), 3);
    assert_int_equal(run_sum_region(run, "d"), 0);
    assert_int_equal(run_sum_region(run, "b"), 2);
    run_sum_destroy(run);
}

/* The communicator was used before it was named, or by a rank that has not named it yet. */
static void name_that_the_program_gave_replaces_that_of_the_call(void **state)
{
    static const char *const names[4] = {"MPI_Comm_split", "ATM", "unknown origin", ""};
    (void)state;
    for (int first = 0; first < 4; first++) {
        struct run_sum *run;
        struct window_sum *window;
        struct sum_result r = {0};
        const struct wire_pair_row pair = {.comm = 1, .messages = 1};
        assert_int_equal(run_sum_create(&run, &roomy), 0);
        assert_int_equal(window_sum_create(&window, run), 0);
        for (int i = 0; i < 4; i++)
            assert_int_equal(
                run_sum_comm(run, &(struct wire_comm_row){.id = 7, .name = names[(first + i) % 4]}),
                1);
        assert_int_equal(
            window_sum_update(window, &(struct sum_rows){.pairs = &pair, .pair_count = 1}), 0);
        assert_int_equal(window_sum_result(window, SUM_PAIRS, SIZE_MAX, &r), 0);
        assert_int_equal(r.comm_count, 2);
        assert_string_equal(r.comms[1].name, "ATM");
        sum_result_finish(&r);
        window_sum_destroy(window);
        run_sum_destroy(run);
    }
}

static double bytes_a_pair(uint32_t ranks)
{
    struct pair_of_runs a;
    const size_t before = memory_used();
    open_run(&a);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct wire_pair_row rows[26];
        for (int32_t i = 0; i < 26; i++)
            rows[i] = (struct wire_pair_row){
                .source = rank, .destination = i * 31, .messages = 1, .bytes = 8};
        assert_int_equal(
            window_sum_update(a.window, &(struct sum_rows){.pairs = rows, .pair_count = 26}), 0);
    }
    assert_int_equal(run_sum_update(a.run, a.window, 1), 0);
    double bytes = (double)(memory_used() - before) / (26.0 * ranks);
    close_run(&a);
    return bytes;
}

static void memory_is_linear_in_pairs(void **state)
{
    (void)state;
    for (uint32_t ranks = 500; ranks <= 16000; ranks *= 2)
        assert_true(bytes_a_pair(ranks) < 130);
}

/* Its memory may be that of a window before. */
static void a_window_begins_empty(void **state)
{
    struct run_sum *run;
    struct window_sum *window;
    struct sum_result result = {0};
    struct sum_totals totals, empty = {0};
    (void)state;
    assert_int_equal(run_sum_create(&run, &roomy), 0);
    for (uint64_t number = 0; number < 3; number++) {
        assert_int_equal(window_sum_create(&window, run), 0);
        totals = *window_sum_totals(window);
        assert_memory_equal(&totals, &empty, sizeof(totals));
        for (enum sum_part part = SUM_RANKS; part <= SUM_CALLERS; part++) {
            assert_int_equal(window_sum_result(window, part, 1000, &result), 0);
            assert_int_equal(result.rank_count + result.pair_count + result.call_count, 0);
        }
        for (uint32_t agent = 0; agent < 40; agent++) /* more pairs than one block */
            add(run, window, agent, number);
        assert_int_equal(run_sum_update(run, window, number), 0);
        window_sum_destroy(window);
    }
    sum_result_finish(&result);
    run_sum_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_in_which_nodes_report_does_not_show),
        cmocka_unit_test(how_reports_are_cut_into_messages_does_not_show),
        cmocka_unit_test(windows_add_up_to_the_run_in_any_order),
        cmocka_unit_test(an_empty_window_changes_nothing),
        cmocka_unit_test(a_window_begins_empty),
        cmocka_unit_test(name_that_the_program_gave_replaces_that_of_the_call),
        cmocka_unit_test(rows_come_in_canonical_order_and_name_what_is_listed),
        cmocka_unit_test(the_call_in_progress_is_that_of_the_newest_window),
        cmocka_unit_test(
            a_communicator_on_which_no_call_has_ended_is_named_by_the_call_in_progress),
        cmocka_unit_test(calls_count_each_rank_once),
        cmocka_unit_test(callers_are_the_calls_of_each_rank),
        cmocka_unit_test(callers_beyond_the_limit_are_left_out_by_whole_kinds),
        cmocka_unit_test(folding_keeps_the_largest_and_every_sum),
        cmocka_unit_test(beyond_the_limit_pairs_join_the_rest_of_their_source),
        cmocka_unit_test(more_ranks_than_the_limit_are_refused_whole),
        cmocka_unit_test(too_many_communicators_and_regions_count_as_unknown),
        cmocka_unit_test(memory_is_linear_in_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
