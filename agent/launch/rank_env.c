/* Derives the job id and the launcher of a rank from its environment. */
#include "agent/launch/rank_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *rank_env_var(const struct rank_env_source *s, const char *name)
{
    const char *value = s->variable == NULL ? getenv(name) : s->variable(s->user, name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

const char *rank_env_command_option(const char *command, const char *option)
{
    size_t length = strlen(option);
    for (const char *word = command; *word != '\0'; word += strlen(word) + 1) {
        if (strncmp(word, option, length) != 0)
            continue;
        if (word[length] == '=')
            return word + length + 1;
        const char *next = word + strlen(word) + 1;
        if (word[length] == '\0')
            return *next == '\0' ? NULL : next;
    }
    return NULL;
}

static int rank_env_parse_small_number(const char *text)
{
    char *end;
    long value = text == NULL ? -1 : strtol(text, &end, 10);
    return text == NULL || *end != '\0' || value < 0 || value > INT32_MAX ? -1 : (int)value;
}

/** The families of two mpiruns are one where their hosts' names and their pids are, as in
 *  containers, and of each 65,536th pair of others. Nor do they have one port,
 * "tcp://ADDRESS:PORT".
 *  @param uri  of mpirun, on all nodes; NULL: not known */
static void rank_env_read_orte_base(struct rank_env *out, const char *uri)
{
    const char *address = uri == NULL ? NULL : strstr(uri, "tcp://");
    const char *port = address == NULL ? NULL : strchr(address + strlen("tcp://"), ':');
    const long number = port == NULL ? 0 : strtol(port + 1, NULL, 10);
    if (number > 0 && number <= UINT16_MAX)
        snprintf(out->base, sizeof out->base, "openmpi-%ld", number);
    else
        snprintf(out->base, sizeof out->base, "openmpi");
}

/** mpirun of Open MPI before 5 numbers its jobs: the family, a hash of host and pid of mpirun, in
 *  the upper 16 bits and the job of the family, 1 and then one for each MPI_Comm_spawn, in the
 *  lower. */
static int rank_env_read_orte_step(struct rank_env *out, const struct rank_env_source *s)
{
    const char *jobid = rank_env_var(s, "OMPI_MCA_ess_base_jobid");
    if (jobid == NULL)
        return 0;
    char *end;
    unsigned long long id = strtoull(jobid, &end, 10);
    if (*end != '\0' || id == 0 || id > UINT32_MAX)
        return 0;
    unsigned family = (unsigned)(id >> 16), job = (unsigned)(id & 0xffff);
    if (job == 1)
        snprintf(out->step, sizeof out->step, "%u", family);
    else
        snprintf(out->step, sizeof out->step, "%u-%u", family, job);
    rank_env_read_orte_base(out, rank_env_var(s, "OMPI_MCA_orte_hnp_uri"));
    return 1;
}

/** Hydra's proxies get the address of their mpiexec, the same on all nodes, and the process group,
 *  0 and then one more for each MPI_Comm_spawn. One mpiexec after the other has the same port where
 *  ports are few (MPIEXEC_PORT_RANGE): who starts it for us gives it a number. */
static int rank_env_read_hydra_step(struct rank_env *out, const struct rank_env_source *s)
{
    const char *command = s->parent_command;
    const char *address = rank_env_command_option(command, "--control-port");
    const char *colon = address == NULL ? NULL : strrchr(address, ':');
    if (colon == NULL || colon == address || colon[1] == '\0')
        return 0;
    int group = rank_env_parse_small_number(rank_env_command_option(command, "--pgid"));
    const char *launch = rank_env_var(s, "HOLTER_LAUNCH");
    if (rank_env_parse_small_number(launch) < 0)
        launch = colon + 1;
    if (group <= 0)
        snprintf(out->step, sizeof out->step, "%.12s", launch);
    else
        snprintf(out->step, sizeof out->step, "%.12s-%d", launch, group);
    snprintf(out->base, sizeof out->base, "%.*s", (int)(colon - address), address);
    return 1;
}

/** Proxies of Intel MPI have the address of the proxy above them in a tree. What all ranks of one
 *  mpiexec share is in their environment: its process id, and more. */
static int rank_env_read_intel_step(struct rank_env *out, const struct rank_env_source *s)
{
    const char *uuid = rank_env_var(s, "I_MPI_HYDRA_UUID");
    if (uuid == NULL || !out->launched)
        return 0;
    int group = rank_env_parse_small_number(rank_env_command_option(s->parent_command, "--pgid"));
    if (group <= 0)
        snprintf(out->step, sizeof out->step, "%.18s", uuid);
    else
        snprintf(out->step, sizeof out->step, "%.18s-%d", uuid, group % 1000);
    return 1;
}

/** The last characters of a text: where the names of launchers differ from each other. */
static void rank_env_copy_tail(char *out, size_t capacity, const char *text)
{
    size_t length = strlen(text);
    snprintf(out, capacity, "%s", length < capacity ? text : text + length - (capacity - 1));
}

/** Number of a launch, of launchers that give one to each of its processes. */
static const char *rank_env_launch(const struct rank_env_source *s)
{
    static const struct {
        const char *rank, *launch;
    } names[] = {{"PALS_RANKID", "PALS_APID"}, /* mpiexec of HPE Cray */
                 {"FLUX_TASK_RANK", "FLUX_JOB_ID"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rank_env_var(s, names[i].rank) != NULL && rank_env_var(s, names[i].launch) != NULL)
            return rank_env_var(s, names[i].launch);
    return NULL;
}

/** A step of srun is one job, but a shell that srun has started as its only task may start one
 *  program after another. */
static void rank_env_read_slurm_step(struct rank_env *out, const struct rank_env_source *s,
                                     const char *step)
{
    int task = rank_env_parse_small_number(rank_env_var(s, "SLURM_TASK_PID"));
    int tasks = rank_env_parse_small_number(rank_env_var(s, "SLURM_STEP_NUM_TASKS"));
    if (tasks == 1 && task > 0 && task != s->pid)
        snprintf(out->step, sizeof out->step, "%.12s-%" PRId32, step, s->pid);
    else
        snprintf(out->step, sizeof out->step, "%s", step);
}

static void rank_env_read_step(struct rank_env *out, const struct rank_env_source *s)
{
    const char *slurm = rank_env_var(s, "SLURM_STEP_ID");
    const char *namespace_ = rank_env_var(s, "PMIX_NAMESPACE");
    snprintf(out->base, sizeof out->base, "%s", s->host);
    if (rank_env_read_orte_step(out, s) || rank_env_read_hydra_step(out, s) ||
        rank_env_read_intel_step(out, s))
        return;
    if (namespace_ != NULL && rank_env_var(s, "OMPI_COMM_WORLD_SIZE") != NULL)
        slurm = NULL; /* of a step in which Open MPI 5's mpirun, or its daemon, was started */
    if (slurm != NULL && rank_env_var(s, "SLURM_PROCID") != NULL)
        rank_env_read_slurm_step(out, s, slurm);
    else if (namespace_ != NULL)
        rank_env_copy_tail(out->step, sizeof out->step, namespace_);
    else if (rank_env_launch(s) != NULL)
        rank_env_copy_tail(out->step, sizeof out->step, rank_env_launch(s));
    else if (out->launched)
        snprintf(out->step, sizeof out->step, "%" PRId32 "-%" PRIx64, s->parent, s->parent_start);
    else
        snprintf(out->step, sizeof out->step, "%" PRId32, s->pid);
}

const char *rank_env_job(const struct rank_env_source *s)
{
    static const char *const names[] = {"HOLTER_JOB",  "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
                                        "FLUX_JOB_ID", "PJM_JOBID",    "OAR_JOB_ID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rank_env_var(s, names[i]) != NULL)
            return rank_env_var(s, names[i]);
    /* Grid Engine's name is too plain to be trusted alone. */
    return rank_env_var(s, "SGE_TASK_ID") != NULL ? rank_env_var(s, "JOB_ID") : NULL;
}

static void rank_env_read_launcher(struct rank_env *out, const struct rank_env_source *s)
{
    const char *local = NULL;
    const char *size = rank_env_var(s, "OMPI_COMM_WORLD_SIZE");
    out->size = rank_env_parse_small_number(size != NULL ? size : rank_env_var(s, "PMI_SIZE"));
    if (size != NULL) {
        out->flavour = MPI_FLAVOUR_OPENMPI;
        local = rank_env_var(s, "OMPI_COMM_WORLD_LOCAL_RANK");
    } else if (rank_env_var(s, "MPI_LOCALRANKID") != NULL ||
               rank_env_var(s, "HYDI_CONTROL_FD") != NULL || rank_env_var(s, "PMI_FD") != NULL ||
               rank_env_var(s, "PMI_RANK") != NULL) {
        out->flavour = MPI_FLAVOUR_MPICH;
        local = rank_env_var(s, "MPI_LOCALRANKID");
    } else if (rank_env_var(s, "PMIX_RANK") != NULL) {
        out->flavour = MPI_FLAVOUR_OPENMPI; /* MPICH takes PMIx only when it was built for it */
    }
    out->launched = out->flavour != MPI_FLAVOUR_NONE || rank_env_var(s, "SLURM_PROCID") != NULL;
    static const char *const locals[] = {"SLURM_LOCALID", "PALS_LOCAL_RANKID",
                                         "FLUX_TASK_LOCAL_ID"};
    for (size_t i = 0; i < sizeof locals / sizeof *locals && local == NULL; i++)
        local = rank_env_var(s, locals[i]);
    out->local_rank = rank_env_parse_small_number(local);
}

/* Launchers use each other: mpirun and mpiexec start their own daemons with srun, whose variables
 * are left over then. */
enum launcher rank_env_launcher(const struct rank_env_source *s)
{
    if (rank_env_var(s, "OMPI_COMM_WORLD_SIZE") != NULL)
        return LAUNCHER_OPENMPI;
    if (rank_env_var(s, "MPI_LOCALRANKID") != NULL || rank_env_var(s, "HYDI_CONTROL_FD") != NULL)
        return LAUNCHER_HYDRA;
    if (rank_env_var(s, "SLURM_PROCID") != NULL && rank_env_var(s, "SLURM_STEP_ID") != NULL)
        return LAUNCHER_SRUN;
    return rank_env_var(s, "PMI_FD") != NULL ? LAUNCHER_HYDRA : LAUNCHER_NONE;
}

/* Tasks of a node in a list like "4(x2),3": four on each of two nodes, three on the next. */
static int rank_env_tasks_of_node(const char *list, long node)
{
    while (node >= 0) {
        char *end;
        long tasks = strtol(list, &end, 10), nodes = 1;
        if (end == list || tasks < 0 || tasks > INT32_MAX)
            return -1;
        if (strncmp(end, "(x", 2) == 0) {
            nodes = strtol(end + 2, &end, 10);
            if (nodes < 1 || *end++ != ')')
                return -1;
        }
        if (node < nodes)
            return (int)tasks;
        node -= nodes;
        if (*end != ',')
            return -1;
        list = end + 1;
    }
    return -1;
}

int rank_env_local_size(const struct rank_env_source *s)
{
    const char *tasks;
    switch (rank_env_launcher(s)) {
    case LAUNCHER_OPENMPI:
        return rank_env_parse_small_number(rank_env_var(s, "OMPI_COMM_WORLD_LOCAL_SIZE"));
    case LAUNCHER_HYDRA:
        return rank_env_parse_small_number(rank_env_var(s, "MPI_LOCALNRANKS"));
    case LAUNCHER_SRUN:
        /* In a heterogeneous step the list is of one component, but nodes count through all. */
        tasks = rank_env_var(s, "SLURM_HET_SIZE") != NULL
                    ? NULL
                    : rank_env_var(s, "SLURM_STEP_TASKS_PER_NODE");
        return tasks == NULL ? -1
                             : rank_env_tasks_of_node(tasks, rank_env_parse_small_number(
                                                                 rank_env_var(s, "SLURM_NODEID")));
    default:
        return -1;
    }
}

void rank_env_read(struct rank_env *out, const struct rank_env_source *source)
{
    *out = (struct rank_env){.local_rank = -1, .size = -1};
    rank_env_read_launcher(out, source);
    rank_env_read_step(out, source);
    const char *job = rank_env_job(source);
    if (job != NULL)
        snprintf(out->base, sizeof out->base, "%s", job);
}
