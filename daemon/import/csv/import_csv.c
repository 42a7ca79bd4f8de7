/* Import of a table of messages: reads the rows, sorts their ends, and writes the recording by
 * trace_import(). */
#include "daemon/import/csv/import_csv.h"

#include "daemon/analysis/tables/key_table.h"

#include "daemon/import/csv/csv_job.h"
#include "daemon/import/import_file.h"
#include "daemon/import/import_format.h"
#include "holter/error.h"
#include "holter/event.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMUNICATORS_MOST 32768u
#define REGIONS_MOST 16000u
/* Times from here on (the year 2001) are read as nanoseconds since 1970. */
#define DATE_NS UINT64_C(1000000000000000000)
#define MAX_SILENT_RANKS 65536u  /* maximum number of silent ranks, which no row names */
#define PROGRESS_INTERVAL 65536u /* rows between two reports of progress */

struct import {
    struct csv_job job;
    const struct trace_wishes *wishes;
    struct import_csv_counts *out;
    struct faults faults;
    struct csv_reader *reader;
    struct csv_columns columns;
    int dates; /* times are since 1970 */
    int fd;
};

/* ---- reading --------------------------------------------------------------- */

static long import_csv_read_bytes(void *user, void *out, size_t capacity)
{
    struct import *m = user;
    ssize_t got;
    do
        got = read(m->fd, out, capacity);
    while (got < 0 && errno == EINTR);
    m->job.read += got > 0 ? (uint64_t)got : 0;
    return got < 0 ? -errno : (long)got;
}

static int import_csv_is_standard_input(const char *source)
{
    return strcmp(source, "-") == 0;
}

static int import_csv_open_table(struct import *m, const char *source)
{
    struct stat status;
    m->fd = import_csv_is_standard_input(source) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                                 : open(source, O_RDONLY | O_CLOEXEC);
    int code = m->fd < 0 || fstat(m->fd, &status) != 0 ? -errno
               : S_ISDIR(status.st_mode)               ? -EISDIR
                                                       : 0;
    if (code == 0) {
        m->job.size = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
        code = csv_reader_create(&m->reader, import_csv_read_bytes, m);
    }
    if (code != 0)
        fault_at(&m->faults, 0, "%s", holter_strerror(code));
    return code;
}

/* What a first line is instead of a header. @return a sentence, or NULL: it may be a header */
static const char *import_csv_describe_other(const char *line, size_t length)
{
    const char *packed = import_packed_as(line, length);
    if (packed == NULL && memchr(line, '\0', length) != NULL)
        packed = "is no text, or one in UTF-16: UTF-8 is expected";
    return packed;
}

/* Skip the line that declares the separator, which is also found from the header.
 * @return as csv_reader_peek(), for the line after it */
static int import_csv_skip_line(struct import *m, char separator, const char **line, size_t *length,
                                int *whole)
{
    struct csv_row row;
    if (strchr(",;\t", separator) == NULL) {
        fault_at(&m->faults, 1, "'sep=%c': commas, semicolons or tabs are expected between fields",
                 (unsigned char)separator < 0x20 || separator == 0x7f ? '?' : separator);
        return -HOLTER_EUSAGE;
    }
    csv_reader_next(m->reader, &row);
    return csv_reader_peek(m->reader, line, length, whole);
}

/* @return as csv_reader_peek(); errors are reported */
static int import_csv_find_header(struct import *m, const char **line, size_t *length, int *whole)
{
    int code = csv_reader_peek(m->reader, line, length, whole);
    const char *other = code == 1 ? import_csv_describe_other(*line, *length) : NULL;
    char separator = code == 1 && other == NULL ? import_declared_separator(*line, *length) : '\0';
    if (other != NULL) {
        fault_at(&m->faults, 0, "%s", other);
        return -HOLTER_EUSAGE;
    }
    if (separator != '\0')
        code = import_csv_skip_line(m, separator, line, length, whole);
    if (code < 0 && m->faults.count == 0)
        fault_at(&m->faults, 0, "%s", holter_strerror(code));
    return code;
}

