/* Queries on the tables of a recording: see recording_rows.h. */
#include "daemon/export/recording_rows.h"

#include "daemon/storage/recording_file.h"
#include "daemon/storage/sql/window_module.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct tables {
    struct recording_file file;
};

const char *const tables_names[] = {
    "job",           "nodes",    "places",         "totals",   "latency",  "criterion", "region",
    "region_member", "phase",    "curve",          "alert",    "topology", "seat",      "link",
    "link_route",    "captures", "capture_events", "lateness", "part",     "stopped",   NULL};

/* ---- opening ------------------------------------------------------------------- */

int tables_open(struct tables **out, const char *path, char *why, size_t capacity)
{
    struct tables *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        snprintf(why, capacity, "no memory");
        return -ENOMEM;
    }
    int code = recording_file_open(&t->file, path, RECORDING_READ, why, capacity);
    if (code == 0 && (code = recording_file_hold(&t->file)) != 0)
        snprintf(why, capacity, "%s", holter_strerror(code));
    if (code == 0 && window_module_register(t->file.db) != SQLITE_OK) {
        snprintf(why, capacity, "%s", sqlite3_errmsg(t->file.db));
        code = -ENOMEM;
    }
    if (code != 0) {
        tables_close(t);
        return code;
    }
    *out = t;
    return 0;
}

void tables_close(struct tables *t)
{
    if (t == NULL)
        return;
    recording_file_close(&t->file);
    free(t);
}

/* ---- reading ------------------------------------------------------------------- */

struct cell cell_read(sqlite3_stmt *statement, int column)
{
    struct cell cell = {.name = sqlite3_column_name(statement, column), .text = ""};
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        cell.kind = CELL_INTEGER;
        break;
    case SQLITE_FLOAT:
        cell.kind = CELL_REAL;
        break;
    case SQLITE_TEXT:
        cell.kind = CELL_TEXT;
        break;
    case SQLITE_BLOB:
        cell.kind = CELL_BYTES;
        cell.bytes = sqlite3_column_blob(statement, column);
        cell.length = (size_t)sqlite3_column_bytes(statement, column);
        break;
    default:
        cell.kind = CELL_NULL;
    }
    cell.integer = sqlite3_column_int64(statement, column);
    cell.real = cell.kind == CELL_NULL ? NAN : sqlite3_column_double(statement, column);
    const unsigned char *text =
        cell.kind == CELL_TEXT ? sqlite3_column_text(statement, column) : NULL;
    cell.text = text == NULL ? "" : (const char *)text;
    cell.name = cell.name == NULL ? "" : cell.name;
    return cell;
}

/* Map an error of SQLite. -EIO is reserved for writers of the output. */
static int recording_rows_reading_error(int code)
{
    return code == -EIO ? -HOLTER_ECORRUPT : code;
}

int tables_query(struct tables *t, const char *query, table_row *row, void *user)
{
    sqlite3_stmt *statement = NULL;
    struct cell cells[TABLES_COLUMNS];
    int code = recording_rows_reading_error(recording_file_prepare(&t->file, &statement, query)),
        more = 0;
    if (code != 0 && sqlite3_errcode(t->file.db) == SQLITE_ERROR)
        return 0; /* the table or column does not exist */
    int columns = sqlite3_column_count(statement);
    if (columns > (int)TABLES_COLUMNS)
        code = -HOLTER_ECORRUPT;
    while (code == 0 && (more = recording_file_step(&t->file, statement)) == 1) {
        for (int i = 0; i < columns; i++)
            cells[i] = cell_read(statement, i);
        code = row(user, cells, (size_t)columns);
    }
    sqlite3_finalize(statement);
    return code != 0 ? code : recording_rows_reading_error(more);
}

static int recording_rows_read_number(void *user, const struct cell *row, size_t columns)
{
    if (columns > 0 && row[0].kind != CELL_NULL)
        *(double *)user = row[0].real;
    return 1;
}

double tables_number(struct tables *t, const char *query, double otherwise)
{
    double out = otherwise;
    tables_query(t, query, recording_rows_read_number, &out);
    return out;
}

struct text_room {
    char *out;
    size_t capacity;
};

static int recording_rows_read_text(void *user, const struct cell *row, size_t columns)
{
    struct text_room *into = user;
    if (columns > 0)
        snprintf(into->out, into->capacity, "%s", row[0].text);
    return 1;
}

void tables_text(struct tables *t, const char *query, char *out, size_t capacity)
{
    struct text_room into = {out, capacity};
    out[0] = '\0';
    tables_query(t, query, recording_rows_read_text, &into);
}
