/* Jobs with a known fault: see fault_job.h. */
#include "tests/daemon/analysis/scopes/fault_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARTNERS 32u
#define MESSAGE_NS_INTRA 2000.0
#define MESSAGE_NS_INTER 15000.0
#define WAIT_NS 5000.0 /* that partners wait for each other when nothing is wrong */
#define AGAIN 0.8      /* of the shared noise, lasts into the next window */
#define RETRY_NS 2e8   /* after which a lost message is sent again, as TCP does */
#define IRREGULAR_PARTNERS 12u

struct fault_job {
    struct fault_params params;
    struct noise noise;
    uint32_t ranks;
    uint32_t size[3];                    /* of the ranks' grid */
    uint32_t torus[3];                   /* of the nodes' */
    uint32_t (*partners)[MOST_PARTNERS]; /* owned; by rank, ascending pairs only once */
    uint32_t *partner_count;
    double *node_noise; /* owned; by node */
    double *pair_noise; /* owned; by pair of nodes */
    double job_noise;
    uint32_t node[4], other[2]; /* of the fault */
    uint32_t rank, link;
    struct transfers rows;
};

static const char *const kind_names[FAULT_KINDS] = {
    "calm", "node",      "node out", "four nodes", "node pair",
    "link", "late rank", "step",     "drift",      "node and pair"};

const char *fault_kind_name(enum fault_kind kind)
{
    return kind_names[kind];
}

static uint32_t job_below(struct fault_job *job, uint32_t count)
{
    return (uint32_t)(noise_uniform(&job->noise) * count);
}

static uint32_t job_node(const struct fault_job *job, uint32_t rank)
{
    return rank / job->params.ranks_per_node;
}

/* A number above 0 and below 1 that belongs to what is given. */
static double job_hash(const struct fault_job *job, uint64_t a, uint64_t b, uint64_t what)
{
    struct noise noise = {(job->params.seed * 1000003 + what) ^
                          (a << 32 | b) * 0x9e3779b97f4a7c15u};
    noise.state |= 1;
    for (int i = 0; i < 4; i++)
        (void)noise_uint(&noise);
    return noise_uniform(&noise);
}

static double job_gauss(const struct fault_job *job, uint64_t a, uint64_t b, uint64_t what)
{
    return sqrt(-2 * log(job_hash(job, a, b, what))) *
           cos(6.283185307179586 * job_hash(job, a, b, what + 1));
}

/* ---- partners ------------------------------------------------------------ */

static void job_connect(struct fault_job *job, uint32_t a, uint32_t b)
{
    if (a == b || job->partner_count[a] == MOST_PARTNERS)
        return;
    for (uint32_t i = 0; i < job->partner_count[a]; i++) {
        if (job->partners[a][i] == b)
            return;
    }
    job->partners[a][job->partner_count[a]++] = b;
}

static void job_connect_halo(struct fault_job *job)
{
    const uint32_t *n = job->size;
    for (uint32_t r = 0; r < job->ranks; r++) {
        const uint32_t x = r % n[0], y = r / n[0] % n[1], z = r / n[0] / n[1];
        for (uint32_t d = 0; d < 27; d++) {
            const uint32_t x2 = (x + n[0] + d % 3 - 1) % n[0];
            const uint32_t y2 = (y + n[1] + d / 3 % 3 - 1) % n[1];
            const uint32_t z2 = (z + n[2] + d / 9 - 1) % n[2];
            job_connect(job, r, x2 + n[0] * (y2 + n[1] * z2));
        }
    }
}

static void job_connect_plane(struct fault_job *job)
{
    uint32_t width = 1;
    while (width * width < job->ranks)
        width *= 2;
    const uint32_t height = job->ranks / width;
    for (uint32_t r = 0; r < job->ranks; r++) {
        const uint32_t x = r % width, y = r / width;
        for (uint32_t d = 0; d < 9; d++)
            job_connect(job, r,
                        (x + width + d % 3 - 1) % width +
                            width * ((y + height + d / 3 - 1) % height));
    }
}

