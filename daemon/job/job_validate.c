/* The one place where messages of agents are checked. */
#include "daemon/job/job_validate.h"

#include "daemon/analysis/latency/latency.h"
#include "daemon/topology/network_grid.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "holter/time_class.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define MAXIMUM_HALF_NS UINT64_C(3600000000000) /* of the times of a message's end: an hour */
/* Of one message's times: a year. A rank may wait in MPI_Recv for as long as the job runs. */
#define MAXIMUM_MESSAGE_NS UINT64_C(31536000000000000)
#define MAXIMUM_MESSAGES (UINT64_C(1) << 40)      /* of a pair in a window */
#define MAXIMUM_MESSAGE_LOG2 (UINT64_C(64) << 16) /* of one message's time, in 2^-16 */
#define MAXIMUM_PAIR_CLASS 1023u                  /* size class of a row of pairs */
/* Bursts may lie outside of their window: */
#define MAXIMUM_CLOCK_LEAD_NS UINT64_C(60000000000) /* where a clock is not aligned yet */
#define MAXIMUM_BEFORE_NS UINT64_C(86400000000000)  /* in the middle of a call of two days */

__extension__ typedef unsigned __int128 wide;

/* What the rows of a window may name. */
struct window_limits {
    uint64_t ranks;
    uint64_t comms, regions; /* 1 where the message lists none: rows name the first */
};

int job_reject(struct job_fault *fault, int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(fault->text, sizeof(fault->text), format, list);
    va_end(list);
    return code;
}

static int validate_reject_row(struct job_fault *fault, const char *table, uint64_t row,
                               const char *what)
{
    return job_reject(fault, -HOLTER_ERANGE, "window.%s[%" PRIu64 "] %s", table, row, what);
}

/* ---- ranks, pairs, calls ------------------------------------------------- */

static int validate_time(const struct wire_window *window, struct job_fault *fault)
{
    uint64_t end;
    if (window->length_ns == 0 || window->window + 1 == 0 ||
        __builtin_mul_overflow(window->window + 1, window->length_ns, &end) || end > INT64_MAX)
        return job_reject(fault, -HOLTER_ERANGE,
                          "window %" PRIu64 " of %" PRIu64 " ns ends outside of time",
                          window->window, window->length_ns);
    return 0;
}

static int validate_rank_rows(const struct wire_window *window, const struct window_limits *limits,
                              struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->ranks_count; i++) {
        if (window->ranks[i].rank >= limits->ranks)
            return job_reject(fault, -HOLTER_ERANGE,
                              "window.ranks[%" PRIu64 "].rank is %" PRIu64 " of %" PRIu64, i,
                              window->ranks[i].rank, limits->ranks);
    }
    return 0;
}

static int validate_processes(const struct wire_window *window, const struct window_limits *limits,
                              struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->processes_count; i++) {
        const struct wire_process_row *p = &window->processes[i];
        if (p->rank >= limits->ranks || p->length_ns == 0 || p->stopped > p->samples ||
            p->blocked > p->samples - p->stopped ||
            p->runnable > p->samples - p->stopped - p->blocked)
            return validate_reject_row(fault, "processes", i,
                                       "names a rank that is not there, or contradicts itself");
    }
    return 0;
}

static int validate_pairs(const struct wire_window *window, const struct window_limits *limits,
                          struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->pairs_count; i++) {
        const struct wire_pair_row *p = &window->pairs[i];
        if (p->source >= limits->ranks || p->destination < -1 ||
            p->destination >= (int64_t)limits->ranks || p->comm >= limits->comms ||
            p->region >= limits->regions || p->size_class > MAXIMUM_PAIR_CLASS)
            return job_reject(fault, -HOLTER_ERANGE,
                              "window.pairs[%" PRIu64 "] names rank %" PRIu64 " or %" PRId64
                              ", communicator %" PRIu64 " or region %" PRIu64 " that is not there",
                              i, p->source, p->destination, p->comm, p->region);
    }
    return 0;
}

static int validate_calls(const struct wire_window *window, const struct window_limits *limits,
                          struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->calls_count; i++) {
        const struct wire_call_row *c = &window->calls[i];
        if (c->rank >= limits->ranks || c->comm >= limits->comms || c->region >= limits->regions ||
            c->call > UINT16_MAX)
            return job_reject(fault, -HOLTER_ERANGE,
                              "window.calls[%" PRIu64 "] names rank %" PRIu64
                              ", communicator %" PRIu64 " or region %" PRIu64 " that is not there",
                              i, c->rank, c->comm, c->region);
    }
    return 0;
}

/* ---- times of messages --------------------------------------------------- */

static int validate_sum(uint64_t sum, uint64_t messages, uint64_t maximum)
{
    return messages <= MAXIMUM_MESSAGES && sum <= (wide)messages * maximum;
}

