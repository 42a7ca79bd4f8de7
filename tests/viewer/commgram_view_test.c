/* The view of the CommGram: what its scene says, and what keys and mouse do there. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic_commgram.h"

#include "viewer/ui/ui_input.h"

#include "holter/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct synthetic_commgram gram = {.ranks = 64,
                                               .every = 4,
                                               .begin_ns = SYNTHETIC_FIRST * SYNTHETIC_SECOND,
                                               .phase_ns = SYNTHETIC_SECOND * 5,
                                               .modelled = 1,
                                               .folded = 3};

struct fixture {
    struct model *model;
    struct synthetic job;
    struct desk desk;
    struct synthetic_commgram gram;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->gram = gram;
    assert_int_equal(model_create(&f->model, 16 << 20), 0);
    synthetic_init(&f->job, 64, 16, 6, 1);
    synthetic_begin(&f->job, desk_apply, f->model);
    for (int i = 0; i < 100; i++)
        synthetic_window(&f->job, desk_apply, f->model);
    synthetic_phases(&gram, 1, 18, desk_apply, f->model);
    desk_open(&f->desk, 1600, 900, 1, THEME_DARK, VIEW_COMMGRAM);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    desk_close(&f->desk);
    synthetic_finish(&f->job);
    model_destroy(f->model);
    free(f);
    return 0;
}

/* Ask as the program does, answer as a daemon does, lay out. */
static void show(struct fixture *f)
{
    struct commgram_request wish;
    if (ui_commgram_request(&f->desk.ui, f->model, &wish) &&
        !commgram_same(&wish, &f->model->commgram.now.asked)) {
        commgram_asked(&f->model->commgram, &wish);
        synthetic_picture(&f->gram, &wish, desk_apply, f->model);
        commgram_replied(&f->model->commgram, 0, NULL);
    }
    desk_layout(&f->desk, f->model);
}

static int says(const struct fixture *f, const char *part)
{
    return find_text(&f->desk.scene, part) != NULL;
}

static void type_text(struct fixture *f, const char *text)
{
    struct input in = {.kind = INPUT_TEXT};
    strcpy(in.text, text);
    ui_input(&f->desk.ui, f->model, &f->desk.scene, &in);
    show(f);
}

static void press_key(struct fixture *f, int key)
{
    const struct input in = {.kind = INPUT_KEY, .key = key};
    ui_input(&f->desk.ui, f->model, &f->desk.scene, &in);
    show(f);
}

static void send_mouse(struct fixture *f, enum input_kind kind, double x, double y, int clicks,
                       int shift)
{
    const struct input in = {.kind = kind, .x = x, .y = y, .clicks = clicks, .shift = shift};
    ui_input(&f->desk.ui, f->model, &f->desk.scene, &in);
}

static void click(struct fixture *f, double x, double y, int clicks)
{
    for (int n = 1; n <= clicks; n++) {
        send_mouse(f, INPUT_PRESS, x, y, n, 0);
        send_mouse(f, INPUT_RELEASE, x, y, n, 0);
    }
    show(f);
}

static void drag(struct fixture *f, double x0, double x1, double y, int shift)
{
    send_mouse(f, INPUT_PRESS, x0, y, 1, shift);
    send_mouse(f, INPUT_MOVE, (x0 + x1) / 2, y, 1, shift);
    send_mouse(f, INPUT_MOVE, x1, y, 1, shift);
    send_mouse(f, INPUT_RELEASE, x1, y, 1, shift);
    show(f);
}

static void turn_wheel(struct fixture *f, double notches, int shift, int ctrl)
{
    const struct scene_hit *hit = NULL;
    for (size_t i = 0; i < f->desk.scene.hit_count; i++)
        if (f->desk.scene.hits[i].kind == HIT_COMMGRAM)
            hit = &f->desk.scene.hits[i];
    assert_non_null(hit);
    const struct input in = {.kind = INPUT_WHEEL,
                             .x = hit->box.x + hit->box.w / 2,
                             .y = hit->box.y + hit->box.h / 2,
                             .wheel = notches,
                             .shift = shift,
                             .ctrl = ctrl};
    ui_input(&f->desk.ui, f->model, &f->desk.scene, &in);
    show(f);
}