static void job_connect_irregular(struct fault_job *job)
{
    for (uint32_t r = 0; r < job->ranks; r++) {
        for (uint32_t i = 0; i < IRREGULAR_PARTNERS / 2; i++) {
            const double far = pow(noise_uniform(&job->noise), 3) * job->ranks / 2;
            const uint32_t b = (r + 1 + (uint32_t)far) % job->ranks;
            job_connect(job, r, b);
            job_connect(job, b, r);
        }
    }
}

static void job_connect_all(struct fault_job *job)
{
    memset(job->partner_count, 0, job->ranks * sizeof(*job->partner_count));
    if (job->params.pattern == PATTERN_HALO)
        job_connect_halo(job);
    else if (job->params.pattern == PATTERN_PLANE)
        job_connect_plane(job);
    else
        job_connect_irregular(job);
}

/* ---- network ------------------------------------------------------------- */

/* Dimension order on the torus of the nodes; links are numbered by node and direction. */
static size_t job_route(const void *user, uint32_t from, uint32_t to, uint32_t *out,
                        size_t capacity)
{
    const struct fault_job *job = user;
    const uint32_t *n = job->torus;
    uint32_t at[3] = {from % n[0], from / n[0] % n[1], from / n[0] / n[1]};
    const uint32_t goal[3] = {to % n[0], to / n[0] % n[1], to / n[0] / n[1]};
    size_t count = 0;
    for (uint32_t d = 0; d < 3; d++) {
        while (at[d] != goal[d] && count < capacity) {
            const uint32_t ahead = (goal[d] + n[d] - at[d]) % n[d];
            const uint32_t up = 2 * ahead <= n[d];
            out[count++] = (at[0] + n[0] * (at[1] + n[1] * at[2])) * 6 + 2 * d + up;
            at[d] = (at[d] + (up ? 1 : n[d] - 1)) % n[d];
        }
    }
    return count;
}

static bool job_crosses(const struct fault_job *job, uint32_t from, uint32_t to)
{
    uint32_t links[64];
    const size_t count = job_route(job, from, to, links, 64);
    for (size_t i = 0; i < count; i++) {
        if (links[i] == job->link)
            return true;
    }
    return false;
}

/* ---- life ---------------------------------------------------------------- */

static void job_set_sizes(struct fault_job *job)
{
    uint32_t bits = 0;
    while (1u << bits < job->ranks)
        bits++;
    for (int d = 0; d < 3; d++)
        job->size[d] = 1u << (bits + 2 - (uint32_t)d) / 3;
    job->torus[0] = job->size[0] / job->params.ranks_per_node;
    job->torus[0] = job->torus[0] > 0 ? job->torus[0] : 1;
    job->torus[1] = job->size[1];
    job->torus[2] = job->params.nodes / job->torus[0] / job->torus[1];
}

static void job_draw_fault(struct fault_job *job)
{
    uint32_t links[64];
    for (uint32_t i = 0; i < 4; i++) {
        do {
            job->node[i] = job_below(job, job->params.nodes);
        } while ((i > 0 && job->node[i] == job->node[0]) ||
                 (i > 1 && job->node[i] == job->node[1]) ||
                 (i > 2 && job->node[i] == job->node[2]));
    }
    job->rank = job_below(job, job->ranks);
    do { /* two nodes that exchange messages */
        const uint32_t a = job_below(job, job->ranks);
        const uint32_t b = job->partners[a][job_below(job, job->partner_count[a])];
        job->other[0] = job_node(job, a < b ? a : b);
        job->other[1] = job_node(job, a < b ? b : a);
    } while (job->other[0] == job->other[1] || job->other[0] == job->node[0] ||
             job->other[1] == job->node[0]);
    const size_t count = job_route(job, job->other[0], job->other[1], links, 64);
    job->link = links[job_below(job, (uint32_t)count)];
}

