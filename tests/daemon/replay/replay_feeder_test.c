/* The reel of a replay: what is told behind a target that was reached silently is what an
 * uninterrupted replay tells. */
#include "daemon/replay/replay_pack.h"
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

static struct replay_reel *open_reel(void)
{
    return reel_open(path, FILM_WINDOW_NS);
}

static void run_to_end(struct replay_reel *reel)
{
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    assert_int_equal(replay_reel_run(reel, &end, NULL, NULL), 1);
    assert_true(replay_reel_place(reel).ended);
}

/* As a state that sleeps, and is woken. */
static void pack_and_open(void)
{
    struct replay_pack *pack;
    assert_int_equal(replay_pack_make(&pack, NULL, NULL), 0);
    int code = replay_pack_open(pack);
    assert_int_equal(code, 0);
    replay_pack_free(pack);
}

static void from_target(const struct reel_frames *whole, const struct replay_target *target,
                        int packed)
{
    struct reel_frames *rest = malloc(sizeof(*rest));
    struct replay_reel *reel = open_reel();
    assert_int_equal(replay_reel_run(reel, target, NULL, NULL), 1);
    struct replay_place place = replay_reel_place(reel);
    replay_reel_park(reel); /* as before a fork */
    if (packed)
        pack_and_open();
    reel_frames_listen(rest, reel);
    run_to_end(reel);
    reel_frames_end_with(whole, rest);
    if (!place.ended)
        assert_true(rest->count > 0);
    replay_reel_destroy(reel, 0);
    free(rest);
}

static void behind_a_silent_way_all_is_told_as_without(void **state)
{
    (void)state;
    struct reel_frames *whole = malloc(sizeof(*whole)), *again = malloc(sizeof(*again));
    film_make(path, WINDOWS, 0);
    for (int i = 0; i < 2; i++) {
        struct replay_reel *reel = open_reel();
        reel_frames_listen(i == 0 ? whole : again, reel);
        run_to_end(reel);
        assert_int_equal(replay_reel_messages(reel), 2 * WINDOWS + 2 + FILM_CAPTURED);
        assert_string_equal(replay_reel_fault(reel), "");
        replay_reel_destroy(reel, 0);
    }
    assert_true(whole->count > 6 * WINDOWS);
    assert_int_equal(whole->count, again->count);
    reel_frames_end_with(whole, again);
    for (uint64_t at = 0; at <= WINDOWS; at += 3) {
        const struct replay_target t = {REPLAY_TO_TIME,
                                        (FILM_FIRST + at) * FILM_WINDOW_NS + 2400000};
        from_target(whole, &t, at % 2 == 0);
    }
    for (uint64_t steps = 0; steps <= WINDOWS; steps += 7) {
        const struct replay_target t = {REPLAY_TO_STEP, steps};
        from_target(whole, &t, steps % 2 == 0);
    }
    free(whole);
    free(again);
}

static void targets_are_reached_exactly(void **state)
{
    (void)state;
    film_make(path, WINDOWS, 0);
    struct replay_reel *reel = open_reel();
    uint64_t time_ns, begin = FILM_FIRST * FILM_WINDOW_NS;
    struct replay_target t = {REPLAY_TO_STEP, 0};
    replay_reel_run(reel, &t, NULL, NULL);
    assert_int_equal(replay_reel_messages(reel), 0);
    assert_int_equal(replay_reel_peek(reel, &time_ns), 1);
    assert_true(time_ns == begin);
    t = (struct replay_target){REPLAY_TO_STEP, 3};
    replay_reel_run(reel, &t, NULL, NULL);
    assert_int_equal(replay_reel_place(reel).steps, 3);
    uint64_t third = replay_reel_place(reel).time_ns;
    t = (struct replay_target){REPLAY_TO_TIME, begin + 10 * FILM_WINDOW_NS};
    replay_reel_run(reel, &t, NULL, NULL);
    assert_true(replay_reel_place(reel).time_ns > third);
    assert_true(replay_reel_place(reel).time_ns <= t.value);
    replay_reel_peek(reel, &time_ns);
    assert_true(time_ns > t.value);
    run_to_end(reel);
    assert_int_equal(replay_reel_window(reel), FILM_FIRST + WINDOWS - 1);
    assert_int_equal(replay_reel_feed(reel), 0); /* nothing is left */
    assert_int_equal(replay_reel_peek(reel, &time_ns), 0);
    replay_reel_destroy(reel, 0);
}

static int stop_at_once(void *user, const struct replay_place *place)
{
    (void)place;
    return ++*(int *)user < 5;
}

static void a_way_that_nobody_wants_ends(void **state)
{
    (void)state;
    int asked = 0;
    film_make(path, WINDOWS, 0);
    struct replay_reel *reel = open_reel();
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    assert_int_equal(replay_reel_run(reel, &end, stop_at_once, &asked), 0);
    assert_int_equal(replay_reel_messages(reel), 5);
    replay_reel_destroy(reel, 0);
}

static void a_damaged_message_harms_no_other(void **state)
{
    (void)state;
    film_make(path, WINDOWS, 50);
    struct replay_reel *reel = open_reel();
    run_to_end(reel);
    assert_non_null(strstr(replay_reel_fault(reel), "message 50"));
    assert_int_equal(replay_reel_window(reel), FILM_FIRST + WINDOWS - 1);
    replay_reel_destroy(reel, 0);
}

static void a_file_cut_short_is_told_up_to_there_or_refused(void **state)
{
    (void)state;
    struct stat kind;
    film_make(path, WINDOWS, 0);
    assert_int_equal(stat(path, &kind), 0);
    for (off_t part = 1; part < 8; part++) {
        struct options options = {.replay = path, .window_ns = FILM_WINDOW_NS};
        struct network network = {.source = ""};
        const struct replay_reel_options given = {.options = &options, .network = &network};
        struct replay_reel *reel;
        char why[512] = "";
        film_make(path, 1, 0); /* as it was, or anew: only its length counts */
        unlink(path);
        film_make(path, WINDOWS, 0);
        assert_int_equal(truncate(path, kind.st_size * part / 8), 0);
        if (replay_reel_create(&reel, &given, why, sizeof(why)) != 0) {
            assert_non_null(strstr(why, "film.hrec"));
            unlink(path);
            continue;
        }
        run_to_end(reel);
        replay_reel_destroy(reel, 0);
        unlink(path);
    }
}

static void a_recording_without_a_window_is_refused(void **state)
{
    (void)state;
    static struct options options;
    struct replay_reel *reel;
    char why[512] = "";
    film_make(path, 0, 0);
    options = (struct options){.replay = path, .window_ns = FILM_WINDOW_NS};
    const struct replay_reel_options given = {.options = &options};
    assert_int_not_equal(replay_reel_create(&reel, &given, why, sizeof(why)), 0);
    assert_non_null(strstr(why, "film.hrec"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(behind_a_silent_way_all_is_told_as_without, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(targets_are_reached_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_way_that_nobody_wants_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_message_harms_no_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_cut_short_is_told_up_to_there_or_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_recording_without_a_window_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("replay_reel", tests, NULL, NULL);
}
