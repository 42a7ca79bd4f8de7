/* holter reroute: better routes for the messages that a job sends. */
#include "agent/cli/cmd.h"
#include "agent/cli/network_input.h"
#include "agent/cli/text/text.h"
#include "agent/cli/topology_write.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "daemon/analysis/network/remap/remap_flows.h"
#include "daemon/analysis/network/reroute.h"
#include "holter/error.h"
#include "proto/json.h"
#include "proto/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: holter reroute [OPTION]... RECORDING|HOPBYTE-FILE|ROUTE-FILE\n"
    "\n"
    "Finds better routes between nodes, one after the other, for the loads of the links.\n"
    "\n"
    "      --topology T          network: a file, see holter-topology(5), or a short form,\n"
    "                            torus:4,4,8; cart: the process grid of a recording; default\n"
    "                            for a route file: inferred from it\n"
    "      --routes LIST         improve these routes, SOURCE-DESTINATION,... by rank\n"
    "      --link FROM-TO        improve the routes across a link between nodes or switches\n"
    "      --top K               improve the K routes with the heaviest links (default 100)\n"
    "      --first length|load   prefer the shortest (Eq. 1) or the least loaded route (Eq. 2,\n"
    "                            default)\n"
    "      --delta N             links by which a route may become longer (default 0)\n"
    "      --given FILE          mapping, \"RANK NODE\" a line; default: as the job ran\n"
    "      --ranks-per-node K    of a hop-byte file: rank r is on node r / K; default: the\n"
    "                            smallest K that fits\n"
    "  -f, --format FORMAT       text (default) or json, one object to a line\n"
    "  -o, --output FILE         write the network with the better routes to a file for\n"
    "                            --topology; of a tree or graph only the routes, to be pasted\n"
    "                            into its file\n"
    "  -h, --help                this text\n"
    "\n"
    "Status: 0, 1 when the input is invalid, 2 for wrong usage.\n";

struct rerouting {
    struct network_input input;
    struct reroute_params params;
    const char *routes, *link, *output;
    uint64_t top, delta;
    int first; /* 0: the shortest, 1: the least loaded */
    int json;

    struct remap_flows flows;
    struct reroute *search;        /* owned */
    struct reroute_route *chosen;  /* owned */
    struct reroute_result *better; /* owned */
    size_t count;                  /* of both */
};

/* @return -1 to go on, or the exit status */
static int cmd_reroute_parse(struct rerouting *r, int argc, char **argv)
{
    static const char *const firsts[] = {"length", "load", NULL};
    const struct command_option options[] = {
        {"topology", .text = &r->input.topology},
        {"routes", .text = &r->routes},
        {"link", .text = &r->link},
        {"top", .number = &r->top, .least = 1, .most = UINT32_MAX},
        {"first", .word = &r->first, .words = firsts},
        {"delta", .number = &r->delta, .most = REROUTE_MAXIMUM_DELTA},
        {"given", .text = &r->input.given},
        {"ranks-per-node", .number = &r->input.per_node, .least = 1, .most = UINT32_MAX},
        {"format", 'f', .json = &r->json},
        {"output", 'o', .text = &r->output},
        {0},
    };
    const struct command_line line = {"reroute", help, .options = options};
    int status = command_line_read_one(&line, argc, argv, "one file", &r->input.path);
    if (status < 0 && r->routes)
        status = network_input_list("reroute", "routes", r->routes) ? 2 : -1;
    r->params = (struct reroute_params){.first = r->first ? REROUTE_LOAD : REROUTE_LENGTH,
                                        .delta = (uint32_t)r->delta};
    if (status >= 0 || (r->routes != NULL) + (r->link != NULL) + (r->top != 0) <= 1)
        return status;
    terminal_print("reroute: --routes, --link and --top exclude each other; "
                   "see `holter reroute --help`");
    return 2;
}

/* Check that sums do not overflow: no link carries more than the total.
 * @return 0, or the exit status after printing an error */
static int cmd_reroute_check_bytes(const struct rerouting *r)
{
    const struct pairs *p = &r->input.pairs;
    uint64_t sum = 0;
    for (size_t i = 0; i < p->edge_count; i++) {
        const struct remap_edge *e = &p->edges[i];
        if (r->input.seats[e->from] == r->input.seats[e->to])
            continue;
        if (__builtin_add_overflow(sum, e->bytes, &sum) || sum > INT64_MAX) {
            terminal_print("reroute: %s: the sum of all bytes is 2^63 or more", r->input.path);
            return 1;
        }
    }
    return 0;
}

