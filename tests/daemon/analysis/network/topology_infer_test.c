/* Networks inferred from routes and hop counts. */
#include "daemon/analysis/network/topology_infer.h"

#include "holter/error.h"
#include "tests/daemon/analysis/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_HOPS 64u

/* Sizes alone: rings, first dimension first. */
static struct topology_spec blank(const struct topology_spec *known)
{
    struct topology_spec spec = {.dimension_count = known->dimension_count};
    for (uint32_t d = 0; d < spec.dimension_count; d++) {
        spec.dimensions[d].size = known->dimensions[d].size;
        spec.dimensions[d].step = d;
    }
    return spec;
}

static struct topology_infer *infer_of(const struct topology_spec *spec)
{
    struct topology_infer *infer = NULL;
    uint32_t size[TOPOLOGY_DIMENSIONS];
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        size[d] = spec->dimensions[d].size;
    assert_int_equal(topology_infer_create(&infer, spec->dimension_count, size), 0);
    return infer;
}

static void take_route(struct topology_infer *infer, const struct topology *topology, uint32_t a,
                       uint32_t b)
{
    uint32_t links[MAX_HOPS], at[(MAX_HOPS + 1) * TOPOLOGY_DIMENSIONS], from, to;
    uint32_t count = topology_route(topology, a, b, links, MAX_HOPS);
    uint32_t dimensions = topology_coordinates(topology, a, at);
    for (uint32_t i = 0; i < count; i++) {
        topology_link(topology, links[i], &from, &to);
        topology_coordinates(topology, to, at + (size_t)(i + 1) * dimensions);
    }
    assert_int_equal(topology_infer_route(infer, at, count + 1), 0);
}

static void take_hops(struct topology_infer *infer, const struct topology *topology, uint32_t a,
                      uint32_t b)
{
    uint32_t from[TOPOLOGY_DIMENSIONS], to[TOPOLOGY_DIMENSIONS];
    topology_coordinates(topology, a, from);
    topology_coordinates(topology, b, to);
    assert_int_equal(topology_infer_hops(infer, from, to, topology_distance(topology, a, b)), 0);
}

static struct topology *finish(const struct topology_infer *infer, struct topology_spec *spec)
{
    struct topology *topology = NULL;
    char why[200] = "";
    if (topology_infer_finish(infer, spec, why, sizeof why) != 0)
        fail_msg("%s", why);
    assert_int_equal(topology_create(&topology, spec, why, sizeof why), 0);
    return topology;
}

static int same_route(const struct topology *one, const struct topology *other, uint32_t a,
                      uint32_t b)
{
    uint32_t x[MAX_HOPS], y[MAX_HOPS], from, to, end[2];
    uint32_t count = topology_route(one, a, b, x, MAX_HOPS);
    if (topology_route(other, a, b, y, MAX_HOPS) != count)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        topology_link(one, x[i], &from, &end[0]);
        topology_link(other, y[i], &from, &to);
        if (end[0] != to)
            return 0;
    }
    return 1;
}

static void all_routes_tell_the_network(void **state)
{
    (void)state;
    struct noise noise = {.state = 0x1f3a};
    for (int round = 0; round < 100; round++) {
        struct topology *topology = network_random(TOPOLOGY_CARTESIAN, &noise);
        struct topology_spec spec = blank(topology_spec(topology));
        struct topology_infer *infer = infer_of(&spec);
        uint32_t nodes = topology_nodes(topology);
        for (uint32_t a = 0; a < nodes; a++)
            for (uint32_t b = 0; b < nodes; b++)
                take_route(infer, topology, a, b);
        struct topology *result = finish(infer, &spec);
        for (uint32_t a = 0; a < nodes; a++)
            for (uint32_t b = 0; b < nodes; b++)
                assert_true(same_route(topology, result, a, b));
        topology_infer_destroy(infer);
        topology_destroy(topology);
        topology_destroy(result);
    }
}

