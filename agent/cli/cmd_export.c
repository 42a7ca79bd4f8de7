/* holter export: writes recordings in formats of other programs. */
#include "agent/cli/cmd.h"
#include "agent/cli/recording_span.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "agent/terminal/unfinished_output.h"
#include "daemon/export/export.h"
#include "daemon/storage/sql/window_tables.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: holter export --format FORMAT [OPTION]... RECORDING\n"
    "\n"
    "Writes what a recording holds in a form that other programs read.\n"
    "\n"
    "  -f, --format csv            one table, or all of them into a directory\n"
    "               json           all tables as one object\n"
    "               perfetto       a trace for ui.perfetto.dev: phases, alerts, hot links,\n"
    "                              counters\n"
    "               otf2-summary   an OTF2 archive: what each rank did in each window, as metrics\n"
    "               dot            who sends to whom, for Graphviz\n"
    "  -o, --output FILE           default: standard output, -; csv of all tables and\n"
    "                              otf2-summary: a directory, which there must not be yet\n"
    "      --table TABLE           csv, json: this one. Those of hrec(5), ranks, pairs, calls:\n"
    "                              sums of windows; window_pair, window_rank, window_call,\n"
    "                              window_link, window_latency; graph_ranks, graph_nodes,\n"
    "                              graph_edges, graph_chain, graph_collectives: dependencies in\n"
    "                              captures\n"
    "      --from T, --to T        csv, json, dot: only of this time, whole windows: 10:05 (UTC),\n"
    "                              90s, 40%, -10s, 2026-11-22T05:00:00Z\n"
    "      --of ranks|hosts|regions  dot: what the vertices are (default ranks)\n"
    "      --edges N               dot: only the N of most bytes (default 2000)\n"
    "      --no-ranks              perfetto: the job alone\n"
    "  -h, --help                  this text\n"
    "\n"
    "Status: 0, 1 when something failed, 2 for wrong usage.\n";

#define EDGES UINT64_C(2000) /* default */
#define MOST_EDGES UINT64_C(100000000)

enum format { CSV, JSON, PERFETTO, OTF2_SUMMARY, DOT, FORMATS };

static const char *const formats[] = {"csv", "json", "perfetto", "otf2-summary", "dot", NULL};
static const char *const graphs[] = {"ranks", "hosts", "regions", NULL};

struct exporting {
    int format; /* enum format */
    const char *output, *table;
    struct recording_span given;
    struct recorded_span span; /* of what is given */
    int graph;                 /* enum export_graph; -1: option not given */
    uint64_t edges;            /* 0: option not given */
    int no_ranks;
    struct export_source source;
    struct content content;
    int has_content; /* it was read, successfully or not */
};

/* ---- options -------------------------------------------------------------------- */

static int cmd_export_set_table(void *user, const struct command_option *option, const char *value)
{
    (void)option;
    ((struct exporting *)user)->table = value;
    return export_names_contain(tables_names, value) || export_names_contain(export_sums, value) ||
                   export_names_contain(export_graphs, value) || window_table_find(value) != NULL
               ? 0
               : -1;
}

static int cmd_export_set_moment(void *user, const struct command_option *option, const char *value)
{
    return recording_span_set(&((struct exporting *)user)->given, "export", option, value);
}

/* Check the options that not every format has. @return 0, or 2 after printing an error */
static int check_options(const struct exporting *e)
{
    const struct {
        const char *option;
        int given;
        unsigned formats; /* bits */
        const char *names;
    } options[] = {
        {"table", e->table != NULL, 1u << CSV | 1u << JSON, "csv or json"},
        {"from", e->given.from != NULL, 1u << CSV | 1u << JSON | 1u << DOT, "csv, json or dot"},
        {"to", e->given.to != NULL, 1u << CSV | 1u << JSON | 1u << DOT, "csv, json or dot"},
        {"of", e->graph >= 0, 1u << DOT, "dot"},
        {"edges", e->edges != 0, 1u << DOT, "dot"},
        {"no-ranks", e->no_ranks, 1u << PERFETTO, "perfetto"}};
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        if (!options[i].given || options[i].formats >> e->format & 1)
            continue;
        terminal_print("export: --%s is of --format %s", options[i].option, options[i].names);
        return 2;
    }
    return 0;
}

