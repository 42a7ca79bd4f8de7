/* Messages of a rank of two threads, from its rings to matches: whichever ring is looked at first,
 * however full. */
#include "agent/node/rank_drain.h"
#include "agent/node/rank_match.h"
#include "daemon/analysis/matching/match.h"

#include "holter/clock.h"
#include "tests/agent/node/fake_rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define SESSION "7e57c"
#define CAPACITY 64u /* as the rings of further threads have it */
#define MS UINT64_C(1000000)
#define MOST 64

struct bed {
    struct fake_rank fake;
    struct rank *rank;
    struct event_sum *sum;
    struct match *match;
    struct tick_clock plain;
    struct event batch[RANK_BATCH];
    uint64_t now_ns;   /* of the next record: begins a second ago */
    uint64_t freed_ns; /* comm_slot.since of the next use of the slot */
    int32_t peer;      /* of the next records */
    uint64_t transfer_ns[MOST];
    unsigned messages;
};

static void keep_message(void *user, const struct match_message *message)
{
    struct bed *bed = user;
    assert_true(bed->messages < MOST);
    bed->transfer_ns[bed->messages++] = message->transfer_ns;
}

static void no_half(void *user, const struct match_half *half)
{
    (void)user;
    (void)half;
    fail_msg("the rank sends to itself");
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    struct match_sink sink = {keep_message, no_half, bed};
    if (bed == NULL ||
        fake_rank_create(&bed->fake, SESSION, (int32_t)getpid(), "job.0", 0, 1, CAPACITY) != 0 ||
        event_sum_create(&bed->sum, 1000) != 0 || match_create(&bed->match, 1, &sink) != 0 ||
        rank_open(&bed->rank, bed->fake.name, SESSION, 1) != 0 || !rank_is_initialised(bed->rank) ||
        rank_join(bed->rank, bed->sum) != 0)
        return -1;
    rank_match_start(bed->rank, bed->match);
    tick_clock_init_ns(&bed->plain);
    bed->now_ns = clock_mono_ns() - 1000 * MS;
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    rank_destroy(bed->rank);
    match_destroy(bed->match);
    event_sum_destroy(bed->sum);
    fake_rank_destroy(&bed->fake);
    free(bed);
    return 0;
}

/* A call of 10 ns, by a thread; the next one begins a microsecond later. */
static uint64_t call_on(struct bed *bed, uint32_t ring, uint16_t comm, uint16_t call_,
                        uint32_t flags, uint32_t request, uint64_t post_ns)
{
    uint64_t enter = bed->now_ns;
    struct event event = {.t_enter = enter,
                          .t_exit = enter + 10,
                          .t_post = post_ns,
                          .bytes = 8,
                          .peer = bed->peer,
                          .tag = 5,
                          .request = request,
                          .kind = EVENT_CALL,
                          .call = call_,
                          .comm = comm,
                          .flags = (uint16_t)flags};
    fake_rank_thread(&bed->fake, ring);
    fake_rank_write(&bed->fake, &event);
    bed->now_ns += 1000;
    return enter;
}

static uint64_t call(struct bed *bed, uint32_t ring, uint16_t call_, uint32_t flags,
                     uint32_t request, uint64_t post_ns)
{
    return call_on(bed, ring, 0, call_, flags, request, post_ns);
}

static void send(struct bed *bed, uint32_t ring)
{
    call(bed, ring, CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 0, 0);
}

/* One thread posts, another waits. */
static void hand_over(struct bed *bed, uint32_t from, uint32_t to, uint32_t request)
{
    uint64_t post = call(bed, from, CALL_Irecv, EVENT_RECV | EVENT_POST, request, 0);
    send(bed, from);
    call(bed, to, CALL_Wait, EVENT_RECV | EVENT_DONE, request, post);
}

static void look(struct bed *bed)
{
    uint64_t mono = clock_mono_ns(), now = bed->now_ns > mono ? bed->now_ns : mono;
    struct drain_clocks clocks = {&bed->plain, &bed->plain, now, now};
    rank_drain(bed->rank, &clocks, NULL, bed->batch);
    match_settle(bed->match, now);
}

static void assert_counts(const struct bed *bed, unsigned matched, unsigned unmatched)
{
    struct match_counts counts = match_counts(bed->match);
    assert_int_equal(counts.rejected, 0);
    assert_int_equal(counts.matched, matched);
    assert_int_equal(counts.unmatched, unmatched);
    assert_int_equal(bed->messages, matched);
    for (unsigned i = 0; i < matched; i++)
        assert_int_equal(bed->transfer_ns[i], 1010);
}

static void what_the_other_thread_posted_is_matched_in_one_look(void **state)
{
    struct bed *bed = *state;
    hand_over(bed, 1, 0, 1);
    hand_over(bed, 0, 1, 2);
    hand_over(bed, 1, 0, 3);
    look(bed);
    assert_counts(bed, 3, 0);
}

