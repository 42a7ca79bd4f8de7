/* Which scopes have deviated for long enough, and which of them explain the deviations of all. */
#include "daemon/analysis/scopes/scopes_state.h"

#include <math.h>
#include <string.h>

/* By the bench of faults, 10 seeds (--first 530000) each of four kinds of faults (a node and a pair
 * in the plane with common noise, four nodes, a drift of 5 % a window) and of the calm plane, with
 * half and with double of each: none calm has a finding. The same are named with DRIFT (with double
 * the onset of the drift is off by 3.9 windows, not 1.1), STEP, ONSET_SHARE (double: 2.6),
 * LARGER_STEP (half: 2.9) and LIKE_THE_PAIR; with double of NEARLY 8 of the 10 pairs, not 9.
 *
 * Of ten kinds (--first 660000: the plane as above, heavy tails, a drift, one message in two
 * windows, each third window, messages within a node, a step of all) the same are named with
 * LEAST_WINDOWS (double: found 1 to 2 windows later), SCOPE_IDLE and DECIDED; with half of WHOLE
 * as many, with double no step of all is named rightly; with half of KNOWN_WELL 9 of 10 pairs in
 * the plane, not 10. */
#define DRIFT 0.1          /* of CUSUM: deviations below 10 % do not count */
#define STEP 6.0           /* standard deviations that one window counts at most */
#define LARGER_STEP 2.0f   /* times the mean of an excursion is a step within it */
#define FEW_EXCURSION 3.0f /* of CUSUM in jobs of few pairs: by the benchmark of streams */
#define NOISE_LIMIT 3.0    /* standard deviations that an effect counts as noise */
#define LAG_PRIOR 3.0f     /* windows without correlation that are assumed before the first */
#define LAG_ENDS 0.01      /* correlation that no longer counts */
#define MOST_LAG 0.95      /* correlation that is believed */
#define LEAST_WINDOWS 2u   /* that a deviation has to last */
#define PEAK_FLOOR 3.0     /* standard deviations, from which on peaks of noise are learned */
#define NEARLY 0.6         /* of the threshold: a scope that deviates so much may explain others */
#define ONSET_SHARE 0.3    /* of the effect now: with less a window lies before the onset */
#define LIKE_THE_PAIR 0.4  /* of its effect: other pairs of its node deviate as well */
#define WHOLE 0.75         /* of its effect: messages of both localities deviate */
#define SAME 1e-9          /* gains that differ by less are equal */
#define DECIDED 5u         /* windows of an excursion: then a node or its pair is named */
#define KNOWN_WELL 0.01    /* variance of an effect below which more messages tell no more */
#define CHANCE 1e-3        /* that the node deviates, below which its pair is named at once */
#define LIKELY 0.1         /* the same in the end; both by the benchmark of faults */
/* Of the effect of two nodes: when others deviate by less, the two explain it. By 40 jobs with two
 * slow links, and 40 with traffic of others: with half of it one link less is named, with double
 * one of traffic less; with half of REST_SURE as many, with double one link less. */
#define REST 0.3
#define REST_SURE 2.0    /* standard deviations by which it is less */
#define LEAST_PART 0.125 /* of the weight: one of the two has so much; half and double as many */

/* A candidate that was chosen. */
struct choice {
    enum scope_table_kind kind;
    uint32_t i;
    double effect, gain;
    bool significant;
};

/* ---- following ----------------------------------------------------------- */

static double track_effect(const struct scope_track *track)
{
    return track->weight > 0 ? track->product / track->weight : 0;
}

static void track_restart(struct scope_track *track, uint32_t window)
{
    *track = (struct scope_track){.before = track->before,
                                  .newest = track->newest,
                                  .newest_weight = track->newest_weight,
                                  .start = window,
                                  .last = window,
                                  .noise = track->noise};
}

/* Effects of one kind of scope differ by more than their messages explain: by `spread`, which is
 * moved until squared deviations are as large as expected. A scope weighs by the reciprocal of the
 * squared variance of its effect: what many scopes with few messages are expected to vary by is
 * known less exactly than what the few with many messages vary by beyond it. */
struct spread_sum {
    double excess, weight;
};

