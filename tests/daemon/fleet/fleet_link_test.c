/* The link of a fleet with a real nats-server: messages that come faster than they are read, and
 * jobs that are read again. */
#include "daemon/fleet/fleet_envelope.h"
#include "daemon/fleet/fleet_link_state.h"
#include "daemon/fleet/fleet_nats_state.h"
#include "tests/directory.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define JOB "job.1"
#define MESSAGES 400u
#define MESSAGE_BYTES (1u << 19)
/* More than the link and libnats keep together, and libnats alone: it has dropped some. */
#define LINK_BYTES (UINT64_C(100) << 20)
#define NATS_BYTES (UINT64_C(68) << 20)

static struct fleet_link *tested;
static uint64_t lease_ns = UINT64_C(60000000000);
static uint64_t next, newest, most_bytes; /* received before the first message is handled */

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* @return bytes received @param sent  set to the number of messages sent */
static uint64_t count_traffic(const struct fleet_nats *nats, uint64_t *sent)
{
    natsStatistics *statistics;
    uint64_t messages, bytes, sent_bytes, reconnects;
    assert_int_equal(natsStatistics_Create(&statistics), NATS_OK);
    natsConnection_GetStats(nats->connection, statistics);
    natsStatistics_GetCounts(statistics, &messages, &bytes, sent, &sent_bytes, &reconnects);
    natsStatistics_Destroy(statistics);
    return bytes;
}

static uint64_t received_bytes(void)
{
    uint64_t sent;
    return count_traffic(tested->nats, &sent);
}

/* Each message says which one it is. */
static void check_message(const uint8_t *bytes, size_t length)
{
    uint64_t number;
    assert_int_equal(length, MESSAGE_BYTES);
    memcpy(&number, bytes, sizeof(number));
    assert_int_equal(number, next);
    while (next == 0 && received_bytes() < most_bytes)
        pause_shortly();
    next++;
}

static void on_event(void *user, const struct fleet_event *event)
{
    uv_loop_t *loop = user;
    if (event->type == FLEET_STORED && event->token == MESSAGES)
        fleet_link_note(tested, JOB);
    if (event->type == FLEET_ACQUIRED) {
        newest = event->seq;
        most_bytes = received_bytes() + LINK_BYTES;
        fleet_link_read(tested, JOB, 1);
    }
    if (event->type == FLEET_MESSAGE)
        check_message(event->bytes, event->length);
    if (next == MESSAGES)
        uv_stop(loop);
}

