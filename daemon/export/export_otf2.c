/* Export of summaries as OTF2 archives: figures of ranks, window by window, as metrics. */
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/export/export.h"
#include "holter/error.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Maximum of open event writers: each has a buffer of OTF2_CHUNK_SIZE_MIN. */
#define MAX_OPEN_WRITERS 512u

static const struct member {
    const char *name, *unit, *text;
    size_t offset; /* of the member in struct wire_rank_row */
} members[] = {
#define MEMBER(field, unit, text)                                                                  \
    {                                                                                              \
#field, unit, text, offsetof(struct wire_rank_row, field)                                  \
    }
    MEMBER(calls, "#", "MPI calls of the window"),
    MEMBER(sent, "#", "messages sent"),
    MEMBER(sent_bytes, "Bytes", "bytes sent"),
    MEMBER(received, "#", "messages received"),
    MEMBER(received_bytes, "Bytes", "bytes received"),
    MEMBER(send_ns, "ns", "time in sends"),
    MEMBER(recv_ns, "ns", "time in receives"),
    MEMBER(wait_ns, "ns", "time in the Wait family"),
    MEMBER(poll_ns, "ns", "time in the Test family and probes"),
    MEMBER(collective_ns, "ns", "time in collectives"),
    MEMBER(one_sided_ns, "ns", "time in one-sided calls"),
    MEMBER(io_ns, "ns", "time in MPI-IO"),
    MEMBER(other_ns, "ns", "time in all other calls"),
    MEMBER(lost, "#", "records lost"),
#undef MEMBER
};

#define MEMBERS (sizeof(members) / sizeof(*members))

struct phase {
    int64_t id;
    uint64_t begin_ns, end_ns;
    uint32_t pattern; /* number of the region of the pattern that the phase belongs to */
};

struct archive {
    const struct export_source *source;
    OTF2_Archive *otf2;
    OTF2_GlobalDefWriter *definitions;
    uint32_t strings;
    OTF2_ErrorCode error; /* the first error */
    int disk; /* errno where the disk is the cause, which libotf2 reports as a broken file; else 0
               */
    /* The ranks whose events are being written, and the newest time of each. */
    size_t first, count;
    OTF2_EvtWriter *writers[MAX_OPEN_WRITERS];
    uint64_t newest[MAX_OPEN_WRITERS];
    uint64_t *events; /* owned: number of events by location */
    struct phase *phases;
    size_t phase_count, phase_capacity;
    struct key_table patterns; /* ids of the first phase of each pattern, which may be missing in a
                                  cut recording */
};

static void export_otf2_note_error(struct archive *a, OTF2_ErrorCode code)
{
    if (a->error != OTF2_SUCCESS || code == OTF2_SUCCESS)
        return;
    a->error = code;
    a->disk = errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
}

/* Silences libotf2: its errors are reported once, by the caller. */
static OTF2_ErrorCode export_otf2_ignore_error(void *user, const char *file, uint64_t line,
                                               const char *function, OTF2_ErrorCode code,
                                               const char *format, va_list arguments)
{
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    return code;
}

static OTF2_FlushType export_otf2_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                        void *caller, bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

/* ---- definitions -------------------------------------------------------------------- */

static OTF2_StringRef export_otf2_string(struct archive *a, const char *text)
{
    export_otf2_note_error(a, OTF2_GlobalDefWriter_WriteString(a->definitions, a->strings, text));
    return a->strings++;
}

