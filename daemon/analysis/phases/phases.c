/* Phases of a job: temporal clustering of bursts, online. */
#include "daemon/analysis/phases/phases.h"

#include "daemon/analysis/phases/burst_clusters.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAXIMUM (1u << 20)
#define MINIMUM_ITEMS 8192u
#define NEVER INT64_MAX

/* Parameters of the choice of the gap g. */
#define FIRST_CHOICE 64u
#define RECENT 4096u
#define MINIMUM_ABOVE 3u
#define MINIMUM_HEIGHT_NS 1000
#define MINIMUM_RATIO 2.0
#define CLEAR_RATIO 8.0

/* A cluster while clusters are merged for a cut: a copy, linked by index. */
struct run {
    int64_t mean_ns, first_ns;
    uint32_t before, after;
};

struct phases {
    struct phases_params params;
    struct burst_items *items;      /* owned */
    struct burst_clusters clusters; /* one more than the maximum fits */
    struct run *runs;               /* owned; scratch */
    struct burst_height
        *heights; /* owned; of the boundaries between live clusters; valid while `merged` */
    bool merged;
    struct phase *closed; /* owned; ring, indexed by id */
    int64_t closed_ns;    /* end of the last closed phase; INT64_MIN: none */
    int64_t newest_ns;
    uint64_t choose_at; /* bursts at which g is chosen next */
    uint64_t late_id;   /* closed phase that the newest burst was added to; 0: none */
    uint32_t patience;  /* bursts until closing is tried again when the clusters are used up */
    struct phases_counts counts;
};

static bool phases_are_valid(const struct phases_params *p)
{
    return p->clusters >= 8 && p->clusters <= MAXIMUM && p->items >= MINIMUM_ITEMS &&
           p->items / 4 >= p->clusters && p->closed >= 1 && p->closed <= MAXIMUM &&
           p->gap_ns >= 0 && p->gap_start_ns >= 0 && p->gap_minimum_ns >= 0 &&
           p->gap_maximum_ns >= 0 && p->length_ns >= 0 &&
           (p->gap_maximum_ns == 0 || p->gap_maximum_ns >= p->gap_minimum_ns);
}

int phases_create(struct phases **out, const struct phases_params *params)
{
    if (!phases_are_valid(params))
        return -HOLTER_ERANGE;
    struct phases *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    p->params = *params;
    p->runs = malloc((params->clusters + 1) * sizeof(*p->runs));
    p->heights = malloc((params->clusters + 1) * sizeof(*p->heights));
    p->closed = malloc(params->closed * sizeof(*p->closed));
    if (p->runs == NULL || p->heights == NULL || p->closed == NULL ||
        burst_items_create(&p->items, params->items) != 0 ||
        burst_clusters_init(&p->clusters, params->clusters + 1) != 0) {
        phases_destroy(p);
        return -ENOMEM;
    }
    p->counts.gap_ns = params->gap_ns > 0         ? params->gap_ns
                       : params->gap_start_ns > 0 ? params->gap_start_ns
                                                  : NEVER;
    p->choose_at = params->gap_ns > 0 ? UINT64_MAX : FIRST_CHOICE;
    p->closed_ns = p->newest_ns = INT64_MIN;
    *out = p;
    return 0;
}

void phases_destroy(struct phases *phases)
{
    if (phases == NULL)
        return;
    burst_items_destroy(phases->items);
    burst_clusters_finish(&phases->clusters);
    free(phases->runs);
    free(phases->heights);
    free(phases->closed);
    free(phases);
}

/* ---- merging a copy ------------------------------------------------------------- */

static int64_t run_gap(const struct run *runs, uint32_t i)
{
    return runs[i].mean_ns - runs[runs[i].before].mean_ns;
}

/* @return how many */
static uint32_t phases_copy_runs(struct phases *p)
{
    uint32_t count = 0;
    for (uint32_t id = p->clusters.head; id != BURST_NONE;) {
        const struct burst_cluster *c = &p->clusters.at[id];
        p->runs[count] = (struct run){.mean_ns = c->mean_ns,
                                      .first_ns = c->first_ns,
                                      .before = count > 0 ? count - 1 : BURST_NONE,
                                      .after = count + 1};
        count++;
        id = c->after;
    }
    if (count > 0)
        p->runs[count - 1].after = BURST_NONE;
    return count;
}

