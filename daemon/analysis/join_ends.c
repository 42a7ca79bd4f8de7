#include "daemon/analysis/join_ends.h"

#include "daemon/analysis/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void join_ends_finish(struct join_ends *ends)
{
    free(ends->keys);
    free(ends->rows);
    free(ends->calls);
    free(ends->tellers);
    free(ends->wide);
    *ends = (struct join_ends){0};
}

size_t join_ends_bytes(const struct join_ends *ends)
{
    return ends->key_room * sizeof(*ends->keys) + ends->row_room * sizeof(*ends->rows) +
           ends->call_room * sizeof(*ends->calls) + ends->teller_room * sizeof(*ends->tellers) +
           ends->wide_room * sizeof(*ends->wide);
}

static int fit_rows(struct join_ends *ends, size_t count)
{
    if (array_fit(&ends->keys, sizeof(*ends->keys), &ends->key_room, count) != 0 ||
        array_fit(&ends->rows, sizeof(*ends->rows), &ends->row_room, count) != 0)
        return -ENOMEM;
    return 0;
}

static int fit_parts(struct join_ends *ends, size_t calls, size_t tellers, size_t wide)
{
    if (array_fit(&ends->calls, sizeof(*ends->calls), &ends->call_room, calls) != 0 ||
        array_fit(&ends->tellers, sizeof(*ends->tellers), &ends->teller_room, tellers) != 0 ||
        array_fit(&ends->wide, sizeof(*ends->wide), &ends->wide_room, wide) != 0)
        return -ENOMEM;
    return 0;
}

/* ---- from one to another ------------------------------------------------- */

int join_ends_append(struct join_ends *to, const struct join_ends *from)
{
    if (from->count == 0)
        return 0;
    if (fit_rows(to, to->count + from->count) != 0 ||
        fit_parts(to, to->call_count + from->call_count, to->teller_count + from->teller_count,
                  to->wide_count + from->wide_count) != 0)
        return -ENOMEM;
    memcpy(to->keys + to->count, from->keys, from->count * sizeof(*to->keys));
    for (size_t i = 0; i < from->count; i++) {
        struct join_row row = from->rows[i];
        row.teller += (uint32_t)to->teller_count;
        if (end_is_receive(&row))
            row.at += (uint32_t)to->call_count;
        if ((row.teller & END_WIDE) != 0)
            row.time += (uint32_t)to->wide_count;
        to->rows[to->count + i] = row;
    }
    for (size_t i = 0; i < from->call_count; i++)
        to->calls[to->call_count++] = from->calls[i];
    for (size_t i = 0; i < from->teller_count; i++)
        to->tellers[to->teller_count++] = from->tellers[i];
    for (size_t i = 0; i < from->wide_count; i++)
        to->wide[to->wide_count++] = from->wide[i];
    to->count += from->count;
    return 0;
}

int join_ends_append_one(struct join_ends *to, const struct join_ends *from, size_t at, size_t last)
{
    if (fit_rows(to, to->count + 1) != 0 ||
        fit_parts(to, to->call_count + 1, to->teller_count + 1, to->wide_count + 1) != 0)
        return -ENOMEM;
    struct join_row row = from->rows[at];
    const struct join_row *before = last == SIZE_MAX ? NULL : &from->rows[last];
    if (before == NULL || ((before->teller ^ row.teller) & END_TELLER) != 0)
        to->tellers[to->teller_count++] = *end_teller(from, &row);
    row.teller &= ~(END_TELLER | END_PAIRED);
    row.teller |= (uint32_t)to->teller_count - 1;
    if (end_is_receive(&row)) {
        if (before == NULL || !end_is_receive(before) || before->at != row.at)
            to->calls[to->call_count++] = from->calls[row.at];
        row.at = (uint32_t)to->call_count - 1;
    }
    if ((row.teller & END_WIDE) != 0) {
        to->wide[to->wide_count] = from->wide[row.time];
        row.time = (uint32_t)to->wide_count++;
    }
    to->keys[to->count] = from->keys[at];
    to->rows[to->count++] = row;
    return 0;
}

