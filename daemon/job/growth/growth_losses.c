/* The culprit of what the job loses, by the attribution.
 *
 * A rank that is late holds up others, and so do messages that take long: the scopes see all that
 * wait for each other deviate, and in small jobs and around the culprit they cannot tell who began.
 * The attribution adds up times by their causes. While the job makes much less progress, and one
 * cause accounts for most of what is lost, its ranks or nodes are the culprit, and findings that
 * began with it are its symptoms. Where no finding of the scopes names this culprit, it is a
 * finding of its own: a link that loses packets delays few messages by very much, so that typical
 * ones take as long as before; and ranks that complete all messages by one call show no waits. */
#include "daemon/job/growth/growth_state.h"

#include <math.h>
#include <string.h>

/* The shares below by the bench of faults, in programs: of 40 of each reason (a link, traffic of
 * others, a rank, a node) 97.5, 97.5, 100 and 95 % are named, and no calm one. With half and double
 * of LOST, of FOUND_LOST and of LEAST_DELAY as many. With LOST in place of FOUND_LOST, of 40 faults
 * each that grow by 5 % a window 80, 80 and 70 % (a link, a rank, a node) have one alert that is
 * right, not 67.5, 80 and 77.5. LEAST_SHARE is most of it: with half as many, with all of it 82.5,
 * 77.5, 97.5 and 92.5. With two SLOW_WINDOWS 95, 100, 100 and 95, with six 95, 100, 97.5 and 95. */
#define LOST 0.25      /* of its work: the window is a slow one; ... */
#define FOUND_LOST 0.1 /* ... the same where scopes deviate, and their culprit is to be named */
/* Times what spans of windows differ by in the mean: for jobs that do other amounts of work from
 * span to span. Those of the bench are steady: without it, with half and double as many are named.
 */
#define MUCH_NOISE 1.5
/* Those below by five situations of the bench (a fault, one that comes and goes, grows by 5 % a
 * window, begins with a new phase, and in a master with workers), 20 faults each of links, ranks
 * and nodes: the alert alone and right, half and double. MUCH_MORE 80 to 90 and 95 to 100 % for 95
 * to 100; FOUND_WINDOWS of growing links 25 and 80 for 80, of plain nodes 100 and 85 for 100;
 * ALL_SHARE as many and, never reached, 90 for 100 of plain links and nodes; TOGETHER_WINDOWS of
 * growing nodes 65 and 75 for 75; OVER_WINDOWS of nodes that come and go 80 and 100 for 100; RECENT
 * of such links 95 and 100 for 100; SIZE_MEMORY and OTHER_SIZE as many. The bench has no work whose
 * messages become longer for a while: without OTHER_SIZE their time counts as lost. */
#define MUCH_MORE 2.0    /* times what the first slow window lost: that one was another matter */
#define SLOW_WINDOWS 3u  /* one after the other: the job is slow; ... */
#define FOUND_WINDOWS 2u /* ... the same where scopes deviate, and it is not the network */
#define LEAST_SHARE 0.5  /* of what is lost: so much is put down to the cause, */
#define LEAST_DELAY 0.25 /* and so much of the time in which the job did the same work before */
/* By which typical messages take longer: scopes announce it. Without it the alert on a link that
 * loses packets has the figures of its typical messages. */
#define TYPICAL_RATIO 1.25
/* A second culprit at once. Of 30 programs each of a slow link with a node or a rank that computes
 * longer, and of these two, 77 to 97 % have both named; with 3 windows 77 to 100, but of slow links
 * of two nodes more have a third alert; with 5 and a quarter as the share 70 to 100. Without it 3
 * to 23 have. Windows where iterations take longer: MOST_STRETCH times as many. */
#define SECOND_SHARE 0.15   /* of what is lost: so much is put down to it, and LEAST_DELAY */
#define SECOND_WINDOWS 4u   /* one after the other, */
#define SECOND_WORK 1.0     /* in which the job did so much, in windows before it was slow */
#define ALL_SHARE 0.9       /* of what is lost: nothing else is slow by itself */
#define TOGETHER_WINDOWS 2u /* findings that follow from the culprit begin so close to it */
#define SIZE_MEMORY 20.0    /* windows over which the size of messages is learned */
#define OTHER_SIZE 0.25     /* by which they differ in the mean: the job does another work */
#define RECENT 4u           /* windows by which an open finding is judged */
#define OVER_WINDOWS 5u     /* in which it is not found any more */
/* Times as many of both while the job makes less progress. Of 160 faults each in jobs with
 * iterations of 0.8 to 2.5 windows 57, 79 and 91 % (a link, a rank, a node) have one alert that is
 * right; with 2 or 8 as many, with 1 41, 76 and 83. */
