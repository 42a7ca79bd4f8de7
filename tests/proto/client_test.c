/* The client against a daemon played by the test, over real sockets. Nothing here depends on how
 * long things take: both sides are driven until what is expected has come, or a generous limit ends
 * a broken test. */
#include "proto/client.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "tests/directory.h"
#include "tests/proto/fake_daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BROKEN_NS UINT64_C(100000000000)
/* A fifth of the usual one: every other waiting time of the client follows from it. */
#define HELLO_INTERVAL_NS UINT64_C(200000000)

struct bed {
    char top[DIRECTORY_ROOM];
    struct fake_daemon daemon;
    uint64_t instance;
    uint64_t number;                       /* of the last frame */
    uint64_t ordinal;                      /* of the last frame of topic totals */
    int confirms;                          /* answer sync subscriptions */
    const char *job;                       /* the job that there is; NULL: none */
    uint64_t contained;                    /* frame number that the snapshot claims */
    void (*before_state)(struct bed *bed); /* what happens before the snapshot is answered */
    unsigned hellos;
    char asked_topic[257];
    struct client *client;
    uint64_t windows[64]; /* totals received */
    int snapshots[64];
    size_t count;
    int64_t reply_code;
    uint64_t reply_id;
    uint64_t replay_position;
    zmq_msg_t client_id; /* whom to tell of a new run */
};

/* ---- the daemon ---------------------------------------------------------- */

static void daemon_up(struct bed *bed)
{
    fake_daemon_up(&bed->daemon);
    bed->daemon.instance = ++bed->instance;
}

static void answer_request(struct bed *bed, zmq_msg_t *identity, const struct wire_request *request)
{
    struct wire_reply reply = {.id = request->id};
    if (strcmp(request->op, "snapshot") == 0) {
        snprintf(bed->asked_topic, sizeof bed->asked_topic, "%s", request->topic);
        if (bed->before_state)
            bed->before_state(bed);
        struct wire_totals totals = {.job = request->job, .window = bed->contained};
        if (bed->job && strcmp(request->job, bed->job) == 0)
            fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_TOTALS, &totals);
        else
            reply.code = -HOLTER_ENOJOB;
        reply.frame = bed->contained;
    } else if (strcmp(request->op, "jobs") == 0 && bed->job) {
        struct wire_job job = {.job = "older", .state = "ended", .app = "a", .mpi = "m"};
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_JOB, &job);
        job.job = bed->job;
        job.state = "running";
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_JOB, &job);
    }
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_REPLY, &reply);
}

static void welcome(struct bed *bed, zmq_msg_t *identity)
{
    struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL,
                                   .version = "test",
                                   .instance = bed->instance,
                                   .window_ns = 1000000000};
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_WELCOME, &welcome);
}

static void take_front(void *user, zmq_msg_t *identity, const struct wire_message *message)
{
    struct bed *bed = user;
    if (message->type != WIRE_TYPE_HELLO) {
        assert_int_equal(message->type, WIRE_TYPE_REQUEST);
        answer_request(bed, identity, &message->request);
        return;
    }
    assert_string_equal(message->hello.role, "viewer");
    bed->hellos++;
    zmq_msg_copy(&bed->client_id, identity);
    welcome(bed, identity);
}

static void serve(struct bed *bed)
{
    fake_daemon_serve(&bed->daemon, take_front, bed);
    fake_daemon_confirm(&bed->daemon, bed->confirms);
}

/* The window's number is the frame's, so that the test sees which frames came. */
static void publish_totals(struct bed *bed, const char *job)
{
    char topic[80];
    struct wire_totals totals = {.job = job, .window = ++bed->number};
    snprintf(topic, sizeof topic, "totals/%s", job);
    fake_daemon_publish(&bed->daemon, topic, bed->number, ++bed->ordinal, WIRE_TYPE_TOTALS,
                        &totals);
}

static void publish_job(struct bed *bed, const char *id)
{
    char topic[80];
    struct wire_job job = {.job = id, .state = "running", .app = "a", .mpi = "m"};
    snprintf(topic, sizeof topic, "job/%s", id);
    fake_daemon_publish(&bed->daemon, topic, ++bed->number, 1, WIRE_TYPE_JOB, &job);
}

