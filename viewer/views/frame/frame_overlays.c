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

enum { NAMES = 88, STEP = 21, STEP_LEAST = 13 }; /* width of the names of keys; height of a row */

/* How the lists of keys are laid out. */
struct help_rows {
    double step;   /* height of a row of one line */
    int lines;     /* in which the text of a key may be broken */
    double bottom; /* rows that end below it are left out; 0: nothing is drawn, only measured */
};

/* @return the height of all rows */
static double overlays_add_rows(const struct stage *s, struct box box,
                                const char *const (*table)[2], size_t count,
                                const struct help_rows *how)
{
    struct scene *scene = s->brush.scene;
    const struct theme *t = s->brush.theme;
    double y = box.y, x = box.x + NAMES, w = box.w - NAMES, line = text_line(TEXT_SMALL);
    for (size_t i = 0; i < count; i++) {
        double h = scene_paragraph_height(scene, w, TEXT_SMALL, how->lines, table[i][1]);
        if (y + h <= how->bottom) {
            scene_text(scene, box.x, y, NAMES - 6, TEXT_SMALL_STRONG, 0, t->text, table[i][0]);
            if (how->lines > 1)
                scene_paragraph(scene, x, y, w, TEXT_SMALL, t->second, how->lines, table[i][1]);
            else
                scene_text(scene, x, y, w, TEXT_SMALL, TEXT_CLAUSES, t->second, table[i][1]);
        }
        y += how->step - line + h;
    }
    return y - box.y;
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

/* Keys in two columns and the mouse below them. @return height of all of it */
static double help_add(const struct stage *s, struct box box, const struct help_rows *how)
{
    const struct theme *t = s->brush.theme;
    size_t count = sizeof keys / sizeof *keys, half = (count + 1) / 2,
           below = sizeof mouse / sizeof *mouse;
    double column = (box.w - 60) / 2, x = box.x + 24, y = box.y + 44;
    struct box left = {x, y, column, 0}, right = {x + column + 12, y, column, 0};
    double h = fmax(overlays_add_rows(s, left, keys, half, how),
                    overlays_add_rows(s, right, keys + half, count - half, how));
    double under = y + h + 6;
    if (how->bottom > 0)
        scene_text(s->brush.scene, x, box.y + 14, box.w - 48, TEXT_TITLE, 0, t->text, "Keys");
    if (under + 20 <= how->bottom)
        scene_text(s->brush.scene, x, under, box.w - 48, TEXT_TITLE, 0, t->text, "Mouse");
    struct box wide = {x, under + 26, box.w - 48, 0};
    return wide.y + overlays_add_rows(s, wide, mouse, below, how) + 10 - box.y;
}

/* As wide and high as its texts need. Where the window is too low, rows stand closer, then they
 * have one line each, then the last are left out. */
void help_layout(struct stage *s)
{
    struct help_rows how = {.step = STEP, .lines = 2};
    double w = fmin(s->ui->w - 16, 1100), room = s->ui->h - 16, h;
    while ((h = help_add(s, (struct box){0, 0, w, 0}, &how)) > room && how.step > STEP_LEAST) {
        how.step--;
        how.lines = how.step >= text_line(TEXT_SMALL) ? 2 : 1;
    }
    struct box box = overlays_card(s, w, h, (s->ui->h - h) / 2, "help");
    how.bottom = box.y + box.h;
    help_add(s, box, &how);
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
