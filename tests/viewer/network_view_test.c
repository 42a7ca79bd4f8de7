/* View "network": what its scene says, and what keys and mouse do there. */
#include "tests/viewer/network_bed.h"

#include "viewer/ui/ui_input.h"
#include "viewer/views/common/link_classes.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/network/view_network_parts.h"
#include "viewer/views/routes/view_routes_parts.h"
#include "viewer/views/torus/drawing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct network_bed *begin(const char *form, uint32_t per_node)
{
    struct network_bed *f = calloc(1, sizeof *f);
    assert_non_null(f);
    network_bed_begin(f, &(struct network_job){form, NULL, per_node, 20, 0});
    desk_open(&f->desk, 1600, 900, 1, THEME_DARK, VIEW_NETWORK);
    f->desk.ui.network.metric = METRIC_BYTES;
    return f;
}

static int setup(void **state)
{
    *state = begin("torus:4,4,2", 2);
    return 0;
}

static void end(struct network_bed *f)
{
    network_bed_close(f);
    free(f);
}

static int teardown(void **state)
{
    end(*state);
    return 0;
}

static void show(struct network_bed *f)
{
    desk_layout(&f->desk, f->model);
}

static int says(const struct network_bed *f, const char *part)
{
    return find_text(&f->desk.scene, part) != NULL;
}

static uint32_t count_hits(const struct network_bed *f, enum hit_kind kind)
{
    uint32_t count = 0;
    for (size_t i = 0; i < f->desk.scene.hit_count; i++)
        count += f->desk.scene.hits[i].kind == kind;
    return count;
}

/* Where a vertex (group 0) or group lies. */
static struct point place(const struct network_bed *f, uint64_t number, uint64_t group)
{
    for (size_t i = 0; i < f->desk.scene.hit_count; i++) {
        const struct scene_hit *hit = &f->desk.scene.hits[i];
        if (hit->kind == HIT_PLACE && hit->a == number && hit->b == group)
            return (struct point){hit->x0, hit->y0};
    }
    fail_msg("%llu has no place", (unsigned long long)number);
    return (struct point){0, 0};
}

static void send(struct network_bed *f, enum input_kind kind, struct point at, int shift, int ctrl)
{
    struct input in = {
        .kind = kind, .x = at.x, .y = at.y, .shift = shift, .ctrl = ctrl, .clicks = 1};
    ui_input(&f->desk.ui, f->model, &f->desk.scene, &in);
}

static void move_to(struct network_bed *f, struct point at)
{
    send(f, INPUT_MOVE, at, 0, 0);
    show(f);
}

static void click(struct network_bed *f, struct point at)
{
    move_to(f, at);
    send(f, INPUT_PRESS, at, 0, 0);
    send(f, INPUT_RELEASE, at, 0, 0);
    show(f);
}

static void press_key(struct network_bed *f, int key)
{
    struct input in = {.kind = INPUT_KEY, .key = key};
    ui_input(&f->desk.ui, f->model, &f->desk.scene, &in);
    show(f);
}

static struct box plot_of_scene(const struct network_bed *f)
{
    for (size_t i = 0; i < f->desk.scene.panel_count; i++)
        if (!strcmp(f->desk.scene.panels[i].name, "network.plot"))
            return f->desk.scene.panels[i].box;
    fail_msg("there is no plot");
    return (struct box){0};
}

/* A box drawn around. */
static void lasso(struct network_bed *f, struct box b, int shift, int ctrl)
{
    const struct point corners[] = {
        {b.x, b.y}, {b.x + b.w, b.y}, {b.x + b.w, b.y + b.h}, {b.x, b.y + b.h}};
    send(f, INPUT_MOVE, corners[0], 0, 0);
    send(f, INPUT_PRESS, corners[0], shift, ctrl);
    for (int i = 1; i <= 3; i++)
        send(f, INPUT_MOVE, corners[i], shift, ctrl);
    show(f); /* it is drawn meanwhile */
    send(f, INPUT_RELEASE, corners[3], shift, ctrl);
    send(f, INPUT_LEAVE, corners[3], 0, 0);
    show(f);
}

