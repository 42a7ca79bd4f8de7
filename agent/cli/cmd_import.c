/* holter import: converts traces and tables of other programs to recordings. */
#include "agent/cli/cmd.h"
#include "agent/cli/import_trace.h"
#include "agent/cli/network_input.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "agent/terminal/unfinished_output.h"
#include "daemon/import/import.h"
#include "daemon/import/import_format.h"
#include "holter/error.h"
#include "proto/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: holter import [OPTION]... -o FILE.hrec SOURCE\n"
    "\n"
    "Makes a recording of what others recorded, for holter replay, holter view and holter remap.\n"
    "\n"
    "      --format FORMAT       of the source; default: what its beginning says\n"
    "                otf2        an archive of Score-P or others: the file .otf2, or its folder\n"
    "                dumpi       a trace of libdumpi: its .meta file, its folder, or a rank's\n"
    "                            file\n"
    "                csv         a table of messages with a header: source, destination, bytes,\n"
    "                            send_begin ...; may come from a pipe, or standard input: -\n"
    "                hopbyte     SOURCE DESTINATION BYTES [HOPS] a line: one window\n"
    "                route       \"Hop 1: [12-0] 12 (0 1 1 0 0 0) -> 8 (0 1 0 0 0 0)\" a line:\n"
    "                            one window\n"
    "                counters    packets of torus links by code region: the YAML file that names\n"
    "                            the tables beside it; a window for each time that a region comes\n"
    "      --window L            traces, csv: length of a window, 10us, 5ms, 1s; default: about\n"
    "                            200 of them, each at most 1 s\n"
    "      --topology T          all but counters: network, a file, see holter-topology(5), or a\n"
    "                            short form\n"
    "      --ranks-per-node K    hopbyte, route, csv, and with --hosts: rank r is on node r / K;\n"
    "                            default: as few as fit\n"
    "      --hosts LIST          csv, otf2: hosts of the ranks, in blocks, node[0-3]; instead of\n"
    "                            those of an archive\n"
    "      --threads N           traces, csv: that read it; default: as many as there are\n"
    "                            processors\n"
    "      --no-results          only what was recorded: curve, phases, latency, regions, links\n"
    "                            and alerts are made when it is replayed\n"
    "  -o, --output FILE         the recording; there must be none of this name\n"
    "  -h, --help                this text\n"
    "\n"
    "Status: 0, 1 when the input is wrong (what is whole of a trace is imported), 2 for wrong\n"
    "usage.\n";

#define MIN_WINDOW_NS UINT64_C(1000)
#define MAX_WINDOW_NS UINT64_C(60000000000)
#define MAX_THREADS 64u

struct importing {
    enum import_format format;
    const char *source, *output, *topology, *hosts;
    uint64_t per_node, window_ns, threads;
    int no_results;
    char file[4096]; /* main file of the source */
};

static int cmd_import_set_format(void *user, const struct command_option *option, const char *value)
{
    struct importing *i = user;
    (void)option;
    i->format = import_format_by_name(value);
    return i->format == IMPORT_UNKNOWN ? -1 : 0;
}

/* Check that the options apply to the format. @return 0 or the exit status */
static int cmd_import_check(const struct importing *i)
{
    int csv = i->format == IMPORT_CSV, otf2 = i->format == IMPORT_OTF2,
        dumpi = i->format == IMPORT_DUMPI, counters = i->format == IMPORT_COUNTERS;
    int timed = csv || otf2 || dumpi;
    const char *name = import_format_name(i->format);
    const char *option = counters && i->topology ? "topology"
                         : (counters || dumpi || (otf2 && !i->hosts)) && i->per_node
                             ? "ranks-per-node"
                         : !timed && i->window_ns    ? "window"
                         : !timed && i->threads      ? "threads"
                         : !csv && !otf2 && i->hosts ? "hosts"
                                                     : NULL;
    if (option == NULL)
        return 0;
    terminal_print("import: --%s is not for sources of format %s%s; see `holter import --help`",
                   option, name, otf2 ? " without --hosts" : "");
    return 2;
}

