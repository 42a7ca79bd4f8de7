/* What networks are made from: short forms, given routes, and what is refused. */
#include "daemon/analysis/network/topology.h"

#include "holter/error.h"
#include "tests/daemon/analysis/network/networks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void refuse_short(const char *text, const char *reason)
{
    struct topology_spec spec, before;
    char why[200] = "";
    memset(&spec, 0x5a, sizeof spec);
    before = spec;
    if (topology_short(&spec, text, why, sizeof why) != -HOLTER_EUSAGE)
        fail_msg("\"%s\" is taken", text);
    if (strcmp(why, reason) != 0)
        fail_msg("\"%s\": \"%s\" instead of \"%s\"", text, why, reason);
    assert_memory_equal(&spec, &before, sizeof spec);
}

static void short_forms_that_are_wrong_are_refused_with_the_place(void **state)
{
    (void)state;
    refuse_short("", "neither torus:, mesh:, hypercube:, dragonfly: nor fattree:, at character 1");
    refuse_short("ring:4",
                 "neither torus:, mesh:, hypercube:, dragonfly: nor fattree:, at character 1");
    refuse_short("torus:", "a number is missing, at character 7");
    refuse_short("torus:4,,4", "a number is missing, at character 9");
    refuse_short("torus:-4", "a number is missing, at character 7");
    refuse_short("torus:4x", "unexpected, at character 8");
    refuse_short("torus:99999999999", "too large a number, at character 7");
    refuse_short("torus:1,1,1,1,1,1,1,1,1,1,1,1,1", "too many dimensions, at character 32");
    refuse_short("torus:4,4/order=A", "the order misses a dimension, at character 18");
    refuse_short("torus:4,4/order=A,A", "the order names a dimension twice, at character 20");
    refuse_short("torus:4,4/order=A,C", "no dimension has this name, at character 19");
    refuse_short("torus:4,4/order=A,B,B", "unexpected, at character 20");
    refuse_short("torus:4/tie=up", "ties go by parity, plus or minus, at character 13");
    refuse_short("torus:4/capacity=nan", "a number is missing, at character 18");
    refuse_short("torus:4/capacity=1e999", "too large a number, at character 18");
    refuse_short("torus:4/speed=1", "no such option, at character 9");
    refuse_short("torus:4/", "no such option, at character 9");
    refuse_short("hypercube:0", "a hypercube needs a dimension, at character 11");
    refuse_short("hypercube:13", "too many dimensions, at character 11");
    refuse_short("fattree:4,4", "numbers of parents are missing, at character 12");
    refuse_short("fattree:4,4/1", "numbers of parents are missing, at character 14");
    refuse_short("fattree:k=7", "switches need an even number of ports, at character 11");
    refuse_short("fattree:k=4/order=A", "only dimensions have an order, at character 19");
    refuse_short("dragonfly:groups=3,groups=3", "given twice, at character 27");
    refuse_short("dragonfly:groups=3,routers=3,nodes=1",
                 "groups=, routers=, nodes= or global= is missing, at character 37");
}

static void short_forms_are_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum topology_kind kind;
        uint32_t nodes, vertices, diameter;
    } forms[] = {
        {"torus:4,4,4,16,2", TOPOLOGY_CARTESIAN, 2048, 2048, 15},
        {"torus:4,4,4,8m,2", TOPOLOGY_CARTESIAN, 1024, 1024, 14},
        {"mesh:8,8", TOPOLOGY_CARTESIAN, 64, 64, 14},
        {"mesh:1", TOPOLOGY_CARTESIAN, 1, 1, 0},
        {"hypercube:10", TOPOLOGY_CARTESIAN, 1024, 1024, 10},
        {"hypercube:12", TOPOLOGY_CARTESIAN, 4096, 4096, 12},
        {"dragonfly:2,12,3,16,4", TOPOLOGY_CARTESIAN, 4608, 4608, 5},
        {"dragonfly:groups=9,routers=4,nodes=2,global=2", TOPOLOGY_DRAGONFLY, 72, 108, 5},
        {"dragonfly:global=0,groups=1,nodes=2,routers=1", TOPOLOGY_DRAGONFLY, 2, 3, 2},
        {"dragonfly:global=0,groups=1,nodes=1,routers=1", TOPOLOGY_DRAGONFLY, 1, 2, 1},
        {"fattree:4,4,4/1,2,2", TOPOLOGY_FAT_TREE, 64, 64 + 16 + 8 + 4, 6},
        {"fattree:4,4,1/1,2,2", TOPOLOGY_FAT_TREE, 16, 16 + 4 + 2 + 4, 4},
        {"fattree:k=8", TOPOLOGY_FAT_TREE, 128, 128 + 32 + 32 + 16, 6},
        {"torus:1024,1024", TOPOLOGY_CARTESIAN, 1u << 20, 1u << 20, 1024},
    };
    for (size_t f = 0; f < COUNT(forms); f++) {
        struct topology *topology = network_short(forms[f].text);
        assert_int_equal(topology_spec(topology)->kind, forms[f].kind);
        assert_string_equal(topology_spec(topology)->name, forms[f].text);
        assert_int_equal(topology_nodes(topology), forms[f].nodes);
        assert_int_equal(topology_vertices(topology), forms[f].vertices);
        assert_int_equal(topology_diameter(topology), forms[f].diameter);
        topology_destroy(topology);
    }
}

