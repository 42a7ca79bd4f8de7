/* The thread of leases: takes jobs that nobody holds, renews the leases of those that this daemon
 * holds, and subscribes to their messages. What takes long to be read is not read here. */
#include "daemon/fleet/fleet_envelope.h"
#include "daemon/fleet/fleet_link_state.h"

#include "daemon/job/job.h"
#include "holter/clock.h"
#include "holter/condition.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "fleet"
#define RENEWALS 4                  /* in the time of a lease */
#define JOB_LOAD UINT64_C(50000000) /* of a job that was just taken, until the load is measured */
#define HURRY 4                     /* times as often a lease that has expired is tried again */
/* A lease counts as lost for its holder before it does for others. */
#define HOLDER_SHARE(ns) ((ns) / 5 * 4)
#define CHECK_NS UINT64_C(4000000000) /* between two checks of whether messages come */
#define SHORTLY_NS UINT64_C(50000000) /* the past of most jobs is read within that time */

static uint64_t leases_length(const struct fleet_link *link)
{
    return link->options.nats.lease_ns;
}

/* ---- holding ------------------------------------------------------------------ */

static int leases_on_message(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct link_job *job = user;
    struct fleet_event event = {.type = FLEET_MESSAGE, .seq = seq, .length = length};
    if (bytes == NULL) {
        link_request(job->link, LINK_READ_ON, job->id, 0);
        return 0;
    }
    snprintf(event.job, sizeof(event.job), "%s", job->id);
    job->delivered = seq;
    link_post(job->link, &event, bytes);
    return 0;
}

static void leases_set_valid(struct link_job *job, uint64_t since_ns)
{
    struct fleet_link *link = job->link;
    pthread_mutex_lock(&link->mutex);
    job->valid_ns = since_ns + HOLDER_SHARE(leases_length(link));
    pthread_mutex_unlock(&link->mutex);
}

static uint64_t leases_valid_ns(struct link_job *job)
{
    pthread_mutex_lock(&job->link->mutex);
    const uint64_t valid = job->valid_ns;
    pthread_mutex_unlock(&job->link->mutex);
    return valid;
}

static uint64_t leases_journal_last(struct link_job *job)
{
    pthread_mutex_lock(&job->link->mutex);
    const uint64_t last = job->journal_last;
    pthread_mutex_unlock(&job->link->mutex);
    return last;
}

/* Lengthen a lease that has not expired meanwhile. What the loop was sent after that, it has left
 * out: only leases_regain() has it read again. @return whether it was lengthened */
static int leases_extend(struct link_job *job, uint64_t since_ns)
{
    struct fleet_link *link = job->link;
    pthread_mutex_lock(&link->mutex);
    const int lasts = clock_mono_ns() < job->valid_ns;
    if (lasts)
        job->valid_ns = since_ns + HOLDER_SHARE(leases_length(link));
    pthread_mutex_unlock(&link->mutex);
    return lasts;
}

/* @return 0, -ESTALE: it is lost, or -EAGAIN: not answered, or too late */
static int leases_renew(struct link_job *job)
{
    const uint64_t now = clock_mono_ns();
    int code = fleet_nats_renew(job->link->nats, job->id, job->link->options.value, &job->revision);
    return code == 0 && !leases_extend(job, now) ? -EAGAIN : code;
}

static void leases_post(struct link_job *job, enum fleet_event_type type, uint64_t seq)
{
    struct fleet_event event = {.type = type, .seq = seq};
    snprintf(event.job, sizeof(event.job), "%s", job->id);
    link_post(job->link, &event, NULL);
}

/* No message of the job comes after this. */
static void leases_stop_reading(struct link_job *job)
{
    fleet_subscription_close(job->subscription);
    job->subscription = NULL;
}

static int leases_subscribe(struct link_job *job)
{
    return fleet_nats_subscribe(&job->subscription, job->link->nats, job->id, job->delivered + 1,
                                leases_on_message, job);
}

/* A step of one job may wait for the servers: meanwhile no lease may expire. */
static void leases_renew_due(struct fleet_link *link)
{
    const uint64_t now = clock_mono_ns(), soon = now + leases_length(link) / 2;
    for (struct link_job *job = link->jobs; job != NULL; job = job->next) {
        const uint64_t valid = leases_valid_ns(job);
        if (valid > now && valid < soon)
            leases_renew(job);
    }
}

