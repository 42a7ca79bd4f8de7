/* The matcher against a model of MPI that knows the truth, and case by case. */
#include "daemon/analysis/matching/match.h"

#include "holter/call.h"
#include "holter/message_key.h"
#include "tests/daemon/analysis/matching/mpi_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- against the model --------------------------------------------------- */

struct run {
    struct model *model;
    struct match *match;
    struct match_member *members[MODEL_RANKS];
    struct tick_clock clock;
    size_t next[MODEL_RANKS][MODEL_THREADS];
    uint64_t random, wrong, right, halves;
    uint64_t polled_ns; /* the last round ended */
    int lossy, ragged;  /* ragged: each ring is looked at at a time of its own */
    int restarted;      /* the matcher is replaced by one that is made of its bytes */
};

enum { LOSSY = 1, RESTARTED = 2 };

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* A message is right when there is one with these times; all times are different. */
static void take_message(void *user, const struct match_message *message)
{
    struct run *run = user;
    for (size_t i = 0; i < run->model->truth_count; i++) {
        struct model_message *truth = &run->model->truth[i];
        if (truth->taken || truth->source != message->source ||
            truth->destination != message->destination || truth->bytes != message->bytes ||
            above(truth->exit_ns, truth->send_ns) != message->transfer_ns ||
            above(truth->send_ns, truth->enter_ns) != message->late_sender_ns ||
            above(truth->enter_ns, truth->send_ns) != message->late_receiver_ns)
            continue;
        truth->taken = 1;
        run->right++;
        return;
    }
    run->wrong++;
}

static void take_half(void *user, const struct match_half *half)
{
    struct run *run = user;
    (void)half;
    run->halves++;
}

static uint64_t comm_id(void *user, uint32_t slot, int *fresh)
{
    (void)user;
    *fresh = 0;
    return 100 + slot;
}

/* Hand over what a ring has by now; now and then, records are lost. */
static uint64_t drain_ring(struct run *run, int rank, int thread)
{
    const struct model_ring *ring = &run->model->rings[rank][thread];
    struct match_source source = {&run->clock, (uint32_t)thread, comm_id, NULL};
    size_t *next = &run->next[rank][thread];
    if (run->lossy && random_next(&run->random) % 300 == 0 && ring->count > *next) {
        *next += 1 + random_next(&run->random) % (ring->count - *next);
        match_lost(run->match, run->members[rank]);
    }
    uint64_t known = run->model->now_ns;
    if (run->ragged)
        known -= random_next(&run->random) % (known - run->polled_ns + 1);
    uint64_t polled_ns = known;
    while (*next < ring->count && ring->events[*next].t_exit <= polled_ns) {
        size_t count = 1;
        while (*next + count < ring->count && ring->events[*next + count].t_exit <= polled_ns &&
               random_next(&run->random) % 8 != 0)
            count++;
        match_events(run->match, run->members[rank], &source, ring->events + *next, count);
        *next += count;
    }
    const struct event *underway = ring->underway.kind != 0 ? &ring->underway : NULL;
    if (*next < ring->count)
        underway = &ring->events[*next]; /* begun, and not ended yet */
    uint64_t until = match_underway(run->members[rank], &source, underway);
    return until < known ? until : known;
}

static void restart(struct run *run)
{
    const struct match_sink sink = {take_message, take_half, run};
    struct state_bytes state = {0};
    match_copy_state(&state, run->match);
    match_destroy(run->match);
    assert_int_equal(state.code, 0);
    state.reads = 1;
    assert_int_equal(match_create(&run->match, MODEL_RANKS, &sink), 0);
    match_copy_state(&state, run->match);
    assert_int_equal(state.code, 0);
    assert_int_equal(state.at, state.length);
    for (int rank = 0; rank < MODEL_RANKS; rank++) {
        assert_non_null(run->members[rank] = match_resume(run->match, (uint32_t)rank));
        assert_null(match_resume(run->match, (uint32_t)rank)); /* another process of that rank */
    }
    free(state.bytes);
}

static void drain(struct run *run)
{
    if (run->restarted && random_next(&run->random) % 4 == 0)
        restart(run);
    int first = (int)(random_next(&run->random) % MODEL_RANKS);
    for (int i = 0; i < MODEL_RANKS; i++) {
        int rank = (first + i) % MODEL_RANKS;
        uint64_t known = UINT64_MAX;
        for (int thread = 0; thread < run->model->options.threads; thread++) {
            uint64_t one = drain_ring(run, rank, thread);
            known = one < known ? one : known;
        }
        if (run->model->options.threads > 1)
            match_known_until(run->match, run->members[rank], known);
    }
    match_settle(run->match, run->model->now_ns);
    run->polled_ns = run->model->now_ns;
}

static struct match_counts run_model(struct model_options options, int how, struct run *out)
{
    struct run run = {.random = options.seed | 1,
                      .lossy = how & LOSSY,
                      .restarted = how & RESTARTED,
                      .ragged = options.handed};
    struct match_sink sink = {take_message, take_half, &run};
    run.model = model_create(&options);
    assert_non_null(run.model);
    assert_int_equal(match_create(&run.match, MODEL_RANKS, &sink), 0);
    tick_clock_init_ns(&run.clock);
    for (int rank = 0; rank < MODEL_RANKS; rank++)
        assert_non_null(run.members[rank] = match_add(run.match, (uint64_t)rank));
    while (model_run(run.model, 1 + (int)(random_next(&run.random) % 60)))
        drain(&run);
    run.model->now_ns += 1000000;
    drain(&run);
    drain(&run);
    for (int rank = 0; rank < MODEL_RANKS; rank++)
        match_remove(run.match, run.members[rank]);
    struct match_counts counts = match_counts(run.match);
    match_destroy(run.match);
    *out = run;
    return counts;
}

