#include "agent/node/rank.h"

#include "agent/node/rank_match.h"
#include "holter/clock.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RINGS_MOST 4096u
#define ASK_RECORDS 8u /* of a ring; the processor finds those behind them by itself */

void rank_text(char *out, size_t room, const char *text, size_t bound)
{
    size_t length = strnlen(text, bound < room - 1 ? bound : room - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

/* The header has been checked by segment_open(), but its memory can change at any time: offsets are
 * read once here, and checked again as they are used. */
static void *table_at(const struct rank *rank, const uint64_t *offset, const uint32_t *count,
                      size_t each, uint32_t *count_out)
{
    uint64_t at = *(const volatile uint64_t *)offset;
    uint32_t slots = *(const volatile uint32_t *)count;
    if (at % 64 != 0 || at > rank->bytes || (rank->bytes - at) / each < slots)
        return NULL;
    *count_out = slots;
    return (char *)rank->segment + at;
}

/* Copy a communicator's slot as one state of it. @return its generation; 0: never used, or changing
 */
static uint32_t read_comm(const struct comm_slot *slot, struct comm_slot *out)
{
    uint32_t before = atomic_load_explicit(&slot->generation, memory_order_acquire);
    out->my_rank = *(const volatile int32_t *)&slot->my_rank;
    out->size = *(const volatile uint32_t *)&slot->size;
    out->remote_size = *(const volatile uint32_t *)&slot->remote_size;
    out->id = *(const volatile uint64_t *)&slot->id;
    out->parent = *(const volatile uint64_t *)&slot->parent;
    for (size_t i = 0; i < sizeof out->name; i++)
        out->name[i] = *(const volatile char *)&slot->name[i];
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->generation, memory_order_relaxed) == before ? before : 0;
}

/* Positions in MPI_COMM_WORLD (1) are known, MPI_COMM_SELF (2) is another one in each rank, and
 * between two groups they are not unique. */
static int rank_is_announced(const struct comm_slot *comm)
{
    return comm->id > 2 && comm->remote_size == 0 && comm->my_rank >= 0 &&
           (uint32_t)comm->my_rank < comm->size;
}

/* A freed slot still holds the communicator that its last records name. Slots are looked at once a
 * drain; as long as the generation stays, so does what they hold. */
static uint32_t rank_find_comm(void *user, uint32_t slot)
{
    struct rank *rank = user;
    struct comm_seen *seen = &rank->comms_seen[slot];
    uint32_t epoch = event_sum_epoch(rank->sum);
    uint32_t generation = atomic_load_explicit(&rank->comms[slot].generation, memory_order_relaxed);
    if (seen->generation == generation && seen->epoch == epoch && generation != 0)
        return seen->position;
    struct comm_slot copy;
    char name[sizeof copy.name + 1];
    generation = read_comm(&rank->comms[slot], &copy);
    if (generation == 0)
        return 0;
    rank_text(name, sizeof name, copy.name, sizeof copy.name);
    struct wire_comm_row row = {.id = copy.id,
                                .parent = copy.parent,
                                .size = copy.size,
                                .remote_size = copy.remote_size,
                                .name = name};
    *seen = (struct comm_seen){generation, epoch, event_sum_comm(rank->sum, &row)};
    if (rank_is_announced(&copy) && seen->position != 0)
        event_sum_member(rank->sum, rank->index, seen->position, (uint32_t)copy.my_rank);
    return seen->position;
}

int rank_comm(const struct rank *rank, uint32_t slot, struct comm_slot *out)
{
    return slot < rank->tables.comm_count && read_comm(&rank->comms[slot], out) != 0;
}

int rank_region(const struct rank *rank, uint32_t slot, char *out, size_t room)
{
    if (slot == 0 || slot >= rank->tables.region_count ||
        atomic_load_explicit(&rank->regions[slot].ready, memory_order_acquire) != 1)
        return 0;
    rank_text(out, room, rank->regions[slot].name, sizeof rank->regions[slot].name);
    return 1;
}

static uint32_t rank_find_region(void *user, uint32_t slot)
{
    struct rank *rank = user;
    char name[sizeof rank->regions->name + 1];
    return rank_region(rank, slot, name, sizeof name) ? event_sum_region(rank->sum, name) : 0;
}

static int rank_make_tables(struct rank *rank)
{
    const struct segment *segment = rank->segment;
    rank->comms = table_at(rank, &segment->comms_offset, &segment->comms, sizeof(struct comm_slot),
                           &rank->tables.comm_count);
    rank->regions = table_at(rank, &segment->regions_offset, &segment->regions,
                             sizeof(struct region_slot), &rank->tables.region_count);
    rank->carts = table_at(rank, &segment->carts_offset, &segment->carts, sizeof(struct cart_slot),
                           &rank->cart_count);
    uint32_t rings = 0;
    rank->controls = table_at(rank, &segment->rings_offset, &segment->rings,
                              sizeof(struct ring_control), &rings);
    if (rank->comms == NULL || rank->regions == NULL || rank->carts == NULL ||
        rank->controls == NULL || rings == 0 || rings > RINGS_MOST)
        return -HOLTER_ECORRUPT;
    rank->ring_limit = rings;
    rank->tables.comms = calloc(rank->tables.comm_count + 1, sizeof *rank->tables.comms);
    rank->tables.regions = calloc(rank->tables.region_count + 1, sizeof *rank->tables.regions);
    rank->rings = calloc(rings, sizeof *rank->rings);
    rank->comms_seen = calloc(rank->tables.comm_count + 1, sizeof *rank->comms_seen);
    rank->comms_matched = calloc(rank->tables.comm_count + 1, sizeof *rank->comms_matched);
    rank->tables.find_comm = rank_find_comm;
    rank->tables.find_region = rank_find_region;
    rank->tables.user = rank;
    return rank->tables.comms != NULL && rank->tables.regions != NULL && rank->rings != NULL &&
                   rank->comms_seen != NULL && rank->comms_matched != NULL
               ? 0
               : -ENOMEM;
}

/* Is the header that of the process in the segment's name, and of this user? */
static int copy_identity(struct rank *rank, const char *session)
{
    const struct segment *segment = rank->segment;
    uint32_t uid;
    char key[32], written[33];
    if (segment_name_parse(rank->name + 1, &uid, key, &rank->pid) != 0)
        return -HOLTER_ECORRUPT;
    rank_text(written, sizeof written, segment->session, sizeof segment->session);
    rank->pid_start = *(const volatile uint64_t *)&segment->pid_start;
    rank->tick_unit = *(const volatile uint32_t *)&segment->tick_unit;
    rank->flavour = *(const volatile uint32_t *)&segment->flavour;
    rank_text(rank->job, sizeof rank->job, segment->job, sizeof segment->job);
    if (uid != (uint32_t)getuid() || *(const volatile uint32_t *)&segment->uid != uid ||
        *(const volatile int32_t *)&segment->pid != rank->pid || strcmp(key, session) != 0 ||
        strcmp(written, session) != 0 || rank->job[0] == '\0' ||
        (rank->tick_unit != TICK_TSC && rank->tick_unit != TICK_NS))
        return -HOLTER_ECORRUPT;
    return 0;
}

/* Until a ring is read: ring 0 is taken up at the rank's first calls, the others are seen with the
 * next drain, unless they fill sooner. */
static void set_first_alarms(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->ring_limit; i++) {
        struct ring_control *control = &rank->controls[i];
        uint64_t capacity = *(const volatile uint64_t *)&control->capacity;
        uint64_t head = atomic_load_explicit(&control->head, memory_order_relaxed);
        ring_alarm_set(control, head + (i == 0 ? 1 : capacity / 2), rank->reader_pid);
    }
}

