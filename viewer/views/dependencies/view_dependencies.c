/* View "dependencies": which rank waited for whose message, in a capture. Nodes by layer, as in
 * PCLVis, Fig. 9, or events by logical step, coloured by lateness (Isaacs et al.); or, of the job
 * as it runs, the lateness of ranks by window. */
#include "viewer/views/views.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/dependencies/dependency_picture.h"
#include "viewer/views/dependencies/lateness_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* FOOT: axis and legend */
enum { HEAD = 56, FOOT = 46, GUTTER = 96, LATE_WIDTH = 206, LATE_ROW = 22, LATE_LEAST = 200 };

#define COLUMN 46.0 /* of zoom 1, pixels */
#define STEP 20.0   /* likewise, of steps */
#define LANE_LEAST 18.0
#define LANE_MOST 200.0
#define WIDEST 4.0 /* times the usual width of a column, with which few fill the plot */

static const char *const arrangements[] = {"by layer", "by step", "by window"};

/* ---- head ------------------------------------------------------------------ */

static void dependencies_view_facts(const struct dependency_picture *p, const struct capture *c,
                                    char *out, size_t room)
{
    const struct dependency_counts *n = &p->d.counts;
    snprintf(out, room, "capture %llu, %s: %s", (unsigned long long)c->id,
             format_clock(c->asked_ns, 1).text, quantity_things(n->matched, "message").text);
    text_append(out, room, " of %s", quantity_things(p->d.ranks.lane_count, "rank").text);
    if (p->d.collective_count)
        text_append(out, room, ", %s", quantity_things(p->d.collective_count, "collective").text);
    text_append(out, room, ", %s at most late", format_duration((double)p->d.lateness_ns).text);
}

/* What is not in the graph, or not certain. */
static void dependencies_view_doubts(const struct dependency_picture *p, const struct capture *c,
                                     char *out, size_t room)
{
    const struct dependency_counts *n = &p->d.counts;
    snprintf(out, room, "%s", quantity_things(n->unmatched, "unmatched end").text);
    if (n->aligned)
        text_append(out, room, ", %s of messages aligned by time and size",
                    format_share((double)n->aligned / (double)(n->matched + !n->matched)).text);
    if (n->aligned_waits)
        text_append(out, room, ", waits for neighbours aligned by time");
    if (n->rejected)
        text_append(out, room, ", %s rejected", quantity_things(n->rejected, "pair").text);
    if (c->without_messages)
        text_append(out, room, ", more had no room here");
    if (c->error_ns && c->error_ns != WIRE_ANY && c->messages.host_count > 1)
        text_append(out, room, ", clocks \xc2\xb1%s", format_duration((double)c->error_ns).text);
}

static void dependencies_view_head(const struct stage *s, const struct dependency_picture *p,
                                   const struct capture *c, struct box panel)
{
    static const char *const folds[] = {"auto", "ranks", "nodes"};
    static const char *const times[] = {"whole capture", "visible time"};
    static const char title[] = "Dependencies";
    char facts[240], doubts[240];
    double right = panel.x + panel.w - 12, left = panel.x + 12;
    right -=
        10 + widget_choice(&s->brush, right, panel.y + 6, arrangements, DEPENDENCY_ARRANGEMENTS,
                           s->ui->dependencies.steps, COMMAND_DEPENDENCY_STEPS);
    right -= 10 + widget_choice(&s->brush, right, panel.y + 6, folds, FOLDS,
                                (int)s->ui->dependencies.fold, COMMAND_DEPENDENCY_FOLD);
    right -= 10 + widget_choice(&s->brush, right, panel.y + 6, times, 2,
                                s->ui->dependencies.visible, COMMAND_DEPENDENCY_VISIBLE);
    right -= piece_read_back(s, right, panel.y + 6);
    if (scene_width(s->brush.scene, TEXT_TITLE, 0, title) <= right - left - 12)
        widget_title(&s->brush, left, panel.y + 7, right - left - 12, title, "");
    right = panel.x + panel.w - 12;
    right -= 16 + (s->ui->dependencies.steps
                       ? widget_map_legend(&s->brush, right, panel.y + 36, "in time", "late")
                       : widget_latency_legend(&s->brush, right, panel.y + 36));
    dependencies_view_facts(p, c, facts, sizeof facts);
    dependencies_view_doubts(p, c, doubts, sizeof doubts);
    scene_textf(s->brush.scene, left, panel.y + 33, right - left, TEXT_SMALL, TEXT_CLAUSES,
                s->brush.theme->second, "%s; %s", facts, doubts);
}

