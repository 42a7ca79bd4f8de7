/* The concentric projection of a torus: what Landge et al., section 4.1, says of it, for cubes and
 * for other shapes. */
#include "viewer/layout/projection.h"

#include "holter/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const unsigned depth = 1u << PROJECTION_DEPTH, across = 1u << PROJECTION_ACROSS,
                      upright = 1u << PROJECTION_UPRIGHT;
static const uint32_t first_three[3] = {0, 1, 2};

static struct topology *network_of(const char *text)
{
    struct topology_spec spec = {0};
    struct topology *t = NULL;
    char why[200] = "";
    if (topology_short(&spec, text, why, sizeof why) < 0 ||
        topology_create(&t, &spec, why, sizeof why) < 0)
        fail_msg("%s: %s", text, why);
    topology_spec_finish(&spec);
    return t;
}

static struct projection project(const struct topology *t, const uint32_t shown[3], int view)
{
    struct projection p;
    assert_int_equal(projection_init(&p, t, shown, view, NULL), 0);
    return p;
}

/* Wires of an axis that are drawn. */
static uint32_t count(const struct projection *p, unsigned axes, unsigned axis)
{
    uint32_t n = 0;
    for (uint32_t wire = 0; wire < p->places * PROJECTION_AXES; wire++)
        n += wire % PROJECTION_AXES == axis && projection_shows(p, axes, wire);
    return n;
}

static double nearest(const struct projection *p)
{
    double least = INFINITY, x, y, x2, y2;
    for (uint32_t a = 0; a < p->places; a++) {
        projection_point(p, a, &x, &y);
        for (uint32_t b = 0; b < a; b++) {
            projection_point(p, b, &x2, &y2);
            least = fmin(least, hypot(x - x2, y - y2));
        }
    }
    return least;
}

static void check_lines(const struct projection *p, unsigned axes)
{
    for (uint32_t wire = 0; wire < p->places * PROJECTION_AXES; wire++) {
        struct projection_line l[2];
        uint32_t from, to, a[3], b[3], axis = wire % PROJECTION_AXES;
        double x, y, w, h;
        if (!projection_shows(p, axes, wire))
            continue;
        assert_true(projection_wire(p, wire, &from, &to));
        projection_coordinates(p, from, a);
        projection_coordinates(p, to, b);
        projection_lines(p, wire, l);
        projection_point(p, from, &x, &y);
        assert_true(l[0].x0 == x && l[0].y0 == y);
        projection_point(p, to, &x, &y);
        assert_true(l[1].x0 == x && l[1].y0 == y);
        int wrap = a[axis] + 1 == p->axes[axis].size;
        if (!wrap) /* the halves meet, so the nodes are connected */
            assert_true(l[0].x1 == l[1].x1 && l[0].y1 == l[1].y1);
        for (int half = 0; half < 2; half++) {
            double dx = l[half].x1 - l[half].x0, dy = l[half].y1 - l[half].y0;
            assert_true(hypot(dx, dy) > 0);
            if (axis == PROJECTION_ACROSS)
                assert_true(dy == 0);
            if (axis == PROJECTION_UPRIGHT)
                assert_true(dx == 0);
            if (axis == PROJECTION_DEPTH)
                assert_true(fabs(fabs(dx) - fabs(dy)) < 1e-9);
            projection_extent(p, &w, &h);
            assert_true(fabs(l[half].x1) <= w + 1e-9 && fabs(l[half].y1) <= h + 1e-9);
        }
    }
}

/* ---- cubes -------------------------------------------------------------------------------------
 */

/* Fig. 4: 4 x 4 x 4 gives two concentric sets of four rings. */
static void four_cubed_is_two_sets_of_four_rings(void **state)
{
    (void)state;
    struct topology *t = network_of("torus:4,4,4");
    struct projection p = project(t, first_three, 0);
    double radii[16];
    uint32_t rings = 0;
    for (uint32_t place = 0; place < p.places; place++) {
        double x, y;
        projection_point(&p, place, &x, &y);
        double radius = fmax(fabs(x), fabs(y));
        uint32_t i = 0;
        while (i < rings && fabs(radii[i] - radius) > 1e-9)
            i++;
        assert_true(i < 16);
        radii[i] = radius;
        rings += i == rings;
    }
    assert_int_equal(rings, 8);
    int inner = 0;
    for (uint32_t i = 0; i < rings; i++)
        inner += radii[i] < 1;
    assert_int_equal(inner, 4);
    topology_destroy(t);
}

