/* The worker: reads the messages of the jobs that this daemon holds, and keeps their journals. */
#include "daemon/fleet/fleet_state.h"

#include "daemon/alert/alerts.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_accept.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "fleet"
#define SAVE_SHARE 20u /* of the loop's time one part, at most, goes into saving a job */
/* A daemon that takes a job over reads the messages since its last state, and closes their windows:
 * it shall take about that time, a small part of a lease, or for a large state as long as saving it
 * so many times: saving takes a seventh of a worker's processor time at most. */
#define READING_NS UINT64_C(500000000)
#define READING_SHARE 6u

/* ---- jobs that are held ---------------------------------------------------------- */

static struct worker_job *worker_find(const struct fleet *fleet, const char *id)
{
    for (size_t i = 0; i < fleet->held_count; i++)
        if (strcmp(fleet->held[i]->id, id) == 0)
            return fleet->held[i];
    return NULL;
}

static struct worker_job *worker_add(struct fleet *fleet, const char *id)
{
    struct worker_job *job = calloc(1, sizeof(*job));
    if (job == NULL || ARRAY_RESIZE(fleet->held, fleet->held_count + 1) != 0) {
        free(job);
        return NULL;
    }
    snprintf(job->id, sizeof(job->id), "%s", id);
    job->running = 1;
    fleet->held[fleet->held_count++] = job;
    return job;
}

static void worker_forget_past(struct worker_job *job)
{
    for (size_t i = 0; i < job->alert_count; i++)
        free(job->alerts[i].bytes);
    free(job->alerts);
    free(job->closes);
    free(job->state);
    job->alerts = NULL;
    job->closes = NULL;
    job->state = NULL;
    job->alert_count = job->close_count = job->close_next = job->state_closes = 0;
    job->lacks_messages = 0;
    job->lost = 0;
}

static void worker_remove(struct fleet *fleet, struct worker_job *job)
{
    size_t at = 0;
    while (fleet->held[at] != job)
        at++;
    fleet->held[at] = fleet->held[--fleet->held_count];
    worker_forget_past(job);
    fleet_envelope_finish(&job->journal);
    deliveries_finish(job);
    free(job);
}

void worker_on_lost(struct fleet *fleet, const char *id)
{
    struct worker_job *job = worker_find(fleet, id);
    if (job == NULL)
        return;
    char name[NATS_JOB_BYTES]; /* the id may be the job's own */
    const int begun = job->begun;
    memcpy(name, job->id, sizeof(name));
    worker_remove(fleet, job);
    if (!begun)
        return;
    fleet->counts.lost++;
    sinks_forget(fleet->options.sinks, name); /* those of the next daemon repeat its alerts */
    jobs_abandon(fleet->jobs, name);
}

/* While the lease has expired, nothing is read and no window closes, until it is known whether
 * another daemon has gone on with the job. */
static int worker_holds(const struct fleet *fleet, const struct worker_job *job)
{
    const int holds = fleet_link_holds(fleet->link, job->id);
    if (!holds)
        jobs_set_watermark(fleet->jobs, job->id, job->received_ns);
    return holds;
}

void fleet_check_leases(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->held_count; i++)
        worker_holds(fleet, fleet->held[i]);
}

void worker_on_regained(struct fleet *fleet, const struct fleet_event *event)
{
    struct worker_job *job = worker_find(fleet, event->job);
    if (job == NULL || !job->begun)
        return;
    job->skips = 0;
    job->newest = event->seq;
    fleet_link_read(fleet->link, job->id, job->position + 1);
}

void worker_on_forgotten(struct fleet *fleet, const char *id)
{
    struct worker_job *job = worker_find(fleet, id);
    if (job == NULL || job->followed)
        return;
    worker_remove(fleet, job);
    sinks_forget(fleet->options.sinks, id);
    /* Nobody takes it over, though its agents may have gone without a word; should they come back,
     * their gateway has it taken again. */
    fleet_link_set_running(fleet->link, id, 0);
    fleet_link_release(fleet->link, id);
}

void worker_finish(struct fleet *fleet)
{
    while (fleet->held_count > 0)
        worker_remove(fleet, fleet->held[0]);
    free(fleet->held);
}

/* ---- the journal of workers before this one ---------------------------------------- */

static int worker_note_close(struct worker_job *job, uint64_t position,
                             const struct wire_totals *totals)
{
    if (ARRAY_RESIZE(job->closes, job->close_count + 1) != 0)
        return -ENOMEM;
    struct worker_close *close = &job->closes[job->close_count++];
    *close = (struct worker_close){position, *totals};
    close->totals.job = job->id;
    return 0;
}

