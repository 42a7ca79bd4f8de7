#include "daemon/import/otf2/otf2_calls.h"

#include "holter/call.h"
#include "holter/segment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define SEND_POST (EVENT_SEND | EVENT_POST)
#define RECV_DONE (EVENT_RECV | EVENT_DONE)

static const struct otf2_region send_ = {OTF2_REGION_CALL, CALL_Send, 0},
                                isend = {OTF2_REGION_CALL, CALL_Isend, 0},
                                irecv = {OTF2_REGION_CALL, CALL_Irecv, 0},
                                waitall = {OTF2_REGION_CALL, CALL_Waitall, 0},
                                mrecv = {OTF2_REGION_CALL, CALL_Mrecv, 0},
                                start = {OTF2_REGION_CALL, CALL_Start, 0},
                                iallreduce = {OTF2_REGION_CALL, CALL_Iallreduce, 0},
                                foreign = {OTF2_REGION_CALL, 0, 0},
                                solver = {OTF2_REGION_CODE, 0, 7};

static const struct otf2_message to_three = {.peer = 3, .tag = 5, .bytes = 100, .comm = 2};

static struct request_table requests;

static void post_isend(struct otf2_calls *c, uint64_t time, const struct otf2_message *message,
                       uint64_t request)
{
    struct otf2_message requested = *message;
    requested.request = request;
    otf2_calls_isend(c, time, &requested);
}

static void end_irecv(struct otf2_calls *c, uint64_t time, const struct otf2_message *message,
                      uint64_t request)
{
    struct otf2_message requested = *message;
    requested.request = request;
    otf2_calls_irecv(c, time, &requested);
}

static void begin(struct otf2_calls *c)
{
    request_table_init(&requests);
    otf2_calls_init(c, &requests, 0, 1);
}

static void end(struct otf2_calls *c)
{
    otf2_calls_finish(c);
    request_table_finish(&requests);
}

static uint32_t take(struct otf2_calls *c, struct event out[16])
{
    otf2_calls_close(c);
    uint32_t count = call_queue_remove(&c->queue, out, 16);
    assert_int_equal(c->error, 0);
    return count;
}

static void a_call_is_its_region_with_what_is_in_it(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    (void)state;
    begin(&c);
    otf2_calls_enter(&c, 5, 90, &solver);
    otf2_calls_enter(&c, 10, 1, &send_);
    otf2_calls_send(&c, 12, &to_three);
    otf2_calls_leave(&c, 20, 1, &send_);
    otf2_calls_leave(&c, 25, 90, &solver);
    assert_int_equal(take(&c, e), 1);
    assert_int_equal(e[0].kind, EVENT_CALL);
    assert_int_equal(e[0].call, CALL_Send);
    assert_int_equal(e[0].t_enter, 10);
    assert_int_equal(e[0].t_exit, 20);
    assert_int_equal(e[0].flags, SEND_POST | EVENT_DONE);
    assert_int_equal(e[0].peer, 3);
    assert_int_equal(e[0].tag, 5);
    assert_int_equal(e[0].bytes, 100);
    assert_int_equal(e[0].comm, 2);
    assert_int_equal(e[0].region, 7);
    assert_int_equal(e[0].parts, 0);
    assert_int_equal(c.totals.unbalanced, 0);
    end(&c);
}

