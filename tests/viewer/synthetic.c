#include "tests/viewer/synthetic.h"

#include "holter/call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static double unit(uint64_t *state)
{
    return (double)(draw(state) >> 11) / 9007199254740992.0;
}

/* As near to a cube as the number of ranks allows. */
static void choose_sides(struct synthetic *j)
{
    uint32_t x = (uint32_t)floor(cbrt(j->ranks) + 0.5);
    while (j->ranks % x)
        x--;
    uint32_t rest = j->ranks / x, y = (uint32_t)floor(sqrt(rest) + 0.5);
    while (rest % y)
        y--;
    j->side[0] = x;
    j->side[1] = y;
    j->side[2] = rest / y;
}

static uint32_t neighbour(const struct synthetic *j, uint32_t rank, int dx, int dy, int dz)
{
    uint32_t x = rank % j->side[0], y = rank / j->side[0] % j->side[1],
             z = rank / j->side[0] / j->side[1];
    x = (x + j->side[0] + (uint32_t)dx) % j->side[0];
    y = (y + j->side[1] + (uint32_t)dy) % j->side[1];
    z = (z + j->side[2] + (uint32_t)dz) % j->side[2];
    return x + j->side[0] * (y + j->side[1] * z);
}

/* Faces carry 64 KiB, edges 2 KiB, corners 64 B. */
static void make_pairs(struct synthetic *j)
{
    j->pair_rows = calloc((size_t)j->ranks * j->partners + 1, sizeof *j->pair_rows);
    for (uint32_t rank = 0; rank < j->ranks; rank++) {
        for (int n = 0; n < 27; n++) {
            int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1,
                order = abs(dx) + abs(dy) + abs(dz);
            uint32_t to = neighbour(j, rank, dx, dy, dz);
            if (order == 0 || (j->partners == 6 && order > 1) || to == rank)
                continue;
            j->pair_rows[j->pair_count++] = (struct wire_pair_row){.source = rank,
                                                                   .destination = to,
                                                                   .size_class = 1,
                                                                   .messages = 0,
                                                                   .bytes = order == 1   ? 65536
                                                                            : order == 2 ? 2048
                                                                                         : 64};
        }
    }
}

void synthetic_init(struct synthetic *j, uint32_t ranks, uint32_t per_node, uint32_t partners,
                    uint64_t seed)
{
    *j = (struct synthetic){.ranks = ranks,
                            .per_node = per_node,
                            .partners = partners,
                            .seed = seed,
                            .window = SYNTHETIC_FIRST,
                            .nodes = (ranks + per_node - 1) / per_node};
    choose_sides(j);
    make_pairs(j);
    j->rank_rows = calloc(ranks, sizeof *j->rank_rows);
    j->place_rows = calloc(ranks, sizeof *j->place_rows);
    j->host_rows = calloc(j->nodes, sizeof *j->host_rows);
    j->node_rows = calloc(j->nodes, sizeof *j->node_rows);
    j->names = calloc(j->nodes, sizeof *j->names);
    for (uint32_t n = 0; n < j->nodes; n++) {
        snprintf(j->names[n], sizeof j->names[n], "node%03u", n);
        j->host_rows[n].name = j->names[n];
    }
    for (uint32_t r = 0; r < ranks; r++)
        j->place_rows[r] = (struct wire_place_row){
            .rank = r, .node = r / per_node, .pid = 1000 + r, .placement = ""};
}

void synthetic_finish(struct synthetic *j)
{
    free(j->rank_rows);
    free(j->pair_rows);
    free(j->place_rows);
    free(j->host_rows);
    free(j->node_rows);
    free(j->names);
    memset(j, 0, sizeof *j);
}

