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
        return dumpi_bytes_product(parts->same, size);
    for (int64_t i = 0; i < parts->length; i++)
        sum = dumpi_bytes_sum(sum, dumpi_collective_part_bytes(events, parts, i));
    return sum;
}

/* The parts that arguments describe. */
struct parts_arguments {
    enum {
        NO_PARTS,
        SAME,
        COUNTED,
        TYPED
    } how; /* one count; a count, or count and type, by rank */
    unsigned count, type;
};

static struct parts dumpi_collective_parts(const struct dumpi_events *events,
                                           const struct parts_arguments *of)
{
    if (of->how == NO_PARTS || of->how == SAME)
        return (struct parts){.same = of->how == SAME ? dumpi_bytes_of(events, of->count, of->type)
                                                      : 0};
    struct parts parts = {.counts = dumpi_words(&events->stream, of->count),
                          .length = dumpi_value_of(events, of->count)};
    if (of->how == TYPED) {
        parts.types = dumpi_words(&events->stream, of->type);
        if (dumpi_value_of(events, of->type) < parts.length)
            parts.length = dumpi_value_of(events, of->type);
        return parts;
    }
    uint64_t each = dumpi_type_size(&events->types, dumpi_value_of(events, of->type));
    parts.each = each < UINT32_MAX ? each : UINT32_MAX;
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
 * in another. Numbers are those of arguments; the first is the rank in the communicator. */
struct rooted {
    unsigned comm, root;
    struct parts_arguments all;
    unsigned one_count, one_type;
    int scatters;
};

static void dumpi_collective_put_rooted(struct dumpi_events *events, struct event *record,
                                        const struct rooted *r)
{
    struct parts all = dumpi_collective_parts(events, &r->all);
    struct dumpi_view view = dumpi_collective_enter(events, record, r->comm);
    int64_t root = dumpi_value_of(events, r->root);
    if (!(view.flags & EVENT_INTER))
        view.rank = (int32_t)dumpi_value_of(events, 0);
    enum part part = dumpi_collective_rooted(events, record, &view, root);
    if (part == PART_NONE)
        return;
    if (part == PART_ROOT)
        *(r->scatters ? &record->bytes : &record->bytes_in) =
            dumpi_collective_total_bytes(events, &all, view.size);
    if (part == PART_ROOT && view.flags & EVENT_INTER)
        return;
    int placed = part == PART_ROOT &&
                 dumpi_collective_in_place(
                     record, dumpi_collective_is_no_type(dumpi_value_of(events, r->one_type)));
    *(r->scatters ? &record->bytes_in : &record->bytes) =
        placed ? dumpi_collective_part_bytes(events, &all, root)
               : dumpi_bytes_of(events, r->one_count, r->one_type);
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

/* Allgather and Alltoall: every rank gives to all, and gets from all. */
struct symmetric {
    struct parts_arguments give, get; /* give of Allgather: its one part */
    unsigned type;                    /* argument: no type means in place; 0: it cannot tell */
    unsigned comm;
    int gathers;
};

static void dumpi_collective_put_symmetric(struct dumpi_events *events, struct event *record,
                                           const struct symmetric *s)
{
    struct parts give = dumpi_collective_parts(events, &s->give),
                 get = dumpi_collective_parts(events, &s->get);
    struct dumpi_view view = dumpi_collective_enter(events, record, s->comm);
    int no_type = s->type != 0 && dumpi_collective_is_no_type(dumpi_value_of(events, s->type));
    record->bytes_in = dumpi_collective_total_bytes(events, &get, view.size);
    if (dumpi_collective_in_place(record, no_type))
        record->bytes =
            s->gathers ? dumpi_collective_part_bytes(events, &get, view.rank) : record->bytes_in;
    else
        record->bytes =
            s->gathers ? give.same : dumpi_collective_total_bytes(events, &give, view.size);
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
    struct parts parts = dumpi_collective_parts(events, &(struct parts_arguments){COUNTED, 1, 2});
    record->bytes_in = dumpi_collective_part_bytes(events, &parts, view.rank);
    record->bytes = dumpi_collective_total_bytes(events, &parts, view.size);
}

static const struct rooted rooted[DUMPI_FUNCTIONS + 1] = {
    [DUMPI_Gather] = {4, 3, {SAME, 5, 6}, 1, 2, 0},
    [DUMPI_Gatherv] = {5, 4, {COUNTED, 6, 8}, 2, 3, 0},
    [DUMPI_Scatter] = {4, 3, {SAME, 5, 6}, 1, 2, 1},
    [DUMPI_Scatterv] = {6, 5, {COUNTED, 7, 2}, 3, 4, 1},
};

static const struct symmetric symmetric[DUMPI_FUNCTIONS + 1] = {
    [DUMPI_Allgather] = {{SAME, 0, 1}, {SAME, 2, 3}, 1, 4, 1},
    [DUMPI_Allgatherv] = {{SAME, 1, 2}, {COUNTED, 3, 5}, 2, 6, 1},
    [DUMPI_Alltoall] = {{SAME, 0, 1}, {SAME, 2, 3}, 1, 4, 0},
    [DUMPI_Alltoallv] = {{COUNTED, 1, 3}, {COUNTED, 4, 6}, 3, 7, 0},
    [DUMPI_Alltoallw] = {{TYPED, 1, 3}, {TYPED, 4, 6}, 0, 7, 0},
};

void dumpi_record_collective(struct dumpi_events *events)
{
    struct event *record = &events->queue[0];
    uint32_t function = events->stream.call.function;
    if (rooted[function].all.how != NO_PARTS)
        dumpi_collective_put_rooted(events, record, &rooted[function]);
    else if (symmetric[function].get.how != NO_PARTS)
        dumpi_collective_put_symmetric(events, record, &symmetric[function]);
    else if (function == DUMPI_Barrier)
        dumpi_collective_enter(events, record, 0);
    else if (function == DUMPI_Bcast)
        dumpi_collective_bcast_or_reduce(events, record, 2, 3);
    else if (function == DUMPI_Reduce)
        dumpi_collective_bcast_or_reduce(events, record, 3, 4);
    else if (function == DUMPI_Reduce_scatter)
        dumpi_collective_reduce_scatter(events, record);
    else if (function == DUMPI_Allreduce || function == DUMPI_Scan || function == DUMPI_Exscan)
        dumpi_collective_all_reduce(events, record);
}
