/* Links in the picture of a network with tiers. Each loaded link is a line in the colour of its
 * load; of the two directions each keeps to its right-hand side. */
#include "viewer/views/torus/tier_lines.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "viewer/views/common/network_pieces.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = TIER_CURVE - 1, FAINT = 3000 };

/* The line that the children of a vertex of a tree share, as a part of the way down to them; how
 * far a direction is from the middle of its link, in pixels. */
static const double SHARED = 0.3, ASIDE = 1.2;

void tier_lines_finish(struct tier_lines *lines)
{
    free(lines->all);
    free(lines->drawn);
    free(lines->cells);
    *lines = (struct tier_lines){0};
}

/* ---- which ---- */

static int tier_lines_compare(const void *left, const void *right)
{
    const struct tier_line *a = left, *b = right;
    const float x = fabsf(a->value), y = fabsf(b->value);
    return 2 * ORDER(y, x) + ORDER(b->link, a->link);
}

int tier_lines_collect(struct tier_lines *lines, const struct flows *flows,
                       const struct flows *reality)
{
    lines->count = lines->drawn_count = 0;
    if (ARRAY_RESIZE(lines->all, flows->link_count + 1u) != 0 ||
        ARRAY_RESIZE(lines->drawn, flows->link_count + 1u) != 0)
        return -ENOMEM;
    for (uint32_t l = 0; l < flows->link_count; l++) {
        const double before =
            reality != NULL && l < reality->link_count ? (double)reality->loads[l] : 0;
        const float value = (float)((double)flows->loads[l] - before);
        if (flows->loads[l] || value != 0)
            lines->all[lines->count++] = (struct tier_line){l, value};
    }
    qsort(lines->all, lines->count, sizeof *lines->all, tier_lines_compare);
    return 0;
}

/* Whether something is selected, or excluded by the filter: the rest is faint then. */
static int tier_has_choice(const struct stage *s)
{
    return s->ui->selection.kind != SELECT_NONE || flow_filter_active(&s->ui->network.filter);
}

int tier_is_lit(const struct stage *s, const uint8_t *marks, uint32_t count, uint32_t i)
{
    const uint8_t need = (s->ui->selection.kind != SELECT_NONE ? FLOW_SELECTED : 0) | FLOW_SHOWN;
    return !tier_has_choice(s) || (marks && i < count && (marks[i] & need) == need);
}

static int tier_lines_is_lit(const struct stage *s, uint32_t link)
{
    return tier_is_lit(s, s->range->flows.link_marks, s->range->flows.link_count, link);
}

/* Where a line of a tree ends below, on the screen: the row of its lower end, the column of pixels
 * and the direction. Beyond the borders of the plot lies one column at each side. */
static size_t tier_lines_cell(const struct floor_plan *plan, const struct section *k,
                              uint32_t child, int up)
{
    const struct point at = plan->at[child];
    const double row = at.y / plan->level_height + plan->levels / 2.0,
                 column = section_x(k, at.x) - k->box.x + 1;
    return ((size_t)fmin(fmax(row, 0), plan->levels - 1) * (size_t)(k->box.w + 2) +
            (size_t)fmin(fmax(column, 0), k->box.w + 1)) *
               2 +
           (size_t)up;
}

/* Whether a line of a tree has a pixel for itself at its lower end. Beyond the borders of the plot
 * each vertex above has one: the line to there is seen. */
static int tier_lines_take_cell(struct tier_lines *lines, const struct floor_plan *plan,
                                const struct section *k, const struct topology *t, uint32_t link)
{
    uint32_t from, to;
    if (!topology_link(t, link, &from, &to) || from >= plan->vertex_count ||
        to >= plan->vertex_count)
        return 0;
    const int up = plan->at[to].y < plan->at[from].y;
    const uint32_t parent = up ? to : from, child = up ? from : to;
    const double x = section_x(k, plan->at[child].x);
    const int is_outside = x < k->box.x || x >= k->box.x + k->box.w;
    uint32_t *cell = &lines->cells[tier_lines_cell(plan, k, child, up)];
    if (is_outside ? *cell == parent + 1 : *cell != 0)
        return 0;
    *cell = parent + 1;
    return 1;
}

int tier_lines_choose(struct tier_lines *lines, const struct stage *s,
                      const struct floor_plan *plan, const struct section *k)
{
    const struct topology *t = s->model->network.topology;
    const int is_tree = topology_spec(t)->kind == TOPOLOGY_TREE && plan->levels > 0;
    const size_t cells = is_tree ? 2 * (size_t)plan->levels * (size_t)(k->box.w + 2) : 0;
    lines->drawn_count = 0;
    if (ARRAY_RESIZE(lines->cells, cells + 1) != 0)
        return -ENOMEM;
    memset(lines->cells, 0, cells * sizeof *lines->cells);
    for (int lit = 1; lit >= 0; lit--)
        for (uint32_t i = 0; i < lines->count && (is_tree || lines->drawn_count < TIER_LINES); i++)
            if (tier_lines_is_lit(s, lines->all[i].link) == lit &&
                (!is_tree || tier_lines_take_cell(lines, plan, k, t, lines->all[i].link)))
                lines->drawn[lines->drawn_count++] = i;
    return 0;
}

/* ---- where ---- */

/* From one level of a tree to the next: along a line that all children of a vertex share, on which
 * the fullest of their links is on top. */
