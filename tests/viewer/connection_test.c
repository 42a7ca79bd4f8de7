/* Questions about the CommGram and the network, against a daemon played by the test. Time is the
 * test's own. */
#include "viewer/link/connection.h"
#include "viewer/link/finder.h"

#include "tests/directory.h"
#include "tests/proto/fake_daemon.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "proto/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define BROKEN_NS UINT64_C(100000000000)

struct bed {
    char top[DIRECTORY_ROOM];
    struct fake_daemon daemon;
    struct connection *connection;
    struct model *model;
    int ended;          /* the only job there is has ended */
    int silent, refuse; /* pictures are not answered, or refused */
    unsigned
        overtaken; /* so often another run of a replay takes over before a picture is answered */
    unsigned pictures;  /* questions about them */
    char argument[256]; /* of the last one */
    zmq_msg_t asker;    /* of the search that goes on */
    uint64_t search;    /* its id; 0: none does */
    unsigned statuses;
    unsigned cancels, captures;
    uint64_t run; /* of a replay; 0: it is none */
    unsigned
        replaced; /* so often another run takes over before what is asked of the replay is done */
    unsigned replayed; /* questions about it that were answered */
};

static void welcome(struct bed *bed, zmq_msg_t *identity)
{
    const struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL,
                                         .version = "test",
                                         .instance = 1 + bed->run,
                                         .window_ns = 1000000000,
                                         .replays = bed->run > 0};
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_WELCOME, &welcome);
}

static void answer(struct bed *bed, zmq_msg_t *identity, const struct wire_request *request)
{
    struct wire_reply reply = {.id = request->id};
    struct wire_job job = {
        .job = "7.0", .state = bed->ended ? "ended" : "running", .app = "a", .mpi = "m"};
    struct wire_commgram picture = {.job = "7.0"};
    if (!strcmp(request->op, "commgram")) {
        bed->pictures++;
        snprintf(bed->argument, sizeof bed->argument, "%s", request->argument);
        assert_string_equal(request->job, "7.0");
        if (bed->silent)
            return;
        if (bed->overtaken > 0) {
            bed->overtaken--;
            bed->run++;
            welcome(bed, identity);
            return;
        }
        if (bed->refuse) {
            reply.code = -HOLTER_EUSAGE;
            reply.text = "not today";
        } else {
            fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_COMMGRAM, &picture);
        }
    } else if (!strcmp(request->op, "remap")) {
        const struct wire_mapping begun = {
            .job = "7.0", .objective = "hop-bytes", .progress = 0.25};
        snprintf(bed->argument, sizeof bed->argument, "%s", request->argument);
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_MAPPING, &begun);
        zmq_msg_copy(&bed->asker, identity);
        bed->search = request->id;
        return;
    } else if (!strcmp(request->op, "cancel")) {
        const struct wire_reply ended = {.id = bed->search, .code = -ECANCELED, .text = "given up"};
        bed->cancels++;
        assert_string_equal(request->argument, "remap");
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_REPLY, &ended);
    } else if (!strcmp(request->op, "replay") && bed->replaced > 0) {
        bed->replaced--;
        bed->run++;
        welcome(bed, identity);
        return;
    } else if (!strcmp(request->op, "replay")) {
        bed->replayed++;
        snprintf(bed->argument, sizeof bed->argument, "%s", request->argument);
    } else if (!strcmp(request->op, "capture")) {
        bed->captures++;
        snprintf(bed->argument, sizeof bed->argument, "%s", request->argument);
        reply.code = bed->refuse ? -HOLTER_EDENIED : 0;
        reply.text = bed->refuse ? "only operators" : "";
    } else if (!strcmp(request->op, "reroute")) {
        reply.code = -HOLTER_EUSAGE;
        reply.text = "no such link";
    } else if (!strcmp(request->op, "status")) {
        bed->statuses++;
        const struct wire_job_row row = {
            .job = "7.0", .app = "a", .state = bed->ended ? "ended" : "running"};
        const struct wire_status status = {
            .version = "test", .host = "h", .jobs = &row, .jobs_count = 1};
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_STATUS, &status);
    } else if (!strcmp(request->op, "jobs") || !strcmp(request->op, "snapshot")) {
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_JOB, &job);
    }
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_REPLY, &reply);
}

