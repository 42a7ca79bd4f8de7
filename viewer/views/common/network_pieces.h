/* Pieces about the network that several views show: states of links, colour legend, filter,
 * tooltips. */
#ifndef HOLTER_VIEWER_VIEWS_COMMON_NETWORK_PIECES_H
#define HOLTER_VIEWER_VIEWS_COMMON_NETWORK_PIECES_H

#include "viewer/layout/format.h"
#include "viewer/views/common/view.h"

/** Text in place of a view when there is no network to show: none is known, its file is invalid, or
 * no message crossed a link.
 * @return 1 when the text is shown and the view has nothing to draw */
int piece_no_network(const struct stage *stage, struct box box);

/** End of a route that loads a link: a rank after the prefix; of a job by groups of ranks the node
 *  that the rank stands for. */
char *piece_route_end(const struct model *model, uint64_t rank, const char *prefix, char *out,
                      size_t capacity);

/** Colour of a link's state, and its sign, which also differs by shape: ring, disc, triangle,
 * square. */
color_t piece_state_color(const struct theme *theme, enum link_state state);
void piece_state_sign(const struct brush *brush, double x, double y, double radius,
                      enum link_state state);

/** What the network really carries, also while the views show a what-if. */
const struct flows *piece_reality(const struct stage *stage);

/** Largest figure of a metric on the scale that all states share: that of the reality, so that a
 *  better network looks less bright. */
double piece_metric_most(const struct stage *stage, enum flow_metric metric);

/** Buttons before, after and difference, and one that undoes the newest step; nothing while the
 *  what-if has no steps; right edge at x. @return width */
double piece_compare(const struct stage *stage, double right, double y);

/** Puts the state that the views show before the description of a title; nothing while the what-if
 *  has no steps. */
void piece_add_state(const struct stage *stage, char *out, size_t capacity);

/** Adds to the description of a title how much of the job's messages the picture lacks, because
 *  their ranks have no place in the network; nothing where it lacks none. */
void piece_add_unplaced(const struct stage *stage, char *out, size_t capacity);

/** "heaviest link -18.4 % on average, -50.1 % at most" of the routes that are better (Visuco,
 *  section 7.1), of one route the figure alone; the length where none has less load. @return out;
 * NULL: none is better */
char *piece_route_gains(const struct suggestion *answer, char *out, size_t capacity);

/** Colour of a difference from the reality: blue less, red more.
 *  @param share  of the largest figure of the reality, -1 to 1 */
color_t piece_difference_color(const struct theme *theme, double share);

/** "18.9 MiB → 9.4 MiB, -50 %" */
char *piece_change_text(enum flow_metric metric, double before, double after, char *out,
                        size_t capacity);

/** Colour of a value on the colour map that all network views share, within the range that the user
 * set on its legend. */
color_t piece_metric_color(const struct stage *stage, enum flow_metric metric, double value);

/** A value with its unit: "1.2 GiB", "11 links", "1,204". */
struct quantity piece_metric_text(enum flow_metric metric, double value);

/** Legend of the chosen metric's colours; both ends can be dragged. @return its height */
double piece_metric_legend(struct stage *stage, struct box box);

/** The active filter and a button that clears it; nothing without a filter; right edge at x.
 * @return width */
double piece_filter(const struct stage *stage, double right, double y, double most);

/** Ranks of a vertex: "ranks 3, 8-11 and 4 more". */
char *piece_vertex_ranks(const struct stage *stage, uint32_t vertex, char *out, size_t capacity);

/** State of a link, from its newest row, or from the sample of the last visible window when time is
 * not followed; LINK_IDLE when nothing is known. */
enum link_state piece_link_state(const struct stage *stage, uint32_t link);

/** The name of a state with the time that it is of, unless that is now: "idle at 14:15:03" while
 * time is not followed, "idle at the end" of a job that has ended. */
struct quantity piece_state_text(const struct stage *stage, enum link_state state);

/** 1 when interfaces counted traffic but no message crossed a link in the visible time: loads are
 * then measured, not modelled. */
int piece_loads_are_measured(const struct stage *stage);

/** Tooltips. */
void piece_link_tip(struct stage *stage, uint32_t link);
void piece_route_tip(struct stage *stage, uint32_t source, uint32_t destination);
void piece_vertex_tip(struct stage *stage, uint32_t vertex);

#endif
