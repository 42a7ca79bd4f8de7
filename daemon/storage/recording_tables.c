#include "daemon/storage/recording_tables.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/recording_bind.h"
#include "daemon/storage/recording_captures.h"
#include "daemon/storage/recording_network.h"
#include "holter/error.h"
#include "proto/json.h"
#include "proto/wire_table.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS 64u
#define MOST_CAUSES 16u
#define MOST_REMEMBERED (1u << 22) /* ranks whose regions are remembered */

/* One column of a table that follows a wire table. */
struct column {
    const char *name;
    enum wire_kind kind;
    size_t offset; /* in the message, or in the row */
    int of_row;
};

struct plain {
    const char *name;
    const char *key;
    enum wire_type type; /* of the message */
    const char *rows;    /* field whose rows they are; NULL: one row is one message */
    const char *head;    /* those columns of the message that stand before a row's; NULL: all */
};

enum plain_table { TOTALS, ALERT, LATENCY, CRITERION, PHASE, CURVE, PLAIN_TABLES };

static const struct plain plains[PLAIN_TABLES] = {
    [TOTALS] = {"totals", "window", WIRE_TYPE_TOTALS, NULL, NULL},
    [ALERT] = {"alert", "id", WIRE_TYPE_ALERT, NULL, NULL},
    [LATENCY] = {"latency", "window, scope, id", WIRE_TYPE_LATENCIES, "series",
                 " window start_ns length_ns "},
    [CRITERION] = {"criterion", "locality, size_class", WIRE_TYPE_LATENCIES, "criteria",
                   " window "},
    [PHASE] = {"phase", "id", WIRE_TYPE_PHASES, "phases", " "},
    [CURVE] = {"curve", "phase", WIRE_TYPE_CURVE, "points", " "},
};

enum fixed_table { JOB, NODE, PLACE, REGION, MEMBER, MOVED, FIXED_TABLES };

static const char fixed_schema[] =
    "CREATE TABLE IF NOT EXISTS job(one INTEGER PRIMARY KEY CHECK(one = 1), job TEXT, state TEXT,"
    " app TEXT, command TEXT, mpi TEXT, user TEXT, world INTEGER, seen INTEGER, start_ns INTEGER,"
    " end_ns INTEGER, window_ns INTEGER, holter TEXT, launcher TEXT);"
    "CREATE TABLE IF NOT EXISTS nodes(node INTEGER PRIMARY KEY, host TEXT);"
    "CREATE TABLE IF NOT EXISTS places(rank INTEGER PRIMARY KEY, node INTEGER, pid INTEGER,"
    " cores TEXT);"
    "CREATE TABLE IF NOT EXISTS region(id INTEGER PRIMARY KEY, ranks INTEGER, since INTEGER,"
    " window INTEGER);"
    "CREATE TABLE IF NOT EXISTS region_member(rank INTEGER, since INTEGER, region INTEGER,"
    " PRIMARY KEY(rank, since)) WITHOUT ROWID;";

static const char *const fixed[FIXED_TABLES] = {
    [JOB] = "INSERT OR REPLACE INTO job(one, job, state, app, command, mpi, user, world, seen, "
            "start_ns,"
            " end_ns, window_ns, holter, launcher) VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [NODE] = "INSERT OR REPLACE INTO nodes(node, host) VALUES(?,?)",
    [PLACE] = "INSERT OR REPLACE INTO places(rank, node, pid, cores) VALUES(?,?,?,?)",
    [REGION] = "INSERT OR REPLACE INTO region(id, ranks, since, window) VALUES(?,?,?,?)",
    /* Only what has changed. */
    [MEMBER] = "INSERT OR REPLACE INTO region_member(rank, region, since) SELECT ?1, ?2, ?3"
               " WHERE ?2 IS NOT (SELECT region FROM region_member WHERE rank = ?1 AND since <= ?3"
               " ORDER BY since DESC LIMIT 1)",
    /* The same where it is known that the rank was in no region before, or in another one. */
    [MOVED] = "INSERT OR REPLACE INTO region_member(rank, region, since) VALUES(?1, ?2, ?3)",
};

