/* The view of dependencies. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include "holter/error.h"
#include "viewer/places/absence.h"
#include "viewer/ui/ui_input.h"
#include "viewer/views/dependencies/dependency_picture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A job of which `calls` calls of each rank were captured, a fifth as many exchanges. Rank 5 of
 * each eight takes longer in each. */
static struct model *job_of(uint32_t ranks, uint32_t calls, int messages)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    synthetic_init(&job, ranks, 16, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    for (int i = 0; i < 3; i++)
        synthetic_window(&job, desk_apply, m);
    if (calls)
        synthetic_capture(
            &job, &(struct synthetic_capture){.id = 1, .calls = calls, .messages = messages}, 0,
            desk_apply, m);
    synthetic_window(&job, desk_apply, m);
    synthetic_finish(&job);
    return m;
}

static void open_desk(struct desk *d, const struct model *m)
{
    desk_open(d, 1600, 900, 1, THEME_DARK, VIEW_DEPENDENCIES);
    desk_layout(d, m);
}

static void close_desk(struct desk *d, struct model *m)
{
    desk_check(d, "dependencies");
    desk_close(d);
    model_destroy(m);
}

static void press_key(struct desk *d, const struct model *m, const char *text)
{
    struct input in = {.kind = INPUT_TEXT};
    snprintf(in.text, sizeof in.text, "%s", text);
    ui_input(&d->ui, m, &d->scene, &in);
    desk_layout(d, m);
}

static void point_at(struct desk *d, const struct model *m, const struct scene_hit *hit)
{
    assert_non_null(hit);
    const struct input in = {
        .kind = INPUT_MOVE, .x = hit->box.x + hit->box.w / 2, .y = hit->box.y + hit->box.h / 2};
    ui_input(&d->ui, m, &d->scene, &in);
    desk_layout(d, m);
    desk_layout(d, m);
}

static void click_on(struct desk *d, const struct model *m, const struct scene_hit *hit)
{
    assert_non_null(hit);
    struct input in = {.kind = INPUT_PRESS,
                       .x = hit->box.x + hit->box.w / 2,
                       .y = hit->box.y + hit->box.h / 2,
                       .clicks = 1};
    ui_input(&d->ui, m, &d->scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d->ui, m, &d->scene, &in);
    desk_layout(d, m);
}

/* Hits of a kind, the last one first. */
static const struct scene_hit *find_hit(const struct scene *s, enum hit_kind kind, uint64_t a,
                                        uint32_t *count)
{
    const struct scene_hit *found = NULL;
    uint32_t n = 0;
    for (size_t i = s->hit_count; i-- > 0;) {
        if (s->hits[i].kind != kind || s->hits[i].a != a)
            continue;
        found = found ? found : &s->hits[i];
        n++;
    }
    if (count)
        *count = n;
    return found;
}

static const struct scene_hit *plot_of(const struct scene *s)
{
    for (size_t i = s->hit_count; i-- > 0;)
        if (s->hits[i].kind == HIT_DEPENDENCY)
            return &s->hits[i];
    return NULL;
}

static void each_rank_has_a_lane_and_each_message_two_bars(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, 1); /* four exchanges */
    struct desk d;
    open_desk(&d, m);
    const struct dependency_picture *p = d.pictures.dependencies;
    uint32_t bars;
    assert_non_null(find_text(&d.scene, "capture 1"));
    assert_non_null(find_text(&d.scene, "32 messages of 8 ranks"));
    assert_non_null(find_text(&d.scene, "0 unmatched ends"));
    assert_non_null(find_text(&d.scene, "rank 7"));
    assert_int_equal(p->d.counts.matched, 32);
    assert_int_equal(p->d.collective_count, 4);
    assert_non_null(find_text(&d.scene, "8 ranks, 4 collectives"));
    assert_int_equal(p->d.ranks.node_count, 8 * 8);
    find_hit(&d.scene, HIT_BUTTON, COMMAND_DEPENDENCY_MESSAGE, &bars);
    assert_int_equal(bars, 64);
    assert_int_equal(plot_of(&d.scene)->a, 8); /* the collectives, and an exchange between two */
    assert_int_equal(plot_of(&d.scene)->b, 8);
    close_desk(&d, m);
}

