/* A window of the same pairs as the last one: nearly all windows of nearly all jobs. */
#include "daemon/analysis/network/congestion_inner.h"

#include <string.h>

#define AT_ONCE 512u /* pairs whose latencies stay near between two passes; an even number */
#define MOST_UNIT                                                                                  \
    0x1p-12 /* with which no sum that is packed comes near CONGESTION_NO_FRACTIONS                 \
             */

typedef uint64_t two_words __attribute__((vector_size(16)));
typedef double two_numbers __attribute__((vector_size(16)));

bool congestion_are_same(struct congestion *c, const struct congestion_pair *pairs, size_t count)
{
    bool whole = true;
    if (count != c->pair_count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct congestion_pair *before = &c->pairs[i], *pair = &pairs[i];
        if (before->source != pair->source || before->destination != pair->destination ||
            (pair->bytes | pair->messages | pair->matched) == 0)
            return false;
        whole = whole && (pair->bytes | pair->messages) != 0;
    }
    c->whole = whole;
    return true;
}

/* How they are taken, decided when pairs are the same for the first time. */
static enum adding decide(struct congestion *c)
{
    if (!link_loads_walks(c->loads))
        return ADDING_CHANGES;
    return kept_routes_list(&c->routes, c->topology, c->pairs, c->pair_count) == 0 ? ADDING_ALONG
                                                                                   : ADDING_CHANGES;
}

static bool sums_up(struct congestion *c)
{
    if (c->adding == ADDING_UNDECIDED)
        c->adding = decide(c);
    return c->adding != ADDING_CHANGES;
}

void congestion_begin_anew(struct congestion *c)
{
    if (c->adding == ADDING_ALONG) {
        link_loads_clear(c->loads);
        link_loads_clear(c->latencies);
        c->pair_count = 0;
    }
    c->figures = (struct congestion_figures){.count = 0};
}

/* ---- one by one ---- */

/* The pairs become others one by one. */
static void stay_changing(struct congestion *c, const struct congestion_pair *pairs)
{
    for (size_t i = 0; i < c->pair_count; i++) {
        struct congestion_pair after = pairs[i];
        after.log_latency =
            after.matched == 0 ? 0 : congestion_units(after.log_latency) / CONGESTION_UNIT;
        congestion_become(c, &c->pairs[i], &after, 0);
        c->pairs[i] = after;
    }
    congestion_flush(c);
}

static struct congestion_pair with_figures(const struct congestion_pair *pair,
                                           const struct congestion_figures *figures, size_t i)
{
    const struct log_sum latency = log_sums_at(figures->latencies, i);
    double units = latency.messages == 0 ? 0 : congestion_units(latency.sum * figures->unit);
    return (struct congestion_pair){.source = pair->source,
                                    .destination = pair->destination,
                                    .bytes = figures->loads[i].bytes,
                                    .messages = figures->loads[i].messages,
                                    .matched = latency.messages,
                                    .log_latency = units / CONGESTION_UNIT};
}

static void shift_changing(struct congestion *c, const struct congestion_figures *figures)
{
    for (size_t i = 0; i < c->pair_count; i++) {
        struct congestion_pair after = with_figures(&c->pairs[i], figures, i);
        congestion_become(c, &c->pairs[i], &after, 0);
        c->pairs[i] = after;
    }
    congestion_flush(c);
}

void congestion_settle_pairs(struct congestion *c)
{
    for (size_t i = 0; i < c->figures.count; i++)
        c->pairs[i] = with_figures(&c->pairs[i], &c->figures, i);
    c->figures = (struct congestion_figures){.count = 0};
}

/* ---- summed up anew ---- */

static void begin_sums(struct congestion *c, struct link_loads *sums)
{
    if (c->adding == ADDING_ALONG)
        memset(link_loads_open(sums), 0, c->link_count * sizeof(struct link_load));
}

/* @param from  position of the first pair that it is of */
static void add_sums(struct congestion *c, struct link_loads *sums, size_t from,
                     const struct link_load *more, size_t count)
{
    if (c->adding == ADDING_IN_TREE)
        tree_sums_add(c->tree, more, count);
    else
        link_loads_add_routes(sums, c->routes.links, c->routes.first + from, more, count);
}

static void end_sums(struct congestion *c, struct link_loads *sums)
{
    if (c->adding == ADDING_IN_TREE)
        tree_sums_settle(c->tree, link_loads_open(sums));
}

