/* What the viewer keeps of captures: each record once, whatever comes twice, in bounded memory. */
#include "tests/viewer/synthetic.h"

#include "viewer/model/model.h"

#include "holter/call.h"
#include "holter/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int64_t second = 1000000000;

static const struct wire_comm_row comms[] = {{.id = 0, .name = ""},
                                             {.id = 1, .name = "MPI_COMM_WORLD"}};
static const struct wire_region_row regions[] = {{.name = ""}, {.name = "halo"}};

static struct wire_capture_event_row event(uint64_t thread, uint64_t number, uint64_t kind,
                                           int64_t peer)
{
    return (struct wire_capture_event_row){.thread = thread,
                                           .number = number,
                                           .kind = kind,
                                           .call = call_by_name("MPI_Waitall"),
                                           .begin_ns = -1000 + (int64_t)number,
                                           .length_ns = 10,
                                           .peer = peer,
                                           .tag = 7,
                                           .bytes = 100,
                                           .comm = 1,
                                           .region = 1};
}

static struct wire_capture message(uint64_t id, const struct wire_capture_thread_row *threads,
                                   uint64_t thread_count,
                                   const struct wire_capture_event_row *events,
                                   uint64_t event_count)
{
    return (struct wire_capture){.job = "48213.0",
                                 .id = id,
                                 .asked_ns = (uint64_t)(100 * second),
                                 .reason = "asked for by hand",
                                 .nodes = 2,
                                 .answered = 1,
                                 .host = "node001",
                                 .at_ns = (uint64_t)(100 * second),
                                 .threads = threads,
                                 .threads_count = thread_count,
                                 .events = events,
                                 .events_count = event_count,
                                 .comms = comms,
                                 .comms_count = 2,
                                 .regions = regions,
                                 .regions_count = 2};
}

static void records_are_entered_once_however_often_they_come(void **state)
{
    (void)state;
    struct captures all = {0};
    const struct wire_capture_thread_row threads[] = {
        {.rank = 5}, {.rank = 3}, {.rank = 3, .thread = 1}};
    const struct wire_capture_event_row events[] = {
        event(0, 10, EVENT_CALL, 1), event(0, 11, EVENT_CALL, 2), event(1, 4, EVENT_CALL, 3),
        event(2, 0, EVENT_CALL, PEER_NONE)};
    struct wire_capture m = message(1, threads, 3, events, 4);
    for (int i = 0; i < 3; i++)
        assert_int_equal(captures_apply(&all, &m), 0);
    const struct capture *c = captures_find(&all, 1);
    assert_non_null(c);
    assert_int_equal(c->thread_count, 3);
    assert_int_equal(c->ranks, 2);
    assert_int_equal(c->calls, 4);
    assert_int_equal(all.calls, 4);
    assert_int_equal(c->threads[0].rank, 3);
    assert_int_equal(c->threads[1].thread, 1);
    assert_int_equal(c->threads[2].rank, 5);
    assert_int_equal(c->threads[2].count, 2);
    assert_int_equal(c->begin_ns, 100 * second - 1000);
    assert_int_equal(c->end_ns, 100 * second);
    assert_int_equal(c->threads[1].read_ns, 100 * second);
    const struct capture_call *call = &c->threads[2].calls[1];
    assert_int_equal(call->peer, 2);
    assert_int_equal(call->tag, 7);
    assert_string_equal(c->names[call->comm].text, "MPI_COMM_WORLD");
    assert_string_equal(c->names[call->region].text, "halo");
    assert_true(capture_has_rank(c, 3) && capture_has_rank(c, 5) && !capture_has_rank(c, 4));
    captures_finish(&all);
}

static void messages_of_a_call_are_added_to_it(void **state)
{
    (void)state;
    struct captures all = {0};
    const struct wire_capture_thread_row threads[] = {{.rank = 0}};
    struct wire_capture_event_row events[] = {
        event(0, 3, EVENT_PART, 9), /* its call was overwritten */
        event(0, 4, EVENT_CALL, PEER_NONE), event(0, 5, EVENT_PART, 2),
        event(0, 6, EVENT_REGION, 1), event(0, 7, EVENT_CALL, 4)};
    /* the rest of its messages come with the next part of the capture */
    const struct wire_capture_event_row rest[] = {event(0, 8, EVENT_PART, 4),
                                                  event(0, 9, EVENT_PART, 6)};
    struct wire_capture first = message(1, threads, 1, events, 5),
                        second_part = message(1, threads, 1, rest, 2);
    captures_apply(&all, &first);
    captures_apply(&all, &second_part);
    const struct capture_thread *t = &captures_find(&all, 1)->threads[0];
    assert_int_equal(t->count, 2);
    assert_int_equal(t->calls[0].messages, 1);
    assert_int_equal(t->calls[0].peer, 2);
    assert_int_equal(t->calls[0].bytes, 200);
    assert_int_equal(t->calls[0].peers, 0);
    assert_int_equal(t->calls[1].messages, 2);
    assert_int_equal(t->calls[1].peer, 4);
    assert_int_equal(t->calls[1].peers, 1);
    captures_finish(&all);
}