int rank_open(struct rank **out, const char *name, const char *session, int32_t reader)
{
    struct rank *rank = calloc(1, sizeof *rank);
    if (rank == NULL)
        return -ENOMEM;
    rank->reader_pid = (int32_t)getpid();
    rank->world_rank = -1;
    rank_text(rank->name, sizeof rank->name, name, strlen(name));
    int rc = segment_open(&rank->segment, &rank->bytes, name, 1);
    if (rc == 0)
        rc = copy_identity(rank, session);
    if (rc == 0)
        rc = rank_make_tables(rank);
    if (rc != 0) {
        rank_destroy(rank);
        return rc;
    }
    /* One walk over the page tables now instead of a fault for every page later; a kernel that does
     * not know it (before 5.14) has the faults. */
    madvise(rank->segment, rank->bytes, MADV_POPULATE_READ);
    atomic_store_explicit(&rank->segment->agent_pid, reader, memory_order_relaxed);
    set_first_alarms(rank);
    *out = rank;
    return 0;
}

void rank_destroy(struct rank *rank)
{
    if (rank == NULL)
        return;
    segment_unmap(rank->segment, rank->bytes);
    free(rank->comms_seen);
    free(rank->comms_matched);
    free(rank->tables.comms);
    free(rank->tables.regions);
    free(rank->rings);
    free(rank);
}

