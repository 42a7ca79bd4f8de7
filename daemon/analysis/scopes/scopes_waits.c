/* Who is waited for. A rank is late when its partners wait for its messages to be sent, or its
 * messages for it to receive them. A rank that waited itself, for a late sender or for messages in
 * flight, passes that on, so what it waited counts against what others waited for it: the rank
 * where a delay begins is left. */
#include "daemon/analysis/scopes/scopes_state.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY 200.0       /* windows */
#define LEAST_SCALE 1000.0 /* nanoseconds a message: less is no wait */
#define LONG_FLIGHT 30.0   /* scales a message: a longer one is chance, and hides who is late */
#define FIRST_VARIANCE 0.5 /* of a rank's deviation, until it is known */
#define CLIP 9.0           /* squared standard deviations that count for the variance */
#define DRIFT 0.3          /* of CUSUM */
#define STEP 6.0           /* standard deviations that one window counts at most */
#define LEAST_EFFECT 0.8   /* deviation that is a finding: 2.2 times the scale or the mean */
#define BACK 0.4           /* deviation that is none */
#define LEAST_SHARE 0.002  /* of the window: what partners wait for the rank together */
#define INDEPENDENT 4.0    /* windows of an excursion, at most, that count as independent */
#define LEARN_AFTER 60u    /* windows: a longer excursion is how the rank is now */
#define LEAST_WINDOWS 3u   /* slow messages may hold up ranks: they are to be found first */
#define COSTS_MORE 2.0     /* times what messages in flight cost: else delays follow from these */
#define FIRST_EXCESS 0.15  /* of peaks of runs, until it is known */
#define ALIKE 0.4          /* of the largest excess: ranks are about as late */
#define ONSET_SHARE 0.4    /* of what a rank is late by: from its onset on it is that late */

/* Windows of runs, and from which least deviation on runs are learned. */
static const uint32_t run_windows[WAIT_RUNS] = {1, 3, 6};
static const double run_floor[WAIT_RUNS] = {0.6, 0.2, 0.2};

struct scope_wait {
    /* Of the window, nanoseconds. */
    double awaited; /* others waited for it */
    double waited;  /* it waited */
    double messages;
    /* References, nanoseconds a message. */
    double mean;                /* of awaited - waited */
    double mean_await;          /* of awaited */
    float seen;                 /* windows */
    float y;                    /* deviation in the window */
    float recent[SCOPE_RECENT]; /* in the last windows, a ring by window; without messages the
                                   one before */
    float peaks[WAIT_RUNS];     /* of the excursion: the largest that a run was at least */
    struct scope_track track;
};

void scopes_waits_finish(struct scope_waits *waits)
{
    free(waits->ranks);
    *waits = (struct scope_waits){0};
}

static void waits_sum(struct scopes *s, const struct transfers *rows)
{
    const double longest = LONG_FLIGHT * s->waits.scale;
    for (uint32_t r = 0; r < s->ranks; r++)
        s->waits.ranks[r].awaited = s->waits.ranks[r].waited = s->waits.ranks[r].messages = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct transfer *t = &rows->rows[i];
        if (t->source >= s->ranks || t->destination >= s->ranks)
            continue;
        struct scope_wait *source = &s->waits.ranks[t->source];
        struct scope_wait *destination = &s->waits.ranks[t->destination];
        source->awaited += (double)t->late_sender_ns;
        destination->awaited += (double)t->late_receiver_ns;
        destination->waited +=
            (double)t->late_sender_ns +
            fmin((double)(t->network_ns + t->joint_ns), longest * (double)t->messages);
        source->messages += (double)t->messages;
        destination->messages += (double)t->messages;
    }
}

static double waits_net(const struct scope_wait *w)
{
    return (w->awaited - w->waited) / w->messages;
}

/* A typical wait: the mean over ranks. */
static void waits_follow_scale(struct scopes *s)
{
    double sum = 0, count = 0;
    for (uint32_t r = 0; r < s->ranks; r++) {
        const struct scope_wait *w = &s->waits.ranks[r];
        if (w->messages > 0)
            sum += rint((w->awaited + w->waited) / 2 / w->messages);
        count += w->messages > 0;
    }
    if (count > 0)
        s->waits.scale +=
            scope_rate(s->windows, MEMORY) * (fmax(sum / count, LEAST_SCALE) - s->waits.scale);
}