static void export_otf2_define_metrics(struct archive *a)
{
    OTF2_MetricMemberRef list[MEMBERS];
    for (uint32_t i = 0; i < MEMBERS; i++) {
        OTF2_StringRef name = export_otf2_string(a, members[i].name),
                       text = export_otf2_string(a, members[i].text),
                       unit = export_otf2_string(a, members[i].unit);
        list[i] = i;
        export_otf2_note_error(a, OTF2_GlobalDefWriter_WriteMetricMember(
                                      a->definitions, i, name, text, OTF2_METRIC_TYPE_USER,
                                      OTF2_METRIC_ABSOLUTE_LAST, OTF2_TYPE_UINT64,
                                      OTF2_BASE_DECIMAL, 0, unit));
    }
    export_otf2_note_error(a, OTF2_GlobalDefWriter_WriteMetricClass(
                                  a->definitions, 0, (uint8_t)MEMBERS, list,
                                  OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
}

static void export_otf2_define_places(struct archive *a, OTF2_StringRef nothing)
{
    const struct content *c = a->source->content;
    OTF2_StringRef node = export_otf2_string(a, "node"), machine = export_otf2_string(a, "machine");
    export_otf2_note_error(a, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                                  a->definitions, 0, export_otf2_string(a, c->job), machine,
                                  OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t h = 0; h < c->host_count; h++)
        export_otf2_note_error(
            a, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                   a->definitions, h + 1, export_otf2_string(a, c->hosts[h]), node, 0));
    for (size_t i = 0; i <= c->rank_count; i++) {
        char text[40] = "phases of the job";
        uint32_t host = i < c->rank_count ? c->ranks[i].host : UINT32_MAX;
        if (i < c->rank_count)
            snprintf(text, sizeof(text), "rank %zu", i);
        OTF2_StringRef name = export_otf2_string(a, text);
        export_otf2_note_error(
            a, OTF2_GlobalDefWriter_WriteLocationGroup(
                   a->definitions, (uint32_t)i, name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                   host < c->host_count ? host + 1 : 0, OTF2_UNDEFINED_LOCATION_GROUP));
        export_otf2_note_error(a, OTF2_GlobalDefWriter_WriteLocation(a->definitions, i, name,
                                                                     OTF2_LOCATION_TYPE_CPU_THREAD,
                                                                     a->events[i], (uint32_t)i));
    }
    for (uint32_t i = 0; i < a->patterns.count; i++) {
        char text[40];
        snprintf(text, sizeof(text), "phase %" PRId64, (int64_t)a->patterns.keys[i].hi);
        OTF2_StringRef name = export_otf2_string(a, text);
        export_otf2_note_error(a, OTF2_GlobalDefWriter_WriteRegion(
                                      a->definitions, i, name, name, nothing, OTF2_REGION_ROLE_CODE,
                                      OTF2_PARADIGM_USER, OTF2_REGION_FLAG_PHASE, nothing, 0, 0));
    }
}

static void export_otf2_define(struct archive *a)
{
    const struct content *c = a->source->content;
    uint64_t begin = c->first_window * c->window_ns;
    uint64_t end = (c->last_window + 1) * c->window_ns;
    for (size_t i = 0; i < a->phase_count; i++) {
        begin = a->phases[i].begin_ns < begin ? a->phases[i].begin_ns : begin;
        end = a->phases[i].end_ns > end ? a->phases[i].end_ns : end;
    }
    a->definitions = OTF2_Archive_GetGlobalDefWriter(a->otf2);
    if (a->definitions == NULL) {
        export_otf2_note_error(a, OTF2_ERROR_MEM_FAULT);
        return;
    }
    export_otf2_note_error(a, OTF2_GlobalDefWriter_WriteClockProperties(
                                  a->definitions, UINT64_C(1000000000), begin, end - begin, begin));
    OTF2_StringRef nothing = export_otf2_string(a, "");
    export_otf2_define_metrics(a);
    export_otf2_define_places(a, nothing);
}

/* ---- events ------------------------------------------------------------------------- */

static int export_otf2_put_window(void *user, const struct wire_window *window)
{
    struct archive *a = user;
    const struct content *c = a->source->content;
    OTF2_Type types[MEMBERS];
    OTF2_MetricValue values[MEMBERS];
    for (size_t k = 0; k < MEMBERS; k++)
        types[k] = OTF2_TYPE_UINT64;
    for (uint64_t i = 0; i < window->ranks_count; i++) {
        const struct wire_rank_row *row = &window->ranks[i];
        uint64_t end = (window->window + 1) * c->window_ns;
        if (row->rank < a->first || row->rank - a->first >= a->count)
            continue;
        size_t at = (size_t)row->rank - a->first;
        end = end > a->newest[at]
                  ? end
                  : a->newest[at]; /* a late message: the times of events must not decrease */
        a->newest[at] = end;
        for (size_t k = 0; k < MEMBERS; k++)
            memcpy(&values[k].unsigned_int, (const char *)row + members[k].offset,
                   sizeof(values[k].unsigned_int));
        export_otf2_note_error(a, OTF2_EvtWriter_Metric(a->writers[at], NULL, end, 0,
                                                        (uint8_t)MEMBERS, types, values));
        a->events[row->rank]++;
    }
    return a->error == OTF2_SUCCESS ? 0 : -EIO;
}

/* Progress over all passes, while one group of ranks is at this point of the recording. */
static void export_otf2_show_progress(void *user, double share)
{
    const struct archive *a = user;
    const struct recording_progress *p = a->source->progress;
    p->show(p->user,
            ((double)a->first + share * (double)a->count) / (double)a->source->content->rank_count);
}

static int export_otf2_read_ranks(struct archive *a, struct content *again, char *why,
                                  size_t capacity)
{
    const struct recording_progress progress = {export_otf2_show_progress, a},
                                    *shown = a->source->progress;
    const struct content_options options = {
        .window = export_otf2_put_window,
        .user = a,
        .progress = shown != NULL && shown->show != NULL ? &progress : NULL,
    };
    return content_read(again, a->source->path, &options, why, capacity);
}

static int export_otf2_put_ranks(struct archive *a, char *why, size_t capacity)
{
    const struct content *c = a->source->content;
    int code = 0;
    for (a->first = 0; code == 0 && a->first < c->rank_count; a->first += a->count) {
        struct content again = {0};
        a->count = c->rank_count - a->first < MAX_OPEN_WRITERS ? c->rank_count - a->first
                                                               : MAX_OPEN_WRITERS;
        memset(a->newest, 0, sizeof(a->newest));
        for (size_t i = 0; i < a->count; i++) {
            a->writers[i] = OTF2_Archive_GetEvtWriter(a->otf2, a->first + i);
            if (a->writers[i] == NULL)
                export_otf2_note_error(a, OTF2_ERROR_MEM_FAULT);
        }
        if (a->error == OTF2_SUCCESS)
            code = export_otf2_read_ranks(a, &again, why, capacity);
        content_finish(&again);
        for (size_t i = 0; i < a->count; i++) {
            if (a->writers[i] != NULL)
                export_otf2_note_error(a, OTF2_Archive_CloseEvtWriter(a->otf2, a->writers[i]));
        }
        code = code == 0 && a->error != OTF2_SUCCESS ? -EIO : code;
    }
    return code;
}

static void export_otf2_put_phases(struct archive *a)
{
    size_t location = a->source->content->rank_count;
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(a->otf2, location);
    uint64_t newest = 0;
    if (writer == NULL) {
        export_otf2_note_error(a, OTF2_ERROR_MEM_FAULT);
        return;
    }
    for (size_t i = 0; i < a->phase_count; i++) {
        const struct phase *p = &a->phases[i];
        uint64_t begin = p->begin_ns > newest ? p->begin_ns : newest;
        newest = p->end_ns > begin ? p->end_ns : begin;
        export_otf2_note_error(a, OTF2_EvtWriter_Enter(writer, NULL, begin, p->pattern));
        export_otf2_note_error(a, OTF2_EvtWriter_Leave(writer, NULL, newest, p->pattern));
        a->events[location] += 2;
    }
    export_otf2_note_error(a, OTF2_Archive_CloseEvtWriter(a->otf2, writer));
}

/* Write empty local definitions: readers expect a file for each location. */
static void export_otf2_put_local_definitions(struct archive *a)
{
    export_otf2_note_error(a, OTF2_Archive_OpenDefFiles(a->otf2));
    for (size_t i = 0; i <= a->source->content->rank_count; i++) {
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(a->otf2, i);
        export_otf2_note_error(a, writer == NULL ? OTF2_ERROR_MEM_FAULT
                                                 : OTF2_Archive_CloseDefWriter(a->otf2, writer));
    }
    export_otf2_note_error(a, OTF2_Archive_CloseDefFiles(a->otf2));
}

/* ---- the whole ----------------------------------------------------------------------- */

static int export_otf2_compare_by_id(const void *id, const void *phase)
{
    int64_t wanted = *(const int64_t *)id, found = ((const struct phase *)phase)->id;
    return (wanted > found) - (wanted < found);
}

/* Number of the pattern of a phase: a new one, or that of the phase with an id. @return negative:
 * no memory */
static int64_t export_otf2_pattern_of(struct archive *a, int64_t id)
{
    const struct phase *known =
        bsearch(&id, a->phases, a->phase_count, sizeof(*a->phases), export_otf2_compare_by_id);
    if (known != NULL)
        return known->pattern;
    uint32_t number = key_table_add(&a->patterns, (struct key){.hi = (uint64_t)id});
    return number == KEY_NONE ? -ENOMEM : (int64_t)number;
}

static int export_otf2_write_phase(void *user, const struct cell *row, size_t columns)
{
    struct archive *a = user;
    (void)columns;
    if (ARRAY_FIT(a->phases, a->phase_capacity, a->phase_count + 1) != 0)
        return -ENOMEM;
    int64_t id = row[4].integer;
    int64_t pattern = export_otf2_pattern_of(a, row[2].integer != 0 ? row[3].integer : id);
    if (pattern < 0)
        return (int)pattern;
    uint64_t begin = row[0].integer > 0 ? (uint64_t)row[0].integer : 0;
    uint64_t end = row[1].integer > 0 ? (uint64_t)row[1].integer : 0;
    a->phases[a->phase_count++] =
        (struct phase){id, begin, end > begin ? end : begin, (uint32_t)pattern};
    return 0;
}

static int export_otf2_write_all(struct archive *a, char *why, size_t capacity)
{
    static OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = export_otf2_flush};
    export_otf2_note_error(a, OTF2_Archive_SetSerialCollectiveCallbacks(a->otf2));
    export_otf2_note_error(a, OTF2_Archive_SetFlushCallbacks(a->otf2, &callbacks, NULL));
    export_otf2_note_error(a, OTF2_Archive_SetCreator(a->otf2, "Holter " HOLTER_VERSION));
    export_otf2_note_error(a, OTF2_Archive_SetDescription(a->otf2, a->source->content->job));
    export_otf2_note_error(a, OTF2_Archive_OpenEvtFiles(a->otf2));
    int code = a->error == OTF2_SUCCESS ? export_otf2_put_ranks(a, why, capacity) : -EIO;
    if (code == 0)
        export_otf2_put_phases(a);
    export_otf2_note_error(a, OTF2_Archive_CloseEvtFiles(a->otf2));
    if (code == 0) {
        export_otf2_put_local_definitions(a);
        export_otf2_define(a);
    }
    return code;
}