#define MOST_STRETCH 4
/* Growth that no single window shows. Of 20 faults each of ranks and nodes that grow by 1 % a
 * window 90 and 100 % are named, without it 70 and 60; with half of GRADUAL_LOST 100 and 100 (one
 * node twice), with double 75 and 65; with half of GRADUAL_WINDOWS as many, with double 80 and 100.
 */
#define GRADUAL_LOST 0.08  /* of its work, in the mean of PROGRESS_WINDOWS, and by the cause */
#define GRADUAL_WINDOWS 8u /* one after the other in which the same culprit is found, or is not */

/* ---- what the attribution says --------------------------------------------- */

/* @param scope  with the number of each in its place */
static void losses_set_members(struct scope_finding *f, struct scope scope, const uint32_t *list,
                               uint32_t count)
{
    f->member_count = count < SCOPE_MEMBERS ? count : SCOPE_MEMBERS;
    for (uint32_t i = 0; i < f->member_count; i++) {
        f->members[i] = scope;
        f->members[i].a = list[i];
    }
}

/* A cause as a finding. @return 0: it names no place */
static int losses_read_cause(const struct job_growth *g, const struct attribution_cause *c,
                             struct scope_finding *out)
{
    static const struct scope inter = {SCOPE_INTER, SCOPE_ALL, 0, 0};
    *out = (struct scope_finding){
        .part = SCOPE_TRANSFER, .ratio = c->ratio, .worst = c->ratio, .share = c->share};
    switch (c->kind) {
    case CAUSE_NETWORK:
        if (c->node_count != 1 && !c->all_nodes && g->nodes != 2)
            return 0;
        losses_set_members(out, (struct scope){SCOPE_NODE, SCOPE_BOTH, 0, 0}, c->nodes,
                           g->nodes == 2 ? 1 : c->node_count);
        if (g->nodes == 2) /* no message shows whose link it is */
            out->members[0] = (struct scope){SCOPE_NODE_PAIR, SCOPE_BOTH, 0, 1};
        break;
    case CAUSE_BACKGROUND:
        if (c->delay < LEAST_DELAY)
            return 0;
        out->members[0] = inter;
        out->member_count = 1;
        break;
    case CAUSE_SLOW_NODE:
        out->part = SCOPE_WORK;
        losses_set_members(out, (struct scope){SCOPE_NODE, SCOPE_ALL, 0, 0}, c->nodes,
                           c->node_count);
        break;
    case CAUSE_LATE_SENDER:
    case CAUSE_LATE_RECEIVER:
    case CAUSE_COLLECTIVE:
    case CAUSE_PATTERN:
        out->part = SCOPE_WORK;
        losses_set_members(out, growth_scope_of_rank(g, 0), c->ranks, c->rank_count);
        break;
    default:
        return 0;
    }
    for (uint32_t m = 0; m < out->member_count; m++)
        out->effects[m] = c->ratio;
    return out->member_count > 0 && !isnan(c->ratio);
}

/* The first cause of what is lost since a window, as a finding.
 * @param least  of the time in which the job did the same work before, so much is put down to it,
 *               where it is not the network
 * @return 0: none accounts for most of it */
static int losses_find_cause(struct job_growth *g, uint64_t since, double least,
                             struct scope_finding *out)
{
    const struct attribution_cause *c = &g->result.causes[0];
    return attribution_result(g->attribution, since, &g->result) == 0 &&
           g->result.cause_count > 0 && g->result.baseline > 0 && c->share >= LEAST_SHARE &&
           c->delay >= (c->kind != CAUSE_NETWORK ? least : LEAST_DELAY) &&
           losses_read_cause(g, c, out);
}

/* ---- findings of the scopes -------------------------------------------------- */

/* @param any  whatever messages of a node are concerned */
static int losses_have_member(const struct scope_finding *f, const struct scope *scope, int any)
{
    for (uint32_t m = 0; m < f->member_count; m++) {
        const struct scope *own = &f->members[m];
        if (own->kind == scope->kind && own->a == scope->a &&
            (any || (own->direction == SCOPE_WITHIN) == (scope->direction == SCOPE_WITHIN)) &&
            own->b == scope->b)
            return 1;
    }
    return 0;
}

