/* Where, why and what to do: the smallest picture that shows the culprit, the causes as bars, the
 * advice with the places that show more. */
#include "viewer/views/overview/overview_parts.h"

#include "viewer/places/absence.h"
#include "viewer/views/alerts/evidence.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAMED: up to so many nodes are drawn with their names, in boxes of NODE_W x NODE_H. Cells of
 * ranks are CELL wide at most, and have their number if at least NUMBERED. A picture is PICTURE
 * high at most, that of two ENDS less; a button takes WAY. */
enum { HEAD = 36, FOOT = 8, PAD = 12, NAMED = 24, NODE_W = 84, NODE_H = 50, CELL = 40 };
enum { NUMBERED = 26, PICTURE = 150, ENDS = 60, WAY = 28 };
enum { TIP_NODES = 4 }; /* maximum of nodes that a tooltip names as marked */

static struct box overview_add_panel(const struct stage *s, struct box box, const char *name,
                                     const char *title)
{
    scene_panel(s->brush.scene, box, 0, "overview.%s", name);
    scene_rect(s->brush.scene, box, 6, s->brush.theme->panel);
    widget_title(&s->brush, box.x + PAD, box.y + 8, box.w - 2 * PAD, title, "");
    return (struct box){box.x + PAD, box.y + HEAD, box.w - 2 * PAD, box.h - HEAD - FOOT};
}

/* ---- where ---- */

/* Cells of a picture: ranks, or nodes, several in a cell where there are more than cells. */
struct cells {
    uint32_t count, across, per;
    double side;
};

static struct cells overview_fit_cells(struct box box, uint32_t count)
{
    struct cells c = {.count = count, .per = 1};
    double most = floor(box.w / 5) * floor(box.h / 5);
    c.per = most >= 1 ? (uint32_t)ceil(count / most) : count;
    uint32_t cells = (count + c.per - 1) / c.per;
    c.side = floor(fmin(sqrt(box.w * box.h / fmax(cells, 1)), CELL));
    while (c.side > 4 && floor(box.w / c.side) * floor(box.h / c.side) < cells)
        c.side--;
    c.across = (uint32_t)fmax(floor(box.w / c.side), 1);
    return c;
}

static uint32_t overview_nodes_across(const struct model *m, double w)
{
    return (uint32_t)fmax(fmin(floor(w / NODE_W), m->host_count), 1);
}

static double overview_cells_height(const struct model *m, struct box room, int nodes)
{
    uint32_t across = overview_nodes_across(m, room.w);
    if (nodes && m->host_count <= NAMED)
        return ceil((double)m->host_count / across) * NODE_H;
    struct cells c = overview_fit_cells(room, nodes ? m->host_count : m->rank_count);
    uint32_t cells = (c.count + c.per - 1) / c.per;
    return ceil((double)cells / c.across) * c.side;
}

/* Whether an item of a cell is marked; of a node: one of its ranks, or the node itself. */
static int overview_cell_is_marked(const struct stage *s, const struct alert *a, int nodes,
                                   uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (nodes ? ui_alert_marks_node(s->model, a, i) : ui_alert_marks_rank(s->model, a, i))
            return 1;
    return 0;
}

static int overview_order_nodes(const void *a, const void *b, void *user)
{
    const struct model_host *hosts = user;
    return strverscmp(hosts[*(const uint32_t *)a].name, hosts[*(const uint32_t *)b].name);
}

/* Few nodes: a box with the name of each, node2 before node10. */
static void overview_add_nodes(struct stage *s, struct box box, const struct alert *a)
{
    const struct theme *t = s->brush.theme;
    const struct model *m = s->model;
    uint32_t across = overview_nodes_across(m, box.w);
    double w = fmin(floor(box.w / across), 160);
    uint32_t order[NAMED];
    for (uint32_t i = 0; i < m->host_count; i++)
        order[i] = i;
    qsort_r(order, m->host_count, sizeof(*order), overview_order_nodes, m->hosts);
    for (uint32_t i = 0; i < m->host_count; i++) {
        const struct model_host *host = &m->hosts[order[i]];
        int marked = ui_alert_marks_node(m, a, order[i]);
        const uint32_t row = i / across, column = i % across;
        struct box node = {box.x + column * w, box.y + row * NODE_H, w - 6, NODE_H - 6};
        if (node.y + node.h > box.y + box.h)
            return;
        if (marked)
            scene_rect(s->brush.scene, node, 5, color_fade(evidence_color(t, a), 0.25));
        scene_outline(s->brush.scene, node, 5, marked ? 2 : 1,
                      marked ? evidence_color(t, a) : t->line);
        scene_text(s->brush.scene, node.x + 4, node.y + 8, node.w - 8,
                   marked ? TEXT_SMALL_STRONG : TEXT_SMALL, TEXT_CENTRE | TEXT_MIDDLE,
                   marked ? t->text : t->second, host->name);
        scene_text(s->brush.scene, node.x + 4, node.y + 25, node.w - 8, TEXT_AXIS, TEXT_CENTRE,
                   t->second, quantity_things(host->ranks, "rank").text);
        scene_hit(s->brush.scene, node, HIT_NODE, order[i], 0);
    }
}

