/* The CommGram curve: one height for each phase, by its distance to the phases before it. */
#include "daemon/analysis/commgram/commgram_curve.h"

#include "daemon/analysis/communities/assignment.h"
#include "daemon/analysis/communities/partition.h"
#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_PATTERNS 256u
#define NO_PATTERN UINT32_MAX
#define ROUNDING 1e-12 /* heights that differ by less count as equal */

/* Similarity of two partitions, 1 - matched / all, as exact integers. Both are below 2^32: products
 * of two fit. */
struct likeness {
    uint64_t matched;
    uint64_t all; /* above 0 */
};

static const struct likeness unlike = {0, 1};

/* A partition and the lasting identities of its communities. */
struct view {
    struct partition partition;
    uint32_t *identity; /* owned; by community; same capacity as the partition */
    uint32_t capacity;
};

struct pattern {
    struct view view; /* of its first phase */
    uint64_t first;   /* number of that phase */
    uint64_t last;    /* last phase with this pattern */
    double height;
};

/* The result for a phase. */
struct outcome {
    struct curve_point point;
    uint32_t pattern;       /* earlier pattern that the phase belongs to; or NO_PATTERN */
    uint32_t next_identity; /* after this phase */
};

struct curve {
    struct curve_params params;
    struct assignment *assignment;
    struct key_table numbers; /* of communities, while a phase is read */
    struct pattern *patterns; /* owned; room for params.most_patterns */
    uint32_t remembered;
    uint32_t current; /* index of the pattern of the last phase */
    uint64_t phases;
    uint32_t next_identity;
    struct view last;                 /* the last phase */
    struct view fresh;                /* the phase being added */
    uint32_t *order;                  /* owned; its ranks by community */
    uint32_t *begin;                  /* owned; where in order each of its communities begins */
    bool listed;                      /* order and begin are those of the phase being added */
    uint32_t capacity;                /* ranks that these two and entries have memory for */
    struct assignment_entry *entries; /* owned; row of one community */
};

int curve_create(struct curve **out, const struct curve_params *params)
{
    if (params->most_ranks == 0 || params->most_ranks > PARTITION_MAXIMUM_RANKS ||
        params->most_patterns < 2 || params->most_patterns > MAXIMUM_PATTERNS ||
        !(params->tolerance >= 0 && params->tolerance < 1))
        return -HOLTER_ERANGE;
    const struct assignment_params sizes = {params->most_ranks, params->most_ranks,
                                            params->most_ranks};
    struct curve *curve = calloc(1, sizeof(*curve));
    if (curve == NULL)
        return -ENOMEM;
    curve->params = *params;
    curve->patterns = calloc(params->most_patterns, sizeof(*curve->patterns));
    if (curve->patterns == NULL || assignment_create(&curve->assignment, &sizes) != 0) {
        curve_destroy(curve);
        return -ENOMEM;
    }
    *out = curve;
    return 0;
}

static void view_finish(struct view *view)
{
    partition_finish(&view->partition);
    free(view->identity);
}

void curve_destroy(struct curve *curve)
{
    if (curve == NULL)
        return;
    for (uint32_t i = 0; curve->patterns != NULL && i < curve->params.most_patterns; i++)
        view_finish(&curve->patterns[i].view);
    view_finish(&curve->last);
    view_finish(&curve->fresh);
    key_table_finish(&curve->numbers);
    assignment_destroy(curve->assignment);
    free(curve->patterns);
    free(curve->order);
    free(curve->begin);
    free(curve->entries);
    free(curve);
}

static int view_fit(struct view *view, uint32_t ranks)
{
    if (partition_fit(&view->partition, ranks) != 0)
        return -ENOMEM;
    if (ranks <= view->capacity)
        return 0;
    if (ARRAY_RESIZE(view->identity, ranks) != 0)
        return -ENOMEM;
    view->capacity = ranks;
    return 0;
}