static int worker_note_alert(struct worker_job *job, const struct wire_alert *message,
                             const struct fleet_entry *entry, uint64_t seq)
{
    const uint64_t id = message->id;
    if (id == 0 || id > ALERTS_MAXIMUM)
        return -HOLTER_ERANGE;
    const size_t known = job->alert_count;
    if (id > known) {
        if (ARRAY_RESIZE(job->alerts, id) != 0)
            return -ENOMEM;
        job->alert_count = id;
        memset(&job->alerts[known], 0, (id - known) * sizeof(*job->alerts));
    }
    struct worker_alert *alert = &job->alerts[id - 1];
    if (array_resize(&alert->bytes, entry->length + 1) != 0)
        return -ENOMEM;
    memcpy(alert->bytes, entry->bytes, entry->length);
    alert->length = entry->length;
    if (strcmp(alert->state, message->state) != 0)
        alert->seq = seq;
    snprintf(alert->state, sizeof(alert->state), "%s", message->state);
    return 0;
}

void worker_on_journal(struct fleet *fleet, const struct fleet_event *event)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    struct wire_message message;
    struct worker_job *job = worker_find(fleet, event->job);
    if (job == NULL)
        job = worker_add(fleet, event->job);
    int code = job == NULL ? -ENOMEM : fleet_reader_init(&reader, event->bytes, event->length);
    while (code == 0 && (code = fleet_reader_next(&reader, &entry)) == 1) {
        code = 0;
        if (entry.length == 0 && entry.instance == FLEET_FOLLOWED) {
            worker_forget_past(job);
            job->position = entry.time_ns;
        } else if (entry.length == 0 && entry.instance != 0) /* a state was stored */
            job->state_closes = job->close_count;
        else if (entry.length == 0) /* alerts were delivered */
            job->delivered_seq = entry.time_ns;
        if (entry.length == 0)
            continue;
        code = wire_decode(&message, &fleet->arena, entry.bytes, entry.length, NULL);
        if (code == 0 && message.type == WIRE_TYPE_TOTALS)
            code = worker_note_close(job, reader.position, &message.totals);
        else if (code == 0 && message.type == WIRE_TYPE_ALERT)
            code = worker_note_alert(job, &message.alert, &entry, event->seq);
        else if (code == 0)
            code = -HOLTER_EDENIED;
    }
    if (code != 0)
        fleet_reject(fleet, event->job, holter_strerror(code));
}

void worker_on_saved(struct fleet *fleet, const struct fleet_event *event)
{
    struct worker_job *job = worker_find(fleet, event->job);
    uint8_t *bytes = job == NULL ? NULL : malloc(event->length);
    if (bytes == NULL)
        return; /* the job is read from its first message */
    memcpy(bytes, event->bytes, event->length);
    free(job->state);
    job->state = bytes;
    job->state_length = event->length;
    job->state_position = event->seq;
}

static void worker_restore_alerts(struct fleet *fleet, struct worker_job *job)
{
    struct wire_message message;
    for (size_t i = 0; i < job->alert_count; i++) {
        const struct worker_alert *alert = &job->alerts[i];
        if (alert->bytes == NULL ||
            wire_decode(&message, &fleet->arena, alert->bytes, alert->length, NULL) != 0)
            continue;
        message.alert.job = job->id;
        jobs_resume_alert(fleet->jobs, &message.alert);
    }
}

/* ---- resuming ------------------------------------------------------------------------ */

static void worker_end_resuming(struct fleet *fleet, struct worker_job *job)
{
    job->resuming = 0; /* the job publishes its alerts as they are */
    jobs_resume_end(fleet->jobs, job->id, job->lost == 0 && job->lacks_messages ? 1 : job->lost);
    log_info("job %s: goes on after message %" PRIu64 ", %" PRIu64
             " messages read, %zu windows and %zu alerts of before",
             job->id, job->position, job->messages, job->close_count, job->alert_count);
    worker_forget_past(job);
}

/* @return nodes that had reported the window then, and that have not reported it here */
static uint64_t worker_count_lacking(const struct fleet *fleet, const struct worker_job *job,
                                     const struct worker_close *close)
{
    const uint64_t reported =
        job_count_reported(jobs_find(fleet->jobs, job->id), close->totals.window);
    return close->totals.agents > reported ? close->totals.agents - reported : 0;
}

