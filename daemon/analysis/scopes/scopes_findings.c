/* Findings that are open: their effects are estimated in every window until they are over. */
#include "daemon/analysis/scopes/scopes_state.h"

#include <math.h>
#include <string.h>

/* By the bench of faults, 10 seeds (--first 660000) each of a node, a pair and calm jobs in the
 * plane with common noise, a node with heavy tails and four nodes: with half and with double of
 * each of these the same are named, as soon, and no calm one. These kinds neither end nor have
 * findings that are joined late. */
#define RELATED_WINDOWS 3u /* members of one finding begin within so many windows */
#define JOIN_WINDOWS 8u    /* a member may be found so many windows after the finding */
#define COMPARABLE 4.0     /* times: members that are named are about as slow */
#define LEAST_OTHERS 0.1   /* of the weight: so much must be outside of all findings */
#define BACK 0.1           /* an effect below this is back at the former level ... */
#define BACK_DEVIATIONS 2  /* ... or so many standard deviations */
#define ONE_WAY 0.5 /* times the effect: what a node sends, or receives, deviates by less ... */
#define ONE_WAY_WINDOWS 2u /* ... in so many windows: the other messages are the scope */

/* ---- scopes of rows ------------------------------------------------------ */

static int findings_pair_has_link(const struct scopes *s, const struct scope_pair *pair,
                                  uint32_t link)
{
    for (uint32_t i = 0; pair->links != UINT32_MAX && i < pair->links; i++) {
        if (s->links[pair->first_link + i] == link)
            return 1;
    }
    return 0;
}

static int findings_node_has(const struct scope *scope, uint32_t from, uint32_t to)
{
    const int out = from == scope->a && to != scope->a, in = to == scope->a && from != scope->a;
    switch (scope->direction) {
    case SCOPE_OUT:
        return out;
    case SCOPE_IN:
        return in;
    case SCOPE_BOTH:
        return out || in;
    case SCOPE_WITHIN:
        return from == scope->a && to == scope->a;
    case SCOPE_ALL:
    default:
        return from == scope->a || to == scope->a;
    }
}

static int findings_rank_has(const struct scope *scope, uint32_t source, uint32_t destination)
{
    return (source == scope->a && scope->direction != SCOPE_IN) ||
           (destination == scope->a && scope->direction != SCOPE_OUT);
}

static int findings_has(const struct scopes *s, const struct scope *scope, uint32_t source,
                        uint32_t destination, const struct scope_pair *pair)
{
    const uint32_t from = s->node_of[source], to = s->node_of[destination];
    switch (scope->kind) {
    case SCOPE_JOB:
        return 1;
    case SCOPE_INTRA:
        return from == to;
    case SCOPE_INTER:
        return from != to;
    case SCOPE_NODE:
        return findings_node_has(scope, from, to);
    case SCOPE_NODE_PAIR:
        return (from == scope->a && to == scope->b) ||
               (scope->direction == SCOPE_BOTH && from == scope->b && to == scope->a);
    case SCOPE_LINK:
        return pair != NULL && findings_pair_has_link(s, pair, scope->a);
    case SCOPE_RANK:
    default:
        return findings_rank_has(scope, source, destination);
    }
}

int scopes_row_is_in(const struct scopes *s, const struct scope *scope, const struct scope_row *row)
{
    return findings_has(s, scope, row->source, row->destination, &s->pairs[row->pair]);
}

int scopes_covers(const struct scopes *s, const struct scope *scope, uint32_t source,
                  uint32_t destination)
{
    if (source >= s->ranks || destination >= s->ranks)
        return 0;
    const uint32_t pair =
        key_table_find(&s->pair_keys, (struct key){s->node_of[source], s->node_of[destination]});
    return findings_has(s, scope, source, destination, pair == KEY_NONE ? NULL : &s->pairs[pair]);
}

/* ---- effects ------------------------------------------------------------- */

/* The members of open findings about transfers that have a row. */
struct cover {
    double largest, sum;        /* of their effects */
    uint32_t count, culprits;   /* members, and those of findings that are no symptoms */
    const struct scope *member; /* when there is one, or one of a culprit */
    struct fit *only;           /* of this member */
    uint32_t finding;           /* its number in `open` */
    double effect;              /* its effect on messages of all lengths */
};

