/* Culprits by the attribution, as findings, and what other findings have to do with them. */
#include "daemon/job/growth/growth_culprit.h"

#include <math.h>
#include <string.h>

/* By the bench of faults, of 40 programs each of a link, traffic of others, a rank and a node: with
 * half of LEAST_SHARE as many are named, with all of it 82.5, 77.5, 97.5 and 92.5 % for 97.5, 97.5,
 * 100 and 95. */
#define LEAST_SHARE 0.5 /* of what is lost: so much is put down to the first cause */
/* By which typical messages take longer: scopes announce it. Without it the alert on a link that
 * loses packets has the figures of its typical messages. */
#define TYPICAL_RATIO 1.25
#define SECOND_SHARE 0.15 /* the same of another cause: see growth_second.c */

/* ---- causes ------------------------------------------------------------------ */

/* @param scope  with the number of each in its place */
static void culprit_set_members(struct scope_finding *f, struct scope scope, const uint32_t *list,
                                uint32_t count)
{
    f->member_count = count < SCOPE_MEMBERS ? count : SCOPE_MEMBERS;
    for (uint32_t i = 0; i < f->member_count; i++) {
        f->members[i] = scope;
        f->members[i].a = list[i];
    }
}

/* A cause as a finding. @return 0: it names no place */
static int culprit_read_cause(const struct job_growth *g, const struct attribution_cause *c,
                              struct scope_finding *out)
{
    static const struct scope inter = {SCOPE_INTER, SCOPE_ALL, 0, 0};
    *out = (struct scope_finding){
        .part = SCOPE_TRANSFER, .ratio = c->ratio, .worst = c->ratio, .share = c->share};
    switch (c->kind) {
    case CAUSE_NETWORK:
        if (c->node_count != 1 && !c->all_nodes && g->nodes != 2)
            return 0;
        culprit_set_members(out, (struct scope){SCOPE_NODE, SCOPE_BOTH, 0, 0}, c->nodes,
                            g->nodes == 2 ? 1 : c->node_count);
        if (g->nodes == 2) /* no message shows whose link it is */
            out->members[0] = (struct scope){SCOPE_NODE_PAIR, SCOPE_BOTH, 0, 1};
        break;
    case CAUSE_BACKGROUND:
        if (c->delay < CULPRIT_DELAY)
            return 0;
        out->members[0] = inter;
        out->member_count = 1;
        break;
    case CAUSE_SLOW_NODE:
        out->part = SCOPE_WORK;
        culprit_set_members(out, (struct scope){SCOPE_NODE, SCOPE_ALL, 0, 0}, c->nodes,
                            c->node_count);
        break;
    case CAUSE_LATE_SENDER:
    case CAUSE_LATE_RECEIVER:
    case CAUSE_COLLECTIVE:
    case CAUSE_PATTERN:
        out->part = SCOPE_WORK;
        culprit_set_members(out, growth_scope_of_rank(g, 0), c->ranks, c->rank_count);
        break;
    default:
        return 0;
    }
    for (uint32_t m = 0; m < out->member_count; m++)
        out->effects[m] = c->ratio;
    return out->member_count > 0 && !isnan(c->ratio);
}

int culprit_find_first(struct job_growth *g, uint64_t since, double least,
                       struct scope_finding *out)
{
    const struct attribution_cause *c = &g->result.causes[0];
    return attribution_result(g->attribution, since, &g->result) == 0 &&
           g->result.cause_count > 0 && g->result.baseline > 0 && c->share >= LEAST_SHARE &&
           c->delay >= (c->kind != CAUSE_NETWORK ? least : CULPRIT_DELAY) &&
           culprit_read_cause(g, c, out);
}

/* ---- findings ---------------------------------------------------------------- */

int finding_has_member(const struct scope_finding *f, const struct scope *scope, int any)
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

int finding_is_alike(const struct scope_finding *a, const struct scope_finding *b)
{
    return (a->part == SCOPE_TRANSFER) == (b->part == SCOPE_TRANSFER);
}

int finding_is_of_several(const struct scope_finding *f)
{
    return f->members[0].kind == SCOPE_INTER || f->member_count > 1;
}

int finding_names(const struct scope_finding *f, const struct scope_finding *culprit)
{
    const int parts = finding_is_alike(f, culprit);
    const int node = f->members[0].kind == SCOPE_NODE && culprit->part != SCOPE_TRANSFER;
    int same = f->member_count == culprit->member_count;
    if (!parts && !node)
        return 0;
    if (f->uncertain || (f->members[0].kind == SCOPE_JOB && finding_is_of_several(culprit)) ||
        (f->members[0].kind == SCOPE_INTER && culprit->member_count > 1))
        return 1;
    for (uint32_t m = 0; same && m < f->member_count; m++)
        same = finding_has_member(culprit, &f->members[m], !parts);
    return same;
}

