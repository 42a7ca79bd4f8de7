/* The view of metrics by rank and function: shapes, layouts, range of values, slices, means. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include "viewer/ui/ui_input.h"
#include "viewer/views/landscape/landscape_drawing.h"

#include "holter/call.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct model *job_of(uint32_t ranks)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    synthetic_init(&job, ranks, 16, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    for (int i = 0; i < 5; i++)
        synthetic_window(&job, desk_apply, m);
    synthetic_finish(&job);
    return m;
}

/* A desk that shows a layout of this text; "": that of the shape. */
static void open_desk(struct desk *d, const struct model *m, enum landscape_shape shape,
                      const char *text)
{
    desk_open(d, 1600, 900, 1, THEME_DARK, VIEW_LANDSCAPE);
    d->ui.time.range = RANGE_START;
    if (*text) {
        struct formulas *f;
        struct formula_fault fault;
        assert_int_equal(formulas_parse(&f, text, strlen(text), &fault), 0);
        landscape_give(&d->ui.landscape, f, "mine.viz");
    }
    d->ui.landscape.shape = shape;
    desk_layout(d, m);
}

static void lay_out_again(struct desk *d, const struct model *m)
{
    desk_layout(d, m);
    desk_layout(d, m); /* what is under the mouse is looked up in the scene before */
}

static void click_on(struct desk *d, const struct model *m, enum hit_kind kind, uint64_t a,
                     uint64_t b)
{
    for (size_t i = d->scene.hit_count; i-- > 0;) {
        const struct scene_hit *h = &d->scene.hits[i];
        if (h->kind != kind || h->a != a || h->b != b)
            continue;
        struct input in = {.kind = INPUT_PRESS,
                           .x = h->box.x + h->box.w / 2,
                           .y = h->box.y + h->box.h / 2,
                           .clicks = 1};
        ui_input(&d->ui, m, &d->scene, &in);
        in.kind = INPUT_RELEASE;
        ui_input(&d->ui, m, &d->scene, &in);
        lay_out_again(d, m);
        return;
    }
    fail_msg("nothing to click on: kind %d, %d, %d", (int)kind, (int)a, (int)b);
}

static void assert_shows(const struct desk *d, const char *part)
{
    if (!find_text(&d->scene, part))
        fail_msg("no text has: %s", part);
}

static const char line_layout[] = "BEGIN VIZ=line\nx=rank,y=mod(rank,2),z=0\nEND VIZ\n";

static void every_shape_keeps_its_place_at_every_size(void **state)
{
    (void)state;
    static const double sizes[][2] = {{1600, 900}, {1024, 640}, {800, 500}, {2400, 1400}};
    const uint32_t ranks[] = {8, 64, 4096};
    for (size_t j = 0; j < 3; j++) {
        struct model *m = job_of(ranks[j]);
        for (int shape = 0; shape < LANDSCAPE_SHAPES; shape++) {
            for (size_t s = 0; s < 4; s++) {
                for (uint32_t layout = 0; layout < (shape == LANDSCAPE_LAYOUT ? 4 : 1); layout++) {
                    struct desk d;
                    char what[80];
                    snprintf(what, sizeof what, "shape %d layout %u at %.0f of %u ranks", shape,
                             layout, sizes[s][0], ranks[j]);
                    desk_open(&d, sizes[s][0], sizes[s][1], 1, THEME_DARK, VIEW_LANDSCAPE);
                    d.ui.landscape.shape = (enum landscape_shape)shape;
                    d.ui.landscape.layout = layout;
                    desk_layout(&d, m);
                    desk_check(&d, what);
                    d.ui.selection = (struct selection){SELECT_NODE, 0, 0};
                    d.ui.landscape.by = RANK_CALLS_REGION;
                    d.ui.landscape.camera.yaw = -0.7;
                    desk_layout(&d, m);
                    desk_check(&d, what);
                    desk_close(&d);
                }
            }
        }
        model_destroy(m);
    }
}

static void functions_and_metrics_are_chosen_by_clicks(void **state)
{
    (void)state;
    struct model *m = job_of(64);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LIST, "");
    assert_shows(&d, "time of MPI_Waitall, since the start");
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_EVENT, (uint64_t)call_by_name("MPI_Allreduce"));
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_FIGURE, RANK_FIGURE_CALLS);
    assert_shows(&d, "calls of MPI_Allreduce, since the start");
    assert_shows(&d, "64 of 64 ranks, mean 60"); /* 12 in each of five windows */
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_BY, RANK_CALLS_REGION);
    assert_shows(&d, "halo exchange");
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_SHAPE, LANDSCAPE_MATRIX);
    assert_shows(&d, "Each cell is one rank");
    desk_close(&d);
    model_destroy(m);
}

