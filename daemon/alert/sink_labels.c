/* The labels of an alert, as sinks deliver them. They identify the alert for those that route and
 * group it, so they are those of its first state. */
#include "daemon/alert/sink.h"
#include "proto/json.h"

#include <inttypes.h>
#include <string.h>

void sink_put_member(FILE *out, int *count, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    json_put_text(out, (*count)++ == 0 ? "" : ",", name, value);
}

void sink_put_labels(FILE *out, const struct sink_delivery *delivery)
{
    const struct wire_alert *a = &delivery->message->alert;
    const struct alert_labels *labels = delivery->labels;
    char region[24] = "", episode[24];
    int count = 0;
    if (delivery->region != 0)
        snprintf(region, sizeof(region), "%" PRIu64, delivery->region);
    snprintf(episode, sizeof(episode), "%" PRIu64, a->id);
    fputs("\"labels\":{", out);
    sink_put_member(out, &count, "alertname",
                    a->rule == NULL || a->rule[0] == '\0' ? a->kind : a->rule);
    sink_put_member(out, &count, "cluster", delivery->cluster);
    sink_put_member(out, &count, "user", labels->user);
    sink_put_member(out, &count, "job", labels->job);
    sink_put_member(out, &count, "job_id", a->job);
    sink_put_member(out, &count, "host", labels->host);
    sink_put_member(out, &count, "kind", a->kind);
    sink_put_member(out, &count, "culprit", labels->culprit);
    sink_put_member(out, &count, "severity", delivery->severity);
    sink_put_member(out, &count, "region", region);
    sink_put_member(out, &count, "episode", episode);
    fputc('}', out);
}

/* In the URL "%j" is the job's id, which is free of characters that a URL would have to escape. */
void sink_put_generator(FILE *out, const struct sink_delivery *delivery)
{
    char url[1024];
    size_t used = 0;
    const char *job = delivery->message->alert.job;
    const size_t length = strlen(job);
    if (delivery->external_url == NULL || delivery->external_url[0] == '\0')
        return;
    for (const char *from = delivery->external_url; *from != '\0'; from++) {
        const int is_job = from[0] == '%' && from[1] == 'j';
        const size_t added = is_job ? length : 1;
        if (used + added >= sizeof(url))
            return; /* no address rather than a part of one */
        memcpy(url + used, is_job ? job : from, added);
        used += added;
        from += is_job;
    }
    url[used] = '\0';
    json_put_text(out, ",", "generatorURL", url);
}
