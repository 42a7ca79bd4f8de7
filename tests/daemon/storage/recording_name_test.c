/* Where recordings are written. */
#include "daemon/storage/recording.h"
#include "tests/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static char top[DIRECTORY_ROOM], path[1024];

static int set_up(void **state)
{
    (void)state;
    return directory_make(top);
}

static int tear_down(void **state)
{
    (void)state;
    return directory_remove(top);
}

static const char *below(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", top, name);
    return path;
}

static void a_directory_is_made_with_those_above_it(void **state)
{
    struct stat status;
    (void)state;
    for (int again = 0; again < 2; again++)
        assert_int_equal(recording_make_directory(below("a/b/c")), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
}

static void a_directory_without_write_permission_is_reported(void **state)
{
    (void)state;
    int fd = open(below("file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(recording_make_directory(below("file")), -ENOTDIR);
    assert_int_equal(recording_make_directory(below("file/in")), -ENOTDIR);
    assert_int_equal(symlink("nowhere", below("link")), 0);
    assert_int_equal(recording_make_directory(below("link")), -ENOENT);
    memset(path, 'x', 600);
    path[600] = '\0';
    assert_int_equal(recording_make_directory(path), -ENAMETOOLONG);
}

static void a_job_gets_a_name_that_no_other_file_has(void **state)
{
    char first[512], second[512];
    (void)state;
    assert_int_equal(recording_choose_new(top, "job.7", first, sizeof(first)), 0);
    assert_non_null(strstr(first, "/holter-job.7.hrec"));
    int fd = open(first, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(recording_choose_new(top, "job.7", second, sizeof(second)), 0);
    assert_non_null(strstr(second, "/holter-job.7-2.hrec"));
}

static void put(const char *name, const char *text)
{
    FILE *out = fopen(below(name), "we");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void expect(const char *name, const char *text)
{
    char got[32] = "";
    FILE *in = fopen(below(name), "re");
    assert_true((in != NULL) == (text != NULL));
    if (in == NULL)
        return;
    assert_true(fread(got, 1, sizeof(got) - 1, in) == strlen(text));
    fclose(in);
    assert_string_equal(got, text);
}

static void rename_to(const char *name, const char *to, const char *expected)
{
    char from[1024], target[1024], out[1024];
    snprintf(from, sizeof(from), "%s", below(name));
    snprintf(target, sizeof(target), "%s", below(to));
    assert_int_equal(recording_rename(from, target, out, sizeof(out)), 0);
    assert_string_equal(out, below(expected));
}

/* What is not yet in the file stands in the log alone: after a full disk, or while somebody reads.
 */
static void a_recording_is_renamed_with_its_log(void **state)
{
    (void)state;
    put("a.hrec", "file");
    put("a.hrec-wal", "log");
    put("b.hrec", "old");
    put("b.hrec-shm", "old index");
    rename_to("a.hrec", "b.hrec", "b.hrec");
    expect("b.hrec", "file");
    expect("b.hrec-wal", "log");
    expect("b.hrec-shm", NULL);
    expect("a.hrec", NULL);
    expect("a.hrec-wal", NULL);
}

static void a_recording_does_not_take_the_place_of_a_device(void **state)
{
    (void)state;
    char from[1024], out[1024];
    put("a.hrec", "file");
    assert_int_equal(symlink("/dev/null", below("null")), 0);
    snprintf(from, sizeof(from), "%s", below("a.hrec"));
    assert_int_equal(recording_rename(from, below("null"), out, sizeof(out)), -EEXIST);
    expect("a.hrec", "file");
    assert_true(readlink(below("null"), out, sizeof(out)) > 0);
    unlink(below("null"));
    unlink(from);
}

static void parts_are_renamed_together(void **state)
{
    (void)state;
    put("a.hrec.part2.hrec", "no part");
    put("a.part3.hrec", "third");
    put("a.part4.hrec", "fourth");
    put("a.part4.hrec-wal", "log");
    rename_to("a.part4.hrec", "c.hrec", "c.part4.hrec");
    expect("c.hrec", NULL);
    expect("c.part3.hrec", "third");
    expect("c.part4.hrec", "fourth");
    expect("c.part4.hrec-wal", "log");
    expect("a.hrec.part2.hrec", "no part");
    put("d.hrec", "first");
    put("d.part2.hrec", "second");
    rename_to("d.part2.hrec", "e", "e.part2");
    expect("e", "first");
    expect("e.part2", "second");
}

static void a_name_that_only_looks_like_a_part_is_kept(void **state)
{
    (void)state;
    put("a.part02.hrec", "alone");
    put("a.partner.hrec", "alone, too");
    rename_to("a.part02.hrec", "b.hrec", "b.hrec");
    rename_to("a.partner.hrec", "c.hrec", "c.hrec");
    expect("b.hrec", "alone");
    expect("c.hrec", "alone, too");
}

/* The id of a job may have what marks the number of a part: "sim.particles". */
static void parts_of_a_job_whose_id_looks_like_a_part_are_found(void **state)
{
    unsigned first, last;
    (void)state;
    put("holter-sim.particles.hrec", "first");
    put("holter-sim.particles.part2.hrec", "second");
    put("holter-sim.particles.part3.hrec", "third");
    assert_false(recording_is_part("holter-sim.particles.hrec"));
    assert_true(recording_is_part("holter-sim.particles.part2.hrec"));
    recording_parts_find(below("holter-sim.particles.hrec"), &first, &last);
    assert_int_equal(first, 1);
    assert_int_equal(last, 3);
    rename_to("holter-sim.particles.part3.hrec", "b.part7x.hrec", "b.part7x.part3.hrec");
    expect("b.part7x.hrec", "first");
    expect("b.part7x.part2.hrec", "second");
}

static void what_is_not_there_is_not_renamed(void **state)
{
    char from[1024], out[1024];
    (void)state;
    snprintf(from, sizeof(from), "%s", below("none.hrec"));
    put("b.hrec", "stays");
    assert_int_equal(recording_rename(from, below("b.hrec"), out, sizeof(out)), -ENOENT);
    expect("b.hrec", "stays");
}

static void a_recording_is_written_whatever_link_leads_to_it(void **state)
{
    struct recording *r;
    char why[256], link[1024];
    (void)state;
    snprintf(link, sizeof(link), "%s", below("newest.hrec"));
    assert_int_equal(mkdir(below("d"), 0700), 0);
    assert_int_equal(recording_open(&r, below("d/a.hrec"), why, sizeof(why)), 0);
    assert_int_equal(symlink(path, link), 0);
    assert_false(recording_is_cut_short(link, "running"));
    assert_int_equal(recording_close(r), 0);
    assert_true(recording_is_cut_short(link, "running"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_directory_is_made_with_those_above_it),
        TEST(a_directory_without_write_permission_is_reported),
        TEST(a_job_gets_a_name_that_no_other_file_has),
        TEST(a_recording_is_renamed_with_its_log),
        TEST(a_recording_does_not_take_the_place_of_a_device),
        TEST(parts_are_renamed_together),
        TEST(a_name_that_only_looks_like_a_part_is_kept),
        TEST(parts_of_a_job_whose_id_looks_like_a_part_are_found),
        TEST(what_is_not_there_is_not_renamed),
        TEST(a_recording_is_written_whatever_link_leads_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