static void take_front(void *user, zmq_msg_t *identity, const struct wire_message *message)
{
    struct bed *bed = user;
    if (message->type == WIRE_TYPE_HELLO)
        welcome(bed, identity);
    else if (message->type == WIRE_TYPE_REQUEST)
        answer(bed, identity, &message->request);
}

static void step(struct bed *bed)
{
    fake_daemon_serve(&bed->daemon, take_front, bed);
    fake_daemon_confirm(&bed->daemon, 1);
    connection_pump(bed->connection, bed->model, 1, 10);
}

#define UNTIL(bed, condition)                                                                      \
    do {                                                                                           \
        uint64_t broken = clock_mono_ns() + BROKEN_NS;                                             \
        while (!(condition)) {                                                                     \
            assert_true(clock_mono_ns() < broken);                                                 \
            step(bed);                                                                             \
        }                                                                                          \
    } while (0)

static int make(void **state, int ended, int replays)
{
    struct bed *bed = calloc(1, sizeof *bed);
    bed->ended = ended;
    bed->run = (uint64_t)replays;
    zmq_msg_init(&bed->asker);
    char why[300] = "";
    assert_int_equal(directory_make(bed->top), 0);
    snprintf(bed->daemon.endpoint, sizeof bed->daemon.endpoint, "ipc://%s/d", bed->top);
    fake_daemon_up(&bed->daemon);
    const struct connection_options options = {.endpoint = bed->daemon.endpoint};
    assert_int_equal(model_create(&bed->model, 1 << 20), 0);
    if (connection_open(&bed->connection, &options, why, sizeof why) < 0)
        fail_msg("%s", why);
    UNTIL(bed, bed->model->job[0] && connection_is_current(bed->connection));
    *state = bed;
    return 0;
}

static int setup(void **state)
{
    return make(state, 0, 0);
}

/* Succeeds once the job is followed although it has ended. */
static int setup_ended(void **state)
{
    return make(state, 1, 0);
}

static int setup_replay(void **state)
{
    return make(state, 0, 1);
}

static int teardown(void **state)
{
    struct bed *bed = *state;
    connection_close(bed->connection);
    model_destroy(bed->model);
    zmq_msg_close(&bed->asker);
    fake_daemon_finish(&bed->daemon);
    directory_remove(bed->top);
    free(bed);
    return 0;
}

static const struct commgram_request first = {.to_ns = 9, .phases = 3, .communities = 2},
                                     second = {.to_ns = 9, .phases = 4, .communities = 2};

static int want(struct bed *bed, const struct commgram_request *wish, uint64_t now_ms)
{
    return connection_picture(bed->connection, bed->model, wish, now_ms);
}

static void a_picture_is_asked_for_once(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(want(bed, &first, 1000), 1);
    UNTIL(bed, bed->model->commgram.now.version);
    UNTIL(bed, !bed->model->commgram.waiting);
    assert_string_equal(bed->argument, "from=0 to=9 phases=3 communities=2 modelled=0");
    for (uint64_t ms = 1000; ms < 20000; ms += 100)
        assert_int_equal(want(bed, &first, ms), 0);
    step(bed);
    assert_int_equal(bed->pictures, 1);
}

static void another_waits_until_half_a_second_has_passed(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(want(bed, &first, 1000), 1);
    UNTIL(bed, bed->model->commgram.now.version && !bed->model->commgram.waiting);
    assert_int_equal(want(bed, &second, 1499), 1);
    assert_false(bed->model->commgram.waiting);
    assert_int_equal(want(bed, &second, 1500), 1);
    assert_true(bed->model->commgram.waiting);
    UNTIL(bed, bed->model->commgram.now.version == 2 && !bed->model->commgram.waiting);
    assert_int_equal(bed->model->commgram.now.asked.phases, 4);
    assert_int_equal(bed->pictures, 2);
}

