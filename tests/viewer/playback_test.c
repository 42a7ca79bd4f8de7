/* Following a replay through its seeks, against a daemon played by the test. Time is the test's
 * own. */
#include "viewer/link/connection.h"
#include "viewer/link/held_state.h"

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

#include <cmocka.h>

#define BROKEN_NS UINT64_C(100000000000)

struct bed {
    char top[DIRECTORY_ROOM];
    struct fake_daemon daemon;
    struct connection *connection;
    struct model *model;
    uint64_t run, now_ms, change;
    int replays;
    uint64_t first, windows; /* of the state */
    int holds;               /* the reply behind a state is kept back */
    zmq_msg_t client;        /* who asked for that state, and the question */
    uint64_t request;
    char asked[8][64];
    unsigned asked_count;
    int refuses;
};

#define FRAME 7 /* that states contain */

static struct wire_replay where(struct bed *bed, const char *state, uint64_t position)
{
    return (struct wire_replay){.job = "7.0",
                                .file = "a.hrec",
                                .state = state,
                                .begin_ns = 1000,
                                .end_ns = 9000,
                                .indexed_ns = 9000,
                                .position_ns = position,
                                .run = bed->run,
                                .change = ++bed->change};
}

static void send_state(struct bed *bed)
{
    const struct wire_job job = {.job = "7.0", .state = "running", .app = "a", .mpi = "m"};
    fake_daemon_answer(&bed->daemon, &bed->client, WIRE_TYPE_JOB, &job);
    for (uint64_t w = 0; w < bed->windows; w++) {
        const struct wire_totals totals = {
            .job = "7.0", .window = bed->first + w, .length_ns = 1000000000};
        fake_daemon_answer(&bed->daemon, &bed->client, WIRE_TYPE_TOTALS, &totals);
    }
    const struct wire_replay replay = where(bed, "playing", 1000 + bed->first);
    if (bed->replays)
        fake_daemon_answer(&bed->daemon, &bed->client, WIRE_TYPE_REPLAY, &replay);
}

static void end_state(struct bed *bed)
{
    const struct wire_reply reply = {.id = bed->request, .frame = FRAME};
    fake_daemon_answer(&bed->daemon, &bed->client, WIRE_TYPE_REPLY, &reply);
}

static void answer(struct bed *bed, const struct wire_request *request)
{
    struct wire_reply reply = {.id = request->id};
    if (!strcmp(request->op, "snapshot")) {
        bed->request = request->id;
        send_state(bed);
        if (!bed->holds)
            end_state(bed);
        return;
    }
    if (!strcmp(request->op, "jobs")) {
        const struct wire_job job = {.job = "7.0", .state = "running", .app = "a", .mpi = "m"};
        fake_daemon_answer(&bed->daemon, &bed->client, WIRE_TYPE_JOB, &job);
    } else if (!strcmp(request->op, "replay") && bed->asked_count < 8) {
        const struct wire_replay now = where(bed, "paused", 2000);
        snprintf(bed->asked[bed->asked_count++], sizeof *bed->asked, "%s", request->argument);
        if (!bed->refuses)
            fake_daemon_answer(&bed->daemon, &bed->client, WIRE_TYPE_REPLAY, &now);
        reply.code = bed->refuses ? -HOLTER_ERANGE : 0;
        reply.text = bed->refuses ? "there is no such time" : "";
    }
    fake_daemon_answer(&bed->daemon, &bed->client, WIRE_TYPE_REPLY, &reply);
}

static void welcome(struct bed *bed)
{
    const struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL,
                                         .version = "test",
                                         .instance = 100 + bed->run,
                                         .replays = bed->replays != 0,
                                         .window_ns = 1000000000};
    fake_daemon_answer(&bed->daemon, &bed->client, WIRE_TYPE_WELCOME, &welcome);
}

