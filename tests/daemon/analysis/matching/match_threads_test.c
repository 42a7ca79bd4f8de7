/* The matcher where one thread completes what another has posted: rings are looked at one after the
 * other, so that an end comes before its post, or a round earlier. Rank 0 sends, rank 1 receives
 * with two threads or more. */
#include "daemon/analysis/matching/match.h"

#include "holter/call.h"

#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define MOST 16

struct bed {
    struct match *match;
    struct match_member *members[2];
    struct match_message messages[MOST];
    unsigned message_count;
    uint64_t now_ns;
    struct tick_clock clock;
};

enum ring { A, B, C };

static void keep_message(void *user, const struct match_message *message)
{
    struct bed *bed = user;
    assert_true(bed->message_count < MOST);
    bed->messages[bed->message_count++] = *message;
}

static void no_half(void *user, const struct match_half *half)
{
    (void)user;
    (void)half;
    fail_msg("all ranks are members");
}

static uint64_t bed_comm(void *user, uint32_t slot, int *fresh)
{
    (void)user;
    *fresh = 0;
    return 100 + slot;
}

/* All rings were looked at. */
static void end_round(struct bed *bed)
{
    bed->now_ns += 100 * MS;
    match_known_until(bed->match, bed->members[1], bed->now_ns);
    match_settle(bed->match, bed->now_ns);
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    struct match_sink sink = {keep_message, no_half, bed};
    if (bed == NULL || match_create(&bed->match, 2, &sink) != 0)
        return -1;
    tick_clock_init_ns(&bed->clock);
    bed->members[0] = match_add(bed->match, 0);
    bed->members[1] = match_add(bed->match, 1);
    end_round(bed);
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

static void give(struct bed *bed, int rank, uint32_t ring, struct event event)
{
    struct match_source source = {&bed->clock, ring, bed_comm, NULL};
    match_events(bed->match, bed->members[rank], &source, &event, 1);
}

static struct event event_of(uint16_t call, uint32_t flags, int tag, uint32_t request,
                             uint64_t enter)
{
    return (struct event){.kind = EVENT_CALL,
                          .call = call,
                          .flags = (uint16_t)flags,
                          .tag = tag,
                          .bytes = 8,
                          .request = request,
                          .t_enter = enter,
                          .t_exit = enter + 10};
}

static void send(struct bed *bed, int tag, uint64_t enter)
{
    struct event event = event_of(CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, tag, 0, enter);
    event.peer = 1;
    give(bed, 0, A, event);
}

static struct event posted(int tag, uint32_t request, uint64_t enter)
{
    return event_of(CALL_Irecv, EVENT_RECV | EVENT_POST, tag, request, enter);
}

static struct event waited(int tag, uint32_t request, uint64_t post, uint64_t enter)
{
    struct event event = event_of(CALL_Wait, EVENT_RECV | EVENT_DONE, tag, request, enter);
    event.t_post = post;
    return event;
}

static void post(struct bed *bed, uint32_t ring, int tag, uint32_t request, uint64_t enter)
{
    give(bed, 1, ring, posted(tag, request, enter));
}

static void wait(struct bed *bed, uint32_t ring, int tag, uint32_t request, uint64_t after,
                 uint64_t enter)
{
    give(bed, 1, ring, waited(tag, request, after, enter));
}

/* So many messages were matched, and nothing was counted otherwise. */
static void assert_matched(const struct bed *bed, unsigned count)
{
    struct match_counts counts = match_counts(bed->match);
    assert_int_equal(counts.unmatched, 0);
    assert_int_equal(counts.rejected, 0);
    assert_int_equal(counts.matched, count);
    assert_int_equal(bed->message_count, count);
}

static void assert_unmatched(const struct bed *bed, unsigned matched, unsigned unmatched)
{
    struct match_counts counts = match_counts(bed->match);
    assert_int_equal(bed->message_count, matched);
    assert_int_equal(counts.unmatched, unmatched);
    assert_int_equal(counts.rejected, 0);
}

/* ---- ends and their posts ------------------------------------------------ */

static void the_post_may_be_seen_after_the_end(void **state)
{
    struct bed *bed = *state;
    wait(bed, A, 5, 1, 1000, 2000);
    post(bed, B, 5, 1, 1000);
    send(bed, 5, 1500);
    end_round(bed);
    assert_matched(bed, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 510);
    assert_int_equal(bed->messages[0].late_receiver_ns, 500);
}

static void the_end_may_be_seen_after_the_post(void **state)
{
    struct bed *bed = *state;
    post(bed, A, 5, 1, 1000);
    wait(bed, B, 5, 1, 1000, 2000);
    send(bed, 5, 1500);
    end_round(bed);
    assert_matched(bed, 1);
}

static void the_post_may_be_seen_a_round_after_the_end(void **state)
{
    struct bed *bed = *state;
    send(bed, 5, 1500);
    wait(bed, B, 5, 1, 1000, 2000);
    end_round(bed);
    assert_matched(bed, 0);
    post(bed, A, 5, 1, 1000);
    end_round(bed);
    assert_matched(bed, 1);
}

static void what_follows_in_the_channel_is_matched_too(void **state)
{
    struct bed *bed = *state;
    for (unsigned i = 0; i < 10; i++) {
        uint64_t at = 1000 * (i + 1);
        send(bed, 5, at + 100);
        wait(bed, A, 5, i + 1, at, at + 200 + i);
        post(bed, B, 5, i + 1, at);
        end_round(bed);
        assert_matched(bed, i + 1);
        assert_int_equal(bed->messages[i].transfer_ns, 110 + i);
    }
}

static void many_of_one_round_find_their_posts(void **state)
{
    struct bed *bed = *state;
    for (unsigned i = 0; i < 10; i++)
        wait(bed, A, 5, i + 1, 1000 * (i + 1), 1000 * (i + 1) + 200 + i);
    for (unsigned i = 0; i < 10; i++) {
        post(bed, B, 5, i + 1, 1000 * (i + 1));
        send(bed, 5, 1000 * (i + 1) + 100);
    }
    end_round(bed);
    assert_matched(bed, 10);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(bed->messages[i].transfer_ns, 110 + i);
}

static void wildcards_find_their_channel_by_the_end(void **state)
{
    struct bed *bed = *state;
    struct event end = waited(5, 1, 1000, 2000), any = posted(TAG_ANY, 1, 1000);
    end.flags |= EVENT_WILDCARD;
    any.flags |= EVENT_WILDCARD;
    any.peer = PEER_ANY;
    give(bed, 1, A, end);
    give(bed, 1, B, any);
    send(bed, 5, 1500);
    end_round(bed);
    assert_matched(bed, 1);
    struct match_open open[2];
    assert_int_equal(match_open_receives(bed->match, bed->members[1], open, 2), 0);
}

static void a_wildcard_whose_status_is_unknown_takes_its_post_along(void **state)
{
    struct bed *bed = *state;
    struct event end = waited(TAG_ANY, 1, 1000, 2000), any = posted(TAG_ANY, 1, 1000);
    end.flags |= EVENT_WILDCARD;
    any.flags |= EVENT_WILDCARD;
    end.peer = any.peer = PEER_ANY;
    give(bed, 1, A, end);
    give(bed, 1, B, any);
    end_round(bed);
    struct match_open open[2];
    assert_int_equal(match_open_receives(bed->match, bed->members[1], open, 2), 0);
}

/* Two requests of one MPI_Waitall, by the first the post is seen later. */
static void wait_for_two(struct bed *bed)
{
    struct event first = waited(5, 1, 1000, 2000), second = waited(6, 2, 1200, 2000);
    first.call = second.call = CALL_Waitall;
    first.parts = 1;
    second.kind = EVENT_PART;
    post(bed, A, 6, 2, 1200);
    give(bed, 1, A, first);
    give(bed, 1, A, second);
}

static void calls_that_complete_several_wait_for_all_of_them(void **state)
{
    struct bed *bed = *state;
    wait_for_two(bed);
    send(bed, 6, 2001);
    end_round(bed);
    assert_int_equal(bed->message_count, 0); /* the other's post is not known yet */
}

static void a_group_is_handed_out_with_the_last_post(void **state)
{
    struct bed *bed = *state;
    wait_for_two(bed);
    post(bed, B, 5, 1, 1000);
    send(bed, 5, 2005);
    send(bed, 6, 2002);
    end_round(bed);
    assert_matched(bed, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(bed->messages[i].network_ns, 5); /* from the latest send on */
        assert_int_equal(bed->messages[i].joint_ns, 0);
    }
}

static void a_group_with_an_unseen_post_is_joint(void **state)
{
    struct bed *bed = *state;
    wait_for_two(bed);
    send(bed, 6, 2002);
    end_round(bed);
    end_round(bed);
    assert_unmatched(bed, 1, 1);
    assert_int_equal(bed->messages[0].joint_ns, 8);
    assert_int_equal(bed->messages[0].network_ns, 0);
}

/* ---- which start of a request -------------------------------------------- */

/* Threads that take turns with one persistent request: who has waited starts it again. */
static void alternate(struct bed *bed, int first)
{
    enum { STARTS = 4 };
    for (unsigned i = 0; i < STARTS; i++)
        send(bed, 5, 1000 * (i + 1) + 100);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t ring = first ? k : 1 - k;
        for (unsigned i = 0; i < STARTS; i++) {
            uint64_t at = 1000 * (i + 1);
            if (i % 2 == ring)
                post(bed, ring, 5, 1, at);
            else
                wait(bed, ring, 5, 1, at, at + 200 + i);
        }
    }
    end_round(bed);
    assert_matched(bed, STARTS);
    for (unsigned i = 0; i < STARTS; i++)
        assert_int_equal(bed->messages[i].transfer_ns, 110 + i);
}

