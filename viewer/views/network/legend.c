/* Choices and legend of view "network". */
#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/network/view_network_parts.h"

#include <stdio.h>

/* ---- buttons ---- */

/* Places choices from left to right, in as many rows as needed. */
struct shelf {
    const struct stage *s;
    struct box box;
    double x, y;
};

static void network_legend_wrap(struct shelf *h, double w)
{
    if (h->x + w <= h->box.x + h->box.w || h->x <= h->box.x)
        return;
    h->x = h->box.x;
    h->y += 29;
}

static double network_legend_choice_width(const struct stage *s, const char *const *labels,
                                          int count)
{
    double w = 4;
    for (int i = 0; i < count; i++)
        w += scene_width(s->brush.scene, TEXT_SMALL, 0, labels[i]) + 18;
    return w;
}

static void network_legend_add_caption(struct shelf *h, const char *text, double w)
{
    double own = scene_width(h->s->brush.scene, TEXT_SMALL, 0, text) + 6;
    network_legend_wrap(h, own + w);
    scene_text(h->s->brush.scene, h->x, h->y + 4, own, TEXT_SMALL, 0, h->s->brush.theme->faint,
               text);
    h->x += own;
}

static void network_legend_add_choice(struct shelf *h, const char *title, const char *const *labels,
                                      int count, int active, enum ui_command command)
{
    double w = network_legend_choice_width(h->s, labels, count);
    network_legend_add_caption(h, title, w);
    widget_choice(&h->s->brush, h->x + w, h->y, labels, count, active, command);
    h->x += w + 14;
}

/* A button for each dimension: groups are the nodes with equal coordinates in the chosen
 * dimensions. */
static void network_legend_add_dimensions(struct shelf *h, const struct topology_spec *spec)
{
    const struct network_graph *g = &h->s->ui->graph;
    const struct theme *t = h->s->brush.theme;
    const uint32_t count = spec->dimension_count - (spec->kind == TOPOLOGY_DRAGONFLY ? 1 : 0);
    double w = 0;
    for (uint32_t d = 0; d < count; d++)
        w += scene_width(h->s->brush.scene, TEXT_SMALL, 0, spec->dimensions[d].name) + 22;
    network_legend_add_caption(h, "together by", w);
    for (uint32_t d = 0; d < count; d++) {
        int on = (g->applied & 1u << d) != 0;
        double own = scene_width(h->s->brush.scene, TEXT_SMALL, 0, spec->dimensions[d].name) + 20;
        scene_outline(h->s->brush.scene, (struct box){h->x, h->y, own, 24}, 5, 1,
                      on ? t->accent : t->line);
        h->x += widget_button(&h->s->brush, h->x, h->y, spec->dimensions[d].name, on,
                              COMMAND_NET_DIMENSION, d) +
                2;
    }
    h->x += 12;
}

static void network_legend_add_levels(struct shelf *h)
{
    const char *names[] = {"none", "1 up", "2 up", "3 up", "4 up"};
    const struct network_graph *g = &h->s->ui->graph;
    const struct topology *t = h->s->model->network.topology;
    int count = (int)(g->levels < 4 ? g->levels : 4) + 1;
    for (int i = 1; i < count && topology_spec(t)->kind == TOPOLOGY_FAT_TREE; i++)
        names[i] = topology_level_name(t, (uint32_t)i);
    if (count > 1)
        network_legend_add_choice(h, "together by switch", names, count, (int)g->applied_level,
                                  COMMAND_NET_LEVEL);
}

double network_choices(struct stage *s, struct box box)
{
    static const char *const tools[] = {"move", "lasso within", "lasso crossing"};
    static const char *const sizes[] = {"messages", "partners"};
    static const char *const metrics[] = {"message size", "length", "hop-bytes", "link load"};
    const struct topology *t = s->model->network.topology;
    struct shelf h = {s, box, box.x, box.y};
    network_legend_add_choice(&h, "drag", tools, 3, (int)s->ui->graph.tool, COMMAND_NET_TOOL);
    network_legend_add_choice(&h, "lines", metrics, 4, (int)network_metric(s->ui), COMMAND_METRIC);
    network_legend_add_choice(&h, "circles", sizes, 2, (int)s->ui->graph.size, COMMAND_NET_SIZE);
    if (!t)
        return h.y + 30;
    const struct topology_spec *spec = topology_spec(t);
    if (spec->kind == TOPOLOGY_CARTESIAN || spec->kind == TOPOLOGY_DRAGONFLY)
        network_legend_add_dimensions(&h, spec);
    else
        network_legend_add_levels(&h);
    return h.y + 30;
}

/* ---- what colours mean ---- */

static void network_legend_add_degrees(struct stage *s, struct network_drawing *d, double right,
                                       double y)
{
    const struct theme *t = s->brush.theme;
    const double bar = 96;
    uint64_t version = (uint64_t)s->ui->theme + 1;
    if (d->legend_image.version != version) {
        for (int i = 0; i < 256; i++)
            d->legend[i] = color_pixel(network_in_color(t, i / 255.0));
        d->legend_image = (struct image){d->legend, 256, 1, version};
    }
    double w = scene_width(s->brush.scene, TEXT_AXIS, 0, "only receives");
    scene_text(s->brush.scene, right - w, y, w + 1, TEXT_AXIS, 0, t->second, "only receives");
    right -= w + 8 + bar;
    scene_image(s->brush.scene, (struct box){right, y + 3, bar, 8}, &d->legend_image);
    w = scene_width(s->brush.scene, TEXT_AXIS, 0, "only sends");
    scene_text(s->brush.scene, right - 8 - w, y, w + 1, TEXT_AXIS, 0, t->second, "only sends");
}

/* Blue is less than in reality, red is more. @return its width */
static double network_legend_add_difference(const struct stage *s, double right, double y)
{
    const char *const words[] = {"less", s->ui->network.applied & FLOWS_OTHER_RUN
                                             ? "more than before"
                                             : "more than in reality"};
    const struct theme *t = s->brush.theme;
    double x = right;
    for (int i = 1; i >= 0; i--) {
        double w = scene_width(s->brush.scene, TEXT_AXIS, 0, words[i]);
        scene_text(s->brush.scene, x - w, y, w + 1, TEXT_AXIS, 0, t->second, words[i]);
        scene_rect(s->brush.scene, (struct box){x - w - 22, y + 5, 16, 4}, 0,
                   piece_difference_color(t, i ? 1 : -1));
        x -= w + 36;
    }
    return right - x;
}

void network_legend(struct stage *s, struct network_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct wiring *w = &d->now.wiring;
    enum flow_metric metric = network_metric(s->ui);
    char text[200];
    struct quantity low =
        piece_metric_text(metric, s->ui->network.colour_low[metric] * w->most[metric]);
    struct quantity high =
        piece_metric_text(metric, s->ui->network.colour_high[metric] * w->most[metric]);
    double right = box.x + box.w;
    if (ui_shows_difference(s->ui))
        right -= network_legend_add_difference(s, right, box.y) + 22;
    else
        right -= widget_map_legend(&s->brush, right, box.y, low.text, high.text) + 22;
    if (right - box.x > 280) {
        network_legend_add_degrees(s, d, right, box.y);
        right -= 270;
    }
    snprintf(text, sizeof text, "widest line %s%s", format_si((double)w->heaviest, "B").text,
             w->grouped ? "; ring: messages within; click opens a group" : "");
    if (scene_width(s->brush.scene, TEXT_AXIS, 0, text) <= right - box.x - 12)
        scene_text(s->brush.scene, box.x, box.y, right - box.x - 12, TEXT_AXIS, 0, t->second, text);
}
