/* What ranks did last: a capture as one row of calls for each rank, with the moment of its alert.
 */
#ifndef HOLTER_VIEWER_VIEWS_CAPTURES_VIEW_CAPTURES_H
#define HOLTER_VIEWER_VIEWS_CAPTURES_VIEW_CAPTURES_H

#include "viewer/views/common/view.h"

extern const struct view captures_view;

#endif
