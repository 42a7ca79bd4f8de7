/* The scene: what is to be shown, as plain data in place of calls to a graphics library.
 *
 * Layouts fill it, the drawing code paints it, tests read it, and hit-testing searches it.
 * Coordinates are logical pixels (at scale 1 those of the screen), x to the right, y down. A scene
 * is a sequence of panels; a panel is a rectangle that clips its items, and later panels cover
 * earlier ones. Memory is reused from frame to frame. */
#ifndef HOLTER_VIEWER_LAYOUT_SCENE_H
#define HOLTER_VIEWER_LAYOUT_SCENE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct box {
    double x, y, w, h;
};

/** 0xRRGGBBAA, not premultiplied. */
typedef uint32_t color_t;

/** Same colour, other opacity (0 to 1, multiplied). */
color_t color_fade(color_t color, double opacity);

/** Mix of two opaque colours; t 0 gives a, 1 gives b. */
color_t color_mix(color_t a, color_t b, double t);

/** An opaque colour as a pixel of an image. */
static inline uint32_t color_pixel(color_t color)
{
    return 0xff000000u | color >> 8;
}

/** A pixel with a colour laid over it. @param part  how much of it, 0 to 256 */
static inline uint32_t pixel_blend(uint32_t pixel, color_t color, uint32_t part)
{
    const uint32_t rgb = color >> 8, rest = 256 - part;
    const uint32_t rb = ((rgb & 0xff00ffu) * part + (pixel & 0xff00ffu) * rest) >> 8 & 0xff00ffu;
    const uint32_t g = ((rgb & 0x00ff00u) * part + (pixel & 0x00ff00u) * rest) >> 8 & 0x00ff00u;
    return 0xff000000u | rb | g;
}

/* ---- text ---- */

enum text_style {
    TEXT_BODY,         /**< 13 px */
    TEXT_STRONG,       /**< 13 px semibold */
    TEXT_SMALL,        /**< 12 px */
    TEXT_SMALL_STRONG, /**< 12 px semibold */
    TEXT_AXIS,         /**< 11 px */
    TEXT_AXIS_STRONG,  /**< 11 px semibold */
    TEXT_TITLE,        /**< 14 px semibold */
    TEXT_LARGE,        /**< 24 px bold */
    TEXT_LOGO,         /**< 19 px bold */
    TEXT_STYLES,
};

enum text_flag {
    TEXT_LEFT = 0,
    TEXT_RIGHT = 1,
    TEXT_CENTRE = 2,
    TEXT_FIGURES = 4, /**< all digits equally wide, so that numbers align in columns */
    TEXT_MIDDLE = 8,  /**< a text that is too long loses its middle, not its end: for names */
    TEXT_CLAUSES = 16 /**< one that is too long loses its last clauses (from a comma, semicolon,
                         dot or bracket on), or words, rather than letters: for descriptions */
};

/** Font size and line height of a style in logical pixels; weight is 400, 600 or 700. */
double text_size(enum text_style style);
double text_line(enum text_style style);
int text_weight(enum text_style style);

/** Measures texts; provided by the drawing code. */
struct text_measure {
    /** @param flags  TEXT_FIGURES or 0   @return logical pixels */
    double (*width)(void *user, enum text_style style, int flags, const char *text, size_t bytes);
    void *user;
};

/* ---- items ---- */

/** A raster image. Whoever changes the pixels increments the version. */
struct image {
    uint32_t *pixels; /**< 0xAARRGGBB, row by row */
    int w, h;
    uint64_t version;
};

/** Show a picture that is complete. @param pixels  its pixels, owned; receives those that the image
 * showed, for the next picture of this size, or NULL */
void image_show(struct image *image, uint32_t **pixels, int w, int h);

struct point {
    double x, y;
};

enum scene_kind {
    SCENE_RECT,    /**< filled; radius rounds the corners */
    SCENE_OUTLINE, /**< inner border of width */
    SCENE_LINE,    /**< from (x, y) to (x + w, y + h) */
    SCENE_CURVE,   /**< points joined by a line of width */
    SCENE_AREA,    /**< pairs of points: upper and lower edge at the same x */
    SCENE_DISC,    /**< fills its box */
    SCENE_POLYGON, /**< convex, filled */
    SCENE_IMAGE,   /**< stretched over the box, cells stay sharp */
    SCENE_TEXT,
};

struct scene_item {
    enum scene_kind kind;
    uint16_t panel;
    struct box box;
    color_t color;
    double width, radius;
    uint32_t first,
        count; /**< points in scene.points; for texts bytes in scene.letters, without the 0 */
    enum text_style style;
    int flags;
    struct box slot;             /**< texts: where the text may lie, as its layout asked */
    uint32_t whole, whole_count; /**< texts that were shortened: the whole text in scene.letters;
                                    count 0: nothing was left out */
    const struct image *image;
    uint8_t cell; /**< texts in a table: number of the column + 1; 0: none */
};

