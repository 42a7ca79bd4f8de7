/* Better routes, one at a time, on 2,048 nodes (Visuco, section 5.1: 30 ms for a route of length
 * 10), against following all routes that the equations allow, as the paper does; and the routes
 * over the most loaded links of MiniMD (Visuco, section 7.1).
 *
 * `busy`: 63,406 random pairs load the links. `hot`: besides, one link of the route carries more
 * than any other of the network, so that no other link can be ruled out at once. */
#include "tests/bench/network_bench.h"

#include "daemon/analysis/network/link_loads.h"
#include "daemon/analysis/network/reroute.h"
#include "tests/daemon/analysis/network/recorded_routes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUTES 2000u
#define LENGTH 64u

static void put(uint64_t *loads, const struct topology *topology, const struct reroute_route *route)
{
    uint32_t links[LENGTH];
    uint32_t length = topology_route(topology, route->source, route->destination, links, LENGTH);
    while (length > 0)
        loads[links[--length]] += route->bytes;
}

/* Pairs anywhere; the routes are those of a length. */
static uint64_t *load_at_random(const struct topology *topology, uint32_t length,
                                struct reroute_route *routes)
{
    uint64_t state = 1, *loads = calloc(topology_links(topology), sizeof(*loads));
    uint32_t nodes = topology_nodes(topology), found = 0;
    check(loads != NULL, "no memory");
    for (uint32_t i = 0; i < 63406 || found < ROUTES; i++) {
        struct reroute_route route = {.source = random_next(&state) % nodes,
                                      .destination = random_next(&state) % nodes,
                                      .bytes = 1 + random_next(&state) % 1000000};
        if (i < 63406)
            put(loads, topology, &route);
        else
            route.bytes = 0;
        if (topology_distance(topology, route.source, route.destination) == length &&
            found < ROUTES)
            routes[found++] = route;
    }
    return loads;
}

/* ---- the reference ---- */

struct all {
    const struct topology *topology;
    const uint64_t *loads;
    uint64_t bytes, bound, best;
    uint32_t to, limit;
    uint64_t seen;
};

/* All routes of a limited length over links of a limited load; as far as a route may still get
 * there. */
static void follow(struct all *all, uint32_t at, uint32_t length, uint64_t heaviest)
{
    uint32_t links[LENGTH], from, next;
    if (at == all->to) {
        all->seen++;
        all->best = heaviest < all->best ? heaviest : all->best;
        return;
    }
    uint32_t count = topology_out(all->topology, at, links, LENGTH);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t load = all->loads[links[i]] + all->bytes;
        topology_link(all->topology, links[i], &from, &next);
        if (load <= all->bound &&
            length + 1 + topology_distance(all->topology, next, all->to) <= all->limit)
            follow(all, next, length + 1, load > heaviest ? load : heaviest);
    }
}

/* @return the least heaviest link */
static uint64_t follow_all(const struct topology *topology, uint64_t *loads,
                           const struct reroute_route *route, uint64_t *seen)
{
    uint32_t links[LENGTH],
        length = topology_route(topology, route->source, route->destination, links, LENGTH);
    struct all all = {.topology = topology,
                      .loads = loads,
                      .bytes = route->bytes,
                      .best = UINT64_MAX,
                      .to = route->destination,
                      .limit = length};
    for (uint32_t i = 0; i < length; i++) {
        all.bound = loads[links[i]] > all.bound ? loads[links[i]] : all.bound;
        loads[links[i]] -= route->bytes;
    }
    follow(&all, route->source, 0, 0);
    for (uint32_t i = 0; i < length; i++)
        loads[links[i]] += route->bytes;
    *seen += all.seen;
    return all.best;
}

/* ---- runs ---- */

static uint64_t *heat(const struct topology *topology, const uint64_t *loads,
                      const struct reroute_route *routes)
{
    uint32_t links[LENGTH], count = topology_links(topology);
    uint64_t *hot = malloc(count * sizeof(*hot));
    check(hot != NULL, "no memory");
    memcpy(hot, loads, count * sizeof(*hot));
    for (uint32_t i = 0; i < ROUTES; i++) {
        uint32_t length =
            topology_route(topology, routes[i].source, routes[i].destination, links, LENGTH);
        hot[links[length / 2]] = UINT32_MAX;
    }
    return hot;
}

static double time_ours(struct reroute *reroute, const struct reroute_params *params,
                        const struct reroute_route *routes, uint64_t *best)
{
    double begin = seconds();
    for (uint32_t i = 0; i < ROUTES; i++) {
        struct reroute_result result;
        check(reroute_one(reroute, params, &routes[i], &result) == 0, "no route");
        best[i] = result.heaviest_after;
    }
    return (seconds() - begin) / ROUTES;
}

static void compare(const struct topology *topology, uint64_t *loads,
                    const struct reroute_route *routes, const uint64_t *best, double ours)
{
    uint32_t some = ROUTES / 20;
    uint64_t seen = 0;
    double begin = seconds();
    for (uint32_t i = 0; i < some; i++)
        check(follow_all(topology, loads, &routes[i], &seen) == best[i],
              "following all routes finds another optimum");
    double took = (seconds() - begin) / some;
    printf("; following all %.0f routes %.0f us (%.1f x)", (double)seen / some, 1e6 * took,
           took / ours);
}

