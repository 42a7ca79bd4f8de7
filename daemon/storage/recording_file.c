/* Opens recordings as SQLite databases, with limits against forged and damaged files, and runs
 * statements. */
#include "daemon/storage/recording_file.h"

#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS 2000        /* a checkpoint by a reader may lock the file for a moment */
#define MAX_CELL (64 << 20) /* maximum bytes of a value: packed blocks are smaller */
/* Steps of the virtual machine between two calls of the progress handler. */
#define STEPS_PER_CALLBACK 10000
#define STEPS_PER_BYTE 64u /* a row takes some bytes and some tens of steps */
#define MIN_STEPS 100000000u
/* SQLite allows 512 bytes (os_unix.c, MAX_PATHNAME), and the suffix of the log needs some. */
#define MAX_PATH 504u

/* How a file is opened: for reading as SQLite does; for reading with recovery of its log; for
 * writing; for reading where no file can be created beside it; for reading without its missing
 * end. */
enum open_mode { READ, RECOVER, WRITE, READ_ONLY_MEDIA, TRUNCATED };

/* ---- life ---------------------------------------------------------------- */

static int recording_file_count_steps(void *user)
{
    struct recording_file *file = user;
    file->steps += STEPS_PER_CALLBACK;
    return file->steps > file->max_steps;
}

