/* The messages of agents about ranks, byte for byte. */
#include "daemon/job/job_rank_messages.h"

#include "daemon/analysis/tables/array.h"
#include "proto/log.h"

#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "jobs"

void job_rank_messages_finish(struct job_rank_messages *messages)
{
    for (size_t i = 0; i < messages->count; i++)
        free(messages->list[i].bytes);
    free(messages->list);
    *messages = (struct job_rank_messages){0};
}

void job_rank_messages_add(struct job_rank_messages *messages, const char *job,
                           const struct recorded *head, const void *bytes, size_t length)
{
    void *copy = length > JOB_RANK_MESSAGE_BYTES - messages->bytes ? NULL : malloc(length + 1);
    if (copy == NULL || ARRAY_FIT(messages->list, messages->capacity, messages->count + 1) != 0) {
        free(copy);
        if (!messages->full)
            log_warn("job %s: recordings that begin later will not name all ranks", job);
        messages->full = 1;
        return;
    }
    memcpy(copy, bytes, length);
    messages->list[messages->count++] = (struct job_rank_message){*head, copy, length};
    messages->bytes += length;
}

void job_publish_recorded(const struct job_stream *stream, const struct recorded *head,
                          const void *bytes, size_t length)
{
    size_t from = 0;
    do {
        size_t part = length - from < WIRE_PART_BYTES ? length - from : WIRE_PART_BYTES;
        struct wire_recorded message = {.job = stream->job,
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
        job_stream_publish(stream, WIRE_TYPE_RECORDED, &message);
    } while (from < length);
}

void job_rank_messages_publish(const struct job_rank_messages *messages,
                               const struct job_stream *stream, uint64_t at_ns)
{
    for (size_t i = 0; i < messages->count; i++) {
        const struct job_rank_message *kept = &messages->list[i];
        struct recorded head = kept->head;
        head.time_ns = head.received_ns = at_ns;
        job_publish_recorded(stream, &head, kept->bytes, kept->length);
    }
}

void job_rank_messages_copy_state(struct state_bytes *b, struct job_rank_messages *messages)
{
    STATE_VALUE(b, *messages);
    STATE_ARRAY(b, messages->list, messages->count, messages->capacity);
    if (messages->list == NULL)
        messages->count = messages->capacity = 0;
    for (size_t i = 0; i < messages->count; i++)
        state_copy_array(b, &messages->list[i].bytes, 1, messages->list[i].length, 0);
}
