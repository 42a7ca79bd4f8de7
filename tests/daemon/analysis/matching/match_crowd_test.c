/* The matcher where the other ends of messages do not come: what it holds is bounded, and each end
 * is counted once. */
#include "daemon/analysis/matching/match.h"

#include "holter/call.h"

#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 512u
#define BATCH 32u
#define TAGS 256 /* enough of them for more channels than there is room for */

struct crowd {
    struct match *match;
    struct match_member *members[RANKS];
    struct tick_clock clock;
    uint64_t now_ns, seed, sends, receives, reported;
    size_t bytes_before, most_bytes;
};

static void on_message(void *user, const struct match_message *message)
{
    struct crowd *crowd = user;
    assert_true(message->source < RANKS && message->destination < RANKS);
    crowd->reported++;
}

static void on_half(void *user, const struct match_half *half)
{
    (void)user;
    (void)half;
    fail_msg("all ranks are members");
}

static void count_half(void *user, const struct match_half *half)
{
    assert_false(half->receive);
    ++*(uint64_t *)user;
}

static uint64_t comm_id(void *user, uint32_t slot, int *fresh)
{
    (void)user;
    *fresh = 0;
    return 100 + slot;
}

static uint32_t draw(struct crowd *crowd, uint32_t below)
{
    crowd->seed = crowd->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(crowd->seed >> 33) % below;
}

static void begin(struct crowd *crowd, uint64_t seed)
{
    struct match_sink sink = {on_message, on_half, crowd};
    *crowd = (struct crowd){.seed = seed, .now_ns = 1000, .bytes_before = memory_used()};
    assert_int_equal(match_create(&crowd->match, RANKS, &sink), 0);
    tick_clock_init_ns(&crowd->clock);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_non_null(crowd->members[r] = match_add(crowd->match, r));
    match_all_added(crowd->match);
}

static struct event end_of(struct crowd *crowd, int sends, uint32_t peer, int32_t tag)
{
    crowd->now_ns += 10;
    crowd->sends += (uint64_t)sends;
    crowd->receives += (uint64_t)!sends;
    return (struct event){
        .kind = EVENT_CALL,
        .call = sends ? CALL_Send : CALL_Recv,
        .flags = (uint16_t)((sends ? EVENT_SEND : EVENT_RECV) | EVENT_POST | EVENT_DONE),
        .peer = (int32_t)peer,
        .tag = tag,
        .bytes = 8 * (1 + draw(crowd, 2)), /* a pair of other sizes is rejected */
        .t_enter = crowd->now_ns,
        .t_exit = crowd->now_ns + 5};
}

static void give(struct crowd *crowd, uint32_t rank, const struct event *events, size_t count)
{
    struct match_source source = {&crowd->clock, 0, comm_id, NULL};
    match_events(crowd->match, crowd->members[rank], &source, events, count);
    size_t bytes = memory_used() - crowd->bytes_before;
    crowd->most_bytes = bytes > crowd->most_bytes ? bytes : crowd->most_bytes;
}

/* All ranks are gone. @return what became of the ends */
static struct match_counts end(struct crowd *crowd)
{
    match_settle(crowd->match, crowd->now_ns);
    for (uint32_t r = 0; r < RANKS; r++)
        match_remove(crowd->match, crowd->members[r]);
    match_settle(crowd->match, crowd->now_ns + 1);
    struct match_counts counts = match_counts(crowd->match);
    match_destroy(crowd->match);
    assert_int_equal(crowd->reported, counts.matched);
    assert_int_equal(crowd->sends + crowd->receives,
                     2 * counts.matched + 2 * counts.rejected + counts.unmatched);
    return counts;
}

static void ends_that_hardly_match_are_bounded_and_counted(void **state)
{
    struct crowd crowd;
    (void)state;
    begin(&crowd, 7);
    for (unsigned round = 0; round < 50; round++)
        for (uint32_t r = 0; r < RANKS; r++) {
            struct event events[BATCH];
            for (uint32_t i = 0; i < BATCH; i++)
                events[i] =
                    end_of(&crowd, i % 2 == 0, draw(&crowd, 8) * (RANKS / 8), (int)draw(&crowd, 4));
            give(&crowd, r, events, BATCH);
        }
    struct match_counts counts = end(&crowd);
    assert_true(counts.matched > 0 && counts.rejected > 0);
    assert_true(counts.unmatched > crowd.sends);
    assert_true(crowd.most_bytes < (size_t)64 << 20);
}