static void a_wait_has_a_part_for_each_request(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    (void)state;
    begin(&c);
    otf2_calls_enter(&c, 10, 1, &isend);
    post_isend(&c, 12, &to_three, 1001);
    otf2_calls_leave(&c, 20, 1, &isend);
    otf2_calls_enter(&c, 30, 2, &irecv);
    otf2_calls_irecv_request(&c, 31, 1002);
    otf2_calls_leave(&c, 32, 2, &irecv);
    otf2_calls_enter(&c, 40, 3, &waitall);
    otf2_calls_isend_complete(&c, 45, 1001);
    end_irecv(&c, 46, &(struct otf2_message){.peer = 4, .tag = 6, .bytes = 70, .comm = 1}, 1002);
    otf2_calls_leave(&c, 50, 3, &waitall);
    assert_int_equal(take(&c, e), 4);
    assert_int_equal(e[0].flags, SEND_POST);
    /* The posted receive has the data that only its end contains. */
    assert_int_equal(e[1].call, CALL_Irecv);
    assert_int_equal(e[1].flags, EVENT_RECV | EVENT_POST);
    assert_int_equal(e[1].peer, 4);
    assert_int_equal(e[1].tag, 6);
    assert_int_equal(e[1].comm, 1);
    assert_int_equal(e[2].kind, EVENT_CALL);
    assert_int_equal(e[2].call, CALL_Waitall);
    assert_int_equal(e[2].parts, 1);
    assert_int_equal(e[2].flags, EVENT_SEND | EVENT_DONE);
    assert_int_equal(e[2].request, e[0].request);
    assert_int_equal(e[2].t_post, 10);
    assert_int_equal(e[3].kind, EVENT_PART);
    assert_int_equal(e[3].flags, RECV_DONE);
    assert_int_equal(e[3].request, e[1].request);
    assert_int_equal(e[3].bytes, 70);
    assert_int_equal(e[3].t_enter, 40);
    assert_int_equal(e[3].t_exit, 50);
    assert_int_not_equal(e[0].request, e[1].request);
    end(&c);
}

static void a_collective_that_does_not_block_knows_its_size_where_it_begins(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    struct otf2_collective done = {
        .call = CALL_Allreduce, .root = PEER_NONE, .sent = 8, .received = 9, .comm = 1};
    (void)state;
    begin(&c);
    otf2_calls_enter(&c, 10, 1, &iallreduce);
    otf2_calls_collective_request(&c, 11, 77);
    otf2_calls_leave(&c, 12, 1, &iallreduce);
    otf2_calls_enter(&c, 20, 3, &waitall);
    otf2_calls_collective_complete(&c, 21, &done, 77);
    otf2_calls_leave(&c, 22, 3, &waitall);
    assert_int_equal(take(&c, e), 2);
    assert_int_equal(e[0].call, CALL_Iallreduce);
    assert_int_equal(e[0].flags, EVENT_POST);
    assert_int_equal(e[0].bytes, 8);
    assert_int_equal(e[0].bytes_in, 9);
    assert_int_equal(e[0].comm, 1);
    assert_int_equal(e[1].flags, EVENT_DONE);
    assert_int_equal(e[1].request, e[0].request);
    assert_int_equal(c.totals.collectives, 1);
    end(&c);
}

static void records_without_a_call_are_calls_of_their_own(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    struct otf2_collective bcast = {.call = CALL_Bcast, .root = 2, .sent = 8};
    (void)state;
    begin(&c);
    otf2_calls_send(&c, 10, &to_three);
    otf2_calls_recv(&c, 20, &to_three);
    otf2_calls_collective_begin(&c, 30);
    otf2_calls_collective_end(&c, 35, &bcast);
    assert_int_equal(take(&c, e), 3);
    assert_int_equal(e[0].call, CALL_Send);
    assert_int_equal(e[1].call, CALL_Recv);
    assert_int_equal(e[1].flags, EVENT_POST | RECV_DONE);
    assert_int_equal(e[2].call, CALL_Bcast);
    assert_int_equal(e[2].t_enter, 30);
    assert_int_equal(e[2].t_exit, 35);
    assert_int_equal(e[2].peer, 2);
    end(&c);
}

static void calls_within_calls_and_calls_without_end_are_one(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    (void)state;
    begin(&c);
    otf2_calls_enter(&c, 10, 3, &waitall);
    otf2_calls_enter(&c, 11, 1, &send_);
    otf2_calls_leave(&c, 12, 1, &send_);
    otf2_calls_leave(&c, 13, 3, &waitall);
    otf2_calls_leave(&c, 14, 3, &waitall);
    otf2_calls_enter(&c, 20, 1, &send_);
    otf2_calls_send(&c, 27, &to_three);
    assert_int_equal(take(&c, e), 2);
    assert_int_equal(e[0].t_exit, 13);
    assert_int_equal(e[1].call, CALL_Send);
    assert_int_equal(e[1].t_exit, 27);
    assert_int_equal(c.totals.unbalanced, 2);
    end(&c);
}

