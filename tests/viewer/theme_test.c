/* The themes by figures: contrast of texts, and what red-green blind eyes can tell apart. */
#include "viewer/layout/theme.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Distance in OKLab that colours with a meaning keep; a just noticeable difference is 0.02. */
static const double APART = 0.07;

struct named {
    const char *name;
    color_t color;
};

static struct theme theme;

/* ---- contrast ---- */

static void contrast_is_that_of_the_guidelines(void **state)
{
    (void)state;
    assert_true(fabs(theme_contrast(0x000000ff, 0xffffffff) - 21) < 1e-9);
    assert_true(fabs(theme_contrast(0x777777ff, 0xffffffff) - 4.48) < 0.005);
    assert_true(theme_contrast(0x123456ff, 0x123456ff) == 1);
}

static void all_texts_contrast_with_their_surfaces(void **state)
{
    (void)state;
    uint32_t poor = 0;
    for (int kind = 0; kind < THEMES; kind++) {
        theme_init(&theme, (enum theme_kind)kind);
        const struct named texts[] = {{"text", theme.text},   {"second", theme.second},
                                      {"faint", theme.faint}, {"accent", theme.accent},
                                      {"bad", theme.bad},     {"warn", theme.warn},
                                      {"good", theme.good},   {"info", theme.info}};
        const struct named surfaces[] = {{"ground", theme.ground},
                                         {"panel", theme.panel},
                                         {"raised", theme.raised},
                                         {"bad", theme.bad_ground},
                                         {"warn", theme.warn_ground}};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            for (size_t s = 0; s < sizeof surfaces / sizeof *surfaces; s++) {
                double contrast = theme_contrast(texts[t].color, surfaces[s].color);
                if (contrast < 4.5) {
                    print_message("theme %d: %s on %s: %.2f\n", kind, texts[t].name,
                                  surfaces[s].name, contrast);
                    poor++;
                }
            }
        /* only these stand on what is chosen, and on the ground of what is well */
        poor += theme_contrast(theme.text, theme.line) < 4.5;
        poor += theme_contrast(theme.text, theme.good_ground) < 4.5;
        poor += theme_contrast(theme.good, theme.good_ground) < 4.5;
    }
    assert_int_equal(poor, 0);
}

static void texts_on_filled_shapes_contrast_with_any_colour(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 16 * 16 * 16; i++) {
        color_t fill =
            (i >> 8) * 0x11000000u | (i >> 4 & 15) * 0x110000u | (i & 15) * 0x1100u | 0xff;
        assert_true(theme_contrast(theme_on(fill), fill) >= 4.5);
    }
}

/* ---- red-green blind eyes ---- */

/* G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A physiologically-based model for simulation
 * of color vision deficiency", IEEE TVCG 15(6), 2009: matrices of severity 1 for linear RGB. */
static const double vision[3][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                       {{0.152286, 1.052583, -0.204868},
                                        {0.114503, 0.786281, 0.099216},
                                        {-0.003882, -0.048116, 1.051998}},
                                       {{0.367322, 0.860646, -0.227968},
                                        {0.280085, 0.672501, 0.047413},
                                        {-0.011820, 0.042940, 0.968881}}};
static const char *const eyes[] = {"usual", "protanopic", "deuteranopic"};

