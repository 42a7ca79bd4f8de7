/* holter graph: which event of a rank waited for which, of a capture or a trace. */
#include "agent/cli/cmd.h"
#include "agent/cli/graph_write.h"
#include "agent/terminal/terminal.h"
#include "agent/terminal/unfinished_output.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/moment.h"
#include "proto/rank_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: holter graph [OPTION]... FILE\n"
    "       holter graph --live [OPTION]... [JOB]\n"
    "\n"
    "Writes the graph of dependencies among ranks: who waited for whose message, what was late,\n"
    "and which ranks caused that. FILE is a recording with captures, see holter-capture(1), an\n"
    "OTF2 archive, a DUMPI trace, or a table of messages (csv).\n"
    "\n"
    "      --live              capture a running job now; without JOB the newest one\n"
    "      --capture N         of a recording: this capture; default: the newest\n"
    "      --from T            only calls from this time on: +12.5s, 40%, -10s,\n"
    "                          2026-11-22T05:00:00Z\n"
    "      --to T              only calls up to this time; with --live -2s is two seconds ago,\n"
    "                          and the rings are read back from there\n"
    "      --ranks LIST        only these ranks, such as 3,8-11; default: all\n"
    "      --events N          with --live: records of each rank at most, 1 to 65536; default 256\n"
    "      --by rank|node      what a vertex belongs to (default rank)\n"
    "  -f, --format json|dot   one object (default), or a graph for Graphviz\n"
    "  -o, --output FILE       write there; default: standard output, -\n" DIAL_HELP
    "      --timeout SECONDS   how long to wait for the daemon (default 5, fleet 30)\n"
    "  -h, --help              this text\n"
    "\n"
    "Status: 0, 1 when there is nothing to make a graph of, or something failed, 2 for wrong\n"
    "usage.\n";

#define MOST_EVENTS 65536

static const char *const formats[] = {"json", "dot", NULL};
static const char *const vertices[] = {"rank", "node", NULL};

struct graphing {
    struct dial dial;
    const char *argument; /* file or job */
    const char *output, *from, *to, *ranks;
    int live, format, by;
    uint64_t capture, events; /* 0: not given */
    uint64_t from_ns, to_ns;  /* what is known of from and to before the calls are; else 0 */
    char words[4096];         /* argument of the request of a capture */
    struct graph_source source;
    struct dependencies dependencies;
    struct dependency_graph hosts;
};

/* ---- options --------------------------------------------------------------- */

/* Words of options that do not go together. @return 0, or 2 after printing an error */
static int cmd_graph_check(const struct graphing *g)
{
    char why[256];
    const char *wrong = NULL;
    if (!g->live && g->argument == NULL)
        wrong = "expected a recording or trace, or --live";
    else if (!g->live && g->events != 0)
        wrong = "--events is for --live";
    else if (g->live && g->capture != 0)
        wrong = "--capture is for recordings, and not for --live";
    else if (!g->live && strcmp(g->output, "-") != 0 && output_is_same_file(g->output, g->argument))
        wrong = "the output is the source itself";
    else if (g->ranks != NULL && rank_spans_check(g->ranks, DEPENDENCY_RANKS) != 0)
        wrong = "--ranks: expected a list such as 3,8-11";
    else if ((g->from != NULL && moment_check(g->from, why, sizeof why) != 0) ||
             (g->to != NULL && moment_check(g->to, why, sizeof why) != 0))
        wrong = why;
    if (wrong == NULL)
        return 0;
    terminal_print("graph: %s; see `holter graph --help`", wrong);
    return 2;
}

static int cmd_graph_make_words(struct graphing *g)
{
    int status = 0;
    if (g->live && g->ranks != NULL)
        status = command_line_append("graph", g->words, sizeof g->words, "ranks", g->ranks);
    if (status == 0 && g->events != 0)
        status =
            command_line_append_number("graph", g->words, sizeof g->words, "events", g->events);
    if (status == 0 && g->to_ns != 0)
        status = command_line_append_number("graph", g->words, sizeof g->words, "until", g->to_ns);
    return status;
}

/* A time of a job that runs, whose end is now. @param out  0: it counts from the first call
 * @return exit status */
static int cmd_graph_find_live(const char *text, uint64_t now_ns, uint64_t *out)
{
    char why[256];
    if (text == NULL || moment_needs_begin(text) ||
        moment_find(text, now_ns, now_ns, out, why, sizeof why) == 0)
        return 0;
    terminal_print("graph: %s", why);
    return 2;
}

/* @return -1 to go on, or the exit status */
static int cmd_graph_parse(struct graphing *g, int argc, char **argv)
{
    const struct command_option options[] = {
        {"live", .flag = &g->live},
        {"capture", .number = &g->capture, .least = 1},
        {"from", .text = &g->from},
        {"to", .text = &g->to},
        {"ranks", .text = &g->ranks},
        {"events", .number = &g->events, .least = 1, .most = MOST_EVENTS},
        {"by", .word = &g->by, .words = vertices},
        {"format", 'f', .word = &g->format, .words = formats},
        {"output", 'o', .text = &g->output},
        {0},
    };
    const struct command_line line = {"graph", help, options, .user = g};
    int status = dial_parse(&g->dial, &line, argc, argv);
    if (status >= 0)
        return status;
    status = cmd_graph_check(g);
    const uint64_t now_ns = clock_real_ns();
    if (status == 0 && g->live)
        status = cmd_graph_find_live(g->from, now_ns, &g->from_ns);
    if (status == 0 && g->live)
        status = cmd_graph_find_live(g->to, now_ns, &g->to_ns);
    status = status != 0 ? status : cmd_graph_make_words(g);
    return status != 0 ? status : -1;
}

