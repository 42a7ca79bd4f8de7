/* holter remap: a better mapping of ranks to the nodes that a job has. */
#include "agent/cli/cmd.h"
#include "agent/cli/network_input.h"
#include "agent/cli/remap/remap_trials.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "daemon/analysis/network/mapping_text.h"
#include "daemon/analysis/network/measures.h"
#include "daemon/analysis/network/remap/remap.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: holter remap [OPTION]... RECORDING|HOPBYTE-FILE\n"
    "\n"
    "Finds a mapping of ranks to the same nodes with less communication over the network, and\n"
    "states the gain. Never worse than what is given, and the same again from the same seed,\n"
    "steps and trials.\n"
    "\n"
    "      --topology T            network: a file, see holter-topology(5), or a short form,\n"
    "                              torus:4,4,8; cart: of a recording, the grid of its processes;\n"
    "                              default for a recording: the hosts, NUMA nodes and cores that\n"
    "                              agents saw; of a hop-byte file: inferred from its hops, as by\n"
    "                              holter topology\n"
    "      --objective OBJECTIVE   hop-bytes (default), max-link or inter-node\n"
    "      --messages              inter-node: count messages instead of bytes\n"
    "      --time SECONDS          to search, by the clock (default 2)\n"
    "      --steps N               to search, as work: the same result on every machine\n"
    "      --seed N                of the search (default 1)\n"
    "      --threads N             processors to use (default 1); the result does not depend on\n"
    "                              it\n"
    "      --trials N              independent searches, each with the time or steps; the best is\n"
    "                              taken (default 1; with --threads and without --steps as many)\n"
    "      --ranks LIST            only these move, such as 3,8-11\n"
    "      --given FILE            mapping to begin from, \"RANK NODE\" a line; default: as it\n"
    "                              ran\n"
    "      --ranks-per-node K      of a hop-byte file: rank r is on node r / K; default: as few\n"
    "                              as fit\n"
    "      --format FORMAT         of the mapping: plain (default), openmpi, mpich, slurm or bgq\n"
    "  -o, --output FILE           write the mapping there; -: standard output, the table then to\n"
    "                              standard error\n"
    "  -h, --help                  this text\n"
    "\n"
    "Status: 0, 1 when the input is wrong, 2 for wrong usage.\n";

#define MOST_SECONDS 3600.0
#define TRIAL_SECONDS 0.05 /* nominal work of the search that measures the speed, */
#define TRIAL_SHARE 0.05   /* or this share of the time */
#define TIME_SHARE 0.8     /* of the time that is left, since the speed is only estimated */

static const char *const objectives[] = {"hop-bytes", "max-link", "inter-node", NULL};

struct remapping {
    struct network_input input;
    struct remap_problem problem;
    const char *ranks, *output;
    int objective, messages;
    double seconds, seconds_used; /* of the search; unless problem.steps is set */
    struct remap_trials trials;
    struct remap_found found;
    enum mapping_format format;
    uint32_t *selected, *nodes; /* owned */
    uint32_t *best;             /* owned; the seats that were found */
};

static int cmd_remap_set_format(void *user, const struct command_option *option, const char *value)
{
    int format = mapping_format_of(value);
    (void)option;
    if (format >= 0)
        ((struct remapping *)user)->format = (enum mapping_format)format;
    return format >= 0 ? 0 : -1;
}

/* @return -1 to go on, or the exit status */
static int cmd_remap_parse(struct remapping *m, int argc, char **argv)
{
    const struct command_option options[] = {
        {"topology", .text = &m->input.topology},
        {"objective", .word = &m->objective, .words = objectives},
        {"messages", .flag = &m->messages},
        {"time", .real = &m->seconds, .most = MOST_SECONDS},
        {"steps", .number = &m->problem.steps, .least = 1, .most = REMAP_MAX_STEPS},
        {"seed", .number = &m->problem.seed},
        {"threads", .number = &m->trials.threads, .least = 1, .most = REMAP_THREADS_MAXIMUM},
        {"trials", .number = &m->trials.trials, .least = 1, .most = REMAP_TRIALS_MAXIMUM},
        {"ranks", .text = &m->ranks},
        {"given", .text = &m->input.given},
        {"ranks-per-node", .number = &m->input.per_node, .least = 1, .most = UINT32_MAX},
        {"format", .set = cmd_remap_set_format},
        {"output", 'o', .text = &m->output},
        {0},
    };
    const struct command_line line = {"remap", help, options, .user = m};
    int status =
        command_line_read_one(&line, argc, argv, "one recording or hop-byte file", &m->input.path);
    if (status < 0 && m->ranks)
        status = network_input_list("remap", "ranks", m->ranks) ? 2 : -1;
    m->problem.objective = (enum remap_objective)m->objective;
    m->problem.messages = m->messages;
    m->trials.threads = m->trials.threads == 0 ? 1 : m->trials.threads;
    if (m->trials.trials == 0)
        m->trials.trials = m->problem.steps == 0 ? m->trials.threads : 1;
    return status;
}

