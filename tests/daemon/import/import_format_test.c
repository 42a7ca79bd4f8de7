#include "daemon/import/import_format.h"

#include "tests/data_file.h"
#include "tests/directory.h"

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

struct bed {
    char directory[DIRECTORY_ROOM], path[256], source[4096], why[4400];
};

static void begin(struct bed *bed)
{
    *bed = (struct bed){.path = ""};
    assert_int_equal(directory_make(bed->directory), 0);
}

static enum import_format find(struct bed *bed, const char *path)
{
    bed->why[0] = '\0';
    return import_format_find(path, IMPORT_UNKNOWN, bed->source, sizeof(bed->source), bed->why,
                              sizeof(bed->why));
}

static enum import_format of_data(struct bed *bed, const char *name)
{
    data_file_unpack(name, bed->directory, bed->path, sizeof(bed->path));
    return find(bed, bed->path);
}

static enum import_format of_text(struct bed *bed, const char *text, size_t length)
{
    snprintf(bed->path, sizeof(bed->path), "%s/file", bed->directory);
    FILE *file = fopen(bed->path, "wbe");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
    return find(bed, bed->path);
}

static void recorded_files_are_known_by_what_is_in_them(void **state)
{
    struct bed bed;
    (void)state;
    begin(&bed);
    assert_int_equal(of_data(&bed, "otf2/traces.otf2"), IMPORT_OTF2);
    assert_int_equal(of_data(&bed, "par-comm-data/route/MiniMD_Vesta_n32_c1_w_route.txt"),
                     IMPORT_ROUTE);
    assert_int_equal(of_data(&bed, "bgp-counters/bgpc_meta.yaml"), IMPORT_COUNTERS);
    directory_remove(bed.directory);
}

static void texts_are_distinguished(void **state)
{
    static const struct {
        const char *text;
        enum import_format format;
    } cases[] = {
        {"# who\n0 1 1.5e+07 3\n", IMPORT_HOPBYTE},
        {"\xef\xbb\xbf"
         "0 1 5\n",
         IMPORT_HOPBYTE},
        {"hostname=h\nnumprocs=4\n", IMPORT_DUMPI},
        {"name: x\nhardware:\n  a: 1\n", IMPORT_COUNTERS},
        {"Source;Destination;Bytes\n", IMPORT_CSV}, /* its reader reports what is missing */
        {"sep=;\r\nsource;destination\r\n", IMPORT_CSV},
        {"sep=|\nsource|destination\n", IMPORT_CSV},
        {"# who\r\rsource,destination\r0,1\r", IMPORT_CSV},
        {"# who\r\n\r\n0 1 5\r\n", IMPORT_HOPBYTE},
        {"hello world\n", IMPORT_UNKNOWN},
        {"0 1 two\n", IMPORT_UNKNOWN},
        {"", IMPORT_UNKNOWN}};
    struct bed bed;
    (void)state;
    begin(&bed);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(of_text(&bed, cases[i].text, strlen(cases[i].text)), cases[i].format);
        assert_int_equal(bed.why[0] != '\0', cases[i].format == IMPORT_UNKNOWN);
    }
    assert_int_equal(of_text(&bed, "SQLite format 3", 16), IMPORT_RECORDING);
    assert_int_equal(of_text(&bed, "0 1 2\n\0\1", 8), IMPORT_UNKNOWN);
    directory_remove(bed.directory);
}

static void the_line_that_declares_a_separator_is_known(void **state)
{
    (void)state;
    assert_int_equal(import_declared_separator("sep=;\r", 6), ';');
    assert_int_equal(import_declared_separator("SEP=\t", 5), '\t');
    assert_int_equal(import_declared_separator("\"sep=,\"", 7), ',');
    assert_int_equal(import_declared_separator("sep=", 4), 0);
    assert_int_equal(import_declared_separator("sep=;;", 6), 0);
    assert_int_equal(import_declared_separator("", 0), 0);
}