void join_ends_keep(struct join_ends *ends, uint64_t top)
{
    struct join_ends kept = *ends;
    uint32_t teller = UINT32_MAX, call = UINT32_MAX;
    join_ends_clear(&kept);
    for (size_t i = 0; i < ends->count; i++) {
        struct join_row row = ends->rows[i];
        if (ends->keys[i] > top)
            continue;
        if ((row.teller & END_TELLER) != teller) {
            teller = row.teller & END_TELLER;
            ends->tellers[kept.teller_count++] = ends->tellers[teller];
        }
        row.teller = (row.teller & ~END_TELLER) | ((uint32_t)kept.teller_count - 1);
        if (end_is_receive(&row)) {
            if (row.at != call) {
                call = row.at;
                ends->calls[kept.call_count++] = ends->calls[call];
            }
            row.at = (uint32_t)kept.call_count - 1;
        }
        if ((row.teller & END_WIDE) != 0) {
            ends->wide[kept.wide_count] = ends->wide[row.time];
            row.time = (uint32_t)kept.wide_count++;
        }
        ends->keys[kept.count] = ends->keys[i];
        ends->rows[kept.count++] = row;
    }
    *ends = kept;
}

/* ---- writing ------------------------------------------------------------- */

int join_writer_begin(struct join_writer *writer, struct join_ends *ends,
                      const struct join_report *report, uint64_t top)
{
    if (fit_rows(ends, ends->count + report->count) != 0)
        return -ENOMEM;
    *writer = (struct join_writer){
        .ends = ends,
        .report = *report,
        /* Half of what a row can tell lies before. */
        .from_ns = report->begin_ns - (UINT64_C(1) << 31),
        .top = top,
        .key = ends->keys == NULL ? NULL : ends->keys + ends->count,
        .row = ends->rows == NULL ? NULL : ends->rows + ends->count,
        .call = ends->call_count == 0 ? NULL : &ends->calls[ends->call_count - 1],
        .teller = (uint32_t)ends->teller_count - 1,
        .wide_count = ends->wide_count,
    };
    return join_writer_turn(writer, report->error_ns);
}

int join_writer_turn(struct join_writer *writer, uint64_t error_ns)
{
    struct join_ends *ends = writer->ends;
    const uint32_t teller = writer->teller + 1;
    if (fit_parts(ends, 0, (size_t)teller + 1, 0) != 0)
        return -ENOMEM;
    writer->report.error_ns = error_ns;
    writer->teller = teller;
    ends->tellers[teller] = (struct join_teller){
        .window = writer->report.window,
        .from_ns = writer->from_ns,
        .error_ns = error_ns,
        .node = writer->report.node,
    };
    return 0;
}

size_t join_writer_end(const struct join_writer *writer)
{
    struct join_ends *ends = writer->ends;
    const size_t before = ends->count;
    if (writer->row == NULL || writer->row == ends->rows + before)
        return 0;
    ends->count = (size_t)(writer->row - ends->rows);
    ends->call_count = writer->call == NULL ? 0 : (size_t)(writer->call - ends->calls) + 1;
    ends->wide_count = writer->wide_count;
    ends->teller_count = (size_t)writer->teller + 1;
    return ends->count - before;
}

void join_put_call(struct join_writer *writer, const struct join_call *call)
{
    struct join_ends *ends = writer->ends;
    const size_t at = writer->call == NULL ? 0 : (size_t)(writer->call - ends->calls) + 1;
    if (at == ends->call_room && fit_parts(ends, at + 1, 0, 0) != 0) {
        writer->short_of_memory = true;
        writer->call = ends->calls; /* whatever it is: nothing is taken */
        return;
    }
    writer->call = &ends->calls[at];
    *writer->call = *call;
}

void join_put_wide(struct join_writer *writer, uint64_t bytes, uint64_t time_ns)
{
    struct join_ends *ends = writer->ends;
    if (fit_parts(ends, 0, 0, writer->wide_count + 1) != 0) {
        writer->short_of_memory = true;
        return;
    }
    ends->wide[writer->wide_count] = (struct join_wide){bytes, time_ns};
    writer->row->time = (uint32_t)writer->wide_count++;
    writer->row->teller |= END_WIDE;
}
