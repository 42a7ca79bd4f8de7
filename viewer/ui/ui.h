/* What the user has chosen to see: view, time, selection, zoom, theme. Inputs change it; layouts
 * read it.
 *
 * One selection and one span of time hold for all views. Nothing here knows SDL: inputs are plain
 * structs, and what lies under the mouse is looked up in the last scene. */
#ifndef HOLTER_VIEWER_UI_UI_H
#define HOLTER_VIEWER_UI_UI_H

#include "viewer/layout/scene.h"
#include "viewer/layout/theme.h"
#include "viewer/model/model.h"
#include "viewer/model/range.h"
#include "viewer/ui/ui_command.h"
#include "viewer/ui/ui_network_graph.h"
#include "viewer/ui/ui_torus.h"
#include "viewer/ui/ui_transport.h"

enum view_id {
    VIEW_LIVE,
    VIEW_COMMGRAM,
    VIEW_REGIONS,
    VIEW_ALERTS,
    VIEW_MATRIX,
    VIEW_PAIRS,
    VIEW_RANKS,
    VIEW_CALLS,
    VIEW_NODES,
    VIEW_CAPTURES,
    VIEW_JOBS,
    VIEW_LINKS, /**< it and those behind it are of the network */
    VIEW_NETWORK,
    VIEW_TORUS,
    VIEW_ROUTES,
    VIEWS
};

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
    LIST_CAPTURE, /**< threads of a capture */
    UI_LISTS
};

/** What a mapping is to make small, as request "remap" has it. */
enum remap_objective { REMAP_HOP_BYTES, REMAP_MAX_LINK, REMAP_INTER_NODE, REMAP_OBJECTIVES };

/** What the calls are added up by. */
enum call_group { GROUP_CALL, GROUP_COMM, GROUP_REGION, GROUP_NONE };

/** What the ranks in the graph of regions are coloured by. */
enum graph_colour { COLOUR_REGION, COLOUR_LATENCY };

enum select_kind {
    SELECT_NONE,
    SELECT_RANK,
    SELECT_PAIR,
    SELECT_NODE,
    SELECT_CALL,
    SELECT_REGION,
    SELECT_ALERT, /**< the ranks that carry it */
    SELECT_COMMUNITY,
    SELECT_LINK,   /**< of the network, with its routes and ranks */
    SELECT_ROUTE,  /**< from one vertex to another */
    SELECT_VERTEX, /**< node or switch of the network */
    SELECT_PLANE,  /**< of a Cartesian network: nodes with the same coordinate */
};

struct selection {
    enum select_kind kind;
    uint64_t a, b; /**< rank; source and destination; index of host; number of call; id; identity of
                      a community and a column that shows it; link; two vertices; vertex; dimension
                      and coordinate */
};

/** Where Backspace leads back to. */
struct ui_place {
    enum view_id view;
    struct selection selection;
    double matrix_row, matrix_column, matrix_extent;
    uint64_t graph_open;
    int level;
};

#define UI_PLACES 32

/** What was in sight before a phase or a bar of the CommGram was opened. */
struct ui_level {
    int follow;
    int64_t span_ns, end_ns;
    char opened[COMMGRAM_LIST];
};

#define UI_LEVELS 8
#define UI_MAXIMUM_PHASES 256u /**< that can be asked for */

struct input;

/** How the connection stands, for the header; set by whoever holds it. */
struct ui_connection {
    int state;       /**< enum client_state */
    uint64_t missed; /**< frames that never came */
    char endpoint[256];
    char error[256];
};

struct ui {
    double w, h;  /**< of the window, logical pixels */
    double scale; /**< device pixels per logical pixel */
    enum theme_kind theme;
    enum view_id view;
    struct selection selection;
    struct ui_place places[UI_PLACES];
    int place_count;
    int jobs_first; /**< the list of jobs stands in front until a job is chosen */

    /* time */
    int follow;
    int64_t span_ns; /**< length of the visible time that was asked for */
    int64_t end_ns;  /**< its end, daemon time, when not following */
    enum range_kind range;
    int64_t moved_from_ns, moved_to_ns; /**< right edge while it glides */
    uint64_t move_start_ms;
    int moving;

    enum pair_column quantity;
    double matrix_row, matrix_column; /**< first source and destination that are visible */
    double matrix_extent;             /**< ranks from edge to edge; 0: all */
    enum call_group group;