int rank_known(struct rank *rank)
{
    if (rank->world_rank >= 0)
        return 1;
    int32_t world_rank = atomic_load_explicit(&rank->segment->rank, memory_order_acquire);
    int32_t world_size = atomic_load_explicit(&rank->segment->size, memory_order_acquire);
    if (world_rank < 0 || world_rank >= world_size)
        return 0;
    rank->world_rank = world_rank;
    rank->world_size = world_size;
    return 1;
}

int rank_join(struct rank *rank, struct event_sum *sum)
{
    int index = event_sum_add_rank(sum, (uint64_t)rank->world_rank, (uint64_t)rank->world_size);
    if (index < 0)
        return index;
    rank_rejoin(rank, sum, index);
    return 0;
}

void rank_rejoin(struct rank *rank, struct event_sum *sum, int index)
{
    rank->index = index;
    rank->sum = sum;
    /* Positions are those of other dictionaries. */
    memset(rank->comms_seen, 0, rank->tables.comm_count * sizeof *rank->comms_seen);
    memset(rank->tables.regions, 0, rank->tables.region_count * sizeof *rank->tables.regions);
}

/* ---- where reading begins ------------------------------------------------ */

static const struct journal_ring *journal_ring_of(const struct journal_state *state,
                                                  const struct rank *rank, uint32_t ring)
{
    for (uint32_t i = 0; state != NULL && i < state->ring_count && i < JOURNAL_RINGS; i++) {
        const struct journal_ring *saved = &state->rings[i];
        if (saved->pid == rank->pid && saved->pid_start == rank->pid_start && saved->ring == ring)
            return saved;
    }
    return NULL;
}

uint64_t rank_begin(const struct rank *rank, const struct journal_state *journal)
{
    if (journal_ring_of(journal, rank, 0) != NULL)
        return UINT64_MAX;
    uint64_t visited = atomic_load_explicit(&rank->segment->agent_beat_ns, memory_order_relaxed);
    return visited != 0 ? visited : *(const volatile uint64_t *)&rank->segment->mono_start_ns;
}

/* Take up where an earlier reader left: this agent's journal knows best; an agent that is gone with
 * all its memory left the number of records that it had handed on. */
static void rank_resume_ring(struct rank *rank, uint32_t number, const struct journal_state *state)
{
    struct rank_ring *ring = &rank->rings[number];
    const struct ring_control *control = ring->reader.control;
    const struct journal_ring *saved = journal_ring_of(state, rank, number);
    if (saved != NULL) {
        ring->reader.next = saved->next;
        ring->reader.lost = ring->lost_counted = saved->lost;
        ring->sum = saved->sum;
        ring->saved = *saved;
        ring->lost_matched = UINT64_MAX; /* what was posted before is not known any more */
        rank->dropped = number == 0 ? saved->dropped : rank->dropped;
        return;
    }
    ring->reader.next = atomic_load_explicit(&control->agent_next, memory_order_relaxed);
    ring->saved.next = ring->reader.next;
    if (ring->reader.next == 0)
        return;
    ring->lost_matched = UINT64_MAX;
    ring->sum.last_exit_ns =
        atomic_load_explicit(&rank->segment->agent_beat_ns, memory_order_relaxed);
    for (int family = 0; family < POLL_FAMILIES; family++) {
        ring->sum.polls[family] =
            atomic_load_explicit(&control->polls[family].calls, memory_order_relaxed);
        ring->sum.poll_ticks[family] =
            atomic_load_explicit(&control->polls[family].ticks, memory_order_relaxed);
    }
    ring->sum.untracked = atomic_load_explicit(&control->untracked, memory_order_relaxed);
    rank->dropped = atomic_load_explicit(&rank->segment->dropped, memory_order_relaxed);
}

/* Rings are taken in order, so only the next one can have come into use: a look at its state, one
 * cache line, at every drain. */