/* ---- both together ------------------------------------------------------- */

static void take_message(struct bed *bed, const struct client_message *message)
{
    if (message->message->type == WIRE_TYPE_REPLY) {
        bed->reply_code = message->message->reply.code;
        bed->reply_id = message->id;
    }
    if (message->message->type == WIRE_TYPE_REPLAY)
        bed->replay_position = message->message->replay.position_ns;
    if (message->message->type == WIRE_TYPE_TOTALS && bed->count < 64) {
        bed->windows[bed->count] = message->message->totals.window;
        bed->snapshots[bed->count++] = message->snapshot;
    }
}

static void step(struct bed *bed)
{
    struct client_message message;
    serve(bed);
    int result = client_next(bed->client, 1, &message);
    assert_true(result >= 0);
    if (result == 1)
        take_message(bed, &message);
}

#define UNTIL(bed, condition)                                                                      \
    do {                                                                                           \
        uint64_t begin = clock_mono_ns();                                                          \
        while (!(condition)) {                                                                     \
            step(bed);                                                                             \
            if (clock_mono_ns() - begin > BROKEN_NS)                                               \
                fail_msg("never came: %s", #condition);                                            \
        }                                                                                          \
    } while (0)

static int make_bed(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    *state = bed;
    if (directory_make(bed->top) != 0)
        return -1;
    snprintf(bed->daemon.endpoint, sizeof bed->daemon.endpoint, "ipc://%s/sock", bed->top);
    bed->confirms = 1;
    bed->job = "lmp.0";
    zmq_msg_init(&bed->client_id);
    struct client_options options = {.endpoint = bed->daemon.endpoint,
                                     .role = ROLE_VIEWER,
                                     .hello_interval_ns = HELLO_INTERVAL_NS};
    return client_create(&bed->client, &options);
}

static int drop_bed(void **state)
{
    struct bed *bed = *state;
    client_destroy(bed->client);
    zmq_msg_close(&bed->client_id);
    fake_daemon_finish(&bed->daemon);
    int result = directory_remove(bed->top);
    free(bed);
    return result;
}

/* ---- tests --------------------------------------------------------------- */

static void it_waits_for_a_daemon_that_comes_later(void **state)
{
    struct bed *bed = *state;
    struct client_message message;
    assert_int_equal(client_next(bed->client, 0, &message), 0);
    assert_int_equal(client_state(bed->client), CLIENT_DIALLING);
    daemon_up(bed);
    UNTIL(bed, client_state(bed->client) == CLIENT_CONNECTED);
    assert_string_equal(client_error(bed->client), "");
}

static void publish_in_between(struct bed *bed)
{
    /* 4 and 5 leave before the state is taken, which contains them; 6 and 7 follow */
    for (int i = 0; i < 4; i++)
        publish_totals(bed, "lmp.0");
    bed->contained = 5;
    bed->before_state = NULL;
}

static void the_state_comes_first_and_its_frames_are_not_repeated(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    for (int i = 0; i < 3; i++)
        publish_totals(bed, "lmp.0"); /* nobody listens yet */
    bed->before_state = publish_in_between;
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 3);
    assert_string_equal(bed->asked_topic, "totals");
    const uint64_t windows[] = {5, 6, 7};
    assert_memory_equal(bed->windows, windows, sizeof windows);
    assert_true(bed->snapshots[0] && !bed->snapshots[1] && !bed->snapshots[2]);
    assert_int_equal(client_missed(bed->client), 0);
}

static void no_name_means_the_newest_running_job(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, NULL, NULL), 0);
    UNTIL(bed, bed->count == 1);
    publish_totals(bed, "lmp.01"); /* a longer id with the same beginning */
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    assert_int_equal(bed->windows[1], 2);
    assert_string_equal(bed->asked_topic, "");
}

