/* Latency of a job where each allocation of a window in turn fails: what the windows after it
 * report.
 */
#include "daemon/job/latency/job_latency.h"

#include "tests/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define RANKS 12u
#define WINDOWS 16u
#define CHANGE 8u /* window from which on there are more regions */

/* Rings of ranks that keep to themselves: two, later three. */
static void exchange(uint64_t window, struct wire_pair_row *rows)
{
    const uint32_t ring = window < CHANGE ? RANKS / 2 : RANKS / 3;
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint32_t first = r - r % ring;
        rows[r] = (struct wire_pair_row){.source = r,
                                         .destination = (int32_t)(first + (r - first + 1) % ring),
                                         .messages = window < CHANGE ? 10 : 1000,
                                         .bytes = 1000};
    }
}

/* @param allocation  the one that fails; 0: none @param failed  set where it came to that */
static int close_window(struct job_latency *l, uint64_t window, unsigned long allocation,
                        int *failed)
{
    struct wire_pair_row rows[RANKS];
    struct latency_rows closed = {0};
    exchange(window, rows);
    const struct wire_rank_row last = {.rank = RANKS - 1};
    const struct closed_window update = {.number = window,
                                         .world = RANKS,
                                         .ranks = &last,
                                         .rank_count = 1,
                                         .pairs = rows,
                                         .pair_count = RANKS,
                                         .latency = &closed};
    for (uint32_t r = 0; r < RANKS; r++) {
        const struct transfer transfer = {.source = r,
                                          .destination = (uint32_t)rows[r].destination,
                                          .messages = 1,
                                          .transfer_ns = 1000};
        assert_int_equal(transfers_add(&closed.transfers, &transfer), 0);
    }
    memory_fail(allocation);
    int code = job_latency_update(l, &update);
    *failed |= memory_failed();
    memory_fail(0);
    latency_rows_finish(&closed);
    return code;
}

/* @return how many regions are published */
static uint64_t count_regions(struct job_latency *l)
{
    struct wire_regions regions;
    assert_int_equal(job_latency_regions(l, &regions), 0);
    return regions.regions_count;
}

/* A window is published once, or not at all. */
static void tell(struct job_latency *l, uint64_t window, int code)
{
    struct wire_latencies told;
    if (job_latency_message(l, &told) == 0)
        assert_int_equal(told.window, window);
    else
        assert_int_equal(code, -ENOMEM);
}

/* @param fails  the window in which that allocation fails @return whether it did */
static int run(uint64_t fails, unsigned long allocation)
{
    struct job_latency *l;
    int failed = 0, changed = 0;
    assert_int_equal(job_latency_create(&l, S), 0);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_int_equal(job_latency_place(l, r, r), 0);
    for (uint64_t window = 1; window <= WINDOWS; window++) {
        int code = close_window(l, window, window == fails ? allocation : 0, &failed);
        tell(l, window, code);
        changed += job_latency_regions_changed(l);
        if (job_latency_regions_changed(l))
            count_regions(l);
    }
    assert_true(changed >= 2);
    assert_int_equal(count_regions(l), 3);
    job_latency_destroy(l);
    return failed;
}

static void regions_that_change_without_memory_are_reported_with_the_next_window(void **state)
{
    (void)state;
    run(0, 0);
    for (uint64_t window = 1; window <= WINDOWS; window++)
        for (unsigned long allocation = 1; run(window, allocation);)
            allocation++;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_that_change_without_memory_are_reported_with_the_next_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
