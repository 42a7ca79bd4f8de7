/* View "nodes": cost of the monitor on each node, losses, accuracy of its clock. */
#include "viewer/views/views.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/alerts/evidence.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROW = 28, HEAD = 70 }; /* HEAD: what is above and below the rows */
enum {
    HOST,
    STATE,
    RANKS,
    EVENTS,
    LOST,
    DROPPED,
    CPU,
    MEMORY,
    UPLINK,
    CALL,
    CLOCK,
    RESTARTS,
    DETAIL,
    COLUMNS
};

static const struct table nodes_table = {
    .columns =
        {
            [HOST] = {"node", 0, 0, 0},
            [STATE] = {"agent", 92, 0, 0},
            [RANKS] = {"ranks", 58, TEXT_RIGHT, 0},
            [EVENTS] = {"events", 86, TEXT_RIGHT, 0, 7},
            [LOST] = {"lost", 66, TEXT_RIGHT, 0},
            [DROPPED] = {"windows dropped", 122, TEXT_RIGHT, 0, 3},
            [CPU] = {"of a core", 78, TEXT_RIGHT, 0},
            [MEMORY] = {"memory", 80, TEXT_RIGHT, 0, 5},
            [UPLINK] = {"uplink", 86, TEXT_RIGHT, 0, 4},
            [CALL] = {"probe per call", 100, TEXT_RIGHT, 0, 2},
            [CLOCK] = {"clock known to", 106, TEXT_RIGHT, 0, 1},
            [RESTARTS] = {"restarts", 72, TEXT_RIGHT, 0, 8},
            [DETAIL] = {"detail left out", 120, 0, 0, 6},
        },
    .count = COLUMNS,
    .list = LIST_NODES,
};

static void nodes_view_format_detail(uint64_t degraded, char *out, size_t capacity)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } parts[] = {{DEGRADED_SAMPLES, "samples"},
                 {DEGRADED_PAIRS, "pairs"},
                 {DEGRADED_BURSTS, "bursts"},
                 {DEGRADED_SIZES, "sizes"}};
    *out = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (degraded & parts[i].bit)
            text_append(out, capacity, "%s%s", *out ? ", " : "", parts[i].name);
    if (!*out)
        snprintf(out, capacity, "none");
}

static void nodes_view_add_rates(const struct stage *s, const struct table *table, struct box row,
                                 const struct model_node *n)
{
    const struct theme *t = s->brush.theme;
    double cpu_share, uplink;
    const int known = model_node_rates(s->model, n, &cpu_share, &uplink);
    const color_t color = known ? t->text : t->faint;
    widget_cell(&s->brush, table, row, CPU, color,
                known ? format_share(cpu_share).text : "\xe2\x80\x93");
    widget_cell(&s->brush, table, row, UPLINK, color,
                known ? format_si(uplink, "B/s").text : "\xe2\x80\x93");
}

static void nodes_view_node_row(struct stage *s, const struct table *table, struct box row,
                                const struct model_node *n, uint32_t at)
{
    const struct theme *t = s->brush.theme;
    char text[96];
    const struct alert *named = evidence_alert(s);
    uint64_t host = model_host_find(s->model, n->name);
    int selected = ui_marks_node(s->ui, s->model, host);
    piece_row(s, row, HIT_NODE, host, 0, selected, LIST_NODES, at);
    if (named && ui_alert_marks_node(s->model, named, host))
        evidence_mark_row(s, row, named);
    widget_cell(&s->brush, table, row, HOST, t->text, n->name);
    int over = !strcmp(s->model->state, "ended") || !strcmp(s->model->state, "died");
    if (!n->now.connected && over)
        widget_cell(&s->brush, table, row, STATE, t->second, "has left");
    else
        widget_cell(&s->brush, table, row, STATE, n->now.connected ? t->good : t->bad,
                    n->now.connected ? "connected" : "no contact");
    widget_cell(&s->brush, table, row, RANKS, t->text, quantity_grouped(n->now.ranks).text);
    widget_cell(&s->brush, table, row, EVENTS, t->text, format_si((double)n->now.events, "").text);
    widget_cell(&s->brush, table, row, LOST, n->now.lost ? t->bad : t->text,
                format_si((double)n->now.lost, "").text);
    widget_cell(&s->brush, table, row, DROPPED, n->now.windows_dropped ? t->bad : t->text,
                quantity_grouped(n->now.windows_dropped).text);
    nodes_view_add_rates(s, table, row, n);
    widget_cell(&s->brush, table, row, MEMORY, t->text,
                format_si((double)n->now.rss_bytes, "B").text);
    int measured = !isnan(n->now.call_cost_ns) && n->now.call_cost_ns > 0;
    widget_cell(&s->brush, table, row, CALL, measured ? t->text : t->faint,
                measured ? format_duration(n->now.call_cost_ns).text : "\xe2\x80\x93");
    const uint64_t error = n->now.clock_error_ns == WIRE_ANY ? 0 : n->now.clock_error_ns;
    snprintf(text, sizeof text, "\xc2\xb1%s", format_duration((double)error).text);
    widget_cell(&s->brush, table, row, CLOCK, error ? t->text : t->faint,
                error ? text : "\xe2\x80\x93"); /* 0: not known */
    widget_cell(&s->brush, table, row, RESTARTS, n->now.restarts ? t->warn : t->text,
                quantity_grouped(n->now.restarts).text);
    nodes_view_format_detail(n->now.degraded, text, sizeof text);
    widget_cell(&s->brush, table, row, DETAIL, n->now.degraded ? t->warn : t->second, text);
}

static void nodes_layout(struct stage *s, struct box box)
{
    const struct model *m = s->model;
    struct box panel = box_inset(box, 14, 10);
    struct table table = nodes_table;
    char what[96];
    if (m->node_count)
        panel = piece_list_panel(panel, HEAD, m->node_count, ROW);
    piece_panel(s, panel, "nodes");
    snprintf(what, sizeof what, "%s: what watching costs there, and what it lost",
             quantity_things(m->node_count, "agent").text);
    widget_title(&s->brush, panel.x + 12, panel.y + 7, panel.w - 24, "Nodes", what);
    struct box head = {panel.x + 8, panel.y + 38, panel.w - 20, 24};
    struct box list = {head.x, head.y + 26, head.w + 8, panel.h - HEAD};
    if (!m->node_count) {
        piece_empty(s, list, "No agent has reported yet", NULL);
        return;
    }
    uint32_t last, first = piece_list(s, list, LIST_NODES, m->node_count, ROW, &last);
    for (uint32_t i = first; i < last; i++)
        table_need(&s->brush, &table, HOST, m->nodes[i].name);
    widget_table_head(&s->brush, &table, head, -1, 0);
    for (uint32_t i = first; i < last; i++)
        nodes_view_node_row(s, &table,
                            (struct box){list.x, list.y + (i - first) * ROW, head.w, ROW - 1},
                            &m->nodes[i], i);
}

static void nodes_icon(const struct brush *b, struct box box, color_t color)
{
    for (int i = 0; i < 2; i++) {
        struct box unit = {box.x + 1, box.y + i * 10.0 + 0.5, box.w - 2, 8};
        scene_outline(b->scene, unit, 2, 1.4, color);
        scene_disc(b->scene, unit.x + 5, unit.y + 4, 1.5, color);
        scene_rect(b->scene, (struct box){unit.x + 10, unit.y + 3.3, unit.w - 14, 1.4}, 0,
                   color_fade(color, 0.6));
    }
}

const struct view nodes_view = {.icon = nodes_icon, .layout = nodes_layout};
