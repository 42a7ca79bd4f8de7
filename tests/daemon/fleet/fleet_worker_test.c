/* The worker of a fleet: when it delivers alerts, and saves a job. Link and sinks stand here. */
#include "daemon/fleet/fleet_state.h"
#include "daemon/job/job_state.h"
#include "tests/daemon/agent_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define JOB "job.1"
#define ENVELOPES 8

/* Envelopes of the journal, in order; the number of one is its place, from 1 on. */
static struct {
    uint8_t *bytes;
    size_t length;
    uint64_t token;
} journal[ENVELOPES];
static size_t journal_count;
static unsigned queued, restored, forgotten, saved;
static int holds;           /* the lease */
static uint64_t packing_ns; /* that compressing the state of the job took */
static uint64_t removed;    /* messages before the next one that are not stored any more */
static uint64_t newest;     /* message when the job is acquired */
static char queued_state[17], queued_culprit[97];

int fleet_link_publish(struct fleet_link *link, enum fleet_subject subject, const char *job,
                       uint8_t *bytes, size_t length, uint64_t token)
{
    (void)link;
    assert_int_equal(subject, FLEET_OUT);
    assert_string_equal(job, JOB);
    assert_true(journal_count < ENVELOPES);
    journal[journal_count].bytes = bytes;
    journal[journal_count].length = length;
    journal[journal_count++].token = token;
    return 0;
}

int fleet_link_publish_state(struct fleet_link *link, const char *job, uint8_t *bytes,
                             size_t length, uint64_t position)
{
    (void)link;
    (void)job;
    (void)length;
    (void)position;
    saved++;
    free(bytes);
    return 0;
}

uint64_t fleet_link_packing_ns(struct fleet_link *link, const char *job)
{
    (void)link;
    assert_string_equal(job, JOB);
    return packing_ns;
}

int fleet_link_holds(struct fleet_link *link, const char *job)
{
    (void)link;
    (void)job;
    return holds;
}

void fleet_link_read(struct fleet_link *link, const char *job, uint64_t from)
{
    (void)link;
    (void)job;
    (void)from;
}

void fleet_link_release(struct fleet_link *link, const char *job)
{
    (void)link;
    (void)job;
}

static int known_running = 1; /* to the fleet */

void fleet_link_set_running(struct fleet_link *link, const char *job, int running)
{
    (void)link;
    assert_string_equal(job, JOB);
    known_running = running;
}

static unsigned rejections_expected;
static int users; /* have keys */

void fleet_reject(struct fleet *fleet, const char *job, const char *why)
{
    (void)fleet;
    if (rejections_expected-- == 0)
        fail_msg("%s: %s", job, why);
}

void sinks_queue(struct sinks *sinks, const struct wire_alert *alert,
                 const struct alert_labels *labels)
{
    (void)sinks;
    queued++;
    snprintf(queued_state, sizeof(queued_state), "%s", alert->state);
    snprintf(queued_culprit, sizeof(queued_culprit), "%s", labels->culprit);
}

static int sink_fails;

int sinks_have_undelivered(struct sinks *sinks, const char *job)
{
    (void)sinks;
    assert_string_equal(job, JOB);
    return sink_fails;
}

void sinks_restore(struct sinks *sinks, const struct wire_alert *alert,
                   const struct alert_labels *labels)
{
    (void)sinks;
    (void)alert;
    (void)labels;
    restored++;
}

void sinks_forget(struct sinks *sinks, const char *job)
{
    assert_string_equal(job, JOB);
    forgotten += sinks != NULL; /* jobs have none themselves */
}

static int wants(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 1;
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    worker_on_publish(user, job, type, message);
}

static void forget(void *user, const char *job)
{
    worker_on_forgotten(user, job);
}

static void on_kept(void *user, uint64_t instance, uint64_t seq)
{
    (void)user;
    (void)instance;
    (void)seq;
}

