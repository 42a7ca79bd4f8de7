/* Reads a recording through a cursor: finds and unpacks blocks, passes over damage, and seeks by
 * number and time. */
#include "daemon/analysis/tables/array.h"
#include "daemon/storage/block/block.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"
#include "daemon/storage/recording_network.h"
#include "daemon/storage/recording_tables.h"
#include "holter/bisect.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

struct recording_cursor {
    struct recording_file file;
    int borrowed;       /* the database is another's, who closes it */
    uint64_t number;    /* of the message that was read last; 0: none */
    sqlite3_stmt *find; /* finds the block of a message */
    struct block_reader *block;
    uint64_t block_end; /* number of its last message; messages after it have not been read */
    uint64_t *agents;   /* owned: instances of agents by their numbers */
    size_t agent_count, agent_capacity;
    char job[65];
    uint64_t window_ns;
};

void recording_cursor_close(struct recording_cursor *c)
{
    if (c == NULL)
        return;
    sqlite3_finalize(c->find);
    if (!c->borrowed)
        recording_file_close(&c->file);
    block_reader_destroy(c->block);
    free(c->agents);
    free(c);
}

/* ---- blocks -------------------------------------------------------------- */

/* Load the agents that the table has gained since it was read last. */
static int cursor_load_agents(struct recording_cursor *c)
{
    sqlite3_stmt *s = NULL;
    int code = recording_file_prepare(&c->file, &s,
                                      "SELECT agent, instance FROM agent WHERE agent >= ?"
                                      " ORDER BY agent");
    if (code == 0)
        sqlite3_bind_int64(s, 1, (sqlite3_int64)c->agent_count);
    int row = code;
    while (code == 0 && (row = recording_file_step(&c->file, s)) == 1) {
        if (sqlite3_column_int64(s, 0) != (sqlite3_int64)c->agent_count)
            code = -HOLTER_ECORRUPT;
        else
            code = ARRAY_FIT(c->agents, c->agent_capacity, c->agent_count + 1);
        if (code == 0)
            c->agents[c->agent_count++] = (uint64_t)sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    return code != 0 ? code : row;
}

/* Skip the messages of the open block that come before a number. */
static int cursor_skip_messages(struct recording_cursor *c, uint64_t target)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    size_t length;
    int code = 1, fault;
    for (; code == 1 && c->number + 1 < target; c->number++)
        code = block_reader_next_decoded(c->block, &head, &message, &arena, &length, &fault);
    wire_arena_finish(&arena);
    return code == 0 ? -HOLTER_ECORRUPT : code;
}

/* Open the block of message number + 1, or the next one after it.
 * @return 1, 0: there is none, or negative. No transaction stays open: a reader of a live
 * recording would prevent checkpoints of its log. */
static int cursor_open_block(struct recording_cursor *c)
{
    static const char select[] = "SELECT first, messages, data FROM block WHERE first >="
                                 " coalesce((SELECT max(first) FROM block WHERE first <= ?1), 0)"
                                 " AND first + messages > ?1 ORDER BY first LIMIT 1";
    int code = c->find == NULL ? recording_file_prepare(&c->file, &c->find, select) : 0;
    if (code != 0)
        return code;
    sqlite3_bind_int64(c->find, 1, (sqlite3_int64)c->number + 1);
    code = recording_file_step(&c->file, c->find);
    if (code != 1) {
        sqlite3_reset(c->find);
        return code;
    }
    int64_t first = sqlite3_column_int64(c->find, 0), messages = sqlite3_column_int64(c->find, 1);
    if (first < 1 || messages < 1 || messages > BLOCK_MAX_MESSAGES || first > INT64_MAX / 2) {
        sqlite3_reset(c->find);
        return -HOLTER_ECORRUPT;
    }
    uint64_t target = c->number + 1;
    c->block_end = (uint64_t)(first + messages - 1);
    c->number = (uint64_t)first - 1;
    code = block_reader_open(c->block, sqlite3_column_blob(c->find, 2),
                             (size_t)sqlite3_column_bytes(c->find, 2));
    sqlite3_reset(c->find);
    if (code == 0 && block_reader_count(c->block) != (size_t)messages)
        code = -HOLTER_ECORRUPT;
    return code != 0 ? code : cursor_skip_messages(c, target);
}

/* Open the block of the next message. @return 1, 0: there is none, or negative */
static int cursor_begin_message(struct recording_cursor *c)
{
    if (c->number < c->block_end)
        return 1;
    return cursor_open_block(c);
}

/* Complete a message that was read, replacing its agent's number by the instance. @param code  of
 * the block @return as recording_cursor_next() */
