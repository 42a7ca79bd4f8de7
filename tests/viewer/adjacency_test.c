/* Rows and cells of the adjacency matrix, without a network. */
#include "viewer/layout/adjacency.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Blocks of regular sizes, the outermost first. @return rows */
static uint32_t regular(const uint32_t *sizes, int levels, uint8_t *starts)
{
    uint32_t rows = 1;
    for (int l = 0; l < levels; l++)
        rows *= sizes[l];
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t below = 1;
        int level = levels - 1;
        for (int l = levels - 1; l > 0 && r % (below * sizes[l]) == 0; l--) {
            below *= sizes[l];
            level = l - 1;
        }
        starts[r] = (uint8_t)level;
    }
    return rows;
}

static const uint32_t mira[] = {4, 4, 4, 16, 2};

static void rows_share_the_side_equally(void **state)
{
    (void)state;
    uint8_t starts[64];
    struct adjacency_axis a = {0};
    uint32_t rows = regular((const uint32_t[]){4, 4, 4}, 3, starts);
    assert_int_equal(adjacency_fold(&a, starts, rows, -1, NULL), 0);
    assert_int_equal(a.open, 64);
    for (uint32_t r = 0; r <= rows; r++)
        assert_true(fabs(a.at[r] - r / 64.0) < 1e-12);
    for (uint32_t r = 0; r < rows; r++)
        assert_int_equal(adjacency_row(&a, (r + 0.5) / 64), r);
    assert_int_equal(adjacency_row(&a, -1), 0);
    assert_int_equal(adjacency_row(&a, 2), 63);
    adjacency_axis_finish(&a);
}

static void blocks_without_a_route_are_folded_to_bands(void **state)
{
    (void)state;
    uint8_t starts[64], used[64] = {0};
    struct adjacency_axis a = {0};
    uint32_t rows = regular((const uint32_t[]){4, 4, 4}, 3, starts);
    used[5] = used[6] = used[60] = 1; /* blocks 1 and 15 of the second level */
    assert_int_equal(adjacency_fold(&a, starts, rows, 1, used), 0);
    assert_int_equal(a.open, 8);
    assert_int_equal(a.blocks, 14);
    assert_int_equal(a.bands, 2); /* block 0, and 2 to 14 side by side */
    assert_true(a.folded[3] && !a.folded[4] && !a.folded[7] && a.folded[8] && !a.folded[60]);
    assert_true(a.at[4] < 0.01);
    double each = a.at[5] - a.at[4];
    assert_true(fabs(each * 8 - a.open_share) < 1e-9 && each > 0.12);
    assert_true(fabs(a.at[64] - 1) < 1e-9);
    for (uint32_t r = 0; r < rows; r++)
        assert_true(a.at[r] < a.at[r + 1]);
    used[5] = used[6] = used[60] = 0; /* no route at all: nothing to look at */
    assert_int_equal(adjacency_fold(&a, starts, rows, 1, used), 0);
    assert_int_equal(a.open, 64);
    adjacency_axis_finish(&a);
}

static void bands_never_take_more_than_a_quarter(void **state)
{
    (void)state;
    uint8_t *starts = malloc(4096), *used = calloc(4096, 1);
    struct adjacency_axis a = {0};
    uint32_t rows = regular((const uint32_t[]){1024, 4}, 2, starts);
    for (uint32_t r = 0; r < rows; r += 8)
        used[r] = 1;
    assert_int_equal(adjacency_fold(&a, starts, rows, 0, used), 0);
    assert_int_equal(a.bands, 512);
    assert_true(a.open_share >= 0.749);
    adjacency_axis_finish(&a);
    free(starts);
    free(used);
}

static void the_lowest_dimensions_are_aggregated_first(void **state)
{
    (void)state;
    uint8_t starts[2048];
    struct adjacency_axis a = {0};
    struct adjacency_cells c = {0};
    uint32_t rows = regular(mira, 5, starts);
    assert_int_equal(rows, 2048);
    adjacency_fold(&a, starts, rows, -1, NULL);
    adjacency_reduce(&c, &a, starts, 5, 1.0 / 2048);
    assert_true(c.count == 2048 && c.most == 1 && c.level == 4);
    adjacency_reduce(&c, &a, starts, 5, 1.0 / 1500);
    assert_true(c.count == 1024 && c.most == 2 && c.level == 3);
    /* Visuco, Fig. 8: D and E of 16 and 2 are aggregated, 32 to a cell */
    adjacency_reduce(&c, &a, starts, 5, 1.0 / 800);
    assert_true(c.count == 64 && c.most == 32 && c.level == 2 && c.group == 1);
    for (uint32_t r = 0; r < rows; r++)
        assert_int_equal(c.cell[r], r / 32);
    adjacency_cells_finish(&c);
    adjacency_axis_finish(&a);
}

