/* Reading of an OTF2 archive by libotf2, stream by stream: see otf2_source.h. */
#include "daemon/import/otf2/otf2_source.h"

#include "daemon/import/otf2/otf2_callbacks.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <otf2/OTF2_Pthread_Locks.h>

#define CHUNK 1024u /* event records read at a time */

/* The streams of a rank share its requests, and are read one at a time. */
struct otf2_rank {
    pthread_mutex_t lock;
    struct request_table requests;
    const uint32_t *streams; /* borrowed */
    uint32_t stream_count;
};

struct otf2_source {
    OTF2_Reader *reader;
    char *folder; /* owned: folder of the files of the locations, without a slash */
    const struct otf2_job *job;
    const struct otf2_defs *defs;
    struct otf2_report *reports;
    struct otf2_stream *streams; /* owned */
    struct otf2_rank *ranks;     /* owned */
    uint32_t stream_count;
    int local_defs; /* there are files of local definitions */
};

/* ---- what libotf2 says ----------------------------------------------------- */

/* libotf2 has one error handler for all its threads, and does not pass the reader that an error
 * belongs to: each thread sets its own buffer. */
static _Thread_local char *error_buffer;

static OTF2_ErrorCode otf2_source_on_error(void *user, const char *file, uint64_t line,
                                           const char *function, OTF2_ErrorCode code,
                                           const char *format, va_list arguments)
{
    (void)user, (void)file, (void)line, (void)function;
    if (code == OTF2_ERROR_FILE_SUBSTRATE_NOT_SUPPORTED && error_buffer != NULL)
        snprintf(
            error_buffer, OTF2_FAULT_BYTES,
            "its files are not kept as files of their own (substrate POSIX) but in another way, "
            "such as SION, which this libotf2 cannot read");
    if (error_buffer == NULL ||
        error_buffer[0] != '\0') /* the first error is the cause of the others */
        return code;
    int used = snprintf(error_buffer, OTF2_FAULT_BYTES, "%s", OTF2_Error_GetDescription(code));
    if (used > 0 && (size_t)used + 3 < OTF2_FAULT_BYTES && format[0] != '\0') {
        memcpy(error_buffer + used, ": ", 3);
        vsnprintf(error_buffer + used + 2, OTF2_FAULT_BYTES - (size_t)used - 2, format, arguments);
    }
    return code;
}

static void otf2_source_capture_errors(char fault[OTF2_FAULT_BYTES])
{
    error_buffer = fault;
    fault[0] = '\0';
}

static int otf2_source_failed(char fault[OTF2_FAULT_BYTES], OTF2_ErrorCode code)
{
    error_buffer = NULL;
    if (fault[0] == '\0')
        snprintf(fault, OTF2_FAULT_BYTES, "%s", OTF2_Error_GetDescription(code));
    return -HOLTER_ECORRUPT;
}

/* Offset up to which libotf2 has read a file; it reads in chunks. @return 0: unknown */
static uint64_t otf2_source_bytes_read(const char *path)
{
    struct stat wanted, open_one;
    if (stat(path, &wanted) != 0)
        return 0;
    for (int fd = 3; fd < 65536 && fd < sysconf(_SC_OPEN_MAX); fd++)
        if (fstat(fd, &open_one) == 0 && open_one.st_ino == wanted.st_ino &&
            open_one.st_dev == wanted.st_dev) {
            off_t at = lseek(fd, 0, SEEK_CUR);
            return at > 0 ? (uint64_t)at : 0;
        }
    return 0;
}

/* Put file and offset in front of the message of libotf2. */
static void otf2_source_describe_place(char fault[OTF2_FAULT_BYTES], const char *path,
                                       const char *after)
{
    char what[OTF2_FAULT_BYTES], before[48] = "";
    uint64_t bytes = otf2_source_bytes_read(path);
    snprintf(what, sizeof(what), "%s", fault);
    if (bytes > 0)
        snprintf(before, sizeof(before), ", before byte %" PRIu64, bytes);
    snprintf(fault, OTF2_FAULT_BYTES, "%.80s%s: %.200s", after, before, what);
}

/* ---- opening --------------------------------------------------------------- */

