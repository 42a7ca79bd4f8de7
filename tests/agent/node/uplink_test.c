/* The uplink against a daemon played by the test: what is sent when, and sent again. */
#include "agent/node/uplink.h"

#include "holter/clock.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

struct bed {
    char dir[DIRECTORY_ROOM], endpoint[96];
    uv_loop_t loop;
    struct journal *journal;
    struct uplink *uplink;
    void *context, *router;
    unsigned welcomes, fresh, clocks;

    /* the daemon's side */
    zmq_msg_t peer; /* who spoke last */
    uint64_t seqs[100];
    unsigned seq_count, hellos, asks, byes;
    uint64_t instance, acked_in_welcome;
    int refuse, mute_clock;
    uint64_t refuse_seq; /* a message that is refused for good */
};

static void on_welcome(void *user, const struct wire_welcome *welcome, int fresh)
{
    struct bed *bed = user;
    assert_int_equal(welcome->window_ns, 1000000000);
    bed->welcomes++;
    bed->fresh += (unsigned)fresh;
}

static int on_clock(void *user, const struct wire_clock_answer *answer, uint64_t t4_mono)
{
    struct bed *bed = user;
    assert_true(t4_mono >= answer->t1_ns);
    bed->clocks++;
    return 0;
}

static void on_refused(void *user, uint64_t seq)
{
    struct bed *bed = user;
    struct journal_message dropped;
    assert_int_equal(journal_drop(bed->journal, seq, &dropped), 1);
}

static void bind_daemon(struct bed *bed, uint64_t instance)
{
    bed->router = zmq_socket(bed->context, ZMQ_ROUTER);
    assert_int_equal(zmq_bind(bed->router, bed->endpoint), 0);
    bed->instance = instance;
    bed->seq_count = bed->hellos = bed->asks = 0;
}

static void kill_daemon(struct bed *bed)
{
    int linger = 0;
    zmq_setsockopt(bed->router, ZMQ_LINGER, &linger, sizeof linger);
    zmq_close(bed->router);
    bed->router = NULL;
}

static void answer(struct bed *bed, enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    zmq_send(bed->router, zmq_msg_data(&bed->peer), zmq_msg_size(&bed->peer), ZMQ_SNDMORE);
    zmq_send(bed->router, buffer.bytes, buffer.length, 0);
    wire_buffer_finish(&buffer);
}

static void take_hello(struct bed *bed, const struct wire_hello *hello)
{
    assert_string_equal(hello->role, "agent");
    assert_string_equal(hello->session, "7e57d");
    assert_int_equal(hello->instance, journal_instance(bed->journal));
    bed->hellos++;
    if (bed->refuse) {
        struct wire_refused refused = {.code = -1, .text = "no"};
        answer(bed, WIRE_TYPE_REFUSED, &refused);
        return;
    }
    struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL,
                                   .version = "test",
                                   .instance = bed->instance,
                                   .window_ns = 1000000000,
                                   .daemon_ns = 1,
                                   .acked = bed->acked_in_welcome};
    answer(bed, WIRE_TYPE_WELCOME, &welcome);
}

static void take(struct bed *bed, const struct wire_message *message)
{
    uint64_t now = clock_real_ns();
    struct wire_clock_answer clock = {message->clock_ask.t1_ns, now, now, 0};
    switch (message->type) {
    case WIRE_TYPE_HELLO:
        take_hello(bed, &message->hello);
        break;
    case WIRE_TYPE_CLOCK_ASK:
        bed->asks++;
        if (!bed->mute_clock)
            answer(bed, WIRE_TYPE_CLOCK_ANSWER, &clock);
        break;
    case WIRE_TYPE_WINDOW:
        if (bed->refuse_seq == message->window.seq) {
            const struct wire_refused refused = {-1, "no", bed->refuse_seq};
            answer(bed, WIRE_TYPE_REFUSED, &refused);
        }
        bed->seqs[bed->seq_count++] = message->window.seq;
        break;
    case WIRE_TYPE_BYE:
        bed->byes++;
        break;
    default:
        fail();
    }
}

/* One turn of both sides. */
static void turn(struct bed *bed)
{
    struct wire_arena arena = {0};
    uv_run(&bed->loop, UV_RUN_NOWAIT);
    zmq_pollitem_t item = {bed->router, 0, ZMQ_POLLIN, 0};
    while (bed->router != NULL && zmq_poll(&item, 1, 1) > 0) {
        zmq_msg_t body;
        struct wire_message message;
        zmq_msg_init(&body);
        zmq_msg_recv(&bed->peer, bed->router, 0);
        zmq_msg_recv(&body, bed->router, 0);
        assert_int_equal(
            wire_decode(&message, &arena, zmq_msg_data(&body), zmq_msg_size(&body), NULL), 0);
        take(bed, &message);
        zmq_msg_close(&body);
    }
    wire_arena_finish(&arena);
}

