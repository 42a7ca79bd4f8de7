/* Runs holterd over an imported recording, which adds the results of the analyses. */
#include "agent/cli/import_trace.h"

#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* @param out  standard output of the daemon @return its pid, or -1 */
static pid_t import_results_start(const char *program, const char *recording, FILE **out)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    const pid_t pid = bound_child_fork(SIGTERM);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(program, program, "--replay", recording, "--results", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *out = pid < 0 ? NULL : fdopen(ends[0], "r");
    if (*out == NULL)
        close(ends[0]);
    return pid;
}

static void import_results_show_progress(FILE *out)
{
    char line[80];
    struct progress progress;
    progress_begin(&progress, "import: results");
    while (fgets(line, sizeof line, out) != NULL)
        progress_show(&progress, strtod(line, NULL));
    progress_end(&progress);
}

int import_results(const char *recording)
{
    char program[PATH_MAX];
    FILE *out = NULL;
    if (paths_holterd(program, sizeof program, "import: the results are not made") < 0)
        return 1;
    pid_t pid = import_results_start(program, recording, &out);
    if (pid < 0) {
        terminal_print("import: the results are not made: %s: %s", program, strerror(errno));
        return 1;
    }
    if (out != NULL) {
        import_results_show_progress(out);
        fclose(out);
    }
    if (quiet_child_wait(pid) == 0)
        return 0;
    terminal_print(
        "import: the results are not made; `holter replay` and `holter report` make them");
    return 1;
}
