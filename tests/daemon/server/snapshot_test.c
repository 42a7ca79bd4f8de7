/* Encoded states, shared by the clients that ask between two frames. */
#include "daemon/server/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int not_wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 0;
}

static void nothing(void *user, const char *job, enum wire_type type, const void *message)
{
    (void)user;
    (void)job;
    (void)type;
    (void)message;
}

static struct job *make_job(const char *id)
{
    struct job *job;
    struct job_options options = {.window_ns = 1000000000, .grace_ns = 0, .most_pairs = 10};
    struct job_output output = {NULL, not_wanted, nothing, NULL};
    assert_int_equal(job_create(&job, id, &options, &output), 0);
    return job;
}

static void add_rank(struct job *job, uint64_t rank)
{
    struct job_fault fault;
    struct wire_member_row member = {.rank = rank, .pid = 100 + rank, .placement = "0"};
    struct wire_ranks ranks = {.seq = rank + 1,
                               .job = "j.0",
                               .world = 9,
                               .host = "n",
                               .members = &member,
                               .members_count = 1};
    assert_int_equal(job_accept_ranks(job, 7, &ranks, 0, &fault), 0);
}

static uint64_t ranks_seen(const struct snapshot *s)
{
    struct wire_message message;
    struct wire_arena arena = {0};
    assert_int_equal(s->count, 1);
    assert_int_equal(
        wire_decode(&message, &arena, zmq_msg_data(&s->parts[0]), zmq_msg_size(&s->parts[0]), NULL),
        0);
    assert_int_equal(message.type, WIRE_TYPE_JOB);
    uint64_t seen = message.job.seen;
    wire_arena_finish(&arena);
    return seen;
}

static void whoever_asks_before_the_next_frame_gets_the_same_bytes(void **state)
{
    struct snapshots snapshots = {0};
    struct job *job = make_job("j.0");
    (void)state;
    add_rank(job, 0);
    const struct snapshot *first = snapshots_get(&snapshots, job, 1, WIRE_TYPE_JOB, 1);
    assert_int_equal(ranks_seen(first), 1);
    assert_ptr_equal(snapshots_get(&snapshots, job, 1, WIRE_TYPE_JOB, 1), first);
    snapshots_finish(&snapshots);
    job_destroy(job);
}

static void after_a_frame_the_state_is_encoded_again_in_its_old_place(void **state)
{
    struct snapshots snapshots = {0};
    struct job *job = make_job("j.0");
    (void)state;
    add_rank(job, 0);
    snapshots_get(&snapshots, job, 1, WIRE_TYPE_PLACES, 1);
    snapshots_get(&snapshots, job, 1, WIRE_TYPE_JOB, 1);
    add_rank(job, 1);
    assert_int_equal(ranks_seen(snapshots_get(&snapshots, job, 1, WIRE_TYPE_JOB, 2)), 2);
    assert_non_null(snapshots.list[1]);
    assert_null(snapshots.list[2]);
    snapshots_finish(&snapshots);
    assert_null(snapshots.list[0]);
    job_destroy(job);
}

static void types_and_jobs_have_states_of_their_own(void **state)
{
    struct snapshots snapshots = {0};
    struct job *job = make_job("j.0"), *other = make_job("k.0");
    (void)state;
    const struct snapshot *a = snapshots_get(&snapshots, job, 1, WIRE_TYPE_JOB, 1);
    const struct snapshot *b = snapshots_get(&snapshots, other, 2, WIRE_TYPE_JOB, 1);
    const struct snapshot *c = snapshots_get(&snapshots, job, 1, WIRE_TYPE_PLACES, 1);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(snapshots_get(&snapshots, job, 1, WIRE_TYPE_JOB, 1), a);
    assert_ptr_equal(snapshots_get(&snapshots, other, 2, WIRE_TYPE_JOB, 1), b);
    assert_ptr_equal(snapshots_get(&snapshots, job, 1, WIRE_TYPE_PLACES, 1), c);
    snapshots_finish(&snapshots);
    job_destroy(job);
    job_destroy(other);
}

/* Frames are counted from 1 again. */
static void a_later_job_of_the_same_id_has_a_state_of_its_own(void **state)
{
    struct snapshots snapshots = {0};
    struct job *job = make_job("j.0");
    (void)state;
    add_rank(job, 0);
    assert_int_equal(ranks_seen(snapshots_get(&snapshots, job, 1, WIRE_TYPE_JOB, 1)), 1);
    job_destroy(job);
    job = make_job("j.0");
    add_rank(job, 0);
    add_rank(job, 1);
    assert_int_equal(ranks_seen(snapshots_get(&snapshots, job, 2, WIRE_TYPE_JOB, 1)), 2);
    snapshots_finish(&snapshots);
    job_destroy(job);
}

static void no_more_states_than_the_bound_are_kept(void **state)
{
    struct snapshots snapshots = {0};
    struct job *jobs[SNAPSHOTS_MAXIMUM + 1];
    char id[16];
    (void)state;
    for (unsigned i = 0; i <= SNAPSHOTS_MAXIMUM; i++) {
        snprintf(id, sizeof(id), "j.%u", i);
        jobs[i] = make_job(id);
        assert_int_equal(snapshots_get(&snapshots, jobs[i], i, WIRE_TYPE_JOB, 1)->number, i);
    }
    assert_int_equal(snapshots.list[0]->number, SNAPSHOTS_MAXIMUM);
    assert_int_equal(snapshots.list[SNAPSHOTS_MAXIMUM - 1]->number, 1); /* 0 was dropped */
    snapshots_finish(&snapshots);
    for (unsigned i = 0; i <= SNAPSHOTS_MAXIMUM; i++)
        job_destroy(jobs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_asks_before_the_next_frame_gets_the_same_bytes),
        cmocka_unit_test(after_a_frame_the_state_is_encoded_again_in_its_old_place),
        cmocka_unit_test(types_and_jobs_have_states_of_their_own),
        cmocka_unit_test(a_later_job_of_the_same_id_has_a_state_of_its_own),
        cmocka_unit_test(no_more_states_than_the_bound_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
