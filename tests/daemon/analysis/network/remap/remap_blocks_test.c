/* Exchanging blocks: what it restores, keeps and refuses. */
#include "daemon/analysis/network/remap/remap_blocks.h"

#include "holter/error.h"
#include "tests/daemon/analysis/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N 64u

struct bed {
    struct topology *topology;
    struct remap_graph graph;
    struct remap_places places;
    struct remap_search search;
    struct remap_edge edges[3 * N];
    uint32_t all[N], slots[N];
};

/* A stencil of 4 x 4 x 4, periodic, on as many seats of a network. */
static void bed_init(struct bed *bed, const char *network)
{
    const uint32_t stride[3] = {16, 4, 1};
    bed->topology = network_short(network);
    for (uint32_t p = 0; p < N; p++) {
        bed->all[p] = p;
        for (uint32_t a = 0; a < 3; a++) {
            const uint32_t x = p / stride[a] % 4, q = p - x * stride[a] + (x + 1) % 4 * stride[a];
            bed->edges[3 * p + a] = (struct remap_edge){p, q, 1000, 1};
        }
    }
    const struct remap_problem problem = {.topology = bed->topology,
                                          .processes = N,
                                          .seats = bed->all,
                                          .edges = bed->edges,
                                          .edge_count = 3 * N};
    assert_int_equal(remap_graph_init(&bed->graph, &problem, false), 0);
    assert_int_equal(remap_places_init(&bed->places, &problem, false, bed->slots), 0);
    assert_int_equal(remap_search_init(&bed->search, &bed->graph, &bed->places, bed->all, N, 1), 0);
}

static void bed_finish(struct bed *bed)
{
    remap_search_finish(&bed->search);
    remap_places_finish(&bed->places);
    remap_graph_finish(&bed->graph);
    topology_destroy(bed->topology);
}

/* Steps until the stencil is whole again, its planes having been dealt out otherwise. */
static uint32_t restore(uint64_t seed, uint32_t *slots)
{
    struct bed bed;
    struct remap_blocks *blocks;
    uint64_t work = 0;
    uint32_t steps = 0;
    bed_init(&bed, "torus:4,4,4");
    const double best = remap_search_cost(&bed.search, bed.slots);
    for (uint32_t p = 16; p < 48; p++) /* planes 1 and 2 change places */
        bed.slots[p] = p < 32 ? p + 16 : p - 16;
    const double given = remap_search_cost(&bed.search, bed.slots);
    assert_true(given > best);
    assert_int_equal(remap_blocks_create(&blocks, &bed.graph, &bed.places, seed), 0);
    remap_blocks_load(blocks, bed.slots, given);
    while (remap_blocks_cost(blocks) > best && steps < 200) {
        const double before = remap_blocks_cost(blocks);
        const uint64_t worked = work;
        const int rc = remap_blocks_step(blocks, &bed.search, &work);
        assert_true(rc == 0 || rc == 1);
        assert_int_equal(rc, remap_blocks_cost(blocks) < before);
        assert_true(work > worked);
        steps++;
        if (rc == 1)
            memcpy(slots, bed.search.slot, N * sizeof(*slots));
    }
    assert_true(remap_blocks_cost(blocks) == best);
    assert_true(remap_search_cost(&bed.search, slots) == best);
    remap_blocks_destroy(blocks);
    bed_finish(&bed);
    return steps;
}

static void planes_that_were_exchanged_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint32_t slots[N], seen[N] = {0};
        restore(seed, slots);
        for (uint32_t p = 0; p < N; p++)
            assert_true(slots[p] < N && seen[slots[p]]++ == 0);
    }
}

static void same_seed_gives_the_same_mapping(void **state)
{
    (void)state;
    uint32_t one[N], other[N];
    assert_int_equal(restore(7, one), restore(7, other));
    assert_memory_equal(one, other, sizeof(one));
}

static void networks_with_empty_seats_and_others_are_refused(void **state)
{
    (void)state;
    const char *networks[] = {"torus:4,4,5", "torus:64", "fattree:k=8"};
    for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++) {
        struct bed bed;
        struct remap_blocks *blocks = NULL;
        bed_init(&bed, networks[i]);
        assert_int_equal(remap_blocks_create(&blocks, &bed.graph, &bed.places, 1), -HOLTER_EEMPTY);
        assert_null(blocks);
        bed_finish(&bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_that_were_exchanged_come_back),
        cmocka_unit_test(same_seed_gives_the_same_mapping),
        cmocka_unit_test(networks_with_empty_seats_and_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
