#include "daemon/recording.h"

#include "daemon/lock_file.h"
#include "holter/error.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* Windows are taken in at the rate of thousands a second: 11 us each, to 43 % of their size. Level 1
 * takes 20 us, to 36 %. */
#define ZSTD_LEVEL (-2)
#define BUSY_MS 2000 /* a reader's checkpoint may hold the file for a moment */
#define MOST_FILES 10000u

enum statement { PUT_MESSAGE, PUT_JOB, PUT_NODE, PUT_PLACE, PUT_TOTALS, PUT_ALERT, STATEMENTS };

struct recording {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    ZSTD_CCtx *zstd;
    void *packed; /* owned */
    size_t packed_room;
    int lock;
    int open; /* a transaction is open */
    char path[520], lock_path[530];
};

/* The table of totals has the columns of the message, so that it cannot fall behind it. */
#define SQL_U64(name) #name " INTEGER, "
#define SQL_STR(name)
#define SQL_COLUMN(key, kind, name, limit, need, doc) SQL_##kind(name)
#define MARK_U64(name) "?,"
#define MARK_STR(name)
#define MARK_COLUMN(key, kind, name, limit, need, doc) MARK_##kind(name)

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS job(one INTEGER PRIMARY KEY CHECK(one = 1), job TEXT, state TEXT, "
    "app TEXT,"
    " command TEXT, mpi TEXT, user TEXT, world INTEGER, seen INTEGER, start_ns INTEGER, end_ns "
    "INTEGER,"
    " window_ns INTEGER, holter TEXT);"
    "CREATE TABLE IF NOT EXISTS messages(id INTEGER PRIMARY KEY, time_ns INTEGER, window INTEGER, "
    "type INTEGER,"
    " instance INTEGER, seq INTEGER, received_ns INTEGER, length INTEGER, zstd BLOB);"
    "CREATE INDEX IF NOT EXISTS messages_by_time ON messages(time_ns);"
    "CREATE TABLE IF NOT EXISTS nodes(node INTEGER PRIMARY KEY, host TEXT);"
    "CREATE TABLE IF NOT EXISTS places(rank INTEGER PRIMARY KEY, node INTEGER, pid INTEGER, cores "
    "TEXT);"
    "CREATE TABLE IF NOT EXISTS totals(" WIRE_TOTALS(
        SQL_COLUMN) "PRIMARY KEY(window));"
                    "CREATE TABLE IF NOT EXISTS alerts(id INTEGER PRIMARY KEY, kind TEXT, state "
                    "TEXT, since_ns INTEGER,"
                    " updated_ns INTEGER, title TEXT, text TEXT, rank INTEGER, host TEXT);";

static const char *const sql[STATEMENTS] = {
    [PUT_MESSAGE] = "INSERT INTO messages VALUES(NULL,?,?,?,?,?,?,?,?)",
    [PUT_JOB] = "INSERT OR REPLACE INTO job VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?)",
    [PUT_NODE] = "INSERT OR REPLACE INTO nodes VALUES(?,?)",
    [PUT_PLACE] = "INSERT OR REPLACE INTO places VALUES(?,?,?,?)",
    [PUT_TOTALS] = NULL, /* made from totals_marks */
    [PUT_ALERT] = "INSERT OR REPLACE INTO alerts VALUES(?,?,?,?,?,?,?,?,?)",
};

static const char totals_marks[] = WIRE_TOTALS(MARK_COLUMN);

/* ---- opening ------------------------------------------------------------- */

static int run(sqlite3 *db, const char *text)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

static int number_of(sqlite3 *db, const char *pragma, int64_t *out)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, pragma, -1, &statement, NULL) != SQLITE_OK)
        return -EIO;
    int code = sqlite3_step(statement) == SQLITE_ROW ? 0 : -EIO;
    *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code;
}

