/* Network part of the context column. */

#include "daemon/analysis/tables/rank_list.h"
#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/frame/frame.h"
#include "viewer/views/links/view_links_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOP_ROUTES = 4, NAMED = 32 }; /* maximum number of characters of a list of ranks */

static const char arrow[] = "\xe2\x86\x92";

/* ---- facts about the selection ---- */

int context_is_network(enum select_kind kind)
{
    return kind == SELECT_LINK || kind == SELECT_ROUTE || kind == SELECT_VERTEX ||
           kind == SELECT_PLANE;
}

static uint32_t context_listed_routes(const struct stage *s,
                                      const struct wire_link_route_row **first)
{
    uint32_t count = 0;
    *first = s->ui->selection.kind == SELECT_LINK
                 ? network_routes_of(&s->model->network, s->ui->selection.a, &count)
                 : NULL;
    return count < TOP_ROUTES ? count : TOP_ROUTES;
}

static const struct wire_link_row *context_measured_row(const struct stage *s)
{
    const struct wire_link_row *row = network_row(&s->model->network, s->ui->selection.a);
    return row && row->measured != NETWORK_UNKNOWN ? row : NULL;
}

double context_network_height(const struct stage *s)
{
    const struct wire_link_route_row *first;
    uint32_t lines = s->ui->selection.kind == SELECT_VERTEX  ? 4
                     : s->ui->selection.kind == SELECT_PLANE ? 3
                                                             : 5;
    if (s->ui->selection.kind == SELECT_LINK) {
        uint32_t routes = context_listed_routes(s, &first);
        lines = 5u + (context_measured_row(s) ? 1u : 0u) + (routes ? routes + 1 : 0);
    }
    return 40 + 18 * lines + 6;
}

void context_network_name(const struct stage *s, char *out, size_t room)
{
    const struct network *n = &s->model->network;
    const struct selection *sel = &s->ui->selection;
    char from[80], to[80];
    if (sel->kind == SELECT_LINK) {
        network_link_name(n, (uint32_t)sel->a, out, room);
    } else if (sel->kind == SELECT_ROUTE) {
        network_vertex_name(n, (uint32_t)sel->a, from, sizeof from);
        network_vertex_name(n, (uint32_t)sel->b, to, sizeof to);
        snprintf(out, room, "%s %s %s", from, arrow, to);
    } else if (sel->kind == SELECT_PLANE) {
        const struct topology_spec *spec = n->topology ? topology_spec(n->topology) : NULL;
        snprintf(out, room, "plane %s = %u",
                 spec && sel->a < spec->dimension_count ? spec->dimensions[sel->a].name : "?",
                 (unsigned)sel->b);
    } else {
        network_vertex_name(n, (uint32_t)sel->a, from, sizeof from);
        const char *kind =
            n->topology && topology_vertex_kind(n->topology, (uint32_t)sel->a) == VERTEX_SWITCH
                ? "switch "
                : "node ";
        /* a name that was not given is the kind and a number, "router (1,3)" of a dragonfly */
        int named = strncmp(from, kind, strlen(kind)) == 0 || strncmp(from, "router ", 7) == 0;
        snprintf(out, room, "%s%s", named ? "" : kind, from);
    }
}

static uint32_t context_count_marked_ranks(const struct flows *f)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < f->rank_count; r++)
        n += (f->rank_marks[r] & FLOW_SELECTED) != 0;
    return n;
}

/* Marked ranks, or groups of them: "4: 0,2,5-6" if the list fits in a line, else their number. */
static char *context_format_marked(const struct stage *s, char *out, size_t room)
{
    const struct flows *f = &s->range->flows;
    char list[NAMED];
    struct rank_runs runs;
    rank_runs_begin(&runs, list, sizeof list, "");
    for (uint32_t r = 0; r < f->rank_count; r++)
        if (f->rank_marks[r] & FLOW_SELECTED)
            rank_runs_add_row(&runs, r, s->model->group, s->model->world);
    snprintf(out, room, "%s", quantity_grouped(context_count_marked_ranks(f)).text);
    if (rank_runs_end(&runs) && list[0])
        text_append(out, room, ": %s", list);
    return out;
}

/* Facts about a plane (nodes with one coordinate in common): traffic that crosses its border, and
 * inside it. */
static void context_add_plane_facts(const struct stage *s, struct box *at)
{
    const struct topology *t = s->model->network.topology;
    const struct selection *sel = &s->ui->selection;
    const struct flows *f = &s->range->flows;
    uint32_t nodes = 0, from, to, of_from[TOPOLOGY_DIMENSIONS], of_to[TOPOLOGY_DIMENSIONS];
    double inside = 0, leaves = 0;
    for (uint32_t node = 0; t && node < topology_nodes(t); node++)
        nodes += sel->a < topology_coordinates(t, node, of_from) && of_from[sel->a] == sel->b;
    for (uint32_t link = 0; t && link < f->link_count; link++) {
        if (!f->loads[link] || !topology_link(t, link, &from, &to) ||
            sel->a >= topology_coordinates(t, from, of_from) ||
            sel->a >= topology_coordinates(t, to, of_to) || of_from[sel->a] != sel->b)
            continue;
        if (of_to[sel->a] == sel->b)
            inside += (double)f->loads[link];
        else
            leaves += (double)f->loads[link];
    }
    context_fact(s, at, "nodes", "%s", quantity_grouped(nodes).text);
    context_fact(s, at, "over links inside", "%s", format_si(inside, "B").text);
    context_fact(s, at, "over links out of it", "%s", format_si(leaves, "B").text);
}