static double linear(uint32_t byte)
{
    double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* What these eyes see, in OKLab (B. Ottosson, 2020). */
static void seen(color_t color, int eye, double *lab)
{
    static const double to_lms[3][3] = {{0.4122214708, 0.5363325363, 0.0514459929},
                                        {0.2119034982, 0.6806995451, 0.1073969566},
                                        {0.0883024619, 0.2817188376, 0.6299787005}};
    static const double to_lab[3][3] = {{0.2104542553, 0.7936177850, -0.0040720468},
                                        {1.9779984951, -2.4285922050, 0.4505937099},
                                        {0.0259040371, 0.7827717662, -0.8086757660}};
    const double rgb[3] = {linear(color >> 24), linear(color >> 16 & 0xff),
                           linear(color >> 8 & 0xff)};
    double dim[3], lms[3];
    for (int i = 0; i < 3; i++) {
        dim[i] = 0;
        for (int k = 0; k < 3; k++)
            dim[i] += vision[eye][i][k] * rgb[k];
        dim[i] = fmin(fmax(dim[i], 0), 1);
    }
    for (int i = 0; i < 3; i++)
        lms[i] = cbrt(to_lms[i][0] * dim[0] + to_lms[i][1] * dim[1] + to_lms[i][2] * dim[2]);
    for (int i = 0; i < 3; i++)
        lab[i] = to_lab[i][0] * lms[0] + to_lab[i][1] * lms[1] + to_lab[i][2] * lms[2];
}

static double distance(color_t a, color_t b, int eye)
{
    double p[3], q[3];
    seen(a, eye, p);
    seen(b, eye, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                (p[2] - q[2]) * (p[2] - q[2]));
}

/* Prints the pairs of a set that are too close. @return number of them */
static uint32_t close_pairs(const char *what, const color_t *colors, size_t count)
{
    uint32_t close = 0;
    for (int eye = 0; eye < 3; eye++)
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < i; k++) {
                double apart = distance(colors[i], colors[k], eye);
                if (apart >= APART)
                    continue;
                print_message("%s %zu and %zu for %s eyes: %.3f\n", what, k, i, eyes[eye], apart);
                close++;
            }
    return close;
}

static void states_are_told_apart_by_all_eyes(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEMES; kind++) {
        theme_init(&theme, (enum theme_kind)kind);
        const color_t states[] = {theme.bad, theme.warn, theme.good, theme.info, theme.accent};
        assert_int_equal(close_pairs("states", states, sizeof states / sizeof *states), 0);
    }
}

static void regions_are_told_apart_by_all_eyes(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEMES; kind++) {
        theme_init(&theme, (enum theme_kind)kind);
        color_t colors[THEME_REGIONS + 1];
        for (uint64_t id = 1; id <= THEME_REGIONS + 1; id++)
            colors[id - 1] = theme_region(&theme, id);
        assert_int_equal(close_pairs("regions", colors, THEME_REGIONS + 1), 0);
        assert_int_equal(theme_region(&theme, 1000), theme.other);
    }
}

static void steps_of_latency_are_told_apart_by_all_eyes(void **state)
{
    static const double steps[] = {0.25, 1, 2, 4, 16, 64};
    (void)state;
    for (int kind = 0; kind < THEMES; kind++) {
        color_t colors[sizeof steps / sizeof *steps];
        theme_init(&theme, (enum theme_kind)kind);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            colors[i] = theme_latency(&theme, steps[i]);
        assert_int_equal(close_pairs("latencies", colors, sizeof steps / sizeof *steps), 0);
    }
}

static void five_and_fourteen_times_the_reference_differ(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEMES; kind++) {
        theme_init(&theme, (enum theme_kind)kind);
        for (int eye = 0; eye < 3; eye++)
            assert_true(distance(theme_latency(&theme, 5.5), theme_latency(&theme, 14), eye) >=
                        APART);
    }
}

/* Quarters of the sequential maps, and the ends and the middle of differences. */
static void steps_of_the_maps_are_told_apart_by_all_eyes(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEMES; kind++) {
        theme_init(&theme, (enum theme_kind)kind);
        color_t map[5], sizes[5], differences[5];
        for (int i = 0; i < 5; i++) {
            map[i] = theme.map[i * 255 / 4];
            sizes[i] = theme.sizes[i * 255 / 4];
            differences[i] = theme.diverging[i * 255 / 4];
        }
        assert_int_equal(close_pairs("map", map, 5), 0);
        assert_int_equal(close_pairs("sizes", sizes, 5), 0);
        assert_int_equal(close_pairs("differences", differences, 5), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contrast_is_that_of_the_guidelines),
        cmocka_unit_test(all_texts_contrast_with_their_surfaces),
        cmocka_unit_test(texts_on_filled_shapes_contrast_with_any_colour),
        cmocka_unit_test(states_are_told_apart_by_all_eyes),
        cmocka_unit_test(regions_are_told_apart_by_all_eyes),
        cmocka_unit_test(steps_of_latency_are_told_apart_by_all_eyes),
        cmocka_unit_test(five_and_fourteen_times_the_reference_differ),
        cmocka_unit_test(steps_of_the_maps_are_told_apart_by_all_eyes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
