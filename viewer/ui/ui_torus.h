/* Choices about the torus view, and its loads: one panel for the present state of the job and one
 * for each picture that was pinned or mapping that was given, all with one range of colours (Landge
 * et al., section 4.2 and Fig. 8). */
#ifndef HOLTER_VIEWER_UI_UI_TORUS_H
#define HOLTER_VIEWER_UI_UI_TORUS_H

#include "viewer/model/range.h"

#include "viewer/layout/scene.h"

#include "viewer/ui/camera.h"
#include "viewer/ui/ui_command.h"

#define TORUS_PANELS 13 /**< the present and twelve more */

enum torus_figure { TORUS_BYTES, TORUS_MESSAGES, TORUS_MEASURED, TORUS_FIGURES };

/** What is shown of the links that coincide because they differ in hidden dimensions only. */
enum torus_fold { TORUS_LARGEST, TORUS_MEAN, TORUS_SUM, TORUS_FOLDS };

/** What nodes are coloured by. */
enum torus_paint { TORUS_RANKS, TORUS_DEGREE, TORUS_TRANSIT, TORUS_PAINTS };

/** Loads of a network under one mapping. */
struct torus_panel {
    char title[64], note[96]; /**< its subject; its time, or an amount */
    uint64_t *loads;          /**< owned; by link */
    uint64_t *before; /**< owned; likewise, in reality; NULL: no difference from it is shown */
    uint32_t link_count;
    uint32_t *seats; /**< owned; node by rank, TOPOLOGY_NONE: none */
    uint32_t seat_count;
    uint64_t shape;   /**< hash of its network: only panels of the shown network are shown */
    uint64_t largest; /**< load */
    double total;     /**< of all links */
    int mapping;      /**< 1: placements were given; loads follow the present messages */
    uint32_t slices;  /**< of the present: coordinates of a hidden dimension; 0: all are shown */
    uint32_t slice_of, slice_at; /**< that dimension, and the coordinate whose links are shown */
    enum torus_figure figure;
    uint8_t packets;
    uint64_t key;     /**< hash of the inputs of the loads */
    uint64_t version; /**< incremented when they changed; unique among all panels */
};

enum torus_drag { TORUS_PAN = 1, TORUS_TURN, TORUS_BOX, TORUS_LINK_BOX };

/** What is animated. */
enum torus_playing { TORUS_STILL, TORUS_WINDOWS, TORUS_REGIONS };

struct torus_choice {
    int chosen;        /**< 0: the largest three dimensions and the hottest are shown */
    uint32_t shown[3]; /**< dimensions */
    uint32_t slice[TOPOLOGY_DIMENSIONS]; /**< of a hidden dimension: coordinate + 1, 0: all */
    uint32_t
        hottest; /**< dimension with much fuller links than others + 1, shown by default; 0: none */
    int view;    /**< index of the shown dimension along which the projection looks */
    int view_chosen;  /**< 0: the direction in which the picture fills its panel best */
    unsigned hidden;  /**< dimensions whose links are not drawn, bits */
    double low, high; /**< ends of the colours, as shares of the largest load */
    int handle;       /**< end that is dragged: 0 low, 1 high */
    enum torus_figure figure;
    int figure_chosen; /**< 0: chosen by the available data */
    enum torus_paint paint;
    enum torus_fold fold;
    struct camera plane;        /**< of the projection, in its lengths */
    struct camera space;        /**< of the grid in space, in its radii */
    int panel;                  /**< the enlarged one */
    int grid;                   /**< the projections of all panels side by side */
    int menu;                   /**< the menu of communicators and code regions is open */
    uint32_t comm, region;      /**< index + 1 in the model, 0: all */
    enum torus_playing playing; /**< the running animation */
    uint64_t played_ms;         /**< time of its last step */
    enum torus_drag drag;       /**< what a drag does; 0: nothing in the torus */

    struct torus_panel panels[TORUS_PANELS]; /**< owned; 0 is the present */
    int panel_count;
    struct torus_panel second; /**< owned; the present of ui_second_network() */
    uint64_t versions;         /**< version given last to a panel */
};

struct ui;

void torus_init(struct torus_choice *torus);
void torus_finish(struct torus_choice *torus);

/** Dimensions that are shown: as chosen, or the largest three in their order, the hottest in place
 *  of the smallest of them; PROJECTION_NONE for none.
 *  @return how many; 0: there is no Cartesian network */
int torus_shown(const struct torus_choice *torus, const struct topology *topology, uint32_t out[3]);

/** The viewing direction in which the picture fills its panel best. */
int torus_view_by_shape(const struct torus_choice *torus, const struct topology *topology);

struct projection;

/** The projection of those dimensions, of the chosen slice, along one of them (0 to 2).
 *  @return 0 or -HOLTER_EUSAGE: there is no Cartesian network */
int torus_projection(const struct torus_choice *torus, const struct topology *topology, int view,
                     struct projection *out);

/** Updates the panels for the messages and measurements in the visible time, when view torus is
 *  visible. Call after ui_update_flows().
 *  @return 1 when a load changed, 0, or -ENOMEM */
int torus_update(struct ui *ui, const struct model *model, const struct range *range);

/** Add a panel for a mapping. @param seats  taken over, node by rank  @return 0, -ENOMEM,
 * -HOLTER_ELIMIT */
int torus_add_mapping(struct torus_choice *torus, const char *title, uint32_t *seats,
                      uint32_t seat_count);

/** Commands that begin with COMMAND_TORUS. */
int torus_command(struct ui *ui, const struct model *model, enum ui_command command,
                  uint64_t argument);

/** Advances the animation by a window when it is due. @return 1 when it did */
int torus_play(struct ui *ui, const struct model *model, uint64_t now_ms);

/** Mouse: a button was pressed; the mouse moved (@return 1: the torus has handled it); the button
 * was released after a drag. */
void torus_press(struct ui *ui, int shift, int ctrl);
int torus_move(struct ui *ui, double dx, double dy);
void torus_release(struct ui *ui, const struct model *model, const struct scene *scene);

/** The hidden dimension whose coordinates can be shown side by side: the largest for which there
 * are enough panels; PROJECTION_NONE: there is none. */
uint32_t torus_sliced_dimension(const struct torus_choice *torus, const struct topology *topology);

/** Shows each coordinate of that dimension in a panel of its own, or, if they are shown, none. */
void torus_toggle_slices(struct ui *ui, const struct model *model);

/** Pins the present picture as a panel; removes a panel. */
void torus_pin(struct ui *ui, const struct model *model);
void torus_unpin(struct torus_choice *torus, uint64_t which);

/** Moves the nearer end of the colours, or the one being dragged, to the position of the mouse. */
void torus_take_colour(struct torus_choice *torus, const struct scene_hit *hit, double x);

#endif
