/* Hop counts and routes of Blue Gene/Q and Cray XC40 as they were recorded, against those of the
 * topology. */
#include "daemon/analysis/network/topology.h"

#include "daemon/analysis/network/topology_infer.h"
#include "tests/daemon/analysis/network/networks.h"
#include "tests/daemon/analysis/network/recorded_routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_HOPS 64u

/* Without an order in the text: these are the defaults of these shapes. */
#define N32 "torus:2,2,2,2,2"
#define N64 "torus:2,2,4,2,2"
#define N128 "torus:2,2,4,4,2"
#define N256 "torus:4,2,4,4,2"
#define N512 "torus:4,4,4,4,2"
#define N1024 "torus:4,4,4,8m,2"
#define N2048 "torus:4,4,4,16,2"
#define THETA "dragonfly:2,12,3,16,4"

static const struct recording {
    const char *name, *network;
    uint32_t ranks;                /* a node */
    uint32_t complete, incomplete; /* routes */
    const char *order;             /* of dimensions; "": routes leave it open */
} recordings[] = {
    {"IMB-MPI1_Vesta_n32_c1", N32, 1, 62, 0, "DCBAE"},
    {"IMB-MPI1_Vesta_n32_c16", N32, 16, 527, 0, "DCBAE"},
    {"MiniAMR_Vesta_n32_c1_s2", N32, 1, 314, 0, "DCBAE"},
    {"MiniAMR_Vesta_n64_c1_s2", N64, 1, 948, 0, "DBACE"},
    {"MiniAMR_Vesta_n128_c1_s2", N128, 1, 2222, 0, "BACDE"},
    {"MiniAMR_Vesta_n256_c1_s2", N256, 1, 5238, 0, "BACDE"},
    {"MiniAMR_Vesta_n512_c1_s2", N512, 1, 13348, 0, "ABCDE"},
    {"MiniMD_Vesta_n32_c1_w", N32, 1, 160, 0, ""},
    {"MiniMD_Vesta_n64_c1_w", N64, 1, 384, 0, ""},
    {"MiniMD_Vesta_n128_c1_w", N128, 1, 768, 0, ""},
    {"MiniMD_Vesta_n128_c16_w", N128, 16, 8192, 0, "BACDE"},
    {"MiniMD_Vesta_n256_c1_w", N256, 1, 1536, 0, ""},
    {"MiniMD_Vesta_n512_c1_w", N512, 1, 3072, 0, ""},
    {"MiniMD_Mira_n1024_c1_w", N1024, 1, 6144, 0, ""},
    {"MiniMD_Mira_n2048_c1_s1", N2048, 1, 1630, 418, ""},
    {"IoDefault_Mira_n512_c16", N512, 16, 504, 0, "ABCDE"},
    {"IoOpt_Mira_n512_c16", N512, 16, 504, 0, "ABCDE"},
    {"MiniAMR_Theta_n32_c1_s2", THETA, 1, 314, 0, ""},
    {"MiniAMR_Theta_n64_c1_s2", THETA, 1, 948, 0, ""},
    {"MiniAMR_Theta_n128_c1_s2", THETA, 1, 2194, 28, ""},
    {"MiniAMR_Theta_n256_c1_s2", THETA, 1, 5203, 35, ""},
    {"MiniAMR_Theta_n512_c1_s2", THETA, 1, 12598, 750, "EDCAB"},
    {"MiniMD_Theta_n32_c1_w", THETA, 1, 160, 0, ""},
    {"MiniMD_Theta_n64_c1_w", THETA, 1, 384, 0, ""},
    {"MiniMD_Theta_n128_c1_w", THETA, 1, 768, 0, ""},
    {"MiniMD_Theta_n256_c1_w", THETA, 1, 1536, 0, ""},
};
#define RECORDINGS (sizeof recordings / sizeof *recordings)

/* @return 1: hop for hop the same */
static int follows(const struct topology *topology, const struct recorded_hop *hops, uint32_t count,
                   uint32_t ranks)
{
    uint32_t links[MAX_HOPS], from, to;
    uint32_t length = topology_route(topology, hops[0].source / ranks, hops[0].destination / ranks,
                                     links, MAX_HOPS);
    if (length != count)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (!topology_link(topology, links[i], &from, &to) || from != hops[i].from / ranks ||
            to != hops[i].to / ranks)
            return 0;
    return 1;
}

/* Theta's recordings have hops to node 0, or to where they were, in place of a node without a rank.
 */
static int is_linked(const struct topology *topology, const struct recorded_hop *hops,
                     uint32_t count, uint32_t ranks)
{
    for (uint32_t i = 0; i < count; i++)
        if (topology_link_between(topology, hops[i].from / ranks, hops[i].to / ranks) ==
            TOPOLOGY_NONE)
            return 0;
    return 1;
}

