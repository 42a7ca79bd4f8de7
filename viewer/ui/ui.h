/* What the user has chosen to see: view, time, selection, zoom, theme. Inputs change it; layouts
 * read it.
 * One selection and one span of time apply to all views. Nothing here depends on SDL: inputs are
 * plain structs, and the item under the mouse is looked up in the last scene. */
#ifndef HOLTER_VIEWER_UI_UI_H
#define HOLTER_VIEWER_UI_UI_H

#include "viewer/layout/scene.h"
#include "viewer/layout/theme.h"
#include "viewer/model/model.h"
#include "viewer/model/range.h"
#include "viewer/places/place.h"
#include "viewer/ui/ui_alert.h"
#include "viewer/ui/ui_captures.h"
#include "viewer/ui/ui_command.h"
#include "viewer/ui/ui_commgram.h"
#include "viewer/ui/ui_dependencies.h"
#include "viewer/ui/ui_landscape.h"
#include "viewer/ui/ui_network.h"
#include "viewer/ui/ui_network_graph.h"
#include "viewer/ui/ui_routes.h"
#include "viewer/ui/ui_time.h"
#include "viewer/ui/ui_torus.h"
#include "viewer/ui/ui_transport.h"

#include <stdint.h>

struct ui;

enum ui_list {
    LIST_PAIRS,
    LIST_RANKS,
    LIST_CALLS,
    LIST_NODES,
    LIST_JOBS,
    LIST_FOUND,
    LIST_ALERTS,
    LIST_SERIES, /**< regions in the evolution strip */
    LIST_LINKS,
    LIST_CAPTURE,    /**< threads of a capture */
    LIST_DEPENDENCY, /**< lanes of the graph of dependencies */
    LIST_EVENTS,     /**< functions or code regions of the landscape */
    LIST_LANDSCAPE,  /**< its ranks */
    UI_LISTS
};

/** State of the lists, by enum ui_list. */
struct ui_list_state {
    double scroll[UI_LISTS]; /**< first visible row */
    int sort[UI_LISTS];      /**< column, or -1 */
    int descending[UI_LISTS];
    uint32_t cursor[UI_LISTS]; /**< row at the keyboard cursor */
    int cursor_moved; /**< enum ui_list + 1 whose row at the cursor is to be selected once it is
                         laid out */
    int cursor_alone; /**< enum ui_list + 1 whose cursor is at a row that selects nothing */
};

/** The mouse; positions are logical pixels. */
struct ui_mouse_state {
    double x, y;              /**< negative: the mouse is outside the window */
    struct scene_hit pressed; /**< what the button was pressed on; kind HIT_NONE: it is released */
    struct scene_hit ground;  /**< the graph below that, which a drag moves; kind HIT_NONE: none */
    double press_x, press_y, last_x, last_y;
    int dragging;
    int marking; /**< a drag marks a span of time */
};

/** Which overlays are open. */
struct ui_overlay_state {
    int help, drawer, searching;
    int first_run; /**< the overview explains itself until the user has understood */
    char search[64];
    char notice[160]; /**< one line for the user, such as "picture saved"; "": none */
    uint64_t notice_until_ms;
};

/** The button that the key Enter presses. */
struct ui_focus {
    int on;
    uint64_t command, argument; /**< of the button */
};

/** The visible part of the matrix, in ranks. */
struct ui_matrix_choice {
    double row, column; /**< first source and destination that are visible */
    double extent;      /**< ranks from edge to edge; 0: all */
};

/** Zoom the matrix around a source and destination; clamp it to the job's ranks. */
void ui_zoom_matrix(struct ui *ui, const struct model *model, double factor, double column,
                    double row);
void ui_pan_matrix(struct ui *ui, const struct model *model, double columns, double rows);

/** Visible part of the matrix. */
void ui_matrix(const struct ui *ui, const struct model *model, double *column, double *row,
               double *extent);

/** What the ranks in the graph of regions are coloured by. */
enum graph_colour { COLOUR_REGION, COLOUR_LATENCY };