/* The n-th hit of a kind, from 0. */
static const struct scene_hit *hit_of(const struct fixture *f, enum hit_kind kind, int n)
{
    for (size_t i = 0; i < f->desk.scene.hit_count; i++)
        if (f->desk.scene.hits[i].kind == kind && n-- == 0)
            return &f->desk.scene.hits[i];
    fail_msg("no hit of that kind");
    return NULL;
}

static void span_of(const struct fixture *f, int64_t *begin, int64_t *end)
{
    assert_true(ui_settled_time(&f->desk.ui, f->model, begin, end));
}

/* ---- what is said ------------------------------------------------------------------------------
 */

static void the_scene_shows_phases_bars_and_ribbons(void **state)
{
    struct fixture *f = *state;
    show(f);
    const struct commgram_picture *p = &f->model->commgram.now;
    assert_int_equal(p->column_count, 12); /* of a minute */
    assert_int_equal(p->bar_count, 13 * 18);
    assert_true(says(f, "12 phases, bars: 234 groups of ranks"));
    assert_true(says(f, "24 phases"));
    assert_true(says(f, "communities as found"));
    assert_true(says(f, "last 60"));
    assert_true(says(f, "phase 12 of 12: as phase 4"));
}

static void badges_say_what_is_not_shown_one_by_one(void **state)
{
    struct fixture *f = *state;
    show(f);
    assert_true(says(f, "ribbons narrower than a pixel drawn together"));
    assert_true(says(f, "36 messages whose pair is not known are not drawn"));
    assert_true(says(f, "hatched: model collectives"));
    assert_false(says(f, "no finer phases are stored"));
    f->gram.resolved = 5;
    type_text(f, "]");
    assert_true(says(f, "no finer phases are stored"));
    f->desk.ui.commgram.communities = 64;
    f->desk.ui.h = 500;
    show(f);
    assert_true(says(f, "bars"));
}

/* Of a job by groups of ranks the daemon knows the first rank of each group only. */
static void of_groups_of_ranks_all_are_named_and_the_first_ones_asked_for(void **state)
{
    struct fixture *f = *state;
    struct commgram_request wish;
    struct model *m = f->model;
    assert_true(m->rank_count >= 16);
    m->group = 4;
    f->desk.ui.selection = (struct selection){SELECT_RANK, 9, 0};
    show(f);
    assert_true(says(f, "only messages from or to ranks 8-11"));
    for (uint32_t r = 0; r < m->rank_count; r++)
        m->ranks[r].node = r == 3 || r == 9 || r == 10;
    f->desk.ui.selection = (struct selection){SELECT_NODE, 1, 0};
    assert_int_equal(ui_commgram_request(&f->desk.ui, m, &wish), 1);
    assert_string_equal(wish.ranks, "0,8");
    ui_open(&f->desk.ui, m, 0, 0, "0,8");
    show(f);
    assert_true(says(f, "ranks 0-3,8-11"));
    const struct wire_bar_row *bar = &m->commgram.now.bars[0];
    f->desk.ui.selection = (struct selection){SELECT_COMMUNITY, bar->community, bar->column};
    f->desk.ui.mouse.x = hit_of(f, HIT_TIME, 0)->box.x + 20; /* the curve */
    f->desk.ui.mouse.y = hit_of(f, HIT_TIME, 0)->box.y + 20;
    show(f);
    show(f);
    assert_true(says(f, " groups in "));
    int facts = 0;
    for (size_t i = 0; i < f->desk.scene.item_count; i++)
        facts += !strcmp(scene_text_of(&f->desk.scene, &f->desk.scene.items[i]), "groups");
    assert_int_equal(facts, 1);
}

static void of_groups_of_ranks_those_of_listed_ranks_are_named(void **state)
{
    struct fixture *f = *state;
    f->model->group = 4;
    ui_open(&f->desk.ui, f->model, 0, 0, "5-6,10");
    show(f);
    assert_true(says(f, "only messages from or to ranks 4-11"));
}

static void collectives_are_switched_off(void **state)
{
    struct fixture *f = *state;
    struct commgram_request wish;
    show(f);
    uint32_t with = f->model->commgram.now.ribbon_count;
    type_text(f, "m");
    assert_int_equal(ui_commgram_request(&f->desk.ui, f->model, &wish), 1);
    assert_false(wish.modelled);
    assert_true(f->model->commgram.now.ribbon_count < with);
    assert_true(says(f, "without collectives"));
    assert_false(says(f, "hatched"));
}

