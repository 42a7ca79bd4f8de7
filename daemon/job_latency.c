#include "daemon/job_latency.h"

#include "daemon/analysis/contact.h"
#include "daemon/analysis/criteria.h"
#include "daemon/analysis/regions.h"
#include "holter/error.h"
#include "holter/time_class.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_WINDOWS 4u           /* an end waits so long for the other one, at least ... */
#define JOIN_S 4.0                /* ... or so many seconds, where windows are short */
#define JOIN_HALVES (1u << 21)    /* ends kept at one time: 120 MB at most */
#define HALVES_A_WINDOW 200000u   /* of all nodes: what one core joins beside its other work */
#define HALVES_LEAST 32u          /* of one node */
#define BURST_ROWS_JOB (1u << 19) /* of bursts and their pairs, of all nodes in one window */
#define BURST_ROWS_LEAST 64u      /* of one node */
#define BURST_ROWS_AGENT 4096u    /* what an agent sends at most unless it is told less */
#define KEPT_WINDOWS 1024u        /* for those who join late ... */
#define KEPT_ROWS (1u << 17)      /* ... as long as their series have no more rows */
#define CONTACT_ROWS (1u << 18)   /* rows of pairs looked at for regions in one window */
#define CRITERIA_CHANGE 0.05      /* worth telling agents */
#define SCOPES_BEFORE_REGIONS 3u  /* the job, both localities */

struct region_trend {
    uint32_t id;
    struct latency_trend *trend;
};

struct kept_window {
    uint64_t window, matched, unmatched, rejected, error_ns, uncertain;
    struct wire_series_row *rows; /* owned */
    size_t count;
};

struct job_latency {
    uint64_t window_ns;
    struct criteria *criteria;
    struct join *join;
    struct contact *contact;
    uint64_t contacts_figured; /* of the rows that the contacts took last; 0: of none */
    const struct contact_edge
        *edges; /* borrowed of the contact: that the regions were not told of */
    size_t edge_count;
    struct regions *regions;
    struct latency_trend *trends[SCOPES_BEFORE_REGIONS];
    struct region_trend *region_trends; /* by id */
    size_t region_count, region_room;
    struct latency_rows carry; /* of windows that were closed before */
    struct latency_scale scale;
    uint32_t *node_of; /* by rank; UINT32_MAX: not known */
    uint32_t *region_of;
    struct latency_rank *ranks;
    size_t rank_count, node_of_room;
    uint32_t nodes;
    uint64_t world;
    int nodes_stand; /* for their ranks, among the vertices of regions */
    int regions_new,
        ranks_placed; /* since regions were last listed: they have changed; ranks were placed */
    struct latency_sum *region_sums;
    struct latency_part *region_parts;
    struct latency_groups groups;
    struct latency_series *series;
    size_t series_count, series_room;
    int regions_changed;
    /* the window that is being closed, then the last one closed */
    uint64_t window;
    struct latency_rows *closing;
    struct join_counts counts, counts_before;
    uint64_t matched, error_ns;
    int short_of_memory;
    double told[LOCALITIES][SIZE_CLASSES]; /* criteria that the agents have */
    uint64_t told_halves, told_burst_rows;
    /* room for messages */
    struct criterion *criteria_list;
    struct wire_criterion_row *criterion_rows;
    struct wire_series_row *series_rows;
    struct wire_rank_latency_row *rank_rows;
    struct wire_latency_region_row *region_rows;
    struct wire_region_member_row *member_rows;
    struct region_info *region_infos;
    struct kept_window kept[KEPT_WINDOWS];
    size_t kept_first, kept_count, kept_rows;
};

static int fit(void *array_pointer, size_t count, size_t each)
{
    void *array;
    memcpy(&array, array_pointer, sizeof(array));
    array = realloc(array, (count + 1) * each);
    if (array == NULL)
        return -ENOMEM;
    memcpy(array_pointer, &array, sizeof(array));
    return 0;
}

/* ---- life ---------------------------------------------------------------- */

