#include "daemon/topology/topology_file.h"
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

struct told {
    char text[8000];
    unsigned count;
};

static void tell(void *user, const char *text)
{
    struct told *told = user;
    size_t used = strlen(told->text);
    snprintf(told->text + used, sizeof(told->text) - used, "%s\n", text);
    told->count++;
}

static struct topology_file read_text(const char *text)
{
    struct topology_file file = {0};
    struct told told = {"", 0};
    int code = topology_file_parse(&file, "f", text, strlen(text), tell, &told);
    if (code != 0)
        fail_msg("%s", told.text);
    assert_int_equal(told.count, 0);
    return file;
}

static void assert_fault(const char *text, const char *fault)
{
    struct topology_file file = {0};
    struct told told = {"", 0};
    assert_int_equal(topology_file_parse(&file, "f", text, strlen(text), tell, &told),
                     -HOLTER_EUSAGE);
    assert_null(file.topology);
    if (strncmp(told.text, fault, strlen(fault)) != 0 || told.text[strlen(fault)] != '\n')
        fail_msg("told is\n%swanted is\n%s", told.text, fault);
}

static void assert_route(const struct topology_file *file, const char *from, const char *to,
                         const char *wanted)
{
    char text[1000], name[TOPOLOGY_NAME + 1];
    uint32_t links[64], begin, end;
    uint32_t source = topology_find(file->topology, from),
             destination = topology_find(file->topology, to);
    assert_int_not_equal(source, TOPOLOGY_NONE);
    assert_int_not_equal(destination, TOPOLOGY_NONE);
    uint32_t length = topology_route(file->topology, source, destination, links, 64);
    assert_in_range(length, 0, 64);
    size_t used = (size_t)snprintf(text, sizeof(text), "%s", from);
    for (uint32_t i = 0; i < length; i++) {
        assert_true(topology_link(file->topology, links[i], &begin, &end));
        topology_vertex_name(file->topology, end, name, sizeof(name));
        used += (size_t)snprintf(text + used, sizeof(text) - used, " %s", name);
    }
    assert_string_equal(text, wanted);
}

static const char line_of_four[] = "name: line\n"
                                   "kind: graph\n"
                                   "capacity: 10 Gbit/s\n"
                                   "nodes: h[1-4]\n"
                                   "switches: s[1-2]\n"
                                   "links:\n"
                                   "- [h1:eth0, s1]\n"
                                   "- [h2:eth0, s1]\n"
                                   "- {between: [s1, s2], capacity: 1 Gbit/s}\n"
                                   "- [h3:eth0, s2]\n"
                                   "- [h4:eth0, s2]\n";

/* ---- what is right -------------------------------------------------------- */

static void graph_has_its_links_capacities_and_interfaces(void **state)
{
    (void)state;
    struct topology_file file = read_text(line_of_four);
    uint32_t out, in, from, to;
    const struct topology *t = file.topology;
    assert_int_equal(file.format, TOPOLOGY_FORMAT_YAML);
    assert_int_equal(topology_nodes(t), 4);
    assert_int_equal(topology_vertices(t), 6);
    assert_int_equal(topology_links(t), 10);
    assert_route(&file, "h1", "h4", "h1 s1 s2 h4");
    uint32_t middle = topology_link_between(t, topology_find(t, "s1"), topology_find(t, "s2"));
    assert_float_equal(topology_capacity(t, middle), 125e6, 0);
    topology_interface(t, topology_find(t, "h3"), "eth0", &out, &in);
    assert_float_equal(topology_capacity(t, out), 1250e6, 0);
    assert_true(topology_link(t, in, &from, &to));
    assert_int_equal(from, topology_find(t, "s2"));
    assert_int_equal(to, topology_find(t, "h3"));
    topology_file_finish(&file);
}

static void hosts_are_found_by_full_and_by_short_names(void **state)
{
    (void)state;
    struct topology_file file = read_text("network: mesh:2,3\n"
                                          "nodes:\n"
                                          "- a1 a1.east.site b\n"
                                          "- {hosts: c.site, at: [1, 1]}\n");
    assert_int_equal(file.host_count, 4);
    assert_int_equal(topology_file_host(&file, "a1"), 0);
    assert_int_equal(topology_file_host(&file, "a1.east.site"), 1);
    assert_int_equal(topology_file_host(&file, "a1.west.site"), 0);
    assert_int_equal(topology_file_host(&file, "b.site"), 2);
    assert_int_equal(topology_file_host(&file, "c"), 4);
    assert_int_equal(topology_file_host(&file, "d"), TOPOLOGY_NONE);
    assert_int_equal(topology_file_host(&file, ""), TOPOLOGY_NONE);
    assert_int_equal(topology_file_host(&file, ".site"), TOPOLOGY_NONE);
    topology_file_finish(&file);
}

