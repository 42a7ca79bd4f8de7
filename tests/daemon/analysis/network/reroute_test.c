/* Better routes against searching all routes. */
#include "daemon/analysis/network/reroute.h"
#include "holter/error.h"
#include "tests/daemon/analysis/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define VERTICES 64u
#define DEEPEST 8u

static struct reroute *create(const struct topology *topology)
{
    struct reroute *reroute = NULL;
    assert_int_equal(reroute_create(&reroute, topology), 0);
    return reroute;
}

/* ---- the reference: all simple routes of a limited length ---- */

struct figures {
    uint32_t length;
    uint64_t heaviest, sum;
};

struct search {
    const struct topology *topology;
    const uint64_t *loads; /* the route's own bytes taken off */
    uint64_t bytes;
    uint32_t to, limit, far[VERTICES];
    uint64_t bound;
    enum reroute_first first;
    bool on[VERTICES];
    struct figures best;
};

/* Links to the destination, relaxing until nothing changes. */
static void measure(struct search *s)
{
    bool changed = true;
    memset(s->far, 0x3f, sizeof(s->far));
    s->far[s->to] = 0;
    while (changed) {
        changed = false;
        for (uint32_t link = 0; link < topology_links(s->topology); link++) {
            uint32_t from, to;
            if (topology_link(s->topology, link, &from, &to) && s->far[from] > s->far[to] + 1) {
                s->far[from] = s->far[to] + 1;
                changed = true;
            }
        }
    }
}

static bool forwards(const struct topology *topology, uint32_t vertex)
{
    enum topology_kind kind = topology_spec(topology)->kind;
    return vertex >= topology_nodes(topology) ||
           (kind != TOPOLOGY_FAT_TREE && kind != TOPOLOGY_DRAGONFLY);
}