static void finish_run(struct run *run)
{
    model_destroy(run->model);
}

static void every_message_is_matched_rightly(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct run run;
        struct match_counts counts =
            run_model((struct model_options){seed, 3000, 1, 0, 1 + seed % 3, 1, 0}, 0, &run);
        assert_int_equal(run.wrong, 0);
        assert_true(run.model->truth_count > 300);
        assert_int_equal(run.right, run.model->truth_count);
        assert_int_equal(counts.matched, run.model->truth_count);
        assert_int_equal(counts.rejected, 0);
        assert_int_equal(counts.unmatched, run.model->sent - run.model->truth_count);
        finish_run(&run);
    }
}

static void threads_with_tags_of_their_own_are_all_matched(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run run;
        struct match_counts counts =
            run_model((struct model_options){seed, 4000, 4, 0, 1, 1, 0}, 0, &run);
        assert_int_equal(run.wrong, 0);
        assert_int_equal(counts.rejected, 0);
        assert_true(run.model->truth_count > 300);
        assert_int_equal(run.right, run.model->truth_count);
        finish_run(&run);
    }
}

/* What one thread posts another completes, and rings are looked at at other times: an end may be
 * seen before its post, or a round earlier. */
static void what_other_threads_complete_is_all_matched(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct run run;
        struct match_counts counts =
            run_model((struct model_options){seed, 4000, 2 + (int)(seed % 3), 0, 1, 1, 1}, 0, &run);
        assert_int_equal(run.wrong, 0);
        assert_int_equal(counts.rejected, 0);
        assert_true(run.model->truth_count > 300);
        assert_int_equal(run.right, run.model->truth_count);
        assert_int_equal(counts.matched, run.model->truth_count);
        assert_int_equal(counts.unmatched, run.model->sent - run.model->truth_count);
        finish_run(&run);
    }
}

static void threads_on_the_same_tags_are_never_matched_wrongly(void **state)
{
    (void)state;
    uint64_t right = 0, all = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run run;
        struct match_counts counts = run_model(
            (struct model_options){seed, 4000, 3, 1, 1 + seed % 5, seed % 2 == 0, seed % 4 > 1}, 0,
            &run);
        assert_int_equal(run.wrong, 0);
        assert_int_equal(counts.rejected, 0);
        right += run.right;
        all += run.model->truth_count;
        finish_run(&run);
    }
    assert_true(right > all / 2);
}

static void lost_records_never_make_a_wrong_match(void **state)
{
    (void)state;
    uint64_t right = 0, all = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct run run;
        run_model((struct model_options){seed, 4000, seed % 2 ? 1 : 3, 0, 1 + seed % 3,
                                         seed % 4 < 2, seed % 8 > 4},
                  LOSSY, &run);
        assert_int_equal(run.wrong, 0);
        right += run.right;
        all += run.model->truth_count;
        finish_run(&run);
    }
    assert_true(right > all / 4);
}

static void a_matcher_made_of_the_bytes_of_another_matches_every_message(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct run run;
        struct match_counts counts = run_model(
            (struct model_options){seed, 3000, seed % 2 ? 1 : 3, 0, 1 + seed % 3, 1, seed % 2 == 0},
            RESTARTED, &run);
        assert_int_equal(run.wrong, 0);
        assert_int_equal(run.right, run.model->truth_count);
        assert_int_equal(counts.matched, run.model->truth_count);
        assert_int_equal(counts.unmatched, run.model->sent - run.model->truth_count);
        finish_run(&run);
    }
}

static void a_matcher_cannot_be_made_of_a_part_of_its_bytes(void **state)
{
    struct state_bytes whole = {0};
    struct run run = {0};
    const struct match_sink sink = {take_message, take_half, &run};
    struct match *match;
    (void)state;
    assert_int_equal(match_create(&match, MODEL_RANKS, &sink), 0);
    for (uint64_t rank = 0; rank < MODEL_RANKS; rank++)
        assert_non_null(match_add(match, rank));
    match_copy_state(&whole, match);
    match_destroy(match);
    for (size_t length = 0; length < whole.length; length++) {
        struct state_bytes part = {.reads = 1, .bytes = whole.bytes, .length = length};
        assert_int_equal(match_create(&match, MODEL_RANKS, &sink), 0);
        match_copy_state(&part, match);
        assert_true(part.code < 0);
        match_destroy(match);
    }
    free(whole.bytes);
}

/* ---- case by case -------------------------------------------------------- */

#define RANKS 4
#define MS UINT64_C(1000000)

/* Two members, 0 and 1, and two ranks that may live elsewhere. */
struct bed {
    struct match *match;
    struct match_member *members[2];
    struct match_message messages[64];
    struct match_half halves[64];
    unsigned message_count, half_count;
    struct tick_clock clock;
    int fresh; /* communicator 9 was made after the loss */
};

static void keep_message(void *user, const struct match_message *message)
{
    struct bed *bed = user;
    assert_true(bed->message_count < 64);
    bed->messages[bed->message_count++] = *message;
}

