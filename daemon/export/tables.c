#include "daemon/export/tables.h"

#include "daemon/recording.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_MS 2000
#define MOST_CELL (16 << 20) /* bytes */

struct tables {
    sqlite3 *db;
};

const char *const tables_names[] = {
    "job",   "nodes", "places", "totals",   "latency", "criterion", "region",     "region_member",
    "phase", "curve", "alert",  "topology", "seat",    "link",      "link_route", NULL};

const char *tables_order(const char *name)
{
    static const char *const orders[][2] = {
        {"nodes", "node"},
        {"places", "rank"},
        {"totals", "window"},
        {"latency", "window, scope, id"},
        {"region", "id"},
        {"region_member", "rank, since"},
        {"phase", "id"},
        {"curve", "phase"},
        {"alert", "id"},
        {"seat", "rank"},
        {"link", "window, link"},
        {"link_route", "window, link, source, destination"},
        {"criterion", "locality, size_class"},
    };
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        if (strcmp(orders[i][0], name) == 0)
            return orders[i][1];
    }
    return "1";
}

/* ---- opening ------------------------------------------------------------------- */

static int number_of(sqlite3 *db, const char *query, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK)
        return -1;
    int code = sqlite3_step(statement) == SQLITE_ROW ? 0 : -1;
    *out = code == 0 ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return code;
}

static int check(struct tables *t, char *why, size_t room)
{
    int64_t application = 0, version = 0;
    if (number_of(t->db, "PRAGMA application_id", &application) != 0 ||
        number_of(t->db, "PRAGMA user_version", &version) != 0) {
        snprintf(why, room, "%s", sqlite3_errmsg(t->db));
        return -HOLTER_ECORRUPT;
    }
    if (application == RECORDING_APPLICATION && version <= RECORDING_SCHEMA)
        return 0;
    snprintf(why, room, "not a recording of this version of Holter");
    return -HOLTER_EVERSION;
}

/* What others made is read with nothing in it to be trusted, see sqlite.org/security.html. */
static void harden(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_CELL);
    sqlite3_busy_timeout(db, BUSY_MS);
}

int tables_open(struct tables **out, const char *path, char *why, size_t room)
{
    struct tables *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        snprintf(why, room, "no memory");
        return -ENOMEM;
    }
    int code = 0;
    if (sqlite3_open_v2(path, &t->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        snprintf(why, room, "%s", t->db == NULL ? "no memory" : sqlite3_errmsg(t->db));
        code = -EIO;
    }
    if (code == 0) {
        harden(t->db);
        code = check(t, why, room);
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
    sqlite3_close(t->db);
    free(t);
}

/* ---- reading ------------------------------------------------------------------- */

static struct cell cell_of(sqlite3_stmt *statement, int column)
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

int tables_query(struct tables *t, const char *query, table_row *row, void *user)
{
    sqlite3_stmt *statement = NULL;
    struct cell cells[TABLES_COLUMNS];
    int code = 0, step = SQLITE_DONE;
    int prepared = sqlite3_prepare_v2(t->db, query, -1, &statement, NULL);
    if (prepared != SQLITE_OK) /* SQLITE_ERROR: there is no such table or column */
        return prepared == SQLITE_ERROR ? 0 : prepared == SQLITE_NOMEM ? -ENOMEM : -HOLTER_ECORRUPT;
    int columns = sqlite3_column_count(statement);
    if (columns > (int)TABLES_COLUMNS)
        code = -HOLTER_ECORRUPT;
    while (code == 0 && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            cells[i] = cell_of(statement, i);
        code = row(user, cells, (size_t)columns);
    }
    if (code == 0 && step != SQLITE_DONE)
        code = step == SQLITE_NOMEM ? -ENOMEM : -HOLTER_ECORRUPT;
    sqlite3_finalize(statement);
    return code;
}

static int take_number(void *user, const struct cell *row, size_t columns)
{
    if (columns > 0 && row[0].kind != CELL_NULL)
        *(double *)user = row[0].real;
    return 1;
}

double tables_number(struct tables *t, const char *query, double otherwise)
{
    double out = otherwise;
    tables_query(t, query, take_number, &out);
    return out;
}

struct text_room {
    char *out;
    size_t room;
};

static int take_text(void *user, const struct cell *row, size_t columns)
{
    struct text_room *into = user;
    if (columns > 0)
        snprintf(into->out, into->room, "%s", row[0].text);
    return 1;
}

void tables_text(struct tables *t, const char *query, char *out, size_t room)
{
    struct text_room into = {out, room};
    out[0] = '\0';
    tables_query(t, query, take_text, &into);
}
