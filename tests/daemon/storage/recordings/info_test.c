#include "daemon/storage/lock_file.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recordings/info.h"
#include "holter/error.h"
#include "tests/daemon/storage/recording_writer.h"
#include "tests/daemon/storage/recordings/made_recording.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], path[128], why[600];
static struct info info;

static int make_one(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    made(path, "job.0", 0, 10);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    info_finish(&info);
    return directory_remove(directory);
}

static void read_it(void)
{
    if (info_read(&info, path, NULL, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

static void figures_are_those_of_the_messages(void **state)
{
    (void)state;
    read_it();
    assert_string_equal(info.job, "job.0");
    assert_string_equal(info.app, "/bin/sim");
    assert_string_equal(info.launcher, "mpiexec of MPICH");
    assert_int_equal(info.world, 4);
    assert_int_equal(info.host_total, 2);
    assert_string_equal(info.hosts[1], "b");
    assert_int_equal(info.begin_ns, MADE_BEGIN * MADE_S);
    assert_int_equal(info.end_ns, (MADE_BEGIN + 10) * MADE_S);
    assert_int_equal(info.windows, 10);
    assert_int_equal(info.sums.sent, 200);
    assert_int_equal(info.sums.sent_bytes, 20000);
    assert_int_equal(info.sums.received, 200);
    assert_int_equal(info.matched, 190);
    assert_int_equal(info.unmatched, 10);
    assert_int_equal(info.calls[1].calls, 200);
    assert_int_equal(info.calls[1].time_ns, 100000);
    assert_int_equal(info.sums.lost, 2);
    assert_int_equal(info.alert_total, 1);
    assert_string_equal(info.alerts[0].title, "latency grew");
    assert_int_equal(info.messages, 22);
    assert_int_equal(info.agents, 2);
    assert_int_equal(info.version, RECORDING_SCHEMA);
    assert_true(info.raw_bytes > info.packed_bytes && info.packed_bytes > 0);
    assert_int_equal(info.damage_count, 0);
}

/* A message of another agent on a host of a name that is there already. */
static void hosts_of_one_name_are_counted_by_their_agents(void **state)
{
    (void)state;
    struct recording *recording;
    struct wire_member_row member = {.rank = 3};
    const struct wire_ranks ranks = {
        .seq = 1, .job = "job.0", .world = 4, .host = "b", .members = &member, .members_count = 1};
    struct wire_member_row others = {.rank = 9};
    struct wire_ranks other = ranks;
    other.world = 10;
    other.members = &others;
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    kept_message(recording, (struct recorded){.instance = 77, .seq = 1}, WIRE_TYPE_RANKS, &ranks);
    kept_message(recording, (struct recorded){.instance = 78, .seq = 1}, WIRE_TYPE_RANKS, &other);
    assert_int_equal(recording_close(recording), 0);
    read_it();
    assert_int_equal(info.agents, 4);
    assert_int_equal(info.host_total, 3); /* the first one's agent was started again */
    assert_string_equal(info.hosts[2], "b");
}

static void put_presence(struct recording *recording, uint64_t seq, uint64_t window,
                         uint64_t absent_ns)
{
    struct wire_rank_row ranks[] = {{.rank = 0, .absent_ns = absent_ns},
                                    {.rank = 1, .absent_ns = MADE_S}};
    const struct wire_window m = {.seq = seq,
                                  .job = "job.0",
                                  .host = "b",
                                  .window = window,
                                  .length_ns = MADE_S,
                                  .ranks = ranks,
                                  .ranks_count = 2};
    kept_message(recording, (struct recorded){.instance = 77, .seq = seq, .window = window},
                 WIRE_TYPE_WINDOW, &m);
}

/* Ranks initialise MPI within the first window, and end within the last one. */
static void a_job_takes_as_long_as_its_ranks_are_there(void **state)
{
    struct recording *recording;
    (void)state;
    read_it();
    assert_int_equal(info.duration_ns, 10 * MADE_S);
    info_finish(&info);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    put_presence(recording, 1, MADE_BEGIN + 10, 300000000);
    put_presence(recording, 2, MADE_BEGIN - 1, 400000000);
    assert_int_equal(recording_close(recording), 0);
    read_it();
    assert_int_equal(info.end_ns - info.begin_ns, 12 * MADE_S);
    assert_int_equal(info.duration_ns, 12 * MADE_S - 700000000);
}

/* As all other texts date it: it is seen some windows after it began. */
static void an_alert_is_dated_from_when_it_began(void **state)
{
    (void)state;
    made_ask(path,
             "INSERT INTO alert(id, kind, state, severity, since_ns, onset_ns, updated_ns,"
             " fired_ns, title) VALUES (2, 'hang', 'firing', 'critical', 20, 10, 30, 20, '')");
    read_it();
    assert_int_equal(info.alerts[0].since_ns, (MADE_BEGIN + 3) * MADE_S); /* not known */
    assert_int_equal(info.alerts[1].since_ns, 10);
}

static void alerts_that_never_fired_are_counted_apart(void **state)
{
    (void)state;
    made_ask(path, "INSERT INTO alert(id, kind, state, severity, since_ns, updated_ns, fired_ns,"
                   " title) VALUES (2, 'latency', 'resolved', 'warning', 1, 2, 0, 'none'),"
                   " (3, 'latency', 'pending', 'warning', 1, 2, 0, 'none yet'),"
                   " (4, 'hang', 'firing', 'critical', 1, 2, 2, 'one')");
    read_it();
    assert_int_equal(info.alert_total, 2);
    assert_int_equal(info.alert_count, 2);
    assert_string_equal(info.alerts[1].title, "one");
    assert_int_equal(info.alerts_pending, 2);
}

/* An agent whose messages before the window were all of those numbers, but for what it dropped. */
static uint64_t dropped_of(uint64_t instance, uint64_t seq, uint64_t before, uint64_t in_all)
{
    struct recording *r;
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), 0);
    for (uint64_t i = 0; i < 2; i++) {
        struct wire_node_row node = {.host = "c", .windows_dropped = i == 0 ? before : in_all};
        struct wire_window m = {.seq = seq + i,
                                .job = "job.0",
                                .host = "c",
                                .window = MADE_BEGIN + i,
                                .length_ns = MADE_S,
                                .node = &node,
                                .node_count = 1};
        kept_message(r,
                     (struct recorded){.instance = instance,
                                       .seq = m.seq,
                                       .window = m.window,
                                       .time_ns = m.window * MADE_S,
                                       .received_ns = (m.window + 20) * MADE_S},
                     WIRE_TYPE_WINDOW, &m);
    }
    assert_int_equal(recording_close(r), 0);
    read_it();
    uint64_t dropped = info.dropped;
    info_finish(&info);
    return dropped;
}

/* Agents report what they dropped since their start, or since that of a predecessor. */
static void windows_dropped_before_the_recording_are_not_of_it(void **state)
{
    (void)state;
    assert_int_equal(dropped_of(10, 1, 0, 2), 2);
    assert_int_equal(dropped_of(11, 4, 3, 5), 2 + 5);   /* its first three, and two later */
    assert_int_equal(dropped_of(12, 500, 3, 4), 7 + 1); /* cut off: the first was some other time */
    assert_int_equal(dropped_of(13, 1, 6, 6), 8);       /* of the agent before it */
    read_it();
}

static void read_again(void)
{
    info_finish(&info);
    read_it();
}

/* A process that was killed leaves its lock file. */
static void a_recording_ends_before_its_job_where_nobody_writes_it_any_more(void **state)
{
    char lock_path[600], next[600];
    (void)state;
    read_it();
    assert_false(info.cut_short); /* the job has ended */
    made_ask(path, "UPDATE job SET state = 'running'");
    snprintf(lock_path, sizeof(lock_path), "%s.lock", path);
    int lock = lock_file_acquire(lock_path);
    read_again();
    assert_false(info.cut_short);
    close(lock);
    read_again();
    assert_true(info.cut_short);
    lock_file_release(lock_file_acquire(lock_path), lock_path);
    read_again();
    assert_true(info.cut_short);
    assert_int_equal(recording_part_path(path, 2, next, sizeof(next)), 0);
    made(next, "job.0", 10, 12);
    read_again();
    assert_false(info.cut_short); /* the next part goes on */
    assert_int_equal(recording_remove(next), 0);
}

/* Node 0 misses windows 3 to 5 and 7 of the job, node 1 windows 4 to 6. */
static void missing_windows_are_reported_with_their_span(void **state)
{
    static const uint64_t here[2][8] = {{1, 1, 1, 0, 0, 0, 1, 0}, {1, 1, 1, 1, 0, 0, 0, 1}};
    struct recording *r;
    (void)state;
    assert_int_equal(recording_remove(path), 0);
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), 0);
    for (uint64_t w = 0; w < 10; w++)
        for (uint64_t node = 0; node < 2; node++) {
            struct wire_window m = {.seq = 1 + w,
                                    .job = "job.0",
                                    .host = node == 0 ? "a" : "b",
                                    .window = MADE_BEGIN + w,
                                    .length_ns = MADE_S};
            struct recorded head = {.instance = 1 + node,
                                    .seq = m.seq,
                                    .window = m.window,
                                    .time_ns = m.window * MADE_S,
                                    .received_ns = (m.window + 1) * MADE_S};
            if (w >= 8 || here[node][w])
                kept_message(r, head, WIRE_TYPE_WINDOW, &m);
        }
    assert_int_equal(recording_close(r), 0);
    read_it();
    assert_int_equal(info.absent, 7);
    assert_int_equal(info.hole_total, 2);
    assert_int_equal(info.holes[0].begin_ns, (MADE_BEGIN + 3) * MADE_S);
    assert_int_equal(info.holes[0].end_ns, (MADE_BEGIN + 7) * MADE_S);
    assert_int_equal(info.holes[0].missing, 6);
    assert_int_equal(info.holes[1].begin_ns, (MADE_BEGIN + 7) * MADE_S);
    assert_int_equal(info.holes[1].end_ns, (MADE_BEGIN + 8) * MADE_S);
    assert_int_equal(info.holes[1].missing, 1);
    assert_int_equal(info.dropped, 0);
}