static int cursor_end_message(struct recording_cursor *c, int code, struct recorded *head,
                              size_t length)
{
    if (code != 1)
        return code == 0 ? -HOLTER_ECORRUPT : code;
    c->number++;
    if (head->instance >= c->agent_count && (code = cursor_load_agents(c)) != 0)
        return code;
    if (head->instance >= c->agent_count)
        return -HOLTER_ECORRUPT;
    head->instance = c->agents[head->instance];
    return length > WIRE_MESSAGE_BYTES ? -HOLTER_ECORRUPT : 1;
}

int recording_cursor_next(struct recording_cursor *c, struct recorded *head, const void **bytes,
                          size_t *length)
{
    int code = cursor_begin_message(c);
    if (code != 1)
        return code;
    code = block_reader_next(c->block, head, bytes, length);
    return cursor_end_message(c, code, head, *length);
}

int recording_cursor_next_decoded(struct recording_cursor *c, struct recorded *head,
                                  struct wire_message *message, struct wire_arena *arena,
                                  size_t *length, int *fault)
{
    int code = cursor_begin_message(c);
    if (code != 1)
        return code;
    code = block_reader_next_decoded(c->block, head, message, arena, length, fault);
    return cursor_end_message(c, code, head, *length);
}

int recording_cursor_bytes(struct recording_cursor *c, const void **bytes, size_t *length)
{
    return block_reader_bytes(c->block, bytes, length);
}

/* Find the first row from a number on. @return 0, -HOLTER_EEMPTY, or as recording_file_error() */
static int cursor_find_row(struct recording_cursor *c, const char *column, const char *table,
                           uint64_t number, int64_t *found)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT %s FROM %s WHERE %s >= %" PRIu64 " ORDER BY 1 LIMIT 1",
             column, table, column, number);
    return recording_file_number(&c->file, sql, found);
}

/* Like cursor_find_row(), but the page with the row may be damaged: then rows on other pages are
 * found, as the tree above knows the first number of each page. */
static int cursor_find_row_after_damage(struct recording_cursor *c, const char *column,
                                        const char *table, uint64_t number, int64_t *found)
{
    uint64_t bad = number, good = number;
    int code = cursor_find_row(c, column, table, number, found);
    if (code != -HOLTER_ECORRUPT)
        return code;
    for (uint64_t step = 1; code == -HOLTER_ECORRUPT && step <= INT64_MAX / 4; step *= 2) {
        bad = good;
        good = number + step;
        code = cursor_find_row(c, column, table, good, found);
    }
    if (code == -HOLTER_ECORRUPT)
        return code;
    good =
        BISECT(n, bad + 1, good, cursor_find_row(c, column, table, n, found) == -HOLTER_ECORRUPT);
    return cursor_find_row(c, column, table, good, found);
}

int recording_cursor_skip(struct recording_cursor *c, uint64_t *skipped)
{
    int64_t next = 0;
    *skipped = 0;
    if (c->block_end > c->number) {
        *skipped = c->block_end - c->number;
        c->number = c->block_end;
        return 1;
    }
    int code = cursor_find_row_after_damage(c, "first", "block", c->number + 2, &next);
    if (code != 0)
        return code == -HOLTER_EEMPTY ? 0 : code;
    if (next > INT64_MAX / 2) /* no message has such a number */
        return 0;
    *skipped = (uint64_t)next - 1 - c->number;
    recording_cursor_seek(c, (uint64_t)next - 1);
    return 1;
}

/* ---- where it is --------------------------------------------------------- */

uint64_t recording_cursor_number(const struct recording_cursor *c)
{
    return c->number;
}

void recording_cursor_seek(struct recording_cursor *c, uint64_t number)
{
    c->number = number > INT64_MAX / 2 ? INT64_MAX / 2 : number;
    c->block_end = 0; /* the block is read again */
}

/* Read the next message that is not damaged. @param damaged  set when one before it cannot be
 * read @return as recording_cursor_next_decoded() */
static int cursor_next_readable(struct recording_cursor *c, struct recorded *head,
                                struct wire_message *message, struct wire_arena *arena, int *fault,
                                int *damaged)
{
    uint64_t skipped;
    size_t length;
    int code;
    while ((code = recording_cursor_next_decoded(c, head, message, arena, &length, fault)) ==
           -HOLTER_ECORRUPT) {
        *damaged = 1;
        if ((code = recording_cursor_skip(c, &skipped)) != 1)
            break;
    }
    return code;
}

static void cursor_extend_span(struct recording_cursor *c, const char *sql, uint64_t *last_ns)
{
    const uint64_t end_ns = recording_file_count(&c->file, sql);
    *last_ns = end_ns > *last_ns ? end_ns : *last_ns;
}