static struct link_load load_of(uint64_t matched, double log_latency)
{
    int64_t units = matched == 0 ? 0 : congestion_whole_units(log_latency);
    return (struct link_load){(uint64_t)units, matched};
}

/* Latencies of pairs, none of which has sums apart, two at once, from one of an even number on.
 * Their units are no more than CONGESTION_NO_FRACTIONS allows. */
static void unpack_latencies(const uint64_t *packed, size_t count, double unit,
                             struct link_load *out)
{
    const uint64_t low_bits = 2 * (uint64_t)LOG_SUMS_HALF - 1,
                   double_bits = UINT64_C(0x4330000000000000); /* those of 2^52 */
    const two_words none = (two_words)((two_numbers){0, 0} + CONGESTION_NO_FRACTIONS);
    for (size_t i = 0; i < count; i += 2) {
        two_words sums;
        memcpy(&sums, &packed[i], sizeof(sums));
        sums += (uint64_t)LOG_SUMS_HALF;
        two_numbers logs =
            (two_numbers)((sums & low_bits) | double_bits) - (0x1p52 + (double)LOG_SUMS_HALF);
        const two_words units =
                            (two_words)(logs * unit * CONGESTION_UNIT + CONGESTION_NO_FRACTIONS) -
                            none,
                        messages = sums >> LOG_SUMS_SHIFT;
        const two_words loads[2] = {__builtin_shufflevector(units, messages, 0, 2),
                                    __builtin_shufflevector(units, messages, 1, 3)};
        memcpy(&out[i], loads, sizeof(loads));
    }
}

/* @param near  room for an even number of them */
static void find_latencies(const struct congestion_figures *figures, size_t from, size_t count,
                           struct link_load *near)
{
    if (!figures->latencies->has_wide && figures->unit <= MOST_UNIT) {
        unpack_latencies(figures->latencies->packed + from, count, figures->unit, near);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct log_sum latency = log_sums_at(figures->latencies, from + i);
        near[i] = load_of(latency.messages, latency.sum * figures->unit);
    }
}

static void sum_latencies(struct congestion *c, const struct congestion_figures *figures)
{
    struct link_load near[AT_ONCE];
    begin_sums(c, c->latencies);
    for (size_t from = 0; from < c->pair_count; from += AT_ONCE) {
        size_t count = c->pair_count - from < AT_ONCE ? c->pair_count - from : AT_ONCE;
        find_latencies(figures, from, count, near);
        add_sums(c, c->latencies, from, near, count);
    }
    end_sums(c, c->latencies);
}

static void sum_loads(struct congestion *c, const struct link_load *loads)
{
    begin_sums(c, c->loads);
    add_sums(c, c->loads, 0, loads, c->pair_count);
    end_sums(c, c->loads);
}

/* Of pairs that were given themselves. */
static void sum_pairs(struct congestion *c, const struct congestion_pair *pairs)
{
    struct link_load loads[AT_ONCE];
    for (unsigned of_loads = 0; of_loads < 2; of_loads++) {
        struct link_loads *sums = of_loads ? c->loads : c->latencies;
        begin_sums(c, sums);
        for (size_t from = 0; from < c->pair_count; from += AT_ONCE) {
            size_t count = c->pair_count - from < AT_ONCE ? c->pair_count - from : AT_ONCE;
            for (size_t i = 0; i < count; i++) {
                const struct congestion_pair *p = &pairs[from + i];
                loads[i] = of_loads ? (struct link_load){p->bytes, p->messages}
                                    : load_of(p->matched, p->log_latency);
            }
            add_sums(c, sums, from, loads, count);
        }
        end_sums(c, sums);
    }
    for (size_t i = 0; i < c->pair_count; i++) {
        c->pairs[i] = pairs[i];
        c->pairs[i].log_latency =
            pairs[i].matched == 0 ? 0 : congestion_units(pairs[i].log_latency) / CONGESTION_UNIT;
    }
}

void congestion_stay(struct congestion *c, const struct congestion_pair *pairs)
{
    c->figures = (struct congestion_figures){.count = 0};
    if (sums_up(c))
        sum_pairs(c, pairs);
    else
        stay_changing(c, pairs);
}

void congestion_stay_figures(struct congestion *c, const struct congestion_figures *figures)
{
    if (!sums_up(c)) {
        shift_changing(c, figures);
        return;
    }
    if (!figures->same_loads)
        sum_loads(c, figures->loads);
    sum_latencies(c, figures);
    c->figures = *figures;
}
