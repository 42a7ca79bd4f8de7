/* Attribution where each allocation in turn fails. */
#include "daemon/analysis/attribution/attribution.h"

#include "tests/daemon/analysis/attribution/summed.h"
#include "tests/daemon/analysis/attribution/synthetic_job.h"
#include "tests/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct attribution *begin(const struct synthetic_params *p, const struct synthetic_job *job)
{
    struct attribution *a;
    assert_int_equal(attribution_create(&a), 0);
    for (uint32_t r = 0; r < synthetic_ranks(p); r++) {
        char name[16];
        snprintf(name, sizeof(name), "node%u", synthetic_node(job, r));
        assert_int_equal(attribution_place(a, r, synthetic_node(job, r), name), 0);
    }
    return a;
}

static uint64_t onset_of(const struct synthetic_params *p)
{
    return p->onset > 0 ? p->onset + 1 : 0;
}

static void take(struct attribution *a, const struct synthetic_params *p, uint32_t w,
                 const struct attribution_window *window)
{
    assert_int_equal(attribution_window(a, window), 0);
    if (p->onset > 0 && w >= p->onset + 1)
        attribution_disturbed(a, p->onset + 1);
}

static void assert_result_or_error(struct attribution *a, uint64_t onset)
{
    static struct attribution_result wanted, got;
    unsigned long failures = 0;
    memset(&wanted, 0, sizeof(wanted));
    assert_int_equal(attribution_result(a, onset, &wanted), 0);
    for (int all = 0; !all;) {
        memset(&got, 0, sizeof(got));
        memory_fail(++failures);
        int code = attribution_result(a, onset, &got);
        all = !memory_failed();
        memory_fail(0);
        assert_int_equal(code, all ? 0 : -ENOMEM);
        if (all)
            assert_memory_equal(&got, &wanted, sizeof(wanted));
    }
    assert_true(failures > 1);
}

static void without_memory_a_result_is_complete_or_an_error(void **state)
{
    (void)state;
    for (int reason = SYNTHETIC_LINK; reason < SYNTHETIC_REASONS; reason++) {
        const struct synthetic_params p = synthetic_draw(3, (enum synthetic_reason)reason);
        struct synthetic_job *job = synthetic_create(&p);
        assert_non_null(job);
        struct attribution *a = begin(&p, job);
        for (uint32_t w = 0; w < p.windows; w++) {
            struct attribution_window window;
            struct message_ranks ranks = {.count = 0};
            synthetic_window(job, w, &window);
            sum_messages(&ranks, &window);
            window.messages = &ranks;
            take(a, &p, w, &window);
            message_ranks_finish(&ranks);
        }
        assert_result_or_error(a, onset_of(&p));
        attribution_destroy(a);
        synthetic_destroy(job);
    }
}

/* Each window fails at some allocation, and is then given once more. */
static void a_window_that_was_refused_may_be_given_again(void **state)
{
    (void)state;
    const struct synthetic_params p = synthetic_draw(3, SYNTHETIC_MAPPING);
    static struct attribution_result wanted, got;
    memset(&wanted, 0, sizeof(wanted));
    for (unsigned long number = 0, all = 0; !all; number++) {
        struct synthetic_job *job = synthetic_create(&p);
        assert_non_null(job);
        struct attribution *a = begin(&p, job);
        all = number > 0;
        for (uint32_t w = 0; w < p.windows; w++) {
            struct attribution_window window;
            synthetic_window(job, w, &window);
            struct message_ranks ranks = {.count = 0};
            sum_messages(&ranks, &window);
            window.messages = &ranks;
            memory_fail(number);
            int code = attribution_window(a, &window);
            int failed = memory_failed();
            memory_fail(0);
            assert_int_equal(code, failed ? -ENOMEM : 0);
            all = all && !failed;
            if (failed)
                take(a, &p, w, &window);
            else if (p.onset > 0 && w >= p.onset + 1)
                attribution_disturbed(a, p.onset + 1);
            message_ranks_finish(&ranks);
        }
        memset(&got, 0, sizeof(got));
        assert_int_equal(attribution_result(a, onset_of(&p), number == 0 ? &wanted : &got), 0);
        if (number > 0)
            assert_memory_equal(&got, &wanted, sizeof(wanted));
        attribution_destroy(a);
        synthetic_destroy(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_a_result_is_complete_or_an_error),
        cmocka_unit_test(a_window_that_was_refused_may_be_given_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