int otf2_source_open(struct otf2_source **out, const char *anchor, char fault[OTF2_FAULT_BYTES])
{
    struct otf2_source *s = calloc(1, sizeof(*s));
    fault[0] = '\0';
    if (s == NULL || (s->folder = strdup(anchor)) == NULL) {
        free(s);
        return -ENOMEM;
    }
    if (text_ends(anchor, ".otf2"))
        s->folder[strlen(anchor) - strlen(".otf2")] = '\0';
    OTF2_Error_RegisterCallback(otf2_source_on_error, NULL);
    otf2_source_capture_errors(fault);
    s->reader = OTF2_Reader_Open(anchor);
    if (s->reader == NULL || OTF2_Reader_SetSerialCollectiveCallbacks(s->reader) != OTF2_SUCCESS ||
        OTF2_Pthread_Reader_SetLockingCallbacks(s->reader, NULL) != OTF2_SUCCESS) {
        int code = otf2_source_failed(fault, OTF2_ERROR_FILE_CAN_NOT_OPEN);
        otf2_source_close(s);
        return code;
    }
    error_buffer = NULL;
    *out = s;
    return 0;
}

void otf2_source_close(struct otf2_source *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; s->streams != NULL && i < s->stream_count; i++)
        otf2_calls_finish(&s->streams[i].calls);
    for (uint32_t r = 0; s->ranks != NULL && r < s->job->ranks; r++) {
        request_table_finish(&s->ranks[r].requests);
        pthread_mutex_destroy(&s->ranks[r].lock);
    }
    if (s->reader != NULL)
        OTF2_Reader_Close(s->reader);
    free(s->streams);
    free(s->ranks);
    free(s->folder);
    free(s);
}

int otf2_source_definitions(struct otf2_source *s, struct otf2_defs *defs, struct otf2_job *job,
                            char fault[OTF2_FAULT_BYTES])
{
    uint64_t read = 0;
    char *creator = NULL;
    otf2_source_capture_errors(fault);
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(s->reader);
    if (definitions == NULL)
        return otf2_source_failed(fault, OTF2_ERROR_FILE_INTERACTION);
    OTF2_ErrorCode code = otf2_defs_register(defs, s->reader, definitions);
    if (code != OTF2_SUCCESS)
        return otf2_source_failed(fault, code);
    code = OTF2_Reader_ReadAllGlobalDefinitions(s->reader, definitions, &read);
    if (defs->error != 0)
        return defs->error;
    if (code != OTF2_SUCCESS) {
        char path[4096], after[80];
        snprintf(path, sizeof(path), "%s.def", s->folder);
        snprintf(after, sizeof(after), "after definition %" PRIu64, read);
        otf2_source_failed(fault, code);
        otf2_source_describe_place(fault, path, after);
    } else {
        fault[0] = '\0';
    }
    OTF2_Reader_CloseGlobalDefReader(s->reader, definitions);
    char unheard[OTF2_FAULT_BYTES];
    otf2_source_capture_errors(unheard);
    if (OTF2_Reader_GetCreator(s->reader, &creator) == OTF2_SUCCESS && creator != NULL)
        snprintf(job->creator, sizeof(job->creator), "%s", creator);
    error_buffer = NULL;
    free(creator);
    return 0;
}

static int otf2_source_make_streams(struct otf2_source *s)
{
    const struct otf2_job *job = s->job;
    s->streams = calloc((size_t)job->stream_count + 1, sizeof(*s->streams));
    s->ranks = calloc((size_t)job->ranks + 1, sizeof(*s->ranks));
    if (s->streams == NULL || s->ranks == NULL)
        return -ENOMEM;
    s->stream_count = job->stream_count;
    for (uint32_t r = 0; r < job->ranks; r++) {
        pthread_mutex_init(&s->ranks[r].lock, NULL);
        request_table_init(&s->ranks[r].requests);
        s->ranks[r].streams = job->streams + job->first_of[r];
        s->ranks[r].stream_count = job->threads_of[r];
    }
    for (uint32_t i = 0; i < job->stream_count; i++) {
        struct otf2_stream *stream = &s->streams[i];
        struct otf2_rank *rank = &s->ranks[job->rank_of[i]];
        *stream = (struct otf2_stream){.job = job,
                                       .defs = s->defs,
                                       .rank = job->rank_of[i],
                                       .number = i,
                                       .whole_events = UINT64_MAX};
        otf2_calls_init(&stream->calls, &rank->requests, job->thread_of[i], rank->stream_count);
        if (s->reports[i].crashed != 0) {
            stream->ended = 1;
            stream->failed = -HOLTER_ECORRUPT;
            otf2_source_crashed(stream->fault, s->reports[i].crashed);
        }
    }
    return 0;
}