/* ---- which routes -------------------------------------------------------------- */

static void cmd_reroute_add_route(struct rerouting *r, const struct remap_flow *flow)
{
    r->chosen[r->count++] = (struct reroute_route){
        .source = flow->source, .destination = flow->destination, .bytes = flow->bytes};
}

/* Choose the route between two ranks: "12-0". @return 0, or the exit status after printing an error
 */
static int cmd_reroute_choose_pair(struct rerouting *r, char *word)
{
    const struct pairs *p = &r->input.pairs;
    char *dash = strchr(word, '-');
    uint64_t ends[2];
    if (dash)
        *dash = '\0';
    if (!dash || command_option_number(word, UINT32_MAX, &ends[0]) ||
        command_option_number(dash + 1, UINT32_MAX, &ends[1]))
        return command_line_wrong("reroute", "routes", r->routes);
    uint32_t from = pairs_process(p, ends[0]), to = pairs_process(p, ends[1]);
    const struct remap_flow *found = NULL;
    if (from != UINT32_MAX && to != UINT32_MAX)
        found = remap_flows_find(&r->flows, r->input.seats[from], r->input.seats[to]);
    if (!found) {
        terminal_print("reroute: no message from %" PRIu64 " to %" PRIu64 " crosses a link",
                       ends[0], ends[1]);
        return 1;
    }
    for (size_t i = 0; i < r->count; i++)
        if (r->chosen[i].source == found->source && r->chosen[i].destination == found->destination)
            return 0;
    if (r->count < r->flows.count)
        cmd_reroute_add_route(r, found);
    return 0;
}

static int cmd_reroute_choose_pairs(struct rerouting *r)
{
    char *copy = strdup(r->routes), *rest = NULL;
    int status = copy ? 0 : 1;
    for (char *word = strtok_r(copy, ",", &rest); word && !status;
         word = strtok_r(NULL, ",", &rest))
        status = cmd_reroute_choose_pair(r, word);
    free(copy);
    return status;
}

static uint32_t cmd_reroute_vertex_of(const struct rerouting *r, const char *name)
{
    const struct topology_file *file = &r->input.network;
    for (uint32_t v = 0; v < topology_nodes(file->topology); v++)
        if (r->input.hosts[v] && strcmp(r->input.hosts[v], name) == 0)
            return v;
    return network_input_vertex(file, name);
}

/* Split "FROM-TO", where names may contain dashes. */
static uint32_t cmd_reroute_link_of(const struct rerouting *r)
{
    char text[256];
    if (strlen(r->link) >= sizeof text)
        return TOPOLOGY_NONE;
    for (const char *dash = strchr(r->link, '-'); dash; dash = strchr(dash + 1, '-')) {
        snprintf(text, sizeof text, "%.*s", (int)(dash - r->link), r->link);
        uint32_t from = cmd_reroute_vertex_of(r, text), to = cmd_reroute_vertex_of(r, dash + 1);
        if (from != TOPOLOGY_NONE && to != TOPOLOGY_NONE)
            return topology_link_between(r->input.network.topology, from, to);
    }
    return TOPOLOGY_NONE;
}

static int cmd_reroute_choose_link(struct rerouting *r)
{
    uint32_t link = cmd_reroute_link_of(r);
    if (link == TOPOLOGY_NONE) {
        terminal_print("reroute: there is no link '%s'", r->link);
        return 1;
    }
    for (size_t i = 0; i < r->flows.count; i++)
        if (topology_crosses(r->input.network.topology, r->flows.rows[i].source,
                             r->flows.rows[i].destination, link))
            cmd_reroute_add_route(r, &r->flows.rows[i]);
    return 0;
}

static int cmd_reroute_choose_top(struct rerouting *r)
{
    uint64_t top = r->top ? r->top : 100;
    if (remap_flows_measure(&r->flows))
        return 1;
    remap_flows_sort(&r->flows);
    for (size_t i = 0; i < r->flows.count && i < top; i++)
        cmd_reroute_add_route(r, &r->flows.rows[i]);
    return 0;
}

/* ---- search ---------------------------------------------------------------------- */

static int cmd_reroute_failed(int code)
{
    if (code)
        terminal_print("reroute: %s", holter_strerror(code));
    return code != 0;
}

static int cmd_reroute_search(struct rerouting *r)
{
    r->better = calloc(r->count + 1, sizeof *r->better);
    int code = !r->better ? -ENOMEM : reroute_create(&r->search, r->input.network.topology);
    if (!code) {
        reroute_set(r->search, r->flows.bytes);
        code = reroute_several(r->search, &r->params, r->chosen, r->count, r->better);
    }
    return cmd_reroute_failed(code);
}