/* Merges the run at i into the one before it. @return that one */
static uint32_t join_runs(struct run *runs, uint32_t i)
{
    uint32_t left = runs[i].before, after = runs[i].after;
    runs[left].mean_ns += run_gap(runs, i) / 2;
    runs[left].after = after;
    if (after != BURST_NONE)
        runs[after].before = left;
    return left;
}

/* Where to continue after a merge into a run: its gap may have grown past the one before. */
static uint32_t phases_step_back(const struct run *runs, uint32_t i)
{
    uint32_t before = runs[i].before;
    if (before == BURST_NONE)
        return runs[i].after;
    bool grown = runs[before].before != BURST_NONE && run_gap(runs, before) <= run_gap(runs, i);
    return grown ? before : i;
}

/* Heights of the boundaries between live clusters, as if all merged now, in O(clusters) steps: up
 * to the current gap gaps shrink strictly, so the first that does not is a smallest one. */
static void phases_merge_live(struct phases *p)
{
    struct run *runs = p->runs;
    if (p->merged)
        return;
    uint32_t count = phases_copy_runs(p);
    for (uint32_t i = 0; i < count; i++)
        p->heights[i] = (struct burst_height){runs[i].first_ns, NEVER};
    for (uint32_t i = count > 0 ? runs[0].after : BURST_NONE; i != BURST_NONE;) {
        uint32_t after = runs[i].after;
        int64_t gap = run_gap(runs, i);
        if (after != BURST_NONE && run_gap(runs, after) < gap) {
            i = after;
            continue;
        }
        p->heights[i].height = gap;
        i = phases_step_back(runs, join_runs(runs, i));
    }
    p->merged = true;
}

/* ---- cuts ----------------------------------------------------------------------- */

int phases_cut_count(struct phases *p, int64_t from_ns, int64_t to_ns, size_t maximum,
                     struct phase *out, size_t *count)
{
    struct burst_cutoff cutoff;
    if (maximum == 0)
        return -HOLTER_ERANGE;
    phases_merge_live(p);
    const struct burst_view view = {.from_ns = from_ns,
                                    .to_ns = to_ns,
                                    .live = p->heights + 1,
                                    .live_count =
                                        p->clusters.count > 0 ? p->clusters.count - 1 : 0};
    if (burst_items_cutoff(p->items, &view, maximum, &cutoff) != 0)
        return -ENOMEM;
    *count = burst_items_cut(p->items, &view, &cutoff, out, maximum);
    return 0;
}

/* ---- the gap of the online phases ----------------------------------------------- */

ORDER_FUNCTION(phases_compare_heights, struct phase, ORDER(b->height_ns, a->height_ns))

static double phases_height_of(const struct phase *phase)
{
    return (double)(phase->height_ns > MINIMUM_HEIGHT_NS ? phase->height_ns : MINIMUM_HEIGHT_NS);
}

/* A gap between two consecutive pauses, and the part of it in which g may lie. */
struct jump {
    double ratio;
    double low, high;
};

static struct jump phases_jump_at(const struct phases_params *p, const struct phase *all, size_t i)
{
    struct jump jump = {.low = phases_height_of(&all[i]), .high = phases_height_of(&all[i - 1])};
    jump.ratio = jump.high / jump.low;
    if (jump.low < (double)p->gap_minimum_ns)
        jump.low = (double)p->gap_minimum_ns;
    if (p->gap_maximum_ns > 0 && jump.high > (double)p->gap_maximum_ns)
        jump.high = (double)p->gap_maximum_ns;
    return jump;
}

/* The gap in the lowest jump that is clear, or else in the largest; pauses are sorted, longest
 * first. @return NEVER: there is none */
