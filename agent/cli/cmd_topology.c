/* holter topology: print and check a network. */
#include "agent/cli/cmd.h"
#include "agent/cli/network_input.h"
#include "agent/cli/text/text.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/json.h"
#include "proto/quantity.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: holter topology [OPTION]... FILE|SHORT|cart\n"
    "\n"
    "Checks the description of a network and prints what it is. FILE: YAML, see\n"
    "holter-topology(5), Slurm's topology.conf or topology.yaml, or routes that were recorded.\n"
    "SHORT: torus:4,4,8, mesh:8,8m, hypercube:10, fattree:k=8,\n"
    "dragonfly:groups=9,routers=4,nodes=2,global=2 and the like.\n"
    "\n"
    "cart: the process grid of the job in --recording, its largest Cartesian communicator.\n"
    "\n"
    "      --recording FILE the recording that cart is of\n"
    "      --route A B      also print the route from A to B: hosts, switches, \"(0,0,1)\" or\n"
    "                       numbers\n"
    "      --hosts          also print which node each host is\n"
    "  -f, --format FORMAT  text (default) or json\n"
    "  -h, --help           this text\n"
    "\n"
    "Status: 0 when it is right, 1 when it is not, 2 for wrong usage.\n";

struct asked {
    int argc;
    char **argv;
    const char *given, *recording; /* NULL: none */
    const char *ends[2];           /* NULL: no route */
    int json, hosts;
};

struct shown {
    const struct asked *asked;
    struct topology_file file;
    uint32_t links;  /* number of existing links */
    uint32_t *route; /* numbers of links; owned */
    uint32_t length, ends[2];
};

static const char *const kinds[] = {"Cartesian", "dragonfly", "fat tree", "tree", "graph"};
static const char *const connections[] = {"torus", "mesh", "all to all"};
static const char *const ties[] = {"parity", "plus", "minus"};

static const char *cmd_topology_name_of(const struct shown *s, uint32_t vertex,
                                        char text[TOPOLOGY_NAME + 1])
{
    topology_vertex_name(s->file.topology, vertex, text, TOPOLOGY_NAME + 1);
    return text;
}

/* ---- a route ------------------------------------------------------------- */

static int find_route(struct shown *s)
{
    const struct topology *t = s->file.topology;
    for (int e = 0; e < 2; e++) {
        s->ends[e] = network_input_vertex(&s->file, s->asked->ends[e]);
        if (s->ends[e] == TOPOLOGY_NONE) {
            terminal_print("topology: the network has no \"%s\"", s->asked->ends[e]);
            return 1;
        }
    }
    s->length = topology_distance(t, s->ends[0], s->ends[1]);
    if (s->length == TOPOLOGY_NONE) {
        terminal_print("topology: there is no route from \"%s\" to \"%s\"", s->asked->ends[0],
                       s->asked->ends[1]);
        return 1;
    }
    s->route = calloc((size_t)s->length + 1, sizeof *s->route);
    if (!s->route) {
        terminal_print("topology: no memory");
        return 1;
    }
    topology_route(t, s->ends[0], s->ends[1], s->route, s->length);
    return 0;
}

/* ---- text ---------------------------------------------------------------- */

static void print_dimensions(const struct topology_spec *spec)
{
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        const struct topology_dimension *dimension = &spec->dimensions[d];
        tap_print(stdout, "%-12s%s %" PRIu32, d == 0 ? "dimensions" : "", dimension->name,
                  dimension->size);
        if (spec->kind == TOPOLOGY_FAT_TREE)
            printf(", parents %" PRIu32, dimension->up);
        else if (spec->kind == TOPOLOGY_CARTESIAN)
            printf(", %s", connections[dimension->connection]);
        putchar('\n');
    }
    if (spec->kind != TOPOLOGY_CARTESIAN)
        return;
    printf("%-12s", "order");
    for (uint32_t step = 0; step < spec->dimension_count; step++)
        for (uint32_t d = 0; d < spec->dimension_count; d++)
            if (spec->dimensions[d].step == step)
                tap_print(stdout, "%s%s", step == 0 ? "" : ", ", spec->dimensions[d].name);
    printf("\n%-12s%s\n", "tie", ties[spec->tie]);
}

