/* Records of sends and receives, and of the calls that start and complete them. */
#include "daemon/import/dumpi/dumpi_record.h"

#include <string.h>

/* MPI_UNDEFINED of Open MPI and MPICH: the count exceeds an int. */
#define BYTES_UNDEFINED (-32766)

/* ---- posting ------------------------------------------------------------------- */

/* Set the message of a record. @param peer, comm  indices of these arguments; the tag follows the
 * peer, which is a rank of the communicator, or negative */
static void dumpi_messages_put_message(struct dumpi_events *events, struct event *record,
                                       uint64_t bytes, unsigned peer, unsigned comm, uint32_t flags)
{
    struct dumpi_view view = dumpi_view_of(events, dumpi_value_of(events, comm));
    int64_t rank = dumpi_value_of(events, peer), tag = dumpi_value_of(events, peer + 1);
    int receives = (flags & EVENT_SEND) == 0;
    record->bytes = bytes;
    record->comm = view.slot;
    record->peer = rank >= 0                              ? dumpi_view_peer(&view, rank)
                   : receives && rank == DUMPI_ANY_SOURCE ? PEER_ANY
                                                          : PEER_NULL;
    record->tag = receives && tag == DUMPI_ANY_TAG ? TAG_ANY : (int32_t)tag;
    if (receives && (record->peer == PEER_ANY || record->tag == TAG_ANY))
        flags |= EVENT_WILDCARD;
    record->flags = (uint16_t)(flags | view.flags);
}

/* @return NULL: the program ignored the status, or the file has none */
static const struct dumpi_status *dumpi_messages_status_of(const struct dumpi_events *events,
                                                           unsigned argument)
{
    return dumpi_value_of(events, argument) > 0 ? dumpi_statuses(&events->stream, argument) : NULL;
}

/* Set the sender, if the status identifies it better than the receive does. */
static void dumpi_messages_put_source(const struct dumpi_events *events, struct event *record,
                                      const struct dumpi_status *status)
{
    struct dumpi_view view = dumpi_comms_view(events->comms, events->rank, record->comm);
    if (record->peer == PEER_ANY)
        record->peer = status->source < 0 ? PEER_NULL : dumpi_view_peer(&view, status->source);
    if (record->tag == TAG_ANY && status->tag != DUMPI_ANY_TAG)
        record->tag = status->tag;
}

/* Set size, sender and tag of a receive from its status. The size in a status has 32 bits: a
 * message that filled a larger buffer gets the size of the buffer. */
static void dumpi_messages_put_received(const struct dumpi_events *events, struct event *record,
                                        const struct dumpi_status *status)
{
    if (status == NULL)
        return;
    uint32_t bytes = (uint32_t)status->bytes;
    if (status->bytes != BYTES_UNDEFINED && (bytes == 0 || bytes != (uint32_t)record->bytes))
        record->bytes = bytes;
    dumpi_messages_put_source(events, record, status);
}

#define SENT (EVENT_SEND | EVENT_POST | EVENT_DONE)
#define RECEIVED (EVENT_RECV | EVENT_POST | EVENT_DONE)

/* Arguments: count, datatype, rank, tag, comm, and perhaps a request. */
static void dumpi_messages_post(struct dumpi_events *events, uint32_t flags)
{
    struct event *record = &events->queue[0];
    dumpi_messages_put_message(events, record, dumpi_bytes_of(events, 0, 1), 2, 4, flags);
    if (!(flags & EVENT_DONE))
        dumpi_store_request(events, record, dumpi_value_of(events, 5), record->bytes);
    if (flags & EVENT_PERSISTENT) /* only prepared: nothing moves yet */
        record->flags &= (uint16_t) ~(SENT | RECEIVED);
}

