#include "daemon/alerts.h"

#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void alerts_finish(struct alerts *alerts)
{
    for (size_t i = 0; i < alerts->count; i++)
        free(alerts->list[i]);
    free(alerts->list);
    free(alerts->newest);
    key_table_finish(&alerts->subjects);
    *alerts = (struct alerts){0};
}

/* Number of what alerts of this kind on this host are about; where there are thousands of nodes,
 * there may be thousands of alerts. Without one, *key is what to add. @return or KEY_NONE */
static uint32_t subject_of(const struct alerts *alerts, const char *kind, const char *host,
                           struct key *key)
{
    *key = (struct key){.hi = key_hash(host), .lo = key_hash(kind)};
    for (uint32_t at; (at = key_table_find(&alerts->subjects, *key)) != KEY_NONE; key->lo++) {
        const struct alert *a = alerts->newest[at];
        if (strcmp(a->kind, kind) == 0 && strcmp(a->host, host) == 0)
            return at;
    }
    return KEY_NONE;
}

static struct alert *find_firing(const struct alerts *alerts, const char *kind, const char *host)
{
    struct key key;
    uint32_t at = subject_of(alerts, kind, host, &key);
    return at != KEY_NONE && alerts->newest[at]->firing ? alerts->newest[at] : NULL;
}

static int fit_subject(struct alerts *alerts)
{
    int code = key_table_reserve(&alerts->subjects, 1);
    if (code != 0 || alerts->subjects.room <= alerts->newest_room)
        return code;
    struct alert **newest = realloc(alerts->newest, alerts->subjects.room * sizeof(struct alert *));
    if (newest == NULL)
        return -ENOMEM;
    alerts->newest = newest;
    alerts->newest_room = alerts->subjects.room;
    return 0;
}

static struct alert *add(struct alerts *alerts, const char *kind, const char *host)
{
    if (alerts->count >= ALERTS_MOST || fit_subject(alerts) != 0)
        return NULL;
    if ((alerts->count & (alerts->count + 1)) == 0) { /* full at 0, 1, 3, 7, ... */
        struct alert **list = realloc(alerts->list, (2 * alerts->count + 1) * sizeof(*list));
        if (list == NULL)
            return NULL;
        alerts->list = list;
    }
    struct alert *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return NULL;
    alerts->list[alerts->count++] = a;
    a->id = alerts->count;
    snprintf(a->kind, sizeof(a->kind), "%s", kind);
    snprintf(a->host, sizeof(a->host), "%s", host);
    struct key key;
    uint32_t at = subject_of(alerts, a->kind, a->host, &key);
    alerts->newest[at != KEY_NONE ? at : key_table_add_hashed(&alerts->subjects, key)] = a;
    return a;
}

const struct alert *alerts_raise(struct alerts *alerts, const char *kind, const char *host,
                                 int64_t rank, uint64_t now_ns, const char *title, const char *text)
{
    host = host == NULL ? "" : host;
    text = text == NULL ? "" : text;
    struct alert *a = find_firing(alerts, kind, host);
    if (a != NULL && a->rank == rank && strncmp(a->title, title, sizeof(a->title) - 1) == 0 &&
        strncmp(a->text, text, sizeof(a->text) - 1) == 0)
        return NULL;
    if (a == NULL) {
        a = add(alerts, kind, host);
        if (a == NULL)
            return NULL;
        a->firing = 1;
        a->since_ns = now_ns;
    }
    a->rank = rank;
    a->updated_ns = now_ns;
    snprintf(a->title, sizeof(a->title), "%s", title);
    snprintf(a->text, sizeof(a->text), "%s", text);
    return a;
}

const struct alert *alerts_resolve(struct alerts *alerts, const char *kind, const char *host,
                                   uint64_t now_ns)
{
    struct alert *a = find_firing(alerts, kind, host == NULL ? "" : host);
    if (a == NULL)
        return NULL;
    a->firing = 0;
    a->updated_ns = now_ns;
    return a;
}

int alerts_fires(const struct alerts *alerts, const char *kind, const char *host)
{
    return find_firing(alerts, kind, host) != NULL;
}

int alerts_restore(struct alerts *alerts, const struct wire_alert *alert)
{
    if (alert->id != alerts->count + 1)
        return -HOLTER_ERANGE;
    struct alert *a = add(alerts, alert->kind, alert->host == NULL ? "" : alert->host);
    if (a == NULL)
        return -ENOMEM;
    snprintf(a->title, sizeof(a->title), "%s", alert->title);
    snprintf(a->text, sizeof(a->text), "%s", alert->text == NULL ? "" : alert->text);
    a->rank = alert->rank;
    a->firing = strcmp(alert->state, "firing") == 0;
    a->since_ns = alert->since_ns;
    a->updated_ns = alert->updated_ns;
    return 0;
}

struct wire_alert alert_message(const struct alert *alert, const char *job)
{
    return (struct wire_alert){
        .job = job,
        .id = alert->id,
        .kind = alert->kind,
        .state = alert->firing ? "firing" : "resolved",
        .since_ns = alert->since_ns,
        .updated_ns = alert->updated_ns,
        .title = alert->title,
        .text = alert->text,
        .rank = alert->rank,
        .host = alert->host,
    };
}