struct recording_tables {
    sqlite3 *db;
    struct {
        struct column columns[MOST_COLUMNS];
        size_t count;
        sqlite3_stmt *put;
    } plain[PLAIN_TABLES];
    sqlite3_stmt *fixed[FIXED_TABLES];
    struct network_tables *network;
    struct capture_tables *captures;
    /** By rank: its region when it was told last, and 1; 0: not told since the file was opened. */
    uint64_t *regions;      /* owned */
    uint64_t member_window; /* newest window of a row of region_member that was put */
    int is_new;             /* no row was there before those that were put */
    uint32_t region_room;
};

/* ---- columns ------------------------------------------------------------- */

/* Numbers of lists are kept as words. @return NULL: a number of its own */
static const char *const *recording_tables_words_of(const char *name)
{
    static const char *const scopes[] = {"job", "intra-node", "inter-node", "region"};
    static const char *const localities[] = {"intra-node", "inter-node", "", ""};
    static const char *const trends[] = {"calm", "growth", "steady", ""};
    return strcmp(name, "scope") == 0      ? scopes
           : strcmp(name, "locality") == 0 ? localities
           : strcmp(name, "trend") == 0    ? trends
                                           : NULL;
}

static const char *sql_type(const struct column *column)
{
    if (column->kind == WIRE_KIND_U64 && recording_tables_words_of(column->name) != NULL)
        return "TEXT";
    return column->kind == WIRE_KIND_F64                                     ? "REAL"
           : column->kind == WIRE_KIND_STR || column->kind == WIRE_KIND_ROWS ? "TEXT"
                                                                             : "INTEGER";
}

static int is_in_head(const struct plain *plain, const struct wire_field *field)
{
    char word[64];
    if (strcmp(field->name, "job") == 0) /* it is the same in all rows */
        return 0;
    if (plain->head == NULL)
        return 1;
    snprintf(word, sizeof(word), " %s ", field->name);
    return strstr(plain->head, word) != NULL;
}

static const struct wire_field *rows_field(const struct plain *plain)
{
    const struct wire_table *table = wire_table(plain->type);
    for (size_t i = 0; plain->rows != NULL && i < table->count; i++) {
        if (strcmp(table->fields[i].name, plain->rows) == 0)
            return &table->fields[i];
    }
    return NULL;
}

/* @return how many */
static size_t list_columns(const struct plain *plain, struct column out[MOST_COLUMNS])
{
    const struct wire_table *table = wire_table(plain->type);
    const struct wire_field *rows = rows_field(plain);
    size_t count = 0;
    for (size_t i = 0; i < table->count && count < MOST_COLUMNS; i++) {
        const struct wire_field *f = &table->fields[i];
        if (is_in_head(plain, f))
            out[count++] = (struct column){f->name, f->kind, f->offset, 0};
    }
    for (size_t i = 0; rows != NULL && i < rows->rows()->count && count < MOST_COLUMNS; i++) {
        const struct wire_column *c = &rows->rows()->columns[i];
        out[count++] = (struct column){c->name, c->kind, c->offset, 1};
    }
    return count;
}

/* ---- making -------------------------------------------------------------- */

static int recording_tables_run(sqlite3 *db, const char *text)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

int tables_add_column(sqlite3 *db, const char *table, const char *name, const char *type)
{
    char text[160];
    if (sqlite3_table_column_metadata(db, NULL, table, name, NULL, NULL, NULL, NULL, NULL) ==
        SQLITE_OK)
        return 0;
    snprintf(text, sizeof(text), "ALTER TABLE %s ADD COLUMN %s %s", table, name, type);
    return recording_tables_run(db, text);
}

__attribute__((format(printf, 3, 4))) static void recording_tables_append(char *out, size_t room,
                                                                          const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, room - used, format, args);
    va_end(args);
}

