/* The figures of one job for a page of metrics. */
#include "daemon/job/job_figures.h"

#include "daemon/job/job_state.h"
#include "holter/waiting.h"

#include <math.h>
#include <string.h>

static void job_figures_add_alert(struct job_figures *out, const struct wire_alert *alert)
{
    const enum severity severity = severity_parse(alert->severity);
    out->alerts_fired += alert->fired_ns != 0;
    if (strcmp(alert->state, "firing") != 0)
        return;
    for (int kind = 0; kind < RULE_KINDS; kind++) {
        if (strcmp(alert->kind, rule_kind_name((enum rule_kind)kind)) == 0)
            out->firing[kind][severity]++;
    }
    /* Comparisons with NaN are false. */
    if (alert->ratio > out->latency_ratio)
        out->latency_ratio = alert->ratio;
    if (alert->progress < out->progress_ratio)
        out->progress_ratio = alert->progress;
}

static void job_figures_add_alerts(const struct job *job, struct job_figures *out)
{
    const struct alerts *alerts = &job->alerts.list;
    for (size_t i = 0; i < alerts->count; i++) {
        struct wire_alert message;
        if (job_alerts_message(&job->alerts, job->info.id, alerts->list[i], &message))
            job_figures_add_alert(out, &message);
    }
}

static void job_figures_add_links(struct job *job, struct job_figures *out)
{
    struct wire_links links;
    if (!job_network_links(job->network, &links))
        return;
    out->links_hot = links.hot;
    out->links_congested = links.congested;
    for (uint64_t i = 0; i < links.links_count; i++) {
        const struct wire_link_row *row = &links.links[i];
        out->link_bytes = row->bytes > out->link_bytes ? row->bytes : out->link_bytes;
        if (!(out->link_share >= row->share)) /* also if one of them is NaN */
            out->link_share = isnan(row->share) ? out->link_share : row->share;
    }
}

/* The newest window is that before windows.next; the last closed one may be an older window that
 * was closed again to correct it. */
static void job_figures_add_newest(const struct job *job, struct job_figures *out)
{
    const struct job_totals *totals = &job->totals;
    const struct wire_totals *newest =
        job->windows.next == 0 ? NULL : job_totals_find(totals, job->windows.next - 1);
    if (newest == NULL)
        return;
    out->has_newest = 1;
    out->newest = *newest;
    out->newest.matched = totals->newest.matched;
    out->newest.unmatched = totals->newest.unmatched;
    out->newest.unwatched = totals->newest.unwatched;
}

void job_figures(struct job *job, struct job_figures *out)
{
    const struct job_info *info = &job->info;
    *out = (struct job_figures){
        .user = info->user,
        .app = info->app,
        .start_ns = info->start_ns == UINT64_MAX ? 0 : info->start_ns,
        .world = info->world,
        .watched = job->places.keys.count,
        .nodes = job->nodes.count,
        .windows = job->windows.closed,
        .sums = job->totals.sums,
        .rank_ns = (uint64_t)ranks_time_ns(job->totals.sums.ranks, job->options.window_ns,
                                           job->totals.sums.absent_ns),
        .lost_records = job->alerts.losses.records,
        .lost_windows = job->alerts.losses.windows,
        .latency_ratio = 1,
        .progress_ratio = 1,
        .link_share = NAN,
    };
    job_figures_add_newest(job, out);
    job_figures_add_alerts(job, out);
    job_figures_add_links(job, out);
}
