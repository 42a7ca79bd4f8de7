/* View "matrix": cells of pairs, axes, node borders, selection, hits. */
#include "viewer/views/matrix/view_matrix.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/matrix/distances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pixels: a cell is at least so large that it can be seen and pointed at, the list of distances
 * stands beside the matrix where it has this width. */
enum { LEAST_CELL = 3, DISTANCES = 260, MOST_DISTANCES = 400, GAP = 36 };

/* Mapping of the visible ranks to cells. */
struct grid {
    double column, row, extent; /* visible ranks */
    uint32_t first_column, first_row;
    uint32_t least;    /* ranks of which there are figures: one, or a group */
    uint32_t per_cell; /* ranks along each side of a cell, at least that */
    int cells;         /* cells along each side of the picture; the outer cells may be clipped */
    double cell;       /* logical pixels */
    struct box plot;
};

static struct grid matrix_view_fit_grid(const struct stage *s, struct box plot)
{
    struct grid g = {.plot = plot};
    ui_matrix(s->ui, s->model, &g.column, &g.row, &g.extent);
    /* A cell sums as many ranks as share it; none is dropped. Powers of two, so that cells contain
     * the same ranks while panning; groups of ranks are no larger than the least cells. */
    g.least = 1;
    while (g.least < s->model->group && g.least < g.extent)
        g.least *= 2;
    g.per_cell = g.least;
    while (plot.w / (g.extent / g.per_cell) < LEAST_CELL && g.per_cell < g.extent)
        g.per_cell *= 2;
    g.cell = plot.w / g.extent * g.per_cell;
    g.first_column = (uint32_t)(g.column / g.per_cell) * g.per_cell;
    g.first_row = (uint32_t)(g.row / g.per_cell) * g.per_cell;
    g.cells = (int)ceil(g.extent / g.per_cell) + 1;
    return g;
}

static uint64_t matrix_view_compute_key(const struct stage *s, const struct grid *g)
{
    const struct other_run *other = s->ui->network.other;
    const uint64_t parts[] = {s->range->version,
                              g->first_column,
                              g->first_row,
                              g->per_cell,
                              (uint64_t)g->cells,
                              (uint64_t)s->quantity,
                              (uint64_t)s->ui->theme,
                              other ? other->version : 0,
                              other ? 1 + (uint64_t)s->ui->network.compare : 0};
    return mix_numbers(3, parts, sizeof parts / sizeof *parts);
}

/* @param sign  1, or -1 to subtract */
static void matrix_view_add_pairs(const struct stage *s, const struct model *m,
                                  const struct range *r, const struct grid *g, double *cells,
                                  double sign)
{
    uint32_t side = (uint32_t)g->cells;
    uint64_t span = (uint64_t)side * g->per_cell;
    unsigned shift = 0;
    while ((1u << shift) < g->per_cell)
        shift++;
    for (uint32_t i = 0; i < r->pairs.count; i++) {
        uint64_t value = r->pairs.figures[(size_t)i * PAIR_COLUMNS + s->quantity];
        const struct key *pair = &m->pairs.keys.keys[i];
        uint64_t row = pair->hi - g->first_row, column = pair->lo - g->first_column;
        if (value && row < span && column < span)
            cells[(row >> shift) * side + (column >> shift)] += sign * (double)value;
    }
}

/* Round the ends of the colour scale, of bytes to powers of two, else to 1, 2, 5, so that it does
 * not change with small fluctuations. */
static void matrix_view_scale_of(const struct stage *s, struct picture *p, const double *cells,
                                 size_t count)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < count; i++) {
        if (cells[i] <= 0)
            continue;
        low = low == 0 || cells[i] < low ? cells[i] : low;
        high = fmax(high, cells[i]);
    }
    const char *unit = s->quantity == PAIR_BYTES ? "B" : "";
    p->low = nice_floor_unit(low, unit);
    p->high = nice_ceil_unit(high, unit);
    if (p->high < p->low * 10 && p->high > 0)
        p->low = nice_floor_unit(p->high / 10, unit);
}

