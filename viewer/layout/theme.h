/* Colours. State is never shown by colour alone. All texts have a contrast of at least 4.5 to 1
 * with the surfaces that they stand on (WCAG 2.1, 1.4.3); states, regions and the steps of the maps
 * differ for red-green blind eyes, too. tests/viewer/theme_test.c measures both. */
#ifndef HOLTER_VIEWER_LAYOUT_THEME_H
#define HOLTER_VIEWER_LAYOUT_THEME_H

#include "viewer/layout/scene.h"

enum { THEME_REGIONS = 6, THEME_LATENCY_PARTS = 4 };

#define THEME_LATENCY_LEAST 0.25 /**< relative latencies at the ends of the map */
#define THEME_LATENCY_MOST 64.0

enum theme_kind { THEME_DARK, THEME_LIGHT, THEMES };

struct theme {
    color_t ground, panel, raised, line, grid;
    color_t text, second, faint;
    color_t accent, bad, warn, good, info;
    color_t bad_ground, good_ground, warn_ground;
    color_t shade;            /**< drawn over what an overlay covers */
    color_t classes[8];       /**< in the order of enum call_class */
    color_t map[256];         /**< sequential map, from low to high */
    uint32_t map_pixels[256]; /**< the same, as the pixels of map_image */
    struct image map_image;   /**< for legends: 256 x 1 */
    color_t sizes[256];       /**< message sizes: small blue, large green (CommGram, section IV) */
    uint32_t sizes_pixels[256];
    struct image sizes_image;
    color_t diverging[256]; /**< differences: less blue, more red */
    uint32_t diverging_pixels[256];
    struct image diverging_image;
    color_t latency[256]; /**< relative latency, logarithmic, from THEME_LATENCY_LEAST to _MOST */
    uint32_t latency_pixels[256];
    struct image latency_parts[THEME_LATENCY_PARTS]; /**< parts of the map, two doublings each */
    color_t regions[THEME_REGIONS];                  /**< the first rank regions, by id */
    color_t other;                                   /**< all other regions */
};

/** Compute a theme's colours. The struct must not move: its images point into it. */
void theme_init(struct theme *theme, enum theme_kind kind);

/** Colour of a relative latency: blue up to 1, pale at 2, red from 4, then by magenta to the end of
 * the map at THEME_LATENCY_MOST, all logarithmic; faint for NaN. */
color_t theme_latency(const struct theme *theme, double ratio);

/** Colour of texts on a filled shape of this colour: black or white, whatever contrasts more. */
color_t theme_on(color_t fill);

/** Contrast of two opaque colours, 1 to 21 (WCAG 2.1, "contrast ratio"). */
double theme_contrast(color_t a, color_t b);

/** Colour of a rank region; all beyond the first THEME_REGIONS share a neutral one, since more
 * colours would be confused; id 0: no region. */
color_t theme_region(const struct theme *theme, uint64_t id);

/** Colour of a community of ranks by its identity. */
color_t theme_community(const struct theme *theme, uint64_t identity);

/** Colour for a share of the map, 0 to 1. */
color_t theme_map(const struct theme *theme, double share);

#endif
