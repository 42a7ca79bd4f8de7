/* The culprit of what the job loses, by the attribution.
 *
 * A rank that is late holds up others, and so do messages that take long: the scopes see all that
 * wait for each other deviate, and in small jobs and around the culprit they cannot tell who began.
 * The attribution adds up times by their causes. While the job makes much less progress, and one
 * cause accounts for most of what is lost, its ranks or nodes are the culprit, and findings that
 * began with it are its symptoms. Where no finding of the scopes names this culprit, it is a
 * finding of its own: a link that loses packets delays few messages by very much, so that typical
 * ones take as long as before; and ranks that complete all messages by one call show no waits. */
#include "daemon/job/growth/growth_culprit.h"

#include <math.h>

/* The shares below by the bench of faults, in programs: of 40 of each reason (a link, traffic of
 * others, a rank, a node) 97.5, 97.5, 100 and 95 % are named, and no calm one. With half and double
 * of LOST, of FOUND_LOST and of CULPRIT_DELAY as many. With LOST in place of FOUND_LOST, of 40
 * faults each that grow by 5 % a window 80, 80 and 70 % (a link, a rank, a node) have one alert
 * that is right, not 67.5, 80 and 77.5. With two CULPRIT_WINDOWS 95, 100, 100 and 95, with six 95,
 * 100, 97.5 and 95. CULPRIT_NOISE is for jobs that do other amounts of work from span to span.
 * Those of the bench are steady: without it, with half and double as many are named. */
#define LOST 0.25      /* of its work: the window is a slow one; ... */
#define FOUND_LOST 0.1 /* ... the same where scopes deviate, and their culprit is to be named */
/* Those below by five situations of the bench (a fault, one that comes and goes, grows by 5 % a
 * window, begins with a new phase, and in a master with workers), 20 faults each of links, ranks
 * and nodes: the alert alone and right, half and double. MUCH_MORE 80 to 90 and 95 to 100 % for 95
 * to 100; FOUND_WINDOWS of growing links 25 and 80 for 80, of plain nodes 100 and 85 for 100;
 * CULPRIT_ALL as many and, never reached, 90 for 100 of plain links and nodes; CULPRIT_TOGETHER of
 * growing nodes 65 and 75 for 75; OVER_WINDOWS of nodes that come and go 80 and 100 for 100; RECENT
 * of such links 95 and 100 for 100; SIZE_MEMORY and OTHER_SIZE as many. The bench has no work whose
 * messages become longer for a while: without OTHER_SIZE their time counts as lost. */
#define MUCH_MORE 2.0 /* times what the first slow window lost: that one was another matter */
#define FOUND_WINDOWS                                                                              \
    2u /* as CULPRIT_WINDOWS, where scopes deviate, at one place if it is the network */
#define SIZE_MEMORY 20.0 /* windows over which the size of messages is learned */
#define OTHER_SIZE 0.25  /* by which they differ in the mean: the job does another work */
/* Both CULPRIT_STRETCH times while the job makes less progress. Of 160 faults each in jobs with
 * iterations of 0.8 to 2.5 windows 57, 79 and 91 % (a link, a rank, a node) have one alert that is
 * right; with 2 or 8 as many, with 1 41, 76 and 83. */
#define RECENT 4u       /* windows by which an open finding is judged */
#define OVER_WINDOWS 5u /* in which it is not found any more */

/* ---- findings of the scopes -------------------------------------------------- */

/* Do the scopes announce the places of the culprit, alone or with others? */
static int losses_are_agreed(const struct job_growth *g, const struct scope_finding *culprit)
{
    int agreed = 0;
    for (size_t i = 0; i < g->finding_count; i++) {
        const struct scope_finding *f = &g->findings[i];
        const int same = f->members[0].kind >= SCOPE_NODE && finding_is_alike(f, culprit) &&
                         f->member_count == culprit->member_count && finding_names(f, culprit);
        agreed |= (same || finding_includes(f, culprit)) && finding_is_announced(g, f);
    }
    return agreed;
}

/* Do the scopes name another one whose messages take longer, and not this one? They see the typical
 * message of each scope, of which the times that the attribution adds up may be those of a few
 * only. Where these are nearly all that is lost, only a place that explains nearly all is another
 * one: the node of a master whom all messages between nodes come from, or go to. */