static void no_ring_of_a_cube_crosses_another(void **state)
{
    (void)state;
    struct topology *t = network_of("torus:8,8,8");
    struct projection p = project(t, first_three, 1);
    for (uint32_t wire = 0; wire < p.places * PROJECTION_AXES; wire++) {
        struct projection_line l[2];
        if (wire % PROJECTION_AXES == PROJECTION_DEPTH ||
            !projection_shows(&p, depth | across | upright, wire))
            continue;
        projection_lines(&p, wire, l);
        /* both ends are equally far out, by the norm whose circles are squares */
        assert_true(fabs(fmax(fabs(l[0].x0), fabs(l[0].y0)) - fmax(fabs(l[1].x0), fabs(l[1].y0))) <
                    1e-9);
    }
    topology_destroy(t);
}

static void half_of_each_direction_then_all_of_one(void **state)
{
    (void)state;
    static const char *const shapes[] = {"torus:2,2,2", "torus:4,4,4", "torus:8,8,8",
                                         "torus:16,16,16"};
    static const uint32_t sizes[] = {2, 4, 8, 16};
    for (int i = 0; i < 4; i++) {
        struct topology *t = network_of(shapes[i]);
        uint32_t n = sizes[i], all = n > 2 ? n * n * n : n * n * (n - 1);
        for (int view = 0; view < 3; view++) {
            struct projection p = project(t, first_three, view);
            unsigned each = depth | across | upright;
            assert_int_equal(count(&p, each, PROJECTION_DEPTH), all);
            assert_int_equal(count(&p, each, PROJECTION_ACROSS), n * n * n / 2);
            assert_int_equal(count(&p, each, PROJECTION_UPRIGHT), n * n * n / 2);
            assert_int_equal(count(&p, depth | across, PROJECTION_ACROSS), all);
            assert_int_equal(count(&p, across, PROJECTION_ACROSS), all);
            assert_int_equal(count(&p, upright, PROJECTION_UPRIGHT), all);
            assert_int_equal(count(&p, across, PROJECTION_UPRIGHT), 0);
        }
        topology_destroy(t);
    }
}

/* ---- any shape ---------------------------------------------------------------------------------
 */

static void nodes_of_any_shape_keep_apart_and_links_connect_them(void **state)
{
    (void)state;
    static const char *const shapes[] = {"torus:8,8,16", "torus:16,4,2", "torus:5,3,7",
                                         "torus:1,6,3",  "mesh:3,4,5",   "torus:9,1,1",
                                         "torus:2,3,2",  "torus:4,4m,5"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct topology *t = network_of(shapes[i]);
        for (int view = 0; view < 3; view++) {
            struct projection p = project(t, first_three, view);
            assert_int_equal(p.places, topology_nodes(t));
            double stack = p.axes[PROJECTION_DEPTH].size;
            assert_true(nearest(&p) >
                        fmin(PROJECTION_SPREAD / stack, 1 - PROJECTION_SPREAD) * 0.99);
            check_lines(&p, depth | across | upright);
            check_lines(&p, across);
            check_lines(&p, upright | depth);
        }
        topology_destroy(t);
    }
}

static void rings_of_even_sizes_have_as_many_links_as_nodes(void **state)
{
    (void)state;
    struct topology *t = network_of("torus:8,8,16");
    for (int view = 0; view < 3; view++) {
        struct projection p = project(t, first_three, view);
        unsigned both = across | upright;
        assert_int_equal(count(&p, both, PROJECTION_ACROSS) + count(&p, both, PROJECTION_UPRIGHT),
                         p.places);
    }
    topology_destroy(t);
}

