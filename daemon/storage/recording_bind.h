/* Binds values to the statements that write rows of recordings. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_BIND_H
#define HOLTER_DAEMON_STORAGE_RECORDING_BIND_H

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>

/** Bind an unsigned number. It keeps its bits: SQLite's integers are signed. */
static inline void bind_number(sqlite3_stmt *statement, int at, uint64_t number)
{
    sqlite3_bind_int64(statement, at, (sqlite3_int64)number);
}

/** Bind a text. @param text  copied; NULL: "" */
static inline void bind_copy(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text == NULL ? "" : text, -1, SQLITE_TRANSIENT);
}

/** Execute the statement and reset it. @return 0 or -EIO */
static inline int bind_put_row(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -EIO;
}

/** Bind numbers to the first parameters. */
static inline void bind_numbers(sqlite3_stmt *statement, int count, const uint64_t *numbers)
{
    for (int i = 0; i < count; i++)
        bind_number(statement, i + 1, numbers[i]);
}

/** Write a row whose columns are these numbers. @return 0 or -EIO */
static inline int bind_put_numbers(sqlite3_stmt *statement, int count, const uint64_t *numbers)
{
    bind_numbers(statement, count, numbers);
    return bind_put_row(statement);
}

#endif