static void a_click_on_a_rank_selects_it_in_every_view(void **state)
{
    (void)state;
    struct model *m = job_of(64);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LIST, "");
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_RANK && d.scene.hits[i].list == LIST_LANDSCAPE + 1) {
            uint64_t rank = d.scene.hits[i].a;
            click_on(&d, m, HIT_RANK, rank, 0);
            assert_int_equal(d.ui.selection.kind, SELECT_RANK);
            assert_int_equal(d.ui.selection.a, rank);
            break;
        }
    assert_int_equal(d.ui.selection.kind, SELECT_RANK);
    assert_shows(&d, "; 1 selected, mean");
    desk_close(&d);
    model_destroy(m);
}

/* The rank of a row of its list. */
static uint64_t rank_in_row(const struct desk *d, uint32_t row)
{
    for (size_t i = 0; i < d->scene.hit_count; i++)
        if (d->scene.hits[i].list == LIST_LANDSCAPE + 1 && d->scene.hits[i].row == row)
            return d->scene.hits[i].a;
    return UINT64_MAX;
}

static void keys_step_through_the_ranks_of_its_list(void **state)
{
    (void)state;
    static const int keys[] = {KEY_DOWN, KEY_DOWN, KEY_UP, KEY_PAGE_DOWN};
    struct model *m = job_of(64);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LIST, "");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct input in = {.kind = INPUT_KEY, .key = keys[i]};
        ui_input(&d.ui, m, &d.scene, &in);
        desk_layout(&d, m);
        ui_settle(&d.ui, m, &d.scene);
        assert_int_equal(d.ui.selection.kind, SELECT_RANK);
        assert_int_equal(d.ui.selection.a, rank_in_row(&d, d.ui.list.cursor[LIST_LANDSCAPE]));
    }
    assert_true(d.ui.list.cursor[LIST_LANDSCAPE] > 9); /* a page further */
    desk_close(&d);
    model_destroy(m);
}

/* Calls of each fourth rank only, as the daemon sends them of a job by groups of four. */
static void by_fours(void *user, const struct wire_message *message, int snapshot)
{
    static struct wire_call_row rows[256];
    struct wire_message some = *message;
    if (message->type == WIRE_TYPE_CALLER_WINDOW) {
        some.caller_window.calls = rows;
        some.caller_window.calls_count = 0;
        for (uint64_t i = 0; i < message->caller_window.calls_count; i++)
            if (message->caller_window.calls[i].rank % 4 == 0)
                rows[some.caller_window.calls_count++] = message->caller_window.calls[i];
    }
    desk_apply(user, &some, snapshot);
}

static void of_a_job_by_groups_only_the_groups_have_values(void **state)
{
    (void)state;
    struct model *m;
    struct synthetic job;
    struct desk d;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    synthetic_init(&job, 64, 16, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    m->group = 4;
    for (int i = 0; i < 5; i++)
        synthetic_window(&job, by_fours, m);
    synthetic_finish(&job);
    open_desk(&d, m, LANDSCAPE_LIST, "");
    ui_select(&d.ui, (struct selection){SELECT_RANK, 6, 0});
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_EVENT, (uint64_t)call_by_name("MPI_Allreduce"));
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_FIGURE, RANK_FIGURE_CALLS);
    assert_shows(&d, "16 of 16 groups of 4 ranks, mean 60; 1 selected, mean 60");
    assert_true(rank_in_row(&d, 15) % 4 == 0 && rank_in_row(&d, 16) == UINT64_MAX);
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_SHAPE, LANDSCAPE_MATRIX);
    assert_shows(&d, "Each cell is the mean of the groups in it");
    assert_shows(&d, "each function by groups of 4 ranks");
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_SHAPE, LANDSCAPE_WALLS);
    assert_shows(&d, "each bar is the mean of the groups in it");
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_SHAPE, LANDSCAPE_HISTOGRAM);
    assert_shows(&d, "Groups of 4 ranks by value");
    desk_close(&d);
    /* its ranks have the values of their group: zeros, or none, would count in formulas */
    open_desk(&d, m, LANDSCAPE_LAYOUT,
              "BEGIN VIZ=v\nx=event0.val,y=0,z=0\ncolor=event0.val\nEND VIZ\n");
    d.ui.landscape.events[0].figure = RANK_FIGURE_MEAN;
    lay_out_again(&d, m);
    assert_null(find_text(&d.scene, "ranks have no place"));
    assert_shows(&d, "16 of 16 groups of 4 ranks");
    desk_close(&d);
    model_destroy(m);
}