static void without_a_picture_it_says_why(void **state)
{
    struct fixture *f = *state;
    struct commgram_request wish;
    desk_layout(&f->desk, f->model);
    assert_true(says(f, "Waiting for the picture"));
    assert_int_equal(ui_commgram_request(&f->desk.ui, f->model, &wish), 1);
    commgram_asked(&f->model->commgram, &wish);
    commgram_replied(&f->model->commgram, -HOLTER_EUSAGE, "no such operation");
    desk_layout(&f->desk, f->model);
    assert_true(says(f, "no such operation"));
    commgram_clear(&f->model->commgram);
    desk_layout(&f->desk, f->model);
    assert_true(says(f, "No phase is known yet"));
    strcpy(f->model->state, "ended");
    desk_layout(&f->desk, f->model);
    assert_false(says(f, "No phase is known yet"));
    assert_true(says(f, "No messages between ranks"));
    assert_true(says(f, "--collectives=off"));
}

static void a_window_without_capacity_for_it_reports_that(void **state)
{
    struct fixture *f = *state;
    desk_close(&f->desk);
    desk_open(&f->desk, 512, 320, 2, THEME_DARK, VIEW_COMMGRAM);
    show(f);
    assert_false(says(f, "No messages in this span"));
    assert_true(says(f, "No room for the picture"));
}

static void every_size_keeps_its_panels(void **state)
{
    static const double sizes[][2] = {
        {1600, 900}, {1280, 720}, {1024, 640}, {2400, 1400}, {800, 500}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        /* Themes differ in colours: at each size one of them is as good as both. */
        const int theme = (int)i % THEMES;
        char what[64];
        desk_close(&f->desk);
        desk_open(&f->desk, sizes[i][0], sizes[i][1], theme ? 2 : 1, (enum theme_kind)theme,
                  VIEW_COMMGRAM);
        snprintf(what, sizeof what, "commgram %.0fx%.0f theme %d", sizes[i][0], sizes[i][1], theme);
        show(f);
        desk_check(&f->desk, what);
        f->desk.ui.commgram.communities = 64;
        f->desk.ui.commgram.size_low = 11;
        f->desk.ui.selection = (struct selection){SELECT_COMMUNITY, 3, 2};
        ui_open(&f->desk.ui, f->model, (int64_t)gram.begin_ns, (int64_t)gram.begin_ns * 2,
                "3,9-40");
        ui_open(&f->desk.ui, f->model, (int64_t)gram.begin_ns, (int64_t)gram.begin_ns + 7, NULL);
        show(f);
        show(f);
        desk_check(&f->desk, what);
        type_text(f, "?");
        desk_check(&f->desk, what);
    }
}

static void what_lies_under_the_mouse_is_described(void **state)
{
    struct fixture *f = *state;
    f->desk.ui.commgram.communities = 16;
    show(f);
    const struct scene_hit *bar = hit_of(f, HIT_BAR, 20), *strip = hit_of(f, HIT_TIME, 0);
    struct box box = bar->box, time = strip->box;
    f->desk.ui.mouse.x = box.x + box.w / 2;
    f->desk.ui.mouse.y = box.y + box.h / 2;
    for (int i = 0; i < 2; i++) /* what is hovered comes from the scene before */
        desk_layout(&f->desk, f->model);
    assert_true(says(f, "community 5, phase 2: 4 ranks"));
    assert_true(says(f, "ranks 16-19"));
    f->desk.ui.mouse.x = box.x + box.w + 12;
    for (int i = 0; i < 2; i++)
        desk_layout(&f->desk, f->model);
    assert_true(says(f, "per message"));
    assert_true(says(f, "\xe2\x86\x92 community"));
    f->desk.ui.mouse.x = time.x + time.w * 0.52;
    f->desk.ui.mouse.y = time.y + 20;
    for (int i = 0; i < 2; i++)
        desk_layout(&f->desk, f->model);
    assert_true(says(f, "modularity 0.63"));
    assert_true(says(f, "returns to the pattern of phase 1"));
}

/* ---- the curve ---------------------------------------------------------------------------------
 */

/* A scene's panel by its name. */
static uint16_t panel_of(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->desk.scene.panel_count; i++)
        if (strcmp(f->desk.scene.panels[i].name, name) == 0)
            return (uint16_t)i;
    fail_msg("no panel of that name");
    return 0;
}

