/* Windows of a job are closed. This is the fourth stage of the way of a window message, after
 * job_accept.c, job_validate.c and job_merge.c: when all nodes have reported a window, or it is
 * overdue, the analyses are brought up to date in a fixed order, and each publishes its results. */
#include "daemon/job/job_accept.h"

#include "daemon/analysis/tables/key_order.h"
#include "daemon/job/job_publish.h"
#include "daemon/job/job_state.h"

#include <stdlib.h>

/* ---- analyses ------------------------------------------------------------ */

/* An analysis that lacks memory lacks what was in the window: the others go on. */

static void close_unwatched(struct job *job, const struct closed_window *window)
{
    int complete = job->alerts.losses.windows == 0 && window->missing_nodes == 0;
    job_unwatched_update(&job->unwatched, window, &job->places, complete);
}

static void close_totals(struct job *job, const struct closed_window *window)
{
    const struct totals_messages messages = {job_latency_matched(job->latency),
                                             job->unwatched.messages};
    job_totals_update(&job->totals, window, &messages, job->windows.next);
    if (job->totals.has_newest)
        job_publish_totals(&job->stream, &job->totals.newest);
}

static void close_sums(struct job *job, const struct closed_window *window)
{
    job_publish_window_sums(&job->stream, &job->sums, window, job->options.most_pairs);
    job_sums_update(&job->sums, window);
}

static void close_nodes(struct job *job, const struct closed_window *window)
{
    if (!window->late && job_stream_wants(&job->stream, WIRE_TYPE_NODES))
        job_publish_nodes(&job->stream, &job->nodes, window->number);
}

static void close_rank_history(struct job *job, const struct closed_window *window)
{
    rank_history_put(&job->rank_history, window->number, window->ranks, window->rank_count);
}

static void close_latency(struct job *job, const struct closed_window *window)
{
    job_latency_update(job->latency, window);
}

/* Adds to the rows of ranks how long they waited in sends, and for whom: before these are added up
 * and published. Who was late is published here. Without memory nothing is known of that. */
static void close_waits(struct job *job, const struct closed_window *window)
{
    const int by_rank = job->group_shift == 0;
    struct waits_window waits = {
        .length_ns = window->length_ns,
        .ranks = window->ranks,
        .rank_count = window->rank_count,
        .transfers = &window->latency->transfers,
        .calls = window->calls,
        .call_count = by_rank ? window->call_count : 0,
        .pending = window->pending,
        .pending_count = window->pending_count,
        .comms = window->comms,
        .comm_count = by_rank ? window->comm_count : 0,
        .world = window->world,
        .members = job_hang_watch(job->hang),
        .group_shift = job->group_shift,
    };
    if (!by_rank)
        waits.group_of = job_latency_group_of(job->latency, &waits.node_count);
    if (window->late || waits_update(job->waits, &waits) != 0)
        return;
    job_sums_add_waits(&job->sums, window, waits_rows(job->waits));
    if (by_rank)
        job_lateness_update(&job->lateness, &job->stream, window, waits_rows(job->waits));
}

/* Before the sums, which publish it by rank. */
static void close_crossing(struct job *job, const struct closed_window *window)
{
    job_sums_add_crossing(&job->sums, window, &job->places);
}

static void close_published_latency(struct job *job, const struct closed_window *window)
{
    if (!window->late)
        job_publish_latency(&job->stream, job->latency);
}

static void close_network(struct job *job, const struct closed_window *window)
{
    struct wire_links links;
    struct closed_window routed = *window;
    if (window->late)
        return;
    if (job->group_shift != 0) { /* a group of ranks may be on several nodes */
        routed.pairs = window->node_pairs;
        routed.pair_count = window->node_pair_count;
    }
    job_network_update(job->network, &routed);
    job->info.changed |= job_publish_topology_changes(&job->stream, job->network);
    if (job_stream_wants(&job->stream, WIRE_TYPE_LINKS) && job_network_links(job->network, &links))
        job_publish_links(&job->stream, &links);
}

