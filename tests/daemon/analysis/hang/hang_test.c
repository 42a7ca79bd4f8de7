#include "daemon/analysis/hang/hang.h"

#include "holter/call.h"
#include "holter/event.h"

#include "tests/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define MOST 4096u
#define ROW 77u /* a communicator */

/* A job by what its ranks do at the end of each window. */
struct scene {
    struct hang_watch *watch;
    uint32_t size;
    uint64_t window, length_ns;
    struct wire_rank_row ranks[MOST];
    struct hang_calls calls[2 * MOST]; /* of the next window */
    size_t call_count;
    struct wire_comm_row comms[4];
    size_t comm_count;
    struct wire_pending_row pending[MOST];
    size_t pending_count;
    uint32_t dead[8];
    size_t dead_count;
    uint8_t silent[MOST]; /* its agent sends nothing */
};

static struct scene *scene_of(uint32_t size, const struct hang_params *params)
{
    struct scene *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    assert_int_equal(hang_create(&s->watch, params), 0);
    s->size = size;
    s->window = 1000;
    s->length_ns = SECOND;
    s->comms[s->comm_count++] =
        (struct wire_comm_row){.id = HANG_WORLD, .size = size, .name = "MPI_COMM_WORLD"};
    for (uint32_t r = 0; r < size; r++)
        s->ranks[r] = (struct wire_rank_row){.rank = r, .in_call_peer = PEER_NONE};
    return s;
}

static void scene_finish(struct scene *s)
{
    hang_destroy(s->watch);
    free(s);
}

/* A window ends: calls in progress have gone on for its length. */
static struct hang_list step(struct scene *s)
{
    struct wire_rank_row *rows = calloc(s->size, sizeof(*rows));
    size_t count = 0;
    assert_non_null(rows);
    for (uint32_t r = 0; r < s->size; r++) {
        if (s->ranks[r].in_call != 0)
            s->ranks[r].in_call_ns += s->length_ns;
        if (!s->silent[r])
            rows[count++] = s->ranks[r];
    }
    struct hang_window window = {.number = s->window,
                                 .end_ns = (s->window + 1) * s->length_ns,
                                 .length_ns = s->length_ns,
                                 .world = s->size,
                                 .ranks = rows,
                                 .rank_count = count,
                                 .calls = s->calls,
                                 .call_count = s->call_count,
                                 .comms = s->comms,
                                 .comm_count = s->comm_count,
                                 .pending = s->pending,
                                 .pending_count = s->pending_count,
                                 .dead = s->dead,
                                 .dead_count = s->dead_count};
    s->window++;
    assert_int_equal(hang_window(s->watch, &window), 0);
    free(rows);
    s->call_count = 0;
    s->dead_count = 0;
    return hang_result(s->watch);
}

/* The rank enters a call and stays in it, half a window ago. */
static void enter(struct scene *s, uint32_t rank, uint32_t call, uint64_t comm, int64_t peer)
{
    struct wire_rank_row *r = &s->ranks[rank];
    r->in_call = call;
    r->in_call_ns = 0;
    r->in_call_comm = comm;
    r->in_call_peer = peer;
    r->calls = r->polls = 0;
    r->process_state = 'R';
}

/* The rank is outside of MPI and makes no call. */
static void leave(struct scene *s, uint32_t rank, char state)
{
    enter(s, rank, 0, 0, PEER_NONE);
    s->ranks[rank].process_state = (uint64_t)state;
}

/* The rank makes so many calls in every window. */
static void busy(struct scene *s, uint32_t rank, uint64_t calls, uint64_t polls)
{
    leave(s, rank, 0);
    s->ranks[rank].calls = calls;
    s->ranks[rank].polls = polls;
}

static void completed(struct scene *s, uint32_t rank, uint32_t call, uint64_t comm, uint64_t calls,
                      uint64_t longest_ns)
{
    s->calls[s->call_count++] = (struct hang_calls){
        .rank = rank, .call = call, .comm = comm, .calls = calls, .longest_ns = longest_ns};
}

static void all_completed(struct scene *s, uint32_t call, uint64_t calls, uint64_t longest_ns)
{
    for (uint32_t r = 0; r < s->size; r++)
        completed(s, r, call, HANG_WORLD, calls, longest_ns);
}

/* Ten calm windows with five collectives in each. */
static void run_calmly(struct scene *s)
{
    for (uint32_t r = 0; r < s->size; r++)
        busy(s, r, 100, 0);
    for (int i = 0; i < 10; i++) {
        all_completed(s, CALL_Allreduce, 5, SECOND / 100);
        assert_int_equal(step(s).count, 0);
    }
}

static struct hang_list steps(struct scene *s, int count)
{
    struct hang_list list = {0};
    for (int i = 0; i < count; i++)
        list = step(s);
    return list;
}

/* ---- collectives --------------------------------------------------------- */

static void a_rank_that_does_not_come_to_a_collective_is_named(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    leave(s, 3, 'R');
    assert_int_equal(steps(s, 9).count, 0);
    struct hang_list list = steps(s, 2);
    assert_int_equal(list.count, 1);
    const struct hang *h = &list.list[0];
    assert_int_equal(h->kind, HANG_COLLECTIVE);
    assert_int_equal(h->comm, HANG_WORLD);
    assert_int_equal(h->operation, 51);
    assert_int_equal(h->call, CALL_Allreduce);
    assert_int_equal(h->behind_count, 1);
    assert_int_equal(h->behind[0].rank, 3);
    assert_int_equal(h->behind[0].state, HANG_OUTSIDE);
    assert_int_equal(h->waiting, 7);
    assert_int_equal(h->arrived, 7);
    assert_int_equal(h->members, 8);
    assert_int_equal(h->since_ns, 1010 * SECOND);
    assert_string_equal(h->ranks, "3");
    assert_string_equal(h->title, "rank 3 has not arrived in MPI_Allreduce on MPI_COMM_WORLD");
    assert_string_equal(h->text,
                        "rank 3 has not arrived in MPI_Allreduce on MPI_COMM_WORLD: 7 of 8 ranks "
                        "wait since 00:16:50 (collective call 51 there); it has been outside of "
                        "MPI for 11 s");
    scene_finish(s);
}

/* A window of remote memory access has its members under an id of its own. */
static void a_rank_that_does_not_come_to_a_fence_is_named(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 8, .name = "halo"};
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        completed(s, r, CALL_Win_fence, ROW, 5, SECOND / 100);
    assert_int_equal(step(s).count, 0);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Win_fence, ROW, PEER_NONE);
    leave(s, 3, 'R');
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].operation, 6);
    assert_string_equal(list.list[0].title, "rank 3 has not arrived in MPI_Win_fence on halo");
    scene_finish(s);
}

static void a_rank_that_does_not_come_to_a_call_that_is_collective_is_named(void **state)
{
    static const uint32_t calls[] = {CALL_Intercomm_merge, CALL_File_sync, CALL_File_seek_shared,
                                     CALL_File_set_atomicity};
    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        struct scene *s = scene_of(8, NULL);
        run_calmly(s);
        for (uint32_t r = 0; r < 8; r++)
            completed(s, r, calls[i], ROW, 5, SECOND / 100);
        for (uint32_t r = 0; r < 8; r++)
            enter(s, r, calls[i], ROW, PEER_NONE);
        busy(s, 3, 100, 0);
        struct hang_list list = steps(s, 11);
        assert_int_equal(list.count, 1);
        assert_int_equal(list.list[0].kind, HANG_COLLECTIVE);
        assert_string_equal(list.list[0].ranks, "3");
        scene_finish(s);
    }
}

static void a_stopped_rank_is_named_within_four_windows(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    leave(s, 3, 'T');
    struct hang_list list = steps(s, 4);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 3);
    assert_int_equal(list.list[0].behind[0].state, HANG_IS_STOPPED);
    assert_int_equal(list.list[0].kind, HANG_COLLECTIVE);
    assert_non_null(strstr(list.list[0].text, "outside of MPI, its process is stopped"));
    scene_finish(s);
}

/* A process that is stopped while it waits in the same call has arrived, but does not go on. */
static void a_rank_stopped_inside_the_collective_is_named(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    s->ranks[5].process_state = 'T';
    struct hang_list list = steps(s, 4);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 5);
    assert_string_equal(list.list[0].title,
                        "rank 5 does not go on in MPI_Barrier on MPI_COMM_WORLD");
    scene_finish(s);
}