static void nodes_are_placed_row_major_by_ranges_or_by_coordinates(void **state)
{
    (void)state;
    struct topology_file row = read_text("network: torus:4,4\nnodes: n[01-16]\n");
    assert_int_equal(topology_file_host(&row, "n01"), 0);
    assert_int_equal(topology_file_host(&row, "n07"), 6);
    topology_file_finish(&row);
    struct topology_file at = read_text("kind: torus\n"
                                        "dimensions: {x: 4, y: 4}\n"
                                        "nodes: {a: [0, 3], 'b[0-1]': [3, 1], c: 5}\n");
    assert_int_equal(topology_file_host(&at, "a"), 3);
    assert_int_equal(topology_file_host(&at, "b1"), 14);
    assert_int_equal(topology_file_host(&at, "c"), 5);
    assert_string_equal(topology_spec(at.topology)->dimensions[1].name, "y");
    topology_file_finish(&at);
}

static void dimensions_have_wraps_orders_and_ties(void **state)
{
    (void)state;
    struct topology_file file = read_text("kind: torus\n"
                                          "dimensions:\n"
                                          "- {name: A, size: 4, wrap: no}\n"
                                          "- {name: B, size: 4}\n"
                                          "- {name: C, size: 3, connection: all}\n"
                                          "order: [C, A, B]\n"
                                          "tie: minus\n"
                                          "capacity: 2 GB/s\n");
    const struct topology_spec *spec = topology_spec(file.topology);
    assert_int_equal(spec->dimensions[0].connection, TOPOLOGY_MESH);
    assert_int_equal(spec->dimensions[1].connection, TOPOLOGY_TORUS);
    assert_int_equal(spec->dimensions[2].connection, TOPOLOGY_ALL);
    assert_int_equal(spec->dimensions[0].step, 1);
    assert_int_equal(spec->tie, TOPOLOGY_TIE_MINUS);
    assert_float_equal(spec->capacity, 2e9, 0);
    assert_route(&file, "(0,0,0)", "(1,2,2)", "(0,0,0) (0,0,2) (1,0,2) (1,3,2) (1,2,2)");
    topology_file_finish(&file);
}

static void routes_that_are_given_go_before_the_rule(void **state)
{
    (void)state;
    struct topology_file file = read_text("network: mesh:3,3\n"
                                          "nodes: n[0-8]\n"
                                          "routes:\n"
                                          "- [n0, n3, n6, n7, n8]\n"
                                          "- ['(2,2)', '(2,1)', '(1,1)', n1, n0]\n");
    assert_route(&file, "n0", "n8", "n0 n3 n6 n7 n8");
    assert_route(&file, "n8", "n0", "n8 n7 n4 n1 n0");
    topology_file_finish(&file);
}

static void tree_of_switches_is_read_like_slurms(void **state)
{
    (void)state;
    struct topology_file yaml = read_text("kind: tree\n"
                                          "switches:\n"
                                          "- {name: top, switches: 's[0-1]'}\n"
                                          "- {name: s0, nodes: 'n[0-3]', capacity: 100 MB/s}\n"
                                          "- {name: s1, nodes: 'n[4-7]'}\n");
    assert_route(&yaml, "n1", "n6", "n1 s0 top s1 n6");
    topology_file_finish(&yaml);
    struct topology_file conf = read_text("# Slurm\n"
                                          "SwitchName=s0 Nodes=n[0-3] LinkSpeed=100\n"
                                          "switchname=s1 nodes=n[4-6],\\\n"
                                          "n7   # the last\n"
                                          "SwitchName=top Switches=s[0-1]\n");
    assert_int_equal(conf.format, TOPOLOGY_FORMAT_SLURM_CONF);
    assert_int_equal(topology_nodes(conf.topology), 8);
    assert_int_equal(topology_diameter(conf.topology), 4);
    assert_route(&conf, "n1", "n7", "n1 s0 top s1 n7");
    topology_file_finish(&conf);
}