static int64_t phases_find_gap(const struct phases_params *p, const struct phase *all, size_t count,
                               int64_t now_ns)
{
    struct jump best = {0};
    for (size_t i = MINIMUM_ABOVE; i < count; i++) {
        struct jump jump = phases_jump_at(p, all, i);
        bool may = jump.high >= MINIMUM_RATIO * jump.low;
        if (may && (jump.ratio >= CLEAR_RATIO || jump.ratio > best.ratio))
            best = jump;
    }
    if (best.ratio < MINIMUM_RATIO)
        return NEVER;
    if (best.low <= (double)now_ns && (double)now_ns < best.high)
        return now_ns;
    return (int64_t)sqrt(best.low * best.high);
}

static int phases_choose_gap(struct phases *p)
{
    struct phase *all = malloc(RECENT * sizeof(*all));
    if (all == NULL)
        return -ENOMEM;
    const struct burst_view recent = {.from_ns = burst_items_recent(p->items, RECENT),
                                      .to_ns = INT64_MAX};
    const struct burst_cutoff each = {0, 0};
    size_t count = burst_items_cut(p->items, &recent, &each, all, RECENT);
    count = count < RECENT ? count : RECENT;
    for (size_t i = count; i-- > 1;) /* pauses, not heights of the tree */
        all[i].height_ns = all[i].begin_ns - all[i - 1].end_ns;
    qsort(all + 1, count - 1, sizeof(*all), phases_compare_heights);
    int64_t gap = phases_find_gap(&p->params, all + 1, count - 1, p->counts.gap_ns);
    free(all);
    if (gap != NEVER)
        p->counts.gap_ns = gap;
    uint64_t bursts = p->counts.bursts;
    p->choose_at = bursts + (bursts < RECENT ? bursts : RECENT);
    return 0;
}

/* ---- closing -------------------------------------------------------------------- */

/* What is between two representative times, both included, as one phase. */
static struct phase phases_sum(const struct phases *p, int64_t first_ns, int64_t last_ns)
{
    const struct burst_view view = {.from_ns = first_ns, .to_ns = last_ns};
    const struct burst_cutoff none = {NEVER, UINT64_MAX};
    struct phase phase = {0};
    burst_items_cut(p->items, &view, &none, &phase, 1);
    return phase;
}

static void phases_append_closed(struct phases *p, int64_t first_ns, int64_t last_ns)
{
    struct phase *phase = &p->closed[p->counts.closed % p->params.closed];
    *phase = phases_sum(p, first_ns, last_ns);
    phase->height_ns = p->counts.closed > 0 ? first_ns - p->closed_ns : NEVER;
    phase->id = ++p->counts.closed;
    if (p->counts.closed > p->params.closed)
        p->counts.forgotten++;
    p->closed_ns = last_ns;
}

/* The first cluster after the last closed phase. */
static uint32_t phases_first_open(const struct phases *p)
{
    uint32_t id = burst_clusters_find(&p->clusters, p->closed_ns);
    return id == BURST_NONE ? p->clusters.head : p->clusters.at[id].after;
}

/* The last cluster of the phase that begins with this one: the one before a pause of more than g,
 * or before the widest pause of its second half, if it would get too long.
 * @param horizon_ns  what is later may still change
 * @return BURST_NONE: the end is not known yet */
static uint32_t phases_find_end(const struct phases *p, uint32_t id, int64_t horizon_ns)
{
    const struct burst_clusters *c = &p->clusters;
    int64_t begin = c->at[id].first_ns, length = p->params.length_ns, widest = -1;
    uint32_t best = BURST_NONE;
    while (c->at[id].last_ns < horizon_ns) {
        int64_t end = c->at[id].last_ns, next = horizon_ns;
        uint32_t after = c->at[id].after;
        if (after != BURST_NONE && c->at[after].first_ns < next)
            next = c->at[after].first_ns;
        if (next - end > p->counts.gap_ns)
            return id;
        if (next == horizon_ns)
            break;
        if (length > 0 && next - begin > length / 2 && next - end > widest) {
            widest = next - end;
            best = id;
        }
        if (length > 0 && c->at[after].last_ns - begin > length)
            return best != BURST_NONE ? best : id;
        id = after;
    }
    return BURST_NONE;
}

static void phases_close_settled(struct phases *p, int64_t horizon_ns)
{
    uint32_t id = phases_first_open(p);
    while (id != BURST_NONE) {
        uint32_t last = phases_find_end(p, id, horizon_ns);
        if (last == BURST_NONE)
            return;
        phases_append_closed(p, p->clusters.at[id].first_ns, p->clusters.at[last].last_ns);
        id = p->clusters.at[last].after;
    }
}

