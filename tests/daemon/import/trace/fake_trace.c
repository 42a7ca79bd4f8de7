#include "tests/daemon/import/trace/fake_trace.h"

#include "holter/call.h"
#include "holter/error.h"
#include "holter/segment.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static const char hosts[][65] = {"alpha", "beta", "gamma"};

/* A stream that waits for the others of its rank returns what begins before a time, or else when
 * it goes on. */
static int fake_next(void *user, uint32_t stream, uint64_t until, struct event *out)
{
    struct fake_trace *f = user;
    until = f->waits ? until : UINT64_MAX;
    const struct event *left = f->events[stream] + f->at[stream];
    uint32_t count = f->count[stream], most = f->batch ? f->batch : TRACE_BATCH, give = 0;
    for (; give < most && f->at[stream] + give < count &&
           (left[give].t_enter < until || until == UINT64_MAX);
         give++)
        out[give] = left[give];
    if (give == 0 && f->at[stream] < count && until != UINT64_MAX) {
        out->t_enter = left->t_enter;
        return -EAGAIN;
    }
    if (give == 0)
        return f->fails[stream] ? -HOLTER_ECORRUPT : 0;
    f->at[stream] += give;
    return (int)give;
}

static int fake_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out)
{
    struct fake_trace *f = user;
    if (slot > 2)
        return 1;
    *out = (struct trace_comm){.id = slot == 0   ? 1
                                     : slot == 1 ? 2
                                                 : 77,
                               .parent = slot == 2 ? 1 : 0,
                               .size = slot == 1 ? 1 : f->job.ranks,
                               .my_rank = slot == 1 ? 0 : (int32_t)rank};
    snprintf(out->name, sizeof(out->name), "%s",
             slot == 0   ? "MPI_COMM_WORLD"
             : slot == 1 ? "MPI_COMM_SELF"
                         : "rows");
    return 0;
}

static const char *fake_region(void *user, uint32_t rank, uint32_t slot)
{
    (void)user;
    (void)rank;
    return slot == 3 ? "solver" : NULL;
}

static void fault(void *user, const char *text)
{
    struct fake_trace *f = user;
    size_t used = strlen(f->told);
    snprintf(f->told + used, sizeof(f->told) - used, "%s\n", text);
}

struct event *fake_trace_add(struct fake_trace *f, uint32_t stream, uint16_t call, uint64_t enter,
                             uint64_t leave)
{
    if (f->count[stream] % 64 == 0) {
        f->events[stream] =
            realloc(f->events[stream], (f->count[stream] + 64) * sizeof(struct event));
        assert_non_null(f->events[stream]);
    }
    struct event *event = &f->events[stream][f->count[stream]++];
    *event = (struct event){.t_enter = enter,
                            .t_exit = leave,
                            .peer = PEER_NONE,
                            .tag = TAG_NONE,
                            .comm = COMM_SLOT_NONE,
                            .call = call,
                            .kind = EVENT_CALL};
    return event;
}

static void message(struct event *event, uint16_t flags, int32_t peer, uint64_t bytes,
                    uint32_t request)
{
    event->flags = flags;
    event->peer = peer;
    event->tag = 5;
    event->bytes = bytes;
    event->request = request;
    event->comm = 0;
}

/* Round i of a rank at 1 ms: to the right and from the left, 100 + i bytes, then an allreduce of 8.
 */
static void add_round(struct fake_trace *f, uint32_t rank, uint32_t i)
{
    uint64_t t = i * MS;
    int32_t size = (int32_t)f->job.ranks, right = ((int32_t)rank + 1) % size;
    int32_t left = ((int32_t)rank + size - 1) % size;
    message(fake_trace_add(f, rank, CALL_Irecv, t + 1000, t + 2000), EVENT_RECV | EVENT_POST, left,
            200, 2 * i + 1);
    message(fake_trace_add(f, rank, CALL_Isend, t + 10000, t + 12000), EVENT_SEND | EVENT_POST,
            right, 100 + i, 2 * i + 2);
    struct event *wait = fake_trace_add(f, rank, CALL_Waitall, t + 20000, t + 60000);
    message(wait, EVENT_RECV | EVENT_DONE, left, 100 + i, 2 * i + 1);
    wait->t_post = t + 1000;
    wait->parts = 1;
    struct event *part = fake_trace_add(f, rank, CALL_Waitall, t + 20000, t + 60000);
    message(part, EVENT_SEND | EVENT_DONE, right, 100 + i, 2 * i + 2);
    part->kind = EVENT_PART;
    part->t_post = t + 10000;
    struct event *reduce = fake_trace_add(f, rank, CALL_Allreduce, t + 100000, t + 200000);
    reduce->comm = 0;
    reduce->bytes = reduce->bytes_in = 8;
}

/* Four ranks on two hosts. */
void fake_trace_set_up_ring(struct fake_trace *f)
{
    *f = (struct fake_trace){.streams = 4};
    for (uint32_t r = 0; r < 4; r++) {
        f->rank_of[r] = r;
        f->host_of[r] = r / 2;
    }
    f->job = (struct trace_job){.name = "ring",
                                .app = "ring",
                                .command = "holter import ring",
                                .mpi = "ring of a test",
                                .ranks = 4,
                                .stream_count = 4,
                                .rank_of = f->rank_of,
                                .host_of = f->host_of,
                                .hosts = hosts,
                                .host_count = 2,
                                .window_ns = 10 * MS,
                                .length_ns = FAKE_TRACE_ROUNDS * MS};
    for (uint32_t i = 0; i < FAKE_TRACE_ROUNDS; i++)
        for (uint32_t r = 0; r < 4; r++)
            add_round(f, r, i);
    assert_int_equal(directory_make(f->directory), 0);
    snprintf(f->path, sizeof(f->path), "%s/trace.hrec", f->directory);
}

void fake_trace_set_up_ring_without_records(struct fake_trace *f)
{
    fake_trace_set_up_ring(f);
    memset(f->count, 0, sizeof(f->count));
}

void fake_trace_finish(struct fake_trace *f)
{
    for (uint32_t s = 0; s < FAKE_TRACE_STREAMS; s++)
        free(f->events[s]);
    directory_remove(f->directory);
}

static void count_window(void *user, uint64_t read, uint64_t all, uint64_t until_ns)
{
    struct fake_trace *f = user;
    (void)read, (void)all, (void)until_ns;
    f->closed++;
}

struct trace_reader fake_trace_reader(struct fake_trace *f)
{
    memset(f->at, 0, sizeof(f->at));
    return (struct trace_reader){
        .user = f, .next = fake_next, .comm = fake_comm, .region = fake_region};
}

int fake_trace_import(struct fake_trace *f, unsigned threads, struct trace_counts *counts)
{
    struct trace_reader reader = fake_trace_reader(f);
    struct trace_wishes wishes = {
        .threads = threads, .on_progress = count_window, .fault = fault, .user = f};
    f->closed = 0;
    memset(counts, 0, sizeof(*counts));
    return trace_import(f->path, &f->job, &reader, &wishes, counts);
}

struct recorded_sums fake_trace_import_all(struct fake_trace *f, unsigned threads,
                                           struct trace_counts *counts)
{
    struct recorded_sums sums;
    if (fake_trace_import(f, threads, counts) != 0)
        fail_msg("%s", f->told);
    recorded_sums_read(&sums, f->path);
    return sums;
}
