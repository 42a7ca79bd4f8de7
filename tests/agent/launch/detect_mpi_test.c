#include "agent/launch/detect_mpi.h"

#include "agent/launch/elf_file.h"
#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The build passes the paths of its programs. */
static const char *program(const char *name)
{
    const char *path = getenv(name);
    if (path == NULL)
        skip();
    return path;
}

static struct mpi_finding look(const char *path, const char *library_path)
{
    struct mpi_finding finding;
    assert_int_equal(detect_mpi(path, library_path, &finding), 0);
    return finding;
}

static void assert_library(const struct mpi_finding *finding, const char *place, const char *end)
{
    size_t length = strlen(finding->library);
    assert_non_null(strstr(finding->library, place));
    assert_true(length > strlen(end));
    assert_string_equal(finding->library + length - strlen(end), end);
}

static void an_mpi_behind_another_library_is_found_through_rpath(void **state)
{
    (void)state;
    struct mpi_finding finding = look(program("MPICH_LIKE"), NULL);
    assert_int_equal(finding.kind, PROGRAM_ELF);
    assert_int_equal(finding.flavour, MPI_FLAVOUR_MPICH);
    assert_library(&finding, "/mpich_like/", "/libmpi.so.12");
}

static void two_mpis_of_one_name_are_distinguished_by_what_they_need(void **state)
{
    (void)state;
    assert_int_equal(look(program("OPENMPI_LIKE"), NULL).flavour, MPI_FLAVOUR_OPENMPI);
    assert_int_equal(look(program("MPICH_LIKE"), NULL).flavour, MPI_FLAVOUR_MPICH);
}

static void library_path_comes_before_runpath(void **state)
{
    (void)state;
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "/nonexistent:%s", program("OPENMPI_LIKE"));
    *strrchr(directory, '/') = '\0';
    struct mpi_finding finding = look(program("MPICH_LIKE"), directory);
    assert_int_equal(finding.flavour, MPI_FLAVOUR_OPENMPI);
    assert_library(&finding, "/openmpi_like/", "/libmpi.so.12");
}

static void the_installed_mpis_are_recognised(void **state)
{
    (void)state;
    const char *openmpi = getenv("REAL_OPENMPI"), *mpich = getenv("REAL_MPICH");
    if (openmpi == NULL && mpich == NULL)
        skip();
    if (openmpi != NULL)
        assert_int_equal(look(openmpi, NULL).flavour, MPI_FLAVOUR_OPENMPI);
    if (mpich != NULL)
        assert_int_equal(look(mpich, NULL).flavour, MPI_FLAVOUR_MPICH);
}

static void an_mpi_is_found_where_the_standard_streams_are_closed(void **state)
{
    (void)state;
    struct mpi_finding finding;
    const char *path = program("MPICH_LIKE");
    int kept[3];
    for (int fd = 0; fd < 3; fd++)
        kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    int code = detect_mpi(path, NULL, &finding);
    for (int fd = 0; fd < 3; fd++) {
        dup2(kept[fd], fd);
        close(kept[fd]);
    }
    assert_int_equal(code, 0);
    assert_int_equal(finding.flavour, MPI_FLAVOUR_MPICH);
}

static void a_program_without_mpi_has_none(void **state)
{
    (void)state;
    struct mpi_finding finding = look(program("PLAIN"), NULL);
    assert_int_equal(finding.kind, PROGRAM_ELF);
    assert_int_equal(finding.flavour, MPI_FLAVOUR_NONE);
    assert_string_equal(finding.library, "");
}

static void a_static_program_is_known_as_one(void **state)
{
    (void)state;
    assert_int_equal(look(program("STATIC"), NULL).kind, PROGRAM_STATIC);
}