static int validate_transfer(const struct wire_transfer_row *t, uint64_t ranks)
{
    uint64_t n = t->messages;
    int several = t->destination == UINT64_MAX; /* of an agent that is over its byte budget */
    return t->source < ranks && (t->destination < ranks || several) &&
           t->size_class < SIZE_CLASSES && n > 0 && t->delayed <= n &&
           validate_sum(t->transfer_ns, n, MAXIMUM_MESSAGE_NS) &&
           validate_sum(t->late_sender_ns, n, MAXIMUM_MESSAGE_NS) &&
           validate_sum(t->late_receiver_ns, n, MAXIMUM_MESSAGE_NS) &&
           validate_sum(t->send_wait_ns, n, MAXIMUM_MESSAGE_NS) &&
           validate_sum(t->network_ns, n, MAXIMUM_MESSAGE_NS) &&
           validate_sum(t->joint_ns, n, MAXIMUM_MESSAGE_NS) &&
           validate_sum(t->log2_sum, n, MAXIMUM_MESSAGE_LOG2);
}

static int validate_transfers(const struct wire_window *window, const struct window_limits *limits,
                              struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->transfers_count; i++) {
        const struct wire_transfer_row *t = &window->transfers[i];
        if (!validate_transfer(t, limits->ranks))
            return job_reject(fault, -HOLTER_ERANGE,
                              "window.transfers[%" PRIu64 "] of ranks %" PRIu64 " and %" PRIu64
                              " contradicts itself",
                              i, t->source, t->destination);
    }
    return 0;
}

static int validate_latencies(const struct wire_window *window, const struct window_limits *limits,
                              struct job_fault *fault)
{
    (void)limits;
    for (uint64_t i = 0; i < window->latencies_count; i++) {
        const struct wire_latency_row *l = &window->latencies[i];
        if (l->locality >= LOCALITIES || l->size_class >= SIZE_CLASSES ||
            l->bucket >= TIME_CLASSES || l->messages > UINT32_MAX)
            return job_reject(fault, -HOLTER_ERANGE,
                              "window.latencies[%" PRIu64 "] has locality %" PRIu64
                              ", size class %" PRIu64 " or bucket %" PRIu64 " that is not there",
                              i, l->locality, l->size_class, l->bucket);
    }
    return 0;
}

static int validate_offset(int64_t ns)
{
    return ns >= -(int64_t)MAXIMUM_HALF_NS && ns <= (int64_t)MAXIMUM_HALF_NS;
}

static int validate_halves(const struct wire_window *window, const struct window_limits *limits,
                           struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->halves_count; i++) {
        const struct wire_half_row *h = &window->halves[i];
        if (h->source >= limits->ranks || h->destination >= limits->ranks ||
            !validate_offset(h->begin_ns) || !validate_offset(h->local_ns) ||
            h->length_ns > MAXIMUM_HALF_NS)
            return job_reject(fault, -HOLTER_ERANGE,
                              "window.halves[%" PRIu64 "] of ranks %" PRIu64 " and %" PRIu64
                              " has ranks or times that are out of range",
                              i, h->source, h->destination);
    }
    return 0;
}

static int validate_pending(const struct wire_window *window, const struct window_limits *limits,
                            struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->pending_count; i++) {
        if (window->pending[i].rank >= limits->ranks ||
            window->pending[i].source >= (int64_t)limits->ranks)
            return validate_reject_row(fault, "pending", i, "names ranks that are not there");
    }
    return 0;
}

/* ---- bursts -------------------------------------------------------------- */

static int validate_collectives(const struct wire_window *window,
                                const struct window_limits *limits, struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->collectives_count; i++) {
        const struct wire_collective_row *c = &window->collectives[i];
        if (c->comm >= window->comms_count || c->root >= (int64_t)limits->ranks ||
            c->root < INT32_MIN || c->call > UINT16_MAX)
            return validate_reject_row(fault, "collectives", i, "names what is not there");
    }
    return 0;
}

static int validate_comm_members(const struct wire_window *window,
                                 const struct window_limits *limits, struct job_fault *fault)
{
    for (uint64_t i = 0; i < window->comm_members_count; i++) {
        const struct wire_comm_member_row *c = &window->comm_members[i];
        /* With ranks of other jobs a communicator is larger than this one (MPI_Intercomm_merge). */
        if (c->comm >= window->comms_count || c->rank >= limits->ranks ||
            c->position >= window->comms[c->comm].size)
            return validate_reject_row(fault, "comm_members", i, "names what is not there");
    }
    return 0;
}

/* Can messages between the first and the last time have this sum of times? */
static int validate_burst_times(const struct wire_burst_row *b)
{
    wide sum = (wide)b->time_sum_high << 64 | b->time_sum_low;
    if (b->messages == 0 || b->first_ns > b->last_ns)
        return 0;
    if (b->messages == 1)
        return b->first_ns == b->last_ns && sum == b->first_ns;
    wide ends = (wide)b->first_ns + b->last_ns, between = b->messages - 2;
    return sum >= ends + between * b->first_ns && sum <= ends + between * b->last_ns;
}

