/* The program `holter`: runs `holter exec` itself, and becomes holter-cli for all other commands.
 * A compute node needs no more than the former: neither holter-cli nor the libraries that it loads
 * are there. */
#include "agent/cli/cmd.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
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

/* Where the command of `holter run` begins, as far as that is certain without knowing the options.
 * @return 0: not known, or it is not to be run unwatched */
static int front_find_command(int argc, char **argv)
{
    if (argc > 2 && argv[2][0] != '-')
        return 2;
    for (int i = 2; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--strict") == 0 || strcmp(argv[i], "--dry-run") == 0)
            return 0;
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
    }
    return 0;
}

/* A job is run all the same: `holter run ... -- COMMAND`. */
static int front_run_unwatched(int argc, char **argv, const char *why)
{
    char **command = argv + front_find_command(argc, argv);
    if (command == argv)
        return -1;
    terminal_print("run: holter-cli cannot be started: %s; %s runs unwatched", why, command[0]);
    execvp(command[0], command);
    terminal_print("%s: %s", command[0], strerror(errno));
    return STATUS_NOT_RUNNABLE + (errno == ENOENT);
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
    if (paths_program(path, sizeof path, "holter-cli") != 0)
        return front_refuse(argc, argv, strerror(ENOENT));
    if (argc > 1 && strcmp(argv[1], "run") == 0 && !quiet_child_loads(path))
        return front_refuse(argc, argv, strerror(ELIBACC));
    execv(path, argv);
    return front_refuse(argc, argv, strerror(errno));
}
