/* The current state of a job in messages, for late subscribers. */
#include "daemon/job/job_publish.h"
#include "daemon/job/job_state.h"

static void snapshot_job(struct job *job, const struct job_stream *stream)
{
    job_publish_info(stream, &job->info, job->places.keys.count, job->options.window_ns,
                     job->network);
}

static void snapshot_places(struct job *job, const struct job_stream *stream)
{
    job_publish_places(stream, &job->nodes, &job->places);
}

static uint64_t snapshot_newest(const struct job *job)
{
    return job->windows.next == 0 ? 0 : job->windows.next - 1;
}

static void snapshot_nodes(struct job *job, const struct job_stream *stream)
{
    job_publish_nodes(stream, &job->nodes, snapshot_newest(job));
}

static void snapshot_totals(struct job *job, const struct job_stream *stream)
{
    uint64_t next = job->windows.next;
    for (uint64_t w = next > JOB_RECENT_WINDOWS ? next - JOB_RECENT_WINDOWS : 0; w < next; w++) {
        const struct wire_totals *known = job_totals_find(&job->totals, w);
        if (known == NULL)
            continue;
        struct wire_totals message = *known;
        message.job = stream->job;
        message.late = 0;
        if (w + 1 == next) { /* what corrections of earlier windows have added */
            message.matched = job->totals.newest.matched;
            message.unmatched = job->totals.newest.unmatched;
            message.unwatched = job->totals.newest.unwatched;
        }
        job_stream_publish(stream, WIRE_TYPE_TOTALS, &message);
    }
}

static void snapshot_alerts(struct job *job, const struct job_stream *stream)
{
    for (size_t i = 0; i < job->alerts.list.count; i++) {
        struct wire_alert message;
        if (job_alerts_message(&job->alerts, stream->job, job->alerts.list.list[i], &message))
            job_stream_publish(stream, WIRE_TYPE_ALERT, &message);
    }
}

/* Of the newest window all is published, of those before their series. */
static void snapshot_latencies(struct job *job, const struct job_stream *stream)
{
    struct wire_latencies message, after;
    for (size_t n = 0; job_latency_window_message(job->latency, n, &message) == 0; n++) {
        if (job_latency_window_message(job->latency, n + 1, &after) != 0 &&
            job_latency_message(job->latency, &message) != 0)
            return;
        job_publish_latencies(stream, &message);
    }
}

static void snapshot_regions(struct job *job, const struct job_stream *stream)
{
    job_publish_regions(stream, job->latency);
}

static void snapshot_history(struct job *job, const struct job_stream *stream)
{
    struct wire_history message;
    for (size_t i = 0; rank_history_message(&job->rank_history, i, &message); i++) {
        message.job = stream->job;
        message.length_ns = job->options.window_ns;
        job_stream_publish(stream, WIRE_TYPE_HISTORY, &message);
    }
}

static void snapshot_lateness(struct job *job, const struct job_stream *stream)
{
    job_lateness_publish_all(&job->lateness, stream, job->options.window_ns);
}

static void snapshot_topology(struct job *job, const struct job_stream *stream)
{
    job_publish_topology(stream, job->network);
}

/* Measured loads of the windows before, then all of the newest window. */
static void snapshot_links(struct job *job, const struct job_stream *stream)
{
    struct wire_links message, older;
    if (!job_network_links(job->network, &message))
        return;
    for (size_t i = 0; job_network_measured_before(job->network, i, &older); i++) {
        if (older.window < message.window)
            job_publish_links(stream, &older);
    }
    if (job_network_links(job->network, &message))
        job_publish_links(stream, &message);
}

/* Of jobs without phases nothing is published. */
static void snapshot_phases(struct job *job, const struct job_stream *stream)
{
    struct wire_phases phases;
    struct wire_curve curve;
    if (job_phases_list_all(job->phases, &phases, &curve) == 0 && phases.phases_count > 0)
        job_publish_phases(stream, &phases);
}