static int compare(enum reroute_first first, const struct figures *a, const struct figures *b)
{
    uint64_t x[3] = {a->length, a->heaviest, a->sum}, y[3] = {b->length, b->heaviest, b->sum};
    if (first == REROUTE_LOAD) {
        x[0] = a->heaviest, y[0] = b->heaviest;
        x[1] = a->length, y[1] = b->length;
    }
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static void try_all(struct search *s, uint32_t at, struct figures so_far)
{
    if (at == s->to) {
        if (compare(s->first, &so_far, &s->best) < 0)
            s->best = so_far;
        return;
    }
    s->on[at] = true;
    for (uint32_t link = 0; link < topology_links(s->topology); link++) {
        uint32_t from, to;
        if (!topology_link(s->topology, link, &from, &to) || from != at || s->on[to] ||
            s->loads[link] + s->bytes > s->bound || so_far.length + 1 + s->far[to] > s->limit ||
            (to != s->to && !forwards(s->topology, to)) ||
            topology_link_between(s->topology, from, to) != link)
            continue;
        uint64_t load = s->loads[link] + s->bytes;
        struct figures next = {so_far.length + 1, load > so_far.heaviest ? load : so_far.heaviest,
                               so_far.sum + load};
        try_all(s, to, next);
    }
    s->on[at] = false;
}

/* The best there is, at worst the old route itself. */
static struct figures best_of_all(const struct topology *topology, const uint64_t *loads,
                                  const struct reroute_params *params,
                                  const struct reroute_route *route, const uint32_t *links,
                                  uint32_t length, struct figures *old)
{
    uint64_t *less = malloc((topology_links(topology) + 1u) * sizeof(*less));
    assert_non_null(less);
    memcpy(less, loads, topology_links(topology) * sizeof(*less));
    *old = (struct figures){length, 0, 0};
    for (uint32_t i = 0; i < length; i++) {
        old->heaviest = loads[links[i]] > old->heaviest ? loads[links[i]] : old->heaviest;
        old->sum += loads[links[i]];
        less[links[i]] -= route->bytes;
    }
    struct search s = {.topology = topology,
                       .loads = less,
                       .bytes = route->bytes,
                       .to = route->destination,
                       .limit = length + params->delta,
                       .bound = old->heaviest,
                       .first = params->first,
                       .best = *old};
    measure(&s);
    try_all(&s, route->source, (struct figures){0, 0, 0});
    free(less);
    return s.best;
}

/* ---- tests ---- */

static void assert_leads(const struct topology *topology, const struct reroute_route *route,
                         const struct reroute_result *result)
{
    uint32_t at = route->source;
    for (uint32_t i = 0; i < result->length_after; i++) {
        uint32_t from, to;
        assert_true(topology_link(topology, result->links[i], &from, &to));
        assert_int_equal(from, at);
        at = to;
    }
    assert_int_equal(at, route->destination);
}

static void try_route(const struct topology *topology, struct reroute *reroute, uint64_t *loads,
                      const struct reroute_params *params, const struct reroute_route *route,
                      const uint32_t *links, uint32_t length)
{
    uint32_t links_count = topology_links(topology);
    struct reroute_result result;
    struct figures old;
    for (uint32_t i = 0; i < length; i++)
        loads[links[i]] += route->bytes;
    struct figures best = best_of_all(topology, loads, params, route, links, length, &old);
    reroute_set(reroute, loads);
    assert_int_equal(reroute_one(reroute, params, route, &result), 0);
    assert_int_equal(result.length, old.length);
    assert_int_equal(result.heaviest, old.heaviest);
    assert_int_equal(result.sum, old.sum);
    bool better = best.length != old.length || best.heaviest != old.heaviest;
    assert_int_equal(result.better, better);
    assert_int_equal(result.length_after, best.length);
    assert_int_equal(result.heaviest_after, best.heaviest);
    assert_int_equal(result.sum_after, better ? best.sum : old.sum);
    assert_leads(topology, route, &result);
    assert_memory_equal(reroute_loads(reroute), loads, links_count * sizeof(*loads));
    for (uint32_t i = 0; i < length; i++)
        loads[links[i]] -= route->bytes;
}

/* The topology's route to a node at random. */
static void try_some(const struct topology *topology, struct reroute *reroute, uint64_t *loads,
                     unsigned number, struct noise *noise)
{
    static const uint64_t mosts[] = {4, 20, 1000};
    uint64_t most = mosts[number % 3];
    uint32_t nodes = topology_nodes(topology), links[VERTICES], length;
    for (uint32_t link = 0; link < topology_links(topology); link++)
        loads[link] = noise_uint(noise) % most;
    struct reroute_params params = {number / 4 % 2 ? REROUTE_LENGTH : REROUTE_LOAD, number % 4};
    struct reroute_route route = {.source = (uint32_t)(noise_uint(noise) % nodes),
                                  .bytes = noise_uint(noise) % most};
    route.destination = (uint32_t)(noise_uint(noise) % nodes);
    length = topology_route(topology, route.source, route.destination, links, VERTICES);
    if (length != 0 && length != TOPOLOGY_NONE && length + params.delta <= DEEPEST)
        try_route(topology, reroute, loads, &params, &route, links, length);
}

static void no_route_is_better_than_the_one_found(void **state)
{
    (void)state;
    struct noise noise = {.state = 11};
    for (unsigned round = 0; round < 60; round++) {
        struct topology *topology = network_random(round % 5, &noise);
        struct reroute *reroute = create(topology);
        uint64_t *loads = calloc(topology_links(topology) + 1u, sizeof(*loads));
        assert_non_null(loads);
        for (unsigned i = 0; i < 16; i++)
            try_some(topology, reroute, loads, i, &noise);
        free(loads);
        reroute_destroy(reroute);
        topology_destroy(topology);
    }
}

/* Put loads of one route of each pair on the links. */
static void load(uint64_t *loads, const struct topology *topology, uint32_t source,
                 uint32_t destination, uint64_t bytes)
{
    uint32_t links[VERTICES];
    uint32_t length = topology_route(topology, source, destination, links, VERTICES);
    for (uint32_t i = 0; i < length; i++)
        loads[links[i]] += bytes;
}

/* Three routes from one corner of a 4x4 torus to (1,1): two of them give way. */
static void several_routes_spread(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4");
    struct reroute *reroute = create(topology);
    uint64_t loads[64] = {0}, before[64];
    struct reroute_route routes[3] = {{.destination = 5, .bytes = 10},
                                      {.destination = 5, .bytes = 30},
                                      {.destination = 5, .bytes = 20}};
    struct reroute_result results[3];
    struct reroute_params params = {REROUTE_LOAD, 0};
    assert_int_equal(topology_links(topology), 64);
    for (size_t i = 0; i < 3; i++)
        load(loads, topology, 0, 5, routes[i].bytes);
    reroute_set(reroute, loads);
    memcpy(before, loads, sizeof(before));
    assert_int_equal(reroute_several(reroute, &params, routes, 3, results), 0);
    /* the largest has its turn first: away from the other two, 30 alone; the next is left with 10,
     * and the last cannot do better than beside the second */
    assert_int_equal(results[1].heaviest, 60);
    assert_int_equal(results[1].heaviest_after, 30);
    assert_true(results[1].better);
    assert_int_equal(results[2].heaviest, 30);
    assert_false(results[2].better);
    assert_int_equal(results[0].heaviest, 30);
    assert_false(results[0].better);
    uint64_t most = 0;
    for (size_t i = 0; i < 64; i++)
        most = reroute_loads(reroute)[i] > most ? reroute_loads(reroute)[i] : most;
    assert_int_equal(most, 30);
    for (size_t i = 0; i < 3; i++)
        assert_leads(topology, &routes[i], &results[i]);

    /* undone */
    uint32_t old[8];
    uint32_t length = topology_route(topology, 0, 5, old, 8);
    reroute_apply(reroute, 30, results[1].links, results[1].length_after, old, length);
    assert_memory_equal(reroute_loads(reroute), before, sizeof(before));
    reroute_destroy(reroute);
    topology_destroy(topology);
}

static void a_longer_route_is_taken_where_allowed(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:6,6");
    struct reroute *reroute = create(topology);
    uint64_t loads[144] = {0};
    uint32_t link = topology_link_between(topology, 0, 6);
    loads[link] = 100;
    reroute_set(reroute, loads);
    struct reroute_route route = {.destination = 6, .bytes = 40};
    struct reroute_result result;
    assert_int_equal(
        reroute_one(reroute, &(struct reroute_params){REROUTE_LOAD, 1}, &route, &result), 0);
    assert_false(result.better);
    assert_int_equal(result.length_after, 1);
    assert_int_equal(result.heaviest_after, 100);
    assert_int_equal(
        reroute_one(reroute, &(struct reroute_params){REROUTE_LOAD, 2}, &route, &result), 0);
    assert_true(result.better);
    assert_int_equal(result.length_after, 3);
    assert_int_equal(result.heaviest_after, 40);
    reroute_destroy(reroute);
    topology_destroy(topology);
}

/* A route is a list of vertices: of several links between two of them it uses the first. */
static void a_further_link_between_the_same_vertices_is_no_other_route(void **state)
{
    (void)state;
    struct topology_spec spec;
    struct topology *topology = NULL;
    char why[200];
    network_graph(&spec, TOPOLOGY_GRAPH, 2, 2, 3);
    network_edge(&spec, 0, 1);
    network_edge(&spec, 0, 1);
    network_edge(&spec, 1, 0);
    assert_int_equal(topology_create(&topology, &spec, why, sizeof(why)), 0);
    topology_spec_finish(&spec);
    struct reroute *reroute = create(topology);
    const struct reroute_params params = {REROUTE_LOAD, 1};
    const struct reroute_route route = {.source = 0, .destination = 1, .bytes = 10};
    struct reroute_result result;
    reroute_set(reroute, (uint64_t[]){30, 0, 0});
    assert_int_equal(reroute_one(reroute, &params, &route, &result), 0);
    assert_false(result.better);
    assert_int_equal(result.heaviest_after, 30);
    assert_int_equal(result.links[0], topology_link_between(topology, 0, 1));
    reroute_destroy(reroute);
    topology_destroy(topology);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4");
    struct reroute *reroute = create(topology);
    struct reroute_params params = {REROUTE_LOAD, 0},
                          far = {REROUTE_LOAD, REROUTE_MAXIMUM_DELTA + 1};
    struct reroute_result result, two[2];
    uint64_t loads[64], huge = UINT64_MAX;
    for (size_t i = 0; i < 64; i++)
        loads[i] = huge - i % 2;
    reroute_set(reroute, loads);
    struct reroute_route good = {.destination = 5, .bytes = huge},
                         same = {.source = 3, .destination = 3, .bytes = 1},
                         beyond = {.destination = 16, .bytes = 1};
    assert_int_equal(reroute_one(reroute, &params, &same, &result), -HOLTER_ERANGE);
    assert_int_equal(reroute_one(reroute, &params, &beyond, &result), -HOLTER_ERANGE);
    assert_int_equal(reroute_one(reroute, &far, &good, &result), -HOLTER_ERANGE);
    assert_int_equal(reroute_one(reroute, &params, &good, &result), 0);
    assert_int_equal(
        reroute_several(reroute, &params, (struct reroute_route[]){good, same}, 2, two),
        -HOLTER_ERANGE);
    assert_int_equal(reroute_several(reroute, &params, NULL, 0, NULL), 0);
    assert_memory_equal(reroute_loads(reroute), loads, sizeof(loads));
    reroute_destroy(reroute);
    reroute_destroy(NULL);
    topology_destroy(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_route_is_better_than_the_one_found),
        cmocka_unit_test(several_routes_spread),
        cmocka_unit_test(a_longer_route_is_taken_where_allowed),
        cmocka_unit_test(a_further_link_between_the_same_vertices_is_no_other_route),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
