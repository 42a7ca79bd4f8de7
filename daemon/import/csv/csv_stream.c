/* Conversion of ends of messages to the records that a probe would have written. */
#include "daemon/import/csv/csv_job.h"
#include "holter/call.h"

#include <stdio.h>
#include <sys/param.h>

static struct event csv_stream_record_of(const struct csv_job *job, const struct csv_end *end)
{
    return (struct event){.t_enter = end->enter - job->zero,
                          .t_exit = end->leave - job->zero,
                          .bytes = end->bytes,
                          .peer = end->peer,
                          .tag = end->tag,
                          .comm = end->communicator,
                          .region = end->region,
                          .call = CALL_Recv,
                          .kind = EVENT_CALL};
}

static void csv_stream_note_call(struct csv_stream *s, const struct event *call)
{
    s->last_enter = call->t_enter;
    s->last_exit = call->t_exit;
}

/* Emit the pending send, which ended at `until` at the latest. */
static uint32_t csv_stream_emit_send(struct csv_stream *s, uint64_t until, struct event *out)
{
    if (!s->sends)
        return 0;
    s->sends = 0;
    *out = s->send;
    out->t_exit = MAX(MIN(s->send_leave, until), s->send.t_enter);
    csv_stream_note_call(s, out);
    return 1;
}

/* Emit the place of a receive among those of its channel as a part of the previous call: for posts
 * the order matters, not the time, and the times of records do not decrease. */
static uint32_t csv_stream_emit_post(const struct csv_stream *s, struct event record,
                                     const struct csv_end *end, struct event *out)
{
    record.t_enter = s->last_enter;
    record.t_exit = s->last_exit;
    record.flags = EVENT_RECV | EVENT_POST;
    record.kind = EVENT_PART;
    record.request = end->request;
    *out = record;
    return 1;
}

static uint32_t csv_stream_emit_receive(struct csv_stream *s, struct event record,
                                        const struct csv_end *end, struct event *out)
{
    uint32_t count = csv_stream_emit_send(
        s, record.t_enter >= s->send.t_enter ? record.t_enter : record.t_exit, out);
    record.t_post = record.t_enter;
    record.t_enter = MAX(record.t_enter, MIN(s->last_exit, record.t_exit));
    record.flags = EVENT_RECV | EVENT_DONE;
    record.request = end->request;
    csv_stream_note_call(s, &record);
    out[count] = record;
    return count + 1;
}

/* @return number of emitted records: at most one more than the number of consumed ends */
static uint32_t csv_stream_emit_record(const struct csv_job *job, struct csv_stream *s,
                                       const struct csv_end *end, struct event *out)
{
    struct event record = csv_stream_record_of(job, end);
    uint32_t count = 0;
    if (s->sends && end->at - job->zero >= s->send_leave)
        count = csv_stream_emit_send(s, UINT64_MAX, out);
    if (end->kind == CSV_END_POST)
        return count + csv_stream_emit_post(s, record, end, out + count);
    if (end->kind == CSV_END_RECEIVE)
        return count + csv_stream_emit_receive(s, record, end, out + count);
    count += csv_stream_emit_send(s, record.t_enter, out + count);
    s->send = record;
    s->send.call = end->call;
    s->send.flags = EVENT_SEND | EVENT_POST | EVENT_DONE;
    s->send_leave = record.t_exit;
    s->sends = 1;
    return count;
}

int csv_stream_next(void *user, uint32_t stream, uint64_t until, struct event *out)
{
    (void)until; /* no stream waits for another */
    struct csv_job *job = user;
    struct csv_stream *s = &job->streams[stream];
    struct csv_end ends[TRACE_BATCH - 1];
    uint32_t count = 0;
    while (count == 0) {
        uint32_t got =
            csv_spool_read(job->spool, job->rank_of[stream], s->position, ends, TRACE_BATCH - 1);
        if (got == 0)
            return (int)csv_stream_emit_send(s, UINT64_MAX, out);
        for (uint32_t i = 0; i < got; i++)
            count += csv_stream_emit_record(job, s, &ends[i], out + count);
        s->position += got;
        __atomic_fetch_add(&job->given, got, __ATOMIC_RELAXED);
    }
    return (int)count;
}

/* Slot 0 is MPI_COMM_WORLD. The ids follow the order of names, so that they do not depend on the
 * order of rows. */
int csv_stream_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out)
{
    const struct csv_job *job = user;
    *out = (struct trace_comm){.id = 1, .size = job->ranks, .my_rank = (int32_t)rank};
    if (slot == 0) {
        snprintf(out->name, sizeof(out->name), "MPI_COMM_WORLD");
        return 0;
    }
    if (slot > job->communicators.count)
        return 1;
    *out = (struct trace_comm){.id = 2 + slot, .parent = 1, .my_rank = -1};
    snprintf(out->name, sizeof(out->name), "%s", job->communicators.names[slot - 1]);
    return 0;
}

const char *csv_stream_region(void *user, uint32_t rank, uint32_t slot)
{
    const struct csv_job *job = user;
    (void)rank;
    return slot == 0 || slot > job->regions.count ? NULL : job->regions.names[slot - 1];
}