static void spread_add(struct spread_sum *sum, enum scope_table_kind kind,
                       const struct scope_estimate *e)
{
    /* Common noise, and the spread of pairs, are part of the weight. */
    const double variance =
        kind == TABLE_PAIR || kind == TABLE_LOCALITY ? 1 / e->evidence : e->variance;
    const double square = fmin(e->effect * e->effect, SCOPE_SPREAD_CLIP * variance);
    const double weight = 1 / ((variance + KNOWN_WELL) * (variance + KNOWN_WELL));
    sum->excess += scope_round(weight * (square - variance));
    sum->weight += scope_round(weight);
}

/* A long excursion is no noise, nor is a short one where a fault would hide in the spread that it
 * causes. */
static float spread_limit(const struct scopes *s)
{
    return scopes_are_few(s) ? FEW_EXCURSION : 2 * (float)SCOPE_EXCURSION;
}

static double spread_follow(const struct scopes *s, double spread, const struct spread_sum *sum)
{
    /* References that were just learned have the noise of the first windows in them. */
    const uint32_t first = SCOPE_KNOWN / 2;
    if (sum->weight <= 0 || s->windows < first)
        return spread;
    const double rate = scope_rate(s->windows - first + 1, SCOPE_SPREAD_MEMORY);
    return fmax(spread + rate * sum->excess / sum->weight, SCOPE_LEAST_SPREAD);
}

/* A step within an excursion that noise has begun: the excursion begins with the step. */
static void track_begin_with_step(struct scope_track *track)
{
    const float weight = track->before_weight + track->newest_weight;
    const float product =
        track->before * track->before_weight + track->newest * track->newest_weight;
    const float earlier = track->weight - weight;
    if (earlier <= 0 || fminf(track->before, track->newest) <
                            LARGER_STEP * fmaxf(track->product - product, 0) / earlier)
        return;
    track->start = track->last - 1;
    track->product = product;
    track->weight = weight;
}

/* Learn from the effect of a window that follows the one before. Far ones count up to a limit. */
static void track_learn_noise(struct scope_track *track, const struct scope_estimate *e)
{
    const double most = NOISE_LIMIT * sqrt(e->variance);
    const double effect = scope_limit(e->effect, -most, most);
    const double before = scope_limit(track->before, -most, most);
    struct scope_noise *noise = &track->noise;
    noise->product += (float)(effect * before) - noise->product / SCOPE_SPREAD_MEMORY;
    noise->square += (float)(effect * effect) - noise->square / SCOPE_SPREAD_MEMORY;
    if (track->cusum < SCOPE_BEGUN)
        noise->lag = (float)scope_limit(
            noise->product / (noise->square + LAG_PRIOR * (float)e->variance), 0, MOST_LAG);
}

static void track_follow(struct scope_track *track, const struct scope_estimate *e, uint32_t window)
{
    const double z = (e->effect - DRIFT) / sqrt(e->variance);
    const bool follows = window - track->last == 1 && window >= SCOPE_KNOWN / 2;
    if (window - track->last > SCOPE_IDLE)
        track_restart(track, window);
    if (track->weight <= 0) /* windows without messages may have gone by */
        track->start = window;
    track->last = window;
    track->before = track->newest;
    track->before_weight = track->newest_weight;
    track->newest = (float)e->effect;
    track->newest_weight = (float)e->evidence;
    if (follows)
        track_learn_noise(track, e);
    track->cusum = (float)fmax(0, track->cusum + fmin(fmax(z, -STEP), STEP));
    if (track->cusum <= 0) {
        track_restart(track, window);
        track->start = window + 1;
        return;
    }
    track->product += (float)(e->effect * e->evidence);
    track->weight += (float)e->evidence;
    track_begin_with_step(track);
}

/* Noise may have begun an excursion: both of the last two windows have to deviate. */
static bool track_lasts(const struct scope_track *track)
{
    const double least = log(SCOPE_MINIMUM) / 2;
    return track->before >= least && track->newest >= least;
}

/* Standard deviations by which a scope of a kind has to deviate. */
static double select_threshold(const struct scopes *s, enum scope_table_kind kind)
{
    const double normal = scopes_threshold(s, kind);
    const double reach =
        PEAK_FLOOR * PEAK_FLOOR + scope_peaks_reach(&s->tables[kind].peaks, SCOPE_FALSE_RATE);
    return kind == TABLE_LOCALITY ? normal : fmax(normal, sqrt(reach));
}

