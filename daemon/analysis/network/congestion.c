#include "daemon/analysis/network/congestion.h"
#include "daemon/analysis/network/congestion_inner.h"
#include "daemon/analysis/network/congestion_kinds.h"
#include "include/holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOADED 0.01    /* of the most loaded link of the kind */
#define LEAST_SUM 1e-3 /* bytes below which an average is nothing */
#define UNIT CONGESTION_UNIT
#define CHANGES 16384u /* that are added at a time */

static bool are_valid(const struct congestion_params *p)
{
    return p->half_life > 0 && p->recent > 0 && p->cool_share > 0 &&
           p->hot_share >= p->cool_share && p->cool_times > 0 && p->hot_times >= 1 &&
           p->hot_times >= p->cool_times && p->least >= 0 && p->fast > 0 && p->slow >= p->fast &&
           p->least_matched >= 1 && isfinite(p->half_life) && isfinite(p->recent) &&
           isfinite(p->slow);
}

static int take_kinds(struct congestion *c)
{
    uint32_t *kinds = malloc(((size_t)c->link_count + 1) * sizeof(*kinds));
    int code = kinds == NULL ? -ENOMEM : congestion_kinds(c->topology, kinds, &c->kind_count);
    if (code == 0) {
        c->kinds = calloc(c->kind_count, sizeof(*c->kinds));
        code = c->kinds == NULL ? -ENOMEM : 0;
    }
    for (uint32_t link = 0; code == 0 && link < c->link_count; link++) {
        uint32_t from, to;
        struct track *track = &c->tracks[link];
        track->kind = kinds[link];
        c->counts[link].counter = c->counts[link].told = CONGESTION_UNKNOWN;
        c->pasts[link].over = CONGESTION_UNKNOWN;
        if (topology_link(c->topology, link, &from, &to))
            track->capacity = topology_capacity(c->topology, link);
    }
    free(kinds);
    return code;
}

static int make(struct congestion *c)
{
    c->link_count = topology_links(c->topology);
    c->vertex_count = topology_vertices(c->topology);
    c->tracks = calloc((size_t)c->link_count + 1, sizeof(*c->tracks));
    c->counts = calloc((size_t)c->link_count + 1, sizeof(*c->counts));
    c->pasts = calloc((size_t)c->link_count + 1, sizeof(*c->pasts));
    c->changes = malloc(CHANGES * sizeof(*c->changes));
    c->shifts = malloc(CHANGES * sizeof(*c->shifts));
    if (c->tracks == NULL || c->counts == NULL || c->pasts == NULL || c->changes == NULL ||
        c->shifts == NULL)
        return -ENOMEM;
    int code = link_loads_create(&c->loads, c->topology);
    if (code == 0)
        code = link_loads_create(&c->latencies, c->topology);
    return code != 0 ? code : take_kinds(c);
}

int congestion_create(struct congestion **out, const struct topology *topology,
                      const struct congestion_params *params)
{
    if (!are_valid(params))
        return -HOLTER_ERANGE;
    struct congestion *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->topology = topology;
    c->params = *params;
    c->fade = exp2(-1 / params->half_life);
    int code = make(c);
    if (code != 0) {
        congestion_destroy(c);
        return code;
    }
    *out = c;
    return 0;
}

void congestion_destroy(struct congestion *c)
{
    if (c == NULL)
        return;
    link_loads_destroy(c->loads);
    link_loads_destroy(c->latencies);
    free(c->tracks);
    free(c->counts);
    free(c->pasts);
    free(c->kinds);
    free(c->pairs);
    free(c->fresh);
    tree_sums_destroy(c->tree);
    kept_routes_finish(&c->routes);
    free(c->changes);
    free(c->shifts);
    free(c);
}

int congestion_measured(struct congestion *c, uint32_t link, uint64_t amount, int packets)
{
    uint32_t from, to;
    if (!topology_link(c->topology, link, &from, &to))
        return -HOLTER_ERANGE;
    c->tracks[link].counted = 1;
    c->counts[link].told = amount;
    c->counts[link].told_packets = packets != 0;
    return 0;
}

/* ---- the pairs of a window ---- */

static int compare_pairs(const void *a, const void *b)
{
    const struct congestion_pair *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->destination > y->destination) - (x->destination < y->destination);
}

static double rounded(double log_latency)
{
    return congestion_units(log_latency) / UNIT;
}

