/* What a command leaves behind when it dies, fails or ends well. */
#include "agent/terminal/unfinished_output.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

struct bed {
    char directory[DIRECTORY_ROOM], path[100];
};

static void begin(struct bed *bed, const char *name)
{
    assert_int_equal(directory_make(bed->directory), 0);
    snprintf(bed->path, sizeof(bed->path), "%s/%s", bed->directory, name);
}

static void write_text(const char *path, const char *suffix, const char *text)
{
    char name[160];
    snprintf(name, sizeof(name), "%s%s", path, suffix);
    FILE *file = fopen(name, "we");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        _exit(3);
}

/* Run it in a process that dies by a signal, and wait until nobody is left of it. */
static void die(void (*work)(const char *path), const char *path, int signal)
{
    int ends[2], status;
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work(path);
        kill(getpid(), signal);
        pause();
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

static int count_entries(const char *directory)
{
    struct stat status;
    char command[100];
    int count = -1;
    assert_int_equal(stat(directory, &status), 0);
    snprintf(command, sizeof(command), "ls -A %s | wc -l", directory);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    assert_int_equal(fscanf(out, "%d", &count), 1);
    pclose(out);
    return count;
}

static void make_recording(const char *path)
{
    struct unfinished unfinished;
    unfinished_begin(&unfinished, path);
    write_text(path, "", "half");
    write_text(path, "-wal", "half");
    write_text(path, "-shm", "half");
    write_text(path, ".lock", "");
}

static void make_tree(const char *path)
{
    struct unfinished unfinished;
    char below[120];
    unfinished_begin(&unfinished, path);
    snprintf(below, sizeof(below), "%s/traces", path);
    if (mkdir(path, 0700) != 0 || mkdir(below, 0700) != 0)
        _exit(3);
    write_text(path, "/traces.otf2", "half");
    write_text(below, "/0.evt", "half");
}

static void make_file(const char *path)
{
    struct output_file output;
    if (output_file_open(&output, path) != 0 || fputs("half", output.file) < 0 ||
        fflush(output.file) != 0)
        _exit(3);
}

static void finish_recording(const char *path)
{
    struct unfinished unfinished;
    unfinished_begin(&unfinished, path);
    write_text(path, "", "whole");
    unfinished_end(&unfinished);
}

static void what_is_half_goes_with_its_process(void **state)
{
    static void (*const works[])(const char *) = {make_recording, make_tree, make_file};
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    (void)state;
    for (int w = 0; w < 3; w++)
        for (int s = 0; s < 3; s++) {
            struct bed bed;
            begin(&bed, "out");
            die(works[w], bed.path, signals[s]);
            assert_int_equal(count_entries(bed.directory), 0);
            directory_remove(bed.directory);
        }
}

static void what_is_whole_stays(void **state)
{
    struct bed bed;
    (void)state;
    begin(&bed, "a.hrec");
    die(finish_recording, bed.path, SIGKILL);
    assert_int_equal(access(bed.path, F_OK), 0);
    directory_remove(bed.directory);
}

static void what_was_there_before_stays(void **state)
{
    struct bed bed;
    char text[20] = "";
    (void)state;
    begin(&bed, "a");
    write_text(bed.path, "", "before");
    die(make_recording, bed.path, SIGTERM);
    assert_int_equal(access(bed.path, F_OK), 0);
    write_text(bed.path, "", "before");
    die(make_file, bed.path, SIGTERM);
    FILE *file = fopen(bed.path, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_string_equal(text, "before");
    directory_remove(bed.directory);
}

static void what_failed_goes_at_once(void **state)
{
    struct bed bed;
    struct unfinished unfinished;
    (void)state;
    begin(&bed, "a");
    unfinished_begin(&unfinished, bed.path);
    assert_int_equal(mkdir(bed.path, 0700), 0);
    write_text(bed.path, "/half", "half");
    unfinished_remove(&unfinished);
    assert_int_equal(count_entries(bed.directory), 0);
    write_text(bed.path, "", "before");
    unfinished_begin(&unfinished, bed.path);
    unfinished_remove(&unfinished); /* not ours */
    assert_int_equal(count_entries(bed.directory), 1);
    directory_remove(bed.directory);
}

static void file_has_its_name_when_it_is_whole(void **state)
{
    struct bed bed;
    struct output_file output;
    (void)state;
    begin(&bed, "a");
    assert_int_equal(output_file_open(&output, bed.path), 0);
    assert_true(fputs("whole", output.file) >= 0);
    assert_int_equal(access(bed.path, F_OK), -1);
    assert_int_equal(output_file_close(&output, 1), 0);
    assert_int_equal(access(bed.path, F_OK), 0);
    assert_int_equal(count_entries(bed.directory), 1);
    assert_int_equal(output_file_open(&output, bed.path), 0);
    assert_int_equal(output_file_close(&output, 0), 0);
    assert_int_equal(count_entries(bed.directory), 1);
    directory_remove(bed.directory);
    assert_true(output_file_open(&output, bed.path) < 0);
}

static void file_that_may_not_grow_ends_nobody(void **state)
{
    struct bed bed;
    struct output_file output;
    struct rlimit before, limit;
    (void)state;
    begin(&bed, "a");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 3;
    assert_int_equal(output_file_open(&output, bed.path), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_true(fputs("whole", output.file) >= 0);
    int code = output_file_close(&output, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, -EFBIG);
    assert_int_equal(count_entries(bed.directory), 0);
    directory_remove(bed.directory);
}

static void devices_are_written_to_as_they_are(void **state)
{
    struct output_file output;
    (void)state;
    assert_int_equal(output_file_open(&output, "/dev/full"), 0);
    assert_true(fputs("text", output.file) >= 0);
    assert_true(output_file_close(&output, 1) < 0);
    assert_int_equal(output_file_open(&output, "/dev/null"), 0);
    assert_true(fputs("text", output.file) >= 0);
    assert_int_equal(output_file_close(&output, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_half_goes_with_its_process),
        cmocka_unit_test(what_is_whole_stays),
        cmocka_unit_test(what_was_there_before_stays),
        cmocka_unit_test(what_failed_goes_at_once),
        cmocka_unit_test(file_has_its_name_when_it_is_whole),
        cmocka_unit_test(file_that_may_not_grow_ends_nobody),
        cmocka_unit_test(devices_are_written_to_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
