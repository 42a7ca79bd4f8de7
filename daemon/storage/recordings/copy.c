/* Makes recordings of others: a cut of one recording, and the merge of several of one job. */
#include "daemon/storage/recordings/copy.h"

#include "daemon/analysis/tables/saturate.h"
#include "daemon/storage/record_parts.h"
#include "daemon/storage/recording_blocks.h"
#include "daemon/storage/recordings/numbers.h"
#include "daemon/storage/table_copy.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMIT_INTERVAL 4096u /* messages between two commits */

/* ---- the written file ------------------------------------------------ */

struct target {
    const char *path;
    struct recording *recording;
    struct numbers numbers; /* numbers of the written messages */
    struct copy_counts *counts;
    const struct recording_progress *progress;
    uint64_t done, of; /* number of messages read, and to be read, for progress */
    char *why;
    size_t capacity;
};

static int copy_fail(struct target *t, int code, const char *path, const char *what)
{
    snprintf(t->why, t->capacity, "%s: %s", path, what);
    return code;
}

static int copy_fail_writing(struct target *t, int code)
{
    return copy_fail(t, code, t->path,
                     code == -EIO ? recording_error(t->recording) : holter_strerror(code));
}

static int copy_begin(struct target *t)
{
    if (access(t->path, F_OK) == 0)
        return copy_fail(t, -EEXIST, t->path, "there is such a file already");
    return recording_open(&t->recording, t->path, t->why, t->capacity);
}

/* Write the row of the table "part": begin of an attached recording and what is missing in it;
 * time before which parts were removed. */
static int copy_write_part(struct target *t, int attached, uint64_t attached_ns,
                           uint64_t removed_ns)
{
    const struct record_parts part_row = {.attached_ns = attached_ns,
                                          .removed_ns = removed_ns,
                                          .missed =
                                              attached ? numbers_count_missing(&t->numbers) : 0};
    if (!attached && removed_ns == 0)
        return 0;
    int code = recording_begin(t->recording);
    code = code != 0 ? code : record_parts_write_row(&part_row, t->recording);
    return code == 0 ? 0 : copy_fail_writing(t, code);
}

/* A copy with the end of a recording that had stopped before its job has stopped there, too.
 * @param path  of the recording that is copied */
static int copy_write_stop(struct target *t, const char *path, uint64_t to_ns)
{
    struct recording_stop stop;
    recording_find_stop(path, &stop);
    if (stop.at_ns == 0 || stop.at_ns >= to_ns)
        return 0;
    int code = recording_begin(t->recording);
    code = code != 0 ? code : recording_write_stop(t->recording, stop.at_ns, stop.why);
    return code == 0 ? 0 : copy_fail_writing(t, code);
}

/* Close the written file, or remove it after an error. */
static int copy_end(struct target *t, int code)
{
    numbers_finish(&t->numbers);
    if (t->recording == NULL)
        return code;
    if (code == 0) {
        char why[200];
        code = recording_close_with_error(t->recording, why, sizeof(why));
        if (code != 0)
            copy_fail(t, code, t->path, why);
    } else {
        recording_abandon(t->recording);
    }
    if (code != 0)
        recording_remove(t->path);
    return code;
}

/* ---- the files read ---------------------------------------------- */

struct source {
    const char *path;
    struct recording_cursor *cursor;
    struct recorded head;        /* of the next message */
    struct wire_message message; /* that one, decoded; it points into the arena */
    struct wire_arena arena;
    uint64_t messages;          /* number of messages as far as it is known, for progress */
    uint64_t first_ns, last_ns; /* arrival of the first and of the newest message that was read */
    int more;                   /* there is a next message */
    int fault;                  /* it cannot be decoded; 0: it can */
    char job[65];
    int windows; /* it has windows */
};

static void copy_close_source(struct source *s)
{
    recording_cursor_close(s->cursor);
    wire_arena_finish(&s->arena);
}

/* Read the next message; damaged ones are skipped and counted. @return 0 or negative */
static int copy_next(struct source *s, struct target *t)
{
    uint64_t skipped;
    size_t length;
    int code;
    for (;;) {
        code = recording_cursor_next_decoded(s->cursor, &s->head, &s->message, &s->arena, &length,
                                             &s->fault);
        s->more = code == 1;
        if (s->more && s->head.received_ns > s->last_ns)
            s->last_ns = s->head.received_ns;
        if (code >= 0)
            return 0;
        if (code != -HOLTER_ECORRUPT)
            break;
        code = recording_cursor_skip(s->cursor, &skipped);
        t->counts->damaged += skipped == 0 ? 1 : skipped;
        if (code != 1)
            return code == -HOLTER_ECORRUPT ? 0 : code;
    }
    return copy_fail(t, code, s->path, holter_strerror(code));
}

