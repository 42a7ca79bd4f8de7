/* Writes published results into the plain tables of a recording, and reads alerts back. */
#include "daemon/storage/recording_tables.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/recording_bind.h"
#include "daemon/storage/recording_captures.h"
#include "daemon/storage/recording_file.h"
#include "daemon/storage/recording_network.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/json.h"
#include "proto/wire_table.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 64u
#define MAX_CAUSES 16u
#define MAX_LATE_RANKS 32u              /* rows of lateness of one window at most */
#define LATE_SHARE 100u                 /* of a window: less is not recorded */
#define MAX_REMEMBERED_RANKS (1u << 22) /* ranks whose regions are remembered at most */

/* A column of a table that has the columns of a wire table. */
struct column {
    const char *name;
    enum wire_kind kind;
    size_t offset; /* in the message, or in the row */
    int of_row;
};

struct plain {
    const char *name;
    const char *key;
    enum wire_type type; /* of the message that has the rows */
    const char *rows;    /* field that has the rows; NULL: a message is one row */
    const char *head;    /* columns of the message that precede those of the row; NULL: all */
};

enum plain_table { TOTALS, ALERT, LATENCY, CRITERION, PHASE, CURVE, LATENESS, PLAIN_TABLES };

static const struct plain plains[PLAIN_TABLES] = {
    [TOTALS] = {"totals", "window", WIRE_TYPE_TOTALS, NULL, NULL},
    [ALERT] = {"alert", "id", WIRE_TYPE_ALERT, NULL, NULL},
    [LATENCY] = {"latency", "window, scope, id", WIRE_TYPE_LATENCIES, "series",
                 " window start_ns length_ns "},
    [CRITERION] = {"criterion", "locality, size_class", WIRE_TYPE_LATENCIES, "criteria",
                   " window "},
    [PHASE] = {"phase", "id", WIRE_TYPE_PHASES, "phases", " "},
    [CURVE] = {"curve", "phase", WIRE_TYPE_CURVE, "points", " "},
    [LATENESS] = {"lateness", "window, rank", WIRE_TYPE_LATENESS, "ranks", " window "},
};

enum fixed_table { JOB, NODE, PLACE, REGION, MEMBER, FIXED_TABLES };

static const char fixed_schema[] =
    "CREATE TABLE IF NOT EXISTS job(one INTEGER PRIMARY KEY CHECK(one = 1), job TEXT, state TEXT,"
    " app TEXT, command TEXT, mpi TEXT, user TEXT, world INTEGER, seen INTEGER, start_ns INTEGER,"
    " end_ns INTEGER, window_ns INTEGER, holter TEXT, launcher TEXT,"
    " rank_group INTEGER);"
    "CREATE TABLE IF NOT EXISTS nodes(node INTEGER PRIMARY KEY, host TEXT);"
    "CREATE TABLE IF NOT EXISTS places(rank INTEGER PRIMARY KEY, node INTEGER, pid INTEGER,"
    " cores TEXT, core INTEGER, socket INTEGER, numa INTEGER);"
    "CREATE TABLE IF NOT EXISTS region(id INTEGER PRIMARY KEY, ranks INTEGER, since INTEGER,"
    " window INTEGER);"
    "CREATE TABLE IF NOT EXISTS region_member(rank INTEGER, since INTEGER, region INTEGER,"
    " PRIMARY KEY(rank, since)) WITHOUT ROWID;";

static const char *const fixed[FIXED_TABLES] = {
    [JOB] = "INSERT OR REPLACE INTO job(one, job, state, app, command, mpi, user, world, seen, "
            "start_ns,"
            " end_ns, window_ns, holter, launcher, rank_group)"
            " VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [NODE] = "INSERT OR REPLACE INTO nodes(node, host) VALUES(?,?)",
    [PLACE] = "INSERT OR REPLACE INTO places(rank, node, pid, cores, core, socket, numa)"
              " VALUES(?,?,?,?,?,?,?)",
    [REGION] = "INSERT OR REPLACE INTO region(id, ranks, since, window) VALUES(?,?,?,?)",
    /* Writes a row only if the region of the rank has changed. */
    [MEMBER] = "INSERT OR REPLACE INTO region_member(rank, region, since) SELECT ?1, ?2, ?3"
               " WHERE ?2 IS NOT (SELECT region FROM region_member WHERE rank = ?1 AND since <= ?3"
               " ORDER BY since DESC LIMIT 1)",
};

