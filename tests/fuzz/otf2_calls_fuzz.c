/* OTF2 event records of one or several threads of a rank in any order, valid or not, as MPI calls:
 * each message is passed on once, with its bytes, and the parts of a call are adjacent. */
#include "daemon/import/otf2/otf2_calls.h"
#include "holter/call.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#define THREADS 3u

struct given {
    uint64_t sends, send_bytes, receives, receive_bytes;
};

static void check(struct given *g, uint32_t *parts_left, const struct event *event)
{
    FUZZ_HOLDS(event->seq == 0);
    FUZZ_HOLDS(event->kind == EVENT_CALL || event->kind == EVENT_PART);
    FUZZ_HOLDS(event->t_enter <= event->t_exit);
    FUZZ_HOLDS((event->kind == EVENT_PART) == (*parts_left > 0));
    *parts_left = event->kind == EVENT_CALL ? event->parts : *parts_left - 1;
    if ((event->flags & (EVENT_SEND | EVENT_POST)) == (EVENT_SEND | EVENT_POST)) {
        g->sends++;
        g->send_bytes += event->bytes;
    }
    if ((event->flags & (EVENT_RECV | EVENT_DONE)) == (EVENT_RECV | EVENT_DONE)) {
        g->receives++;
        g->receive_bytes += event->bytes;
    }
}

static void take(struct otf2_calls *calls, struct given *g, uint32_t *parts_left)
{
    struct event events[64];
    uint32_t count;
    while ((count = call_queue_remove(&calls->queue, events, 64)) > 0)
        for (uint32_t i = 0; i < count; i++)
            check(g, parts_left, &events[i]);
}

static void record(struct otf2_calls *calls, const uint8_t *bytes, uint64_t *time)
{
    static const struct otf2_region regions[] = {{OTF2_REGION_CALL, CALL_Waitall, 0},
                                                 {OTF2_REGION_CALL, CALL_Isend, 0},
                                                 {OTF2_REGION_CALL, CALL_Mrecv, 0},
                                                 {OTF2_REGION_CALL, 0, 0},
                                                 {OTF2_REGION_CODE, 0, 1},
                                                 {OTF2_REGION_LOCAL, 0, 0},
                                                 {OTF2_REGION_NONE, 0, 0},
                                                 {OTF2_REGION_CALL, CALL_Start, 0}};
    uint64_t request = bytes[1] % 32;
    *time += bytes[2] % 64 - (bytes[2] >= 250 ? 60u : 0u);
    struct otf2_message message = {.peer = bytes[1] % 8,
                                   .tag = bytes[2] % 4,
                                   .bytes = bytes[1],
                                   .request = request,
                                   .comm = bytes[2] % 3};
    struct otf2_collective collective = {.call = bytes[1] % 2 ? CALL_Bcast : 0, .sent = bytes[1]};
    const struct otf2_region *region = &regions[bytes[1] % 8];
    switch (bytes[0] % 14) {
    case 0:
    case 1:
        otf2_calls_enter(calls, *time, bytes[1] % 8, region);
        break;
    case 2:
    case 3:
        otf2_calls_leave(calls, *time, bytes[1] % 8, region);
        break;
    case 4:
        otf2_calls_send(calls, *time, &message);
        break;
    case 5:
        otf2_calls_isend(calls, *time, &message);
        break;
    case 6:
        otf2_calls_isend_complete(calls, *time, request);
        break;
    case 7:
        otf2_calls_irecv_request(calls, *time, request);
        break;
    case 8:
        otf2_calls_recv(calls, *time, &message);
        break;
    case 9:
        otf2_calls_irecv(calls, *time, &message);
        break;
    case 10:
        otf2_calls_cancelled(calls, *time, request);
        break;
    case 11:
        otf2_calls_collective_end(calls, *time, &collective);
        break;
    case 12:
        otf2_calls_collective_request(calls, *time, request);
        break;
    default:
        otf2_calls_collective_complete(calls, *time, &collective, request);
    }
}

static void add(struct otf2_totals *sum, const struct otf2_totals *t)
{
    sum->sends += t->sends;
    sum->send_bytes += t->send_bytes;
    sum->receives += t->receives;
    sum->receive_bytes += t->receive_bytes;
}

/* The first byte is the number of threads, the first byte of each record the thread that it belongs
 * to. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct otf2_calls calls[THREADS];
    struct request_table requests;
    struct given given = {0};
    struct otf2_totals totals = {0};
    uint32_t parts_left[THREADS] = {0}, threads = size == 0 ? 1 : 1 + data[0] % THREADS;
    uint64_t time[THREADS] = {1000, 1000, 1000};
    request_table_init(&requests);
    for (uint32_t t = 0; t < threads; t++)
        otf2_calls_init(&calls[t], &requests, t, threads);
    for (size_t i = 1; i + 3 <= size; i += 3) {
        uint32_t t = data[i] / 14 % threads;
        record(&calls[t], data + i, &time[t]);
        if (data[i + 2] % 64 == 1)
            call_queue_force(&calls[t].queue, 1);
        if (data[i + 2] % 32 == 2)
            call_queue_join_before(&requests, time[data[i + 1] % threads]);
        if (data[i + 2] % 16 == 0)
            take(&calls[t], &given, &parts_left[t]);
    }
    for (uint32_t t = 0; t < threads; t++)
        otf2_calls_close(&calls[t]);
    for (uint32_t t = 0; t < threads; t++) {
        call_queue_close(&calls[t].queue);
        take(&calls[t], &given, &parts_left[t]);
        FUZZ_HOLDS(calls[t].error == 0 && calls[t].queue.count == 0 && parts_left[t] == 0);
        add(&totals, &calls[t].totals);
        otf2_calls_finish(&calls[t]);
    }
    FUZZ_HOLDS(given.sends == totals.sends && given.send_bytes == totals.send_bytes);
    FUZZ_HOLDS(given.receives == totals.receives);
    FUZZ_HOLDS(given.receive_bytes == totals.receive_bytes);
    request_table_finish(&requests);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    uint64_t random = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    size_t size = 300 * (size_t)(number + 1);
    for (size_t i = 0; i < size; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        out[i] = (uint8_t)(random >> 24);
    }
    return number < 8 ? size : SIZE_MAX;
}