static void take_front(void *user, zmq_msg_t *identity, const struct wire_message *message)
{
    struct bed *bed = user;
    zmq_msg_copy(&bed->client, identity);
    if (message->type == WIRE_TYPE_HELLO)
        welcome(bed);
    else if (message->type == WIRE_TYPE_REQUEST)
        answer(bed, &message->request);
}

static void step(struct bed *bed)
{
    fake_daemon_serve(&bed->daemon, take_front, bed);
    fake_daemon_confirm(&bed->daemon, 1);
    connection_pump(bed->connection, bed->model, bed->now_ms, 10);
    /* a seek is no loss of the daemon */
    if (bed->model->job[0] && bed->replays)
        assert_int_equal(connection_state(bed->connection), CLIENT_CONNECTED);
}

#define UNTIL(bed, condition)                                                                      \
    do {                                                                                           \
        uint64_t broken = clock_mono_ns() + BROKEN_NS;                                             \
        while (!(condition)) {                                                                     \
            assert_true(clock_mono_ns() < broken);                                                 \
            step(bed);                                                                             \
        }                                                                                          \
    } while (0)

static int setup(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    char why[300] = "";
    *bed = (struct bed){.run = 1, .now_ms = 1, .replays = 1, .first = 10, .windows = 10};
    zmq_msg_init(&bed->client);
    assert_int_equal(directory_make(bed->top), 0);
    snprintf(bed->daemon.endpoint, sizeof bed->daemon.endpoint, "ipc://%s/d", bed->top);
    fake_daemon_up(&bed->daemon);
    const struct connection_options options = {.endpoint = bed->daemon.endpoint};
    assert_int_equal(model_create(&bed->model, 1 << 20), 0);
    if (connection_open(&bed->connection, &options, why, sizeof why) < 0)
        fail_msg("%s", why);
    UNTIL(bed, bed->model->playback.known && connection_is_current(bed->connection));
    *state = bed;
    return 0;
}

static int teardown(void **state)
{
    struct bed *bed = *state;
    connection_close(bed->connection);
    model_destroy(bed->model);
    zmq_msg_close(&bed->client);
    fake_daemon_finish(&bed->daemon);
    directory_remove(bed->top);
    free(bed);
    return 0;
}

static uint64_t newest(const struct bed *bed)
{
    const struct series *s = &bed->model->series;
    return s->count ? s->first + s->count - 1 : 0;
}

/* The replay goes elsewhere: the state there is windows from first on. */
static void seek(struct bed *bed, uint64_t first, uint64_t windows)
{
    bed->run++;
    bed->change = 0;
    bed->first = first;
    bed->windows = windows;
    bed->request = 0;
    welcome(bed);
}

static void what_is_in_sight_stays_until_the_new_state_is_whole(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(newest(bed), 19);
    bed->holds = 1;
    seek(bed, 3, 2);
    UNTIL(bed, bed->request);
    UNTIL(bed, bed->model->playback.run == 2); /* where the replay is comes last, and at once */
    for (int i = 0; i < 20; i++)
        step(bed);
    assert_false(connection_is_current(bed->connection));
    assert_string_equal(bed->model->job, "7.0");
    assert_int_equal(newest(bed), 19);
    end_state(bed);
    UNTIL(bed, connection_is_current(bed->connection));
    assert_int_equal(newest(bed), 4);
    assert_int_equal(bed->model->series.first, 3);
    assert_string_equal(bed->model->job, "7.0");
}

static void the_news_behind_it_are_taken_once(void **state)
{
    struct bed *bed = *state;
    seek(bed, 40, 3);
    UNTIL(bed, newest(bed) == 42);
    UNTIL(bed, connection_is_current(bed->connection));
    const struct wire_totals totals = {.job = "7.0", .window = 43, .length_ns = 1000000000};
    fake_daemon_publish(&bed->daemon, "totals/7.0", FRAME + 1, 1, WIRE_TYPE_TOTALS, &totals);
    UNTIL(bed, newest(bed) == 43);
    assert_int_equal(bed->model->series.count, 4);
}

