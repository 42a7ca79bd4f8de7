/* Numbers, routes, names and interfaces of each kind of network. */
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

#define MOST 128u
#define ROUNDS 60

/* Distances by breadth-first search over the links, found without any routing. */
struct plain {
    uint32_t vertices, links;
    uint32_t hops[MOST][MOST];
};

static void spread(const struct topology *topology, struct plain *plain, uint32_t source)
{
    uint32_t *hops = plain->hops[source], from, to;
    for (uint32_t v = 0; v < plain->vertices; v++)
        hops[v] = TOPOLOGY_NONE;
    hops[source] = 0;
    for (uint32_t far = 0, again = 1; again; far++) {
        again = 0;
        for (uint32_t link = 0; link < plain->links; link++)
            if (topology_link(topology, link, &from, &to) && hops[from] == far &&
                hops[to] == TOPOLOGY_NONE) {
                hops[to] = far + 1;
                again = 1;
            }
    }
}

static struct plain *plain_of(const struct topology *topology)
{
    struct plain *plain = calloc(1, sizeof *plain);
    assert_non_null(plain);
    plain->vertices = topology_vertices(topology);
    plain->links = topology_links(topology);
    assert_true(plain->vertices <= MOST);
    for (uint32_t v = 0; v < plain->vertices; v++)
        spread(topology, plain, v);
    return plain;
}

/* It starts at the source, goes on where it was, ends at the destination. */
static void check_route(const struct topology *topology, uint32_t source, uint32_t destination)
{
    uint32_t links[MOST], from, to, at = source;
    uint32_t count = topology_route(topology, source, destination, links, MOST);
    assert_int_equal(count, topology_distance(topology, source, destination));
    assert_true(count <= topology_diameter(topology));
    for (uint32_t i = 0; i < count; i++) {
        assert_true(topology_link(topology, links[i], &from, &to));
        assert_int_equal(from, at);
        assert_int_equal(topology_link_between(topology, from, to), links[i]);
        at = to;
    }
    assert_int_equal(at, destination);
    uint32_t few[2] = {77, 77};
    assert_int_equal(topology_route(topology, source, destination, few, 1), count);
    assert_int_equal(few[1], 77);
    assert_int_equal(few[0], count ? links[0] : 77);
}

static void check_crosses(const struct topology *topology, uint32_t source, uint32_t destination)
{
    uint32_t links[MOST], count = topology_route(topology, source, destination, links, MOST);
    for (uint32_t link = 0; link <= topology_links(topology); link++) {
        int on = 0;
        for (uint32_t i = 0; i < count; i++)
            on |= links[i] == link;
        assert_int_equal(topology_crosses(topology, source, destination, link), on);
    }
}

static void check_links(const struct topology *topology)
{
    uint32_t links[1024], from, to, listed = 0, there = 0;
    for (uint32_t v = 0; v < topology_vertices(topology); v++) {
        uint32_t count = topology_out(topology, v, links, 1024);
        assert_true(count <= 1024);
        listed += count;
        for (uint32_t i = 0; i < count; i++) {
            assert_true(topology_link(topology, links[i], &from, &to));
            assert_int_equal(from, v);
        }
    }
    for (uint32_t link = 0; link < topology_links(topology); link++) {
        if (!topology_link(topology, link, &from, &to))
            continue;
        there++;
        assert_true(from < topology_vertices(topology) && to < topology_vertices(topology));
        assert_int_not_equal(topology_link_between(topology, from, to), TOPOLOGY_NONE);
        uint32_t back = topology_reverse(topology, link), a, b;
        if (back == TOPOLOGY_NONE) {
            assert_int_equal(topology_spec(topology)->kind, TOPOLOGY_GRAPH);
            continue;
        }
        assert_true(topology_link(topology, back, &a, &b));
        assert_true(a == to && b == from);
        assert_int_equal(topology_reverse(topology, back), link);
    }
    assert_int_equal(listed, there);
    assert_false(topology_link(topology, topology_links(topology), &from, &to));
}

static void check_names(const struct topology *topology)
{
    char name[100];
    uint32_t at[TOPOLOGY_DIMENSIONS];
    for (uint32_t v = 0; v < topology_vertices(topology); v++) {
        int length = topology_vertex_name(topology, v, name, sizeof name);
        assert_int_equal(length, strlen(name));
        assert_int_equal(topology_find(topology, name), v);
        if (topology_coordinates(topology, v, at))
            assert_int_equal(topology_at(topology, at), v);
    }
    assert_int_equal(topology_find(topology, "nobody"), TOPOLOGY_NONE);
}

