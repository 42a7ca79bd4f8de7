/* match_replay JOB RANKS_PER_NODE SEED: the agent's matching at work on what the flight recorders
 * of a job's ranks hold, as if RANKS_PER_NODE ranks in turn lived on one node. The ranks must be
 * there still and do nothing more; nothing may have been overwritten. The records are handed on in
 * pieces as drains at random times would find them, by the seed. Standard output:
 *
 *   call RANK RING ENTER EXIT ENTER_NS EXIT_NS      ticks, then CLOCK_MONOTONIC
 *   message SOURCE DESTINATION BYTES TRANSFER LATE_SENDER LATE_RECEIVER
 *   half KEY RECEIVE SOURCE DESTINATION BYTES ENTER_NS EXIT_NS
 *   counts MATCHED UNMATCHED REJECTED               one line a node
 *
 * Status 3: the records are not whole, a larger HOLTER_RING is needed. */
#include "agent/node/tick_clock_read.h"
#include "daemon/analysis/matching/match.h"
#include "holter/segment.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RANKS 1024
#define ROUNDS 4000 /* drains, so many that messages often lie across one */
#define LATER_NS UINT64_C(60000000000)

/* Records of one thread, or of several one after the other. */
struct track {
    struct event *events; /* owned */
    size_t count;
    size_t next;
};

struct rank {
    struct segment *segment;
    size_t bytes;
    struct track *tracks; /* owned; one a ring of the segment */
    uint32_t rings;
    struct match_member *member;
};

struct replay {
    struct rank ranks[MOST_RANKS]; /* by rank */
    uint32_t world;
    struct tick_clock clock;
    uint64_t first_ns, last_ns;
    uint64_t random;
};

static _Noreturn void fail(int status, const char *what)
{
    fprintf(stderr, "match_replay: %s\n", what);
    exit(status);
}

