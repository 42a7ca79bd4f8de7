/* Lines of a DUMPI text and the values of arguments in them: see dumpi_ascii_values.h. */
#include "daemon/import/dumpi/dumpi_ascii_values.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINE (64u << 20) /* bytes: enough for as many numbers as a record may have */

/* ---- lines ------------------------------------------------------------------- */

static int dumpi_values_append(struct dumpi_line *line, struct dumpi_reader *reader, size_t count)
{
    int code = line->length + count > MAX_LINE
                   ? -HOLTER_EMALFORMED
                   : array_fit(&line->text, 1, &line->capacity, line->length + count + 1);
    if (code != 0) {
        reader->error = code;
        return 0;
    }
    memcpy(line->text + line->length, reader->buffer + reader->at, count);
    line->length += count;
    reader->at += count;
    return 1;
}

int dumpi_line_next(struct dumpi_line *line, struct dumpi_reader *reader)
{
    size_t have;
    int any = 0, ended = 0;
    line->length = 0;
    while (!ended && (have = dumpi_fill(reader, 1)) > 0) {
        const uint8_t *from = reader->buffer + reader->at, *end = memchr(from, '\n', have);
        ended = end != NULL;
        if (!dumpi_values_append(line, reader, ended ? (size_t)(end - from) : have))
            return 0;
        reader->at += (size_t)ended;
        any = 1;
    }
    if (!any || reader->error != 0)
        return 0;
    line->ended = ended;
    while (line->length > 0 &&
           (line->text[line->length - 1] == '\r' || line->text[line->length - 1] == ' '))
        line->length--;
    line->text[line->length] = '\0';
    line->number++;
    return 1;
}

void dumpi_line_finish(struct dumpi_line *line)
{
    free(line->text);
    *line = (struct dumpi_line){0};
}

/* ---- values -------------------------------------------------------------------- */

int dumpi_ascii_number(const char **at, const char *end, int64_t *out)
{
    const char *c = *at;
    for (; c < end && !(*c >= '0' && *c <= '9'); c++)
        if (*c == '(') {
            const char *closed = memchr(c, ')', (size_t)(end - c));
            c = closed == NULL ? end - 1 : closed;
        }
    if (c >= end)
        return 0;
    char *behind;
    *out = strtoll(c > *at && c[-1] == '-' ? c - 1 : c, &behind, 10);
    *at = behind < end ? behind : end;
    return 1;
}

static int dumpi_values_compare_names(const char *name, size_t length, const char *other)
{
    int order = strncmp(name, other, length);
    return order != 0 ? order : other[length] == '\0' ? 0 : -1;
}

uint32_t dumpi_ascii_function(const char *name, size_t length)
{
    for (uint32_t i = 0; i < DUMPI_FUNCTIONS; i++)
        if (dumpi_values_compare_names(name, length, dumpi_layout(i)->name) == 0)
            return i;
    return DUMPI_FUNCTIONS;
}

/* ---- kinds of values ----------------------------------------------------------- */

enum shape { SHAPE_NUMBER, SHAPE_NUMBERS, SHAPE_TEXT, SHAPE_STATUS };

static enum shape dumpi_values_shape_of(unsigned kind)
{
    switch (kind) {
    case DUMPI_KIND_STATUS:
    case DUMPI_KIND_STATUSES:
        return SHAPE_STATUS;
    case DUMPI_KIND_STRING:
    case DUMPI_KIND_STRINGS:
    case DUMPI_KIND_ARGV:
    case DUMPI_KIND_STRING_LISTS:
        return SHAPE_TEXT;
    default:
        return kind >= DUMPI_KIND_INTS ? SHAPE_NUMBERS : SHAPE_NUMBER;
    }
}

static int dumpi_values_is_request(unsigned kind)
{
    return kind == DUMPI_KIND_REQUEST || kind == DUMPI_KIND_IO_REQUEST;
}

/* A line "MPI_Request requests[2]=[2, 3]". */
struct argument_line {
    const char *name, *value, *end;
    size_t name_length;
    enum shape shape;
};

static int dumpi_values_split(struct argument_line *out, const char *line, size_t length)
{
    const char *equals = memchr(line, '=', length), *name = equals, *bracket;
    if (equals == NULL)
        return 0;
    while (name > line && name[-1] != ' ')
        name--;
    bracket = memchr(name, '[', (size_t)(equals - name));
    out->name = name;
    out->name_length = (size_t)((bracket != NULL ? bracket : equals) - name);
    out->value = equals + 1;
    out->end = line + length;
    out->shape = strncmp(line, "MPI_Status", 10) == 0                  ? SHAPE_STATUS
                 : strncmp(line, "string", 6) == 0 || equals[1] == '"' ? SHAPE_TEXT
                 : bracket != NULL || equals[1] == '['                 ? SHAPE_NUMBERS
                                                                       : SHAPE_NUMBER;
    return out->name_length > 0;
}

static void dumpi_values_put_numbers(struct dumpi_stream *stream, struct dumpi_argument *out,
                                     const struct argument_line *line)
{
    int64_t number;
    const char *at = line->value;
    out->first = (uint32_t)stream->word_count;
    while (dumpi_ascii_number(&at, line->end, &number)) {
        int32_t *word = dumpi_stream_add_words(stream, 1);
        if (word == NULL)
            return;
        *word = (int32_t)number;
        out->value++;
    }
}