static void calls_that_holter_does_not_know_are_named_by_what_they_do(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    (void)state;
    begin(&c);
    otf2_calls_enter(&c, 10, 9, &foreign);
    otf2_calls_send(&c, 11, &to_three);
    otf2_calls_leave(&c, 12, 9, &foreign);
    otf2_calls_enter(&c, 20, 9, &foreign);
    otf2_calls_leave(&c, 22, 9, &foreign);
    assert_int_equal(take(&c, e), 2);
    assert_int_equal(e[0].call, CALL_Send);
    assert_int_equal(c.totals.nameless, 1);
    end(&c);
}

/* The probe that took the message is not in the trace: as a part of another call it is matched. */
static void what_mrecv_takes_is_received_like_any_other(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    (void)state;
    begin(&c);
    otf2_calls_enter(&c, 10, 4, &mrecv);
    otf2_calls_recv(&c, 11, &to_three);
    otf2_calls_leave(&c, 12, 4, &mrecv);
    assert_int_equal(take(&c, e), 2);
    assert_int_equal(e[0].call, CALL_Mrecv);
    assert_int_equal(e[0].flags, 0);
    assert_int_equal(e[0].parts, 1);
    assert_int_equal(e[1].call, CALL_Recv);
    assert_int_equal(e[1].flags, EVENT_POST | RECV_DONE);
    end(&c);
}

static void starts_and_cancels_are_reported_as_such(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    (void)state;
    begin(&c);
    otf2_calls_enter(&c, 10, 5, &start);
    otf2_calls_irecv_request(&c, 11, 1);
    otf2_calls_leave(&c, 12, 5, &start);
    otf2_calls_enter(&c, 20, 3, &waitall);
    otf2_calls_cancelled(&c, 21, 1);
    otf2_calls_leave(&c, 22, 3, &waitall);
    assert_int_equal(take(&c, e), 2);
    assert_int_equal(e[0].flags, EVENT_RECV | EVENT_POST | EVENT_PERSISTENT);
    assert_int_equal(e[0].peer, PEER_UNKNOWN);
    assert_int_equal(e[0].comm, COMM_SLOT_NONE);
    assert_int_equal(e[1].flags, EVENT_RECV | EVENT_CANCELLED | EVENT_PERSISTENT);
    end(&c);
}

/* What is never left ends somewhere, and holds no more than a call can have. */
static void a_call_that_is_never_left_is_reported_in_pieces(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    uint32_t calls = 0, records = 0, got, announced = 0;
    (void)state;
    begin(&c);
    otf2_calls_enter(&c, 5, 1, &send_);
    for (uint32_t i = 0; i < 3 * UINT16_MAX; i++)
        otf2_calls_send(&c, 10 + i, &to_three);
    assert_int_equal(c.part_count, UINT16_MAX);
    otf2_calls_close(&c);
    while ((got = call_queue_remove(&c.queue, e, 16)) > 0)
        for (uint32_t i = 0; i < got; i++) {
            records++;
            calls += e[i].kind == EVENT_CALL;
            announced += e[i].kind == EVENT_CALL ? 1u + e[i].parts : 0;
        }
    assert_int_equal(records, 3 * UINT16_MAX);
    assert_int_equal(announced, records);
    assert_int_equal(calls, 3);
    assert_int_equal(c.totals.sends, records);
    assert_int_equal(c.totals.unbalanced, 1);
    assert_int_equal(c.error, 0);
    end(&c);
}

/* ---- threads of a rank ------------------------------------------------------ */

struct threads {
    struct otf2_calls first, second;
};

static void begin_threads(struct threads *t)
{
    request_table_init(&requests);
    otf2_calls_init(&t->first, &requests, 0, 2);
    otf2_calls_init(&t->second, &requests, 1, 2);
}

static void end_threads(struct threads *t)
{
    otf2_calls_finish(&t->first);
    otf2_calls_finish(&t->second);
    request_table_finish(&requests);
}