/* Write the message that was read, unless its bytes are damaged.
 * @param once  not if it was written before */
static int copy_put(struct target *t, struct source *s, const struct recorded *head, int once)
{
    const void *bytes;
    size_t length;
    int code = recording_cursor_bytes(s->cursor, &bytes, &length);
    if (code == -HOLTER_ECORRUPT) {
        t->counts->damaged++;
        return 0;
    }
    int is_known = code != 0 ? code : numbers_add(&t->numbers, head);
    if (is_known < 0)
        return copy_fail(t, is_known, s->path, holter_strerror(is_known));
    is_known &= once;
    t->counts->twice += (uint64_t)is_known;
    code = is_known ? 0 : recording_write_message(t->recording, head, bytes, length);
    if (code == 0 && !is_known && ++t->counts->messages % COMMIT_INTERVAL == 0)
        code = recording_commit(t->recording);
    return code == 0 ? 0 : copy_fail_writing(t, code);
}

/* @param empty  whether a file without windows is accepted */
static int copy_open_source(struct source *s, const char *path, int empty, struct target *t)
{
    s->path = path;
    int code = recording_cursor_salvage(&s->cursor, path, t->why, t->capacity);
    if (code != 0)
        return code;
    struct recording_file *file = recording_cursor_file(s->cursor);
    s->windows = recording_cursor_job(s->cursor)[0] != '\0';
    if (s->windows)
        snprintf(s->job, sizeof(s->job), "%s", recording_cursor_job(s->cursor));
    else if (!empty || table_copy_read_job(file, s->job, sizeof(s->job)) != 0 ||
             recording_cursor_window_ns(s->cursor) == 0)
        return copy_fail(t, -HOLTER_EEMPTY, path, "there is no window in it that can be read");
    code = recording_file_hold(file);
    if (code != 0)
        return copy_fail(t, code, path, holter_strerror(code));
    t->counts->lacking += file->lacking;
    s->messages = recording_file_count(file, "SELECT max(first + messages) FROM block");
    code = copy_next(s, t);
    s->first_ns = s->last_ns;
    return code;
}

/* @return begin of an attached recording; 0: begin of the job */
static uint64_t copy_read_attached_ns(const struct source *s)
{
    return recording_file_count(recording_cursor_file(s->cursor),
                                "SELECT attached_ns FROM part WHERE one = 1");
}

/* @return time before which parts were removed; 0: none were */
static uint64_t copy_read_removed_ns(const struct source *s)
{
    return recording_file_count(recording_cursor_file(s->cursor),
                                "SELECT removed_ns FROM part WHERE one = 1");
}

static int copy_seek(struct target *t, struct source *s, uint64_t number)
{
    recording_cursor_seek(s->cursor, number - 1);
    return copy_next(s, t);
}

/* ---- span ----------------------------------------------------------------- */

/* The newest windows may not have been published: of a job that runs, or in a part that another one
 * follows. */
static int copy_extend_span(struct target *t, struct source *s, uint64_t *end_ns)
{
    const uint64_t newest =
        recording_file_count(recording_cursor_file(s->cursor), "SELECT max(first) FROM block");
    int code = newest == 0 ? 0 : copy_seek(t, s, newest);
    for (; code == 0 && newest > 0 && s->more; code = copy_next(s, t)) {
        const uint64_t window_ns = recording_cursor_window_ns(s->cursor);
        if (s->head.type == WIRE_TYPE_WINDOW && s->head.time_ns < INT64_MAX - window_ns &&
            s->head.time_ns + window_ns > *end_ns)
            *end_ns = s->head.time_ns + window_ns;
    }
    return code;
}

