/* Collects the figures of the daemon, of the jobs that run and of their agents for one page. */
#ifndef HOLTER_DAEMON_METRICS_METRICS_COLLECT_H
#define HOLTER_DAEMON_METRICS_METRICS_COLLECT_H

#include "daemon/job/daemon_time.h"
#include "daemon/job/jobs.h"
#include "daemon/metrics/metrics_text.h"
#include "daemon/server/front.h"
#include "daemon/server/publish.h"

#define METRICS_NODES 16384u /**< on a page, of all jobs together */
/** So long a job that did not end in order stays on the page: Prometheus may read it once a minute,
 * and waits for five minutes before it reports a silent agent. */
#define METRICS_STAY_NS UINT64_C(600000000000)

/** Borrowed, all of these. */
struct metrics_sources {
    const struct jobs *jobs;
    const struct front *front;
    const struct publisher *publisher;
    struct sinks *sinks;
    const struct metrics_fleet *fleet; /**< NULL: the daemon is of none */
    const char *cluster;               /**< NULL: no name is known */
    uint64_t window_ns;
    uint64_t started_ns; /**< when the daemon was started, daemon time */
    uint64_t now_ns;     /**< daemon time */
    int records;         /**< whether jobs are recorded */
};

/** @param out  to be finished @return 0 or -ENOMEM */
int metrics_collect(struct metrics_snapshot *out, const struct metrics_sources *sources);

/** Is a job on the page? Its alerts are to be seen also where it ends with them.
 *  @param end_ns  end of its newest window */
int metrics_lists_job(enum job_state state, uint64_t end_ns, uint64_t now_ns);

/** The figures of one job, without its agents. */
void metrics_fill_job(struct metrics_job *out, const char *id, const struct job_figures *figures);

/** Add the agents of a job, which come sorted by node. Those of one node, as of containers on it,
 * are put together: counts are added, and it is connected if all are.
 *  @param capacity  how many further nodes the page has room for; the others are counted
 *  @return 0 or -ENOMEM */
int metrics_add_agents(struct metrics_job *job, const struct wire_node_row *rows, size_t count,
                       size_t *capacity);

#endif