static void append_window(struct bed *bed)
{
    struct wire_buffer buffer = {0};
    struct wire_window window = {
        .seq = journal_next_seq(bed->journal), .job = "a", .host = "h", .length_ns = 1000000000};
    assert_int_equal(wire_encode(&buffer, WIRE_TYPE_WINDOW, &window), 0);
    assert_int_equal(
        journal_append(bed->journal, WIRE_TYPE_WINDOW, buffer.bytes, buffer.length, NULL, NULL), 0);
    journal_prepare(bed->journal);
    journal_commit(bed->journal);
    wire_buffer_finish(&buffer);
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL)
        return -1;
    if (directory_make(bed->dir) != 0 || uv_loop_init(&bed->loop) != 0 ||
        journal_create(&bed->journal, 1u << 16) != 0)
        return -1;
    snprintf(bed->endpoint, sizeof bed->endpoint, "ipc://%s/daemon", bed->dir);
    bed->context = zmq_ctx_new();
    zmq_msg_init(&bed->peer);
    bind_daemon(bed, 100);
    struct uplink_options options = {.loop = &bed->loop,
                                     .journal = bed->journal,
                                     .endpoint = bed->endpoint,
                                     .host = "h",
                                     .session = "7e57d",
                                     .welcome = on_welcome,
                                     .clock = on_clock,
                                     .refused = on_refused,
                                     .user = bed};
    *state = bed;
    return uplink_create(&bed->uplink, &options);
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    uplink_close(bed->uplink, NULL);
    uv_run(&bed->loop, UV_RUN_DEFAULT);
    int busy = uv_loop_close(&bed->loop);
    if (bed->router != NULL)
        kill_daemon(bed);
    zmq_msg_close(&bed->peer);
    zmq_ctx_term(bed->context);
    journal_destroy(bed->journal);
    directory_remove(bed->dir);
    free(bed);
    return busy;
}

static void messages_wait_for_the_first_answer_of_the_clock(void **state)
{
    struct bed *bed = *state;
    bed->mute_clock = 1;
    append_window(bed);
    while (bed->asks == 0)
        turn(bed);
    uplink_send_pending(bed->uplink);
    for (int i = 0; i < 20; i++)
        turn(bed);
    assert_int_equal(bed->seq_count, 0);
    assert_int_equal(bed->welcomes, 1);
    struct wire_clock_answer clock = {1, 2, 2, 0};
    answer(bed, WIRE_TYPE_CLOCK_ANSWER, &clock);
    while (bed->seq_count == 0)
        turn(bed);
    assert_int_equal(bed->seqs[0], 1);
    assert_int_equal(bed->clocks, 1);
}

static void what_is_not_acknowledged_is_sent_to_the_next_daemon(void **state)
{
    struct bed *bed = *state;
    for (int i = 0; i < 5; i++)
        append_window(bed);
    while (bed->seq_count < 5)
        turn(bed);
    struct wire_ack ack = {2};
    struct journal_message oldest;
    answer(bed, WIRE_TYPE_ACK, &ack);
    while (journal_read(bed->journal, 0, &oldest) && oldest.seq <= 2)
        turn(bed);
    kill_daemon(bed);
    append_window(bed);
    turn(bed);
    bind_daemon(bed, 200);
    while (bed->seq_count < 4)
        turn(bed);
    assert_int_equal(bed->hellos, 1);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(bed->seqs[i], 3 + i);
    assert_int_equal(bed->fresh, 2);
}

static void what_the_welcome_acknowledges_is_not_sent(void **state)
{
    struct bed *bed = *state;
    for (int i = 0; i < 4; i++)
        append_window(bed);
    bed->acked_in_welcome = 3;
    while (bed->seq_count < 1)
        turn(bed);
    for (int i = 0; i < 20; i++)
        turn(bed);
    assert_int_equal(bed->seq_count, 1);
    assert_int_equal(bed->seqs[0], 4);
}

static void refused_agent_keeps_what_it_has(void **state)
{
    struct bed *bed = *state;
    bed->refuse = 1;
    append_window(bed);
    while (bed->hellos == 0)
        turn(bed);
    for (int i = 0; i < 20; i++)
        turn(bed);
    assert_int_equal(bed->seq_count, 0);
    assert_false(uplink_connected(bed->uplink));
    assert_true(journal_has_pending(bed->journal));
}

