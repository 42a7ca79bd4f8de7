/* Captures: the newest records of the rings, sent when the daemon asks for them. */
#include "agent/node/node_capture.h"
#include "agent/node/windows_stages.h"

#include "holter/error.h"
#include "proto/log.h"
#include "proto/rank_spans.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_TOPIC "capture"
#define DEATH_RECORDS 256u /* of each rank, when one has died */
#define BACKLOG (2u << 20) /* bytes that the daemon has not acknowledged: windows have the rest */

static uint64_t windows_capture_next_seq(void *user)
{
    return journal_next_seq(((struct windows *)user)->journal);
}

/* The oldest messages are windows: they are not dropped for the sake of a capture. */
static int windows_capture_append(void *user, const void *bytes, size_t length)
{
    struct windows *windows = user;
    if (journal_backlog(windows->journal) + length > JOURNAL_BYTES - BACKLOG)
        return -HOLTER_EFULL;
    return windows_append(windows, WIRE_TYPE_CAPTURED, bytes, length);
}

enum occasion { PERSON, ALERT, DEATH };

/* @return why nothing is captured now; NULL: it may be */
static const char *windows_capture_refusal(const struct windows *windows,
                                           const struct node_job *job, enum occasion occasion,
                                           uint64_t now_ns)
{
    uint64_t pause = occasion == PERSON ? WINDOWS_CAPTURE_NS : WINDOWS_CAPTURE_ALERT_NS;
    if (job->captured_ns[occasion] != 0 && now_ns - job->captured_ns[occasion] < pause)
        return "too soon after the capture before";
    if (journal_backlog(windows->journal) > BACKLOG)
        return "the agent has a backlog of windows";
    return NULL;
}

/* Ranks of the job on this node that the capture asks for. @param out  owned by the caller @return
 * 0 or -ENOMEM */
static int windows_capture_list_ranks(const struct windows *windows, const struct node_job *job,
                                      const struct wire_capture_ask *ask, const struct rank ***out,
                                      size_t *count)
{
    uint32_t all = census_ranks(windows->census, job, NULL, 0), wanted = 0;
    const struct rank **ranks = malloc((all + 1) * sizeof *ranks);
    if (ranks == NULL)
        return -ENOMEM;
    census_ranks(windows->census, job, ranks, all);
    for (uint32_t i = 0; i < all; i++)
        if (ask->ranks[0] == '\0' || rank_spans_have(ask->ranks, (uint64_t)ranks[i]->world_rank))
            ranks[wanted++] = ranks[i];
    *out = ranks;
    *count = wanted;
    return 0;
}

static int windows_capture_read_ranks(struct windows *windows, const struct rank **ranks,
                                      size_t count, const char *fault,
                                      const struct wire_capture_ask *ask, uint64_t now_ns)
{
    struct capture_frame frame = {
        .ask = ask,
        .host = windows->host,
        .window = windows->window,
        .tsc = &windows->tsc,
        .plain = &windows->plain,
        .clock = &windows->clock,
        .now_ns = now_ns,
        .ranks = count,
        .next_seq = windows_capture_next_seq,
        .emit = windows_capture_append,
        .user = windows,
    };
    struct capture *capture;
    int rc = capture_create(&capture, &frame);
    if (rc != 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = capture_rank(capture, ranks[i]);
    if (rc == -HOLTER_EFULL)
        fault = "the rest had no room beside the windows";
    if (rc == 0 || rc == -HOLTER_EFULL)
        rc = capture_end(capture, fault);
    capture_destroy(capture);
    return rc;
}

/* @param fault  why nothing is captured; NULL: it is */
static int windows_capture_write(struct windows *windows, struct node_job *job,
                                 const struct wire_capture_ask *ask, const char *fault,
                                 uint64_t now_ns)
{
    const struct rank **ranks = NULL;
    size_t count = 0;
    uint64_t next = journal_next_seq(windows->journal);
    int rc = fault == NULL ? windows_capture_list_ranks(windows, job, ask, &ranks, &count) : 0;
    if (rc == 0)
        rc = windows_capture_read_ranks(windows, ranks, count, fault, ask, now_ns);
    if (rc != 0)
        log_warn("capture %llu of job %s: %s", (unsigned long long)ask->id, job->id,
                 holter_strerror(rc));
    free(ranks);
    if (journal_next_seq(windows->journal) == next)
        return 0;
    windows_commit(windows);
    return 1;
}

int windows_capture(struct windows *windows, const struct wire_capture_ask *ask, uint64_t now_ns)
{
    struct node_job *job = census_find_job(windows->census, ask->job);
    enum occasion occasion = ask->alert == 0 ? PERSON : ALERT;
    if (job == NULL || !windows->clock.known)
        return 0; /* the daemon does not wait for ever */
    const char *fault = windows_capture_refusal(windows, job, occasion, now_ns);
    if (fault == NULL) {
        job->captured_ns[occasion] = now_ns;
        /* A drain finds the threads that have begun since the last one. */
        const struct drain_clocks clocks =
            windows_clocks_until(windows, windows_end_of_open(windows), now_ns);
        windows_drain(windows, &clocks, 1);
    }
    return windows_capture_write(windows, job, ask, fault, now_ns);
}

static int windows_capture_death(struct windows *windows, struct node_job *job, uint64_t now_ns)
{
    char reason[48];
    snprintf(reason, sizeof reason, "rank %llu died", (unsigned long long)job->died);
    struct wire_capture_ask ask = {
        .job = job->id,
        .asked_ns = daemon_clock_best(&windows->clock, now_ns),
        .events = DEATH_RECORDS,
        .ranks = "",
        .reason = reason,
        .nodes = 1,
    };
    job->captured_ns[DEATH] = now_ns;
    return windows_capture_write(windows, job, &ask, NULL, now_ns);
}

int windows_capture_deaths(struct windows *windows, uint64_t now_ns)
{
    int committed = 0;
    for (struct node_job *job = windows->census->jobs; job != NULL; job = job->next) {
        int died = job->has_died;
        job->has_died = 0;
        if (died && windows->clock.known &&
            windows_capture_refusal(windows, job, DEATH, now_ns) == NULL)
            committed |= windows_capture_death(windows, job, now_ns);
    }
    return committed;
}
