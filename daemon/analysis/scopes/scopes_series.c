/* References of series (a pair of ranks and a size class): rows of a window are merged by series,
 * compared with their references, and learned from. */
#include "daemon/analysis/scopes/scopes_state.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SERIES_MEMORY 400.0f /* windows: references follow slow changes that are no fault */
#define PRIOR_WINDOWS 3.0    /* the comparison with other pairs counts as so many windows */
#define KNOWN_WINDOWS 8.0    /* from here on a series is compared with itself alone */
#define NOISE_MEMORY 100.0
#define INDEPENDENT 16.0    /* messages of a window: the mean of more is known no better */
#define LEAST_VARIANCE 4e-4 /* of a row: its mean is never known better than by 2 % */
#define LIMIT 4.0           /* standard deviations up to which a row counts */
#define MOST_TAIL 0.05      /* of the rows of a window: if more lie beyond, it is no chance */
#define LEAST_LIMIT 1.0     /* but at least 2.7 times the reference, and noise that rows share */
#define LOWEST (-3.0)       /* of y: one twentieth ... */
#define HIGHEST 6.0         /* ... and 400 times its reference */
#define LEAST_FLIGHT 50.0   /* nanoseconds: below lies the cost of the call */
#define NO_FLIGHT 1.0       /* x of messages that had come lies so far below that of others */
#define FOLLOWERS 4         /* rows that may be missing in a window before a hash is looked up */
#define FORGET_WINDOWS 900u /* a series that was not seen for so long may be dropped */
#define LEAST_DROPPED 16u   /* part of the table: series are dropped once so many can be */

/* ---- collecting ---------------------------------------------------------- */

/* The number of a pair of nodes, which is given one. @return KEY_NONE without memory */
static uint32_t series_find_pair(struct scopes *s, uint32_t from, uint32_t to)
{
    const struct key key = {from, to};
    const uint32_t known = key_table_find(&s->pair_keys, key);
    if (known != KEY_NONE)
        return known;
    if (key_table_reserve(&s->pair_keys, 1) != 0 || key_table_reserve(&s->both_keys, 1) != 0 ||
        array_fit_zero(&s->pairs, sizeof(*s->pairs), &s->pair_capacity,
                       (uint64_t)s->pair_keys.count + 1) != 0)
        return KEY_NONE;
    const uint32_t pair = key_table_add(&s->pair_keys, key);
    const struct key both = {from < to ? from : to, from < to ? to : from};
    s->pairs[pair] =
        (struct scope_pair){.from = from, .to = to, .both = key_table_add(&s->both_keys, both)};
    return pair;
}

static int series_add(struct scopes *s, struct key key)
{
    const uint32_t source = (uint32_t)(key.hi >> 32), destination = (uint32_t)key.hi;
    const uint32_t pair = series_find_pair(s, s->node_of[source], s->node_of[destination]);
    if (pair == KEY_NONE || key_table_reserve(&s->keys, 1) != 0 ||
        array_fit_zero(&s->series, sizeof(*s->series), &s->series_capacity,
                       (uint64_t)s->keys.count + 1) != 0 ||
        array_fit_zero(&s->row_of, sizeof(*s->row_of), &s->row_capacity,
                       (uint64_t)s->keys.count + 1) != 0)
        return -ENOMEM;
    const uint32_t series = key_table_add(&s->keys, key);
    s->series[series] = (struct scope_series){.pair = pair, .variant = series};
    s->row_of[series] = 0;
    return 0;
}

static int series_is_judged(const struct scopes *s, const struct transfer *row)
{
    return row->messages > 0 && row->source < s->ranks && row->destination < s->ranks &&
           s->node_of[row->source] != SCOPE_NO_NODE &&
           s->node_of[row->destination] != SCOPE_NO_NODE;
}

/* Do messages that had come before their receiver show no flight, only what the call costs? So it
 * is when they take much less time than those that were waited for; those that are sent only once
 * the receiver is there take as long.
 * @param class_  of messages that had come */
static int series_shows_no_flight(const struct scopes *s, uint32_t class_)
{
    const double waited_for = s->class_mean[class_ & ~SCOPE_CLASS_CAME_LATE];
    return (class_ & SCOPE_CLASS_CAME_LATE) != 0 && waited_for > 0 && s->class_mean[class_] > 0 &&
           s->class_mean[class_] < waited_for - NO_FLIGHT;
}

/* Mean logarithm of the time of flight. */
static double series_flight(const struct transfer *t)
{
    return log(fmax((double)(t->network_ns + t->joint_ns) / (double)t->messages, LEAST_FLIGHT));
}

