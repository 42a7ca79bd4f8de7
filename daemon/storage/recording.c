/* Writes a recording: collects messages in a block, puts blocks and rows of the plain tables into
 * the SQLite database, and commits. */
#include "daemon/storage/recording.h"

#include "daemon/analysis/tables/key_table.h"
#include "daemon/storage/block/block.h"
#include "daemon/storage/lock_file.h"
#include "daemon/storage/recording_bind.h"
#include "daemon/storage/recording_file.h"
#include "daemon/storage/recording_tables.h"
#include "holter/error.h"
#include "holter/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEVEL 1 /* of Zstandard */
#define MAX_AGENTS (1u << 22)
#define RESERVE_BYTES (128 << 10) /* some pages of the log */

enum statement { PUT_BLOCK, PUT_AGENT, STATEMENTS };

struct recording {
    struct recording_file file;
    sqlite3_stmt *statements[STATEMENTS];
    struct recording_tables *tables;
    struct block_writer *block;
    struct key_table agents; /* hi: instance; index: number of the agent in the file */
    uint64_t next;           /* number of the next message */
    uint64_t begin_ns;       /* arrival of the first message in the block */
    uint64_t end_ns;         /* arrival of the last message */
    uint64_t others;         /* messages in the block other than windows */
    int lock;
    int identity_fd; /* O_PATH: identifies the file even when its name changes; -1: none */
    int reserve_fd;  /* see recording_open_reserve(); -1: none */
    int open;        /* a transaction is open */
    int fault;       /* errno of a commit that failed: sqlite3_system_errno() does not know it */
    char path[520], lock_path[530];
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS block(first INTEGER PRIMARY KEY, messages INTEGER, begin_ns "
    "INTEGER,"
    " end_ns INTEGER, length INTEGER, others INTEGER, data BLOB);"
    "CREATE INDEX IF NOT EXISTS block_by_time ON block(begin_ns);"
    "CREATE TABLE IF NOT EXISTS agent(agent INTEGER PRIMARY KEY, instance INTEGER,"
    " since_ns INTEGER);"
    "CREATE TABLE IF NOT EXISTS part(one INTEGER PRIMARY KEY CHECK(one = 1), part INTEGER,"
    " removed_ns INTEGER, attached_ns INTEGER, missed INTEGER);"
    "CREATE TABLE IF NOT EXISTS stopped(one INTEGER PRIMARY KEY CHECK(one = 1), at_ns INTEGER,"
    " why TEXT);"
    "DELETE FROM stopped;" /* this recording is continued */
    /* Finds the blocks that have messages other than windows without reading all rows. */
    "CREATE INDEX IF NOT EXISTS block_others ON block(others) WHERE others IS NOT 0";

static const char *const texts[STATEMENTS] = {
    [PUT_BLOCK] = "INSERT INTO block(first, messages, begin_ns, end_ns, length, data, others)"
                  " VALUES(?,?,?,?,?,?,?)",
    [PUT_AGENT] = "INSERT INTO agent(agent, instance, since_ns) VALUES(?,?,?)",
};

/* A file without a name is lost when it is closed. */
static int recording_is_removed(const struct recording *r)
{
    struct stat status;
    return r->identity_fd >= 0 && fstat(r->identity_fd, &status) == 0 && status.st_nlink == 0;
}

/* Hold space on the disk in a file without a name, which is gone with this process: closing it
 * makes room to write why the recording ends. Without it that may not be possible. */
static void recording_open_reserve(struct recording *r)
{
    char path[540];
    snprintf(path, sizeof(path), "%s.reserve", r->path);
    r->reserve_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (r->reserve_fd >= 0) {
        unlink(path);
        posix_fallocate(r->reserve_fd, 0, RESERVE_BYTES);
    }
}

static void recording_release_reserve(struct recording *r)
{
    if (r->reserve_fd >= 0)
        close(r->reserve_fd);
    r->reserve_fd = -1;
}

/* Close without committing. @param made  the file was created by this open: remove it */
static void recording_abandon_file(struct recording *r, int made)
{
    if (r == NULL)
        return;
    if (r->open)
        recording_file_exec(r->file.db, "ROLLBACK");
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(r->statements[i]);
    recording_tables_destroy(r->tables);
    recording_file_close(&r->file);
    block_writer_destroy(r->block);
    key_table_finish(&r->agents);
    if (made || (recording_is_removed(r) &&
                 access(r->path, F_OK) != 0)) /* SQLite leaves its log in this case */
        recording_remove(r->path);
    if (r->identity_fd >= 0)
        close(r->identity_fd);
    recording_release_reserve(r);
    lock_file_release(r->lock, r->lock_path);
    free(r);
}

/* ---- opening ------------------------------------------------------------- */

/* Create what a new file lacks, all tables or none. */
static int recording_make_tables(struct recording *r)
{
    sqlite3 *db = r->file.db;
    char mark[128];
    snprintf(mark, sizeof(mark), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             RECORDING_APPLICATION, RECORDING_SCHEMA);
    if (recording_file_exec(db, "BEGIN IMMEDIATE") != 0)
        return -EIO;
    int code = recording_file_make(db, schema, texts, STATEMENTS, r->statements);
    code = code != 0 ? code : recording_tables_create(&r->tables, db);
    if (code == 0 && r->file.version < RECORDING_SCHEMA)
        code = recording_file_exec(db, mark);
    return code != 0 ? code : recording_file_exec(db, "COMMIT");
}

/* Load the agents of a file that is continued. */
static int recording_load_agents(struct recording *r)
{
    sqlite3_stmt *s = NULL;
    int code = recording_file_prepare(&r->file, &s, "SELECT agent, instance FROM agent ORDER BY 1");
    int row = code;
    while (code == 0 && (row = recording_file_step(&r->file, s)) == 1) {
        struct key key = {.hi = (uint64_t)sqlite3_column_int64(s, 1)};
        if (key_table_reserve(&r->agents, 1) != 0)
            code = -ENOMEM;
        else if (sqlite3_column_int64(s, 0) != (int64_t)r->agents.count ||
                 r->agents.count >= MAX_AGENTS ||
                 key_table_add(&r->agents, key) + 1 != r->agents.count)
            code = -HOLTER_ECORRUPT;
    }
    sqlite3_finalize(s);
    return code != 0 ? code : row;
}

/* Find the number of the next message in a file that is continued. */
static int recording_find_end(struct recording *r)
{
    int64_t end = 1;
    int code = recording_file_number(
        &r->file, "SELECT first + messages FROM block ORDER BY first DESC LIMIT 1", &end);
    code = code == -HOLTER_EEMPTY ? 0 : code;
    if (code == 0 && (end < 1 || end > INT64_MAX / 2))
        code = -HOLTER_ECORRUPT;
    r->next = (uint64_t)end;
    return code;
}

static int recording_set_up(struct recording *r, char *why, size_t capacity)
{
    sqlite3 *db = r->file.db;
    /* With a write-ahead log a commit costs no fsync: it survives this process, and the machine's
     * crash up to the last checkpoint (sqlite.org/wal.html). */
    int code = recording_file_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
    code = code != 0 ? code : recording_make_tables(r);
    code = code != 0 ? code : recording_load_agents(r);
    code = code != 0 ? code : recording_find_end(r);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    if (code != 0)
        snprintf(why, capacity, "%s",
                 code == -HOLTER_ECORRUPT || code == -ENOMEM ? holter_strerror(code)
                                                             : recording_error(r));
    return code;
}

/* Of all files of a recording: SQLite follows links, and reads and writes what it finds. */
static int recording_check_shared_files(const char *path, char *why, size_t capacity)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", ".lock"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[PATH_MAX];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        if (session_check_shared_file(name, why, capacity) != 0)
            return -EACCES;
    }
    return 0;
}