/* Nodes tell their ranks in any order, in parts of any size: the same as all at once. */
static void parts_in_any_order_make_the_same_capture(void **state)
{
    (void)state;
    enum { RANKS = 97, EACH = 5 };
    struct captures one = {0}, parts = {0};
    struct wire_capture_thread_row threads[RANKS];
    struct wire_capture_event_row events[RANKS * EACH];
    for (uint32_t i = 0; i < RANKS; i++) {
        threads[i] = (struct wire_capture_thread_row){.rank = i * 41 % RANKS};
        for (uint32_t k = 0; k < EACH; k++)
            events[i * EACH + k] = event(i, k, EVENT_CALL, (int64_t)threads[i].rank);
    }
    struct wire_capture whole = message(2, threads, RANKS, events, RANKS * EACH);
    captures_apply(&one, &whole);
    for (uint32_t i = 0; i < RANKS; i += 10) {
        struct wire_capture_event_row some[10 * EACH];
        uint32_t count = i + 10 < RANKS ? 10 : RANKS - i;
        memcpy(some, events + (size_t)i * EACH, count * EACH * sizeof *some);
        for (uint32_t k = 0; k < count * EACH; k++)
            some[k].thread -= i;
        struct wire_capture m = message(2, threads + i, count, some, count * EACH);
        captures_apply(&parts, &m);
    }
    const struct capture *a = captures_find(&one, 2), *b = captures_find(&parts, 2);
    assert_int_equal(b->thread_count, RANKS);
    assert_int_equal(b->ranks, RANKS);
    assert_int_equal(a->calls, b->calls);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(a->threads[i].rank, i);
        assert_int_equal(b->threads[i].rank, i);
        assert_int_equal(b->threads[i].count, EACH);
        assert_memory_equal(a->threads[i].calls, b->threads[i].calls,
                            EACH * sizeof *a->threads[i].calls);
    }
    captures_finish(&one);
    captures_finish(&parts);
}

static void the_oldest_go_when_there_are_too_many(void **state)
{
    (void)state;
    struct captures all = {0};
    const struct wire_capture_thread_row threads[] = {{.rank = 0}};
    const struct wire_capture_event_row events[] = {event(0, 0, EVENT_CALL, 1)};
    for (uint64_t id = 1; id <= CAPTURES + 10; id++) {
        struct wire_capture m = message(id, threads, 1, events, 1);
        captures_apply(&all, &m);
    }
    assert_int_equal(all.count, CAPTURES);
    assert_int_equal(all.calls, CAPTURES);
    assert_int_equal(all.dropped, 10);
    assert_null(captures_find(&all, 10));
    assert_non_null(captures_find(&all, 11));
    /* what was given up does not push out newer ones when it is told again */
    struct wire_capture again = message(3, threads, 1, events, 1);
    assert_int_equal(captures_apply(&all, &again), 0);
    assert_null(captures_find(&all, 3));
    assert_non_null(captures_find(&all, 11));
    captures_finish(&all);
}

static void calls_are_bounded_and_those_beyond_the_maximum_are_counted(void **state)
{
    (void)state;
    enum { EACH = CAPTURES_CALLS / 4 };
    struct captures all = {0};
    const struct wire_capture_thread_row threads[] = {{.rank = 0}};
    struct wire_capture_event_row *events = calloc(EACH + 1, sizeof *events);
    for (uint32_t i = 0; i < EACH; i++)
        events[i] = event(0, i, EVENT_CALL, 1);
    events[EACH] = event(0, EACH, EVENT_PART, 2);
    for (uint64_t id = 1; id <= 6; id++) {
        struct wire_capture m = message(id, threads, 1, events, EACH);
        captures_apply(&all, &m);
        assert_true(all.calls <= CAPTURES_CALLS);
    }
    assert_null(captures_find(&all, 2));
    assert_int_equal(captures_find(&all, 6)->calls, EACH);
    /* the oldest that is there does not grow at the cost of newer ones */
    const struct wire_capture_thread_row other[] = {{.rank = 1}};
    struct wire_capture more = message(3, other, 1, events, EACH + 1);
    captures_apply(&all, &more);
    const struct capture *c = captures_find(&all, 3);
    assert_int_equal(c->calls, EACH);
    assert_int_equal(c->left_out, EACH);
    assert_int_equal(captures_find(&all, 4)->calls, EACH);
    free(events);
    captures_finish(&all);
}