static int losses_are_named_otherwise(const struct job_growth *g,
                                      const struct scope_finding *culprit)
{
    int otherwise = 0;
    if (losses_are_agreed(g, culprit))
        return 0;
    for (size_t i = 0; i < g->finding_count; i++) {
        const struct scope_finding *f = &g->findings[i];
        const int place = f->members[0].kind >= SCOPE_NODE && f->share >= CULPRIT_ALL;
        otherwise |= (culprit->share < CULPRIT_ALL || place) && !finding_names(f, culprit) &&
                     finding_is_part(g, f, culprit) && finding_is_announced(g, f);
        otherwise |= finding_includes(f, culprit) && growth_fires(g, f->id) &&
                     g->losses.onset > f->onset + CULPRIT_TOGETHER;
    }
    return otherwise;
}

/* Does each of several culprits have an alert of its own, since they did not begin together? */
static int losses_are_named_apart(const struct job_growth *g, const struct scope_finding *culprit)
{
    uint64_t first = UINT64_MAX, last = 0;
    uint32_t named = 0;
    for (uint32_t m = 0; m < culprit->member_count; m++) {
        const struct scope_finding *own = NULL;
        for (size_t i = 0; own == NULL && i < g->finding_count; i++) {
            const struct scope_finding *f = &g->findings[i];
            if (finding_is_alike(f, culprit) && finding_has_member(f, &culprit->members[m], 0) &&
                !f->over && growth_fires(g, f->id))
                own = f;
        }
        named += own != NULL;
        first = own != NULL && own->onset < first ? own->onset : first;
        last = own != NULL && own->onset > last ? own->onset : last;
    }
    return named == culprit->member_count && last - first > CULPRIT_TOGETHER;
}

/* Messages within nodes seem to take longer where ranks wait for those of a slow node first. */
static void losses_fold_within(struct job_growth *g)
{
    for (size_t i = 0; i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        for (size_t k = 0; f->members[0].kind == SCOPE_INTRA && k < g->finding_count; k++) {
            const struct scope_finding *node = &g->findings[k];
            if (node->members[0].kind == SCOPE_NODE && node->part == SCOPE_TRANSFER &&
                node->symptom_of == 0 && !node->over && node->onset <= f->onset)
                f->symptom_of = node->id;
        }
    }
}

/* ---- windows ------------------------------------------------------------------- */

/* Learn what the job sends when it is not slow. */
static void losses_learn_messages(struct growth_losses *s, const struct closed_window *window)
{
    const double rate = 1 / (s->messages > 0 ? SIZE_MEMORY : 1);
    s->messages += rate * ((double)window->totals->sent - s->messages);
    s->bytes += rate * ((double)window->totals->sent_bytes - s->bytes);
}

int growth_has_other_work(const struct growth_losses *s, const struct closed_window *window)
{
    const double messages = (double)window->totals->sent;
    const double bytes = (double)window->totals->sent_bytes;
    return fabs(bytes * s->messages - s->bytes * messages) > OTHER_SIZE * s->bytes * messages;
}

int growth_job_stands_still(const struct job_growth *g)
{
    return progress_lost(&g->progress) >= 1;
}

static double losses_least_delay(const struct job_growth *g)
{
    return g->finding_count > 0 ? FOUND_LOST : CULPRIT_DELAY;
}

/* A sudden growth of what has an alert since it grew gradually keeps this alert. */
static int losses_continue_gradual(struct job_growth *g)
{
    struct growth_losses *s = &g->losses;
    const struct scope_finding *f = &g->gradual.finding;
    const int same = f->id != 0 && growth_fires(g, f->id) && finding_names(&s->finding, f);
    if (same) {
        s->finding.id = f->id;
        s->announced = f->onset;
        s->named = 1;
        g->gradual = (struct growth_culprit){.onset = 0};
    }
    return same;
}

/* Are ranks late that wait for a node whose messages have an alert? Of what little is lost, it is
 * not certain that they are late by themselves. */
static int losses_follow_from_link(const struct job_growth *g, const struct scope_finding *culprit,
                                   double lost)
{
    int link = 0;
    for (size_t i = 0; i < g->finding_count; i++) {
        const struct scope_finding *f = &g->findings[i];
        link |= f->members[0].kind == SCOPE_NODE && f->part == SCOPE_TRANSFER && !f->over &&
                growth_fires(g, f->id);
    }
    return link && culprit->part == SCOPE_WORK && lost < LOST;
}

