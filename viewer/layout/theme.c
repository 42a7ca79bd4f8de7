/* The dark and the light theme: anchors of their colours, mixed in OKLab. */
#include "viewer/layout/theme.h"

#include <math.h>
#include <stddef.h>

static const struct theme dark = {
    .ground = 0x0e1318ff,
    .panel = 0x141b22ff,
    .raised = 0x1e2831ff,
    .line = 0x25303bff,
    .grid = 0x1d262fff,
    .text = 0xd7dde4ff,
    .second = 0x9aa7b3ff,
    .faint = 0x84919eff,
    .accent = 0xffa024ff,
    .bad = 0xff5d5dff,
    .warn = 0xffe066ff,
    .good = 0x5fe3c4ff,
    .info = 0x4aa8ffff,
    .bad_ground = 0x2b191cff,
    .good_ground = 0x12352bff,
    .warn_ground = 0x2b2617ff,
    .shade = 0x06090cb8,
    .regions = {0xd66a25ff, 0xa6affdff, 0x7d77faff, 0xb5f7e9ff, 0xe0f555ff, 0x93c798ff},
    .other = 0x8795a3ff,
    .classes = {0x56b4e9ff, 0x3d7fd6ff, 0xf2b84bff, 0xf7e39cff, 0xcc79a7ff, 0x2fb58cff, 0x93a4b8ff,
                0x5b6876ff},
};

static const struct theme light = {
    .ground = 0xf1f4f7ff,
    .panel = 0xffffffff,
    .raised = 0xe8edf2ff,
    .line = 0xd3dbe3ff,
    .grid = 0xe9eef2ff,
    .text = 0x1b242dff,
    .second = 0x4a5866ff,
    .faint = 0x5e6b78ff,
    .accent = 0x883d06ff,
    .bad = 0x81062cff,
    .warn = 0x916100ff,
    .good = 0x137061ff,
    .info = 0x075d9dff,
    .bad_ground = 0xfdecebff,
    .good_ground = 0xdff3eaff,
    .warn_ground = 0xfcf3daff,
    .shade = 0x3b465280,
    .regions = {0xaf6425ff, 0x7e7bf9ff, 0x71028bff, 0xb5b035ff, 0x945b8dff, 0x6b3934ff},
    .other = 0x8b98a5ff,
    .classes = {0x3f9bd1ff, 0x1f57a8ff, 0xd9930dff, 0xbfa640ff, 0xb0568aff, 0x1f9472ff, 0x7b8b9cff,
                0xa9b4bfff},
};

/* Anchors of the sequential maps, from low to high; mixed in OKLab, where equal steps look equal.
 */
static const color_t dark_map[] = {0x1c3350ff, 0x1f5a8cff, 0x1e84a0ff,
                                   0x3fae93ff, 0x96cf74ff, 0xf3ee9bff};
static const color_t light_map[] = {0xd9e8f2ff, 0xa5cde3ff, 0x62a6cfff,
                                    0x3579b4ff, 0x274f92ff, 0x191f56ff};

/* Message sizes: blue to green, also in order of lightness, away from the background. */
static const color_t dark_sizes[] = {0x3566d6ff, 0x2f8fd8ff, 0x2fb3b8ff, 0x52cf8cff, 0xa6ec7cff};
static const color_t light_sizes[] = {0x7fa8efff, 0x3f8fd0ff, 0x1c8496ff, 0x107048ff, 0x0a4a1cff};

/* Differences, from less to more: the middle is the palest. Red-green blind eyes can distinguish
 * blue from orange and red. */
static const color_t dark_diverging[] = {0x2f6fe0ff, 0x3d80e6ff, 0x4f93eaff, 0x67a1e2ff, 0x8ab0d8ff,
                                         0xdccdb4ff, 0xffa268ff, 0xff7050ff, 0xff3d3dff};
static const color_t light_diverging[] = {0x1b4fb0ff, 0x2f66c4ff, 0x4a80d2ff,
                                          0x6494d8ff, 0x86aadaff, 0xd2b58aff,
                                          0xe57f3eff, 0xd64a2cff, 0xb51818ff};

/* Relative latency from 1/4 to 64, two anchors per doubling: the fifth is 1, the ninth 4. What is
 * usual up to twice the reference is blue to pale; what is many times as long goes from red by
 * magenta to what contrasts most with the ground. */
static const color_t dark_latency[] = {0x2f6fe0ff, 0x3d80e6ff, 0x4f93eaff, 0x67a1e2ff, 0x8ab0d8ff,
                                       0xb6bfc8ff, 0xe3cfaeff, 0xffab6bff, 0xff6a4dff, 0xff4060ff,
                                       0xfb2f7dff, 0xf42790ff, 0xf0259aff, 0xf04db4ff, 0xf47bcbff,
                                       0xfaa0e4ff, 0xffc4ffff};
static const color_t light_latency[] = {0x1b4fb0ff, 0x2f66c4ff, 0x4a80d2ff, 0x6494d8ff, 0x86aadaff,
                                        0xabadabff, 0xcfae7aff, 0xdc8a4aff, 0xd8502cff, 0xc52a33ff,
                                        0xb81840ff, 0xab0e46ff, 0xa00a4aff, 0x840a52ff, 0x6a0855ff,
                                        0x52064cff, 0x3d0542ff};

