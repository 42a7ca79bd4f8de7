/* Findings that follow from another one. Ranks that wait for slow messages hold up others in turn:
 * in small jobs, and around a culprit in large ones, messages between its partners take longer as
 * well. A finding is a symptom of another that began no later and costs several times as much when
 * all nodes that may hold up its messages exchange messages with the culprit. So are pairs of nodes
 * that cost no more than the culprit, if all their receivers complete messages of it as well. A
 * pair of nodes is none when the other messages of its ranks take as long as before: nobody is held
 * up there. A part of the culprit's messages is one when others of these that usually take as long
 * deviate as much: a delay that is the same for all, or a smaller bandwidth, makes short and long
 * messages take longer by different factors. */
#include "daemon/analysis/scopes/scopes_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COSTS_MORE 4.0   /* times the excess */
#define DELAY_WINDOWS 2u /* within which ranks are late when messages begin to be slow */
#define LATER_WINDOWS 1u /* the onset of the culprit may be found so much later */
#define SURE 2.0         /* standard deviations */
#define MOSTLY 0.9       /* of the excess: a finding is part of another */
#define OCTAVES 40u      /* classes of messages by the time that they usually take */
#define KNOWN 4.0f       /* windows that the usual time was learned from */
#define SENDS 1u         /* marks of ranks: messages of the finding come from it, */
#define RECEIVES 2u      /* or go to it */

/* Mark the nodes of the scope and their partners; or of a scope that may be a symptom, the nodes
 * that may hold up its messages: of a directed pair the sender. */
static void symptoms_mark(const struct scopes *s, const struct scope *scope, bool partners,
                          uint8_t *marks)
{
    const uint32_t ends[] = {scope->kind == SCOPE_RANK ? s->node_of[scope->a] : scope->a, scope->b};
    const bool two = scope->kind == SCOPE_NODE_PAIR && (partners || scope->direction == SCOPE_BOTH);
    const uint32_t count = two ? 2 : 1;
    for (uint32_t e = 0; e < count; e++) {
        if (ends[e] < s->nodes)
            marks[ends[e]] = 1;
        for (uint32_t p = 0; partners && p < s->pair_keys.count; p++) {
            if (s->pairs[p].from == ends[e])
                marks[s->pairs[p].to] = 1;
            if (s->pairs[p].to == ends[e])
                marks[s->pairs[p].from] = 1;
        }
    }
}

static bool symptoms_is_place(const struct scope_finding *f)
{
    const enum scope_kind kind = f->members[0].kind;
    return kind == SCOPE_NODE || kind == SCOPE_NODE_PAIR || kind == SCOPE_RANK;
}

/* Are all nodes of a finding among the partners of the culprit? */
static bool symptoms_is_near(const struct scopes *s, const struct scope_finding *symptom,
                             const struct scope_finding *culprit, uint8_t *marks)
{
    uint8_t *own = marks + s->nodes;
    memset(marks, 0, 2 * (size_t)s->nodes);
    for (uint32_t m = 0; m < culprit->member_count; m++)
        symptoms_mark(s, &culprit->members[m], true, marks);
    for (uint32_t m = 0; m < symptom->member_count; m++)
        symptoms_mark(s, &symptom->members[m], false, own);
    for (uint32_t n = 0; n < s->nodes; n++) {
        if (own[n] && !marks[n])
            return false;
    }
    return true;
}

static bool symptoms_has_row(const struct scopes *s, const struct scope_finding *f,
                             const struct scope_row *row)
{
    bool has = false;
    for (uint32_t m = 0; m < f->member_count; m++)
        has |= scopes_row_is_in(s, &f->members[m], row) != 0;
    return has;
}

/* Do other messages that the senders of pairs of nodes send, and others that their receivers
 * receive, surely not deviate by as much as a finding has to?
 * @param marks  by rank */
