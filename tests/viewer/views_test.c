/* Every view at every size, theme and scale: what the scene holds is inside its panel, and no text
 * lies upon another. With the real fonts where there are any, else with a plain measure. */
#include "tests/viewer/synthetic.h"

#include "viewer/draw/painter.h"
#include "viewer/draw/type.h"
#include "viewer/ui/input.h"
#include "viewer/views/view.h"

#include "proto/client.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

static void into(void *user, const struct wire_message *message, int snapshot)
{
    model_apply(user, message, snapshot);
}

static struct model *model_of(uint32_t ranks, int windows, int trouble)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, ranks, ranks > 16 ? 16 : 4, 26, 1);
    synthetic_begin(&job, into, m);
    for (int i = 0; i < windows; i++) {
        if (trouble && i == windows / 2)
            synthetic_skip(&job, 3);
        synthetic_window(&job, into, m);
    }
    for (uint32_t rank = 0; trouble && rank < 5; rank++)
        synthetic_death(&job, rank, into, m);
    synthetic_finish(&job);
    return m;
}

/* What one picture needs. */
struct desk {
    struct ui ui;
    struct theme theme;
    struct range range;
    struct pictures pictures;
    struct scene scene;
    struct type *type;
    struct text_measure measure;
};

static void desk_open(struct desk *d, double w, double h, double scale, enum theme_kind theme,
                      enum view_id view)
{
    char why[200];
    memset(d, 0, sizeof *d);
    ui_init(&d->ui, w, h, scale, theme);
    d->ui.view = view;
    d->ui.connection.state = CLIENT_CONNECTED;
    theme_init(&d->theme, theme);
    d->measure = (struct text_measure){plain_width, NULL};
    if (type_create(&d->type, scale, why, sizeof why) == 0)
        d->measure = type_measure(d->type);
}

static void desk_layout(struct desk *d, const struct model *m)
{
    uint64_t first = 0, last = 0;
    ui_windows(&d->ui, m, &first, &last);
    assert_true(range_update(&d->range, m, d->ui.range, first, last) >= 0);
    frame_scene(&d->scene, m, &d->range, &d->ui, &d->theme, &d->pictures, d->measure);
    assert_false(d->scene.failed);
}

static void desk_close(struct desk *d)
{
    scene_finish(&d->scene);
    pictures_finish(&d->pictures);
    range_finish(&d->range);
    type_destroy(d->type);
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

static void check(const struct desk *d, const char *what)
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

static void every_view_keeps_its_panels(void **state)
{
    static const double sizes[][2] = {
        {1600, 900}, {1280, 720}, {1024, 640}, {2400, 1400}, {800, 500}};
    struct model *models[] = {model_of(512, 90, 1), model_of(8, 30, 0), model_of(4096, 3, 1)};
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        for (int v = 0; v < VIEWS; v++) {
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                for (int theme = 0; theme < THEMES; theme++) {
                    struct desk d;
                    char what[64];
                    desk_open(&d, sizes[s][0], sizes[s][1], theme ? 2 : 1, (enum theme_kind)theme,
                              (enum view_id)v);
                    snprintf(what, sizeof what, "%s %.0fx%.0f theme %d job %zu", views[v]->name,
                             d.ui.w, d.ui.h, theme, m);
                    desk_layout(&d, models[m]);
                    check(&d, what);
                    d.ui.selection = (struct selection){SELECT_PAIR, 1, 2};
                    d.ui.drawer = 1;
                    d.ui.range = RANGE_START;
                    desk_layout(&d, models[m]);
                    check(&d, what);
                    d.ui.help = 1;
                    desk_layout(&d, models[m]);
                    check(&d, what);
                    desk_close(&d);
                }
            }
        }
    }
    for (size_t m = 0; m < 3; m++)
        model_destroy(models[m]);
}

static void without_data_every_view_says_so(void **state)
{
    (void)state;
    struct model *m;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    for (int job = 0; job < 2; job++) {
        for (int v = 0; v < VIEWS; v++) {
            struct desk d;
            desk_open(&d, 1024, 640, 1, THEME_DARK, (enum view_id)v);
            desk_layout(&d, m);
            check(&d, views[v]->name);
            desk_close(&d);
        }
        struct wire_message message = {.type = WIRE_TYPE_JOB};
        message.job = (struct wire_job){
            .job = "1", .state = "running", .app = "a", .mpi = "", .world = 1000000000000};
        into(m, &message, 0);
    }
    model_destroy(m);
}

static const char *find_text(const struct scene *s, const char *part)
{
    for (size_t i = 0; i < s->item_count; i++)
        if (strstr(scene_text_of(s, &s->items[i]), part))
            return scene_text_of(s, &s->items[i]);
    return NULL;
}

