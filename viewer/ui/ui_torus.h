/* What the user has chosen to see of a torus, and the loads in sight: one panel of the job as it is
 * now and one for each picture that was pinned, or mapping that was given, all under one range of
 * colours (Landge et al., section 4.2 and Fig. 8). */
#ifndef HOLTER_VIEWER_UI_UI_TORUS_H
#define HOLTER_VIEWER_UI_UI_TORUS_H

#include "viewer/model/range.h"

#include "viewer/layout/scene.h"

#include "viewer/ui/ui_command.h"
#define TORUS_PANELS 13 /**< the present and twelve more */

enum torus_figure { TORUS_BYTES, TORUS_MESSAGES, TORUS_MEASURED, TORUS_FIGURES };

/** What nodes are coloured by. */
enum torus_paint { TORUS_RANKS, TORUS_DEGREE, TORUS_TRANSIT, TORUS_PAINTS };

/** Loads of a network under one mapping. */
struct torus_panel {
    char title[64], note[96]; /**< what it is of; when, or how much */
    uint64_t *loads;          /**< owned; by link */
    uint32_t link_count;
    uint32_t *seats; /**< owned; node by rank, TOPOLOGY_NONE: none */
    uint32_t seat_count;
    uint64_t shape;   /**< of the network it belongs to: only panels of the same one are shown */
    uint64_t largest; /**< load */
    double total;     /**< of all links */
    int mapping;      /**< 1: seats were given; loads follow what is sent now */
    enum torus_figure figure;
    uint8_t packets;
    uint64_t key;     /**< what loads were computed from */
    uint64_t version; /**< raised when they changed; unique among all panels */
};

enum torus_drag { TORUS_PAN = 1, TORUS_TURN, TORUS_BOX, TORUS_LINK_BOX };

/** What goes by while it plays. */
enum torus_playing { TORUS_STILL, TORUS_WINDOWS, TORUS_REGIONS };

struct torus_choice {
    int chosen;                          /**< 0: the largest three dimensions are shown */
    uint32_t shown[3];                   /**< dimensions */
    uint32_t slice[TOPOLOGY_DIMENSIONS]; /**< of a dimension that is not: coordinate + 1, 0: all */
    int view;                            /**< which of the three is looked along */
    unsigned hidden;                     /**< dimensions whose links are not drawn, bits */
    double low, high;                    /**< ends of the colours, as parts of the largest load */
    int handle;                          /**< that is moved: 0 low, 1 high */
    enum torus_figure figure;
    int figure_chosen; /**< 0: what there is */
    enum torus_paint paint;
    double x, y, zoom; /**< of the projection: middle, in its lengths; 1: all of it */
    double yaw, pitch; /**< of the grid in space */
    double space_x, space_y, space_zoom; /**< in its radii */
    int panel;                           /**< that is seen large */
    int grid;                            /**< the projections of all panels side by side */
    int menu;                            /**< the choice of communicator and region is open */
    uint32_t comm, region;               /**< number + 1 in the model, 0: all */
    enum torus_playing playing;          /**< windows go by */
    uint64_t played_ms;                  /**< when the last one did */
    enum torus_drag drag;                /**< what a drag does; 0: nothing of the torus */

    struct torus_panel panels[TORUS_PANELS]; /**< owned; 0 is the present */
    int panel_count;
    uint64_t versions; /**< of panels that were given so far */
};

struct ui;

void torus_init(struct torus_choice *torus);
void torus_finish(struct torus_choice *torus);

/** Dimensions that are seen: as chosen, or the largest three in their order; PROJECTION_NONE for
 * none.
 *  @return how many; 0: there is no Cartesian network */
int torus_shown(const struct torus_choice *torus, const struct topology *topology, uint32_t out[3]);

struct projection;

/** The projection of those dimensions, of the chosen slice, along one of them (0 to 2).
 *  @return 0 or -HOLTER_EUSAGE: there is no Cartesian network */
int torus_projection(const struct torus_choice *torus, const struct topology *topology, int view,
                     struct projection *out);

/** Bring the panels up to what is sent and measured in the visible time, when view torus is in
 * sight. After ui_update_flows().
 *  @return 1 when a load changed, 0, or -ENOMEM */
int torus_update(struct ui *ui, const struct model *model, const struct range *range);

/** Add a panel for a mapping. @param seats  taken over, node by rank  @return 0, -ENOMEM,
 * -HOLTER_ELIMIT */
int torus_add_mapping(struct torus_choice *torus, const char *title, uint32_t *seats,
                      uint32_t seat_count);

/** Read a plain mapping: lines "rank node"; empty ones and those that begin with # count for
 * nothing.
 *  @param text  ends with 0   @param out  owned by the caller; set on success
 *  @return 0, -ENOMEM, or -HOLTER_EUSAGE: why says which line is wrong */
int torus_read_mapping(const char *text, uint32_t **out, uint32_t *count, char *why,
                       size_t capacity);

/** Commands that begin with COMMAND_TORUS. */
int torus_command(struct ui *ui, const struct model *model, enum ui_command command,
                  uint64_t argument);

/** Let a window go by when it is time. @return 1 when one did */
int torus_play(struct ui *ui, const struct model *model, uint64_t now_ms);

/** Mouse: a button went down on something of the torus; it is moved; it is released after a drag;
 * the wheel.
 *  @return 1: it was the torus' business */
int torus_press(struct ui *ui, const struct scene *scene, int shift, int ctrl);
int torus_move(struct ui *ui, double dx, double dy);
int torus_release(struct ui *ui, const struct model *model, const struct scene *scene);
int torus_wheel(struct ui *ui, const struct scene *scene, double x, double y, double factor);

/** Keep the present picture as a panel; take a panel away. */
void torus_pin(struct ui *ui, const struct model *model);
void torus_unpin(struct torus_choice *torus, uint64_t which);

/** A letter, when view torus is in sight. @return 1: it was the torus' business */
int torus_key(struct ui *ui, const struct model *model, int key);

/** Keys: zoom both pictures around their middle; move the rings, in distances between stacks. */
void torus_zoom(struct ui *ui, double factor);
void torus_pan(struct ui *ui, double x, double y);

/** Move the nearer end of the colours, or the one that is held, to where the mouse is. */
void torus_take_colour(struct torus_choice *torus, const struct scene_hit *hit, double x);

#endif
