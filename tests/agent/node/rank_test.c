/* A rank's segment read by the agent: nothing lost uncounted, nothing believed. */
#include "agent/node/rank.h"
#include "agent/node/rank_activity.h"
#include "agent/node/rank_drain.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "tests/agent/node/fake_rank.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SESSION "7e57a"
#define CAPACITY 64u

struct bed {
    struct fake_rank fake;
    struct rank *rank;
    struct event_sum *sum;
    struct tick_clock plain;
    struct event batch[RANK_BATCH];
};

static void attach(struct bed *bed)
{
    assert_int_equal(event_sum_create(&bed->sum, 1000), 0);
    assert_int_equal(rank_open(&bed->rank, bed->fake.name, SESSION, 1), 0);
    assert_true(rank_is_initialised(bed->rank));
    assert_int_equal(rank_join(bed->rank, bed->sum), 0);
}

static void detach(struct bed *bed)
{
    rank_destroy(bed->rank);
    event_sum_destroy(bed->sum);
}

static int set_up_ring(void **state, uint32_t capacity)
{
    struct bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL ||
        fake_rank_create(&bed->fake, SESSION, (int32_t)getpid(), "job.0", 2, 8, capacity) != 0)
        return -1;
    tick_clock_init_ns(&bed->plain);
    *state = bed;
    return 0;
}

static int set_up(void **state)
{
    return set_up_ring(state, CAPACITY);
}

static int set_up_long_ring(void **state)
{
    return set_up_ring(state, 4 * RANK_TURN);
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    fake_rank_destroy(&bed->fake);
    free(bed);
    return 0;
}

static struct drain_clocks until(struct bed *bed, uint64_t end)
{
    return (struct drain_clocks){&bed->plain, &bed->plain, end, end};
}

static struct event send_event(uint64_t enter, int32_t peer)
{
    return (struct event){.t_enter = enter,
                          .t_exit = enter + 5,
                          .bytes = 8,
                          .peer = peer,
                          .kind = EVENT_CALL,
                          .call = CALL_Send,
                          .flags = EVENT_SEND | EVENT_POST | EVENT_DONE};
}

static struct wire_rank_row row_of(struct bed *bed)
{
    struct window_rows rows;
    assert_int_equal(event_sum_rows(bed->sum, &rows), 0);
    assert_int_equal(rows.ranks_count, 1);
    return rows.ranks[0];
}

static void a_call_in_progress_during_a_pause_is_named_and_its_time_in_no_sum(void **state)
{
    struct bed *bed = *state;
    struct event barrier = {
        .t_enter = 1000, .kind = EVENT_CALL, .call = CALL_Barrier, .comm = COMM_SLOT_NONE};
    struct drain_clocks clocks = until(bed, 2000);
    attach(bed);
    fake_rank_enter(&bed->fake, &barrier);
    rank_drain(bed->rank, &clocks, NULL, bed->batch);
    atomic_store(&bed->fake.segment->paused_at, 1001); /* by another thread */
    rank_end_window(bed->rank, &clocks, 0);
    assert_int_equal(row_of(bed).collective_ns, 1000);
    event_sum_clear(bed->sum);
    atomic_store(&bed->fake.segment->paused_at, 900);
    clocks = until(bed, 3000);
    rank_end_window(bed->rank, &clocks, 0);
    struct wire_rank_row row = row_of(bed);
    assert_int_equal(row.collective_ns, 0);
    assert_int_equal(row.in_call, CALL_Barrier);
    assert_int_equal(row.in_call_ns, 2000);
    detach(bed);
}

