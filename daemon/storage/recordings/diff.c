/* Compares two recordings table by table; diff_messages.c compares their messages. */
#include "daemon/storage/recordings/diff.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"
#include "daemon/storage/recordings/diff_messages.h"
#include "daemon/storage/table_copy.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Columns that state when and by which version a row was written. */
static const char *const ignored_columns[] = {"holter", "published_ns"};

/* One recording while the rows of a table are compared. */
struct side {
    struct recording_file *file;
    sqlite3_stmt *rows;
    int more;
    int keys[RECORDED_KEYS]; /* columns of the key */
};

struct comparing {
    struct diff *diff;
    const struct diff_options *options;
    struct diff_table *table;
    size_t key_count, listed;
    struct side sides[2];
};

/* ---- values -------------------------------------------------------------- */

static int diff_type_class(int type)
{
    return type == SQLITE_NULL ? 0 : type == SQLITE_TEXT ? 2 : type == SQLITE_BLOB ? 3 : 1;
}

/* Compare in the order of SQLite, see sqlite.org/datatype3.html, section 4.1. */
static int diff_compare_values(sqlite3_stmt *a, int i, sqlite3_stmt *b, int j)
{
    int x = sqlite3_column_type(a, i), y = sqlite3_column_type(b, j);
    if (diff_type_class(x) != diff_type_class(y) || x == SQLITE_NULL)
        return (diff_type_class(x) > diff_type_class(y)) -
               (diff_type_class(x) < diff_type_class(y));
    if (x == SQLITE_INTEGER && y == SQLITE_INTEGER) {
        sqlite3_int64 m = sqlite3_column_int64(a, i), n = sqlite3_column_int64(b, j);
        return (m > n) - (m < n);
    }
    if (diff_type_class(x) == 1) {
        double m = sqlite3_column_double(a, i), n = sqlite3_column_double(b, j);
        return (m > n) - (m < n);
    }
    const void *left = sqlite3_column_blob(a, i), *right = sqlite3_column_blob(b, j);
    size_t m = (size_t)sqlite3_column_bytes(a, i), n = (size_t)sqlite3_column_bytes(b, j);
    int order = m == 0 || n == 0 ? 0 : memcmp(left, right, m < n ? m : n);
    return order != 0 ? order : (m > n) - (m < n);
}

/* Absolute difference of two numbers. Integers are not converted to double before, which would
 * round times in nanoseconds to some hundred. */
static double diff_distance(sqlite3_stmt *a, int i, sqlite3_stmt *b, int j)
{
    if (sqlite3_column_type(a, i) != SQLITE_INTEGER || sqlite3_column_type(b, j) != SQLITE_INTEGER)
        return fabs(sqlite3_column_double(a, i) - sqlite3_column_double(b, j));
    sqlite3_int64 m = sqlite3_column_int64(a, i), n = sqlite3_column_int64(b, j);
    return (double)(m > n ? (uint64_t)m - (uint64_t)n : (uint64_t)n - (uint64_t)m);
}

static int diff_is_equal(const struct comparing *c, int i, int j)
{
    sqlite3_stmt *a = c->sides[0].rows, *b = c->sides[1].rows;
    if (diff_compare_values(a, i, b, j) == 0)
        return 1;
    if (diff_type_class(sqlite3_column_type(a, i)) != 1 ||
        diff_type_class(sqlite3_column_type(b, j)) != 1)
        return 0;
    double x = sqlite3_column_double(a, i), y = sqlite3_column_double(b, j);
    return diff_distance(a, i, b, j) <= c->options->tolerance * fmax(fabs(x), fabs(y));
}

static void diff_print_value(char *out, size_t capacity, sqlite3_stmt *s, int column)
{
    const unsigned char *text;
    if (sqlite3_column_type(s, column) == SQLITE_BLOB) {
        snprintf(out, capacity, "%d bytes", sqlite3_column_bytes(s, column));
        return;
    }
    if (sqlite3_column_type(s, column) == SQLITE_FLOAT) {
        snprintf(out, capacity, "%.17g", sqlite3_column_double(s, column));
        return;
    }
    text = sqlite3_column_text(s, column);
    snprintf(out, capacity, "%s", text == NULL ? "NULL" : (const char *)text);
}

/* ---- items --------------------------------------------------------------- */

struct diff_item *diff_add_item(struct diff *d, const struct diff_options *options,
                                const struct diff_table *table, size_t *listed)
{
    if (*listed >= options->items || ARRAY_FIT(d->items, d->capacity, d->count + 1) != 0)
        return NULL;
    ++*listed;
    struct diff_item *item = &d->items[d->count++];
    *item = (struct diff_item){.table = table->name};
    return item;
}