/* The node of a cell; of several how many, and those that are marked. */
static void overview_add_nodes_tip(struct stage *s, const struct alert *a, uint32_t first,
                                   uint32_t end)
{
    const struct model *m = s->model;
    uint32_t named = 0;
    if (end - first == 1) {
        tooltip_add(&s->tip, 0, "%s", m->hosts[first].name);
        return;
    }
    tooltip_add(&s->tip, 0, "%u nodes, among them %s", end - first, m->hosts[first].name);
    for (uint32_t i = first; i < end && named < TIP_NODES; i++) {
        if (!ui_alert_marks_node(m, a, i))
            continue;
        tooltip_add(&s->tip, evidence_color(s->brush.theme, a), "marked: %s", m->hosts[i].name);
        named++;
    }
}

static void overview_add_cells(struct stage *s, struct box box, const struct alert *a, int nodes)
{
    if (nodes && s->model->host_count <= NAMED) {
        overview_add_nodes(s, box, a);
        return;
    }
    const struct theme *t = s->brush.theme;
    uint32_t count = nodes ? s->model->host_count : s->model->rank_count;
    struct cells c = overview_fit_cells(box, count);
    for (uint32_t i = 0; i * c.per < c.count; i++) {
        uint32_t first = i * c.per, end = first + c.per < c.count ? first + c.per : c.count;
        int marked = overview_cell_is_marked(s, a, nodes, first, end);
        const uint32_t row = i / c.across, column = i % c.across;
        struct box cell = {box.x + column * c.side, box.y + row * c.side, c.side - 2, c.side - 2};
        if (cell.y + cell.h > box.y + box.h)
            break;
        scene_rect(s->brush.scene, cell, fmin(3, cell.w / 4),
                   marked ? evidence_color(t, a) : color_mix(t->panel, t->second, 0.35));
        if (c.per == 1 && !nodes && c.side >= NUMBERED)
            scene_text(s->brush.scene, cell.x, cell.y + cell.h / 2 - 8, cell.w, TEXT_AXIS,
                       TEXT_CENTRE | TEXT_FIGURES, marked ? t->panel : t->text,
                       quantity_print("%u", first).text);
        if (c.per == 1)
            scene_hit(s->brush.scene, cell, nodes ? HIT_NODE : HIT_RANK, first, 0);
        if (!box_has(cell, s->brush.mouse_x, s->brush.mouse_y))
            continue;
        if (nodes)
            overview_add_nodes_tip(s, a, first, end);
        else if (c.per == 1)
            piece_rank_tip(s, first);
        else
            tooltip_add(&s->tip, 0, "ranks %u to %u", first, end - 1);
    }
}

/* Two ends and what joins them: a link, or the messages between two nodes. */
static void overview_add_ends(struct stage *s, struct box box, const struct alert *a,
                              const char *from, const char *to)
{
    const struct theme *t = s->brush.theme;
    color_t color = evidence_color(t, a);
    double y = box.y + fmin(box.h, ENDS) / 2, w = fmin(box.w * 0.36, 150);
    struct box ends[] = {{box.x, y - 20, w, 40}, {box.x + box.w - w, y - 20, w, 40}};
    scene_line(s->brush.scene, ends[0].x + w, y, ends[1].x, y, 4, color);
    for (int i = 0; i < 2; i++) {
        scene_outline(s->brush.scene, ends[i], 6, 1.5, t->second);
        scene_text(s->brush.scene, ends[i].x + 4, y - 9, w - 8, TEXT_SMALL_STRONG,
                   TEXT_CENTRE | TEXT_MIDDLE, t->text, i ? to : from);
    }
    uint32_t link = ui_alert_link(s->model, a);
    if (link != TOPOLOGY_NONE) {
        scene_hit(s->brush.scene,
                  (struct box){ends[0].x + w, y - 10, ends[1].x - ends[0].x - w, 20}, HIT_LINK,
                  link, 0);
    }
}

static void overview_format_where(const struct alert *a, char *text, size_t room)
{
    int several = strcmp(a->culprit, "node-pair") != 0 &&
                  (strchr(a->culprits, ',') || strstr(a->culprits, " and "));
    if (a->culprit[0] && !several && !strncmp(a->culprits, a->culprit, strlen(a->culprit)))
        snprintf(text, room, "%s", a->culprits); /* "node3", not "node node3" */
    else if (a->culprit[0] && a->culprits[0])
        snprintf(text, room, "%s%s %s", a->culprit, several ? "s" : "", a->culprits);
    else
        evidence_where(a, text, room);
    if (!text[0])
        snprintf(text, room, "%s",
                 a->culprit[0] ? a->culprit : "the whole job: no part of it stands out");
    for (char *c = text; *c && c < text + strlen(a->culprit); c++)
        *c = *c == '-' ? ' ' : *c;
}

