/* holter diff: how two recordings of one job differ. */
#include "agent/cli/cmd.h"
#include "agent/cli/text/text.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "daemon/storage/recordings/diff.h"

#include <getopt.h>

static const char help[] =
    "usage: holter diff [OPTION]... A.hrec B.hrec\n"
    "\n"
    "Tells how two recordings of one job differ: their tables row by row, and their messages.\n"
    "\n"
    "  -f, --format text|json    one object with json\n"
    "  -t, --tolerance SHARE     numbers that differ by less of the larger one are equal, 0 to 1 "
    "(0)\n"
    "  -n, --lines N             differences listed of each table (10)\n"
    "  -q, --quiet               only the exit status\n"
    "  -h, --help                this text\n"
    "\n"
    "Status: 0 when they have the same contents, 1 when they differ, 2 for trouble.\n";

struct asked {
    struct diff_options options;
    uint64_t lines;
    int json, quiet;
};

int cmd_diff(int argc, char **argv)
{
    struct progress progress;
    struct asked a = {.options = {.progress = {progress_show, &progress}}, .lines = 10};
    struct diff diff;
    char why[1200];
    const struct command_option options[] = {
        {"format", 'f', .json = &a.json},
        {"tolerance", 't', .real = &a.options.tolerance, .most = 1},
        {"lines", 'n', .number = &a.lines, .most = 1000000},
        {"quiet", 'q', .flag = &a.quiet},
        {0},
    };
    const struct command_line line = {"diff", help, .options = options};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    if (optind + 2 != argc) {
        terminal_print("diff: expected two recordings; see `holter diff --help`");
        return 2;
    }
    a.options.items = a.lines;
    const char *const paths[2] = {argv[optind], argv[optind + 1]};
    progress_begin(&progress, "diff");
    int code = diff_read(&diff, paths, &a.options, why, sizeof(why));
    progress_end(&progress);
    if (code != 0) {
        terminal_print("diff: %s", why);
        return 2;
    }
    if (a.json && !a.quiet)
        diff_print_json(stdout, &diff, paths);
    else if (!a.quiet)
        diff_print_text(stdout, &diff, paths);
    status = diff.differences > 0;
    diff_finish(&diff);
    return terminal_flush_output("diff") != 0 ? 2 : status;
}
