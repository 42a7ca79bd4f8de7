/* View "torus" as text: what it shows of jobs on tori, and what the mouse does there. */
#include "tests/data_file.h"
#include "tests/viewer/network_bed.h"
#include "tests/viewer/torus_fixture.h"

#include "viewer/layout/lattice.h"
#include "viewer/layout/projection.h"
#include "viewer/layout/strokes.h"
#include "viewer/ui/ui_input.h"
#include "viewer/views/torus/drawing.h"

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

static void open_on(struct network_bed *s, const char *form, int windows)
{
    network_bed_open(s, VIEW_TORUS,
                     &(struct network_job){.form = form, .per_node = 1, .windows = windows});
}

static void input(struct network_bed *s, const struct input *in)
{
    ui_input(&s->desk.ui, s->model, &s->desk.scene, in);
    desk_layout(&s->desk, s->model);
}

static void click(struct network_bed *s, double x, double y)
{
    input(s, &(struct input){.kind = INPUT_MOVE, .x = x, .y = y});
    input(s, &(struct input){.kind = INPUT_PRESS, .x = x, .y = y, .clicks = 1});
    input(s, &(struct input){.kind = INPUT_RELEASE, .x = x, .y = y, .clicks = 1});
}

static void drag(struct network_bed *s, double x0, double y0, double x1, double y1, int shift,
                 int ctrl)
{
    input(s, &(struct input){.kind = INPUT_MOVE, .x = x0, .y = y0});
    input(s, &(struct input){.kind = INPUT_PRESS, .x = x0, .y = y0, .shift = shift, .ctrl = ctrl});
    input(s, &(struct input){.kind = INPUT_MOVE, .x = x1, .y = y1});
    input(s, &(struct input){.kind = INPUT_RELEASE, .x = x1, .y = y1});
}

static const struct scene_hit *find_hit(const struct scene *scene, enum hit_kind kind, uint64_t a,
                                        uint64_t b)
{
    for (size_t i = 0; i < scene->hit_count; i++)
        if (scene->hits[i].kind == kind && scene->hits[i].a == a && scene->hits[i].b == b)
            return &scene->hits[i];
    return NULL;
}

static const struct scene_hit *button(const struct scene *scene, enum ui_command command,
                                      uint64_t argument)
{
    return find_hit(scene, HIT_BUTTON, command, argument);
}

static void press_button(struct network_bed *s, enum ui_command command, uint64_t argument)
{
    const struct scene_hit *hit = button(&s->desk.scene, command, argument);
    assert_non_null(hit);
    click(s, hit->box.x + hit->box.w / 2, hit->box.y + hit->box.h / 2);
}

static int panel_of(const struct scene *scene, const char *name)
{
    for (size_t p = 0; p < scene->panel_count; p++)
        if (!strcmp(scene->panels[p].name, name))
            return (int)p;
    return -1;
}

/* Items of a kind in a panel; colour 0: any. */
static size_t items_in(const struct scene *scene, const char *panel, enum scene_kind kind)
{
    size_t n = 0;
    int p = panel_of(scene, panel);
    for (size_t i = 0; i < scene->item_count; i++)
        n += scene->items[i].panel == p && scene->items[i].kind == kind;
    return n;
}

static struct point middle_of(const struct scene_hit *hit)
{
    return (struct point){hit->box.x + hit->box.w / 2, hit->box.y + hit->box.h / 2};
}

/* ---- what is shown -----------------------------------------------------------------------------
 */

static void rings_and_grid_show_every_node_and_the_right_links(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    desk_check(&s.desk, "torus");
    /* 64 links along the view and half of 64 of each of the others, two halves each */
    assert_int_equal(items_in(&s.desk.scene, "torus.rings0.plot", SCENE_LINE), 2 * (64 + 32 + 32));
    assert_int_equal(items_in(&s.desk.scene, "torus.rings0.plot", SCENE_DISC), 64);
    assert_int_equal(items_in(&s.desk.scene, "torus.space.plot", SCENE_LINE), 2 * 3 * 64);
    assert_int_equal(items_in(&s.desk.scene, "torus.space.plot", SCENE_DISC), 64);
    press_button(&s, COMMAND_TORUS_LINKS, 1); /* one direction less: all of the other */
    assert_int_equal(items_in(&s.desk.scene, "torus.rings0.plot", SCENE_LINE), 2 * (64 + 64));
    assert_int_equal(items_in(&s.desk.scene, "torus.space.plot", SCENE_LINE), 2 * 2 * 64);
    network_bed_close(&s);
}

