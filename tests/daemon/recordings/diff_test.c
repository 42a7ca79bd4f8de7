#include "daemon/recordings/copy.h"
#include "daemon/recordings/diff.h"
#include "holter/error.h"
#include "tests/daemon/recordings/made.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void a_changed_value_is_told_with_its_key(void **state)
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

static void other_messages_are_told(void **state)
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

/* What the file has is what its agents sent: one message that is not there is one difference. */
static void messages_behind_one_that_is_missing_are_equal(void **state)
{
    (void)state;
    char c[140], d[140];
    struct copy_counts counts;
    snprintf(c, sizeof(c), "%s/c.hrec", directory);
    snprintf(d, sizeof(d), "%s/d.hrec", directory);
    made(c, "job.0", 0, 4);
    made(d, "job.0", 5, 10);
    unlink(b);
    assert_int_equal(copy_merge(b, (const char *const[]){c, d}, 2, NULL, &counts, why, sizeof(why)),
                     0);
    assert_int_equal(compare(0), 0);
    assert_int_equal(table("messages")->rows[0], table("messages")->rows[1] + 2);
    assert_int_equal(table("messages")->only[0], 2); /* of window 4, of each node one */
    assert_int_equal(table("messages")->only[1], 0);
    assert_int_equal(table("messages")->differing, 0);
}

static void it_is_told_in_what_messages_differ(void **state)
{
    (void)state;
    struct copy_counts counts;
    unlink(b); /* what was said of ranks before is said with its first window in a cut */
    assert_int_equal(
        copy_cut(b, a, (MADE_BEGIN + 5) * MADE_S, UINT64_MAX, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(compare(0), 0);
    assert_int_equal(table("messages")->differing, 2);
    assert_int_equal(table("messages")->only[0], 10);
    assert_int_equal(table("messages")->only[1], 0);
    const struct diff_item *item = diff.items;
    while (strcmp(item->table, "messages") != 0)
        item++;
    assert_string_equal(item->key, "number 1");
    assert_string_equal(item->column, "received_ns");
    assert_string_not_equal(item->value[0], item->value[1]);
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
        TEST(a_changed_value_is_told_with_its_key),
        TEST(integers_are_compared_to_the_last_digit),
        TEST(rows_of_one_alone_are_counted_and_a_few_are_listed),
        TEST(null_and_numbers_and_texts_differ),
        TEST(other_messages_are_told),
        TEST(messages_behind_one_that_is_missing_are_equal),
        TEST(it_is_told_in_what_messages_differ),
        TEST(other_jobs_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
