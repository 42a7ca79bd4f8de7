/* A daemon goes on with a job that a daemon before it has recorded. */
#include "daemon/job/jobs.h"
#include "daemon/storage/recording.h"
#include "holter/size_class.h"

#include "tests/daemon/agent_words.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define NOTED 32u

/* A daemon, and the alerts that it has published. */
struct daemon {
    struct jobs *jobs;
    uv_loop_t loop;
    struct {
        uint64_t id;
        char kind[33], state[17], host[65];
    } alerts[NOTED];
    size_t alert_count;
    struct wire_totals newest; /* totals of the window that it published last */
    uint64_t phases[NOTED];    /* ids of closed phases, as published */
    size_t phase_count;
};

static char directory[DIRECTORY_ROOM];

static int make_directory(void **state)
{
    (void)state;
    return directory_make(directory);
}

static int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

static int wants(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_TOTALS || type == WIRE_TYPE_PHASES;
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct daemon *daemon = user;
    (void)job;
    if (type == WIRE_TYPE_TOTALS)
        daemon->newest = *(const struct wire_totals *)message;
    const struct wire_phases *phases = message;
    for (uint64_t i = 0; type == WIRE_TYPE_PHASES && i < phases->phases_count; i++) {
        if (phases->phases[i].open)
            continue;
        assert_true(daemon->phase_count < NOTED);
        daemon->phases[daemon->phase_count++] = phases->phases[i].id;
    }
}

static void forget(void *user, const char *job)
{
    (void)user;
    (void)job;
}

static void on_kept(void *user, uint64_t instance, uint64_t seq)
{
    (void)user;
    (void)instance;
    (void)seq;
}

static void on_alert(void *user, const struct wire_alert *alert)
{
    struct daemon *daemon = user;
    size_t at = daemon->alert_count++;
    assert_true(at < NOTED);
    daemon->alerts[at].id = alert->id;
    snprintf(daemon->alerts[at].kind, sizeof(daemon->alerts[at].kind), "%s", alert->kind);
    snprintf(daemon->alerts[at].state, sizeof(daemon->alerts[at].state), "%s", alert->state);
    snprintf(daemon->alerts[at].host, sizeof(daemon->alerts[at].host), "%s", alert->host);
}

/* @param most_bytes  of a recording in parts; 0: it is one file
 * @param rules       NULL: all alerts are raised that need none */
static void start_with_rules(struct daemon *daemon, uint64_t most_bytes, const struct rules *rules)
{
    const struct jobs_options options = {.job = {.window_ns = S,
                                                 .grace_ns = S / 4,
                                                 .lost_ns = 30 * S,
                                                 .most_pairs = 100,
                                                 .rules = rules},
                                         .record = directory,
                                         .most_bytes = most_bytes,
                                         .publisher = {daemon, wants, publish, forget},
                                         .user = daemon,
                                         .alert = on_alert,
                                         .kept = on_kept};
    char why[256];
    *daemon = (struct daemon){.alert_count = 0};
    assert_int_equal(uv_loop_init(&daemon->loop), 0);
    assert_int_equal(jobs_create(&daemon->jobs, &daemon->loop, &options, why, sizeof(why)), 0);
}

static void start(struct daemon *daemon, uint64_t most_bytes)
{
    start_with_rules(daemon, most_bytes, NULL);
}

static void stop(struct daemon *daemon, uint64_t now_ns)
{
    jobs_destroy(daemon->jobs, now_ns);
    uv_run(&daemon->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&daemon->loop), 0);
}

static void give(struct daemon *daemon, unsigned node, enum wire_type type, const void *message,
                 uint64_t now_ns)
{
    struct wire_buffer buffer = {0};
    struct wire_arena arena = {0};
    struct wire_message decoded;
    struct job_fault fault;
    zmq_msg_t bytes;
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    assert_int_equal(wire_decode(&decoded, &arena, buffer.bytes, buffer.length, NULL), 0);
    zmq_msg_init_size(&bytes, buffer.length);
    memcpy(zmq_msg_data(&bytes), buffer.bytes, buffer.length);
    assert_int_equal(jobs_ingest(daemon->jobs, node + 1, &decoded, &bytes, now_ns, &fault), 0);
    zmq_msg_close(&bytes);
    wire_arena_finish(&arena);
    wire_buffer_finish(&buffer);
}

