/* Texts, colours, legend and tooltips about links, routes and vertices. */
#include "viewer/views/common/network_pieces.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char arrow[] = "\xe2\x86\x92";

int piece_loads_are_measured(const struct stage *s)
{
    const struct network *n = &s->model->network;
    if (s->range->flows.links_used || s->ui->network.applied)
        return 0;
    for (uint32_t i = 0; i < n->link_count; i++)
        if (n->links[i].measured != NETWORK_UNKNOWN)
            return n->counts.hop_bytes <= 0;
    return 0;
}

int piece_no_network(const struct stage *s, struct box box)
{
    const struct network *n = &s->model->network;
    const struct flows *f = &s->range->flows;
    int some = n->topology && (f->route_count || n->link_count);
    if (some)
        return 0;
    piece_panel(s, box, "no-network");
    if (!n->topology && n->fault[0]) {
        char title[600];
        snprintf(title, sizeof title, "The network's description cannot be used%s%s",
                 n->source[0] ? ": " : "", n->source);
        piece_empty(s, box, title, n->fault);
        return 1;
    }
    if (!n->topology && s->model->daemon.topology_fault[0])
        piece_empty(s, box, "The network's description cannot be used",
                    s->model->daemon.topology_fault);
    else if (!n->topology)
        piece_empty(s, box, "No network known yet",
                    "It is published with the first figures, from a topology file or the agents.");
    else
        piece_empty(s, box, "Nothing crossed a link in this span of time",
                    n->fault[0]             ? n->fault
                    : flows_stayed_local(f) ? "All messages stayed within nodes."
                                            : NULL);
    return 1;
}

/* ---- states ---- */

color_t piece_state_color(const struct theme *t, enum link_state state)
{
    switch (state) {
    case LINK_CONGESTED:
        return t->bad;
    case LINK_HOT:
        return t->warn;
    case LINK_BUSY:
        return t->info;
    default:
        return t->faint;
    }
}

void piece_state_sign(const struct brush *b, double x, double y, double r, enum link_state state)
{
    color_t color = piece_state_color(b->theme, state);
    if (state == LINK_CONGESTED) {
        scene_rect(b->scene, (struct box){x - r, y - r, 2 * r, 2 * r}, 1, color);
    } else if (state == LINK_HOT) {
        const struct point corners[] = {
            {x, y - r * 1.15}, {x + r * 1.15, y + r * 0.9}, {x - r * 1.15, y + r * 0.9}};
        scene_shape(b->scene, corners, 3, color);
    } else if (state == LINK_BUSY) {
        scene_disc(b->scene, x, y, r * 0.8, color);
    } else {
        scene_outline(b->scene, (struct box){x - r, y - r, 2 * r, 2 * r}, r, 1.4, color);
    }
}

static uint64_t piece_last_window(const struct stage *s)
{
    uint64_t first = 0, last = 0;
    ui_windows(s->ui, s->model, &first, &last);
    return last;
}

enum link_state piece_link_state(const struct stage *s, uint32_t link)
{
    const struct network *n = &s->model->network;
    if (!s->ui->time.follow) {
        const struct network_sample *sample = network_sample(n, link, piece_last_window(s));
        return sample ? (enum link_state)sample->state : LINK_IDLE;
    }
    const struct wire_link_row *row = network_row(n, link);
    return row ? (enum link_state)row->state : LINK_IDLE;
}

struct quantity piece_state_text(const struct stage *s, enum link_state state)
{
    const struct window_totals *w = series_newest(&s->model->series);
    const char *name = network_state_name(state);
    uint64_t last = piece_last_window(s), since = s->model->network.states_known;
    if (s->ui->network.applied)
        return quantity_print("%s", name);
    if (piece_loads_are_measured(s))
        return quantity_print("%s in sight", name);
    if (!s->ui->time.follow &&
        (!since || last < since || last + NETWORK_WINDOWS <= s->model->network.window))
        return quantity_print("not known at that time");
    if (!s->ui->time.follow && w)
        return quantity_print(
            "%s at %s", name,
            format_clock((int64_t)((last + 1) * w->length_ns), w->length_ns < 1000000000).text);
    return quantity_print(model_ended(s->model) ? "%s at the end" : "%s", name);
}