int otf2_source_begin(struct otf2_source *s, const struct otf2_job *job,
                      const struct otf2_defs *defs, struct otf2_report *reports,
                      char fault[OTF2_FAULT_BYTES])
{
    char unheard[OTF2_FAULT_BYTES];
    s->job = job;
    s->defs = defs;
    s->reports = reports;
    if (otf2_source_make_streams(s) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->stream_count; i++) {
        otf2_source_capture_errors(unheard);
        OTF2_Reader_SelectLocation(s->reader, job->locations[i]);
    }
    otf2_source_capture_errors(unheard);
    s->local_defs = OTF2_Reader_OpenDefFiles(s->reader) == OTF2_SUCCESS;
    otf2_source_capture_errors(fault);
    OTF2_ErrorCode code = OTF2_Reader_OpenEvtFiles(s->reader);
    error_buffer = NULL;
    return code == OTF2_SUCCESS ? 0 : otf2_source_failed(fault, code);
}

/* ---- one stream ------------------------------------------------------------ */

/* Does the file lack its end marker, after the last chunk? Meaningless bytes may follow the marker.
 */
static int otf2_source_is_truncated(const char *path)
{
    static const unsigned char end_of_chunk_and_file[] = {0x02, 0x01};
    unsigned char last[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return 0;
    ssize_t got = -1;
    if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(last))
        got = pread(fd, last, sizeof(last), status.st_size - (off_t)sizeof(last));
    close(fd);
    return got == (ssize_t)sizeof(last) &&
           memmem(last, sizeof(last), end_of_chunk_and_file, sizeof(end_of_chunk_and_file)) == NULL;
}

/* Upper limit of the records of a file: each has at least two bytes, its kind and its length.
 * Without it libotf2 may loop for ever in a corrupt file.
 * @param out  the limit; UINT64_MAX: unknown @return 0, 1: there is no file, or -EINVAL: it cannot
 * be read without blocking */
static int otf2_source_max_events(const struct otf2_source *s, uint32_t stream, uint64_t *out,
                                  int *cut_off)
{
    char path[4096];
    struct stat status;
    snprintf(path, sizeof(path), "%s/%" PRIu64 ".evt", s->folder, s->job->locations[stream]);
    int known = stat(path, &status) == 0;
    int missing = !known && errno == ENOENT;
    if (known && !S_ISREG(status.st_mode))
        return -EINVAL;
    *out = known ? (uint64_t)status.st_size / 2 : UINT64_MAX;
    *cut_off = known && otf2_source_is_truncated(path);
    return missing;
}

static int otf2_source_broken(const struct otf2_source *s, uint32_t stream,
                              char fault[OTF2_FAULT_BYTES])
{
    char path[4096], after[80];
    const struct otf2_stream *st = &s->streams[stream];
    snprintf(path, sizeof(path), "%s/%" PRIu64 ".evt", s->folder, s->job->locations[stream]);
    snprintf(after, sizeof(after), "after event %" PRIu64 " at %.9f s", st->calls.totals.events,
             (double)st->calls.newest * 1e-9);
    otf2_source_describe_place(fault, path, after);
    error_buffer = NULL;
    return -HOLTER_ECORRUPT;
}

/* Read the mapping tables and clock offsets of a location, which libotf2 applies to its events. An
 * archive need not have such files. A fault is reported when the stream ends: its records may be
 * readable all the same. */