static void one_question_at_a_time(void **state)
{
    struct bed *bed = *state;
    bed->silent = 1;
    assert_int_equal(want(bed, &first, 1000), 1);
    UNTIL(bed, bed->pictures == 1);
    for (uint64_t ms = 2000; ms < 9000; ms += 1000)
        assert_int_equal(want(bed, &second, ms), 1);
    for (int i = 0; i < 20; i++)
        step(bed);
    assert_int_equal(bed->pictures, 1);
}

static void an_error_is_reported_and_tried_again_later(void **state)
{
    struct bed *bed = *state;
    bed->refuse = 1;
    assert_int_equal(want(bed, &first, 1000), 1);
    UNTIL(bed, bed->model->commgram.error);
    assert_string_equal(bed->model->commgram.error_text, "not today");
    assert_int_equal(want(bed, &first, 2000), -HOLTER_EUSAGE);
    bed->refuse = 0;
    assert_int_equal(want(bed, &first, 5000), 1);
    UNTIL(bed, bed->model->commgram.now.version);
    assert_int_equal(bed->model->commgram.error, 0);
    assert_int_equal(bed->pictures, 2);
}

/* The search ends, with a mapping or without. */
static void end_search(struct bed *bed, int code)
{
    const struct wire_seat_row seats[] = {{0, 1}, {1, 0}};
    const struct wire_gain_row gain = {"hop-bytes", 10, 8, 8};
    const struct wire_mapping mapping = {.job = "7.0",
                                         .objective = "hop-bytes",
                                         .progress = 1,
                                         .gains = &gain,
                                         .gains_count = 1,
                                         .seats = seats,
                                         .seats_count = 2};
    const struct wire_reply reply = {.id = bed->search, .code = code, .text = "stopped"};
    if (!code)
        fake_daemon_answer(&bed->daemon, &bed->asker, WIRE_TYPE_MAPPING, &mapping);
    fake_daemon_answer(&bed->daemon, &bed->asker, WIRE_TYPE_REPLY, &reply);
}

static void begin_search(struct bed *bed)
{
    const struct wire_request question = {.argument = "objective=hop-bytes"};
    assert_int_equal(
        connection_suggest(bed->connection, bed->model, SUGGEST_MAPPING, "hop-bytes", &question),
        0);
    assert_true(bed->model->network.suggestions[SUGGEST_MAPPING].waiting);
    UNTIL(bed, bed->search);
    UNTIL(bed, bed->model->network.suggestions[SUGGEST_MAPPING].progress > 0.2);
    assert_string_equal(bed->argument, "objective=hop-bytes");
}

static void others_are_answered_while_a_mapping_is_searched(void **state)
{
    struct bed *bed = *state;
    const struct suggestion *s = &bed->model->network.suggestions[SUGGEST_MAPPING];
    begin_search(bed);
    unsigned statuses = bed->statuses;
    for (uint64_t ms = 10000; bed->statuses < statuses + 3; ms += 5000) {
        fake_daemon_serve(&bed->daemon, take_front, bed);
        connection_pump(bed->connection, bed->model, ms, 10);
    }
    assert_int_equal(want(bed, &first, 1000), 1);
    UNTIL(bed, bed->model->commgram.now.version && !bed->model->commgram.waiting);
    assert_true(s->waiting && !s->ready);
    end_search(bed, 0);
    UNTIL(bed, !s->waiting);
    assert_true(s->ready && s->seat_count == 2 && s->seats[0] == 1 && s->gain_count == 1);
}

static void a_search_that_fails_is_reported(void **state)
{
    struct bed *bed = *state;
    const struct suggestion *s = bed->model->network.suggestions;
    begin_search(bed);
    end_search(bed, -HOLTER_ELIMIT);
    UNTIL(bed, !s[SUGGEST_MAPPING].waiting);
    assert_int_equal(s[SUGGEST_MAPPING].error, -HOLTER_ELIMIT);
    assert_string_equal(s[SUGGEST_MAPPING].error_text, "stopped");
    assert_int_equal(connection_suggest(bed->connection, bed->model, SUGGEST_ROUTES, "",
                                        &(struct wire_request){.argument = "link=99"}),
                     0);
    UNTIL(bed, !s[SUGGEST_ROUTES].waiting);
    assert_string_equal(s[SUGGEST_ROUTES].error_text, "no such link");
}