static int is_picked(const struct network_bed *f, uint32_t route)
{
    return f->desk.range.flows.route_marks[route] & FLOW_SHOWN;
}

/* ---- what is to be seen ------------------------------------------------------------------------
 */

static void test_nodes_routes_and_legend(void **state)
{
    struct network_bed *f = *state;
    show(f);
    assert_true(says(f, "32 nodes"));
    assert_true(says(f, "only sends") && says(f, "only receives"));
    assert_true(says(f, "widest line"));
    assert_int_equal(count_hits(f, HIT_PLACE), 32);
    assert_int_equal(count_hits(f, HIT_VERTEX), 32);
    assert_int_equal(count_hits(f, HIT_NETWORK), 1);
    assert_true(says(f, "(3,3,1)"));
}

static void test_nodes_that_routes_only_pass_are_counted_apart(void **state)
{
    struct network_bed *f = *state;
    f->model->network.seats[6] = f->model->network.seats[7] = TOPOLOGY_NONE; /* node 3's */
    show(f);
    assert_true(says(f, "32 nodes, 1 without ranks, "));
}

/* Names lie upon no line, no disc and no other name; some are left out. */
static void test_names_cover_nothing(void **state)
{
    (void)state;
    struct network_bed *f = begin("torus:4,4,4,16,2", 1);
    show(f);
    const struct network_drawing *d = f->desk.pictures.network;
    struct plot plot = network_plot_make(
        &(struct stage){.ui = &f->desk.ui, .model = f->model, .range = &f->desk.range}, &d->now,
        plot_of_scene(f));
    uint32_t names = 0;
    for (size_t i = 0; i < f->desk.scene.item_count; i++) {
        const struct scene_item *item = &f->desk.scene.items[i];
        if (item->kind != SCENE_TEXT || strncmp(scene_text_of(&f->desk.scene, item), "A ", 2) != 0)
            continue;
        names++;
        assert_false(network_lines_cross(&d->now, &plot, item->box));
        for (uint32_t k = 0; k < d->now.wiring.unit_count; k++)
            assert_false(box_has(item->box, section_x(&plot.section, d->now.at[k].x),
                                 section_y(&plot.section, d->now.at[k].y)));
    }
    assert_in_range(names, 10, 64);
    desk_check(&f->desk, "names");
    end(f);
}

static void test_fits_every_window(void **state)
{
    struct network_bed *f = *state;
    const double sizes[][2] = {{1600, 900}, {1024, 640}, {2560, 1440}, {640, 480}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        f->desk.ui.w = sizes[i][0];
        f->desk.ui.h = sizes[i][1];
        f->desk.ui.mouse.x = sizes[i][0] / 2;
        f->desk.ui.mouse.y = sizes[i][1] / 2;
        show(f);
        desk_check(&f->desk, "network");
    }
}

/* The share of a picture that the links between a switch and so many nodes around it cover. */
static double share_covered_by_a_star(uint32_t nodes)
{
    struct network_bed b = {0};
    struct arrangement a = {.spring = {.count = nodes + 1, .half = {1, 1}, .unit = 0.1},
                            .at = calloc(nodes + 1, sizeof *a.at)};
    a.wiring.edges = calloc(nodes, sizeof *a.wiring.edges);
    assert_true(a.at != NULL && a.wiring.edges != NULL);
    a.wiring.edge_count = nodes;
    a.wiring.heaviest = 1000;
    for (uint32_t n = 0; n < nodes; n++) {
        const double angle = 2 * 3.14159265 * n / nodes;
        a.at[n + 1] = (struct point){cos(angle), sin(angle)};
        a.wiring.edges[n] = (struct wiring_edge){.from = n + 1, .to = 0, .bytes = 1000};
    }
    b.desk.ui.graph.camera.zoom = 1;
    const struct plot plot =
        network_plot_make(&(struct stage){.ui = &b.desk.ui}, &a, (struct box){0, 0, 1000, 600});
    free(a.at);
    free(a.wiring.edges);
    /* links are as long as the picture is wide or high, at the mean */
    return nodes * plot.thick * (plot.section.ux + plot.section.uy) / 2 /
           (4 * plot.section.ux * plot.section.uy);
}