int export_otf2(const char *directory, const struct export_source *source, char *why,
                size_t capacity)
{
    struct archive a = {.source = source, .error = OTF2_SUCCESS};
    const struct content *c = source->content;
    struct stat status;
    if (stat(directory, &status) == 0) {
        snprintf(why, capacity, "%s", holter_strerror(-EEXIST));
        return -EEXIST;
    }
    if (c->first_window > c->last_window || c->window_ns == 0 ||
        c->last_window >= UINT64_MAX / c->window_ns - 1) {
        snprintf(why, capacity, "there is no window with valid times");
        return -HOLTER_EEMPTY;
    }
    a.events = calloc(c->rank_count + 1, sizeof(*a.events));
    int code = a.events == NULL ? -ENOMEM
                                : tables_query(source->tables,
                                               "SELECT phase.begin_ns, phase.end_ns, returned,"
                                               " resembles, phase.id FROM phase LEFT JOIN curve ON"
                                               " curve.phase = phase.id ORDER BY phase.id",
                                               export_otf2_write_phase, &a);
    snprintf(why, capacity, "%s", code < 0 ? holter_strerror(code) : "");
    if (code >= 0) {
        errno = 0;
        OTF2_Error_RegisterCallback(export_otf2_ignore_error, NULL);
        a.otf2 = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                   OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX,
                                   OTF2_COMPRESSION_NONE);
        code = a.otf2 == NULL ? -EIO : export_otf2_write_all(&a, why, capacity);
        if (a.otf2 != NULL)
            export_otf2_note_error(&a, OTF2_Archive_Close(a.otf2));
        if (a.error != OTF2_SUCCESS) {
            code = -EIO;
            snprintf(why, capacity, "%s",
                     a.disk != 0 ? strerror(a.disk) : OTF2_Error_GetDescription(a.error));
        } else if (code == -EIO && why[0] == '\0') {
            snprintf(why, capacity, "the archive cannot be made");
        }
    }
    free(a.events);
    free(a.phases);
    key_table_finish(&a.patterns);
    return code;
}
