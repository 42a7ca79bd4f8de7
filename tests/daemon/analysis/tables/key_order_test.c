#include "daemon/analysis/tables/key_order.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t draw(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random ^ *random >> 29;
}

static int by_key_and_place(const void *a, const void *b)
{
    const struct key_place *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void check_places(struct key_place *places, size_t count)
{
    struct key_place *spare = calloc(count + 1, sizeof(*spare));
    struct key_place *expected = calloc(count + 1, sizeof(*expected));
    memcpy(expected, places, count * sizeof(*places));
    qsort(expected, count, sizeof(*expected), by_key_and_place);
    const struct key_place *sorted = key_order(places, spare, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sorted[i].key, expected[i].key);
        assert_int_equal(sorted[i].place, expected[i].place);
    }
    free(spare);
    free(expected);
}

/* Keys of a kind, so many: random ones, few different ones, such that differ in few bits. */
static void check(size_t count, uint64_t mask, uint64_t add)
{
    struct key_place *places = calloc(count + 1, sizeof(*places));
    uint64_t random = count;
    for (size_t i = 0; i < count; i++)
        places[i] = (struct key_place){(draw(&random) & mask) + add, (uint32_t)i};
    check_places(places, count);
    free(places);
}

static void keys_of_any_kind_are_sorted_and_equal_ones_keep_their_order(void **state)
{
    static const size_t counts[] = {0, 1, 2, 24, 25, 1000, 20000};
    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        check(counts[i], UINT64_MAX, 0);
        check(counts[i], 7, 0);
        check(counts[i], 0, UINT64_MAX);
        check(counts[i], UINT64_C(0xff00000000000000), 3);
        check(counts[i], UINT64_C(0x00ff0000ff000000), 0);
    }
}

/* Runs in order that begin at random places and overlap by so much: as peers send their rows. */
static void check_runs(size_t runs, size_t each, uint64_t apart)
{
    struct key_place *places = calloc(runs * each, sizeof(*places));
    uint64_t random = runs;
    for (size_t r = 0; r < runs; r++) {
        uint64_t key = draw(&random) % runs * apart;
        for (size_t i = 0; i < each; i++, key += draw(&random) % 3)
            places[r * each + i] = (struct key_place){key, (uint32_t)(r * each + i)};
    }
    check_places(places, runs * each);
    free(places);
}

static void runs_in_order_are_put_together_whether_they_overlap_or_not(void **state)
{
    (void)state;
    for (size_t runs = 1; runs <= 70; runs++) {
        check_runs(runs, 50, 100000); /* several may begin at the same key */
        check_runs(runs, 50, 60);
        check_runs(runs, 50, 0);
    }
}

struct row {
    uint64_t key, number, more;
};

static uint64_t key_of_row(const void *row)
{
    return ((const struct row *)row)->key;
}

static void rows_are_sorted_by_their_keys_and_those_of_one_key_keep_their_order(void **state)
{
    enum { ROWS = 3000 };
    static struct row rows[ROWS];
    uint64_t random = 7;
    (void)state;
    for (uint64_t i = 0; i < ROWS; i++)
        rows[i] = (struct row){draw(&random) >> 35 << 20 & UINT64_C(0xff0000ff0000), i, i * 3};
    assert_int_equal(key_order_rows(NULL, sizeof(*rows), 0, key_of_row), 0);
    assert_int_equal(key_order_rows(rows, sizeof(*rows), ROWS, key_of_row), 0);
    for (uint64_t i = 1; i < ROWS; i++)
        assert_true(rows[i].more == rows[i].number * 3 &&
                    (rows[i - 1].key < rows[i].key ||
                     (rows[i - 1].key == rows[i].key && rows[i - 1].number < rows[i].number)));
}

static void the_largest_figure_has_the_first_key_whatever_its_sign(void **state)
{
    static const double falling[] = {INFINITY, 3e300,   2,  1.5, 1e-310,
                                     0,        -1e-310, -1, -2,  -INFINITY};
    (void)state;
    for (size_t i = 1; i < sizeof(falling) / sizeof(falling[0]); i++)
        assert_true(key_of_largest(falling[i - 1]) < key_of_largest(falling[i]));
    assert_true(key_of_largest(-0.0) == key_of_largest(0.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_any_kind_are_sorted_and_equal_ones_keep_their_order),
        cmocka_unit_test(runs_in_order_are_put_together_whether_they_overlap_or_not),
        cmocka_unit_test(rows_are_sorted_by_their_keys_and_those_of_one_key_keep_their_order),
        cmocka_unit_test(the_largest_figure_has_the_first_key_whatever_its_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