/* Are both about messages in flight, or both about ranks that are late? */
static int losses_are_alike(const struct scope_finding *a, const struct scope_finding *b)
{
    return (a->part == SCOPE_TRANSFER) == (b->part == SCOPE_TRANSFER);
}

/* Is it about messages of several nodes, or of all? */
static int losses_are_several(const struct scope_finding *f)
{
    return f->members[0].kind == SCOPE_INTER || f->member_count > 1;
}

/* Does a finding of the scopes name the culprit? Of ranks that are about as late the attribution
 * names those that hold up the others; messages of a node that computes longer may have begun to
 * take longer before; messages within nodes do with those between them; and where several nodes are
 * slow, so are most messages between nodes. */
static int losses_are_of(const struct scope_finding *f, const struct scope_finding *culprit)
{
    const int parts = losses_are_alike(f, culprit);
    const int node = f->members[0].kind == SCOPE_NODE && culprit->part != SCOPE_TRANSFER;
    int same = f->member_count == culprit->member_count;
    if (!parts && !node)
        return 0;
    if (f->uncertain || (f->members[0].kind == SCOPE_JOB && losses_are_several(culprit)) ||
        (f->members[0].kind == SCOPE_INTER && culprit->member_count > 1))
        return 1;
    for (uint32_t m = 0; same && m < f->member_count; m++)
        same = losses_have_member(culprit, &f->members[m], !parts);
    return same;
}

/* Is a scope about messages of ranks of a node? Those of links and of localities may be. */
static int losses_touch_node(const struct job_growth *g, const struct scope *s, uint32_t node)
{
    switch (s->kind) {
    case SCOPE_RANK:
        return attribution_rank_node(g->attribution, s->a) == node;
    case SCOPE_NODE:
        return s->a == node;
    case SCOPE_NODE_PAIR:
        return s->a == node || s->b == node;
    default:
        return 1;
    }
}

/* Is a culprit another one than that of a finding? Ranks of a node that is named are not. */
static int losses_are_apart(const struct job_growth *g, const struct scope_finding *a,
                            const struct scope_finding *b)
{
    int apart = a->part != SCOPE_TRANSFER || b->part != SCOPE_TRANSFER;
    for (uint32_t m = 0; m < a->member_count; m++) {
        for (uint32_t n = 0; n < b->member_count; n++) {
            const struct scope *x = &a->members[m], *y = &b->members[n];
            if (x->kind == SCOPE_NODE)
                apart &= !losses_touch_node(g, y, x->a);
            else if (y->kind == SCOPE_NODE)
                apart &= !losses_touch_node(g, x, y->a);
        }
        apart &= !losses_have_member(b, &a->members[m], 1);
    }
    return apart && !losses_are_of(a, b);
}

/* The first cause that costs much by itself and that is that of a finding, or another one.
 * @return NULL: there is none */
static const struct attribution_cause *losses_find_among(const struct job_growth *g,
                                                         const struct scope_finding *f, int other,
                                                         struct scope_finding *out)
{
    for (uint32_t i = 0; g->result.baseline > 0 && i < g->result.cause_count; i++) {
        const struct attribution_cause *c = &g->result.causes[i];
        if (c->share >= SECOND_SHARE && c->delay >= LEAST_DELAY && losses_read_cause(g, c, out) &&
            (other ? losses_are_apart(g, out, f) : losses_are_of(out, f)))
            return c;
    }
    return NULL;
}

/* Is it about messages of the culprit: pairs or ranks of its nodes, a link, or all? */
static int losses_are_part(const struct job_growth *g, const struct scope_finding *f,
                           const struct scope_finding *culprit)
{
    if (f->part != SCOPE_TRANSFER || culprit->part != SCOPE_TRANSFER ||
        f->members[0].kind == SCOPE_INTRA)
        return 0;
    for (uint32_t m = 0; culprit->members[0].kind == SCOPE_NODE && m < f->member_count; m++) {
        int touches = 0;
        for (uint32_t c = 0; c < culprit->member_count; c++)
            touches |= losses_touch_node(g, &f->members[m], culprit->members[c].a);
        if (!touches)
            return 0;
    }
    return 1;
}