/* Colours of differences: shares of the largest cell before. */
static void matrix_view_paint_difference(const struct stage *s, struct picture *p,
                                         const double *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cells[i] != 0)
            p->image.pixels[i] =
                color_pixel(piece_difference_color(s->brush.theme, p->high > 0 ? cells[i] / p->high
                                                                   : cells[i] > 0 ? 1
                                                                                  : -1));
}

static int matrix_view_shows_difference(const struct stage *s)
{
    return s->ui->network.other && s->ui->network.compare == COMPARE_DIFFERENCE;
}

/* Sums of the state in sight: of the run that is followed, of the other one, or the difference. The
 * colour scale is always that of the followed one. */
static void matrix_view_sum_up(const struct stage *s, const struct grid *g, struct picture *p,
                               double *cells, size_t count)
{
    const struct other_run *other = s->ui->network.other;
    matrix_view_add_pairs(s, s->model, s->range, g, cells, 1);
    matrix_view_scale_of(s, p, cells, count);
    if (!other || s->ui->network.compare == COMPARE_BEFORE)
        return;
    memset(cells, 0, count * sizeof *cells);
    if (matrix_view_shows_difference(s))
        matrix_view_add_pairs(s, s->model, s->range, g, cells, -1);
    matrix_view_add_pairs(s, other->model, &other->range, g, cells, 1);
    if (!(p->high > 0)) /* nothing before: its own scale */
        matrix_view_scale_of(s, p, cells, count);
}

static int matrix_view_paint(const struct stage *s, const struct grid *g)
{
    struct picture *p = &s->pictures->matrix;
    uint64_t key = matrix_view_compute_key(s, g);
    if (p->key == key)
        return 0;
    if (picture_size(s->pictures, p, g->cells, g->cells) < 0)
        return -1;
    size_t count = (size_t)g->cells * (size_t)g->cells;
    double *cells = s->pictures->cells;
    matrix_view_sum_up(s, g, p, cells, count);
    if (matrix_view_shows_difference(s))
        matrix_view_paint_difference(s, p, cells, count);
    double span = p->high > 0 ? log(p->high / p->low) : 1;
    for (size_t i = 0; i < count && !matrix_view_shows_difference(s); i++)
        if (cells[i] > 0)
            p->image.pixels[i] = color_pixel(
                theme_map(s->brush.theme, fmax(0.06 + 0.94 * log(cells[i] / p->low) / span, 0.02)));
    p->key = key;
    p->per_cell = g->per_cell;
    p->image.version++;
    return 0;
}

static double matrix_view_x_of(const struct grid *g, double rank)
{
    return g->plot.x + (rank - g->column) / g->extent * g->plot.w;
}

static double matrix_view_y_of(const struct grid *g, double rank)
{
    return g->plot.y + (rank - g->row) / g->extent * g->plot.h;
}

static void matrix_view_add_axes(const struct stage *s, const struct grid *g)
{
    const struct theme *t = s->brush.theme;
    double step = ceil(fmax(nice_ceil(g->extent * 36 / g->plot.w), 1));
    double per_rank = g->plot.w / g->extent;
    for (double rank = ceil(g->column / step) * step; rank < g->column + g->extent; rank += step) {
        double x = matrix_view_x_of(g, rank) + (per_rank > 8 ? per_rank / 2 : 0);
        if (x - 14 >= g->plot.x - 14 && x + 14 <= g->plot.x + g->plot.w + 8)
            scene_textf(s->brush.scene, x - 18, g->plot.y - 16, 36, TEXT_AXIS,
                        TEXT_CENTRE | TEXT_FIGURES, t->second, "%s",
                        piece_rank_axis(rank, step).text);
    }
    for (double rank = ceil(g->row / step) * step; rank < g->row + g->extent; rank += step) {
        double y = matrix_view_y_of(g, rank) + (per_rank > 8 ? per_rank / 2 : 0);
        if (y <= g->plot.y + g->plot.h - 4)
            scene_textf(s->brush.scene, g->plot.x - 46, fmax(y - 7, g->plot.y - 2), 40, TEXT_AXIS,
                        TEXT_RIGHT | TEXT_FIGURES, t->second, "%s",
                        piece_rank_axis(rank, step).text);
    }
}