/* ---- output ------------------------------------------------------------------------ */

static const char *cmd_reroute_own_name(const struct rerouting *r, uint32_t vertex,
                                        char text[TOPOLOGY_NAME + 1])
{
    topology_vertex_name(r->input.network.topology, vertex, text, TOPOLOGY_NAME + 1);
    return text;
}

static const char *cmd_reroute_name_of(const struct rerouting *r, uint32_t vertex,
                                       char text[TOPOLOGY_NAME + 1])
{
    if (r->input.hosts[vertex] && r->input.hosts[vertex][0])
        return r->input.hosts[vertex];
    return cmd_reroute_own_name(r, vertex, text);
}

/* Print the vertices of a new route. @param own  use the names of the network */
static void cmd_reroute_put_path(const struct rerouting *r, FILE *out, size_t at,
                                 const char *separator, bool own,
                                 void (*put)(FILE *out, const char *name))
{
    char name[TOPOLOGY_NAME + 1];
    uint32_t from, to;
    put(out, own ? cmd_reroute_own_name(r, r->chosen[at].source, name)
                 : cmd_reroute_name_of(r, r->chosen[at].source, name));
    for (uint32_t l = 0; l < r->better[at].length_after; l++) {
        fputs(separator, out);
        if (topology_link(r->input.network.topology, r->better[at].links[l], &from, &to))
            put(out, own ? cmd_reroute_own_name(r, to, name) : cmd_reroute_name_of(r, to, name));
    }
}

struct reroute_totals {
    uint64_t heaviest, heaviest_after, length, length_after;
    size_t better;
    double gain; /* sum over better routes of the relative decrease of their heaviest load */
};

static struct reroute_totals cmd_reroute_sum_up(const struct rerouting *r)
{
    struct reroute_totals t = {0, 0, 0, 0, 0, 0};
    const uint64_t *after = reroute_loads(r->search);
    for (uint32_t l = 0; l < topology_links(r->input.network.topology); l++) {
        t.heaviest = r->flows.bytes[l] > t.heaviest ? r->flows.bytes[l] : t.heaviest;
        t.heaviest_after = after[l] > t.heaviest_after ? after[l] : t.heaviest_after;
    }
    for (size_t i = 0; i < r->count; i++) {
        const struct reroute_result *b = &r->better[i];
        t.length += b->length;
        t.length_after += b->length_after;
        t.better += b->better != 0;
        if (b->better && b->heaviest > 0)
            t.gain += ((double)b->heaviest - (double)b->heaviest_after) / (double)b->heaviest;
    }
    return t;
}

static void cmd_reroute_print_text(const struct rerouting *r)
{
    struct reroute_totals t = cmd_reroute_sum_up(r);
    char from[TOPOLOGY_NAME + 1], to[TOPOLOGY_NAME + 1];
    printf("%zu of %zu routes are better", t.better, r->count);
    if (t.better > 0)
        printf("; their heaviest link carries %.1f %% less on average",
               100 * t.gain / (double)t.better);
    printf("\n%-20s %20s %20s\n", "measure", "before", "after");
    printf("%-20s %20" PRIu64 " %20" PRIu64 "\n", "max-link", t.heaviest, t.heaviest_after);
    printf("%-20s %20" PRIu64 " %20" PRIu64 "\n", "length of these", t.length, t.length_after);
    for (size_t i = 0; i < r->count; i++) {
        const struct reroute_result *b = &r->better[i];
        if (!b->better)
            continue;
        tap_print(stdout,
                  "%s to %s: %" PRIu64 " bytes, links %" PRIu32 " to %" PRIu32 ", heaviest %" PRIu64
                  " to %" PRIu64 "\n",
                  cmd_reroute_name_of(r, r->chosen[i].source, from),
                  cmd_reroute_name_of(r, r->chosen[i].destination, to), r->chosen[i].bytes,
                  b->length, b->length_after, b->heaviest, b->heaviest_after);
        fputs("  ", stdout);
        cmd_reroute_put_path(r, stdout, i, " -> ", false, utf8_print_plain);
        putchar('\n');
    }
}

