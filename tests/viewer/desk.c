#include "tests/viewer/desk.h"

#include "proto/client.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double plain_width(void *user, enum text_style style, int flags, const char *text,
                          size_t bytes)
{
    (void)user;
    (void)flags;
    size_t letters = 0;
    for (size_t i = 0; i < bytes; i++)
        letters += (text[i] & 0xc0) != 0x80;
    return (double)letters * text_size(style) * 0.56;
}

/* The fonts at a scale, opened once for all desks. They live as long as the program.
 * @return NULL when there are none */
static struct type *shared_type(double scale)
{
    static struct {
        double scale;
        struct type *type;
    } opened[4];
    char why[200];
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
        if (opened[i].type == NULL && type_create(&opened[i].type, scale, why, sizeof why) != 0)
            return NULL;
        if (opened[i].scale == 0)
            opened[i].scale = scale;
        if (fabs(opened[i].scale - scale) < 1e-9)
            return opened[i].type;
    }
    fail_msg("%s", "too many scales");
    return NULL;
}

void desk_open(struct desk *d, double w, double h, double scale, enum theme_kind theme,
               enum view_id view)
{
    memset(d, 0, sizeof *d);
    ui_init(&d->ui, w, h, scale, theme);
    d->ui.view = view;
    d->ui.connection.state = CLIENT_CONNECTED;
    theme_init(&d->theme, theme);
    d->measure = (struct text_measure){plain_width, NULL};
    d->type = shared_type(scale);
    if (d->type)
        d->measure = type_measure(d->type);
}

void desk_apply(void *model, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(model, message, snapshot), 0);
}

void desk_layout(struct desk *d, const struct model *m)
{
    uint64_t first = 0, last = 0;
    ui_windows(&d->ui, m, &first, &last);
    assert_true(range_update(&d->range, m, d->ui.time.range, first, last) >= 0);
    assert_true(ui_update_flows(&d->ui, m, &d->range) >= 0);
    assert_true(torus_update(&d->ui, m, &d->range) >= 0);
    do
        frame_scene(&d->scene, m, &d->range, &d->ui, &d->theme, &d->pictures, d->measure);
    while (d->pictures.busy);
    assert_false(d->scene.failed);
}

void desk_close(struct desk *d)
{
    scene_finish(&d->scene);
    pictures_finish(&d->pictures);
    range_finish(&d->range);
    ui_finish(&d->ui);
}

static int within(struct box inner, struct box outer)
{
    const double slack = 1.01;
    return inner.x >= outer.x - slack && inner.y >= outer.y - slack &&
           inner.x + inner.w <= outer.x + outer.w + slack &&
           inner.y + inner.h <= outer.y + outer.h + slack;
}

static int overlap(struct box a, struct box b)
{
    return fmin(a.x + a.w, b.x + b.w) - fmax(a.x, b.x) > 1 &&
           fmin(a.y + a.h, b.y + b.h) - fmax(a.y, b.y) > 4;
}

void desk_check(const struct desk *d, const char *what)
{
    const struct scene *s = &d->scene;
    struct box window = {0, 0, s->w, s->h};
    for (size_t p = 0; p < s->panel_count; p++)
        if (!within(s->panels[p].box, window))
            fail_msg("%s: panel %s reaches out of the window", what, s->panels[p].name);
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *a = &s->items[i];
        const struct scene_panel *panel = &s->panels[a->panel];
        int clipped = strstr(panel->name, ".plot") || !strcmp(panel->name, "band");
        if (a->kind != SCENE_TEXT && a->kind != SCENE_RECT)
            continue;
        if (!clipped && !within(a->box, panel->box))
            fail_msg("%s: '%s' at %.0f,%.0f %.0fx%.0f leaves panel %s", what, scene_text_of(s, a),
                     a->box.x, a->box.y, a->box.w, a->box.h, panel->name);
        for (size_t k = i + 1;
             a->kind == SCENE_TEXT && k < s->item_count && s->items[k].panel == a->panel; k++)
            if (s->items[k].kind == SCENE_TEXT && overlap(a->box, s->items[k].box))
                fail_msg("%s: '%s' lies upon '%s' in %s", what, scene_text_of(s, a),
                         scene_text_of(s, &s->items[k]), panel->name);
    }
}

const char *find_text(const struct scene *s, const char *part)
{
    for (size_t i = 0; i < s->item_count; i++)
        if (strstr(scene_text_of(s, &s->items[i]), part))
            return scene_text_of(s, &s->items[i]);
    return NULL;
}
