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
#include <string.h>
#include <zstd.h>

struct recording_cursor {
    struct recording_file file;
    uint64_t number;    /* of the message read last; 0: none */
    int blocks;         /* there is a table of them */
    uint64_t old_last;  /* messages up to this one have rows of their own (schemas before 5) */
    sqlite3_stmt *old;  /* from `number` on; NULL: not begun */
    int passed;         /* the message that `old` met last, though it cannot be read */
    sqlite3_stmt *find; /* the block with a message */
    struct block_reader *block;
    uint64_t block_end; /* number of its last message; what lies behind is not read yet */
    uint64_t wanted;    /* see recording_cursor_want() */
    uint64_t
        whole; /* number of the first message of a block that must be read with all rows; 0: none */
    uint64_t *agents; /* owned: instances by number */
    size_t agent_count, agent_room;
    uint8_t *plain;    /* owned: a message of its own row */
    const void *bytes; /* the decoded message, when it has a row of its own; else NULL */
    size_t length;
    char job[65];
    uint64_t window_ns;
};

void recording_cursor_close(struct recording_cursor *c)
{
    if (c == NULL)
        return;
    sqlite3_finalize(c->old);
    sqlite3_finalize(c->find);
    recording_file_close(&c->file);
    block_reader_destroy(c->block);
    free(c->agents);
    free(c->plain);
    free(c);
}

/* ---- messages with rows of their own ------------------------------------- */

static int recording_read_unpack(sqlite3_stmt *s, uint8_t *plain, struct recorded *head,
                                 size_t *length)
{
    *head = (struct recorded){
        .time_ns = (uint64_t)sqlite3_column_int64(s, 1),
        .window = (uint64_t)sqlite3_column_int64(s, 2),
        .type = (uint64_t)sqlite3_column_int64(s, 3),
        .instance = (uint64_t)sqlite3_column_int64(s, 4),
        .seq = (uint64_t)sqlite3_column_int64(s, 5),
        .received_ns = (uint64_t)sqlite3_column_int64(s, 6),
    };
    const void *packed = sqlite3_column_blob(s, 7);
    int bytes = sqlite3_column_bytes(s, 7);
    *length = ZSTD_decompress(plain, WIRE_MESSAGE_BYTES, packed, (size_t)bytes);
    return packed == NULL || ZSTD_isError(*length) ? -HOLTER_ECORRUPT : 0;
}

static int next_old(struct recording_cursor *c, struct recorded *head, const void **bytes,
                    size_t *length)
{
    static const char select[] =
        "SELECT id, time_ns, window, type, instance, seq, received_ns, zstd FROM messages"
        " WHERE id > ? ORDER BY id";
    int code = 0;
    if (c->old == NULL) {
        code = recording_file_prepare(&c->file, &c->old, select);
        if (code == 0)
            sqlite3_bind_int64(c->old, 1, (sqlite3_int64)c->number);
    }
    if (c->plain == NULL && (c->plain = malloc(WIRE_MESSAGE_BYTES)) == NULL)
        code = -ENOMEM;
    code = code != 0 ? code : recording_file_step(&c->file, c->old);
    sqlite3_int64 id = code == 1 ? sqlite3_column_int64(c->old, 0) : 0;
    if (code == 1 && (id < 0 || (uint64_t)id <= c->number)) /* pages in circles */
        code = -HOLTER_ECORRUPT;
    if (code != 1) {
        sqlite3_finalize(c->old); /* else it would begin anew behind an error */
        c->old = NULL;
        return code;
    }
    c->number = (uint64_t)id;
    code = recording_read_unpack(c->old, c->plain, head, length);
    c->passed = code != 0;
    *bytes = c->plain;
    return code != 0 ? code : 1;
}

/* ---- blocks -------------------------------------------------------------- */

/* The table may have grown since it was read. */
static int recording_read_load_agents(struct recording_cursor *c)
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
            code = array_fit(&c->agents, sizeof(*c->agents), &c->agent_room, c->agent_count + 1);
        if (code == 0)
            c->agents[c->agent_count++] = (uint64_t)sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    return code != 0 ? code : row;
}

