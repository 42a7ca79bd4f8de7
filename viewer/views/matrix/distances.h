/* Messages or bytes by the distance between source and destination: what the diagonals of the
 * matrix are, in words and shares. */
#ifndef HOLTER_VIEWER_VIEWS_MATRIX_DISTANCES_H
#define HOLTER_VIEWER_VIEWS_MATRIX_DISTANCES_H

#include "viewer/views/common/view.h"

/** Sums by distance, valid while the facts and choices stay the same. */
struct matrix_distances;

void matrix_distances_destroy(struct matrix_distances *distances);

/** A list of the distances that carry most, or of ranges of distances where many carry about the
 * same. Distances count ranks, or groups of ranks in a job that is kept by those. */
void matrix_distances_layout(struct stage *stage, struct box box);

#endif
