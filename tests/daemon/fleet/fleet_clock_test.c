/* One clock for the daemons of a fleet: daemons whose messages are carried by the test, on machines
 * whose clocks differ. */
#include "daemon/fleet/fleet_clock.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DAEMONS 4
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define TRIP_NS (200 * UINT64_C(1000)) /* of a question, and of an answer */

/* A daemon, and its machine: CLOCK_MONOTONIC begins anywhere, and CLOCK_REALTIME is off. */
struct machine {
    struct fleet_clock clock;
    int64_t mono_ns, real_ns; /* against the true time */
    int runs;
};

struct bed {
    struct machine machines[DAEMONS];
    uint64_t now_ns; /* true time */
    unsigned random;
    int split; /* daemons of even number do not reach those of odd number */
};

static uint64_t mono_of(const struct bed *bed, int i)
{
    return bed->now_ns + (uint64_t)bed->machines[i].mono_ns;
}

static uint64_t fleet_time(const struct bed *bed, int i)
{
    return daemon_clock_at(&bed->machines[i].clock.time, mono_of(bed, i));
}

static void start(struct bed *bed, int i, uint64_t instance, int64_t real_ns)
{
    struct machine *m = &bed->machines[i];
    m->mono_ns = (int64_t)(i + 1) * 1234567891;
    m->real_ns = real_ns;
    m->runs = 1;
    fleet_clock_init(&m->clock, instance, mono_of(bed, i), bed->now_ns + (uint64_t)real_ns);
}

static int reaches(const struct bed *bed, int from, int to)
{
    return from != to && bed->machines[to].runs && (!bed->split || (from ^ to) % 2 == 0);
}

static uint64_t trip(struct bed *bed)
{
    return TRIP_NS + (uint64_t)rand_r(&bed->random) % TRIP_NS;
}

/* Daemon i asks, if it does; the others answer. */
static void ask(struct bed *bed, int i)
{
    struct machine *m = &bed->machines[i];
    uint8_t question[FLEET_CLOCK_ASK_BYTES], answer[FLEET_CLOCK_ANSWER_BYTES];
    uint64_t to = 0;
    if (!m->runs || !fleet_clock_ask(&m->clock, mono_of(bed, i), &to, question))
        return;
    const uint64_t asked = bed->now_ns;
    for (int k = 0; k < DAEMONS; k++) {
        struct fleet_clock *other = &bed->machines[k].clock;
        if (!reaches(bed, i, k) || (to != 0 && to != other->instance))
            continue;
        bed->now_ns = asked + trip(bed);
        int code = fleet_clock_answer(other, question, sizeof(question), mono_of(bed, k),
                                      mono_of(bed, k) + MS / 10, answer);
        assert_true(code == 0 || code == 1);
        bed->now_ns += MS / 10 + trip(bed);
        if (code == 1)
            assert_int_equal(
                fleet_clock_observe(&m->clock, answer, sizeof(answer), mono_of(bed, i)), 0);
    }
    bed->now_ns = asked + MS;
}

/* Those that do not know the time yet ask more often. */
static void run(struct bed *bed, uint64_t ns)
{
    const uint64_t end = bed->now_ns + ns;
    for (unsigned turn = 0; bed->now_ns < end; turn++) {
        for (int i = 0; i < DAEMONS; i++)
            if (turn % (FLEET_CLOCK_ASK_NS / FLEET_CLOCK_FIRST_ASK_NS) == 0 ||
                !bed->machines[i].clock.is_known)
                ask(bed, i);
        bed->now_ns += FLEET_CLOCK_FIRST_ASK_NS;
    }
}

static uint64_t apart(const struct bed *bed, int i, int k)
{
    const uint64_t a = fleet_time(bed, i), b = fleet_time(bed, k);
    return a > b ? a - b : b - a;
}

/* Their times differ by less than the errors that they state. */
static void assert_one_clock(const struct bed *bed, uint64_t within_ns)
{
    for (int i = 0; i < DAEMONS; i++)
        for (int k = 0; k < DAEMONS; k++) {
            if (!bed->machines[i].runs || !bed->machines[k].runs)
                continue;
            assert_true(bed->machines[i].clock.is_known);
            const uint64_t stated = fleet_clock_error(&bed->machines[i].clock, mono_of(bed, i)) +
                                    fleet_clock_error(&bed->machines[k].clock, mono_of(bed, k));
            assert_true(apart(bed, i, k) <= stated);
            assert_true(apart(bed, i, k) <= within_ns);
        }
}