/* @return 0, or the exit status after printing an error */
static int cmd_export_check(const struct exporting *e)
{
    int to_directory = e->format == OTF2_SUMMARY || (e->format == CSV && e->table == NULL);
    struct stat status;
    if (e->format == FORMATS) {
        terminal_print("export: which --format? `holter export --help` lists them");
        return 2;
    }
    if (check_options(e) != 0)
        return 2;
    if (*e->output == '\0')
        return command_line_wrong("export", "output", e->output);
    if (to_directory && strcmp(e->output, "-") == 0) {
        terminal_print(e->format == CSV
                           ? "export: one --table, or a directory for all of them: -o DIRECTORY"
                           : "export: -o DIRECTORY: an OTF2 archive is one");
        return 2;
    }
    if (to_directory && stat(e->output, &status) == 0) {
        terminal_print("export: %s: %s", e->output, holter_strerror(-EEXIST));
        return 1;
    }
    if (strcmp(e->output, "-") != 0 && output_is_same_file(e->output, e->source.path)) {
        terminal_print("export: %s is the recording itself", e->output);
        return 2;
    }
    return 0;
}

/* ---- writing -------------------------------------------------------------------- */

static int cmd_export_failed(const char *what, const char *why)
{
    terminal_print("export: %s: %s", what, why);
    return 1;
}

/* Read the sums of messages if the requested output needs them. @return exit status */
static int read_content(struct exporting *e)
{
    char why[600];
    const struct content_options options = {.progress = e->source.progress, .span = e->source.span};
    if (e->has_content || (e->table != NULL && !export_names_contain(export_sums, e->table)))
        return 0;
    e->has_content = 1;
    if (content_read(&e->content, e->source.path, &options, why, sizeof(why)) == 0)
        return 0;
    terminal_print("export: %s", why);
    return 1;
}

/* @return exit status */
static int write_stream(struct exporting *e, FILE *out, const char *path, const char *table)
{
    char why[512] = "";
    int left_out = 0, code;
    errno = 0;
    if (e->format == CSV)
        code = export_csv(out, &e->source, table);
    else if (e->format == JSON)
        code = export_json(out, &e->source, table);
    else if (e->format == DOT)
        code = export_dot(out, &e->source, (enum export_graph)(e->graph > 0 ? e->graph : 0),
                          (size_t)(e->edges != 0 ? e->edges : EDGES));
    else
        code = export_perfetto(out, &e->source, !e->no_ranks, &left_out, why, sizeof(why));
    if (left_out)
        terminal_print("export: %zu ranks in %" PRIu64
                       " windows are too many for a trace: the job alone is in it",
                       e->content.rank_count, e->content.last_window - e->content.first_window + 1);
    if (code == -ENODATA && e->table == NULL) /* one of all tables: an empty file */
        code = 0;
    if (code == -ENODATA)
        snprintf(why, sizeof why, "the recording has no table %s", table);
    if (code == -EIO && errno != 0)
        return cmd_export_failed(path, strerror(errno));
    return code == 0
               ? 0
               : cmd_export_failed(e->source.path, why[0] != '\0' ? why : holter_strerror(code));
}

static int cmd_export_write_file(struct exporting *e, const char *path, const char *table)
{
    struct output_file output;
    int code = output_file_open(&output, path);
    if (code != 0)
        return cmd_export_failed(path, strerror(-code));
    int status = read_content(e);
    status = status != 0 ? status
                         : write_stream(e, output.file,
                                        strcmp(path, "-") == 0 ? "standard output" : path, table);
    code = output_file_close(&output, status == 0);
    return status == 0 && code != 0 ? cmd_export_failed(path, strerror(-code)) : status;
}