/* @param source, comm  indices of these arguments; the destination is argument 2 */
static void dumpi_messages_send_and_receive(struct dumpi_events *events, unsigned source,
                                            unsigned comm, uint64_t out_bytes, uint64_t in_bytes)
{
    struct event in;
    memset(&in, 0, sizeof in);
    dumpi_messages_put_message(events, &in, in_bytes, source, comm, RECEIVED);
    struct event *out = &events->queue[0];
    dumpi_messages_put_message(events, out, out_bytes, 2, comm, SENT);
    out->receive_ends = (uint64_t)(uint32_t)in.tag << 32 | (uint32_t)in.peer;
    dumpi_messages_put_received(events, &in, dumpi_messages_status_of(events, comm + 1));
    struct event *part = dumpi_record(events);
    part->bytes = in.bytes;
    part->peer = in.peer;
    part->tag = in.tag;
    part->comm = in.comm;
    part->flags = in.flags;
    part->t_post = part->t_enter;
}

static void dumpi_messages_record_probe(struct dumpi_events *events,
                                        const struct dumpi_status *status)
{
    struct event *record = &events->queue[0];
    dumpi_messages_put_message(events, record, 0, 0, 2, 0);
    if (status != NULL)
        dumpi_messages_put_source(events, record, status);
}

/* ---- starting -------------------------------------------------------------------- */

static void dumpi_messages_note_request(struct event *record, const struct open_request *request,
                                        uint32_t flags)
{
    record->bytes = request->bytes;
    record->peer = request->peer;
    record->tag = request->tag;
    record->comm = request->comm;
    record->request = request->number;
    record->flags = (uint16_t)(request->flags | flags);
}

static void dumpi_messages_start(struct dumpi_events *events, const int32_t *handles, int64_t count)
{
    struct event *record = &events->queue[0];
    int started = 0;
    for (int64_t i = 0; i < count; i++) {
        struct open_request *request = dumpi_find_request(events, handles[i]);
        if (request == NULL) {
            events->queue[0].flags |= EVENT_UNTRACKED;
            continue;
        }
        if (started++ > 0)
            record = dumpi_record(events);
        uint32_t untracked = record == &events->queue[0] ? record->flags & EVENT_UNTRACKED : 0;
        dumpi_messages_note_request(record, request, EVENT_POST | untracked);
        request->t_post = events->queue[0].t_enter;
        request->idle = request->cancelled = 0;
    }
}

/* Flags of the message that a function posts or prepares; 0: it is no such function. */
static const uint32_t posts[DUMPI_FUNCTIONS + 1] = {
    [DUMPI_Send] = SENT,
    [DUMPI_Bsend] = SENT,
    [DUMPI_Ssend] = SENT,
    [DUMPI_Rsend] = SENT,
    [DUMPI_Isend] = EVENT_SEND | EVENT_POST,
    [DUMPI_Ibsend] = EVENT_SEND | EVENT_POST,
    [DUMPI_Issend] = EVENT_SEND | EVENT_POST,
    [DUMPI_Irsend] = EVENT_SEND | EVENT_POST,
    [DUMPI_Recv] = RECEIVED,
    [DUMPI_Irecv] = EVENT_RECV | EVENT_POST,
    [DUMPI_Send_init] = EVENT_SEND | EVENT_PERSISTENT,
    [DUMPI_Bsend_init] = EVENT_SEND | EVENT_PERSISTENT,
    [DUMPI_Ssend_init] = EVENT_SEND | EVENT_PERSISTENT,
    [DUMPI_Rsend_init] = EVENT_SEND | EVENT_PERSISTENT,
    [DUMPI_Recv_init] = EVENT_RECV | EVENT_PERSISTENT,
};

void dumpi_record_message(struct dumpi_events *events)
{
    uint32_t function = events->stream.call.function;
    int32_t handle = (int32_t)dumpi_value_of(events, 0);
    uint64_t out_bytes = dumpi_bytes_of(events, 0, 1);
    if (posts[function] != 0)
        dumpi_messages_post(events, posts[function]);
    if (function == DUMPI_Recv)
        dumpi_messages_put_received(events, &events->queue[0], dumpi_messages_status_of(events, 5));
    else if (function == DUMPI_Sendrecv)
        dumpi_messages_send_and_receive(events, 6, 8, out_bytes, dumpi_bytes_of(events, 4, 5));
    else if (function == DUMPI_Sendrecv_replace)
        dumpi_messages_send_and_receive(events, 4, 6, out_bytes, out_bytes);
    else if (function == DUMPI_Probe)
        dumpi_messages_record_probe(events, dumpi_messages_status_of(events, 3));
    else if (function == DUMPI_Start)
        dumpi_messages_start(events, &handle, 1);
    else if (function == DUMPI_Startall)
        dumpi_messages_start(events, dumpi_words(&events->stream, 1), dumpi_value_of(events, 1));
}