static void keep_half(void *user, const struct match_half *half)
{
    struct bed *bed = user;
    assert_true(bed->half_count < 64);
    bed->halves[bed->half_count++] = *half;
}

static uint64_t bed_comm(void *user, uint32_t slot, int *fresh)
{
    const struct bed *bed = user;
    *fresh = slot == 9 && bed->fresh;
    return 100 + slot;
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    struct match_sink sink = {keep_message, keep_half, bed};
    if (bed == NULL || match_create(&bed->match, RANKS, &sink) != 0)
        return -1;
    tick_clock_init_ns(&bed->clock);
    bed->members[0] = match_add(bed->match, 0);
    bed->members[1] = match_add(bed->match, 1);
    match_settle(bed->match, MS);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    match_destroy(bed->match);
    free(bed);
    return 0;
}

static void give(struct bed *bed, int rank, struct event event)
{
    struct match_source source = {&bed->clock, 0, bed_comm, bed};
    match_events(bed->match, bed->members[rank], &source, &event, 1);
}

static struct event event_of(uint16_t call, uint32_t flags, int peer, int tag, uint64_t enter,
                             uint64_t leave)
{
    return (struct event){.kind = EVENT_CALL,
                          .call = call,
                          .flags = (uint16_t)flags,
                          .peer = peer,
                          .tag = tag,
                          .bytes = 8,
                          .t_enter = enter,
                          .t_exit = leave};
}

#define SENT (EVENT_SEND | EVENT_POST | EVENT_DONE)
#define RECEIVED (EVENT_RECV | EVENT_POST | EVENT_DONE)
#define POSTED (EVENT_RECV | EVENT_POST)
#define COMPLETED (EVENT_RECV | EVENT_DONE)

static void send_at_ns(struct bed *bed, int rank, int to, uint64_t ns)
{
    give(bed, rank, event_of(CALL_Send, SENT, to, 5, ns, ns + 10));
}

static void receive_between(struct bed *bed, int rank, int from, uint64_t enter, uint64_t leave)
{
    give(bed, rank, event_of(CALL_Recv, RECEIVED, from, 5, enter, leave));
}

static void with_request(struct bed *bed, int rank, struct event event, uint32_t request)
{
    event.request = request;
    give(bed, rank, event);
}

static void times_of_a_late_sender(void **state)
{
    struct bed *bed = *state;
    receive_between(bed, 1, 0, 1000, 5000);
    send_at_ns(bed, 0, 1, 4000);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 1000);
    assert_int_equal(bed->messages[0].late_sender_ns, 3000);
    assert_int_equal(bed->messages[0].late_receiver_ns, 0);
    assert_int_equal(bed->messages[0].network_ns, 1000);
    assert_int_equal(bed->messages[0].joint_ns, 0);
}

static void times_of_a_late_receiver(void **state)
{
    struct bed *bed = *state;
    send_at_ns(bed, 0, 1, 1000);
    receive_between(bed, 1, 0, 4000, 4500);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->messages[0].transfer_ns, 3500);
    assert_int_equal(bed->messages[0].late_sender_ns, 0);
    assert_int_equal(bed->messages[0].late_receiver_ns, 3000);
    assert_int_equal(bed->messages[0].network_ns, 500);
}

static void a_blocking_send_waits_until_its_receiver_comes(void **state)
{
    struct bed *bed = *state;
    give(bed, 0, event_of(CALL_Ssend, SENT, 1, 5, 1000, 90000));
    receive_between(bed, 1, 0, 80000, 90000);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->messages[0].late_receiver_ns, 79000);
    assert_int_equal(bed->messages[0].send_wait_ns, 79000);
}

static void a_send_that_was_buffered_does_not_wait(void **state)
{
    struct bed *bed = *state;
    send_at_ns(bed, 0, 1, 1000);
    receive_between(bed, 1, 0, 80000, 90000);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->messages[0].late_receiver_ns, 79000);
    assert_int_equal(bed->messages[0].send_wait_ns, 0);
}

/* The time of MPI_Sendrecv is that of class recv already. */
static void the_send_of_a_sendrecv_does_not_wait(void **state)
{
    struct bed *bed = *state;
    struct event both = event_of(CALL_Sendrecv, SENT, 1, 5, 1000, 90000);
    give(bed, 0, both);
    receive_between(bed, 1, 0, 80000, 90000);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].send_wait_ns, 0);
}

/* Longer than the span that is stored of it. */
static void a_send_of_many_seconds_waits_until_its_receiver_comes(void **state)
{
    struct bed *bed = *state;
    give(bed, 0, event_of(CALL_Send, SENT, 1, 5, 1000, 9000 * MS));
    receive_between(bed, 1, 0, 8000 * MS, 9000 * MS);
    match_settle(bed->match, 9001 * MS);
    assert_int_equal(bed->messages[0].send_wait_ns, 8000 * MS - 1000);
}

static void a_send_of_many_seconds_to_another_node_ends_no_earlier_than_it_did(void **state)
{
    struct bed *bed = *state;
    give(bed, 0, event_of(CALL_Send, SENT, 2, 5, 1000, 9000 * MS));
    match_all_added(bed->match);
    match_settle(bed->match, 9001 * MS);
    assert_int_equal(bed->half_count, 1);
    assert_true(bed->halves[0].exit_ns >= 9000 * MS);
}