static void threads_may_take_turns_with_a_persistent_request(void **state)
{
    alternate(*state, 1);
}

static void whichever_ring_comes_first(void **state)
{
    alternate(*state, 0);
}

static void a_later_start_is_not_what_an_end_ended(void **state)
{
    struct bed *bed = *state;
    wait(bed, A, 5, 1, 0, 2000); /* does not say which post it ends */
    post(bed, B, 5, 1, 3000);
    send(bed, 5, 3100);
    end_round(bed);
    end_round(bed);
    assert_unmatched(bed, 0, 1);
    wait(bed, A, 5, 1, 0, 4000);
    end_round(bed);
    assert_unmatched(bed, 1, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 910);
}

static void of_unnamed_posts_the_newest_before_the_end_is_taken(void **state)
{
    struct bed *bed = *state;
    send(bed, 5, 1100);
    send(bed, 5, 3100);
    wait(bed, A, 5, 1, 0, 2000);
    wait(bed, A, 5, 1, 0, 4000);
    post(bed, B, 5, 1, 1000);
    end_round(bed);
    assert_matched(bed, 0); /* there might be another */
    post(bed, B, 5, 1, 3000);
    end_round(bed);
    end_round(bed);
    assert_matched(bed, 2);
    assert_int_equal(bed->messages[0].transfer_ns, 910);
    assert_int_equal(bed->messages[1].transfer_ns, 910);
}

