/* What a button or a key requests. `choices` is the table of the commands that set a choice; others
 * have a handler: those of a view in that view's own file, those of the whole window here. */
#include "viewer/ui/ui_command.h"

#include "viewer/places/absence.h"
#include "viewer/ui/ui.h"

#include <stddef.h>
#include <string.h>

typedef int command_handler(struct ui *ui, const struct model *model, enum ui_command command,
                            uint64_t argument);

static int command_choose(struct ui *ui, const struct model *model, enum ui_command command,
                          uint64_t argument)
{
    switch (command) {
    case COMMAND_VIEW:
        if (argument >= VIEWS)
            return 0;
        ui_go(ui, (enum view_id)argument);
        ui_widen_to_windows(ui, model);
        return UI_CHANGED;
    case COMMAND_ROOM:
        if (argument >= ROOMS)
            return 0;
        return command_choose(ui, model, COMMAND_VIEW,
                              room_place(model, (enum room_id)argument, ui->room_last[argument]));
    case COMMAND_BACK:
        return ui_step_place(ui, argument != 0);
    case COMMAND_UNDERSTOOD:
        ui->overlay.first_run = 0;
        return UI_CHANGED | UI_UNDERSTOOD;
    case COMMAND_COPY:
        return UI_CHANGED | UI_COPY;
    case COMMAND_COPY_ROWS:
        ui->copy_is_csv = argument == 1;
        return UI_CHANGED | UI_COPY_ROWS;
    case COMMAND_GRAPH_OPEN:
        if (ui->regions.open != argument)
            ui_remember(ui);
        ui->regions.open = argument;
        return UI_CHANGED;
    default:
        return 0;
    }
}

static void command_zoom_time(struct ui *ui, const struct model *model, double factor)
{
    int64_t begin, end;
    ui_visible(ui, model, &begin, &end);
    ui_zoom_time(ui, model, factor, ui->time.follow ? end : begin + (end - begin) / 2);
}

static int command_window(struct ui *ui, const struct model *model, enum ui_command command,
                          uint64_t argument)
{
    switch (command) {
    case COMMAND_PAUSE:
        if (ui->time.follow)
            ui_pause_time(ui, model);
        else
            ui->time.follow = 1;
        return UI_CHANGED;
    case COMMAND_FOLLOW:
        ui->time.follow = 1;
        return UI_CHANGED;
    case COMMAND_TIME_IN:
    case COMMAND_TIME_OUT:
        command_zoom_time(ui, model, command == COMMAND_TIME_IN ? 0.5 : 2);
        return UI_CHANGED;
    case COMMAND_MATRIX_ALL:
        ui->matrix.row = ui->matrix.column = ui->matrix.extent = 0;
        return UI_CHANGED;
    case COMMAND_SEARCH:
        ui->overlay.searching = 1;
        ui->overlay.search[0] = 0;
        ui->list.cursor[LIST_FOUND] = 0;
        return UI_CHANGED;
    case COMMAND_PICTURE:
        ui->picture = argument < UI_PICTURES ? (enum ui_picture)argument : PICTURE_SEEN;
        return UI_CHANGED | UI_PICTURE;
    case COMMAND_DESELECT:
        ui_select(ui, (struct selection){0});
        ui->alert_picked = 0;
        return UI_CHANGED;
    case COMMAND_GRAPH_ALL:
        camera_home(&ui->regions.camera);
        return UI_CHANGED;
    default:
        return command_choose(ui, model, command, argument);
    }
}

/* The commands stand in groups: the last command of each, and its handler. */
static const struct {
    enum ui_command last;
    command_handler *handler;
} groups[] = {
    {COMMAND_GRAPH_OPEN, command_window},        {COMMAND_TIME_ALL, ui_commgram_command},
    {COMMAND_SAVE_MAPPING, ui_network_command},  {COMMAND_TORUS_HOME, torus_command},
    {COMMAND_NET_ALL, network_graph_command},    {COMMAND_ROUTES_MAXIMUM, ui_routes_command},
    {COMMAND_CAPTURE_ZOOM, ui_capture_command},  {COMMAND_DEPENDENCY_ZOOM, ui_dependencies_command},
    {COMMAND_LANDSCAPE_HOME, landscape_command}, {COMMAND_REPLAY_MARK, transport_command},
};

/* The place of a choice: an int, or an enum of its size. */
#define CHOICE(field)                                                                              \
    offsetof(struct ui, field) +                                                                   \
        0 * sizeof(char[sizeof((struct ui){0}.field) == sizeof(int) ? 1 : -1])

/* Commands that set one choice to their argument, or change it to the next value. Handlers do what
 * else follows from it. */
