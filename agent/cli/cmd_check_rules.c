/* holter check-rules: replaces itself by holterd, which parses and checks a file of alert rules. */
#include "agent/cli/cmd.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: holter check-rules FILE\n"
    "       holter check-rules --print-defaults\n"
    "Checks a file of alert rules, see holter-rules(5). Every fault is "
    "reported with its line and key.\n"
    "Status: 0 when the file is valid, 1 when that cannot be printed, 2 when it is not.\n"
    "\n"
    "      --print-defaults  print the built-in rules, as a starting point\n"
    "  -h, --help            this text\n";

int cmd_check_rules(int argc, char **argv)
{
    char daemon[PATH_MAX];
    int print = 0;
    const struct command_option options[] = {{"print-defaults", .flag = &print}, {0}};
    const struct command_line line = {"check-rules", usage, .options = options};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    if (argc - optind != (print ? 0 : 1)) {
        terminal_print("check-rules: expected %s; see `holter check-rules --help`",
                       print ? "no file" : "one file of rules");
        return 2;
    }
    if (paths_holterd(daemon, sizeof daemon, "check-rules") < 0)
        return 1;
    if (print)
        execl(daemon, daemon, "--print-rules", (char *)NULL);
    else
        execl(daemon, daemon, "--check-rules", "--rules", argv[optind], (char *)NULL);
    terminal_print("check-rules: %s: %s", daemon, strerror(errno));
    return 1;
}