static void test_links_of_many_nodes_do_not_cover_the_picture(void **state)
{
    (void)state;
    assert_true(share_covered_by_a_star(8) < 0.15);
    for (uint32_t nodes = 100; nodes <= 1600; nodes *= 2)
        assert_true(share_covered_by_a_star(nodes) < 0.35);
    assert_true(share_covered_by_a_star(1600) > 0.1); /* and are still seen */
}

static void test_same_scene_again(void **state)
{
    struct network_bed *f = *state, *other = begin("torus:4,4,2", 2);
    char *a = NULL, *b = NULL;
    size_t na = 0, nb = 0;
    show(f);
    show(other);
    FILE *fa = open_memstream(&a, &na), *fb = open_memstream(&b, &nb);
    scene_dump(&f->desk.scene, fa);
    scene_dump(&other->desk.scene, fb);
    fclose(fa);
    fclose(fb);
    assert_string_equal(a, b);
    free(a);
    free(b);
    end(other);
}

static void test_places_stay_when_windows_come(void **state)
{
    struct network_bed *f = *state;
    struct point before[32];
    show(f);
    for (uint32_t v = 0; v < 32; v++)
        before[v] = place(f, v, 0);
    for (int i = 0; i < 10; i++) {
        synthetic_network_window(&f->net, desk_apply, f->model);
        show(f);
    }
    for (uint32_t v = 0; v < 32; v++) {
        struct point now = place(f, v, 0);
        assert_true(hypot(now.x - before[v].x, now.y - before[v].y) < 30);
    }
}

static void test_ranks_of_one_host(void **state)
{
    (void)state;
    struct network_bed *f = begin("fattree:4,1/1,1", 1);
    show(f);
    assert_true(says(f, "node 3"));
    desk_check(&f->desk, "a tree");
    move_to(f, place(f, 4, 0)); /* its wide lines leave no place for its name */
    assert_true(says(f, "switch 0"));
    end(f);
}

static void test_no_network(void **state)
{
    (void)state;
    struct network_bed *f = begin("torus:4,4", 1);
    network_clear(&f->model->network);
    show(f);
    assert_int_equal(count_hits(f, HIT_NETWORK), 0);
    end(f);
}

/* ---- selection ---------------------------------------------------------------------------------
 */

static void test_click_selects_a_node(void **state)
{
    struct network_bed *f = *state;
    show(f);
    move_to(f, place(f, 5, 0));
    assert_true(says(f, "ranks 10, 11") || says(f, "ranks 10-11"));
    assert_true(says(f, "receives"));
    click(f, place(f, 5, 0));
    assert_int_equal(f->desk.ui.selection.kind, SELECT_VERTEX);
    assert_int_equal(f->desk.ui.selection.a, 5);
    press_key(f, KEY_ESCAPE);
    assert_int_equal(f->desk.ui.selection.kind, SELECT_NONE);
}

static void test_click_selects_a_route(void **state)
{
    struct network_bed *f = *state;
    uint32_t from, to;
    show(f);
    assert_true(topology_link(f->net.topology, f->net.hot, &from, &to));
    struct point a = place(f, from, 0), b = place(f, to, 0);
    double length = hypot(b.x - a.x, b.y - a.y);
    struct point at = {(a.x + b.x) / 2 - (b.y - a.y) / length * 2,
                       (a.y + b.y) / 2 + (b.x - a.x) / length * 2};
    click(f, at); /* on its right-hand side */
    assert_int_equal(f->desk.ui.selection.kind, SELECT_ROUTE);
    const struct flows *flows = &f->desk.range.flows;
    uint32_t route =
        flows_find(flows, (uint32_t)f->desk.ui.selection.a, (uint32_t)f->desk.ui.selection.b);
    assert_int_not_equal(route, FLOWS_NONE);
    assert_true(flows_crosses(flows, f->model, route, f->net.hot));
}