/* A reader may be put on a server that has just died: try again while the lease lasts. */
static int leases_try_subscribe(struct link_job *job)
{
    int code = -EAGAIN;
    for (int i = 0; i < LINK_ATTEMPTS && code == -EAGAIN && fleet_link_holds(job->link, job->id);
         i++) {
        leases_renew_due(job->link);
        code = leases_subscribe(job);
    }
    return code;
}

/* A lease that was acquired again before the first reading began is read a second time. */
static void leases_read_from(struct link_job *job, uint64_t from)
{
    leases_stop_reading(job);
    job->delivered = from - 1;
    job->reads = 1;
    if (leases_try_subscribe(job) == 0)
        fleet_subscription_open(job->subscription); /* or leases_check_reading() tries again */
}

/* @param released  give the lease up, so that another daemon need not wait for its end */
static void leases_drop(struct link_job *job, int released)
{
    struct fleet_link *link = job->link;
    pthread_mutex_lock(&link->mutex);
    job->valid_ns = 0;
    while (link->unread == job)
        pthread_cond_wait(&link->reading, &link->mutex);
    pthread_mutex_unlock(&link->mutex);
    leases_stop_reading(job);
    if (released)
        fleet_nats_release(link->nats, job->revision);
    leases_post(job, FLEET_LOST, 0);
    pthread_mutex_lock(&link->mutex);
    struct link_job **at = &link->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    pthread_mutex_unlock(&link->mutex);
    free(job);
}

static struct link_job *leases_unread(struct fleet_link *link)
{
    pthread_mutex_lock(&link->mutex);
    struct link_job *unread = link->unread;
    pthread_mutex_unlock(&link->mutex);
    return unread;
}

/* One job after the other: what this daemon cannot read at once is better held by others. */
static int leases_must_wait(struct fleet_link *link)
{
    const int waits = leases_unread(link) != NULL;
    link->waits |= waits;
    return waits;
}

/* Have the past of a job read. Where that takes long, leases are renewed meanwhile. */
static void leases_have_past_read(struct fleet_link *link, struct link_job *job)
{
    const uint64_t until = clock_mono_ns() + SHORTLY_NS;
    pthread_mutex_lock(&link->mutex);
    job->next = link->jobs;
    link->jobs = link->unread = job;
    pthread_cond_broadcast(&link->reading);
    while (link->unread == job && clock_mono_ns() < until)
        condition_wait(&link->reading, &link->mutex, until);
    pthread_mutex_unlock(&link->mutex);
}

static void leases_try(struct fleet_link *link, const char *id)
{
    const uint64_t now = clock_mono_ns();
    pthread_mutex_lock(&link->mutex);
    const int is_held = link_find_job(link, id) != NULL;
    pthread_mutex_unlock(&link->mutex);
    struct link_job *job = is_held || leases_must_wait(link) ? NULL : calloc(1, sizeof(*job));
    if (job == NULL)
        return;
    *job = (struct link_job){.link = link};
    snprintf(job->id, sizeof(job->id), "%s", id);
    if (fleet_nats_acquire(link->nats, id, link->options.value, &job->revision) != 0) {
        free(job);
        return;
    }
    leases_set_valid(job, now);
    log_info("job %s: held by this daemon", id);
    link->load += JOB_LOAD;
    leases_have_past_read(link, job);
}

static void leases_drop_failed(struct fleet_link *link)
{
    for (struct link_job *job = link->jobs, *next; job != NULL; job = next) {
        next = job->next;
        pthread_mutex_lock(&link->mutex);
        const int code = job->failed;
        pthread_mutex_unlock(&link->mutex);
        if (code == 0)
            continue;
        log_warn("job %s: cannot be read from the servers: %s", job->id, holter_strerror(code));
        leases_drop(job, 1);
    }
}

/* ---- what is to be done ---------------------------------------------------------- */

static void leases_read_on(struct link_job *job)
{
    leases_stop_reading(job);
    if (leases_subscribe(job) == 0)
        fleet_subscription_open(job->subscription);
}

/* libnats sets an interrupted reading up again by itself; should that fail, this one does. */
static void leases_check_reading(struct link_job *job)
{
    const uint64_t now = clock_mono_ns();
    uint64_t newest;
    if (!job->reads || now - job->checked_ns < CHECK_NS ||
        fleet_nats_last(job->link->nats, FLEET_IN, job->id, &newest) != 0)
        return;
    const uint64_t delivered = job->delivered;
    job->checked_ns = now;
    const int stuck = job->behind != 0 && delivered < job->behind;
    job->behind = newest > delivered ? delivered + 1 : 0;
    if (stuck || !fleet_subscription_is_valid(job->subscription))
        leases_read_on(job);
}