/* Borders between nodes, if ranks are placed in blocks and the lines are far enough apart. */
static void matrix_view_add_node_lines(const struct stage *s, const struct grid *g)
{
    const struct model *m = s->model;
    uint32_t first = (uint32_t)fmax(g->column < g->row ? g->column : g->row, 0), lines = 0;
    uint32_t last = (uint32_t)fmin(fmax(g->column, g->row) + g->extent, m->rank_count);
    for (uint32_t rank = first + 1; rank < last; rank++)
        lines += m->ranks[rank].node != m->ranks[rank - 1].node;
    if (!lines || g->plot.w / lines < 14)
        return;
    color_t color = color_fade(s->brush.theme->second, 0.30);
    for (uint32_t rank = first + 1; rank < last; rank++) {
        if (m->ranks[rank].node == m->ranks[rank - 1].node)
            continue;
        double x = floor(matrix_view_x_of(g, rank)) + 0.5,
               y = floor(matrix_view_y_of(g, rank)) + 0.5;
        if (x > g->plot.x && x < g->plot.x + g->plot.w)
            scene_line(s->brush.scene, x, g->plot.y, x, g->plot.y + g->plot.h, 1, color);
        if (y > g->plot.y && y < g->plot.y + g->plot.h)
            scene_line(s->brush.scene, g->plot.x, y, g->plot.x + g->plot.w, y, 1, color);
    }
}

/* Thin lines between cells that are large enough to be examined one by one. */
static void matrix_view_add_cell_lines(const struct stage *s, const struct grid *g)
{
    if (g->cell < 7)
        return;
    for (int i = 0; i <= g->cells; i++) {
        double x = matrix_view_x_of(g, g->first_column + (double)i * g->per_cell),
               y = matrix_view_y_of(g, g->first_row + (double)i * g->per_cell);
        scene_line(s->brush.scene, floor(x) + 0.5, g->plot.y, floor(x) + 0.5, g->plot.y + g->plot.h,
                   1, s->brush.theme->panel);
        scene_line(s->brush.scene, g->plot.x, floor(y) + 0.5, g->plot.x + g->plot.w, floor(y) + 0.5,
                   1, s->brush.theme->panel);
    }
}

/* The figure of a pair in the state in sight; of a difference with its sign. */
static struct quantity matrix_view_format_pair(const struct stage *s, uint32_t source,
                                               uint32_t destination)
{
    const struct other_run *other = s->ui->network.other;
    uint32_t n = model_pair_find(s->model, source, destination);
    uint64_t value = n < s->range->pairs.count
                         ? s->range->pairs.figures[(size_t)n * PAIR_COLUMNS + s->quantity]
                         : 0;
    if (!other || s->ui->network.compare == COMPARE_BEFORE)
        return piece_quantity(s->quantity, value);
    uint64_t after = other_run_pair(other, source, destination, s->quantity);
    if (!matrix_view_shows_difference(s))
        return piece_quantity(s->quantity, after);
    return quantity_print(
        "%s%s", after < value ? "\xe2\x88\x92" : "+",
        piece_quantity(s->quantity, after < value ? value - after : after - value).text);
}