static struct bed begin(void)
{
    return (struct bed){.now_ns = 1000 * SECOND, .random = 5};
}

static void a_daemon_alone_begins_with_its_own_clock(void **state)
{
    struct bed bed = begin();
    (void)state;
    start(&bed, 0, 9, 0);
    ask(&bed, 0);
    assert_false(bed.machines[0].clock.is_known);
    run(&bed, SECOND);
    assert_true(bed.machines[0].clock.is_known);
    assert_int_equal(fleet_clock_error(&bed.machines[0].clock, mono_of(&bed, 0)), 0);
    assert_true(fleet_time(&bed, 0) == bed.now_ns);
}

static void daemons_whose_machines_differ_by_a_minute_have_one_clock(void **state)
{
    struct bed bed = begin();
    (void)state;
    start(&bed, 0, 9, 0);
    run(&bed, SECOND);
    start(&bed, 1, 3, (int64_t)(60 * SECOND)); /* a lower instance changes nothing */
    start(&bed, 2, 5, -(int64_t)(60 * SECOND));
    run(&bed, SECOND / 2);
    assert_one_clock(&bed, MS);
    assert_true(fleet_time(&bed, 1) - bed.now_ns + MS < 2 * MS);
    assert_true(bed.machines[1].clock.time.jumps == 0);
    run(&bed, 60 * SECOND);
    assert_one_clock(&bed, MS / 2);
}

static void of_daemons_that_start_together_one_is_the_reference(void **state)
{
    struct bed bed = begin();
    (void)state;
    for (int i = 0; i < DAEMONS; i++)
        start(&bed, i, (uint64_t)(40 - 10 * i), (int64_t)i * (int64_t)SECOND);
    run(&bed, 5 * SECOND);
    assert_one_clock(&bed, MS);
    for (int i = 0; i < DAEMONS; i++) {
        assert_int_equal(bed.machines[i].clock.reference, 10);
        assert_int_equal(bed.machines[i].clock.time.jumps, 0);
    }
}

static void when_the_reference_is_gone_its_time_goes_on(void **state)
{
    struct bed bed = begin();
    (void)state;
    start(&bed, 0, 1, (int64_t)(90 * SECOND));
    run(&bed, SECOND);
    for (int i = 1; i < DAEMONS; i++)
        start(&bed, i, (uint64_t)i + 1, 0);
    run(&bed, 20 * SECOND);
    bed.machines[0].runs = 0;
    run(&bed, 20 * SECOND);
    assert_one_clock(&bed, MS);
    for (int i = 1; i < DAEMONS; i++) {
        assert_int_equal(bed.machines[i].clock.reference, 2);
        assert_int_equal(bed.machines[i].clock.time.jumps, 0);
        assert_true(apart(&bed, i, 0) < MS);
    }
    start(&bed, 0, 1, (int64_t)(90 * SECOND)); /* it comes back, and follows */
    run(&bed, SECOND);
    assert_int_equal(bed.machines[0].clock.reference, 2);
    assert_one_clock(&bed, MS);
}

static void a_daemon_that_starts_while_a_reference_is_looked_for_does_not_become_it(void **state)
{
    (void)state;
    for (uint64_t after = 0; after < 8; after++) {
        struct bed bed = begin();
        start(&bed, 0, 5, 0);
        run(&bed, SECOND);
        start(&bed, 1, 7, 0);
        start(&bed, 2, 9, 0);
        run(&bed, 20 * SECOND);
        bed.machines[0].runs = 0;
        run(&bed, after * SECOND / 2);
        start(&bed, 3, 1, (int64_t)(60 * SECOND)); /* lower than all */
        run(&bed, 20 * SECOND);
        assert_one_clock(&bed, MS);
        for (int i = 1; i < DAEMONS; i++) {
            assert_int_equal(bed.machines[i].clock.reference, 7);
            assert_int_equal(bed.machines[i].clock.time.jumps, 0);
            assert_true(apart(&bed, i, 0) < MS);
        }
    }
}

