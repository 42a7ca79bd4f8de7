/* A window that is closed, judged: latency, hangs, and what is told of them. */
#include "daemon/job/job_state.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PAIRS_JUDGED ((size_t)1 << 24)

static void watch_call(struct open_window *window, const struct wire_window *m, size_t at)
{
    const struct wire_call_row *c = &m->calls[at];
    window->calls[window->call_count++] = (struct hang_calls){
        .rank = (uint32_t)c->rank,
        .call = (uint32_t)c->call,
        .comm = c->comm < m->comms_count ? m->comms[c->comm].id : 0,
        .calls = c->calls,
        .longest_ns = c->longest_ns,
    };
}

int open_window_watch(struct open_window *window, const struct wire_window *m,
                      const struct report_rows *known)
{
    size_t calls = known != NULL ? known->counting_count : m->calls_count;
    if (array_fit(&window->calls, sizeof(*window->calls), &window->call_room,
                  window->call_count + calls) != 0 ||
        array_fit(&window->pending, sizeof(*window->pending), &window->pending_room,
                  window->pending_count + m->pending_count) != 0)
        return -ENOMEM;
    for (size_t i = 0; known != NULL && i < calls; i++)
        watch_call(window, m, known->counting[i]);
    for (size_t i = 0; known == NULL && i < calls; i++) {
        if (hang_counts((uint32_t)m->calls[i].call))
            watch_call(window, m, i);
    }
    for (uint64_t i = 0; i < m->pending_count; i++) {
        const struct wire_pending_row *p = &m->pending[i];
        window->pending[window->pending_count++] =
            (struct hang_pending){(uint32_t)p->rank, p->source, p->tag, p->comm, p->waited_ns};
    }
    return 0;
}

/* ---- what is told -------------------------------------------------------- */

static void publish_latency(struct job *job)
{
    struct wire_latencies latencies;
    if (job_wanted(job, WIRE_TYPE_LATENCIES) && job_latency_message(job->latency, &latencies) == 0)
        job_publish_latencies(job, &job->output, &latencies);
    if (job_latency_regions_changed(job->latency) && job_wanted(job, WIRE_TYPE_REGIONS))
        job_publish_regions(job, &job->output);
}

void job_tell_phases(struct job *job)
{
    struct wire_phases phases;
    struct wire_curve curve;
    if (job->replaying || !job_phases_changed(job->phases) ||
        job_phases_news(job->phases, &phases, &curve) != 0)
        return;
    if (job_wanted(job, WIRE_TYPE_PHASES))
        job_publish_phases(job, &job->output, &phases);
    if (job_wanted(job, WIRE_TYPE_CURVE))
        job_publish_curve(job, &job->output, &curve);
}

/* Without memory the links lack what was in the window, and who comes late what was measured in it.
 */
static void judge_links(struct job *job, struct open_window *window)
{
    const struct job_network_window closed = {
        .number = window->number,
        .pairs = job->judged_pairs.pairs,
        .pair_count = job->judged_pairs.pair_count,
        .listed = job->judged_pairs.listed,
        .transfers = &window->latency.transfers,
        .scale = job_latency_scale(job->latency),
    };
    struct wire_links links;
    job_network_close(job->network, &closed, &window->counters);
    job_tell_topology(job);
    job_measured_network(&job->measured, job_network_made(job->network));
    if (job_network_measured(job->network, &links))
        job_measured_keep(&job->measured, &links);
    if (job_wanted(job, WIRE_TYPE_LINKS) && job_network_links(job->network, &links))
        job_publish_links(job, &job->output, &links);
}

static void tell_agents(struct job *job)
{
    struct wire_criteria criteria;
    if (job->replaying || job->output.tell_agents == NULL ||
        !job_latency_criteria(job->latency, &criteria))
        return;
    uint64_t *instances = malloc((job->node_count + 1) * sizeof(*instances));
    size_t count = 0;
    for (uint32_t i = 0; instances != NULL && i < job->node_count; i++) {
        if (!job->nodes[i]->final && !job->nodes[i]->lost_contact)
            instances[count++] = job->nodes[i]->instance;
    }
    criteria.job = job->id;
    if (count > 0)
        job->output.tell_agents(job->output.user, instances, count, &criteria);
    free(instances);
}

/* ---- judging ------------------------------------------------------------- */

