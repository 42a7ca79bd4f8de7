/* What is known of a job as a whole: the program, who runs it, when, and MPI calls that are not
 * covered. */
#ifndef HOLTER_DAEMON_JOB_JOB_INFO_H
#define HOLTER_DAEMON_JOB_JOB_INFO_H

#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/job.h"

/** An MPI function that the probe does not wrap. */
struct job_uncovered {
    char name[65];
    uint64_t used; /**< not 0: the program calls it */
};

struct job_info {
    char id[65];
    enum job_state state;
    int changed; /**< since it was published */

    char app[257], command[1025], mpi[129], user[65], launcher[65], recording[513];
    char session[32];
    uint64_t world;            /**< size of MPI_COMM_WORLD; 0: not known yet */
    uint64_t group;            /**< consecutive ranks in a row of the sums; 0: one */
    uint64_t span;             /**< windows in which it does the same work; 0: not known */
    uint64_t command_rank;     /**< rank whose command line it is */
    uint64_t start_ns, end_ns; /**< of the first and the last window seen; UINT64_MAX, 0: none */

    struct job_uncovered *uncovered; /**< owned; sorted by name */
    size_t uncovered_count;
};

void job_info_init(struct job_info *info, const char *id);
void job_info_finish(struct job_info *info);

void job_info_set_state(struct job_info *info, enum job_state state);
void job_info_set_recording(struct job_info *info, const char *path);

/** Merge the description of the job that a node reports. */
void job_info_merge(struct job_info *info, const struct wire_ranks *ranks);

/** The job has lasted at least from the start to the end of this window. */
void job_info_extend(struct job_info *info, uint64_t start_ns, uint64_t length_ns);

/** Ranks below this one may exist: the size of the job, or the bound while it is not known. */
uint64_t job_info_rank_limit(const struct job_info *info);

const char *job_state_name(enum job_state state);

/** See state_bytes.h. */
void job_info_copy_state(struct state_bytes *b, struct job_info *info);

#endif
