/* Controls of view "torus": axes, legend, choices, menu of restrictions. */
#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/torus/drawing.h"

#include <math.h>
#include <stdio.h>

/* ---- axes ---- */

static void torus_controls_add_toggle(const struct stage *s, double x, double y, uint32_t dimension,
                                      int on)
{
    const struct theme *t = s->brush.theme;
    struct box box = {x - 15, y - 10, 30, 20};
    int hover = box_has(box, s->brush.mouse_x, s->brush.mouse_y);
    scene_rect(s->brush.scene, box, 4, on ? t->line : t->panel);
    scene_outline(s->brush.scene, box, 4, 1, hover ? t->text : t->line);
    scene_text(s->brush.scene, box.x + 1, y - 7, box.w - 2, TEXT_AXIS_STRONG, TEXT_CENTRE,
               on ? t->text : t->faint, torus_dimension(s, dimension));
    scene_hit(s->brush.scene, box, HIT_BUTTON, COMMAND_TORUS_LINKS, dimension);
}

/* Dimensions beyond the three shown: summed, or a slice. A click on the name shows the dimension, a
 * click on the figure chooses the next slice. */
static double torus_controls_add_beyond(const struct stage *s, const struct torus_drawing *d,
                                        double x, double y, double w)
{
    const struct topology_spec *spec = topology_spec(s->model->network.topology);
    const struct theme *t = s->brush.theme;
    const struct projection *p = &d->sides[0].projection;
    double at = x;
    for (uint32_t i = 0; i < spec->dimension_count; i++) {
        char text[40];
        if (p->axes[0].dimension == i || p->axes[1].dimension == i || p->axes[2].dimension == i)
            continue;
        if (p->slice[i] == PROJECTION_NONE)
            snprintf(text, sizeof text, "all %u", spec->dimensions[i].size);
        else
            snprintf(text, sizeof text, "= %u", p->slice[i]);
        double name_w = scene_width(s->brush.scene, TEXT_AXIS_STRONG, 0, spec->dimensions[i].name);
        double text_w = scene_width(s->brush.scene, TEXT_AXIS, 0, text), all = name_w + text_w + 20;
        if (at > x && at + all > x + w) {
            at = x;
            y += 20;
        }
        struct box name = {at, y, name_w + 6, 18}, slice = {at + name_w + 6, y, text_w + 8, 18};
        int over = box_has(name, s->brush.mouse_x, s->brush.mouse_y),
            over_slice = box_has(slice, s->brush.mouse_x, s->brush.mouse_y);
        scene_text(s->brush.scene, at + 2, y + 2, name_w + 1, TEXT_AXIS_STRONG, 0,
                   over ? t->accent : t->text, spec->dimensions[i].name);
        scene_text(s->brush.scene, slice.x + 2, y + 2, text_w + 1, TEXT_AXIS, 0,
                   over_slice ? t->text : t->second, text);
        scene_hit(s->brush.scene, name, HIT_BUTTON, COMMAND_TORUS_DIMENSION, i);
        scene_hit(s->brush.scene, slice, HIT_BUTTON, COMMAND_TORUS_SLICE, i);
        at += all;
    }
    return y;
}

void torus_axes(struct stage *s, const struct torus_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct torus_side *side = &d->sides[s->ui->torus.view];
    const struct projection *p = &side->projection;
    const double length = 44;
    double x = box.x + 18, y = box.y + 66;
    const struct point ends[PROJECTION_AXES] = {
        {x + length * 0.62, y - length * 0.62}, {x + length + 12, y}, {x, y - length - 2}};
    scene_text(s->brush.scene, box.x, box.y - 6, box.w, TEXT_AXIS, 0, t->second, "links drawn");
    for (int i = 0; i < PROJECTION_AXES; i++) {
        uint32_t dimension = p->axes[i].dimension;
        if (dimension == PROJECTION_NONE)
            continue;
        int on = side->axes >> i & 1;
        scene_line(s->brush.scene, x, y, ends[i].x, ends[i].y, 1.5, on ? t->text : t->line);
    }
    for (int i = 0; i < PROJECTION_AXES; i++)
        if (p->axes[i].dimension != PROJECTION_NONE)
            torus_controls_add_toggle(s,
                                      ends[i].x + (i == PROJECTION_DEPTH    ? 12
                                                   : i == PROJECTION_ACROSS ? 10
                                                                            : 0),
                                      ends[i].y - (i == PROJECTION_DEPTH ? 4 : 0),
                                      p->axes[i].dimension, (int)(side->axes >> i & 1));
    torus_controls_add_beyond(s, d, box.x, y + 16, box.w);
}

