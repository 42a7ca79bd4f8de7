#include "daemon/import/import_format.h"
#include "holter/call.h"
#include "tests/daemon/import/dumpi/dumpi_own.h"
#include "tests/daemon/import/dumpi/dumpi_sums.h"
#include "tests/daemon/import/dumpi/dumpi_text.h"
#include "tests/data_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* ---- traces of others --------------------------------------------------------------- */

/* The text of a rank takes the place of its file. */
static void print_rank(const char *prefix, int rank)
{
    struct dumpi_file file;
    char name[128], path[256], why[200], *text;
    size_t length;
    snprintf(name, sizeof name, "%s-%04d.bin", prefix, rank);
    snprintf(path, sizeof path, "%s", in_directory(name));
    assert_int_equal(dumpi_file_open(&file, path, why, sizeof why), 0);
    FILE *out = open_memstream(&text, &length);
    dumpi_text_all(out, &file);
    fclose(out);
    dumpi_file_finish(&file);
    unlink(path);
    strcpy(strrchr(path, '.'), ".txt");
    out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    free(text);
}

static void texts_give_what_their_files_give(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *prefix;
        int ranks;
    } samples[] = {{"dumpi/", "testtrace", 4},
                   {"dumpi/", "testbgp", 7},
                   {"dumpi/minife-8/", "dumpi-2026.11.20.11.46.04", 8}};
    for (unsigned s = 0; s < 3; s++) {
        struct dumpi_sums of_files[8], of_text;
        struct dumpi_trace *trace;
        char meta[256], name[200], path[256];
        for (int i = 0; i < samples[s].ranks; i++) {
            snprintf(name, sizeof name, "%s%s-%04d.bin", samples[s].folder, samples[s].prefix, i);
            data_file_unpack(name, directory, path, sizeof path);
        }
        snprintf(name, sizeof name, "%s%s.meta", samples[s].folder, samples[s].prefix);
        data_file_unpack(name, directory, meta, sizeof meta);
        assert_int_equal(dumpi_trace_open(&trace, meta, 1, hear, NULL), 0);
        for (int i = 0; i < samples[s].ranks; i++)
            dumpi_sums_of_stream(&of_files[i], trace, (uint32_t)i);
        struct trace_job job = *dumpi_trace_job(trace);
        dumpi_trace_close(trace);
        for (int i = 0; i < samples[s].ranks; i++)
            print_rank(samples[s].prefix, i);
        assert_int_equal(dumpi_trace_open(&trace, meta, 1, hear, NULL), 0);
        assert_string_equal(told, "");
        assert_int_equal(dumpi_trace_facts(trace).unresolved, 0);
        assert_int_equal(dumpi_trace_job(trace)->length_ns, job.length_ns);
        assert_int_equal(dumpi_trace_job(trace)->begin_ns, job.begin_ns);
        for (int i = 0; i < samples[s].ranks; i++) {
            dumpi_sums_of_stream(&of_text, trace, (uint32_t)i);
            assert_memory_equal(&of_text, &of_files[i], sizeof of_text);
        }
        dumpi_trace_close(trace);
    }
}

/* A text whose name and header do not identify it. */
static void a_text_knows_its_rank(void **state)
{
    (void)state;
    struct dumpi_trace *trace;
    struct dumpi_sums theirs, ours;
    char path[256], source[4096], why[4400];
    size_t length;
    char *text = data_file("dumpi/minife-8/rank0.txt", &length), *rank = strstr(text, "int rank=0");
    for (; rank != NULL; rank = strstr(rank, "int rank=0"))
        rank[9] = '3';
    snprintf(path, sizeof path, "%s", in_directory("some.txt"));
    FILE *out = fopen(path, "we");
    assert_int_equal(fwrite(text, 1, strlen(text), out), strlen(text));
    fclose(out);
    assert_int_equal(
        import_format_find(path, IMPORT_UNKNOWN, source, sizeof source, why, sizeof why),
        IMPORT_DUMPI);
    assert_int_equal(dumpi_trace_open(&trace, path, 1, hear, NULL), 0);
    assert_non_null(strstr(told, "files of 7 ranks are missing, the first is that of rank 0"));
    assert_int_equal(dumpi_trace_job(trace)->ranks, 8);
    assert_int_equal(dumpi_trace_job(trace)->rank_of[0], 3);
    dumpi_sums_of_text(&theirs, text, 3, 8);
    dumpi_sums_of_stream(&ours, trace, 0);
    assert_memory_equal(&theirs, &ours, sizeof ours);
    dumpi_trace_close(trace);
    free(text);
}