static int import_csv_read_header(struct import *m)
{
    const char *line;
    size_t length;
    struct csv_row row;
    char why[CSV_WHY] = "the file is empty";
    int whole, code = import_csv_find_header(m, &line, &length, &whole);
    if (code < 0)
        return code;
    if (code == 1 && !whole)
        snprintf(why, sizeof(why), "the header is longer than 65536 bytes");
    else if (code == 1 && csv_columns_read(&m->columns, line, length, why) == 0) {
        csv_reader_separator(m->reader, m->columns.separator);
        m->out->unknown = m->columns.unknown;
        memcpy(m->out->first_unknown, m->columns.first_unknown, sizeof(m->out->first_unknown));
        return csv_reader_next(m->reader, &row) == 1 ? 0 : -EIO;
    }
    fault_at(&m->faults, 0, "%s", why);
    return -HOLTER_EUSAGE;
}

/* ---- rows ------------------------------------------------------------------ */

/* @return number of the name plus 1, 0 for no name; NAME_TABLE_NONE: there are too many names */
static uint32_t import_csv_name_of(struct name_table *names, const char *name, uint32_t most)
{
    if (name[0] == '\0')
        return 0;
    uint32_t number = name_table_number(names, name, most);
    return number == NAME_TABLE_NONE ? number : number + 1;
}

static int import_csv_add_ends(struct import *m, const struct csv_message *c, uint32_t communicator,
                               uint32_t region, uint64_t line)
{
    struct csv_job *job = &m->job;
    int matched = c->received && c->receive_end >= c->send_begin;
    struct csv_end send = {.at = c->send_begin,
                           .enter = c->send_begin,
                           .leave = c->send_end,
                           .bytes = c->bytes,
                           .rank = c->source,
                           .peer = (int32_t)c->destination,
                           .tag = matched ? c->tag : TAG_NONE,
                           .communicator = (uint16_t)communicator,
                           .region = (uint16_t)region,
                           .call = c->call,
                           .kind = CSV_END_SEND};
    int code = csv_spool_add(job->spool, &send);
    job->ends++;
    if (!c->received)
        return code;
    struct csv_end end = send;
    end.rank = c->destination;
    end.peer = (int32_t)c->source;
    end.call = 0;
    end.request = (uint32_t)(line % UINT32_MAX) + 1;
    end.kind = CSV_END_POST;
    if (code == 0 && matched) {
        code = csv_spool_add(job->spool, &end);
        job->ends++;
    }
    end.at = end.leave = c->receive_end;
    end.enter = c->receive_begin;
    end.kind = CSV_END_RECEIVE;
    job->ends++;
    return code != 0 ? code : csv_spool_add(job->spool, &end);
}

static void import_csv_note_times(struct csv_job *job, const struct csv_message *c)
{
    uint64_t first = c->send_begin, last = c->send_end;
    if (c->received) {
        first = c->receive_begin < first ? c->receive_begin : first;
        last = c->receive_end > last ? c->receive_end : last;
    }
    job->first = first < job->first ? first : job->first;
    job->last = last > job->last ? last : job->last;
}

/* Dates cannot be compared with times since the begin of a program: a table has one or the other,
 * by its first row. @return 0, or -HOLTER_EUSAGE with why */
static int import_csv_check_times(struct import *m, const struct csv_message *c, char why[CSV_WHY])
{
    const struct {
        int is_there;
        uint64_t ns;
        const char *column;
    } times[] = {{1, c->send_begin, "send_begin"},
                 {1, c->send_end, "send_end"},
                 {c->received, c->receive_end, "receive_end"},
                 {c->received, c->receive_begin, "receive_begin"}};
    if (m->out->rows == 0)
        m->dates = c->send_begin >= DATE_NS;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (!times[i].is_there || (times[i].ns >= DATE_NS) == m->dates)
            continue;
        snprintf(why, CSV_WHY, "column %s: %s", times[i].column,
                 m->dates ? "no date, where the times before are dates"
                          : "a date, where the times before are none");
        return -HOLTER_EUSAGE;
    }
    return 0;
}

static void import_csv_report_row(struct import *m, uint64_t line, const char *why)
{
    m->out->bad++;
    fault_at(&m->faults, line > UINT32_MAX ? UINT32_MAX : (unsigned)line, "%s", why);
}