static void an_mpi_that_is_linked_into_the_program_is_recognised_by_its_symbols(void **state)
{
    (void)state;
    struct mpi_finding finding = look(program("LINKED_IN"), NULL);
    assert_int_equal(finding.kind, PROGRAM_ELF);
    assert_int_equal(finding.flavour, MPI_FLAVOUR_NONE);
    assert_true(finding.linked_in);
    assert_false(look(program("STRIPPED"), NULL).linked_in);
    assert_false(look(program("PLAIN"), NULL).linked_in);
    assert_false(look(program("MPICH_LIKE"), NULL).linked_in);
}

/** A file with these bytes; removed when the test ends. */
static void write_file(char path[64], const void *bytes, size_t length)
{
    strcpy(path, "/tmp/holter-detect-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    close(fd);
}

static void a_script_is_a_script(void **state)
{
    (void)state;
    static const char text[] = "#!/bin/sh\nexec ./sim\n";
    char path[64];
    write_file(path, text, sizeof text - 1);
    struct mpi_finding finding = look(path, NULL);
    unlink(path);
    assert_int_equal(finding.kind, PROGRAM_SCRIPT);
    assert_int_equal(finding.flavour, MPI_FLAVOUR_NONE);
}

static void a_missing_file_is_an_error(void **state)
{
    (void)state;
    struct mpi_finding finding;
    assert_int_equal(detect_mpi("/nonexistent/sim", NULL, &finding), -ENOENT);
}

static void a_file_of_another_machine_is_known_as_one(void **state)
{
    (void)state;
    char bytes[4096], path[64];
    int fd = open(program("PLAIN"), O_RDONLY);
    ssize_t length = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_true(length > 64);
    bytes[18] ^= 1;            /* e_machine */
    bytes[56] = bytes[57] = 0; /* e_phnum */
    write_file(path, bytes, (size_t)length);
    struct mpi_finding finding = look(path, NULL);
    unlink(path);
    assert_int_equal(finding.kind, PROGRAM_ALIEN);
}

/* Whatever byte of a program's headers is damaged, and wherever the file is cut: an answer or an
 * error. */
static void damaged_files_are_survived(void **state)
{
    (void)state;
    static unsigned char bytes[1 << 16], damaged[1 << 16];
    int fd = open(program("MPICH_LIKE"), O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_true(n > 1024);
    size_t length = (size_t)n;
    uint32_t random = 12345;
    int defined = 0;
    assert_true(elf_file_defines(program("MPICH_LIKE"), "main"));
    assert_false(elf_file_defines(program("MPICH_LIKE"), "mai"));
    for (int round = 0; round < 3000; round++) {
        memcpy(damaged, bytes, length);
        for (int i = 0; i < 4; i++) {
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 8) % (i < 2 ? 1024 : length);
            damaged[at] = (unsigned char)(random >> 24);
        }
        size_t cut = round % 3 == 0 ? (random >> 4) % length : length;
        char path[64];
        write_file(path, damaged, cut);
        struct elf_file elf;
        if (elf_file_read(&elf, path) == 0)
            assert_true(strlen(elf.interpreter) < sizeof elf.interpreter);
        defined += elf_file_defines(path, "main");
        unlink(path);
    }
    assert_true(defined > 0 && defined < 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_mpi_behind_another_library_is_found_through_rpath),
        cmocka_unit_test(two_mpis_of_one_name_are_distinguished_by_what_they_need),
        cmocka_unit_test(library_path_comes_before_runpath),
        cmocka_unit_test(the_installed_mpis_are_recognised),
        cmocka_unit_test(an_mpi_is_found_where_the_standard_streams_are_closed),
        cmocka_unit_test(a_program_without_mpi_has_none),
        cmocka_unit_test(a_static_program_is_known_as_one),
        cmocka_unit_test(an_mpi_that_is_linked_into_the_program_is_recognised_by_its_symbols),
        cmocka_unit_test(a_script_is_a_script),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(a_file_of_another_machine_is_known_as_one),
        cmocka_unit_test(damaged_files_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