/* A route that loads the selected link: a row that selects it. Of a job by groups of ranks it is
 * one of nodes. */
static void context_add_listed_route(const struct stage *s, struct box *at,
                                     const struct wire_link_route_row *r)
{
    const struct network *n = &s->model->network;
    const int by_nodes = s->model->group > 1;
    struct box line = {at->x - 4, at->y - 1, at->w + 8, 18};
    char from[80], to[80], name[180];
    snprintf(name, sizeof name, "%s %s %s",
             piece_route_end(s->model, r->source, "rank ", from, sizeof from), arrow,
             piece_route_end(s->model, r->destination, "", to, sizeof to));
    if (by_nodes)
        scene_hit(s->brush.scene, line, HIT_ROUTE, network_seat(n, (uint32_t)r->source),
                  network_seat(n, (uint32_t)r->destination));
    else
        scene_hit(s->brush.scene, line, HIT_PAIR, r->source, r->destination);
    if (box_has(line, s->brush.mouse_x, s->brush.mouse_y))
        scene_rect(s->brush.scene, line, 3, s->brush.theme->raised);
    context_fact(s, at, name, "%s, %s", format_si((double)r->bytes, "B").text,
                 quantity_things(r->length, "link").text);
}

static void context_add_link_facts(const struct stage *s, struct box *at, uint32_t link)
{
    const struct flows *f = &s->range->flows;
    const struct wire_link_route_row *first;
    const struct wire_link_row *row = context_measured_row(s);
    struct link_figures figures;
    char text[160];
    link_figures(s, s->ui->time.follow && !s->ui->network.applied, link, &figures);
    context_fact(s, at, "state", "%s", piece_state_text(s, figures.state).text);
    const double load = link < f->link_count ? (double)f->loads[link] : 0;
    if (piece_loads_are_measured(s)) /* no message is known */
        context_fact(s, at, "counted in sight", "%s",
                     format_si(figures.load, figures.packets ? "packets" : "B").text);
    else
        context_fact(s, at, "load in sight", f->mean > 0 ? "%s, %s the mean" : "%s",
                     format_si(load, "B").text, format_ratio(load / f->mean).text);
    context_fact(s, at, "latency over it",
                 isnan(figures.latency) ? "not known" : "%s the reference",
                 format_ratio(figures.latency).text);
    context_fact(s, at, "routes", "%s", quantity_grouped(f->selected_routes).text);
    context_fact(s, at, s->model->group > 1 ? "groups" : "ranks", "%s",
                 context_format_marked(s, text, sizeof text));
    if (row)
        context_fact(s, at, "measured", isnan(row->ratio) ? "%s" : "%s, %s the model",
                     format_si((double)row->measured, row->unit ? "packets" : "B").text,
                     format_ratio(row->ratio).text);
    uint32_t routes = context_listed_routes(s, &first);
    if (routes) {
        scene_text(s->brush.scene, at->x, at->y, at->w, TEXT_SMALL, 0, s->brush.theme->second,
                   "largest routes in the newest window:");
        at->y += 18;
    }
    for (uint32_t i = 0; i < routes; i++)
        context_add_listed_route(s, at, &first[i]);
}

static void context_add_route_facts(const struct stage *s, struct box *at, uint32_t from,
                                    uint32_t to)
{
    const struct flows *f = &s->range->flows;
    char text[128];
    uint32_t number = flows_find(f, from, to);
    if (number == FLOWS_NONE) {
        context_fact(s, at, "in sight", "no messages");
    } else {
        const struct flow *r = &f->routes[number];
        context_fact_traffic(s, at, "messages", r->messages, r->bytes);
        context_fact(s, at, "length", "%s",
                     r->length == TOPOLOGY_NONE
                         ? "no path"
                         : piece_metric_text(METRIC_LENGTH, (double)r->length).text);
        if (r->length != TOPOLOGY_NONE)
            context_fact(s, at, "hop-bytes", "%s",
                         format_si((double)r->bytes * r->length, "B").text);
    }
    context_fact(s, at, "from", "%s", piece_vertex_ranks(s, from, text, sizeof text));
    context_fact(s, at, "to", "%s", piece_vertex_ranks(s, to, text, sizeof text));
}

