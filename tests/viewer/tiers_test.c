/* The picture of networks with tiers: where vertices are, and what it shows and selects. */
#include "tests/viewer/network_bed.h"

#include "viewer/layout/floor_plan.h"
#include "viewer/places/absence.h"
#include "viewer/ui/ui_input.h"
#include "viewer/views/common/link_classes.h"
#include "viewer/views/torus/tier_lines.h"
#include "viewer/views/torus/tier_names.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct topology *network_of(const char *form)
{
    struct topology_spec spec = {0};
    struct topology *out = NULL;
    char why[256];
    assert_int_equal(topology_short(&spec, form, why, sizeof why), 0);
    assert_int_equal(topology_create(&out, &spec, why, sizeof why), 0);
    topology_spec_finish(&spec);
    return out;
}

/* ---- where vertices are ---- */

static const struct floor_block *block_of(const struct floor_plan *p, uint32_t tier, uint32_t nth)
{
    for (uint32_t i = 0; i < p->block_count; i++)
        if (p->blocks[i].tier == tier && !p->blocks[i].joined && nth-- == 0)
            return &p->blocks[i];
    fail_msg("there are too few boxes of tier %u", tier);
    return NULL;
}

static int box_holds(const struct box *box, struct point at)
{
    return at.x >= box->x && at.x <= box->x + box->w && at.y >= box->y && at.y <= box->y + box->h;
}

static void nodes_of_a_cray_are_in_the_box_of_their_cabinet_and_apart(void **state)
{
    (void)state;
    struct topology *t = network_of("dragonfly:2,12,3,16,4");
    struct floor_plan plan = {0};
    uint8_t *used = calloc(topology_vertices(t), 1);
    memset(used + 192, 1, 192); /* all of cabinet 1 */
    assert_int_equal(floor_plan_make(&plan, t, used, 1200, 700), 0);
    const struct floor_block *cabinet = block_of(&plan, 1, 1), *empty = block_of(&plan, 1, 2);
    assert_true(cabinet->used && !empty->used);
    assert_true(cabinet->box.w > 3 * empty->box.w);
    for (uint32_t v = 192; v < 384; v++) {
        assert_true(box_holds(&cabinet->box, plan.at[v]));
        assert_true(plan.size[v] > 2);
        for (uint32_t other = 192; other < v; other++)
            assert_true(fabs(plan.at[v].x - plan.at[other].x) >= (double)plan.size[v] ||
                        fabs(plan.at[v].y - plan.at[other].y) >= (double)plan.size[v]);
    }
    assert_true(box_holds(&empty->box, plan.at[384]) && plan.size[384] <= 0);
    floor_plan_finish(&plan);
    topology_destroy(t);
    free(used);
}

static void routers_of_a_dragonfly_are_in_the_box_of_their_nodes(void **state)
{
    (void)state;
    struct topology *t = network_of("dragonfly:groups=5,routers=4,nodes=2,global=1");
    struct floor_plan plan = {0};
    uint8_t *used = calloc(topology_vertices(t), 1);
    memset(used, 1, topology_nodes(t));
    assert_int_equal(floor_plan_make(&plan, t, used, 900, 600), 0);
    for (uint32_t router = 0; router < 20; router++) {
        const struct floor_block *box = block_of(&plan, 1, router);
        assert_true(box_holds(&box->box, plan.at[topology_nodes(t) + router]));
        assert_true(box_holds(&box->box, plan.at[2 * router + 1]));
    }
    floor_plan_finish(&plan);
    topology_destroy(t);
    free(used);
}

static void each_level_of_a_fat_tree_is_above_the_one_below(void **state)
{
    (void)state;
    struct topology *t = network_of("fattree:k=4");
    struct floor_plan plan = {0};
    uint8_t *used = calloc(topology_vertices(t), 1);
    uint32_t from, to, index;
    assert_int_equal(floor_plan_make(&plan, t, used, 900, 600), 0);
    assert_int_equal(plan.levels, 4);
    for (uint32_t l = 0; l < topology_links(t); l++)
        if (topology_link(t, l, &from, &to))
            assert_int_equal(topology_level(t, from, &index) < topology_level(t, to, &index),
                             plan.at[from].y > plan.at[to].y);
    floor_plan_finish(&plan);
    topology_destroy(t);
    free(used);
}