/* Messages before the one that is wanted. */
static int recording_read_skip_blocks(struct recording_cursor *c, uint64_t wanted)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    size_t length;
    int code = 1, fault;
    for (; code == 1 && c->number + 1 < wanted; c->number++)
        code = block_next_decoded(c->block, &head, &message, &arena, &length, &fault);
    wire_arena_finish(&arena);
    return code == 0 ? -HOLTER_ECORRUPT : code;
}

/* Open the block of message number + 1, or the next one after it.
 * @return 1, 0: there is none, -EAGAIN: not all rows are wanted, but needed, or negative. No
 * transaction stays open: a reader of a live recording would keep the log from being folded in. */
static int open_block(struct recording_cursor *c)
{
    static const char select[] = "SELECT first, messages, data FROM block WHERE first >="
                                 " coalesce((SELECT max(first) FROM block WHERE first <= ?1), 0)"
                                 " AND first + messages > ?1 ORDER BY first LIMIT 1";
    if (!c->blocks)
        return 0;
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
    if (first < 1 || messages < 1 || messages > BLOCK_MOST_MESSAGES || first > INT64_MAX / 2) {
        sqlite3_reset(c->find);
        return -HOLTER_ECORRUPT;
    }
    uint64_t wanted = c->number + 1;
    c->block_end = (uint64_t)(first + messages - 1);
    c->number = (uint64_t)first - 1;
    block_want(c->block, c->whole == (uint64_t)first ? BLOCK_ALL_ROWS : c->wanted);
    code = block_open(c->block, sqlite3_column_blob(c->find, 2),
                      (size_t)sqlite3_column_bytes(c->find, 2));
    sqlite3_reset(c->find);
    if (code == 0 && block_count(c->block) != (size_t)messages)
        code = -HOLTER_ECORRUPT;
    return code != 0 ? code : recording_read_skip_blocks(c, wanted);
}

/* The block that is open has a message that only its bytes tell: all rows of it.
 * @param number  of the message read last @return as open_block() */
static int open_whole(struct recording_cursor *c, uint64_t number)
{
    c->whole = c->block_end - block_count(c->block) + 1;
    c->block_end = 0;
    c->number = number;
    return open_block(c);
}

/* The block with the next message is open, or none is left: 0. */
static int begin_packed(struct recording_cursor *c)
{
    if (c->number < c->block_end)
        return 1;
    uint64_t number = c->number;
    int code = open_block(c);
    return code == -EAGAIN ? open_whole(c, number) : code;
}

/* @param code  of the block @return as recording_cursor_next() */
static int end_packed(struct recording_cursor *c, int code, struct recorded *head, size_t length)
{
    if (code != 1)
        return code == 0 ? -HOLTER_ECORRUPT : code;
    c->number++;
    if (head->instance >= c->agent_count && (code = recording_read_load_agents(c)) != 0)
        return code;
    if (head->instance >= c->agent_count)
        return -HOLTER_ECORRUPT;
    head->instance = c->agents[head->instance];
    return length > WIRE_MESSAGE_BYTES ? -HOLTER_ECORRUPT : 1;
}

void recording_cursor_want(struct recording_cursor *c, uint64_t fields)
{
    c->wanted = fields;
    c->block_end = 0; /* open it anew */
}

int recording_cursor_next(struct recording_cursor *c, struct recorded *head, const void **bytes,
                          size_t *length)
{
    if (c->wanted != BLOCK_ALL_ROWS)
        recording_cursor_want(c, BLOCK_ALL_ROWS);
    if (c->number < c->old_last) {
        int code = next_old(c, head, bytes, length);
        if (code != 0)
            return code;
        c->number = c->old_last;
    }
    int code = begin_packed(c);
    if (code != 1)
        return code;
    code = block_next(c->block, head, bytes, length);
    return end_packed(c, code, head, *length);
}

