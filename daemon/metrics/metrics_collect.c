/* Collects the figures for one page of metrics. */
#include "daemon/metrics/metrics_collect.h"

#include "daemon/analysis/tables/array.h"
#include "holter/clock.h"
#include "holter/plain_text.h"
#include "holter/waiting.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double metrics_seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

/* @return NaN when the whole is 0 */
static double metrics_ratio(uint64_t part, double whole)
{
    return whole > 0 ? (double)part / whole : NAN;
}

/* ---- jobs ------------------------------------------------------------------ */

static void metrics_fill_newest(struct metrics_job *out, const struct wire_totals *newest)
{
    const uint64_t end = newest->start_ns + newest->length_ns;
    const double whole = ranks_time_ns(newest->ranks, newest->length_ns, newest->absent_ns);
    out->nodes_missing = (double)newest->agents_missing;
    out->publish_delay_seconds =
        newest->published_ns > end ? metrics_seconds(newest->published_ns - end) : 0;
    out->mpi_ratio = metrics_ratio(MPI_NS(newest), whole);
    out->waiting_ratio = metrics_ratio(WAITING_NS(newest), whole);
    out->messages_matched = (double)newest->matched;
    out->matched_ratio =
        metrics_ratio(newest->matched, (double)(newest->matched + newest->unmatched));
}

static void metrics_fill_sums(struct metrics_job *out, const struct sum_totals *sums)
{
    out->calls = (double)sums->calls;
    out->polls = (double)sums->polls;
    out->messages_sent = (double)sums->sent;
    out->sent_bytes = (double)sums->sent_bytes;
    out->messages_received = (double)sums->received;
    out->received_bytes = (double)sums->received_bytes;
    out->send_wait_seconds = metrics_seconds(sums->send_wait_ns);
#define X(field, name) out->mpi_seconds[METRICS_CLASS_##field] = metrics_seconds(sums->field);
    METRICS_CLASSES(X)
#undef X
}

void metrics_fill_job(struct metrics_job *out, const char *id, const struct job_figures *figures)
{
    const struct job_figures *f = figures;
    const char *slash = strrchr(f->app, '/');
    *out = (struct metrics_job){
        .start_time_seconds = f->start_ns == 0 ? NAN : metrics_seconds(f->start_ns),
        .ranks_expected = f->world == 0 ? NAN : (double)f->world,
        .ranks_watched = (double)f->watched,
        .nodes = (double)f->nodes,
        .nodes_missing = NAN,
        .windows = (double)f->windows,
        .publish_delay_seconds = NAN,
        .rank_seconds = metrics_seconds(f->rank_ns),
        .mpi_ratio = NAN,
        .waiting_ratio = NAN,
        .latency_ratio = f->latency_ratio,
        .progress_ratio = f->progress_ratio,
        .matched_ratio = NAN,
        .records_lost = (double)f->lost_records,
        .windows_lost = (double)f->lost_windows,
        .alerts_fired = (double)f->alerts_fired,
        .links_hot = (double)f->links_hot,
        .links_congested = (double)f->links_congested,
        .hottest_link_bytes = (double)f->link_bytes,
        .hottest_link_ratio = f->link_share,
    };
    text_copy(out->id, sizeof(out->id), id);
    text_copy(out->user, sizeof(out->user), f->user);
    text_copy(out->program, sizeof(out->program), slash == NULL ? f->app : slash + 1);
    metrics_fill_sums(out, &f->sums);
    if (f->has_newest)
        metrics_fill_newest(out, &f->newest);
    for (int kind = 0; kind < RULE_KINDS; kind++) {
        for (int severity = 0; severity < (int)JOB_SEVERITIES; severity++)
            out->alerts[kind][severity] = (double)f->firing[kind][severity];
    }
}

/* ---- agents ---------------------------------------------------------------- */

static void metrics_fill_agent(struct metrics_agent *out, const struct wire_node_row *row)
{
    *out = (struct metrics_agent){
        .connected = (double)row->connected,
        .ranks = (double)row->ranks,
        .uptime_seconds = row->up_ns == 0 ? NAN : metrics_seconds(row->up_ns),
        .cpu_seconds = metrics_seconds(row->cpu_ns),
        .resident_memory_bytes = (double)row->rss_bytes,
        .shared_memory_bytes = (double)row->shm_bytes,
        .sent_bytes = (double)row->uplink_bytes,
        .records = (double)row->events,
        .records_lost = (double)row->lost,
        .windows_dropped = (double)row->windows_dropped,
        .restarts = (double)row->restarts,
        .degraded = row->degraded != 0,
        .clock_error_seconds =
            row->clock_error_ns == 0 ? NAN : metrics_seconds(row->clock_error_ns),
        .call_cost_seconds = row->call_cost_ns * 1e-9,
    };
    text_copy(out->node, sizeof(out->node), row->host);
}

static void metrics_join_agents(struct metrics_agent *to, const struct metrics_agent *from)
{
    to->connected = fmin(to->connected, from->connected);
    to->ranks += from->ranks;
    to->uptime_seconds = fmin(to->uptime_seconds, from->uptime_seconds);
    to->cpu_seconds += from->cpu_seconds;
    to->resident_memory_bytes += from->resident_memory_bytes;
    to->shared_memory_bytes += from->shared_memory_bytes;
    to->sent_bytes += from->sent_bytes;
    to->records += from->records;
    to->records_lost += from->records_lost;
    to->windows_dropped += from->windows_dropped;
    to->restarts += from->restarts;
    to->degraded = fmax(to->degraded, from->degraded);
    to->clock_error_seconds = fmax(to->clock_error_seconds, from->clock_error_seconds);
    to->call_cost_seconds = fmax(to->call_cost_seconds, from->call_cost_seconds);
}