/* ---- around the plot ------------------------------------------------------- */

static char *dependencies_view_label_text(const struct dependency_picture *picture,
                                          const struct capture *c, uint32_t lane, char *out,
                                          size_t room)
{
    const struct dependency_lane *l = &picture->graph->lanes[lane];
    const struct dependency_calls *calls = &c->messages;
    if (l->is_host)
        snprintf(out, room, "%s (%u)",
                 l->host < calls->host_count ? calls->hosts[l->host].name : "", l->ranks);
    else
        snprintf(out, room, "rank %u", l->id);
    return out;
}

/* Width of the labels, at most a fourth of the panel. Measured when the lanes have changed. */
static double dependencies_view_gutter(const struct stage *s, struct dependency_picture *picture,
                                       const struct capture *c, double w)
{
    char text[280];
    if (picture->labels_key != picture->graph_key)
        picture->labels_w = 0;
    for (uint32_t i = 0;
         picture->labels_key != picture->graph_key && i < picture->graph->lane_count; i++)
        picture->labels_w =
            fmax(picture->labels_w,
                 scene_width(s->brush.scene, TEXT_AXIS, TEXT_FIGURES,
                             dependencies_view_label_text(picture, c, i, text, sizeof text)));
    picture->labels_key = picture->graph_key;
    return fmin(fmax(ceil(picture->labels_w) + 14, GUTTER), w / 4);
}

static void dependencies_view_label(struct stage *s, const struct dependency_plot *p, uint32_t lane)
{
    const struct theme *t = s->brush.theme;
    const struct dependency_lane *l = &p->picture->graph->lanes[lane];
    struct box box = {p->v.box.x - p->gutter + 4, section_y(&p->v, lane), p->gutter - 12, p->v.uy};
    char text[280];
    dependencies_view_label_text(p->picture, p->capture, lane, text, sizeof text);
    struct scene_hit *hit = l->is_host ? scene_hit(s->brush.scene, box, HIT_BUTTON,
                                                   COMMAND_DEPENDENCY_OPEN, l->host + 1)
                                       : scene_hit(s->brush.scene, box, HIT_RANK, l->id, 0);
    hit->list = LIST_DEPENDENCY + 1;
    hit->row = lane;
    hit->selected = p->picture->marked[lane] != 0;
    scene_text(s->brush.scene, box.x, box.y + floor((box.h - text_line(TEXT_AXIS)) / 2), box.w,
               TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES | TEXT_MIDDLE,
               p->picture->marked[lane] ? t->accent : t->second, text);
    if (!box_has(box, s->brush.mouse_x, s->brush.mouse_y))
        return;
    if (!l->is_host) {
        piece_rank_tip(s, l->id);
        return;
    }
    tooltip_add(&s->tip, 0, "%u ranks", l->ranks);
    tooltip_add(&s->tip, 0, "click: their lanes one by one");
}

