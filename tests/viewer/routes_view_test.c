/* View "routes" as text, and what the mouse and the keys do there. */
#include "viewer/ui/ui_input.h"

#include "tests/data_file.h"
#include "tests/viewer/network_bed.h"

#include "viewer/views/routes/view_routes_parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct network_bed *b = calloc(1, sizeof *b);
    network_bed_open(b, VIEW_ROUTES,
                     &(struct network_job){"torus:8,4,4/capacity=2e8", NULL, 1, 8, 0});
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    network_bed_close(*state);
    free(*state);
    return 0;
}

/* The mouse comes, then presses: what lies under it is known from the scene before. */
static int click_at(struct network_bed *b, double x, double y)
{
    network_bed_input(b, (struct input){.kind = INPUT_MOVE, .x = x, .y = y});
    network_bed_input(b, (struct input){.kind = INPUT_MOVE, .x = x, .y = y});
    network_bed_input(b, (struct input){.kind = INPUT_PRESS, .x = x, .y = y, .clicks = 1});
    return network_bed_input(b, (struct input){.kind = INPUT_RELEASE, .x = x, .y = y, .clicks = 1});
}

static int button(struct network_bed *b, enum ui_command command, uint64_t argument)
{
    struct box box = network_bed_button(b, command, argument)->box;
    return click_at(b, box.x + box.w / 2, box.y + box.h / 2);
}

#define SEEN(text) assert_non_null(find_text(&b->desk.scene, text))
#define NOT_SEEN(text) assert_null(find_text(&b->desk.scene, text))

static void look_at(struct network_bed *b, enum select_kind kind, uint64_t one, uint64_t other)
{
    b->desk.ui.selection = (struct selection){kind, one, other};
    desk_layout(&b->desk, b->model);
}

static const struct routes_drawing *drawing(const struct network_bed *b)
{
    return b->desk.pictures.routes;
}

static struct box network_plot_make(const struct network_bed *b)
{
    const struct scene *s = &b->desk.scene;
    for (size_t i = 0; i < s->panel_count; i++)
        if (!strcmp(s->panels[i].name, "routes.plot"))
            return s->panels[i].box;
    fail_msg("no matrix in the scene");
    return (struct box){0};
}

/* Middle of a row or column in the matrix, pixels from its edge. */
static double middle(const struct network_bed *b, uint32_t row)
{
    const struct adjacency_axis *a = &drawing(b)->axis;
    return (a->at[row] + a->at[row + 1]) / 2 * network_plot_make(b).w;
}

static uint32_t node(const struct network_bed *b, uint32_t a, uint32_t c, uint32_t d, uint32_t e,
                     uint32_t f)
{
    return topology_at(b->net.topology, (uint32_t[TOPOLOGY_DIMENSIONS]){a, c, d, e, f});
}

/* Is there a rectangle of a colour in the matrix, with these edges? */
static int has_rect(const struct network_bed *b, color_t color, double x0, double y0, double x1,
                    double y1)
{
    const struct scene *s = &b->desk.scene;
    struct box plot = network_plot_make(b);
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *item = &s->items[i];
        const struct box *box = &item->box;
        if (item->kind == SCENE_RECT && item->color == color && fabs(box->x - plot.x - x0) <= 2 &&
            fabs(box->y - plot.y - y0) <= 2 && fabs(box->x + box->w - plot.x - x1) <= 2 &&
            fabs(box->y + box->h - plot.y - y1) <= 2)
            return 1;
    }
    return 0;
}

/* ---- one route ---------------------------------------------------------------------------------
 */