/* Ranks that are stopped while they wait in the same call have arrived, too, each of them. */
static void several_ranks_stopped_inside_the_collective_have_arrived(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    s->ranks[4].process_state = s->ranks[5].process_state = 'T';
    struct hang_list list = steps(s, 4);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].title,
                        "ranks 4-5 do not go on in MPI_Barrier on MPI_COMM_WORLD");
    assert_non_null(strstr(list.list[0].advice, "Ranks 4-5 are stopped there: continue them"));
    scene_finish(s);
}

static void ranks_stopped_inside_and_outside_of_the_collective_hold_it_up(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    leave(s, 4, 'T');
    s->ranks[5].process_state = 'T';
    struct hang_list list = steps(s, 4);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].arrived, 7);
    assert_string_equal(list.list[0].title, "ranks 4-5 hold up MPI_Barrier on MPI_COMM_WORLD");
    assert_non_null(strstr(list.list[0].advice, "Ranks 4-5 hold up MPI_Barrier on MPI_COMM_WORLD, "
                                                "which 6 others are in: continue them"));
    scene_finish(s);
}

/* Its agent, or the launcher, had reported it in that call before. */
static void a_rank_that_died_inside_the_collective_is_not_called_stopped(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    step(s);
    s->silent[6] = 1;
    s->dead[s->dead_count++] = 6;
    struct hang_list list = steps(s, 3);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind[0].state, HANG_DEAD);
    assert_string_equal(list.list[0].title,
                        "rank 6 does not go on in MPI_Allreduce on MPI_COMM_WORLD");
    assert_string_equal(list.list[0].advice, "Rank 6 does not go on there: it died, and the others "
                                             "wait in vain: end the job.");
    scene_finish(s);
}

static void a_dead_rank_is_named_when_the_others_are_not_ended(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    leave(s, 6, 0);
    s->silent[6] = 1;
    s->dead[s->dead_count++] = 6;
    struct hang_list list = steps(s, 2); /* an alert of its own names a death at once */
    assert_int_equal(list.count, 0);
    list = step(s);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 6);
    assert_int_equal(list.list[0].behind[0].state, HANG_DEAD);
    assert_string_equal(list.list[0].advice,
                        "Rank 6 has not called MPI_Allreduce on MPI_COMM_WORLD, which 7 others "
                        "are in: it died, and the others wait in vain: end the job.");
    scene_finish(s);
}

static void where_most_are_missing_those_who_came_are_named_first(void **state)
{
    struct scene *s = scene_of(512, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 512; r++)
        leave(s, r, 'R');
    for (uint32_t r = 100; r < 103; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind_count, 509);
    assert_string_equal(list.list[0].ranks, "0-99,103-511");
    assert_true(list.list[0].few_wait);
    assert_string_equal(list.list[0].waiters, "100-102");
    assert_string_equal(list.list[0].title, "only ranks 100-102 are in MPI_Barrier on "
                                            "MPI_COMM_WORLD, 509 others are not");
    assert_string_equal(list.list[0].advice,
                        "Look at why ranks 100-102 called MPI_Barrier on MPI_COMM_WORLD and 509 "
                        "others did not: a branch that only they take, or work that the others "
                        "have not finished.");
    scene_finish(s);
}

static void where_few_are_missing_they_are_named_first(void **state)
{
    struct scene *s = scene_of(512, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 512; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    for (uint32_t r = 100; r < 103; r++)
        busy(s, r, 100, 0);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_false(list.list[0].few_wait);
    assert_string_equal(list.list[0].title,
                        "ranks 100-102 have not arrived in MPI_Barrier on MPI_COMM_WORLD");
    assert_string_equal(list.list[0].advice,
                        "Ranks 100-102 have not called MPI_Barrier on MPI_COMM_WORLD, which 509 "
                        "others are in: look at which calls are made instead: a loop that does "
                        "not end, or a branch that only the others take.");
    scene_finish(s);
}

/* Half of the ranks, and one more, are missing: the other half is the minority. */
static void whichever_is_the_minority_is_named_first(void **state)
{
    (void)state;
    for (uint32_t missing = 2; missing <= 3; missing++) {
        struct scene *s = scene_of(5, NULL);
        run_calmly(s);
        for (uint32_t r = 0; r < 5; r++)
            enter(s, r, r < missing ? 0 : CALL_Barrier, HANG_WORLD, PEER_NONE);
        struct hang_list list = steps(s, 11);
        assert_int_equal(list.count, 1);
        assert_string_equal(list.list[0].title,
                            missing == 2
                                ? "ranks 0-1 have not arrived in MPI_Barrier on MPI_COMM_WORLD"
                                : "only ranks 3-4 are in MPI_Barrier on MPI_COMM_WORLD, 3 others "
                                  "are not");
        scene_finish(s);
    }
}

/* One rank gathers messages of all others, which do not send. */
/* A rank that waits for any of several messages is not in the collective, and it is not late. */
static void a_rank_that_waits_elsewhere_is_one_of_the_others(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    leave(s, 0, 'R');
    leave(s, 2, 'R');
    enter(s, 3, CALL_Barrier, HANG_WORLD, PEER_NONE);
    enter(s, 1, CALL_Waitany, HANG_WORLD, PEER_NONE);
    for (int source = 0; source <= 2; source += 2)
        s->pending[s->pending_count++] = (struct wire_pending_row){.rank = 1, .source = source};
    struct hang_list list = steps(s, 12);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind_count, 2);
    assert_string_equal(list.list[0].title,
                        "only rank 3 is in MPI_Barrier on MPI_COMM_WORLD, 3 others are not");
    assert_non_null(strstr(list.list[0].advice, "and 3 others did not"));
    scene_finish(s);
}

static void one_rank_that_waits_for_all_others_is_named_first(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        leave(s, r, 'R');
    enter(s, 6, CALL_Waitall, 0, PEER_NONE);
    for (uint32_t r = 0; r < 8; r++)
        if (r != 6)
            s->pending[s->pending_count++] = (struct wire_pending_row){
                .rank = 6, .source = r, .comm = HANG_WORLD, .waited_ns = SECOND};
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].waiters, "6");
    assert_string_equal(list.list[0].title, "rank 6 waits in MPI_Waitall for 7 others");
    scene_finish(s);
}

/* The root of a broadcast leaves it early: it is ahead of those who wait, not behind. */
static void a_rank_that_is_ahead_is_not_behind(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    completed(s, 0, CALL_Bcast, HANG_WORLD, 1, 1000);
    leave(s, 0, 'R');
    enter(s, 1, CALL_Bcast, HANG_WORLD, 0);
    leave(s, 2, 'R');
    enter(s, 3, CALL_Bcast, HANG_WORLD, 0);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 2);
    scene_finish(s);
}

/* Rank 1 waits in a collective for rank 2, which waits for a message of rank 3, which sleeps. */
static void whoever_waits_is_followed_to_the_root(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    enter(s, 1, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    enter(s, 2, CALL_Recv, HANG_WORLD, 3);
    leave(s, 3, 'T');
    struct hang_list list = steps(s, 4);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 3);
    assert_int_equal(list.list[0].waiting, 3);
    scene_finish(s);
}

/* Two communicators of a grid wait for the same rank: one hang. */
static void one_culprit_is_one_hang(void **state)
{
    struct scene *s = scene_of(6, NULL);
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 3, .name = "row"};
    run_calmly(s);
    for (uint32_t r = 0; r < 3; r++)
        completed(s, r, CALL_Allreduce, ROW, 4, 1000);
    step(s);
    enter(s, 0, CALL_Allreduce, ROW, PEER_NONE);
    enter(s, 1, CALL_Allreduce, ROW, PEER_NONE);
    leave(s, 2, 'T');
    for (uint32_t r = 3; r < 6; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    struct hang_list list = steps(s, 5);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 2);
    assert_int_equal(list.list[0].waiting, 5);
    scene_finish(s);
}

/* A communicator of three ranks of which one never made a call on it but is in one now. */
static void members_are_known_by_their_calls(void **state)
{
    struct scene *s = scene_of(5, NULL);
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 3, .name = "row"};
    run_calmly(s);
    completed(s, 0, CALL_Barrier, ROW, 1, 1000);
    completed(s, 1, CALL_Barrier, ROW, 1, 1000);
    completed(s, 4, CALL_Barrier, ROW, 1, 1000);
    step(s);
    enter(s, 0, CALL_Barrier, ROW, PEER_NONE);
    leave(s, 1, 'R');
    enter(s, 4, CALL_Barrier, ROW, PEER_NONE);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].members, 3);
    assert_int_equal(list.list[0].arrived, 2);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 1);
    scene_finish(s);
}