static void a_long_grid_is_whole_in_its_panel(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:8,4,4", 4);
    const struct scene *scene = &s.desk.scene;
    const int panel = panel_of(scene, "torus.space.plot");
    const struct box plot = scene->panels[panel].box;
    uint32_t nodes = 0;
    for (size_t i = 0; i < scene->item_count; i++) {
        const struct scene_item *item = &scene->items[i];
        if (item->panel != panel || item->kind != SCENE_DISC)
            continue;
        assert_true(item->box.x >= plot.x && item->box.x + item->box.w <= plot.x + plot.w);
        nodes++;
    }
    assert_int_equal(nodes, 128);
    network_bed_close(&s);
}

static void minimaps_have_one_edge_a_bundle_and_switch_the_view(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    /* 16 diagonals and as many links on the rings, on each of three minimaps, and the three axes */
    assert_int_equal(items_in(&s.desk.scene, "torus.controls", SCENE_LINE), 3 * (16 + 16) + 3);
    assert_int_equal(s.desk.ui.torus.view, 2);
    press_button(&s, COMMAND_TORUS_VIEW, 0);
    assert_int_equal(s.desk.ui.torus.view, 0);
    network_bed_close(&s);
}

static void every_shape_fits_its_window(void **state)
{
    (void)state;
    static const char *const shapes[] = {"torus:8,8,16",     "torus:5,3,7",      "mesh:6,4",
                                         "torus:9",          "torus:4,4,4,16,2", "hypercube:6",
                                         "torus:2,2,2,2,2,2"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct network_bed s;
        open_on(&s, shapes[i], 2);
        desk_check(&s.desk, shapes[i]);
        assert_true(panel_of(&s.desk.scene, "torus.rings0.plot") >= 0);
        s.desk.ui.w = 1024;
        s.desk.ui.h = 640;
        ui_command(&s.desk.ui, s.model, COMMAND_TORUS_PIN, 0);
        desk_layout(&s.desk, s.model);
        desk_check(&s.desk, shapes[i]);
        ui_command(&s.desk.ui, s.model, COMMAND_TORUS_GRID, 0);
        desk_layout(&s.desk, s.model);
        desk_check(&s.desk, shapes[i]);
        network_bed_close(&s);
    }
}

/* Of links that coincide the largest is shown, so the colours end at the fullest link; the mean and
 * the sum on request. */
static void links_that_coincide_are_not_summed_unless_asked(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4,4,2", 3);
    const double largest = (double)s.desk.ui.torus.panels[0].largest;
    const double top = s.desk.pictures.torus->top;
    assert_true(top >= largest && top <= 1.1 * largest);
    assert_non_null(find_text(&s.desk.scene, "largest of 16 links"));
    press_button(&s, COMMAND_TORUS_FOLD, TORUS_MEAN);
    assert_true(s.desk.pictures.torus->top <= top);
    assert_non_null(find_text(&s.desk.scene, "mean of 16 links"));
    input(&s, &(struct input){.kind = INPUT_KEY, .key = 'E'});
    assert_true(s.desk.pictures.torus->top > 1.5 * top);
    assert_non_null(find_text(&s.desk.scene, "sum of 16 links (E)"));
    network_bed_close(&s);
}

static int is_seen(const struct network_bed *s, uint32_t dimension)
{
    uint32_t shown[3];
    int count = torus_shown(&s->desk.ui.torus, s->model->network.topology, shown), seen = 0;
    for (int i = 0; i < count; i++)
        seen |= shown[i] == dimension;
    return seen;
}

/* All ranks send along the short last dimension. */
/* Small multiples: one panel for each coordinate of a hidden dimension, which together are the
 * present. */