/* Two receives, a send and a collective, at 10, 20, 30 and 35. */
static void post_all(struct otf2_calls *c)
{
    otf2_calls_enter(c, 10, 2, &irecv);
    otf2_calls_irecv_request(c, 11, 1001);
    otf2_calls_leave(c, 12, 2, &irecv);
    otf2_calls_enter(c, 20, 5, &start);
    otf2_calls_irecv_request(c, 21, 1002);
    otf2_calls_leave(c, 22, 5, &start);
    post_isend(c, 30, &to_three, 1003);
    otf2_calls_enter(c, 35, 6, &iallreduce);
    otf2_calls_collective_request(c, 36, 1004);
    otf2_calls_leave(c, 37, 6, &iallreduce);
}

/* The receives in the other order, in one call at 40. */
static void complete_all(struct otf2_calls *c)
{
    struct otf2_message four = {.peer = 4, .tag = 6, .bytes = 70, .comm = 1}, inter = four;
    struct otf2_collective done = {
        .call = CALL_Allreduce, .root = PEER_NONE, .sent = 8, .received = 9, .comm = 1};
    inter.peer = 5;
    inter.bytes = 90;
    inter.flags = EVENT_INTER;
    otf2_calls_enter(c, 40, 3, &waitall);
    end_irecv(c, 45, &inter, 1002);
    otf2_calls_isend_complete(c, 46, 1003);
    end_irecv(c, 47, &four, 1001);
    otf2_calls_collective_complete(c, 48, &done, 1004);
    otf2_calls_leave(c, 50, 3, &waitall);
}

static void check_posts(const struct event *e)
{
    assert_int_equal(e[0].flags, EVENT_RECV | EVENT_POST);
    assert_int_equal(e[0].peer, 4);
    assert_int_equal(e[0].tag, 6);
    assert_int_equal(e[0].bytes, 70);
    assert_int_equal(e[0].comm, 1);
    assert_int_equal(e[1].flags, EVENT_RECV | EVENT_POST | EVENT_PERSISTENT | EVENT_INTER);
    assert_int_equal(e[1].peer, 5);
    assert_int_equal(e[1].bytes, 90);
    assert_int_equal(e[2].flags, SEND_POST);
    assert_int_equal(e[3].call, CALL_Iallreduce);
    assert_int_equal(e[3].flags, EVENT_POST);
    assert_int_equal(e[3].bytes, 8);
    assert_int_equal(e[3].bytes_in, 9);
    assert_int_equal(e[3].comm, 1);
}

static void check_ends(const struct event *e, const struct event *posts)
{
    static const struct {
        uint32_t post;
        uint16_t flags;
        uint64_t t_post, bytes;
    } ends[] = {{1, RECV_DONE | EVENT_PERSISTENT | EVENT_INTER, 20, 90},
                {2, EVENT_SEND | EVENT_DONE, 30, 100},
                {0, RECV_DONE, 10, 70},
                {3, EVENT_DONE, 35, 8}};
    assert_int_equal(e[0].parts, 3);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(e[i].kind, i == 0 ? EVENT_CALL : EVENT_PART);
        assert_int_equal(e[i].flags, ends[i].flags);
        assert_int_equal(e[i].request, posts[ends[i].post].request);
        assert_int_equal(e[i].t_post, ends[i].t_post);
        assert_int_equal(e[i].bytes, ends[i].bytes);
        assert_int_equal(e[i].t_enter, 40);
    }
}

static void either_thread_may_be_read_first(void **state)
{
    (void)state;
    for (int completer_first = 0; completer_first < 2; completer_first++) {
        struct threads t;
        struct event posts[16], ends[16];
        begin_threads(&t);
        if (completer_first) {
            complete_all(&t.second);
            assert_int_equal(call_queue_remove(&t.second.queue, ends, 16), 0);
            post_all(&t.first);
        } else {
            post_all(&t.first);
            assert_int_equal(call_queue_remove(&t.first.queue, posts, 16), 0);
            complete_all(&t.second);
        }
        call_queue_join_before(&requests, 40); /* not all have come to the end of the call */
        assert_int_equal(call_queue_remove(&t.second.queue, ends, 16), 0);
        call_queue_join_before(&requests, 41);
        assert_int_equal(call_queue_remove(&t.first.queue, posts, 16), 4);
        assert_int_equal(call_queue_remove(&t.second.queue, ends, 16), 4);
        check_posts(posts);
        check_ends(ends, posts);
        assert_int_equal(requests.count, 0);
        assert_int_equal(t.first.queue.forced + t.second.queue.forced, 0);
        end_threads(&t);
    }
}