/* A job of two nodes, each with one rank. */
static void give_ranks(struct daemon *daemon, unsigned node, uint64_t now_ns)
{
    struct agent_words words;
    struct wire_ranks ranks = agent_words_ranks(&words, "one", node % 2, 1, 2, 1);
    words.members[0].pid = node; /* agents 2 and 3 are those of a second run */
    give(daemon, node, WIRE_TYPE_RANKS, &ranks, now_ns);
}

/* @param dies  the rank of the node has died in it */
static void give_window(struct daemon *daemon, unsigned node, uint64_t window, int dies,
                        uint64_t now_ns)
{
    const struct wire_rank_row row = {
        .rank = node, .calls = 10, .received = 10, .in_call_peer = -1};
    const uint64_t at_ns = window * S + 100;
    const struct wire_burst_row burst = {.first_ns = at_ns,
                                         .last_ns = at_ns,
                                         .time_sum_low = at_ns,
                                         .messages = 1,
                                         .bytes = 1,
                                         .pairs = 1};
    const struct wire_burst_pair_row pair = {node, 1 - node, size_class_of(1), 1, 1};
    const struct wire_death_row death = {.rank = node, .pid = 1, .ended_ns = now_ns, .peer = -1};
    const struct wire_window message = {.seq = window - 98,
                                        .job = "one",
                                        .host = node == 0 ? "n0" : "n1",
                                        .window = window,
                                        .length_ns = S,
                                        .ranks = (struct wire_rank_row *)&row,
                                        .ranks_count = 1,
                                        .bursts = (struct wire_burst_row *)&burst,
                                        .bursts_count = 1,
                                        .burst_pairs = (struct wire_burst_pair_row *)&pair,
                                        .burst_pairs_count = 1,
                                        .deaths = (struct wire_death_row *)&death,
                                        .deaths_count = (uint64_t)dies};
    give(daemon, node, WIRE_TYPE_WINDOW, &message, now_ns);
}

static void begin(struct daemon *daemon, uint64_t most_bytes)
{
    start(daemon, most_bytes);
    for (unsigned node = 0; node < 2; node++)
        give_ranks(daemon, node, 100 * S);
    for (unsigned node = 0; node < 2; node++)
        give_window(daemon, node, 100, 0, 101 * S);
    jobs_advance(daemon->jobs, 102 * S, 102 * S);
}

static void assert_alert(const struct daemon *daemon, size_t at, uint64_t id, const char *kind,
                         const char *alert_state)
{
    assert_true(at < daemon->alert_count);
    assert_int_equal(daemon->alerts[at].id, id);
    assert_string_equal(daemon->alerts[at].kind, kind);
    assert_string_equal(daemon->alerts[at].state, alert_state);
}

/* A daemon is away for 98 seconds; the agent of the first node reaches the next one first. */
static void restart_for_first(struct daemon *daemon)
{
    begin(daemon, 0);
    stop(daemon, 102 * S);
    start(daemon, 0);
    give_window(daemon, 0, 101, 0, 200 * S);
    jobs_advance(daemon->jobs, 200 * S, 200 * S);
}

static void agents_are_not_silent_for_the_time_in_which_there_was_no_daemon(void **state)
{
    struct daemon daemon;
    (void)state;
    restart_for_first(&daemon);
    give_window(&daemon, 1, 101, 0, 201 * S);
    jobs_advance(daemon.jobs, 201 * S, 201 * S);
    assert_int_equal(daemon.alert_count, 0);
    give_window(&daemon, 0, 102, 0, 205 * S);
    jobs_advance(daemon.jobs, 205 * S, 205 * S);
    assert_int_equal(daemon.alert_count, 1);
    assert_alert(&daemon, 0, 1, "agent-lost", "firing");
    assert_string_equal(daemon.alerts[0].host, "n1");
    stop(&daemon, 205 * S);
}

