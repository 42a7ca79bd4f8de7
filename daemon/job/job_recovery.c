/* Going on with a job that a daemon before this one recorded. */

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_accept.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "proto/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "jobs"

struct recovery {
    struct job *job;
    struct sinks *sinks; /* NULL: none */
    struct wire_arena arena;
    uint64_t messages;
    uint64_t *firing; /* owned: ids of alerts that fired when the recording ended */
    size_t firing_count;
};

static int recovery_read_alert(void *user, const struct wire_alert *alert)
{
    struct recovery *recovery = user;
    job_restore_alert(recovery->job, alert);
    if (recovery->sinks == NULL || strcmp(alert->state, "firing") != 0)
        return 0;
    if (ARRAY_RESIZE(recovery->firing, recovery->firing_count + 1) != 0)
        return 0; /* its end is not delivered */
    recovery->firing[recovery->firing_count++] = alert->id;
    return 0;
}

/* Sinks receive the firing alerts after the messages were read, which contain what labels name. */
static void recovery_restore_sinks(const struct recovery *recovery)
{
    for (size_t i = 0; i < recovery->firing_count; i++) {
        struct wire_alert alert;
        struct alert_labels labels;
        if (!job_find_alert(recovery->job, recovery->firing[i], &alert))
            continue;
        const int is_over = strcmp(alert.state, "resolved") == 0;
        job_labels(recovery->job, &alert, &labels);
        alert.state = "firing";
        sinks_restore(recovery->sinks, &alert, &labels);
        if (!is_over)
            continue;
        alert.state = "resolved";
        sinks_queue(recovery->sinks, &alert, &labels);
    }
}

static int recovery_skip_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

static int recovery_skip_messages(void *user, const struct recorded *head, const void *bytes,
                                  size_t length)
{
    (void)user;
    (void)head;
    (void)bytes;
    (void)length;
    return 1; /* alerts come first: all were read */
}

static int recovery_read_message(void *user, const struct recorded *head, const void *bytes,
                                 size_t length)
{
    struct recovery *recovery = user;
    struct wire_message message;
    struct job_fault fault;
    uint64_t capture;
    if (job_has_accepted(recovery->job, head->instance, head->seq))
        return 0; /* parts begin with messages that the parts before have too */
    if (wire_decode(&message, &recovery->arena, bytes, length, NULL) != 0)
        return 0; /* it was valid when it was recorded; if it is damaged, the others are not */
    if (job_accept(recovery->job, head, &message, &capture, &fault) == 0 &&
        message.type == WIRE_TYPE_RANKS)
        job_keep_rank_message(recovery->job, head, bytes, length);
    job_advance(recovery->job, head->received_ns, head->received_ns);
    recovery->messages++;
    return 0;
}

void job_recover(struct job *job, struct sinks *sinks, const char *base)
{
    struct recovery recovery = {.job = job, .sinks = sinks};
    const struct recording_reader alerts = {&recovery, recovery_read_alert, recovery_skip_messages},
                                  messages = {&recovery, recovery_skip_alert,
                                              recovery_read_message};
    struct recorded_matches matches;
    unsigned part, last;
    uint64_t window, phase;
    char path[560];
    if (recording_find_last_window(base, &window) == 0)
        job_mark_published(job, window);
    if (recording_find_last_phase(base, &phase) == 0)
        job_mark_phases_published(job, phase);
    job_set_recovering(job, 1);
    recording_parts_find(base, &part, &last);
    if (part > 1 && recording_find_matches(base, &matches) == 0)
        job_set_matches(job, &matches);
    /* The newest part has all alerts. They get their numbers before messages raise them again. */
    if (recording_part_path(base, last, path, sizeof(path)) == 0)
        recording_read(path, &alerts);
    for (; part <= last; part++) {
        if (recording_part_path(base, part, path, sizeof(path)) != 0 || access(path, F_OK) != 0)
            continue;
        int code = recording_read(path, &messages);
        if (code != 0)
            log_error("%s: only some messages could be read back: %s", path, holter_strerror(code));
        else
            log_info("job %s: continued from %s, %" PRIu64 " messages", job_id(job), path,
                     recovery.messages);
    }
    job_set_recovering(job, 0);
    recovery_restore_sinks(&recovery);
    free(recovery.firing);
    wire_arena_finish(&recovery.arena);
    job_set_recording(job, path);
}