/* ---- the what-if ---- */

const struct flows *piece_reality(const struct stage *s)
{
    return s->ui->network.applied ? &s->range->reality : &s->range->flows;
}

double piece_metric_most(const struct stage *s, enum flow_metric metric)
{
    double most = piece_reality(s)->maximum[metric];
    if (s->second)
        most = fmax(most, s->second->flows.maximum[metric]);
    return most > 0 ? most : s->range->flows.maximum[metric];
}

double piece_compare(const struct stage *s, double right, double y)
{
    static const char *const words[COMPARES] = {"before", "after", "difference", "both"};
    const int active = s->other ? COMPARE_BOTH : (int)s->ui->network.compare;
    if (s->follows) /* the buttons are in the other half */
        return 0;
    if (!s->ui->network.what_if.count && s->ui->network.other)
        return widget_choice(&s->brush, right, y, words, COMPARES, active, COMMAND_COMPARE);
    if (!s->ui->network.what_if.count)
        return 0;
    double undo = scene_width(s->brush.scene, TEXT_SMALL, 0, "Undo") + 20;
    widget_button(&s->brush, right - undo, y, "Undo", 0, COMMAND_UNDO_STEP, 0);
    return undo + 6 +
           widget_choice(&s->brush, right - undo - 6, y, words, COMPARES, active, COMMAND_COMPARE);
}

void piece_add_state(const struct stage *s, char *out, size_t capacity)
{
    char state[280];
    if (!piece_has_sizes(s->model)) /* loads are sums of what counts as a byte */
        text_append(out, capacity, "; 1 B is one message");
    if (s->other) /* it is above each half */
        return;
    ui_network_state(s->ui, state, sizeof state);
    size_t length = strlen(state), old = strlen(out);
    if (!length || length + 3 >= capacity)
        return;
    size_t kept = old < capacity - length - 3 ? old : capacity - length - 3;
    memmove(out + length + 2, out, kept);
    memcpy(out, state, length);
    memcpy(out + length, "; ", 2);
    out[length + 2 + kept] = 0;
}

void piece_add_unplaced(const struct stage *s, char *out, size_t capacity)
{
    const uint64_t bytes = s->range->flows.unplaced_bytes;
    if (bytes > 0 && piece_has_sizes(s->model))
        text_append(out, capacity, "; not shown: %s of ranks without a place",
                    format_si((double)bytes, "B").text);
}

char *piece_route_gains(const struct suggestion *g, char *out, size_t capacity)
{
    double sums[2] = {0}, most[2] = {0};
    uint32_t counts[2] = {0};
    for (uint32_t i = 0; i < g->route_count; i++) {
        const struct network_reroute *r = &g->routes[i];
        const double before[] = {(double)r->heaviest, r->length},
                     after[] = {(double)r->heaviest_after, r->length_after};
        for (int k = 0; k < 2 && r->count; k++) {
            double share = before[k] > after[k] ? (before[k] - after[k]) / before[k] : 0;
            counts[k] += share > 0;
            sums[k] += share;
            most[k] = fmax(most[k], share);
        }
    }
    int k = counts[0] ? 0 : 1;
    if (!counts[k])
        return NULL;
    const char *what = k ? "length" : "heaviest link";
    if (counts[k] == 1)
        snprintf(out, capacity, "%s -%.1f\xc2\xa0%%", what, most[k] * 100);
    else
        snprintf(out, capacity, "%s -%.1f\xc2\xa0%% on average, -%.1f\xc2\xa0%% at most", what,
                 sums[k] / counts[k] * 100, most[k] * 100);
    return out;
}

color_t piece_difference_color(const struct theme *t, double share)
{
    double size = fmin(fabs(share), 1);
    return color_mix(t->line, share < 0 ? t->info : t->bad, size > 0 ? 0.25 + 0.75 * size : 0);
}

