/* Choices about the route matrix: order, visible part, folded blocks and the lens. */
#include "viewer/ui/ui.h"

#include <math.h>
#include <string.h>

void ui_routes(const struct ui *ui, double *x, double *y, double *extent)
{
    *extent = ui->routes.extent > 0 ? ui->routes.extent : 1;
    *x = fmin(fmax(ui->routes.x, 0), 1 - *extent);
    *y = fmin(fmax(ui->routes.y, 0), 1 - *extent);
}

void ui_zoom_routes(struct ui *ui, const struct model *m, double factor, double x, double y)
{
    double left, top, extent;
    const struct topology *t = m->network.topology;
    double minimum = t ? fmin(4.0 / fmax(topology_vertices(t), 1), 1) : 1;
    ui_routes(ui, &left, &top, &extent);
    double next = fmin(fmax(extent * factor, minimum), 1);
    ui->routes.x = x - (x - left) * next / extent;
    ui->routes.y = y - (y - top) * next / extent;
    ui->routes.extent = next;
    ui_routes(ui, &ui->routes.x, &ui->routes.y, &extent);
}

void ui_pan_routes(struct ui *ui, double dx, double dy)
{
    double extent;
    ui->routes.x += dx;
    ui->routes.y += dy;
    ui_routes(ui, &ui->routes.x, &ui->routes.y, &extent);
}

void ui_move_routes(struct ui *ui, int horizontal, int vertical, int far)
{
    double x, y, extent;
    ui_routes(ui, &x, &y, &extent);
    extent /= far ? 2 : 8;
    ui_pan_routes(ui, horizontal * extent, vertical * extent);
}

/* Makes a dimension slower by one place; the outermost one becomes the fastest. */
static void ui_routes_reorder(struct ui *ui, const struct model *m, uint64_t place)
{
    const struct topology_grid *g = m->network.topology ? topology_grid(m->network.topology) : NULL;
    if (!g || place >= g->dimensions) {
        ui->routes.dimensions = 0;
        return;
    }
    if (ui->routes.dimensions != g->dimensions)
        for (uint32_t d = 0; d < g->dimensions; d++)
            ui->routes.order[d] = (uint8_t)d;
    ui->routes.dimensions = g->dimensions;
    uint8_t moved = ui->routes.order[place];
    if (place) {
        ui->routes.order[place] = ui->routes.order[place - 1];
        ui->routes.order[place - 1] = moved;
    } else {
        memmove(ui->routes.order, ui->routes.order + 1, g->dimensions - 1u);
        ui->routes.order[g->dimensions - 1] = moved;
    }
}

int ui_routes_command(struct ui *ui, const struct model *m, enum ui_command command,
                      uint64_t argument)
{
    switch (command) {
    case COMMAND_ROUTES_ALL:
        ui->routes.x = ui->routes.y = ui->routes.extent = 0;
        break;
    case COMMAND_FOLD: /* the positions of rows change with it */
        ui->routes.fold = ui->routes.fold == (int)argument ? 0 : (int)(argument % 32);
        ui->routes.x = ui->routes.y = ui->routes.extent = 0;
        break;
    case COMMAND_ROUTE_ORDER:
        ui_routes_reorder(ui, m, argument);
        break;
    case COMMAND_ROUTES_MAXIMUM:
        ui->routes.maximum = argument ? ui->routes.maximum * 2 : ui->routes.maximum / 2;
        ui->routes.maximum = ui->routes.maximum < 1 ? 1 : ui->routes.maximum;
        ui->routes.maximum = ui->routes.maximum > 1u << 20 ? 1u << 20 : ui->routes.maximum;
        break;
    default:
        break;
    }
    return UI_CHANGED;
}

uint64_t ui_routes_next_fold(const struct ui *ui, const struct model *m)
{
    const struct topology_grid *g = m->network.topology ? topology_grid(m->network.topology) : NULL;
    return ((uint64_t)ui->routes.fold + 1) % (g ? g->dimensions + 1u : 4u);
}

void ui_zoom_lens(struct ui *ui, double factor)
{
    ui->routes.lens_zoom = fmin(fmax(ui->routes.lens_zoom * factor, 2), 256);
}