/* Is a finding announced: with an alert, or soon, since typical messages take longer? */
static int losses_are_announced(const struct job_growth *g, const struct scope_finding *f)
{
    return !f->over &&
           (f->part == SCOPE_LATENESS || f->ratio >= TYPICAL_RATIO || growth_fires(g, f->id));
}

/* Does a finding name the culprit together with others? */
static int losses_include(const struct scope_finding *f, const struct scope_finding *culprit)
{
    int includes = losses_are_alike(f, culprit) && f->member_count > culprit->member_count;
    for (uint32_t m = 0; includes && m < culprit->member_count; m++)
        includes = losses_have_member(f, &culprit->members[m], 0);
    return includes;
}

/* Do the scopes name another one whose messages take longer? They see the typical message of each
 * scope, of which the times that the attribution adds up may be those of a few only. Where these
 * are nearly all that is lost, only a place that explains nearly all is another one: the node of a
 * master whom all messages between nodes come from, or go to. */
static int losses_are_named_otherwise(const struct job_growth *g,
                                      const struct scope_finding *culprit)
{
    int otherwise = 0;
    for (size_t i = 0; i < g->finding_count; i++) {
        const struct scope_finding *f = &g->findings[i];
        const int place = f->members[0].kind >= SCOPE_NODE && f->share >= ALL_SHARE;
        otherwise |= (culprit->share < ALL_SHARE || place) && !losses_are_of(f, culprit) &&
                     losses_are_part(g, f, culprit) && losses_are_announced(g, f);
        otherwise |= losses_include(f, culprit) && growth_fires(g, f->id) &&
                     g->losses.onset > f->onset + TOGETHER_WINDOWS;
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
            if (losses_are_alike(f, culprit) && losses_have_member(f, &culprit->members[m], 0) &&
                !f->over && growth_fires(g, f->id))
                own = f;
        }
        named += own != NULL;
        first = own != NULL && own->onset < first ? own->onset : first;
        last = own != NULL && own->onset > last ? own->onset : last;
    }
    return named == culprit->member_count && last - first > TOGETHER_WINDOWS;
}

/* Does a finding of the scopes follow from the culprit: does it begin with it, or is it about ranks
 * or all messages while nothing but the culprit costs time? What begins with it may still be a
 * fault of its own between two nodes or on a link. */