static void the_rank_that_caused_lateness_is_listed(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, 1);
    struct desk d;
    open_desk(&d, m);
    const struct dependency_picture *p = d.pictures.dependencies;
    assert_non_null(find_text(&d.scene, "Caused lateness"));
    assert_int_equal(p->d.lateness_ns, 60000);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(p->d.ranks.lanes[i].caused_ns > 0, i == 5);
    assert_non_null(find_text(&d.scene, "240")); /* four times 60 us */
    close_desk(&d, m);
}

static void by_step_each_event_is_a_square(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, 1);
    struct desk d;
    open_desk(&d, m);
    uint32_t squares;
    press_key(&d, m, "#");
    /* a send and a receive in each exchange, and to enter and leave a collective, the last of which
     * nobody has left */
    assert_int_equal(plot_of(&d.scene)->a, 15);
    find_hit(&d.scene, HIT_BUTTON, COMMAND_DEPENDENCY_MESSAGE, &squares);
    assert_int_equal(squares, 64);
    point_at(&d, m, find_hit(&d.scene, HIT_BUTTON, COMMAND_DEPENDENCY_MESSAGE, NULL));
    assert_non_null(find_text(&d.scene, "rank 7 receives, step 13"));
    assert_non_null(find_text(&d.scene, "rank 6 to rank 7, tag 7"));
    press_key(&d, m, "#"); /* by window, without lanes */
    press_key(&d, m, "#");
    assert_int_equal(plot_of(&d.scene)->a, 8); /* the collectives, and an exchange between two */
    close_desk(&d, m);
}

static void hovering_a_glyph_shows_its_figures_and_a_click_selects_the_rank(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, 1);
    struct desk d;
    open_desk(&d, m);
    const struct scene_hit *last = find_hit(&d.scene, HIT_RANK, 5, NULL);
    struct scene_hit at = *last;
    at.box = (struct box){at.box.x + at.box.w / 2 - 1, at.box.y + at.box.h / 2 - 1, 2, 2};
    point_at(&d, m, &at);
    assert_non_null(find_text(&d.scene, "rank 5 on node000, layer 7"));
    assert_non_null(find_text(&d.scene, "received 1 message, 64"));
    assert_non_null(find_text(&d.scene, "late by 60"));
    click_on(&d, m, &at);
    assert_true(ui_rank_selected(&d.ui, 5));
    assert_true(d.pictures.dependencies->marked[5]);
    assert_false(d.pictures.dependencies->marked[4]);
    close_desk(&d, m);
}

static void pointing_at_a_collective_shows_who_came_last_and_a_click_selects_that_rank(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, 1);
    struct desk d;
    open_desk(&d, m);
    const struct scene_hit *bar = NULL; /* from the first lane to the last one */
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_RANK && d.scene.hits[i].box.w < 10 &&
            d.scene.hits[i].box.h > 200)
            bar = &d.scene.hits[i];
    struct scene_hit between = *bar;
    between.box.h = bar->box.h / 7; /* of the first two lanes */
    point_at(&d, m, &between);
    assert_non_null(find_text(&d.scene, "MPI_Allreduce of 8 ranks"));
    assert_non_null(find_text(&d.scene, "rank 0 came last"));
    click_on(&d, m, &between);
    assert_true(ui_rank_selected(&d.ui, 0));
    close_desk(&d, m);
}

static void a_click_on_a_bar_shows_the_critical_chain_of_its_message(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, 1);
    struct desk d;
    open_desk(&d, m);
    const struct dependency_picture *p = d.pictures.dependencies;
    assert_int_equal(p->d.events[p->chain[0]].rank, 5); /* the latest message */
    const struct scene_hit *bar = find_hit(&d.scene, HIT_BUTTON, COMMAND_DEPENDENCY_MESSAGE, NULL);
    uint32_t event = (uint32_t)bar->b - 1;
    point_at(&d, m, bar);
    assert_non_null(find_text(&d.scene, "rank 6 to rank 7, tag 7"));
    assert_non_null(find_text(&d.scene, "click: its critical chain"));
    click_on(&d, m, find_hit(&d.scene, HIT_BUTTON, COMMAND_DEPENDENCY_MESSAGE, NULL));
    p = d.pictures.dependencies;
    assert_int_equal(p->chain[0], event);
    assert_int_equal(p->d.events[event].rank, 7);
    assert_int_equal(p->d.events[p->chain[p->chain_count - 1]].step, 0);
    close_desk(&d, m);
}