static void options_of_short_forms_are_taken(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4a,8m/order=C,A,B/tie=minus/capacity=1.5e9");
    const struct topology_spec *spec = topology_spec(topology);
    assert_int_equal(spec->tie, TOPOLOGY_TIE_MINUS);
    assert_true(topology_capacity(topology, 0) == 1.5e9);
    assert_int_equal(spec->dimensions[0].step, 1);
    assert_int_equal(spec->dimensions[1].step, 2);
    assert_int_equal(spec->dimensions[2].step, 0);
    assert_int_equal(spec->dimensions[1].connection, TOPOLOGY_ALL);
    assert_int_equal(spec->dimensions[2].connection, TOPOLOGY_MESH);
    topology_destroy(topology);
}

static void expect_order(const char *network, const char *order)
{
    struct topology *topology = network_short(network);
    for (uint32_t s = 0; order[s]; s++)
        assert_int_equal(topology_grid(topology)->order[s], order[s] - 'A');
    topology_destroy(topology);
}

static void without_an_order_the_longest_dimension_is_corrected_first(void **state)
{
    (void)state;
    expect_order("torus:2,8,4", "BCA");
    expect_order("mesh:4,8,8,2", "BCAD");
    expect_order("torus:4,4,4,4,2", "ABCDE");
    expect_order("torus:4,4,4,16,2", "DBACE"); /* as recorded */
    expect_order("torus:4,3a,8,5a", "DBCA");
}

/* Refused specs; -HOLTER_ELIMIT when the reason begins with "limit: ". */
static void refuse(const struct topology_spec *spec, const char *reason)
{
    struct topology *topology = NULL;
    char why[200] = "";
    int limit = strncmp(reason, "limit: ", 7) == 0;
    int error = topology_create(&topology, spec, why, sizeof why);
    if (error != (limit ? -HOLTER_ELIMIT : -HOLTER_EUSAGE))
        fail_msg("%d instead of \"%s\"", error, reason);
    assert_null(topology);
    assert_string_equal(why, reason + (limit ? 7 : 0));
    assert_int_equal(topology_create(&topology, spec, NULL, 0), error);
}

static void refuse_form(const char *text, const char *reason)
{
    struct topology_spec spec;
    char why[200] = "";
    if (topology_short(&spec, text, why, sizeof why) != 0)
        fail_msg("\"%s\": %s", text, why);
    refuse(&spec, reason);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    refuse_form("torus:4,0,4", "dimension 2 has size 0");
    refuse_form("torus:1048576,2", "limit: more than 1048576 nodes");
    refuse_form("torus:4294967295,4294967295,4294967295", "limit: more than 1048576 nodes");
    refuse_form("torus:65536,65536,65536,65536", "limit: more than 1048576 nodes");
    refuse_form("torus:1048576a", "limit: more than 16777216 links");
    refuse_form("dragonfly:groups=0,routers=4,nodes=2,global=2", "dimension 1 has size 0");
    refuse_form("dragonfly:groups=10,routers=4,nodes=2,global=2",
                "the 8 global links of a group do not reach 9 other groups");
    refuse_form("dragonfly:groups=2,routers=1,nodes=1,global=4294967295",
                "limit: more than 16777216 links");
    refuse_form("dragonfly:groups=65536,routers=65536,nodes=65536,global=65536",
                "limit: more than 1048576 nodes");
    refuse_form("dragonfly:groups=1048576,routers=1,nodes=1,global=1",
                "limit: more than 1048576 vertices");
    refuse_form("fattree:4,0/1,1", "level 2 of the fat tree has no children");
    refuse_form("fattree:4,4/1,0", "level 2 of the fat tree has no parents");
    refuse_form("fattree:1,1,1,1/65536,65536,65536,65536", "limit: more than 16777216 links");
    refuse_form("fattree:1048576/4294967295", "limit: more than 16777216 links");
    refuse_form("fattree:k=4294967294", "limit: more than 1048576 vertices");
}