static void a_hidden_dimension_is_shown_slice_by_slice(void **state)
{
    struct network_bed s;
    (void)state;
    open_on(&s, "torus:4,4,4,3,2", 3);
    struct torus_choice *t = &s.desk.ui.torus;
    const struct topology *topology = s.model->network.topology;
    const uint32_t hidden = torus_sliced_dimension(t, topology);
    assert_true(hidden < 5);
    const int size = (int)topology_spec(topology)->dimensions[hidden].size;
    char title[32];
    snprintf(title, sizeof title, "%s = 2", topology_spec(topology)->dimensions[hidden].name);
    ui_command(&s.desk.ui, s.model, COMMAND_TORUS_SLICES, 0);
    desk_layout(&s.desk, s.model);
    assert_int_equal(t->panel_count, 1 + size);
    assert_true(size > 2 && t->grid);
    assert_non_null(find_text(&s.desk.scene, title));
    for (uint32_t link = 0; link < t->panels[0].link_count; link++) {
        uint64_t sum = 0;
        for (int p = 1; p <= size; p++)
            sum += t->panels[p].loads[link];
        assert_int_equal(sum, t->panels[0].loads[link]);
    }
    synthetic_network_window(&s.net, desk_apply, s.model); /* they follow the present */
    desk_layout(&s.desk, s.model);
    double total = 0;
    for (int p = 1; p <= size; p++)
        total += t->panels[p].total;
    assert_float_equal(total, t->panels[0].total, 0.5);
    ui_command(&s.desk.ui, s.model, COMMAND_TORUS_SLICES, 0);
    assert_int_equal(t->panel_count, 1);
    desk_check(&s.desk, "slices");
    network_bed_close(&s);
}

static void no_slices_are_offered_where_nothing_is_hidden(void **state)
{
    struct network_bed s;
    (void)state;
    open_on(&s, "torus:4,4,4", 2);
    assert_int_equal(torus_sliced_dimension(&s.desk.ui.torus, s.model->network.topology),
                     PROJECTION_NONE);
    ui_command(&s.desk.ui, s.model, COMMAND_TORUS_SLICES, 0);
    assert_int_equal(s.desk.ui.torus.panel_count, 1);
    network_bed_close(&s);
}

static void the_dimension_of_the_fullest_link_is_seen(void **state)
{
    (void)state;
    static char text[512 * 40];
    struct network_bed s;
    size_t used = 0;
    for (int rank = 0; rank < 512; rank++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d %d 1000000\n%d %d 1000\n",
                                 rank, rank ^ 1, rank, (rank + 128) % 512);
    s.model = torus_job("torus:4,4,4,4,2", 1, text, 3, &s.net);
    desk_open(&s.desk, 1600, 900, 1, THEME_DARK, VIEW_TORUS);
    desk_layout(&s.desk, s.model);
    assert_true(is_seen(&s, 4));
    network_bed_close(&s);
}

/* 4 x 4 x 16: along the last one 4 x 4 are seen, a square; of 16 x 4 x 4 along the first. */
static void the_first_direction_fills_the_panel(void **state)
{
    (void)state;
    const struct {
        const char *form;
        int view;
    } cases[] = {{"torus:4,4,16", 2}, {"torus:16,4,4", 0}, {"torus:4,16,4", 1}, {"torus:4,4,4", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct network_bed s;
        open_on(&s, cases[i].form, 2);
        assert_int_equal(s.desk.ui.torus.view, cases[i].view);
        press_button(&s, COMMAND_TORUS_VIEW, (uint64_t)(cases[i].view + 1) % 3);
        assert_int_equal(s.desk.ui.torus.view, (cases[i].view + 1) % 3);
        network_bed_close(&s);
    }
}

static void colours_of_nodes_have_a_legend(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 2);
    assert_non_null(find_text(&s.desk.scene, "nodes: lowest rank"));
    press_button(&s, COMMAND_TORUS_PAINT, TORUS_DEGREE);
    assert_non_null(find_text(&s.desk.scene, "nodes: sent, received"));
    s.model->network.name[0] = '\0';
    desk_layout(&s.desk, s.model);
    assert_non_null(find_text(&s.desk.scene, "4 x 4 x 4, "));
    network_bed_close(&s);
}

static void other_networks_are_drawn_by_their_tiers(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "fattree:4,4/1,2", 2);
    assert_non_null(find_text(&s.desk.scene, "Fat tree"));
    network_bed_close(&s);
}

