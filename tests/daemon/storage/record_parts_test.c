#include "daemon/storage/record_parts.h"
#include "daemon/storage/recording_file.h"
#include "holter/error.h"
#include "tests/daemon/storage/recording_writer.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define MOST (UINT64_C(4) << 20)

static char directory[DIRECTORY_ROOM], base[128], why[600];
static struct record_parts parts;
static const char *const path = parts.path;
static struct recording *recording;
static uint64_t seq;

static int set_up(void **state)
{
    (void)state;
    seq = 0;
    assert_int_equal(directory_make(directory), 0);
    snprintf(base, sizeof(base), "%s/holter-job.0.hrec", directory);
    assert_int_equal(record_parts_begin(&parts, base, MOST), 0);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    recording_close(recording);
    return directory_remove(directory);
}

static void keep(enum wire_type type, const void *bytes, size_t length)
{
    struct recorded head = {.type = type,
                            .instance = 5,
                            .seq = ++seq,
                            .window = seq,
                            .time_ns = seq * S,
                            .received_ns = seq * S + 1};
    assert_int_equal(recording_write_message(recording, &head, bytes, length), 0);
}

static void keep_ranks(void)
{
    struct wire_buffer buffer = {0};
    struct wire_member_row member = {.rank = 3};
    struct wire_ranks m = {.seq = 1,
                           .job = "job.0",
                           .world = 4,
                           .app = "a",
                           .mpi = "m",
                           .host = "h",
                           .members = &member,
                           .members_count = 1};
    assert_int_equal(wire_encode(&buffer, WIRE_TYPE_RANKS, &m), 0);
    keep(WIRE_TYPE_RANKS, buffer.bytes, buffer.length);
    wire_buffer_finish(&buffer);
}

/* So many bytes that do not become fewer. */
static void keep_random(size_t bytes)
{
    static uint8_t random[4096];
    static uint64_t seed = 88172645463325252u;
    for (; bytes > sizeof(random); bytes -= sizeof(random)) {
        for (size_t i = 0; i < sizeof(random); i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            random[i] = (uint8_t)seed;
        }
        keep(WIRE_TYPE_WINDOW, random, sizeof(random));
    }
}

static void fill(size_t bytes)
{
    keep_random(bytes);
    assert_int_equal(recording_commit(recording), 0);
}

static void next(void)
{
    if (record_parts_next(&parts, &recording, seq * S, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

static void a_part_is_full_at_an_eighth_of_the_size(void **state)
{
    (void)state;
    assert_false(record_parts_is_full(&parts, MOST / 8 - 1));
    assert_true(record_parts_is_full(&parts, MOST / 8));
    assert_false(record_parts_is_full(&(struct record_parts){.max_bytes = 0}, UINT64_MAX));
}

/* Each commit writes whole pages to the log, however little it has. */
static void small_commits_make_no_part_over_before_it_is_large(void **state)
{
    static const uint8_t little[16];
    unsigned folded = 0;
    (void)state;
    while (folded < 3) {
        keep(WIRE_TYPE_WINDOW, little, sizeof(little));
        assert_int_equal(recording_commit(recording), 0);
        folded += (unsigned)record_parts_is_full(&parts, recording_bytes(recording));
        assert_false(record_parts_needs_next(&parts, recording));
        assert_false(record_parts_is_full(&parts, recording_bytes(recording)));
    }
    fill(MOST / 8);
    assert_true(record_parts_needs_next(&parts, recording));
}

/* Its log cannot be folded in then. */
static void a_part_that_is_read_is_over_at_its_size(void **state)
{
    struct recording_file file;
    (void)state;
    fill(8192);
    assert_int_equal(recording_file_open(&file, path, RECORDING_READ, why, sizeof(why)), 0);
    assert_int_equal(recording_file_exec(file.db, "BEGIN; SELECT count(*) FROM block"), 0);
    while (!record_parts_is_full(&parts, recording_bytes(recording)))
        fill(8192);
    assert_true(record_parts_needs_next(&parts, recording));
    recording_file_close(&file);
}

static void the_next_part_begins_with_what_was_said_before(void **state)
{
    struct wire_job job = {.job = "job.0", .state = "running", .world = 4, .window_ns = S};
    struct wire_dimension_row line = {"x", 4, 1, 0, 0};
    struct wire_seat_row seat = {3, 2};
    struct wire_topology network = {.job = "job.0",
                                    .name = "line",
                                    .dimensions = &line,
                                    .dimensions_count = 1,
                                    .seats = &seat,
                                    .seats_count = 1};
    struct wire_alert alert = {.job = "job.0", .kind = "hang", .state = "resolved"};
    struct wire_totals totals = {.job = "job.0", .window = 3};
    (void)state;
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_JOB, &job), 0);
    for (alert.id = 1; alert.id <= 1500; alert.id++) { /* whose numbers go on after a restart */
        alert.state = alert.id == 7 ? "firing" : "resolved";
        assert_int_equal(recording_write_result(recording, WIRE_TYPE_ALERT, &alert), 0);
    }
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_TOTALS, &totals), 0);
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_TOPOLOGY, &network), 0);
    keep_ranks();
    fill(20000);
    next();
    assert_non_null(strstr(path, "/holter-job.0.part2.hrec"));
    assert_int_equal(kept_ask(path, "SELECT sum(messages) FROM block"), 1);
    assert_int_equal(kept_ask(path, "SELECT begin_ns FROM block"), (int64_t)(seq * S));
    assert_int_equal(kept_ask(path, "SELECT world FROM job"), 4);
    assert_int_equal(kept_ask(path, "SELECT id FROM alert WHERE state = 'firing'"), 7);
    assert_int_equal(kept_ask(path, "SELECT count(*) FROM alert"), 1500);
    assert_int_equal(kept_ask(path, "SELECT count(*) FROM totals"), 0);
    assert_int_equal(kept_ask(path, "SELECT vertex FROM seat WHERE rank = 3"), 2);
    assert_int_equal(kept_ask(path, "SELECT part FROM part"), 2);
    assert_int_equal(kept_ask(path, "SELECT removed_ns FROM part"), 0);
    /* Links have the names of the network's vertices in it. */
    struct wire_link_row row = {.link = 0, .from = 0, .to = 1, .state = 2};
    struct wire_links links = {.job = "job.0", .window = 9, .links = &row, .links_count = 1};
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_LINKS, &links), 0);
    assert_int_equal(recording_commit(recording), 0);
    assert_int_equal(kept_ask(path, "SELECT source = '(0)' FROM link"), 1);
    assert_int_equal(kept_ask(base, "SELECT count(*) FROM totals"),
                     1); /* the first one is closed, and whole */
}

