/* State of one job, updated by published messages. */
#include "agent/cli/top/top_model.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "holter/waiting.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANKS (1u << 24) /* higher ranks are not listed */
#define NO_HOST UINT32_MAX

static void free_alert(struct top_alert *alert)
{
    wire_arena_finish(&alert->arena);
    free(alert);
}

void top_model_finish(struct top_model *m)
{
    for (size_t i = 0; i < m->alert_count; i++)
        free_alert(m->alerts[i]);
    free(m->series);
    free(m->regions);
    free(m->ranks);
    free(m->latency);
    free(m->place);
    free(m->hosts);
    wire_arena_finish(&m->nodes_arena);
    *m = (struct top_model){0};
}

/* ---- job ------------------------------------------------------------------------- */

/* Windows are numbered by their length: those of a daemon that was started again with another one
 * are neither before nor after those that are known. */
static void top_model_set_window_length(struct top_model *m, uint64_t window_ns)
{
    if (m->window_ns != 0 && window_ns != 0 && window_ns != m->window_ns) {
        m->series_count = m->rank_count = 0;
        m->window = m->rank_window = 0;
        m->rates.known = false;
    }
    m->window_ns = window_ns;
}

static void top_model_apply_job(struct top_model *m, const struct wire_job *job, int snapshot)
{
    if (snapshot) { /* the current alerts follow it, and the regions from their begin */
        for (size_t i = 0; i < m->alert_count; i++)
            free_alert(m->alerts[i]);
        m->alert_count = 0;
        m->regions_open = false;
    }
    snprintf(m->state, sizeof m->state, "%s", job->state);
    snprintf(m->app, sizeof m->app, "%s", job->app);
    m->world = job->world;
    m->group = job->group;
    m->seen = job->seen;
    m->start_ns = job->start_ns;
    m->end_ns = job->end_ns;
    top_model_set_window_length(m, job->window_ns);
}

/* A correction of an older window is not of the newest one. */
static void top_model_apply_rates(struct top_rates *rates, const struct wire_totals *totals)
{
    double seconds = (double)totals->length_ns / 1e9;
    double whole = ranks_time_ns(totals->ranks, totals->length_ns, totals->absent_ns);
    if ((rates->known && totals->window < rates->window) || seconds <= 0)
        return;
    *rates = (struct top_rates){.known = true,
                                .window = totals->window,
                                .calls = (double)totals->calls / seconds,
                                .messages = (double)totals->sent / seconds,
                                .bytes = (double)totals->sent_bytes / seconds,
                                .in_mpi = whole > 0 ? (double)MPI_NS(totals) / whole : 0,
                                .waiting = whole > 0 ? (double)WAITING_NS(totals) / whole : 0};
}

static void top_model_apply_totals(struct top_model *m, const struct wire_totals *totals)
{
    uint64_t end = totals->start_ns + totals->length_ns;
    m->matched = totals->matched;
    m->unmatched = totals->unmatched;
    top_model_apply_rates(&m->rates, totals);
    if (end < m->now_ns)
        return;
    m->now_ns = end;
    m->missing = totals->agents_missing > 0;
}

/* ---- latency --------------------------------------------------------------------- */

static int top_model_is_before(const struct top_series *a, uint64_t scope, uint64_t id)
{
    return a->scope != scope ? a->scope < scope : a->id < id;
}

/* Find or add a series. @return NULL if the table is full */
static struct top_series *find_series(struct top_model *m, uint64_t scope, uint64_t id)
{
    size_t at = 0;
    while (at < m->series_count && top_model_is_before(&m->series[at], scope, id))
        at++;
    if (at < m->series_count && m->series[at].scope == scope && m->series[at].id == id)
        return &m->series[at];
    if (m->series_count >= TOP_SERIES)
        return NULL;
    if (ARRAY_RESIZE(m->series, m->series_count + 1) != 0)
        return NULL;
    struct top_series *series = m->series + at;
    memmove(series + 1, series, (m->series_count++ - at) * sizeof *series);
    *series = (struct top_series){.scope = scope, .id = id};
    return series;
}

