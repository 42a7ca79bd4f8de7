#include "daemon/storage/recording.h"
#include "daemon/storage/recordings/attach.h"
#include "daemon/storage/recordings/info.h"
#include "holter/error.h"
#include "tests/daemon/storage/recordings/made_recording.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define SINCE (1000 * S)

static char directory[DIRECTORY_ROOM], path[128], why[600];
static struct attach *attach;
static struct wire_buffer buffer;

static int make(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    return attach_create(&attach, path, 0, why, sizeof(why));
}

static int drop(void **state)
{
    (void)state;
    attach_abandon(attach, "the test ends");
    attach = NULL;
    wire_buffer_finish(&buffer);
    return directory_remove(directory);
}

/* A message of an agent about ranks or a window, as the daemon publishes it. */
static struct wire_recorded said(enum wire_type type, uint64_t instance, uint64_t seq)
{
    static const struct wire_member_row member = {.rank = 0, .pid = 1};
    static const struct wire_rank_row rank = {.rank = 0, .sent = 3};
    struct wire_ranks ranks = {
        .seq = seq, .job = "j.0", .world = 1, .host = "a", .members = &member, .members_count = 1};
    struct wire_window window = {.seq = seq,
                                 .job = "j.0",
                                 .host = "a",
                                 .window = 1000 + seq,
                                 .length_ns = S,
                                 .ranks = &rank,
                                 .ranks_count = 1};
    const void *message = type == WIRE_TYPE_RANKS ? (const void *)&ranks : &window;
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    return (struct wire_recorded){.job = "j.0",
                                  .type = type,
                                  .instance = instance,
                                  .seq = seq,
                                  .window = type == WIRE_TYPE_WINDOW ? 1000 + seq : 0,
                                  .time_ns = SINCE + seq * S,
                                  .received_ns = type == WIRE_TYPE_RANKS ? SINCE : SINCE + seq * S,
                                  .bytes = buffer.bytes,
                                  .bytes_count = buffer.length};
}

static int attach_bed_write(struct wire_recorded recorded, int snapshot)
{
    struct wire_message message = {.type = WIRE_TYPE_RECORDED, .recorded = recorded};
    return attach_write(attach, &message, snapshot);
}

static void attach_bed_write_window(uint64_t instance, uint64_t seq)
{
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_WINDOW, instance, seq), 0), 0);
}

static void read_back(struct info *info)
{
    assert_int_equal(attach_close(attach), 0);
    attach = NULL;
    assert_int_equal(info_read(info, path, NULL, why, sizeof(why)), 0);
}

static void it_says_since_when_and_what_did_not_come(void **state)
{
    (void)state;
    struct info info;
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 1), 1), 0);
    for (uint64_t seq = 40; seq < 50; seq++) /* 2 to 39 came before */
        attach_bed_write_window(7, seq);
    assert_int_equal(attach_missed_count(attach), 0);
    attach_bed_write_window(7, 53);
    attach_bed_write_window(7, 54);
    assert_int_equal(attach_missed_count(attach), 3);
    attach_bed_write_window(7, 51); /* late, but not lost */
    assert_int_equal(attach_missed_count(attach), 2);
    attach_bed_write_window(8, 9); /* an agent that comes new */
    assert_int_equal(attach_missed_count(attach), 2);
    read_back(&info);
    assert_int_equal(info.attached_ns, SINCE);
    assert_int_equal(info.missed, 2);
    assert_int_equal(info.missed_before, 0);
    assert_int_equal(info.absent, 2);
    assert_int_equal(info.part, 0);
    assert_int_equal(info.messages, 1 + 10 + 3 + 1);
    assert_int_equal(info.sums.sent, 3 * 14);
    info_finish(&info);
}

static void a_state_that_is_published_again_is_not_recorded_twice(void **state)
{
    (void)state;
    struct info info;
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 1), 1), 0);
    attach_bed_write_window(7, 2);
    attach_bed_write_window(7, 3);
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 1), 1), 0);
    attach_bed_write_window(7, 3);
    /* Further ranks came while the daemon was away, and a window. */
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 5), 1), 0);
    attach_bed_write_window(7, 6);
    assert_int_equal(attach_missed_count(attach), 1);
    read_back(&info);
    assert_int_equal(info.attached_ns, SINCE);
    assert_int_equal(info.messages, 5);
    info_finish(&info);
}

