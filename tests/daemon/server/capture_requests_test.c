/* Requests for captures: which agents are asked, how often, and what an operator who waits is sent.
 */
#include "daemon/server/capture_requests.h"
#include "daemon/server/publish.h"
#include "holter/error.h"
#include "tests/daemon/agent_words.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define FIRST 100u
#define NODES 4u
#define RANKS 8u

struct bed {
    struct rules rules;
    struct publisher *publisher;
    struct jobs *jobs;
    struct captures *captures;
    uint64_t seq[NODES], now_ns;
    /* What agents were asked. */
    unsigned asked;
    struct wire_capture_ask ask;
    char ranks[4097], reason[257];
    uint64_t instances[NODES];
    size_t count;
    /* What the person was sent. */
    char sent[256]; /* "7 " captured by the agent of host n7, "r0 " a reply of code 0 */
    char text[1025];
    int gone;
};

static void on_kept(void *user, uint64_t instance, uint64_t seq)
{
    (void)user;
    (void)instance;
    (void)seq;
}

static void on_ask(void *user, const uint64_t *instances, size_t count,
                   const struct wire_capture_ask *ask)
{
    struct bed *bed = user;
    bed->asked++;
    bed->ask = *ask;
    bed->count = count;
    memcpy(bed->instances, instances, count * sizeof(*instances));
    snprintf(bed->ranks, sizeof(bed->ranks), "%s", ask->ranks);
    snprintf(bed->reason, sizeof(bed->reason), "%s", ask->reason);
}

static int on_send(void *user, const struct peer_id *peer, enum wire_type type, const void *message)
{
    struct bed *bed = user;
    size_t used = strlen(bed->sent);
    assert_int_equal(peer->length, 4);
    assert_memory_equal(peer->bytes, "peer", 4);
    if (bed->gone)
        return -HOLTER_EUNREACHABLE;
    if (type == WIRE_TYPE_CAPTURED) {
        snprintf(bed->sent + used, sizeof(bed->sent) - used, "%s ",
                 ((const struct wire_captured *)message)->host + 1);
        return 0;
    }
    assert_int_equal(type, WIRE_TYPE_REPLY);
    const struct wire_reply *reply = message;
    assert_int_equal(reply->id, 33);
    snprintf(bed->sent + used, sizeof(bed->sent) - used, "r%d ", (int)reply->code);
    snprintf(bed->text, sizeof(bed->text), "%s", reply->text);
    return 0;
}

static void on_captured(void *user, uint64_t instance, const struct wire_captured *captured,
                        uint64_t id)
{
    captures_captured(((struct bed *)user)->captures, instance, captured, id);
}

/* An agent's message. @return what became of it */
static int give(struct bed *bed, unsigned node, enum wire_type type, const void *message)
{
    struct wire_message whole = {.type = type};
    struct job_fault fault;
    zmq_msg_t bytes;
    memcpy(&whole.job, message,
           type == WIRE_TYPE_RANKS    ? sizeof(struct wire_ranks)
           : type == WIRE_TYPE_WINDOW ? sizeof(struct wire_window)
                                      : sizeof(struct wire_captured));
    assert_int_equal(zmq_msg_init_size(&bytes, 8), 0);
    memset(zmq_msg_data(&bytes), 0, 8);
    int code = jobs_ingest(bed->jobs, 11 + node, &whole, &bytes, bed->now_ns, &fault);
    zmq_msg_close(&bytes);
    return code;
}

static void appear(struct bed *bed, unsigned node)
{
    struct agent_words words;
    struct wire_ranks m =
        agent_words_ranks(&words, "job.1", node, RANKS / NODES, RANKS, ++bed->seq[node]);
    assert_int_equal(give(bed, node, WIRE_TYPE_RANKS, &m), 0);
}

