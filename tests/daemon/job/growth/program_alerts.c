/* Watch a simulated program: see program_alerts.h. */
#include "tests/daemon/job/growth/program_alerts.h"

#include "daemon/alert/rules.h"
#include "daemon/job/growth/job_growth.h"
#include "tests/daemon/analysis/attribution/summed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS UINT64_C(500000000) /* as the rules see it */

static void program_take_alert(void *user, const struct alert_report *report)
{
    struct program_alerts *alerts = user;
    const struct alert_evidence *v = report->evidence;
    struct program_alert *a = NULL;
    for (size_t i = PROGRAM_ALERTS; i-- > 0;) {
        if (alerts->list[i].episode == 0)
            a = &alerts->list[i];
    }
    for (size_t i = 0; i < PROGRAM_ALERTS; i++) {
        if (alerts->list[i].episode == v->episode)
            a = &alerts->list[i];
    }
    if (a == NULL || (report->state != ALERT_FIRING && a->episode == 0))
        return;
    alerts->fired += a->episode == 0;
    a->fires = report->state == ALERT_FIRING;
    if (!a->fires)
        return;
    a->onset = (uint32_t)(v->onset_ns / WINDOW_NS) - 1;
    a->episode = v->episode;
    snprintf(a->title, sizeof(a->title), "%s", report->title);
    snprintf(a->culprit, sizeof(a->culprit), "%s", v->culprit);
    snprintf(a->culprits, sizeof(a->culprits), "%s", v->culprits);
    snprintf(a->cause, sizeof(a->cause), "%s", v->cause_count > 0 ? v->causes[0].name : "");
}

/* A window as the daemon closes it. */
static void program_close_window(struct job_growth *growth, struct attribution_window *rows)
{
    struct message_ranks messages = {.count = 0};
    struct latency_rows latency = {.transfers = *rows->transfers};
    sum_messages(&messages, rows);
    if (job_growth_update(growth, &(struct closed_window){.number = rows->number,
                                                          .length_ns = rows->length_ns,
                                                          .ranks = rows->ranks,
                                                          .rank_count = rows->rank_count,
                                                          .pairs = rows->pairs,
                                                          .pair_count = rows->pair_count,
                                                          .latency = &latency,
                                                          .scale = rows->scale,
                                                          .rank_messages = &messages}) != 0)
        abort();
    message_ranks_finish(&messages);
}

void program_watch(const struct synthetic_params *p, struct program_alerts *out)
{
    struct rules rules;
    struct job_growth *growth = NULL;
    struct job_latency *latency = NULL;
    struct synthetic_job *job = synthetic_create(p);
    memset(out, 0, sizeof(*out));
    if (job == NULL || rules_default(&rules) != 0 || job_latency_create(&latency, WINDOW_NS) != 0 ||
        job_growth_create(&growth, &(struct job_growth_options){.rules = &rules,
                                                                .latency = latency,
                                                                .window_ns = WINDOW_NS,
                                                                .user = out,
                                                                .on_report = program_take_alert}) !=
            0)
        abort();
    for (uint32_t r = 0; r < synthetic_ranks(p); r++) {
        char host[16];
        snprintf(host, sizeof(host), "n%u", synthetic_node(job, r));
        if (job_growth_place(growth, r, synthetic_node(job, r), host) != 0)
            abort();
    }
    for (uint32_t w = 0; w < p->windows; w++) {
        struct attribution_window window;
        out->early = w == p->onset ? out->fired : out->early;
        synthetic_window(job, w, &window);
        program_close_window(growth, &window);
    }
    for (size_t i = 0; i < PROGRAM_ALERTS; i++)
        out->firing += out->list[i].fires;
    job_growth_destroy(growth);
    job_latency_destroy(latency);
    rules_finish(&rules);
    synthetic_destroy(job);
}

bool program_names_culprit(const struct synthetic_params *p, const struct program_alert *a)
{
    char name[16];
    if (p->reason == SYNTHETIC_BACKGROUND)
        return strcmp(a->culprit, "inter-node") == 0;
    if (p->reason == SYNTHETIC_LINK && p->nodes == 2) /* no message tells whose link it is */
        return strcmp(a->culprit, "node-pair") == 0 && strcmp(a->culprits, "n0 and n1") == 0;
    snprintf(name, sizeof(name), p->reason == SYNTHETIC_RANK ? "%u" : "n%u",
             p->reason == SYNTHETIC_RANK ? p->rank : p->node);
    return strcmp(a->culprit, p->reason == SYNTHETIC_RANK ? "rank" : "node") == 0 &&
           strcmp(a->culprits, name) == 0;
}

bool program_names_cause(const struct synthetic_params *p, const struct program_alert *a)
{
    if (!program_names_culprit(p, a))
        return false;
    if (p->reason != SYNTHETIC_RANK)
        return strcmp(a->cause, p->reason == SYNTHETIC_LINK         ? "network"
                                : p->reason == SYNTHETIC_BACKGROUND ? "background"
                                                                    : "slow-node") == 0;
    return strncmp(a->cause, "late-", 5) == 0 || strcmp(a->cause, "collective") == 0;
}