static int make_parts(struct job_latency *l)
{
    struct criteria_params criteria = CRITERIA_DEFAULTS;
    struct join_params join = {JOIN_WINDOWS, JOIN_HALVES};
    struct contact_params contact = CONTACT_DEFAULTS;
    struct regions_params regions = REGIONS_DEFAULTS;
    double seconds = (double)l->window_ns * 1e-9;
    /* A horizon is a minute, whatever the length of windows; short windows have few messages. */
    double horizon = 60 / seconds;
    criteria.horizon = horizon < 10 ? 10 : horizon > 600 ? 600 : (uint32_t)horizon;
    double half_life = criteria.half_life / seconds;
    criteria.half_life = half_life < 1                         ? 1
                         : half_life > CRITERIA_MOST_HALF_LIFE ? CRITERIA_MOST_HALF_LIFE
                                                               : half_life;
    double wait = ceil(JOIN_S / seconds);
    if (wait > JOIN_WINDOWS)
        join.windows = wait < JOIN_MOST_WINDOWS ? (uint32_t)wait : JOIN_MOST_WINDOWS;
    int code = criteria_create(&l->criteria, &criteria);
    code = code != 0 ? code : join_create(&l->join, &join);
    code = code != 0 ? code : contact_create(&l->contact, &contact);
    code = code != 0 ? code : regions_create(&l->regions, &regions);
    for (unsigned i = 0; code == 0 && i < SCOPES_BEFORE_REGIONS; i++)
        code = latency_trend_create(&l->trends[i], seconds);
    return code;
}

int job_latency_create(struct job_latency **out, uint64_t window_ns)
{
    struct job_latency *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return -ENOMEM;
    l->window_ns = window_ns;
    int code = fit(&l->series, SCOPES_BEFORE_REGIONS, sizeof(*l->series));
    code = code != 0 ? code : fit(&l->region_parts, 0, sizeof(*l->region_parts));
    code = code != 0 ? code : make_parts(l);
    if (code != 0) {
        job_latency_destroy(l);
        return code;
    }
    *out = l;
    return 0;
}

void job_latency_destroy(struct job_latency *l)
{
    if (l == NULL)
        return;
    criteria_destroy(l->criteria);
    join_destroy(l->join);
    contact_destroy(l->contact);
    regions_destroy(l->regions);
    for (unsigned i = 0; i < SCOPES_BEFORE_REGIONS; i++)
        latency_trend_destroy(l->trends[i]);
    for (size_t i = 0; i < l->region_count; i++)
        latency_trend_destroy(l->region_trends[i].trend);
    for (size_t i = 0; i < KEPT_WINDOWS; i++)
        free(l->kept[i].rows);
    latency_rows_finish(&l->carry);
    free(l->region_trends);
    free(l->node_of);
    free(l->region_of);
    free(l->ranks);
    free(l->region_sums);
    free(l->region_parts);
    free(l->series);
    free(l->criteria_list);
    free(l->criterion_rows);
    free(l->series_rows);
    free(l->rank_rows);
    free(l->region_rows);
    free(l->member_rows);
    free(l->region_infos);
    free(l);
}

/* ---- taking in ----------------------------------------------------------- */

int job_latency_take(struct job_latency *l, struct latency_rows *rows, const struct wire_window *m,
                     uint32_t node, uint64_t window, char *why, size_t room)
{
    int code = latency_rows_take(rows, m);
    bool taken = code == 0;
    if (code == 0)
        code = latency_rows_halves(m, node, window, l->join);
    if (code != 0 && taken)
        latency_rows_give_back(rows, m);
    if (code != 0)
        snprintf(why, room, "halves of messages: %s", holter_strerror(code));
    return code;
}

static int fit_ranks(struct job_latency *l, size_t count)
{
    if (count <= l->rank_count)
        return 0;
    size_t room = count < 2 * l->rank_count ? 2 * l->rank_count : count;
    uint32_t *node_of = realloc(l->node_of, room * sizeof(*node_of));
    l->node_of = node_of != NULL ? node_of : l->node_of;
    uint32_t *region_of = realloc(l->region_of, room * sizeof(*region_of));
    l->region_of = region_of != NULL ? region_of : l->region_of;
    struct latency_rank *ranks = realloc(l->ranks, room * sizeof(*ranks));
    l->ranks = ranks != NULL ? ranks : l->ranks;
    if (node_of == NULL || region_of == NULL || ranks == NULL)
        return -ENOMEM;
    for (size_t i = l->rank_count; i < room; i++) {
        node_of[i] = region_of[i] = UINT32_MAX;
        ranks[i] = (struct latency_rank){0};
    }
    l->rank_count = room;
    return 0;
}

