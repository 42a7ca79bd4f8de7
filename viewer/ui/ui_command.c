/* The table of commands: which function executes what a button or a key requests. The commands of a
 * view have one handler in that view's own file; those of the whole window are here. */
#include "viewer/ui/ui_command.h"

#include "viewer/ui/ui.h"

typedef int command_handler(struct ui *ui, const struct model *model, enum ui_command command,
                            uint64_t argument);

static int command_open_view(struct ui *ui, const struct model *model, enum ui_command command,
                             uint64_t argument)
{
    (void)command;
    ui_go(ui, (enum view_id)argument);
    ui_widen_to_windows(ui, model);
    return UI_CHANGED;
}

static int command_toggle_pause(struct ui *ui, const struct model *model, enum ui_command command,
                                uint64_t argument)
{
    (void)command;
    (void)argument;
    if (ui->time.follow)
        ui_pause_time(ui, model);
    else
        ui->time.follow = 1;
    return UI_CHANGED;
}

static int command_follow_time(struct ui *ui, const struct model *model, enum ui_command command,
                               uint64_t argument)
{
    (void)model;
    (void)command;
    (void)argument;
    ui->time.follow = 1;
    return UI_CHANGED;
}

static int command_toggle_theme(struct ui *ui, const struct model *model, enum ui_command command,
                                uint64_t argument)
{
    (void)model;
    (void)command;
    (void)argument;
    ui->theme = ui->theme == THEME_DARK ? THEME_LIGHT : THEME_DARK;
    return UI_CHANGED;
}

static int command_toggle_help(struct ui *ui, const struct model *model, enum ui_command command,
                               uint64_t argument)
{
    (void)model;
    (void)command;
    (void)argument;
    ui->overlay.help = !ui->overlay.help;
    return UI_CHANGED;
}

static int command_toggle_drawer(struct ui *ui, const struct model *model, enum ui_command command,
                                 uint64_t argument)
{
    (void)model;
    (void)command;
    (void)argument;
    ui->overlay.drawer = !ui->overlay.drawer;
    return UI_CHANGED;
}

static int command_set_quantity(struct ui *ui, const struct model *model, enum ui_command command,
                                uint64_t argument)
{
    (void)model;
    (void)command;
    ui->quantity = argument == PAIR_MESSAGES ? PAIR_MESSAGES : PAIR_BYTES;
    return UI_CHANGED;
}

static int command_set_range(struct ui *ui, const struct model *model, enum ui_command command,
                             uint64_t argument)
{
    (void)model;
    (void)command;
    ui->time.range = argument == RANGE_START ? RANGE_START : RANGE_SPAN;
    return UI_CHANGED;
}

static int command_zoom_time(struct ui *ui, const struct model *model, enum ui_command command,
                             uint64_t argument)
{
    (void)argument;
    int64_t begin, end;
    ui_visible(ui, model, &begin, &end);
    ui_zoom_time(ui, model, command == COMMAND_TIME_IN ? 0.5 : 2,
                 ui->time.follow ? end : begin + (end - begin) / 2);
    return UI_CHANGED;
}

static int command_show_matrix(struct ui *ui, const struct model *model, enum ui_command command,
                               uint64_t argument)
{
    (void)model;
    (void)command;
    (void)argument;
    ui->matrix.row = ui->matrix.column = ui->matrix.extent = 0;
    return UI_CHANGED;
}

static int command_set_group(struct ui *ui, const struct model *model, enum ui_command command,
                             uint64_t argument)
{
    (void)model;
    (void)command;
    ui->group = (enum call_group)argument;
    return UI_CHANGED;
}

static int command_open_search(struct ui *ui, const struct model *model, enum ui_command command,
                               uint64_t argument)
{
    (void)model;
    (void)command;
    (void)argument;
    ui->overlay.searching = 1;
    ui->overlay.search[0] = 0;
    ui->list.cursor[LIST_FOUND] = 0;
    return UI_CHANGED;
}

static int command_save_picture(struct ui *ui, const struct model *model, enum ui_command command,
                                uint64_t argument)
{
    (void)ui;
    (void)model;
    (void)command;
    (void)argument;
    return UI_CHANGED | UI_PICTURE;
}

static int command_deselect(struct ui *ui, const struct model *model, enum ui_command command,
                            uint64_t argument)
{
    (void)model;
    (void)command;
    (void)argument;
    ui_select(ui, (struct selection){0});
    ui->alert_picked = 0;
    return UI_CHANGED;
}

static int command_set_colour(struct ui *ui, const struct model *model, enum ui_command command,
                              uint64_t argument)
{
    (void)model;
    (void)command;
    ui->regions.colour = (enum graph_colour)argument;
    return UI_CHANGED;
}

static int command_set_compress(struct ui *ui, const struct model *model, enum ui_command command,
                                uint64_t argument)
{
    (void)model;
    (void)command;
    ui->compress = argument != 0;
    return UI_CHANGED;
}

static int command_show_graph(struct ui *ui, const struct model *model, enum ui_command command,
                              uint64_t argument)
{
    (void)model;
    (void)command;
    (void)argument;
    ui_graph_home(ui);
    return UI_CHANGED;
}

static int command_open_region(struct ui *ui, const struct model *model, enum ui_command command,
                               uint64_t argument)
{
    (void)model;
    (void)command;
    if (ui->regions.open != argument)
        ui_remember(ui);
    ui->regions.open = argument;
    return UI_CHANGED;
}

