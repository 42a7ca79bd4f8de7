#include "holter/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void numbers_and_names_agree_both_ways(void **state)
{
    (void)state;
    unsigned known = 0;
    for (uint16_t call = 1; call < CALL_NUMBERS; call++) {
        const char *name = call_name(call);
        if (strcmp(name, "MPI_?") == 0)
            continue;
        known++;
        assert_int_equal(call_by_name(name), call);
        assert_false(call_is_local(name));
        char profiling[80];
        snprintf(profiling, sizeof(profiling), "P%s", name);
        assert_int_equal(call_by_name(profiling), call);
    }
    assert_true(known > 200);
}

/* Recordings hold these numbers. */
static void numbers_never_change(void **state)
{
    (void)state;
    assert_int_equal(call_by_name("MPI_Send"), 1);
    assert_int_equal(call_by_name("MPI_Isend"), 5);
    assert_int_equal(call_by_name("MPI_Recv"), 30);
    assert_int_equal(call_by_name("MPI_Wait"), 64);
    assert_int_equal(call_by_name("MPI_Test"), 70);
    assert_int_equal(call_by_name("MPI_Barrier"), 100);
    assert_int_equal(call_by_name("MPI_Allreduce"), 112);
    assert_int_equal(call_by_name("MPI_Put"), 207);
    assert_int_equal(call_by_name("MPI_Comm_dup"), 250);
    assert_int_equal(call_by_name("MPI_Init"), 290);
    assert_int_equal(call_by_name("MPI_File_open"), 310);
}

static void the_large_count_form_is_the_same_call(void **state)
{
    (void)state;
    assert_int_equal(call_by_name("MPI_Send_c"), CALL_Send);
    assert_int_equal(call_by_name("PMPI_Ialltoallw_c"), CALL_Ialltoallw);
}

static void classes_are_those_of_the_table(void **state)
{
    (void)state;
    assert_int_equal(call_class_of(CALL_Ssend), CALL_SEND);
    assert_int_equal(call_class_of(CALL_Sendrecv), CALL_RECV);
    assert_int_equal(call_class_of(CALL_Waitsome), CALL_WAIT);
    assert_int_equal(call_class_of(CALL_Iprobe), CALL_POLL);
    assert_int_equal(call_class_of(CALL_Ineighbor_alltoallw), CALL_COLLECTIVE);
    assert_int_equal(call_class_of(CALL_Win_fence), CALL_ONE_SIDED);
    assert_int_equal(call_class_of(CALL_File_write_all), CALL_IO);
    assert_int_equal(call_class_of(CALL_Finalize), CALL_OTHER);
    assert_string_equal(call_class_name(CALL_ONE_SIDED), "one-sided");
    for (int c = 0; c < CALL_CLASSES; c++)
        assert_non_null(call_class_name((enum call_class)c));
}

static void unknown_numbers_and_names_are_harmless(void **state)
{
    (void)state;
    assert_string_equal(call_name(0), "MPI_?");
    assert_string_equal(call_name(UINT16_MAX), "MPI_?");
    assert_int_equal(call_class_of(UINT16_MAX), CALL_OTHER);
    assert_string_equal(call_class_name((enum call_class)77), "other");
    const char *const names[] = {"",          "P",    "MPI_",      "PMPI_",           "MPI_Sen",
                                 "MPI_Sendd", "Send", "mpi_send_", "MPIX_Comm_agree", "MPI__c",
                                 "MPI_c"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(call_by_name(names[i]), 0);
        assert_false(call_is_local(names[i]));
    }
}

static void local_functions_are_not_reported_as_missing(void **state)
{
    (void)state;
    const char *const names[] = {"MPI_Comm_rank",   "PMPI_Type_size",  "MPI_Wtime",
                                 "MPI_T_pvar_read", "MPI_Comm_c2f",    "MPI_Info_f2c",
                                 "MPI_Pack_c",      "MPI_Type_size_c", "MPI_Initialized",
                                 "MPI_Info_set",    "MPI_Get_count",   "MPI_NULL_COPY_FN"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(call_is_local(names[i]));
        assert_int_equal(call_by_name(names[i]), 0);
    }
}

/* Every function of the libraries here is covered, local, or an extension that moves data: the last
 * stay to be reported. LIBRARIES: paths, separated by ':', made by the build. */
static void the_libraries_here_hold_nothing_unknown(void **state)
{
    (void)state;
    char libraries[] = MPI_LIBRARIES;
    for (char *path = strtok(libraries, ":"); path; path = strtok(NULL, ":")) {
        char command[512], line[256];
        snprintf(command, sizeof(command), "nm -D --defined-only '%s'", path);
        FILE *nm = popen(command, "r");
        assert_non_null(nm);
        unsigned covered = 0;
        while (fgets(line, sizeof(line), nm)) {
            char kind, name[200];
            if (sscanf(line, "%*s %c %199s", &kind, name) != 2 || !strchr("TWi", kind))
                continue;
            if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "PMPI_", 5) != 0)
                continue;
            if (call_by_name(name))
                covered++;
            else if (!call_is_local(name))
                fail_msg("%s of %s is neither covered nor local", name, path);
        }
        assert_int_equal(pclose(nm), 0);
        assert_true(covered > 350);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_names_agree_both_ways),
        cmocka_unit_test(numbers_never_change),
        cmocka_unit_test(the_large_count_form_is_the_same_call),
        cmocka_unit_test(classes_are_those_of_the_table),
        cmocka_unit_test(unknown_numbers_and_names_are_harmless),
        cmocka_unit_test(local_functions_are_not_reported_as_missing),
        cmocka_unit_test(the_libraries_here_hold_nothing_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
