#include "daemon/job/job_ingest.h"

#include "daemon/job/job_captures.h"
#include "daemon/job/job_rank_messages.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "proto/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LOG_TOPIC "jobs"

uint64_t job_take_seq(const struct wire_message *message)
{
    switch (message->type) {
    case WIRE_TYPE_WINDOW:
        return message->window.seq;
    case WIRE_TYPE_RANKS:
        return message->ranks.seq;
    case WIRE_TYPE_CAPTURED:
        return message->captured.seq;
    default:
        return 0;
    }
}

const char *job_take_id(const struct wire_message *message)
{
    return message->type == WIRE_TYPE_WINDOW  ? message->window.job
           : message->type == WIRE_TYPE_RANKS ? message->ranks.job
                                              : message->captured.job;
}

uint64_t job_take_world(const struct wire_message *message)
{
    return message->type == WIRE_TYPE_RANKS ? message->ranks.world : 0;
}

int job_take(struct job *job, const struct recorded *head, const struct wire_message *message,
             uint64_t *capture, struct job_fault *fault)
{
    uint64_t now_ns = head->received_ns;
    switch (message->type) {
    case WIRE_TYPE_WINDOW:
        return job_window(job, head->instance, &message->window, now_ns, fault);
    case WIRE_TYPE_RANKS:
        return job_ranks(job, head->instance, &message->ranks, now_ns, fault);
    case WIRE_TYPE_CAPTURED:
        return job_captured(job, head->instance, &message->captured, now_ns, capture, fault);
    default:
        snprintf(fault->text, sizeof(fault->text), "a message of type %s was recorded",
                 wire_type_name(message->type));
        return -HOLTER_EDENIED;
    }
}

/* ---- continuing a recording ---------------------------------------------- */

struct replay {
    struct job *job;
    struct sinks *sinks; /* NULL: none */
    struct wire_arena arena;
    uint64_t messages;
};

static int replay_alert(void *user, const struct wire_alert *alert)
{
    struct replay *replay = user;
    struct wire_alert known = *alert;
    known.job = job_id(replay->job);
    job_restore_alert(replay->job, alert);
    if (replay->sinks != NULL)
        sinks_restore(replay->sinks, &known);
    return 0;
}

static int replay_message(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct replay *replay = user;
    struct wire_message message;
    struct job_fault fault;
    if (job_has(replay->job, head->instance, head->seq))
        return 0; /* parts begin with what was said before */
    if (wire_decode(&message, &replay->arena, bytes, length, NULL) != 0)
        return 0; /* it was good when it was kept; one that is not any more harms no other */
    if (message.type == WIRE_TYPE_RANKS) {
        if (job_ranks(replay->job, head->instance, &message.ranks, head->received_ns, &fault) == 0)
            job_keep_said(replay->job, head, bytes, length);
    } else {
        uint64_t capture;
        job_take(replay->job, head, &message, &capture, &fault);
    }
    job_advance(replay->job, head->received_ns, head->received_ns);
    replay->messages++;
    return 0;
}

static int no_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

void job_continue(struct job *job, struct sinks *sinks, const char *base)
{
    struct replay replay = {.job = job, .sinks = sinks};
    unsigned part, last;
    uint64_t told;
    char path[560];
    if (recording_last_window(base, &told) == 0)
        job_told(job, told);
    job_replaying(job, 1);
    for (recording_parts_find(base, &part, &last); part <= last; part++) {
        struct recording_reader reader = {&replay, part == last ? replay_alert : no_alert,
                                          replay_message};
        if (recording_part_path(base, part, path, sizeof(path)) != 0 || access(path, F_OK) != 0)
            continue;
        int code = recording_read(path, &reader);
        if (code != 0)
            log_error("%s: read back up to message %" PRIu64 ": %s", path, replay.messages,
                      holter_strerror(code));
        else
            log_info("job %s: continued from %s, %" PRIu64 " messages", job_id(job), path,
                     replay.messages);
    }
    job_replaying(job, 0);
    wire_arena_finish(&replay.arena);
    job_set_recording(job, path);
}