/* Else each commit would begin a further part, and the parts would hold little else than the state.
 */
static void a_part_has_space_beside_a_large_state(void **state)
{
    char text[400] = "";
    struct wire_alert alert = {.job = "job.0", .kind = "hang", .state = "resolved", .text = text};
    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    for (alert.id = 1; alert.id <= 1000; alert.id++)
        assert_int_equal(recording_write_result(recording, WIRE_TYPE_ALERT, &alert), 0);
    fill(8192);
    assert_true(record_parts_needs_next(&parts, recording));
    next();
    fill(MOST / 32);
    assert_false(record_parts_needs_next(&parts, recording));
    fill(MOST / 32);
    assert_true(record_parts_needs_next(&parts, recording));
}

static void all_parts_together_stay_below_the_size(void **state)
{
    unsigned first, last;
    (void)state;
    keep_ranks();
    for (unsigned part = 2; part <= 14; part++) {
        uint64_t all = 0;
        fill(MOST / 8);
        next();
        recording_parts_find(base, &first, &last);
        assert_int_equal(last, part);
        for (unsigned n = first; n <= last; n++) {
            char file[256];
            assert_int_equal(recording_part_path(base, n, file, sizeof(file)), 0);
            FILE *f = fopen(file, "re");
            assert_non_null(f);
            assert_int_equal(fseek(f, 0, SEEK_END), 0);
            all += (uint64_t)ftell(f);
            fclose(f);
        }
        assert_true(all < MOST);
        assert_true(part < 5 ? first == 1 : all > MOST / 2);
    }
    assert_true(first > 5);
    assert_int_equal(access(base, F_OK), -1);
    /* It states what was removed: all before the first remaining part. */
    char file[256];
    assert_int_equal(recording_part_path(base, first, file, sizeof(file)), 0);
    assert_true(kept_ask(path, "SELECT removed_ns FROM part") > 0);
    assert_int_equal(kept_ask(path, "SELECT removed_ns FROM part"),
                     kept_ask(file, "SELECT min(begin_ns) FROM block"));
}

