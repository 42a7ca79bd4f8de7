#include "daemon/storage/recording.h"
#include "daemon/storage/recordings/copy.h"
#include "daemon/storage/recordings/diff.h"
#include "holter/error.h"
#include "tests/daemon/storage/recordings/made_recording.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], a[128], b[128], c[128], d[128], out[128];
static char why[600];
static struct copy_counts counts;

static int make_directory(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(a, sizeof(a), "%s/a.hrec", directory);
    snprintf(b, sizeof(b), "%s/b.hrec", directory);
    snprintf(c, sizeof(c), "%s/c.hrec", directory);
    snprintf(d, sizeof(d), "%s/d.hrec", directory);
    snprintf(out, sizeof(out), "%s/out.hrec", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

static uint64_t at(double seconds)
{
    return MADE_BEGIN * MADE_S + (uint64_t)(seconds * 1e9);
}

static int cut(const char *to, double from_s, double to_s)
{
    return copy_cut(to, a, from_s < 0 ? 0 : at(from_s), to_s < 0 ? UINT64_MAX : at(to_s), NULL,
                    &counts, why, sizeof(why));
}

static uint64_t differences(const char *x, const char *y)
{
    const char *const paths[2] = {x, y};
    struct diff diff;
    if (diff_read(&diff, paths, &(struct diff_options){.items = 5}, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    uint64_t found = diff.differences;
    diff_finish(&diff);
    return found;
}

struct seen {
    uint64_t ranks, windows, captured, first, last, first_ns;
};

static struct seen read_all(const char *path)
{
    struct recording_cursor *cursor;
    struct recorded head;
    struct seen seen = {.first = UINT64_MAX};
    const void *bytes;
    size_t length;
    if (recording_cursor_open(&cursor, path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    while (recording_cursor_next(cursor, &head, &bytes, &length) == 1) {
        seen.first_ns = seen.first_ns == 0 ? head.received_ns : seen.first_ns;
        seen.ranks += head.type == WIRE_TYPE_RANKS;
        seen.windows += head.type == WIRE_TYPE_WINDOW;
        seen.captured += head.type == WIRE_TYPE_CAPTURED;
        if (head.type != WIRE_TYPE_WINDOW)
            continue;
        seen.first = head.window < seen.first ? head.window : seen.first;
        seen.last = head.window > seen.last ? head.window : seen.last;
    }
    recording_cursor_close(cursor);
    return seen;
}

static void a_cut_has_the_windows_between_and_the_ranks_before(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    assert_int_equal(cut(out, 5, 8.5), 0);
    struct seen seen = read_all(out);
    assert_int_equal(seen.ranks, 2);
    assert_int_equal(seen.windows, 8);
    assert_int_equal(seen.first, MADE_BEGIN + 5);
    assert_int_equal(seen.last, MADE_BEGIN + 8);
    assert_int_equal(seen.first_ns, at(6) + 1000); /* as if sent with the first window */
    assert_int_equal(counts.messages, 10);
    assert_int_equal(made_ask(out, "SELECT count(*) FROM totals"), 4);
    assert_int_equal(made_ask(out, "SELECT min(window) FROM totals"), MADE_BEGIN + 5);
    assert_int_equal(made_ask(out, "SELECT count(*) FROM alert"), 1);
    assert_int_equal(made_ask(out, "SELECT start_ns FROM job"), at(5));
    assert_int_equal(made_ask(out, "SELECT end_ns FROM job"), 0); /* it went on */
}

static void captures_go_with_their_time(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    for (uint64_t id = 1; id <= 3; id++)
        made_capture(a, "job.0", id, 5 * id);
    assert_int_equal(cut(out, 10, 12), 0); /* from before its first window has come */
    assert_int_equal(read_all(out).captured, 1);
    assert_int_equal(made_ask(out, "SELECT count(*) FROM captures"), 1);
    assert_int_equal(made_ask(out, "SELECT max(id) FROM captures"), 2);
    assert_int_equal(made_ask(out, "SELECT count(*) FROM capture_events WHERE capture = 2"), 2);
    assert_int_equal(made_ask(out, "SELECT count(*) FROM capture_events"), 2);
}

/* Its rows and its message are in the same cuts, though it arrived long after that time. */
static void captures_of_the_past_go_with_the_time_that_they_end_at(void **state)
{
    (void)state;
    made(a, "job.0", 0, 200);
    made_capture_until(a, "job.0", 1, 10, 195);
    made_capture_until(a, "job.0", 2, 150, 195);
    assert_int_equal(cut(out, 5, 12), 0);
    assert_int_equal(made_ask(out, "SELECT max(id) FROM captures"), 1);
    struct seen seen = read_all(out);
    assert_int_equal(seen.captured, 1);
    assert_int_equal(seen.windows, 14);
    remove(out);
    assert_int_equal(cut(out, 190, 198), 0);
    assert_int_equal(made_ask(out, "SELECT count(*) FROM captures"), 0);
    assert_int_equal(read_all(out).captured, 0);
    remove(out);
    assert_int_equal(cut(out, -1, -1), 0);
    assert_int_equal(read_all(out).captured, 2);
}

static void a_cut_without_bounds_is_the_whole(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    assert_int_equal(cut(out, -1, -1), 0);
    assert_int_equal(differences(a, out), 0);
}

/* A part of a recording may have messages of a window whose row is in the next one. */
static void a_span_ends_with_the_newest_window_that_has_messages(void **state)
{
    uint64_t begin_ns, end_ns;
    (void)state;
    made(a, "job.0", 0, 20);
    made_ask(a, "DELETE FROM totals WHERE window = (SELECT max(window) FROM totals)");
    assert_int_equal(copy_span(a, &begin_ns, &end_ns, why, sizeof(why)), 0);
    assert_int_equal(begin_ns, at(0));
    assert_int_equal(end_ns, at(20));
}

static void assert_job(const char *path, const char *state, int64_t start_ns, int64_t end_ns)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT state, start_ns, end_ns FROM job", -1, &s, 0),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal(sqlite3_column_text(s, 0), state);
    assert_int_equal(sqlite3_column_int64(s, 1), start_ns);
    assert_int_equal(sqlite3_column_int64(s, 2), end_ns);
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static void a_job_that_goes_on_after_a_cut_has_no_end_in_it(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    assert_int_equal(cut(b, 5, 8), 0);
    assert_job(b, "running", (int64_t)at(5), 0);
    assert_int_equal(cut(c, -1, 19.5), 0); /* with the whole of the last window */
    assert_job(c, "ended", (int64_t)at(0), (int64_t)at(20));
    assert_int_equal(cut(d, -1, 30), 0);
    assert_job(d, "ended", (int64_t)at(0), (int64_t)at(20));
    const char *paths[] = {b, c};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_job(out, "ended", (int64_t)at(0), (int64_t)at(20));
}

static void a_cut_of_nothing_leaves_nothing(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    assert_int_equal(cut(out, 100, 200), -HOLTER_EEMPTY);
    assert_non_null(strstr(why, "no window in this time"));
    assert_int_equal(access(out, F_OK), -1);
}

static void what_is_there_is_not_overwritten(void **state)
{
    (void)state;
    made(a, "job.0", 0, 3);
    made(out, "job.1", 0, 3);
    assert_int_equal(cut(out, -1, -1), -EEXIST);
    assert_int_equal(made_ask(out, "SELECT job = 'job.1' FROM job"), 1);
}

/* As on a full disk. */
static void what_cannot_be_begun_leaves_nothing(void **state)
{
    struct rlimit limit, small;
    (void)state;
    made(a, "job.0", 0, 20);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 8192;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int code = cut(out, -1, -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(code, -EIO);
    assert_int_equal(access(out, F_OK), -1);
    assert_int_equal(cut(out, -1, -1), 0);
}

static void cuts_merged_are_the_whole_in_any_order(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    assert_int_equal(cut(b, -1, 12), 0);
    assert_int_equal(cut(c, 9, -1), 0);
    const char *paths[] = {c, b};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(counts.messages, 42);
    assert_int_equal(counts.twice, 2 + 6); /* ranks; windows 9 to 11 */
    assert_int_equal(counts.missing, 0);
    assert_int_equal(differences(a, out), 0);
}

/* A part may have begun between the answers of two nodes. */
static void a_capture_in_two_parts_is_one_when_they_are_merged(void **state)
{
    (void)state;
    made(a, "job.0", 0, 10);
    made(b, "job.0", 10, 20);
    made_ask(a, "INSERT INTO captures VALUES(1, 9, 10, 'alert 3', 3, 2, 1, 100, 'a ring is full')");
    made_ask(b, "INSERT INTO captures VALUES(1, 9, 12, 'alert 3', 3, 2, 2, 150, '')");
    const char *paths[] = {a, b};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(made_ask(out, "SELECT at_ns FROM captures"), 10);
    assert_int_equal(made_ask(out, "SELECT answered FROM captures"), 2);
    assert_int_equal(made_ask(out, "SELECT records FROM captures"), 150);
    assert_int_equal(made_ask(out, "SELECT fault = 'a ring is full' FROM captures"), 1);
}

static void what_is_in_no_part_is_counted(void **state)
{
    (void)state;
    made(a, "job.0", 0, 5);
    made(b, "job.0", 8, 10);
    const char *paths[] = {a, b};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(counts.missing, 2 * 3);
}

static void a_cut_of_the_middle_changes_nothing_of_the_whole(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    assert_int_equal(cut(b, 5, 8), 0);
    const char *paths[] = {a, b}, *turned[] = {b, a};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(differences(a, out), 0);
    assert_int_equal(copy_merge(c, turned, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(differences(a, c), 0);
}

/* The ranks of a cut arrive with its first window, which is after the end of that window. */
static void a_cut_of_the_first_window_of_a_cut_has_its_ranks(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    assert_int_equal(cut(b, 5, 8.5), 0);
    assert_int_equal(copy_cut(c, b, at(5), at(6), NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(read_all(c).ranks, 2);
    assert_int_equal(cut(d, 5, 6), 0);
    assert_int_equal(differences(c, d), 0);
    assert_int_equal(copy_cut(out, d, at(5), at(6), NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(differences(d, out), 0);
}

/* As of one that was attached later than the other began, and left before it ended. */
static void newer_rows_replace_older_ones(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    made(b, "job.0", 2, 5);
    made_ask(b, "UPDATE alert SET state = 'firing', updated_ns = since_ns");
    made_ask(b, "UPDATE job SET state = 'running', end_ns = 0");
    made_ask(
        b, "INSERT INTO criterion(locality, size_class, window, messages) VALUES('both', 1, 4, 4)");
    made_ask(
        a, "INSERT INTO criterion(locality, size_class, window, messages) VALUES('both', 1, 9, 9)");
    const char *paths[] = {a, b};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(differences(a, out), 0);
    assert_int_equal(made_ask(out, "SELECT messages FROM criterion"), 9);
    /* What is left of the first ended earlier, but knows how the alert did. */
    assert_int_equal(cut(c, -1, 4), 0);
    unlink(out);
    paths[0] = c;
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(made_ask(out, "SELECT state = 'resolved' FROM alert"), 1);
    assert_int_equal(made_ask(out, "SELECT messages FROM criterion"), 9);
    assert_int_equal(made_ask(out, "SELECT state = 'running' FROM job"), 1);
}

static void attach(const char *path, double since_s)
{
    char sql[160];
    snprintf(sql, sizeof(sql),
             "INSERT OR REPLACE INTO part(one, part, removed_ns, attached_ns, missed)"
             " VALUES(1, 0, 0, %llu, 0)",
             (unsigned long long)at(since_s));
    made_ask(path, sql);
}

static void a_cut_says_since_when_its_recording_was_attached(void **state)
{
    (void)state;
    made(a, "job.0", 5, 20);
    attach(a, 5);
    assert_int_equal(cut(out, 8, 12), 0);
    assert_int_equal(made_ask(out, "SELECT attached_ns FROM part"), at(5));
    assert_int_equal(made_ask(out, "SELECT missed FROM part"), 0);
}

static void what_came_to_no_attached_recording_is_counted(void **state)
{
    (void)state;
    made(b, "job.0", 3, 6);
    attach(b, 3);
    made(c, "job.0", 9, 12);
    attach(c, 9);
    const char *paths[] = {c, b};
    assert_int_equal(copy_merge(a, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(made_ask(a, "SELECT attached_ns FROM part"), at(3));
    assert_int_equal(made_ask(a, "SELECT missed FROM part"), 2 * 3);
    assert_int_equal(cut(out, 7, -1), 0);
    assert_int_equal(made_ask(out, "SELECT attached_ns FROM part"), at(3));
    assert_int_equal(made_ask(out, "SELECT missed FROM part"), 0);
}

static void with_the_begin_of_the_job_nothing_is_attached(void **state)
{
    (void)state;
    made(b, "job.0", 0, 6);
    made(c, "job.0", 9, 12);
    attach(c, 9);
    const char *paths[] = {b, c};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(made_ask(out, "SELECT attached_ns FROM part"), 0);
    assert_int_equal(made_ask(out, "SELECT missed FROM part"), 2 * 3);
}

/* The job ended when the last part had just begun. */
/* Write into a recording that it stopped in the middle of a second of the job. */
static void stop(const char *path, uint64_t second)
{
    struct recording *recording;
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    recording_stop(recording, at((double)second + 0.5), "no space left on device");
}

static void copies_of_the_end_of_a_recording_tell_why_it_stopped(void **state)
{
    (void)state;
    struct recording_stop found;
    made(a, "job.0", 0, 20);
    made(b, "job.0", 0, 10);
    stop(a, 19);
    stop(b, 9);
    assert_int_equal(cut(out, 5, -1), 0);
    recording_find_stop(out, &found);
    assert_int_equal(found.at_ns, at(19.5));
    assert_string_equal(found.why, "no space left on device");
    assert_int_equal(cut(c, 5, 12), 0);
    recording_find_stop(c, &found);
    assert_int_equal(found.at_ns, 0);
    const char *const paths[] = {b, a};
    assert_int_equal(copy_merge(d, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    recording_find_stop(d, &found);
    assert_int_equal(found.at_ns, at(19.5));
}

static void a_part_without_windows_is_merged(void **state)
{
    (void)state;
    made(a, "job.0", 0, 6);
    made(b, "job.0", 6, 6);
    const char *paths[] = {b, a};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(counts.messages, 14);
    assert_int_equal(read_all(out).windows, 12);
    assert_int_equal(copy_merge(c, paths, 1, NULL, &counts, why, sizeof(why)), -HOLTER_EEMPTY);
    assert_non_null(strstr(why, "no window in it"));
    assert_int_equal(access(c, F_OK), -1);
    made(c, "job.1", 6, 6);
    paths[0] = c;
    unlink(out);
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), -HOLTER_ENOJOB);
}

/* Its daemon was killed while it made it. */
static void a_part_with_nothing_in_it_is_passed_over(void **state)
{
    struct recording *empty;
    (void)state;
    made(a, "job.0", 0, 6);
    assert_int_equal(recording_open(&empty, b, why, sizeof(why)), 0);
    recording_abandon(empty);
    fclose(fopen(d, "we")); /* before it had tables */
    const char *paths[] = {b, a, d};
    assert_int_equal(copy_merge(out, paths, 3, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(differences(a, out), 0);
    assert_int_equal(copy_merge(c, paths, 1, NULL, &counts, why, sizeof(why)), -HOLTER_EEMPTY);
    assert_int_equal(access(c, F_OK), -1);
}

static void the_time_before_which_parts_were_removed_is_kept(void **state)
{
    char sql[160];
    (void)state;
    made(b, "job.0", 3, 6);
    made(c, "job.0", 6, 9);
    snprintf(sql, sizeof(sql), "INSERT INTO part VALUES(1, 3, %llu, 0, 0)",
             (unsigned long long)at(0) + 1000); /* the first message of b */
    made_ask(c, sql);
    const char *paths[] = {b, c};
    assert_int_equal(copy_merge(a, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(made_ask(a, "SELECT removed_ns FROM part"), at(0) + 1000);
    assert_int_equal(made_ask(a, "SELECT part + attached_ns + missed FROM part"), 0);
    assert_int_equal(cut(out, -1, -1), 0);
    assert_int_equal(made_ask(out, "SELECT removed_ns FROM part"), at(0) + 1000);
    /* A copy of it may have been kept. */
    made_ask(c, "UPDATE part SET removed_ns = removed_ns + 2000000000");
    unlink(out);
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(made_ask(out, "SELECT count(*) FROM part"), 0);
}

static void recordings_of_other_jobs_are_not_merged(void **state)
{
    (void)state;
    made(a, "job.0", 0, 3);
    made(b, "job.1", 3, 6);
    const char *paths[] = {a, b};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), -HOLTER_ENOJOB);
    assert_non_null(strstr(why, "job.0"));
    assert_non_null(strstr(why, "job.1"));
    assert_int_equal(access(out, F_OK), -1);
}

static void runs_of_one_job_id_are_not_merged(void **state)
{
    (void)state;
    made(a, "job.0", 0, 3);
    made(b, "job.0", 3, 6);
    made_ask(a, "INSERT INTO places(rank, pid) VALUES(0, 10), (1, 11)");
    made_ask(b, "INSERT INTO places(rank, pid) VALUES(1, 21)");
    const char *paths[] = {a, b};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    unlink(out);
    made_ask(b, "UPDATE agent SET instance = instance + 10"); /* nor is an agent of both */
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), -HOLTER_ENOJOB);
    assert_non_null(strstr(why, "are of two runs of job job.0"));
    made_ask(b, "UPDATE places SET pid = 11"); /* whose agents were replaced */
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
}

static void rows_of_ranks_and_of_groups_are_not_merged(void **state)
{
    (void)state;
    made(a, "job.0", 0, 3);
    made(b, "job.0", 3, 6);
    made_ask(a, "UPDATE job SET rank_group = 1");
    made_ask(b, "UPDATE job SET rank_group = 4");
    const char *paths[] = {a, b};
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), -HOLTER_ENOJOB);
    assert_non_null(strstr(why, "a row of"));
    assert_non_null(strstr(why, "is of 1 rank, but of 4 in"));
    assert_int_equal(access(out, F_OK), -1);
    made_ask(b, "UPDATE job SET rank_group = 1");
    assert_int_equal(copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why)), 0);
}

static void what_is_damaged_is_left_out_and_counted(void **state)
{
    (void)state;
    made(a, "job.0", 0, 20);
    made(b, "job.0", 20, 40);
    const char *paths[] = {a, b};
    assert_int_equal(copy_merge(c, paths, 2, NULL, &counts, why, sizeof(why)), 0);
    snprintf(a, sizeof(a), "%s", c);
    assert_int_equal(made_ask(c, "SELECT count(*) FROM block"), 1);
    made_ask(c, "INSERT INTO block(first, messages, begin_ns, end_ns, length, data) SELECT first + "
                "messages, 5, begin_ns, end_ns, 1, x'00' FROM block");
    assert_int_equal(cut(out, -1, -1), 0);
    assert_int_equal(counts.damaged, 5);
    assert_int_equal(counts.messages, 82);
}

/* A window is published while messages are copied. */
static void publish(void *user, double share)
{
    struct recording *writer = user;
    const struct wire_totals t = {.job = "job.0", .window = MADE_BEGIN + 1000, .length_ns = MADE_S};
    (void)share;
    assert_int_equal(recording_write_result(writer, WIRE_TYPE_TOTALS, &t), 0);
    assert_int_equal(recording_commit(writer), 0);
}

static void what_comes_meanwhile_is_not_in_half_of_it(void **state)
{
    (void)state;
    const char *const paths[1] = {a};
    struct recording *writer;
    made(a, "job.0", 0, 200);
    assert_int_equal(recording_open(&writer, a, why, sizeof(why)), 0);
    const struct recording_progress progress = {.show = publish, .user = writer};
    assert_int_equal(copy_merge(out, paths, 1, &progress, &counts, why, sizeof(why)), 0);
    assert_int_equal(made_ask(a, "SELECT max(window) FROM totals"), MADE_BEGIN + 1000);
    assert_int_equal(made_ask(out, "SELECT max(window) FROM totals"), MADE_BEGIN + 199);
    assert_int_equal(recording_close(writer), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(a_cut_has_the_windows_between_and_the_ranks_before),
        TEST(captures_go_with_their_time),
        TEST(captures_of_the_past_go_with_the_time_that_they_end_at),
        TEST(a_cut_without_bounds_is_the_whole),
        TEST(a_span_ends_with_the_newest_window_that_has_messages),
        TEST(a_job_that_goes_on_after_a_cut_has_no_end_in_it),
        TEST(a_cut_of_nothing_leaves_nothing),
        TEST(what_is_there_is_not_overwritten),
        TEST(what_cannot_be_begun_leaves_nothing),
        TEST(cuts_merged_are_the_whole_in_any_order),
        TEST(a_capture_in_two_parts_is_one_when_they_are_merged),
        TEST(what_is_in_no_part_is_counted),
        TEST(a_cut_of_the_middle_changes_nothing_of_the_whole),
        TEST(a_cut_of_the_first_window_of_a_cut_has_its_ranks),
        TEST(newer_rows_replace_older_ones),
        TEST(a_cut_says_since_when_its_recording_was_attached),
        TEST(what_came_to_no_attached_recording_is_counted),
        TEST(with_the_begin_of_the_job_nothing_is_attached),
        TEST(copies_of_the_end_of_a_recording_tell_why_it_stopped),
        TEST(a_part_without_windows_is_merged),
        TEST(a_part_with_nothing_in_it_is_passed_over),
        TEST(the_time_before_which_parts_were_removed_is_kept),
        TEST(recordings_of_other_jobs_are_not_merged),
        TEST(runs_of_one_job_id_are_not_merged),
        TEST(rows_of_ranks_and_of_groups_are_not_merged),
        TEST(what_is_damaged_is_left_out_and_counted),
        TEST(what_comes_meanwhile_is_not_in_half_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