static void print_route(const struct shown *s)
{
    char name[TOPOLOGY_NAME + 1];
    uint32_t from, to;
    tap_print(stdout, "%-12s%s: %s", "route", quantity_things(s->length, "link").text,
              cmd_topology_name_of(s, s->ends[0], name));
    for (uint32_t i = 0; i < s->length; i++)
        if (topology_link(s->file.topology, s->route[i], &from, &to))
            tap_print(stdout, " -> %s", cmd_topology_name_of(s, to, name));
    putchar('\n');
}

static void cmd_topology_print_text(const struct shown *s)
{
    const struct topology *t = s->file.topology;
    const struct topology_spec *spec = topology_spec(t);
    char name[TOPOLOGY_NAME + 1], coordinates[100];
    tap_print(stdout, "%-12s%s\n", "name", spec->name);
    printf("%-12s%s\n%-12s%s\n", "kind", kinds[spec->kind], "from",
           topology_format_name(s->file.format));
    print_dimensions(spec);
    printf("%-12s%" PRIu32 "\n", "nodes", topology_nodes(t));
    printf("%-12s%" PRIu32 "\n", "switches", topology_vertices(t) - topology_nodes(t));
    printf("%-12s%" PRIu32 ", each direction one\n", "links", s->links);
    printf("%-12s%" PRIu32 "\n", "diameter", topology_diameter(t));
    if (spec->capacity > 0)
        printf("%-12s%.0f bytes/s\n", "capacity", spec->capacity);
    else
        printf("%-12snot known\n", "capacity");
    printf("%-12s%" PRIu32 " named\n", "hosts", s->file.host_count);
    for (uint32_t h = 0; s->asked->hosts && h < s->file.host_count; h++) {
        uint32_t node = s->file.hosts[h], at[TOPOLOGY_DIMENSIONS];
        uint32_t count = topology_coordinates(t, node, at);
        coordinates[0] = '\0';
        for (uint32_t d = 0; d < count; d++)
            text_append(coordinates, sizeof coordinates, "%c%" PRIu32 "%s", d == 0 ? '(' : ',',
                        at[d], d + 1 == count ? ")" : "");
        tap_print(stdout, "%-12s%s node %" PRIu32 " %s\n", "", cmd_topology_name_of(s, node, name),
                  node, coordinates);
    }
    if (s->file.routes + s->file.gaps > 0)
        printf("%-12s%" PRIu32 " complete, %" PRIu32 " with a gap\n", "routes", s->file.routes,
               s->file.gaps);
    if (s->file.wrong_lines > 0)
        printf("%-12s%" PRIu32 " lines that are wrong\n", "left out", s->file.wrong_lines);
    if (s->route)
        print_route(s);
}

/* Print remarks about routes with a gap and malformed lines, which were not used. */
static void cmd_topology_print_remarks(const struct shown *s)
{
    char *rest = s->file.remarks, *line;
    while (rest && (line = strsep(&rest, "\n")) && line[0])
        terminal_print("%s:%s", s->asked->given, line);
}

/* ---- JSON ---------------------------------------------------------------- */

static void print_json_dimensions(const struct topology_spec *spec)
{
    fputs(",\"dimensions\":[", stdout);
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        const struct topology_dimension *dimension = &spec->dimensions[d];
        json_put_text(stdout, d == 0 ? "{" : ",{", "name", dimension->name);
        printf(",\"size\":%" PRIu32, dimension->size);
        if (spec->kind == TOPOLOGY_CARTESIAN)
            printf(",\"connection\":\"%s\",\"step\":%" PRIu32,
                   dimension->connection == TOPOLOGY_ALL ? "all"
                                                         : connections[dimension->connection],
                   dimension->step);
        else if (spec->kind == TOPOLOGY_FAT_TREE)
            printf(",\"parents\":%" PRIu32, dimension->up);
        putchar('}');
    }
    putchar(']');
}