/* A daemon that acquires the job, with what the journal has. */
static struct fleet *start_daemon(void)
{
    struct fleet *fleet = calloc(1, sizeof(*fleet));
    const struct jobs_options options = {
        .job = {.window_ns = S, .grace_ns = S / 4, .lost_ns = 30 * S, .most_pairs = 100},
        .users = users,
        .publisher = {fleet, wants, publish, forget},
        .kept = on_kept};
    char why[200];
    struct fleet_event event = {.job = JOB};
    fleet->options.sinks = (struct sinks *)fleet; /* is not looked into */
    assert_int_equal(jobs_create(&fleet->jobs, NULL, &options, why, sizeof(why)), 0);
    for (size_t i = 0; i < journal_count; i++) {
        event.seq = i + 1;
        event.bytes = journal[i].bytes;
        event.length = journal[i].length;
        worker_on_journal(fleet, &event);
    }
    worker_on_acquired(fleet, &(struct fleet_event){.job = JOB, .seq = newest});
    return fleet;
}

static void stop_daemon(struct fleet *fleet)
{
    worker_finish(fleet);
    jobs_destroy(fleet->jobs, S);
    wire_arena_finish(&fleet->arena);
    wire_buffer_finish(&fleet->buffer);
    free(fleet);
}

static void raise_alert(struct fleet *fleet, const char *state)
{
    const struct wire_alert alert = {.job = JOB,
                                     .id = 1,
                                     .rule = "hang",
                                     .kind = "hang",
                                     .severity = "critical",
                                     .state = state,
                                     .fired_ns = S,
                                     .title = "no progress",
                                     .culprit = "rank",
                                     .culprits = "5"};
    worker_on_publish(fleet, JOB, WIRE_TYPE_ALERT, &alert);
    worker_tick(fleet);
}

/* The servers have stored the newest envelope of the journal. */
static void store(struct fleet *fleet)
{
    const struct fleet_event event = {
        .job = JOB, .seq = journal_count, .token = journal[journal_count - 1].token};
    assert_true(event.token != 0);
    worker_on_stored(fleet, &event);
}

static int set_up(void **state)
{
    (void)state;
    queued = restored = forgotten = saved = 0;
    holds = known_running = 1;
    sink_fails = 0;
    users = 0;
    newest = packing_ns = removed = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    while (journal_count > 0)
        free(journal[--journal_count].bytes);
    return 0;
}

static void an_alert_is_delivered_when_the_journal_with_it_is_stored(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    raise_alert(fleet, "firing");
    assert_int_equal(queued, 0);
    store(fleet);
    assert_int_equal(queued, 1);
    assert_string_equal(queued_state, "firing");
    assert_string_equal(queued_culprit, "rank 5");
    raise_alert(fleet, "resolved");
    assert_int_equal(queued, 1);
    store(fleet);
    assert_int_equal(queued, 2);
    assert_string_equal(queued_state, "resolved");
    stop_daemon(fleet);
}

/* Another daemon may have gone on with the job, and deliver it. */
static void an_alert_that_is_stored_after_the_lease_has_expired_waits_for_the_lease(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    raise_alert(fleet, "firing");
    holds = 0;
    store(fleet);
    worker_tick(fleet);
    assert_int_equal(queued, 0);
    holds = 1;
    worker_tick(fleet);
    assert_int_equal(queued, 1);
    worker_tick(fleet);
    assert_int_equal(queued, 1);
    stop_daemon(fleet);
}

static void an_alert_of_a_job_that_is_lost_meanwhile_is_not_delivered(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    raise_alert(fleet, "firing");
    worker_on_lost(fleet, JOB);
    store(fleet);
    assert_int_equal(queued, 0);
    stop_daemon(fleet);
}

static void sinks_forget_a_job_that_another_daemon_goes_on_with(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    raise_alert(fleet, "firing");
    store(fleet);
    assert_int_equal(forgotten, 0);
    worker_on_lost(fleet, JOB);
    assert_int_equal(forgotten, 1);
    stop_daemon(fleet);
}

static void
a_daemon_that_takes_the_job_over_delivers_only_the_end_of_a_delivered_alert(void **state)
{
    (void)state;
    struct fleet *first = start_daemon();
    raise_alert(first, "firing");
    store(first);
    worker_tick(first);
    struct fleet *second = start_daemon();
    assert_int_equal(restored, 1);
    worker_tick(second);
    raise_alert(second, "resolved");
    store(second);
    assert_int_equal(queued, 2);
    assert_string_equal(queued_state, "resolved");
    stop_daemon(first);
    stop_daemon(second);
}

