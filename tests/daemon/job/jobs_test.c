/* All jobs of a daemon: its counts; jobs of a fleet that another daemon resumes. */
#include "daemon/job/jobs.h"

#include "daemon/job/job_state.h"
#include "holter/error.h"
#include "tests/daemon/agent_words.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define MANY 80u /* more than the ended jobs that are kept */

static int wants(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 0;
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    (void)user;
    (void)job;
    (void)type;
    (void)message;
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

static void give(struct jobs *jobs, uint64_t instance, const struct wire_message *message,
                 uint64_t now_ns)
{
    zmq_msg_t bytes;
    struct job_fault fault;
    zmq_msg_init_size(&bytes, 1);
    assert_int_equal(jobs_ingest(jobs, instance, message, &bytes, now_ns, &fault), 0);
    zmq_msg_close(&bytes);
}

/* @param pid  of its rank @param instance  of its agent */
static void begin_run(struct jobs *jobs, unsigned number, uint64_t pid, uint64_t instance,
                      uint64_t now_ns)
{
    char id[16];
    struct wire_member_row member = {.rank = 0, .pid = pid, .placement = ""};
    struct wire_message ranks = {.type = WIRE_TYPE_RANKS};
    snprintf(id, sizeof(id), "job.%u", number);
    ranks.ranks = (struct wire_ranks){.seq = 1,
                                      .job = id,
                                      .world = 1,
                                      .app = "/bin/app",
                                      .mpi = "MPI",
                                      .host = "n0",
                                      .members = &member,
                                      .members_count = 1};
    give(jobs, instance, &ranks, now_ns);
}

static void begin_job(struct jobs *jobs, unsigned number, uint64_t now_ns)
{
    begin_run(jobs, number, 1, number + 1, now_ns);
}

static void end_job(struct jobs *jobs, unsigned number, uint64_t window)
{
    char id[16];
    const uint64_t now_ns = (window + 1) * S;
    struct wire_rank_row row = {.rank = 0, .calls = 1, .in_call_peer = -1};
    struct wire_message report = {.type = WIRE_TYPE_WINDOW};
    snprintf(id, sizeof(id), "job.%u", number);
    report.window = (struct wire_window){.seq = 2,
                                         .job = id,
                                         .host = "n0",
                                         .window = window,
                                         .length_ns = S,
                                         .flags = WINDOW_FINAL,
                                         .ranks = &row,
                                         .ranks_count = 1};
    give(jobs, number + 1, &report, now_ns);
    jobs_advance(jobs, now_ns, now_ns);
}

/* A job of one rank that lasts one window. */
static void run_job(struct jobs *jobs, unsigned number)
{
    begin_job(jobs, number, (100 + number) * S);
    end_job(jobs, number, 100 + number);
}

static int users; /* have keys */

static struct jobs *create_jobs(uint64_t lost_ns)
{
    const struct jobs_options options = {
        .job = {.window_ns = S, .grace_ns = S / 4, .lost_ns = lost_ns, .most_pairs = 100},
        .users = users,
        .publisher = {NULL, wants, publish, forget},
        .kept = on_kept};
    struct jobs *jobs;
    char why[256];
    assert_int_equal(jobs_create(&jobs, NULL, &options, why, sizeof(why)), 0);
    return jobs;
}

static void counts_do_not_fall_when_jobs_that_have_ended_are_dropped(void **state)
{
    struct jobs *jobs = create_jobs(30 * S);
    struct jobs_counts counts;
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        run_job(jobs, i);
        jobs_count(jobs, &counts);
        assert_int_equal(counts.windows, i + 1);
        assert_int_equal(counts.messages, i + 1);
    }
    assert_null(jobs_find(jobs, "job.0"));
    assert_non_null(jobs_find(jobs, "job.79"));
    jobs_destroy(jobs, 1000 * S);
}

