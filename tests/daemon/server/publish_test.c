/* The published stream: subscriptions, frames and their numbers. */
#include "daemon/server/msg_socket_type.h"
#include "daemon/server/publish.h"

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INSTANCE UINT64_C(77)
#define MOST 32u

/* A port that a test listens at. */
struct wire_tap {
    struct msg_socket port;
    const char *subscription; /* that comes next; NULL: none */
    const char *user;         /* "User-Id" of who subscribes; NULL: none */
    struct {
        char topic[128];
        uint64_t number, ordinal, instance;
        size_t length;
    } frames[MOST];
    size_t count;
};

static void start(struct msg_socket *port)
{
    (void)port;
}

static int receive(struct msg_socket *port, struct msg_socket_message *out)
{
    struct wire_tap *tap = (struct wire_tap *)port;
    *out = (struct msg_socket_message){.count = 1};
    if (tap->subscription == NULL)
        return 0;
    size_t length = strlen(tap->subscription);
    zmq_msg_init_size(&out->parts[0], 1 + length);
    zmq_msg_init(&out->parts[1]);
    uint8_t *bytes = zmq_msg_data(&out->parts[0]);
    bytes[0] = 1;
    memcpy(bytes + 1, tap->subscription, length);
    tap->subscription = NULL;
    snprintf(out->user, sizeof(out->user), "%s", tap->user == NULL ? "" : tap->user);
    return 1;
}

static int take(struct msg_socket *port, const struct msg_socket_part *parts, size_t count,
                zmq_msg_t *last)
{
    struct wire_tap *tap = (struct wire_tap *)port;
    uint64_t numbers[3];
    (void)last;
    assert_int_equal(count, 3);
    assert_int_equal(parts[1].length, sizeof(numbers));
    assert_in_range(tap->count, 0, MOST - 1);
    memcpy(numbers, parts[1].bytes, sizeof(numbers));
    snprintf(tap->frames[tap->count].topic, sizeof(tap->frames[0].topic), "%.*s",
             (int)parts[0].length, (const char *)parts[0].bytes);
    tap->frames[tap->count].number = be64toh(numbers[0]);
    tap->frames[tap->count].ordinal = be64toh(numbers[1]);
    tap->frames[tap->count].instance = be64toh(numbers[2]);
    tap->frames[tap->count++].length = parts[2].length;
    return 0;
}

static void close_port(struct msg_socket *port)
{
    port->closed(port->closed_user);
}

static const struct msg_socket_operations tap_operations = {
    .start = start, .receive = receive, .send = take, .close = close_port};

static struct publisher *publisher;
static struct wire_tap tap;