static void channels_beyond_the_capacity_are_counted(void **state)
{
    struct crowd crowd;
    (void)state;
    begin(&crowd, 9);
    for (int tag = 0; tag < TAGS; tag++)
        for (uint32_t r = 0; r < RANKS; r++) {
            struct event events[] = {end_of(&crowd, 1, (r + 1) % RANKS, tag),
                                     end_of(&crowd, 0, (r + 3) % RANKS, tag)};
            give(&crowd, r, events, 2);
        }
    struct match_counts counts = end(&crowd);
    assert_int_equal(counts.matched, 0);
    assert_int_equal(counts.unmatched, crowd.sends + crowd.receives);
}

/* Idle channels to other nodes are kept, but not for ever: here are more than there is room for. */
static void idle_channels_to_other_nodes_are_evicted_for_new_ones(void **state)
{
    const int each = 100000;
    struct crowd crowd;
    uint64_t halves = 0;
    (void)state;
    struct match_sink sink = {on_message, count_half, &halves};
    crowd = (struct crowd){.seed = 5, .now_ns = UINT64_C(1000000000)};
    assert_int_equal(match_create(&crowd.match, RANKS, &sink), 0);
    tick_clock_init_ns(&crowd.clock);
    assert_non_null(crowd.members[0] = match_add(crowd.match, 0));
    match_all_added(crowd.match);
    for (int tag = 0; tag < 3 * each; tag++) {
        struct event event = end_of(&crowd, 1, 1, tag);
        give(&crowd, 0, &event, 1);
        if ((tag + 1) % each != 0)
            continue;
        for (int i = 0; i < 20; i++) /* two minutes */
            match_settle(crowd.match, crowd.now_ns += UINT64_C(6000000000));
    }
    assert_int_equal(halves, 3 * each);
    assert_int_equal(match_counts(crowd.match).unmatched, 0);
    match_destroy(crowd.match);
}

static struct event post_of(struct crowd *crowd, uint32_t request)
{
    struct event post = end_of(crowd, 0, 1, 5);
    crowd->receives--;
    post.call = CALL_Irecv;
    post.flags = EVENT_RECV | EVENT_POST;
    post.request = request;
    return post;
}

static struct event wait_of(struct crowd *crowd, const struct event *post)
{
    struct event wait = end_of(crowd, 0, 1, 5);
    wait.call = CALL_Wait;
    wait.flags = EVENT_RECV | EVENT_DONE;
    wait.request = post->request;
    wait.t_post = post->t_enter;
    return wait;
}

/* Each of these ends is looked for among all receives that are open, however often channels are
 * settled in between. */
static void ends_without_a_post_are_looked_for_in_a_bounded_number_of_steps(void **state)
{
    enum { OPEN = 16000, FEW = 100, MANY = 300000, TURN = 64 };
    struct crowd crowd;
    struct match_open left[1];
    (void)state;
    begin(&crowd, 3);
    struct event dropped = post_of(&crowd, 7);
    for (uint32_t i = 0; i < OPEN; i++) {
        struct event post = post_of(&crowd, 10 + i);
        give(&crowd, 0, &post, 1);
    }
    for (uint32_t i = 0; i < FEW; i++) {
        struct event wait = wait_of(&crowd, &dropped);
        give(&crowd, 0, &wait, 1);
    }
    assert_int_equal(match_open_receives(crowd.match, crowd.members[0], left, 1), 1);
    match_settle_again(crowd.match); /* drops the few */
    for (uint32_t i = 0; i < MANY; i++) {
        struct event wait = wait_of(&crowd, &dropped);
        give(&crowd, 0, &wait, 1);
        if (i % TURN == 0)
            match_settle_again(crowd.match);
        if (i == 10 * TURN)
            assert_int_equal(match_open_receives(crowd.match, crowd.members[0], left, 1), 0);
    }
    struct match_counts counts = end(&crowd);
    assert_int_equal(counts.unmatched, FEW + MANY);
}