/* The ring is lapped often: what is not read is summed by the rank itself. */
static void every_record_is_summed_though_the_ring_is_lapped(void **state)
{
    struct bed *bed = *state;
    uint64_t seed = 99, written = 0, now = 1000, events = 0, tallied = 0, sent = 0, send_ns = 0;
    attach(bed);
    for (int round = 0; round < 2000; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        for (uint64_t n = (seed >> 33) % 100; n > 0; n--, written++, now += 10) {
            struct event event = send_event(now, (int32_t)(written % 8));
            fake_rank_write(&bed->fake, &event);
        }
        struct drain_clocks clocks = until(bed, now - (seed >> 50) % 300);
        rank_drain(bed->rank, &clocks, NULL, bed->batch);
        if (round % 7 != 0)
            continue;
        rank_end_window(bed->rank, &clocks, 0);
        struct wire_rank_row row = row_of(bed);
        events += row.events;
        tallied += row.tallied;
        sent += row.sent;
        send_ns += row.send_ns;
        assert_int_equal(row.lost, 0);
        event_sum_clear(bed->sum);
    }
    struct drain_clocks clocks = until(bed, now);
    rank_drain(bed->rank, &clocks, NULL, bed->batch);
    rank_end_window(bed->rank, &clocks, 1);
    struct wire_rank_row row = row_of(bed);
    assert_int_equal(events + row.events, written);
    assert_int_equal(sent + row.sent, written);
    assert_int_equal(send_ns + row.send_ns, 5 * written);
    assert_int_equal(row.lost, 0);
    assert_true(tallied > 0 && tallied < written);
    detach(bed);
}

/* Agents are killed at any moment, and their successors go on from the journal. What a window
 * counted that was never committed is counted again, or lost; in a ring that is lapped meanwhile,
 * too. */
static void every_record_counts_once_however_often_agents_are_killed(void **state)
{
    struct bed *bed = *state;
    static struct journal_state journal;
    memset(&journal, 0, sizeof journal);
    uint64_t seed = 4711, written = 0, now = 1000, events = 0, lost = 0, sent = 0, tallied = 0;
    attach(bed);
    for (int round = 0; round < 3000; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        for (uint64_t n = (seed >> 33) % 90; n > 0; n--, written++, now += 10) {
            struct event event = send_event(now, (int32_t)(written % 8));
            fake_rank_write(&bed->fake, &event);
        }
        struct drain_clocks clocks = until(bed, now);
        rank_drain(bed->rank, &clocks, &journal, bed->batch);
        if (seed >> 60 < 6) {
            rank_end_window(bed->rank, &clocks, 0);
            rank_store_positions(bed->rank);
        }
        if (seed >> 60 < 5) { /* else it is killed before the window is committed */
            struct wire_rank_row row = row_of(bed);
            events += row.events;
            lost += row.lost;
            sent += row.sent;
            tallied += row.tallied;
            event_sum_clear(bed->sum);
            journal.ring_count = rank_copy_positions(bed->rank, journal.rings, JOURNAL_RINGS);
        } else if (seed >> 60 < 7) {
            detach(bed);
            attach(bed);
        }
    }
    struct drain_clocks clocks = until(bed, now);
    rank_drain(bed->rank, &clocks, &journal, bed->batch);
    rank_end_window(bed->rank, &clocks, 1);
    struct wire_rank_row row = row_of(bed);
    assert_int_equal(events + row.events + lost + row.lost, written);
    assert_int_equal(sent + row.sent, events + row.events);
    assert_true(tallied > 0 && lost + row.lost > 0 && lost + row.lost < written / 3);
    detach(bed);
}

static void what_an_agent_took_before_its_first_window_ended_is_read_by_the_next(void **state)
{
    struct bed *bed = *state;
    static struct journal_state journal;
    memset(&journal, 0, sizeof journal);
    struct event event = send_event(1000, 1);
    attach(bed);
    fake_rank_write(&bed->fake, &event);
    fake_rank_write(&bed->fake, &event);
    struct drain_clocks clocks = until(bed, 2000);
    assert_int_equal(rank_drain(bed->rank, &clocks, &journal, bed->batch), 2);
    detach(bed);
    attach(bed);
    fake_rank_write(&bed->fake, &event);
    assert_int_equal(rank_drain(bed->rank, &clocks, &journal, bed->batch), 3);
    rank_end_window(bed->rank, &clocks, 1);
    struct wire_rank_row row = row_of(bed);
    assert_int_equal(row.events, 3);
    assert_int_equal(row.lost, 0);
    detach(bed);
}