/* The column of the picture at a position of the strip; -1: none is within two pixels. */
static int column_at(const struct fixture *f, double x)
{
    const struct commgram_picture *p = &f->model->commgram.now;
    const struct scene_hit *strip = hit_of(f, HIT_TIME, 0);
    for (uint32_t k = 0; k < p->column_count; k++) {
        double unit = strip->box.w / (strip->x1 - strip->x0);
        double x0 = strip->box.x + ((double)p->columns[k].begin_ns - strip->x0) * unit,
               x1 = strip->box.x + ((double)p->columns[k].end_ns - strip->x0) * unit;
        if (x >= x0 - 2 && x <= x1 + 2)
            return (int)k;
    }
    return -1;
}

/* Each line is within phases, level or upright, at the height of its phase. @return columns that
 * have one */
static uint32_t assert_curve_is_of_columns(const struct fixture *f)
{
    const struct scene *scene = &f->desk.scene;
    const struct commgram_picture *p = &f->model->commgram.now;
    uint16_t panel = panel_of(f, "commgram.strip.plot");
    double y_of[2] = {NAN, NAN}; /* of the height 0 and of the other */
    uint8_t drawn[256] = {0};
    uint32_t count = 0;
    for (size_t i = 0; i < scene->item_count; i++) {
        const struct scene_item *item = &scene->items[i];
        if (item->kind != SCENE_CURVE || item->panel != panel)
            continue;
        const struct point *at = scene->points + item->first;
        for (uint32_t n = 0; n < item->count; n++) {
            int k = column_at(f, at[n].x);
            assert_true(k >= 0);
            double *y = &y_of[p->columns[k].height < 0];
            /* a step from the phase before, after a short pause */
            if (k > 0 && drawn[k - 1] && !drawn[k] && n > 0 &&
                (p->columns[k].height < 0) != (p->columns[k - 1].height < 0) &&
                at[n].y == at[n - 1].y) {
                assert_true(at[n].x - at[n - 1].x < 12);
                continue;
            }
            *y = isnan(*y) ? at[n].y : *y;
            assert_true(fabs(*y - at[n].y) < 1e-6);
            assert_true(n == 0 || fabs(at[n].x - at[n - 1].x) < 0.01 || at[n].y == at[n - 1].y);
            count += !drawn[k];
            drawn[k] = 1;
        }
    }
    assert_true(isnan(y_of[1]) || y_of[1] > y_of[0]);
    return count;
}

static void the_curve_is_that_of_the_phases_that_are_shown(void **state)
{
    struct fixture *f = *state;
    static const uint64_t details[] = {24, 7, 5, 12};
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        f->desk.ui.commgram.phases = details[i];
        show(f);
        const struct commgram_picture *p = &f->model->commgram.now;
        assert_int_equal(p->column_count, details[i] > 12 ? 12 : details[i]);
        assert_int_equal(assert_curve_is_of_columns(f), p->column_count);
    }
}

static void a_long_open_phase_has_few_dashes_in_a_short_time(void **state)
{
    struct fixture *f = *state;
    struct synthetic_commgram day = gram;
    day.phase_ns = 86400 * SYNTHETIC_SECOND;
    day.begin_ns -= day.phase_ns / 4;
    commgram_clear(&f->model->commgram);
    synthetic_phases(&day, 1, 0, desk_apply, f->model);
    const int64_t now = (int64_t)(gram.begin_ns + SYNTHETIC_SECOND);
    ui_open(&f->desk.ui, f->model, now, now + 1000000, NULL);
    desk_layout(&f->desk, f->model);
    size_t curves = 0;
    for (size_t i = 0; i < f->desk.scene.item_count; i++)
        curves += f->desk.scene.items[i].kind == SCENE_CURVE;
    assert_in_range(curves, 20, 1000);
}