/* ---- completing ------------------------------------------------------------------- */

/* Add the record of a completed request. */
static void dumpi_messages_put_completed(struct dumpi_events *events, struct event *record,
                                         struct open_request *request,
                                         const struct dumpi_status *status)
{
    dumpi_messages_note_request(record, request, EVENT_DONE);
    record->t_post = request->t_post;
    if (request->cancelled && (status == NULL || status->cancelled)) {
        record->flags = (uint16_t)((record->flags & ~EVENT_DONE) | EVENT_CANCELLED);
        record->bytes = 0;
    } else if (request->flags & EVENT_RECV) {
        dumpi_messages_put_received(events, record, status);
    }
    if (request->flags & EVENT_PERSISTENT)
        request->idle = 1;
    else
        request_table_remove(&events->requests, request);
}

/* @return NULL: no active request has this handle */
static struct open_request *dumpi_messages_active(struct dumpi_events *events, int64_t handle)
{
    struct open_request *request = dumpi_find_request(events, handle);
    return request == NULL || request->idle ? NULL : request;
}

static void dumpi_messages_complete(struct dumpi_events *events, int64_t handle,
                                    const struct dumpi_status *status)
{
    struct open_request *request = dumpi_messages_active(events, handle);
    if (request != NULL)
        dumpi_messages_put_completed(events, &events->queue[0], request, status);
}

/* The requests of an array. */
struct several {
    const int32_t *handles;
    int64_t handle_count;
    const int32_t *indices; /* indices of the completed ones; NULL: all */
    int64_t count;
    const struct dumpi_status *statuses; /* one for each completed request, in that order */
    int64_t status_count;
    int io;
};

static void dumpi_messages_complete_several(struct dumpi_events *events, const struct several *all)
{
    int completed = 0;
    for (int64_t i = 0; i < all->count; i++) {
        int64_t at = all->indices == NULL ? i : all->indices[i];
        if (at < 0 || at >= all->handle_count)
            continue;
        int64_t handle = all->io ? io_handle(all->handles[at]) : all->handles[at];
        struct open_request *request = dumpi_messages_active(events, handle);
        if (request == NULL)
            continue;
        struct event *record = completed++ == 0 ? &events->queue[0] : dumpi_record(events);
        dumpi_messages_put_completed(events, record, request,
                                     i < all->status_count ? &all->statuses[i] : NULL);
    }
}

static struct several dumpi_messages_array_argument(const struct dumpi_events *events,
                                                    unsigned statuses, int io)
{
    return (struct several){.handles = dumpi_words(&events->stream, 1),
                            .handle_count = dumpi_value_of(events, 1),
                            .count = dumpi_value_of(events, 1),
                            .statuses = dumpi_statuses(&events->stream, statuses),
                            .status_count = dumpi_value_of(events, statuses),
                            .io = io};
}

/* Complete one request of an array. @param status  of the one, or of all by their index in the
 * array */
static void dumpi_messages_complete_any(struct dumpi_events *events, int64_t index,
                                        unsigned statuses, int io)
{
    struct several all = dumpi_messages_array_argument(events, statuses, io);
    if (index < 0 || index >= all.handle_count)
        return;
    int64_t handle = io ? io_handle(all.handles[index]) : all.handles[index];
    const struct dumpi_status *status = all.status_count == 1      ? &all.statuses[0]
                                        : index < all.status_count ? &all.statuses[index]
                                                                   : NULL;
    dumpi_messages_complete(events, handle, status);
}

/* The program's arrays have capacity for all requests: only as many elements as requests completed
 * are valid, and none if that number is MPI_UNDEFINED. */