static void dependencies_view_axis(const struct stage *s, const struct dependency_plot *p)
{
    const struct theme *t = s->brush.theme;
    double y = p->v.box.y + p->v.box.h;
    uint32_t step = (uint32_t)fmax(nice_ceil(44 / p->v.ux), 1);
    struct box plane = section_of_plane(&p->v);
    uint32_t first = (uint32_t)fmax(ceil(plane.x / step), 0) * step;
    for (uint32_t i = first; i < p->columns && i + 0.5 < plane.x + plane.w; i += step) {
        double x = section_x(&p->v, i + 0.5);
        scene_line(s->brush.scene, x, y, x, y + 4, 1, t->grid);
        if (x > p->v.box.x + 20 && x < p->v.box.x + p->v.box.w - 20)
            scene_textf(s->brush.scene, x - 20, y + 6, 40, TEXT_AXIS, TEXT_CENTRE | TEXT_FIGURES,
                        t->second, "%u", i);
    }
    scene_text(s->brush.scene, p->v.box.x - p->gutter + 4, y + 6, p->gutter - 12, TEXT_AXIS,
               TEXT_RIGHT, t->faint, p->steps ? "step" : "layer");
}

/* ---- who caused lateness --------------------------------------------------- */

static int dependencies_view_compare_late(const void *a, const void *b)
{
    const struct dependency_lane *x = *(const struct dependency_lane *const *)a;
    const struct dependency_lane *y = *(const struct dependency_lane *const *)b;
    return x->caused_ns != y->caused_ns ? (x->caused_ns < y->caused_ns ? 1 : -1)
                                        : (x->id > y->id) - (x->id < y->id);
}

static void dependencies_view_late_row(const struct stage *s, const struct dependency_plot *p,
                                       const struct dependency_lane *l, struct box row,
                                       double share)
{
    const struct theme *t = s->brush.theme;
    const struct dependency_calls *calls = &p->capture->messages;
    uint32_t host = l->is_host ? dependency_picture_host(p->picture, l) : UINT32_MAX;
    int marked = p->picture->marked[l - p->picture->graph->lanes];
    char text[80];
    if (l->is_host)
        snprintf(text, sizeof text, "%s",
                 l->host < calls->host_count ? calls->hosts[l->host].name : "");
    else
        snprintf(text, sizeof text, "rank %u", l->id);
    if (!l->is_host)
        scene_hit(s->brush.scene, row, HIT_RANK, l->id, 0);
    else if (host != UINT32_MAX)
        scene_hit(s->brush.scene, row, HIT_NODE, host, 0);
    if (box_has(row, s->brush.mouse_x, s->brush.mouse_y))
        scene_rect(s->brush.scene, row, 3, t->raised);
    struct quantity caused = format_duration((double)l->caused_ns);
    double w = scene_width(s->brush.scene, TEXT_SMALL, TEXT_FIGURES, caused.text) + 1;
    scene_text(s->brush.scene, row.x + 4, row.y + 1, row.w - w - 16, TEXT_SMALL, TEXT_MIDDLE,
               marked ? t->accent : t->text, text);
    scene_text(s->brush.scene, row.x + row.w - w - 4, row.y + 1, w, TEXT_SMALL, TEXT_FIGURES,
               t->second, caused.text);
    widget_bar(&s->brush, (struct box){row.x + 4, row.y + LATE_ROW - 4, row.w - 8, 2}, share,
               t->warn);
}

static void dependencies_view_late(const struct stage *s, const struct dependency_plot *p,
                                   struct box box)
{
    const struct dependency_graph *g = p->picture->graph;
    const struct theme *t = s->brush.theme;
    const struct dependency_lane **late = malloc((g->lane_count + (size_t)1) * sizeof *late);
    uint32_t count = 0, rows = (uint32_t)fmax((box.h - 24) / LATE_ROW, 0);
    for (uint32_t i = 0; late && i < g->lane_count; i++)
        if (g->lanes[i].caused_ns > 0)
            late[count++] = &g->lanes[i];
    scene_text(s->brush.scene, box.x + 4, box.y, box.w - 8, TEXT_SMALL_STRONG, 0, t->text,
               "Caused lateness");
    if (count == 0)
        scene_text(s->brush.scene, box.x + 4, box.y + 22, box.w - 8, TEXT_SMALL, 0, t->faint,
                   "nothing is late");
    else
        qsort(late, count, sizeof *late, dependencies_view_compare_late);
    for (uint32_t i = 0; i < count && i < rows; i++)
        dependencies_view_late_row(
            s, p, late[i],
            (struct box){box.x, box.y + 22 + i * (double)LATE_ROW, box.w, LATE_ROW - 1},
            (double)late[i]->caused_ns / (double)late[0]->caused_ns);
    free(late);
}