static int make_watch_rows(struct job *job, struct watch_rows *out)
{
    const struct sum_result *p = &job->judged_calls;
    size_t dead = job->death_count;
    if (array_fit(&out->comms, sizeof(*out->comms), &out->comm_room, p->comm_count) != 0 ||
        array_fit(&out->dead, sizeof(*out->dead), &out->dead_room, dead) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < p->comm_count; i++)
        out->comms[i] = (struct hang_comm){p->comms[i].id, p->comms[i].size,
                                           p->comms[i].remote_size, p->comms[i].name};
    /* A death may be told again: those that were told already change nothing. */
    for (size_t i = 0; i < dead; i++)
        out->dead[i] = (uint32_t)job->deaths[i].row.rank;
    return 0;
}

/* All that hangs are found from, but for ranks: these come by rank. @return whether it is known */
static int make_hangs(struct job *job, const struct open_window *window, struct hang_window *out)
{
    struct watch_rows *rows = &job->watch_rows;
    if (window_sum_result(window->sum, SUM_CALLS, 0, &job->judged_calls) != 0 ||
        make_watch_rows(job, rows) != 0)
        return 0;
    *out = (struct hang_window){
        .number = window->number,
        .end_ns = (window->number + 1) * job->options.window_ns,
        .length_ns = job->options.window_ns,
        .world = job->world,
        .calls = window->calls,
        .call_count = window->call_count,
        .comms = rows->comms,
        .comm_count = job->judged_calls.comm_count,
        .pending = window->pending,
        .pending_count = window->pending_count,
        .dead = rows->dead,
        .dead_count = job->death_count,
    };
    return 1;
}

static void watch(struct job *job, const struct open_window *window,
                  const struct hang_window *hangs)
{
    const struct attribution_window figures = {
        .number = window->number,
        .length_ns = job->options.window_ns,
        .pairs = job->judged_pairs.pairs,
        .pair_count = job->judged_pairs.pair_count,
        .transfers = &window->latency.transfers,
        .messages = job_latency_ranks(job->latency),
        .scale = job_latency_scale(job->latency),
    };
    job_watch_window(job->watch, job->latency, &figures, hangs);
}

static uint64_t rank_end(const struct rank_rows *ranks)
{
    return ranks->count > 0 ? (uint64_t)ranks->rows[ranks->count - 1].rank + 1 : 0;
}

/* The rows of ranks are gone through once, for all who want them, while they are at hand.
 * @param hangs     set where it is watched
 * @param reported  set to one above the highest rank that counts
 * @return whether the window is watched: without memory it is not */
static int judge_ranks(struct job *job, const struct open_window *window, struct hang_window *hangs,
                       uint32_t *reported)
{
    struct rank_rows ranks;
    struct rank_history *before = &job->ranks_before;
    if (window_sum_ranks(window->sum, &job->judged_ranks, &ranks) != 0)
        return 0;
    int watched = job->watch != NULL && !window->late && make_hangs(job, window, hangs);
    if (watched)
        job_watch_begin(job->watch, hangs, rank_end(&ranks));
    rank_history_begin(before, ranks.count);
    for (size_t i = 0; i < ranks.count; i += RANK_BLOCK_ROWS) {
        size_t left = ranks.count - i;
        uint32_t count = left < RANK_BLOCK_ROWS ? (uint32_t)left : RANK_BLOCK_ROWS;
        rank_history_rows(before, ranks.rows + i, count);
        if (watched)
            job_watch_ranks(job->watch, ranks.rows + i, count);
    }
    rank_history_end(before, window->number);
    *reported = watched ? job_watch_reported(job->watch) : (uint32_t)rank_end(&ranks);
    return watched;
}

void job_list_pairs(struct job *job, const struct open_window *window)
{
    /* Without memory the window is judged by what there is of it. */
    struct sum_result *pairs = &job->judged_pairs;
    if (!window->late && window_sum_pairs(window->sum, MOST_PAIRS_JUDGED, pairs) != 0)
        pairs->pair_count = pairs->names = 0;
}

void job_judge(struct job *job, struct open_window *window)
{
    struct hang_window hangs = {0};
    uint32_t reported = 0;
    int watched = judge_ranks(job, window, &hangs, &reported);
    /* Without memory the phases lack messages, and nothing else does. */
    job_phases_close(job->phases, &window->bursts, window->number, window->late, job->world);
    if (window->late) {
        job_latency_late(job->latency, &window->latency);
        return;
    }
    job_latency_close(job->latency, window->number, job->world, reported, &window->latency,
                      &job->judged_pairs);
    publish_latency(job);
    judge_links(job, window);
    job_tell_phases(job);
    if (watched)
        watch(job, window, &hangs);
    tell_agents(job);
    latency_rows_finish(&job->idle_latency);
    job->idle_latency = window->latency;
    latency_rows_clear(&job->idle_latency);
    window->latency = (struct latency_rows){0};
}
