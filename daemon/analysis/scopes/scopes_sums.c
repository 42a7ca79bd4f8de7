/* What the rows of windows come to in each scope: weighted sums of deviations, and the estimate of
 * a scope's effect from them. */
#include "daemon/analysis/scopes/scopes_state.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define DAY_WINDOWS 86400.0 /* of one second each */
#define LEAST_THRESHOLD 5.0 /* standard deviations */
#define LEAST_TAIL 3e-5     /* the share of normal deviations above four standard deviations */
#define NOISE_WINDOWS                                                                              \
    4.0 /* that noise of scopes is taken to last for; by the benchmark of faults */

/* ---- tables -------------------------------------------------------------- */

static int table_reserve(struct scope_table *table, uint64_t count)
{
    if (array_fit_zero(&table->sums, sizeof(*table->sums), &table->capacity, count) != 0 ||
        array_fit_zero(&table->tracks, sizeof(*table->tracks), &table->track_capacity, count) != 0)
        return -ENOMEM;
    if (count > table->count)
        table->count = (uint32_t)count;
    return 0;
}

/* The links of routes that are not known yet. A route that is not known is asked for once. */
static int sums_find_routes(struct scopes *s)
{
    uint32_t links[64], highest = 0;
    for (uint32_t p = 0; p < s->pair_keys.count; p++) {
        struct scope_pair *pair = &s->pairs[p];
        if (pair->links != 0 || s->route == NULL || pair->from == pair->to)
            continue;
        const size_t count = s->route(s->route_user, pair->from, pair->to, links, 64);
        pair->links = count == 0 || count > 64 ? UINT32_MAX : (uint32_t)count;
        if (pair->links == UINT32_MAX)
            continue;
        if (array_fit(&s->links, sizeof(*s->links), &s->link_capacity, s->link_count + count) != 0)
            return -ENOMEM;
        pair->first_link = (uint32_t)s->link_count;
        memcpy(s->links + s->link_count, links, count * sizeof(*links));
        s->link_count += count;
        for (size_t i = 0; i < count; i++)
            highest = links[i] + 1 > highest ? links[i] + 1 : highest;
    }
    return table_reserve(&s->tables[TABLE_LINK], highest > s->tables[TABLE_LINK].count
                                                     ? highest
                                                     : s->tables[TABLE_LINK].count);
}

int scopes_reserve_tables(struct scopes *s)
{
    const uint64_t counts[SCOPE_TABLES] = {[TABLE_LOCALITY] = LEVELS,
                                           [TABLE_NODE] = 4 * (uint64_t)s->nodes,
                                           [TABLE_PAIR] = s->pair_keys.count,
                                           [TABLE_PAIR_BOTH] = s->both_keys.count,
                                           [TABLE_RANK] = 3 * (uint64_t)s->ranks};
    for (int k = 0; k < SCOPE_TABLES; k++) {
        if (k != TABLE_LINK && table_reserve(&s->tables[k], counts[k]) != 0)
            return -ENOMEM;
    }
    return sums_find_routes(s);
}

static void sums_clear(struct scopes *s)
{
    s->summed = 0;
    for (int k = 0; k < SCOPE_TABLES; k++) {
        if (s->tables[k].count > 0)
            memset(s->tables[k].sums, 0, s->tables[k].count * sizeof(*s->tables[k].sums));
    }
}

/* ---- adding -------------------------------------------------------------- */

static void sum_add(struct scope_sum *sum, const struct scope_sum *more)
{
    for (int l = 0; l < LOCALITIES; l++) {
        sum->weight[l] += more->weight[l];
        sum->product[l] += more->product[l];
    }
    sum->lasting += more->lasting;
    sum->noise += more->noise;
    sum->scatter += more->scatter;
}

/* The largest number of standard deviations that a row is evidence of. Scopes are judged as if
 * deviations were normal. Where more rows are far off by chance, as times with heavy tails are,
 * each counts only as a normal deviation of that chance: a tail of exp(-z^2 / 2) has the limit z.
 */
static double sums_evidence_limit(const struct scopes *s, enum locality locality)
{
    return sqrt(-2 * log(fmax(s->tail[locality], LEAST_TAIL)));
}