void synthetic_begin(struct synthetic *j, synthetic_sink *sink, void *user)
{
    uint64_t start = j->window * SYNTHETIC_SECOND;
    struct wire_job_row row = {.job = "48213.0",
                               .app = "/home/anna/bin/s3d-insitu",
                               .ranks = j->ranks,
                               .nodes = j->nodes,
                               .start_ns = start,
                               .state = "running"};
    struct wire_message m = {.type = WIRE_TYPE_JOB};
    m.job = (struct wire_job){.job = "48213.0",
                              .state = "running",
                              .app = "/home/anna/bin/s3d-insitu",
                              .command = "s3d-insitu -in s3d.in",
                              .mpi = "Open MPI v4.1.4, package: Debian OpenMPI",
                              .user = "anna",
                              .world = j->ranks,
                              .seen = j->ranks,
                              .start_ns = start,
                              .window_ns = SYNTHETIC_SECOND,
                              .recording = "/scratch/anna/holter-48213.hrec"};
    sink(user, &m, 0);
    m = (struct wire_message){.type = WIRE_TYPE_PLACES};
    m.places = (struct wire_places){.job = "48213.0",
                                    .hosts = j->host_rows,
                                    .hosts_count = j->nodes,
                                    .places = j->place_rows,
                                    .places_count = j->ranks};
    sink(user, &m, 0);
    m = (struct wire_message){.type = WIRE_TYPE_STATUS};
    m.status = (struct wire_status){.version = "0.1.0",
                                    .pid = 7,
                                    .host = "login1",
                                    .started_ns = start,
                                    .now_ns = start,
                                    .window_ns = SYNTHETIC_SECOND,
                                    .agents = j->nodes,
                                    .clients = 1,
                                    .cpu_ns = 1000,
                                    .rss_bytes = 30u << 20,
                                    .recorded_bytes = UINT64_C(212) << 20,
                                    .jobs = &row,
                                    .jobs_count = 1};
    sink(user, &m, 0);
}

uint64_t synthetic_messages(const struct synthetic *j, uint64_t window)
{
    (void)j;
    /* an output phase of three windows in every twenty, where the halo rests */
    return (window - SYNTHETIC_FIRST) % 20 >= 17 ? 20 : 120 + window % 7 * 2;
}

static void rank_figures(struct synthetic *j, uint32_t rank, uint64_t messages, uint64_t *noise)
{
    int output = messages < 100;
    double slow = rank % 8 == 5 ? 0 : 1, ns = (double)SYNTHETIC_SECOND;
    struct wire_rank_row *r = &j->rank_rows[rank];
    uint64_t bytes = 0, partners = 0;
    *r = (struct wire_rank_row){.rank = rank, .in_call_peer = -1, .threads = 1};
    partners = j->pair_count / j->ranks;
    for (uint64_t i = (uint64_t)rank * partners; i < (uint64_t)(rank + 1) * partners; i++) {
        const struct wire_pair_row *pair = &j->pair_rows[i];
        int crosses = (uint64_t)pair->destination / j->per_node != rank / j->per_node;
        r->crossing += crosses ? messages : 0;
        r->crossing_bytes += crosses ? pair->bytes : 0;
        bytes += pair->bytes;
    }
    r->sent = r->received = messages * partners;
    r->sent_bytes = r->received_bytes = bytes;
    r->calls = r->sent * 2 + 140;
    r->events = r->calls;
    r->send_ns = (uint64_t)(ns * (0.02 + 0.01 * unit(noise)));
    r->recv_ns = (uint64_t)(ns * (0.015 + 0.005 * unit(noise)));
    r->wait_ns = (uint64_t)(ns * slow *
                            (output ? 0.03 : 0.12 + 0.10 * unit(noise) + 0.08 * sin(rank * 0.13)));
    r->poll_ns = (uint64_t)(ns * 0.004 * unit(noise));
    r->collective_ns =
        (uint64_t)(ns * (output ? 0.35 : 0.05) * (0.4 + 0.6 * slow) * (0.8 + 0.4 * unit(noise)));
    r->io_ns = output ? (uint64_t)(ns * 0.25) : 0;
    r->other_ns = (uint64_t)(ns * 0.002);
    if (slow > 0 && rank / 8 * 8 + 5 < j->ranks) { /* the slow one of each eight is waited for */
        r->awaited = rank / 8 * 8 + 5 + 1;
        r->awaited_ns = r->wait_ns;
    }
    if (rank % 8 == 3) {
        r->in_call = (uint16_t)call_by_name("MPI_Wait");
        r->in_call_ns = 1200000;
        r->in_call_peer = rank + 2;
    }
}

