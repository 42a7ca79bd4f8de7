/* Reader of the text form of a DUMPI file: see dumpi_ascii.h. */
#include "daemon/import/dumpi/dumpi_ascii.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/import/dumpi/dumpi_ascii_values.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENTERING " entering at "
#define RETURNING " returning at "
#define HEAD_LINES 64u /* maximum number of lines before the first call */
/* The sizes of datatypes are expected in this many bytes at the end of the file. */
#define TAIL_BYTES (4u << 20)

int dumpi_is_ascii(const uint8_t *begin, size_t length)
{
    const char *text = (const char *)begin;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = (end == NULL ? length : (size_t)(end - text)) - at;
        if (line > 4 && memcmp(text + at, "MPI", 3) == 0 &&
            memmem(text + at, line, ENTERING, strlen(ENTERING)) != NULL)
            return 1;
        at += line + 1;
    }
    return 0;
}

/* ---- header and footer ------------------------------------------------------ */

static const char *dumpi_ascii_value_of_key(const char *line, const char *key)
{
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 && line[length] == '=' ? line + length + 1 : NULL;
}

static int dumpi_ascii_set_text(char **out, const char *text)
{
    free(*out);
    *out = strdup(text);
    return *out == NULL ? -ENOMEM : 0;
}

static uint32_t dumpi_ascii_get_mesh(const char *text, int32_t out[16])
{
    uint32_t count = 0;
    int64_t number;
    const char *at = text, *end = text + strlen(text);
    while (count < 16 && dumpi_ascii_number(&at, end, &number))
        out[count++] = (int32_t)number;
    return count;
}

/* The date is in the unknown time zone of the recording machine: it is exact to a day. */
static uint64_t dumpi_ascii_get_date(const char *text)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%a %b %d %H:%M:%S %Y", &tm);
    time_t date = end == NULL ? -1 : timegm(&tm);
    return date > 0 ? (uint64_t)date : 0;
}

static int dumpi_ascii_read_head_line(struct dumpi_file *file, const char *line)
{
    const char *value;
    unsigned part[3];
    if ((value = dumpi_ascii_value_of_key(line, "version")) != NULL) {
        if (sscanf(value, "%3u.%3u.%3u", &part[0], &part[1], &part[2]) == 3)
            for (unsigned i = 0; i < 3; i++)
                file->version.part[i] = (uint8_t)part[i];
        file->version_known = 1;
    } else if ((value = dumpi_ascii_value_of_key(line, "starttime")) != NULL) {
        file->start_s = dumpi_ascii_get_date(value);
    } else if ((value = dumpi_ascii_value_of_key(line, "hostname")) != NULL) {
        return dumpi_ascii_set_text(&file->host, value);
    } else if ((value = dumpi_ascii_value_of_key(line, "username")) != NULL) {
        return dumpi_ascii_set_text(&file->user, value);
    } else if ((value = dumpi_ascii_value_of_key(line, "meshcrd")) != NULL) {
        file->mesh_dimensions = dumpi_ascii_get_mesh(value, file->mesh_place);
    } else if ((value = dumpi_ascii_value_of_key(line, "meshsize")) != NULL) {
        dumpi_ascii_get_mesh(value, file->mesh_size);
    }
    return 0;
}

static int dumpi_ascii_put_size(struct dumpi_file *file, unsigned type, int size)
{
    if (type >= DUMPI_MAX_TYPES)
        return 0;
    if (type >= file->type_count && ARRAY_RESIZE(file->type_sizes, (size_t)type + 1) != 0)
        return -ENOMEM;
    while (file->type_count <= type)
        file->type_sizes[file->type_count++] = 0;
    file->type_sizes[type] = size;
    return 0;
}

static int dumpi_ascii_read_tail_line(struct dumpi_file *file, const char *line)
{
    unsigned type, calls, left_out;
    int size;
    char name[64];
    const char *size_text = strstr(line, ") has size ");
    if (size_text != NULL && sscanf(line, "Datatype %u (", &type) == 1 &&
        sscanf(size_text, ") has size %d", &size) == 1)
        return dumpi_ascii_put_size(file, type, size);
    if (sscanf(line, "%63s called %u times and ignored %u times", name, &calls, &left_out) != 3)
        return 0;
    uint32_t function = dumpi_ascii_function(name, strlen(name));
    if (function >= DUMPI_FUNCTIONS)
        return 0;
    if (file->calls_left_out == NULL) {
        file->calls_left_out = calloc(DUMPI_FUNCTIONS + 1, sizeof *file->calls_left_out);
        file->call_count = DUMPI_FUNCTIONS + 1;
    }
    if (file->calls_left_out == NULL)
        return -ENOMEM;
    file->calls_left_out[function] = left_out;
    return 0;
}