static int write_tables(struct exporting *e)
{
    const char *const *lists[] = {tables_names, export_sums, export_graphs};
    int status = 0;
    if (mkdir(e->output, 0777) != 0)
        return cmd_export_failed(e->output, strerror(errno));
    for (size_t l = 0; l < 3; l++) {
        for (size_t i = 0; status == 0 && lists[l][i] != NULL; i++) {
            char path[4200];
            snprintf(path, sizeof(path), "%.4000s/%s.csv", e->output, lists[l][i]);
            status = cmd_export_write_file(e, path, lists[l][i]);
        }
    }
    return status;
}

static int write_archive(struct exporting *e)
{
    char why[512];
    /* The library would create missing parent directories, which nobody would remove. */
    int code = output_check(e->output);
    if (code != 0)
        return cmd_export_failed(e->output, strerror(-code));
    if (read_content(e) != 0)
        return 1;
    code = export_otf2(e->output, &e->source, why, sizeof(why));
    return code == 0 ? 0 : cmd_export_failed(e->output, why);
}

static int write_directory(struct exporting *e)
{
    struct unfinished unfinished;
    unfinished_begin(&unfinished, e->output);
    int status = e->format == CSV ? write_tables(e) : write_archive(e);
    if (status == 0)
        unfinished_end(&unfinished);
    else
        unfinished_remove(&unfinished);
    return status;
}

/* Find the span of --from and --to. @return exit status */
static int cmd_export_find_span(struct exporting *e)
{
    if (e->given.from == NULL && e->given.to == NULL)
        return 0;
    int status =
        recording_span_find(&e->given, "export", e->source.path, &e->span.from_ns, &e->span.to_ns);
    if (status != 0)
        return status;
    /* As in `holter cut`: the span that was found ends with the newest published window, and there
     * may be messages of newer ones. */
    e->span.from_ns = e->given.from == NULL ? 0 : e->span.from_ns;
    e->span.to_ns = e->given.to == NULL ? INT64_MAX : e->span.to_ns;
    /* The row of the job is missing if the daemon was killed before it was written. */
    double window_ns = tables_number(e->source.tables, "SELECT window_ns FROM job", 0);
    if (!(window_ns > 0))
        window_ns =
            tables_number(e->source.tables, "SELECT end_ns - begin_ns FROM window_rank LIMIT 1", 0);
    e->source.window_ns = window_ns > 0 ? (uint64_t)window_ns : 0;
    e->source.span = &e->span;
    return 0;
}

static int cmd_export_run(struct exporting *e)
{
    struct progress progress;
    const struct recording_progress shown = {progress_show, &progress};
    char why[600];
    int code = tables_open(&e->source.tables, e->source.path, why, sizeof(why));
    if (code != 0)
        return cmd_export_failed(e->source.path, why);
    e->source.content = &e->content;
    e->source.progress = &shown;
    progress_begin(&progress, "export");
    int status = cmd_export_find_span(e);
    if (status == 0 && (e->format == OTF2_SUMMARY || (e->format == CSV && e->table == NULL)))
        status = write_directory(e);
    else if (status == 0)
        status = cmd_export_write_file(e, e->output, e->table);
    progress_end(&progress);
    if (e->content.refused > 0)
        terminal_print("export: %" PRIu64 " of %" PRIu64
                       " messages cannot be read and are left out",
                       e->content.refused, e->content.messages);
    content_finish(&e->content);
    tables_close(e->source.tables);
    return status;
}

int cmd_export(int argc, char **argv)
{
    struct exporting e = {.format = FORMATS, .output = "-", .graph = -1};
    const struct command_option options[] = {
        {"format", 'f', .word = &e.format, .words = formats},
        {"output", 'o', .text = &e.output},
        {"table", .set = cmd_export_set_table},
        {"from", .set = cmd_export_set_moment},
        {"to", .set = cmd_export_set_moment},
        {"of", .word = &e.graph, .words = graphs},
        {"edges", .number = &e.edges, .least = 1, .most = MOST_EDGES},
        {"no-ranks", .flag = &e.no_ranks},
        {0},
    };
    const struct command_line line = {"export", help, options, .user = &e};
    int status = command_line_read_one(&line, argc, argv, "one recording", &e.source.path);
    if (status >= 0)
        return status;
    status = cmd_export_check(&e);
    return status != 0 ? status : cmd_export_run(&e);
}