static void hop_counts_tell_how_dimensions_are_linked(void **state)
{
    (void)state;
    struct noise noise = {.state = 0x1f3b};
    for (int round = 0; round < 100; round++) {
        struct topology *topology = network_random(TOPOLOGY_CARTESIAN, &noise);
        struct topology_spec spec = blank(topology_spec(topology));
        struct topology_infer *infer = infer_of(&spec);
        uint32_t nodes = topology_nodes(topology);
        for (uint32_t i = 0; i < nodes * nodes; i++)
            take_hops(infer, topology, i / nodes, i * 7 % nodes);
        for (uint32_t i = 0; i < nodes * nodes; i++)
            take_hops(infer, topology, i / nodes, i % nodes);
        struct topology *result = finish(infer, &spec);
        for (uint32_t i = 0; i < nodes * nodes; i++)
            assert_int_equal(topology_distance(result, i / nodes, i % nodes),
                             topology_distance(topology, i / nodes, i % nodes));
        topology_infer_destroy(infer);
        topology_destroy(topology);
        topology_destroy(result);
    }
}

static void what_nothing_reports_stays_as_it_was(void **state)
{
    (void)state;
    struct topology_spec spec;
    char why[200];
    int guessed = 1;
    assert_int_equal(topology_partition(&spec, 2048, &guessed), 0);
    assert_int_equal(guessed, 0);
    struct topology_spec before = spec;
    struct topology_infer *infer = infer_of(&spec);
    uint32_t at[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0}; /* one hop along D */
    assert_int_equal(topology_infer_route(infer, at, 2), 0);
    assert_int_equal(topology_infer_finish(infer, &spec, why, sizeof why), 0);
    assert_memory_equal(&spec, &before, sizeof spec);
    topology_infer_destroy(infer);
}

/* Half way round a ring is as long as along a line: only the link between the ends distinguishes
 * both. */
static void a_link_between_the_ends_makes_a_ring(void **state)
{
    (void)state;
    struct topology_spec spec = {.dimension_count = 1, .dimensions = {{.size = 4}}};
    char why[200];
    struct topology_infer *infer = infer_of(&spec);
    spec.dimensions[0].connection = TOPOLOGY_MESH;
    assert_int_equal(topology_infer_route(infer, (uint32_t[]){0, 3, 2}, 3), 0);
    assert_int_equal(topology_infer_finish(infer, &spec, why, sizeof why), 0);
    assert_int_equal(spec.dimensions[0].connection, TOPOLOGY_TORUS);
    assert_int_equal(spec.tie, TOPOLOGY_TIE_MINUS);
    topology_infer_destroy(infer);
}

static void a_route_with_a_gap_is_not_taken(void **state)
{
    (void)state;
    uint32_t size[] = {4, 4}, gap[] = {0, 0, 1, 1}, stay[] = {0, 0, 0, 0}, far[] = {0, 4};
    struct topology_infer *infer = NULL;
    assert_int_equal(topology_infer_create(&infer, 2, size), 0);
    assert_int_equal(topology_infer_route(infer, gap, 2), -HOLTER_ERANGE);
    assert_int_equal(topology_infer_route(infer, stay, 2), -HOLTER_ERANGE);
    assert_int_equal(topology_infer_route(infer, far, 1), -HOLTER_ERANGE);
    assert_int_equal(topology_infer_hops(infer, far, stay, 1), -HOLTER_ERANGE);
    topology_infer_destroy(infer);
}

static void expect_refused(const struct topology_infer *infer, const char *reason)
{
    struct topology_spec spec = {.dimension_count = 2};
    char why[200] = "";
    spec.dimensions[0].size = spec.dimensions[1].size = 8;
    spec.dimensions[1].step = 1;
    struct topology_spec before = spec;
    assert_int_equal(topology_infer_finish(infer, &spec, why, sizeof why), -HOLTER_EUSAGE);
    assert_string_equal(why, reason);
    assert_memory_equal(&spec, &before, sizeof spec);
}

#define TAKE(infer, ...)                                                                           \
    assert_int_equal(topology_infer_route(infer, (const uint32_t[]){__VA_ARGS__},                  \
                                          sizeof((const uint32_t[]){__VA_ARGS__}) / 8),            \
                     0)