static void no_job_yet_means_the_next_to_come(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    bed->job = NULL;
    assert_int_equal(client_follow(bed->client, "", "totals"), 0);
    int64_t id = client_ask(bed->client, "jobs", NULL, NULL, NULL);
    assert_true(id > 0);
    UNTIL(bed, bed->reply_id == (uint64_t)id);
    bed->job = "cp2k.1";
    /* Until the client has looked at the stream, the news may come before its subscription. */
    UNTIL(bed, (publish_job(bed, "cp2k.1"), bed->count == 1));
    publish_totals(bed, "cp2k.1");
    UNTIL(bed, bed->count == 2);
    assert_false(bed->snapshots[1]);
}

static void a_job_unknown_to_the_daemon_is_followed_from_its_first_frame(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    bed->job = NULL;
    assert_int_equal(client_follow(bed->client, "later.0", "totals"), 0);
    UNTIL(bed, bed->asked_topic[0]);
    publish_totals(bed, "later.0");
    UNTIL(bed, bed->count == 1);
    assert_int_equal(bed->windows[0], 1);
    assert_false(bed->snapshots[0]);
}

/* It begins with what another daemon has stored of it, which no frame has. */
static void a_job_that_a_daemon_of_a_fleet_is_yet_to_get_is_followed_from_its_state_on(void **state)
{
    struct bed *bed = *state;
    const struct client_options options = {.endpoint = bed->daemon.endpoint,
                                           .role = ROLE_VIEWER,
                                           .hello_interval_ns = HELLO_INTERVAL_NS,
                                           .in_fleet = 1};
    client_destroy(bed->client);
    assert_int_equal(client_create(&bed->client, &options), 0);
    daemon_up(bed);
    bed->job = NULL;
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    assert_false(client_lacks_job(bed->client));
    UNTIL(bed, client_lacks_job(bed->client));
    assert_false(client_is_current(bed->client));
    bed->job = "lmp.0";
    bed->contained = bed->number = 1;
    UNTIL(bed, client_is_current(bed->client));
    assert_false(client_lacks_job(bed->client));
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    assert_true(bed->snapshots[0]);
    assert_false(bed->snapshots[1]);
}

static void a_daemon_that_does_not_confirm_is_asked_all_the_same(void **state)
{
    struct bed *bed = *state;
    bed->confirms = 0;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
}

static void missed_frames_are_counted_by_topic(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    publish_totals(bed, "lmp.0");
    bed->number += 10; /* frames of other topics: no gap */
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 3);
    assert_int_equal(client_missed(bed->client), 0);
    bed->number += 3;
    bed->ordinal += 2;
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 4);
    assert_int_equal(client_missed(bed->client), 2);
}

/* No frame comes behind them that would tell of the gap. */
static void the_last_frames_before_a_silence_are_missed_too(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    bed->daemon.newest.topic = "totals";
    bed->daemon.newest.number = bed->number + 7;
    bed->daemon.newest.ordinal = bed->ordinal + 5;
    UNTIL(bed, client_missed(bed->client) > 0);
    assert_int_equal(client_missed(bed->client), 5);
    bed->ordinal += 5;
    bed->number += 7;
    publish_totals(bed, "lmp.0"); /* the gap is counted once */
    UNTIL(bed, bed->count == 3);
    assert_int_equal(client_missed(bed->client), 5);
}

static void of_a_topic_without_a_frame_so_far_the_missed_ones_are_known_to_be_some(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    bed->contained = bed->number = 20;
    bed->daemon.newest.topic = "totals";
    bed->daemon.newest.number = 23;
    bed->daemon.newest.ordinal = 9;
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    UNTIL(bed, client_missed(bed->client) > 0);
    assert_int_equal(client_missed(bed->client), 1);
}

/* Others' frames, and those that the state contains, are not missed: the next that is, is the only
 * one. */
static void a_silence_in_which_nothing_came_is_none(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    bed->contained = bed->number = 20;
    bed->daemon.newest.topic = "totals";
    bed->daemon.newest.number = 20;
    bed->daemon.newest.ordinal = 9;
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    UNTIL(bed, bed->daemon.newest.told > 0);
    bed->ordinal = 10;
    publish_totals(bed, "lmp.0"); /* number 21, ordinal 11 */
    UNTIL(bed, bed->count == 2);
    assert_int_equal(client_missed(bed->client), 1);
}

