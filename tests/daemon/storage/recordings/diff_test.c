#include "daemon/storage/recordings/diff.h"
#include "holter/error.h"
#include "tests/daemon/storage/recording_writer.h"
#include "tests/daemon/storage/recordings/made_recording.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], a[128], b[128], why[600];
static struct diff diff;

static int make_two(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(a, sizeof(a), "%s/a.hrec", directory);
    snprintf(b, sizeof(b), "%s/b.hrec", directory);
    made(a, "job.0", 0, 10);
    made(b, "job.0", 0, 10);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    diff_finish(&diff);
    return directory_remove(directory);
}

static int compare(double tolerance)
{
    const char *const paths[2] = {a, b};
    struct diff_options options = {.tolerance = tolerance, .items = 3};
    return diff_read(&diff, paths, &options, why, sizeof(why));
}

static const struct diff_table *table(const char *name)
{
    for (unsigned i = 0; i < DIFF_TABLES; i++) {
        if (strcmp(diff.tables[i].name, name) == 0)
            return &diff.tables[i];
    }
    fail_msg("no table %s", name);
    return NULL;
}

static void the_same_is_equal(void **state)
{
    (void)state;
    made_ask(b, "UPDATE totals SET published_ns = 77");
    made_ask(b, "UPDATE job SET holter = 'older'");
    assert_int_equal(compare(0), 0);
    assert_int_equal(diff.differences, 0);
    assert_int_equal(table("totals")->rows[1], 10);
    assert_int_equal(table("messages")->rows[0], 22);
    assert_string_equal(diff.job, "job.0");
}

static void of_damaged_messages_the_way_to_copy_the_others_is_named(void **state)
{
    (void)state;
    made(b, "job.0", 10, 20); /* a second block */
    made_ask(b, "UPDATE block SET data = x'00' WHERE first = (SELECT max(first) FROM block)");
    assert_int_equal(compare(0), -HOLTER_ECORRUPT);
    assert_non_null(strstr(why, "`holter cut`"));
}

static void a_changed_value_is_reported_with_its_key(void **state)
{
    (void)state;
    made_ask(b, "UPDATE totals SET sent = 21 WHERE window = 1004");
    assert_int_equal(compare(0), 0);
    assert_int_equal(diff.differences, 1);
    assert_int_equal(table("totals")->differing, 1);
    assert_int_equal(diff.count, 1);
    assert_string_equal(diff.items[0].key, "window 1004");
    assert_string_equal(diff.items[0].column, "sent");
    assert_string_equal(diff.items[0].value[0], "20");
    assert_string_equal(diff.items[0].value[1], "21");
    diff_finish(&diff);
    assert_int_equal(compare(0.05), 0);
    assert_int_equal(diff.differences, 0);
}

/* Times have more digits than a double. */
static void integers_are_compared_to_the_last_digit(void **state)
{
    (void)state;
    made_ask(a, "UPDATE totals SET start_ns = 1795354206011077225 WHERE window = 1004");
    made_ask(b, "UPDATE totals SET start_ns = 1795354206011077226 WHERE window = 1004");
    made_ask(a, "UPDATE totals SET sent_bytes = 9223372036854775807 WHERE window = 1005");
    made_ask(b, "UPDATE totals SET sent_bytes = 9223372036854775806 WHERE window = 1005");
    assert_int_equal(compare(0), 0);
    assert_int_equal(table("totals")->differing, 2);
    assert_string_equal(diff.items[0].column, "start_ns");
    diff_finish(&diff);
    assert_int_equal(compare(1e-9), 0);
    assert_int_equal(diff.differences, 0);
}

static void rows_of_one_alone_are_counted_and_a_few_are_listed(void **state)
{
    (void)state;
    made_ask(a, "DELETE FROM totals WHERE window IN (1000, 1005)");
    made_ask(b, "DELETE FROM totals WHERE window > 1003 AND window < 1005");
    made_ask(b, "INSERT INTO latency(window, scope, id, reference) VALUES(1, 'job', 0, 1.5),"
                " (2, 'job', 0, NULL), (3, 'job', 0, 2), (4, 'job', 0, 2)");
    assert_int_equal(compare(0), 0);
    assert_int_equal(table("totals")->only[0], 1);
    assert_int_equal(table("totals")->only[1], 2);
    assert_int_equal(table("latency")->only[1], 4);
    assert_int_equal(diff.differences, 7);
    assert_int_equal(diff.count, 3 + 3);
}

static void null_and_numbers_and_texts_differ(void **state)
{
    (void)state;
    made_ask(a, "INSERT INTO latency(window, scope, id, reference) VALUES(1, 'job', 0, NULL)");
    made_ask(b, "INSERT INTO latency(window, scope, id, reference) VALUES(1, 'job', 0, 0)");
    made_ask(b, "UPDATE alert SET title = 'latency'");
    assert_int_equal(compare(1), 0);
    assert_int_equal(diff.differences, 2);
}