static void different_collectives_on_one_communicator_are_a_mismatch(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    enter(s, 2, CALL_Bcast, HANG_WORLD, 0);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_MISMATCH);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 2);
    assert_string_equal(list.list[0].title, "rank 2 is in MPI_Bcast, 3 others in MPI_Allreduce on "
                                            "MPI_COMM_WORLD");
    assert_string_equal(list.list[0].advice,
                        "All ranks must call the same collectives on MPI_COMM_WORLD in the same "
                        "order: look at why rank 2 called MPI_Bcast and not MPI_Allreduce.");
    scene_finish(s);
}

static void ranks_in_finalize_wait_for_the_others(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Finalize, 0, PEER_NONE);
    leave(s, 1, 'R');
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 1);
    assert_int_equal(list.list[0].call, CALL_Finalize);
    scene_finish(s);
}

/* Records of rank 2 were lost, so that fewer collectives were counted than it made. */
static void lost_records_blame_nobody(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        completed(s, r, CALL_Allreduce, HANG_WORLD, r == 2 ? 1 : 5, 1000);
    s->ranks[2].lost = 40;
    step(s);
    s->ranks[2].lost = 0;
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    leave(s, 1, 'R');
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 1);
    assert_int_equal(list.list[0].arrived, 3);
    scene_finish(s);
}

/* ---- messages ------------------------------------------------------------ */

/* A ring of receives behind a stopped rank, which blocks one neighbour after the other. */
static void the_root_of_a_chain_is_found(void **state)
{
    struct scene *s = scene_of(16, NULL);
    struct hang_list list = {0};
    (void)state;
    for (uint32_t r = 0; r < 16; r++)
        busy(s, r, 50, 0);
    steps(s, 5);
    leave(s, 9, 'T');
    for (uint32_t i = 1; i < 8; i++) {
        enter(s, (9 + i) % 16, CALL_Recv, HANG_WORLD, (8 + i) % 16);
        enter(s, (9 + 16 - i) % 16, CALL_Ssend, HANG_WORLD, (10 + 16 - i) % 16);
        list = step(s);
    }
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_RECEIVE);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 9);
    assert_int_equal(list.list[0].waiting, 14);
    scene_finish(s);
}

/* A Waitall waits for messages of both neighbours; which of them have come cannot be seen. */
static void a_waitall_for_several_messages_leads_to_the_stopped_rank(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    for (uint32_t r = 0; r < 8; r++)
        busy(s, r, 50, 0);
    steps(s, 5);
    for (uint32_t r = 0; r < 8; r++) {
        enter(s, r, CALL_Waitall, 0, PEER_NONE);
        for (uint32_t side = 0; side < 2 && r != 4; side++)
            s->pending[s->pending_count++] =
                (struct wire_pending_row){.rank = r,
                                          .source = (r + (side ? 1 : 7)) % 8,
                                          .comm = HANG_WORLD,
                                          .waited_ns = SECOND};
    }
    leave(s, 4, 'T');
    struct hang_list list = steps(s, 5);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_RECEIVE);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 4);
    assert_int_equal(list.list[0].waiting, 7);
    scene_finish(s);
}

/* Which messages of a Waitall have come cannot be seen: it is a circle if nothing else explains it.
 */
static void two_waitalls_for_each_other_are_a_deadlock(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 2; r++) {
        enter(s, r, CALL_Waitall, HANG_WORLD, 1 - r);
        s->pending[s->pending_count++] = (struct wire_pending_row){.rank = r, .source = 1 - r};
    }
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_DEADLOCK);
    assert_string_equal(list.list[0].ranks, "0-1");
    scene_finish(s);
}

/* Rank 0 gathers, and the others wait for its answer; of many open receives some are listed. */
static void a_waitall_of_which_not_all_receives_are_listed_is_no_deadlock(void **state)
{
    struct scene *s = scene_of(12, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Waitall, HANG_WORLD, PEER_NONE);
    for (uint32_t r = 1; r < 11; r++) {
        enter(s, r, CALL_Recv, HANG_WORLD, 0);
        if (r <= 8)
            s->pending[s->pending_count++] = (struct wire_pending_row){.source = r};
    }
    s->pending[s->pending_count++] = (struct wire_pending_row){.source = PEER_ANY};
    leave(s, 11, 'R');
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_STANDSTILL);
    assert_string_equal(list.list[0].ranks, "11");
    scene_finish(s);
}

/* A thread of each rank waits for requests for as long as the others work. */
static void a_thread_that_waits_while_others_make_calls_is_no_hang(void **state)
{
    static const int64_t sources[] = {PEER_ANY, 0};
    (void)state;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct scene *s = scene_of(4, NULL);
        run_calmly(s);
        for (uint32_t r = 0; r < 4; r++) {
            enter(s, r, CALL_Recv, HANG_WORLD, sources[i] >= 0 ? (r + 1) % 4 : sources[i]);
            s->ranks[r].calls = 100;
            s->ranks[r].threads = 2;
        }
        for (int w = 0; w < 60; w++) {
            all_completed(s, CALL_Allreduce, 5, SECOND / 100);
            assert_int_equal(step(s).count, 0);
        }
        scene_finish(s);
    }
}

/* Another thread of it works, which shows in no call. */
static void a_rank_of_which_only_a_serving_thread_waits_has_not_arrived(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++) {
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
        s->ranks[r].threads = 2;
    }
    enter(s, 3, CALL_Recv, HANG_WORLD, PEER_ANY);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].title,
                        "rank 3 has not arrived in MPI_Barrier on MPI_COMM_WORLD");
    assert_non_null(strstr(list.list[0].text, "it has been outside of MPI for 11 s"));
    scene_finish(s);
}

static void ranks_that_wait_in_a_circle_are_a_deadlock(void **state)
{
    struct scene *s = scene_of(6, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 1, CALL_Recv, HANG_WORLD, 2);
    enter(s, 2, CALL_Recv, HANG_WORLD, 4);
    enter(s, 4, CALL_Recv, HANG_WORLD, 1);
    enter(s, 0, CALL_Recv, HANG_WORLD, 1);
    assert_int_equal(steps(s, 9).count, 0);
    struct hang_list list = steps(s, 2);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_DEADLOCK);
    assert_string_equal(list.list[0].ranks, "1-2,4");
    assert_int_equal(list.list[0].waiting, 4);
    assert_non_null(strstr(list.list[0].text, "rank 2 is in MPI_Recv from rank 4"));
    assert_string_equal(list.list[0].advice,
                        "Each of these ranks receives before it sends: let one of them send "
                        "first, or post the receives with MPI_Irecv; if one has sent, compare "
                        "tags and communicators.");
    scene_finish(s);
}

/* The tags of a shift around a ring differ: each rank sends to the next one. */
static void a_rank_in_a_sendrecv_is_said_to_send_to_one_and_to_receive_from_another(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++) {
        enter(s, r, CALL_Sendrecv, HANG_WORLD, (r + 1) % 4);
        s->pending[s->pending_count++] =
            (struct wire_pending_row){.rank = r, .source = (r + 3) % 4};
    }
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_DEADLOCK);
    assert_non_null(
        strstr(list.list[0].text, "rank 2 is in MPI_Sendrecv to rank 3 and from rank 1"));
    scene_finish(s);
}

/* Large messages are shifted along a line whose last rank does not receive: all have got that of
 * the rank before and wait for the next one. */
static void a_rank_that_does_not_receive_from_a_sendrecv_is_named(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 7; r++) {
        enter(s, r, CALL_Sendrecv, HANG_WORLD, r + 1);
        s->pending[s->pending_count++] =
            (struct wire_pending_row){.rank = r, .source = r > 0 ? (int64_t)r - 1 : PEER_NULL};
    }
    leave(s, 7, 'R');
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_RECEIVE);
    assert_string_equal(list.list[0].ranks, "7");
    assert_non_null(strstr(list.list[0].advice, "Rank 7 has not received what rank 6 sends: "));
    scene_finish(s);
}

