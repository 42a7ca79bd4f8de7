/* A recording as a SQLite database: what reading and writing share. The content of a file is
 * never trusted. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_FILE_H
#define HOLTER_DAEMON_STORAGE_RECORDING_FILE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

struct recording_file {
    sqlite3 *db;
    int64_t version;           /**< of the schema; 0: nothing has been written yet */
    uint64_t steps, max_steps; /**< of the running statement, see recording_file_open() */
    uint64_t lacking;          /**< bytes missing at its end, see RECORDING_SALVAGE */
};

enum recording_access {
    RECORDING_READ,
    RECORDING_WRITE,
    RECORDING_SALVAGE /**< read, also a truncated file: what is missing is treated as damaged */
};

/** Open a file. Triggers and views are disabled, SQL functions in its schema are not trusted, and
 * a statement ends with SQLITE_INTERRUPT when it takes more steps than an intact file of this
 * size can need: the pages of a forged file may form cycles. Reading does not change the file as
 * far as SQLite permits: the log of a killed daemon is recovered only when it cannot be read as
 * it is, and is read in memory where nothing can be written.
 * @param file  must not move until it is closed; closed on failure
 * @param why   set on failure: a sentence for people
 * @return 0, -errno, -EIO for what SQLite reports, -HOLTER_EVERSION (of another version, or no
 * recording), -HOLTER_EEMPTY (nothing has been written yet) or -HOLTER_ECORRUPT */
int recording_file_open(struct recording_file *file, const char *path, enum recording_access how,
                        char *why, size_t capacity);

/** Until it is closed, the file keeps the state of the next statement for this reader, so that its
 * tables fit together, although it may be written meanwhile. Its log grows during this time: for
 * readers that read once and close.
 * @return 0 or as recording_file_error() */
int recording_file_hold(struct recording_file *file);

/** Close a file, also one that was never opened. */
void recording_file_close(struct recording_file *file);

/** Prepare a statement, to be finalized by the caller. @return 0 or as recording_file_error() */
int recording_file_prepare(struct recording_file *file, sqlite3_stmt **out, const char *sql);

/** Step a statement. @return 1: there is a row, 0: there is none left, or as
 * recording_file_error() */
int recording_file_step(struct recording_file *file, sqlite3_stmt *statement);

/** Prepare a statement and step to its first row. @param out  to be finalized by the caller, also
 * on failure @return as recording_file_step() */
int recording_file_query(struct recording_file *file, sqlite3_stmt **out, const char *sql);

/** A text in the row that a statement is at; "" in place of NULL. */
const char *recording_file_text(sqlite3_stmt *statement, int column);

/** Read the first column of the first row. @return 0, -HOLTER_EEMPTY, or as recording_file_error()
 */
int recording_file_number(struct recording_file *file, const char *sql, int64_t *out);

/** The same. @return 0 also where there is no row, or it cannot be read, or the number is negative
 */
uint64_t recording_file_count(struct recording_file *file, const char *sql);

/** Does the file have this table? */
int recording_file_has(struct recording_file *file, const char *table);

/** Run statements without result. @return 0 or -EIO */
int recording_file_exec(sqlite3 *db, const char *sql);

/** Create tables, and prepare the statements that write their rows.
 *  @param schema  NULL: there are no tables to create
 *  @param out     `count` statements, to be finalised also on failure @return 0 or -EIO */
int recording_file_make(sqlite3 *db, const char *schema, const char *const *texts, size_t count,
                        sqlite3_stmt **out);

/** Checkpoint and truncate the write-ahead log as far as no reader prevents it, without waiting. */
void recording_file_checkpoint(struct recording_file *file);

#endif