/* Of all that go on to a vertex one nearer, routes of graphs take the lowest. */
static void check_lowest(const struct topology *topology, const struct plain *plain,
                         uint32_t source, uint32_t destination)
{
    uint32_t first = TOPOLOGY_NONE, from, to, next = TOPOLOGY_NONE;
    topology_route(topology, source, destination, &first, 1);
    for (uint32_t link = 0; link < plain->links; link++)
        if (topology_link(topology, link, &from, &to) && from == source && to < next &&
            plain->hops[to][destination] + 1 == plain->hops[source][destination])
            next = to;
    assert_true(topology_link(topology, first, &from, &to));
    assert_int_equal(to, next);
}

static void check_network(const struct topology *topology)
{
    struct plain *plain = plain_of(topology);
    enum topology_kind kind = topology_spec(topology)->kind;
    uint32_t ends = kind == TOPOLOGY_FAT_TREE ? topology_nodes(topology) : plain->vertices;
    uint32_t longest = 0;
    check_links(topology);
    check_names(topology);
    for (uint32_t a = 0; a < ends; a++)
        for (uint32_t b = 0; b < ends; b++) {
            uint32_t distance = topology_distance(topology, a, b);
            check_route(topology, a, b);
            if ((a * 31 + b) % 7 == 0)
                check_crosses(topology, a, b);
            longest = distance > longest ? distance : longest;
            if (kind == TOPOLOGY_DRAGONFLY)
                assert_true(distance >= plain->hops[a][b]);
            else
                assert_int_equal(distance, plain->hops[a][b]);
            if (kind == TOPOLOGY_GRAPH && a != b)
                check_lowest(topology, plain, a, b);
        }
    if (kind != TOPOLOGY_DRAGONFLY)
        assert_int_equal(topology_diameter(topology), longest);
    free(plain);
}

static void check_kind(enum topology_kind kind)
{
    struct noise noise = {.state = 0x70b0 + kind};
    for (int round = 0; round < ROUNDS; round++) {
        struct topology *topology = network_random(kind, &noise);
        check_network(topology);
        topology_destroy(topology);
    }
}

static void routes_of_cartesian_networks_are_shortest(void **state)
{
    (void)state;
    check_kind(TOPOLOGY_CARTESIAN);
}

static void routes_of_dragonflies_are_minimal(void **state)
{
    (void)state;
    check_kind(TOPOLOGY_DRAGONFLY);
}

static void routes_of_fat_trees_are_shortest(void **state)
{
    (void)state;
    check_kind(TOPOLOGY_FAT_TREE);
}

static void routes_of_trees_are_the_only_ones(void **state)
{
    (void)state;
    check_kind(TOPOLOGY_TREE);
}

static void routes_of_graphs_are_shortest_by_the_lowest_vertices(void **state)
{
    (void)state;
    check_kind(TOPOLOGY_GRAPH);
}

static void expect_route(const struct topology *topology, const char *const *names)
{
    uint32_t source = topology_find(topology, names[0]), count = 1;
    while (names[count])
        count++;
    uint32_t links[16], from, to;
    uint32_t hops =
        topology_route(topology, source, topology_find(topology, names[count - 1]), links, 16);
    assert_int_equal(hops, count - 1);
    for (uint32_t i = 0; i < hops; i++) {
        char name[80];
        assert_true(topology_link(topology, links[i], &from, &to));
        topology_vertex_name(topology, to, name, sizeof name);
        assert_string_equal(name, names[i + 1]);
    }
}

#define EXPECT_ROUTE(topology, ...) expect_route(topology, (const char *const[]){__VA_ARGS__, NULL})

/* Visuco, Fig. 6 */
static void a_published_route_is_followed(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:2,2,4,2,2");
    EXPECT_ROUTE(topology, "(1,0,2,1,0)", "(1,0,2,0,0)", "(1,1,2,0,0)", "(0,1,2,0,0)");
    topology_destroy(topology);
}

static void halfway_round_a_ring_the_rule_for_ties_decides(void **state)
{
    (void)state;
    struct topology *parity = network_short("torus:4/tie=parity");
    struct topology *plus = network_short("torus:4/tie=plus");
    struct topology *minus = network_short("torus:4/tie=minus");
    EXPECT_ROUTE(parity, "(0)", "(1)", "(2)");
    EXPECT_ROUTE(parity, "(1)", "(0)", "(3)");
    EXPECT_ROUTE(plus, "(1)", "(2)", "(3)");
    EXPECT_ROUTE(plus, "(3)", "(0)", "(1)");
    EXPECT_ROUTE(minus, "(0)", "(3)", "(2)");
    topology_destroy(parity);
    topology_destroy(plus);
    topology_destroy(minus);
}

