/* Any text to the readers of networks, pairs, mappings and counters. The first byte says which. */
#include "daemon/analysis/network/mapping_text.h"
#include "daemon/import/counter_table.h"
#include "daemon/import/traffic.h"
#include "daemon/topology/hostlist.h"
#include "daemon/topology/topology_file.h"
#include "holter/error.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 5000u

static void on_fault(void *user, const char *text)
{
    unsigned *faults = user;
    FUZZ_HOLDS(strncmp(text, "f:", 2) == 0);
    for (const char *c = text; *c != '\0'; c++)
        FUZZ_HOLDS((unsigned char)*c >= 0x20 && *c != 0x7f);
    ++*faults;
}

static void check_result(int code, unsigned faults)
{
    FUZZ_HOLDS(code == 0 || code == -HOLTER_EUSAGE || code == -ENOMEM || code == -HOLTER_ELIMIT);
    FUZZ_HOLDS((code == 0) == (faults == 0) && faults <= 101);
}

static void read_topology(const char *text, size_t size)
{
    struct topology_file file = {.topology = NULL};
    unsigned faults = 0;
    int code = topology_file_parse(&file, "f", text, size, on_fault, &faults);
    check_result(code, faults);
    if (code != 0) {
        FUZZ_HOLDS(file.topology == NULL);
        return;
    }
    uint32_t nodes = topology_nodes(file.topology);
    FUZZ_HOLDS(nodes > 0 && nodes <= topology_vertices(file.topology));
    FUZZ_HOLDS(topology_distance(file.topology, 0, nodes - 1) != TOPOLOGY_NONE);
    for (uint32_t h = 0; h < file.host_count && h < 100; h++) {
        const char *name = topology_spec(file.topology)->vertices[file.hosts[h]].name;
        FUZZ_HOLDS(topology_file_host(&file, name) == file.hosts[h]);
    }
    topology_file_finish(&file);
}

static void read_pairs(const char *text, size_t size)
{
    struct pairs pairs;
    unsigned faults = 0;
    int code = pairs_parse(&pairs, "f", text, size, on_fault, &faults);
    check_result(code, faults);
    for (size_t i = 0; code == 0 && i < pairs.edge_count; i++) {
        const struct remap_edge *e = &pairs.edges[i];
        FUZZ_HOLDS(e->from < pairs.processes && e->to < pairs.processes);
        FUZZ_HOLDS(e->messages > 0);
        FUZZ_HOLDS(i == 0 || e[-1].from < e->from || (e[-1].from == e->from && e[-1].to < e->to));
    }
    for (uint32_t i = 1; code == 0 && i < pairs.processes; i++)
        FUZZ_HOLDS(pairs.ids[i - 1] < pairs.ids[i]);
    pairs_finish(&pairs);
}

static void read_mapping(const char *text, size_t size)
{
    struct mapping_seat *seats;
    size_t count;
    struct mapping_reader reader = {.text = text, .length = size, .nodes = 64};
    if (mapping_read(&seats, &count, &reader) != 0)
        return;
    for (size_t i = 0; i < count; i++)
        FUZZ_HOLDS(seats[i].vertex < 64 && (i == 0 || seats[i - 1].rank < seats[i].rank));
    free(seats);
}

static void read_counters(const char *text, size_t size, int meta)
{
    unsigned told = 0;
    struct faults faults = {"f", on_fault, &told, 0};
    struct counter_meta about;
    struct counter_table table;
    if (meta) {
        int code = counter_meta_parse(&about, text, size, &faults);
        check_result(code, told);
        FUZZ_HOLDS(code != 0 || about.spec.dimension_count > 0);
        return;
    }
    int code = counter_table_parse(&table, text, size, &faults);
    FUZZ_HOLDS(code == 0 || code == -HOLTER_EUSAGE || code == -ENOMEM);
    FUZZ_HOLDS(code == 0 || faults.count > 0);
    if (code == 0) {
        FUZZ_HOLDS(table.wrong == faults.count && (table.wrong == 0 || table.rows > 0));
        FUZZ_HOLDS(table.column_count > 0 && table.column_count <= COUNTER_COLUMNS);
        counter_table_finish(&table);
    }
}

