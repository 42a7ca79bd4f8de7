/* Loads of links against walking every route. */
#include "daemon/analysis/network/link_loads.h"
#include "holter/error.h"
#include "tests/daemon/analysis/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct link_loads *create(const struct topology *topology)
{
    struct link_loads *loads = NULL;
    assert_int_equal(link_loads_create(&loads, topology), 0);
    return loads;
}

static void add(struct link_loads *loads, uint32_t source, uint32_t destination, int64_t bytes,
                int64_t messages)
{
    struct load_change change = {source, destination, bytes, messages};
    assert_int_equal(link_loads_add(loads, &change), 0);
}

/* The reference: every hop of every route. */
struct plain {
    const struct topology *topology;
    struct link_load *links;
    uint32_t *route, capacity;
};

static struct plain plain_create(const struct topology *topology)
{
    struct plain p = {.topology = topology, .capacity = topology_diameter(topology) + 1};
    p.links = calloc(topology_links(topology) + 1u, sizeof(*p.links));
    p.route = calloc(p.capacity, sizeof(*p.route));
    assert_true(p.links && p.route);
    return p;
}

static void plain_finish(struct plain *p)
{
    free(p->links);
    free(p->route);
}

static void plain_add(struct plain *p, uint32_t source, uint32_t destination, int64_t bytes,
                      int64_t messages)
{
    if (source == destination)
        return;
    uint32_t length = topology_route(p->topology, source, destination, p->route, p->capacity);
    assert_true(length <= p->capacity);
    for (uint32_t i = 0; i < length; i++) {
        p->links[p->route[i]].bytes += (uint64_t)bytes;
        p->links[p->route[i]].messages += (uint64_t)messages;
    }
}

static void assert_same(const struct link_loads *loads, const struct plain *p)
{
    uint32_t links = topology_links(p->topology);
    assert_memory_equal(link_loads_values(loads), p->links, links * sizeof(*p->links));
}

/* Rounds of random changes, some of them taking earlier ones away. */
static void try_random(const struct topology *topology, struct noise *noise)
{
    struct link_loads *loads = create(topology);
    struct plain plain = plain_create(topology);
    uint32_t vertices = topology_vertices(topology);
    for (unsigned round = 0; round < 6; round++) {
        uint32_t count = round == 3 ? 0 : round % 2 ? 2 : 150;
        for (uint32_t i = 0; i < count; i++) {
            struct load_change c = {.source = (uint32_t)(noise_uint(noise) % vertices),
                                    .destination = (uint32_t)(noise_uint(noise) % vertices),
                                    .bytes = (int64_t)(noise_uint(noise) % 1000) - 300,
                                    .messages = (int64_t)(noise_uint(noise) % 9) - 2};
            if (topology_distance(topology, c.source, c.destination) == TOPOLOGY_NONE) {
                assert_int_equal(link_loads_add(loads, &c), -HOLTER_EUNREACHABLE);
                continue;
            }
            add(loads, c.source, c.destination, c.bytes, c.messages);
            plain_add(&plain, c.source, c.destination, c.bytes, c.messages);
        }
        assert_same(loads, &plain);
    }
    link_loads_clear(loads);
    plain_finish(&plain);
    plain = plain_create(topology);
    assert_same(loads, &plain);
    uint32_t last = topology_nodes(topology) - 1;
    add(loads, 0, last, 5, 1);
    plain_add(&plain, 0, last, 5, 1);
    assert_same(loads, &plain);
    plain_finish(&plain);
    link_loads_destroy(loads);
}

static void loads_are_those_of_walking_every_route(void **state)
{
    (void)state;
    struct noise noise = {.state = 7};
    for (unsigned round = 0; round < 200; round++) {
        struct topology *topology = network_random(round % 5, &noise);
        try_random(topology, &noise);
        topology_destroy(topology);
    }
}

static void every_pair_of_a_torus_loads_what_it_crosses(void **state)
{
    (void)state;
    static const char *const texts[] = {"torus:4,5,2", "torus:6,4m/tie=minus", "torus:8/tie=plus",
                                        "mesh:3,3,3", "torus:2,2,4,4,2/order=D,C,B,A,E"};
    for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
        struct topology *topology = network_short(texts[t]);
        struct link_loads *loads = create(topology);
        struct plain plain = plain_create(topology);
        uint32_t nodes = topology_nodes(topology);
        for (uint32_t s = 0; s < nodes; s++)
            for (uint32_t d = 0; d < nodes; d++) {
                add(loads, s, d, s * nodes + d, 1);
                plain_add(&plain, s, d, s * nodes + d, 1);
            }
        assert_same(loads, &plain);
        plain_finish(&plain);
        link_loads_destroy(loads);
        topology_destroy(topology);
    }
}