/* Each of the three parts is drawn, or only measured; @return the height that it takes. */
static double overview_where(struct stage *s, struct box box, const struct alert *a, int draw)
{
    char text[700], from[130], to[130];
    overview_format_where(a, text, sizeof text);
    double h = 8 + (draw ? scene_paragraph(s->brush.scene, box.x, box.y, box.w, TEXT_BODY,
                                           s->brush.theme->text, 2, text)
                         : scene_paragraph_height(s->brush.scene, box.w, TEXT_BODY, 2, text));
    struct box picture = {box.x, box.y + h, box.w, fmin(box.h - h, PICTURE)};
    int ends = ui_alert_ends(a, from, to, sizeof from);
    int nodes =
        s->model->host_count > 1 && (!strcmp(a->culprit, "node") || s->model->rank_count > 4096);
    if (!draw)
        return h + (ends ? ENDS : overview_cells_height(s->model, picture, nodes));
    if (picture.h < 40)
        return h;
    if (ends)
        overview_add_ends(s, picture, a, from, to);
    else
        overview_add_cells(s, picture, a, nodes);
    return h + picture.h;
}

/* ---- why and what to do ---- */

/* Places that show more of an alert, as buttons. */
static double overview_ways(const struct stage *s, struct box box, const struct alert *a, int draw)
{
    static const struct {
        enum view_id view;
        const char *label;
    } ways[] = {{VIEW_ALERTS, "the evidence"},
                {VIEW_ATTRIBUTION, "the causes over time"},
                {VIEW_DEPENDENCIES, "who waits for whom"},
                {VIEW_LINKS, "the links"},
                {VIEW_WHAT_IF, "a better mapping"}};
    double x = box.x, y = box.y;
    /* neither the network nor a mapping helps ranks that are late, or messages within a node */
    int local = s->model->host_count < 2 || !strcmp(a->culprit, "rank");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int network = ways[i].view == VIEW_LINKS || ways[i].view == VIEW_WHAT_IF;
        if ((network && local) || place_absence(s->model, ways[i].view))
            continue;
        double w = scene_width(s->brush.scene, TEXT_SMALL, 0, ways[i].label) + 20;
        if (x + w > box.x + box.w) {
            x = box.x;
            y += WAY;
        }
        if (y + 24 > box.y + box.h || w > box.w)
            break;
        if (draw) {
            scene_outline(s->brush.scene, (struct box){x, y, w, 24}, 5, 1, s->brush.theme->line);
            widget_button(&s->brush, x, y, ways[i].label, 0, COMMAND_VIEW, ways[i].view);
        }
        x += w + 6;
    }
    return y + WAY - box.y;
}

static double overview_advice(const struct stage *s, struct box box, const struct alert *a,
                              int draw)
{
    struct scene *scene = s->brush.scene;
    const char *text = a->advice[0] ? a->advice
                                    : "No advice is known for this; the evidence has what was "
                                      "measured.";
    int lines = (int)fmin(floor((box.h - WAY) / text_line(TEXT_BODY)), 6);
    double h =
        10 + (draw ? scene_paragraph(scene, box.x, box.y, box.w, TEXT_BODY,
                                     a->advice[0] ? s->brush.theme->accent : s->brush.theme->second,
                                     lines, text)
                   : scene_paragraph_height(scene, box.w, TEXT_BODY, lines, text));
    box.h -= h;
    box.y += h;
    return h + overview_ways(s, box, a, draw);
}

double overview_fault_height(struct stage *s, const struct alert *a, const struct box *panels,
                             int count)
{
    struct box room = {0, 0, panels[0].w - 2 * PAD, 1000};
    double where = overview_where(s, room, a, 0), why = evidence_why(s, room, a, 0),
           advice = overview_advice(s, room, a, 0);
    double other = count < 3 ? why + HEAD + FOOT + 8 + advice : fmax(why, advice);
    return ceil(fmax(where, other)) + HEAD + FOOT;
}

void overview_add_fault(struct stage *s, const struct alert *a, const struct box *panels, int count)
{
    struct box why = panels[1], advice = panels[count > 2 ? 2 : 1];
    if (count < 3) {
        struct box room = {0, 0, why.w - 2 * PAD, why.h};
        why.h = fmin(floor(why.h * 0.56), evidence_why(s, room, a, 0) + HEAD + FOOT);
        advice.y += why.h + 8;
        advice.h -= why.h + 8;
    }
    overview_where(s, overview_add_panel(s, panels[0], "where", "Where"), a, 1);
    evidence_why(s, overview_add_panel(s, why, "why", "Why"), a, 1);
    if (advice.h > HEAD + 40)
        overview_advice(s, overview_add_panel(s, advice, "advice", "What to do"), a, 1);
}
