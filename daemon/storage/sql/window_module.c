/* The virtual tables as a module of SQLite: which conditions are used, and which rows are read. See
 * sqlite.org/vtab.html.
 *
 * A condition on window, begin_ns, end_ns or second bounds the windows that are read, and so the
 * blocks that are unpacked; one of the form key = number leaves out rows early. SQLite checks all
 * conditions again: bounds may be wide, but never too narrow. */
#include "daemon/storage/sql/window_module.h"

#include "daemon/storage/sql/moment_functions.h"
#include "daemon/storage/sql/window_rows.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#define WHY 400u
#define DECLARATION 2048u
#define COST 1e7 /* of all rows, in the units of SQLite */

struct window_vtab {
    sqlite3_vtab base;
    sqlite3 *db;
    const struct window_table *table;
};

struct window_cursor {
    sqlite3_vtab_cursor base;
    struct window_rows *rows; /* owned */
    int at_end;
};

/* ---- errors -------------------------------------------------------------------- */

static int window_module_code(int code)
{
    switch (code) {
    case -ENOMEM:
        return SQLITE_NOMEM;
    case -EINTR:
        return SQLITE_INTERRUPT;
    case -HOLTER_ECORRUPT:
        return SQLITE_CORRUPT;
    default:
        return SQLITE_ERROR;
    }
}

static int window_module_fail(sqlite3_vtab *vtab, int code, const char *why)
{
    sqlite3_free(vtab->zErrMsg);
    vtab->zErrMsg = sqlite3_mprintf("%s", why);
    return window_module_code(code);
}

/* ---- tables -------------------------------------------------------------------- */

/* @param table  as registered: the client data of the module */
static int window_module_connect(sqlite3 *db, void *table, int argc, const char *const *argv,
                                 sqlite3_vtab **out, char **why)
{
    const struct window_table *t = table;
    char text[DECLARATION] = "CREATE TABLE x(";
    /* A forged file could make one of the tables that these read of one of them, which would then
     * read itself without end. */
    if (argc != 3 || sqlite3_stricmp(argv[2], t->name) != 0) {
        *why = sqlite3_mprintf("%s stands for itself only, and makes no other table", t->name);
        return SQLITE_ERROR;
    }
    for (const struct window_column *c = t->columns; c->name != NULL; c++)
        text_append(text, sizeof(text), "%s\"%s\" %s", c == t->columns ? "" : ", ", c->name,
                    c->type);
    text_append(text, sizeof(text), ")");
    int code = sqlite3_declare_vtab(db, text);
    struct window_vtab *vtab = code == SQLITE_OK ? calloc(1, sizeof(*vtab)) : NULL;
    if (vtab == NULL)
        return code != SQLITE_OK ? code : SQLITE_NOMEM;
    vtab->db = db;
    vtab->table = t;
    *out = &vtab->base;
    return SQLITE_OK;
}

static int window_module_disconnect(sqlite3_vtab *vtab)
{
    free(vtab);
    return SQLITE_OK;
}

/* ---- conditions ---------------------------------------------------------------- */

/* A condition that is used, as two characters of the plan: the column, and which bound it is. */
enum { BOUND_EQUAL = '=', BOUND_LOW = '>', BOUND_HIGH = '<' };
#define COLUMN_CHARACTER 'A'

static char window_module_bound(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return BOUND_EQUAL;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
        return BOUND_LOW;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
        return BOUND_HIGH;
    default:
        return 0;
    }
}

static int window_module_is_time(const struct window_column *column)
{
    return column->kind == WINDOW_NUMBER || column->kind == WINDOW_BEGIN_NS ||
           column->kind == WINDOW_END_NS || column->kind == WINDOW_SECOND;
}

/* @return a character of the plan, or 0: the condition is not used */
static char window_module_use(const struct window_table *table,
                              const struct sqlite3_index_constraint *condition, size_t keys)
{
    char bound = window_module_bound(condition->op);
    if (!condition->usable || condition->iColumn < 0)
        return 0;
    const struct window_column *column = &table->columns[condition->iColumn];
    if (window_module_is_time(column))
        return bound;
    return column->key && keys < WINDOW_KEYS && bound == BOUND_EQUAL ? bound : 0;
}

static int window_module_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct window_table *table = ((struct window_vtab *)vtab)->table;
    char *plan = sqlite3_malloc(2 * info->nConstraint + 1);
    size_t used = 0, keys = 0;
    double share = 1;
    if (plan == NULL)
        return SQLITE_NOMEM;
    for (int i = 0; i < info->nConstraint; i++) {
        char bound = window_module_use(table, &info->aConstraint[i], keys);
        if (bound == 0)
            continue;
        int is_time = window_module_is_time(&table->columns[info->aConstraint[i].iColumn]);
        keys += !is_time;
        share *= !is_time ? 0.5 : bound == BOUND_EQUAL ? 0.001 : 0.1;
        plan[used++] = (char)(COLUMN_CHARACTER + info->aConstraint[i].iColumn);
        plan[used++] = bound;
        info->aConstraintUsage[i].argvIndex = (int)(used / 2);
    }
    plan[used] = '\0';
    info->idxStr = plan;
    info->needToFreeIdxStr = 1;
    info->estimatedCost = COST * share;
    info->estimatedRows = (sqlite3_int64)(COST * share);
    return SQLITE_OK;
}

static uint64_t window_module_clamp(double value)
{
    return !(value > 0) ? 0 : value >= 0x1p63 ? INT64_MAX : (uint64_t)value;
}