static bool symptoms_is_apart(struct scopes *s, const struct scope_finding *f, uint8_t *marks)
{
    const struct scope_rows *rows = scopes_newest(s);
    double weight[2] = {0}, product[2] = {0};
    memset(marks, 0, s->ranks);
    for (size_t i = 0; i < rows->count; i++) {
        if (!symptoms_has_row(s, f, &rows->list[i]))
            continue;
        marks[rows->list[i].source] |= SENDS;
        marks[rows->list[i].destination] |= RECEIVES;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct scope_row *row = &rows->list[i];
        const bool ends[] = {marks[row->source] & SENDS, marks[row->destination] & RECEIVES};
        if ((!ends[0] && !ends[1]) || scopes_row_is_explained(s, row))
            continue;
        for (int end = 0; end < 2; end++) {
            weight[end] += ends[end] ? scope_round(row->weight) : 0;
            product[end] += ends[end] ? scope_round(row->weight * row->y) : 0;
        }
    }
    bool apart = f->members[0].kind == SCOPE_NODE_PAIR;
    for (int end = 0; end < 2; end++)
        apart = apart && weight[end] > 0 &&
                product[end] / weight[end] + SURE / sqrt(weight[end]) < log(SCOPE_MINIMUM);
    return apart;
}

/* Does each rank that receives messages of some pairs of nodes receive some of the culprit as well?
 * Where one call completes all messages of a rank, all seem to take as long as the slowest one.
 * @param marks  by rank */
static bool symptoms_is_shared(struct scopes *s, const struct scope_finding *f,
                               const struct scope_finding *culprit, uint8_t *marks)
{
    const struct scope_rows *rows = scopes_newest(s);
    bool shared = f->members[0].kind == SCOPE_NODE_PAIR, any = false;
    memset(marks, 0, s->ranks);
    for (size_t i = 0; i < rows->count; i++)
        if (symptoms_has_row(s, culprit, &rows->list[i]))
            marks[rows->list[i].destination] = 1;
    for (size_t i = 0; shared && i < rows->count; i++) {
        if (!symptoms_has_row(s, f, &rows->list[i]))
            continue;
        any = true;
        shared = marks[rows->list[i].destination] != 0;
    }
    return shared && any;
}

static bool symptoms_begin_together(const struct scope_finding *f, const struct scope_finding *g)
{
    return f->onset <= g->onset + DELAY_WINDOWS && g->onset <= f->onset + DELAY_WINDOWS;
}

/* Many ranks that are late alike, when messages began to take longer, wait for these messages; and
 * so does a rank whose delay costs less than they do. */
static bool symptoms_is_delay(const struct scope_finding *f, const struct scope_finding *culprit)
{
    return f->part == SCOPE_LATENESS && culprit->part == SCOPE_TRANSFER &&
           (f->uncertain || (symptoms_is_place(culprit) && culprit->members[0].kind != SCOPE_RANK &&
                             culprit->peak_ns >= f->peak_ns)) &&
           symptoms_begin_together(f, culprit);
}

/* Messages that take a little longer when a rank begins to hold up others: it takes the cores or
 * the memory that they need. */
static bool symptoms_is_load(const struct scope_finding *f, const struct scope_finding *culprit)
{
    const struct scope *first = &f->members[0];
    const bool near = first->kind == SCOPE_RANK || first->direction == SCOPE_WITHIN;
    const double more = near ? 1 : COSTS_MORE;
    return f->part == SCOPE_TRANSFER && culprit->part == SCOPE_LATENESS && !culprit->uncertain &&
           culprit->onset <= f->onset + DELAY_WINDOWS && culprit->peak_ns >= more * f->peak_ns;
}

/* Are pairs of nodes among those of a node that is slow itself, and cost no more? They differ in
 * how much of the flight can be seen: what arrives while its receiver is busy does not seem slow,
 * and what can be seen changes when the ranks are held up otherwise. */
static bool symptoms_is_part(const struct scope_finding *f, const struct scope_finding *culprit)
{
    const bool later = f->onset > culprit->onset && f->peak_ns <= culprit->peak_ns;
    if (f->members[0].kind != SCOPE_NODE_PAIR || culprit->members[0].kind != SCOPE_NODE ||
        (!later && !symptoms_begin_together(f, culprit)))
        return false;
    for (uint32_t m = 0; m < f->member_count; m++) {
        bool found = false;
        for (uint32_t c = 0; c < culprit->member_count; c++)
            found |= f->members[m].a == culprit->members[c].a ||
                     f->members[m].b == culprit->members[c].a;
        if (!found)
            return false;
    }
    return true;
}