static void
an_alert_without_a_note_that_it_was_delivered_is_delivered_by_the_next_daemon(void **state)
{
    (void)state;
    struct fleet *first = start_daemon();
    raise_alert(first, "firing");
    stop_daemon(first);
    struct fleet *second = start_daemon();
    worker_tick(second);
    assert_int_equal(queued + restored, 0);
    store(second);
    assert_int_equal(queued, 1);
    assert_string_equal(queued_state, "firing");
    stop_daemon(second);
}

static void an_alert_that_waits_for_a_sink_that_fails_is_delivered_by_the_next_daemon(void **state)
{
    (void)state;
    struct fleet *first = start_daemon();
    sink_fails = 1;
    raise_alert(first, "firing");
    store(first);
    worker_tick(first);
    assert_int_equal(queued, 1);
    stop_daemon(first);
    struct fleet *second = start_daemon();
    worker_tick(second);
    store(second);
    assert_int_equal(queued, 2);
    sink_fails = 0;
    worker_tick(second);
    stop_daemon(second);
    struct fleet *third = start_daemon();
    assert_int_equal(restored, 1);
    stop_daemon(third);
}

static void a_state_of_an_alert_that_was_not_delivered_is_delivered_by_the_next_daemon(void **state)
{
    (void)state;
    struct fleet *first = start_daemon();
    raise_alert(first, "firing");
    store(first);
    worker_tick(first);
    raise_alert(first, "resolved");
    stop_daemon(first);
    struct fleet *second = start_daemon();
    worker_tick(second);
    store(second);
    assert_int_equal(queued, 2);
    assert_string_equal(queued_state, "resolved");
    stop_daemon(second);
}

/* A message of the job's only agent, in an envelope. */
static void read_message(struct fleet *fleet, enum wire_type type, const void *message,
                         uint64_t time_ns)
{
    struct wire_buffer buffer = {0};
    struct fleet_envelope envelope = {0};
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    const struct fleet_entry entry = {1, time_ns, buffer.bytes, buffer.length};
    assert_int_equal(fleet_envelope_add(&envelope, &entry), 0);
    const struct fleet_event event = {.job = JOB,
                                      .seq = fleet->held[0]->position + removed + 1,
                                      .bytes = envelope.bytes,
                                      .length = envelope.length};
    worker_on_message(fleet, &event);
    removed = 0;
    fleet_envelope_finish(&envelope);
    wire_buffer_finish(&buffer);
}

static void read_window(struct fleet *fleet, uint64_t window)
{
    struct agent_words words;
    const struct wire_ranks ranks = agent_words_ranks(&words, JOB, 0, 1, 1, window);
    const struct wire_rank_row row = {.rank = 0, .calls = 1, .in_call_peer = -1};
    const struct wire_window report = {.seq = window + 1,
                                       .job = JOB,
                                       .host = words.host,
                                       .window = window,
                                       .length_ns = S,
                                       .ranks = &row,
                                       .ranks_count = 1};
    if (window == 1)
        read_message(fleet, WIRE_TYPE_RANKS, &ranks, S);
    read_message(fleet, WIRE_TYPE_WINDOW, &report, (window + 1) * S);
}

static void publish_windows(struct fleet *fleet, uint64_t now_ns)
{
    jobs_set_watermark(fleet->jobs, JOB, now_ns);
    jobs_advance(fleet->jobs, now_ns, now_ns);
}

/* Reading what came since the job was saved would take so long. */
static void tick_after_reading(struct fleet *fleet, uint64_t reading_ns)
{
    fleet->held[0]->reading_ns = reading_ns;
    fleet->held[0]->saving_ns = 0; /* which bounds how often a job is saved */
    worker_tick(fleet);
}

