/* A recording as a SQLite database: what reading and writing share. Nothing in a file is trusted.
 */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_FILE_H
#define HOLTER_DAEMON_STORAGE_RECORDING_FILE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of a page, of files that are made: of small ones, and at most
 * (sqlite.org/intern-v-extern-blob.html). */
#define RECORDING_PAGE 4096u
#define RECORDING_PAGE_MOST 16384u

struct recording_file {
    sqlite3 *db;
    int64_t version;            /**< of the schema; 0: nothing is in it yet */
    uint64_t steps, most_steps; /**< of the statement that runs: see recording_file_open() */
    uint64_t lacking;           /**< bytes at its end that are not there, see RECORDING_SALVAGE */
};

enum recording_access {
    RECORDING_READ,
    RECORDING_WRITE,
    RECORDING_SALVAGE /**< read, also one that is cut short: what lay behind is met as damage */
};

/** Open a file. Its triggers and views do nothing, its functions are not trusted, and a statement
 *  ends with SQLITE_INTERRUPT when it takes more steps than a sound file of this size can need:
 * pages of a forged one may lead in circles. To read it does not change it, as far as SQLite can do
 * without: a log that a killed daemon left is folded in when it cannot be read as it lies there,
 * and read without where nothing can be written.
 *  @param file  stays where it is until it is closed. Closed when this fails
 *  @param why   set on failure: a sentence for people
 *  @return 0, -errno, -EIO for what SQLite reports, -HOLTER_EVERSION (of another version, or no
 * regular file), -HOLTER_EEMPTY (to be read, and not even tables are in it) or -HOLTER_ECORRUPT */
int recording_file_open(struct recording_file *file, const char *path, enum recording_access how,
                        char *why, size_t room);

/** From the next statement on until it is closed the file looks as it did then, though it goes on
 * being written: its tables fit together. Its log grows meanwhile: for those who read it once and
 * leave.
 *  @return 0 or as recording_file_error() */
int recording_file_hold(struct recording_file *file);

/** Also one that was never opened. */
void recording_file_close(struct recording_file *file);

/** @return 0, or -HOLTER_ECORRUPT for what a damaged file causes, -ENOMEM or -EIO for the rest */
int recording_file_error(const struct recording_file *file);

/** A statement, finalize it. @return 0 or as recording_file_error() */
int recording_file_prepare(struct recording_file *file, sqlite3_stmt **out, const char *sql);

/** Go on. @return 1: there is a row, 0: none is left, or as recording_file_error() */
int recording_file_step(struct recording_file *file, sqlite3_stmt *statement);

/** The first column of the only row. @return 0, -HOLTER_EEMPTY, or as recording_file_error() */
int recording_file_number(struct recording_file *file, const char *sql, int64_t *out);

/** Is there such a table? */
int recording_file_has(struct recording_file *file, const char *table);

/** @return 0 or -EIO */
int recording_file_run(struct recording_file *file, const char *sql);

/** Fold the write-ahead log into the file, as far as nobody reads it: waits for nobody. */
void recording_file_fold(struct recording_file *file);

#endif