static void dropped_windows_are_counted_once(void **state)
{
    (void)state;
    read_it();
    assert_int_equal(info.absent, 0);
    assert_int_equal(info.hole_total, 0);
    info_finish(&info);
    struct recording *r;
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), 0);
    for (uint64_t i = 0; i < 2; i++) {
        struct wire_node_row node = {.host = "c", .windows_dropped = 3 * i};
        struct wire_window m = {.seq = 1 + 4 * i,
                                .job = "job.0",
                                .host = "c",
                                .window = MADE_BEGIN + 4 * i,
                                .length_ns = MADE_S,
                                .node = &node,
                                .node_count = 1};
        kept_message(r,
                     (struct recorded){.instance = 9,
                                       .seq = m.seq,
                                       .window = m.window,
                                       .time_ns = m.window * MADE_S,
                                       .received_ns = (m.window + 20) * MADE_S},
                     WIRE_TYPE_WINDOW, &m);
    }
    assert_int_equal(recording_close(r), 0);
    read_it();
    assert_int_equal(info.dropped, 3);
    assert_int_equal(info.absent, 0);
    assert_int_equal(info.hole_total, 1);
    assert_int_equal(info.holes[0].begin_ns, (MADE_BEGIN + 1) * MADE_S);
    assert_int_equal(info.holes[0].end_ns, (MADE_BEGIN + 4) * MADE_S);
}