/* What a reader keeps from being folded into its part counts, and goes with it. */
static void logs_of_parts_count_too(void **state)
{
    unsigned first, last;
    (void)state;
    for (int i = 0; i < 12; i++) {
        sqlite3 *reader;
        sqlite3_stmt *s;
        char log[600];
        fill(MOST / 8);
        snprintf(log, sizeof(log), "%s-wal", path);
        assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(reader, "SELECT first FROM block", -1, &s, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        next();
        assert_int_equal(access(log, F_OK), 0);
        sqlite3_finalize(s);
        sqlite3_close_v2(reader);
    }
    recording_parts_find(base, &first, &last);
    assert_int_equal(last, 13);
    assert_true(first > 1);
    uint64_t bytes = 0;
    for (unsigned n = 1; n <= last; n++) {
        char part[160], log[200];
        assert_int_equal(recording_part_path(base, n, part, sizeof(part)), 0);
        snprintf(log, sizeof(log), "%s-wal", part);
        if (n < first)
            assert_int_equal(access(log, F_OK), -1);
        bytes += recording_bytes_at(part);
    }
    assert_true(bytes <= MOST);
}

static void a_recording_goes_on_with_its_newest_part(void **state)
{
    char chosen[256];
    int exists = 0;
    (void)state;
    keep_ranks();
    fill(MOST / 8);
    next();
    fill(20000);
    assert_int_equal(recording_close(recording), 0);
    assert_int_equal(unlink(base), 0);
    assert_int_equal(recording_choose_path(directory, "job.0", 5, chosen, sizeof(chosen), &exists),
                     0);
    assert_true(exists);
    assert_string_equal(chosen, base);
    assert_int_equal(record_parts_begin(&parts, chosen, MOST), 0);
    assert_non_null(strstr(path, ".part2.hrec"));
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    next();
    assert_non_null(strstr(path, ".part3.hrec"));
    assert_int_equal(kept_ask(path, "SELECT sum(messages) FROM block"), 1);
}

/* Its daemon was killed before it had repeated the state of the part before. */
static void a_recording_goes_on_before_a_part_that_was_not_begun(void **state)
{
    char chosen[256], part[256];
    int exists = 0;
    (void)state;
    keep_ranks();
    fill(MOST / 8);
    assert_int_equal(recording_close(recording), 0);
    assert_int_equal(recording_part_path(base, 2, part, sizeof(part)), 0);
    for (int empty = 0; empty < 2; empty++) {
        if (empty) {
            fclose(fopen(part, "we"));
        } else {
            assert_int_equal(recording_open(&recording, part, why, sizeof(why)), 0);
            recording_abandon(recording);
        }
        assert_int_equal(access(part, F_OK), 0);
        assert_int_equal(
            recording_choose_path(directory, "job.0", 5, chosen, sizeof(chosen), &exists), 0);
        assert_true(exists);
        assert_string_equal(chosen, base);
        assert_int_equal(access(part, F_OK), -1);
    }
    assert_int_equal(record_parts_begin(&parts, chosen, MOST), 0);
    assert_string_equal(path, base);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
}

static void a_part_that_is_being_made_stays(void **state)
{
    char chosen[256], part[256];
    struct recording *made;
    int exists = 0;
    (void)state;
    assert_int_equal(recording_part_path(base, 2, part, sizeof(part)), 0);
    assert_int_equal(recording_open(&made, part, why, sizeof(why)), 0);
    assert_int_equal(recording_choose_path(directory, "job.0", 5, chosen, sizeof(chosen), &exists),
                     0);
    assert_int_equal(access(part, F_OK), 0);
    recording_abandon(made);
}

/* No file may become larger than a MiB meanwhile. */
static void fail_next(void)
{
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int code = record_parts_next(&parts, &recording, S, why, sizeof(why));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(code, -EIO);
}

static void a_part_that_cannot_be_created_leaves_nothing(void **state)
{
    static uint8_t large[4 << 20];
    char part[256];
    (void)state;
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (uint8_t)(i * i * 2654435761u >> 13);
    keep(WIRE_TYPE_RANKS, large, sizeof(large));
    assert_int_equal(recording_commit(recording), 0);
    assert_int_equal(recording_part_path(base, 2, part, sizeof(part)), 0);
    fail_next();
    assert_non_null(strstr(why, "part 2 cannot be created: "));
    assert_null(recording);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(access(base, F_OK), 0);
}

/* As on a disk that is full. */
static void a_part_that_cannot_be_finished_is_reported_with_the_cause(void **state)
{
    char part[256];
    (void)state;
    fill(5 << 18);
    keep_random(20000); /* is committed at the end */
    assert_int_equal(recording_part_path(base, 2, part, sizeof(part)), 0);
    fail_next();
    assert_non_null(strstr(why, "part 1 cannot be finished: "));
    assert_null(strstr(why, "not an error"));
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(kept_ask(base, "SELECT count(*) > 0 FROM block"), 1);
}

static void names_of_other_recordings_are_no_parts(void **state)
{
    static const char *const others[] = {"holter-job.0-2.part9.hrec", "holter-job.0.part3.hrec.bak",
                                         "holter-job.00.part4.hrec", "holter-job.0.part05.hrec",
                                         "x-holter-job.0.part6.hrec"};
    unsigned first, last;
    char file[256];
    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        snprintf(file, sizeof(file), "%s/%s", directory, others[i]);
        fclose(fopen(file, "we"));
    }
    recording_parts_find(base, &first, &last);
    assert_int_equal(first, 1);
    assert_int_equal(last, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_part_is_full_at_an_eighth_of_the_size),
        TEST(small_commits_make_no_part_over_before_it_is_large),
        TEST(a_part_that_is_read_is_over_at_its_size),
        TEST(the_next_part_begins_with_what_was_said_before),
        TEST(a_part_has_space_beside_a_large_state),
        TEST(all_parts_together_stay_below_the_size),
        TEST(logs_of_parts_count_too),
        TEST(a_recording_goes_on_with_its_newest_part),
        TEST(a_recording_goes_on_before_a_part_that_was_not_begun),
        TEST(a_part_that_is_being_made_stays),
        TEST(a_part_that_cannot_be_created_leaves_nothing),
        TEST(a_part_that_cannot_be_finished_is_reported_with_the_cause),
        TEST(names_of_other_recordings_are_no_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
