/* Which places a job has no data for, and why. */
#ifndef HOLTER_VIEWER_PLACES_ABSENCE_H
#define HOLTER_VIEWER_PLACES_ABSENCE_H

#include "viewer/model/model.h"
#include "viewer/places/place.h"

/** Why a place has nothing to show for the job, as a sentence; NULL: it has, or no job is known. */
const char *place_absence(const struct model *model, enum view_id view);

/** The place of a room to open: `last` where it has data, else the first that has, else `last`. */
enum view_id room_place(const struct model *model, enum room_id room, enum view_id last);

/** The next place in the tabs of the room that has data. @param step  1 or -1 */
enum view_id place_next(const struct model *model, enum view_id view, int step);

#endif