static void test_suggested_routes_are_blue(void **state)
{
    struct network_bed *f = *state;
    uint32_t blue = 0;
    network_asked(&f->model->network, SUGGEST_ROUTES, "");
    synthetic_network_routes(&f->net, desk_apply, f->model);
    network_replied(&f->model->network, SUGGEST_ROUTES, 0, NULL);
    ui_command(&f->desk.ui, f->model, COMMAND_APPLY, SUGGEST_ROUTES);
    show(f);
    for (size_t i = 0; i < f->desk.scene.item_count; i++)
        blue += f->desk.scene.items[i].kind == SCENE_LINE &&
                f->desk.scene.items[i].color == f->desk.theme.info;
    assert_true(blue > 0);
}

/* Positions of all vertices in a half of the picture. @return how many there are */
static uint32_t places_between(const struct network_bed *f, double left, double right,
                               struct point out[64])
{
    uint32_t count = 0;
    for (size_t i = 0; i < f->desk.scene.hit_count; i++) {
        const struct scene_hit *h = &f->desk.scene.hits[i];
        if (h->kind != HIT_PLACE || h->x0 < left || h->x0 >= right || h->a >= 64)
            continue;
        out[h->a] = (struct point){h->x0, h->y0};
        count++;
    }
    return count;
}

static void test_before_and_after_have_the_same_positions_side_by_side(void **state)
{
    struct network_bed *f = *state;
    struct point before[64] = {{0}}, after[64] = {{0}};
    show(f);
    network_asked(&f->model->network, SUGGEST_MAPPING, "hop-bytes");
    synthetic_network_mapping(&f->net, 1, desk_apply, f->model);
    network_replied(&f->model->network, SUGGEST_MAPPING, 0, NULL);
    ui_command(&f->desk.ui, f->model, COMMAND_APPLY, SUGGEST_MAPPING);
    ui_command(&f->desk.ui, f->model, COMMAND_COMPARE, COMPARE_BOTH);
    show(f);
    assert_non_null(find_text(&f->desk.scene, "reality, before suggestion 1: mapping"));
    assert_non_null(find_text(&f->desk.scene, "suggestion 1: mapping"));
    assert_int_equal(places_between(f, 0, f->desk.ui.w, before), 64);
    double left = INFINITY, right = 0;
    for (uint32_t v = 0; v < 32; v++) { /* the last one of each vertex is that of the left half */
        left = fmin(left, before[v].x);
        right = fmax(right, before[v].x);
    }
    assert_int_equal(places_between(f, left - 1, right + 1, before), 32);
    assert_int_equal(places_between(f, right + 1, f->desk.ui.w, after), 32);
    for (uint32_t v = 0; v < 32; v++) {
        assert_true(fabs(after[v].x - before[v].x - (after[0].x - before[0].x)) < 1e-6);
        assert_true(fabs(after[v].y - before[v].y) < 1e-6);
    }
    desk_check(&f->desk, "both");
    ui_command(&f->desk.ui, f->model, COMMAND_UNDO_STEP, 0);
    show(f);
    assert_null(find_text(&f->desk.scene, "reality, before suggestion"));
}