static void ends_of_messages_are_kept_once_and_those_of_older_captures_make_room(void **state)
{
    (void)state;
    enum { EACH = CAPTURES_MESSAGES / 3 };
    struct captures all = {0};
    const struct wire_capture_thread_row threads[] = {{.rank = 4}};
    struct wire_capture_event_row *events = calloc(EACH, sizeof *events);
    for (uint32_t i = 0; i < EACH; i++) {
        events[i] = event(0, i, i % 2 ? EVENT_PART : EVENT_CALL, 1);
        events[i].flags = i % 2 ? EVENT_RECV | EVENT_DONE : EVENT_SEND | EVENT_POST;
    }
    for (uint64_t id = 1; id <= 3; id++) {
        struct wire_capture m = message(id, threads, 1, events, EACH);
        assert_int_equal(captures_apply(&all, &m), 0);
    }
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(captures_find(&all, id)->messages.count, EACH);
    const struct dependency_end *first = captures_find(&all, 3)->messages.ends;
    assert_int_equal(first[0].receive, 0);
    assert_int_equal(first[1].receive, 1);
    assert_int_equal(first[1].rank, 4);
    struct wire_capture fourth = message(4, threads, 1, events, EACH);
    assert_int_equal(captures_apply(&all, &fourth), 0);
    assert_int_equal(captures_find(&all, 1)->messages.count, 0);
    assert_true(captures_find(&all, 1)->without_messages);
    assert_int_equal(captures_find(&all, 2)->messages.count, EACH);
    assert_int_equal(captures_find(&all, 4)->messages.count, EACH);
    /* what was dropped does not push out newer ones when it arrives again */
    struct wire_capture again = message(1, threads, 1, events, EACH);
    assert_int_equal(captures_apply(&all, &again), 0);
    assert_int_equal(captures_find(&all, 1)->messages.count, 0);
    assert_int_equal(captures_find(&all, 2)->messages.count, EACH);
    free(events);
    captures_finish(&all);
}

static void a_capture_that_comes_again_takes_no_room_of_messages(void **state)
{
    (void)state;
    enum { OLDER = CAPTURES_MESSAGES / 4, NEWER = CAPTURES_MESSAGES / 8 * 5 };
    struct captures all = {0};
    const struct wire_capture_thread_row threads[] = {{.rank = 4}};
    const struct wire_source_row sources[] = {{.comm = 1, .rank = 4, .source = 5}};
    struct wire_capture_event_row *events = calloc(NEWER, sizeof *events);
    for (uint32_t i = 0; i < NEWER; i++) {
        events[i] = event(0, i, EVENT_CALL, 1);
        events[i].flags = EVENT_SEND | EVENT_POST;
    }
    struct wire_capture older = message(1, threads, 1, events, OLDER);
    struct wire_capture newer = message(2, threads, 1, events, NEWER);
    older.sources = newer.sources = sources;
    older.sources_count = newer.sources_count = 1;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(captures_apply(&all, &older), 0);
        assert_int_equal(captures_apply(&all, &newer), 0);
        for (uint64_t id = 1; id <= 2; id++) {
            const struct capture *c = captures_find(&all, id);
            assert_false(c->without_messages);
            assert_int_equal(c->messages.count, id == 1 ? OLDER : NEWER);
            assert_int_equal(c->messages.source_count, 1);
        }
    }
    free(events);
    captures_finish(&all);
}