/* Drains are left out where ranks use all cores. */
static void sums_of_a_ring_that_was_not_drained_name_what_is_in_their_window(void **state)
{
    struct bed *bed = *state;
    struct event event = send_event(1000, 1);
    struct window_rows rows;
    event.comm = 1;
    event.region = 1;
    fake_rank_comm(&bed->fake, 1, 77, 8, "halo");
    fake_rank_region(&bed->fake, 1, "force");
    attach(bed);
    for (int window = 0; window < 3; window++) {
        for (unsigned i = 0; i < 2 * CAPACITY; i++)
            fake_rank_write(&bed->fake, &event);
        struct drain_clocks clocks = until(bed, 2000);
        if (window == 0)
            rank_drain(bed->rank, &clocks, NULL, bed->batch);
        rank_end_window(bed->rank, &clocks, 0);
        assert_int_equal(event_sum_rows(bed->sum, &rows), 0);
        assert_true(rows.ranks[0].tallied > 0);
        assert_int_equal(rows.pairs_count, 1);
        assert_in_range(rows.pairs[0].comm, 1, rows.comms_count - 1);
        assert_in_range(rows.pairs[0].region, 1, rows.regions_count - 1);
        assert_int_equal(rows.comms[rows.pairs[0].comm].id, 77);
        event_sum_clear(bed->sum);
    }
    detach(bed);
}

static void reused_slot_names_its_new_communicator(void **state)
{
    struct bed *bed = *state;
    attach(bed);
    for (uint64_t id = 50; id < 53; id++) {
        fake_rank_comm(&bed->fake, 3, id, 4, "dup");
        struct event event = send_event(id * 100, 1);
        event.comm = 3;
        fake_rank_write(&bed->fake, &event);
        struct drain_clocks clocks = until(bed, 100000);
        rank_drain(bed->rank, &clocks, NULL, bed->batch);
        fake_rank_comm(&bed->fake, 3, id, 4, "freed");
    }
    struct window_rows rows;
    assert_int_equal(event_sum_rows(bed->sum, &rows), 0);
    assert_int_equal(rows.pairs_count, 3);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(rows.comms[rows.pairs[i].comm].id, 50 + i);
    detach(bed);
}

/* Records of two communicators, read when the slot is that of the second one. */
static void sums_name_no_communicator_that_was_made_later(void **state)
{
    struct bed *bed = *state;
    attach(bed);
    for (int i = 0; i < 2; i++)
        fake_rank_comm(&bed->fake, 3, 51, 4, "second");
    segment_comm(bed->fake.segment, 3)->since = 150;
    for (uint64_t enter = 100; enter < 300; enter += 60) {
        struct event event = send_event(enter, 1);
        event.comm = 3;
        fake_rank_write(&bed->fake, &event);
    }
    struct event wait = {.t_enter = 300,
                         .t_post = 120,
                         .kind = EVENT_CALL,
                         .call = CALL_Wait,
                         .comm = 3,
                         .request = 1,
                         .flags = EVENT_RECV};
    fake_rank_enter(&bed->fake, &wait);
    struct drain_clocks clocks = until(bed, 1000);
    struct window_rows rows;
    rank_drain(bed->rank, &clocks, NULL, bed->batch);
    rank_end_window(bed->rank, &clocks, 0);
    assert_int_equal(event_sum_rows(bed->sum, &rows), 0);
    assert_int_equal(rows.ranks[0].in_call_comm, 0);
    assert_int_equal(rows.pairs_count, 2);
    for (uint64_t i = 0; i < 2; i++) {
        const int is_first = rows.comms[rows.pairs[i].comm].id == 0;
        assert_int_equal(rows.pairs[i].messages, is_first ? 1 : 3);
    }
    detach(bed);
}

