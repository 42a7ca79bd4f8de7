/* The index of a replay and its checkpoints: what workers publish that begin at a checkpoint is
 * what an uninterrupted replay publishes. */
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
#define CHECKPOINTS_MAXIMUM 64u
#define STEPS_TO_TARGET 2u /* from a checkpoint */

static char directory[DIRECTORY_ROOM], path[160];
static struct replay_options options;
static struct network network;

/* What a worker published from its target on. */
struct published {
    uint64_t steps, frames, hash;
};

struct checkpoint {
    struct replay_note note;
    int link;
};

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/film.hrec", directory);
    film_make(path, WINDOWS, 0);
    options = (struct replay_options){.file = path,
                                      .server.window_ns = FILM_WINDOW_NS,
                                      .grace_ns = server_default_grace(FILM_WINDOW_NS)};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return directory_remove(directory);
}

/* @return a hash of all frames, in their order */
static uint64_t hash_of(const struct feeder_frames *frames)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < frames->count; i++)
        hash = (hash ^ frames->list[i].hash) * UINT64_C(0x100000001b3);
    return hash;
}

/* Go to a target, and from there to the end. Also in processes of their own, where nothing can be
 * asserted. */
static struct published publish_from(struct replay_feeder *feeder,
                                     const struct replay_target *target)
{
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    struct published published = {0};
    struct feeder_frames *frames = malloc(sizeof(*frames));
    if (frames == NULL || !replay_feeder_run(feeder, target, NULL, NULL))
        return published;
    feeder_frames_listen(frames, feeder);
    replay_feeder_run(feeder, &end, NULL, NULL);
    published =
        (struct published){replay_feeder_place(feeder).steps, frames->count, hash_of(frames)};
    replay_feeder_destroy(feeder, 0);
    free(frames);
    return published;
}

static struct published publish_straight(const struct replay_target *target)
{
    const struct replay_feeder_options given = {.options = &options, .network = &network};
    struct replay_feeder *feeder;
    char why[512];
    if (replay_feeder_create(&feeder, &given, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return publish_from(feeder, target);
}

static void work(void *user, struct replay_feeder *feeder, const struct replay_note *note,
                 const int fds[REPLAY_LINK_FDS])
{
    (void)user;
    struct published published = publish_from(feeder, &note->target);
    if (write(fds[0], &published, sizeof(published)) != sizeof(published))
        _exit(1);
}

/* ---- as the server ------------------------------------------------------------------------ */

/* Start an index that leaves a checkpoint after each window, unless it finds notes to leave fewer.
 * @return the link to it */
static int start_index(struct replay_shared *shared, int sparser)
{
    const struct replay_note note = {.kind = REPLAY_NOTE_SPARSER};
    int pair[2];
    assert_int_equal(replay_link_pair(pair), 0);
    for (int i = 0; i < sparser; i++)
        assert_int_equal(replay_link_send(pair[0], &note, NULL, 0), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(pair[0]);
        const struct replay_index index = {.feeder = {.options = &options, .network = &network},
                                           .shared = shared,
                                           .link = pair[1],
                                           .spacing_ns = 1,
                                           .work = work};
        replay_index_run(&index);
    }
    close(pair[1]);
    return pair[0];
}

/* Receive checkpoints until the index ends. */
static size_t receive_all(int index, struct checkpoint *out)
{
    size_t count = 0;
    struct replay_note note;
    int fds[REPLAY_LINK_FDS];
    size_t attached;
    while (replay_link_receive(index, &note, fds, &attached) == 1) {
        assert_int_equal(note.kind, REPLAY_NOTE_CHECKPOINT);
        assert_true(attached == 1 && count < CHECKPOINTS_MAXIMUM);
        out[count++] = (struct checkpoint){note, fds[0]};
    }
    return count;
}

static struct published fork_worker(const struct checkpoint *checkpoint,
                                    const struct replay_target *target)
{
    const struct replay_note note = {.kind = REPLAY_NOTE_FORK, .target = *target};
    struct published published = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const int fds[REPLAY_LINK_FDS] = {ends[1], ends[1], ends[1]};
    assert_int_equal(replay_link_send(checkpoint->link, &note, fds, REPLAY_LINK_FDS), 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], &published, sizeof(published)), sizeof(published));
    close(ends[0]);
    return published;
}

static void workers_of_checkpoints_publish_what_an_uninterrupted_replay_publishes(void **state)
{
    (void)state;
    struct checkpoint checkpoints[CHECKPOINTS_MAXIMUM];
    struct replay_shared *shared = replay_shared_map();
    assert_non_null(shared);
    int index = start_index(shared, 0);
    size_t count = receive_all(index, checkpoints);
    assert_true(count > WINDOWS / 2); /* the begin, most windows, the end */
    assert_int_equal(atomic_load(&shared->indexed), 1);
    for (size_t i = 0; i < count; i += 5) {
        const struct replay_target target = {REPLAY_TO_STEP,
                                             checkpoints[i].note.place.steps + STEPS_TO_TARGET};
        struct published expected = publish_straight(&target), got;
        for (int attempt = 0; attempt < 2; attempt++) { /* a checkpoint forks more than one */
            got = fork_worker(&checkpoints[i], &target);
            assert_int_equal(got.steps, expected.steps);
            assert_int_equal(got.frames, expected.frames);
            assert_true(got.hash == expected.hash);
        }
        assert_true(i + 5 >= count || expected.frames > 0);
    }
    for (size_t i = 0; i < count; i++)
        close(checkpoints[i].link);
    close(index);
    munmap(shared, sizeof(*shared));
    while (wait(NULL) > 0)
        ;
}

static void an_index_that_is_to_leave_fewer_checkpoints_does(void **state)
{
    (void)state;
    struct checkpoint checkpoints[CHECKPOINTS_MAXIMUM];
    struct replay_shared *shared = replay_shared_map();
    assert_non_null(shared);
    /* From a nanosecond to more than feeding the recording takes. */
    int index = start_index(shared, 40);
    size_t count = receive_all(index, checkpoints);
    assert_true(count >= 2 && count < WINDOWS / 2);
    assert_int_equal(atomic_load(&shared->indexed), 1);
    for (size_t i = 0; i < count; i++)
        close(checkpoints[i].link);
    close(index);
    munmap(shared, sizeof(*shared));
    while (wait(NULL) > 0)
        ;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            workers_of_checkpoints_publish_what_an_uninterrupted_replay_publishes, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(an_index_that_is_to_leave_fewer_checkpoints_does, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("replay_index", tests, NULL, NULL);
}