static void matrix_view_add_cell_figures(const struct stage *s, const struct grid *g)
{
    const struct picture *p = &s->pictures->matrix;
    if (g->cell < 54 || g->per_cell > g->least)
        return;
    for (int row = 0; row < p->image.h; row++) {
        for (int column = 0; column < p->image.w; column++) {
            uint32_t pixel = p->image.pixels[row * p->image.w + column];
            if (!pixel)
                continue;
            const uint32_t source = g->first_row + (uint32_t)row * g->per_cell,
                           destination = g->first_column + (uint32_t)column * g->per_cell;
            struct quantity text = matrix_view_format_pair(s, source, destination);
            double x = matrix_view_x_of(g, destination), y = matrix_view_y_of(g, source);
            if (x < g->plot.x || y < g->plot.y || x + g->cell > g->plot.x + g->plot.w + 1 ||
                y + g->cell > g->plot.y + g->plot.h + 1)
                continue;
            scene_text(s->brush.scene, x + 2, y + g->cell / 2 - 7, g->cell - 4, TEXT_AXIS,
                       TEXT_CENTRE, theme_on(pixel << 8 | 0xff), text.text);
        }
    }
}

static void matrix_view_mark_selected(const struct stage *s, const struct grid *g)
{
    const struct selection *sel = &s->ui->selection;
    color_t color = s->brush.theme->accent;
    double h = g->plot.h / g->extent * g->least, row = (double)model_row_of(s->model, sel->a),
           column = (double)model_row_of(s->model, sel->b);
    if (sel->kind == SELECT_RANK) {
        scene_outline(
            s->brush.scene,
            (struct box){g->plot.x, matrix_view_y_of(g, row) - 1, g->plot.w, fmax(h, 2) + 2}, 0, 1,
            color);
        scene_outline(
            s->brush.scene,
            (struct box){matrix_view_x_of(g, row) - 1, g->plot.y, fmax(h, 2) + 2, g->plot.h}, 0, 1,
            color);
    } else if (sel->kind == SELECT_PAIR && sel->b != PAIR_OTHERS) {
        double pad = h < 8 ? 4 : 1;
        scene_outline(s->brush.scene,
                      (struct box){matrix_view_x_of(g, column) - pad,
                                   matrix_view_y_of(g, row) - pad, h + 2 * pad, h + 2 * pad},
                      2, 2, color);
    } else if (sel->kind != SELECT_NONE && sel->kind != SELECT_CALL) {
        for (uint32_t rank = 0; rank < s->model->rank_count; rank++) {
            if (!ui_marks_rank(s->ui, s->model, rank))
                continue;
            uint32_t end = rank;
            while (end < s->model->rank_count && ui_marks_rank(s->ui, s->model, end))
                end++;
            double x = matrix_view_x_of(g, rank), y = matrix_view_y_of(g, rank),
                   w = (end - rank) * g->plot.h / g->extent;
            scene_outline(s->brush.scene, (struct box){g->plot.x, y, g->plot.w, w}, 0, 1, color);
            scene_outline(s->brush.scene, (struct box){x, g->plot.y, w, g->plot.h}, 0, 1, color);
            rank = end;
        }
    }
}

/* Legend of the colours. @return width */
static double matrix_view_add_legend(const struct stage *s, double right, double y)
{
    const struct picture *p = &s->pictures->matrix;
    if (!(p->high > 0))
        return 0;
    if (matrix_view_shows_difference(s)) {
        static const char *const words[] = {"less", "more"};
        for (int i = 1; i >= 0; i--) {
            scene_text(s->brush.scene, right - 34 - 60 * (1 - i), y, 34, TEXT_AXIS, 0,
                       s->brush.theme->second, words[i]);
            scene_rect(s->brush.scene, (struct box){right - 54 - 60 * (1 - i), y + 5, 16, 5}, 0,
                       piece_difference_color(s->brush.theme, i ? 1 : -1));
        }
        return 120;
    }
    struct quantity low = piece_quantity(s->quantity, (uint64_t)fmax(p->low, 1)),
                    high = piece_quantity(s->quantity, (uint64_t)p->high);
    if (strcmp(low.text, high.text) != 0)
        return widget_map_legend(&s->brush, right, y, low.text, high.text);
    struct quantity each = quantity_print("%s each", high.text); /* all are of one colour */
    double w = scene_width(s->brush.scene, TEXT_AXIS, 0, each.text);
    scene_text(s->brush.scene, right - w, y, w + 1, TEXT_AXIS, 0, s->brush.theme->second,
               each.text);
    return w;
}

