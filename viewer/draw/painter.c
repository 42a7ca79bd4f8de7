/* Paints the shapes and texts of a scene onto a canvas, only where the scene changed. */
#include "viewer/draw/painter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct clip device_box(struct box b, double k)
{
    return (struct clip){(int)lround(b.x * k), (int)lround(b.y * k), (int)lround((b.x + b.w) * k),
                         (int)lround((b.y + b.h) * k)};
}

/* ---- items --------------------------------------------------------------- */

static void paint_rect(struct canvas *c, const struct scene_item *item, double k)
{
    struct clip box = device_box(item->box, k);
    box.x1 += box.x1 == box.x0;
    box.y1 += box.y1 == box.y0;
    if (item->radius <= 0)
        canvas_rect(c, box, item->color);
    else
        canvas_round(c, (struct box){box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0},
                     item->radius * k, item->color);
}

static void paint_line(struct canvas *c, const struct scene_item *item, double k)
{
    double x0 = item->box.x * k, y0 = item->box.y * k, x1 = x0 + item->box.w * k,
           y1 = y0 + item->box.h * k;
    int width = (int)fmax(round(item->width * k), 1);
    if (item->box.w == 0) {
        int left = (int)floor(x0 - width / 2.0 + 0.5);
        canvas_rect(
            c,
            (struct clip){left, (int)lround(fmin(y0, y1)), left + width, (int)lround(fmax(y0, y1))},
            item->color);
    } else if (item->box.h == 0) {
        int top = (int)floor(y0 - width / 2.0 + 0.5);
        canvas_rect(
            c,
            (struct clip){(int)lround(fmin(x0, x1)), top, (int)lround(fmax(x0, x1)), top + width},
            item->color);
    } else {
        const struct point ends[2] = {{x0, y0}, {x1, y1}};
        canvas_curve(c, ends, 2, item->width * k, item->color);
    }
}

static void paint_points(struct canvas *c, const struct scene *scene, const struct scene_item *item)
{
    struct point device[CANVAS_POINTS];
    double k = scene->scale;
    size_t done = 0;
    /* Long rows are painted in stretches that share an end. */
    while (done + 1 < item->count) {
        size_t n = item->count - done < CANVAS_POINTS ? item->count - done : CANVAS_POINTS;
        for (size_t i = 0; i < n; i++)
            device[i] = (struct point){scene->points[item->first + done + i].x * k,
                                       scene->points[item->first + done + i].y * k};
        if (item->kind == SCENE_CURVE)
            canvas_curve(c, device, n, item->width * k, item->color);
        else if (item->kind == SCENE_AREA)
            canvas_area(c, device, n, item->color);
        else
            canvas_polygon(c, device, n, item->color);
        if (done + n >= item->count)
            return;
        done += n - (item->kind == SCENE_AREA ? 2 : 1);
    }
}

static void paint_item(struct canvas *c, const struct scene *scene, const struct scene_item *item,
                       struct type *type)
{
    double k = scene->scale;
    struct clip box = device_box(item->box, k);
    switch (item->kind) {
    case SCENE_RECT:
        paint_rect(c, item, k);
        break;
    case SCENE_OUTLINE:
        canvas_outline(c, (struct box){box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0},
                       item->radius * k, fmax(floor(item->width * k), 1), item->color);
        break;
    case SCENE_LINE:
        paint_line(c, item, k);
        break;
    case SCENE_DISC:
        canvas_disc(c, (item->box.x + item->box.w / 2) * k, (item->box.y + item->box.h / 2) * k,
                    item->box.w / 2 * k, item->color);
        break;
    case SCENE_CURVE:
    case SCENE_AREA:
    case SCENE_POLYGON:
        paint_points(c, scene, item);
        break;
    case SCENE_IMAGE:
        canvas_image(
            c, (struct box){item->box.x * k, item->box.y * k, item->box.w * k, item->box.h * k},
            item->image);
        break;
    case SCENE_TEXT:
        type_draw(type, c, item->box.x * k, item->box.y * k, item->style, item->flags, item->color,
                  scene_text_of(scene, item));
        break;
    }
}

/* ---- what changed -------------------------------------------------------- */

static int painter_contains(struct clip outer, struct clip inner)
{
    return outer.x0 <= inner.x0 && outer.y0 <= inner.y0 && outer.x1 >= inner.x1 &&
           outer.y1 >= inner.y1;
}