static int tier_lines_elbow(const struct floor_plan *plan, const struct section *k, uint32_t from,
                            uint32_t to, struct point out[4])
{
    const struct point a = plan->at[from], b = plan->at[to];
    const int up = b.y < a.y;
    const double shared = up ? b.y + (a.y - b.y) * SHARED : a.y + (b.y - a.y) * SHARED;
    const double width = (double)plan->width[up ? from : to] * k->ux;
    const double aside = fmin(ASIDE, width / 4), x = up ? aside : -aside,
                 y = b.x < a.x ? -ASIDE : ASIDE;
    /* from the border of one vertex to that of the other */
    const double turn = up ? -0.5 : 0.5;
    out[0] =
        (struct point){section_x(k, a.x) + x, section_y(k, a.y + turn * (double)plan->size[from])};
    out[1] = (struct point){out[0].x, section_y(k, shared) + y};
    out[2] = (struct point){section_x(k, b.x) + x, out[1].y};
    out[3] = (struct point){out[2].x, section_y(k, b.y - turn * (double)plan->size[to])};
    return 4;
}

/* Lines between levels are a little to the right. */
int tier_lines_curve(const struct floor_plan *plan, const struct section *k,
                     const struct topology *t, uint32_t link, struct point out[TIER_CURVE])
{
    uint32_t from, to;
    if (!topology_link(t, link, &from, &to) || from >= plan->vertex_count ||
        to >= plan->vertex_count)
        return 0;
    const struct point a = plan->at[from], b = plan->at[to];
    const double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy);
    const int levels = plan->levels > 0, parts = levels || length < 4 ? 1 : PARTS;
    if (length <= 0)
        return 0;
    if (topology_spec(t)->kind == TOPOLOGY_TREE)
        return tier_lines_elbow(plan, k, from, to, out);
    const double bulge = levels ? 0 : fmin(0.16 * length, 70), aside = levels ? ASIDE / k->ux : 0;
    /* to the right of the direction, where y points down */
    const double nx = -dy / length, ny = dx / length;
    for (int i = 0; i <= parts; i++) {
        const double u = (double)i / parts, off = 4 * bulge * u * (1 - u) + aside;
        out[i] = (struct point){section_x(k, a.x + dx * u + nx * off),
                                section_y(k, a.y + dy * u + ny * off)};
    }
    return parts + 1;
}

static color_t tier_lines_color(const struct stage *s, double value)
{
    const double most = piece_metric_most(s, METRIC_LOAD);
    if (ui_shows_difference(s->ui))
        return piece_difference_color(s->brush.theme, most > 0 ? value / most : 0);
    return piece_metric_color(s, METRIC_LOAD, value);
}

/* @param like  width, distance and colour of the line's strokes */
static void tier_lines_add_line(struct strokes *strokes, const struct floor_plan *plan,
                                const struct section *k, const struct topology *t, uint32_t link,
                                struct stroke like)
{
    struct point at[TIER_CURVE];
    const int count = tier_lines_curve(plan, k, t, link, at);
    for (int i = 1; i < count; i++) {
        like.x0 = (float)at[i - 1].x;
        like.y0 = (float)at[i - 1].y;
        like.x1 = (float)at[i].x;
        like.y1 = (float)at[i].y;
        strokes_add(strokes, &like);
    }
}

static void tier_lines_add_idle(struct strokes *strokes, const struct stage *s,
                                const struct floor_plan *plan, const struct section *k)
{
    const struct topology *t = s->model->network.topology;
    const struct flows *f = &s->range->flows;
    const struct stroke like = {.width = 1,
                                .away = 2,
                                .color =
                                    color_mix(s->brush.theme->panel, s->brush.theme->line, 0.7)};
    for (uint32_t l = 0; l < topology_links(t) && topology_links(t) <= FAINT; l++)
        if (l >= f->link_count || !f->loads[l])
            tier_lines_add_line(strokes, plan, k, t, l, like);
}

void tier_lines_add(const struct tier_lines *lines, struct strokes *strokes, const struct stage *s,
                    const struct floor_plan *plan, const struct section *k)
{
    const double most = fmax(piece_metric_most(s, METRIC_LOAD), 1);
    tier_lines_add_idle(strokes, s, plan, k);
    for (uint32_t i = lines->drawn_count; i-- > 0;) {
        const struct tier_line *l = &lines->all[lines->drawn[i]];
        const int lit = tier_lines_is_lit(s, l->link), chosen = lit && tier_has_choice(s);
        const double share = fmin(fabs((double)l->value) / most, 1);
        color_t color = tier_lines_color(s, (double)l->value);
        if (!lit)
            color = color_mix(color, s->brush.theme->panel, 0.85);
        tier_lines_add_line(strokes, plan, k, s->model->network.topology, l->link,
                            (struct stroke){.width = (float)(0.8 + 1.8 * share + 0.8 * chosen),
                                            .away = (float)(-share - 4 * chosen),
                                            .color = color});
    }
}

uint32_t tier_lines_under(const struct tier_lines *lines, const struct stage *s,
                          const struct floor_plan *plan, const struct section *k)
{
    const double x = s->brush.mouse_x, y = s->brush.mouse_y;
    double nearest = 5;
    uint32_t best = TOPOLOGY_NONE;
    for (uint32_t i = 0; i < lines->drawn_count && box_has(k->box, x, y); i++) {
        struct point at[TIER_CURVE];
        const uint32_t link = lines->all[lines->drawn[i]].link;
        const int count = tier_lines_curve(plan, k, s->model->network.topology, link, at);
        for (int n = 1; n < count; n++) {
            const double away = torus_distance(
                x, y, &(struct projection_line){at[n - 1].x, at[n - 1].y, at[n].x, at[n].y});
            if (away < nearest) {
                nearest = away;
                best = link;
            }
        }
    }
    return best;
}