static int add_columns(sqlite3 *db, const struct plain *plain, const struct column *columns,
                       size_t count)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++)
        code = tables_add_column(db, plain->name, columns[i].name, sql_type(&columns[i]));
    return code;
}

static int make_plain(struct recording_tables *t, enum plain_table which)
{
    const struct plain *plain = &plains[which];
    struct column *columns = t->plain[which].columns;
    char make[4096] = "", put[4096] = "", marks[2 * MOST_COLUMNS + 1] = "";
    size_t count = t->plain[which].count = list_columns(plain, columns);
    recording_tables_append(make, sizeof(make), "CREATE TABLE IF NOT EXISTS %s(", plain->name);
    recording_tables_append(put, sizeof(put), "INSERT OR REPLACE INTO %s(", plain->name);
    for (size_t i = 0; i < count; i++) {
        recording_tables_append(make, sizeof(make), "%s %s, ", columns[i].name,
                                sql_type(&columns[i]));
        recording_tables_append(put, sizeof(put), "%s%s", i == 0 ? "" : ",", columns[i].name);
        recording_tables_append(marks, sizeof(marks), "%s?", i == 0 ? "" : ",");
    }
    /* A key of several columns would be an index of its own, with pages of its own. */
    recording_tables_append(make, sizeof(make), "PRIMARY KEY(%s))%s", plain->key,
                            plain->rows == NULL ? "" : " WITHOUT ROWID");
    recording_tables_append(put, sizeof(put), ") VALUES(%s)", marks);
    if (recording_tables_run(t->db, make) != 0 || add_columns(t->db, plain, columns, count) != 0)
        return -EIO;
    return sqlite3_prepare_v3(t->db, put, -1, SQLITE_PREPARE_PERSISTENT, &t->plain[which].put,
                              NULL) == SQLITE_OK
               ? 0
               : -EIO;
}

/* Version 1 had no pending alerts and no evidence. */
static int recording_tables_resume_alerts(sqlite3 *db)
{
    return recording_tables_run(
        db, "INSERT OR IGNORE INTO alert(id, kind, state, since_ns, fired_ns, updated_ns,"
            " title, text, rank, host) SELECT id, kind, state, since_ns, since_ns,"
            " updated_ns, title, text, rank, host FROM alerts; DROP TABLE alerts;");
}

static int make_all(struct recording_tables *t, int64_t version)
{
    int code = recording_tables_run(t->db, fixed_schema);
    code = code != 0 ? code : tables_add_column(t->db, "job", "launcher", "TEXT");
    for (int i = 0; code == 0 && i < PLAIN_TABLES; i++)
        code = make_plain(t, (enum plain_table)i);
    if (code == 0 && version == 1)
        code = recording_tables_resume_alerts(t->db);
    for (int i = 0; code == 0 && i < FIXED_TABLES; i++) {
        if (sqlite3_prepare_v3(t->db, fixed[i], -1, SQLITE_PREPARE_PERSISTENT, &t->fixed[i],
                               NULL) != SQLITE_OK)
            code = -EIO;
    }
    code = code != 0 ? code : network_tables_create(&t->network, t->db);
    return code != 0 ? code : capture_tables_create(&t->captures, t->db);
}

int tables_create(struct recording_tables **out, sqlite3 *db, int64_t version)
{
    struct recording_tables *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->db = db;
    t->is_new = version == 0;
    int code = make_all(t, version);
    if (code != 0) {
        tables_destroy(t);
        return code;
    }
    *out = t;
    return 0;
}

void tables_destroy(struct recording_tables *t)
{
    if (t == NULL)
        return;
    for (int i = 0; i < PLAIN_TABLES; i++)
        sqlite3_finalize(t->plain[i].put);
    for (int i = 0; i < FIXED_TABLES; i++)
        sqlite3_finalize(t->fixed[i]);
    network_tables_destroy(t->network);
    capture_tables_destroy(t->captures);
    free(t->regions);
    free(t);
}