static void measured_packets_of_blue_gene_are_the_loads(void **state)
{
    (void)state;
    uint64_t sums[16];
    int regions;
    char *text = data_file("bgp-counters/bgpc_links.yaml", &(size_t){0});
    struct network_bed s;
    s.model = torus_counters(text, &regions, sums);
    free(text);
    assert_int_equal(regions, 10);
    desk_open(&s.desk, 1600, 900, 1, THEME_DARK, VIEW_TORUS);
    for (int k = 0; k < regions; k++) {
        int64_t begin = (int64_t)((SYNTHETIC_FIRST + (uint64_t)k) * SYNTHETIC_SECOND);
        ui_show_span(&s.desk.ui, s.model, begin, begin + (int64_t)SYNTHETIC_SECOND);
        desk_layout(&s.desk, s.model);
        const struct torus_panel *now = &s.desk.ui.torus.panels[0];
        assert_int_equal(now->figure, TORUS_MEASURED);
        assert_true(now->packets && now->total == (double)sums[k]);
    }
    assert_non_null(find_text(&s.desk.scene, "packets measured"));
    desk_close(&s.desk);
    model_destroy(s.model);
}

/* ---- colours -----------------------------------------------------------------------------------
 */

static void links_below_the_range_are_not_drawn(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    size_t all = items_in(&s.desk.scene, "torus.rings0.plot", SCENE_LINE);
    const struct scene_hit *scale = find_hit(&s.desk.scene, HIT_SCALE, 0, 0);
    assert_non_null(scale);
    struct box box = scale->box;
    double y = box.y + box.h / 2;
    drag(&s, box.x + 4, y, box.x + box.w * 0.6, y, 0, 0);
    assert_true(s.desk.ui.torus.low > 0.4 && s.desk.ui.torus.high == 1);
    size_t some = items_in(&s.desk.scene, "torus.rings0.plot", SCENE_LINE);
    assert_true(some < all);
    /* minimaps follow the same range */
    assert_true(items_in(&s.desk.scene, "torus.controls", SCENE_LINE) < 3 * 32 + 3);
    drag(&s, box.x + box.w - 4, y, box.x + box.w * 0.8, y, 0, 0);
    assert_true(s.desk.ui.torus.high < 0.9);
    /* lowering the maximum hides nothing */
    assert_int_equal(items_in(&s.desk.scene, "torus.rings0.plot", SCENE_LINE), some);
    network_bed_close(&s);
}

/* ---- selection ---------------------------------------------------------------------------------
 */

static void a_node_that_is_selected_is_so_in_both_pictures(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    const struct scene_hit *hit = NULL;
    for (size_t i = 0; i < s.desk.scene.hit_count && !hit; i++)
        if (s.desk.scene.hits[i].kind == HIT_VERTEX && s.desk.scene.hits[i].a == 21)
            hit = &s.desk.scene.hits[i];
    assert_non_null(hit);
    click(&s, middle_of(hit).x, middle_of(hit).y);
    assert_int_equal(s.desk.ui.selection.kind, SELECT_VERTEX);
    assert_int_equal(s.desk.ui.selection.a, 21);
    /* its links stay, all else steps back: in space unused faint ones go */
    assert_true(items_in(&s.desk.scene, "torus.space.plot", SCENE_DISC) == 64);
    input(&s, &(struct input){.kind = INPUT_KEY, .key = KEY_ESCAPE});
    assert_int_equal(s.desk.ui.selection.kind, SELECT_NONE);
    network_bed_close(&s);
}

static void a_link_under_the_mouse_is_described_and_selected(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    const struct topology *t = s.model->network.topology;
    struct projection p;
    assert_int_equal(torus_projection(&s.desk.ui.torus, t, 2, &p), 0);
    const struct scene_hit *ground = find_hit(&s.desk.scene, HIT_TORUS, 0, 0);
    struct scene_hit area = *ground;
    int found = 0;
    for (uint32_t link = 0; link < topology_links(t) && !found; link++) {
        uint32_t half = projection_half(&p, t, link);
        struct projection_line l[2];
        if (half == PROJECTION_NONE || !projection_shows(&p, 7, half / 2) ||
            half / 2 % 3 != PROJECTION_ACROSS)
            continue;
        projection_lines(&p, half / 2, l);
        double x = l[half % 2].x0 * 0.4 + l[half % 2].x1 * 0.6, y = l[half % 2].y0;
        x = area.box.x + (x - area.x0) / (area.x1 - area.x0) * area.box.w;
        y = area.box.y + (y - area.y0) / (area.y1 - area.y0) * area.box.h;
        click(&s, x, y);
        assert_int_equal(s.desk.ui.selection.kind, SELECT_LINK);
        assert_int_equal(s.desk.ui.selection.a, link);
        found = 1;
    }
    assert_true(found);
    network_bed_close(&s);
}

