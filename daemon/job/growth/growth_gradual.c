/* Growth that no single window shows. */
#include "daemon/job/growth/growth_culprit.h"

/* Of 20 faults each of ranks and nodes that grow by 1 % a window 90 and 100 % are named, without
 * it 70 and 60; with half of GRADUAL_LOST 100 and 100 (one node twice), with double 75 and 65; with
 * half of GRADUAL_WINDOWS as many, with double 80 and 100. */
#define GRADUAL_LOST 0.08  /* of its work, in the mean of PROGRESS_WINDOWS, and by the cause */
#define GRADUAL_WINDOWS 8u /* one after the other in which the same culprit is found, or is not */

/* Do scopes announce anything? Then it is found without this. */
static int gradual_is_announced_otherwise(const struct job_growth *g)
{
    int otherwise = 0;
    for (size_t i = 0; i < g->finding_count; i++)
        otherwise |= finding_is_announced(g, &g->findings[i]);
    return otherwise;
}

static void gradual_search(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->gradual;
    struct scope_finding culprit;
    const int slow = progress_lost_slowly(&g->progress, CULPRIT_NOISE) >= GRADUAL_LOST;
    if (slow && s->slow == 0)
        s->onset = window->number - progress_fallen(&g->progress, PROGRESS_WINDOWS);
    s->slow = slow ? s->slow + 1 : 0;
    if (!slow || growth_job_stands_still(g) || growth_has_other_work(&g->losses, window) ||
        !culprit_find_first(g, s->onset, GRADUAL_LOST, &culprit) ||
        gradual_is_announced_otherwise(g)) {
        s->same = 0;
        return;
    }
    s->same = s->same > 0 && finding_names(&culprit, &s->finding) ? s->same + 1 : 1;
    s->finding = culprit;
    if (s->same < GRADUAL_WINDOWS)
        return;
    s->finding.id = GROWTH_LOSS_ID + g->losses.count++;
    s->finding.onset = s->onset;
    s->finding.found = window->number;
}

static void gradual_follow(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->gradual;
    struct scope_finding now;
    const int goes_on =
        culprit_find_first(g, window->number - PROGRESS_WINDOWS, GRADUAL_LOST, &now) &&
        finding_names(&now, &s->finding);
    s->good = goes_on ? 0 : s->good + 1;
    s->finding.over = s->good >= GRADUAL_WINDOWS;
    if (goes_on)
        finding_set_figures(&s->finding, &now);
}

/* After what is found of sudden growth, of which it changes nothing but that the same culprit has
 * one alert. */
void growth_find_gradual(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->gradual;
    if (s->finding.over || (g->losses.finding.id != 0 && !growth_fires(g, s->finding.id)))
        *s = (struct growth_culprit){.onset = 0};
    if (s->finding.id != 0)
        gradual_follow(g, window);
    else if (g->losses.finding.id == 0)
        gradual_search(g, window);
    if (s->finding.id == 0)
        return;
    for (size_t i = 0; i < g->finding_count && growth_fires(g, s->finding.id); i++)
        if (!g->findings[i].uncertain && finding_names(&g->findings[i], &s->finding))
            g->findings[i].symptom_of = s->finding.id;
    s->finding.messages = (uint64_t)g->losses.messages;
    g->findings[g->finding_count++] = s->finding;
}
