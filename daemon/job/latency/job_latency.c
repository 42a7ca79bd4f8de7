/* Latency of one job: messages joined, criteria updated, sums and trends by scope. */
#include "daemon/job/latency/job_latency.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/latency/job_latency_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_HALVES (1u << 21) /* ends kept at one time: 130 MB at most */

/* ---- life ---------------------------------------------------------------- */

static int latency_create_parts(struct job_latency *l)
{
    struct criteria_params criteria = CRITERIA_DEFAULTS;
    const struct join_params join = {join_wait(l->window_ns), JOIN_HALVES};
    struct contact_params contact = CONTACT_DEFAULTS;
    struct regions_params regions = REGIONS_DEFAULTS;
    double seconds = (double)l->window_ns * 1e-9;
    /* A horizon is a minute, whatever the length of windows; short windows have few messages. */
    double horizon = 60 / seconds;
    criteria.horizon = horizon < 10 ? 10 : horizon > 600 ? 600 : (uint32_t)horizon;
    double half_life = criteria.half_life / seconds;
    criteria.half_life = half_life < 1                            ? 1
                         : half_life > CRITERIA_MAXIMUM_HALF_LIFE ? CRITERIA_MAXIMUM_HALF_LIFE
                                                                  : half_life;
    int code = criteria_create(&l->criteria, &criteria);
    code = code != 0 ? code : join_create(&l->join, &join);
    code = code != 0 ? code : contact_create(&l->contact, &contact);
    code = code != 0 ? code : regions_create(&l->regions, &regions);
    for (unsigned i = 0; code == 0 && i < SCOPES_BEFORE_REGIONS; i++)
        code = latency_trend_create(&l->trends[i], seconds);
    return code;
}

static void latency_read_criteria(struct job_latency *l, unsigned locality)
{
    struct latency_scale *scale = &l->scale;
    for (unsigned c = 0; c < SIZE_CLASSES; c++) {
        double before = scale->reference[locality][c];
        double reference = criteria_reference(l->criteria, locality, c);
        scale->recent[locality][c] = criteria_recent(l->criteria, locality, c);
        scale->reference[locality][c] = reference;
        scale->moved[locality][c] += before > 0 && reference > 0 ? log2(reference / before) : 0;
    }
}

int job_latency_create(struct job_latency **out, uint64_t window_ns)
{
    struct job_latency *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return -ENOMEM;
    l->window_ns = window_ns;
    int code = ARRAY_RESIZE(l->series, SCOPES_BEFORE_REGIONS + 1);
    code = code != 0 ? code : latency_create_parts(l);
    if (code != 0) {
        job_latency_destroy(l);
        return code;
    }
    for (unsigned locality = 0; locality < LOCALITIES; locality++)
        latency_read_criteria(l, locality);
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
    for (size_t i = 0; i < STORED_WINDOWS; i++) {
        free(l->kept[i].rows);
        free(l->kept[i].criteria);
    }
    latency_rows_finish(&l->carry);
    free(l->region_trends);
    free(l->node_of);
    free(l->group_of);
    free(l->region_of);
    free(l->ranks);
    message_ranks_finish(&l->messages);
    free(l->region_sums);
    free(l->series);
    free(l->criterion_rows);
    free(l->series_rows);
    free(l->rank_rows);
    free(l->region_rows);
    free(l->member_rows);
    free(l->region_infos);
    free(l);
}

/* ---- adding messages ----------------------------------------------------- */

int job_latency_add(struct job_latency *l, struct latency_rows *rows,
                    const struct wire_window *window, uint32_t node, uint64_t number)
{
    int code = latency_rows_add(rows, window);
    if (code != 0)
        return code;
    code = join_add_window(l->join, window, node, number);
    if (code != 0)
        latency_rows_undo(rows, window);
    return code;
}

/* Grow a list of numbers, of which the new ones are UINT32_MAX. */
static int latency_fit_numbers(uint32_t **list, size_t *count, size_t need)
{
    size_t capacity = need <= *count ? *count : need < 2 * *count ? 2 * *count : need;
    if (capacity > *count && array_resize(list, capacity * sizeof(**list)) != 0)
        return -ENOMEM;
    for (; *count < capacity; (*count)++)
        (*list)[*count] = UINT32_MAX;
    return 0;
}