static int commgram_curve_fit(struct curve *curve, uint32_t ranks)
{
    if (view_fit(&curve->fresh, ranks) != 0)
        return -ENOMEM;
    if (ranks < curve->capacity)
        return 0;
    if (ARRAY_RESIZE(curve->order, ranks + 1) != 0 || ARRAY_RESIZE(curve->begin, ranks + 1) != 0 ||
        ARRAY_RESIZE(curve->entries, ranks + 1) != 0)
        return -ENOMEM;
    curve->capacity = ranks + 1;
    return 0;
}

/* ---- likeness ------------------------------------------------------------------ */

static double difference_of(const struct likeness *one)
{
    return (double)(one->all - one->matched) / (double)one->all;
}

static int commgram_curve_compare(const struct likeness *one, const struct likeness *other)
{
    uint64_t a = one->matched * other->all, b = other->matched * one->all;
    return a < b ? -1 : a > b;
}

/* Lists the ranks of one community by communities of the other partition. */
static uint32_t commgram_curve_gather(struct curve *curve, uint32_t community,
                                      const struct partition *other, uint64_t *all)
{
    uint32_t count = 0;
    for (uint32_t i = curve->begin[community]; i < curve->begin[community + 1]; i++) {
        uint32_t rank = curve->order[i];
        uint32_t there = rank < other->ranks ? other->community[rank] : PARTITION_ABSENT;
        if (there != PARTITION_ABSENT)
            curve->entries[count++] = (struct assignment_entry){1, there};
        else
            ++*all; /* the others are counted in the other phase */
    }
    return count;
}

/* Fills the table for the assignment: communities of the phase being added are rows, those of the
 * other partition columns.
 * @param all  set to the number of ranks of the two
 * @return 0 or -ENOMEM */
static int commgram_curve_tabulate(struct curve *curve, const struct partition *other,
                                   uint64_t *all)
{
    int rc = 0;
    if (!curve->listed) /* computed on first use: phases equal to an earlier one do not need it */
        partition_members(&curve->fresh.partition, curve->order, curve->begin);
    curve->listed = true;
    *all = other->present;
    assignment_clear(curve->assignment);
    for (uint32_t c = 0; rc == 0 && c < curve->fresh.partition.communities; c++) {
        uint32_t count = commgram_curve_gather(curve, c, other, all);
        rc = assignment_row(curve->assignment, curve->entries, count);
    }
    return rc;
}

/* Two partitions without ranks are equal. */
static struct likeness make_likeness(uint64_t matched, uint64_t all)
{
    return all == 0 ? (struct likeness){1, 1} : (struct likeness){matched, all};
}

/* Computes the similarity of the phase being added and another partition; the assignment remains
 * available. @return 0 or -ENOMEM */
static int commgram_curve_measure(struct curve *curve, const struct partition *other,
                                  struct likeness *out)
{
    uint64_t all, matched;
    int rc = commgram_curve_tabulate(curve, other, &all);
    rc = rc == 0 ? assignment_solve(curve->assignment, 0, &matched) : rc;
    if (rc == 0)
        *out = make_likeness(matched, all);
    return rc;
}

/* ---- search -------------------------------------------------------------------- */

static bool is_later(const struct curve *curve, uint32_t one, uint32_t other)
{
    return curve->patterns[one].last > curve->patterns[other].last;
}

/* Replaces the best pattern by one that is more similar, or as similar and more recent. @return 0
 * or -ENOMEM */
static int commgram_curve_consider(struct curve *curve, uint32_t pattern, uint32_t *best,
                                   struct likeness *likeness)
{
    uint64_t all, matched;
    int rc = commgram_curve_tabulate(curve, &curve->patterns[pattern].view.partition, &all);
    if (rc != 0)
        return rc;
    bool may_equal = *best != NO_PATTERN && is_later(curve, pattern, *best);
    uint64_t minimum = likeness->matched * all / likeness->all;
    minimum += !may_equal || likeness->matched * all % likeness->all != 0;
    rc = assignment_solve(curve->assignment, minimum, &matched);
    if (rc == 0) {
        *best = pattern;
        *likeness = (struct likeness){matched, all};
    }
    return rc < 0 ? rc : 0;
}