/* Of the windows w to w + 9 ranks 3 and 5 are late; 3 has caused it. */
static void apply_lateness(struct model *m, uint64_t window)
{
    struct wire_lateness_row rows[] = {{3, 40000000, 40000000}, {5, 30000000, 0}, {4, 7, 7}};
    struct wire_message message = {.type = WIRE_TYPE_LATENESS};
    for (uint64_t w = window; w < window + 10; w++) {
        message.lateness = (struct wire_lateness){.job = m->job,
                                                  .window = w,
                                                  .windows = 1,
                                                  .length_ns = 500000000,
                                                  .ranks = rows,
                                                  .ranks_count = 3};
        assert_int_equal(model_apply(m, &message, 0), 0);
    }
}

static void
by_window_ranks_are_late_without_a_capture_and_those_that_caused_it_are_listed(void **state)
{
    (void)state;
    struct model *m = job_of(8, 0, 0);
    struct synthetic job;
    struct desk d;
    synthetic_init(&job, 8, 4, 26, 1);
    synthetic_begin(&job, desk_apply, m);
    for (int i = 0; i < 20; i++)
        synthetic_window(&job, desk_apply, m);
    m->playback.known = 1; /* nothing can be read back */
    assert_non_null(place_absence(m, VIEW_DEPENDENCIES));
    open_desk(&d, m); /* without a capture, this is what there is */
    assert_non_null(find_text(&d.scene, "No rank was late so far"));
    apply_lateness(m, m->series.first + m->series.count - 10);
    assert_null(place_absence(m, VIEW_DEPENDENCIES));
    assert_non_null(place_absence(m, VIEW_CAPTURES));
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "ms late in a window, caused by 1 rank"));
    assert_non_null(find_text(&d.scene, "Caused lateness"));
    assert_non_null(find_text(&d.scene, "rank 3"));
    assert_non_null(find_text(&d.scene, "400")); /* ten times 40 ms */
    synthetic_finish(&job);
    close_desk(&d, m);
}

static void many_ranks_are_nodes_and_a_node_opens(void **state)
{
    (void)state;
    struct model *m = job_of(4096, 20, 1);
    struct desk d;
    open_desk(&d, m);
    assert_int_equal(plot_of(&d.scene)->b, 256);
    assert_non_null(find_text(&d.scene, "node000 (16)"));
    assert_null(find_text(&d.scene, "node255 (16)"));
    click_on(&d, m, find_hit(&d.scene, HIT_BUTTON, COMMAND_DEPENDENCY_OPEN, NULL));
    assert_int_equal(plot_of(&d.scene)->b, 256 + 15);
    press_key(&d, m, "o"); /* ranks */
    assert_int_equal(plot_of(&d.scene)->b, 4096);
    assert_non_null(find_text(&d.scene, "rank 0"));
    press_key(&d, m, "o"); /* nodes */
    assert_int_equal(plot_of(&d.scene)->b, 256);
    click_on(&d, m, find_hit(&d.scene, HIT_NODE, 3, NULL));
    assert_int_equal(d.ui.selection.kind, SELECT_NODE);
    assert_true(d.pictures.dependencies->marked[3]);
    d.ui.list.scroll[LIST_DEPENDENCY] = 1e9;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "node255 (16)"));
    press_key(&d, m, "#");
    close_desk(&d, m);
}

static void keys_and_the_wheel_zoom_and_arrows_move_within_the_columns(void **state)
{
    (void)state;
    struct model *m = job_of(8, 400, 1);
    struct desk d;
    open_desk(&d, m);
    const struct scene_hit *plot = plot_of(&d.scene);
    double shown = plot->x1 - plot->x0;
    assert_int_equal(plot->a, 160);
    assert_true(plot->x0 == 0 && shown < 160);
    struct input in = {.kind = INPUT_KEY, .key = KEY_RIGHT};
    for (int i = 0; i < 200; i++) {
        ui_input(&d.ui, m, &d.scene, &in);
        desk_layout(&d, m);
    }
    assert_true(plot_of(&d.scene)->x1 <= 160.001 && plot_of(&d.scene)->x1 > 159.9);
    press_key(&d, m, "0");
    assert_true(plot_of(&d.scene)->x0 == 0);
    press_key(&d, m, "-");
    assert_true(plot_of(&d.scene)->x1 > shown * 1.4);
    plot = plot_of(&d.scene);
    in = (struct input){
        .kind = INPUT_WHEEL, .x = plot->box.x + plot->box.w / 2, .y = plot->box.y + 20, .wheel = 2};
    double column = scene_hit_x(plot, in.x);
    ui_input(&d.ui, m, &d.scene, &in);
    desk_layout(&d, m);
    plot = plot_of(&d.scene);
    assert_true(plot->x1 - plot->x0 < shown * 1.4);
    double kept = scene_hit_x(plot, in.x);
    assert_true(kept > column - 0.01 && kept < column + 0.01);
    close_desk(&d, m);
}