/* Visuco, Fig. 6. */
static void a_route_steps_along_rows_and_columns(void **state)
{
    (void)state;
    struct network_bed bed, *b = &bed;
    network_bed_open(b, VIEW_ROUTES,
                     &(struct network_job){"torus:2,2,4,2,2/order=C,D,E,B,A", NULL, 1, 4, 0});
    uint32_t way[] = {node(b, 1, 0, 2, 1, 0), node(b, 1, 0, 2, 0, 0), node(b, 1, 1, 2, 0, 0),
                      node(b, 0, 1, 2, 0, 0)};
    assert_int_equal(way[0], 42);
    assert_int_equal(way[3], 24);
    look_at(b, SELECT_ROUTE, way[0], way[3]);
    const struct routes_drawing *d = drawing(b);
    assert_int_equal(d->set.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(d->set.hops[i].from, way[i]);
        assert_int_equal(d->set.hops[i].to, way[i + 1]);
    }
    /* cells passed: in number order a row is its vertex */
    assert_int_equal(d->whole.cells.count, 64);
    assert_int_equal(d->whole.hop_count, 3);
    static const uint32_t cells[3][2] = {{40, 56}, {42, 40}, {56, 24}};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(d->whole.hops[i].from, cells[i][0]);
        assert_int_equal(d->whole.hops[i].to, cells[i][1]);
    }
    /* a line along the source's row, then one along the target's column */
    color_t line = b->desk.theme.accent;
    for (uint32_t i = 0; i + 1 < 4; i++) {
        double from = middle(b, way[i]), to = middle(b, way[i + 1]);
        assert_true(has_rect(b, line, fmin(from, to), from - 1, fmax(from, to), from + 1));
        assert_true(has_rect(b, line, to - 1, fmin(from, to), to + 1, fmax(from, to)));
    }
    double half = 0.34 * network_plot_make(b).w / 64, at = middle(b, way[0]);
    half = half > 9 ? 9 : half;
    assert_true(has_rect(b, b->desk.theme.info, at - half, at - half, at + half, at + half));
    int discs = 0;
    for (size_t i = 0; i < b->desk.scene.item_count; i++)
        discs += b->desk.scene.items[i].kind == SCENE_DISC &&
                 b->desk.scene.items[i].color == b->desk.theme.bad &&
                 fabs(b->desk.scene.items[i].box.x + b->desk.scene.items[i].box.w / 2 -
                      network_plot_make(b).x - middle(b, way[3])) < 1;
    assert_int_equal(discs, 1);
    SEEN("one node or switch a cell");
    desk_check(&b->desk, "one route");
    network_bed_close(b);
}

static void squares_are_where_vertices_are_neighbours(void **state)
{
    struct network_bed *b = *state;
    const struct route_layer *l = &drawing(b)->whole;
    uint32_t links = 0, from, to;
    for (uint32_t k = 0; k < topology_links(b->net.topology); k++)
        links += topology_link(b->net.topology, k, &from, &to) != 0;
    assert_int_equal(l->pair_count, links);
    for (uint32_t i = 0; i < l->pair_count; i++)
        assert_int_not_equal(
            topology_link_between(b->net.topology, l->pairs[i].from, l->pairs[i].to),
            TOPOLOGY_NONE);
}

/* ---- which routes ------------------------------------------------------------------------------
 */

static void without_a_choice_the_heaviest_are_shown_and_described(void **state)
{
    struct network_bed *b = *state;
    SEEN("64 with the most bytes of");
    assert_int_equal(drawing(b)->set.routes, 64);
    const struct flows *f = &b->desk.range.flows;
    uint64_t all[2048];
    double most = 0;
    assert_true(f->route_count <= 2048);
    for (uint32_t i = 0; i < f->route_count; i++)
        all[i] = f->routes[i].bytes;
    for (uint32_t k = 0; k < 64; k++) { /* the plain way */
        uint32_t best = 0;
        for (uint32_t i = 1; i < f->route_count; i++)
            best = all[i] > all[best] ? i : best;
        most += (double)all[best];
        all[best] = 0;
    }
    assert_true(fabs(drawing(b)->set.bytes - most) < 1);
    network_bed_type(b, "[");
    assert_int_equal(drawing(b)->set.routes, 32);
    network_bed_type(b, "]");
    button(b, COMMAND_ROUTES_MAXIMUM, 1);
    assert_int_equal(drawing(b)->set.routes, 128);
}

static void a_selected_link_shows_its_routes(void **state)
{
    struct network_bed *b = *state;
    look_at(b, SELECT_LINK, b->net.hot, 0);
    const struct flows *f = &b->desk.range.flows;
    uint32_t over = 0, from, to, found = 0;
    for (uint32_t i = 0; i < f->route_count; i++)
        over += flows_crosses(f, b->model, i, b->net.hot) != 0;
    assert_true(over > 0);
    assert_int_equal(drawing(b)->set.routes, over);
    topology_link(b->net.topology, b->net.hot, &from, &to);
    for (uint32_t i = 0; i < drawing(b)->set.count; i++)
        found += drawing(b)->set.hops[i].from == from && drawing(b)->set.hops[i].to == to;
    assert_int_equal(found, 1); /* each step is drawn once */
    SEEN("selected of");
}

