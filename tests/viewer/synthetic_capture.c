#include "tests/viewer/synthetic.h"

#include "holter/call.h"
#include "holter/event.h"

#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 5, STEP_NS = 1000000 };

static const struct wire_comm_row comms[] = {{.id = 0, .name = ""},
                                             {.id = 1, .name = "MPI_COMM_WORLD"}};
static const struct wire_region_row regions[] = {{.name = ""}, {.name = "halo exchange"}};

/* Call k of a rank, of a halo exchange of one millisecond for each five: the last one has not
 * returned. */
static struct wire_capture_event_row call_of(const struct synthetic *j, uint32_t rank, uint32_t k,
                                             uint32_t calls)
{
    static const char *const names[KINDS] = {"MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Iprobe",
                                             "MPI_Allreduce"};
    static const uint64_t lengths[KINDS] = {1000, 4000, 400000, 2000, 250000};
    static const int64_t begins[KINDS] = {0, 10000, 20000, 500000, 600000};
    uint32_t step = (calls - 1 - k) / KINDS, kind = KINDS - 1 - (calls - 1 - k) % KINDS;
    int late = rank % 8 == 5 && kind == 2, last = k + 1 == calls;
    int64_t begin = begins[kind] - STEP_NS * (int64_t)(step + 1);
    return (struct wire_capture_event_row){
        .number = 1000 + k,
        .kind = EVENT_CALL,
        .call = call_by_name(names[kind]),
        .begin_ns = begin,
        .length_ns = last ? (uint64_t)-begin : lengths[kind] + (late ? 60000 : 0),
        .running = last != 0,
        .peer = kind < 2 ? (int64_t)((rank + 1) % j->ranks) : PEER_NONE,
        .tag = kind < 2 ? 7 : TAG_NONE,
        .comm = 1,
        .region = kind < 3,
        .bytes = kind == 1   ? 65536
                 : kind == 4 ? 8
                             : 0,
        .bytes_in = kind == 4 ? 8 : 0,
        .flags = kind == 0   ? EVENT_RECV | EVENT_POST
                 : kind == 1 ? EVENT_SEND | EVENT_POST
                             : 0,
        .source = PEER_NONE,
        .source_tag = TAG_NONE,
    };
}

/* The end of an exchange completes the message of the rank below, which was asked for at its begin.
 */
static void complete(const struct synthetic *j, uint32_t rank, struct wire_capture_event_row *e)
{
    if (e->call != call_by_name("MPI_Waitall") || e->running)
        return;
    e->peer = (int64_t)((rank + j->ranks - 1) % j->ranks);
    e->tag = 7;
    e->bytes = 65536;
    e->request = 1;
    e->flags = EVENT_RECV | EVENT_DONE;
    e->posted_ns = e->begin_ns - 20000;
}

void synthetic_capture(const struct synthetic *j, const struct synthetic_capture *c, int snapshot,
                       synthetic_sink *sink, void *user)
{
    struct wire_capture_thread_row *threads = calloc(j->per_node, sizeof *threads);
    struct wire_capture_event_row *events = calloc((size_t)j->per_node * c->calls, sizeof *events);
    uint64_t at = j->window * SYNTHETIC_SECOND + (uint64_t)c->id * 20000000;
    char reason[64];
    snprintf(reason, sizeof reason, c->alert ? "alert %llu: latency grows" : "asked for by hand",
             (unsigned long long)c->alert);
    for (uint32_t node = 0; node < j->nodes; node++) {
        uint64_t count = 0, first = (uint64_t)node * j->per_node;
        for (; count < j->per_node && first + count < j->ranks; count++) {
            threads[count] = (struct wire_capture_thread_row){.rank = first + count};
            for (uint32_t k = 0; k < c->calls; k++) {
                struct wire_capture_event_row *e = &events[count * c->calls + k];
                *e = call_of(j, (uint32_t)(first + count), k, c->calls);
                e->thread = count;
                if (c->messages)
                    complete(j, (uint32_t)(first + count), e);
            }
        }
        struct wire_message m = {.type = WIRE_TYPE_CAPTURE};
        m.capture = (struct wire_capture){.job = "48213.0",
                                          .id = c->id,
                                          .asked_ns = at,
                                          .reason = reason,
                                          .alert = c->alert,
                                          .nodes = j->nodes,
                                          .answered = node + 1,
                                          .host = j->names[node],
                                          .at_ns = at + 300000,
                                          .clock_error_ns = 6400,
                                          .threads = threads,
                                          .threads_count = count,
                                          .events = events,
                                          .events_count = count * c->calls,
                                          .comms = comms,
                                          .comms_count = 2,
                                          .regions = regions,
                                          .regions_count = 2,
                                          .fault = node == 0 && c->fault ? c->fault : ""};
        sink(user, &m, snapshot);
    }
    free(threads);
    free(events);
}
