/* The stage `match` for one rank: passes batches to the matcher and reports losses to it. */
#include "agent/node/rank_match.h"

/* A thread may be descheduled between the time stamp of a call and the moment when the call is
 * visible in its ring. */
#define SLACK_NS UINT64_C(20000000)

/* Id of the communicator in a slot. Slots are reused only when all of them were used once: from
 * then on a record does not identify its communicator, and records of slots that were reused are
 * left out, from their first to their last. */
static uint64_t rank_match_find_comm(void *user, uint32_t slot, int *fresh)
{
    struct rank *rank = user;
    if (slot >= rank->tables.comm_count)
        return 0;
    const struct comm_slot *comm = &rank->comms[slot];
    uint32_t generation = atomic_load_explicit(&comm->generation, memory_order_acquire);
    uint64_t id = *(const volatile uint64_t *)&comm->id;
    atomic_thread_fence(memory_order_acquire);
    *fresh = rank->matching.has_lost && rank->matching.comms_lost[slot] == 0;
    if (generation == 0 || generation > 2 ||
        atomic_load_explicit(&comm->generation, memory_order_relaxed) > 2)
        return 0;
    return id;
}

static struct match_source rank_match_make_source(struct rank *rank, uint32_t ring,
                                                  const struct tick_clock *clock)
{
    return (struct match_source){clock, ring, rank_match_find_comm, rank};
}

/* Of communicators that are there already, some records are not known. */
static void rank_match_age_comms(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->tables.comm_count; i++)
        rank->matching.comms_lost[i] =
            atomic_load_explicit(&rank->comms[i].generation, memory_order_relaxed);
    rank->matching.has_lost = 1;
}

/* Records of the rank are missing: what is unmatched so far cannot be matched any more. */
static void rank_match_mark_lost(struct rank *rank)
{
    rank_match_age_comms(rank);
    if (rank->matching.member != NULL)
        match_lost(rank->matching.match, rank->matching.member);
}

void rank_match_start(struct rank *rank, struct match *match)
{
    rank->matching.match = match;
    rank->matching.member = match_resume(match, (uint32_t)rank->world_rank);
    rank->matching.is_restored = rank->matching.member != NULL;
    if (rank->matching.is_restored) {
        rank_match_age_comms(rank);
        return; /* what is lost since is known when its rings are opened */
    }
    rank->matching.member = match_add(match, (uint64_t)rank->world_rank);
    rank->matching.dropped = atomic_load_explicit(&rank->segment->dropped, memory_order_relaxed);
    if (rank->matching.dropped != 0)
        rank_match_mark_lost(rank);
}

void rank_match_stop(struct rank *rank)
{
    if (rank->matching.member != NULL)
        match_remove(rank->matching.match, rank->matching.member);
    rank->matching.member = NULL;
}

void rank_match_batch(struct rank *rank, uint32_t number, const struct tick_clock *clock,
                      const struct event *batch, size_t taken)
{
    struct rank_ring *ring = &rank->rings[number];
    if (rank->matching.member == NULL)
        return;
    if (ring->reader.lost != ring->lost_matched)
        rank_match_mark_lost(rank);
    ring->lost_matched = ring->reader.lost;
    struct match_source source = rank_match_make_source(rank, number, clock);
    match_events(rank->matching.match, rank->matching.member, &source, batch, taken);
}

/* Reports to the matcher which records of a ring were not read yet, for ranks of several threads.
 * @return until when the records of the ring are known */
static uint64_t rank_match_unread(struct rank *rank, uint32_t number,
                                  const struct tick_clock *clock)
{
    struct rank_ring *ring = &rank->rings[number];
    struct match_source source = rank_match_make_source(rank, number, clock);
    struct event event;
    struct ring_reader ahead = ring->reader;
    int begun = ring_read(&ahead, &event, 1) == 1 || ring_begun(&ring->reader, &event) == 0;
    uint64_t until = match_underway(rank->matching.member, &source, begun ? &event : NULL);
    /* More than one unread: those after the first began after it had ended. */
    if (ahead.next != ring->reader.next) {
        uint64_t exit_ns = tick_clock_ns(clock, event.t_exit);
        until = exit_ns < until ? exit_ns : until;
    }
    return until;
}

void rank_match_report_watermark(struct rank *rank, const struct drain_clocks *clocks)
{
    const struct tick_clock *clock = rank->tick_unit == TICK_TSC ? clocks->tsc : clocks->plain;
    uint64_t dropped = atomic_load_explicit(&rank->segment->dropped, memory_order_relaxed);
    if (rank->matching.member == NULL)
        return;
    if (dropped != rank->matching.dropped) {
        rank->matching.dropped = dropped;
        rank_match_mark_lost(rank);
    }
    if (rank->open < 2)
        return;
    uint64_t known = rank->drained_ns > SLACK_NS ? rank->drained_ns - SLACK_NS : 0;
    known = clocks->end_ns < known ? clocks->end_ns : known;
    for (uint32_t i = 0; i < rank->open; i++) {
        uint64_t one = rank_match_unread(rank, i, clock);
        known = one < known ? one : known;
    }
    match_known_until(rank->matching.match, rank->matching.member, known);
}
