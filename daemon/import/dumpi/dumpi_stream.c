/* Decoder of the calls in a DUMPI file: see dumpi_stream.h. */
#include "daemon/import/dumpi/dumpi_stream.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/import/dumpi/dumpi_ascii.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEAD_BYTES 29u      /* maximum bytes of a record before counters and arguments */
#define SEARCH_MOST (1u << 20)  /* bytes to search for the next call after an unknown one */
#define MAX_THREAD_NUMBER 4096u /* larger thread numbers are implausible */

_Static_assert(sizeof(struct dumpi_status) == DUMPI_STATUS_WORDS * sizeof(int32_t),
               "statuses lie among words");

int dumpi_stream_init(struct dumpi_stream *stream, const struct dumpi_file *file, size_t capacity)
{
    *stream = (struct dumpi_stream){.file = file};
    return dumpi_reader_init(&stream->reader, file->path, capacity);
}

void dumpi_stream_finish(struct dumpi_stream *stream)
{
    dumpi_reader_finish(&stream->reader);
    free(stream->words);
    free(stream->text);
    free(stream->line.text);
    *stream = (struct dumpi_stream){0};
}

/* ---- arrays --------------------------------------------------------------- */

static void dumpi_stream_fail(struct dumpi_stream *stream, int code)
{
    if (stream->reader.error == 0)
        stream->reader.error = code;
}

/* Length of an array, each element of which takes some bytes of the file. */
static uint32_t dumpi_stream_get_length(struct dumpi_stream *stream, uint64_t each)
{
    uint32_t count = dumpi_get32(&stream->reader);
    if (count > DUMPI_MAX_WORDS || count * each > dumpi_left(&stream->reader)) {
        dumpi_stream_fail(stream, -HOLTER_EMALFORMED);
        return 0;
    }
    return count;
}

/* An array of the call may have `need` elements. @return 0 */
static int dumpi_stream_fit(struct dumpi_stream *stream, void *array, size_t element,
                            size_t *capacity, size_t need)
{
    int code = need > 2 * (size_t)DUMPI_MAX_WORDS ? -HOLTER_EMALFORMED
                                                  : array_fit(array, element, capacity, need);
    if (code != 0)
        dumpi_stream_fail(stream, code);
    return code;
}

int32_t *dumpi_stream_add_words(struct dumpi_stream *stream, size_t count)
{
    size_t need = stream->word_count + count;
    if (dumpi_stream_fit(stream, &stream->words, sizeof *stream->words, &stream->word_capacity,
                         need))
        return NULL;
    stream->word_count = need;
    return stream->words + need - count;
}

char *dumpi_stream_add_text(struct dumpi_stream *stream, size_t length)
{
    size_t need = stream->text_count + length + 1;
    if (dumpi_stream_fit(stream, &stream->text, 1, &stream->text_room, need) != 0)
        return NULL;
    stream->text_count = need;
    stream->text[need - 1] = '\0';
    return stream->text + need - length - 1;
}

/* Elements of 1, 2 or 4 bytes. */
static void dumpi_stream_get_elements(struct dumpi_stream *stream, struct dumpi_argument *out,
                                      uint32_t count, unsigned bytes)
{
    out->value = count;
    out->first = (uint32_t)stream->word_count;
    int32_t *words = dumpi_stream_add_words(stream, count);
    for (uint32_t i = 0; words != NULL && i < count; i++)
        words[i] = bytes == 4   ? (int32_t)dumpi_get32(&stream->reader)
                   : bytes == 2 ? (int32_t)dumpi_get16(&stream->reader)
                                : (int32_t)dumpi_get8(&stream->reader);
}

static void dumpi_stream_get_array(struct dumpi_stream *stream, struct dumpi_argument *out,
                                   unsigned bytes)
{
    dumpi_stream_get_elements(stream, out, dumpi_stream_get_length(stream, bytes), bytes);
}