static void a_job_is_saved_after_a_window_and_while_messages_come_only_when_overdue(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    read_window(fleet, 1);
    publish_windows(fleet, 3 * S);
    tick_after_reading(fleet, S / 4);
    assert_int_equal(saved, 0); /* reading it again would not take long */
    tick_after_reading(fleet, S * 3 / 4);
    assert_int_equal(saved, 1);
    read_window(fleet, 2);
    tick_after_reading(fleet, S * 3 / 4);
    assert_int_equal(saved, 1); /* messages of a window come */
    tick_after_reading(fleet, S * 5 / 4);
    assert_int_equal(saved, 2);
    stop_daemon(fleet);
}

static void
a_job_whose_state_is_large_is_saved_when_reading_would_take_six_times_as_long(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    read_window(fleet, 1);
    publish_windows(fleet, 3 * S);
    packing_ns = S / 2;
    tick_after_reading(fleet, S * 11 / 4);
    assert_int_equal(saved, 0);
    tick_after_reading(fleet, S * 13 / 4);
    assert_int_equal(saved, 1);
    stop_daemon(fleet);
}

/* Clients wait for it, and saving takes time. */
static void a_job_that_was_taken_over_is_not_saved_before_a_window_is_published(void **state)
{
    (void)state;
    struct fleet *first = start_daemon();
    first->options.checkpoint_ns = 3600 * S;
    read_window(first, 1);
    publish_windows(first, 3 * S);
    worker_tick(first);
    newest = first->held[0]->position;
    struct fleet *second = start_daemon();
    second->options.checkpoint_ns = 3600 * S;
    read_window(second, 1);
    assert_int_equal(second->held[0]->resuming, 0);
    tick_after_reading(second, 10 * S);
    assert_int_equal(saved, 0);
    read_window(second, 2);
    publish_windows(second, 4 * S);
    tick_after_reading(second, 10 * S);
    assert_int_equal(saved, 1);
    stop_daemon(first);
    stop_daemon(second);
}

/* A daemon that takes the job over closes them again. */
static void closing_windows_counts_as_time_that_a_take_over_takes(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    read_window(fleet, 1);
    worker_tick(fleet);
    const uint64_t read = fleet->held[0]->reading_ns;
    worker_tick(fleet);
    assert_int_equal(fleet->held[0]->reading_ns, read);
    jobs_set_watermark(fleet->jobs, JOB, 3 * S);
    jobs_advance(fleet->jobs, 3 * S, 3 * S);
    worker_tick(fleet);
    assert_true(fleet->held[0]->reading_ns > read);
    struct fleet *second = start_daemon(); /* which has closed the window again */
    assert_true(second->held[0]->reading_ns > 0);
    stop_daemon(fleet);
    stop_daemon(second);
}

static void what_an_agent_that_leaves_could_not_send_is_lost(void **state)
{
    const struct wire_bye bye = {.seq = 3};
    (void)state;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    read_window(fleet, 1);
    read_message(fleet, WIRE_TYPE_BYE, &bye, 2 * S);
    publish_windows(fleet, 2 * S + S / 2);
    assert_int_equal(job_state(jobs_find(fleet->jobs, JOB)), JOB_LOST);
    stop_daemon(fleet);
}

/* A worker closes windows 1 to 3, each after its message, and is gone. */
static void close_three_windows(void)
{
    struct fleet *first = start_daemon();
    first->options.checkpoint_ns = 3600 * S;
    for (uint64_t window = 1; window <= 3; window++) {
        read_window(first, window);
        publish_windows(first, (window + 2) * S);
        worker_tick(first);
    }
    newest = first->held[0]->position;
    stop_daemon(first);
}

static void check_lost(struct fleet *fleet, uint64_t windows)
{
    const struct job *job = jobs_find(fleet->jobs, JOB);
    assert_int_equal(job->alerts.losses.windows, windows);
    assert_int_equal(job->nodes.list[0]->row.windows_dropped, windows);
}

/* Its oldest ones, by limits of the stream. */
static void windows_whose_messages_the_stream_has_no_more_are_lost(void **state)
{
    (void)state;
    close_three_windows();
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    removed = 3;
    read_window(fleet, 3);
    assert_int_equal(fleet->held[0]->resuming, 0);
    check_lost(fleet, 2);
    read_window(fleet, 4);
    publish_windows(fleet, 6 * S);
    check_lost(fleet, 2);
    stop_daemon(fleet);
}