/* The same of a scope. @param threshold  of its kind */
static double track_threshold(const struct scopes *s, enum scope_table_kind kind, uint32_t i,
                              double threshold)
{
    return kind == TABLE_LOCALITY ? scopes_level_threshold(&s->common[i], threshold) : threshold;
}

/* By how much more the mean of successive windows varies than that of as many independent ones. */
static double track_repetition(const struct scopes *s, const struct scope_track *track,
                               uint32_t windows)
{
    const double lag = scopes_are_few(s) ? (double)track->noise.lag : 0;
    double factor = 1, power = lag;
    for (uint32_t k = 1; k < windows && power > LAG_ENDS; k++, power *= lag)
        factor += 2 * (1 - (double)k / windows) * power;
    return factor;
}

/* Standard deviations, where they are worth a finding; else 0. */
struct track_scores {
    double whole;  /* of the excursion */
    double recent; /* of the last two windows */
    bool lasts;    /* it deviates for long enough */
};

static double track_score(double effect, double variance)
{
    return effect >= log(SCOPE_MINIMUM) ? effect / sqrt(variance) : 0;
}

static struct track_scores track_compare(const struct scopes *s, const struct scope_track *track,
                                         const struct scope_estimate *e)
{
    const uint32_t windows = s->windows - track->start + 1;
    if (track->cusum <= 0 || track->last != s->windows || windows < LEAST_WINDOWS ||
        !track_lasts(track))
        return (struct track_scores){.whole = 0};
    const double weight = (double)track->before_weight + (double)track->newest_weight;
    const double recent = ((double)track->before * (double)track->before_weight +
                           (double)track->newest * (double)track->newest_weight) /
                          weight;
    return (struct track_scores){
        .lasts = true,
        .whole =
            track_score(track_effect(track), track_repetition(s, track, windows) / track->weight +
                                                 scopes_lasting(e, windows)),
        .recent =
            track_score(recent, track_repetition(s, track, 2) / weight + scopes_lasting(e, 2))};
}

/* The first window since which the deviation is significant, and worth a finding: the start of the
 * excursion, or the window before the last one: noise may have begun the excursion long ago.
 * @param of_kind  threshold of its kind @return UINT32_MAX: it is not */
static uint32_t track_raised_since(const struct scopes *s, enum scope_table_kind kind, uint32_t i,
                                   const struct track_scores *scores, double of_kind)
{
    const double threshold = track_threshold(s, kind, i, of_kind);
    if (scores->whole >= threshold)
        return s->tables[kind].tracks[i].start;
    if (scores->recent >= threshold ||
        (scores->lasts && kind == TABLE_LOCALITY && s->common[i].steps))
        return s->windows - 1;
    return UINT32_MAX;
}

/* Follow a scope, and learn how far its excursions go while nothing is found. */
static struct track_scores follow_scope(struct scopes *s, enum scope_table_kind kind, uint32_t i,
                                        const struct scope_estimate *e)
{
    struct scope_table *table = &s->tables[kind];
    struct scope_track *track = &table->tracks[i];
    const float peak = s->open_count == 0 && s->windows > SCOPE_KNOWN ? track->peak : 0;
    track_follow(track, e, s->windows);
    const struct track_scores scores = track_compare(s, track, e);
    if (track->cusum > 0)
        track->peak = fmaxf(peak, (float)fmax(scores.whole, scores.recent));
    else
        scope_peaks_add(&table->peaks, peak * peak - PEAK_FLOOR * PEAK_FLOOR);
    return scores;
}

/* @return first window of the earliest excursion that is raised; UINT32_MAX: none is */
static uint32_t follow_kind(struct scopes *s, enum scope_table_kind kind)
{
    struct scope_table *table = &s->tables[kind];
    struct spread_sum spread[LOCALITIES] = {{.weight = 0}};
    const double threshold = select_threshold(s, kind);
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < table->count; i++) {
        struct scope_estimate e;
        if (!scopes_estimate(s, kind, i, &e))
            continue;
        const struct track_scores scores = follow_scope(s, kind, i, &e);
        if (table->tracks[i].cusum < spread_limit(s))
            spread_add(&spread[scopes_locality(s, kind, i)], kind, &e);
        if (s->windows < SCOPE_CALM) {
            track_restart(&table->tracks[i], s->windows + 1);
        } else {
            const uint32_t since = track_raised_since(s, kind, i, &scores, threshold);
            first = since < first ? since : first;
        }
    }
    for (int l = 0; l < LOCALITIES; l++)
        table->spread[l] = spread_follow(s, table->spread[l], &spread[l]);
    if (s->windows >= SCOPE_KNOWN && s->open_count == 0)
        scope_peaks_end_window(&table->peaks);
    return first;
}