static void dumpi_stream_get_statuses(struct dumpi_stream *stream, struct dumpi_argument *out)
{
    if (!(stream->call.mask & DUMPI_HAS_STATUSES))
        return;
    int tags = dumpi_since(stream->file->version, 0, 6, 3);
    uint32_t count = dumpi_stream_get_length(stream, tags ? 14 : 10);
    out->value = count;
    out->first = (uint32_t)stream->word_count;
    int32_t *words = dumpi_stream_add_words(stream, (size_t)count * DUMPI_STATUS_WORDS);
    for (uint32_t i = 0; words != NULL && i < count; i++) {
        int32_t bytes = (int32_t)dumpi_get32(&stream->reader),
                source = (int32_t)dumpi_get32(&stream->reader);
        int8_t cancelled = (int8_t)dumpi_get8(&stream->reader),
               error = (int8_t)dumpi_get8(&stream->reader);
        int32_t tag = tags ? (int32_t)dumpi_get32(&stream->reader) : DUMPI_ANY_TAG;
        struct dumpi_status status = {bytes, source, tag, cancelled, error};
        memcpy(words + (size_t)i * DUMPI_STATUS_WORDS, &status, sizeof status);
    }
}

static void dumpi_stream_get_lists(struct dumpi_stream *stream, struct dumpi_argument *out)
{
    uint32_t count = dumpi_stream_get_length(stream, 4);
    out->first = (uint32_t)stream->word_count;
    for (uint32_t i = 0; i < count && stream->reader.error == 0; i++) {
        struct dumpi_argument list;
        dumpi_stream_get_array(stream, &list, 4);
        out->value += list.value;
    }
}

/* ---- strings -------------------------------------------------------------- */

static void dumpi_stream_get_text(struct dumpi_stream *stream)
{
    uint32_t length = dumpi_stream_get_length(stream, 1);
    char *text = dumpi_stream_add_text(stream, length);
    if (text != NULL)
        dumpi_get_bytes(&stream->reader, text, length);
}

static void dumpi_stream_get_texts(struct dumpi_stream *stream, struct dumpi_argument *out,
                                   uint32_t count)
{
    out->value = count;
    out->first = (uint32_t)stream->text_count;
    for (uint32_t i = 0; i < count && stream->reader.error == 0; i++)
        dumpi_stream_get_text(stream);
}

static void dumpi_stream_get_text_lists(struct dumpi_stream *stream, struct dumpi_argument *out)
{
    uint32_t count = dumpi_stream_get_length(stream, 4);
    out->value = count;
    for (uint32_t i = 0; i < count && stream->reader.error == 0; i++) {
        struct dumpi_argument list;
        dumpi_stream_get_texts(stream, &list, dumpi_stream_get_length(stream, 4));
    }
}

/* As many strings as the previous number states, which is a count of the program's own. */
static void dumpi_stream_get_argv(struct dumpi_stream *stream, struct dumpi_argument *out,
                                  int64_t count)
{
    if (count > DUMPI_MAX_WORDS)
        dumpi_stream_fail(stream, -HOLTER_EMALFORMED);
    else
        dumpi_stream_get_texts(stream, out, count > 0 ? (uint32_t)count : 0);
}

/* ---- head of a record ------------------------------------------------------ */

static size_t dumpi_stream_head_bytes(uint8_t mask)
{
    return 3u + (mask & DUMPI_HAS_THREAD ? 2u : 0u) + (mask & DUMPI_HAS_CPU_TIME ? 12u : 0u) +
           (mask & DUMPI_HAS_WALL_TIME ? 12u : 0u);
}

/* @return 0: these are not times */
static int dumpi_stream_read_times(const uint8_t **at, int32_t base, struct dumpi_time *out)
{
    out->start_s = (int64_t)base + dumpi_at16(*at);
    out->start_ns = (int32_t)dumpi_at32(*at + 2);
    out->stop_s = (int64_t)base + dumpi_at16(*at + 6);
    out->stop_ns = (int32_t)dumpi_at32(*at + 8);
    *at += 12;
    return out->start_ns >= 0 && out->start_ns < 1000000000 && out->stop_ns >= 0 &&
           out->stop_ns < 1000000000;
}