static void
a_message_that_is_refused_for_good_is_dropped_and_the_others_are_sent_again(void **state)
{
    struct bed *bed = *state;
    bed->refuse_seq = 2;
    for (int i = 0; i < 3; i++)
        append_window(bed);
    while (bed->seq_count < 5) /* three of the first connection */
        turn(bed);
    assert_int_equal(bed->hellos, 2);
    assert_int_equal(bed->seqs[3], 1);
    assert_int_equal(bed->seqs[4], 3);
}

/* As one with other keys does. */
static void a_daemon_that_ends_the_connection_at_once_is_not_dialled_again_at_once(void **state)
{
    struct bed *bed = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct uplink *uplink;
    int connections = 0, listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/other", bed->dir);
    char endpoint[sizeof address.sun_path + 8];
    snprintf(endpoint, sizeof endpoint, "ipc://%s", address.sun_path);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 10), 0);
    const struct uplink_options options = {.loop = &bed->loop,
                                           .journal = bed->journal,
                                           .endpoint = endpoint,
                                           .host = "h",
                                           .session = "1"};
    assert_int_equal(uplink_create(&uplink, &options), 0);
    for (int further = 0; further<200; further += connections> 0) {
        int connection = accept(listener, NULL, NULL);
        connections += connection >= 0;
        close(connection);
        turn(bed);
    }
    close(listener);
    uplink_close(uplink, NULL);
    assert_int_equal(connections, 1);
}

/* @return whether a hello came, which is received */
static int has_hello(void *router)
{
    zmq_msg_t part;
    int parts = 0;
    zmq_msg_init(&part);
    while (zmq_msg_recv(&part, router, ZMQ_DONTWAIT) >= 0)
        parts++;
    zmq_msg_close(&part);
    return parts > 0;
}

static void agents_begin_with_different_daemons_of_their_list(void **state)
{
    struct bed *bed = *state;
    char list[256];
    unsigned hellos[2] = {0, 0};
    snprintf(list, sizeof list, "%s,%s-2", bed->endpoint, bed->endpoint);
    void *other = zmq_socket(bed->context, ZMQ_ROUTER);
    assert_int_equal(zmq_bind(other, strchr(list, ',') + 1), 0);
    while (!has_hello(bed->router)) /* of the agent of all tests */
        uv_run(&bed->loop, UV_RUN_NOWAIT);
    for (int agent = 0; agent < 64 && (hellos[0] == 0 || hellos[1] == 0); agent++) {
        struct uplink *uplink;
        struct journal *journal;
        assert_int_equal(journal_create(&journal, 1u << 16), 0);
        const struct uplink_options options = {
            .loop = &bed->loop, .journal = journal, .endpoint = list, .host = "h", .session = "1"};
        assert_int_equal(uplink_create(&uplink, &options), 0);
        for (unsigned before = hellos[0] + hellos[1]; hellos[0] + hellos[1] == before;) {
            uv_run(&bed->loop, UV_RUN_NOWAIT);
            hellos[0] += (unsigned)has_hello(bed->router);
            hellos[1] += (unsigned)has_hello(other);
        }
        uplink_close(uplink, NULL);
        for (int i = 0; i < 10; i++)
            uv_run(&bed->loop, UV_RUN_NOWAIT);
        journal_destroy(journal);
    }
    zmq_close(other);
    assert_true(hellos[0] > 0);
    assert_true(hellos[1] > 0);
}

static void leaving_agent_says_bye(void **state)
{
    struct bed *bed = *state;
    while (bed->clocks == 0)
        turn(bed);
    uplink_close(bed->uplink, NULL);
    bed->uplink = NULL;
    while (bed->byes == 0)
        turn(bed);
}

/* A program that ends at once: else the daemon would take its agent for one that went silent. */
static void agent_that_leaves_before_its_welcome_says_bye_too(void **state)
{
    struct bed *bed = *state;
    uplink_close(bed->uplink, NULL);
    bed->uplink = NULL;
    while (bed->byes == 0)
        turn(bed);
    assert_int_equal(bed->hellos, 1);
    assert_int_equal(bed->welcomes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_wait_for_the_first_answer_of_the_clock, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_acknowledged_is_sent_to_the_next_daemon, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_the_welcome_acknowledges_is_not_sent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(refused_agent_keeps_what_it_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_message_that_is_refused_for_good_is_dropped_and_the_others_are_sent_again, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_daemon_that_ends_the_connection_at_once_is_not_dialled_again_at_once, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(agents_begin_with_different_daemons_of_their_list, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(leaving_agent_says_bye, set_up, tear_down),
        cmocka_unit_test_setup_teardown(agent_that_leaves_before_its_welcome_says_bye_too, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
