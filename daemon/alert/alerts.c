/* The episodes of one job, found by kind and subject. */
#include "daemon/alert/alerts.h"

#include "daemon/analysis/tables/array.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts and figures that evidence and messages have under the same names. */
#define EVIDENCE_TEXTS(X)                                                                          \
    X(rule)                                                                                        \
    X(severity)                                                                                    \
    X(ranks)                                                                                       \
    X(locality)                                                                                    \
    X(sizes) X(advice) X(nodes) X(links) X(culprit) X(culprits) X(alternatives) X(victims)
#define EVIDENCE_FIGURES(X)                                                                        \
    X(region)                                                                                      \
    X(ratio)                                                                                       \
    X(slope) X(onset_ns) X(error_ns) X(comm) X(episode) X(ratio_worst) X(progress) X(lost_ns)

void alerts_finish(struct alerts *alerts)
{
    for (size_t i = 0; i < alerts->count; i++) {
        free(alerts->list[i]->evidence);
        free(alerts->list[i]);
    }
    free(alerts->list);
    free(alerts->newest);
    key_table_finish(&alerts->subjects);
    *alerts = (struct alerts){0};
}

static const char *alerts_subject_text(const struct alert *alert)
{
    return alert->host[0] != '\0' || alert->evidence == NULL ? alert->host : alert->evidence->rule;
}

static uint64_t alerts_episode(const struct alert_evidence *evidence)
{
    return evidence == NULL ? 0 : evidence->episode;
}

/* Find the subject, a host or a rule, of alerts of this kind. Hashed, as thousands of nodes may
 * have thousands of alerts.
 * @param key  set to the key to add if there is none
 * @return its number, or KEY_NONE */
static uint32_t alerts_find_subject(const struct alerts *alerts, const char *kind,
                                    const char *subject, uint64_t episode, struct key *key)
{
    *key = (struct key){.hi = key_hash(subject) + episode, .lo = key_hash(kind)};
    for (uint32_t at; (at = key_table_find(&alerts->subjects, *key)) != KEY_NONE; key->lo++) {
        const struct alert *a = alerts->newest[at];
        if (strcmp(a->kind, kind) == 0 && strcmp(alerts_subject_text(a), subject) == 0 &&
            alerts_episode(a->evidence) == episode)
            return at;
    }
    return KEY_NONE;
}

static struct alert *alerts_find_open(const struct alerts *alerts, const char *kind,
                                      const char *subject, uint64_t episode)
{
    struct key key;
    uint32_t at = alerts_find_subject(alerts, kind, subject, episode, &key);
    return at != KEY_NONE && alerts->newest[at]->state != ALERT_RESOLVED ? alerts->newest[at]
                                                                         : NULL;
}

static void alert_list_causes(struct alert *alert)
{
    const struct alert_evidence *evidence = alert->evidence;
    for (size_t i = 0; evidence != NULL && i < evidence->cause_count; i++)
        alert->cause_rows[i] = (struct wire_cause_row){
            evidence->causes[i].name, evidence->causes[i].share, evidence->causes[i].text};
}

static int alerts_set_evidence(struct alert *alert, const struct alert_evidence *evidence)
{
    if (alert->evidence == NULL)
        alert->evidence = malloc(sizeof(*evidence));
    if (alert->evidence == NULL)
        return -ENOMEM;
    *alert->evidence = *evidence;
    alert_list_causes(alert);
    return 0;
}

static struct alert *alerts_add(struct alerts *alerts, const char *kind, const char *host,
                                const struct alert_evidence *evidence)
{
    if (alerts->count >= ALERTS_MAXIMUM || key_table_reserve(&alerts->subjects, 1) != 0 ||
        ARRAY_FIT_AT(alerts->newest, alerts->newest_capacity, alerts->subjects.count) != 0 ||
        ARRAY_FIT(alerts->list, alerts->capacity, alerts->count + 1) != 0)
        return NULL;
    struct alert *a = calloc(1, sizeof(*a));
    if (a == NULL || (evidence != NULL && alerts_set_evidence(a, evidence) != 0)) {
        free(a);
        return NULL;
    }
    alerts->list[alerts->count++] = a;
    a->id = alerts->count;
    snprintf(a->kind, sizeof(a->kind), "%s", kind);
    snprintf(a->host, sizeof(a->host), "%s", host);
    struct key key;
    uint32_t at = alerts_find_subject(alerts, a->kind, alerts_subject_text(a),
                                      alerts_episode(a->evidence), &key);
    alerts->newest[at != KEY_NONE ? at : key_table_add(&alerts->subjects, key)] = a;
    return a;
}

