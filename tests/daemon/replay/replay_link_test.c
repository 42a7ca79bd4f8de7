/* Notes between the processes of a replay: what is received, and how a closed link is reported. */
#include "daemon/replay/replay_link.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct replay_note ready = {.kind = REPLAY_NOTE_READY};

static void open_pair(int pair[2])
{
    assert_int_equal(replay_link_pair(pair), 0);
}

static void notes_come_whole_with_what_goes_along(void **state)
{
    (void)state;
    const struct replay_note sent = {.kind = REPLAY_NOTE_CHECKPOINT,
                                     .place = {.time_ns = 7, .steps = 3}};
    struct replay_note came;
    int pair[2], fds[REPLAY_LINK_FDS];
    struct stat one, other;
    size_t count;
    open_pair(pair);
    assert_int_equal(replay_link_send(pair[0], &sent, pair, 2), 0);
    assert_int_equal(replay_link_send(pair[0], &ready, NULL, 0), 0);
    assert_int_equal(replay_link_receive(pair[1], &came, fds, &count), 1);
    assert_int_equal(came.kind, REPLAY_NOTE_CHECKPOINT);
    assert_true(came.place.time_ns == 7 && came.place.steps == 3);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(fstat(pair[i], &one), 0);
        assert_int_equal(fstat(fds[i], &other), 0);
        assert_true(one.st_ino == other.st_ino);
        close(fds[i]);
    }
    assert_int_equal(replay_link_receive(pair[1], &came, fds, &count), 1);
    assert_int_equal(came.kind, REPLAY_NOTE_READY);
    assert_int_equal(count, 0);
    close(pair[0]);
    close(pair[1]);
}

static void more_than_may_go_along_is_refused(void **state)
{
    (void)state;
    int pair[2];
    open_pair(pair);
    const int many[REPLAY_LINK_FDS + 1] = {pair[0], pair[0], pair[0], pair[0]};
    assert_int_equal(replay_link_send(pair[0], &ready, many, REPLAY_LINK_FDS + 1), -EINVAL);
    close(pair[0]);
    close(pair[1]);
}

static void what_is_no_note_is_an_error(void **state)
{
    (void)state;
    struct replay_note came;
    int pair[2], fds[REPLAY_LINK_FDS];
    size_t count;
    open_pair(pair);
    assert_int_equal(write(pair[0], "note", 4), 4);
    assert_int_equal(replay_link_receive(pair[1], &came, fds, &count), -EPROTO);
    close(pair[0]);
    close(pair[1]);
}

static void a_link_that_does_not_block_says_that_there_is_nothing(void **state)
{
    (void)state;
    struct replay_note came;
    int pair[2], fds[REPLAY_LINK_FDS];
    size_t count;
    open_pair(pair);
    assert_int_equal(fcntl(pair[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(replay_link_receive(pair[1], &came, fds, &count), -EAGAIN);
    assert_false(replay_link_closed(pair[1]));
    close(pair[0]);
    close(pair[1]);
}

/* The system reports the two cases differently; for a replay neither is a failure. */
static void a_closed_link_is_reported_alike_whether_or_not_all_was_read(void **state)
{
    (void)state;
    struct replay_note came;
    int fds[REPLAY_LINK_FDS];
    size_t count;
    for (int unread = 0; unread < 3; unread++) {
        for (int sends = 0; sends < 2; sends++) {
            int pair[2];
            open_pair(pair);
            for (int i = 0; i < unread; i++)
                assert_int_equal(replay_link_send(pair[0], &ready, NULL, 0), 0);
            close(pair[1]);
            assert_true(replay_link_closed(pair[0]));
            if (sends)
                assert_int_equal(replay_link_send(pair[0], &ready, NULL, 0), -EPIPE);
            assert_int_equal(replay_link_receive(pair[0], &came, fds, &count), 0);
            assert_int_equal(count, 0);
            close(pair[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_come_whole_with_what_goes_along),
        cmocka_unit_test(more_than_may_go_along_is_refused),
        cmocka_unit_test(what_is_no_note_is_an_error),
        cmocka_unit_test(a_link_that_does_not_block_says_that_there_is_nothing),
        cmocka_unit_test(a_closed_link_is_reported_alike_whether_or_not_all_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
