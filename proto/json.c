/* Prints messages as JSON. */
#include "proto/json.h"

#include "holter/call.h"
#include "holter/error.h"
#include "proto/utf8.h"
#include "proto/wire_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void json_put_escaped(FILE *out, unsigned char c)
{
    static const char shorthands[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *s = shorthands; *s; s += 2) {
        if ((unsigned char)*s == c) {
            fputc('\\', out);
            fputc(s[1], out);
            return;
        }
    }
    fprintf(out, "\\u%04x", c);
}

/* Valid UTF-8 without the quotes around it. */
static void json_put_valid(FILE *out, const char *text, size_t length)
{
    size_t plain = 0; /* begin of what is not written yet */
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        fwrite(text + plain, 1, i - plain, out);
        json_put_escaped(out, c);
        plain = i + 1;
    }
    fwrite(text + plain, 1, length - plain, out);
}

/* Without the quotes around it. */
static void json_put_inner(FILE *out, const char *text)
{
    size_t left = text ? strlen(text) : 0;
    while (left > 0) {
        size_t step = utf8_prefix(text, left);
        json_put_valid(out, text, step);
        if (step < left) { /* a text that never crossed the wire, with bytes that are no UTF-8 */
            fputs("\\ufffd", out);
            step++;
        }
        text += step;
        left -= step;
    }
}

void json_text(FILE *out, const char *text)
{
    fputc('"', out);
    json_put_inner(out, text);
    fputc('"', out);
}

void json_number(FILE *out, double value)
{
    /* The shortest of these that reads back as the same number. */
    char text[40];
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double back = 0;
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (sscanf(text, "%lf", &back) == 1 && memcmp(&back, &value, sizeof back) == 0)
            break;
    }
    fputs(text, out);
}

#define EXACT (UINT64_C(1) << 53) /* doubles hold all integers up to it */

/* The name of a number with the suffix of its digits: a column of a query may have any name. */
static void json_put_digits_name(FILE *out, const char *name)
{
    fputs(",\"", out);
    json_put_inner(out, name);
    fputs("_text\":", out);
}

static void json_unsigned_digits(FILE *out, const char *name, uint64_t value)
{
    if (value <= EXACT)
        return;
    json_put_digits_name(out, name);
    fprintf(out, "\"%" PRIu64 "\"", value);
}

void json_signed_digits(FILE *out, const char *name, int64_t value)
{
    if (value >= 0) {
        json_unsigned_digits(out, name, (uint64_t)value);
    } else if (value < -(int64_t)EXACT) {
        json_put_digits_name(out, name);
        fprintf(out, "\"%" PRId64 "\"", value);
    }
}

void json_put_text(FILE *out, const char *before, const char *name, const char *value)
{
    fprintf(out, "%s\"%s\":", before, name);
    json_text(out, value);
}

void json_put_real(FILE *out, const char *before, const char *name, double value)
{
    fprintf(out, "%s\"%s\":", before, name);
    json_number(out, value);
}

void json_put_count(FILE *out, const char *before, const char *name, uint64_t value)
{
    fprintf(out, "%s\"%s\":%" PRIu64, before, name, value);
    json_unsigned_digits(out, name, value);
}

void json_put_integer(FILE *out, const char *before, const char *name, int64_t value)
{
    fprintf(out, "%s\"%s\":%" PRId64, before, name, value);
    json_signed_digits(out, name, value);
}

/* What follows a value of a message. */
static void json_print_digits(FILE *out, enum wire_kind kind, const char *name, const void *slot)
{
    if (kind == WIRE_KIND_U64)
        json_unsigned_digits(out, name, *(const uint64_t *)slot);
    else if (kind == WIRE_KIND_I64)
        json_signed_digits(out, name, *(const int64_t *)slot);
}

static void json_print_value(FILE *out, enum wire_kind kind, const void *slot)
{
    switch (kind) {
    case WIRE_KIND_U64:
        fprintf(out, "%" PRIu64, *(const uint64_t *)slot);
        break;
    case WIRE_KIND_I64:
        fprintf(out, "%" PRId64, *(const int64_t *)slot);
        break;
    case WIRE_KIND_F64:
        json_number(out, *(const double *)slot);
        break;
    case WIRE_KIND_STR:
        json_text(out, *(const char *const *)slot);
        break;
    case WIRE_KIND_ROWS:
    case WIRE_KIND_BIN:
        break;
    }
}

void json_base64(FILE *out, const uint8_t *bytes, uint64_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint64_t i = 0; i < count; i += 3) {
        uint64_t left = count - i;
        uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        fputc(digits[three >> 18], out);
        fputc(digits[three >> 12 & 63], out);
        fputc(left > 1 ? digits[three >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[three & 63] : '=', out);
    }
}

/* Columns that hold the number of a call are named so and take 16 bits. */
static int holds_call(const struct wire_column *column)
{
    return column->limit == UINT16_MAX &&
           (strcmp(column->name, "call") == 0 || strcmp(column->name, "in_call") == 0);
}

static void json_print_row(FILE *out, const struct wire_rows *table, const uint8_t *row)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct wire_column *column = &table->columns[i];
        fprintf(out, "%s\"%s\":", i ? "," : "{", column->name);
        json_print_value(out, column->kind, row + column->offset);
        json_print_digits(out, column->kind, column->name, row + column->offset);
        if (!holds_call(column))
            continue;
        uint64_t call = *(const uint64_t *)(const void *)(row + column->offset);
        fprintf(out, ",\"%s_name\":", column->name);
        json_text(out, call ? call_name((uint16_t)call) : "");
    }
    fputc('}', out);
}

static void json_print_field(FILE *out, const struct wire_field *field, const uint8_t *slot)
{
    const uint8_t *rows;
    uint64_t count;
    if (field->kind != WIRE_KIND_ROWS && field->kind != WIRE_KIND_BIN) {
        json_print_value(out, field->kind, slot);
        return;
    }
    memcpy(&rows, slot, sizeof rows);
    memcpy(&count, slot + sizeof rows, sizeof count);
    if (field->kind == WIRE_KIND_BIN) {
        fputc('"', out);
        json_base64(out, rows, count);
        fputc('"', out);
        return;
    }
    const struct wire_rows *table = field->rows();
    fputc('[', out);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0)
            fputc(',', out);
        json_print_row(out, table, rows + i * table->size);
    }
    fputc(']', out);
}

void json_fields(FILE *out, const struct wire_message *message)
{
    const struct wire_table *table = wire_table(message->type);
    const uint8_t *base = (const uint8_t *)&message->hello;
    for (size_t i = 0; table && i < table->count; i++) {
        const struct wire_field *field = &table->fields[i];
        fprintf(out, "%s\"%s\":", i ? "," : "", field->name);
        json_print_field(out, field, base + field->offset);
        json_print_digits(out, field->kind, field->name, base + field->offset);
    }
}

int json_field(FILE *out, const struct wire_message *message, const char *name)
{
    const struct wire_table *table = wire_table(message->type);
    const uint8_t *base = (const uint8_t *)&message->hello;
    for (size_t i = 0; table && i < table->count; i++) {
        if (strcmp(table->fields[i].name, name) == 0) {
            json_print_field(out, &table->fields[i], base + table->fields[i].offset);
            return 0;
        }
    }
    return -HOLTER_EMISSING;
}
