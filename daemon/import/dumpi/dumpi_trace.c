/* A DUMPI trace as the job and the reader that trace_import() needs: hosts, clocks, streams. */
#include "daemon/analysis/tables/name_table.h"
#include "daemon/import/dumpi/dumpi.h"
#include "daemon/import/dumpi/dumpi_set.h"
#include "daemon/import/import_file.h"
#include "daemon/import/trace/trace_pool.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define TOTAL_BUFFER_BYTES (64u << 20) /* bytes that all streams together read ahead */
#define BUFFER_LEAST 4096u
#define BUFFER_MOST 65536u
/* Clocks that differ by more are not synchronised. */
#define MAX_CLOCK_SKEW_NS INT64_C(60000000000)
#define DAY_S UINT64_C(86400)
#define BILLION INT64_C(1000000000)

struct stream {
    uint32_t rank;
    const uint16_t *threads;
    uint32_t thread_count;
    struct dumpi_events *events; /* while the stream is read */
    uint64_t reported;           /* bytes already counted in the progress */
    int ended;
};

struct dumpi_trace {
    struct dumpi_set set;
    struct dumpi_comms *comms;
    uint32_t looked; /* number of ranks whose files have been scanned */
    struct dumpi_call_numbers numbers;
    struct dumpi_facts facts;
    struct stream *streams;
    uint32_t stream_count;
    uint32_t *rank_of, *host_of;
    struct name_table hosts;
    size_t capacity; /* bytes of a stream's buffer */
    _Atomic uint64_t read;
    uint64_t all;
    char name[IMPORT_JOB_NAME], app[256], command[600], mpi[64];
    struct trace_job job;
    struct trace_reader reader;
};

/* ---- reading ------------------------------------------------------------------- */

static int dumpi_trace_begin_stream(struct dumpi_trace *trace, struct stream *stream)
{
    const struct dumpi_part *part = &trace->set.parts[stream->rank];
    stream->events = malloc(sizeof *stream->events);
    if (stream->events == NULL)
        return -ENOMEM;
    int code = dumpi_events_init(stream->events, &part->file, trace->comms, stream->rank,
                                 &trace->numbers, trace->capacity);
    stream->events->zero_ns = part->zero_ns;
    stream->events->threads = stream->threads;
    stream->events->thread_count = stream->thread_count;
    return code;
}

static void dumpi_trace_end_stream(struct stream *stream)
{
    if (stream->events != NULL)
        dumpi_events_finish(stream->events);
    free(stream->events);
    stream->events = NULL;
    stream->ended = 1;
}

/* Faults of the file were already reported after its scan. */
static int dumpi_trace_code_of(const struct dumpi_events *events)
{
    switch (events->stream.outcome.ending) {
    case DUMPI_ENDED_EARLY:
        return -HOLTER_ETRUNCATED;
    case DUMPI_ENDED_BROKEN:
        return -HOLTER_ECORRUPT;
    case DUMPI_ENDED_UNREADABLE:
        return -EIO;
    default:
        return 0;
    }
}

static int dumpi_trace_next(void *user, uint32_t number, uint64_t until, struct event *out)
{
    (void)until; /* no stream waits for another */
    struct dumpi_trace *trace = user;
    struct stream *stream = &trace->streams[number];
    if (stream->ended)
        return 0;
    int code = stream->events == NULL ? dumpi_trace_begin_stream(trace, stream) : 0;
    int got = code == 0 ? dumpi_events_next(stream->events, out) : code;
    if (stream->events != NULL) {
        uint64_t at = dumpi_offset(&stream->events->stream.reader);
        atomic_fetch_add_explicit(&trace->read, at - stream->reported, memory_order_relaxed);
        stream->reported = at;
    }
    if (got > 0)
        return got;
    got = got == 0 ? dumpi_trace_code_of(stream->events) : got;
    dumpi_trace_end_stream(stream);
    return got;
}

