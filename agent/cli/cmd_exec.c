/* holter exec: runs a program as one watched rank. */
#include "agent/cli/cmd.h"
#include "agent/launch/watch.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit statuses of env(1) and shells. */
#define STATUS_NOT_RUNNABLE 126
#define STATUS_NOT_FOUND 127

static const char usage[] =
    "usage: holter exec [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "Runs PROGRAM as one watched rank. Becomes PROGRAM, so that signals and exit status are its\n"
    "own. Whatever goes wrong with watching, PROGRAM is run all the same.\n"
    "\n"
    "  mpirun -n 8 holter exec ./sim input\n"
    "\n" SESSION_OPTIONS_USAGE
    "  --job NAME          first part of the job id (HOLTER_JOB, else the scheduler's number)\n"
    "      --strict        refuse to run PROGRAM unwatched, or when an option is wrong\n"
    "  -v, --verbose       print what is found and done\n"
    "  -h, --help          this text\n";

/** Find the program as it would have been found without us. mpirun of Open MPI looks in the
 *  directories of its option --path first; it and srun also look in the working directory, after
 *  PATH.
 *  @return 0 or a negative error */
static int cmd_exec_find_program(char out[PATH_MAX], const char *name)
{
    char here[PATH_MAX + 2];
    const int openmpi = getenv("OMPI_COMM_WORLD_SIZE") != NULL;
    const char *first = openmpi ? getenv("OMPI_exec_path") : NULL;
    if (first != NULL && paths_search(out, PATH_MAX, name, first) == 0)
        return 0;
    int rc = paths_search(out, PATH_MAX, name, getenv("PATH"));
    if (rc == 0 || strchr(name, '/') != NULL || (!openmpi && getenv("SLURM_STEP_ID") == NULL))
        return rc;
    int n = snprintf(here, sizeof here, "./%s", name);
    return n < PATH_MAX && paths_search(out, PATH_MAX, here, NULL) == 0 ? 0 : rc;
}

int cmd_exec(int argc, char **argv)
{
    struct watch_options watch = {0};
    int strict = 0;
    const struct command_option options[] = {
        {"daemon", .text = &watch.session.daemon},
        {"session", .text = &watch.session.session},
        {"keys", .text = &watch.session.keys},
        {"job", .text = &watch.job},
        {"strict", .flag = &strict},
        {"verbose", 'v', .flag = &watch.verbose},
        {0},
    };
    const struct command_line line = {"exec", usage, options, .stops = true, .strict = {&strict}};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    char program[PATH_MAX];
    char **words = argv + optind;
    if (words[0] == NULL) {
        terminal_print("exec: no program is given; see `holter exec --help`");
        return 2;
    }
    int rc = cmd_exec_find_program(program, words[0]);
    if (rc < 0) {
        terminal_print("%s: %s", words[0], holter_strerror(rc));
        return rc == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
    }
    if (watch_start_process(&watch, program) != 0 && strict)
        return 2;
    execvp(program, words);
    terminal_print("%s: %s", words[0], strerror(errno));
    return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
}