/* Each rank sends to the next one. */
static void report(struct bed *bed, unsigned node, uint64_t flags)
{
    char host[8];
    struct wire_rank_row rows[RANKS / NODES];
    struct wire_pair_row pairs[RANKS / NODES];
    for (unsigned i = 0; i < RANKS / NODES; i++) {
        unsigned rank = node * RANKS / NODES + i;
        rows[i] = (struct wire_rank_row){.rank = rank, .in_call_peer = -1};
        pairs[i] = (struct wire_pair_row){
            .source = rank, .destination = (rank + 1) % RANKS, .messages = 1, .bytes = 8};
    }
    snprintf(host, sizeof(host), "n%u", node);
    struct wire_window m = {.seq = ++bed->seq[node],
                            .job = "job.1",
                            .host = host,
                            .window = bed->now_ns / S - 1,
                            .length_ns = S,
                            .flags = flags,
                            .ranks = rows,
                            .ranks_count = RANKS / NODES,
                            .pairs = pairs,
                            .pairs_count = RANKS / NODES};
    assert_int_equal(give(bed, node, WIRE_TYPE_WINDOW, &m), 0);
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));
    char why[256];
    assert_non_null(bed);
    bed->now_ns = (FIRST + 1) * S;
    assert_int_equal(rules_default(&bed->rules), 0);
    assert_int_equal(publisher_create(&bed->publisher), 0);
    struct jobs_options jobs = {
        .job = {.window_ns = S, .grace_ns = S / 4, .lost_ns = 30 * S, .most_pairs = 100},
        .publisher = publisher_for_jobs(bed->publisher),
        .user = bed,
        .kept = on_kept,
        .captured = on_captured};
    assert_int_equal(jobs_create(&bed->jobs, NULL, &jobs, why, sizeof(why)), 0);
    struct captures_options options = {bed->jobs, &bed->rules, bed, on_ask, on_send};
    assert_int_equal(captures_create(&bed->captures, &options), 0);
    for (unsigned node = 0; node < NODES; node++)
        appear(bed, node);
    for (unsigned node = 0; node < NODES; node++)
        report(bed, node, 0);
    jobs_advance(bed->jobs, bed->now_ns, bed->now_ns);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    captures_destroy(bed->captures);
    jobs_destroy(bed->jobs, bed->now_ns);
    publisher_destroy(bed->publisher);
    rules_finish(&bed->rules);
    free(bed);
    return 0;
}

static int ask(struct bed *bed, const char *argument, char why[256])
{
    struct peer peer = {.id = {"peer", 4}};
    struct wire_request request = {.id = 33, .op = "capture", .argument = argument};
    return captures_request(bed->captures, &peer, &request, bed->now_ns, why, 256);
}

static void answer(struct bed *bed, unsigned node, uint64_t id, int more)
{
    char host[8];
    snprintf(host, sizeof(host), "n%u", node);
    struct wire_captured m = {.seq = ++bed->seq[node],
                              .job = "job.1",
                              .host = host,
                              .window = FIRST + 1,
                              .id = id,
                              .at_ns = bed->now_ns,
                              .more = (uint64_t)more};
    assert_int_equal(give(bed, node, WIRE_TYPE_CAPTURED, &m), 0);
}

/* ---- persons --------------------------------------------------------------- */

static void a_capture_of_a_period_has_its_end(void **state)
{
    struct bed *bed = *state;
    char why[256], argument[64];
    snprintf(argument, sizeof(argument), "until=%" PRIu64, bed->now_ns - S);
    assert_int_equal(ask(bed, argument, why), 0);
    assert_int_equal(bed->ask.until_ns, bed->now_ns - S);
    assert_int_equal(bed->ask.asked_ns, bed->now_ns - S);
    captures_tick(bed->captures, bed->now_ns + CAPTURES_TIMEOUT_NS);
    snprintf(argument, sizeof(argument), "until=%" PRIu64, bed->now_ns + S);
    assert_int_equal(ask(bed, argument, why), 0);
    assert_int_equal(bed->ask.until_ns, 0); /* it has not ended */
    assert_int_equal(bed->ask.asked_ns, bed->now_ns);
}