/* Footnote: aggregation, and pairs that are not in the picture: these have no row of their own. */
static void matrix_view_add_footnote(const struct stage *s, const struct grid *g, double x,
                                     double y, double w, int large)
{
    char text[256] = "";
    uint64_t group = s->model->group;
    if (large && group > 1 && g->per_cell <= g->least) /* there are no figures of single ranks */
        snprintf(text, sizeof text,
                 "Each cell is what one group of %s ranks in a row sends to another. ",
                 quantity_grouped(group).text);
    else if (large && g->per_cell > 1)
        snprintf(text, sizeof text,
                 "Each cell is the sum of %s \xc3\x97 %s ranks; zoom in for %s. ",
                 quantity_grouped(g->per_cell).text, quantity_grouped(g->per_cell).text,
                 group > 1 ? "groups of ranks" : "pairs");
    else if (large)
        snprintf(text, sizeof text, "Each cell is one pair of ranks. ");
    if (s->model->folded)
        text_append(text, sizeof text, "%s further pairs are not drawn.",
                    quantity_grouped(s->model->folded).text);
    scene_text(s->brush.scene, x, y, w, TEXT_AXIS, 0, s->brush.theme->second, text);
}

static void matrix_view_add_plot(struct stage *s, const struct grid *g)
{
    const struct theme *t = s->brush.theme;
    scene_panel(s->brush.scene, g->plot, color_mix(t->panel, t->ground, 0.6), "matrix.plot");
    scene_overlay(s->brush.scene);
    double side = (double)g->cells * g->cell;
    scene_image(s->brush.scene,
                (struct box){matrix_view_x_of(g, g->first_column),
                             matrix_view_y_of(g, g->first_row), side, side},
                &s->pictures->matrix.image);
    matrix_view_add_cell_lines(s, g);
    matrix_view_add_cell_figures(s, g);
    matrix_view_add_node_lines(s, g);
    matrix_view_mark_selected(s, g);
    const uint32_t several = g->per_cell > g->least ? g->per_cell : 1;
    struct scene_hit *hit = scene_hit(s->brush.scene, g->plot, HIT_MATRIX, several, 0);
    hit->x0 = g->column;
    hit->x1 = g->column + g->extent;
    hit->y0 = g->row;
    hit->y1 = g->row + g->extent;
    if (!s->hover || s->hover->kind != HIT_MATRIX || s->ui->mouse.dragging)
        return;
    uint32_t column =
        (uint32_t)fmax(scene_hit_x(hit, s->brush.mouse_x), 0) / g->per_cell * g->per_cell;
    uint32_t row =
        (uint32_t)fmax(scene_hit_y(hit, s->brush.mouse_y), 0) / g->per_cell * g->per_cell;
    scene_outline(s->brush.scene,
                  (struct box){matrix_view_x_of(g, column), matrix_view_y_of(g, row),
                               fmax(g->cell, 3), fmax(g->cell, 3)},
                  0, 1, t->text);
    if (s->ui->network.other && s->ui->network.compare != COMPARE_BEFORE)
        piece_pair_tip_of_runs(s, row, column, several);
    else
        piece_pair_tip(s, row, column, several);
}

/* Title and choices above the plot. @return left end of the choices */
static double matrix_view_add_head(const struct stage *s, struct box box)
{
    double right = box.x + box.w - 12;
    right -= piece_quantity_choice(s, right, box.y + 6) + 8;
    if (s->ui->network.other)
        right -= piece_compare(s, right, box.y + 6) + 8;
    if (s->ui->matrix.extent > 0)
        right -=
            widget_button(&s->brush, right - 84, box.y + 6, "whole job", 0, COMMAND_MATRIX_ALL, 0) +
            8;
    return right;
}

