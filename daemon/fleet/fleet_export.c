/* The export of a job: its messages, which the servers have stored, are read again as by a worker
 * that takes the job over from its first message on. It holds no lease and stores nothing, so that
 * it may be done while the job runs. */
#include "daemon/fleet/fleet_state.h"

#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define LOG_TOPIC "fleet"
#define ATTEMPTS 8
#define RECORD_BACKLOG_BYTES ((size_t)64 << 20) /* a recording stops at four times as many */
#define RECORD_PAUSE_NS 1000000L

struct export
{
    struct fleet fleet; /* of which only the worker's part is used */
    struct fleet_nats *nats;
    const struct fleet_export_options *options;
    struct worker_job *job; /* NULL: it has not begun */
    uint64_t read[2];       /* by subject: number of the last message that was read */
};

static struct fleet_event export_event(const struct export *export, uint64_t seq, const void *bytes,
                                       size_t length)
{
    struct fleet_event event = {.seq = seq, .bytes = (uint8_t *)bytes, .length = length};
    snprintf(event.job, sizeof(event.job), "%s", export->options->job);
    return event;
}

static int export_on_journal(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct export *export = user;
    const struct fleet_event event = export_event(export, seq, bytes, length);
    worker_on_journal(&export->fleet, &event);
    export->read[FLEET_OUT] = seq;
    return 0;
}

static int export_on_message(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct export *export = user;
    const struct fleet_event event = export_event(export, seq, bytes, length);
    worker_read_message(&export->fleet, export->job, &event);
    export->read[FLEET_IN] = seq;
    uv_run(export->options->loop, UV_RUN_NOWAIT); /* what was recorded */
    while (jobs_replay_backlog(export->fleet.jobs) > RECORD_BACKLOG_BYTES) {
        const struct timespec pause = {0, RECORD_PAUSE_NS};
        nanosleep(&pause, NULL); /* the disk does not keep up */
    }
    return 0;
}

/* A reader may be put on a server that has just died: try again. */
static int export_read(struct export *export, enum fleet_subject subject, uint64_t last,
                       fleet_on_message *on_message)
{
    int code = -EAGAIN;
    for (int i = 0; i < ATTEMPTS && code == -EAGAIN; i++)
        code = export->read[subject] >= last
                   ? 0
                   : fleet_nats_read(export->nats, subject, export->options->job,
                                     export->read[subject] + 1, last, on_message, export);
    return code;
}

static uint64_t export_window_ns(const struct fleet *fleet)
{
    const struct worker_job *job = fleet->held_count == 0 ? NULL : fleet->held[0];
    return job == NULL || job->close_count == 0 ? 0 : job->closes[0].totals.length_ns;
}

static int export_run(struct export *export, char *why, size_t capacity)
{
    const struct fleet_export_options *options = export->options;
    struct fleet *fleet = &export->fleet;
    uint64_t last = 0, last_message = 0;
    int code = fleet_nats_last(export->nats, FLEET_IN, options->job, &last_message);
    code = code != 0 ? code : fleet_nats_last(export->nats, FLEET_OUT, options->job, &last);
    if (code == 0 && last_message == 0)
        return -HOLTER_ENOJOB;
    code = code != 0 ? code : export_read(export, FLEET_OUT, last, export_on_journal);
    if (code != 0)
        return code;
    fleet->jobs = options->make_jobs(options->user, export_window_ns(fleet), why, capacity);
    if (fleet->jobs == NULL)
        return -HOLTER_EDENIED;
    export->job = worker_begin(fleet, options->job, last_message);
    if (export->job == NULL)
        return -ENOMEM;
    export->read[FLEET_IN] = export->job->position; /* after those of an earlier job of the id */
    code = export_read(export, FLEET_IN, last_message, export_on_message);
    /* What no worker has closed yet is closed as far as it is complete. */
    const uint64_t now = export->job->received_ns;
    jobs_set_watermark(fleet->jobs, options->job, now);
    jobs_advance(fleet->jobs, now, now);
    log_info("job %s: %" PRIu64 " of its messages are exported", options->job,
             export->job->messages);
    return code == 0 && fleet->counts.rejected > 0 ? -HOLTER_ECORRUPT : code;
}

int fleet_export(const struct fleet_export_options *options, char *why, size_t capacity)
{
    struct export export = {.options = options};
    const struct fleet_nats_options nats = {
        .servers = options->servers,
        .cluster = options->cluster == NULL ? FLEET_CLUSTER_DEFAULT : options->cluster,
        .keys = options->keys};
    int code = fleet_nats_connect(&export.nats, &nats, why, capacity);
    if (code != 0)
        return code;
    code = export_run(&export, why, capacity);
    const char *job = options->job;
    if (code == -HOLTER_ENOJOB)
        snprintf(why, capacity, "--export %s: the servers have no messages of such a job", job);
    else if (code == -HOLTER_ECORRUPT)
        snprintf(why, capacity, "--export %s: %" PRIu64 " of its messages were rejected", job,
                 export.fleet.counts.rejected);
    else if (code == -EAGAIN)
        snprintf(why, capacity, "--export %s: no answer of the servers in time", job);
    fleet_nats_close(export.nats);
    worker_finish(&export.fleet);
    wire_arena_finish(&export.fleet.arena);
    return code;
}
