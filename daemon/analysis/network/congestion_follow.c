/* Each link from one window to the next: averages, and states. */
#include "daemon/analysis/network/congestion_inner.h"

#define LOADED 0.01    /* of the most loaded link of the kind */
#define LEAST_SUM 1e-3 /* bytes below which an average is nothing */

typedef int64_t bits __attribute__((vector_size(16)));

/* ---- averages ---- */

static double settled(double sum)
{
    return sum < LEAST_SUM ? 0 : sum;
}

/* How much is left of sums. */
struct fades {
    congestion_sums bytes, latencies; /* as those of a track */
};

static inline void follow(struct track *track, uint64_t bytes, const struct link_load *latency,
                          const struct fades *fades)
{
    const congestion_sums least = {LEAST_SUM, LEAST_SUM};
    congestion_sums more = {(double)bytes, (double)bytes},
                    late = {(double)(int64_t)latency->bytes / CONGESTION_UNIT,
                            (double)latency->messages};
    more += track->bytes * fades->bytes;
    late += track->latencies * fades->latencies;
    /* Where no messages are left neither are logarithms. */
    track->bytes = (congestion_sums)((bits)more & ~(bits)(more < least));
    const bits none = (bits)(late < least);
    track->latencies = (congestion_sums)((bits)late & ~__builtin_shufflevector(none, none, 1, 1));
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

/* A link that nothing goes over, and nothing went for long. */
static bool is_at_rest(const struct track *track)
{
    return track_average(track) == 0 && track_recent(track) == 0 && track_matched(track) == 0 &&
           track->state == CONGESTION_IDLE && !track->counted;
}

/* What a window puts on the links of a kind. */
struct loading {
    uint64_t largest;        /* bytes of one */
    double most, least, sum; /* of recent loads: the least that is something */
    uint64_t loaded;         /* that have some */
    size_t noted;            /* counted, or of another state than most are by their bytes */
};

static struct loading follow_kind(struct congestion *c, const struct kind *kind,
                                  const struct fades *fades)
{
    const struct link_load *loads = link_loads_values(c->loads),
                           *latencies = link_loads_values(c->latencies);
    const uint32_t *link = &c->by_kind[kind->first], *end = link + kind->links;
    struct loading all = {.least = INFINITY};
    for (; link < end; link++) {
        struct track *track = &c->tracks[*link];
        const struct link_load *latency = &latencies[*link];
        uint64_t bytes = loads[*link].bytes;
        if ((bytes | latency->messages) == 0 && is_at_rest(track))
            continue;
        follow(track, bytes, latency, fades);
        if (track->counted || track->state != (bytes > 0 ? CONGESTION_BUSY : CONGESTION_IDLE))
            c->noted[all.noted++] = *link;
        double recent = track_recent(track), load = recent / c->recent;
        all.largest = bytes > all.largest ? bytes : all.largest;
        all.most = recent > all.most ? recent : all.most;
        all.sum += load;
        if (load > 0) {
            all.least = load < all.least ? load : all.least;
            all.loaded++;
        }
    }
    return all;
}

/* ---- states ---- */

/* What counts of modelled and measured bytes. */
static double judged(const struct link_past *past, double modelled, double measured)
{
    return past->capacity > 0 && measured > modelled ? measured : modelled;
}

/* The sum over those that are loaded. Links are added in their order, so that it is the same to the
 * last bit whether all are loaded or not. */
static void gather_kind(const struct congestion *c, struct kind *kind, struct loading *all)
{
    double threshold = LOADED * (all->most / c->recent);
    if (all->least < threshold) {
        all->sum = 0;
        all->loaded = 0;
        for (uint32_t i = kind->first; i < kind->first + kind->links; i++) {
            double load = track_recent(&c->tracks[c->by_kind[i]]) / c->recent;
            if (load > 0 && load >= threshold) {
                all->sum += load;
                all->loaded++;
            }
        }
    }
    kind->mean = all->loaded > 0 ? all->sum / (double)all->loaded : 0;
    kind->limit = fmax(c->params.hot_times * kind->mean, c->params.least);
}

static bool stays_hot(const struct congestion *c, uint32_t link, double load)
{
    const struct congestion_params *p = &c->params;
    double capacity = c->pasts[link].capacity;
    if (capacity > 0)
        return load >= p->cool_share * capacity;
    return load > 0 && load >= p->cool_times * c->kinds[c->tracks[link].kind].mean &&
           load >= p->least / 2;
}

static double limit_of(const struct congestion *c, uint32_t link)
{
    double capacity = c->pasts[link].capacity;
    return capacity > 0 ? c->params.hot_share * capacity : c->kinds[c->tracks[link].kind].limit;
}

static bool becomes_hot(const struct congestion *c, uint32_t link, double load, double now)
{
    struct link_past *past = &c->pasts[link];
    double limit = limit_of(c, link);
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
    const struct link_past *past = &c->pasts[link];
    bool told = counts->counter != CONGESTION_UNKNOWN && !counts->packets;
    double load = judged(past, track_recent(track), counts->recent_measured) / c->recent;
    double now = judged(past, (double)bytes, told ? (double)counts->counter : 0) / c->seconds;
    return track->state >= CONGESTION_HOT ? stays_hot(c, link, load)
                                          : becomes_hot(c, link, load, now);
}

static bool is_slow(const struct congestion *c, const struct track *track)
{
    const struct congestion_params *p = &c->params;
    double matched = track_matched(track);
    double latency = matched > 0 ? exp(track->latencies[0] / matched) : 0;
    if (track->state == CONGESTION_CONGESTED)
        return latency >= p->fast && matched >= (double)p->least_matched / 2;
    return latency > p->slow && matched >= (double)p->least_matched;
}

/* Most links are far from hot, before and after: for them the rest of what is known of them is not
 * looked at. */
static bool is_cool(const struct congestion *c, uint32_t link, uint64_t bytes)
{
    const struct track *track = &c->tracks[link];
    return track->state < CONGESTION_HOT && !track->counted &&
           !((double)bytes / c->seconds > limit_of(c, link));
}

static void judge(struct congestion *c, uint32_t link, uint64_t bytes)
{
    struct track *track = &c->tracks[link];
    enum congestion_state state = bytes > 0 ? CONGESTION_BUSY : CONGESTION_IDLE;
    bool cool = is_cool(c, link, bytes);
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
    c->hot += (size_t)(state >= CONGESTION_HOT) - (size_t)(track->state >= CONGESTION_HOT);
    track->state = (uint8_t)state;
    past->since = c->window;
}

/* Where not even the largest load of the window makes a link hot, others than those noted stay what
 * they are. */
static void judge_kind(struct congestion *c, const struct kind *kind, const struct loading *all)
{
    const struct link_load *loads = link_loads_values(c->loads);
    bool whole = kind->limited || (double)all->largest / c->seconds > kind->limit;
    const uint32_t *links = whole ? &c->by_kind[kind->first] : c->noted;
    size_t count = whole ? kind->links : all->noted;
    for (size_t i = 0; i < count; i++)
        judge(c, links[i], loads[links[i]].bytes);
}

void congestion_follow(struct congestion *c, double fade, double recent_fade)
{
    const struct fades fades = {{fade, recent_fade}, {recent_fade, recent_fade}};
    const struct link_load *loads = link_loads_settle(c->loads);
    link_loads_settle(c->latencies);
    for (uint32_t k = 0; k < c->kind_count; k++) {
        struct kind *kind = &c->kinds[k];
        struct loading all = follow_kind(c, kind, &fades);
        for (size_t i = 0; i < all.noted; i++) {
            struct track *track = &c->tracks[c->noted[i]];
            if (track->counted)
                track->counted = follow_counts(c, &c->counts[c->noted[i]], loads[c->noted[i]].bytes,
                                               recent_fade);
        }
        gather_kind(c, kind, &all);
        judge_kind(c, kind, &all);
    }
}
