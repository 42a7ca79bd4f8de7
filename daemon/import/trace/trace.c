/* Import of a trace: chooses the windows, reads streams, and lets a virtual agent for each host
 * (trace_host.h) sum and match them window by window. */
#include "daemon/import/trace/trace.h"

#include "daemon/analysis/tables/arena.h"
#include "daemon/analysis/tables/saturate.h"
#include "daemon/import/import_file.h"
#include "daemon/import/trace/trace_host.h"
#include "daemon/import/trace/trace_pool.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TARGET_WINDOWS 250u    /* target for the number of windows of a trace */
#define MAX_WINDOWS (1u << 20) /* limit for the windows of all hosts together */
/* Minimum of the limit for one host, however many hosts there are. */
#define MIN_HOST_WINDOWS 4096u
#define UNKNOWN_WINDOW_NS UINT64_C(10000000)
#define LONGEST_WINDOW_NS UINT64_C(1000000000) /* longest window that is chosen */
#define STRAY_RATIO 100u                       /* one of so many records may have an invalid time */
#define BEYOND_FACTOR 4u /* records later than this multiple of the trace's length are invalid */

struct import {
    const struct trace_job *job;
    const struct trace_reader *reader;
    const struct trace_wishes *wishes;
    const char *path;
    struct import_job file_job;
    struct import_file *file;
    struct trace_pool *pool;
    struct arena memory; /* of all arrays */
    struct trace_stream *streams;
    uint32_t *of_rank; /* streams by rank */
    struct trace_rank *ranks;
    struct trace_host *hosts;
    struct trace_desk *desks;
    uint32_t desk_count;
    uint32_t *dry;   /* streams that must be read on, grouped by rank */
    uint32_t *turns; /* where those of each rank begin, and the last ones end */
    uint32_t dry_count, turn_count;
    uint64_t until; /* records that begin later are not needed yet, ticks */
    uint64_t limit; /* records beyond it are invalid, ticks */
    /* The work of the pool: hosts [first, first + count), one at each desk. */
    uint32_t first, count;
    uint8_t *wants; /* by desk: the host needs further records */
    uint64_t zero_ns, first_ns, window_ns, window, limit_ns;
    uint64_t end_ns; /* of the trace as far as it is known in advance, daemon time */
    uint64_t most;   /* maximum number of windows of a host */
};

uint64_t trace_window_ns(uint64_t length_ns)
{
    static const uint64_t steps[] = {1, 2, 5};
    if (length_ns == 0)
        return UNKNOWN_WINDOW_NS;
    for (uint64_t power = 1000; power < UINT64_C(1000000000); power *= 10)
        for (int i = 0; i < 3; i++)
            if (length_ns / (steps[i] * power) <= TARGET_WINDOWS)
                return steps[i] * power;
    return LONGEST_WINDOW_NS;
}

static int trace_report_fault(const struct import *m, int code, const char *what)
{
    struct faults faults = {m->path, m->wishes->fault, m->wishes->user, 0};
    fault_at(&faults, 0, "%s", what);
    return code;
}

/* ---- setting up ------------------------------------------------------------ */

/* Streams by rank, those of each rank in the order of their numbers. */
static void trace_group_streams(struct import *m)
{
    const struct trace_job *job = m->job;
    uint32_t at = 0;
    for (uint32_t s = 0; s < job->stream_count; s++) {
        m->streams[s] = (struct trace_stream){.number = s, .rank = job->rank_of[s]};
        m->ranks[job->rank_of[s]].stream_count++;
    }
    for (uint32_t r = 0; r < job->ranks; r++) {
        m->ranks[r].rank = r;
        m->ranks[r].streams = m->of_rank + at;
        at += m->ranks[r].stream_count;
        m->ranks[r].stream_count = 0;
    }
    for (uint32_t s = 0; s < job->stream_count; s++) {
        struct trace_rank *rank = &m->ranks[job->rank_of[s]];
        rank->streams[rank->stream_count++] = s;
    }
}

