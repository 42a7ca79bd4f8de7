/* Overlays: help on keys and mouse, search for a rank or node. */
#include "viewer/views/frame/frame.h"

#include "viewer/views/common/pieces.h"

#include <math.h>

static const char *const keys[][2] = {
    {"1 \xe2\x80\xa6 9, j", "views, j the jobs; Tab the next one"},
    {"space", "pause: hold this span of time; a replay: pause, play"},
    {",  .", "replay: a window back, a window on"},
    {"<  >", "replay: slower, faster, up to maximum speed"},
    {"(  )", "replay: to the alert before, to the next"},
    {"L", "replay: in a loop, or not"},
    {"f, End", "follow the newest data"},
    {"Home", "begin of the job"},
    {"\xe2\x86\x90 \xe2\x86\x92", "move in time, in the matrix or the graph"},
    {"\xe2\x86\x91 \xe2\x86\x93", "next row of a list, or move as above"},
    {"+  \xe2\x88\x92", "zoom time, the matrix or the graph"},
    {"0", "matrix, graph, torus, CommGram: all of it"},
    {"b", "messages or bytes"},
    {"w", "sums of the visible time, or since the start"},
    {"l", "graph: colour by region or by latency"},
    {"[  ]", "CommGram: fewer or more phases; links, routes: less or more"},
    {"n  o", "links, network: next figure; links: ranks by their logarithm"},
    {"v z e k", "route matrix: lens, fold blocks without routes, order, loads of links"},
    {"a  u", "what-if of the network: before, after, difference; undo a step"},
    {"{  }", "CommGram: fewer or more communities"},
    {"m  e  v", "CommGram: without collectives; network: lasso, size of circles"},
    {"c  g", "evolution: compress idle time; calls: add up by function or more"},
    {"x y z p a e", "torus: look along a dimension; pin; play; largest, mean or sum"},
    {"p n v x y z", "landscape: next shape, figure, layout; average over an axis"},
    {"r  [ ]  o", "captures: the view, older or newer, rank by rank"},
    {"l  v  o", "dependencies: by step or window, of the visible time, ranks or nodes"},
    {"R", "captures, dependencies: read the last calls of ranks back now"},
    {"/", "find a rank or a node"},
    {"Esc", "close, or clear the selection"},
    {"Backspace", "back to where you were"},
    {"d  t", "context column in small windows; dark or light"},
    {"s", "save a picture"},
    {"q", "leave"},
};

static const char *const mouse[][2] = {
    {"hover", "figures of what is under the mouse"},
    {"click", "select: the same in all views; an alert: its ranks and its onset"},
    {"double click",
     "a region: its ranks one by one; CommGram: open a phase, or the ranks of a bar"},
    {"Shift drag",
     "CommGram: open a span of time; torus: pick nodes, with Ctrl links; network: lasso"},
    {"replay", "click or drag on its line: go there; on an alert: to where it fired"},
    {"drag", "move in time, in the matrix or the graph; turn the torus, with Ctrl move it"},
    {"wheel", "zoom; in lists scroll; CommGram: phases, with Shift or Ctrl communities; Shift: "
              "move in time"},
};

/* @param step  distance between rows */
static void overlays_add_rows(const struct stage *s, struct box box, const char *const (*table)[2],
                              size_t count, double step)
{
    double y = box.y;
    for (size_t i = 0; i < count; i++) {
        scene_text(s->brush.scene, box.x, y, 84, TEXT_SMALL_STRONG, 0, s->brush.theme->text,
                   table[i][0]);
        scene_text(s->brush.scene, box.x + 92, y, box.w - 92, TEXT_SMALL, 0, s->brush.theme->second,
                   table[i][1]);
        y += step;
    }
}

/* A card in the centre of the viewer's window, which is dimmed. */
static struct box overlays_card(const struct stage *s, double w, double h, double y,
                                const char *name)
{
    const struct theme *t = s->brush.theme;
    const struct ui *ui = s->ui;
    w = fmin(w, ui->w - 16);
    h = fmin(h, ui->h - 16);
    struct box all = {0, 0, ui->w, ui->h}, box = {floor((ui->w - w) / 2), floor(fmax(y, 8)), w, h};
    scene_panel(s->brush.scene, all, t->shade, "%s.shade", name);
    scene_overlay(s->brush.scene);
    scene_hit(s->brush.scene, all, HIT_COVER, 0, 0);
    scene_panel(s->brush.scene, box, 0, "%s", name);
    scene_overlay(s->brush.scene);
    scene_rect(s->brush.scene, box, 8, t->panel);
    scene_outline(s->brush.scene, box, 8, 1, t->line);
    return box;
}