static void a_band_selects_a_plane_of_ranks(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    const struct scene_hit *band = find_hit(&s.desk.scene, HIT_PLANE, 1, 2);
    assert_non_null(band);
    click(&s, middle_of(band).x, middle_of(band).y);
    assert_int_equal(s.desk.ui.selection.kind, SELECT_PLANE);
    uint32_t ranks = 0, at[TOPOLOGY_DIMENSIONS];
    for (uint32_t rank = 0; rank < 64; rank++) {
        topology_coordinates(s.model->network.topology, s.model->network.seats[rank], at);
        assert_int_equal(ui_marks_rank(&s.desk.ui, s.model, rank), at[1] == 2);
        ranks += at[1] == 2;
    }
    assert_int_equal(ranks, 16);
    network_bed_close(&s);
}

static void a_box_picks_the_nodes_inside_it(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    struct box plot = find_hit(&s.desk.scene, HIT_TORUS, 0, 0)->box;
    drag(&s, plot.x + 1, plot.y + 1, plot.x + plot.w / 2, plot.y + plot.h - 1, 1, 0);
    /* the left half of the rings: half of all nodes */
    assert_true(s.desk.ui.network.filter.picked && s.desk.ui.network.filter.kind == FLOW_VERTICES);
    assert_int_equal(s.desk.ui.network.filter.set.count, 32);
    drag(&s, plot.x + 1, plot.y + 1, plot.x + plot.w / 2, plot.y + plot.h - 1, 1, 1);
    assert_true(s.desk.ui.network.filter.kind == FLOW_LINKS &&
                s.desk.ui.network.filter.set.count > 32);
    network_bed_close(&s);
}

static void drags_pan_the_rings_and_turn_the_grid(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    struct box rings = find_hit(&s.desk.scene, HIT_TORUS, 0, 0)->box,
               space = find_hit(&s.desk.scene, HIT_TORUS, 1, 0)->box;
    double yaw = s.desk.ui.torus.space.yaw;
    drag(&s, rings.x + 4, rings.y + 4, rings.x + 54, rings.y + 4, 0, 0);
    assert_true(s.desk.ui.torus.plane.x < 0 && s.desk.ui.torus.plane.y == 0 &&
                s.desk.ui.torus.space.yaw == yaw);
    drag(&s, space.x + 4, space.y + 4, space.x + 54, space.y + 4, 0, 0);
    assert_true(s.desk.ui.torus.space.yaw != yaw && s.desk.ui.torus.space.x == 0);
    drag(&s, space.x + 4, space.y + 4, space.x + 54, space.y + 4, 0, 1);
    assert_true(s.desk.ui.torus.space.x < 0);
    input(&s, &(struct input){.kind = INPUT_WHEEL, .x = rings.x + 4, .y = rings.y + 4, .wheel = 2});
    assert_true(s.desk.ui.torus.plane.zoom > 1 && s.desk.ui.torus.space.zoom == 1);
    network_bed_close(&s);
}

/* ---- panels ------------------------------------------------------------------------------------
 */

static void a_pin_stays_while_time_goes_on(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    press_button(&s, COMMAND_TORUS_PIN, 0);
    assert_int_equal(s.desk.ui.torus.panel_count, 2);
    double pinned = s.desk.ui.torus.panels[1].total;
    int64_t begin = (int64_t)(SYNTHETIC_FIRST * SYNTHETIC_SECOND);
    ui_show_span(&s.desk.ui, s.model, begin, begin + (int64_t)SYNTHETIC_SECOND);
    desk_layout(&s.desk, s.model);
    assert_true(s.desk.ui.torus.panels[1].total == pinned);
    assert_true(s.desk.ui.torus.panels[0].total < pinned);
    desk_check(&s.desk, "pinned");
    press_button(&s, COMMAND_TORUS_GRID, 0);
    assert_true(panel_of(&s.desk.scene, "torus.rings0.plot") >= 0 &&
                panel_of(&s.desk.scene, "torus.rings1.plot") >= 0);
    desk_check(&s.desk, "side by side");
    press_button(&s, COMMAND_TORUS_UNPIN, 1);
    assert_int_equal(s.desk.ui.torus.panel_count, 1);
    network_bed_close(&s);
}