char *piece_change_text(enum flow_metric metric, double before, double after, char *out,
                        size_t capacity)
{
    snprintf(out, capacity, "%s %s %s", piece_metric_text(metric, before).text, arrow,
             piece_metric_text(metric, after).text);
    double share = before > 0 ? fabs(after - before) / before : 1;
    if (share < 0.0005)
        snprintf(out, capacity, "%s as before", piece_metric_text(metric, before).text);
    else if (before > 0 && after / before >= 10)
        text_append(out, capacity, ", %sx",
                    quantity_grouped((uint64_t)llround(after / before)).text);
    else if (before > 0)
        text_append(out, capacity, ", %+.1f\xc2\xa0%%", (after - before) / before * 100);
    return out;
}

/* ---- figures ---- */

color_t piece_metric_color(const struct stage *s, enum flow_metric metric, double value)
{
    double most = piece_metric_most(s, metric);
    double low = s->ui->network.colour_low[metric], high = s->ui->network.colour_high[metric];
    double share = most > 0 ? value / most : 0;
    return theme_map(s->brush.theme,
                     high > low ? fmin(fmax((share - low) / (high - low), 0), 1) : 0);
}

struct quantity piece_metric_text(enum flow_metric metric, double value)
{
    if (metric == METRIC_LENGTH)
        return quantity_print("%.0f link%s", value, fabs(value - 1) < 0.5 ? "" : "s");
    return format_si(value, metric == METRIC_IN || metric == METRIC_OUT ? "" : "B");
}

/* A handle on the colour map that can be dragged. */
static void piece_add_handle(struct stage *s, struct box map, int end, double at)
{
    const struct theme *t = s->brush.theme;
    double x = map.x + map.w * at;
    int hover = s->hover && s->hover->kind == HIT_HANDLE && s->hover->b == (uint64_t)end;
    scene_rect(s->brush.scene, (struct box){x - 1, map.y - 3, 2, map.h + 6}, 0,
               hover ? t->accent : t->text);
    const struct point corners[] = {
        {x, map.y + map.h + 1}, {x + 5, map.y + map.h + 9}, {x - 5, map.y + map.h + 9}};
    scene_shape(s->brush.scene, corners, 3, hover ? t->accent : t->text);
}

double piece_metric_legend(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    enum flow_metric metric = s->ui->network.metric;
    double low = s->ui->network.colour_low[metric], high = s->ui->network.colour_high[metric];
    double most = piece_metric_most(s, metric);
    struct box map = {box.x, box.y + 4, box.w, 8};
    scene_rect(s->brush.scene, (struct box){map.x, map.y, map.w * low, map.h}, 0, t->map[0]);
    scene_rect(s->brush.scene, (struct box){map.x + map.w * high, map.y, map.w * (1 - high), map.h},
               0, t->map[255]);
    scene_image(s->brush.scene,
                (struct box){map.x + map.w * low, map.y, map.w * (high - low), map.h},
                &t->map_image);
    piece_add_handle(s, map, 0, low);
    piece_add_handle(s, map, 1, high);
    for (int end = 0; end < 2; end++) {
        /* a drag moves the nearer end */
        double middle = (low + high) / 2, from = end ? middle : 0, to = end ? 1 : middle;
        struct box area = {map.x + map.w * from - (end ? 0 : 6), map.y - 4, map.w * (to - from) + 6,
                           map.h + 14};
        struct scene_hit *hit = scene_hit(s->brush.scene, area, HIT_HANDLE, metric, (uint64_t)end);
        hit->x0 = from - (end ? 0 : 6 / fmax(map.w, 1));
        hit->x1 = to + (end ? 6 / fmax(map.w, 1) : 0);
    }
    scene_textf(s->brush.scene, box.x, map.y + map.h + 10, box.w / 2 - 4, TEXT_AXIS, 0, t->second,
                "colours from %s", piece_metric_text(metric, low * most).text);
    scene_textf(s->brush.scene, box.x + box.w / 2, map.y + map.h + 10, box.w / 2, TEXT_AXIS,
                TEXT_RIGHT, t->second, "to %s", piece_metric_text(metric, high * most).text);
    return 38;
}