/* ---- other ends ---------------------------------------------------------- */

static void a_cancelled_receive_takes_no_message(void **state)
{
    struct bed *bed = *state;
    struct event end = waited(5, 1, 1000, 1200);
    end.flags = EVENT_RECV | EVENT_CANCELLED;
    give(bed, 1, A, end);
    wait(bed, A, 5, 2, 1300, 2000);
    post(bed, B, 5, 1, 1000);
    post(bed, B, 5, 2, 1300);
    send(bed, 5, 1500);
    end_round(bed);
    assert_matched(bed, 1);
}

static void a_cancelled_wildcard_holds_nothing(void **state)
{
    struct bed *bed = *state;
    struct event end = waited(5, 1, 1000, 1200), any = posted(5, 1, 1000);
    end.flags = EVENT_RECV | EVENT_CANCELLED | EVENT_WILDCARD;
    any.flags |= EVENT_WILDCARD;
    end.peer = any.peer = PEER_ANY;
    give(bed, 1, A, end);
    post(bed, A, 5, 2, 1300);
    wait(bed, A, 5, 2, 1300, 2000);
    give(bed, 1, B, any);
    send(bed, 5, 1500);
    end_round(bed);
    assert_matched(bed, 1);
}

static void a_freed_receive_takes_its_message_unseen(void **state)
{
    struct bed *bed = *state;
    give(bed, 1, A, event_of(CALL_Request_free, EVENT_UNTRACKED, 5, 1, 1200));
    post(bed, B, 5, 1, 1000);
    post(bed, B, 5, 2, 1300);
    wait(bed, B, 5, 2, 1300, 2000);
    send(bed, 5, 1100);
    send(bed, 5, 1500);
    end_round(bed);
    end_round(bed);
    assert_unmatched(bed, 1, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 510);
}

