#include "agent/node/rank_match.h"

#include "holter/clock.h"

#define SHED_NS 1000u /* a ring that gets a record in less is not matched */

/* A thread may lose its core between the time stamp of a call and the moment when the call can be
 * seen in its ring. */
#define SLACK_NS UINT64_C(20000000)

/* Id of the communicator in a slot. Slots are given anew only when all of them were used once: from
 * then on it is not known which communicator a record names, and those in slots that were given
 * anew are left out, from their first record to their last. */
static uint64_t rank_match_comm(void *user, uint32_t slot, int *fresh)
{
    struct rank *rank = user;
    if (slot >= rank->tables.comm_count)
        return 0;
    struct comm_matched *known = &rank->comms_matched[slot];
    if (known->batch != rank->match_batch) {
        const struct comm_slot *comm = &rank->comms[slot];
        uint32_t generation = atomic_load_explicit(&comm->generation, memory_order_acquire);
        known->id = *(const volatile uint64_t *)&comm->id;
        atomic_thread_fence(memory_order_acquire);
        if (generation == 0 || generation > 2 ||
            atomic_load_explicit(&comm->generation, memory_order_relaxed) > 2)
            known->id = 0;
        known->batch = rank->match_batch;
    }
    *fresh = rank->match_lost && known->lost == 0;
    return known->id;
}

static struct match_source match_source_of(struct rank *rank, uint32_t ring,
                                           const struct tick_clock *clock)
{
    return (struct match_source){clock, ring, rank_match_comm, rank};
}

void rank_match_lost(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->tables.comm_count; i++)
        rank->comms_matched[i].lost =
            atomic_load_explicit(&rank->comms[i].generation, memory_order_relaxed);
    rank->match_lost = 1;
    if (rank->member != NULL)
        match_lost(rank->match, rank->member);
}

void rank_match(struct rank *rank, struct match *match)
{
    rank->match = match;
    rank->member = match_add(match, (uint64_t)rank->world_rank);
    rank->dropped_matched = atomic_load_explicit(&rank->segment->dropped, memory_order_relaxed);
    if (rank->dropped_matched != 0)
        rank_match_lost(rank);
}

void rank_unmatch(struct rank *rank)
{
    if (rank->member != NULL)
        match_remove(rank->match, rank->member);
    rank->member = NULL;
}

/* Were the newest records of a ring, so many, written in less time than it takes to match them? */
static int fills_fast(const struct rank_ring *ring, const struct tick_clock *clock, uint64_t head,
                      uint64_t newest, uint64_t now_ns)
{
    struct event event;
    struct ring_reader reader = ring->reader;
    reader.next = head - newest;
    if (ring_read(&reader, &event, 1) != 1 || reader.lost != ring->reader.lost)
        return 1; /* overwritten already */
    uint64_t exit_ns = tick_clock_ns(clock, event.t_exit);
    return (now_ns > exit_ns ? now_ns - exit_ns : 0) / SHED_NS < newest;
}

void rank_match_shed(const struct rank *rank, struct rank_ring *ring,
                     const struct tick_clock *clock, uint64_t head)
{
    uint64_t now_ns = clock_mono_ns(), behind = head - ring->reader.next;
    uint64_t elapsed = now_ns > ring->visited_ns ? now_ns - ring->visited_ns : 0;
    ring->visited_ns = now_ns;
    /* A few records tell no rate; a ring that is this full has begun to write fast just now. */
    uint64_t eighth = ring->reader.capacity / 8;
    int full = behind > 3 * eighth;
    int shed = full || (behind > eighth && elapsed / SHED_NS < behind);
    /* Rings of further threads are small, and what threads share is not matched any more after a
     * loss: here the records have to tell. They may also have waited for the window to end. */
    if (shed && rank->open > 1)
        shed = behind > 6 * eighth ||
               fills_fast(ring, clock, head, full ? 3 * eighth : behind, now_ns);
    ring->match_shed = shed;
}

void rank_match_batch(struct rank *rank, uint32_t number, const struct tick_clock *clock,
                      const struct event *batch, size_t taken)
{
    struct rank_ring *ring = &rank->rings[number];
    uint64_t paused =
        atomic_load_explicit(&ring->reader.control->paused_calls, memory_order_relaxed);
    if (rank->member == NULL)
        return;
    if (ring->match_shed) {
        ring->lost_matched = UINT64_MAX; /* as if they were lost, when matching goes on */
        return;
    }
    if (ring->reader.lost != ring->lost_matched || paused != ring->paused_matched) {
        ring->lost_matched = ring->reader.lost;
        ring->paused_matched = paused;
        rank_match_lost(rank);
    }
    struct match_source source = match_source_of(rank, number, clock);
    match_events(rank->match, rank->member, &source, batch, taken);
}

/* Tell what a ring holds that was not taken, for ranks of several threads.
 * @return until when the records of the ring are known */
static uint64_t match_rest(struct rank *rank, uint32_t number, const struct tick_clock *clock)
{
    struct rank_ring *ring = &rank->rings[number];
    struct match_source source = match_source_of(rank, number, clock);
    struct event event;
    struct ring_reader ahead = ring->reader;
    int begun = ring_read(&ahead, &event, 1) == 1 || ring_begun(&ring->reader, &event) == 0;
    uint64_t until = match_underway(rank->match, rank->member, &source, begun ? &event : NULL);
    /* More than one: those behind the first began after it had ended. */
    if (ahead.next != ring->reader.next) {
        uint64_t exit_ns = tick_clock_ns(clock, event.t_exit);
        until = exit_ns < until ? exit_ns : until;
    }
    return until;
}

void rank_match_known(struct rank *rank, const struct drain_clocks *clocks)
{
    const struct tick_clock *clock = rank->tick_unit == TICK_TSC ? clocks->tsc : clocks->plain;
    uint64_t dropped = atomic_load_explicit(&rank->segment->dropped, memory_order_relaxed);
    if (rank->member == NULL)
        return;
    if (dropped != rank->dropped_matched) {
        rank->dropped_matched = dropped;
        rank_match_lost(rank);
    }
    if (rank->open < 2)
        return;
    uint64_t known = rank->drained_ns > SLACK_NS ? rank->drained_ns - SLACK_NS : 0;
    known = clocks->end_ns < known ? clocks->end_ns : known;
    for (uint32_t i = 0; i < rank->open; i++) {
        uint64_t one = match_rest(rank, i, clock);
        known = one < known ? one : known;
    }
    match_known_until(rank->match, rank->member, known);
}