static void waits_compare(struct scopes *s)
{
    const double scale = s->waits.scale;
    for (uint32_t r = 0; r < s->ranks; r++) {
        struct scope_wait *w = &s->waits.ranks[r];
        w->y = w->messages > 0 && w->seen > 0
                   ? (float)(asinh(waits_net(w) / scale) - asinh(w->mean / scale))
                   : 0;
        w->recent[s->windows % SCOPE_RECENT] =
            w->messages > 0 ? w->y : w->recent[(s->windows + SCOPE_RECENT - 1) % SCOPE_RECENT];
    }
}

/* ---- findings ------------------------------------------------------------ */

/* The first windows in which a rank has messages are its first reference. */
static bool waits_is_known(const struct scope_wait *w)
{
    return w->seen >= (float)SCOPE_CALM;
}

/* What the last windows deviate by at least. */
static double waits_least(const struct scopes *s, const struct scope_wait *w, uint32_t windows)
{
    double least = w->y;
    for (uint32_t i = 1; i < windows; i++)
        least = fmin(least, w->recent[(s->windows + SCOPE_RECENT - i) % SCOPE_RECENT]);
    return least;
}

/* An excursion has ended by itself. */
static void waits_learn_peaks(struct scopes *s, const struct scope_wait *w)
{
    for (uint32_t k = 0; k < WAIT_RUNS; k++)
        scope_peaks_add(&s->waits.peaks[k], w->peaks[k] - run_floor[k]);
}

static double waits_reach(const struct scopes *s, uint32_t k, double rate)
{
    return run_floor[k] + scope_peaks_reach(&s->waits.peaks[k], rate);
}

/* Does a rank deviate in each of some windows by more than noise does, and than it would by chance
 * if windows were independent? */
static bool waits_persists(const struct scopes *s, const struct scope_wait *w)
{
    const double ranks = s->ranks;
    bool persists = false;
    for (uint32_t k = 1; !persists && k < WAIT_RUNS; k++) {
        const double alone = ranks * pow(SCOPE_FALSE_RATE / ranks, 1.0 / run_windows[k]);
        persists = waits_least(s, w, run_windows[k]) >=
                   fmax(waits_reach(s, k, SCOPE_FALSE_RATE), waits_reach(s, 0, alone));
    }
    return persists;
}

static void waits_end_excursion(const struct scopes *s, struct scope_wait *w)
{
    w->track = (struct scope_track){.start = s->windows + 1, .last = s->windows};
    memset(w->peaks, 0, sizeof(w->peaks));
}

static void waits_follow(struct scopes *s, struct scope_wait *w, bool calm)
{
    const double z = (w->y - DRIFT) / sqrt(s->waits.variance);
    w->track.last = s->windows;
    w->track.cusum = (float)fmax(0, w->track.cusum + fmin(fmax(z, -STEP), STEP));
    if (w->track.cusum <= 0 || !waits_is_known(w)) {
        if (calm)
            waits_learn_peaks(s, w);
        waits_end_excursion(s, w);
        return;
    }
    for (uint32_t k = 0; k < WAIT_RUNS; k++)
        w->peaks[k] = fmaxf(w->peaks[k], (float)waits_least(s, w, run_windows[k]));
    w->track.product += w->y;
    w->track.weight += 1;
}

static void waits_restart(struct scopes *s)
{
    for (uint32_t r = 0; r < s->ranks; r++)
        waits_end_excursion(s, &s->waits.ranks[r]);
}

/* Time by which others wait for a rank longer than they used to. */
static double waits_growth(const struct scope_wait *w)
{
    return w->awaited - w->mean_await * w->messages;
}

/* The part of it beyond what holds up the rank itself. */
static double waits_excess(const struct scope_wait *w)
{
    return w->messages > 0 ? fmin((waits_net(w) - w->mean) * w->messages, waits_growth(w)) : 0;
}

