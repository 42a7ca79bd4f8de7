/* Reader of comma-separated values in bounded memory: see csv_reader.h. */
#include "daemon/import/csv/csv_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (4u * CSV_ROW_BYTES)

struct csv_reader {
    csv_source *source;
    void *user;
    char separator;
    int ended, error;
    int ends_in_cr;                      /* lines end in CR: the first buffer has no LF */
    size_t at, end;                      /* unread bytes of the buffer: [at, end) */
    uint64_t line, offset;               /* position of bytes[at] */
    struct csv_field fields[CSV_FIELDS]; /* fields of the last row */
    char bytes[BUFFER];
};

int csv_reader_create(struct csv_reader **out, csv_source *source, void *user)
{
    struct csv_reader *r = malloc(sizeof(*r));
    if (r == NULL)
        return -ENOMEM;
    r->source = source;
    r->user = user;
    r->separator = ',';
    r->ended = r->error = r->ends_in_cr = 0;
    r->at = r->end = 0;
    r->line = 1;
    r->offset = 0;
    *out = r;
    return 0;
}

void csv_reader_destroy(struct csv_reader *reader)
{
    free(reader);
}

void csv_reader_separator(struct csv_reader *reader, char separator)
{
    reader->separator = separator;
}

/* ---- the buffer ------------------------------------------------------------ */

static void csv_reader_convert_line_ends(char *at, const char *end)
{
    for (; (at = memchr(at, '\r', (size_t)(end - at))) != NULL; at++)
        *at = '\n';
}

/* Fill the buffer until it holds a row of the maximum length, or all that is left. */
static void csv_reader_fill(struct csv_reader *r)
{
    if (r->ended || r->end - r->at > CSV_ROW_BYTES + 1)
        return;
    memmove(r->bytes, r->bytes + r->at, r->end - r->at);
    r->end -= r->at;
    r->at = 0;
    size_t fresh = r->end;
    while (!r->ended && r->end < BUFFER) {
        long got = r->source(r->user, r->bytes + r->end, BUFFER - r->end);
        r->end += got > 0 ? (size_t)got : 0;
        r->ended = got <= 0;
        r->error = got < 0 ? (int)got : 0;
    }
    if (r->offset == 0)
        r->ends_in_cr = memchr(r->bytes, '\n', r->end) == NULL;
    if (r->ends_in_cr)
        csv_reader_convert_line_ends(r->bytes + fresh, r->bytes + r->end);
    if (r->offset == 0 && r->end >= 3 && memcmp(r->bytes, "\xef\xbb\xbf", 3) == 0)
        r->at = r->offset = 3;
}

/* Consume `count` bytes, which contain `lines` line ends. */
static void csv_reader_consume(struct csv_reader *r, size_t count, uint64_t lines)
{
    r->at += count;
    r->offset += count;
    r->line += lines;
}

/* Skip the rest of the line. */
static void csv_reader_skip_line(struct csv_reader *r)
{
    for (;;) {
        csv_reader_fill(r);
        const char *stop = memchr(r->bytes + r->at, '\n', r->end - r->at);
        if (stop != NULL) {
            csv_reader_consume(r, (size_t)(stop - r->bytes) + 1 - r->at, 1);
            return;
        }
        csv_reader_consume(r, r->end - r->at, 0);
        if (r->ended)
            return;
    }
}

/* @return 1 when the next line is empty */
static int csv_reader_at_empty_line(const struct csv_reader *r)
{
    const char *at = r->bytes + r->at;
    size_t left = r->end - r->at;
    return at[0] == '\n' || (at[0] == '\r' && (left == 1 || at[1] == '\n'));
}

int csv_reader_peek(struct csv_reader *r, const char **line, size_t *length, int *whole)
{
    for (;;) {
        csv_reader_fill(r);
        if (r->at == r->end)
            return r->error;
        if (!csv_reader_at_empty_line(r) && r->bytes[r->at] != '#')
            break;
        csv_reader_skip_line(r);
    }
    size_t left = r->end - r->at;
    left = left < CSV_ROW_BYTES ? left : CSV_ROW_BYTES;
    const char *stop = memchr(r->bytes + r->at, '\n', left);
    *line = r->bytes + r->at;
    *length = stop == NULL ? left : (size_t)(stop - *line);
    *whole = stop != NULL || left < CSV_ROW_BYTES;
    return 1;
}

/* ---- rows ------------------------------------------------------------------ */

/* A row that is being split. */
struct scan {
    char *at, *end;
    uint64_t lines;
    enum csv_fault fault;
};

/* Read a quoted field; it is shortened in place where quotes are doubled. s->at is after the
 * opening quote. */