static void a_search_that_was_given_up_leaves_nothing(void **state)
{
    struct bed *bed = *state;
    struct suggestion *s = &bed->model->network.suggestions[SUGGEST_MAPPING];
    begin_search(bed);
    connection_give_up(bed->connection, SUGGEST_MAPPING);
    suggestion_clear(s);
    end_search(bed, 0); /* it crosses what ends it */
    unsigned statuses = bed->statuses;
    for (uint64_t ms = 10000; bed->statuses < statuses + 3; ms += 5000) {
        fake_daemon_serve(&bed->daemon, take_front, bed);
        connection_pump(bed->connection, bed->model, ms, 10);
    }
    assert_true(!s->ready && !s->waiting && !s->error);
    assert_int_equal(bed->cancels, 1);
    begin_search(bed);
    end_search(bed, 0);
    UNTIL(bed, !s->waiting);
    assert_true(s->ready);
}

static void one_capture_at_a_time_is_requested_and_a_refusal_is_reported(void **state)
{
    struct bed *bed = *state;
    const struct captures *captures = &bed->model->captures;
    bed->refuse = 1;
    for (int i = 0; i < 2; i++)
        assert_int_equal(connection_capture(bed->connection, bed->model, "events=64"), 0);
    assert_true(captures->waiting);
    UNTIL(bed, !captures->waiting);
    assert_string_equal(bed->argument, "events=64");
    assert_string_equal(captures->refused, "only operators");
    bed->refuse = 0;
    assert_int_equal(connection_capture(bed->connection, bed->model, "events=64 ranks=3"), 0);
    UNTIL(bed, !captures->waiting);
    assert_string_equal(bed->argument, "events=64 ranks=3");
    assert_string_equal(captures->refused, "");
    assert_int_equal(bed->captures, 2);
}

static void where_no_job_runs_the_last_is_shown(void **state)
{
    struct bed *bed = *state;
    assert_string_equal(bed->model->job, "7.0");
    assert_true(model_ended(bed->model));
}

/* Each seek ends in another run, and what crosses that is done by neither. */
static void a_replay_is_asked_again_when_another_run_took_over(void **state)
{
    struct bed *bed = *state;
    bed->replaced = 3;
    assert_int_equal(connection_replay(bed->connection, bed->model, "step back"), 0);
    UNTIL(bed, bed->replayed);
    assert_string_equal(bed->argument, "step back");
    assert_int_equal(bed->replaced, 0);
    UNTIL(bed, connection_replay_ready(bed->connection));
    assert_int_equal(bed->model->playback.refused[0], 0);
    assert_int_equal(bed->replayed, 1);
    bed->replaced = 1;
    connection_replay(bed->connection, bed->model, "pause");
    UNTIL(bed, !bed->replaced);
    bed->run = 0; /* a daemon with a running job has come instead */
    assert_false(connection_replay_ready(bed->connection));
    UNTIL(bed, connection_replay_ready(bed->connection));
    assert_int_equal(bed->replayed, 1);
}

static void a_picture_is_requested_again_when_another_run_took_over(void **state)
{
    struct bed *bed = *state;
    bed->overtaken = 2;
    for (uint64_t now_ms = 1000; want(bed, &first, now_ms) == 1; now_ms++)
        step(bed);
    assert_int_equal(want(bed, &first, 2000), 0);
    assert_int_equal(bed->model->commgram.error, 0);
    assert_int_equal(bed->pictures, 3);
}

/* The test plays this one from now on. @return the one before, to be finished by the caller */
static struct fake_daemon start_other_daemon(struct bed *bed)
{
    struct fake_daemon before = bed->daemon;
    bed->daemon = (struct fake_daemon){.front = NULL};
    snprintf(bed->daemon.endpoint, sizeof bed->daemon.endpoint, "ipc://%s/other", bed->top);
    fake_daemon_up(&bed->daemon);
    return before;
}