static struct topology_infer *square(void)
{
    struct topology_infer *infer = NULL;
    assert_int_equal(topology_infer_create(&infer, 2, (const uint32_t[]){8, 8}), 0);
    return infer;
}

static void contradictions_are_reported(void **state)
{
    (void)state;
    struct topology_infer *infer = square();
    TAKE(infer, 0, 0, 0, 1, 1, 1);
    TAKE(infer, 0, 0, 1, 0, 1, 1);
    expect_refused(infer, "routes correct their dimensions in different orders");
    topology_infer_destroy(infer);
    infer = square();
    TAKE(infer, 0, 0, 0, 1, 1, 1, 1, 2);
    expect_refused(infer, "1 routes come back to a dimension");
    topology_infer_destroy(infer);
    infer = square();
    TAKE(infer, 0, 0, 0, 3);
    TAKE(infer, 0, 0, 0, 1, 0, 2);
    expect_refused(infer, "dimension 2 is no ring, no line and not all to all");
    topology_infer_destroy(infer);
    infer = square();
    TAKE(infer, 0, 0, 0, 7);
    TAKE(infer, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4);
    TAKE(infer, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5);
    TAKE(infer, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0);
    expect_refused(infer, "half way round a ring routes follow no known rule");
    topology_infer_destroy(infer);
    infer = square();
    assert_int_equal(topology_infer_hops(infer, (uint32_t[]){0, 0}, (uint32_t[]){3, 3}, 9), 0);
    expect_refused(infer, "no way of linking these dimensions fits all hop counts");
    assert_int_equal(topology_infer_hops(infer, (uint32_t[]){0, 0}, (uint32_t[]){3, 3}, 6), 0);
    topology_infer_destroy(infer);
}

static void sizes_that_are_none_are_refused(void **state)
{
    (void)state;
    struct topology_infer *infer = NULL;
    uint32_t huge[] = {UINT32_MAX, UINT32_MAX}, none[] = {4, 0}, many[13] = {1};
    assert_int_equal(topology_infer_create(&infer, 2, huge), -HOLTER_ERANGE);
    assert_int_equal(topology_infer_create(&infer, 2, none), -HOLTER_ERANGE);
    assert_int_equal(topology_infer_create(&infer, 0, many), -HOLTER_ERANGE);
    assert_int_equal(topology_infer_create(&infer, 13, many), -HOLTER_ERANGE);
    struct topology_spec spec;
    int guessed;
    assert_int_equal(topology_partition(&spec, 100, &guessed), -HOLTER_ERANGE);
    assert_int_equal(topology_partition(&spec, 4096, &guessed), 0);
    assert_int_equal(guessed, 1);
}

/* So many ways of linking are more than are tried: rings and lines are distinguished all the same.
 */
static void twelve_dimensions_are_not_too_many(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:3,3,3,3,3,3m,3,3,3,3,3m,3");
    struct topology_spec spec = blank(topology_spec(topology));
    struct topology_infer *infer = infer_of(&spec);
    struct noise noise = {.state = 12};
    for (int i = 0; i < 200; i++) {
        uint32_t a = (uint32_t)(noise_uint(&noise) % topology_nodes(topology));
        take_hops(infer, topology, a, (uint32_t)(noise_uint(&noise) % topology_nodes(topology)));
    }
    topology_destroy(finish(infer, &spec));
    for (uint32_t d = 0; d < 12; d++)
        assert_int_equal(spec.dimensions[d].connection,
                         d == 5 || d == 10 ? TOPOLOGY_MESH : TOPOLOGY_TORUS);
    topology_infer_destroy(infer);
    topology_destroy(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_routes_tell_the_network),
        cmocka_unit_test(hop_counts_tell_how_dimensions_are_linked),
        cmocka_unit_test(what_nothing_reports_stays_as_it_was),
        cmocka_unit_test(a_link_between_the_ends_makes_a_ring),
        cmocka_unit_test(a_route_with_a_gap_is_not_taken),
        cmocka_unit_test(contradictions_are_reported),
        cmocka_unit_test(sizes_that_are_none_are_refused),
        cmocka_unit_test(twelve_dimensions_are_not_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