int copy_span(const char *path, uint64_t *begin_ns, uint64_t *end_ns, char *why, size_t capacity)
{
    struct copy_counts counts = {0};
    struct target t = {.path = path, .counts = &counts, .why = why, .capacity = capacity};
    struct source s = {0};
    uint64_t last = 0;
    int code = copy_open_source(&s, path, 0, &t);
    uint64_t window_ns = code == 0 ? recording_cursor_window_ns(s.cursor) : 0;
    *begin_ns = UINT64_MAX;
    *end_ns = 0;
    if (code == 0 && /* otherwise all messages have to be read */
        recording_cursor_published(s.cursor, begin_ns, end_ns))
        code = copy_extend_span(&t, &s, end_ns);
    for (; code == 0 && *end_ns == 0 && s.more; code = copy_next(&s, &t)) {
        if (s.head.type != WIRE_TYPE_WINDOW || s.head.time_ns > INT64_MAX)
            continue;
        *begin_ns = s.head.time_ns < *begin_ns ? s.head.time_ns : *begin_ns;
        last = s.head.time_ns > last ? s.head.time_ns : last;
    }
    if (code == 0 && *begin_ns == UINT64_MAX)
        code = copy_fail(&t, -HOLTER_EEMPTY, path, "there is no window in it that can be read");
    else if (code == 0 && *end_ns == 0)
        *end_ns = saturated_sum(last, window_ns);
    copy_close_source(&s);
    return code;
}

/* ---- cut ------------------------------------------------------------------ */

struct cut {
    uint64_t from_ns, to_ns, window_ns;
    uint64_t
        start; /* number of the first message to read; there are no windows of the cut before it */
    uint64_t stop_ns;  /* no window of the cut is received later */
    uint64_t first_ns; /* arrival of the first window of the cut */
    uint64_t last_ns;  /* arrival of the newest message that was written */
};

static int copy_is_window_in_cut(const struct cut *cut, const struct recorded *head)
{
    return head->type == WIRE_TYPE_WINDOW && head->time_ns < cut->to_ns &&
           (head->time_ns > cut->from_ns || cut->from_ns - head->time_ns < cut->window_ns);
}

/* A capture belongs to the time of its request, or that until which records were asked for, as its
 * rows in the tables do. It may have arrived much later. */
static int copy_is_capture_in_cut(const struct cut *cut, const struct source *s)
{
    uint64_t time_ns = s->fault == 0 ? s->message.captured.asked_ns : s->head.received_ns;
    return s->head.type == WIRE_TYPE_CAPTURED && time_ns >= cut->from_ns && time_ns < cut->to_ns;
}

/* Does a message belong to the cut: one of its windows or captures, or a message about ranks
 * received before its end, or before its first window? That window arrives after the end of a cut
 * that is shorter, and in a recording that is a cut itself the ranks arrive with it. */
static int copy_is_in_cut(const struct cut *cut, const struct source *s)
{
    return s->head.type == WIRE_TYPE_WINDOW ? copy_is_window_in_cut(cut, &s->head)
           : s->head.type == WIRE_TYPE_CAPTURED
               ? copy_is_capture_in_cut(cut, s)
               : s->head.received_ns < cut->to_ns || s->head.received_ns <= cut->first_ns;
}

/* Write what belongs to the cut, from the message that was read last to another one. Messages from
 * before the first window are written as if they had arrived with it: otherwise the job would seem
 * to have been silent in between. */
static int copy_put_cut(struct target *t, struct source *s, struct cut *cut, uint64_t last)
{
    int code = 0;
    for (; code == 0 && s->more && recording_cursor_number(s->cursor) <= last &&
           s->head.received_ns <= cut->stop_ns;
         code = code != 0 ? code : copy_next(s, t)) {
        struct recorded head = s->head;
        recording_show_progress(t->progress, ++t->done, t->of);
        if (!copy_is_in_cut(cut, s))
            continue;
        int early = cut->from_ns > 0 && !copy_is_window_in_cut(cut, &head);
        if (cut->from_ns > 0 && head.received_ns < cut->first_ns)
            head.received_ns = cut->first_ns;
        if (early && head.time_ns < cut->first_ns)
            head.time_ns = cut->first_ns;
        cut->last_ns = head.received_ns;
        code = copy_put(t, s, &head, 0);
    }
    return code;
}

/* Write the captures of the cut that arrived after its last window could have, as if they had
 * arrived with the newest message. The message that was read last has not been written. Damage
 * there is not counted: hardly any of these messages are of the cut. */