static struct diff_item *diff_add_table_item(struct comparing *c)
{
    return diff_add_item(c->diff, c->options, c->table, &c->listed);
}

static void diff_print_key(char *out, size_t capacity, const struct comparing *c,
                           const struct side *s)
{
    for (size_t k = 0; k < c->key_count; k++) {
        char value[64];
        diff_print_value(value, sizeof(value), s->rows, s->keys[k]);
        text_append(out, capacity, "%s%s %s", k == 0 ? "" : ", ",
                    sqlite3_column_name(s->rows, s->keys[k]), value);
    }
}

static void diff_add_only(struct comparing *c, int which)
{
    struct diff_item *item = diff_add_table_item(c);
    c->table->only[which]++;
    c->diff->differences++;
    if (item == NULL)
        return;
    diff_print_key(item->key, sizeof(item->key), c, &c->sides[which]);
    snprintf(item->value[which], sizeof(item->value[which]), "there");
}

static int diff_find_column(sqlite3_stmt *s, const char *name)
{
    int column = sqlite3_column_count(s) - 1;
    while (column >= 0 && strcmp(sqlite3_column_name(s, column), name) != 0)
        column--;
    return column;
}

static int diff_is_ignored(const char *name)
{
    for (size_t i = 0; i < sizeof(ignored_columns) / sizeof(*ignored_columns); i++) {
        if (strcmp(ignored_columns[i], name) == 0)
            return 1;
    }
    return 0;
}

/* Compare two rows with the same key. Columns that only one of the files has were added by users.
 */
static void diff_compare_rows(struct comparing *c)
{
    sqlite3_stmt *a = c->sides[0].rows, *b = c->sides[1].rows;
    int differs = 0;
    for (int i = 0; i < sqlite3_column_count(a); i++) {
        const char *name = sqlite3_column_name(a, i);
        int j = diff_find_column(b, name);
        if (j < 0 || diff_is_ignored(name) || diff_is_equal(c, i, j))
            continue;
        differs = 1;
        struct diff_item *item = diff_add_table_item(c);
        if (item == NULL)
            break;
        diff_print_key(item->key, sizeof(item->key), c, &c->sides[0]);
        snprintf(item->column, sizeof(item->column), "%s", name);
        diff_print_value(item->value[0], sizeof(item->value[0]), a, i);
        diff_print_value(item->value[1], sizeof(item->value[1]), b, j);
    }
    c->table->differing += (uint64_t)differs;
    c->diff->differences += (uint64_t)differs;
}

/* ---- tables -------------------------------------------------------------- */

/* @return 0 or negative; a missing table has no rows */
static int diff_open_rows(struct comparing *c, struct side *s, size_t which)
{
    char sql[256];
    const struct recorded_table *table = &recorded_tables[which];
    s->more = 0;
    if (!recording_file_has(s->file, table->name))
        return 0;
    recorded_table_query(table, NULL, 0, sql, sizeof(sql));
    int code = recording_file_prepare(s->file, &s->rows, sql);
    for (size_t k = 0; code == 0 && k < c->key_count; k++) {
        s->keys[k] = diff_find_column(s->rows, table->keys[k]);
        code = s->keys[k] < 0 ? -HOLTER_ECORRUPT : 0;
    }
    return code;
}

static int diff_step(struct comparing *c, int which)
{
    struct side *s = &c->sides[which];
    int code = s->rows == NULL ? 0 : recording_file_step(s->file, s->rows);
    s->more = code == 1;
    c->table->rows[which] += (uint64_t)s->more;
    return code < 0 ? code : 0;
}

static int diff_compare_keys(const struct comparing *c)
{
    const struct side *a = &c->sides[0], *b = &c->sides[1];
    if (!a->more || !b->more)
        return a->more ? -1 : 1;
    for (size_t k = 0; k < c->key_count; k++) {
        int order = diff_compare_values(a->rows, a->keys[k], b->rows, b->keys[k]);
        if (order != 0)
            return order;
    }
    return 0;
}