/* @return 0, or the error that ends the import */
static int import_csv_add_row(struct import *m, const struct csv_row *row)
{
    struct csv_job *job = &m->job;
    struct csv_message c;
    char why[CSV_WHY];
    if (csv_message_read(&c, &m->columns, row, why) != 0 || csv_places_check(job, &c, why) != 0 ||
        import_csv_check_times(m, &c, why) != 0) {
        import_csv_report_row(m, row->line, why);
        return 0;
    }
    if (strcasecmp(c.communicator, "MPI_COMM_WORLD") == 0)
        c.communicator[0] = '\0';
    uint32_t communicator =
                 import_csv_name_of(&job->communicators, c.communicator, COMMUNICATORS_MOST),
             region = import_csv_name_of(&job->regions, c.region, REGIONS_MOST);
    if (communicator == NAME_TABLE_NONE || region == NAME_TABLE_NONE) {
        import_csv_report_row(m, row->line,
                              region == NAME_TABLE_NONE
                                  ? "column region: more than 16000 names"
                                  : "column communicator: more than 32768 names");
        return 0;
    }
    if (c.bytes > INT64_MAX - job->bytes) {
        import_csv_report_row(m, row->line,
                              "column bytes: with this row there are 2^63 or more, too many for "
                              "a sum");
        return 0;
    }
    if (csv_places_note(job, &c, why) != 0) {
        import_csv_report_row(m, row->line, why);
        return 0;
    }
    job->bytes += c.bytes;
    uint32_t most = c.source > c.destination ? c.source : c.destination;
    job->ranks = most >= job->ranks ? most + 1 : job->ranks;
    job->seen[c.source / 64] |= UINT64_C(1) << c.source % 64;
    job->seen[c.destination / 64] |= UINT64_C(1) << c.destination % 64;
    import_csv_note_times(job, &c);
    m->out->rows++;
    m->out->one_sided += !c.received;
    m->out->backward += c.received && c.receive_end < c.send_begin;
    return import_csv_add_ends(m, &c, communicator, region, row->line);
}

static int import_csv_read_rows(struct import *m)
{
    const struct trace_wishes *w = m->wishes;
    struct csv_row row;
    int got, code = 0;
    uint64_t rows = 0;
    while (code == 0 && (got = csv_reader_next(m->reader, &row)) == 1) {
        code = csv_row_is_blank(&m->columns, &row) ? 0 : import_csv_add_row(m, &row);
        if (++rows % PROGRESS_INTERVAL == 0 && w->on_progress != NULL && m->job.size > 0)
            w->on_progress(w->user, m->job.read, 2 * m->job.size, 0);
    }
    if (code != 0) {
        fault_at(&m->faults, 0, "cannot be sorted: %s", holter_strerror(code));
        return code;
    }
    if (got < 0) {
        m->out->broken = 1;
        fault_at(&m->faults, 0, "byte %" PRIu64 ": %s", m->job.read, holter_strerror(got));
    }
    if (m->out->rows > 0)
        return 0;
    if (m->out->bad == 0)
        fault_at(&m->faults, 0, "there are no messages");
    return -HOLTER_EUSAGE;
}

/* ---- sorting --------------------------------------------------------------- */

static int import_csv_begin_spool(struct import *m, const char *path)
{
    char folder[4096];
    const char *temporary = getenv("TMPDIR"), *slash = strrchr(path, '/');
    if (temporary != NULL && temporary[0] != '\0')
        snprintf(folder, sizeof(folder), "%s", temporary);
    else if (slash == NULL)
        snprintf(folder, sizeof(folder), ".");
    else
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path);
    m->job.seen = calloc(CSV_MAX_RANKS / 64, sizeof(*m->job.seen));
    int code = m->job.seen == NULL ? -ENOMEM : csv_spool_create(&m->job.spool, folder);
    if (code != 0)
        fault_at(&m->faults, 0, "cannot be sorted in %s: %s", folder, holter_strerror(code));
    return code;
}

static int import_csv_compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* Sort names, when all are added.
 * @param numbers  set, owned: the new number by the old one, both plus 1, since 0 is no name
 * @return 0 or -ENOMEM */