static int latency_fit_ranks(struct job_latency *l, size_t count)
{
    if (count <= l->rank_count)
        return 0;
    size_t capacity = count < 2 * l->rank_count ? 2 * l->rank_count : count;
    if (ARRAY_RESIZE(l->region_of, capacity) != 0 || ARRAY_RESIZE(l->ranks, capacity) != 0)
        return -ENOMEM;
    for (; l->rank_count < capacity; l->rank_count++) {
        l->region_of[l->rank_count] = (uint32_t)l->region_count;
        l->ranks[l->rank_count] = (struct latency_rank){0};
    }
    return 0;
}

int job_latency_place(struct job_latency *l, uint32_t rank, uint32_t node)
{
    const int by_node = l->group_shift != 0;
    if (latency_fit_ranks(l, (size_t)(by_node ? node : rank) + 1) != 0 ||
        latency_fit_numbers(&l->node_of, &l->node_of_count, (size_t)rank + 1) != 0 ||
        (by_node && latency_fit_numbers(&l->group_of, &l->group_of_count, (size_t)node + 1) != 0))
        return -ENOMEM;
    l->ranks_placed |= l->node_of[rank] != node;
    l->node_of[rank] = node;
    if (by_node && rank >> l->group_shift < l->group_of[node])
        l->group_of[node] = rank >> l->group_shift;
    l->nodes = node >= l->nodes ? node + 1 : l->nodes;
    return 0;
}

void job_latency_set_groups(struct job_latency *l, unsigned shift)
{
    l->group_shift = shift;
}

unsigned job_latency_groups(const struct job_latency *l)
{
    return l->group_shift;
}

const uint32_t *job_latency_group_of(const struct job_latency *l, size_t *nodes)
{
    *nodes = l->group_of_count;
    return l->group_of;
}

uint32_t job_latency_number_of(const struct job_latency *l, uint32_t rank)
{
    return l->group_shift == 0 ? rank : rank < l->node_of_count ? l->node_of[rank] : UINT32_MAX;
}

/* ---- closing a window ---------------------------------------------------- */

static void latency_add_joined(void *user, const struct joined *message)
{
    struct job_latency *l = user;
    if (message->error_ns != UINT64_MAX && message->error_ns > l->error_ns)
        l->error_ns = message->error_ns;
    struct joined numbered = *message;
    numbered.source = job_latency_number_of(l, message->source);
    numbered.destination = job_latency_number_of(l, message->destination);
    if (latency_rows_add_joined(l->closing, &numbered, l->scale.recent[LOCALITY_INTER]) != 0)
        l->short_of_memory = 1;
}

static void latency_update_criteria(struct job_latency *l)
{
    if (criteria_count_times(l->criteria, &l->closing->times) != 0)
        l->short_of_memory = 1;
    if (criteria_close(l->criteria, l->window) != 0)
        l->short_of_memory = 1;
    for (unsigned locality = 0; locality < LOCALITIES; locality++) {
        if (criteria_changed(l->criteria, locality))
            latency_read_criteria(l, locality);
    }
}

static void latency_sum_groups(struct job_latency *l, size_t regions)
{
    if (l->rank_count > 0)
        memset(l->ranks, 0, l->rank_count * sizeof(*l->ranks));
    for (size_t i = 0; i < regions; i++)
        l->region_sums[i] = (struct latency_sum){0};
    l->groups = (struct latency_groups){.regions = l->region_sums,
                                        .region_count = regions,
                                        .region_of = l->region_of,
                                        .rank_count = l->rank_count,
                                        .messages = &l->messages,
                                        .ranks = l->ranks};
    latency_add(&l->groups, &l->scale, &l->closing->transfers);
}

static void latency_update_series(struct job_latency *l)
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

static void latency_count_matches(struct job_latency *l)
{
    l->counts_before = l->counts;
    join_count(l->join, &l->counts);
    l->matched = l->groups.job.messages;
    l->matched_total += l->matched - l->carried;
}

/* The latency of a correction's messages counts in the next window, if there is one. */
static int latency_defer(struct job_latency *l, struct latency_rows *rows)
{
    uint64_t messages = 0;
    for (size_t i = 0; i < rows->transfers.count; i++)
        messages += rows->transfers.rows[i].messages;
    int code = latency_rows_move(&l->carry, rows);
    if (code != 0)
        return code;
    l->deferred += messages;
    l->matched_total += messages;
    return 0;
}