int recording_open(struct recording **out, const char *path, char *why, size_t capacity)
{
    if (recording_check_shared_files(path, why, capacity) != 0)
        return -EACCES;
    struct recording *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        snprintf(why, capacity, "no memory");
        return -ENOMEM;
    }
    r->identity_fd = r->reserve_fd = -1;
    snprintf(r->path, sizeof(r->path), "%s", path);
    snprintf(r->lock_path, sizeof(r->lock_path), "%s.lock", path);
    r->lock = lock_file_acquire(r->lock_path);
    if (r->lock < 0) {
        int code = r->lock;
        snprintf(why, capacity,
                 code == -EWOULDBLOCK ? "%s: another daemon is writing it" : "%s: %s", path,
                 holter_strerror(code));
        free(r);
        return code;
    }
    char fault[256] = "no memory";
    int made = access(path, F_OK) != 0;
    int code = block_writer_create(&r->block);
    code = code != 0 ? code
                     : recording_file_open(&r->file, path, RECORDING_WRITE, fault, sizeof(fault));
    code = code != 0 ? code : recording_set_up(r, fault, sizeof(fault));
    if (code != 0) {
        snprintf(why, capacity, "%s: %s", path, fault);
        recording_abandon_file(r, made);
        return code;
    }
    r->identity_fd = open(
        path,
        O_PATH |
            O_CLOEXEC); /* closing an O_PATH descriptor does not release SQLite's POSIX locks */
    recording_open_reserve(r);
    *out = r;
    return 0;
}