static void context_add_vertex_facts(const struct stage *s, struct box *at, uint32_t vertex)
{
    const struct flows *f = &s->range->flows;
    char text[128];
    if (vertex >= f->vertex_count)
        return;
    const struct flow_vertex *v = &f->vertices[vertex];
    context_fact(s, at, "ranks", "%s", piece_vertex_ranks(s, vertex, text, sizeof text));
    context_fact_traffic(s, at, "received", v->in, v->in_bytes);
    context_fact_traffic(s, at, "sent", v->out, v->out_bytes);
    context_fact(s, at, "passing through", "%s", format_si((double)v->transit, "B").text);
}

void context_network_facts(const struct stage *s, struct box *at)
{
    const struct selection *sel = &s->ui->selection;
    if (sel->kind == SELECT_LINK)
        context_add_link_facts(s, at, (uint32_t)sel->a);
    else if (sel->kind == SELECT_ROUTE)
        context_add_route_facts(s, at, (uint32_t)sel->a, (uint32_t)sel->b);
    else if (sel->kind == SELECT_PLANE)
        context_add_plane_facts(s, at);
    else
        context_add_vertex_facts(s, at, (uint32_t)sel->a);
}

/* ---- hot links ---- */

static void context_add_hot_link(struct stage *s, struct box row, uint32_t link)
{
    const struct theme *t = s->brush.theme;
    const struct selection *sel = &s->ui->selection;
    char name[200];
    struct link_figures f;
    uint32_t routes;
    link_figures(s, !s->ui->network.applied, link, &f);
    network_routes_of(&s->model->network, link, &routes);
    scene_rect(s->brush.scene, row, 4, t->panel);
    piece_row(s, row, HIT_LINK, link, 0, sel->kind == SELECT_LINK && sel->a == link, UI_LISTS, 0);
    piece_state_sign(&s->brush, row.x + 16, row.y + row.h / 2, 4.5, f.state);
    double room = row.w - 30 - (s->ui->network.applied ? 64 : 142);
    scene_text(s->brush.scene, row.x + 30, row.y + 2, room, TEXT_SMALL_STRONG, TEXT_MIDDLE, t->text,
               network_link_name(&s->model->network, link, name, sizeof name));
    char change[100];
    if (s->ui->network.applied)
        scene_text(s->brush.scene, row.x + 30, row.y + 17, room, TEXT_AXIS, 0, t->second,
                   piece_change_text(METRIC_LOAD, f.real, f.load, change, sizeof change));
    else if (piece_loads_are_measured(s))
        scene_textf(s->brush.scene, row.x + 30, row.y + 17, room, TEXT_AXIS, 0, t->second, "%s%s",
                    format_si(f.load, f.packets ? "" : "B").text, f.packets ? " packets" : "");
    else if (routes)
        scene_textf(s->brush.scene, row.x + 30, row.y + 17, room, TEXT_AXIS, 0, t->second, "%s, %s",
                    piece_state_text(s, f.state).text, quantity_things(routes, "route").text);
    else
        scene_text(s->brush.scene, row.x + 30, row.y + 17, room, TEXT_AXIS, 0, t->second,
                   piece_state_text(s, f.state).text);
    if (!s->ui->network.applied)
        link_sparkline(s, (struct box){row.x + row.w - 134, row.y + 8, 70, row.h - 16}, link,
                       piece_state_color(t, f.state));
    scene_text(s->brush.scene, row.x + row.w - 60, row.y + 8, 50, TEXT_BODY,
               TEXT_RIGHT | TEXT_FIGURES, t->text,
               isnan(f.share) ? format_ratio(f.multiple).text : format_share(f.share).text);
    if (box_has(row, s->brush.mouse_x, s->brush.mouse_y))
        piece_link_tip(s, link);
}

double context_hot_links(struct stage *s, struct box box)
{
    const struct network *n = &s->model->network;
    const struct theme *t = s->brush.theme;
    if (!n->rows_known || !n->link_count || s->ui->view == VIEW_LINKS)
        return 0;
    int what_if = s->ui->network.applied != 0;
    const struct links_drawing *counted =
        piece_loads_are_measured(s) || (what_if && s->range->flows.link_count) ? links_order(s)
                                                                               : NULL;
    uint32_t count = counted ? counted->count : what_if ? 0 : n->link_count;
    int shares = !isnan(n->links[0].share);
    scene_text(s->brush.scene, box.x + 2, box.y, box.w * 0.4, TEXT_TITLE, 0, t->text, "Hot links");
    scene_text(s->brush.scene, box.x + box.w * 0.4, box.y + 2, box.w * 0.6 - 2, TEXT_SMALL,
               TEXT_RIGHT, t->second,
               what_if   ? "before, after"
               : counted ? "counted, of the mean"
               : shares  ? "load, share of capacity"
                         : "load, of the mean");
    scene_hit(s->brush.scene, (struct box){box.x, box.y - 2, box.w, 24}, HIT_BUTTON, COMMAND_VIEW,
              VIEW_LINKS);
    double used = 26;
    for (uint32_t i = 0; i < count && used + 38 <= box.h; i++, used += 38)
        context_add_hot_link(s, (struct box){box.x, box.y + used, box.w, 34},
                             counted ? counted->order[i] : (uint32_t)n->links[i].link);
    return used + 10;
}