static int losses_explain(const struct scope_finding *f, const struct scope_finding *culprit)
{
    const enum scope_kind kind = f->members[0].kind;
    const uint64_t apart =
        f->onset > culprit->onset ? f->onset - culprit->onset : culprit->onset - f->onset;
    if (culprit->part == SCOPE_TRANSFER && f->part == SCOPE_LATENESS)
        return 1;
    if ((kind == SCOPE_NODE_PAIR || kind == SCOPE_LINK) && culprit->share < ALL_SHARE)
        return 0;
    return apart <= TOGETHER_WINDOWS ||
           (f->onset > culprit->onset && (kind < SCOPE_NODE || culprit->share >= ALL_SHARE));
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

/* Are messages of another size than when it is not slow: does it do another work? */
static int losses_have_other_size(const struct growth_losses *s, const struct closed_window *window)
{
    const double messages = (double)window->totals->sent;
    const double bytes = (double)window->totals->sent_bytes;
    return fabs(bytes * s->messages - s->bytes * messages) > OTHER_SIZE * s->bytes * messages;
}

/* A job that does nothing at all hangs, which is another alert. */
static int losses_job_stands_still(const struct job_growth *g)
{
    return progress_lost(&g->progress) >= 1;
}

static double losses_least_delay(const struct job_growth *g)
{
    return g->finding_count > 0 ? FOUND_LOST : LEAST_DELAY;
}

/* A sudden growth of what has an alert since it grew gradually keeps this alert. */
static int gradual_goes_on_suddenly(struct job_growth *g)
{
    struct growth_losses *s = &g->losses;
    const struct scope_finding *f = &g->gradual.finding;
    const int same = f->id != 0 && growth_fires(g, f->id) && losses_are_of(&s->finding, f);
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
    const double least =
        fmax(g->finding_count > 0 ? FOUND_LOST : LOST, MUCH_NOISE * progress_spread(&g->progress));
    struct scope_finding culprit;
    s->slow = lost >= least ? s->slow + 1 : 0;
    if (s->slow == 0)
        losses_learn_messages(s, window);
    if (s->slow == 1 || lost >= MUCH_MORE * s->lost) {
        s->slow = lost >= least;
        s->onset = window->number - progress_fallen(&g->progress, span);
        s->lost = lost;
    }
    if (s->slow == 0 || window->number - s->onset + 1 < span || losses_job_stands_still(g) ||
        losses_have_other_size(s, window) ||
        !losses_find_cause(g, s->onset, losses_least_delay(g), &culprit) ||
        losses_are_named_otherwise(g, &culprit) || losses_are_named_apart(g, &culprit) ||
        losses_follow_from_link(g, &culprit, lost)) {
        s->same = 0;
        return;
    }
    s->same = s->same > 0 && losses_are_of(&culprit, &s->finding) ? s->same + 1 : 1;
    s->finding = culprit;
    const int transfer = culprit.part == SCOPE_TRANSFER;
    const int links = transfer && culprit.member_count > 1;
    /* Steps of some ranks end before those of others: one window may name these, the next one
     * those. Of one link, a window that does not show it is none that shows another. */
    const uint32_t sure = transfer && !links && span == 1 ? s->slow : s->same;
    if (sure < (transfer || g->finding_count == 0 || span > 1 ? SLOW_WINDOWS : FOUND_WINDOWS))
        return;
    s->good = 0;
    if (!gradual_goes_on_suddenly(g))
        s->finding.id = GROWTH_LOSS_ID + s->count++;
    /* Where the culprit's own time does not show since when, it began within a step, of which a
     * span holds about four: in the mean in the middle. */
    s->finding.onset = attribution_began(g->attribution, &g->result.causes[0], s->onset);
    if (s->finding.onset == s->onset && span / 4 < s->onset)
        s->finding.onset -= span / 4;
    s->finding.found = window->number;
}

/* A finding is about the culprit from now on. */
static void losses_rename(struct scope_finding *f, const struct scope_finding *culprit)
{
    if (!losses_are_alike(f, culprit) || !losses_are_of(f, culprit)) {
        f->part = culprit->part;
        f->ratio = culprit->ratio;
        f->worst = culprit->worst;
        f->share = culprit->share;
    }
    memcpy(f->members, culprit->members, sizeof(f->members));
    f->member_count = culprit->member_count;
    f->uncertain = 0;
    f->symptom_of = 0;
}

/* The figures of a finding that goes on. */
static void losses_set_figures(struct scope_finding *f, const struct scope_finding *now)
{
    f->ratio = f->effects[0] = now->ratio;
    f->worst = fmax(f->worst, now->ratio);
    f->share = now->share;
}

/* Is it the link of their node that is slow, though the first windows put it down to its ranks? */
static int losses_took_link_for_ranks(const struct job_growth *g, const struct scope_finding *f,
                                      const struct scope_finding *now)
{
    int same = f->part == SCOPE_WORK && now->part == SCOPE_TRANSFER && now->member_count == 1 &&
               now->members[0].kind == SCOPE_NODE;
    for (uint32_t m = 0; same && m < f->member_count; m++)
        same = losses_touch_node(g, &f->members[m], now->members[0].a);
    return same;
}

/* Where iterations take about a window or more, they take several times as many now, and not every
 * window shows the culprit: windows in which the job does the work of one, when it is not slow. */
static uint32_t losses_stretch(const struct job_growth *g, const struct closed_window *window)
{
    const double share = progress_share(&g->progress, window->number - g->losses.finding.onset + 1);
    if (progress_span(&g->progress) == 1)
        return 1;
    return share * MOST_STRETCH > 1 ? (uint32_t)lround(1 / share) : MOST_STRETCH;
}

/* Windows in which a culprit is not found any more, until it is none. */
static uint32_t losses_over_windows(const struct job_growth *g, const struct closed_window *window)
{
    const uint32_t span = progress_span(&g->progress);
    return losses_stretch(g, window) * (span > OVER_WINDOWS ? span : OVER_WINDOWS);
}

/* Where links of several nodes are slow, in some windows it is unknown whose they are. Others that
 * become slow later are culprits of the same finding, or have one of their own. */
static void losses_follow(struct job_growth *g, const struct closed_window *window)
{
    struct growth_losses *s = &g->losses;
    struct scope_finding *f = &s->finding, now = {.id = 0};
    const uint32_t span = progress_span(&g->progress);
    const uint32_t stretch = losses_stretch(g, window);
    const uint32_t wanted = stretch * (span > RECENT ? span : RECENT);
    const uint32_t kept = wanted < PROGRESS_WINDOWS ? wanted : PROGRESS_WINDOWS;
    const uint64_t recent = window->number - kept + 1;
    int found =
        losses_find_cause(g, f->onset > recent ? f->onset : recent, losses_least_delay(g), &now);
    if (g->second.finding.id != 0 && !(found && losses_are_of(&now, f))) {
        struct scope_finding own;
        const int seen = losses_find_among(g, f, 0, &own) != NULL;
        found = seen || (found && !losses_are_of(&now, &g->second.finding));
        now = seen ? own : now;
    }
    const int network = f->part == SCOPE_TRANSFER && now.part == SCOPE_TRANSFER;
    const int taken = found && losses_took_link_for_ranks(g, f, &now);
    const int more = found && losses_include(&now, f) && !losses_are_named_apart(g, &now);
    s->more = more ? s->more + 1 : 0;
    const int grown = span == 1 && s->more >= SLOW_WINDOWS; /* spans have windows in common */
    const int goes_on =
        found && (f->members[0].kind == SCOPE_INTER || losses_are_of(&now, f) || taken || grown ||
                  (network && f->member_count > 1 && losses_are_several(&now)));
    s->good = goes_on ? 0 : s->good + 1;
    f->over = s->good >= losses_over_windows(g, window);
    if (!goes_on)
        return;
    if ((taken && now.share >= ALL_SHARE) || grown)
        losses_rename(f, &now);
    if (losses_are_alike(f, &now))
        losses_set_figures(f, &now);
}

/* Does a finding of the scopes name the culprit, or does an alert about one that follows from it
 * fire? */
static int losses_are_taken(const struct job_growth *g, const struct scope_finding *f, int symptom)
{
    const struct growth_losses *s = &g->losses;
    if (s->shared != 0)
        return f->id == s->shared && !f->over;
    return symptom ? (s->finding.share >= ALL_SHARE || f->members[0].kind < SCOPE_NODE) &&
                         losses_explain(f, &s->finding) && !f->over && growth_fires(g, f->id)
                   : losses_are_of(f, &s->finding) && losses_are_announced(g, f);
}

static struct scope_finding *losses_find_taken(struct job_growth *g, int symptom)
{
    for (size_t i = 0; i < g->finding_count; i++)
        if (losses_are_taken(g, &g->findings[i], symptom))
            return &g->findings[i];
    return NULL;
}

/* What no finding of the scopes names is one of its own.
 * @param shared  finding of the scopes that named it before; 0: none
 * @return NULL: that has ended, and with it this one */
static struct scope_finding *losses_add_own(struct job_growth *g, struct scope_finding *finding,
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
        losses_rename(f, &s->finding);
        if (f->messages > 0)
            f->messages = (uint64_t)s->messages;
        s->shared = f->id;
    } else {
        f = losses_add_own(g, &s->finding, &s->named, s->shared);
    }
    if (f != NULL && s->announced != 0)
        f->onset = s->announced;
    return f;
}

