#include "daemon/import/dumpi/dumpi.h"

#include "daemon/import/import_format.h"
#include "holter/call.h"
#include "tests/daemon/import/dumpi/dumpi_own.h"
#include "tests/daemon/import/dumpi/dumpi_sums.h"
#include "tests/daemon/import/dumpi/dumpi_text.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/data_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define W &writers[0]

static void check(const struct event *e, uint16_t call, uint32_t flags, uint64_t bytes,
                  int32_t peer, int32_t tag)
{
    assert_int_equal(e->call, call);
    assert_int_equal(e->flags, flags);
    assert_int_equal(e->bytes, bytes);
    assert_int_equal(e->peer, peer);
    assert_int_equal(e->tag, tag);
}

/* ---- traces of others -------------------------------------------------------------- */

struct sample {
    const char *folder, *prefix;
    int ranks;
};

static const struct sample samples[] = {{"dumpi/", "testtrace", 4},
                                        {"dumpi/", "testbgp", 7},
                                        {"dumpi/minife-8/", "dumpi-2026.11.20.11.46.04", 8}};

static void unpack(const struct sample *sample, char *meta, size_t capacity)
{
    char name[200], path[256];
    for (int i = 0; i < sample->ranks; i++) {
        snprintf(name, sizeof name, "%s%s-%04d.bin", sample->folder, sample->prefix, i);
        data_file_unpack(name, directory, path, sizeof path);
    }
    snprintf(name, sizeof name, "%s%s.meta", sample->folder, sample->prefix);
    data_file_unpack(name, directory, meta, capacity);
}

static void add(struct dumpi_sums *to, const struct dumpi_sums *from)
{
    to->sent += from->sent;
    to->sent_bytes += from->sent_bytes;
    to->received += from->received;
    to->received_bytes += from->received_bytes;
    to->collectives += from->collectives;
    to->given += from->given;
    to->got += from->got;
}

static char *text_of_rank(const struct sample *sample, int rank)
{
    struct dumpi_file file;
    char path[256], why[200], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/%s-%04d.bin", directory, sample->prefix, rank);
    assert_int_equal(dumpi_file_open(&file, path, why, sizeof why), 0);
    FILE *out = open_memstream(&text, &length);
    dumpi_text_calls(out, &file);
    fclose(out);
    dumpi_file_finish(&file);
    return text;
}

static int is_dumpi(const char *path)
{
    char source[4096], why[4500];
    return import_format_find(path, IMPORT_UNKNOWN, source, sizeof source, why, sizeof why) ==
           IMPORT_DUMPI;
}

static void check_sample(const struct sample *sample, struct dumpi_sums *all)
{
    struct dumpi_trace *trace;
    char meta[256];
    unpack(sample, meta, sizeof meta);
    assert_true(is_dumpi(meta));
    assert_int_equal(dumpi_trace_open(&trace, meta, 2, hear, NULL), 0);
    assert_string_equal(told, "");
    assert_int_equal(dumpi_trace_job(trace)->stream_count, sample->ranks);
    *all = (struct dumpi_sums){0};
    for (int rank = 0; rank < sample->ranks; rank++) {
        struct dumpi_sums from_text, from_records;
        char *text = text_of_rank(sample, rank);
        dumpi_sums_of_text(&from_text, text, rank, sample->ranks);
        dumpi_sums_of_stream(&from_records, trace, (uint32_t)rank);
        assert_memory_equal(&from_text, &from_records, sizeof from_text);
        add(all, &from_text);
        free(text);
    }
    assert_int_equal(dumpi_trace_facts(trace).unresolved, 0);
    dumpi_trace_close(trace);
}

static void records_are_what_the_text_says_of_every_rank(void **state)
{
    (void)state;
    struct dumpi_sums all;
    check_sample(&samples[0], &all);
    assert_int_equal(all.sent, 4);
    check_sample(&samples[1], &all);
    assert_int_equal(all.received, 588);
    check_sample(&samples[2], &all);
    assert_int_equal(all.sent_bytes, 817768);
}

/* The text beside the files is not ours. */
static void records_are_what_the_text_of_others_says(void **state)
{
    (void)state;
    static const char *const texts[] = {"dumpi/testtrace-0000.txt", NULL,
                                        "dumpi/minife-8/rank0.txt"};
    for (unsigned i = 0; i < 3; i += 2) {
        struct dumpi_trace *trace;
        struct dumpi_sums theirs, ours;
        char meta[256];
        size_t length;
        char *text = data_file(texts[i], &length);
        unpack(&samples[i], meta, sizeof meta);
        assert_int_equal(dumpi_trace_open(&trace, meta, 1, hear, NULL), 0);
        dumpi_sums_of_text(&theirs, text, 0, samples[i].ranks);
        dumpi_sums_of_stream(&ours, trace, 0);
        assert_memory_equal(&theirs, &ours, sizeof ours);
        dumpi_trace_close(trace);
        free(text);
    }
}