static void a_phase_is_described_alike_by_curve_and_column(void **state)
{
    struct fixture *f = *state;
    char text[64];
    f->desk.ui.commgram.communities = 16;
    show(f);
    const struct scene_hit time = *hit_of(f, HIT_TIME, 0);
    for (uint32_t k = 0; k < f->model->commgram.now.column_count; k++) {
        const struct wire_column_row *c = &f->model->commgram.now.columns[k];
        double middle = (double)(c->begin_ns + (c->end_ns - c->begin_ns) / 2);
        snprintf(text, sizeof text, "phase %u of 12", k + 1);
        f->desk.ui.mouse.x = time.box.x + (middle - time.x0) / (time.x1 - time.x0) * time.box.w;
        f->desk.ui.mouse.y = time.box.y + time.box.h - 8;
        for (int i = 0; i < 2; i++)
            desk_layout(&f->desk, f->model);
        assert_true(says(f, text));
        assert_true(says(f, c->height < 0 ? "64 ranks in 9 communities, modularity 0.41"
                                          : "64 ranks in 18 communities, modularity 0.63"));
        assert_true(says(f, "drawn as 16 bars"));
        assert_true(!c->returned || says(f, "returns to the pattern of phase"));
    }
    for (uint32_t k = 0; k < f->model->commgram.now.column_count; k++)
        f->model->commgram.now.columns[k].communities = f->model->commgram.now.columns[k].ranks = 1;
    desk_layout(&f->desk, f->model);
    assert_true(says(f, "1 rank in 1 community, modularity"));
    f->desk.ui.mouse.x += 1.2 / 3 * 5 / 60 * time.box.w; /* the last third of a phase is silent */
    for (int i = 0; i < 2; i++)
        desk_layout(&f->desk, f->model);
    assert_true(says(f, "between phases: no message"));
}

/* ---- what keys and mouse do --------------------------------------------------------------------
 */

static void keys_and_wheel_change_the_detail(void **state)
{
    struct fixture *f = *state;
    show(f);
    type_text(f, "]");
    assert_int_equal(f->desk.ui.commgram.phases, 30);
    type_text(f, "[");
    assert_int_equal(f->desk.ui.commgram.phases, 24);
    type_text(f, "}");
    assert_int_equal(f->desk.ui.commgram.communities, 22); /* 18 are found */
    type_text(f, "{");
    assert_int_equal(f->desk.ui.commgram.communities, 18);
    turn_wheel(f, 1, 0, 0);
    assert_int_equal(f->desk.ui.commgram.phases, 30);
    turn_wheel(f, -1, 1, 0);
    assert_int_equal(f->desk.ui.commgram.communities, 15);
    turn_wheel(f, 1, 0, 1);
    assert_int_equal(f->desk.ui.commgram.communities, 18);
    for (int i = 0; i < 24; i++) {
        type_text(f, "[");
        type_text(f, "}");
    }
    assert_int_equal(f->desk.ui.commgram.phases, 1);
    assert_int_equal(f->desk.ui.commgram.communities, 64); /* no more than there are ranks */
    assert_int_equal(f->model->commgram.now.asked.communities, 64);
    while (f->desk.ui.commgram.communities > 1)
        type_text(f, "{");
    type_text(f, "{");
    assert_int_equal(f->desk.ui.commgram.communities, 0); /* those that are found */
}

static void a_double_click_opens_a_phase_and_backspace_leads_back(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end;
    show(f);
    const struct scene_hit column = *hit_of(f, HIT_COLUMN, 3);
    click(f, column.box.x + column.box.w / 2, column.box.y + column.box.h - 4, 2);
    span_of(f, &begin, &end);
    assert_int_equal(begin, column.a);
    assert_int_equal(end, column.b + 1);
    assert_int_equal(f->desk.ui.commgram.level, 1);
    assert_true(says(f, "last 60"));
    assert_true(f->model->commgram.now.column_count > 12); /* finer now */
    press_key(f, KEY_BACKSPACE);
    span_of(f, &begin, &end);
    assert_int_equal(f->desk.ui.commgram.level, 0);
    assert_true(f->desk.ui.time.follow);
    assert_int_equal(end - begin, 60 * (int64_t)SYNTHETIC_SECOND);
}

static void the_path_is_clickable(void **state)
{
    struct fixture *f = *state;
    f->desk.ui.commgram.communities = 16;
    show(f);
    ui_open(&f->desk.ui, f->model, (int64_t)(gram.begin_ns + 60 * SYNTHETIC_SECOND),
            (int64_t)(gram.begin_ns + 70 * SYNTHETIC_SECOND), NULL);
    ui_open_bar(&f->desk.ui, f->model, 0, 2);
    show(f);
    assert_int_equal(f->desk.ui.commgram.level, 2);
    assert_true(says(f, "ranks 8-11"));
    assert_true(says(f, "only messages from or to ranks 8-11"));
    for (size_t i = 0; i < f->desk.scene.hit_count; i++) {
        const struct scene_hit h = f->desk.scene.hits[i];
        if (h.kind == HIT_BUTTON && h.a == COMMAND_LEVEL && h.b == 0) {
            click(f, h.box.x + 4, h.box.y + 4, 1);
            break;
        }
    }
    assert_int_equal(f->desk.ui.commgram.level, 0);
    assert_string_equal(f->desk.ui.commgram.opened, "");
    assert_true(f->desk.ui.time.follow);
}