static void report_window(struct jobs *jobs, const char *id, uint64_t seq, uint64_t flags)
{
    struct wire_rank_row row = {.rank = 0, .calls = 1, .in_call_peer = -1};
    const struct wire_message report = {.type = WIRE_TYPE_WINDOW,
                                        .window = {.seq = seq,
                                                   .job = id,
                                                   .host = "n0",
                                                   .window = 100,
                                                   .length_ns = S,
                                                   .flags = flags,
                                                   .ranks = &row,
                                                   .ranks_count = 1}};
    give(jobs, 1, &report, 101 * S);
}

/* An agent numbers the messages of all its jobs together. One of them had ended. */
static void
what_an_agent_of_several_jobs_could_not_send_is_lost_to_those_that_have_not_ended(void **state)
{
    (void)state;
    for (uint64_t missing = 0; missing < 2; missing++) {
        struct jobs *jobs = create_jobs(30 * S);
        begin_run(jobs, 0, 1, 1, 100 * S);
        begin_run(jobs, 1, 1, 1, 100 * S);
        begin_run(jobs, 2, 1, 1, 100 * S);
        report_window(jobs, "job.0", 2, WINDOW_FINAL);
        report_window(jobs, "job.1", 3, 0);
        report_window(jobs, "job.2", 4, 0);
        jobs_release_agent(jobs, 1, 4 + missing);
        jobs_advance(jobs, 102 * S, 102 * S);
        const enum job_state state_of_others = missing ? JOB_LOST : JOB_ENDED;
        assert_int_equal(job_state(jobs_find(jobs, "job.0")), JOB_ENDED);
        assert_int_equal(job_state(jobs_find(jobs, "job.1")), state_of_others);
        assert_int_equal(job_state(jobs_find(jobs, "job.2")), state_of_others);
        jobs_destroy(jobs, 1000 * S);
    }
}

/* It is not known whose they were. */
static void what_an_agent_of_several_jobs_could_not_send_counts_once(void **state)
{
    struct jobs *jobs = create_jobs(30 * S);
    uint64_t dropped = 0;
    (void)state;
    begin_run(jobs, 0, 1, 1, 100 * S);
    begin_run(jobs, 1, 1, 1, 100 * S);
    report_window(jobs, "job.0", 2, 0);
    report_window(jobs, "job.1", 3, 0);
    jobs_release_agent(jobs, 1, 3 + 5);
    for (size_t i = 0; i < 2; i++) {
        const uint64_t of_job = jobs_at(jobs, i)->nodes.list[0]->row.windows_dropped;
        assert_true(of_job > 0);
        dropped += of_job;
    }
    assert_int_equal(dropped, 5);
    jobs_destroy(jobs, 1000 * S);
}

static void each_job_lacks_a_share_of_what_is_missing(void **state)
{
    (void)state;
    const uint64_t expected[][3] = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1},
                                    {1, 1, 1}, {1, 1, 2}, {1, 2, 2}};
    for (uint64_t missing = 0; missing < sizeof(expected) / sizeof(expected[0]); missing++)
        for (uint64_t number = 0; number < 3; number++)
            assert_int_equal(jobs_share_missing(missing, 3, number), expected[missing][number]);
}

/* It is the oldest of them, but viewers still look at it. */
static void a_long_job_that_has_just_ended_is_not_dropped_for_the_next_one(void **state)
{
    struct jobs *jobs = create_jobs(300 * S);
    (void)state;
    begin_job(jobs, 0, 100 * S);
    for (unsigned i = 1; i < MANY; i++)
        run_job(jobs, i);
    end_job(jobs, 0, 100 + MANY);
    assert_int_equal(job_state(jobs_find(jobs, "job.0")), JOB_ENDED);
    run_job(jobs, MANY + 1);
    assert_non_null(jobs_find(jobs, "job.0"));
    jobs_destroy(jobs, 1000 * S);
}