/** What can be pointed at. a and b identify the object; their meaning depends on the kind. */
enum hit_kind {
    HIT_NONE,
    HIT_BUTTON,   /**< a: enum ui_command, b: its argument */
    HIT_RANK,     /**< a: rank */
    HIT_PAIR,     /**< a: source, b: destination */
    HIT_NODE,     /**< a: index of the host in the model */
    HIT_CALL,     /**< a: number of the call */
    HIT_JOB,      /**< a: row of the job list */
    HIT_ALERT,    /**< a: id */
    HIT_TIME,     /**< x is daemon time */
    HIT_BAND,     /**< x is daemon time over the whole job */
    HIT_MATRIX,   /**< x is destination, y is source, in ranks; a: ranks in a cell, 1 also where
                   *   these are a group without figures of single ranks */
    HIT_REGION,   /**< a: id of the rank region; x is daemon time when x1 is above x0 */
    HIT_SERIES,   /**< a: enum series_scope; x as for HIT_REGION */
    HIT_GRAPH,    /**< x and y are positions in the graph of regions */
    HIT_COMMGRAM, /**< x is daemon time, as if the columns of the picture were proportional to time
                   */
    HIT_COLUMN,   /**< a, b: begin and end of a phase of the CommGram, daemon time */
    HIT_BAR,      /**< a: column, b: bar in it, counted from the top */
    HIT_SIZES,    /**< x is the binary logarithm of a message's bytes */
    HIT_LINK,     /**< a: link of the network */
    HIT_ROUTE,    /**< a, b: first and last vertex */
    HIT_VERTEX,   /**< a: vertex of the network */
    HIT_METRIC,   /**< a: enum flow_metric; x is its value, y the rank, from 0 */
    HIT_HANDLE,   /**< as HIT_METRIC; b: end of the range that a drag moves, 0 low, 1 high */
    HIT_TORUS,    /**< a: 0 projection, 1 grid in space; x and y are positions in it */
    HIT_PLANE,    /**< a: dimension of the network, b: coordinate */
    HIT_SCALE,    /**< x is a share of the largest load, on the colour map */
    HIT_NETWORK,  /**< x and y are positions in the graph of the network */
    HIT_UNIT,     /**< a: group of vertices in it */
    HIT_PLACE,    /**< never under the mouse: x0, y0 is the position of vertex a (b 0) or group a */
    HIT_ROUTES, /**< x, y: shares of the sides of the route matrix; a: maximum of vertices in a cell
                 */
    HIT_PLAYBACK,   /**< x is daemon time over a whole recording */
    HIT_MARK,       /**< a: first alert of a recording, b: number of alerts */
    HIT_DEPENDENCY, /**< x is columns, y lanes of the graph of dependencies; a, b: how many there
                       are in all */
    HIT_CAPTURE,    /**< x is daemon time, y threads of a capture; a: threads in a lane */
    HIT_LIST,       /**< a: enum ui_list; y is rows; can be scrolled */
    HIT_SORT,       /**< a: enum ui_list, b: column */
    HIT_SPACE,      /**< x and y are positions in a picture of points in space */
    HIT_LEVEL,      /**< x is a share of the range of values, on the colour map */
    HIT_SLICE,      /**< a: axis; x is a share of it */
    HIT_COVER,      /**< swallows what lies under it */
};

struct scene_hit {
    struct box box;
    enum hit_kind kind;
    uint64_t a, b;
    double x0, x1, y0, y1; /**< values at the edges of the box, for kinds that define them */
    uint32_t list;         /**< for a row of a list: enum ui_list + 1; 0: not a row */
    uint32_t row;          /**< index of the row in the whole list */
    uint8_t selected;      /**< the row is marked as selected */
};

struct scene_panel {
    char name[32];
    struct box box;
    color_t color;   /**< background; 0: transparent */
    uint32_t first;  /**< index of its first item */
    uint64_t hash;   /**< over all its items, set by scene_end(): equal hash, equal picture */
    uint8_t overlay; /**< may lie over other panels */
};

/** Zero-initialised is empty. */
struct scene {
    double w, h, scale;
    struct scene_panel *panels;
    struct scene_item *items;
    struct point *points;
    char *letters;
    struct scene_hit *hits;
    size_t panel_count, item_count, point_count, letter_count, hit_count;
    size_t panel_capacity, item_capacity, point_capacity, letter_capacity, hit_capacity;
    size_t row_start; /**< first point of the shape under construction */
    uint8_t cell;     /**< of the texts that follow: see struct scene_item */
    struct text_measure measure;
    const char *suffix; /**< borrowed; appended to names of panels; NULL: nothing */
    int failed;         /**< memory ran out: the scene is incomplete */
};