/* ---- the mapping as text ------------------------------------------------- */

/* In a file with one rank per node, ids are numbers of nodes. Launchers need ranks: the positions
 * of the nodes in ascending order. */
static int ids_are_nodes(const struct remapping *m)
{
    const struct pairs *p = &m->input.pairs;
    return p->source == PAIRS_HOP_BYTES && m->input.per_node <= 1 && p->processes > 0 &&
           p->ids[p->processes - 1] < topology_nodes(m->input.network.topology);
}

/* @return 0, or the exit status after printing an error */
static int write_mapping(const struct remapping *m, const uint32_t *seats, const char *path)
{
    const struct pairs *p = &m->input.pairs;
    struct mapping_seat *list = calloc((size_t)p->processes + 1, sizeof *list);
    char why[300] = "no memory", *text;
    size_t length;
    int by_position = m->format != MAPPING_PLAIN && ids_are_nodes(m);
    for (uint32_t i = 0; list && i < p->processes; i++)
        list[i] = (struct mapping_seat){by_position ? i : p->ids[i], seats[i]};
    const struct mapping mapping = {list, p->processes, m->input.network.topology, m->input.hosts};
    int code = list ? mapping_text(&text, &length, m->format, &mapping, why, sizeof why) : -ENOMEM;
    free(list);
    if (code != 0) {
        terminal_print("remap: format %s: %s", mapping_format_name(m->format), why);
        return 1;
    }
    int status = path ? network_input_write("remap", path, text, length) : 0;
    free(text);
    return status;
}

/* ---- the table ----------------------------------------------------------- */

/* @param bound  below 0: none */
static void print_row(FILE *out, const char *name, double before, double after, double bound,
                      const char *remark)
{
    char gain[32] = "-", least[40] = "-";
    if (before > 0)
        snprintf(gain, sizeof gain, "%.2f %%", 100 * (before - after) / before);
    if (bound >= 0)
        snprintf(least, sizeof least, "%.0f", bound);
    fprintf(out, "%-20s %20.0f %20.0f %9s %20s%s%s\n", name, before, after, gain, least,
            remark[0] ? "  " : "", remark);
}

static void print_work(FILE *out, const struct remapping *m)
{
    const uint64_t trials = m->trials.trials;
    char many[64] = "", repeat[64] = "";
    if (trials > 1) {
        snprintf(many, sizeof many, " in %" PRIu64 " trials, the best is %" PRIu64, trials,
                 m->found.trial + 1);
        snprintf(repeat, sizeof repeat, " --trials %" PRIu64, trials);
    }
    fprintf(out, "work: %" PRIu64 " ", m->found.steps);
    if (m->found.cut)
        fprintf(out, "of %" PRIu64 " steps%s, cut off after %.1f s\n", m->problem.steps * trials,
                many, m->seconds_used);
    else if (m->problem.steps > 0)
        fprintf(out, "steps%s in %.1f s; --steps %" PRIu64 "%s repeats it\n", many, m->seconds_used,
                m->problem.steps, repeat);
    else
        fprintf(out, "steps%s in %.1f s\n", many, m->seconds_used);
}

static void cmd_remap_print_table(FILE *out, const struct remapping *m)
{
    const struct remap_measures before = m->found.before, after = m->found.after;
    const enum remap_objective objective = m->problem.objective;
    const double bound = m->found.bound;
    const char *remark = m->found.optimal ? "optimal" : "";
    const struct {
        const char *name;
        double before, after;
        int is_objective;
    } rows[] = {
        {"hop-bytes", before.hop_bytes, after.hop_bytes, objective == REMAP_HOP_BYTES},
        {"max-link", before.max_link, after.max_link, objective == REMAP_MAX_LINK},
        {"inter-node-bytes", before.inter_node_bytes, after.inter_node_bytes,
         objective == REMAP_INTER_NODE && !m->problem.messages},
        {"inter-node-messages", before.inter_node_messages, after.inter_node_messages,
         objective == REMAP_INTER_NODE && m->problem.messages},
    };
    const char *name = topology_spec(m->input.network.topology)->name;
    if (!name[0])
        name = m->input.topology ? m->input.topology : m->input.path;
    fprintf(out, "%" PRIu32 " ranks on ", m->problem.processes);
    utf8_print_plain(out, name);
    fprintf(out, ", objective %s, seed %" PRIu64 "\n", objectives[objective], m->problem.seed);
    fprintf(out, "%-20s %20s %20s %9s %20s\n", "measure", "before", "after", "gain", "bound");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        print_row(out, rows[i].name, rows[i].before, rows[i].after,
                  rows[i].is_objective ? bound : -1, rows[i].is_objective ? remark : "");
    print_work(out, m);
}

/* ---- all ----------------------------------------------------------------- */