static int dumpi_trace_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out)
{
    const struct dumpi_trace *trace = user;
    return dumpi_comms_describe(trace->comms, rank, slot, out);
}

static void dumpi_trace_progress(void *user, uint64_t *read, uint64_t *all)
{
    struct dumpi_trace *trace = user;
    *read = atomic_load_explicit(&trace->read, memory_order_relaxed);
    *all = trace->all;
}

/* ---- looking through ------------------------------------------------------------- */

static void dumpi_trace_scan_piece(void *user, uint32_t piece)
{
    struct dumpi_trace *trace = user;
    dumpi_part_scan(&trace->set, trace->looked + piece, trace->comms);
}

/* Number of ranks that the program queried, as far as its files have been scanned. */
static uint32_t dumpi_trace_world_of(const struct dumpi_trace *trace)
{
    uint32_t world = 0;
    for (uint32_t i = 0; i < trace->looked; i++)
        world = trace->set.parts[i].world > world ? trace->set.parts[i].world : world;
    return world;
}

/* Scan the files of the ranks that have not been scanned yet. */
static int dumpi_trace_scan_remaining(struct dumpi_trace *trace, struct trace_pool *pool)
{
    trace_pool_run(pool, dumpi_trace_scan_piece, trace, trace->set.ranks - trace->looked);
    for (; trace->looked < trace->set.ranks; trace->looked++)
        if (trace->set.parts[trace->looked].code == -ENOMEM)
            return -ENOMEM;
    return 0;
}

/* Scan all files. The text may state too few ranks, or be missing; but the program may have queried
 * their number. */
static int dumpi_trace_scan_all(struct dumpi_trace *trace, unsigned threads)
{
    struct trace_pool *pool;
    if (dumpi_comms_create(&trace->comms, trace->set.ranks) != 0 ||
        trace_pool_create(&pool, threads) != 0)
        return -ENOMEM;
    int code = dumpi_trace_scan_remaining(trace, pool);
    while (code == 0 && dumpi_trace_world_of(trace) > trace->set.ranks) {
        code = dumpi_set_extend(&trace->set, dumpi_trace_world_of(trace));
        if (code == -HOLTER_ELIMIT)
            break;
        code = code != 0 ? code : dumpi_comms_grow(trace->comms, trace->set.ranks);
        code = code != 0 ? code : dumpi_trace_scan_remaining(trace, pool);
    }
    trace_pool_destroy(pool);
    return code == -HOLTER_ELIMIT || code == 0 ? dumpi_comms_resolve_all(trace->comms) : code;
}

static int dumpi_trace_is_readable(const struct dumpi_part *part)
{
    return part->path != NULL && part->code == 0;
}

/* Sizes of predefined types are equal on all ranks: a truncated file uses those of another one. */
static int dumpi_trace_share_types(struct dumpi_trace *trace)
{
    const struct dumpi_file *lender = NULL;
    for (uint32_t i = 0; lender == NULL && i < trace->set.ranks; i++)
        if (dumpi_trace_is_readable(&trace->set.parts[i]) &&
            trace->set.parts[i].file.type_count >= DUMPI_TYPES_NAMED)
            lender = &trace->set.parts[i].file;
    for (uint32_t i = 0; lender != NULL && i < trace->set.ranks; i++) {
        struct dumpi_file *file = &trace->set.parts[i].file;
        if (!dumpi_trace_is_readable(&trace->set.parts[i]) || file->type_count > 0)
            continue;
        free(file->type_sizes);
        file->type_sizes = malloc(DUMPI_TYPES_NAMED * sizeof *file->type_sizes);
        if (file->type_sizes == NULL)
            return -ENOMEM;
        memcpy(file->type_sizes, lender->type_sizes, DUMPI_TYPES_NAMED * sizeof *file->type_sizes);
        file->type_count = DUMPI_TYPES_NAMED;
    }
    return 0;
}

