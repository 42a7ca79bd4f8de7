/* From the records of a trace to the ends of its messages. */
#include "daemon/import/trace/trace_dependencies.h"

#include "daemon/analysis/tables/key_table.h"
#include "holter/call.h"

#include <errno.h>
#include <stdlib.h>

struct reading {
    const struct trace_job *job;
    const struct trace_reader *reader;
    struct trace_messages *out;
    struct key_table slots;   /* of communicators: rank and slot */
    struct trace_comm *comms; /* owned; by number of the slot */
    size_t comm_capacity;
    uint32_t stream, thread; /* the present stream, and its thread in the calls */
    uint64_t number;         /* of the next record */
    uint64_t entered;        /* entry of the newest call: times that go back are corrected */
};

/* @param comm  set; its id is 0 where it is not known @return 0 or -ENOMEM */
static int trace_dependencies_comm(struct reading *r, uint32_t slot, struct trace_comm *comm)
{
    uint32_t rank = r->job->rank_of[r->stream], known = r->slots.count;
    uint32_t at = KEY_TABLE_EXTEND(&r->slots, ((struct key){rank, slot}), UINT32_MAX, r->comms,
                                   r->comm_capacity);
    if (at == KEY_NONE)
        return -ENOMEM;
    if (at == known && r->reader->comm(r->reader->user, rank, slot, &r->comms[at]) != 0)
        r->comms[at] = (struct trace_comm){.id = 0, .my_rank = -1};
    *comm = r->comms[at];
    return 0;
}

/* Nanoseconds of a tick, as a time. */
static int64_t trace_dependencies_time(const struct reading *r, uint64_t ticks)
{
    uint64_t most = INT64_MAX / 4, begin = r->job->begin_ns > most ? most : r->job->begin_ns;
    return (int64_t)begin + (int64_t)(ticks > most ? most : ticks);
}

static int trace_dependencies_add(struct reading *r, const struct event *e)
{
    struct trace_comm comm = {.id = 0, .my_rank = -1};
    uint64_t enter = e->t_enter < r->entered ? r->entered : e->t_enter;
    uint64_t leave = e->t_exit < enter ? enter : e->t_exit;
    int is_call = e->kind == EVENT_CALL || e->kind == EVENT_PART;
    int has_post = e->flags & EVENT_DONE && e->request != 0 && e->t_post != 0;
    int is_end = is_call && (has_post || e->flags & (EVENT_SEND | EVENT_RECV) ||
                             call_flow_of(e->call) != CALL_FLOW_NONE);
    int error = is_end ? trace_dependencies_comm(r, e->comm, &comm) : 0;
    if (error != 0)
        return error;
    r->entered = enter;
    const struct dependency_record record = {
        .number = r->number++,
        .comm = comm.id,
        .comm_size = comm.size,
        .bytes = e->bytes,
        .begin_ns = trace_dependencies_time(r, enter),
        .end_ns = trace_dependencies_time(r, leave),
        .comm_rank = (uint64_t)(comm.my_rank + INT64_C(1)),
        .posted_ns = trace_dependencies_time(r, has_post ? e->t_post : enter),
        .peer = e->peer,
        .tag = e->tag,
        .request = e->request,
        .started = event_started(e),
        .flags = is_end ? e->flags : 0,
        .call = is_end ? e->call : 0,
    };
    return dependency_calls_add(&r->out->calls, r->thread, &record);
}

/* @return 0 or -ENOMEM */
static int trace_dependencies_stream(struct reading *r, struct event *batch)
{
    uint32_t rank = r->job->rank_of[r->stream], host = r->job->host_of[rank];
    const char *name = host < r->job->host_count ? r->job->hosts[host] : "";
    uint32_t place = dependency_calls_host(&r->out->calls, name, DEPENDENCY_UNKNOWN_ERROR);
    r->thread = dependency_calls_thread(&r->out->calls, rank, r->stream, place, INT64_MAX);
    r->number = r->entered = 0;
    if (r->thread == DEPENDENCY_NONE)
        return -ENOMEM;
    for (;;) {
        int got = r->reader->next(r->reader->user, r->stream, UINT64_MAX, batch), error = 0;
        if (got <= 0) {
            r->out->failed_streams += got < 0;
            return 0;
        }
        for (int i = 0; error == 0 && i < got && i < (int)TRACE_BATCH; i++)
            error = trace_dependencies_add(r, &batch[i]);
        if (error != 0)
            return error;
    }
}

int trace_dependencies(const struct trace_job *job, const struct trace_reader *reader,
                       struct trace_messages *out)
{
    struct reading r = {.job = job, .reader = reader, .out = out};
    struct event *batch = malloc(TRACE_BATCH * sizeof *batch);
    int error = batch == NULL ? -ENOMEM : 0;
    *out = (struct trace_messages){.failed_streams = 0};
    for (; error == 0 && r.stream < job->stream_count; r.stream++)
        error = trace_dependencies_stream(&r, batch);
    key_table_finish(&r.slots);
    free(r.comms);
    free(batch);
    return error;
}