/* ---- writing ------------------------------------------------------------- */

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text == NULL ? "" : text, -1, SQLITE_STATIC);
}

/* The rows of a field as JSON. @return 0 or -ENOMEM */
static int bind_rows(sqlite3_stmt *s, int at, enum wire_type type, const char *name,
                     const void *message)
{
    struct wire_message *whole = calloc(1, sizeof(*whole));
    char *text = NULL;
    size_t length = 0;
    FILE *out = whole == NULL ? NULL : open_memstream(&text, &length);
    if (out == NULL) {
        free(whole);
        return -ENOMEM;
    }
    whole->type = type;
    memcpy(&whole->job, message, wire_table(type)->size); /* all begin at the same address */
    json_field(out, whole, name);
    free(whole);
    if (fclose(out) != 0) {
        free(text);
        return -ENOMEM;
    }
    return sqlite3_bind_text64(s, at, text, length, free, SQLITE_UTF8) == SQLITE_OK ? 0 : -ENOMEM;
}

static int recording_tables_bind_slot(sqlite3_stmt *s, int at, const struct column *column,
                                      const uint8_t *slot)
{
    uint64_t number;
    double real;
    const char *text;
    switch (column->kind) {
    case WIRE_KIND_F64:
        memcpy(&real, slot, sizeof(real));
        sqlite3_bind_double(s, at, real); /* NaN becomes NULL */
        return 0;
    case WIRE_KIND_STR:
        memcpy(&text, slot, sizeof(text));
        bind_text(s, at, text);
        return 0;
    default:
        memcpy(&number, slot, sizeof(number));
        if (column->kind == WIRE_KIND_U64 && recording_tables_words_of(column->name) != NULL &&
            number < 4)
            bind_text(s, at, recording_tables_words_of(column->name)[number]);
        else
            bind_number(s, at, number);
        return 0;
    }
}

/* @param row  NULL for tables of one row a message */
static int recording_tables_put_plain(struct recording_tables *t, enum plain_table which,
                                      const void *message, const void *row)
{
    sqlite3_stmt *s = t->plain[which].put;
    int code = 0;
    for (size_t i = 0; code == 0 && i < t->plain[which].count; i++) {
        const struct column *c = &t->plain[which].columns[i];
        const uint8_t *base = c->of_row ? row : message;
        code = c->kind == WIRE_KIND_ROWS
                   ? bind_rows(s, (int)i + 1, plains[which].type, c->name, message)
                   : recording_tables_bind_slot(s, (int)i + 1, c, base + c->offset);
    }
    return code != 0 ? code : bind_put_row(s);
}

static int recording_tables_put_job(struct recording_tables *t, const struct wire_job *m)
{
    sqlite3_stmt *s = t->fixed[JOB];
    bind_text(s, 1, m->job);
    bind_text(s, 2, m->state);
    bind_text(s, 3, m->app);
    bind_text(s, 4, m->command);
    bind_text(s, 5, m->mpi);
    bind_text(s, 6, m->user);
    bind_number(s, 7, m->world);
    bind_number(s, 8, m->seen);
    bind_number(s, 9, m->start_ns);
    bind_number(s, 10, m->end_ns);
    bind_number(s, 11, m->window_ns);
    bind_text(s, 12, HOLTER_VERSION);
    bind_text(s, 13, m->launcher);
    return bind_put_row(s);
}

static int put_places(struct recording_tables *t, const struct wire_places *m)
{
    for (uint64_t i = 0; i < m->hosts_count; i++) {
        sqlite3_stmt *s = t->fixed[NODE];
        bind_number(s, 1, i);
        bind_text(s, 2, m->hosts[i].name);
        if (bind_put_row(s) != 0)
            return -EIO;
    }
    for (uint64_t i = 0; i < m->places_count; i++) {
        sqlite3_stmt *s = t->fixed[PLACE];
        bind_number(s, 1, m->places[i].rank);
        bind_number(s, 2, m->places[i].node);
        bind_number(s, 3, m->places[i].pid);
        bind_text(s, 4, m->places[i].placement);
        if (bind_put_row(s) != 0)
            return -EIO;
    }
    return 0;
}