/* The last rank of the line receives, and the one before it does not send. */
static void a_rank_that_does_not_send_to_a_sendrecv_is_named(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 3, CALL_Sendrecv, HANG_WORLD, PEER_NULL);
    s->pending[s->pending_count++] = (struct wire_pending_row){.rank = 3, .source = 2};
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].ranks, "2");
    assert_non_null(strstr(list.list[0].advice, "Rank 2 has not sent what rank 3 waits for: "));
    scene_finish(s);
}

static void a_rank_that_does_not_receive_what_a_wait_is_for_is_said_not_to_receive(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Wait, HANG_WORLD, 1);
    leave(s, 1, 'R');
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].ranks, "1");
    assert_non_null(strstr(list.list[0].advice, "Rank 1 has not received what rank 0 sends: "));
    scene_finish(s);
}

/* Of an immediate collective that rank 3 has not begun: nobody knows whom the others wait for. */
static void ranks_in_waits_for_a_collective_are_no_deadlock(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 3; r++)
        enter(s, r, CALL_Wait, HANG_WORLD, PEER_NONE);
    leave(s, 3, 'R');
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_STANDSTILL);
    assert_string_equal(list.list[0].ranks, "3");
    scene_finish(s);
}

static void a_wait_for_a_send_is_not_said_to_be_for_a_receive(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Wait, HANG_WORLD, 1);
    enter(s, 1, CALL_Wait, HANG_WORLD, 0);
    s->pending[s->pending_count++] = (struct wire_pending_row){.rank = 1, .source = 0};
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_non_null(strstr(list.list[0].text, "rank 0 is in MPI_Wait for rank 1"));
    assert_non_null(strstr(list.list[0].text, "rank 1 is in MPI_Wait from rank 0"));
    scene_finish(s);
}

static void a_circle_of_sends_is_a_deadlock_with_the_advice_for_sends(void **state)
{
    struct scene *s = scene_of(6, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 3; r++)
        enter(s, r, r == 1 ? CALL_Ssend : CALL_Send, HANG_WORLD, (r + 1) % 3);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_DEADLOCK);
    assert_string_equal(list.list[0].title, "deadlock: ranks 0-2 wait for each other");
    assert_non_null(strstr(list.list[0].text, "rank 2 is in MPI_Send to rank 0"));
    assert_string_equal(list.list[0].advice,
                        "Each of these ranks sends, and none receives before its send is done: "
                        "use MPI_Sendrecv or MPI_Isend, or let one of them receive first.");
    scene_finish(s);
}

/* Rank 0 waits for a message of rank 1, which has gone on to a barrier. */
static void a_message_that_was_never_sent_is_a_circle_through_the_barrier(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Recv, HANG_WORLD, 1);
    for (uint32_t r = 1; r < 4; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_DEADLOCK);
    assert_string_equal(list.list[0].ranks, "0-1");
    assert_int_equal(list.list[0].waiting, 4);
    assert_non_null(strstr(list.list[0].advice, "compare the order of their calls"));
    scene_finish(s);
}

static void a_sender_that_goes_on_without_sending_is_named(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Wait, HANG_WORLD, 1);
    s->pending[s->pending_count++] = (struct wire_pending_row){.rank = 0, .source = 1};
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_RECEIVE);
    assert_int_equal(list.list[0].behind[0].rank, 1);
    assert_int_equal(list.list[0].behind[0].state, HANG_RUNS);
    assert_int_equal(list.list[0].waiter, 0);
    assert_int_equal(list.list[0].waiting, 1);
    assert_string_equal(list.list[0].advice,
                        "Rank 1 has not sent what rank 0 waits for: look at whether source, tag "
                        "and communicator are the same at both ends.");
    scene_finish(s);
}

static void a_sender_that_has_finished_is_named(void **state)
{
    struct scene *s = scene_of(2, NULL);
    (void)state;
    run_calmly(s);
    completed(s, 1, CALL_Finalize, 0, 1, 1000);
    enter(s, 0, CALL_Recv, HANG_WORLD, 1);
    step(s);
    s->silent[1] = 1;
    struct hang_list list = steps(s, 5);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 1);
    assert_int_equal(list.list[0].behind[0].state, HANG_FINISHED);
    scene_finish(s);
}

/* The one that all wait for asks again and again for a message that does not come. */
static void a_rank_that_polls_is_said_to_poll(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    busy(s, 2, 1000000, 1000000);
    struct hang_list list = steps(s, 11);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 2);
    assert_int_equal(list.list[0].behind[0].state, HANG_POLLS);
    assert_in_range(list.list[0].behind[0].for_ns, 10 * SECOND, 11 * SECOND);
    scene_finish(s);
}

/* It is not known for whom the ranks wait, but all wait except one. */
static void a_standstill_names_the_rank_outside(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Recv, HANG_WORLD, PEER_ANY);
    leave(s, 3, 'S');
    assert_int_equal(steps(s, 9).count, 0);
    struct hang_list list = steps(s, 3);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_STANDSTILL);
    assert_int_equal(list.list[0].behind_count, 1);
    assert_int_equal(list.list[0].behind[0].rank, 3);
    assert_int_equal(list.list[0].waiting, 3);
    scene_finish(s);
}

/* A checkpoint of some minutes is no hang; one that takes as long as nothing normally does is. */
static void ranks_that_all_use_a_file_together_do_not_hang(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_File_write_at_all, HANG_WORLD, PEER_NONE);
    assert_int_equal(steps(s, 300).count, 0);
    struct hang_list list = steps(s, 1600);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_STANDSTILL);
    assert_string_equal(list.list[0].advice, "Look at where the ranks are, for example with "
                                             "gdb -p: all of them wait.");
    scene_finish(s);
}

static void a_rank_outside_that_others_need_to_use_a_file_is_where_to_look(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 4, .name = "f.dat"};
    run_calmly(s);
    for (uint32_t r = 0; r < 3; r++)
        enter(s, r, CALL_File_write_at_all, 0, PEER_NONE);
    leave(s, 3, 'S');
    struct hang_list list = steps(s, 12);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].advice, "Look at where rank 3 is, for example with gdb -p: "
                                             "all others wait.");
    scene_finish(s);
}

/* As where some members of an ensemble have done their work: the others go on with theirs. */
static void ranks_that_wait_in_finalize_for_ranks_that_communicate_do_not_hang(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Finalize, 0, PEER_NONE);
    enter(s, 1, CALL_Finalize, 0, PEER_NONE);
    assert_int_equal(steps(s, 60).count, 0);
    leave(s, 2, 'R');
    leave(s, 3, 'R');
    assert_int_equal(steps(s, 8).count, 0);
    const struct hang_list list = steps(s, 4);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].title,
                        "ranks 2-3 have not arrived in MPI_Finalize on MPI_COMM_WORLD");
    scene_finish(s);
}

/* As a program waits in a barrier for those that it has started. */
static void ranks_that_all_wait_for_another_program_do_not_hang(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 4, .remote_size = 2};
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Barrier, ROW, PEER_NONE);
    assert_int_equal(steps(s, 300).count, 0);
    assert_int_equal(steps(s, 1600).count, 1);
    scene_finish(s);
}

static void ranks_of_this_program_that_wait_on_an_intercommunicator_hang(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 2, .remote_size = 2};
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Barrier, ROW, PEER_NONE);
    assert_int_equal(steps(s, 12).count, 1);
    scene_finish(s);
}

/* Who belongs to a communicator is known from calls on it. */
static void a_first_collective_that_some_members_never_enter_hangs(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    s->comms[s->comm_count++] =
        (struct wire_comm_row){.id = ROW, .size = 4, .name = "MPI_Comm_split"};
    run_calmly(s);
    for (uint32_t r = 0; r < 3; r++)
        enter(s, r, CALL_Barrier, ROW, PEER_NONE);
    assert_int_equal(steps(s, 9).count, 0);
    struct hang_list list = steps(s, 2);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_COLLECTIVE);
    assert_int_equal(list.list[0].behind_count, 0);
    assert_string_equal(list.list[0].text,
                        "only ranks 0-2 are in MPI_Barrier on a communicator of MPI_Comm_split, "
                        "1 other is not: 3 of 8 ranks wait since 00:16:50 (collective call 1 "
                        "there)");
    assert_string_equal(list.list[0].advice,
                        "Look at why ranks 0-2 called MPI_Barrier on a communicator of "
                        "MPI_Comm_split and 1 other did not: a branch that only they take, or "
                        "work that the others have not finished.");
    enter(s, 5, CALL_Barrier, ROW, PEER_NONE);
    assert_int_equal(step(s).count, 0);
    scene_finish(s);
}