static void all_windows_are_lost_when_the_stream_has_no_message_of_them(void **state)
{
    (void)state;
    close_three_windows();
    newest = 0;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    removed = 4;
    read_window(fleet, 4);
    check_lost(fleet, 3);
    stop_daemon(fleet);
}

static void nothing_is_lost_when_all_messages_are_read_again(void **state)
{
    (void)state;
    close_three_windows();
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    for (uint64_t window = 1; window <= 4; window++)
        read_window(fleet, window);
    publish_windows(fleet, 6 * S);
    check_lost(fleet, 0);
    stop_daemon(fleet);
}

static void give_other_job(struct fleet *fleet, const struct wire_message *message)
{
    zmq_msg_t bytes;
    struct job_fault fault = {""};
    zmq_msg_init_size(&bytes, 1);
    assert_int_equal(jobs_resume_ingest(fleet->jobs, 1, message, &bytes, 2 * S, &fault), 0);
    zmq_msg_close(&bytes);
}

/* Its last messages of the other job stand in the stream of that job, and are not read yet. */
static void an_agent_that_leaves_a_job_is_still_expected_in_its_other_jobs(void **state)
{
    struct agent_words words;
    struct job_fault fault = {""};
    const struct wire_bye bye = {.seq = 2};
    const struct wire_rank_row row = {.rank = 0, .calls = 1, .in_call_peer = -1};
    (void)state;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    assert_int_equal(jobs_resume_begin(fleet->jobs, "job.2", NULL, &fault), 0);
    give_other_job(fleet,
                   &(struct wire_message){.type = WIRE_TYPE_RANKS,
                                          .ranks = agent_words_ranks(&words, "job.2", 0, 1, 1, 1)});
    give_other_job(fleet, &(struct wire_message){.type = WIRE_TYPE_WINDOW,
                                                 .window = {.seq = 2,
                                                            .job = "job.2",
                                                            .host = words.host,
                                                            .window = 1,
                                                            .length_ns = S,
                                                            .ranks = &row,
                                                            .ranks_count = 1}});
    jobs_resume_end(fleet->jobs, "job.2", 0);
    read_window(fleet, 1);
    read_message(fleet, WIRE_TYPE_BYE, &bye, 2 * S);
    publish_windows(fleet, 2 * S + S / 2);
    assert_int_equal(job_state(jobs_find(fleet->jobs, JOB)), JOB_ENDED);
    assert_int_equal(job_state(jobs_find(fleet->jobs, "job.2")), JOB_RUNNING);
    stop_daemon(fleet);
}

/* The state of the job has it, the journal begins later: its first entries were removed by the
 * limits of the stream. */
static void an_alert_from_before_the_journal_begins_is_not_delivered_again(void **state)
{
    (void)state;
    struct fleet *first = start_daemon();
    first->options.checkpoint_ns = 3600 * S;
    for (uint64_t window = 10; window < 13; window++)
        read_window(first, window);
    publish_windows(first, 14 * S);
    worker_tick(first);
    assert_int_equal(journal_count, 1);
    stop_daemon(first);
    newest = 1;
    struct fleet *second = start_daemon();
    for (uint64_t id = 1; id <= 2; id++)
        jobs_resume_alert(second->jobs, &(struct wire_alert){.job = JOB,
                                                             .id = id,
                                                             .rule = "agent-lost",
                                                             .kind = "agent-lost",
                                                             .severity = "warning",
                                                             .state = "resolved",
                                                             .fired_ns = S,
                                                             .updated_ns = id == 1 ? 2 * S : 20 * S,
                                                             .title = "no word",
                                                             .host = "h"});
    read_window(second, 0);
    worker_tick(second);
    store(second);
    assert_int_equal(restored, 1);
    assert_int_equal(queued, 1); /* the one from after that */
    stop_daemon(second);
}

/* The gateway asks for it to be held before its first message is stored. */
static void a_job_that_is_held_before_its_first_message_runs_until_none_comes_for_long(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    jobs_advance(fleet->jobs, 100 * S, 100 * S);
    assert_int_equal(job_state(jobs_find(fleet->jobs, JOB)), JOB_RUNNING);
    jobs_advance(fleet->jobs, 129 * S, 129 * S);
    assert_int_equal(job_state(jobs_find(fleet->jobs, JOB)), JOB_RUNNING);
    jobs_advance(fleet->jobs, 131 * S, 131 * S);
    assert_int_equal(job_state(jobs_find(fleet->jobs, JOB)), JOB_LOST);
    stop_daemon(fleet);
}