/* @return where the window was closed before; NULL: the journal does not have it any more */
static const struct worker_close *worker_find_corrected(const struct worker_job *job, size_t at)
{
    const uint64_t window = job->closes[at].totals.window;
    while (at > 0)
        if (job->closes[--at].totals.window == window)
            return &job->closes[at];
    return NULL;
}

/* What the window lacked before its correction is counted already. */
static void worker_close_again(struct fleet *fleet, struct worker_job *job, size_t at)
{
    const struct worker_close *close = &job->closes[at];
    const struct worker_close *corrected =
        close->totals.late ? worker_find_corrected(job, at) : NULL;
    const uint64_t before = corrected == NULL ? 0 : worker_count_lacking(fleet, job, corrected);
    jobs_resume_close(fleet->jobs, &close->totals);
    const uint64_t lacking = worker_count_lacking(fleet, job, close);
    if (lacking > before && (corrected != NULL || !close->totals.late))
        job->lost += lacking - before;
}

/* Close what was closed before a message was read. */
static void worker_close_before(struct fleet *fleet, struct worker_job *job, uint64_t seq)
{
    const uint64_t begun = clock_mono_ns();
    while (job->close_next < job->close_count && job->closes[job->close_next].position < seq)
        worker_close_again(fleet, job, job->close_next++);
    job->reading_ns += clock_mono_ns() - begun;
    if (job->close_next == job->close_count)
        worker_end_resuming(fleet, job);
}

/* From the state that was stored, or where that cannot be used from the first message. */
static int worker_resume(struct fleet *fleet, struct worker_job *job, struct job_fault *fault)
{
    const struct jobs_state state = {job->state, job->state_length};
    int code = job->state == NULL ? 0 : jobs_resume_begin(fleet->jobs, job->id, &state, fault);
    if (job->state != NULL && code == 0) {
        job->position = job->state_position;
        job->close_next = job->state_closes;
        log_info("job %s: its state after message %" PRIu64 " is taken over", job->id,
                 job->position);
        return 0;
    }
    if (code != 0)
        log_warn("job %s: its state cannot be used, it is read from its first message: %s", job->id,
                 holter_strerror(code));
    return jobs_resume_begin(fleet->jobs, job->id, NULL, fault);
}

struct worker_job *worker_begin(struct fleet *fleet, const char *id, uint64_t newest)
{
    struct job_fault fault = {""};
    struct worker_job *job = worker_find(fleet, id);
    if (job == NULL)
        job = worker_add(fleet, id);
    int code = job == NULL ? -ENOMEM : worker_resume(fleet, job, &fault);
    if (code != 0) {
        log_warn("job %s cannot be held: %s", id,
                 fault.text[0] != '\0' ? fault.text : holter_strerror(code));
        if (job != NULL)
            worker_remove(fleet, job);
        return NULL;
    }
    job->begun = job->resuming = 1;
    fleet->counts.taken++;
    job->newest = newest;
    job->saved_ns = clock_mono_ns();
    worker_restore_alerts(fleet, job);
    return job;
}

/* Limits of the stream remove the oldest messages. The journal names some that were there.
 * @param seq  number of the first one that is left; UINT64_MAX: none is */
static void worker_check_first(struct worker_job *job, uint64_t seq)
{
    size_t at = job->close_next;
    while (at < job->close_count && job->closes[at].position <= job->position)
        at++;
    if (at == job->close_count || job->closes[at].position >= seq)
        return;
    job->lacks_messages = 1;
    log_warn("job %s: messages that were not read are not stored any more, and lost, as by limits "
             "of the stream: it goes on after message %" PRIu64,
             job->id, seq == UINT64_MAX ? job->closes[job->close_count - 1].position : seq - 1);
}

void worker_on_acquired(struct fleet *fleet, const struct fleet_event *event)
{
    struct worker_job *job = worker_begin(fleet, event->job, event->seq);
    if (job == NULL) {
        fleet_link_release(fleet->link, event->job);
        return;
    }
    fleet_link_read(fleet->link, job->id, job->position + 1);
    if (job->newest > job->position)
        return;
    worker_check_first(job, UINT64_MAX);
    worker_close_before(fleet, job, UINT64_MAX);
}

/* ---- messages -------------------------------------------------------------------------- */

/* Schedulers give an id again, to a job that is requeued or to a later one: it is a job of its own,
 * as for a single daemon, and a take-over reads its messages only. */