/* Finds the pattern other than the current one that is most similar to the phase being added, if it
 * is more similar than `likeness`, which is then set. Most patterns are excluded by a bound, before
 * or during their assignment. @return 0 or -ENOMEM */
static int find_maximum_alike(struct curve *curve, uint32_t *best, struct likeness *likeness)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < curve->remembered; i++)
        if (i != curve->current)
            rc = commgram_curve_consider(curve, i, best, likeness);
    return rc;
}

static uint32_t find_equal(const struct curve *curve)
{
    for (uint32_t i = 0; i < curve->remembered; i++)
        if (partition_equal(&curve->patterns[i].view.partition, &curve->fresh.partition))
            return i;
    return NO_PATTERN;
}

/* ---- height -------------------------------------------------------------------- */

/* The patterns that are similar to the phase being added. */
struct found {
    uint32_t pattern; /* other than the current one; NO_PATTERN: none is similar */
    struct likeness likeness;
    struct likeness to_current;
};

static void set_resemblance(const struct curve *curve, struct curve_point *point, uint32_t pattern,
                            const struct likeness *likeness)
{
    point->resembles = curve->patterns[pattern].first;
    point->resemblance = (double)likeness->matched / (double)likeness->all;
}

static void set_return(const struct curve *curve, struct outcome *outcome, uint32_t pattern,
                       const struct likeness *likeness)
{
    set_resemblance(curve, &outcome->point, pattern, likeness);
    outcome->pattern = pattern;
    outcome->point.returned = true;
    outcome->point.height = curve->patterns[pattern].height;
}

/* How much the distance of a height from the pattern's height differs from the difference of the
 * phase and the pattern; or, if the phase is most similar to it, from the pattern's height. */
static double commgram_curve_error_of(const struct curve *curve, const struct found *found,
                                      double height)
{
    double apart = fabs(height - curve->patterns[found->pattern].height);
    bool is_most = commgram_curve_compare(&found->likeness, &found->to_current) > 0;
    return is_most ? apart : fabs(apart - difference_of(&found->likeness));
}

/* Sets the height of a new pattern. */
static void set_step(const struct curve *curve, struct curve_point *point,
                     const struct found *found)
{
    double from = curve->patterns[curve->current].height, d = difference_of(&found->to_current);
    bool is_up = false;
    if (found->pattern != NO_PATTERN)
        is_up = commgram_curve_error_of(curve, found, from + d) <
                commgram_curve_error_of(curve, found, from - d) - ROUNDING;
    point->height = is_up ? from + d : from - d;
    if (found->pattern != NO_PATTERN &&
        commgram_curve_compare(&found->likeness, &found->to_current) > 0)
        set_resemblance(curve, point, found->pattern, &found->likeness);
    else if (found->to_current.matched > 0)
        set_resemblance(curve, point, curve->current, &found->to_current);
}

/* @return 0 or -ENOMEM */
static int find_height(struct curve *curve, struct outcome *outcome)
{
    const struct likeness same = {1, 1};
    struct found found = {.pattern = find_equal(curve), .likeness = unlike};
    if (found.pattern != NO_PATTERN) {
        set_return(curve, outcome, found.pattern, &same);
        return 0;
    }
    int rc = commgram_curve_measure(curve, &curve->patterns[curve->current].view.partition,
                                    &found.to_current);
    bool is_current = rc == 0 && difference_of(&found.to_current) <= curve->params.tolerance;
    if (is_current) { /* unless another pattern is more similar */
        found.pattern = curve->current;
        found.likeness = found.to_current;
    }
    if (rc == 0 && found.to_current.matched < found.to_current.all)
        rc = find_maximum_alike(curve, &found.pattern, &found.likeness);
    if (rc != 0)
        return rc;
    if (found.pattern != NO_PATTERN && difference_of(&found.likeness) <= curve->params.tolerance)
        set_return(curve, outcome, found.pattern, &found.likeness);
    else
        set_step(curve, &outcome->point, &found);
    return 0;
}

