/* The commands of the viewer: what buttons and keys request, and the one function that executes a
 * command: see ui_command.c. */
#ifndef HOLTER_VIEWER_UI_UI_COMMAND_H
#define HOLTER_VIEWER_UI_UI_COMMAND_H

#include <stdint.h>

struct ui;
struct model;

/** What a button or a key requests. Most commands take one argument. */
enum ui_command {
    COMMAND_VIEW,       /**< argument: enum view_id */
    COMMAND_ROOM,       /**< argument: enum room_id; opens its last place */
    COMMAND_BACK,       /**< argument: 0 back to the place before, 1 forward again */
    COMMAND_COPY,       /**< copy the address of what is seen */
    COMMAND_COPY_ROWS,  /**< copy the rows in sight; argument: 1: as csv */
    COMMAND_UNDERSTOOD, /**< no further explanation of the overview */
    COMMAND_PAUSE,      /**< stop following time, or follow again */
    COMMAND_FOLLOW,     /**< newest data at the right edge */
    COMMAND_THEME,
    COMMAND_HELP,
    COMMAND_DRAWER,   /**< the context column, where it is collapsed */
    COMMAND_QUANTITY, /**< argument: enum pair_column */
    COMMAND_RANGE,    /**< argument: enum range_kind */
    COMMAND_TIME_IN,
    COMMAND_TIME_OUT,
    COMMAND_MATRIX_ALL,
    COMMAND_GROUP, /**< argument: enum call_group */
    COMMAND_SEARCH,
    COMMAND_PICTURE,    /**< argument: enum ui_picture */
    COMMAND_DESELECT,   /**< select nothing */
    COMMAND_COLOUR,     /**< argument: enum graph_colour */
    COMMAND_COMPRESS,   /**< argument: 0 plain time axis, 1 steady stretches compressed */
    COMMAND_GRAPH_ALL,  /**< fit the whole graph */
    COMMAND_GRAPH_OPEN, /**< argument: region whose ranks are drawn individually; 0: none */

    /* the CommGram */
    COMMAND_PHASES,      /**< argument: 0 fewer, 1 more */
    COMMAND_COMMUNITIES, /**< likewise */
    COMMAND_MODELLED,    /**< with or without the modelled messages of collectives */
    COMMAND_SIZES_ALL,   /**< messages of all sizes */
    COMMAND_LEVEL,       /**< back to a level of the path; argument: which */
    COMMAND_TIME_ALL,    /**< the whole time of the job */

    /* the network */
    COMMAND_METRIC,        /**< argument: enum flow_metric that is ranked and filtered by */
    COMMAND_FILTER_CLEAR,  /**< remove the filter */
    COMMAND_RANK_SCALE,    /**< argument: 0 ranks in a line, 1 by their logarithm */
    COMMAND_OBJECTIVE,     /**< argument: enum remap_objective */
    COMMAND_REMAP_TIME,    /**< the next time that a search for a mapping may take */
    COMMAND_REMAP,         /**< ask for a better mapping */
    COMMAND_REROUTE,       /**< ask for better routes for what is selected */
    COMMAND_APPLY,         /**< argument: enum suggestion_kind: add it to the what-if */
    COMMAND_UNDO_STEP,     /**< drop the newest step of the what-if */
    COMMAND_LINKS_UNFOLD,  /**< argument: link + 1, whose equals are listed one by one; 0: none */
    COMMAND_COMPARE,       /**< argument: enum network_compare */
    COMMAND_REROUTE_FIRST, /**< argument: enum route_criterion */
    COMMAND_REROUTE_DELTA, /**< argument: links by which a route may become longer */
    COMMAND_DISCARD,       /**< argument: enum suggestion_kind: drop it */
    COMMAND_ONLY_SELECTED, /**< argument: 1: only ranks of the selection may move */
    COMMAND_SAVE_MAPPING,  /**< write a mapping to a file: enum saved_mapping */

    /* the torus */
    COMMAND_TORUS_VIEW,   /**< argument: which of the dimensions that are seen is looked along */
    COMMAND_TORUS_LINKS,  /**< argument: dimension whose links are shown or hidden */
    COMMAND_TORUS_FIGURE, /**< argument: enum torus_figure */
    COMMAND_TORUS_PAINT,  /**< argument: enum torus_paint */
    COMMAND_TORUS_COLOURS_ALL, /**< colours from 0 to the largest load */
    COMMAND_TORUS_PIN,         /**< keep the present picture as a panel */
    COMMAND_TORUS_UNPIN,       /**< argument: panel */
    COMMAND_TORUS_PANEL,       /**< argument: panel to enlarge */
    COMMAND_TORUS_GRID,        /**< all panels side by side, or one enlarged */
    COMMAND_TORUS_SLICES,      /**< one panel for each coordinate of a hidden dimension, or none */
    COMMAND_TORUS_PLAY,        /**< argument: enum torus_playing; or stop */
    COMMAND_TORUS_MENU,        /**< open or close the choice of communicator and region */
    COMMAND_TORUS_COMM,        /**< argument: number of a communicator + 1, 0: all */
    COMMAND_TORUS_REGION,      /**< argument: number of a code region + 1, 0: all */
    COMMAND_TORUS_DIMENSION,   /**< argument: dimension to show */
    COMMAND_TORUS_SLICE, /**< argument: dimension; shows its next coordinate, after the last one all
                          */
    COMMAND_TORUS_FOLD,  /**< argument: enum torus_fold */
    COMMAND_TORUS_HOME,  /**< the initial view of the whole torus */

