/* The first stages of an event's way, for one rank: its rings are read in batches, each batch is
 * summed (event_sum), then matched (rank_match_start). Also where reading starts in a ring, and how
 * far it has come. */
#include "agent/node/rank_drain.h"

#include "agent/node/rank_match.h"
#include "holter/clock.h"

static const struct journal_ring *rank_drain_find_saved(const struct journal_state *state,
                                                        const struct rank *rank, uint32_t ring)
{
    for (uint32_t i = 0; state != NULL && i < state->ring_count && i < JOURNAL_RINGS; i++) {
        const struct journal_ring *saved = &state->rings[i];
        if (saved->pid == rank->pid && saved->pid_start == rank->pid_start && saved->ring == ring)
            return saved;
    }
    return NULL;
}

uint64_t rank_drain_begin_ns(const struct rank *rank, const struct journal_state *journal)
{
    if (rank_drain_find_saved(journal, rank, 0) != NULL)
        return UINT64_MAX;
    uint64_t visited = atomic_load_explicit(&rank->segment->agent_beat_ns, memory_order_relaxed);
    return visited != 0 ? visited : *(const volatile uint64_t *)&rank->segment->mono_start_ns;
}

/* Records that an earlier reader took after its last window and that are still there are read once
 * more, up to the tail. A writer that is making room may have added a part of the oldest ones to
 * the tally: an eighth of the ring is passed over. */
static void rank_drain_read_again(struct rank_ring *ring)
{
    const struct ring_control *control = ring->reader.control;
    uint64_t tail = atomic_load_explicit(&control->tail, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&control->head, memory_order_acquire);
    uint64_t reach = ring->reader.capacity - ring->reader.capacity / 8;
    uint64_t oldest = head > reach ? head - reach : 0;
    ring->reader.taken_until = tail < head ? tail : head;
    if (ring->reader.next < oldest) {
        oldest = oldest < ring->reader.taken_until ? oldest : ring->reader.taken_until;
        ring->reader.lost += oldest - ring->reader.next;
        ring->reader.next = oldest;
    }
}

/* Resumes where an earlier reader stopped: at the position in this agent's journal, or, when that
 * agent is gone with its journal, at the position that it published in the ring. */
static void rank_drain_resume_ring(struct rank *rank, uint32_t number,
                                   const struct journal_state *state)
{
    struct rank_ring *ring = &rank->rings[number];
    const struct ring_control *control = ring->reader.control;
    const struct journal_ring *saved = rank_drain_find_saved(state, rank, number);
    if (saved != NULL) {
        ring->reader.next = saved->next;
        ring->reader.lost = saved->lost;
        ring->sum = saved->sum;
        ring->tally_epoch = saved->tally_epoch;
        ring->saved = *saved;
        /* Without the matcher's state messages posted before are unknown. */
        ring->lost_matched = rank->matching.is_restored ? saved->lost_matched : UINT64_MAX;
        if (number == 0) {
            rank->dropped = saved->dropped;
            rank->matching.dropped = saved->dropped_matched;
        }
        rank_drain_read_again(ring);
        return;
    }
    ring->reader.next = atomic_load_explicit(&control->agent_next, memory_order_relaxed);
    ring->tally_epoch = atomic_load_explicit(&control->tally_epoch, memory_order_relaxed);
    ring->saved.next = ring->reader.next;
    ring->saved.tally_epoch = ring->tally_epoch;
    rank_drain_read_again(ring);
    if (rank->matching.is_restored && number == 0) /* of another process: its records are unknown */
        ring->lost_matched = UINT64_MAX;
    if (ring->saved.next == 0)
        return;
    ring->lost_matched = UINT64_MAX;
    ring->sum.last_exit_ns =
        atomic_load_explicit(&rank->segment->agent_beat_ns, memory_order_relaxed);
    ring->sum.untracked = atomic_load_explicit(&control->untracked, memory_order_relaxed);
    rank->dropped = atomic_load_explicit(&rank->segment->dropped, memory_order_relaxed);
}

/* Rings are opened in order, so only the next one can have come into use: every drain reads its
 * state, one cache line. */
