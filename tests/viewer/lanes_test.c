/* Rows as lanes, stretches of time as bars. */
#include "viewer/layout/lanes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct lane_span second = {0, 1000000000, 100};

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void few_rows_are_high_and_many_share_lanes(void **state)
{
    (void)state;
    for (uint32_t rows = 0; rows < 5000; rows += rows < 40 ? 1 : 173)
        for (double h = 0; h < 900; h += 61) {
            struct lanes l = lanes_fit(rows, h);
            assert_true(l.height >= LANES_MIN_HEIGHT && l.height <= LANES_MAX_HEIGHT && l.per >= 1);
            assert_int_equal(l.first, 0);
            assert_true(l.count * l.height <= h);
            if (rows && h >= LANES_MIN_HEIGHT) { /* each row is in a lane, and no lane is empty */
                assert_true((uint64_t)l.count * l.per >= rows);
                assert_true((uint64_t)(l.count - 1) * l.per < rows);
                assert_true(l.per == 1 || rows * LANES_MIN_HEIGHT > h);
            }
        }
    assert_int_equal(lanes_fit(8, 700).per, 1);
    assert_true(lanes_fit(8, 1000).height == LANES_MAX_HEIGHT);
    assert_int_equal(lanes_fit(4096, 300).per, 41);
    assert_int_equal(lanes_fit(UINT32_MAX, 300).count, 100);
}

static void lanes_that_can_be_read_end_with_the_last_row(void **state)
{
    (void)state;
    struct lanes l = lanes_fit_legible(100, 180, 95);
    assert_int_equal(l.count, 10);
    assert_int_equal(l.first, 90);
    l = lanes_fit_legible(100, 180, -5);
    assert_int_equal(l.first, 0);
    l = lanes_fit_legible(4, 180, 2);
    assert_int_equal(l.first, 0);
    assert_int_equal(l.count, 4);
    l = lanes_fit_legible(4, 3, 0);
    assert_int_equal(l.count, 0);
}

static void a_stretch_is_a_bar_where_it_was(void **state)
{
    (void)state;
    struct lane_bar bars[101];
    struct lane lane;
    assert_int_equal(lane_capacity(&second), 101);
    lane_begin(&lane, &second, bars);
    lane_add(&lane, 100000000, 200000000, 3);
    lane_add(&lane, 500000000, 20000000, 1);
    lane_add(&lane, 2000000000, 5, 1);          /* after the span */
    lane_add(&lane, -500000000, 100000000, 1);  /* before it */
    lane_add(&lane, 950000000, 5000000000, 2);  /* beyond its end */
    lane_add(&lane, 960000000, 5, LANES_KINDS); /* no such kind */
    assert_int_equal(lane.count, 3);
    assert_true(fabs(bars[0].x0 - 10) < 1e-9 && fabs(bars[0].x1 - 30) < 1e-9 && bars[0].kind == 3);
    assert_true(fabs(bars[1].x0 - 50) < 1e-9 && fabs(bars[1].x1 - 52) < 1e-9 && bars[1].kind == 1);
    assert_true(fabs(bars[2].x0 - 95) < 1e-9 && fabs(bars[2].x1 - 100) < 1e-9);
    assert_int_equal(lane_time(&second, 50), 500000000);
}

static void stretches_within_a_pixel_are_one_bar_of_the_longest_kind(void **state)
{
    (void)state;
    struct lane_bar bars[101];
    struct lane lane;
    lane_begin(&lane, &second, bars);
    lane_add(&lane, 200000000, 100000, 0);
    lane_add(&lane, 201000000, 3000000, 2);
    lane_add(&lane, 205000000, 200000, 0);
    assert_int_equal(lane.count, 1);
    assert_int_equal(bars[0].count, 3);
    assert_int_equal(bars[0].kind, 2);
    assert_true(bars[0].x1 - bars[0].x0 >= 1);
    lane_add(&lane, 300000000, 0, 4); /* what took no time is seen, too */
    assert_int_equal(lane.count, 2);
    assert_true(bars[1].x1 - bars[1].x0 >= 1);
}

/* Whatever comes: within the span and its room, one beside the other, and nothing in sight is lost.
 */
