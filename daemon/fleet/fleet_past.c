/* The thread that reads what workers of a job before this one left: its journal, and its state.
 * Both may take seconds, in which the thread of leases goes on to renew them. */
#include "daemon/fleet/fleet_link_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int past_on_journal(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct link_job *job = user;
    struct fleet_event event = {.type = FLEET_JOURNAL, .seq = seq, .length = length};
    snprintf(event.job, sizeof(event.job), "%s", job->id);
    link_post(job->link, &event, bytes);
    link_note_saved(&job->saved, bytes, length);
    job->journal_read = seq;
    return fleet_link_holds(job->link, job->id) ? 0 : -EAGAIN;
}

static int past_read_journal(struct link_job *job)
{
    struct fleet_nats *nats = job->link->nats;
    int code = fleet_nats_last(nats, FLEET_OUT, job->id, &job->journal_last);
    if (code != 0 || job->journal_read >= job->journal_last)
        return code;
    return fleet_nats_read(nats, FLEET_OUT, job->id, job->journal_read + 1, job->journal_last,
                           past_on_journal, job);
}

static int past_read_saved(struct link_job *job)
{
    uint8_t *bytes = NULL;
    struct fleet_event event = {.type = FLEET_SAVED, .seq = job->saved.position};
    int code = link_read_saved(job, &bytes, &event.length);
    snprintf(event.job, sizeof(event.job), "%s", job->id);
    if (code == 0 && bytes != NULL)
        link_post(job->link, &event, bytes);
    free(bytes);
    return code;
}

/* A reader may be put on a server that has just died: try again while the lease lasts. */
static int past_attempt(struct link_job *job, int (*step)(struct link_job *job))
{
    int code = -EAGAIN;
    for (int i = 0; i < LINK_ATTEMPTS && code == -EAGAIN && fleet_link_holds(job->link, job->id);
         i++)
        code = step(job);
    return code;
}

/* The loop knows the journal, the state that was stored, and the end of what there is; it says then
 * from where messages are to be read. */
static int past_read(struct link_job *job)
{
    struct fleet_event event = {.type = FLEET_ACQUIRED};
    int code = past_attempt(job, past_read_journal);
    code = code != 0 ? code : past_attempt(job, past_read_saved);
    code = code != 0 ? code : fleet_nats_last(job->link->nats, FLEET_IN, job->id, &event.seq);
    if (code != 0)
        return code;
    pthread_mutex_lock(&job->link->mutex);
    job->begun = 1;
    pthread_mutex_unlock(&job->link->mutex);
    snprintf(event.job, sizeof(event.job), "%s", job->id);
    link_post(job->link, &event, NULL);
    return 0;
}

/* @return NULL: the daemon leaves */
static struct link_job *past_wait_for_job(struct fleet_link *link)
{
    pthread_mutex_lock(&link->mutex);
    while (link->unread == NULL && !link->stops_reading)
        pthread_cond_wait(&link->reading, &link->mutex);
    struct link_job *job = link->unread;
    pthread_mutex_unlock(&link->mutex);
    return job;
}

void *link_run_past(void *user)
{
    struct fleet_link *link = user;
    struct link_job *job;
    while ((job = past_wait_for_job(link)) != NULL) {
        const int code = past_read(job);
        pthread_mutex_lock(&link->mutex);
        job->failed = code;
        link->unread = NULL;
        link->was_read = 1;
        pthread_cond_broadcast(&link->reading);
        pthread_cond_signal(&link->requested);
        pthread_mutex_unlock(&link->mutex);
    }
    return NULL;
}