/* The last vertex is the root. */
static struct topology *tree_of(struct topology_named *names, const uint32_t *parents,
                                uint32_t count)
{
    struct topology_edge *edges = calloc(2 * count, sizeof *edges);
    assert_non_null(edges);
    for (uint32_t v = 0; v + 1 < count; v++) {
        edges[2 * v] = (struct topology_edge){.from = v, .to = parents[v]};
        edges[2 * v + 1] = (struct topology_edge){.from = parents[v], .to = v};
    }
    struct topology_spec spec = {.kind = TOPOLOGY_TREE,
                                 .vertices = names,
                                 .vertex_count = count,
                                 .edges = edges,
                                 .edge_count = 2 * count - 2};
    struct topology *t;
    char why[256] = "";
    assert_int_equal(topology_create(&t, &spec, why, sizeof why), 0);
    free(edges);
    return t;
}

/* Two switches with two nodes each, below a third. */
static struct topology *tree_of_four(void)
{
    struct topology_named names[7] = {
        {"a", VERTEX_NODE},   {"b", VERTEX_NODE},   {"c", VERTEX_NODE},  {"d", VERTEX_NODE},
        {"s", VERTEX_SWITCH}, {"t", VERTEX_SWITCH}, {"r", VERTEX_SWITCH}};
    return tree_of(names, (const uint32_t[]){4, 4, 5, 5, 6, 6}, 7);
}

static void children_of_a_tree_are_below_their_parent_and_share_its_width(void **state)
{
    (void)state;
    struct topology *t = tree_of_four();
    /* its picture has a place among the tabs */
    struct model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    strcpy(m->job, "1");
    m->network.topology = t;
    assert_null(place_absence(m, VIEW_TORUS));
    free(m);
    struct floor_plan plan = {0};
    uint8_t used[7] = {0};
    assert_int_equal(floor_plan_make(&plan, t, used, 800, 300), 0);
    static const double x[] = {-300, -100, 100, 300, -200, 200, 0};
    for (uint32_t v = 0; v < 7; v++) {
        assert_true(fabs(plan.at[v].x - x[v]) < 1e-6);
        assert_true(fabs(plan.at[v].y - (v < 4 ? 100 : v < 6 ? 0 : -100)) < 1e-6);
    }
    floor_plan_finish(&plan);
    topology_destroy(t);
}

/* ---- names ---- */

static void a_network_has_one_name_for_each_of_its_tiers(void **state)
{
    (void)state;
    struct topology *tree = network_of("fattree:k=4"),
                    *fly = network_of("dragonfly:groups=5,routers=4,nodes=2,global=1");
    struct link_class c = {0};
    link_class_name(&c, tree, 0);
    assert_string_equal(c.name, "node to level 1");
    link_class_name(&c, tree, topology_links(tree) - 1);
    assert_string_equal(c.name, "level 3 to level 2");
    link_class_name(&c, fly, 0);
    assert_string_equal(c.name, "node to router");
    const uint32_t nodes = topology_nodes(fly);
    link_class_name(&c, fly, topology_link_between(fly, nodes, nodes + 1));
    assert_string_equal(c.name, "router to router");
    link_class_name(&c, fly, topology_link_between(fly, nodes, nodes + 4));
    assert_string_equal(c.name, "group to group");
    topology_destroy(tree);
    topology_destroy(fly);
}

/* ---- the view ---- */

static void the_picture_of_a_cray_names_its_tiers_and_the_unused_one(void **state)
{
    (void)state;
    struct network_bed b;
    network_bed_open(
        &b, VIEW_TORUS,
        &(struct network_job){"dragonfly:2,12,3,16,4",
                              "par-comm-data/hopbyte/MiniMD_Theta_n128_c1_w_hopbyte.txt", 1, 4, 0});
    assert_non_null(find_text(&b.desk.scene, "Dragonfly"));
    assert_non_null(find_text(&b.desk.scene, "column 6"));
    assert_non_null(find_text(&b.desk.scene, "row, column unused")); /* all in one cabinet */
    desk_check(&b.desk, "the tiers of a Cray");
    network_bed_close(&b);
}