/** Smallest window for which all views have a layout in which no text lacks room. */
enum { LAYOUT_LEAST_W = 800, LAYOUT_LEAST_H = 500 };

/** The scale that a user asked for, or the largest one, 1 at least, at which a window of so many
 * pixels has that size. */
double scene_fitting_scale(double asked, double w, double h);

/** Clear the scene and begin a new one. scale: device pixels per logical pixel, for lines one
 * device pixel thin. */
void scene_begin(struct scene *scene, double w, double h, double scale,
                 struct text_measure measure);

/** Complete the scene: computes the panels' hashes. */
void scene_end(struct scene *scene);

void scene_finish(struct scene *scene);

/** Open a panel; the following items belong to it. name: printf format, unique in the scene. */
void scene_panel(struct scene *scene, struct box box, color_t ground, const char *name, ...)
    __attribute__((format(printf, 4, 5)));

/** Let the last opened panel, and the rectangle that is its first item, end at y: for what shows
 * only while it is laid out how much there is. */
void scene_end_panel_at(struct scene *scene, double y);

/** Mark the last opened panel as one that may cover others. */
void scene_overlay(struct scene *scene);

void scene_rect(struct scene *scene, struct box box, double radius, color_t color);
void scene_outline(struct scene *scene, struct box box, double radius, double width, color_t color);
void scene_line(struct scene *scene, double x0, double y0, double x1, double y1, double width,
                color_t color);
void scene_disc(struct scene *scene, double x, double y, double radius, color_t color);
void scene_image(struct scene *scene, struct box box, const struct image *image);

/** Begin a sequence of points and end it as a curve, an area or a polygon. Fewer points than the
 * shape needs draw nothing. */
void scene_points(struct scene *scene);
void scene_point(struct scene *scene, double x, double y);
void scene_curve(struct scene *scene, double width, color_t color);
void scene_area(struct scene *scene, color_t color);
void scene_polygon(struct scene *scene, color_t color);

/** A polygon of these corners. */
void scene_shape(struct scene *scene, const struct point *corners, uint32_t count, color_t color);

/** A line of text in a slot: at most w wide, shortened with an ellipsis when it is longer, at its
 * end, or as TEXT_MIDDLE and TEXT_CLAUSES say; y is the top of its line. TEXT_RIGHT and TEXT_CENTRE
 * align it in the slot. Where nothing of it fits, the item is empty. What was left out is kept in
 * the item: see scene_shortened_at().
 * @return its width */
double scene_text(struct scene *scene, double x, double y, double w, enum text_style style,
                  int flags, color_t color, const char *text);
double scene_textf(struct scene *scene, double x, double y, double w, enum text_style style,
                   int flags, color_t color, const char *format, ...)
    __attribute__((format(printf, 8, 9)));

/** Height that scene_paragraph() would need. */
double scene_paragraph_height(const struct scene *scene, double w, enum text_style style, int lines,
                              const char *text);

/** Width of a text. */
double scene_width(const struct scene *scene, enum text_style style, int flags, const char *text);

/** A long text in several lines, broken at spaces. @return height used, of at most `lines` lines */
double scene_paragraph(struct scene *scene, double x, double y, double w, enum text_style style,
                       color_t color, int lines, const char *text);

/** Add an area that can be pointed at; later areas lie over earlier ones. @return the hit, to add a
 * range to it */
struct scene_hit *scene_hit(struct scene *scene, struct box box, enum hit_kind kind, uint64_t a,
                            uint64_t b);

/** Topmost area under a point; NULL when there is none. */
const struct scene_hit *scene_hit_at(const struct scene *scene, double x, double y);

/** Topmost area of a kind under a point, even if areas of other kinds except HIT_COVER lie over it;
 * NULL when there is none. */
const struct scene_hit *scene_hit_under(const struct scene *scene, double x, double y,
                                        enum hit_kind kind);

/** Value at a point inside a hit, interpolated between the values at its edges. */
double scene_hit_x(const struct scene_hit *hit, double x);
double scene_hit_y(const struct scene_hit *hit, double y);

/** Is x of a hit daemon time, of a plot over the visible time? */
int scene_hit_is_timed(const struct scene_hit *hit);

/** Text of an item, as it is shown. */
const char *scene_text_of(const struct scene *scene, const struct scene_item *item);

/** The whole text of an item: of a shortened line of a paragraph the whole paragraph. */
const char *scene_whole_text(const struct scene *scene, const struct scene_item *item);

/** The whole text of the shortened text under a point, in the topmost panel there; NULL when there
 * is none. */
const char *scene_shortened_at(const struct scene *scene, double x, double y);

/** Write the scene as text: one line for each panel, item and hit. */
void scene_dump(const struct scene *scene, FILE *out);

#endif
