/* What is known of a job, as messages for the outside. */
#include "daemon/job/job_publish.h"

#include "holter/order.h"
#include "proto/wire_table.h"

#include <stdlib.h>
#include <string.h>

void job_publish_parts(const struct job_stream *stream, enum wire_type type, void *message,
                       const char *first)
{
    for (struct wire_parts parts = wire_parts_of(type, message, first); wire_parts_next(&parts);)
        job_stream_publish(stream, type, message);
}

/* ---- the job, its nodes and ranks ---------------------------------------- */

void job_publish_info(const struct job_stream *stream, const struct job_info *info, uint64_t ranks,
                      uint64_t window_ns, const struct job_network *network)
{
    struct wire_uncovered_row *rows = malloc((info->uncovered_count + 1) * sizeof(*rows));
    char fault[NETWORK_TEXT];
    if (rows == NULL)
        return;
    for (size_t i = 0; i < info->uncovered_count; i++)
        rows[i] = (struct wire_uncovered_row){info->uncovered[i].name, info->uncovered[i].used};
    job_network_describe_fault(network, fault, sizeof(fault));
    struct wire_job message = {
        .job = stream->job,
        .state = job_state_name(info->state),
        .app = info->app,
        .command = info->command,
        .mpi = info->mpi,
        .user = info->user,
        .world = info->world,
        .seen = ranks,
        .start_ns = info->start_ns == UINT64_MAX ? 0 : info->start_ns,
        .end_ns = info->state == JOB_RUNNING ? 0 : info->end_ns,
        .window_ns = window_ns,
        .recording = info->recording,
        .uncovered = rows,
        .uncovered_count = info->uncovered_count,
        .network_fault = fault,
        .launcher = info->launcher,
        .group = info->group,
        .span = info->span,
        .session = info->session,
    };
    job_stream_publish(stream, WIRE_TYPE_JOB, &message);
    free(rows);
}

ORDER_FUNCTION(publish_compare_places, struct wire_place_row, ORDER(a->rank, b->rank))

void job_publish_places(const struct job_stream *stream, const struct job_nodes *nodes,
                        const struct job_places *places)
{
    size_t count = places->keys.count;
    struct wire_host_row *hosts = malloc((nodes->count + 1) * sizeof(*hosts));
    struct wire_place_row *rows = malloc((count + 1) * sizeof(*rows));
    for (uint32_t i = 0; hosts != NULL && i < nodes->count; i++)
        hosts[i].name = nodes->list[i]->host;
    for (size_t i = 0; rows != NULL && i < count; i++) {
        const struct job_place *p = &places->list[i];
        rows[i] = (struct wire_place_row){p->rank, p->node,   p->pid, p->placement,
                                          p->core, p->socket, p->numa};
    }
    if (hosts != NULL && rows != NULL) {
        qsort(rows, count, sizeof(*rows), publish_compare_places);
        struct wire_places message = {.job = stream->job,
                                      .hosts = hosts,
                                      .hosts_count = nodes->count,
                                      .places = rows,
                                      .places_count = count};
        job_publish_parts(stream, WIRE_TYPE_PLACES, &message, "places");
    }
    free(hosts);
    free(rows);
}

static int publish_compare_nodes(const void *a, const void *b)
{
    const struct wire_node_row *x = a, *y = b;
    int order = strcmp(x->host, y->host);
    return order != 0 ? order : x->agent_pid < y->agent_pid ? -1 : x->agent_pid > y->agent_pid;
}

void job_publish_nodes(const struct job_stream *stream, const struct job_nodes *nodes,
                       uint64_t window)
{
    struct wire_node_row *rows = malloc((nodes->count + 1) * sizeof(*rows));
    if (rows == NULL)
        return;
    for (uint32_t i = 0; i < nodes->count; i++) {
        rows[i] = nodes->list[i]->row;
        rows[i].connected = !nodes->list[i]->lost_contact && !nodes->list[i]->final;
    }
    qsort(rows, nodes->count, sizeof(*rows), publish_compare_nodes);
    struct wire_nodes message = {
        .job = stream->job, .window = window, .nodes = rows, .nodes_count = nodes->count};
    job_publish_parts(stream, WIRE_TYPE_NODES, &message, "nodes");
    free(rows);
}

void job_publish_totals(const struct job_stream *stream, const struct wire_totals *totals)
{
    struct wire_totals message = *totals;
    message.job = stream->job;
    if (job_stream_wants(stream, WIRE_TYPE_TOTALS))
        job_stream_publish(stream, WIRE_TYPE_TOTALS, &message);
}

/* ---- latency ------------------------------------------------------------- */

void job_publish_latency(const struct job_stream *stream, struct job_latency *latency)
{
    struct wire_latencies latencies;
    if (job_stream_wants(stream, WIRE_TYPE_LATENCIES) &&
        job_latency_message(latency, &latencies) == 0)
        job_publish_latencies(stream, &latencies);
    if (job_latency_regions_changed(latency) && job_stream_wants(stream, WIRE_TYPE_REGIONS))
        job_publish_regions(stream, latency);
}

void job_publish_latencies(const struct job_stream *stream, struct wire_latencies *latencies)
{
    latencies->job = stream->job;
    job_publish_parts(stream, WIRE_TYPE_LATENCIES, latencies, "series");
}

void job_publish_regions(const struct job_stream *stream, struct job_latency *latency)
{
    struct wire_regions regions;
    if (job_latency_regions(latency, &regions) != 0)
        return;
    regions.job = stream->job;
    job_publish_parts(stream, WIRE_TYPE_REGIONS, &regions, "regions");
}

/* ---- network ------------------------------------------------------------- */

static void publish_topology_part(void *user, const struct wire_topology *message)
{
    job_stream_publish(user, WIRE_TYPE_TOPOLOGY, message);
}

void job_publish_topology(const struct job_stream *stream, struct job_network *network)
{
    struct job_stream to = *stream;
    job_network_publish(network, stream->job, publish_topology_part, &to);
}

int job_publish_topology_changes(const struct job_stream *stream, struct job_network *network)
{
    if (stream->silent || !job_network_has_changed(network))
        return 0;
    if (job_stream_wants(stream, WIRE_TYPE_TOPOLOGY))
        job_publish_topology(stream, network);
    job_network_set_published(network, 1);
    return 1;
}

void job_publish_links(const struct job_stream *stream, struct wire_links *links)
{
    links->job = stream->job;
    job_publish_parts(stream, WIRE_TYPE_LINKS, links, "links");
}

/* ---- phases and curve ---------------------------------------------------- */

void job_publish_phase_changes(const struct job_stream *stream, struct job_phases *phases)
{
    struct wire_phases message;
    struct wire_curve curve;
    if (stream->silent || !job_phases_changed(phases) ||
        job_phases_list_changes(phases, &message, &curve) != 0)
        return;
    if (job_stream_wants(stream, WIRE_TYPE_PHASES))
        job_publish_phases(stream, &message);
    if (job_stream_wants(stream, WIRE_TYPE_CURVE))
        job_publish_curve(stream, &curve);
}

void job_publish_phases(const struct job_stream *stream, struct wire_phases *phases)
{
    phases->job = stream->job;
    job_publish_parts(stream, WIRE_TYPE_PHASES, phases, "phases");
}

void job_publish_curve(const struct job_stream *stream, struct wire_curve *curve)
{
    curve->job = stream->job;
    job_publish_parts(stream, WIRE_TYPE_CURVE, curve, "points");
}