static void a_cancelled_send_is_taken_back(void **state)
{
    struct bed *bed = *state;
    struct event sent =
                     event_of(CALL_Start, EVENT_SEND | EVENT_POST | EVENT_PERSISTENT, 5, 7, 1000),
                 again = sent,
                 end = event_of(CALL_Wait, EVENT_SEND | EVENT_CANCELLED | EVENT_PERSISTENT, 5, 7,
                                1300);
    again.t_enter = end.t_post = 1200;
    again.t_exit = 1210;
    give(bed, 1, B, sent); /* of rank 1 to rank 0; this one stays */
    give(bed, 1, A, end);
    give(bed, 1, B, again);
    end_round(bed);
    struct event received = event_of(CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, 5, 0, 1500);
    received.peer = 1;
    give(bed, 0, A, received);
    end_round(bed);
    assert_matched(bed, 1);
    assert_int_equal(bed->messages[0].transfer_ns, 510);
}

static void a_send_that_was_not_seen_to_be_cancelled_puts_its_channel_out_of_step(void **state)
{
    struct bed *bed = *state;
    struct event end = event_of(CALL_Wait, EVENT_SEND | EVENT_CANCELLED, 5, 7, 1300);
    end.t_post = 1200;
    give(bed, 1, A, end);
    end_round(bed);
    end_round(bed);
    struct event sent = event_of(CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 5, 0, 2000),
                 received = event_of(CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, 5, 0, 2100);
    received.peer = 1;
    give(bed, 1, A, sent);
    give(bed, 0, A, received);
    end_round(bed);
    end_round(bed);
    assert_unmatched(bed, 0, 2);
}

/* One thread takes the message, another begins to receive it, a third waits for that, in any order
 * of rings. */
static void what_a_probe_took_may_go_through_three_threads(void **state)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct bed *bed = *state;
    for (unsigned i = 0; i < 6; i++) {
        uint64_t at = 10000 * (i + 1);
        uint32_t message = 2 * i + 1;
        struct event records[3] = {
            event_of(CALL_Mprobe, EVENT_WILDCARD, 5, message, at + 200),
            event_of(CALL_Imrecv, EVENT_RECV | EVENT_POST, 5, message + 1, at + 300),
            waited(5, message + 1, at + 300, at + 400)};
        records[1].message = message;
        send(bed, 5, at + 100);
        for (unsigned k = 0; k < 3; k++)
            give(bed, 1, (uint32_t)orders[i][k], records[orders[i][k]]);
        end_round(bed);
        assert_matched(bed, i + 1);
        assert_int_equal(bed->messages[i].transfer_ns, 310);
    }
}