int recording_cursor_span(struct recording_cursor *c, uint64_t *first_ns, uint64_t *last_ns)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    int code, fault, damaged = 0;
    recording_cursor_seek(c, 0);
    code = cursor_next_readable(c, &head, &message, &arena, &fault, &damaged);
    recording_cursor_seek(c, 0);
    wire_arena_finish(&arena);
    if (code != 1)
        return code == 0 ? -HOLTER_EEMPTY : code;
    *first_ns = *last_ns = head.received_ns;
    /* The clock may have been set back before the last block. */
    cursor_extend_span(c, "SELECT end_ns FROM block ORDER BY first DESC LIMIT 1", last_ns);
    cursor_extend_span(c, "SELECT end_ns FROM block ORDER BY begin_ns DESC LIMIT 1", last_ns);
    return 0;
}

int recording_cursor_last(struct recording_cursor *c, uint64_t *number)
{
    int64_t last = 0;
    int code = recording_file_number(
        &c->file, "SELECT first + messages - 1 FROM block ORDER BY first DESC LIMIT 1", &last);
    if (code == 0 && last <= 0)
        code = -HOLTER_EEMPTY;
    if (code == 0)
        *number = (uint64_t)last;
    return code;
}

/* ---- opening ------------------------------------------------------------- */

/* Read the job and the length of windows from the first window message that is not damaged: the
 * row of the job is missing if the daemon was killed before it was written. */
static int cursor_read_first_window(struct recording_cursor *c)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    int code = 0, fault, damaged = 0;
    while (c->window_ns == 0 &&
           (code = cursor_next_readable(c, &head, &message, &arena, &fault, &damaged)) == 1) {
        int is_window = fault == 0 && message.type == WIRE_TYPE_WINDOW;
        damaged |= head.type == WIRE_TYPE_WINDOW && !is_window;
        if (!is_window || head.type != WIRE_TYPE_WINDOW)
            continue;
        snprintf(c->job, sizeof(c->job), "%s", message.window.job);
        c->window_ns = message.window.length_ns;
        damaged |= c->window_ns == 0;
    }
    wire_arena_finish(&arena);
    recording_cursor_seek(c, 0);
    if (c->window_ns != 0)
        return 0;
    if (code == 0)
        return damaged ? -HOLTER_ECORRUPT : -HOLTER_EEMPTY;
    return code;
}

/* Begin to read an open file, from its job and the length of its windows on. @param salvage  also
 * one without a readable window */
static int cursor_begin(struct recording_cursor *c, int salvage)
{
    int64_t window_ns = 0;
    int code = recording_file_has(&c->file, "block") ? 0 : -HOLTER_ECORRUPT;
    if (code == 0 && (code = cursor_read_first_window(c)) != 0 && salvage && code != -ENOMEM)
        code = 0;
    if (code == 0 &&
        recording_file_number(&c->file, "SELECT window_ns FROM job", &window_ns) == 0 &&
        window_ns > 0)
        c->window_ns = (uint64_t)window_ns;
    return code;
}

static const char *cursor_describe_fault(int code)
{
    return code == -HOLTER_ECORRUPT ? "damaged, or no recording at all"
           : code == -HOLTER_EEMPTY ? "there is no window in it"
                                    : holter_strerror(code);
}

/* @param salvage  also open a file without a readable window */
static int cursor_open(struct recording_cursor **out, const char *path, int salvage, char *why,
                       size_t capacity)
{
    struct recording_cursor *c = calloc(1, sizeof(*c));
    char fault[256] = "";
    int code = c == NULL ? -ENOMEM : block_reader_create(&c->block);
    enum recording_access how = salvage ? RECORDING_SALVAGE : RECORDING_READ;
    code = code != 0 ? code : recording_file_open(&c->file, path, how, fault, sizeof(fault));
    code = code != 0 ? code : cursor_begin(c, salvage);
    if (code == 0) {
        *out = c;
        return 0;
    }
    snprintf(why, capacity, "%s: %s", path, fault[0] != '\0' ? fault : cursor_describe_fault(code));
    recording_cursor_close(c);
    return code;
}

int recording_cursor_open(struct recording_cursor **out, const char *path, char *why,
                          size_t capacity)
{
    return cursor_open(out, path, 0, why, capacity);
}

int recording_cursor_salvage(struct recording_cursor **out, const char *path, char *why,
                             size_t capacity)
{
    return cursor_open(out, path, 1, why, capacity);
}

