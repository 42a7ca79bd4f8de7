#include "daemon/recording.h"

#include "daemon/lock_file.h"
#include "daemon/recording_network.h"
#include "daemon/recording_tables.h"
#include "holter/error.h"

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

struct recording {
    sqlite3 *db;
    sqlite3_stmt *put_message;
    struct recording_tables *tables;
    ZSTD_CCtx *zstd;
    void *packed; /* owned */
    size_t packed_room;
    int lock;
    int open; /* a transaction is open */
    char path[520], lock_path[530];
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS messages(id INTEGER PRIMARY KEY, time_ns INTEGER, window INTEGER,"
    " type INTEGER, instance INTEGER, seq INTEGER, received_ns INTEGER, length INTEGER, zstd BLOB);"
    "CREATE INDEX IF NOT EXISTS messages_by_time ON messages(time_ns);";

static const char insert_message[] = "INSERT INTO messages VALUES(NULL,?,?,?,?,?,?,?,?)";

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

/* Tables of an older version become those of this one, all or none. */
static int make_tables(struct recording *r, int64_t version)
{
    char mark[128];
    snprintf(mark, sizeof(mark), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             RECORDING_APPLICATION, RECORDING_SCHEMA);
    if (run(r->db, "BEGIN IMMEDIATE") != 0)
        return -EIO;
    int code = run(r->db, schema);
    code = code != 0 ? code : tables_create(&r->tables, r->db, version);
    if (code == 0 && version < RECORDING_SCHEMA)
        code = run(r->db, mark);
    return code != 0 ? code : run(r->db, "COMMIT");
}

static int set_up(struct recording *r, char *why, size_t room)
{
    int64_t version = 0;
    sqlite3_busy_timeout(r->db, BUSY_MS);
    int code = check_kind(r->db, &version, why, room);
    if (code != 0)
        return code;
    /* A window's message takes a few KiB: several fit a page, without much of it left empty.
     * With a write-ahead log a commit costs no fsync: it survives this process, and the machine's
     * crash up to the last checkpoint (sqlite.org/wal.html). */
    if (run(r->db, "PRAGMA page_size=16384; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;") !=
            0 ||
        make_tables(r, version) != 0 ||
        sqlite3_prepare_v3(r->db, insert_message, -1, SQLITE_PREPARE_PERSISTENT, &r->put_message,
                           NULL) != SQLITE_OK) {
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
    sqlite3_stmt *s = r->put_message;
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

int recording_table(struct recording *r, enum wire_type type, const void *message)
{
    return begin(r) != 0 ? -EIO : tables_put(r->tables, type, message);
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
    sqlite3_finalize(r->put_message);
    tables_destroy(r->tables);
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

/* @param version  set on success */
static int open_to_read(const char *path, sqlite3 **out, int64_t *version)
{
    char why[256];
    /* Writable: what a killed daemon left in the log has to be folded in. */
    int code = sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK ? 0 : -EIO;
    sqlite3_busy_timeout(*out, BUSY_MS);
    code = code != 0 ? code : check_kind(*out, version, why, sizeof(why));
    if (code == 0 && *version == 0)
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
    int64_t version;
    if (open_to_read(path, &db, &version) != 0)
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

static const char select_messages[] =
    "SELECT time_ns, window, type, instance, seq, received_ns, zstd FROM messages ORDER BY id";

/* @param plain   room for the longest message
 * @param length  of the message in it
 * @return 0 or -HOLTER_ECORRUPT */
static int unpack(sqlite3_stmt *s, uint8_t *plain, struct recorded *head, size_t *length)
{
    *head = (struct recorded){
        .time_ns = (uint64_t)sqlite3_column_int64(s, 0),
        .window = (uint64_t)sqlite3_column_int64(s, 1),
        .type = (uint64_t)sqlite3_column_int64(s, 2),
        .instance = (uint64_t)sqlite3_column_int64(s, 3),
        .seq = (uint64_t)sqlite3_column_int64(s, 4),
        .received_ns = (uint64_t)sqlite3_column_int64(s, 5),
    };
    const void *packed = sqlite3_column_blob(s, 6);
    int bytes = sqlite3_column_bytes(s, 6);
    *length = ZSTD_decompress(plain, WIRE_MESSAGE_BYTES, packed, (size_t)bytes);
    return packed == NULL || ZSTD_isError(*length) ? -HOLTER_ECORRUPT : 0;
}

static int read_messages(sqlite3 *db, const struct recording_reader *reader)
{
    sqlite3_stmt *s;
    uint8_t *plain = malloc(WIRE_MESSAGE_BYTES);
    if (plain == NULL)
        return -ENOMEM;
    if (sqlite3_prepare_v2(db, select_messages, -1, &s, NULL) != SQLITE_OK) {
        free(plain);
        return -HOLTER_ECORRUPT;
    }
    int code = 0, step = SQLITE_DONE;
    while (code == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct recorded head;
        size_t length;
        code = unpack(s, plain, &head, &length);
        code = code != 0 ? code : reader->message(reader->user, &head, plain, length);
    }
    sqlite3_finalize(s);
    free(plain);
    return code != 0 ? code : step == SQLITE_DONE ? 0 : -HOLTER_ECORRUPT;
}

int recording_read(const char *path, const struct recording_reader *reader)
{
    sqlite3 *db;
    int64_t version;
    int code = open_to_read(path, &db, &version);
    if (code != 0)
        return code;
    code = tables_read_alerts(db, version, reader->alert, reader->user);
    code = code != 0 ? code : read_messages(db, reader);
    sqlite3_close(db);
    return code;
}

/* ---- message by message ----------------------------------------------------- */

struct recording_cursor {
    sqlite3 *db;
    sqlite3_stmt *messages;
    uint8_t *plain; /* owned */
    char job[65];
    uint64_t window_ns;
};

void recording_cursor_close(struct recording_cursor *c)
{
    if (c == NULL)
        return;
    sqlite3_finalize(c->messages);
    sqlite3_close(c->db);
    free(c->plain);
    free(c);
}

/* What the first window says, as the row of the job may be missing: the daemon was killed before it. */
static int read_first(struct recording_cursor *c)
{
    sqlite3_stmt *s;
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    size_t length;
    if (sqlite3_prepare_v2(c->db,
                           "SELECT time_ns, window, type, instance, seq, received_ns, zstd"
                           " FROM messages WHERE type = 7 ORDER BY id LIMIT 1",
                           -1, &s, NULL) != SQLITE_OK)
        return -HOLTER_ECORRUPT;
    int code = sqlite3_step(s) == SQLITE_ROW ? unpack(s, c->plain, &head, &length) : -HOLTER_EEMPTY;
    code = code != 0 ? code : wire_decode(&message, &arena, c->plain, length, NULL);
    if (code == 0 && message.type == WIRE_TYPE_WINDOW) {
        snprintf(c->job, sizeof(c->job), "%s", message.window.job);
        c->window_ns = message.window.length_ns;
    }
    sqlite3_finalize(s);
    wire_arena_finish(&arena);
    return code != 0 ? code : c->window_ns == 0 ? -HOLTER_ECORRUPT : 0;
}

static int read_heads(struct recording_cursor *c)
{
    int64_t window_ns = 0;
    int code = read_first(c);
    if (code == 0 && number_of(c->db, "SELECT window_ns FROM job", &window_ns) == 0 &&
        window_ns > 0)
        c->window_ns = (uint64_t)window_ns;
    if (code == 0 &&
        sqlite3_prepare_v2(c->db, select_messages, -1, &c->messages, NULL) != SQLITE_OK)
        code = -HOLTER_ECORRUPT;
    return code;
}

int recording_cursor_open(struct recording_cursor **out, const char *path, char *why, size_t room)
{
    int64_t version;
    struct recording_cursor *c = calloc(1, sizeof(*c));
    if (c != NULL)
        c->plain = malloc(WIRE_MESSAGE_BYTES);
    int code = c == NULL || c->plain == NULL ? -ENOMEM
               : access(path, R_OK) != 0     ? -errno
                                             : open_to_read(path, &c->db, &version);
    struct stat kind;
    int directory = code == -EIO && stat(path, &kind) == 0 && S_ISDIR(kind.st_mode);
    const char *what = directory                  ? holter_strerror(-EISDIR)
                       : code == -HOLTER_ECORRUPT ? "damaged, or no recording at all"
                       : code == -HOLTER_EVERSION ? "not a recording of this version of Holter"
                                                  : holter_strerror(code);
    if (code == 0 && (code = read_heads(c)) != 0)
        what = code == -HOLTER_EEMPTY ? "there is no window in it" : holter_strerror(code);
    if (code != 0) {
        snprintf(why, room, "%s: %s", path, what);
        recording_cursor_close(c);
        return code;
    }
    *out = c;
    return 0;
}

const char *recording_cursor_job(const struct recording_cursor *c)
{
    return c->job;
}

uint64_t recording_cursor_window_ns(const struct recording_cursor *c)
{
    return c->window_ns;
}

int recording_cursor_network(struct recording_cursor *c, struct network_parts *out)
{
    return network_tables_read(c->db, out);
}

int recording_cursor_next(struct recording_cursor *c, struct recorded *head, const void **bytes,
                          size_t *length)
{
    int step = sqlite3_step(c->messages);
    if (step != SQLITE_ROW)
        return step == SQLITE_DONE ? 0 : -HOLTER_ECORRUPT;
    *bytes = c->plain;
    int code = unpack(c->messages, c->plain, head, length);
    return code != 0 ? code : 1;
}