/* The arithmetic that those rely on who count along rings. */
static void links_of_a_torus_have_the_numbers_that_the_header_documents(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,2,3a,1,5m");
    const struct topology_grid *grid = topology_grid(topology);
    uint32_t at[TOPOLOGY_DIMENSIONS] = {3, 1, 2, 0, 4}, from, to, d;
    int direction;
    assert_int_equal(grid->ports, 2 + 1 + 2 + 0 + 2);
    uint32_t node = topology_at(topology, at), base = node * grid->ports;
    assert_int_equal(node, 3 * grid->stride[0] + grid->stride[1] + 2 * grid->stride[2] + 4);
    assert_true(topology_link(topology, base + grid->port[0], &from, &to));
    assert_int_equal(to, node - 3 * grid->stride[0]);
    assert_true(topology_link_axis(topology, base + grid->port[0], &d, &direction));
    assert_true(d == 0 && direction == 0);
    assert_true(topology_link(topology, base + grid->port[0] + 1, &from, &to));
    assert_int_equal(to, node - grid->stride[0]);
    assert_true(topology_link_axis(topology, base + grid->port[1], &d, &direction));
    assert_true(d == 1 && direction == 1);
    assert_true(topology_link(topology, base + grid->port[2] + 1, &from, &to));
    assert_int_equal(to, node - grid->stride[2]);
    assert_true(topology_link_axis(topology, base + grid->port[2] + 1, &d, &direction));
    assert_true(d == 2 && direction == 2);
    assert_false(topology_link(topology, base + grid->port[4], &from, &to));
    assert_true(topology_link(topology, base + grid->port[4] + 1, &from, &to));
    assert_int_equal(to, node - 1);
    topology_destroy(topology);
}

static void fat_trees_spread_destinations_over_their_tops(void **state)
{
    (void)state;
    struct topology *topology = network_short("fattree:k=4");
    uint32_t links[8], from, to, used[4] = {0};
    assert_int_equal(topology_nodes(topology), 16);
    assert_int_equal(topology_vertices(topology), 16 + 8 + 8 + 4);
    for (uint32_t destination = 8; destination < 16; destination++) {
        assert_int_equal(topology_route(topology, 0, destination, links, 8), 6);
        assert_true(topology_link(topology, links[2], &from, &to));
        used[to - 32]++;
    }
    for (int top = 0; top < 4; top++)
        assert_int_equal(used[top], 2);
    topology_destroy(topology);
}

static void a_dragonfly_goes_local_global_local(void **state)
{
    (void)state;
    struct topology *topology = network_short("dragonfly:groups=9,routers=4,nodes=2,global=2");
    /* group 0 reaches group 7 by its global port 6, of router 3; group 7 group 0 by router 0 */
    EXPECT_ROUTE(topology, "(0,0,0)", "router (0,0)", "router (0,3)", "router (7,0)",
                 "router (7,3)", "(7,3,1)");
    topology_destroy(topology);
}

static void a_router_is_named_by_its_group(void **state)
{
    (void)state;
    static const char *const wrong[] = {"router",        "router ",      "router (9,0)",
                                        "router (0,4)",  "router (0)",   "router (0,0,0)",
                                        "router (0,0)x", "routers (0,0)"};
    struct topology *topology = network_short("dragonfly:groups=9,routers=4,nodes=2,global=2");
    char name[80];
    for (uint32_t v = 0; v < topology_vertices(topology); v++) {
        topology_vertex_name(topology, v, name, sizeof name);
        assert_int_equal(topology_find(topology, name), v);
    }
    assert_string_equal(name, "router (8,3)");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(topology_find(topology, wrong[i]), TOPOLOGY_NONE);
    topology_destroy(topology);
}

static void interfaces_name_links_of_a_torus(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4,2");
    uint32_t out, in, from, to, node = topology_find(topology, "(1,0,0)");
    topology_interface(topology, node, "B-", &out, &in);
    assert_true(topology_link(topology, out, &from, &to));
    assert_true(from == node && to == topology_find(topology, "(1,3,0)"));
    assert_int_equal(topology_reverse(topology, out), in);
    topology_interface(topology, node, "C-", &out, &in);
    assert_true(topology_link(topology, out, &from, &to));
    assert_int_equal(to, topology_find(topology, "(1,0,1)"));
    topology_interface(topology, node, "eth0", &out, &in);
    assert_true(out == TOPOLOGY_NONE && in == TOPOLOGY_NONE);
    topology_interface(topology, 4711, "A+", &out, &in);
    assert_true(out == TOPOLOGY_NONE && in == TOPOLOGY_NONE);
    topology_destroy(topology);
}

/* Node 0 has two interfaces, one of which is named at the link from it, the other at the link to
 * it; node 1 has one. */