static void blocks_of_slurm_hang_below_one_switch(void **state)
{
    (void)state;
    struct topology_file file = read_text("BlockName=b1 Nodes=n[1-2]\n"
                                          "BlockName=b2 Nodes=n[3-4]\n"
                                          "BlockSizes=2,4\n");
    assert_route(&file, "n1", "n4", "n1 b1 blocks b2 n4");
    topology_file_finish(&file);
    file = read_text("- topology: t\n"
                     "  block:\n"
                     "    block_sizes: [2, 4]\n"
                     "    blocks:\n"
                     "    - {block: b1, nodes: 'n[1-2]'}\n"
                     "    - {block: b2, nodes: 'n[3-4]'}\n");
    assert_route(&file, "n1", "n4", "n1 b1 t b2 n4");
    topology_file_finish(&file);
}

static void default_topology_of_slurms_list_is_taken(void **state)
{
    (void)state;
    struct topology_file file = read_text("---\n"
                                          "- topology: flat\n"
                                          "  flat: true\n"
                                          "- topology: tree\n"
                                          "  cluster_default: true\n"
                                          "  tree:\n"
                                          "    switches:\n"
                                          "    - switch: root\n"
                                          "      children: s[1-2]\n"
                                          "    - {switch: s1, nodes: 'n[01-02]'}\n"
                                          "    - {switch: s2, nodes: 'n[03-04]'}\n");
    assert_int_equal(file.format, TOPOLOGY_FORMAT_SLURM_YAML);
    assert_string_equal(topology_spec(file.topology)->name, "tree");
    assert_route(&file, "n02", "n03", "n02 s1 root s2 n03");
    topology_file_finish(&file);
}

static void root_of_a_tree_is_its_last_vertex_wherever_it_stands_in_the_file(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "kind: tree\nswitches:\n- {name: r, switches: 's[0-1]'}\n- {name: s0, nodes: n0}\n"
        "- {name: s1, nodes: n1}\n",
        "kind: tree\nswitches:\n- {name: s0, nodes: n0}\n- {name: r, switches: 's[0-1]'}\n"
        "- {name: s1, nodes: n1}\n",
        "SwitchName=r Switches=s[0-1]\nSwitchName=s0 Nodes=n0\nSwitchName=s1 Nodes=n1\n",
        "- topology: r\n  block:\n    block_sizes: [1]\n    blocks:\n"
        "    - {block: b1, nodes: n1}\n    - {block: b2, nodes: n2}\n",
        "kind: tree\nnodes: n[0-1]\nswitches: s0 s1 r\nlinks:\n- [r, s0]\n- [s1, r]\n- [n0, s0]\n"
        "- [s1, n1]\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct topology_file file = read_text(texts[i]);
        char name[TOPOLOGY_NAME + 1];
        topology_vertex_name(file.topology, topology_vertices(file.topology) - 1, name,
                             sizeof(name));
        assert_string_equal(name, "r");
        topology_file_finish(&file);
    }
}

/* ---- what is wrong -------------------------------------------------------- */

static void faults_of_shape_are_reported_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"", "f:1: the file holds nothing"},
        {"name: a\n", "f:1: `network` (a short form such as torus:4,4,8) or `kind` is missing"},
        {"name: a\nnetwork: tours:4\n", "f:2: network: neither torus:, mesh:, hypercube:, "
                                        "dragonfly: nor fattree:, at character 1"},
        {"network: mesh:4\nkind: mesh\n", "f:2: kind: `network` says it already"},
        {"kind: ring\n", "f:1: kind: 'ring' is none of torus, mesh, cartesian, tree, graph"},
        {"kind: torus\n", "f:1: dimensions: are missing"},
        {"kind: torus\ndimensions: 4\n", "f:2: dimensions: a text stands here, a list is expected"},
        {"kind: torus\ndimensions: []\n", "f:2: dimensions: there is none"},
        {"kind: torus\ndimensions: [4, 0]\n", "f:2: size: a dimension has 1 coordinate at least"},
        {"kind: torus\ndimensions: [4, -1]\n", "f:2: size: '-1' is no number from 0 to 1048576"},
        {"kind: torus\ndimensions:\n- 4\n- {wrap: no}\n",
         "f:4: size: is missing in this dimension"},
        {"kind: torus\ndimensions: [1024, 1024, 4]\n", "f:2: dimensions: more than 1048576 nodes"},
        {"kind: torus\ndimensions: {x: 4, x: 4}\n", "f:2: dimensions: two of them are called x"},
        {"kind: torus\ndimensions:\n- {size: 4, wrap: maybe}\n",
         "f:3: wrap: 'maybe' is neither yes nor no"},
        {"network: mesh:4,4\norder: [A]\n", "f:2: order: 1 of 2 dimensions are named"},
        {"network: mesh:4,4\norder:\n- A\n- C\n", "f:4: order: no dimension is called C"},
        {"network: mesh:4,4\norder: [B, B]\n", "f:2: order: B stands there twice"},
        {"network: mesh:4,4\ntie: up\n", "f:2: tie: 'up' is none of parity, plus, minus"},
        {"network: mesh:4,4\ncapacity: 10 Gbps\n",
         "f:2: capacity: '10 Gbps' is none such as 10 Gbit/s, 1.25 GB/s or a number of bytes a "
         "second"},
        {"network: mesh:4,4\ncapacity: -1\n",
         "f:2: capacity: '-1' is none such as 10 Gbit/s, 1.25 GB/s or a number of bytes a second"},
        {"network: mesh:4,4\nlinks: []\n",
         "f:2: links: does not belong to a network whose links follow from its kind"},
        {"kind: tree\ndimensions: [4]\n", "f:2: dimensions: does not belong to a tree"},
        {"network: mesh:4\nname: a\nname: b\n", "f:3: name: stands there twice"},
        {"network: mesh:4\ncolour: red\n",
         "f:2: colour: unknown key; a topology has name network kind dimensions order tie capacity "
         "nodes switches links routes"},
        {"network: [mesh]\n", "f:1: network: a list stands here, one value is expected"},
        {"a\n", "f:1: topology: a text stands here, keys and values are expected"},
        {"network: *a\n", "f:1: aliases (*) are not taken"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_fault(cases[i].text, cases[i].fault);
    }
}