static int diff_compare_table(struct comparing *c, size_t which)
{
    c->table = &c->diff->tables[which];
    c->table->name = recorded_tables[which].name;
    c->listed = c->key_count = 0;
    while (recorded_tables[which].keys[c->key_count] != NULL)
        c->key_count++;
    int code = diff_open_rows(c, &c->sides[0], which);
    code = code != 0 ? code : diff_open_rows(c, &c->sides[1], which);
    code = code != 0 ? code : diff_step(c, 0);
    code = code != 0 ? code : diff_step(c, 1);
    while (code == 0 && (c->sides[0].more || c->sides[1].more)) {
        int order = diff_compare_keys(c);
        if (order == 0)
            diff_compare_rows(c);
        else
            diff_add_only(c, order > 0);
        if (order <= 0)
            code = diff_step(c, 0);
        if (order >= 0)
            code = code != 0 ? code : diff_step(c, 1);
    }
    for (int i = 0; i < 2; i++) {
        sqlite3_finalize(c->sides[i].rows);
        c->sides[i].rows = NULL;
    }
    return code;
}

/* Number of messages in both; 0: not known. */
static uint64_t diff_count_messages(const struct comparing *c)
{
    static const char sql[] = "SELECT sum(messages) FROM block";
    return recording_file_count(c->sides[0].file, sql) +
           recording_file_count(c->sides[1].file, sql);
}

/* ---- all ----------------------------------------------------------------- */

static int diff_compare_all(struct comparing *c, struct recording_cursor *cursors[2])
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < RECORDED_TABLES; i++)
        code = diff_compare_table(c, i);
    if (code != 0)
        return code;
    c->table = &c->diff->tables[RECORDED_TABLES];
    c->table->name = "messages";
    return diff_messages(c->diff, c->options, c->table, cursors, diff_count_messages(c));
}

int diff_read(struct diff *out, const char *const paths[2], const struct diff_options *options,
              char *why, size_t capacity)
{
    struct comparing c = {.diff = out, .options = options};
    struct recording_cursor *cursors[2] = {NULL, NULL};
    int code = 0;
    *out = (struct diff){.count = 0};
    for (int i = 0; code == 0 && i < 2; i++) {
        code = recording_cursor_open(&cursors[i], paths[i], why, capacity);
        c.sides[i].file = code == 0 ? recording_cursor_file(cursors[i]) : NULL;
        if (code == 0 && (code = recording_file_hold(c.sides[i].file)) != 0)
            snprintf(why, capacity, "%s: %s", paths[i], holter_strerror(code));
    }
    if (code == 0 &&
        strcmp(recording_cursor_job(cursors[0]), recording_cursor_job(cursors[1])) != 0) {
        snprintf(why, capacity, "%s is of job %s, but %s of job %s", paths[0],
                 recording_cursor_job(cursors[0]), paths[1], recording_cursor_job(cursors[1]));
        code = -HOLTER_ENOJOB;
    } else if (code == 0) {
        snprintf(out->job, sizeof(out->job), "%s", recording_cursor_job(cursors[0]));
        code = diff_compare_all(&c, cursors);
        if (code != 0)
            snprintf(why, capacity, "%s or %s, table %s: %s", paths[0], paths[1], c.table->name,
                     recording_scan_error(code));
    }
    recording_cursor_close(cursors[0]);
    recording_cursor_close(cursors[1]);
    if (code != 0)
        diff_finish(out);
    return code;
}

void diff_finish(struct diff *d)
{
    array_release(&d->items);
    d->count = d->capacity = 0;
}

void diff_print_json(FILE *out, const struct diff *d, const char *const paths[2])
{
    fputs("{\"files\":[", out);
    json_text(out, paths[0]);
    fputc(',', out);
    json_text(out, paths[1]);
    json_put_text(out, "],", "job", d->job);
    fprintf(out, ",\"differences\":%" PRIu64 ",\"tables\":[", d->differences);
    for (size_t i = 0; i < DIFF_TABLES; i++) {
        const struct diff_table *t = &d->tables[i];
        fprintf(out,
                "%s{\"name\":\"%s\",\"rows\":[%" PRIu64 ",%" PRIu64 "],\"only\":[%" PRIu64
                ",%" PRIu64 "],\"differing\":%" PRIu64 "}",
                i == 0 ? "" : ",", t->name, t->rows[0], t->rows[1], t->only[0], t->only[1],
                t->differing);
    }
    fputs("],\"first\":[", out);
    for (size_t i = 0; i < d->count; i++) {
        const struct diff_item *item = &d->items[i];
        json_put_text(out, i == 0 ? "{" : ",{", "table", item->table);
        json_put_text(out, ",", "key", item->key);
        json_put_text(out, ",", "column", item->column);
        fputs(",\"values\":[", out);
        json_text(out, item->value[0]);
        fputc(',', out);
        json_text(out, item->value[1]);
        fputs("]}", out);
    }
    fputs("]}\n", out);
}