static void windows_wait_for_agents_that_have_not_reached_the_daemon(void **state)
{
    struct daemon daemon;
    (void)state;
    restart_for_first(&daemon);
    jobs_advance(daemon.jobs, 201 * S, 201 * S);
    give_window(&daemon, 1, 101, 0, 202 * S);
    jobs_advance(daemon.jobs, 202 * S, 202 * S);
    assert_int_equal(daemon.newest.window, 101);
    assert_int_equal(daemon.newest.late, 0);
    assert_int_equal(daemon.newest.agents, 2);
    assert_int_equal(daemon.newest.agents_missing, 0);
    give_window(&daemon, 0, 103, 0, 204 * S);
    jobs_advance(daemon.jobs, 205 * S, 205 * S);
    assert_int_equal(daemon.newest.window, 103);
    assert_int_equal(daemon.newest.agents_missing, 1);
    stop(&daemon, 205 * S);
}

#define MOST_BYTES (UINT64_C(1) << 20) /* with tables alone a part is full */

static void alerts_of_a_recording_in_parts_keep_their_numbers(void **state)
{
    char path[DIRECTORY_ROOM + 32];
    struct daemon daemon;
    unsigned first, last;
    (void)state;
    begin(&daemon, MOST_BYTES);
    for (uint64_t window = 101; window < 106; window++) {
        give_window(&daemon, 0, window, window == 105, (window + 1) * S);
        jobs_advance(daemon.jobs, (window + 2) * S, (window + 2) * S);
    }
    assert_int_equal(daemon.alert_count, 2);
    assert_alert(&daemon, 0, 1, "agent-lost", "firing");
    assert_alert(&daemon, 1, 2, "rank-died", "firing");
    stop(&daemon, 107 * S);
    snprintf(path, sizeof(path), "%s/holter-one.hrec", directory);
    recording_parts_find(path, &first, &last);
    assert_int_equal(first, 1);
    assert_true(last > 1);

    start(&daemon, MOST_BYTES);
    give_window(&daemon, 1, 101, 0, 107 * S);
    jobs_advance(daemon.jobs, 107 * S, 107 * S);
    assert_int_equal(daemon.alert_count, 1);
    assert_alert(&daemon, 0, 1, "agent-lost", "resolved");
    stop(&daemon, 107 * S);
}

/* Each daemon leaves a part, with a window of 20 messages. */
static void messages_of_parts_that_were_removed_are_still_counted(void **state)
{
    char path[DIRECTORY_ROOM + 32];
    struct daemon daemon;
    unsigned first = 1, last;
    uint64_t window = 100;
    (void)state;
    snprintf(path, sizeof(path), "%s/holter-one.hrec", directory);
    begin(&daemon, MOST_BYTES);
    for (; first == 1 || window < 110; window++) {
        stop(&daemon, (window + 2) * S);
        start(&daemon, MOST_BYTES);
        for (unsigned node = 0; node < 2; node++)
            give_window(&daemon, node, window + 1, 0, (window + 2) * S);
        jobs_advance(daemon.jobs, (window + 3) * S, (window + 3) * S);
        recording_parts_find(path, &first, &last);
        assert_int_equal(daemon.newest.window, window + 1);
        assert_int_equal(daemon.newest.matched + daemon.newest.unmatched, 20 * (window - 98));
    }
    stop(&daemon, (window + 2) * S);
}

static void alerts_that_another_daemon_did_not_raise_keep_their_numbers(void **state)
{
    static const struct rules none;
    struct daemon daemon;
    (void)state;
    start_with_rules(&daemon, 0, &none);
    for (unsigned node = 0; node < 2; node++)
        give_ranks(&daemon, node, 100 * S);
    for (unsigned node = 0; node < 2; node++)
        give_window(&daemon, node, 100, node == 0, 101 * S);
    jobs_advance(daemon.jobs, 102 * S, 102 * S);
    assert_int_equal(daemon.alert_count, 0);
    stop(&daemon, 102 * S);

    start(&daemon, 0);
    for (uint64_t window = 101; window < 107; window++) {
        give_window(&daemon, 0, window, 0, (window + 1) * S);
        jobs_advance(daemon.jobs, (window + 2) * S, (window + 2) * S);
    }
    assert_alert(&daemon, 0, 1, "rank-died", "firing");
    assert_alert(&daemon, 1, 2, "agent-lost", "firing");
    stop(&daemon, 108 * S);

    start(&daemon, 0);
    give_window(&daemon, 1, 101, 0, 109 * S);
    jobs_advance(daemon.jobs, 109 * S, 109 * S);
    assert_alert(&daemon, 0, 2, "agent-lost", "resolved");
    stop(&daemon, 109 * S);
}