static void worker_that_takes_over_counts_nothing_twice(void **state)
{
    struct bed *bed = *state;
    static struct journal_state journal;
    memset(&journal, 0, sizeof journal);
    attach(bed);
    for (uint64_t i = 0; i < 20; i++) {
        struct event event = send_event(100 + i * 10, 1);
        fake_rank_write(&bed->fake, &event);
    }
    struct drain_clocks clocks = until(bed, 205); /* 11 of them end by then */
    assert_int_equal(rank_drain(bed->rank, &clocks, &journal, bed->batch), 11);
    rank_end_window(bed->rank, &clocks, 0);
    rank_store_positions(bed->rank);
    journal.ring_count = rank_copy_positions(bed->rank, journal.rings, JOURNAL_RINGS);
    assert_int_equal(journal.ring_count, 1);
    clocks.end_ns = 1000; /* summed, but never committed */
    rank_drain(bed->rank, &clocks, &journal, bed->batch);
    detach(bed);

    attach(bed);
    assert_int_equal(rank_drain_begin_ns(bed->rank, &journal), UINT64_MAX);
    assert_int_equal(rank_drain(bed->rank, &clocks, &journal, bed->batch), 9);
    assert_int_equal(row_of(bed).sent, 9);
    detach(bed);
}

static void agent_without_memory_begins_where_the_one_before_ended(void **state)
{
    struct bed *bed = *state;
    attach(bed);
    for (uint64_t i = 0; i < 10; i++) {
        struct event event = send_event(100 + i * 10, 1);
        fake_rank_write(&bed->fake, &event);
    }
    struct drain_clocks clocks = until(bed, 150);
    assert_int_equal(rank_drain(bed->rank, &clocks, NULL, bed->batch), 5);
    rank_end_window(bed->rank, &clocks, 0);
    rank_store_positions(bed->rank);
    rank_publish_positions(bed->rank, 150);
    detach(bed);

    attach(bed);
    assert_int_equal(rank_drain_begin_ns(bed->rank, NULL), 150);
    clocks.end_ns = clocks.now_ns = 1000;
    assert_int_equal(rank_drain(bed->rank, &clocks, NULL, bed->batch), 5);
    detach(bed);
}

static void rank_that_dies_in_a_call_is_reported_with_that_call(void **state)
{
    struct bed *bed = *state;
    struct daemon_clock clock;
    struct wire_death_row death;
    daemon_clock_init(&clock, 0, 5000);
    attach(bed);
    struct event event = send_event(100, 3);
    fake_rank_write(&bed->fake, &event);
    struct drain_clocks clocks = until(bed, 1000);
    rank_drain(bed->rank, &clocks, NULL, bed->batch);
    assert_int_equal(rank_describe_death(bed->rank, &clocks, &clock, &death), 1);
    assert_int_equal(death.call, CALL_Send);
    assert_int_equal(death.in_call, 0);
    assert_int_equal(death.at_ns, 5105);
    assert_int_equal(death.rank, 2);

    struct event receive = {.t_enter = 200, .kind = EVENT_CALL, .call = CALL_Recv, .peer = 5};
    fake_rank_enter(&bed->fake, &receive);
    assert_int_equal(rank_describe_death(bed->rank, &clocks, &clock, &death), 1);
    assert_int_equal(death.call, CALL_Recv);
    assert_int_equal(death.in_call, 1);
    assert_int_equal(death.peer, 5);
    assert_int_equal(death.comm, 1);
    assert_int_equal(death.at_ns, 5200);
    assert_int_equal(death.aborted, 0);

    atomic_store(&bed->fake.segment->abort_code, 17);
    atomic_store(&bed->fake.segment->state, SEGMENT_ABORTED);
    assert_int_equal(rank_describe_death(bed->rank, &clocks, &clock, &death), 1);
    assert_int_equal(death.aborted, 1);
    assert_int_equal(death.abort_code, 17);
    detach(bed);
}