/* Else it would be taken over at once, by this daemon or another one, and read again. */
static void a_job_that_was_lost_and_is_dropped_runs_no_more_for_the_fleet(void **state)
{
    struct agent_words words;
    (void)state;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    struct wire_ranks ranks = agent_words_ranks(&words, JOB, 0, 1, 1, 1);
    read_message(fleet, WIRE_TYPE_RANKS, &ranks, S);
    jobs_advance(fleet->jobs, 40 * S, 40 * S);
    worker_tick(fleet);
    assert_int_equal(job_state(jobs_find(fleet->jobs, JOB)), JOB_LOST);
    assert_true(known_running); /* its agents may come back */
    worker_on_forgotten(fleet, JOB);
    assert_false(known_running);
    stop_daemon(fleet);
}

/* The gateway of the second agent knows its user, but not whose job it is. */
static void where_users_have_keys_a_job_remains_that_of_its_first_user(void **state)
{
    struct agent_words words;
    (void)state;
    for (users = 0; users <= 1; users++) {
        struct fleet *fleet = start_daemon();
        fleet->options.checkpoint_ns = 3600 * S;
        rejections_expected = (unsigned)users;
        struct wire_ranks ranks = agent_words_ranks(&words, JOB, 0, 1, 2, 1);
        ranks.user = "ann";
        read_message(fleet, WIRE_TYPE_RANKS, &ranks, S);
        ranks = agent_words_ranks(&words, JOB, 1, 1, 2, 2);
        ranks.user = "bob";
        read_message(fleet, WIRE_TYPE_RANKS, &ranks, S);
        assert_string_equal(job_user(jobs_find(fleet->jobs, JOB)), users ? "ann" : "bob");
        assert_int_equal(rejections_expected, 0);
        stop_daemon(fleet);
    }
}

/* The newest of the jobs with the id begins with this window. */
static void check_second_job(struct fleet *fleet, uint64_t first_window)
{
    struct wire_job_row row;
    job_describe(jobs_find(fleet->jobs, JOB), &row);
    assert_true(row.start_ns == first_window * S);
    assert_string_equal(row.state, "running");
}

static void read_job(struct fleet *fleet, uint64_t pid, uint64_t seq, uint64_t window, int is_last)
{
    struct agent_words words;
    struct wire_ranks ranks = agent_words_ranks(&words, JOB, 0, 1, 1, seq);
    const struct wire_rank_row row = {.rank = 0, .calls = 1, .in_call_peer = -1};
    const struct wire_window report = {.seq = seq + 1,
                                       .job = JOB,
                                       .host = words.host,
                                       .window = window,
                                       .length_ns = S,
                                       .flags = is_last ? WINDOW_FINAL : 0,
                                       .ranks = &row,
                                       .ranks_count = 1};
    words.members[0].pid = pid;
    ranks.user = "ann";
    read_message(fleet, WIRE_TYPE_RANKS, &ranks, window * S);
    read_message(fleet, WIRE_TYPE_WINDOW, &report, (window + 1) * S);
    publish_windows(fleet, (window + 2) * S);
    worker_tick(fleet);
}

/* Schedulers give a requeued job its id again. */
static void a_job_under_the_id_of_one_that_has_ended_is_another_job(void **state)
{
    (void)state;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    read_job(fleet, 100, 1, 10, 1);
    assert_int_equal(job_state(jobs_find(fleet->jobs, JOB)), JOB_ENDED);
    forgotten = 0;
    read_job(fleet, 200, 3, 20, 0);
    check_second_job(fleet, 20);
    assert_int_equal(forgotten, 0); /* alerts of the first one are still to be delivered */
    store(fleet);
    assert_int_equal(forgotten, 1);
    assert_true(known_running);
    struct fleet *second = start_daemon(); /* it reads the messages of the newer job only */
    assert_int_equal(second->held[0]->position, 2);
    read_job(second, 200, 3, 20, 0);
    check_second_job(second, 20);
    stop_daemon(fleet);
    stop_daemon(second);
}