/* Visuco, Fig. 6. */
static void a_pair_loads_the_links_between(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:2,2,4,2,2/order=D,B,A,C,E");
    struct link_loads *loads = create(topology);
    static const uint32_t stops[][5] = {
        {1, 0, 2, 1, 0}, {1, 0, 2, 0, 0}, {1, 1, 2, 0, 0}, {0, 1, 2, 0, 0}};
    uint32_t vertex[4], loaded = 0;
    for (size_t i = 0; i < 4; i++)
        vertex[i] = topology_at(topology, stops[i]);
    add(loads, vertex[0], vertex[3], 7, 2);
    const struct link_load *values = link_loads_values(loads);
    for (uint32_t link = 0; link < topology_links(topology); link++)
        loaded += values[link].bytes != 0;
    assert_int_equal(loaded, 3);
    for (size_t i = 0; i + 1 < 4; i++) {
        uint32_t link = topology_link_between(topology, vertex[i], vertex[i + 1]);
        assert_int_equal(values[link].bytes, 7);
        assert_int_equal(values[link].messages, 2);
    }
    link_loads_destroy(loads);
    topology_destroy(topology);
}

static void taking_away_what_was_added_leaves_nothing(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4,4");
    struct link_loads *loads = create(topology);
    struct plain plain = plain_create(topology);
    int64_t huge = INT64_MAX;
    for (uint32_t s = 0; s < 64; s++)
        for (uint32_t d = 0; d < 64; d++)
            add(loads, s, d, huge - s - d, huge);
    for (uint32_t d = 64; d-- > 0;)
        for (uint32_t s = 64; s-- > 0;)
            add(loads, s, d, (int64_t)s + d - huge, -huge);
    assert_same(loads, &plain);
    plain_finish(&plain);
    link_loads_destroy(loads);
    topology_destroy(topology);
}

/* Routes by table go before the rule, in a torus too. */
static void given_routes_are_followed(void **state)
{
    (void)state;
    char why[256];
    struct topology_spec spec = {0};
    assert_int_equal(topology_short(&spec, "torus:4,4", why, sizeof(why)), 0);
    uint32_t around[] = {0, 3, 2, 1, 5};
    spec.path = malloc(sizeof(around));
    spec.routes = calloc(1, sizeof(*spec.routes));
    assert_true(spec.path && spec.routes);
    memcpy(spec.path, around, sizeof(around));
    spec.path_count = 5;
    spec.routes[0].count = 5;
    spec.route_count = 1;
    struct topology *topology = NULL;
    assert_int_equal(topology_create(&topology, &spec, why, sizeof(why)), 0);
    topology_spec_finish(&spec);
    assert_int_equal(topology_distance(topology, 0, 5), 4);
    struct noise noise = {.state = 1};
    for (unsigned round = 0; round < 3; round++)
        try_random(topology, &noise);
    struct link_loads *loads = create(topology);
    struct plain plain = plain_create(topology);
    for (uint32_t s = 0; s < 16; s++) {
        add(loads, s, (s + 5) % 16, 100 + s, 1);
        plain_add(&plain, s, (s + 5) % 16, 100 + s, 1);
    }
    assert_same(loads, &plain);
    plain_finish(&plain);
    link_loads_destroy(loads);
    topology_destroy(topology);
}

static void what_does_not_exist_is_refused(void **state)
{
    (void)state;
    struct topology *topology = network_short("mesh:3,3");
    struct link_loads *loads = create(topology);
    struct plain plain = plain_create(topology);
    struct load_change beyond = {9, 0, 1, 1}, far = {0, UINT32_MAX, 1, 1};
    assert_int_equal(link_loads_add(loads, &beyond), -HOLTER_ERANGE);
    assert_int_equal(link_loads_add(loads, &far), -HOLTER_ERANGE);
    assert_same(loads, &plain);
    plain_finish(&plain);
    link_loads_destroy(loads);
    link_loads_destroy(NULL);
    topology_destroy(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_walking_every_route),
        cmocka_unit_test(every_pair_of_a_torus_loads_what_it_crosses),
        cmocka_unit_test(a_pair_loads_the_links_between),
        cmocka_unit_test(taking_away_what_was_added_leaves_nothing),
        cmocka_unit_test(given_routes_are_followed),
        cmocka_unit_test(what_does_not_exist_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