static void bars_never_lie_upon_each_other(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 300; round++) {
        struct lane_span span = {.begin_ns = (int64_t)(draw(&seed) % 1000) - 500,
                                 .w = 1 + (double)(draw(&seed) % 3000) / 10};
        span.end_ns = span.begin_ns + 1 + (int64_t)(draw(&seed) % 5000);
        struct lane_bar *bars = malloc(lane_capacity(&span) * sizeof *bars);
        struct lane lane;
        uint32_t seen = 0, kept = 0;
        lane_begin(&lane, &span, bars);
        for (int i = 0; i < 2000; i++) {
            int64_t begin = round % 2 ? (int64_t)(draw(&seed) % 8000) - 1500 : i * 3 - 500;
            uint64_t length = draw(&seed) % (round % 3 ? 4 : 400);
            lane_add(&lane, begin, length, (unsigned)(draw(&seed) % LANES_KINDS));
            seen += begin < span.end_ns && begin + (int64_t)length >= span.begin_ns;
            assert_true(lane.count <= lane_capacity(&span));
        }
        for (uint32_t i = 0; i < lane.count; i++) {
            kept += bars[i].count;
            assert_true(bars[i].x0 >= 0 && bars[i].x1 <= fmax(span.w, 1) + 1e-9);
            assert_true(bars[i].x1 - bars[i].x0 >= 1 - 1e-9 && bars[i].kind < LANES_KINDS);
            assert_true(i == 0 || bars[i].x0 >= bars[i - 1].x1 - 1e-9);
        }
        assert_int_equal(kept, seen);
        free(bars);
    }
}

static void cells_have_the_time_of_their_stretches(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++) {
        struct lane_span span = second;
        span.w = round % 2 ? 100 : 99.3; /* the last pixel may be a part of one */
        double cells[101 * LANES_KINDS] = {0}, sums[LANES_KINDS] = {0};
        assert_int_equal(lane_columns(&span), 100);
        for (int i = 0; i < 50; i++) {
            int64_t begin = (int64_t)(draw(&seed) % 900000000);
            uint64_t length = 1000000 + draw(&seed) % (round % 3 ? 99000000 : 9000000);
            unsigned kind = (unsigned)(draw(&seed) % LANES_KINDS);
            lane_spread(&span, cells, begin, length, kind);
            sums[kind] += (double)length / 1e9 * span.w;
        }
        for (unsigned k = 0; k < LANES_KINDS; k++) {
            double found = 0;
            for (uint32_t i = 0; i < 100; i++) {
                found += cells[k * 100 + i];
                assert_true(cells[k * 100 + i] <= 50);
            }
            assert_true(fabs(found - sums[k]) < 1e-6);
        }
        for (unsigned i = 100 * LANES_KINDS; i < 101 * LANES_KINDS; i++)
            assert_true(cells[i] == 0);
    }
}

static void a_stretch_fills_the_pixels_that_it_covers(void **state)
{
    (void)state;
    double cells[100 * LANES_KINDS] = {0};
    lane_spread(&second, cells, 105000000, 30000000, 2); /* pixels 10.5 to 13.5 */
    static const double expected[] = {0, 0.5, 1, 1, 0.5, 0};
    for (uint32_t i = 0; i < 6; i++)
        assert_true(fabs(cells[200 + 9 + i] - expected[i]) < 1e-9);
    lane_spread(&second, cells, 990000000, 5000000000, 1); /* to the end of the span, no further */
    assert_true(fabs(cells[199] - 1) < 1e-9);
    assert_true(cells[200] == 0);
    lane_spread(&second, cells, 500000000, 0, 5); /* what took no time leaves a trace */
    assert_true(cells[550] > 0);
}

static void a_cell_is_of_the_kind_with_most_time(void **state)
{
    (void)state;
    double share = 7, cells[3 * LANES_KINDS] = {0};
    assert_int_equal(lane_dominant_kind(cells, 3, 1, 4, &share), LANES_KINDS);
    assert_true(share == 0);
    cells[1 * 3 + 1] = 0.5;
    cells[5 * 3 + 1] = 1.5;
    assert_int_equal(lane_dominant_kind(cells, 3, 1, 4, &share), 5);
    assert_true(fabs(share - 0.5) < 1e-12);
    assert_int_equal(lane_dominant_kind(cells, 3, 1, 1, &share), 5);
    assert_true(share == 1);
    assert_int_equal(lane_dominant_kind(cells, 3, 2, 1, &share), LANES_KINDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_high_and_many_share_lanes),
        cmocka_unit_test(lanes_that_can_be_read_end_with_the_last_row),
        cmocka_unit_test(a_stretch_is_a_bar_where_it_was),
        cmocka_unit_test(stretches_within_a_pixel_are_one_bar_of_the_longest_kind),
        cmocka_unit_test(bars_never_lie_upon_each_other),
        cmocka_unit_test(cells_have_the_time_of_their_stretches),
        cmocka_unit_test(a_stretch_fills_the_pixels_that_it_covers),
        cmocka_unit_test(a_cell_is_of_the_kind_with_most_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