/* A member's rows in the newest window. */
struct fit {
    /* Of rows that no other member has, but for symptoms; by SCOPE_OUT, what the node of the scope
     * sends, and SCOPE_IN, all other rows. */
    double weight[2], product[2];
    double shared, shared_product; /* of all its rows */
};

/* What a member explains of a row. */
static double findings_effect(const struct scopes *s, const struct scope_open *open, uint32_t m,
                              const struct scope_row *row)
{
    return open->effects[m] * open->response.factor[scopes_row_octave(s, row)];
}

static struct cover findings_cover(const struct scopes *s, const struct scope_row *row,
                                   struct fit (*fits)[SCOPE_MEMBERS])
{
    struct cover cover = {.count = 0};
    for (uint32_t f = 0; f < s->open_count; f++) {
        const struct scope_open *open = &s->open[f];
        for (uint32_t m = 0; open->finding.part == SCOPE_TRANSFER && m < open->finding.member_count;
             m++) {
            if (!scopes_row_is_in(s, &open->finding.members[m], row))
                continue;
            const double effect = findings_effect(s, open, m, row);
            cover.largest = cover.count == 0 ? effect : fmax(cover.largest, effect);
            cover.sum += effect;
            cover.count++;
            if (open->finding.symptom_of != 0 && cover.culprits > 0)
                continue;
            cover.member = &open->finding.members[m];
            cover.only = fits != NULL ? &fits[f][m] : NULL;
            cover.finding = f;
            cover.effect = open->effects[m];
            cover.culprits += open->finding.symptom_of == 0;
        }
    }
    return cover;
}

int scopes_row_is_explained(const struct scopes *s, const struct scope_row *row)
{
    return findings_cover(s, row, NULL).count > 0;
}

/* The deviation of what is outside of all findings, by locality: it is common to all messages. */
static void findings_common(const struct scopes *s, double *common)
{
    const struct scope_rows *rows = &s->recent[s->windows % SCOPE_RECENT];
    double all[LOCALITIES] = {0}, others[LOCALITIES] = {0}, product[LOCALITIES] = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct scope_row *row = &rows->list[i];
        const enum locality l = scope_row_locality(row);
        const double weight = scope_round(row->weight);
        all[l] += weight;
        if (scopes_row_is_explained(s, row))
            continue;
        others[l] += weight;
        product[l] += scope_round(weight * row->y);
    }
    for (int l = 0; l < LOCALITIES; l++)
        common[l] = others[l] > LEAST_OTHERS * all[l] ? product[l] / others[l] : 0;
}

/* Effects of all members, of the rows that each has alone or shares with symptoms only. What is
 * slow at both its ends is no measure of either. */
static void findings_fit(struct scopes *s, struct fit (*fits)[SCOPE_MEMBERS])
{
    const struct scope_rows *rows = &s->recent[s->windows % SCOPE_RECENT];
    double common[LOCALITIES];
    findings_common(s, common);
    for (size_t i = 0; i < rows->count; i++) {
        const struct scope_row *row = &rows->list[i];
        const struct cover cover = findings_cover(s, row, fits);
        const double y = row->y - common[scope_row_locality(row)];
        const double weight = scope_round(row->weight), product = scope_round(weight * y);
        if (cover.count == 1 || cover.culprits == 1) {
            const bool sends = s->pairs[row->pair].from == cover.member->a;
            cover.only->weight[sends ? SCOPE_OUT : SCOPE_IN] += weight;
            cover.only->product[sends ? SCOPE_OUT : SCOPE_IN] += product;
        }
        for (uint32_t f = 0; cover.count > 1 && f < s->open_count; f++) {
            const struct scope_finding *finding = &s->open[f].finding;
            for (uint32_t m = 0; finding->part == SCOPE_TRANSFER && m < finding->member_count;
                 m++) {
                const int in = scopes_row_is_in(s, &finding->members[m], row);
                fits[f][m].shared += in ? weight : 0;
                fits[f][m].shared_product += in ? product : 0;
            }
        }
    }
}

static double findings_largest(const double *effects, uint32_t count)
{
    double largest = effects[0];
    for (uint32_t m = 1; m < count; m++)
        largest = fmax(largest, effects[m]);
    return largest;
}

/* Members that were much less slow than others are symptoms: they are explained, not named. */
static int findings_is_named(const struct scope_open *open, uint32_t member)
{
    return open->finding.part != SCOPE_TRANSFER ||
           open->worst[member] >=
               findings_largest(open->worst, open->finding.member_count) - log(COMPARABLE);
}