/* The slot is used again: what was posted before that was on another communicator. */
static void a_death_never_names_a_communicator_that_was_made_later(void **state)
{
    struct bed *bed = *state;
    struct daemon_clock clock;
    struct wire_death_row death;
    daemon_clock_init(&clock, 0, 5000);
    attach(bed);
    fake_rank_comm(&bed->fake, 3, 50, 4, "first");
    struct event event = send_event(100, 3);
    event.comm = 3;
    fake_rank_write(&bed->fake, &event);
    struct drain_clocks clocks = until(bed, 1000);
    rank_drain(bed->rank, &clocks, NULL, bed->batch);
    segment_comm(bed->fake.segment, 3)->since = 150;
    for (int i = 0; i < 2; i++)
        fake_rank_comm(&bed->fake, 3, 51, 4, "second");
    assert_int_equal(rank_describe_death(bed->rank, &clocks, &clock, &death), 1);
    assert_int_equal(death.comm, 50);

    struct event wait = {.t_enter = 200,
                         .t_post = 120,
                         .kind = EVENT_CALL,
                         .call = CALL_Wait,
                         .comm = 3,
                         .request = 1,
                         .flags = EVENT_RECV};
    fake_rank_enter(&bed->fake, &wait);
    assert_int_equal(rank_describe_death(bed->rank, &clocks, &clock, &death), 1);
    assert_int_equal(death.in_call, 1);
    assert_int_equal(death.comm, 0);
    detach(bed);
}

/* As in hangs: the root of a collective is nobody that a wait for its request waits for. */
static void a_death_in_a_wait_for_a_collective_names_no_peer(void **state)
{
    struct bed *bed = *state;
    struct daemon_clock clock;
    struct wire_death_row death;
    daemon_clock_init(&clock, 0, 5000);
    attach(bed);
    struct event wait = {.t_enter = 100,
                         .t_exit = 150,
                         .kind = EVENT_CALL,
                         .call = CALL_Wait,
                         .peer = 1,
                         .tag = TAG_CALL - CALL_Ibcast,
                         .request = 1,
                         .flags = EVENT_DONE};
    fake_rank_write(&bed->fake, &wait);
    struct drain_clocks clocks = until(bed, 1000);
    rank_drain(bed->rank, &clocks, NULL, bed->batch);
    assert_int_equal(rank_describe_death(bed->rank, &clocks, &clock, &death), 1);
    assert_int_equal(death.peer, PEER_NONE);
    wait.t_enter = 200;
    wait.flags = 0;
    fake_rank_enter(&bed->fake, &wait);
    assert_int_equal(rank_describe_death(bed->rank, &clocks, &clock, &death), 1);
    assert_int_equal(death.in_call, 1);
    assert_int_equal(death.peer, PEER_NONE);
    detach(bed);
}

static void rank_that_calls_exit_ends_with_that_call(void **state)
{
    struct bed *bed = *state;
    attach(bed);
    assert_int_equal(rank_end_ns(bed->rank, 9000), 9000);
    atomic_store(&bed->fake.segment->exit_ns, 7000);
    assert_int_equal(rank_end_ns(bed->rank, 9000), 7000);
    atomic_store(&bed->fake.segment->exit_ns, 9001); /* memory of a rank is not trusted */
    assert_int_equal(rank_end_ns(bed->rank, 9000), 9000);
    detach(bed);
}

static void rank_that_finalized_did_not_die(void **state)
{
    struct bed *bed = *state;
    struct daemon_clock clock;
    struct wire_death_row death;
    daemon_clock_init(&clock, 0, 5000);
    attach(bed);
    atomic_store(&bed->fake.segment->state, SEGMENT_FINALIZED);
    struct drain_clocks clocks = until(bed, 1000);
    rank_drain(bed->rank, &clocks, NULL, bed->batch);
    assert_int_equal(rank_describe_death(bed->rank, &clocks, &clock, &death), 0);
    detach(bed);
}

