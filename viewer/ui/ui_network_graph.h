/* What the user has chosen to see of the network as a graph: which nodes are put together, which of
 * those are open, how much of it is in sight, and the lasso being drawn (Visuco, sections 4.2
 * and 6.1).
 *
 * A vertex is drawn alone or as a part of a group: nodes with the same coordinates in the chosen
 * dimensions, or, where there are none, below the same switch. Memory: 8 bytes a vertex. */
#ifndef HOLTER_VIEWER_UI_UI_NETWORK_GRAPH_H
#define HOLTER_VIEWER_UI_UI_NETWORK_GRAPH_H

#include "viewer/layout/scene.h"
#include "viewer/model/flows.h"

#include "viewer/ui/ui_command.h"
#define NETWORK_LASSO 512u /**< points of a lasso */
#define NETWORK_OPEN 256u  /**< groups that can be open at once */
#define NETWORK_SINGLE                                                                             \
    1024u /**< of more vertices in use some are put together unless chosen otherwise */
#define NETWORK_FULL 8192u    /**< more are never drawn one by one */
#define NETWORK_TOGETHER 128u /**< groups that are made then, at most */
#define NETWORK_ALONE UINT32_MAX

/** What a drag does. */
enum network_tool { NETWORK_PAN, NETWORK_WITHIN, NETWORK_CROSSING, NETWORK_TOOLS };

/** What the size of a circle is. */
enum network_size { NETWORK_MESSAGES, NETWORK_PARTNERS, NETWORK_SIZES };

struct network_graph {
    double x, y,
        zoom; /**< middle of what is in sight, in places of the arrangement; 1: all of it */
    enum network_tool tool;
    enum network_size size;

    int chosen; /**< 0: put together where they are many */
    unsigned
        kept; /**< dimensions whose coordinates tell groups apart, bits; 0: nodes stand alone */
    uint32_t
        level; /**< without dimensions: switches above the nodes that stand for a group; 0: none */
    uint32_t open[NETWORK_OPEN]; /**< groups whose vertices are drawn one by one, rising */
    uint32_t open_count;

    uint32_t *group_of; /**< owned; by vertex, NETWORK_ALONE: drawn by itself */
    uint32_t vertex_count;
    uint32_t groups;   /**< one more than the highest number of a group */
    uint32_t together; /**< groups with a vertex in use, open or not; 0: all stand alone */
    unsigned applied;  /**< kept and level as they are in use */
    uint32_t applied_level, levels; /**< levels that could be chosen */
    uint64_t version;               /**< raised when one of group_of changed */
    uint64_t key;                   /**< what they were computed from */

    struct point lasso[NETWORK_LASSO]; /**< logical pixels of the window */
    uint32_t lasso_count;
    enum network_tool drawing; /**< the lasso that is being drawn; NETWORK_PAN: none */
};

struct ui;

void network_graph_init(struct network_graph *graph);
void network_graph_finish(struct network_graph *graph);

/** Bring the groups up to date. After flows_update(). @return 1 when they changed, 0, or -ENOMEM */
int network_graph_update(struct network_graph *graph, const struct model *model,
                         const struct flows *flows);

/** Is a group open? */
int network_graph_open(const struct network_graph *graph, uint32_t group);

/** Commands that begin with COMMAND_NET. */
int network_graph_command(struct ui *ui, const struct model *model, enum ui_command command,
                          uint64_t argument);

/** Mouse: a button went down in the graph; it moved; it was released after a drag.
 *  @return 1: it was the graph's business */
int network_graph_wheel(struct ui *ui, const struct scene *scene, double x, double y,
                        double factor);
int network_graph_press(struct ui *ui, const struct scene *scene, int shift, int ctrl);
int network_graph_drag(struct ui *ui, double dx, double dy);
int network_graph_release(struct ui *ui, const struct model *model, const struct scene *scene,
                          int dragged);

/** Keys. @return 1: it was one of the graph's */
int network_graph_letter(struct ui *ui, int key);
void network_graph_arrow(struct ui *ui, int right, int down, int far);

void network_graph_zoom(struct ui *ui, double factor, double x, double y);
void network_graph_pan(struct ui *ui, double dx, double dy);

/** Close what is open, or show all of it. */
void network_graph_escape(struct ui *ui);

#endif