static void recordings_hold_all_of_it(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct dumpi_sums all;
        struct dumpi_counts all_counts;
        struct recorded_sums recorded;
        struct trace_wishes wishes = {.window_ns = 50000000, .threads = 2, .fault = hear};
        char meta[256], path[256];
        check_sample(&samples[i], &all);
        snprintf(meta, sizeof meta, "%s/%s.meta", directory, samples[i].prefix);
        snprintf(path, sizeof path, "%s/%u.hrec", directory, i);
        assert_int_equal(dumpi_import(path, meta, &wishes, &all_counts), 0);
        const struct trace_counts counts = all_counts.counts;
        recorded_sums_read(&recorded, path);
        assert_int_equal(recorded.sent, all.sent);
        assert_int_equal(recorded.sent_bytes, all.sent_bytes);
        assert_int_equal(recorded.received, all.received);
        assert_int_equal(recorded.received_bytes, all.received_bytes);
        assert_int_equal(recorded.pair_messages, all.sent);
        assert_int_equal(counts.collectives, all.collectives);
        assert_int_equal(counts.unmatched, 0);
        assert_int_equal(counts.rejected, 0);
        assert_int_equal(counts.matched + counts.halves / 2, all.sent);
        assert_int_equal(counts.lost, 0);
    }
}

/* ---- kinds of files ------------------------------------------------------------------ */

static void all_settings_and_versions_can_be_read(void **state)
{
    (void)state;
    static const uint8_t versions[][3] = {{0, 4, 0}, {0, 6, 1}, {0, 6, 2}, {0, 6, 3},
                                          {0, 6, 8}, {0, 6, 9}, {1, 0, 0}, {13, 0, 0}};
    static const uint8_t masks[] = {0x4f, 0xcf, 0x0b, 0x4c, 0x08, 0x04, 0x40, 0x00};
    const char *const argv[] = {"./sim", "-x"};
    const int32_t one[] = {5}, types[] = {INT_};
    struct event e[RECORDS];
    for (unsigned v = 0; v < 8; v++) {
        for (unsigned m = 0; m < 8; m++) {
            begin_files(2);
            memcpy(writers[0].version, versions[v], 3);
            writers[0].mask = masks[m];
            writers[0].counters = 3;
            writers[0].gatherv_type = (int)m % 2;
            dumpi_writer_call(W, DUMPI_Init, LL(2), argv);
            dumpi_writer_call(W, DUMPI_Type_struct, LL(1), 1, one, 1, one, 1, types, LL(30));
            dumpi_writer_call(W, DUMPI_Cart_get, LL(1), LL(WORLD_), LL(1), 1, one, 1, one, 1, one);
            dumpi_writer_call(W, DUMPI_Recv, LL(9), LL(30), LL(1), LL(3), LL(WORLD_),
                              STATUS(20, 1, 3));
            dumpi_writer_call(W, DUMPI_Gatherv, LL(0), LL(2), LL(3), LL(INT_), LL(1), LL(WORLD_),
                              LL(INT_));
            dumpi_writer_call(W, DUMPI_Gatherv, LL(0), LL(2), LL(3), LL(INT_), LL(1), LL(WORLD_),
                              LL(INT_));
            dumpi_writer_call(W, DUMPI_Finalize);
            end_files(2);
            struct dumpi_trace *trace = open_files();
            assert_string_equal(told, "");
            assert_int_equal(records_of(trace, 0, e, NULL), 5);
            check(&e[1], CALL_Recv, RECEIVED, masks[m] & 3 ? 20 : 180, 1, 3);
            check(&e[2], CALL_Gatherv, 0, 12, 1, TAG_NONE);
            assert_int_equal(e[4].call, CALL_Finalize);
            assert_string_equal(dumpi_trace_job(trace)->app, "./sim");
            dumpi_trace_close(trace);
        }
    }
}

static void seconds_go_on_when_their_sixteen_bits_wrap_around(void **state)
{
    (void)state;
    struct event e[RECORDS];
    begin_files(1);
    writers[0].now_ns = UINT64_C(65535500000000);
    for (int i = 0; i < 3; i++) {
        writers[0].call_ns = 600000000;
        dumpi_writer_call(W, DUMPI_Barrier, LL(WORLD_));
        writers[0].now_ns += UINT64_C(20000000000000);
    }
    end_files(1);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(e[i].t_enter, 1 + (uint64_t)i * UINT64_C(20000600001000));
        assert_int_equal(e[i].t_exit - e[i].t_enter, 600000000);
    }
    dumpi_trace_close(trace);
}