/* The members that are missing may be in the call, and one more may not. */
static void where_ranks_are_not_watched_it_is_not_known_who_is_in_a_collective(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 4, .name = "row"};
    s->silent[6] = s->silent[7] = 1;
    run_calmly(s);
    for (uint32_t r = 0; r < 2; r++)
        enter(s, r, CALL_Barrier, ROW, PEER_NONE);
    assert_int_equal(steps(s, 20).count, 0);
    scene_finish(s);
}

/* As a program waits for those that it has started. */
static void ranks_that_disconnect_from_another_program_do_not_hang(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Comm_disconnect, ROW, PEER_NONE);
    assert_int_equal(steps(s, 300).count, 0);
    scene_finish(s);
}

/* For whom they wait is not known. */
static void ranks_that_wait_in_one_sided_calls_hang(void **state)
{
    static const uint32_t calls[] = {CALL_Win_lock, CALL_Win_unlock,       CALL_Win_wait,
                                     CALL_Win_free, CALL_Intercomm_create, CALL_Comm_create_group};
    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct scene *s = scene_of(4, NULL);
        run_calmly(s);
        for (uint32_t r = 0; r < 3; r++)
            enter(s, r, calls[i], ROW, PEER_NONE);
        leave(s, 3, 'S');
        assert_int_equal(steps(s, 9).count, 0);
        struct hang_list list = steps(s, 3);
        assert_int_equal(list.count, 1);
        assert_int_equal(list.list[0].kind, HANG_STANDSTILL);
        assert_string_equal(list.list[0].title, "3 ranks wait and none goes on, except rank 3");
        assert_int_equal(list.list[0].waiting, 3);
        for (uint32_t r = 0; r < 4; r++)
            busy(s, r, 100, 0);
        assert_int_equal(step(s).count, 0);
        assert_int_equal(hang_fate(s->watch).moved, 3);
        scene_finish(s);
    }
}

static void a_rank_in_a_one_sided_call_is_still_named_when_others_wait_for_it(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 3; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    enter(s, 3, CALL_Win_wait, ROW, PEER_NONE);
    struct hang_list list = steps(s, 12);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].title,
                        "rank 3 has not arrived in MPI_Barrier on MPI_COMM_WORLD");
    assert_int_equal(list.list[0].waiting, 3);
    scene_finish(s);
}

static void one_rank_that_waits_is_in_the_singular(void **state)
{
    struct scene *s = scene_of(1, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Recv, HANG_WORLD, PEER_ANY);
    assert_string_equal(steps(s, 12).list[0].title, "1 rank waits and none goes on");
    scene_finish(s);
}

static void a_stopped_rank_is_reported_before_anybody_waits(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    leave(s, 1, 'T');
    struct hang_list list = steps(s, 3);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_STOPPED);
    assert_string_equal(list.list[0].advice,
                        "Rank 1 is stopped: continue it (kill -CONT), or look for what stopped "
                        "it: a debugger, the batch system, a terminal.");
    uint64_t id = list.list[0].id;
    enter(s, 0, CALL_Recv, HANG_WORLD, 1);
    list = steps(s, 3);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_RECEIVE);
    assert_int_equal(list.list[0].id, id);
    scene_finish(s);
}

static void the_title_of_stopped_processes_counts_them(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    leave(s, 1, 'T');
    assert_string_equal(steps(s, 3).list[0].title, "the process of rank 1 is stopped");
    scene_finish(s);
    s = scene_of(4, NULL);
    run_calmly(s);
    leave(s, 1, 'T');
    leave(s, 2, 'T');
    assert_string_equal(steps(s, 3).list[0].title, "the processes of ranks 1-2 are stopped");
    scene_finish(s);
}

/* ---- no alarm ------------------------------------------------------------ */

static void a_job_with_imbalance_is_not_a_hang(void **state)
{
    struct scene *s = scene_of(32, NULL);
    uint64_t random = 7;
    (void)state;
    run_calmly(s);
    for (int i = 0; i < 400; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t late = (uint32_t)(random >> 33) % 32;
        for (uint32_t r = 0; r < 32; r++)
            enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
        leave(s, late, 'R');
        for (int k = (int)((random >> 50) % 8); k >= 0; k--)
            assert_int_equal(step(s).count, 0);
        all_completed(s, CALL_Allreduce, 1, 8 * SECOND);
    }
    scene_finish(s);
}

/* Rank 0 reads its input while all others wait in the first broadcast. */
static void a_start_up_phase_is_not_a_hang(void **state)
{
    struct scene *s = scene_of(16, NULL);
    (void)state;
    for (uint32_t r = 0; r < 16; r++)
        enter(s, r, CALL_Init, 0, PEER_NONE);
    assert_int_equal(steps(s, 20).count, 0);
    for (uint32_t r = 1; r < 16; r++)
        enter(s, r, CALL_Bcast, HANG_WORLD, 0);
    leave(s, 0, 'R');
    assert_int_equal(steps(s, 8).count, 0);
    scene_finish(s);
}

/* Waits of 6 s have been seen to end: one of 25 s is none yet, one of 35 s is. */
static void long_waits_that_ended_raise_the_bar(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    all_completed(s, CALL_Allreduce, 1, 6 * SECOND);
    step(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    leave(s, 0, 'R');
    assert_int_equal(steps(s, 29).count, 0);
    assert_int_equal(steps(s, 2).count, 1);
    scene_finish(s);
}

/* A wait for a stopped process does not count as a usual wait of this job. */
static void a_stopped_process_does_not_raise_the_bar(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    leave(s, 0, 'T');
    assert_int_equal(steps(s, 60).count, 1);
    for (uint32_t r = 0; r < 4; r++)
        busy(s, r, 10, 0);
    all_completed(s, CALL_Allreduce, 1, 60 * SECOND);
    assert_int_equal(step(s).count, 0);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Allreduce, HANG_WORLD, PEER_NONE);
    leave(s, 0, 'R');
    assert_int_equal(steps(s, 11).count, 1);
    scene_finish(s);
}

static void ranks_that_poll_and_find_nothing_are_no_hang_by_themselves(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 1; r < 8; r++)
        busy(s, r, 500000, 500000);
    assert_int_equal(steps(s, 100).count, 0);
    scene_finish(s);
}

/* The rank polls all the time and finds nothing. */
static void poll_all_the_time(struct scene *s, uint32_t rank)
{
    busy(s, rank, 500000, 500000);
    s->ranks[rank].poll_ns = s->length_ns * 9 / 10;
}

/* Eight ranks that were busy, and poll from now on: @return owned */
static struct scene *scene_of_polls(void)
{
    struct scene *s = scene_of(8, NULL);
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        poll_all_the_time(s, r);
    return s;
}

/* As in loops of MPI_Test after MPI_Ibarrier. */
static void a_rank_outside_for_which_all_others_poll_is_named(void **state)
{
    struct scene *s = scene_of_polls();
    (void)state;
    leave(s, 3, 'R');
    assert_int_equal(steps(s, 9).count, 0);
    struct hang_list list = steps(s, 2);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].kind, HANG_STANDSTILL);
    assert_int_equal(list.list[0].waiting, 7);
    assert_string_equal(list.list[0].ranks, "3");
    assert_string_equal(list.list[0].text,
                        "7 ranks wait and none goes on, except rank 3: 7 of 8 ranks wait since "
                        "00:16:50; it has been outside of MPI for 11 s");
    for (uint32_t r = 0; r < 8; r++)
        busy(s, r, 10, 0);
    assert_int_equal(step(s).count, 0);
    assert_int_equal(hang_fate(s->watch).moved, 7);
    scene_finish(s);
}

/* One in MPI_Wait, others in loops of MPI_Test: of the wait it is not known for whom. */
static void a_rank_outside_for_which_some_wait_and_others_poll_is_named(void **state)
{
    struct scene *s = scene_of_polls();
    (void)state;
    enter(s, 0, CALL_Wait, 0, PEER_NONE);
    leave(s, 3, 'R');
    assert_int_equal(steps(s, 9).count, 0);
    struct hang_list list = steps(s, 2);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].waiting, 7);
    assert_string_equal(list.list[0].ranks, "3");
    scene_finish(s);
}

