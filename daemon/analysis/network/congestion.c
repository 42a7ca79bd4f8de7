/* The links of a network over windows: what pairs of vertices put on them, and what is known of
 * each link. Averages and states are those of congestion_judge.c. */
#include "daemon/analysis/network/congestion.h"
#include "daemon/analysis/network/congestion_kinds.h"
#include "daemon/analysis/network/congestion_state.h"
#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define RECENT_HALF_LIFE 2.0 /* of the weights in recent loads, windows */
#define MAXIMUM_LOG 0x1p30   /* a pair's sum of logarithms is cut to it, so that units fit */

static int congestion_init_links(struct congestion *c)
{
    uint32_t *kinds = malloc(((size_t)c->link_count + 1) * sizeof(*kinds));
    int code = kinds == NULL ? -ENOMEM : congestion_kinds(c->topology, kinds, &c->kind_count);
    if (code == 0) {
        c->kinds = calloc(c->kind_count, sizeof(*c->kinds));
        code = c->kinds == NULL ? -ENOMEM : 0;
    }
    for (uint32_t link = 0; code == 0 && link < c->link_count; link++) {
        uint32_t from, to;
        bool exists = topology_link(c->topology, link, &from, &to);
        c->tracks[link] = (struct link_track){
            .kind = exists ? kinds[link] : CONGESTION_NO_KIND,
            .capacity = exists ? topology_capacity(c->topology, link) : 0,
            .counter = CONGESTION_UNKNOWN,
            .next_counter = CONGESTION_UNKNOWN,
            .over_limit = CONGESTION_UNKNOWN,
        };
    }
    free(kinds);
    return code;
}

int congestion_create(struct congestion **out, const struct topology *topology)
{
    struct congestion *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->topology = topology;
    c->link_count = topology_links(topology);
    c->tracks = calloc((size_t)c->link_count + 1, sizeof(*c->tracks));
    int code = c->tracks == NULL ? -ENOMEM : link_loads_create(&c->loads, topology);
    if (code == 0)
        code = link_loads_create(&c->latencies, topology);
    if (code == 0)
        code = congestion_init_links(c);
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
    free(c->kinds);
    free(c->pairs);
    free(c);
}

int congestion_set_counter(struct congestion *c, uint32_t link, uint64_t amount, int packets)
{
    if (link >= c->link_count || c->tracks[link].kind == CONGESTION_NO_KIND)
        return -HOLTER_ERANGE;
    c->tracks[link].next_counter = amount;
    c->tracks[link].next_packets = packets != 0;
    return 0;
}

/* ---- the pairs of a window ---- */

/* A logarithm as a whole number of units, so that sums do not depend on the order of pairs. */
static double congestion_log_units(double log_latency)
{
    const double maximum = MAXIMUM_LOG * CONGESTION_UNIT;
    double units = rint(log_latency * CONGESTION_UNIT);
    return isnan(units) ? 0 : fmin(fmax(units, -maximum), maximum);
}

static double congestion_round_log(double log_latency)
{
    return congestion_log_units(log_latency) / CONGESTION_UNIT;
}

/* Keep the pairs and put them on the links of their routes. Those that send nothing or have no
 * route are dropped. */
static void congestion_load_links(struct congestion *c, const struct congestion_pair *pairs,
                                  size_t count)
{
    c->pair_count = 0;
    link_loads_clear(c->loads);
    link_loads_clear(c->latencies);
    for (size_t i = 0; i < count; i++) {
        struct congestion_pair pair = pairs[i];
        if (pair.source == pair.destination || (pair.bytes | pair.messages | pair.matched) == 0)
            continue;
        pair.log_latency = pair.matched == 0 ? 0 : congestion_round_log(pair.log_latency);
        struct load_change load = {.source = pair.source,
                                   .destination = pair.destination,
                                   .bytes = (int64_t)pair.bytes,
                                   .messages = (int64_t)pair.messages};
        if (link_loads_add(c->loads, &load) != 0)
            continue;
        c->pairs[c->pair_count++] = pair;
        if (pair.matched == 0)
            continue;
        load.bytes = (int64_t)congestion_log_units(pair.log_latency);
        load.messages = (int64_t)pair.matched;
        link_loads_add(c->latencies, &load);
    }
}

/* ---- windows ---- */