static void a_job_of_the_id_of_one_that_has_ended_is_another_job(void **state)
{
    struct jobs *jobs = create_jobs(30 * S);
    (void)state;
    run_job(jobs, 0);
    const uint64_t number = jobs_number(jobs, "job.0");
    begin_run(jobs, 0, 1, 70, 110 * S); /* the same process: its agent was started again */
    assert_int_equal(jobs_number(jobs, "job.0"), number);
    begin_run(jobs, 0, 2, 1, 110 * S); /* a message of the first run that comes again */
    assert_int_equal(jobs_number(jobs, "job.0"), number);
    begin_run(jobs, 0, 3, 71, 110 * S);
    assert_int_not_equal(jobs_number(jobs, "job.0"), number);
    assert_int_equal(job_count_closed(jobs_find(jobs, "job.0")), 0);
    jobs_destroy(jobs, 1000 * S);
}

/* The agent of a node goes on from one launch to the next, and numbers its messages on. */
static void a_job_of_the_id_of_one_that_has_ended_may_be_reported_by_the_same_agent(void **state)
{
    const struct wire_member_row member = {.rank = 0, .pid = 2, .placement = ""};
    const struct wire_message ranks = {.type = WIRE_TYPE_RANKS,
                                       .ranks = {.seq = 3,
                                                 .job = "job.0",
                                                 .world = 2,
                                                 .app = "/bin/app",
                                                 .mpi = "MPI",
                                                 .host = "n0",
                                                 .members = &member,
                                                 .members_count = 1}};
    struct jobs *jobs = create_jobs(30 * S);
    (void)state;
    run_job(jobs, 0);
    const uint64_t number = jobs_number(jobs, "job.0");
    give(jobs, 1, &ranks, 110 * S);
    assert_int_not_equal(jobs_number(jobs, "job.0"), number);
    assert_int_equal(job_count_closed(jobs_find(jobs, "job.0")), 0);
    jobs_destroy(jobs, 1000 * S);
}

static int report_ranks_of(struct jobs *jobs, const char *user, uint64_t pid, uint64_t instance)
{
    struct agent_words words = {0};
    struct wire_message ranks = {.type = WIRE_TYPE_RANKS,
                                 .ranks = agent_words_ranks(&words, "job.0", 0, 1, 1, 1)};
    struct job_fault fault;
    zmq_msg_t bytes;
    words.members[0].pid = pid;
    ranks.ranks.user = user;
    assert_int_equal(zmq_msg_init_size(&bytes, 8), 0);
    memset(zmq_msg_data(&bytes), 0, 8);
    int code = jobs_ingest(jobs, instance, &ranks, &bytes, 100 * S, &fault);
    zmq_msg_close(&bytes);
    return code;
}

static void
another_user_may_reuse_the_id_of_a_job_that_has_ended_but_not_report_into_it(void **state)
{
    (void)state;
    users = 1;
    struct jobs *jobs = create_jobs(30 * S);
    users = 0;
    assert_int_equal(report_ranks_of(jobs, "ann", 1, 1), 0);
    assert_int_equal(report_ranks_of(jobs, "bob", 2, 2), -HOLTER_EDENIED);
    end_job(jobs, 0, 100);
    assert_int_equal(report_ranks_of(jobs, "bob", 1, 2), -HOLTER_EDENIED); /* into ann's job */
    assert_string_equal(job_user(jobs_find(jobs, "job.0")), "ann");
    assert_int_equal(report_ranks_of(jobs, "bob", 2, 2), 0);
    assert_string_equal(job_user(jobs_find(jobs, "job.0")), "bob");
    assert_int_equal(report_ranks_of(jobs, "ann", 1, 1), -HOLTER_EDENIED);
    jobs_destroy(jobs, 1000 * S);
}

static void a_running_job_takes_all_reports_of_its_id(void **state)
{
    struct jobs *jobs = create_jobs(30 * S);
    (void)state;
    begin_job(jobs, 0, 100 * S);
    const uint64_t number = jobs_number(jobs, "job.0");
    begin_run(jobs, 0, 3, 71, 110 * S);
    assert_int_equal(jobs_number(jobs, "job.0"), number);
    jobs_destroy(jobs, 1000 * S);
}