/* What messages deviate by from what they usually take, before findings were subtracted. */
static double symptoms_deviation(const struct scopes *s, const struct scope_row *row)
{
    return row->x - s->series[row->series].mean;
}

static uint32_t symptoms_octave(const struct scopes *s, const struct scope_row *row)
{
    const double octave = s->series[row->series].mean / log(2);
    return (uint32_t)scope_limit(octave, 0, OCTAVES - 1);
}

/* Does most of what messages of a finding take longer lie in messages of the culprit, and do those
 * of these that usually take as long, but are not in the finding, deviate by as much? */
static bool symptoms_is_share(struct scopes *s, const struct scope_finding *f,
                              const struct scope_finding *culprit)
{
    const struct scope_rows *rows = scopes_newest(s);
    struct scope_sum own[OCTAVES] = {{.lasting = 0}}, others[OCTAVES] = {{.lasting = 0}};
    double excess[2] = {0}, weight = 0, product = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct scope_row *row = &rows->list[i];
        const bool in = symptoms_has_row(s, f, row), shared = symptoms_has_row(s, culprit, row);
        if ((!in && !shared) || s->series[row->series].seen < KNOWN)
            continue;
        const double deviation = symptoms_deviation(s, row);
        struct scope_sum *sum = &(in ? own : others)[symptoms_octave(s, row)];
        sum->weight[0] += scope_round(row->weight);
        sum->product[0] += scope_round(row->weight * deviation);
        if (in && deviation > 0)
            excess[shared] += rint(row->messages * exp(row->x) * (1 - exp(-deviation)));
    }
    for (uint32_t o = 0; o < OCTAVES; o++) {
        if (own[o].weight[0] <= 0 || others[o].weight[0] <= 0)
            continue;
        weight += own[o].weight[0];
        product +=
            own[o].product[0] - own[o].weight[0] * others[o].product[0] / others[o].weight[0];
    }
    return weight > 0 && excess[1] >= MOSTLY * (excess[0] + excess[1]) &&
           product / weight - SURE / sqrt(weight) < log(SCOPE_MINIMUM);
}

static bool symptoms_follows(struct scopes *s, const struct scope_finding *f,
                             const struct scope_finding *culprit, uint8_t *marks)
{
    if (symptoms_is_delay(f, culprit) || symptoms_is_load(f, culprit))
        return true;
    if (f->part != SCOPE_TRANSFER || culprit->part != SCOPE_TRANSFER)
        return false;
    if (culprit->onset <= f->onset + DELAY_WINDOWS && culprit->peak_ns >= f->peak_ns &&
        symptoms_is_share(s, f, culprit))
        return true;
    if (!symptoms_is_place(f) || !symptoms_is_place(culprit))
        return false;
    if (symptoms_is_part(f, culprit))
        return true;
    if (culprit->onset > f->onset + LATER_WINDOWS)
        return false;
    if (culprit->peak_ns >= f->peak_ns && symptoms_is_shared(s, f, culprit, marks))
        return !symptoms_is_apart(s, f, marks);
    return culprit->peak_ns >= COSTS_MORE * f->peak_ns && symptoms_is_near(s, f, culprit, marks) &&
           !symptoms_is_apart(s, f, marks);
}

/* Ranks that were late because of a culprit, and pairs of a slow node, are not followed any longer
 * when the culprit is over: those that stay late, or slow, become findings of their own later.
 * Without memory, nothing is a symptom. */
void scopes_find_symptoms(struct scopes *s)
{
    uint8_t *marks = s->open_count > 1 ? malloc(2 * (size_t)s->nodes + s->ranks + 1) : NULL;
    for (uint32_t i = 0; i < s->open_count; i++) {
        struct scope_finding *f = &s->open[i].finding;
        f->symptom_of = 0;
        for (uint32_t k = 0; marks != NULL && k < s->open_count; k++) {
            const struct scope_finding *g = &s->open[k].finding;
            if (k == i || !symptoms_follows(s, f, g, marks))
                continue;
            f->symptom_of = g->id;
            f->over |= g->over && (f->part == SCOPE_LATENESS || symptoms_is_part(f, g));
        }
    }
    free(marks);
}