static void check_routes(const struct recording *recording)
{
    struct topology *topology = network_short(recording->network);
    struct recorded_hops all = recorded_routes(recording->name);
    uint32_t complete = 0, incomplete = 0, same = 0;
    for (uint32_t i = 0, count; i < all.count; i += count) {
        count = recorded_route_length(&all, i);
        if (!recorded_route_complete(&all.hops[i], count, recording->ranks) ||
            !is_linked(topology, &all.hops[i], count, recording->ranks)) {
            incomplete++;
            continue;
        }
        complete++;
        same += (uint32_t)follows(topology, &all.hops[i], count, recording->ranks);
    }
    print_message("%s: %u routes, %u more with gaps\n", recording->name, complete, incomplete);
    assert_int_equal(same, complete);
    assert_int_equal(complete, recording->complete);
    assert_int_equal(incomplete, recording->incomplete);
    free(all.hops);
    topology_destroy(topology);
}

static void every_complete_route_is_reproduced(void **state)
{
    (void)state;
    for (size_t r = 0; r < RECORDINGS; r++)
        check_routes(&recordings[r]);
}

static void every_hop_count_is_the_distance(void **state)
{
    (void)state;
    uint32_t checked = 0;
    for (size_t r = 0; r < RECORDINGS; r++) {
        const struct recording *recording = &recordings[r];
        if (strncmp(recording->name, "Io", 2) == 0)
            continue; /* no such file */
        struct topology *topology = network_short(recording->network);
        struct recorded_pairs all = recorded_pairs(recording->name);
        for (uint32_t i = 0; i < all.count; i++) {
            const struct recorded_pair *pair = &all.pairs[i];
            if (pair->hops == UINT32_MAX)
                continue;
            checked++;
            assert_int_equal(topology_distance(topology, pair->source / recording->ranks,
                                               pair->destination / recording->ranks),
                             pair->hops);
        }
        free(all.pairs);
        topology_destroy(topology);
    }
    assert_int_equal(checked, 59796);
}

/* Blue Gene has coordinates (A B C D E core), Theta (column, cage + 3 row, slot, cpu, core). */
static void coordinates_are_those_recorded(void **state)
{
    (void)state;
    for (size_t r = 0; r < RECORDINGS; r++) {
        const struct recording *recording = &recordings[r];
        struct topology *topology = network_short(recording->network);
        struct recorded_hops all = recorded_routes(recording->name);
        for (uint32_t i = 0; i < all.count; i++) {
            const struct recorded_hop *hop = &all.hops[i];
            uint32_t at[TOPOLOGY_DIMENSIONS];
            assert_int_equal(topology_coordinates(topology, hop->from / recording->ranks, at), 5);
            if (hop->coordinates == 5) {
                uint32_t theta[] = {at[1], at[2] + 3 * at[0], at[3], at[4]};
                assert_memory_equal(theta, hop->at, sizeof theta);
            } else {
                assert_memory_equal(at, hop->at, 5 * sizeof *at);
            }
        }
        free(all.hops);
        topology_destroy(topology);
    }
}

/* The sizes of a network, as rings whose first dimension is corrected first. */
static struct topology_spec blank(const char *network)
{
    struct topology *topology = network_short(network);
    struct topology_spec spec = {.dimension_count = topology_spec(topology)->dimension_count};
    for (uint32_t d = 0; d < spec.dimension_count; d++) {
        spec.dimensions[d].size = topology_spec(topology)->dimensions[d].size;
        spec.dimensions[d].step = d;
    }
    topology_destroy(topology);
    return spec;
}

static struct topology_infer *infer_of(const struct topology_spec *spec)
{
    uint32_t size[5];
    struct topology_infer *infer = NULL;
    for (uint32_t d = 0; d < 5; d++)
        size[d] = spec->dimensions[d].size;
    assert_int_equal(topology_infer_create(&infer, 5, size), 0);
    return infer;
}

static void node_at(const struct topology_spec *spec, uint32_t node, uint32_t *at)
{
    for (uint32_t d = 5; d-- > 0; node /= spec->dimensions[d].size)
        at[d] = node % spec->dimensions[d].size;
}

/* @return 1: taken */
static int take(struct topology_infer *infer, const struct topology_spec *spec,
                const struct recorded_hop *hops, uint32_t count, uint32_t ranks)
{
    uint32_t at[(MAX_HOPS + 1) * 5];
    node_at(spec, hops[0].source / ranks, at);
    for (uint32_t i = 0; i < count; i++)
        node_at(spec, hops[i].to / ranks, at + (size_t)(i + 1) * 5);
    return topology_infer_route(infer, at, count + 1) == 0;
}

