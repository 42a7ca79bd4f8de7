/* What the attribution puts down to the network.
 *
 * Stalls: a job that makes less progress since few of its messages are in flight for very long, as
 * when a link loses packets. The typical message takes as long as before, so that no scope
 * deviates. The attribution adds up times: where it puts what is lost down to the network of one
 * node or between all nodes, that is a finding like those of the scopes.
 *
 * Symptoms: ranks that wait for slow messages hold up others, so that they seem to be late. */
#include "daemon/job/growth/growth_state.h"

#include <math.h>

#define LOST 0.25        /* of its work: the window is a slow one */
#define MUCH_MORE 2.0    /* times what the first slow window lost: that one was another matter */
#define SLOW_WINDOWS 3u  /* one after the other: the job is slow */
#define LEAST_SHARE 0.5  /* of what is lost: so much is put down to the network of the node, */
#define LEAST_DELAY 0.25 /* and so much of the time in which the job did the same work before */
#define LEAST_DELAY_OF_ALL 0.5 /* the same of the network between all nodes */
#define LEAST_RATIO 2.0        /* by which messages take longer in the mean */
#define TYPICAL_RATIO 1.25     /* by which typical messages take longer: scopes announce it */
#define SIZE_MEMORY 20.0       /* windows over which the size of messages is learned */
#define OTHER_SIZE 0.25        /* by which they differ in the mean: the job does another work */
#define RECENT 4u              /* windows by which an open finding is judged */
#define OVER_WINDOWS 5u        /* in which it is not found any more */

/* The network of one node, or that between all nodes, as the first cause of what is lost since a
 * window. @return NULL: it is not the cause */
static const struct attribution_cause *network_find_cause(struct job_growth *g, uint64_t since)
{
    const struct attribution_cause *c = &g->result.causes[0];
    if (attribution_result(g->attribution, since, &g->result) != 0 || g->result.cause_count == 0 ||
        g->result.baseline == 0 || c->share < LEAST_SHARE || !(c->ratio >= LEAST_RATIO))
        return NULL;
    return (c->kind == CAUSE_NETWORK && c->node_count == 1 && c->delay >= LEAST_DELAY) ||
                   (c->kind == CAUSE_BACKGROUND && c->delay >= LEAST_DELAY_OF_ALL)
               ? c
               : NULL;
}

/* Is a finding of the scopes about messages of a node or, where that is none, between nodes? */
static int stalls_are_part(const struct job_growth *g, const struct scope_finding *f,
                           const struct scope *of)
{
    const struct scope *first = &f->members[0];
    const uint32_t own =
        first->kind == SCOPE_RANK ? attribution_rank_node(g->attribution, first->a) : first->a;
    if (f->part != SCOPE_TRANSFER || first->kind == SCOPE_INTRA)
        return 0;
    return of->kind == SCOPE_INTER || first->kind < SCOPE_NODE ||
           (first->kind != SCOPE_LINK && own == of->a) ||
           (first->kind == SCOPE_NODE_PAIR && first->b == of->a);
}

static uint64_t stalls_count_messages(const struct job_growth *g,
                                      const struct closed_window *window)
{
    uint64_t messages = 0;
    for (size_t i = 0; i < window->latency->transfers.count; i++) {
        const struct transfer *t = &window->latency->transfers.rows[i];
        if (scopes_covers(g->scopes, &g->stalls.finding.members[0], t->source, t->destination))
            messages += t->messages;
    }
    return messages;
}

/* Does a finding of the scopes announce it already: with an alert, or soon, since typical messages
 * take longer as well? */
static int stalls_are_announced(const struct job_growth *g, const struct scope *scope)
{
    for (size_t i = 0; i < g->finding_count; i++) {
        const struct scope_finding *f = &g->findings[i];
        int fires = 0;
        for (size_t e = 0; e < GROWTH_EPISODES; e++)
            fires |= g->episodes[e].rule != NULL && g->episodes[e].finding.id == f->id &&
                     g->episodes[e].state == ALERT_FIRING;
        if (stalls_are_part(g, f, scope) && !f->over && (fires || f->ratio >= TYPICAL_RATIO))
            return 1;
    }
    return 0;
}

