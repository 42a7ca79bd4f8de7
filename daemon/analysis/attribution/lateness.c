/* Why a rank is late. */
#include "daemon/analysis/attribution/lateness.h"

#include <math.h>
#include <string.h>

#define LEAST 0.01       /* of the time: less is no sign */
#define FAULT_S 0.01     /* a major page fault takes so long at most */
#define OVERLOAD 1.5     /* times the messages of before are more messages */
#define LOWER_CLOCK 0.95 /* of the clock before is a lower clock */

static double lateness_growth(double calm, double now)
{
    return fmax(now - calm, 0);
}

/* Others take as large a part of its core as before. */
static double lateness_expect_queued(const struct lateness_figures *calm,
                                     const struct lateness_figures *now)
{
    return calm->queued * (calm->cpu > 0 ? fmax(now->cpu / calm->cpu, 1) : 1);
}

/* Time of longer work. Where ranks sleep between steps, the time outside of MPI need not grow, and
 * where they poll in MPI, neither need the time on a core; but that grows, too, when they poll for
 * longer. */
static double lateness_find_work(const struct lateness_figures *calm,
                                 const struct lateness_figures *now, double signs)
{
    const double polled = lateness_growth(calm->inside, now->inside);
    return fmax(fmax(now->outside - calm->outside - signs, now->cpu - calm->cpu - polled), 0);
}

/* Longer work is put down to more messages or a lower clock, as far as these explain it. */
static void lateness_divide_work(const struct lateness_figures *calm,
                                 const struct lateness_figures *now, double work,
                                 double delays[LATENESS_SIGNS])
{
    const int is_slow = calm->clock > 0 && now->clock > 0 && now->clock < LOWER_CLOCK * calm->clock;
    if (is_slow)
        delays[LATENESS_CLOCK] = fmin(work, (1 - now->clock / calm->clock) * fmax(now->cpu, work));
    work -= delays[LATENESS_CLOCK];
    if (calm->messages > 0 && now->messages >= OVERLOAD * calm->messages)
        delays[LATENESS_PATTERN] = work;
    else
        delays[LATENESS_COMPUTES] = work;
}

enum lateness_sign lateness_judge(const struct lateness_figures *calm,
                                  const struct lateness_figures *now, double delays[LATENESS_SIGNS])
{
    enum lateness_sign first = LATENESS_SIGNS;
    memset(delays, 0, LATENESS_SIGNS * sizeof(*delays));
    const double blocked = lateness_growth(calm->blocked, now->blocked);
    const double paging = fmin(blocked, FAULT_S * lateness_growth(calm->faults, now->faults));
    delays[LATENESS_INTERRUPTED] = lateness_growth(lateness_expect_queued(calm, now), now->queued);
    delays[LATENESS_STOPPED] = lateness_growth(calm->stopped, now->stopped);
    delays[LATENESS_PAGING] = paging;
    delays[LATENESS_IO] = blocked - paging;
    const double signs = delays[LATENESS_INTERRUPTED] + delays[LATENESS_STOPPED] + blocked;
    lateness_divide_work(calm, now, lateness_find_work(calm, now, signs), delays);
    for (int s = 0; s < LATENESS_SIGNS; s++) {
        if (delays[s] >= LEAST && (first == LATENESS_SIGNS || delays[s] > delays[first]))
            first = (enum lateness_sign)s;
    }
    return first;
}
