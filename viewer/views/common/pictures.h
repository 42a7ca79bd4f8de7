/* What views keep from one scene to the next, because computing it takes longer than a frame. Each
 * view allocates and frees its own part (struct view, finish); the types of drawings are private
 * to their views. */
#ifndef HOLTER_VIEWER_VIEWS_COMMON_PICTURES_H
#define HOLTER_VIEWER_VIEWS_COMMON_PICTURES_H

#include "viewer/layout/scene.h"
#include "viewer/model/series.h"

#include <stddef.h>
#include <stdint.h>

/** An image computed from facts, valid while its key stays the same. Zero-initialised is empty. */
struct picture {
    struct image image; /**< pixels are owned */
    size_t capacity;    /**< pixels allocated */
    uint64_t key;       /**< hash of the facts and choices that it was computed from */
    double low, high;   /**< figures at both ends of its colour map */
    uint64_t per_cell;  /**< ranks in a cell, along each axis */
};

/** A stretch of the job's windows: one with events of interest, or calm time between two of
 * those. */
struct evolution_segment {
    uint64_t first, last;
    int calm;
};

enum { EVOLUTION_SEGMENTS = 63 };

/** Rows and segments of the evolution strip, valid while its key stays the same. */
struct evolution {
    uint64_t key;
    uint32_t *order; /**< owned; indices of the regions' series, largest latency first */
    uint32_t order_count;
    struct evolution_segment segments[EVOLUTION_SEGMENTS]; /**< the whole job */
    uint32_t segment_count;
};

/** Mean shares of time of ranks side by side, valid while the key stays the same. */
struct rank_profile {
    uint64_t key;
    double *bars; /**< owned; MODEL_CLASSES shares a bar, NaN where no rank has figures */
    size_t capacity;
    double all[MODEL_CLASSES]; /**< sums over the bars */
    double top;                /**< of the axis: a round share above all bars */
};

struct lane_bar;

/** Pictures of all views. Zero-initialised is empty. The drawings are owned by their views and
 * NULL until the view is first shown. */
struct pictures {
    struct picture matrix;
    struct picture heat;
    struct picture captures;
    struct evolution evolution;
    struct rank_profile profile;
    struct matrix_distances *distances;
    struct regions_picture *regions;
    struct commgram_drawing *commgram;
    struct links_drawing *links;
    /** Owned; of the other half: of the reality beside another state, and of a second run beside
     *  the first, on another network. */
    struct pictures *beside[2];
    struct torus_drawing *torus;
    struct tiers_drawing *tiers;
    struct network_drawing *network;
    struct routes_drawing *routes;
    struct dependency_picture *dependencies;
    struct lateness_drawing *lateness;
    struct attribution_drawing *attribution;
    struct landscape_drawing *landscape;
    double *cells; /**< owned; working memory that all views share */
    size_t cells_capacity;
    struct lane_bar *bars; /**< owned; working memory that all views share */
    size_t bars_capacity;
    uint32_t *order; /**< owned; ranks or pairs in the order of the list in sight */
    uint32_t order_count;
    size_t order_capacity;
    uint64_t order_key; /**< hash of what the order was computed from; 0: nothing */
    int busy;           /**< a layout did a part of its work: the next frame continues it */
};

/** Make room for w x h pixels and as many working cells, all 0. @return 0 or -ENOMEM */
int picture_size(struct pictures *pictures, struct picture *picture, int w, int h);

/** Free the pixels of a picture; it is empty after it. */
void picture_finish(struct picture *picture);

/** Free the working memory that all views share. */
void pictures_finish_shared(struct pictures *pictures);

#endif