static void close_phases(struct job *job, const struct closed_window *window)
{
    job_phases_update(job->phases, window);
    if (!window->late)
        job_publish_phase_changes(&job->stream, job->phases);
}

static void close_deaths(struct job *job, const struct closed_window *window)
{
    job_alerts_check_deaths(&job->alerts, &job->stream, window->late ? 0 : window->number,
                            window->published_ns);
}

static void close_unwatched_ranks(struct job *job, const struct closed_window *window)
{
    if (!window->late)
        job_alerts_check_unwatched(&job->alerts, &job->stream, &job->places, window->world,
                                   window->number * window->length_ns, 0);
}

/* Growth and hangs raise and resolve alerts. */
static void close_growth(struct job *job, const struct closed_window *window)
{
    if (window->late || job->growth == NULL)
        return;
    job_growth_update(job->growth, window);
    const uint64_t span = job_growth_span(job->growth);
    job->info.changed |= span != job->info.span;
    job->info.span = span;
}

static void close_hangs(struct job *job, const struct closed_window *window)
{
    job_hang_update(job->hang, window);
}

/* List the agents that lack the criteria: all when they have changed; otherwise those that were
 * started or silent when the others got them. @return how many */
static size_t close_list_agents(const struct job_nodes *nodes, int changed, uint64_t *instances)
{
    size_t count = 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        struct job_node *node = nodes->list[i];
        const int reports = !node->final && !node->lost_contact;
        if (!changed && (!reports || node->criteria_of == node->instance))
            continue;
        node->criteria_of = reports ? node->instance : 0;
        if (reports)
            instances[count++] = node->instance;
    }
    return count;
}

/* Send the agents what messages normally take, when that has changed, or to those that lack it. */
static void close_criteria(struct job *job, const struct closed_window *window)
{
    struct wire_criteria criteria;
    const struct job_output *output = &job->stream.output;
    if (window->late || job->stream.silent || output->notify_agents == NULL)
        return;
    uint64_t *instances = malloc((job->nodes.count + 1) * sizeof(*instances));
    const int changed = instances == NULL ? -1 : job_latency_criteria(job->latency, &criteria);
    const size_t count = changed < 0 ? 0 : close_list_agents(&job->nodes, changed, instances);
    criteria.job = job->info.id;
    if (count > 0)
        output->notify_agents(output->user, instances, count, &criteria);
    free(instances);
}

/* All that a window brings up to date, in this order, which is also that of the published messages.
 * An analysis may use the results of those before it (closed_window.h), and none calls another.
 *
 * To add one: write daemon/analysis/NAME, keep its state in struct job, add a line here, a topic to
 * the wire's list (holter/wire.h) with a line in job_snapshot.c, and a view to the viewer. */
static const struct {
    const char *name;
    void (*close)(struct job *job, const struct closed_window *window);
    int by_rank; /* 1: not for jobs that are kept by groups of ranks */
} analyses[] = {
    {"latency and regions", close_latency, 0},
    {"waits", close_waits, 0},
    {"messages of ranks that are not watched", close_unwatched, 0},
    {"totals", close_totals, 0},
    {"messages that cross nodes", close_crossing, 1},
    {"sums", close_sums, 0},
    {"nodes", close_nodes, 0},
    {"history of ranks", close_rank_history, 0},
    {"latency as published", close_published_latency, 0},
    {"phases", close_phases, 0},
    {"network", close_network, 0}, /* which needs the messages of collectives from phases */
    {"deaths", close_deaths, 0},
    {"ranks that are not watched", close_unwatched_ranks, 0},
    {"growth of latency", close_growth, 0},
    {"hangs", close_hangs, 0},
    {"criteria for the agents", close_criteria, 0},
};

/* ---- closing ------------------------------------------------------------- */

static uint64_t close_pair_key(const void *row)
{
    const struct wire_pair_row *pair = row;
    return pair->source << 32 | (uint32_t)(pair->destination + 1);
}

