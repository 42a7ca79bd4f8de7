/* What agents captured of a job: the newest records of ranks, published and kept. */
#include "daemon/job/job_captures.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_validate.h"
#include "holter/error.h"
#include "proto/capture_request.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "jobs"
/* Maximum of skipped capture numbers: those of which no message has arrived. */
#define MAXIMUM_SKIPPED_IDS (1u << 20)

void job_captures_finish(struct job_captures *captures)
{
    for (size_t i = 0; i < captures->count; i++)
        free(captures->list[i].bytes);
    free(captures->list);
    wire_buffer_finish(&captures->buffer);
    wire_arena_finish(&captures->arena);
    *captures = (struct job_captures){0};
}

/* ---- receiving ----------------------------------------------------------- */

static int job_captures_validate_event(const struct wire_captured *captured, uint64_t i,
                                       struct job_fault *fault)
{
    const struct wire_capture_event_row *e = &captured->events[i];
    if (e->thread >= captured->threads_count)
        return job_reject(fault, -HOLTER_ERANGE,
                          "captured.events[%" PRIu64 "].thread is %" PRIu64 " of %" PRIu64, i,
                          e->thread, captured->threads_count);
    if (e->comm != 0 && e->comm >= captured->comms_count)
        return job_reject(fault, -HOLTER_ERANGE,
                          "captured.events[%" PRIu64 "].comm is %" PRIu64 " of %" PRIu64, i,
                          e->comm, captured->comms_count);
    if (e->region != 0 && e->region >= captured->regions_count)
        return job_reject(fault, -HOLTER_ERANGE,
                          "captured.events[%" PRIu64 "].region is %" PRIu64 " of %" PRIu64, i,
                          e->region, captured->regions_count);
    if (e->kind == 0)
        return job_reject(fault, -HOLTER_ERANGE, "captured.events[%" PRIu64 "].kind is 0", i);
    return 0;
}

int job_captures_validate(const struct job_captures *captures, const struct wire_captured *captured,
                          struct job_fault *fault)
{
    int code = 0;
    if (captured->id > captures->newest_id &&
        captured->id - captures->newest_id > MAXIMUM_SKIPPED_IDS)
        return job_reject(fault, -HOLTER_ERANGE, "captured.id is %" PRIu64, captured->id);
    for (uint64_t i = 0; i < captured->threads_count; i++) {
        if (captured->threads[i].rank >= JOB_MAXIMUM_RANKS)
            return job_reject(fault, -HOLTER_ERANGE,
                              "captured.threads[%" PRIu64 "].rank is %" PRIu64, i,
                              captured->threads[i].rank);
    }
    for (uint64_t i = 0; i < captured->sources_count; i++) {
        const struct wire_source_row *s = &captured->sources[i];
        if (s->rank >= JOB_MAXIMUM_RANKS || s->source >= JOB_MAXIMUM_RANKS)
            return job_reject(fault, -HOLTER_ERANGE,
                              "captured.sources[%" PRIu64 "] is of rank %" PRIu64
                              " and its neighbour %" PRIu64,
                              i, s->rank, s->source);
    }
    for (uint64_t i = 0; code == 0 && i < captured->events_count; i++)
        code = job_captures_validate_event(captured, i, fault);
    return code;
}

static int job_capture_matches(const struct job_capture *known,
                               const struct wire_captured *captured)
{
    return known->asked_id == captured->id && known->asked_ns == captured->asked_ns &&
           (captured->id != 0 || strcmp(known->host, captured->host) == 0);
}

/* The number of a capture that is new. */
static uint64_t job_captures_assign_id(const struct job_captures *captures,
                                       const struct wire_captured *captured)
{
    for (size_t i = 0; i < captures->known_count; i++) {
        if (captures->known[i].id == captured->id)
            return captures->newest_id + 1;
    }
    return captured->id == 0 ? captures->newest_id + 1 : captured->id;
}