/* The job before the last point would go on in its recording. */
static void a_job_that_is_named_as_a_part_of_a_recording_is_refused(void **state)
{
    static const struct {
        const char *id;
        int code;
    } cases[] = {{"lmp.4711.part2", -HOLTER_ERANGE},
                 {".part2", -HOLTER_ERANGE},
                 {"lmp.part2.4711", 0},
                 {"lmp.particles", 0},
                 {"lmp.part", 0}};
    struct jobs *jobs = create_jobs(30 * S);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_member_row member = {.rank = 0, .pid = 1, .placement = ""};
        struct wire_message ranks = {.type = WIRE_TYPE_RANKS};
        struct job_fault fault;
        zmq_msg_t bytes;
        ranks.ranks = (struct wire_ranks){.seq = 1,
                                          .job = cases[i].id,
                                          .world = 1,
                                          .host = "n0",
                                          .members = &member,
                                          .members_count = 1};
        zmq_msg_init_size(&bytes, 1);
        assert_int_equal(jobs_ingest(jobs, i + 1, &ranks, &bytes, 100 * S, &fault), cases[i].code);
        zmq_msg_close(&bytes);
    }
    jobs_destroy(jobs, 1000 * S);
}

/* ---- a job that is recorded by two daemons, one after the other ------------------------ */

