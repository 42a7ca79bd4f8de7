/* What agents capture of a job: published with its window, kept within bounds, and validated. */
#include "daemon/job/job_captures.h"
#include "holter/error.h"
#include "tests/daemon/agent_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define FIRST 100u
#define NODES 2u
#define RANKS 8u

/* What was published: "t100" a window's totals, "c3" a message of capture 3. */
struct bed {
    struct job *job;
    char told[4096];
    struct wire_capture last;
    size_t records;
    uint64_t seq[NODES];
    uint64_t id; /* that the newest message got */
};

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 1;
}

static void tell(void *user, const char *job, enum wire_type type, const void *message)
{
    struct bed *bed = user;
    size_t used = strlen(bed->told);
    (void)job;
    if (type == WIRE_TYPE_TOTALS)
        snprintf(bed->told + used, sizeof(bed->told) - used, "t%u ",
                 (unsigned)((const struct wire_totals *)message)->window);
    if (type == WIRE_TYPE_CAPTURE) {
        bed->last = *(const struct wire_capture *)message;
        bed->records += bed->last.events_count;
        snprintf(bed->told + used, sizeof(bed->told) - used, "c%u ", (unsigned)bed->last.id);
    }
}

static void appear(struct bed *bed, unsigned node)
{
    struct agent_words words;
    struct job_fault fault;
    struct wire_ranks m =
        agent_words_ranks(&words, "test.0", node, RANKS / NODES, RANKS, ++bed->seq[node]);
    assert_int_equal(job_accept_ranks(bed->job, 11 + node, &m, FIRST * S, &fault), 0);
}

/* Rank r sends most to r + 1, less to r + 2. */
static void report(struct bed *bed, unsigned node, unsigned window)
{
    char host[8];
    struct wire_rank_row rows[RANKS / NODES];
    struct wire_pair_row pairs[RANKS];
    struct job_fault fault;
    for (unsigned i = 0; i < RANKS / NODES; i++) {
        unsigned rank = node * RANKS / NODES + i;
        rows[i] = (struct wire_rank_row){.rank = rank, .in_call_peer = -1};
        for (unsigned k = 0; k < 2; k++)
            pairs[2 * i + k] = (struct wire_pair_row){.source = rank,
                                                      .destination = (rank + 1 + k) % RANKS,
                                                      .messages = 1,
                                                      .bytes = k == 0 ? 100 + rank : 10};
    }
    snprintf(host, sizeof(host), "n%u", node);
    struct wire_window m = {.seq = ++bed->seq[node],
                            .job = "test.0",
                            .host = host,
                            .window = window,
                            .length_ns = S,
                            .ranks = rows,
                            .ranks_count = RANKS / NODES,
                            .pairs = pairs,
                            .pairs_count = RANKS};
    assert_int_equal(job_accept_window(bed->job, 11 + node, &m, (window + 1) * S, &fault), 0);
}

static struct wire_capture_event_row events[3] = {
    {.thread = 0, .number = 4, .kind = 1, .call = 1, .begin_ns = -100, .length_ns = 10, .peer = 2},
    {.thread = 0, .number = 5, .kind = 1, .call = 100, .begin_ns = -50, .running = 1, .peer = -1},
    {.thread = 1, .number = 1, .kind = 1, .call = 100, .begin_ns = -40, .running = 1, .peer = -1},
};
static struct wire_capture_thread_row threads[2] = {{.rank = 0}, {.rank = 1}};
static struct wire_comm_row comms[1] = {{.id = 0, .name = ""}};

static struct wire_captured captured(struct bed *bed, unsigned node, uint64_t id, unsigned window)
{
    return (struct wire_captured){.seq = ++bed->seq[node],
                                  .job = "test.0",
                                  .host = node == 0 ? "n0" : "n1",
                                  .window = window,
                                  .id = id,
                                  .asked_ns = window * S,
                                  .at_ns = window * S + S / 2,
                                  .threads = threads,
                                  .threads_count = 2,
                                  .events = events,
                                  .events_count = 3,
                                  .comms = comms,
                                  .comms_count = 1,
                                  .reason = "to see",
                                  .nodes = 2,
                                  .fault = ""};
}

static int take(struct bed *bed, unsigned node, const struct wire_captured *m,
                struct job_fault *fault)
{
    return job_accept_captured(bed->job, 11 + node, m, m->at_ns, &bed->id, fault);
}

static void must_take(struct bed *bed, unsigned node, uint64_t id, unsigned window)
{
    struct job_fault fault;
    struct wire_captured m = captured(bed, node, id, window);
    assert_int_equal(take(bed, node, &m, &fault), 0);
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));
    struct job_options options = {
        .window_ns = S, .grace_ns = 250 * MS, .lost_ns = 30 * S, .most_pairs = 1000};
    struct job_output output = {bed, wanted, tell, NULL};
    if (bed == NULL || job_create(&bed->job, "test.0", &options, &output) != 0)
        return -1;
    appear(bed, 0);
    appear(bed, 1);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    job_destroy(bed->job);
    free(bed);
    return 0;
}