static void a_reference_that_answers_late_is_followed(void **state)
{
    struct bed bed = begin();
    uint8_t question[FLEET_CLOCK_ASK_BYTES];
    uint64_t to;
    (void)state;
    start(&bed, 0, 9, 0);
    run(&bed, SECOND);
    start(&bed, 1, 3, (int64_t)(60 * SECOND));
    ask(&bed, 1);
    for (int i = 0; i < 20; i++) { /* at once, before any of them is answered */
        assert_int_equal(fleet_clock_ask(&bed.machines[1].clock, mono_of(&bed, 1), &to, question),
                         1);
        assert_int_equal(to, 9);
    }
    run(&bed, SECOND);
    assert_int_equal(bed.machines[1].clock.reference, 9);
    bed.split = 1;
    run(&bed, 2 * SECOND + FLEET_CLOCK_ALONE_NS / 2); /* given up just now */
    bed.split = 0;
    run(&bed, 20 * SECOND);
    assert_one_clock(&bed, MS);
}

static void after_a_partition_there_is_one_reference_again(void **state)
{
    struct bed bed = begin();
    (void)state;
    start(&bed, 0, 1, 0);
    run(&bed, SECOND);
    for (int i = 1; i < DAEMONS; i++)
        start(&bed, i, (uint64_t)i + 1, 0);
    run(&bed, 20 * SECOND);
    bed.split = 1;
    run(&bed, 20 * SECOND);
    assert_int_equal(bed.machines[2].clock.reference, 1);
    assert_int_equal(bed.machines[3].clock.reference, 2);
    bed.split = 0;
    run(&bed, 20 * SECOND);
    for (int i = 0; i < DAEMONS; i++) {
        assert_int_equal(bed.machines[i].clock.reference, 1);
        assert_int_equal(bed.machines[i].clock.time.jumps, 0);
    }
    assert_one_clock(&bed, MS);
}

static void what_is_no_question_or_answer_is_refused(void **state)
{
    struct bed bed = begin();
    uint8_t question[FLEET_CLOCK_ASK_BYTES], answer[FLEET_CLOCK_ANSWER_BYTES];
    uint64_t to;
    (void)state;
    start(&bed, 0, 1, 0);
    start(&bed, 1, 2, 0);
    assert_int_equal(fleet_clock_ask(&bed.machines[1].clock, mono_of(&bed, 1), &to, question), 1);
    run(&bed, 2 * SECOND);
    struct fleet_clock *first = &bed.machines[0].clock, *second = &bed.machines[1].clock;
    const uint64_t now = mono_of(&bed, 0);
    for (size_t length = 0; length < sizeof(question); length++)
        assert_int_equal(fleet_clock_answer(first, question, length, now, now, answer),
                         -HOLTER_EMALFORMED);
    assert_int_equal(fleet_clock_answer(first, question, sizeof(question), now, now, answer), 1);
    answer[0] ^= 1;
    assert_int_equal(fleet_clock_observe(second, answer, sizeof(answer), mono_of(&bed, 1)),
                     -HOLTER_EMALFORMED);
    answer[0] ^= 1;
    memset(answer + 40, 0xff, 8); /* when the question came, which is after the answer left */
    assert_int_equal(fleet_clock_observe(second, answer, sizeof(answer), mono_of(&bed, 1)),
                     -HOLTER_ERANGE);
    assert_one_clock(&bed, MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_daemon_alone_begins_with_its_own_clock),
        cmocka_unit_test(daemons_whose_machines_differ_by_a_minute_have_one_clock),
        cmocka_unit_test(of_daemons_that_start_together_one_is_the_reference),
        cmocka_unit_test(when_the_reference_is_gone_its_time_goes_on),
        cmocka_unit_test(a_daemon_that_starts_while_a_reference_is_looked_for_does_not_become_it),
        cmocka_unit_test(a_reference_that_answers_late_is_followed),
        cmocka_unit_test(after_a_partition_there_is_one_reference_again),
        cmocka_unit_test(what_is_no_question_or_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