static const struct {
    command_handler *handler;
    uint64_t arguments; /* the argument is smaller than this; 0: the handler checks it */
} commands[COMMANDS] = {
    [COMMAND_VIEW] = {command_open_view, VIEWS},
    [COMMAND_PAUSE] = {command_toggle_pause, 0},
    [COMMAND_FOLLOW] = {command_follow_time, 0},
    [COMMAND_THEME] = {command_toggle_theme, 0},
    [COMMAND_HELP] = {command_toggle_help, 0},
    [COMMAND_DRAWER] = {command_toggle_drawer, 0},
    [COMMAND_QUANTITY] = {command_set_quantity, 0},
    [COMMAND_RANGE] = {command_set_range, 0},
    [COMMAND_TIME_IN] = {command_zoom_time, 0},
    [COMMAND_TIME_OUT] = {command_zoom_time, 0},
    [COMMAND_MATRIX_ALL] = {command_show_matrix, 0},
    [COMMAND_GROUP] = {command_set_group, GROUP_NONE + 1},
    [COMMAND_SEARCH] = {command_open_search, 0},
    [COMMAND_PICTURE] = {command_save_picture, 0},
    [COMMAND_DESELECT] = {command_deselect, 0},
    [COMMAND_COLOUR] = {command_set_colour, COLOUR_LATENCY + 1},
    [COMMAND_COMPRESS] = {command_set_compress, 0},
    [COMMAND_GRAPH_ALL] = {command_show_graph, 0},
    [COMMAND_GRAPH_OPEN] = {command_open_region, 0},
    [COMMAND_PHASES] = {ui_commgram_command, 0},
    [COMMAND_COMMUNITIES] = {ui_commgram_command, 0},
    [COMMAND_MODELLED] = {ui_commgram_command, 0},
    [COMMAND_SIZES_ALL] = {ui_commgram_command, 0},
    [COMMAND_LEVEL] = {ui_commgram_command, 0},
    [COMMAND_TIME_ALL] = {ui_commgram_command, 0},
    [COMMAND_METRIC] = {ui_network_command, 0},
    [COMMAND_FILTER_CLEAR] = {ui_network_command, 0},
    [COMMAND_RANK_SCALE] = {ui_network_command, 0},
    [COMMAND_OBJECTIVE] = {ui_network_command, 0},
    [COMMAND_REMAP] = {ui_network_command, 0},
    [COMMAND_REROUTE] = {ui_network_command, 0},
    [COMMAND_APPLY] = {ui_network_command, 0},
    [COMMAND_DISCARD] = {ui_network_command, 0},
    [COMMAND_ONLY_SELECTED] = {ui_network_command, 0},
    [COMMAND_SAVE_MAPPING] = {ui_network_command, 0},
    [COMMAND_TORUS_VIEW] = {torus_command, 0},
    [COMMAND_TORUS_LINKS] = {torus_command, 0},
    [COMMAND_TORUS_FIGURE] = {torus_command, 0},
    [COMMAND_TORUS_PAINT] = {torus_command, 0},
    [COMMAND_TORUS_COLOURS_ALL] = {torus_command, 0},
    [COMMAND_TORUS_PIN] = {torus_command, 0},
    [COMMAND_TORUS_UNPIN] = {torus_command, 0},
    [COMMAND_TORUS_PANEL] = {torus_command, 0},
    [COMMAND_TORUS_GRID] = {torus_command, 0},
    [COMMAND_TORUS_PLAY] = {torus_command, 0},
    [COMMAND_TORUS_MENU] = {torus_command, 0},
    [COMMAND_TORUS_COMM] = {torus_command, 0},
    [COMMAND_TORUS_REGION] = {torus_command, 0},
    [COMMAND_TORUS_DIMENSION] = {torus_command, 0},
    [COMMAND_TORUS_SLICE] = {torus_command, 0},
    [COMMAND_TORUS_HOME] = {torus_command, 0},
    [COMMAND_NET_TOOL] = {network_graph_command, 0},
    [COMMAND_NET_SIZE] = {network_graph_command, 0},
    [COMMAND_NET_DIMENSION] = {network_graph_command, 0},
    [COMMAND_NET_LEVEL] = {network_graph_command, 0},
    [COMMAND_NET_OPEN] = {network_graph_command, 0},
    [COMMAND_NET_CLOSE] = {network_graph_command, 0},
    [COMMAND_NET_ALL] = {network_graph_command, 0},
    [COMMAND_ROUTES_ALL] = {ui_routes_command, 0},
    [COMMAND_FOLD] = {ui_routes_command, 0},
    [COMMAND_LENS] = {ui_routes_command, 0},
    [COMMAND_ROUTE_LOADS] = {ui_routes_command, 0},
    [COMMAND_ROUTE_ORDER] = {ui_routes_command, 0},
    [COMMAND_ROUTES_MAXIMUM] = {ui_routes_command, 0},
    [COMMAND_CAPTURE] = {ui_capture_command, 0},
    [COMMAND_CAPTURE_STEP] = {ui_capture_command, 0},
    [COMMAND_CAPTURE_ALL] = {ui_capture_command, 0},
    [COMMAND_CAPTURE_ROWS] = {ui_capture_command, 0},
    [COMMAND_CAPTURE_ZOOM] = {ui_capture_command, 0},
    [COMMAND_REPLAY_PLAY] = {transport_command, 0},
    [COMMAND_REPLAY_STEP] = {transport_command, 0},
    [COMMAND_REPLAY_SPEED] = {transport_command, 0},
    [COMMAND_REPLAY_LOOP] = {transport_command, 0},
    [COMMAND_REPLAY_MARK] = {transport_command, 0},
};

int ui_command(struct ui *ui, const struct model *model, enum ui_command command, uint64_t argument)
{
    if ((unsigned)command >= COMMANDS || !commands[command].handler ||
        (commands[command].arguments && argument >= commands[command].arguments))
        return 0;
    return commands[command].handler(ui, model, command, argument);
}