/* The second job has twice the nodes, and more windows. */
static void test_two_networks_stand_side_by_side_on_one_scale(void **state)
{
    struct network_bed *f = *state, *g = begin("torus:4,4,4", 2);
    const struct pictures *pictures = &f->desk.pictures;
    f->desk.ui.time.range = RANGE_START;
    show(f);
    const struct wiring alone = pictures->network->now.wiring;
    for (int i = 0; i < 60; i++)
        synthetic_network_window(&g->net, desk_apply, g->model);
    struct other_run other = {.model = g->model, .names = {"a.hrec", "b.hrec"}};
    f->desk.ui.network.other = &other;
    assert_true(other_run_update(&other, f->model, RANGE_START, 0, 0) >= 0);
    for (int compare = COMPARE_AFTER; compare < COMPARES; compare++) {
        ui_command(&f->desk.ui, f->model, COMMAND_COMPARE, (uint64_t)compare);
        show(f);
        assert_true(says(f, "before: a.hrec, 32 nodes, "));
        assert_true(says(f, "after: b.hrec, 64 nodes, "));
        assert_true(says(f, "without a difference"));
        assert_true(says(f, "bytes/node"));
        const struct wiring *first = &pictures->network->now.wiring,
                            *second = &pictures->beside[1]->network->now.wiring;
        for (int i = 0; i < WIRING_METRICS; i++)
            assert_float_equal(first->most[i], second->most[i], 0);
        assert_true(first->heaviest > alone.heaviest && first->heaviest == second->heaviest);
        assert_int_equal(count_hits(f, HIT_PLACE), 32); /* nodes of the second are not chosen */
        desk_check(&f->desk, "two networks");
    }
    ui_command(&f->desk.ui, f->model, COMMAND_COMPARE, COMPARE_BEFORE);
    show(f);
    assert_false(says(f, "64 nodes"));
    assert_int_equal(pictures->network->now.wiring.heaviest, alone.heaviest);
    assert_true(says(f, "first of two networks, before: a.hrec"));
    f->desk.ui.network.other = NULL;
    other_run_finish(&other);
    end(g);
}

/* A view of the job and of one of 60 windows more on another network, which is returned. */
static struct network_bed *show_two(struct network_bed *f, const char *form,
                                    struct other_run *other, enum view_id view)
{
    struct network_bed *g = begin(form, 2);
    for (int i = 0; i < 60; i++)
        synthetic_network_window(&g->net, desk_apply, g->model);
    *other = (struct other_run){.model = g->model, .names = {"a.hrec", "b.hrec"}};
    assert_true(other_run_update(other, f->model, RANGE_START, 0, 0) >= 0);
    f->desk.ui.time.range = RANGE_START;
    f->desk.ui.view = view;
    f->desk.ui.network.other = other;
    f->desk.ui.network.compare = COMPARE_BOTH;
    show(f);
    assert_true(says(f, "before: a.hrec, "));
    assert_true(says(f, "after: b.hrec, "));
    desk_check(&f->desk, form);
    return g;
}

static void end_two(struct network_bed *f, struct network_bed *g, struct other_run *other)
{
    f->desk.ui.network.other = NULL;
    other_run_finish(other);
    end(g);
}

static uint32_t count_texts(const struct network_bed *f, const char *text)
{
    uint32_t count = 0;
    for (size_t i = 0; i < f->desk.scene.item_count; i++) {
        const struct scene_item *item = &f->desk.scene.items[i];
        count += item->kind == SCENE_TEXT && !strcmp(scene_text_of(&f->desk.scene, item), text);
    }
    return count;
}

static void test_links_of_two_networks_have_one_scale(void **state)
{
    struct network_bed *f = *state;
    struct other_run other;
    char most[64];
    f->desk.ui.network.metric = METRIC_LOAD;
    struct network_bed *g = show_two(f, "torus:4,4,4", &other, VIEW_LINKS);
    assert_true(f->desk.range.flows.largest < other.range.flows.largest);
    snprintf(most, sizeof most, "to %s",
             piece_metric_text(METRIC_LOAD, (double)other.range.flows.largest).text);
    assert_int_equal(count_texts(f, most), 2);
    assert_int_equal(count_texts(f, "Hot links"), 2);
    assert_int_equal(count_hits(f, HIT_METRIC), 1); /* links of the second are not chosen */
    end_two(f, g, &other);
}

static void test_two_tori_have_one_scale(void **state)
{
    struct network_bed *f = *state;
    struct other_run other;
    struct network_bed *g = show_two(f, "torus:4,4,4", &other, VIEW_TORUS);
    const struct torus_drawing *first = f->desk.pictures.torus,
                               *second = f->desk.pictures.beside[1]->torus;
    assert_int_equal(first->node_count, 32);
    assert_int_equal(second->node_count, 64);
    assert_true(first->top >= (double)other.range.flows.largest);
    assert_float_equal(first->top, second->top, 0);
    assert_int_equal(f->desk.ui.torus.second.largest, other.range.flows.largest);
    end_two(f, g, &other);
}