static void top_model_apply_series(struct top_model *m, const struct wire_series_row *row,
                                   uint64_t window)
{
    struct top_series *series = find_series(m, row->scope, row->id);
    if (series == NULL)
        return;
    double value = row->typical > 0 ? row->typical : row->reference;
    series->value[window % TOP_WINDOWS] = (float)(row->messages == 0 ? NAN : value);
    series->stamp[window % TOP_WINDOWS] = window + 1;
    if (row->messages > 0 && window >= series->last_with_messages) {
        series->last_with_messages = window;
        series->has_messages = true;
    }
    if (window < series->last)
        return;
    series->last = window;
    series->trend = row->trend;
    series->trend_since = row->trend_since;
    series->messages = row->messages;
    series->delayed = row->delayed;
    series->slope = row->slope;
}

/* Remove series of regions that are not published any more. */
static void drop_old_series(struct top_model *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->series_count; i++)
        if (m->series[i].scope != SERIES_REGION || m->series[i].last + TOP_WINDOWS > m->window)
            m->series[kept++] = m->series[i];
    m->series_count = kept;
}

static int top_model_apply_rank_latencies(struct top_model *m, const struct wire_latencies *l)
{
    for (uint64_t i = 0; i < l->ranks_count; i++) {
        uint64_t rank = l->ranks[i].rank;
        size_t before = m->latency_capacity;
        if (rank >= MAX_RANKS)
            continue;
        if (ARRAY_FIT(m->latency, m->latency_capacity, rank + 1) != 0)
            return -ENOMEM;
        for (size_t new = before; new < m->latency_capacity; new ++)
            m->latency[new].value = NAN;
        m->latency[rank].value = (float)l->ranks[i].reference;
        m->latency[rank].error = (float)l->ranks[i].error;
    }
    return 0;
}

static int top_model_apply_latencies(struct top_model *m, const struct wire_latencies *l)
{
    if (l->window >= m->window) {
        if (l->window > m->window)
            for (size_t i = 0; i < m->latency_capacity; i++)
                m->latency[i].value = NAN;
        m->window = l->window;
        m->uncertain = l->uncertain;
        m->error_ns = l->error_ns;
        if (top_model_apply_rank_latencies(m, l) != 0)
            return -ENOMEM;
    }
    for (uint64_t i = 0; i < l->series_count; i++)
        top_model_apply_series(m, &l->series[i], l->window);
    drop_old_series(m);
    return 0;
}

double top_model_progress(const struct top_model *model)
{
    for (size_t i = 0; i < model->alert_count; i++) {
        const struct wire_alert *a = &model->alerts[i]->message.alert;
        if (strcmp(a->state, "firing") == 0 && a->culprit && a->culprit[0] && isfinite(a->progress))
            return a->progress;
    }
    return (double)NAN;
}

double top_model_value(const struct top_series *series, uint64_t window)
{
    uint64_t at = window % TOP_WINDOWS;
    return series->stamp[at] == window + 1 ? (double)series->value[at] : (double)NAN;
}

/* ---- regions ---------------------------------------------------------------------- */

static struct top_region *top_model_find_region(const struct top_model *m, uint64_t id)
{
    for (size_t i = 0; i < m->region_count; i++)
        if (m->regions[i].id == id)
            return &m->regions[i];
    return NULL;
}

static int top_model_apply_regions(struct top_model *m, const struct wire_regions *r)
{
    if (!m->regions_open)
        m->region_count = 0;
    if (ARRAY_FIT(m->regions, m->region_capacity, m->region_count + r->regions_count) != 0)
        return -ENOMEM;
    m->regions_open = r->more != 0;
    for (uint64_t i = 0; i < r->regions_count; i++) {
        struct top_region *region = &m->regions[m->region_count++];
        *region = (struct top_region){.id = r->regions[i].id, .ranks = r->regions[i].ranks};
        rank_runs_begin(&region->runs, region->list, sizeof region->list, "...");
    }
    struct top_region *last = NULL;
    for (uint64_t i = 0; i < r->members_count; i++) {
        if (last == NULL || last->id != r->members[i].region)
            last = top_model_find_region(m, r->members[i].region);
        if (last == NULL)
            continue;
        last->runs.out = last->list; /* regions move when further ones come */
        rank_runs_add_row(&last->runs, r->members[i].rank, m->group, m->world);
    }
    return 0;
}