static void otf2_source_read_local_definitions(struct otf2_source *s, struct otf2_stream *st)
{
    char path[4096], said_of_it[OTF2_FAULT_BYTES];
    uint64_t read = 0, location = s->job->locations[st->number];
    struct stat status;
    snprintf(path, sizeof(path), "%s/%" PRIu64 ".def", s->folder, location);
    if (stat(path, &status) != 0)
        return;
    otf2_source_capture_errors(said_of_it);
    OTF2_DefReader *definitions =
        !S_ISREG(status.st_mode) ? NULL : OTF2_Reader_GetDefReader(s->reader, location);
    OTF2_ErrorCode code = definitions == NULL
                              ? OTF2_ERROR_FILE_CAN_NOT_OPEN
                              : OTF2_Reader_ReadAllLocalDefinitions(s->reader, definitions, &read);
    if (code != OTF2_SUCCESS) {
        otf2_source_failed(said_of_it, code);
        snprintf(st->fault_of_definitions, sizeof(st->fault_of_definitions),
                 "its definitions, %" PRIu64 ".def, are not whole, so times and numbers may be "
                 "wrong: %.250s",
                 location, said_of_it);
    }
    otf2_source_capture_errors(said_of_it);
    if (definitions != NULL)
        OTF2_Reader_CloseDefReader(s->reader, definitions);
    error_buffer = NULL;
}

static OTF2_ErrorCode otf2_source_open_events(struct otf2_source *s, struct otf2_stream *st)
{
    st->events = OTF2_Reader_GetEvtReader(s->reader, s->job->locations[st->number]);
    return st->events == NULL ? OTF2_ERROR_FILE_CAN_NOT_OPEN
                              : otf2_callbacks_register(s->reader, st->events, st);
}

/* Count the valid records of a truncated file. */
static void otf2_source_scan(struct otf2_source *s, struct otf2_stream *st)
{
    char unheard[OTF2_FAULT_BYTES];
    uint64_t read = 0, stated = s->job->events_of[st->number];
    otf2_source_capture_errors(unheard);
    st->scanning = 1;
    OTF2_ErrorCode code = otf2_source_open_events(s, st);
    do
        if (code == OTF2_SUCCESS)
            code = OTF2_Reader_ReadLocalEvents(s->reader, st->events, CHUNK, &read);
    while (code == OTF2_SUCCESS && read == CHUNK && st->scanned <= st->most_events);
    if (st->events != NULL)
        OTF2_Reader_CloseEvtReader(s->reader, st->events);
    if (stated > 0 && st->scanned >= stated)
        st->whole_events = st->scanned > stated || st->is_repeating ? stated : UINT64_MAX;
    st->events = NULL;
    st->scanning = st->is_repeating = 0;
    st->ticks = 0;
    error_buffer = NULL;
}

static int otf2_source_open_stream(struct otf2_source *s, uint32_t stream,
                                   char fault[OTF2_FAULT_BYTES])
{
    struct otf2_stream *st = &s->streams[stream];
    st->opened = 1;
    int there = otf2_source_max_events(s, stream, &st->most_events, &st->cut_off);
    if (there < 0) {
        snprintf(fault, OTF2_FAULT_BYTES, "it is no regular file");
        return there;
    }
    if (there != 0 && s->job->events_of[stream] == 0) {
        st->empty = 1; /* a location without events need not have a file */
        return 0;
    }
    if (s->local_defs)
        otf2_source_read_local_definitions(s, st);
    if (st->cut_off)
        otf2_source_scan(s, st);
    otf2_source_capture_errors(fault);
    OTF2_ErrorCode code = otf2_source_open_events(s, st);
    return code == OTF2_SUCCESS ? 0 : otf2_source_failed(fault, code);
}

static void otf2_source_close_stream(struct otf2_source *s, struct otf2_stream *st)
{
    char unheard[OTF2_FAULT_BYTES];
    otf2_calls_close(&st->calls);
    st->ended = 1;
    if (st->failed == 0 && st->fault_of_definitions[0] != '\0') {
        st->failed = -HOLTER_ECORRUPT;
        memcpy(st->fault, st->fault_of_definitions, sizeof(st->fault));
    }
    if (st->events == NULL)
        return;
    otf2_source_capture_errors(unheard);
    OTF2_Reader_CloseEvtReader(s->reader, st->events);
    error_buffer = NULL;
    st->events = NULL;
}

static void otf2_source_fill_report(const struct otf2_stream *st, struct otf2_report *out)
{
    out->totals = st->calls.totals;
    out->forced = st->calls.queue.forced;
    out->undefined = st->counted.undefined;
    out->early = st->counted.early;
    out->earliest = st->counted.earliest;
    memcpy(out->other, st->counted.other, sizeof(out->other));
}

/* libotf2 silently skips what it takes for the rest of a chunk: has it read fewer events than the
 * definitions state? */