void matrix_panel(struct stage *s, struct box box, int large)
{
    const struct theme *t = s->brush.theme;
    const char *name = large ? "Matrix" : "Who sends to whom";
    char what[400];
    piece_panel(s, box, "matrix");
    double top = large ? 66 : 50, foot = large ? 30 : 10;
    double side = floor(fmin(box.h - top - foot, box.w - 62));
    double beside = box.w - 62 - side;
    double list = large && !s->ui->network.other && beside >= DISTANCES + GAP
                      ? fmin(beside - GAP, MOST_DISTANCES)
                      : 0;
    double x = box.x + (large ? 50 + fmax((beside - list - (list > 0 ? GAP : 0)) / 2, 0) : 48);
    struct grid g = matrix_view_fit_grid(
        s, (struct box){floor(x), floor(box.y + top), fmax(side, 1), fmax(side, 1)});
    int shown = s->range->pairs_used && side >= 40 && matrix_view_paint(s, &g) == 0;
    double right = large ? matrix_view_add_head(s, box) : box.x + box.w - 12;
    if (shown && !large && box.w > 400)
        right -= 16 + matrix_view_add_legend(s, right, box.y + 10);
    else if (shown && !large && box.x + box.w - g.plot.x - side > 250) /* beside the plot */
        matrix_view_add_legend(s, box.x + box.w - 12, g.plot.y + side - 16);
    snprintf(what, sizeof what, "%s, %s", s->quantity == PAIR_BYTES ? "bytes" : "messages",
             piece_pairs_range_text(s).text);
    if (!large) /* the large one says why the span is another one */
        what[strcspn(what, "(")] = '\0';
    if (!large && scene_width(s->brush.scene, TEXT_TITLE, 0, name) + 8 +
                          scene_width(s->brush.scene, TEXT_SMALL, 0, what) >
                      right - box.x - 12)
        what[strcspn(what, ",")] = '\0'; /* the choice above has the span */
    if (s->ui->network.other)
        piece_add_state(s, what, sizeof what);
    widget_title(&s->brush, box.x + 12, box.y + 7, right - box.x - 12, name, what);
    if (!shown) {
        piece_empty(s, box_inset(box, 12, 40), "No messages between ranks",
                    large ? "Point-to-point messages in this span of time appear here." : NULL);
        return;
    }
    matrix_view_add_axes(s, &g);
    if (large) {
        const char *axes = "source \xe2\x86\x93   destination \xe2\x86\x92";
        double end =
            g.plot.x + side - matrix_view_add_legend(s, g.plot.x + side, g.plot.y - 32) - 12;
        double width = scene_width(s->brush.scene, TEXT_AXIS, 0, axes) + 1;
        double from = fmax(fmin(g.plot.x, end - width), box.x + 12);
        if (end - from >= width)
            scene_text(s->brush.scene, from, g.plot.y - 32, width, TEXT_AXIS, 0, t->second, axes);
    }
    if (large || box.y + box.h - g.plot.y - side > 26)
        matrix_view_add_footnote(s, &g, g.plot.x, g.plot.y + side + 8,
                                 box.x + box.w - 12 - g.plot.x, large);
    if (list > 0)
        matrix_distances_layout(
            s, (struct box){g.plot.x + side + GAP, g.plot.y - 34, list, side + 34});
    matrix_view_add_plot(s, &g);
}

static void matrix_layout(struct stage *s, struct box box)
{
    matrix_panel(s, box_inset(box, 14, 10), 1);
}

static void matrix_icon(const struct brush *b, struct box box, color_t color)
{
    static const double strength[9] = {1, .55, .2, .55, 1, .55, .2, .55, 1};
    double cell = box.w / 3;
    for (int i = 0; i < 9; i++)
        scene_rect(b->scene,
                   (struct box){box.x + (i % 3) * cell, box.y + floor(i / 3.0) * cell, cell - 1.5,
                                cell - 1.5},
                   1, color_fade(color, strength[i]));
}

static void matrix_view_finish(struct pictures *pictures)
{
    picture_finish(&pictures->matrix);
    matrix_distances_destroy(pictures->distances);
    pictures->distances = NULL;
}

const struct view matrix_view = {
    .icon = matrix_icon, .layout = matrix_layout, .finish = matrix_view_finish};