/* When only one direction of a node goes on deviating, the finding is about that one: the other
 * surely deviates by much less than both together. In the first windows of a fault both may, since
 * ranks are held up that had been sending.
 * @param effect  of both */
static void findings_narrow(struct scope_open *open, uint32_t m, const struct fit *fit,
                            double effect)
{
    struct scope *scope = &open->finding.members[m];
    const bool both = scope->kind == SCOPE_NODE && scope->direction == SCOPE_BOTH && effect > 0;
    for (int way = SCOPE_OUT; way <= SCOPE_IN; way++) {
        const double weight = fit->weight[1 - way];
        const bool alone =
            both && weight > 0 &&
            fit->product[1 - way] / weight + BACK_DEVIATIONS / sqrt(weight) < ONE_WAY * effect;
        open->alone[way][m] = alone ? open->alone[way][m] + 1 : 0;
        if (open->alone[way][m] < ONE_WAY_WINDOWS)
            continue;
        scope->direction = (enum scope_direction)way;
        open->effects[m] = fit->product[way] / fit->weight[way];
    }
}

/* Is a mean deviation of so much weight that of the former level? */
static bool findings_is_back(double effect, double weight)
{
    return effect < fmax(BACK, BACK_DEVIATIONS / sqrt(weight));
}

/* Are the windows of a run, in each of which every member that is named may be back at its former
 * level, so many that it is over? Few messages of a window may be fast by chance: those of all its
 * windows together have to be back as well. */
static bool findings_are_back(const struct scope_open *open)
{
    bool back = open->good >= SCOPE_OVER;
    for (uint32_t m = 0; m < open->finding.member_count; m++) {
        const double weight = open->good_weight[m];
        if (weight > 0 && findings_is_named(open, m))
            back = back && findings_is_back(open->good_product[m] / weight, weight);
    }
    return back;
}

static void findings_end_run(struct scope_open *open)
{
    open->good = 0;
    memset(open->good_product, 0, sizeof(open->good_product));
    memset(open->good_weight, 0, sizeof(open->good_weight));
}

/* Without messages nothing is known. */
static void findings_judge(struct scope_open *open, const struct fit *fits)
{
    bool known = false, back = true;
    for (uint32_t m = 0; m < open->finding.member_count; m++) {
        const double own = fits[m].weight[SCOPE_OUT] + fits[m].weight[SCOPE_IN];
        const double weight = own > 0 ? own : fits[m].shared;
        const double product = own > 0 ? fits[m].product[SCOPE_OUT] + fits[m].product[SCOPE_IN]
                                       : fits[m].shared_product;
        if (weight <= 0)
            continue;
        known |= findings_is_named(open, m) != 0;
        open->effects[m] = product / weight;
        open->good_product[m] += product;
        open->good_weight[m] += weight;
        back = back && (!findings_is_named(open, m) || findings_is_back(open->effects[m], weight));
        findings_narrow(open, m, &fits[m], open->effects[m]);
    }
    if (known && back)
        open->good++;
    else if (known)
        findings_end_run(open);
    open->finding.over = findings_are_back(open);
}

void scopes_explain(struct scopes *s)
{
    struct fit fits[SCOPE_FINDINGS][SCOPE_MEMBERS] = {{{.shared = 0}}};
    struct scope_response responses[SCOPE_FINDINGS] = {{.product = {0}}};
    struct scope_rows *rows = scopes_newest(s);
    if (s->open_count == 0)
        return;
    findings_fit(s, fits);
    for (uint32_t f = 0; f < s->open_count; f++) {
        if (s->open[f].finding.part == SCOPE_TRANSFER)
            findings_judge(&s->open[f], fits[f]);
    }
    /* Two faults on one way may add up, or hide each other: all between is explained. */
    for (size_t i = 0; i < rows->count; i++) {
        const struct cover cover = findings_cover(s, &rows->list[i], NULL);
        struct scope_row *row = &rows->list[i];
        const double y = row->y;
        if (cover.count == 1)
            scope_response_add(&responses[cover.finding], scopes_row_octave(s, row), row->weight, y,
                               cover.effect);
        if (cover.count > 0)
            row->y -= (float)fmin(fmax(y, fmin(cover.largest, cover.sum)),
                                  fmax(cover.largest, cover.sum));
    }
    for (uint32_t f = 0; f < s->open_count; f++)
        scope_response_merge(&s->open[f].response, &responses[f]);
}