/* A message that was still in flight for long after its receiver had come late is one that was
 * waited for. */
static uint32_t series_class_of(const struct scopes *s, const struct transfer *t, double flight)
{
    const uint32_t class_ =
        transfer_class(t) | (t->joint_ns > t->network_ns ? SCOPE_CLASS_JOINT : 0);
    const uint32_t came_late = class_ | SCOPE_CLASS_CAME_LATE;
    if (t->late_receiver_ns <= (t->messages == 1 ? 0 : t->network_ns + t->joint_ns))
        return class_;
    return series_shows_no_flight(s, came_late) && flight >= s->class_mean[class_] - NO_FLIGHT
               ? class_
               : came_late;
}

/* Series of the same ranks and size are linked in a ring. Rows come in about the same order in each
 * window: the ring of a row is that of the row before it, or one that followed that one before.
 * @return one in the ring of the key; KEY_NONE: not among those */
static uint32_t series_ring(const struct scopes *s, uint32_t before, struct key key)
{
    uint32_t at = before;
    for (uint32_t i = 0; i <= FOLLOWERS && at < s->keys.count; i++, at = s->keys.after[at]) {
        if (s->keys.keys[at].hi == key.hi &&
            ((s->keys.keys[at].lo ^ key.lo) & ((1u << SCOPE_CLASS_BITS) - 1)) == 0)
            return at;
    }
    return KEY_NONE;
}

static uint32_t series_find(const struct scopes *s, uint32_t ring, struct key key)
{
    uint32_t at = ring;
    while (at != KEY_NONE && !key_table_is(&s->keys, at, key)) {
        at = s->series[at].variant;
        at = at == ring ? KEY_NONE : at;
    }
    return at != KEY_NONE ? at : key_table_find(&s->keys, key);
}

/* Add a row of the window to that of its series. @return 0 or -ENOMEM */
static int series_collect(struct scopes *s, const struct transfer *t, uint32_t *before)
{
    struct scope_rows *rows = scopes_newest(s);
    const double flight = series_flight(t);
    const struct key key = {(uint64_t)t->source << 32 | t->destination,
                            series_class_of(s, t, flight)};
    const uint32_t ring = series_ring(s, *before, key);
    uint32_t series = series_find(s, ring, key);
    if (series == KEY_NONE) {
        if (s->keys.count >= s->most_series)
            return 0;
        if (series_add(s, key) != 0)
            return -ENOMEM;
        series = s->keys.count - 1;
        if (ring != KEY_NONE) {
            s->series[series].variant = s->series[ring].variant;
            s->series[ring].variant = series;
        }
    }
    if (*before < s->keys.count && ring == KEY_NONE)
        s->keys.after[*before] = series;
    *before = ring != KEY_NONE ? ring : series;
    if (s->row_of[series] == 0) {
        rows->list[rows->count] = (struct scope_row){.series = series,
                                                     .source = t->source,
                                                     .destination = t->destination,
                                                     .pair = s->series[series].pair,
                                                     .class_ = (uint32_t)key.lo};
        s->row_of[series] = (uint32_t)++rows->count;
    }
    struct scope_row *row = &rows->list[s->row_of[series] - 1];
    const double messages = (double)t->messages;
    row->messages += (float)messages;
    row->x += (float)(messages * rint(flight * 1024) / 1024);
    return 0;
}

int scopes_collect(struct scopes *s, const struct transfers *transfers)
{
    struct scope_rows *rows = scopes_newest(s);
    rows->count = 0;
    if (array_fit(&rows->list, sizeof(*rows->list), &rows->capacity, transfers->count) != 0)
        return -ENOMEM;
    int code = 0;
    uint32_t before = KEY_NONE;
    for (size_t i = 0; code == 0 && i < transfers->count; i++) {
        if (series_is_judged(s, &transfers->rows[i]))
            code = series_collect(s, &transfers->rows[i], &before);
    }
    memset(s->class_sum, 0, sizeof(s->class_sum));
    memset(s->class_weight, 0, sizeof(s->class_weight));
    for (size_t i = 0; i < rows->count; i++) {
        struct scope_row *row = &rows->list[i];
        s->row_of[row->series] = 0;
        row->x /= row->messages;
        s->class_sum[row->class_] += scope_round(row->x);
        s->class_weight[row->class_] += 1;
    }
    if (code != 0)
        rows->count = 0;
    return code;
}

/* ---- comparing ----------------------------------------------------------- */