/* ---- searching ----------------------------------------------------------- */

/* The window, or the oldest whose rows are kept. */
static uint32_t search_reach(const struct scopes *s, uint32_t first)
{
    return s->windows - first < SCOPE_RECENT ? first : s->windows - SCOPE_RECENT + 1;
}

/* A preference among scopes with the same messages: the one that people act on. */
static int search_preference(enum scope_table_kind kind)
{
    static const int preference[SCOPE_TABLES] = {
        [TABLE_NODE] = 5, [TABLE_PAIR_BOTH] = 4, [TABLE_PAIR] = 3,
        [TABLE_LINK] = 2, [TABLE_RANK] = 1,      [TABLE_LOCALITY] = 0};
    return preference[kind];
}

/* Take the better choice. Scopes with the same messages are significant when one of them is: how
 * much scopes of its kind vary is another question for each. */
static void search_take_better(struct choice *best, const struct choice *other)
{
    const bool same = fabs(other->gain - best->gain) <= SAME * best->gain;
    const bool better = same ? search_preference(other->kind) > search_preference(best->kind)
                             : other->gain > best->gain;
    const bool significant = same && (best->significant || other->significant);
    if (better)
        *best = *other;
    best->significant |= significant;
}

/* A node or the job as a whole is a scope only if messages of both localities deviate. Else it is
 * the node's messages to and from others, or those of one locality. */
static bool search_is_whole(const struct scopes *s, enum scope_table_kind kind, uint32_t i,
                            double effect)
{
    const struct scope_sum *sum = &s->tables[kind].sums[i];
    bool whole = true;
    if ((kind != TABLE_NODE || i % 4 != SCOPE_ALL) && (kind != TABLE_LOCALITY || i != LEVEL_ALL))
        return true;
    for (uint32_t l = 0; l < LOCALITIES; l++)
        whole = whole && sum->product[l] >= WHOLE * effect * sum->weight[l];
    return whole;
}

/* The scope that explains most, and is significant or nearly so.
 * @return false: no scope is significant */
static bool search_best(const struct scopes *s, struct choice *best)
{
    bool any = false;
    *best = (struct choice){.gain = -1};
    for (int k = 0; k < SCOPE_TABLES; k++) {
        const double of_kind = select_threshold(s, k);
        for (uint32_t i = 0; i < s->tables[k].count; i++) {
            struct scope_estimate e;
            if (!scopes_estimate(s, k, i, &e))
                continue;
            const double threshold = track_threshold(s, k, i, of_kind);
            const bool steps =
                k == TABLE_LOCALITY && s->common[i].steps && e.effect >= log(SCOPE_MINIMUM) / 2;
            if ((!steps && e.effect < NEARLY * threshold * sqrt(e.variance)) ||
                !search_is_whole(s, k, i, e.effect))
                continue;
            const struct scope_track *track = &s->tables[k].tracks[i];
            const bool significant =
                steps || (e.effect >= log(SCOPE_MINIMUM) &&
                          e.effect >= threshold * sqrt(e.variance) && track_lasts(track));
            const struct choice choice = {k, i, e.effect, e.effect * e.effect * e.weight,
                                          significant};
            search_take_better(best, &choice);
            any |= significant;
        }
    }
    return any;
}