static void on_turn(void *user, int empty)
{
    (void)user;
    (void)empty;
}

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static pid_t start_server(const char *directory, int port)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", port);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("PATH", "/usr/local/bin:/usr/bin:/usr/sbin", 1);
        execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p", text, "-js", "-sd", directory,
               "-l", "/dev/null", (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static void connect_link(uv_loop_t *loop, int port, pid_t server,
                         void (*event)(void *user, const struct fleet_event *event))
{
    static char servers[64]; /* borrowed by the link */
    char why[512];
    snprintf(servers, sizeof(servers), "nats://127.0.0.1:%d", port);
    const struct fleet_link_options options = {
        .loop = loop,
        .nats = {.servers = servers, .cluster = "test", .lease_ns = lease_ns, .instance = 7},
        .value = "here",
        .user = loop,
        .on_event = event,
        .on_turn = on_turn};
    while (fleet_link_create(&tested, &options, why, sizeof(why)) != 0) {
        if (waitpid(server, NULL, WNOHANG) != 0)
            fail_msg("nats-server does not run: %s", why);
        pause_shortly();
    }
}

/* A server, and the link to it. */
struct bed {
    uv_loop_t loop;
    char directory[DIRECTORY_ROOM];
    pid_t server;
};

static void bed_init(struct bed *bed, void (*event)(void *user, const struct fleet_event *event))
{
    assert_int_equal(directory_make(bed->directory), 0);
    const int port = free_port();
    bed->server = start_server(bed->directory, port);
    assert_int_equal(uv_loop_init(&bed->loop), 0);
    connect_link(&bed->loop, port, bed->server, event);
}

static void bed_finish(struct bed *bed)
{
    fleet_link_destroy(tested);
    uv_run(&bed->loop, UV_RUN_DEFAULT);
    uv_loop_close(&bed->loop);
    kill(bed->server, SIGTERM);
    waitpid(bed->server, NULL, 0);
    directory_remove(bed->directory);
}

static void publish_all(void)
{
    for (uint64_t number = 0; number < MESSAGES; number++) {
        uint8_t *bytes = calloc(1, MESSAGE_BYTES);
        assert_non_null(bytes);
        memcpy(bytes, &number, sizeof(number));
        assert_int_equal(fleet_link_publish(tested, FLEET_IN, JOB, bytes, MESSAGE_BYTES,
                                            number + 1 == MESSAGES ? MESSAGES : 0),
                         0);
    }
}

static int on_message(void *user, uint64_t seq, const void *bytes, size_t length)
{
    (void)user;
    (void)seq;
    check_message(bytes, length);
    return 0;
}

static void each_message_is_read_once_and_in_order_by_those_who_read_slowly(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed, on_event);
    publish_all();
    uv_run(&bed.loop, UV_RUN_DEFAULT); /* as a worker: the loop handles messages slowly */
    assert_int_equal(next, MESSAGES);
    next = 0; /* as an export: the reader itself is slow */
    most_bytes = received_bytes() + NATS_BYTES;
    assert_int_equal(fleet_nats_read(tested->nats, FLEET_IN, JOB, 1, newest, on_message, NULL), 0);
    assert_int_equal(next, MESSAGES);
    bed_finish(&bed);
}

#define OTHER_JOB "job.2"
#define FURTHER 20u

static unsigned further; /* messages received after the job was read again */

static void publish_one(uint64_t token)
{
    uint8_t *bytes = calloc(1, 8);
    assert_non_null(bytes);
    assert_int_equal(fleet_link_publish(tested, FLEET_IN, JOB, bytes, 8, token), 0);
}

/* Requests are served in their order: the other job is held after the second reading has begun. */
static void on_event_of_two_readings(void *user, const struct fleet_event *event)
{
    uv_loop_t *loop = user;
    const int is_other = strcmp(event->job, OTHER_JOB) == 0;
    if (event->type == FLEET_STORED && event->token == 1)
        fleet_link_note(tested, JOB);
    if (event->type == FLEET_ACQUIRED && !is_other) {
        newest = event->seq;
        fleet_link_read(tested, JOB, 1);
        fleet_link_read(tested, JOB, 1);
        fleet_link_note(tested, OTHER_JOB);
    }
    for (unsigned i = 0; event->type == FLEET_ACQUIRED && is_other && i < FURTHER; i++)
        publish_one(0);
    if (event->type == FLEET_MESSAGE && event->seq > newest && ++further >= FURTHER)
        fleet_link_release(tested, JOB);
    if (event->type == FLEET_LOST)
        uv_stop(loop);
}

/* As when a lease expires and is acquired again before the first reading has begun. */
static void a_job_that_is_to_be_read_twice_is_read_by_one_reader(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed, on_event_of_two_readings);
    publish_one(1);
    uv_run(&bed.loop, UV_RUN_DEFAULT);
    assert_int_equal(further, FURTHER);
    bed_finish(&bed);
}

#define STATE_BYTES ((size_t)64 << 20)

static unsigned stored_agents, stored_journals; /* events, in whichever order */

static void publish_state(void)
{
    uint8_t *state = malloc(STATE_BYTES);
    uint64_t random = 1;
    assert_non_null(state);
    for (size_t i = 0; i < STATE_BYTES; i++) { /* nothing to compress */
        random = random * UINT64_C(6364136223846793005) + 1;
        state[i] = (uint8_t)(random >> 56);
    }
    assert_int_equal(fleet_link_publish_state(tested, JOB, state, STATE_BYTES, 1), 0);
}

