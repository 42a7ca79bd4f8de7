#include "daemon/analysis/communities/assignment.h"

#include "holter/error.h"
#include "tests/daemon/analysis/communities/plain_assignment.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct assignment_params sizes = {4096, 4096, 65536};

static struct assignment *create(void)
{
    struct assignment *a;
    assert_int_equal(assignment_create(&a, &sizes), 0);
    return a;
}

/* All ways to give each row a column or none. */
static int64_t try_all(struct plain_assignment *p, uint32_t row, uint32_t taken)
{
    if (row == p->rows)
        return 0;
    int64_t best = try_all(p, row + 1, taken);
    for (uint32_t c = 0; c < p->columns; c++) {
        int64_t sum = *plain_assignment_at(p, row, c);
        if ((taken >> c & 1) != 0)
            continue;
        sum += try_all(p, row + 1, taken | 1u << c);
        best = sum > best ? sum : best;
    }
    return best;
}

static void load(struct assignment *a, struct plain_assignment *p, bool by_column)
{
    struct assignment_entry entries[4096];
    uint32_t rows = by_column ? p->columns : p->rows, columns = by_column ? p->rows : p->columns;
    assignment_clear(a);
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t count = 0;
        for (uint32_t c = 0; c < columns; c++) {
            int64_t weight = *plain_assignment_at(p, by_column ? c : r, by_column ? r : c);
            if (weight > 0)
                entries[count++] = (struct assignment_entry){(uint64_t)weight, c};
        }
        assert_int_equal(assignment_row(a, entries, count), 0);
    }
}

/* Solves, and checks that the result is an assignment with the returned sum. */
static uint64_t solve(struct assignment *a, struct plain_assignment *p, bool by_column)
{
    uint64_t matched, sum = 0;
    bool taken[4096] = {false};
    load(a, p, by_column);
    assert_int_equal(assignment_solve(a, 0, &matched), 0);
    for (uint32_t r = 0; r < (by_column ? p->columns : p->rows); r++) {
        uint32_t c = assignment_column(a, r);
        if (c == ASSIGNMENT_NONE)
            continue;
        assert_false(taken[c]);
        taken[c] = true;
        int64_t weight = *plain_assignment_at(p, by_column ? c : r, by_column ? r : c);
        assert_true(weight > 0);
        sum += (uint64_t)weight;
    }
    assert_true(sum == matched);
    return matched;
}

static void fill(struct plain_assignment *p, uint32_t empty, uint32_t most, uint64_t *random)
{
    for (uint32_t i = 0; i < p->rows * p->columns; i++) {
        bool none = random_next(random) % 100 < empty;
        p->weight[i] = none ? 0 : 1 + random_next(random) % most;
    }
}

static void the_sum_is_the_largest_of_all_permutations(void **state)
{
    struct assignment *a = create();
    uint64_t random = 7;
    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t columns = 1 + random_next(&random) % 6;
        struct plain_assignment p =
            plain_assignment_create(random_next(&random) % (columns + 1), columns);
        fill(&p, random_next(&random) % 90, round % 3 == 0 ? 2 : 1 + round % 50, &random);
        uint64_t expected = (uint64_t)try_all(&p, 0, 0);
        assert_true(solve(a, &p, false) == expected);
        assert_true(solve(a, &p, true) == expected);
        assert_true((uint64_t)plain_assignment_solve(&p) == expected);
        plain_assignment_finish(&p);
    }
    assignment_destroy(a);
}

static void large_tables_are_as_by_the_dense_method(void **state)
{
    struct assignment *a = create();
    uint64_t random = 11;
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t columns = 10 + random_next(&random) % 90;
        struct plain_assignment p =
            plain_assignment_create(1 + random_next(&random) % columns, columns);
        uint32_t most = round % 3 == 0 ? 1 : round % 3 == 1 ? 4 : 1000000;
        fill(&p, round % 2 == 0 ? 95 : random_next(&random) % 100, most, &random);
        uint64_t expected = (uint64_t)plain_assignment_solve(&p);
        assert_true(solve(a, &p, false) == expected);
        assert_true(solve(a, &p, true) == expected);
        plain_assignment_finish(&p);
    }
    assignment_destroy(a);
}

static void sums_that_are_too_small_are_reported(void **state)
{
    struct assignment *a = create();
    uint64_t random = 13, matched;
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        struct plain_assignment p = plain_assignment_create(20, 30);
        fill(&p, 80, 1 + round % 9, &random);
        uint64_t best = solve(a, &p, false);
        assert_int_equal(assignment_solve(a, best, &matched), 0);
        assert_true(matched == best);
        assert_int_equal(assignment_solve(a, best + 1, &matched), 1);
        assert_int_equal(assignment_solve(a, UINT64_MAX, &matched), 1);
        plain_assignment_finish(&p);
    }
    assignment_destroy(a);
}