/* Servers that elect a leader renew no lease. Where the journal is as this daemon left it, it goes
 * on with what it has. @return 0, -ESTALE: another daemon has gone on with the job, or -EAGAIN */
static int leases_regain(struct link_job *job)
{
    struct fleet_nats *nats = job->link->nats;
    const uint64_t now = clock_mono_ns(), known = leases_journal_last(job);
    uint64_t last = 0, newest = 0;
    if (leases_valid_ns(job) == 0)
        return -ESTALE;
    leases_stop_reading(job);
    job->reads = 0;
    int code = fleet_nats_acquire(nats, job->id, job->link->options.value, &job->revision);
    code = code == 0 ? fleet_nats_last(nats, FLEET_OUT, job->id, &last) : code;
    code = code == 0 ? fleet_nats_last(nats, FLEET_IN, job->id, &newest) : code;
    if (code != 0)
        return code == -EEXIST ? -ESTALE : code;
    if (last != known && last != 0) { /* 0: limits of the stream have removed the journal */
        /* The entry may be one of its own, whose answer has come just now or is still to come. */
        if (link_queue_backlog(&job->link->journals) > 0 || leases_journal_last(job) != known)
            return -EAGAIN;
        fleet_nats_release(nats, job->revision);
        return -ESTALE;
    }
    leases_set_valid(job, now);
    leases_post(job, FLEET_REGAINED, newest);
    log_info("job %s: held again, nobody else has gone on with it", job->id);
    return 0;
}

/* Another daemon has created the stream again, which was deleted, or lost with the servers' store.
 */
static void leases_check_stream(struct fleet_link *link)
{
    const uint64_t made_ns = fleet_nats_stream_made_ns(link->nats), before = link->made_ns;
    if (made_ns == 0 || made_ns == before)
        return;
    link->made_ns = made_ns;
    if (before == 0)
        return;
    log_warn("the stream holter_%s was created again: its jobs are read from their first message",
             link->options.nats.cluster);
    while (link->jobs != NULL)
        leases_drop(link->jobs, fleet_link_holds(link, link->jobs->id));
}

/* @return whether all leases that this daemon had are held */
static int leases_renew_all(struct fleet_link *link)
{
    int held = 1;
    for (struct link_job *job = link->jobs, *next; job != NULL && !link->stops_leasing;
         job = next) {
        next = job->next;
        const int holds = fleet_link_holds(link, job->id);
        if (!holds && leases_unread(link) == job)
            continue; /* its reader gives up */
        const int code = holds ? leases_renew(job) : leases_regain(job);
        if (code == -ESTALE) {
            log_warn("job %s: another daemon holds it", job->id);
            leases_drop(job, 0);
        } else if (holds) {
            leases_check_reading(job);
        }
        held &= holds || code != -EAGAIN;
    }
    return held;
}

/* ---- load --------------------------------------------------------------------------- */

/* Measure the load of this daemon since the last time, and announce it. */
static void leases_announce_load(struct fleet_link *link)
{
    struct fleet_envelope envelope = {0};
    const uint64_t now = clock_mono_ns(), used_ns = clock_process_cpu_ns();
    const double seconds = (double)(now - link->measured_ns) / 1e9;
    if (link->measured_ns != 0 && seconds > 0)
        link->load = (uint64_t)((double)(used_ns - link->used_ns) / seconds);
    link->measured_ns = now;
    link->used_ns = used_ns;
    const struct fleet_entry entry = {link->run, link->load, (const uint8_t *)"", 0};
    if (fleet_envelope_add(&envelope, &entry) == 0)
        fleet_nats_send_all(link->nats, envelope.bytes, envelope.length);
    fleet_envelope_finish(&envelope);
}

/* Has no daemon that lives a smaller load? */
static int leases_has_least_load(struct fleet_link *link)
{
    const uint64_t now = clock_mono_ns(), recent = 2 * leases_length(link) / RENEWALS;
    pthread_mutex_lock(&link->mutex);
    const int is_least = fleet_balance_is_least(&link->balance, link->run, link->load,
                                                now > recent ? now - recent : 0);
    pthread_mutex_unlock(&link->mutex);
    return is_least;
}

/* ---- jobs that nobody holds ---------------------------------------------------------- */

/* A key that is marked as deleted is listed, and has no value. */
static int leases_is_running(struct fleet_link *link, const char *id)
{
    char value[NATS_VALUE_BYTES];
    return fleet_nats_get(link->nats, FLEET_JOBS, id, value) == 0 && value[0] != '\0';
}

/* Take them, where no other daemon has a smaller load; and those that no other daemon has taken
 * since the last look. */