static void rings_that_fill_slowly_are_matched_however_full(void **state)
{
    struct bed *bed = *state;
    look(bed);
    for (uint32_t i = 0; i < 22; i++) { /* 44 of 64 records in its ring */
        hand_over(bed, 1, 0, i + 1);
        bed->now_ns += 10 * MS;
    }
    look(bed);
    assert_counts(bed, 22, 0);
    hand_over(bed, 1, 0, 23);
    look(bed);
    assert_counts(bed, 23, 0);
}

/* Sends of the thread whose ring was lapped are missing: the others' would be taken for them. */
static void where_one_ring_was_lapped_the_others_are_not_matched_wrongly(void **state)
{
    struct bed *bed = *state;
    for (uint32_t i = 0; i < 15; i++) {
        send(bed, 1);
        send(bed, 0);
        for (int k = 0; k < 2; k++) {
            call(bed, 0, CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, 0, 0);
            send(bed, 1);
            send(bed, 1);
        }
    }
    look(bed); /* of the 75 records of ring 1, some of the oldest are in its tally */
    assert_counts(bed, 0, (unsigned)match_counts(bed->match).unmatched);
    send(bed, 0);
    call(bed, 1, CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, 0, 0);
    look(bed);
    rank_match_stop(bed->rank);
    match_settle(bed->match, clock_mono_ns());
    assert_counts(bed, 0, (unsigned)match_counts(bed->match).unmatched);
    assert_true(match_counts(bed->match).unmatched > 60);
}

enum { SLOT = 7 };

/* The slot is free from now on, or holds the communicator of this id. */
static void use_slot(struct bed *bed, uint64_t id)
{
    struct comm_slot *slot = segment_comm(bed->fake.segment, SLOT);
    if (id == 0)
        bed->freed_ns = bed->now_ns += 10;
    else
        slot->since = bed->freed_ns;
    fake_rank_comm(&bed->fake, SLOT, id != 0 ? id : slot->id, 1, "comm");
}

static void exchange_in_slot(struct bed *bed)
{
    call_on(bed, 0, SLOT, CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 0, 0);
    call_on(bed, 0, SLOT, CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, 0, 0);
}

static void messages_of_each_communicator_that_has_a_slot_are_matched(void **state)
{
    struct bed *bed = *state;
    for (uint64_t id = 100; id < 110; id++) {
        use_slot(bed, id);
        exchange_in_slot(bed);
        look(bed);
        use_slot(bed, 0);
    }
    assert_counts(bed, 10, 0);
}

static void messages_are_matched_though_their_communicator_was_freed_meanwhile(void **state)
{
    struct bed *bed = *state;
    use_slot(bed, 100);
    exchange_in_slot(bed);
    use_slot(bed, 0);
    look(bed);
    assert_counts(bed, 1, 0);
}

/* Its records are read when the slot is another's. */
static void messages_of_the_communicator_before_are_left_out(void **state)
{
    struct bed *bed = *state;
    use_slot(bed, 100);
    exchange_in_slot(bed);
    call_on(bed, 0, SLOT, CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 0, 0);
    use_slot(bed, 0);
    use_slot(bed, 101);
    exchange_in_slot(bed);
    look(bed);
    assert_counts(bed, 1, 0);
}

/* The end of a receive whose post is not there, and that no sender is known of. */
static void a_loss_that_is_found_between_drains_is_one_of_all_communicators(void **state)
{
    struct bed *bed = *state;
    atomic_store(&bed->fake.segment->dropped, 1);
    look(bed);
    use_slot(bed, 100);
    bed->peer = PEER_ANY;
    call(bed, 0, CALL_Irecv, EVENT_RECV | EVENT_POST | EVENT_WILDCARD, 1, 0);
    call(bed, 0, CALL_Wait, EVENT_RECV | EVENT_DONE | EVENT_WILDCARD, 1, 1);
    bed->peer = 0;
    look(bed);
    assert_int_equal(match_losses(bed->rank->matching.member), 2);
    exchange_in_slot(bed);
    look(bed);
    assert_counts(bed, 0, (unsigned)match_counts(bed->match).unmatched);
}

/* A receive that was posted before the slot was another's. */
static void a_receive_ends_on_the_communicator_that_it_was_posted_on(void **state)
{
    struct bed *bed = *state;
    use_slot(bed, 100);
    uint64_t post =
        call_on(bed, 0, SLOT, CALL_Irecv, EVENT_RECV | EVENT_POST | EVENT_WILDCARD, 1, 0);
    look(bed);
    use_slot(bed, 0);
    use_slot(bed, 101);
    call_on(bed, 0, SLOT, CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 0, 0);
    call_on(bed, 0, SLOT, CALL_Wait, EVENT_RECV | EVENT_DONE | EVENT_WILDCARD, 1, post);
    look(bed);
    assert_counts(bed, 0, (unsigned)match_counts(bed->match).unmatched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_the_other_thread_posted_is_matched_in_one_look, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rings_that_fill_slowly_are_matched_however_full, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            where_one_ring_was_lapped_the_others_are_not_matched_wrongly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_of_each_communicator_that_has_a_slot_are_matched,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            messages_are_matched_though_their_communicator_was_freed_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_of_the_communicator_before_are_left_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_loss_that_is_found_between_drains_is_one_of_all_communicators, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_receive_ends_on_the_communicator_that_it_was_posted_on,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