/* The mean of a class in this window: what a series that was hardly seen is compared with. */
static double series_class_mean(const struct scopes *s, uint32_t class_)
{
    return s->class_sum[class_] / s->class_weight[class_];
}

/* Share of the prior in the reference of a series. */
static double series_prior(const struct scope_series *series)
{
    if (series->seen >= KNOWN_WINDOWS)
        return 0;
    return PRIOR_WINDOWS / (series->seen + PRIOR_WINDOWS) * (1 - series->seen / KNOWN_WINDOWS);
}

/* Variance of one message: that of the series, or while it was hardly seen, of all. */
static double series_noise(const struct scopes *s, const struct scope_series *series,
                           enum locality locality)
{
    return (series->seen * (double)series->noise + 8 * s->noise[locality]) / (series->seen + 8);
}

/* Messages of a window share what the machine does meanwhile. Where nothing else shows that, many
 * count as a limited number of independent ones. */
static double series_independent(const struct scopes *s, const struct scope_row *row)
{
    return scopes_are_few(s) ? fmin(row->messages, INDEPENDENT) : row->messages;
}

void scopes_compare(struct scopes *s)
{
    struct scope_rows *rows = scopes_newest(s);
    const bool few = scopes_are_few(s);
    for (uint32_t p = 0; p < s->pair_keys.count; p++)
        s->pairs[p].unseen = s->pairs[p].scale = 0;
    for (size_t i = 0; i < rows->count; i++) {
        struct scope_row *row = &rows->list[i];
        const struct scope_series *series = &s->series[row->series];
        struct scope_pair *pair = &s->pairs[row->pair];
        const double prior = series_prior(series);
        const double reference =
            prior * series_class_mean(s, row->class_) + (1 - prior) * series->mean;
        const enum locality locality = scope_row_locality(row);
        const double noise = series_noise(s, series, locality);
        const double shared = s->common[locality].variance + s->tables[TABLE_PAIR].spread[locality];
        const double independent = series_independent(s, row);
        const double known = (series->seen + 1) * (few ? independent : 1);
        const double lasting = noise / known + prior * prior * s->between;
        const double variance = noise / independent + lasting + LEAST_VARIANCE;
        row->y = (float)scope_limit(row->x - reference, LOWEST, HIGHEST);
        row->weight = series_shows_no_flight(s, row->class_) ? 0 : (float)(1 / variance);
        row->variance = (float)variance;
        row->lasting = (float)lasting;
        row->limit = (float)fmax(LIMIT * sqrt(variance), LEAST_LIMIT + LIMIT * sqrt(shared));
        pair->scale += scope_round(row->weight);
        pair->unseen += scope_round(row->weight * prior);
    }
}

/* Pairs of ranks on the same two nodes share what is not known of their nodes' pair: a pair of
 * nodes weighs no more than that allows. */
void scopes_weigh(struct scopes *s)
{
    struct scope_rows *rows = scopes_newest(s);
    for (uint32_t p = 0; p < s->pair_keys.count; p++) {
        struct scope_pair *pair = &s->pairs[p];
        if (pair->scale <= 0)
            continue;
        const double unseen = pair->unseen / pair->scale;
        const double spread = s->tables[TABLE_PAIR].spread[scopes_locality(s, TABLE_PAIR, p)];
        pair->lasting = unseen * unseen * s->between_nodes;
        pair->scale = 1 / (1 + pair->scale * (pair->lasting + spread));
    }
    for (size_t i = 0; i < rows->count; i++)
        rows->list[i].weight *= (float)s->pairs[rows->list[i].pair].scale;
}

/* ---- learning ------------------------------------------------------------ */

/* Variances within a series, between series and between pairs of nodes, of the whole job. */
struct variances {
    double noise[LOCALITIES], rows[LOCALITIES];
    double beyond[LOCALITIES]; /* rows above the limit */
    double between, count;
};