/* MPI_Waitall of two receives: one message from rank 0, one from `other`. */
static void wait_for_two(struct bed *bed, int other)
{
    with_request(bed, 1, event_of(CALL_Irecv, POSTED, 0, 5, 100, 110), 1);
    with_request(bed, 1, event_of(CALL_Irecv, POSTED, other, 6, 120, 130), 2);
    struct event first = event_of(CALL_Waitall, COMPLETED, 0, 5, 1000, 9000);
    struct event second = event_of(CALL_Waitall, COMPLETED, other, 6, 1000, 9000);
    first.parts = 1;
    second.kind = EVENT_PART;
    with_request(bed, 1, first, 1);
    with_request(bed, 1, second, 2);
}

static void a_call_that_completes_several_waits_for_the_latest(void **state)
{
    struct bed *bed = *state;
    wait_for_two(bed, 1);
    send_at_ns(bed, 0, 1, 2000);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 0); /* the other send is not known yet */
    give(bed, 1, event_of(CALL_Send, SENT, 1, 6, 8000, 8010));
    match_settle(bed->match, 3 * MS);
    assert_int_equal(bed->message_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bed->messages[i].network_ns, 1000);
        assert_int_equal(bed->messages[i].joint_ns, 0);
        assert_int_equal(bed->messages[i].transfer_ns, bed->messages[i].source == 0 ? 7000 : 1000);
    }
}

static void what_waited_for_another_node_is_joint(void **state)
{
    struct bed *bed = *state;
    wait_for_two(bed, 3);
    send_at_ns(bed, 0, 1, 2000);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->half_count, 0); /* rank 3 may yet appear here */
    match_settle(bed->match, 2 * MS + MATCH_REMOTE_AFTER_NS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].joint_ns, 7000);
    assert_int_equal(bed->messages[0].network_ns, 0);
    assert_int_equal(bed->half_count, 1);
    assert_int_equal(bed->halves[0].together, 1);
    assert_int_equal(bed->halves[0].local_ns, 2000);
    assert_int_equal(bed->halves[0].enter_ns, 1000);
    assert_int_equal(bed->halves[0].exit_ns, 9000);
    assert_true(bed->halves[0].receive);
}

/* Rounds are as far apart as windows are long. */
static void a_rank_may_appear_here_for_a_while_after_the_round_that_names_it(void **state)
{
    struct bed *bed = *state;
    match_settle(bed->match, 1000 * MS);
    send_at_ns(bed, 0, 2, 9000 * MS);
    match_settle(bed->match, 10000 * MS);
    assert_int_equal(bed->half_count, 0);
    match_settle_again(bed->match);
    match_settle(bed->match, 10000 * MS + MATCH_REMOTE_AFTER_NS);
    assert_int_equal(bed->half_count, 1);
}

/* Seldom used channels go on counting: the other node's do, whatever moment it looks through its
 * own at. */
static void messages_far_apart_have_the_next_key(void **state)
{
    struct bed *bed = *state;
    uint64_t now = 1000 * MS;
    for (uint64_t i = 0; i < 20; i++) {
        send_at_ns(bed, 0, 2, now);
        now += (1 + i * 5) * 1000 * MS;
        match_settle(bed->match, now);
        match_settle(bed->match, now + MATCH_REMOTE_AFTER_NS);
        now += MATCH_REMOTE_AFTER_NS;
    }
    assert_int_equal(bed->half_count, 20);
    for (uint64_t i = 0; i < 20; i++)
        assert_true(bed->halves[i].key == message_key(100, 0, 2, 5, i));
}

static void both_nodes_give_a_message_the_same_key(void **state)
{
    struct bed *bed = *state;
    for (uint64_t i = 0; i < 3; i++)
        send_at_ns(bed, 0, 2, 1000 * (i + 1));
    match_settle(bed->match, 2 * MS);
    match_settle(bed->match, 2 * MS + MATCH_REMOTE_AFTER_NS);
    assert_int_equal(bed->half_count, 3);
    for (uint64_t i = 0; i < 3; i++)
        assert_true(bed->halves[i].key == message_key(100, 0, 2, 5, i));
    struct bed *other;
    assert_int_equal(set_up((void **)&other), 0);
    match_remove(other->match, other->members[0]);
    other->members[0] = match_add(other->match, 2); /* of another node */
    match_settle(other->match, MS + MATCH_REMOTE_AFTER_NS);
    struct match_source source = {&other->clock, 0, bed_comm, other};
    for (uint64_t i = 0; i < 3; i++) {
        struct event event = event_of(CALL_Recv, RECEIVED, 3, 5, 1000 * i + 1, 1000 * i + 2);
        match_events(other->match, other->members[0], &source, &event, 1);
    }
    match_settle(other->match, 2 * MS + 2 * MATCH_REMOTE_AFTER_NS);
    match_settle(other->match, 3 * MS + 3 * MATCH_REMOTE_AFTER_NS);
    assert_int_equal(other->half_count, 3);
    for (uint64_t i = 0; i < 3; i++)
        assert_true(other->halves[i].key == message_key(100, 3, 2, 5, i));
    tear_down((void **)&other);
}