/* A job that is captured twice, with windows between. */
static struct model *job_with_two_captures(void)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    synthetic_init(&job, 8, 16, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    for (uint64_t id = 1; id <= 2; id++) {
        for (int i = 0; i < 5; i++)
            synthetic_window(&job, desk_apply, m);
        synthetic_capture(&job, &(struct synthetic_capture){.id = id, .calls = 400, .messages = 1},
                          0, desk_apply, m);
    }
    synthetic_window(&job, desk_apply, m);
    synthetic_finish(&job);
    return m;
}

static void the_graph_of_the_visible_time_has_its_messages_only(void **state)
{
    (void)state;
    struct model *m = job_with_two_captures();
    const struct capture *newer = &m->captures.items[0], *older = &m->captures.items[1];
    struct desk d;
    open_desk(&d, m);
    assert_int_equal(plot_of(&d.scene)->a, 160);
    int64_t middle = older->begin_ns + (older->end_ns - older->begin_ns) / 2, end;
    ui_show_span(&d.ui, m, middle, older->end_ns);
    press_key(&d, m, "v");
    assert_true(plot_of(&d.scene)->a < 120 && plot_of(&d.scene)->a > 40);
    assert_non_null(find_text(&d.scene, "capture 1,"));
    ui_show_span(&d.ui, m, newer->begin_ns, newer->end_ns);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "capture 2,"));
    ui_show_span(&d.ui, m, older->end_ns + 1000, newer->begin_ns - 1000);
    desk_layout(&d, m);
    assert_null(plot_of(&d.scene));
    assert_non_null(find_text(&d.scene, "No messages were captured in the visible time"));
    char text[80], expected[80];
    ui_visible(&d.ui, m, &middle, &end);
    snprintf(expected, sizeof expected, "events=16384 until=%" PRId64, end);
    assert_string_equal(ui_capture_argument(&d.ui, m, text, sizeof text), expected);
    press_key(&d, m, "v");
    assert_string_equal(ui_capture_argument(&d.ui, m, text, sizeof text), "events=16384");
    assert_int_equal(plot_of(&d.scene)->a, 160);
    close_desk(&d, m);
}

static void what_selected_ranks_did_last_is_requested_and_shown(void **state)
{
    (void)state;
    const struct input read = {.kind = INPUT_TEXT, .text = "R"};
    char text[64];
    struct model *m = job_with_two_captures();
    struct desk d;
    open_desk(&d, m);
    assert_true(ui_input(&d.ui, m, &d.scene, &read) & UI_CAPTURE);
    assert_string_equal(ui_capture_argument(&d.ui, m, text, sizeof text), "events=16384");
    ui_select(&d.ui, (struct selection){SELECT_RANK, 3, 0});
    assert_string_equal(ui_capture_argument(&d.ui, m, text, sizeof text), "events=16384 ranks=3");
    assert_string_equal(ui_capture_argument(&d.ui, m, text, 15), "events=16384"); /* all */
    m->rank_count = 4096;
    /* one rank may have all records of a thread, though the job has very many ranks */
    assert_string_equal(ui_capture_argument(&d.ui, m, text, sizeof text), "events=16384 ranks=3");
    ui_select(&d.ui, (struct selection){0});
    assert_string_equal(ui_capture_argument(&d.ui, m, text, sizeof text), "events=64");
    m->rank_count = 8;
    const struct wire_message answer = {.type = WIRE_TYPE_CAPTURED,
                                        .captured = {.job = m->job, .id = 7}};
    m->captures.items[1].id = 7; /* it arrives, and after it one that was not requested here */
    m->captures.items[0].id = 8;
    d.ui.alert_picked = 1;
    assert_int_equal(model_apply(m, &answer, 0), 0);
    assert_int_equal(ui_capture(&d.ui, m)->id, 7);
    m->captures.waiting = 1;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "reading"));
    captures_replied(&m->captures, -HOLTER_EDENIED, "only operators");
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "read back"));
    assert_string_equal(m->captures.refused, "only operators");
    close_desk(&d, m);
}