static void *take(void *memory)
{
    if (memory == NULL)
        fail(1, "out of memory");
    return memory;
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014), below a bound. */
static uint64_t draw(struct replay *r, uint64_t below)
{
    uint64_t z = r->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

static void track_read(struct track *track, const struct rank *rank, uint32_t ring)
{
    struct ring_reader reader;
    if (ring_reader_init(&reader, rank->segment, rank->bytes, ring) != 0)
        return;
    uint64_t head = atomic_load_explicit(&reader.control->head, memory_order_acquire);
    if (head > reader.capacity)
        fail(3, "a ring has gone round");
    track->events = take(calloc(head + 1, sizeof *track->events));
    track->count = ring_capture_before(&reader, UINT64_MAX, track->events, head);
    if (track->count != head)
        fail(3, "records are missing");
}

static void rank_read(struct replay *r, struct segment *segment, size_t bytes)
{
    int32_t number = atomic_load(&segment->rank), world = atomic_load(&segment->size);
    if (number < 0 || number >= world || world > MOST_RANKS)
        fail(1, "a rank has not begun, or there are too many");
    struct rank *rank = &r->ranks[number];
    *rank = (struct rank){.segment = segment, .bytes = bytes, .rings = segment->rings};
    r->world = (uint32_t)world;
    rank->tracks = take(calloc(rank->rings, sizeof *rank->tracks));
    for (uint32_t i = 0; i < rank->rings; i++)
        track_read(&rank->tracks[i], rank, i);
    for (uint32_t i = 0; i < segment->comms; i++)
        if (atomic_load(&segment_comm(segment, i)->generation) > 2)
            fail(3, "a communicator's slot was used twice");
    if (atomic_load(&segment->dropped) > 0)
        fail(3, "a thread had no ring");
}

static void ranks_find(struct replay *r, const char *job)
{
    DIR *directory = opendir("/dev/shm");
    struct dirent *entry;
    if (directory == NULL)
        fail(1, "/dev/shm cannot be read");
    while ((entry = readdir(directory)) != NULL) {
        char name[300], session[32];
        uint32_t uid;
        int32_t pid;
        struct segment *segment;
        size_t bytes;
        if (segment_name_parse(entry->d_name, &uid, session, &pid) != 0 || uid != getuid())
            continue;
        snprintf(name, sizeof name, "/%s", entry->d_name);
        if (segment_open(&segment, &bytes, name, 0) != 0)
            continue;
        if (strncmp(segment->job, job, sizeof segment->job) == 0)
            rank_read(r, segment, bytes);
        else
            segment_unmap(segment, bytes);
    }
    closedir(directory);
    for (uint32_t i = 0; i < r->world; i++)
        if (r->ranks[i].segment == NULL)
            fail(1, "ranks of the job are missing");
    if (r->world == 0)
        fail(1, "there is no such job");
}

static void clock_find(struct replay *r)
{
    const struct segment *segment = r->ranks[0].segment;
    struct tick_anchor first = {segment->tick_start, segment->mono_start_ns};
    if (segment->tick_unit != TICK_TSC)
        tick_clock_init_ns(&r->clock);
    else if (tick_clock_init(&r->clock, first, tick_clock_read()) != 0)
        fail(1, "the clocks give no rate");
}

static void calls_print(struct replay *r)
{
    r->first_ns = UINT64_MAX;
    for (uint32_t number = 0; number < r->world; number++)
        for (uint32_t ring = 0; ring < r->ranks[number].rings; ring++) {
            const struct track *track = &r->ranks[number].tracks[ring];
            for (size_t i = 0; i < track->count; i++) {
                const struct event *e = &track->events[i];
                uint64_t enter_ns = tick_clock_ns(&r->clock, e->t_enter),
                         exit_ns = tick_clock_ns(&r->clock, e->t_exit);
                r->first_ns = enter_ns < r->first_ns ? enter_ns : r->first_ns;
                r->last_ns = exit_ns > r->last_ns ? exit_ns : r->last_ns;
                if (e->kind == EVENT_CALL)
                    printf("call %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64
                           " %" PRIu64 "\n",
                           number, ring, e->t_enter, e->t_exit, enter_ns, exit_ns);
            }
        }
}

static void message_print(void *user, const struct match_message *m)
{
    (void)user;
    printf("message %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
           m->source, m->destination, m->bytes, m->transfer_ns, m->late_sender_ns,
           m->late_receiver_ns);
}

static void half_print(void *user, const struct match_half *h)
{
    (void)user;
    printf("half %" PRIu64 " %d %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
           h->key, h->receive, h->source, h->destination, h->bytes, h->enter_ns, h->exit_ns);
}

/* Slots are not used twice: what they hold now is what every record meant. */
static uint64_t comm_id(void *user, uint32_t slot, int *fresh)
{
    const struct rank *rank = user;
    *fresh = 0;
    return slot < rank->segment->comms ? segment_comm(rank->segment, slot)->id : 0;
}

/* One ring is read up to a moment, in pieces; the call that goes beyond it is underway. */
static void track_feed(struct replay *r, struct match *match, struct rank *rank, uint32_t ring,
                       uint64_t until_ns)
{
    struct track *track = &rank->tracks[ring];
    struct match_source source = {.clock = &r->clock, .ring = ring, .comm = comm_id, .user = rank};
    size_t end = track->next;
    while (end < track->count && tick_clock_ns(&r->clock, track->events[end].t_exit) <= until_ns)
        end++;
    while (track->next < end) {
        size_t piece = 1 + draw(r, end - track->next);
        match_events(match, rank->member, &source, &track->events[track->next], piece);
        track->next += piece;
    }
    const struct event *next = end < track->count ? &track->events[end] : NULL;
    if (next != NULL && next->kind == EVENT_CALL &&
        tick_clock_ns(&r->clock, next->t_enter) <= until_ns) {
        struct event underway = *next;
        underway.t_exit = 0;
        underway.parts = 0;
        match_underway(rank->member, &source, &underway);
    } else {
        match_underway(rank->member, &source, NULL);
    }
}

static void node_replay(struct replay *r, uint32_t first, uint32_t end)
{
    struct match_sink sink = {.message = message_print, .half = half_print};
    struct match *match;
    if (match_create(&match, r->world, &sink) != 0)
        fail(1, "out of memory");
    for (uint32_t i = first; i < end; i++)
        r->ranks[i].member = take(match_add(match, i));
    uint64_t step = (r->last_ns - r->first_ns) / ROUNDS + 1, now = r->first_ns;
    while (now < r->last_ns) {
        now += step + draw(r, step); /* what any ring had in this round, all have in the next */
        for (uint32_t i = first; i < end; i++) {
            struct rank *rank = &r->ranks[i];
            for (uint32_t ring = 0; ring < rank->rings; ring++)
                track_feed(r, match, rank, ring, now + draw(r, step));
            match_known_until(match, rank->member, now);
        }
        match_settle(match, now);
    }
    for (uint32_t i = first; i < end; i++) {
        for (uint32_t ring = 0; ring < r->ranks[i].rings; ring++)
            track_feed(r, match, &r->ranks[i], ring, UINT64_MAX);
        match_known_until(match, r->ranks[i].member, UINT64_MAX);
    }
    match_settle(match, now + LATER_NS);
    for (uint32_t i = first; i < end; i++)
        match_remove(match, r->ranks[i].member);
    struct match_counts counts = match_counts(match);
    printf("counts %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counts.matched, counts.unmatched,
           counts.rejected);
    match_destroy(match);
}

int main(int argc, char **argv)
{
    static struct replay replay;
    if (argc != 4 || atoi(argv[2]) < 1) {
        fprintf(stderr, "usage: match_replay JOB RANKS_PER_NODE SEED\n");
        return 2;
    }
    uint32_t per_node = (uint32_t)atoi(argv[2]);
    replay.random = strtoull(argv[3], NULL, 0);
    ranks_find(&replay, argv[1]);
    clock_find(&replay);
    calls_print(&replay);
    for (uint32_t first = 0; first < replay.world; first += per_node) {
        uint32_t end = first + per_node;
        node_replay(&replay, first, end < replay.world ? end : replay.world);
    }
    for (uint32_t i = 0; i < replay.world; i++) {
        for (uint32_t ring = 0; ring < replay.ranks[i].rings; ring++)
            free(replay.ranks[i].tracks[ring].events);
        free(replay.ranks[i].tracks);
        segment_unmap(replay.ranks[i].segment, replay.ranks[i].bytes);
    }
    return 0;
}