static void foreign_and_damaged_segments_are_refused(void **state)
{
    struct bed *bed = *state;
    struct segment *segment = bed->fake.segment;
    struct segment good = *segment;
    struct rank *rank = NULL;
    assert_int_equal(rank_open(&rank, bed->fake.name, "7e57b", 1), -HOLTER_ECORRUPT);
    segment->pid++;
    assert_int_equal(rank_open(&rank, bed->fake.name, SESSION, 1), -HOLTER_ECORRUPT);
    *segment = good;
    segment->uid++;
    assert_int_equal(rank_open(&rank, bed->fake.name, SESSION, 1), -HOLTER_ECORRUPT);
    *segment = good;
    memset(segment->session, 'f', sizeof segment->session);
    assert_int_equal(rank_open(&rank, bed->fake.name, SESSION, 1), -HOLTER_ECORRUPT);
    *segment = good;
    segment->regions_offset = UINT64_MAX - 63;
    assert_int_equal(rank_open(&rank, bed->fake.name, SESSION, 1), -HOLTER_ECORRUPT);
    *segment = good;
    segment->tick_unit = 9;
    assert_int_equal(rank_open(&rank, bed->fake.name, SESSION, 1), -HOLTER_ECORRUPT);
    *segment = good;
    assert_int_equal(rank_open(&rank, bed->fake.name, SESSION, 1), 0);
    atomic_store(&segment->size, 1); /* rank 2 of 1 */
    assert_false(rank_is_initialised(rank));
    rank_destroy(rank);
}

static void a_rank_is_absent_before_its_start_and_after_its_end(void **state)
{
    struct bed *bed = *state;
    attach(bed);
    const uint64_t s = bed->fake.segment->mono_start_ns, now = UINT64_MAX;
    const struct {
        uint64_t begin, end, ended, absent;
    } cases[] = {
        {s + 5, s + 25, now, 0},       {s - 7, s + 13, now, 7},     {s - 7, s + 13, s + 3, 17},
        {s + 5, s + 25, s + 25, 0},    {s + 5, s + 25, s + 24, 1},  {s + 5, s + 25, s + 1, 20},
        {s - 90, s - 70, now, 20},     {s - 90, s - 70, s + 3, 20}, {s + 5, s + 25, s + 30, 0},
        {s + 50, s + 70, s + 1000, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rank_report_presence(bed->rank, cases[i].begin, cases[i].end, cases[i].ended);
        assert_int_equal(row_of(bed).absent_ns, cases[i].absent);
    }
    event_sum_clear(bed->sum);
    assert_int_equal(row_of(bed).absent_ns, 0);
    detach(bed);
}

/* Whatever stands in the memory while it is read, reading ends and stays inside. */
static void random_memory_does_no_harm(void **state)
{
    struct bed *bed = *state;
    attach(bed);
    uint64_t seed = 4711;
    size_t header = SEGMENT_HEADER_BYTES;
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 500; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t at = header + (seed >> 20) % (bed->fake.bytes - header);
            ((unsigned char *)bed->fake.segment)[at] = (unsigned char)(seed >> 13);
        }
        struct drain_clocks clocks = until(bed, (uint64_t)round * 1000000);
        struct daemon_clock clock;
        struct wire_death_row death;
        daemon_clock_init(&clock, 0, 0);
        rank_drain(bed->rank, &clocks, NULL, bed->batch);
        rank_end_window(bed->rank, &clocks, 0);
        rank_describe_death(bed->rank, &clocks, &clock, &death);
        row_of(bed);
        event_sum_clear(bed->sum);
    }
    detach(bed);
}

/* The clocks of a drain are read when it begins. An agent that gets no core for seconds then meets
 * records that are newer; only what is newer than the present is nonsense. */
static void records_newer_than_the_drain_are_not_lost(void **state)
{
    struct bed *bed = *state;
    attach(bed);
    struct event event = send_event(clock_mono_ns() - 5000, 1);
    fake_rank_write(&bed->fake, &event);
    event.t_exit = UINT64_MAX / 2;
    fake_rank_write(&bed->fake, &event);
    struct drain_clocks stale = {&bed->plain, &bed->plain, clock_mono_ns() + 1, 1};
    rank_drain(bed->rank, &stale, NULL, bed->batch);
    struct wire_rank_row row = row_of(bed);
    assert_int_equal(row.events, 1);
    assert_int_equal(row.lost, 1);
    detach(bed);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
    (void)number;
    alarms++;
}