/* Is it a recording that this version understands, or nothing yet? */
static int check_kind(sqlite3 *db, int64_t *version, char *why, size_t room)
{
    int64_t application = 0, tables = 0;
    if (number_of(db, "PRAGMA application_id", &application) != 0 ||
        number_of(db, "PRAGMA user_version", version) != 0 ||
        number_of(db, "SELECT count(*) FROM sqlite_master", &tables) != 0) {
        snprintf(why, room, "%s", sqlite3_errmsg(db));
        return sqlite3_errcode(db) == SQLITE_NOTADB || sqlite3_errcode(db) == SQLITE_CORRUPT
                   ? -HOLTER_ECORRUPT
                   : -EIO;
    }
    if (application == RECORDING_APPLICATION && *version <= RECORDING_SCHEMA)
        return 0;
    if (application == 0 && tables == 0)
        return 0;
    snprintf(why, room,
             "not a recording of this version of Holter (application %" PRId64 ", schema %" PRId64
             ")",
             application, *version);
    return -HOLTER_EVERSION;
}

static int prepare(struct recording *r)
{
    char totals[sizeof(totals_marks) + 64];
    snprintf(totals, sizeof(totals), "INSERT OR REPLACE INTO totals VALUES(%.*s)",
             (int)sizeof(totals_marks) - 2, totals_marks);
    for (int i = 0; i < STATEMENTS; i++) {
        const char *text = i == PUT_TOTALS ? totals : sql[i];
        if (sqlite3_prepare_v3(r->db, text, -1, SQLITE_PREPARE_PERSISTENT, &r->statements[i],
                               NULL) != SQLITE_OK)
            return -EIO;
    }
    return 0;
}

static int set_up(struct recording *r, char *why, size_t room)
{
    int64_t version = 0;
    sqlite3_busy_timeout(r->db, BUSY_MS);
    int code = check_kind(r->db, &version, why, room);
    if (code != 0)
        return code;
    char mark[128];
    snprintf(mark, sizeof(mark), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             RECORDING_APPLICATION, RECORDING_SCHEMA);
    /* A window's message takes a few KiB: several fit a page, without much of it left empty.
     * With a write-ahead log a commit costs no fsync: it survives this process, and the machine's
     * crash up to the last checkpoint (sqlite.org/wal.html). */
    if (run(r->db, "PRAGMA page_size=16384; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;") !=
            0 ||
        (version == 0 && run(r->db, mark) != 0) || run(r->db, schema) != 0 || prepare(r) != 0) {
        snprintf(why, room, "%s", sqlite3_errmsg(r->db));
        return -EIO;
    }
    return 0;
}

int recording_open(struct recording **out, const char *path, char *why, size_t room)
{
    struct recording *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        snprintf(why, room, "no memory");
        return -ENOMEM;
    }
    snprintf(r->path, sizeof(r->path), "%s", path);
    snprintf(r->lock_path, sizeof(r->lock_path), "%s.lock", path);
    r->lock = lock_file_take(r->lock_path);
    if (r->lock < 0) {
        int code = r->lock;
        snprintf(why, room,
                 code == -EWOULDBLOCK ? "%s: another daemon is writing it"
                                      : "%s: cannot be locked: %s",
                 path, holter_strerror(code));
        free(r);
        return code;
    }
    r->zstd = ZSTD_createCCtx();
    int code = r->zstd == NULL ? -ENOMEM : 0;
    if (code == 0 && sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                     NULL) != SQLITE_OK) {
        snprintf(why, room, "%s: %s", path, sqlite3_errmsg(r->db));
        code = -EIO;
    }
    char fault[256] = "no memory";
    if (code == 0 && (code = set_up(r, fault, sizeof(fault))) != 0)
        snprintf(why, room, "%s: %s", path, fault);
    if (code != 0) {
        recording_abandon(r);
        return code;
    }
    *out = r;
    return 0;
}

/* ---- keeping ------------------------------------------------------------- */