struct fault_job *fault_job_create(const struct fault_params *params)
{
    struct fault_job *job = calloc(1, sizeof(*job));
    job->params = *params;
    job->noise.state = params->seed * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < 8; i++)
        (void)noise_uint(&job->noise);
    job->ranks = params->nodes * params->ranks_per_node;
    job->partners = calloc(job->ranks, sizeof(*job->partners));
    job->partner_count = calloc(job->ranks, sizeof(*job->partner_count));
    job->node_noise = calloc(params->nodes, sizeof(*job->node_noise));
    job->pair_noise = calloc((size_t)params->nodes * params->nodes, sizeof(*job->pair_noise));
    job_set_sizes(job);
    job_connect_all(job);
    job_draw_fault(job);
    return job;
}

void fault_job_destroy(struct fault_job *job)
{
    transfers_finish(&job->rows);
    free(job->partners);
    free(job->partner_count);
    free(job->node_noise);
    free(job->pair_noise);
    free(job);
}

void fault_job_prepare(struct fault_job *job, struct scopes *scopes)
{
    for (uint32_t r = 0; r < job->ranks; r++)
        scopes_place(scopes, r, job_node(job, r));
    if (job->params.kind == FAULT_LINK)
        scopes_set_routes(scopes, job_route, job);
}

/* ---- messages ------------------------------------------------------------ */

static bool job_is_on(const struct fault_job *job, uint32_t window)
{
    return job->params.kind != FAULT_CALM && window >= job->params.onset &&
           (job->params.length == 0 || window < job->params.onset + job->params.length);
}

static bool job_is_between(uint32_t from, uint32_t to, const uint32_t *nodes)
{
    return (from == nodes[0] && to == nodes[1]) || (from == nodes[1] && to == nodes[0]);
}

/* By how many times the messages from one node to another take longer. */
static double job_factor(const struct fault_job *job, uint32_t window, uint32_t from, uint32_t to)
{
    const double factor = job->params.factor;
    const uint32_t node = job->node[0];
    const bool inner = job->params.kind == FAULT_STEP_OF_ALL || job->params.kind == FAULT_WITHIN;
    if (!job_is_on(job, window) || (from == to && !inner))
        return 1;
    switch (job->params.kind) {
    case FAULT_NODE:
        return from == node || to == node ? factor : 1;
    case FAULT_NODE_OUT:
        return from == node ? factor : 1;
    case FAULT_NODES:
        for (int i = 0; i < 4; i++) {
            if (from == job->node[i] || to == job->node[i])
                return factor;
        }
        return 1;
    case FAULT_PAIR:
        return job_is_between(from, to, job->other) ? factor : 1;
    case FAULT_LINK:
        return job_crosses(job, from, to) ? factor : 1;
    case FAULT_STEP:
    case FAULT_STEP_OF_ALL:
        return factor;
    case FAULT_WITHIN:
        return from == node && to == node ? factor : 1;
    case FAULT_DRIFT:
        return from == node || to == node ? pow(factor, window - job->params.onset + 1.0) : 1;
    case FAULT_NODE_AND_PAIR:
        return from == node || to == node || job_is_between(from, to, job->other) ? factor : 1;
    default:
        return 1;
    }
}

static bool job_is_lost(struct fault_job *job, uint32_t window, uint32_t from, uint32_t to)
{
    const uint32_t node = job->node[0];
    return job->params.kind == FAULT_LOSS && job_is_on(job, window) && from != to &&
           (from == node || to == node) && noise_uniform(&job->noise) < job->params.factor;
}

static void job_step_noise(struct fault_job *job)
{
    const double fresh = sqrt(1 - AGAIN * AGAIN) * job->params.shared;
    for (uint32_t n = 0; n < job->params.nodes; n++)
        job->node_noise[n] = AGAIN * job->node_noise[n] + fresh * noise_gauss(&job->noise) / 2;
    job->job_noise = AGAIN * job->job_noise + fresh * noise_gauss(&job->noise);
    for (uint32_t r = 0; r < job->ranks; r++) {
        for (uint32_t i = 0; i < job->partner_count[r]; i++) {
            const uint32_t from = job_node(job, r), to = job_node(job, job->partners[r][i]);
            double *noise = &job->pair_noise[(size_t)from * job->params.nodes + to];
            if (job->node_noise[from] != 0 && i < 4)
                *noise = AGAIN * *noise + fresh * noise_gauss(&job->noise) / 2;
        }
    }
}