/* Report the number of ranks that the text states, and what is known about it. */
static void dumpi_trace_report_missing_ranks(struct dumpi_trace *trace, struct faults *faults)
{
    unsigned long long stated = trace->set.meta.ranks;
    if (stated > 0 && trace->set.ranks > stated)
        fault_at(faults, 0,
                 "numprocs is %llu, but the program queried %u ranks, and these are imported",
                 stated, dumpi_trace_world_of(trace));
    if (trace->set.others == 0)
        return;
    fault_at(faults, 0,
             "there are files of %u ranks more than the %u that there were: they are left out",
             trace->set.others, trace->set.ranks);
    trace->facts.left_out = dumpi_trace_world_of(trace) == 0 ? trace->set.others : 0;
}

/* Report calls that were made while the user had turned tracing off for some functions, or for some
 * time. */
static void dumpi_trace_report_untraced(struct dumpi_trace *trace, struct faults *faults)
{
    const struct dumpi_part *most = NULL;
    for (uint32_t i = 0; i < trace->set.ranks; i++) {
        const struct dumpi_part *part = &trace->set.parts[i];
        trace->facts.off += part->off;
        most = most == NULL || part->off_most > most->off_most ? part : most;
    }
    if (trace->facts.off > 0)
        fault_at(faults, 0,
                 "%llu calls were made while the tracer was turned off for them, most of %s: the "
                 "trace does not have them",
                 (unsigned long long)trace->facts.off,
                 most->off_function < DUMPI_FUNCTIONS ? dumpi_layout(most->off_function)->name
                                                      : "a function that is not known");
}

static void dumpi_trace_report_ranges(struct dumpi_trace *trace, const char *source,
                                      struct faults *faults)
{
    struct dumpi_facts *facts = &trace->facts;
    uint32_t missing = 0, first = 0;
    facts->ranks = trace->set.ranks;
    for (uint32_t i = 0; i < trace->set.ranks; i++) {
        const struct dumpi_part *part = &trace->set.parts[i];
        facts->broken += (uint32_t)dumpi_part_report(part, faults);
        facts->files += part->path != NULL;
        facts->calls += part->calls;
        facts->unknown += part->outcome.unknown;
        trace->all += dumpi_trace_is_readable(part)
                          ? part->file.body_end *
                                (part->thread_count <= DUMPI_MAX_THREADS ? part->thread_count : 1)
                          : 0;
        first = part->path == NULL && missing == 0 ? i : first;
        missing += part->path == NULL;
    }
    facts->unresolved = dumpi_comms_unresolved(trace->comms);
    faults->name = source;
    facts->missing = missing;
    facts->too_many = trace->set.too_many;
    dumpi_trace_report_untraced(trace, faults);
    dumpi_trace_report_missing_ranks(trace, faults);
    if (missing > 0)
        fault_at(faults, 0, "files of %u ranks are missing, the first is that of rank %u", missing,
                 first);
    if (facts->unresolved > 0)
        fault_at(
            faults, 0,
            "of %llu communicators the members are not known: messages in them have no other end",
            (unsigned long long)facts->unresolved);
}

/* ---- hosts ------------------------------------------------------------------------ */

static void dumpi_trace_name_host(const struct dumpi_trace *trace, const struct dumpi_part *part,
                                  int with_place, char out[NAME_TABLE_BYTES])
{
    const char *name = part->file.host != NULL && part->file.host[0] != '\0' ? part->file.host
                       : trace->set.meta.host[0] != '\0'                     ? trace->set.meta.host
                                                                             : "unknown";
    uint32_t dimensions = with_place ? part->file.mesh_dimensions : 0;
    char place[40] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < dimensions && used < sizeof place - 14; i++)
        used += (size_t)snprintf(place + used, sizeof place - used, "%c%d", i == 0 ? '(' : ',',
                                 part->file.mesh_place[i]);
    snprintf(out, NAME_TABLE_BYTES, "%.*s%s%s", used == 0 ? 64 : 40, name, place,
             used == 0 ? "" : ")");
    for (char *c = out; *c != '\0'; c++)
        *c = (unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f ? '?' : *c;
}