static void send_totals(struct synthetic *j, synthetic_sink *sink, void *user)
{
    struct wire_message m = {.type = WIRE_TYPE_TOTALS};
    struct wire_totals *t = &m.totals;
    *t = (struct wire_totals){.job = "48213.0",
                              .window = j->window,
                              .start_ns = j->window * SYNTHETIC_SECOND,
                              .length_ns = SYNTHETIC_SECOND,
                              .published_ns = (j->window + 1) * SYNTHETIC_SECOND + 30000000,
                              .agents = j->nodes,
                              .ranks = j->ranks};
    for (uint32_t r = 0; r < j->ranks; r++) {
        const struct wire_rank_row *row = &j->rank_rows[r];
        t->events += row->events;
        t->calls += row->calls;
        t->sent += row->sent;
        t->sent_bytes += row->sent_bytes;
        t->received += row->received;
        t->received_bytes += row->received_bytes;
        t->matched += row->received;
        t->send_ns += row->send_ns;
        t->recv_ns += row->recv_ns;
        t->wait_ns += row->wait_ns;
        t->poll_ns += row->poll_ns;
        t->collective_ns += row->collective_ns;
        t->io_ns += row->io_ns;
        t->other_ns += row->other_ns;
    }
    t->unmatched = t->matched / 5000;
    sink(user, &m, 0);
}

static void send_calls(struct synthetic *j, uint64_t messages, synthetic_sink *sink, void *user)
{
    static const struct wire_comm_row comms[] = {
        {.id = 1, .size = 0, .name = "MPI_COMM_WORLD"},
        {.id = 77, .parent = 1, .size = 64, .name = "MPI_Cart_create"}};
    static const struct wire_region_row regions[] = {{.name = ""}, {.name = "halo exchange"}};
    struct wire_comm_row named[2] = {comms[0], comms[1]};
    named[0].size = j->ranks;
    uint64_t n = messages * j->pair_count;
    struct wire_call_row rows[] = {
        {.rank = j->ranks,
         .call = (uint64_t)call_by_name("MPI_Isend"),
         .comm = 1,
         .region = 1,
         .calls = n,
         .bytes = n * 20000,
         .time_ns = n * 180,
         .longest_ns = 40000},
        {.rank = j->ranks,
         .call = (uint64_t)call_by_name("MPI_Irecv"),
         .comm = 1,
         .region = 1,
         .calls = n,
         .time_ns = n * 120,
         .longest_ns = 30000},
        {.rank = j->ranks,
         .call = (uint64_t)call_by_name("MPI_Waitall"),
         .comm = 1,
         .region = 1,
         .calls = messages * j->ranks,
         .bytes_in = n * 20000,
         .time_ns = (uint64_t)j->ranks * 190000000,
         .longest_ns = 21000000},
        {.rank = j->ranks,
         .call = (uint64_t)call_by_name("MPI_Allreduce"),
         .comm = 0,
         .region = 0,
         .calls = 12ull * j->ranks,
         .bytes = 96ull * j->ranks,
         .bytes_in = 96ull * j->ranks,
         .time_ns = (uint64_t)j->ranks * 52000000,
         .longest_ns = 9000000},
        {.rank = 1,
         .call = (uint64_t)call_by_name("MPI_Iprobe"),
         .comm = 0,
         .region = 0,
         .calls = 900,
         .time_ns = 2000000,
         .longest_ns = 8000},
    };
    struct wire_message m = {.type = WIRE_TYPE_CALL_WINDOW};
    m.call_window = (struct wire_call_window){.job = "48213.0",
                                              .window = j->window,
                                              .windows = 1,
                                              .comms = named,
                                              .comms_count = 2,
                                              .regions = regions,
                                              .regions_count = 2,
                                              .calls = rows,
                                              .calls_count = sizeof rows / sizeof *rows};
    sink(user, &m, 0);
}

