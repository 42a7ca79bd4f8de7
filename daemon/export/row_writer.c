/* Writes rows as CSV, JSON or text. */
#include "daemon/export/row_writer.h"

#include "proto/json.h"
#include "proto/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values -------------------------------------------------------------------- */

static void row_writer_put_bytes(FILE *out, const struct cell *cell)
{
    for (size_t i = 0; i < cell->length; i++)
        fprintf(out, "%02x", ((const unsigned char *)cell->bytes)[i]);
}

static void row_writer_put_csv(FILE *out, const struct cell *cell)
{
    if (cell->kind == CELL_INTEGER)
        fprintf(out, "%" PRId64, cell->integer);
    else if (cell->kind == CELL_REAL && isfinite(cell->real))
        fprintf(out, "%.17g", cell->real);
    else if (cell->kind == CELL_TEXT)
        utf8_print_csv(out, cell->text);
    else if (cell->kind == CELL_BYTES)
        row_writer_put_bytes(out, cell);
}

static void row_writer_put_json(FILE *out, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_INTEGER:
        fprintf(out, "%" PRId64, cell->integer);
        return;
    case CELL_REAL:
        json_number(out, cell->real);
        return;
    case CELL_TEXT:
        json_text(out, cell->text);
        return;
    case CELL_BYTES:
        fputc('"', out);
        row_writer_put_bytes(out, cell);
        fputc('"', out);
        return;
    default:
        fputs("null", out);
    }
}

/* ---- text ---------------------------------------------------------------------- */

/* @return owned by the caller; NULL without memory */
static char *row_writer_make_text(const struct cell *cell)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    if (cell->kind == CELL_TEXT)
        utf8_print_plain(out, cell->text);
    else if (cell->kind == CELL_REAL)
        fprintf(out, "%.15g", cell->real); /* 15: what a double has of a decimal number */
    else
        row_writer_put_csv(out, cell);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void row_writer_put_padded(struct row_writer *w, size_t column, const char *text)
{
    size_t width = utf8_columns(text, strlen(text));
    int pad = width < w->widths[column] ? (int)(w->widths[column] - width) : 0;
    int last = column + 1 == w->columns;
    if (w->numbers[column])
        fprintf(w->out, "%*s%s", pad, "", text);
    else
        fprintf(w->out, "%s%*s", text, last ? 0 : pad, "");
    fputs(last ? "\n" : "  ", w->out);
}

static void row_writer_flush(struct row_writer *w)
{
    for (size_t i = 0; i < w->text_count; i++) {
        row_writer_put_padded(w, i % w->columns, w->texts[i]);
        free(w->texts[i]);
    }
    w->text_count = 0;
}

static int row_writer_add_text(struct row_writer *w, size_t column, const struct cell *cell)
{
    char *text = row_writer_make_text(cell);
    if (text == NULL)
        return -ENOMEM;
    size_t width = utf8_columns(text, strlen(text));
    w->widths[column] = width > w->widths[column] ? width : w->widths[column];
    w->texts[w->text_count++] = text;
    return 0;
}

static int row_writer_put_texts(struct row_writer *w, const struct cell *row)
{
    for (size_t i = 0; i < w->columns; i++) {
        if (row[i].kind == CELL_INTEGER || row[i].kind == CELL_REAL)
            w->numbers[i] = 1;
        int code = row_writer_add_text(w, i, &row[i]);
        if (code != 0)
            return code;
    }
    if (w->text_count == w->columns * ROW_WRITER_TEXTS)
        row_writer_flush(w);
    return 0;
}

/* ---- rows ---------------------------------------------------------------------- */

int row_writer_begin(struct row_writer *w, const struct cell *row, size_t columns)
{
    w->columns = columns;
    if (w->format == ROW_TEXT) {
        w->texts = calloc(columns * ROW_WRITER_TEXTS, sizeof(*w->texts));
        if (w->texts == NULL)
            return -ENOMEM;
    }
    if (w->no_header || w->format == ROW_JSON)
        return 0;
    int code = 0;
    for (size_t i = 0; code == 0 && i < columns; i++) {
        const struct cell name = {.kind = CELL_TEXT, .text = row[i].name};
        if (w->format == ROW_TEXT) {
            code = row_writer_add_text(w, i, &name);
        } else {
            utf8_print_csv(w->out, row[i].name);
            fputs(i + 1 < columns ? "," : "\r\n", w->out);
        }
    }
    return code;
}

static void row_writer_put_object(struct row_writer *w, const struct cell *row, size_t columns)
{
    fputs(w->rows == 0 ? "\n{" : ",\n{", w->out);
    for (size_t i = 0; i < columns; i++) {
        json_text(w->out, row[i].name);
        fputc(':', w->out);
        row_writer_put_json(w->out, &row[i]);
        if (row[i].kind == CELL_INTEGER)
            json_signed_digits(w->out, row[i].name, row[i].integer);
        fputs(i + 1 < columns ? "," : "}", w->out);
    }
}

int row_writer_put(void *writer, const struct cell *row, size_t columns)
{
    struct row_writer *w = writer;
    int code = w->columns == 0 ? row_writer_begin(w, row, columns) : 0;
    if (code == 0 && w->format == ROW_TEXT)
        code = row_writer_put_texts(w, row);
    if (w->format == ROW_JSON)
        row_writer_put_object(w, row, columns);
    for (size_t i = 0; w->format == ROW_CSV && i < columns; i++) {
        row_writer_put_csv(w->out, &row[i]);
        fputs(i + 1 < columns ? "," : "\r\n", w->out);
    }
    w->rows++;
    return code != 0 ? code : ferror(w->out) ? -EIO : 0;
}

int row_writer_end(struct row_writer *w)
{
    row_writer_flush(w);
    free(w->texts);
    w->texts = NULL;
    return ferror(w->out) ? -EIO : 0;
}