static void after_missed_frames_the_state_can_be_requested_again(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    bed->number += 2; /* two frames that do not come */
    bed->ordinal += 2;
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 3);
    bed->contained = bed->number;
    client_refresh(bed->client);
    assert_false(client_is_current(bed->client));
    UNTIL(bed, client_is_current(bed->client));
    assert_int_equal(bed->count, 4);
    assert_true(bed->snapshots[3]);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 5);
    assert_false(bed->snapshots[4]);
    assert_int_equal(bed->windows[4], bed->number);
    assert_int_equal(client_missed(bed->client), 2);
}

/* Its frames are counted from 1 again, by the same run of the daemon. */
static void
a_job_that_the_daemon_has_dropped_and_has_again_is_followed_from_its_state_on(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    bed->number = 20;
    bed->ordinal = 10;
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    bed->number = bed->ordinal = 0;
    publish_totals(bed, "lmp.0");
    bed->contained = 1;
    UNTIL(bed, bed->count == 3);
    assert_true(bed->snapshots[2]);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 4);
    assert_int_equal(bed->windows[3], 2);
    assert_false(bed->snapshots[3]);
    assert_int_equal(client_missed(bed->client), 0);
}

static void a_job_that_the_daemon_has_dropped_is_asked_for_again_after_a_silence(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    bed->number = 20;
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    bed->daemon.newest.topic = ""; /* which the daemon does not have any more */
    UNTIL(bed, bed->count == 3);
    assert_true(bed->snapshots[2]);
}

static void a_restarted_daemon_is_found_and_followed_again(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    fake_daemon_down(&bed->daemon);
    bed->number = bed->ordinal = 0;
    bed->contained = 0;
    daemon_up(bed);
    UNTIL(bed, bed->count == 3);
    assert_true(bed->snapshots[2]);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 4);
    assert_int_equal(bed->windows[3], 1);
    assert_int_equal(client_missed(bed->client), 0);
}

static void publish_replay(struct bed *bed, uint64_t number)
{
    struct wire_replay replay = {
        .job = "lmp.0", .file = "f", .state = "playing", .position_ns = number, .change = number};
    fake_daemon_publish(&bed->daemon, "replay/lmp.0", number, number, WIRE_TYPE_REPLAY, &replay);
}

/* Its own count neither hides frames of other topics nor is hidden by them, and nothing of it is
 * missed. */
static void replay_messages_are_numbered_apart_from_the_rest(void **state)
{
    struct bed *bed = *state;
    bed->contained = bed->number = 100;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals,replay"), 0);
    UNTIL(bed, bed->count == 1);
    publish_replay(bed, 7);
    UNTIL(bed, bed->replay_position == 7);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    publish_replay(bed, 8);
    UNTIL(bed, bed->replay_position == 8);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 3);
    assert_int_equal(client_missed(bed->client), 0);
}

/* Their numbers go on behind those of the run that is known: only what they say themselves tells
 * them apart. */
static void frames_of_a_run_that_did_not_welcome_are_dropped_and_it_is_greeted(void **state)
{
    struct bed *bed = *state;
    bed->contained = bed->number = 100;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    unsigned hellos = bed->hellos;
    bed->daemon.instance++;
    for (int i = 0; i < 5; i++)
        publish_totals(bed, "lmp.0");
    bed->daemon.instance--;
    UNTIL(bed, bed->hellos > hellos);
    bed->number = 100;
    bed->ordinal = 0;
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    assert_int_equal(bed->windows[1], 101);
    assert_int_equal(client_missed(bed->client), 0);
}

/* Of a daemon that follows a killed one the state comes first, whatever it published before it was
 * greeted. */
static void the_next_daemon_is_followed_from_its_state_on(void **state)
{
    struct bed *bed = *state;
    bed->contained = bed->number = 100;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    bed->number = 102;
    bed->daemon.instance = ++bed->instance;
    publish_totals(bed, "lmp.0");
    publish_totals(bed, "lmp.0");
    bed->contained = bed->number;
    UNTIL(bed, bed->count == 3);
    assert_true(bed->snapshots[2]);
    assert_int_equal(bed->windows[2], 104);
    UNTIL(bed, client_is_current(bed->client));
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 4);
    assert_int_equal(bed->windows[3], 105);
}