static void cmd_reroute_print_json(const struct rerouting *r)
{
    struct reroute_totals t = cmd_reroute_sum_up(r);
    char name[TOPOLOGY_NAME + 1];
    for (size_t i = 0; i < r->count; i++) {
        const struct reroute_result *b = &r->better[i];
        json_put_text(stdout, "{", "source", cmd_reroute_name_of(r, r->chosen[i].source, name));
        json_put_text(stdout, ",", "destination",
                      cmd_reroute_name_of(r, r->chosen[i].destination, name));
        json_put_count(stdout, ",", "bytes", r->chosen[i].bytes);
        printf(",\"better\":%d,\"length\":%" PRIu32 ",\"length_after\":%" PRIu32, b->better != 0,
               b->length, b->length_after);
        json_put_count(stdout, ",", "heaviest", b->heaviest);
        json_put_count(stdout, ",", "heaviest_after", b->heaviest_after);
        fputs(",\"path\":[", stdout);
        cmd_reroute_put_path(r, stdout, i, ",", false, json_text);
        puts("]}");
    }
    printf("{\"routes\":%zu,\"better\":%zu", r->count, t.better);
    json_put_count(stdout, ",", "max_link", t.heaviest);
    json_put_count(stdout, ",", "max_link_after", t.heaviest_after);
    printf(",\"length\":%" PRIu64 ",\"length_after\":%" PRIu64 "}\n", t.length, t.length_after);
}

/* Write the better routes, and the given routes that are unchanged. Hosts have their names in the
 * network, which may differ from those in the recording. */
static int cmd_reroute_put_routes(const struct rerouting *r, FILE *out)
{
    struct topology_ends *better = calloc(r->count + 1, sizeof *better);
    size_t count = 0;
    if (!better)
        return -ENOMEM;
    fputs("routes:", out);
    for (size_t i = 0; i < r->count; i++) {
        if (!r->better[i].better)
            continue;
        better[count++] = (struct topology_ends){r->chosen[i].source, r->chosen[i].destination};
        fputs("\n- [", out);
        cmd_reroute_put_path(r, out, i, ", ", true, topology_write_text);
        fputc(']', out);
    }
    const size_t given = topology_write_routes(out, r->input.network.topology, better, count);
    fputs(count + given > 0 ? "\n" : " []\n", out);
    free(better);
    return 0;
}

/* Write the network with its better routes; for trees and graphs, which have a file, only the
 * routes.
 * @return 0, or the exit status */
static int cmd_reroute_write_routes(const struct rerouting *r)
{
    const struct topology *topology = r->input.network.topology;
    const bool whole = topology_write_can(topology);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return cmd_reroute_failed(-ENOMEM);
    if (whole) {
        fputs("# A network with better routes: for `--topology`, see holter-topology(5).\n", out);
        topology_write(out, topology);
    } else {
        fputs("# Only routes, no network: paste them into the network's file, in place of `routes` "
              "if it has them; see holter-topology(5).\n",
              out);
    }
    int code = cmd_reroute_put_routes(r, out);
    if (fclose(out) != 0)
        code = -ENOMEM;
    int status = cmd_reroute_failed(code);
    status = status ? status : network_input_write("reroute", r->output, text, length);
    free(text);
    return status;
}

/* ---- all ----------------------------------------------------------------------------- */

static int cmd_reroute_run(struct rerouting *r)
{
    int status = r->output ? network_input_output(&r->input, r->output) : 0;
    status = status ? status : network_input_read(&r->input);
    status = status ? status : cmd_reroute_check_bytes(r);
    if (status)
        return status;
    int code = remap_flows_set(&r->flows, r->input.network.topology, r->input.pairs.edges,
                               r->input.pairs.edge_count, r->input.seats);
    if (code)
        return cmd_reroute_failed(code);
    r->chosen = calloc(r->flows.count + 1, sizeof *r->chosen);
    if (!r->chosen)
        return cmd_reroute_failed(-ENOMEM);
    status = r->routes ? cmd_reroute_choose_pairs(r)
             : r->link ? cmd_reroute_choose_link(r)
                       : cmd_reroute_choose_top(r);
    status = status ? status : cmd_reroute_search(r);
    if (status)
        return status;
    if (r->json)
        cmd_reroute_print_json(r);
    else
        cmd_reroute_print_text(r);
    return r->output ? cmd_reroute_write_routes(r) : 0;
}

int cmd_reroute(int argc, char **argv)
{
    struct rerouting r = {.input = {.command = "reroute"}, .first = 1};
    int status = cmd_reroute_parse(&r, argc, argv);
    if (status >= 0)
        return status;
    status = cmd_reroute_run(&r);
    reroute_destroy(r.search);
    remap_flows_finish(&r.flows);
    free(r.chosen);
    free(r.better);
    network_input_finish(&r.input);
    return status;
}