static void on_event_of_a_state(void *user, const struct fleet_event *event)
{
    uv_loop_t *loop = user;
    uint8_t *journal = NULL;
    if (event->type == FLEET_ACQUIRED) {
        publish_state();
        journal = calloc(1, 8);
        assert_non_null(journal);
        assert_int_equal(fleet_link_publish(tested, FLEET_OUT, JOB, journal, 8, 3), 0);
        assert_int_equal(fleet_link_backlog(tested), 0); /* a gateway would wait */
        publish_one(2);
    }
    if (event->type == FLEET_STORED && event->token == 1)
        fleet_link_note(tested, JOB);
    if (event->type == FLEET_STORED && event->token == 2) {
        assert_int_equal(stored_journals, 0);
        stored_agents++;
    }
    if (event->type == FLEET_STORED && event->token == 3) { /* what was queued after the state */
        stored_journals++;
        uv_stop(loop);
    }
}

static void messages_of_agents_do_not_wait_for_the_state_of_a_job(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed, on_event_of_a_state);
    publish_one(1);
    uv_run(&bed.loop, UV_RUN_DEFAULT);
    assert_int_equal(stored_agents, 1);
    bed_finish(&bed);
}

static unsigned published_states, lost_others;

/* A job with a state is released and taken again; the lease of another job, which is held all the
 * time, is given up while the state is read. */
static void on_event_of_a_long_reading(void *user, const struct fleet_event *event)
{
    uv_loop_t *loop = user;
    const int is_other = strcmp(event->job, OTHER_JOB) == 0;
    if (event->type == FLEET_STORED && event->token == 1)
        fleet_link_note(tested, OTHER_JOB);
    if (event->type == FLEET_ACQUIRED && is_other)
        fleet_link_note(tested, JOB);
    if (event->type == FLEET_ACQUIRED && !is_other && published_states++ == 0) {
        uint8_t *journal = calloc(1, 8);
        assert_non_null(journal);
        publish_state();
        assert_int_equal(fleet_link_publish(tested, FLEET_OUT, JOB, journal, 8, 3), 0);
    } else if (event->type == FLEET_ACQUIRED && !is_other) {
        assert_int_equal(lost_others, 1);
        uv_stop(loop);
    }
    if (event->type == FLEET_STORED && event->token == 3)
        fleet_link_release(tested, JOB);
    if (event->type == FLEET_LOST && !is_other) {
        fleet_link_note(tested, JOB);
        fleet_link_release(tested, OTHER_JOB);
    }
    if (event->type == FLEET_LOST && is_other)
        lost_others++;
}

static void leases_are_kept_while_the_state_of_a_job_is_read(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed, on_event_of_a_long_reading);
    publish_one(1);
    uv_run(&bed.loop, UV_RUN_DEFAULT);
    assert_int_equal(lost_others, 1);
    assert_int_equal(published_states, 2);
    bed_finish(&bed);
}

/* A publisher whose answer from the servers comes while the lease is acquired again. */
static _Atomic int publishes_meanwhile;
static unsigned regained, lost;

static void publish_journal(uint64_t token)
{
    uint8_t *journal = calloc(1, 8);
    assert_non_null(journal);
    assert_int_equal(fleet_link_publish(tested, FLEET_OUT, JOB, journal, 8, token), 0);
}

int __real_fleet_nats_last(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                           uint64_t *seq);
int __wrap_fleet_nats_last(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                           uint64_t *seq);

/* The journal's last entry is asked for before that of the messages. */
int __wrap_fleet_nats_last(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                           uint64_t *seq)
{
    if (subject == FLEET_IN && atomic_exchange(&publishes_meanwhile, 0) != 0) {
        publish_journal(3);
        while (link_queue_backlog(&tested->journals) > 0)
            pause_shortly();
    }
    return __real_fleet_nats_last(nats, subject, job, seq);
}