static void an_operator_is_sent_what_each_agent_captured_and_a_reply(void **state)
{
    struct bed *bed = *state;
    char why[256];
    assert_int_equal(ask(bed, "ranks=0,6-7 events=100", why), 0);
    assert_int_equal(bed->asked, 1);
    assert_int_equal(bed->count, 2);
    assert_int_equal(bed->instances[0], 11);
    assert_int_equal(bed->instances[1], 14);
    assert_int_equal(bed->ask.id, 1);
    assert_int_equal(bed->ask.events, 100);
    assert_int_equal(bed->ask.nodes, 2);
    assert_int_equal(bed->ask.alert, 0);
    assert_int_equal(bed->ask.until_ns, 0);
    assert_string_equal(bed->ranks, "0,6-7");
    answer(bed, 3, 1, 1);
    answer(bed, 0, 1, 0);
    assert_string_equal(bed->sent, "3 0 ");
    answer(bed, 3, 1, 0);
    assert_string_equal(bed->sent, "3 0 3 r0 ");
    assert_string_equal(bed->text, "");
    assert_int_equal(ask(bed, "", why), 0);
    assert_int_equal(bed->ask.id, 2);
    assert_int_equal(bed->count, NODES);
}

static void agents_that_do_not_answer_are_named(void **state)
{
    struct bed *bed = *state;
    char why[256];
    assert_int_equal(ask(bed, "", why), 0);
    answer(bed, 1, 1, 0);
    answer(bed, 2, 1, 1);
    captures_tick(bed->captures, bed->now_ns + CAPTURES_TIMEOUT_NS - 1);
    assert_string_equal(bed->sent, "1 2 ");
    captures_tick(bed->captures, bed->now_ns + CAPTURES_TIMEOUT_NS);
    assert_string_equal(bed->sent, "1 2 r0 ");
    assert_non_null(strstr(bed->text, "n0"));
    assert_non_null(strstr(bed->text, "n2"));
    assert_non_null(strstr(bed->text, "n3"));
    assert_null(strstr(bed->text, "n1"));
}

static void nobody_answering_is_a_failure(void **state)
{
    struct bed *bed = *state;
    char why[256], expected[16];
    assert_int_equal(ask(bed, "ranks=3", why), 0);
    captures_tick(bed->captures, bed->now_ns + CAPTURES_TIMEOUT_NS);
    snprintf(expected, sizeof(expected), "r%d ", -HOLTER_ETIMEOUT);
    assert_string_equal(bed->sent, expected);
}

static void answers_that_nobody_waits_for_are_only_kept(void **state)
{
    struct bed *bed = *state;
    char why[256];
    answer(bed, 0, 77, 0); /* of a daemon before this one, or not asked for at all */
    assert_string_equal(bed->sent, "");
    assert_int_equal(ask(bed, "ranks=0", why), 0);
    assert_int_equal(bed->ask.id, 78); /* numbers continue after those that are known */
    answer(bed, 1, 78, 0);             /* one that was not asked */
    answer(bed, 0, 5, 0);              /* of another capture */
    assert_string_equal(bed->sent, "1 ");
    answer(bed, 0, 78, 0);
    assert_string_equal(bed->sent, "1 0 r0 ");
}

static void an_operator_who_has_left_is_forgotten(void **state)
{
    struct bed *bed = *state;
    char why[256];
    assert_int_equal(ask(bed, "", why), 0);
    assert_int_equal(ask(bed, "", why), -HOLTER_EFULL); /* one at a time */
    bed->gone = 1;
    answer(bed, 0, 1, 0);
    bed->gone = 0;
    answer(bed, 1, 1, 0);
    assert_string_equal(bed->sent, "");
    assert_int_equal(ask(bed, "", why), 0);
}