/* A pipe can be read only once, so that its format cannot be detected. */
static int is_pipe(const char *source)
{
    struct stat status;
    return strcmp(source, "-") == 0 ||
           (stat(source, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

static int check_pipe(struct importing *i)
{
    if (i->format != IMPORT_CSV) {
        terminal_print(
            "import: %s: from a pipe only tables of messages are read, with --format csv",
            i->source);
        return 2;
    }
    snprintf(i->file, sizeof(i->file), "%s", i->source);
    int status = cmd_import_check(i);
    return status ? status : -1;
}

/* A file that could be read, but says nothing of its format. */
static int cmd_import_is_unknown_file(const struct importing *i, enum import_format found)
{
    struct stat status;
    return found == IMPORT_UNKNOWN && access(i->file, R_OK) == 0 && stat(i->file, &status) == 0 &&
           S_ISREG(status.st_mode);
}

/* @return -1 to go on, or the exit status */
static int find_format(struct importing *i)
{
    char why[4400];
    if (is_pipe(i->source))
        return check_pipe(i);
    enum import_format found =
        import_format_find(i->source, i->format, i->file, sizeof(i->file), why, sizeof(why));
    if (found == IMPORT_RECORDING) {
        terminal_print(
            "import: %s is a recording of Holter already: `holter replay` and `holter view` take "
            "it",
            i->file);
        return 1;
    }
    if (found == IMPORT_PACKED || (i->format == IMPORT_UNKNOWN && found == IMPORT_UNKNOWN)) {
        terminal_print("import: %s%s", why,
                       cmd_import_is_unknown_file(i, found) ? "; use --format" : "");
        return 1;
    }
    i->format = i->format == IMPORT_UNKNOWN ? found : i->format;
    int status = cmd_import_check(i);
    return status ? status : -1;
}

/* @return -1 to go on, or the exit status */
static int cmd_import_parse(struct importing *i, int argc, char **argv)
{
    const struct command_option options[] = {
        {"format", .set = cmd_import_set_format},
        {"topology", .text = &i->topology},
        {"ranks-per-node", .number = &i->per_node, .least = 1, .most = UINT32_MAX},
        {"window", .duration_ns = &i->window_ns, .least = MIN_WINDOW_NS, .most = MAX_WINDOW_NS},
        {"threads", .number = &i->threads, .least = 1, .most = MAX_THREADS},
        {"hosts", .text = &i->hosts},
        {"no-results", .flag = &i->no_results},
        {"output", 'o', .recording = &i->output},
        {0},
    };
    const struct command_line line = {"import", help, options, .user = i};
    int status = command_line_read_one(&line, argc, argv, "-o and one source", &i->source);
    if (status >= 0)
        return status;
    if (!i->output) {
        terminal_print("import: expected -o and one source; see `holter import --help`");
        return 2;
    }
    return find_format(i);
}

static int run_counters(const struct importing *i)
{
    struct import_counts counts;
    if (import_counters(i->output, i->source, &counts, network_input_report, "import") != 0)
        return 1;
    printf("%s: %s, %s, %s in %s\n", i->output, quantity_things(counts.nodes, "node").text,
           quantity_things(counts.ranks, "rank").text,
           quantity_things(counts.packets, "packet").text,
           quantity_things(counts.windows, "window").text);
    if (counts.unseen > 0)
        printf("  left out     %" PRIu64 " packets between nodes without ranks\n", counts.unseen);
    if (counts.wrong_rows > 0)
        printf("  left out     %" PRIu64 " rows that are wrong\n", counts.wrong_rows);
    return counts.wrong_rows > 0;
}

/* Infer the network from routes or hop counts. */
static int cmd_import_infer_network(const struct importing *i, const struct pairs *pairs,
                                    struct topology_file *network)
{
    int routes = pairs->source == PAIRS_ROUTES;
    if (!routes && pairs->hop_count == 0)
        return 0;
    if (topology_file_given(network, i->source, network_input_report, "import") == 0)
        return 0;
    terminal_print("import: %s: no network can be inferred from these %s: importing without a "
                   "network, see --topology",
                   i->source, routes ? "routes" : "hops");
    return routes;
}

/* Hop counts that are not those of the network show that it is that of another machine. A network
 * that was inferred has most of them: the others are reported.
 * @return nonzero when the file cannot be imported */
static int cmd_import_check_hops(const struct importing *i, const struct pairs *pairs,
                                 const struct topology_file *network, uint64_t per_node,
                                 int *status)
{
    const struct pair_hops *first = NULL;
    uint32_t *seats;
    char why[300];
    if (pairs->hop_count == 0 || network->topology == NULL ||
        pairs_seats(&seats, pairs, network, per_node, why, sizeof(why)) != 0)
        return 0; /* import_pairs() reports why */
    size_t differ = pairs_compare_hops(pairs, network->topology, seats, &first);
    free(seats);
    if (differ > 0)
        terminal_print("import: %s:%u: %" PRIu32 " hops from %" PRIu32 " to %" PRIu32
                       " are not those of the network; %zu of %zu lines differ",
                       i->source, first->line, first->hops, first->from, first->to, differ,
                       pairs->hop_count);
    *status |= differ > 0;
    return i->topology && differ > 0;
}

static void cmd_import_print_pairs(const struct importing *i, const struct pairs *pairs,
                                   const struct topology_file *network)
{
    printf("%s: %s, %s\n", i->output, quantity_things(pairs->processes, "rank").text,
           quantity_things(pairs->edge_count, "pair").text);
    if (network->topology && !i->topology)
        printf("  inferred     the network, from the %s: %s\n",
               pairs->source == PAIRS_ROUTES ? "routes" : "hops",
               quantity_things(topology_nodes(network->topology), "node").text);
    if (pairs->processes > 0 && pairs->ids[pairs->processes - 1] >= pairs->processes)
        printf("  renumbered   in the order of their numbers, of which the last is %" PRIu64 "\n",
               pairs->ids[pairs->processes - 1]);
    if (pairs->wrong_lines > 0)
        printf("  left out     %" PRIu64 " lines that are wrong\n", pairs->wrong_lines);
}

static int write_pairs(const struct importing *i, const struct pairs *pairs)
{
    struct topology_file network = {.topology = NULL};
    int status = pairs->wrong_lines > 0;
    if (!i->topology)
        status |= cmd_import_infer_network(i, pairs, &network);
    else if (topology_file_given(&network, i->topology, network_input_report, "import") != 0)
        return 1;
    uint64_t per_node = i->per_node == 0 && !i->topology ? network.per_node : i->per_node;
    int code = cmd_import_check_hops(i, pairs, &network, per_node, &status);
    if (code == 0)
        code = import_pairs(i->output, i->source, pairs, network.topology ? &network : NULL,
                            i->topology ? i->topology : i->source, per_node, network_input_report,
                            "import");
    if (code == 0)
        cmd_import_print_pairs(i, pairs, &network);
    topology_file_finish(&network);
    return code != 0 ? 1 : status;
}

static int run_pairs(const struct importing *i)
{
    enum pairs_source wanted = i->format == IMPORT_ROUTE ? PAIRS_ROUTES : PAIRS_HOP_BYTES;
    struct pairs pairs;
    if (pairs_read_whole(&pairs, i->source, network_input_report, "import") != 0)
        return 1;
    int status = 1;
    if (pairs.source == wanted)
        status = write_pairs(i, &pairs);
    else
        terminal_print("import: %s is not a file of format %s", i->source,
                       import_format_name(i->format));
    pairs_finish(&pairs);
    return status;
}

static int run_trace(const struct importing *i)
{
    const struct trace_wishes asked = {.window_ns = i->window_ns,
                                       .threads = (unsigned)i->threads,
                                       .per_node = (uint32_t)i->per_node,
                                       .hosts = i->hosts,
                                       .network_source = i->topology};
    return import_trace(i->output, i->file, i->format, &asked);
}

static int cmd_import_run(const struct importing *i)
{
    if (i->format == IMPORT_OTF2 || i->format == IMPORT_DUMPI || i->format == IMPORT_CSV)
        return run_trace(i);
    return i->format == IMPORT_COUNTERS ? run_counters(i) : run_pairs(i);
}

/* Checked before the source is read, which may take long. @return 0, or 1 after printing an error
 */
static int check_output(const char *path)
{
    struct stat status;
    int there = lstat(path, &status) == 0 && (!S_ISREG(status.st_mode) || status.st_size > 0);
    int code = there ? -EEXIST : output_check(path);
    if (code != 0)
        terminal_print("import: %s: %s", path, holter_strerror(code));
    return code != 0;
}

static int cmd_import_is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

int cmd_import(int argc, char **argv)
{
    struct importing i = {.format = IMPORT_UNKNOWN};
    int status = cmd_import_parse(&i, argc, argv);
    if (status >= 0)
        return status;
    if (check_output(i.output) != 0)
        return 1;
    struct unfinished unfinished;
    unfinished_begin(&unfinished, i.output);
    status = cmd_import_run(&i);
    /* A partly imported source gets results for the part that was imported. */
    if (!i.no_results && cmd_import_is_there(i.output))
        status |= import_results(i.output);
    unfinished_end(&unfinished);
    return status;
}