static void a_spec_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    struct topology_spec good, spec;
    char why[200];
    assert_int_equal(topology_short(&good, "torus:4,4,4", why, sizeof why), 0);
    memset(&spec, 0, sizeof spec);
    refuse(&spec, "the network has no dimensions");
    spec = good;
    spec.kind = 77;
    refuse(&spec, "the network is of no known kind");
    spec = good;
    spec.tie = 3;
    refuse(&spec, "no known rule for ties");
    spec = good;
    spec.capacity = NAN;
    refuse(&spec, "the capacity is no number of bytes a second");
    spec.capacity = -1;
    refuse(&spec, "the capacity is no number of bytes a second");
    spec = good;
    spec.dimension_count = 13;
    refuse(&spec, "limit: 13 dimensions: at most 12 are possible");
    spec = good;
    spec.dimensions[1].step = spec.dimensions[0].step;
    refuse(&spec, "the order of dimensions is no permutation: 0 comes twice");
    spec.dimensions[1].step = 3;
    refuse(&spec, "the order of dimensions is no permutation: 3 comes too late");
    spec = good;
    spec.dimensions[2].connection = 3;
    refuse(&spec, "dimension 3 is linked in no known way");
    spec = good;
    memset(spec.name, 'x', sizeof spec.name);
    refuse(&spec, "the name of the network does not end");
    spec = good;
    memset(spec.dimensions[0].name, 'x', sizeof spec.dimensions[0].name);
    refuse(&spec, "the name of dimension 1 does not end");
}

static void links_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct topology_spec spec;
    network_graph(&spec, TOPOLOGY_GRAPH, 2, 3, 8);
    refuse(&spec, "node 0 cannot be reached from node 1");
    network_edge(&spec, 0, 3);
    refuse(&spec, "link 0 leads from 0 to 3, but there are 3 vertices");
    spec.edges[0].to = 0;
    refuse(&spec, "link 0 leads from vertex 0 to itself");
    spec.edges[0].to = 1;
    network_edge(&spec, 1, 0);
    refuse(&spec, "node 0 cannot be reached from switch 0");
    network_edge(&spec, 2, 1);
    refuse(&spec, "switch 0 cannot be reached from node 0");
    network_edge(&spec, 0, 2);
    spec.edges[1].capacity = INFINITY;
    refuse(&spec, "the capacity of link 1 is no number of bytes a second");
    spec.edges[1].capacity = 0;
    memset(spec.edges[2].interface, 'x', sizeof spec.edges[2].interface);
    refuse(&spec, "the interface of link 2 does not end");
    spec.edges[2].interface[0] = '\0';
    spec.vertices[2].kind = 9;
    refuse(&spec, "vertex 2 is of no known kind");
    spec.vertices[2].kind = VERTEX_NODE;
    spec.vertices[1].kind = VERTEX_SWITCH;
    refuse(&spec, "node 2 (\"\") comes after what is no node");
    topology_spec_finish(&spec);
    network_graph(&spec, TOPOLOGY_GRAPH, 1, TOPOLOGY_MAXIMUM_GRAPH + 1, 0);
    refuse(&spec, "limit: 8193 vertices: a graph that is no tree has at most 8192");
    topology_spec_finish(&spec);
    network_graph(&spec, TOPOLOGY_GRAPH, 1, TOPOLOGY_MAXIMUM_GRAPH, 1u << 19);
    while (spec.edge_count < 1u << 19)
        network_edge(&spec, spec.edge_count % TOPOLOGY_MAXIMUM_GRAPH,
                     (spec.edge_count + 1) % TOPOLOGY_MAXIMUM_GRAPH);
    refuse(&spec, "limit: 8192 vertices with 524288 links are too many");
    topology_spec_finish(&spec);
}

