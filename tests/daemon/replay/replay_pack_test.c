/* A packed heap: all is as it was when it is opened, in this process and in children; until then it
 * takes little memory. */
#include "daemon/replay/replay_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ROOM ((size_t)24 << 20) /* bytes, as malloc(3) would take them from the system */
#define HOLE ((size_t)1 << 20)  /* of these, in the middle: never touched */

static uint8_t *room;

static int is_hole(size_t at)
{
    return at >= ROOM / 2 && at < ROOM / 2 + HOLE;
}

/* Rows, zeros and noise, by pages. */
static uint8_t byte_at(size_t at, uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    switch (at / 4096 % 3) {
    case 0:
        return at % 16 == 0 ? (uint8_t)(at / 16) : (uint8_t)(at % 16 / 4);
    case 1:
        return 0;
    default:
        return (uint8_t)(*seed >> 56);
    }
}

static int set_up(void **state)
{
    (void)state;
    uint64_t seed = 7;
    if (room == NULL)
        room = sbrk((intptr_t)ROOM);
    for (size_t i = 0; i < ROOM; i++) {
        uint8_t byte = byte_at(i, &seed);
        if (!is_hole(i))
            room[i] = byte;
    }
    return 0;
}

static int is_whole(void)
{
    uint64_t seed = 7;
    for (size_t i = 0; i < ROOM; i++) {
        uint8_t byte = byte_at(i, &seed);
        if (!is_hole(i) && room[i] != byte)
            return 0;
    }
    return 1;
}

/* Pages of the room that take memory; see proc(5). Takes nothing from the heap. */
static size_t pages_there(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), there = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (size_t at = 0; at < ROOM; at += page) {
        uint64_t entry = 0;
        off_t place = (off_t)(((uintptr_t)room + at) / page * sizeof(entry));
        if (pread(fd, &entry, sizeof(entry), place) == sizeof(entry))
            there += entry >> 63;
    }
    close(fd);
    return there;
}

static void a_shut_heap_takes_no_memory_and_an_open_one_is_as_it_was(void **state)
{
    (void)state;
    struct replay_pack *pack;
    size_t all = pages_there(), shut[2], opened[2];
    int codes[2], whole;
    assert_true(all > 0);
    assert_int_equal(replay_pack_make(&pack, NULL, NULL), 0);
    /* Nothing but numbers until it is open: what the tests are told lies on the heap. */
    for (int i = 0; i < 2; i++) {
        shut[i] = pages_there();
        codes[i] = replay_pack_open(pack);
        opened[i] = pages_there();
        if (i == 0)
            replay_pack_shut(pack);
    }
    whole = is_whole();
    for (int i = 0; i < 2; i++) {
        assert_true(shut[i] <= 2); /* parts of pages, at the ends */
        assert_int_equal(codes[i], 0);
        assert_int_equal(opened[i], all); /* without the hole */
    }
    assert_true(whole);
    assert_true(replay_pack_bytes(pack) >= ROOM - HOLE - 8192);
    assert_true(replay_pack_packed(pack) < replay_pack_bytes(pack));
    replay_pack_free(pack);
    assert_true(is_whole());
}

static int after_three(void *user)
{
    return ++*(int *)user < 3;
}

static void packing_that_is_broken_off_changes_nothing(void **state)
{
    (void)state;
    struct replay_pack *pack = NULL;
    size_t all = pages_there();
    int asked = 0;
    assert_int_equal(replay_pack_make(&pack, after_three, &asked), -ECANCELED);
    assert_int_equal(asked, 3);
    assert_null(pack);
    assert_int_equal(pages_there(), all);
    assert_true(is_whole());
}

/* As states and their workers do. */
static void a_child_goes_on_with_what_was_packed(void **state)
{
    (void)state;
    int status = -1;
    pid_t sleeper = fork();
    if (sleeper == 0) {
        struct replay_pack *pack;
        if (replay_pack_make(&pack, NULL, NULL) != 0 || replay_pack_open(pack) != 0)
            _exit(2);
        pid_t worker = fork();
        if (worker == 0) {
            replay_pack_free(pack);
            char *more = malloc(100000);
            int good = more != NULL && is_whole();
            free(more);
            _exit(good ? 0 : 3);
        }
        replay_pack_shut(pack);
        _exit(waitpid(worker, &status, 0) == worker && WIFEXITED(status) ? WEXITSTATUS(status) : 4);
    }
    assert_int_equal(waitpid(sleeper, &status, 0), sleeper);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(is_whole());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_shut_heap_takes_no_memory_and_an_open_one_is_as_it_was, set_up),
        cmocka_unit_test_setup(packing_that_is_broken_off_changes_nothing, set_up),
        cmocka_unit_test_setup(a_child_goes_on_with_what_was_packed, set_up),
    };
    return cmocka_run_group_tests_name("replay_pack", tests, NULL, NULL);
}
