/* The states of a replay as the server knows them: which one leads where, which are packed, and
 * which go. */
#include "daemon/replay/replay_states.h"
#include "daemon/replay/replay_thin.h"
#include "holter/error.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define STATES 12u
#define ROUNDS 100

static uv_loop_t loop;
static struct replay_states *states;
static int ends[64]; /* of the links of those that were added: this process plays all of them */
static size_t added;

static int set_up(void **state)
{
    (void)state;
    added = 0;
    states = NULL;
    return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
    (void)state;
    replay_states_destroy(states);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < added; i++)
        close(ends[i]);
    return uv_loop_close(&loop);
}

static void add(uint64_t steps, int near)
{
    int pair[2];
    const struct replay_note note = {.kind = REPLAY_STATE,
                                     .place = {.time_ns = steps * 1000, .steps = steps},
                                     .process = getpid(),
                                     .near = near};
    assert_int_equal(replay_link_pair(pair), 0);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    ends[added++] = pair[1];
    assert_int_equal(replay_states_add(states, &note, pair[0]), 0);
}

/* Where a worker for a step would begin. */
static uint64_t before(uint64_t steps)
{
    struct replay_place place;
    const struct replay_target target = {REPLAY_TO_STEP, steps};
    assert_int_equal(replay_states_before(states, &target, &place), 0);
    return place.steps;
}

static int is_gone(size_t at)
{
    uv_run(&loop, UV_RUN_NOWAIT);
    return replay_link_over(ends[at]);
}

/* @return the kind of the next note to a state, -1: there is none */
static int heard(size_t at)
{
    struct replay_note note;
    int fds[REPLAY_LINK_FDS];
    size_t count = 0;
    int code = replay_link_receive(ends[at], &note, fds, &count);
    while (count > 0)
        close(fds[--count]);
    return code == 1 ? (int)note.kind : -1;
}

static void a_seek_begins_at_the_last_state_before_it_whoever_left_it(void **state)
{
    (void)state;
    assert_int_equal(replay_states_create(&states, &loop, 0), 0);
    for (uint64_t i = 0; i < 4; i++)
        add(10 * i, 0);
    add(16, 1); /* the fifth */
    add(13, 1);
    assert_int_equal(before(12), 10);
    assert_int_equal(before(15), 13);
    assert_int_equal(before(19), 16);
    assert_int_equal(before(25), 20);
    add(16, 1); /* there is one */
    assert_true(is_gone(6));
    assert_false(is_gone(4));
    add(99, 1);
    assert_int_equal(before(99), 99);
    assert_int_equal(replay_states_index(states, ends[0]), 0); /* any descriptor does */
    assert_int_equal(heard(3), REPLAY_INDEX);                  /* not one that is only near */
    assert_int_equal(heard(7), -1);
}

static void states_near_somebody_are_few_and_go_when_he_does(void **state)
{
    (void)state;
    assert_int_equal(replay_states_create(&states, &loop, 0), 0);
    add(0, 0);
    for (uint64_t i = 0; i < REPLAY_NEAR + 2; i++)
        add(100 - i, 1);
    assert_true(is_gone(1) && is_gone(2)); /* the oldest */
    assert_false(is_gone(3));
    assert_int_equal(before(100), 98);
    replay_states_forget_near(states);
    assert_true(is_gone(3) && is_gone(REPLAY_NEAR + 2));
    assert_int_equal(before(100), 0);
    assert_false(is_gone(0));
}

/* Answer all that were asked. @return how many */
static size_t pack_asked(int *packed)
{
    const struct replay_note done = {.kind = REPLAY_PACKED};
    size_t count = 0;
    for (size_t i = 0; i < added; i++) {
        if (heard(i) != REPLAY_PACK)
            continue;
        assert_false(packed[i]);
        packed[i] = 1;
        count++;
        replay_link_send(ends[i], &done, NULL, 0);
    }
    uv_run(&loop, UV_RUN_NOWAIT);
    return count;
}

/* Each takes as much as this process: in all more than they may. */
static void all_that_can_be_are_packed_before_any_is_given_up(void **state)
{
    (void)state;
    int packed[STATES + 1] = {0};
    struct replay_keeping keeping = {0};
    uint64_t each = replay_memory_of(getpid());
    assert_int_equal(replay_states_create(&states, &loop, each * STATES / 2), 0);
    for (uint64_t i = 0; i < STATES; i++)
        add(10 * i, 0);
    add(5, 1);
    for (int i = 0; i < ROUNDS && !keeping.hold; i++)
        keeping = replay_states_keep(states);
    assert_true(keeping.hold && !keeping.sparser);
    for (int i = 0; i < ROUNDS && pack_asked(packed) > 0; i++)
        ;
    for (size_t i = 0; i < STATES; i++) /* not the begin, nor the last one */
        assert_int_equal(packed[i], i > 0 && i < STATES - 1);
    assert_false(packed[STATES]);
    for (size_t i = 0; i < STATES; i++)
        assert_false(is_gone(i));
    /* They were not the less for it here: now the one near somebody goes, then every other one. */
    keeping = replay_states_keep(states);
    assert_true(!keeping.hold && !keeping.sparser);
    assert_true(is_gone(STATES));
    keeping = replay_states_keep(states);
    assert_true(!keeping.hold && keeping.sparser);
    for (size_t i = 0; i < STATES; i++)
        assert_int_equal(is_gone(i), replay_thin_gives_up(i, STATES));
}

