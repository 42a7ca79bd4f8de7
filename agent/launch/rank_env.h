/* What a rank's environment says before MPI_Init: who launched it, as which rank of which job. */
#ifndef HOLTER_AGENT_LAUNCH_RANK_ENV_H
#define HOLTER_AGENT_LAUNCH_RANK_ENV_H

#include "agent/launch/launcher.h"
#include "holter/segment.h"

/** Source of the facts, so that tests can make them up. */
struct rank_env_source {
    /** Value of a variable, NULL: not set. NULL itself: the variables of this process. */
    const char *(*variable)(void *user, const char *name);
    void *user;
    int32_t pid;           /**< of this process */
    int32_t parent;        /**< of its parent */
    uint64_t parent_start; /**< of its parent; 0: unknown */
    const char
        *parent_command; /**< /proc/<parent>/cmdline, words ended by NUL, one more NUL at the end */
    const char *host;    /**< host name */
};

struct rank_env {
    enum mpi_flavour flavour; /**< MPI of the launcher; MPI_FLAVOUR_NONE: no launcher seen */
    int launched;             /**< 1: one of the ranks of a launcher */
    int local_rank;           /**< among the ranks of its node; -1: unknown */
    int size;                 /**< processes that its launcher has started together; -1: unknown */
    char base[40]; /**< first part of the job id: HOLTER_JOB, the scheduler's number, else a name */
    char step[24]; /**< second part: the same on all nodes of one launch, another for the next */
};

/** Never fails: what is unknown gets the values above, and a process without a launcher is a job
 *  of its own. */
void rank_env_read(struct rank_env *out, const struct rank_env_source *source);

/** Job number of the user's choice (HOLTER_JOB) or of the scheduler. @return NULL: none */
const char *rank_env_job(const struct rank_env_source *source);

/** Which launcher started the ranks; only variables of the source are asked for. LAUNCHER_NONE:
 * none that we know. */
enum launcher rank_env_launcher(const struct rank_env_source *source);

/** How many ranks of this process' MPI_COMM_WORLD its launcher has started on this node: of mpirun
 * and mpiexec as they say, of srun from SLURM_STEP_TASKS_PER_NODE (srun(1)). -1: not known */
int rank_env_local_size(const struct rank_env_source *source);

/** Value of an option on a command line, as in "--control-port host:port" or
 *  "--control-port=host:port".
 *  @param command  words ended by NUL, one more NUL after the last
 *  @return text inside command, or NULL */
const char *rank_env_command_option(const char *command, const char *option);

#endif