/* Its worker has gone, and nobody has taken it over. */
static void a_job_that_ended_is_told_from_the_next_one_also_when_both_are_read_again(void **state)
{
    (void)state;
    struct fleet *first = start_daemon();
    first->options.checkpoint_ns = 3600 * S;
    read_job(first, 100, 1, 10, 1);
    stop_daemon(first);
    newest = 4;
    struct fleet *second = start_daemon();
    second->options.checkpoint_ns = 3600 * S;
    read_job(second, 100, 1, 10, 1);
    read_job(second, 200, 3, 20, 0);
    check_second_job(second, 20);
    stop_daemon(second);
}

static void the_id_of_a_job_that_has_ended_may_go_to_another_user(void **state)
{
    struct agent_words words;
    (void)state;
    users = 1;
    struct fleet *fleet = start_daemon();
    fleet->options.checkpoint_ns = 3600 * S;
    read_job(fleet, 100, 1, 10, 1);
    struct wire_ranks ranks = agent_words_ranks(&words, JOB, 0, 1, 1, 3);
    ranks.user = "bob";
    words.members[0].pid = 200;
    read_message(fleet, WIRE_TYPE_RANKS, &ranks, 20 * S);
    assert_string_equal(job_user(jobs_find(fleet->jobs, JOB)), "bob");
    stop_daemon(fleet);
}

/* Its node died: no last window tells that it is over, as no message came for long. */
static void
a_job_that_was_lost_is_told_from_the_next_one_also_when_both_are_read_again(void **state)
{
    (void)state;
    struct fleet *first = start_daemon();
    first->options.checkpoint_ns = 3600 * S;
    read_job(first, 100, 1, 10, 0);
    stop_daemon(first);
    newest = 6;
    struct fleet *second = start_daemon();
    second->options.checkpoint_ns = 3600 * S;
    read_job(second, 100, 1, 10, 0);
    read_job(second, 200, 3, 60, 0);
    check_second_job(second, 60);
    read_job(second, 200, 5, 65, 0); /* it goes on */
    check_second_job(second, 60);
    stop_daemon(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_under_the_id_of_one_that_has_ended_is_another_job,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_job_that_ended_is_told_from_the_next_one_also_when_both_are_read_again, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_job_that_was_lost_is_told_from_the_next_one_also_when_both_are_read_again, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(the_id_of_a_job_that_has_ended_may_go_to_another_user,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_users_have_keys_a_job_remains_that_of_its_first_user,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_alert_is_delivered_when_the_journal_with_it_is_stored,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_alert_that_is_stored_after_the_lease_has_expired_waits_for_the_lease, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(an_alert_of_a_job_that_is_lost_meanwhile_is_not_delivered,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(sinks_forget_a_job_that_another_daemon_goes_on_with, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_daemon_that_takes_the_job_over_delivers_only_the_end_of_a_delivered_alert, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            an_alert_without_a_note_that_it_was_delivered_is_delivered_by_the_next_daemon, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            an_alert_that_waits_for_a_sink_that_fails_is_delivered_by_the_next_daemon, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_state_of_an_alert_that_was_not_delivered_is_delivered_by_the_next_daemon, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_job_is_saved_after_a_window_and_while_messages_come_only_when_overdue, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_job_whose_state_is_large_is_saved_when_reading_would_take_six_times_as_long, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_job_that_was_taken_over_is_not_saved_before_a_window_is_published, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_alert_from_before_the_journal_begins_is_not_delivered_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_job_that_is_held_before_its_first_message_runs_until_none_comes_for_long, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_job_that_was_lost_and_is_dropped_runs_no_more_for_the_fleet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_agent_that_leaves_a_job_is_still_expected_in_its_other_jobs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_an_agent_that_leaves_could_not_send_is_lost, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(windows_whose_messages_the_stream_has_no_more_are_lost,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_windows_are_lost_when_the_stream_has_no_message_of_them,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_lost_when_all_messages_are_read_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(closing_windows_counts_as_time_that_a_take_over_takes,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