static void ends_that_wait_for_an_unknown_rank_are_reported_when_none_can_be_added(void **state)
{
    struct bed *bed = *state;
    send_at_ns(bed, 0, 2, 1000);
    match_settle(bed->match, 2 * MS);
    match_remove(bed->match, bed->members[0]);
    match_settle(bed->match, 3 * MS);
    assert_int_equal(bed->half_count, 0);
    match_all_added(bed->match);
    match_settle(bed->match, 4 * MS);
    assert_int_equal(bed->half_count, 1);
    assert_true(bed->halves[0].key == message_key(100, 0, 2, 5, 0));
    assert_int_equal(match_counts(bed->match).unmatched, 0);
}

static void a_rank_that_is_added_after_the_last_one_makes_others_wait_again(void **state)
{
    struct bed *bed = *state;
    match_all_added(bed->match);
    assert_non_null(match_add(bed->match, 2));
    send_at_ns(bed, 0, 3, 1000);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->half_count, 0);
    match_all_added(bed->match);
    match_settle(bed->match, 3 * MS);
    assert_int_equal(bed->half_count, 1); /* at once */
}

static void keys_are_mixed_one_to_one(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    assert_true(message_key_mix(0) == 0);
    for (unsigned i = 0; i < 100000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t x = i < 1000 ? i : random >> i % 64;
        assert_true(message_key_unmix(message_key_mix(x)) == x);
        assert_true(message_key_mix(message_key_unmix(x)) == x);
    }
}

/* Mixed back and less its ranks, a key tells the messages of a communicator by tag and ordinal:
 * that is what recordings count on. */
static void keys_of_a_channel_follow_one_another(void **state)
{
    (void)state;
    uint64_t world = message_key_unmix(message_key(7, 3, 4, 0, 0)) - message_key_ranks(3, 4);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t from = i * 7 % 64, to = (i * 5 + 1) % 64;
        uint64_t key = message_key(7, from, to, (int32_t)(i % 3), i);
        uint64_t number = message_key_unmix(key) - message_key_ranks(from, to);
        assert_true(number - world == ((uint64_t)(i % 3) << 32) + i);
    }
}

/* Those of the lowest keys are kept: about as many of each channel as of any other. */
static void low_keys_are_a_fair_sample(void **state)
{
    (void)state;
    for (uint32_t channel = 0; channel < 64; channel++) {
        unsigned low = 0;
        for (uint64_t i = 0; i < 4096; i++)
            low += message_key(1, channel / 8, channel % 8, (int32_t)(channel % 3), i) >> 60 == 0;
        /* One in sixteen: 256, the standard deviation is 15.5. */
        assert_in_range(low, 256 - 80, 256 + 80);
    }
}

static void a_rank_that_appears_late_is_matched_from_its_start(void **state)
{
    struct bed *bed = *state;
    send_at_ns(bed, 0, 2, 1000);
    match_settle(bed->match, 2 * MS);
    struct match_member *late = match_add(bed->match, 2);
    struct match_source source = {&bed->clock, 0, bed_comm, bed};
    struct event event = event_of(CALL_Recv, RECEIVED, 0, 5, 500, 2000);
    match_events(bed->match, late, &source, &event, 1);
    match_settle(bed->match, 3 * MS);
    match_settle(bed->match, 3 * MS + 2 * MATCH_REMOTE_AFTER_NS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->half_count, 0);
    assert_int_equal(match_counts(bed->match).unmatched, 0);
}

static void an_earlier_wildcard_holds_later_receives(void **state)
{
    struct bed *bed = *state;
    with_request(bed, 1, event_of(CALL_Irecv, POSTED | EVENT_WILDCARD, PEER_ANY, 5, 100, 110), 1);
    with_request(bed, 1, event_of(CALL_Irecv, POSTED, 0, 5, 120, 130), 2);
    send_at_ns(bed, 0, 1, 1000);
    send_at_ns(bed, 0, 1, 2000);
    with_request(bed, 1, event_of(CALL_Waitany, COMPLETED, 0, 5, 3000, 3100), 2);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 0);
    with_request(bed, 1, event_of(CALL_Wait, COMPLETED | EVENT_WILDCARD, 0, 5, 4000, 4100), 1);
    match_settle(bed->match, 3 * MS);
    assert_int_equal(bed->message_count, 2);
    assert_int_equal(bed->messages[0].transfer_ns, 3100); /* the first send with the wildcard */
    assert_int_equal(bed->messages[1].transfer_ns, 1100);
}

/* Records of traces about receives whose statuses the program ignored. */
static void a_wildcard_that_took_an_unknown_message_leaves_the_order_unknown(void **state)
{
    struct bed *bed = *state;
    with_request(bed, 1, event_of(CALL_Irecv, POSTED | EVENT_WILDCARD, PEER_ANY, 5, 100, 110), 1);
    send_at_ns(bed, 0, 1, 1000);
    send_at_ns(bed, 0, 1, 2000);
    with_request(bed, 1, event_of(CALL_Wait, COMPLETED | EVENT_WILDCARD, PEER_ANY, 5, 3000, 3100),
                 1);
    receive_between(bed, 1, 0, 4000, 4100); /* takes the second */
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 0);
}

static void a_wildcard_for_another_tag_holds_nothing(void **state)
{
    struct bed *bed = *state;
    with_request(bed, 1, event_of(CALL_Irecv, POSTED | EVENT_WILDCARD, PEER_ANY, 99, 100, 110), 1);
    send_at_ns(bed, 0, 1, 1000);
    receive_between(bed, 1, 0, 2000, 2100);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
}

