/* What an alert is about, in terms of what can be selected: its culprit, and the ranks, nodes and
 * links that it marks. */
#ifndef HOLTER_VIEWER_UI_UI_ALERT_H
#define HOLTER_VIEWER_UI_UI_ALERT_H

#include "viewer/model/model.h"
#include "viewer/places/place.h"

/** The selection that shows an alert: its culprit (link, node, rank), else its region, rank, ranks
 * or node. */
struct selection ui_alert_selection(const struct model *model, const struct alert *alert);

/** Names of both ends of a culprit that is a link or a pair of nodes.
 *  @param size  bytes of each   @return 0: it is neither */
int ui_alert_ends(const struct alert *alert, char *from, char *to, size_t size);

/** The link that is the culprit; TOPOLOGY_NONE: it is none, or the network is not known. */
uint32_t ui_alert_link(const struct model *model, const struct alert *alert);

/** Whether an alert is about a rank: it carries it, or runs on the culprit. */
int ui_alert_marks_rank(const struct model *model, const struct alert *alert, uint32_t rank);

/** Whether an alert is about a node: the culprit or an end of it; without one, that it names. */
int ui_alert_marks_node(const struct model *model, const struct alert *alert, uint64_t host);

#endif