int job_latency_place(struct job_latency *l, uint32_t rank, uint32_t node)
{
    if (fit_ranks(l, (size_t)rank + 1) != 0)
        return -ENOMEM;
    l->ranks_placed |= l->node_of[rank] != node;
    l->node_of[rank] = node;
    l->nodes = node >= l->nodes ? node + 1 : l->nodes;
    return 0;
}

void job_latency_late(struct job_latency *l, struct latency_rows *rows)
{
    if (latency_rows_move(&l->carry, rows) != 0)
        l->short_of_memory = 1;
}

/* ---- closing a window ---------------------------------------------------- */

static void take_joined(void *user, const struct joined *messages, size_t count)
{
    struct job_latency *l = user;
    struct latency_rows *rows = l->closing;
    uint64_t error = l->error_ns;
    for (const struct joined *m = messages; m < messages + count; m++) {
        if (m->uncertain)
            continue;
        if (m->error_ns != UINT64_MAX && m->error_ns > error)
            error = m->error_ns;
        if (latency_rows_joined(rows, m, l->scale.recent[LOCALITY_INTER]) != 0)
            l->short_of_memory = 1;
    }
    l->error_ns = error;
}

static void update_criteria(struct job_latency *l)
{
    if (criteria_take(l->criteria, &l->closing->times) != 0)
        l->short_of_memory = 1;
    if (criteria_close(l->criteria, l->window) != 0)
        l->short_of_memory = 1;
    for (unsigned locality = 0; locality < LOCALITIES; locality++) {
        for (unsigned c = 0; c < SIZE_CLASSES; c++) {
            l->scale.recent[locality][c] = criteria_recent(l->criteria, locality, c);
            double before = l->scale.reference[locality][c];
            double reference = criteria_reference(l->criteria, locality, c);
            l->scale.reference[locality][c] = reference;
            l->scale.moved[locality][c] =
                before > 0 && reference > 0 ? log2(reference / before) : 0;
        }
    }
}

/* ---- regions ------------------------------------------------------------- */

/* What stands for a rank among the vertices. @return UINT32_MAX: nothing does */
static uint32_t vertex_of(const struct job_latency *l, uint32_t rank)
{
    if (!l->nodes_stand)
        return rank < REGIONS_DEFAULTS.most_vertices ? rank : UINT32_MAX;
    uint32_t node = rank < l->rank_count ? l->node_of[rank] : UINT32_MAX;
    return node < REGIONS_DEFAULTS.most_vertices ? node : UINT32_MAX;
}

/* Have edges that came or went among the regions. @return 0, or -ENOMEM: the rest waits, as long as contacts are not
 *         told of */
static int tell_edges(struct job_latency *l)
{
    for (; l->edge_count > 0; l->edges++, l->edge_count--)
        if (regions_edge(l->regions, l->edges->a, l->edges->b, l->edges->present) == -ENOMEM)
            return -ENOMEM;
    return 0;
}

static int close_contacts(struct job_latency *l)
{
    int code = contact_close(l->contact, &l->edges, &l->edge_count);
    return code != 0 ? code : tell_edges(l);
}

/* With too many ranks a node stands for its ranks, from then on: what was known of ranks goes. */
static int begin_regions_of_nodes(struct job_latency *l)
{
    struct contact_params contact = CONTACT_DEFAULTS;
    struct regions_params regions = REGIONS_DEFAULTS;
    struct contact *fresh_contact;
    struct regions *fresh_regions;
    int code = contact_create(&fresh_contact, &contact);
    if (code != 0)
        return code;
    code = regions_create(&fresh_regions, &regions);
    if (code != 0) {
        contact_destroy(fresh_contact);
        return code;
    }
    contact_destroy(l->contact);
    regions_destroy(l->regions);
    l->contact = fresh_contact;
    l->regions = fresh_regions;
    l->edge_count = 0;
    l->nodes_stand = 1;
    return 0;
}