static void nobody_is_packed_while_there_is_room(void **state)
{
    (void)state;
    int packed[STATES] = {0};
    assert_int_equal(
        replay_states_create(&states, &loop, replay_memory_of(getpid()) * STATES * 100), 0);
    for (uint64_t i = 0; i < STATES; i++)
        add(10 * i, 0);
    for (size_t i = 0; i < STATES; i++) {
        struct replay_keeping keeping = replay_states_keep(states);
        assert_false(keeping.hold || keeping.sparser);
    }
    assert_int_equal(pack_asked(packed), 0);
}

/* Who leads waits then, if there is no room left, and none is given up for it. */
static void nobody_is_told_to_pack_while_somebody_seeks(void **state)
{
    (void)state;
    int packed[STATES] = {0};
    struct replay_keeping keeping = {0};
    assert_int_equal(replay_states_create(&states, &loop, replay_memory_of(getpid()) * STATES / 2),
                     0);
    replay_states_rest(states, 1);
    for (uint64_t i = 0; i < STATES; i++)
        add(10 * i, 0);
    for (int i = 0; i < ROUNDS; i++) {
        keeping = replay_states_keep(states);
        assert_false(keeping.sparser);
    }
    assert_true(keeping.hold);
    assert_int_equal(pack_asked(packed), 0);
    replay_states_rest(states, 0);
    replay_states_keep(states);
    assert_true(pack_asked(packed) > 0);
}

static void ask_for_worker(uint64_t steps)
{
    const struct replay_note fork = {.kind = REPLAY_FORK, .target = {REPLAY_TO_STEP, steps}};
    int fds[REPLAY_LINK_FDS];
    for (size_t i = 0; i < REPLAY_LINK_FDS; i++)
        fds[i] = open("/dev/null", O_RDONLY);
    assert_int_equal(replay_states_fork(states, &fork, fds), 0);
    for (size_t i = 0; i < REPLAY_LINK_FDS; i++)
        close(fds[i]);
}

static void a_packed_state_stays_open_until_another_one_is_asked(void **state)
{
    (void)state;
    int packed[STATES] = {0};
    assert_int_equal(replay_states_create(&states, &loop, replay_memory_of(getpid()) * STATES / 2),
                     0);
    for (uint64_t i = 0; i < STATES; i++)
        add(10 * i, 0);
    for (int i = 0; i < ROUNDS && !replay_states_keep(states).hold; i++)
        ;
    while (pack_asked(packed) > 0)
        ;
    assert_true(packed[3] && packed[6]);
    ask_for_worker(35);
    ask_for_worker(34);
    assert_int_equal(heard(3), REPLAY_FORK);
    assert_int_equal(heard(3), REPLAY_FORK);
    assert_int_equal(heard(3), -1);
    ask_for_worker(62);
    assert_int_equal(heard(6), REPLAY_FORK);
    assert_int_equal(heard(3), REPLAY_PACK);
    assert_int_equal(heard(6), -1);
}

/* One that dies while it packs keeps none of the others from it. */
static void a_state_that_dies_is_no_longer_waited_for(void **state)
{
    (void)state;
    int packed[STATES] = {0};
    size_t count = 0;
    assert_int_equal(replay_states_create(&states, &loop, replay_memory_of(getpid()) * STATES / 2),
                     0);
    for (uint64_t i = 0; i < STATES; i++)
        add(10 * i, 0);
    for (int i = 0; i < ROUNDS && !replay_states_keep(states).hold; i++)
        ;
    close(ends[1]);
    ends[1] = open("/dev/null", O_RDONLY);
    uv_run(&loop, UV_RUN_NOWAIT);
    replay_states_keep(states);
    for (size_t got; (got = pack_asked(packed)) > 0;)
        count += got;
    assert_int_equal(count, STATES - 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_seek_begins_at_the_last_state_before_it_whoever_left_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_near_somebody_are_few_and_go_when_he_does, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(all_that_can_be_are_packed_before_any_is_given_up, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nobody_is_packed_while_there_is_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_is_told_to_pack_while_somebody_seeks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_packed_state_stays_open_until_another_one_is_asked,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_state_that_dies_is_no_longer_waited_for, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("replay_states", tests, NULL, NULL);
}