static void leases_look_for_jobs(struct fleet_link *link)
{
    struct fleet_jobs jobs = {0}, held = {0};
    if (fleet_nats_list(link->nats, FLEET_JOBS, &jobs) == 0 &&
        fleet_nats_list(link->nats, FLEET_LEASES, &held) == 0) {
        size_t vacant = 0;
        for (size_t i = 0; i < jobs.count && !link->stops_leasing; i++) {
            if (!job_id_valid(jobs.ids[i]) || fleet_jobs_contain(&held, jobs.ids[i]))
                continue;
            if (leases_must_wait(link) ||
                !(fleet_jobs_contain(&link->vacant, jobs.ids[i]) || leases_has_least_load(link)))
                memmove(jobs.ids[vacant++], jobs.ids[i], sizeof(jobs.ids[i]));
            else if (leases_is_running(link, jobs.ids[i]))
                leases_try(link, jobs.ids[i]);
        }
        jobs.count = vacant;
        fleet_jobs_finish(&link->vacant);
        link->vacant = jobs;
        jobs = (struct fleet_jobs){0};
    }
    fleet_jobs_finish(&jobs);
    fleet_jobs_finish(&held);
}

static void leases_note(struct fleet_link *link, const char *id)
{
    char value[NATS_VALUE_BYTES];
    if (fleet_nats_get(link->nats, FLEET_LEASES, id, value) == 0 && value[0] != '\0')
        return;
    fleet_nats_put(link->nats, id, "running");
    if (leases_has_least_load(link))
        leases_try(link, id);
}

static void leases_serve(struct fleet_link *link, const struct link_request *request)
{
    pthread_mutex_lock(&link->mutex);
    struct link_job *job = link_find_job(link, request->job);
    pthread_mutex_unlock(&link->mutex);
    switch (request->type) {
    case LINK_NOTE:
        leases_note(link, request->job);
        break;
    case LINK_RUNNING:
        fleet_nats_put(link->nats, request->job, "running");
        break;
    case LINK_ENDED: /* nobody takes it over */
        fleet_nats_forget(link->nats, request->job);
        fleet_nats_delete(link->nats, FLEET_STATE, request->job, UINT64_MAX);
        break;
    case LINK_READ:
        if (job != NULL)
            leases_read_from(job, request->from);
        break;
    case LINK_READ_ON:
        if (job != NULL && job->reads && !fleet_subscription_is_valid(job->subscription)) {
            log_info("job %s: messages came faster than they were read: reading again", job->id);
            leases_read_on(job);
        }
        break;
    case LINK_RELEASE:
        if (job != NULL)
            leases_drop(job, 1);
        break;
    }
}

/* The next one can be taken. */
static void leases_on_read(struct fleet_link *link)
{
    leases_drop_failed(link);
    if (link->waits) {
        link->waits = 0;
        leases_look_for_jobs(link);
    }
}

void *link_run_leases(void *user)
{
    struct fleet_link *link = user;
    const uint64_t interval = leases_length(link) / RENEWALS;
    uint64_t due = clock_mono_ns(), ask_due = due;
    for (;;) {
        const uint64_t wake = due < ask_due ? due : ask_due;
        pthread_mutex_lock(&link->mutex);
        while (link->first_request == NULL && !link->was_read && !link->stops_leasing &&
               clock_mono_ns() < wake)
            condition_wait(&link->requested, &link->mutex, wake);
        const int stops = link->stops_leasing;
        const int was_read = link->was_read && !stops;
        link->was_read = 0;
        struct link_request *request = stops ? NULL : link->first_request;
        if (request != NULL) {
            link->first_request = request->next;
            if (request->next == NULL)
                link->last_request = &link->first_request;
        }
        pthread_mutex_unlock(&link->mutex);
        if (request != NULL) {
            leases_serve(link, request);
            free(request);
        }
        if (was_read)
            leases_on_read(link);
        if (stops)
            break;
        if (clock_mono_ns() >= ask_due) {
            link_ask_clock(link);
            ask_due = clock_mono_ns() + FLEET_CLOCK_ASK_NS;
        }
        if (clock_mono_ns() < due)
            continue;
        leases_check_stream(link);
        const int held = leases_renew_all(link);
        if (link->stops_leasing)
            break;
        leases_announce_load(link);
        leases_look_for_jobs(link);
        /* Before others look for jobs that nobody holds. */
        due = clock_mono_ns() + (held ? interval : interval / HURRY);
    }
    while (link->jobs != NULL)
        leases_drop(link->jobs, 1);
    return NULL;
}