int recording_cursor_decoded(struct recording_cursor *c, struct recorded *head,
                             struct wire_message *message, struct wire_arena *arena, size_t *length,
                             int *fault)
{
    c->bytes = NULL;
    if (c->number < c->old_last) {
        int code = next_old(c, head, &c->bytes, length);
        if (code == 1) {
            c->length = *length;
            *fault = wire_decode(message, arena, c->bytes, *length, NULL);
        }
        if (code != 0)
            return code;
        c->number = c->old_last;
    }
    int code = begin_packed(c);
    if (code != 1)
        return code;
    code = block_next_decoded(c->block, head, message, arena, length, fault);
    if (code == -EAGAIN) {
        code = open_whole(c, c->number);
        if (code == 1)
            code = block_next_decoded(c->block, head, message, arena, length, fault);
    }
    return end_packed(c, code, head, *length);
}

int recording_cursor_bytes(struct recording_cursor *c, const void **bytes, size_t *length)
{
    if (c->bytes == NULL)
        return block_decoded_bytes(c->block, bytes, length);
    *bytes = c->bytes;
    *length = c->length;
    return 0;
}

/* The first row from a number on. @return 0, -HOLTER_EEMPTY, or as recording_file_error() */
static int row_from(struct recording_cursor *c, const char *column, const char *table,
                    uint64_t number, int64_t *found)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT %s FROM %s WHERE %s >= %" PRIu64 " ORDER BY 1 LIMIT 1",
             column, table, column, number);
    return recording_file_number(&c->file, sql, found);
}

/* The same, where the page that has to be read for it may be damaged: what stands on others is
 * found, for the tree above tells the numbers that each begins with. */
static int recording_read_row_after(struct recording_cursor *c, const char *column,
                                    const char *table, uint64_t number, int64_t *found)
{
    uint64_t bad = number, good = number;
    int code = row_from(c, column, table, number, found);
    if (code != -HOLTER_ECORRUPT)
        return code;
    for (uint64_t step = 1; code == -HOLTER_ECORRUPT && step <= INT64_MAX / 4; step *= 2) {
        bad = good;
        good = number + step;
        code = row_from(c, column, table, good, found);
    }
    if (code == -HOLTER_ECORRUPT)
        return code;
    good = BISECT(n, bad + 1, good, row_from(c, column, table, n, found) == -HOLTER_ECORRUPT);
    return row_from(c, column, table, good, found);
}

/* Of messages with rows of their own. */
static int skip_old(struct recording_cursor *c, uint64_t *skipped)
{
    int64_t next = 0;
    int code = recording_read_row_after(c, "id", "messages", c->number + 2, &next);
    if (code != 0 && code != -HOLTER_EEMPTY && code != -HOLTER_ECORRUPT)
        return code;
    uint64_t before = code == 0 && (uint64_t)next <= c->old_last ? (uint64_t)next - 1 : c->old_last;
    *skipped = before - c->number;
    recording_cursor_seek(c, before);
    return 1;
}

int recording_cursor_skip(struct recording_cursor *c, uint64_t *skipped)
{
    int64_t next = 0;
    *skipped = (uint64_t)c->passed;
    if (c->passed) {
        c->passed = 0;
        return 1;
    }
    if (c->number < c->old_last)
        return skip_old(c, skipped);
    if (c->block_end > c->number) {
        *skipped = c->block_end - c->number;
        c->number = c->block_end;
        return 1;
    }
    int code = recording_read_row_after(c, "first", "block", c->number + 2, &next);
    if (code != 0)
        return code == -HOLTER_EEMPTY ? 0 : code;
    if (next > INT64_MAX / 2) /* no message has such a number, and no cursor comes to it */
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
    sqlite3_finalize(c->old);
    c->old = NULL;
    c->number = number > INT64_MAX / 2 ? INT64_MAX / 2 : number;
    c->block_end = 0; /* read anew */
}

/* The next message that can be read. @param damaged  set when one before it cannot @return as
 * recording_cursor_next() */