static void test_a_torus_and_a_network_of_tiers_have_one_scale(void **state)
{
    struct network_bed *f = *state;
    struct other_run other;
    struct network_bed *g = show_two(f, "dragonfly:5,4,2", &other, VIEW_TORUS);
    assert_true(says(f, "All-to-all network"));
    assert_int_equal(count_texts(f, "Torus"), 1);
    assert_true(f->desk.pictures.torus->top >= (double)other.range.flows.largest);
    end_two(f, g, &other);
}

static void test_routes_of_two_networks_are_two_matrices(void **state)
{
    struct network_bed *f = *state;
    struct other_run other;
    struct network_bed *g = show_two(f, "torus:4,4,4", &other, VIEW_ROUTES);
    assert_int_equal(count_texts(f, "Route matrix"), 2);
    assert_int_equal(f->desk.pictures.routes->set.all, f->desk.range.flows.route_count);
    assert_int_equal(f->desk.pictures.beside[1]->routes->set.all, other.range.flows.route_count);
    assert_int_equal(count_hits(f, HIT_ROUTES), 2);
    end_two(f, g, &other);
}

/* Loads between groups and between nodes have no common scale. */
static void test_two_networks_are_grouped_alike(void **state)
{
    (void)state;
    struct network_bed *f = begin("torus:4,4,4,8", 1), *g = begin("torus:4,4,4,16,2", 1);
    struct other_run other = {.model = g->model, .names = {"a.hrec", "b.hrec"}};
    f->desk.ui.time.range = RANGE_START;
    show(f);
    assert_true(says(f, "512 nodes, "));
    f->desk.ui.network.other = &other;
    assert_true(other_run_update(&other, f->model, RANGE_START, 0, 0) >= 0);
    show(f);
    assert_int_equal(f->desk.ui.graph.applied, 7);
    assert_int_equal(f->desk.ui.second_graph.applied, 7);
    f->desk.ui.network.other = NULL;
    show(f);
    assert_int_equal(f->desk.ui.graph.applied, 0);
    other_run_finish(&other);
    end(f);
    end(g);
}

/* ---- lassos ------------------------------------------------------------------------------------
 */

static void test_lasso_within(void **state)
{
    struct network_bed *f = *state;
    show(f);
    struct box all = plot_of_scene(f);
    lasso(f, (struct box){all.x + 2, all.y + 2, all.w - 4, all.h - 4}, 1, 0);
    assert_true(f->desk.ui.network.filter.picked);
    assert_int_equal(f->desk.ui.network.filter.set.count, f->desk.range.flows.route_count);
    press_key(f, KEY_ESCAPE);
    assert_false(flow_filter_active(&f->desk.ui.network.filter));
    struct point at = place(f, 3, 0); /* no route stays within one node */
    lasso(f, (struct box){at.x - 14, at.y - 14, 28, 28}, 1, 0);
    assert_false(flow_filter_active(&f->desk.ui.network.filter));
}

/* Whatever begins, ends or passes there; of others those whose line does, by chance. */
static void test_lasso_crossing(void **state)
{
    struct network_bed *f = *state;
    uint32_t picked = 0;
    show(f);
    struct point at = place(f, 3, 0);
    press_key(f, 'e');
    press_key(f, 'e'); /* dragging draws a lasso without a modifier */
    assert_int_equal(f->desk.ui.graph.tool, NETWORK_CROSSING);
    lasso(f, (struct box){at.x - 8, at.y - 8, 16, 16}, 0, 0);
    assert_true(f->desk.ui.network.filter.picked);
    const struct flows *flows = &f->desk.range.flows;
    for (uint32_t i = 0; i < flows->route_count; i++) {
        picked += is_picked(f, i) != 0;
        if (flows->routes[i].source == 3 || flows->routes[i].destination == 3)
            assert_true(is_picked(f, i));
    }
    assert_true(picked < flows->route_count);
    assert_true(says(f, "only"));
}