/* @return what is wrong; NULL: nothing */
static const char *validate_burst(const struct wire_window *window, const struct wire_burst_row *b,
                                  uint64_t pairs_left)
{
    uint64_t begin = window->window * window->length_ns, end = begin + window->length_ns;
    if (!validate_burst_times(b))
        return "has times that no messages can have";
    if (b->last_ns > end + MAXIMUM_CLOCK_LEAD_NS ||
        (begin > MAXIMUM_BEFORE_NS && b->first_ns < begin - MAXIMUM_BEFORE_NS))
        return "lies outside of its window";
    if (b->collective > 1 || b->pairs > pairs_left)
        return "names rows of burst_pairs that are not there";
    if (b->other_pairs > b->other_messages ||
        (b->other_pairs == 0 && (b->other_messages | b->other_bytes) != 0))
        return "has others that contradict themselves";
    return NULL;
}

/* The rows of a burst and its others must be all of it.
 * @param first  of its rows */
static int validate_burst_pairs(const struct wire_window *window, uint64_t burst, uint64_t first,
                                uint64_t ranks, struct job_fault *fault)
{
    const struct wire_burst_row *b = &window->bursts[burst];
    uint64_t messages = b->other_messages, bytes = b->other_bytes;
    uint64_t destinations = b->collective ? window->collectives_count : ranks;
    int overflow = 0;
    for (uint64_t i = first; i < first + b->pairs; i++) {
        const struct wire_burst_pair_row *p = &window->burst_pairs[i];
        if (p->source >= ranks || p->destination >= destinations)
            return validate_reject_row(fault, "burst_pairs", i,
                                       "names a rank or a collective that is not there");
        if (p->messages == 0 || p->size_class >= SIZE_CLASSES)
            return validate_reject_row(fault, "burst_pairs", i,
                                       "has no messages or an unknown size class");
        overflow |= __builtin_add_overflow(messages, p->messages, &messages);
        overflow |= __builtin_add_overflow(bytes, p->bytes, &bytes);
    }
    if (overflow || messages != b->messages || bytes != b->bytes)
        return validate_reject_row(fault, "bursts", burst, "is not the sum of its rows and others");
    return 0;
}

static int validate_bursts(const struct wire_window *window, const struct window_limits *limits,
                           struct job_fault *fault)
{
    uint64_t first = 0; /* of the rows of the current burst */
    for (uint64_t i = 0; i < window->bursts_count; i++) {
        const char *what =
            validate_burst(window, &window->bursts[i], window->burst_pairs_count - first);
        if (what != NULL)
            return validate_reject_row(fault, "bursts", i, what);
        int code = validate_burst_pairs(window, i, first, limits->ranks, fault);
        if (code != 0)
            return code;
        first += window->bursts[i].pairs;
    }
    if (first != window->burst_pairs_count)
        return validate_reject_row(fault, "burst_pairs", first, "belongs to no burst");
    return 0;
}

/* ---- messages ------------------------------------------------------------ */

int job_validate_window(const struct wire_window *window, uint64_t rank_limit,
                        struct job_fault *fault)
{
    static int (*const tables[])(const struct wire_window *, const struct window_limits *,
                                 struct job_fault *) = {
        validate_rank_rows,    validate_pairs,  validate_calls,     validate_transfers,
        validate_latencies,    validate_halves, validate_pending,   validate_collectives,
        validate_comm_members, validate_bursts, validate_processes,
    };
    const struct window_limits limits = {
        .ranks = rank_limit,
        .comms = window->comms_count == 0 ? 1 : window->comms_count,
        .regions = window->regions_count == 0 ? 1 : window->regions_count,
    };
    int code = validate_time(window, fault);
    for (size_t i = 0; code == 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
        code = tables[i](window, &limits, fault);
    return code;
}

int job_validate_ranks(const struct wire_ranks *ranks, uint64_t world, struct job_fault *fault)
{
    char why[128];
    if (ranks->world == 0 || ranks->world > JOB_MAXIMUM_RANKS)
        return job_reject(fault, -HOLTER_ERANGE, "ranks.world is %" PRIu64 ", allowed are 1 to %u",
                          ranks->world, JOB_MAXIMUM_RANKS);
    if (world != 0 && ranks->world != world) /* of another launch, perhaps, once this one is over */
        return job_reject(fault, -EAGAIN, "ranks.world is %" PRIu64 ", the job has %" PRIu64,
                          ranks->world, world);
    for (uint64_t i = 0; i < ranks->members_count; i++) {
        if (ranks->members[i].rank >= ranks->world)
            return job_reject(fault, -HOLTER_ERANGE,
                              "ranks.members[%" PRIu64 "].rank is %" PRIu64 " of %" PRIu64, i,
                              ranks->members[i].rank, ranks->world);
    }
    if (network_grid_check(ranks, why, sizeof(why)) != 0)
        return job_reject(fault, -HOLTER_ERANGE, "ranks.%s", why);
    return 0;
}
