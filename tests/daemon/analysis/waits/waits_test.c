/* How long ranks wait in sends, and for whom. */
#include "daemon/analysis/waits/waits.h"

#include "daemon/analysis/matching/send_wait.h"
#include "holter/call.h"
#include "holter/event.h"
#include "holter/waiting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define RANKS 6u
#define LENGTH (1000 * MS)

/* A job of six ranks, and its window. */
struct bed {
    struct waits *waits;
    struct wire_rank_row ranks[RANKS];
    struct transfers transfers;
    struct hang_calls calls[32];
    size_t call_count;
    struct wire_pending_row pending[8];
    size_t pending_count;
    struct wire_comm_row comm; /* of the window; id 0: none */
    struct hang_watch *members;
};

static int bed_start(void **state)
{
    struct bed *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    assert_int_equal(waits_create(&b->waits), 0);
    for (uint32_t r = 0; r < RANKS; r++)
        b->ranks[r] = (struct wire_rank_row){.rank = r, .in_call_peer = PEER_NONE};
    *state = b;
    return 0;
}

static int bed_end(void **state)
{
    struct bed *b = *state;
    waits_destroy(b->waits);
    hang_destroy(b->members);
    transfers_finish(&b->transfers);
    free(b);
    return 0;
}

static void message(struct bed *b, uint32_t source, uint32_t destination, enum locality locality,
                    uint64_t send_wait_ns, uint64_t late_sender_ns)
{
    const struct transfer t = {.source = source,
                               .destination = destination,
                               .locality = (uint8_t)locality,
                               .messages = 1,
                               .send_wait_ns = send_wait_ns,
                               .late_sender_ns = late_sender_ns};
    assert_int_equal(transfers_add(&b->transfers, &t), 0);
}

/* The window ends. @return the waits of a rank in it */
static struct waits_row window(struct bed *b, uint32_t rank)
{
    const struct waits_window w = {.length_ns = LENGTH,
                                   .ranks = b->ranks,
                                   .rank_count = RANKS,
                                   .transfers = &b->transfers,
                                   .calls = b->calls,
                                   .call_count = b->call_count,
                                   .pending = b->pending,
                                   .pending_count = b->pending_count,
                                   .comms = &b->comm,
                                   .comm_count = b->comm.id != 0,
                                   .world = RANKS,
                                   .members = b->members};
    assert_int_equal(waits_update(b->waits, &w), 0);
    transfers_clear(&b->transfers);
    b->call_count = b->pending_count = 0;
    return waits_rows(b->waits)[rank];
}

static void enter(struct bed *b, uint32_t rank, uint32_t call, int64_t peer, uint64_t ns)
{
    b->ranks[rank].in_call = call;
    b->ranks[rank].in_call_peer = peer;
    b->ranks[rank].in_call_ns = ns;
}

/* ---- one message --------------------------------------------------------- */

static void a_send_waits_until_its_receiver_comes(void **state)
{
    (void)state;
    assert_int_equal(send_wait_ns(10 * MS, 90 * MS, 80 * MS, 1000), 70 * MS);
    assert_int_equal(send_wait_ns(10 * MS, 90 * MS, 5 * MS, 1000), 0);
}

static void a_send_that_is_copied_to_a_buffer_does_not_wait(void **state)
{
    (void)state;
    assert_int_equal(send_wait_ns(10 * MS, 10 * MS + 15000, 80 * MS, 1000), 0);
    assert_int_equal(send_wait_ns(10 * MS, 11 * MS, 80 * MS, 1000000), 0);
}

static void a_send_that_waits_for_a_buffer_waits_for_its_receiver(void **state)
{
    (void)state;
    assert_int_equal(send_wait_ns(10 * MS, 50 * MS, 80 * MS, 1000), 40 * MS - SEND_COPY_NS - 1000);
}

static void a_rank_does_not_wait_longer_in_sends_than_it_is_in_them(void **state)
{
    const struct wire_rank_row row = {.send_ns = 5,
                                      .recv_ns = 10,
                                      .wait_ns = 20,
                                      .poll_ns = 40,
                                      .collective_ns = 80,
                                      .send_wait_ns = 7};
    (void)state;
    assert_int_equal(WAITING_NS(&row), 155);
}