static void a_mapping_has_the_loads_of_the_same_messages(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    uint32_t *same = malloc(64 * sizeof *same), *one = malloc(64 * sizeof *one);
    memcpy(same, s.model->network.seats, 64 * sizeof *same);
    memset(one, 0, 64 * sizeof *one);
    assert_int_equal(torus_add_mapping(&s.desk.ui.torus, "same", same, 64), 0);
    assert_int_equal(torus_add_mapping(&s.desk.ui.torus, "one node", one, 64), 0);
    desk_layout(&s.desk, s.model);
    const struct torus_panel *p = s.desk.ui.torus.panels;
    assert_true(p[0].largest > 0);
    assert_memory_equal(p[1].loads, p[0].loads, p[0].link_count * sizeof *p->loads);
    assert_int_equal(p[2].largest, 0);
    synthetic_network_finish(&s.net);
    model_destroy(s.model);
    desk_close(&s.desk);
}

/* ---- restriction and time ----------------------------------------------------------------------
 */

static void loads_can_be_of_one_communicator(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 4);
    assert_true(s.model->contexts.keys.count > 0 && s.model->comm_count > 1);
    ui_command(&s.desk.ui, s.model, COMMAND_RANGE, RANGE_START);
    desk_layout(&s.desk, s.model);
    double all = s.desk.ui.torus.panels[0].total, parts = 0;
    for (uint32_t c = 0; c < s.model->comm_count; c++) {
        ui_command(&s.desk.ui, s.model, COMMAND_TORUS_COMM, c + 1);
        desk_layout(&s.desk, s.model);
        parts += s.desk.ui.torus.panels[0].total;
    }
    assert_true(all > 0 && parts == all);
    ui_command(&s.desk.ui, s.model, COMMAND_TORUS_COMM, 0);
    parts = 0;
    for (uint32_t r = 0; r < s.model->region_count; r++) {
        ui_command(&s.desk.ui, s.model, COMMAND_TORUS_REGION, r + 1);
        desk_layout(&s.desk, s.model);
        parts += s.desk.ui.torus.panels[0].total;
    }
    assert_true(parts == all);
    ui_command(&s.desk.ui, s.model, COMMAND_TORUS_MENU, 0);
    desk_layout(&s.desk, s.model);
    desk_check(&s.desk, "menu");
    network_bed_close(&s);
}