static void a_group_without_ranks_is_named_as_unused(void **state)
{
    (void)state;
    struct network_bed b;
    network_bed_begin(
        &b, &(struct network_job){"dragonfly:groups=9,routers=4,nodes=4,global=2", NULL, 1, 4, 0});
    for (uint32_t rank = 128; rank < 144; rank++)
        b.model->network.seats[rank] = TOPOLOGY_NONE;
    desk_open(&b.desk, 1600, 900, 1, THEME_DARK, VIEW_TORUS);
    desk_layout(&b.desk, b.model);
    assert_non_null(find_text(&b.desk.scene, "group 7"));
    assert_non_null(find_text(&b.desk.scene, "group 8: unused"));
    desk_check(&b.desk, "an unused group");
    network_bed_close(&b);
}

/* The names in the picture of a tree, whose topology it owns, of so many pixels. */
static void expect_names(struct topology *tree, double width, const char *const *expected)
{
    struct model *m = calloc(1, sizeof *m);
    struct desk desk;
    struct floor_plan plan = {0};
    const uint8_t used[7] = {0};
    size_t count = 0;
    assert_non_null(m);
    desk_open(&desk, 800, 400, 1, THEME_DARK, VIEW_TORUS);
    desk_layout(&desk, m);
    m->network.topology = tree;
    desk.scene.item_count = 0;
    assert_int_equal(floor_plan_make(&plan, tree, used, width, 300), 0);
    tier_names_add(
        &plan, &(struct stage){.brush = {.scene = &desk.scene, .theme = &desk.theme}, .model = m},
        &(struct section){{0, 0, 800, 400}, 1, 1, 0, 0});
    for (; expected[count] != NULL; count++)
        assert_non_null(find_text(&desk.scene, expected[count]));
    assert_int_equal(desk.scene.item_count, count);
    floor_plan_finish(&plan);
    topology_destroy(tree);
    m->network.topology = NULL;
    desk_close(&desk);
    free(m);
}

static void a_tree_has_the_names_that_fit(void **state)
{
    (void)state;
    expect_names(tree_of_four(), 780,
                 (const char *const[]){"a", "b", "c", "d", "s", "t", "r", NULL});
    expect_names(tree_of_four(), 20, (const char *const[]){"r", NULL});
}

static void nodes_without_space_for_their_names_share_one(void **state)
{
    (void)state;
    struct topology_named names[7] = {{"host/n001", VERTEX_NODE}, {"host/n002", VERTEX_NODE},
                                      {"host/n003", VERTEX_NODE}, {"host/n004", VERTEX_NODE},
                                      {"host/n005", VERTEX_NODE}, {"host/n006", VERTEX_NODE},
                                      {"host", VERTEX_SWITCH}};
    expect_names(tree_of(names, (const uint32_t[]){6, 6, 6, 6, 6, 6}, 7), 180,
                 (const char *const[]){"host", "n001 to n006", NULL});
}

/* ---- lines ---- */

enum {
    LEAVES = 600,
    LEFT = LEAVES,
    RIGHT,
    ROOT,
    VERTICES,
    LINKS = 2 * (VERTICES - 1),
    PIXELS = 100
};

/* A tree of two switches with 300 nodes each, in a plot of 100 pixels. Link 2 * v leads from vertex
 * v upwards, the next one back. */
struct dense_tree {
    struct topology *topology;
    struct floor_plan plan;
    struct model *model;
    struct range range;
    uint64_t loads[LINKS];
    uint8_t marks[LINKS];
    struct desk desk;
    struct stage stage;
    struct tier_lines lines;
};

static uint32_t dense_tree_parent(uint32_t vertex)
{
    return vertex < LEAVES ? LEFT + vertex / (LEAVES / 2) : ROOT;
}