static void a_mesh_has_no_open_ends(void **state)
{
    (void)state;
    struct topology *t = network_of("mesh:4,5,6");
    struct projection p = project(t, first_three, 0);
    assert_int_equal(count(&p, across, PROJECTION_ACROSS), 4 * 4 * 6);
    assert_int_equal(count(&p, upright, PROJECTION_UPRIGHT), 4 * 5 * 5);
    assert_int_equal(count(&p, depth, PROJECTION_DEPTH), 3 * 5 * 6);
    topology_destroy(t);
}

static void links_of_a_cube_are_about_as_long(void **state)
{
    (void)state;
    struct topology *t = network_of("torus:8,8,8");
    struct projection p = project(t, first_three, 0);
    double least = INFINITY, most = 0;
    for (uint32_t wire = 0; wire < p.places * PROJECTION_AXES; wire++) {
        struct projection_line l[2];
        if (wire % PROJECTION_AXES == PROJECTION_DEPTH ||
            !projection_shows(&p, across | upright, wire))
            continue;
        projection_lines(&p, wire, l);
        double length = hypot(l[1].x0 - l[0].x0, l[1].y0 - l[0].y0);
        least = fmin(least, length);
        most = fmax(most, length);
    }
    assert_true(least > 0.4 && most < 1.6);
    topology_destroy(t);
}

/* ---- links of the network ----------------------------------------------------------------------
 */

static void every_link_of_three_dimensions_has_a_half_of_its_own(void **state)
{
    (void)state;
    static const char *const shapes[] = {"torus:4,5,6", "torus:2,2,2", "mesh:3,2,4", "torus:3,3,3"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct topology *t = network_of(shapes[i]);
        struct projection p = project(t, first_three, 2);
        uint8_t *taken = calloc(projection_halves(&p), 1);
        for (uint32_t link = 0; link < topology_links(t); link++) {
            uint32_t from, to, a, b, half = projection_half(&p, t, link);
            if (!topology_link(t, link, &from, &to)) {
                assert_int_equal(half, PROJECTION_NONE);
                continue;
            }
            assert_true(half < projection_halves(&p) && !taken[half]);
            taken[half] = 1;
            assert_true(projection_wire(&p, half / 2, &a, &b));
            assert_int_equal(projection_place(&p, t, from), half % 2 ? b : a);
            assert_int_equal(projection_place(&p, t, to), half % 2 ? a : b);
        }
        for (uint32_t wire = 0; wire < p.places * PROJECTION_AXES; wire++) {
            uint32_t a, b;
            int there = projection_wire(&p, wire, &a, &b);
            assert_int_equal(taken[wire * 2], there);
            assert_int_equal(taken[wire * 2 + 1], there);
        }
        free(taken);
        topology_destroy(t);
    }
}

static void five_dimensions_are_summed_or_sliced(void **state)
{
    (void)state;
    static const uint32_t shown[3] = {3, 0, 2};
    struct topology *t = network_of("torus:4,4,4,16,2");
    struct projection p = project(t, shown, 0);
    uint32_t slice[TOPOLOGY_DIMENSIONS] = {9, 1, 9, 9, 0}, held = 0, links = 0;
    assert_int_equal(p.places, 4 * 4 * 16);
    for (uint32_t node = 0; node < topology_nodes(t); node++)
        held += projection_place(&p, t, node) != PROJECTION_NONE;
    assert_int_equal(held, 2048);
    for (uint32_t link = 0; link < topology_links(t); link++)
        links += projection_half(&p, t, link) != PROJECTION_NONE;
    assert_int_equal(links, 2048 * 6);
    /* coordinates of dimensions that are seen count for nothing */
    assert_int_equal(projection_init(&p, t, shown, 0, slice), 0);
    held = links = 0;
    for (uint32_t node = 0; node < topology_nodes(t); node++)
        held += projection_place(&p, t, node) != PROJECTION_NONE;
    assert_int_equal(held, 4 * 4 * 16);
    for (uint32_t link = 0; link < topology_links(t); link++)
        links += projection_half(&p, t, link) != PROJECTION_NONE;
    assert_int_equal(links, 4 * 4 * 16 * 6);
    topology_destroy(t);
}