/* ---- findings ------------------------------------------------------------ */

/* The member that is the scope, in whichever direction. @return member_count: none is */
static uint32_t findings_find_member(const struct scope_open *open, const struct scope *scope)
{
    uint32_t m = 0;
    for (; m < open->finding.member_count; m++) {
        const struct scope *member = &open->finding.members[m];
        if (member->kind == scope->kind &&
            ((member->a == scope->a && member->b == scope->b) ||
             (scope->kind == SCOPE_NODE_PAIR && member->a == scope->b && member->b == scope->a)))
            break;
    }
    return m;
}

/* What remained of a member has grown as well. */
static void findings_grow_member(struct scope_open *open, uint32_t m, const struct scope *scope,
                                 double effect)
{
    struct scope *member = &open->finding.members[m];
    findings_end_run(open);
    open->finding.over = 0;
    open->effects[m] += effect;
    if ((member->direction == SCOPE_WITHIN) != (scope->direction == SCOPE_WITHIN))
        member->direction = SCOPE_ALL;
    else if (member->a != scope->a || member->direction != scope->direction)
        member->direction = SCOPE_BOTH;
}

/* May a scope whose deviation began at `onset` still be part of a finding? Faults that begin
 * together are one. */
static int findings_may_join(const struct scopes *s, const struct scope_finding *f,
                             enum scope_part part, uint64_t onset)
{
    const uint64_t apart = f->onset > onset ? f->onset - onset : onset - f->onset;
    return f->part == part && !f->over && apart <= RELATED_WINDOWS &&
           s->number - f->found <= JOIN_WINDOWS;
}

/* Is a scope that is no member yet one of the same kind as the members, so that both are one
 * finding? */
static int findings_is_related(const struct scopes *s, const struct scope_open *open,
                               const struct scope *scope, enum scope_part part, uint64_t onset)
{
    const struct scope_finding *f = &open->finding;
    return findings_may_join(s, f, part, onset) && f->members[0].kind == scope->kind &&
           (f->members[0].direction == SCOPE_WITHIN) == (scope->direction == SCOPE_WITHIN) &&
           f->member_count < SCOPE_MEMBERS && scope->kind > SCOPE_INTER;
}

static void findings_add_member(struct scope_open *open, const struct scope *scope, uint64_t onset,
                                double effect)
{
    struct scope_finding *f = &open->finding;
    uint32_t at = f->member_count;
    while (at > 0 && (f->members[at - 1].a > scope->a ||
                      (f->members[at - 1].a == scope->a && f->members[at - 1].b > scope->b))) {
        f->members[at] = f->members[at - 1];
        open->effects[at] = open->effects[at - 1];
        open->worst[at] = open->worst[at - 1];
        at--;
    }
    f->members[at] = *scope;
    open->effects[at] = open->worst[at] = effect;
    memset(open->alone, 0, sizeof(open->alone));
    f->member_count++;
    f->onset = onset < f->onset ? onset : f->onset;
    findings_end_run(open);
}

/* The messages of a node that a pair of nodes has. */
static enum scope_direction findings_end(const struct scope *pair, uint32_t node)
{
    return pair->direction != SCOPE_OUT ? SCOPE_BOTH : pair->a == node ? SCOPE_OUT : SCOPE_IN;
}

/* Pairs of a node that became slow first are slow because the node is: it takes their place. */
static struct scope_open *findings_widen(struct scopes *s, const struct scope *node, uint64_t onset,
                                         double effect)
{
    for (uint32_t f = 0; f < s->open_count; f++) {
        struct scope_finding *finding = &s->open[f].finding;
        struct scope whole = *node;
        bool all = findings_may_join(s, finding, SCOPE_TRANSFER, onset);
        for (uint32_t m = 0; all && m < finding->member_count; m++) {
            const struct scope *pair = &finding->members[m];
            all = pair->kind == SCOPE_NODE_PAIR && (pair->a == node->a || pair->b == node->a);
            if (whole.direction != SCOPE_ALL && whole.direction != findings_end(pair, node->a))
                whole.direction = SCOPE_BOTH;
        }
        if (!all)
            continue;
        finding->member_count = finding->alternative_count = 0;
        findings_add_member(&s->open[f], &whole, onset, effect);
        return &s->open[f];
    }
    return NULL;
}