/* ---- legend ---- */

static const char *torus_controls_unit_of(const struct torus_panel *p)
{
    return p->figure == TORUS_MESSAGES || p->packets ? "" : "B";
}

static void torus_controls_add_handle(const struct stage *s, double x, double y, double h)
{
    const struct theme *t = s->brush.theme;
    scene_rect(s->brush.scene, (struct box){x - 3, y - 3, 6, h + 6}, 2, t->text);
    scene_outline(s->brush.scene, (struct box){x - 3, y - 3, 6, h + 6}, 2, 1, t->panel);
}

/* What a colour of a link stands for. If links coincide, a click on it chooses between their
 * largest load, their mean and their sum. */
static void torus_controls_add_what(const struct stage *s, const struct torus_drawing *d,
                                    struct box box, const struct torus_panel *p)
{
    static const char *const folds[TORUS_FOLDS] = {"largest of", "mean of", "sum of"};
    const struct theme *t = s->brush.theme;
    const enum torus_fold fold = s->ui->torus.fold;
    const char *what = p->before                     ? "change of a link: less, more"
                       : p->figure == TORUS_MEASURED ? p->packets ? "packets measured" : "measured"
                       : p->figure == TORUS_MESSAGES ? "messages over a link"
                                                     : "bytes over a link";
    scene_text(s->brush.scene, box.x, box.y, box.w, TEXT_AXIS, 0, t->second, what);
    if (torus_coinciding(d) == 1)
        return;
    struct box line = {box.x, box.y - 17, box.w, 16};
    const int hover = box_has(line, s->brush.mouse_x, s->brush.mouse_y);
    scene_textf(s->brush.scene, line.x, line.y, line.w, TEXT_AXIS_STRONG, 0,
                hover ? t->accent : t->text, "%s %u links (E)", folds[fold], torus_coinciding(d));
    scene_hit(s->brush.scene, line, HIT_BUTTON, COMMAND_TORUS_FOLD, (fold + 1) % TORUS_FOLDS);
}

/* What the colours of nodes stand for. */
void torus_node_legend(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct torus_choice *c = &s->ui->torus;
    const uint32_t ranks = c->panels[c->panel].seat_count;
    const struct image *colours = c->paint == TORUS_RANKS    ? &t->sizes_image
                                  : c->paint == TORUS_DEGREE ? &t->diverging_image
                                                             : &t->map_image;
    static const char *const what[TORUS_PAINTS] = {"nodes: lowest rank", "nodes: sent, received",
                                                   "nodes: in transit"};
    char last[32];
    snprintf(last, sizeof last, "%u", ranks > 0 ? ranks - 1 : 0);
    scene_text(s->brush.scene, box.x, box.y, box.w, TEXT_AXIS, 0, t->second, what[c->paint]);
    scene_image(s->brush.scene, (struct box){box.x + 4, box.y + 18, box.w - 8, 8}, colours);
    scene_text(s->brush.scene, box.x, box.y + 29, box.w / 2, TEXT_AXIS, TEXT_FIGURES, t->text,
               c->paint == TORUS_DEGREE ? "sends" : "0");
    scene_text(s->brush.scene, box.x + box.w / 2, box.y + 29, box.w / 2, TEXT_AXIS,
               TEXT_RIGHT | TEXT_FIGURES, t->text,
               c->paint == TORUS_RANKS    ? last
               : c->paint == TORUS_DEGREE ? "receives"
                                          : "most");
}

/* Colours of differences, from the largest load of the reality less to as much more. */
static void torus_controls_add_difference(const struct stage *s, const struct torus_drawing *d,
                                          struct box box, const struct torus_panel *p)
{
    const struct theme *t = s->brush.theme;
    const struct quantity most = format_si(d->top, torus_controls_unit_of(p));
    for (int i = -8; i < 8; i++)
        scene_rect(s->brush.scene,
                   (struct box){box.x + (i + 8) * box.w / 16, box.y, box.w / 16 + 1, box.h}, 0,
                   piece_difference_color(t, (i + 0.5) / 8));
    scene_textf(s->brush.scene, box.x, box.y + box.h + 5, box.w / 2, TEXT_AXIS, TEXT_FIGURES,
                t->text, "\xe2\x88\x92%s", most.text);
    scene_textf(s->brush.scene, box.x + box.w / 2, box.y + box.h + 5, box.w / 2, TEXT_AXIS,
                TEXT_RIGHT | TEXT_FIGURES, t->text, "+%s", most.text);
}

