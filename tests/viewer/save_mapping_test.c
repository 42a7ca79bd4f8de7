/* Suggested mappings as files. */
#include "viewer/save_mapping.h"

#include "tests/directory.h"
#include "tests/viewer/synthetic_network.h"

#include "holter/error.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

struct bed {
    char top[DIRECTORY_ROOM];
    struct synthetic_network net;
    struct model *model;
    struct what_if what_if; /* without steps */
    char path[400], why[200], text[4096];
};

static void into(void *user, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(user, message, snapshot), 0);
}

static void open_bed(struct bed *b)
{
    memset(b, 0, sizeof *b);
    assert_int_equal(directory_make(b->top), 0);
    assert_int_equal(model_create(&b->model, 1 << 20), 0);
    synthetic_network_init(&b->net, "torus:2,3", 2);
    synthetic_network_begin(&b->net, into, b->model);
}

static void suggest(struct bed *b)
{
    network_asked(&b->model->network, SUGGEST_MAPPING, "hop-bytes");
    synthetic_network_mapping(&b->net, 1, into, b->model);
    network_replied(&b->model->network, SUGGEST_MAPPING, 0, NULL);
}

static void close_bed(struct bed *b)
{
    synthetic_network_finish(&b->net);
    model_destroy(b->model);
    directory_remove(b->top);
}

static int keep(struct bed *b, const char *directory)
{
    int error = save_mapping(b->model, &b->what_if, directory, b->path, sizeof b->path, b->why,
                             sizeof b->why);
    if (error)
        return error;
    FILE *file = fopen(b->path, "re");
    assert_non_null(file);
    b->text[fread(b->text, 1, sizeof b->text - 1, file)] = 0;
    fclose(file);
    return 0;
}

static void open_mpi_gets_a_rankfile_with_the_hosts_of_the_job(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b);
    suggest(&b);
    assert_int_equal(keep(&b, b.top), 0);
    assert_non_null(strstr(b.path, ".openmpi"));
    assert_non_null(strstr(b.why, "mpirun --rankfile "));
    assert_non_null(strstr(b.why, b.path));
    assert_non_null(strstr(b.text, "rank 0=node001 slot=0\n")); /* from node 0 to node 1 */
    assert_non_null(strstr(b.text, "rank 11=node000 slot=1\n"));
    close_bed(&b);
}

static void others_get_plain_pairs(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b);
    suggest(&b);
    snprintf(b.model->mpi, sizeof b.model->mpi, "some library");
    assert_int_equal(keep(&b, b.top), 0);
    assert_non_null(strstr(b.path, ".plain"));
    assert_non_null(strstr(b.why, "a rank and its node a line"));
    assert_non_null(strstr(b.text, "0 1\n"));
    assert_non_null(strstr(b.text, "11 0\n"));
    snprintf(b.model->mpi, sizeof b.model->mpi, "MPICH Version: 4.0");
    assert_int_equal(keep(&b, b.top), 0);
    assert_non_null(strstr(b.path, ".mpich"));
    close_bed(&b);
}

static void what_cannot_be_written_is_said(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b);
    assert_int_equal(keep(&b, b.top), -HOLTER_EEMPTY);
    assert_string_equal(b.why, "there is no mapping");
    suggest(&b);
    assert_true(keep(&b, "/no/such/directory") < 0);
    assert_non_null(strstr(b.why, "/no/such/directory"));
    close_bed(&b);
}

static void a_failed_write_leaves_the_earlier_file(void **state)
{
    struct bed b;
    struct rlimit before, none;
    (void)state;
    open_bed(&b);
    suggest(&b);
    assert_int_equal(keep(&b, b.top), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    int error =
        save_mapping(b.model, &b.what_if, b.top, b.path, sizeof b.path, b.why, sizeof b.why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(error, -EFBIG);
    assert_non_null(strstr(b.why, b.path));
    char earlier[sizeof b.text];
    FILE *file = fopen(b.path, "re");
    assert_non_null(file);
    earlier[fread(earlier, 1, sizeof earlier - 1, file)] = 0;
    fclose(file);
    assert_string_equal(earlier, b.text);
    close_bed(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_mpi_gets_a_rankfile_with_the_hosts_of_the_job),
        cmocka_unit_test(others_get_plain_pairs),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(a_failed_write_leaves_the_earlier_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