static void dense_tree_open(struct dense_tree *d)
{
    static struct topology_named names[VERTICES];
    static const uint8_t used[VERTICES];
    uint32_t parents[VERTICES];
    for (uint32_t v = 0; v < VERTICES; v++) {
        snprintf(names[v].name, sizeof names[v].name, "v%u", v);
        names[v].kind = v < LEAVES ? VERTEX_NODE : VERTEX_SWITCH;
        parents[v] = dense_tree_parent(v);
    }
    *d = (struct dense_tree){.model = calloc(1, sizeof *d->model)};
    assert_non_null(d->model);
    d->topology = tree_of(names, parents, VERTICES);
    assert_int_equal(floor_plan_make(&d->plan, d->topology, used, PIXELS, 60), 0);
    d->model->network.topology = d->topology;
    for (uint32_t l = 0; l < LINKS; l++)
        d->loads[l] = 100;
    d->range.flows.loads = d->loads;
    d->range.flows.link_marks = d->marks;
    d->range.flows.link_count = LINKS;
    desk_open(&d->desk, 800, 400, 1, THEME_DARK, VIEW_TORUS);
    d->stage = (struct stage){.brush = {.scene = &d->desk.scene, .theme = &d->desk.theme},
                              .model = d->model,
                              .range = &d->range,
                              .ui = &d->desk.ui};
}

static void dense_tree_choose(struct dense_tree *d, double zoom, double x)
{
    const struct section k = {{0, 0, PIXELS, 60}, zoom, zoom, x, 0};
    assert_int_equal(tier_lines_collect(&d->lines, &d->range.flows, NULL), 0);
    assert_int_equal(tier_lines_choose(&d->lines, &d->stage, &d->plan, &k), 0);
}

static uint32_t link_of(const struct dense_tree *d, uint32_t vertex, int down)
{
    const uint32_t parent = dense_tree_parent(vertex);
    return topology_link_between(d->topology, down ? parent : vertex, down ? vertex : parent);
}

static int is_drawn(const struct dense_tree *d, uint32_t link)
{
    for (uint32_t i = 0; i < d->lines.drawn_count; i++)
        if (d->lines.all[d->lines.drawn[i]].link == link)
            return 1;
    return 0;
}

static void dense_tree_close(struct dense_tree *d)
{
    tier_lines_finish(&d->lines);
    floor_plan_finish(&d->plan);
    d->model->network.topology = NULL;
    topology_destroy(d->topology);
    desk_close(&d->desk);
    free(d->model);
}

static void of_a_tree_finer_than_pixels_the_fullest_link_at_each_is_drawn(void **state)
{
    (void)state;
    struct dense_tree d;
    dense_tree_open(&d);
    d.loads[link_of(&d, 7, 0)] = 500;
    d.loads[link_of(&d, 8, 0)] = 400;
    dense_tree_choose(&d, 1, 0);
    for (uint32_t pixel = 0; pixel < PIXELS; pixel++) {
        int drawn = 0;
        for (uint32_t v = 0; v < LEAVES; v++)
            if ((uint32_t)(d.plan.at[v].x + PIXELS / 2.0) == pixel)
                drawn += is_drawn(&d, link_of(&d, v, 0)) + is_drawn(&d, link_of(&d, v, 1));
        assert_int_equal(drawn, 2); /* one for each direction */
    }
    assert_true(is_drawn(&d, link_of(&d, 7, 0)));
    assert_false(is_drawn(&d, link_of(&d, 8, 0)));
    for (int down = 0; down < 2; down++)
        assert_true(is_drawn(&d, link_of(&d, LEFT, down)) &&
                    is_drawn(&d, link_of(&d, RIGHT, down)));
    dense_tree_close(&d);
}