static void the_filter_of_the_other_views_holds(void **state)
{
    struct network_bed *b = *state;
    const struct flows *f = &b->desk.range.flows;
    flow_filter_range(&b->desk.ui.network.filter, METRIC_LOAD, f->maximum[METRIC_LOAD] * 0.9,
                      f->maximum[METRIC_LOAD]);
    desk_layout(&b->desk, b->model);
    assert_int_equal(drawing(b)->set.routes, f->shown_routes);
    assert_true(f->shown_routes < f->route_count);
    SEEN("pass the filter");
    look_at(b, SELECT_CALL, 0, 0); /* no selection of routes */
    assert_int_equal(drawing(b)->set.routes, f->shown_routes);
    SEEN("pass the filter");
    button(b, COMMAND_FILTER_CLEAR, 0);
    SEEN("with the most bytes");
}

static void a_click_on_a_square_selects_the_link(void **state)
{
    struct network_bed *b = *state;
    uint32_t from, to;
    topology_link(b->net.topology, b->net.hot, &from, &to);
    struct box plot = network_plot_make(b);
    click_at(b, plot.x + middle(b, to), plot.y + middle(b, from));
    assert_int_equal(b->desk.ui.selection.kind, SELECT_LINK);
    assert_int_equal(b->desk.ui.selection.a, b->net.hot);
    click_at(b, plot.x + middle(b, 5), plot.y + middle(b, 5));
    assert_int_equal(b->desk.ui.selection.kind, SELECT_VERTEX);
    assert_int_equal(b->desk.ui.selection.a, 5);
}

/* ---- order, folding, zoom ----------------------------------------------------------------------
 */

static void dimensions_are_ordered_as_chosen(void **state)
{
    struct network_bed *b = *state;
    button(b, COMMAND_ROUTE_ORDER, 2); /* C before B */
    const struct route_order *o = &drawing(b)->order;
    assert_string_equal(o->names[1], "C");
    uint32_t at[TOPOLOGY_DIMENSIONS];
    topology_coordinates(b->net.topology, o->vertex[1], at);
    assert_true(at[0] == 0 && at[1] == 1 && at[2] == 0); /* B is the fastest */
    for (uint32_t r = 0; r < o->count; r++)
        assert_int_equal(o->row[o->vertex[r]], r);
    assert_int_equal(o->starts[4], 1);
    assert_int_equal(o->starts[16], 0);
    button(b, COMMAND_ROUTE_ORDER, TOPOLOGY_DIMENSIONS);
    assert_int_equal(o->vertex[1], 1);
    network_bed_type(b, "O");
    assert_string_equal(o->names[2], "A");
}

static void what_no_route_passes_is_folded(void **state)
{
    struct network_bed *b = *state;
    look_at(b, SELECT_ROUTE, 0, 5);
    button(b, COMMAND_FOLD, 2);
    const struct adjacency_axis *a = &drawing(b)->axis;
    assert_int_equal(a->open, 8); /* (0,0,*) and (0,1,*) */
    assert_int_equal(a->blocks, 30);
    SEEN("30 blocks with 120 vertices folded to 1 band");
    desk_check(&b->desk, "folded");
    button(b, COMMAND_FOLD, 2);
    assert_int_equal(drawing(b)->axis.open, 128);
    network_bed_type(b, "F");
    assert_int_equal(b->desk.ui.routes.fold, 1);
}

static void each_level_folds_as_soon_as_it_is_chosen(void **state)
{
    static const uint32_t open[] = {128, 16, 8, 2}; /* of the route (0,0,0) to (0,1,0) */
    struct network_bed *b = *state;
    look_at(b, SELECT_ROUTE, 0, 4);
    for (int fold = 0; fold <= 3; fold++) {
        assert_int_equal(b->desk.ui.routes.fold, fold);
        assert_int_equal(drawing(b)->axis.open, open[fold]);
        network_bed_type(b, "F");
    }
    assert_int_equal(drawing(b)->axis.open, 128);
}