static void a_cancelled_receive_takes_no_message(void **state)
{
    struct bed *bed = *state;
    with_request(bed, 1, event_of(CALL_Irecv, POSTED, 0, 5, 100, 110), 1);
    with_request(bed, 1, event_of(CALL_Wait, EVENT_RECV | EVENT_CANCELLED, 0, 5, 200, 210), 1);
    send_at_ns(bed, 0, 1, 1000);
    receive_between(bed, 1, 0, 2000, 2100);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 1100);
}

static void a_cancelled_send_is_taken_back(void **state)
{
    struct bed *bed = *state;
    with_request(bed, 0, event_of(CALL_Isend, EVENT_SEND | EVENT_POST, 1, 5, 100, 110), 7);
    with_request(bed, 0, event_of(CALL_Wait, EVENT_SEND | EVENT_CANCELLED, 1, 5, 200, 210), 7);
    send_at_ns(bed, 0, 1, 1000);
    receive_between(bed, 1, 0, 2000, 2100);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 1100);
}

static void a_freed_receive_takes_its_message_unseen(void **state)
{
    struct bed *bed = *state;
    with_request(bed, 1, event_of(CALL_Irecv, POSTED, 0, 5, 100, 110), 1);
    with_request(bed, 1, event_of(CALL_Request_free, EVENT_UNTRACKED, 0, 5, 200, 210), 1);
    send_at_ns(bed, 0, 1, 1000);
    send_at_ns(bed, 0, 1, 1500);
    receive_between(bed, 1, 0, 2000, 2100);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 600);
    assert_int_equal(match_counts(bed->match).unmatched, 1);
}

static void no_message_is_sent_to_nobody(void **state)
{
    struct bed *bed = *state;
    give(bed, 0, event_of(CALL_Send, SENT, PEER_NULL, 5, 100, 110));
    give(bed, 0, event_of(CALL_Recv, RECEIVED, PEER_NULL, TAG_ANY, 200, 210));
    give(bed, 0, event_of(CALL_Send, SENT, PEER_UNKNOWN, 5, 300, 310));
    give(bed, 0, event_of(CALL_Send, SENT, RANKS, 5, 400, 410)); /* no such rank */
    send_at_ns(bed, 0, 0, 500);                                  /* to itself */
    receive_between(bed, 0, 0, 600, 700);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 200);
    assert_int_equal(match_counts(bed->match).unmatched, 0);
}

static void sizes_that_differ_are_rejected(void **state)
{
    struct bed *bed = *state;
    struct event event = event_of(CALL_Send, SENT, 1, 5, 100, 110);
    event.bytes = 16;
    give(bed, 0, event);
    receive_between(bed, 1, 0, 200, 300);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 0);
    assert_int_equal(match_counts(bed->match).rejected, 1);
    send_at_ns(bed, 0, 1, 1000); /* out of step now: not matched, but counted */
    receive_between(bed, 1, 0, 2000, 2100);
    match_settle(bed->match, 3 * MS);
    match_settle(bed->match, 4 * MS);
    assert_int_equal(bed->message_count, 0);
    assert_int_equal(match_counts(bed->match).unmatched, 2);
}

static void a_receive_that_ended_before_its_send_is_rejected(void **state)
{
    struct bed *bed = *state;
    receive_between(bed, 1, 0, 100, 200);
    send_at_ns(bed, 0, 1, MS);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 0);
    assert_int_equal(match_counts(bed->match).rejected, 1);
}

/* Tight exchanges, which give no evidence of being synchronised: each tag is a channel. */
static void exchange_tightly(struct bed *bed, int tag, uint64_t begin)
{
    for (uint64_t at = begin; at < begin + 1000; at += 100) {
        give(bed, 0, event_of(CALL_Send, SENT, 1, tag, at, at + 10));
        give(bed, 1, event_of(CALL_Recv, RECEIVED, 0, tag, at, at + 20));
    }
    match_settle(bed->match, begin + MS);
}

static void a_send_that_was_refused_moves_no_other_message(void **state)
{
    struct bed *bed = *state;
    exchange_tightly(bed, 5, MS);
    give(bed, 0, event_of(CALL_Send, EVENT_FAILED | EVENT_REFUSED, 1, 5, 3 * MS, 3 * MS + 10));
    give(bed, 0,
         event_of(CALL_Isend, EVENT_FAILED | EVENT_REFUSED, PEER_UNKNOWN, 5, 3 * MS + 20,
                  3 * MS + 30));
    exchange_tightly(bed, 5, 4 * MS);
    assert_int_equal(match_counts(bed->match).matched, 20);
    assert_int_equal(match_counts(bed->match).unmatched, 0);
}

static void a_call_that_failed_affects_only_the_channel_that_it_names(void **state)
{
    struct bed *bed = *state;
    exchange_tightly(bed, 5, MS);
    exchange_tightly(bed, 6, 3 * MS);
    give(bed, 0, event_of(CALL_Send, EVENT_FAILED, PEER_UNKNOWN, 6, 5 * MS, 5 * MS + 10));
    give(bed, 0, event_of(CALL_Send, EVENT_FAILED, 1, 7, 5 * MS + 20, 5 * MS + 30));
    give(bed, 1, event_of(CALL_Recv, EVENT_FAILED, 0, 8, 5 * MS + 20, 5 * MS + 30));
    exchange_tightly(bed, 5, 6 * MS);
    exchange_tightly(bed, 6, 8 * MS);
    assert_int_equal(match_counts(bed->match).matched, 40);
    exchange_tightly(bed, 7, 10 * MS);
    exchange_tightly(bed, 8, 12 * MS);
    match_settle(bed->match, 14 * MS);
    match_remove(bed->match, bed->members[0]);
    match_remove(bed->match, bed->members[1]);
    bed->members[0] = bed->members[1] = NULL;
    assert_int_equal(match_counts(bed->match).matched, 40);
    assert_int_equal(match_counts(bed->match).unmatched, 40);
}