static void trees_that_are_none_are_refused(void **state)
{
    (void)state;
    struct topology_spec spec;
    network_graph(&spec, TOPOLOGY_TREE, 2, 3, 8);
    for (uint32_t v = 0; v < 2; v++) {
        network_edge(&spec, v, 2);
        network_edge(&spec, 2, v);
    }
    strcpy(spec.vertices[2].name, "leaf1");
    network_edge(&spec, 0, 1);
    refuse(&spec, "the tree has a circle through node 0 and node 1");
    spec.edges[4].to = 2;
    refuse(&spec, "the tree has a circle through node 0 and leaf1");
    spec.edge_count = 3;
    refuse(&spec, "no link joins node 1 and leaf1");
    spec.edge_count = 4;
    spec.edges[2] = spec.edges[3];
    spec.edge_count = 3;
    refuse(&spec, "the tree has a link one way only between leaf1 and node 1");
    topology_spec_finish(&spec);
    network_graph(&spec, TOPOLOGY_TREE, 0, 0, 0);
    refuse(&spec, "the network has no vertices");
    topology_spec_finish(&spec);
}

/* A chain and a star: neither time nor stack grows with the depth beyond that. */
static void very_many_vertices_are_a_small_tree(void **state)
{
    (void)state;
    const uint32_t count = TOPOLOGY_MAX_VERTICES / 8;
    for (int star = 0; star < 2; star++) {
        struct topology_spec spec;
        struct topology *topology = NULL;
        char why[200] = "";
        network_graph(&spec, TOPOLOGY_TREE, count - 1, count, 2 * count);
        for (uint32_t v = 0; v + 1 < count; v++) {
            network_edge(&spec, v, star ? count - 1 : v + 1);
            network_edge(&spec, star ? count - 1 : v + 1, v);
        }
        assert_int_equal(topology_create(&topology, &spec, why, sizeof why), 0);
        topology_spec_finish(&spec);
        assert_int_equal(topology_diameter(topology), star ? 2 : count - 1);
        assert_int_equal(topology_distance(topology, 0, count - 2), star ? 2 : count - 2);
        assert_true(topology_crosses(topology, 3, 0, 1));
        assert_false(topology_crosses(topology, 0, 3, 1));
        topology_destroy(topology);
    }
}

/* Round a square the other way than the rule goes. */
static struct topology_spec square(void)
{
    struct topology_spec spec;
    char why[200];
    assert_int_equal(topology_short(&spec, "mesh:2,2/order=A,B", why, sizeof why), 0);
    spec.path = calloc(16, sizeof *spec.path);
    spec.routes = calloc(4, sizeof *spec.routes);
    assert_true(spec.path && spec.routes);
    memcpy(spec.path, (uint32_t[]){0, 1, 3, 2, 0}, 5 * sizeof *spec.path);
    spec.path_count = 5;
    spec.routes[0] = (struct topology_table){0, 3};
    spec.route_count = 1;
    return spec;
}

static void routes_that_are_given_go_before_the_rule(void **state)
{
    (void)state;
    struct topology_spec spec = square();
    struct topology *topology = NULL;
    char why[200] = "";
    uint32_t links[8], from, to;
    spec.routes[1] = (struct topology_table){1, 4}; /* longer than need be */
    spec.routes[2] = spec.routes[0];                /* again */
    spec.route_count = 3;
    assert_int_equal(topology_create(&topology, &spec, why, sizeof why), 0);
    topology_spec_finish(&spec);
    assert_int_equal(topology_route(topology, 0, 3, links, 8), 2);
    assert_true(topology_link(topology, links[0], &from, &to));
    assert_int_equal(to, 1);
    assert_true(topology_crosses(topology, 0, 3, links[0]));
    assert_true(topology_crosses(topology, 0, 3, links[1]));
    assert_false(topology_crosses(topology, 0, 3, topology_link_between(topology, 0, 2)));
    assert_int_equal(topology_distance(topology, 1, 0), 3);
    assert_int_equal(topology_diameter(topology), 3);
    assert_int_equal(topology_route(topology, 3, 0, links, 8), 2); /* by the rule */
    assert_true(topology_link(topology, links[0], &from, &to));
    assert_int_equal(to, 1);
    topology_destroy(topology);
}