/* Messages between ranks that are vertices. */
static int add_contacts(struct job_latency *l, const struct sum_result *pairs)
{
    bool same = pairs->figured != 0 && pairs->figured == l->contacts_figured;
    l->contacts_figured = 0;
    if (!(same && contact_again(l->contact)) &&
        contact_add_ranks(l->contact, pairs->pairs, pairs->pair_count) != 0)
        return -ENOMEM;
    int code = close_contacts(l);
    l->contacts_figured = code == 0 ? pairs->figured : 0;
    return code;
}

static int take_contacts(struct job_latency *l, const struct sum_result *pairs)
{
    const size_t count = pairs->pair_count;
    if (!l->nodes_stand && l->world > REGIONS_DEFAULTS.most_vertices &&
        begin_regions_of_nodes(l) != 0)
        return -ENOMEM;
    if (tell_edges(l) != 0)
        return -ENOMEM;
    /* Who is in contact with whom changes slowly: of a job with millions of pairs not every window
     * is looked at. */
    if (l->window % (1 + count / CONTACT_ROWS) != 0)
        return 0;
    if (!l->nodes_stand)
        return add_contacts(l, pairs);
    for (size_t i = 0; i < count; i++) {
        const struct pair_row *p = &pairs->pairs[i];
        if (p->destination < 0)
            continue;
        uint32_t a = vertex_of(l, p->source), b = vertex_of(l, (uint32_t)p->destination);
        if (a == UINT32_MAX || b == UINT32_MAX || a == b)
            continue;
        if (contact_add(l->contact, a, b, p->messages) == -ENOMEM)
            return -ENOMEM;
    }
    return close_contacts(l);
}

static int compare_trends(const void *a, const void *b)
{
    uint32_t x = ((const struct region_trend *)a)->id, y = ((const struct region_trend *)b)->id;
    return x < y ? -1 : x > y;
}

static struct region_trend *find_trend(const struct job_latency *l, uint32_t id)
{
    const struct region_trend key = {.id = id};
    return l->region_count == 0
               ? NULL
               : bsearch(&key, l->region_trends, l->region_count, sizeof(key), compare_trends);
}

/* Keep the trends of regions that go on, begin those of new ones. @return 0, or -ENOMEM: they are as they were */
static int update_trends(struct job_latency *l, const struct region_info *infos, size_t count)
{
    struct region_trend *trends = calloc(count + 1, sizeof(*trends)), *known;
    int code = trends == NULL ? -ENOMEM : 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        trends[i].id = infos[i].id;
        if (find_trend(l, infos[i].id) == NULL)
            code = latency_trend_create(&trends[i].trend, (double)l->window_ns * 1e-9);
    }
    for (size_t i = 0; code == 0 && i < count; i++) {
        if ((known = find_trend(l, infos[i].id)) == NULL)
            continue;
        trends[i].trend = known->trend;
        known->trend = NULL;
    }
    struct region_trend *unused = code == 0 ? l->region_trends : trends;
    size_t unused_count = code == 0 ? l->region_count : trends == NULL ? 0 : count;
    for (size_t i = 0; i < unused_count; i++)
        latency_trend_destroy(unused[i].trend);
    free(unused);
    if (code == 0) {
        l->region_trends = trends;
        l->region_count = count;
    }
    return code;
}

static void map_ranks(struct job_latency *l)
{
    for (size_t rank = 0; rank < l->rank_count; rank++) {
        uint32_t vertex = vertex_of(l, (uint32_t)rank);
        uint32_t id = vertex == UINT32_MAX ? 0 : regions_of(l->regions, vertex);
        const struct region_trend *found = id == 0 ? NULL : find_trend(l, id);
        l->region_of[rank] = found == NULL ? UINT32_MAX : (uint32_t)(found - l->region_trends);
    }
}