static void hostile_figures_stay_within_bounds(void **state)
{
    (void)state;
    struct captures all = {0};
    const struct wire_capture_thread_row threads[] = {{.rank = UINT64_MAX}, {.rank = UINT64_MAX}};
    struct wire_capture_event_row events[] = {
        event(9, 0, EVENT_CALL, 1), event(0, UINT64_MAX, EVENT_CALL, INT64_MIN),
        event(1, UINT64_MAX, EVENT_CALL, INT64_MAX), event(1, UINT64_MAX, EVENT_PART, 3)};
    for (int i = 1; i < 4; i++) {
        events[i].begin_ns = i == 1 ? INT64_MIN : INT64_MAX;
        events[i].length_ns = events[i].bytes = events[i].bytes_in = UINT64_MAX;
        events[i].comm = events[i].region = UINT64_MAX;
        events[i].call = UINT64_MAX;
    }
    struct wire_capture m = message(UINT64_MAX, threads, 2, events, 4);
    m.at_ns = m.asked_ns = UINT64_MAX;
    m.fault = "no answer";
    assert_int_equal(captures_apply(&all, &m), 0);
    assert_int_equal(captures_apply(&all, &m), 0);
    const struct capture *c = captures_find(&all, UINT64_MAX);
    assert_int_equal(c->thread_count, 1);
    assert_true(c->calls >= 1 && c->end_ns >= c->begin_ns);
    assert_string_equal(c->fault, "node001: no answer");
    assert_int_equal(c->threads[0].calls[0].peer, PEER_UNKNOWN);
    captures_finish(&all);
}

static void into(void *user, const struct wire_message *m, int snapshot)
{
    assert_int_equal(model_apply(user, m, snapshot), 0);
}

static void captures_go_with_their_job_and_come_with_its_state(void **state)
{
    (void)state;
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 8 << 20), 0);
    synthetic_init(&job, 27, 4, 6, 1);
    synthetic_begin(&job, into, m);
    synthetic_window(&job, into, m);
    synthetic_capture(&job, &(struct synthetic_capture){.id = 1, .alert = 7, .calls = 40}, 0, into,
                      m);
    assert_int_equal(m->captures.count, 1);
    assert_int_equal(m->captures.items[0].ranks, 27);
    uint64_t calls = m->captures.calls;
    /* the whole state again, as after frames that were missed */
    synthetic_capture(&job, &(struct synthetic_capture){.id = 1, .alert = 7, .calls = 40}, 1, into,
                      m);
    assert_int_equal(m->captures.calls, calls);
    model_rewind(m, 0);
    assert_int_equal(m->captures.count, 0);
    synthetic_capture(&job, &(struct synthetic_capture){.id = 1, .alert = 7, .calls = 40}, 1, into,
                      m);
    assert_int_equal(m->captures.calls, calls);
    model_forget_job(m);
    assert_int_equal(m->captures.count, 0);
    synthetic_finish(&job);
    model_destroy(m);
}

static void an_alert_has_the_capture_that_was_made_for_it(void **state)
{
    (void)state;
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 8 << 20), 0);
    synthetic_init(&job, 27, 4, 6, 1);
    synthetic_begin(&job, into, m);
    synthetic_window(&job, into, m);
    synthetic_capture(&job, &(struct synthetic_capture){.id = 1, .alert = 7, .calls = 4}, 0, into,
                      m);
    synthetic_capture(&job, &(struct synthetic_capture){.id = 2, .calls = 4}, 0, into, m);
    const struct alert growth = {.id = 7, .kind = "latency"}, other = {.id = 8, .kind = "latency"};
    assert_int_equal(captures_of_alert(&m->captures, &growth)->id, 1);
    assert_null(captures_of_alert(&m->captures, &other));
    /* an agent that captures its dying ranks knows no alert */
    struct alert death = {.id = 9,
                          .kind = "rank-died",
                          .rank = 3,
                          .onset_ns = (uint64_t)captures_find(&m->captures, 2)->asked_ns};
    assert_int_equal(captures_of_alert(&m->captures, &death)->id, 2);
    death.rank = 4000;
    assert_null(captures_of_alert(&m->captures, &death));
    death.rank = 3;
    death.onset_ns += (uint64_t)(60 * second);
    assert_null(captures_of_alert(&m->captures, &death));
    synthetic_finish(&job);
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_entered_once_however_often_they_come),
        cmocka_unit_test(messages_of_a_call_are_added_to_it),
        cmocka_unit_test(parts_in_any_order_make_the_same_capture),
        cmocka_unit_test(the_oldest_go_when_there_are_too_many),
        cmocka_unit_test(calls_are_bounded_and_those_beyond_the_maximum_are_counted),
        cmocka_unit_test(ends_of_messages_are_kept_once_and_those_of_older_captures_make_room),
        cmocka_unit_test(a_capture_that_comes_again_takes_no_room_of_messages),
        cmocka_unit_test(hostile_figures_stay_within_bounds),
        cmocka_unit_test(captures_go_with_their_job_and_come_with_its_state),
        cmocka_unit_test(an_alert_has_the_capture_that_was_made_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