static void a_click_on_a_bar_selects_its_community(void **state)
{
    struct fixture *f = *state;
    struct commgram_request wish;
    f->desk.ui.commgram.communities = 16;
    show(f);
    const struct scene_hit bar = *hit_of(f, HIT_BAR, 20); /* the fifth of the second column */
    click(f, bar.box.x + bar.box.w / 2, bar.box.y + bar.box.h / 2, 1);
    assert_int_equal(f->desk.ui.selection.kind, SELECT_COMMUNITY);
    assert_int_equal(f->desk.ui.selection.a, 5);
    assert_true(says(f, "only ribbons of community 5"));
    assert_int_equal(ui_commgram_request(&f->desk.ui, f->model, &wish), 1);
    assert_string_equal(wish.ranks, ""); /* picked out here, not by the daemon */
    for (uint32_t rank = 0; rank < 64; rank++)
        assert_int_equal(ui_marks_rank(&f->desk.ui, f->model, rank), rank / 4 == 4);
    press_key(f, KEY_ESCAPE);
    assert_int_equal(f->desk.ui.selection.kind, SELECT_NONE);
    click(f, bar.box.x + bar.box.w / 2, bar.box.y + bar.box.h / 2, 2);
    assert_string_equal(f->desk.ui.commgram.opened, "16-19");
    assert_string_equal(f->model->commgram.now.asked.ranks, "16-19");
}

static void selected_ranks_are_asked_for(void **state)
{
    struct fixture *f = *state;
    struct commgram_request wish;
    type_text(f, "/");
    type_text(f, "4");
    type_text(f, "2");
    press_key(f, KEY_ENTER);
    assert_string_equal(f->model->commgram.now.asked.ranks, "42");
    assert_true(says(f, "only messages from or to rank 42"));
    f->desk.ui.selection = (struct selection){SELECT_PAIR, 3, 9};
    assert_int_equal(ui_commgram_request(&f->desk.ui, f->model, &wish), 1);
    assert_string_equal(wish.ranks, "3,9");
    f->desk.ui.selection = (struct selection){SELECT_NODE, 1, 0};
    assert_int_equal(ui_commgram_request(&f->desk.ui, f->model, &wish), 1);
    assert_string_equal(wish.ranks, "16-31");
}

static void dragging_moves_time_and_marks_it_with_shift(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end, newest;
    show(f);
    span_of(f, &begin, &newest);
    const struct scene_hit ground = *hit_of(f, HIT_COMMGRAM, 0);
    double y = ground.box.y + ground.box.h - 6, x = ground.box.x;
    drag(f, x + 300, x + 300 + ground.box.w / 4, y, 0);
    span_of(f, &begin, &end);
    assert_false(f->desk.ui.time.follow);
    assert_true(llabs(newest - end - 15 * (int64_t)SYNTHETIC_SECOND) < (int64_t)SYNTHETIC_SECOND);
    const struct scene_hit a = *hit_of(f, HIT_COLUMN, 2), b = *hit_of(f, HIT_COLUMN, 4);
    drag(f, a.box.x + a.box.w / 2, b.box.x + b.box.w / 2, y, 1);
    span_of(f, &begin, &end);
    assert_int_equal(begin, a.a);
    assert_int_equal(end, b.b + 1);
    assert_int_equal(f->desk.ui.commgram.level, 1);
    const struct scene_hit strip = *hit_of(f, HIT_TIME, 0);
    drag(f, strip.box.x + strip.box.w * 0.25, strip.box.x + strip.box.w * 0.5, strip.box.y + 40, 1);
    int64_t was = end - begin;
    span_of(f, &begin, &end);
    assert_true(fabs((double)(end - begin) / (double)was - 0.25) < 0.01);
    assert_int_equal(f->desk.ui.commgram.level, 2);
}