int finding_includes(const struct scope_finding *f, const struct scope_finding *culprit)
{
    int includes = finding_is_alike(f, culprit) && f->member_count > culprit->member_count;
    for (uint32_t m = 0; includes && m < culprit->member_count; m++)
        includes = finding_has_member(f, &culprit->members[m], 0);
    return includes;
}

/* Is a scope about messages of ranks of a node? Those of links and of localities may be. */
static int scope_touches_node(const struct job_growth *g, const struct scope *s, uint32_t node)
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

int finding_is_of_node(const struct job_growth *g, const struct scope_finding *f, uint32_t node)
{
    int same = 1;
    for (uint32_t m = 0; same && m < f->member_count; m++)
        same = scope_touches_node(g, &f->members[m], node);
    return same;
}

int finding_is_part(const struct job_growth *g, const struct scope_finding *f,
                    const struct scope_finding *culprit)
{
    if (f->part != SCOPE_TRANSFER || culprit->part != SCOPE_TRANSFER ||
        f->members[0].kind == SCOPE_INTRA)
        return 0;
    for (uint32_t m = 0; culprit->members[0].kind == SCOPE_NODE && m < f->member_count; m++) {
        int touches = 0;
        for (uint32_t c = 0; c < culprit->member_count; c++)
            touches |= scope_touches_node(g, &f->members[m], culprit->members[c].a);
        if (!touches)
            return 0;
    }
    return 1;
}

int finding_follows(const struct scope_finding *f, const struct scope_finding *culprit, int alone)
{
    const enum scope_kind kind = f->members[0].kind;
    const uint64_t apart =
        f->onset > culprit->onset ? f->onset - culprit->onset : culprit->onset - f->onset;
    if (culprit->part == SCOPE_TRANSFER && f->part == SCOPE_LATENESS)
        return 1;
    if ((kind == SCOPE_NODE_PAIR || kind == SCOPE_LINK) && culprit->share < CULPRIT_ALL && !alone)
        return 0;
    return apart <= CULPRIT_TOGETHER ||
           (f->onset > culprit->onset && (kind < SCOPE_NODE || culprit->share >= CULPRIT_ALL));
}

int finding_is_announced(const struct job_growth *g, const struct scope_finding *f)
{
    return !f->over &&
           (f->part == SCOPE_LATENESS || f->ratio >= TYPICAL_RATIO || growth_fires(g, f->id));
}

/* Is a culprit another one than that of a finding? Ranks of a node that is named are not. */
static int finding_is_apart(const struct job_growth *g, const struct scope_finding *a,
                            const struct scope_finding *b)
{
    int apart = a->part != SCOPE_TRANSFER || b->part != SCOPE_TRANSFER;
    for (uint32_t m = 0; m < a->member_count; m++) {
        for (uint32_t n = 0; n < b->member_count; n++) {
            const struct scope *x = &a->members[m], *y = &b->members[n];
            if (x->kind == SCOPE_NODE)
                apart &= !scope_touches_node(g, y, x->a);
            else if (y->kind == SCOPE_NODE)
                apart &= !scope_touches_node(g, x, y->a);
        }
        apart &= !finding_has_member(b, &a->members[m], 1);
    }
    return apart && !finding_names(a, b);
}

const struct attribution_cause *culprit_find_among(const struct job_growth *g,
                                                   const struct scope_finding *f, int other,
                                                   struct scope_finding *out)
{
    for (uint32_t i = 0; g->result.baseline > 0 && i < g->result.cause_count; i++) {
        const struct attribution_cause *c = &g->result.causes[i];
        if (c->share >= SECOND_SHARE && c->delay >= CULPRIT_DELAY &&
            culprit_read_cause(g, c, out) &&
            (other ? finding_is_apart(g, out, f) : finding_names(out, f)))
            return c;
    }
    return NULL;
}

void finding_take_culprit(struct scope_finding *f, const struct scope_finding *culprit)
{
    if (!finding_is_alike(f, culprit) || !finding_names(f, culprit)) {
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

void finding_set_figures(struct scope_finding *f, const struct scope_finding *now)
{
    f->ratio = f->effects[0] = now->ratio;
    f->worst = fmax(f->worst, now->ratio);
    f->share = now->share;
}
