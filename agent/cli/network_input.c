/* Reads traffic, network and placement for the commands about networks. */
#include "agent/cli/network_input.h"

#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "agent/terminal/unfinished_output.h"
#include "daemon/analysis/network/mapping_text.h"
#include "daemon/analysis/network/measures.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_MAPPING ((size_t)256 << 20)

void network_input_report(void *command, const char *text)
{
    terminal_print("%s: %s", (const char *)command, text);
}

static const char *network_input_name_of(const struct network_input *in)
{
    return in->named != NULL ? in->named : in->path;
}

/* ---- network ------------------------------------------------------------- */

/* Use the network of the recording. */
static int own_network(struct network_input *in)
{
    char why[300] = "";
    int code = pairs_network(&in->network, &in->seats, &in->pairs, in->path, why, sizeof why);
    if (code != 0)
        terminal_print("%s: %s: %s", in->command, network_input_name_of(in),
                       why[0] ? why : holter_strerror(code));
    return code != 0;
}

/* Use the Cartesian communicator of the job. */
static int process_grid(struct network_input *in)
{
    char why[300] = "";
    if (in->pairs.source != PAIRS_RECORDING) {
        terminal_print("%s: --topology " NETWORK_GRID
                       " is the process grid of a job: %s is no recording of one",
                       in->command, network_input_name_of(in));
        return 2;
    }
    if (pairs_grid(&in->network, &in->seats, &in->pairs, why, sizeof why) == 0)
        return 0;
    terminal_print("%s: %s: %s", in->command, network_input_name_of(in), why);
    return 1;
}

static int network_input_read_network(struct network_input *in)
{
    if (in->topology && strcmp(in->topology, NETWORK_GRID) == 0)
        return process_grid(in);
    if (in->topology)
        return topology_file_given(&in->network, in->topology, network_input_report,
                                   (void *)in->command) == 0
                   ? 0
                   : 1;
    if (in->pairs.source == PAIRS_RECORDING)
        return own_network(in);
    if (in->pairs.source == PAIRS_ROUTES || in->pairs.hop_count > 0)
        return topology_file_read(&in->network, in->path, network_input_report,
                                  (void *)in->command) == 0
                   ? 0
                   : 1;
    terminal_print(
        "%s: --topology is expected, as %s has no hops: a file, see holter-topology(5), or a short "
        "form such as torus:4,4,8",
        in->command, network_input_name_of(in));
    return 2;
}

/* Host names of a recording, by vertex. */
static int network_input_name_hosts(struct network_input *in)
{
    const struct pairs *p = &in->pairs;
    in->hosts = calloc((size_t)topology_vertices(in->network.topology) + 1, sizeof *in->hosts);
    if (!in->hosts)
        return -ENOMEM;
    if (p->source != PAIRS_RECORDING || in->given)
        return 0;
    uint32_t *nodes = calloc((size_t)topology_vertices(in->network.topology) + 1, sizeof *nodes);
    int code = nodes ? measures_nodes(in->network.topology, nodes) : -ENOMEM;
    for (uint32_t i = 0; !code && i < p->processes; i++)
        in->hosts[nodes[in->seats[i]]] = p->hosts[p->places[i].host].name;
    free(nodes);
    return code;
}

uint32_t network_input_vertex(const struct topology_file *network, const char *name)
{
    uint64_t number;
    uint32_t vertex = topology_file_host(network, name);
    vertex = vertex != TOPOLOGY_NONE ? vertex : topology_find(network->topology, name);
    if (vertex == TOPOLOGY_NONE && command_option_number(name, UINT32_MAX - 1, &number) == 0 &&
        number < topology_vertices(network->topology))
        vertex = (uint32_t)number;
    return vertex;
}

/* ---- given mapping ------------------------------------------------------- */

ORDER_FUNCTION(network_input_compare_by_rank, struct mapping_seat, ORDER(a->rank, b->rank))

static int network_input_apply_given_seats(struct network_input *in,
                                           const struct mapping_seat *seats, size_t count)
{
    for (uint32_t i = 0; i < in->pairs.processes; i++) {
        struct mapping_seat wanted = {in->pairs.ids[i], 0};
        const struct mapping_seat *found =
            bsearch(&wanted, seats, count, sizeof *seats, network_input_compare_by_rank);
        if (!found) {
            terminal_print("%s: rank %" PRIu64 " has no node", in->given, wanted.rank);
            return 1;
        }
        if (topology_vertex_kind(in->network.topology, found->vertex) == VERTEX_SWITCH) {
            char name[TOPOLOGY_NAME + 1];
            topology_vertex_name(in->network.topology, found->vertex, name, sizeof name);
            terminal_print("%s: %s: rank %" PRIu64 " is on %" PRIu32
                           ", which is no node but the switch %s",
                           in->command, in->given, wanted.rank, found->vertex, name);
            return 1;
        }
        in->seats[i] = found->vertex;
    }
    return 0;
}