static void the_header_tells_how_things_stand(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "LIVE"));
    assert_non_null(find_text(&d.scene, "8 ranks on 2 nodes"));
    assert_non_null(find_text(&d.scene, "s3d-insitu"));
    ui_command(&d.ui, m, COMMAND_PAUSE, 0);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "PAUSED"));
    d.ui.connection.state = CLIENT_LOST;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "DAEMON LOST"));
    assert_non_null(find_text(&d.scene, "what you see is old"));
    desk_close(&d);
    model_destroy(m);
}

static void many_ranks_are_added_up_and_it_is_said(void **state)
{
    (void)state;
    struct model *m = model_of(4096, 2, 0);
    struct desk d;
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    const char *note = find_text(&d.scene, "Each cell is the sum of");
    assert_non_null(note);
    assert_true(d.pictures.matrix.per_cell > 1);
    assert_true((uint32_t)d.pictures.matrix.image.w <= 4096 / d.pictures.matrix.per_cell + 1);
    desk_close(&d);
    model_destroy(m);
}

static void a_rank_that_died_has_a_card_and_a_flag(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 1);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "rank 4 died"));
    assert_non_null(find_text(&d.scene, "and 2 more alerts"));
    assert_non_null(find_text(&d.scene, "3 windows missing"));
    desk_close(&d);
    model_destroy(m);
}

static void clicking_the_matrix_selects_the_pair_that_is_there(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    const struct scene_hit *area = NULL;
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_MATRIX)
            area = &d.scene.hits[i];
    assert_non_null(area);
    double cell = area->box.w / 8;
    struct input in = {
        .kind = INPUT_PRESS, .x = area->box.x + 2.5 * cell, .y = area->box.y + 5.5 * cell};
    ui_input(&d.ui, m, &d.scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d.ui, m, &d.scene, &in);
    assert_int_equal(d.ui.selection.kind, SELECT_PAIR);
    assert_int_equal(d.ui.selection.a, 5);
    assert_int_equal(d.ui.selection.b, 2);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "rank 5 \xe2\x86\x92 rank 2"));
    desk_close(&d);
    model_destroy(m);
}

static void the_same_scene_is_not_painted_twice(void **state)
{
    (void)state;
    struct model *m = model_of(64, 30, 0);
    struct desk d;
    struct painter painter = {0};
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_LIVE);
    if (!d.type)
        skip(); /* no fonts on this machine */
    desk_layout(&d, m);
    assert_int_equal(painter_paint(&painter, &d.scene, d.type), 0);
    assert_int_equal(painter.dirty_count, 1);
    size_t bytes = (size_t)painter.canvas.w * (size_t)painter.canvas.h * 4;
    desk_layout(&d, m);
    assert_int_equal(painter_paint(&painter, &d.scene, d.type), 0);
    assert_int_equal(painter.dirty_count, 0);
    /* what is painted in parts equals what is painted at once */
    d.ui.mouse_x = 300;
    d.ui.mouse_y = 150;
    d.ui.selection = (struct selection){SELECT_RANK, 3, 0};
    desk_layout(&d, m);
    desk_layout(&d, m);
    painter_paint(&painter, &d.scene, d.type);
    assert_true(painter.dirty_count > 0);
    struct painter fresh = {0};
    painter_paint(&fresh, &d.scene, d.type);
    assert_memory_equal(painter.canvas.pixels, fresh.canvas.pixels, bytes);
    painter_finish(&fresh);
    painter_finish(&painter);
    desk_close(&d);
    model_destroy(m);
}

static void nothing_is_painted_outside_a_panel(void **state)
{
    (void)state;
    struct model *m = model_of(64, 90, 1);
    for (int v = 0; v < VIEWS; v++) {
        struct desk d;
        struct painter whole = {0};
        desk_open(&d, 1280, 720, 1, THEME_DARK, (enum view_id)v);
        if (!d.type)
            skip();
        desk_layout(&d, m);
        painter_paint(&whole, &d.scene, d.type);
        for (int y = 0; y < 720; y++) /* the gap between view and context shows bare ground */
            for (int x = 1280 - 316 - 10; x < 1280 - 316 - 2; x++)
                if (y > 48 && y < 720 - 28)
                    assert_int_equal(whole.canvas.pixels[y * 1280 + x],
                                     0xff000000u | d.theme.ground >> 8);
        painter_finish(&whole);
        desk_close(&d);
    }
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_keeps_its_panels),
        cmocka_unit_test(without_data_every_view_says_so),
        cmocka_unit_test(the_header_tells_how_things_stand),
        cmocka_unit_test(many_ranks_are_added_up_and_it_is_said),
        cmocka_unit_test(a_rank_that_died_has_a_card_and_a_flag),
        cmocka_unit_test(clicking_the_matrix_selects_the_pair_that_is_there),
        cmocka_unit_test(the_same_scene_is_not_painted_twice),
        cmocka_unit_test(nothing_is_painted_outside_a_panel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