/* Weights of which a double does not know the last bits. */
static void the_last_bit_decides(void **state)
{
    struct assignment *a = create();
    const uint64_t big = UINT64_C(1) << 59;
    const struct assignment_entry one[] = {{big, 0}, {big - 1, 1}};
    const struct assignment_entry other[] = {{big + 2, 0}, {big, 1}};
    uint64_t matched;
    (void)state;
    assert_int_equal(assignment_row(a, one, 2), 0);
    assert_int_equal(assignment_row(a, other, 2), 0);
    assert_int_equal(assignment_solve(a, 0, &matched), 0);
    assert_true(matched == 2 * big + 1);
    assert_int_equal(assignment_column(a, 0), 1);
    assert_int_equal(assignment_column(a, 1), 0);
    assert_int_equal(assignment_column(a, 2), ASSIGNMENT_NONE);
    assignment_destroy(a);
}

static void entries_of_one_column_add_up(void **state)
{
    struct assignment *a = create();
    const struct assignment_entry one[] = {{3, 9}, {4, 2}, {0, 4000}, {2, 9}};
    uint64_t matched;
    (void)state;
    assert_int_equal(assignment_row(a, NULL, 0), 0);
    assert_int_equal(assignment_row(a, one, 4), 0);
    assert_int_equal(assignment_solve(a, 0, &matched), 0);
    assert_int_equal(matched, 5);
    assert_int_equal(assignment_column(a, 0), ASSIGNMENT_NONE);
    assert_int_equal(assignment_column(a, 1), 9);
    assignment_clear(a);
    assert_int_equal(assignment_solve(a, 0, &matched), 0);
    assert_int_equal(matched, 0);
    assignment_destroy(a);
}

/* A ring in which row i has columns i and i + 1, told so that every row first goes for the column
 * of the one before. */
static void long_paths_are_found(void **state)
{
    struct assignment *a = create();
    const uint32_t count = 4096;
    uint64_t matched;
    (void)state;
    for (uint32_t shape = 0; shape < 3; shape++) {
        assignment_clear(a);
        for (uint32_t r = 0; r < count; r++) {
            uint64_t weight = shape == 0 ? 1 : shape == 1 ? count - r : r + 1;
            const struct assignment_entry row[] = {{weight, (r + 1) % count}, {weight, r}};
            assert_int_equal(assignment_row(a, row, 2), 0);
        }
        assert_int_equal(assignment_solve(a, 0, &matched), 0);
        assert_true(matched == (shape == 0 ? count : (uint64_t)count * (count + 1) / 2));
    }
    assignment_destroy(a);
}

static void what_is_beyond_a_bound_is_refused_until_cleared(void **state)
{
    struct assignment *a;
    const struct assignment_params small = {2, 3, 4};
    const struct assignment_params wrong[] = {{0, 1, 1},          {1, 0, 1},
                                              {1, 1, 0},          {UINT32_MAX, 1, 1},
                                              {1, UINT32_MAX, 1}, {1, 1, UINT32_MAX}};
    const struct assignment_entry three[] = {{1, 0}, {1, 1}, {1, 2}}, beyond = {1, 3};
    const struct assignment_entry hostile = {1, UINT32_MAX};
    const struct assignment_entry large[] = {{ASSIGNMENT_TOTAL, 0}, {1, 0}}, huge = {UINT64_MAX, 1};
    uint64_t matched;
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(assignment_create(&a, &wrong[i]), -HOLTER_ERANGE);
    assert_int_equal(assignment_create(&a, &small), 0);
    assert_int_equal(assignment_row(a, three, 3), 0);
    assert_int_equal(assignment_row(a, three, 3), -HOLTER_ELIMIT);
    assert_int_equal(assignment_row(a, three, 1), -HOLTER_ELIMIT);
    assert_int_equal(assignment_solve(a, 0, &matched), -HOLTER_ELIMIT);
    assignment_clear(a);
    assert_int_equal(assignment_row(a, &beyond, 1), -HOLTER_ERANGE);
    assignment_clear(a);
    assert_int_equal(assignment_row(a, &hostile, 1), -HOLTER_ERANGE);
    assignment_clear(a);
    assert_int_equal(assignment_row(a, large, 2), -HOLTER_ERANGE);
    assignment_clear(a);
    assert_int_equal(assignment_row(a, &huge, 1), -HOLTER_ERANGE);
    assignment_clear(a);
    assert_int_equal(assignment_row(a, large, 1), 0);
    assert_int_equal(assignment_row(a, NULL, 0), 0);
    assert_int_equal(assignment_solve(a, 0, &matched), 0);
    assert_true(matched == ASSIGNMENT_TOTAL);
    assert_int_equal(assignment_row(a, NULL, 0), -HOLTER_ELIMIT);
    assignment_destroy(a);
    assignment_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_the_largest_of_all_permutations),
        cmocka_unit_test(large_tables_are_as_by_the_dense_method),
        cmocka_unit_test(sums_that_are_too_small_are_reported),
        cmocka_unit_test(the_last_bit_decides),
        cmocka_unit_test(entries_of_one_column_add_up),
        cmocka_unit_test(long_paths_are_found),
        cmocka_unit_test(what_is_beyond_a_bound_is_refused_until_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