/* ---- identities ---------------------------------------------------------------- */

/* Identities of the phase being added, inherited from the communities assigned by the last call. */
static void commgram_curve_inherit(struct curve *curve, const struct view *from,
                                   struct outcome *outcome)
{
    outcome->next_identity = curve->next_identity;
    for (uint32_t c = 0; c < curve->fresh.partition.communities; c++) {
        uint32_t column = from == NULL ? ASSIGNMENT_NONE : assignment_column(curve->assignment, c);
        if (column == ASSIGNMENT_NONE) {
            outcome->next_identity += outcome->next_identity == CURVE_ABSENT;
            curve->fresh.identity[c] = outcome->next_identity++;
        } else {
            curve->fresh.identity[c] = from->identity[column];
        }
    }
}

/* Whether a phase equals the last one, so that nothing has to be assigned. */
static bool is_last(const struct curve *curve, const struct outcome *outcome)
{
    return outcome->pattern == curve->current &&
           partition_equal(&curve->last.partition, &curve->fresh.partition);
}

static void inherit_all(struct curve *curve, struct outcome *outcome)
{
    size_t communities = curve->fresh.partition.communities;
    if (communities > 0)
        memcpy(curve->fresh.identity, curve->last.identity,
               communities * sizeof(*curve->fresh.identity));
    outcome->next_identity = curve->next_identity;
    outcome->point.difference = 0;
}

/* The height is computed first, because it determines the pattern whose identities are inherited.
 * @return 0 or -ENOMEM */
static int commgram_curve_place(struct curve *curve, struct outcome *outcome)
{
    struct likeness likeness;
    const struct view *from = &curve->last;
    int rc = find_height(curve, outcome);
    if (rc == 0 && is_last(curve, outcome)) {
        inherit_all(curve, outcome);
        return 0;
    }
    rc = rc == 0 ? commgram_curve_measure(curve, &from->partition, &likeness) : rc;
    if (rc != 0)
        return rc;
    outcome->point.difference = difference_of(&likeness);
    if (outcome->pattern != NO_PATTERN && outcome->pattern != curve->current) {
        from = &curve->patterns[outcome->pattern].view;
        rc = commgram_curve_measure(curve, &from->partition, &likeness);
    }
    if (rc == 0)
        commgram_curve_inherit(curve, from, outcome);
    return rc;
}

static int commgram_curve_evaluate(struct curve *curve, const struct curve_phase *phase,
                                   struct outcome *outcome)
{
    struct partition *fresh = &curve->fresh.partition;
    if (phase->ranks > curve->params.most_ranks)
        return -HOLTER_ELIMIT;
    int rc = commgram_curve_fit(curve, phase->ranks);
    if (rc == 0)
        rc = partition_set(fresh, &curve->numbers, phase->labels, phase->ranks);
    if (rc != 0)
        return rc;
    curve->listed = false;
    *outcome = (struct outcome){.pattern = NO_PATTERN};
    outcome->point.phase = curve->phases;
    outcome->point.communities = fresh->communities;
    outcome->point.resembles = CURVE_NO_PHASE;
    if (curve->phases > 0)
        return commgram_curve_place(curve, outcome);
    commgram_curve_inherit(curve, NULL, outcome);
    return 0;
}

static void commgram_curve_report_identities(const struct view *view, uint32_t ranks,
                                             uint32_t *identities)
{
    const struct partition *p = &view->partition;
    for (uint32_t r = 0; identities != NULL && r < ranks; r++) {
        bool is_there = r < p->ranks && p->community[r] != PARTITION_ABSENT;
        identities[r] = is_there ? view->identity[p->community[r]] : CURVE_ABSENT;
    }
}

int curve_provisional(struct curve *curve, const struct curve_phase *phase,
                      struct curve_point *point, uint32_t *identities)
{
    struct outcome outcome;
    int rc = commgram_curve_evaluate(curve, phase, &outcome);
    if (rc != 0)
        return rc;
    *point = outcome.point;
    commgram_curve_report_identities(&curve->fresh, phase->ranks, identities);
    return 0;
}