void torus_legend(struct stage *s, const struct torus_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct torus_choice *c = &s->ui->torus;
    const struct torus_panel *p = &c->panels[c->panel];
    double y = box.y + 20, h = 12, x0 = box.x + 4, w = box.w - 8;
    double left = x0 + c->low * w, right = x0 + c->high * w;
    torus_controls_add_what(s, d, box, p);
    if (p->before) {
        torus_controls_add_difference(s, d, (struct box){x0, y, w, h}, p);
        return;
    }
    scene_rect(s->brush.scene, (struct box){x0, y, w, h}, 0, t->line);
    scene_image(s->brush.scene, (struct box){left, y, fmax(right - left, 1), h}, &t->map_image);
    if (x0 + w - right > 1) /* loads above the maximum have its colour */
        scene_rect(s->brush.scene, (struct box){right, y + 3, x0 + w - right, h - 6}, 0,
                   t->map[255]);
    torus_controls_add_handle(s, left, y, h);
    torus_controls_add_handle(s, right, y, h);
    scene_text(s->brush.scene, box.x, y + h + 5, box.w / 2, TEXT_AXIS, TEXT_FIGURES, t->text,
               format_si(c->low * d->top, torus_controls_unit_of(p)).text);
    scene_text(s->brush.scene, box.x + box.w / 2, y + h + 5, box.w / 2, TEXT_AXIS,
               TEXT_RIGHT | TEXT_FIGURES, t->text,
               format_si(c->high * d->top, torus_controls_unit_of(p)).text);
    struct scene_hit *hit =
        scene_hit(s->brush.scene, (struct box){x0 - 4, y - 6, w + 8, h + 12}, HIT_SCALE, 0, 0);
    hit->x0 = -4 / w;
    hit->x1 = 1 + 4 / w;
}

/* ---- choices ---- */

static void torus_controls_format_context(const struct stage *s, char *out, size_t capacity)
{
    const struct torus_choice *c = &s->ui->torus;
    const struct model *m = s->model;
    const char *comm = c->comm && c->comm <= m->comm_count ? m->comms[c->comm - 1].name : "";
    const char *region =
        c->region && c->region <= m->region_count ? m->regions[c->region - 1].name : "";
    if (!c->comm && !c->region)
        snprintf(out, capacity, "all messages");
    else
        snprintf(out, capacity, "%s%s%s", c->comm ? *comm ? comm : "a communicator" : "",
                 c->comm && c->region ? ", " : "",
                 c->region ? *region ? region : "outside regions" : "");
}

static double torus_controls_add_button(const struct stage *s, double right, double y,
                                        const char *label, int active, uint64_t command)
{
    double w = scene_width(s->brush.scene, TEXT_SMALL, 0, label) + 20;
    widget_button(&s->brush, right - w, y, label, active, command, 0);
    return w + 4;
}