/* Nodes have reported in any order. Without memory the messages between nodes are not known. */
static void close_sort_node_pairs(struct open_window *open)
{
    if (key_order_rows(open->node_pairs, sizeof(*open->node_pairs), open->node_pair_count,
                       close_pair_key) != 0)
        open->node_pair_count = 0;
}

void job_close_window(struct job *job, uint32_t at, uint64_t now_ns)
{
    struct open_window open = job_windows_remove(&job->windows, at);
    close_sort_node_pairs(&open);
    struct closed_window window = {
        .number = open.number,
        .length_ns = job->options.window_ns,
        .world = job->info.world,
        .group = job->info.group,
        .late = open.late,
        .flags = open.flags,
        .published_ns = now_ns,
        .reported = &open.reported,
        .missing_nodes = open_window_count_missing(&open, &job->nodes),
        .sum = open.sum,
        .totals = window_sum_totals(open.sum),
        .calls = open.calls,
        .call_count = open.call_count,
        .pending = open.pending,
        .pending_count = open.pending_count,
        .processes = open.processes,
        .process_count = open.process_count,
        .unplaced = open.unplaced,
        .unplaced_count = open.unplaced_count,
        .node_pairs = open.node_pairs,
        .node_pair_count = open.node_pair_count,
        .node_rows = open.node_rows,
        .node_row_count = open.node_row_count,
        .dead_ranks = job->alerts.dead_ranks,
        .dead_count = job->alerts.death_count,
        .latency = &open.latency,
        .bursts = &open.bursts,
        .counters = &open.counters,
        .scale = job_latency_scale(job->latency),
        .rank_messages = job_latency_rank_messages(job->latency),
    };
    job_sums_list(&job->sums, &window);
    job->windows.closed++;
    for (size_t i = 0; i < sizeof(analyses) / sizeof(analyses[0]); i++)
        if (!analyses[i].by_rank || job->group_shift == 0)
            analyses[i].close(job, &window);
    if (!window.late) {
        job->windows.next = window.number + 1;
        job->alerts.windows_without_loss++;
        job_captures_publish_due(&job->captures, &job->stream, window.number);
    }
    open_window_finish(&open);
}

static int close_is_complete(const struct job *job, const struct open_window *window)
{
    /* As long as ranks are unknown, so are the nodes that may report. */
    return job->info.world != 0 && job->places.keys.count >= job->info.world &&
           open_window_is_complete(window, &job->nodes);
}

void job_close_due(struct job *job, uint64_t watermark_ns, uint64_t now_ns)
{
    int waiting = 0; /* for a window before it: they are published in order */
    for (uint32_t at = 0; at < job->windows.count;) {
        const struct open_window *window = &job->windows.open[at];
        int due = (watermark_ns >= window->due_ns && watermark_ns >= job->windows.held_ns) ||
                  (!window->late && !waiting && close_is_complete(job, window)) ||
                  (window->late && job->nodes.active == 0); /* no node can add to it */
        /* While a recording is read again, what it has no tables of is published after that. */
        int unrecorded =
            job->stream.silent && !window->late && window->number > job->windows.recorded;
        if (due && !unrecorded && (window->late || !waiting)) {
            job_close_window(job, at, now_ns);
            continue;
        }
        waiting |= !window->late;
        at++;
    }
}

int job_close_again(struct job *job, uint64_t number, int late, uint64_t published_ns)
{
    for (uint32_t at = 0; at < job->windows.count; at++) {
        const struct open_window *window = &job->windows.open[at];
        if (window->number != number || window->late != late)
            continue;
        job_close_window(job, at, published_ns);
        job_alerts_mark_losses(&job->alerts); /* that daemon looked for them, too */
        return 1;
    }
    return 0;
}

void job_close_all(struct job *job, uint64_t now_ns)
{
    while (job->windows.count > 0)
        job_close_window(job, 0, now_ns);
}