static int worker_follow(struct fleet *fleet, struct worker_job *job, struct job_fault *fault)
{
    const struct fleet_entry note = {FLEET_FOLLOWED, job->position, (const uint8_t *)"", 0};
    log_info("job %s: another job has this id from now on", job->id);
    job->followed = 1;
    int code = jobs_resume_follow(fleet->jobs, job->id, fault);
    deliveries_queue_end(fleet, job);
    job->followed = job->published = job->has_published = 0;
    worker_forget_past(job);
    if (code == 0 && !job->resuming)
        jobs_resume_end(fleet->jobs, job->id, 0);
    return code != 0 ? code : fleet_envelope_add(&job->journal, &note);
}

static int worker_ingest(struct fleet *fleet, struct worker_job *job,
                         const struct fleet_entry *entry, struct job_fault *fault)
{
    struct wire_message message;
    zmq_msg_t bytes;
    int code = wire_decode(&message, &fleet->arena, entry->bytes, entry->length, NULL);
    if (code != 0)
        return code;
    if (message.type == WIRE_TYPE_BYE) {
        jobs_release_agent_of(fleet->jobs, job->id, entry->instance, message.bye.seq);
        return 0;
    }
    if (job_message_seq(&message) == 0 || strcmp(job_message_job(&message), job->id) != 0)
        return -HOLTER_EDENIED;
    if (message.type == WIRE_TYPE_RANKS &&
        jobs_resume_is_followed(fleet->jobs, entry->instance, &message.ranks, entry->time_ns) &&
        (code = worker_follow(fleet, job, fault)) != 0)
        return code;
    if (zmq_msg_init_size(&bytes, entry->length) != 0)
        return -ENOMEM;
    memcpy(zmq_msg_data(&bytes), entry->bytes, entry->length);
    code =
        jobs_resume_ingest(fleet->jobs, entry->instance, &message, &bytes, entry->time_ns, fault);
    zmq_msg_close(&bytes);
    return code;
}

/* One message that is wrong does not keep the others of its envelope from being read. */
static void worker_read_envelope(struct fleet *fleet, struct worker_job *job,
                                 const struct fleet_event *event)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    int next, code = fleet_reader_init(&reader, event->bytes, event->length);
    if (code != 0) {
        fleet_reject(fleet, job->id, holter_strerror(code));
        return;
    }
    while ((next = fleet_reader_next(&reader, &entry)) == 1) {
        struct job_fault fault = {""};
        code = worker_ingest(fleet, job, &entry, &fault);
        if (code != 0)
            fleet_reject(fleet, job->id,
                         fault.text[0] != '\0' ? fault.text : holter_strerror(code));
        if (entry.time_ns > job->received_ns)
            job->received_ns = entry.time_ns;
    }
    if (next < 0)
        fleet_reject(fleet, job->id, holter_strerror(next));
}

void worker_read_message(struct fleet *fleet, struct worker_job *job,
                         const struct fleet_event *event)
{
    if (job->messages == 0)
        worker_check_first(job, event->seq);
    if (job->resuming)
        worker_close_before(fleet, job, event->seq);
    const uint64_t begun = clock_mono_ns();
    worker_read_envelope(fleet, job, event);
    job->reading_ns += clock_mono_ns() - begun;
    job->position = event->seq;
    job->published = 0;
    job->messages++;
    fleet->counts.read++;
    if (job->resuming && event->seq >= job->newest)
        worker_close_before(fleet, job, UINT64_MAX);
}

void worker_on_message(struct fleet *fleet, const struct fleet_event *event)
{
    struct worker_job *job = worker_find(fleet, event->job);
    if (job == NULL || !job->begun || event->seq <= job->position)
        return;
    job->skips |= !worker_holds(fleet, job);
    if (!job->skips)
        worker_read_message(fleet, job, event);
}

/* While messages wait, the job's clock is that of its messages: grace times do not run for what has
 * come already. */
void worker_on_turn(struct fleet *fleet, int empty)
{
    for (size_t i = 0; i < fleet->held_count; i++) {
        const struct worker_job *job = fleet->held[i];
        const int has_all = empty && job->position >= job->newest && !job->skips;
        if (worker_holds(fleet, job))
            jobs_set_watermark(fleet->jobs, job->id, has_all ? UINT64_MAX : job->received_ns);
    }
}

/* ---- what jobs publish -------------------------------------------------------------------- */

static int worker_journals(enum wire_type type)
{
    return type == WIRE_TYPE_TOTALS || type == WIRE_TYPE_ALERT;
}

int worker_wants(const struct fleet *fleet, const char *id, enum wire_type type)
{
    return worker_journals(type) && worker_find(fleet, id) != NULL;
}

