/* The CommGram picture: what a phase costs.
 *
 *   commgram_bench [PHASES]
 *
 * 4,320 ranks (CommGram, Fig. 7) with 30,000 edges in each phase: a halo of neighbours in 3
 * dimensions, whose weights differ from phase to phase, and in every fourth phase a stage of an
 * exchange between far ranks. Printed for 18 communities:
 *
 * - cold: ms for each phase, and the longest; then the time that finishing takes, and its longest
 *   part
 * - again: the same picture once more, from the cache
 * - slid: the picture of the phases from the second on and a new one, also for more communities,
 *   up to one for each rank
 *
 * The reference is one cold dendrogram of such a phase. */
#include "daemon/analysis/commgram/commgram.h"
#include "daemon/analysis/commgram/commgram_cache.h"
#include "daemon/analysis/communities/communities.h"
#include "holter/size_class.h"
#include "tests/bench/bench.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <stdio.h>
#include <stdlib.h>

#define X 20u
#define Y 18u
#define Z 12u
#define RANKS (X * Y * Z)
#define EDGES 30000u

struct graph {
    struct phase_edge edges[EDGES];
    size_t count;
};

static void send(struct graph *g, uint32_t from, uint32_t to, uint64_t bytes)
{
    if (g->count < EDGES)
        g->edges[g->count++] = (struct phase_edge){from, to, size_class_of(bytes), 0, 1, bytes};
}

static void fill_halo(struct graph *g, uint64_t *random)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t x = r % X, y = r / X % Y, z = r / X / Y;
        send(g, r, (x + 1) % X + X * (y + Y * z), 80000);
        send(g, r, (x + X - 1) % X + X * (y + Y * z), 80000);
        send(g, r, x + X * ((y + 1) % Y + Y * z), 40000);
        send(g, r, x + X * ((y + Y - 1) % Y + Y * z), 40000);
        send(g, r, x + X * (y + Y * ((z + 1) % Z)), 20000);
        send(g, r, x + X * (y + Y * ((z + Z - 1) % Z)), 20000);
    }
    while (g->count < EDGES)
        send(g, random_next(random) % RANKS, random_next(random) % RANKS,
             random_next(random) % 4000);
}

static void fill(struct graph *g, uint32_t phase)
{
    uint64_t random = phase + 1;
    g->count = 0;
    for (uint32_t r = 0; phase % 4 == 3 && r < RANKS; r++)
        send(g, r, (r + RANKS / 2) % RANKS, 1000000);
    fill_halo(g, &random);
    for (size_t i = 0; i < g->count; i++) /* no two phases are the same */
        g->edges[i].bytes += random_next(&random) % 1000;
}

static void picture(const char *name, struct commgram_cache *cache, uint32_t first, uint32_t phases,
                    uint32_t communities)
{
    static struct graph g;
    const struct commgram_params params = {.ranks = RANKS,
                                           .phases = phases,
                                           .communities = communities,
                                           .modelled = true,
                                           .cache = cache};
    struct commgram *commgram;
    struct commgram_picture p;
    double longest = 0, sum = 0;
    const size_t heap = bench_heap();
    bench_check(commgram_create(&commgram, &params), "create");
    for (uint32_t k = 0; k < phases; k++) {
        fill(&g, first + k);
        const struct commgram_phase phase = {.edges = g.edges, .count = g.count};
        double begin = bench_seconds();
        bench_check(commgram_add_phase(commgram, &phase), "add");
        double took = bench_seconds() - begin;
        sum += took;
        longest = took > longest ? took : longest;
    }
    double part = 0, finish = 0;
    for (int more = 1; more > 0;) {
        double begin = bench_seconds();
        more = commgram_settle(commgram);
        double took = bench_seconds() - begin;
        finish += took;
        part = took > part ? took : part;
    }
    bench_check(commgram_finish(commgram, &p), "finish");
    printf("%-22s %7.2f ms a phase (longest %7.2f), finish %6.2f ms (part %5.2f); %u cached, %zu "
           "bars, %zu "
           "ribbons, %.1f MB\n",
           name, 1e3 * sum / phases, 1e3 * longest, 1e3 * finish, 1e3 * part, p.cached, p.bar_count,
           p.ribbon_count, 1e-6 * (double)(bench_heap() - heap));
    commgram_destroy(commgram);
}

static void reference(void)
{
    static struct graph g;
    static struct communities_edge edges[EDGES];
    const struct communities_params params = COMMUNITIES_DEFAULTS;
    struct communities *communities;
    fill(&g, 3);
    for (size_t i = 0; i < g.count; i++)
        edges[i] = (struct communities_edge){g.edges[i].source, g.edges[i].destination,
                                             1.0 + (double)g.edges[i].bytes};
    size_t count = 0;
    for (size_t i = 0; i < g.count; i++) /* none with itself */
        if (edges[i].a != edges[i].b)
            edges[count++] = edges[i];
    bench_check(communities_create(&communities, &params), "create");
    double begin = bench_seconds();
    bench_check(communities_update(communities, RANKS, edges, count), "update");
    printf("one dendrogram         %7.2f ms\n", 1e3 * (bench_seconds() - begin));
    communities_destroy(communities);
}

int main(int argc, char **argv)
{
    uint32_t phases = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 27;
    struct commgram_cache *cache;
    const size_t heap = bench_heap();
    phases = phases == 0 || phases > COMMGRAM_MAXIMUM_PHASES ? 27 : phases;
    bench_check(commgram_cache_create(&cache, 64u << 20, 1024), "cache");
    reference();
    picture("cold, 18", cache, 0, phases, 18);
    picture("again, 18", cache, 0, phases, 18);
    picture("slid by one, 18", cache, 1, phases, 18);
    picture("slid, 300", cache, 1, phases, 300);
    picture("slid, one for each", cache, 1, phases, RANKS);
    printf("cache %.2f MB\n", 1e-6 * (double)(bench_heap() - heap));
    commgram_cache_destroy(cache);
    return 0;
}
