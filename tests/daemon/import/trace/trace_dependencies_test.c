#include "daemon/import/trace/trace_dependencies.h"

#include "daemon/analysis/dependencies/dependencies.h"
#include "holter/call.h"
#include "tests/daemon/import/trace/fake_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void read_messages(struct fake_trace *f, struct trace_messages *out, struct dependencies *d)
{
    const struct trace_reader reader = fake_trace_reader(f);
    assert_int_equal(trace_dependencies(&f->job, &reader, out), 0);
    assert_int_equal(dependencies_make(d, &out->calls, NULL), 0);
}

static void every_message_of_the_ring_is_an_edge(void **state)
{
    (void)state;
    struct fake_trace f;
    fake_trace_set_up_ring(&f);
    for (f.waits = 0; f.waits < 2; f.waits++) {
        struct trace_messages messages;
        struct dependencies d;
        read_messages(&f, &messages, &d);
        assert_int_equal(d.counts.matched, 4 * FAKE_TRACE_ROUNDS);
        assert_int_equal(d.counts.unmatched, 0);
        assert_int_equal(d.counts.aligned, 0);
        assert_int_equal(d.ranks.lane_count, 4);
        for (uint32_t i = 0; i < d.event_count; i++)
            if (d.events[i].collective == DEPENDENCY_NONE)
                assert_int_equal(d.events[i].peer,
                                 (d.events[i].rank + (d.events[i].receive ? 3 : 1)) % 4);
        assert_int_equal(d.collective_count, FAKE_TRACE_ROUNDS);
        for (uint32_t i = 0; i < d.collective_count; i++)
            assert_int_equal(d.collectives[i].count, 4);
        dependencies_finish(&d);
        dependency_calls_finish(&messages.calls);
    }
    fake_trace_finish(&f);
}

static void a_stream_that_fails_leaves_what_it_has(void **state)
{
    (void)state;
    struct fake_trace f;
    struct trace_messages messages;
    struct dependencies d;
    fake_trace_set_up_ring(&f);
    f.fails[1] = 1;
    f.count[1] /= 2;
    read_messages(&f, &messages, &d);
    assert_int_equal(messages.failed_streams, 1);
    assert_true(d.counts.matched >= 2 * FAKE_TRACE_ROUNDS);
    assert_true(d.counts.unmatched > 0);
    assert_int_equal(d.counts.rejected, 0);
    dependencies_finish(&d);
    dependency_calls_finish(&messages.calls);
    fake_trace_finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_of_the_ring_is_an_edge),
        cmocka_unit_test(a_stream_that_fails_leaves_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