static void a_rank_waits_in_one_sided_calls(void **state)
{
    const struct wire_rank_row row = {.one_sided_ns = 160};
    (void)state;
    assert_int_equal(WAITING_NS(&row), 160);
}

/* ---- sends and receives -------------------------------------------------- */

/* Messages are shifted along a line whose last rank does not receive: the ranks before it have sent
 * and are not waited for. */
static void a_rank_in_a_sendrecv_waits_for_the_receiver_that_does_not_come(void **state)
{
    struct bed *b = *state;
    for (uint32_t r = 0; r < RANKS - 1; r++) {
        enter(b, r, CALL_Sendrecv, r + 1, 5000 * MS);
        b->ranks[r].recv_ns = LENGTH;
        b->pending[b->pending_count++] = (struct wire_pending_row){
            .rank = r, .source = r > 0 ? (int64_t)r - 1 : PEER_NULL, .waited_ns = 5000 * MS};
    }
    const struct waits_row row = window(b, RANKS - 2);
    assert_int_equal(row.awaited, 1 + RANKS - 1);
    assert_int_equal(row.awaited_ns, LENGTH);
    const struct waits_row *rows = waits_rows(b->waits);
    assert_int_equal(rows[0].awaited, 0);
    assert_int_equal(rows[0].caused_ns, 0);
    assert_int_equal(rows[RANKS - 1].caused_ns, LENGTH);
}

/* The message was sent in the last 200 ms. */
static void a_rank_waits_for_a_sender_until_it_sends(void **state)
{
    struct bed *b = *state;
    enter(b, 1, CALL_Recv, 0, 5000 * MS);
    enter(b, 0, CALL_Ssend, 1, 200 * MS);
    b->ranks[1].recv_ns = LENGTH;
    b->pending[b->pending_count++] =
        (struct wire_pending_row){.rank = 1, .source = 0, .waited_ns = 5000 * MS};
    const struct waits_row row = window(b, 1);
    assert_int_equal(row.awaited, 1 + 0);
    assert_int_equal(row.awaited_ns, 800 * MS);
}

static void a_thread_that_waits_for_requests_is_no_excuse_for_the_others(void **state)
{
    struct bed *b = *state;
    message(b, 1, 0, LOCALITY_INTRA, 0, 500 * MS);
    b->ranks[0].recv_ns = b->ranks[1].recv_ns = LENGTH;
    enter(b, 1, CALL_Recv, PEER_ANY, 5000 * MS);
    b->ranks[1].calls = 100;
    b->ranks[1].threads = 2;
    assert_int_equal(window(b, 1).caused_ns, 500 * MS);
}

/* Rank 1 cannot send before a collective, of which rank 2 keeps it, is over. */
static void a_rank_in_a_call_that_goes_on_has_caused_nothing(void **state)
{
    static const uint32_t calls[] = {CALL_Allreduce, CALL_Recv, CALL_Waitall, CALL_Finalize};
    struct bed *b = *state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        enter(b, 0, CALL_Recv, 1, 5000 * MS);
        enter(b, 1, calls[i], PEER_NONE, 5000 * MS);
        b->ranks[0].recv_ns = LENGTH;
        b->pending[b->pending_count++] =
            (struct wire_pending_row){.rank = 0, .source = 1, .waited_ns = 5000 * MS};
        const struct waits_row row = window(b, 1);
        assert_int_equal(row.late_ns, LENGTH);
        assert_int_equal(row.caused_ns, 0);
    }
    enter(b, 1, CALL_Allreduce, PEER_NONE, 300 * MS); /* it came late itself */
    b->pending[b->pending_count++] =
        (struct wire_pending_row){.rank = 0, .source = 1, .waited_ns = 6000 * MS};
    assert_int_equal(window(b, 1).caused_ns, 700 * MS);
}

static void leave_all(struct bed *b)
{
    for (uint32_t r = 0; r < RANKS; r++)
        b->ranks[r] = (struct wire_rank_row){.rank = r, .in_call_peer = PEER_NONE};
}