static void give_phases(struct daemon *daemon, uint64_t from, uint64_t end)
{
    for (uint64_t window = from; window < end; window += 20) {
        for (unsigned node = 0; node < 2; node++)
            give_window(daemon, node, window, 0, (window + 1) * S);
        jobs_advance(daemon->jobs, (window + 2) * S, (window + 2) * S);
    }
}

/* As after parts with 40 phases were removed. */
static void phases_are_numbered_on(void **state)
{
    char path[DIRECTORY_ROOM + 32];
    struct daemon daemon;
    sqlite3 *db;
    (void)state;
    snprintf(path, sizeof(path), "%s/holter-one.hrec", directory);
    begin(&daemon, 0);
    give_phases(&daemon, 120, 200);
    stop(&daemon, 182 * S);
    const uint64_t before = daemon.phases[daemon.phase_count - 1];
    assert_true(before >= 2);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE phase SET id = id + 40", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);

    start(&daemon, 0);
    give_phases(&daemon, 200, 280);
    assert_true(daemon.phase_count >= 2);
    for (size_t i = 0; i < daemon.phase_count; i++)
        assert_int_equal(daemon.phases[i], before + 40 + 1 + i);
    stop(&daemon, 262 * S);
}

/* As when a job is queued again because its nodes have crashed. */
static void a_run_after_one_that_was_lost_has_a_recording_of_its_own(void **state)
{
    char path[DIRECTORY_ROOM + 32], lock[DIRECTORY_ROOM + 48];
    struct daemon daemon;
    (void)state;
    snprintf(path, sizeof(path), "%s/holter-one.hrec", directory);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    begin(&daemon, 0);
    jobs_advance(daemon.jobs, 150 * S, 150 * S);
    assert_int_equal(job_state(jobs_find(daemon.jobs, "one")), JOB_LOST);
    while (access(path, F_OK) != 0 || access(lock, F_OK) == 0)
        uv_run(&daemon.loop, UV_RUN_NOWAIT);
    give_ranks(&daemon, 2, 160 * S);
    assert_int_equal(job_count_closed(jobs_find(daemon.jobs, "one")), 0);
    snprintf(path, sizeof(path), "%s/holter-one-2.hrec", directory);
    assert_string_equal(job_recording(jobs_find(daemon.jobs, "one")), path);
    stop(&daemon, 160 * S);
}

static void a_run_after_an_outage_of_daemon_and_nodes_has_a_recording_of_its_own(void **state)
{
    char path[DIRECTORY_ROOM + 32];
    struct daemon daemon;
    (void)state;
    begin(&daemon, 0);
    stop(&daemon, 102 * S);
    start(&daemon, 0);
    give_ranks(&daemon, 2, 160 * S);
    assert_int_equal(job_count_closed(jobs_find(daemon.jobs, "one")), 0);
    snprintf(path, sizeof(path), "%s/holter-one-2.hrec", directory);
    assert_string_equal(job_recording(jobs_find(daemon.jobs, "one")), path);
    stop(&daemon, 160 * S);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(agents_are_not_silent_for_the_time_in_which_there_was_no_daemon),
        TEST(windows_wait_for_agents_that_have_not_reached_the_daemon),
        TEST(alerts_of_a_recording_in_parts_keep_their_numbers),
        TEST(messages_of_parts_that_were_removed_are_still_counted),
        TEST(alerts_that_another_daemon_did_not_raise_keep_their_numbers),
        TEST(phases_are_numbered_on),
        TEST(a_run_after_one_that_was_lost_has_a_recording_of_its_own),
        TEST(a_run_after_an_outage_of_daemon_and_nodes_has_a_recording_of_its_own),
    };
    return cmocka_run_group_tests_name("job_recovery", tests, NULL, NULL);
}