/** Choices about the graph of rank regions. */
struct ui_regions_choice {
    enum graph_colour colour;
    struct camera camera;
    uint64_t open; /**< region whose ranks are drawn individually; 0: none */
};

/** What is saved of the window: what is seen, the text of its scene, or a page to print. */
enum ui_picture { PICTURE_SEEN, PICTURE_TEXT, PICTURE_PAGE, UI_PICTURES };

/** What calls are grouped by. */
enum call_group { GROUP_CALL, GROUP_COMM, GROUP_REGION, GROUP_NONE };

/** State of the connection, for the header; set by the owner of the connection. */
struct ui_connection {
    int state;       /**< enum client_state */
    uint64_t missed; /**< frames that were lost */
    char endpoint[256];
    char error[256];
};

/** All choices of the user: one struct for each concern, declared in that struct's header. */
struct ui {
    double w, h;  /**< of the window, logical pixels */
    double scale; /**< device pixels per logical pixel */
    enum theme_kind theme;
    enum view_id view;
    enum view_id room_last[ROOMS]; /**< place that was seen last in each room */
    struct selection selection;
    struct history_of_places places;
    struct ui_focus focus;
    int jobs_first; /**< the list of jobs covers the views until a job is chosen */
    enum pair_column quantity;
    enum call_group group;
    int compress;     /**< evolution: steady stretches of time are compressed */
    int alert_picked; /**< an alert was chosen, number alert */
    uint64_t alert;
    struct transport transport; /**< requests to a replay that were not answered yet */
    struct torus_choice torus;
    struct landscape_choice landscape;
    struct network_graph graph;        /**< as view "network" draws it */
    struct network_graph second_graph; /**< likewise of ui_second_network(), by the same choices */
    char wanted_job[65];               /**< job that was chosen from the list */
    char job[65];                      /**< that the choices are about; "": none yet */
    char wanted_daemon[257]; /**< endpoint of the daemon that has it; "": the one that is connected
                              */
    struct ui_connection connection;

    struct ui_time_choice time;
    struct ui_matrix_choice matrix;
    struct ui_regions_choice regions;
    struct ui_commgram_choice commgram;
    enum ui_picture picture; /**< UI_PICTURE: what is saved */
    int copy_is_csv;         /**< UI_COPY_ROWS: as csv, not as aligned text */
    struct ui_network_choice network;
    struct ui_routes_choice routes;
    struct ui_capture_choice capture;
    struct ui_dependencies_choice dependencies;
    struct ui_list_state list;
    struct ui_mouse_state mouse;
    struct ui_overlay_state overlay;
};

/** What the program has to do after an input. */
enum ui_effect {
    UI_CHANGED = 1, /**< lay out the scene again */
    UI_QUIT = 2,
    UI_PICTURE = 4,       /**< save a picture */
    UI_JOB = 8,           /**< follow wanted_job */
    UI_REMAP = 16,        /**< request a mapping: ui_question_make() */
    UI_REROUTE = 32,      /**< request routes: ui_question_make() */
    UI_DISCARD = 64,      /**< drop an answer; steps of the what-if remain */
    UI_MAPPING = 128,     /**< save the mapping of the what-if, or the suggested one */
    UI_CAPTURE = 256,     /**< request a capture: ui_capture_argument() */
    UI_UNDERSTOOD = 1024, /**< the explanation of the first run is not shown any more */
    UI_COPY = 512,        /**< copy the address of what is seen: ui_address() */
    UI_COPY_ROWS = 2048,  /**< copy the rows in sight, or those selected */
};

void ui_init(struct ui *ui, double w, double h, double scale, enum theme_kind theme);

/** Free what it owns. */
void ui_finish(struct ui *ui);

/** Selects, and stores the previous choices for the way back. */
void ui_select(struct ui *ui, struct selection selection);

/** Kind of selection that a text such as "rank:3" names: a rank, pair, node, region, call, link,
 *  route or vertex. SELECT_NONE: none of these. */
