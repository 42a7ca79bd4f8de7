/* What a job publishes is a function of the messages it was given: a large one that is made up,
 * judged with threads and without, and a smaller one whose slow stretch must raise an alert. */
#include "daemon/alert/rules.h"
#include "daemon/job/job.h"
#include "holter/error.h"
#include "tests/bench/replay_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

struct stream {
    struct job *job;
    struct wire_arena arena;
    struct wire_buffer buffer;
    uint64_t hash, frames, sent, newest_ns, phases, heights, inter_alerts;
    double height[2];
};

/* FNV-1a (Fowler, Noll, Vo), of all that is published. */
static void take_bytes(struct stream *s, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        s->hash = (s->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 1;
}

static void take_curve(struct stream *s, const struct wire_curve *curve)
{
    for (uint64_t i = 0; i < curve->points_count; i++) {
        const struct wire_curve_point_row *point = &curve->points[i];
        uint64_t known = 0;
        if (point->provisional)
            continue;
        s->phases++;
        while (known < s->heights && s->height[known] != point->height)
            known++;
        if (known == s->heights && s->heights < 2)
            s->height[known] = point->height;
        s->heights += known == s->heights;
    }
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct stream *s = user;
    (void)job;
    if (type == WIRE_TYPE_TOTALS)
        s->sent += ((const struct wire_totals *)message)->sent;
    if (type == WIRE_TYPE_CURVE)
        take_curve(s, message);
    if (type == WIRE_TYPE_ALERT) {
        const struct wire_alert *alert = message;
        s->inter_alerts += strcmp(alert->kind, "latency") == 0 &&
                           strcmp(alert->state, "firing") == 0 &&
                           strcmp(alert->locality, "inter-node") == 0;
    }
    assert_int_equal(wire_encode(&s->buffer, type, message), 0);
    take_bytes(s, s->buffer.bytes, s->buffer.length);
    s->frames++;
}

static int take(void *user, const void *bytes, size_t length, uint64_t type, uint64_t instance,
                uint64_t seq, uint64_t window, uint64_t received_ns)
{
    struct stream *s = user;
    struct wire_message message;
    struct job_fault fault = {""};
    (void)seq;
    (void)window;
    assert_int_equal(wire_decode(&message, &s->arena, bytes, length, NULL), 0);
    int code = type == WIRE_TYPE_RANKS
                   ? job_accept_ranks(s->job, instance, &message.ranks, received_ns, &fault)
                   : job_accept_window(s->job, instance, &message.window, received_ns, &fault);
    assert_string_equal(fault.text, "");
    assert_int_equal(code, 0);
    job_advance(s->job, received_ns, received_ns);
    s->newest_ns = received_ns;
    return 0;
}

static struct stream run(const struct replay_make *settings, int beside)
{
    struct stream s = {.hash = UINT64_C(0xcbf29ce484222325)};
    struct rules rules;
    const struct job_output output = {.user = &s, .has_subscribers = wanted, .publish = publish};
    const struct job_options options = {.window_ns = settings->window_ns,
                                        .grace_ns = settings->window_ns / 4,
                                        .lost_ns = 60 * S,
                                        .most_pairs = 65536,
                                        .modelled = 1,
                                        .beside = beside,
                                        .rules = &rules};
    assert_int_equal(rules_default(&rules), 0);
    assert_int_equal(job_create(&s.job, REPLAY_MAKE_JOB, &options, &output), 0);
    assert_int_equal(replay_make(settings, take, &s), 0);
    job_finish(s.job, s.newest_ns);
    assert_int_equal(job_state(s.job), JOB_ENDED);
    job_destroy(s.job);
    rules_finish(&rules);
    wire_arena_finish(&s.arena);
    wire_buffer_finish(&s.buffer);
    return s;
}

static void a_stream_does_not_depend_on_who_looks_at_large_phases(void **state)
{
    (void)state;
    struct replay_make settings = REPLAY_MAKE_DEFAULTS;
    settings.ranks = 1024;
    settings.nodes = 16;
    settings.partners = 26;
    settings.windows = 6;
    settings.step_ns = S / 2;
    struct stream one = run(&settings, 0), other = run(&settings, 1);
    assert_true(one.phases > 2);
    assert_int_equal(one.sent, UINT64_C(12) * 1024 * 26);
    assert_int_equal(one.frames, other.frames);
    assert_int_equal(one.hash, other.hash);
}

/* The patterns alternate: stencil and redistribution. The slow links are found, and reported to be
 * that. */
static void a_job_of_two_patterns_has_two_heights_and_its_slow_links_raise_an_alert(void **state)
{
    (void)state;
    struct replay_make settings = REPLAY_MAKE_DEFAULTS;
    settings.ranks = 64;
    settings.nodes = 8;
    settings.windows = 200;
    struct stream s = run(&settings, 0);
    assert_true(s.phases > 100);
    assert_int_equal(s.heights, 2);
    assert_true(s.inter_alerts > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_does_not_depend_on_who_looks_at_large_phases),
        cmocka_unit_test(a_job_of_two_patterns_has_two_heights_and_its_slow_links_raise_an_alert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
