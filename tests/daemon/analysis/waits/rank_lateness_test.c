/* Lateness of ranks in windows: sums of a window give what its single events give. */
#include "daemon/analysis/waits/rank_lateness.h"

#include "daemon/analysis/dependencies/dependencies.h"
#include "daemon/analysis/waits/waits.h"
#include "holter/call.h"
#include "holter/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define RANKS 16u
#define ROUNDS 12u /* of a window */
#define LENGTH (4000 * MS)
#define SEEDS 40u

/* Ranks of a ring compute, exchange a message with both neighbours, one after the other, and make
 * an Allreduce, in rounds. Times are exact, and one clock measures them. */
struct ring_job {
    int64_t sends[ROUNDS][RANKS];       /* when it posts its two sends */
    int64_t waits[ROUNDS][RANKS][2];    /* when it begins to wait for each message */
    int64_t received[ROUNDS][RANKS][2]; /* when it has it */
    int64_t enters[ROUNDS][RANKS];      /* into the collective */
    int64_t leaves[ROUNDS];
    uint64_t random;
};

static uint64_t ring_job_random(struct ring_job *j, uint64_t below)
{
    j->random = j->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (j->random >> 33) % below;
}

static uint32_t ring_job_neighbour(uint32_t rank, int side)
{
    return (rank + (side == 0 ? RANKS - 1 : 1)) % RANKS;
}

/* @param slow  rank that computes longer; RANKS: none */
static void ring_job_run(struct ring_job *j, uint64_t seed, uint32_t slow)
{
    int64_t at[RANKS] = {0};
    *j = (struct ring_job){.random = seed + 1};
    for (uint32_t k = 0; k < ROUNDS; k++) {
        for (uint32_t r = 0; r < RANKS; r++) {
            at[r] += (int64_t)(20 * MS + ring_job_random(j, 4 * MS) + (r == slow ? 60 * MS : 0));
            j->sends[k][r] = at[r];
            j->waits[k][r][0] = at[r] + (int64_t)ring_job_random(j, MS / 10);
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            for (int side = 0; side < 2; side++) {
                int64_t there = j->sends[k][ring_job_neighbour(r, side)] + 1000;
                int64_t from = side == 0 ? j->waits[k][r][0] : j->received[k][r][0];
                j->waits[k][r][side] = from;
                j->received[k][r][side] = there > from ? there : from;
            }
            j->enters[k][r] = j->received[k][r][1] + (int64_t)ring_job_random(j, MS);
            j->leaves[k] = j->enters[k][r] > j->leaves[k] ? j->enters[k][r] : j->leaves[k];
        }
        for (uint32_t r = 0; r < RANKS; r++)
            at[r] = j->leaves[k];
    }
}

static uint64_t ring_job_late_sender(const struct ring_job *j, uint32_t k, uint32_t r, int side)
{
    int64_t late = j->sends[k][ring_job_neighbour(r, side)] - j->waits[k][r][side];
    return late > 0 ? (uint64_t)late : 0;
}

/* ---- the reference: all events of the window ------------------------------ */

static void reference_add(struct rank_lateness *rows, uint32_t waiter, uint32_t awaited,
                          uint64_t ns)
{
    if (ns >= LENGTH / 1024)
        rank_lateness_add_wait(&rows[waiter], &rows[awaited], ns);
}

/* By comparing each rank with each other one. */
static void reference_make(const struct ring_job *j, struct rank_lateness rows[RANKS])
{
    memset(rows, 0, RANKS * sizeof(*rows));
    for (uint32_t r = 0; r < RANKS; r++)
        for (int side = 0; side < 2; side++) {
            uint64_t ns = 0;
            for (uint32_t k = 0; k < ROUNDS; k++)
                ns += ring_job_late_sender(j, k, r, side);
            reference_add(rows, r, ring_job_neighbour(r, side), ns);
        }
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t p = 0; p < RANKS; p++) {
            int64_t later = 0;
            for (uint32_t k = 0; k < ROUNDS; k++)
                later += j->enters[k][r] - j->enters[k][p];
            if (later > 0)
                rank_lateness_add_wait(&rows[p], &rows[r], (uint64_t)later);
        }
}

/* ---- the same as sums of a window, in any order ---------------------------- */

struct sums {
    struct wire_rank_row ranks[RANKS];
    struct hang_calls calls[2 * RANKS];
    struct transfers transfers;
};

static void sums_add_rank(struct sums *s, const struct ring_job *j, uint32_t r)
{
    s->ranks[r] = (struct wire_rank_row){.rank = r, .in_call_peer = PEER_NONE};
    struct transfer from[2] = {{.source = 0}, {.source = 0}};
    for (uint32_t k = 0; k < ROUNDS; k++) {
        s->ranks[r].collective_ns += (uint64_t)(j->leaves[k] - j->enters[k][r]);
        for (int side = 0; side < 2; side++) {
            s->ranks[r].wait_ns += (uint64_t)(j->received[k][r][side] - j->waits[k][r][side]);
            from[side].late_sender_ns += ring_job_late_sender(j, k, r, side);
        }
    }
    for (int side = 0; side < 2; side++) {
        from[side].source = ring_job_neighbour(r, side);
        from[side].destination = r;
        from[side].messages = ROUNDS;
        assert_int_equal(transfers_add(&s->transfers, &from[side]), 0);
    }
}