static void messages_that_differ_are_reported(void **state)
{
    (void)state;
    made_ask(b, "DELETE FROM block");
    char c[140];
    snprintf(c, sizeof(c), "%s/c.hrec", directory);
    made(c, "job.0", 0, 9);
    const char *const paths[2] = {a, c};
    assert_int_equal(diff_read(&diff, paths, &(struct diff_options){.items = 3}, why, sizeof(why)),
                     0);
    assert_int_equal(table("messages")->only[0], 2);
    assert_int_equal(table("messages")->differing, 0);
}

static void copy_without(const char *path, const char *from, uint64_t leave_out)
{
    struct recording_cursor *cursor;
    struct recording *r;
    struct recorded head;
    const void *bytes;
    size_t length;
    remove(path);
    assert_int_equal(recording_cursor_open(&cursor, from, why, sizeof(why)), 0);
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), 0);
    while (recording_cursor_next(cursor, &head, &bytes, &length) == 1)
        if (recording_cursor_number(cursor) != leave_out)
            assert_int_equal(recording_write_message(r, &head, bytes, length), 0);
    recording_cursor_close(cursor);
    assert_int_equal(recording_close(r), 0);
}

/* Whichever it is: those behind it are the same. */
static void a_message_that_is_missing_makes_no_other_differ(void **state)
{
    char c[140], all[140];
    (void)state;
    snprintf(c, sizeof(c), "%s/c.hrec", directory);
    snprintf(all, sizeof(all), "%s/all.hrec", directory);
    copy_without(all, a, 0);
    for (uint64_t number = 1; number <= 22; number++) {
        copy_without(c, a, number);
        for (int swap = 0; swap < 2; swap++) {
            const char *const paths[2] = {swap ? c : all, swap ? all : c};
            assert_int_equal(
                diff_read(&diff, paths, &(struct diff_options){.items = 3}, why, sizeof(why)), 0);
            assert_int_equal(table("messages")->only[swap], 1);
            assert_int_equal(table("messages")->only[1 - swap], 0);
            assert_int_equal(table("messages")->differing, 0);
            assert_int_equal(diff.differences, 1);
            diff_finish(&diff);
        }
    }
}

/* Windows that were numbered otherwise belong together, and so do those that came in another order.
 */
static void messages_belong_together_by_agent_and_window(void **state)
{
    struct recording *r;
    char paths[2][140];
    (void)state;
    for (int p = 0; p < 2; p++) {
        snprintf(paths[p], sizeof(paths[p]), "%s/%d.hrec", directory, p);
        assert_int_equal(recording_open(&r, paths[p], why, sizeof(why)), 0);
        for (uint64_t i = 0; i < 3000; i++) {
            uint64_t at = p == 0 ? i : 2999 - i; /* the other way round */
            struct wire_window m = {
                .job = "job.0", .host = "a", .window = 1000 + at, .length_ns = 1000};
            m.seq = at == 7 && p == 1 ? 9000 : 1 + at;
            m.flags = at == 8 && p == 1 ? WINDOW_FINAL : 0;
            struct recorded head = {.instance = 1,
                                    .seq = m.seq,
                                    .window = m.window,
                                    .time_ns = m.window * 1000,
                                    .received_ns = 5000000 + at / 1000};
            head.received_ns += (uint64_t)(at == 9 && p == 1);
            kept_message(r, head, WIRE_TYPE_WINDOW, &m);
        }
        assert_int_equal(recording_close(r), 0);
    }
    const char *const both[2] = {paths[0], paths[1]};
    assert_int_equal(diff_read(&diff, both, &(struct diff_options){.items = 5}, why, sizeof(why)),
                     0);
    assert_int_equal(table("messages")->differing, 3);
    assert_int_equal(table("messages")->only[0] + table("messages")->only[1], 0);
    assert_int_equal(diff.count, 3);
    assert_string_equal(diff.items[2].key, "window 1007, agent 1, seq 8");
    assert_string_equal(diff.items[2].column, "seq");
    assert_string_equal(diff.items[2].value[1], "9000");
    for (size_t i = 0; i < 2; i++) {
        int says = strcmp(diff.items[i].key, "window 1008, agent 1, seq 9") == 0;
        assert_true(says || strcmp(diff.items[i].key, "window 1009, agent 1, seq 10") == 0);
        assert_string_equal(diff.items[i].column, says ? "message" : "arrival");
    }
}

static void other_jobs_are_not_compared(void **state)
{
    (void)state;
    char c[140];
    snprintf(c, sizeof(c), "%s/c.hrec", directory);
    made(c, "job.9", 0, 9);
    const char *const paths[2] = {a, c};
    assert_int_equal(diff_read(&diff, paths, &(struct diff_options){.items = 3}, why, sizeof(why)),
                     -HOLTER_ENOJOB);
    assert_non_null(strstr(why, "job.9"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_two, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(the_same_is_equal),
        TEST(of_damaged_messages_the_way_to_copy_the_others_is_named),
        TEST(a_changed_value_is_reported_with_its_key),
        TEST(integers_are_compared_to_the_last_digit),
        TEST(rows_of_one_alone_are_counted_and_a_few_are_listed),
        TEST(null_and_numbers_and_texts_differ),
        TEST(messages_that_differ_are_reported),
        TEST(a_message_that_is_missing_makes_no_other_differ),
        TEST(messages_belong_together_by_agent_and_window),
        TEST(other_jobs_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