static void what_is_packed_is_reported_as_that(void **state)
{
    static const struct {
        const char *begin, *told;
        size_t length;
    } cases[] = {{"\x1f\x8b\x08\0", "compressed (gzip)", 4},
                 {"BZh9", "compressed (bzip2)", 4},
                 {"\xfd"
                  "7zXZ\0",
                  "compressed (xz)", 6},
                 {"\x28\xb5\x2f\xfd\x24", "compressed (zstd)", 5},
                 {"PK\x03\x04", "(zip)", 4},
                 {"\xff\xfes\0o\0", "UTF-16", 6}};
    char tar[512] = "messages.csv";
    struct bed bed;
    (void)state;
    begin(&bed);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(of_text(&bed, cases[i].begin, cases[i].length), IMPORT_PACKED);
        assert_non_null(strstr(bed.why, cases[i].told));
        assert_non_null(strstr(bed.why, bed.path));
    }
    memcpy(tar + 257, "ustar", 5);
    assert_int_equal(of_text(&bed, tar, sizeof(tar)), IMPORT_PACKED);
    assert_non_null(strstr(bed.why, "(tar)"));
    directory_remove(bed.directory);
}

static void a_folder_stands_for_the_one_trace_in_it(void **state)
{
    struct bed bed;
    char path[256];
    (void)state;
    begin(&bed);
    assert_int_equal(find(&bed, bed.directory), IMPORT_UNKNOWN);
    assert_non_null(strstr(bed.why, "no trace in this folder"));
    assert_int_equal(of_data(&bed, "otf2/traces.otf2"), IMPORT_OTF2);
    assert_int_equal(find(&bed, bed.directory), IMPORT_OTF2);
    assert_string_equal(bed.source, bed.path);
    snprintf(path, sizeof(path), "%s/other.otf2", bed.directory);
    fclose(fopen(path, "we"));
    assert_int_equal(find(&bed, bed.directory), IMPORT_UNKNOWN);
    assert_non_null(strstr(bed.why, "several traces"));
    assert_int_equal(find(&bed, path), IMPORT_OTF2); /* by its name: libotf2 reports the fault */
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/other.meta", bed.directory);
    fclose(fopen(path, "we"));
    assert_int_equal(find(&bed, bed.directory), IMPORT_UNKNOWN);
    assert_int_equal(import_format_find(bed.directory, IMPORT_OTF2, bed.source, sizeof(bed.source),
                                        bed.why, sizeof(bed.why)),
                     IMPORT_OTF2);
    assert_string_equal(bed.source, bed.path);
    snprintf(path, sizeof(path), "%s/none", bed.directory);
    assert_int_equal(find(&bed, path), IMPORT_UNKNOWN);
    assert_non_null(strstr(bed.why, path));
    directory_remove(bed.directory);
}

static void put_file(struct bed *bed, const char *name, const char *text)
{
    snprintf(bed->path, sizeof(bed->path), "%s/%s", bed->directory, name);
    FILE *file = fopen(bed->path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void files_of_ranks_stand_for_a_trace_whose_text_is_gone(void **state)
{
    static const char begins[] = "\xff\xaa\xdd"
                                 "DUMPI";
    struct bed bed;
    (void)state;
    begin(&bed);
    put_file(&bed, "other.bin", "");
    put_file(&bed, "a-0010.bin", begins);
    put_file(&bed, "a-0002.bin", begins);
    assert_int_equal(find(&bed, bed.directory), IMPORT_DUMPI);
    assert_string_equal(strrchr(bed.source, '/'), "/a-0002.bin");
    put_file(&bed, "a-b-0002.bin", begins);
    assert_int_equal(find(&bed, bed.directory), IMPORT_UNKNOWN);
    assert_non_null(strstr(bed.why, "several traces"));
    put_file(&bed, "a.meta", "");
    assert_int_equal(find(&bed, bed.directory), IMPORT_DUMPI);
    assert_string_equal(bed.source, bed.path);
    directory_remove(bed.directory);
}

static void formats_have_names(void **state)
{
    (void)state;
    for (unsigned f = 1; f < IMPORT_RECORDING; f++)
        assert_int_equal(import_format_by_name(import_format_name((enum import_format)f)), f);
    assert_int_equal(import_format_by_name("recording"), IMPORT_UNKNOWN);
    assert_null(import_format_name(IMPORT_UNKNOWN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_files_are_known_by_what_is_in_them),
        cmocka_unit_test(texts_are_distinguished),
        cmocka_unit_test(the_line_that_declares_a_separator_is_known),
        cmocka_unit_test(what_is_packed_is_reported_as_that),
        cmocka_unit_test(a_folder_stands_for_the_one_trace_in_it),
        cmocka_unit_test(files_of_ranks_stand_for_a_trace_whose_text_is_gone),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