void help_layout(struct stage *s)
{
    const struct theme *t = s->brush.theme;
    size_t count = sizeof keys / sizeof *keys, half = (count + 1) / 2,
           below = sizeof mouse / sizeof *mouse;
    const double besides = 112,
                 usual = 21; /* height of titles and margins; usual distance between rows */
    double h = besides + (double)(half + below) * usual;
    struct box box = overlays_card(s, 820, h, (s->ui->h - h) / 2, "help");
    double step = fmin(floor((box.h - besides) / (double)(half + below)), usual);
    double column = (box.w - 60) / 2, y = box.y + 20;
    scene_text(s->brush.scene, box.x + 24, y, box.w - 48, TEXT_TITLE, 0, t->text, "Keys");
    y += 32;
    overlays_add_rows(s, (struct box){box.x + 24, y, column, h}, keys, half, step);
    overlays_add_rows(s, (struct box){box.x + 36 + column, y, column, h}, keys + half, count - half,
                      step);
    y += (double)half * step;
    scene_text(s->brush.scene, box.x + 24, y + 12, box.w - 48, TEXT_TITLE, 0, t->text, "Mouse");
    overlays_add_rows(s, (struct box){box.x + 24, y + 42, box.w - 48, h}, mouse, below, step);
}

void search_layout(struct stage *s)
{
    const struct theme *t = s->brush.theme;
    struct selection found[16];
    int n = ui_search(s->model, s->ui->overlay.search, found, 8);
    double h = 62 + (n ? n * 28 + 10 : s->ui->overlay.search[0] ? 30 : 0);
    struct box box = overlays_card(s, 480, h, s->ui->h * 0.18, "search");
    double x = box.x + 20, end = x;
    if (s->ui->overlay.search[0])
        end = x + scene_text(s->brush.scene, x, box.y + 20, box.w - 60, TEXT_TITLE, 0, t->text,
                             s->ui->overlay.search);
    else
        scene_text(s->brush.scene, x + 6, box.y + 21, box.w - 60, TEXT_BODY, 0, t->faint,
                   "rank number or node name");
    scene_rect(s->brush.scene, (struct box){end + 1, box.y + 21, 1.5, 18}, 0, t->accent);
    scene_rect(s->brush.scene, (struct box){box.x + 16, box.y + 50, box.w - 32, 1}, 0, t->line);
    double y = box.y + 58;
    if (!n && s->ui->overlay.search[0])
        scene_text(s->brush.scene, x, y + 4, box.w - 40, TEXT_SMALL, 0, t->second,
                   "no rank and no node of that name");
    uint32_t last;
    piece_list(s, (struct box){box.x + 8, y, box.w - 16, n * 28.0 + 1}, LIST_FOUND, (uint32_t)n, 28,
               &last);
    for (int i = 0; i < n; i++, y += 28) {
        struct box row = {box.x + 8, y, box.w - 16, 26};
        int rank = found[i].kind == SELECT_RANK;
        piece_row(s, row, rank ? HIT_RANK : HIT_NODE, found[i].a, 0,
                  s->ui->list.cursor[LIST_FOUND] == (uint32_t)i, LIST_FOUND, (uint32_t)i);
        if (rank)
            scene_textf(s->brush.scene, row.x + 14, y + 4, row.w - 28, TEXT_BODY, 0, t->text,
                        "rank %llu on %s", (unsigned long long)found[i].a,
                        model_host_of(s->model, (uint32_t)found[i].a));
        else
            scene_textf(s->brush.scene, row.x + 14, y + 4, row.w - 28, TEXT_BODY, 0, t->text,
                        "node %s, %u ranks", s->model->hosts[found[i].a].name,
                        s->model->hosts[found[i].a].ranks);
    }
}
