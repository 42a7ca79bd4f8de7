/* Progress of a job: see work_progress.h. */
#include "daemon/analysis/scopes/work_progress.h"

#include <math.h>

#define MEMORY 60.0       /* windows of the level before */
#define RECENT 3.0        /* windows that smooth out steps longer than a window */
#define LEAST_WINDOWS 5.0 /* before less than so many are known there is no level */

void progress_update(struct progress *p, uint64_t work, uint64_t length_ns, int disturbed)
{
    p->now = length_ns > 0 ? (double)work * 1e9 / (double)length_ns : 0;
    p->recent += (p->now - p->recent) / (p->windows < RECENT ? p->windows + 1 : RECENT);
    if (disturbed)
        return;
    p->before += (p->now - p->before) / (p->windows < MEMORY ? p->windows + 1 : MEMORY);
    p->windows += 1;
}

double progress_share(const struct progress *p)
{
    if (p->windows < LEAST_WINDOWS || p->before <= 0)
        return NAN;
    return fmin(p->recent / p->before, 1);
}

double progress_lost_ns(const struct progress *p, uint64_t length_ns)
{
    if (p->windows < LEAST_WINDOWS || p->before <= 0)
        return 0;
    return (double)length_ns * (1 - fmin(p->now / p->before, 1));
}
