/* Mappings in the formats of launchers, written and read. */
#include "daemon/analysis/network/mapping_text.h"
#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static struct topology *network(const char *form)
{
    struct topology_spec spec;
    struct topology *topology;
    char why[200];
    assert_int_equal(topology_short(&spec, form, why, sizeof(why)), 0);
    assert_int_equal(topology_create(&topology, &spec, why, sizeof(why)), 0);
    topology_spec_finish(&spec);
    return topology;
}

static void assert_text(enum mapping_format format, const struct mapping_seat *seats, size_t count,
                        const struct topology *topology, const char *const *hosts,
                        const char *wanted)
{
    char *text, why[200];
    size_t length;
    const struct mapping mapping = {seats, count, topology, hosts};
    assert_int_equal(mapping_text(&text, &length, format, &mapping, why, sizeof(why)), 0);
    assert_string_equal(text, wanted);
    assert_int_equal(length, strlen(wanted));
    free(text);
}

static void assert_refused(enum mapping_format format, const struct mapping_seat *seats,
                           size_t count, const struct topology *topology, const char *wanted)
{
    char *text = NULL, why[200] = "";
    size_t length;
    const struct mapping mapping = {seats, count, topology, NULL};
    assert_int_equal(mapping_text(&text, &length, format, &mapping, why, sizeof(why)),
                     -HOLTER_EUSAGE);
    assert_string_equal(why, wanted);
    assert_null(text);
}

/* Ranks 0 and 3 on node 2, 1 and 4 on node 0, 2 and 5 on node 1. */
static const struct mapping_seat six[] = {{5, 1}, {0, 2}, {1, 0}, {2, 1}, {3, 2}, {4, 0}};
static const char *const hosts[] = {"east", "west", "north", NULL};

static void plain_has_a_rank_and_its_node_a_line(void **state)
{
    (void)state;
    struct topology *t = network("mesh:2,2");
    assert_text(MAPPING_PLAIN, six, 6, t, hosts, "0 2\n1 0\n2 1\n3 2\n4 0\n5 1\n");
    topology_destroy(t);
}

static void rankfile_counts_the_slots_of_each_host(void **state)
{
    (void)state;
    struct topology *t = network("mesh:2,2");
    assert_text(MAPPING_OPENMPI, six, 6, t, hosts,
                "rank 0=north slot=0\nrank 1=east slot=0\nrank 2=west slot=0\n"
                "rank 3=north slot=1\nrank 4=east slot=1\nrank 5=west slot=1\n");
    assert_text(MAPPING_OPENMPI, six, 6, t, NULL,
                "rank 0=+n2 slot=0\nrank 1=+n0 slot=0\nrank 2=+n1 slot=0\n"
                "rank 3=+n2 slot=1\nrank 4=+n0 slot=1\nrank 5=+n1 slot=1\n");
    topology_destroy(t);
}

/* As in the grid of a job's processes. */
static void slots_are_those_of_a_host_that_stands_at_several_nodes(void **state)
{
    (void)state;
    static const char *const grid[] = {"east", "west", "east", "east"};
    static const struct mapping_seat seats[] = {{0, 3}, {1, 1}, {2, 0}, {3, 2}};
    struct topology *t = network("mesh:2,2");
    const struct mapping mapping = {seats, 4, t, grid};
    char *text, why[200] = "";
    size_t length;
    assert_text(MAPPING_OPENMPI, seats, 4, t, grid,
                "rank 0=east slot=2\nrank 1=west slot=0\nrank 2=east slot=0\n"
                "rank 3=east slot=1\n");
    assert_int_equal(mapping_text(&text, &length, MAPPING_MPICH, &mapping, why, sizeof(why)),
                     -HOLTER_EUSAGE);
    assert_string_equal(why, "several nodes of this network are one host: a list of ranks has no "
                             "place for them");
    topology_destroy(t);
}

static void relative_hosts_are_counted_among_those_in_use(void **state)
{
    (void)state;
    static const struct mapping_seat seats[] = {{0, 3}, {1, 1}};
    struct topology *t = network("mesh:2,2");
    assert_text(MAPPING_OPENMPI, seats, 2, t, NULL, "rank 0=+n1 slot=0\nrank 1=+n0 slot=0\n");
    topology_destroy(t);
}

static void rank_order_lists_the_ranks_of_the_nodes_in_turn(void **state)
{
    (void)state;
    static const struct mapping_seat uneven[] = {{0, 0}, {1, 1}, {2, 1}};
    static const struct mapping_seat last[] = {{0, 0}, {1, 1}, {2, 0}};
    struct topology *t = network("mesh:2,2");
    assert_text(MAPPING_MPICH, six, 6, t, hosts, "1,4,\n2,5,\n0,3\n");
    assert_text(MAPPING_MPICH, last, 3, t, hosts, "0,2,\n1\n");
    assert_refused(MAPPING_MPICH, uneven, 3, t,
                   "node 0 has 1 ranks, others 2: a list of ranks cannot leave slots empty");
    topology_destroy(t);
}

static void hostfile_names_the_host_of_each_rank(void **state)
{
    (void)state;
    struct topology *t = network("mesh:2,2");
    assert_text(MAPPING_SLURM, six, 6, t, hosts, "north\neast\nwest\nnorth\neast\nwest\n");
    assert_refused(MAPPING_SLURM, six, 6, t, "the host name of node 2 is not known");
    topology_destroy(t);
}