/* Places of ranks that ran on one host are of one node, also in the grid of processes. */
static int cmd_remap_join_hosts(const struct remapping *m)
{
    const struct pairs *p = &m->input.pairs;
    uint32_t *first = calloc((size_t)p->host_count + 1, sizeof *first); /* 1 + node, by host */
    for (uint32_t i = 0; first && i < p->processes && p->places && !m->input.given; i++) {
        uint32_t host = p->places[i].host, *node = &m->nodes[m->input.seats[i]];
        if (host >= p->host_count)
            continue;
        first[host] = first[host] ? first[host] : *node + 1;
        *node = first[host] - 1;
    }
    free(first);
    return first ? 0 : -ENOMEM;
}

static int cmd_remap_prepare(struct remapping *m)
{
    struct remap_problem *p = &m->problem;
    p->topology = m->input.network.topology;
    p->processes = m->input.pairs.processes;
    p->seats = m->input.seats;
    p->edges = m->input.pairs.edges;
    p->edge_count = m->input.pairs.edge_count;
    m->nodes = calloc((size_t)topology_vertices(p->topology) + 1, sizeof *m->nodes);
    m->best = calloc((size_t)p->processes + 1, sizeof *m->best);
    if (!m->nodes || !m->best || measures_nodes(p->topology, m->nodes) != 0 ||
        cmd_remap_join_hosts(m) != 0) {
        terminal_print("remap: no memory");
        return 1;
    }
    p->nodes = m->nodes;
    if (m->ranks) {
        int status = network_input_ranks(&m->input, m->ranks, &m->selected, &p->selected_count);
        if (status)
            return status;
        p->selected = m->selected;
    }
    return 0;
}

/* How a search shares out its work depends on all the work that it may do. So this machine's speed
 * is measured by a short search first.
 * @return 0, or the exit status after printing an error */
static int cmd_remap_choose_steps(struct remapping *m, uint64_t begin_ns)
{
    struct remap_problem *p = &m->problem;
    struct remap *trial = NULL;
    char why[300] = "";
    p->effort = TRIAL_SHARE * m->seconds < TRIAL_SECONDS ? TRIAL_SHARE * m->seconds : TRIAL_SECONDS;
    const int code = remap_create(&trial, p, why, sizeof why);
    if (code != 0)
        terminal_print("remap: %s", why[0] ? why : holter_strerror(code));
    if (code != 0 || m->seconds <= 0) {
        remap_destroy(trial);
        return code != 0;
    }
    while (remap_step(trial) < 1)
        ;
    const double took = (double)(clock_mono_ns() - begin_ns) * 1e-9;
    const double left = m->seconds > took ? m->seconds - took : 0;
    const double steps = (double)remap_steps(trial) / took * left * TIME_SHARE;
    bool optimal;
    remap_bound(trial, &optimal);
    remap_destroy(trial);
    if (optimal) /* the short search is enough */
        m->trials.trials = 1;
    else
        p->steps = steps < 1 ? 1 : steps < REMAP_MAX_STEPS ? (uint64_t)steps : REMAP_MAX_STEPS;
    return 0;
}

/* Search until the work is done or the given seconds have passed. */
static int cmd_remap_search(struct remapping *m)
{
    const bool timed = m->problem.steps == 0;
    const uint64_t begin_ns = clock_mono_ns();
    char why[300] = "";
    int status = timed ? cmd_remap_choose_steps(m, begin_ns) : 0;
    if (status)
        return status;
    const double spent = (double)(clock_mono_ns() - begin_ns) * 1e-9;
    struct progress progress;
    progress_begin(&progress, "remap");
    m->trials.progress = progress_show;
    m->trials.user = &progress;
    m->trials.seconds = !timed || m->problem.steps == 0 ? 0
                        : m->seconds > spent            ? m->seconds - spent
                                                        : 1e-9;
    const int code = remap_trials_run(&m->problem, &m->trials, &m->found, m->best, why, sizeof why);
    progress_end(&progress);
    m->seconds_used = (double)(clock_mono_ns() - begin_ns) * 1e-9;
    if (code != 0)
        terminal_print("remap: %s", why[0] ? why : holter_strerror(code));
    return code != 0;
}

static int cmd_remap_run(struct remapping *m)
{
    int status = m->output ? network_input_output(&m->input, m->output) : 0;
    status = status ? status : network_input_read(&m->input);
    /* Limits of the format are reported before the search, which may take long. */
    status = status ? status : write_mapping(m, m->input.seats, NULL);
    status = status ? status : cmd_remap_prepare(m);
    status = status ? status : cmd_remap_search(m);
    if (status)
        return status;
    int to_stdout = m->output && strcmp(m->output, "-") == 0;
    cmd_remap_print_table(to_stdout ? stderr : stdout, m);
    return m->output ? write_mapping(m, m->best, m->output) : 0;
}

int cmd_remap(int argc, char **argv)
{
    struct remapping m = {.input = {.command = "remap"}, .problem = {.seed = 1}, .seconds = 2};
    int status = cmd_remap_parse(&m, argc, argv);
    if (status >= 0)
        return status;
    status = cmd_remap_run(&m);
    free(m.best);
    free(m.selected);
    free(m.nodes);
    network_input_finish(&m.input);
    return status;
}
