/* Names and tooltips of units and routes. */
#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/network/view_network_parts.h"

#include <stdio.h>
#include <string.h>

/* Coordinates of a group: "A 1, B 0". */
static void network_tips_name_coordinates(const struct topology_spec *spec, unsigned kept,
                                          uint32_t group, char *out, size_t capacity)
{
    uint32_t at[TOPOLOGY_DIMENSIONS] = {0};
    for (uint32_t d = spec->dimension_count; d-- > 0;) {
        if (!(kept & 1u << d) || !spec->dimensions[d].size)
            continue;
        at[d] = group % spec->dimensions[d].size;
        group /= spec->dimensions[d].size;
    }
    out[0] = 0;
    for (uint32_t d = 0; d < spec->dimension_count && strlen(out) + 24 < capacity; d++)
        if (kept & 1u << d)
            text_append(out, capacity, "%s%s %u", out[0] ? ", " : "", spec->dimensions[d].name,
                        at[d]);
}

char *network_unit_name(const struct stage *s, const struct wiring_unit *u, char *out,
                        size_t capacity)
{
    const struct network *n = &s->model->network;
    char name[64] = "";
    if (u->group == NETWORK_ALONE || !n->topology)
        return network_vertex_name(n, u->vertex, out, capacity);
    if (s->ui->graph.applied)
        network_tips_name_coordinates(topology_spec(n->topology), s->ui->graph.applied, u->group,
                                      name, sizeof name);
    else
        network_vertex_name(n, u->group, name, sizeof name);
    snprintf(out, capacity, "%s: %s", name, quantity_things(u->vertices, "node").text);
    return out;
}

/* The first ranks of a group's vertices. */
static void network_tips_group_ranks(struct stage *s, const struct wiring *w, uint32_t unit)
{
    const struct flows *f = &s->range->flows;
    char text[128] = "";
    uint32_t listed = 0;
    for (uint32_t v = 0; v < w->vertex_count && v < f->vertex_count && strlen(text) < 60; v++) {
        if (w->unit_of[v] != unit)
            continue;
        for (uint32_t k = f->first_rank[v]; k < f->first_rank[v + 1] && strlen(text) < 60;
             k++, listed++)
            text_append(text, sizeof text, "%s%u", listed ? ", " : "", f->ranks[k]);
    }
    if (listed)
        tooltip_add(&s->tip, 0, "%s ranks: %s%s", quantity_grouped(w->units[unit].ranks).text, text,
                    listed < w->units[unit].ranks ? " \xe2\x80\xa6" : "");
}

static void network_tips_add_group_tip(struct stage *s, const struct wiring *w, uint32_t unit)
{
    const struct wiring_unit *u = &w->units[unit];
    char name[128];
    tooltip_add(&s->tip, 0, "%s", network_unit_name(s, u, name, sizeof name));
    network_tips_group_ranks(s, w, unit);
    piece_traffic_tip(s, "receives ", u->in, u->in_bytes);
    piece_traffic_tip(s, "sends ", u->out, u->out_bytes);
    if (u->inside)
        tooltip_add(&s->tip, 0, "%s stay within", format_si((double)u->inside, "B").text);
    if (u->transit)
        tooltip_add(&s->tip, 0, "%s pass through", format_si((double)u->transit, "B").text);
    tooltip_add(&s->tip, 0, "click: its nodes one by one");
}

/* Coordinates of a node that has a name. */
static void network_tips_add_coordinates(struct stage *s, uint32_t vertex)
{
    const struct topology *t = s->model->network.topology;
    uint32_t at[TOPOLOGY_DIMENSIONS], count = t ? topology_coordinates(t, vertex, at) : 0;
    char text[128] = "(", name[TOPOLOGY_NAME + 1] = "";
    for (uint32_t d = 0; d < count && strlen(text) + 14 < sizeof text; d++)
        text_append(text, sizeof text, "%s%u", d ? "," : "", at[d]);
    text_append(text, sizeof text, ")");
    if (count)
        topology_vertex_name(t, vertex, name, sizeof name);
    if (count && strcmp(name, text))
        tooltip_add(&s->tip, 0, "at %s", text);
}

/* Host that the node's ranks run on. */
static void network_tips_add_host(struct stage *s, uint32_t vertex)
{
    const struct flows *f = &s->range->flows;
    const struct model *m = s->model;
    char name[TOPOLOGY_NAME + 1];
    if (vertex >= f->vertex_count || f->first_rank[vertex] == f->first_rank[vertex + 1])
        return;
    uint32_t rank = f->ranks[f->first_rank[vertex]];
    if (rank >= m->rank_count || m->ranks[rank].node >= m->host_count)
        return;
    network_vertex_name(&m->network, vertex, name, sizeof name);
    if (strcmp(name, m->hosts[m->ranks[rank].node].name))
        tooltip_add(&s->tip, 0, "on %s", m->hosts[m->ranks[rank].node].name);
}

void network_unit_tip(struct stage *s, const struct wiring *w, uint32_t unit)
{
    const struct wiring_unit *u = &w->units[unit];
    if (u->group != NETWORK_ALONE) {
        network_tips_add_group_tip(s, w, unit);
        return;
    }
    piece_vertex_tip(s, u->vertex);
    network_tips_add_coordinates(s, u->vertex);
    network_tips_add_host(s, u->vertex);
    tooltip_add(&s->tip, 0, "%s", quantity_things(u->partners, "partner").text);
}

void network_route_tip(struct stage *s, const struct wiring *w, uint32_t route)
{
    const struct flows *f = &s->range->flows;
    const struct wiring_route *r = &w->routes[route];
    char from[96], to[96];
    struct quantity load = format_si(r->values[METRIC_LOAD], "B");
    if (r->flows == 1 && r->flow < f->route_count) {
        piece_route_tip(s, f->routes[r->flow].source, f->routes[r->flow].destination);
        tooltip_add(&s->tip, 0, "most loaded link on the path: %s", load.text);
        return;
    }
    network_unit_name(s, &w->units[r->source], from, sizeof from);
    network_unit_name(s, &w->units[r->destination], to, sizeof to);
    tooltip_add(&s->tip, 0, "%s", from);
    tooltip_add(&s->tip, s->brush.theme->text, "\xe2\x86\x92 %s", to);
    tooltip_add(&s->tip, 0, "%s routes, %s", quantity_grouped(r->flows).text,
                format_si((double)r->bytes, "B").text);
    tooltip_add(&s->tip, 0, "%s on average, hop-bytes %s", quantity_things(r->length, "link").text,
                format_si(r->values[METRIC_HOP_BYTES], "B").text);
    tooltip_add(&s->tip, 0, "most loaded step on the path: %s", load.text);
}
