/* Reads the rows of a virtual table, of the windows in a range. */
#ifndef HOLTER_DAEMON_STORAGE_SQL_WINDOW_ROWS_H
#define HOLTER_DAEMON_STORAGE_SQL_WINDOW_ROWS_H

#include "daemon/storage/sql/window_tables.h"

#include <stddef.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_context;
struct window_rows;

#define WINDOW_KEYS 4u /**< columns compared by = at most */

/** Which rows are requested. */
struct window_filter {
    uint64_t first, last; /**< windows; first > last: none */
    struct {
        size_t column;
        int64_t value;
    } keys[WINDOW_KEYS];
    size_t key_count;
};

/** @param db   borrowed until window_rows_close()
 *  @param why  set on failure: a sentence for people
 *  @return 0, or as recording_cursor_borrow() */
int window_rows_open(struct window_rows **out, struct sqlite3 *db, const struct window_table *table,
                     char *why, size_t capacity);

/** NULL is fine. */
void window_rows_close(struct window_rows *rows);

/** Length of a window; 0: the recording has none. Begin of the recording, daemon time. */
uint64_t window_rows_window_ns(const struct window_rows *rows);
uint64_t window_rows_begin_ns(const struct window_rows *rows);

/** Begin to read, before the first row. @return 0 or negative */
int window_rows_begin(struct window_rows *rows, const struct window_filter *filter);

/** Go to the next row.
 *  @return 1, 0: there is none left, -HOLTER_ECORRUPT for a message that cannot be read, -ENOMEM,
 *  -EINTR or -EIO: see window_rows_error() */
int window_rows_next(struct window_rows *rows);

/** What the last error was, for people. */
const char *window_rows_error(const struct window_rows *rows);

/** A number of the row that is its own, whatever the filter: SQLite joins the rows of conditions
 * with OR by it. */
int64_t window_rows_id(const struct window_rows *rows);

/** Give SQLite the value of a column of the row. */
void window_rows_result(struct window_rows *rows, size_t column, struct sqlite3_context *out);

/** Span of a recording: that of its published windows, otherwise of what was received.
 *  @return 0, or negative: why is set */
int window_rows_span(struct sqlite3 *db, uint64_t *begin_ns, uint64_t *end_ns, char *why,
                     size_t capacity);

/** A point in time as text, to the millisecond: "2026-11-22T05:00:00.500Z". */
void window_rows_time_text(uint64_t ns, char *out, size_t capacity);

#endif