static struct congestion_fading congestion_begin_window(struct congestion *c, uint64_t window,
                                                        double seconds)
{
    const double gap = c->started ? (double)(window - c->window) : 1;
    const double one = exp2(-1 / CONGESTION_HALF_LIFE), recent_one = exp2(-1 / RECENT_HALF_LIFE);
    const struct congestion_fading fading = {pow(one, gap), pow(recent_one, gap)};
    /* Windows left out weigh as much as this one: a geometric series. */
    const double weight = (1 - fading.average) / (1 - one);
    const double recent_weight = (1 - fading.recent) / (1 - recent_one);
    c->weight = c->weight * fading.average + weight;
    c->recent_seconds = c->recent_seconds * fading.recent + recent_weight * seconds;
    c->first_window = c->started ? c->first_window : window;
    c->window = window;
    c->started = true;
    c->seconds = seconds;
    return fading;
}

int congestion_update(struct congestion *c, uint64_t window, double seconds,
                      const struct congestion_pair *pairs, size_t count)
{
    if ((c->started && window <= c->window) || !(seconds > 0) || !isfinite(seconds))
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(c->pairs, c->pair_capacity, count) != 0)
        return -ENOMEM;
    const struct congestion_fading fading = congestion_begin_window(c, window, seconds);
    congestion_load_links(c, pairs, count);
    congestion_judge_links(c, fading);
    return 0;
}

/* ---- queries ---- */

int congestion_link(const struct congestion *c, uint32_t link, struct congestion_link *out)
{
    uint32_t from, to;
    if (!topology_link(c->topology, link, &from, &to))
        return 0;
    const struct link_track *track = &c->tracks[link];
    const struct link_load *load = &link_loads_values(c->loads)[link],
                           *latency = &link_loads_values(c->latencies)[link];
    bool has_share = track->capacity > 0 && c->started;
    bool has_ratio = track->counter != CONGESTION_UNKNOWN && !track->packets && track->modelled > 0;
    double log_mean = (double)(int64_t)latency->bytes / CONGESTION_UNIT / (double)latency->messages;
    *out = (struct congestion_link){
        .link = link,
        .from = from,
        .to = to,
        .state = track->state,
        .since = track->since,
        .messages = load->messages,
        .bytes = load->bytes,
        .average = c->weight > 0 ? track->average / c->weight : 0,
        .peak = track->peak,
        .share = has_share ? (double)load->bytes / (track->capacity * c->seconds) : NAN,
        .latency = latency->messages > 0 ? exp(log_mean) : NAN,
        .measured = track->counter,
        .packets = track->packets,
        .ratio = has_ratio ? track->measured / track->modelled : NAN,
    };
    return 1;
}

size_t congestion_hot(const struct congestion *c, struct congestion_link *out, size_t capacity)
{
    size_t count = 0;
    for (uint32_t link = 0; link < c->link_count; link++) {
        if (c->tracks[link].state < CONGESTION_HOT)
            continue;
        if (count < capacity)
            congestion_link(c, link, &out[count]);
        count++;
    }
    return count;
}

size_t congestion_links(const struct congestion *c, struct congestion_link *out, size_t capacity)
{
    size_t count = 0;
    for (uint32_t link = 0; link < c->link_count; link++) {
        const struct link_track *track = &c->tracks[link];
        if (track->kind == CONGESTION_NO_KIND ||
            (track->state == CONGESTION_IDLE && track->average < c->weight / 2 &&
             track->counter == CONGESTION_UNKNOWN))
            continue;
        if (count < capacity)
            congestion_link(c, link, &out[count]);
        count++;
    }
    return count;
}

const struct link_loads *congestion_loads(const struct congestion *c)
{
    return c->loads;
}

const struct congestion_pair *congestion_pairs(const struct congestion *c, size_t *count)
{
    *count = c->pair_count;
    return c->pairs;
}

void congestion_copy_state(struct state_bytes *b, struct congestion **out,
                           const struct topology *topology)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct congestion *c = *out;
    c->topology = topology;
    if (b->code == 0 && (topology == NULL || c->link_count != topology_links(topology)))
        b->code = -HOLTER_EVERSION;
    link_loads_copy_state(b, &c->loads, topology);
    link_loads_copy_state(b, &c->latencies, topology);
    STATE_ARRAY(b, c->tracks, c->link_count, (size_t)c->link_count + 1);
    STATE_ARRAY(b, c->kinds, c->kind_count, 0);
    STATE_ARRAY(b, c->pairs, c->pair_count, c->pair_capacity);
}