double piece_filter(const struct stage *s, double right, double y, double most)
{
    const struct theme *t = s->brush.theme;
    char text[200], what[160];
    if (!flow_filter_active(&s->ui->network.filter))
        return 0;
    snprintf(text, sizeof text, "only %s  \xc3\x97",
             flow_filter_text(&s->ui->network.filter, what, sizeof what));
    double w = fmin(scene_width(s->brush.scene, TEXT_SMALL, 0, text) + 20, most);
    if (w < 40)
        return 0;
    struct box box = {right - w, y, w, 24};
    int hover = box_has(box, s->brush.mouse_x, s->brush.mouse_y);
    scene_rect(s->brush.scene, box, 5, t->raised);
    scene_outline(s->brush.scene, box, 5, 1, t->accent);
    scene_text(s->brush.scene, box.x + 10, y + 4, w - 14, TEXT_SMALL, 0,
               hover ? t->accent : t->text, text);
    scene_hit(s->brush.scene, box, HIT_BUTTON, COMMAND_FILTER_CLEAR, 0);
    return w;
}

char *piece_vertex_ranks(const struct stage *s, uint32_t vertex, char *out, size_t capacity)
{
    const struct flows *f = &s->range->flows;
    out[0] = 0;
    if (vertex >= f->vertex_count)
        return out;
    uint32_t k = f->first_rank[vertex], end = f->first_rank[vertex + 1];
    snprintf(out, capacity, end - k == 1 ? "rank " : end > k ? "ranks " : "no rank");
    int some = 0;
    while (k < end && strlen(out) + 24 < capacity) {
        uint32_t first = k;
        while (k + 1 < end && f->ranks[k + 1] == f->ranks[k] + 1)
            k++;
        text_append(out, capacity, first == k ? "%s%u" : "%s%u-%u", some++ ? ", " : "",
                    f->ranks[first], f->ranks[k]);
        k++;
    }
    if (k < end)
        text_append(out, capacity, " and %u more", end - k);
    return out;
}

/* ---- tooltips ---- */

static void piece_add_measured(struct stage *s, const struct wire_link_row *row)
{
    if (row->measured == NETWORK_UNKNOWN)
        return;
    struct quantity measured = format_si((double)row->measured, row->unit ? "packets" : "B");
    if (isnan(row->ratio))
        tooltip_add(&s->tip, 0, "measured %s", measured.text);
    else
        tooltip_add(&s->tip, row->ratio > 1.25 ? s->brush.theme->warn : 0,
                    "measured %s, %s what the model says%s", measured.text,
                    format_ratio(row->ratio).text, row->ratio > 1.25 ? ": other traffic" : "");
}

char *piece_route_end(const struct model *m, uint64_t rank, const char *prefix, char *out,
                      size_t capacity)
{
    if (m->group > 1)
        return network_vertex_name(&m->network, network_seat(&m->network, (uint32_t)rank), out,
                                   capacity);
    snprintf(out, capacity, "%s%" PRIu64, prefix, rank);
    return out;
}

static void piece_add_route_lines(struct stage *s, uint32_t link)
{
    char from[80], to[80];
    uint32_t count;
    const struct wire_link_route_row *r = network_routes_of(&s->model->network, link, &count);
    for (uint32_t i = 0; i < count && i < 3; i++)
        tooltip_add(&s->tip, 0, "%s %s %s: %s over %s",
                    piece_route_end(s->model, r[i].source, "rank ", from, sizeof from), arrow,
                    piece_route_end(s->model, r[i].destination, "rank ", to, sizeof to),
                    format_si((double)r[i].bytes, "B").text,
                    quantity_things(r[i].length, "link").text);
}