static void losses_search(struct job_growth *g, const struct closed_window *window)
{
    struct growth_losses *s = &g->losses;
    const double lost = progress_lost(&g->progress);
    const uint32_t span = progress_span(&g->progress);
    const double least = fmax(g->finding_count > 0 ? FOUND_LOST : LOST,
                              CULPRIT_NOISE * progress_spread(&g->progress));
    struct scope_finding culprit;
    s->slow = lost >= least ? s->slow + 1 : 0;
    if (s->slow == 0)
        losses_learn_messages(s, window);
    if (s->slow == 1 || lost >= MUCH_MORE * s->lost) {
        s->slow = lost >= least;
        s->onset = window->number - progress_fallen(&g->progress, span);
        s->lost = lost;
    }
    if (s->slow == 0 || window->number - s->onset + 1 < span || growth_job_stands_still(g) ||
        growth_has_other_work(s, window) ||
        !culprit_find_first(g, s->onset, losses_least_delay(g), &culprit) ||
        losses_are_named_otherwise(g, &culprit) || losses_are_named_apart(g, &culprit) ||
        losses_follow_from_link(g, &culprit, lost)) {
        s->same = 0;
        return;
    }
    s->same = s->same > 0 && finding_names(&culprit, &s->finding) ? s->same + 1 : 1;
    s->finding = culprit;
    const int transfer = culprit.part == SCOPE_TRANSFER;
    const int links = transfer && culprit.member_count > 1;
    /* Steps of some ranks end before those of others: one window may name these, the next one
     * those. Of one link, a window that does not show it is none that shows another. */
    const uint32_t sure = transfer && !links && span == 1 ? s->slow : s->same;
    const int found = transfer ? losses_are_agreed(g, &culprit) : g->finding_count > 0;
    if (sure < (found && span == 1 ? FOUND_WINDOWS : CULPRIT_WINDOWS))
        return;
    s->good = 0;
    if (!losses_continue_gradual(g))
        s->finding.id = GROWTH_LOSS_ID + s->count++;
    /* Where the culprit's own time does not show since when, it began within a step, of which a
     * span holds about four: in the mean in the middle. */
    s->finding.onset = attribution_began(g->attribution, &g->result.causes[0], s->onset);
    if (s->finding.onset == s->onset && span / 4 < s->onset)
        s->finding.onset -= span / 4;
    s->finding.found = window->number;
}

/* Is it the link of their node that is slow, though the first windows put it down to its ranks? */
static int losses_took_link_for_ranks(const struct job_growth *g, const struct scope_finding *f,
                                      const struct scope_finding *now)
{
    return f->part == SCOPE_WORK && now->part == SCOPE_TRANSFER && now->member_count == 1 &&
           now->members[0].kind == SCOPE_NODE && finding_is_of_node(g, f, now->members[0].a);
}

uint32_t culprit_stretch(const struct job_growth *g, const struct closed_window *window)
{
    const double share = progress_share(&g->progress, window->number - g->losses.finding.onset + 1);
    if (progress_span(&g->progress) == 1)
        return 1;
    return share * CULPRIT_STRETCH > 1 ? (uint32_t)lround(1 / share) : CULPRIT_STRETCH;
}

uint32_t culprit_over_windows(const struct job_growth *g, const struct closed_window *window)
{
    const uint32_t span = progress_span(&g->progress);
    return culprit_stretch(g, window) * (span > OVER_WINDOWS ? span : OVER_WINDOWS);
}

/* Where links of several nodes are slow, in some windows it is unknown whose they are. Others that
 * become slow later are culprits of the same finding, or have one of their own. */
static void losses_follow(struct job_growth *g, const struct closed_window *window)
{
    struct growth_losses *s = &g->losses;
    struct scope_finding *f = &s->finding, now = {.id = 0};
    const uint32_t span = progress_span(&g->progress);
    const uint32_t stretch = culprit_stretch(g, window);
    const uint32_t wanted = stretch * (span > RECENT ? span : RECENT);
    const uint32_t kept = wanted < PROGRESS_WINDOWS ? wanted : PROGRESS_WINDOWS;
    const uint64_t recent = window->number - kept + 1;
    int found =
        culprit_find_first(g, f->onset > recent ? f->onset : recent, losses_least_delay(g), &now);
    if (g->second.finding.id != 0 && !(found && finding_names(&now, f))) {
        struct scope_finding own;
        const int seen = culprit_find_among(g, f, 0, &own) != NULL;
        found = seen || (found && !finding_names(&now, &g->second.finding));
        now = seen ? own : now;
    }
    const int network = f->part == SCOPE_TRANSFER && now.part == SCOPE_TRANSFER;
    const int taken = found && losses_took_link_for_ranks(g, f, &now);
    const int more = found && finding_includes(&now, f) && !losses_are_named_apart(g, &now);
    s->more = more ? s->more + 1 : 0;
    const int grown = span == 1 && s->more >= CULPRIT_WINDOWS; /* spans have windows in common */
    const int goes_on =
        found && (f->members[0].kind == SCOPE_INTER || finding_names(&now, f) || taken || grown ||
                  (network && f->member_count > 1 && finding_is_of_several(&now)));
    s->good = goes_on ? 0 : s->good + 1;
    /* Where another fault costs more, what a link costs may not show: ranks wait anyway. */
    f->over = s->good >= culprit_over_windows(g, window) &&
              !(f->part == SCOPE_TRANSFER && losses_are_agreed(g, f));
    if (!goes_on)
        return;
    if ((taken && now.share >= CULPRIT_ALL) || grown)
        finding_take_culprit(f, &now);
    if (finding_is_alike(f, &now))
        finding_set_figures(f, &now);
}

