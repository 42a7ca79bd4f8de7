/* Callbacks that libotf2 calls for each event record of a location: see otf2_callbacks.h. */
#include "daemon/import/otf2/otf2_callbacks.h"

#include "holter/call.h"
#include "holter/segment.h"

/* Parameters that every callback of libotf2 begins with. */
#define RECORD                                                                                     \
    OTF2_LocationRef location, OTF2_TimeStamp ticks, uint64_t position, void *user,                \
        OTF2_AttributeList *attributes

/* Records of a truncated file. At its end libotf2 returns the records of a chunk again, the first
 * of which is earlier than all before it, and the last records before the end may consist of
 * uninitialised memory. So a truncated file is scanned first, and only the records before the last
 * time are used. @return is the record skipped, or the last one? */
static int otf2_callback_skip_record(struct otf2_stream *stream, OTF2_TimeStamp ticks)
{
    if (!stream->scanning) {
        stream->is_repeating = stream->calls.totals.events >= stream->whole_events;
        return stream->is_repeating;
    }
    if (ticks < stream->ticks) {
        stream->is_repeating = 1;
        return 1;
    }
    if (ticks > stream->ticks)
        stream->whole_events = stream->scanned;
    stream->ticks = ticks;
    stream->scanned++;
    return 1;
}