/* Copy them into c->fresh in ascending order, each once. @return how many */
static size_t take_in(struct congestion *c, const struct congestion_pair *pairs, size_t count)
{
    size_t used = 0, kept = 0;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        struct congestion_pair pair = pairs[i];
        if (pair.source == pair.destination || (pair.bytes | pair.messages | pair.matched) == 0)
            continue;
        pair.log_latency = pair.matched == 0 ? 0 : rounded(pair.log_latency);
        sorted = sorted && (used == 0 || compare_pairs(&c->fresh[used - 1], &pair) <= 0);
        c->fresh[used++] = pair;
    }
    if (!sorted)
        qsort(c->fresh, used, sizeof(*c->fresh), compare_pairs);
    for (size_t i = 0; i < used; i++) {
        struct congestion_pair *last = kept > 0 ? &c->fresh[kept - 1] : NULL;
        if (last == NULL || compare_pairs(last, &c->fresh[i]) != 0) {
            c->fresh[kept++] = c->fresh[i];
            continue;
        }
        last->bytes += c->fresh[i].bytes;
        last->messages += c->fresh[i].messages;
        last->matched += c->fresh[i].matched;
        last->log_latency = rounded(last->log_latency + c->fresh[i].log_latency);
    }
    return kept;
}

void congestion_flush(struct congestion *c)
{
    link_loads_add_many(c->loads, c->changes, c->change_count);
    link_loads_add_many(c->latencies, c->shifts, c->shift_count);
    c->change_count = c->shift_count = 0;
}

void congestion_become(struct congestion *c, const struct congestion_pair *before,
                       const struct congestion_pair *after, int32_t pairs)
{
    const struct congestion_pair *either = pairs < 0 ? before : after;
    uint32_t source = either->source, destination = either->destination;
    if (pairs != 0 || before->bytes != after->bytes || before->messages != after->messages)
        c->changes[c->change_count++] =
            (struct load_change){.source = source,
                                 .destination = destination,
                                 .bytes = (int64_t)(after->bytes - before->bytes),
                                 .messages = (int64_t)(after->messages - before->messages),
                                 .pairs = pairs};
    if (before->matched != after->matched || before->log_latency != after->log_latency)
        c->shifts[c->shift_count++] = (struct load_change){
            .source = source,
            .destination = destination,
            .bytes = (int64_t)((after->log_latency - before->log_latency) * UNIT),
            .messages = (int64_t)(after->matched - before->matched)};
    if (c->change_count == CHANGES || c->shift_count == CHANGES)
        congestion_flush(c);
}

static bool has_route(const struct congestion *c, const struct congestion_pair *pair)
{
    return topology_distance(c->topology, pair->source, pair->destination) != TOPOLOGY_NONE;
}

/* From the last window's pairs to those in c->fresh; these lose what has no route. */
static void change_over(struct congestion *c, size_t count)
{
    static const struct congestion_pair none = {0};
    size_t old = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct congestion_pair *pair = &c->fresh[i];
        while (old < c->pair_count && compare_pairs(&c->pairs[old], pair) < 0)
            congestion_become(c, &c->pairs[old++], &none, -1);
        bool known = old < c->pair_count && compare_pairs(&c->pairs[old], pair) == 0;
        if (!known && !has_route(c, pair)) {
            c->skipped++;
            continue;
        }
        congestion_become(c, known ? &c->pairs[old++] : &none, pair, known ? 0 : 1);
        c->fresh[kept++] = *pair;
    }
    while (old < c->pair_count)
        congestion_become(c, &c->pairs[old++], &none, -1);
    congestion_flush(c);
    struct congestion_pair *pairs = c->pairs;
    size_t room = c->room;
    c->pairs = c->fresh;
    c->room = c->fresh_room;
    c->fresh = pairs;
    c->fresh_room = room;
    c->pair_count = kept;
    c->adding = ADDING_UNDECIDED;
    c->whole = false;
}

/* ---- averages ---- */

static double settled(double sum)
{
    return sum < LEAST_SUM ? 0 : sum;
}

static void follow(struct track *track, uint64_t bytes, const struct link_load *latency,
                   double fade, double recent_fade)
{
    double matched = settled(track->matched * recent_fade + (double)latency->messages);
    track->average = settled(track->average * fade + (double)bytes);
    track->recent = settled(track->recent * recent_fade + (double)bytes);
    track->log_sum =
        matched == 0 ? 0 : track->log_sum * recent_fade + (double)(int64_t)latency->bytes / UNIT;
    track->matched = matched;
    track->peak = bytes > track->peak ? bytes : track->peak;
}

/* @return whether counts still matter */
static bool follow_counts(const struct congestion *c, struct link_counts *counts, uint64_t bytes,
                          double recent_fade)
{
    counts->counter = counts->told;
    counts->told = CONGESTION_UNKNOWN;
    bool bytes_told = counts->counter != CONGESTION_UNKNOWN && !counts->told_packets;
    counts->packets = counts->counter != CONGESTION_UNKNOWN && counts->told_packets;
    counts->recent_measured =
        settled(counts->recent_measured * recent_fade + (bytes_told ? (double)counts->counter : 0));
    if (bytes_told) {
        double own = c->fade;
        counts->measured = settled(counts->measured * own + (double)counts->counter);
        counts->modelled = settled(counts->modelled * own + (double)bytes);
    }
    return counts->counter != CONGESTION_UNKNOWN || counts->recent_measured > 0;
}

