/* Bytes that each collective sends and receives on a rank, counted as in the probe
 * (agent/probe/collective.h). */
#include "daemon/import/dumpi/dumpi_record.h"

/* The parts of a buffer, one for each rank. */
struct parts {
    uint64_t each;         /* bytes of one element */
    const int32_t *counts; /* number of elements by rank; NULL: the same for all */
    int64_t length;        /* length of counts */
    const int32_t *types;  /* by rank; NULL: one type for all */
    uint64_t same;         /* bytes of each part, if all are equal */
};

static const uint64_t most = UINT64_MAX >> 1;

static uint64_t dumpi_collective_add_saturating(uint64_t a, uint64_t b)
{
    return a > most - b ? most : a + b;
}

static uint64_t dumpi_collective_part_bytes(const struct dumpi_events *events,
                                            const struct parts *parts, int64_t rank)
{
    if (parts->counts == NULL)
        return parts->same;
    if (rank < 0 || rank >= parts->length)
        return 0;
    return parts->types != NULL
               ? dumpi_type_bytes(&events->types, parts->counts[rank], parts->types[rank])
           : parts->counts[rank] > 0 ? (uint64_t)parts->counts[rank] * parts->each
                                     : 0;
}

/* @param size  of the communicator; 0: unknown */
static uint64_t dumpi_collective_total_bytes(const struct dumpi_events *events,
                                             const struct parts *parts, uint32_t size)
{
    uint64_t sum = 0;
    if (parts->counts == NULL)
        return parts->same > most / (size == 0 ? 1 : size) ? most : parts->same * size;
    for (int64_t i = 0; i < parts->length; i++)
        sum = dumpi_collective_add_saturating(sum, dumpi_collective_part_bytes(events, parts, i));
    return sum;
}

static struct parts dumpi_collective_parts_same(const struct dumpi_events *events, unsigned count,
                                                unsigned type)
{
    return (struct parts){.same = dumpi_bytes_of(events, count, type)};
}

static struct parts dumpi_collective_parts_counted(const struct dumpi_events *events,
                                                   unsigned counts, unsigned type)
{
    uint64_t each = dumpi_type_size(&events->types, dumpi_value_of(events, type));
    return (struct parts){.each = each < UINT32_MAX ? each : UINT32_MAX,
                          .counts = dumpi_words(&events->stream, counts),
                          .length = dumpi_value_of(events, counts)};
}

static struct parts dumpi_collective_parts_typed(const struct dumpi_events *events, unsigned counts,
                                                 unsigned types)
{
    struct parts parts = {.counts = dumpi_words(&events->stream, counts),
                          .length = dumpi_value_of(events, counts),
                          .types = dumpi_words(&events->stream, types)};
    if (dumpi_value_of(events, types) < parts.length)
        parts.length = dumpi_value_of(events, types);
    return parts;
}

/* With MPI_IN_PLACE programs pass no type, or an arbitrary one: the file does not show which buffer
 * it is. */
static int dumpi_collective_in_place(struct event *record, int no_type)
{
    record->flags |= no_type ? EVENT_INPLACE : 0;
    return no_type;
}

static int dumpi_collective_is_no_type(int64_t type)
{
    return type <= DUMPI_TYPE_NULL;
}

enum part { PART_ROOT, PART_OTHER, PART_NONE };

/* The role of this rank in a rooted collective; sets the root. On inter-communicators the root
 * passes MPI_ROOT, which is -3 or -4, and the other ranks of its group MPI_PROC_NULL, -1 or -2
 * (MPICH, Open MPI). */
static enum part dumpi_collective_rooted(const struct dumpi_events *events, struct event *record,
                                         const struct dumpi_view *view, int64_t root)
{
    record->peer = dumpi_view_peer(view, root);
    if (!(view->flags & EVENT_INTER))
        return root == view->rank ? PART_ROOT : PART_OTHER;
    if (root <= -3)
        record->peer = (int32_t)events->rank;
    return root <= -3 ? PART_ROOT : root < 0 ? PART_NONE : PART_OTHER;
}