static int trace_make_tables(struct import *m)
{
    const struct trace_job *job = m->job;
    unsigned threads = trace_pool_threads(m->pool);
    uint32_t desks = threads < job->host_count ? threads : job->host_count;
    ARENA_TAKE(&m->memory, m->streams, (size_t)job->stream_count + 1);
    ARENA_TAKE(&m->memory, m->of_rank, (size_t)job->stream_count + 1);
    ARENA_TAKE(&m->memory, m->dry, (size_t)job->stream_count + 1);
    ARENA_TAKE(&m->memory, m->turns, (size_t)job->ranks + 1);
    ARENA_TAKE(&m->memory, m->ranks, (size_t)job->ranks + 1);
    ARENA_TAKE(&m->memory, m->hosts, (size_t)job->host_count + 1);
    ARENA_TAKE(&m->memory, m->desks, (size_t)desks + 1);
    ARENA_TAKE(&m->memory, m->wants, (size_t)desks + 1);
    if (m->memory.failed)
        return -ENOMEM;
    trace_group_streams(m);
    int code = 0;
    for (; code == 0 && m->desk_count < desks; m->desk_count++)
        code = trace_desk_init(&m->desks[m->desk_count]);
    return code;
}

/* Streams of a rank may wait for each other: they are asked one after the other, so that the result
 * does not depend on the number of threads. If all of them wait, the first one is forced to
 * continue. */
static void trace_read_on(void *user, uint32_t piece)
{
    struct import *m = user;
    int known = 0;
    for (uint32_t i = m->turns[piece]; i < m->turns[piece + 1]; i++)
        known |= trace_stream_refill(&m->streams[m->dry[i]], m->reader, m->until, m->limit);
    if (!known)
        trace_stream_refill(&m->streams[m->dry[m->turns[piece]]], m->reader, UINT64_MAX, m->limit);
}

static void trace_list_dry(struct import *m, const struct trace_rank *rank)
{
    m->turns[m->turn_count] = m->dry_count;
    for (uint32_t k = 0; k < rank->stream_count; k++)
        if (trace_stream_is_dry(&m->streams[rank->streams[k]], m->until, m->limit))
            m->dry[m->dry_count++] = rank->streams[k];
    m->turn_count += m->dry_count > m->turns[m->turn_count];
}

static void trace_read_dry(struct import *m)
{
    m->turns[m->turn_count] = m->dry_count;
    trace_pool_run(m->pool, trace_read_on, m, m->turn_count);
    m->turn_count = m->dry_count = 0;
}

/* The first records of all streams determine when the first window begins. */
static uint64_t trace_first_entry(struct import *m)
{
    uint64_t first = UINT64_MAX;
    m->until = 1;
    m->limit = UINT64_MAX;
    for (uint32_t r = 0; r < m->job->ranks; r++)
        trace_list_dry(m, &m->ranks[r]);
    trace_read_dry(m);
    for (uint32_t s = 0; s < m->job->stream_count; s++) {
        const struct trace_stream *stream = &m->streams[s];
        uint64_t begin = stream->count > 0 ? stream->batch[0].t_enter : stream->later;
        if ((stream->count > 0 || begin > 0) && begin < first)
            first = begin;
    }
    return first == UINT64_MAX ? 0 : first;
}

/* Length of the trace from the first record on. If the stated end is before the first record it is
 * taken as a length: the writer took times since 1970 and did not store their zero.
 * @return 0: unknown or implausible */
static uint64_t trace_window_length(const struct import *m, uint64_t first_ns)
{
    const struct trace_job *job = m->job;
    uint64_t length = job->length_ns > first_ns ? job->length_ns - first_ns
                      : job->length_is_claim    ? job->length_ns
                                                : 0;
    return job->length_is_claim && length / LONGEST_WINDOW_NS >= m->most ? 0 : length;
}

