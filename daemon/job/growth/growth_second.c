/* A second culprit beside that of growth_losses.c.
 *
 * Where two places are slow at once, the attribution finds a cause for each: of what one fault
 * costs it puts nothing down to another that would be enough by itself. */
#include "daemon/job/growth/growth_culprit.h"

/* Of 30 programs each of a slow link with a node or a rank that computes longer, and of these two,
 * 77 to 97 % have both named; with 3 windows 77 to 100, but of slow links of two nodes more have a
 * third alert; with 5 and a quarter as SECOND_SHARE 70 to 100. Without it 3 to 23 have. */
#define SECOND_WINDOWS 4u /* one after the other, */
#define SECOND_WORK 1.0   /* in which the job did so much, in windows before it was slow */

static void second_search(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->second;
    struct scope_finding now;
    const struct attribution_cause *cause = culprit_find_among(g, &g->losses.finding, 1, &now);
    s->same = cause == NULL ? 0 : s->same > 0 && finding_names(&now, &s->finding) ? s->same + 1 : 1;
    if (cause == NULL)
        return;
    s->finding = now;
    const double share = progress_share(&g->progress, window->number - g->losses.finding.onset + 1);
    const uint32_t least =
        SECOND_WINDOWS * (progress_span(&g->progress) == 1 ? 1 : CULPRIT_STRETCH);
    if (s->same < least || s->same * share < SECOND_WORK)
        return;
    s->finding.id = GROWTH_LOSS_ID + g->losses.count++;
    const uint64_t since = window->number - s->same + 1, first = g->losses.finding.onset;
    const int at_once = since < g->losses.finding.found + CULPRIT_WINDOWS;
    s->finding.onset = attribution_began(g->attribution, cause, at_once ? first : since);
    s->finding.found = window->number;
}

static void second_follow(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->second;
    struct scope_finding now;
    const int goes_on = culprit_find_among(g, &s->finding, 0, &now) != NULL;
    s->good = goes_on ? 0 : s->good + 1;
    s->finding.over = s->good >= culprit_over_windows(g, window);
    if (goes_on)
        finding_set_figures(&s->finding, &now);
}

/* The finding of the scopes that names it, preferably one whose alert fires; or NULL. */
static struct scope_finding *second_find_taken(struct job_growth *g)
{
    const struct growth_culprit *s = &g->second;
    struct scope_finding *taken = NULL;
    for (size_t i = 0; i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        int names = finding_names(f, &s->finding) && finding_is_announced(g, f);
        if (s->shared != 0)
            names = f->id == s->shared && !f->over;
        if (names && (taken == NULL || (growth_fires(g, f->id) && !growth_fires(g, taken->id))))
            taken = f;
    }
    return taken;
}

/* The finding that names it: one of the scopes, or an own one.
 * @return NULL: that of the scopes has ended, and with it this one */
static struct scope_finding *second_choose(struct job_growth *g)
{
    struct growth_culprit *s = &g->second;
    struct scope_finding *f = s->named ? NULL : second_find_taken(g);
    if (f == NULL)
        return culprit_add_finding(g, &s->finding, &s->named, s->shared);
    if (s->shared == 0)
        s->onset = growth_fires(g, f->id) ? f->onset : s->finding.onset;
    s->shared = f->id;
    finding_take_culprit(f, &s->finding);
    f->onset = s->onset;
    return f;
}

/* Does a finding of the scopes follow from it? Where it is the network, that is of all messages
 * that take longer: no other place accounts for them. */
static int second_explains(const struct job_growth *g, const struct scope_finding *f)
{
    struct scope_finding culprit = g->second.finding;
    if (finding_names(f, &culprit))
        return 1;
    culprit.share = 1;
    return f->part == SCOPE_TRANSFER && culprit.part == SCOPE_TRANSFER &&
           (finding_follows(f, &culprit, 0) || finding_is_part(g, f, &culprit));
}

/* While it is not sure yet, what would follow from it and has no alert yet waits. */
static void second_hold_back(struct job_growth *g)
{
    const uint64_t first = g->losses.shared != 0 ? g->losses.shared : g->losses.finding.id;
    for (size_t i = 0; g->second.same > 0 && i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        if (f->symptom_of == 0 && !finding_names(f, &g->second.finding) && second_explains(g, f) &&
            !growth_fires(g, f->id))
            f->symptom_of = first;
    }
}

void growth_find_second(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->second;
    if (s->finding.over || g->losses.finding.id == 0)
        *s = (struct growth_culprit){.onset = 0};
    if (g->losses.finding.id == 0)
        return;
    if (s->finding.id != 0)
        second_follow(g, window);
    else
        second_search(g, window);
    if (s->finding.id == 0) {
        second_hold_back(g);
        return;
    }
    struct scope_finding *named = second_choose(g);
    for (size_t i = 0; named != NULL && i < g->finding_count; i++)
        if (&g->findings[i] != named && second_explains(g, &g->findings[i]))
            g->findings[i].symptom_of = named->id;
}