const char *recording_error_without_path(const char *why, const char *path)
{
    size_t length = strlen(path);
    return strncmp(why, path, length) == 0 && strncmp(why + length, ": ", 2) == 0 ? why + length + 2
                                                                                  : why;
}

/* ---- writing ------------------------------------------------------------- */

int recording_begin(struct recording *r)
{
    if (r->open)
        return 0;
    if (recording_file_exec(r->file.db, "BEGIN IMMEDIATE") != 0)
        return -EIO;
    r->open = 1;
    return 0;
}

/* Write the messages that came since the last block. */
static int recording_put_block(struct recording *r)
{
    const void *packed;
    size_t length, messages = block_writer_messages(r->block);
    int code = block_writer_pack(r->block, LEVEL, &packed, &length);
    if (code != 0)
        return code;
    if (recording_begin(r) != 0)
        return -EIO;
    sqlite3_stmt *s = r->statements[PUT_BLOCK];
    bind_numbers(s, 5,
                 (uint64_t[]){r->next - messages, messages, r->begin_ns, r->end_ns,
                              block_writer_bytes(r->block)});
    sqlite3_bind_blob64(s, 6, packed, length, SQLITE_STATIC);
    bind_number(s, 7, r->others);
    if (bind_put_row(s) != 0)
        return -EIO;
    block_writer_clear(r->block);
    r->others = 0;
    return 0;
}

/* @return number of the agent in the file, or -ENOMEM or -EIO */
static int64_t recording_agent_number(struct recording *r, uint64_t instance, uint64_t now_ns)
{
    uint32_t known = key_table_find(&r->agents, (struct key){.hi = instance});
    if (known != KEY_NONE)
        return known;
    if (key_table_reserve(&r->agents, 1) != 0 || r->agents.count >= MAX_AGENTS)
        return -ENOMEM;
    if (recording_begin(r) != 0)
        return -EIO;
    known = key_table_add(&r->agents, (struct key){.hi = instance});
    const uint64_t numbers[] = {known, instance, now_ns};
    int code = bind_put_numbers(r->statements[PUT_AGENT], 3, numbers);
    return code != 0 ? code : (int64_t)known;
}

/* Replace the instance by the agent's number in the file. @return 0, -EIO or -ENOMEM */
static int recording_number_agent(struct recording *r, const struct recorded *head,
                                  struct recorded *out)
{
    int64_t agent = recording_agent_number(r, head->instance, head->received_ns);
    *out = *head;
    out->instance = (uint64_t)agent;
    return agent < 0 ? (int)agent : 0;
}

