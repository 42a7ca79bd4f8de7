#include "daemon/recording_file.h"

#include "daemon/recording.h"
#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS 2000         /* a reader's checkpoint may hold the file for a moment */
#define MOST_CELL (64 << 20) /* bytes of a value: packed blocks are smaller */
#define STEPS_AT_ONCE 10000  /* of the virtual machine, between looks at their sum */
#define STEPS_A_BYTE 64u     /* a row takes some bytes, and some tens of steps */
#define STEPS_LEAST 100000000u

/* ---- life ---------------------------------------------------------------- */

static int count_steps(void *user)
{
    struct recording_file *file = user;
    file->steps += STEPS_AT_ONCE;
    return file->steps > file->most_steps;
}

static void harden(struct recording_file *file, const char *path)
{
    struct stat status;
    uint64_t bytes = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    sqlite3_busy_timeout(file->db, BUSY_MS);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(file->db, SQLITE_LIMIT_LENGTH, MOST_CELL);
    sqlite3_limit(file->db, SQLITE_LIMIT_ATTACHED, 0);
    file->most_steps = STEPS_LEAST + STEPS_A_BYTE * bytes;
    sqlite3_progress_handler(file->db, STEPS_AT_ONCE, count_steps, file);
}

void recording_file_close(struct recording_file *file)
{
    sqlite3_close(file->db);
    file->db = NULL;
}

int recording_file_error(const struct recording_file *file)
{
    switch (sqlite3_errcode(file->db)) {
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_INTERRUPT:
    case SQLITE_ERROR: /* no such table or column, a view in its place */
    case SQLITE_TOOBIG:
    case SQLITE_FORMAT:
    case SQLITE_MISMATCH:
        return -HOLTER_ECORRUPT;
    default:
        return -EIO;
    }
}

/* ---- statements ---------------------------------------------------------- */

int recording_file_prepare(struct recording_file *file, sqlite3_stmt **out, const char *sql)
{
    file->steps = 0;
    return sqlite3_prepare_v2(file->db, sql, -1, out, NULL) == SQLITE_OK
               ? 0
               : recording_file_error(file);
}

int recording_file_step(struct recording_file *file, sqlite3_stmt *statement)
{
    file->steps = 0;
    int step = sqlite3_step(statement);
    return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : recording_file_error(file);
}

int recording_file_number(struct recording_file *file, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int code = recording_file_prepare(file, &statement, sql);
    code = code != 0 ? code : recording_file_step(file, statement);
    if (code == 1)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == 1 ? 0 : code == 0 ? -HOLTER_EEMPTY : code;
}

int recording_file_has(struct recording_file *file, const char *table)
{
    char sql[160];
    int64_t count = 0;
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '%s'", table);
    return recording_file_number(file, sql, &count) == 0 && count == 1;
}