static void expire_lease(void)
{
    pthread_mutex_lock(&tested->mutex);
    link_find_job(tested, JOB)->valid_ns = 1;
    pthread_mutex_unlock(&tested->mutex);
}

static void on_event_of_a_lease_that_expires(void *user, const struct fleet_event *event)
{
    if (event->type == FLEET_STORED && event->token == 1)
        fleet_link_note(tested, JOB);
    if (event->type == FLEET_ACQUIRED)
        publish_journal(2);
    if (event->type == FLEET_STORED && event->token == 2) {
        expire_lease();
        publishes_meanwhile = 1;
    }
    regained += event->type == FLEET_REGAINED;
    lost += event->type == FLEET_LOST;
    if (regained + lost > 0)
        uv_stop(user);
}

static void a_job_whose_journal_is_stored_while_its_lease_is_acquired_again_is_kept(void **state)
{
    struct bed bed;
    (void)state;
    lease_ns = UINT64_C(2000000000);
    bed_init(&bed, on_event_of_a_lease_that_expires);
    publish_one(1);
    uv_run(&bed.loop, UV_RUN_DEFAULT);
    lease_ns = UINT64_C(60000000000);
    const unsigned found_regained = regained, found_lost = lost;
    bed_finish(&bed);
    assert_int_equal(publishes_meanwhile, 0);
    assert_int_equal(found_regained, 1);
    assert_int_equal(found_lost, 0);
}

static void on_event_of_a_removed_journal(void *user, const struct fleet_event *event)
{
    if (event->type == FLEET_STORED && event->token == 1)
        fleet_link_note(tested, JOB);
    if (event->type == FLEET_ACQUIRED)
        publish_journal(2);
    if (event->type == FLEET_STORED && event->token >= 2)
        fleet_nats_delete(tested->nats, FLEET_OUT, JOB, UINT64_MAX);
    if (event->type == FLEET_STORED && event->token == 2)
        publish_journal(3);
    if (event->type == FLEET_STORED && event->token == 3)
        expire_lease();
    regained += event->type == FLEET_REGAINED;
    lost += event->type == FLEET_LOST;
    if (regained + lost > 0)
        uv_stop(user);
}

/* By the limits of the stream: no other daemon has written there. */
static void a_job_whose_journal_was_removed_is_kept(void **state)
{
    struct bed bed;
    (void)state;
    lease_ns = UINT64_C(2000000000);
    regained = lost = 0;
    bed_init(&bed, on_event_of_a_removed_journal);
    publish_one(1);
    uv_run(&bed.loop, UV_RUN_DEFAULT);
    lease_ns = UINT64_C(60000000000);
    const unsigned found_regained = regained, found_lost = lost;
    bed_finish(&bed);
    assert_int_equal(found_regained, 1);
    assert_int_equal(found_lost, 0);
}

static unsigned renewals; /* since they began to be late; 0: they are not */

int __real_fleet_nats_renew(struct fleet_nats *nats, const char *job, const char *value,
                            uint64_t *revision);
int __wrap_fleet_nats_renew(struct fleet_nats *nats, const char *job, const char *value,
                            uint64_t *revision);

/* The answer to the first one comes after the lease has expired. */
int __wrap_fleet_nats_renew(struct fleet_nats *nats, const char *job, const char *value,
                            uint64_t *revision)
{
    int code = __real_fleet_nats_renew(nats, job, value, revision);
    pthread_mutex_lock(&tested->mutex);
    const unsigned before = renewals;
    if (before == 1)
        link_find_job(tested, JOB)->valid_ns = 1;
    renewals += before > 0;
    pthread_mutex_unlock(&tested->mutex);
    if (before == 2) /* it is not going to be acquired again */
        fleet_link_release(tested, JOB);
    return code;
}