/* "bytes=4, cancelled=0, source=1, tag=2, error=0" */
static void dumpi_values_put_status(const char *begin, const char *end, struct dumpi_status *out)
{
    static const char *const keys[] = {"bytes=", "source=", "tag=", "cancelled=", "error="};
    int32_t *values[] = {&out->bytes, &out->source, &out->tag, &out->cancelled, &out->error};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *at = memmem(begin, (size_t)(end - begin), keys[i], strlen(keys[i]));
        int64_t number;
        if (at != NULL && (at += strlen(keys[i]), dumpi_ascii_number(&at, end, &number)))
            *values[i] = (int32_t)number;
    }
}

static void dumpi_values_put_statuses(struct dumpi_stream *stream, struct dumpi_argument *out,
                                      const struct argument_line *line)
{
    const char *at = line->value, *begin, *closed;
    out->first = (uint32_t)stream->word_count;
    while ((begin = memchr(at, '{', (size_t)(line->end - at))) != NULL &&
           (closed = memchr(begin, '}', (size_t)(line->end - begin))) != NULL) {
        struct dumpi_status status = {0, 0, DUMPI_ANY_TAG, 0, 0};
        int32_t *words = dumpi_stream_add_words(stream, DUMPI_STATUS_WORDS);
        if (words == NULL)
            return;
        dumpi_values_put_status(begin, closed, &status);
        memcpy(words, &status, sizeof status);
        out->value++;
        at = closed;
    }
}

/* Strings are quoted, and separated by commas. */
static void dumpi_values_put_texts(struct dumpi_stream *stream, struct dumpi_argument *out,
                                   const struct argument_line *line)
{
    const char *at = memchr(line->value, '"', (size_t)(line->end - line->value));
    out->first = (uint32_t)stream->text_count;
    while (at != NULL && ++at < line->end) {
        const char *next = memmem(at, (size_t)(line->end - at), "\", \"", 4);
        const char *end = next != NULL ? next : memrchr(at, '"', (size_t)(line->end - at));
        end = end == NULL ? line->end : end;
        size_t length = (size_t)(end - at);
        char *text = dumpi_stream_add_text(stream, length);
        if (text == NULL)
            return;
        memcpy(text, at, length);
        out->value++;
        at = next == NULL ? NULL : next + 3;
    }
}

/* ---- arguments ------------------------------------------------------------------- */

void dumpi_filling_begin(struct dumpi_filling *filling, struct dumpi_stream *stream,
                         uint32_t function)
{
    int optional = 0;
    *filling = (struct dumpi_filling){.stream = stream};
    stream->word_count = stream->text_count = 0;
    memset(stream->call.arguments, 0, sizeof stream->call.arguments);
    if (function >= DUMPI_FUNCTIONS)
        return;
    for (const struct dumpi_field *f = dumpi_layout(function)->fields; f->kind != DUMPI_KIND_NONE;
         f++) {
        if (f->kind == DUMPI_KIND_IF_EQUAL) {
            optional = 1;
            continue;
        }
        optional |= f->kind == DUMPI_KIND_SKIP_BEFORE_0_6_2 ||
                    f->kind == DUMPI_KIND_INT_OR_NOTHING ||
                    f->kind == DUMPI_KIND_TYPE_AT_ROOT_OR_ALL ||
                    dumpi_values_shape_of(f->kind) == SHAPE_STATUS;
        filling->kinds[filling->count] = f->kind;
        filling->names[filling->count] = f->name;
        filling->optional |= (uint32_t)optional << filling->count++;
        optional = 0;
    }
}

/* @return the argument that a line contains, by its name, else the next one of its shape; count:
 * none */
static unsigned dumpi_values_argument_of(const struct dumpi_filling *filling,
                                         const struct argument_line *line)
{
    unsigned count = filling->count;
    for (unsigned i = 0; i < count; i++)
        if (!(filling->filled >> i & 1) &&
            dumpi_values_compare_names(line->name, line->name_length, filling->names[i]) == 0)
            return i;
    for (unsigned i = filling->next; i < count; i++) {
        int filled = filling->filled >> i & 1;
        if (!filled &&
            (dumpi_values_shape_of(filling->kinds[i]) == line->shape ||
             (dumpi_values_is_request(filling->kinds[i]) && line->shape == SHAPE_NUMBERS)))
            return i;
        if (!filled && !(filling->optional >> i & 1))
            break;
    }
    return count;
}

void dumpi_filling_add_line(struct dumpi_filling *filling, const char *text, size_t length)
{
    struct argument_line line;
    struct dumpi_stream *stream = filling->stream;
    if (!dumpi_values_split(&line, text, length))
        return;
    unsigned i = dumpi_values_argument_of(filling, &line);
    if (i == filling->count)
        return;
    struct dumpi_argument *out = &stream->call.arguments[i];
    const char *at = line.value;
    int good = 1;
    switch (dumpi_values_shape_of(filling->kinds[i])) {
    case SHAPE_STATUS:
        dumpi_values_put_statuses(stream, out, &line);
        break;
    case SHAPE_TEXT:
        dumpi_values_put_texts(stream, out, &line);
        break;
    case SHAPE_NUMBERS:
        dumpi_values_put_numbers(stream, out, &line);
        break;
    default:
        good = dumpi_ascii_number(&at, line.end, &out->value) || *line.value == '<';
        break;
    }
    filling->filled |= (uint32_t)good << i;
    filling->next = i + 1;
}

int dumpi_filling_end(const struct dumpi_filling *filling)
{
    uint32_t all = (UINT32_C(1) << filling->count) - 1;
    return ((filling->filled | filling->optional) & all) == all;
}