double torus_choices(struct stage *s, double right, double y, double least)
{
    static const char *const figures[] = {"bytes", "messages", "measured"};
    static const char *const paints[] = {"ranks", "in/out", "transit"};
    const struct torus_choice *c = &s->ui->torus;
    const int alone = !s->second; /* what is chosen from is not of a second network */
    char context[160];
    double compare = piece_compare(s, right, y);
    right -= compare > 0 ? compare + 6 : 0;
    right -= widget_choice(&s->brush, right, y, figures, s->model->measured.version ? 3 : 2,
                           (int)c->panels[0].figure, COMMAND_TORUS_FIGURE) +
             6;
    if (right - least > 460)
        right -=
            widget_choice(&s->brush, right, y, paints, 3, (int)c->paint, COMMAND_TORUS_PAINT) + 6;
    torus_controls_format_context(s, context, sizeof context);
    if (right - least > 260 && alone &&
        s->model->group <= 1) /* messages of contexts are of pairs of ranks */
        right -= torus_controls_add_button(s, right, y, context, c->menu || c->comm || c->region,
                                           COMMAND_TORUS_MENU);
    if (right - least > 110 && alone)
        right -= torus_controls_add_button(s, right, y, "pin", 0, COMMAND_TORUS_PIN);
    const uint32_t hidden = torus_sliced_dimension(c, s->model->network.topology);
    if (right - least > 200 && hidden != PROJECTION_NONE && alone) {
        char text[32];
        snprintf(text, sizeof text, "slices of %.12s", torus_dimension(s, hidden));
        right -= torus_controls_add_button(
            s, right, y, text, c->panel_count > 1 && c->panels[c->panel_count - 1].slices,
            COMMAND_TORUS_SLICES);
    }
    if (right - least > 160 && c->panel_count > 1)
        right -=
            torus_controls_add_button(s, right, y, "side by side", c->grid, COMMAND_TORUS_GRID);
    return right;
}

/* A column of the menu: "all", then each item that sent messages. */
static double torus_controls_add_menu_column(struct stage *s, struct box box, const char *title,
                                             enum ui_command command, uint32_t count,
                                             uint32_t active)
{
    const struct model *m = s->model;
    const struct theme *t = s->brush.theme;
    double y = box.y;
    scene_text(s->brush.scene, box.x + 8, y, box.w - 16, TEXT_AXIS_STRONG, 0, t->second, title);
    y += 20;
    for (uint32_t i = 0; i <= count && y + 22 <= box.y + box.h; i++) {
        char text[96];
        if (!i)
            snprintf(text, sizeof text, "all");
        else if (command == COMMAND_TORUS_REGION)
            snprintf(text, sizeof text, "%s",
                     m->regions[i - 1].name[0] ? m->regions[i - 1].name : "outside regions");
        else if (!m->comms[i - 1].size)
            continue;
        else
            snprintf(text, sizeof text, "%s, %llu ranks",
                     m->comms[i - 1].name[0] ? m->comms[i - 1].name : "unnamed",
                     (unsigned long long)m->comms[i - 1].size);
        struct box row = {box.x, y, box.w, 22};
        int hover = box_has(row, s->brush.mouse_x, s->brush.mouse_y);
        if (hover || i == active)
            scene_rect(s->brush.scene, row, 4, i == active ? t->line : t->raised);
        scene_text(s->brush.scene, box.x + 8, y + 3, box.w - 16, TEXT_SMALL, 0,
                   i == active || hover ? t->text : t->second, text);
        scene_hit(s->brush.scene, row, HIT_BUTTON, command, i);
        y += 22;
    }
    return y;
}

void torus_menu(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct torus_choice *c = &s->ui->torus;
    const struct model *m = s->model;
    uint32_t rows = m->comm_count > m->region_count ? m->comm_count : m->region_count;
    double w = fmin(460, box.w - 20), h = fmin(60 + 22.0 * (rows + 1), box.h - 50);
    struct box menu = {floor(box.x + box.w - w - 12), box.y + 38, w, h};
    if (!c->menu)
        return;
    scene_hit(s->brush.scene, (struct box){0, 0, s->ui->w, s->ui->h}, HIT_COVER, 0, 0);
    scene_panel(s->brush.scene, menu, 0, "torus.menu");
    scene_overlay(s->brush.scene);
    scene_rect(s->brush.scene, menu, 6, color_mix(t->panel, t->raised, 0.6));
    scene_outline(s->brush.scene, menu, 6, 1, t->line);
    scene_text(s->brush.scene, menu.x + 12, menu.y + 8, menu.w - 24, TEXT_AXIS, 0, t->second,
               m->contexts.left_out ? "since the start; of lesser rows only the sum is known"
                                    : "what is sent within it, since the start");
    struct box left = {menu.x + 6, menu.y + 28, menu.w / 2 - 9, menu.h - 34},
               right = {menu.x + menu.w / 2 + 3, menu.y + 28, menu.w / 2 - 9, menu.h - 34};
    torus_controls_add_menu_column(s, left, "Code region", COMMAND_TORUS_REGION, m->region_count,
                                   c->region);
    torus_controls_add_menu_column(s, right, "Communicator", COMMAND_TORUS_COMM, m->comm_count,
                                   c->comm);
}