static void snapshot_curve(struct job *job, const struct job_stream *stream)
{
    struct wire_phases phases;
    struct wire_curve curve;
    if (job_phases_list_all(job->phases, &phases, &curve) == 0 && curve.points_count > 0)
        job_publish_curve(stream, &curve);
}

static void snapshot_rank_messages(struct job *job, const struct job_stream *stream)
{
    job_rank_messages_publish(&job->rank_messages, stream, job->nodes.last_message_ns);
}

static void snapshot_captures(struct job *job, const struct job_stream *stream)
{
    job_captures_publish_all(&job->captures, stream);
}

static void snapshot_sum(struct job *job, const struct job_stream *stream, enum sum_part part)
{
    struct job_sums *sums = &job->sums;
    const size_t most = job->options.most_pairs;
    struct job_sum sum = {
        part, snapshot_newest(job), sums->windows, job->options.window_ns, &sums->result, NULL};
    if (run_sum_result(sums->run, part, most, &sums->result) != 0)
        return;
    if (part == SUM_RANKS)
        run_sum_add_absence(sums->run, sums->windows, job->options.window_ns, &sums->result);
    if (part == SUM_PAIRS && job->group_shift != 0 &&
        run_sum_result(sums->nodes, part, most, &sums->node_pairs) == 0)
        sum.nodes = &sums->node_pairs;
    job_publish_sum(stream, &sum);
}

static void snapshot_rank_sums(struct job *job, const struct job_stream *stream)
{
    snapshot_sum(job, stream, SUM_RANKS);
}

static void snapshot_pair_sums(struct job *job, const struct job_stream *stream)
{
    snapshot_sum(job, stream, SUM_PAIRS);
}

static void snapshot_call_sums(struct job *job, const struct job_stream *stream)
{
    snapshot_sum(job, stream, SUM_CALLS);
}

static void snapshot_caller_sums(struct job *job, const struct job_stream *stream)
{
    snapshot_sum(job, stream, SUM_CALLERS);
}

/* One line a topic; later ones refer to earlier ones. */
static const struct {
    enum wire_type type;
    void (*publish)(struct job *job, const struct job_stream *stream);
} snapshots[] = {
    {WIRE_TYPE_JOB, snapshot_job},
    {WIRE_TYPE_RECORDED, snapshot_rank_messages},
    {WIRE_TYPE_PLACES, snapshot_places},
    {WIRE_TYPE_TOPOLOGY, snapshot_topology},
    {WIRE_TYPE_TOTALS, snapshot_totals},
    {WIRE_TYPE_RANK_WINDOW, snapshot_rank_sums},
    {WIRE_TYPE_HISTORY, snapshot_history},
    {WIRE_TYPE_PAIR_WINDOW, snapshot_pair_sums},
    {WIRE_TYPE_CALL_WINDOW, snapshot_call_sums},
    {WIRE_TYPE_NODES, snapshot_nodes},
    {WIRE_TYPE_REGIONS, snapshot_regions},
    {WIRE_TYPE_LATENCIES, snapshot_latencies},
    {WIRE_TYPE_LINKS, snapshot_links},
    {WIRE_TYPE_PHASES, snapshot_phases},
    {WIRE_TYPE_CURVE, snapshot_curve},
    {WIRE_TYPE_ALERT, snapshot_alerts},
    {WIRE_TYPE_CAPTURE, snapshot_captures},
    {WIRE_TYPE_CALLER_WINDOW, snapshot_caller_sums},
    {WIRE_TYPE_LATENESS, snapshot_lateness},
};
#define TOPICS (sizeof(snapshots) / sizeof(snapshots[0]))

int job_snapshot_topic(size_t i, enum wire_type *out)
{
    if (i < TOPICS)
        *out = snapshots[i].type;
    return i < TOPICS;
}

void job_snapshot(struct job *job, enum wire_type type, const struct job_output *output)
{
    const struct job_stream stream = {.job = job->info.id, .output = *output};
    for (size_t i = 0; i < TOPICS; i++) {
        if (snapshots[i].type == type)
            snapshots[i].publish(job, &stream);
    }
}