static void sums_make(struct sums *s, struct ring_job *j)
{
    memset(s, 0, sizeof(*s));
    for (uint32_t r = 0; r < RANKS; r++)
        sums_add_rank(s, j, r);
    for (size_t i = s->transfers.count; i > 1; i--) {
        size_t at = ring_job_random(j, i);
        struct transfer t = s->transfers.rows[i - 1];
        s->transfers.rows[i - 1] = s->transfers.rows[at];
        s->transfers.rows[at] = t;
    }
    uint32_t first = (uint32_t)ring_job_random(j, RANKS);
    for (uint32_t i = 0; i < RANKS; i++) {
        uint32_t r = (first + 5 * i) % RANKS;
        s->calls[2 * i] = (struct hang_calls){r, CALL_Allreduce,           HANG_WORLD, ROUNDS,
                                              0, s->ranks[r].collective_ns};
        /* The root of a broadcast leaves first, and is not late for that. */
        s->calls[2 * i + 1] =
            (struct hang_calls){r, CALL_Bcast, HANG_WORLD, ROUNDS, 0, r == 3 ? 0 : LENGTH};
    }
}

static void sums_update(const struct sums *s, struct waits *waits)
{
    const struct waits_window window = {.length_ns = LENGTH,
                                        .ranks = s->ranks,
                                        .rank_count = RANKS,
                                        .transfers = &s->transfers,
                                        .calls = s->calls,
                                        .call_count = 2 * RANKS};
    assert_int_equal(waits_update(waits, &window), 0);
}

static void sums_of_a_window_give_what_its_events_give(void **state)
{
    struct waits *waits;
    struct ring_job j;
    struct sums s;
    (void)state;
    assert_int_equal(waits_create(&waits), 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rank_lateness rows[RANKS];
        ring_job_run(&j, seed, (uint32_t)(seed % (RANKS + 1)));
        reference_make(&j, rows);
        sums_make(&s, &j);
        sums_update(&s, waits);
        for (uint32_t r = 0; r < RANKS; r++) {
            assert_int_equal(waits_rows(waits)[r].late_ns, rows[r].late_ns);
            assert_int_equal(waits_rows(waits)[r].caused_ns, rank_lateness_caused_ns(&rows[r]));
        }
        transfers_finish(&s.transfers);
    }
    waits_destroy(waits);
}

/* ---- against the lateness of single events (Isaacs et al.) ----------------- */

/* What rank r posts and completes: an end of each message. */
static void events_add(struct dependency_calls *calls, const struct ring_job *j, uint32_t r)
{
    uint32_t host = dependency_calls_host(calls, "n", 0);
    uint32_t thread = dependency_calls_thread(calls, r, 0, host, INT64_MAX);
    for (uint32_t k = 0, number = 0; k < ROUNDS; k++)
        for (uint32_t e = 0; e < 4; e++) {
            uint32_t peer = ring_job_neighbour(r, (int)(e % 2));
            int receive = e >= 2;
            const struct dependency_record record = {
                .number = number++,
                .comm = 1,
                .bytes = 8,
                .begin_ns = receive ? j->waits[k][r][e % 2] : j->sends[k][r],
                .end_ns = receive ? j->received[k][r][e % 2] : j->sends[k][r] + 100,
                .posted_ns = j->sends[k][r],
                .peer = peer,
                .tag = 1,
                .flags = receive ? EVENT_RECV | EVENT_POST | EVENT_DONE : EVENT_SEND | EVENT_POST};
            assert_int_equal(dependency_calls_add(calls, thread, &record), 0);
        }
}

static uint32_t events_find_worst(const struct ring_job *j)
{
    struct dependency_calls calls = {.count = 0};
    struct dependencies d;
    uint32_t worst = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        events_add(&calls, j, r);
    assert_int_equal(dependencies_make(&d, &calls, NULL), 0);
    assert_int_equal(d.counts.matched, 2 * RANKS * ROUNDS);
    for (uint32_t r = 0; r < RANKS; r++)
        worst = d.ranks.lanes[r].caused_ns > d.ranks.lanes[worst].caused_ns ? r : worst;
    dependencies_finish(&d);
    dependency_calls_finish(&calls);
    return worst;
}

