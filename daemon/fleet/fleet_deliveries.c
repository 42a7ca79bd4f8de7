/* Alerts of a worker's jobs on their way to the sinks. An alert is delivered when the journal with
 * it is stored: until then another daemon may go on with the job, and raise it, too. The journal
 * notes afterwards that all sinks have it, and a daemon that takes the job over delivers what has
 * no such note. So an alert is delivered twice only where a worker dies between the two, as while
 * one of several sinks fails. */
#include "daemon/fleet/fleet_state.h"

#include "daemon/analysis/tables/array.h"
#include "proto/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "fleet"

/* An alert whose journal is not known to be stored. */
struct worker_delivery {
    uint64_t token; /* of the journal's publication; 0: not published yet */
    struct alert_labels labels;
    uint8_t *bytes; /* owned: the message */
    size_t length;  /* 0: the job has ended, and another one has its id from then on */
};

/* @param alert  NULL: the job ends */
static void deliveries_add(struct fleet *fleet, struct worker_job *job,
                           const struct wire_alert *alert, const struct fleet_entry *entry)
{
    struct worker_delivery delivery = {.bytes = malloc(entry->length + 1), .length = entry->length};
    if (delivery.bytes == NULL || ARRAY_RESIZE(job->deliveries, job->delivery_count + 1) != 0) {
        log_error("job %s: no memory to deliver an alert", job->id);
        free(delivery.bytes);
        return;
    }
    memcpy(delivery.bytes, entry->bytes, entry->length);
    if (alert != NULL)
        job_labels(jobs_find(fleet->jobs, job->id), alert, &delivery.labels);
    job->deliveries[job->delivery_count++] = delivery;
}

/* Where limits of the stream have removed the begin of the journal, the state of the job has alerts
 * from before it. */
static int deliveries_are_older_than_journal(const struct worker_job *job,
                                             const struct wire_alert *alert)
{
    const size_t at = alert->id - 1;
    return (at >= job->alert_count || job->alerts[at].bytes == NULL) && job->close_count > 0 &&
           alert->updated_ns < job->closes[0].totals.published_ns;
}

int deliveries_restore(struct fleet *fleet, const struct worker_job *job,
                       const struct wire_alert *alert)
{
    struct alert_labels labels;
    const size_t at = alert->id - 1;
    const int is_noted = at < job->alert_count && job->alerts[at].seq <= job->delivered_seq &&
                         strcmp(job->alerts[at].state, alert->state) == 0;
    if (!is_noted && !deliveries_are_older_than_journal(job, alert))
        return 0;
    if (fleet->options.sinks == NULL)
        return 1;
    job_labels(jobs_find(fleet->jobs, job->id), alert, &labels);
    sinks_restore(fleet->options.sinks, alert, &labels);
    return 1;
}

void deliveries_queue(struct fleet *fleet, struct worker_job *job, const struct wire_alert *alert,
                      const struct fleet_entry *entry)
{
    if (fleet->options.sinks != NULL)
        deliveries_add(fleet, job, alert, entry);
}

void deliveries_queue_end(struct fleet *fleet, struct worker_job *job)
{
    const struct fleet_entry end = {.bytes = (const uint8_t *)""};
    if (fleet->options.sinks != NULL)
        deliveries_add(fleet, job, NULL, &end);
}

void deliveries_set_token(struct worker_job *job, uint64_t token)
{
    for (size_t i = job->delivery_count; i > 0 && job->deliveries[i - 1].token == 0; i--)
        job->deliveries[i - 1].token = token;
}

static void deliveries_deliver(struct fleet *fleet, const char *job,
                               const struct worker_delivery *delivery)
{
    struct wire_message message;
    if (delivery->length == 0)
        sinks_forget(fleet->options.sinks, job);
    else if (wire_decode(&message, &fleet->arena, delivery->bytes, delivery->length, NULL) == 0)
        sinks_queue(fleet->options.sinks, &message.alert, &delivery->labels);
}

void deliveries_on_stored(struct fleet *fleet, struct worker_job *job, uint64_t token, uint64_t seq)
{
    size_t done = 0;
    while (done < job->delivery_count && job->deliveries[done].token != 0 &&
           job->deliveries[done].token <= token) {
        deliveries_deliver(fleet, job->id, &job->deliveries[done]);
        free(job->deliveries[done++].bytes);
    }
    job->delivery_count -= done;
    memmove(job->deliveries, job->deliveries + done,
            job->delivery_count * sizeof(*job->deliveries));
    job->queued_seq = seq;
}

void deliveries_note(struct fleet *fleet, struct worker_job *job)
{
    const struct fleet_entry note = {.time_ns = job->queued_seq, .bytes = (const uint8_t *)""};
    if (job->queued_seq == 0 || sinks_have_undelivered(fleet->options.sinks, job->id))
        return;
    job->queued_seq = 0;
    if (fleet_envelope_add(&job->journal, &note) != 0)
        log_error("job %s: no memory for its journal", job->id);
}

void deliveries_finish(struct worker_job *job)
{
    for (size_t i = 0; i < job->delivery_count; i++)
        free(job->deliveries[i].bytes);
    free(job->deliveries);
}
