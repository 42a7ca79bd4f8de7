/* Choices about the graph of the network: which nodes are grouped, which groups are open, the
 * visible part, and the lasso being drawn (Visuco, sections 4.2 and 6.1). A vertex is drawn alone
 * or as a part of a group: nodes with the same coordinates in the chosen dimensions, or, where
 * there are none, below the same switch. Memory: 8 bytes a vertex. */
#ifndef HOLTER_VIEWER_UI_UI_NETWORK_GRAPH_H
#define HOLTER_VIEWER_UI_UI_NETWORK_GRAPH_H

#include "viewer/layout/scene.h"
#include "viewer/model/flows.h"

#include "viewer/ui/camera.h"
#include "viewer/ui/ui_command.h"
#define NETWORK_LASSO 512u /**< maximum of points of a lasso */
#define NETWORK_OPEN 256u  /**< maximum of groups open at once */
/** Groups are formed if more vertices are in use, unless the user has chosen otherwise. */
#define NETWORK_SINGLE 1024u
#define NETWORK_FULL 8192u    /**< more vertices are never drawn individually */
#define NETWORK_TOGETHER 128u /**< maximum of groups formed in that case */
#define NETWORK_ALONE UINT32_MAX

/** What a drag does. */
enum network_tool { NETWORK_PAN, NETWORK_WITHIN, NETWORK_CROSSING, NETWORK_TOOLS };

/** What the size of a circle stands for. */
enum network_size { NETWORK_MESSAGES, NETWORK_PARTNERS, NETWORK_SIZES };

struct network_graph {
    struct camera camera;
    enum network_tool tool;
    enum network_size size;

    int chosen;     /**< 0: grouped automatically if there are many */
    unsigned kept;  /**< dimensions whose coordinates distinguish groups, as bits; 0: no groups */
    uint32_t level; /**< without dimensions: level of the switches above the nodes that form a
                       group; 0: none */
    uint32_t open[NETWORK_OPEN]; /**< groups whose vertices are drawn individually, ascending */
    uint32_t open_count;

    uint32_t *group_of; /**< owned; by vertex, NETWORK_ALONE: drawn individually */
    uint32_t vertex_count;
    uint32_t groups;                /**< one more than the highest number of a group */
    unsigned applied;               /**< dimensions and level in effect */
    uint32_t applied_level, levels; /**< levels that could be chosen */
    uint64_t version;               /**< incremented when one of group_of changed */
    uint64_t key;                   /**< hash of the inputs that they were computed from */

    struct point lasso[NETWORK_LASSO]; /**< logical pixels of the window */
    uint32_t lasso_count;
    enum network_tool drawing; /**< the lasso that is being drawn; NETWORK_PAN: none */
};

struct ui;

void network_graph_init(struct network_graph *graph);
void network_graph_finish(struct network_graph *graph);

/** Updates the groups. Call after flows_update().
 *  @param beside  of a second network on the same scale: where one is grouped because of its size
 *                 so is the other, unless it is small; NULL: there is none
 *  @return 1 when they changed, 0, or -ENOMEM */
int network_graph_update(struct network_graph *graph, const struct model *model,
                         const struct flows *flows, const struct flows *beside);

/** Commands that begin with COMMAND_NET. */
int network_graph_command(struct ui *ui, const struct model *model, enum ui_command command,
                          uint64_t argument);

/** Mouse: a button was pressed; the mouse moved (@return 1: the graph has handled it); the button
 * was released. */
void network_graph_press(struct ui *ui, int shift, int ctrl);
int network_graph_drag(struct ui *ui, double dx, double dy);
void network_graph_release(struct ui *ui, const struct model *model, const struct scene *scene,
                           int dragged);

/** Closes the open groups, or shows the whole graph. */
void network_graph_escape(struct ui *ui);

#endif