static void of_two_seeks_the_last_one_counts(void **state)
{
    struct bed *bed = *state;
    bed->holds = 1;
    seek(bed, 3, 2);
    UNTIL(bed, bed->request);
    seek(bed, 50, 5);
    UNTIL(bed, bed->request);
    UNTIL(bed, bed->model->playback.run == 3);
    end_state(bed);
    UNTIL(bed, connection_is_current(bed->connection));
    assert_int_equal(bed->model->series.first, 50);
    assert_int_equal(newest(bed), 54);
}

static void a_state_whose_end_does_not_come_is_shown_in_the_end(void **state)
{
    struct bed *bed = *state;
    bed->holds = 1;
    seek(bed, 3, 2);
    UNTIL(bed, bed->model->playback.run == 2);
    bed->now_ms += 9000;
    step(bed);
    assert_int_equal(newest(bed), 19);
    bed->now_ms += 2000;
    UNTIL(bed, newest(bed) == 4);
}

static void things_are_asked_one_by_one(void **state)
{
    struct bed *bed = *state;
    assert_true(connection_replay_ready(bed->connection));
    assert_int_equal(connection_replay(bed->connection, bed->model, "pause"), 0);
    assert_false(connection_replay_ready(bed->connection));
    assert_int_equal(connection_replay(bed->connection, bed->model, "play"), 1);
    UNTIL(bed, connection_replay_ready(bed->connection));
    assert_int_equal(bed->asked_count, 1);
    assert_string_equal(bed->asked[0], "pause");
    assert_int_equal(bed->model->playback.state, PLAYBACK_PAUSED);
    assert_int_equal(bed->model->playback.position_ns, 2000);
    assert_string_equal(bed->model->playback.refused, "");
}

static void what_is_refused_is_reported(void **state)
{
    struct bed *bed = *state;
    bed->refuses = 1;
    assert_int_equal(connection_replay(bed->connection, bed->model, "seek 1"), 0);
    UNTIL(bed, bed->model->playback.refused[0]);
    assert_string_equal(bed->model->playback.refused, "there is no such time");
}

static void an_old_answer_does_not_turn_time_back(void **state)
{
    struct bed *bed = *state;
    bed->change = 40;
    const struct wire_replay news = where(bed, "playing", 5000);
    fake_daemon_publish(&bed->daemon, "replay/7.0", 1, 1, WIRE_TYPE_REPLAY, &news);
    UNTIL(bed, bed->model->playback.position_ns == 5000);
    bed->change = 3;
    assert_int_equal(connection_replay(bed->connection, bed->model, ""), 0);
    UNTIL(bed, connection_replay_ready(bed->connection));
    assert_int_equal(bed->model->playback.position_ns, 5000);
}

static void a_daemon_that_replays_no_more_takes_the_bar_away(void **state)
{
    struct bed *bed = *state;
    seek(bed, 60, 2);
    bed->replays = 0;
    bed->run = 900; /* started anew: any other number */
    welcome(bed);
    UNTIL(bed, !bed->model->playback.known);
}

static void what_is_held_has_a_bound(void **state)
{
    (void)state;
    struct held_state held = {.length = HELD_STATE_BYTES - 8};
    const struct wire_message m = {.type = WIRE_TYPE_JOB,
                                   .job = {.job = "1", .state = "", .app = "", .mpi = ""}};
    assert_int_equal(held_state_add(&held, &m, 1), -HOLTER_EFULL);
    held_state_finish(&held);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(what_is_in_sight_stays_until_the_new_state_is_whole),
        T(the_news_behind_it_are_taken_once),
        T(of_two_seeks_the_last_one_counts),
        T(a_state_whose_end_does_not_come_is_shown_in_the_end),
        T(things_are_asked_one_by_one),
        T(what_is_refused_is_reported),
        T(an_old_answer_does_not_turn_time_back),
        T(a_daemon_that_replays_no_more_takes_the_bar_away),
        cmocka_unit_test(what_is_held_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
