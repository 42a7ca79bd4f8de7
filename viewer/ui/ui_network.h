/* What the views of the network show: filter, metric, colours, and suggestions of mappings and
 * routes. */
#ifndef HOLTER_VIEWER_UI_UI_NETWORK_H
#define HOLTER_VIEWER_UI_UI_NETWORK_H

#include "viewer/layout/scene.h"
#include "viewer/model/model.h"
#include "viewer/model/other_run.h"
#include "viewer/model/range.h"
#include "viewer/ui/ui_command.h"

struct ui;

/** What a mapping minimises, as in request "remap". */
enum remap_objective { REMAP_HOP_BYTES, REMAP_MAX_LINK, REMAP_INTER_NODE, REMAP_OBJECTIVES };

/** What a better route has first, as in request "reroute". */
enum route_criterion { ROUTE_LOAD, ROUTE_LENGTH, ROUTE_CRITERIA };

#define REMAP_TIMES 3  /**< times that a search for a mapping may take */
#define ROUTE_DELTAS 4 /**< links by which a route may become longer: 0 to 3 can be chosen */

/** What the views show while the what-if has steps, or while there is another run: then the
 * followed run is the reality, and the other one takes the place of the what-if. */
enum network_compare {
    COMPARE_BEFORE,     /**< the reality */
    COMPARE_AFTER,      /**< the state of the what-if */
    COMPARE_DIFFERENCE, /**< that state, and by how much it differs from the reality */
    COMPARE_BOTH,       /**< the reality and that state side by side, where a view is a picture */
    COMPARES,
};

/** A mapping that is saved: that of the steps of the what-if, or of the last answer. */
enum saved_mapping { SAVED_STATE, SAVED_ANSWER };

/** Choices that all views of the network share. */
struct ui_network_choice {
    struct flow_filter filter; /**< what the views leave out; owned */
    enum flow_metric metric;   /**< metric of the ranking and of the colours */
    int rank_log;              /**< ranks by their logarithm */
    double colour_low[METRICS], colour_high[METRICS]; /**< shares of the largest figure where the
                                                          colours begin and end */
    enum remap_objective objective;
    int only_selected; /**< only ranks of the selection may move */
    int remap_time;    /**< which of REMAP_TIMES: see ui_remap_seconds() */
    enum suggestion_kind discarded;
    enum saved_mapping saved; /**< UI_MAPPING: which one is saved */
    uint32_t unfolded;        /**< link + 1: it and its equals are listed one by one; 0: none */
    enum route_criterion criterion;
    uint32_t delta;
    struct what_if what_if; /**< owned; steps that were shown */
    enum network_compare compare;
    struct other_run *other; /**< borrowed; NULL: there is no other run */
    unsigned applied;        /**< enum flow_applied that the views show; 0: the reality */
    const struct flows
        *flows; /**< borrowed from the sums by ui_update_flows(); NULL: not computed yet */
    uint8_t *picked_ranks; /**< owned; 1 for each rank of the selection, picked_count of them */
    uint32_t picked_count;
    uint64_t picked_version; /**< incremented when one of them changed */
};

/** Computes the flows in the visible time (range.flows) if the view or the selection is of the
 *  network, and marks filter and selection in them. Call after range_update(), before a layout.
 *  @return 1 when something changed, 0, -ENOMEM */
int ui_update_flows(struct ui *ui, const struct model *model, struct range *range);

/** Adds an answer to the what-if, if it was asked for the state that is shown, and shows the state
 *  with it. @return 0 or a negative error */
int ui_network_show(struct ui *ui, const struct model *model, enum suggestion_kind kind);

/** What the views show: "", "suggestion 2: mapping + routes", "reality, before suggestion 2: ...",
 *  "suggestion 1: mapping, difference from the reality". */
char *ui_network_state(const struct ui *ui, char *out, size_t capacity);

/** The other run, if views show it in place of the followed one: not while the what-if has steps.
 * NULL: they do not. */
const struct other_run *ui_other_run(const struct ui *ui);

/** The other run, if the view has it beside the followed one with a network of its own, because
 *  their networks differ. NULL: it has not. */
const struct other_run *ui_second_network(const struct ui *ui);

/** Whether the views show the difference between what-if and reality. */
int ui_shows_difference(const struct ui *ui);

/** 1 if the view is laid out twice: for the reality and for the shown state of the network, or for
 *  two runs with networks of their own. */
int ui_shows_both(const struct ui *ui);

/** Commands about the network. @return enum ui_effect */
int ui_network_command(struct ui *ui, const struct model *model, enum ui_command command,
                       uint64_t argument);

/** The mouse over the figures by rank: a click selects; a drag filters by the range from where the
 *  button was pressed, along the axis of the larger movement; in the legend it moves an end of the
 *  colours. */
void ui_click_metric(struct ui *ui, const struct scene_hit *hit);
void ui_brush_metric(struct ui *ui, const struct scene_hit *hit);
void ui_move_colour(struct ui *ui, const struct scene_hit *hit);

/** Limits the filter to half as many of the largest figures, or to twice as many. */
void ui_narrow_metric(struct ui *ui, int narrower);

/** Rank, from 0, that a place of the rank axis stands for. */
double ui_rank_at(const struct ui *ui, double place);

const char *ui_objective_name(enum remap_objective objective);

/** The chosen time of a search for a mapping. */
unsigned ui_remap_seconds(const struct ui *ui);

#endif