static void faults_of_nodes_are_reported_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"- {hosts: a, at: [0, 0, 1]}\n", "f:4: at: 3 coordinates, the network has 2 dimensions"},
        {"- {hosts: a, at: [0]}\n", "f:4: at: 1 coordinates, the network has 2 dimensions"},
        {"- {hosts: a, at: [0, 4]}\n", "f:4: at: coordinate 4 of dimension B, whose size is 4"},
        {"- {hosts: a, at: 16}\n", "f:4: at: '16' is no number from 0 to 15"},
        {"- {hosts: a, at: [1, 1]}\n- {hosts: b, at: 5}\n",
         "f:5: b: (1,1) is the place of a, line 4"},
        {"- a\n- b\n- a\n", "f:6: host a stands there twice, first in line 4"},
        {"- n[1-17]\n", "f:4: nodes: n17 is one more than the 16 nodes of the network"},
        {"- n[1-\n", "f:4: nodes: the ] is missing"},
        {"- n[3-1]\n", "f:4: nodes: '[3-1]': ranges such as [001-128,200] are expected"},
        {"- {at: 3}\n", "f:4: nodes: `hosts` is missing"},
        {"- {hosts: a, at: {x: 1}}\n", "f:4: at: a map stands here, a list is expected"},
    };
    char text[500];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(text, sizeof(text), "name: x\nnetwork: torus:4,4\nnodes:\n%s", cases[i].text);
        assert_fault(text, cases[i].fault);
    }
}