/* Set the maximum number of windows of each host, and check that it is sufficient. */
static int trace_limit_windows(struct import *m, uint64_t first_ns)
{
    uint64_t most = MAX_WINDOWS / m->job->host_count;
    m->most = most = most < MIN_HOST_WINDOWS ? MIN_HOST_WINDOWS : most;
    m->first_ns = first_ns;
    uint64_t length = trace_window_length(m, first_ns);
    m->window_ns = m->job->window_ns != 0 ? m->job->window_ns : trace_window_ns(length);
    if (length / m->window_ns >= most) {
        char text[128];
        snprintf(text, sizeof(text),
                 "the trace has %" PRIu64 " windows of %" PRIu64 " ns; at most %" PRIu64
                 " can be made",
                 length / m->window_ns, m->window_ns, most);
        return trace_report_fault(m, -HOLTER_ERANGE, text);
    }
    m->zero_ns = m->job->begin_ns != 0 ? m->job->begin_ns : IMPORT_BEGIN_NS;
    uint64_t span = most > INT64_MAX / m->window_ns ? INT64_MAX : most * m->window_ns;
    uint64_t latest = INT64_MAX - span;
    if (m->zero_ns > latest || first_ns > latest - m->zero_ns)
        return trace_report_fault(m, -HOLTER_ERANGE, "the trace begins after the end of time");
    if (length > 0 && most > BEYOND_FACTOR * (length / m->window_ns) + MIN_HOST_WINDOWS)
        most = BEYOND_FACTOR * (length / m->window_ns) + MIN_HOST_WINDOWS;
    m->window = (m->zero_ns + first_ns) / m->window_ns;
    m->limit_ns = (m->window + most) * m->window_ns;
    m->end_ns = m->zero_ns + first_ns + length;
    return 0;
}

static int trace_begin_file(struct import *m, uint64_t first_ns)
{
    char why[512];
    const struct trace_job *job = m->job;
    m->file_job = (struct import_job){.name = job->name,
                                      .app = job->app,
                                      .command = job->command,
                                      .mpi = job->mpi,
                                      .ranks = job->ranks,
                                      .host_of = job->host_of,
                                      .hosts = job->hosts,
                                      .host_count = job->host_count,
                                      .window_ns = m->window_ns,
                                      .begin_ns = m->zero_ns + first_ns,
                                      .network = m->wishes->network,
                                      .network_source = m->wishes->network_source};
    int code = import_file_create(&m->file, m->path, &m->file_job, why, sizeof(why));
    return code != 0 ? trace_report_fault(m, code, why) : 0;
}

static int trace_begin_hosts(struct import *m)
{
    const uint32_t *ranks;
    uint32_t nodes = 0;
    int code = 0;
    for (uint32_t h = 0; h < m->job->host_count; h++)
        nodes += import_file_ranks(m->file, h, &ranks) > 0;
    for (uint32_t h = 0; code == 0 && h < m->job->host_count; h++) {
        struct trace_host *host = &m->hosts[h];
        *host = (struct trace_host){.job = m->job,
                                    .number = h,
                                    .all = m->ranks,
                                    .all_streams = m->streams,
                                    .reader = m->reader,
                                    .begin_ns = m->window * m->window_ns,
                                    .first_ns = m->zero_ns + m->first_ns,
                                    .settled_ns = m->window * m->window_ns,
                                    .limit_ns = m->limit_ns,
                                    .capture_share = trace_capture_share(m->job->stream_count),
                                    .capture_nodes = nodes,
                                    .capture_ns = m->end_ns};
        tick_clock_init_ns(&host->clock);
        host->clock.base_ns = m->zero_ns;
        host->rank_count = import_file_ranks(m->file, h, &host->ranks);
        host->ended = host->rank_count == 0;
        code = trace_host_init(host);
    }
    return code;
}

/* ---- one window ------------------------------------------------------------ */

static void trace_drain(void *user, uint32_t piece)
{
    struct import *m = user;
    struct trace_host *host = &m->hosts[m->first + piece];
    if (!m->wants[piece])
        return;
    if (host->desk == NULL)
        host->code = trace_host_open(host, &m->desks[piece]);
    m->wants[piece] =
        host->code == 0 && trace_host_drain(host, (m->window + 1) * m->window_ns) != 0;
}

static void trace_close_one(void *user, uint32_t piece)
{
    struct import *m = user;
    struct trace_host *host = &m->hosts[m->first + piece];
    if (!host->ended && host->code == 0)
        host->code =
            trace_host_close(host, m->window, m->window_ns, import_file_seq(m->file, host->number));
    else
        m->desks[piece].part_count = 0;
}