static bool waits_is_raised(const struct scopes *s, const struct scope_wait *w, uint64_t length_ns)
{
    const uint32_t windows = s->windows - w->track.start + 1;
    if (w->track.cusum <= 0 || w->track.last != s->windows || windows < LEAST_WINDOWS)
        return false;
    const double effect = w->track.product / w->track.weight;
    return effect >= LEAST_EFFECT && waits_growth(w) >= LEAST_SHARE * (double)length_ns &&
           effect >= scopes_threshold(s, TABLE_RANK) *
                         sqrt(s->waits.variance / fmin(windows - 1, INDEPENDENT)) &&
           waits_persists(s, w);
}

static double waits_ratio(const struct scopes *s, const struct scope_wait *w)
{
    return w->awaited / w->messages / fmax(w->mean_await, s->waits.scale);
}

/* Is the node of the latest rank late as a whole: most of its ranks about as late, and no others?
 */
static bool waits_node_is_late(const struct scopes *s, uint32_t node, double largest)
{
    uint32_t late = 0, ranks = 0, others = 0;
    for (uint32_t r = 0; r < s->ranks; r++) {
        const struct scope_wait *w = &s->waits.ranks[r];
        const bool alike = waits_excess(w) >= ALIKE * largest;
        ranks += s->node_of[r] == node && w->messages > 0;
        late += s->node_of[r] == node && alike;
        others += s->node_of[r] != node && alike;
    }
    return ranks >= 2 && 2 * late > ranks && others == 0;
}

/* The first window from which on the rank has been late by a good part of what it is now: noise may
 * have begun its excursion earlier. */
static uint32_t waits_onset(const struct scopes *s, const struct scope_wait *w)
{
    const uint32_t oldest = s->windows < SCOPE_RECENT ? 0 : s->windows - SCOPE_RECENT + 1;
    const double least = ONSET_SHARE * w->track.product / w->track.weight;
    uint32_t onset = s->windows;
    while (onset > oldest && onset > w->track.start &&
           w->recent[(onset - 1) % SCOPE_RECENT] >= least)
        onset--;
    return onset == oldest && w->track.start < oldest ? w->track.start : onset;
}

/* By how much messages of open findings took longer in flight. */
static double waits_transfer_excess(const struct scopes *s)
{
    double sum = 0;
    for (uint32_t f = 0; f < s->open_count; f++)
        sum += s->open[f].finding.part == SCOPE_TRANSFER
                   ? fmax(s->open[f].finding.excess_ns, s->open[f].finding.peak_ns)
                   : 0;
    return sum;
}

static int waits_has(const struct scopes *s, const struct scope *scope, uint32_t rank)
{
    return scope->kind == SCOPE_RANK ? scope->a == rank : s->node_of[rank] == scope->a;
}

/* Bring an open finding up to date with the ranks of its members. */
static void waits_explain(struct scopes *s, struct scope_open *open)
{
    struct scope_finding *f = &open->finding;
    int known = 0, back = 1;
    f->excess_ns = 0;
    f->messages = 0;
    for (uint32_t m = 0; m < f->member_count; m++) {
        double largest = 0;
        for (uint32_t r = 0; r < s->ranks; r++) {
            const struct scope_wait *w = &s->waits.ranks[r];
            if (w->messages <= 0 || !waits_has(s, &f->members[m], r))
                continue;
            known = 1;
            back = back && w->y < BACK;
            largest = fmax(largest, waits_ratio(s, w));
            f->excess_ns += fmax(0, waits_growth(w));
            f->messages += (uint64_t)w->messages;
        }
        open->effects[m] = largest > 1 ? log(largest) : 0;
    }
    if (known)
        open->good = back ? open->good + 1 : 0;
    f->over = open->good >= SCOPE_OVER;
    f->share = 1;
}