static void test_drag_moves_and_wheel_zooms(void **state)
{
    struct network_bed *f = *state;
    show(f);
    struct box all = plot_of_scene(f);
    struct point from = {all.x + 20, all.y + 20}, to = {all.x + 80, all.y + 50};
    struct point before = place(f, 0, 0);
    send(f, INPUT_MOVE, from, 0, 0);
    send(f, INPUT_PRESS, from, 0, 0);
    send(f, INPUT_MOVE, to, 0, 0);
    send(f, INPUT_RELEASE, to, 0, 0);
    show(f);
    struct point after = place(f, 0, 0);
    assert_true(fabs(after.x - before.x - 60) < 1 && fabs(after.y - before.y - 30) < 1);
    press_key(f, '+');
    assert_true(f->desk.ui.graph.camera.zoom > 1.5);
    assert_true(says(f, "whole graph"));
    press_key(f, '0');
    assert_true(f->desk.ui.graph.camera.zoom == 1);
}

/* ---- groups ------------------------------------------------------------------------------------
 */

static void test_groups_by_dimension(void **state)
{
    struct network_bed *f = *state;
    show(f);
    ui_command(&f->desk.ui, f->model, COMMAND_NET_DIMENSION, 0);
    show(f);
    assert_int_equal(count_hits(f, HIT_UNIT), 4);
    assert_int_equal(count_hits(f, HIT_VERTEX), 0);
    assert_true(says(f, "4 groups") && says(f, "A 3"));
    move_to(f, place(f, 2, 1));
    assert_true(says(f, "A 2: 8 nodes"));
    assert_true(says(f, "stay within"));
    desk_check(&f->desk, "groups");
    ui_command(&f->desk.ui, f->model, COMMAND_NET_DIMENSION, 0);
    show(f);
    assert_int_equal(count_hits(f, HIT_VERTEX), 32);
}

static void test_click_opens_a_group_and_keeps_others(void **state)
{
    struct network_bed *f = *state;
    show(f);
    ui_command(&f->desk.ui, f->model, COMMAND_NET_DIMENSION, 0);
    show(f);
    click(f, place(f, 1, 1));
    send(f, INPUT_LEAVE, (struct point){0, 0}, 0, 0);
    show(f);
    assert_int_equal(count_hits(f, HIT_UNIT), 3);
    assert_int_equal(count_hits(f, HIT_VERTEX), 8);
    assert_true(says(f, "3 groups, 8 nodes"));
    press_key(f, KEY_ESCAPE);
    assert_int_equal(count_hits(f, HIT_UNIT), 4);
}

static void test_lasso_opens_groups(void **state)
{
    struct network_bed *f = *state;
    show(f);
    ui_command(&f->desk.ui, f->model, COMMAND_NET_DIMENSION, 0);
    show(f);
    struct box all = plot_of_scene(f);
    lasso(f, (struct box){all.x + 2, all.y + 2, all.w - 4, all.h - 4}, 1, 0);
    assert_int_equal(count_hits(f, HIT_UNIT), 0);
    assert_int_equal(count_hits(f, HIT_VERTEX), 32);
}

static void test_many_nodes_come_together(void **state)
{
    (void)state;
    struct network_bed *f = begin("torus:4,4,4,16,2", 1);
    show(f);
    assert_int_equal(count_hits(f, HIT_UNIT), 64);
    assert_int_equal(f->desk.ui.graph.applied, 7); /* A, B, C as in Visuco, Fig. 7 */
    desk_check(&f->desk, "many");
    end(f);
}