static void values_outside_the_range_vanish(void **state)
{
    (void)state;
    struct model *m = job_of(64);
    struct desk d;
    /* the colour is the rank: its range is 0 to 63 */
    open_desk(&d, m, LANDSCAPE_LAYOUT,
              "BEGIN VIZ=v\nx=rank,y=mod(rank,2),z=0\ncolor=rank\nEND VIZ\n");
    assert_shows(&d, "64 of 64 ranks, mean 31.5");
    d.ui.landscape.low = 0.5;
    lay_out_again(&d, m);
    assert_shows(&d, "32 of 64 ranks, mean 47.5");
    /* the low end above the high end: only what is not between them */
    d.ui.landscape.low = 62.5 / 63;
    d.ui.landscape.high = 0.5 / 63;
    lay_out_again(&d, m);
    assert_shows(&d, "2 of 64 ranks, mean 31.5");
    desk_close(&d);
    model_destroy(m);
}

static void slices_and_means_go_along_each_axis(void **state)
{
    (void)state;
    struct model *m = job_of(64);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LAYOUT,
              "BEGIN VIZ=v\nx=mod(rank,8),y=floor(rank/8),z=0\ncolor=rank\nEND VIZ\n");
    d.ui.landscape.axes[0] = (struct landscape_axis){LANDSCAPE_AXIS_SLICE, 0.3}; /* x = 2 */
    lay_out_again(&d, m);
    assert_shows(&d, "8 of 64 ranks, mean 30"); /* 2, 10, ... 58 */
    d.ui.landscape.axes[1] = (struct landscape_axis){LANDSCAPE_AXIS_SLICE, 0.99}; /* y = 7 */
    lay_out_again(&d, m);
    assert_shows(&d, "1 of 64 ranks, mean 58");
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_AXIS_ALL, 0);
    assert_shows(&d, "8 of 64 ranks, mean 59.5");
    click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_AXIS_MEAN, 0); /* one point of eight ranks */
    assert_int_equal(d.ui.landscape.axes[0].mode, LANDSCAPE_AXIS_MEAN);
    int discs = 0;
    for (size_t i = 0; i < d.scene.item_count; i++)
        discs += d.scene.items[i].kind == SCENE_DISC &&
                 !strcmp(d.scene.panels[d.scene.items[i].panel].name, "landscape.points");
    assert_int_equal(discs, 1);
    desk_close(&d);
    model_destroy(m);
}

static void the_point_of_a_rank_can_be_pointed_at(void **state)
{
    (void)state;
    struct model *m = job_of(64);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LAYOUT, line_layout);
    d.ui.landscape.camera.yaw = d.ui.landscape.camera.pitch = 0;
    desk_layout(&d, m);
    const struct scene_item *last = NULL; /* the point that is farthest to the right is rank 63 */
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        if (item->kind == SCENE_DISC &&
            !strcmp(d.scene.panels[item->panel].name, "landscape.points") &&
            (!last || item->box.x > last->box.x))
            last = item;
    }
    assert_non_null(last);
    const struct input in = {
        .kind = INPUT_MOVE, .x = last->box.x + last->box.w / 2, .y = last->box.y + last->box.h / 2};
    ui_input(&d.ui, m, &d.scene, &in);
    lay_out_again(&d, m);
    const struct scene_hit *hit = scene_hit_at(&d.scene, in.x, in.y);
    assert_int_equal(hit->kind, HIT_RANK);
    assert_int_equal(hit->a, 63);
    assert_shows(&d, "rank 63 on ");
    desk_close(&d);
    model_destroy(m);
}

static void the_correlation_of_a_scatter_is_printed(void **state)
{
    (void)state;
    struct model *m = job_of(64);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LAYOUT,
              "BEGIN VIZ=v\nrestrictDim=1\nx=event0.val,y=1-3*event0.val\nz=rank\n"
              "color=rank\nEND VIZ\n");
    assert_shows(&d, "x-y -1.00");
    assert_shows(&d, "z-colour +1.00");
    assert_shows(&d, "x: MPI_Waitall, time");
    desk_close(&d);
    open_desk(&d, m, LANDSCAPE_LAYOUT, "");
    d.ui.landscape.layout = 3;
    lay_out_again(&d, m);
    assert_shows(&d, "layout: scatter");
    assert_shows(&d, "colour: MPI_Irecv, time");
    desk_close(&d);
    model_destroy(m);
}

static void a_fault_of_a_layout_is_shown_with_file_and_line(void **state)
{
    (void)state;
    struct model *m = job_of(64);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LAYOUT, "BEGIN VIZ=v\nx=coord0\ny=1\nz=1\nEND VIZ\n");
    assert_shows(&d, "mine.viz:2:3: x: coord0 is not known");
    desk_check(&d, "fault");
    desk_close(&d);
    open_desk(&d, m, LANDSCAPE_LAYOUT, "BEGIN VIZ=v\nx=1/rank\ny=nodeRank\nz=node\nEND VIZ\n");
    assert_shows(&d, "1 ranks have no place: line 2: x of rank 0 is not finite");
    assert_shows(&d, "63 of 64 ranks");
    desk_close(&d);
    model_destroy(m);
}