static int next_readable(struct recording_cursor *c, struct recorded *head, const void **bytes,
                         size_t *length, int *damaged)
{
    uint64_t skipped;
    int code;
    while ((code = recording_cursor_next(c, head, bytes, length)) == -HOLTER_ECORRUPT) {
        *damaged = 1;
        if ((code = recording_cursor_skip(c, &skipped)) != 1)
            break;
    }
    return code;
}

int recording_cursor_span(struct recording_cursor *c, uint64_t *first_ns, uint64_t *last_ns)
{
    struct recorded head;
    const void *bytes;
    size_t length;
    int64_t last = 0;
    int code, damaged = 0;
    recording_cursor_seek(c, 0);
    code = next_readable(c, &head, &bytes, &length, &damaged);
    recording_cursor_seek(c, 0);
    if (code != 1)
        return code == 0 ? -HOLTER_EEMPTY : code;
    code = recording_file_number(&c->file,
                                 c->blocks
                                     ? "SELECT end_ns FROM block ORDER BY first DESC LIMIT 1"
                                     : "SELECT received_ns FROM messages ORDER BY id DESC LIMIT 1",
                                 &last);
    *first_ns = head.received_ns;
    *last_ns = code != 0 || (uint64_t)last < *first_ns ? *first_ns : (uint64_t)last;
    return 0;
}

int recording_cursor_last(struct recording_cursor *c, uint64_t *number)
{
    int64_t last = 0;
    int code = recording_file_number(
        &c->file,
        c->blocks ? "SELECT first + messages - 1 FROM block ORDER BY first DESC LIMIT 1"
                  : "SELECT max(id) FROM messages",
        &last);
    if (code == 0 && last <= 0)
        code = -HOLTER_EEMPTY;
    if (code == 0)
        *number = (uint64_t)last;
    return code;
}

int recording_cursor_find(struct recording_cursor *c, uint64_t time_ns, uint64_t *number)
{
    struct recorded head = {0};
    const void *bytes;
    size_t length;
    sqlite3_stmt *s = NULL;
    int64_t from = 0;
    int code = 0;
    if (time_ns <= INT64_MAX && c->blocks) {
        code = recording_file_prepare(&c->file, &s,
                                      "SELECT first FROM block WHERE begin_ns < ?"
                                      " ORDER BY begin_ns DESC LIMIT 1");
        if (code == 0)
            sqlite3_bind_int64(s, 1, (sqlite3_int64)time_ns);
        code = code != 0 ? code : recording_file_step(&c->file, s);
        if (code == 1)
            from = sqlite3_column_int64(s, 0);
        sqlite3_finalize(s);
    }
    if (code < 0)
        return code;
    recording_cursor_seek(c, from > 0 ? (uint64_t)from - 1 : 0);
    do {
        *number = c->number;
        code = recording_cursor_next(c, &head, &bytes, &length);
    } while (code == 1 && head.received_ns < time_ns);
    if (code == 0)
        *number = c->number;
    if (code >= 0)
        recording_cursor_seek(c, *number);
    return code < 0 ? code : 0;
}

/* ---- opening ------------------------------------------------------------- */

static int recording_read_create(struct recording_cursor *c)
{
    c->wanted = BLOCK_ALL_ROWS;
    return block_reader_create(&c->block);
}

/* What the first window says, as the row of the job may be missing: the daemon was killed before
 * it.
 * @return 0, -HOLTER_ECORRUPT or -ENOMEM */
static int recording_read_first(struct recording_cursor *c, struct wire_arena *arena,
                                const void *bytes, size_t length)
{
    struct wire_message message;
    int code = wire_decode(&message, arena, bytes, length, NULL);
    if (code != 0 || message.type != WIRE_TYPE_WINDOW || message.window.length_ns == 0)
        return code == -ENOMEM ? code : -HOLTER_ECORRUPT;
    snprintf(c->job, sizeof(c->job), "%s", message.window.job);
    c->window_ns = message.window.length_ns;
    return 0;
}