static int begin(struct recording *r)
{
    if (r->open)
        return 0;
    if (run(r->db, "BEGIN IMMEDIATE") != 0)
        return -EIO;
    r->open = 1;
    return 0;
}

/* Unsigned numbers keep their bits: SQLite's integers are signed. */
static void bind_number(sqlite3_stmt *statement, int at, uint64_t number)
{
    sqlite3_bind_int64(statement, at, (sqlite3_int64)number);
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text == NULL ? "" : text, -1, SQLITE_STATIC);
}

static int put(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -EIO;
}

int recording_message(struct recording *r, const struct recorded *head, const void *bytes,
                      size_t length)
{
    size_t bound = ZSTD_compressBound(length);
    if (bound > r->packed_room) {
        void *packed = realloc(r->packed, bound);
        if (packed == NULL)
            return -ENOMEM;
        r->packed = packed;
        r->packed_room = bound;
    }
    size_t packed =
        ZSTD_compressCCtx(r->zstd, r->packed, r->packed_room, bytes, length, ZSTD_LEVEL);
    if (ZSTD_isError(packed))
        return -ENOMEM;
    if (begin(r) != 0)
        return -EIO;
    sqlite3_stmt *s = r->statements[PUT_MESSAGE];
    bind_number(s, 1, head->time_ns);
    bind_number(s, 2, head->window);
    bind_number(s, 3, head->type);
    bind_number(s, 4, head->instance);
    bind_number(s, 5, head->seq);
    bind_number(s, 6, head->received_ns);
    bind_number(s, 7, length);
    sqlite3_bind_blob64(s, 8, r->packed, packed, SQLITE_STATIC);
    return put(s);
}

static int put_job(struct recording *r, const struct wire_job *m)
{
    sqlite3_stmt *s = r->statements[PUT_JOB];
    bind_text(s, 1, m->job);
    bind_text(s, 2, m->state);
    bind_text(s, 3, m->app);
    bind_text(s, 4, m->command);
    bind_text(s, 5, m->mpi);
    bind_text(s, 6, m->user);
    bind_number(s, 7, m->world);
    bind_number(s, 8, m->seen);
    bind_number(s, 9, m->start_ns);
    bind_number(s, 10, m->end_ns);
    bind_number(s, 11, m->window_ns);
    bind_text(s, 12, HOLTER_VERSION);
    return put(s);
}

static int put_places(struct recording *r, const struct wire_places *m)
{
    for (uint64_t i = 0; i < m->hosts_count; i++) {
        sqlite3_stmt *s = r->statements[PUT_NODE];
        bind_number(s, 1, i);
        bind_text(s, 2, m->hosts[i].name);
        if (put(s) != 0)
            return -EIO;
    }
    for (uint64_t i = 0; i < m->places_count; i++) {
        sqlite3_stmt *s = r->statements[PUT_PLACE];
        bind_number(s, 1, m->places[i].rank);
        bind_number(s, 2, m->places[i].node);
        bind_number(s, 3, m->places[i].pid);
        bind_text(s, 4, m->places[i].placement);
        if (put(s) != 0)
            return -EIO;
    }
    return 0;
}

static int put_totals(struct recording *r, const struct wire_totals *m)
{
    sqlite3_stmt *s = r->statements[PUT_TOTALS];
    int at = 0;
#define BIND_U64(name) bind_number(s, ++at, m->name);
#define BIND_STR(name)
#define BIND_COLUMN(key, kind, name, limit, need, doc) BIND_##kind(name)
    WIRE_TOTALS(BIND_COLUMN)
    return put(s);
}

static int put_alert(struct recording *r, const struct wire_alert *m)
{
    sqlite3_stmt *s = r->statements[PUT_ALERT];
    bind_number(s, 1, m->id);
    bind_text(s, 2, m->kind);
    bind_text(s, 3, m->state);
    bind_number(s, 4, m->since_ns);
    bind_number(s, 5, m->updated_ns);
    bind_text(s, 6, m->title);
    bind_text(s, 7, m->text);
    sqlite3_bind_int64(s, 8, m->rank);
    bind_text(s, 9, m->host);
    return put(s);
}

