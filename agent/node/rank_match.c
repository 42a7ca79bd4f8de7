/* The stage `match` for one rank: passes batches to the matcher and reports losses to it. */
#include "agent/node/rank_match.h"

/* A thread may be descheduled between the time stamp of a call and the moment when the call is
 * visible in its ring. */
#define SLACK_NS UINT64_C(20000000)

#define LOOKS 8 /* at a slot that is changing */

/* Communicators of a batch: records name them by position, so that each record and its communicator
 * are of one reading of the slot. */
struct batch_comms {
    uint32_t count;
    struct {
        uint64_t id;
        int fresh;
    } list[RANK_BATCH];
};

static uint64_t rank_match_find_comm(void *user, uint32_t position, int *fresh)
{
    const struct batch_comms *comms = user;
    *fresh = comms->list[position].fresh;
    return comms->list[position].id;
}

static uint32_t rank_match_use(uint32_t generation)
{
    return (generation + 1) / 2;
}

/* Add the communicator in a slot. @return its slot's comm_slot.since; UINT64_MAX: not known */
static uint64_t rank_match_add_comm(const struct rank *rank, uint32_t number,
                                    struct batch_comms *comms)
{
    for (int look = 0; number < rank->tables.comm_count && look < LOOKS; look++) {
        const struct comm_slot *slot = &rank->comms[number];
        uint32_t generation = atomic_load_explicit(&slot->generation, memory_order_acquire);
        uint64_t id = *(const volatile uint64_t *)&slot->id;
        uint64_t since = *(const volatile uint64_t *)&slot->since;
        atomic_thread_fence(memory_order_acquire);
        if (generation == 0 ||
            atomic_load_explicit(&slot->generation, memory_order_relaxed) != generation)
            continue;
        comms->list[comms->count].id = id;
        comms->list[comms->count++].fresh =
            rank->matching.has_lost &&
            rank_match_use(generation) > rank_match_use(rank->matching.comms_lost[number]);
        return since;
    }
    return UINT64_MAX;
}

/* Slots are used again, so that a record may be of a communicator that had its slot before: it is
 * left out then, like all later ones of that communicator in its ring.
 * @return whether messages of such communicators are left out */
static int rank_match_name_comms(const struct rank *rank, struct event *batch, size_t count,
                                 struct batch_comms *comms)
{
    uint32_t slot = COMM_SLOT_NONE;
    uint64_t since = 0;
    int left_out = 0;
    comms->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct event *event = &batch[i];
        if (event->comm >= COMM_SLOT_OTHER)
            continue;
        if (event->comm != slot) {
            slot = event->comm;
            since = rank_match_add_comm(rank, slot, comms);
        }
        int before = event_posted(event) < since;
        event->comm = before ? COMM_SLOT_OTHER : (uint16_t)(comms->count - 1);
        left_out |= before && event->flags & (EVENT_SEND | EVENT_RECV);
    }
    return left_out;
}

static struct match_source rank_match_make_source(struct batch_comms *comms, uint32_t ring,
                                                  const struct tick_clock *clock)
{
    return (struct match_source){clock, ring, rank_match_find_comm, comms};
}

/* Of communicators that are there already, some records are not known. */
static void rank_match_age_comms(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->tables.comm_count; i++)
        rank->matching.comms_lost[i] =
            atomic_load_explicit(&rank->comms[i].generation, memory_order_relaxed);
    rank->matching.has_lost = 1;
    if (rank->matching.member != NULL)
        rank->matching.losses = match_losses(rank->matching.member);
}

/* The matcher finds losses, too. */
static void rank_match_note_losses(struct rank *rank)
{
    if (match_losses(rank->matching.member) != rank->matching.losses)
        rank_match_age_comms(rank);
}

/* Records of the rank are missing: what is unmatched so far cannot be matched any more. */
static void rank_match_mark_lost(struct rank *rank)
{
    if (rank->matching.member != NULL)
        match_lost(rank->matching.match, rank->matching.member);
    rank_match_age_comms(rank);
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
                      struct event *batch, size_t taken)
{
    struct rank_ring *ring = &rank->rings[number];
    struct batch_comms comms;
    if (rank->matching.member == NULL)
        return;
    if (ring->reader.lost != ring->lost_matched)
        rank_match_mark_lost(rank);
    ring->lost_matched = ring->reader.lost;
    rank_match_note_losses(rank);
    int left_out = rank_match_name_comms(rank, batch, taken, &comms);
    struct match_source source = rank_match_make_source(&comms, number, clock);
    match_events(rank->matching.match, rank->matching.member, &source, batch, taken);
    rank_match_note_losses(rank);
    if (left_out && rank->open > 1) /* later ones in other rings may have been taken */
        rank_match_mark_lost(rank);
}

/* Reports to the matcher which records of a ring were not read yet, for ranks of several threads.
 * @return until when the records of the ring are known */
static uint64_t rank_match_unread(struct rank *rank, uint32_t number,
                                  const struct tick_clock *clock)
{
    struct rank_ring *ring = &rank->rings[number];
    struct batch_comms comms;
    struct match_source source = rank_match_make_source(&comms, number, clock);
    struct event event;
    struct ring_reader ahead = ring->reader;
    int begun = ring_read(&ahead, &event, 1) == 1 || ring_begun(&ring->reader, &event) == 0;
    if (begun)
        rank_match_name_comms(rank, &event, 1, &comms);
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
