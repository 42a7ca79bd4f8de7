/* Names in the picture of a tree or fat tree, where there is space for them. */
#ifndef HOLTER_VIEWER_VIEWS_TORUS_TIER_NAMES_H
#define HOLTER_VIEWER_VIEWS_TORUS_TIER_NAMES_H

#include "viewer/layout/floor_plan.h"
#include "viewer/layout/section.h"
#include "viewer/views/common/view.h"

/** Of vertices of the lowest level below them, or of the first and the last child of a vertex where
 *  each has less space than its name; of other vertices of a tree beside them. */
void tier_names_add(const struct floor_plan *plan, const struct stage *stage,
                    const struct section *section);

#endif