static void csv_reader_read_quoted(struct scan *s, struct csv_field *out)
{
    char *to = s->at;
    out->text = to;
    for (; s->at < s->end; s->at++) {
        if (*s->at == '"') {
            if (s->at + 1 == s->end || s->at[1] != '"')
                break;
            s->at++;
        }
        s->lines += *s->at == '\n';
        *to++ = *s->at;
    }
    out->length = (uint32_t)(to - out->text);
    s->at += s->at < s->end;
}

static void csv_reader_read_plain(struct scan *s, char separator, struct csv_field *out)
{
    out->text = s->at;
    while (s->at < s->end && *s->at != separator && *s->at != '\n')
        s->at++;
    out->length = (uint32_t)(s->at - out->text);
    int ends = s->at == s->end || *s->at == '\n';
    if (ends && out->length > 0 && s->at[-1] == '\r')
        out->length--;
}

static int csv_reader_at_line_end(struct scan *s)
{
    if (s->at < s->end && *s->at == '\r' && (s->at + 1 == s->end || s->at[1] == '\n'))
        s->at++;
    return s->at == s->end || *s->at == '\n';
}

/* May a closing quote end a field here? */
static int csv_reader_ends_field(const char *at, const char *end, char separator)
{
    return at == end || *at == separator || *at == '\n' ||
           (*at == '\r' && (at + 1 == end || at[1] == '\n'));
}

/* Search for the closing quote before the row is modified: a quote that is never closed must cost
 * no more than its own line. A quote of a later line that ends no field belongs to that line, and
 * closes none.
 * @return 0: the bytes end before the row does, or the quote is not closed */
static int csv_reader_is_closed(const char *at, const char *end, char separator)
{
    int inside = 0, begins = 1, spans = 0;
    for (; at < end; at++) {
        if (inside && *at == '"' && at + 1 < end && at[1] == '"') {
            at++;
        } else if (inside && *at == '"') {
            inside = 0;
            if (spans && !csv_reader_ends_field(at + 1, end, separator))
                return 0;
        } else if (inside) {
            spans |= *at == '\n';
        } else if (*at == '\n') {
            return 1;
        } else {
            inside = *at == '"' && begins;
            begins = *at == separator;
            spans = 0;
        }
    }
    return !inside;
}

/* @return number of fields */
static uint32_t csv_reader_split(struct csv_reader *r, struct scan *s)
{
    for (uint32_t count = 0;; count++) {
        if (count == CSV_FIELDS) {
            s->fault = CSV_TOO_MANY;
            return 0;
        }
        if (s->at < s->end && *s->at == '"') {
            s->at++;
            csv_reader_read_quoted(s, &r->fields[count]);
            if (!csv_reader_at_line_end(s) && *s->at != r->separator) {
                s->fault = CSV_AFTER_QUOTE;
                return 0;
            }
        } else {
            csv_reader_read_plain(s, r->separator, &r->fields[count]);
        }
        if (csv_reader_at_line_end(s))
            return count + 1;
        s->at++; /* the separator */
    }
}

static int csv_reader_report_fault(struct csv_reader *r, struct csv_row *out, enum csv_fault fault)
{
    out->fault = fault;
    csv_reader_skip_line(r);
    return 1;
}

int csv_reader_next(struct csv_reader *r, struct csv_row *out)
{
    for (;;) {
        csv_reader_fill(r);
        if (r->at == r->end)
            return r->error;
        if (!csv_reader_at_empty_line(r))
            break;
        csv_reader_skip_line(r);
    }
    size_t left = r->end - r->at;
    left = left < CSV_ROW_BYTES + 1 ? left : CSV_ROW_BYTES + 1;
    char *begin = r->bytes + r->at;
    *out = (struct csv_row){
        .fields = r->fields, .line = r->line, .offset = r->offset, .is_remark = begin[0] == '#'};
    char *stop = memchr(begin, '\n', left);
    size_t until = stop == NULL ? left : (size_t)(stop - begin) + 1;
    if (memchr(begin, '"', until) != NULL) {
        if (!csv_reader_is_closed(begin, begin + left, r->separator))
            return csv_reader_report_fault(r, out, CSV_OPEN_QUOTE);
        until = left;
    } else if (stop == NULL && left > CSV_ROW_BYTES) {
        return csv_reader_report_fault(r, out, CSV_TOO_LONG);
    }
    struct scan scan = {.at = begin, .end = begin + until};
    out->count = csv_reader_split(r, &scan);
    if (scan.fault == CSV_WHOLE && scan.at == begin + CSV_ROW_BYTES + 1)
        scan.fault = CSV_TOO_LONG; /* the row continues beyond the bytes of the buffer */
    size_t taken = (size_t)(scan.at - begin);
    if (scan.fault != CSV_WHOLE) {
        out->count = 0;
        csv_reader_consume(r, taken, scan.lines);
        return csv_reader_report_fault(r, out, scan.fault);
    }
    int ends = scan.at < scan.end;
    csv_reader_consume(r, taken + (size_t)ends, scan.lines + (uint64_t)ends);
    return 1;
}
