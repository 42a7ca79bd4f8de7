/* The feeder of a replay: what is published after a target that was reached silently is what an
 * uninterrupted replay publishes. */
#include "tests/daemon/replay/feeder_frames.h"
#include "tests/daemon/replay/replay_film.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define WINDOWS 60u

static char directory[DIRECTORY_ROOM], path[160];

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/film.hrec", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return directory_remove(directory);
}

static struct replay_feeder *open_feeder(void)
{
    return feeder_open(path, FILM_WINDOW_NS);
}

static void run_to_end(struct replay_feeder *feeder)
{
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    assert_int_equal(replay_feeder_run(feeder, &end, NULL, NULL), 1);
    assert_true(replay_feeder_place(feeder).ended);
}

static void from_target(const struct feeder_frames *whole, const struct replay_target *target)
{
    struct feeder_frames *rest = malloc(sizeof(*rest));
    struct replay_feeder *feeder = open_feeder();
    assert_int_equal(replay_feeder_run(feeder, target, NULL, NULL), 1);
    struct replay_place place = replay_feeder_place(feeder);
    replay_feeder_close_file(feeder); /* as before a fork */
    replay_feeder_release_memory(feeder);
    feeder_frames_listen(rest, feeder);
    run_to_end(feeder);
    feeder_frames_end_with(whole, rest);
    if (!place.ended)
        assert_true(rest->count > 0);
    replay_feeder_destroy(feeder, 0);
    free(rest);
}

static void what_follows_a_silent_seek_is_what_an_uninterrupted_replay_publishes(void **state)
{
    (void)state;
    struct feeder_frames *whole = malloc(sizeof(*whole)), *again = malloc(sizeof(*again));
    film_make(path, WINDOWS, 0);
    for (int i = 0; i < 2; i++) {
        struct replay_feeder *feeder = open_feeder();
        feeder_frames_listen(i == 0 ? whole : again, feeder);
        run_to_end(feeder);
        assert_int_equal(replay_feeder_messages(feeder), 2 * WINDOWS + 2 + FILM_CAPTURED);
        assert_string_equal(replay_feeder_fault(feeder), "");
        replay_feeder_destroy(feeder, 0);
    }
    assert_true(whole->count > 6 * WINDOWS);
    assert_int_equal(whole->count, again->count);
    feeder_frames_end_with(whole, again);
    for (uint64_t at = 0; at <= WINDOWS; at += 3) {
        const struct replay_target t = {REPLAY_TO_TIME,
                                        (FILM_FIRST + at) * FILM_WINDOW_NS + 2400000};
        from_target(whole, &t);
    }
    for (uint64_t steps = 0; steps <= WINDOWS; steps += 7) {
        const struct replay_target t = {REPLAY_TO_STEP, steps};
        from_target(whole, &t);
    }
    free(whole);
    free(again);
}

static void targets_are_reached_exactly(void **state)
{
    (void)state;
    film_make(path, WINDOWS, 0);
    struct replay_feeder *feeder = open_feeder();
    uint64_t time_ns, begin = FILM_FIRST * FILM_WINDOW_NS;
    struct replay_target t = {REPLAY_TO_STEP, 0};
    replay_feeder_run(feeder, &t, NULL, NULL);
    assert_int_equal(replay_feeder_messages(feeder), 0);
    assert_int_equal(replay_feeder_peek(feeder, &time_ns), 1);
    assert_true(time_ns == begin);
    t = (struct replay_target){REPLAY_TO_STEP, 3};
    replay_feeder_run(feeder, &t, NULL, NULL);
    assert_int_equal(replay_feeder_place(feeder).steps, 3);
    uint64_t third = replay_feeder_place(feeder).time_ns;
    t = (struct replay_target){REPLAY_TO_TIME, begin + 10 * FILM_WINDOW_NS};
    replay_feeder_run(feeder, &t, NULL, NULL);
    assert_true(replay_feeder_place(feeder).time_ns > third);
    assert_true(replay_feeder_place(feeder).time_ns <= t.value);
    replay_feeder_peek(feeder, &time_ns);
    assert_true(time_ns > t.value);
    run_to_end(feeder);
    assert_int_equal(replay_feeder_window(feeder), FILM_FIRST + WINDOWS - 1);
    assert_int_equal(replay_feeder_feed(feeder), 0); /* nothing is left */
    assert_int_equal(replay_feeder_peek(feeder, &time_ns), 0);
    replay_feeder_destroy(feeder, 0);
}

static int stop_at_once(void *user, const struct replay_place *place)
{
    (void)place;
    return ++*(int *)user < 5;
}

static void a_seek_that_is_cancelled_ends(void **state)
{
    (void)state;
    int asked = 0;
    film_make(path, WINDOWS, 0);
    struct replay_feeder *feeder = open_feeder();
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    assert_int_equal(replay_feeder_run(feeder, &end, stop_at_once, &asked), 0);
    assert_int_equal(replay_feeder_messages(feeder), 5);
    replay_feeder_destroy(feeder, 0);
}

static void a_damaged_message_is_skipped(void **state)
{
    (void)state;
    film_make(path, WINDOWS, 50);
    struct replay_feeder *feeder = open_feeder();
    run_to_end(feeder);
    assert_non_null(strstr(replay_feeder_fault(feeder), "message 50"));
    assert_int_equal(replay_feeder_window(feeder), FILM_FIRST + WINDOWS - 1);
    replay_feeder_destroy(feeder, 0);
}

static void a_truncated_file_is_replayed_up_to_its_end_or_refused(void **state)
{
    (void)state;
    struct stat kind;
    film_make(path, WINDOWS, 0);
    assert_int_equal(stat(path, &kind), 0);
    for (off_t part = 1; part < 8; part++) {
        struct replay_options options = {.file = path, .server.window_ns = FILM_WINDOW_NS};
        struct network network = {.source = ""};
        const struct replay_feeder_options given = {.options = &options, .network = &network};
        struct replay_feeder *feeder;
        char why[512] = "";
        film_make(path, 1, 0); /* only its length matters */
        unlink(path);
        film_make(path, WINDOWS, 0);
        assert_int_equal(truncate(path, kind.st_size * part / 8), 0);
        if (replay_feeder_create(&feeder, &given, why, sizeof(why)) != 0) {
            assert_non_null(strstr(why, "film.hrec"));
            unlink(path);
            continue;
        }
        run_to_end(feeder);
        replay_feeder_destroy(feeder, 0);
        unlink(path);
    }
}

static void a_recording_without_a_window_is_refused(void **state)
{
    (void)state;
    static struct replay_options options;
    struct replay_feeder *feeder;
    char why[512] = "";
    film_make(path, 0, 0);
    options = (struct replay_options){.file = path, .server.window_ns = FILM_WINDOW_NS};
    const struct replay_feeder_options given = {.options = &options};
    assert_int_not_equal(replay_feeder_create(&feeder, &given, why, sizeof(why)), 0);
    assert_non_null(strstr(why, "film.hrec"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_follows_a_silent_seek_is_what_an_uninterrupted_replay_publishes, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(targets_are_reached_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_seek_that_is_cancelled_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_message_is_skipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_truncated_file_is_replayed_up_to_its_end_or_refused,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_recording_without_a_window_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("replay_feeder", tests, NULL, NULL);
}