/* Regions have changed, or their ranks. @return 0, or -ENOMEM: they are as they were */
static int list_regions(struct job_latency *l)
{
    size_t regions = regions_list(l->regions, NULL, 0);
    if (fit(&l->region_infos, regions, sizeof(*l->region_infos)) != 0 ||
        fit(&l->region_sums, regions, sizeof(*l->region_sums)) != 0 ||
        fit(&l->region_parts, regions, sizeof(*l->region_parts)) != 0 ||
        fit(&l->series, regions + SCOPES_BEFORE_REGIONS, sizeof(*l->series)) != 0)
        return -ENOMEM;
    regions_list(l->regions, l->region_infos, regions);
    int code = update_trends(l, l->region_infos, regions);
    if (code == 0)
        map_ranks(l);
    return code;
}

/* @return 0, or -ENOMEM: regions that have changed are listed in the next window */
static int update_regions(struct job_latency *l, const struct sum_result *pairs)
{
    int changed = 0;
    l->regions_changed = 0;
    int code = take_contacts(l, pairs);
    code = code != 0 ? code : regions_update(l->regions, l->window, &changed);
    l->regions_new |= changed;
    if (code == -HOLTER_ELIMIT && !l->nodes_stand)
        code = begin_regions_of_nodes(l);
    if (code != 0 && code != -HOLTER_ELIMIT)
        return code;
    if (!l->regions_new && !l->ranks_placed)
        return 0;
    code = list_regions(l);
    if (code != 0)
        return code;
    l->regions_changed = l->regions_new;
    l->regions_new = l->ranks_placed = 0;
    return 0;
}

static void sum_groups(struct job_latency *l, size_t regions)
{
    for (size_t i = 0; i < l->rank_count; i++)
        l->ranks[i] = (struct latency_rank){0};
    for (size_t i = 0; i < regions; i++)
        l->region_sums[i] = (struct latency_sum){0};
    l->groups = (struct latency_groups){.regions = l->region_sums,
                                        .region_count = regions,
                                        .parts = l->region_parts,
                                        .region_of = l->region_of,
                                        .ranks = l->ranks,
                                        .rank_count = l->rank_count};
    latency_add(&l->groups, &l->scale, &l->closing->transfers);
}

static void make_series(struct job_latency *l)
{
    static const enum series_scope scopes[] = {SERIES_JOB, SERIES_INTRA, SERIES_INTER};
    const struct latency_sum *sums[] = {&l->groups.job, &l->groups.localities[LOCALITY_INTRA],
                                        &l->groups.localities[LOCALITY_INTER]};
    l->series_count = 0;
    for (unsigned i = 0; i < SCOPES_BEFORE_REGIONS; i++) {
        struct latency_series *s = &l->series[l->series_count++];
        *s = (struct latency_series){.scope = scopes[i], .sum = *sums[i]};
        latency_trend_update(l->trends[i], l->window, &s->sum, &s->trend);
    }
    for (size_t i = 0; i < l->region_count; i++) {
        struct latency_series *s = &l->series[l->series_count++];
        *s = (struct latency_series){
            .scope = SERIES_REGION, .id = l->region_trends[i].id, .sum = l->region_sums[i]};
        latency_trend_update(l->region_trends[i].trend, l->window, &s->sum, &s->trend);
    }
}

static void keep_window(struct job_latency *l);

static void count_matches(struct job_latency *l)
{
    l->counts_before = l->counts;
    join_count(l->join, &l->counts);
    l->matched = l->groups.job.messages;
}

int job_latency_close(struct job_latency *l, uint64_t window, uint64_t world,
                      struct latency_rows *rows, const struct sum_result *pairs)
{
    l->window = window;
    l->world = world;
    l->closing = rows;
    l->error_ns = 0;
    l->short_of_memory = 0;
    if (latency_rows_move(rows, &l->carry) != 0)
        l->short_of_memory = 1;
    if (join_close(l->join, window, take_joined, l) != 0)
        l->short_of_memory = 1;
    update_criteria(l);
    if (update_regions(l, pairs) == 0) {
        sum_groups(l, l->region_count);
        make_series(l);
        count_matches(l);
        keep_window(l);
    } else {
        l->short_of_memory = 1;
    }
    l->closing = NULL;
    return l->short_of_memory ? -ENOMEM : 0;
}

const struct latency_series *job_latency_series(const struct job_latency *l, size_t *count)
{
    *count = l->series_count;
    return l->series;
}

const struct latency_scale *job_latency_scale(const struct job_latency *l)
{
    return &l->scale;
}

