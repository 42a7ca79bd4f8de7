/* Copies rows of a recording's plain tables into another recording, table by table. Columns that
 * only one of the two files has are left out, and so are rows that cannot be read. */
#include "daemon/storage/table_copy.h"

#include "daemon/storage/recording_captures.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_COLUMNS 128

const struct recorded_table recorded_tables[RECORDED_TABLES] = {
    {"job", {"one"}, ALWAYS, "", NULL, NULL},
    {"nodes", {"node"}, ALWAYS, "", NULL, NULL},
    {"places", {"rank"}, ALWAYS, "", NULL, NULL},
    {"totals", {"window"}, BY_WINDOW, NULL, NULL, NULL},
    {"alert", {"id"}, BY_SINCE, "", "updated_ns", NULL},
    {"latency", {"window", "scope", "id"}, BY_WINDOW, NULL, NULL, NULL},
    {"lateness", {"window", "rank"}, BY_WINDOW, NULL, NULL, NULL},
    {"criterion", {"locality", "size_class"}, ALWAYS, "", "window", NULL},
    {"region",
     {"id"},
     ALWAYS,
     " WHERE id IN (SELECT region FROM (SELECT region, max(since) FROM region_member GROUP BY"
     " rank))",
     "window",
     NULL},
    {"region_member",
     {"rank", "since"},
     ALWAYS,
     " AS m WHERE since = (SELECT max(since) FROM region_member WHERE rank = m.rank)",
     NULL,
     NULL},
    {"phase", {"id"}, BY_BEGIN, NULL, NULL, NULL},
    {"curve", {"phase"}, BY_BEGIN, NULL, NULL, NULL},
    {"topology", {"one"}, ALWAYS, "", NULL, NULL},
    {"topology_part", {"part"}, ALWAYS, "", NULL, NULL},
    {"seat", {"rank"}, ALWAYS, "", NULL, NULL},
    {"link", {"window", "link"}, BY_WINDOW, NULL, NULL, NULL},
    {"link_route", {"window", "link", "source", "destination"}, BY_WINDOW, NULL, NULL, NULL},
    {"captures", {"id"}, BY_ASKED, NULL, NULL, CAPTURE_JOIN},
    {"capture_events", {"capture", "rank", "thread", "number"}, BY_CAPTURE, NULL, NULL, NULL},
};

static void table_copy_write_condition(char *out, size_t capacity, enum recorded_about about,
                                       const struct recorded_span *span, uint64_t window_ns)
{
    uint64_t to = span->to_ns > INT64_MAX ? INT64_MAX : span->to_ns;
    uint64_t windows = window_ns == 0 ? 1 : window_ns;
    out[0] = '\0';
    if (about == BY_WINDOW)
        snprintf(out, capacity, " WHERE window BETWEEN %" PRIu64 " AND %" PRIu64,
                 span->from_ns / windows, to == 0 ? 0 : (to - 1) / windows);
    if (about == BY_SINCE)
        snprintf(out, capacity,
                 " WHERE since_ns < %" PRIu64 " AND (updated_ns >= %" PRIu64
                 " OR state <> 'resolved')",
                 to, span->from_ns);
    if (about == BY_ASKED || about == BY_CAPTURE)
        snprintf(out, capacity, " WHERE %sasked_ns >= %" PRIu64 " AND asked_ns < %" PRIu64 "%s",
                 about == BY_CAPTURE ? "capture IN (SELECT id FROM captures WHERE " : "",
                 span->from_ns, to, about == BY_CAPTURE ? ")" : "");
    if (about == BY_BEGIN)
        snprintf(out, capacity, " WHERE begin_ns < %" PRIu64 " AND end_ns >= %" PRIu64, to,
                 span->from_ns);
}

void recorded_table_query(const struct recorded_table *table, const struct recorded_span *span,
                          uint64_t window_ns, char *out, size_t capacity)
{
    char condition[200] = "";
    if (span != NULL)
        table_copy_write_condition(condition, sizeof(condition), table->about, span, window_ns);
    snprintf(out, capacity, "SELECT * FROM %s%s ORDER BY ", table->name, condition);
    for (size_t k = 0; table->keys[k] != NULL; k++)
        text_append(out, capacity, "%s%s", k == 0 ? "" : ", ", table->keys[k]);
}

/* Write the INSERT for the columns that both files have. The names of a file's columns may be
 * anything: only those that the table of the written file has, too, become part of the statement.
 */