struct lab {
    double l, a, b;
};

static double theme_to_linear(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double theme_from_linear(double c)
{
    return c <= 0.0031308 ? c * 12.92 : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

/* B. Ottosson, "A perceptual color space for image processing" (2020). */
static struct lab theme_to_oklab(color_t color)
{
    double r = theme_to_linear((color >> 24) / 255.0),
           g = theme_to_linear((color >> 16 & 0xff) / 255.0),
           b = theme_to_linear((color >> 8 & 0xff) / 255.0);
    double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return (struct lab){0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
                        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
                        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

static color_t theme_channel(double linear)
{
    double c = theme_from_linear(linear < 0 ? 0 : linear > 1 ? 1 : linear);
    return (color_t)lround(c * 255);
}

static color_t theme_color_of(struct lab lab)
{
    double l = lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b;
    double m = lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b;
    double s = lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return theme_channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) << 24 |
           theme_channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) << 16 |
           theme_channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s) << 8 | 0xff;
}

/* Spread anchors evenly over 256 colours. */
static void theme_fill_map(const color_t *anchors, size_t spans, color_t *map, uint32_t *pixels)
{
    for (size_t i = 0; i < 256; i++) {
        double at = (double)i / 255 * (double)spans;
        size_t k = at >= (double)spans ? spans - 1 : (size_t)at;
        struct lab p = theme_to_oklab(anchors[k]), q = theme_to_oklab(anchors[k + 1]);
        double t = at - (double)k;
        map[i] = theme_color_of(
            (struct lab){p.l + (q.l - p.l) * t, p.a + (q.a - p.a) * t, p.b + (q.b - p.b) * t});
        pixels[i] = color_pixel(map[i]);
    }
}

void theme_init(struct theme *theme, enum theme_kind kind)
{
    int bright = kind == THEME_LIGHT;
    *theme = bright ? light : dark;
    theme_fill_map(bright ? light_map : dark_map, sizeof dark_map / sizeof *dark_map - 1,
                   theme->map, theme->map_pixels);
    theme_fill_map(bright ? light_diverging : dark_diverging,
                   sizeof dark_diverging / sizeof *dark_diverging - 1, theme->diverging,
                   theme->diverging_pixels);
    theme_fill_map(bright ? light_sizes : dark_sizes, sizeof dark_sizes / sizeof *dark_sizes - 1,
                   theme->sizes, theme->sizes_pixels);
    theme_fill_map(bright ? light_latency : dark_latency,
                   sizeof dark_latency / sizeof *dark_latency - 1, theme->latency,
                   theme->latency_pixels);
    theme->sizes_image = (struct image){theme->sizes_pixels, 256, 1, (uint64_t)kind + 1};
    theme->map_image = (struct image){theme->map_pixels, 256, 1, (uint64_t)kind + 1};
    theme->diverging_image = (struct image){theme->diverging_pixels, 256, 1, (uint64_t)kind + 1};
    for (int i = 0; i < THEME_LATENCY_PARTS; i++)
        theme->latency_parts[i] =
            (struct image){theme->latency_pixels + i * (256 / THEME_LATENCY_PARTS),
                           256 / THEME_LATENCY_PARTS, 1, (uint64_t)kind + 1};
}

color_t theme_latency(const struct theme *theme, double ratio)
{
    const double doublings = log2(THEME_LATENCY_MOST / THEME_LATENCY_LEAST);
    if (isnan(ratio))
        return theme->faint;
    double share = ratio > 0 ? log2(ratio / THEME_LATENCY_LEAST) / doublings : 0;
    return theme->latency[(size_t)lround((share < 0 ? 0 : share > 1 ? 1 : share) * 255)];
}

/* WCAG 2.1, "relative luminance". */
static double theme_luminance(color_t color)
{
    return 0.2126 * theme_to_linear((color >> 24) / 255.0) +
           0.7152 * theme_to_linear((color >> 16 & 0xff) / 255.0) +
           0.0722 * theme_to_linear((color >> 8 & 0xff) / 255.0);
}

double theme_contrast(color_t a, color_t b)
{
    double x = theme_luminance(a) + 0.05, y = theme_luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

color_t theme_on(color_t fill)
{
    const color_t black = 0x000000ff, white = 0xffffffff;
    return theme_contrast(black, fill) >= theme_contrast(white, fill) ? black : white;
}

color_t theme_region(const struct theme *theme, uint64_t id)
{
    return id == 0 ? theme->faint : id <= THEME_REGIONS ? theme->regions[id - 1] : theme->other;
}

color_t theme_community(const struct theme *theme, uint64_t identity)
{
    static const double towards[] = {0, 0.45, 0.4};
    uint64_t round =
        identity / THEME_REGIONS % 3; /* paler, then darker variants before colours repeat */
    return color_mix(theme->regions[identity % THEME_REGIONS],
                     round == 1 ? theme->text : theme->ground, towards[round]);
}

color_t theme_map(const struct theme *theme, double share)
{
    double clamped = share < 0 || isnan(share) ? 0 : share > 1 ? 1 : share;
    return theme->map[(size_t)lround(clamped * 255)];
}