static void sums_add_rows(struct scopes *s, const struct scope_rows *rows)
{
    struct scope_sum *pairs = s->tables[TABLE_PAIR].sums, *ranks = s->tables[TABLE_RANK].sums;
    const double most[LOCALITIES] = {sums_evidence_limit(s, 0), sums_evidence_limit(s, 1)};
    for (size_t i = 0; i < rows->count; i++) {
        const struct scope_row *row = &rows->list[i];
        const enum locality locality = scope_row_locality(row);
        const double weight = scope_round(row->weight);
        const double y = scope_limit(row->y, -row->limit, row->limit);
        const double product = scope_round(weight * y);
        const double lasting = scope_round(weight * weight * row->lasting);
        const double counted = y / most[locality];
        const double scatter =
            scope_round(weight * weight * fmax(0, counted * counted - row->variance));
        struct scope_sum *const to[] = {&pairs[row->pair], &ranks[3 * row->source + SCOPE_OUT],
                                        &ranks[3 * row->destination + SCOPE_IN]};
        for (size_t t = 0; t < sizeof(to) / sizeof(to[0]); t++) {
            to[t]->weight[locality] += weight;
            to[t]->product[locality] += product;
            to[t]->lasting += lasting;
            to[t]->scatter += scatter;
        }
    }
    s->summed++;
}

static void sums_complete(struct scopes *s)
{
    struct scope_sum *nodes = s->tables[TABLE_NODE].sums, *ranks = s->tables[TABLE_RANK].sums;
    struct scope_sum *localities = s->tables[TABLE_LOCALITY].sums;
    for (uint32_t p = 0; p < s->pair_keys.count; p++) {
        struct scope_sum *sum = &s->tables[TABLE_PAIR].sums[p];
        const struct scope_pair *pair = &s->pairs[p];
        /* All messages of a pair of nodes have one locality. */
        const int l = sum->weight[LOCALITY_INTRA] > 0 ? LOCALITY_INTRA : LOCALITY_INTER;
        const double squares = sum->weight[l] * sum->weight[l] / s->summed;
        sum->lasting += scope_round(squares * pair->lasting);
        sum->noise += scope_round(squares * s->tables[TABLE_PAIR].spread[l]);
        sum_add(&localities[l], sum);
        sum_add(&localities[LEVEL_ALL], sum);
        sum_add(&s->tables[TABLE_PAIR_BOTH].sums[pair->both], sum);
        sum_add(&nodes[4 * pair->from + (pair->from == pair->to ? SCOPE_ALL : SCOPE_OUT)], sum);
        if (pair->from != pair->to)
            sum_add(&nodes[4 * pair->to + SCOPE_IN], sum);
        for (uint32_t i = 0; pair->links != UINT32_MAX && i < pair->links; i++)
            sum_add(&s->tables[TABLE_LINK].sums[s->links[pair->first_link + i]], sum);
    }
    for (uint32_t n = 0; n < s->nodes; n++) {
        sum_add(&nodes[4 * n + SCOPE_BOTH], &nodes[4 * n + SCOPE_OUT]);
        sum_add(&nodes[4 * n + SCOPE_BOTH], &nodes[4 * n + SCOPE_IN]);
        sum_add(&nodes[4 * n + SCOPE_ALL], &nodes[4 * n + SCOPE_BOTH]);
    }
    for (uint32_t r = 0; r < s->ranks; r++) {
        sum_add(&ranks[3 * r + SCOPE_BOTH], &ranks[3 * r + SCOPE_OUT]);
        sum_add(&ranks[3 * r + SCOPE_BOTH], &ranks[3 * r + SCOPE_IN]);
    }
}

void scopes_sum_windows(struct scopes *s, uint32_t first, uint32_t last)
{
    sums_clear(s);
    for (uint32_t w = first; w <= last; w++)
        sums_add_rows(s, &s->recent[w % SCOPE_RECENT]);
    sums_complete(s);
}

/* ---- estimates ----------------------------------------------------------- */

enum locality scopes_locality(const struct scopes *s, enum scope_table_kind kind, uint32_t i)
{
    const struct key *keys = kind == TABLE_PAIR        ? s->pair_keys.keys
                             : kind == TABLE_PAIR_BOTH ? s->both_keys.keys
                                                       : NULL;
    if (kind == TABLE_LOCALITY && i != LEVEL_ALL)
        return (enum locality)i;
    return keys != NULL && keys[i].hi == keys[i].lo ? LOCALITY_INTRA : LOCALITY_INTER;
}

