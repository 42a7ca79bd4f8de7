/* Loads of all links from the pairs of a window, and a window with the states of links.
 *
 * Pairs are drawn at random; `near` ones lie within two links of each other, as in a halo exchange
 * that is mapped well, `far` ones anywhere. */
#include "tests/bench/network_bench.h"

#include "daemon/analysis/network/congestion.h"
#include "daemon/analysis/network/link_loads.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 9u

static uint32_t partner(const struct topology *topology, uint32_t source, bool near,
                        uint64_t *state)
{
    uint32_t at = source, out[64];
    if (!near) {
        while (at == source)
            at = random_next(state) % topology_nodes(topology);
        return at;
    }
    while (at == source)
        for (unsigned hop = 0; hop < 2; hop++) {
            uint32_t from, count = topology_out(topology, at, out, 64);
            topology_link(topology, out[random_next(state) % count], &from, &at);
        }
    return at;
}

/* In ascending order, as those of a window. */
static struct load_change *draw(const struct topology *topology, size_t count, bool near)
{
    struct load_change *pairs = calloc(count, sizeof(*pairs));
    uint64_t state = 1;
    check(pairs != NULL, "no memory");
    for (size_t i = 0; i < count; i++) {
        uint32_t source = (uint32_t)(i * topology_nodes(topology) / count);
        pairs[i] = (struct load_change){.source = source,
                                        .destination = partner(topology, source, near, &state),
                                        .bytes = 1 + random_next(&state) % 1000000,
                                        .messages = 1 + random_next(&state) % 100};
    }
    return pairs;
}

/* The fastest round: others were disturbed. */
static double least(const double *took)
{
    double least = took[0];
    for (unsigned r = 1; r < ROUNDS; r++)
        least = took[r] < least ? took[r] : least;
    return least;
}

static void run(const char *text, size_t count, bool near)
{
    struct topology *topology = network(text);
    struct load_change *pairs = draw(topology, count, near);
    struct link_loads *loads = NULL;
    double took[ROUNDS];
    check(link_loads_create(&loads, topology) == 0, "no memory");
    for (unsigned r = 0; r < ROUNDS; r++) {
        double begin = seconds();
        link_loads_clear(loads);
        for (size_t i = 0; i < count; i++)
            check(link_loads_add(loads, &pairs[i]) == 0, "no route");
        took[r] = seconds() - begin;
    }
    printf("%s, %zu %s pairs: %.2f ms\n", text, count, near ? "near" : "far", 1e3 * least(took));
    link_loads_destroy(loads);
    topology_destroy(topology);
    free(pairs);
}

static struct congestion_pair *windows_pairs(const struct load_change *pairs, size_t count)
{
    struct congestion_pair *out = calloc(count, sizeof(*out));
    check(out != NULL, "no memory");
    for (size_t i = 0; i < count; i++)
        out[i] = (struct congestion_pair){.source = pairs[i].source,
                                          .destination = pairs[i].destination,
                                          .bytes = (uint64_t)pairs[i].bytes,
                                          .messages = (uint64_t)pairs[i].messages};
    return out;
}

/* Whole windows with states. */
static void run_states(const char *text, size_t count)
{
    struct topology *topology = network(text);
    struct load_change *changes = draw(topology, count, false);
    struct congestion_pair *pairs = windows_pairs(changes, count);
    struct congestion *congestion = NULL;
    struct congestion_route *routes = calloc(640, sizeof(*routes));
    uint64_t state = 3, window = 0;
    uint32_t hot[64];
    size_t found;
    double took[ROUNDS], listed[ROUNDS];
    check(routes != NULL && congestion_create(&congestion, topology) == 0, "no memory");
    /* sorted once, as the daemon keeps them */
    check(congestion_update(congestion, window++, 1, pairs, count) == 0, "no window");
    const struct congestion_pair *sorted = congestion_pairs(congestion, &count);
    memcpy(pairs, sorted, count * sizeof(*pairs));
    for (uint32_t i = 0; i < 64; i++)
        hot[i] = i * (topology_links(topology) / 64);
    for (unsigned r = 0; r < ROUNDS; r++) {
        for (size_t i = 0; i < count / 100; i++)
            pairs[random_next(&state) % count].bytes += 1000;
        double begin = seconds();
        check(congestion_update(congestion, window++, 1, pairs, count) == 0, "no window");
        took[r] = seconds() - begin;
        begin = seconds();
        const struct congestion_query query = {topology, pairs, count, hot, 64, 10};
        check(congestion_routes(&query, routes, &found) == 0, "no memory");
        listed[r] = seconds() - begin;
    }
    printf("%s, %zu far pairs: a window with states %.2f ms, the ten largest routes of "
           "each of 64 links %.2f ms\n",
           text, count, 1e3 * least(took), 1e3 * least(listed));
    congestion_destroy(congestion);
    topology_destroy(topology);
    free(changes);
    free(pairs);
    free(routes);
}

int main(void)
{
    for (int near = 0; near < 2; near++) {
        run("torus:4,4,4,16,2", 63406, near);
        run("torus:16,16,16,16", 1000000, near);
        run("torus:8,8,8,8,16", 1000000, near);
    }
    run_states("torus:4,4,4,16,2", 63406);
    return 0;
}
