/* Windows of synthetic jobs: see synthetic_job.h. */
#include "tests/daemon/analysis/attribution/synthetic_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTNERS 10u
#define OVERHEAD_NS 1500.0 /* of a processor for a message, each side */
#define SMALL_BYTES 256u   /* messages of an overloaded rank */
#define MASTER_SHARE 0.6   /* of its time a master answers */

/* Calls' times and counts of one rank in one window. */
struct rank_window {
    double send, recv, wait, collective;
    uint64_t calls, sent, received;
};

/* Messages of one rank to one of its partners in one window. */
struct edge_window {
    uint64_t sent, sent_bytes;
    struct transfer matched;
};

/* A message on its way, by sender and partner. */
struct message {
    double posted, arrives;
};

struct synthetic_job {
    struct synthetic_params p;
    uint32_t ranks, degree;   /* degree: partners of a rank, those of an overloaded one besides */
    uint32_t *node;           /* by rank */
    uint32_t *partner, *back; /* by rank and place: the partner, its place for this rank; or none */
    double *factor;           /* by rank: of its compute time */
    double *now;              /* by rank */
    struct message *messages; /* by rank and place */
    double window_ns;
    struct rank_window *rank_windows; /* by window and rank */
    struct edge_window *edges;        /* by window, rank and place; matched: within nodes */
    struct transfers *single;         /* by window: messages between nodes, one by one */
    struct edge_window *clients;      /* by window and rank: messages to the overloaded rank, and
                                         behind them those from it */
    double storm;                     /* of background traffic in this iteration */
    bool later;                       /* this iteration is of the new phase */
    uint64_t random;
    struct latency_scale scale;
    struct wire_rank_row *rank_rows;
    struct wire_pair_row *pair_rows;
    struct transfers transfer_rows;
};

#define NOBODY UINT32_MAX