static void on_event_of_late_renewals(void *user, const struct fleet_event *event)
{
    if (event->type == FLEET_STORED && event->token == 1)
        fleet_link_note(tested, JOB);
    if (event->type == FLEET_ACQUIRED) {
        pthread_mutex_lock(&tested->mutex);
        renewals = 1;
        pthread_mutex_unlock(&tested->mutex);
    }
    regained += event->type == FLEET_REGAINED;
    lost += event->type == FLEET_LOST;
    if (regained + lost > 0)
        uv_stop(user);
}

/* The worker has left out what came in between: it is sent the job's messages again. */
static void a_lease_whose_renewal_is_answered_after_it_has_expired_is_acquired_again(void **state)
{
    struct bed bed;
    (void)state;
    lease_ns = UINT64_C(2000000000);
    regained = lost = 0;
    bed_init(&bed, on_event_of_late_renewals);
    publish_one(1);
    uv_run(&bed.loop, UV_RUN_DEFAULT);
    lease_ns = UINT64_C(60000000000);
    renewals = 0;
    const unsigned found_regained = regained, found_lost = lost;
    bed_finish(&bed);
    assert_int_equal(found_regained, 1);
    assert_int_equal(found_lost, 0);
}

static void on_event_of_nothing(void *user, const struct fleet_event *event)
{
    (void)user;
    (void)event;
}

/* A daemon whose renewal came too late for itself, but not for the servers. */
static void a_lease_that_is_acquired_by_its_holder_begins_again(void **state)
{
    struct bed bed;
    uint64_t first = 0, second = 0;
    (void)state;
    bed_init(&bed, on_event_of_nothing);
    assert_int_equal(fleet_nats_acquire(tested->nats, JOB, "here", &first), 0);
    assert_int_equal(fleet_nats_acquire(tested->nats, JOB, "here", &second), 0);
    assert_true(second > first);
    assert_int_equal(fleet_nats_acquire(tested->nats, JOB, "there", &first), -EEXIST);
    bed_finish(&bed);
}

#define LOWERED_BYTES 2000    /* of a message, also for the servers' own */
#define LONG_BYTES (2u << 20) /* more than the max_payload of the server */

static unsigned stored_batches, too_long, left;

static void lower_stream_maximum(void)
{
    jsStreamInfo *info = NULL;
    assert_int_equal(js_GetStreamInfo(&info, tested->nats->js, tested->nats->stream, NULL, NULL),
                     NATS_OK);
    info->Config->MaxMsgSize = LOWERED_BYTES;
    assert_int_equal(js_UpdateStream(NULL, tested->nats->js, info->Config, NULL, NULL), NATS_OK);
    jsStreamInfo_Destroy(info);
}

/* The messages of agents 1 to count, all but the second one short. */
static void publish_envelope(const char *job, uint64_t count, size_t length, uint64_t token)
{
    static const uint8_t bytes[LONG_BYTES];
    struct fleet_envelope envelope = {0};
    for (uint64_t agent = 1; agent <= count; agent++) {
        const struct fleet_entry entry = {agent, 1, bytes, agent == 2 ? length : 100};
        assert_int_equal(fleet_envelope_add(&envelope, &entry), 0);
    }
    assert_int_equal(
        fleet_link_publish(tested, FLEET_IN, job, envelope.bytes, envelope.length, token), 0);
}

static void on_event_of_a_lowered_maximum(void *user, const struct fleet_event *event)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    if (event->type == FLEET_TOO_LONG) {
        assert_int_equal(fleet_reader_init(&reader, event->bytes, event->length), 0);
        assert_int_equal(fleet_reader_next(&reader, &entry), 1);
        assert_true(entry.instance == 2);
        assert_int_equal(stored_batches, 0);
        too_long++;
    }
    stored_batches += event->type == FLEET_STORED;
    if (stored_batches == 2)
        uv_stop(user);
}

static int on_message_left(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    (void)user;
    (void)seq;
    assert_int_equal(fleet_reader_init(&reader, bytes, length), 0);
    assert_int_equal(fleet_reader_next(&reader, &entry), 1);
    assert_true(entry.instance == 2 * left + 1); /* in their order, and not agent 2 */
    left++;
    return 0;
}