static void the_wheel_zooms_and_a_drag_moves(void **state)
{
    struct network_bed *b = *state;
    struct box plot = network_plot_make(b);
    double x = plot.x + plot.w / 2, y = plot.y + plot.h / 2;
    network_bed_input(b, (struct input){.kind = INPUT_WHEEL, .x = x, .y = y, .wheel = 5});
    assert_true(b->desk.ui.routes.extent < 0.5);
    double before = b->desk.ui.routes.x;
    network_bed_input(b, (struct input){.kind = INPUT_PRESS, .x = x, .y = y, .clicks = 1});
    network_bed_input(b, (struct input){.kind = INPUT_MOVE, .x = x - 80, .y = y});
    network_bed_input(b, (struct input){.kind = INPUT_RELEASE, .x = x - 80, .y = y, .clicks = 1});
    assert_true(b->desk.ui.routes.x > before);
    SEEN("a part of the matrix");
    desk_check(&b->desk, "zoomed");
    network_bed_type(b, "0");
    NOT_SEEN("a part of the matrix");
}

/* ---- suggestions -------------------------------------------------------------------------------
 */

static void suggested_routes_are_blue_and_can_be_undone(void **state)
{
    struct network_bed *b = *state;
    network_asked(&b->model->network, SUGGEST_ROUTES, "");
    synthetic_network_routes(&b->net, desk_apply, b->model);
    network_replied(&b->model->network, SUGGEST_ROUTES, 0, NULL);
    look_at(b, SELECT_LINK, b->net.hot, 0);
    SEEN("routes better: total length 4096 \xe2\x86\x92 4102, largest link load 87.7");
    SEEN("could take another path, in blue");
    uint32_t blue = 0, plain = 0;
    for (uint32_t i = 0; i < drawing(b)->set.count; i++) {
        blue += (drawing(b)->set.hops[i].mark & ROUTE_SUGGESTED) != 0;
        plain += (drawing(b)->set.hops[i].mark & ROUTE_HOP) != 0;
    }
    assert_true(blue > 0 && plain > 0);
    button(b, COMMAND_APPLY, SUGGEST_ROUTES);
    assert_int_equal(b->desk.ui.network.applied, FLOWS_ROUTES);
    SEEN(", applied");
    network_bed_type(b, "u");
    assert_int_equal(b->desk.ui.network.applied, 0);
    button(b, COMMAND_DISCARD, SUGGEST_ROUTES);
}

/* ---- large networks ----------------------------------------------------------------------------
 */

/* 2,048 nodes, of which 32 are a cell. */
static void open_large_network(struct network_bed *b)
{
    network_bed_open(b, VIEW_ROUTES,
                     &(struct network_job){
                         "torus:4,4,4,16,2",
                         "par-comm-data/hopbyte/MiniMD_Mira_n2048_c1_s1_hopbyte.txt", 1, 3, 0});
}

/* Although a cell of 32 nodes is a few pixels wide. */
static void the_ends_of_one_route_are_seen(void **state)
{
    (void)state;
    struct network_bed bed, *b = &bed;
    open_large_network(b);
    look_at(b, SELECT_ROUTE, 300, 1500);
    const struct box plot = network_plot_make(b);
    int discs = 0;
    for (size_t i = 0; i < b->desk.scene.item_count; i++)
        discs += b->desk.scene.items[i].kind == SCENE_DISC &&
                 box_has(plot, b->desk.scene.items[i].box.x, b->desk.scene.items[i].box.y) &&
                 b->desk.scene.items[i].color == b->desk.theme.bad &&
                 b->desk.scene.items[i].box.w >= 8;
    assert_int_equal(discs, 1);
    network_bed_close(b);
}