static void the_legend_bounds_the_sizes(void **state)
{
    struct fixture *f = *state;
    show(f);
    const struct scene_hit legend = *hit_of(f, HIT_SIZES, 0);
    double y = legend.box.y + legend.box.h / 2;
    drag(f, legend.box.x + 6, legend.box.x + legend.box.w / 2, y, 0);
    assert_true(f->desk.ui.commgram.size_low > legend.x0 + 3 &&
                f->desk.ui.commgram.size_high == UI_SIZE_MAXIMUM);
    assert_true(says(f, "ribbons of other sizes left out"));
    drag(f, legend.box.x + legend.box.w - 6, legend.box.x + legend.box.w * 0.7, y, 0);
    assert_true(f->desk.ui.commgram.size_high < legend.x1 - 2 &&
                f->desk.ui.commgram.size_high > f->desk.ui.commgram.size_low);
    click(f, legend.box.x + legend.box.w / 2, y, 2);
    assert_true(f->desk.ui.commgram.size_low == UI_SIZE_MINIMUM &&
                f->desk.ui.commgram.size_high == UI_SIZE_MAXIMUM);
    assert_false(says(f, "ribbons of other sizes left out"));
}

static void other_views_show_whole_windows_again(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end;
    ui_show_span(&f->desk.ui, f->model, (int64_t)(gram.begin_ns + 50 * SYNTHETIC_SECOND),
                 (int64_t)(gram.begin_ns + 50 * SYNTHETIC_SECOND + 20000000));
    show(f);
    span_of(f, &begin, &end);
    assert_int_equal(end - begin, 20000000);
    type_text(f, "1");
    ui_visible(&f->desk.ui, f->model, &begin, &end);
    assert_int_equal(end - begin, 5 * (int64_t)SYNTHETIC_SECOND);
    f->desk.ui.time.follow = 1;
    f->desk.ui.time.span_ns = 60 * (int64_t)SYNTHETIC_SECOND;
    type_text(f, "2");
    assert_int_equal(f->desk.ui.view, VIEW_COMMGRAM);
    type_text(f, "1");
    assert_int_equal(f->desk.ui.time.span_ns, 60 * (int64_t)SYNTHETIC_SECOND);
}

static void times_of_users_are_from_the_start_or_the_end(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end;
    ui_whole_time(f->model, &begin, &end);
    assert_int_equal(ui_time_of(f->model, 12.5), (int64_t)f->model->start_ns + 12500000000);
    assert_int_equal(ui_time_of(f->model, -60), end - 60 * (int64_t)SYNTHETIC_SECOND);
    assert_int_equal(ui_time_of(f->model, 0), (int64_t)f->model->start_ns);
    ui_show_span(&f->desk.ui, f->model, begin - 5, end + 5);
    assert_int_equal(f->desk.ui.time.span_ns, end - begin);
    ui_show_span(&f->desk.ui, f->model, end + 5, begin - 5);
    assert_true(f->desk.ui.time.span_ns > 0 && f->desk.ui.time.end_ns <= end);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_scene_shows_phases_bars_and_ribbons),
        TEST(badges_say_what_is_not_shown_one_by_one),
        TEST(of_groups_of_ranks_all_are_named_and_the_first_ones_asked_for),
        TEST(of_groups_of_ranks_those_of_listed_ranks_are_named),
        TEST(collectives_are_switched_off),
        TEST(without_a_picture_it_says_why),
        TEST(a_window_without_capacity_for_it_reports_that),
        TEST(every_size_keeps_its_panels),
        TEST(what_lies_under_the_mouse_is_described),
        TEST(the_curve_is_that_of_the_phases_that_are_shown),
        TEST(a_long_open_phase_has_few_dashes_in_a_short_time),
        TEST(a_phase_is_described_alike_by_curve_and_column),
        TEST(keys_and_wheel_change_the_detail),
        TEST(a_double_click_opens_a_phase_and_backspace_leads_back),
        TEST(the_path_is_clickable),
        TEST(a_click_on_a_bar_selects_its_community),
        TEST(selected_ranks_are_asked_for),
        TEST(dragging_moves_time_and_marks_it_with_shift),
        TEST(the_legend_bounds_the_sizes),
        TEST(other_views_show_whole_windows_again),
        TEST(times_of_users_are_from_the_start_or_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
