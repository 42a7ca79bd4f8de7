/* The program `holter`: runs `holter exec` itself, and becomes holter-cli for all other commands.
 * A compute node needs no more than the former: neither holter-cli nor the libraries that it loads
 * are there. */
#include "agent/cli/cmd.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "version.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATUS_NOT_RUNNABLE 126 /* of env(1) and shells */

static const char usage[] =
    "usage: holter exec [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "What is installed here watches programs (`holter exec --help`); all other commands of Holter\n"
    "are in the program holter-cli, which is not installed (package holter).\n";

/* A job is run all the same: `holter run ... -- COMMAND`. */
static int front_run_unwatched(int argc, char **argv, const char *why)
{
    for (int i = 2; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--") != 0)
            continue;
        terminal_print("run: holter-cli cannot be started: %s; %s runs unwatched", why,
                       argv[i + 1]);
        execvp(argv[i + 1], argv + i + 1);
        terminal_print("%s: %s", argv[i + 1], strerror(errno));
        return STATUS_NOT_RUNNABLE + (errno == ENOENT);
    }
    return -1;
}

/* There is no holter-cli. */
static int front_refuse(int argc, char **argv, const char *why)
{
    if (argc > 1 && strcmp(argv[1], "run") == 0) {
        int status = front_run_unwatched(argc, argv, why);
        if (status >= 0)
            return status;
    }
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return fputs(usage, stdout) < 0;
    if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0))
        return printf("holter %s\nbuild: %s\n", HOLTER_VERSION, HOLTER_BUILD_OPTIONS) < 0;
    if (argc > 1)
        terminal_print("%s: holter-cli, which has this command, cannot be started: %s", argv[1],
                       why);
    fputs(usage, stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "exec") == 0)
        return cmd_exec(argc - 1, argv + 1);
    char path[PATH_MAX];
    errno = ENOENT;
    if (paths_program(path, sizeof path, "holter-cli") == 0)
        execv(path, argv);
    return front_refuse(argc, argv, strerror(errno));
}