static int otf2_source_lacks_events(struct otf2_stream *st)
{
    uint64_t stated = st->job->events_of[st->number];
    if (st->calls.totals.events >= stated)
        return 0;
    snprintf(st->fault, sizeof(st->fault),
             "it ends with fewer events than the definitions state: %" PRIu64, stated);
    return -HOLTER_ECORRUPT;
}

static void otf2_source_read_on(struct otf2_source *s, struct otf2_stream *st)
{
    uint64_t read = 0;
    uint32_t number = st->number;
    OTF2_ErrorCode code;
    if (!st->opened && otf2_source_open_stream(s, number, st->fault) != 0) {
        st->failed = -HOLTER_ECORRUPT;
    } else if (st->empty) {
        read = 0;
    } else if (st->calls.totals.events > st->most_events) {
        snprintf(st->fault, sizeof(st->fault), "more records than the file has room for");
        st->failed = otf2_source_broken(s, number, st->fault);
    } else {
        otf2_source_capture_errors(st->fault);
        code = OTF2_Reader_ReadLocalEvents(s->reader, st->events, CHUNK, &read);
        error_buffer = NULL;
        if (st->is_repeating)
            snprintf(st->fault, sizeof(st->fault), "the file is cut off");
        if (st->calls.error != 0)
            st->failed = st->calls.error;
        else if (code != OTF2_SUCCESS)
            st->failed = otf2_source_failed(st->fault, code);
        else if (read < CHUNK)
            st->failed = otf2_source_lacks_events(st);
        if (st->failed == -HOLTER_ECORRUPT)
            otf2_source_broken(s, number, st->fault);
    }
    if (st->failed != 0 || read < CHUNK)
        otf2_source_close_stream(s, st);
    otf2_source_fill_report(st, &s->reports[number]);
}

/* ---- threads of a rank ----------------------------------------------------- */

/* Join the requests that ended before the time that all threads have reached. */
static void otf2_source_settle_rank(const struct otf2_source *s, struct otf2_rank *rank)
{
    uint64_t come_to = UINT64_MAX;
    if (rank->requests.pending == 0)
        return;
    for (uint32_t i = 0; i < rank->stream_count; i++) {
        const struct otf2_stream *st = &s->streams[rank->streams[i]];
        uint64_t ns = st->ended ? UINT64_MAX : otf2_job_ns(st->job, st->ticks);
        come_to = ns < come_to ? ns : come_to;
    }
    call_queue_join_before(&rank->requests, come_to);
}

void otf2_source_crashed(char fault[OTF2_FAULT_BYTES], int signal_number)
{
    if (signal_number > 0)
        snprintf(fault, OTF2_FAULT_BYTES, "libotf2 crashed on it (%s)", strsignal(signal_number));
    else
        snprintf(fault, OTF2_FAULT_BYTES, "libotf2 ended while reading it");
}

/* Number of records that were passed on before a restart. */
static uint64_t otf2_source_emitted_before(const struct otf2_source *s,
                                           const struct otf2_stream *st)
{
    return s->reports[st->number].given - st->taken;
}

static uint32_t otf2_source_emit_event(struct otf2_source *s, struct otf2_stream *st,
                                       struct event *out)
{
    uint64_t skip = otf2_source_emitted_before(s, st);
    uint32_t most = skip > 0 && skip < TRACE_BATCH ? (uint32_t)skip : TRACE_BATCH;
    uint32_t got = call_queue_remove(&st->calls.queue, out, most);
    st->taken += got;
    return got;
}

static int otf2_source_has_reached(const struct otf2_stream *st, uint64_t ns)
{
    return st->ended || otf2_job_ns(st->job, st->ticks) > ns;
}

/* Choose the stream to read when the oldest record of a stream waits for another thread, or for a
 * later record of its own. All threads are read on in step, as far as each may be read ahead; a
 * post precedes the call that ends it. @param later  set: the missing data may become known when
 * others have been passed on, as far as they end before it
 * @return the stream to be read on; NULL: none */