int recording_table(struct recording *r, enum wire_type type, const void *message)
{
    if (begin(r) != 0)
        return -EIO;
    switch (type) {
    case WIRE_TYPE_JOB:
        return put_job(r, message);
    case WIRE_TYPE_PLACES:
        return put_places(r, message);
    case WIRE_TYPE_TOTALS:
        return put_totals(r, message);
    case WIRE_TYPE_ALERT:
        return put_alert(r, message);
    default:
        return 0;
    }
}

int recording_commit(struct recording *r)
{
    if (!r->open)
        return 0;
    if (run(r->db, "COMMIT") != 0)
        return -EIO;
    r->open = 0;
    return 0;
}

/* ---- closing ------------------------------------------------------------- */

void recording_abandon(struct recording *r)
{
    if (r == NULL)
        return;
    if (r->open)
        run(r->db, "ROLLBACK");
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(r->statements[i]);
    sqlite3_close(r->db);
    ZSTD_freeCCtx(r->zstd);
    free(r->packed);
    lock_file_give(r->lock, r->lock_path);
    free(r);
}

int recording_close(struct recording *r)
{
    if (r == NULL)
        return 0;
    int code = recording_commit(r);
    /* One plain file is left, for whoever copies it. A reader may prevent that: then the log stays,
     * and is folded in by the next who opens the file. */
    run(r->db, "PRAGMA journal_mode=DELETE");
    recording_abandon(r);
    return code;
}

const char *recording_error(const struct recording *r)
{
    return sqlite3_errmsg(r->db);
}

void recording_limit(struct recording *r, unsigned pages)
{
    char text[64];
    snprintf(text, sizeof(text), "PRAGMA max_page_count=%u", pages);
    run(r->db, text);
}

static uint64_t file_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

uint64_t recording_bytes(const struct recording *r)
{
    char log[530];
    snprintf(log, sizeof(log), "%s-wal", r->path);
    return file_bytes(r->path) + file_bytes(log);
}

/* ---- finding and reading ------------------------------------------------- */

static int open_to_read(const char *path, sqlite3 **out)
{
    char why[256];
    int64_t version;
    /* Writable: what a killed daemon left in the log has to be folded in. */
    int code = sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK ? 0 : -EIO;
    sqlite3_busy_timeout(*out, BUSY_MS);
    code = code != 0 ? code : check_kind(*out, &version, why, sizeof(why));
    if (code == 0 && version != RECORDING_SCHEMA)
        code = -HOLTER_EVERSION;
    if (code != 0) {
        sqlite3_close(*out);
        *out = NULL;
    }
    return code;
}

static int may_continue(const char *path, uint64_t instance)
{
    sqlite3 *db;
    if (open_to_read(path, &db) != 0)
        return 0;
    char text[256];
    snprintf(text, sizeof(text),
             "SELECT EXISTS(SELECT 1 FROM messages WHERE instance=%" PRId64 ") OR "
             "NOT EXISTS(SELECT 1 FROM job WHERE state IN ('ended', 'died'))",
             (int64_t)instance);
    int64_t yes = 0;
    int code = number_of(db, text, &yes);
    sqlite3_close(db);
    return code == 0 && yes != 0;
}

static int path_of(const char *directory, const char *job, unsigned number, char *out, size_t room)
{
    char suffix[16] = "";
    if (number > 1)
        snprintf(suffix, sizeof(suffix), "-%u", number);
    int length = snprintf(out, room, "%s/holter-%s%s.hrec", directory, job, suffix);
    return length > 0 && (size_t)length < room ? 0 : -ENAMETOOLONG;
}

