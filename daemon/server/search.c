/* What a search works on: processes, their places, and messages between them. */
#include "daemon/server/search_state.h"

#include "daemon/analysis/sums/window_sum.h"
#include "daemon/job/network/job_network.h"
#include "daemon/job/phases/job_phases.h"
#include "daemon/server/msg_socket_frame.h"
#include "holter/error.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int search_send(struct search *s, enum wire_type type, const void *message)
{
    int code = wire_encode(&s->buffer, type, message);
    if (code != 0)
        return code;
    uint8_t head[MSG_STREAM_HEAD];
    msg_stream_put_head(head, s->buffer.length);
    const uint8_t *parts[2] = {head, s->buffer.bytes};
    size_t lengths[2] = {sizeof(head), s->buffer.length};
    for (int i = 0; i < 2; i++) {
        for (size_t at = 0; at < lengths[i];) {
            ssize_t n = write(s->fd, parts[i] + at, lengths[i] - at);
            if (n < 0 && errno != EINTR)
                return -errno;
            at += n > 0 ? (size_t)n : 0;
        }
    }
    return 0;
}

int search_send_parts(struct search *s, enum wire_type type, void *message, const char *first)
{
    struct wire_parts parts = wire_parts_of(type, message, first);
    int code = 0;
    while (code == 0 && wire_parts_next(&parts))
        code = search_send(s, type, message);
    return code;
}

/* ---- what it works on ---------------------------------------------------------------------- */

static int search_list_processes(struct search *s, const struct job_network *network)
{
    s->rank_count = job_network_ranks(network);
    size_t capacity = (size_t)s->rank_count + 1;
    s->seats = malloc(capacity * sizeof(*s->seats));
    s->process_of = malloc(capacity * sizeof(*s->process_of));
    if (s->seats == NULL || s->process_of == NULL)
        return -ENOMEM;
    for (uint32_t rank = 0; rank < s->rank_count; rank++) {
        uint32_t seat = job_network_vertex(network, rank);
        uint64_t lowest = s->by_node ? job_network_node_rank(network, rank) : rank;
        s->process_of[rank] = seat == TOPOLOGY_NONE ? UINT32_MAX
                              : lowest == rank      ? s->processes
                                                    : s->process_of[lowest];
        if (seat == TOPOLOGY_NONE || lowest != rank)
            continue;
        s->seats[s->processes++] = seat;
    }
    return 0;
}

/* Seats of the mapping that is asked about, in place of the present ones. */
static int search_adopt_seats(struct search *s)
{
    uint32_t vertices = topology_vertices(s->topology);
    for (size_t i = 0; i < s->ask->seat_count; i++) {
        const struct wire_seat_row *row = &s->ask->seats[i];
        if (row->rank >= s->rank_count || s->process_of[row->rank] == UINT32_MAX ||
            row->vertex >= vertices ||
            topology_vertex_kind(s->topology, (uint32_t)row->vertex) == VERTEX_SWITCH) {
            snprintf(s->why, sizeof(s->why),
                     "the mapping that is asked about does not fit the job's ranks and network");
            return -HOLTER_EUSAGE;
        }
        s->seats[s->process_of[row->rank]] = (uint32_t)row->vertex;
    }
    return 0;
}

static void search_add_edge(struct search *s, uint32_t from, uint32_t to, uint64_t bytes,
                            uint64_t messages)
{
    if (from >= s->rank_count || to >= s->rank_count || s->process_of[from] == UINT32_MAX ||
        s->process_of[to] == UINT32_MAX)
        return;
    const struct remap_edge edge = {s->process_of[from], s->process_of[to], bytes, messages};
    struct remap_edge *last = s->edge_count == 0 ? NULL : &s->edges[s->edge_count - 1];
    if (last != NULL && last->from == edge.from && last->to == edge.to) {
        last->bytes += bytes; /* the same pair with another size, communicator or region */
        last->messages += messages;
    } else {
        s->edges[s->edge_count++] = edge;
    }
}

static int search_edges_since_start(struct search *s)
{
    const struct wire_pair_row *rows;
    size_t count;
    int code = (s->by_node ? job_list_node_pairs : job_list_pairs)(s->job, REMAP_MAXIMUM_EDGES,
                                                                   &rows, &count);
    s->edges = code != 0 ? NULL : malloc((count + 1) * sizeof(*s->edges));
    if (s->edges == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].destination >= 0)
            search_add_edge(s, (uint32_t)rows[i].source, (uint32_t)rows[i].destination,
                            rows[i].bytes, rows[i].messages);
    }
    return 0;
}

/* Edges of a span of windows, at the resolution that is stored; without modelled collectives. */
static int search_edges_of_span(struct search *s)
{
    struct phase_graph graph = {.count = 0};
    uint64_t length = job_window_ns(s->job), maximum = INT64_MAX / 4 / length;
    int64_t from = (int64_t)((s->ask->from < maximum ? s->ask->from : maximum) * length),
            to = (int64_t)((s->ask->to < maximum ? s->ask->to + 1 : maximum) * length) - 1;
    int code = job_phases_graph(job_phases(s->job), from, to, &graph);
    if (code == -HOLTER_EEMPTY)
        snprintf(s->why, sizeof(s->why), "the job has sent nothing yet");
    s->edges = code != 0 ? NULL : malloc((graph.count + 1) * sizeof(*s->edges));
    if (code == 0 && s->edges == NULL)
        code = -ENOMEM;
    for (size_t i = 0; code == 0 && i < graph.count; i++) {
        const struct phase_edge *e = &graph.edges[i];
        if (!e->modelled)
            search_add_edge(s, e->source, e->destination, e->bytes, e->messages);
    }
    phase_graph_finish(&graph);
    return code;
}

static int search_prepare(struct search *s)
{
    struct job_network *network = job_network(s->job);
    s->topology = job_network_topology(network);
    if (s->topology == NULL) {
        snprintf(s->why, sizeof(s->why), "where the job's ranks sit is not known yet");
        return -HOLTER_EEMPTY;
    }
    const int all = s->ask->from == 0 && s->ask->to == UINT64_MAX;
    s->by_node = job_network_is_by_node(network);
    if (s->by_node && !all) {
        snprintf(
            s->why, sizeof(s->why),
            "the job is kept by groups of ranks: what its nodes sent is known since the start, "
            "not of a span");
        return -HOLTER_EEMPTY;
    }
    int code = search_list_processes(s, network);
    if (code == 0 && s->processes == 0) {
        snprintf(s->why, sizeof(s->why), "no rank of the job has a place in the network");
        return -HOLTER_EEMPTY;
    }
    code = code != 0 ? code : search_adopt_seats(s);
    return code != 0 ? code : all ? search_edges_since_start(s) : search_edges_of_span(s);
}

void search_run(struct job *job, const struct network_ask *ask, int fd, uint64_t id)
{
    struct search search = {.job = job, .ask = ask, .fd = fd};
    int code = search_prepare(&search);
    if (code == 0)
        code = ask->reroute ? search_routes(&search) : search_mapping(&search);
    if (code != 0 && search.why[0] == '\0')
        snprintf(search.why, sizeof(search.why), "%s", holter_strerror(code));
    const struct wire_reply reply = {.id = id, .code = code, .text = code == 0 ? "" : search.why};
    search_send(&search, WIRE_TYPE_REPLY, &reply);
    wire_buffer_finish(&search.buffer);
    free(search.seats);
    free(search.process_of);
    free(search.edges);
}
