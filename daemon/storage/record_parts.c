/* Recordings in parts: begins parts with the state that the earlier ones have left, and removes the
 * oldest ones. See record_parts.h. */
#include "daemon/storage/record_parts.h"

#include "daemon/storage/recording_blocks.h"
#include "daemon/storage/recording_file.h"
#include "daemon/storage/table_copy.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LOG_TOPIC "record"
/* The maximum size is divided into so many: a part takes one, and half of another one where it
 * begins with a large state; two stay free, three where parts do, for the part that grows and for a
 * commit that is larger than expected. */
#define SIZE_SHARES 8u
#define FAULT_BYTES 600u

int record_parts_begin(struct record_parts *p, const char *base, uint64_t max_bytes)
{
    unsigned first, last;
    *p = (struct record_parts){.max_bytes = max_bytes};
    snprintf(p->base, sizeof(p->base), "%s", base);
    recording_parts_find(base, &first, &last);
    p->number = last == 0 ? 1 : last;
    int code = recording_part_path(base, p->number, p->path, sizeof(p->path));
    if (code != 0)
        p->path[0] = '\0';
    return code;
}

/* ---- the next part ------------------------------------------------------- */

/* A part that begins with a large state has space for half a share of messages beside it, as long
 * as all parts together stay below the maximum. */
static uint64_t record_parts_full_bytes(const struct record_parts *p)
{
    const uint64_t share = p->max_bytes / SIZE_SHARES;
    const uint64_t most = share + share / 2, wanted = p->begun_bytes + share / 2;
    return wanted <= share ? share : wanted < most ? wanted : most;
}

int record_parts_is_full(const struct record_parts *p, uint64_t bytes)
{
    return p->max_bytes != 0 && bytes >= record_parts_full_bytes(p);
}

/* Small commits write the same pages to the log repeatedly: only the size after a checkpoint
 * counts. */
int record_parts_needs_next(const struct record_parts *p, struct recording *recording)
{
    if (!record_parts_is_full(p, recording_bytes(recording)))
        return 0;
    recording_file_checkpoint(recording_file_of(recording));
    return recording_bytes(recording) >=
           record_parts_full_bytes(p) - p->max_bytes / SIZE_SHARES / 4;
}

int record_parts_needs_commit(uint64_t bytes, uint64_t max_bytes)
{
    return max_bytes != 0 && bytes >= max_bytes / SIZE_SHARES / 2;
}

static uint64_t record_parts_file_bytes(const struct record_parts *p, unsigned number)
{
    char path[560];
    return recording_part_path(p->base, number, path, sizeof(path)) == 0 ? recording_bytes_at(path)
                                                                         : 0;
}

/* Remove the oldest parts until the others leave enough free space. @return number of the first
 * part that remains */
static unsigned record_parts_remove_oldest(const struct record_parts *p)
{
    const uint64_t share = p->max_bytes / SIZE_SHARES;
    const uint64_t most = share * (SIZE_SHARES - (p->begun_bytes > share / 2 ? 3 : 2));
    unsigned first, last;
    uint64_t all = 0;
    char path[560];
    recording_parts_find(p->base, &first, &last);
    for (unsigned n = first; n < p->number; n++)
        all += record_parts_file_bytes(p, n);
    for (; first < p->number && all > most; first++) {
        uint64_t bytes = record_parts_file_bytes(p, first);
        if (bytes == 0 || recording_part_path(p->base, first, path, sizeof(path)) != 0)
            continue;
        all -= bytes;
        int code = recording_remove(path);
        if (code != 0)
            log_warn("%s: cannot be removed: %s", path, holter_strerror(code));
        else
            log_info("%s removed: the recording has reached its size", path);
    }
    return first;
}

/* @return arrival of the first message in a part; 0: it cannot be read */
static uint64_t record_parts_read_begin(const struct record_parts *p, unsigned number)
{
    struct recording_file file = {0};
    char path[560], why[256];
    uint64_t begin_ns;
    if (recording_part_path(p->base, number, path, sizeof(path)) != 0 ||
        recording_file_open(&file, path, RECORDING_READ, why, sizeof(why)) != 0)
        return 0;
    begin_ns = recording_file_count(&file, "SELECT begin_ns FROM block ORDER BY first LIMIT 1");
    recording_file_close(&file);
    return begin_ns;
}

