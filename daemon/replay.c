#include "daemon/replay.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_TOPIC "replay"
#define SLICE_NS UINT64_C(10000000) /* between looks at clients */

struct replay {
    uv_idle_t idle;
    struct jobs *jobs;
    struct recording_cursor *cursor; /* NULL: done */
    struct wire_arena arena;
    uint64_t messages, refused, newest_ns, begun_ns;
};

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void end(struct replay *r, int code)
{
    uv_idle_stop(&r->idle);
    recording_cursor_close(r->cursor);
    r->cursor = NULL;
    wire_arena_finish(&r->arena);
    jobs_replay_end(r->jobs, r->newest_ns);
    if (code != 0)
        log_error("replayed up to message %" PRIu64 ": %s", r->messages, holter_strerror(code));
    else
        log_info("replayed %" PRIu64 " messages in %.1f s", r->messages,
                 (double)(clock_mono_ns() - r->begun_ns) * 1e-9);
}

/* @return 1, 0 at the end, or a negative error */
static int feed(struct replay *r)
{
    struct recorded head;
    struct wire_message message;
    struct job_fault fault = {""};
    const void *bytes;
    size_t length;
    int code = recording_cursor_next(r->cursor, &head, &bytes, &length);
    if (code != 1)
        return code;
    r->messages++;
    r->newest_ns = head.received_ns > r->newest_ns ? head.received_ns : r->newest_ns;
    code = wire_decode(&message, &r->arena, bytes, length, NULL);
    code = code != 0 ? code : jobs_replay_take(r->jobs, &head, &message, &fault);
    /* It was good when it was kept; one that is not any more harms no other. */
    if (code != 0 && r->refused++ == 0)
        log_warn("message %" PRIu64 " is left out: %s", r->messages,
                 fault.text[0] != '\0' ? fault.text : holter_strerror(code));
    return 1;
}

static void on_idle(uv_idle_t *idle)
{
    struct replay *r = idle->data;
    uint64_t begun = clock_mono_ns();
    int code = 1;
    while (code == 1 && clock_mono_ns() - begun < SLICE_NS)
        code = feed(r);
    if (code != 1)
        end(r, code);
}

int replay_create(struct replay **out, uv_loop_t *loop, struct jobs *jobs,
                  struct recording_cursor *cursor, const char *path, char *why, size_t room)
{
    struct job_fault fault = {""};
    struct replay *r = calloc(1, sizeof(*r));
    int code = r == NULL ? -ENOMEM : uv_idle_init(loop, &r->idle);
    if (code != 0) {
        snprintf(why, room, "%s", holter_strerror(code));
        recording_cursor_close(cursor);
        free(r);
        return code;
    }
    r->idle.data = r;
    r->jobs = jobs;
    r->cursor = cursor;
    r->begun_ns = clock_mono_ns();
    *out = r;
    code = jobs_replay_begin(jobs, recording_cursor_job(cursor), path, &fault);
    if (code != 0)
        snprintf(why, room, "%s: %s", path,
                 fault.text[0] != '\0' ? fault.text : holter_strerror(code));
    else
        uv_idle_start(&r->idle, on_idle);
    return code;
}

void replay_destroy(struct replay *r)
{
    if (r == NULL)
        return;
    recording_cursor_close(r->cursor);
    r->cursor = NULL;
    wire_arena_finish(&r->arena);
    uv_close((uv_handle_t *)&r->idle, on_closed);
}