struct recording_tables {
    sqlite3 *db;
    struct {
        struct column columns[MAX_COLUMNS];
        size_t count;
        sqlite3_stmt *put;
    } plain[PLAIN_TABLES];
    sqlite3_stmt *fixed[FIXED_TABLES];
    struct network_tables *network;
    sqlite3_stmt *captures[CAPTURE_STATEMENTS];
    /** By rank: region in its last row, plus 1; 0: no row since the file was opened. */
    uint64_t *regions; /* owned */
    uint32_t region_capacity;
};

/* ---- columns ------------------------------------------------------------- */

/* Numbers of enumerations are stored as words. @return the words; NULL: it is no enumeration */
static const char *const *recording_tables_value_names(const char *name)
{
    static const char *const scopes[] = {"job", "intra-node", "inter-node", "region"};
    static const char *const localities[] = {"intra-node", "inter-node", "", ""};
    static const char *const trends[] = {"calm", "growth", "steady", ""};
    return strcmp(name, "scope") == 0      ? scopes
           : strcmp(name, "locality") == 0 ? localities
           : strcmp(name, "trend") == 0    ? trends
                                           : NULL;
}

static const char *recording_tables_sql_type(const struct column *column)
{
    if (column->kind == WIRE_KIND_U64 && recording_tables_value_names(column->name) != NULL)
        return "TEXT";
    return column->kind == WIRE_KIND_F64                                     ? "REAL"
           : column->kind == WIRE_KIND_STR || column->kind == WIRE_KIND_ROWS ? "TEXT"
                                                                             : "INTEGER";
}

static int recording_tables_is_head_column(const struct plain *plain,
                                           const struct wire_field *field)
{
    char word[64];
    if (strcmp(field->name, "job") == 0) /* it is the same in all rows */
        return 0;
    if (plain->head == NULL)
        return 1;
    snprintf(word, sizeof(word), " %s ", field->name);
    return strstr(plain->head, word) != NULL;
}

static const struct wire_field *recording_tables_rows_field(const struct plain *plain)
{
    const struct wire_table *table = wire_table(plain->type);
    for (size_t i = 0; plain->rows != NULL && i < table->count; i++) {
        if (strcmp(table->fields[i].name, plain->rows) == 0)
            return &table->fields[i];
    }
    return NULL;
}

/* @return number of columns */
static size_t recording_tables_list_columns(const struct plain *plain,
                                            struct column out[MAX_COLUMNS])
{
    const struct wire_table *table = wire_table(plain->type);
    const struct wire_field *rows = recording_tables_rows_field(plain);
    size_t count = 0;
    for (size_t i = 0; i < table->count && count < MAX_COLUMNS; i++) {
        const struct wire_field *f = &table->fields[i];
        if (recording_tables_is_head_column(plain, f))
            out[count++] = (struct column){f->name, f->kind, f->offset, 0};
    }
    for (size_t i = 0; rows != NULL && i < rows->rows()->count && count < MAX_COLUMNS; i++) {
        const struct wire_column *c = &rows->rows()->columns[i];
        out[count++] = (struct column){c->name, c->kind, c->offset, 1};
    }
    return count;
}

/* ---- making -------------------------------------------------------------- */

static int recording_tables_make_plain(struct recording_tables *t, enum plain_table which)
{
    const struct plain *plain = &plains[which];
    struct column *columns = t->plain[which].columns;
    char make[4096] = "", put[4096] = "", marks[2 * MAX_COLUMNS + 1] = "";
    size_t count = t->plain[which].count = recording_tables_list_columns(plain, columns);
    text_append(make, sizeof(make), "CREATE TABLE IF NOT EXISTS %s(", plain->name);
    text_append(put, sizeof(put), "INSERT OR REPLACE INTO %s(", plain->name);
    for (size_t i = 0; i < count; i++) {
        text_append(make, sizeof(make), "%s %s, ", columns[i].name,
                    recording_tables_sql_type(&columns[i]));
        text_append(put, sizeof(put), "%s%s", i == 0 ? "" : ",", columns[i].name);
        text_append(marks, sizeof(marks), "%s?", i == 0 ? "" : ",");
    }
    /* A rowid table with a key of several columns would need a separate index with pages of its
     * own. */
    text_append(make, sizeof(make), "PRIMARY KEY(%s))%s", plain->key,
                plain->rows == NULL ? "" : " WITHOUT ROWID");
    text_append(put, sizeof(put), ") VALUES(%s)", marks);
    const char *const text = put;
    return recording_file_make(t->db, make, &text, 1, &t->plain[which].put);
}