/* Requests that are never completed stand before those that are. */
static void receives_without_an_end_do_not_hold_the_others_up(void **state)
{
    enum { OPEN = 100000, LATER = 20000 };
    struct crowd crowd;
    (void)state;
    begin(&crowd, 3);
    for (uint32_t i = 0; i < OPEN; i++) {
        struct event post = post_of(&crowd, i + 1);
        give(&crowd, 0, &post, 1);
    }
    for (uint32_t i = 0; i < LATER; i++) {
        struct event post = post_of(&crowd, OPEN + i + 1), wait = wait_of(&crowd, &post);
        give(&crowd, 0, &post, 1);
        give(&crowd, 0, &wait, 1);
    }
    struct match_counts counts = end(&crowd);
    assert_int_equal(counts.unmatched, LATER);
}

static void count_message(void *user, const struct match_message *message)
{
    (void)message;
    ++*(uint64_t *)user;
}

/* As many ranks as there is room for: those that are there are still found. */
static void the_ranks_of_a_full_node_are_matched(void **state)
{
    enum { MANY = 1 << 20 };
    (void)state;
    struct crowd crowd = {.now_ns = 1000};
    uint64_t reported = 0;
    struct match_sink sink = {count_message, on_half, &reported};
    struct match_member *first = NULL, *last = NULL;
    assert_int_equal(match_create(&crowd.match, MANY, &sink), 0);
    tick_clock_init_ns(&crowd.clock);
    for (uint32_t r = 0; r < MANY; r++) {
        assert_non_null(last = match_add(crowd.match, r));
        first = r == 0 ? last : first;
    }
    match_all_added(crowd.match);
    crowd.members[0] = first;
    crowd.members[1] = last;
    struct event send = end_of(&crowd, 1, MANY - 1, 5), receive = end_of(&crowd, 0, 0, 5);
    receive.bytes = send.bytes;
    give(&crowd, 0, &send, 1);
    give(&crowd, 1, &receive, 1);
    match_settle(crowd.match, crowd.now_ns + 1000);
    assert_int_equal(match_counts(crowd.match).matched, 1);
    assert_int_equal(reported, 1);
    match_destroy(crowd.match);
}

/* All are posted before the first of them completes: the ends of those that did not fit are
 * counted, and none takes longer than the others. */
static void more_open_receives_than_fit_are_counted(void **state)
{
    enum { OPEN = 700000, STEP = 500 };
    struct crowd crowd;
    (void)state;
    begin(&crowd, 4);
    for (uint32_t i = 0; i < 2 * OPEN; i += STEP) {
        struct event events[STEP];
        for (uint32_t k = 0; k < STEP; k++) {
            struct event *event = &events[k];
            *event = end_of(&crowd, 0, 1, 5);
            event->request = (i + k) % OPEN + 1;
            event->call = i < OPEN ? CALL_Irecv : CALL_Wait;
            event->flags = EVENT_RECV | (i < OPEN ? EVENT_POST : EVENT_DONE);
            event->t_post = 1010 + 10 * (uint64_t)(event->request - 1);
        }
        give(&crowd, 0, events, STEP);
    }
    crowd.receives = OPEN;
    assert_int_equal(end(&crowd).unmatched, OPEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_that_hardly_match_are_bounded_and_counted),
        cmocka_unit_test(channels_beyond_the_capacity_are_counted),
        cmocka_unit_test(idle_channels_to_other_nodes_are_evicted_for_new_ones),
        cmocka_unit_test(ends_without_a_post_are_looked_for_in_a_bounded_number_of_steps),
        cmocka_unit_test(receives_without_an_end_do_not_hold_the_others_up),
        cmocka_unit_test(more_open_receives_than_fit_are_counted),
        cmocka_unit_test(the_ranks_of_a_full_node_are_matched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