/* Hosts in the order of their first ranks. */
static int dumpi_trace_list_hosts(struct dumpi_trace *trace, int with_place)
{
    name_table_finish(&trace->hosts);
    for (uint32_t i = 0; i < trace->set.ranks; i++) {
        char name[NAME_TABLE_BYTES];
        dumpi_trace_name_host(trace, &trace->set.parts[i], with_place, name);
        trace->host_of[i] = name_table_number(&trace->hosts, name, NAME_TABLE_NONE);
        if (trace->host_of[i] == NAME_TABLE_NONE)
            return -ENOMEM;
    }
    return 0;
}

/* Do ranks of one host have different places? @return 0, 1 or -ENOMEM */
static int dumpi_trace_hosts_have_places(const struct dumpi_trace *trace)
{
    const struct dumpi_part **first = calloc((size_t)trace->hosts.count + 1, sizeof(*first));
    int differ = 0;
    if (first == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < trace->set.ranks; i++) {
        const struct dumpi_part *part = &trace->set.parts[i], **of = &first[trace->host_of[i]];
        if (part->file.mesh_dimensions == 0)
            continue;
        *of = *of == NULL ? part : *of;
        differ |= memcmp((*of)->file.mesh_place, part->file.mesh_place,
                         sizeof part->file.mesh_place) != 0;
    }
    free(first);
    return differ;
}

/* Machines with a mesh may give all their nodes the same name: then places tell them apart. */
static int dumpi_trace_find_hosts(struct dumpi_trace *trace)
{
    trace->host_of = calloc(trace->set.ranks, sizeof *trace->host_of);
    int code = trace->host_of == NULL ? -ENOMEM : dumpi_trace_list_hosts(trace, 0);
    code = code != 0 ? code : dumpi_trace_hosts_have_places(trace);
    return code == 1 ? dumpi_trace_list_hosts(trace, 1) : code;
}

/* ---- time --------------------------------------------------------------------------- */

/* Ranks whose times are of the same clock have the same number: those of a host, or, without a wall
 * clock, each rank alone. */
static uint32_t dumpi_trace_clock_of(const struct dumpi_trace *trace, uint32_t rank)
{
    return trace->set.parts[rank].wall ? trace->host_of[rank] : trace->hosts.count + rank;
}

struct clock_span {
    int64_t first_ns, init_ns; /* first call of any rank; last end of MPI_Init */
    int used;
};

/* Align the clocks: all ranks leave MPI_Init at about the same time, which is the common point of
 * clocks that are not synchronised. */
static void dumpi_trace_set_zeros(struct dumpi_trace *trace, struct clock_span *spans)
{
    int64_t first = INT64_MAX, low = INT64_MAX, high = INT64_MIN, before = 0;
    for (uint32_t i = 0; i < trace->set.ranks; i++) {
        const struct dumpi_part *part = &trace->set.parts[i];
        if (part->calls == 0)
            continue;
        struct clock_span *span = &spans[dumpi_trace_clock_of(trace, i)];
        span->first_ns = span->used ? MIN(span->first_ns, part->first_ns) : part->first_ns;
        span->init_ns = span->used ? MAX(span->init_ns, part->init_ns) : part->init_ns;
        span->used = 1;
    }
    for (uint32_t i = 0; i < trace->hosts.count + trace->set.ranks; i++) {
        if (!spans[i].used)
            continue;
        first = MIN(first, spans[i].first_ns);
        low = MIN(low, spans[i].init_ns);
        high = MAX(high, spans[i].init_ns);
        before = MAX(before, spans[i].init_ns - spans[i].first_ns);
    }
    int apart = high > low && high - low > MAX_CLOCK_SKEW_NS;
    for (uint32_t i = 0; i < trace->set.ranks; i++) {
        struct dumpi_part *part = &trace->set.parts[i];
        if (part->calls > 0)
            part->zero_ns = apart ? spans[dumpi_trace_clock_of(trace, i)].init_ns - before : first;
    }
}