int recording_write_message(struct recording *r, const struct recorded *head, const void *bytes,
                            size_t length)
{
    struct recorded numbered;
    int code = recording_number_agent(r, head, &numbered);
    code = code != 0 ? code : block_writer_add(r->block, &numbered, bytes, length);
    if (code != 0)
        return code;
    if (block_writer_messages(r->block) == 1)
        r->begin_ns = head->received_ns;
    r->end_ns = head->received_ns;
    r->others += head->type != WIRE_TYPE_WINDOW;
    r->next++;
    int full = block_writer_bytes(r->block) >= BLOCK_BYTES ||
               block_writer_messages(r->block) >= BLOCK_MAX_MESSAGES;
    return full ? recording_put_block(r) : 0;
}

int recording_write_result(struct recording *r, enum wire_type type, const void *message)
{
    return recording_begin(r) != 0 ? -EIO : recording_tables_put(r->tables, type, message);
}

sqlite3 *recording_database(struct recording *r)
{
    return r->file.db;
}

struct recording_file *recording_file_of(struct recording *r)
{
    return &r->file;
}

int recording_commit(struct recording *r)
{
    int code = block_writer_messages(r->block) > 0 ? recording_put_block(r) : 0;
    if (code != 0)
        return code;
    errno = 0;
    if (r->open && recording_file_exec(r->file.db, "COMMIT") != 0) {
        r->fault = errno;
        return -EIO;
    }
    r->open = 0;
    return recording_is_removed(r) ? -EIO : 0;
}

/* ---- closing ------------------------------------------------------------- */

void recording_abandon(struct recording *r)
{
    recording_abandon_file(r, 0);
}

int recording_close(struct recording *r)
{
    char why[1];
    return recording_close_with_error(r, why, sizeof(why));
}

int recording_close_with_error(struct recording *r, char *why, size_t capacity)
{
    if (r == NULL)
        return 0;
    int code = recording_commit(r);
    if (code != 0)
        snprintf(why, capacity, "%s", code == -EIO ? recording_error(r) : holter_strerror(code));
    /* Leave one plain file without a log, which can be copied. A reader may prevent that: then
     * the log stays, but what is in it is in the file as well. */
    if (recording_file_exec(r->file.db, "PRAGMA journal_mode=DELETE") != 0)
        recording_file_checkpoint(&r->file);
    recording_abandon(r);
    return code;
}

int recording_write_stop(struct recording *r, uint64_t at_ns, const char *why)
{
    char *sql =
        sqlite3_mprintf("INSERT OR REPLACE INTO stopped VALUES(1, %lld, %Q)", (int64_t)at_ns, why);
    int code = sql == NULL ? -ENOMEM : recording_file_exec(r->file.db, sql);
    sqlite3_free(sql);
    return code;
}

void recording_stop(struct recording *r, uint64_t at_ns, const char *why)
{
    if (r == NULL)
        return;
    if (r->open)
        recording_file_exec(r->file.db, "ROLLBACK");
    r->open = 0;
    block_writer_clear(r->block);
    recording_release_reserve(r);
    if (recording_write_stop(r, at_ns, why) != 0) {
        recording_file_checkpoint(&r->file); /* its log may have reached a limit of files' sizes */
        recording_write_stop(r, at_ns, why);
    }
    recording_close(r);
}

/* SQLite reports a full disk, but not a quota, a limit of the file's size, or a directory in
 * which no file can be created. */
const char *recording_error(const struct recording *r)
{
    int code = sqlite3_errcode(r->file.db);
    int of_system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
    int fault = of_system ? sqlite3_system_errno(r->file.db) : 0;
    fault = of_system && fault == 0 ? r->fault : fault;
    if (recording_is_removed(r))
        return "its file was removed";
    fault = code == SQLITE_FULL ? ENOSPC : fault;
    return fault != 0 ? holter_strerror(-fault) : sqlite3_errmsg(r->file.db);
}

void recording_limit(struct recording *r, unsigned pages)
{
    char text[64];
    snprintf(text, sizeof(text), "PRAGMA max_page_count=%u", pages);
    recording_file_exec(r->file.db, text);
}

uint64_t recording_bytes(const struct recording *r)
{
    return recording_bytes_at(r->path);
}
