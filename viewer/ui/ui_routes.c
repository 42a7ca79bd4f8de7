#include "viewer/ui/ui.h"

#include <math.h>
#include <string.h>

void ui_routes(const struct ui *ui, double *x, double *y, double *extent)
{
    *extent = ui->routes_extent > 0 ? ui->routes_extent : 1;
    *x = fmin(fmax(ui->routes_x, 0), 1 - *extent);
    *y = fmin(fmax(ui->routes_y, 0), 1 - *extent);
}

void ui_zoom_routes(struct ui *ui, const struct model *m, double factor, double x, double y)
{
    double left, top, extent;
    const struct topology *t = m->network.topology;
    double least = t ? fmin(4.0 / fmax(topology_vertices(t), 1), 1) : 1;
    ui_routes(ui, &left, &top, &extent);
    double next = fmin(fmax(extent * factor, least), 1);
    ui->routes_x = x - (x - left) * next / extent;
    ui->routes_y = y - (y - top) * next / extent;
    ui->routes_extent = next;
    ui_routes(ui, &ui->routes_x, &ui->routes_y, &extent);
}

void ui_pan_routes(struct ui *ui, double dx, double dy)
{
    double extent;
    ui->routes_x += dx;
    ui->routes_y += dy;
    ui_routes(ui, &ui->routes_x, &ui->routes_y, &extent);
}

void ui_move_routes(struct ui *ui, int horizontal, int vertical, int far)
{
    double x, y, extent;
    ui_routes(ui, &x, &y, &extent);
    extent /= far ? 2 : 8;
    ui_pan_routes(ui, horizontal * extent, vertical * extent);
}

/* A dimension becomes slower by one place; the outermost goes to the end. */
static void ui_routes_reorder(struct ui *ui, const struct model *m, uint64_t place)
{
    const struct topology_grid *g = m->network.topology ? topology_grid(m->network.topology) : NULL;
    if (!g || place >= g->dimensions) {
        ui->route_dimensions = 0;
        return;
    }
    if (ui->route_dimensions != g->dimensions)
        for (uint32_t d = 0; d < g->dimensions; d++)
            ui->route_order[d] = (uint8_t)d;
    ui->route_dimensions = g->dimensions;
    uint8_t moved = ui->route_order[place];
    if (place) {
        ui->route_order[place] = ui->route_order[place - 1];
        ui->route_order[place - 1] = moved;
    } else {
        memmove(ui->route_order, ui->route_order + 1, g->dimensions - 1u);
        ui->route_order[g->dimensions - 1] = moved;
    }
}

int ui_routes_command(struct ui *ui, const struct model *m, enum ui_command command,
                      uint64_t argument)
{
    switch (command) {
    case COMMAND_ROUTES_ALL:
        ui->routes_x = ui->routes_y = ui->routes_extent = 0;
        break;
    case COMMAND_FOLD: /* the places of rows change with it */
        ui->routes_fold = ui->routes_fold == (int)argument ? 0 : (int)(argument % 32);
        ui->routes_x = ui->routes_y = ui->routes_extent = 0;
        break;
    case COMMAND_LENS:
        ui->lens = !ui->lens;
        break;
    case COMMAND_ROUTE_LOADS:
        ui->route_loads = !ui->route_loads;
        break;
    case COMMAND_ROUTE_ORDER:
        ui_routes_reorder(ui, m, argument);
        break;
    case COMMAND_ROUTES_MOST:
        ui->routes_most = argument ? ui->routes_most * 2 : ui->routes_most / 2;
        ui->routes_most = ui->routes_most < 1 ? 1 : ui->routes_most;
        ui->routes_most = ui->routes_most > 1u << 20 ? 1u << 20 : ui->routes_most;
        break;
    default:
        break;
    }
    return UI_CHANGED;
}

static int levels_of(const struct model *m)
{
    const struct topology_grid *g = m->network.topology ? topology_grid(m->network.topology) : NULL;
    return g ? (int)g->dimensions : 3;
}

int ui_routes_key(struct ui *ui, const struct model *m, int key)
{
    double x, y, extent;
    ui_routes(ui, &x, &y, &extent);
    switch (key) {
    case 'v':
        return ui_command(ui, m, COMMAND_LENS, 0);
    case 'z':
        return ui_command(ui, m, COMMAND_FOLD,
                          (uint64_t)((ui->routes_fold + 1) % (levels_of(m) + 1)));
    case 'e':
        return ui_command(ui, m, COMMAND_ROUTE_ORDER, 0);
    case 'k':
        return ui_command(ui, m, COMMAND_ROUTE_LOADS, 0);
    case 'u':
        return ui_command(ui, m, COMMAND_APPLY, SUGGEST_ROUTES);
    case 'r':
        return ui_command(ui, m, COMMAND_REROUTE, 0);
    case '[':
    case ']':
        return ui_command(ui, m, COMMAND_ROUTES_MOST, key == ']');
    case '0':
        return ui_command(ui, m, COMMAND_ROUTES_ALL, 0);
    case '+':
    case '=':
    case '-':
        ui_zoom_routes(ui, m, key == '-' ? 2 : 0.5, x + extent / 2, y + extent / 2);
        return UI_CHANGED;
    default:
        return 0;
    }
}

void ui_zoom_lens(struct ui *ui, double factor)
{
    ui->lens_zoom = fmin(fmax(ui->lens_zoom * factor, 2), 256);
}