static int copy_put_late_captures(struct target *t, struct source *s, const struct cut *cut)
{
    const uint64_t from = recording_cursor_number(s->cursor), damaged = t->counts->damaged;
    uint64_t at = 0, last = 0;
    int code = 0;
    if (!s->more)
        return 0;
    while (code == 0 && recording_block_with_other_messages(s->cursor, &at, &last) == 1) {
        if (last < from)
            continue;
        for (code = copy_seek(t, s, at > from ? at : from);
             code == 0 && s->more && recording_cursor_number(s->cursor) <= last;
             code = code != 0 ? code : copy_next(s, t)) {
            struct recorded head = s->head;
            head.received_ns = head.time_ns = cut->last_ns;
            if (copy_is_capture_in_cut(cut, s))
                code = copy_put(t, s, &head, 0);
        }
    }
    t->counts->damaged = damaged;
    return code;
}

/* Find the first window of the cut, and how many messages are to be read. */
static int copy_find_first(struct target *t, struct source *s, struct cut *cut)
{
    char sql[160];
    uint64_t stop_ns = cut->stop_ns < INT64_MAX ? cut->stop_ns : INT64_MAX;
    int code = copy_seek(t, s, cut->start);
    while (code == 0 && s->more && s->head.received_ns <= cut->stop_ns &&
           !copy_is_window_in_cut(cut, &s->head))
        code = copy_next(s, t);
    if (code == 0 && (!s->more || !copy_is_window_in_cut(cut, &s->head)))
        code = copy_fail(t, -HOLTER_EEMPTY, s->path, "there is no window in this time");
    cut->first_ns = s->head.received_ns;
    snprintf(sql, sizeof(sql),
             "SELECT sum(messages) FROM block WHERE first >= %" PRIu64 " AND begin_ns <= %" PRIu64,
             cut->start, stop_ns);
    t->of = recording_file_count(recording_cursor_file(s->cursor), sql);
    t->counts->damaged = 0; /* damage is counted when it is read again */
    return code;
}

/* Write the messages before `start` that are not windows, then those from there on. */
static int copy_put_all(struct target *t, struct source *s, struct cut *cut)
{
    uint64_t at = 0, last = 0;
    int code = 0;
    while (code == 0 && cut->start > 1) {
        int more = recording_block_with_other_messages(s->cursor, &at, &last);
        if (more != 1 || at >= cut->start)
            break;
        code = copy_seek(t, s, at);
        code =
            code != 0 ? code : copy_put_cut(t, s, cut, last < cut->start ? last : cut->start - 1);
    }
    code = code != 0 ? code : copy_seek(t, s, cut->start);
    code = code != 0 ? code : copy_put_cut(t, s, cut, UINT64_MAX);
    return code != 0 ? code : copy_put_late_captures(t, s, cut);
}

/* Adjust the row of the job to the span of the cut: of a job that went on it is no end. */
static int copy_update_job(struct target *t, const struct cut *cut)
{
    char sql[320];
    uint64_t length = cut->window_ns, start = cut->from_ns / length * length, end = INT64_MAX;
    if (cut->to_ns <= INT64_MAX - length)
        end = ((cut->to_ns - 1) / length + 1) * length;
    snprintf(sql, sizeof(sql),
             "UPDATE job SET start_ns = max(start_ns, %" PRIu64 "),"
             " state = CASE WHEN end_ns > %" PRIu64 " THEN 'running' ELSE state END,"
             " end_ns = CASE WHEN end_ns > %" PRIu64 " THEN 0 ELSE end_ns END",
             start, end, end);
    return recording_file_exec(recording_database(t->recording), sql) == 0
               ? 0
               : copy_fail_writing(t, -EIO);
}

int copy_cut(const char *out, const char *path, uint64_t from_ns, uint64_t to_ns,
             const struct recording_progress *progress, struct copy_counts *counts, char *why,
             size_t capacity)
{
    struct target t = {
        .path = out, .counts = counts, .progress = progress, .why = why, .capacity = capacity};
    struct source s = {0};
    struct cut cut = {.from_ns = from_ns, .to_ns = to_ns};
    *counts = (struct copy_counts){0};
    int code = copy_open_source(&s, path, 0, &t);
    cut.window_ns = code == 0 ? recording_cursor_window_ns(s.cursor) : 0;
    if (code == 0)
        recording_blocks_bound(s.cursor, from_ns, to_ns, &cut.start, &cut.stop_ns);
    code = code != 0 ? code : copy_find_first(&t, &s, &cut);
    code = code != 0 ? code : copy_begin(&t);
    code = code != 0 ? code : copy_put_all(&t, &s, &cut);
    if (code == 0) {
        const struct recorded_span span = {from_ns, to_ns};
        code = table_copy_span(t.recording, recording_cursor_file(s.cursor), &span, cut.window_ns,
                               &counts->tables);
        code = code != 0 ? copy_fail_writing(&t, code) : copy_update_job(&t, &cut);
        uint64_t since = copy_read_attached_ns(&s);
        code = code != 0 ? code : copy_write_part(&t, since != 0, since, copy_read_removed_ns(&s));
        code = code != 0 ? code : copy_write_stop(&t, path, to_ns);
    }
    copy_close_source(&s);
    return copy_end(&t, code);
}

