/* What is known of a job, as messages for the outside. */
#include "daemon/job/job_publish.h"

#include "holter/order.h"

#include <stdlib.h>
#include <string.h>

int job_part_next(struct job_part *part)
{
    if (part->started && !part->more)
        return 0;
    part->started = 1;
    part->from += part->count;
    const size_t left = part->rows - part->from;
    part->count = left < WIRE_PART_ROWS ? left : WIRE_PART_ROWS;
    part->more = part->count < left;
    return 1;
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
        for (struct job_part part = {.rows = count}; job_part_next(&part);) {
            struct wire_places message = {
                .job = stream->job,
                .hosts = hosts,
                .hosts_count = nodes->count,
                .places = rows + part.from,
                .places_count = part.count,
                .more = part.more,
            };
            job_stream_publish(stream, WIRE_TYPE_PLACES, &message);
        }
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
    for (struct job_part part = {.rows = nodes->count}; job_part_next(&part);) {
        struct wire_nodes message = {
            .job = stream->job,
            .window = window,
            .nodes = rows + part.from,
            .nodes_count = part.count,
            .more = part.more,
        };
        job_stream_publish(stream, WIRE_TYPE_NODES, &message);
    }
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
    const struct wire_rank_latency_row *ranks = latencies->ranks;
    latencies->job = stream->job;
    for (struct job_part part = {.rows = latencies->ranks_count}; job_part_next(&part);) {
        latencies->ranks = ranks + part.from;
        latencies->ranks_count = part.count;
        latencies->more = part.more;
        job_stream_publish(stream, WIRE_TYPE_LATENCIES, latencies);
        latencies->series_count = latencies->criteria_count = 0; /* the first part has them */
    }
}

void job_publish_regions(const struct job_stream *stream, struct job_latency *latency)
{
    struct wire_regions regions;
    if (job_latency_regions(latency, &regions) != 0)
        return;
    const struct wire_region_member_row *members = regions.members;
    regions.job = stream->job;
    for (struct job_part part = {.rows = regions.members_count}; job_part_next(&part);) {
        regions.members = members + part.from;
        regions.members_count = part.count;
        regions.more = part.more;
        job_stream_publish(stream, WIRE_TYPE_REGIONS, &regions);
        regions.regions_count = 0; /* the first part has them */
    }
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

/* Three lists, one after the other. */
void job_publish_links(const struct job_stream *stream, struct wire_links *links)
{
    const struct wire_link_row *rows = links->links;
    const struct wire_link_route_row *routes = links->routes;
    const struct wire_interface_row *interfaces = links->interfaces;
    size_t counts[3] = {links->links_count, links->routes_count, links->interfaces_count};
    size_t from[3] = {0};
    links->job = stream->job;
    do {
        size_t left = WIRE_PART_ROWS, part[3];
        for (int i = 0; i < 3; i++) {
            part[i] = counts[i] - from[i] < left ? counts[i] - from[i] : left;
            left -= part[i];
        }
        links->links = rows + from[0];
        links->links_count = part[0];
        links->routes = routes + from[1];
        links->routes_count = part[1];
        links->interfaces = interfaces + from[2];
        links->interfaces_count = part[2];
        for (int i = 0; i < 3; i++)
            from[i] += part[i];
        links->more = from[0] < counts[0] || from[1] < counts[1] || from[2] < counts[2];
        job_stream_publish(stream, WIRE_TYPE_LINKS, links);
    } while (links->more);
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
    const struct wire_phase_row *rows = phases->phases;
    phases->job = stream->job;
    for (struct job_part part = {.rows = phases->phases_count}; job_part_next(&part);) {
        phases->phases = rows + part.from;
        phases->phases_count = part.count;
        phases->more = part.more;
        job_stream_publish(stream, WIRE_TYPE_PHASES, phases);
    }
}

void job_publish_curve(const struct job_stream *stream, struct wire_curve *curve)
{
    const struct wire_curve_point_row *rows = curve->points;
    curve->job = stream->job;
    for (struct job_part part = {.rows = curve->points_count}; job_part_next(&part);) {
        curve->points = rows + part.from;
        curve->points_count = part.count;
        curve->more = part.more;
        job_stream_publish(stream, WIRE_TYPE_CURVE, curve);
    }
}