/* While its call is still open, too: then the record is not in the queue yet. */
static void what_an_open_call_has_posted_another_thread_may_complete(void **state)
{
    struct threads t;
    struct event e[16];
    (void)state;
    begin_threads(&t);
    otf2_calls_enter(&t.first, 10, 5, &start);
    otf2_calls_irecv_request(&t.first, 11, 1);
    end_irecv(&t.second, 20, &to_three, 1);
    otf2_calls_enter(&t.second, 30, 3, &waitall);
    otf2_calls_isend_complete(&t.second, 31, 2);
    post_isend(&t.first, 12, &to_three, 2);
    call_queue_join_before(&requests, 31);
    otf2_calls_leave(&t.first, 13, 5, &start);
    otf2_calls_leave(&t.second, 32, 3, &waitall);
    assert_int_equal(call_queue_remove(&t.first.queue, e, 16), 2);
    assert_int_equal(e[0].peer, 3);
    assert_int_equal(e[1].flags, SEND_POST | EVENT_PERSISTENT);
    uint32_t receive = e[0].request, send = e[1].request;
    assert_int_equal(call_queue_remove(&t.second.queue, e, 16), 2);
    assert_int_equal(e[0].request, receive);
    assert_int_equal(e[0].t_post, 10);
    assert_int_equal(e[1].request, send);
    assert_int_equal(e[1].peer, 3);
    end_threads(&t);
}

/* Numbers of persistent requests come again with each start. */
static void an_end_belongs_to_the_newest_post_before_it(void **state)
{
    (void)state;
    for (int completer_first = 0; completer_first < 2; completer_first++) {
        struct threads t;
        struct event posts[16], ends[16];
        begin_threads(&t);
        for (int turn = 0; turn < 2; turn++)
            for (uint64_t i = 0; i < 4; i++) {
                struct otf2_message message = {.peer = 1, .bytes = 100 + i};
                if (turn == completer_first)
                    otf2_calls_irecv_request(&t.first, 100 * i + 10, 7);
                else
                    end_irecv(&t.second, 100 * i + 50, &message, 7);
            }
        call_queue_join_before(&requests, UINT64_MAX);
        assert_int_equal(call_queue_remove(&t.second.queue, ends, 16), 4);
        assert_int_equal(call_queue_remove(&t.first.queue, posts, 16), 4);
        for (uint64_t i = 0; i < 4; i++) {
            assert_int_equal(posts[i].bytes, 100 + i);
            assert_int_equal(ends[i].bytes, 100 + i);
            assert_int_equal(ends[i].request, posts[i].request);
            assert_int_equal(ends[i].t_post, 100 * i + 10);
        }
        end_threads(&t);
    }
}

#define TURNS 400u
#define TURNERS 3u

/* Each turn of a persistent request is started by some thread and completed by some, at 10 i + 3
 * and 10 i + 8 or 10 i + 13: the next start may be in the same tick of the clock. */
static void draw_turns(uint8_t starts[TURNS], uint8_t ends[TURNS], uint64_t random)
{
    for (unsigned i = 0; i < TURNS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        starts[i] = (uint8_t)(random % TURNERS);
        ends[i] = (uint8_t)(random / TURNERS % TURNERS);
    }
}

static void check_turns(const struct event *events, uint32_t count)
{
    uint32_t posts[TURNS] = {0};
    for (uint32_t i = 0; i < count; i++)
        if (events[i].flags & EVENT_POST) {
            assert_in_range(events[i].bytes, 1, TURNS);
            assert_int_equal(events[i].t_enter, 10 * events[i].bytes - 7);
            posts[events[i].bytes - 1] = events[i].request;
        }
    for (uint32_t i = 0; i < count; i++)
        if (events[i].flags & EVENT_DONE) {
            assert_int_equal(events[i].request, posts[events[i].bytes - 1]);
            assert_int_equal(events[i].t_post, 10 * events[i].bytes - 7);
        }
}

