/* Paints every view of a synthetic job: gallery DIRECTORY [RANKS]. For looking at, and for the eye
 * of whoever changes a layout. */
#include "tests/viewer/synthetic.h"

#include "viewer/draw/painter.h"
#include "viewer/draw/png_file.h"
#include "viewer/draw/type.h"
#include "viewer/views/view.h"

#include "proto/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void into_model(void *user, const struct wire_message *message, int snapshot)
{
    model_apply(user, message, snapshot);
}

struct shot {
    const char *name;
    enum view_id view;
    double w, h, scale;
    enum theme_kind theme;
    int help, drawer, searching, paused;
    struct selection selection;
    double mouse_x, mouse_y;
};

static int take(const char *directory, const struct shot *shot, struct model *model)
{
    struct ui ui;
    struct theme theme;
    struct range range = {0};
    struct pictures pictures = {0};
    struct scene scene = {0};
    struct painter painter = {0};
    struct type *type;
    char why[256], path[512];
    if (type_create(&type, shot->scale, why, sizeof why) < 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    ui_init(&ui, shot->w, shot->h, shot->scale, shot->theme);
    theme_init(&theme, shot->theme);
    ui.view = shot->view;
    ui.connection.state = CLIENT_CONNECTED;
    ui.help = shot->help;
    ui.drawer = shot->drawer;
    ui.searching = shot->searching;
    ui.selection = shot->selection;
    snprintf(ui.search, sizeof ui.search, "%s", shot->searching ? "1" : "");
    ui.mouse_x = shot->mouse_x ? shot->mouse_x : -1;
    ui.mouse_y = shot->mouse_y ? shot->mouse_y : -1;
    if (shot->paused)
        ui_pan_time(&ui, model, -15ll * 1000000000);
    uint64_t first = 0, last = 0;
    ui_windows(&ui, model, &first, &last);
    range_update(&range, model, RANGE_SPAN, first, last);
    for (int i = 0; i < 2; i++) /* twice: what the mouse is over comes from the scene before */
        frame_scene(&scene, model, &range, &ui, &theme, &pictures, type_measure(type));
    snprintf(path, sizeof path, "%s/%s.png", directory, shot->name);
    int error = painter_paint(&painter, &scene, type);
    error = error ? error : png_write(&painter.canvas, path);
    painter_finish(&painter);
    scene_finish(&scene);
    pictures_finish(&pictures);
    range_finish(&range);
    type_destroy(type);
    return error != 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: gallery DIRECTORY [RANKS]\n");
        return 2;
    }
    uint32_t ranks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 512;
    struct model *model;
    struct synthetic job;
    if (model_create(&model, 256u << 20) < 0)
        return 1;
    synthetic_init(&job, ranks, ranks >= 64 ? ranks / 16 : 4, 26, 1);
    synthetic_begin(&job, into_model, model);
    for (int i = 0; i < 110; i++) {
        if (i == 72)
            synthetic_skip(&job, 4);
        synthetic_window(&job, into_model, model);
    }
    if (ranks > 8) {
        job.window -= 12;
        synthetic_death(&job, ranks / 3, into_model, model);
        job.window += 12;
    }
    static const struct shot shots[] = {
        {.name = "live",
         .view = VIEW_LIVE,
         .w = 1600,
         .h = 900,
         .scale = 1,
         .mouse_x = 700,
         .mouse_y = 200},
        {.name = "live-light",
         .view = VIEW_LIVE,
         .w = 1600,
         .h = 900,
         .scale = 1,
         .theme = THEME_LIGHT},
        {.name = "live-small", .view = VIEW_LIVE, .w = 1024, .h = 640, .scale = 1, .paused = 1},
        {.name = "matrix",
         .view = VIEW_MATRIX,
         .w = 1600,
         .h = 900,
         .scale = 1,
         .selection = {SELECT_RANK, 3, 0},
         .mouse_x = 600,
         .mouse_y = 400},
        {.name = "matrix-light",
         .view = VIEW_MATRIX,
         .w = 1600,
         .h = 900,
         .scale = 1,
         .theme = THEME_LIGHT,
         .selection = {SELECT_PAIR, 1, 2}},
        {.name = "pairs",
         .view = VIEW_PAIRS,
         .w = 1600,
         .h = 900,
         .scale = 1,
         .selection = {SELECT_RANK, 3, 0}},
        {.name = "ranks",
         .view = VIEW_RANKS,
         .w = 1600,
         .h = 900,
         .scale = 1,
         .mouse_x = 500,
         .mouse_y = 500},
        {.name = "ranks-small", .view = VIEW_RANKS, .w = 1024, .h = 640, .scale = 1, .drawer = 1},
        {.name = "calls", .view = VIEW_CALLS, .w = 1600, .h = 900, .scale = 1},
        {.name = "nodes",
         .view = VIEW_NODES,
         .w = 1600,
         .h = 900,
         .scale = 1,
         .selection = {SELECT_NODE, 1, 0}},
        {.name = "jobs", .view = VIEW_JOBS, .w = 1600, .h = 900, .scale = 1, .theme = THEME_LIGHT},
        {.name = "help", .view = VIEW_LIVE, .w = 1024, .h = 640, .scale = 1, .help = 1},
        {.name = "search", .view = VIEW_MATRIX, .w = 1280, .h = 720, .scale = 1, .searching = 1},
        {.name = "live-2x", .view = VIEW_LIVE, .w = 1200, .h = 700, .scale = 2},
    };
    int error = 0;
    for (size_t i = 0; i < sizeof shots / sizeof *shots; i++)
        error |= take(argv[1], &shots[i], model);
    synthetic_finish(&job);
    model_destroy(model);
    return error;
}
