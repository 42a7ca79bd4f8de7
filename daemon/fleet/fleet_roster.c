/* What the daemons of a fleet tell each other of their jobs, so that each can list all of them. It
 * is not stored: a list is good until the next one, or until it is old. */
#include "daemon/fleet/fleet_state.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>
#include <string.h>

#define ANNOUNCE_NS UINT64_C(1000000000)
#define OLD_NS (5 * ANNOUNCE_NS)
#define ANNOUNCED_JOBS 256u /* of a daemon; the others are listed by itself only */

/* ---- own jobs --------------------------------------------------------------------- */

void roster_announce(struct fleet *fleet)
{
    const uint64_t now = timeline_now(fleet->options.timeline);
    struct fleet_envelope envelope = {0};
    const struct job *job;
    size_t count = 0;
    if (now < fleet->announced_ns + ANNOUNCE_NS)
        return;
    fleet->announced_ns = now;
    struct wire_job_row *rows = calloc(ANNOUNCED_JOBS, sizeof(*rows));
    for (size_t i = 0; rows != NULL && count < ANNOUNCED_JOBS; i++) {
        if ((job = jobs_at(fleet->jobs, i)) == NULL)
            break;
        job_describe(job, &rows[count]);
        rows[count++].daemon = fleet->endpoint;
    }
    const struct wire_status status = {.jobs = rows, .jobs_count = count};
    if (rows != NULL && wire_encode(&fleet->buffer, WIRE_TYPE_STATUS, &status) == 0) {
        const struct fleet_entry entry = {fleet->options.instance, now, fleet->buffer.bytes,
                                          fleet->buffer.length};
        if (fleet_envelope_add(&envelope, &entry) == 0)
            fleet_link_send_all(fleet->link, envelope.bytes, envelope.length);
    }
    fleet_envelope_finish(&envelope);
    free(rows);
}

/* ---- jobs of others --------------------------------------------------------------- */

static void roster_list_finish(struct roster_list *list)
{
    wire_arena_finish(&list->arena);
    free(list->bytes);
    *list = (struct roster_list){0};
}

/* @return of this daemon, or else an old one, which is overwritten; NULL without memory */
static struct roster_list *roster_find_list(struct fleet *fleet, uint64_t daemon, uint64_t now)
{
    size_t at = 0, old = fleet->list_count;
    for (; at < fleet->list_count && fleet->lists[at].daemon != daemon; at++)
        old = fleet->lists[at].at_ns + OLD_NS > now ? old : at;
    at = at < fleet->list_count ? at : old;
    if (at == fleet->list_count) {
        if (ARRAY_RESIZE(fleet->lists, at + 1) != 0)
            return NULL;
        fleet->lists[fleet->list_count++] = (struct roster_list){0};
    }
    roster_list_finish(&fleet->lists[at]);
    return &fleet->lists[at];
}

void roster_note(struct fleet *fleet, const struct fleet_entry *entry)
{
    const uint64_t now = timeline_now(fleet->options.timeline);
    struct roster_list *list = roster_find_list(fleet, entry->instance, now);
    if (list == NULL || (list->bytes = malloc(entry->length)) == NULL)
        return;
    memcpy(list->bytes, entry->bytes, entry->length);
    /* Into memory that lasts as long as the list does. */
    if (wire_decode(&list->message, &list->arena, list->bytes, entry->length, NULL) != 0) {
        roster_list_finish(list);
        return;
    }
    list->daemon = entry->instance;
    list->at_ns = now;
}

size_t fleet_list_jobs(const struct fleet *fleet, struct wire_job_row *rows, size_t count,
                       size_t capacity)
{
    const uint64_t now = fleet == NULL ? 0 : timeline_now(fleet->options.timeline);
    for (size_t i = 0; fleet != NULL && i < fleet->list_count; i++) {
        const struct roster_list *list = &fleet->lists[i];
        if (list->at_ns + OLD_NS <= now)
            continue;
        const struct wire_status *status = &list->message.status;
        for (uint64_t k = 0; k < status->jobs_count && count < capacity; k++) {
            size_t known = 0;
            while (known < count && strcmp(rows[known].job, status->jobs[k].job) != 0)
                known++;
            if (known == count)
                rows[count++] = status->jobs[k];
        }
    }
    return count;
}

void roster_finish(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->list_count; i++)
        roster_list_finish(&fleet->lists[i]);
    free(fleet->lists);
}