double scopes_lasting(const struct scope_estimate *e, uint32_t windows)
{
    /* A search looks back no further than that. */
    const double most = windows < SCOPE_RECENT ? windows : SCOPE_RECENT;
    return e->lasting + e->noise * fmin(1, NOISE_WINDOWS / most);
}

int scopes_compare_with_common(const struct scopes *s, const struct scope_sum *sum,
                               const struct scope_sum *all, struct scope_estimate *out)
{
    double product = 0, weight = 0;
    for (int l = 0; l < LOCALITIES; l++) {
        if (sum->weight[l] <= 0)
            continue;
        const double common = s->common[l].variance;
        const double shared = common / (1 + common * all[l].weight[l]);
        product += sum->product[l] - sum->weight[l] * shared * all[l].product[l];
        weight += sum->weight[l] - sum->weight[l] * shared * sum->weight[l];
    }
    if (weight <= 0)
        return 0;
    out->effect = product / weight;
    out->weight = weight;
    return 1;
}

int scopes_estimate(const struct scopes *s, enum scope_table_kind kind, uint32_t i,
                    struct scope_estimate *out)
{
    const struct scope_sum *sum = &s->tables[kind].sums[i];
    if (!scopes_compare_with_common(s, sum, s->tables[TABLE_LOCALITY].sums, out))
        return 0;
    const double all_weight = sum->weight[0] + sum->weight[1];
    out->lasting = s->summed * sum->lasting / (all_weight * all_weight);
    out->noise = s->summed * sum->noise / (all_weight * all_weight);
    /* That of pairs is part of the weights of rows, and of what lasts of the pair. */
    if (kind != TABLE_LOCALITY && kind != TABLE_PAIR)
        out->noise += s->tables[kind].spread[scopes_locality(s, kind, i)];
    if (kind == TABLE_RANK) /* the messages of a rank share what its node has */
        out->noise += s->tables[TABLE_NODE].spread[LOCALITY_INTER];
    out->evidence = out->weight / (1 + sum->scatter / all_weight);
    out->variance = 1 / out->evidence + scopes_lasting(out, s->summed);
    if (kind == TABLE_LOCALITY) /* it is part of the weight, but does not average out */
        out->noise += s->common[i].variance;
    return 1;
}

struct scope scopes_candidate(const struct scopes *s, enum scope_table_kind kind, uint32_t i)
{
    const struct key *keys = s->pair_keys.keys;
    switch (kind) {
    case TABLE_LOCALITY:
        return (struct scope){i == LEVEL_ALL        ? SCOPE_JOB
                              : i == LOCALITY_INTRA ? SCOPE_INTRA
                                                    : SCOPE_INTER,
                              SCOPE_ALL, 0, 0};
    case TABLE_NODE:
        return (struct scope){SCOPE_NODE, (enum scope_direction)(i % 4), i / 4, 0};
    case TABLE_PAIR:
        if (keys[i].hi == keys[i].lo)
            return (struct scope){SCOPE_NODE, SCOPE_WITHIN, (uint32_t)keys[i].hi, 0};
        return (struct scope){SCOPE_NODE_PAIR, SCOPE_OUT, (uint32_t)keys[i].hi,
                              (uint32_t)keys[i].lo};
    case TABLE_PAIR_BOTH:
        keys = s->both_keys.keys;
        if (keys[i].hi == keys[i].lo)
            return (struct scope){SCOPE_NODE, SCOPE_WITHIN, (uint32_t)keys[i].hi, 0};
        return (struct scope){SCOPE_NODE_PAIR, SCOPE_BOTH, (uint32_t)keys[i].hi,
                              (uint32_t)keys[i].lo};
    case TABLE_LINK:
        return (struct scope){SCOPE_LINK, SCOPE_OUT, i, 0};
    case TABLE_RANK:
    default:
        return (struct scope){SCOPE_RANK, (enum scope_direction)(i % 3), i / 3, 0};
    }
}

/* A deviation of so many standard deviations is expected less than once a day among all scopes of
 * the kind: the tail of the normal distribution is below exp(-z^2 / 2). */
double scopes_threshold(const struct scopes *s, enum scope_table_kind kind)
{
    return fmax(LEAST_THRESHOLD, sqrt(2 * log(DAY_WINDOWS * (s->tables[kind].count + 1))));
}
