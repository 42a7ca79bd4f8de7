/* Links under the names of launchers, for job scripts that call a launcher themselves. */
#include "agent/launch/run.h"

#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTAINER_RUNTIMES "apptainer", "singularity", "ch-run", "shifter", "sarus"

const char *const run_launcher_names[] = {
    "mpirun",        "mpiexec", "mpiexec.hydra",    "mpirun.mpich",
    "mpiexec.mpich", "srun",    CONTAINER_RUNTIMES, NULL};

int run_shim_is_container_runtime(const char *program)
{
    static const char *const names[] = {CONTAINER_RUNTIMES};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text_base_name(program), names[i]) == 0)
            return 1;
    return 0;
}

/* A launcher that is not there gets no link: scripts look whether there is an srun, and would take
 * the link for one. Nor does one of Open MPI, if a variable tells it all: scripts look for its
 * libraries beside it. */
int run_shim_create_links(const struct run_session *session)
{
    char holter[PATH_MAX], path[PATH_MAX + 32], real[PATH_MAX];
    int rc = paths_self(holter, sizeof holter);
    if (rc < 0)
        return rc;
    snprintf(path, sizeof path, "%s/bin", session->dir);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return -errno;
    for (int i = 0; run_launcher_names[i] != NULL; i++) {
        if (paths_search(real, sizeof real, run_launcher_names[i], getenv("PATH")) != 0)
            continue;
        if (run_command_has_fork_agent(session) && launcher_detect(real) == LAUNCHER_OPENMPI)
            continue;
        snprintf(path, sizeof path, "%s/bin/%s", session->dir, run_launcher_names[i]);
        if (symlink(holter, path) < 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

/** Is it this very program, through whatever links? */
static int run_shim_is_self(const char *path)
{
    struct stat ours, theirs;
    return stat("/proc/self/exe", &ours) == 0 && stat(path, &theirs) == 0 &&
           ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/** Take our directory out of PATH: launchers look there for their own parts, under the name they
 *  were called by, and the applications have no need of it. */
static int run_shim_leave_path(const char *name)
{
    const char *path = getenv("PATH");
    char *shorter = calloc(1, path == NULL ? 1 : strlen(path) + 2);
    if (shorter == NULL)
        return -ENOMEM;
    for (const char *p = path == NULL ? "" : path; *p != '\0';) {
        char candidate[PATH_MAX];
        size_t length = strcspn(p, ":");
        int n = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, p, name);
        if (n < 0 || (size_t)n >= sizeof candidate || !run_shim_is_self(candidate)) {
            if (shorter[0] != '\0')
                strcat(shorter, ":");
            strncat(shorter, p, length);
        }
        p += length;
        p += *p != '\0';
    }
    int rc = setenv("PATH", shorter, 1) < 0 ? -ENOMEM : 0;
    free(shorter);
    return rc;
}

/* Words of "holter exec" with everything that a rank has to know, from the environment that `holter
 * run` made: a launcher may keep that from its ranks (srun --export=NONE, or another host).
 * @param out  ended by NULL */
static void run_shim_fill_prefix(char *out[11], char *holter)
{
    static char exec[] = "exec";
    static char *const options[][2] = {{"--session", "HOLTER_SESSION"},
                                       {"--daemon", "HOLTER_DAEMON"},
                                       {"--job", "HOLTER_JOB"},
                                       {"--keys", "HOLTER_KEYS"}};
    int n = 0;
    out[n++] = holter;
    out[n++] = exec;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char *value = getenv(options[i][1]);
        if (value == NULL || value[0] == '\0')
            continue;
        out[n++] = options[i][0];
        out[n++] = value;
    }
    out[n] = NULL;
}

static char **run_shim_wrap(enum launcher launcher, int argc, char **argv, char *holter)
{
    char *prefix[11];
    struct launch_line line;
    if (launcher_parse(&line, launcher, argc, argv) < 0)
        return NULL; /* for the launcher to judge */
    run_command_report_apart(&line, argv);
    run_shim_fill_prefix(prefix, holter);
    if (!launcher_has_room(&line, argc, argv, prefix))
        prefix[2] = NULL;
    return launcher_wrap(&line, argc, argv, prefix);
}

/* Does Open MPI put "holter exec" before the applications itself? `holter run` could not tell it to
 * where a word has a space. */
static int run_shim_is_fork_agent(const char *holter)
{
    const char *agent = getenv("OMPI_MCA_orte_fork_agent");
    size_t length = strlen(holter);
    return agent != NULL && strncmp(agent, holter, length) == 0 && agent[length] == ' ';
}

int run_shim_exec_launcher(const char *name, int argc, char **argv)
{
    char real[PATH_MAX], holter[PATH_MAX];
    int rc = run_shim_leave_path(name);
    if (rc == 0)
        rc = paths_search(real, sizeof real, name, getenv("PATH"));
    if (rc < 0) {
        terminal_print("%s: %s", name, holter_strerror(rc));
        return 127;
    }
    if (run_shim_is_container_runtime(name)) {
        unsetenv("OMPI_MCA_orte_fork_agent");
        unsetenv("PRTE_MCA_prte_fork_agent");
    }
    if (strchr(argv[0], '/') != NULL) /* by which Open MPI finds its parts on other hosts */
        argv[0] = real;
    enum launcher launcher = launcher_detect(real);
    char **words = NULL;
    char launch[16];
    snprintf(launch, sizeof launch, "%d", (int)getpid()); /* which will be that of the launcher */
    if (launcher == LAUNCHER_HYDRA)
        setenv("HOLTER_LAUNCH", launch, 1);
    if (launcher != LAUNCHER_NONE && paths_holter(holter, sizeof holter) == 0 &&
        (launcher != LAUNCHER_OPENMPI || !run_shim_is_fork_agent(holter)))
        words = run_shim_wrap(launcher, argc, argv, holter);
    execv(real, words != NULL ? words : argv);
    terminal_print("%s: %s", real, strerror(errno));
    return 126;
}