static int import_csv_sort_names(struct name_table *names, uint16_t **numbers)
{
    const size_t size = sizeof *names->names;
    char(*old)[NAME_TABLE_BYTES] = calloc(names->count + (size_t)1, size);
    *numbers = calloc(names->count + (size_t)1, sizeof **numbers);
    int code = old == NULL || *numbers == NULL ? -ENOMEM : 0;
    if (code == 0 && names->count > 0) {
        memcpy(old, names->names, names->count * size);
        qsort(names->names, names->count, size, import_csv_compare_names);
    }
    for (uint32_t i = 0; code == 0 && i < names->count; i++) {
        char(*found)[NAME_TABLE_BYTES] =
            bsearch(old[i], names->names, names->count, size, import_csv_compare_names);
        (*numbers)[i + 1] = (uint16_t)(found - names->names + 1);
    }
    free(old);
    return code;
}

/* Ranks that no row names are silent ranks. If there are so many of them that the highest rank is
 * probably a stray number they are left out, since each would have a row in every window. */
static void import_csv_count_ranks(struct csv_job *job)
{
    for (uint32_t r = 0; r < job->ranks; r++)
        job->seen_count += (uint32_t)csv_job_has(job, r);
    if (job->ranks - job->seen_count > MAX_SILENT_RANKS)
        return;
    memset(job->seen, 0xff, CSV_MAX_RANKS / 8);
    job->seen_count = job->ranks;
}

static int import_csv_begin_streams(struct csv_job *job)
{
    import_csv_count_ranks(job);
    job->rank_of = calloc((size_t)job->seen_count + 1, sizeof(*job->rank_of));
    job->streams = calloc((size_t)job->seen_count + 1, sizeof(*job->streams));
    if (job->rank_of == NULL || job->streams == NULL)
        return -ENOMEM;
    job->zero = job->first >= DATE_NS ? job->first : 0;
    for (uint32_t r = 0, s = 0; r < job->ranks; r++) {
        if (!csv_job_has(job, r))
            continue;
        job->streams[s].last_enter = job->streams[s].last_exit = job->first - job->zero;
        job->rank_of[s++] = r;
    }
    return 0;
}

static int import_csv_sort(struct import *m)
{
    struct csv_job *job = &m->job;
    uint16_t *communicators = NULL, *regions = NULL;
    int code = import_csv_sort_names(&job->communicators, &communicators);
    code = code != 0 ? code : import_csv_sort_names(&job->regions, &regions);
    code = code != 0 ? code : import_csv_begin_streams(job);
    code = code != 0 ? code : csv_spool_sort(job->spool, job->ranks, communicators, regions);
    free(communicators);
    free(regions);
    if (code != 0)
        fault_at(&m->faults, 0, "cannot be sorted: %s", holter_strerror(code));
    return code;
}

/* ---- writing --------------------------------------------------------------- */

static void import_csv_on_progress(void *user, uint64_t *read, uint64_t *all)
{
    const struct csv_job *job = user;
    *read = job->ends + __atomic_load_n(&job->given, __ATOMIC_RELAXED);
    *all = 2 * job->ends;
}

/* What is known of the job without its name and its windows. */
static struct trace_job import_csv_describe(const struct csv_job *job,
                                            const struct trace_places *places)
{
    return (struct trace_job){.mpi = "imported: a table of messages",
                              .ranks = job->ranks,
                              .stream_count = job->seen_count,
                              .rank_of = job->rank_of,
                              .host_of = places->host_of,
                              .hosts = (const char(*)[65])places->hosts,
                              .host_count = places->host_count,
                              .begin_ns = job->zero,
                              .length_ns = job->last - job->zero};
}

static int import_csv_write_recording(struct import *m, const char *path, const char *source,
                                      const struct trace_places *places)
{
    const struct trace_wishes *w = m->wishes;
    const struct csv_job *job = &m->job;
    char name[IMPORT_JOB_NAME], command[1024];
    const char *base = import_csv_is_standard_input(source) ? "" : text_base_name(source);
    import_job_name(name, base, strcspn(base, "."), "messages");
    snprintf(command, sizeof(command), "holter import --format csv %.900s", source);
    struct trace_job described = import_csv_describe(job, places);
    described.name = described.app = name;
    described.command = command;
    described.window_ns = w->window_ns;
    struct trace_reader reader = {&m->job, csv_stream_next, csv_stream_comm, csv_stream_region,
                                  import_csv_on_progress};
    m->out->ranks = job->seen_count;
    m->out->world = job->ranks;
    m->out->hosts = places->host_count;
    int code = trace_import(path, &described, &reader, w, &m->out->counts);
    m->out->window_ns = m->out->counts.window_ns;
    return code;
}