/* ---- texts of our own ----------------------------------------------------------------- */

#define HEAD(name, way)                                                                            \
    name " " way " at walltime 1700000000.000001000, cputime 0.5 seconds in thread 0."

#define SEND                                                                                       \
    HEAD("MPI_Send", "entering")                                                                   \
    "\nint count=3\nMPI_Datatype datatype=26 (MPI_2INT)\nint dest=1\nint tag=7\n"                  \
    "MPI_Comm comm=2 (MPI_COMM_WORLD)\n" HEAD("MPI_Send", "returning") "\n"

static struct dumpi_trace *open_text(const char *text)
{
    struct dumpi_trace *trace;
    FILE *out = fopen(in_directory("own-0000.txt"), "we");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    told[0] = '\0';
    assert_int_equal(dumpi_trace_open(&trace, in_directory("own-0000.txt"), 1, hear, NULL), 0);
    return trace;
}

static void a_text_that_is_cut_off_gives_its_whole_calls(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const char text[] = SEND SEND SEND;
    size_t one = strlen(SEND);
    for (size_t length = one; length < 2 * one - 1; length++) {
        char *cut = strndup(text, length);
        struct dumpi_trace *trace = open_text(cut);
        int code;
        assert_int_equal(records_of(trace, 0, e, &code), 1);
        assert_int_equal(e[0].bytes, 24);
        if (length >= one + strlen("MPI_")) {
            assert_non_null(strstr(told, "own-0000.txt:8: the file ends within this call; 1 calls "
                                         "before it are imported"));
            assert_int_equal(dumpi_trace_facts(trace).broken, 1);
        }
        dumpi_trace_close(trace);
        free(cut);
    }
}

static void calls_that_are_not_whole_or_not_known_are_left_out(void **state)
{
    (void)state;
    struct event e[RECORDS];
    struct dumpi_trace *trace =
        open_text(SEND HEAD("MPI_Send", "entering") "\nint count=3\n" SEND HEAD(
            "MPI_Ibarrier",
            "entering") "\nMPI_Comm comm=2\n" HEAD("MPI_Ibarrier",
                                                   "returning") "\nwho knows\n" SEND);
    assert_int_equal(records_of(trace, 0, e, NULL), 3);
    assert_non_null(
        strstr(told, "own-0000.txt:8: here is the first of 1 calls that are not whole"));
    assert_non_null(strstr(
        told, "own-0000.txt:17: here is the first of 1 calls of functions that are not known"));
    assert_int_equal(dumpi_trace_facts(trace).unknown, 1);
    assert_int_equal(dumpi_trace_facts(trace).broken, 1);
    dumpi_trace_close(trace);
}

static void arguments_of_other_names_are_taken_in_their_order(void **state)
{
    (void)state;
    struct event e[RECORDS];
    struct dumpi_trace *trace = open_text(HEAD(
        "MPI_Irecv",
        "entering") "\r\nint n=4\r\nMPI_Datatype t=9 (MPI_INT)\r\nint from=-1 "
                    "(MPI_ANY_SOURCE)\r\nint tag=-1 (MPI_ANY_TAG)\r\nMPI_Comm c=2\r\n"
                    "MPI_Request r=[5]\r\n" HEAD("MPI_Irecv", "returning") "\r\n" HEAD(
                        "MPI_Waitsome",
                        "entering") "\r\nint n=2\r\nMPI_Request all[2]=[1, 5]\r\nint done=1\r\n"
                                    "int which[1]=[1]\r\nMPI_Status statuses[1]=[{bytes=8, "
                                    "cancelled=0, source=0, tag=6, error=0}]\r\n" HEAD(
                                        "MPI_Waitsome", "returning") "\r\n");
    assert_string_equal(told, "");
    assert_int_equal(records_of(trace, 0, e, NULL), 2);
    assert_int_equal(e[0].bytes, 16);
    assert_int_equal(e[1].call, CALL_Waitsome);
    assert_int_equal(e[1].flags, EVENT_RECV | EVENT_DONE | EVENT_WILDCARD);
    assert_int_equal(e[1].bytes, 8);
    assert_int_equal(e[1].peer, 0);
    assert_int_equal(e[1].tag, 6);
    dumpi_trace_close(trace);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(texts_give_what_their_files_give),
        TEST(a_text_knows_its_rank),
        TEST(a_text_that_is_cut_off_gives_its_whole_calls),
        TEST(calls_that_are_not_whole_or_not_known_are_left_out),
        TEST(arguments_of_other_names_are_taken_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