/* A daemon with windows of this length records a rank, and ends while the job runs. */
static void record_with_windows_of(const char *directory, uint64_t window_ns)
{
    const struct jobs_options options = {
        .job = {.window_ns = window_ns, .grace_ns = S / 4, .lost_ns = 30 * S, .most_pairs = 100},
        .record = directory,
        .publisher = {NULL, wants, publish, forget},
        .kept = on_kept};
    const struct wire_member_row member = {.rank = 0, .pid = 1, .placement = ""};
    struct wire_message ranks = {.type = WIRE_TYPE_RANKS};
    struct jobs *jobs;
    uv_loop_t loop;
    char why[256];
    ranks.ranks = (struct wire_ranks){.seq = 1,
                                      .job = "job.0",
                                      .world = 1,
                                      .app = "/bin/app",
                                      .mpi = "MPI",
                                      .host = "n0",
                                      .members = &member,
                                      .members_count = 1};
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(jobs_create(&jobs, &loop, &options, why, sizeof(why)), 0);
    give(jobs, 1, &ranks, 100 * S);
    jobs_advance(jobs, 100 * S, 100 * S);
    jobs_destroy(jobs, 100 * S);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void a_recording_is_continued_only_with_windows_of_the_same_length(void **state)
{
    char directory[DIRECTORY_ROOM], path[DIRECTORY_ROOM + 32];
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/holter-job.0-2.hrec", directory);
    record_with_windows_of(directory, S);
    record_with_windows_of(directory, S);
    assert_int_not_equal(access(path, F_OK), 0);
    record_with_windows_of(directory, S / 2);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(directory_remove(directory), 0);
}

/* ---- a job that another daemon resumes --------------------------------------------- */

#define NOTED 16u

/* What a daemon has published of windows. */
struct totals_noted {
    struct wire_totals list[NOTED];
    size_t count;
};

static int wants_totals(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_TOTALS;
}

static void note_totals(void *user, const char *job, enum wire_type type, const void *message)
{
    struct totals_noted *noted = user;
    (void)job;
    if (type != WIRE_TYPE_TOTALS)
        return;
    assert_true(noted->count < NOTED);
    noted->list[noted->count++] = *(const struct wire_totals *)message;
}

static struct jobs *create_noting(struct totals_noted *noted)
{
    const struct jobs_options options = {
        .job = {.window_ns = S, .grace_ns = S / 4, .lost_ns = 30 * S, .most_pairs = 100},
        .publisher = {noted, wants_totals, note_totals, forget},
        .kept = on_kept};
    struct jobs *jobs;
    struct job_fault fault;
    char why[256];
    assert_int_equal(jobs_create(&jobs, NULL, &options, why, sizeof(why)), 0);
    assert_int_equal(jobs_resume_begin(jobs, "one", NULL, &fault), 0);
    return jobs;
}

static void give_resumed(struct jobs *jobs, unsigned node, const struct wire_message *message,
                         uint64_t now_ns)
{
    zmq_msg_t bytes;
    struct job_fault fault;
    zmq_msg_init_size(&bytes, 1);
    assert_int_equal(jobs_resume_ingest(jobs, node + 1, message, &bytes, now_ns, &fault), 0);
    zmq_msg_close(&bytes);
}

static void give_ranks(struct jobs *jobs, unsigned node, uint64_t now_ns)
{
    struct agent_words words;
    const struct wire_message message = {.type = WIRE_TYPE_RANKS,
                                         .ranks = agent_words_ranks(&words, "one", node, 1, 2, 1)};
    give_resumed(jobs, node, &message, now_ns);
}

static void give_window(struct jobs *jobs, unsigned node, uint64_t window, uint64_t now_ns)
{
    struct wire_rank_row row = {.rank = node, .calls = 10 + node, .in_call_peer = -1};
    const struct wire_message message = {.type = WIRE_TYPE_WINDOW,
                                         .window = {.seq = window - 98,
                                                    .job = "one",
                                                    .host = node == 0 ? "n0" : "n1",
                                                    .window = window,
                                                    .length_ns = S,
                                                    .ranks = &row,
                                                    .ranks_count = 1}};
    give_resumed(jobs, node, &message, now_ns);
}

/* Node 1 is late with window 100, which a busy daemon closes although the message came in time.
 * @param close  called where the daemon closes windows */
static void play(struct jobs *jobs, void (*close)(struct jobs *jobs, size_t turn, void *user),
                 void *user)
{
    give_ranks(jobs, 0, 100 * S);
    give_ranks(jobs, 1, 100 * S);
    give_window(jobs, 0, 100, 101 * S + 1);
    close(jobs, 0, user);
    give_window(jobs, 1, 100, 101 * S + 2);
    give_window(jobs, 0, 101, 102 * S + 1);
    give_window(jobs, 1, 101, 102 * S + 2);
    close(jobs, 1, user);
}

static void close_by_the_clock(struct jobs *jobs, size_t turn, void *user)
{
    /* The second time the correction of window 100 still waits for further nodes. */
    const uint64_t now_ns = turn == 0 ? 101 * S + S / 2 : 102 * S + S / 10;
    (void)user;
    jobs_advance(jobs, now_ns, now_ns);
}

static void close_by_the_journal(struct jobs *jobs, size_t turn, void *user)
{
    const struct totals_noted *journal = user;
    jobs_advance(jobs, 1000 * S, 1000 * S); /* closes nothing of a job that is resumed */
    jobs_resume_close(jobs, &journal->list[turn]);
}

static void assert_same_totals(const struct totals_noted *a, const struct totals_noted *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->list[i].window, b->list[i].window);
        assert_int_equal(a->list[i].late, b->list[i].late);
        assert_int_equal(a->list[i].calls, b->list[i].calls);
        assert_int_equal(a->list[i].agents, b->list[i].agents);
        assert_int_equal(a->list[i].agents_missing, b->list[i].agents_missing);
        assert_true(a->list[i].published_ns == b->list[i].published_ns);
    }
}

