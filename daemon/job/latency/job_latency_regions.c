/* Regions of a job: who is in contact with whom, and the trends of those found. */
#include "daemon/analysis/tables/array.h"
#include "daemon/job/latency/job_latency_state.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

#define CONTACT_ROWS (1u << 18) /* rows of pairs examined for regions in one window */

/* The vertex that stands for a rank in the graph of contacts: its group, where there are some.
 * @return UINT32_MAX: none does */
static uint32_t latency_find_vertex(const struct job_latency *l, uint32_t rank)
{
    const uint32_t group = rank >> l->group_shift;
    if (!l->nodes_stand)
        return group < REGIONS_DEFAULTS.max_vertices ? group : UINT32_MAX;
    uint32_t node = rank < l->node_of_count ? l->node_of[rank] : UINT32_MAX;
    return node < REGIONS_DEFAULTS.max_vertices ? node : UINT32_MAX;
}

/* Pass on edges that appeared or disappeared to the regions. @return 0, or -ENOMEM: the rest is
 * passed on in the next window */
static int latency_pass_edges(struct job_latency *l)
{
    for (; l->edge_count > 0; l->edges++, l->edge_count--)
        if (regions_edge(l->regions, l->edges->a, l->edges->b, l->edges->present) == -ENOMEM)
            return -ENOMEM;
    return 0;
}

static int latency_close_contacts(struct job_latency *l)
{
    int code = contact_close(l->contact, &l->edges, &l->edge_count);
    return code != 0 ? code : latency_pass_edges(l);
}

/* With too many ranks a node stands for its ranks from now on: contacts of ranks are dropped, and
 * their regions, whose ids and trends are not those of the regions of nodes. */
static int latency_begin_node_regions(struct job_latency *l)
{
    struct contact_params contact = CONTACT_DEFAULTS;
    struct regions_params regions = REGIONS_DEFAULTS;
    struct contact *fresh_contact;
    struct regions *fresh_regions;
    int code = contact_create(&fresh_contact, &contact);
    if (code != 0)
        return code;
    regions.first_id = regions_next_id(l->regions);
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
    l->nodes_stand = l->regions_new = 1;
    return 0;
}

static int latency_add_contacts(struct job_latency *l, const struct closed_window *window)
{
    const size_t count = window->pair_count;
    if (!l->nodes_stand && l->world >> l->group_shift > REGIONS_DEFAULTS.max_vertices &&
        latency_begin_node_regions(l) != 0)
        return -ENOMEM;
    if (latency_pass_edges(l) != 0)
        return -ENOMEM;
    /* Who is in contact with whom changes slowly: of a job with millions of pairs not every window
     * is examined. */
    if (l->window % (1 + count / CONTACT_ROWS) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct wire_pair_row *p = &window->pairs[i];
        if (p->destination < 0)
            continue;
        uint32_t a = latency_find_vertex(l, (uint32_t)p->source),
                 b = latency_find_vertex(l, (uint32_t)p->destination);
        if (a == UINT32_MAX || b == UINT32_MAX || a == b)
            continue;
        if (contact_add(l->contact, a, b, p->messages) == -ENOMEM)
            return -ENOMEM;
    }
    return latency_close_contacts(l);
}

ORDER_FUNCTION(region_trend_compare, struct region_trend, ORDER(a->id, b->id))

static struct region_trend *region_trend_find(const struct job_latency *l, uint32_t id)
{
    const struct region_trend key = {.id = id};
    return l->region_count == 0 ? NULL
                                : bsearch(&key, l->region_trends, l->region_count, sizeof(key),
                                          region_trend_compare);
}

/* Keep the trends of regions that persist, and begin those of new ones. @return 0, or -ENOMEM: they
 * are unchanged */