/* Do all pairs of a node, in a direction, deviate about as much as the chosen one? */
static bool search_node_deviates(const struct scopes *s, const struct choice *pair, uint32_t node,
                                 enum scope_direction direction)
{
    uint32_t pairs = 0;
    for (uint32_t p = 0; p < s->tables[TABLE_PAIR].count; p++) {
        const bool out = s->pairs[p].from == node && direction != SCOPE_IN;
        const bool in = s->pairs[p].to == node && direction != SCOPE_OUT;
        struct scope_estimate e;
        if ((!out && !in) || s->pairs[p].from == s->pairs[p].to ||
            !scopes_estimate(s, TABLE_PAIR, p, &e))
            continue;
        if (e.effect < LIKE_THE_PAIR * pair->effect)
            return false;
        pairs++;
    }
    return pairs > 1;
}

/* The natural logarithm of the chance that all messages of a node deviate, though those that have
 * done so lie on one of its pairs. Where few messages take very long, the mean of the pair rests on
 * few independent events: on its square by its variance, which the scatter of rows shows. If it is
 * the node, each falls on the pair with a probability that is the pair's share of the weight. */
static double search_node_chance(const struct scopes *s, const struct scope *pair,
                                 const struct scope *node, uint32_t first)
{
    double weight[2] = {0}, product[2] = {0}, square[2] = {0}, count[2] = {0}, scatter = 1;
    for (uint32_t w = first; w <= s->windows; w++) {
        const struct scope_rows *rows = &s->recent[w % SCOPE_RECENT];
        for (size_t i = 0; i < rows->count; i++) {
            const struct scope_row *row = &rows->list[i];
            const int own = scopes_row_is_in(s, pair, row);
            if (row->weight <= 0 || (!own && !scopes_row_is_in(s, node, row)))
                continue;
            weight[own] += scope_round(row->weight);
            product[own] += scope_round(row->weight * row->y);
            square[own] += scope_round(row->weight * row->y * row->y);
            count[own] += 1;
        }
    }
    if (weight[0] <= 0 || product[1] <= 0)
        return -INFINITY;
    for (int own = 0; own < 2; own++)
        scatter = fmax(scatter, (square[own] - product[own] * product[own] / weight[own]) /
                                    fmax(count[own] - 1, 1));
    const double events = product[1] * product[1] / weight[1] / scatter;
    const double expected = weight[1] / (weight[0] + weight[1]);
    const double seen = product[1] / (product[1] + fmax(product[0], 0));
    const double others = seen < 1 ? (1 / seen - 1) * log((1 - seen) / (1 - expected)) : 0;
    return seen <= expected ? 0 : -events * (log(seen / expected) + others) - log(expected);
}

/* Where all pairs of a node are slow, the node is the scope, though each pair has a deviation of
 * its own and the largest explains most. Where messages do not show yet whether it is the node,
 * further windows may. */
static void search_widen(const struct scopes *s, struct choice *best, uint32_t first)
{
    const struct scope scope = scopes_candidate(s, best->kind, best->i);
    const struct choice pair = *best;
    const bool late = s->windows - s->tables[pair.kind].tracks[pair.i].start + 1 >= DECIDED;
    for (int end = 0; scope.kind == SCOPE_NODE_PAIR && end < 2; end++) {
        const struct scope node = {SCOPE_NODE,
                                   scope.direction != SCOPE_OUT ? SCOPE_BOTH
                                   : end == 0                   ? SCOPE_OUT
                                                                : SCOPE_IN,
                                   end == 0 ? scope.a : scope.b, 0};
        const uint32_t i = 4 * node.a + node.direction;
        const bool deviates = search_node_deviates(s, &pair, node.a, node.direction);
        struct scope_estimate e;
        if ((!deviates &&
             search_node_chance(s, &scope, &node, first) < log(late ? LIKELY : CHANCE)) ||
            !scopes_estimate(s, TABLE_NODE, i, &e))
            continue;
        if (!deviates && !late)
            best->significant = false;
        else
            *best = (struct choice){TABLE_NODE, i, e.effect, e.effect * e.effect * e.weight,
                                    pair.significant};
        if (deviates)
            return;
    }
}

/* What messages between nodes surely deviate by at most when neither of two nodes has them, as a
 * part of what those of the two do.
 * @param second  may be the first */