/* A computation that looks for messages now and then, and one that all wait for again and again. */
static void polls_beside_work_and_polls_that_usually_last_long_are_no_hang(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 1; r < 8; r++)
        busy(s, r, 5000, 5000);
    leave(s, 0, 'R');
    assert_int_equal(steps(s, 100).count, 0);
    for (uint32_t r = 1; r < 8; r++)
        poll_all_the_time(s, r);
    busy(s, 0, 10, 0);
    assert_int_equal(steps(s, 20).count, 0);
    busy(s, 1, 10, 0);
    assert_int_equal(step(s).count, 0);
    poll_all_the_time(s, 1);
    leave(s, 0, 'R');
    assert_int_equal(steps(s, 90).count, 0);
    assert_int_equal(steps(s, 20).count, 1);
    scene_finish(s);
}

/* Waitany takes whichever message comes: that one of them does not come proves nothing. */
static void a_wait_for_any_message_blames_nobody(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    enter(s, 0, CALL_Waitany, 0, PEER_NONE);
    for (uint32_t r = 1; r < 4; r++)
        s->pending[s->pending_count++] = (struct wire_pending_row){
            .rank = 0, .source = r, .comm = HANG_WORLD, .waited_ns = SECOND};
    assert_int_equal(steps(s, 60).count, 0);
    scene_finish(s);
}

/* ---- episodes ------------------------------------------------------------ */

static void a_hang_keeps_its_number_and_begin_until_it_ends(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (int round = 1; round <= 2; round++) {
        for (uint32_t r = 0; r < 8; r++)
            enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
        leave(s, 7, 'T');
        struct hang_list list = steps(s, 4);
        assert_int_equal(list.count, 1);
        uint64_t since = list.list[0].since_ns;
        for (int i = 0; i < 20; i++) {
            list = step(s);
            assert_int_equal(list.count, 1);
            assert_int_equal(list.list[0].id, round);
            assert_int_equal(list.list[0].since_ns, since);
        }
        for (uint32_t r = 0; r < 8; r++)
            busy(s, r, 10, 0);
        all_completed(s, CALL_Barrier, 1, 24 * SECOND);
        assert_int_equal(step(s).count, 0);
    }
    scene_finish(s);
}

static void two_hangs_at_a_time_are_two(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 4, .name = "low"};
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW + 1, .size = 4, .name = "high"};
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++) {
        completed(s, r, CALL_Barrier, ROW + r / 4, 1, 1000);
        enter(s, r, CALL_Barrier, ROW + r / 4, PEER_NONE);
    }
    leave(s, 1, 'T');
    leave(s, 6, 'T');
    struct hang_list list = steps(s, 4);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.list[0].behind[0].rank, 1);
    assert_int_equal(list.list[1].behind[0].rank, 6);
    assert_int_equal(list.list[0].waiting, 3);
    assert_int_equal(list.list[1].waiting, 3);
    scene_finish(s);
}

static void the_advice_to_a_rank_that_waits_for_itself_is_in_the_singular(void **state)
{
    static const uint32_t calls[] = {CALL_Ssend, CALL_Recv};
    static const char *const advice[] = {
        "This rank sends to itself, and does not receive before its send is done: post the receive "
        "with MPI_Irecv first, or use MPI_Sendrecv.",
        "This rank receives from itself before it sends: post the receive with MPI_Irecv, or use "
        "MPI_Sendrecv."};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct scene *s = scene_of(4, NULL);
        run_calmly(s);
        enter(s, 1, calls[i], HANG_WORLD, 1);
        struct hang_list list = steps(s, 12);
        assert_string_equal(list.list[0].title, "deadlock: rank 1 waits for itself");
        assert_string_equal(list.list[0].advice, advice[i]);
        scene_finish(s);
    }
}

static void a_hang_stays_when_another_one_ends(void **state)
{
    struct scene *s = scene_of(4, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 4; r++)
        enter(s, r, CALL_Recv, HANG_WORLD, r ^ 1);
    assert_int_equal(steps(s, 20).count, 2);
    busy(s, 2, 100, 0);
    busy(s, 3, 100, 0);
    struct hang_list list = steps(s, 5);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].ranks, "0-1");
    scene_finish(s);
}

/* A node whose agent does not report for two windows neither ends nor makes a hang. */
static void a_late_agent_changes_nothing(void **state)
{
    struct scene *s = scene_of(8, NULL);
    (void)state;
    run_calmly(s);
    for (uint32_t r = 0; r < 8; r++)
        enter(s, r, CALL_Barrier, HANG_WORLD, PEER_NONE);
    leave(s, 7, 'T');
    assert_int_equal(steps(s, 4).count, 1);
    s->silent[6] = s->silent[7] = 1;
    struct hang_list list = steps(s, 2);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].id, 1);
    s->silent[6] = s->silent[7] = 0;
    list = step(s);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].id, 1);
    scene_finish(s);
}

/* ---- input --------------------------------------------------------------- */

static void the_order_of_rows_changes_nothing(void **state)
{
    char texts[2][1025];
    (void)state;
    for (int reverse = 0; reverse < 2; reverse++) {
        struct scene *s = scene_of(64, NULL);
        run_calmly(s);
        for (uint32_t r = 0; r < 64; r++)
            enter(s, r, CALL_Alltoall, HANG_WORLD, PEER_NONE);
        leave(s, 11, 'T');
        leave(s, 40, 'T');
        enter(s, 50, CALL_Recv, HANG_WORLD, 40);
        for (uint32_t r = 0; r < 32 && reverse; r++) {
            struct wire_rank_row swap = s->ranks[r];
            s->ranks[r] = s->ranks[63 - r];
            s->ranks[63 - r] = swap;
        }
        struct hang_list list = steps(s, 6);
        assert_int_equal(list.count, 1);
        assert_string_equal(list.list[0].ranks, "11,40");
        strcpy(texts[reverse], list.list[0].text);
        scene_finish(s);
    }
    assert_string_equal(texts[0], texts[1]);
}

/* Numbers that no rank or communicator has, times that cannot be. */
static void nonsense_is_survived(void **state)
{
    struct hang_params params = {.ranks = 100, .memberships = 50};
    uint64_t random = 99;
    struct hang_watch *watch;
    (void)state;
    assert_int_equal(hang_create(&watch, &params), 0);
    for (uint64_t w = 1; w < 300; w++) {
        uint64_t words[40][6];
        struct wire_rank_row ranks[40];
        struct hang_calls calls[40];
        struct wire_pending_row pending[40];
        struct wire_comm_row comms[40];
        uint32_t dead[1];
        for (int i = 0; i < 40; i++) {
            for (int k = 0; k < 6; k++) {
                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                words[i][k] = random >> (random >> 59);
            }
            uint64_t *x = words[i];
            ranks[i] = (struct wire_rank_row){.rank = (uint32_t)x[0] % 120,
                                              .in_call = (uint32_t)x[1] % 400,
                                              .in_call_ns = x[2],
                                              .in_call_comm = x[3] % 5,
                                              .in_call_peer = (int64_t)x[4],
                                              .process_state = (uint32_t)x[5] % 128,
                                              .calls = x[4],
                                              .polls = x[3]};
            calls[i] = (struct hang_calls){
                (uint32_t)x[1], (uint32_t)x[0] % 400, x[3] % 7, x[2], x[5], x[5]};
            pending[i] =
                (struct wire_pending_row){(uint32_t)x[2] % 120, (int64_t)x[3], 0, x[1], x[5]};
            comms[i] =
                (struct wire_comm_row){.id = x[3] % 5, .size = x[1], .remote_size = x[2] % 2};
        }
        dead[0] = (uint32_t)random;
        struct hang_window window = {w,       w * 7, 7,    words[0][0], ranks,
                                     40,      calls, 40,   comms,       40,
                                     pending, 40,    dead, w % 2,       w % 5 == 0 ? 16 : 0};
        assert_int_equal(hang_window(watch, &window), 0);
        struct hang_list list = hang_result(watch);
        for (size_t i = 0; i < list.count; i++)
            assert_true(strlen(list.list[i].text) < sizeof(list.list[i].text));
    }
    assert_int_equal(hang_window(watch, &(struct hang_window){.number = 5}), -ERANGE);
    hang_destroy(watch);
}