/* Read streams and drain hosts in turns until the window is complete. */
static void trace_fill(struct import *m)
{
    int wanted = 1;
    m->limit = m->limit_ns - m->zero_ns;
    m->until = (m->window + 1) * m->window_ns - m->zero_ns;
    for (uint32_t i = 0; i < m->count; i++)
        m->wants[i] = (uint8_t)!m->hosts[m->first + i].ended;
    while (wanted) {
        wanted = 0;
        for (uint32_t i = 0; i < m->count; i++)
            for (uint32_t k = 0; m->wants[i] && k < m->hosts[m->first + i].rank_count; k++)
                trace_list_dry(m, &m->ranks[m->hosts[m->first + i].ranks[k]]);
        trace_read_dry(m);
        trace_pool_run(m->pool, trace_drain, m, m->count);
        for (uint32_t i = 0; i < m->count; i++)
            wanted |= m->wants[i];
    }
}

static int trace_write_window(struct import *m, uint32_t desk)
{
    const struct trace_desk *d = &m->desks[desk];
    const uint8_t *at = d->messages.bytes;
    int code = m->hosts[m->first + desk].code;
    if (code != 0)
        return trace_report_fault(m, code, holter_strerror(code));
    for (uint32_t i = 0; code == 0 && i < d->part_count; i++) {
        const struct import_message message = {d->parts[i].type, d->parts[i].seq, m->window, at,
                                               d->parts[i].length};
        code = import_file_encoded(m->file, m->first + desk, &message);
        at += d->parts[i].length;
    }
    return code != 0 ? trace_report_fault(m, code, import_file_error(m->file)) : 0;
}

static int trace_import_window(struct import *m)
{
    int code = 0;
    for (m->first = 0; code == 0 && m->first < m->job->host_count; m->first += m->desk_count) {
        uint32_t rest = m->job->host_count - m->first;
        m->count = rest < m->desk_count ? rest : m->desk_count;
        trace_fill(m);
        trace_pool_run(m->pool, trace_close_one, m, m->count);
        for (uint32_t i = 0; code == 0 && i < m->count; i++)
            code = trace_write_window(m, i);
    }
    return code;
}

static int trace_continue(const struct import *m)
{
    for (uint32_t h = 0; h < m->job->host_count; h++)
        if (!m->hosts[h].ended)
            return 1;
    return 0;
}

static void trace_report_progress(const struct import *m)
{
    uint64_t read = 0, all = 0;
    if (m->wishes->on_progress == NULL)
        return;
    if (m->reader->progress != NULL)
        m->reader->progress(m->reader->user, &read, &all);
    m->wishes->on_progress(m->wishes->user, read, all, m->window * m->window_ns - m->zero_ns);
}

/* Examine records far beyond the stated length: a few of them have invalid times, many show that
 * the length is wrong. @return the time by which nearly all records end; 0: the length is right, or
 * there would be too many windows */
static uint64_t trace_find_beyond(const struct import *m, uint64_t records)
{
    uint64_t window_ns = m->job->window_ns != 0 ? m->job->window_ns : LONGEST_WINDOW_NS;
    uint64_t counts[64] = {0}, latest[64] = {0}, rest = 0;
    for (uint32_t h = 0; h < m->job->host_count; h++)
        for (int b = 0; b < 64; b++) {
            const struct trace_host *host = &m->hosts[h];
            counts[b] += host->beyond[b];
            rest += host->beyond[b];
            latest[b] = host->beyond_latest[b] > latest[b] ? host->beyond_latest[b] : latest[b];
        }
    uint64_t stray = records / STRAY_RATIO;
    for (int b = 0; b < 64 && rest > stray; b++) {
        rest -= counts[b];
        if (rest <= stray && latest[b] > m->first_ns)
            return (latest[b] - m->first_ns) / window_ns < m->most ? latest[b] : 0;
    }
    return 0;
}

static void trace_sum_counts(const struct import *m, struct trace_counts *out)
{
    *out = (struct trace_counts){0};
    for (uint32_t h = 0; h < m->job->host_count; h++) {
        const struct trace_counts *c = &m->hosts[h].counts;
        out->windows = c->windows > out->windows ? c->windows : out->windows;
        out->records += c->records;
        out->sent += c->sent;
        out->sent_bytes = saturated_sum(out->sent_bytes, c->sent_bytes);
        out->received += c->received;
        out->received_bytes = saturated_sum(out->received_bytes, c->received_bytes);
        out->collectives += c->collectives;
        out->matched += c->matched;
        out->unmatched += c->unmatched;
        out->rejected += c->rejected;
        out->halves += c->halves;
        out->lost += c->lost;
    }
    out->window_ns = m->window_ns;
    out->beyond_ns = trace_find_beyond(m, out->records + out->lost);
    for (uint32_t s = 0; s < m->job->stream_count; s++)
        out->failed_streams += (uint64_t)m->streams[s].failed;
}