static void rank_drain_open_rings(struct rank *rank, const struct journal_state *state)
{
    while (rank->open < rank->ring_limit &&
           ring_reader_init(&rank->rings[rank->open].reader, rank->segment, rank->bytes,
                            rank->open) == 0 &&
           rank_locate_tally(rank, rank->open) == 0) {
        rank_drain_resume_ring(rank, rank->open, state);
        rank->open++;
    }
}

static struct sum_source rank_drain_make_source(struct rank *rank, struct rank_ring *ring,
                                                const struct drain_clocks *clocks)
{
    return (struct sum_source){
        .ring = &ring->sum,
        .tables = &rank->tables,
        .clock = rank->tick_unit == TICK_TSC ? clocks->tsc : clocks->plain,
        .end_ns = clocks->end_ns,
        .now_ns = clocks->now_ns,
    };
}

/* Take the next records of a ring that end in this window, at most so many. @return how many */
static size_t rank_drain_take(struct rank *rank, uint32_t number, struct sum_source *source,
                              struct event *batch, size_t limit)
{
    struct rank_ring *ring = &rank->rings[number];
    uint64_t lost = ring->reader.lost;
    size_t count = 0;
    /* A writer that laps may be faster than the copy: the next one is shorter. */
    for (; limit > 0; limit /= 2) {
        count = ring_copy(&ring->reader, batch, limit);
        /* On a full node the agent may have been without a core for seconds since the drain began,
         * while the rank continued to write: those records are not from the future. */
        uint64_t now_ns = clock_mono_ns();
        source->now_ns = now_ns > source->now_ns ? now_ns : source->now_ns;
        count = event_sum_count_ended(source, batch, count);
        if (count == 0 || ring_take(&ring->reader, &rank->controls[number], count))
            break;
        count = 0;
    }
    if (ring->reader.lost != lost)
        event_sum_skip(source);
    return count;
}

/* @param most  records to take @return records taken */
static uint64_t rank_drain_batches(struct rank *rank, uint32_t number,
                                   const struct drain_clocks *clocks, struct event *batch,
                                   uint64_t most)
{
    struct rank_ring *ring = &rank->rings[number];
    struct sum_source source = rank_drain_make_source(rank, ring, clocks);
    uint64_t total = 0;
    /* Bounded by what is there now: a fast writer must not keep the agent here while the other
     * rings fill. */
    uint64_t head = atomic_load_explicit(&ring->reader.control->head, memory_order_acquire);
    while (ring->reader.next < head && total < most) {
        uint64_t limit = most - total < RANK_BATCH ? most - total : RANK_BATCH;
        size_t count = rank_drain_take(rank, number, &source, batch, (size_t)limit);
        if (count == 0)
            break;
        struct sum_source all = source;
        all.end_ns = UINT64_MAX; /* they are taken: none may be left */
        event_sum_events(rank->sum, rank->index, &all, batch, count);
        rank_match_batch(rank, number, source.clock, batch, count);
        total += count;
    }
    return total;
}

static uint64_t rank_drain_ring(struct rank *rank, uint32_t number,
                                const struct drain_clocks *clocks, struct event *batch)
{
    struct rank_ring *ring = &rank->rings[number];
    uint64_t taken = rank_drain_batches(rank, number, clocks, batch, UINT64_MAX);
    ring_alarm_set(&rank->controls[number], ring->reader.next + ring->reader.capacity / 2,
                   rank->reader_pid);
    return taken;
}

/* Slots of communicators may be in use for others, and positions in the window's dictionaries are
 * those of an earlier window. */
static void rank_drain_read_slots_again(struct rank *rank)
{
    rank->tables.comm_epoch++;
    rank->tables.region_epoch = event_sum_epoch(rank->sum);
}

static void rank_drain_begin(struct rank *rank, const struct drain_clocks *clocks,
                             const struct journal_state *journal)
{
    rank_drain_read_slots_again(rank);
    rank->drained_ns = clock_mono_ns();
    rank->drained_ns = clocks->now_ns < rank->drained_ns ? clocks->now_ns : rank->drained_ns;
    rank_drain_open_rings(rank, journal);
}