static void few_ranks_fill_a_large_window(void **state)
{
    (void)state;
    for (int steps = 0; steps < 2; steps++) {
        struct model *m = job_of(8, 40, 1);
        struct desk d;
        desk_open(&d, 2560, 1440, 1, THEME_DARK, VIEW_DEPENDENCIES);
        d.ui.dependencies.steps = steps;
        desk_layout(&d, m);
        const struct scene_hit *plot = plot_of(&d.scene);
        uint32_t glyphs;
        assert_non_null(plot);
        assert_true(plot->box.h > 0.8 * 1440);
        const struct scene_hit *last = find_hit(&d.scene, HIT_RANK, 7, &glyphs);
        assert_non_null(last);
        assert_true(last->box.x > plot->box.x + 0.8 * plot->box.w);
        close_desk(&d, m);
    }
}

static void without_captures_or_messages_it_says_so(void **state)
{
    (void)state;
    struct model *m = job_of(8, 0, 0);
    struct desk d;
    open_desk(&d, m);
    assert_non_null(find_text(&d.scene, "No rank was late so far"));
    assert_non_null(find_text(&d.scene, "Calls are read back when an alert fires"));
    close_desk(&d, m);
    m = job_of(1, 1, 0); /* one call, of one rank */
    open_desk(&d, m);
    assert_non_null(find_text(&d.scene, "This capture has no messages"));
    ((struct capture *)m->captures.items)->without_messages = 1;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "The messages of this capture had no room here"));
    close_desk(&d, m);
}

static void in_a_small_window_all_layers_are_whole_and_the_bars_have_a_legend(void **state)
{
    (void)state;
    struct model *m = job_of(8, 40, 1);
    struct desk d;
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_DEPENDENCIES);
    desk_layout(&d, m);
    desk_layout(&d, m);
    struct box plot = {0};
    for (size_t i = 0; i < d.scene.panel_count; i++)
        if (!strcmp(d.scene.panels[i].name, "dependencies.plot"))
            plot = d.scene.panels[i].box;
    const struct dependency_graph *g = d.pictures.dependencies->graph;
    assert_true(g->layers * 46 > plot.w); /* more than have their usual width */
    uint32_t discs = 0;
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        const struct box box = item->box;
        if (item->kind != SCENE_TEXT ||
            strcmp(d.scene.panels[item->panel].name, "dependencies.plot"))
            continue;
        assert_true(box.x >= plot.x && box.x + box.w <= plot.x + plot.w);
        discs++;
    }
    assert_int_equal(discs, g->node_count);
    assert_non_null(find_text(&d.scene, "received inside the ring, sent outside"));
    close_desk(&d, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_small_window_all_layers_are_whole_and_the_bars_have_a_legend),
        cmocka_unit_test(each_rank_has_a_lane_and_each_message_two_bars),
        cmocka_unit_test(the_rank_that_caused_lateness_is_listed),
        cmocka_unit_test(by_step_each_event_is_a_square),
        cmocka_unit_test(hovering_a_glyph_shows_its_figures_and_a_click_selects_the_rank),
        cmocka_unit_test(
            pointing_at_a_collective_shows_who_came_last_and_a_click_selects_that_rank),
        cmocka_unit_test(a_click_on_a_bar_shows_the_critical_chain_of_its_message),
        cmocka_unit_test(many_ranks_are_nodes_and_a_node_opens),
        cmocka_unit_test(
            by_window_ranks_are_late_without_a_capture_and_those_that_caused_it_are_listed),
        cmocka_unit_test(keys_and_the_wheel_zoom_and_arrows_move_within_the_columns),
        cmocka_unit_test(the_graph_of_the_visible_time_has_its_messages_only),
        cmocka_unit_test(what_selected_ranks_did_last_is_requested_and_shown),
        cmocka_unit_test(few_ranks_fill_a_large_window),
        cmocka_unit_test(without_captures_or_messages_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
