/* Pieces about the network under the job that several views show. */
#ifndef HOLTER_VIEWER_VIEWS_COMMON_NETWORK_PIECES_H
#define HOLTER_VIEWER_VIEWS_COMMON_NETWORK_PIECES_H

#include "viewer/views/common/view.h"

/** Text in place of a view when there is no network to show: none was told, its file is at fault,
 * or no message crossed a link. @return 1 when it stands there, and the view has nothing to draw */
int piece_no_network(const struct stage *stage, struct box box);

/** Colour of a state; its sign, told by shape too: ring, disc, triangle, square. */
color_t piece_state_color(const struct theme *theme, enum link_state state);
void piece_state_sign(const struct brush *brush, double x, double y, double radius,
                      enum link_state state);

/** Colour of a figure in the map that all network views share, by the range that its legend is set
 * to. */
color_t piece_metric_color(const struct stage *stage, enum flow_metric metric, double value);

/** A figure with its unit: "1.2 GB", "11 links", "1,204". */
char *piece_metric_text(char *out, size_t room, enum flow_metric metric, double value);

/** Colour map of the chosen metric with both ends, which can be moved. @return its height */
double piece_metric_legend(struct stage *stage, struct box box);

/** What the filter leaves out and a button that clears it; nothing without a filter; right edge at
 * x.
 *  @return width */
double piece_filter(const struct stage *stage, double right, double y, double most);

/** "ranks 3, 8-11 and 4 more", of a vertex. */
char *piece_vertex_ranks(const struct stage *stage, uint32_t vertex, char *out, size_t room);

/** State of a link now: from its newest row, or the sample of the last visible window; LINK_IDLE
 * when nothing is known. */
enum link_state piece_link_state(const struct stage *stage, uint32_t link);

/** 1 when interfaces counted traffic but no message crossed a link in the visible time: loads are
 * then measured, not modelled. */
int links_measured_only(const struct stage *stage);

/** Tooltips. */
void piece_link_tip(struct stage *stage, uint32_t link);
void piece_route_tip(struct stage *stage, uint32_t source, uint32_t destination);
void piece_vertex_tip(struct stage *stage, uint32_t vertex);

#endif