/* Rank 0 comes 4.5 s late, and rank 1 with it, since it waits for its message. */
static void waits_of_the_windows_before_count_for_a_collective_that_lasts_longer(void **state)
{
    struct bed *b = *state;
    for (uint64_t w = 1; w <= 4; w++) {
        for (uint32_t r = 1; r < RANKS; r++) {
            enter(b, r, r == 1 ? CALL_Recv : CALL_Allreduce, r == 1 ? 0 : PEER_NONE, w * LENGTH);
            *(r == 1 ? &b->ranks[r].recv_ns : &b->ranks[r].collective_ns) = LENGTH;
        }
        window(b, 0);
    }
    leave_all(b);
    message(b, 0, 1, LOCALITY_INTRA, 0, 4500 * MS);
    for (uint32_t r = 0; r < RANKS; r++) {
        b->ranks[r].collective_ns = r < 2 ? 100 * MS : 600 * MS;
        b->calls[b->call_count++] = (struct hang_calls){.rank = r,
                                                        .call = CALL_Allreduce,
                                                        .comm = HANG_WORLD,
                                                        .calls = 1,
                                                        .time_ns = r < 2 ? 100 * MS : 4600 * MS};
    }
    b->ranks[1].recv_ns = 500 * MS;
    window(b, 0);
    const struct waits_row *rows = waits_rows(b->waits);
    assert_int_equal(rows[0].caused_ns, 4500 * MS);
    assert_int_equal(rows[1].late_ns, 4500 * MS);
    assert_int_equal(rows[1].caused_ns, 0);
}

/* It waits a little in each window, and comes late by itself. */
static void short_waits_of_the_windows_before_excuse_nobody(void **state)
{
    struct bed *b = *state;
    for (uint64_t w = 1; w <= 30; w++) {
        message(b, 0, 1, LOCALITY_INTRA, 0, 100 * MS);
        b->ranks[1].recv_ns = 100 * MS;
        window(b, 0);
    }
    for (uint32_t r = 0; r < RANKS; r++)
        b->calls[b->call_count++] = (struct hang_calls){.rank = r,
                                                        .call = CALL_Allreduce,
                                                        .comm = HANG_WORLD,
                                                        .calls = 1,
                                                        .time_ns = r == 1 ? 0 : 1500 * MS};
    b->ranks[1].recv_ns = 0;
    assert_int_equal(window(b, 1).caused_ns, 1400 * MS);
}

/* ---- sends --------------------------------------------------------------- */

static void matched_sends_count_with_the_receiver_they_waited_for(void **state)
{
    struct bed *b = *state;
    message(b, 0, 3, LOCALITY_INTRA, 300 * MS, 0);
    message(b, 0, 2, LOCALITY_INTRA, 200 * MS, 0);
    struct waits_row row = window(b, 0);
    assert_int_equal(row.send_wait_ns, 500 * MS);
    assert_int_equal(row.awaited, 1 + 3);
    assert_int_equal(row.awaited_ns, 300 * MS);
}

static void of_sampled_messages_the_others_wait_alike(void **state)
{
    struct bed *b = *state;
    b->ranks[0].sent = 11;
    b->ranks[0].send_ns = 900 * MS;
    message(b, 0, 1, LOCALITY_INTRA, 5 * MS, 0);
    message(b, 0, 3, LOCALITY_INTER, 10 * MS, 0);
    message(b, 0, 4, LOCALITY_INTER, 20 * MS, 0);
    assert_int_equal(window(b, 0).send_wait_ns, 155 * MS);
    b->ranks[0].send_ns = 60 * MS; /* not more than it was in sends */
    message(b, 0, 3, LOCALITY_INTER, 20 * MS, 0);
    assert_int_equal(window(b, 0).send_wait_ns, 60 * MS);
}