/* Of the first window that can be read. */
static int read_first(struct recording_cursor *c)
{
    struct wire_arena arena = {0};
    struct recorded head;
    const void *bytes;
    size_t length;
    int code, damaged = 0;
    while ((code = next_readable(c, &head, &bytes, &length, &damaged)) == 1) {
        if (head.type == WIRE_TYPE_WINDOW &&
            (code = recording_read_first(c, &arena, bytes, length)) != -HOLTER_ECORRUPT)
            break;
        damaged |= code == -HOLTER_ECORRUPT;
    }
    wire_arena_finish(&arena);
    recording_cursor_seek(c, 0);
    if (c->window_ns != 0)
        return 0;
    if (code == 0)
        return damaged ? -HOLTER_ECORRUPT : -HOLTER_EEMPTY;
    return code;
}

/* Where messages with rows of their own end. */
static int find_old(struct recording_cursor *c)
{
    int64_t last = 0;
    int code = 0, old = recording_file_has(&c->file, "messages");
    c->blocks = recording_file_has(&c->file, "block");
    if (!old && !c->blocks)
        return -HOLTER_ECORRUPT;
    if (old)
        code = recording_file_number(&c->file, "SELECT ifnull(max(id), 0) FROM messages", &last);
    if (code == 0 && (last < 0 || last > INT64_MAX / 2))
        code = -HOLTER_ECORRUPT;
    c->old_last = (uint64_t)last;
    return code;
}

/* @param salvage  also one that has no window that can be read */
static int open_cursor(struct recording_cursor **out, const char *path, int salvage, char *why,
                       size_t room)
{
    struct recording_cursor *c = calloc(1, sizeof(*c));
    char fault[256] = "";
    int64_t window_ns = 0;
    int code = c == NULL ? -ENOMEM : recording_read_create(c);
    enum recording_access how = salvage ? RECORDING_SALVAGE : RECORDING_READ;
    code = code != 0 ? code : recording_file_open(&c->file, path, how, fault, sizeof(fault));
    code = code != 0 ? code : find_old(c);
    if (code == 0 && (code = read_first(c)) != 0 && salvage && code != -ENOMEM)
        code = 0;
    if (code == 0 &&
        recording_file_number(&c->file, "SELECT window_ns FROM job", &window_ns) == 0 &&
        window_ns > 0)
        c->window_ns = (uint64_t)window_ns;
    if (code == 0) {
        *out = c;
        return 0;
    }
    const char *what = fault[0] != '\0'           ? fault
                       : code == -HOLTER_ECORRUPT ? "damaged, or no recording at all"
                       : code == -HOLTER_EEMPTY   ? "there is no window in it"
                                                  : holter_strerror(code);
    snprintf(why, room, "%s: %s", path, what);
    recording_cursor_close(c);
    return code;
}

int recording_cursor_open(struct recording_cursor **out, const char *path, char *why, size_t room)
{
    return open_cursor(out, path, 0, why, room);
}

int recording_cursor_salvage(struct recording_cursor **out, const char *path, char *why,
                             size_t room)
{
    return open_cursor(out, path, 1, why, room);
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
    return network_tables_read(c->file.db, out);
}

struct recording_file *recording_cursor_file(struct recording_cursor *c)
{
    return &c->file;
}

int recording_read(const char *path, const struct recording_reader *reader)
{
    struct recording_cursor *c = calloc(1, sizeof(*c));
    struct recorded head;
    const void *bytes;
    size_t length;
    char why[256];
    int code = c == NULL ? -ENOMEM : recording_read_create(c);
    code = code != 0 ? code : recording_file_open(&c->file, path, RECORDING_READ, why, sizeof(why));
    code = code != 0 ? code : find_old(c);
    if (code == 0)
        code = tables_read_alerts(c->file.db, c->file.version, reader->alert, reader->user);
    int more = code;
    while (code == 0 && (more = recording_cursor_next(c, &head, &bytes, &length)) == 1)
        code = reader->message(reader->user, &head, bytes, length);
    recording_cursor_close(c);
    return code != 0 ? code : more;
}