static void mrecv_may_be_seen_before_its_probe(void **state)
{
    struct bed *bed = *state;
    struct event received = event_of(CALL_Mrecv, EVENT_RECV | EVENT_POST | EVENT_DONE, 5, 0, 2000);
    received.message = 1;
    send(bed, 5, 1000);
    give(bed, 1, A, received);
    give(bed, 1, B, event_of(CALL_Mprobe, EVENT_WILDCARD, 5, 1, 1100));
    end_round(bed);
    assert_matched(bed, 1);
}

/* ---- giving up ----------------------------------------------------------- */

static void an_end_is_given_up_after_two_rounds_and_counted(void **state)
{
    struct bed *bed = *state;
    wait(bed, A, 5, 1, 1000, 2000);
    end_round(bed);
    assert_unmatched(bed, 0, 0);
    end_round(bed);
    assert_unmatched(bed, 0, 1);
}

static void members_of_one_thread_wait_for_nobody(void **state)
{
    struct bed *bed = *state;
    struct event end = waited(5, 1, 1000, 2000);
    end.peer = 1;
    give(bed, 0, A, end);
    match_settle(bed->match, bed->now_ns);
    assert_unmatched(bed, 0, 1);
}

static void ends_without_a_message_are_not_counted(void **state)
{
    struct bed *bed = *state;
    struct event end = waited(5, 1, 1000, 1200);
    end.flags = EVENT_RECV | EVENT_CANCELLED;
    give(bed, 1, A, end);
    end.peer = PEER_NULL;
    end.flags = EVENT_RECV | EVENT_DONE;
    give(bed, 1, A, end);
    give(bed, 1, A, event_of(CALL_Request_free, EVENT_UNTRACKED, 5, 1, 1200));
    end_round(bed);
    end_round(bed);
    assert_unmatched(bed, 0, 0);
}

static void what_a_member_that_is_gone_leaves_is_counted(void **state)
{
    struct bed *bed = *state;
    wait_for_two(bed);
    send(bed, 6, 2002);
    match_remove(bed->match, bed->members[1]);
    match_settle(bed->match, bed->now_ns + MS);
    assert_unmatched(bed, 1, 1);
    assert_int_equal(bed->messages[0].joint_ns, 8);
}

static void a_member_that_is_gone_has_its_posts_seen(void **state)
{
    struct bed *bed = *state;
    wait(bed, A, 5, 1, 1000, 2000);
    post(bed, B, 5, 1, 1000);
    send(bed, 5, 1500);
    match_remove(bed->match, bed->members[1]);
    assert_matched(bed, 1);
}

/* ---- losses -------------------------------------------------------------- */

/* The end of the first receive was lost in one ring, its post is seen in the other one. */
static void a_post_whose_end_was_lost_holds_nobody_up(void **state)
{
    struct bed *bed = *state;
    match_lost(bed->match, bed->members[1]);
    post(bed, B, 5, 1, 1000);
    end_round(bed);
    end_round(bed);
    post(bed, B, 7, 3, 2000);
    post(bed, B, 5, 4, 2100);
    struct event first = waited(5, 4, 2100, 3000), second = waited(7, 3, 2000, 3000);
    first.parts = 1;
    second.kind = EVENT_PART;
    give(bed, 1, A, first);
    give(bed, 1, A, second);
    end_round(bed);
    /* Nothing waits: both ends are counted, neither is behind the first post. */
    assert_unmatched(bed, 0, 2);
    struct match_open open[4];
    assert_int_equal(match_open_receives(bed->match, bed->members[1], open, 4), 0);
}

static void a_wildcard_whose_end_was_lost_is_not_open(void **state)
{
    struct bed *bed = *state;
    struct event any = posted(TAG_ANY, 1, 1000);
    any.flags |= EVENT_WILDCARD;
    any.peer = PEER_ANY;
    match_lost(bed->match, bed->members[1]);
    give(bed, 1, B, any);
    end_round(bed);
    end_round(bed);
    struct match_open open[4];
    assert_int_equal(match_open_receives(bed->match, bed->members[1], open, 4), 0);
}