static void messages_of_partitioned_requests_are_counted_as_unmatched(void **state)
{
    struct bed *bed = *state;
    with_request(bed, 0, event_of(CALL_Psend_init, EVENT_PERSISTENT, 1, 5, 10, 20), 3);
    with_request(bed, 0,
                 event_of(CALL_Start, EVENT_SEND | EVENT_POST | EVENT_PERSISTENT, 1, 5, 30, 40), 3);
    send_at_ns(bed, 0, 1, 1000);
    receive_between(bed, 1, 0, 2000, 2100);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 1100);
    assert_int_equal(match_counts(bed->match).unmatched, 1);
}

static void messages_after_a_pause_are_matched_and_those_of_it_are_not_reported(void **state)
{
    struct bed *bed = *state;
    for (uint64_t i = 0; i < 4; i++) { /* 0: in the pause; 1: sent in it; 2: received in it */
        uint64_t at = 1000 * (i + 1);
        uint32_t sent = i < 2 ? EVENT_PAUSED : 0, received = i % 2 == 0 ? EVENT_PAUSED : 0;
        give(bed, 0, event_of(CALL_Send, SENT | sent, 1, 5, at, at + 10));
        give(bed, 1, event_of(CALL_Recv, RECEIVED | received, 0, 5, at, at + 100 + i));
        give(bed, 0, event_of(CALL_Send, SENT | sent, 2, 5, at, at + 10)); /* on another node */
    }
    match_all_added(bed->match);
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 103);
    assert_int_equal(match_counts(bed->match).matched, 1);
    assert_int_equal(match_counts(bed->match).unmatched, 2);
    assert_int_equal(bed->half_count, 2);
    assert_true(bed->halves[0].key == message_key(100, 0, 2, 5, 2));
}

static void contradictions_of_a_pause_are_not_counted_as_rejected(void **state)
{
    struct bed *bed = *state;
    for (int i = 0; i < 3; i++) { /* 0: in the pause; 1: sent in it; 2: received in it */
        uint32_t sent = i < 2 ? EVENT_PAUSED : 0, received = i != 1 ? EVENT_PAUSED : 0;
        struct event receive = event_of(CALL_Recv, RECEIVED | received, 0, i, 1000, 1100);
        receive.bytes++;
        give(bed, 0, event_of(CALL_Send, SENT | sent, 1, i, 1000, 1010));
        give(bed, 1, receive);
    }
    match_settle(bed->match, 2 * MS);
    assert_int_equal(bed->message_count, 0);
    assert_int_equal(match_counts(bed->match).rejected, 0);
    assert_int_equal(match_counts(bed->match).unmatched, 2);
}

/* Messages of a receiver that waits long before each is sent. */
static void exchange(struct bed *bed, uint64_t begin, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t at = begin + i * 10 * MS;
        receive_between(bed, 1, 0, at, at + 5 * MS + 1000);
        send_at_ns(bed, 0, 1, at + 5 * MS);
        match_settle(bed->match, at + 6 * MS);
        match_settle(bed->match, at + 7 * MS);
    }
}

static void after_lost_records_only_certain_messages_are_matched(void **state)
{
    struct bed *bed = *state;
    send_at_ns(bed, 0, 1, MS);
    match_lost(bed->match, bed->members[0]);
    for (uint64_t i = 0; i < 6; i++) { /* the receiver comes late: who knows which is which */
        send_at_ns(bed, 0, 1, (10 + i) * MS);
        receive_between(bed, 1, 0, (10 + i) * MS + 2000, (10 + i) * MS + 2100);
        match_settle(bed->match, (10 + i) * MS + 3000);
    }
    match_settle(bed->match, 50 * MS);
    assert_int_equal(bed->message_count, 0);
    assert_int_equal(match_counts(bed->match).unmatched, 13);
    exchange(bed, 100 * MS, 10); /* the receiver waits: each ends the wait for it */
    assert_true(bed->message_count >= 6);
    for (unsigned i = 0; i < bed->message_count; i++)
        assert_int_equal(bed->messages[i].transfer_ns, 1000);
    assert_int_equal(match_counts(bed->match).rejected, 0);
}

static void communicators_made_after_the_loss_are_in_step(void **state)
{
    struct bed *bed = *state;
    match_lost(bed->match, bed->members[0]);
    bed->fresh = 1;
    struct event sent = event_of(CALL_Send, SENT, 1, 5, 100, 110),
                 received = event_of(CALL_Recv, RECEIVED, 0, 5, 90, 200);
    sent.comm = received.comm = 9;
    give(bed, 1, received);
    match_settle(bed->match, 2 * MS);
    give(bed, 0, sent);
    match_settle(bed->match, 3 * MS);
    assert_int_equal(bed->message_count, 1);
}