void piece_link_tip(struct stage *s, uint32_t link)
{
    const struct network *n = &s->model->network;
    const struct flows *f = &s->range->flows;
    const struct wire_link_row *row = network_row(n, link);
    char name[200], change[100];
    enum link_state state = piece_link_state(s, link);
    tooltip_add(&s->tip, 0, "%s", network_link_name(n, link, name, sizeof name));
    int counted = piece_loads_are_measured(s);
    if (!counted)
        tooltip_add_text(&s->tip, piece_state_color(s->brush.theme, state),
                         piece_state_text(s, state).text);
    if (link < f->link_count && !counted) {
        tooltip_add(&s->tip, s->brush.theme->text, "%s in sight, %sx the mean of loaded links",
                    format_si((double)f->loads[link], "B").text,
                    f->mean > 0 ? format_si((double)f->loads[link] / f->mean, "").text : "0");
        if (s->ui->network.applied && link < s->range->reality.link_count)
            tooltip_add(&s->tip, s->brush.theme->info, "%s %s",
                        s->ui->network.applied & FLOWS_OTHER_RUN ? "both runs" : "really",
                        piece_change_text(METRIC_LOAD, (double)s->range->reality.loads[link],
                                          (double)f->loads[link], change, sizeof change));
    }
    if (!row)
        return;
    if (counted) {
        piece_add_measured(s, row);
        return;
    }
    tooltip_add(&s->tip, 0, "%s window %s, at most %s", model_ended(s->model) ? "last" : "newest",
                format_si((double)row->bytes, "B").text, format_si((double)row->peak, "B").text);
    if (row->collective_bytes)
        tooltip_add(&s->tip, 0, "beside it %s inside collectives, as modelled",
                    format_si((double)row->collective_bytes, "B").text);
    if (!isnan(row->share))
        tooltip_add(&s->tip, 0, "%s of what it can carry", format_share(row->share).text);
    if (!isnan(row->latency))
        tooltip_add(&s->tip, 0, "messages over it: latency %s the reference",
                    format_ratio(row->latency).text);
    piece_add_measured(s, row);
    piece_add_route_lines(s, link);
}

void piece_route_tip(struct stage *s, uint32_t source, uint32_t destination)
{
    const struct network *n = &s->model->network;
    const struct flows *f = &s->range->flows;
    char from[80], to[80];
    uint32_t number = flows_find(f, source, destination);
    network_vertex_name(n, source, from, sizeof from);
    network_vertex_name(n, destination, to, sizeof to);
    tooltip_add(&s->tip, 0, "%s %s %s", from, arrow, to);
    if (number == FLOWS_NONE) {
        tooltip_add(&s->tip, 0, "no messages in this span of time");
        return;
    }
    const struct flow *r = &f->routes[number];
    piece_traffic_tip(s, "", r->messages, r->bytes);
    if (r->length == TOPOLOGY_NONE) {
        tooltip_add(&s->tip, s->brush.theme->bad, "the network has no path between them");
        return;
    }
    tooltip_add(&s->tip, 0, "%s, hop-bytes %s", quantity_things(r->length, "link").text,
                format_si((double)r->bytes * r->length, "B").text);
    if (r->given != FLOWS_NONE)
        tooltip_add(&s->tip, s->brush.theme->info, "as suggested");
    char ranks[100];
    tooltip_add(&s->tip, 0, "from %s", piece_vertex_ranks(s, source, ranks, sizeof ranks));
    tooltip_add(&s->tip, 0, "to %s", piece_vertex_ranks(s, destination, ranks, sizeof ranks));
}

void piece_vertex_tip(struct stage *s, uint32_t vertex)
{
    const struct network *n = &s->model->network;
    const struct flows *f = &s->range->flows;
    char name[80], ranks[110];
    tooltip_add(&s->tip, 0, "%s", network_vertex_name(n, vertex, name, sizeof name));
    if (vertex >= f->vertex_count)
        return;
    const struct flow_vertex *v = &f->vertices[vertex];
    tooltip_add(&s->tip, 0, "%s", piece_vertex_ranks(s, vertex, ranks, sizeof ranks));
    piece_traffic_tip(s, "receives ", v->in, v->in_bytes);
    piece_traffic_tip(s, "sends ", v->out, v->out_bytes);
    if (v->transit)
        tooltip_add(&s->tip, 0, "%s pass through", format_si((double)v->transit, "B").text);
}