int dumpi_ascii_open(struct dumpi_file *file, struct dumpi_reader *reader)
{
    struct dumpi_line line = {0};
    int code = 0;
    file->ascii = 1;
    file->whole = 1;
    file->body_end = file->bytes;
    dumpi_seek(reader, 0, file->bytes);
    for (unsigned i = 0; code == 0 && i < HEAD_LINES && dumpi_line_next(&line, reader) == 1; i++) {
        if (strstr(line.text, ENTERING) != NULL)
            break;
        code = dumpi_ascii_read_head_line(file, line.text);
    }
    dumpi_seek(reader, file->bytes > TAIL_BYTES ? file->bytes - TAIL_BYTES : 0, file->bytes);
    while (code == 0 && dumpi_line_next(&line, reader) == 1)
        code = dumpi_ascii_read_tail_line(file, line.text);
    if (reader->error == -ENOMEM)
        code = -ENOMEM;
    dumpi_line_finish(&line);
    return code;
}

/* ---- calls ------------------------------------------------------------------- */

/* Parse the number after a word: "walltime 12.000000034,". @return 0: there is none */
static int dumpi_ascii_get_time(const char *line, const char *word, int64_t *s, int32_t *ns)
{
    const char *at = strstr(line, word);
    unsigned digits = 0;
    char *end;
    if (at == NULL)
        return 0;
    errno = 0;
    *s = strtoll(at + strlen(word), &end, 10);
    if (errno != 0 || *s < 0 || *s > UINT32_MAX || *end != '.')
        return 0;
    for (*ns = 0, at = end + 1; *at >= '0' && *at <= '9' && digits < 9; at++, digits++)
        *ns = 10 * *ns + (*at - '0');
    for (unsigned i = digits; i < 9; i++)
        *ns *= 10;
    return digits > 0;
}

/* Parse the line that begins or ends a call. @return 0: it is truncated, without its full stop, or
 * has other times than the line that began the call */
static int dumpi_ascii_read_head(struct dumpi_call *call, const char *line, size_t length,
                                 int entering)
{
    const char *thread = strstr(line, " in thread ");
    int64_t cpu_s, wall_s;
    int32_t cpu_ns, wall_ns;
    int wall = dumpi_ascii_get_time(line, "walltime ", &wall_s, &wall_ns),
        cpu = dumpi_ascii_get_time(line, "cputime ", &cpu_s, &cpu_ns);
    if (length == 0 || line[length - 1] != '.' || strstr(line, " seconds") == NULL)
        return 0;
    if (entering) {
        call->mask = (uint8_t)(DUMPI_HAS_STATUSES | (wall ? DUMPI_HAS_WALL_TIME : 0) |
                               (cpu ? DUMPI_HAS_CPU_TIME : 0));
        call->thread = thread == NULL ? 0 : (uint16_t)strtoul(thread + 11, NULL, 10);
        call->wall =
            (struct dumpi_time){.start_s = wall ? wall_s : 0, .start_ns = wall ? wall_ns : 0};
        call->cpu = (struct dumpi_time){.start_s = cpu ? cpu_s : 0, .start_ns = cpu ? cpu_ns : 0};
        return 1;
    }
    if ((call->mask & DUMPI_HAS_WALL_TIME) && wall)
        call->wall.stop_s = wall_s, call->wall.stop_ns = wall_ns;
    if ((call->mask & DUMPI_HAS_CPU_TIME) && cpu)
        call->cpu.stop_s = cpu_s, call->cpu.stop_ns = cpu_ns;
    return wall == !!(call->mask & DUMPI_HAS_WALL_TIME) &&
           cpu == !!(call->mask & DUMPI_HAS_CPU_TIME);
}

/* @return length of the function's name; 0: the line is not of this kind */
static size_t dumpi_ascii_name_length(const char *line, const char *kind)
{
    const char *at = strncmp(line, "MPI", 3) == 0 ? strstr(line, kind) : NULL;
    return at == NULL ? 0 : (size_t)(at - line);
}