void worker_on_publish(struct fleet *fleet, const char *id, enum wire_type type,
                       const void *message)
{
    struct worker_job *job = worker_journals(type) ? worker_find(fleet, id) : NULL;
    if (job == NULL || job->resuming || wire_encode(&fleet->buffer, type, message) != 0)
        return;
    const struct fleet_entry entry = {0, 0, fleet->buffer.bytes, fleet->buffer.length};
    job->published |= type == WIRE_TYPE_TOTALS;
    job->has_published |= type == WIRE_TYPE_TOTALS;
    if (type == WIRE_TYPE_ALERT && deliveries_restore(fleet, job, message))
        return;
    if (fleet_envelope_add(&job->journal, &entry) != 0)
        log_error("job %s: no memory for its journal", id);
    else if (type == WIRE_TYPE_ALERT)
        deliveries_queue(fleet, job, message, &entry);
}

static void worker_flush_journal(struct fleet *fleet, struct worker_job *job)
{
    if (job->journal.length == 0)
        return;
    const uint64_t token = job->delivery_count > 0 ? ++fleet->tokens : 0;
    fleet_envelope_set_position(&job->journal, job->position);
    if (fleet_link_publish(fleet->link, FLEET_OUT, job->id, job->journal.bytes, job->journal.length,
                           token) != 0)
        return;
    deliveries_set_token(job, token);
    job->journal = (struct fleet_envelope){0};
}

/* While the lease has expired, another daemon may have read the journal, and deliver its alerts. */
static void worker_deliver(struct fleet *fleet, struct worker_job *job)
{
    if (job->stored_token == 0 || !worker_holds(fleet, job))
        return;
    deliveries_on_stored(fleet, job, job->stored_token, job->stored_seq);
    job->stored_token = 0;
}

void worker_on_stored(struct fleet *fleet, const struct fleet_event *event)
{
    struct worker_job *job = worker_find(fleet, event->job);
    if (job == NULL || job->delivery_count == 0)
        return;
    job->stored_token = event->token;
    job->stored_seq = event->seq;
    worker_deliver(fleet, job);
}

/* Nothing is read while a job is being saved: best before messages of the next window come. */
static int worker_save_is_due(const struct fleet *fleet, const struct worker_job *job, uint64_t now)
{
    const uint64_t since = now - job->saved_ns, patience = job->published ? 1 : 2;
    const uint64_t cost = job->saving_ns + fleet_link_packing_ns(fleet->link, job->id);
    const uint64_t reading = cost * READING_SHARE > READING_NS ? cost * READING_SHARE : READING_NS;
    return since >= patience * job->saving_ns * SAVE_SHARE &&
           (since >= patience * fleet->options.checkpoint_ns ||
            job->reading_ns >= patience * reading);
}

static void worker_save(struct fleet *fleet, struct worker_job *job)
{
    const uint64_t begun = clock_mono_ns();
    struct state_bytes state = {0};
    if (!job->has_published || !job->running || job->journal.length > 0 ||
        job->position == job->state_position || !worker_save_is_due(fleet, job, begun))
        return;
    int code = jobs_save(fleet->jobs, job->id, &state);
    if (code == 0)
        code = fleet_link_publish_state(fleet->link, job->id, state.bytes, state.length,
                                        job->position);
    if (code == 0) {
        job->state_position = job->position;
        fleet->counts.states++;
    } else {
        free(state.bytes);
    }
    if (code == -HOLTER_EEMPTY)
        return; /* after the next window */
    job->saved_ns = clock_mono_ns();
    job->saving_ns = job->saved_ns - begun;
    log_debug("job %s: saving its state took %" PRIu64 " ms", job->id, job->saving_ns / 1000000);
    job->reading_ns = 0;
}

void worker_tick(struct fleet *fleet)
{
    for (size_t i = fleet->held_count; i-- > 0;) {
        struct worker_job *job = fleet->held[i];
        const struct job *state = jobs_find(fleet->jobs, job->id);
        if (state == NULL || !worker_holds(fleet, job))
            continue;
        worker_deliver(fleet, job);
        deliveries_note(fleet, job);
        worker_flush_journal(fleet, job);
        job->reading_ns += jobs_collect_advancing_ns(fleet->jobs, job->id);
        worker_save(fleet, job);
        const int running = job_state(state) == JOB_RUNNING || job_state(state) == JOB_LOST;
        if (job->resuming || running == job->running)
            continue;
        job->running = running;
        fleet_link_set_running(fleet->link, job->id, running);
    }
}