static int latency_update_region_trends(struct job_latency *l, const struct region_info *infos,
                                        size_t count)
{
    struct region_trend *trends = calloc(count + 1, sizeof(*trends)), *known;
    int code = trends == NULL ? -ENOMEM : 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        trends[i].id = infos[i].id;
        if (region_trend_find(l, infos[i].id) == NULL)
            code = latency_trend_create(&trends[i].trend, (double)l->window_ns * 1e-9);
    }
    for (size_t i = 0; code == 0 && i < count; i++) {
        if ((known = region_trend_find(l, infos[i].id)) == NULL)
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

/* @return position in region_trends; region_count: in none */
static uint32_t latency_find_region(const struct job_latency *l, uint32_t vertex)
{
    uint32_t id = vertex == UINT32_MAX ? 0 : regions_of(l->regions, vertex);
    const struct region_trend *found = id == 0 ? NULL : region_trend_find(l, id);
    return (uint32_t)(found == NULL ? l->region_count : (size_t)(found - l->region_trends));
}

static void latency_map_ranks(struct job_latency *l)
{
    for (size_t i = 0; i < l->rank_count; i++) {
        uint32_t vertex = l->group_shift == 0     ? latency_find_vertex(l, (uint32_t)i)
                          : i < l->group_of_count ? l->group_of[i]
                                                  : UINT32_MAX;
        l->region_of[i] = latency_find_region(l, vertex);
    }
}

/* List the regions, which have changed, or whose ranks have. @return 0, or -ENOMEM: the list is
 * unchanged */
static int latency_list_regions(struct job_latency *l)
{
    size_t regions = regions_list(l->regions, NULL, 0);
    if (ARRAY_RESIZE(l->region_infos, regions + 1) != 0 ||
        ARRAY_RESIZE(l->region_sums, regions + 1) != 0 ||
        ARRAY_RESIZE(l->series, regions + SCOPES_BEFORE_REGIONS + 1) != 0)
        return -ENOMEM;
    regions_list(l->regions, l->region_infos, regions);
    int code = latency_update_region_trends(l, l->region_infos, regions);
    if (code == 0)
        latency_map_ranks(l);
    return code;
}

int job_latency_update_regions(struct job_latency *l, const struct closed_window *window)
{
    int changed = 0;
    l->regions_changed = 0;
    int code = latency_add_contacts(l, window);
    code = code != 0 ? code : regions_update(l->regions, l->window, &changed);
    l->regions_new |= changed;
    if (code == -HOLTER_ELIMIT && !l->nodes_stand)
        code = latency_begin_node_regions(l);
    if (code != 0 && code != -HOLTER_ELIMIT)
        return code;
    if (!l->regions_new && !l->ranks_placed)
        return 0;
    code = latency_list_regions(l);
    if (code != 0)
        return code;
    l->regions_changed = l->regions_new;
    l->regions_new = l->ranks_placed = 0;
    return 0;
}

/* Ranks of the group that begins with a rank: the last one may have fewer. */
static uint64_t latency_count_group(const struct job_latency *l, uint64_t rank)
{
    const uint64_t full = UINT64_C(1) << l->group_shift;
    return rank < l->world && l->world - rank < full ? l->world - rank : full;
}

int job_latency_regions(struct job_latency *l, struct wire_regions *out)
{
    const size_t rows =
        l->group_shift == 0 ? l->rank_count : (l->node_of_count >> l->group_shift) + 1;
    size_t regions = regions_list(l->regions, NULL, 0), members = 0;
    if (ARRAY_RESIZE(l->region_infos, regions + 1) != 0 ||
        ARRAY_RESIZE(l->region_rows, regions + 1) != 0 ||
        ARRAY_RESIZE(l->member_rows, rows + 1) != 0)
        return -ENOMEM;
    regions_list(l->regions, l->region_infos, regions);
    for (size_t i = 0; i < regions; i++)
        l->region_rows[i] =
            (struct wire_latency_region_row){l->region_infos[i].id, 0, l->region_infos[i].since};
    for (size_t i = 0; i < rows; i++) {
        const uint64_t rank = (uint64_t)i << l->group_shift;
        uint32_t at = l->group_shift == 0 ? l->region_of[i] : latency_find_region(l, (uint32_t)i);
        if (at >= l->region_count || at >= regions)
            continue;
        l->member_rows[members++] = (struct wire_region_member_row){rank, l->region_trends[at].id};
        l->region_rows[at].ranks += latency_count_group(l, rank);
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

uint32_t job_latency_region_of(const struct job_latency *l, uint32_t rank)
{
    const uint32_t at = job_latency_number_of(l, rank);
    if (at >= l->rank_count || l->region_of[at] >= l->region_count)
        return 0;
    return l->region_trends[l->region_of[at]].id;
}
