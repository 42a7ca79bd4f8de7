/* The alerts of a job. */
#include "viewer/model/model_alerts.h"

#include "holter/plain_text.h"
#include "viewer/model/playback.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "0-3,8": stops at what it cannot read. */
static void read_spans(struct alert *a)
{
    const char *at = a->ranks;
    a->span_count = 0;
    while (a->span_count < ALERT_SPANS && *at >= '0' && *at <= '9') {
        char *end;
        struct alert_span span;
        span.first = span.last = strtoull(at, &end, 10);
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            span.last = strtoull(end + 1, &end, 10);
        if (span.last < span.first)
            return;
        a->spans[a->span_count++] = span;
        at = end + strspn(end, ", ");
        if (at == end)
            return;
    }
}

static void model_alerts_read_causes(struct alert *a, const struct wire_alert *m)
{
    a->cause_count = 0;
    for (uint64_t i = 0; i < m->causes_count && a->cause_count < ALERT_CAUSES; i++) {
        struct alert_cause *c = &a->causes[a->cause_count++];
        text_copy(c->name, sizeof c->name, m->causes[i].name);
        text_copy(c->text, sizeof c->text, m->causes[i].text);
        double share = m->causes[i].share;
        c->share = isnan(share) ? NAN : share < 0 ? 0 : share > 1 ? 1 : share;
    }
}

static enum alert_state model_alerts_state_of(const char *name)
{
    if (name && !strcmp(name, "firing"))
        return ALERT_FIRING;
    return name && !strcmp(name, "pending") ? ALERT_PENDING : ALERT_RESOLVED;
}

static void model_alerts_fill(struct alert *a, const struct wire_alert *m)
{
    *a = (struct alert){
        .id = m->id,
        .state = model_alerts_state_of(m->state),
        .since_ns = m->since_ns,
        .updated_ns = m->updated_ns,
        .onset_ns = m->onset_ns ? m->onset_ns : m->since_ns,
        .fired_ns = m->fired_ns,
        .rank = m->rank,
        .region = m->region,
        .ratio = isfinite(m->ratio) && m->ratio > 0 ? m->ratio : NAN,
        .worst = isfinite(m->ratio_worst) && m->ratio_worst > 0 ? m->ratio_worst : NAN,
        .progress = m->culprit && m->culprit[0] && isfinite(m->progress) ? m->progress : NAN,
        .lost_ns = m->lost_ns,
        .slope = isfinite(m->slope) ? m->slope : NAN,
        .error_ns = m->error_ns,
        .updates = m->updates,
    };
    text_copy(a->kind, sizeof a->kind, m->kind);
    text_copy(a->title, sizeof a->title, m->title);
    text_copy(a->text, sizeof a->text, m->text);
    text_copy(a->host, sizeof a->host, m->host);
    text_copy(a->rule, sizeof a->rule, m->rule);
    text_copy(a->severity, sizeof a->severity, m->severity);
    text_copy(a->ranks, sizeof a->ranks, m->ranks);
    text_copy(a->locality, sizeof a->locality, m->locality);
    text_copy(a->sizes, sizeof a->sizes, m->sizes);
    text_copy(a->advice, sizeof a->advice, m->advice);
    text_copy(a->nodes, sizeof a->nodes, m->nodes);
    text_copy(a->links, sizeof a->links, m->links);
    text_copy(a->culprit, sizeof a->culprit, m->culprit);
    text_copy(a->culprits, sizeof a->culprits, m->culprits);
    text_copy(a->alternatives, sizeof a->alternatives, m->alternatives);
    text_copy(a->victims, sizeof a->victims, m->victims);
    read_spans(a);
    model_alerts_read_causes(a, m);
}

/* The one to give up: the oldest that is resolved, else the oldest. */
static uint32_t model_alerts_find_least_important(const struct alerts *alerts)
{
    for (uint32_t i = alerts->count; i-- > 0;)
        if (alerts->items[i].state == ALERT_RESOLVED)
            return i;
    return alerts->count - 1;
}

static void model_alerts_remove(struct alerts *alerts, uint32_t at)
{
    memmove(&alerts->items[at], &alerts->items[at + 1],
            (alerts->count - at - 1) * sizeof *alerts->items);
    alerts->count--;
}

/* Was it only pending until it was over? Then it is no alert. */
static int model_alerts_is_none(const struct wire_alert *m)
{
    return model_alerts_state_of(m->state) == ALERT_RESOLVED && m->fired_ns == 0;
}

int alerts_apply(struct alerts *alerts, const struct wire_alert *m)
{
    for (uint32_t i = 0; i < alerts->count; i++) {
        if (alerts->items[i].id == m->id) {
            if (model_alerts_is_none(m))
                model_alerts_remove(alerts, i);
            else
                model_alerts_fill(&alerts->items[i], m);
            return 0;
        }
    }
    if (model_alerts_is_none(m))
        return 0;
    if (!alerts->items && !(alerts->items = calloc(ALERTS, sizeof *alerts->items)))
        return -ENOMEM;
    if (alerts->count == ALERTS) {
        const uint32_t least = model_alerts_find_least_important(alerts);
        alerts->dropped++;
        if (model_alerts_state_of(m->state) == ALERT_RESOLVED &&
            alerts->items[least].state != ALERT_RESOLVED)
            return 0;
        model_alerts_remove(alerts, least);
    }
    uint32_t at = 0;
    while (at < alerts->count && alerts->items[at].id > m->id)
        at++;
    memmove(&alerts->items[at + 1], &alerts->items[at],
            (alerts->count - at) * sizeof *alerts->items);
    alerts->count++;
    model_alerts_fill(&alerts->items[at], m);
    return 0;
}

void alerts_finish(struct alerts *alerts)
{
    free(alerts->items);
    *alerts = (struct alerts){0};
}

const struct alert *alerts_find(const struct alerts *alerts, uint64_t id)
{
    for (uint32_t i = 0; i < alerts->count; i++)
        if (alerts->items[i].id == id)
            return &alerts->items[i];
    return NULL;
}

uint32_t alerts_count(const struct alerts *alerts, enum alert_state state)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < alerts->count; i++)
        n += alerts->items[i].state == state;
    return n;
}

double alert_ratio(const struct alert *a)
{
    return a->state == ALERT_RESOLVED && !isnan(a->worst) ? a->worst : a->ratio;
}

int alert_is_worse(const struct alert *a, const struct alert *than)
{
    const enum mark_severity one = playback_severity(a->severity),
                             other = playback_severity(than->severity);
    return one != other ? one > other : a->lost_ns > than->lost_ns;
}

void alert_cause_format(const struct alert_cause *cause, char out[ALERT_CAUSE_NAME])
{
    text_copy(out, ALERT_CAUSE_NAME, strcmp(cause->name, "io") == 0 ? "I/O" : cause->name);
    for (char *at = out; *at; at++)
        *at = *at == '-' ? ' ' : *at;
}

int alert_has_rank(const struct alert *a, uint64_t rank)
{
    for (uint32_t i = 0; i < a->span_count; i++)
        if (rank >= a->spans[i].first && rank <= a->spans[i].last)
            return 1;
    return a->rank >= 0 && (uint64_t)a->rank == rank;
}

uint64_t alert_length_ns(const struct alert *a, uint64_t now_ns)
{
    uint64_t end = a->state == ALERT_RESOLVED ? a->updated_ns : now_ns;
    end = end > a->updated_ns ? end : a->updated_ns;
    return end > a->onset_ns ? end - a->onset_ns : 0;
}
