/* The checkpoints of a replay as the server knows them: which one a seek begins at, and which ones
 * are ended when there are too many. */
#include "daemon/replay/replay_checkpoints.h"
#include "daemon/replay/replay_memory.h"
#include "holter/error.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static uv_loop_t loop;
static struct replay_checkpoints *checkpoints;
/* The checkpoints' ends of the links: this process plays all of them. */
static int ends[REPLAY_CHECKPOINTS_MAXIMUM];
static size_t added;

static int set_up(void **state)
{
    (void)state;
    added = 0;
    checkpoints = NULL;
    return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
    (void)state;
    replay_checkpoints_destroy(checkpoints);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < added; i++)
        close(ends[i]);
    return uv_loop_close(&loop);
}

static void add_checkpoint(uint64_t steps)
{
    int pair[2];
    const struct replay_note note = {.kind = REPLAY_NOTE_CHECKPOINT,
                                     .place = {.time_ns = steps * 1000, .steps = steps},
                                     .process = getpid()};
    assert_int_equal(replay_link_pair(pair), 0);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    ends[added++] = pair[1];
    assert_int_equal(replay_checkpoints_add(checkpoints, &note, pair[0]), 0);
}

static uint64_t steps_before(uint64_t steps)
{
    struct replay_place place;
    const struct replay_target target = {REPLAY_TO_STEP, steps};
    assert_int_equal(replay_checkpoints_find(checkpoints, &target, &place), 0);
    return place.steps;
}

static int is_ended(size_t at)
{
    uv_run(&loop, UV_RUN_NOWAIT);
    return replay_link_closed(ends[at]);
}

/* @return the kind of the next note to a checkpoint, -1: there is none */
static int receive_kind(size_t at)
{
    struct replay_note note;
    int fds[REPLAY_LINK_FDS];
    size_t count = 0;
    int code = replay_link_receive(ends[at], &note, fds, &count);
    while (count > 0)
        close(fds[--count]);
    return code == 1 ? (int)note.kind : -1;
}

static int fork_worker(uint64_t steps, int preview)
{
    const struct replay_note note = {
        .kind = REPLAY_NOTE_FORK, .target = {REPLAY_TO_STEP, steps}, .preview = preview};
    int fds[REPLAY_LINK_FDS];
    for (size_t i = 0; i < REPLAY_LINK_FDS; i++)
        fds[i] = open("/dev/null", O_RDONLY);
    int code = replay_checkpoints_fork(checkpoints, &note, fds);
    for (size_t i = 0; i < REPLAY_LINK_FDS; i++)
        close(fds[i]);
    return code;
}

static void a_seek_begins_at_the_last_checkpoint_before_its_target(void **state)
{
    (void)state;
    assert_int_equal(replay_checkpoints_create(&checkpoints, &loop, 0), 0);
    assert_int_equal(fork_worker(5, 0), -HOLTER_EEMPTY);
    for (uint64_t i = 0; i < 4; i++)
        add_checkpoint(10 * i);
    assert_int_equal(steps_before(9), 0);
    assert_int_equal(steps_before(10), 10);
    assert_int_equal(steps_before(29), 20);
    assert_int_equal(steps_before(99), 30);
    assert_int_equal(fork_worker(25, 0), 0);
    assert_int_equal(receive_kind(2), REPLAY_NOTE_FORK);
    assert_int_equal(fork_worker(25, 1), 0);
    assert_int_equal(receive_kind(0), REPLAY_NOTE_FORK);
}

static int is_reachable(const struct replay_target *target)
{
    struct replay_place place;
    return replay_checkpoints_find(checkpoints, target, &place) == 0;
}

static void add_place(uint64_t time_ns, uint64_t steps, int ended)
{
    int pair[2];
    const struct replay_note note = {
        .kind = REPLAY_NOTE_CHECKPOINT, .place = {time_ns, steps, ended}, .process = getpid()};
    assert_int_equal(replay_link_pair(pair), 0);
    ends[added++] = pair[1];
    assert_int_equal(replay_checkpoints_add(checkpoints, &note, pair[0]), 0);
}

static void a_checkpoint_reaches_targets_at_its_place_and_after_it(void **state)
{
    (void)state;
    const struct replay_target at = {REPLAY_TO_TIME, 100}, before = {REPLAY_TO_TIME, 99},
                               step = {REPLAY_TO_STEP, 5}, earlier = {REPLAY_TO_STEP, 4};
    assert_int_equal(replay_checkpoints_create(&checkpoints, &loop, 0), 0);
    add_place(100, 5, 0);
    assert_true(is_reachable(&at));
    assert_false(is_reachable(&before));
    assert_true(is_reachable(&step));
    assert_false(is_reachable(&earlier));
}