static int set_up(void **state)
{
    (void)state;
    tap = (struct wire_tap){.port = {.type = &tap_operations}};
    if (publisher_create(&publisher) != 0)
        return -1;
    publisher_open(publisher, &tap.port, INSTANCE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    publisher_destroy(publisher);
    return 0;
}

static void subscribe(const char *topic)
{
    tap.subscription = topic;
    tap.count = 0;
    tap.port.readable(tap.port.user);
}

static void publish(const char *job, unsigned times)
{
    struct wire_totals totals = {.job = job};
    for (unsigned i = 0; i < times; i++)
        publisher_publish(publisher, job, WIRE_TYPE_TOTALS, &totals);
}

/* Jobs are called after their users. */
static const char *owner_of(void *user, const char *job)
{
    (void)user;
    return strcmp(job, "ann.0") == 0 ? "ann" : strcmp(job, "bob.0") == 0 ? "bob" : NULL;
}

static void separate_users(void)
{
    publisher_separate_users(publisher, owner_of, NULL);
}

static void subscribe_as(const char *user, const char *topic)
{
    tap.user = user;
    subscribe(topic);
    tap.user = NULL;
}

static void frames_of_a_users_job_are_sent_to_this_user_too(void **state)
{
    (void)state;
    separate_users();
    subscribe_as("viewer:ann", "~ann/totals/");
    publish("bob.0", 1);
    publish("ann.0", 1);
    publish("nobody.0", 1);
    assert_int_equal(tap.count, 4);
    assert_string_equal(tap.frames[0].topic, "totals/bob.0");
    assert_string_equal(tap.frames[1].topic, "totals/ann.0");
    assert_string_equal(tap.frames[2].topic, "~ann/totals/ann.0");
    assert_int_equal(tap.frames[2].number, tap.frames[1].number);
    assert_int_equal(tap.frames[2].length, tap.frames[1].length);
    assert_string_equal(tap.frames[3].topic, "totals/nobody.0");
}

static void a_users_sync_is_answered_for_own_jobs_only(void **state)
{
    (void)state;
    separate_users();
    publish("ann.0", 2);
    publish("bob.0", 2);
    subscribe_as("viewer:ann", "~ann/sync/1/bob.0");
    assert_int_equal(tap.count, 1);
    assert_string_equal(tap.frames[0].topic, "~ann/sync/1/bob.0");
    assert_int_equal(tap.frames[0].number, 0);
    subscribe_as("viewer:ann", "~ann/sync/1/ann.0");
    assert_int_equal(tap.count, 2);
    assert_string_equal(tap.frames[0].topic, "~ann/sync/1/ann.0/totals");
    assert_int_equal(tap.frames[0].number, 2);
    for (unsigned i = 0; i < 4; i++) {
        static const char *const others[] = {"sync/1/bob.0", "sync/1", "~bob/sync/1/bob.0", "~an"};
        subscribe_as("viewer:ann", others[i]);
        assert_int_equal(tap.count, 0);
    }
    subscribe_as("viewer", "sync/1/bob.0");
    assert_int_equal(tap.count, 2);
}

static void a_subscription_is_confirmed_by_an_empty_frame(void **state)
{
    (void)state;
    publish("job.0", 3);
    subscribe("sync/1");
    assert_int_equal(tap.count, 1);
    assert_string_equal(tap.frames[0].topic, "sync/1");
    assert_int_equal(tap.frames[0].number, 0);
    assert_int_equal(tap.frames[0].ordinal, 0);
    assert_int_equal(tap.frames[0].instance, INSTANCE);
    assert_int_equal(tap.frames[0].length, 0);
}

static void the_newest_frames_of_a_job_are_sent_before_the_sync(void **state)
{
    struct wire_nodes nodes = {.job = "job.0"};
    (void)state;
    publish("job.0", 3);
    publisher_publish(publisher, "job.0", WIRE_TYPE_NODES, &nodes);
    publish("job.01", 5);
    subscribe("sync/1/job.0");
    assert_int_equal(tap.count, 3);
    assert_string_equal(tap.frames[0].topic, "sync/1/job.0/totals");
    assert_int_equal(tap.frames[0].number, 3);
    assert_int_equal(tap.frames[0].ordinal, 3);
    assert_int_equal(tap.frames[0].instance, INSTANCE);
    assert_int_equal(tap.frames[0].length, 0);
    assert_string_equal(tap.frames[1].topic, "sync/1/job.0/nodes");
    assert_int_equal(tap.frames[1].number, 4);
    assert_int_equal(tap.frames[1].ordinal, 1);
    assert_string_equal(tap.frames[2].topic, "sync/1/job.0");
    assert_int_equal(tap.frames[2].number, 0);
    publish("job.0", 1); /* nothing was counted */
    assert_int_equal(tap.frames[3].number, 5);
    assert_int_equal(tap.frames[3].ordinal, 4);
}

static void nothing_is_sent_before_the_sync_of_an_unknown_job(void **state)
{
    (void)state;
    publish("job.0", 3);
    for (int i = 0; i < 4; i++) {
        static const char *const topics[] = {"sync/1/job", "sync/1/job.01", "sync/", "sync//"};
        subscribe(topics[i]);
        assert_int_equal(tap.count, 1);
        assert_string_equal(tap.frames[0].topic, topics[i]);
    }
    publisher_for_jobs(publisher).forget(publisher, "job.0");
    subscribe("sync/1/job.0");
    assert_int_equal(tap.count, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_subscription_is_confirmed_by_an_empty_frame),
        T(frames_of_a_users_job_are_sent_to_this_user_too),
        T(a_users_sync_is_answered_for_own_jobs_only),
        T(the_newest_frames_of_a_job_are_sent_before_the_sync),
        T(nothing_is_sent_before_the_sync_of_an_unknown_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