static void time_plays_window_by_window(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,4,4", 6);
    press_button(&s, COMMAND_TORUS_PLAY, TORUS_WINDOWS);
    assert_true(s.desk.ui.torus.playing);
    uint64_t first, last, before = SYNTHETIC_FIRST;
    for (uint64_t ms = 1000; s.desk.ui.torus.playing && ms < 100000; ms += 500) {
        assert_true(ui_windows(&s.desk.ui, s.model, &first, &last));
        assert_true(first == last && (first == before || first == before + 1));
        before = first;
        torus_play(&s.desk.ui, s.model, ms);
    }
    assert_int_equal(before, SYNTHETIC_FIRST + 5);
    assert_false(s.desk.ui.torus.playing);
    /* and region by region */
    ui_command(&s.desk.ui, s.model, COMMAND_TORUS_PLAY, TORUS_REGIONS);
    uint32_t seen = s.desk.ui.torus.region;
    for (uint64_t ms = 1000; s.desk.ui.torus.playing && ms < 100000; ms += 2000) {
        assert_true(s.desk.ui.torus.region == seen || s.desk.ui.torus.region == seen + 1);
        seen = s.desk.ui.torus.region;
        torus_play(&s.desk.ui, s.model, ms);
    }
    assert_int_equal(seen, s.model->region_count);
    assert_int_equal(s.desk.ui.torus.region, 0);
    network_bed_close(&s);
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

static void a_grid_in_space_keeps_its_distances_when_turned(void **state)
{
    (void)state;
    struct network_bed s;
    open_on(&s, "torus:4,3,5", 1);
    struct projection p;
    struct lattice l;
    assert_int_equal(torus_projection(&s.desk.ui.torus, s.model->network.topology, 2, &p), 0);
    for (double yaw = -3; yaw < 3; yaw += 0.7)
        for (double pitch = -1.5; pitch <= 1.5; pitch += 0.5) {
            lattice_set_view(&l, &p, yaw, pitch);
            for (uint32_t place = 0; place < p.places; place++) {
                double x, y, away;
                lattice_point(&l, place, &x, &y, &away);
                assert_true(fabs(away) <= 1 && hypot(x, y) < 1.3);
            }
            for (uint32_t wire = 0; wire < p.places * 3; wire++) {
                uint32_t ends[2];
                struct lattice_line line[2];
                if (!projection_wire(&p, wire, &ends[0], &ends[1]))
                    continue;
                lattice_lines(&l, wire, line);
                for (int half = 0; half < 2; half++) {
                    double x, y, away;
                    lattice_point(&l, ends[half], &x, &y, &away);
                    assert_true(line[half].line.x0 == x && line[half].line.y0 == y);
                }
            }
        }
    network_bed_close(&s);
}

static void many_strokes_become_one_picture(void **state)
{
    (void)state;
    struct strokes strokes = {0};
    struct scene scene = {0};
    struct box box = {10, 10, 100, 80};
    scene_begin(&scene, 200, 200, 1, (struct text_measure){0});
    scene_panel(&scene, box, 0, "x");
    for (uint32_t i = 0; i <= STROKES_ITEMS; i++)
        strokes_add(&strokes, &(struct stroke){12, 12 + (float)(i % 70), 90, 12 + (float)(i % 70),
                                               1, (float)i, 0xff0000ff});
    strokes_add(&strokes, &(struct stroke){-1e6f, 5, 1e6f, 60, 3, -5, 0x00ff00ff});
    strokes_sort(&strokes);
    assert_true(strokes.all[strokes.count - 1].color == 0x00ff00ff); /* the nearest is drawn last */
    strokes_draw(&strokes, &scene, box, 0x000000ff);
    assert_int_equal(scene.item_count, 1);
    assert_int_equal(scene.items[0].kind, SCENE_IMAGE);
    assert_true((strokes.image.pixels[10 * strokes.image.w + 40] >> 16 & 0xff) > 0xf0);
    assert_int_equal(strokes.image.pixels[0], 0xff000000);
    uint64_t version = strokes.image.version;
    strokes_draw(&strokes, &scene, box, 0x000000ff);
    assert_int_equal(strokes.image.version, version); /* the same strokes: the same picture */
    strokes_finish(&strokes);
    scene_finish(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_and_grid_show_every_node_and_the_right_links),
        cmocka_unit_test(a_long_grid_is_whole_in_its_panel),
        cmocka_unit_test(minimaps_have_one_edge_a_bundle_and_switch_the_view),
        cmocka_unit_test(every_shape_fits_its_window),
        cmocka_unit_test(links_that_coincide_are_not_summed_unless_asked),
        cmocka_unit_test(a_hidden_dimension_is_shown_slice_by_slice),
        cmocka_unit_test(no_slices_are_offered_where_nothing_is_hidden),
        cmocka_unit_test(the_dimension_of_the_fullest_link_is_seen),
        cmocka_unit_test(the_first_direction_fills_the_panel),
        cmocka_unit_test(colours_of_nodes_have_a_legend),
        cmocka_unit_test(other_networks_are_drawn_by_their_tiers),
        cmocka_unit_test(measured_packets_of_blue_gene_are_the_loads),
        cmocka_unit_test(links_below_the_range_are_not_drawn),
        cmocka_unit_test(a_node_that_is_selected_is_so_in_both_pictures),
        cmocka_unit_test(a_link_under_the_mouse_is_described_and_selected),
        cmocka_unit_test(a_band_selects_a_plane_of_ranks),
        cmocka_unit_test(a_box_picks_the_nodes_inside_it),
        cmocka_unit_test(drags_pan_the_rings_and_turn_the_grid),
        cmocka_unit_test(a_pin_stays_while_time_goes_on),
        cmocka_unit_test(a_mapping_has_the_loads_of_the_same_messages),
        cmocka_unit_test(loads_can_be_of_one_communicator),
        cmocka_unit_test(time_plays_window_by_window),
        cmocka_unit_test(a_grid_in_space_keeps_its_distances_when_turned),
        cmocka_unit_test(many_strokes_become_one_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