static void run(uint32_t length, bool hot)
{
    struct topology *topology = network("torus:4,4,4,16,2");
    struct reroute_route *routes = calloc(ROUTES, sizeof(*routes));
    uint64_t *best = calloc(ROUTES, sizeof(*best));
    struct reroute *reroute = NULL;
    check(routes != NULL && best != NULL && reroute_create(&reroute, topology) == 0, "no memory");
    uint64_t *loads = load_at_random(topology, length, routes);
    if (hot) {
        uint64_t *hotter = heat(topology, loads, routes);
        free(loads);
        loads = hotter;
    }
    reroute_set(reroute, loads);
    for (uint32_t delta = 0; delta < 4; delta++) {
        struct reroute_params shortest = {REROUTE_LENGTH, delta}, lightest = {REROUTE_LOAD, delta};
        double a = time_ours(reroute, &shortest, routes, best);
        double b = time_ours(reroute, &lightest, routes, best);
        printf("%s, length %u, delta %u: Eq. 1 %.1f us, Eq. 2 %.1f us", hot ? "hot" : "busy",
               length, delta, 1e6 * a, 1e6 * b);
        if (delta == 0 && (length <= 8 || !hot))
            compare(topology, loads, routes, best, b);
        printf("\n");
    }
    reroute_destroy(reroute);
    topology_destroy(topology);
    free(routes);
    free(best);
    free(loads);
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static size_t over_loaded_links(const struct topology *topology, const uint64_t *loads,
                                const struct recorded_pair *pairs, uint32_t count,
                                struct reroute_route *out)
{
    uint32_t links[LENGTH], link_count = topology_links(topology), loaded = 0;
    uint64_t *sorted = calloc(link_count, sizeof(*sorted));
    size_t found = 0;
    check(sorted != NULL, "no memory");
    for (uint32_t link = 0; link < link_count; link++)
        if (loads[link] > 0)
            sorted[loaded++] = loads[link];
    qsort(sorted, loaded, sizeof(*sorted), descending);
    for (uint32_t i = 0; i < count; i++) {
        bool crosses = false;
        uint32_t length =
            topology_route(topology, pairs[i].source, pairs[i].destination, links, LENGTH);
        while (length > 0)
            crosses |= loads[links[--length]] >= sorted[loaded / 20 - 1];
        if (crosses)
            out[found++] = (struct reroute_route){pairs[i].source, pairs[i].destination,
                                                  (uint64_t)pairs[i].bytes, NULL, 0};
    }
    free(sorted);
    return found;
}

/* Ranks first .. first + ranks - 1 of MiniMD alone. */
static void run_minimd(uint32_t first, uint32_t ranks, uint32_t delta)
{
    struct topology *topology = network("torus:4,4,4,16,2/order=D,B,A,C,E");
    struct recorded_pairs recorded = recorded_pairs("MiniMD_Mira_n2048_c1_s1");
    struct recorded_pair *pairs = recorded.pairs;
    uint32_t all = recorded.count, count = 0;
    size_t over, improved = 0;
    struct reroute_route *routes = calloc(all, sizeof(*routes));
    struct reroute_result *results = calloc(all, sizeof(*results));
    uint64_t *loads = calloc(topology_links(topology), sizeof(*loads));
    struct reroute *reroute = NULL;
    double sum = 0, most = 0;
    check(routes != NULL && results != NULL && loads != NULL &&
              reroute_create(&reroute, topology) == 0,
          "no memory");
    for (uint32_t i = 0; i < all; i++) {
        struct reroute_route route = {pairs[i].source, pairs[i].destination,
                                      (uint64_t)pairs[i].bytes, NULL, 0};
        if (route.source - first >= ranks || route.destination - first >= ranks)
            continue;
        put(loads, topology, &route);
        pairs[count++] = pairs[i];
    }
    over = over_loaded_links(topology, loads, pairs, count, routes);
    reroute_set(reroute, loads);
    double begin = seconds();
    check(reroute_several(reroute, &(struct reroute_params){REROUTE_LOAD, delta}, routes, over,
                          results) == 0,
          "no route");
    double took = seconds() - begin;
    for (size_t i = 0; i < over; i++) {
        double gain = 1 - (double)results[i].heaviest_after / (double)results[i].heaviest;
        improved += gain > 0;
        sum += gain;
        most = gain > most ? gain : most;
    }
    printf("MiniMD, ranks %u to %u, delta %u: %zu of %zu routes over the most loaded twentieth of "
           "links improve, by %.1f %% in the mean, %.1f %% at most; %.2f ms\n",
           first, first + ranks - 1, delta, improved, over,
           improved > 0 ? 100 * sum / (double)improved : 0, 100 * most, 1e3 * took);
    reroute_destroy(reroute);
    topology_destroy(topology);
    free(pairs);
    free(routes);
    free(results);
    free(loads);
}

int main(void)
{
    printf("torus:4,4,4,16,2: 2,048 nodes, 18,432 directed links\n");
    for (uint32_t length = 4; length <= 12; length += 2)
        run(length, false);
    run(6, true);
    run(10, true);
    run_minimd(0, 2048, 0);
    run_minimd(0, 2048, 2);
    run_minimd(288, 64, 0);
    run_minimd(288, 64, 2);
    return 0;
}