/* The order between several threads is known only where all their rings are read in one go. */
uint64_t rank_drain_turn(struct rank *rank, const struct drain_clocks *clocks,
                         const struct journal_state *journal, struct event *batch)
{
    rank_drain_begin(rank, clocks, journal);
    const struct ring_reader *reader = &rank->rings[0].reader;
    if (rank->open != 1 || atomic_load_explicit(&reader->control->head, memory_order_acquire) <
                               reader->next + RANK_TURN)
        return 0;
    uint64_t taken = rank_drain_batches(rank, 0, clocks, batch, RANK_TURN);
    rank_drain_open_rings(rank, journal); /* of a thread whose posts these records may complete */
    rank_match_report_watermark(rank, clocks);
    return taken;
}

uint64_t rank_drain(struct rank *rank, const struct drain_clocks *clocks,
                    const struct journal_state *journal, struct event *batch)
{
    uint64_t total = 0;
    rank_drain_begin(rank, clocks, journal);
    /* A ring that is opened meanwhile is read, too: the order between threads has to be known. */
    for (uint32_t i = 0; i < rank->open; i++) {
        total += rank_drain_ring(rank, i, clocks, batch);
        if (i + 1 == rank->open)
            rank_drain_open_rings(rank, journal);
    }
    rank_match_report_watermark(rank, clocks);
    return total;
}

int rank_is_drained(const struct rank *rank)
{
    for (uint32_t i = 0; i < rank->open; i++) {
        const struct ring_reader *reader = &rank->rings[i].reader;
        /* A head that has gone back is not the writer's: nothing more will be read. */
        if (atomic_load_explicit(&reader->control->head, memory_order_acquire) > reader->next)
            return 0;
    }
    return 1;
}

uint64_t rank_position(const struct rank *rank)
{
    uint64_t position = 0;
    for (uint32_t i = 0; i < rank->open; i++)
        position += rank->rings[i].reader.next;
    return position;
}

