/* Measures of mappings against plain sums. */
#include "holter/error.h"
#include "tests/daemon/analysis/network/machines.h"
#include "tests/daemon/analysis/network/measured.h"
#include "tests/daemon/analysis/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_mapping_is_measured_by_its_routes(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:8");
    uint32_t seats[] = {0, 1, 4, 4};
    struct measured_pair pairs[] = {
        {0, 1, 10, 1}, {0, 2, 100, 2}, {2, 3, 1000, 3}, {3, 3, 5, 1}, {1, 0, 7, 1}};
    struct measures m;
    assert_int_equal(measures_of(&m, topology, seats, 4, pairs, 5), 0);
    assert_true(m.hop_bytes == 10 + 4 * 100 + 7);
    assert_true(m.max_link == 110); /* 0 to 1: half-way around from 0 goes up */
    assert_true(m.inter_node_bytes == 117);
    assert_true(m.inter_node_messages == 4);
    assert_true(m.length == 1 + 4 + 1);
    assert_int_equal(m.longest, 4);
    topology_destroy(topology);
}

static void measures_are_those_of_walking_every_route(void **state)
{
    (void)state;
    struct noise noise = {.state = 5};
    for (unsigned round = 0; round < 50; round++) {
        struct topology *topology = network_random(round % 5, &noise);
        uint32_t nodes = topology_nodes(topology), seats[20], links[64];
        uint64_t *loads = calloc(topology_links(topology) + 1u, sizeof(*loads));
        struct measured_pair pairs[60];
        struct measures m, plain = {0};
        assert_non_null(loads);
        for (size_t i = 0; i < 20; i++)
            seats[i] = (uint32_t)(noise_uint(&noise) % nodes);
        for (size_t i = 0; i < 60; i++) {
            pairs[i] = (struct measured_pair){(uint32_t)(noise_uint(&noise) % 20),
                                              (uint32_t)(noise_uint(&noise) % 20),
                                              noise_uint(&noise) % 1000, noise_uint(&noise) % 10};
            uint32_t from = seats[pairs[i].source], to = seats[pairs[i].destination];
            uint32_t length = topology_route(topology, from, to, links, 64);
            plain.hop_bytes += (double)(length * pairs[i].bytes);
            plain.length += length;
            plain.longest = length > plain.longest ? length : plain.longest;
            plain.inter_node_bytes += from != to ? (double)pairs[i].bytes : 0;
            plain.inter_node_messages += from != to ? (double)pairs[i].messages : 0;
            while (length > 0) {
                uint64_t *load = &loads[links[--length]];
                *load += pairs[i].bytes;
                plain.max_link = (double)*load > plain.max_link ? (double)*load : plain.max_link;
            }
        }
        assert_int_equal(measures_of(&m, topology, seats, 20, pairs, 60), 0);
        assert_true(m.hop_bytes == plain.hop_bytes && m.max_link == plain.max_link);
        assert_true(m.length == plain.length && m.longest == plain.longest);
        assert_true(m.inter_node_bytes == plain.inter_node_bytes);
        assert_true(m.inter_node_messages == plain.inter_node_messages);
        free(loads);
        topology_destroy(topology);
    }
}

static void cores_belong_to_their_node(void **state)
{
    (void)state;
    struct topology *topology = machine_create(2, 2, 2);
    uint32_t nodes[15], seats[8];
    assert_int_equal(topology_vertices(topology), 15);
    assert_int_equal(measures_nodes(topology, nodes), 0);
    static const uint32_t expected[15] = {0, 1, 2, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1};
    for (size_t v = 0; v < 15; v++)
        assert_int_equal(nodes[v], expected[v]);
    for (uint32_t i = 0; i < 8; i++)
        seats[i] = 7 + i;
    struct measured_pair pairs[] = {{0, 1, 1, 1}, {0, 3, 10, 1}, {0, 7, 100, 1}};
    struct measures m;
    assert_int_equal(measures_of(&m, topology, seats, 8, pairs, 3), 0);
    assert_true(m.inter_node_bytes == 100 && m.inter_node_messages == 1);
    assert_true(m.length == 2 + 4 + 6);
    assert_true(m.hop_bytes == 2 + 40 + 600);
    topology_destroy(topology);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4");
    uint32_t seats[] = {0, 4};
    struct measured_pair fine = {0, 0, 1, 1}, seatless = {0, 2, 1, 1}, beyond = {0, 1, 1, 1};
    struct measures m = {.length = 9};
    assert_int_equal(measures_of(&m, topology, seats, 2, &seatless, 1), -HOLTER_ERANGE);
    assert_int_equal(measures_of(&m, topology, seats, 2, &beyond, 1), -HOLTER_ERANGE);
    assert_true(m.length == 9);
    assert_int_equal(measures_of(&m, topology, seats, 2, &fine, 1), 0);
    assert_true(m.length == 0 && m.max_link == 0);
    assert_int_equal(measures_of(&m, topology, NULL, 0, NULL, 0), 0);
    topology_destroy(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mapping_is_measured_by_its_routes),
        cmocka_unit_test(measures_are_those_of_walking_every_route),
        cmocka_unit_test(cores_belong_to_their_node),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
