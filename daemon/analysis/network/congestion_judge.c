/* Averages and states of links, from one window to the next. */
#include "daemon/analysis/network/congestion_state.h"

#include <math.h>

/* Where a link becomes hot, and is no longer: shares of its capacity, multiples of the mean load of
 * its kind; and the least load of which that multiple counts, bytes a second. */
#define HOT_SHARE 0.7
#define COOL_SHARE 0.5
#define HOT_TIMES 4
#define COOL_TIMES 3
#define MINIMUM_LOAD 1e6
/* Relative latencies above which it becomes congested, and below which it is no longer; and of how
 * many messages in the recent windows. */
#define SLOW 1.2
#define FAST 1.05
#define MINIMUM_MATCHED 16
#define LOADED_SHARE 0.01 /* of the most loaded link of the kind: a link with more is loaded */
#define MINIMUM_SUM 1e-3  /* a weighted sum below it counts as nothing */

static double judge_clip_sum(double sum)
{
    return sum < MINIMUM_SUM ? 0 : sum;
}

static void judge_update_averages(struct link_track *track, uint64_t bytes,
                                  const struct link_load *latency, struct congestion_fading fading)
{
    double log_latency = (double)(int64_t)latency->bytes / CONGESTION_UNIT;
    track->average = judge_clip_sum(track->average * fading.average + (double)bytes);
    track->recent = judge_clip_sum(track->recent * fading.recent + (double)bytes);
    track->matched = judge_clip_sum(track->matched * fading.recent + (double)latency->messages);
    track->log_latency = track->matched > 0 ? track->log_latency * fading.recent + log_latency : 0;
    track->peak = bytes > track->peak ? bytes : track->peak;
}

/* Averages of measured bytes and of the modelled ones beside them fade by windows with a counter:
 * one that reports every other window is no slower. */
static void judge_update_counters(struct link_track *track, uint64_t bytes, double recent_fading)
{
    track->counter = track->next_counter;
    track->next_counter = CONGESTION_UNKNOWN;
    track->packets = track->counter != CONGESTION_UNKNOWN && track->next_packets;
    bool has_bytes = track->counter != CONGESTION_UNKNOWN && !track->packets;
    double measured = has_bytes ? (double)track->counter : 0;
    track->recent_measured = judge_clip_sum(track->recent_measured * recent_fading + measured);
    if (has_bytes) {
        const double fading = exp2(-1 / CONGESTION_HALF_LIFE);
        track->measured = judge_clip_sum(track->measured * fading + measured);
        track->modelled = judge_clip_sum(track->modelled * fading + (double)bytes);
    }
}

/* The mean load of the loaded links of each kind needs the largest one first. */
static void judge_sum_kinds(struct congestion *c)
{
    for (uint32_t k = 0; k < c->kind_count; k++)
        c->kinds[k] = (struct link_kind){.largest = 0};
    for (uint32_t link = 0; link < c->link_count; link++) {
        const struct link_track *track = &c->tracks[link];
        if (track->kind == CONGESTION_NO_KIND)
            continue;
        struct link_kind *kind = &c->kinds[track->kind];
        kind->largest = fmax(kind->largest, track->recent / c->recent_seconds);
    }
    for (uint32_t link = 0; link < c->link_count; link++) {
        const struct link_track *track = &c->tracks[link];
        double load = track->recent / c->recent_seconds;
        if (track->kind == CONGESTION_NO_KIND || !(load > 0))
            continue;
        struct link_kind *kind = &c->kinds[track->kind];
        if (load >= LOADED_SHARE * kind->largest) {
            kind->sum += load;
            kind->loaded++;
        }
    }
}

static double judge_mean_of_kind(const struct congestion *c, const struct link_track *track)
{
    const struct link_kind *kind = &c->kinds[track->kind];
    return kind->loaded > 0 ? kind->sum / (double)kind->loaded : 0;
}

/* @return bytes a second above which a link becomes hot */
static double judge_hot_limit(const struct congestion *c, const struct link_track *track)
{
    return track->capacity > 0 ? HOT_SHARE * track->capacity
                               : fmax(HOT_TIMES * judge_mean_of_kind(c, track), MINIMUM_LOAD);
}

/* Measured bytes count only against a capacity: loads that are compared with those of other links
 * are all modelled. */
static double judge_larger_load(const struct link_track *track, double modelled, double measured)
{
    return track->capacity > 0 && measured > modelled ? measured : modelled;
}

static bool judge_stays_hot(const struct congestion *c, const struct link_track *track, double load)
{
    if (track->capacity > 0)
        return load >= COOL_SHARE * track->capacity;
    return load > 0 && load >= COOL_TIMES * judge_mean_of_kind(c, track) &&
           load >= MINIMUM_LOAD / 2;
}

/* @param load  recent load  @param window_load  that of this window alone */
static bool judge_becomes_hot(const struct congestion *c, struct link_track *track, double load,
                              double window_load)
{
    const double limit = judge_hot_limit(c, track);
    if (!(window_load > limit))
        return false;
    bool twice =
        track->over_limit != CONGESTION_UNKNOWN && c->window - track->over_limit <= CONGESTION_HOLD;
    track->over_limit = c->window;
    return twice && load > limit;
}

static bool judge_is_hot(const struct congestion *c, struct link_track *track, uint64_t bytes)
{
    double counted =
        track->counter != CONGESTION_UNKNOWN && !track->packets ? (double)track->counter : 0;
    double load =
        judge_larger_load(track, track->recent, track->recent_measured) / c->recent_seconds;
    if (track->state >= CONGESTION_HOT)
        return judge_stays_hot(c, track, load);
    return judge_becomes_hot(c, track, load,
                             judge_larger_load(track, (double)bytes, counted) / c->seconds);
}

static bool judge_is_slow(const struct link_track *track)
{
    double latency = track->matched > 0 ? exp(track->log_latency / track->matched) : 0;
    if (track->state == CONGESTION_CONGESTED)
        return latency >= FAST && track->matched >= MINIMUM_MATCHED / 2.0;
    return latency > SLOW && track->matched >= MINIMUM_MATCHED;
}

static void judge_update_state(struct congestion *c, struct link_track *track, uint64_t bytes)
{
    enum congestion_state state = bytes > 0 ? CONGESTION_BUSY : CONGESTION_IDLE;
    if (judge_is_hot(c, track, bytes))
        state = judge_is_slow(track) ? CONGESTION_CONGESTED : CONGESTION_HOT;
    bool is_held = state >= CONGESTION_HOT || track->state >= CONGESTION_HOT;
    uint64_t held_since = track->changed > c->first_window ? track->changed : c->first_window;
    if (state == track->state || (is_held && c->window - held_since < CONGESTION_HOLD))
        return;
    if (is_held)
        track->changed = c->window;
    track->state = state;
    track->since = c->window;
}

void congestion_judge_links(struct congestion *c, struct congestion_fading fading)
{
    const struct link_load *loads = link_loads_values(c->loads),
                           *latencies = link_loads_values(c->latencies);
    for (uint32_t link = 0; link < c->link_count; link++) {
        struct link_track *track = &c->tracks[link];
        judge_update_averages(track, loads[link].bytes, &latencies[link], fading);
        judge_update_counters(track, loads[link].bytes, fading.recent);
    }
    judge_sum_kinds(c);
    for (uint32_t link = 0; link < c->link_count; link++)
        if (c->tracks[link].kind != CONGESTION_NO_KIND)
            judge_update_state(c, &c->tracks[link], loads[link].bytes);
}