static void clocks_of_hosts_that_are_far_apart_meet_at_the_end_of_init(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const char *const argv[] = {"./sim"};
    begin_files(2);
    for (int i = 0; i < 2; i++) {
        writers[i].host = i == 0 ? "a" : "b";
        writers[i].now_ns = i == 0 ? 1000 : UINT64_C(5000000000000);
        dumpi_writer_call(&writers[i], DUMPI_Init, LL(1), argv);
        dumpi_writer_call(&writers[i], DUMPI_Barrier, LL(WORLD_));
    }
    end_files(2);
    struct dumpi_trace *trace = open_files();
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(records_of(trace, i, e, NULL), 2);
        assert_int_equal(e[0].t_exit, 2001);
        assert_int_equal(e[1].t_enter, 3001);
    }
    assert_int_equal(dumpi_trace_job(trace)->host_count, 2);
    dumpi_trace_close(trace);
}

static void assert_hosts(const char *const names[3], const int32_t places[3],
                         const char *const expected[3])
{
    begin_files(3);
    for (int i = 0; i < 3; i++) {
        writers[i].host = names[i];
        writers[i].mesh_place = places[i];
        dumpi_writer_call(&writers[i], DUMPI_Barrier, LL(WORLD_));
    }
    end_files(3);
    struct dumpi_trace *trace = open_files();
    const struct trace_job *job = dumpi_trace_job(trace);
    for (int i = 0; i < 3; i++)
        assert_string_equal(job->hosts[job->host_of[i]], expected[i]);
    dumpi_trace_close(trace);
}

static void nodes_of_one_name_are_told_apart_by_their_places(void **state)
{
    (void)state;
    const int32_t places[] = {0, 0, 1}, none[] = {-1, -1, -1};
    const char *const own[] = {"a", "a", "b"}, *const same[] = {"m", "m", "m"};
    assert_hosts(same, places, (const char *const[]){"m(0)", "m(0)", "m(1)"});
    assert_hosts(own, places, own);
    assert_hosts(same, none, same);
}

/* ---- what is wrong with files ----------------------------------------------------------- */

static void write_barriers(int ranks, int count)
{
    begin_files(ranks);
    for (int i = 0; i < ranks; i++)
        for (int k = 0; k < count; k++)
            dumpi_writer_call(&writers[i], DUMPI_Barrier, LL(WORLD_));
}

static void a_trace_without_calls_is_reported(void **state)
{
    (void)state;
    struct dumpi_counts counts;
    const struct trace_wishes wishes = {.threads = 1, .fault = hear};
    char path[300];
    write_barriers(2, 0);
    end_files(2);
    snprintf(path, sizeof path, "%s", in_directory("empty.hrec"));
    told[0] = '\0';
    assert_int_equal(dumpi_import(path, in_directory("own-0000.bin"), &wishes, &counts), 0);
    assert_non_null(strstr(told, "own-0000.bin: there are no records of MPI in it\n"));
}

static void a_file_that_is_cut_off_gives_what_is_whole(void **state)
{
    (void)state;
    struct event e[RECORDS];
    char expected[400];
    int code;
    write_barriers(2, 5);
    size_t length = writers[0].length; /* 16, and 31 for each call */
    dumpi_writer_end(&writers[0], NULL, 0);
    dumpi_writer_end(&writers[1], NULL, 0);
    save_rank(0, writers[0].length - length + 3);
    save_rank(1, 0);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(length, 16 + 5 * 31);
    snprintf(expected, sizeof expected,
             "%s: the file ends within the call at offset %d; 4 calls before it are imported",
             in_directory("own-0000.bin"), 16 + 4 * 31);
    assert_non_null(strstr(told, expected));
    assert_int_equal(dumpi_trace_facts(trace).broken, 1);
    assert_int_equal(records_of(trace, 0, e, &code), 4);
    assert_true(code < 0);
    assert_int_equal(records_of(trace, 1, e, NULL), 5);
    dumpi_trace_close(trace);
}