    enum graph_colour colour;
    double graph_x, graph_y; /**< middle of what is in sight, in the graph's own places */
    double graph_zoom;       /**< 1: all of it */
    uint64_t graph_open;     /**< region whose ranks are seen one by one; 0: none */
    int compress;            /**< evolution: time that does not matter is compressed */
    int alert_picked;        /**< an alert was chosen, number alert */
    uint64_t alert;

    /* the CommGram */
    uint64_t phases, communities; /**< most columns, most bars in one */
    int unmodelled;               /**< 1: without what stands for collectives */
    double size_low, size_high;   /**< sizes that are drawn: binary logarithm of bytes */
    int size_handle;              /**< end of that range that is moved: 0 low, 1 high */
    char opened[COMMGRAM_LIST];   /**< ranks that the picture is of; "": all */
    struct ui_level levels[UI_LEVELS];
    int level;  /**< how many were opened, one within the other */
    int boxing; /**< a span of time is being marked */

    /* the network */
    struct flow_filter filter; /**< what its views leave out; owned */
    enum flow_metric metric;   /**< that is ranked, and that colours are of */
    int rank_log;              /**< ranks by their logarithm */
    double colour_low[METRICS], colour_high[METRICS]; /**< shares of the largest figure where the
                                                          colours begin and end */
    enum remap_objective objective;
    int only_selected; /**< only ranks of the selection may move */
    enum suggestion_kind discarded;
    unsigned applied;          /**< enum flow_applied: suggestions that the views show */
    const struct flows *flows; /**< borrowed from the sums by ui_update_flows(); NULL: none yet */
    uint8_t *picked_ranks;     /**< owned; 1 for each rank of the selection, picked_count of them */
    uint32_t picked_count;
    uint64_t picked_version; /**< raised when one of them changed */

    struct transport transport; /**< what is wanted of a replay */
    struct torus_choice torus;
    struct network_graph graph; /**< as view "network" draws it */

    /* the route matrix */
    uint8_t route_order[TOPOLOGY_DIMENSIONS]; /**< dimensions, the slowest first */
    uint32_t route_dimensions;                /**< of them; 0: as nodes are numbered */
    double routes_x, routes_y, routes_extent; /**< what is in sight, shares of the matrix; 0: all */
    int routes_fold; /**< level and 1 whose blocks without routes are folded; 0: none */
    int lens;        /**< 1: it follows the mouse */
    double lens_zoom;
    int route_loads;      /**< 1: links outlined by their load */
    uint32_t routes_most; /**< of the heaviest, when neither selection nor filter say which */

    /* captures */
    uint64_t capture;                         /**< that was chosen; 0: none */
    int64_t capture_begin_ns, capture_end_ns; /**< visible time; equal: all of it */
    int capture_rows;                         /**< 1: each rank can be read */

    double scroll[UI_LISTS]; /**< first visible row */
    int sort[UI_LISTS];      /**< column, or -1 */
    int descending[UI_LISTS];
    uint32_t cursor[UI_LISTS]; /**< row that the keys are on */
    int cursor_moved; /**< enum ui_list + 1 whose cursor's row is to be selected once it is laid out
                       */

    /* mouse */
    double mouse_x, mouse_y;  /**< negative: no mouse over the window */
    struct scene_hit pressed; /**< what the button went down on; kind HIT_NONE: it is up */
    struct scene_hit ground;  /**< the graph below it, which a drag moves; kind HIT_NONE: none */
    double press_x, press_y, last_x, last_y;
    int dragging;

    int help, drawer, searching;
    char search[64];
    char notice[160]; /**< one line for the user, as "picture saved"; "" for none */
    uint64_t notice_until_ms;

    char wanted_job[65]; /**< job that was chosen from the list */
    struct ui_connection connection;
};

/** What an input asks of the program. */
enum ui_effect {
    UI_CHANGED = 1, /**< lay out anew */
    UI_QUIT = 2,
    UI_PICTURE = 4,   /**< save a picture */
    UI_JOB = 8,       /**< follow wanted_job */
    UI_REMAP = 16,    /**< ask for a mapping: ui_remap_argument() */
    UI_REROUTE = 32,  /**< ask for routes: ui_reroute_argument() */
    UI_DISCARD = 64,  /**< forget the suggestions that are not applied */
    UI_MAPPING = 128, /**< save the suggested mapping */
};

void ui_init(struct ui *ui, double w, double h, double scale, enum theme_kind theme);

