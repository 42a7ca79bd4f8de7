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
    for (uint64_t i = (uint64_t)rank * partners; i < (uint64_t)(rank + 1) * partners; i++)
        bytes += j->pair_rows[i].bytes;
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
        t->send_ns += row->send_ns;
        t->recv_ns += row->recv_ns;
        t->wait_ns += row->wait_ns;
        t->poll_ns += row->poll_ns;
        t->collective_ns += row->collective_ns;
        t->io_ns += row->io_ns;
        t->other_ns += row->other_ns;
    }
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
                                  .since_ns = j->window * SYNTHETIC_SECOND,
                                  .updated_ns = j->window * SYNTHETIC_SECOND,
                                  .title = title,
                                  .text = text,
                                  .rank = rank,
                                  .host = j->names[rank / j->per_node]};
    sink(user, &m, 0);
}