/* A seek: the daemon goes on under another number, and says so unasked. */
static void a_new_run_of_a_replay_is_taken_from_its_state_on(void **state)
{
    struct bed *bed = *state;
    bed->contained = bed->number = 100;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    uint64_t before = client_instance(bed->client);
    bed->daemon.instance = ++bed->instance;
    bed->contained = bed->number = 5;
    bed->ordinal = 0;
    welcome(bed, &bed->client_id);
    UNTIL(bed, bed->count == 2);
    assert_true(bed->snapshots[1]);
    assert_int_not_equal(client_instance(bed->client), before);
    UNTIL(bed, client_is_current(bed->client));
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 3);
    assert_int_equal(bed->windows[2], bed->number);
}

static void a_vanished_daemon_is_noticed_and_open_questions_are_answered(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    UNTIL(bed, client_state(bed->client) == CLIENT_CONNECTED);
    fake_daemon_down(&bed->daemon);
    int64_t id = client_ask(bed->client, "status", NULL, NULL, NULL);
    assert_true(id > 0);
    UNTIL(bed, client_state(bed->client) == CLIENT_LOST);
    assert_string_not_equal(client_error(bed->client), "");
    UNTIL(bed, bed->reply_id == (uint64_t)id);
    assert_int_equal(bed->reply_code, -HOLTER_EUNREACHABLE);
    daemon_up(bed);
    UNTIL(bed, client_state(bed->client) == CLIENT_CONNECTED);
}

static void garbage_on_the_stream_is_passed_over(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    UNTIL(bed, bed->count == 1);
    zmq_send(bed->daemon.stream, "totals/lmp.0", 12, 0);
    zmq_send(bed->daemon.stream, "totals/lmp.0", 12, ZMQ_SNDMORE);
    zmq_send(bed->daemon.stream, "12345678", 8, ZMQ_SNDMORE);
    zmq_send(bed->daemon.stream, "x", 1, 0);
    for (int i = 0; i < 6; i++)
        zmq_send(bed->daemon.stream, "totals/lmp.0", 12, i < 5 ? ZMQ_SNDMORE : 0);
    fake_daemon_publish_bytes(&bed->daemon, "totals/lmp.0", ++bed->number, ++bed->ordinal, "\xc1",
                              1);
    fake_daemon_publish_bytes(&bed->daemon, "totals/lmp.0", ++bed->number, ++bed->ordinal, "", 0);
    publish_totals(bed, "lmp.0");
    UNTIL(bed, bed->count == 2);
    assert_int_equal(bed->windows[1], 3);
}

