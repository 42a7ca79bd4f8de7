/* A feeder that jumps: what it publishes of windows after its target is what a feeder publishes
 * that has met all before, as far as it is told of a window alone; and what a recording tells of
 * its blocks without a look into them. */
#include "daemon/storage/recording_blocks.h"
#include "daemon/storage/recording_file.h"
#include "tests/bench/replay_make.h"
#include "tests/daemon/replay/feeder_frames.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WINDOWS 80u
#define NODES 4u
#define S UINT64_C(1000000000)

static char directory[DIRECTORY_ROOM], path[160];
static uint64_t begin_ns, end_ns;

static struct recording_cursor *open_cursor(void)
{
    struct recording_cursor *cursor;
    char why[300];
    if (recording_cursor_open(&cursor, path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return cursor;
}

static int set_up(void **state)
{
    struct replay_make made = REPLAY_MAKE_DEFAULTS;
    uint64_t bytes;
    (void)state;
    made.ranks = 128;
    made.nodes = NODES;
    made.windows = WINDOWS;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/made.hrec", directory);
    assert_int_equal(replay_make_file(&made, path, &bytes), 0);
    struct recording_cursor *cursor = open_cursor();
    assert_int_equal(recording_cursor_span(cursor, &begin_ns, &end_ns), 0);
    recording_cursor_close(cursor);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return directory_remove(directory);
}

/* ---- frames of single windows ------------------------------------------------------- */

/* What is published of four windows after a time. */
static void tell(struct replay_feeder *feeder, uint64_t from_ns, struct feeder_frames *out)
{
    static const char *const single[] = {"totals", "calls", "pairs"};
    const struct replay_target at = {REPLAY_TO_TIME, from_ns},
                               then = {REPLAY_TO_TIME, from_ns + 4 * S};
    assert_int_equal(replay_feeder_run(feeder, &at, NULL, NULL), 1);
    feeder_frames_listen(out, feeder);
    out->alone = 1;
    assert_int_equal(replay_feeder_run(feeder, &then, NULL, NULL), 1);
    replay_feeder_destroy(feeder, 0);
    feeder_frames_only(out, single, 3);
}

/* @return messages that the jumping feeder was fed up to there */
static uint64_t compare(uint64_t at_ns)
{
    static struct feeder_frames straight, jumped;
    struct replay_feeder *feeder = feeder_open(path, S);
    uint64_t since_ns = 0;
    assert_int_equal(replay_feeder_jump(feeder, at_ns, &since_ns), 0);
    assert_true(since_ns >= begin_ns && since_ns <= at_ns);
    assert_true(since_ns == begin_ns || since_ns + (REPLAY_PREVIEW_WINDOWS + 8) * S > at_ns);
    const struct replay_target at = {REPLAY_TO_TIME, at_ns};
    replay_feeder_run(feeder, &at, NULL, NULL);
    uint64_t fed = replay_feeder_messages(feeder);
    assert_string_equal(replay_feeder_fault(feeder), "");
    tell(feeder, at_ns, &jumped);
    tell(feeder_open(path, S), at_ns, &straight);
    assert_true(straight.count >= 8);
    assert_int_equal(straight.count, jumped.count);
    feeder_frames_end_with(&straight, &jumped);
    return fed;
}

static void windows_after_a_jump_are_published_as_without_it(void **state)
{
    (void)state;
    uint64_t late = compare(begin_ns + 70 * S), all = NODES * 70;
    assert_true(late < all / 2 + 2 * NODES && late > NODES * REPLAY_PREVIEW_WINDOWS / 2);
    compare(begin_ns + 45 * S + S / 3);
    assert_true(compare(begin_ns + 5 * S) >= NODES * 5); /* nothing lies between */
}

static void run_sql(const char *sql)
{
    struct recording_file file;
    char why[200];
    assert_int_equal(recording_file_open(&file, path, RECORDING_WRITE, why, sizeof(why)), 0);
    assert_int_equal(recording_file_exec(file.db, sql), 0);
    recording_file_close(&file);
}

static void a_jump_reads_blocks_whose_number_of_other_messages_is_null(void **state)
{
    (void)state;
    run_sql("UPDATE block SET others = NULL");
    compare(begin_ns + 70 * S);
}

static void nonsense_in_the_table_of_blocks_is_survived(void **state)
{
    uint64_t since_ns;
    (void)state;
    run_sql("UPDATE block SET others = -1, length = -5, begin_ns = 9223372036854775807 - first"
            " WHERE first % 2 = 0");
    struct replay_feeder *feeder = feeder_open(path, S);
    if (replay_feeder_jump(feeder, begin_ns + 70 * S, &since_ns) == 0) {
        const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
        replay_feeder_run(feeder, &end, NULL, NULL);
    }
    replay_feeder_destroy(feeder, 0);
    struct recording_cursor *cursor = open_cursor();
    uint64_t messages, bytes;
    assert_int_equal(recording_blocks_between(cursor, begin_ns, end_ns, &messages, &bytes), 0);
    run_sql("DROP TABLE block; CREATE TABLE block(x)");
    recording_cursor_close(cursor);
}

static uint64_t bytes_between(uint64_t from_ns, uint64_t to_ns, uint64_t *messages)
{
    uint64_t bytes;
    struct recording_cursor *cursor = open_cursor();
    assert_int_equal(recording_blocks_between(cursor, from_ns, to_ns, messages, &bytes), 0);
    recording_cursor_close(cursor);
    return bytes;
}

static void weights_add_up(void **state)
{
    uint64_t all, first, second, none, middle = begin_ns + 40 * S;
    (void)state;
    uint64_t bytes = bytes_between(0, UINT64_MAX, &all);
    assert_int_equal(all, NODES * (WINDOWS + 1));
    assert_true(bytes > (UINT64_C(4) << 20));
    uint64_t before = bytes_between(0, middle, &first),
             after = bytes_between(middle, UINT64_MAX, &second);
    assert_int_equal(first + second, all);
    assert_int_equal(before + after, bytes);
    assert_true(before > bytes / 3 && after > bytes / 3);
    assert_int_equal(bytes_between(middle, middle, &none), 0);
    assert_int_equal(bytes_between(middle, 0, &none), 0);
}

static void blocks_with_more_than_windows_are_found(void **state)
{
    uint64_t number = 0, last = 0;
    (void)state;
    struct recording_cursor *cursor = open_cursor();
    assert_int_equal(recording_block_with_other_messages(cursor, &number, &last), 1);
    assert_int_equal(number, 1);
    assert_true(last >= NODES);
    assert_int_equal(recording_block_with_other_messages(cursor, &number, &last), 0);
    recording_cursor_close(cursor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(windows_after_a_jump_are_published_as_without_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_jump_reads_blocks_whose_number_of_other_messages_is_null,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(nonsense_in_the_table_of_blocks_is_survived, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(weights_add_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(blocks_with_more_than_windows_are_found, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("replay_jump", tests, NULL, NULL);
}