/* Windows that a number of a column bounds from below and from above. */
struct window_bounds {
    uint64_t low, high; /* low > high: it lies within one */
};

/* Of a whole number, exactly. */
static struct window_bounds window_module_bound_exactly(const struct window_column *column,
                                                        sqlite3_int64 value, uint64_t length)
{
    uint64_t number = value < 0 ? 0 : (uint64_t)value;
    if (column->kind == WINDOW_NUMBER)
        return (struct window_bounds){number, number};
    struct window_bounds bounds = {number / length + (number % length != 0), number / length};
    if (column->kind == WINDOW_BEGIN_NS)
        return bounds;
    return (struct window_bounds){bounds.low > 0 ? bounds.low - 1 : 0,
                                  bounds.high > 0 ? bounds.high - 1 : 0};
}

/* Of any other number, and of seconds, with some windows more for what is rounded. */
static struct window_bounds window_module_bound_widely(const struct window_rows *rows,
                                                       const struct window_column *column,
                                                       double number)
{
    if (column->kind == WINDOW_SECOND)
        number = number * 1e9 + (double)window_rows_begin_ns(rows);
    if (column->kind != WINDOW_NUMBER)
        number /= (double)window_rows_window_ns(rows);
    uint64_t window = window_module_clamp(number);
    return (struct window_bounds){window > 2 ? window - 2 : 0, window + 2};
}

/* Narrow the windows by a condition on one of the columns of time. */
static void window_module_narrow(struct window_filter *filter, const struct window_rows *rows,
                                 const struct window_column *column, char bound,
                                 sqlite3_value *value)
{
    struct window_bounds b;
    int type = sqlite3_value_type(value);
    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || window_rows_window_ns(rows) == 0)
        return;
    if (type == SQLITE_INTEGER && column->kind != WINDOW_SECOND)
        b = window_module_bound_exactly(column, sqlite3_value_int64(value),
                                        window_rows_window_ns(rows));
    else
        b = window_module_bound_widely(rows, column, sqlite3_value_double(value));
    if (bound != BOUND_HIGH && b.low > filter->first)
        filter->first = b.low;
    if (bound != BOUND_LOW && b.high < filter->last)
        filter->last = b.high;
}

static int window_module_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
                                sqlite3_value **argv)
{
    struct window_cursor *c = (struct window_cursor *)cursor;
    const struct window_table *table = ((struct window_vtab *)cursor->pVtab)->table;
    struct window_filter filter = {.first = 0, .last = UINT64_MAX};
    (void)number;
    for (int i = 0; i < argc; i++) {
        size_t column = (size_t)(plan[2 * i] - COLUMN_CHARACTER);
        if (window_module_is_time(&table->columns[column])) {
            window_module_narrow(&filter, c->rows, &table->columns[column], plan[2 * i + 1],
                                 argv[i]);
        } else if (sqlite3_value_type(argv[i]) == SQLITE_INTEGER) {
            filter.keys[filter.key_count].column = column;
            filter.keys[filter.key_count++].value = sqlite3_value_int64(argv[i]);
        }
    }
    int code = window_rows_begin(c->rows, &filter);
    code = code != 0 ? code : window_rows_next(c->rows);
    c->at_end = code != 1;
    return code < 0 ? window_module_fail(cursor->pVtab, code, window_rows_error(c->rows))
                    : SQLITE_OK;
}

/* ---- rows ---------------------------------------------------------------------- */

static int window_module_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    struct window_vtab *v = (struct window_vtab *)vtab;
    struct window_cursor *c = calloc(1, sizeof(*c));
    char why[WHY];
    if (c == NULL)
        return SQLITE_NOMEM;
    int code = window_rows_open(&c->rows, v->db, v->table, why, sizeof(why));
    if (code != 0) {
        free(c);
        return window_module_fail(vtab, code, why);
    }
    *out = &c->base;
    return SQLITE_OK;
}

static int window_module_close(sqlite3_vtab_cursor *cursor)
{
    window_rows_close(((struct window_cursor *)cursor)->rows);
    free(cursor);
    return SQLITE_OK;
}

static int window_module_next(sqlite3_vtab_cursor *cursor)
{
    struct window_cursor *c = (struct window_cursor *)cursor;
    int code = window_rows_next(c->rows);
    c->at_end = code != 1;
    return code < 0 ? window_module_fail(cursor->pVtab, code, window_rows_error(c->rows))
                    : SQLITE_OK;
}

static int window_module_eof(sqlite3_vtab_cursor *cursor)
{
    return ((struct window_cursor *)cursor)->at_end;
}

static int window_module_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column)
{
    window_rows_result(((struct window_cursor *)cursor)->rows, (size_t)column, out);
    return SQLITE_OK;
}

static int window_module_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = window_rows_id(((struct window_cursor *)cursor)->rows);
    return SQLITE_OK;
}

/* Without xCreate the tables are there under the names of their modules. */
static const sqlite3_module window_module = {
    .iVersion = 2,
    .xConnect = window_module_connect,
    .xBestIndex = window_module_best_index,
    .xDisconnect = window_module_disconnect,
    .xOpen = window_module_open,
    .xClose = window_module_close,
    .xFilter = window_module_filter,
    .xNext = window_module_next,
    .xEof = window_module_eof,
    .xColumn = window_module_column,
    .xRowid = window_module_rowid,
};

int window_module_register(sqlite3 *db)
{
    int code = moment_functions_register(db);
    for (const struct window_table *t = window_tables; code == SQLITE_OK && t->name != NULL; t++)
        code = sqlite3_create_module_v2(db, t->name, &window_module, (void *)t, NULL);
    return code;
}
