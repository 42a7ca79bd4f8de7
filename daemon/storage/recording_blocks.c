/* Answers questions about the amount and position of messages from the table of blocks, without
 * unpacking blocks. */
#include "daemon/storage/recording_blocks.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/recording_file.h"
#include "holter/bisect.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>

/* A file may contain any number; negative ones count as 0. */
static uint64_t recording_blocks_number_of(sqlite3_stmt *s, int column)
{
    sqlite3_int64 number = sqlite3_column_int64(s, column);
    return number < 0 ? 0 : (uint64_t)number;
}

/* ---- weights ------------------------------------------------------------- */

static int recording_blocks_append(struct recording_weights *w, uint64_t begin_ns,
                                   uint64_t messages, uint64_t bytes)
{
    if (array_fit(&w->list, sizeof(*w->list), &w->capacity, w->count + 1) != 0)
        return -ENOMEM;
    w->list[w->count++] = (struct recording_weight){begin_ns, messages, bytes};
    return 0;
}

int recording_weights_read(struct recording_weights *out, struct recording_cursor *cursor)
{
    struct recording_file *file = recording_cursor_file(cursor);
    struct recording_weights w = {0};
    uint64_t messages = 0, bytes = 0, begin_ns = 0;
    sqlite3_stmt *s = NULL;
    int row = 0, code = 0;
    if (!recording_file_has(file, "block"))
        return 0;
    code = recording_file_prepare(file, &s,
                                  "SELECT begin_ns, messages, length FROM block ORDER BY first");
    while (code == 0 && (row = recording_file_step(file, s)) == 1) {
        uint64_t began_ns = recording_blocks_number_of(s, 0);
        begin_ns = began_ns > begin_ns ? began_ns : begin_ns;
        code = recording_blocks_append(&w, begin_ns, messages, bytes);
        messages += recording_blocks_number_of(s, 1) % (UINT64_C(1) << 32);
        bytes += recording_blocks_number_of(s, 2) % (UINT64_C(1) << 32);
    }
    sqlite3_finalize(s);
    code = code != 0 ? code : row;
    code = code != 0 ? code : recording_blocks_append(&w, UINT64_MAX, messages, bytes);
    if (code == 0)
        *out = w;
    else
        recording_weights_finish(&w);
    return code;
}

void recording_weights_finish(struct recording_weights *w)
{
    free(w->list);
    *w = (struct recording_weights){0};
}

/* Sums of all blocks that begin before a time. */
static struct recording_weight recording_blocks_before(const struct recording_weights *w,
                                                       uint64_t time_ns)
{
    size_t low = BISECT(i, 0, w->count == 0 ? 0 : w->count - 1, w->list[i].begin_ns < time_ns);
    return w->count == 0 ? (struct recording_weight){0} : w->list[low];
}

struct recording_weight recording_weights_between(const struct recording_weights *w,
                                                  uint64_t from_ns, uint64_t to_ns)
{
    struct recording_weight from = recording_blocks_before(w, from_ns),
                            to = recording_blocks_before(w, to_ns);
    if (to_ns <= from_ns)
        return (struct recording_weight){from_ns, 0, 0};
    return (struct recording_weight){from_ns, to.messages - from.messages, to.bytes - from.bytes};
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
        sqlite3_bind_int64(s, 1, time_ns > INT64_MAX ? INT64_MAX : (sqlite3_int64)time_ns);
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
        sqlite3_bind_int64(s, 1, *number > INT64_MAX ? INT64_MAX : (sqlite3_int64)*number);
    code = code != 0 ? code : recording_file_step(file, s);
    if (code == 1) {
        *number = recording_blocks_number_of(s, 0);
        *last = *number + recording_blocks_number_of(s, 1) - 1;
    }
    sqlite3_finalize(s);
    return code;
}
