/* All jobs of a daemon: its counts. */
#include "daemon/job/jobs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* A job of one rank that lasts one window. */
static void run_job(struct jobs *jobs, unsigned number)
{
    char id[16];
    const uint64_t window = 100 + number, now_ns = (window + 1) * S;
    struct wire_member_row member = {.rank = 0, .pid = 1, .placement = ""};
    struct wire_rank_row row = {.rank = 0, .calls = 1, .in_call_peer = -1};
    struct wire_message ranks = {.type = WIRE_TYPE_RANKS}, report = {.type = WIRE_TYPE_WINDOW};
    snprintf(id, sizeof(id), "job.%u", number);
    ranks.ranks = (struct wire_ranks){.seq = 1,
                                      .job = id,
                                      .world = 1,
                                      .app = "/bin/app",
                                      .mpi = "MPI",
                                      .host = "n0",
                                      .members = &member,
                                      .members_count = 1};
    report.window = (struct wire_window){.seq = 2,
                                         .job = id,
                                         .host = "n0",
                                         .window = window,
                                         .length_ns = S,
                                         .flags = WINDOW_FINAL,
                                         .ranks = &row,
                                         .ranks_count = 1};
    give(jobs, number + 1, &ranks, window * S);
    give(jobs, number + 1, &report, now_ns);
    jobs_advance(jobs, now_ns, now_ns);
}

static void counts_do_not_fall_when_jobs_that_have_ended_are_dropped(void **state)
{
    const struct jobs_options options = {
        .job = {.window_ns = S, .grace_ns = S / 4, .lost_ns = 30 * S, .most_pairs = 100},
        .publisher = {NULL, wants, publish, forget},
        .kept = on_kept};
    struct jobs *jobs;
    struct jobs_counts counts;
    char why[256];
    (void)state;
    assert_int_equal(jobs_create(&jobs, NULL, &options, why, sizeof(why)), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_do_not_fall_when_jobs_that_have_ended_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