static void the_rank_that_causes_lateness_is_that_of_the_single_events(void **state)
{
    struct waits *waits;
    struct ring_job j;
    struct sums s;
    (void)state;
    assert_int_equal(waits_create(&waits), 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint32_t slow = (uint32_t)(seed % RANKS);
        ring_job_run(&j, seed, slow);
        sums_make(&s, &j);
        sums_update(&s, waits);
        const struct waits_row *rows = waits_rows(waits);
        assert_int_equal(events_find_worst(&j), slow);
        assert_true(rows[slow].caused_ns > 55 * MS * ROUNDS);
        for (uint32_t r = 0; r < RANKS; r++)
            assert_true(r == slow || rows[r].caused_ns < 8 * MS * ROUNDS);
        transfers_finish(&s.transfers);
    }
    waits_destroy(waits);
}

/* ---- messages in flight ------------------------------------------------------ */

/* Rank 1 waits for a message of rank 0 on a slow link, and rank 2 for rank 1. */
static void nobody_has_caused_the_lateness_of_a_message_in_flight(void **state)
{
    struct waits *waits;
    struct sums s = {.calls = {{0}}};
    const struct transfer rows[] = {
        {.source = 0, .destination = 1, .messages = 1, .network_ns = 500 * MS},
        {.source = 1, .destination = 2, .messages = 1, .late_sender_ns = 500 * MS}};
    (void)state;
    assert_int_equal(waits_create(&waits), 0);
    for (uint32_t r = 0; r < RANKS; r++)
        s.ranks[r] =
            (struct wire_rank_row){.rank = r, .in_call_peer = PEER_NONE, .recv_ns = 500 * MS};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(transfers_add(&s.transfers, &rows[i]), 0);
    sums_update(&s, waits);
    assert_int_equal(waits_rows(waits)[1].late_ns, 500 * MS);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_int_equal(waits_rows(waits)[r].caused_ns, 0);
    transfers_finish(&s.transfers);
    waits_destroy(waits);
}

/* ---- collectives that are cut ---------------------------------------------- */

static void ranks_are_compared_with_those_that_made_as_many_calls(void **state)
{
    struct late_collectives collectives = {.capacity = 0};
    struct rank_lateness rows[4] = {{0}};
    const struct hang_calls calls[] = {
        {0, CALL_Barrier, 7, 2, 0, 300}, {1, CALL_Barrier, 7, 2, 0, 50},
        {2, CALL_Barrier, 7, 1, 0, 10},  {3, CALL_Barrier, 8, 2, 0, 5},
        {3, CALL_Reduce, 7, 2, 0, 5},    {9, CALL_Barrier, 7, 2, 0, 900},
        {0, CALL_Ibarrier, 7, 1, 0, 90}, {3, CALL_Ibarrier, 7, 1, 0, 10}};
    (void)state;
    assert_int_equal(
        rank_lateness_add_collectives(&collectives, calls, sizeof(calls) / sizeof(*calls), rows, 4),
        0);
    assert_int_equal(rows[1].late_ns, 250);
    assert_int_equal(rows[1].waited_ns, 0);
    assert_int_equal(rows[0].late_ns, 0);
    assert_int_equal(rows[0].waited_ns, 250);
    assert_int_equal(rank_lateness_caused_ns(&rows[1]), 250);
    assert_int_equal(rank_lateness_caused_ns(&rows[0]), 0);
    assert_int_equal(rows[2].late_ns + rows[2].waited_ns + rows[3].late_ns + rows[3].waited_ns, 0);
    late_collectives_finish(&collectives);
}

/* Agents report the calls of a rank by the code region that it made them in: two regions with as
 * many calls are one sum. */
static void calls_in_several_regions_are_compared_together(void **state)
{
    struct late_collectives collectives = {.capacity = 0};
    struct rank_lateness rows[2] = {{0}};
    const struct hang_calls calls[] = {{0, CALL_Barrier, 7, 2, 0, 900},
                                       {0, CALL_Barrier, 7, 2, 0, 10},
                                       {1, CALL_Barrier, 7, 2, 0, 850},
                                       {1, CALL_Barrier, 7, 2, 0, 20}};
    (void)state;
    for (int window = 0; window < 2; window++) {
        memset(rows, 0, sizeof(rows));
        assert_int_equal(rank_lateness_add_collectives(&collectives, calls,
                                                       sizeof(calls) / sizeof(*calls), rows, 2),
                         0);
        assert_int_equal(rows[0].waited_ns, 40);
        assert_int_equal(rows[0].late_ns, 0);
        assert_int_equal(rows[1].waited_ns, 0);
        assert_int_equal(rows[1].late_ns, 40);
    }
    late_collectives_finish(&collectives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_a_window_give_what_its_events_give),
        cmocka_unit_test(the_rank_that_causes_lateness_is_that_of_the_single_events),
        cmocka_unit_test(nobody_has_caused_the_lateness_of_a_message_in_flight),
        cmocka_unit_test(ranks_are_compared_with_those_that_made_as_many_calls),
        cmocka_unit_test(calls_in_several_regions_are_compared_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