static void recording_file_harden(struct recording_file *file, const char *path,
                                  enum open_mode open_mode)
{
    struct stat status;
    uint64_t bytes = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    sqlite3_busy_timeout(file->db, BUSY_MS);
    /* Only who may write the schema can open a truncated file; it is opened read-only. */
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, open_mode != TRUNCATED, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, open_mode == TRUNCATED, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(file->db, SQLITE_LIMIT_LENGTH, MAX_CELL);
    sqlite3_limit(file->db, SQLITE_LIMIT_ATTACHED, 0);
    file->max_steps = MIN_STEPS + STEPS_PER_BYTE * bytes;
    sqlite3_progress_handler(file->db, STEPS_PER_CALLBACK, recording_file_count_steps, file);
    if (open_mode == READ_ONLY_MEDIA) /* then the index of its log is in memory
                                         (sqlite.org/wal.html, section 6) */
        sqlite3_exec(file->db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
}

void recording_file_close(struct recording_file *file)
{
    sqlite3_close(file->db);
    file->db = NULL;
}

/* The last error. @return 0, -HOLTER_ECORRUPT for what a damaged file causes, -ENOMEM, or -EIO
 * for all others */
static int recording_file_error(const struct recording_file *file)
{
    switch (sqlite3_errcode(file->db)) {
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_INTERRUPT:
    case SQLITE_ERROR: /* no such table or column, or a view in its place */
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

int recording_file_query(struct recording_file *file, sqlite3_stmt **out, const char *sql)
{
    int code = recording_file_prepare(file, out, sql);
    return code != 0 ? code : recording_file_step(file, *out);
}

const char *recording_file_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text == NULL ? "" : (const char *)text;
}

int recording_file_number(struct recording_file *file, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int code = recording_file_query(file, &statement, sql);
    if (code == 1)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == 1 ? 0 : code == 0 ? -HOLTER_EEMPTY : code;
}

uint64_t recording_file_count(struct recording_file *file, const char *sql)
{
    int64_t number = 0;
    return recording_file_number(file, sql, &number) == 0 && number > 0 ? (uint64_t)number : 0;
}

int recording_file_has(struct recording_file *file, const char *table)
{
    char sql[160];
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '%s'", table);
    return recording_file_count(file, sql) == 1;
}

int recording_file_exec(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

int recording_file_make(sqlite3 *db, const char *schema, const char *const *texts, size_t count,
                        sqlite3_stmt **out)
{
    int code = schema == NULL ? 0 : recording_file_exec(db, schema);
    for (size_t i = 0; code == 0 && i < count; i++)
        if (sqlite3_prepare_v3(db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &out[i], NULL) !=
            SQLITE_OK)
            code = -EIO;
    return code;
}

/* ---- opening ------------------------------------------------------------- */

/* Of the header of a database, sqlite.org/fileformat2.html, section 1.3. */
#define HEAD_BYTES 100u

static uint64_t recording_file_big_endian(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* Size of the file according to its header, if that is valid; else 0. */
static uint64_t recording_file_bytes_in_header(const char *path)
{
    unsigned char head[HEAD_BYTES];
    FILE *in = fopen(path, "rbe");
    size_t got = in == NULL ? 0 : fread(head, 1, sizeof(head), in);
    if (in != NULL)
        fclose(in);
    if (got != sizeof(head) || memcmp(head, "SQLite format 3", 16) != 0 ||
        memcmp(head + 24, head + 92, 4) != 0)
        return 0;
    uint64_t page = recording_file_big_endian(head + 16, 2);
    return (page == 1 ? 65536 : page) * recording_file_big_endian(head + 28, 4);
}

static uint64_t recording_file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* Bytes missing at the end of a truncated copy. */
static uint64_t recording_file_missing_bytes(const char *path)
{
    uint64_t wanted = recording_file_bytes_in_header(path), there = recording_file_size(path);
    return there < wanted ? wanted - there : 0;
}

/* @return whether its content is in a log, by its header, and the log is not there */
static int recording_file_lacks_log(const char *path)
{
    char log[PATH_MAX + 16];
    unsigned char head[HEAD_BYTES] = {0};
    FILE *in = fopen(path, "rbe");
    size_t got = in == NULL ? 0 : fread(head, 1, sizeof(head), in);
    if (in != NULL)
        fclose(in);
    snprintf(log, sizeof(log), "%s-wal", path);
    return got == sizeof(head) && head[18] == 2 && recording_file_size(log) == 0;
}

/* SQLite calls a truncated copy malformed, and a text file as well: be more specific. */
static void recording_file_report_damaged(const char *path, enum recording_access how, char *why,
                                          size_t capacity)
{
    uint64_t there = recording_file_size(path), lacking = recording_file_missing_bytes(path);
    if (lacking > 0)
        snprintf(why, capacity, "cut short: %" PRIu64 " of its %" PRIu64 " bytes are there%s",
                 there, there + lacking,
                 how == RECORDING_SALVAGE ? ", too few for any message"
                                          : "; `holter cut` saves what can be read of it");
    else
        snprintf(why, capacity, "damaged, or no recording at all");
}

static size_t recording_file_full_path_length(const char *path)
{
    char *full = realpath(path, NULL);
    char *here = full == NULL && path[0] != '/' ? realpath(".", NULL) : NULL;
    size_t length = full != NULL ? strlen(full) : strlen(path);
    length += here != NULL ? strlen(here) + 1 : 0;
    free(full);
    free(here);
    return length;
}

/* SQLite does not report why it cannot open a file. */
static void recording_file_report_refused(const struct recording_file *file, const char *path,
                                          char *why, size_t capacity)
{
    int fault = sqlite3_system_errno(file->db);
    if (sqlite3_errcode(file->db) != SQLITE_CANTOPEN)
        snprintf(why, capacity, "%s", sqlite3_errmsg(file->db));
    else if (recording_file_full_path_length(path) > MAX_PATH)
        snprintf(why, capacity, "its path from / is longer than the %u bytes that SQLite takes",
                 MAX_PATH);
    else
        snprintf(why, capacity, "%s",
                 fault != 0 ? holter_strerror(-fault) : sqlite3_errmsg(file->db));
}

/* Is the file a recording of this version, or still empty? */
static int recording_file_check_kind(struct recording_file *file, const char *path, char *why,
                                     size_t capacity)
{
    int64_t application = 0, tables = 0;
    int code = recording_file_number(file, "PRAGMA application_id", &application);
    if (code == 0)
        code = recording_file_number(file, "PRAGMA user_version", &file->version);
    if (code == 0)
        code = recording_file_number(file, "SELECT count(*) FROM sqlite_master", &tables);
    if (code != 0) {
        recording_file_report_refused(file, path, why, capacity);
        return code;
    }
    int known = application == RECORDING_APPLICATION && file->version == RECORDING_SCHEMA;
    if (known || (application == 0 && file->version == 0 && tables == 0))
        return 0;
    if (application == RECORDING_APPLICATION)
        snprintf(why, capacity,
                 "made by %s version of Holter: schema %" PRId64 ", and this one reads %d",
                 file->version > RECORDING_SCHEMA ? "a newer" : "an older", file->version,
                 RECORDING_SCHEMA);
    else
        snprintf(why, capacity, "a SQLite database, and no recording of Holter");
    return -HOLTER_EVERSION;
}

/* SQLite would wait for the writer of a pipe, and has no error for a directory. */
static int recording_file_check_readable(const char *path, char *why, size_t capacity)
{
    struct stat status;
    int code = access(path, R_OK) != 0 || stat(path, &status) != 0 ? -errno
               : S_ISDIR(status.st_mode)                           ? -EISDIR
               : !S_ISREG(status.st_mode)                          ? -HOLTER_EVERSION
                                                                   : 0;
    if (code == -HOLTER_EVERSION)
        snprintf(why, capacity, "a pipe or device, and no file");
    else if (code != 0)
        snprintf(why, capacity, "%s", holter_strerror(code));
    return code;
}

static int recording_file_exists(const char *path, const char *suffix)
{
    char name[PATH_MAX + 16];
    snprintf(name, sizeof(name), "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

/* The name for SQLite: without changes "file:a" would be a URI, and ":memory:" no file. */
static void recording_file_make_name(const char *path, enum open_mode open_mode, char *out,
                                     size_t capacity)
{
    snprintf(out, capacity, "%s%s", open_mode == READ_ONLY_MEDIA ? "file:" : "",
             path[0] == '/' ? "" : "./");
    for (const char *p = path; *p != '\0'; p++) {
        int escaped = open_mode == READ_ONLY_MEDIA && strchr("%?#", *p) != NULL;
        text_append(out, capacity, escaped ? "%%%02X" : "%c", (unsigned char)*p);
    }
    /* Without a log nothing can change: the file alone is read. */
    if (open_mode == READ_ONLY_MEDIA)
        text_append(out, capacity,
                    recording_file_exists(path, "-wal") ? "?vfs=unix-none" : "?immutable=1");
}

static int recording_file_open_as(struct recording_file *file, const char *path,
                                  enum open_mode open_mode, char *why, size_t capacity)
{
    static const int flags[] = {SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, SQLITE_OPEN_READONLY};
    char name[3 * PATH_MAX + 40];
    recording_file_make_name(path, open_mode, name, sizeof(name));
    recording_file_close(file);
    int code = sqlite3_open_v2(name, &file->db, flags[open_mode], NULL) == SQLITE_OK
                   ? 0
                   : recording_file_error(file);
    if (code != 0) {
        recording_file_report_refused(file, path, why, capacity);
        return code;
    }
    recording_file_harden(file, path, open_mode);
    return recording_file_check_kind(file, path, why, capacity);
}

/* Can neither a log nor its index be created, as on read-only media, and is no process writing
 * the file? */
static int recording_file_is_read_only(const struct recording_file *file, const char *path)
{
    int code = sqlite3_errcode(file->db);
    return (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) &&
           !recording_file_exists(path, "-shm") && !recording_file_exists(path, "-journal");
}

static int recording_file_open_to_read(struct recording_file *file, const char *path,
                                       enum recording_access how, char *why, size_t capacity)
{
    int code = recording_file_check_readable(path, why, capacity);
    if (code != 0)
        return code;
    code = recording_file_open_as(file, path, READ, why, capacity);
    if (code == -EIO) /* a log without its index has to be recovered */
        code = recording_file_open_as(file, path, RECOVER, why, capacity);
    if (code == -EIO && recording_file_is_read_only(file, path))
        code = recording_file_open_as(file, path, READ_ONLY_MEDIA, why, capacity);
    if (code == -HOLTER_ECORRUPT && how == RECORDING_SALVAGE)
        file->lacking = recording_file_missing_bytes(path);
    if (file->lacking > 0)
        code = recording_file_open_as(file, path, TRUNCATED, why, capacity);
    if (code == 0 && file->version == 0) {
        snprintf(why, capacity, "nothing has been written to it yet%s",
                 recording_file_lacks_log(path) ? ", or it was copied while it was written, without"
                                                  " the -wal file beside it"
                                                : "");
        code = -HOLTER_EEMPTY;
    }
    return code;
}

int recording_file_open(struct recording_file *file, const char *path, enum recording_access how,
                        char *why, size_t capacity)
{
    char target[PATH_MAX];
    int code = -ENAMETOOLONG;
    *file = (struct recording_file){0};
    /* The log is beside the file that a link leads to. */
    if (how != RECORDING_WRITE && realpath(path, target) != NULL)
        path = target;
    if (strlen(path) >= PATH_MAX)
        snprintf(why, capacity, "%s", holter_strerror(code));
    else
        code = how == RECORDING_WRITE ? recording_file_open_as(file, path, WRITE, why, capacity)
                                      : recording_file_open_to_read(file, path, how, why, capacity);
    if (code == -HOLTER_ECORRUPT)
        recording_file_report_damaged(path, how, why, capacity);
    if (code != 0)
        recording_file_close(file);
    return code;
}

int recording_file_hold(struct recording_file *file)
{
    sqlite3_stmt *mode = NULL;
    int code = recording_file_query(file, &mode, "PRAGMA journal_mode");
    /* Without a log no process writes the file, and none can begin to while it is held. */
    int written = code == 1 && strcmp(recording_file_text(mode, 0), "wal") == 0;
    sqlite3_finalize(mode);
    if (code < 0)
        return code;
    file->steps = 0;
    return written ? recording_file_exec(file->db, "BEGIN") : 0;
}

void recording_file_checkpoint(struct recording_file *file)
{
    sqlite3_busy_timeout(file->db, 0);
    sqlite3_wal_checkpoint_v2(file->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(file->db, BUSY_MS);
}