int record_parts_write_row(const struct record_parts *p, struct recording *to)
{
    char sql[240];
    snprintf(sql, sizeof(sql),
             "INSERT OR REPLACE INTO part(one, part, removed_ns, attached_ns, missed)"
             " VALUES(1, %u, %" PRIu64 ", %" PRIu64 ", %" PRIu64 ")",
             p->number > 1 ? p->number : 0, p->removed_ns, p->attached_ns, p->missed);
    return recording_file_exec(recording_database(to), sql);
}

/* Write the messages about ranks of the part before as if they had arrived now. If that cannot be
 * read, the next part lacks them, and nothing else is lost. */
static int record_parts_copy_ranks(struct recording *to, const char *from, uint64_t now_ns)
{
    struct recording_cursor *cursor;
    struct recorded head;
    const void *bytes;
    size_t length;
    uint64_t first = 0, last = 0;
    char why[600];
    int code = 0;
    if (recording_cursor_salvage(&cursor, from, why, sizeof(why)) != 0) {
        log_warn("the next part of the recording lacks ranks: %s", why);
        return 0;
    }
    while (code == 0 && recording_block_with_other_messages(cursor, &first, &last) == 1) {
        recording_cursor_seek(cursor, first - 1);
        while (code == 0 && recording_cursor_number(cursor) < last &&
               recording_cursor_next(cursor, &head, &bytes, &length) == 1) {
            head.received_ns = head.time_ns = now_ns;
            if (head.type == WIRE_TYPE_RANKS)
                code = recording_write_message(to, &head, bytes, length);
        }
    }
    recording_cursor_close(cursor);
    return code;
}

/* Create the next part with the state that the others have left; nothing is committed. */
static int record_parts_begin_next(const struct record_parts *p, struct recording **out,
                                   struct recording *old, const char *path, uint64_t now_ns,
                                   char fault[FAULT_BYTES])
{
    struct recording *next = NULL;
    int code = recording_open(&next, path, fault, FAULT_BYTES);
    if (code != 0) {
        snprintf(fault, FAULT_BYTES, "%s", recording_error_without_path(fault, path));
        return code;
    }
    *out = next;
    code = table_copy_state(next, recording_file_of(old));
    return code != 0 ? code : record_parts_copy_ranks(next, p->path, now_ns);
}

static int record_parts_commit_next(struct record_parts *p, struct recording *next)
{
    p->number++;
    unsigned first = record_parts_remove_oldest(p);
    p->removed_ns = first > 1 ? record_parts_read_begin(p, first) : 0;
    int code = record_parts_write_row(p, next);
    code = code != 0 ? code : recording_commit(next);
    recording_file_checkpoint(recording_file_of(next));
    p->begun_bytes = recording_bytes(next);
    return code;
}

int record_parts_next(struct record_parts *p, struct recording **recording, uint64_t now_ns,
                      char *why, size_t capacity)
{
    struct recording *old = *recording, *next = NULL;
    char next_path[sizeof(p->path)], fault[FAULT_BYTES] = "", closing[200];
    unsigned number = p->number + 1;
    int code = recording_part_path(p->base, number, next_path, sizeof(next_path));
    code = code != 0 ? code : record_parts_begin_next(p, &next, old, next_path, now_ns, fault);
    int closed = recording_close_with_error(old, closing, sizeof(closing));
    *recording = NULL;
    if (code == 0 && closed == 0)
        code = record_parts_commit_next(p, next);
    if (code == 0 && closed == 0) {
        memcpy(p->path, next_path, sizeof(next_path));
        *recording = next;
        return 0;
    }
    /* The text is short: paths would leave no space for the cause. */
    if (code != 0)
        snprintf(why, capacity, "part %u cannot be created: %s", number,
                 fault[0] != '\0'               ? fault
                 : code == -EIO && next != NULL ? recording_error(next)
                                                : holter_strerror(code));
    else
        snprintf(why, capacity, "part %u cannot be finished: %s", number - 1, closing);
    recording_abandon(next);
    if (next != NULL) /* nothing in it was committed */
        recording_remove(next_path);
    return code != 0 ? code : closed;
}