int metrics_add_agents(struct metrics_job *job, const struct wire_node_row *rows, size_t count,
                       size_t *capacity)
{
    const size_t added = count < *capacity ? count : *capacity;
    if (ARRAY_FIT(job->agents, job->agent_capacity, job->agent_count + added) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct metrics_agent agent;
        metrics_fill_agent(&agent, &rows[i]);
        struct metrics_agent *last =
            job->agent_count == 0 ? NULL : &job->agents[job->agent_count - 1];
        if (last != NULL && strcmp(last->node, agent.node) == 0) {
            metrics_join_agents(last, &agent);
        } else if (*capacity == 0) {
            job->nodes_left_out += strcmp(job->node_left_out, agent.node) != 0;
            text_copy(job->node_left_out, sizeof(job->node_left_out), agent.node);
        } else {
            job->agents[job->agent_count++] = agent;
            (*capacity)--;
        }
    }
    return 0;
}

struct agent_list {
    struct metrics_job *job;
    size_t *capacity;
    int code;
};

static int metrics_wants_agents(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_NODES;
}

static void metrics_on_agents(void *user, const char *job, enum wire_type type, const void *message)
{
    struct agent_list *list = user;
    const struct wire_nodes *nodes = message;
    (void)job;
    if (type == WIRE_TYPE_NODES && list->code == 0)
        list->code =
            metrics_add_agents(list->job, nodes->nodes, nodes->nodes_count, list->capacity);
}

static int metrics_collect_job(struct metrics_job *out, struct job *job, size_t *capacity)
{
    struct job_figures figures;
    struct agent_list list = {.job = out, .capacity = capacity};
    const struct job_output output = {&list, metrics_wants_agents, metrics_on_agents, NULL};
    job_figures(job, &figures);
    metrics_fill_job(out, job_id(job), &figures);
    job_snapshot(job, WIRE_TYPE_NODES, &output);
    return list.code;
}

/* ---- the daemon ------------------------------------------------------------ */

static void metrics_collect_daemon(struct metrics_daemon *out, const struct metrics_sources *s)
{
    struct front_counts front;
    struct jobs_counts jobs;
    struct sinks_counts sinks;
    size_t resident = 0;
    front_count(s->front, &front);
    jobs_count(s->jobs, &jobs);
    sinks_count(s->sinks, &sinks);
    uv_resident_set_memory(&resident);
    *out = (struct metrics_daemon){
        .start_time_seconds = metrics_seconds(s->started_ns),
        .cpu_seconds = metrics_seconds(clock_process_cpu_ns()),
        .resident_memory_bytes = (double)resident,
        .agents = (double)front.agents,
        .clients = (double)front.clients,
        .window_seconds = metrics_seconds(s->window_ns),
        .windows_published = (double)jobs.windows,
        .frames_published = (double)publisher_frames(s->publisher),
        .messages = (double)jobs.messages,
        .message_bytes = (double)jobs.bytes,
        .messages_duplicate = (double)jobs.duplicates,
        .messages_late = (double)jobs.late,
        .messages_rejected = (double)front.rejected,
        .recording = s->records != 0,
        .recording_failed = jobs_recorder_error(s->jobs)[0] != '\0',
        .recording_bytes = s->records ? (double)jobs_recorded_bytes(s->jobs) : 0,
        .alerts_delivered = (double)sinks.delivered,
        .alert_delivery_failures = (double)sinks.failed,
        .alerts_dropped = (double)sinks.dropped,
    };
}

int metrics_lists_job(enum job_state state, uint64_t end_ns, uint64_t now_ns)
{
    return state == JOB_RUNNING ||
           ((state == JOB_DIED || state == JOB_LOST) && now_ns < end_ns + METRICS_STAY_NS);
}

static int metrics_is_listed(const struct job *job, uint64_t now_ns)
{
    struct wire_job_row row;
    job_describe(job, &row);
    return metrics_lists_job(job_state(job), row.end_ns, now_ns);
}

int metrics_collect(struct metrics_snapshot *out, const struct metrics_sources *sources)
{
    struct metrics_snapshot s = {
        .version = HOLTER_VERSION, .cluster = sources->cluster, .fleet = sources->fleet};
    size_t running = 0, listed = 0, capacity = METRICS_NODES;
    int code = 0;
    struct job *job;
    metrics_collect_daemon(&s.daemon, sources);
    for (size_t i = 0; (job = jobs_at(sources->jobs, i)) != NULL; i++) {
        running += job_state(job) == JOB_RUNNING;
        listed += (size_t)metrics_is_listed(job, sources->now_ns);
    }
    s.jobs = calloc(listed + 1, sizeof(*s.jobs));
    if (s.jobs == NULL)
        return -ENOMEM;
    for (size_t i = 0; code == 0 && (job = jobs_at(sources->jobs, i)) != NULL; i++) {
        if (!metrics_is_listed(job, sources->now_ns))
            continue;
        struct metrics_job *row = &s.jobs[s.job_count++];
        code = metrics_collect_job(row, job, &capacity);
        if (job_state(job) == JOB_RUNNING)
            s.daemon.publish_delay_seconds =
                fmax(s.daemon.publish_delay_seconds, row->publish_delay_seconds);
    }
    s.daemon.jobs = (double)running;
    if (code != 0) {
        metrics_snapshot_finish(&s);
        return code;
    }
    *out = s;
    return 0;
}