static double search_rest(const struct scopes *s, uint32_t first, uint32_t second)
{
    const struct scope_sum *all = &s->tables[TABLE_LOCALITY].sums[LOCALITY_INTER];
    const struct key key = {first < second ? first : second, first < second ? second : first};
    const uint32_t pair = first == second ? KEY_NONE : key_table_find(&s->both_keys, key);
    const struct scope_sum none = {.lasting = 0};
    const struct scope_sum *nodes = s->tables[TABLE_NODE].sums;
    const struct scope_sum *one = &nodes[4 * first + SCOPE_BOTH];
    const struct scope_sum *other = first == second ? &none : &nodes[4 * second + SCOPE_BOTH];
    const struct scope_sum *both =
        pair == KEY_NONE ? &none : &s->tables[TABLE_PAIR_BOTH].sums[pair];
    const int l = LOCALITY_INTER;
    const double weight = one->weight[l] + other->weight[l] - both->weight[l];
    const double product = one->product[l] + other->product[l] - both->product[l];
    const double rest = all->weight[l] - weight;
    if (rest <= 0 || product <= 0)
        return INFINITY;
    return ((all->product[l] - product) / rest + REST_SURE / sqrt(rest)) / (product / weight);
}

/* Where all messages between nodes deviate, but those of one node, or of two, explain it, the scope
 * is that of these which deviates more, and the search goes on with the other one. */
static void search_split(const struct scopes *s, struct choice *best)
{
    const struct scope_sum *nodes = s->tables[TABLE_NODE].sums;
    const double all = s->tables[TABLE_LOCALITY].sums[LOCALITY_INTER].weight[LOCALITY_INTER];
    double least = REST;
    struct scope_estimate e, other;
    if (best->kind != TABLE_LOCALITY || best->i != LOCALITY_INTER)
        return;
    for (uint32_t n = 0; n < s->nodes; n++) {
        const uint32_t i = 4 * n + SCOPE_BOTH;
        if (nodes[i].weight[LOCALITY_INTER] < LEAST_PART * all ||
            !scopes_estimate(s, TABLE_NODE, i, &e))
            continue;
        for (uint32_t m = 0; m < s->nodes; m++) {
            const double rest = search_rest(s, n, m);
            if (rest >= least || !scopes_estimate(s, TABLE_NODE, 4 * m + SCOPE_BOTH, &other) ||
                other.effect > e.effect)
                continue;
            least = rest;
            *best = (struct choice){TABLE_NODE, i, e.effect, e.effect * e.effect * e.weight,
                                    best->significant};
        }
    }
}

/* Are the sums those of the same messages? Sums are exact: those of the same rows are equal. */
static bool search_is_same(const struct scopes *s, const struct choice *c,
                           enum scope_table_kind kind, uint32_t i)
{
    return memcmp(&s->tables[c->kind].sums[c->i], &s->tables[kind].sums[i],
                  sizeof(struct scope_sum)) == 0;
}

/* Where the messages do not show which of two nodes it is, the choice is what is between them. */
static void search_name_both(const struct scopes *s, struct choice *best)
{
    static const enum scope_table_kind kinds[] = {TABLE_PAIR_BOTH, TABLE_PAIR};
    bool both = false;
    if (best->kind != TABLE_NODE)
        return;
    for (uint32_t i = 0; !both && i < s->tables[TABLE_NODE].count; i++)
        both = i / 4 != best->i / 4 && search_is_same(s, best, TABLE_NODE, i);
    for (size_t k = 0; both && k < 2; k++) {
        for (uint32_t i = 0; both && i < s->tables[kinds[k]].count; i++) {
            if (!search_is_same(s, best, kinds[k], i))
                continue;
            best->kind = kinds[k];
            best->i = i;
            both = false;
        }
    }
}

static int scope_is_same(const struct scope *a, const struct scope *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b;
}

static void search_add_alternative(struct scope_finding *f, const struct scope *scope)
{
    for (uint32_t i = 0; i < f->alternative_count; i++) {
        if (scope_is_same(&f->alternatives[i], scope))
            return;
    }
    for (uint32_t i = 0; i < f->member_count; i++) {
        if (scope_is_same(&f->members[i], scope))
            return;
    }
    if (f->alternative_count < SCOPE_ALTERNATIVES)
        f->alternatives[f->alternative_count++] = *scope;
}