/* A quarter of the ranks waits behind one of 100,000; memory is linear, too. */
static void a_hundred_thousand_ranks_are_one_hang(void **state)
{
    enum { RANKS = 100000 };
    struct wire_rank_row *ranks = calloc(RANKS, sizeof(*ranks));
    struct hang_calls *calls = calloc(RANKS, sizeof(*calls));
    struct wire_comm_row world = {.id = HANG_WORLD, .size = RANKS, .name = "MPI_COMM_WORLD"};
    struct hang_watch *watch;
    (void)state;
    assert_true(ranks != NULL && calls != NULL);
    const size_t before = memory_used();
    assert_int_equal(hang_create(&watch, NULL), 0);
    for (uint64_t w = 1; w <= 20; w++) {
        for (uint32_t r = 0; r < RANKS; r++) {
            calls[r] = (struct hang_calls){r, CALL_Allreduce, HANG_WORLD, w <= 5, 1000, 1000};
            ranks[r] = (struct wire_rank_row){.rank = r, .in_call_peer = PEER_NONE, .calls = 10};
            if (w <= 5)
                continue;
            ranks[r].calls = 0;
            ranks[r].in_call = r % 4 == 0 ? CALL_Allreduce : CALL_Recv;
            ranks[r].in_call_peer = r % 4 == 0 ? PEER_NONE : (int64_t)r - 1;
            ranks[r].in_call_comm = HANG_WORLD;
            ranks[r].in_call_ns = (w - 5) * SECOND;
        }
        if (w > 5)
            ranks[77777].in_call = 0;
        struct hang_window window = {.number = w,
                                     .end_ns = w * SECOND,
                                     .length_ns = SECOND,
                                     .world = RANKS,
                                     .ranks = ranks,
                                     .rank_count = RANKS,
                                     .calls = calls,
                                     .call_count = RANKS,
                                     .comms = &world,
                                     .comm_count = 1};
        assert_int_equal(hang_window(watch, &window), 0);
    }
    assert_true(hang_result(watch).count >= 1);
    assert_true(memory_used() - before < (size_t)RANKS * 300);
    hang_destroy(watch);
    free(ranks);
    free(calls);
}

/* ---- groups of ranks ------------------------------------------------------------------------- */

#define GROUP 16u

/* So many windows of a job of two groups, of which all ranks wait but some of the second one.
 * @param ended  calls that end in each */
static struct hang_list group_windows(struct hang_watch *watch, uint64_t *window, unsigned count,
                                      uint64_t late, uint64_t ended)
{
    for (unsigned i = 0; i < count; i++, ++*window) {
        const struct wire_rank_row rows[] = {
            {.rank = 0, .ranks = GROUP, .collective_ns = GROUP * SECOND, .calls = 9, .polls = 9},
            {.rank = GROUP,
             .ranks = GROUP - 4,
             .collective_ns = (GROUP - 4 - late) * SECOND + SECOND / 9,
             .calls = ended}};
        const struct hang_window w = {.number = *window,
                                      .end_ns = (*window + 1) * SECOND,
                                      .length_ns = SECOND,
                                      .world = 2 * GROUP - 4,
                                      .group = GROUP,
                                      .ranks = rows,
                                      .rank_count = 2};
        assert_int_equal(hang_window(watch, &w), 0);
    }
    return hang_result(watch);
}

static void groups_hang_when_no_call_ends_and_the_late_ones_are_named(void **state)
{
    struct hang_watch *watch;
    uint64_t window = 1000;
    (void)state;
    assert_int_equal(hang_create(&watch, NULL), 0);
    assert_int_equal(group_windows(watch, &window, 5, 1, 1).count, 0);
    assert_int_equal(group_windows(watch, &window, 9, 1, 0).count, 0);
    struct hang_list list = group_windows(watch, &window, 1, 1, 0);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].since_ns, 1005 * SECOND);
    assert_int_equal(list.list[0].waiting, 27);
    assert_string_equal(list.list[0].ranks, "16-27");
    assert_string_equal(list.list[0].title,
                        "27 ranks wait and none goes on, except 1 of ranks 16-27");
    const uint64_t id = list.list[0].id;
    assert_int_equal(group_windows(watch, &window, 3, 1, 0).list[0].id, id);
    assert_int_equal(group_windows(watch, &window, 1, 0, 1).count, 0);
    assert_int_equal(hang_fate(watch).moved, 1);
    hang_destroy(watch);
}

static void groups_learn_how_long_waits_are_that_end(void **state)
{
    struct hang_watch *watch;
    uint64_t window = 1000;
    (void)state;
    assert_int_equal(hang_create(&watch, NULL), 0);
    group_windows(watch, &window, 4, 0, 1);
    group_windows(watch, &window, 4, 0, 0); /* 20 s are needed from now on */
    group_windows(watch, &window, 1, 0, 1);
    assert_int_equal(group_windows(watch, &window, 19, 0, 0).count, 0);
    assert_int_equal(group_windows(watch, &window, 1, 0, 0).count, 1);
    hang_destroy(watch);
}

static void groups_that_all_use_files_do_not_hang(void **state)
{
    struct hang_watch *watch;
    const struct wire_rank_row row = {.ranks = GROUP, .io_ns = GROUP * SECOND};
    struct hang_window w = {.length_ns = SECOND, .world = GROUP, .group = GROUP, .rank_count = 1};
    (void)state;
    assert_int_equal(hang_create(&watch, NULL), 0);
    w.ranks = &row;
    for (w.number = 1000; w.number < 1100; w.number++) {
        w.end_ns = (w.number + 1) * SECOND;
        assert_int_equal(hang_window(watch, &w), 0);
        assert_int_equal(hang_result(watch).count, 0);
    }
    hang_destroy(watch);
}

static void groups_that_compute_do_not_hang(void **state)
{
    struct hang_watch *watch;
    uint64_t window = 1000;
    (void)state;
    assert_int_equal(hang_create(&watch, NULL), 0);
    for (unsigned i = 0; i < 40; i++, window++) {
        struct wire_rank_row row = {.ranks = GROUP, .wait_ns = SECOND};
        const struct hang_window w = {.number = window,
                                      .end_ns = (window + 1) * SECOND,
                                      .length_ns = SECOND,
                                      .world = GROUP,
                                      .group = GROUP,
                                      .ranks = &row,
                                      .rank_count = 1};
        assert_int_equal(hang_window(watch, &w), 0);
        assert_int_equal(hang_result(watch).count, 0);
    }
    hang_destroy(watch);
}

static void nothing_is_concluded_while_ranks_of_a_group_do_not_report(void **state)
{
    struct hang_watch *watch;
    (void)state;
    assert_int_equal(hang_create(&watch, NULL), 0);
    for (uint64_t window = 1; window < 40; window++) {
        struct wire_rank_row row = {.ranks = GROUP - 1, .wait_ns = (GROUP - 1) * SECOND};
        const struct hang_window w = {.number = window,
                                      .end_ns = (window + 1) * SECOND,
                                      .length_ns = SECOND,
                                      .world = GROUP,
                                      .group = GROUP,
                                      .ranks = &row,
                                      .rank_count = 1};
        assert_int_equal(hang_window(watch, &w), 0);
        assert_int_equal(hang_result(watch).count, 0);
    }
    hang_destroy(watch);
}

/* ---- communicators without end ------------------------------------------- */

#define MADE 200u /* communicators in each window */

/* In each window pairs of ranks make communicators, use them once and free them. */
static void make_communicators(struct scene *s, uint64_t *next, int windows)
{
    for (int i = 0; i < windows; i++) {
        all_completed(s, CALL_Allreduce, 5, SECOND / 100);
        for (uint32_t c = 0; c < MADE; c++, ++*next)
            for (uint32_t r = 0; r < 2; r++)
                completed(s, r + 2 * (c % 2), CALL_Barrier, *next, 1, 1000);
        assert_int_equal(step(s).count, 0);
    }
}

static size_t state_length(struct scene *s)
{
    struct state_bytes b = {.code = 0};
    hang_copy_state(&b, &s->watch);
    assert_int_equal(b.code, 0);
    const size_t length = b.length;
    free(b.bytes);
    return length;
}

static void communicators_that_are_used_no_more_are_forgotten(void **state)
{
    struct scene *s = scene_of(4, NULL);
    uint64_t next = 1000;
    (void)state;
    for (uint32_t r = 0; r < 4; r++)
        busy(s, r, 100, 0);
    make_communicators(s, &next, 400);
    const size_t before = state_length(s);
    make_communicators(s, &next, 800);
    assert_true(state_length(s) < before + before / 2);
    scene_finish(s);
}

/* Rank 1 comes to the second broadcast long after rank 0 has left it: if what they have done had
 * been forgotten meanwhile, rank 1 would seem to be ahead. */
