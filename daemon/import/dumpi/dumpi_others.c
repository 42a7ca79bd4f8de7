/* Records of RMA windows, files, communicators, and all other calls. */
#include "daemon/import/dumpi/dumpi_record.h"

/* ---- windows ------------------------------------------------------------------------ */

/* An RMA window counts as a communicator of its own here. @param target  argument; window: argument
 */
static void dumpi_others_on_window(struct dumpi_events *events, unsigned window)
{
    struct event *record = &events->queue[0];
    struct dumpi_view view = dumpi_window_of(events, dumpi_value_of(events, window));
    record->comm = view.slot;
    record->flags = (uint16_t)view.flags;
}

static void dumpi_others_set_target(struct dumpi_events *events, unsigned target, unsigned window)
{
    struct event *record = &events->queue[0];
    struct dumpi_view view = dumpi_window_of(events, dumpi_value_of(events, window));
    int64_t rank = dumpi_value_of(events, target);
    dumpi_others_on_window(events, window);
    record->peer = rank < 0 ? PEER_NULL : dumpi_view_peer(&view, rank);
}

static void dumpi_others_record_one_sided(struct dumpi_events *events)
{
    struct event *record = &events->queue[0];
    switch (events->stream.call.function) {
    case DUMPI_Put:
        dumpi_others_set_target(events, 2, 6);
        record->bytes = dumpi_bytes_of(events, 0, 1);
        break;
    case DUMPI_Accumulate:
        dumpi_others_set_target(events, 2, 7);
        record->bytes = dumpi_bytes_of(events, 0, 1);
        break;
    case DUMPI_Get:
        dumpi_others_set_target(events, 2, 6);
        record->bytes_in = dumpi_bytes_of(events, 0, 1);
        break;
    case DUMPI_Win_lock:
        dumpi_others_set_target(events, 1, 3);
        break;
    case DUMPI_Win_unlock:
        dumpi_others_set_target(events, 0, 1);
        break;
    case DUMPI_Win_fence:
        dumpi_others_on_window(events, 1);
        break;
    case DUMPI_Win_start:
    case DUMPI_Win_post:
        dumpi_others_on_window(events, 2);
        break;
    case DUMPI_Win_test:
        if (dumpi_value_of(events, 1))
            dumpi_others_on_window(events, 0);
        break;
    case DUMPI_Win_create:
        record->comm = dumpi_view_of(events, dumpi_value_of(events, 3)).slot;
        break;
    default: /* Win_complete, Win_wait, Win_free */
        dumpi_others_on_window(events, 0);
        break;
    }
}

/* ---- files -------------------------------------------------------------------------- */

struct transfer {
    enum { NEITHER, READS, WRITES } way;
    unsigned count; /* argument: number of elements; their type and a request follow */
    int immediate;  /* the call only starts the transfer */
};

static const struct transfer transfers[DUMPI_FUNCTIONS + 1] = {
    [DUMPI_File_read_at] = {READS, 2, 0},
    [DUMPI_File_read_at_all] = {READS, 2, 0},
    [DUMPI_File_read_at_all_begin] = {READS, 2, 0},
    [DUMPI_File_write_at] = {WRITES, 2, 0},
    [DUMPI_File_write_at_all] = {WRITES, 2, 0},
    [DUMPI_File_write_at_all_begin] = {WRITES, 2, 0},
    [DUMPI_File_iread_at] = {READS, 2, 1},
    [DUMPI_File_iwrite_at] = {WRITES, 2, 1},
    [DUMPI_File_read] = {READS, 1, 0},
    [DUMPI_File_read_all] = {READS, 1, 0},
    [DUMPI_File_read_shared] = {READS, 1, 0},
    [DUMPI_File_read_ordered] = {READS, 1, 0},
    [DUMPI_File_read_all_begin] = {READS, 1, 0},
    [DUMPI_File_read_ordered_begin] = {READS, 1, 0},
    [DUMPI_File_write] = {WRITES, 1, 0},
    [DUMPI_File_write_all] = {WRITES, 1, 0},
    [DUMPI_File_write_shared] = {WRITES, 1, 0},
    [DUMPI_File_write_ordered] = {WRITES, 1, 0},
    [DUMPI_File_write_all_begin] = {WRITES, 1, 0},
    [DUMPI_File_write_ordered_begin] = {WRITES, 1, 0},
    [DUMPI_File_iread] = {READS, 1, 1},
    [DUMPI_File_iread_shared] = {READS, 1, 1},
    [DUMPI_File_iwrite] = {WRITES, 1, 1},
    [DUMPI_File_iwrite_shared] = {WRITES, 1, 1},
};

static void dumpi_others_record_file(struct dumpi_events *events)
{
    struct event *record = &events->queue[0];
    const struct transfer *t = &transfers[events->stream.call.function];
    if (events->stream.call.function == DUMPI_File_open)
        record->comm = dumpi_view_of(events, dumpi_value_of(events, 0)).slot;
    if (t->way == NEITHER)
        return;
    uint64_t bytes = dumpi_bytes_of(events, t->count, t->count + 1);
    record->bytes = t->way == WRITES ? bytes : 0;
    record->bytes_in = t->way == READS ? bytes : 0;
    if (!t->immediate)
        return;
    record->flags = EVENT_POST;
    dumpi_store_request(events, record, io_handle(dumpi_value_of(events, t->count + 2)), 0);
}

/* ---- others ------------------------------------------------------------------------- */

static void dumpi_others_name_request(struct dumpi_events *events, struct open_request *request)
{
    struct event *record = &events->queue[0];
    record->peer = request->peer;
    record->tag = request->tag;
    record->comm = request->comm;
    record->request = request->number;
}

/* A freed receive that is still active completes unobserved, or never. */
static void dumpi_others_free_request(struct dumpi_events *events)
{
    struct open_request *request = dumpi_find_request(events, dumpi_value_of(events, 0));
    if (request == NULL)
        return;
    dumpi_others_name_request(events, request);
    if (request->flags & EVENT_RECV && !request->idle)
        events->queue[0].flags |= EVENT_UNTRACKED;
    request_table_remove(&events->requests, request);
}

static void dumpi_others_cancel(struct dumpi_events *events)
{
    struct open_request *request = dumpi_find_request(events, dumpi_value_of(events, 0));
    if (request == NULL || request->idle)
        return;
    dumpi_others_name_request(events, request);
    request->cancelled = 1;
}

void dumpi_record_other(struct dumpi_events *events)
{
    uint32_t function = events->stream.call.function;
    struct dumpi_making made;
    if (function == DUMPI_Request_free)
        dumpi_others_free_request(events);
    else if (function == DUMPI_Cancel)
        dumpi_others_cancel(events);
    else if (function == DUMPI_Accumulate || function == DUMPI_Get || function == DUMPI_Put ||
             (function >= DUMPI_Win_complete && function <= DUMPI_Win_wait))
        dumpi_others_record_one_sided(events);
    else if (function >= DUMPI_File_open && function <= DUMPI_File_sync)
        dumpi_others_record_file(events);
    else if (function == DUMPI_Comm_free || function == DUMPI_Comm_disconnect ||
             function == DUMPI_Comm_set_name || function == DUMPI_Abort)
        events->queue[0].comm = dumpi_view_of(events, dumpi_value_of(events, 0)).slot;
    else if (dumpi_comm_making(&events->stream, &made) && made.parent >= 0)
        events->queue[0].comm = dumpi_view_of(events, made.parent).slot;
}
