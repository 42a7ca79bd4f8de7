/* Which function executes what a button or a key requests. The commands of a view have one handler
 * in that view's own file; those of the whole window are here. */
#include "viewer/ui/ui_command.h"

#include "viewer/places/absence.h"
#include "viewer/ui/ui.h"

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
        return argument ? ui_forward(ui) : ui_back(ui);
    case COMMAND_UNDERSTOOD:
        ui->overlay.first_run = 0;
        return UI_CHANGED | UI_UNDERSTOOD;
    case COMMAND_COPY:
        return UI_CHANGED | UI_COPY;
    case COMMAND_COPY_ROWS:
        ui->copy_is_csv = argument == 1;
        return UI_CHANGED | UI_COPY_ROWS;
    case COMMAND_QUANTITY:
        ui->quantity = argument == PAIR_MESSAGES ? PAIR_MESSAGES : PAIR_BYTES;
        return UI_CHANGED;
    case COMMAND_RANGE:
        ui->time.range = argument == RANGE_START ? RANGE_START : RANGE_SPAN;
        return UI_CHANGED;
    case COMMAND_GROUP:
        if (argument > GROUP_NONE)
            return 0;
        ui->group = (enum call_group)argument;
        return UI_CHANGED;
    case COMMAND_COLOUR:
        if (argument > COLOUR_LATENCY)
            return 0;
        ui->regions.colour = (enum graph_colour)argument;
        return UI_CHANGED;
    case COMMAND_COMPRESS:
        ui->compress = argument != 0;
        return UI_CHANGED;
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
    case COMMAND_THEME:
        ui->theme = ui->theme == THEME_DARK ? THEME_LIGHT : THEME_DARK;
        return UI_CHANGED;
    case COMMAND_HELP:
        ui->overlay.help = !ui->overlay.help;
        return UI_CHANGED;
    case COMMAND_DRAWER:
        ui->overlay.drawer = !ui->overlay.drawer;
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

int ui_command(struct ui *ui, const struct model *model, enum ui_command command, uint64_t argument)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if ((unsigned)command <= (unsigned)groups[i].last)
            return groups[i].handler(ui, model, command, argument);
    return 0;
}