/* ---- append -------------------------------------------------------------------- */

/* Memory for a new pattern; when the maximum is reached, that of the pattern seen least recently.
 * @return it, or NULL without memory: no pattern was dropped */
static struct pattern *commgram_curve_find_place(struct curve *curve)
{
    uint32_t at = curve->remembered;
    if (at == curve->params.most_patterns)
        for (uint32_t i = at = 0; i < curve->remembered; i++)
            at = is_later(curve, at, i) ? i : at;
    return view_fit(&curve->patterns[at].view, curve->fresh.partition.ranks) == 0
               ? &curve->patterns[at]
               : NULL;
}

static void commgram_curve_remember(struct curve *curve, struct pattern *place, double height)
{
    const struct view *fresh = &curve->fresh;
    partition_copy(&place->view.partition, &fresh->partition);
    if (fresh->partition.communities > 0)
        memcpy(place->view.identity, fresh->identity,
               fresh->partition.communities * sizeof(*fresh->identity));
    place->first = curve->phases;
    place->height = height;
    curve->current = (uint32_t)(place - curve->patterns);
    curve->remembered += curve->current == curve->remembered;
}

/* Makes a phase that was evaluated the last one. @return 0 or -ENOMEM: nothing has changed */
static int commgram_curve_add(struct curve *curve, const struct outcome *outcome)
{
    struct pattern *place = NULL;
    if (outcome->pattern == NO_PATTERN && (place = commgram_curve_find_place(curve)) == NULL)
        return -ENOMEM;
    if (place != NULL)
        commgram_curve_remember(curve, place, outcome->point.height);
    else
        curve->current = outcome->pattern;
    curve->patterns[curve->current].last = curve->phases++;
    curve->next_identity = outcome->next_identity;
    struct view last = curve->last;
    curve->last = curve->fresh;
    curve->fresh = last;
    return 0;
}

int curve_append(struct curve *curve, const struct curve_phase *phase, struct curve_point *point,
                 uint32_t *identities)
{
    struct outcome outcome;
    int rc = commgram_curve_evaluate(curve, phase, &outcome);
    rc = rc == 0 ? commgram_curve_add(curve, &outcome) : rc;
    if (rc != 0)
        return rc;
    *point = outcome.point;
    commgram_curve_report_identities(&curve->last, phase->ranks, identities);
    return 0;
}

int curve_append_at(struct curve *curve, const struct curve_phase *phase, double height)
{
    struct outcome outcome;
    int rc = commgram_curve_evaluate(curve, phase, &outcome);
    outcome.point.height = height;
    return rc == 0 ? commgram_curve_add(curve, &outcome) : rc;
}

/* ---- state --------------------------------------------------------------------- */

static void view_copy_state(struct state_bytes *b, struct view *view)
{
    partition_copy_state(b, &view->partition);
    STATE_ARRAY(b, view->identity, view->partition.communities, view->capacity);
}

static void curve_forget_memory(struct curve *curve)
{
    curve->assignment = NULL;
    curve->numbers = (struct key_table){0};
    curve->fresh = (struct view){.capacity = 0};
    curve->order = curve->begin = NULL;
    curve->entries = NULL;
    curve->capacity = 0;
}

void curve_copy_state(struct state_bytes *b, struct curve **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct curve *curve = *out;
    if (b->reads)
        curve_forget_memory(curve);
    STATE_ARRAY(b, curve->patterns, curve->remembered, curve->params.most_patterns);
    for (uint32_t i = 0; curve->patterns != NULL && i < curve->remembered; i++)
        view_copy_state(b, &curve->patterns[i].view);
    view_copy_state(b, &curve->last);
    const struct assignment_params sizes = {curve->params.most_ranks, curve->params.most_ranks,
                                            curve->params.most_ranks};
    if (b->reads && b->code == 0)
        b->code = assignment_create(&curve->assignment, &sizes);
}
