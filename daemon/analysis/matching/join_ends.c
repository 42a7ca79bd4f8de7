/* Lists of ends of messages: see join_ends.h. */
#include "daemon/analysis/matching/join_ends.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>

void join_ends_finish(struct join_ends *ends)
{
    free(ends->sends);
    free(ends->receives);
    free(ends->calls);
    free(ends->reporters);
    *ends = (struct join_ends){0};
}

/* Space for so many more. */
static int join_ends_fit(struct join_ends *ends, size_t sends, size_t receives, size_t calls,
                         size_t reporters)
{
    if (ARRAY_FIT(ends->sends, ends->send_capacity, ends->send_count + sends) != 0 ||
        ARRAY_FIT(ends->receives, ends->receive_capacity, ends->receive_count + receives) != 0 ||
        ARRAY_FIT(ends->calls, ends->call_capacity, ends->call_count + calls) != 0 ||
        ARRAY_FIT(ends->reporters, ends->reporter_capacity, ends->reporter_count + reporters) != 0)
        return -ENOMEM;
    return 0;
}

/* ---- from one to another ------------------------------------------------- */

int join_ends_append(struct join_ends *to, const struct join_ends *from)
{
    if (join_ends_count(from) == 0)
        return 0;
    if (join_ends_fit(to, from->send_count, from->receive_count, from->call_count,
                      from->reporter_count) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < from->send_count; i++) {
        struct join_send send = from->sends[i];
        send.reporter += (uint32_t)to->reporter_count;
        to->sends[to->send_count++] = send;
    }
    for (size_t i = 0; i < from->receive_count; i++) {
        struct join_receive receive = from->receives[i];
        receive.call += (uint32_t)to->call_count;
        to->receives[to->receive_count++] = receive;
    }
    for (size_t i = 0; i < from->call_count; i++) {
        to->calls[to->call_count] = from->calls[i];
        to->calls[to->call_count++].reporter += (uint32_t)to->reporter_count;
    }
    for (size_t i = 0; i < from->reporter_count; i++)
        to->reporters[to->reporter_count++] = from->reporters[i];
    return 0;
}

int join_ends_append_send(struct join_ends *to, const struct join_ends *from, size_t at,
                          size_t last)
{
    struct join_send send = from->sends[at];
    const uint32_t reporter = send.reporter & END_PLACE;
    if (join_ends_fit(to, 1, 0, 0, 1) != 0)
        return -ENOMEM;
    if (last == SIZE_MAX || (from->sends[last].reporter & END_PLACE) != reporter)
        to->reporters[to->reporter_count++] = from->reporters[reporter];
    send.reporter &= END_TWICE;
    send.reporter |= (uint32_t)to->reporter_count - 1;
    to->sends[to->send_count++] = send;
    return 0;
}

static void join_ends_append_call(struct join_ends *to, const struct join_ends *from, uint32_t at,
                                  size_t last)
{
    struct join_call call = from->calls[at];
    if (last == SIZE_MAX ||
        join_receive_call(from, &from->receives[last])->reporter != call.reporter)
        to->reporters[to->reporter_count++] = from->reporters[call.reporter];
    call.reporter = (uint32_t)to->reporter_count - 1;
    call.count = 0;
    to->calls[to->call_count++] = call;
}

int join_ends_append_receive(struct join_ends *to, const struct join_ends *from, size_t at,
                             size_t last)
{
    struct join_receive receive = from->receives[at];
    const uint32_t call = receive.call & END_PLACE;
    if (join_ends_fit(to, 0, 1, 1, 1) != 0)
        return -ENOMEM;
    if (last == SIZE_MAX || (from->receives[last].call & END_PLACE) != call)
        join_ends_append_call(to, from, call, last);
    receive.call &= END_TWICE;
    receive.call |= (uint32_t)to->call_count - 1;
    to->calls[to->call_count - 1].count++;
    to->receives[to->receive_count++] = receive;
    return 0;
}

/* Leave out calls that completed none of the receives. */
static void join_ends_keep_calls(struct join_ends *ends)
{
    uint32_t last = UINT32_MAX;
    ends->call_count = 0;
    for (size_t i = 0; i < ends->receive_count; i++) {
        const uint32_t call = ends->receives[i].call & END_PLACE;
        if (call != last) {
            ends->calls[ends->call_count] = ends->calls[call];
            ends->calls[ends->call_count++].count = 0;
        }
        last = call;
        ends->calls[ends->call_count - 1].count++;
        ends->receives[i].call &= ~END_PLACE;
        ends->receives[i].call |= (uint32_t)ends->call_count - 1;
    }
}

