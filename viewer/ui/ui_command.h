/* The commands of the viewer: what buttons and keys ask for, and the one function that carries a
 * command out. The table in ui_command.c says which handler a command has. */
#ifndef HOLTER_VIEWER_UI_UI_COMMAND_H
#define HOLTER_VIEWER_UI_UI_COMMAND_H

#include <stdint.h>

struct ui;
struct model;

/** What a button or a key asks for. Most commands take one argument. */
enum ui_command {
    COMMAND_VIEW,   /**< argument: enum view_id */
    COMMAND_PAUSE,  /**< hold the span of time, or go on */
    COMMAND_FOLLOW, /**< newest data at the right edge */
    COMMAND_THEME,
    COMMAND_HELP,
    COMMAND_DRAWER,   /**< context column, where it is folded away */
    COMMAND_QUANTITY, /**< argument: enum pair_column */
    COMMAND_RANGE,    /**< argument: enum range_kind */
    COMMAND_TIME_IN,
    COMMAND_TIME_OUT,
    COMMAND_MATRIX_ALL,
    COMMAND_GROUP, /**< argument: enum call_group */
    COMMAND_SEARCH,
    COMMAND_PICTURE,
    COMMAND_DESELECT,    /**< select nothing */
    COMMAND_COLOUR,      /**< argument: enum graph_colour */
    COMMAND_COMPRESS,    /**< argument: 0 plain time axis, 1 steady stretches compressed */
    COMMAND_GRAPH_ALL,   /**< the whole graph in sight */
    COMMAND_GRAPH_OPEN,  /**< argument: region whose ranks are to be seen one by one; 0: none */
    COMMAND_PHASES,      /**< argument: 0 fewer, 1 more */
    COMMAND_COMMUNITIES, /**< likewise */
    COMMAND_MODELLED,    /**< with or without the modelled messages of collectives */
    COMMAND_SIZES_ALL,   /**< messages of all sizes */
    COMMAND_LEVEL,       /**< back to a level of the path; argument: which */
    COMMAND_TIME_ALL,    /**< the whole job in sight */

    /* the network */
    COMMAND_METRIC,       /**< argument: enum flow_metric that is ranked and filtered by */
    COMMAND_FILTER_CLEAR, /**< everything in sight again */
    COMMAND_RANK_SCALE,   /**< argument: 0 ranks in a line, 1 by their logarithm */
    COMMAND_OBJECTIVE,    /**< argument: enum remap_objective */
    COMMAND_REMAP,        /**< ask for a better mapping */
    COMMAND_REROUTE,      /**< ask for better routes for what is selected */
    COMMAND_APPLY,   /**< argument: enum suggestion_kind: see the network with it, or as it is */
    COMMAND_DISCARD, /**< argument: enum suggestion_kind: forget it */
    COMMAND_ONLY_SELECTED, /**< argument: 1: only ranks of the selection may move */
    COMMAND_SAVE_MAPPING,  /**< write the suggested mapping to a file */

    /* the torus */
    COMMAND_TORUS_VIEW,   /**< argument: which of the dimensions that are seen is looked along */
    COMMAND_TORUS_LINKS,  /**< argument: dimension whose links are drawn or not */
    COMMAND_TORUS_FIGURE, /**< argument: enum torus_figure */
    COMMAND_TORUS_PAINT,  /**< argument: enum torus_paint */
    COMMAND_TORUS_COLOURS_ALL, /**< colours from nothing to the largest load */
    COMMAND_TORUS_PIN,         /**< keep the present picture */
    COMMAND_TORUS_UNPIN,       /**< argument: panel */
    COMMAND_TORUS_PANEL,       /**< argument: panel to be seen large */
    COMMAND_TORUS_GRID,        /**< all panels side by side, or one large */
    COMMAND_TORUS_PLAY,        /**< argument: enum torus_playing; or stop */
    COMMAND_TORUS_MENU,        /**< open or close the choice of communicator and region */
    COMMAND_TORUS_COMM,        /**< argument: number of a communicator + 1, 0: all */
    COMMAND_TORUS_REGION,      /**< argument: number of a code region + 1, 0: all */
    COMMAND_TORUS_DIMENSION,   /**< argument: dimension that is to be seen */
    COMMAND_TORUS_SLICE, /**< argument: dimension whose next coordinate is seen, after the last all
                          */
    COMMAND_TORUS_HOME,  /**< the whole torus in sight, as in the beginning */

    /* the graph of the network */
    COMMAND_NET_TOOL,      /**< argument: enum network_tool */
    COMMAND_NET_SIZE,      /**< argument: enum network_size */
    COMMAND_NET_DIMENSION, /**< argument: dimension that tells groups apart, or not */
    COMMAND_NET_LEVEL,     /**< argument: switches above nodes that stand for a group; 0: none */
    COMMAND_NET_OPEN,      /**< argument: group whose vertices are to be seen one by one */
    COMMAND_NET_CLOSE,     /**< all groups again */
    COMMAND_NET_ALL,       /**< the whole graph in sight */

    /* the route matrix */
    COMMAND_ROUTES_ALL, /**< the whole matrix in sight */
    COMMAND_FOLD, /**< argument: 0 nothing; else a level and 1: fold its blocks without routes; the
                            same again unfolds */
    COMMAND_LENS, /**< the magnifying lens, or none */
    COMMAND_ROUTE_LOADS, /**< links outlined by their load, or not */
    COMMAND_ROUTE_ORDER, /**< argument: place in the order whose dimension becomes slower by one, 0:
                            the fastest; beyond the last: as numbered */
    COMMAND_ROUTES_MOST, /**< argument: 0 fewer of the heaviest routes, 1 more */

    /* captures */
    COMMAND_CAPTURE,      /**< argument: number of the one that is to be seen */
    COMMAND_CAPTURE_STEP, /**< argument: 0 the one before, 1 the next */
    COMMAND_CAPTURE_ALL,  /**< its whole time in sight */
    COMMAND_CAPTURE_ROWS, /**< argument: 0 all ranks in sight, 1 so that each can be read */
    COMMAND_CAPTURE_ZOOM, /**< argument: 0 more time, 1 less */

    /* a replay */
    COMMAND_REPLAY_PLAY,  /**< pause it, or go on */
    COMMAND_REPLAY_STEP,  /**< by one window; argument: 0 back, 1 forward */
    COMMAND_REPLAY_SPEED, /**< argument: 0 slower, 1 faster */
    COMMAND_REPLAY_LOOP,  /**< begin again after the end, or not */
    COMMAND_REPLAY_MARK,  /**< to an alert; argument: 0 the one before, 1 the next */
    COMMANDS
};

/** Carry out a command. A command or an argument that the table does not have is ignored.
 *  @return enum ui_effect, or-ed */
int ui_command(struct ui *ui, const struct model *model, enum ui_command command,
               uint64_t argument);

#endif
