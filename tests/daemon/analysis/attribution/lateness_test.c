/* Why a rank is late: each sign alone, signs together, and what is no sign. */
#include "daemon/analysis/attribution/lateness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A rank that computes for 60 % of the time and then polls in MPI; others take a little of its
 * core. */
static const struct lateness_figures calm = {.outside = 0.6,
                                             .cpu = 0.95,
                                             .queued = 0.02,
                                             .blocked = 0.01,
                                             .faults = 0.1,
                                             .clock = 3e6,
                                             .messages = 1000};

static double delays[LATENESS_SIGNS];

static enum lateness_sign judge(struct lateness_figures now)
{
    return lateness_judge(&calm, &now, delays);
}

static struct lateness_figures later(void)
{
    struct lateness_figures now = calm;
    now.outside = 1.5;
    return now;
}

static void a_rank_without_any_other_sign_computes_longer(void **state)
{
    (void)state;
    assert_int_equal(judge(later()), LATENESS_COMPUTES);
    assert_float_equal(delays[LATENESS_COMPUTES], 0.9, 1e-9);
}

static void a_rank_without_a_core_is_interrupted(void **state)
{
    (void)state;
    struct lateness_figures now = later();
    now.queued = 0.8;
    assert_int_equal(judge(now), LATENESS_INTERRUPTED);
    assert_float_equal(delays[LATENESS_COMPUTES], 0.12, 1e-9);
    now.outside = calm.outside; /* it loses its core in MPI */
    assert_int_equal(judge(now), LATENESS_INTERRUPTED);
    assert_float_equal(delays[LATENESS_COMPUTES], 0, 0);
}

static void a_rank_that_computes_longer_on_a_shared_core_waits_longer_for_it(void **state)
{
    (void)state;
    const struct lateness_figures shared = {.outside = 0.6, .cpu = 0.3, .queued = 0.3};
    struct lateness_figures now = {.outside = 1.8, .cpu = 0.9, .queued = 0.9};
    assert_int_equal(lateness_judge(&shared, &now, delays), LATENESS_COMPUTES);
    assert_float_equal(delays[LATENESS_INTERRUPTED], 0, 1e-9);
    now = (struct lateness_figures){.outside = 1.8, .cpu = 0.3, .queued = 1.5};
    assert_int_equal(lateness_judge(&shared, &now, delays), LATENESS_INTERRUPTED);
}

static void a_rank_that_is_stopped_is_no_rank_that_computes(void **state)
{
    (void)state;
    struct lateness_figures now = later();
    now.stopped = 0.7;
    assert_int_equal(judge(now), LATENESS_STOPPED);
}

static void a_rank_in_uninterruptible_sleep_waits_for_io(void **state)
{
    (void)state;
    struct lateness_figures now = later();
    now.blocked = 0.8;
    assert_int_equal(judge(now), LATENESS_IO);
}

static void a_blocked_rank_with_many_faults_waits_for_its_memory(void **state)
{
    (void)state;
    struct lateness_figures now = later();
    now.blocked = 0.8;
    now.faults = 2000;
    assert_int_equal(judge(now), LATENESS_PAGING);
    assert_float_equal(delays[LATENESS_IO], 0, 0);
    now.faults = 5; /* they explain 50 ms at most */
    assert_int_equal(judge(now), LATENESS_IO);
}

static void a_lower_clock_explains_a_part_of_longer_work(void **state)
{
    (void)state;
    struct lateness_figures now = later();
    now.clock = calm.clock / 3;
    assert_int_equal(judge(now), LATENESS_CLOCK);
    now.clock = 0.97 * calm.clock; /* clocks vary */
    assert_int_equal(judge(now), LATENESS_COMPUTES);
    now.clock = 0; /* not known */
    assert_int_equal(judge(now), LATENESS_COMPUTES);
    assert_float_equal(delays[LATENESS_CLOCK], 0, 0);
}

static void longer_work_with_more_messages_is_the_pattern(void **state)
{
    (void)state;
    struct lateness_figures now = later();
    now.messages = 3 * calm.messages;
    assert_int_equal(judge(now), LATENESS_PATTERN);
    now.messages = 1.2 * calm.messages;
    assert_int_equal(judge(now), LATENESS_COMPUTES);
    now.messages = 3 * calm.messages;
    now.stopped = 0.8;
    assert_int_equal(judge(now), LATENESS_STOPPED);
}

static void a_rank_that_sleeps_between_steps_computes_longer_when_its_core_time_grows(void **state)
{
    (void)state;
    const struct lateness_figures lazy = {.outside = 0.98, .cpu = 0.3};
    const struct lateness_figures now = {.outside = 0.98, .cpu = 0.9};
    assert_int_equal(lateness_judge(&lazy, &now, delays), LATENESS_COMPUTES);
}

static void a_rank_that_polls_in_mpi_for_longer_does_not_compute_longer(void **state)
{
    (void)state;
    const struct lateness_figures short_wait = {.outside = 0.6, .inside = 0.4, .cpu = 0.9};
    struct lateness_figures now = {.outside = 0.6, .inside = 1.4, .cpu = 1.8};
    assert_int_equal(lateness_judge(&short_wait, &now, delays), LATENESS_SIGNS);
    now.outside = 1.5;
    assert_int_equal(lateness_judge(&short_wait, &now, delays), LATENESS_COMPUTES);
}

static void small_changes_and_improvements_are_no_sign(void **state)
{
    (void)state;
    struct lateness_figures now = calm;
    assert_int_equal(judge(now), LATENESS_SIGNS);
    now.outside += 0.005;
    now.queued += 0.009;
    now.blocked += 0.004;
    now.stopped += 0.009;
    assert_int_equal(judge(now), LATENESS_SIGNS);
    now = (struct lateness_figures){0};
    assert_int_equal(judge(now), LATENESS_SIGNS);
    for (int s = 0; s < LATENESS_SIGNS; s++)
        assert_true(delays[s] >= 0);
}

static void noise_of_samples_does_not_hide_longer_work(void **state)
{
    (void)state;
    struct lateness_figures now = later();
    now.queued = 0.12;
    now.blocked = 0.08; /* one sample of twelve */
    now.faults = 3;
    assert_int_equal(judge(now), LATENESS_COMPUTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_without_any_other_sign_computes_longer),
        cmocka_unit_test(a_rank_without_a_core_is_interrupted),
        cmocka_unit_test(a_rank_that_computes_longer_on_a_shared_core_waits_longer_for_it),
        cmocka_unit_test(a_rank_that_is_stopped_is_no_rank_that_computes),
        cmocka_unit_test(a_rank_in_uninterruptible_sleep_waits_for_io),
        cmocka_unit_test(a_blocked_rank_with_many_faults_waits_for_its_memory),
        cmocka_unit_test(a_lower_clock_explains_a_part_of_longer_work),
        cmocka_unit_test(longer_work_with_more_messages_is_the_pattern),
        cmocka_unit_test(a_rank_that_sleeps_between_steps_computes_longer_when_its_core_time_grows),
        cmocka_unit_test(a_rank_that_polls_in_mpi_for_longer_does_not_compute_longer),
        cmocka_unit_test(small_changes_and_improvements_are_no_sign),
        cmocka_unit_test(noise_of_samples_does_not_hide_longer_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
