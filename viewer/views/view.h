/* A view: one way to look at the job. The frame gives it a box; it fills the scene there. */
#ifndef HOLTER_VIEWER_VIEWS_VIEW_H
#define HOLTER_VIEWER_VIEWS_VIEW_H

#include "viewer/layout/scene.h"
#include "viewer/layout/widgets.h"
#include "viewer/model/model.h"
#include "viewer/model/range.h"
#include "viewer/ui/ui.h"

/** A picture computed from facts, kept while they and the wish stay the same. Zero-initialised is
 * empty. */
struct picture {
    struct image image; /**< pixels are owned */
    size_t room;        /**< pixels allocated */
    uint64_t key;       /**< what it was computed from */
    double low, high;   /**< figures at both ends of its colours */
    uint64_t per_cell;  /**< ranks in a cell, along each axis */
};

/** A stretch of the job's windows: one that matters, or calm time between two of those. */
struct evolution_segment {
    uint64_t first, last;
    int calm;
};

enum { EVOLUTION_SEGMENTS = 63 };

/** What the evolution strip shows, kept while facts and span stay the same. */
struct evolution {
    uint64_t key;
    uint32_t *order; /**< owned; numbers of the regions' series, largest latency first */
    uint32_t order_count;
    struct evolution_segment segments[EVOLUTION_SEGMENTS]; /**< the whole job */
    uint32_t segment_count;
};

struct lane_bar;

/** Pictures of all views. Zero-initialised is empty. */
struct pictures {
    struct picture matrix;
    struct picture heat;
    struct picture captures;
    struct evolution evolution;
    struct regions_picture *regions;   /**< owned; NULL: never looked at */
    struct commgram_drawing *commgram; /**< likewise */
    struct links_drawing *links;       /**< likewise */
    struct torus_drawing *torus;       /**< likewise */
    struct network_drawing *network;   /**< likewise */
    struct routes_drawing *routes;     /**< likewise */
    double *cells;                     /**< owned; working memory */
    size_t cells_room;
    struct lane_bar *bars; /**< owned; likewise */
    size_t bars_room;
    uint32_t *order; /**< owned; ranks or pairs in the order of the list in sight */
    uint32_t order_count;
    size_t order_room;
    uint64_t order_key; /**< what it was computed from; 0: nothing */
    int busy;           /**< a layout did a share of its work: lay out anew to let it do the next */
};

void pictures_finish(struct pictures *pictures);

/** Make room for w x h pixels and working cells, all 0. @return 0 or -ENOMEM */
int picture_size(struct pictures *pictures, struct picture *picture, int w, int h);

/** What a layout works with. */
struct stage {
    struct brush brush;
    const struct model *model;
    const struct range *range;
    const struct ui *ui;
    struct pictures *pictures;
    const struct scene_hit *hover; /**< what the mouse was over in the last scene; NULL: nothing */
    struct tooltip tip;            /**< filled by whoever has something to say about it */
};

struct view {
    const char *name;  /**< for --view */
    const char *label; /**< in the rail */
    void (*icon)(const struct brush *brush, struct box box, color_t color);
    void (*layout)(struct stage *stage, struct box box);
};

/** The views, by enum view_id. */
extern const struct view *const views[VIEWS];

/** Number of a view from its name, or -1. */
int view_by_name(const char *name);

/** Lay out the whole window: header, rail, view, context, status and what lies over them. */
void frame_layout(struct stage *stage);

/** A whole scene from facts and choices.
 *  @param last  the scene before, for what the mouse is over; may be the same as scene */
void frame_scene(struct scene *scene, const struct model *model, const struct range *range,
                 const struct ui *ui, const struct theme *theme, struct pictures *pictures,
                 struct text_measure measure);

#endif
