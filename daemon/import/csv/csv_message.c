/* Columns and values of a table of messages: see csv_message.h. */
#include "daemon/import/csv/csv_message.h"

#include "holter/call.h"
#include "holter/error.h"
#include "proto/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    int needed, is_time;
} names[CSV_COLUMNS] = {
    [CSV_SOURCE] = {"source", 1, 0},
    [CSV_DESTINATION] = {"destination", 1, 0},
    [CSV_BYTES] = {"bytes", 1, 0},
    [CSV_SEND_BEGIN] = {"send_begin", 1, 1},
    [CSV_SEND_END] = {"send_end", 0, 1},
    [CSV_RECEIVE_BEGIN] = {"receive_begin", 0, 1},
    [CSV_RECEIVE_END] = {"receive_end", 0, 1},
    [CSV_TAG] = {"tag", 0, 0},
    [CSV_COMMUNICATOR] = {"communicator", 0, 0},
    [CSV_REGION] = {"region", 0, 0},
    [CSV_CALL] = {"call", 0, 0},
    [CSV_SOURCE_HOST] = {"source_host", 0, 0},
    [CSV_DESTINATION_HOST] = {"destination_host", 0, 0},
};

static int csv_message_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct csv_field csv_message_trimmed(struct csv_field f)
{
    while (f.length > 0 && csv_message_is_blank(f.text[0]))
        f.text++, f.length--;
    while (f.length > 0 && csv_message_is_blank(f.text[f.length - 1]))
        f.length--;
    return f;
}

static int csv_message_is_word(struct csv_field f, const char *word)
{
    return f.length == strlen(word) && strncasecmp(f.text, word, f.length) == 0;
}

/* ---- the header ------------------------------------------------------------ */

static int csv_message_column_of(struct csv_field f, int *whole_ns)
{
    *whole_ns = f.length > 3 && strncasecmp(f.text + f.length - 3, "_ns", 3) == 0;
    for (int c = 0; c < CSV_COLUMNS; c++)
        if (csv_message_is_word(f, names[c].name) ||
            (*whole_ns && names[c].is_time &&
             csv_message_is_word((struct csv_field){f.text, f.length - 3}, names[c].name)))
            return c;
    return -1;
}

/* Source of bytes for a line in memory. */
struct text {
    const char *at;
    size_t left;
};

static long csv_message_read_text(void *user, void *out, size_t capacity)
{
    struct text *t = user;
    size_t give = t->left < capacity ? t->left : capacity;
    memcpy(out, t->at, give);
    t->at += give;
    t->left -= give;
    return (long)give;
}

static const char *const shape_faults[] = {
    [CSV_TOO_LONG] = "longer than 65536 bytes",
    [CSV_TOO_MANY] = "more than 1024 fields",
    [CSV_OPEN_QUOTE] = "a quote is not closed",
    [CSV_AFTER_QUOTE] = "there is text after a closing quote",
};

/* Copy a name for error messages, without control characters. */
static void csv_message_copy_name(char out[CSV_NAME], struct csv_field f)
{
    size_t length = utf8_cut(f.text, f.length, CSV_NAME - 1);
    for (size_t i = 0; i < length; i++)
        out[i] = (unsigned char)f.text[i] < 0x20 || f.text[i] == 0x7f ? '?' : f.text[i];
    out[length] = '\0';
}

static int csv_message_read_header_names(struct csv_columns *out, const struct csv_row *row,
                                         char why[CSV_WHY])
{
    out->count = row->count;
    for (uint32_t i = 0; i < row->count; i++) {
        int whole_ns, c = csv_message_column_of(csv_message_trimmed(row->fields[i]), &whole_ns);
        if (c < 0) {
            if (out->unknown++ == 0)
                csv_message_copy_name(out->first_unknown, csv_message_trimmed(row->fields[i]));
        } else if (out->field[c] >= 0) {
            snprintf(why, CSV_WHY, "column %s is there twice", names[c].name);
            return -HOLTER_EUSAGE;
        } else {
            out->field[c] = (int32_t)i;
            out->whole_ns[c] = (uint8_t)whole_ns;
        }
    }
    return 0;
}

static int csv_message_try_separator(struct csv_columns *out, const char *line, size_t length,
                                     char separator, char why[CSV_WHY])
{
    struct text text = {line, length};
    struct csv_reader *reader;
    struct csv_row row = {.count = 0};
    *out = (struct csv_columns){.separator = separator};
    for (int c = 0; c < CSV_COLUMNS; c++)
        out->field[c] = -1;
    if (csv_reader_create(&reader, csv_message_read_text, &text) != 0) {
        snprintf(why, CSV_WHY, "no memory");
        return -HOLTER_EUSAGE;
    }
    csv_reader_separator(reader, separator);
    int code =
        csv_reader_next(reader, &row) == 1 ? csv_message_read_header_names(out, &row, why) : 0;
    if (row.fault != CSV_WHOLE) /* it has no columns, as where this is not its separator */
        snprintf(why, CSV_WHY, "the header: %s", shape_faults[row.fault]);
    csv_reader_destroy(reader);
    return code;
}