/* @param at  dumpi_stream_head_bytes() bytes @return 0: this is not the head of a record */
static int dumpi_stream_read_head(const struct dumpi_stream *stream, const uint8_t *at,
                                  struct dumpi_call *out)
{
    int good = 1;
    out->function = dumpi_at16(at);
    out->mask = at[2];
    out->thread = 0;
    out->cpu = out->wall = (struct dumpi_time){0};
    at += 3;
    if (out->mask & DUMPI_HAS_THREAD) {
        out->thread = dumpi_at16(at);
        at += 2;
    }
    if (out->mask & DUMPI_HAS_CPU_TIME)
        good &= dumpi_stream_read_times(&at, stream->cpu_base_s, &out->cpu);
    if (out->mask & DUMPI_HAS_WALL_TIME)
        good &= dumpi_stream_read_times(&at, stream->wall_base_s, &out->wall);
    return good && !(out->mask & DUMPI_HAS_UNKNOWN);
}

static int dumpi_stream_is_end(const struct dumpi_stream *stream, uint64_t offset, uint32_t number)
{
    return number == stream->file->end_number &&
           (!stream->file->whole || offset + 2 >= stream->file->body_end);
}

/* Does a call begin so many bytes after the reader's position? It must resemble the previous call:
 * the whole file was written with the same settings. */
static int dumpi_stream_call_begins(struct dumpi_stream *stream, size_t behind)
{
    struct dumpi_reader *reader = &stream->reader;
    size_t have = dumpi_fill(reader, behind + MAX_HEAD_BYTES);
    uint64_t offset = dumpi_offset(reader) + behind;
    const uint8_t *at = reader->buffer + reader->at + behind;
    if (have < behind + 2)
        return !stream->file->whole &&
               have >= behind; /* truncated here: it cannot be checked further */
    uint32_t number = dumpi_at16(at);
    if (dumpi_stream_is_end(stream, offset, number))
        return 1;
    size_t bytes = dumpi_stream_head_bytes(stream->call.mask);
    if (have < behind + bytes)
        return !stream->file->whole;
    struct dumpi_call next;
    return dumpi_stream_read_head(stream, at, &next) && number < stream->file->end_number &&
           ((next.mask ^ stream->call.mask) & ~DUMPI_HAS_STATUSES & 0xff) == 0 &&
           next.thread < MAX_THREAD_NUMBER;
}

/* ---- arguments ------------------------------------------------------------- */

static int64_t dumpi_stream_get_number(struct dumpi_stream *stream, unsigned kind)
{
    return kind <= DUMPI_KIND_WHENCE                ? dumpi_get8(&stream->reader)
           : kind <= DUMPI_KIND_TYPE_AT_ROOT_OR_ALL ? (int16_t)dumpi_get16(&stream->reader)
           : kind <= DUMPI_KIND_INT_OR_NOTHING      ? (int32_t)dumpi_get32(&stream->reader)
                                                    : (int64_t)dumpi_get64(&stream->reader);
}

/* Does a field exist? Some do in some versions of the format only; where the version does not
 * decide, what follows does. */
static int dumpi_stream_has(struct dumpi_stream *stream, unsigned kind)
{
    const struct dumpi_argument *arguments = stream->call.arguments;
    switch (kind) {
    case DUMPI_KIND_SKIP_BEFORE_0_6_2:
        return !dumpi_since(stream->file->version, 0, 6, 2);
    case DUMPI_KIND_INT_OR_NOTHING:
        return !dumpi_stream_call_begins(stream, 0) && dumpi_stream_call_begins(stream, 4);
    case DUMPI_KIND_TYPE_AT_ROOT_OR_ALL: /* of MPI_Gatherv */
        return arguments[0].value == arguments[4].value || dumpi_stream_call_begins(stream, 2) ||
               !dumpi_stream_call_begins(stream, 0);
    default:
        return 1;
    }
}