static void large_networks_are_aggregated_and_the_lens_shows_more(void **state)
{
    (void)state;
    struct network_bed bed, *b = &bed;
    open_large_network(b);
    SEEN("32 nodes or switches a cell, same down to C");
    assert_int_equal(drawing(b)->whole.cells.count, 64);
    network_bed_type(b, "M");
    struct box plot = network_plot_make(b);
    double at = plot.w * 0.31;
    network_bed_input(b, (struct input){.kind = INPUT_MOVE, .x = plot.x + at, .y = plot.y + at});
    network_bed_input(b, (struct input){.kind = INPUT_MOVE, .x = plot.x + at, .y = plot.y + at});
    SEEN("8x, one node or switch a cell");
    assert_int_equal(drawing(b)->lens.cells.count, 2048);
    desk_check(&b->desk, "lens");
    network_bed_type(b, "M");
    click_at(b, plot.x + at, plot.y + at); /* a cell of several: closer */
    assert_true(b->desk.ui.routes.extent < 1);
    network_bed_close(b);
}

/* Visuco, section 7.4: the small job runs within one cabinet, the larger one in several. */
static void tiers_of_a_cray_tell_how_far_routes_go(void **state)
{
    (void)state;
    struct network_bed bed, *b = &bed;
    uint32_t all;
    network_bed_open(
        b, VIEW_ROUTES,
        &(struct network_job){"dragonfly:2,12,3,16,4",
                              "par-comm-data/hopbyte/MiniMD_Theta_n128_c1_w_hopbyte.txt", 1, 3, 0});
    b->desk.ui.routes.maximum = UINT32_MAX;
    desk_layout(&b->desk, b->model);
    assert_true(drawing(b)->order.tiers);
    SEEN("group: 1 of 12, column: 1 of 24");
    assert_int_equal(route_blocks_passed(drawing(b), 1, &all), 1);
    assert_int_equal(all, 24);
    network_bed_close(b);
    network_bed_open(
        b, VIEW_ROUTES,
        &(struct network_job){"dragonfly:2,12,3,16,4",
                              "par-comm-data/hopbyte/MiniMD_Theta_n256_c1_w_hopbyte.txt", 1, 3, 0});
    b->desk.ui.routes.maximum = UINT32_MAX;
    desk_layout(&b->desk, b->model);
    assert_int_equal(route_blocks_passed(drawing(b), 1, &all), 3);
    assert_int_equal(route_blocks_passed(drawing(b), -1, &all), 2);
    network_bed_close(b);
}

static void open_routes(struct network_bed *b, const char *file)
{
    size_t length;
    char *text = data_file(file, &length);
    memset(b, 0, sizeof *b);
    assert_int_equal(model_create(&b->model, 256u << 20), 0);
    synthetic_network_init(&b->net, "torus:4,4,4,4,2", 16);
    synthetic_network_read_routes(&b->net, text);
    free(text);
    synthetic_network_begin(&b->net, desk_apply, b->model);
    for (int i = 0; i < 2; i++)
        synthetic_network_window(&b->net, desk_apply, b->model);
    desk_open(&b->desk, 1600, 900, 1, THEME_DARK, VIEW_ROUTES);
    b->desk.ui.routes.maximum = UINT32_MAX;
    desk_layout(&b->desk, b->model);
}

/* Visuco, Fig. 12: the optimised approach uses links that the default leaves idle, and loads them
 * less. */
static void optimised_io_spreads_over_more_links(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        double most, length; /* routes over the most loaded link; links on all routes */
    } runs[] = {{"par-comm-data/route/IoDefault_Mira_n512_c16_route.txt", 33, 1784},
                {"par-comm-data/route/IoOpt_Mira_n512_c16_route.txt", 30, 1658}};
    uint32_t links[2];
    for (int i = 0; i < 2; i++) {
        struct network_bed bed, *b = &bed;
        open_routes(b, runs[i].file);
        const struct flows *f = &b->desk.range.flows;
        double each = (double)f->bytes / 504; /* routes */
        assert_true(fabs((double)f->largest / each - runs[i].most) < 0.01);
        assert_true(fabs(f->hop_bytes / each - runs[i].length) < 0.01);
        links[i] = drawing(b)->set.count;
        assert_int_equal(links[i], f->links_used);
        network_bed_close(b);
    }
    assert_true(links[1] > links[0]);
}