static uint32_t csv_message_known(const struct csv_columns *c)
{
    return c->count > c->unknown ? c->count - c->unknown : 0;
}

/* Report which columns are missing, and whether another separator may be the cause. */
static void csv_message_report_missing(char why[CSV_WHY], const struct csv_columns *best,
                                       enum csv_column c)
{
    snprintf(why, CSV_WHY, "there is no column %s%s in the header%s", names[c].name,
             names[c].is_time ? " (or with _ns appended)" : "",
             best->count == 1
                 ? ", which is one field: commas, semicolons or tabs are expected between fields"
                 : "");
}

int csv_columns_read(struct csv_columns *out, const char *line, size_t length, char why[CSV_WHY])
{
    struct csv_columns best = {.count = 0};
    int best_code = 0;
    why[0] = '\0';
    for (const char *separator = ",;\t"; *separator != '\0'; separator++) {
        char this_why[CSV_WHY] = "";
        struct csv_columns columns;
        int code = csv_message_try_separator(&columns, line, length, *separator, this_why);
        if (separator[0] != ',' && csv_message_known(&columns) <= csv_message_known(&best) &&
            code == 0)
            continue;
        if (separator[0] != ',' && best_code != 0)
            continue;
        best = columns;
        best_code = code;
        memcpy(why, this_why, CSV_WHY);
    }
    for (unsigned c = 0; best_code == 0 && c < CSV_COLUMNS; c++)
        if (names[c].needed && best.field[c] < 0) {
            if (why[0] == '\0')
                csv_message_report_missing(why, &best, (enum csv_column)c);
            best_code = -HOLTER_EUSAGE;
        }
    if (best_code == 0)
        *out = best;
    return best_code;
}

/* ---- rows ------------------------------------------------------------------ */

struct row {
    const struct csv_columns *columns;
    const struct csv_row *row;
    char *why;
};

static int csv_message_report_bad(const struct row *r, enum csv_column c, struct csv_field f,
                                  const char *what)
{
    snprintf(r->why, CSV_WHY, "column %s: '%.*s' %s", names[c].name,
             (int)(f.length < 40 ? f.length : 40), f.text, what);
    return -HOLTER_EUSAGE;
}

/* @return 0: the column is empty; programs write missing values in several ways */
static int csv_message_value_of(const struct row *r, enum csv_column c, struct csv_field *out)
{
    int32_t at = r->columns->field[c];
    if (at < 0 || (uint32_t)at >= r->row->count)
        return 0;
    *out = csv_message_trimmed(r->row->fields[at]);
    return out->length > 0 && !csv_message_is_word(*out, "nan") &&
           !csv_message_is_word(*out, "na") && !csv_message_is_word(*out, "none") &&
           !csv_message_is_word(*out, "null");
}

/* @param given  set: is there a value? NULL: a value is required */
static int csv_message_number(const struct row *r, enum csv_column c, int64_t most, int64_t *out,
                              int *given)
{
    struct csv_field f = {"", 0};
    int power = names[c].is_time && !r->columns->whole_ns[c] ? 9 : 0;
    int there = csv_message_value_of(r, c, &f);
    if (given != NULL)
        *given = there;
    if (!there)
        return given != NULL ? 0 : csv_message_report_bad(r, c, f, "is no number");
    int comma = r->columns->separator != ',';
    int code = csv_number(f.text, f.length, power, comma, out);
    if (code == -HOLTER_EUSAGE)
        return csv_message_report_bad(r, c, f, "is no number");
    if (code == 0 && !names[c].is_time && csv_whole(f.text, f.length, comma, out) != 0)
        return csv_message_report_bad(r, c, f, "is no whole number");
    if (code == 0 && *out < 0 && c != CSV_TAG)
        return csv_message_report_bad(r, c, f, "is negative");
    return code != 0 || *out > most ? csv_message_report_bad(r, c, f, "is too large") : 0;
}

static int csv_message_text(const struct row *r, enum csv_column c, char out[CSV_NAME])
{
    struct csv_field f;
    out[0] = '\0';
    if (!csv_message_value_of(r, c, &f))
        return 0;
    for (uint32_t i = 0; i < f.length; i++)
        if ((unsigned char)f.text[i] < 0x20 || f.text[i] == 0x7f)
            return csv_message_report_bad(r, c, f, "is no name: it has control characters");
    if (f.length >= CSV_NAME)
        return csv_message_report_bad(r, c, f, "is longer than 63 bytes");
    memcpy(out, f.text, f.length);
    out[f.length] = '\0';
    return 0;
}

static int csv_message_host(const struct row *r, enum csv_column c, char out[CSV_NAME])
{
    int code = csv_message_text(r, c, out);
    if (code == 0 && strpbrk(out, " /") != NULL)
        return csv_message_report_bad(r, c, (struct csv_field){out, (uint32_t)strlen(out)},
                                      "is no name of a host");
    return code;
}