int recording_file_run(struct recording_file *file, const char *sql)
{
    file->steps = 0;
    return sqlite3_exec(file->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

/* ---- opening ------------------------------------------------------------- */

#define HEAD_BYTES 100u /* of a database, sqlite.org/fileformat2.html, section 1.3 */

static uint64_t big_endian(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* Bytes that the file has by its head, where that can be relied on; else 0. */
static uint64_t bytes_by_head(const char *path)
{
    unsigned char head[HEAD_BYTES];
    FILE *in = fopen(path, "rbe");
    size_t got = in == NULL ? 0 : fread(head, 1, sizeof(head), in);
    if (in != NULL)
        fclose(in);
    if (got != sizeof(head) || memcmp(head, "SQLite format 3", 16) != 0 ||
        memcmp(head + 24, head + 92, 4) != 0)
        return 0;
    uint64_t page = big_endian(head + 16, 2);
    return (page == 1 ? 65536 : page) * big_endian(head + 28, 4);
}

/* SQLite says of a copy that was broken off that it is malformed, and of a text as well. */
static void say_damaged(const char *path, char *why, size_t room)
{
    struct stat status;
    uint64_t wanted = bytes_by_head(path);
    if (wanted > 0 && stat(path, &status) == 0 && (uint64_t)status.st_size < wanted)
        snprintf(why, room, "cut short: %" PRIu64 " of its %" PRIu64 " bytes are there",
                 (uint64_t)status.st_size, wanted);
    else
        snprintf(why, room, "damaged, or no recording at all");
}

/* Is it a recording that this version understands, or nothing yet? */
static int check_kind(struct recording_file *file, char *why, size_t room)
{
    int64_t application = 0, tables = 0;
    int code = recording_file_number(file, "PRAGMA application_id", &application);
    if (code == 0)
        code = recording_file_number(file, "PRAGMA user_version", &file->version);
    if (code == 0)
        code = recording_file_number(file, "SELECT count(*) FROM sqlite_master", &tables);
    if (code != 0) {
        snprintf(why, room, "%s", sqlite3_errmsg(file->db));
        return code;
    }
    int known = application == RECORDING_APPLICATION && file->version >= 1 &&
                file->version <= RECORDING_SCHEMA;
    if (known || (application == 0 && file->version == 0 && tables == 0))
        return 0;
    snprintf(why, room,
             "not a recording of this version of Holter (application %" PRId64 ", schema %" PRId64
             ")",
             application, file->version);
    return -HOLTER_EVERSION;
}

static int open_as(struct recording_file *file, const char *path, int flags, char *why, size_t room)
{
    int code =
        sqlite3_open_v2(path, &file->db, flags, NULL) == SQLITE_OK ? 0 : recording_file_error(file);
    if (code != 0) {
        snprintf(why, room, "%s", sqlite3_errmsg(file->db));
        return code;
    }
    harden(file, path);
    return check_kind(file, why, room);
}

/* SQLite would wait for a writer of a pipe, and has no words for a directory. */
static int check_readable(const char *path, char *why, size_t room)
{
    struct stat status;
    int code = access(path, R_OK) != 0 || stat(path, &status) != 0 ? -errno
               : S_ISDIR(status.st_mode)                           ? -EISDIR
               : !S_ISREG(status.st_mode)                          ? -HOLTER_EVERSION
                                                                   : 0;
    if (code == -HOLTER_EVERSION)
        snprintf(why, room, "a pipe or device, and no file");
    else if (code != 0)
        snprintf(why, room, "%s", holter_strerror(code));
    return code;
}

int recording_file_open(struct recording_file *file, const char *path, enum recording_access how,
                        char *why, size_t room)
{
    int refused = how == RECORDING_READ ? check_readable(path, why, room) : 0;
    if (refused != 0)
        return refused;
    int flags =
        how == RECORDING_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int code = open_as(file, path, flags, why, room);
    if (code == -EIO && how == RECORDING_READ) { /* a log without its index has to be recovered */
        recording_file_close(file);
        code = open_as(file, path, SQLITE_OPEN_READWRITE, why, room);
    }
    if (code == 0 && how == RECORDING_READ && file->version == 0) {
        snprintf(why, room, "nothing has been written to it yet");
        code = -HOLTER_EVERSION;
    }
    if (code == -HOLTER_ECORRUPT)
        say_damaged(path, why, room);
    if (code != 0)
        recording_file_close(file);
    return code;
}

int recording_file_hold(struct recording_file *file)
{
    sqlite3_stmt *mode = NULL;
    int code = recording_file_prepare(file, &mode, "PRAGMA journal_mode");
    code = code != 0 ? code : recording_file_step(file, mode);
    const char *name = code == 1 ? (const char *)sqlite3_column_text(mode, 0) : NULL;
    /* Without a log nobody writes it, and nobody could begin to while it is held. */
    int written = name != NULL && strcmp(name, "wal") == 0;
    sqlite3_finalize(mode);
    if (code < 0)
        return code;
    return written ? recording_file_run(file, "BEGIN") : 0;
}
