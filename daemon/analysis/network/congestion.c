#include "daemon/analysis/network/congestion.h"
#include "daemon/analysis/network/congestion_inner.h"
#include "daemon/analysis/network/congestion_kinds.h"
#include "include/holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* Numbers that stand for no link are in no kind. */
static void list_by_kind(struct congestion *c, const uint32_t *kinds)
{
    uint32_t first = 0, from, to;
    for (uint32_t k = 0; k < c->kind_count; k++) {
        c->kinds[k].first = first;
        first += c->kinds[k].links;
        c->kinds[k].links = 0;
    }
    for (uint32_t link = 0; link < c->link_count; link++) {
        struct kind *kind = &c->kinds[kinds[link]];
        if (topology_link(c->topology, link, &from, &to))
            c->by_kind[kind->first + kind->links++] = link;
    }
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
        c->tracks[link].kind = kinds[link];
        c->counts[link].counter = c->counts[link].told = CONGESTION_UNKNOWN;
        c->pasts[link].over = CONGESTION_UNKNOWN;
        if (!topology_link(c->topology, link, &from, &to))
            continue;
        c->pasts[link].capacity = topology_capacity(c->topology, link);
        c->kinds[kinds[link]].links++;
        c->kinds[kinds[link]].limited |= c->pasts[link].capacity > 0;
    }
    if (code == 0)
        list_by_kind(c, kinds);
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
    c->by_kind = malloc(((size_t)c->link_count + 1) * sizeof(*c->by_kind));
    c->noted = malloc(((size_t)c->link_count + 1) * sizeof(*c->noted));
    c->changes = malloc(CHANGES * sizeof(*c->changes));
    c->shifts = malloc(CHANGES * sizeof(*c->shifts));
    if (c->tracks == NULL || c->counts == NULL || c->pasts == NULL || c->by_kind == NULL ||
        c->noted == NULL || c->changes == NULL || c->shifts == NULL)
        return -ENOMEM;
    int code = link_loads_create(&c->loads, c->topology);
    if (code == 0)
        code = link_loads_create(&c->latencies, c->topology);
    if (code == 0 && tree_sums_can(c->topology)) {
        code = tree_sums_create(&c->tree, c->topology);
        c->adding = ADDING_IN_TREE;
    }
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
    free(c->by_kind);
    free(c->noted);
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

/* The first of c->fresh are the pairs from now on. */
static void use_fresh(struct congestion *c, size_t count)
{
    struct congestion_pair *pairs = c->pairs;
    size_t room = c->room;
    c->pairs = c->fresh;
    c->room = c->fresh_room;
    c->fresh = pairs;
    c->fresh_room = room;
    c->pair_count = count;
    c->whole = false;
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
    use_fresh(c, kept);
    c->adding = ADDING_UNDECIDED;
}

/* The same in a tree, where there are routes between all vertices. */
static void change_tree(struct congestion *c, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct congestion_pair *pair = &c->fresh[i];
        if (pair->source < c->vertex_count && pair->destination < c->vertex_count)
            c->fresh[kept++] = *pair;
    }
    c->skipped += count - kept;
    use_fresh(c, kept);
    tree_sums_list(c->tree, c->pairs, kept);
    congestion_stay(c, c->pairs);
}

/* ---- windows ---- */

static int grow(struct congestion *c, size_t count)
{
    if (c->tree != NULL && tree_sums_fit(c->tree, count) != 0)
        return -ENOMEM;
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
    } else if (c->tree != NULL) {
        change_tree(c, take_in(c, pairs, count));
    } else {
        congestion_begin_anew(c);
        change_over(c, take_in(c, pairs, count));
    }
    congestion_follow(c, left.all, left.recent);
    return 0;
}

/* Put pairs that only have ends into c->fresh, which has room. @return whether
 * congestion_update_ends() takes them */
static bool take_ends(struct congestion *c, const struct congestion_pair *pairs,
                      const struct congestion_figures *figures)
{
    const uint32_t vertices = c->vertex_count;
    uint64_t last = 0;
    for (size_t i = 0; i < figures->count; i++) {
        const struct link_load *load = &figures->loads[i];
        const uint32_t source = pairs[i].source, destination = pairs[i].destination;
        const uint64_t ends = (uint64_t)source << 32 | destination;
        if (source >= vertices || destination >= vertices || source == destination ||
            ends <= last || (load->bytes | load->messages) == 0)
            return false;
        last = ends;
        c->fresh[i] = (struct congestion_pair){.source = source, .destination = destination};
    }
    return true;
}

int congestion_update_ends(struct congestion *c, uint64_t window, double seconds,
                           const struct congestion_pair *pairs,
                           const struct congestion_figures *figures)
{
    if (!is_next(c, window, seconds) || c->tree == NULL)
        return -HOLTER_ERANGE;
    int code = grow(c, figures->count);
    if (code != 0 || !take_ends(c, pairs, figures))
        return code != 0 ? code : -HOLTER_ERANGE;
    struct fading left = begin_window(c, window, seconds);
    use_fresh(c, figures->count);
    tree_sums_list(c->tree, c->pairs, c->pair_count);
    c->whole = true;
    congestion_stay_figures(c, figures);
    congestion_follow(c, left.all, left.recent);
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
    congestion_follow(c, left.all, left.recent);
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
           c->link_count * (sizeof(*c->tracks) + sizeof(*c->counts) + sizeof(*c->pasts) +
                            sizeof(*c->by_kind) + sizeof(*c->noted)) +
           c->kind_count * sizeof(*c->kinds) + (c->room + c->fresh_room) * sizeof(*c->pairs) +
           tree_sums_bytes(c->tree) + kept_routes_bytes(&c->routes) +
           CHANGES * (sizeof(*c->changes) + sizeof(*c->shifts));
}
