#include "agent/cli/cmd.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal_message.h"
#include "holter/error.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: holter check-rules FILE\n"
                            "       holter check-rules --print-defaults\n"
                            "Checks a file of alert rules, see holter-rules(5). Every fault is "
                            "told with its line and key.\n"
                            "The exit status is 0 when it is right, 2 when it is not.\n"
                            "\n"
                            "      --print-defaults  print the built-in rules, to begin from\n"
                            "  -h, --help            this text\n";

enum { OPTION_PRINT_DEFAULTS = 256 };

static const struct option options[] = {
    {"print-defaults", no_argument, NULL, OPTION_PRINT_DEFAULTS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int cmd_check_rules_wrong_usage(void)
{
    fputs(usage, stderr);
    return 2;
}

/* The daemon reads the rules, so it is the one to ask. */
int cmd_check_rules(int argc, char **argv)
{
    char daemon[PATH_MAX];
    int print = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (c != OPTION_PRINT_DEFAULTS)
            return cmd_check_rules_wrong_usage();
        print = 1;
    }
    if (argc - optind != (print ? 0 : 1))
        return cmd_check_rules_wrong_usage();
    int rc = paths_program(daemon, sizeof daemon, "holterd");
    if (rc < 0) {
        terminal_print("check-rules: holterd is not installed beside holter: %s",
                       holter_strerror(rc));
        return 1;
    }
    if (print)
        execl(daemon, daemon, "--print-rules", (char *)NULL);
    else
        execl(daemon, daemon, "--check-rules", "--rules", argv[optind], (char *)NULL);
    terminal_print("check-rules: %s: %s", daemon, strerror(errno));
    return 1;
}