static void two_dimensions_and_one_are_seen_too(void **state)
{
    (void)state;
    static const uint32_t two[3] = {0, 1, PROJECTION_NONE},
                          one[3] = {0, PROJECTION_NONE, PROJECTION_NONE};
    struct topology *t = network_of("torus:6,4");
    for (int view = 0; view < 3; view++) {
        struct projection p = project(t, two, view);
        assert_int_equal(p.places, 24);
        assert_true(nearest(&p) > 0.05);
        check_lines(&p, depth | across | upright);
    }
    topology_destroy(t);
    t = network_of("torus:6");
    struct projection p = project(t, one, 2);
    assert_int_equal(p.places, 6);
    assert_int_equal(count(&p, depth | across | upright, PROJECTION_ACROSS), 6);
    topology_destroy(t);
}

static void what_cannot_be_projected_is_refused(void **state)
{
    (void)state;
    static const uint32_t twice[3] = {0, 0, 1}, beyond[3] = {0, 1, 7};
    struct topology *t = network_of("torus:4,4,4");
    struct projection p;
    uint32_t slice[TOPOLOGY_DIMENSIONS] = {0};
    assert_int_equal(projection_init(&p, t, twice, 0, NULL), -HOLTER_EUSAGE);
    assert_int_equal(projection_init(&p, t, beyond, 0, NULL), -HOLTER_EUSAGE);
    assert_int_equal(projection_init(&p, t, first_three, 3, NULL), -HOLTER_EUSAGE);
    topology_destroy(t);
    t = network_of("torus:4,4,4,4");
    slice[3] = 4;
    assert_int_equal(projection_init(&p, t, first_three, 0, slice), -HOLTER_EUSAGE);
    topology_destroy(t);
}

/* ---- bundles -----------------------------------------------------------------------------------
 */

static void a_bundle_holds_the_wires_that_differ_in_depth(void **state)
{
    (void)state;
    struct topology *t = network_of("torus:4,6,8");
    struct projection p = project(t, first_three, 0);
    uint32_t *held = calloc(projection_bundles(&p), sizeof *held);
    for (uint32_t wire = 0; wire < p.places * PROJECTION_AXES; wire++) {
        uint32_t bundle = projection_bundle(&p, wire), first = projection_bundle_wire(&p, bundle);
        held[bundle]++;
        assert_int_equal(bundle % PROJECTION_AXES, wire % PROJECTION_AXES);
        assert_int_equal(projection_shows(&p, depth | across | upright, wire),
                         projection_shows(&p, depth | across | upright, first));
    }
    assert_int_equal(projection_bundles(&p), 6 * 8 * 3);
    for (uint32_t bundle = 0; bundle < projection_bundles(&p); bundle++) {
        struct projection_line l[2];
        assert_int_equal(held[bundle], 4);
        int lines = projection_bundle_lines(&p, bundle, l);
        assert_true(lines == 1 || lines == 2);
        if (bundle % PROJECTION_AXES == PROJECTION_DEPTH)
            assert_true(fabs(fabs(l[0].x1 - l[0].x0) - PROJECTION_SPREAD) < 1e-9);
    }
    free(held);
    topology_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_cubed_is_two_sets_of_four_rings),
        cmocka_unit_test(no_ring_of_a_cube_crosses_another),
        cmocka_unit_test(half_of_each_direction_then_all_of_one),
        cmocka_unit_test(nodes_of_any_shape_keep_apart_and_links_connect_them),
        cmocka_unit_test(rings_of_even_sizes_have_as_many_links_as_nodes),
        cmocka_unit_test(a_mesh_has_no_open_ends),
        cmocka_unit_test(links_of_a_cube_are_about_as_long),
        cmocka_unit_test(every_link_of_three_dimensions_has_a_half_of_its_own),
        cmocka_unit_test(five_dimensions_are_summed_or_sliced),
        cmocka_unit_test(two_dimensions_and_one_are_seen_too),
        cmocka_unit_test(what_cannot_be_projected_is_refused),
        cmocka_unit_test(a_bundle_holds_the_wires_that_differ_in_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