/* ---- the view -------------------------------------------------------------- */

/* Fit columns and lanes into the plot: as many as are legible; the rest is reached by moving. */
static void dependencies_view_fit(struct stage *s, struct dependency_plot *p, struct box room,
                                  struct box list)
{
    uint32_t lanes = p->picture->graph->lane_count, last = 0;
    double zoom = ui_dependencies_zoom(s->ui), usual = p->steps ? STEP : COLUMN;
    double high = fmin(fmax(room.h / fmax(lanes, 1), LANE_LEAST), LANE_MOST);
    double wide = usual * zoom;
    if (zoom == 1) { /* all columns if they fit, else as many as are whole */
        double least = p->steps ? STEP : 2 * (DEPENDENCY_FULL_RADIUS + 1);
        double whole = p->columns * least <= room.w ? p->columns : floor(room.w / usual);
        wide = fmin(room.w / fmax(whole, 1), WIDEST * usual);
    }
    p->lanes = lanes;
    if (high * lanes > room.h) {
        list.h = room.h;
        p->first_lane = piece_list(s, list, LIST_DEPENDENCY, lanes, high, &last);
        p->lanes = last - p->first_lane;
    }
    struct box box = {room.x, room.y, room.w, high * p->lanes};
    double shown = room.w / wide;
    double first = fmin(fmax(s->ui->dependencies.first, 0), fmax(p->columns - shown, 0));
    p->v = (struct section){box, wide, high, first + shown / 2, p->first_lane + p->lanes / 2.0};
}

static void dependencies_view_plot(struct stage *s, struct dependency_picture *picture,
                                   const struct capture *c, struct box panel)
{
    double late = panel.w > 4 * LATE_WIDTH ? LATE_WIDTH : 0;
    double gutter = dependencies_view_gutter(s, picture, c, panel.w);
    struct box room = {panel.x + gutter, panel.y + HEAD, panel.w - gutter - 16 - late,
                       panel.h - HEAD - FOOT};
    struct dependency_plot p = {.capture = c, .picture = picture, .gutter = gutter};
    p.steps = s->ui->dependencies.steps;
    p.columns = p.steps ? picture->d.steps : picture->graph->layers;
    if (room.w < 80 || room.h < 2 * LANE_LEAST)
        return;
    dependencies_view_fit(s, &p, room,
                          (struct box){panel.x + 4, room.y, room.x + room.w + 8 - panel.x, 0});
    for (uint32_t i = 0; i < p.lanes; i++)
        dependencies_view_label(s, &p, p.first_lane + i);
    dependencies_view_axis(s, &p);
    if (!p.steps && dependency_glyph_radius(&p) >= DEPENDENCY_FULL_RADIUS)
        scene_text(s->brush.scene, panel.x + 12, panel.y + panel.h - 22, panel.w - 24, TEXT_SMALL,
                   TEXT_CLAUSES, s->brush.theme->second,
                   "Bars: messages, received inside the ring, sent outside; longer: took longer; "
                   "wider: more bytes; flat ellipse: a load unlike that of others");
    if (late > 0)
        dependencies_view_late(s, &p,
                               (struct box){panel.x + panel.w - late, room.y, late - 10, room.h});
    scene_panel(s->brush.scene, p.v.box, s->brush.theme->panel, "dependencies.plot");
    scene_overlay(s->brush.scene);
    section_hit(&p.v, s->brush.scene, HIT_DEPENDENCY, p.columns);
    s->brush.scene->hits[s->brush.scene->hit_count - 1].b = picture->graph->lane_count;
    dependency_plot_layout(s, &p);
}