/* The capture that a message belongs to; a new one replaces the oldest. */
static struct job_capture *job_captures_find_or_add(struct job_captures *captures,
                                                    const struct wire_captured *captured)
{
    struct job_capture *oldest = &captures->known[0];
    for (size_t i = 0; i < captures->known_count; i++) {
        if (job_capture_matches(&captures->known[i], captured))
            return &captures->known[i];
        oldest = captures->known[i].id < oldest->id ? &captures->known[i] : oldest;
    }
    struct job_capture fresh = {.id = job_captures_assign_id(captures, captured),
                                .asked_id = captured->id,
                                .asked_ns = captured->asked_ns,
                                .alert = captured->alert};
    if (captured->id == 0)
        snprintf(fresh.host, sizeof(fresh.host), "%s", captured->host);
    if (captures->known_count < JOB_CAPTURES)
        oldest = &captures->known[captures->known_count++];
    *oldest = fresh;
    return oldest;
}

static void job_captures_drop_oldest(struct job_captures *captures, const char *job)
{
    if (!captures->list[0].published && !captures->full) {
        log_warn("job %s: more is captured than can be kept until it is published", job);
        captures->full = 1;
    }
    captures->bytes -= captures->list[0].length;
    free(captures->list[0].bytes);
    captures->count--;
    memmove(captures->list, captures->list + 1, captures->count * sizeof(*captures->list));
}

static int job_captures_store(struct job_captures *captures, const char *job, uint64_t window,
                              const struct wire_capture *message)
{
    int code = wire_encode(&captures->buffer, WIRE_TYPE_CAPTURE, message);
    if (code != 0)
        return code;
    size_t length = captures->buffer.length;
    void *bytes = malloc(length);
    if (bytes == NULL || ARRAY_FIT(captures->list, captures->capacity, captures->count + 1) != 0) {
        free(bytes);
        return -ENOMEM;
    }
    memcpy(bytes, captures->buffer.bytes, length);
    captures->list[captures->count++] = (struct job_capture_message){window, 0, bytes, length};
    captures->bytes += length;
    while (captures->bytes > JOB_CAPTURE_BYTES && captures->count > 1)
        job_captures_drop_oldest(captures, job);
    return 0;
}

int job_captures_add(struct job_captures *captures, const char *job,
                     const struct wire_captured *captured, uint64_t window_ns, uint64_t *id)
{
    struct job_capture *known = job_captures_find_or_add(captures, captured);
    struct wire_capture message = wire_capture_from_captured(captured);
    /* Agents that still use another length of windows, or report wrong times, must not delay it. */
    uint64_t latest = captured->at_ns / window_ns + 1;
    uint64_t window = captured->window < latest ? captured->window : latest;
    message.job = job;
    message.id = known->id;
    message.answered = known->answered + !captured->more;
    message.records = known->records + captured->events_count;
    if (job_captures_store(captures, job, window, &message) != 0)
        return -ENOMEM;
    known->answered = message.answered;
    known->records = message.records;
    captures->newest_id = known->id > captures->newest_id ? known->id : captures->newest_id;
    *id = known->id;
    return 0;
}

/* ---- publishing ---------------------------------------------------------- */

static void job_captures_publish_capture(struct job_captures *captures,
                                         const struct job_stream *stream,
                                         const struct job_capture_message *kept)
{
    struct wire_message message;
    if (wire_decode(&message, &captures->arena, kept->bytes, kept->length, NULL) == 0)
        job_stream_publish(stream, WIRE_TYPE_CAPTURE, &message.capture);
}

void job_captures_publish_due(struct job_captures *captures, const struct job_stream *stream,
                              uint64_t window)
{
    for (size_t i = 0; i < captures->count; i++) {
        if (captures->list[i].published || captures->list[i].window > window)
            continue;
        captures->list[i].published = 1;
        if (job_stream_wants(stream, WIRE_TYPE_CAPTURE))
            job_captures_publish_capture(captures, stream, &captures->list[i]);
    }
}

void job_captures_publish_all(struct job_captures *captures, const struct job_stream *stream)
{
    for (size_t i = 0; i < captures->count; i++) {
        if (captures->list[i].published)
            job_captures_publish_capture(captures, stream, &captures->list[i]);
    }
}

void job_captures_copy_state(struct state_bytes *b, struct job_captures *captures)
{
    STATE_VALUE(b, *captures);
    if (b->reads) {
        captures->buffer = (struct wire_buffer){0};
        captures->arena = (struct wire_arena){0};
    }
    STATE_ARRAY(b, captures->list, captures->count, captures->capacity);
    if (captures->list == NULL)
        captures->count = captures->capacity = 0;
    for (size_t i = 0; i < captures->count; i++)
        state_copy_array(b, &captures->list[i].bytes, 1, captures->list[i].length, 0);
}
