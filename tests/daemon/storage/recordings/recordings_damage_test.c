/* Recordings of which pages or the end are lost: what of them can be read. */
#include "daemon/storage/recordings/copy.h"
#include "daemon/storage/recordings/info.h"
#include "holter/error.h"
#include "tests/daemon/storage/recordings/made_recording.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE 4096
#define EACH 22u /* messages of a block: ranks of two nodes, and 10 windows */
#define BLOCKS 2000u

static char directory[DIRECTORY_ROOM], path[128], out[128], why[600];
static struct info info;
static struct copy_counts counts;

static int make_blocks(void **state)
{
    char sql[400];
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    snprintf(out, sizeof(out), "%s/out.hrec", directory);
    made(path, "job.0", 0, 10);
    snprintf(
        sql, sizeof(sql),
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
        " INSERT INTO block(first, messages, begin_ns, end_ns, length, others, data)"
        " SELECT first + %u * i, messages, begin_ns, end_ns, length, others, data FROM block, n",
        BLOCKS - 1, EACH);
    made_ask(path, sql);
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

static void cut(void)
{
    if (copy_cut(out, path, 0, UINT64_MAX, NULL, &counts, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

/* Nothing is left of the page in the middle of the file, or the next one that has rows of a table.
 */
static void damage_a_page_of_rows(void)
{
    static const char none[PAGE];
    struct stat status;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    long at = status.st_size / PAGE / 2 * PAGE;
    for (int kind = 0; kind != 0x0d; at += PAGE) { /* sqlite.org/fileformat2.html, section 1.6 */
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_not_equal(kind = fgetc(file), EOF);
    }
    assert_int_equal(fseek(file, at - PAGE, SEEK_SET), 0);
    assert_int_equal(fwrite(none, 1, PAGE, file), PAGE);
    assert_int_equal(fclose(file), 0);
}

static void what_follows_a_begin_that_is_damaged_is_kept(void **state)
{
    (void)state;
    made_ask(path, "UPDATE block SET data = x'00' WHERE first = 1");
    cut();
    assert_int_equal(counts.damaged, EACH);
    assert_int_equal(counts.messages, EACH * (BLOCKS - 1));
    read_it();
    assert_int_equal(info.damage_count, 1);
    assert_int_equal(info.messages, EACH * (BLOCKS - 1));
}

static void a_page_costs_no_more_than_what_stands_on_it(void **state)
{
    (void)state;
    damage_a_page_of_rows();
    cut();
    assert_int_equal(counts.messages + counts.damaged, EACH * BLOCKS);
    assert_in_range(counts.damaged, EACH, EACH * 20);
    read_it();
    assert_int_equal(info.damage_count, 1);
    assert_int_equal(info.messages, counts.messages);
    assert_int_equal(info.damages[0].messages, counts.damaged);
}

/* Nothing is left of the first page of a table. */
static void damage_the_root_of(const char *table)
{
    static const char none[PAGE];
    char sql[100];
    snprintf(sql, sizeof(sql), "SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
    long root = (long)made_ask(path, sql);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (root - 1) * PAGE, SEEK_SET), 0);
    assert_int_equal(fwrite(none, 1, PAGE, file), PAGE);
    assert_int_equal(fclose(file), 0);
}

static void tables_that_cannot_be_read_are_reported(void **state)
{
    (void)state;
    damage_the_root_of("totals");
    damage_the_root_of("region_member");
    read_it();
    assert_int_equal(info.damage_count, 2);
    assert_string_equal(info.damages[0].text, "the table totals cannot be read to its end");
    assert_int_equal(info.messages, EACH * BLOCKS);
    cut();
    assert_int_equal(counts.tables, 2);
    assert_int_equal(counts.damaged, 0);
    assert_int_equal(counts.messages, EACH * BLOCKS);
    struct info saved;
    assert_int_equal(info_read(&saved, out, NULL, why, sizeof(why)), 0);
    assert_int_equal(saved.damage_count, 0);
    info_finish(&saved);
    remove(out);
    const char *paths[] = {path};
    assert_int_equal(copy_merge(out, paths, 1, NULL, &counts, why, sizeof(why)), 0);
    assert_int_equal(counts.tables, 2);
}

static void a_file_without_its_end_is_read_up_to_there(void **state)
{
    (void)state;
    struct stat whole;
    assert_int_equal(stat(path, &whole), 0);
    assert_int_equal(truncate(path, whole.st_size / 2), 0);
    read_it();
    assert_in_range(info.messages, EACH * BLOCKS / 4, EACH * BLOCKS * 3 / 4);
    assert_string_equal(info.job, "job.0");
    assert_in_range(info.damage_count, 2,
                    3); /* pages of the table may be among those that remain */
    assert_string_equal(info.damages[info.damage_count - 1].text, "the file is cut short");
    cut();
    assert_int_equal(counts.messages, info.messages);
    assert_int_equal(counts.lacking, whole.st_size - whole.st_size / 2);
    struct info saved;
    assert_int_equal(info_read(&saved, out, NULL, why, sizeof(why)), 0);
    assert_int_equal(saved.damage_count, 0);
    assert_int_equal(saved.messages, info.messages);
    info_finish(&saved);
}

static void of_a_file_that_is_almost_empty_nothing_is_read(void **state)
{
    (void)state;
    assert_int_equal(truncate(path, 2 * PAGE), 0);
    assert_int_equal(info_read(&info, path, NULL, why, sizeof(why)), -HOLTER_ECORRUPT);
    assert_non_null(strstr(why, "cut short: 8192 of its"));
    assert_null(strstr(why, "holter cut"));
    assert_int_equal(copy_cut(out, path, 0, UINT64_MAX, NULL, &counts, why, sizeof(why)),
                     -HOLTER_ECORRUPT);
    assert_int_equal(access(out, F_OK), -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_blocks, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(what_follows_a_begin_that_is_damaged_is_kept),
        TEST(a_page_costs_no_more_than_what_stands_on_it),
        TEST(tables_that_cannot_be_read_are_reported),
        TEST(a_file_without_its_end_is_read_up_to_there),
        TEST(of_a_file_that_is_almost_empty_nothing_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