static void a_send_in_progress_waits_while_its_receiver_is_elsewhere(void **state)
{
    struct bed *b = *state;
    enter(b, 0, CALL_Send, 1, 400 * MS);
    struct waits_row row = window(b, 0);
    assert_int_equal(row.send_wait_ns, 400 * MS);
    assert_int_equal(row.awaited, 1 + 1);
    enter(b, 0, CALL_Send, 1, 1400 * MS);
    enter(b, 1, CALL_Recv, 2, 3000 * MS); /* of another rank */
    assert_int_equal(window(b, 0).send_wait_ns, LENGTH);
}

static void a_send_in_progress_to_a_rank_that_receives_it_is_a_transfer(void **state)
{
    struct bed *b = *state;
    enter(b, 0, CALL_Send, 1, 400 * MS);
    enter(b, 1, CALL_Recv, 0, 400 * MS);
    assert_int_equal(window(b, 0).send_wait_ns, 0);
    enter(b, 1, CALL_Recv, PEER_ANY, 400 * MS);
    assert_int_equal(window(b, 0).send_wait_ns, 0);
    enter(b, 1, CALL_Waitall, PEER_NONE, 400 * MS);
    b->pending[b->pending_count++] = (struct wire_pending_row){.rank = 1, .source = 0};
    b->pending[b->pending_count++] = (struct wire_pending_row){.rank = 1, .source = 5};
    assert_int_equal(window(b, 0).send_wait_ns, 0);
    b->pending[b->pending_count++] = (struct wire_pending_row){.rank = 1, .source = 5};
    assert_int_equal(window(b, 0).send_wait_ns, 400 * MS);
}

/* Other calls of it have ended since the send began: only the present one may receive the message.
 */
static void a_send_in_progress_waits_until_the_call_begins_that_may_receive_it(void **state)
{
    static const uint32_t calls[] = {CALL_Recv, CALL_Waitall, CALL_Sendrecv, CALL_Iprobe};
    struct bed *b = *state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        enter(b, 0, CALL_Send, 1, 5000 * MS);
        enter(b, 1, calls[i], calls[i] == CALL_Recv ? 0 : PEER_NONE, 20 * MS);
        assert_int_equal(window(b, 0).send_wait_ns, LENGTH - 20 * MS);
    }
    enter(b, 0, CALL_Send, 1, 300 * MS);
    assert_int_equal(window(b, 0).send_wait_ns, 280 * MS);
    enter(b, 1, CALL_Waitall, PEER_NONE, 1500 * MS);
    assert_int_equal(window(b, 0).send_wait_ns, 0);
    enter(b, 1, CALL_Test, PEER_NONE, 1 * MS); /* calls before it may have received it, too */
    assert_int_equal(window(b, 0).send_wait_ns, 0);
}

static void a_send_over_several_windows_counts_once(void **state)
{
    struct bed *b = *state;
    uint64_t sum = 0;
    enter(b, 0, CALL_Ssend, 1, 300 * MS);
    sum += window(b, 0).send_wait_ns;
    enter(b, 0, CALL_Ssend, 1, 1300 * MS);
    sum += window(b, 0).send_wait_ns;
    enter(b, 0, 0, PEER_NONE, 0);
    message(b, 0, 1, LOCALITY_INTRA, 1700 * MS, 0); /* as it is matched in the third window */
    sum += window(b, 0).send_wait_ns;
    assert_int_equal(sum, 1700 * MS);
    message(b, 0, 1, LOCALITY_INTRA, 50 * MS, 0);
    assert_int_equal(window(b, 0).send_wait_ns, 50 * MS);
}