/* The state after the last step is that before the end of the job. */
static void the_checkpoint_at_the_end_does_not_reach_the_last_step(void **state)
{
    (void)state;
    const struct replay_target at = {REPLAY_TO_TIME, 100}, step = {REPLAY_TO_STEP, 5};
    assert_int_equal(replay_checkpoints_create(&checkpoints, &loop, 0), 0);
    add_place(100, 5, 1);
    assert_false(is_reachable(&step));
    assert_true(is_reachable(&at));
}

static void a_seek_begins_earlier_when_a_checkpoint_was_killed(void **state)
{
    (void)state;
    assert_int_equal(replay_checkpoints_create(&checkpoints, &loop, 0), 0);
    for (uint64_t i = 0; i < 3; i++)
        add_checkpoint(10 * i);
    close(ends[1]);
    ends[1] = open("/dev/null", O_RDONLY);
    assert_int_equal(fork_worker(15, 0), 0); /* before the loop has noticed */
    assert_int_equal(receive_kind(0), REPLAY_NOTE_FORK);
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(steps_before(15), 0);
    assert_int_equal(steps_before(25), 20);
}

static void there_is_no_preview_without_a_checkpoint_at_which_nothing_was_fed(void **state)
{
    (void)state;
    assert_int_equal(replay_checkpoints_create(&checkpoints, &loop, 0), 0);
    for (uint64_t i = 0; i < 3; i++)
        add_checkpoint(10 * i);
    close(ends[0]);
    ends[0] = open("/dev/null", O_RDONLY);
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(fork_worker(15, 1), -HOLTER_EEMPTY);
    assert_int_equal(receive_kind(1), -1);
}

static void every_other_checkpoint_is_ended_when_there_are_too_many(void **state)
{
    (void)state;
    assert_int_equal(replay_checkpoints_create(&checkpoints, &loop, UINT64_MAX), 0);
    for (uint64_t i = 0; i < REPLAY_CHECKPOINTS_MAXIMUM; i++) {
        assert_false(replay_checkpoints_thin(checkpoints));
        add_checkpoint(i);
    }
    const struct replay_note note = {.kind = REPLAY_NOTE_CHECKPOINT, .process = getpid()};
    assert_int_equal(replay_checkpoints_add(checkpoints, &note, open("/dev/null", O_RDONLY)),
                     -HOLTER_EFULL);
    assert_true(replay_checkpoints_thin(checkpoints));
    assert_false(replay_checkpoints_thin(checkpoints));
    for (size_t i = 0; i < REPLAY_CHECKPOINTS_MAXIMUM; i++) /* but for the last */
        assert_int_equal(is_ended(i), i % 2 == 1 && i + 1 < REPLAY_CHECKPOINTS_MAXIMUM);
}

/* Each takes as much as this process. */
static void checkpoints_are_ended_when_they_take_too_much_memory(void **state)
{
    (void)state;
    uint64_t each = replay_memory_of_process(getpid());
    assert_true(each > 0);
    assert_int_equal(replay_checkpoints_create(&checkpoints, &loop, each * 6), 0);
    for (uint64_t i = 0; i < 4; i++)
        add_checkpoint(i);
    assert_false(replay_checkpoints_thin(checkpoints));
    for (uint64_t i = 4; i < 9; i++)
        add_checkpoint(i);
    assert_true(replay_checkpoints_thin(checkpoints));
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(is_ended(i), i % 2 == 1);
    assert_false(replay_checkpoints_thin(checkpoints));
}

static void the_first_and_the_last_checkpoint_stay_whatever_they_take(void **state)
{
    (void)state;
    assert_int_equal(replay_checkpoints_create(&checkpoints, &loop, 1), 0);
    for (uint64_t i = 0; i < 5; i++)
        add_checkpoint(i);
    assert_true(replay_checkpoints_thin(checkpoints));
    assert_true(replay_checkpoints_thin(checkpoints));
    assert_false(replay_checkpoints_thin(checkpoints));
    assert_int_equal(steps_before(3), 0);
    assert_int_equal(steps_before(4), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_seek_begins_at_the_last_checkpoint_before_its_target,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_checkpoint_reaches_targets_at_its_place_and_after_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_checkpoint_at_the_end_does_not_reach_the_last_step,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_seek_begins_earlier_when_a_checkpoint_was_killed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            there_is_no_preview_without_a_checkpoint_at_which_nothing_was_fed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_other_checkpoint_is_ended_when_there_are_too_many,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(checkpoints_are_ended_when_they_take_too_much_memory,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_and_the_last_checkpoint_stay_whatever_they_take,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests_name("replay_checkpoints", tests, NULL, NULL);
}
