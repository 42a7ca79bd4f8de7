/* The gateway of a fleet: what it puts into the stream of a job, and what it knows of jobs of
 * others. Link and front stand here. */
#include "daemon/fleet/fleet_state.h"
#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define AGENT UINT64_C(7)
#define HOUR_NS UINT64_C(3600000000000)

static char published_job[NATS_JOB_BYTES];
static uint64_t published_instance;
static enum wire_type published_type;
static struct {
    char job[NATS_JOB_BYTES];
    uint64_t seq;
} byes[4];
static unsigned bye_count;
static unsigned publications;

int fleet_link_publish(struct fleet_link *link, enum fleet_subject subject, const char *job,
                       uint8_t *bytes, size_t length, uint64_t token)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    struct wire_message message;
    struct wire_arena arena = {0};
    (void)link;
    (void)token;
    assert_int_equal(subject, FLEET_IN);
    assert_int_equal(fleet_reader_init(&reader, bytes, length), 0);
    while (fleet_reader_next(&reader, &entry) == 1) {
        assert_int_equal(wire_decode(&message, &arena, entry.bytes, entry.length, NULL), 0);
        published_instance = entry.instance;
        published_type = message.type;
        if (message.type == WIRE_TYPE_BYE && bye_count < 4) {
            snprintf(byes[bye_count].job, sizeof(byes[bye_count].job), "%s", job);
            byes[bye_count++].seq = message.bye.seq;
        }
    }
    snprintf(published_job, sizeof(published_job), "%s", job);
    publications++;
    wire_arena_finish(&arena);
    free(bytes);
    return 0;
}

size_t fleet_link_backlog(struct fleet_link *link)
{
    (void)link;
    return 0;
}

size_t fleet_link_maximum(const struct fleet_link *link)
{
    (void)link;
    return 1u << 20;
}

void fleet_link_send_all(struct fleet_link *link, const void *bytes, size_t length)
{
    (void)link;
    (void)bytes;
    (void)length;
}

void fleet_link_note_load(struct fleet_link *link, uint64_t daemon, uint64_t load)
{
    (void)link;
    (void)daemon;
    (void)load;
}

void fleet_link_note(struct fleet_link *link, const char *job)
{
    (void)link;
    (void)job;
}

void fleet_reject(struct fleet *fleet, const char *job, const char *why)
{
    (void)fleet;
    fail_msg("%s: %s", job, why);
}

static int set_up(void **state)
{
    struct fleet *fleet = calloc(1, sizeof(*fleet));
    gateway_init(&fleet->gateway);
    fleet->link = (struct fleet_link *)fleet; /* is not looked into */
    publications = bye_count = 0;
    *state = fleet;
    return 0;
}

static int tear_down(void **state)
{
    struct fleet *fleet = *state;
    gateway_finish(&fleet->gateway);
    wire_buffer_finish(&fleet->buffer);
    free(fleet);
    return 0;
}

static void leave(struct fleet *fleet, uint64_t instance, const char *job, uint64_t now_ns)
{
    const struct wire_bye bye = {.seq = 7, .job = job};
    fleet_agent_left(fleet, instance, &bye, now_ns);
}

static void ingest(struct fleet *fleet, const char *job, uint64_t seq, int expected)
{
    const struct wire_message message = {.type = WIRE_TYPE_RANKS,
                                         .ranks = {.seq = seq, .job = job}};
    struct wire_buffer buffer = {0};
    struct job_fault fault = {""};
    zmq_msg_t bytes;
    assert_int_equal(wire_encode(&buffer, message.type, &message.ranks), 0);
    zmq_msg_init_size(&bytes, buffer.length);
    memcpy(zmq_msg_data(&bytes), buffer.bytes, buffer.length);
    assert_int_equal(fleet_ingest(fleet, AGENT, &message, &bytes, HOUR_NS, &fault), expected);
    zmq_msg_close(&bytes);
    wire_buffer_finish(&buffer);
}

static void an_agent_that_came_from_another_gateway_leaves_the_job_that_it_names(void **state)
{
    struct fleet *fleet = *state;
    leave(fleet, AGENT, "one.1", 1);
    gateway_flush(fleet, 1);
    assert_int_equal(publications, 1);
    assert_string_equal(published_job, "one.1");
    assert_true(published_instance == AGENT);
    assert_int_equal(published_type, WIRE_TYPE_BYE);
}

static void an_agent_that_names_no_job_leaves_those_that_it_has_reported(void **state)
{
    struct fleet *fleet = *state;
    ingest(fleet, "one.1", 1, 0);
    gateway_flush(fleet, 1);
    leave(fleet, AGENT + 1, NULL, 2);
    gateway_flush(fleet, 1);
    assert_int_equal(publications, 1);
    leave(fleet, AGENT, NULL, 3);
    gateway_flush(fleet, 1);
    assert_int_equal(publications, 2);
    assert_int_equal(published_type, WIRE_TYPE_BYE);
}

static void a_job_of_a_forbidden_name_is_not_left(void **state)
{
    struct fleet *fleet = *state;
    leave(fleet, AGENT, "one.>", 1);
    gateway_flush(fleet, 1);
    assert_int_equal(publications, 0);
}

/* Its recording would go on in that of another job. */
static void a_job_that_is_named_as_a_part_of_a_recording_is_refused(void **state)
{
    struct fleet *fleet = *state;
    ingest(fleet, "one.part2", 1, -HOLTER_ERANGE);
    ingest(fleet, "one.part", 1, 0);
}

