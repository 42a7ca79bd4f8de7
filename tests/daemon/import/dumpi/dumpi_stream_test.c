#include "tests/daemon/import/dumpi/dumpi_text.h"

#include "tests/data_file.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static char directory[DIRECTORY_ROOM];

static int make_directory(void **state)
{
    (void)state;
    return directory_make(directory);
}

static int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

/* ---- output of libdumpi's own tool ------------------------------------------------- */

/* Compare line by line, so that a difference is reported with its line. */
static void compare(const char *ours, const char *theirs)
{
    for (unsigned line = 1; *ours != '\0' || *theirs != '\0'; line++) {
        size_t a = strcspn(ours, "\n"), b = strcspn(theirs, "\n");
        if (a != b || memcmp(ours, theirs, a) != 0)
            fail_msg("line %u is '%.*s', not '%.*s'", line, (int)a, ours, (int)b, theirs);
        ours += a + (ours[a] != '\0');
        theirs += b + (theirs[b] != '\0');
    }
}

static void open_data(struct dumpi_file *file, const char *name)
{
    char path[256], why[200];
    data_file_unpack(name, directory, path, sizeof path);
    if (dumpi_file_open(file, path, why, sizeof why) != 0 || why[0] != '\0')
        fail_msg("%s: %s", path, why);
}

static void says_what_the_tool_of_the_format_says(void **state)
{
    (void)state;
    struct dumpi_file file;
    char *ours;
    size_t length;
    char *theirs = data_file("dumpi/testtrace-0000.txt", &length);
    setenv("TZ", "PST8PDT", 1); /* where the text was made */
    tzset();
    open_data(&file, "dumpi/testtrace-0000.bin");
    FILE *out = open_memstream(&ours, &length);
    dumpi_text_all(out, &file);
    fclose(out);
    compare(ours, theirs);
    dumpi_file_finish(&file);
    free(ours);
    free(theirs);
}

static void says_the_same_of_a_larger_file(void **state)
{
    (void)state;
    struct dumpi_file file;
    char *ours;
    size_t length;
    char *theirs = data_file("dumpi/minife-8/rank0.txt", &length);
    open_data(&file, "dumpi/minife-8/dumpi-2026.11.20.11.46.04-0000.bin");
    FILE *out = open_memstream(&ours, &length);
    assert_int_equal(dumpi_text_calls(out, &file), 1373);
    fclose(out);
    compare(ours, theirs);
    dumpi_file_finish(&file);
    free(ours);
    free(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_the_tool_of_the_format_says),
        cmocka_unit_test(says_the_same_of_a_larger_file),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