static int csv_message_call(const struct row *r, uint16_t *out)
{
    struct csv_field f;
    char name[CSV_NAME + 4];
    *out = CALL_Send;
    if (!csv_message_value_of(r, CSV_CALL, &f))
        return 0;
    uint32_t begin = f.length > 4 && strncasecmp(f.text, "MPI_", 4) == 0 ? 4 : 0, at = 4;
    memcpy(name, "MPI_", at);
    for (uint32_t i = begin; i < f.length && at < CSV_NAME;
         i++) /* names of Fortran calls may be in any case */
        name[at++] = (char)(i == begin ? toupper((unsigned char)f.text[i])
                                       : tolower((unsigned char)f.text[i]));
    name[at] = '\0';
    *out = call_by_name(name);
    int makes_request = strstr(name, "_init") != NULL || strstr(name, "Start") != NULL ||
                        strstr(name, "Pready") != NULL;
    return *out == 0 || call_class_of(*out) != CALL_SEND || makes_request
               ? csv_message_report_bad(r, CSV_CALL, f, "is no call of MPI that sends one message")
               : 0;
}

static int csv_message_multiply_saturating(const struct row *r, struct csv_message *m)
{
    int64_t value = 0;
    int ends, begins;
    if (csv_message_number(r, CSV_SEND_BEGIN, INT64_MAX, &value, NULL) != 0)
        return -HOLTER_EUSAGE;
    m->send_begin = m->send_end = (uint64_t)value;
    if (csv_message_number(r, CSV_SEND_END, INT64_MAX, &value, &ends) != 0)
        return -HOLTER_EUSAGE;
    m->send_end = ends ? (uint64_t)value : m->send_begin;
    if (csv_message_number(r, CSV_RECEIVE_END, INT64_MAX, &value, &m->received) != 0)
        return -HOLTER_EUSAGE;
    m->receive_end = m->receive_begin = m->received ? (uint64_t)value : 0;
    if (csv_message_number(r, CSV_RECEIVE_BEGIN, INT64_MAX, &value, &begins) != 0)
        return -HOLTER_EUSAGE;
    if (m->received && begins)
        m->receive_begin = (uint64_t)value;
    const char *wrong = m->send_end < m->send_begin         ? "send"
                        : m->receive_end < m->receive_begin ? "receive"
                                                            : NULL;
    if (wrong == NULL)
        return 0;
    snprintf(r->why, CSV_WHY, "column %s_end: before %s_begin", wrong, wrong);
    return -HOLTER_EUSAGE;
}

static int csv_message_numbers(const struct row *r, struct csv_message *m)
{
    int64_t source = 0, destination = 0, bytes = 0, tag = 0;
    int given;
    if (csv_message_number(r, CSV_SOURCE, CSV_MAX_RANKS - 1, &source, NULL) != 0 ||
        csv_message_number(r, CSV_DESTINATION, CSV_MAX_RANKS - 1, &destination, NULL) != 0 ||
        csv_message_number(r, CSV_BYTES, INT64_MAX, &bytes, NULL) != 0 ||
        csv_message_number(r, CSV_TAG, INT32_MAX, &tag, &given) != 0)
        return -HOLTER_EUSAGE;
    m->source = (uint32_t)source;
    m->destination = (uint32_t)destination;
    m->bytes = (uint64_t)bytes;
    m->tag = given && tag > 0 ? (int32_t)tag : 0;
    return 0;
}

static int csv_message_shape(const struct row *r)
{
    if (r->row->fault != CSV_WHOLE) {
        snprintf(r->why, CSV_WHY, "%s", shape_faults[r->row->fault]);
        return -HOLTER_EUSAGE;
    }
    if (r->row->count == r->columns->count)
        return 0;
    snprintf(r->why, CSV_WHY, "%" PRIu32 " fields, where the header has %" PRIu32, r->row->count,
             r->columns->count);
    return -HOLTER_EUSAGE;
}

int csv_row_is_blank(const struct csv_columns *columns, const struct csv_row *row)
{
    if (row->fault != CSV_WHOLE)
        return row->is_remark;
    if (row->count != columns->count && row->fields[0].length > 0 && row->fields[0].text[0] == '#')
        return 1;
    for (uint32_t i = 0; i < row->count; i++)
        if (csv_message_trimmed(row->fields[i]).length > 0)
            return 0;
    return 1;
}

int csv_message_read(struct csv_message *m, const struct csv_columns *columns,
                     const struct csv_row *row, char why[CSV_WHY])
{
    struct row r = {columns, row, why};
    if (csv_message_shape(&r) != 0 || csv_message_numbers(&r, m) != 0 ||
        csv_message_multiply_saturating(&r, m) != 0 || csv_message_call(&r, &m->call) != 0 ||
        csv_message_text(&r, CSV_COMMUNICATOR, m->communicator) != 0 ||
        csv_message_text(&r, CSV_REGION, m->region) != 0 ||
        csv_message_host(&r, CSV_SOURCE_HOST, m->source_host) != 0 ||
        csv_message_host(&r, CSV_DESTINATION_HOST, m->destination_host) != 0)
        return -HOLTER_EUSAGE;
    return 0;
}
