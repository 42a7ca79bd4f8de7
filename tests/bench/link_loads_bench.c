/* Loads of all links, from nothing and after few changes, against walking every hop of every route.
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
                                        .messages = 1 + random_next(&state) % 100,
                                        .pairs = 1};
    }
    return pairs;
}

/* The reference. */
static uint64_t walk(const struct topology *topology, const struct load_change *pairs, size_t count,
                     struct link_load *values)
{
    uint32_t route[128];
    uint64_t hops = 0;
    memset(values, 0, topology_links(topology) * sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        uint32_t length =
            topology_route(topology, pairs[i].source, pairs[i].destination, route, 128);
        for (uint32_t k = 0; k < length; k++) {
            values[route[k]].bytes += (uint64_t)pairs[i].bytes;
            values[route[k]].messages += (uint64_t)pairs[i].messages;
        }
        hops += length;
    }
    return hops;
}

/* The fastest round: others were disturbed. */
static double least(const double *took)
{
    double least = took[0];
    for (unsigned r = 1; r < ROUNDS; r++)
        least = took[r] < least ? took[r] : least;
    return least;
}

static void add_all(struct link_loads *loads, const struct load_change *pairs, size_t count)
{
    check(link_loads_add_many(loads, pairs, count) == 0, "no route");
    link_loads_update(loads);
}

/* One in a hundred pairs sends something else than in the last window. */
static size_t change(struct load_change *pairs, size_t count, uint64_t *state,
                     struct load_change *out)
{
    size_t changed = count / 100;
    for (size_t i = 0; i < changed; i++) {
        struct load_change *pair = &pairs[(i * 100 + random_next(state) % 100) % count];
        int64_t bytes = 1 + random_next(state) % 1000000;
        out[i] = *pair;
        out[i].bytes = bytes - pair->bytes;
        out[i].messages = 0;
        out[i].pairs = 0;
        pair->bytes = bytes;
    }
    return changed;
}

static void run(const char *text, size_t count, bool near)
{
    struct topology *topology = network(text);
    struct load_change *pairs = draw(topology, count, near),
                       *changes = calloc(count / 100 + 1, sizeof(*changes));
    struct link_load *plain = calloc(topology_links(topology), sizeof(*plain));
    struct link_loads *loads = NULL;
    double from_scratch[ROUNDS], update[ROUNDS], naive[ROUNDS];
    uint64_t state = 2, hops = 0;
    check(changes != NULL && plain != NULL && link_loads_create(&loads, topology) == 0,
          "no memory");
    for (unsigned r = 0; r < ROUNDS; r++) {
        double begin = seconds();
        link_loads_clear(loads);
        add_all(loads, pairs, count);
        from_scratch[r] = seconds() - begin;
        size_t changed = change(pairs, count, &state, changes);
        begin = seconds();
        add_all(loads, changes, changed);
        update[r] = seconds() - begin;
        begin = seconds();
        hops = walk(topology, pairs, count, plain);
        naive[r] = seconds() - begin;
        check(memcmp(plain, link_loads_values(loads), topology_links(topology) * sizeof(*plain)) ==
                  0,
              "the loads differ from those of the walk");
    }
    double a = least(from_scratch), u = least(update), n = least(naive);
    printf("%s, %zu %s pairs, %.1f links each: from nothing %.2f ms, 1 %% changed %.3f ms; walking "
           "every hop %.2f ms: %.1f x, %.0f x; %.1f MB\n",
           text, count, near ? "near" : "far", (double)hops / (double)count, 1e3 * a, 1e3 * u,
           1e3 * n, n / a, n / u, 1e-6 * (double)link_loads_bytes(loads));
    link_loads_destroy(loads);
    topology_destroy(topology);
    free(pairs);
    free(changes);
    free(plain);
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

/* Whole windows with states: all pairs are given, and compared with those before. */
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
    check(routes != NULL && congestion_create(&congestion, topology, &CONGESTION_DEFAULTS) == 0,
          "no memory");
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
        check(congestion_routes(topology, pairs, count, hot, 64, 10, routes, &found) == 0,
              "no memory");
        listed[r] = seconds() - begin;
    }
    printf(
        "%s, %zu far pairs: a window with states, 1 %% changed %.2f ms, the ten largest routes of "
        "each of 64 links %.2f ms; %.1f MB\n",
        text, count, 1e3 * least(took), 1e3 * least(listed),
        1e-6 * (double)congestion_bytes(congestion));
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
