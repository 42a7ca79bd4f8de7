/* Measures what the agent costs: its resident memory, and the cost of one watched call. */
#include "agent/host/self.h"

#include "agent/launch/process_file.h"
#include "holter/call.h"
#include "holter/clock.h"
#include "holter/order.h"
#include "holter/segment.h"
#include "holter/ticks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t self_parse_kilobytes(const char *text, const char *label)
{
    const char *at = strstr(text, label);
    return at == NULL ? 0 : strtoull(at + strlen(label), NULL, 10) * 1024;
}

uint64_t self_resident(void)
{
    char text[64 * 1024]; /* the line of groups comes first, with some bytes for each of the user */
    process_file(text, sizeof text, 0, "status");
    return self_parse_kilobytes(text, "RssAnon:") + self_parse_kilobytes(text, "RssFile:");
}

static inline uint64_t self_cpu_time(void)
{
    return TICKS_COUNTED ? ticks_read() : clock_mono_ns();
}

static void self_write_record(struct ring_writer *writer)
{
    struct event *slot = ring_slot(writer);
    ring_put(slot, RING_WORD_T_ENTER, self_cpu_time());
    ring_put(slot, RING_WORD_T_EXIT, 0);
    ring_put(slot, RING_WORD_BYTES, 8);
    ring_put(slot, RING_WORD_BYTES_IN, 0);
    ring_put(slot, RING_WORD_ENDS, ring_ends(1, 1));
    ring_put(slot, RING_WORD_PLACE, ring_place(0, 0, 0));
    ring_put(slot, RING_WORD_WHAT, ring_what(CALL_Send, EVENT_SEND | EVENT_POST, EVENT_CALL, 0));
    ring_enter(writer, slot);
    ring_put(slot, RING_WORD_T_EXIT, self_cpu_time());
    ring_fence();
    ring_put(slot, RING_WORD_WHAT,
             ring_what(CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, EVENT_CALL, 0));
    ring_publish(writer);
}

double self_call_cost(void)
{
    enum { BATCHES = 31, CALLS = 1024 };
    struct ring_control *control = aligned_alloc(64, sizeof *control);
    struct event *slots = aligned_alloc(64, SEGMENT_FIRST_CAPACITY * sizeof *slots);
    double cost = NAN, batches[BATCHES];
    if (control != NULL && slots != NULL) {
        memset(control, 0, sizeof *control);
        memset(slots, 0, SEGMENT_FIRST_CAPACITY * sizeof *slots);
        struct ring_writer writer = {
            .control = control, .slots = slots, .mask = SEGMENT_FIRST_CAPACITY - 1};
        for (int batch = 0; batch < BATCHES; batch++) {
            uint64_t begin = clock_mono_ns();
            for (int i = 0; i < CALLS; i++)
                self_write_record(&writer);
            batches[batch] = (double)(clock_mono_ns() - begin) / CALLS;
        }
        qsort(batches, BATCHES, sizeof *batches, order_doubles);
        cost = batches[BATCHES / 2];
    }
    free(control);
    free(slots);
    return cost;
}