static int dumpi_trace_align_clocks(struct dumpi_trace *trace)
{
    struct clock_span *spans = calloc((size_t)trace->hosts.count + trace->set.ranks, sizeof *spans);
    uint64_t start_s = trace->set.meta.start_s;
    int64_t length = 0, zero = 0;
    if (spans == NULL)
        return -ENOMEM;
    dumpi_trace_set_zeros(trace, spans);
    free(spans);
    for (uint32_t i = trace->set.ranks; i-- > 0;) {
        const struct dumpi_part *part = &trace->set.parts[i];
        if (part->calls == 0)
            continue;
        length = MAX(length, part->last_ns - part->zero_ns);
        zero = part->wall ? part->zero_ns : 0;
        if (part->file.start_s > 0)
            start_s = part->file.start_s;
    }
    trace->job.length_ns = (uint64_t)length;
    /* The clock counts from 1970, or from the start of the machine. */
    uint64_t zero_s = zero > 0 ? (uint64_t)(zero / BILLION) : 0;
    if (zero_s > start_s - 2 * DAY_S && zero_s < start_s + 2 * DAY_S && start_s > 2 * DAY_S)
        trace->job.begin_ns = (uint64_t)zero;
    else if (start_s < UINT64_MAX / 2 / (uint64_t)BILLION)
        trace->job.begin_ns = start_s * (uint64_t)BILLION;
    return 0;
}

/* ---- streams ------------------------------------------------------------------------- */

static uint32_t dumpi_trace_streams_of(const struct dumpi_part *part)
{
    return !dumpi_trace_is_readable(part)           ? 0
           : part->thread_count > DUMPI_MAX_THREADS ? 1
           : part->thread_count == 0                ? 1
                                                    : part->thread_count;
}

static int dumpi_trace_make_streams(struct dumpi_trace *trace)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < trace->set.ranks; i++)
        count += dumpi_trace_streams_of(&trace->set.parts[i]);
    if (count == 0)
        return -ENOENT;
    trace->streams = calloc(count, sizeof *trace->streams);
    trace->rank_of = calloc(count, sizeof *trace->rank_of);
    if (trace->streams == NULL || trace->rank_of == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < trace->set.ranks; i++) {
        const struct dumpi_part *part = &trace->set.parts[i];
        uint32_t own = dumpi_trace_streams_of(part);
        for (uint32_t k = 0; k < own; k++) {
            uint32_t at = trace->stream_count++;
            trace->streams[at] =
                (struct stream){.rank = i, .threads = &part->threads[k], .thread_count = own > 1};
            trace->rank_of[at] = i;
        }
    }
    trace->capacity = TOTAL_BUFFER_BYTES / count;
    trace->capacity = trace->capacity < BUFFER_LEAST  ? BUFFER_LEAST
                      : trace->capacity > BUFFER_MOST ? BUFFER_MOST
                                                      : trace->capacity;
    return 0;
}

static void dumpi_trace_describe(struct dumpi_trace *trace, const char *source)
{
    const char *prefix = text_base_name(trace->set.meta.prefix);
    const uint8_t *version = trace->facts.version;
    import_job_name(trace->name, prefix, strlen(prefix), "dumpi");
    snprintf(trace->command, sizeof trace->command, "imported from %.500s", source);
    for (uint32_t i = trace->set.ranks; i-- > 0;) {
        const struct dumpi_part *part = &trace->set.parts[i];
        if (part->app != NULL)
            snprintf(trace->app, sizeof trace->app, "%.255s", part->app);
        if (dumpi_trace_is_readable(part) && part->file.whole)
            memcpy(trace->facts.version, part->file.version.part, 3);
    }
    snprintf(trace->mpi, sizeof trace->mpi, "imported: a DUMPI trace, version %d.%d.%d", version[0],
             version[1], version[2]);
    trace->job.name = trace->name;
    trace->job.app = trace->app;
    trace->job.command = trace->command;
    trace->job.mpi = trace->mpi;
    trace->job.ranks = trace->set.ranks;
    trace->job.record_bytes = TRACE_RECORD_BYTES;
    trace->job.stream_count = trace->stream_count;
    trace->job.rank_of = trace->rank_of;
    trace->job.host_of = trace->host_of;
    trace->job.hosts = (const char(*)[65])trace->hosts.names;
    trace->job.host_count = trace->hosts.count;
    /* Code regions need MPI_Pcontrol, whose calls libdumpi does not store. */
    trace->reader = (struct trace_reader){.user = trace,
                                          .next = dumpi_trace_next,
                                          .comm = dumpi_trace_comm,
                                          .progress = dumpi_trace_progress};
}