enum select_kind ui_select_kind(const char *text);

/** Finds what a text names: "rank:3", "pair:3-4", and by names of vertices "link:(0,0)-(0,1)",
 *  "route:a-b", "vertex:a".
 *  @return 0, -HOLTER_EUSAGE, or -HOLTER_EMISSING: it does not exist, or is not known yet */
int ui_select_find(const struct model *model, const char *text, struct selection *out);

/** The text that names a selection; "" for those that have none, such as communities. @return out
 */
char *ui_select_text(const struct model *model, const struct selection *selection, char *out,
                     size_t capacity);

/** Stores the present choices for the way back. */
void ui_remember(struct ui *ui);

/** Changes to a view, and stores the previous choices for the way back. */
void ui_go(struct ui *ui, enum view_id view);

/** Goes back to the place before, or forward again. @return UI_CHANGED, or 0: there is none */
int ui_step_place(struct ui *ui, int forward);

/** Follow the job of a row of the list; choices about the previous job are reset. @return enum
 * ui_effect */
int ui_choose_job(struct ui *ui, const struct model *model, uint64_t row);

/** To be called after messages were applied: when they are of another job than before, which has
 *  begun meanwhile, choices about the previous one are reset. @return 1 when they were */
int ui_notice_job(struct ui *ui, const struct model *model);

/** Chooses an alert: its ranks are selected, and the visible time contains its onset. */
void ui_pick_alert(struct ui *ui, const struct model *model, uint64_t id);

/** Whether the selection contains a rank, alone or among others. */
int ui_marks_rank(const struct ui *ui, const struct model *model, uint32_t rank);

/** Whether a node is selected, or the chosen alert is about it. */
int ui_marks_node(const struct ui *ui, const struct model *model, uint64_t host);

/** The ranks that the selection contains, as "3,8-11". @return 0: they do not fit */
int ui_marked_ranks(const struct ui *ui, const struct model *model, char *out, size_t capacity);

/** Whether a rank is selected. A pair's ends count as selected ranks. */
int ui_rank_selected(const struct ui *ui, uint64_t rank);

/** Whether a row of ranks is selected, or one of its ranks. @param first  under which the row is */
int ui_row_selected(const struct ui *ui, const struct model *model, uint64_t first);
int ui_pair_selected(const struct ui *ui, uint64_t source, uint64_t destination);

/** Whether two kinds of call, by their numbers in the model, are summed in one row. */
int ui_calls_together(const struct model *model, enum call_group by, uint64_t a, uint64_t b);

/** Whether the row in which calls are summed by that is selected. */
int ui_calls_selected(const struct ui *ui, const struct model *model, enum call_group by,
                      uint64_t number);

/** Ranks, alerts, nodes, calls and links that a search text names: a number, or a part of a name or
 * title.
 *  @param out  room for max selections   @return how many were found, at most max */
int ui_search(const struct model *model, const char *text, struct selection *out, int max);

/** Selects what was found; an alert is chosen. */
void ui_choose_found(struct ui *ui, const struct model *model, struct selection found);

/** Sorts a list by a column; the same column again reverses the order. */
void ui_sort_list(struct ui *ui, uint64_t list, uint64_t column);

/** Scrolls the list that a HIT_LIST belongs to. */
void ui_scroll_list(struct ui *ui, const struct scene_hit *hit, double rows);

/** Area (HIT_LIST) of a list. @return NULL: it is not in sight */
const struct scene_hit *ui_list_area(const struct scene *scene, enum ui_list list);

/** Area of the list to copy: the one under the mouse, else that of the view, else any
 * that is in sight. @return NULL: there is none */
const struct scene_hit *ui_list_in_sight(const struct ui *ui, const struct scene *scene);

/** Moves the cursor of the view's list by rows and keeps it visible. @return UI_CHANGED, or 0:
 * there is none */
int ui_step_list(struct ui *ui, const struct scene *scene, double rows);

#endif
