/* Network part of the context column: hot links, and facts about a selected link, route or vertex.
 */
#ifndef HOLTER_VIEWER_VIEWS_FRAME_FRAME_NETWORK_H
#define HOLTER_VIEWER_VIEWS_FRAME_FRAME_NETWORK_H

#include "viewer/views/common/view.h"

/** 1 if the selection is a link, route or vertex. */
int context_is_network(enum select_kind kind);

/** Height, title and facts of the card of such a selection. */
double context_network_height(const struct stage *stage);
void context_network_name(const struct stage *stage, char *out, size_t room);
void context_network_facts(const struct stage *stage, struct box box, double *y);

/** The most loaded links. @return height; 0: no links are known, or the present view shows them */
double context_hot_links(struct stage *stage, struct box box);

#endif