/* A trace gives all of one thread, then all of the next. */
static void turns_of_a_request_are_distinguished_whoever_starts_and_ends_them(void **state)
{
    static struct event taken[2 * TURNS];
    (void)state;
    for (unsigned first = 0; first < TURNERS; first++) {
        struct otf2_calls c[TURNERS];
        uint8_t starts[TURNS], ends[TURNS];
        uint32_t got = 0;
        draw_turns(starts, ends, 88172645463325252u + first);
        request_table_init(&requests);
        for (unsigned t = 0; t < TURNERS; t++)
            otf2_calls_init(&c[t], &requests, t, TURNERS);
        for (unsigned k = 0; k < TURNERS; k++)
            for (unsigned i = 0, t = (first + k) % TURNERS; i < TURNS; i++) {
                struct otf2_message message = {.peer = 1, .bytes = 1 + i};
                if (starts[i] == t)
                    otf2_calls_irecv_request(&c[t], 10 * i + 3, 7);
                if (ends[i] == t)
                    end_irecv(&c[t], 10 * i + (i % 2 ? 13 : 8), &message, 7);
            }
        call_queue_join_before(&requests, UINT64_MAX);
        for (unsigned t = 0; t < TURNERS; t++)
            got += call_queue_remove(&c[t].queue, taken + got, 2 * TURNS - got);
        assert_int_equal(got, 2 * TURNS);
        check_turns(taken, got);
        assert_int_equal(requests.count + requests.pending, 0);
        for (unsigned t = 0; t < TURNERS; t++)
            otf2_calls_finish(&c[t]);
        request_table_finish(&requests);
    }
}

/* Writers that count requests by thread give both the same numbers. */
static void a_threads_own_requests_come_first(void **state)
{
    struct threads t;
    struct event e[16];
    (void)state;
    begin_threads(&t);
    otf2_calls_irecv_request(&t.first, 10, 1);
    otf2_calls_irecv_request(&t.second, 11, 1);
    end_irecv(&t.second, 20, &to_three, 1);
    call_queue_join_before(&requests, 21);
    assert_int_equal(call_queue_remove(&t.first.queue, e, 16), 0);
    assert_int_equal(call_queue_remove(&t.second.queue, e, 16), 2);
    assert_int_equal(e[1].t_post, 11);
    end_irecv(&t.first, 30, &to_three, 1);
    call_queue_join_before(&requests, 31);
    assert_int_equal(call_queue_remove(&t.first.queue, e, 16), 2);
    assert_int_equal(e[1].t_post, 10);
    end_threads(&t);
}

static void what_nobody_posted_waits_until_it_is_given_up(void **state)
{
    struct threads t;
    struct event e[16];
    (void)state;
    begin_threads(&t);
    end_irecv(&t.second, 20, &to_three, 1);
    otf2_calls_isend_complete(&t.second, 21, 2);
    otf2_calls_cancelled(&t.second, 22, 3);
    assert_int_equal(call_queue_waits(&t.second.queue), CALL_WAITS_FOR_POST);
    call_queue_force(&t.second.queue, 0);
    assert_int_equal(call_queue_remove(&t.second.queue, e, 16), 1);
    assert_int_equal(e[0].flags, EVENT_POST | RECV_DONE);
    assert_int_equal(e[0].t_post, 0);
    assert_int_equal(e[0].bytes, 100);
    assert_int_equal(t.second.queue.forced, 0);
    call_queue_close(&t.second.queue);
    assert_int_equal(call_queue_remove(&t.second.queue, e, 16), 2);
    assert_int_equal(e[0].flags, EVENT_SEND | EVENT_DONE);
    assert_int_equal(e[0].peer, PEER_UNKNOWN);
    assert_int_equal(t.second.queue.forced, 0); /* all has been read: nobody did */
    assert_int_equal(requests.count + requests.pending, 0);
    end_threads(&t);
}

/* ---- the queue ------------------------------------------------------------- */

