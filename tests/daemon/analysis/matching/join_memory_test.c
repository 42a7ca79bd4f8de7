/* Joins where each allocation in turn fails: what they lose so is no message that was lost. */
#include "tests/daemon/analysis/matching/join_feed.h"

#include "tests/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define EPOCH UINT64_C(1700000000)
#define MESSAGES 40u
#define WAIT 3u /* windows that an end waits */

static void count(void *user, const struct joined *message)
{
    (void)message;
    ++*(size_t *)user;
}

/* Sends of node 0, or receives of node 1, of messages from rank 0 to rank 1. */
static void tell(struct join *join, uint64_t window, int receive)
{
    struct join_half halves[MESSAGES];
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint64_t begin = (EPOCH + window) * UINT64_C(1000000000) + i * UINT64_C(100000);
        halves[i] = (struct join_half){.key = (i + 1) * UINT64_C(0x9e3779b97f4a7c15),
                                       .receive = (uint32_t)receive & 1,
                                       .destination = 1,
                                       .bytes = 100,
                                       .begin_ns = begin,
                                       .end_ns = begin + 1000,
                                       .local_ns = begin,
                                       .together = (uint32_t)receive & 1,
                                       .node = (uint32_t)receive};
    }
    assert_int_equal(join_feed(join, EPOCH + window, 0, halves, MESSAGES), 0);
}

/* Sends whose receives are reported in the next window, when the close between them lacks memory
 * once.
 * @return whether it did */
static int miss_one(unsigned long allocation, struct join_counts *counts)
{
    const struct join_params params = {.windows = WAIT, .most_halves = 4096};
    struct join *join;
    size_t joined = 0;
    assert_int_equal(join_create(&join, &params), 0);
    tell(join, 0, 0);
    memory_fail(allocation);
    int code = join_close(join, EPOCH, count, &joined);
    int failed = memory_failed();
    memory_fail(0);
    assert_true(code == 0 || (failed && code == -ENOMEM));
    tell(join, 1, 1);
    for (uint64_t window = 1; window <= 2 * WAIT; window++)
        assert_int_equal(join_close(join, EPOCH + window, count, &joined), 0);
    join_count(join, counts);
    assert_int_equal(counts->matched, joined);
    join_destroy(join);
    return failed;
}

static void ends_that_cannot_be_kept_leave_no_other_end_unmatched(void **state)
{
    struct join_counts counts;
    unsigned long failures = 0;
    unsigned lossy = 0;
    (void)state;
    while (miss_one(failures + 1, &counts)) {
        failures++;
        assert_int_equal(counts.unmatched, 0);
        lossy += counts.matched < MESSAGES;
    }
    assert_int_equal(counts.matched, MESSAGES); /* nothing failed */
    assert_true(lossy > 0 && failures > lossy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_that_cannot_be_kept_leave_no_other_end_unmatched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