static void a_capture_is_reported_with_the_window_it_was_read_in(void **state)
{
    struct bed *bed = *state;
    report(bed, 0, FIRST);
    must_take(bed, 0, 1, FIRST + 1); /* before the other node has reported what was before */
    job_advance(bed->job, (FIRST + 1) * S, (FIRST + 1) * S);
    assert_string_equal(bed->told, "");
    report(bed, 1, FIRST);
    job_advance(bed->job, (FIRST + 1) * S, (FIRST + 1) * S);
    assert_string_equal(bed->told, "t100 ");
    must_take(bed, 1, 1, FIRST + 1);
    report(bed, 1, FIRST + 1);
    report(bed, 0, FIRST + 1);
    job_advance(bed->job, (FIRST + 2) * S, (FIRST + 2) * S);
    assert_string_equal(bed->told, "t100 t101 c1 c1 ");
    assert_int_equal(bed->last.answered, 2);
    assert_int_equal(bed->last.records, 6);
    assert_int_equal(job_captures_newest(bed->job), 1);
}

static void the_order_of_arrival_does_not_show(void **state)
{
    struct bed *bed = *state;
    report(bed, 0, FIRST);
    report(bed, 1, FIRST);
    must_take(bed, 0, 7, FIRST + 1);
    job_advance(bed->job, (FIRST + 1) * S, (FIRST + 1) * S);
    assert_string_equal(bed->told, "t100 ");
    report(bed, 0, FIRST + 1);
    report(bed, 1, FIRST + 1);
    job_advance(bed->job, (FIRST + 2) * S, (FIRST + 2) * S);
    assert_string_equal(bed->told, "t100 t101 c7 ");
}

static void what_is_left_is_reported_at_the_end(void **state)
{
    struct bed *bed = *state;
    report(bed, 0, FIRST);
    must_take(bed, 0, 1, FIRST + 1);
    job_finish(bed->job, (FIRST + 2) * S);
    assert_non_null(strstr(bed->told, "c1 "));
}

static void late_subscribers_get_what_was_published_before(void **state)
{
    struct bed *bed = *state;
    struct bed late = {0};
    struct job_output output = {&late, wanted, tell, NULL};
    must_take(bed, 0, 1, FIRST);
    report(bed, 0, FIRST);
    report(bed, 1, FIRST);
    job_advance(bed->job, (FIRST + 1) * S, (FIRST + 1) * S);
    must_take(bed, 0, 2, FIRST + 1);
    job_snapshot(bed->job, WIRE_TYPE_CAPTURE, &output);
    assert_string_equal(late.told, "c1 ");
}

static void windows_far_ahead_do_not_put_a_capture_off(void **state)
{
    struct bed *bed = *state;
    struct job_fault fault;
    struct wire_captured m = captured(bed, 0, 1, FIRST);
    m.window = UINT64_MAX;
    assert_int_equal(take(bed, 0, &m, &fault), 0);
    for (unsigned window = FIRST; window < FIRST + 2; window++) {
        report(bed, 0, window);
        report(bed, 1, window);
        job_advance(bed->job, (window + 1) * S, (window + 1) * S);
    }
    assert_string_equal(bed->told, "t100 t101 c1 ");
}

static void a_capture_that_an_agent_makes_by_itself_gets_a_free_number(void **state)
{
    struct bed *bed = *state;
    struct job_fault fault;
    must_take(bed, 0, 1, FIRST);
    struct wire_captured own = captured(bed, 0, 0, FIRST);
    own.more = 1;
    assert_int_equal(take(bed, 0, &own, &fault), 0);
    assert_int_equal(bed->id, 2);
    struct wire_captured other = own; /* of the other node, at the same time */
    other.host = "n1";
    other.seq = ++bed->seq[1];
    assert_int_equal(take(bed, 1, &other, &fault), 0);
    assert_int_equal(bed->id, 3);
    own.seq = ++bed->seq[0];
    own.more = 0;
    assert_int_equal(take(bed, 0, &own, &fault), 0);
    assert_int_equal(bed->id, 2);
    struct wire_captured asked = captured(bed, 1, 2, FIRST); /* asked for before 2 was taken */
    assert_int_equal(take(bed, 1, &asked, &fault), 0);
    assert_int_equal(bed->id, 4);
    asked = captured(bed, 0, 2, FIRST);
    assert_int_equal(take(bed, 0, &asked, &fault), 0);
    assert_int_equal(bed->id, 4);
    assert_int_equal(job_captures_newest(bed->job), 4);
}

