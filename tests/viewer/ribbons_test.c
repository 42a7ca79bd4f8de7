#include "viewer/layout/ribbons.h"

#include "viewer/layout/theme.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { W = 40, H = 60 };

static struct theme theme;

static void draw(struct ribbons *r, const struct ribbon *items, size_t count)
{
    assert_int_equal(ribbons_begin(r, W, H, 1, theme.sizes, 0x000000ff), 0);
    ribbons_gap(r, 0, W);
    for (size_t i = 0; i < count; i++)
        ribbons_add(r, &items[i]);
    ribbons_start(r);
    while (ribbons_work(r, 50))
        ;
    assert_int_equal(r->image.w, W);
}

static double light(const struct ribbons *r, int x, int y)
{
    uint32_t p = r->image.pixels[y * W + x];
    return (double)((p >> 16 & 0xff) + (p >> 8 & 0xff) + (p & 0xff));
}

static double column_light(const struct ribbons *r, int x)
{
    double sum = 0;
    for (int y = 0; y < H; y++)
        sum += light(r, x, y);
    return sum;
}

static void a_ribbon_starts_and_ends_level_and_never_turns_back(void **state)
{
    (void)state;
    assert_true(ribbon_at(0) == 0 && ribbon_at(1) == 1 && fabs(ribbon_at(0.5) - 0.5) < 1e-12);
    assert_true(ribbon_slope(0) == 0 && ribbon_slope(1) == 0);
    for (int i = 1; i <= 1000; i++) {
        double a = (i - 1) / 1000.0, b = i / 1000.0;
        assert_true(ribbon_at(b) >= ribbon_at(a));
        /* the slope is that of the curve */
        assert_true(fabs((ribbon_at(b) - ribbon_at(a)) * 1000 - ribbon_slope((a + b) / 2)) < 1e-2);
        assert_true(fabs(ribbon_at(b) + ribbon_at(1 - b) - 1) < 1e-12);
    }
}

static void a_ribbon_covers_what_it_is_wide(void **state)
{
    struct ribbons r = {0};
    const struct ribbon item = {20, 20, 6, 0.5f, 3, 0};
    (void)state;
    draw(&r, &item, 1);
    for (int y = 0; y < H; y++)
        assert_int_equal(light(&r, W / 2, y) > 0, y >= 17 && y < 23);
    ribbons_finish(&r);
}

/* The same light wherever it lies in the pixels: coverage is exact. */
static void thin_ribbons_keep_their_weight_at_any_place(void **state)
{
    struct ribbons r = {0};
    double first = 0;
    (void)state;
    for (int i = 0; i < 10; i++) {
        const struct ribbon item = {20 + (float)i / 10, 20 + (float)i / 10, 0.5f, 0.5f, 0.5f, 0};
        draw(&r, &item, 1);
        double sum = column_light(&r, W / 2);
        first = i ? first : sum;
        assert_true(first > 10 && fabs(sum - first) <= first * 0.12 + 6);
    }
    ribbons_finish(&r);
}

static void many_thin_ribbons_are_as_one_of_their_width_together(void **state)
{
    struct ribbons a = {0}, b = {0};
    struct ribbon many[64], one = {20.5f, 20.5f, 1, 0.5f, 0.8f, 0};
    (void)state;
    for (int i = 0; i < 64; i++)
        many[i] = (struct ribbon){
            20 + ((float)i + 0.5f) / 64, 20 + ((float)i + 0.5f) / 64, 1 / 64.0f, 0.5f, 0.8f, 0};
    draw(&a, many, 64);
    draw(&b, &one, 1);
    for (int y = 0; y < H; y++)
        assert_true(fabs(light(&a, 10, y) - light(&b, 10, y)) <= 3);
    ribbons_finish(&a);
    ribbons_finish(&b);
}

static void overlap_deepens_and_order_does_not_matter(void **state)
{
    struct ribbons a = {0}, b = {0};
    const struct ribbon items[] = {{10, 50, 8, 0, 0.4f, 0}, {50, 10, 8, 1, 0.4f, 0}};
    const struct ribbon turned[] = {items[1], items[0]};
    (void)state;
    draw(&a, items, 2);
    draw(&b, turned, 2);
    assert_memory_equal(a.image.pixels, b.image.pixels, W * H * sizeof *a.image.pixels);
    const struct ribbon one = {30, 30, 8, 0.5f, 0.4f, 0};
    const struct ribbon two[] = {one, one};
    draw(&a, &one, 1);
    draw(&b, two, 2);
    assert_true(light(&b, 5, 30) > light(&a, 5, 30) * 1.3);
    ribbons_finish(&a);
    ribbons_finish(&b);
}

static void hatched_ribbons_have_strokes(void **state)
{
    struct ribbons r = {0};
    const struct ribbon item = {30, 30, 10, 0.5f, 2, 1};
    int on = 0;
    (void)state;
    draw(&r, &item, 1);
    for (int x = 0; x < W; x++)
        on += light(&r, x, 30) > 0;
    assert_true(on > W / 3 && on < W * 3 / 4);
    ribbons_finish(&r);
}

static void bars_share_a_pixel_where_they_are_narrow(void **state)
{
    struct ribbons r = {0};
    (void)state;
    assert_int_equal(ribbons_begin(&r, W, H, 1, theme.sizes, 0x000000ff), 0);
    const struct ribbons_bar bars[] = {
        {0, 4, 10, 10.5f, 0xff0000ff}, {0, 4, 10.5f, 11, 0x0000ffff}, {20, 24, 30, 40, 0x00ff00ff}};
    for (size_t i = 0; i < 3; i++)
        ribbons_bar(&r, &bars[i]);
    ribbons_start(&r);
    while (ribbons_work(&r, 1))
        ;
    assert_int_equal(r.image.pixels[10 * W + 1] & 0xffffff, 0x800080);
    assert_int_equal(r.image.pixels[35 * W + 22] & 0xffffff, 0x00ff00);
    assert_int_equal(r.image.pixels[35 * W + 25] & 0xffffff, 0);
    ribbons_finish(&r);
}

static void what_lies_outside_is_cut_off(void **state)
{
    struct ribbons r = {0};
    const struct ribbon items[] = {{-50, 200, 30, 0.5f, 1, 0},
                                   {1e9f, -1e9f, 3, 0.5f, 1, 0},
                                   {NAN, 3, 3, 0.5f, 1, 0},
                                   {5, 5, NAN, 0.5f, 1, 0},
                                   {5, 5, 1e30f, 0.5f, 1, 0}};
    (void)state;
    draw(&r, items, sizeof items / sizeof *items);
    ribbons_finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ribbon_starts_and_ends_level_and_never_turns_back),
        cmocka_unit_test(a_ribbon_covers_what_it_is_wide),
        cmocka_unit_test(thin_ribbons_keep_their_weight_at_any_place),
        cmocka_unit_test(many_thin_ribbons_are_as_one_of_their_width_together),
        cmocka_unit_test(overlap_deepens_and_order_does_not_matter),
        cmocka_unit_test(hatched_ribbons_have_strokes),
        cmocka_unit_test(bars_share_a_pixel_where_they_are_narrow),
        cmocka_unit_test(what_lies_outside_is_cut_off),
    };
    theme_init(&theme, THEME_DARK);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