static void cmd_topology_print_json(const struct shown *s)
{
    const struct topology *t = s->file.topology;
    const struct topology_spec *spec = topology_spec(t);
    char name[TOPOLOGY_NAME + 1];
    uint32_t from, to;
    json_put_text(stdout, "{", "name", spec->name);
    json_put_text(stdout, ",", "kind", kinds[spec->kind]);
    json_put_text(stdout, ",", "from", topology_format_name(s->file.format));
    print_json_dimensions(spec);
    printf(",\"tie\":\"%s\",\"nodes\":%" PRIu32 ",\"switches\":%" PRIu32 ",\"links\":%" PRIu32
           ",\"diameter\":%" PRIu32 ",\"capacity\":%.17g,\"named\":%" PRIu32,
           ties[spec->tie], topology_nodes(t), topology_vertices(t) - topology_nodes(t), s->links,
           topology_diameter(t), spec->capacity, s->file.host_count);
    printf(",\"routes\":%" PRIu32 ",\"gaps\":%" PRIu32, s->file.routes, s->file.gaps);
    if (s->asked->hosts) {
        fputs(",\"hosts\":{", stdout);
        for (uint32_t h = 0; h < s->file.host_count; h++) {
            fputs(h == 0 ? "" : ",", stdout);
            json_text(stdout, cmd_topology_name_of(s, s->file.hosts[h], name));
            printf(":%" PRIu32, s->file.hosts[h]);
        }
        putchar('}');
    }
    if (s->route) {
        fputs(",\"route\":[", stdout);
        json_text(stdout, cmd_topology_name_of(s, s->ends[0], name));
        for (uint32_t i = 0; i < s->length; i++) {
            if (!topology_link(t, s->route[i], &from, &to))
                continue;
            putchar(',');
            json_text(stdout, cmd_topology_name_of(s, to, name));
        }
        putchar(']');
    }
    puts("}");
}

/* ---- all ----------------------------------------------------------------- */

static int read_grid(struct topology_file *out, const char *recording)
{
    struct pairs pairs = {.processes = 0};
    char why[300] = "";
    if (pairs_read(&pairs, recording, network_input_report, "topology") != 0)
        return -1;
    int code = pairs.source == PAIRS_RECORDING ? pairs_grid(out, NULL, &pairs, why, sizeof why)
                                               : -HOLTER_EUSAGE;
    if (code != 0)
        terminal_print("topology: %s: %s", recording, why[0] ? why : "it is no recording");
    pairs_finish(&pairs);
    return code;
}

static int cmd_topology_show_progress(const struct asked *asked)
{
    struct shown s = {.asked = asked};
    uint32_t from, to;
    int code = asked->recording
                   ? read_grid(&s.file, asked->recording)
                   : topology_file_given(&s.file, asked->given, network_input_report, "topology");
    if (code != 0)
        return 1;
    for (uint32_t l = 0; l < topology_links(s.file.topology); l++)
        s.links += topology_link(s.file.topology, l, &from, &to) != 0;
    int status = asked->ends[0] ? find_route(&s) : 0;
    if (status == 0 && asked->json)
        cmd_topology_print_json(&s);
    else if (status == 0)
        cmd_topology_print_text(&s);
    cmd_topology_print_remarks(&s);
    free(s.route);
    topology_file_finish(&s.file);
    return status;
}

static int cmd_topology_set_route(void *user, const struct command_option *option,
                                  const char *value)
{
    struct asked *asked = user;
    (void)option;
    if (optind >= asked->argc) {
        terminal_print("topology: --route needs two ends");
        return 2;
    }
    asked->ends[0] = value;
    asked->ends[1] = asked->argv[optind++];
    return 0;
}

int cmd_topology(int argc, char **argv)
{
    struct asked asked = {.argc = argc, .argv = argv};
    const struct command_option options[] = {
        {"route", .set = cmd_topology_set_route},
        {"hosts", .flag = &asked.hosts},
        {"recording", .text = &asked.recording},
        {"format", 'f', .json = &asked.json},
        {0},
    };
    const struct command_line line = {"topology", help, options, .user = &asked};
    int status = command_line_read_one(&line, argc, argv, "one file or short form", &asked.given);
    if (status >= 0)
        return status;
    if (asked.recording && strcmp(asked.given, NETWORK_GRID) != 0) {
        terminal_print("topology: --recording goes with " NETWORK_GRID ", not with '%s'",
                       asked.given);
        return 2;
    }
    return cmd_topology_show_progress(&asked);
}