struct scope_open *scopes_open_finding(struct scopes *s, const struct scope *scope,
                                       enum scope_part part, uint64_t onset, double effect)
{
    struct scope_open *wider =
        part == SCOPE_TRANSFER && scope->kind == SCOPE_NODE && scope->direction != SCOPE_WITHIN
            ? findings_widen(s, scope, onset, effect)
            : NULL;
    if (wider != NULL)
        return wider;
    for (uint32_t f = 0; f < s->open_count; f++) {
        struct scope_open *open = &s->open[f];
        const uint32_t m = findings_find_member(open, scope);
        if (open->finding.part == part && m < open->finding.member_count)
            findings_grow_member(open, m, scope, effect);
        else if (findings_is_related(s, open, scope, part, onset))
            findings_add_member(open, scope, onset, effect);
        else
            continue;
        return open;
    }
    if (s->open_count == SCOPE_FINDINGS)
        return NULL;
    struct scope_open *open = &s->open[s->open_count++];
    memset(open, 0, sizeof(*open));
    open->finding = (struct scope_finding){
        .id = ++s->next_id, .part = part, .onset = onset, .found = s->number};
    findings_add_member(open, scope, onset, effect);
    return open;
}

void scopes_drop_ended(struct scopes *s)
{
    uint32_t kept = 0;
    for (uint32_t f = 0; f < s->open_count; f++) {
        if (!s->open[f].finding.over)
            s->open[kept++] = s->open[f];
    }
    s->open_count = kept;
}

/* ---- figures ------------------------------------------------------------- */

static double findings_row_excess(const struct scope_row *row, double effect)
{
    return effect > 0 ? row->messages * exp(row->x) * (1 - exp(-effect)) : 0;
}

/* Sum up by how much the messages of the window took longer: of each finding, and of all. */
static void findings_sum_excess(struct scopes *s)
{
    const struct scope_rows *rows = scopes_newest(s);
    double all = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct scope_row *row = &rows->list[i];
        double rest = row->y;
        for (uint32_t f = 0; f < s->open_count; f++) {
            struct scope_finding *finding = &s->open[f].finding;
            double effect = 0;
            for (uint32_t m = 0; finding->part == SCOPE_TRANSFER && m < finding->member_count; m++)
                effect += scopes_row_is_in(s, &finding->members[m], row)
                              ? findings_effect(s, &s->open[f], m, row)
                              : 0;
            const double excess = rint(findings_row_excess(row, effect));
            finding->excess_ns += excess;
            finding->messages += effect != 0 ? (uint64_t)row->messages : 0;
            rest += effect;
        }
        all += rint(findings_row_excess(row, rest));
    }
    for (uint32_t f = 0; f < s->open_count; f++) {
        struct scope_finding *finding = &s->open[f].finding;
        finding->share = all > 0 ? fmin(finding->excess_ns / all, 1) : 0;
    }
}

void scopes_sum_excess(struct scopes *s)
{
    for (uint32_t f = 0; f < s->open_count; f++) {
        if (s->open[f].finding.part != SCOPE_TRANSFER)
            continue;
        s->open[f].finding.excess_ns = 0;
        s->open[f].finding.messages = 0;
    }
    if (s->open_count > 0)
        findings_sum_excess(s);
}

static void findings_publish(const struct scope_open *open, struct scope_finding *out)
{
    const uint32_t count = open->finding.member_count;
    *out = open->finding;
    out->member_count = 0;
    for (uint32_t m = 0; m < count; m++) {
        if (!findings_is_named(open, m))
            continue;
        out->members[out->member_count] = open->finding.members[m];
        out->effects[out->member_count++] = exp(open->effects[m]);
    }
}

void scopes_report(struct scopes *s)
{
    for (uint32_t f = 0; f < s->open_count; f++) {
        struct scope_finding *finding = &s->open[f].finding;
        for (uint32_t m = 0; m < finding->member_count; m++)
            s->open[f].worst[m] = fmax(s->open[f].worst[m], s->open[f].effects[m]);
        finding->ratio = exp(findings_largest(s->open[f].effects, finding->member_count));
        finding->worst = fmax(finding->worst, finding->ratio);
        finding->peak_ns = fmax(finding->peak_ns, finding->excess_ns);
    }
    scopes_find_symptoms(s);
    for (uint32_t f = 0; f < s->open_count; f++)
        findings_publish(&s->open[f], &s->results[f]);
}