static void a_job_that_begins_now_is_recorded_from_its_begin(void **state)
{
    (void)state;
    struct info info;
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 1), 0), 0);
    attach_bed_write_window(7, 2);
    read_back(&info);
    assert_int_equal(info.attached_ns, 0);
    assert_int_equal(info.messages, 2);
    info_finish(&info);
}

static void long_messages_are_joined(void **state)
{
    (void)state;
    struct info info;
    struct wire_recorded whole = said(WIRE_TYPE_WINDOW, 7, 2), part = whole;
    const uint8_t *bytes = whole.bytes;
    part.bytes_count = 10;
    part.more = 1;
    assert_int_equal(attach_bed_write(part, 0), 0);
    part.bytes = bytes + 10;
    part.bytes_count = whole.bytes_count - 10;
    part.offset = 10;
    part.more = 0;
    assert_int_equal(attach_bed_write(part, 0), 0);
    /* The end of this one does not come. */
    part = said(WIRE_TYPE_WINDOW, 7, 3);
    part.bytes_count = 10;
    part.more = 1;
    assert_int_equal(attach_bed_write(part, 0), 0);
    attach_bed_write_window(7, 4);
    assert_int_equal(attach_missed_count(attach), 1);
    /* And of this one the begin. */
    part = said(WIRE_TYPE_WINDOW, 7, 5);
    part.offset = 10;
    assert_int_equal(attach_bed_write(part, 0), 0);
    attach_bed_write_window(7, 6);
    assert_int_equal(attach_missed_count(attach), 2);
    read_back(&info);
    assert_int_equal(info.sums.sent, 9);
    assert_int_equal(info.damage_count, 0);
    info_finish(&info);
}

static void what_no_daemon_sends_is_refused(void **state)
{
    (void)state;
    static uint8_t large[WIRE_PART_BYTES];
    struct wire_recorded wrong = said(WIRE_TYPE_WINDOW, 7, 2);
    wrong.type = WIRE_TYPE_TOTALS;
    assert_int_equal(attach_bed_write(wrong, 0), -HOLTER_EPROTOCOL);
    /* A message without end. */
    struct wire_recorded part = {.job = "j.0",
                                 .type = WIRE_TYPE_WINDOW,
                                 .instance = 1,
                                 .seq = 1,
                                 .bytes = large,
                                 .bytes_count = sizeof(large),
                                 .more = 1};
    for (int i = 0; i < 4; i++, part.offset += sizeof(large))
        assert_int_equal(attach_bed_write(part, 0), 0);
    assert_int_equal(attach_bed_write(part, 0), -HOLTER_EPROTOCOL);
}

static void windows_that_had_ended_before_are_left_out(void **state)
{
    (void)state;
    struct wire_message totals = {
        .type = WIRE_TYPE_TOTALS,
        .totals = {.job = "j.0", .window = 998, .start_ns = 998 * S, .length_ns = S, .sent = 1}};
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 1), 1), 0);
    for (uint64_t window = 998; window < 1002; window++) {
        totals.totals.window = window;
        totals.totals.start_ns = window * S;
        assert_int_equal(attach_write(attach, &totals, 0), 0);
    }
    attach_bed_write_window(7, 2);
    struct info info;
    read_back(&info);
    assert_int_equal(info.windows, 2);
    info_finish(&info);
}

/* A snapshot also has sums of several windows. */
static void lateness_of_the_windows_since_then_is_recorded(void **state)
{
    (void)state;
    static const struct wire_lateness_row row = {.rank = 3, .late_ns = S, .caused_ns = S};
    struct wire_message lateness = {
        .type = WIRE_TYPE_LATENESS,
        .lateness = {.job = "j.0", .length_ns = S, .ranks = &row, .ranks_count = 1}};
    assert_non_null(strstr("," ATTACH_TOPICS ",", ",lateness,"));
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 1), 1), 0);
    for (uint64_t window = 998; window < 1004; window++) {
        lateness.lateness.window = window;
        lateness.lateness.windows = window == 1001 ? 2 : 1;
        assert_int_equal(attach_write(attach, &lateness, window < 1002), 0);
    }
    attach_bed_write_window(7, 2);
    struct info info;
    read_back(&info);
    info_finish(&info);
    assert_int_equal(made_ask(path, "SELECT count(*) FROM lateness"), 3);
    assert_int_equal(made_ask(path, "SELECT min(window) FROM lateness"), 1000);
    assert_int_equal(made_ask(path, "SELECT count(*) FROM lateness WHERE window = 1001"), 0);
}

