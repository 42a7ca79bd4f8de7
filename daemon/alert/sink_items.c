/* The alerts that a sink knows, and its queue. */
#include "daemon/alert/sink_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_MAXIMUM 16384u /* alerts that one sink knows */

static struct sink_item **sink_bucket(struct sink *s, const char *job, uint64_t id)
{
    uint64_t hash = id;
    for (; *job != '\0'; job++)
        hash = (hash ^ (unsigned char)*job) * UINT64_C(0x100000001b3);
    return &s->buckets[(hash ^ hash >> 32) % SINK_BUCKETS];
}

struct sink_item *sink_find(struct sink *s, const char *job, uint64_t id)
{
    struct sink_item *item = *sink_bucket(s, job, id);
    while (item != NULL && (item->id != id || strcmp(item->job, job) != 0))
        item = item->in_bucket;
    return item;
}

struct sink_item *sink_add(struct sink *s, const struct wire_alert *alert,
                           const struct alert_labels *labels)
{
    struct sink_item *item = s->items == ITEMS_MAXIMUM ? NULL : calloc(1, sizeof(*item));
    if (item == NULL)
        return NULL;
    struct sink_item **bucket = sink_bucket(s, alert->job, alert->id);
    snprintf(item->job, sizeof(item->job), "%s", alert->job);
    item->id = alert->id;
    item->severity = severity_parse(alert->severity);
    item->region = alert->region;
    item->labels = *labels;
    item->in_bucket = *bucket;
    *bucket = item;
    s->items++;
    return item;
}

int sink_has_undelivered(const struct sink *s, const struct sink_item *item)
{
    return item->stage != item->delivered ||
           (s->type->updates && item->version != item->version_delivered);
}

void sink_dequeue(struct sink *s, struct sink_item *item)
{
    if (!item->queued)
        return;
    *(item->before == NULL ? &s->first : &item->before->after) = item->after;
    *(item->after == NULL ? &s->last : &item->after->before) = item->before;
    item->before = item->after = NULL;
    item->queued = 0;
}

static void sink_enqueue(struct sink *s, struct sink_item *item, uint64_t due_ns)
{
    item->due_ns = due_ns;
    if (item->queued)
        return;
    item->before = s->last;
    *(s->last == NULL ? &s->first : &s->last->after) = item;
    s->last = item;
    item->queued = 1;
}

void sink_drop_item(struct sink *s, struct sink_item *item)
{
    struct sink_item **at = sink_bucket(s, item->job, item->id);
    while (*at != item)
        at = &(*at)->in_bucket;
    *at = item->in_bucket;
    sink_dequeue(s, item);
    wire_buffer_finish(&item->alert);
    free(item);
    s->items--;
}

void sink_schedule(struct sink *s, struct sink_item *item)
{
    if (item->stage != item->delivered) {
        sink_enqueue(s, item, 0);
    } else if (item->stage == STAGE_RESOLVED ||
               (item->forgotten && !sink_has_undelivered(s, item))) {
        sink_drop_item(s, item);
        return;
    } else if (sink_has_undelivered(s, item)) {
        sink_enqueue(s, item, item->delivered_ns + s->sinks->options.update_ns);
    } else if (s->type->repeats) {
        sink_enqueue(s, item, item->delivered_ns + s->rule.repeat_ns);
    } else {
        sink_dequeue(s, item);
        wire_buffer_finish(&item->alert);
    }
    pthread_cond_signal(&s->wake);
}

void sink_forget_job(struct sink *s, const char *job)
{
    for (size_t i = 0; i < SINK_BUCKETS; i++) {
        for (struct sink_item *item = s->buckets[i], *next; item != NULL; item = next) {
            next = item->in_bucket;
            if (strcmp(item->job, job) != 0)
                continue;
            item->forgotten = 1;
            if (!item->busy) /* else after the delivery in progress */
                sink_schedule(s, item);
        }
    }
}

void sink_count_waiting(struct sink *s)
{
    s->waiting = 0;
    for (const struct sink_item *item = s->first; item != NULL; item = item->after)
        s->waiting += (size_t)sink_has_undelivered(s, item);
}