/* Where there is no graph: the choices that lead to one. */
static void dependencies_view_title(const struct stage *s, struct box panel)
{
    static const char *const times[] = {"whole capture", "visible time"};
    double right = panel.x + panel.w - 12;
    right -=
        10 + widget_choice(&s->brush, right, panel.y + 6, arrangements, DEPENDENCY_ARRANGEMENTS,
                           s->ui->dependencies.steps, COMMAND_DEPENDENCY_STEPS);
    right -= 10 + widget_choice(&s->brush, right, panel.y + 6, times, 2,
                                s->ui->dependencies.visible, COMMAND_DEPENDENCY_VISIBLE);
    right -= piece_read_back(s, right, panel.y + 6);
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 24, "Dependencies", "");
}

/* The capture has no messages in the visible time. */
static void dependencies_view_elsewhere(const struct stage *s, const struct capture *c,
                                        struct box panel)
{
    char text[200];
    struct quantity begin = format_clock(c->begin_ns, 1), end = format_clock(c->end_ns, 1);
    snprintf(text, sizeof text, "Capture %llu has calls from %s to %s. %s",
             (unsigned long long)c->id, begin.text, end.text,
             model_can_read_back(s->model) ? "What the ranks did last can be read back (R)." : "");
    piece_empty(s, panel, "No messages were captured in the visible time", text);
}

/* Lateness of ranks while the job runs: no capture is needed. As long as there is none, there is
 * nothing else to choose. */
static void dependencies_view_windows(struct stage *s, int captured, struct box panel)
{
    double right = panel.x + panel.w - 12;
    if (!s->model->lateness.version)
        panel.h = fmin(panel.h, PIECE_EMPTY_HEIGHT);
    piece_panel(s, panel, "dependencies");
    if (captured)
        right -= 10 + widget_choice(&s->brush, right, panel.y + 6, arrangements,
                                    DEPENDENCY_ARRANGEMENTS, BY_WINDOW, COMMAND_DEPENDENCY_STEPS);
    else
        right -= piece_read_back(s, right, panel.y + 6);
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 24, "Dependencies",
                 captured ? "lateness of ranks, window by window"
                          : "lateness of ranks, window by window; no calls are captured");
    if (s->model->lateness.version)
        lateness_layout(s, panel);
    else
        piece_empty(s, panel, "No rank was late so far", captured ? NULL : PIECE_NO_CAPTURE);
}

static void dependencies_layout(struct stage *s, struct box box)
{
    struct box panel = box_inset(box, 14, 10);
    const struct capture *c = ui_dependencies_capture(s->ui, s->model);
    if (s->ui->dependencies.steps == BY_WINDOW || !c) {
        dependencies_view_windows(s, c != NULL, panel);
        return;
    }
    struct dependency_picture *p = c->messages.count ? dependency_picture_make(s, c) : NULL;
    if (p && p->d.event_count)
        panel.h = fmin(panel.h, HEAD + FOOT + fmax(p->graph->lane_count * LANE_MOST, LATE_LEAST));
    piece_panel(s, panel, "dependencies");
    if (p && p->d.event_count) {
        dependencies_view_head(s, p, c, panel);
        dependencies_view_plot(s, p, c, panel);
        return;
    }
    dependencies_view_title(s, panel);
    if (c->messages.count && s->ui->dependencies.visible)
        dependencies_view_elsewhere(s, c, panel);
    else if (c->without_messages)
        piece_empty(s, panel, "The messages of this capture had no room here",
                    "holter graph makes their graph of the recording.");
    else
        piece_empty(s, panel, "This capture has no messages", c->fault[0] ? c->fault : NULL);
}

static void dependencies_view_finish(struct pictures *pictures)
{
    dependency_picture_destroy(pictures->dependencies);
    pictures->dependencies = NULL;
    lateness_drawing_destroy(pictures->lateness);
    pictures->lateness = NULL;
}

const struct view dependencies_view = {.layout = dependencies_layout,
                                       .finish = dependencies_view_finish};