int recording_choose(const char *directory, const char *job, uint64_t instance, char *out,
                     size_t room, int *exists)
{
    unsigned number = 1;
    for (; number < MOST_FILES; number++) {
        if (path_of(directory, job, number, out, room) != 0)
            return -ENAMETOOLONG;
        if (access(out, F_OK) != 0)
            break;
    }
    *exists = 0;
    if (number == 1)
        return 0;
    char newest[520];
    if (path_of(directory, job, number - 1, newest, sizeof(newest)) == 0 &&
        may_continue(newest, instance)) {
        *exists = 1;
        return path_of(directory, job, number - 1, out, room);
    }
    return 0;
}

static const char *text_of(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    return text == NULL ? "" : (const char *)text;
}

static int read_alerts(sqlite3 *db, const struct recording_reader *reader)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(
            db,
            "SELECT id, kind, state, since_ns, updated_ns, title, text, rank, host FROM alerts "
            "ORDER BY id",
            -1, &s, NULL) != SQLITE_OK)
        return -HOLTER_ECORRUPT;
    int code = 0, step = SQLITE_DONE;
    while (code == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct wire_alert alert = {
            .job = "",
            .id = (uint64_t)sqlite3_column_int64(s, 0),
            .kind = text_of(s, 1),
            .state = text_of(s, 2),
            .since_ns = (uint64_t)sqlite3_column_int64(s, 3),
            .updated_ns = (uint64_t)sqlite3_column_int64(s, 4),
            .title = text_of(s, 5),
            .text = text_of(s, 6),
            .rank = sqlite3_column_int64(s, 7),
            .host = text_of(s, 8),
        };
        code = reader->alert(reader->user, &alert);
    }
    sqlite3_finalize(s);
    return code != 0 ? code : step == SQLITE_DONE ? 0 : -HOLTER_ECORRUPT;
}

/* @param plain  room for the longest message */
static int read_message(sqlite3_stmt *s, uint8_t *plain, const struct recording_reader *reader)
{
    struct recorded head = {
        .time_ns = (uint64_t)sqlite3_column_int64(s, 0),
        .window = (uint64_t)sqlite3_column_int64(s, 1),
        .type = (uint64_t)sqlite3_column_int64(s, 2),
        .instance = (uint64_t)sqlite3_column_int64(s, 3),
        .seq = (uint64_t)sqlite3_column_int64(s, 4),
        .received_ns = (uint64_t)sqlite3_column_int64(s, 5),
    };
    const void *packed = sqlite3_column_blob(s, 6);
    int bytes = sqlite3_column_bytes(s, 6);
    size_t length = ZSTD_decompress(plain, WIRE_MESSAGE_BYTES, packed, (size_t)bytes);
    if (packed == NULL || ZSTD_isError(length))
        return -HOLTER_ECORRUPT;
    return reader->message(reader->user, &head, plain, length);
}

static int read_messages(sqlite3 *db, const struct recording_reader *reader)
{
    sqlite3_stmt *s;
    uint8_t *plain = malloc(WIRE_MESSAGE_BYTES);
    if (plain == NULL)
        return -ENOMEM;
    if (sqlite3_prepare_v2(
            db,
            "SELECT time_ns, window, type, instance, seq, received_ns, zstd FROM messages "
            "ORDER BY id",
            -1, &s, NULL) != SQLITE_OK) {
        free(plain);
        return -HOLTER_ECORRUPT;
    }
    int code = 0, step = SQLITE_DONE;
    while (code == 0 && (step = sqlite3_step(s)) == SQLITE_ROW)
        code = read_message(s, plain, reader);
    sqlite3_finalize(s);
    free(plain);
    return code != 0 ? code : step == SQLITE_DONE ? 0 : -HOLTER_ECORRUPT;
}

int recording_read(const char *path, const struct recording_reader *reader)
{
    sqlite3 *db;
    int code = open_to_read(path, &db);
    if (code != 0)
        return code;
    code = read_alerts(db, reader);
    code = code != 0 ? code : read_messages(db, reader);
    sqlite3_close(db);
    return code;
}