const char *top_model_region_ranks(const struct top_model *m, uint64_t id, char *out,
                                   size_t capacity)
{
    const struct top_region *region = top_model_find_region(m, id);
    out[0] = '\0';
    if (region == NULL)
        return out;
    struct top_region copy = *region; /* further members may follow */
    copy.runs.out = copy.list;
    rank_runs_end(&copy.runs);
    snprintf(out, capacity, "%s", copy.list);
    return out;
}

/* ---- ranks ------------------------------------------------------------------------- */

static int top_model_apply_ranks(struct top_model *m, const struct wire_rank_window *w)
{
    if (w->window < m->rank_window)
        return 0;
    if (!m->ranks_open || w->window != m->rank_window)
        m->rank_count = 0;
    m->rank_window = w->window;
    m->rank_windows = w->windows > 1 ? w->windows : 1;
    m->ranks_open = w->more != 0;
    if (ARRAY_FIT(m->ranks, m->rank_capacity, m->rank_count + w->ranks_count))
        return -ENOMEM;
    const uint64_t length = w->length_ns * m->rank_windows;
    const double seconds = length > 0 ? (double)length / 1e9 : (double)INFINITY;
    for (uint64_t i = 0; i < w->ranks_count; i++) {
        const struct wire_rank_row *r = &w->ranks[i];
        const double whole = ranks_time_ns(r->ranks > 1 ? r->ranks : 1, length, r->absent_ns);
        double waiting = (double)WAITING_NS(r);
        m->ranks[m->rank_count++] = (struct top_rank){
            .rank = r->rank,
            .waiting = whole > 0 ? waiting / whole : 0,
            .in_mpi = whole > 0 ? (double)MPI_NS(r) / whole : 0,
            .messages = (double)r->sent / seconds,
            .bytes = (double)r->sent_bytes / seconds,
            .awaited = waiting_is_for(r->awaited_ns, WAITING_NS(r)) ? (int64_t)r->awaited - 1 : -1,
            .latency = (double)NAN,
            .in_call = r->in_call,
            .in_call_ns = r->in_call_ns,
            .in_call_peer = r->in_call_peer,
            .host = NO_HOST};
    }
    return 0;
}

static int top_model_apply_places(struct top_model *m, const struct wire_places *p)
{
    char(*hosts)[65] = calloc(p->hosts_count + 1, sizeof *hosts);
    if (hosts == NULL)
        return -ENOMEM;
    for (uint64_t i = 0; i < p->hosts_count; i++)
        snprintf(hosts[i], sizeof hosts[i], "%s", p->hosts[i].name);
    free(m->hosts);
    m->hosts = hosts;
    m->host_count = p->hosts_count;
    for (uint64_t i = 0; i < p->places_count; i++) {
        uint64_t rank = p->places[i].rank;
        size_t before = m->place_room;
        if (rank >= MAX_RANKS)
            continue;
        if (ARRAY_FIT(m->place, m->place_room, rank + 1) != 0)
            return -ENOMEM;
        for (size_t new = before; new < m->place_room; new ++)
            m->place[new] = NO_HOST;
        m->place[rank] = p->places[i].node < p->hosts_count ? (uint32_t)p->places[i].node : NO_HOST;
    }
    return 0;
}

/* Ranks, latencies and places are separate messages. */
static void complete_ranks(struct top_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++) {
        struct top_rank *r = &m->ranks[i];
        if (r->rank < m->latency_capacity) {
            r->latency = (double)m->latency[r->rank].value;
            r->error = (double)m->latency[r->rank].error;
        }
        r->host = r->rank < m->place_room ? m->place[r->rank] : NO_HOST;
    }
}

/* ---- nodes and alerts ----------------------------------------------------------------- */

static int top_model_apply_nodes(struct top_model *m, const struct wire_message *message)
{
    struct wire_message nodes;
    struct wire_arena arena = {0};
    int rc = wire_copy(&nodes, &arena, message);
    if (rc != 0) {
        wire_arena_finish(&arena);
        return rc;
    }
    wire_arena_finish(&m->nodes_arena);
    m->nodes_arena = arena;
    m->nodes = nodes;
    return 0;
}

