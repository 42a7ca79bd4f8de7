/* The labels by which an alert of a job is routed. */
#include "daemon/alert/alert_labels.h"
#include "daemon/job/job_state.h"
#include "proto/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void job_labels_cut(char *out, size_t capacity, const char *text)
{
    size_t length = utf8_cut(text, strlen(text), capacity - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

/* @return whether the list, which is separated by commas, names exactly one */
static int job_labels_is_single(const char *list)
{
    return list != NULL && list[0] != '\0' && strchr(list, ',') == NULL;
}

/* The host that an alert is about: the one that it names, that of the node or the rank that
 * explains it, or the only one that carries it. */
static const char *job_labels_host(const struct job *job, const struct wire_alert *alert)
{
    if (alert->host != NULL && alert->host[0] != '\0')
        return alert->host;
    if (alert->culprit != NULL && strcmp(alert->culprit, "node") == 0 &&
        job_labels_is_single(alert->culprits))
        return alert->culprits;
    if (alert->rank >= 0) {
        uint32_t node = job_places_find_node(&job->places, (uint64_t)alert->rank);
        if (node != KEY_NONE)
            return job->nodes.list[node]->host;
    }
    return job_labels_is_single(alert->nodes) ? alert->nodes : "";
}

static void job_labels_describe_culprit(const struct wire_alert *alert, char *out, size_t capacity)
{
    char text[640] = "";
    if (alert->culprit != NULL && alert->culprit[0] != '\0')
        snprintf(text, sizeof(text), "%s%s%s", alert->culprit,
                 alert->culprits == NULL || alert->culprits[0] == '\0' ? "" : " ",
                 alert->culprits == NULL ? "" : alert->culprits);
    else if (alert->rank >= 0)
        snprintf(text, sizeof(text), "rank %" PRId64, alert->rank);
    else if (alert->host != NULL && alert->host[0] != '\0')
        snprintf(text, sizeof(text), "node %s", alert->host);
    job_labels_cut(out, capacity, text);
}

void job_labels(const struct job *job, const struct wire_alert *alert, struct alert_labels *out)
{
    const char *slash = strrchr(job->info.app, '/');
    *out = (struct alert_labels){.user = ""};
    job_labels_cut(out->user, sizeof(out->user), job->info.user);
    job_labels_cut(out->job, sizeof(out->job), slash == NULL ? job->info.app : slash + 1);
    job_labels_cut(out->host, sizeof(out->host), job_labels_host(job, alert));
    job_labels_describe_culprit(alert, out->culprit, sizeof(out->culprit));
}