static void rows_that_contradict_the_message_are_refused(void **state)
{
    struct bed *bed = *state;
    static const struct {
        struct wire_capture_event_row event;
        const char *where;
    } wrong[] = {
        {{.thread = 2, .kind = 1}, "events[1].thread is 2 of 2"},
        {{.thread = 0, .kind = 1, .comm = 1}, "events[1].comm is 1 of 1"},
        {{.thread = 0, .kind = 1, .region = 1}, "events[1].region is 1 of 0"},
        {{.thread = 0, .kind = 0}, "events[1].kind is 0"},
    };
    struct job_fault fault;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct wire_capture_event_row rows[2] = {events[0], wrong[i].event};
        struct wire_captured m = captured(bed, 0, 1, FIRST);
        m.events = rows;
        m.events_count = 2;
        assert_int_equal(take(bed, 0, &m, &fault), -HOLTER_ERANGE);
        assert_non_null(strstr(fault.text, wrong[i].where));
    }
    struct wire_captured m = captured(bed, 0, UINT64_MAX, FIRST);
    assert_int_equal(take(bed, 0, &m, &fault), -HOLTER_ERANGE);
    struct wire_capture_thread_row far = {.rank = JOB_MAXIMUM_RANKS};
    m = captured(bed, 0, 1, FIRST);
    m.threads = &far;
    m.threads_count = 1;
    m.events_count = 0;
    assert_int_equal(take(bed, 0, &m, &fault), -HOLTER_ERANGE);
    job_finish(bed->job, (FIRST + 2) * S);
    assert_null(strchr(bed->told, 'c'));
    assert_int_equal(job_captures_newest(bed->job), 0);
}

static void memory_is_bounded_and_the_newest_are_kept(void **state)
{
    struct bed *bed = *state;
    enum { MANY = 100000 };
    struct wire_capture_event_row *rows = calloc(MANY, sizeof(*rows));
    struct bed late = {0};
    struct job_output output = {&late, wanted, tell, NULL};
    struct job_fault fault;
    for (unsigned i = 0; i < MANY; i++)
        rows[i] = (struct wire_capture_event_row){.number = i,
                                                  .kind = 1,
                                                  .call = 1,
                                                  .begin_ns = -(INT64_C(1) << 40) + i,
                                                  .length_ns = UINT64_C(1) << 40,
                                                  .bytes = UINT64_C(1) << 40};
    for (unsigned id = 1; id <= 10; id++) {
        struct wire_captured m = captured(bed, 0, id, FIRST);
        m.events = rows;
        m.events_count = MANY;
        assert_int_equal(take(bed, 0, &m, &fault), 0);
    }
    job_finish(bed->job, (FIRST + 2) * S);
    job_snapshot(bed->job, WIRE_TYPE_CAPTURE, &output);
    assert_non_null(strstr(late.told, "c10 "));
    assert_null(strstr(late.told, "c1 "));
    size_t each = MANY * (6 + 3 * 9); /* bytes of a row at least */
    assert_true(late.records / MANY * each <= JOB_CAPTURE_BYTES);
    assert_true(late.records >= MANY);
    free(rows);
}

static void agents_are_those_that_have_the_ranks(void **state)
{
    struct bed *bed = *state;
    uint64_t *instances, ranks;
    assert_int_equal(job_capture_agents(bed->job, "5,7", &instances, &ranks), 1);
    assert_int_equal(instances[0], 12);
    assert_int_equal(ranks, 2);
    free(instances);
    assert_int_equal(job_capture_agents(bed->job, "", &instances, &ranks), 2);
    assert_int_equal(ranks, RANKS);
    free(instances);
    assert_int_equal(job_capture_agents(bed->job, "8-100", &instances, &ranks), 0);
    free(instances);
}

static void partners_are_those_of_most_bytes(void **state)
{
    struct bed *bed = *state;
    char text[64];
    report(bed, 0, FIRST);
    report(bed, 1, FIRST);
    job_advance(bed->job, (FIRST + 1) * S, (FIRST + 1) * S);
    assert_int_equal(job_capture_partners(bed->job, "4", 2, text, sizeof(text)), 0);
    assert_string_equal(text, "3-5"); /* 104 bytes to 5, 103 from 3, 10 to 6 and from 2 */
    assert_int_equal(job_capture_partners(bed->job, "4", 64, text, sizeof(text)), 0);
    assert_string_equal(text, "2-6");
    assert_int_equal(job_capture_partners(bed->job, "0-3,...", 4, text, sizeof(text)), 0);
    assert_string_equal(text, "0-7");
    assert_int_equal(job_capture_partners(bed->job, "20", 4, text, sizeof(text)), -HOLTER_EEMPTY);
}

int main(void)
{
#define WITH_BED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_BED(a_capture_is_reported_with_the_window_it_was_read_in),
        WITH_BED(the_order_of_arrival_does_not_show),
        WITH_BED(what_is_left_is_reported_at_the_end),
        WITH_BED(late_subscribers_get_what_was_published_before),
        WITH_BED(windows_far_ahead_do_not_put_a_capture_off),
        WITH_BED(a_capture_that_an_agent_makes_by_itself_gets_a_free_number),
        WITH_BED(rows_that_contradict_the_message_are_refused),
        WITH_BED(memory_is_bounded_and_the_newest_are_kept),
        WITH_BED(agents_are_those_that_have_the_ranks),
        WITH_BED(partners_are_those_of_most_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