static int top_model_alert_urgency(const struct top_alert *alert)
{
    const char *state = alert->message.alert.state;
    return strcmp(state, "firing") == 0 ? 0 : strcmp(state, "pending") == 0 ? 1 : 2;
}

static int compare_alerts(const void *left, const void *right)
{
    const struct top_alert *a = *(struct top_alert *const *)left;
    const struct top_alert *b = *(struct top_alert *const *)right;
    if (top_model_alert_urgency(a) != top_model_alert_urgency(b))
        return top_model_alert_urgency(a) - top_model_alert_urgency(b);
    return 2 * ORDER(b->message.alert.since_ns, a->message.alert.since_ns) +
           ORDER(b->message.alert.id, a->message.alert.id);
}

/* One that was only pending until it was over is no alert. */
static void top_model_drop_alert(struct top_model *m, uint64_t id)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->alert_count; i++) {
        if (m->alerts[i]->message.alert.id == id)
            free_alert(m->alerts[i]);
        else
            m->alerts[kept++] = m->alerts[i];
    }
    m->alert_count = kept;
}

static int top_model_apply_alert(struct top_model *m, const struct wire_message *message)
{
    if (strcmp(message->alert.state, "resolved") == 0 && message->alert.fired_ns == 0) {
        top_model_drop_alert(m, message->alert.id);
        return 0;
    }
    struct top_alert *alert = calloc(1, sizeof *alert);
    int rc = alert == NULL ? -ENOMEM : wire_copy(&alert->message, &alert->arena, message);
    if (rc != 0) {
        if (alert != NULL)
            free_alert(alert);
        return rc;
    }
    size_t at = 0;
    while (at < m->alert_count && m->alerts[at]->message.alert.id != message->alert.id)
        at++;
    if (at == TOP_ALERTS) { /* the list is in order: the last is the least urgent */
        at--;
        if (compare_alerts(&alert, &m->alerts[at]) > 0) {
            free_alert(alert);
            return 0;
        }
    }
    if (at < m->alert_count)
        free_alert(m->alerts[at]);
    else
        m->alert_count++;
    m->alerts[at] = alert;
    qsort(m->alerts, m->alert_count, sizeof m->alerts[0], compare_alerts);
    return 0;
}

/* ---- all ---------------------------------------------------------------------------------- */

static int top_model_apply_message(struct top_model *m, const struct wire_message *message,
                                   int snapshot)
{
    switch (message->type) {
    case WIRE_TYPE_JOB:
        top_model_apply_job(m, &message->job, snapshot);
        return 0;
    case WIRE_TYPE_TOTALS:
        top_model_apply_totals(m, &message->totals);
        return 0;
    case WIRE_TYPE_PLACES:
        return top_model_apply_places(m, &message->places);
    case WIRE_TYPE_RANK_WINDOW:
        return top_model_apply_ranks(m, &message->rank_window);
    case WIRE_TYPE_NODES:
        return top_model_apply_nodes(m, message);
    case WIRE_TYPE_ALERT:
        return top_model_apply_alert(m, message);
    case WIRE_TYPE_LATENCIES:
        return top_model_apply_latencies(m, &message->latencies);
    case WIRE_TYPE_REGIONS:
        return top_model_apply_regions(m, &message->regions);
    default:
        return 0;
    }
}

/* The daemon replays a recording: where, and whether it moves. */
static void top_model_apply_replay(struct top_replay *replay, const struct wire_replay *message)
{
    snprintf(replay->state, sizeof replay->state, "%s", message->state);
    replay->begin_ns = message->begin_ns;
    replay->end_ns = message->end_ns;
}

int top_model_apply(struct top_model *m, const struct wire_message *message, int snapshot)
{
    if (message->type == WIRE_TYPE_REPLAY) {
        top_model_apply_replay(&m->replay, &message->replay);
        return 0;
    }
    const char *job = wire_job_of(message);
    if (job == NULL)
        return 0;
    if (strcmp(job, m->job) != 0) {
        struct top_replay replay = m->replay;
        top_model_finish(m);
        m->replay = replay;
        snprintf(m->job, sizeof m->job, "%s", job);
    }
    int rc = top_model_apply_message(m, message, snapshot);
    complete_ranks(m);
    return rc;
}
