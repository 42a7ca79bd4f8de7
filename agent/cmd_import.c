/* holter import: what others recorded as a recording of Holter. */
#include "agent/cmd.h"
#include "agent/network_input.h"
#include "agent/say.h"
#include "daemon/import/import.h"
#include "holter/error.h"
#include "proto/quantity.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: holter import --format FORMAT [OPTION]... -o FILE.hrec SOURCE\n"
    "\n"
    "Makes a recording of what others recorded, for holter replay, holter view and holter remap.\n"
    "\n"
    "      --format hopbyte      SOURCE DESTINATION BYTES [HOPS] a line: one window\n"
    "      --format route        \"Hop 1: [12-0] 12 (0 1 1 0 0 0) -> 8 (0 1 0 0 0 0)\" a line: one "
    "window\n"
    "      --format counters     packets of torus links by code region: the YAML file that names "
    "the tables\n"
    "                            beside it; a window for each time that a region comes\n"
    "      --topology T          hopbyte, route: network, a file, see holter-topology(5), or a "
    "short form\n"
    "      --ranks-per-node K    rank r is on node r / K; default: as few as fit\n"
    "  -o, --output FILE         the recording; there must be none of this name\n"
    "  -h, --help                this text\n"
    "\n"
    "Status: 0, 1 when the input is wrong, 2 for wrong usage.\n";

enum { OPT_FORMAT = 256, OPT_TOPOLOGY, OPT_PER_NODE };

static const struct option long_options[] = {
    {"format", required_argument, NULL, OPT_FORMAT},
    {"topology", required_argument, NULL, OPT_TOPOLOGY},
    {"ranks-per-node", required_argument, NULL, OPT_PER_NODE},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char *const formats[] = {"hopbyte", "route", "counters"};

struct importing {
    int format; /* -1: not given */
    const char *source, *output, *topology;
    uint64_t per_node;
};

static int wrong(const char *option, const char *value)
{
    say("import: --%s cannot be '%s'; `holter import --help` tells more", option, value);
    return 2;
}

static int set_option(struct importing *i, int option, const char *value)
{
    switch (option) {
    case OPT_FORMAT:
        for (int f = 0; f < 3; f++)
            if (strcmp(value, formats[f]) == 0)
                i->format = f;
        return i->format < 0 ? wrong("format", value) : 0;
    case OPT_TOPOLOGY:
        i->topology = value;
        return 0;
    case OPT_PER_NODE:
        return network_input_number(value, UINT32_MAX, &i->per_node) || i->per_node == 0
                   ? wrong("ranks-per-node", value)
                   : 0;
    default:
        if (strcmp(value, "-") == 0) {
            say("import: --output: '-' is no file: a recording cannot be written to standard "
                "output");
            return 2;
        }
        i->output = value;
        return 0;
    }
}

/* @return -1 to go on, or the exit status */
static int parse(struct importing *i, int argc, char **argv)
{
    optind = 0; /* glibc: start anew, options were parsed before (getopt(3)) */
    for (int option; (option = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        int status = option == '?' ? 2 : set_option(i, option, optarg);
        if (status)
            return status;
    }
    if (optind + 1 != argc || i->format < 0 || !i->output) {
        say("import: --format, -o and one source are wanted; `holter import --help` tells more");
        return 2;
    }
    if (i->format == 2 && (i->topology || i->per_node)) {
        say("import: counters tell their network themselves");
        return 2;
    }
    i->source = argv[optind];
    return -1;
}

static int run_counters(const struct importing *i)
{
    struct import_counts counts;
    if (import_counters(i->output, i->source, &counts, network_input_tell, NULL) != 0)
        return 1;
    printf("%s: %" PRIu32 " nodes, %" PRIu32 " ranks, %" PRIu64 " packets in %" PRIu32 " windows\n",
           i->output, counts.nodes, counts.ranks, counts.packets, counts.windows);
    return 0;
}

static int write_pairs(const struct importing *i, const struct pairs *pairs)
{
    struct topology_file network = {.topology = NULL};
    const char *source = i->topology ? i->topology : i->source;
    int infers = !i->topology && pairs->source == PAIRS_ROUTES;
    if ((i->topology || infers) &&
        topology_file_given(&network, source, network_input_tell, NULL) != 0)
        return 1;
    uint64_t per_node = i->per_node == 0 && infers ? network.per_node : i->per_node;
    int code = import_pairs(i->output, i->source, pairs, network.topology ? &network : NULL, source,
                            per_node, network_input_tell, NULL);
    if (code == 0)
        printf("%s: %" PRIu32 " ranks, %zu pairs\n", i->output, pairs->processes,
               pairs->edge_count);
    topology_file_finish(&network);
    return code != 0;
}

static int run_pairs(const struct importing *i)
{
    static const enum pairs_source wanted[] = {PAIRS_HOP_BYTES, PAIRS_ROUTES};
    struct pairs pairs;
    if (pairs_read(&pairs, i->source, network_input_tell, NULL) != 0)
        return 1;
    int status = 1;
    if (pairs.source == wanted[i->format])
        status = write_pairs(i, &pairs);
    else
        say("import: %s is no file of format %s", i->source, formats[i->format]);
    pairs_finish(&pairs);
    return status;
}

int cmd_import(int argc, char **argv)
{
    struct importing i = {.format = -1};
    int status = parse(&i, argc, argv);
    if (status >= 0)
        return status;
    return i.format == 2 ? run_counters(&i) : run_pairs(&i);
}
