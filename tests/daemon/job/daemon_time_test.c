/* Daemon time that follows the clock of a fleet. */
#include "daemon/job/daemon_time.h"

#include "holter/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

/* Daemon time now, and a line that is so far from it, known to 7 ns. */
static struct timeline start(struct timeline *line, int64_t apart_ns)
{
    struct timeline timeline;
    timeline_init(&timeline);
    *line = timeline;
    line->mapping.daemon_ns += (uint64_t)apart_ns;
    line->error_ns = 7;
    return timeline;
}

static int64_t distance_at(const struct timeline *a, const struct timeline *b, uint64_t mono_ns)
{
    return (int64_t)(daemon_clock_map(&a->mapping, mono_ns) -
                     daemon_clock_map(&b->mapping, mono_ns));
}

static void time_goes_slower_where_the_line_is_behind_and_its_error_says_by_how_much(void **state)
{
    struct timeline line, timeline = start(&line, -40 * MS);
    (void)state;
    const uint64_t before = timeline_now(&timeline);
    timeline_follow(&timeline, &line);
    assert_true(timeline_now(&timeline) >= before);
    const uint64_t mono_ns = timeline.mapping.mono_ns;
    assert_int_equal(distance_at(&timeline, &line, mono_ns), 40 * MS);
    assert_int_equal(timeline.error_ns, 40 * MS + 7);
    assert_in_range(distance_at(&timeline, &line, mono_ns + 500 * (uint64_t)MS) + 2, 20 * MS,
                    20 * MS + 4);
    assert_in_range(distance_at(&timeline, &line, mono_ns + 1000 * (uint64_t)MS) + 2, 0, 4);
}

static void time_jumps_to_a_line_that_is_ahead_or_far_behind(void **state)
{
    static const int64_t apart[] = {40 * MS, -200 * MS};
    (void)state;
    for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
        struct timeline line, timeline = start(&line, apart[i]);
        timeline_follow(&timeline, &line);
        assert_int_equal(distance_at(&timeline, &line, line.mapping.mono_ns), 0);
        assert_int_equal(timeline.error_ns, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_slower_where_the_line_is_behind_and_its_error_says_by_how_much),
        cmocka_unit_test(time_jumps_to_a_line_that_is_ahead_or_far_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