static void a_send_that_is_never_matched_is_forgotten(void **state)
{
    struct bed *b = *state;
    enter(b, 0, CALL_Ssend, 1, 300 * MS);
    window(b, 0);
    enter(b, 0, 0, PEER_NONE, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(window(b, 0).send_wait_ns, 0);
    message(b, 0, 1, LOCALITY_INTRA, 50 * MS, 0);
    assert_int_equal(window(b, 0).send_wait_ns, 50 * MS);
}

/* ---- for whom ------------------------------------------------------------ */

static void a_receive_waits_for_the_sender(void **state)
{
    struct bed *b = *state;
    message(b, 2, 4, LOCALITY_INTRA, 0, 100 * MS);
    message(b, 3, 4, LOCALITY_INTRA, 0, 60 * MS);
    message(b, 3, 4, LOCALITY_INTRA, 0, 60 * MS);
    struct waits_row row = window(b, 4);
    assert_int_equal(row.awaited, 1 + 3);
    assert_int_equal(row.awaited_ns, 120 * MS);
    assert_int_equal(row.send_wait_ns, 0);
}

static void a_receive_in_progress_waits_for_the_sender(void **state)
{
    struct bed *b = *state;
    b->pending[b->pending_count++] =
        (struct wire_pending_row){.rank = 4, .source = 2, .waited_ns = 5000 * MS};
    struct waits_row row = window(b, 4);
    assert_int_equal(row.awaited, 1 + 2);
    assert_int_equal(row.awaited_ns, LENGTH);
}

static void a_collective_waits_for_the_member_that_comes_last(void **state)
{
    struct bed *b = *state;
    /* Two communicators: the even and the odd ranks. Rank 2 and rank 5 come last. */
    for (uint32_t r = 0; r < RANKS; r++) {
        b->ranks[r].collective_ns = r == 2 ? 20 * MS : r == 5 ? 5 * MS : 600 * MS;
        b->calls[b->call_count++] =
            (struct hang_calls){.rank = r, .call = CALL_Allreduce, .comm = 70 + r % 2, .calls = 10};
    }
    window(b, 0);
    const struct waits_row *rows = waits_rows(b->waits);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_int_equal(rows[r].awaited, r == 2 || r == 5 ? 0 : r % 2 == 0 ? 1 + 2 : 1 + 5);
    assert_int_equal(rows[0].awaited_ns, 580 * MS);
}

static void a_collective_of_all_waits_for_a_rank_that_has_called_nothing(void **state)
{
    struct bed *b = *state;
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r == 4)
            continue;
        b->ranks[r].collective_ns = LENGTH;
        enter(b, r, CALL_Barrier, PEER_NONE, 3 * LENGTH);
        b->ranks[r].in_call_comm = HANG_WORLD;
    }
    window(b, 0);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_int_equal(waits_rows(b->waits)[r].awaited, r == 4 ? 0 : 1 + 4);
}

/* An RMA window has its members under an id of its own. The last rank has not called on it. */
static void a_fence_waits_for_a_rank_that_has_called_nothing(void **state)
{
    struct bed *b = *state;
    b->comm = (struct wire_comm_row){.id = 70, .size = RANKS};
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r == 4)
            continue;
        b->ranks[r].one_sided_ns = LENGTH;
        enter(b, r, CALL_Win_fence, PEER_NONE, 3 * LENGTH);
        b->ranks[r].in_call_comm = 70;
    }
    window(b, 0);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_int_equal(waits_rows(b->waits)[r].awaited, r == 4 ? 0 : 1 + 4);
    b->comm.size = RANKS - 1; /* it may be no member */
    window(b, 0);
    assert_int_equal(waits_rows(b->waits)[0].awaited, 0);
}

/* Ranks 1, 3 and 5 made a collective on it before. Rank 2, which calls nothing either, did not. */
static void a_collective_waits_for_a_member_that_has_called_nothing_in_the_window(void **state)
{
    struct bed *b = *state;
    struct hang_window before = {
        .number = 1, .length_ns = LENGTH, .world = RANKS, .ranks = b->ranks, .rank_count = RANKS};
    struct hang_calls calls[3];
    for (uint32_t i = 0; i < 3; i++)
        calls[i] =
            (struct hang_calls){.rank = 2 * i + 1, .call = CALL_Barrier, .comm = 70, .calls = 1};
    before.calls = calls;
    before.call_count = 3;
    assert_int_equal(hang_create(&b->members, NULL), 0);
    assert_int_equal(hang_window(b->members, &before), 0);
    b->comm = (struct wire_comm_row){.id = 70, .size = 3};
    for (uint32_t r = 1; r < RANKS; r += 4) {
        b->ranks[r].collective_ns = LENGTH;
        enter(b, r, CALL_Barrier, PEER_NONE, 3 * LENGTH);
        b->ranks[r].in_call_comm = 70;
    }
    window(b, 0);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_int_equal(waits_rows(b->waits)[r].awaited, r % 4 == 1 ? 1 + 3 : 0);
}