static void blocks_are_split_where_whole_ones_leave_few_cells(void **state)
{
    (void)state;
    uint8_t starts[4096];
    struct adjacency_axis a = {0};
    struct adjacency_cells c = {0};
    uint32_t rows = regular((const uint32_t[]){2, 2048}, 2, starts);
    adjacency_fold(&a, starts, rows, -1, NULL);
    adjacency_reduce(&c, &a, starts, 2, 1.0 / 700);
    assert_true(c.count == 512 && c.most == 8 && c.group == 8);
    rows = regular((const uint32_t[]){4096}, 1, starts);
    adjacency_fold(&a, starts, rows, -1, NULL);
    adjacency_reduce(&c, &a, starts, 1, 1.0 / 700);
    assert_true(c.count == 512 && c.most == 8);
    adjacency_reduce(&c, &a, starts, 1, 10);
    assert_int_equal(c.count, 1);
    adjacency_cells_finish(&c);
    adjacency_axis_finish(&a);
}

static void folding_frees_capacity_for_single_rows(void **state)
{
    (void)state;
    uint8_t starts[2048], used[2048] = {0};
    struct adjacency_axis a = {0};
    struct adjacency_cells c = {0};
    uint32_t rows = regular(mira, 5, starts);
    used[40] = used[1700] = 1;
    adjacency_fold(&a, starts, rows, 2, used);
    adjacency_reduce(&c, &a, starts, 5, 1.0 / 700);
    assert_int_equal(c.most, 1);
    assert_int_equal(a.open, 64);
    assert_int_equal(c.count, 64 + 3);
    for (uint32_t i = 0; i < c.count; i++)
        assert_true(c.first[i] < c.first[i + 1]);
    assert_int_equal(c.cell[0], c.cell[31]);
    assert_int_not_equal(c.cell[32], c.cell[33]);
    adjacency_cells_finish(&c);
    adjacency_axis_finish(&a);
}

/* Whatever the blocks, every row is in one cell, rows of a cell lie side by side, and none mixes
 * folded rows with others. */
static void random_orders_keep_their_rows(void **state)
{
    (void)state;
    uint64_t seed = 7;
    struct adjacency_axis a = {0};
    struct adjacency_cells c = {0};
    uint8_t starts[300], used[300];
    for (int round = 0; round < 300; round++) {
        uint32_t rows = 1 + (uint32_t)(round % 299), levels = 1 + (uint32_t)round % 5;
        for (uint32_t r = 0; r < rows; r++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            starts[r] = (uint8_t)(r ? (seed >> 33) % levels : 0);
            used[r] = (seed >> 40) % 9 == 0;
        }
        assert_int_equal(adjacency_fold(&a, starts, rows, round % 7 - 1, used), 0);
        assert_int_equal(adjacency_reduce(&c, &a, starts, levels, 1.0 / (1 + round % 90)), 0);
        assert_true(c.count >= 1 && c.first[0] == 0 && c.first[c.count] == rows);
        for (uint32_t r = 0; r < rows; r++) {
            assert_true(c.first[c.cell[r]] <= r && r < c.first[c.cell[r] + 1]);
            assert_int_equal(a.folded[r], a.folded[c.first[c.cell[r]]]);
            assert_false(a.folded[r] && used[r]);
            assert_true(a.at[r] < a.at[r + 1] && a.at[r + 1] < 1 + 1e-9);
        }
    }
    adjacency_cells_finish(&c);
    adjacency_axis_finish(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_share_the_side_equally),
        cmocka_unit_test(blocks_without_a_route_are_folded_to_bands),
        cmocka_unit_test(bands_never_take_more_than_a_quarter),
        cmocka_unit_test(the_lowest_dimensions_are_aggregated_first),
        cmocka_unit_test(blocks_are_split_where_whole_ones_leave_few_cells),
        cmocka_unit_test(folding_frees_capacity_for_single_rows),
        cmocka_unit_test(random_orders_keep_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
