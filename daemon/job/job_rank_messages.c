#include "daemon/job/job_rank_messages.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_state.h"
#include "proto/log.h"

#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "jobs"

void job_said_finish(struct job_said *said)
{
    for (size_t i = 0; i < said->count; i++)
        free(said->list[i].bytes);
    free(said->list);
    *said = (struct job_said){0};
}

void job_keep_said(struct job *job, const struct recorded *head, const void *bytes, size_t length)
{
    struct job_said *said = &job->said;
    void *copy = length > JOB_SAID_BYTES - said->bytes ? NULL : malloc(length + 1);
    if (copy == NULL || array_fit(&said->list, sizeof(*said->list), &said->room, said->count + 1)) {
        free(copy);
        if (!said->full)
            log_warn("job %s: recordings that begin later will not tell all ranks", job->id);
        said->full = 1;
        return;
    }
    memcpy(copy, bytes, length);
    said->list[said->count++] = (struct job_said_message){*head, copy, length};
    said->bytes += length;
}

void job_publish_recorded(const struct job *job, const struct job_output *output,
                          const struct recorded *head, const void *bytes, size_t length)
{
    size_t from = 0;
    do {
        size_t part = length - from < WIRE_PART_BYTES ? length - from : WIRE_PART_BYTES;
        struct wire_recorded message = {.job = job->id,
                                        .type = head->type,
                                        .instance = head->instance,
                                        .seq = head->seq,
                                        .window = head->window,
                                        .time_ns = head->time_ns,
                                        .received_ns = head->received_ns,
                                        .bytes = (const uint8_t *)bytes + from,
                                        .bytes_count = part,
                                        .offset = from};
        from += part;
        message.more = from < length;
        output->publish(output->user, job->id, WIRE_TYPE_RECORDED, &message);
    } while (from < length);
}

void job_publish_said(const struct job *job, const struct job_output *output)
{
    for (size_t i = 0; i < job->said.count; i++) {
        const struct job_said_message *kept = &job->said.list[i];
        struct recorded head = kept->head;
        head.time_ns = head.received_ns = job->heard_ns;
        job_publish_recorded(job, output, &head, kept->bytes, kept->length);
    }
}

void job_tell_recorded(const struct job *job, const struct recorded *head, const void *bytes,
                       size_t length)
{
    if (job_wanted(job, WIRE_TYPE_RECORDED))
        job_publish_recorded(job, &job->output, head, bytes, length);
}