/* Find the restored alert of an episode whose messages are fed again. */
static struct alert *alerts_find_restored(const struct alerts *alerts,
                                          const struct alert_report *report, const char *subject)
{
    for (size_t i = alerts->count; i-- > 0;) {
        struct alert *a = alerts->list[i];
        if (a->since_ns == report->since_ns && strcmp(a->kind, report->kind) == 0 &&
            strcmp(alerts_subject_text(a), subject) == 0 &&
            alerts_episode(a->evidence) == alerts_episode(report->evidence))
            return a;
    }
    return NULL;
}

static int alerts_equal_evidence(const struct alert *alert, const struct alert_evidence *evidence)
{
    return evidence == NULL ||
           (alert->evidence != NULL && memcmp(alert->evidence, evidence, sizeof(*evidence)) == 0);
}

const struct alert *alerts_report(struct alerts *alerts, const struct alert_report *report)
{
    const char *host = report->host == NULL ? "" : report->host;
    const char *text = report->text == NULL ? "" : report->text;
    const struct alert_evidence *evidence = report->evidence;
    const char *subject = host[0] != '\0' || evidence == NULL ? host : evidence->rule;
    const uint64_t episode = alerts_episode(evidence);
    struct alert *a = alerts_find_open(alerts, report->kind, subject, episode);
    /* Findings are numbered from 1 again where a recording lacks its first messages. */
    if (a != NULL && episode != 0 && a->since_ns != report->since_ns)
        a = NULL;
    if (a != NULL && a->state == report->state && a->rank == report->rank &&
        strncmp(a->title, report->title, sizeof(a->title) - 1) == 0 &&
        strncmp(a->text, text, sizeof(a->text) - 1) == 0 && alerts_equal_evidence(a, evidence))
        return NULL;
    if (a == NULL)
        a = alerts_find_restored(alerts, report, subject);
    if (a == NULL && report->state == ALERT_RESOLVED)
        return NULL;
    if (a == NULL) {
        a = alerts_add(alerts, report->kind, host, evidence);
        if (a == NULL)
            return NULL;
        a->since_ns = report->since_ns;
    } else if (evidence != NULL && alerts_set_evidence(a, evidence) != 0) {
        return NULL;
    } else {
        a->updates++;
    }
    if (report->state == ALERT_FIRING && a->fired_ns == 0)
        a->fired_ns = report->now_ns;
    a->state = report->state;
    a->rank = report->rank;
    a->updated_ns = report->now_ns;
    snprintf(a->title, sizeof(a->title), "%s", report->title);
    snprintf(a->text, sizeof(a->text), "%s", text);
    return a;
}

const struct alert *alerts_raise(struct alerts *alerts, const char *kind, const char *host,
                                 int64_t rank, uint64_t now_ns, const char *title, const char *text)
{
    return alerts_report(alerts, &(struct alert_report){.kind = kind,
                                                        .host = host,
                                                        .rank = rank,
                                                        .state = ALERT_FIRING,
                                                        .since_ns = now_ns,
                                                        .now_ns = now_ns,
                                                        .title = title,
                                                        .text = text});
}

const struct alert *alerts_resolve(struct alerts *alerts, const char *kind, const char *host,
                                   uint64_t now_ns)
{
    struct alert *a = alerts_find_open(alerts, kind, host == NULL ? "" : host, 0);
    if (a == NULL)
        return NULL;
    a->state = ALERT_RESOLVED;
    a->updated_ns = now_ns;
    return a;
}

const struct alert *alerts_find_firing(const struct alerts *alerts, const char *kind,
                                       const char *host)
{
    const struct alert *a = alerts_find_open(alerts, kind, host, 0);
    return a != NULL && a->state == ALERT_FIRING ? a : NULL;
}

static enum alert_state alerts_parse_state(const char *name)
{
    return strcmp(name, "firing") == 0    ? ALERT_FIRING
           : strcmp(name, "pending") == 0 ? ALERT_PENDING
                                          : ALERT_RESOLVED;
}