static void captures_are_listed_and_no_damage(void **state)
{
    (void)state;
    made_capture(path, "job.0", 1, 3);
    made_capture(path, "job.0", 2, 9);
    read_it();
    assert_int_equal(info.damage_count, 0);
    assert_int_equal(info.messages, 24);
    assert_int_equal(info.agents, 2);
    assert_int_equal(info.sums.sent, 200);
    assert_int_equal(info.capture_total, 2);
    assert_int_equal(info.captures[1].id, 2);
    assert_int_equal(info.captures[1].records, 2);
    assert_int_equal(info.captures[1].at_ns, (MADE_BEGIN + 9) * MADE_S + MADE_S / 2);
    assert_string_equal(info.captures[1].reason, "to see");
}

static void json_has_every_figure(void **state)
{
    char *text = NULL;
    size_t length = 0;
    (void)state;
    read_it();
    FILE *out = open_memstream(&text, &length);
    info_print_json(out, &info);
    fclose(out);
    assert_non_null(strstr(text, "\"sent_bytes\":20000,"));
    assert_non_null(strstr(text, "\"hosts\":[\"a\",\"b\"]"));
    assert_non_null(strstr(text, "\"title\":\"latency grew\""));
    assert_non_null(strstr(text, "\"damages\":[]}\n"));
    free(text);
}