/* ---- messages only --------------------------------------------------------- */

/* The records of a stream, in which the receives of a channel have the order of their sends. */
struct ordering {
    struct csv_job *job;
    struct key_table posts; /* lo: request of a receive; its number is the place in that order */
};

static int import_csv_next_ordered(void *user, uint32_t stream, uint64_t until, struct event *out)
{
    struct ordering *o = user;
    int got = csv_stream_next(o->job, stream, until, out);
    for (int i = 0; i < got; i++) {
        const struct key key = {.lo = out[i].request};
        if (!(out[i].flags & EVENT_RECV) || key_table_reserve(&o->posts, 1) != 0)
            continue;
        uint32_t known = key_table_find(&o->posts, key);
        if (known == KEY_NONE)
            known = key_table_add(&o->posts, key);
        /* Of a receive that is complete: posts are compared with each other alone. */
        out[i].t_post = known + UINT64_C(1);
    }
    return got;
}

static int import_csv_comm_ordered(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out)
{
    return csv_stream_comm(((struct ordering *)user)->job, rank, slot, out);
}

static int import_csv_read_messages(struct import *m, const struct trace_places *places,
                                    struct trace_messages *messages)
{
    struct ordering ordering = {.job = &m->job};
    const struct trace_job described = import_csv_describe(&m->job, places);
    const struct trace_reader reader = {
        .user = &ordering, .next = import_csv_next_ordered, .comm = import_csv_comm_ordered};
    int code = trace_dependencies(&described, &reader, messages);
    key_table_finish(&ordering.posts);
    return code;
}

/* @param path  of the recording @param messages  NULL: a recording is written */
static int import_csv_place_and_write(struct import *m, const char *path, const char *source,
                                      struct trace_messages *messages)
{
    struct trace_places places;
    char why[CSV_WHY];
    int code = csv_places_find(&places, &m->job, m->wishes, why);
    if (code != 0) {
        fault_at(&m->faults, 0, "%s%s", m->wishes->hosts != NULL ? "hosts: " : "", why);
        return code;
    }
    code = messages != NULL ? import_csv_read_messages(m, &places, messages)
                            : import_csv_write_recording(m, path, source, &places);
    trace_places_finish(&places);
    return code;
}

/* ---- all of it ------------------------------------------------------------- */

static void import_csv_finish(struct import *m)
{
    struct csv_job *job = &m->job;
    if (m->fd >= 0)
        close(m->fd);
    csv_reader_destroy(m->reader);
    csv_spool_destroy(job->spool);
    name_table_finish(&job->communicators);
    name_table_finish(&job->regions);
    name_table_finish(&job->hosts);
    free(job->seen);
    free(job->rank_of);
    free(job->streams);
    free(job->host_of);
}

/* @param messages  NULL: a recording is written */
static int import_csv_run(const char *path, const char *source, const struct trace_wishes *wishes,
                          struct import_csv_counts *out, struct trace_messages *messages)
{
    struct import m = {.job = {.first = UINT64_MAX},
                       .wishes = wishes,
                       .out = out,
                       .faults = {import_csv_is_standard_input(source) ? "standard input" : source,
                                  wishes->fault, wishes->user, 0},
                       .fd = -1};
    *out = (struct import_csv_counts){.rows = 0};
    int code = import_csv_open_table(&m, source);
    code = code != 0 ? code : import_csv_read_header(&m);
    code = code != 0 ? code : import_csv_begin_spool(&m, path);
    code = code != 0 ? code : import_csv_read_rows(&m);
    code = code != 0 ? code : import_csv_sort(&m);
    code = code != 0 ? code : import_csv_place_and_write(&m, path, source, messages);
    import_csv_finish(&m);
    return code;
}

int import_csv(const char *path, const char *source, const struct trace_wishes *wishes,
               struct import_csv_counts *out)
{
    return import_csv_run(path, source, wishes, out, NULL);
}

int import_csv_dependencies(const char *source, file_fault *fault, void *user,
                            struct trace_messages *out)
{
    const struct trace_wishes wishes = {.fault = fault, .user = user};
    struct import_csv_counts counts;
    *out = (struct trace_messages){.failed_streams = 0};
    return import_csv_run(P_tmpdir "/", source, &wishes, &counts, out);
}