static void add_dirty(struct painter *p, struct box box)
{
    struct clip clip = device_box(box, p->scale);
    clip = clip_and(clip, (struct clip){0, 0, p->canvas.w, p->canvas.h});
    if (clip_empty(clip))
        return;
    for (int i = 0; i < p->dirty_count; i++) {
        if (painter_contains(p->dirty[i], clip))
            return;
        if (painter_contains(clip, p->dirty[i]))
            p->dirty[i--] = p->dirty[--p->dirty_count];
    }
    if (p->dirty_count == PAINTER_DIRTY) {
        p->dirty[0] = (struct clip){0, 0, p->canvas.w, p->canvas.h};
        p->dirty_count = 1;
        return;
    }
    p->dirty[p->dirty_count++] = clip;
}

static const struct scene_panel *painter_find(const struct scene_panel *panels, size_t count,
                                              size_t guess, const char *name)
{
    if (guess < count && !strcmp(panels[guess].name, name))
        return &panels[guess];
    for (size_t i = 0; i < count; i++)
        if (!strcmp(panels[i].name, name))
            return &panels[i];
    return NULL;
}

static void painter_compare(struct painter *p, const struct scene *scene)
{
    for (size_t i = 0; i < scene->panel_count; i++) {
        const struct scene_panel *now = &scene->panels[i];
        const struct scene_panel *before = painter_find(p->panels, p->panel_count, i, now->name);
        if (before && before->hash == now->hash)
            continue;
        add_dirty(p, now->box);
        if (before)
            add_dirty(p, before->box);
    }
    for (size_t i = 0; i < p->panel_count; i++)
        if (!painter_find(scene->panels, scene->panel_count, i, p->panels[i].name))
            add_dirty(p, p->panels[i].box);
}

static int painter_remember(struct painter *p, const struct scene *scene)
{
    if (scene->panel_count > p->panel_capacity) {
        struct scene_panel *panels = realloc(p->panels, scene->panel_count * sizeof *panels);
        if (!panels)
            return -ENOMEM;
        p->panels = panels;
        p->panel_capacity = scene->panel_count;
    }
    memcpy(p->panels, scene->panels, scene->panel_count * sizeof *p->panels);
    p->panel_count = scene->panel_count;
    return 0;
}

/* The last panel that covers an area: those before it are not visible there. */
static size_t painter_lowest(const struct painter *p, const struct scene *scene, struct clip area)
{
    size_t lowest = 0;
    for (size_t i = 0; i < scene->panel_count; i++)
        if ((scene->panels[i].color & 0xff) == 0xff &&
            painter_contains(device_box(scene->panels[i].box, p->scale), area))
            lowest = i;
    return lowest;
}

static void painter_repaint(struct painter *p, const struct scene *scene, struct type *type,
                            struct clip area)
{
    for (size_t i = painter_lowest(p, scene, area); i < scene->panel_count; i++) {
        const struct scene_panel *panel = &scene->panels[i];
        struct clip box = device_box(panel->box, p->scale);
        p->canvas.clip =
            clip_and(clip_and(box, area), (struct clip){0, 0, p->canvas.w, p->canvas.h});
        if (clip_empty(p->canvas.clip))
            continue;
        if (panel->color & 0xff)
            canvas_rect(&p->canvas, box, panel->color);
        size_t last = i + 1 < scene->panel_count ? scene->panels[i + 1].first : scene->item_count;
        for (size_t k = panel->first; k < last; k++)
            paint_item(&p->canvas, scene, &scene->items[k], type);
    }
}

int painter_paint(struct painter *p, const struct scene *scene, struct type *type)
{
    int w = (int)lround(scene->w * scene->scale), h = (int)lround(scene->h * scene->scale);
    p->dirty_count = 0;
    if (p->canvas.w != w || p->canvas.h != h || p->scale != scene->scale) {
        if (canvas_resize(&p->canvas, w, h) < 0)
            return -ENOMEM;
        p->panel_count = 0;
        p->scale = scene->scale;
        p->dirty[p->dirty_count++] = (struct clip){0, 0, w, h};
    } else {
        painter_compare(p, scene);
    }
    for (int i = 0; i < p->dirty_count; i++)
        painter_repaint(p, scene, type, p->dirty[i]);
    return painter_remember(p, scene);
}

void painter_finish(struct painter *p)
{
    canvas_finish(&p->canvas);
    free(p->panels);
    memset(p, 0, sizeof *p);
}