static int recording_tables_make_all(struct recording_tables *t)
{
    int code = recording_file_make(t->db, fixed_schema, fixed, FIXED_TABLES, t->fixed);
    for (int i = 0; code == 0 && i < PLAIN_TABLES; i++)
        code = recording_tables_make_plain(t, (enum plain_table)i);
    code = code != 0 ? code : network_tables_create(&t->network, t->db);
    return code != 0 ? code : capture_tables_create(t->captures, t->db);
}

int recording_tables_create(struct recording_tables **out, sqlite3 *db)
{
    struct recording_tables *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->db = db;
    int code = recording_tables_make_all(t);
    if (code != 0) {
        recording_tables_destroy(t);
        return code;
    }
    *out = t;
    return 0;
}

void recording_tables_destroy(struct recording_tables *t)
{
    if (t == NULL)
        return;
    for (int i = 0; i < PLAIN_TABLES; i++)
        sqlite3_finalize(t->plain[i].put);
    for (int i = 0; i < FIXED_TABLES; i++)
        sqlite3_finalize(t->fixed[i]);
    network_tables_destroy(t->network);
    for (int i = 0; i < CAPTURE_STATEMENTS; i++)
        sqlite3_finalize(t->captures[i]);
    free(t->regions);
    free(t);
}

/* ---- writing ------------------------------------------------------------- */

/* Bind the rows of a field as JSON. @return 0 or -ENOMEM */
static int recording_tables_bind_rows(sqlite3_stmt *s, int at, enum wire_type type,
                                      const char *name, const void *message)
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
    memcpy(&whole->job, message,
           wire_table(type)->size); /* all members of the union begin at the same address */
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
        bind_copy(s, at, text);
        return 0;
    default:
        memcpy(&number, slot, sizeof(number));
        if (column->kind == WIRE_KIND_U64 && recording_tables_value_names(column->name) != NULL &&
            number < 4)
            bind_copy(s, at, recording_tables_value_names(column->name)[number]);
        else
            bind_number(s, at, number);
        return 0;
    }
}

/* @param row  NULL for tables with one row per message */
static int recording_tables_put_plain(struct recording_tables *t, enum plain_table which,
                                      const void *message, const void *row)
{
    sqlite3_stmt *s = t->plain[which].put;
    int code = 0;
    for (size_t i = 0; code == 0 && i < t->plain[which].count; i++) {
        const struct column *c = &t->plain[which].columns[i];
        const uint8_t *base = c->of_row ? row : message;
        code = c->kind == WIRE_KIND_ROWS
                   ? recording_tables_bind_rows(s, (int)i + 1, plains[which].type, c->name, message)
                   : recording_tables_bind_slot(s, (int)i + 1, c, base + c->offset);
    }
    return code != 0 ? code : bind_put_row(s);
}

static int recording_tables_put_job(struct recording_tables *t, const struct wire_job *m)
{
    sqlite3_stmt *s = t->fixed[JOB];
    bind_copy(s, 1, m->job);
    bind_copy(s, 2, m->state);
    bind_copy(s, 3, m->app);
    bind_copy(s, 4, m->command);
    bind_copy(s, 5, m->mpi);
    bind_copy(s, 6, m->user);
    bind_number(s, 7, m->world);
    bind_number(s, 8, m->seen);
    bind_number(s, 9, m->start_ns);
    bind_number(s, 10, m->end_ns);
    bind_number(s, 11, m->window_ns);
    bind_copy(s, 12, HOLTER_VERSION);
    bind_copy(s, 13, m->launcher);
    bind_number(s, 14, m->group > 1 ? m->group : 1);
    return bind_put_row(s);
}

