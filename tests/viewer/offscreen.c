/* Paints the viewer into memory. */
#include "tests/viewer/offscreen.h"

#include "viewer/draw/canvas.h"

#include "proto/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void offscreen_open(struct offscreen *o, struct model *model, double w, double h, double scale,
                    enum theme_kind theme)
{
    char why[256];
    *o = (struct offscreen){.model = model};
    if (type_create(&o->type, scale, why, sizeof why) < 0) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
    ui_init(&o->ui, w, h, scale, theme);
    o->ui.connection.state = CLIENT_CONNECTED;
    theme_init(&o->theme, theme);
}

void offscreen_close(struct offscreen *o)
{
    painter_finish(&o->painter);
    scene_finish(&o->scene);
    pictures_finish(&o->pictures);
    range_finish(&o->range);
    ui_finish(&o->ui);
    type_destroy(o->type);
}

uint64_t offscreen_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void offscreen_apply_model(void *model, const struct wire_message *message, int snapshot)
{
    if (model_apply(model, message, snapshot) < 0) {
        fputs("the model has not accepted a message\n", stderr);
        exit(1);
    }
}

void offscreen_apply(void *screen, const struct wire_message *message, int snapshot)
{
    struct offscreen *o = screen;
    uint64_t start = offscreen_cpu_ns();
    offscreen_apply_model(o->model, message, snapshot);
    o->apply_ns += offscreen_cpu_ns() - start;
}

void offscreen_update(struct offscreen *o)
{
    uint64_t first = 0, last = 0;
    ui_windows(&o->ui, o->model, &first, &last);
    range_update(&o->range, o->model, o->ui.time.range, first, last);
    ui_update_flows(&o->ui, o->model, &o->range);
    torus_update(&o->ui, o->model, &o->range);
}

void offscreen_lay_out(struct offscreen *o)
{
    frame_scene(&o->scene, o->model, &o->range, &o->ui, &o->theme, &o->pictures,
                type_measure(o->type));
}

void offscreen_complete(struct offscreen *o)
{
    for (int i = 0; i < 2 || o->pictures.busy; i++)
        offscreen_lay_out(o);
}

static void offscreen_paint(struct offscreen *o)
{
    if (painter_paint(&o->painter, &o->scene, o->type) < 0) {
        fputs("a picture cannot be painted\n", stderr);
        exit(1);
    }
}

void offscreen_frame(struct offscreen *o)
{
    offscreen_update(o);
    offscreen_lay_out(o);
    offscreen_paint(o);
}

int offscreen_save(struct offscreen *o, const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.png", directory, name);
    offscreen_paint(o);
    if (png_write(&o->painter.canvas, path) == 0)
        return 0;
    fprintf(stderr, "no picture %s\n", path);
    return 1;
}
