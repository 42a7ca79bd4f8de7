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
    const double rate = 1 / (p->windows < MEMORY ? p->windows + 1 : MEMORY);
    p->before += rate * (p->now - p->before);
    if (p->before > 0)
        p->spread += rate * (fabs(p->now / p->before - 1) - p->spread);
    p->windows += 1;
}

/* Work a second by that of the level before; NaN: there is no level yet. */
static double progress_by_level(const struct progress *p, double work)
{
    return p->windows < LEAST_WINDOWS || p->before <= 0 ? NAN : fmin(work / p->before, 1);
}

double progress_share(const struct progress *p)
{
    return progress_by_level(p, p->recent);
}

double progress_lost_ns(const struct progress *p, uint64_t length_ns)
{
    const double share = progress_by_level(p, p->now);
    return isnan(share) ? 0 : (double)length_ns * (1 - share);
}