static void a_daemon_that_resumes_a_job_closes_windows_where_the_one_before_it_did(void **state)
{
    (void)state;
    struct totals_noted first = {.count = 0}, second = {.count = 0};
    struct jobs *before = create_noting(&first), *after = create_noting(&second);
    jobs_resume_end(before, "one", 0);
    play(before, close_by_the_clock, NULL);
    assert_int_equal(first.count, 2);
    assert_int_equal(first.list[0].calls, 10);
    assert_int_equal(first.list[0].agents, 1);
    play(after, close_by_the_journal, &first);
    assert_same_totals(&first, &second);
    jobs_resume_end(after, "one", 0);
    jobs_advance(before, 104 * S, 104 * S);
    jobs_advance(after, 104 * S, 104 * S);
    assert_same_totals(&first, &second);
    assert_int_equal(second.count, 3); /* the correction of window 100 */
    assert_int_equal(second.list[2].calls, 21);
    assert_int_equal(second.list[2].late, 1);
    jobs_destroy(before, 104 * S);
    jobs_destroy(after, 104 * S);
}

static void a_job_that_is_abandoned_is_gone_and_publishes_nothing_more(void **state)
{
    (void)state;
    struct totals_noted noted = {.count = 0};
    struct jobs *jobs = create_noting(&noted);
    struct job_fault fault;
    jobs_resume_end(jobs, "one", 0);
    give_ranks(jobs, 0, 100 * S);
    give_window(jobs, 0, 100, 101 * S + 1);
    assert_int_equal(jobs_resume_begin(jobs, "one", NULL, &fault), -EEXIST);
    jobs_abandon(jobs, "one");
    jobs_abandon(jobs, "one");
    assert_null(jobs_find(jobs, "one"));
    assert_int_equal(noted.count, 0);
    assert_int_equal(jobs_resume_begin(jobs, "one", NULL, &fault), 0);
    jobs_destroy(jobs, 200 * S);
    assert_int_equal(noted.count, 0); /* what is open belongs to the daemon after this one */
}

/* What is made for a client in steps goes on with the job that it was begun for only, whatever lies
 * in the memory of that one since. */
static void a_job_of_the_id_of_one_that_is_gone_has_another_number(void **state)
{
    (void)state;
    struct totals_noted noted = {.count = 0};
    struct jobs *jobs = create_noting(&noted);
    struct job_fault fault;
    const uint64_t number = jobs_number(jobs, "one");
    assert_true(number > 0);
    assert_int_equal(jobs_resume_begin(jobs, "two", NULL, &fault), 0);
    assert_true(jobs_number(jobs, "two") > number);
    assert_true(jobs_number(jobs, "one") == number);
    jobs_abandon(jobs, "one");
    assert_int_equal(jobs_number(jobs, "one"), 0);
    assert_int_equal(jobs_resume_begin(jobs, "one", NULL, &fault), 0);
    assert_true(jobs_number(jobs, "one") > jobs_number(jobs, "two"));
    jobs_destroy(jobs, 200 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_lacks_a_share_of_what_is_missing),
        cmocka_unit_test(a_daemon_that_resumes_a_job_closes_windows_where_the_one_before_it_did),
        cmocka_unit_test(a_job_of_the_id_of_one_that_is_gone_has_another_number),
        cmocka_unit_test(
            another_user_may_reuse_the_id_of_a_job_that_has_ended_but_not_report_into_it),
        cmocka_unit_test(a_job_of_the_id_of_one_that_has_ended_is_another_job),
        cmocka_unit_test(a_job_of_the_id_of_one_that_has_ended_may_be_reported_by_the_same_agent),
        cmocka_unit_test(a_running_job_takes_all_reports_of_its_id),
        cmocka_unit_test(a_job_that_is_abandoned_is_gone_and_publishes_nothing_more),
        cmocka_unit_test(counts_do_not_fall_when_jobs_that_have_ended_are_dropped),
        cmocka_unit_test(what_an_agent_of_several_jobs_could_not_send_counts_once),
        cmocka_unit_test(
            what_an_agent_of_several_jobs_could_not_send_is_lost_to_those_that_have_not_ended),
        cmocka_unit_test(a_recording_is_continued_only_with_windows_of_the_same_length),
        cmocka_unit_test(a_job_that_is_named_as_a_part_of_a_recording_is_refused),
        cmocka_unit_test(a_long_job_that_has_just_ended_is_not_dropped_for_the_next_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