/* ---- a second culprit ----------------------------------------------------------- */

static void second_search(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->second;
    struct scope_finding now;
    const struct attribution_cause *cause = losses_find_among(g, &g->losses.finding, 1, &now);
    s->same = cause == NULL ? 0 : s->same > 0 && losses_are_of(&now, &s->finding) ? s->same + 1 : 1;
    if (cause == NULL)
        return;
    s->finding = now;
    const double share = progress_share(&g->progress, window->number - g->losses.finding.onset + 1);
    const uint32_t least = SECOND_WINDOWS * (progress_span(&g->progress) == 1 ? 1 : MOST_STRETCH);
    if (s->same < least || s->same * share < SECOND_WORK)
        return;
    s->finding.id = GROWTH_LOSS_ID + g->losses.count++;
    const uint64_t since = window->number - s->same + 1, first = g->losses.finding.onset;
    const int at_once = since < g->losses.finding.found + SLOW_WINDOWS;
    s->finding.onset = attribution_began(g->attribution, cause, at_once ? first : since);
    s->finding.found = window->number;
}

static void second_follow(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->second;
    struct scope_finding now;
    const int goes_on = losses_find_among(g, &s->finding, 0, &now) != NULL;
    s->good = goes_on ? 0 : s->good + 1;
    s->finding.over = s->good >= losses_over_windows(g, window);
    if (goes_on)
        losses_set_figures(&s->finding, &now);
}