size_t phases_open(const struct phases *p, struct phase *out, size_t capacity)
{
    int64_t before = p->closed_ns;
    size_t count = 0;
    for (uint32_t id = phases_first_open(p), last; id != BURST_NONE;
         id = p->clusters.at[last].after) {
        last = phases_find_end(p, id, PHASES_TIME_MAXIMUM + 1);
        last = last == BURST_NONE ? p->clusters.tail : last;
        int64_t first_ns = p->clusters.at[id].first_ns, last_ns = p->clusters.at[last].last_ns;
        if (count < capacity) {
            out[count] = phases_sum(p, first_ns, last_ns);
            out[count].height_ns = before == INT64_MIN ? NEVER : first_ns - before;
        }
        before = last_ns;
        count++;
    }
    return count;
}

int phases_close(struct phases *p, int64_t horizon_ns)
{
    if (p->counts.bursts >= p->choose_at && phases_choose_gap(p) != 0)
        return -ENOMEM;
    int64_t maximum = PHASES_TIME_MAXIMUM;
    if (p->counts.gap_ns != NEVER)
        phases_close_settled(p, horizon_ns > maximum    ? maximum
                                : horizon_ns < -maximum ? -maximum
                                                        : horizon_ns);
    return 0;
}

/* ---- adding --------------------------------------------------------------------- */

/* Does one more merge. When all gaps that may merge are held back for phases, phases that can be
 * closed are closed. */
static void phases_merge_one(struct phases *p)
{
    struct burst_clusters *c = &p->clusters;
    uint32_t id = burst_clusters_next(c, p->counts.gap_ns, p->closed_ns);
    if (id == BURST_NONE && p->patience == 0 && p->counts.gap_ns != NEVER) {
        phases_close_settled(p, p->newest_ns);
        p->patience = p->params.clusters / 2;
        id = burst_clusters_next(c, p->counts.gap_ns, p->closed_ns);
    }
    p->patience -= p->patience > 0;
    if (id == BURST_NONE) {
        id = c->tail;
        uint32_t before = c->at[id].before;
        if (c->at[id].first_ns > p->closed_ns && c->at[before].first_ns <= p->closed_ns)
            id = before; /* do not merge across the end of the last closed phase */
        p->counts.forced++;
    }
    int64_t gap = burst_clusters_gap(c, id);
    burst_items_merge(p->items, c->at[id].first_ns, gap);
    burst_clusters_merge(c, id);
}

static struct phase *phases_closed_at(const struct phases *p, uint64_t id)
{
    return &p->closed[(id - 1) % p->params.closed];
}

/* A burst that arrived after its phase was closed: its sums are added to the nearest closed phase.
 */
static void phases_add_late(struct phases *p, const struct burst *burst)
{
    uint64_t low = p->counts.forgotten + 1, high = p->counts.closed + 1;
    int64_t t = burst->time_ns;
    p->counts.late++;
    if (t < phases_closed_at(p, low)->begin_ns && p->counts.forgotten > 0)
        return;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (phases_closed_at(p, middle)->begin_ns <= t)
            low = middle;
        else
            high = middle;
    }
    struct phase *phase = phases_closed_at(p, low);
    if (low < p->counts.closed && t > phase->end_ns &&
        phases_closed_at(p, low + 1)->begin_ns - t < t - phase->end_ns)
        phase = phases_closed_at(p, low + 1);
    phase->bursts = saturated_sum(phase->bursts, 1);
    phase->messages = saturated_sum(phase->messages, burst->messages);
    phase->bytes = saturated_sum(phase->bytes, burst->bytes);
    p->late_id = phase->id;
}

static bool phases_is_valid_burst(const struct burst *b)
{
    return b->time_ns >= -PHASES_TIME_MAXIMUM && b->time_ns <= PHASES_TIME_MAXIMUM &&
           b->first_ns <= b->time_ns && b->time_ns <= b->last_ns;
}