/* ---- the whole ------------------------------------------------------------------------ */

static int dumpi_trace_open_trace(struct dumpi_trace *trace, const char *source, unsigned threads,
                                  struct faults *faults)
{
    int code = dumpi_set_find(&trace->set, source, faults);
    if (code != 0)
        return code;
    dumpi_call_numbers(&trace->numbers);
    code = dumpi_trace_scan_all(trace, threads);
    if (code == 0) {
        dumpi_trace_report_ranges(trace, source, faults);
        code = dumpi_trace_share_types(trace);
    }
    code = code != 0 ? code : dumpi_trace_find_hosts(trace);
    code = code != 0 ? code : dumpi_trace_align_clocks(trace);
    code = code != 0 ? code : dumpi_trace_make_streams(trace);
    if (code == 0)
        dumpi_trace_describe(trace, source);
    return code;
}

int dumpi_trace_open(struct dumpi_trace **out, const char *source, unsigned threads,
                     file_fault *fault, void *user)
{
    struct faults faults = {source, fault, user, 0};
    struct dumpi_trace *trace = calloc(1, sizeof *trace);
    int code = trace == NULL ? -ENOMEM : dumpi_trace_open_trace(trace, source, threads, &faults);
    faults.name = source;
    if (code != 0 && (faults.count == 0 || code == -ENOMEM))
        fault_at(&faults, 0, "%s", holter_strerror(code));
    if (code != 0)
        dumpi_trace_close(trace);
    else
        *out = trace;
    return code;
}

void dumpi_trace_close(struct dumpi_trace *trace)
{
    if (trace == NULL)
        return;
    for (uint32_t i = 0; i < trace->stream_count; i++)
        dumpi_trace_end_stream(&trace->streams[i]);
    free(trace->streams);
    free(trace->rank_of);
    free(trace->host_of);
    name_table_finish(&trace->hosts);
    dumpi_comms_destroy(trace->comms);
    dumpi_set_finish(&trace->set);
    free(trace);
}

struct dumpi_facts dumpi_trace_facts(const struct dumpi_trace *trace)
{
    return trace->facts;
}

struct trace_job *dumpi_trace_job(struct dumpi_trace *trace)
{
    return &trace->job;
}

const struct trace_reader *dumpi_trace_reader(const struct dumpi_trace *trace)
{
    return &trace->reader;
}

int dumpi_import(const char *path, const char *source, const struct trace_wishes *wishes,
                 struct dumpi_counts *out)
{
    struct dumpi_trace *trace;
    *out = (struct dumpi_counts){0};
    int code = dumpi_trace_open(&trace, source, wishes->threads, wishes->fault, wishes->user);
    if (code != 0)
        return code;
    struct trace_job *job = &trace->job;
    job->window_ns = wishes->window_ns;
    out->facts = trace->facts;
    out->hosts = job->host_count;
    code = trace_import(path, job, &trace->reader, wishes, &out->counts);
    out->window_ns = out->counts.window_ns;
    dumpi_trace_close(trace);
    struct faults faults = {source, wishes->fault, wishes->user, 0};
    if (code == 0 && out->counts.records == 0)
        fault_at(&faults, 0, "there are no records of MPI in it");
    return code;
}