/* ---- the graph ------------------------------------------------------------- */

static int cmd_graph_read(struct graphing *g)
{
    if (g->live)
        return graph_source_live(&g->source, &g->dial, dial_job(&g->dial, g->argument), g->words);
    if (graph_source_is_recording(g->argument))
        return graph_source_recording(&g->source, g->argument, g->capture);
    if (g->capture != 0) {
        terminal_print("graph: --capture is for recordings");
        return 2;
    }
    return graph_source_trace(&g->source, g->argument);
}

static int cmd_graph_has_rank(void *user, uint32_t rank)
{
    return rank_spans_have(user, rank);
}

/* A time within the span of the messages, unless it was known before. @return exit status */
static int cmd_graph_moment(const struct graphing *g, const char *text, uint64_t known_ns,
                            int64_t *out)
{
    const struct dependency_calls *calls = &g->source.captured.calls;
    int64_t begin_ns = INT64_MAX, end_ns = 0;
    char why[256];
    uint64_t ns;
    for (size_t i = 0; i < calls->count; i++) {
        const struct dependency_end *e = &calls->ends[i];
        begin_ns = e->begin_ns < begin_ns ? e->begin_ns : begin_ns;
        end_ns = e->end_ns > end_ns ? e->end_ns : end_ns;
    }
    if (known_ns != 0)
        *out = (int64_t)known_ns;
    if (known_ns != 0 || text == NULL || calls->count == 0)
        return 0;
    begin_ns = begin_ns < 0 ? 0 : begin_ns;
    if (moment_parse(text, (uint64_t)begin_ns, (uint64_t)end_ns, &ns, why, sizeof why) != 0) {
        terminal_print("graph: %s", why);
        return 2;
    }
    *out = (int64_t)ns;
    return 0;
}

static int cmd_graph_make(struct graphing *g)
{
    struct dependency_wishes wishes = {.to_ns = INT64_MAX,
                                       .has_rank = g->ranks == NULL ? NULL : cmd_graph_has_rank,
                                       .user = (void *)g->ranks,
                                       .criteria = g->source.criteria.rows,
                                       .criteria_count = g->source.criteria.count};
    int status = cmd_graph_moment(g, g->from, g->from_ns, &wishes.from_ns);
    status = status != 0 ? status : cmd_graph_moment(g, g->to, g->to_ns, &wishes.to_ns);
    if (status == 0 && wishes.from_ns > wishes.to_ns) {
        terminal_print("graph: --from is after --to");
        status = 2;
    }
    if (status != 0)
        return status;
    int code = dependencies_make(&g->dependencies, &g->source.captured.calls, &wishes);
    if (code == 0 && g->by != 0)
        code = dependencies_aggregate(&g->dependencies, DEPENDENCY_NONE, &g->hosts);
    if (code == 0 && g->dependencies.event_count > 0)
        return 0;
    terminal_print("graph: %s", code != 0 ? holter_strerror(code)
                                : g->source.captured.missing[0] != '\0'
                                    ? g->source.captured.missing
                                    : "there is no message of that time and of these ranks");
    return 1;
}

/* ---- output ---------------------------------------------------------------- */

static void cmd_graph_report(const struct graphing *g)
{
    const struct dependency_counts *c = &g->dependencies.counts;
    if (g->source.captured.missing[0] != '\0')
        terminal_print("graph: %s", g->source.captured.missing);
    if (c->rejected > 0)
        terminal_print("graph: %" PRIu64 " pairs of ends contradict each other: not in the graph",
                       c->rejected);
    if (g->source.captured.calls.left_out > 0)
        terminal_print("graph: %" PRIu64 " records were too many: not in the graph",
                       g->source.captured.calls.left_out);
}

static int cmd_graph_write(struct graphing *g, FILE *out)
{
    const struct graph_written w = {.source = &g->source,
                                    .dependencies = &g->dependencies,
                                    .graph = g->by == 0 ? &g->dependencies.ranks : &g->hosts,
                                    .hosts = g->by != 0};
    if (g->format == 0)
        graph_write_json(out, &w);
    else
        graph_write_dot(out, &w);
    return ferror(out);
}

/* The output is opened first, so that errors are reported before anything is read. */
static int cmd_graph_run(struct graphing *g)
{
    struct output_file output;
    const char *name = strcmp(g->output, "-") == 0 ? "standard output" : g->output;
    int code = output_file_open(&output, g->output);
    if (code != 0) {
        terminal_print("graph: %s: %s", name, strerror(-code));
        return 1;
    }
    int status = cmd_graph_read(g);
    status = status != 0 ? status : cmd_graph_make(g);
    if (status == 0) {
        cmd_graph_report(g);
        cmd_graph_write(g, output.file);
    }
    code = output_file_close(&output, status == 0);
    if (status == 0 && code != 0)
        terminal_print("graph: %s: %s", name, strerror(-code));
    return status != 0 ? status : code != 0;
}

int cmd_graph(int argc, char **argv)
{
    struct graphing g = {
        .dial = {.role = ROLE_OPERATOR, .word = &g.argument, .job = &g.argument, .live = &g.live},
        .output = "-"};
    int status = cmd_graph_parse(&g, argc, argv);
    if (status >= 0)
        return status;
    status = cmd_graph_run(&g);
    dependency_graph_finish(&g.hosts);
    dependencies_finish(&g.dependencies);
    graph_source_finish(&g.source);
    return status;
}