static struct topology *inferred(const struct topology_infer *infer, struct topology_spec *spec)
{
    char why[200] = "";
    struct topology *topology = NULL;
    if (topology_infer_finish(infer, spec, why, sizeof why) != 0)
        fail_msg("%s", why);
    assert_int_equal(topology_create(&topology, spec, why, sizeof why), 0);
    return topology;
}

static void check_inferred(const struct recording *recording)
{
    struct topology_spec spec = blank(recording->network);
    struct topology_infer *infer = infer_of(&spec);
    struct recorded_hops all = recorded_routes(recording->name);
    uint32_t ranks = recording->ranks, taken = 0, same = 0;
    for (uint32_t i = 0, count; i < all.count; i += count) {
        count = recorded_route_length(&all, i);
        if (recorded_route_complete(&all.hops[i], count, ranks))
            taken += (uint32_t)take(infer, &spec, &all.hops[i], count, ranks);
    }
    struct topology *topology = inferred(infer, &spec);
    for (uint32_t i = 0, count; i < all.count; i += count) {
        count = recorded_route_length(&all, i);
        if (recorded_route_complete(&all.hops[i], count, ranks))
            same += (uint32_t)follows(topology, &all.hops[i], count, ranks);
    }
    assert_int_equal(taken, recording->complete);
    assert_int_equal(same, recording->complete);
    char order[6] = "";
    for (uint32_t d = 0; d < 5; d++)
        order[spec.dimensions[d].step] = (char)('A' + (int)d);
    if (recording->order[0])
        assert_string_equal(order, recording->order);
    free(all.hops);
    topology_infer_destroy(infer);
    topology_destroy(topology);
}

/* MiniMD on 2048 nodes ends within the routes: what is there of these agrees as well. */
static void the_beginning_of_a_broken_route_is_reproduced(void **state)
{
    (void)state;
    struct topology *topology = network_short(N2048);
    struct recorded_hops all = recorded_routes("MiniMD_Mira_n2048_c1_s1");
    uint32_t links[MAX_HOPS], from, to, checked = 0;
    for (uint32_t i = 0, count; i < all.count; i += count) {
        const struct recorded_hop *hops = &all.hops[i];
        count = recorded_route_length(&all, i);
        if (recorded_route_complete(hops, count, 1))
            continue;
        assert_true(topology_route(topology, hops->source, hops->destination, links, MAX_HOPS) >
                    count);
        for (uint32_t h = 0; h < count; h++, checked++) {
            assert_int_equal(hops[h].number, h + 1);
            assert_true(topology_link(topology, links[h], &from, &to));
            assert_true(from == hops[h].from && to == hops[h].to);
        }
    }
    assert_int_equal(checked, 2410);
    free(all.hops);
    topology_destroy(topology);
}

static void routes_tell_how_they_were_made(void **state)
{
    (void)state;
    for (size_t r = 0; r < RECORDINGS; r++)
        check_inferred(&recordings[r]);
}

static void hop_counts_tell_that_a_dimension_does_not_close(void **state)
{
    (void)state;
    for (size_t r = 0; r < RECORDINGS; r++) {
        const struct recording *recording = &recordings[r];
        if (strncmp(recording->name, "Io", 2) == 0 || strstr(recording->name, "Theta"))
            continue;
        struct topology_spec spec = blank(recording->network);
        struct topology_infer *infer = infer_of(&spec);
        struct recorded_pairs all = recorded_pairs(recording->name);
        for (uint32_t i = 0; i < all.count; i++) {
            uint32_t a[5], b[5];
            node_at(&spec, all.pairs[i].source / recording->ranks, a);
            node_at(&spec, all.pairs[i].destination / recording->ranks, b);
            assert_int_equal(topology_infer_hops(infer, a, b, all.pairs[i].hops), 0);
        }
        topology_destroy(inferred(infer, &spec));
        for (uint32_t d = 0; d < 5; d++)
            assert_int_equal(spec.dimensions[d].connection,
                             strcmp(recording->network, N1024) == 0 && d == 3 ? TOPOLOGY_MESH
                                                                              : TOPOLOGY_TORUS);
        free(all.pairs);
        topology_infer_destroy(infer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_complete_route_is_reproduced),
        cmocka_unit_test(every_hop_count_is_the_distance),
        cmocka_unit_test(coordinates_are_those_recorded),
        cmocka_unit_test(the_beginning_of_a_broken_route_is_reproduced),
        cmocka_unit_test(routes_tell_how_they_were_made),
        cmocka_unit_test(hop_counts_tell_that_a_dimension_does_not_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