/* ---- states ---- */

/* What counts of modelled and measured bytes. */
static double judged(const struct track *track, double modelled, double measured)
{
    return track->capacity > 0 && measured > modelled ? measured : modelled;
}

/* Loads are recent loads by seconds; `most` is not yet. */
static void gather_kinds(struct congestion *c)
{
    for (uint32_t k = 0; k < c->kind_count; k++) {
        struct kind *kind = &c->kinds[k];
        *kind = (struct kind){.most = LOADED * (kind->most / c->recent)};
    }
    for (uint32_t link = 0; link < c->link_count; link++) {
        struct kind *kind = &c->kinds[c->tracks[link].kind];
        double load = c->tracks[link].recent / c->recent;
        if (load > 0 && load >= kind->most) {
            kind->sum += load;
            kind->loaded++;
        }
    }
    for (uint32_t k = 0; k < c->kind_count; k++) {
        struct kind *kind = &c->kinds[k];
        kind->mean = kind->loaded > 0 ? kind->sum / (double)kind->loaded : 0;
        kind->limit = fmax(c->params.hot_times * kind->mean, c->params.least);
    }
}

static bool stays_hot(const struct congestion *c, const struct track *track, double load)
{
    const struct congestion_params *p = &c->params;
    if (track->capacity > 0)
        return load >= p->cool_share * track->capacity;
    return load > 0 && load >= p->cool_times * c->kinds[track->kind].mean && load >= p->least / 2;
}

static double limit_of(const struct congestion *c, const struct track *track)
{
    return track->capacity > 0 ? c->params.hot_share * track->capacity
                               : c->kinds[track->kind].limit;
}

static bool becomes_hot(const struct congestion *c, uint32_t link, double load, double now)
{
    struct link_past *past = &c->pasts[link];
    double limit = limit_of(c, &c->tracks[link]);
    if (!(now > limit))
        return false;
    bool again = past->over != CONGESTION_UNKNOWN && c->window - past->over <= c->params.hold;
    past->over = c->window;
    return again && load > limit;
}

static bool is_hot(const struct congestion *c, uint32_t link, uint64_t bytes)
{
    const struct track *track = &c->tracks[link];
    const struct link_counts *counts = &c->counts[link];
    bool told = counts->counter != CONGESTION_UNKNOWN && !counts->packets;
    double load = judged(track, track->recent, counts->recent_measured) / c->recent;
    double now = judged(track, (double)bytes, told ? (double)counts->counter : 0) / c->seconds;
    return track->state >= CONGESTION_HOT ? stays_hot(c, track, load)
                                          : becomes_hot(c, link, load, now);
}

static bool is_slow(const struct congestion *c, const struct track *track)
{
    const struct congestion_params *p = &c->params;
    double latency = track->matched > 0 ? exp(track->log_sum / track->matched) : 0;
    if (track->state == CONGESTION_CONGESTED)
        return latency >= p->fast && track->matched >= (double)p->least_matched / 2;
    return latency > p->slow && track->matched >= (double)p->least_matched;
}

/* Most links are far from hot, before and after: for them the rest of what is known of them is not looked at. */
static bool is_cool(const struct congestion *c, const struct track *track, uint64_t bytes)
{
    return track->state < CONGESTION_HOT && !track->counted &&
           !((double)bytes / c->seconds > limit_of(c, track));
}

static void judge(const struct congestion *c, uint32_t link, uint64_t bytes)
{
    struct track *track = &c->tracks[link];
    enum congestion_state state = bytes > 0 ? CONGESTION_BUSY : CONGESTION_IDLE;
    bool cool = is_cool(c, track, bytes);
    if (cool && state == track->state)
        return;
    struct link_past *past = &c->pasts[link];
    if (!cool && is_hot(c, link, bytes))
        state = is_slow(c, track) ? CONGESTION_CONGESTED : CONGESTION_HOT;
    bool matters = state >= CONGESTION_HOT || track->state >= CONGESTION_HOT;
    uint64_t from = past->changed > c->first ? past->changed : c->first;
    if (state == track->state || (matters && c->window - from < c->params.hold))
        return;
    past->changed = matters ? c->window : past->changed;
    track->state = (uint8_t)state;
    past->since = c->window;
}

/* A link that nothing goes over, and nothing went for long. */
static bool is_at_rest(const struct track *track, uint64_t bytes, uint64_t matched)
{
    return bytes == 0 && matched == 0 && track->average == 0 && track->recent == 0 &&
           track->matched == 0 && track->state == CONGESTION_IDLE && !track->counted;
}