static void interfaces_name_links_of_a_graph(void **state)
{
    (void)state;
    struct topology_spec spec;
    char why[200];
    network_graph(&spec, TOPOLOGY_GRAPH, 2, 4, 6);
    for (uint32_t i = 0; i < 3; i++) {
        network_edge(&spec, i / 2, 2 + i % 2);
        network_edge(&spec, 2 + i % 2, i / 2);
    }
    strcpy(spec.edges[0].interface, "eth0");
    strcpy(spec.edges[3].interface, "eth1");
    network_edge(&spec, 2, 3);
    struct topology *topology;
    assert_int_equal(topology_create(&topology, &spec, why, sizeof why), 0);
    topology_spec_finish(&spec);
    uint32_t out, in;
    topology_interface(topology, 0, "eth0", &out, &in);
    assert_true(out == 0 && in == 1);
    topology_interface(topology, 0, "eth1", &out, &in);
    assert_true(out == 2 && in == 3);
    topology_interface(topology, 0, "eth2", &out, &in);
    assert_true(out == TOPOLOGY_NONE && in == TOPOLOGY_NONE);
    topology_interface(topology, 1, "ib0", &out, &in);
    assert_true(out == 4 && in == 5);
    topology_destroy(topology);
}

/* Two nodes and a switch: other interfaces of node 0 and node 1 carry what is none of their link's.
 */
static void interfaces_that_are_not_those_of_the_only_link_have_none(void **state)
{
    (void)state;
    struct topology_spec spec;
    char why[200];
    network_graph(&spec, TOPOLOGY_GRAPH, 2, 3, 4);
    for (uint32_t node = 0; node < 2; node++) {
        network_edge(&spec, node, 2);
        network_edge(&spec, 2, node);
    }
    strcpy(spec.edges[0].interface, "ib0");
    strcpy(spec.edges[3].interface, "ib0"); /* named at the link to it */
    struct topology *topology;
    assert_int_equal(topology_create(&topology, &spec, why, sizeof why), 0);
    topology_spec_finish(&spec);
    for (uint32_t node = 0; node < 2; node++) {
        uint32_t out, in;
        topology_interface(topology, node, "ib0", &out, &in);
        assert_true(out == 2 * node && in == 2 * node + 1);
        topology_interface(topology, node, "eth0", &out, &in);
        assert_true(out == TOPOLOGY_NONE && in == TOPOLOGY_NONE);
    }
    topology_destroy(topology);
}

static void names_that_were_given_come_first(void **state)
{
    (void)state;
    struct topology_spec spec;
    struct topology_named names[4] = {{.name = "alpha"}, {.name = ""}, {.name = "beta"}};
    struct topology *topology;
    char why[200], name[80];
    assert_int_equal(topology_short(&spec, "mesh:2,2", why, sizeof why), 0);
    spec.vertices = names;
    spec.vertex_count = 3;
    assert_int_equal(topology_create(&topology, &spec, why, sizeof why), 0);
    assert_int_equal(topology_find(topology, "beta"), 2);
    assert_int_equal(topology_find(topology, "(1,0)"), 2);
    topology_vertex_name(topology, 2, name, sizeof name);
    assert_string_equal(name, "beta");
    topology_vertex_name(topology, 1, name, sizeof name);
    assert_string_equal(name, "(0,1)");
    topology_destroy(topology);
    strcpy(names[1].name, "beta");
    assert_int_equal(topology_create(&topology, &spec, why, sizeof why), -HOLTER_EUSAGE);
    assert_string_equal(why, "vertices 1 and 2 are both called \"beta\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_of_cartesian_networks_are_shortest),
        cmocka_unit_test(routes_of_dragonflies_are_minimal),
        cmocka_unit_test(routes_of_fat_trees_are_shortest),
        cmocka_unit_test(routes_of_trees_are_the_only_ones),
        cmocka_unit_test(routes_of_graphs_are_shortest_by_the_lowest_vertices),
        cmocka_unit_test(a_published_route_is_followed),
        cmocka_unit_test(halfway_round_a_ring_the_rule_for_ties_decides),
        cmocka_unit_test(links_of_a_torus_have_the_numbers_that_the_header_documents),
        cmocka_unit_test(fat_trees_spread_destinations_over_their_tops),
        cmocka_unit_test(a_dragonfly_goes_local_global_local),
        cmocka_unit_test(a_router_is_named_by_its_group),
        cmocka_unit_test(interfaces_name_links_of_a_torus),
        cmocka_unit_test(interfaces_name_links_of_a_graph),
        cmocka_unit_test(interfaces_that_are_not_those_of_the_only_link_have_none),
        cmocka_unit_test(names_that_were_given_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