/* Calls of each rank: those of the other ranks that wait are as long as their figures say. */
static void send_callers(struct synthetic *j, uint64_t messages, synthetic_sink *sink, void *user)
{
    static const struct wire_region_row regions[] = {{.name = ""}, {.name = "halo exchange"}};
    static const char *const names[] = {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce"};
    enum { KINDS = 4 };
    uint64_t partners = j->pair_count / j->ranks;
    struct wire_call_row *rows = calloc((size_t)j->ranks * KINDS, sizeof *rows);
    for (uint32_t i = 0; i < j->ranks * KINDS; i++) {
        uint32_t rank = i / KINDS, kind = i % KINDS;
        const struct wire_rank_row *r = &j->rank_rows[rank];
        const uint64_t time_ns[KINDS] = {r->send_ns, r->recv_ns, r->wait_ns, r->collective_ns};
        const uint64_t calls[KINDS] = {messages * partners, messages * partners, messages, 12};
        const uint64_t bytes[KINDS] = {r->sent_bytes, 0, 0, 96};
        const uint64_t bytes_in[KINDS] = {0, 0, r->received_bytes, 96};
        rows[i] = (struct wire_call_row){.rank = rank,
                                         .call = (uint64_t)call_by_name(names[kind]),
                                         .region = kind < 3,
                                         .calls = calls[kind],
                                         .bytes = bytes[kind],
                                         .bytes_in = bytes_in[kind],
                                         .time_ns = time_ns[kind]};
    }
    struct wire_message m = {.type = WIRE_TYPE_CALLER_WINDOW};
    m.caller_window = (struct wire_caller_window){.job = "48213.0",
                                                  .window = j->window,
                                                  .windows = 1,
                                                  .regions = regions,
                                                  .regions_count = 2,
                                                  .calls = rows,
                                                  .calls_count = (uint64_t)j->ranks * KINDS};
    sink(user, &m, 0);
    free(rows);
}

static void send_nodes(struct synthetic *j, synthetic_sink *sink, void *user)
{
    uint64_t age = j->window - SYNTHETIC_FIRST + 1;
    for (uint32_t n = 0; n < j->nodes; n++)
        j->node_rows[n] = (struct wire_node_row){.host = j->names[n],
                                                 .agent_pid = 400 + n,
                                                 .connected = 1,
                                                 .ranks = j->per_node,
                                                 .events = age * 81000,
                                                 .uplink_bytes = age * 310000,
                                                 .cpu_ns = age * 4100000,
                                                 .rss_bytes = UINT64_C(21) << 20,
                                                 .clock_error_ns = 6000 + n * 100,
                                                 .call_cost_ns = 31};
    struct wire_message m = {.type = WIRE_TYPE_NODES};
    m.nodes = (struct wire_nodes){
        .job = "48213.0", .window = j->window, .nodes = j->node_rows, .nodes_count = j->nodes};
    sink(user, &m, 0);
}

void synthetic_window(struct synthetic *j, synthetic_sink *sink, void *user)
{
    uint64_t messages = synthetic_messages(j, j->window), noise = j->seed ^ j->window;
    uint64_t partners = j->pair_count / j->ranks;
    for (uint32_t i = 0; i < j->pair_count; i++) {
        struct wire_pair_row *p = &j->pair_rows[i];
        uint64_t size = p->messages ? p->bytes / p->messages : p->bytes;
        p->messages = messages;
        p->bytes = size * messages;
    }
    for (uint32_t r = 0; r < j->ranks && partners; r++)
        rank_figures(j, r, messages, &noise);
    send_totals(j, sink, user);
    struct wire_message m = {.type = WIRE_TYPE_RANK_WINDOW};
    m.rank_window = (struct wire_rank_window){.job = "48213.0",
                                              .window = j->window,
                                              .length_ns = SYNTHETIC_SECOND,
                                              .ranks = j->rank_rows,
                                              .ranks_count = j->ranks,
                                              .windows = 1};
    sink(user, &m, 0);
    m = (struct wire_message){.type = WIRE_TYPE_PAIR_WINDOW};
    m.pair_window = (struct wire_pair_window){.job = "48213.0",
                                              .window = j->window,
                                              .windows = 1,
                                              .pairs = j->pair_rows,
                                              .pairs_count = j->pair_count};
    sink(user, &m, 0);
    send_calls(j, messages, sink, user);
    send_callers(j, messages, sink, user);
    send_nodes(j, sink, user);
    j->window++;
}

void synthetic_skip(struct synthetic *j, uint64_t windows)
{
    j->window += windows;
}

void synthetic_death(struct synthetic *j, uint32_t rank, synthetic_sink *sink, void *user)
{
    char title[64], text[160];
    snprintf(title, sizeof title, "rank %u died", rank);
    snprintf(text, sizeof text,
             "Process %u on %s was killed inside MPI_Waitall; %u other ranks wait for it.",
             1000 + rank, j->names[rank / j->per_node], j->partners);
    struct wire_message m = {.type = WIRE_TYPE_ALERT};
    m.alert = (struct wire_alert){.job = "48213.0",
                                  .id = rank + 1,
                                  .kind = "rank-died",
                                  .state = "firing",
                                  .severity = "critical",
                                  .since_ns = j->window * SYNTHETIC_SECOND,
                                  .updated_ns = j->window * SYNTHETIC_SECOND,
                                  .title = title,
                                  .text = text,
                                  .rank = rank,
                                  .host = j->names[rank / j->per_node]};
    sink(user, &m, 0);
}

/* ---- latency -----------------------------------------------------------------------------------
 */

void synthetic_lateness(const struct synthetic *j, const struct synthetic_latency *l,
                        synthetic_sink *sink, void *user)
{
    struct wire_lateness_row *rows = calloc(j->ranks, sizeof *rows);
    struct wire_message m = {.type = WIRE_TYPE_LATENESS};
    uint64_t noise = j->window * 7919, at = j->window - SYNTHETIC_FIRST, count = 0;
    for (uint32_t rank = 0; rows && rank < j->ranks; rank++) {
        uint32_t node = rank / j->per_node, away = node > 3 ? node - 3 : 3 - node;
        uint64_t late = (uint64_t)(unit(&noise) * 40e6);
        int own = rank % 64 == 17, slow = at >= l->onset + away / 2 && at < l->recovery;
        if (!own && !slow)
            continue;
        late += slow ? 200000000 / (1 + away / 8) : 0;
        rows[count++] = (struct wire_lateness_row){rank, late,
                                                   away == 0 && slow ? late
                                                   : own             ? late / 4
                                                                     : 0};
    }
    m.lateness = (struct wire_lateness){.job = "48213.0",
                                        .window = j->window,
                                        .windows = 1,
                                        .length_ns = SYNTHETIC_SECOND,
                                        .ranks = rows,
                                        .ranks_count = count};
    sink(user, &m, 0);
    free(rows);
}

double synthetic_ratio(const struct synthetic_latency *l, uint32_t region, uint64_t window)
{
    uint64_t noise = window * 1000003 + region, at = window - SYNTHETIC_FIRST;
    double calm = 1.02 + 0.16 * (unit(&noise) - 0.5);
    if (region != l->slow || at < l->onset || at >= l->recovery)
        return calm;
    return calm * fmin(1 + (double)(at - l->onset + 1) * l->rate, l->most);
}

static uint32_t region_size(const struct synthetic *j, const struct synthetic_latency *l)
{
    return (j->ranks + l->regions - 1) / l->regions;
}

void synthetic_regions(const struct synthetic *j, const struct synthetic_latency *l,
                       synthetic_sink *sink, void *user)
{
    uint32_t each = region_size(j, l);
    struct wire_latency_region_row *regions = calloc(l->regions, sizeof *regions);
    struct wire_region_member_row *members = calloc(j->ranks, sizeof *members);
    for (uint32_t r = 0; r < j->ranks; r++) {
        members[r] = (struct wire_region_member_row){r, r / each + 1};
        regions[r / each].ranks++;
    }
    for (uint32_t i = 0; i < l->regions; i++) {
        regions[i].id = i + 1;
        regions[i].since = SYNTHETIC_FIRST;
    }
    struct wire_message m = {.type = WIRE_TYPE_REGIONS};
    m.regions = (struct wire_regions){.job = "48213.0",
                                      .window = SYNTHETIC_FIRST,
                                      .regions = regions,
                                      .regions_count = l->regions,
                                      .members = members,
                                      .members_count = j->ranks};
    sink(user, &m, 0);
    free(regions);
    free(members);
}

static void trend_of(const struct synthetic_latency *l, uint32_t region, uint64_t window,
                     struct wire_series_row *row)
{
    uint64_t at = window - SYNTHETIC_FIRST,
             full = l->onset + (l->rate > 0 ? (uint64_t)((l->most - 1) / l->rate) : 0);
    row->slope = NAN;
    row->trend_since = SYNTHETIC_FIRST;
    if (region != l->slow || at < l->onset + 3 || at >= l->recovery + 2)
        return; /* reported with a delay, like a real detector */
    row->trend = at < full + 3 ? TREND_GROWTH : TREND_STEADY;
    row->trend_since = SYNTHETIC_FIRST + (row->trend == TREND_GROWTH ? l->onset : full);
    row->slope = row->trend == TREND_GROWTH ? l->rate * 60 : 0;
}

static struct wire_series_row series_row(const struct synthetic *j,
                                         const struct synthetic_latency *l, uint64_t scope,
                                         uint64_t id, double ratio, uint64_t messages)
{
    struct wire_series_row row = {.scope = scope, .id = id, .messages = messages};
    uint64_t window = j->window - 1, noise = window * 77 + id * 13 + scope;
    double delayed = fmin(0.5 * ratio * (0.85 + 0.3 * unit(&noise)), 0.98);
    row.reference = row.typical = ratio;
    row.recent = 1 + (ratio - 1) * 0.7;
    row.delayed = (uint64_t)((double)messages * delayed);
    row.transfer_ns = (uint64_t)((double)messages * 4000 * ratio);
    row.network_ns = (uint64_t)((double)row.transfer_ns * 0.8);
    row.late_receiver_ns = row.transfer_ns - row.network_ns;
    row.late_sender_ns = row.transfer_ns / 4;
    row.error_ns = scope == SERIES_INTRA ? 0 : messages * 600;
    trend_of(l, (uint32_t)id, window, &row);
    return row;
}

static void rank_latencies(const struct synthetic *j, const struct synthetic_latency *l,
                           struct wire_rank_latency_row *rows)
{
    uint64_t window = j->window - 1, noise = window;
    for (uint32_t r = 0; r < j->ranks; r++) {
        uint32_t region = r / region_size(j, l) + 1;
        double ratio = synthetic_ratio(l, region, window);
        rows[r] = (struct wire_rank_latency_row){r, synthetic_messages(j, window) * 2,
                                                 ratio * (0.8 + 0.4 * unit(&noise)), NAN, 0.3};
    }
}

enum { SYNTHETIC_CRITERIA = 6 };

/* Criteria, and the times of this window: those between nodes grow with the latency. */
static void criterion_rows(uint64_t window, double ratio, struct wire_criterion_row *rows)
{
    static const uint64_t base[SYNTHETIC_CRITERIA][5] = {
        {0, 64, 900, 850, 40000},   {0, 232, 3100, 3000, 40000}, {0, 312, 21000, 20500, 60000},
        {1, 64, 4100, 4000, 20000}, {1, 232, 9800, 9600, 20000}, {1, 312, 61000, 60000, 30000},
    };
    uint64_t noise = window;
    for (size_t i = 0; i < SYNTHETIC_CRITERIA; i++) {
        const uint64_t *b = base[i];
        double now = (double)b[2] * (b[0] ? ratio : 1) * (0.97 + 0.06 * unit(&noise));
        rows[i] = (struct wire_criterion_row){.locality = b[0],
                                              .size_class = b[1],
                                              .recent_ns = b[2],
                                              .reference_ns = b[3],
                                              .messages = b[4],
                                              .low_ns = b[2] * 7 / 10,
                                              .high_ns = b[2] * 19 / 10,
                                              .window_ns = (uint64_t)now,
                                              .window_messages = b[4] / 60};
    }
}

void synthetic_latencies(const struct synthetic *j, const struct synthetic_latency *l,
                         synthetic_sink *sink, void *user)
{
    struct wire_criterion_row criteria[SYNTHETIC_CRITERIA];
    uint64_t window = j->window - 1,
             each = synthetic_messages(j, window) * j->pair_count / l->regions;
    struct wire_series_row *series = calloc(l->regions + 3, sizeof *series);
    struct wire_rank_latency_row *ranks = calloc(j->ranks, sizeof *ranks);
    double sum = 0;
    for (uint32_t i = 0; i < l->regions; i++) {
        double ratio = synthetic_ratio(l, i + 1, window);
        series[3 + i] = series_row(j, l, SERIES_REGION, i + 1, ratio, each);
        sum += ratio / l->regions;
    }
    series[0] = series_row(j, l, SERIES_JOB, 0, sum, each * l->regions);
    series[1] = series_row(j, l, SERIES_INTRA, 0, 1 + (sum - 1) * 0.1, each * l->regions * 2 / 3);
    series[2] = series_row(j, l, SERIES_INTER, 0, 1 + (sum - 1) * 2, each * l->regions / 3);
    rank_latencies(j, l, ranks);
    criterion_rows(window, 1 + (sum - 1) * 2, criteria);
    struct wire_message m = {.type = WIRE_TYPE_LATENCIES};
    m.latencies = (struct wire_latencies){.job = "48213.0",
                                          .window = window,
                                          .start_ns = window * SYNTHETIC_SECOND,
                                          .length_ns = SYNTHETIC_SECOND,
                                          .series = series,
                                          .series_count = l->regions + 3,
                                          .criteria = criteria,
                                          .criteria_count = SYNTHETIC_CRITERIA,
                                          .ranks = ranks,
                                          .ranks_count = j->ranks,
                                          .matched = each * l->regions,
                                          .unmatched = each * l->regions / 5000,
                                          .error_ns = 6400};
    sink(user, &m, 0);
    free(series);
    free(ranks);
}

void synthetic_growth(const struct synthetic *j, const struct synthetic_latency *l, uint64_t id,
                      const char *state, synthetic_sink *sink, void *user)
{
    static const struct wire_cause_row causes[] = {
        {"network", 0.71, "network time 2.9x its reference, 71 % of the growth"},
        {"late-sender", 0.18, "receivers wait 12 % longer for sends that had not begun"},
        {"mapping", 0.08, "38 % of the messages cross nodes, 22 % elsewhere"},
        {"slow-node", 0.03, "no node is slower in the eyes of all its peers"},
    };
    uint32_t each = region_size(j, l), first = (l->slow - 1) * each,
             last = first + each < j->ranks ? first + each - 1 : j->ranks - 1;
    char ranks[32], nodes[128], title[64];
    uint32_t a = first / j->per_node, b = last / j->per_node;
    snprintf(ranks, sizeof ranks, "%u-%u", first, last);
    snprintf(title, sizeof title, "Latency growing in region %u", l->slow);
    snprintf(nodes, sizeof nodes, a == b ? "%s" : "%s,%s", j->names[a], j->names[b]);
    uint64_t now = j->window * SYNTHETIC_SECOND,
             onset = (SYNTHETIC_FIRST + l->onset) * SYNTHETIC_SECOND;
    struct wire_message m = {.type = WIRE_TYPE_ALERT};
    m.alert = (struct wire_alert){
        .job = "48213.0",
        .id = id,
        .kind = "latency",
        .state = state,
        .since_ns = onset + 3 * SYNTHETIC_SECOND,
        .fired_ns = strcmp(state, "pending") == 0 ? 0 : onset + 4 * SYNTHETIC_SECOND,
        .updated_ns = now,
        .title = title,
        .text = "Messages of region take longer than the best sustained level of this job.",
        .rank = -1,
        .rule = "latency-growth",
        .severity = "warning",
        .region = l->slow,
        .ranks = ranks,
        .ratio = synthetic_ratio(l, l->slow, j->window - 1),
        .slope = l->rate * 60,
        .onset_ns = onset,
        .locality = "inter-node",
        .sizes = "64 KiB to 128 KiB",
        .causes = causes,
        .causes_count = sizeof causes / sizeof *causes,
        .advice = "Wait or move: the network between these nodes is shared; remapping 64 ranks "
                  "takes 31 % of the messages off it.",
        .links = "(3,1,0) \xe2\x86\x92 (3,2,0) 95 %",
        .updates = 7,
        .error_ns = 6400,
        .nodes = nodes};
    sink(user, &m, 0);
}

void synthetic_late_rank(const struct synthetic *j, uint64_t id, uint32_t rank,
                         synthetic_sink *sink, void *user)
{
    static const struct wire_cause_row causes[] = {
        {"computes-longer", 0.86, "busy outside of MPI for 49 % of the time, before for 16 %"},
        {"late-receiver", 0.11, "senders wait 14 % longer for receives that had not begun"},
        {"io", 0.03, "blocked in the kernel for 3 % of the time, before never"},
    };
    char title[128], ranks[16];
    snprintf(title, sizeof title,
             "rank %u computes longer: others wait 13.8x as long since 12:30:01; the job makes 83 "
             "%% of its progress",
             rank);
    snprintf(ranks, sizeof ranks, "%u", rank);
    struct wire_message m = {.type = WIRE_TYPE_ALERT};
    m.alert =
        (struct wire_alert){.job = "48213.0",
                            .id = id,
                            .kind = "latency",
                            .state = "firing",
                            .since_ns = (j->window - 2) * SYNTHETIC_SECOND,
                            .updated_ns = j->window * SYNTHETIC_SECOND,
                            .title = title,
                            .text = title,
                            .rank = rank,
                            .host = j->names[rank / j->per_node],
                            .rule = "latency-growth",
                            .severity = "warning",
                            .ranks = ranks,
                            .ratio = 13.8,
                            .ratio_worst = 29.7,
                            .slope = 1.78,
                            .onset_ns = (j->window - 12) * SYNTHETIC_SECOND,
                            .locality = "both",
                            .sizes = "992 to 1023 bytes",
                            .causes = causes,
                            .causes_count = sizeof causes / sizeof *causes,
                            .advice = "Balance the work: this rank has more of it than before.",
                            .nodes = j->names[rank / j->per_node],
                            .culprit = "rank",
                            .culprits = ranks,
                            .victims = "0-16,18-127",
                            .progress = 0.83,
                            .lost_ns = UINT64_C(7380000000),
                            .updates = 16,
                            .error_ns = 6400};
    sink(user, &m, 0);
}

void synthetic_hang(const struct synthetic *j, uint64_t id, uint32_t rank, synthetic_sink *sink,
                    void *user)
{
    char title[96], text[256], ranks[16];
    snprintf(title, sizeof title, "rank %u has not arrived in MPI_Allreduce", rank);
    snprintf(text, sizeof text,
             "%u of %u ranks wait in MPI_Allreduce on MPI_COMM_WORLD for 12 s; rank %u on %s is "
             "stopped (state T).",
             j->ranks - 1, j->ranks, rank, j->names[rank / j->per_node]);
    snprintf(ranks, sizeof ranks, "%u", rank);
    struct wire_message m = {.type = WIRE_TYPE_ALERT};
    m.alert = (struct wire_alert){.job = "48213.0",
                                  .id = id,
                                  .kind = "hang",
                                  .state = "firing",
                                  .since_ns = (j->window - 2) * SYNTHETIC_SECOND,
                                  .updated_ns = j->window * SYNTHETIC_SECOND,
                                  .title = title,
                                  .text = text,
                                  .rank = rank,
                                  .host = j->names[rank / j->per_node],
                                  .rule = "hang",
                                  .severity = "critical",
                                  .ranks = ranks,
                                  .ratio = NAN,
                                  .slope = NAN,
                                  .onset_ns = (j->window - 12) * SYNTHETIC_SECOND,
                                  .advice = "Look at that process: it may be stopped.",
                                  .comm = 1,
                                  .nodes = j->names[rank / j->per_node]};
    sink(user, &m, 0);
}

/* ---- a replay ----------------------------------------------------------------------------------
 */

void synthetic_replay(const struct synthetic_replay *r, int snapshot, synthetic_sink *sink,
                      void *user)
{
    const uint64_t begin = SYNTHETIC_FIRST * SYNTHETIC_SECOND, s = SYNTHETIC_SECOND;
    const struct wire_mark_row marks[SYNTHETIC_MARKS] = {
        {1, "latency", "warning", begin + 60 * s, begin + 75 * s, begin + 130 * s,
         "latency grows between nodes 3 and 4"},
        {2, "lost", "info", begin + 200 * s, begin + 200 * s, begin + 201 * s, "records were lost"},
        {3, "link", "warning", begin + 300 * s, begin + 302 * s, begin + 340 * s,
         "link (0,0)-(0,1) is congested"},
        {4, "hang", "critical", begin + 303 * s, begin + 305 * s, begin + 320 * s,
         "rank 5 has not arrived"},
        {5, "latency", "warning", begin + 420 * s, 0, begin + 440 * s, "latency grows in region 2"},
        {6, "died", "critical", begin + 540 * s, begin + 540 * s, 0, "rank 17 died"},
    };
    struct wire_message m = {.type = WIRE_TYPE_REPLAY};
    m.replay = (struct wire_replay){
        .job = "48213.0",
        .file = "/home/ada/holter-48213.0.hrec",
        .state = r->state,
        .begin_ns = begin,
        .end_ns = begin + SYNTHETIC_RECORDED,
        .position_ns = begin + (uint64_t)(r->position * SYNTHETIC_RECORDED),
        .indexed_ns = begin + (uint64_t)(r->indexed * SYNTHETIC_RECORDED),
        .known_ns = r->known > 0 ? begin + (uint64_t)(r->known * SYNTHETIC_RECORDED) : 0,
        .target_ns = r->target > 0 ? begin + (uint64_t)(r->target * SYNTHETIC_RECORDED) : 0,
        .speed = r->speed,
        .paused = r->paused != 0,
        .looping = r->looping != 0,
        .run = r->run,
        .change = r->change,
        .window_ns = s,
        .window = SYNTHETIC_FIRST,
        .fault = r->fault ? r->fault : "",
        .marked = r->marked != 0,
        .marks = marks,
        .marks_count = r->marked ? SYNTHETIC_MARKS : 0,
    };
    sink(user, &m, snapshot);
}