static int recording_tables_put_places(struct recording_tables *t, const struct wire_places *m)
{
    for (uint64_t i = 0; i < m->hosts_count; i++) {
        sqlite3_stmt *s = t->fixed[NODE];
        bind_number(s, 1, i);
        bind_copy(s, 2, m->hosts[i].name);
        if (bind_put_row(s) != 0)
            return -EIO;
    }
    for (uint64_t i = 0; i < m->places_count; i++) {
        sqlite3_stmt *s = t->fixed[PLACE];
        const struct wire_place_row *place = &m->places[i];
        bind_numbers(s, 3, (uint64_t[]){place->rank, place->node, place->pid});
        bind_copy(s, 4, place->placement);
        bind_number(s, 5, place->core);
        bind_number(s, 6, place->socket);
        bind_number(s, 7, place->numa);
        if (bind_put_row(s) != 0)
            return -EIO;
    }
    return 0;
}

static int recording_tables_put_latencies(struct recording_tables *t,
                                          const struct wire_latencies *m)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->series_count; i++)
        code = recording_tables_put_plain(t, LATENCY, m, &m->series[i]);
    for (uint64_t i = 0; code == 0 && i < m->criteria_count; i++)
        code = recording_tables_put_plain(t, CRITERION, m, &m->criteria[i]);
    return code;
}

/* Regions are published with all their members each time, of which hardly any has changed. */
static int recording_tables_put_member(struct recording_tables *t,
                                       const struct wire_region_member_row *m, uint64_t window)
{
    int known = m->rank < MAX_REMEMBERED_RANKS && m->region < UINT64_MAX &&
                ARRAY_FIT_ZERO(t->regions, t->region_capacity, m->rank + 1) == 0;
    if (known && t->regions[m->rank] == m->region + 1)
        return 0;
    const uint64_t numbers[] = {m->rank, m->region, window};
    if (bind_put_numbers(t->fixed[MEMBER], 3, numbers) != 0)
        return -EIO;
    if (known)
        t->regions[m->rank] = m->region + 1;
    return 0;
}

static int recording_tables_put_regions(struct recording_tables *t, const struct wire_regions *m)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->regions_count; i++) {
        const struct wire_latency_region_row *r = &m->regions[i];
        code = bind_put_numbers(t->fixed[REGION], 4,
                                (uint64_t[]){r->id, r->ranks, r->since, m->window});
    }
    for (uint64_t i = 0; code == 0 && i < m->members_count; i++)
        code = recording_tables_put_member(t, &m->members[i], m->window);
    return code;
}

/* Write closed phases only: an open phase may still change, and is published again. */
static int recording_tables_put_phases(struct recording_tables *t, const struct wire_phases *m)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->phases_count; i++)
        code = m->phases[i].open ? 0 : recording_tables_put_plain(t, PHASE, m, &m->phases[i]);
    return code;
}

static int recording_tables_put_curve(struct recording_tables *t, const struct wire_curve *m)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->points_count; i++)
        code =
            m->points[i].provisional ? 0 : recording_tables_put_plain(t, CURVE, m, &m->points[i]);
    return code;
}

/* Write those ranks of a window that caused most. */
static int recording_tables_put_lateness(struct recording_tables *t, const struct wire_lateness *m)
{
    const struct wire_lateness_row *worst[MAX_LATE_RANKS];
    size_t count = 0;
    int code = 0;
    for (uint64_t i = 0; i < m->ranks_count; i++) {
        const struct wire_lateness_row *row = &m->ranks[i];
        size_t at = count;
        if (row->caused_ns < m->length_ns / LATE_SHARE || row->caused_ns == 0)
            continue;
        while (at > 0 && row->caused_ns > worst[at - 1]->caused_ns)
            at--;
        if (at == MAX_LATE_RANKS)
            continue;
        count += count < MAX_LATE_RANKS;
        memmove(&worst[at + 1], &worst[at], (count - at - 1) * sizeof(*worst));
        worst[at] = row;
    }
    for (size_t i = 0; code == 0 && i < count; i++)
        code = recording_tables_put_plain(t, LATENESS, m, worst[i]);
    return code;
}

