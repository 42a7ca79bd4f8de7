/* Looks at the command of `holter run`: program, launcher, hosts. */
#include "agent/launch/run.h"

#include "agent/launch/detect_mpi.h"
#include "agent/launch/launch_hosts.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int run_target_parse_number(const char *variable)
{
    const char *value = getenv(variable);
    return value == NULL ? 0 : atoi(value);
}

/** Files in which schedulers list the hosts of an allocation, and launchers look for them. */
static const char *const host_files[] = {"PBS_NODEFILE",
                                         "LSB_DJOB_HOSTFILE",
                                         "OAR_NODEFILE",
                                         "PE_HOSTFILE", /* of Grid Engine */
                                         "OMPI_MCA_orte_default_hostfile",
                                         "HYDRA_HOST_FILE",
                                         "I_MPI_HYDRA_HOST_FILE"};

/** Nodes of Slurm. The shell of salloc runs on the login node, which is not among them, and srun
 *  without an allocation makes one, of nodes that are not known yet. */
static void run_target_find_slurm_hosts(struct run_target *t)
{
    const char *nodes = getenv("SLURM_JOB_NODELIST"), *here = getenv("SLURMD_NODENAME");
    if (run_target_parse_number("SLURM_NNODES") > 1 ||
        run_target_parse_number("SLURM_JOB_NUM_NODES") > 1 ||
        (t->launcher == LAUNCHER_SRUN && getenv("SLURM_JOB_ID") == NULL) ||
        (nodes != NULL && (here == NULL || strcmp(nodes, here) != 0) &&
         launch_hosts_find_other(nodes, t->other_host, sizeof t->other_host) == 1))
        t->other_hosts = 1;
}

/** Programs that get an allocation first, or start processes on nodes that do not run this one. */
static int run_target_allocates(const char *program)
{
    static const char *const names[] = {"salloc", "flux", "aprun"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text_base_name(program), names[i]) == 0)
            return 1;
    return 0;
}

/** Hosts that the environment gives to any launch. */
static void run_target_find_env_hosts(struct run_target *t)
{
    run_target_find_slurm_hosts(t);
    t->other_hosts |= run_target_allocates(t->program);
    for (size_t i = 0; i < sizeof host_files / sizeof *host_files && t->other_host[0] == '\0';
         i++) {
        const char *path = getenv(host_files[i]);
        if (path != NULL &&
            launch_hosts_find_other_in_file(path, t->other_host, sizeof t->other_host) == 1)
            t->other_hosts = 1;
    }
}

/** Names of hosts, or of a file of them: what one option of Hydra takes depends on its version. */
static void run_target_look_at(struct run_target *t, const char *value, int is_file)
{
    int found = -ENOENT;
    if (t->other_host[0] != '\0')
        return;
    if (is_file)
        found = launch_hosts_find_other_in_file(value, t->other_host, sizeof t->other_host);
    if (found < 0)
        found = launch_hosts_find_other(value, t->other_host, sizeof t->other_host);
    t->other_hosts |= found == 1;
}

static void run_target_find_line_hosts(struct run_target *t, char **argv)
{
    t->other_hosts |= t->line.nodes > 1;
    for (unsigned i = 0; i < t->line.hosts.count; i++)
        run_target_look_at(t, launcher_value(argv[t->line.hosts.at[i]]), 0);
    for (unsigned i = 0; i < t->line.files.count; i++)
        run_target_look_at(t, launcher_value(argv[t->line.files.at[i]]), 1);
}

int run_target_find(struct run_target *out, const struct run_options *options)
{
    struct run_target t = {0};
    const char *name = options->argv[0];
    int rc = paths_search(t.program, sizeof t.program, name, getenv("PATH"));
    if (rc < 0) {
        terminal_print("%s: %s", name, holter_strerror(rc));
        return rc == -ENOENT ? 127 : 126;
    }
    t.launcher = launcher_detect(t.program);
    if (t.launcher != LAUNCHER_NONE) {
        /* A line without an application ("mpirun --version") is the launcher's to judge. */
        if (launcher_parse(&t.line, t.launcher, options->argc, options->argv) == 0)
            run_target_find_line_hosts(&t, options->argv);
    } else {
        struct mpi_finding finding;
        t.is_rank = detect_mpi(t.program, getenv("LD_LIBRARY_PATH"), &finding) == 0 &&
                    finding.flavour != MPI_FLAVOUR_NONE;
    }
    if (!t.is_rank)
        run_target_find_env_hosts(&t);
    *out = t;
    return 0;
}