static void open_rings(struct rank *rank, const struct journal_state *state)
{
    while (rank->open < rank->ring_limit &&
           atomic_load_explicit(&rank->controls[rank->open].state, memory_order_relaxed) !=
               RING_FREE &&
           ring_reader_init(&rank->rings[rank->open].reader, rank->segment, rank->bytes,
                            rank->open) == 0) {
        rank_resume_ring(rank, rank->open, state);
        rank->open++;
    }
}

static struct sum_source rank_source_of(struct rank *rank, struct rank_ring *ring,
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

/* @return records taken; *beyond is set to the first one that was not, when there is one */
static uint64_t drain_ring(struct rank *rank, uint32_t number, const struct drain_clocks *clocks,
                           struct event *batch, int *beyond)
{
    struct rank_ring *ring = &rank->rings[number];
    struct sum_source source = rank_source_of(rank, ring, clocks);
    uint64_t total = 0;
    *beyond = 0;
    /* Bounded by what is there now: a fast writer must not keep the agent here while the other
     * rings fill. */
    uint64_t head = atomic_load_explicit(&ring->reader.control->head, memory_order_acquire);
    rank_match_shed(rank, ring, source.clock, head);
    if (ring->match_shed && rank->open > 1)
        rank_match_lost(rank); /* the others' records are matched */
    while (ring->reader.next < head) {
        size_t count = ring_read(&ring->reader, batch, RANK_BATCH);
        if (count == 0)
            break;
        /* On a full node the agent may have been without a core since the drain began, for seconds,
         * while the rank wrote on: those records are not from the future. */
        uint64_t now_ns = clock_mono_ns();
        source.now_ns = now_ns > source.now_ns ? now_ns : source.now_ns;
        size_t taken = event_sum_events(rank->sum, rank->index, &source, batch, count);
        rank->match_batch++;
        rank_match_batch(rank, number, source.clock, batch, taken);
        total += taken;
        if (taken < count) {
            ring->reader.next -= count - taken;
            batch[0] = batch[taken];
            *beyond = 1;
            break;
        }
    }
    return total;
}

static uint64_t drain_one(struct rank *rank, uint32_t number, const struct drain_clocks *clocks,
                          struct event *batch)
{
    struct rank_ring *ring = &rank->rings[number];
    int beyond;
    uint64_t lost = ring->reader.lost;
    uint64_t taken = drain_ring(rank, number, clocks, batch, &beyond);
    drain_pace_observe(&ring->pace, taken + (ring->reader.lost - lost), clocks->now_ns);
    ring_alarm_set(&rank->controls[number], ring->reader.next + ring->reader.capacity / 2,
                   rank->reader_pid);
    return taken;
}

uint64_t rank_drain(struct rank *rank, const struct drain_clocks *clocks,
                    const struct journal_state *journal, struct event *batch)
{
    uint64_t total = 0;
    rank->tables.comm_epoch++;
    rank->tables.region_epoch = event_sum_epoch(rank->sum);
    rank->drained_ns = clock_mono_ns();
    rank->drained_ns = clocks->now_ns < rank->drained_ns ? clocks->now_ns : rank->drained_ns;
    open_rings(rank, journal);
    /* A thread that comes meanwhile is read, too: the order between threads has to be known. */
    for (uint32_t i = 0; i < rank->open; i++) {
        total += drain_one(rank, i, clocks, batch);
        if (i + 1 == rank->open)
            open_rings(rank, journal);
    }
    rank_match_known(rank, clocks);
    return total;
}

void rank_ask(const struct rank *rank)
{
    if (rank->open < rank->ring_limit)
        __builtin_prefetch(&rank->controls[rank->open].state);
    for (uint32_t i = 0; i < rank->open; i++) {
        const struct ring_reader *reader = &rank->rings[i].reader;
        __builtin_prefetch(&reader->control->head);
        __builtin_prefetch(&reader->control->paused_calls);
        for (uint64_t ahead = 0; ahead < ASK_RECORDS; ahead++)
            __builtin_prefetch(&reader->slots[(reader->next + ahead) & (reader->capacity - 1)]);
    }
}

int rank_drained(const struct rank *rank)
{
    for (uint32_t i = 0; i < rank->open; i++) {
        const struct ring_reader *reader = &rank->rings[i].reader;
        if (atomic_load_explicit(&reader->control->head, memory_order_acquire) != reader->next)
            return 0;
    }
    return 1;
}

/* What of a counter in shared memory is new; one that went back is taken up anew. */
static uint64_t rank_count_growth(uint64_t value, uint64_t *counted)
{
    uint64_t more = value > *counted ? value - *counted : 0;
    *counted = value;
    return more;
}

static void sample_counters(struct rank *rank, struct rank_ring *ring,
                            const struct sum_source *source)
{
    const struct ring_control *control = ring->reader.control;
    uint64_t calls[POLL_FAMILIES], ticks[POLL_FAMILIES];
    for (int family = 0; family < POLL_FAMILIES; family++) {
        calls[family] = atomic_load_explicit(&control->polls[family].calls, memory_order_relaxed);
        ticks[family] = atomic_load_explicit(&control->polls[family].ticks, memory_order_relaxed);
    }
    event_sum_polls(rank->sum, rank->index, source, calls, ticks);
    uint64_t untracked = atomic_load_explicit(&control->untracked, memory_order_relaxed);
    event_sum_losses(rank->sum, rank->index,
                     rank_count_growth(ring->reader.lost, &ring->lost_counted),
                     rank_count_growth(untracked, &ring->sum.untracked), rank->open);
}

void rank_end_window(struct rank *rank, const struct drain_clocks *clocks)
{
    struct event event;
    for (uint32_t i = 0; i < rank->open; i++) {
        struct rank_ring *ring = &rank->rings[i];
        struct sum_source source = rank_source_of(rank, ring, clocks);
        struct ring_reader ahead = ring->reader;
        if (ring_read(&ahead, &event, 1) == 1 || ring_peek(&ring->reader, &event) == 0)
            event_sum_in_progress(rank->sum, rank->index, &source, &event);
        sample_counters(rank, ring, &source);
    }
    uint64_t dropped = atomic_load_explicit(&rank->segment->dropped, memory_order_relaxed);
    event_sum_losses(rank->sum, rank->index, rank_count_growth(dropped, &rank->dropped), 0,
                     rank->open);
}

uint32_t rank_carts(struct rank *rank, struct carts *carts)
{
    uint32_t added = 0;
    for (; rank->carts_taken < rank->cart_count && rank->carts_taken < SEGMENT_CARTS;
         rank->carts_taken++) {
        const struct cart_slot *slot = &rank->carts[rank->carts_taken];
        if (atomic_load_explicit(&slot->ready, memory_order_acquire) != 1)
            break; /* a thread is filling it: next time */
        struct cart_slot copy = {.dimensions = *(const volatile uint32_t *)&slot->dimensions,
                                 .periods = *(const volatile uint32_t *)&slot->periods,
                                 .position = *(const volatile uint32_t *)&slot->position,
                                 .id = *(const volatile uint64_t *)&slot->id,
                                 .made = *(const volatile uint32_t *)&slot->made};
        for (uint32_t i = 0; i < CART_DIMENSIONS; i++)
            copy.sizes[i] = *(const volatile uint32_t *)&slot->sizes[i];
        added += (uint32_t)carts_add(carts, &copy, (uint64_t)rank->world_rank,
                                     (uint64_t)rank->world_size);
    }
    return added;
}

uint64_t rank_wait(const struct rank *rank)
{
    uint64_t wait = DRAIN_MOST_NS;
    for (uint32_t i = 0; i < rank->open; i++) {
        uint64_t one = drain_pace_wait(&rank->rings[i].pace, rank->rings[i].reader.capacity);
        wait = one < wait ? one : wait;
    }
    return wait;
}

void rank_save(struct rank *rank)
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
            .sum = ring->sum,
        };
    }
}

uint32_t rank_saved(const struct rank *rank, struct journal_ring *out, uint32_t room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank->open && count < room; i++)
        if (rank->rings[i].saved.pid != 0)
            out[count++] = rank->rings[i].saved;
    return count;
}

void rank_committed(struct rank *rank, uint64_t now_ns)
{
    for (uint32_t i = 0; i < rank->open; i++) {
        atomic_store_explicit(&rank->controls[i].agent_next, rank->rings[i].saved.next,
                              memory_order_relaxed);
    }
    atomic_store_explicit(&rank->segment->agent_beat_ns, now_ns, memory_order_relaxed);
}