uint64_t job_latency_error(const struct job_latency *l)
{
    return l->error_ns;
}

size_t job_latency_members(const struct job_latency *l, uint32_t id, uint32_t *out, size_t room)
{
    size_t count = 0;
    for (size_t rank = 0; rank < l->rank_count; rank++) {
        uint32_t at = l->region_of[rank];
        if (at >= l->region_count || l->region_trends[at].id != id)
            continue;
        if (count < room)
            out[count] = (uint32_t)rank;
        count++;
    }
    return count;
}

int job_latency_regions_changed(const struct job_latency *l)
{
    return l->regions_changed;
}

void job_latency_counts(const struct job_latency *l, struct join_counts *out)
{
    *out = l->counts;
}

/* ---- messages ------------------------------------------------------------ */

static struct wire_series_row series_row(const struct latency_series *s)
{
    const struct latency_sum *sum = &s->sum;
    return (struct wire_series_row){
        .scope = s->scope,
        .id = s->id,
        .messages = sum->messages,
        .delayed = sum->delayed,
        .recent = latency_recent(sum),
        .reference = latency_reference(sum),
        .transfer_ns = sum->transfer_ns,
        .late_sender_ns = sum->late_sender_ns,
        .late_receiver_ns = sum->late_receiver_ns,
        .network_ns = sum->network_ns,
        .joint_ns = sum->joint_ns,
        .trend = s->trend.state,
        .trend_since = s->trend.since,
        .slope = s->trend.slope,
        .typical = latency_typical(sum),
    };
}

static void forget_oldest(struct job_latency *l)
{
    struct kept_window *oldest = &l->kept[l->kept_first];
    l->kept_rows -= oldest->count;
    free(oldest->rows);
    *oldest = (struct kept_window){0};
    l->kept_first = (l->kept_first + 1) % KEPT_WINDOWS;
    l->kept_count--;
}

static void keep_window(struct job_latency *l)
{
    while (l->kept_count > 0 &&
           (l->kept_count == KEPT_WINDOWS || l->kept_rows + l->series_count > KEPT_ROWS))
        forget_oldest(l);
    struct kept_window kept = {
        .window = l->window,
        .matched = l->matched,
        .unmatched = l->counts.unmatched - l->counts_before.unmatched,
        .rejected = l->counts.rejected - l->counts_before.rejected,
        .uncertain = l->counts.uncertain - l->counts_before.uncertain,
        .error_ns = l->error_ns,
        .rows = malloc((l->series_count + 1) * sizeof(*kept.rows)),
        .count = l->series_count,
    };
    if (kept.rows == NULL) {
        l->short_of_memory = 1;
        return;
    }
    for (size_t i = 0; i < l->series_count; i++)
        kept.rows[i] = series_row(&l->series[i]);
    l->kept[(l->kept_first + l->kept_count++) % KEPT_WINDOWS] = kept;
    l->kept_rows += kept.count;
}

int job_latency_kept(struct job_latency *l, size_t n, struct wire_latencies *out)
{
    if (n >= l->kept_count)
        return -HOLTER_ERANGE;
    const struct kept_window *kept = &l->kept[(l->kept_first + n) % KEPT_WINDOWS];
    *out = (struct wire_latencies){
        .window = kept->window,
        .start_ns = kept->window * l->window_ns,
        .length_ns = l->window_ns,
        .series = kept->rows,
        .series_count = kept->count,
        .matched = kept->matched,
        .unmatched = kept->unmatched,
        .rejected = kept->rejected,
        .error_ns = kept->error_ns,
        .uncertain = kept->uncertain,
    };
    return 0;
}

static uint64_t whole_ns(double ns)
{
    return ns >= 0 && ns < 1e18 ? (uint64_t)(ns + 0.5) : 0;
}

static int list_criteria(struct job_latency *l, size_t *count)
{
    *count = criteria_count(l->criteria);
    if (fit(&l->criteria_list, *count, sizeof(*l->criteria_list)) != 0 ||
        fit(&l->criterion_rows, *count, sizeof(*l->criterion_rows)) != 0)
        return -ENOMEM;
    *count = criteria_list(l->criteria, l->criteria_list, *count);
    for (size_t i = 0; i < *count; i++) {
        const struct criterion *c = &l->criteria_list[i];
        l->criterion_rows[i] =
            (struct wire_criterion_row){c->locality, c->size_class, whole_ns(c->recent_ns),
                                        whole_ns(c->reference_ns), c->messages};
    }
    return 0;
}

