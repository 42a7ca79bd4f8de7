/* Largest link loads that the model predicts for pF3D's mappings, beside the bandwidths that were
 * measured (Landge et al., Table 1). What agrees, what does not and why: pf3d.md. */
#include "daemon/analysis/network/link_loads.h"
#include "tests/daemon/analysis/network/pf3d.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct run {
    struct link_loads *loads;
    enum pf3d_mapping mapping;
};

static struct topology *torus(const char *text)
{
    struct topology_spec spec = {0};
    struct topology *t = NULL;
    char why[200] = "";
    if (topology_short(&spec, text, why, sizeof why) < 0 ||
        topology_create(&t, &spec, why, sizeof why) < 0)
        fail_msg("%s", why);
    topology_spec_finish(&spec);
    return t;
}

static void add(void *user, uint32_t source, uint32_t destination, uint64_t bytes)
{
    const struct run *r = user;
    struct load_change change = {pf3d_node(r->mapping, source), pf3d_node(r->mapping, destination),
                                 (int64_t)bytes, 1};
    assert_int_equal(link_loads_add(r->loads, &change), 0);
}

/* Largest load, and by dimension the mean of its links, in what a rank gives away in one phase. */
static double largest(const struct topology *t, enum pf3d_mapping mapping, unsigned phases,
                      double means[3])
{
    struct run r = {NULL, mapping};
    double most = 0;
    assert_int_equal(link_loads_create(&r.loads, t), 0);
    for (int phase = 0; phase < PF3D_PHASES; phase++)
        if (phases >> phase & 1)
            pf3d_pairs((enum pf3d_phase)phase, add, &r);
    const struct link_load *loads = link_loads_values(r.loads);
    memset(means, 0, 3 * sizeof *means);
    for (uint32_t link = 0; link < topology_links(t); link++) {
        uint32_t dimension;
        int direction;
        if (!topology_link_axis(t, link, &dimension, &direction))
            continue;
        double load = (double)loads[link].bytes / PF3D_BYTES;
        means[dimension] += load / (topology_links(t) / 3.0);
        most = load > most ? load : most;
    }
    link_loads_destroy(r.loads);
    return most;
}

static void every_mapping_gives_each_node_four_ranks(void **state)
{
    (void)state;
    for (int m = 0; m < PF3D_MAPPINGS; m++) {
        uint32_t held[512] = {0};
        for (uint32_t rank = 0; rank < PF3D_RANKS; rank++)
            held[pf3d_node((enum pf3d_mapping)m, rank)]++;
        for (int node = 0; node < 512; node++)
            assert_int_equal(held[node], PF3D_CORES);
    }
}

static void count(void *user, uint32_t source, uint32_t destination, uint64_t bytes)
{
    uint64_t *sum = user;
    assert_true(source < PF3D_RANKS && destination < PF3D_RANKS && source != destination);
    assert_int_equal(source / 128, destination / 128); /* never to another slab */
    sum[0]++;
    sum[1] += bytes;
}

static void both_phases_transpose_the_same_data(void **state)
{
    (void)state;
    uint64_t x[2] = {0}, y[2] = {0};
    pf3d_pairs(PF3D_X, count, x);
    pf3d_pairs(PF3D_Y, count, y);
    assert_int_equal(x[0], 2048 * 15);
    assert_int_equal(y[0], 2048 * 7);
    assert_int_equal(x[1] / 15 * 16, y[1] / 7 * 8);
}

/* "The TXYZ mapping entirely excludes communication in the z-direction." */
static void the_default_leaves_a_third_of_the_links_unused(void **state)
{
    (void)state;
    struct topology *t = torus("torus:8,8,8");
    double means[3];
    largest(t, PF3D_TXYZ, 3, means);
    assert_true(means[2] == 0 && means[0] > 0 && means[1] > 0);
    for (int m = PF3D_XYZT; m < PF3D_MAPPINGS; m++) {
        largest(t, (enum pf3d_mapping)m, 3, means);
        assert_true(means[2] > 0);
    }
    topology_destroy(t);
}

/* Table 1 by both phases together, but for tiltZY. */
static void largest_loads_order_the_mappings_as_bandwidths_do(void **state)
{
    (void)state;
    static const double expected[] = {8, 6, 4, 4, 8};
    static const char *const networks[] = {"torus:8,8,8", "torus:8,8,8/order=C,B,A",
                                           "torus:8,8,8/order=B,A,C/tie=plus"};
    double most[PF3D_MAPPINGS], means[3];
    struct topology *t = torus(networks[0]);
    for (int m = 0; m < PF3D_MAPPINGS; m++) {
        most[m] = largest(t, (enum pf3d_mapping)m, 3, means);
        assert_true(most[m] == expected[m]);
    }
    topology_destroy(t);
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        t = torus(networks[i]);
        for (int m = 0; m < PF3D_MAPPINGS; m++)
            most[m] = largest(t, (enum pf3d_mapping)m, 3, means);
        for (int a = 0; a < PF3D_TILT_ZY; a++)
            for (int b = 0; b < PF3D_TILT_ZY; b++)
                if (pf3d_bandwidths[a] < pf3d_bandwidths[b])
                    assert_true(most[a] >= most[b]);
        assert_true(most[PF3D_TXYZ] > most[PF3D_XYZT] && most[PF3D_XYZT] > most[PF3D_TILE]);
        topology_destroy(t);
    }
}

/* No minimal routing can make tiltZY better than the default: both phases cross x, and every link
 * along x carries as much as the default's fullest. */
static void what_tilts_twice_fills_every_link_of_one_dimension(void **state)
{
    (void)state;
    struct topology *t = torus("torus:8,8,8");
    double means[3];
    double most = largest(t, PF3D_TILT_ZY, 3, means);
    assert_true(most == 8 && means[0] == 8);
    topology_destroy(t);
}

/* One phase alone does not distinguish the mappings: therefore both are used. */
static void each_phase_alone_has_the_same_largest_load(void **state)
{
    (void)state;
    struct topology *t = torus("torus:8,8,8");
    double means[3];
    for (int m = 0; m < PF3D_MAPPINGS; m++)
        for (unsigned phase = 1; phase <= 2; phase++)
            assert_true(largest(t, (enum pf3d_mapping)m, phase, means) == 4);
    topology_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mapping_gives_each_node_four_ranks),
        cmocka_unit_test(both_phases_transpose_the_same_data),
        cmocka_unit_test(the_default_leaves_a_third_of_the_links_unused),
        cmocka_unit_test(largest_loads_order_the_mappings_as_bandwidths_do),
        cmocka_unit_test(what_tilts_twice_fills_every_link_of_one_dimension),
        cmocka_unit_test(each_phase_alone_has_the_same_largest_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