/* Bytes of a message, in the mean. */
static double stalls_mean_size(const struct closed_window *window)
{
    double messages = 0, bytes = 0;
    for (size_t i = 0; i < window->rank_count; i++) {
        messages += (double)window->ranks[i].sent;
        bytes += (double)window->ranks[i].sent_bytes;
    }
    return messages > 0 ? bytes / messages : 0;
}

static void stalls_search(struct job_growth *g, const struct closed_window *window)
{
    struct growth_stalls *s = &g->stalls;
    const double lost =
        progress_lost_ns(&g->progress, window->length_ns) / (double)window->length_ns;
    const double size = stalls_mean_size(window);
    s->slow = lost >= LOST ? s->slow + 1 : 0;
    if (s->slow == 0)
        s->size += (size - s->size) / (s->size > 0 ? SIZE_MEMORY : 1);
    if (s->slow == 1 || lost >= MUCH_MORE * s->lost) {
        s->slow = lost >= LOST;
        s->onset = window->number;
        s->lost = lost;
    }
    if (s->slow < SLOW_WINDOWS || fabs(size - s->size) > OTHER_SIZE * s->size)
        return;
    const struct attribution_cause *c = network_find_cause(g, s->onset);
    if (c == NULL)
        return;
    struct scope scope = {SCOPE_INTER, SCOPE_ALL, 0, 0};
    if (c->kind == CAUSE_NETWORK)
        scope = (struct scope){SCOPE_NODE, SCOPE_BOTH, c->nodes[0], 0};
    if (stalls_are_announced(g, &scope))
        return;
    s->good = 0;
    s->finding = (struct scope_finding){.id = GROWTH_STALL_ID + s->count++,
                                        .part = SCOPE_TRANSFER,
                                        .members = {scope},
                                        .effects = {c->ratio},
                                        .member_count = 1,
                                        .onset = s->onset,
                                        .found = window->number,
                                        .ratio = c->ratio,
                                        .worst = c->ratio,
                                        .share = c->share};
}

static void stalls_follow(struct job_growth *g, const struct closed_window *window)
{
    struct growth_stalls *s = &g->stalls;
    struct scope_finding *f = &s->finding;
    const uint64_t recent = window->number - RECENT + 1;
    const struct attribution_cause *c =
        network_find_cause(g, f->onset > recent ? f->onset : recent);
    const int goes_on = c != NULL && (f->members[0].kind == SCOPE_INTER ||
                                      (c->kind == CAUSE_NETWORK && c->nodes[0] == f->members[0].a));
    s->good = goes_on ? 0 : s->good + 1;
    f->over = s->good >= OVER_WINDOWS;
    if (!goes_on)
        return;
    f->ratio = f->effects[0] = c->ratio;
    f->worst = c->ratio > f->worst ? c->ratio : f->worst;
    f->share = c->share;
}

void growth_find_stalls(struct job_growth *g, const struct closed_window *window)
{
    struct growth_stalls *s = &g->stalls;
    if (s->finding.over)
        *s = (struct growth_stalls){.size = s->size, .count = s->count};
    if (s->finding.id == 0)
        stalls_search(g, window);
    else
        stalls_follow(g, window);
    if (s->finding.id == 0)
        return;
    s->finding.messages = stalls_count_messages(g, window);
    for (size_t i = 0; i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        if (f->part == SCOPE_LATENESS || stalls_are_part(g, f, &s->finding.members[0]))
            f->symptom_of = s->finding.id;
    }
    g->findings[g->finding_count++] = s->finding;
}

/* Messages of a node that take longer do not follow from late ranks where the attribution puts what
 * is lost down to the network of this node. */
void growth_judge_symptoms(struct job_growth *g)
{
    for (size_t i = 0; i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i], *late = NULL;
        for (size_t k = 0; k < g->finding_count; k++) {
            if (g->findings[k].id == f->symptom_of && g->findings[k].part == SCOPE_LATENESS)
                late = &g->findings[k];
        }
        if (f->part != SCOPE_TRANSFER || f->members[0].kind != SCOPE_NODE || late == NULL)
            continue;
        const struct attribution_cause *c = network_find_cause(g, f->onset);
        if (c == NULL || c->kind != CAUSE_NETWORK || c->nodes[0] != f->members[0].a)
            continue;
        f->symptom_of = 0;
        late->symptom_of = f->id;
    }
}