static void the_readable_part_of_a_damaged_file_is_summarised(void **state)
{
    (void)state;
    made_ask(path, "INSERT INTO block(first, messages, begin_ns, end_ns, length, data) SELECT "
                   "1000, 7, begin_ns, end_ns, 1, x'00' FROM block");
    read_it();
    assert_int_equal(info.damage_count, 1);
    assert_int_equal(info.damages[0].messages, 7);
    assert_int_equal(info.messages, 22);
    info_finish(&info);
    made_ask(path, "UPDATE block SET data = NULL");
    read_it();
    assert_int_equal(info.damage_count, 2);
    assert_int_equal(info.messages, 0);
    assert_string_equal(info.job, "job.0");
}

static void a_view_in_place_of_a_table_is_not_followed(void **state)
{
    (void)state;
    made_ask(path, "DROP TABLE totals");
    made_ask(path, "CREATE VIEW totals AS WITH RECURSIVE n(window) AS (SELECT 1 UNION ALL SELECT"
                   " window + 1 FROM n) SELECT window, 0 AS late, 0 AS agents_missing FROM n");
    read_it();
    assert_int_equal(info.messages, 22);
}

static void what_is_no_recording_is_refused(void **state)
{
    (void)state;
    made_ask(path, "PRAGMA application_id = 5");
    assert_int_equal(info_read(&info, path, NULL, why, sizeof(why)), -HOLTER_EVERSION);
    assert_int_equal(truncate(path, 3000), 0);
    assert_true(info_read(&info, path, NULL, why, sizeof(why)) < 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(info_read(&info, path, NULL, why, sizeof(why)), -ENOENT);
    assert_non_null(strstr(why, path));
}

/* Nobody writes to it: it would be waited for without an end. */
static void a_pipe_is_refused(void **state)
{
    (void)state;
    char pipe[140];
    snprintf(pipe, sizeof(pipe), "%s/pipe", directory);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(info_read(&info, pipe, NULL, why, sizeof(why)), -HOLTER_EVERSION);
    assert_non_null(strstr(why, "a pipe or device"));
    assert_int_equal(unlink(pipe), 0);
}

static void the_log_of_a_file_that_is_written_is_of_its_size(void **state)
{
    (void)state;
    struct recording *writer;
    assert_int_equal(recording_open(&writer, path, why, sizeof(why)), 0);
    const struct wire_totals t = {.job = "job.0", .window = MADE_BEGIN + 20, .length_ns = MADE_S};
    assert_int_equal(recording_write_result(writer, WIRE_TYPE_TOTALS, &t), 0);
    assert_int_equal(recording_commit(writer), 0);
    read_it();
    assert_int_equal(info.windows, 11);
    assert_int_equal(info.file_bytes, recording_bytes(writer));
    struct stat alone;
    assert_int_equal(stat(path, &alone), 0);
    assert_true(info.file_bytes > (uint64_t)alone.st_size);
    assert_int_equal(recording_close(writer), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_one, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(figures_are_those_of_the_messages),
        TEST(hosts_of_one_name_are_counted_by_their_agents),
        TEST(a_job_takes_as_long_as_its_ranks_are_there),
        TEST(an_alert_is_dated_from_when_it_began),
        TEST(alerts_that_never_fired_are_counted_apart),
        TEST(windows_dropped_before_the_recording_are_not_of_it),
        TEST(a_recording_ends_before_its_job_where_nobody_writes_it_any_more),
        TEST(missing_windows_are_reported_with_their_span),
        TEST(dropped_windows_are_counted_once),
        TEST(captures_are_listed_and_no_damage),
        TEST(json_has_every_figure),
        TEST(the_readable_part_of_a_damaged_file_is_summarised),
        TEST(a_view_in_place_of_a_table_is_not_followed),
        TEST(what_is_no_recording_is_refused),
        TEST(a_pipe_is_refused),
        TEST(the_log_of_a_file_that_is_written_is_of_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