/* ---- merge ---------------------------------------------------------------- */

struct merge {
    struct source **sources; /* owned, as each of them */
    size_t count;
};

/* @return the source with the earliest message; of equal ones the first */
static struct source *copy_earliest(struct merge *m)
{
    struct source *found = NULL;
    for (size_t i = 0; i < m->count; i++) {
        struct source *s = m->sources[i];
        if (s->more && (found == NULL || s->head.received_ns < found->head.received_ns))
            found = s;
    }
    return found;
}

static int copy_put_merged(struct target *t, struct merge *m)
{
    int code = 0;
    for (struct source *s; code == 0 && (s = copy_earliest(m)) != NULL;) {
        recording_show_progress(t->progress, ++t->done, t->of);
        code = copy_put(t, s, &s->head, 1);
        code = code != 0 ? code : copy_next(s, t);
    }
    return code;
}

static int copy_order_by_first(const void *a, const void *b)
{
    const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;
    return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

/* The source that has seen more of the job is copied last, so that its rows win: one that began
 * later may have ended earlier. */
static int copy_order_by_last(const void *a, const void *b)
{
    const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;
    return x->last_ns == y->last_ns ? copy_order_by_first(a, b) : x->last_ns > y->last_ns ? 1 : -1;
}

/* Does a row of one file lead to a row of another one? What cannot be read does not.
 * @param list  query for up to two numbers
 * @param find  query that has them as ?1 and ?2 */
static int copy_finds_any(const struct source *one, const char *list, const struct source *other,
                          const char *find)
{
    struct recording_file *from = recording_cursor_file(one->cursor);
    struct recording_file *in = recording_cursor_file(other->cursor);
    sqlite3_stmt *rows = NULL, *row = NULL;
    int any = 0;
    if (recording_file_prepare(from, &rows, list) == 0 &&
        recording_file_prepare(in, &row, find) == 0) {
        while (!any && recording_file_step(from, rows) == 1) {
            for (int c = 0; c < sqlite3_column_count(rows); c++)
                sqlite3_bind_int64(row, c + 1, sqlite3_column_int64(rows, c));
            any = recording_file_step(in, row) == 1;
            sqlite3_reset(row);
        }
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(row);
    return any;
}

/* A job id may be used again. Agents may be replaced within a run, and processes within what an
 * agent reports. */
static int copy_are_two_runs(const struct source *one, const struct source *other)
{
    return copy_finds_any(one, "SELECT rank, pid FROM places WHERE pid > 0", other,
                          "SELECT 1 FROM places WHERE rank = ?1 AND pid > 0 AND pid <> ?2") &&
           !copy_finds_any(one, "SELECT instance FROM agent", other,
                           "SELECT 1 FROM agent WHERE instance = ?1");
}

/* @return ranks in a row of the tables; 0: it has no row, or its job cannot be read */
static uint64_t copy_read_group(const struct source *s)
{
    return s->windows ? recording_file_count(recording_cursor_file(s->cursor),
                                             "SELECT rank_group FROM job")
                      : 0;
}

static int copy_check_same_job(struct target *t, const struct source *first,
                               const struct source *other)
{
    const uint64_t group = copy_read_group(first), other_group = copy_read_group(other);
    if (strcmp(first->job, other->job) != 0)
        snprintf(t->why, t->capacity, "%s is of job %s, but %s of job %s", first->path, first->job,
                 other->path, other->job);
    else if (recording_cursor_window_ns(first->cursor) != recording_cursor_window_ns(other->cursor))
        snprintf(t->why, t->capacity, "the windows of %s and %s differ in length", first->path,
                 other->path);
    else if (copy_are_two_runs(first, other))
        snprintf(t->why, t->capacity, "%s and %s are of two runs of job %s", first->path,
                 other->path, first->job);
    else if (group != 0 && other_group != 0 && group != other_group)
        snprintf(t->why, t->capacity,
                 "a row of %s is of %" PRIu64 " rank%s, but of %" PRIu64
                 " in %s: they were recorded with different --most-ranks",
                 first->path, group, group == 1 ? "" : "s", other_group, other->path);
    else
        return 0;
    return -HOLTER_ENOJOB;
}

static int copy_open_sources(struct target *t, struct merge *m, const char *const *paths)
{
    int code = 0, windows = 0;
    size_t of = m->count;
    m->count = 0;
    for (size_t i = 0; code == 0 && i < of; i++) {
        struct source *this = m->sources[m->count] = calloc(1, sizeof(*this));
        if (this == NULL)
            return copy_fail(t, -ENOMEM, paths[i], "no memory");
        code = copy_open_source(this, paths[i], 1, t);
        if (code == -HOLTER_EEMPTY &&
            (this->cursor == NULL || table_copy_is_empty(recording_cursor_file(this->cursor)))) {
            copy_close_source(this);
            free(this);
            m->sources[m->count] = NULL;
            code = 0;
            continue;
        }
        m->count += code == 0;
        t->of += this->messages;
        windows |= this->windows;
        code = code != 0 ? code : copy_check_same_job(t, m->sources[0], this);
    }
    if (code != 0)
        return code;
    qsort(m->sources, m->count, sizeof(*m->sources), copy_order_by_first);
    return windows ? 0 : copy_fail(t, -HOLTER_EEMPTY, paths[0], "there is no window in it");
}

/* A recording from the begin of the job has what attached ones lack. */
static int copy_merge_parts(struct target *t, const struct merge *m)
{
    uint64_t earliest = UINT64_MAX, first = UINT64_MAX, removed = 0;
    int any = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct source *s = m->sources[i];
        uint64_t since = copy_read_attached_ns(s), before = copy_read_removed_ns(s);
        any |= since != 0;
        earliest = since < earliest ? since : earliest;
        removed = before > removed ? before : removed;
        first = s->first_ns < first ? s->first_ns : first;
    }
    return copy_write_part(
        t, any, earliest,
        removed > first ? 0 : removed); /* unless that time is in one of the merged files */
}

static int copy_merge_tables(struct target *t, struct merge *m)
{
    uint64_t least = INT64_MAX;
    int code = 0;
    qsort(m->sources, m->count, sizeof(*m->sources),
          copy_order_by_last); /* all have been read to their ends */
    for (size_t i = 0; code == 0 && i < m->count; i++) {
        struct recording_cursor *cursor = m->sources[i]->cursor;
        struct recording_file *file = recording_cursor_file(cursor);
        code = table_copy_span(t->recording, file, &(struct recorded_span){0, UINT64_MAX},
                               recording_cursor_window_ns(cursor), &t->counts->tables);
        uint64_t start = recording_file_count(file, "SELECT start_ns FROM job");
        least = start > 0 && start < least ? start : least;
    }
    if (code != 0)
        return copy_fail_writing(t, code);
    char sql[120];
    snprintf(sql, sizeof(sql), "UPDATE job SET start_ns = %" PRIu64, least);
    if (least != INT64_MAX && recording_file_exec(recording_database(t->recording), sql) != 0)
        return copy_fail_writing(t, -EIO);
    return 0;
}

int copy_merge(const char *out, const char *const *paths, size_t count,
               const struct recording_progress *progress, struct copy_counts *counts, char *why,
               size_t capacity)
{
    struct target t = {
        .path = out, .counts = counts, .progress = progress, .why = why, .capacity = capacity};
    struct merge m = {.count = count, .sources = calloc(count + 1, sizeof(*m.sources))};
    *counts = (struct copy_counts){0};
    int code = m.sources == NULL ? copy_fail(&t, -ENOMEM, out, "no memory")
                                 : copy_open_sources(&t, &m, paths);
    code = code != 0 ? code : copy_begin(&t);
    code = code != 0 ? code : copy_put_merged(&t, &m);
    code = code != 0 ? code : copy_merge_tables(&t, &m);
    code = code != 0 ? code : copy_merge_parts(&t, &m);
    code = code != 0 ? code : copy_write_stop(&t, m.sources[m.count - 1]->path, UINT64_MAX);
    counts->missing = code == 0 ? numbers_count_missing(&t.numbers) : 0;
    code = copy_end(&t, code);
    for (size_t i = 0; m.sources != NULL && i < count && m.sources[i] != NULL; i++) {
        copy_close_source(m.sources[i]);
        free(m.sources[i]);
    }
    free(m.sources);
    return code;
}
