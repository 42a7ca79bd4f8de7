/* Recorded jobs as problems of mapping: tests/data/par-comm-data/hopbyte. */
#ifndef TESTS_DAEMON_ANALYSIS_NETWORK_REMAP_RECORDED_JOBS_H
#define TESTS_DAEMON_ANALYSIS_NETWORK_REMAP_RECORDED_JOBS_H

#include "daemon/analysis/network/remap/remap.h"

struct recorded_job {
    struct remap_problem problem; /**< what it points to is owned */
    struct topology *topology;
};

/** Blue Gene: ranks on a torus of the size that the name tells, row-major; Theta: processes on the
 * nodes that messages were recorded of. Effort and objective are to be set. Fails the test when the
 * file is not there.
 *  @param name  as MiniMD_Vesta_n512_c1_w */
void recorded_job(struct recorded_job *job, const char *name);
void recorded_job_finish(struct recorded_job *job);

#endif