static int put_latencies(struct recording_tables *t, const struct wire_latencies *m)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->series_count; i++)
        code = recording_tables_put_plain(t, LATENCY, m, &m->series[i]);
    for (uint64_t i = 0; code == 0 && i < m->criteria_count; i++)
        code = recording_tables_put_plain(t, CRITERION, m, &m->criteria[i]);
    return code;
}

/* All members are told each time, and hardly any of them has moved. */
static int recording_tables_put_member(struct recording_tables *t,
                                       const struct wire_region_member_row *m, uint64_t window)
{
    int known = m->rank < MOST_REMEMBERED && m->region < UINT64_MAX &&
                array_fit_zero(&t->regions, sizeof(*t->regions), &t->region_room, m->rank + 1) == 0;
    if (known && t->regions[m->rank] == m->region + 1)
        return 0;
    int moved = known && window >= t->member_window && (t->is_new || t->regions[m->rank] != 0);
    sqlite3_stmt *s = t->fixed[moved ? MOVED : MEMBER];
    bind_number(s, 1, m->rank);
    bind_number(s, 2, m->region);
    bind_number(s, 3, window);
    if (bind_put_row(s) != 0)
        return -EIO;
    if (known)
        t->regions[m->rank] = m->region + 1;
    t->member_window = window > t->member_window ? window : t->member_window;
    return 0;
}

static int put_regions(struct recording_tables *t, const struct wire_regions *m)
{
    for (uint64_t i = 0; i < m->regions_count; i++) {
        sqlite3_stmt *s = t->fixed[REGION];
        bind_number(s, 1, m->regions[i].id);
        bind_number(s, 2, m->regions[i].ranks);
        bind_number(s, 3, m->regions[i].since);
        bind_number(s, 4, m->window);
        if (bind_put_row(s) != 0)
            return -EIO;
    }
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->members_count; i++)
        code = recording_tables_put_member(t, &m->members[i], m->window);
    return code;
}

/* Only what is closed: an open phase may still change, and is told again. */
static int recording_tables_put_phases(struct recording_tables *t, const struct wire_phases *m)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->phases_count; i++)
        code = m->phases[i].open ? 0 : recording_tables_put_plain(t, PHASE, m, &m->phases[i]);
    return code;
}

static int put_curve(struct recording_tables *t, const struct wire_curve *m)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->points_count; i++)
        code =
            m->points[i].provisional ? 0 : recording_tables_put_plain(t, CURVE, m, &m->points[i]);
    return code;
}

int tables_put(struct recording_tables *t, enum wire_type type, const void *message)
{
    switch (type) {
    case WIRE_TYPE_JOB:
        return recording_tables_put_job(t, message);
    case WIRE_TYPE_PLACES:
        return put_places(t, message);
    case WIRE_TYPE_TOTALS:
        return recording_tables_put_plain(t, TOTALS, message, NULL);
    case WIRE_TYPE_ALERT:
        return recording_tables_put_plain(t, ALERT, message, NULL);
    case WIRE_TYPE_LATENCIES:
        return put_latencies(t, message);
    case WIRE_TYPE_REGIONS:
        return put_regions(t, message);
    case WIRE_TYPE_PHASES:
        return recording_tables_put_phases(t, message);
    case WIRE_TYPE_CURVE:
        return put_curve(t, message);
    case WIRE_TYPE_TOPOLOGY:
        return network_tables_topology(t->network, message);
    case WIRE_TYPE_LINKS:
        return network_tables_links(t->network, message);
    case WIRE_TYPE_CAPTURE:
        return capture_tables_put(t->captures, message);
    default:
        return 0;
    }
}

/* ---- reading alerts back ------------------------------------------------- */

