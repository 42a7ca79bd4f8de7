/* Runs statements of people on a recording. */
#include "daemon/export/query.h"

#include "daemon/storage/recording_file.h"
#include "daemon/storage/sql/window_module.h"
#include "holter/error.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_PER_CHECK 1000 /* of SQLite's machine between two looks for an interruption */

struct query {
    struct recording_file file;
    query_is_interrupted *is_interrupted; /* NULL: never */
    void *user;
    int results; /* written so far */
};

/* ---- what is allowed ------------------------------------------------------------- */

static int query_has_word(const char *const *words, const char *word)
{
    while (*words != NULL && sqlite3_stricmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* No other file, and no setting of this one. Statements that write are refused by themselves. */
static int query_authorize(void *user, int action, const char *first, const char *second,
                           const char *database, const char *trigger)
{
    static const char *const describing[] = {
        "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", NULL};
    static const char *const working[] = {"wal_checkpoint", "incremental_vacuum", "optimize", NULL};
    (void)user;
    (void)database;
    (void)trigger;
    if (action == SQLITE_ATTACH || action == SQLITE_DETACH)
        return SQLITE_DENY;
    if (action == SQLITE_PRAGMA)
        return second != NULL ? (query_has_word(describing, first) ? SQLITE_OK : SQLITE_DENY)
                              : (query_has_word(working, first) ? SQLITE_DENY : SQLITE_OK);
    return SQLITE_OK;
}

static int query_check(void *user)
{
    struct query *q = user;
    return q->is_interrupted != NULL && q->is_interrupted(q->user);
}

/* ---- life ------------------------------------------------------------------------ */

int query_open(struct query **out, const char *path, char *why, size_t capacity)
{
    struct query *q = calloc(1, sizeof(*q));
    if (q == NULL) {
        snprintf(why, capacity, "no memory");
        return -ENOMEM;
    }
    int code = recording_file_open(&q->file, path, RECORDING_READ, why, capacity);
    if (code != 0) {
        free(q);
        return code;
    }
    sqlite3_progress_handler(q->file.db, STEPS_PER_CHECK, query_check, q);
    if (sqlite3_exec(q->file.db, "PRAGMA query_only = 1", NULL, NULL, NULL) != SQLITE_OK ||
        window_module_register(q->file.db) != SQLITE_OK ||
        sqlite3_set_authorizer(q->file.db, query_authorize, q) != SQLITE_OK) {
        snprintf(why, capacity, "%s", sqlite3_errmsg(q->file.db));
        query_close(q);
        return -ENOMEM;
    }
    *out = q;
    return 0;
}

void query_close(struct query *q)
{
    if (q == NULL)
        return;
    recording_file_close(&q->file);
    free(q);
}

void query_set_interrupt(struct query *q, query_is_interrupted *is_interrupted, void *user)
{
    q->is_interrupted = is_interrupted;
    q->user = user;
}

/* ---- errors ---------------------------------------------------------------------- */

/* Where SQLite found the error, relative to the statement; 0 where it does not tell. */
static size_t query_error_offset(sqlite3 *db)
{
#if SQLITE_VERSION_NUMBER >= 3038000
    int offset = sqlite3_error_offset(db);
    return offset > 0 ? (size_t)offset : 0;
#else
    (void)db;
    return 0;
#endif
}

/* Describe the last error of SQLite, at a place in the text. */
static int query_fail(struct query *q, const char *sql, size_t at, char *why, size_t capacity)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at && sql[i] != '\0'; i++) {
        column = sql[i] == '\n' ? 1 : column + (((unsigned char)sql[i] & 0xc0) != 0x80);
        line += sql[i] == '\n';
    }
    int code = sqlite3_errcode(q->file.db);
    if (code == SQLITE_INTERRUPT)
        snprintf(why, capacity, "interrupted");
    else
        snprintf(why, capacity, "line %zu, column %zu: %s%s", line, column,
                 sqlite3_errmsg(q->file.db),
                 strncmp(sqlite3_errmsg(q->file.db), "no such table", 13) == 0
                     ? "; hrec(5) lists the tables"
                     : "");
    return code == SQLITE_NOMEM       ? -ENOMEM
           : code == SQLITE_INTERRUPT ? -EINTR
           : code == SQLITE_CORRUPT   ? -HOLTER_ECORRUPT
                                      : -HOLTER_EUSAGE;
}

/* ---- statements ------------------------------------------------------------------ */

static size_t query_read_names(sqlite3_stmt *statement, struct cell cells[TABLES_COLUMNS])
{
    int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns && i < (int)TABLES_COLUMNS; i++)
        cells[i] = (struct cell){.name = sqlite3_column_name(statement, i), .text = ""};
    return (size_t)columns;
}

/* Write the rows of a statement. @param step  set to the last result of sqlite3_step()
 * @return 0, or an error of the output */
static int query_write_rows(struct query *q, sqlite3_stmt *statement,
                            const struct query_output *output, int *step)
{
    struct row_writer writer = {
        .out = output->file, .format = output->format, .no_header = output->no_header};
    struct cell cells[TABLES_COLUMNS];
    size_t columns = query_read_names(statement, cells);
    int code = 0;
    if (columns > 0) {
        if (q->results++ > 0)
            fputc('\n', output->file);
        fputs(output->format == ROW_JSON ? "[" : "", output->file);
        code = row_writer_begin(&writer, cells, columns);
    }
    while (code == 0 && (*step = sqlite3_step(statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < columns; i++)
            cells[i] = cell_read(statement, (int)i);
        code = row_writer_put(&writer, cells, columns);
    }
    int ended = row_writer_end(&writer);
    if (columns > 0 && output->format == ROW_JSON)
        fputs("]\n", output->file);
    return code != 0 ? code : ended;
}

/* Run the statement at `*at` of a text, and advance `*at` to the next. @return as query_run() */
static int query_run_one(struct query *q, const char *sql, size_t *at,
                         const struct query_output *output, char *why, size_t capacity)
{
    sqlite3_stmt *statement = NULL;
    const char *rest = NULL;
    int step = SQLITE_DONE, code = 0;
    size_t begin = *at + strspn(sql + *at, " \t\r\n;");
    if (sqlite3_prepare_v2(q->file.db, sql + begin, -1, &statement, &rest) != SQLITE_OK)
        return query_fail(q, sql, begin + query_error_offset(q->file.db), why, capacity);
    *at = (size_t)(rest - sql);
    if (statement != NULL && !sqlite3_stmt_readonly(statement)) {
        snprintf(why, capacity, "only statements that read are run");
        code = -HOLTER_EUSAGE;
    } else if (sqlite3_column_count(statement) > (int)TABLES_COLUMNS) {
        snprintf(why, capacity, "a result has more than %u columns", TABLES_COLUMNS);
        code = -HOLTER_EUSAGE;
    } else if (statement != NULL) { /* it is NULL of a comment */
        code = query_write_rows(q, statement, output, &step);
        if (code != 0)
            snprintf(why, capacity, "%s", holter_strerror(code));
        else if (step != SQLITE_DONE)
            code = query_fail(q, sql, begin, why, capacity);
    }
    sqlite3_finalize(statement);
    return code;
}

int query_run(struct query *q, const char *sql, const struct query_output *output, char *why,
              size_t capacity)
{
    int code = 0;
    for (size_t at = 0; code == 0 && sql[at] != '\0';)
        code = query_run_one(q, sql, &at, output, why, capacity);
    return code;
}
