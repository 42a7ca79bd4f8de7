/* The frame around every view: header, rail, status, context column, transport bar, help and
 * search. */
#ifndef HOLTER_VIEWER_VIEWS_FRAME_FRAME_H
#define HOLTER_VIEWER_VIEWS_FRAME_FRAME_H

#include "viewer/views/common/view.h"

/** Size of the box of a view, below which it is not laid out. */
enum { VIEW_LEAST = 150, VIEW_LEAST_W = 222 };

/** Lay out the viewer's whole window (header, rail, view, context, status and overlays) from facts
 * and choices.
 *  @param scene  filled; on entry the previous scene, for what the mouse is over */
void frame_scene(struct scene *scene, const struct model *model, const struct range *range,
                 const struct ui *ui, const struct theme *theme, struct pictures *pictures,
                 struct text_measure measure);

/** The rail of rooms, and the tabs of the places in the room of the view. */
void places_add_rail(const struct stage *stage, struct box box, enum view_id view);
void places_add_tabs(const struct stage *stage, struct box box, enum view_id view);

/** A ring around the button that Enter presses. */
void places_add_focus(const struct stage *stage);

/** Context column: selection, alerts, busiest pairs and longest waiting ranks. drawer: it covers
 * the view. */
void context_layout(struct stage *stage, struct box box, int drawer);

/** The first firing alert, and how many more there are, in a line at the top of a box: for windows
 * without a context column. @return height that it takes; 0: none fires */
double verdict_layout(struct stage *stage, struct box box);

/** Transport bar of a replay: buttons, position, line of the whole recording with its alerts. */
void transport_layout(struct stage *stage, struct box box);

void help_layout(struct stage *stage);
void search_layout(struct stage *stage);

/** A line of a card: name and value. The box is advanced to the next line. */
void context_fact(const struct stage *stage, struct box *at, const char *name, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/** A line about messages: "1.2 k, 34 MiB". */
void context_fact_traffic(const struct stage *stage, struct box *at, const char *name,
                          uint64_t messages, uint64_t bytes);

/** 1 if the selection is a link, route or vertex. */
int context_is_network(enum select_kind kind);

/** Height, title and facts of the card of such a selection. */
double context_network_height(const struct stage *stage);
void context_network_name(const struct stage *stage, char *out, size_t capacity);
void context_network_facts(const struct stage *stage, struct box *at);

/** Both runs of a comparison: their figures in the visible time. @return height; 0: there is one
 * run
 */
double context_runs(struct stage *stage, struct box box);

/** The most loaded links. @return height; 0: no links are known, or the present view shows them */
double context_hot_links(struct stage *stage, struct box box);

#endif