int recording_tables_put(struct recording_tables *t, enum wire_type type, const void *message)
{
    switch (type) {
    case WIRE_TYPE_JOB:
        return recording_tables_put_job(t, message);
    case WIRE_TYPE_PLACES:
        return recording_tables_put_places(t, message);
    case WIRE_TYPE_TOTALS:
        return recording_tables_put_plain(t, TOTALS, message, NULL);
    case WIRE_TYPE_ALERT:
        return recording_tables_put_plain(t, ALERT, message, NULL);
    case WIRE_TYPE_LATENCIES:
        return recording_tables_put_latencies(t, message);
    case WIRE_TYPE_REGIONS:
        return recording_tables_put_regions(t, message);
    case WIRE_TYPE_PHASES:
        return recording_tables_put_phases(t, message);
    case WIRE_TYPE_CURVE:
        return recording_tables_put_curve(t, message);
    case WIRE_TYPE_LATENESS:
        return recording_tables_put_lateness(t, message);
    case WIRE_TYPE_TOPOLOGY:
        return network_tables_put_topology(t->network, message);
    case WIRE_TYPE_LINKS:
        return network_tables_put_links(t->network, message);
    case WIRE_TYPE_CAPTURE:
        return capture_tables_put(t->captures, message);
    default:
        return 0;
    }
}

/* ---- reading alerts back ------------------------------------------------- */

struct causes {
    struct wire_cause_row rows[MAX_CAUSES];
    char names[MAX_CAUSES][33], texts[MAX_CAUSES][257];
    uint64_t count;
};

/* Text that is not the JSON written by this module has no causes. */
static void recording_tables_read_causes(sqlite3_stmt *s, const char *json, struct causes *out)
{
    out->count = 0;
    bind_copy(s, 1, json);
    while (out->count < MAX_CAUSES && sqlite3_step(s) == SQLITE_ROW) {
        uint64_t i = out->count++;
        snprintf(out->names[i], sizeof(out->names[i]), "%s", recording_file_text(s, 0));
        snprintf(out->texts[i], sizeof(out->texts[i]), "%s", recording_file_text(s, 2));
        out->rows[i] = (struct wire_cause_row){
            .name = out->names[i], .share = sqlite3_column_double(s, 1), .text = out->texts[i]};
    }
    sqlite3_reset(s);
}

static void recording_tables_set_slot(sqlite3_stmt *s, int at, enum wire_kind kind, uint8_t *slot)
{
    sqlite3_int64 number = sqlite3_column_int64(s, at);
    double real = sqlite3_column_type(s, at) == SQLITE_NULL ? NAN : sqlite3_column_double(s, at);
    const char *text = kind == WIRE_KIND_STR ? recording_file_text(s, at) : NULL;
    if (kind == WIRE_KIND_F64)
        memcpy(slot, &real, sizeof(real));
    else if (kind == WIRE_KIND_STR)
        memcpy(slot, &text, sizeof(text));
    else
        memcpy(slot, &number, sizeof(number));
}

/* Columns are found by their names: users may have added some. */
static struct wire_alert recording_tables_read_alert(sqlite3_stmt *s, sqlite3_stmt *each,
                                                     struct causes *causes)
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
                recording_tables_set_slot(s, c, f->kind, slot);
            else
                recording_tables_read_causes(each, recording_file_text(s, c), causes);
        }
    }
    alert.causes = causes->rows;
    alert.causes_count = causes->count;
    return alert;
}

int recording_tables_read_alerts(sqlite3 *db,
                                 int (*visit)(void *user, const struct wire_alert *alert),
                                 void *user)
{
    struct causes *causes = calloc(1, sizeof(*causes));
    sqlite3_stmt *s = NULL, *each = NULL;
    int code = causes == NULL ? -ENOMEM : 0, step = SQLITE_DONE;
    if (code == 0 &&
        (sqlite3_prepare_v2(db, "SELECT * FROM alert ORDER BY id", -1, &s, NULL) != SQLITE_OK ||
         sqlite3_prepare_v2(db,
                            "SELECT json_extract(value, '$.name'), json_extract(value, '$.share'),"
                            " json_extract(value, '$.text')"
                            " FROM json_each(?)",
                            -1, &each, NULL) != SQLITE_OK))
        code = -HOLTER_ECORRUPT;
    while (code == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct wire_alert alert = recording_tables_read_alert(s, each, causes);
        code = visit(user, &alert);
    }
    sqlite3_finalize(s);
    sqlite3_finalize(each);
    free(causes);
    return code != 0 ? code : step == SQLITE_DONE ? 0 : -HOLTER_ECORRUPT;
}
