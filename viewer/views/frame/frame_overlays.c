/* Overlays: help on keys and mouse, search for a rank or node. */
#include "viewer/views/frame/frame.h"

#include "viewer/ui/ui_keys.h"
#include "viewer/views/common/pieces.h"

#include "holter/call.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

enum { ROW = 20, KEYS_W = 128, GESTURE_W = 92 };

/* One row: keys or a gesture, and what it does. */
static void overlays_add_row(const struct stage *s, struct box row, const char *keys,
                             const char *words)
{
    scene_text(s->brush.scene, row.x, row.y, KEYS_W - 10, TEXT_SMALL_STRONG, 0,
               s->brush.theme->text, keys);
    scene_text(s->brush.scene, row.x + KEYS_W, row.y, row.w - KEYS_W, TEXT_SMALL, TEXT_CLAUSES,
               s->brush.theme->second, words);
}

/* A gesture, in two lines where it has to. @return height */
static double overlays_add_gesture(const struct stage *s, struct box box,
                                   const char *const gesture[2], double step)
{
    double line = text_line(TEXT_SMALL), w = box.w - GESTURE_W;
    int lines = scene_paragraph_height(s->brush.scene, w, TEXT_SMALL, 2, gesture[1]) > line + 1 &&
                        2 * line <= box.h
                    ? 2
                    : 1;
    scene_text(s->brush.scene, box.x, box.y, GESTURE_W - 10, TEXT_SMALL_STRONG, 0,
               s->brush.theme->text, gesture[0]);
    scene_paragraph(s->brush.scene, box.x + GESTURE_W, box.y, w, TEXT_SMALL, s->brush.theme->second,
                    lines, gesture[1]);
    return lines > 1 ? fmax(2 * line + 2, step) : step;
}

/* Whether a line of the table is shown: keys of all places, or those of the present one. */
static int overlays_shows(const struct stage *s, const struct key_line *line, int own)
{
    int replay = !strcmp(line->context, "replay");
    if (replay)
        return own && s->model->playback.known;
    return own ? (line->views >> s->ui->view & 1) != 0 : !line->views;
}

/* Keys of all places, or those of the present one. @return number of rows */
static int overlays_add_keys(const struct stage *s, struct box box, int own, double step, int draw)
{
    int rows = 0;
    for (int i = 0; i < KEY_IDS; i++) {
        if (!overlays_shows(s, &key_lines[i], own))
            continue;
        if (draw && (rows + 1) * step <= box.h)
            overlays_add_row(s, (struct box){box.x, box.y + rows * step, box.w, step},
                             key_lines[i].shown, key_lines[i].words);
        rows++;
    }
    return rows;
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

/* Keys of all places on the left; on the right those of the present place, and the mouse. */
void help_layout(struct stage *s)
{
    const struct theme *t = s->brush.theme;
    int all = overlays_add_keys(s, (struct box){0}, 0, ROW, 0),
        own = overlays_add_keys(s, (struct box){0}, 1, ROW, 0),
        gestures = (int)(sizeof mouse / sizeof *mouse);
    int right = own + 2 * gestures + 2, rows = all > right ? all : right;
    double h = 76.0 + rows * ROW;
    struct box box = overlays_card(s, 940, h, (s->ui->h - h) / 2, "help");
    double step = fmin(floor((box.h - 76) / rows), ROW), column = (box.w - 66) / 2;
    struct box left = {box.x + 24, box.y + 50, column, box.h - 60},
               other = {box.x + 42 + column, box.y + 50, column, box.h - 60};
    char title[96];
    scene_text(s->brush.scene, left.x, box.y + 18, column, TEXT_TITLE, 0, t->text, "Keys");
    overlays_add_keys(s, left, 0, step, 1);
    snprintf(title, sizeof title, own ? "Keys in %s" : "%s has no keys of its own",
             place_names[s->ui->view].label);
    scene_text(s->brush.scene, other.x, box.y + 18, column, TEXT_TITLE, 0, t->text, title);
    overlays_add_keys(s, other, 1, step, 1);
    double y = other.y + (own + 0.5) * step;
    if (y + 24 > box.y + box.h)
        return;
    scene_text(s->brush.scene, other.x, y, column, TEXT_TITLE, 0, t->text, "Mouse");
    y += 26;
    for (int i = 0; i < gestures && y + step <= box.y + box.h - 4; i++)
        y += overlays_add_gesture(s, (struct box){other.x, y, column, box.y + box.h - 4 - y},
                                  mouse[i], step);
}

/* A line about what was found. */
static void search_format(const struct stage *s, const struct selection *found, char *out,
                          size_t capacity)
{
    const struct model *m = s->model;
    const struct alert *alert;
    const struct model_host *host;
    char name[300];
    switch (found->kind) {
    case SELECT_RANK:
        piece_rank_on(m, found->a, out, capacity);
        break;
    case SELECT_ALERT:
        alert = alerts_find(&m->alerts, found->a);
        snprintf(out, capacity, "alert %llu: %s", (unsigned long long)found->a,
                 alert ? alert->title : "");
        break;
    case SELECT_CALL:
        snprintf(out, capacity, "call %s", call_name(model_call_at(m, (uint32_t)found->a).call));
        break;
    case SELECT_LINK:
        snprintf(out, capacity, "link %s",
                 network_link_name(&m->network, (uint32_t)found->a, name, sizeof name));
        break;
    default:
        host = &m->hosts[found->a];
        snprintf(out, capacity, "%s%s, %s", strncmp(host->name, "node", 4) ? "node " : "",
                 host->name, quantity_things(host->ranks, "rank").text);
    }
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
                   "rank, host, link, call or alert");
    scene_rect(s->brush.scene, (struct box){end + 1, box.y + 21, 1.5, 18}, 0, t->accent);
    scene_rect(s->brush.scene, (struct box){box.x + 16, box.y + 50, box.w - 32, 1}, 0, t->line);
    double y = box.y + 58;
    if (!n && s->ui->overlay.search[0])
        scene_text(s->brush.scene, x, y + 4, box.w - 40, TEXT_SMALL, 0, t->second,
                   "no rank, host, link, call or alert of that name");
    uint32_t last;
    piece_list(s, (struct box){box.x + 8, y, box.w - 16, n * 28.0 + 1}, LIST_FOUND, (uint32_t)n, 28,
               &last);
    for (int i = 0; i < n; i++, y += 28) {
        struct box row = {box.x + 8, y, box.w - 16, 26};
        static const enum hit_kind kinds[] = {[SELECT_RANK] = HIT_RANK,
                                              [SELECT_NODE] = HIT_NODE,
                                              [SELECT_CALL] = HIT_CALL,
                                              [SELECT_ALERT] = HIT_ALERT,
                                              [SELECT_LINK] = HIT_LINK};
        char text[400];
        piece_row(s, row, kinds[found[i].kind], found[i].a, 0,
                  s->ui->list.cursor[LIST_FOUND] == (uint32_t)i, LIST_FOUND, (uint32_t)i);
        search_format(s, &found[i], text, sizeof text);
        scene_text(s->brush.scene, row.x + 14, y + 4, row.w - 28, TEXT_BODY, 0, t->text, text);
    }
}