static void a_wrong_question_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *argument, *why;
        int code;
    } wrong[] = {
        {"ranks=x", "'ranks=x': expected a list of ranks", -HOLTER_EUSAGE},
        {"ranks=", "'ranks=': expected a list of ranks", -HOLTER_EUSAGE},
        {"events=0", "'events=0': expected a number from 1 to 65536", -HOLTER_EUSAGE},
        {"events=-1", "'events=-1': expected a number", -HOLTER_EUSAGE},
        {"events=65537", "a number from 1 to 65536", -HOLTER_EUSAGE},
        {"events=5x", "'events=5x'", -HOLTER_EUSAGE},
        {"what=5", "'what=5': expected ranks=, events= or until=", -HOLTER_EUSAGE},
        {"ranks=100", "no such rank of job job.1", -HOLTER_EEMPTY},
    };
    struct bed *bed = *state;
    char why[256];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(ask(bed, wrong[i].argument, why), wrong[i].code);
        assert_non_null(strstr(why, wrong[i].why));
    }
    struct peer peer = {.id = {"peer", 4}};
    struct wire_request request = {.id = 33, .job = "other", .argument = ""};
    assert_int_equal(
        captures_request(bed->captures, &peer, &request, bed->now_ns, why, sizeof(why)),
        -HOLTER_ENOJOB);
    assert_int_equal(bed->asked, 0);
}

static void a_job_that_has_ended_is_not_asked(void **state)
{
    struct bed *bed = *state;
    char why[256];
    bed->now_ns += S;
    for (unsigned node = 0; node < NODES; node++)
        report(bed, node, WINDOW_FINAL);
    jobs_advance(bed->jobs, bed->now_ns, bed->now_ns);
    assert_int_equal(ask(bed, "", why), -HOLTER_EEMPTY);
    assert_non_null(strstr(why, "does not run any more"));
}

/* ---- alerts ---------------------------------------------------------------- */

static void fire(struct bed *bed, uint64_t id, const char *rule, const char *severity,
                 const char *state, const char *ranks)
{
    struct wire_alert alert = {.job = "job.1",
                               .id = id,
                               .state = state,
                               .rule = rule,
                               .severity = severity,
                               .ranks = ranks,
                               .rank = -1,
                               .title = "it is slow"};
    captures_alert(bed->captures, &alert);
}

static void an_alert_captures_its_ranks_and_their_partners(void **state)
{
    struct bed *bed = *state;
    fire(bed, 4, "hang", "critical", "pending", "3");
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 0);
    fire(bed, 4, "hang", "critical", "firing", "3");
    assert_int_equal(bed->asked, 0); /* not from inside the call of the job */
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 1);
    assert_string_equal(bed->ranks, "2-4");
    assert_string_equal(bed->reason, "alert 4: it is slow");
    assert_int_equal(bed->ask.alert, 4);
    assert_int_equal(bed->ask.events, CAPTURES_EVENTS);
    assert_int_equal(bed->count, 2);
}

static void an_alert_is_captured_once(void **state)
{
    struct bed *bed = *state;
    for (int i = 0; i < 5; i++) {
        fire(bed, 4, "hang", "critical", "firing", "3"); /* updates */
        captures_tick(bed->captures, bed->now_ns + (uint64_t)i * 2 * CAPTURES_PAUSE_NS);
    }
    assert_int_equal(bed->asked, 1);
}

/* By a daemon that has taken the job over: it has read what the one before it was answered. */
static void an_alert_that_was_captured_by_another_daemon_is_not_captured_again(void **state)
{
    struct bed *bed = *state;
    struct wire_captured m = {.seq = ++bed->seq[0],
                              .job = "job.1",
                              .host = "n0",
                              .window = FIRST + 1,
                              .id = 1,
                              .at_ns = bed->now_ns,
                              .alert = 4};
    assert_int_equal(give(bed, 0, WIRE_TYPE_CAPTURED, &m), 0);
    fire(bed, 4, "hang", "critical", "firing", "3");
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 0);
    fire(bed, 5, "hang", "critical", "firing", "3");
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 1);
}