/* Scopes whose sums are those of the choice: no traffic distinguishes them. */
static void search_list_alternatives(const struct scopes *s, const struct choice *best,
                                     struct scope_finding *f)
{
    for (int k = 0; k < SCOPE_TABLES; k++) {
        for (uint32_t i = 0; i < s->tables[k].count; i++) {
            const struct scope scope = scopes_candidate(s, k, i);
            if (scope.kind != SCOPE_JOB && search_is_same(s, best, k, i))
                search_add_alternative(f, &scope);
        }
    }
}

/* What a scope deviates by in the windows of a search, unlimited. */
struct excursion {
    struct scope scope;
    double effects[SCOPE_RECENT], weights[SCOPE_RECENT]; /* by window, from `first` on */
    struct scope_response response;
    uint32_t first;
    bool alone; /* only rows that no open finding explains */
};

static bool excursion_has(const struct scopes *s, const struct excursion *x,
                          const struct scope_row *row)
{
    return scopes_row_is_in(s, &x->scope, row) && !(x->alone && scopes_row_is_explained(s, row));
}

static void excursion_add(struct scope_sum *sum, const struct scope_row *row)
{
    const enum locality l = scope_row_locality(row);
    sum->weight[l] += scope_round(row->weight);
    sum->product[l] += scope_round(row->weight * row->y);
}

static void excursion_measure(const struct scopes *s, struct excursion *x)
{
    for (uint32_t w = x->first; w <= s->windows; w++) {
        const struct scope_rows *rows = &s->recent[w % SCOPE_RECENT];
        struct scope_sum own = {.lasting = 0}, all[LOCALITIES] = {{.lasting = 0}};
        struct scope_estimate e = {.weight = 0};
        for (size_t i = 0; i < rows->count; i++) {
            const struct scope_row *row = &rows->list[i];
            excursion_add(&all[scope_row_locality(row)], row);
            if (excursion_has(s, x, row))
                excursion_add(&own, row);
        }
        scopes_compare_with_common(s, &own, all, &e);
        x->effects[w - x->first] = e.effect;
        x->weights[w - x->first] = e.weight;
    }
}

static void excursion_measure_response(const struct scopes *s, struct excursion *x)
{
    for (uint32_t w = x->first; w <= s->windows; w++) {
        const struct scope_rows *rows = &s->recent[w % SCOPE_RECENT];
        for (size_t i = 0; i < rows->count; i++) {
            const struct scope_row *row = &rows->list[i];
            if (excursion_has(s, x, row))
                scope_response_add(&x->response, scopes_row_octave(s, row), row->weight, row->y,
                                   x->effects[w - x->first]);
        }
    }
    scope_response_solve(&x->response);
}

static struct excursion search_measure(const struct scopes *s, const struct scope *scope,
                                       uint32_t first)
{
    struct excursion x = {.scope = *scope, .first = first, .alone = true};
    double weight = 0;
    scope_response_solve(&x.response);
    excursion_measure(s, &x);
    for (uint32_t w = first; w <= s->windows; w++)
        weight += x.weights[w - first];
    if (weight > 0)
        return x;
    x.alone = false;
    excursion_measure(s, &x);
    return x;
}

/* Mean deviation from a window on. */
static double excursion_effect(const struct scopes *s, const struct excursion *x, uint32_t from)
{
    double product = 0, weight = 0;
    for (uint32_t w = from; w <= s->windows; w++) {
        product += x->weights[w - x->first] * x->effects[w - x->first];
        weight += x->weights[w - x->first];
    }
    return weight > 0 ? product / weight : 0;
}

/* The first window from which on the scope has deviated by a good part of what it does now.
 * @param start  first window of its excursion, which noise may have begun earlier */
static uint32_t excursion_onset(const struct scopes *s, const struct excursion *x, uint32_t start)
{
    const uint32_t last = s->windows - x->first;
    const double now = fmax(x->effects[last], last > 0 ? x->effects[last - 1] : 0);
    uint32_t onset = start > x->first ? start : x->first;
    for (uint32_t w = onset; w < s->windows; w++) {
        const uint32_t at = w - x->first;
        if (x->weights[at] > 0 && x->effects[at] < ONSET_SHARE * now)
            onset = w + 1;
    }
    return start < x->first && onset == x->first ? start : onset;
}

/* Subtract what a scope deviates by from its rows, or add it again. References that were learned
 * only since the onset have learned the fault: they begin again.
 * @param sign  1 or -1 @param found  it is a finding */