/* Two nodes of two sockets with two NUMA nodes each, two cores in every one. Where ranks 14 and 15
 * run is not known. */
static void formulas_see_the_core_socket_and_numa_node_of_a_rank(void **state)
{
    (void)state;
    struct model *m = job_of(16);
    struct wire_host_row hosts[2] = {{"node000"}, {"node001"}};
    struct wire_place_row rows[16];
    for (uint32_t r = 0; r < 16; r++)
        rows[r] = (struct wire_place_row){.rank = r,
                                          .node = r / 8,
                                          .placement = "",
                                          .core = r < 14 ? r % 8 + 1 : 0,
                                          .socket = r < 14 ? r % 8 / 4 + 1 : 0,
                                          .numa = r < 14 ? r % 8 / 2 + 1 : 0};
    struct wire_message message = {.type = WIRE_TYPE_PLACES};
    message.places = (struct wire_places){
        .job = m->job, .hosts = hosts, .hosts_count = 2, .places = rows, .places_count = 16};
    desk_apply(m, &message, 0);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LAYOUT,
              "BEGIN VIZ=v\nx=1000*node+100*socket+10*numa+core\ny=0\nz=nodeRank\nEND VIZ\n");
    static const double x[16] = {1111, 1112, 1123, 1124, 1235, 1236, 1247, 1248,
                                 2111, 2112, 2123, 2124, 2235, 2236, 2000, 2000};
    double *const *axes = d.pictures.landscape->points.axes;
    for (uint32_t r = 0; r < 16; r++) {
        assert_float_equal(axes[FORMULA_X][r], x[r], 0);
        assert_float_equal(axes[FORMULA_Z][r], (double)(r % 8), 0);
    }
    desk_close(&d);
    model_destroy(m);
}

static void layouts_are_stepped_through_and_need_what_they_use(void **state)
{
    (void)state;
    static const char *const names[] = {"layout: sphere",  "layout: block", "layout: torus",
                                        "layout: scatter", "layout: line",  "layout: sphere"};
    struct model *m =
        job_of(64); /* no Cartesian network: the layout by coordinates is not offered */
    struct desk d;
    open_desk(&d, m, LANDSCAPE_LAYOUT, line_layout);
    assert_shows(&d, "layout: line");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        click_on(&d, m, HIT_BUTTON, COMMAND_LANDSCAPE_LAYOUT, 0);
        assert_shows(&d, names[i]);
    }
    desk_close(&d);
    model_destroy(m);
}

static void a_drag_turns_and_the_wheel_zooms(void **state)
{
    (void)state;
    struct model *m = job_of(64);
    struct desk d;
    open_desk(&d, m, LANDSCAPE_WALLS, "");
    struct input in = {.kind = INPUT_PRESS, .x = 900, .y = 300, .clicks = 1};
    double yaw = d.ui.landscape.camera.yaw;
    ui_input(&d.ui, m, &d.scene, &in);
    in.kind = INPUT_MOVE;
    in.x += 50;
    ui_input(&d.ui, m, &d.scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d.ui, m, &d.scene, &in);
    assert_true(fabs(d.ui.landscape.camera.yaw - yaw - 0.4) < 1e-9);
    in = (struct input){.kind = INPUT_WHEEL, .x = 900, .y = 300, .wheel = 2};
    ui_input(&d.ui, m, &d.scene, &in);
    assert_true(d.ui.landscape.camera.zoom > 1.3);
    in = (struct input){.kind = INPUT_KEY, .key = '0'};
    ui_input(&d.ui, m, &d.scene, &in);
    assert_true(d.ui.landscape.camera.zoom == 1);
    desk_close(&d);
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_keeps_its_place_at_every_size),
        cmocka_unit_test(functions_and_metrics_are_chosen_by_clicks),
        cmocka_unit_test(a_click_on_a_rank_selects_it_in_every_view),
        cmocka_unit_test(keys_step_through_the_ranks_of_its_list),
        cmocka_unit_test(of_a_job_by_groups_only_the_groups_have_values),
        cmocka_unit_test(values_outside_the_range_vanish),
        cmocka_unit_test(slices_and_means_go_along_each_axis),
        cmocka_unit_test(the_point_of_a_rank_can_be_pointed_at),
        cmocka_unit_test(the_correlation_of_a_scatter_is_printed),
        cmocka_unit_test(a_fault_of_a_layout_is_shown_with_file_and_line),
        cmocka_unit_test(formulas_see_the_core_socket_and_numa_node_of_a_rank),
        cmocka_unit_test(layouts_are_stepped_through_and_need_what_they_use),
        cmocka_unit_test(a_drag_turns_and_the_wheel_zooms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