static void series_learn_row(struct scopes *s, const struct scope_row *row, struct variances *sums)
{
    struct scope_series *series = &s->series[row->series];
    const enum locality locality = scope_row_locality(row);
    const double noise = series_noise(s, series, locality);
    /* What open findings explain is in x, and no longer in y. */
    const double class_mean = series_class_mean(s, row->class_);
    const double prior = series_prior(series);
    const double x = row->y + prior * class_mean + (1 - prior) * series->mean;
    const double off = series->seen > 0 ? x - series->mean : 0;
    const double reach = LIMIT * sqrt(noise / series_independent(s, row) + LEAST_VARIANCE);
    const double limited = scope_limit(off, -reach, reach);
    const double square = limited * limited * fmin(row->messages, INDEPENDENT);
    const double rate = scope_rate(series->seen, SERIES_MEMORY);
    if (series->seen > 0) {
        const double known = series->seen / (series->seen + 1); /* the mean has an error, too */
        series->variance += (float)((square * known - series->variance) *
                                    scope_rate(series->seen - 1, SERIES_MEMORY));
        sums->noise[locality] += scope_round(square * known);
        sums->rows[locality] += 1;
        sums->beyond[locality] += off > reach;
    }
    if (!scopes_are_few(s) || s->tables[TABLE_PAIR].tracks[row->pair].cusum < SCOPE_BEGUN)
        series->noise = series->variance;
    else if (series->seen <= 0) /* it begins while its pair deviates */
        series->noise = (float)s->noise[locality];
    series->mean = (float)(series->seen > 0 ? series->mean + rate * limited : x);
    if (series->seen < SERIES_MEMORY)
        series->seen += 1;
    series->last = s->windows;
    const double apart = series->mean - class_mean;
    sums->between += scope_round(scope_limit(apart * apart, 0, 4.0));
    s->pairs[row->pair].unseen += scope_round(apart);
    s->pairs[row->pair].scale += 1;
    sums->count += 1;
}

static void series_learn_classes(struct scopes *s)
{
    const double rate = scope_rate(s->windows, NOISE_MEMORY);
    for (uint32_t c = 0; c < SCOPE_CLASSES; c++) {
        if (s->class_weight[c] > 0)
            s->class_mean[c] += (float)((s->class_mean[c] > 0 ? rate : 1) *
                                        (series_class_mean(s, c) - s->class_mean[c]));
    }
}

/* How far means of pairs of nodes lie from those of their classes. */
static double series_between_nodes(const struct scopes *s)
{
    double sum = 0, count = 0;
    for (uint32_t p = 0; p < s->pair_keys.count; p++) {
        const double mean = s->pairs[p].scale > 0 ? s->pairs[p].unseen / s->pairs[p].scale : 0;
        sum += scope_round(fmin(mean * mean, 4.0));
        count += s->pairs[p].scale > 0;
    }
    return count > 0 ? sum / count : 0;
}

void scopes_learn(struct scopes *s)
{
    const struct scope_rows *rows = scopes_newest(s);
    struct variances sums = {.count = 0};
    if (rows->count == 0)
        return;
    for (uint32_t p = 0; p < s->pair_keys.count; p++)
        s->pairs[p].unseen = s->pairs[p].scale = 0;
    for (size_t i = 0; i < rows->count; i++)
        series_learn_row(s, &rows->list[i], &sums);
    series_learn_classes(s);
    const double rate = scope_rate(s->windows, NOISE_MEMORY);
    for (int l = 0; l < LOCALITIES; l++) {
        if (sums.rows[l] <= 0)
            continue;
        s->noise[l] += rate * (sums.noise[l] / sums.rows[l] - s->noise[l]);
        s->tail[l] += rate * (fmin(sums.beyond[l] / sums.rows[l], MOST_TAIL) - s->tail[l]);
    }
    s->between += rate * (sums.between / sums.count - s->between);
    s->between_nodes += rate * (series_between_nodes(s) - s->between_nodes);
}

/* ---- forgetting ---------------------------------------------------------- */

/* Drop series that were not seen for long, when the table is full. Recent rows refer to series by
 * number: they are dropped with it, so that it must not happen in every window.
 * @return 0 or -ENOMEM: nothing has changed */
int scopes_forget(struct scopes *s)
{
    struct key_table kept = {.count = 0};
    uint32_t count = 0;
    if (s->keys.count < s->most_series)
        return 0;
    for (uint32_t i = 0; i < s->keys.count; i++)
        count += s->windows - s->series[i].last < FORGET_WINDOWS;
    if (s->keys.count - count <= s->most_series / LEAST_DROPPED)
        return 0;
    if (key_table_reserve(&kept, count + 1) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->keys.count; i++) {
        if (s->windows - s->series[i].last >= FORGET_WINDOWS)
            continue;
        const uint32_t number = key_table_add(&kept, s->keys.keys[i]);
        s->series[number] = s->series[i];
        s->series[number].variant = number;
    }
    key_table_finish(&s->keys);
    s->keys = kept;
    for (size_t i = 0; i < SCOPE_RECENT; i++)
        s->recent[i].count = 0;
    return 0;
}