static void a_job_that_another_daemon_has_is_followed_there(void **state)
{
    struct bed *bed = *state;
    struct fake_daemon before = start_other_daemon(bed);
    assert_int_equal(connection_follow(bed->connection, "7.0", bed->daemon.endpoint), 0);
    UNTIL(bed, connection_is_current(bed->connection));
    assert_string_equal(connection_endpoint(bed->connection), bed->daemon.endpoint);
    fake_daemon_finish(&before);
}

static void where_the_daemon_of_a_job_is_gone_another_one_is_asked_for(void **state)
{
    struct bed *bed = *state;
    int fds[2];
    char why[300], question[64], answer_line[FINDER_ENDPOINT_BYTES + 8];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    const struct connection_options options = {
        .endpoint = bed->daemon.endpoint, .job = "7.0", .finder = fds[0]};
    connection_close(bed->connection);
    assert_int_equal(connection_open(&bed->connection, &options, why, sizeof why), 0);
    UNTIL(bed, connection_is_current(bed->connection));
    assert_int_equal(recv(fds[1], question, sizeof question, MSG_DONTWAIT), -1);
    struct fake_daemon before = start_other_daemon(bed);
    fake_daemon_finish(&before);
    ssize_t asked = 0;
    for (uint64_t now_ms = 1000; asked <= 0; now_ms++) {
        connection_pump(bed->connection, bed->model, now_ms, 10);
        asked = recv(fds[1], question, sizeof question, MSG_DONTWAIT);
    }
    assert_memory_equal(question, "7.0\n", 4);
    const int length = snprintf(answer_line, sizeof answer_line, "7.0 %s\n", bed->daemon.endpoint);
    assert_int_equal(send(fds[1], answer_line, (size_t)length, 0), length);
    UNTIL(bed, connection_is_current(bed->connection));
    assert_string_equal(connection_endpoint(bed->connection), bed->daemon.endpoint);
    close(fds[1]);
}

/* Answers may come seconds after the question, when the user has chosen another job meanwhile. */
static void a_late_answer_about_another_job_leads_nowhere(void **state)
{
    struct bed *bed = *state;
    int fds[2];
    char why[300], late[FINDER_ENDPOINT_BYTES];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    const struct connection_options options = {
        .endpoint = bed->daemon.endpoint, .job = "6.0", .finder = fds[0]};
    connection_close(bed->connection);
    assert_int_equal(connection_open(&bed->connection, &options, why, sizeof why), 0);
    UNTIL(bed, connection_is_current(bed->connection));
    const int length = snprintf(late, sizeof late, "6.0 ipc://%s/late\n", bed->top);
    assert_int_equal(send(fds[1], late, (size_t)length, 0), length);
    struct fake_daemon before = start_other_daemon(bed);
    assert_int_equal(connection_follow(bed->connection, "7.0", bed->daemon.endpoint), 0);
    UNTIL(bed, connection_is_current(bed->connection));
    assert_string_equal(connection_endpoint(bed->connection), bed->daemon.endpoint);
    fake_daemon_finish(&before);
    close(fds[1]);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_picture_is_asked_for_once),
        T(another_waits_until_half_a_second_has_passed),
        T(one_question_at_a_time),
        T(an_error_is_reported_and_tried_again_later),
        T(others_are_answered_while_a_mapping_is_searched),
        T(a_search_that_fails_is_reported),
        T(a_search_that_was_given_up_leaves_nothing),
        T(a_job_that_another_daemon_has_is_followed_there),
        T(where_the_daemon_of_a_job_is_gone_another_one_is_asked_for),
        T(a_late_answer_about_another_job_leads_nowhere),
        T(one_capture_at_a_time_is_requested_and_a_refusal_is_reported),
        cmocka_unit_test_setup_teardown(a_replay_is_asked_again_when_another_run_took_over,
                                        setup_replay, teardown),
        cmocka_unit_test_setup_teardown(a_picture_is_requested_again_when_another_run_took_over,
                                        setup_replay, teardown),
        cmocka_unit_test_setup_teardown(where_no_job_runs_the_last_is_shown, setup_ended, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
