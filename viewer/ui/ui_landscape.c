/* Choices about the view of metrics by rank and function, and the mouse in it. */
#include "viewer/ui/ui_landscape.h"

#include "viewer/ui/ui.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void landscape_init(struct landscape_choice *c)
{
    struct formula_fault fault;
    *c = (struct landscape_choice){.high = 1, .shape = LANDSCAPE_WALLS};
    camera_init(&c->camera, 2);
    if (formulas_parse(&c->built_in, formulas_builtin, strlen(formulas_builtin), &fault) != 0)
        c->built_in = NULL;
}

void landscape_finish(struct landscape_choice *c)
{
    formulas_destroy(c->built_in);
    formulas_destroy(c->given);
    c->built_in = c->given = NULL;
}

/* ---- layouts: those of the file, then those that are built in ---- */

static uint32_t landscape_given_count(const struct landscape_choice *c)
{
    return c->given ? formulas_count(c->given) : 0;
}

static uint32_t landscape_layout_count(const struct landscape_choice *c)
{
    return landscape_given_count(c) + (c->built_in ? formulas_count(c->built_in) : 0);
}

const struct formulas *landscape_layout(const struct landscape_choice *c, uint32_t *index)
{
    uint32_t given = landscape_given_count(c);
    if (c->layout >= landscape_layout_count(c))
        return NULL;
    *index = c->layout < given ? c->layout : c->layout - given;
    return c->layout < given ? c->given : c->built_in;
}

void landscape_give(struct landscape_choice *c, struct formulas *formulas, const char *name)
{
    formulas_destroy(c->given);
    c->given = formulas;
    c->layout = 0;
    c->shape = LANDSCAPE_LAYOUT;
    snprintf(c->given_name, sizeof c->given_name, "%s", name);
}

static int landscape_is_cartesian(const struct model *m)
{
    return m->network.topology && topology_spec(m->network.topology)->kind == TOPOLOGY_CARTESIAN;
}

/* The next layout; one that is built in and needs coordinates is passed over if there are none. */
static void landscape_next_layout(struct landscape_choice *c, const struct model *m)
{
    uint32_t count = landscape_layout_count(c), index;
    for (uint32_t i = 0; i < count; i++) {
        c->layout = (c->layout + 1) % count;
        const struct formulas *f = landscape_layout(c, &index);
        if (f == c->given || landscape_is_cartesian(m) || !formulas_uses(f, index, "coord0"))
            return;
    }
}

int landscape_passes(const struct landscape_choice *c, double share)
{
    if (c->low <= c->high)
        return share >= c->low && share <= c->high;
    return share >= c->low || share <= c->high;
}

static void landscape_show_all(struct landscape_choice *c)
{
    c->low = 0;
    c->high = 1;
}

/* ---- commands ---- */

static void landscape_choose_axis(struct landscape_choice *c, uint64_t axis,
                                  enum landscape_axis_mode mode)
{
    if (axis < 3)
        c->axes[axis].mode = c->axes[axis].mode == mode ? LANDSCAPE_AXIS_ALL : mode;
}

/* Another grouping has other events. */
static void landscape_choose_by(struct landscape_choice *c, uint64_t by)
{
    if (by >= RANK_CALLS_BYS || by == (uint64_t)c->by)
        return;
    c->by = (enum rank_calls_by)by;
    for (int i = 0; i < LANDSCAPE_EVENTS; i++)
        c->events[i].id = 0;
    landscape_show_all(c);
}

int landscape_command(struct ui *ui, const struct model *m, enum ui_command command,
                      uint64_t argument)
{
    struct landscape_choice *c = &ui->landscape;
    switch (command) {
    case COMMAND_LANDSCAPE_SHAPE:
        if (c->shape != LANDSCAPE_LAYOUT)
            c->event = 0;
        break;
    case COMMAND_LANDSCAPE_BY:
        landscape_choose_by(c, argument);
        break;
    case COMMAND_LANDSCAPE_FIGURE:
        if (argument < RANK_FIGURES)
            c->events[c->event].figure = (enum rank_figure)argument;
        landscape_show_all(c);
        break;
    case COMMAND_LANDSCAPE_EVENT:
        c->events[c->event].id = (uint32_t)argument + 1;
        landscape_show_all(c);
        break;
    case COMMAND_LANDSCAPE_LAYOUT:
        landscape_next_layout(c, m);
        landscape_show_all(c);
        memset(c->axes, 0, sizeof c->axes);
        c->event = 0;
        break;
    case COMMAND_LANDSCAPE_LEVEL:
        c->low = (double)(argument >> 32) / LANDSCAPE_LEVELS;
        c->high = (double)(argument & 0xffffffff) / LANDSCAPE_LEVELS;
        break;
    case COMMAND_LANDSCAPE_AXIS_ALL:
        landscape_choose_axis(c, argument, LANDSCAPE_AXIS_ALL);
        break;
    case COMMAND_LANDSCAPE_AXIS_MEAN:
        landscape_choose_axis(c, argument, LANDSCAPE_AXIS_MEAN);
        break;
    case COMMAND_LANDSCAPE_HOME:
        camera_home(&c->camera);
        landscape_show_all(c);
        memset(c->axes, 0, sizeof c->axes);
        break;
    default:
        break;
    }
    return UI_CHANGED;
}

/* ---- mouse ---- */

static void landscape_move_level(struct landscape_choice *c, const struct scene_hit *hit, double x)
{
    double at = fmin(fmax(scene_hit_x(hit, x), 0), 1);
    if (c->handle)
        c->high = at;
    else
        c->low = at;
}

static void landscape_move_slice(struct landscape_choice *c, const struct scene_hit *hit, double x)
{
    if (hit->a < 3)
        c->axes[hit->a] =
            (struct landscape_axis){LANDSCAPE_AXIS_SLICE, fmin(fmax(scene_hit_x(hit, x), 0), 1)};
}

void landscape_press(struct ui *ui, int ctrl)
{
    struct landscape_choice *c = &ui->landscape;
    c->drag = 0;
    if (ui->mouse.pressed.kind == HIT_LEVEL) {
        double at = scene_hit_x(&ui->mouse.pressed, ui->mouse.press_x);
        double to_high = fabs(at - c->high), to_low = fabs(at - c->low);
        c->handle = to_high < to_low || (to_high == to_low && at > c->high);
    } else if (ui->mouse.ground.kind == HIT_SPACE) {
        c->drag = ctrl ? LANDSCAPE_PAN : LANDSCAPE_TURN;
    }
}

int landscape_move(struct ui *ui, double dx, double dy)
{
    struct landscape_choice *c = &ui->landscape;
    const struct scene_hit *g = &ui->mouse.ground;
    if (ui->mouse.pressed.kind == HIT_LEVEL) {
        landscape_move_level(c, &ui->mouse.pressed, ui->mouse.x);
    } else if (ui->mouse.pressed.kind == HIT_SLICE) {
        landscape_move_slice(c, &ui->mouse.pressed, ui->mouse.x);
    } else if (c->drag && g->kind == HIT_SPACE) {
        if (c->drag == LANDSCAPE_TURN)
            camera_drag_turn(&c->camera, dx, dy);
        else
            camera_drag(&c->camera, g, dx, dy);
    } else {
        return 0;
    }
    return 1;
}

void landscape_click(struct ui *ui, const struct scene_hit *hit, int clicks)
{
    if (hit->kind == HIT_SLICE)
        landscape_move_slice(&ui->landscape, hit, ui->mouse.x);
    else if (clicks > 1)
        landscape_show_all(&ui->landscape);
    else
        landscape_move_level(&ui->landscape, hit, ui->mouse.x);
}
