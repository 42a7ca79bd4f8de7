/* Answers questions about the amount and position of messages from the table of blocks, without
 * unpacking blocks. */
#include "daemon/storage/recording_blocks.h"

#include "daemon/storage/recording_file.h"
#include "holter/error.h"

#include <inttypes.h>
#include <stdio.h>

#define EARLY_NS UINT64_C(60000000000)
/* After so many windows all messages that are not late have been received, with a wide margin. */
#define LATE_WINDOWS 16u

/* A file may contain any number; negative ones count as 0. */
static uint64_t recording_blocks_number_of(sqlite3_stmt *s, int column)
{
    sqlite3_int64 number = sqlite3_column_int64(s, column);
    return number < 0 ? 0 : (uint64_t)number;
}

static sqlite3_int64 recording_blocks_time_of(uint64_t time_ns)
{
    return time_ns > INT64_MAX ? INT64_MAX : (sqlite3_int64)time_ns;
}

int recording_blocks_between(struct recording_cursor *cursor, uint64_t from_ns, uint64_t to_ns,
                             uint64_t *messages, uint64_t *bytes)
{
    struct recording_file *file = recording_cursor_file(cursor);
    sqlite3_stmt *s = NULL;
    *messages = *bytes = 0;
    int code = recording_file_prepare(file, &s,
                                      "SELECT total(max(messages, 0)), total(max(length, 0))"
                                      " FROM block WHERE begin_ns >= ? AND begin_ns < ?");
    if (code == 0) {
        sqlite3_bind_int64(s, 1, recording_blocks_time_of(from_ns));
        sqlite3_bind_int64(s, 2, recording_blocks_time_of(to_ns));
        code = recording_file_step(file, s);
    }
    if (code == 1) {
        *messages = recording_blocks_number_of(s, 0);
        *bytes = recording_blocks_number_of(s, 1);
    }
    sqlite3_finalize(s);
    return code == 1 ? 0 : code;
}

/* ---- single blocks --------------------------------------------------------- */

/* The daemon's clock may have been set back between two runs that recorded the same job.
 * Therefore all messages up to a time are before the first block that has later ones. */
#define BLOCKS_BEFORE                                                                              \
    "SELECT first, begin_ns, length FROM block"                                                    \
    " WHERE first < ifnull((SELECT min(first) FROM block WHERE begin_ns > ?1), "                   \
    "9223372036854775807)"                                                                         \
    " AND first <= ifnull((SELECT min(first) FROM block WHERE end_ns > ?1), 9223372036854775807)"  \
    " ORDER BY first DESC"

int recording_block_before(struct recording_cursor *cursor, uint64_t time_ns, uint64_t least_ns,
                           uint64_t bytes, uint64_t *number, uint64_t *begin_ns)
{
    struct recording_file *file = recording_cursor_file(cursor);
    sqlite3_stmt *s = NULL;
    uint64_t sum = 0;
    int row = 0, found = 0;
    int code = recording_file_prepare(file, &s, BLOCKS_BEFORE);
    if (code == 0)
        sqlite3_bind_int64(s, 1, recording_blocks_time_of(time_ns));
    while (code == 0 && sum < bytes && (row = recording_file_step(file, s)) == 1) {
        uint64_t at_ns = recording_blocks_number_of(s, 1);
        if (found && at_ns < least_ns)
            break;
        *number = recording_blocks_number_of(s, 0);
        *begin_ns = at_ns;
        found = 1;
        sum += recording_blocks_number_of(s, 2) + 1;
    }
    sqlite3_finalize(s);
    code = code != 0 ? code : row < 0 ? row : 0;
    return code != 0 ? code : found ? 0 : -HOLTER_EEMPTY;
}

int recording_block_with_other_messages(struct recording_cursor *cursor, uint64_t *number,
                                        uint64_t *last)
{
    static const char query[] = "SELECT first, messages FROM block"
                                " WHERE others IS NOT 0 AND first > ? ORDER BY first LIMIT 1";
    struct recording_file *file = recording_cursor_file(cursor);
    sqlite3_stmt *s = NULL;
    int code = recording_file_prepare(file, &s, query);
    if (code == 0)
        sqlite3_bind_int64(s, 1, recording_blocks_time_of(*number));
    code = code != 0 ? code : recording_file_step(file, s);
    if (code == 1) {
        *number = recording_blocks_number_of(s, 0);
        *last = *number + recording_blocks_number_of(s, 1) - 1;
    }
    sqlite3_finalize(s);
    return code;
}

/* ---- spans ------------------------------------------------------------------ */

/* Were all windows of a span complete when they were published? */
static int recording_blocks_are_whole(struct recording_cursor *cursor, uint64_t from_ns,
                                      uint64_t to_ns)
{
    char sql[300];
    uint64_t window_ns = recording_cursor_window_ns(cursor);
    if (to_ns == 0 || window_ns == 0)
        return 0;
    uint64_t first = from_ns / window_ns, last = (to_ns - 1) / window_ns;
    if (last >= INT64_MAX)
        return 0;
    snprintf(sql, sizeof(sql),
             "SELECT count(*) = %" PRIu64 " AND sum(late) = 0 AND sum(agents_missing) = 0"
             " FROM totals WHERE window BETWEEN %" PRIu64 " AND %" PRIu64,
             last - first + 1, first, last);
    return recording_file_count(recording_cursor_file(cursor), sql) == 1;
}

void recording_blocks_bound(struct recording_cursor *cursor, uint64_t from_ns, uint64_t to_ns,
                            uint64_t *start, uint64_t *stop_ns)
{
    uint64_t window_ns = recording_cursor_window_ns(cursor), begin_ns;
    *start = 1;
    *stop_ns = UINT64_MAX;
    if (recording_cursor_file(cursor)->lacking > 0 ||
        window_ns >= (INT64_MAX - EARLY_NS) / LATE_WINDOWS)
        return;
    uint64_t early = EARLY_NS + 2 * window_ns;
    if (from_ns > early &&
        recording_block_before(cursor, from_ns - early, 0, 1, start, &begin_ns) != 0)
        *start = 1;
    if (to_ns < INT64_MAX && recording_blocks_are_whole(cursor, from_ns, to_ns))
        *stop_ns = to_ns + EARLY_NS + LATE_WINDOWS * window_ns;
}