int job_latency_regions(struct job_latency *l, struct wire_regions *out)
{
    size_t regions = regions_list(l->regions, NULL, 0), members = 0;
    if (fit(&l->region_infos, regions, sizeof(*l->region_infos)) != 0 ||
        fit(&l->region_rows, regions, sizeof(*l->region_rows)) != 0 ||
        fit(&l->member_rows, l->rank_count, sizeof(*l->member_rows)) != 0)
        return -ENOMEM;
    regions_list(l->regions, l->region_infos, regions);
    for (size_t i = 0; i < regions; i++)
        l->region_rows[i] =
            (struct wire_latency_region_row){l->region_infos[i].id, 0, l->region_infos[i].since};
    for (size_t rank = 0; rank < l->rank_count; rank++) {
        uint32_t at = l->region_of[rank];
        if (at >= l->region_count || at >= regions)
            continue;
        l->member_rows[members++] = (struct wire_region_member_row){rank, l->region_trends[at].id};
        l->region_rows[at].ranks++;
    }
    *out = (struct wire_regions){
        .window = l->window,
        .regions = l->region_rows,
        .regions_count = regions,
        .members = l->member_rows,
        .members_count = members,
        .ranks_together = (uint64_t)l->nodes_stand,
    };
    return 0;
}

int job_latency_message(struct job_latency *l, struct wire_latencies *out)
{
    size_t criteria, ranks = 0;
    if (l->kept_count == 0 || job_latency_kept(l, l->kept_count - 1, out) != 0 ||
        out->window != l->window)
        return -ENOMEM;
    if (list_criteria(l, &criteria) != 0 ||
        fit(&l->rank_rows, l->rank_count, sizeof(*l->rank_rows)) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < l->rank_count; i++) {
        if (l->ranks[i].messages > 0)
            l->rank_rows[ranks++] = (struct wire_rank_latency_row){
                i, l->ranks[i].messages, latency_rank_reference(&l->ranks[i]),
                latency_rank_typical(&l->ranks[i])};
    }
    out->criteria = l->criterion_rows;
    out->criteria_count = criteria;
    out->ranks = l->rank_rows;
    out->ranks_count = ranks;
    return 0;
}

static int has_changed(double now, double told)
{
    return isnan(told) != isnan(now) ||
           fabs(now - told) > CRITERIA_CHANGE * (isnan(told) ? 0 : told);
}

int job_latency_criteria(struct job_latency *l, struct wire_criteria *out)
{
    size_t count;
    uint64_t halves = HALVES_A_WINDOW / (l->nodes == 0 ? 1 : l->nodes);
    halves = halves < HALVES_LEAST ? HALVES_LEAST : halves;
    uint64_t rows = BURST_ROWS_JOB / (l->nodes == 0 ? 1 : l->nodes);
    rows = rows < BURST_ROWS_LEAST ? BURST_ROWS_LEAST : rows < BURST_ROWS_AGENT ? rows : 0;
    if (list_criteria(l, &count) != 0)
        return 0;
    int changed = halves != l->told_halves || rows != l->told_burst_rows;
    for (size_t i = 0; i < count; i++) {
        const struct criterion *c = &l->criteria_list[i];
        double *told = &l->told[c->locality][c->size_class];
        /* A class is told first when it has messages; 0 was never told. */
        changed |= has_changed(c->recent_ns, *told);
    }
    if (!changed)
        return 0;
    for (size_t i = 0; i < count; i++)
        l->told[l->criteria_list[i].locality][l->criteria_list[i].size_class] =
            l->criteria_list[i].recent_ns;
    l->told_halves = halves;
    l->told_burst_rows = rows;
    *out = (struct wire_criteria){.criteria = l->criterion_rows,
                                  .criteria_count = count,
                                  .most_halves = halves,
                                  .burst_rows = rows};
    return 1;
}