static void dumpi_messages_complete_some(struct dumpi_events *events, int io)
{
    struct several all = dumpi_messages_array_argument(events, 4, io);
    int64_t ended = dumpi_value_of(events, 2);
    all.indices = dumpi_words(&events->stream, 3);
    all.count = dumpi_value_of(events, 3) < ended ? dumpi_value_of(events, 3) : ended;
    dumpi_messages_complete_several(events, &all);
}

/* MPI_Request_get_status: name the request without completing it. */
static void dumpi_messages_name_request(struct dumpi_events *events)
{
    const struct open_request *request = dumpi_find_request(events, dumpi_value_of(events, 0));
    if (request == NULL)
        return;
    dumpi_messages_note_request(&events->queue[0], request, 0);
    events->queue[0].bytes = 0;
    events->queue[0].flags = 0;
}

/* How a function completes requests. Numbers are those of arguments. */
struct completion {
    enum { NONE, ONE, ANY, SOME, ALL, NAME, PROBE } how;
    unsigned flag;     /* it completes nothing if this one is 0; 0: it always does */
    unsigned index;    /* ANY: which one */
    unsigned statuses; /* of what it completed */
    int io;            /* 1: requests of MPI-IO as in MPI 1, which have handles of their own */
};

static const struct completion completions[DUMPI_FUNCTIONS + 1] = {
    [DUMPI_Wait] = {.how = ONE, .statuses = 1},
    [DUMPI_Test] = {.how = ONE, .flag = 1, .statuses = 2},
    [DUMPI_Waitall] = {.how = ALL, .statuses = 2},
    [DUMPI_Testall] = {.how = ALL, .flag = 2, .statuses = 3},
    [DUMPI_Waitany] = {.how = ANY, .index = 2, .statuses = 3},
    [DUMPI_Testany] = {.how = ANY, .flag = 3, .index = 2, .statuses = 4},
    [DUMPI_Waitsome] = {.how = SOME},
    [DUMPI_Testsome] = {.how = SOME},
    [DUMPI_Request_get_status] = {.how = NAME, .flag = 1},
    [DUMPI_Iprobe] = {.how = PROBE, .flag = 3, .statuses = 4},
    [DUMPIO_Wait] = {.how = ONE, .statuses = 1, .io = 1},
    [DUMPIO_Test] = {.how = ONE, .flag = 1, .statuses = 2, .io = 1},
    [DUMPIO_Waitall] = {.how = ALL, .statuses = 2, .io = 1},
    [DUMPIO_Testall] = {.how = ALL, .flag = 2, .statuses = 3, .io = 1},
    [DUMPIO_Waitany] = {.how = ANY, .index = 2, .statuses = 3, .io = 1},
    [DUMPIO_Testany] = {.how = ANY, .flag = 2, .index = 3, .statuses = 4, .io = 1},
    [DUMPIO_Waitsome] = {.how = SOME, .io = 1},
    [DUMPIO_Testsome] = {.how = SOME, .io = 1},
};

void dumpi_record_request(struct dumpi_events *events)
{
    const struct completion *c = &completions[events->stream.call.function];
    int64_t handle = dumpi_value_of(events, 0);
    if (c->how == NONE || (c->flag != 0 && dumpi_value_of(events, c->flag) == 0))
        return;
    if (c->how == ONE) {
        dumpi_messages_complete(events, c->io ? io_handle(handle) : handle,
                                dumpi_messages_status_of(events, c->statuses));
    } else if (c->how == ANY) {
        dumpi_messages_complete_any(events, dumpi_value_of(events, c->index), c->statuses, c->io);
    } else if (c->how == SOME) {
        dumpi_messages_complete_some(events, c->io);
    } else if (c->how == ALL) {
        struct several all = dumpi_messages_array_argument(events, c->statuses, c->io);
        dumpi_messages_complete_several(events, &all);
    } else if (c->how == NAME) {
        dumpi_messages_name_request(events);
    } else {
        dumpi_messages_record_probe(events, dumpi_messages_status_of(events, c->statuses));
    }
}