/** Free what it owns. */
void ui_finish(struct ui *ui);

/** Compute what the network carries in the visible time (range.flows), where the view or the
 * selection is of the network, and mark there what filter and selection mean. After range_update(),
 * before a layout. @return 1 when something changed, 0, -ENOMEM */
int ui_update_flows(struct ui *ui, const struct model *model, struct range *range);

/** Arguments of the requests "remap" and "reroute", for the selection. @return out; NULL: nothing
 * is selected that can be asked for */
char *ui_remap_argument(const struct ui *ui, const struct model *model, char *out, size_t room);

/** Commands about the network. @return enum ui_effect */
int ui_network_command(struct ui *ui, const struct model *model, enum ui_command command,
                       uint64_t argument);

/** The mouse over the figures by rank: a click selects, a drag from where the button went down
 * keeps the figures between, along the axis that it goes along most; in the legend it moves an end
 * of the colours. */
void ui_click_metric(struct ui *ui, const struct scene_hit *hit);
void ui_brush_metric(struct ui *ui, const struct scene_hit *hit);
void ui_move_colour(struct ui *ui, const struct scene_hit *hit);

/** Keep half as many of the largest figures, or twice as many. */
void ui_narrow_metric(struct ui *ui, int narrower);

/** Visible part of the route matrix, shares of its sides; zoom around a place and move it; keys of
 * its own (0: the key is none of them) and commands. @return enum ui_effect */
void ui_routes(const struct ui *ui, double *x, double *y, double *extent);
void ui_zoom_routes(struct ui *ui, const struct model *model, double factor, double x, double y);
void ui_pan_routes(struct ui *ui, double dx, double dy);
void ui_move_routes(struct ui *ui, int horizontal, int vertical, int far);
void ui_zoom_lens(struct ui *ui, double factor);
int ui_routes_key(struct ui *ui, const struct model *model, int key);
int ui_routes_command(struct ui *ui, const struct model *model, enum ui_command command,
                      uint64_t argument);

/** Rank, from 0, that a place of the rank axis stands for. */
double ui_rank_at(const struct ui *ui, double place);

const char *ui_objective_name(enum remap_objective objective);
char *ui_reroute_argument(const struct ui *ui, const struct model *model, char *out, size_t room);

/** Visible time, daemon time. Empty (both 0) without data. */
void ui_visible(const struct ui *ui, const struct model *model, int64_t *begin, int64_t *end);

/** Windows that are visible as a whole or in part. @return 0 when there are none */
int ui_windows(const struct ui *ui, const struct model *model, uint64_t *first, uint64_t *last);

/** The job's time so far, from its first window to its newest. */
void ui_whole_time(const struct model *model, int64_t *begin, int64_t *end);

/** Begin to glide to the newest data, if it moved on. Call after messages came. @return 1 when
 * something moves */
int ui_follow_data(struct ui *ui, const struct model *model, uint64_t now_ms);

/** Advance what moves. @return 1 while it does */
int ui_tick(struct ui *ui, uint64_t now_ms);

/** Select, remembering where we were. */
void ui_select(struct ui *ui, struct selection selection);

/** What such a text selects, "rank:3": a rank, pair, link, route or vertex. SELECT_NONE: it is
 * none. */
enum select_kind ui_select_kind(const char *text);

/** Find what the text names: "rank:3", "pair:3-4", and by names of vertices "link:(0,0)-(0,1)",
 * "route:a-b", "vertex:a".
 *  @return 0, -HOLTER_EUSAGE, or -HOLTER_EMISSING: there is none such, or none such yet */
int ui_select_find(const struct model *model, const char *text, struct selection *out);

/** Remember where we are, for Backspace. */
void ui_remember(struct ui *ui);

/** Go to a view, remembering where we were. */
void ui_go(struct ui *ui, enum view_id view);

/** Follow the job of a row of the list; what belonged to the one before is let go. @return enum
 * ui_effect */
int ui_choose_job(struct ui *ui, const struct model *model, uint64_t row);

/** Choose an alert: what it is about is selected, and the visible time holds its onset. */
void ui_pick_alert(struct ui *ui, const struct model *model, uint64_t id);

/** Does the selection hold a rank, alone or among others? */
int ui_marks_rank(const struct ui *ui, const struct model *model, uint32_t rank);

/** The capture that is seen: the one chosen, else that of the alert that was picked, else the
 * newest. NULL: none. */
const struct capture *ui_capture(const struct ui *ui, const struct model *model);