/* A job of an id that a forgotten job had numbers its alerts from 1, too. */
static void an_alert_with_the_number_of_another_is_captured_too(void **state)
{
    struct bed *bed = *state;
    struct wire_alert alert = {.job = "job.1",
                               .id = 1,
                               .state = "firing",
                               .rule = "hang",
                               .severity = "critical",
                               .ranks = "3",
                               .rank = -1,
                               .title = "it is slow",
                               .since_ns = S};
    captures_alert(bed->captures, &alert);
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 1);
    alert.since_ns = bed->now_ns;
    captures_alert(bed->captures, &alert);
    captures_tick(bed->captures, bed->now_ns + CAPTURES_PAUSE_NS);
    assert_int_equal(bed->asked, 2);
    captures_alert(bed->captures, &alert);
    captures_tick(bed->captures, bed->now_ns + 2 * CAPTURES_PAUSE_NS);
    assert_int_equal(bed->asked, 2);
}

static void alerts_are_captured_no_faster_than_allowed(void **state)
{
    struct bed *bed = *state;
    fire(bed, 1, "latency-growth", "warning", "firing", "3");
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 1);
    fire(bed, 2, "latency-growth", "warning", "firing", "4");
    fire(bed, 3, "hang", "critical", "firing", "5");          /* is worse */
    fire(bed, 5, "latency-growth", "warning", "firing", "6"); /* is not */
    captures_tick(bed->captures, bed->now_ns + CAPTURES_PAUSE_NS - 1);
    assert_int_equal(bed->asked, 1);
    captures_tick(bed->captures, bed->now_ns + CAPTURES_PAUSE_NS);
    assert_int_equal(bed->asked, 2);
    assert_int_equal(bed->ask.alert, 3);
}

static void an_alert_that_is_over_is_not_captured_any_more(void **state)
{
    struct bed *bed = *state;
    fire(bed, 1, "latency-growth", "warning", "firing", "3");
    captures_tick(bed->captures, bed->now_ns);
    fire(bed, 2, "hang", "critical", "firing", "4");
    fire(bed, 2, "hang", "critical", "resolved", "4");
    captures_tick(bed->captures, bed->now_ns + CAPTURES_PAUSE_NS);
    assert_int_equal(bed->asked, 1);
}

static void rules_say_which_alerts_capture(void **state)
{
    struct bed *bed = *state;
    fire(bed, 1, "data-lost", "warning", "firing", "");
    fire(bed, 2, "no-rule", "critical", "firing", "3");
    fire(bed, 3, NULL, "critical", "firing", "3");
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 0);
    for (size_t i = 0; i < bed->rules.count; i++)
        bed->rules.list[i].capture = bed->rules.list[i].kind == RULE_DATA_LOST;
    fire(bed, 4, "hang", "critical", "firing", "3");
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 0);
    fire(bed, 5, "data-lost", "warning", "firing", "");
    captures_tick(bed->captures, bed->now_ns);
    assert_int_equal(bed->asked, 1);
    assert_string_equal(bed->ranks, ""); /* about no rank: of all */
    assert_int_equal(bed->count, NODES);
}

int main(void)
{
#define WITH_BED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_BED(a_capture_of_a_period_has_its_end),
        WITH_BED(an_operator_is_sent_what_each_agent_captured_and_a_reply),
        WITH_BED(agents_that_do_not_answer_are_named),
        WITH_BED(nobody_answering_is_a_failure),
        WITH_BED(answers_that_nobody_waits_for_are_only_kept),
        WITH_BED(an_operator_who_has_left_is_forgotten),
        WITH_BED(a_wrong_question_is_refused_with_the_reason),
        WITH_BED(a_job_that_has_ended_is_not_asked),
        WITH_BED(an_alert_captures_its_ranks_and_their_partners),
        WITH_BED(an_alert_is_captured_once),
        WITH_BED(an_alert_that_was_captured_by_another_daemon_is_not_captured_again),
        WITH_BED(an_alert_with_the_number_of_another_is_captured_too),
        WITH_BED(alerts_are_captured_no_faster_than_allowed),
        WITH_BED(an_alert_that_is_over_is_not_captured_any_more),
        WITH_BED(rules_say_which_alerts_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
