#include "daemon/import/csv/csv_spool.h"

#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define RANKS 7u
#define ENDS 5000u

static int by_number(const void *user, unsigned first, unsigned second)
{
    (void)user;
    return first < second ? -1 : first > second;
}

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

/* Of `run` ends in memory, against a sort of all. */
static void check(size_t run, uint32_t count)
{
    static struct csv_end ends[ENDS], got[ENDS];
    char directory[DIRECTORY_ROOM];
    struct csv_spool *spool;
    uint64_t random = 99, total = 0;
    uint32_t at = 0;
    assert_int_equal(directory_make(directory), 0);
    struct csv_spool_options options = {directory, run, by_number, by_number, NULL};
    assert_int_equal(csv_spool_create(&spool, &options), 0);
    for (uint32_t i = 0; i < count; i++) {
        ends[i] = some_end(&random);
        assert_int_equal(csv_spool_add(spool, &ends[i]), 0);
    }
    assert_int_equal(csv_spool_sort(spool, RANKS), 0);
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

static void what_fits_into_memory_is_sorted(void **state)
{
    (void)state;
    check(0, ENDS);
    check(ENDS, ENDS);
    check(8, 0);
}

static void what_does_not_is_sorted_in_files(void **state)
{
    (void)state;
    check(1000, ENDS);
    check(999, ENDS);
    check(3000, ENDS);
    check(7, ENDS);
}

static void no_more_than_so_many_runs_are_taken(void **state)
{
    char directory[DIRECTORY_ROOM];
    struct csv_spool *spool;
    struct csv_end end = {.rank = 1};
    uint32_t taken = 0;
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    struct csv_spool_options options = {directory, 2, by_number, by_number, NULL};
    assert_int_equal(csv_spool_create(&spool, &options), 0);
    while (csv_spool_add(spool, &end) == 0)
        taken++;
    assert_int_equal(taken, 2 * CSV_SPOOL_RUNS);
    assert_int_equal(csv_spool_sort(spool, 2), 0);
    assert_int_equal(count_of(spool, 1), taken);
    csv_spool_destroy(spool);
    assert_int_equal(directory_remove(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_into_memory_is_sorted),
        cmocka_unit_test(what_does_not_is_sorted_in_files),
        cmocka_unit_test(no_more_than_so_many_runs_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