/* Report records that were left out, unless the trace is read once more with the length that they
 * indicate. */
static void trace_report_lost(const struct import *m, const struct trace_counts *counts)
{
    const struct trace_host *stray = NULL;
    char text[240];
    if (counts->lost == 0 || (m->job->length_is_claim && counts->beyond_ns != 0))
        return;
    for (uint32_t h = 0; stray == NULL && h < m->job->host_count; h++)
        stray = m->hosts[h].stray_ns != 0 ? &m->hosts[h] : NULL;
    if (stray == NULL)
        snprintf(text, sizeof(text),
                 "%" PRIu64 " records are none, or have too many bytes, and left out",
                 counts->lost);
    else
        snprintf(text, sizeof(text),
                 "%" PRIu64 " records are none, or far beyond the end, and left out: the first "
                 "with such a time is of rank %" PRIu32 ", at %.9f s",
                 counts->lost, stray->stray_rank, (double)stray->stray_ns * 1e-9);
    trace_report_fault(m, 0, text);
}

/* ---- all of it ------------------------------------------------------------- */

static int trace_run(struct import *m)
{
    int code = trace_pool_create(&m->pool, m->wishes->threads);
    code = code != 0 ? code : trace_make_tables(m);
    if (code != 0)
        return trace_report_fault(m, code, holter_strerror(code));
    uint64_t first_ns = trace_first_entry(m);
    code = trace_limit_windows(m, first_ns);
    code = code != 0 ? code : trace_begin_file(m, first_ns);
    if (code == 0 && (code = trace_begin_hosts(m)) != 0)
        return trace_report_fault(m, code, holter_strerror(code));
    for (; code == 0 && trace_continue(m); m->window++) {
        code = trace_import_window(m);
        trace_report_progress(m);
    }
    return code;
}

static void trace_finish(struct import *m)
{
    for (uint32_t h = 0; m->hosts != NULL && h < m->job->host_count; h++)
        trace_host_finish(&m->hosts[h]);
    for (uint32_t d = 0; d < m->desk_count; d++)
        trace_desk_finish(&m->desks[d]);
    for (uint32_t s = 0; m->streams != NULL && s < m->job->stream_count; s++) {
        free(m->streams[s].batch);
        trace_capture_finish(&m->streams[s].kept);
    }
    trace_pool_destroy(m->pool);
    arena_finish(&m->memory);
}

static int trace_is_complete(const struct trace_job *job)
{
    int sound =
        job->ranks > 0 && job->ranks <= INT32_MAX && job->host_count > 0 && job->stream_count > 0;
    for (uint32_t r = 0; sound && r < job->ranks; r++)
        sound = job->host_of[r] < job->host_count || job->host_of[r] == IMPORT_NOWHERE;
    for (uint32_t s = 0; sound && s < job->stream_count; s++)
        sound = job->rank_of[s] < job->ranks && job->host_of[job->rank_of[s]] < job->host_count;
    return sound;
}

int trace_import(const char *path, const struct trace_job *job, const struct trace_reader *reader,
                 const struct trace_wishes *wishes, struct trace_counts *out)
{
    struct import m = {.job = job, .reader = reader, .wishes = wishes, .path = path};
    if (!trace_is_complete(job))
        return trace_report_fault(&m, -HOLTER_ERANGE, "there are no ranks in the trace");
    int code = trace_run(&m);
    uint64_t windows = 0;
    if (m.hosts != NULL) {
        trace_sum_counts(&m, out);
        trace_report_lost(&m, out);
        windows = out->windows;
    }
    trace_finish(&m);
    char why[200];
    int closed = import_file_close(m.file, code, windows, why, sizeof(why));
    return code == 0 && closed != 0 ? trace_report_fault(&m, closed, why) : code;
}
