/* Describes a rank that makes no calls: pending receives, state of its process, its death. */
#include "agent/node/rank_activity.h"

#define PENDING_NS                                                                                 \
    UINT64_C(                                                                                      \
        2000000000) /* a rank that is in one call for longer reports the receives it waits for */
/* Of one rank. One further row, from any source, stands for the others of a rank that has more. */
#define PENDING_ROWS 8u

/* @return 0: not known, as where the slot was another's when the message was posted */
static uint64_t rank_activity_comm_id(const struct rank *rank, const struct event *event)
{
    struct comm_slot copy;
    return rank_copy_comm(rank, event->comm, &copy) && event_posted(event) >= copy.since ? copy.id
                                                                                         : 0;
}

static void rank_activity_describe_receive(const struct rank *rank, uint64_t comm, int32_t source,
                                           int32_t tag, uint64_t waited_ns,
                                           struct transfer_sum *transfers)
{
    struct wire_pending_row row = {.rank = (uint64_t)rank->world_rank,
                                   .source = source,
                                   .tag = tag,
                                   .comm = comm,
                                   .waited_ns = waited_ns};
    transfer_sum_pending(transfers, &row);
}

static void rank_activity_describe_waits(const struct rank *rank, const struct event *event,
                                         uint64_t waited_ns, struct transfer_sum *transfers)
{
    struct match_open open[PENDING_ROWS + 1];
    const uint64_t comm = rank_activity_comm_id(rank, event);
    if (event->call == CALL_Wait && (!(event->flags & EVENT_RECV) || event->request == 0))
        return; /* waits for a send or a collective, not for a receive */
    switch (event->call) {
    case CALL_Wait:
    case CALL_Recv:
    case CALL_Probe:
    case CALL_Mprobe:
        rank_activity_describe_receive(rank, comm, event->peer, event->tag, waited_ns, transfers);
        return;
    case CALL_Sendrecv:
    case CALL_Sendrecv_replace:
        rank_activity_describe_receive(rank, comm, event_receive_source(event),
                                       event_receive_tag(event), waited_ns, transfers);
        return;
    default:
        break;
    }
    if (call_class_of(event->call) != CALL_WAIT || rank->matching.member == NULL)
        return;
    uint32_t count =
        match_open_receives(rank->matching.match, rank->matching.member, open, PENDING_ROWS + 1);
    if (count > PENDING_ROWS)
        open[PENDING_ROWS] = (struct match_open){.source = PEER_ANY, .tag = TAG_ANY};
    for (uint32_t i = 0; i < count; i++)
        rank_activity_describe_receive(rank, open[i].comm, open[i].source, open[i].tag, waited_ns,
                                       transfers);
}

void rank_report_pending(const struct rank *rank, const struct drain_clocks *clocks,
                         struct transfer_sum *transfers)
{
    const struct tick_clock *clock = rank->tick_unit == TICK_TSC ? clocks->tsc : clocks->plain;
    struct event event;
    for (uint32_t i = 0; i < rank->open; i++) {
        uint64_t enter_ns;
        if (ring_peek(&rank->rings[i].reader, &event) != 0 ||
            (enter_ns = tick_clock_ns(clock, event.t_enter)) + PENDING_NS > clocks->end_ns)
            continue;
        rank_activity_describe_waits(rank, &event, clocks->end_ns - enter_ns, transfers);
    }
}

void rank_report_state(const struct rank *rank, char state, uint64_t window_ns)
{
    if (state != 0 && event_sum_is_silent(rank->sum, rank->index, window_ns))
        event_sum_state(rank->sum, rank->index, state);
}

void rank_report_presence(struct rank *rank, uint64_t begin_ns, uint64_t end_ns, uint64_t ended_ns)
{
    const uint64_t started_ns = rank->segment->mono_start_ns;
    const uint64_t from_ns = started_ns > begin_ns ? started_ns : begin_ns;
    const uint64_t until_ns = ended_ns < end_ns ? ended_ns : end_ns;
    const uint64_t present_ns = until_ns > from_ns ? until_ns - from_ns : 0;
    struct ring_sum *rings[SEGMENT_RINGS];
    for (uint32_t i = 0; i < rank->open; i++)
        rings[i] = &rank->rings[i].sum;
    event_sum_absence(rank->sum, rank->index, end_ns - begin_ns - present_ns);
    event_sum_service(rank->sum, rank->index, rings, rank->open, from_ns, from_ns + present_ns);
}

/* The ring whose thread was active last. */
static const struct rank_ring *rank_activity_latest_ring(const struct rank *rank)
{
    const struct rank_ring *latest = NULL;
    for (uint32_t i = 0; i < rank->open; i++)
        if (latest == NULL || rank->rings[i].sum.last_exit_ns > latest->sum.last_exit_ns)
            latest = &rank->rings[i];
    return latest;
}

int rank_has_finalized(const struct rank *rank)
{
    return atomic_load_explicit(&rank->segment->state, memory_order_acquire) == SEGMENT_FINALIZED;
}

uint64_t rank_end_ns(const struct rank *rank, uint64_t noticed_ns)
{
    uint64_t exit_ns = atomic_load_explicit(&rank->segment->exit_ns, memory_order_relaxed);
    return exit_ns != 0 && exit_ns < noticed_ns ? exit_ns : noticed_ns;
}

int rank_describe_death(const struct rank *rank, const struct drain_clocks *clocks,
                        const struct daemon_clock *clock, struct wire_death_row *out)
{
    uint32_t state = atomic_load_explicit(&rank->segment->state, memory_order_acquire);
    if (state == SEGMENT_FINALIZED)
        return 0;
    const struct tick_clock *ticks = rank->tick_unit == TICK_TSC ? clocks->tsc : clocks->plain;
    struct wire_death_row row = {
        .rank = (uint64_t)rank->world_rank,
        .pid = (uint64_t)rank->pid,
        .aborted = state == SEGMENT_ABORTED,
        .abort_code = atomic_load_explicit(&rank->segment->abort_code, memory_order_relaxed),
        .peer = PEER_NONE,
    };
    const struct rank_ring *latest = rank_activity_latest_ring(rank);
    if (latest != NULL && latest->sum.last_call != 0) {
        row.call = latest->sum.last_call;
        row.peer = latest->sum.last_peer;
        row.comm = latest->sum.last_comm;
        row.at_ns = daemon_clock_best(clock, latest->sum.last_exit_ns);
    }
    struct event event;
    for (uint32_t i = 0; i < rank->open; i++) {
        uint64_t enter_ns;
        if (ring_peek(&rank->rings[i].reader, &event) != 0 ||
            (enter_ns = tick_clock_ns(ticks, event.t_enter)) > clocks->now_ns)
            continue;
        row.call = event.call;
        row.in_call = 1;
        row.peer = event_sum_peer_of(&event);
        row.comm = rank_activity_comm_id(rank, &event);
        row.at_ns = daemon_clock_best(clock, enter_ns);
        break;
    }
    *out = row;
    return 1;
}