struct causes {
    struct wire_cause_row rows[MOST_CAUSES];
    char names[MOST_CAUSES][33], texts[MOST_CAUSES][257];
    uint64_t count;
};

static const char *text_at(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    return text == NULL ? "" : (const char *)text;
}

/* What is not the JSON that we wrote is no cause. */
static void recording_tables_read_causes(sqlite3_stmt *s, const char *json, struct causes *out)
{
    out->count = 0;
    bind_text(s, 1, json);
    while (out->count < MOST_CAUSES && sqlite3_step(s) == SQLITE_ROW) {
        uint64_t i = out->count++;
        snprintf(out->names[i], sizeof(out->names[i]), "%s", text_at(s, 0));
        snprintf(out->texts[i], sizeof(out->texts[i]), "%s", text_at(s, 2));
        out->rows[i] = (struct wire_cause_row){
            .name = out->names[i], .share = sqlite3_column_double(s, 1), .text = out->texts[i]};
    }
    sqlite3_reset(s);
}

static void set_slot(sqlite3_stmt *s, int at, enum wire_kind kind, uint8_t *slot)
{
    sqlite3_int64 number = sqlite3_column_int64(s, at);
    double real = sqlite3_column_type(s, at) == SQLITE_NULL ? NAN : sqlite3_column_double(s, at);
    const char *text = kind == WIRE_KIND_STR ? text_at(s, at) : NULL;
    if (kind == WIRE_KIND_F64)
        memcpy(slot, &real, sizeof(real));
    else if (kind == WIRE_KIND_STR)
        memcpy(slot, &text, sizeof(text));
    else
        memcpy(slot, &number, sizeof(number));
}

/* Columns by their names: those of files made earlier or later may be fewer or more. */
static struct wire_alert alert_of(sqlite3_stmt *s, sqlite3_stmt *each, struct causes *causes)
{
    const struct wire_table *table = wire_table(WIRE_TYPE_ALERT);
    const char *none = "";
    struct wire_alert alert = {.rank = -1, .ratio = NAN, .slope = NAN};
    for (size_t i = 0; i < table->count; i++) {
        const struct wire_field *f = &table->fields[i];
        uint8_t *slot = (uint8_t *)&alert + f->offset;
        if (f->kind == WIRE_KIND_STR)
            memcpy(slot, &none, sizeof(none));
        for (int c = 0; c < sqlite3_column_count(s); c++) {
            if (strcmp(sqlite3_column_name(s, c), f->name) != 0)
                continue;
            if (f->kind != WIRE_KIND_ROWS)
                set_slot(s, c, f->kind, slot);
            else
                recording_tables_read_causes(each, text_at(s, c), causes);
        }
    }
    alert.causes = causes->rows;
    alert.causes_count = causes->count;
    return alert;
}

int tables_read_alerts(sqlite3 *db, int64_t version,
                       int (*take)(void *user, const struct wire_alert *alert), void *user)
{
    struct causes *causes = calloc(1, sizeof(*causes));
    sqlite3_stmt *s = NULL, *each = NULL;
    int code = causes == NULL ? -ENOMEM : 0, step = SQLITE_DONE;
    if (code == 0 &&
        (sqlite3_prepare_v2(db,
                            version == 1 ? "SELECT *, since_ns AS fired_ns FROM alerts ORDER BY id"
                                         : "SELECT * FROM alert ORDER BY id",
                            -1, &s, NULL) != SQLITE_OK ||
         sqlite3_prepare_v2(db,
                            "SELECT value ->> 'name', value ->> 'share', value ->> 'text'"
                            " FROM json_each(?)",
                            -1, &each, NULL) != SQLITE_OK))
        code = -HOLTER_ECORRUPT;
    while (code == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct wire_alert alert = alert_of(s, each, causes);
        code = take(user, &alert);
    }
    sqlite3_finalize(s);
    sqlite3_finalize(each);
    free(causes);
    return code != 0 ? code : step == SQLITE_DONE ? 0 : -HOLTER_ECORRUPT;
}