static void dumpi_stream_get_field(struct dumpi_stream *stream, unsigned kind,
                                   struct dumpi_argument *out)
{
    switch (kind) {
    case DUMPI_KIND_INTS_SINCE_0_6_8:
    case DUMPI_KIND_INTS_SINCE_0_6_9:
        if (!dumpi_since(stream->file->version, 0, 6, kind == DUMPI_KIND_INTS_SINCE_0_6_8 ? 8 : 9))
            dumpi_stream_get_elements(stream, out, 1, 4);
        else
            dumpi_stream_get_array(stream, out, 4);
        break;
    case DUMPI_KIND_INTS:
    case DUMPI_KIND_REQUESTS:
    case DUMPI_KIND_IO_REQUESTS:
        dumpi_stream_get_array(stream, out, 4);
        break;
    case DUMPI_KIND_TYPES:
    case DUMPI_KIND_INFOS:
        dumpi_stream_get_array(stream, out, 2);
        break;
    case DUMPI_KIND_DISTRIBUTIONS:
        dumpi_stream_get_array(stream, out, 1);
        break;
    case DUMPI_KIND_STATUS:
    case DUMPI_KIND_STATUSES:
        dumpi_stream_get_statuses(stream, out);
        break;
    case DUMPI_KIND_INT_LISTS:
        dumpi_stream_get_lists(stream, out);
        break;
    case DUMPI_KIND_STRING:
        dumpi_stream_get_texts(stream, out, 1);
        break;
    case DUMPI_KIND_STRINGS:
        dumpi_stream_get_texts(stream, out, dumpi_stream_get_length(stream, 4));
        break;
    case DUMPI_KIND_STRING_LISTS:
        dumpi_stream_get_text_lists(stream, out);
        break;
    default:
        if (dumpi_stream_has(stream, kind))
            out->value = dumpi_stream_get_number(stream, kind);
        break;
    }
}

static void dumpi_stream_get_arguments(struct dumpi_stream *stream, const struct dumpi_field *field)
{
    struct dumpi_argument *arguments = stream->call.arguments;
    int there = 1;
    stream->word_count = stream->text_count = 0;
    for (unsigned n = 0; field->kind != DUMPI_KIND_NONE; field++) {
        if (field->kind == DUMPI_KIND_IF_EQUAL) {
            there = arguments[field->a].value == arguments[field->b].value;
            continue;
        }
        arguments[n] = (struct dumpi_argument){0};
        if (field->kind == DUMPI_KIND_ARGV)
            dumpi_stream_get_argv(stream, &arguments[n], arguments[0].value);
        else if (there)
            dumpi_stream_get_field(stream, field->kind, &arguments[n]);
        there = 1;
        n++;
    }
}

/* ---- calls ----------------------------------------------------------------- */

static int dumpi_stream_end(struct dumpi_stream *stream, uint64_t offset, enum dumpi_ending ending)
{
    int code = stream->reader.error;
    if (code == -ENOMEM)
        return -ENOMEM;
    if (code != 0 && code != -HOLTER_EMALFORMED)
        ending = DUMPI_ENDED_UNREADABLE;
    stream->outcome.ending = ending;
    stream->outcome.ended_at = offset;
    return 0;
}

/* Skip the record of an unknown function: its length is unknown, but the next record can be
 * recognised by its head. @return 0: there is none */