/* The finding of the scopes that names it, preferably one whose alert fires; or NULL. */
static struct scope_finding *second_find_taken(struct job_growth *g)
{
    const struct growth_culprit *s = &g->second;
    struct scope_finding *taken = NULL;
    for (size_t i = 0; i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        int names = losses_are_of(f, &s->finding) && losses_are_announced(g, f);
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
        return losses_add_own(g, &s->finding, &s->named, s->shared);
    if (s->shared == 0)
        s->onset = growth_fires(g, f->id) ? f->onset : s->finding.onset;
    s->shared = f->id;
    losses_rename(f, &s->finding);
    f->onset = s->onset;
    return f;
}

/* Does a finding of the scopes follow from it? Where it is the network, that is of all messages
 * that take longer: no other place accounts for them. */
static int second_explains(const struct job_growth *g, const struct scope_finding *f)
{
    struct scope_finding culprit = g->second.finding;
    if (losses_are_of(f, &culprit))
        return 1;
    culprit.share = 1;
    return f->part == SCOPE_TRANSFER && culprit.part == SCOPE_TRANSFER &&
           (losses_explain(f, &culprit) || losses_are_part(g, f, &culprit));
}

/* While it is not sure yet, what would follow from it and has no alert yet waits. */
static void second_hold_back(struct job_growth *g)
{
    const uint64_t first = g->losses.shared != 0 ? g->losses.shared : g->losses.finding.id;
    for (size_t i = 0; g->second.same > 0 && i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        if (f->symptom_of == 0 && !losses_are_of(f, &g->second.finding) && second_explains(g, f) &&
            !growth_fires(g, f->id))
            f->symptom_of = first;
    }
}

/* Where two places are slow at once, the attribution finds a cause for each: of what one fault
 * costs it puts nothing down to another that would be enough by itself. */
static void growth_find_second(struct job_growth *g, const struct closed_window *window)
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

/* ---- gradual growth ------------------------------------------------------------ */

/* Do scopes announce anything? Then it is found without this. */
static int gradual_is_announced_otherwise(const struct job_growth *g)
{
    int otherwise = 0;
    for (size_t i = 0; i < g->finding_count; i++)
        otherwise |= losses_are_announced(g, &g->findings[i]);
    return otherwise;
}

static void gradual_search(struct job_growth *g, const struct closed_window *window)
{
    struct growth_culprit *s = &g->gradual;
    struct scope_finding culprit;
    const int slow = progress_lost_slowly(&g->progress, MUCH_NOISE) >= GRADUAL_LOST;
    if (slow && s->slow == 0)
        s->onset = window->number - progress_fallen(&g->progress, PROGRESS_WINDOWS);
    s->slow = slow ? s->slow + 1 : 0;
    if (!slow || losses_job_stands_still(g) || losses_have_other_size(&g->losses, window) ||
        !losses_find_cause(g, s->onset, GRADUAL_LOST, &culprit) ||
        gradual_is_announced_otherwise(g)) {
        s->same = 0;
        return;
    }
    s->same = s->same > 0 && losses_are_of(&culprit, &s->finding) ? s->same + 1 : 1;
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
        losses_find_cause(g, window->number - PROGRESS_WINDOWS, GRADUAL_LOST, &now) &&
        losses_are_of(&now, &s->finding);
    s->good = goes_on ? 0 : s->good + 1;
    s->finding.over = s->good >= GRADUAL_WINDOWS;
    if (goes_on)
        losses_set_figures(&s->finding, &now);
}

/* After what is found of sudden growth, of which it changes nothing but that the same culprit has
 * one alert. */
static void growth_find_gradual(struct job_growth *g, const struct closed_window *window)
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
        if (!g->findings[i].uncertain && losses_are_of(&g->findings[i], &s->finding))
            g->findings[i].symptom_of = s->finding.id;
    s->finding.messages = (uint64_t)g->losses.messages;
    g->findings[g->finding_count++] = s->finding;
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
    const struct scope_finding *culprit = losses_choose(g);
    for (size_t i = 0; culprit != NULL && i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        if (f != culprit && (losses_explain(f, &s->finding) || losses_are_of(f, &s->finding) ||
                             losses_are_part(g, f, &s->finding)))
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