static void latency_take_deferred(struct job_latency *l)
{
    l->carried = 0;
    if (latency_rows_move(l->closing, &l->carry) != 0) {
        l->short_of_memory = 1;
        return;
    }
    l->carried = l->deferred;
    l->deferred = 0;
}

int job_latency_update(struct job_latency *l, const struct closed_window *window)
{
    if (window->late)
        return latency_defer(l, window->latency);
    l->window = window->number;
    l->world = window->world;
    l->closing = window->latency;
    l->error_ns = 0;
    l->short_of_memory = 0;
    if (message_ranks_begin(&l->messages,
                            l->group_shift == 0 ? closed_window_rank_end(window) : l->nodes) != 0)
        l->short_of_memory = 1;
    latency_take_deferred(l);
    if (join_close(l->join, l->window, latency_add_joined, l) != 0)
        l->short_of_memory = 1;
    latency_update_criteria(l);
    if (job_latency_update_regions(l, window) == 0) {
        latency_sum_groups(l, l->region_count);
        latency_update_series(l);
        latency_count_matches(l);
        job_latency_store_window(l);
    } else {
        l->short_of_memory = 1;
    }
    l->closing = NULL;
    return l->short_of_memory ? -ENOMEM : 0;
}

const struct message_ranks *job_latency_rank_messages(const struct job_latency *l)
{
    return &l->messages;
}

const struct latency_scale *job_latency_scale(const struct job_latency *l)
{
    return &l->scale;
}

uint64_t job_latency_error(const struct job_latency *l)
{
    return l->error_ns;
}

int job_latency_regions_changed(const struct job_latency *l)
{
    return l->regions_changed;
}

uint64_t job_latency_matched(const struct job_latency *l)
{
    return l->matched_total;
}

void job_latency_counts(const struct job_latency *l, struct join_counts *out)
{
    *out = l->counts;
}

/* ---- state --------------------------------------------------------------- */

static void latency_forget_memory(struct job_latency *l)
{
    l->criterion_rows = NULL;
    l->series_rows = NULL;
    l->rank_rows = NULL;
    l->region_rows = NULL;
    l->member_rows = NULL;
    l->region_infos = NULL;
    l->edges = NULL; /* edges that there was no memory for come with later windows */
    l->edge_count = 0;
    l->closing = NULL;
}

static void latency_copy_regions(struct state_bytes *b, struct job_latency *l)
{
    STATE_ARRAY(b, l->region_trends, l->region_count, l->region_capacity);
    if (l->region_trends == NULL)
        l->region_count = l->region_capacity = 0;
    for (size_t i = 0; i < l->region_count; i++)
        latency_trend_copy_state(b, &l->region_trends[i].trend);
    STATE_ARRAY(b, l->region_sums, l->region_count, l->region_count + 1);
    STATE_ARRAY(b, l->series, l->series_count, l->region_count + SCOPES_BEFORE_REGIONS + 1);
}

static void latency_copy_ranks(struct state_bytes *b, struct job_latency *l)
{
    STATE_ARRAY(b, l->node_of, l->node_of_count, 0);
    STATE_ARRAY(b, l->group_of, l->group_of_count, 0);
    STATE_ARRAY(b, l->region_of, l->rank_count, 0);
    STATE_ARRAY(b, l->ranks, l->rank_count, 0);
    message_ranks_copy_state(b, &l->messages);
    l->groups.regions = l->region_sums;
    l->groups.region_of = l->region_of;
    l->groups.ranks = l->ranks;
    l->groups.messages = &l->messages;
}

void job_latency_copy_state(struct state_bytes *b, struct job_latency **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct job_latency *l = *out;
    if (b->reads)
        latency_forget_memory(l);
    criteria_copy_state(b, &l->criteria);
    join_copy_state(b, &l->join);
    contact_copy_state(b, &l->contact);
    regions_copy_state(b, &l->regions);
    for (unsigned i = 0; i < SCOPES_BEFORE_REGIONS; i++)
        latency_trend_copy_state(b, &l->trends[i]);
    latency_copy_regions(b, l);
    latency_rows_copy_state(b, &l->carry);
    latency_copy_ranks(b, l);
    for (size_t i = 0; i < STORED_WINDOWS; i++) {
        STATE_ARRAY(b, l->kept[i].rows, l->kept[i].count, 0);
        STATE_ARRAY(b, l->kept[i].criteria, l->kept[i].criteria_count, 0);
    }
}