static void a_given_route_with_a_gap_is_refused(void **state)
{
    (void)state;
    struct topology_spec spec = square();
    spec.path[1] = 3;
    spec.path[2] = 1;
    refuse(&spec, "route 1 has a gap: no link leads from (0,0) to (1,1)");
    spec.path[1] = 9;
    refuse(&spec, "route 1 passes vertex 9, which does not exist");
    spec.path[1] = 1;
    spec.path[2] = 0;
    refuse(&spec, "route 1 passes (0,0) twice");
    spec.path[2] = 3;
    spec.routes[1] = (struct topology_table){4, 2};
    spec.route_count = 2;
    refuse(&spec, "route 2 is not within the list of vertices");
    spec.routes[1] = (struct topology_table){UINT32_MAX, UINT32_MAX};
    refuse(&spec, "route 2 is not within the list of vertices");
    spec.routes[1] = (struct topology_table){0, 0};
    refuse(&spec, "route 2 is not within the list of vertices");
    memcpy(spec.path + 5, (uint32_t[]){0, 2, 3}, 3 * sizeof *spec.path);
    spec.path_count = 8;
    spec.routes[1] = (struct topology_table){5, 3};
    refuse(&spec, "two different routes are given from (0,0) to (1,1)");
    topology_spec_finish(&spec);
}

/* Numbers out of range are no vertices and links, and break nothing. */
static void what_does_not_exist_has_no_route(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "torus:3,3", "dragonfly:groups=3,routers=2,nodes=2,global=1", "fattree:k=4"};
    for (size_t f = 0; f < COUNT(forms); f++) {
        struct topology *topology = network_short(forms[f]);
        uint32_t none[] = {topology_vertices(topology), TOPOLOGY_NONE, 1u << 31}, a, b;
        for (size_t i = 0; i < COUNT(none); i++) {
            char name[80];
            assert_int_equal(topology_distance(topology, 0, none[i]), TOPOLOGY_NONE);
            assert_int_equal(topology_route(topology, none[i], 0, NULL, 0), TOPOLOGY_NONE);
            assert_int_equal(topology_link_between(topology, none[i], 0), TOPOLOGY_NONE);
            assert_int_equal(topology_out(topology, none[i], NULL, 0), 0);
            assert_false(topology_crosses(topology, none[i], 0, 0));
            assert_int_equal(topology_reverse(topology, TOPOLOGY_NONE), TOPOLOGY_NONE);
            assert_false(topology_link(topology, TOPOLOGY_NONE, &a, &b));
            assert_int_equal(topology_coordinates(topology, none[i], &a), 0);
            topology_vertex_name(topology, none[i], name, sizeof name);
            assert_int_equal(topology_find(topology, name), TOPOLOGY_NONE);
        }
        static const char *const names[] = {
            "",        "(",      "()",      "(0",         "(0,0,0,0",         "(9,9)",
            "(9,9,9)", "switch", "switch ", "switch 999", "node 99999999999", "node -1",
            "core 0",  "(0,0) ", "(-1,0)"};
        for (size_t n = 0; n < COUNT(names); n++)
            assert_int_equal(topology_find(topology, names[n]), TOPOLOGY_NONE);
        topology_destroy(topology);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_forms_that_are_wrong_are_refused_with_the_place),
        cmocka_unit_test(short_forms_are_taken),
        cmocka_unit_test(options_of_short_forms_are_taken),
        cmocka_unit_test(without_an_order_the_longest_dimension_is_corrected_first),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(a_spec_that_makes_no_sense_is_refused),
        cmocka_unit_test(links_that_make_no_sense_are_refused),
        cmocka_unit_test(trees_that_are_none_are_refused),
        cmocka_unit_test(very_many_vertices_are_a_small_tree),
        cmocka_unit_test(routes_that_are_given_go_before_the_rule),
        cmocka_unit_test(a_given_route_with_a_gap_is_refused),
        cmocka_unit_test(what_does_not_exist_has_no_route),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
