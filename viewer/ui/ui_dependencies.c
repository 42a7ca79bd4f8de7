/* The graph of dependencies: its arrangement and visible part. */
#include "viewer/ui/ui_dependencies.h"

#include "viewer/ui/ui.h"
#include "viewer/ui/ui_input.h"

#include "viewer/layout/mix.h"

#include <math.h>

static const double least_zoom = 1.0 / 16, most_zoom = 4;

void ui_dependencies_span(const struct ui *ui, const struct model *m, int64_t *begin, int64_t *end)
{
    if (!ui->dependencies.visible || !ui_settled_time(ui, m, begin, end))
        *begin = *end = 0;
}

static int ui_dependencies_overlaps(const struct capture *c, int64_t begin, int64_t end)
{
    return c->begin_ns < end && c->end_ns > begin;
}

const struct capture *ui_dependencies_capture(const struct ui *ui, const struct model *m)
{
    const struct capture *shown = ui_capture(ui, m);
    int64_t begin, end;
    ui_dependencies_span(ui, m, &begin, &end);
    if (begin == end || ui->capture.chosen || !shown || ui_dependencies_overlaps(shown, begin, end))
        return shown;
    for (uint32_t i = 0; i < m->captures.count; i++) /* the newest is first */
        if (ui_dependencies_overlaps(&m->captures.items[i], begin, end))
            return &m->captures.items[i];
    return shown;
}

uint64_t ui_dependencies_subject(const struct ui *ui, const struct model *m)
{
    const struct capture *c = ui_dependencies_capture(ui, m);
    int64_t begin, end;
    ui_dependencies_span(ui, m, &begin, &end);
    return mix_number(mix_number(c ? c->id + 1 : 0, (uint64_t)begin), (uint64_t)end);
}

double ui_dependencies_zoom(const struct ui *ui)
{
    return ui->dependencies.zoom > 0 ? ui->dependencies.zoom : 1;
}

/* @param column  stays where it is; it is at this share of the visible width */
static void ui_dependencies_scale(struct ui *ui, double factor, double column, double shown)
{
    double zoom = ui_dependencies_zoom(ui);
    double next = fmin(fmax(zoom * factor, least_zoom), most_zoom);
    double share = shown > 0 ? (column - ui->dependencies.first) / shown : 0;
    ui->dependencies.zoom = next;
    ui->dependencies.first = fmax(column - share * shown * zoom / next, 0);
}

/* Move by columns, within all of them. */
static void ui_dependencies_move(struct ui *ui, const struct scene_hit *hit, double columns)
{
    double most = fmax((double)hit->a - (hit->x1 - hit->x0), 0);
    ui->dependencies.first = fmin(fmax(hit->x0 + columns, 0), most);
}

void ui_dependencies_begin(struct ui *ui)
{
    ui->dependencies.first = 0;
    ui->list.scroll[LIST_DEPENDENCY] = 0;
}

int ui_dependencies_command(struct ui *ui, const struct model *m, enum ui_command command,
                            uint64_t argument)
{
    struct ui_dependencies_choice *d = &ui->dependencies;
    if (command == COMMAND_DEPENDENCY_STEPS) {
        d->first = 0;
    } else if (command == COMMAND_DEPENDENCY_FOLD) {
        d->open = 0;
        ui->list.scroll[LIST_DEPENDENCY] = 0;
    } else if (command == COMMAND_DEPENDENCY_OPEN) {
        d->open = d->open == argument ? 0 : argument;
    } else if (command == COMMAND_DEPENDENCY_MESSAGE) {
        d->message = argument;
        d->message_subject = ui_dependencies_subject(ui, m);
    } else if (command == COMMAND_DEPENDENCY_VISIBLE) {
        if (d->visible)
            ui_pause_time(ui, m);
        ui_dependencies_begin(ui);
    } else if (command == COMMAND_DEPENDENCY_ALL) {
        d->zoom = 1;
        ui_dependencies_begin(ui);
    } else if (command == COMMAND_DEPENDENCY_ZOOM) {
        ui_dependencies_scale(ui, argument ? 1.5 : 1 / 1.5, d->first, 0);
    }
    return UI_CHANGED;
}

int ui_dependencies_arrow(struct ui *ui, const struct scene *scene, int horizontal, int far)
{
    for (size_t i = scene->hit_count; i-- > 0;) {
        const struct scene_hit *hit = &scene->hits[i];
        if (hit->kind != HIT_DEPENDENCY)
            continue;
        ui_dependencies_move(ui, hit, horizontal * (hit->x1 - hit->x0) * (far ? 1.0 : 0.125));
        return UI_CHANGED;
    }
    return 0;
}

void ui_dependencies_drag(struct ui *ui, const struct scene_hit *hit, double dx, double dy)
{
    double columns = (hit->x1 - hit->x0) / fmax(hit->box.w, 1), rows = hit->y1 - hit->y0;
    double most = fmax((double)hit->a - (hit->x1 - hit->x0), 0);
    ui->dependencies.first = fmin(fmax(ui->dependencies.first - dx * columns, 0), most);
    ui->list.scroll[LIST_DEPENDENCY] =
        fmin(fmax(ui->list.scroll[LIST_DEPENDENCY] - dy * rows / fmax(hit->box.h, 1), 0),
             fmax((double)hit->b - rows, 0));
}

void ui_dependencies_wheel(struct ui *ui, const struct scene_hit *hit, const struct input *in)
{
    double shown = hit->x1 - hit->x0;
    if (in->shift)
        ui_dependencies_move(ui, hit, -in->wheel * shown / 10);
    else
        ui_dependencies_scale(ui, pow(1.25, in->wheel), scene_hit_x(hit, in->x), shown);
}