/* An agent numbers its messages across all its jobs. */
static void messages_of_other_jobs_do_not_count_as_missing_in_a_job_that_is_left(void **state)
{
    struct fleet *fleet = *state;
    ingest(fleet, "one.1", 4, 0);
    ingest(fleet, "two.1", 6, 0);
    leave(fleet, AGENT, NULL, 1);
    gateway_flush(fleet, 1);
    assert_int_equal(bye_count, 2);
    assert_string_equal(byes[0].job, "one.1");
    assert_true(byes[0].seq == 5); /* message 7 is missing, of either */
    assert_true(byes[1].seq == 7);
}

/* The agent has named one of them when that one ended. */
static void what_is_missing_is_shared_by_the_jobs_that_the_agent_has_not_left(void **state)
{
    struct fleet *fleet = *state;
    ingest(fleet, "one.1", 5, 0);
    leave(fleet, AGENT, "one.1", 1); /* with message 7, which is missing, too */
    ingest(fleet, "two.1", 8, 0);
    const struct wire_bye bye = {.seq = 10};
    fleet_agent_left(fleet, AGENT, &bye, 2);
    gateway_flush(fleet, 1);
    assert_int_equal(bye_count, 2);
    assert_string_equal(byes[1].job, "two.1");
    assert_true(byes[1].seq == 10);
}

static void what_agents_sent_is_gathered_until_the_first_of_it_is_due(void **state)
{
    struct fleet *fleet = *state;
    struct timeline timeline;
    timeline_init(&timeline);
    fleet->options.timeline = &timeline;
    fleet->options.gather_ns = HOUR_NS;
    const uint64_t now = timeline_now(&timeline);
    leave(fleet, AGENT, "one.1", now);
    gateway_flush(fleet, 0);
    assert_int_equal(publications, 0);
    leave(fleet, AGENT + 1, "one.1", now + 2 * HOUR_NS);
    fleet->gateway.since_ns -= HOUR_NS;
    gateway_flush(fleet, 0);
    assert_int_equal(publications, 1);
}

static void what_agents_sent_is_published_at_once_when_asked(void **state)
{
    struct fleet *fleet = *state;
    fleet->options.gather_ns = HOUR_NS;
    leave(fleet, AGENT, "one.1", 1);
    gateway_flush(fleet, 1);
    assert_int_equal(publications, 1);
}

/* Agents come and go as long as the daemon runs. */
static void numbers_of_a_bounded_count_of_agents_are_kept(void **state)
{
    struct fleet *fleet = *state;
    struct gateway *gateway = &fleet->gateway;
    struct gateway_acks *acks = calloc(1, sizeof(*acks));
    for (uint64_t instance = 1; instance <= COMMIT_ACKS_KEPT; instance++)
        commit_acks_add(&gateway->stored, instance, 1);
    commit_acks_add(&acks->seqs, COMMIT_ACKS_KEPT, 5);
    commit_acks_add(&acks->seqs, COMMIT_ACKS_KEPT + 1, 5);
    gateway->first = acks;
    gateway->last = &acks->next;
    gateway_on_stored(fleet, acks->token);
    assert_true(fleet_stored_seq(fleet, COMMIT_ACKS_KEPT) == 5);
    assert_true(fleet_stored_seq(fleet, COMMIT_ACKS_KEPT + 1) == 0);
}

static void announce(struct fleet *fleet, uint64_t daemon, const char *job)
{
    const struct wire_job_row row = {.job = job, .state = "running"};
    const struct wire_status status = {.jobs = &row, .jobs_count = 1};
    struct wire_buffer buffer = {0};
    assert_int_equal(wire_encode(&buffer, WIRE_TYPE_STATUS, &status), 0);
    roster_note(fleet, &(struct fleet_entry){daemon, 0, buffer.bytes, buffer.length});
    wire_buffer_finish(&buffer);
}

static void a_daemon_has_one_list_of_jobs_also_after_another_one_has_gone(void **state)
{
    struct fleet *fleet = *state;
    struct timeline timeline;
    struct wire_job_row rows[4];
    timeline_init(&timeline);
    fleet->options.timeline = &timeline;
    announce(fleet, 1, "one.1");
    announce(fleet, 2, "two.1");
    fleet->lists[0].at_ns = 0; /* nothing has come from that one for long */
    announce(fleet, 2, "two.2");
    assert_int_equal(fleet_list_jobs(fleet, rows, 0, 4), 1);
    assert_string_equal(rows[0].job, "two.2");
    announce(fleet, 3, "three.1");
    assert_int_equal(fleet->list_count, 2);
    roster_finish(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            an_agent_that_came_from_another_gateway_leaves_the_job_that_it_names, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            an_agent_that_names_no_job_leaves_those_that_it_has_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            messages_of_other_jobs_do_not_count_as_missing_in_a_job_that_is_left, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            what_is_missing_is_shared_by_the_jobs_that_the_agent_has_not_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_that_is_named_as_a_part_of_a_recording_is_refused,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_of_a_forbidden_name_is_not_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_daemon_has_one_list_of_jobs_also_after_another_one_has_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_agents_sent_is_gathered_until_the_first_of_it_is_due,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_agents_sent_is_published_at_once_when_asked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(numbers_of_a_bounded_count_of_agents_are_kept, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