static void waiting_ends_when_messages_wait_or_a_descriptor_is_ready(void **state)
{
    struct bed *bed = *state;
    struct client_message message;
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", "totals"), 0);
    uint64_t begin = clock_mono_ns();
    int result = 0;
    while (bed->count == 0) {
        assert_true(clock_mono_ns() - begin < BROKEN_NS);
        serve(bed);
        assert_int_equal(client_wait(bed->client, NULL, 0, 1), 0);
        while ((result = client_next(bed->client, 0, &message)) == 1)
            take_message(bed, &message);
        assert_int_equal(result, 0);
    }
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct pollfd watched[] = {{.fd = ends[0], .events = POLLIN}, {.fd = ends[1]}};
    client_wait(bed->client, watched, 2, 0);
    assert_int_equal(watched[0].revents | watched[1].revents, 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(client_wait(bed->client, watched, 2, 1000), 0);
    assert_int_equal(watched[0].revents, POLLIN);
    assert_int_equal(watched[1].revents, 0);
    close(ends[0]); /* as a reader that has left */
    client_wait(bed->client, watched + 1, 1, 1000);
    assert_int_equal(watched[1].revents, POLLERR);
    close(ends[1]);
}

static void what_cannot_be_followed_is_refused(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(client_follow(bed->client, "j", "totals,nonsense"), -HOLTER_EUSAGE);
    assert_non_null(strstr(client_error(bed->client), "nonsense"));
    char longer[80];
    memset(longer, 'j', sizeof longer);
    longer[79] = '\0';
    assert_int_equal(client_follow(bed->client, longer, NULL), -HOLTER_EUSAGE);
    struct client *other = NULL;
    struct client_options options = {.endpoint = "udp://nowhere", .role = ROLE_VIEWER};
    assert_int_equal(client_create(&other, &options), -HOLTER_EUSAGE);
    assert_null(other);
}

#define ALL_TOPICS                                                                                 \
    "job,places,totals,ranks,pairs,calls,nodes,alerts,latency,regions,phases,curve,topology,"      \
    "links,replay,"

static void the_state_of_topics_that_are_all_named_is_that_of_all_topics(void **state)
{
    struct bed *bed = *state;
    daemon_up(bed);
    snprintf(bed->asked_topic, sizeof bed->asked_topic, "nothing was asked");
    assert_int_equal(
        client_follow(bed->client, "lmp.0", ALL_TOPICS "captures,history,callers,lateness"), 0);
    UNTIL(bed, client_is_current(bed->client));
    assert_string_equal(bed->asked_topic, "");
    assert_int_equal(bed->count, 1);
}

static void the_state_is_asked_for_of_every_topic_there_is(void **state)
{
    struct bed *bed = *state;
    static const char every[] = ALL_TOPICS "recorded,captures,history,callers,lateness";
    daemon_up(bed);
    assert_int_equal(client_follow(bed->client, "lmp.0", every), 0);
    UNTIL(bed, client_is_current(bed->client));
    assert_string_equal(bed->asked_topic, every);
}

static void too_many_open_questions_are_refused(void **state)
{
    struct bed *bed = *state;
    for (int i = 0; i < 64; i++)
        assert_true(client_ask(bed->client, "status", NULL, NULL, NULL) > 0);
    assert_int_equal(client_ask(bed->client, "status", NULL, NULL, NULL), -HOLTER_EFULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_bed, drop_bed)
    const struct CMUnitTest tests[] = {
        T(it_waits_for_a_daemon_that_comes_later),
        T(the_state_comes_first_and_its_frames_are_not_repeated),
        T(no_name_means_the_newest_running_job),
        T(no_job_yet_means_the_next_to_come),
        T(a_job_unknown_to_the_daemon_is_followed_from_its_first_frame),
        T(a_job_that_a_daemon_of_a_fleet_is_yet_to_get_is_followed_from_its_state_on),
        T(a_daemon_that_does_not_confirm_is_asked_all_the_same),
        T(missed_frames_are_counted_by_topic),
        T(the_last_frames_before_a_silence_are_missed_too),
        T(of_a_topic_without_a_frame_so_far_the_missed_ones_are_known_to_be_some),
        T(a_silence_in_which_nothing_came_is_none),
        T(after_missed_frames_the_state_can_be_requested_again),
        T(a_job_that_the_daemon_has_dropped_and_has_again_is_followed_from_its_state_on),
        T(a_job_that_the_daemon_has_dropped_is_asked_for_again_after_a_silence),
        T(a_restarted_daemon_is_found_and_followed_again),
        T(replay_messages_are_numbered_apart_from_the_rest),
        T(frames_of_a_run_that_did_not_welcome_are_dropped_and_it_is_greeted),
        T(the_next_daemon_is_followed_from_its_state_on),
        T(a_new_run_of_a_replay_is_taken_from_its_state_on),
        T(a_vanished_daemon_is_noticed_and_open_questions_are_answered),
        T(garbage_on_the_stream_is_passed_over),
        T(waiting_ends_when_messages_wait_or_a_descriptor_is_ready),
        T(what_cannot_be_followed_is_refused),
        T(the_state_of_topics_that_are_all_named_is_that_of_all_topics),
        T(the_state_is_asked_for_of_every_topic_there_is),
        T(too_many_open_questions_are_refused),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