static void a_file_without_its_end_is_not_whole(void **state)
{
    (void)state;
    struct event e[RECORDS];
    write_barriers(2, 5);
    size_t length = writers[0].length;
    dumpi_writer_end(&writers[0], NULL, 0);
    dumpi_writer_end(&writers[1], NULL, 0);
    save_rank(0,
              writers[0].length - length - 2); /* what says that there are no more calls is there */
    save_rank(1, 0);
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(told, "own-0000.bin: its end is missing"));
    assert_int_equal(dumpi_trace_facts(trace).broken, 1);
    assert_int_equal(records_of(trace, 0, e, NULL), 5);
    dumpi_trace_close(trace);
}

static void a_file_whose_sizes_of_datatypes_are_broken_is_not_whole(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t sizes[] = {1, 4, 8};
    write_barriers(2, 5);
    dumpi_writer_end(&writers[0], sizes, 3);
    dumpi_writer_end(&writers[1], sizes, 3);
    uint8_t *place = writers[0].bytes + writers[0].length - 64 + 8; /* behind the magic number */
    memset(place, 0, 8);
    place[7] = 16; /* where calls begin */
    save_rank(0, 0);
    save_rank(1, 0);
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(told, "own-0000.bin: the sizes of datatypes at offset 16 are broken"));
    assert_int_equal(dumpi_trace_facts(trace).broken, 1);
    assert_int_equal(records_of(trace, 0, e, NULL), 5);
    dumpi_trace_close(trace);
}

static void what_is_no_call_ends_the_file(void **state)
{
    (void)state;
    struct event e[RECORDS];
    int code;
    write_barriers(2, 3);
    writers[0].bytes[16 + 2 * 31 + 7] = 0xff; /* nanoseconds of a time */
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(
        told, "own-0000.bin: what stands at offset 78 is no call; 2 calls before it are imported"));
    assert_int_equal(records_of(trace, 0, e, &code), 2);
    assert_true(code < 0);
    dumpi_trace_close(trace);
}

static void calls_that_nobody_knows_are_left_out(void **state)
{
    (void)state;
    struct event e[RECORDS];
    write_barriers(2, 2);
    size_t at = writers[0].length;
    dumpi_writer_call(W, DUMPI_Barrier, LL(WORLD_));
    writers[0].bytes[at] = DUMPI_FUNCTIONS >> 8;
    writers[0].bytes[at + 1] = (uint8_t)DUMPI_FUNCTIONS; /* 290: what other versions may have */
    dumpi_writer_bytes(W, "\x01\x02\x03\x04\x05\x06\x07", 7);
    dumpi_writer_call(W, DUMPI_Barrier, LL(WORLD_));
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(
        told, "1 calls of functions that are not known are left out, 38 bytes; the first is number "
              "290 at offset 78"));
    assert_int_equal(dumpi_trace_facts(trace).unknown, 1);
    assert_int_equal(records_of(trace, 0, e, NULL), 3);
    assert_int_equal(e[2].t_enter, 9001);
    dumpi_trace_close(trace);
}

static void a_single_file_knows_how_many_ranks_there_were(void **state)
{
    (void)state;
    struct event e[RECORDS];
    begin_files(1);
    dumpi_writer_call(W, DUMPI_Comm_size, LL(WORLD_), LL(9));
    dumpi_writer_call(W, DUMPI_Send, LL(1), LL(INT_), LL(8), LL(0), LL(WORLD_));
    end_files(1);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(dumpi_trace_job(trace)->ranks, 9);
    assert_non_null(strstr(told, "files of 8 ranks are missing, the first is that of rank 1"));
    assert_int_equal(records_of(trace, 0, e, NULL), 1);
    assert_int_equal(e[0].peer, 8);
    dumpi_trace_close(trace);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    struct event e[RECORDS];
    write_barriers(2, 1);
    end_files(2);
    FILE *meta = fopen(in_directory("own.meta"), "we");
    fputs("hostname=h\nnumprocs=4\nstartime=5\nfileprefix=elsewhere/own\nversion=13\n", meta);
    fclose(meta);
    assert_true(is_dumpi(in_directory("own.meta")));
    assert_true(is_dumpi(directory));
    assert_true(is_dumpi(in_directory("own-0001.bin")));
    assert_false(is_dumpi(in_directory("nothing")));
    struct dumpi_trace *trace;
    assert_int_equal(dumpi_trace_open(&trace, in_directory("own.meta"), 0, hear, NULL), 0);
    assert_non_null(strstr(told, "files of 2 ranks are missing, the first is that of rank 2"));
    assert_int_equal(dumpi_trace_facts(trace).missing, 2);
    assert_int_equal(dumpi_trace_facts(trace).broken, 0);
    assert_int_equal(dumpi_trace_job(trace)->ranks, 4);
    assert_int_equal(dumpi_trace_job(trace)->stream_count, 2);
    assert_int_equal(records_of(trace, 1, e, NULL), 1);
    dumpi_trace_close(trace);
    unlink(in_directory("own-0000.bin"));
    unlink(in_directory("own-0001.bin"));
    assert_true(dumpi_trace_open(&trace, in_directory("own.meta"), 0, hear, NULL) < 0);
    assert_non_null(
        strstr(told, "own.meta: there is no file own-0000.bin, or of another rank, beside it"));
}