static void faults_of_links_are_reported_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"kind: graph\nnodes: a b c\nlinks:\n- [a, b]\n", "f:2: c cannot be reached from a"},
        {"kind: graph\nnodes: a b\nlinks:\n- {from: a, to: b}\n",
         "f:2: a cannot be reached from b"},
        {"kind: graph\nnodes: a b\nlinks:\n- [a, b]\n- [b, s]\n",
         "f:5: s is neither a host nor a switch of this file"},
        {"kind: graph\nnodes: a b\nlinks:\n- [a, a]\n", "f:4: a link from a to itself"},
        {"kind: graph\nnodes: a b\nlinks:\n- [a, b, c]\n",
         "f:4: link: two ends are expected, such as [n1:eth0, s1]"},
        {"kind: graph\nnodes: a\nswitches: s\nlinks:\n- [a, 's:e0']\n",
         "f:5: interface e0 would be of switch s: only hosts have interfaces"},
        {"kind: graph\nnodes: a b\nlinks:\n- {from: a}\n",
         "f:4: link: `between`, or `from` and `to`, is missing"},
        {"kind: graph\nnodes: a b\nswitches: b\n",
         "f:3: the name b stands there twice, first in line 2"},
        {"kind: tree\nnodes: a b\nswitches: s t\nlinks:\n- [a, s]\n- [b, s]\n- [s, t]\n- [a, t]\n",
         "f:8: the link from a to t closes a ring: in a tree there is one way"},
        {"kind: tree\nswitches:\n- {name: s, nodes: a b}\n- {name: t, nodes: c}\n",
         "f:4: t cannot be reached from a"},
        {"kind: tree\nnodes: a b\nlinks:\n- {from: a, to: b}\n",
         "f:4: links of a tree go both ways: `between` is expected"},
        {"kind: graph\nswitches: s\n", "f: there is no host in it"},
        {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n", "f:2: b cannot be reached from n1"},
        {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
         "f:2: switch a stands there twice, first in line 1"},
        {"SwitchName=a Nodes=n1\nNodes=n2\n",
         "f:2: Nodes: a line begins with SwitchName=, BlockName= or BlockSizes="},
        {"SwitchName=a Nodes=n1 Colour=red\n",
         "f:1: Colour: unknown key; a switch has Nodes, Switches, LinkSpeed"},
        {"SwitchName=a Nodes=\n", "f:1: 'Nodes=': KEY=VALUE is expected"},
        {"SwitchName=a Nodes=n[1\n", "f:1: Nodes: the ] is missing"},
        {"SwitchName=a Switches=b\n", "f:1: b is neither a host nor a switch of this file"},
        {"- topology: a\n  flat: true\n",
         "f:1: neither tree: switches: nor block: blocks: is given"},
        {"- name: a\n",
         "f:1: `topology` is missing: neither a topology for Holter nor one of Slurm"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_fault(cases[i].text, cases[i].fault);
}

static void faults_of_routes_are_reported_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *route, *fault;
    } cases[] = {
        {"- [h1, s1, h4]\n", "f:13: the route has a gap: no link leads from s1 to h4"},
        {"- [h1, s1, h2]\n- [h1, s3]\n", "f:14: the route passes s3, which is not in the network"},
        {"- [h1, s1, h2, s1]\n", "f:13: the route passes s1 twice"},
        {"- [h1]\n", "f:13: a route has two ends at least"},
        {"- h1 h2\n", "f:13: routes: a text stands here, a list is expected"},
        {"- [h1, s1, h2]\n- [h1, s1, h2]\n",
         "f:14: a route between these ends stands in line 13 already"},
    };
    char text[1000];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(text, sizeof(text), "%sroutes:\n%s", line_of_four, cases[i].route);
        assert_fault(text, cases[i].fault);
    }
}

static void faults_end_after_a_hundred(void **state)
{
    (void)state;
    char text[4000] = "network: mesh:4\nnodes:\n";
    struct topology_file file = {0};
    struct told told = {"", 0};
    for (int i = 0; i < 300; i++)
        strcat(text, "- {}\n");
    assert_int_equal(topology_file_parse(&file, "f", text, strlen(text), tell, &told),
                     -HOLTER_EUSAGE);
    assert_int_equal(told.count, 101);
}

static void file_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct topology_file file = {0};
    struct told told = {"", 0};
    assert_int_not_equal(topology_file_read(&file, "/nonexistent/net.yaml", tell, &told), 0);
    assert_string_equal(told.text, "/nonexistent/net.yaml: No such file or directory\n");
    memset(&told, 0, sizeof(told));
    assert_int_equal(topology_file_given(&file, "torus:4,x", tell, &told), -HOLTER_EUSAGE);
    assert_string_equal(told.text, "torus:4,x: a number is missing, at character 9\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_has_its_links_capacities_and_interfaces),
        cmocka_unit_test(hosts_are_found_by_full_and_by_short_names),
        cmocka_unit_test(nodes_are_placed_row_major_by_ranges_or_by_coordinates),
        cmocka_unit_test(dimensions_have_wraps_orders_and_ties),
        cmocka_unit_test(routes_that_are_given_go_before_the_rule),
        cmocka_unit_test(tree_of_switches_is_read_like_slurms),
        cmocka_unit_test(root_of_a_tree_is_its_last_vertex_wherever_it_stands_in_the_file),
        cmocka_unit_test(blocks_of_slurm_hang_below_one_switch),
        cmocka_unit_test(default_topology_of_slurms_list_is_taken),
        cmocka_unit_test(faults_of_shape_are_reported_with_their_line),
        cmocka_unit_test(faults_of_nodes_are_reported_with_their_line),
        cmocka_unit_test(faults_of_links_are_reported_with_their_line),
        cmocka_unit_test(faults_of_routes_are_reported_with_their_line),
        cmocka_unit_test(faults_end_after_a_hundred),
        cmocka_unit_test(file_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