static struct dumpi_view dumpi_collective_enter(const struct dumpi_events *events,
                                                struct event *record, unsigned comm)
{
    struct dumpi_view view = dumpi_view_of(events, dumpi_value_of(events, comm));
    record->comm = view.slot;
    record->flags = (uint16_t)view.flags;
    return view;
}

/* Gather and scatter: the root has a part for each rank in one buffer, and each rank has one part
 * in another. @param own_rank  argument: the rank of this process in the communicator */
struct rooted_parts {
    unsigned comm, root, own_rank;
    struct parts all;
    unsigned one_count, one_type;
    uint64_t *all_bytes, *one_bytes;
};

static void dumpi_collective_put_rooted(struct dumpi_events *events, struct event *record,
                                        const struct rooted_parts *r)
{
    struct dumpi_view view = dumpi_collective_enter(events, record, r->comm);
    int64_t root = dumpi_value_of(events, r->root);
    if (!(view.flags & EVENT_INTER))
        view.rank = (int32_t)dumpi_value_of(events, r->own_rank);
    enum part part = dumpi_collective_rooted(events, record, &view, root);
    if (part == PART_NONE)
        return;
    if (part == PART_ROOT)
        *r->all_bytes = dumpi_collective_total_bytes(events, &r->all, view.size);
    if (part == PART_ROOT && view.flags & EVENT_INTER)
        return;
    int placed = part == PART_ROOT &&
                 dumpi_collective_in_place(
                     record, dumpi_collective_is_no_type(dumpi_value_of(events, r->one_type)));
    *r->one_bytes = placed ? dumpi_collective_part_bytes(events, &r->all, root)
                           : dumpi_bytes_of(events, r->one_count, r->one_type);
}

static void dumpi_collective_gather_or_scatter(struct dumpi_events *events, struct event *record)
{
    uint64_t *give = &record->bytes, *get = &record->bytes_in;
    struct rooted_parts r;
    switch (events->stream.call.function) {
    case DUMPI_Gather:
        r = (struct rooted_parts){4, 3, 0,   dumpi_collective_parts_same(events, 5, 6),
                                  1, 2, get, give};
        break;
    case DUMPI_Gatherv:
        r = (struct rooted_parts){5, 4, 0,   dumpi_collective_parts_counted(events, 6, 8),
                                  2, 3, get, give};
        break;
    case DUMPI_Scatter:
        r = (struct rooted_parts){4, 3, 0,    dumpi_collective_parts_same(events, 5, 6),
                                  1, 2, give, get};
        break;
    default:
        r = (struct rooted_parts){6, 5, 0,    dumpi_collective_parts_counted(events, 7, 2),
                                  3, 4, give, get};
        break;
    }
    dumpi_collective_put_rooted(events, record, &r);
}

static void dumpi_collective_bcast_or_reduce(struct dumpi_events *events, struct event *record,
                                             unsigned root, unsigned comm)
{
    struct dumpi_view view = dumpi_collective_enter(events, record, comm);
    enum part part = dumpi_collective_rooted(events, record, &view, dumpi_value_of(events, root));
    uint64_t bytes = dumpi_bytes_of(events, 0, 1);
    int reduces = events->stream.call.function == DUMPI_Reduce,
        inter = (view.flags & EVENT_INTER) != 0;
    if (part == PART_ROOT) {
        record->bytes = reduces && inter ? 0 : bytes;
        record->bytes_in = reduces ? bytes : 0;
    } else if (part == PART_OTHER) {
        record->bytes = reduces ? bytes : 0;
        record->bytes_in = reduces ? 0 : bytes;
    }
}

static void dumpi_collective_all_gather(struct dumpi_events *events, struct event *record,
                                        const struct parts *get, unsigned count, unsigned type,
                                        unsigned comm)
{
    struct dumpi_view view = dumpi_collective_enter(events, record, comm);
    record->bytes_in = dumpi_collective_total_bytes(events, get, view.size);
    record->bytes =
        dumpi_collective_in_place(record, dumpi_collective_is_no_type(dumpi_value_of(events, type)))
            ? dumpi_collective_part_bytes(events, get, view.rank)
            : dumpi_bytes_of(events, count, type);
}