/* Does a finding of the scopes name the culprit, or does an alert about one that follows from it
 * fire? */
static int losses_are_taken(const struct job_growth *g, const struct scope_finding *f, int symptom)
{
    const struct growth_losses *s = &g->losses;
    if (s->shared != 0)
        return f->id == s->shared && !f->over;
    return symptom
               ? (s->finding.share >= CULPRIT_ALL || f->members[0].kind < SCOPE_NODE) &&
                     finding_follows(f, &s->finding, s->alone) && !f->over && growth_fires(g, f->id)
               : finding_names(f, &s->finding) && finding_is_announced(g, f);
}

static struct scope_finding *losses_find_taken(struct job_growth *g, int symptom)
{
    for (size_t i = 0; i < g->finding_count; i++)
        if (losses_are_taken(g, &g->findings[i], symptom))
            return &g->findings[i];
    return NULL;
}

struct scope_finding *culprit_add_finding(struct job_growth *g, struct scope_finding *finding,
                                          int *named, uint64_t shared)
{
    finding->over |= shared != 0;
    if (shared != 0)
        return NULL;
    *named = 1;
    finding->messages = (uint64_t)g->losses.messages;
    g->findings[g->finding_count] = *finding;
    return &g->findings[g->finding_count++];
}

/* The finding that names the culprit: one of the scopes, or, where none ever did, the own one.
 * @return NULL: that of the scopes has ended, and with it this one */
static struct scope_finding *losses_choose(struct job_growth *g)
{
    struct growth_losses *s = &g->losses;
    struct scope_finding *f = s->named ? NULL : losses_find_taken(g, 0);
    if (f == NULL && !s->named)
        f = losses_find_taken(g, 1);
    if (f != NULL) {
        finding_take_culprit(f, &s->finding);
        if (f->messages > 0)
            f->messages = (uint64_t)s->messages;
        s->shared = f->id;
    } else {
        f = culprit_add_finding(g, &s->finding, &s->named, s->shared);
    }
    if (f != NULL && s->announced != 0)
        f->onset = s->announced;
    return f;
}

/* ---- all ----------------------------------------------------------------------- */

/* The first culprit is no longer one: the second one, if there is any, takes its place. */
static void losses_end_first(struct job_growth *g)
{
    struct growth_losses *s = &g->losses;
    const struct growth_culprit *second = &g->second;
    *s = (struct growth_losses){.messages = s->messages, .bytes = s->bytes, .count = s->count};
    if (second->finding.id == 0 || second->finding.over)
        return;
    s->finding = second->finding;
    s->onset = second->finding.onset;
    s->named = second->named;
    s->shared = second->shared;
    s->announced = second->shared != 0 ? second->onset : 0;
    g->second = (struct growth_culprit){.onset = 0};
}

static void growth_find_sudden(struct job_growth *g, const struct closed_window *window)
{
    struct growth_losses *s = &g->losses;
    if (s->finding.over)
        losses_end_first(g);
    if (s->finding.id == 0)
        losses_search(g, window);
    else
        losses_follow(g, window);
    if (s->finding.id == 0)
        return;
    s->alone |= s->finding.share >= CULPRIT_ALL;
    const struct scope_finding *culprit = losses_choose(g);
    for (size_t i = 0; culprit != NULL && i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        if (f != culprit && (finding_follows(f, &s->finding, s->alone) ||
                             finding_names(f, &s->finding) || finding_is_part(g, f, &s->finding)))
            f->symptom_of = culprit->id;
    }
}

void growth_find_losses(struct job_growth *g, const struct closed_window *window)
{
    losses_fold_within(g);
    growth_find_sudden(g, window);
    growth_find_second(g, window);
    growth_find_gradual(g, window);
}
