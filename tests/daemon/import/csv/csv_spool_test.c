#include "daemon/import/csv/csv_spool.h"

#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define RANKS 7u
#define ENDS 50000u

static uint64_t next(uint64_t *random)
{
    *random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
    return *random;
}

static struct csv_end some_end(uint64_t *random)
{
    return (struct csv_end){.at = next(random) % 300,
                            .leave = next(random) % 3,
                            .bytes = next(random) % 2,
                            .rank = (uint32_t)(next(random) % (RANKS - 1)), /* the last has none */
                            .peer = (int32_t)(next(random) % 3),
                            .communicator = (uint16_t)(next(random) % 2),
                            .kind = (uint16_t)(next(random) % 3)};
}

/* As the header has it, field by field. */
static int in_order(const void *left, const void *right)
{
    const struct csv_end *a = left, *b = right;
    const int64_t one[] = {a->rank,           (int64_t)a->at, a->kind,        (int64_t)a->leave,
                           (int64_t)a->bytes, a->peer,        a->communicator};
    const int64_t other[] = {b->rank,           (int64_t)b->at, b->kind,        (int64_t)b->leave,
                             (int64_t)b->bytes, b->peer,        b->communicator};
    for (int i = 0; i < 7; i++)
        if (one[i] != other[i])
            return one[i] < other[i] ? -1 : 1;
    return 0;
}

static uint32_t count_of(const struct csv_spool *spool, uint32_t rank)
{
    static struct csv_end all[ENDS];
    return csv_spool_read(spool, rank, 0, all, ENDS);
}

static void check(uint32_t count)
{
    static struct csv_end ends[ENDS], got[ENDS];
    static const uint16_t communicators[] = {7, 3}, regions[] = {0};
    char directory[DIRECTORY_ROOM];
    struct csv_spool *spool;
    uint64_t random = 99, total = 0;
    uint32_t at = 0;
    assert_int_equal(directory_make(directory), 0);
    assert_int_equal(csv_spool_create(&spool, directory), 0);
    for (uint32_t i = 0; i < count; i++) {
        ends[i] = some_end(&random);
        assert_int_equal(csv_spool_add(spool, &ends[i]), 0);
        ends[i].communicator = communicators[ends[i].communicator];
    }
    assert_int_equal(csv_spool_sort(spool, RANKS, communicators, regions), 0);
    qsort(ends, count, sizeof(ends[0]), in_order);
    for (uint32_t r = 0; r < RANKS; r++) {
        total += count_of(spool, r);
        for (uint32_t given; (given = csv_spool_read(spool, r, at, got, 37)) > 0; at += given)
            for (uint32_t i = 0; i < given; i++)
                assert_memory_equal(&got[i].at, &ends[total - count_of(spool, r) + at + i].at, 40);
        assert_int_equal(at, count_of(spool, r));
        at = 0;
    }
    assert_int_equal(total, count);
    assert_int_equal(csv_spool_read(spool, RANKS, 0, got, 37), 0);
    csv_spool_destroy(spool);
    assert_int_equal(directory_remove(directory), 0); /* nothing was left behind */
}

static void ends_are_sorted_however_many_there_are(void **state)
{
    (void)state;
    check(0);
    check(1);
    check(5000);
    check(ENDS); /* the file has grown a few times */
}

static void a_folder_without_room_for_a_file_is_refused(void **state)
{
    struct csv_spool *spool;
    (void)state;
    assert_int_equal(csv_spool_create(&spool, "/no/such/folder"), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_sorted_however_many_there_are),
        cmocka_unit_test(a_folder_without_room_for_a_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