/* The place of a burst among the clusters. */
struct home {
    uint32_t before; /* the last cluster that begins before it, or at its time */
    uint32_t id;     /* the cluster that it joins; BURST_NONE: it becomes a cluster of its own */
    enum burst_side side;
};

/* Whether a late burst at this distance from a cluster would have been part of it. */
static bool phases_would_be_part(const struct phases *p, uint32_t id, int64_t t, int64_t distance)
{
    const struct burst_cluster *c = &p->clusters.at[id];
    return distance <= c->height_ns && (t <= p->closed_ns) == (c->first_ns <= p->closed_ns);
}

static struct home phases_find_home(const struct phases *p, int64_t t)
{
    const struct burst_clusters *c = &p->clusters;
    struct home home = {burst_clusters_find(c, t), BURST_NONE, BURST_WITHIN};
    int64_t to_before = NEVER, to_after = NEVER;
    uint32_t after = c->head;
    if (home.before != BURST_NONE) {
        to_before = t - c->at[home.before].last_ns;
        after = c->at[home.before].after;
    }
    if (after != BURST_NONE)
        to_after = c->at[after].first_ns - t;
    if (to_before <= 0) {
        home.id = home.before;
    } else if (t >= p->newest_ns) {
        return home; /* the burst arrived in order */
    } else if (to_before <= to_after && home.before != BURST_NONE) {
        if (phases_would_be_part(p, home.before, t, to_before))
            home = (struct home){home.before, home.before, BURST_LAST};
    } else if (after != BURST_NONE && phases_would_be_part(p, after, t, to_after)) {
        home = (struct home){home.before, after, BURST_FIRST};
    }
    return home;
}

static int phases_add_item(struct phases *p, const struct burst *burst, const struct home *home)
{
    if (home->id == BURST_NONE)
        return burst_items_add(p->items, burst);
    return burst_items_join(p->items, burst, home->side);
}

int phases_add(struct phases *p, const struct burst *burst)
{
    if (!phases_is_valid_burst(burst))
        return -HOLTER_ERANGE;
    int64_t t = burst->time_ns;
    const struct home home = phases_find_home(p, t);
    int rc = phases_add_item(p, burst, &home);
    if (rc != 0)
        return rc;
    p->late_id = 0;
    p->counts.bursts++;
    p->newest_ns = t > p->newest_ns ? t : p->newest_ns;
    if (t <= p->closed_ns)
        phases_add_late(p, burst);
    if (home.id != BURST_NONE)
        p->counts.joined++;
    if (home.id == BURST_NONE || home.side != BURST_WITHIN)
        p->merged = false; /* the set of live clusters or their limits have changed */
    if (home.id == BURST_NONE)
        burst_clusters_add(&p->clusters, home.before, t);
    else
        burst_clusters_extend(&p->clusters, home.id, t);
    if (p->clusters.count == p->clusters.maximum)
        phases_merge_one(p);
    return 0;
}

uint64_t phases_late(const struct phases *p)
{
    return p->late_id;
}

/* ---- what is known -------------------------------------------------------------- */

size_t phases_closed(const struct phases *p, uint64_t id, struct phase *out, size_t capacity)
{
    size_t count = 0;
    id = id <= p->counts.forgotten ? p->counts.forgotten + 1 : id;
    for (; id <= p->counts.closed && count < capacity; id++)
        out[count++] = *phases_closed_at(p, id);
    return count;
}

void phases_count(const struct phases *p, struct phases_counts *out)
{
    *out = p->counts;
    out->items = burst_items_count(p->items);
    out->folded = burst_items_folded(p->items);
    out->clusters = p->clusters.count;
}

void phases_copy_state(struct state_bytes *b, struct phases **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct phases *p = *out;
    const size_t capacity = (size_t)p->params.clusters + 1, most = p->params.closed;
    burst_items_copy_state(b, &p->items);
    STATE_ARRAY(b, p->clusters.at, p->clusters.used, p->clusters.maximum);
    STATE_ARRAY(b, p->runs, 0, capacity);
    STATE_ARRAY(b, p->heights, 0, capacity);
    STATE_ARRAY(b, p->closed, p->counts.closed < most ? p->counts.closed : most, most);
    p->merged = p->merged && !b->reads; /* heights are found again */
}