static int alarms_while_writing(struct fake_rank *fake, unsigned records)
{
    struct event event = send_event(1000, 1);
    alarms = 0;
    for (unsigned i = 0; i < records; i++)
        fake_rank_write(fake, &event);
    return alarms;
}

static void ring_that_fills_between_drains_wakes_the_agent(void **state)
{
    struct bed *bed = *state;
    signal(RING_ALARM_SIGNAL, count_alarm);
    fake_rank_destroy(&bed->fake);
    assert_int_equal(fake_rank_create(&bed->fake, SESSION, (int32_t)getpid(), "job.0", 2, 8, 2048),
                     0);
    assert_int_equal(alarms_while_writing(&bed->fake, 10), 0);
    attach(bed);
    assert_int_equal(alarms_while_writing(&bed->fake, 256), 1); /* a new rank: taken up at once */
    struct drain_clocks clocks = until(bed, 2000);
    for (int round = 0; round < 5; round++) {
        rank_drain(bed->rank, &clocks, NULL, bed->batch);
        assert_int_equal(alarms_while_writing(&bed->fake, 1000), 0); /* not half full */
        assert_int_equal(alarms_while_writing(&bed->fake, 300), 1);
        assert_int_equal(alarms_while_writing(&bed->fake, 5000), 0); /* reported once */
    }
    detach(bed);
    signal(RING_ALARM_SIGNAL, SIG_DFL);
}

static void ranks_of_one_thread_are_read_in_whole_turns(void **state)
{
    struct bed *bed = *state;
    attach(bed);
    struct drain_clocks clocks = until(bed, 100000);
    for (uint64_t i = 0; i < RANK_TURN; i++) {
        assert_int_equal(rank_drain_turn(bed->rank, &clocks, NULL, bed->batch), 0);
        struct event event = send_event(1000 + 10 * i, 1);
        fake_rank_write(&bed->fake, &event);
    }
    assert_int_equal(rank_drain_turn(bed->rank, &clocks, NULL, bed->batch), RANK_TURN);
    assert_int_equal(row_of(bed).sent, RANK_TURN);
    for (uint64_t i = 0; i < RANK_TURN; i++) {
        struct event event = send_event(5000 + 10 * i, 1);
        fake_rank_write(&bed->fake, &event);
    }
    fake_rank_thread(&bed->fake, 1); /* the order of two threads is known after a whole drain */
    struct event event = send_event(9000, 1);
    fake_rank_write(&bed->fake, &event);
    assert_int_equal(rank_drain_turn(bed->rank, &clocks, NULL, bed->batch), 0);
    assert_int_equal(rank_drain(bed->rank, &clocks, NULL, bed->batch), RANK_TURN + 1);
    assert_int_equal(row_of(bed).sent, 2 * RANK_TURN + 1);
    detach(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranks_of_one_thread_are_read_in_whole_turns,
                                        set_up_long_ring, tear_down),
        cmocka_unit_test_setup_teardown(
            what_an_agent_took_before_its_first_window_ended_is_read_by_the_next, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            sums_of_a_ring_that_was_not_drained_name_what_is_in_their_window, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_record_counts_once_however_often_agents_are_killed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_call_in_progress_during_a_pause_is_named_and_its_time_in_no_sum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_record_is_summed_though_the_ring_is_lapped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(reused_slot_names_its_new_communicator, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sums_name_no_communicator_that_was_made_later, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(worker_that_takes_over_counts_nothing_twice, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(agent_without_memory_begins_where_the_one_before_ended,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(rank_that_dies_in_a_call_is_reported_with_that_call, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_death_never_names_a_communicator_that_was_made_later,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_death_in_a_wait_for_a_collective_names_no_peer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rank_that_calls_exit_ends_with_that_call, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rank_that_finalized_did_not_die, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_and_damaged_segments_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_rank_is_absent_before_its_start_and_after_its_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(random_memory_does_no_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(records_newer_than_the_drain_are_not_lost, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ring_that_fills_between_drains_wakes_the_agent, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