static void check_long_message(int is_lowered)
{
    struct bed bed;
    uint64_t last = 0;
    stored_batches = too_long = left = 0;
    bed_init(&bed, on_event_of_a_lowered_maximum);
    if (is_lowered)
        lower_stream_maximum();
    publish_envelope(JOB, 3, is_lowered ? 2 * LOWERED_BYTES : LONG_BYTES, 1);
    publish_envelope(OTHER_JOB, 1, 0, 2);
    uv_run(&bed.loop, UV_RUN_DEFAULT);
    assert_int_equal(too_long, 1);
    assert_int_equal(fleet_link_maximum(tested) < LOWERED_BYTES, is_lowered);
    assert_int_equal(fleet_nats_last(tested->nats, FLEET_IN, JOB, &last), 0);
    assert_int_equal(fleet_nats_read(tested->nats, FLEET_IN, JOB, 1, last, on_message_left, NULL),
                     0);
    assert_int_equal(left, 2);
    bed_finish(&bed);
}

static void a_message_that_the_stream_accepts_no_more_is_dropped_and_holds_up_nothing(void **state)
{
    (void)state;
    check_long_message(1);
}

/* As after they were started again with another max_payload. */
static void a_message_that_the_servers_accept_no_more_is_dropped_and_holds_up_nothing(void **state)
{
    (void)state;
    check_long_message(0);
}

/* A daemon that ends without servers would wait for each of its jobs. The last test: a second
 * connection ends with libnats. */
static void without_servers_no_answer_to_the_end_of_a_reading_or_lease_is_waited_for(void **state)
{
    struct bed bed;
    struct fleet_nats *nats;
    struct fleet_subscription *reading;
    uint64_t revision, before, after;
    char why[512];
    (void)state;
    bed_init(&bed, on_event_of_nothing);
    const struct fleet_nats_options options = {
        .servers = tested->options.nats.servers, .cluster = "test", .lease_ns = lease_ns};
    assert_int_equal(fleet_nats_connect(&nats, &options, why, sizeof(why)), 0);
    assert_int_equal(fleet_nats_acquire(nats, JOB, "here", &revision), 0);
    assert_int_equal(fleet_nats_subscribe(&reading, nats, JOB, 1, on_message, NULL), 0);
    kill(bed.server, SIGKILL);
    while (natsConnection_Status(nats->connection) == NATS_CONN_STATUS_CONNECTED)
        pause_shortly();
    count_traffic(nats, &before);
    fleet_subscription_close(reading);
    fleet_nats_release(nats, revision);
    count_traffic(nats, &after);
    assert_int_equal(before, after);
    fleet_nats_close(nats);
    bed_finish(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_is_read_once_and_in_order_by_those_who_read_slowly),
        cmocka_unit_test(a_job_that_is_to_be_read_twice_is_read_by_one_reader),
        cmocka_unit_test(messages_of_agents_do_not_wait_for_the_state_of_a_job),
        cmocka_unit_test(leases_are_kept_while_the_state_of_a_job_is_read),
        cmocka_unit_test(a_job_whose_journal_is_stored_while_its_lease_is_acquired_again_is_kept),
        cmocka_unit_test(a_job_whose_journal_was_removed_is_kept),
        cmocka_unit_test(a_lease_whose_renewal_is_answered_after_it_has_expired_is_acquired_again),
        cmocka_unit_test(a_lease_that_is_acquired_by_its_holder_begins_again),
        cmocka_unit_test(a_message_that_the_stream_accepts_no_more_is_dropped_and_holds_up_nothing),
        cmocka_unit_test(a_message_that_the_servers_accept_no_more_is_dropped_and_holds_up_nothing),
        cmocka_unit_test(without_servers_no_answer_to_the_end_of_a_reading_or_lease_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