static void a_selected_link_is_drawn_before_a_fuller_one(void **state)
{
    (void)state;
    struct dense_tree d;
    dense_tree_open(&d);
    d.loads[link_of(&d, 7, 0)] = 500;
    d.marks[link_of(&d, 8, 0)] = FLOW_SHOWN | FLOW_SELECTED;
    d.desk.ui.selection.kind = SELECT_LINK;
    dense_tree_choose(&d, 1, 0);
    assert_true(is_drawn(&d, link_of(&d, 8, 0)));
    assert_false(is_drawn(&d, link_of(&d, 7, 0)));
    dense_tree_close(&d);
}

static void of_a_tree_seen_closely_all_links_in_sight_are_drawn(void **state)
{
    (void)state;
    struct dense_tree d;
    dense_tree_open(&d);
    dense_tree_choose(&d, 60, d.plan.at[300].x); /* 10 pixels a node */
    for (uint32_t v = 296; v < 304; v++)
        for (int down = 0; down < 2; down++)
            assert_true(is_drawn(&d, link_of(&d, v, down)));
    /* and lines of each switch to nodes and to the root beyond both borders */
    for (uint32_t side = 0; side < 2; side++) {
        int beyond = 0;
        for (uint32_t v = side * LEAVES / 2; v < (side + 1) * LEAVES / 2; v++)
            beyond += (v < 296 || v > 304) && is_drawn(&d, link_of(&d, v, 0));
        assert_int_equal(beyond, 1);
    }
    assert_true(d.lines.drawn_count < 40);
    dense_tree_close(&d);
}

static void a_click_on_a_node_of_the_picture_selects_it(void **state)
{
    (void)state;
    struct network_bed b;
    network_bed_open(
        &b, VIEW_TORUS,
        &(struct network_job){"fattree:k=8",
                              "par-comm-data/hopbyte/MiniMD_Vesta_n128_c1_w_hopbyte.txt", 1, 4, 0});
    assert_non_null(find_text(&b.desk.scene, "level 3"));
    const struct scene_hit *plot = NULL;
    for (size_t i = 0; i < b.desk.scene.hit_count; i++)
        if (b.desk.scene.hits[i].kind == HIT_TORUS)
            plot = &b.desk.scene.hits[i];
    assert_non_null(plot);
    /* nodes are in the lowest of four rows, 128 of them to the right of the names */
    const double x = plot->box.x + plot->box.w - 14 - 2,
                 y = plot->box.y + 14 + (plot->box.h - 28) * 3.5 / 4;
    for (int i = 0; i < 4; i++) {
        const enum input_kind kinds[] = {INPUT_MOVE, INPUT_MOVE, INPUT_PRESS, INPUT_RELEASE};
        ui_input(&b.desk.ui, b.model, &b.desk.scene,
                 &(struct input){.kind = kinds[i], .x = x, .y = y, .clicks = i > 1});
        desk_layout(&b.desk, b.model);
    }
    assert_int_equal(b.desk.ui.selection.kind, SELECT_VERTEX);
    assert_int_equal(b.desk.ui.selection.a, 127);
    network_bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_of_a_cray_are_in_the_box_of_their_cabinet_and_apart),
        cmocka_unit_test(routers_of_a_dragonfly_are_in_the_box_of_their_nodes),
        cmocka_unit_test(each_level_of_a_fat_tree_is_above_the_one_below),
        cmocka_unit_test(children_of_a_tree_are_below_their_parent_and_share_its_width),
        cmocka_unit_test(a_network_has_one_name_for_each_of_its_tiers),
        cmocka_unit_test(the_picture_of_a_cray_names_its_tiers_and_the_unused_one),
        cmocka_unit_test(a_group_without_ranks_is_named_as_unused),
        cmocka_unit_test(a_tree_has_the_names_that_fit),
        cmocka_unit_test(nodes_without_space_for_their_names_share_one),
        cmocka_unit_test(of_a_tree_finer_than_pixels_the_fullest_link_at_each_is_drawn),
        cmocka_unit_test(a_selected_link_is_drawn_before_a_fuller_one),
        cmocka_unit_test(of_a_tree_seen_closely_all_links_in_sight_are_drawn),
        cmocka_unit_test(a_click_on_a_node_of_the_picture_selects_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