static void dumpi_collective_all_to_all(struct dumpi_events *events, struct event *record,
                                        const struct parts *give, const struct parts *get,
                                        int no_type, unsigned comm)
{
    struct dumpi_view view = dumpi_collective_enter(events, record, comm);
    record->bytes_in = dumpi_collective_total_bytes(events, get, view.size);
    record->bytes = dumpi_collective_in_place(record, no_type)
                        ? record->bytes_in
                        : dumpi_collective_total_bytes(events, give, view.size);
}

/* Every rank sends and receives the same number of bytes. */
static void dumpi_collective_all_reduce(struct dumpi_events *events, struct event *record)
{
    dumpi_collective_enter(events, record, 3);
    record->bytes = record->bytes_in = dumpi_bytes_of(events, 0, 1);
}

static void dumpi_collective_reduce_scatter(struct dumpi_events *events, struct event *record)
{
    struct dumpi_view view = dumpi_collective_enter(events, record, 4);
    struct parts parts = dumpi_collective_parts_counted(events, 1, 2);
    record->bytes_in = dumpi_collective_part_bytes(events, &parts, view.rank);
    record->bytes = dumpi_collective_total_bytes(events, &parts, view.size);
}

static void dumpi_collective_record_symmetric(struct dumpi_events *events, struct event *record)
{
    struct parts give, get;
    switch (events->stream.call.function) {
    case DUMPI_Allgather:
        get = dumpi_collective_parts_same(events, 2, 3);
        dumpi_collective_all_gather(events, record, &get, 0, 1, 4);
        break;
    case DUMPI_Allgatherv:
        get = dumpi_collective_parts_counted(events, 3, 5);
        dumpi_collective_all_gather(events, record, &get, 1, 2, 6);
        break;
    case DUMPI_Alltoall:
        give = dumpi_collective_parts_same(events, 0, 1);
        get = dumpi_collective_parts_same(events, 2, 3);
        dumpi_collective_all_to_all(events, record, &give, &get,
                                    dumpi_collective_is_no_type(dumpi_value_of(events, 1)), 4);
        break;
    case DUMPI_Alltoallv:
        give = dumpi_collective_parts_counted(events, 1, 3);
        get = dumpi_collective_parts_counted(events, 4, 6);
        dumpi_collective_all_to_all(events, record, &give, &get,
                                    dumpi_collective_is_no_type(dumpi_value_of(events, 3)), 7);
        break;
    case DUMPI_Alltoallw:
        give = dumpi_collective_parts_typed(events, 1, 3);
        get = dumpi_collective_parts_typed(events, 4, 6);
        dumpi_collective_all_to_all(events, record, &give, &get, 0, 7);
        break;
    default:
        break;
    }
}

void dumpi_record_collective(struct dumpi_events *events)
{
    struct event *record = &events->queue[0];
    switch (events->stream.call.function) {
    case DUMPI_Barrier:
        dumpi_collective_enter(events, record, 0);
        break;
    case DUMPI_Bcast:
        dumpi_collective_bcast_or_reduce(events, record, 2, 3);
        break;
    case DUMPI_Reduce:
        dumpi_collective_bcast_or_reduce(events, record, 3, 4);
        break;
    case DUMPI_Gather:
    case DUMPI_Gatherv:
    case DUMPI_Scatter:
    case DUMPI_Scatterv:
        dumpi_collective_gather_or_scatter(events, record);
        break;
    case DUMPI_Allreduce:
    case DUMPI_Scan:
    case DUMPI_Exscan:
        dumpi_collective_all_reduce(events, record);
        break;
    case DUMPI_Reduce_scatter:
        dumpi_collective_reduce_scatter(events, record);
        break;
    default:
        dumpi_collective_record_symmetric(events, record);
        break;
    }
}