static void a_receive_that_stays_open_does_not_hold_up_all_else(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    uint64_t taken = 0;
    (void)state;
    begin(&c);
    otf2_calls_irecv_request(&c, 1, 99);
    for (uint32_t i = 0; i < 3 * CALL_QUEUE_CAPACITY; i++) {
        otf2_calls_send(&c, 10 + i, &to_three);
        if (call_queue_is_full(&c.queue))
            taken += call_queue_remove(&c.queue, e, 16);
        assert_true(c.queue.count <= CALL_QUEUE_CAPACITY);
    }
    assert_int_equal(c.queue.forced, 1);
    uint32_t count;
    end_irecv(&c, 100000000, &to_three, 99);
    otf2_calls_close(&c);
    while ((count = call_queue_remove(&c.queue, e, 16)) > 0)
        taken += count;
    assert_int_equal(taken, 3 * CALL_QUEUE_CAPACITY + 2);
    assert_int_equal(c.totals.receives, 1);
    end(&c);
}

static void requests_whose_end_is_never_reported_do_not_pile_up(void **state)
{
    struct otf2_calls c;
    struct event e[16];
    (void)state;
    request_table_init(&requests);
    otf2_calls_init(&c, &requests, 2, 5);
    for (uint32_t i = 0; i < 2 * REQUEST_TABLE_CAPACITY; i++) {
        post_isend(&c, i, &to_three, i);
        assert_int_equal(call_queue_remove(&c.queue, e, 16), 1);
        assert_int_equal(e[0].request, 3 + 5 * i); /* apart from those of other threads */
    }
    assert_int_equal(requests.count, REQUEST_TABLE_CAPACITY);
    assert_non_null(request_table_own(&requests, 2 * REQUEST_TABLE_CAPACITY - 1, &c.queue));
    end(&c);
}

/* Threads of a rank use the same numbers, or each its own. */
static void requests_are_found_whatever_begins_and_ends_between(void **state)
{
    static uint64_t open[2][2048];
    struct call_queue queues[2];
    struct request_table table;
    uint64_t random = 88172645463325252u;
    (void)state;
    request_table_init(&table);
    for (uint64_t i = 1; i <= 200000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t id = random % 2048, thread = random >> 40 & 1;
        struct call_queue *other = &queues[1 - thread];
        struct open_request *found = request_table_own(&table, id * 1000003u, &queues[thread]);
        assert_int_equal(found != NULL, open[thread][id] != 0);
        struct open_request end = {.id = id * 1000003u, .queue = other, .t_post = i};
        struct open_request *seen = request_table_match(&table, &end);
        assert_ptr_equal(seen, found);
        if (found != NULL) {
            assert_int_equal(found->t_post, open[thread][id]);
            end.t_post = found->t_post - 1;
            assert_null(request_table_match(&table, &end));
            request_table_remove(&table, found);
            open[thread][id] = 0;
        } else {
            request_table_add(&table, id * 1000003u, &queues[thread])->t_post = i;
            open[thread][id] = i;
        }
    }
    request_table_finish(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_is_never_left_is_reported_in_pieces),
        cmocka_unit_test(a_call_is_its_region_with_what_is_in_it),
        cmocka_unit_test(a_wait_has_a_part_for_each_request),
        cmocka_unit_test(a_collective_that_does_not_block_knows_its_size_where_it_begins),
        cmocka_unit_test(records_without_a_call_are_calls_of_their_own),
        cmocka_unit_test(calls_within_calls_and_calls_without_end_are_one),
        cmocka_unit_test(calls_that_holter_does_not_know_are_named_by_what_they_do),
        cmocka_unit_test(what_mrecv_takes_is_received_like_any_other),
        cmocka_unit_test(starts_and_cancels_are_reported_as_such),
        cmocka_unit_test(either_thread_may_be_read_first),
        cmocka_unit_test(what_an_open_call_has_posted_another_thread_may_complete),
        cmocka_unit_test(an_end_belongs_to_the_newest_post_before_it),
        cmocka_unit_test(turns_of_a_request_are_distinguished_whoever_starts_and_ends_them),
        cmocka_unit_test(a_threads_own_requests_come_first),
        cmocka_unit_test(what_nobody_posted_waits_until_it_is_given_up),
        cmocka_unit_test(a_receive_that_stays_open_does_not_hold_up_all_else),
        cmocka_unit_test(requests_whose_end_is_never_reported_do_not_pile_up),
        cmocka_unit_test(requests_are_found_whatever_begins_and_ends_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