static struct otf2_stream *otf2_source_choose_awaited(const struct otf2_source *s,
                                                      const struct otf2_stream *st, int *later)
{
    const struct otf2_rank *rank = &s->ranks[st->rank];
    const struct event *oldest = call_queue_oldest(&st->calls.queue);
    int for_post = call_queue_waits(&st->calls.queue) == CALL_WAITS_FOR_POST;
    struct otf2_stream *behind = NULL;
    for (uint32_t i = 0; i < rank->stream_count; i++) {
        struct otf2_stream *other = &s->streams[rank->streams[i]];
        const struct call_queue *queue = &other->calls.queue;
        if (other->ended ||
            (for_post && (other == st || otf2_source_has_reached(other, oldest->t_enter))))
            continue;
        if (queue->count >= CALL_QUEUE_CAPACITY)
            *later |= call_queue_oldest(queue)->t_exit <= oldest->t_enter;
        else if (behind == NULL || other->ticks < behind->ticks)
            behind = other;
    }
    return behind;
}

/* @param later  set: the oldest record is not available yet, or not needed yet
 * @return the stream to be read on before records are passed on; NULL: none */
static struct otf2_stream *otf2_source_choose_stream(const struct otf2_source *s,
                                                     struct otf2_stream *st, uint64_t until,
                                                     int *later)
{
    const struct call_queue *queue = &st->calls.queue;
    *later = 0;
    if (!queue->shared)
        return st->ended || call_queue_is_full(queue) ? NULL : st;
    if (!st->ended && queue->count < CALL_QUEUE_READ_AHEAD)
        return st;
    if (call_queue_waits(queue) == CALL_COMPLETE)
        return NULL;
    if (call_queue_oldest(queue)->t_enter >= until) {
        *later = 1;
        return NULL;
    }
    struct otf2_stream *behind = otf2_source_choose_awaited(s, st, later);
    *later = *later && behind == NULL && until != UINT64_MAX;
    return behind;
}

/* Stop the waiting of the oldest record: it is too long if there is more to be read that may
 * complete it; if all streams have been read, its other end does not exist. */
static void otf2_source_fail_stream(const struct otf2_source *s, struct otf2_stream *st)
{
    const struct otf2_rank *rank = &s->ranks[st->rank];
    struct call_queue *queue = &st->calls.queue;
    int too_long = call_queue_waits(queue) == CALL_WAITS_FOR_END;
    for (uint32_t i = 0; !too_long && queue->count > 0 && i < rank->stream_count; i++)
        too_long = !otf2_source_has_reached(&s->streams[rank->streams[i]],
                                            call_queue_oldest(queue)->t_enter);
    call_queue_force(queue, too_long);
}

static int otf2_source_next_event(struct otf2_source *s, struct otf2_stream *st, uint64_t until,
                                  struct event *out, uint32_t *reading)
{
    for (;;) {
        struct otf2_stream *on;
        int later;
        uint64_t skip = otf2_source_emitted_before(s, st);
        while ((on = otf2_source_choose_stream(s, st, skip > 0 ? UINT64_MAX : until, &later)) !=
               NULL) {
            *reading = on->number;
            otf2_source_read_on(s, on);
            otf2_source_settle_rank(s, &s->ranks[st->rank]);
            while (on != st && otf2_source_emitted_before(s, on) > 0 &&
                   otf2_source_emit_event(s, on, out) > 0)
                continue;
        }
        if (later) {
            out->t_enter = call_queue_oldest(&st->calls.queue)->t_enter;
            return -EAGAIN;
        }
        if (st->calls.queue.shared)
            otf2_source_fail_stream(s, st);
        uint32_t got = otf2_source_emit_event(s, st, out);
        otf2_source_fill_report(st, &s->reports[st->number]);
        if (got > 0 && skip == 0)
            return (int)got;
        if (got == 0 && st->ended)
            return st->failed;
    }
}

int otf2_source_next(struct otf2_source *s, uint32_t stream, uint64_t until, struct event *out,
                     uint32_t *reading, char fault[OTF2_FAULT_BYTES])
{
    struct otf2_stream *st = &s->streams[stream];
    struct otf2_rank *rank = &s->ranks[st->rank];
    *reading = stream;
    pthread_mutex_lock(&rank->lock);
    int code = otf2_source_next_event(s, st, until, out, reading);
    if (code < 0 && code != -EAGAIN)
        memcpy(fault, st->fault, OTF2_FAULT_BYTES);
    pthread_mutex_unlock(&rank->lock);
    return code;
}