/* The first receive of the batch took the first message, but its record names no channel. */
static void communicators_made_before_a_loss_of_the_same_batch_are_not_in_step(void **state)
{
    struct bed *bed = *state;
    match_lost(bed->match, bed->members[1]);
    bed->fresh = 1;
    struct event received[] = {event_of(CALL_Recv, RECEIVED, PEER_ANY, 5, 90, 200),
                               event_of(CALL_Recv, RECEIVED, 0, 5, 350, 400)};
    received[0].comm = received[1].comm = 9;
    struct match_source source = {&bed->clock, 0, bed_comm, bed};
    match_events(bed->match, bed->members[1], &source, received, 2);
    for (uint64_t enter = 100; enter < 400; enter += 200) {
        struct event sent = event_of(CALL_Send, SENT, 1, 5, enter, enter + 10);
        sent.comm = 9;
        give(bed, 0, sent);
    }
    match_settle(bed->match, 2 * MS);
    match_settle(bed->match, 3 * MS);
    assert_int_equal(bed->message_count, 0);
}

static void open_receives_are_reported_oldest_first(void **state)
{
    struct bed *bed = *state;
    struct match_open open[4];
    with_request(bed, 1, event_of(CALL_Irecv, POSTED, 0, 5, 100, 110), 1);
    with_request(bed, 1, event_of(CALL_Irecv, POSTED | EVENT_WILDCARD, PEER_ANY, TAG_ANY, 120, 130),
                 2);
    with_request(bed, 1, event_of(CALL_Irecv, POSTED, 3, 8, 140, 150), 3);
    with_request(bed, 1, event_of(CALL_Wait, COMPLETED, 0, 5, 200, 300), 1);
    assert_int_equal(match_open_receives(bed->match, bed->members[1], open, 4), 2);
    assert_int_equal(open[0].source, PEER_ANY);
    assert_int_equal(open[0].tag, TAG_ANY);
    assert_int_equal(open[1].source, 3);
    assert_int_equal(open[1].tag, 8);
    assert_int_equal(open[1].comm, 100);
    assert_int_equal(match_open_receives(bed->match, bed->members[1], open, 1), 1);
    assert_int_equal(open[0].source, PEER_ANY);
}

static void what_a_rank_that_is_gone_has_sent_still_arrives(void **state)
{
    struct bed *bed = *state;
    send_at_ns(bed, 0, 1, 1000);
    send_at_ns(bed, 0, 1, 1100);
    match_settle(bed->match, 2 * MS);
    match_remove(bed->match, bed->members[0]);
    receive_between(bed, 1, 0, 2000, 2100);
    match_settle(bed->match, 3 * MS);
    assert_int_equal(bed->message_count, 1);
    match_remove(bed->match, bed->members[1]);
    assert_int_equal(match_counts(bed->match).unmatched, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_is_matched_rightly),
        cmocka_unit_test(threads_with_tags_of_their_own_are_all_matched),
        cmocka_unit_test(what_other_threads_complete_is_all_matched),
        cmocka_unit_test(threads_on_the_same_tags_are_never_matched_wrongly),
        cmocka_unit_test(lost_records_never_make_a_wrong_match),
        cmocka_unit_test(a_matcher_made_of_the_bytes_of_another_matches_every_message),
        cmocka_unit_test(a_matcher_cannot_be_made_of_a_part_of_its_bytes),
        cmocka_unit_test_setup_teardown(times_of_a_late_sender, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_of_a_late_receiver, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_blocking_send_waits_until_its_receiver_comes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_send_that_was_buffered_does_not_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_send_of_a_sendrecv_does_not_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_send_of_many_seconds_waits_until_its_receiver_comes,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_send_of_many_seconds_to_another_node_ends_no_earlier_than_it_did, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_that_completes_several_waits_for_the_latest, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_waited_for_another_node_is_joint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_nodes_give_a_message_the_same_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_rank_may_appear_here_for_a_while_after_the_round_that_names_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_far_apart_have_the_next_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rank_that_appears_late_is_matched_from_its_start, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_earlier_wildcard_holds_later_receives, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_wildcard_that_took_an_unknown_message_leaves_the_order_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wildcard_for_another_tag_holds_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_receive_takes_no_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_send_is_taken_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_freed_receive_takes_its_message_unseen, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(no_message_is_sent_to_nobody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_that_differ_are_rejected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_receive_that_ended_before_its_send_is_rejected, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_send_that_was_refused_moves_no_other_message, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_call_that_failed_affects_only_the_channel_that_it_names,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            messages_after_a_pause_are_matched_and_those_of_it_are_not_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(contradictions_of_a_pause_are_not_counted_as_rejected,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_of_partitioned_requests_are_counted_as_unmatched,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(after_lost_records_only_certain_messages_are_matched,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            ends_that_wait_for_an_unknown_rank_are_reported_when_none_can_be_added, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_rank_that_is_added_after_the_last_one_makes_others_wait_again, set_up, tear_down),
        cmocka_unit_test(keys_are_mixed_one_to_one),
        cmocka_unit_test(keys_of_a_channel_follow_one_another),
        cmocka_unit_test(low_keys_are_a_fair_sample),
        cmocka_unit_test_setup_teardown(communicators_made_after_the_loss_are_in_step, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            communicators_made_before_a_loss_of_the_same_batch_are_not_in_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(open_receives_are_reported_oldest_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_rank_that_is_gone_has_sent_still_arrives, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
