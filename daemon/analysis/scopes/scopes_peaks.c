/* How far noise goes in a job: peaks of excursions that ended by themselves.
 *
 * Thresholds in standard deviations hold for normal noise. Where a process is held up for long from
 * time to time, or ranks drift apart for some windows, excursions go further. Above a floor, what
 * independent peaks exceed it by is distributed about exponentially (Pickands): with their number
 * a window and their mean excess, that is extended to what is reached so rarely that a false
 * finding is not expected in days. */
#include "daemon/analysis/scopes/scopes_state.h"

#include <math.h>

#define MEMORY 20000.0      /* windows */
#define FIRST_WINDOWS 100.0 /* in which one peak is assumed to have been */
#define CLIP 6.0            /* times the mean excess that one peak counts at most */

void scope_peaks_init(struct scope_peaks *p, double excess)
{
    *p = (struct scope_peaks){
        .count = 1, .excess = excess, .most = CLIP * excess, .windows = FIRST_WINDOWS};
}

void scope_peaks_add(struct scope_peaks *p, double excess)
{
    if (excess <= 0)
        return;
    p->excess += scope_round(fmin(excess, p->most));
    p->count += 1;
}

void scope_peaks_end_window(struct scope_peaks *p)
{
    const double keep = 1 - 1 / MEMORY;
    p->count *= keep;
    p->excess *= keep;
    p->windows = p->windows * keep + 1;
    p->most = CLIP * p->excess / p->count;
}

double scope_peaks_reach(const struct scope_peaks *p, double rate)
{
    return p->excess / p->count * fmax(log(p->count / p->windows / rate), 0);
}