static int read_given(struct network_input *in)
{
    struct faults faults = {in->given, network_input_report, (void *)in->command, 0};
    struct mapping_seat *seats = NULL;
    struct mapping_reader reader = {.nodes = topology_vertices(in->network.topology)};
    char *text;
    size_t count;
    if (file_text(&text, &reader.length, in->given, MOST_MAPPING, &faults) != 0)
        return 1;
    reader.text = text;
    int code = mapping_read(&seats, &count, &reader);
    free(text);
    if (code != 0) {
        fault_at(&faults, reader.line, "%s", reader.why[0] ? reader.why : holter_strerror(code));
        return 1;
    }
    int status = network_input_apply_given_seats(in, seats, count);
    free(seats);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

static int network_input_place_ranks(struct network_input *in)
{
    char why[300];
    if (in->seats)
        return in->given ? read_given(in) : 0;
    uint64_t per_node = in->per_node == 0 ? in->network.per_node : in->per_node;
    int code = pairs_seats(&in->seats, &in->pairs, &in->network, per_node, why, sizeof why);
    if (code != 0) {
        terminal_print("%s: %s: %s", in->command, network_input_name_of(in), why);
        return 1;
    }
    return in->given ? read_given(in) : 0;
}

/* Check that the given network fits the file: otherwise the gains would be meaningless. */
static void compare_hops(const struct network_input *in)
{
    const struct pair_hops *first = NULL;
    const struct topology *topology = in->network.topology;
    size_t differ = pairs_compare_hops(&in->pairs, topology, in->seats, &first);
    if (differ > 0)
        terminal_print("%s: %s:%u: %" PRIu32 " hops from %" PRIu32 " to %" PRIu32
                       " are not those of the network given; %zu of %zu lines differ",
                       in->command, network_input_name_of(in), first->line, first->hops,
                       first->from, first->to, differ, in->pairs.hop_count);
}

static void network_input_ignore_message(void *user, const char *text)
{
    (void)user;
    (void)text;
}

/* Do two networks of the same nodes have the same route for a message? @param links  scratch memory
 */
static int same_way(const struct topology *a, const struct topology *b, uint32_t from, uint32_t to,
                    uint32_t *links[2])
{
    uint32_t length = topology_route(a, from, to, links[0], topology_diameter(a));
    if (topology_route(b, from, to, links[1], topology_diameter(b)) != length)
        return 0;
    for (uint32_t i = 0; length != TOPOLOGY_NONE && i < length; i++) {
        uint32_t begin, ends[2] = {0, 1};
        topology_link(a, links[0][i], &begin, &ends[0]);
        topology_link(b, links[1][i], &begin, &ends[1]);
        if (ends[0] != ends[1])
            return 0;
    }
    return 1;
}

/* With a given network, only the ends of the routes in a route file are used, and the network
 * defines the paths. If they differ from those in the file, the loads are not those of the recorded
 * run: warn. */
static void network_input_compare_routes(const struct network_input *in,
                                         const struct topology_file *told)
{
    const struct topology *given = in->network.topology, *file = told->topology;
    if (topology_nodes(file) != topology_nodes(given)) {
        terminal_print("%s: %s: its routes are on %" PRIu32 " nodes, the network given has %" PRIu32
                       ": only their ends are used, the ways are those of the network",
                       in->command, network_input_name_of(in), topology_nodes(file),
                       topology_nodes(given));
        return;
    }
    uint32_t *links[2] = {calloc((size_t)topology_diameter(file) + 1, sizeof(uint32_t)),
                          calloc((size_t)topology_diameter(given) + 1, sizeof(uint32_t))};
    uint64_t per_node = told->per_node == 0 ? 1 : told->per_node;
    size_t routes = 0, differ = 0;
    for (size_t i = 0; links[0] && links[1] && i < in->pairs.edge_count; i++) {
        uint64_t from = in->pairs.ids[in->pairs.edges[i].from] / per_node,
                 to = in->pairs.ids[in->pairs.edges[i].to] / per_node;
        routes += in->pairs.edges[i].from != in->pairs.edges[i].to;
        if (from < topology_nodes(file) && to < topology_nodes(file))
            differ += !same_way(file, given, (uint32_t)from, (uint32_t)to, links);
    }
    if (differ > 0)
        terminal_print(
            "%s: %s: %zu of %zu routes go another way in the network given, which is used",
            in->command, network_input_name_of(in), differ, routes);
    free(links[0]);
    free(links[1]);
}

/* Messages of incomplete routes are assigned to the routes of the network. */
static void network_input_report_gaps(const struct network_input *in)
{
    struct topology_file file = {.topology = NULL};
    const struct topology_file *told = &in->network;
    if (in->topology) {
        if (topology_file_read(&file, in->path, network_input_ignore_message, NULL) != 0)
            return;
        told = &file;
        network_input_compare_routes(in, told);
    }
    if (told->gaps > 0)
        terminal_print(
            "%s: %s: %" PRIu32 " of %" PRIu32 " routes have a gap, see holter topology; those of "
            "the network stand for them",
            in->command, network_input_name_of(in), told->gaps, told->gaps + told->routes);
    topology_file_finish(&file);
}

int network_input_read(struct network_input *in)
{
    if (pairs_read(&in->pairs, in->path, network_input_report, (void *)in->command) != 0)
        return 1;
    int status = network_input_read_network(in);
    status = status ? status : network_input_place_ranks(in);
    if (status == 0 && network_input_name_hosts(in) != 0) {
        terminal_print("%s: no memory", in->command);
        return 1;
    }
    if (status == 0 && in->pairs.left_out > 0)
        terminal_print("%s: %s: left out are %" PRIu64 " messages whose destination is not told",
                       in->command, network_input_name_of(in), in->pairs.left_out);
    if (status == 0 && in->pairs.source == PAIRS_HOP_BYTES && !in->given)
        compare_hops(in);
    if (status == 0 && in->pairs.source == PAIRS_ROUTES)
        network_input_report_gaps(in);
    return status;
}

void network_input_finish(struct network_input *in)
{
    pairs_finish(&in->pairs);
    topology_file_finish(&in->network);
    free(in->seats);
    free(in->hosts);
}

/* ---- lists of ranks ------------------------------------------------------ */

/* Parse "8-11" or "8". @return 0, or 2 after printing an error */
static int network_input_read_range(const struct network_input *in, const char *word,
                                    uint64_t *first, uint64_t *last)
{
    char *dash = strchr(word, '-');
    if (dash)
        *dash = '\0';
    if (command_option_number(word, UINT32_MAX, first) == 0 &&
        command_option_number(dash ? dash + 1 : word, UINT32_MAX, last) == 0 && *first <= *last)
        return 0;
    if (dash)
        *dash = '-';
    terminal_print("%s: '%s' is no list of ranks such as 3,8-11", in->command, word);
    return 2;
}

int network_input_list(const char *command, const char *option, const char *list)
{
    unsigned item = 1;
    for (const char *at = list;; at++) {
        const bool empty = at == list || at[-1] == ',';
        if (empty && (*at == ',' || *at == '\0')) {
            terminal_print("%s: --%s: item %u of '%s' is empty", command, option, item, list);
            return 2;
        }
        if (*at == '\0')
            return 0;
        item += *at == ',';
    }
}

int network_input_ranks(const struct network_input *in, const char *list, uint32_t **out,
                        uint32_t *count)
{
    uint8_t *chosen = calloc((size_t)in->pairs.processes + 1, 1);
    char *copy = strdup(list), *rest = NULL;
    int status = chosen && copy ? 0 : 1;
    for (char *word = strtok_r(copy, ",", &rest); word && !status;
         word = strtok_r(NULL, ",", &rest)) {
        uint64_t first, last;
        status = network_input_read_range(in, word, &first, &last);
        for (uint64_t id = first; !status && id <= last; id++) {
            uint32_t process = pairs_process(&in->pairs, id);
            if (process == UINT32_MAX) {
                terminal_print("%s: there is no rank %" PRIu64, in->command, id);
                status = 1;
            } else {
                chosen[process] = 1;
            }
        }
    }
    uint32_t *processes = calloc((size_t)in->pairs.processes + 1, sizeof *processes), used = 0;
    for (uint32_t i = 0; processes && chosen && i < in->pairs.processes; i++)
        if (chosen[i])
            processes[used++] = i;
    free(chosen);
    free(copy);
    if (status || !processes) {
        free(processes);
        return status ? status : 1;
    }
    *out = processes;
    *count = used;
    return 0;
}

/* ---- writing ------------------------------------------------------------- */

static int no_output(const char *command, const char *path, const char *why)
{
    terminal_print("%s: %s: %s", command, path, why);
    return 1;
}

int network_input_output(const struct network_input *in, const char *path)
{
    const char *const inputs[] = {in->path, in->topology}; /* a mapping may be refined in place */
    struct stat output, input;
    if (strcmp(path, "-") == 0)
        return 0;
    const int there = stat(path, &output) == 0;
    if (!there || S_ISREG(output.st_mode)) { /* written beside it, and renamed */
        char *copy = strdup(path);
        int wrong = !copy || *path == '\0' || access(dirname(copy), W_OK) != 0;
        const char *why = *path ? strerror(errno) : "no name";
        free(copy);
        if (wrong || !there)
            return wrong ? no_output(in->command, path, why) : 0;
    }
    if (S_ISDIR(output.st_mode))
        return no_output(in->command, path, strerror(EISDIR));
    if (access(path, W_OK) != 0)
        return no_output(in->command, path, strerror(errno));
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (inputs[i] && stat(inputs[i], &input) == 0 && S_ISREG(input.st_mode) &&
            input.st_dev == output.st_dev && input.st_ino == output.st_ino)
            return no_output(in->command, path, "is read, and would be overwritten");
    return 0;
}

int network_input_write(const char *command, const char *path, const char *text, size_t length)
{
    struct output_file output;
    int code = output_file_open(&output, path);
    if (code == 0) {
        fwrite(text, 1, length, output.file);
        code = output_file_close(&output, 1);
    }
    if (code != 0)
        terminal_print("%s: %s: %s", command, path, strerror(-code));
    return code != 0;
}