int recording_cursor_borrow(struct recording_cursor **out, sqlite3 *db, char *why, size_t capacity)
{
    struct recording_cursor *c = calloc(1, sizeof(*c));
    int64_t application = 0;
    int code = c == NULL ? -ENOMEM : block_reader_create(&c->block);
    if (code == 0) {
        c->file.db = db;
        c->borrowed = 1;
        code = recording_file_number(&c->file, "PRAGMA application_id", &application);
        code = code != 0 ? code
                         : recording_file_number(&c->file, "PRAGMA user_version", &c->file.version);
    }
    if (code == 0 &&
        (application != RECORDING_APPLICATION || c->file.version != RECORDING_SCHEMA)) {
        snprintf(why, capacity, "the database is no recording of schema %d", RECORDING_SCHEMA);
        code = -HOLTER_EVERSION;
    } else if ((code = code != 0 ? code : cursor_begin(c, 1)) != 0) {
        snprintf(why, capacity, "the recording: %s", cursor_describe_fault(code));
    }
    if (code == 0)
        *out = c;
    else
        recording_cursor_close(c);
    return code;
}

const char *recording_cursor_job(const struct recording_cursor *c)
{
    return c->job;
}

uint64_t recording_cursor_window_ns(const struct recording_cursor *c)
{
    return c->window_ns;
}

int recording_cursor_published(struct recording_cursor *c, uint64_t *begin_ns, uint64_t *end_ns)
{
    uint64_t window_ns = c->window_ns;
    uint64_t first = recording_file_count(&c->file, "SELECT min(window) FROM totals");
    uint64_t last = recording_file_count(&c->file, "SELECT max(window) FROM totals");
    if (window_ns > 0 && first > 0 && last >= first && last < INT64_MAX / window_ns) {
        *begin_ns = first * window_ns;
        *end_ns = (last + 1) * window_ns;
        return 1;
    }
    first = recording_file_count(&c->file, "SELECT start_ns FROM job WHERE state = 'ended'");
    last = recording_file_count(&c->file, "SELECT end_ns FROM job WHERE state = 'ended'");
    if (first == 0 || last <= first)
        return 0;
    *begin_ns = first;
    *end_ns = last;
    return 1;
}

int recording_cursor_network(struct recording_cursor *c, struct topology_parts *out)
{
    return network_tables_read(c->file.db, out);
}

struct recording_file *recording_cursor_file(struct recording_cursor *c)
{
    return &c->file;
}

/* Read messages to the end, also behind damage. @return as recording_read() */
static int cursor_read_messages(struct recording_cursor *c, const struct recording_reader *reader)
{
    struct recorded head;
    const void *bytes;
    size_t length;
    uint64_t skipped;
    int code, damage = 0;
    while ((code = recording_cursor_next(c, &head, &bytes, &length)) != 0) {
        if (code == 1 && (code = reader->message(reader->user, &head, bytes, length)) == 0)
            continue;
        if (code != -HOLTER_ECORRUPT || recording_cursor_skip(c, &skipped) != 1)
            return code;
        damage = code;
    }
    return damage;
}

int recording_read(const char *path, const struct recording_reader *reader)
{
    struct recording_cursor *c = calloc(1, sizeof(*c));
    char why[256];
    int code = c == NULL ? -ENOMEM : block_reader_create(&c->block);
    code = code != 0 ? code : recording_file_open(&c->file, path, RECORDING_READ, why, sizeof(why));
    if (code == 0 && !recording_file_has(&c->file, "block"))
        code = -HOLTER_ECORRUPT;
    int alerts =
        code != 0 ? 0 : recording_tables_read_alerts(c->file.db, reader->alert, reader->user);
    if (code == 0)
        code = alerts == 0 || alerts == -HOLTER_ECORRUPT ? cursor_read_messages(c, reader) : alerts;
    recording_cursor_close(c);
    return code != 0 ? code : alerts;
}

/* ---- all messages -------------------------------------------------------- */

#define PROGRESS_INTERVAL 256u /* messages between two reports of progress */

void recording_show_progress(const struct recording_progress *progress, uint64_t done, uint64_t all)
{
    if (progress != NULL && progress->show != NULL && done % PROGRESS_INTERVAL == 0 && all > 0)
        progress->show(progress->user, done < all ? (double)done / (double)all : 1);
}

const char *recording_scan_error(int code)
{
    return code == -HOLTER_ECORRUPT
               ? "the file is damaged; `holter cut` copies what can be read of it"
               : holter_strerror(code);
}

int recording_scan(struct recording_cursor *cursor, const struct recording_progress *progress,
                   recording_visit *visit, void *user)
{
    uint64_t end = progress == NULL || progress->show == NULL
                       ? 0
                       : recording_file_count(recording_cursor_file(cursor),
                                              "SELECT max(first + messages) FROM block");
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    size_t length;
    int code = 0, more, fault;
    while ((more = recording_cursor_next_decoded(cursor, &head, &message, &arena, &length,
                                                 &fault)) == 1) {
        code = fault == -ENOMEM ? fault : visit(user, &head, fault == 0 ? &message : NULL, length);
        if (code != 0)
            break;
        recording_show_progress(progress, recording_cursor_number(cursor), end);
    }
    wire_arena_finish(&arena);
    return code != 0 ? code : more;
}