static uint64_t rank_drain_growth(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Growth of a counter in shared memory since the last call; a counter that went back is counted
 * from its new value. */
static uint64_t rank_drain_count_growth(uint64_t value, uint64_t *counted)
{
    uint64_t more = rank_drain_growth(value, *counted);
    *counted = value;
    return more;
}

/* The figures of the open window begin as those of the last committed one. */
static void rank_drain_open_tally(struct rank_ring *ring, uint32_t rows)
{
    const uint32_t committed = ring->tally_epoch & 1;
    for (uint32_t i = 0; i < rows && !ring->tally_open; i++)
        ring->tally[i].counted[!committed] = ring->tally[i].counted[committed];
    ring->tally_open = rows > 0;
}

/* @return records in the tally since the start */
static uint64_t rank_drain_count_tally(struct rank *rank, struct rank_ring *ring,
                                       const struct sum_source *source)
{
    uint32_t rows = atomic_load_explicit(&ring->reader.control->tally_count, memory_order_acquire);
    rows = rows < ring->tally_capacity ? rows : ring->tally_capacity;
    uint64_t records = 0;
    rank_drain_open_tally(ring, rows);
    for (uint32_t i = 0; i < rows; i++) {
        struct tally_row *row = &ring->tally[i];
        struct tally_figures now = tally_read(row),
                             *counted = &row->counted[!(ring->tally_epoch & 1)];
        if ((uint16_t)(atomic_load_explicit(&row->what, memory_order_relaxed) >> 32) != EVENT_POLL)
            records += now.records;
        if (now.records == counted->records)
            continue;
        const struct tally_figures grown = {
            .records = rank_drain_growth(now.records, counted->records),
            .bytes = rank_drain_growth(now.bytes, counted->bytes),
            .bytes_in = rank_drain_growth(now.bytes_in, counted->bytes_in),
            .ticks = rank_drain_growth(now.ticks, counted->ticks),
        };
        event_sum_tally(rank->sum, rank->index, source, row, &grown);
        *counted = now;
    }
    return records;
}

/* Records that were not read and are not in the tally are lost. While the rank runs, some may be on
 * their way into the tally. */
static void rank_drain_sample_counters(struct rank *rank, struct rank_ring *ring,
                                       const struct sum_source *source, int ended)
{
    uint64_t tallied = rank_drain_count_tally(rank, ring, source);
    uint64_t lost = rank_drain_growth(ring->reader.lost, tallied);
    if (!ended)
        lost = rank_drain_growth(lost, ring->reader.capacity / 8);
    lost = lost > ring->sum.lost ? lost : ring->sum.lost;
    uint64_t untracked =
        atomic_load_explicit(&ring->reader.control->untracked, memory_order_relaxed);
    event_sum_losses(rank->sum, rank->index, rank_drain_count_growth(lost, &ring->sum.lost),
                     rank_drain_count_growth(untracked, &ring->sum.untracked), rank->open);
}

/* The call that goes beyond the end of the window: the first record after it, or the call that has
 * not ended yet. None is known of a ring that was not drained up to the end.
 * @return 1 when *event was set */
static int rank_drain_find_in_progress(const struct rank *rank, const struct rank_ring *ring,
                                       const struct sum_source *source, struct event *event)
{
    struct ring_reader ahead = ring->reader;
    if (ring_read(&ahead, event, 1) != 1) {
        if (ring_peek(&ring->reader, event) != 0)
            return 0;
        uint64_t paused_at = atomic_load_explicit(&rank->segment->paused_at, memory_order_relaxed);
        event->flags |= paused_at != 0 && event->t_enter >= paused_at ? EVENT_PAUSED : 0;
        return 1;
    }
    return ahead.lost == ring->reader.lost && event_sum_count_ended(source, event, 1) == 0;
}

void rank_end_window(struct rank *rank, const struct drain_clocks *clocks, int ended)
{
    struct event event;
    rank_drain_read_slots_again(rank); /* the drain may have been left out */
    for (uint32_t i = 0; i < rank->open; i++) {
        struct rank_ring *ring = &rank->rings[i];
        struct sum_source source = rank_drain_make_source(rank, ring, clocks);
        if (rank_drain_find_in_progress(rank, ring, &source, &event))
            event_sum_in_progress(rank->sum, rank->index, &source, &event);
        rank_drain_sample_counters(rank, ring, &source, ended);
    }
    uint64_t dropped = atomic_load_explicit(&rank->segment->dropped, memory_order_relaxed);
    event_sum_losses(rank->sum, rank->index, rank_drain_count_growth(dropped, &rank->dropped), 0,
                     rank->open);
}

void rank_store_positions(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->open; i++) {
        struct rank_ring *ring = &rank->rings[i];
        ring->saved = (struct journal_ring){
            .pid_start = rank->pid_start,
            .pid = rank->pid,
            .ring = i,
            .next = ring->reader.next,
            .lost = ring->reader.lost,
            .dropped = rank->dropped,
            .lost_matched = ring->lost_matched,
            .dropped_matched = rank->matching.dropped,
            .tally_epoch = ring->tally_epoch + (uint32_t)ring->tally_open,
            .sum = ring->sum,
        };
        ring->tally_epoch = ring->saved.tally_epoch;
        ring->tally_open = 0;
    }
}

uint32_t rank_copy_positions(const struct rank *rank, struct journal_ring *out, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank->open && count < capacity; i++)
        if (rank->rings[i].saved.pid != 0)
            out[count++] = rank->rings[i].saved;
    return count;
}

void rank_publish_positions(struct rank *rank, uint64_t now_ns)
{
    for (uint32_t i = 0; i < rank->open; i++) {
        atomic_store_explicit(&rank->controls[i].agent_next, rank->rings[i].saved.next,
                              memory_order_relaxed);
        atomic_store_explicit(&rank->controls[i].tally_epoch, rank->rings[i].saved.tally_epoch,
                              memory_order_relaxed);
    }
    atomic_store_explicit(&rank->segment->agent_beat_ns, now_ns, memory_order_relaxed);
}
