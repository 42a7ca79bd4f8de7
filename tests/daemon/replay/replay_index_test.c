/* The index of a replay, and the states that it leaves behind: what workers tell that begin at one,
 * packed or not, is what an uninterrupted replay tells. */
#include "daemon/replay/replay_index.h"
#include "tests/daemon/replay/feeder_frames.h"
#include "tests/daemon/replay/replay_film.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WINDOWS 24u
#define MOST_STATES 64u
#define BEHIND 2u /* steps from a state to the target of a worker */

static char directory[DIRECTORY_ROOM], path[160];
static struct options options;
static struct network network;

/* What a worker told from its target on. */
struct told {
    uint64_t steps, frames, hash;
};

struct state {
    struct replay_note note;
    int link;
};

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/film.hrec", directory);
    film_make(path, WINDOWS, 0);
    options = (struct options){
        .replay = path, .window_ns = FILM_WINDOW_NS, .grace_ns = options_grace(FILM_WINDOW_NS)};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return directory_remove(directory);
}

/* Of all frames, in their order. */
static uint64_t hash_of(const struct reel_frames *frames)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < frames->count; i++)
        hash = (hash ^ frames->list[i].hash) * UINT64_C(0x100000001b3);
    return hash;
}

/* Go to a target, and from there to the end. Also in processes of their own, where nothing can be
 * asserted. */
static struct told tell(struct replay_reel *reel, const struct replay_target *target)
{
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    struct told told = {0};
    struct reel_frames *frames = malloc(sizeof(*frames));
    if (frames == NULL || !replay_reel_run(reel, target, NULL, NULL))
        return told;
    reel_frames_listen(frames, reel);
    replay_reel_run(reel, &end, NULL, NULL);
    told = (struct told){replay_reel_place(reel).steps, frames->count, hash_of(frames)};
    replay_reel_destroy(reel, 0);
    free(frames);
    return told;
}

static struct told straight(const struct replay_target *target)
{
    const struct replay_reel_options given = {.options = &options, .network = &network};
    struct replay_reel *reel;
    char why[512];
    if (replay_reel_create(&reel, &given, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return tell(reel, target);
}

static void work(void *user, struct replay_reel *reel, const struct replay_note *note,
                 const int fds[REPLAY_LINK_FDS])
{
    (void)user;
    struct told told = tell(reel, &note->target);
    if (write(fds[0], &told, sizeof(told)) != sizeof(told))
        _exit(1);
}

/* ---- as the server ------------------------------------------------------------------------ */

/* @return the link of an index that leaves a state behind each window */
static int start_index(struct replay_shared *shared)
{
    int pair[2];
    assert_int_equal(replay_link_pair(pair), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(pair[0]);
        const struct replay_index index = {.reel = {.options = &options, .network = &network},
                                           .shared = shared,
                                           .link = pair[1],
                                           .spacing_ns = 1,
                                           .work = work};
        replay_index_run(&index);
    }
    close(pair[1]);
    return pair[0];
}

static int receive(int link, struct replay_note *note)
{
    int fds[REPLAY_LINK_FDS] = {-1};
    size_t count = 0;
    assert_int_equal(replay_link_receive(link, note, fds, &count), 1);
    return count > 0 ? fds[0] : -1;
}

static size_t all_states(int index, struct state *out)
{
    size_t count = 0;
    for (struct replay_note note = {0}; note.kind != REPLAY_DONE;) {
        int fd = receive(index, &note);
        if (note.kind != REPLAY_STATE)
            continue;
        assert_true(fd >= 0 && count < MOST_STATES && !note.near);
        out[count++] = (struct state){note, fd};
    }
    return count;
}

static void pack(const struct state *state)
{
    struct replay_note note = {.kind = REPLAY_PACK};
    assert_int_equal(replay_link_send(state->link, &note, NULL, 0), 0);
    receive(state->link, &note);
    assert_int_equal(note.kind, REPLAY_PACKED);
}

static struct told worker(const struct state *state, const struct replay_target *target)
{
    const struct replay_note note = {.kind = REPLAY_FORK, .target = *target};
    struct told told = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const int fds[REPLAY_LINK_FDS] = {ends[1], ends[1], ends[1]};
    assert_int_equal(replay_link_send(state->link, &note, fds, REPLAY_LINK_FDS), 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], &told, sizeof(told)), sizeof(told));
    close(ends[0]);
    return told;
}

static void workers_of_states_tell_what_a_straight_replay_tells(void **state)
{
    (void)state;
    struct state states[MOST_STATES];
    struct replay_shared *shared = replay_shared_map();
    assert_non_null(shared);
    int index = start_index(shared);
    size_t count = all_states(index, states);
    assert_true(count > WINDOWS / 2); /* the begin, most windows, the end */
    for (size_t i = 0; i < count; i += 5) {
        const struct replay_target target = {REPLAY_TO_STEP, states[i].note.place.steps + BEHIND};
        struct told same = straight(&target), got;
        if (i % 2 == 0)
            pack(&states[i]);
        for (int again = 0; again < 2; again++) { /* it sleeps on, packed as before */
            got = worker(&states[i], &target);
            assert_int_equal(got.steps, same.steps);
            assert_int_equal(got.frames, same.frames);
            assert_true(got.hash == same.hash);
        }
        assert_true(i + 5 >= count || same.frames > 0);
    }
    for (size_t i = 0; i < count; i++)
        close(states[i].link);
    close(index);
    munmap(shared, sizeof(*shared));
    while (wait(NULL) > 0)
        ;
}

/* What was sent meanwhile is taken in order, and the rest goes on when it is let go. */
static void an_index_that_is_held_waits(void **state)
{
    (void)state;
    struct state states[MOST_STATES];
    struct replay_note hold = {.kind = REPLAY_HOLD, .paused = 1};
    struct replay_shared *shared = replay_shared_map();
    assert_non_null(shared);
    int index = start_index(shared);
    assert_int_equal(replay_link_send(index, &hold, NULL, 0), 0);
    hold.paused = 0;
    assert_int_equal(replay_link_send(index, &hold, NULL, 0), 0);
    size_t count = all_states(index, states);
    assert_true(count > WINDOWS / 2);
    assert_int_equal(atomic_load(&shared->indexed), 1);
    for (size_t i = 0; i < count; i++)
        close(states[i].link);
    close(index);
    hold.paused = 1; /* one that is held ends with the server */
    index = start_index(shared);
    assert_int_equal(replay_link_send(index, &hold, NULL, 0), 0);
    close(index);
    munmap(shared, sizeof(*shared));
    while (wait(NULL) > 0)
        ;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(workers_of_states_tell_what_a_straight_replay_tells, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_index_that_is_held_waits, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("replay_index", tests, NULL, NULL);
}