static void write_meta(const char *text)
{
    FILE *meta = fopen(in_directory("own.meta"), "we");
    assert_non_null(meta);
    fprintf(meta, "hostname=h\nstartime=5\nfileprefix=own\nversion=13\n%s\n", text);
    fclose(meta);
}

static void the_program_knows_of_ranks_that_the_text_does_not(void **state)
{
    (void)state;
    struct event e[RECORDS];
    write_barriers(4, 1);
    dumpi_writer_call(&writers[1], DUMPI_Comm_size, LL(WORLD_), LL(4));
    end_files(4);
    write_meta("numprocs=2");
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(told, "numprocs is 2, but the program queried 4 ranks"));
    assert_null(strstr(told, "missing"));
    assert_int_equal(dumpi_trace_facts(trace).files, 4);
    assert_int_equal(dumpi_trace_facts(trace).missing + dumpi_trace_facts(trace).left_out, 0);
    assert_int_equal(dumpi_trace_job(trace)->ranks, 4);
    assert_int_equal(records_of(trace, 3, e, NULL), 1);
    dumpi_trace_close(trace);
}

/* They may be left over from an earlier job: only the program knows. */
static void files_beyond_the_last_rank_are_left_out_and_reported(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        write_barriers(4, 1);
        if (asked)
            dumpi_writer_call(&writers[1], DUMPI_Comm_size, LL(WORLD_), LL(2));
        end_files(4);
        write_meta("numprocs=2");
        struct dumpi_trace *trace = open_files();
        assert_non_null(strstr(told, "there are files of 2 ranks more than the 2 that there were"));
        assert_int_equal(dumpi_trace_facts(trace).left_out, asked ? 0 : 2);
        assert_int_equal(dumpi_trace_job(trace)->ranks, 2);
        dumpi_trace_close(trace);
    }
}

static void an_impossible_number_of_ranks_is_reported_and_ignored(void **state)
{
    (void)state;
    write_barriers(2, 1);
    end_files(2);
    write_meta("  numprocs = 4000000");
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(told, "numprocs is 4000000, but there are files of 2 ranks only"));
    assert_int_equal(dumpi_trace_facts(trace).too_many, 1);
    assert_int_equal(dumpi_trace_job(trace)->ranks, 2);
    dumpi_trace_close(trace);
}

static void calls_that_the_tracer_was_not_to_record_are_reported(void **state)
{
    (void)state;
    write_barriers(2, 1);
    writers[1].off_function = DUMPI_Isend;
    writers[1].off_calls = 7;
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(told, "7 calls were made while the tracer was turned off for them, most "
                                 "of MPI_Isend: the trace does not have them"));
    assert_int_equal(dumpi_trace_facts(trace).off, 7);
    assert_int_equal(dumpi_trace_facts(trace).broken, 0);
    dumpi_trace_close(trace);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_are_what_the_text_says_of_every_rank),
        TEST(records_are_what_the_text_of_others_says),
        TEST(recordings_hold_all_of_it),
        TEST(all_settings_and_versions_can_be_read),
        TEST(seconds_go_on_when_their_sixteen_bits_wrap_around),
        TEST(clocks_of_hosts_that_are_far_apart_meet_at_the_end_of_init),
        TEST(nodes_of_one_name_are_told_apart_by_their_places),
        TEST(a_trace_without_calls_is_reported),
        TEST(a_file_that_is_cut_off_gives_what_is_whole),
        TEST(a_file_without_its_end_is_not_whole),
        TEST(a_file_whose_sizes_of_datatypes_are_broken_is_not_whole),
        TEST(what_is_no_call_ends_the_file),
        TEST(calls_that_nobody_knows_are_left_out),
        TEST(a_single_file_knows_how_many_ranks_there_were),
        TEST(missing_files_are_named),
        TEST(the_program_knows_of_ranks_that_the_text_does_not),
        TEST(files_beyond_the_last_rank_are_left_out_and_reported),
        TEST(an_impossible_number_of_ranks_is_reported_and_ignored),
        TEST(calls_that_the_tracer_was_not_to_record_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