static double uniform(uint64_t *random)
{
    uint64_t z = (*random += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static uint32_t below(uint64_t *random, uint32_t bound)
{
    return (uint32_t)(uniform(random) * bound) % bound;
}

/* Log-normal with mean about 1. */
static double jitter(uint64_t *random, double deviation)
{
    double normal = 0;
    for (int i = 0; i < 12; i++)
        normal += uniform(random);
    return exp(deviation * (normal - 6));
}

static double exponential(uint64_t *random, double mean)
{
    return -mean * log(1 - uniform(random));
}

/* ---- drawing ------------------------------------------------------------- */

struct synthetic_params synthetic_draw(uint64_t seed, enum synthetic_reason reason)
{
    static const double samplings[] = {1, 1, 0.3, 0.1};
    uint64_t r = seed * 7919 + reason;
    struct synthetic_params p = {.seed = seed, .reason = reason};
    p.pattern = (enum synthetic_pattern)below(&r, 4);
    p.style = (enum synthetic_style)below(&r, STYLES);
    if (p.pattern == PATTERN_GRAPH && p.style == STYLE_SENDRECV)
        p.style = STYLE_WAIT; /* a graph has no order of directions */
    p.nodes = 4 + below(&r, 7);
    p.ranks_per_node = 2 + below(&r, 9);
    p.collective_every = below(&r, 3) == 0 ? 0 : 1 + below(&r, 20);
    p.iterations = 20 + below(&r, 20);
    p.onset = 10 + below(&r, 8);
    p.windows = p.onset + 4 + below(&r, 4);
    p.bytes = UINT32_C(64) << below(&r, 11);
    p.compute_ns = 5e5 * pow(8, uniform(&r));
    p.imbalance = 0.1 * uniform(&r);
    p.noise = 0.02 + 0.13 * uniform(&r);
    p.preemption = below(&r, 2) ? 0.01 * uniform(&r) : 0;
    p.sampling = samplings[below(&r, 4)];
    p.strength = 0.5 + 2 * uniform(&r);
    p.node = below(&r, p.nodes);
    p.rank = below(&r, p.nodes * p.ranks_per_node);
    if (reason == SYNTHETIC_MAPPING) { /* of use only where messages are what costs time */
        p.ranks_per_node = 4 + below(&r, 7);
        p.compute_ns = 2e4 * pow(4, uniform(&r));
        p.onset = 0;
        p.windows = 8;
    }
    return p;
}

uint32_t synthetic_ranks(const struct synthetic_params *params)
{
    return params->nodes * params->ranks_per_node;
}

uint32_t synthetic_node(const struct synthetic_job *job, uint32_t rank)
{
    return job->node[rank];
}

/* ---- who talks to whom ----------------------------------------------------- */

static void link_places(struct synthetic_job *j, uint32_t p, uint32_t i, uint32_t q, uint32_t k)
{
    j->partner[p * MAX_PARTNERS + i] = q;
    j->back[p * MAX_PARTNERS + i] = k;
}

/* Shape of a grid that is as square as it can be. */
static void shape_of(uint32_t ranks, uint32_t dimensions, uint32_t shape[3])
{
    uint32_t left = ranks;
    shape[0] = shape[1] = shape[2] = 1;
    for (uint32_t d = 0; d + 1 < dimensions; d++) {
        uint32_t side = (uint32_t)(pow(left, 1.0 / (dimensions - d)) + 0.5);
        while (side > 1 && left % side != 0)
            side--;
        shape[d] = side;
        left /= side;
    }
    shape[dimensions - 1] = left;
}

/* A torus of 1 to 3 dimensions: places 2d and 2d + 1 are the neighbours up and down along d. */
static void link_torus(struct synthetic_job *j, uint32_t dimensions)
{
    uint32_t shape[3];
    shape_of(j->ranks, dimensions, shape);
    j->degree = 2 * dimensions;
    for (uint32_t p = 0; p < j->ranks; p++) {
        uint32_t stride = 1;
        for (uint32_t d = 0; d < dimensions; d++) {
            uint32_t at = p / stride % shape[d], base = p - at * stride;
            uint32_t up = base + (at + 1) % shape[d] * stride;
            uint32_t down = base + (at + shape[d] - 1) % shape[d] * stride;
            link_places(j, p, 2 * d, up == p ? NOBODY : up, 2 * d + 1);
            link_places(j, p, 2 * d + 1, down == p ? NOBODY : down, 2 * d);
            stride *= shape[d];
        }
    }
}

/* A ring with further random edges. */
static void link_graph(struct synthetic_job *j)
{
    uint32_t *used = calloc(j->ranks, sizeof(*used));
    link_torus(j, 1);
    for (uint32_t p = 0; p < j->ranks && used != NULL; p++)
        used[p] = 2;
    j->degree = MAX_PARTNERS;
    for (uint32_t n = 0; n < 2 * j->ranks && used != NULL; n++) {
        /* Most edges are short, as those of meshes are. */
        uint32_t p = below(&j->random, j->ranks), reach = below(&j->random, 8) ? 5 : j->ranks;
        uint32_t q = (p + 1 + below(&j->random, reach)) % j->ranks;
        if (p == q || used[p] == MAX_PARTNERS || used[q] == MAX_PARTNERS)
            continue;
        link_places(j, p, used[p], q, used[q]);
        link_places(j, q, used[q], p, used[p]);
        used[p]++;
        used[q]++;
    }
    free(used);
}

/* Ranks fill nodes one after the other; or they are dealt out like cards, or shuffled. */
static void place(struct synthetic_job *j)
{
    const struct synthetic_params *p = &j->p;
    for (uint32_t r = 0; r < j->ranks; r++)
        j->node[r] = r / p->ranks_per_node;
    if (p->reason != SYNTHETIC_MAPPING)
        return;
    /* Dealt out, whole columns of a grid may sit together: that is no bad mapping. */
    int shuffled =
        p->pattern == PATTERN_GRID || p->pattern == PATTERN_TORUS || below(&j->random, 2) == 0;
    for (uint32_t r = 0; r < j->ranks && !shuffled; r++)
        j->node[r] = r % p->nodes;
    for (uint32_t r = j->ranks - 1; r > 0 && shuffled; r--) {
        uint32_t other = below(&j->random, r + 1), node = j->node[r];
        j->node[r] = j->node[other];
        j->node[other] = node;
    }
}

/* ---- time ------------------------------------------------------------------ */

static uint32_t window_at(const struct synthetic_job *j, double t)
{
    double w = t / j->window_ns;
    return w < j->p.windows ? (uint32_t)w : j->p.windows;
}

static struct rank_window *rank_at(struct synthetic_job *j, uint32_t rank, double t)
{
    return &j->rank_windows[window_at(j, t) * j->ranks + rank];
}

/* Time in a call of a class, clipped to windows. */
enum class { CLASS_SEND, CLASS_RECV, CLASS_WAIT, CLASS_COLLECTIVE };

static void spend(struct synthetic_job *j, uint32_t rank, enum class class_, double from, double to)
{
    for (uint32_t w = window_at(j, from); w < j->p.windows && from < to; w++) {
        double end = (w + 1) * j->window_ns, part = (to < end ? to : end) - from;
        struct rank_window *x = &j->rank_windows[w * j->ranks + rank];
        double *sum[] = {&x->send, &x->recv, &x->wait, &x->collective};
        *sum[class_] += part;
        from = end;
    }
    rank_at(j, rank, to)->calls++;
}

static int disturbed(const struct synthetic_job *j, double t)
{
    const double windows = t / j->window_ns - j->p.onset;
    return windows >= 0 && (j->p.pulse == 0 || fmod(windows, 2 * j->p.pulse) < j->p.pulse);
}

/* Is a rank or node the place of the second reason, which has an onset of its own? */
static int comes_later(const struct synthetic_job *j, enum synthetic_reason reason, uint32_t place)
{
    const struct synthetic_params *p = &j->p;
    return p->second_onset > 0 && p->second == reason && place == p->second_place;
}

/* Is a rank or node the place of a reason now? */
static int disturbs(const struct synthetic_job *j, enum synthetic_reason reason, uint32_t place,
                    double t)
{
    const struct synthetic_params *p = &j->p;
    if (comes_later(j, reason, place))
        return t / j->window_ns >= p->second_onset;
    const uint32_t first = reason == SYNTHETIC_RANK ? p->rank : p->node;
    return disturbed(j, t) && ((p->reason == reason && place == first) ||
                               (p->second == reason && place == p->second_place));
}

/* By which share times of a place grow now. @param usual  when the job says nothing else */
static double growth(const struct synthetic_job *j, enum synthetic_reason reason, uint32_t place,
                     double t, double usual)
{
    const double windows = t / j->window_ns - j->p.onset;
    return j->p.share <= 0 || comes_later(j, reason, place)
               ? usual
               : j->p.share * (j->p.ramp ? floor(windows) + 1 : 1);
}

static uint32_t bytes_of(const struct synthetic_job *j, bool later)
{
    return later ? 4 * j->p.bytes : j->p.bytes;
}

static double handling(const struct synthetic_job *j, uint32_t rank, double t)
{
    int slow = disturbs(j, SYNTHETIC_NODE, j->node[rank], t);
    return OVERHEAD_NS *
           (slow ? 1 + growth(j, SYNTHETIC_NODE, j->node[rank], t, j->p.strength) : 1);
}

/* Time on the way. */
static double flight(struct synthetic_job *j, uint32_t from, uint32_t to, uint32_t bytes, double t)
{
    const struct synthetic_params *p = &j->p;
    int inter = j->node[from] != j->node[to];
    double ns = inter ? 12000 + bytes / 2.0 : 800 + bytes / 8.0;
    ns *= jitter(&j->random, 2 * p->noise);
    if (!inter || !disturbed(j, t))
        return inter ? ns : ns * handling(j, to, t) / OVERHEAD_NS;
    double more =
        growth(j, SYNTHETIC_LINK, j->node[from], t, p->strength * p->compute_ns / ns) * ns;
    if (disturbs(j, SYNTHETIC_LINK, j->node[from], t) ||
        (disturbs(j, SYNTHETIC_LINK, j->node[to], t) && !p->one_way))
        ns += p->seed % 2 || p->share > 0 ? more : exponential(&j->random, more);
    if (p->reason == SYNTHETIC_BACKGROUND)
        ns += exponential(&j->random, more) * j->storm;
    return ns;
}

static double compute(struct synthetic_job *j, uint32_t rank, double t)
{
    const struct synthetic_params *p = &j->p;
    double ns = p->compute_ns * j->factor[rank] * jitter(&j->random, p->noise);
    ns *= j->later ? 1.5 : 1;
    ns *= p->style == STYLE_MASTER && rank == 0 ? MASTER_SHARE / (j->ranks - 1) : 1;
    if (disturbs(j, SYNTHETIC_RANK, rank, t))
        ns *= 1 + growth(j, SYNTHETIC_RANK, rank, t, 2);
    if (disturbs(j, SYNTHETIC_NODE, j->node[rank], t))
        ns *= 1 + growth(j, SYNTHETIC_NODE, j->node[rank], t, p->strength);
    if (uniform(&j->random) < p->preemption)
        ns += exponential(&j->random, 2 * p->compute_ns);
    return ns;
}

/* ---- messages --------------------------------------------------------------- */

/* What the daemon learns of a message: s posted, w and r entry and exit of the call that completed
 * it, latest of the sends of the call's other messages, and whether all of them are known. */
static void match(struct synthetic_job *j, uint32_t from, uint32_t to, uint32_t bytes,
                  struct edge_window *edge, double s, double w, double r, double latest,
                  int all_known)
{
    const int inter = j->node[from] != j->node[to];
    struct transfer single = {.source = from,
                              .destination = to,
                              .size_class = size_class_of(bytes),
                              .locality = LOCALITY_INTER};
    struct transfer *t = inter ? &single : &edge->matched;
    double begin = s > w ? s : w;
    begin = latest > begin ? latest : begin;
    t->messages++;
    t->transfer_ns += (uint64_t)(r - s);
    t->late_sender_ns += s > w ? (uint64_t)(s - w) : 0;
    t->late_receiver_ns += w > s ? (uint64_t)(w - s) : 0;
    if (all_known)
        t->network_ns += (uint64_t)(r - begin);
    else
        t->joint_ns += (uint64_t)(r - begin);
    if (inter && transfers_add(&j->single[window_at(j, r)], &single) != 0)
        abort();
}

static int is_matched(struct synthetic_job *j, uint32_t from, uint32_t to)
{
    return j->node[from] == j->node[to] || uniform(&j->random) < j->p.sampling;
}

static struct edge_window *edge_at(struct synthetic_job *j, uint32_t from, uint32_t place, double t)
{
    return &j->edges[(window_at(j, t) * j->ranks + from) * MAX_PARTNERS + place];
}

/* Post the message of a rank to one partner. */
static void send(struct synthetic_job *j, uint32_t rank, uint32_t place, enum class class_)
{
    uint32_t at = rank * MAX_PARTNERS + place;
    double from = j->now[rank];
    j->now[rank] += handling(j, rank, from);
    if (class_ == CLASS_SEND)
        spend(j, rank, CLASS_SEND, from, j->now[rank]);
    j->messages[at].posted = from;
    j->messages[at].arrives =
        j->now[rank] + flight(j, rank, j->partner[at], bytes_of(j, j->later), from);
    rank_at(j, rank, from)->sent++;
    struct edge_window *edge = edge_at(j, rank, place, from);
    edge->sent++;
    edge->sent_bytes += bytes_of(j, j->later);
}

/* The message that a partner sent. */
static struct message *incoming(struct synthetic_job *j, uint32_t rank, uint32_t place)
{
    uint32_t at = rank * MAX_PARTNERS + place;
    return &j->messages[j->partner[at] * MAX_PARTNERS + j->back[at]];
}

static struct edge_window *incoming_edge(struct synthetic_job *j, uint32_t rank, uint32_t place,
                                         double t)
{
    uint32_t at = rank * MAX_PARTNERS + place;
    return edge_at(j, j->partner[at], j->back[at], t);
}

/* One call that completes one message. */
static void receive(struct synthetic_job *j, uint32_t rank, uint32_t place, enum class class_,
                    double entry)
{
    const struct message *m = incoming(j, rank, place);
    double begin = j->now[rank] > m->arrives ? j->now[rank] : m->arrives;
    double exit = begin + handling(j, rank, begin);
    spend(j, rank, class_, entry, exit);
    rank_at(j, rank, exit)->received++;
    if (is_matched(j, j->partner[rank * MAX_PARTNERS + place], rank))
        match(j, j->partner[rank * MAX_PARTNERS + place], rank, bytes_of(j, j->later),
              incoming_edge(j, rank, place, exit), m->posted, entry, exit, 0, 1);
    j->now[rank] = exit;
}

/* One call that completes the messages of all partners. */
static void receive_all(struct synthetic_job *j, uint32_t rank)
{
    double entry = j->now[rank], exit = entry, local = 0, all = 0;
    uint32_t inter = 0, known = 0, matched[MAX_PARTNERS] = {0};
    for (uint32_t i = 0; i < j->degree; i++) {
        uint32_t q = j->partner[rank * MAX_PARTNERS + i];
        if (q == NOBODY)
            continue;
        const struct message *m = incoming(j, rank, i);
        exit = (m->arrives > exit ? m->arrives : exit) + handling(j, rank, entry);
        matched[i] = (uint32_t)is_matched(j, q, rank);
        if (j->node[q] == j->node[rank])
            local = m->posted > local ? m->posted : local;
        inter += j->node[q] != j->node[rank];
        known += j->node[q] != j->node[rank] && matched[i];
        if (matched[i] && m->posted > all)
            all = m->posted;
    }
    spend(j, rank, CLASS_WAIT, entry, exit);
    for (uint32_t i = 0; i < j->degree; i++) {
        uint32_t q = j->partner[rank * MAX_PARTNERS + i];
        if (q == NOBODY)
            continue;
        rank_at(j, rank, exit)->received++;
        if (!matched[i])
            continue;
        int near = j->node[q] == j->node[rank];
        match(j, q, rank, bytes_of(j, j->later), incoming_edge(j, rank, i, exit),
              incoming(j, rank, i)->posted, entry, exit, near ? local : all,
              near ? inter == 0 : inter == known);
    }
    j->now[rank] = exit;
}

/* ---- what programs do --------------------------------------------------------- */

static void exchange_immediate(struct synthetic_job *j)
{
    for (uint32_t r = 0; r < j->ranks; r++) {
        double from = j->now[r];
        j->now[r] += 300.0 * j->degree;
        spend(j, r, CLASS_RECV, from, j->now[r]); /* Irecv */
        for (uint32_t i = 0; i < j->degree; i++)
            if (j->partner[r * MAX_PARTNERS + i] != NOBODY)
                send(j, r, i, CLASS_SEND);
    }
    for (uint32_t r = 0; r < j->ranks; r++) {
        if (j->p.style == STYLE_WAITALL)
            receive_all(j, r);
        for (uint32_t i = 0; i < j->degree && j->p.style != STYLE_WAITALL; i++)
            if (j->partner[r * MAX_PARTNERS + i] != NOBODY)
                receive(j, r, i, CLASS_WAIT, j->now[r]);
    }
}

/* In step i every rank sends to the partner of place i, and receives from that of i ^ 1. */
static void exchange_in_turn(struct synthetic_job *j, double *entry)
{
    for (uint32_t i = 0; i < j->degree; i++) {
        for (uint32_t r = 0; r < j->ranks; r++) {
            entry[r] = j->now[r];
            if (j->partner[r * MAX_PARTNERS + i] != NOBODY)
                send(j, r, i, CLASS_RECV);
        }
        for (uint32_t r = 0; r < j->ranks; r++)
            if (j->partner[r * MAX_PARTNERS + (i ^ 1)] != NOBODY)
                receive(j, r, i ^ 1, CLASS_RECV, entry[r]);
    }
}

static void reduce(struct synthetic_job *j)
{
    double last = 0, slowest = 0;
    for (uint32_t r = 0; r < j->ranks; r++) {
        uint32_t peer = (r + j->p.ranks_per_node) % j->ranks;
        double way = flight(j, r, peer, 8, j->now[r]);
        last = j->now[r] > last ? j->now[r] : last;
        slowest = way > slowest ? way : slowest;
    }
    double end = last + slowest * log2(j->ranks) / 2;
    for (uint32_t r = 0; r < j->ranks; r++) {
        spend(j, r, CLASS_COLLECTIVE, j->now[r], end);
        j->now[r] = end;
    }
}

/* So many messages of each of half the ranks go to one rank, which answers all of them. */
static void serve(struct synthetic_job *j, uint32_t count)
{
    uint32_t server = j->p.rank;
    for (uint32_t r = 0; r < j->ranks && disturbed(j, j->now[server]); r++) {
        if (r == server || (r + j->p.seed) % 2)
            continue;
        double entry = j->now[r];
        j->now[r] += handling(j, r, entry);
        spend(j, r, CLASS_SEND, entry, j->now[r]);
        double posted = entry, arrives = j->now[r] + flight(j, r, server, SMALL_BYTES, entry);
        for (uint32_t k = 0; k < count; k++) { /* the server takes and answers them one by one */
            double w = j->now[server], begin = arrives > w ? arrives : w;
            double done = begin + handling(j, server, w);
            struct edge_window *to = &j->clients[window_at(j, done) * 2 * j->ranks + r];
            spend(j, server, CLASS_RECV, w, done);
            spend(j, server, CLASS_SEND, done, done + OVERHEAD_NS);
            rank_at(j, server, done)->received++;
            rank_at(j, server, done)->sent++;
            rank_at(j, r, done)->sent++;
            to->sent++;
            to->sent_bytes += SMALL_BYTES;
            if (is_matched(j, r, server))
                match(j, r, server, SMALL_BYTES, to, posted, w, done, 0, 1);
            double answer = done + OVERHEAD_NS + flight(j, server, r, SMALL_BYTES, done);
            double wait = j->now[r], got = (answer > wait ? answer : wait) + handling(j, r, wait);
            struct edge_window *from = &j->clients[(window_at(j, got) * 2 + 1) * j->ranks + r];
            spend(j, r, CLASS_RECV, wait, got);
            rank_at(j, r, got)->received++;
            from->sent++;
            from->sent_bytes += SMALL_BYTES;
            if (is_matched(j, server, r))
                match(j, server, r, SMALL_BYTES, from, done, wait, got, 0, 1);
            j->now[server] = done + OVERHEAD_NS;
            j->now[r] = got;
        }
    }
}

/* A worker computes and asks for more work; of those who ask the master answers the first. */
static void answer(struct synthetic_job *j, uint64_t iteration)
{
    struct message *asked = j->messages; /* by worker, of the place for the master */
    uint32_t first = 1;
    for (uint32_t r = 1; iteration == 0 && r < j->ranks; r++) {
        j->now[r] += compute(j, r, 0);
        send(j, r, 0, CLASS_SEND);
    }
    for (uint32_t r = 2; r < j->ranks; r++)
        first = asked[r * MAX_PARTNERS].arrives < asked[first * MAX_PARTNERS].arrives ? r : first;
    receive(j, 0, first - 1, CLASS_RECV, j->now[0]);
    j->now[0] += compute(j, 0, j->now[0]);
    send(j, 0, first - 1, CLASS_SEND);
    receive(j, first, 0, CLASS_RECV, j->now[first]);
    j->now[first] += compute(j, first, j->now[first]);
    send(j, first, 0, CLASS_SEND);
}

static void iterate(struct synthetic_job *j, uint64_t iteration, double *entry)
{
    /* Traffic of others comes and goes within a few windows. */
    uint64_t gust = j->p.seed * 1000 + (uint64_t)(j->now[0] / j->window_ns * 3);
    j->storm = 0.3 + 1.4 * uniform(&gust);
    j->later = j->p.new_phase != 0 && j->now[0] >= j->p.new_phase * j->window_ns;
    if (j->p.style == STYLE_MASTER) {
        answer(j, iteration);
        return;
    }
    for (uint32_t r = 0; r < j->ranks; r++)
        j->now[r] += compute(j, r, j->now[r]);
    if (j->p.style == STYLE_SENDRECV)
        exchange_in_turn(j, entry);
    else
        exchange_immediate(j);
    if (j->p.reason == SYNTHETIC_MESSAGES) {
        double each = 2 * OVERHEAD_NS * (j->ranks / 2.0);
        serve(j, 1 + (uint32_t)(j->p.strength * j->p.compute_ns / each));
    }
    if (j->p.collective_every != 0 && iteration % j->p.collective_every == 0)
        reduce(j);
}

static void simulate(struct synthetic_job *j)
{
    double end = j->p.windows * j->window_ns, *entry = calloc(j->ranks, sizeof(*entry));
    double first = 0;
    for (uint64_t i = 0; first < end && entry != NULL; i++) {
        iterate(j, i, entry);
        first = j->now[0];
        for (uint32_t r = 1; r < j->ranks; r++)
            first = j->now[r] < first ? j->now[r] : first;
    }
    free(entry);
}

/* ---- the job -------------------------------------------------------------------- */

static int allocate(struct synthetic_job *j)
{
    size_t ranks = j->ranks, windows = j->p.windows + 1u, places = ranks * MAX_PARTNERS;
    j->node = calloc(ranks, sizeof(*j->node));
    j->partner = malloc(places * sizeof(*j->partner));
    j->back = calloc(places, sizeof(*j->back));
    j->factor = calloc(ranks, sizeof(*j->factor));
    j->now = calloc(ranks, sizeof(*j->now));
    j->messages = calloc(places, sizeof(*j->messages));
    j->rank_windows = calloc(windows * ranks, sizeof(*j->rank_windows));
    j->edges = calloc(windows * places, sizeof(*j->edges));
    j->clients = calloc(2 * windows * ranks, sizeof(*j->clients));
    j->single = calloc(windows, sizeof(*j->single));
    j->rank_rows = calloc(ranks, sizeof(*j->rank_rows));
    j->pair_rows = calloc(places + 2 * ranks, sizeof(*j->pair_rows));
    if (!j->node || !j->partner || !j->back || !j->factor || !j->now || !j->messages ||
        !j->rank_windows || !j->single || !j->edges || !j->clients || !j->rank_rows ||
        !j->pair_rows || transfers_reserve(&j->transfer_rows, places + 2 * ranks) != 0)
        return -1;
    memset(j->partner, 0xff, places * sizeof(*j->partner));
    return 0;
}

/* What messages take when nothing is wrong, give or take. */
static void make_scale(struct synthetic_job *j)
{
    double off = 1 + uniform(&j->random);
    for (uint32_t c = 0; c < SIZE_CLASSES; c++) {
        double bytes = (double)size_class_floor((uint16_t)c);
        j->scale.reference[LOCALITY_INTRA][c] = off * (2 * OVERHEAD_NS + 800 + bytes / 8.0);
        j->scale.reference[LOCALITY_INTER][c] = off * (2 * OVERHEAD_NS + 12000 + bytes / 2.0);
    }
}

struct synthetic_job *synthetic_create(const struct synthetic_params *params)
{
    struct synthetic_job *j = calloc(1, sizeof(*j));
    if (j == NULL)
        return NULL;
    j->p = *params;
    j->ranks = synthetic_ranks(params);
    j->random = params->seed;
    if (allocate(j) != 0) {
        synthetic_destroy(j);
        return NULL;
    }
    j->window_ns = params->iterations * params->compute_ns * 1.1;
    place(j);
    if (params->style == STYLE_MASTER)
        for (uint32_t r = 1; r < j->ranks && r <= MAX_PARTNERS; r++) {
            link_places(j, 0, r - 1, r, 0);
            link_places(j, r, 0, 0, r - 1);
        }
    else if (params->pattern == PATTERN_GRAPH)
        link_graph(j);
    else if (params->pattern != PATTERN_NONE)
        link_torus(j, params->pattern == PATTERN_RING   ? 1
                      : params->pattern == PATTERN_GRID ? 2
                                                        : 3);
    for (uint32_t r = 0; r < j->ranks; r++)
        j->factor[r] = 1 + params->imbalance * (uniform(&j->random) - 0.5);
    make_scale(j);
    simulate(j);
    return j;
}

void synthetic_destroy(struct synthetic_job *j)
{
    if (j == NULL)
        return;
    for (uint32_t w = 0; j->single != NULL && w <= j->p.windows; w++)
        transfers_finish(&j->single[w]);
    free(j->single);
    free(j->node);
    free(j->partner);
    free(j->back);
    free(j->factor);
    free(j->now);
    free(j->messages);
    free(j->rank_windows);
    free(j->edges);
    free(j->clients);
    free(j->rank_rows);
    free(j->pair_rows);
    transfers_finish(&j->transfer_rows);
    free(j);
}

static void add_edge(struct synthetic_job *j, struct attribution_window *out, uint32_t from,
                     uint32_t to, uint32_t bytes, const struct edge_window *edge)
{
    uint16_t class_ = size_class_of(bytes);
    if (edge->sent > 0)
        j->pair_rows[out->pair_count++] = (struct wire_pair_row){.source = from,
                                                                 .destination = (int32_t)to,
                                                                 .size_class = class_,
                                                                 .messages = edge->sent,
                                                                 .bytes = edge->sent_bytes};
    if (edge->matched.messages == 0)
        return;
    struct transfer t = edge->matched;
    t.source = from;
    t.destination = to;
    t.size_class = class_;
    t.locality = LOCALITY_INTRA;
    if (transfers_add(&j->transfer_rows, &t) != 0)
        abort();
}

void synthetic_window(struct synthetic_job *j, uint32_t window, struct attribution_window *out)
{
    *out = (struct attribution_window){.number = window + 1u,
                                       .length_ns = (uint64_t)j->window_ns,
                                       .ranks = j->rank_rows,
                                       .rank_count = j->ranks,
                                       .pairs = j->pair_rows,
                                       .transfers = &j->transfer_rows,
                                       .scale = &j->scale};
    transfers_clear(&j->transfer_rows);
    for (size_t i = 0; i < j->single[window].count; i++)
        if (transfers_add(&j->transfer_rows, &j->single[window].rows[i]) != 0)
            abort();
    for (uint32_t r = 0; r < j->ranks; r++) {
        const struct rank_window *x = &j->rank_windows[window * j->ranks + r];
        const struct edge_window *edges = &j->edges[(window * j->ranks + r) * MAX_PARTNERS];
        j->rank_rows[r] = (struct wire_rank_row){.rank = r,
                                                 .calls = x->calls,
                                                 .sent = x->sent,
                                                 .received = x->received,
                                                 .send_ns = (uint64_t)x->send,
                                                 .recv_ns = (uint64_t)x->recv,
                                                 .wait_ns = (uint64_t)x->wait,
                                                 .collective_ns = (uint64_t)x->collective};
        for (uint32_t i = 0; i < MAX_PARTNERS; i++)
            if (j->partner[r * MAX_PARTNERS + i] != NOBODY)
                add_edge(j, out, r, j->partner[r * MAX_PARTNERS + i],
                         bytes_of(j, j->p.new_phase != 0 && window >= j->p.new_phase), &edges[i]);
        if (j->p.reason != SYNTHETIC_MESSAGES)
            continue;
        add_edge(j, out, r, j->p.rank, SMALL_BYTES, &j->clients[window * 2 * j->ranks + r]);
        add_edge(j, out, j->p.rank, r, SMALL_BYTES, &j->clients[(window * 2 + 1) * j->ranks + r]);
    }
}