static int dumpi_stream_skip_unknown(struct dumpi_stream *stream)
{
    struct dumpi_reader *reader = &stream->reader;
    struct dumpi_time before = stream->call.wall;
    if (stream->outcome.unknown++ == 0) {
        stream->outcome.unknown_first = stream->call.function;
        stream->outcome.unknown_at = stream->call.offset;
    }
    for (uint32_t skipped = 0; skipped < SEARCH_MOST && dumpi_left(reader) > 0; skipped++) {
        if (dumpi_stream_call_begins(stream, 0)) {
            struct dumpi_call next = stream->call;
            size_t bytes = dumpi_stream_head_bytes(stream->call.mask);
            int whole = dumpi_fill(reader, bytes) >= bytes;
            if (!whole || (dumpi_stream_read_head(stream, reader->buffer + reader->at, &next),
                           next.function == stream->file->end_number ||
                               next.wall.start_s >= before.start_s)) {
                stream->outcome.unknown_bytes += dumpi_offset(reader) - stream->call.offset;
                return 1;
            }
        }
        dumpi_skip(reader, 1);
    }
    return 0;
}

static int dumpi_stream_begin(struct dumpi_stream *stream)
{
    stream->begun = 1;
    dumpi_seek(&stream->reader, DUMPI_BODY, stream->file->body_end);
    stream->cpu_base_s = (int32_t)dumpi_get32(&stream->reader);
    stream->wall_base_s = (int32_t)dumpi_get32(&stream->reader);
    return stream->reader.error;
}

/* @return 1: a head was read; 0: the stream has ended */
static int dumpi_stream_next_head(struct dumpi_stream *stream)
{
    struct dumpi_reader *reader = &stream->reader;
    uint64_t offset = stream->call.offset = dumpi_offset(reader);
    size_t have = dumpi_fill(reader, MAX_HEAD_BYTES);
    enum dumpi_ending early = stream->file->whole ? DUMPI_ENDED_BROKEN : DUMPI_ENDED_EARLY;
    const uint8_t *at = reader->buffer + reader->at;
    if (have >= 2 && dumpi_stream_is_end(stream, offset, dumpi_at16(at)))
        return dumpi_stream_end(stream, offset, DUMPI_ENDED);
    if (have < 3 || have < dumpi_stream_head_bytes(at[2]))
        return dumpi_stream_end(stream, offset, early);
    if (!dumpi_stream_read_head(stream, at, &stream->call))
        return dumpi_stream_end(stream, offset, DUMPI_ENDED_BROKEN);
    reader->at += dumpi_stream_head_bytes(at[2]);
    if (stream->call.mask & DUMPI_HAS_COUNTERS) /* their values at the begin and end of the call */
        dumpi_skip(reader, UINT64_C(16) * dumpi_get8(reader));
    return 1;
}

int dumpi_stream_next(struct dumpi_stream *stream)
{
    struct dumpi_reader *reader = &stream->reader;
    const uint32_t end = stream->file->end_number;
    if (stream->outcome.ending != DUMPI_GOES_ON)
        return 0;
    if (stream->file->ascii)
        return dumpi_ascii_next(stream);
    enum dumpi_ending early = stream->file->whole ? DUMPI_ENDED_BROKEN : DUMPI_ENDED_EARLY;
    if (!stream->begun && dumpi_stream_begin(stream) != 0)
        return dumpi_stream_end(stream, DUMPI_BODY, early);
    for (;;) {
        int got = dumpi_stream_next_head(stream);
        if (got != 1)
            return got;
        uint32_t function = stream->call.function;
        if (function < DUMPI_FUNCTIONS && function < end - 3) {
            dumpi_stream_get_arguments(stream, dumpi_layout(function)->fields);
        } else if (function == end - 2 || function == end - 1) {
            dumpi_skip(reader, 8); /* begin or end of a function of the program: skip its address */
        } else if (!dumpi_stream_skip_unknown(stream)) {
            return dumpi_stream_end(stream, stream->call.offset, DUMPI_ENDED_BROKEN);
        }
        if (reader->error != 0)
            return dumpi_stream_end(stream, stream->call.offset, early);
        if (function < DUMPI_FUNCTIONS && function < end - 3)
            return 1;
    }
}