/** Its visible time. */
void ui_capture_span(const struct ui *ui, const struct capture *capture, int64_t *begin,
                     int64_t *end);

/** Commands, keys (0: the key is none of them), arrows and the mouse in the view of captures. */
int ui_capture_command(struct ui *ui, const struct model *model, enum ui_command command,
                       uint64_t argument);
int ui_capture_key(struct ui *ui, const struct model *model, int key);
int ui_capture_arrow(struct ui *ui, const struct model *model, int horizontal, int far);
void ui_capture_drag(struct ui *ui, const struct model *model, const struct scene_hit *hit,
                     double dx, double dy);
void ui_capture_wheel(struct ui *ui, const struct model *model, const struct scene_hit *hit,
                      const struct input *in);
void ui_capture_click(struct ui *ui, const struct model *model, const struct scene_hit *hit);

/** Zoom and move the graph of regions; x and y are places in it. */
void ui_zoom_graph(struct ui *ui, double factor, double x, double y);
void ui_pan_graph(struct ui *ui, double dx, double dy);

/** The whole graph in sight. */
void ui_graph_home(struct ui *ui);

/** Is it selected? A pair's ends count as selected ranks. */
int ui_rank_selected(const struct ui *ui, uint64_t rank);
int ui_pair_selected(const struct ui *ui, uint64_t source, uint64_t destination);

/** Zoom the visible time by a factor around a point of it. */
void ui_zoom_time(struct ui *ui, const struct model *model, double factor, int64_t around_ns);

/** Hold the visible time where it is. */
void ui_pause_time(struct ui *ui, const struct model *model);

/** Show enough windows for a view that draws them one by one; other views may show less. */
void ui_widen_to_windows(struct ui *ui, const struct model *model);

/** Move the visible time. */
void ui_pan_time(struct ui *ui, const struct model *model, int64_t by_ns);

/** Zoom the matrix around a source and destination; clamp it to the job's ranks. */
void ui_zoom_matrix(struct ui *ui, const struct model *model, double factor, double column,
                    double row);
void ui_pan_matrix(struct ui *ui, const struct model *model, double columns, double rows);

/** Visible part of the matrix. */
void ui_matrix(const struct ui *ui, const struct model *model, double *column, double *row,
               double *extent);

/** Sizes beyond any message, and none. */
#define UI_SIZE_MINIMUM 0.0
#define UI_SIZE_MAXIMUM 64.0

/** The picture that the CommGram needs, from visible time, detail and selection.
 *  @return 1; 2 when the selected ranks are too many to be named, then it is of all; 0: nothing can
 *          be asked for */
int ui_commgram_wish(const struct ui *ui, const struct model *model, struct commgram_request *out);

/** Open a span of time, or ranks (NULL: as before), remembering where we were. */
void ui_open(struct ui *ui, const struct model *model, int64_t begin, int64_t end,
             const char *ranks);

/** Open the ranks of a bar of the picture. */
void ui_open_bar(struct ui *ui, const struct model *model, uint64_t column, uint64_t bar);

/** The mouse in the CommGram: a click on a bar, a drag in the legend of sizes, and a span of time
 * that was marked from where the button went down. */
void ui_click_bar(struct ui *ui, const struct model *model, const struct scene_hit *hit,
                  int clicks);
void ui_move_size(struct ui *ui, const struct scene_hit *hit);
void ui_open_marked(struct ui *ui, const struct model *model, const struct scene *scene,
                    const struct scene_hit *pressed);

/** Go back to a level of the path. */
void ui_close_to(struct ui *ui, int level);

/** Commands about the CommGram. */
int ui_commgram_command(struct ui *ui, const struct model *model, enum ui_command command,
                        uint64_t argument);

/** Show a span of time, within what the job has. */
void ui_show_span(struct ui *ui, const struct model *model, int64_t begin, int64_t end);

/** A time as users give it: seconds since the job's start, or, when negative, before its newest
 * data. @return daemon time */
int64_t ui_time_of(const struct model *model, double seconds);

/** Visible time without the glide: what is computed is of whole windows. @return 0: no data */
int ui_settled_time(const struct ui *ui, const struct model *model, int64_t *begin, int64_t *end);

/** Ranks or nodes that a search text names: a number, or a part of a host's name.
 *  @param out  room for max selections   @return how many were found, at most max */
int ui_search(const struct model *model, const char *text, struct selection *out, int max);

#endif
