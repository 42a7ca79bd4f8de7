/* Progress of a job: see work_progress.h. */
#include "daemon/analysis/scopes/work_progress.h"

#include <math.h>

#define MEMORY 60.0       /* windows of the level before */
#define RECENT 3u         /* windows that are shown at least: single ones vary */
#define LEAST_WINDOWS 2.0 /* before less than so many are known there is no level */
#define FEW_WINDOWS 8.0   /* of the level are few: two slow ones would lower it */
/* Spread of a span in which the job does about the same each time. Of 40 faults each of jobs of 0.9
 * steps a window 55, 80 and 85 % (a link, a rank, a node) are named; with 0.1 57.5, 60 and 85, with
 * 0.25 42.5, 72.5 and 62.5. */
#define STEADY 0.15

/* Work a second in a window, some windows before the newest one. */
static double progress_work_before(const struct progress *p, uint32_t ago)
{
    return p->work[(p->seen - 1 - ago) % PROGRESS_KEPT];
}

/* Mean work a second of windows, the newest of which is some windows ago. */
static double progress_mean_before(const struct progress *p, uint32_t ago, uint32_t windows)
{
    const uint32_t known = p->seen > ago ? p->seen - ago : 0;
    const uint32_t count = windows < known ? windows : known;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += progress_work_before(p, ago + i);
    return count > 0 ? sum / count : 0;
}

static double progress_mean(const struct progress *p, uint32_t windows)
{
    return progress_mean_before(p, 0, windows);
}

/* Learn a window, some windows ago. */
static void progress_learn(struct progress *p, uint32_t ago)
{
    const uint32_t calm = p->calm - ago;
    const double work = progress_work_before(p, ago);
    p->before += (work - p->before) / (p->windows < MEMORY ? p->windows + 1 : MEMORY);
    for (uint32_t s = 0; s < PROGRESS_SPANS && p->before > 0 && calm >= 1u << s; s++) {
        const double known = p->windows - (1u << s) + 1;
        const double mean = progress_mean_before(p, ago, 1u << s);
        p->spread[s] +=
            (fabs(mean / p->before - 1) - p->spread[s]) / fmin(fmax(known, 0) + 1, MEMORY);
    }
    p->windows += 1;
}

void progress_update(struct progress *p, uint64_t work, uint64_t length_ns, int disturbed)
{
    const double now = length_ns > 0 ? (double)work * 1e9 / (double)length_ns : 0;
    if (p->seen == 0 && work == 0) /* ranks are being started */
        return;
    p->work[p->seen++ % PROGRESS_KEPT] = now;
    /* Ranks began within the first window. */
    const int learned = !disturbed && p->seen > 1;
    p->calm = learned ? p->calm + 1 : 0;
    p->held = learned ? p->held + 1 : 0;
    while (p->held > (p->windows < FEW_WINDOWS ? PROGRESS_DELAY : 0)) {
        p->held--;
        progress_learn(p, p->held);
    }
}

static uint32_t progress_find_span(const struct progress *p)
{
    uint32_t s = 0;
    while (s + 1 < PROGRESS_SPANS && p->spread[s] > STEADY && p->windows >= 2u << s)
        s++;
    return s;
}

uint32_t progress_span(const struct progress *p)
{
    return 1u << progress_find_span(p);
}

uint32_t progress_steady_span(const struct progress *p)
{
    const uint32_t span = progress_span(p);
    return progress_spread(p) <= STEADY && p->windows >= MEMORY ? span : 0;
}

double progress_spread(const struct progress *p)
{
    return p->spread[progress_find_span(p)];
}

/* Work a second of windows by that of the level before; NaN: there is no level yet. */
static double progress_by_level(const struct progress *p, uint32_t windows)
{
    return p->windows < LEAST_WINDOWS || p->before <= 0 ? NAN
                                                        : progress_mean(p, windows) / p->before;
}

double progress_share(const struct progress *p, uint64_t windows)
{
    const uint32_t known = windows < PROGRESS_WINDOWS ? (uint32_t)windows : PROGRESS_WINDOWS;
    return fmin(progress_by_level(p, known > RECENT ? known : RECENT), 1);
}

static double progress_lost_in(const struct progress *p, uint32_t windows)
{
    const double share = progress_by_level(p, windows);
    return isnan(share) ? 0 : 1 - fmin(share, 1);
}

double progress_lost(const struct progress *p)
{
    return progress_lost_in(p, progress_span(p));
}

double progress_lost_slowly(const struct progress *p, double noise)
{
    const double lost = progress_lost_in(p, PROGRESS_WINDOWS);
    return lost >= noise * p->spread[PROGRESS_SPANS - 1] ? lost : 0;
}

double progress_lost_ns(const struct progress *p, uint64_t windows, uint64_t length_ns)
{
    const uint32_t known = windows < PROGRESS_WINDOWS ? (uint32_t)windows : PROGRESS_WINDOWS;
    const double share = progress_by_level(p, known);
    return isnan(share) ? 0 : (double)length_ns * (double)windows * (1 - share);
}

uint32_t progress_fallen(const struct progress *p, uint32_t span)
{
    const uint32_t step = progress_span(p), newest = step > RECENT ? step : RECENT;
    const double middle = (progress_mean(p, newest < span ? newest : span) + p->before) / 2;
    double sum = 0, least = 0;
    uint32_t fallen = 0;
    for (uint32_t i = 0; i < span; i++) {
        sum += progress_work_before(p, i) - middle;
        if (sum < least) {
            least = sum;
            fallen = i;
        }
    }
    return fallen;
}