static void communicators_whose_members_differ_are_remembered(void **state)
{
    struct scene *s = scene_of(4, NULL);
    uint64_t next = 1000;
    (void)state;
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 2, .name = "row"};
    for (uint32_t r = 0; r < 4; r++)
        busy(s, r, 100, 0);
    completed(s, 0, CALL_Bcast, ROW, 2, 1000);
    completed(s, 1, CALL_Bcast, ROW, 1, 1000);
    make_communicators(s, &next, 400);
    completed(s, 1, CALL_Bcast, ROW, 1, 1000);
    make_communicators(s, &next, 1);
    enter(s, 0, CALL_Barrier, ROW, PEER_NONE);
    const struct hang_list list = steps(s, 30);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].ranks, "1");
    scene_finish(s);
}

static void a_hang_on_a_new_communicator_is_found_after_others_were_forgotten(void **state)
{
    struct scene *s = scene_of(4, NULL);
    uint64_t next = 1000;
    (void)state;
    for (uint32_t r = 0; r < 4; r++)
        busy(s, r, 100, 0);
    make_communicators(s, &next, 400);
    s->comms[s->comm_count++] = (struct wire_comm_row){.id = ROW, .size = 2, .name = "row"};
    completed(s, 0, CALL_Barrier, ROW, 1, 1000);
    completed(s, 1, CALL_Barrier, ROW, 1, 1000);
    make_communicators(s, &next, 1);
    enter(s, 0, CALL_Barrier, ROW, PEER_NONE);
    const struct hang_list list = steps(s, 30);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.list[0].ranks, "1");
    assert_non_null(strstr(list.list[0].title, "MPI_Barrier on row"));
    scene_finish(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_does_not_come_to_a_collective_is_named),
        cmocka_unit_test(a_rank_that_does_not_come_to_a_fence_is_named),
        cmocka_unit_test(a_rank_that_does_not_come_to_a_call_that_is_collective_is_named),
        cmocka_unit_test(a_stopped_rank_is_named_within_four_windows),
        cmocka_unit_test(a_rank_stopped_inside_the_collective_is_named),
        cmocka_unit_test(several_ranks_stopped_inside_the_collective_have_arrived),
        cmocka_unit_test(ranks_stopped_inside_and_outside_of_the_collective_hold_it_up),
        cmocka_unit_test(a_rank_that_died_inside_the_collective_is_not_called_stopped),
        cmocka_unit_test(a_dead_rank_is_named_when_the_others_are_not_ended),
        cmocka_unit_test(where_most_are_missing_those_who_came_are_named_first),
        cmocka_unit_test(where_few_are_missing_they_are_named_first),
        cmocka_unit_test(whichever_is_the_minority_is_named_first),
        cmocka_unit_test(a_rank_that_waits_elsewhere_is_one_of_the_others),
        cmocka_unit_test(one_rank_that_waits_for_all_others_is_named_first),
        cmocka_unit_test(a_rank_that_is_ahead_is_not_behind),
        cmocka_unit_test(whoever_waits_is_followed_to_the_root),
        cmocka_unit_test(one_culprit_is_one_hang),
        cmocka_unit_test(members_are_known_by_their_calls),
        cmocka_unit_test(different_collectives_on_one_communicator_are_a_mismatch),
        cmocka_unit_test(ranks_in_finalize_wait_for_the_others),
        cmocka_unit_test(lost_records_blame_nobody),
        cmocka_unit_test(the_root_of_a_chain_is_found),
        cmocka_unit_test(a_waitall_for_several_messages_leads_to_the_stopped_rank),
        cmocka_unit_test(two_waitalls_for_each_other_are_a_deadlock),
        cmocka_unit_test(a_waitall_of_which_not_all_receives_are_listed_is_no_deadlock),
        cmocka_unit_test(a_thread_that_waits_while_others_make_calls_is_no_hang),
        cmocka_unit_test(a_rank_of_which_only_a_serving_thread_waits_has_not_arrived),
        cmocka_unit_test(ranks_that_wait_in_a_circle_are_a_deadlock),
        cmocka_unit_test(a_rank_in_a_sendrecv_is_said_to_send_to_one_and_to_receive_from_another),
        cmocka_unit_test(a_rank_that_does_not_receive_from_a_sendrecv_is_named),
        cmocka_unit_test(a_rank_that_does_not_send_to_a_sendrecv_is_named),
        cmocka_unit_test(a_rank_that_does_not_receive_what_a_wait_is_for_is_said_not_to_receive),
        cmocka_unit_test(ranks_in_waits_for_a_collective_are_no_deadlock),
        cmocka_unit_test(a_wait_for_a_send_is_not_said_to_be_for_a_receive),
        cmocka_unit_test(a_circle_of_sends_is_a_deadlock_with_the_advice_for_sends),
        cmocka_unit_test(a_message_that_was_never_sent_is_a_circle_through_the_barrier),
        cmocka_unit_test(a_sender_that_goes_on_without_sending_is_named),
        cmocka_unit_test(a_sender_that_has_finished_is_named),
        cmocka_unit_test(a_rank_that_polls_is_said_to_poll),
        cmocka_unit_test(a_standstill_names_the_rank_outside),
        cmocka_unit_test(ranks_that_all_use_a_file_together_do_not_hang),
        cmocka_unit_test(a_rank_outside_that_others_need_to_use_a_file_is_where_to_look),
        cmocka_unit_test(ranks_that_wait_in_finalize_for_ranks_that_communicate_do_not_hang),
        cmocka_unit_test(ranks_that_all_wait_for_another_program_do_not_hang),
        cmocka_unit_test(ranks_of_this_program_that_wait_on_an_intercommunicator_hang),
        cmocka_unit_test(a_first_collective_that_some_members_never_enter_hangs),
        cmocka_unit_test(where_ranks_are_not_watched_it_is_not_known_who_is_in_a_collective),
        cmocka_unit_test(ranks_that_disconnect_from_another_program_do_not_hang),
        cmocka_unit_test(ranks_that_wait_in_one_sided_calls_hang),
        cmocka_unit_test(a_rank_in_a_one_sided_call_is_still_named_when_others_wait_for_it),
        cmocka_unit_test(one_rank_that_waits_is_in_the_singular),
        cmocka_unit_test(a_stopped_rank_is_reported_before_anybody_waits),
        cmocka_unit_test(the_title_of_stopped_processes_counts_them),
        cmocka_unit_test(a_job_with_imbalance_is_not_a_hang),
        cmocka_unit_test(a_start_up_phase_is_not_a_hang),
        cmocka_unit_test(long_waits_that_ended_raise_the_bar),
        cmocka_unit_test(a_stopped_process_does_not_raise_the_bar),
        cmocka_unit_test(ranks_that_poll_and_find_nothing_are_no_hang_by_themselves),
        cmocka_unit_test(a_rank_outside_for_which_all_others_poll_is_named),
        cmocka_unit_test(a_rank_outside_for_which_some_wait_and_others_poll_is_named),
        cmocka_unit_test(polls_beside_work_and_polls_that_usually_last_long_are_no_hang),
        cmocka_unit_test(a_wait_for_any_message_blames_nobody),
        cmocka_unit_test(a_hang_keeps_its_number_and_begin_until_it_ends),
        cmocka_unit_test(two_hangs_at_a_time_are_two),
        cmocka_unit_test(the_advice_to_a_rank_that_waits_for_itself_is_in_the_singular),
        cmocka_unit_test(a_hang_stays_when_another_one_ends),
        cmocka_unit_test(a_late_agent_changes_nothing),
        cmocka_unit_test(the_order_of_rows_changes_nothing),
        cmocka_unit_test(nonsense_is_survived),
        cmocka_unit_test(a_hundred_thousand_ranks_are_one_hang),
        cmocka_unit_test(groups_hang_when_no_call_ends_and_the_late_ones_are_named),
        cmocka_unit_test(groups_learn_how_long_waits_are_that_end),
        cmocka_unit_test(groups_that_all_use_files_do_not_hang),
        cmocka_unit_test(groups_that_compute_do_not_hang),
        cmocka_unit_test(nothing_is_concluded_while_ranks_of_a_group_do_not_report),
        cmocka_unit_test(communicators_that_are_used_no_more_are_forgotten),
        cmocka_unit_test(communicators_whose_members_differ_are_remembered),
        cmocka_unit_test(a_hang_on_a_new_communicator_is_found_after_others_were_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