/* Remove the tellers that no send or call refers to. Both refer to tellers in ascending order. */
static void join_ends_keep_tellers(struct join_ends *ends)
{
    size_t sends = 0, calls = 0, count = 0;
    while (sends < ends->send_count || calls < ends->call_count) {
        uint32_t reporter = UINT32_MAX;
        if (sends < ends->send_count)
            reporter = ends->sends[sends].reporter & END_PLACE;
        if (calls < ends->call_count && ends->calls[calls].reporter < reporter)
            reporter = ends->calls[calls].reporter;
        ends->reporters[count] = ends->reporters[reporter];
        for (; sends < ends->send_count && (ends->sends[sends].reporter & END_PLACE) == reporter;
             sends++)
            ends->sends[sends].reporter =
                (ends->sends[sends].reporter & ~END_PLACE) | (uint32_t)count;
        for (; calls < ends->call_count && ends->calls[calls].reporter == reporter; calls++)
            ends->calls[calls].reporter = (uint32_t)count;
        count++;
    }
    ends->reporter_count = count;
}

void join_ends_keep(struct join_ends *ends, uint64_t top)
{
    size_t sends = 0, receives = 0;
    for (size_t i = 0; i < ends->send_count; i++)
        if (ends->sends[i].key <= top)
            ends->sends[sends++] = ends->sends[i];
    for (size_t i = 0; i < ends->receive_count; i++)
        if (ends->receives[i].key <= top)
            ends->receives[receives++] = ends->receives[i];
    ends->send_count = sends;
    ends->receive_count = receives;
    join_ends_keep_calls(ends);
    join_ends_keep_tellers(ends);
}

/* ---- writing ------------------------------------------------------------- */

int join_writer_begin(struct join_writer *writer, struct join_ends *ends,
                      const struct join_report *report, uint64_t top)
{
    if (join_ends_fit(ends, report->count, report->count, report->count, 1) != 0)
        return -ENOMEM;
    *writer = (struct join_writer){
        .ends = ends,
        .report = *report,
        .top = top,
        .reporter = (uint32_t)ends->reporter_count - 1,
        .calls = (uint32_t)ends->call_count,
    };
    if (report->count > 0) {
        writer->send = ends->sends + ends->send_count;
        writer->receive = ends->receives + ends->receive_count;
        writer->call = ends->calls + ends->call_count;
    }
    return join_writer_turn(writer, report->error_ns);
}

int join_writer_turn(struct join_writer *writer, uint64_t error_ns)
{
    struct join_ends *ends = writer->ends;
    const uint32_t reporter = writer->reporter + 1;
    if (ARRAY_FIT(ends->reporters, ends->reporter_capacity, (size_t)reporter + 1) != 0)
        return -ENOMEM;
    writer->report.error_ns = error_ns;
    writer->reporter = reporter;
    writer->in_call = false;
    ends->reporters[reporter] = (struct join_reporter){
        .window = writer->report.window,
        .error_ns = error_ns,
        .node = writer->report.node,
    };
    return 0;
}

size_t join_writer_end(const struct join_writer *writer)
{
    struct join_ends *ends = writer->ends;
    const size_t before = join_ends_count(ends);
    if (writer->report.count == 0)
        return 0;
    ends->send_count = (size_t)(writer->send - ends->sends);
    ends->receive_count = (size_t)(writer->receive - ends->receives);
    ends->call_count = writer->calls;
    const size_t added = join_ends_count(ends) - before;
    if (added > 0)
        ends->reporter_count = (size_t)writer->reporter + 1;
    return added;
}

void join_ends_copy_state(struct state_bytes *b, struct join_ends *ends)
{
    STATE_VALUE(b, *ends);
    STATE_ARRAY(b, ends->sends, ends->send_count, ends->send_capacity);
    STATE_ARRAY(b, ends->receives, ends->receive_count, ends->receive_capacity);
    STATE_ARRAY(b, ends->calls, ends->call_count, ends->call_capacity);
    STATE_ARRAY(b, ends->reporters, ends->reporter_count, ends->reporter_capacity);
}