static uint32_t job_messages(struct fault_job *job)
{
    const double mean = job->params.messages;
    const uint32_t whole = (uint32_t)mean;
    return whole + (noise_uniform(&job->noise) < mean - whole);
}

static uint32_t job_bytes(const struct fault_job *job, uint32_t source, uint32_t destination,
                          uint32_t window)
{
    const uint32_t apart = source > destination ? source - destination : destination - source;
    const uint32_t size = apart < 2 ? 8192 : apart % 8 == 0 ? 2048 : 512;
    return job->params.new_phase != 0 && window >= job->params.new_phase ? 3 * size : size;
}

/* Logarithm of the usual time of flight of a pair. */
static double job_usual(const struct fault_job *job, uint32_t source, uint32_t destination,
                        uint32_t bytes)
{
    const uint32_t from = job_node(job, source), to = job_node(job, destination);
    return log(from == to ? MESSAGE_NS_INTRA : MESSAGE_NS_INTER) + log1p(bytes / 4096.0) +
           job->params.spread * job_gauss(job, source, destination, 30) +
           0.2 * job_gauss(job, source, destination, 10 + bytes) +
           0.15 * job_gauss(job, from, to, 20);
}

static void job_add_messages(struct fault_job *job, uint32_t window, uint32_t source,
                             uint32_t destination, uint32_t bytes, double more)
{
    const uint32_t from = job_node(job, source), to = job_node(job, destination);
    const double factor = job_factor(job, window, from, to);
    const double delay = factor > 1 ? job->params.delay_ns : 0;
    const double usual = job_usual(job, source, destination, bytes) + more + job->job_noise +
                         job->node_noise[from] + job->node_noise[to] +
                         job->pair_noise[(size_t)from * job->params.nodes + to] +
                         (delay > 0 ? 0 : log(factor));
    const bool late = job->params.kind == FAULT_LATE_RANK && job_is_on(job, window);
    const uint32_t count = job_messages(job);
    struct transfer row = {.source = source,
                           .destination = destination,
                           .size_class = size_class_of(bytes),
                           .locality = from == to ? LOCALITY_INTRA : LOCALITY_INTER};
    for (uint32_t i = 0; i < count; i++) {
        double flight = exp(usual + job->params.noise * noise_gauss(&job->noise));
        if (noise_uniform(&job->noise) < job->params.tail)
            flight *= pow(10, 1 + 2 * noise_uniform(&job->noise));
        flight += delay + (job_is_lost(job, window, from, to) ? RETRY_NS : 0);
        const double wait = -WAIT_NS * log(noise_uniform(&job->noise));
        const bool sender = noise_uniform(&job->noise) < 0.5;
        row.messages += 1;
        row.network_ns += (uint64_t)flight;
        row.late_sender_ns += sender ? (uint64_t)wait : 0;
        row.late_receiver_ns += sender ? 0 : (uint64_t)wait;
        if (late && source == job->rank)
            row.late_sender_ns += (uint64_t)(WAIT_NS * job->params.factor * 4);
        if (late && destination == job->rank)
            row.late_receiver_ns += (uint64_t)(WAIT_NS * job->params.factor * 4);
        row.transfer_ns = row.network_ns + row.late_receiver_ns;
        if (row.locality == LOCALITY_INTER || i + 1 == count) {
            transfers_add(&job->rows, &row);
            row.messages = row.network_ns = row.late_sender_ns = row.late_receiver_ns = 0;
        }
    }
}

/* Every rank exchanges with ranks in all of the job, under load. */
static void job_exchange(struct fault_job *job, uint32_t window)
{
    for (uint32_t r = 0; r < job->ranks; r++) {
        for (uint32_t k = 1; k < 64; k++)
            job_add_messages(job, window, r, (r + k * (job->ranks / 64)) % job->ranks, 65536, 1.1);
    }
}