static void ranks_that_wait_little_wait_for_nobody(void **state)
{
    struct bed *b = *state;
    message(b, 2, 4, LOCALITY_INTRA, 0, LENGTH / 2000);
    assert_int_equal(window(b, 4).awaited, 0);
}

static void the_order_of_rows_changes_nothing(void **state)
{
    struct bed *b = *state;
    struct waits_row rows[2][RANKS];
    for (int reverse = 0; reverse < 2; reverse++) {
        for (uint32_t i = 0; i < 40; i++) {
            uint32_t k = reverse ? 39 - i : i, source = k % RANKS;
            message(b, source, (source + 1 + k / 7 % 5) % RANKS,
                    k % 2 ? LOCALITY_INTER : LOCALITY_INTRA, k % 3 * 10 * MS,
                    (k * 7 % 5) * 10 * MS);
        }
        window(b, 0);
        for (uint32_t r = 0; r < RANKS; r++)
            rows[reverse][r] = waits_rows(b->waits)[r];
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_int_equal(rows[0][r].send_wait_ns, rows[1][r].send_wait_ns);
        assert_int_equal(rows[0][r].awaited, rows[1][r].awaited);
        assert_int_equal(rows[0][r].awaited_ns, rows[1][r].awaited_ns);
    }
}

/* Ranks that no row has, peers that cannot be. */
static void nonsense_is_survived(void **state)
{
    struct bed *b = *state;
    message(b, 900, 1, LOCALITY_INTRA, 50 * MS, 50 * MS);
    message(b, 1, UINT32_MAX, LOCALITY_INTRA, 50 * MS, 50 * MS);
    enter(b, 0, CALL_Send, INT64_MAX, UINT64_MAX);
    enter(b, 2, CALL_Send, 2, UINT64_MAX);
    enter(b, 3, 65535, 2, UINT64_MAX);
    b->pending[b->pending_count++] =
        (struct wire_pending_row){.rank = 77, .source = INT64_MAX, .waited_ns = UINT64_MAX};
    b->calls[b->call_count++] =
        (struct hang_calls){.rank = UINT32_MAX, .call = CALL_Barrier, .comm = 1};
    assert_int_equal(window(b, 1).send_wait_ns, 50 * MS);
    assert_int_equal(waits_rows(b->waits)[1].awaited, 0);
}

/* Messages between nodes have a row each: what counts is how long a rank waited for another one in
 * all of them. */
static void many_short_waits_for_one_rank_add_up(void **state)
{
    struct bed *b = *state;
    b->ranks[1].recv_ns = 900 * MS;
    for (int i = 0; i < 1000; i++)
        message(b, 0, 1, LOCALITY_INTER, 0, MS / 2);
    message(b, 2, 3, LOCALITY_INTER, 0, MS / 2); /* too short to name anybody */
    struct waits_row row = window(b, 1);
    assert_int_equal(row.awaited, 1 + 0);
    assert_int_equal(row.awaited_ns, 500 * MS);
    assert_int_equal(waits_rows(b->waits)[0].late_ns, 500 * MS);
    assert_int_equal(waits_rows(b->waits)[0].caused_ns, 500 * MS);
    assert_int_equal(waits_rows(b->waits)[2].late_ns, 0);
    assert_int_equal(waits_rows(b->waits)[3].awaited, 0);
    assert_int_equal(window(b, 1).awaited, 0); /* nothing of it is left for the next window */
}