static const struct choice {
    enum ui_command command;
    size_t offset; /* in struct ui */
    int count;     /* of its values, which begin with 0 */
    int changes;   /* 1: to the next value, whatever the argument */
} choices[] = {
    {COMMAND_THEME, CHOICE(theme), THEMES, 1},
    {COMMAND_HELP, CHOICE(overlay.help), 2, 1},
    {COMMAND_DRAWER, CHOICE(overlay.drawer), 2, 1},
    {COMMAND_QUANTITY, CHOICE(quantity), PAIR_COLUMNS, 0},
    {COMMAND_RANGE, CHOICE(time.range), RANGE_START + 1, 0},
    {COMMAND_GROUP, CHOICE(group), GROUP_NONE + 1, 0},
    {COMMAND_COLOUR, CHOICE(regions.colour), COLOUR_LATENCY + 1, 0},
    {COMMAND_COMPRESS, CHOICE(compress), 2, 0},
    {COMMAND_MODELLED, CHOICE(commgram.unmodelled), 2, 1},
    {COMMAND_METRIC, CHOICE(network.metric), METRICS, 0},
    {COMMAND_RANK_SCALE, CHOICE(network.rank_log), 2, 0},
    {COMMAND_OBJECTIVE, CHOICE(network.objective), REMAP_OBJECTIVES, 0},
    {COMMAND_REMAP_TIME, CHOICE(network.remap_time), REMAP_TIMES, 1},
    {COMMAND_ONLY_SELECTED, CHOICE(network.only_selected), 2, 0},
    {COMMAND_COMPARE, CHOICE(network.compare), COMPARES, 0},
    {COMMAND_REROUTE_FIRST, CHOICE(network.criterion), ROUTE_CRITERIA, 0},
    {COMMAND_REROUTE_DELTA, CHOICE(network.delta), ROUTE_DELTAS, 0},
    {COMMAND_TORUS_VIEW, CHOICE(torus.view), 3, 0},
    {COMMAND_TORUS_FIGURE, CHOICE(torus.figure), TORUS_FIGURES, 0},
    {COMMAND_TORUS_PAINT, CHOICE(torus.paint), TORUS_PAINTS, 0},
    {COMMAND_TORUS_FOLD, CHOICE(torus.fold), TORUS_FOLDS, 0},
    {COMMAND_TORUS_GRID, CHOICE(torus.grid), 2, 1},
    {COMMAND_TORUS_MENU, CHOICE(torus.menu), 2, 1},
    {COMMAND_NET_TOOL, CHOICE(graph.tool), NETWORK_TOOLS, 0},
    {COMMAND_NET_SIZE, CHOICE(graph.size), NETWORK_SIZES, 0},
    {COMMAND_LENS, CHOICE(routes.lens), 2, 1},
    {COMMAND_ROUTE_LOADS, CHOICE(routes.loads), 2, 1},
    {COMMAND_CAPTURE_ROWS, CHOICE(capture.rows), 2, 0},
    {COMMAND_DEPENDENCY_STEPS, CHOICE(dependencies.steps), DEPENDENCY_ARRANGEMENTS, 0},
    {COMMAND_DEPENDENCY_FOLD, CHOICE(dependencies.fold), FOLDS, 0},
    {COMMAND_DEPENDENCY_VISIBLE, CHOICE(dependencies.visible), 2, 0},
    {COMMAND_LANDSCAPE_SHAPE, CHOICE(landscape.shape), LANDSCAPE_SHAPES, 0},
    {COMMAND_LANDSCAPE_SLOT, CHOICE(landscape.event), LANDSCAPE_EVENTS, 0},
};

/* @return NULL: the command does not set a choice */
static const struct choice *choice_find(enum ui_command command)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (choices[i].command == command)
            return &choices[i];
    return NULL;
}

static uint64_t choice_next(const struct ui *ui, const struct choice *choice)
{
    int value;
    memcpy(&value, (const char *)ui + choice->offset, sizeof value);
    return (uint64_t)(value + 1) % (uint64_t)choice->count;
}

int ui_command_next(struct ui *ui, const struct model *model, enum ui_command command)
{
    const struct choice *choice = choice_find(command);
    return choice ? ui_command(ui, model, command, choice_next(ui, choice)) : 0;
}

int ui_command(struct ui *ui, const struct model *model, enum ui_command command, uint64_t argument)
{
    const struct choice *choice = choice_find(command);
    int effects = 0;
    if (choice) {
        argument = choice->changes ? choice_next(ui, choice) : argument;
        if (argument >= (uint64_t)choice->count)
            return 0;
        memcpy((char *)ui + choice->offset, &(int){(int)argument}, sizeof(int));
        effects = UI_CHANGED;
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if ((unsigned)command <= (unsigned)groups[i].last)
            return effects | groups[i].handler(ui, model, command, argument);
    return 0;
}