const struct transfers *fault_job_window(struct fault_job *job, uint32_t window)
{
    const struct fault_params *p = &job->params;
    transfers_clear(&job->rows);
    if (p->partners_every != 0 && window % p->partners_every == 0 && window > 0)
        job_connect_all(job);
    if (p->shared > 0)
        job_step_noise(job);
    if (p->active_every != 0 && window % p->active_every != 0)
        return &job->rows;
    if (p->exchange_every != 0 && window % p->exchange_every >= p->exchange_every - 2)
        job_exchange(job, window);
    for (uint32_t r = 0; r < job->ranks; r++) {
        for (uint32_t i = 0; i < job->partner_count[r]; i++) {
            const uint32_t to = job->partners[r][i];
            job_add_messages(job, window, r, to, job_bytes(job, r, to, window), 0);
        }
    }
    return &job->rows;
}

/* ---- expectations -------------------------------------------------------- */

static bool finding_has(const struct scope_finding *f, enum scope_kind kind, uint32_t a, uint32_t b)
{
    for (uint32_t m = 0; m < f->member_count; m++) {
        if (f->members[m].kind == kind && f->members[m].a == a && f->members[m].b == b)
            return true;
    }
    for (uint32_t i = 0; i < f->alternative_count; i++) {
        if (f->alternatives[i].kind == kind && f->alternatives[i].a == a &&
            f->alternatives[i].b == b)
            return true;
    }
    return false;
}

static bool finding_has_nodes(const struct scope_finding *f, const uint32_t *nodes, uint32_t count)
{
    if (f->member_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!finding_has(f, SCOPE_NODE, nodes[i], 0))
            return false;
    }
    return true;
}

static bool finding_has_pair(const struct scope_finding *f, const uint32_t *nodes)
{
    return f->member_count == 1 && (finding_has(f, SCOPE_NODE_PAIR, nodes[0], nodes[1]) ||
                                    finding_has(f, SCOPE_NODE_PAIR, nodes[1], nodes[0]));
}

bool fault_job_is_named(const struct fault_job *job, const struct scope_finding *f)
{
    switch (job->params.kind) {
    case FAULT_NODE:
    case FAULT_NODE_OUT:
    case FAULT_DRIFT:
    case FAULT_LOSS:
        return f->part == SCOPE_TRANSFER && finding_has_nodes(f, job->node, 1);
    case FAULT_NODES:
        return f->part == SCOPE_TRANSFER && finding_has_nodes(f, job->node, 4);
    case FAULT_PAIR:
        return f->part == SCOPE_TRANSFER && finding_has_pair(f, job->other);
    case FAULT_LINK:
        return f->part == SCOPE_TRANSFER && f->member_count == 1 &&
               finding_has(f, SCOPE_LINK, job->link, 0);
    case FAULT_LATE_RANK:
        return f->part == SCOPE_LATENESS && f->member_count == 1 &&
               finding_has(f, SCOPE_RANK, job->rank, 0);
    case FAULT_STEP:
        return f->part == SCOPE_TRANSFER && f->members[0].kind == SCOPE_INTER;
    case FAULT_STEP_OF_ALL:
        return f->part == SCOPE_TRANSFER && f->members[0].kind == SCOPE_JOB;
    case FAULT_WITHIN:
        return f->part == SCOPE_TRANSFER && finding_has_nodes(f, job->node, 1) &&
               f->members[0].direction == SCOPE_WITHIN;
    case FAULT_NODE_AND_PAIR:
        return f->part == SCOPE_TRANSFER &&
               (finding_has_nodes(f, job->node, 1) || finding_has_pair(f, job->other));
    default:
        return false;
    }
}

bool fault_job_is_explained(const struct fault_job *job, const struct scope_finding *findings,
                            size_t count)
{
    const size_t parts = job->params.kind == FAULT_NODE_AND_PAIR ? 2
                         : job->params.kind == FAULT_CALM        ? 0
                                                                 : 1;
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        if (findings[i].symptom_of != 0)
            continue;
        if (!fault_job_is_named(job, &findings[i]))
            return false;
        named++;
    }
    return named == parts;
}