/* In a large job ranks wait for ever new partners. */
static void waits_are_known_after_more_pairs_than_can_be_remembered(void **state)
{
    enum { MANY = 2100, PARTNERS = 2000, AT_ONCE = 20 };
    struct bed *b = *state;
    struct wire_rank_row *ranks = calloc(MANY, sizeof(*ranks));
    struct waits_window w = {
        .length_ns = LENGTH, .ranks = ranks, .rank_count = MANY, .transfers = &b->transfers};
    assert_non_null(ranks);
    for (uint32_t r = 0; r < MANY; r++)
        ranks[r] = (struct wire_rank_row){.rank = r, .in_call_peer = PEER_NONE};
    for (uint32_t k = 1; k <= PARTNERS + 1; k++) {
        for (uint32_t r = 0; r < MANY; r++)
            message(b, (r + k) % MANY, r, LOCALITY_INTER, 0, 10 * MS);
        if (k % AT_ONCE != 0 && k <= PARTNERS)
            continue;
        assert_int_equal(waits_update(b->waits, &w), 0);
        transfers_clear(&b->transfers);
    }
    assert_int_equal(waits_rows(b->waits)[7].awaited, 1 + 7 + PARTNERS + 1);
    assert_int_equal(waits_rows(b->waits)[7].awaited_ns, 10 * MS);
    free(ranks);
}

static size_t state_length(struct bed *b)
{
    struct state_bytes state = {0};
    waits_copy_state(&state, &b->waits);
    assert_int_equal(state.code, 0);
    free(state.bytes);
    return state.length;
}

/* A program makes a communicator for each step, and frees it. */
static void communicators_that_were_used_once_take_no_memory(void **state)
{
    struct bed *b = *state;
    size_t length = 0;
    for (uint64_t step = 1; step <= 200; step++) {
        for (uint32_t r = 0; r < RANKS; r++) {
            b->ranks[r].in_call = CALL_Barrier;
            b->ranks[r].in_call_comm = 1000 + step;
        }
        (void)window(b, 0);
        length = step == 100 ? state_length(b) : length;
    }
    assert_int_equal(state_length(b), length);
}

int main(void)
{
#define BED(test) cmocka_unit_test_setup_teardown(test, bed_start, bed_end)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_waits_until_its_receiver_comes),
        cmocka_unit_test(a_send_that_is_copied_to_a_buffer_does_not_wait),
        cmocka_unit_test(a_send_that_waits_for_a_buffer_waits_for_its_receiver),
        cmocka_unit_test(a_rank_does_not_wait_longer_in_sends_than_it_is_in_them),
        cmocka_unit_test(a_rank_waits_in_one_sided_calls),
        BED(many_short_waits_for_one_rank_add_up),
        BED(a_rank_in_a_sendrecv_waits_for_the_receiver_that_does_not_come),
        BED(a_rank_waits_for_a_sender_until_it_sends),
        BED(a_rank_in_a_call_that_goes_on_has_caused_nothing),
        BED(waits_of_the_windows_before_count_for_a_collective_that_lasts_longer),
        BED(short_waits_of_the_windows_before_excuse_nobody),
        BED(a_thread_that_waits_for_requests_is_no_excuse_for_the_others),
        BED(matched_sends_count_with_the_receiver_they_waited_for),
        BED(of_sampled_messages_the_others_wait_alike),
        BED(a_send_in_progress_waits_while_its_receiver_is_elsewhere),
        BED(a_send_in_progress_to_a_rank_that_receives_it_is_a_transfer),
        BED(a_send_in_progress_waits_until_the_call_begins_that_may_receive_it),
        BED(a_send_over_several_windows_counts_once),
        BED(a_send_that_is_never_matched_is_forgotten),
        BED(a_receive_waits_for_the_sender),
        BED(a_receive_in_progress_waits_for_the_sender),
        BED(a_collective_waits_for_the_member_that_comes_last),
        BED(a_collective_of_all_waits_for_a_rank_that_has_called_nothing),
        BED(a_fence_waits_for_a_rank_that_has_called_nothing),
        BED(a_collective_waits_for_a_member_that_has_called_nothing_in_the_window),
        BED(ranks_that_wait_little_wait_for_nobody),
        BED(the_order_of_rows_changes_nothing),
        BED(nonsense_is_survived),
        BED(communicators_that_were_used_once_take_no_memory),
        BED(waits_are_known_after_more_pairs_than_can_be_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
