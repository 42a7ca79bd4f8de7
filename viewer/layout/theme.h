/* Colours. State is never shown by colour alone; every colour map keeps its order for red-green
 * blind eyes, because its lightness rises or falls steadily. */
#ifndef HOLTER_VIEWER_LAYOUT_THEME_H
#define HOLTER_VIEWER_LAYOUT_THEME_H

#include "viewer/layout/scene.h"

enum { THEME_REGIONS = 12 };

#define THEME_BEYOND 256.0 /**< relative latency at the end of the colours */

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
    color_t diverging[256]; /**< relative latency from 1/4 to 4, logarithmic */
    color_t beyond;         /**< of THEME_BEYOND and more */
    uint32_t diverging_pixels[256];
    struct image diverging_image;
    color_t regions[THEME_REGIONS]; /**< rank regions, by id */
};

/** Compute a theme's colours. The struct must not move: its images point into it. */
void theme_init(struct theme *theme, enum theme_kind kind);

/** Colour of a relative latency: blue up to 1, pale above it, red at 4, from there to purple at
 * THEME_BEYOND, all logarithmic; faint for NaN. */
color_t theme_latency(const struct theme *theme, double ratio);

/** Colour of a rank region; id 0: no region. */
color_t theme_region(const struct theme *theme, uint64_t id);

/** Colour of a community of ranks by its identity. */
color_t theme_community(const struct theme *theme, uint64_t identity);

/** Colour for a share of the map, 0 to 1. */
color_t theme_map(const struct theme *theme, double share);

#endif