/* One finding names the latest rank, or its node, and the ranks that are about as late. */
static void waits_search(struct scopes *s, uint64_t length_ns)
{
    uint32_t first = UINT32_MAX, alike = 0;
    for (uint32_t r = 0; r < s->ranks; r++) {
        const struct scope_wait *w = &s->waits.ranks[r];
        if (!waits_is_raised(s, w, length_ns))
            continue;
        if (first == UINT32_MAX || waits_excess(w) > waits_excess(&s->waits.ranks[first]))
            first = r;
    }
    if (first == UINT32_MAX)
        return;
    const double largest = waits_excess(&s->waits.ranks[first]);
    if (largest < COSTS_MORE * waits_transfer_excess(s))
        return;
    const uint64_t onset = s->number - (s->windows - waits_onset(s, &s->waits.ranks[first]));
    const struct scope node = {SCOPE_NODE, SCOPE_ALL, s->node_of[first], 0};
    const bool whole = waits_node_is_late(s, s->node_of[first], largest);
    struct scope_open *open = NULL;
    for (uint32_t r = 0; r < s->ranks && alike < SCOPE_MEMBERS; r++) {
        const struct scope_wait *w = &s->waits.ranks[r];
        const struct scope rank = {SCOPE_RANK, SCOPE_BOTH, r, 0};
        if (r != first && waits_excess(w) < ALIKE * largest)
            continue;
        alike++;
        if (!whole || r == first)
            open = scopes_open_finding(s, whole ? &node : &rank, SCOPE_LATENESS, onset,
                                       log(fmax(waits_ratio(s, w), 1)));
    }
    if (open != NULL) {
        open->finding.uncertain = !whole && alike > 1;
        waits_explain(s, open);
    }
    waits_restart(s);
}

/* ---- learning ------------------------------------------------------------ */

static void waits_learn(struct scopes *s)
{
    double squares = 0, count = 0;
    for (uint32_t r = 0; r < s->ranks; r++) {
        struct scope_wait *w = &s->waits.ranks[r];
        const uint32_t windows = w->track.cusum > 0 ? s->windows - w->track.start : 0;
        if (w->messages <= 0 ||
            (waits_is_known(w) && windows >= LEAST_WINDOWS && windows < LEARN_AFTER))
            continue;
        const double rate = scope_rate(w->seen, MEMORY);
        if (w->seen > 0) {
            squares += scope_round(fmin(w->y * (double)w->y, CLIP * s->waits.variance));
            count += 1;
        }
        /* A single long wait moves the mean by no more than the scale allows. */
        const double off = waits_net(w) - w->mean, reach = 4 * s->waits.scale;
        w->mean += w->seen > 0 ? rate * fmin(fmax(off, -reach), reach) : off;
        w->mean_await += rate * (w->awaited / w->messages - w->mean_await);
        w->seen += w->seen < MEMORY;
    }
    if (count > 0)
        s->waits.variance +=
            scope_rate(s->windows + 3, MEMORY) * (squares / count - s->waits.variance);
}

int scopes_waits_update(struct scopes *s, uint64_t length_ns, const struct transfers *rows)
{
    int late = 0, slow = 0;
    if (array_fit_zero(&s->waits.ranks, sizeof(*s->waits.ranks), &s->waits.capacity, s->ranks) != 0)
        return -ENOMEM;
    if (s->waits.scale == 0) {
        s->waits.scale = LEAST_SCALE;
        s->waits.variance = FIRST_VARIANCE;
        for (uint32_t k = 0; k < WAIT_RUNS; k++)
            scope_peaks_init(&s->waits.peaks[k], FIRST_EXCESS);
    }
    waits_sum(s, rows);
    waits_compare(s);
    for (uint32_t f = 0; f < s->open_count; f++) {
        if (s->open[f].finding.part == SCOPE_LATENESS)
            waits_explain(s, &s->open[f]);
        late |= s->open[f].finding.part == SCOPE_LATENESS;
        slow |= s->open[f].finding.part == SCOPE_TRANSFER;
    }
    for (uint32_t r = 0; r < s->ranks; r++) {
        if (s->waits.ranks[r].messages > 0)
            waits_follow(s, &s->waits.ranks[r], !late && !slow);
    }
    /* What slow messages have held up is no excursion once they are fast again. */
    if (s->waits.slow && !slow)
        waits_restart(s);
    s->waits.slow = slow;
    if (!late && s->windows >= SCOPE_CALM)
        waits_search(s, length_ns);
    if (!late && !slow) {
        waits_follow_scale(s);
        waits_learn(s);
        for (uint32_t k = 0; k < WAIT_RUNS; k++)
            scope_peaks_end_window(&s->waits.peaks[k]);
    }
    return 0;
}

void scopes_waits_copy_state(struct state_bytes *b, struct scope_waits *waits)
{
    STATE_ARRAY(b, waits->ranks, waits->capacity, 0);
}