/* Count a call that is not complete. */
static void dumpi_ascii_skip_call(struct dumpi_stream *stream, uint64_t line)
{
    if (stream->outcome.damaged++ == 0)
        stream->outcome.damaged_at = line;
}

/* End the stream: after a read error for that reason, else with `ending`. */
static int dumpi_ascii_end(struct dumpi_stream *stream, uint64_t line, enum dumpi_ending ending)
{
    int code = stream->reader.error;
    if (code == -ENOMEM)
        return -ENOMEM;
    stream->outcome.ending = code == -HOLTER_EMALFORMED ? DUMPI_ENDED_BROKEN
                             : code != 0                ? DUMPI_ENDED_UNREADABLE
                                                        : ending;
    stream->outcome.ended_at = line;
    return 0;
}

/* Is this the truncated beginning of a line that would begin a call? */
static int dumpi_ascii_is_truncated(const struct dumpi_line *line)
{
    return line->length > 0 && !line->ended && strncmp(line->text, "MPI", 3) == 0 &&
           strstr(line->text, " called ") == NULL;
}

/* Find the line that begins the next call. @return 1; 0: there is none; -1: it is truncated */
static int dumpi_ascii_find_call(struct dumpi_stream *stream)
{
    while (stream->held || dumpi_line_next(&stream->line, &stream->reader) == 1) {
        stream->held = 0;
        if (dumpi_ascii_name_length(stream->line.text, ENTERING) > 0)
            return 1;
        if (dumpi_ascii_is_truncated(&stream->line))
            return -1;
        if (dumpi_ascii_name_length(stream->line.text, RETURNING) > 0)
            dumpi_ascii_skip_call(stream, stream->line.number);
    }
    return 0;
}

/* Read the arguments, and the line that ends the call. @return 1; 0: another call begins before it;
 * -1: no more lines */
static int dumpi_ascii_read_arguments(struct dumpi_stream *stream, uint32_t function,
                                      const char *name)
{
    struct dumpi_filling filling;
    dumpi_filling_begin(&filling, stream, function);
    while (dumpi_line_next(&stream->line, &stream->reader) == 1) {
        const char *line = stream->line.text;
        size_t length = dumpi_ascii_name_length(line, RETURNING);
        if (length > 0) {
            int same = strncmp(line, name, length) == 0 && name[length] == '\0';
            int good = same && dumpi_ascii_read_head(&stream->call, line, stream->line.length, 0);
            return good ? dumpi_filling_end(&filling) : stream->line.ended ? 0 : -1;
        }
        if (dumpi_ascii_name_length(line, ENTERING) > 0) {
            stream->held = 1;
            return 0;
        }
        if (function < DUMPI_FUNCTIONS)
            dumpi_filling_add_line(&filling, line, stream->line.length);
    }
    return -1;
}

int dumpi_ascii_next(struct dumpi_stream *stream)
{
    if (!stream->begun) {
        stream->begun = 1;
        dumpi_seek(&stream->reader, 0, stream->file->bytes);
    }
    while (stream->outcome.ending == DUMPI_GOES_ON) {
        char name[64];
        int found = dumpi_ascii_find_call(stream);
        if (found != 1)
            return dumpi_ascii_end(stream, stream->line.number,
                                   found == 0 ? DUMPI_ENDED : DUMPI_ENDED_EARLY);
        uint64_t number = stream->line.number;
        size_t length = dumpi_ascii_name_length(stream->line.text, ENTERING);
        uint32_t function = dumpi_ascii_function(stream->line.text, length);
        snprintf(name, sizeof name, "%.*s", (int)length, stream->line.text);
        int good = dumpi_ascii_read_head(&stream->call, stream->line.text, stream->line.length, 1);
        stream->call.function = function;
        stream->call.offset = number;
        int got = dumpi_ascii_read_arguments(stream, function, name);
        if (got < 0 || stream->reader.error != 0)
            return dumpi_ascii_end(stream, number, DUMPI_ENDED_EARLY);
        if (got == 0 || !good) {
            dumpi_ascii_skip_call(stream, number);
        } else if (function >= DUMPI_FUNCTIONS) {
            if (stream->outcome.unknown++ == 0)
                stream->outcome.unknown_at = number;
        } else {
            return 1;
        }
    }
    return 0;
}