static OTF2_CallbackCode otf2_callback_status(const struct otf2_stream *stream)
{
    return stream->is_repeating ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

/* ---- records that are only counted ---------------------------------------- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

static OTF2_CallbackCode otf2_callback_count_other(void *user, OTF2_TimeStamp ticks, unsigned kind)
{
    struct otf2_stream *stream = user;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    stream->ticks = ticks;
    stream->calls.totals.events++;
    stream->counted.other[kind]++;
    return OTF2_CALLBACK_SUCCESS;
}

#define COUNT_WITH(kind, ...)                                                                      \
    static OTF2_CallbackCode otf2_callback_on_##kind(RECORD, __VA_ARGS__)                          \
    {                                                                                              \
        return otf2_callback_count_other(user, ticks, OTF2_KIND_##kind);                           \
    }
#define COUNT_BARE(kind)                                                                           \
    static OTF2_CallbackCode otf2_callback_on_##kind(RECORD)                                       \
    {                                                                                              \
        return otf2_callback_count_other(user, ticks, OTF2_KIND_##kind);                           \
    }

OTF2_OTHER_KINDS(COUNT_WITH, COUNT_BARE)
COUNT_BARE(Unknown)

#define NAME_WITH(kind, ...) #kind,
#define NAME_BARE(kind) #kind,

const char *otf2_kind_name(unsigned kind)
{
    static const char *const names[] = {OTF2_OTHER_KINDS(NAME_WITH, NAME_BARE)
                                            OTF2_ACCESS_KINDS(NAME_WITH) "unknown"};
    return kind < OTF2_KINDS ? names[kind] : "unknown";
}

/* ---- regions --------------------------------------------------------------- */

static void otf2_callback_note_early(struct otf2_report *counted, uint64_t ticks)
{
    counted->earliest =
        counted->early == 0 || ticks < counted->earliest ? ticks : counted->earliest;
    counted->early++;
}

static uint64_t otf2_callback_begin(struct otf2_stream *stream, uint64_t ticks)
{
    if (ticks < stream->job->offset)
        otf2_callback_note_early(&stream->counted, ticks);
    stream->ticks = ticks;
    stream->calls.totals.events++;
    return otf2_job_ns(stream->job, ticks);
}

/* Stop when memory was refused. */
static OTF2_CallbackCode otf2_callback_outcome(const struct otf2_stream *stream)
{
    return stream->calls.error == 0 ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

static OTF2_CallbackCode otf2_callback_enter(struct otf2_stream *stream, uint64_t ticks,
                                             uint32_t ref, const struct otf2_region *region)
{
    stream->counted.undefined += region->kind == OTF2_REGION_UNDEFINED;
    otf2_calls_enter(&stream->calls, otf2_callback_begin(stream, ticks), ref, region);
    return otf2_callback_outcome(stream);
}

static OTF2_CallbackCode otf2_callback_on_enter(RECORD, OTF2_RegionRef ref)
{
    struct otf2_stream *stream = user;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    struct otf2_region region = otf2_defs_region(stream->defs, ref);
    return otf2_callback_enter(stream, ticks, ref, &region);
}

static OTF2_CallbackCode otf2_callback_on_leave(RECORD, OTF2_RegionRef ref)
{
    struct otf2_stream *stream = user;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    struct otf2_region region = otf2_defs_region(stream->defs, ref);
    otf2_calls_leave(&stream->calls, otf2_callback_begin(stream, ticks), ref, &region);
    return otf2_callback_outcome(stream);
}

/* Tools that unwind the stack record with each region its calling context. */
static OTF2_CallbackCode otf2_callback_on_context_enter(RECORD, OTF2_CallingContextRef context,
                                                        uint32_t unwound)
{
    struct otf2_stream *stream = user;
    uint32_t ref;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    struct otf2_region region = otf2_defs_context(stream->defs, context, &ref);
    return otf2_callback_enter(stream, ticks, ref, &region);
}

static OTF2_CallbackCode otf2_callback_on_context_leave(RECORD, OTF2_CallingContextRef context)
{
    struct otf2_stream *stream = user;
    uint32_t ref;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    struct otf2_region region = otf2_defs_context(stream->defs, context, &ref);
    otf2_calls_leave(&stream->calls, otf2_callback_begin(stream, ticks), ref, &region);
    return otf2_callback_outcome(stream);
}

/* ---- messages -------------------------------------------------------------- */

/* @return number of a communicator, or UINT32_MAX: it is undefined, which is counted */
static uint32_t otf2_callback_number_of(struct otf2_stream *stream, OTF2_CommRef ref)
{
    uint32_t number = otf2_defs_comm(stream->defs, ref);
    stream->counted.undefined += number >= stream->job->comm_count;
    return number;
}

/* Only the first OTF2_COMM_SLOTS communicators have slots. */
static uint16_t otf2_callback_slot_of(const struct otf2_stream *stream, uint32_t number)
{
    return number < stream->job->comm_count && number < OTF2_COMM_SLOTS ? (uint16_t)number
                                                                        : COMM_SLOT_NONE;
}

/* MPI's tags are no larger. Writers that store others, such as negative ones, store the same value
 * at both ends of a message. */
static int32_t otf2_callback_tag(uint32_t tag)
{
    return (int32_t)(tag & INT32_MAX);
}

/* The fields that records of messages have in common. */
struct message_record {
    uint32_t peer; /* position in the communicator */
    OTF2_CommRef comm;
    uint32_t tag;
    uint64_t bytes;
    uint64_t request; /* of nonblocking ones */
};

static struct otf2_message otf2_callback_message(struct otf2_stream *stream,
                                                 const struct message_record *record)
{
    int inter = 0;
    uint32_t number = otf2_callback_number_of(stream, record->comm);
    struct otf2_message message = {.tag = otf2_callback_tag(record->tag),
                                   .bytes = record->bytes,
                                   .request = record->request,
                                   .comm = otf2_callback_slot_of(stream, number)};
    message.peer = otf2_job_peer(stream->job, stream->rank, number, record->peer, &inter);
    message.flags = inter ? EVENT_INTER : 0;
    stream->counted.undefined += number < stream->job->comm_count && message.peer == PEER_UNKNOWN;
    return message;
}

/* Functions of otf2_calls.h that process a message, and a request. */
typedef void process_message(struct otf2_calls *calls, uint64_t time,
                             const struct otf2_message *message);
typedef void process_request(struct otf2_calls *calls, uint64_t time, uint64_t request);

static OTF2_CallbackCode otf2_callback_pass_message(struct otf2_stream *stream,
                                                    OTF2_TimeStamp ticks,
                                                    const struct message_record *record,
                                                    process_message *process)
{
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    struct otf2_message message = otf2_callback_message(stream, record);
    process(&stream->calls, otf2_callback_begin(stream, ticks), &message);
    return otf2_callback_outcome(stream);
}

static OTF2_CallbackCode otf2_callback_pass_request(struct otf2_stream *stream,
                                                    OTF2_TimeStamp ticks, uint64_t request,
                                                    process_request *process)
{
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    process(&stream->calls, otf2_callback_begin(stream, ticks), request);
    return otf2_callback_outcome(stream);
}

static OTF2_CallbackCode otf2_callback_on_send(RECORD, uint32_t receiver, OTF2_CommRef comm,
                                               uint32_t tag, uint64_t bytes)
{
    const struct message_record record = {receiver, comm, tag, bytes, 0};
    return otf2_callback_pass_message(user, ticks, &record, otf2_calls_send);
}

static OTF2_CallbackCode otf2_callback_on_recv(RECORD, uint32_t sender, OTF2_CommRef comm,
                                               uint32_t tag, uint64_t bytes)
{
    const struct message_record record = {sender, comm, tag, bytes, 0};
    return otf2_callback_pass_message(user, ticks, &record, otf2_calls_recv);
}

static OTF2_CallbackCode otf2_callback_on_isend(RECORD, uint32_t receiver, OTF2_CommRef comm,
                                                uint32_t tag, uint64_t bytes, uint64_t request)
{
    const struct message_record record = {receiver, comm, tag, bytes, request};
    return otf2_callback_pass_message(user, ticks, &record, otf2_calls_isend);
}

static OTF2_CallbackCode otf2_callback_on_irecv(RECORD, uint32_t sender, OTF2_CommRef comm,
                                                uint32_t tag, uint64_t bytes, uint64_t request)
{
    const struct message_record record = {sender, comm, tag, bytes, request};
    return otf2_callback_pass_message(user, ticks, &record, otf2_calls_irecv);
}

static OTF2_CallbackCode otf2_callback_on_isend_complete(RECORD, uint64_t request)
{
    return otf2_callback_pass_request(user, ticks, request, otf2_calls_isend_complete);
}

static OTF2_CallbackCode otf2_callback_on_irecv_request(RECORD, uint64_t request)
{
    return otf2_callback_pass_request(user, ticks, request, otf2_calls_irecv_request);
}

static OTF2_CallbackCode otf2_callback_on_request_cancelled(RECORD, uint64_t request)
{
    return otf2_callback_pass_request(user, ticks, request, otf2_calls_cancelled);
}

/* MPI_Test and similar calls found a request incomplete: their regions are recorded already. */
static OTF2_CallbackCode otf2_callback_on_request_test(RECORD, uint64_t request)
{
    if (otf2_callback_skip_record(user, ticks))
        return otf2_callback_status(user);
    otf2_callback_begin(user, ticks);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- one-sided calls -------------------------------------------------------- */

/* @param access  with the bytes sent and received */
static OTF2_CallbackCode otf2_callback_access_window(struct otf2_stream *stream, uint64_t ticks,
                                                     unsigned kind, OTF2_RmaWinRef window,
                                                     uint32_t target, struct otf2_access access)
{
    int inter = 0;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    uint32_t number = otf2_defs_window(stream->defs, window);
    access.comm = otf2_callback_slot_of(stream, number);
    access.target = otf2_job_peer(stream->job, stream->rank, number, target, &inter);
    access.flags = inter ? EVENT_INTER : 0;
    uint64_t time = otf2_callback_begin(stream, ticks);
    stream->counted.other[kind] += !otf2_calls_access(&stream->calls, time, &access);
    return otf2_callback_outcome(stream);
}

static OTF2_CallbackCode otf2_callback_on_put(RECORD, OTF2_RmaWinRef window, uint32_t target,
                                              uint64_t bytes, uint64_t matching)
{
    return otf2_callback_access_window(user, ticks, OTF2_KIND_RmaPut, window, target,
                                       (struct otf2_access){.sent = bytes});
}

static OTF2_CallbackCode otf2_callback_on_get(RECORD, OTF2_RmaWinRef window, uint32_t target,
                                              uint64_t bytes, uint64_t matching)
{
    return otf2_callback_access_window(user, ticks, OTF2_KIND_RmaGet, window, target,
                                       (struct otf2_access){.received = bytes});
}

static OTF2_CallbackCode otf2_callback_on_atomic(RECORD, OTF2_RmaWinRef window, uint32_t target,
                                                 OTF2_RmaAtomicType type, uint64_t sent,
                                                 uint64_t received, uint64_t matching)
{
    return otf2_callback_access_window(user, ticks, OTF2_KIND_RmaAtomic, window, target,
                                       (struct otf2_access){.sent = sent, .received = received});
}

/* ---- collectives ----------------------------------------------------------- */

static uint16_t otf2_callback_call_of(OTF2_CollectiveOp op)
{
    static const uint16_t calls[] = {
        [OTF2_COLLECTIVE_OP_BARRIER] = CALL_Barrier,
        [OTF2_COLLECTIVE_OP_BCAST] = CALL_Bcast,
        [OTF2_COLLECTIVE_OP_GATHER] = CALL_Gather,
        [OTF2_COLLECTIVE_OP_GATHERV] = CALL_Gatherv,
        [OTF2_COLLECTIVE_OP_SCATTER] = CALL_Scatter,
        [OTF2_COLLECTIVE_OP_SCATTERV] = CALL_Scatterv,
        [OTF2_COLLECTIVE_OP_ALLGATHER] = CALL_Allgather,
        [OTF2_COLLECTIVE_OP_ALLGATHERV] = CALL_Allgatherv,
        [OTF2_COLLECTIVE_OP_ALLTOALL] = CALL_Alltoall,
        [OTF2_COLLECTIVE_OP_ALLTOALLV] = CALL_Alltoallv,
        [OTF2_COLLECTIVE_OP_ALLTOALLW] = CALL_Alltoallw,
        [OTF2_COLLECTIVE_OP_ALLREDUCE] = CALL_Allreduce,
        [OTF2_COLLECTIVE_OP_REDUCE] = CALL_Reduce,
        [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = CALL_Reduce_scatter,
        [OTF2_COLLECTIVE_OP_SCAN] = CALL_Scan,
        [OTF2_COLLECTIVE_OP_EXSCAN] = CALL_Exscan,
        [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = CALL_Reduce_scatter_block,
    };
    return op < sizeof(calls) / sizeof(calls[0]) ? calls[op] : 0;
}

static struct otf2_collective otf2_callback_collective_of(struct otf2_stream *stream,
                                                          OTF2_CollectiveOp op, OTF2_CommRef comm,
                                                          uint32_t root, uint64_t sent,
                                                          uint64_t received)
{
    int inter = 0;
    uint32_t number = otf2_callback_number_of(stream, comm);
    struct otf2_collective collective = {.call = otf2_callback_call_of(op),
                                         .root = PEER_NONE,
                                         .sent = sent,
                                         .received = received,
                                         .comm = otf2_callback_slot_of(stream, number)};
    if (root == OTF2_COLLECTIVE_ROOT_SELF)
        collective.root = (int32_t)stream->rank;
    else if (root == OTF2_COLLECTIVE_ROOT_THIS_GROUP)
        collective.root = PEER_NULL;
    else if (root != OTF2_COLLECTIVE_ROOT_NONE)
        collective.root = otf2_job_peer(stream->job, stream->rank, number, root, &inter);
    collective.flags = inter ? EVENT_INTER : 0;
    return collective;
}

static OTF2_CallbackCode otf2_callback_on_collective_begin(RECORD)
{
    struct otf2_stream *stream = user;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    otf2_calls_collective_begin(&stream->calls, otf2_callback_begin(stream, ticks));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode otf2_callback_on_collective_end(RECORD, OTF2_CollectiveOp op,
                                                         OTF2_CommRef comm, uint32_t root,
                                                         uint64_t sent, uint64_t received)
{
    struct otf2_stream *stream = user;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    struct otf2_collective collective =
        otf2_callback_collective_of(stream, op, comm, root, sent, received);
    otf2_calls_collective_end(&stream->calls, otf2_callback_begin(stream, ticks), &collective);
    return otf2_callback_outcome(stream);
}

static OTF2_CallbackCode otf2_callback_on_collective_request(RECORD, uint64_t request)
{
    return otf2_callback_pass_request(user, ticks, request, otf2_calls_collective_request);
}

static OTF2_CallbackCode otf2_callback_on_collective_complete(RECORD, OTF2_CollectiveOp op,
                                                              OTF2_CommRef comm, uint32_t root,
                                                              uint64_t sent, uint64_t received,
                                                              uint64_t request)
{
    struct otf2_stream *stream = user;
    if (otf2_callback_skip_record(stream, ticks))
        return otf2_callback_status(stream);
    struct otf2_collective collective =
        otf2_callback_collective_of(stream, op, comm, root, sent, received);
    otf2_calls_collective_complete(&stream->calls, otf2_callback_begin(stream, ticks), &collective,
                                   request);
    return otf2_callback_outcome(stream);
}

#pragma GCC diagnostic pop

/* ---- registering ----------------------------------------------------------- */

#define SET_WITH(kind, ...) OTF2_EvtReaderCallbacks_Set##kind##Callback(c, otf2_callback_on_##kind);
#define SET_BARE(kind) OTF2_EvtReaderCallbacks_Set##kind##Callback(c, otf2_callback_on_##kind);

static void otf2_callback_set_others(OTF2_EvtReaderCallbacks *c)
{
    OTF2_OTHER_KINDS(SET_WITH, SET_BARE)
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, otf2_callback_on_Unknown);
}

OTF2_ErrorCode otf2_callbacks_register(OTF2_Reader *reader, OTF2_EvtReader *events,
                                       struct otf2_stream *stream)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
    if (c == NULL)
        return OTF2_ERROR_MEM_ALLOC_FAILED;
    otf2_callback_set_others(c);
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, otf2_callback_on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, otf2_callback_on_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(c, otf2_callback_on_context_enter);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(c, otf2_callback_on_context_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, otf2_callback_on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, otf2_callback_on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, otf2_callback_on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, otf2_callback_on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, otf2_callback_on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, otf2_callback_on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, otf2_callback_on_request_test);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, otf2_callback_on_request_cancelled);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, otf2_callback_on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, otf2_callback_on_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, otf2_callback_on_atomic);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, otf2_callback_on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, otf2_callback_on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
        c, otf2_callback_on_collective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
        c, otf2_callback_on_collective_complete);
    OTF2_ErrorCode code = OTF2_Reader_RegisterEvtCallbacks(reader, events, c, stream);
    OTF2_EvtReaderCallbacks_Delete(c);
    return code;
}