static void mapfile_has_coordinates_and_the_core(void **state)
{
    (void)state;
    static const struct mapping_seat seats[] = {{0, 31}, {1, 0}, {2, 31}, {3, 8}};
    struct topology *t = network("torus:2,2,2,2,2"), *tree = network("fattree:k=4");
    assert_text(MAPPING_BGQ, seats, 4, t, NULL,
                "1 1 1 1 1 0\n0 0 0 0 0 0\n1 1 1 1 1 1\n0 1 0 0 0 0\n");
    assert_refused(MAPPING_BGQ, six, 6, tree, "the network has no coordinates");
    topology_destroy(t);
    topology_destroy(tree);
}

static void formats_that_know_ranks_by_their_order_want_all(void **state)
{
    (void)state;
    static const struct mapping_seat gap[] = {{0, 0}, {2, 1}};
    static const struct mapping_seat twice[] = {{1, 0}, {1, 1}};
    static const struct mapping_seat nowhere[] = {{0, 4}};
    struct topology *t = network("mesh:2,2");
    for (int format = MAPPING_OPENMPI; format <= MAPPING_BGQ; format++) {
        if (format != MAPPING_SLURM)
            assert_refused((enum mapping_format)format, gap, 2, t,
                           "this format wants all ranks from 0 up, and rank 1 is not there");
    }
    assert_text(MAPPING_PLAIN, gap, 2, t, NULL, "0 0\n2 1\n");
    assert_refused(MAPPING_PLAIN, twice, 2, t, "rank 1 stands there twice");
    assert_refused(MAPPING_PLAIN, nowhere, 1, t, "rank 0 has no place");
    assert_text(MAPPING_PLAIN, NULL, 0, t, NULL, "");
    topology_destroy(t);
}

static void cores_belong_to_their_host(void **state)
{
    (void)state;
    /* two hosts of two cores below a switch */
    static struct topology_named names[] = {
        {"a", VERTEX_NODE},   {"b", VERTEX_NODE},   {"a/0", VERTEX_CORE}, {"a/1", VERTEX_CORE},
        {"b/0", VERTEX_CORE}, {"b/1", VERTEX_CORE}, {"s", VERTEX_SWITCH}};
    static const uint32_t links[][2] = {{0, 6}, {1, 6}, {2, 0}, {3, 0}, {4, 1}, {5, 1}};
    struct topology_edge edges[12];
    struct topology *t;
    char why[200];
    memset(edges, 0, sizeof(edges));
    for (unsigned i = 0; i < 12; i++) {
        edges[i].from = links[i / 2][i % 2];
        edges[i].to = links[i / 2][1 - i % 2];
    }
    struct topology_spec spec = {.kind = TOPOLOGY_TREE,
                                 .vertices = names,
                                 .vertex_count = 7,
                                 .edges = edges,
                                 .edge_count = 12};
    if (topology_create(&t, &spec, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    static const struct mapping_seat seats[] = {{0, 5}, {1, 2}, {2, 4}, {3, 3}};
    assert_text(MAPPING_OPENMPI, seats, 4, t, NULL,
                "rank 0=b slot=1\nrank 1=a slot=0\nrank 2=b slot=0\nrank 3=a slot=1\n");
    topology_destroy(t);
}

/* ---- reading --------------------------------------------------------------- */

static void plain_mapping_is_read_back(void **state)
{
    (void)state;
    static const char text[] = "# mapping\n\n3 0\n 0 1 \r\n12\t3";
    struct mapping_seat *seats;
    size_t count;
    struct mapping_reader reader = {.text = text, .length = strlen(text), .nodes = 4};
    assert_int_equal(mapping_read(&seats, &count, &reader), 0);
    assert_int_equal(count, 3);
    assert_int_equal(seats[0].rank, 0);
    assert_int_equal(seats[0].vertex, 1);
    assert_int_equal(seats[2].rank, 12);
    assert_int_equal(seats[2].vertex, 3);
    free(seats);
}

static void faults_of_a_mapping_are_reported_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned line;
        const char *why;
    } cases[] = {
        {"0 0\n1\n", 2, "two numbers are expected, a rank and its node"},
        {"0 0 0\n", 1, "two numbers are expected, a rank and its node"},
        {"0 0\n\n1 4\n", 3, "there is no node 4: the network has 4"},
        {"7 0\n1 0\n\n7 1\n", 4, "rank 7 stands there twice"},
        {"-1 0\n", 1, "two numbers are expected, a rank and its node"},
        {"99999999999999999999999 0\n", 1, "two numbers are expected, a rank and its node"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct mapping_seat *seats;
        size_t count;
        struct mapping_reader reader = {
            .text = cases[i].text, .length = strlen(cases[i].text), .nodes = 4};
        assert_int_equal(mapping_read(&seats, &count, &reader), -HOLTER_EUSAGE);
        assert_int_equal(reader.line, cases[i].line);
        assert_string_equal(reader.why, cases[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_has_a_rank_and_its_node_a_line),
        cmocka_unit_test(rankfile_counts_the_slots_of_each_host),
        cmocka_unit_test(slots_are_those_of_a_host_that_stands_at_several_nodes),
        cmocka_unit_test(relative_hosts_are_counted_among_those_in_use),
        cmocka_unit_test(rank_order_lists_the_ranks_of_the_nodes_in_turn),
        cmocka_unit_test(hostfile_names_the_host_of_each_rank),
        cmocka_unit_test(mapfile_has_coordinates_and_the_core),
        cmocka_unit_test(formats_that_know_ranks_by_their_order_want_all),
        cmocka_unit_test(cores_belong_to_their_host),
        cmocka_unit_test(plain_mapping_is_read_back),
        cmocka_unit_test(faults_of_a_mapping_are_reported_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