/* Hosts below one switch, as in the tree that stands for an unknown network. */
static void test_hosts_of_a_single_switch_are_no_group(void **state)
{
    enum { HOSTS = 2 * NETWORK_SINGLE };
    static struct topology_named vertices[HOSTS + 1];
    static struct topology_edge edges[2 * HOSTS];
    static struct flow_vertex figures[HOSTS + 1];
    struct topology_spec spec = {.kind = TOPOLOGY_TREE,
                                 .vertices = vertices,
                                 .vertex_count = HOSTS + 1,
                                 .edges = edges,
                                 .edge_count = 2 * HOSTS};
    struct model *m = calloc(1, sizeof *m);
    struct network_graph g = {0};
    const struct flows f = {.vertices = figures, .vertex_count = HOSTS + 1};
    char why[100];
    (void)state;
    vertices[HOSTS].kind = VERTEX_SWITCH;
    for (uint32_t i = 0; i < HOSTS; i++) {
        vertices[i].kind = VERTEX_NODE;
        edges[2 * i] = (struct topology_edge){.from = i, .to = HOSTS};
        edges[2 * i + 1] = (struct topology_edge){.from = HOSTS, .to = i};
        figures[i].in = 1;
    }
    assert_int_equal(topology_create(&m->network.topology, &spec, why, sizeof why), 0);
    assert_int_equal(network_graph_update(&g, m, &f, NULL), 1);
    assert_int_equal(g.levels, 1);
    assert_int_equal(g.applied_level, 0);
    assert_int_equal(g.group_of[0], NETWORK_ALONE);
    network_graph_finish(&g);
    topology_destroy(m->network.topology);
    free(m);
}

static void test_groups_by_switch(void **state)
{
    (void)state;
    struct network_bed *f = begin("fattree:4,4/1,1", 1);
    ui_command(&f->desk.ui, f->model, COMMAND_NET_LEVEL, 1);
    show(f);
    assert_int_equal(count_hits(f, HIT_UNIT), 4);
    desk_check(&f->desk, "switches");
    end(f);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void test_vertices_are_counted_by_their_kind(void **state)
{
    (void)state;
    char text[120] = "";
    link_ends_text((const uint32_t[LINK_ENDS]){4, 1, 0, 4, 8}, text, sizeof text);
    assert_string_equal(text, "4 nodes, 1 switch, 4 NUMA nodes, 8 processes");
}

static void bytes_of_ranks_without_a_place_are_in_the_title(void **state)
{
    static const enum view_id places[] = {VIEW_NETWORK, VIEW_TORUS, VIEW_ROUTES};
    struct network_bed *f = *state;
    show(f);
    assert_false(says(f, "without a place"));
    f->net.seats[0].vertex = UINT64_MAX;
    synthetic_network_topology(&f->net, desk_apply, f->model);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        f->desk.ui.view = places[i];
        show(f);
        assert_true(f->desk.range.flows.unplaced_bytes > 0);
        assert_true(says(f, "of ranks without a place"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(bytes_of_ranks_without_a_place_are_in_the_title),
        cmocka_unit_test(test_vertices_are_counted_by_their_kind),
        FIXTURE(test_nodes_routes_and_legend),
        FIXTURE(test_nodes_that_routes_only_pass_are_counted_apart),
        cmocka_unit_test(test_names_cover_nothing),
        FIXTURE(test_fits_every_window),
        cmocka_unit_test(test_links_of_many_nodes_do_not_cover_the_picture),
        FIXTURE(test_same_scene_again),
        FIXTURE(test_places_stay_when_windows_come),
        cmocka_unit_test(test_ranks_of_one_host),
        cmocka_unit_test(test_no_network),
        FIXTURE(test_click_selects_a_node),
        FIXTURE(test_click_selects_a_route),
        FIXTURE(test_suggested_routes_are_blue),
        FIXTURE(test_before_and_after_have_the_same_positions_side_by_side),
        FIXTURE(test_two_networks_stand_side_by_side_on_one_scale),
        cmocka_unit_test(test_two_networks_are_grouped_alike),
        FIXTURE(test_links_of_two_networks_have_one_scale),
        FIXTURE(test_two_tori_have_one_scale),
        FIXTURE(test_a_torus_and_a_network_of_tiers_have_one_scale),
        FIXTURE(test_routes_of_two_networks_are_two_matrices),
        FIXTURE(test_lasso_within),
        FIXTURE(test_lasso_crossing),
        FIXTURE(test_drag_moves_and_wheel_zooms),
        FIXTURE(test_groups_by_dimension),
        FIXTURE(test_click_opens_a_group_and_keeps_others),
        FIXTURE(test_lasso_opens_groups),
        cmocka_unit_test(test_many_nodes_come_together),
        cmocka_unit_test(test_groups_by_switch),
        cmocka_unit_test(test_hosts_of_a_single_switch_are_no_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