static void search_subtract(struct scopes *s, const struct excursion *x, double sign, bool found)
{
    for (uint32_t w = x->first; w <= s->windows; w++) {
        struct scope_rows *rows = &s->recent[w % SCOPE_RECENT];
        for (size_t i = 0; i < rows->count; i++) {
            struct scope_row *row = &rows->list[i];
            if (!excursion_has(s, x, row))
                continue;
            row->y -= (float)(sign * x->effects[w - x->first] *
                              x->response.factor[scopes_row_octave(s, row)]);
            if (found && s->series[row->series].seen <= (float)(s->windows - x->first + 1))
                s->series[row->series].seen = 0;
        }
    }
}

/* ---- windows ------------------------------------------------------------- */

/* The excursion of a choice as far back as rows are kept: its onset may lie before the windows of
 * the search. */
static struct excursion search_look_back(const struct scopes *s, const struct choice *best,
                                         const struct scope *scope, uint32_t reach)
{
    const struct scope_track *track = &s->tables[best->kind].tracks[best->i];
    const uint32_t start = track->cusum > 0 && track->start < reach ? track->start : reach;
    return search_measure(s, scope, search_reach(s, start));
}

static void search_open(struct scopes *s, const struct choice *best, const struct excursion *x)
{
    const struct scope_track *track = &s->tables[best->kind].tracks[best->i];
    const uint32_t onset = excursion_onset(s, x, track->cusum > 0 ? track->start : x->first);
    struct scope_open *open =
        scopes_open_finding(s, &x->scope, SCOPE_TRANSFER, s->number - (s->windows - onset),
                            excursion_effect(s, x, onset > x->first ? onset : x->first));
    if (open == NULL)
        return;
    scope_response_merge(&open->response, &x->response);
    search_list_alternatives(s, best, &open->finding);
}

/* What remains is no longer what the excursions of other scopes were made of. */
static void search_restart(struct scopes *s)
{
    for (int k = 0; k < SCOPE_TABLES; k++) {
        for (uint32_t i = 0; i < s->tables[k].count; i++) {
            struct scope_track *track = &s->tables[k].tracks[i];
            struct scope_estimate e;
            if (track->cusum > 0 && scopes_estimate(s, k, i, &e) && e.effect < track->newest / 2)
                track_restart(track, s->windows + 1);
        }
    }
}

/* A scope that explains most but is no finding yet is subtracted as well, and added again at the
 * end: what it explains shall not be a finding of a smaller scope. */
static void search_explain(struct scopes *s, uint32_t first)
{
    struct choice best = {.gain = 0};
    struct excursion passed[SCOPE_MEMBERS];
    uint32_t passed_count = 0;
    const uint32_t reach = search_reach(s, first);
    scopes_sum_windows(s, reach, s->windows);
    for (uint32_t found = 0; found < SCOPE_MEMBERS && search_best(s, &best); found++) {
        search_split(s, &best);
        search_widen(s, &best, reach);
        search_name_both(s, &best);
        const struct scope scope = scopes_candidate(s, best.kind, best.i);
        struct excursion x = search_measure(s, &scope, reach);
        struct excursion whole = search_look_back(s, &best, &scope, reach);
        if (best.significant) {
            excursion_measure_response(s, &whole);
            x.response = whole.response;
        }
        search_subtract(s, &x, 1, best.significant);
        if (best.significant) {
            search_open(s, &best, &whole);
            if (best.kind != TABLE_LOCALITY)
                scopes_revise_levels(s, reach);
        } else {
            passed[passed_count++] = x;
        }
        scopes_sum_windows(s, reach, s->windows);
    }
    for (uint32_t i = 0; i < passed_count; i++)
        search_subtract(s, &passed[i], -1, false);
    scopes_sum_windows(s, s->windows, s->windows);
    search_restart(s);
}

void scopes_follow(struct scopes *s)
{
    uint32_t first = UINT32_MAX;
    scopes_sum_windows(s, s->windows, s->windows);
    scopes_follow_levels(s);
    for (int k = 0; k < SCOPE_TABLES; k++) {
        const uint32_t start = follow_kind(s, k);
        first = start < first ? start : first;
    }
    scopes_learn_levels(s);
    if (first != UINT32_MAX)
        search_explain(s, first);
}
