/* holter compare: two runs, before and after. */
#include "agent/cli/cmd.h"
#include "agent/cli/compare/compare.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"

#include <getopt.h>

static const char help[] =
    "usage: holter compare [OPTION]... BEFORE.hrec AFTER.hrec\n"
    "\n"
    "Compares two runs of a program, before and after a change: time, rates, latency, waiting,\n"
    "and what its links and pairs of ranks carry. What differs most stands first.\n"
    "\n"
    "      --topology T            network of both: a file, see holter-topology(5), or a short\n"
    "                              form, torus:4,4,8; cart: the grid of their processes; default:\n"
    "                              as recorded\n"
    "  -f, --format text|json      one object with json\n"
    "  -n, --lines N               links, pairs and phases listed of each kind (10)\n"
    "  -h, --help                  this text\n"
    "\n"
    "Status: 0, 1 when a recording cannot be read, 2 for wrong usage. `holter view BEFORE.hrec\n"
    "AFTER.hrec` shows both.\n";

static int cmd_compare_run(struct compare_run runs[2], int json, uint64_t lines)
{
    struct comparison comparison;
    for (int i = 0; i < 2; i++) {
        const int status = compare_run_read(&runs[i]);
        if (status != 0)
            return status;
    }
    if (compare_make(&comparison, &runs[0], &runs[1]) != 0) {
        terminal_print("compare: no memory");
        return 1;
    }
    if (json)
        compare_print_json(stdout, &comparison, lines);
    else
        compare_print_text(stdout, &comparison, lines);
    compare_finish(&comparison);
    return terminal_flush_output("compare");
}

int cmd_compare(int argc, char **argv)
{
    struct compare_run runs[2] = {{.world = 0}};
    const char *topology = NULL;
    uint64_t lines = 10;
    int json = 0;
    const struct command_option options[] = {
        {"topology", .text = &topology},
        {"format", 'f', .json = &json},
        {"lines", 'n', .number = &lines, .most = 1000000},
        {0},
    };
    const struct command_line line = {"compare", help, .options = options};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    if (optind + 2 != argc) {
        terminal_print("compare: expected two recordings; see `holter compare --help`");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        runs[i].input.command = "compare";
        runs[i].input.path = argv[optind + i];
        runs[i].input.topology = topology;
    }
    status = cmd_compare_run(runs, json, lines);
    compare_run_finish(&runs[0]);
    compare_run_finish(&runs[1]);
    return status;
}