static int on_name(void *user, const char *name)
{
    unsigned *names = user;
    FUZZ_HOLDS(name[0] != '\0' && strlen(name) <= HOSTLIST_NAME);
    return ++*names <= NAMES ? 0 : -HOLTER_EINTERNAL;
}

static void read_hostlist(const char *text)
{
    unsigned names = 0;
    char why[200] = "";
    int code = hostlist_expand(text, NAMES, on_name, &names, why, sizeof why);
    FUZZ_HOLDS(code == 0 || (code == -HOLTER_EUSAGE && why[0] != '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 8) {
    case 0:
        read_pairs(text, size - 1);
        break;
    case 1:
        read_mapping(text, size - 1);
        break;
    case 2:
    case 3:
        read_counters(text, size - 1, data[0] % 8 == 2);
        break;
    case 4:
        read_hostlist(text);
        break;
    default:
        read_topology(text, size - 1);
        break;
    }
    free(text);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static const char *const seeds[] = {
        "\x05kind: torus\ndimensions: {x: 2, y: 3}\norder: [y, x]\ntie: plus\ncapacity: 1 GB/s\n"
        "nodes:\n- {hosts: 'n[1-4]', at: [0, 1]}\n- m.a\nroutes:\n- [n1, n2]\n",
        "\x05kind: graph\nnodes: h[1-4]\nswitches: s[1-2]\nlinks:\n- [h1:eth0, s1]\n- [h2, s1]\n"
        "- {between: [s1, s2], capacity: 1 Gbit/s}\n- [h3, s2]\n- {from: s2, to: h4}\n"
        "- {from: h4, to: s2}\nroutes:\n- [h1, s1, s2, h4]\n",
        "\x05kind: tree\nswitches:\n- {name: t, switches: 's[0-1]'}\n- {name: s0, nodes: a b}\n"
        "- {name: s1, nodes: c, capacity: 2e9}\n",
        "\x05network: dragonfly:groups=3,routers=2,nodes=2,global=1\nnodes: {a: 3, b: 1}\n",
        "\x06SwitchName=s0 Nodes=n[0-3] LinkSpeed=9\nSwitchName=s1 Nodes=m1,\\\nm2\n"
        "SwitchName=t Switches=s[0-1]\n",
        "\x06"
        "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockSizes=2\n",
        "\x07- topology: a\n  cluster_default: true\n  tree:\n    switches:\n"
        "    - {switch: r, children: 's[1-2]'}\n    - {switch: s1, nodes: a}\n"
        "    - {switch: s2, nodes: b}\n- topology: b\n  block:\n    blocks:\n"
        "    - {block: x, nodes: 'n[1-2]'}\n",
        "\x06Hop 1: [3-0] 3 (0 0 0 1 1 0) -> 2 (0 0 0 1 0 0)\n"
        "Hop 2: [3-0] 2 (0 0 0 1 0 0) -> 0 (0 0 0 0 0 0)\n",
        "\x06Hop 1: [1271-1255] 1271 (6 1 13 3 0) -> 1255 (6 1 9 3 0)\n",
        "\x06"
        "0 31 10 5\n31 0 1e3 5\n1 2 3 2\n",
        "\x08"
        "0 1 8.837e+06 1\n2 0 17\n762 804 1\n",
        "\x08Hop 1: [3-0] 3 (0 1 1) -> 1 (0 0 1)\n",
        "\x09# a\n0 1\n1 0\n2 63\n",
        "\x0akey: A\nhardware: {\n network: torus,\n coords: [x, y],\n coords_table: n.yaml,\n"
        " dim: {x: 8, y: 8},\n source_coords: {x: sx, y: sy},\n"
        " destination_coords: {x: tx, y: ty},\n link_coords_table: l.yaml\n}\n---\n"
        "filetype: projection\ntype: file\nfilename: m.yaml\nsubdomain:\n- { type: NODE }\n"
        "- { type: RANK }\n...\n",
        "\x0bkey: A\n---\n- [linkid, int32]\n- [sx, int32]\n...\n0 1\n2 -3\n",
        "\x0cn[1-4,7],m[01-02]x[3-5] a",
    };
    if (number >= sizeof seeds / sizeof *seeds)
        return SIZE_MAX;
    memcpy(out, seeds[number], strlen(seeds[number]));
    return strlen(seeds[number]);
}