static int table_copy_make_insert(sqlite3 *to, sqlite3_stmt *rows,
                                  const struct recorded_table *table, char *out, size_t capacity,
                                  int columns[MAX_COLUMNS])
{
    int count = 0;
    const char *time = table->time;
    const int replaces = time == NULL && table->join == NULL;
    snprintf(out, capacity, "INSERT %sINTO %s(", replaces ? "OR REPLACE " : "", table->name);
    for (int c = 0; c < sqlite3_column_count(rows) && count < MAX_COLUMNS; c++) {
        const char *name = sqlite3_column_name(rows, c);
        if (name == NULL || strlen(name) > 60 ||
            name[strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789")] != '\0' ||
            sqlite3_table_column_metadata(to, NULL, table->name, name, NULL, NULL, NULL, NULL,
                                          NULL) != SQLITE_OK)
            continue;
        text_append(out, capacity, "%s%s", count == 0 ? "" : ",", name);
        columns[count++] = c;
    }
    text_append(out, capacity, ") VALUES(");
    for (int c = 0; c < count; c++)
        text_append(out, capacity, "%s?", c == 0 ? "" : ",");
    text_append(out, capacity, ")%s", table->join == NULL ? "" : table->join);
    if (time == NULL)
        return count;
    text_append(out, capacity, " ON CONFLICT DO UPDATE SET ");
    for (int c = 0; c < count; c++) {
        const char *name = sqlite3_column_name(rows, columns[c]);
        text_append(out, capacity, "%s%s=excluded.%s", c == 0 ? "" : ",", name, name);
    }
    text_append(out, capacity, " WHERE ifnull(excluded.%s,0) >= ifnull(%s.%s,0)", time, table->name,
                time);
    return count;
}

static int table_copy_rows(struct recording *to, struct recording_file *from, sqlite3_stmt *rows,
                           const struct recorded_table *table)
{
    char sql[MAX_COLUMNS * 200 + 300];
    int columns[MAX_COLUMNS], code, row = 0;
    sqlite3_stmt *put = NULL;
    int count =
        table_copy_make_insert(recording_database(to), rows, table, sql, sizeof(sql), columns);
    if (count == 0)
        return 0;
    code = recording_begin(to);
    if (code == 0 && sqlite3_prepare_v2(recording_database(to), sql, -1, &put, NULL) != SQLITE_OK)
        code = -EIO;
    while (code == 0 && (row = recording_file_step(from, rows)) == 1) {
        for (int c = 0; c < count; c++)
            sqlite3_bind_value(put, c + 1, sqlite3_column_value(rows, columns[c]));
        /* A row that breaks a constraint was not written by Holter: it is left out. */
        int step = sqlite3_step(put);
        sqlite3_reset(put);
        if (step != SQLITE_DONE && step != SQLITE_CONSTRAINT && step != SQLITE_MISMATCH)
            code = -EIO;
    }
    sqlite3_finalize(put);
    return code != 0 ? code : row;
}

/* @return 0, -ENOMEM, -EIO, or -HOLTER_ECORRUPT: the table is damaged, its readable rows were
 * copied */
static int table_copy_query(struct recording *to, struct recording_file *from,
                            const struct recorded_table *table, const char *sql)
{
    sqlite3_stmt *rows = NULL;
    int code = recording_file_prepare(from, &rows, sql);
    code = code != 0 ? code : table_copy_rows(to, from, rows, table);
    sqlite3_finalize(rows);
    return code;
}

int table_copy_span(struct recording *to, struct recording_file *from,
                    const struct recorded_span *span, uint64_t window_ns, uint64_t *damaged)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < RECORDED_TABLES; i++) {
        const struct recorded_table *table = &recorded_tables[i];
        char where[200], sql[300];
        if (!recording_file_has(from, table->name))
            continue;
        table_copy_write_condition(where, sizeof(where), table->about, span, window_ns);
        snprintf(sql, sizeof(sql), "SELECT * FROM %s%s", table->name, where);
        code = table_copy_query(to, from, table, sql);
        if (code == -HOLTER_ECORRUPT) { /* the next table may be intact */
            code = 0;
            ++*damaged;
        }
    }
    return code;
}

int table_copy_state(struct recording *to, struct recording_file *from)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < RECORDED_TABLES; i++) {
        const struct recorded_table *table = &recorded_tables[i];
        char sql[300];
        if (table->state == NULL)
            continue;
        snprintf(sql, sizeof(sql), "SELECT * FROM %s%s", table->name, table->state);
        code = table_copy_query(to, from, table, sql);
        code = code == -HOLTER_ECORRUPT ? 0 : code;
    }
    return code;
}

int table_copy_read_job(struct recording_file *from, char *job, size_t capacity)
{
    sqlite3_stmt *row = NULL;
    job[0] = '\0';
    if (recording_file_query(from, &row, "SELECT job FROM job") == 1)
        text_copy(job, capacity, recording_file_text(row, 0));
    sqlite3_finalize(row);
    return job[0] != '\0' ? 0 : -HOLTER_EEMPTY;
}

int table_copy_is_empty(struct recording_file *from)
{
    int64_t rows = 1;
    return recording_file_number(from,
                                 "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM block)",
                                 &rows) == 0 &&
           rows == 0;
}