static void nothing_is_written_over(void **state)
{
    (void)state;
    struct attach *other = NULL;
    attach_bed_write_window(7, 2);
    assert_int_equal(attach_commit(attach), 0);
    assert_int_equal(attach_create(&other, path, 0, why, sizeof(why)), -EEXIST);
    assert_non_null(strstr(why, "is there already"));
}

static void make_noise(uint8_t *noise, uint64_t seed)
{
    for (size_t i = 0; i < 1 << 20; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        noise[i] = (uint8_t)(seed >> 56);
    }
}

static void its_end_begins_no_part(void **state)
{
    (void)state;
    unsigned first, last;
    uint8_t *noise = malloc(1 << 20);
    attach_abandon(attach, "the test ends");
    snprintf(path, sizeof(path), "%s/b.hrec", directory);
    assert_int_equal(attach_create(&attach, path, UINT64_C(16) << 20, why, sizeof(why)), 0);
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 1), 1), 0);
    for (uint64_t seq = 2; seq < 6; seq++) {
        struct wire_recorded window = said(WIRE_TYPE_WINDOW, 7, seq);
        make_noise(noise, seq);
        window.bytes = noise;
        window.bytes_count = 1 << 20;
        assert_int_equal(attach_bed_write(window, 0), 0);
    }
    assert_int_equal(attach_close(attach), 0);
    attach = NULL;
    recording_parts_find(path, &first, &last);
    assert_int_equal(last, 1);
    free(noise);
}

static void attach_bed_write_totals(uint64_t window, int snapshot)
{
    struct wire_message totals = {
        .type = WIRE_TYPE_TOTALS,
        .totals = {.job = "j.0", .window = window, .start_ns = window * S, .length_ns = S}};
    assert_int_equal(attach_write(attach, &totals, snapshot), 0);
}

/* @return number of the last message in the parts before it */
static uint64_t begin_another_part(void)
{
    uint64_t seq = 1;
    uint8_t *noise = malloc(1 << 20);
    attach_abandon(attach, "the test ends");
    snprintf(path, sizeof(path), "%s/b.hrec", directory);
    assert_int_equal(attach_create(&attach, path, UINT64_C(16) << 20, why, sizeof(why)), 0);
    assert_int_equal(attach_bed_write(said(WIRE_TYPE_RANKS, 7, 1), 1), 0);
    while (strstr(attach_path(attach), "part") == NULL) {
        struct wire_recorded window = said(WIRE_TYPE_WINDOW, 7, ++seq);
        make_noise(noise, seq);
        window.bytes = noise; /* kept as it is: it cannot be packed */
        window.bytes_count = 1 << 20;
        assert_int_equal(attach_bed_write(window, 0), 0);
        attach_bed_write_totals(1000 + seq, 0);
        assert_true(attach_is_due(attach));
        assert_int_equal(attach_commit(attach), 0);
        assert_false(attach_is_due(attach));
    }
    snprintf(path, sizeof(path), "%s", attach_path(attach));
    free(noise);
    return seq;
}

static void parts_say_since_when_too(void **state)
{
    (void)state;
    struct info info;
    uint64_t last = begin_another_part();
    attach_bed_write_window(7, last + 2);
    attach_bed_write_window(7, last + 5);
    read_back(&info);
    assert_true(info.part > 1);
    assert_int_equal(info.attached_ns, SINCE);
    assert_int_equal(info.missed, 3);
    assert_int_equal(info.missed_before, 1);
    assert_int_equal(info.absent, 2);
    info_finish(&info);
}

/* As behind a time in which the daemon was away. */
static void windows_of_earlier_parts_that_are_published_again_are_left_out(void **state)
{
    (void)state;
    struct info info;
    uint64_t last = begin_another_part();
    for (uint64_t seq = 1; seq < last + 5; seq++)
        attach_bed_write_totals(1000 + seq, 1);
    attach_bed_write_window(7, last + 4);
    read_back(&info);
    assert_int_equal(info.windows, 4);
    info_finish(&info);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make, drop)
    const struct CMUnitTest tests[] = {
        T(it_says_since_when_and_what_did_not_come),
        T(a_state_that_is_published_again_is_not_recorded_twice),
        T(a_job_that_begins_now_is_recorded_from_its_begin),
        T(long_messages_are_joined),
        T(what_no_daemon_sends_is_refused),
        T(windows_that_had_ended_before_are_left_out),
        T(lateness_of_the_windows_since_then_is_recorded),
        T(nothing_is_written_over),
        T(its_end_begins_no_part),
        T(parts_say_since_when_too),
        T(windows_of_earlier_parts_that_are_published_again_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