    /* the graph of the network */
    COMMAND_NET_TOOL,      /**< argument: enum network_tool */
    COMMAND_NET_SIZE,      /**< argument: enum network_size */
    COMMAND_NET_DIMENSION, /**< argument: dimension by which nodes are grouped, or not */
    COMMAND_NET_LEVEL, /**< argument: level of the switches above the nodes that form a group; 0:
                          none */
    COMMAND_NET_OPEN,  /**< argument: group whose vertices are drawn individually */
    COMMAND_NET_CLOSE, /**< collapse all groups */
    COMMAND_NET_ALL,   /**< fit the whole graph */

    /* the route matrix */
    COMMAND_ROUTES_ALL, /**< fit the whole matrix */
    COMMAND_FOLD, /**< argument: 0 nothing; else a level + 1: fold its blocks without routes; the
                     same again unfolds */
    COMMAND_LENS, /**< the magnifying lens, or none */
    COMMAND_ROUTE_LOADS,    /**< links outlined by their load, or not */
    COMMAND_ROUTE_ORDER,    /**< argument: place in the order of dimensions: this dimension becomes
                             * slower by one, 0 is the fastest; after the last: as numbered */
    COMMAND_ROUTES_MAXIMUM, /**< argument: 0 fewer of the heaviest routes, 1 more */

    /* captures */
    COMMAND_CAPTURE,      /**< argument: number of the capture to show */
    COMMAND_CAPTURE_STEP, /**< argument: 0 the one before, 1 the next */
    COMMAND_CAPTURE_ALL,  /**< its whole time */
    COMMAND_CAPTURE_ROWS, /**< argument: 0 fit all ranks, 1 make each readable */
    COMMAND_CAPTURE_READ, /**< read the calls of the selected ranks, or of all, back now */
    COMMAND_CAPTURE_ZOOM, /**< argument: 0 more time, 1 less */

    /* the graph of dependencies */
    COMMAND_DEPENDENCY_STEPS,   /**< argument: enum dependency_arrangement */
    COMMAND_DEPENDENCY_FOLD,    /**< argument: enum dependency_fold */
    COMMAND_DEPENDENCY_OPEN,    /**< argument: host of the capture + 1: its ranks get lanes of their
                                   own; the same again folds them */
    COMMAND_DEPENDENCY_MESSAGE, /**< argument: event + 1, whose critical chain is shown; 0: none */
    COMMAND_DEPENDENCY_ALL,     /**< from the begin, in the initial size */
    COMMAND_DEPENDENCY_VISIBLE, /**< argument: 0 the whole capture, 1 the visible time */
    COMMAND_DEPENDENCY_ZOOM,    /**< argument: 0 more columns, 1 fewer */
    /* metrics by rank and function */
    COMMAND_LANDSCAPE_SHAPE,     /**< argument: enum landscape_shape */
    COMMAND_LANDSCAPE_BY,        /**< argument: enum rank_calls_by */
    COMMAND_LANDSCAPE_FIGURE,    /**< argument: enum rank_figure of the event that is changed */
    COMMAND_LANDSCAPE_SLOT,      /**< argument: event of the formulas that is changed, 0 to 3 */
    COMMAND_LANDSCAPE_EVENT,     /**< argument: function or region of that event */
    COMMAND_LANDSCAPE_LAYOUT,    /**< the next layout */
    COMMAND_LANDSCAPE_LEVEL,     /**< argument: visible values, low << 32 | high, in steps */
    COMMAND_LANDSCAPE_AXIS_ALL,  /**< argument: axis without a slice or mean */
    COMMAND_LANDSCAPE_AXIS_MEAN, /**< argument: axis to average over, or not */
    COMMAND_LANDSCAPE_HOME,      /**< the initial view of all ranks */

    /* a replay */
    COMMAND_REPLAY_PLAY,  /**< pause it, or go on */
    COMMAND_REPLAY_STEP,  /**< by one window; argument: 0 back, 1 forward */
    COMMAND_REPLAY_SPEED, /**< argument: 0 slower, 1 faster */
    COMMAND_REPLAY_LOOP,  /**< begin again after the end, or not */
    COMMAND_REPLAY_MARK,  /**< seek an alert; argument: 0 the previous one, 1 the next */
};

/** Executes a command. A command or an argument that does not exist is ignored.
 *  @return enum ui_effect, or-ed */
int ui_command(struct ui *ui, const struct model *model, enum ui_command command,
               uint64_t argument);

/** Executes a command that sets a choice, with the next value as its argument. */
int ui_command_next(struct ui *ui, const struct model *model, enum ui_command command);

#endif