static void alerts_copy_evidence(struct alert_evidence *out, const struct wire_alert *m)
{
    memset(out, 0, sizeof(*out)); /* compared as bytes */
#define X(name) text_copy(out->name, sizeof(out->name), m->name);
    EVIDENCE_TEXTS(X)
#undef X
#define X(name) out->name = m->name;
    EVIDENCE_FIGURES(X)
#undef X
    out->cause_count = m->causes_count < ALERT_CAUSES ? m->causes_count : ALERT_CAUSES;
    for (size_t i = 0; i < out->cause_count; i++) {
        text_copy(out->causes[i].name, sizeof(out->causes[i].name), m->causes[i].name);
        text_copy(out->causes[i].text, sizeof(out->causes[i].text), m->causes[i].text);
        out->causes[i].share = m->causes[i].share;
    }
}

static void alert_copy_report(struct alert *a, const struct wire_alert *alert)
{
    snprintf(a->title, sizeof(a->title), "%s", alert->title);
    text_copy(a->text, sizeof(a->text), alert->text);
    a->rank = alert->rank;
    a->state = alerts_parse_state(alert->state);
    a->since_ns = alert->since_ns;
    a->fired_ns = alert->fired_ns;
    a->updated_ns = alert->updated_ns;
}

int alerts_restore(struct alerts *alerts, const struct wire_alert *alert)
{
    struct alert_evidence evidence;
    if (alert->id == 0 || alert->id > alerts->count + 1)
        return -HOLTER_ERANGE;
    /* All alerts name their rule, but only episodes of these kinds are identified by it. */
    int has_evidence = strcmp(alert->kind, "latency") == 0 || strcmp(alert->kind, "hang") == 0;
    struct alert *a = alert->id > alerts->count ? NULL : alerts->list[alert->id - 1];
    if (a != NULL) {
        if (!has_evidence)
            alert_copy_report(a, alert);
        return 0;
    }
    alerts_copy_evidence(&evidence, alert);
    a = alerts_add(alerts, alert->kind, alert->host == NULL ? "" : alert->host,
                   has_evidence ? &evidence : NULL);
    if (a == NULL)
        return -ENOMEM;
    alert_copy_report(a, alert);
    a->updates = alert->updates;
    return 0;
}

struct wire_alert alert_message(const struct alert *alert, const char *job)
{
    static const char *const states[] = {"pending", "firing", "resolved"};
    struct wire_alert message = {
        .job = job,
        .id = alert->id,
        .kind = alert->kind,
        .state = states[alert->state],
        .since_ns = alert->since_ns,
        .fired_ns = alert->fired_ns,
        .updated_ns = alert->updated_ns,
        .updates = alert->updates,
        .title = alert->title,
        .text = alert->text,
        .rank = alert->rank,
        .host = alert->host,
        .ratio = NAN,
        .slope = NAN,
        .ratio_worst = NAN,
        .progress = NAN,
    };
    const struct alert_evidence *e = alert->evidence;
    if (e == NULL)
        return message;
#define X(name) message.name = e->name;
    EVIDENCE_TEXTS(X)
    EVIDENCE_FIGURES(X)
#undef X
    message.causes = alert->cause_rows;
    message.causes_count = e->cause_count;
    return message;
}

static void alert_copy_state(struct state_bytes *b, struct alert **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    (void)STATE_OBJECT(b, (*out)->evidence);
    alert_list_causes(*out);
}

/* The newest alerts of subjects, as their numbers. */
static void alerts_copy_newest(struct state_bytes *b, struct alerts *alerts)
{
    state_copy_array(b, &alerts->newest, sizeof(struct alert *), 0, alerts->newest_capacity);
    for (uint32_t i = 0; alerts->newest != NULL && i < alerts->subjects.count; i++) {
        uint64_t id = b->reads ? 0 : alerts->newest[i]->id;
        STATE_VALUE(b, id);
        alerts->newest[i] = id > 0 && id <= alerts->count ? alerts->list[id - 1] : NULL;
    }
}

void alerts_copy_state(struct state_bytes *b, struct alerts *alerts)
{
    STATE_VALUE(b, *alerts);
    state_copy_array(b, &alerts->list, sizeof(struct alert *), alerts->count, alerts->capacity);
    if (alerts->list == NULL)
        alerts->count = alerts->capacity = 0;
    for (size_t i = 0; i < alerts->count; i++)
        alert_copy_state(b, &alerts->list[i]);
    while (alerts->count > 0 && alerts->list[alerts->count - 1] == NULL)
        alerts->count--; /* after an error */
    key_table_copy_state(b, &alerts->subjects);
    alerts_copy_newest(b, alerts);
}