static void all_kinds_of_networks_have_an_order(void **state)
{
    (void)state;
    static const char *const forms[] = {"dragonfly:groups=9,routers=4,nodes=2,global=2",
                                        "fattree:4,4,4/1,2,2", "mesh:5,7", "hypercube:6"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct network_bed bed, *b = &bed;
        network_bed_open(b, VIEW_ROUTES, &(struct network_job){forms[i], NULL, 1, 3, 0});
        const struct route_order *o = &drawing(b)->order;
        uint8_t *seen = calloc(o->count, 1);
        assert_int_equal(o->count, topology_vertices(b->net.topology));
        for (uint32_t r = 0; r < o->count; r++) {
            assert_false(seen[o->vertex[r]]++);
            assert_int_equal(o->row[o->vertex[r]], r);
            assert_true(o->starts[r] < o->levels);
        }
        free(seen);
        for (uint64_t l = 1; l <= o->levels; l++) {
            b->desk.ui.routes.fold = (int)l;
            desk_layout(&b->desk, b->model);
            desk_check(&b->desk, forms[i]);
        }
        network_bed_close(b);
    }
}

static void small_windows_and_the_light_theme_hold_it(void **state)
{
    struct network_bed *b = *state;
    for (int theme = 0; theme < THEMES; theme++) {
        desk_close(&b->desk);
        desk_open(&b->desk, theme ? 1024 : 700, theme ? 640 : 420, theme ? 1.5 : 1,
                  (enum theme_kind)theme, VIEW_ROUTES);
        desk_layout(&b->desk, b->model);
        desk_check(&b->desk, "small");
    }
}

static void the_scene_can_be_written_as_text(void **state)
{
    struct network_bed *b = *state;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    scene_dump(&b->desk.scene, out);
    fclose(out);
    assert_non_null(strstr(text, "routes.plot"));
    assert_non_null(strstr(text, "hit routes"));
    free(text);
    assert_int_equal(place_find("routes"), VIEW_ROUTES);
}

static void numbers_of_blocks_keep_a_distance(void **state)
{
    struct network_bed bed = {0}, *b = &bed;
    (void)state;
    network_bed_open(b, VIEW_ROUTES, &(struct network_job){"torus:4,4,4,16,2", NULL, 1, 8, 0});
    const struct scene *s = &b->desk.scene;
    struct box plot = network_plot_make(b);
    uint32_t labels = 0;
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *a = &s->items[i];
        if (a->kind != SCENE_TEXT || a->box.y + a->box.h > plot.y || a->box.x < plot.x ||
            a->box.y < plot.y - 90 || a->box.x + a->box.w > plot.x + plot.w)
            continue;
        labels++;
        for (size_t k = i + 1; k < s->item_count; k++)
            if (s->items[k].kind == SCENE_TEXT && s->items[k].box.y == a->box.y &&
                s->items[k].box.x > a->box.x)
                assert_true(s->items[k].box.x >= a->box.x + a->box.w + 5);
    }
    assert_in_range(labels, 20, 80);
    network_bed_close(b);
}

int main(void)
{
#define ON_A_TORUS(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_route_steps_along_rows_and_columns),
        ON_A_TORUS(squares_are_where_vertices_are_neighbours),
        ON_A_TORUS(without_a_choice_the_heaviest_are_shown_and_described),
        ON_A_TORUS(a_selected_link_shows_its_routes),
        ON_A_TORUS(the_filter_of_the_other_views_holds),
        ON_A_TORUS(a_click_on_a_square_selects_the_link),
        ON_A_TORUS(dimensions_are_ordered_as_chosen),
        ON_A_TORUS(what_no_route_passes_is_folded),
        ON_A_TORUS(each_level_folds_as_soon_as_it_is_chosen),
        ON_A_TORUS(the_wheel_zooms_and_a_drag_moves),
        ON_A_TORUS(suggested_routes_are_blue_and_can_be_undone),
        cmocka_unit_test(numbers_of_blocks_keep_a_distance),
        cmocka_unit_test(the_ends_of_one_route_are_seen),
        cmocka_unit_test(large_networks_are_aggregated_and_the_lens_shows_more),
        cmocka_unit_test(tiers_of_a_cray_tell_how_far_routes_go),
        cmocka_unit_test(optimised_io_spreads_over_more_links),
        cmocka_unit_test(all_kinds_of_networks_have_an_order),
        ON_A_TORUS(small_windows_and_the_light_theme_hold_it),
        ON_A_TORUS(the_scene_can_be_written_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
