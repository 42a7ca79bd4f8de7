/* holter diff: how two recordings of one job differ. */
#include "agent/cli/cmd.h"
#include "agent/cli/text/info_text.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/progress.h"
#include "agent/terminal/terminal_message.h"
#include "daemon/storage/recordings/diff.h"

#include <errno.h>
#include <stdlib.h>

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
    "Status: 0 when they tell the same, 1 when they differ, 2 for trouble.\n";

static const struct option long_options[] = {
    {"format", required_argument, NULL, 'f'}, {"tolerance", required_argument, NULL, 't'},
    {"lines", required_argument, NULL, 'n'},  {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
};

struct asked {
    struct diff_options options;
    int json, quiet;
};

static int cmd_diff_set_option(void *user, int option, const char *value)
{
    struct asked *a = user;
    char *end = NULL;
    switch (option) {
    case 'f':
        return command_line_format("diff", value, &a->json);
    case 't':
        a->options.tolerance = strtod(value, &end);
        return *value != '\0' && *end == '\0' && a->options.tolerance >= 0 &&
                       a->options.tolerance <= 1
                   ? 0
                   : command_line_wrong("diff", "tolerance", value);
    case 'n':
        errno = 0;
        a->options.items = strtoul(value, &end, 10);
        return *value >= '0' && *value <= '9' && *end == '\0' && errno == 0 &&
                       a->options.items <= 1000000
                   ? 0
                   : command_line_wrong("diff", "lines", value);
    default:
        a->quiet = 1;
        return 0;
    }
}

int cmd_diff(int argc, char **argv)
{
    struct progress progress;
    struct asked a = {.options = {.items = 10, .progress = {progress_show, &progress}}};
    struct diff diff;
    char why[1200];
    const struct command_line line = {"diff", help, "f:t:n:qh", long_options, cmd_diff_set_option,
                                      &a};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    if (optind + 2 != argc) {
        terminal_print("diff: expected two recordings; see `holter diff --help`");
        return 2;
    }
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
