/* The ranking of links, which other views show, too. */
#ifndef HOLTER_VIEWER_VIEWS_LINKS_VIEW_LINKS_H
#define HOLTER_VIEWER_VIEWS_LINKS_VIEW_LINKS_H

#include "viewer/views/common/view.h"

/** The ranking of links. @return where its panel ends, which has no rows left empty */
double hot_links_layout(struct stage *stage, struct box box);

#endif