static void posts_long_after_a_loss_are_open(void **state)
{
    struct bed *bed = *state;
    match_lost(bed->match, bed->members[1]);
    end_round(bed);
    end_round(bed);
    post(bed, B, 5, 1, 1000);
    end_round(bed);
    end_round(bed);
    struct match_open open[4];
    assert_int_equal(match_open_receives(bed->match, bed->members[1], open, 4), 1);
}

static void an_end_seen_before_the_loss_is_the_end_of_what_is_seen_behind_it(void **state)
{
    struct bed *bed = *state;
    wait(bed, A, 5, 1, 1000, 2000);
    match_lost(bed->match, bed->members[1]); /* in the other ring, before the post */
    post(bed, B, 5, 1, 1000);
    end_round(bed);
    struct match_open open[4];
    assert_int_equal(match_open_receives(bed->match, bed->members[1], open, 4), 0);
    assert_unmatched(bed, 0, 1);
}

/* ---- the bound ----------------------------------------------------------- */

static void ends_without_posts_are_bounded_and_counted(void **state)
{
    enum { ENDS = 200000 };
    struct bed *bed = *state;
    size_t before = memory_used();
    for (uint32_t i = 0; i < ENDS; i++)
        wait(bed, A, 5, i + 1, 1000 + i, 2000 + i);
    assert_true(memory_used() - before <= (size_t)8 << 20);
    end_round(bed);
    end_round(bed);
    assert_unmatched(bed, 0, ENDS);
    struct event received = waited(5, 1, MS, MS + 100);
    post(bed, A, 5, 1, MS);
    give(bed, 1, A, received);
    end_round(bed);
    assert_unmatched(bed, 0, ENDS + 1); /* as after lost records */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_post_may_be_seen_after_the_end),
        CASE(the_end_may_be_seen_after_the_post),
        CASE(the_post_may_be_seen_a_round_after_the_end),
        CASE(what_follows_in_the_channel_is_matched_too),
        CASE(many_of_one_round_find_their_posts),
        CASE(wildcards_find_their_channel_by_the_end),
        CASE(a_wildcard_whose_status_is_unknown_takes_its_post_along),
        CASE(calls_that_complete_several_wait_for_all_of_them),
        CASE(a_group_is_handed_out_with_the_last_post),
        CASE(a_group_with_an_unseen_post_is_joint),
        CASE(threads_may_take_turns_with_a_persistent_request),
        CASE(whichever_ring_comes_first),
        CASE(a_later_start_is_not_what_an_end_ended),
        CASE(of_unnamed_posts_the_newest_before_the_end_is_taken),
        CASE(a_cancelled_receive_takes_no_message),
        CASE(a_cancelled_wildcard_holds_nothing),
        CASE(a_freed_receive_takes_its_message_unseen),
        CASE(a_cancelled_send_is_taken_back),
        CASE(a_send_that_was_not_seen_to_be_cancelled_puts_its_channel_out_of_step),
        CASE(what_a_probe_took_may_go_through_three_threads),
        CASE(mrecv_may_be_seen_before_its_probe),
        CASE(an_end_is_given_up_after_two_rounds_and_counted),
        CASE(members_of_one_thread_wait_for_nobody),
        CASE(ends_without_a_message_are_not_counted),
        CASE(what_a_member_that_is_gone_leaves_is_counted),
        CASE(a_member_that_is_gone_has_its_posts_seen),
        CASE(a_post_whose_end_was_lost_holds_nobody_up),
        CASE(a_wildcard_whose_end_was_lost_is_not_open),
        CASE(posts_long_after_a_loss_are_open),
        CASE(an_end_seen_before_the_loss_is_the_end_of_what_is_seen_behind_it),
        CASE(ends_without_posts_are_bounded_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
