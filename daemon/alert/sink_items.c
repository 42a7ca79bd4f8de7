#include "daemon/alert/sink_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ITEMS 16384u /* alerts that one sink remembers */

static struct item **bucket_of(struct sink *s, const char *job, uint64_t id)
{
    uint64_t hash = id;
    for (; *job != '\0'; job++)
        hash = (hash ^ (unsigned char)*job) * UINT64_C(0x100000001b3);
    return &s->buckets[(hash ^ hash >> 32) % SINK_BUCKETS];
}

struct item *sink_find(struct sink *s, const char *job, uint64_t id)
{
    struct item *item = *bucket_of(s, job, id);
    while (item != NULL && (item->id != id || strcmp(item->job, job) != 0))
        item = item->in_bucket;
    return item;
}

struct item *sink_add(struct sink *s, const struct wire_alert *alert)
{
    struct item *item = s->items == MOST_ITEMS ? NULL : calloc(1, sizeof(*item));
    if (item == NULL)
        return NULL;
    struct item **bucket = bucket_of(s, alert->job, alert->id);
    snprintf(item->job, sizeof(item->job), "%s", alert->job);
    item->id = alert->id;
    item->severity = severity_of(alert->severity);
    item->region = alert->region;
    item->in_bucket = *bucket;
    *bucket = item;
    s->items++;
    return item;
}

int sink_is_untold(const struct sink *s, const struct item *item)
{
    return item->stage != item->told || (s->type->updates && item->version != item->version_told);
}

void sink_dequeue(struct sink *s, struct item *item)
{
    if (!item->queued)
        return;
    *(item->before == NULL ? &s->first : &item->before->behind) = item->behind;
    *(item->behind == NULL ? &s->last : &item->behind->before) = item->before;
    item->before = item->behind = NULL;
    item->queued = 0;
}

static void enqueue(struct sink *s, struct item *item, uint64_t due_ns)
{
    item->due_ns = due_ns;
    if (item->queued)
        return;
    item->before = s->last;
    *(s->last == NULL ? &s->first : &s->last->behind) = item;
    s->last = item;
    item->queued = 1;
}

void sink_forget(struct sink *s, struct item *item)
{
    struct item **at = bucket_of(s, item->job, item->id);
    while (*at != item)
        at = &(*at)->in_bucket;
    *at = item->in_bucket;
    sink_dequeue(s, item);
    wire_buffer_finish(&item->alert);
    free(item);
    s->items--;
}

/* What is to be done about it next, after it was taken, told, or failed to be. */
void sink_schedule(struct sink *s, struct item *item)
{
    if (item->stage != item->told) {
        enqueue(s, item, 0);
    } else if (item->stage == RESOLVED) {
        sink_forget(s, item);
        return;
    } else if (sink_is_untold(s, item)) {
        enqueue(s, item, item->told_ns + s->sinks->options.update_ns);
    } else if (s->type->repeats) {
        enqueue(s, item, item->told_ns + s->rule.repeat_ns);
    } else {
        sink_dequeue(s, item);
        wire_buffer_finish(&item->alert);
    }
    pthread_cond_signal(&s->wake);
}

void sink_count_waiting(struct sink *s)
{
    s->waiting = 0;
    for (const struct item *item = s->first; item != NULL; item = item->behind)
        s->waiting += (size_t)sink_is_untold(s, item);
}