static void follow_all(struct congestion *c, double fade, double recent_fade)
{
    const struct link_load *loads = link_loads_settle(c->loads),
                           *latencies = link_loads_settle(c->latencies);
    for (uint32_t k = 0; k < c->kind_count; k++)
        c->kinds[k].most = 0;
    for (uint32_t link = 0; link < c->link_count; link++) {
        struct track *track = &c->tracks[link];
        struct kind *kind = &c->kinds[track->kind];
        if (!is_at_rest(track, loads[link].bytes, latencies[link].messages))
            follow(track, loads[link].bytes, &latencies[link], fade, recent_fade);
        if (track->counted)
            track->counted = follow_counts(c, &c->counts[link], loads[link].bytes, recent_fade);
        kind->most = track->recent > kind->most ? track->recent : kind->most;
    }
    gather_kinds(c);
    c->hot = 0;
    for (uint32_t link = 0; link < c->link_count; link++) {
        judge(c, link, loads[link].bytes);
        c->hot += c->tracks[link].state >= CONGESTION_HOT;
    }
}

static int grow(struct congestion *c, size_t count)
{
    if (count <= c->fresh_room)
        return 0;
    if (count > SIZE_MAX / 2 / sizeof(*c->fresh))
        return -ENOMEM;
    struct congestion_pair *fresh = realloc(c->fresh, count * sizeof(*fresh));
    if (fresh == NULL)
        return -ENOMEM;
    c->fresh = fresh;
    c->fresh_room = count;
    return 0;
}

static bool is_next(const struct congestion *c, uint64_t window, double seconds)
{
    return !(c->begun && window <= c->window) && seconds > 0 && isfinite(seconds);
}

/* How much is left of sums with what was before the window. */
struct fading {
    double all, recent;
};

static struct fading begin_window(struct congestion *c, uint64_t window, double seconds)
{
    double gap = c->begun ? (double)(window - c->window) : 1;
    double one = c->fade, recent_one = exp2(-1 / c->params.recent);
    double fade = pow(one, gap), recent_fade = pow(recent_one, gap);
    /* windows left out count as long as this one: a geometric series */
    double more = one < 1 ? (1 - fade) / (1 - one) : gap;
    double recent_more = recent_one < 1 ? (1 - recent_fade) / (1 - recent_one) : gap;
    c->weight = c->weight * fade + more;
    c->recent = c->recent * recent_fade + recent_more * seconds;
    c->first = c->begun ? c->first : window;
    c->window = window;
    c->begun = true;
    c->seconds = seconds;
    return (struct fading){fade, recent_fade};
}

int congestion_update(struct congestion *c, uint64_t window, double seconds,
                      const struct congestion_pair *pairs, size_t count)
{
    if (!is_next(c, window, seconds))
        return -HOLTER_ERANGE;
    bool same = congestion_are_same(c, pairs, count);
    int code = same ? 0 : grow(c, count);
    if (code != 0)
        return code;
    struct fading left = begin_window(c, window, seconds);
    if (same) {
        congestion_stay(c, pairs);
    } else {
        congestion_begin_anew(c);
        change_over(c, take_in(c, pairs, count));
    }
    follow_all(c, left.all, left.recent);
    return 0;
}

static bool are_of_pairs(const struct congestion *c, const struct congestion_figures *figures)
{
    bool whole = c->whole && figures->count == c->pair_count;
    for (size_t i = 0; whole && !figures->same_loads && i < figures->count; i++)
        whole = (figures->loads[i].bytes | figures->loads[i].messages) != 0;
    return whole;
}

int congestion_update_figures(struct congestion *c, uint64_t window, double seconds,
                              const struct congestion_figures *figures)
{
    if (!is_next(c, window, seconds) || !are_of_pairs(c, figures))
        return -HOLTER_ERANGE;
    struct fading left = begin_window(c, window, seconds);
    congestion_stay_figures(c, figures);
    follow_all(c, left.all, left.recent);
    return 0;
}

/* ---- what there is ---- */

const struct link_loads *congestion_loads(const struct congestion *c)
{
    return c->loads;
}

const struct congestion_pair *congestion_pairs(struct congestion *c, size_t *count)
{
    congestion_settle_pairs(c);
    *count = c->pair_count;
    return c->pairs;
}

uint64_t congestion_skipped(const struct congestion *c)
{
    return c->skipped;
}

size_t congestion_bytes(const struct congestion *c)
{
    return sizeof(*c) + link_loads_bytes(c->loads) + link_loads_bytes(c->latencies) +
           c->link_count * (sizeof(*c->tracks) + sizeof(*c->counts) + sizeof(*c->pasts)) +
           c->kind_count * sizeof(*c->kinds) + (c->room + c->fresh_room) * sizeof(*c->pairs) +
           tree_sums_bytes(c->tree) + kept_routes_bytes(&c->routes) +
           CHANGES * (sizeof(*c->changes) + sizeof(*c->shifts));
}
