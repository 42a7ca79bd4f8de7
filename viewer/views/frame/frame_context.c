/* Context column: facts about the selection, alerts, busiest pairs, waiting ranks. */
#include "viewer/views/frame/frame.h"

#include "viewer/layout/format.h"
#include "viewer/places/absence.h"
#include "viewer/views/alerts/evidence.h"
#include "viewer/views/common/pieces.h"

#include "holter/call.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DELAYED = 8, NEIGHBOURS = 6 }; /* maximum of pairs by delay, of neighbours */

static const char arrow[] = "\xe2\x86\x92";

/* ---- selection ---- */

void context_fact(const struct stage *s, struct box *at, const char *name, const char *format, ...)
{
    char value[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    const double left = 12 + scene_text(s->brush.scene, at->x, at->y, 110, TEXT_SMALL, 0,
                                        s->brush.theme->second, name);
    scene_text(s->brush.scene, at->x + left, at->y, at->w - left, TEXT_SMALL, TEXT_RIGHT,
               s->brush.theme->text, value);
    at->y += 18;
}

void context_fact_traffic(const struct stage *s, struct box *at, const char *name,
                          uint64_t messages, uint64_t bytes)
{
    if (piece_has_sizes(s->model))
        context_fact(s, at, name, "%s, %s", format_si((double)messages, "").text,
                     format_si((double)bytes, "B").text);
    else
        context_fact(s, at, name, "%s", format_si((double)messages, "").text);
}

static void context_add_latency(const struct stage *s, struct box *at, const char *name,
                                double ratio, double error)
{
    context_fact(s, at, name, isnan(ratio) ? "%s" : "%s the reference",
                 format_ratio_within(ratio, error).text);
}

static void context_add_rank_facts(const struct stage *s, struct box *at, uint32_t rank)
{
    const struct range *r = s->range;
    const struct model *m = s->model;
    char text[160];
    rank = (uint32_t)model_row_of(m, rank);
    if (rank >= m->rank_count || rank >= r->ranks.count)
        return;
    const uint64_t *figures = r->ranks.figures + (size_t)rank * RANK_COLUMNS;
    double shares[MODEL_CLASSES];
    range_shares(r, rank, shares);
    widget_stack(&s->brush, (struct box){at->x, at->y + 2, at->w, 10}, shares, MODEL_CLASSES,
                 s->brush.theme->classes);
    at->y += 20;
    context_fact(s, at, "waiting", "%s", format_share(range_waiting(r, rank)).text);
    context_fact(s, at, "mostly in", "%s", piece_awaited(r, rank, text, sizeof text));
    if (!isnan(range_latency(r, rank)))
        context_add_latency(s, at, quantity_print("latency%s", piece_latency_part(s).text).text,
                            range_latency(r, rank), range_latency_error(r, rank));
    context_fact_traffic(s, at, "sent", figures[RANK_SENT], figures[RANK_SENT_BYTES]);
    context_fact_traffic(s, at, "received", figures[RANK_RECEIVED], figures[RANK_RECEIVED_BYTES]);
    if (m->ranks[rank].in_call)
        context_fact(s, at, "last seen in", "%s, %s", call_name(m->ranks[rank].in_call),
                     format_duration((double)m->ranks[rank].in_call_ns).text);
    if (model_row_deaths(m, rank))
        context_fact(s, at, "state", "%s", piece_deaths(m, rank).text);
}

static void context_add_pair_facts(const struct stage *s, struct box *at, uint32_t source,
                                   uint32_t destination)
{
    const struct range *r = s->range;
    const int ways = destination == PAIR_OTHERS ? 1 : 2; /* what others send is not summed up */
    for (int back = 0; back < ways; back++) {
        uint32_t n = back ? model_pair_find(s->model, destination, source)
                          : model_pair_find(s->model, source, destination);
        char name[48];
        if (ways == 1)
            snprintf(name, sizeof name, "%u %s others", source, arrow);
        else
            snprintf(name, sizeof name, "%u %s %u", back ? destination : source, arrow,
                     back ? source : destination);
        if (n >= r->pairs.count || !r->pairs.figures[(size_t)n * PAIR_COLUMNS]) {
            context_fact(s, at, name, "no messages");
            continue;
        }
        const uint64_t *p = r->pairs.figures + (size_t)n * PAIR_COLUMNS;
        context_fact_traffic(s, at, name, p[PAIR_MESSAGES], p[PAIR_BYTES]);
        if (piece_has_sizes(s->model))
            context_fact(s, at, "per message", "%s",
                         format_si((double)p[PAIR_BYTES] / (double)p[PAIR_MESSAGES], "B").text);
        context_fact(
            s, at, "share of all", "%s",
            format_share((double)p[s->quantity] / fmax((double)r->total[s->quantity], 1)).text);
    }
}

static void context_add_node_facts(const struct stage *s, struct box *at, uint64_t host)
{
    if (host >= s->model->host_count)
        return;
    context_fact(s, at, "ranks", "%s", quantity_grouped(s->model->hosts[host].ranks).text);
    double waiting = 0;
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < s->range->ranks.count; rank++) {
        const uint64_t *figures = s->range->ranks.figures + (size_t)rank * RANK_COLUMNS;
        if (s->model->ranks[rank].node != host || !figures[RANK_TIME_NS])
            continue; /* those without figures of their own do not count */
        waiting += range_waiting(s->range, rank);
        n++;
    }
    context_fact(s, at, "waiting, mean", "%s", format_share(n ? waiting / n : 0).text);
}

/* Sums of the calls of the row that is selected, as the row has them. */
static void context_add_call_facts(const struct stage *s, struct box *at,
                                   const struct selection *sel)
{
    uint64_t count = 0, time_ns = 0, longest_ns = 0;
    for (uint32_t i = 0; i < s->range->calls.count; i++) {
        const uint64_t *c = s->range->calls.figures + (size_t)i * CALLS_COLUMNS;
        if (!ui_calls_together(s->model, (enum call_group)sel->b, sel->a, i))
            continue;
        count += c[CALLS_COUNT];
        time_ns += c[CALLS_TIME_NS];
        longest_ns = c[CALLS_LONGEST_NS] > longest_ns ? c[CALLS_LONGEST_NS] : longest_ns;
    }
    context_fact(s, at, "calls", "%s", quantity_grouped(count).text);
    context_fact(s, at, "time", "%s", format_duration((double)time_ns).text);
    context_fact(s, at, "longest", "%s", format_duration((double)longest_ns).text);
}

static void context_add_region_facts(const struct stage *s, struct box *at, uint64_t id)
{
    static const char *const trends[] = {"calm", "growing since ", "high since "};
    const struct latency *l = &s->model->latency;
    const struct latency_series *series = latency_find(l, SERIES_REGION, id);
    const struct window_totals *w = series_newest(&s->model->series);
    struct latency_point sum;
    char text[160];
    uint64_t first, last;
    uint32_t region = latency_region_find(l, id);
    if (region != LATENCY_NONE) {
        context_fact(s, at, "ranks", "%s", quantity_grouped(l->regions[region].ranks).text);
        latency_region_ranks(l, id, s->model->group, s->model->world, text, sizeof text);
        context_fact(s, at, "namely", "%s", text);
    }
    if (!series || !ui_windows(s->ui, s->model, &first, &last) ||
        !latency_between(series, first, last, &sum) || !sum.messages)
        return;
    context_add_latency(s, at, "latency", sum.typical, 0);
    context_add_latency(s, at, "highest window", sum.highest, 0);
    context_fact(s, at, "transfer time", "%s",
                 format_duration_within(latency_transfer_ns(&sum),
                                        (double)sum.error_ns / (double)sum.messages)
                     .text);
    context_fact(s, at, "delayed", "%s of its messages",
                 format_share((double)sum.delayed / (double)sum.messages).text);
    context_fact(s, at, "trend", "%s%s", trends[series->trend],
                 series->trend == TREND_CALM
                     ? ""
                     : format_clock(w ? (int64_t)(series->trend_since * w->length_ns) : 0, 0).text);
}

static void context_add_alert_facts(const struct stage *s, struct box *at, uint64_t id)
{
    const struct alert *alert = alerts_find(&s->model->alerts, id);
    if (alert && alert->ranks[0])
        context_fact(s, at, "ranks", "%s", alert->ranks);
}

/* Facts about a community in the phase where it was selected. */
static void context_add_community_facts(const struct stage *s, struct box *at)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct selection *sel = &s->ui->selection;
    char text[128];
    for (uint32_t i = 0; sel->b <= p->column_count && i < p->bar_count; i++) {
        const struct wire_bar_row *bar = &p->bars[i];
        if (bar->column != sel->b || bar->community != sel->a)
            continue;
        context_fact(s, at, s->model->group > 1 ? "groups" : "ranks", "%s",
                     quantity_grouped(bar->ranks).text);
        commgram_bar_ranks(p, i, s->model->group, s->model->world, text, 40);
        context_fact(s, at, "namely", "%s", text);
        context_fact_traffic(s, at, "sent", bar->sent, bar->sent_bytes);
        context_fact_traffic(s, at, "received", bar->received, bar->received_bytes);
        return;
    }
    context_fact(s, at, "in sight", "not in this picture");
}

/* What the calls of a row have in common: function, communicator or code region. */
static void context_format_calls(const struct model *m, const struct selection *sel, char *out,
                                 size_t room)
{
    if (sel->a >= m->calls.keys.count) {
        snprintf(out, room, "?");
        return;
    }
    const struct model_call call = model_call_at(m, (uint32_t)sel->a);
    const char *comm = call.comm < m->comm_count && m->comms[call.comm].id
                           ? m->comms[call.comm].name
                           : NULL,
               *region = call.region < m->region_count ? m->regions[call.region].name : "";
    if (sel->b == GROUP_COMM)
        snprintf(out, room, comm ? "calls on %s" : "calls on no communicator",
                 comm && *comm ? comm : "an unnamed communicator");
    else if (sel->b == GROUP_REGION)
        snprintf(out, room, *region ? "calls in region %s" : "calls outside regions", region);
    else
        snprintf(out, room, "%s", call_name(call.call));
}

static void context_format_selection(const struct stage *s, char *out, size_t room)
{
    const struct selection *sel = &s->ui->selection;
    if (context_is_network(sel->kind))
        context_network_name(s, out, room);
    else if (sel->kind == SELECT_RANK)
        piece_rank_on(s->model, sel->a, out, room);
    else if (sel->kind == SELECT_PAIR)
        snprintf(out, room, "%s %s %s", piece_rank(s->model, sel->a).text, arrow,
                 piece_rank(s->model, sel->b).text);
    else if (sel->kind == SELECT_NODE)
        snprintf(out, room, "%s",
                 sel->a < s->model->host_count ? s->model->hosts[sel->a].name : "?");
    else if (sel->kind == SELECT_REGION)
        snprintf(out, room, "region %llu", (unsigned long long)sel->a);
    else if (sel->kind == SELECT_ALERT)
        snprintf(out, room, "ranks of an alert");
    else if (sel->kind == SELECT_COMMUNITY)
        snprintf(out, room, "community %llu", (unsigned long long)sel->a);
    else
        context_format_calls(s->model, sel, out, room);
}

static double context_selection_height(const struct stage *s)
{
    static const int lines[] = {
        [SELECT_RANK] = 7,   [SELECT_PAIR] = 6,  [SELECT_NODE] = 2,     [SELECT_CALL] = 3,
        [SELECT_REGION] = 7, [SELECT_ALERT] = 1, [SELECT_COMMUNITY] = 4};
    enum select_kind kind = s->ui->selection.kind;
    if (kind == SELECT_NONE)
        return 0;
    if (context_is_network(kind))
        return context_network_height(s);
    return 40 + (kind == SELECT_RANK ? 20 : 0) + 18 * lines[kind] + 6;
}

static double context_add_selection(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct selection *sel = &s->ui->selection;
    double h = context_selection_height(s);
    if (h <= 0 || h > box.h)
        return 0;
    char name[160];
    struct box card = {box.x, box.y, box.w, h};
    scene_rect(s->brush.scene, card, 6, t->panel);
    scene_rect(s->brush.scene, (struct box){card.x, card.y + 6, 3, h - 12}, 1.5, t->accent);
    context_format_selection(s, name, sizeof name);
    scene_text(s->brush.scene, card.x + 14, card.y + 9, card.w - 80, TEXT_TITLE, TEXT_MIDDLE,
               t->text, name);
    widget_button(&s->brush, card.x + card.w - 54, card.y + 7, "clear", 0, COMMAND_DESELECT, 0);
    struct box inner = {card.x + 14, card.y + 38, card.w - 28, h};
    if (context_is_network(sel->kind))
        context_network_facts(s, &inner);
    else if (sel->kind == SELECT_RANK)
        context_add_rank_facts(s, &inner, (uint32_t)sel->a);
    else if (sel->kind == SELECT_PAIR)
        context_add_pair_facts(s, &inner, (uint32_t)model_row_of(s->model, sel->a),
                               (uint32_t)model_row_of(s->model, sel->b));
    else if (sel->kind == SELECT_NODE)
        context_add_node_facts(s, &inner, sel->a);
    else if (sel->kind == SELECT_REGION)
        context_add_region_facts(s, &inner, sel->a);
    else if (sel->kind == SELECT_ALERT)
        context_add_alert_facts(s, &inner, sel->a);
    else if (sel->kind == SELECT_COMMUNITY)
        context_add_community_facts(s, &inner);
    else
        context_add_call_facts(s, &inner, sel);
    return h + 12;
}

/* ---- around the selection ---- */

static double context_add_section(const struct stage *s, struct box box, const char *title,
                                  const char *what)
{
    double used = scene_text(s->brush.scene, box.x + 2, box.y, box.w, TEXT_TITLE, 0,
                             s->brush.theme->text, title) +
                  10;
    if (*what)
        scene_text(s->brush.scene, box.x + used, box.y + 2, box.w - used - 2, TEXT_SMALL,
                   TEXT_RIGHT, s->brush.theme->second, what);
    return 26;
}

/* A neighbour of the selection: a row that selects it. */
static void context_add_neighbour(struct stage *s, struct box *at, enum hit_kind kind, uint64_t a,
                                  uint64_t b, const char *name, const char *figure)
{
    const struct theme *t = s->brush.theme;
    struct box row = {at->x, at->y, at->w, 24};
    if (at->h < 24)
        return;
    scene_rect(s->brush.scene, row, 4, t->panel);
    piece_row(s, row, kind, a, b, 0, UI_LISTS, 0);
    scene_text(s->brush.scene, row.x + 12, row.y + 4, row.w - 112, TEXT_SMALL, 0, t->text, name);
    scene_text(s->brush.scene, row.x + row.w - 100, row.y + 4, 90, TEXT_SMALL,
               TEXT_RIGHT | TEXT_FIGURES, t->second, figure);
    at->y += 27;
    at->h -= 27;
}

/* The pairs of a rank with most bytes or messages, by number. Those of most ranks of a large job
 * are not among the largest of all, which are sorted: they are looked for.
 * @return how many */
static int context_find_partners(const struct stage *s, uint64_t rank, uint32_t found[NEIGHBOURS])
{
    const uint64_t *figures = s->range->pairs.figures;
    int count = 0;
    for (uint32_t i = 0; i < s->range->pairs.count; i++) {
        const uint64_t figure = figures[(size_t)i * PAIR_COLUMNS + s->quantity];
        struct model_pair p = model_pair_at(&s->model->pairs, i);
        if ((p.source != rank && p.destination != rank) || p.destination == PAIR_OTHERS ||
            !figures[(size_t)i * PAIR_COLUMNS + PAIR_MESSAGES])
            continue;
        int at = count;
        while (at > 0 && figures[(size_t)found[at - 1] * PAIR_COLUMNS + s->quantity] < figure)
            at--;
        if (at == NEIGHBOURS)
            continue;
        count += count < NEIGHBOURS;
        memmove(found + at + 1, found + at, (size_t)(count - 1 - at) * sizeof *found);
        found[at] = i;
    }
    return count;
}

static void context_add_partners(struct stage *s, struct box *at, uint64_t rank)
{
    const enum pair_column q = s->quantity;
    uint32_t found[NEIGHBOURS];
    const int count = context_find_partners(s, rank, found);
    for (int i = 0; i < count; i++) {
        struct model_pair p = model_pair_at(&s->model->pairs, found[i]);
        const uint64_t figure = s->range->pairs.figures[(size_t)found[i] * PAIR_COLUMNS + q];
        char name[64];
        snprintf(name, sizeof name, "%s %s", p.source == rank ? "to" : "from",
                 piece_rank(s->model, p.source == rank ? p.destination : p.source).text);
        context_add_neighbour(s, at, HIT_PAIR, p.source, p.destination, name,
                              piece_quantity(q, figure).text);
    }
}

/* The ranks of a node, or both of a pair, those that wait most first. */
static void context_add_its_ranks(struct stage *s, struct box *at, const struct selection *sel)
{
    const struct range *r = s->range;
    const uint64_t a = model_row_of(s->model, sel->a), b = model_row_of(s->model, sel->b);
    int count = 0;
    for (uint32_t i = 0; i < r->by_waiting_count && count < NEIGHBOURS; i++) {
        uint32_t rank = r->by_waiting[i];
        char name[64], figure[64];
        if (sel->kind == SELECT_NODE ? s->model->ranks[rank].node != sel->a
                                     : rank != a && rank != b)
            continue;
        snprintf(name, sizeof name, "%s", piece_rank(s->model, rank).text);
        snprintf(figure, sizeof figure, "waits %s", format_share(range_waiting(r, rank)).text);
        context_add_neighbour(s, at, HIT_RANK, rank, 0, name, figure);
        count++;
    }
}

/* Places that show more of the selection. */
static void context_add_actions(const struct stage *s, struct box box)
{
    static const struct {
        enum select_kind kind;
        enum view_id views[4];
        int count;
    } actions[] = {
        {SELECT_RANK, {VIEW_RANKS, VIEW_MATRIX, VIEW_CAPTURES, VIEW_DEPENDENCIES}, 4},
        {SELECT_PAIR, {VIEW_PAIRS, VIEW_MATRIX, VIEW_NETWORK}, 3},
        {SELECT_NODE, {VIEW_NODES, VIEW_REGIONS, VIEW_NETWORK}, 3},
        {SELECT_CALL, {VIEW_CALLS, VIEW_LANDSCAPE}, 2},
        {SELECT_REGION, {VIEW_REGIONS, VIEW_LIVE, VIEW_ATTRIBUTION}, 3},
        {SELECT_ALERT, {VIEW_ALERTS, VIEW_ATTRIBUTION, VIEW_DEPENDENCIES}, 3},
        {SELECT_COMMUNITY, {VIEW_COMMGRAM}, 1},
        {SELECT_LINK, {VIEW_LINKS, VIEW_NETWORK, VIEW_ROUTES, VIEW_WHAT_IF}, 4},
        {SELECT_ROUTE, {VIEW_ROUTES, VIEW_NETWORK, VIEW_WHAT_IF}, 3},
        {SELECT_VERTEX, {VIEW_NETWORK, VIEW_TORUS}, 2},
        {SELECT_PLANE, {VIEW_TORUS}, 1},
    };
    double x = box.x;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        for (int k = 0; actions[i].kind == s->ui->selection.kind && k < actions[i].count; k++) {
            enum view_id view = actions[i].views[k];
            double w = scene_width(s->brush.scene, TEXT_SMALL, 0, place_names[view].label) + 20;
            if (view == s->ui->view || place_absence(s->model, view) || x + w > box.x + box.w)
                continue;
            scene_outline(s->brush.scene, (struct box){x, box.y, w, 24}, 5, 1,
                          s->brush.theme->line);
            x +=
                widget_button(&s->brush, x, box.y, place_names[view].label, 0, COMMAND_VIEW, view) +
                6;
        }
    }
}

/* What lies around the selection, and where more of it is shown. */
static void context_add_around(struct stage *s, struct box box)
{
    const struct selection *sel = &s->ui->selection;
    if (box.h < 30)
        return;
    context_add_actions(s, box);
    box.y += 36;
    box.h -= 36;
    if (box.h < 60 ||
        (sel->kind != SELECT_RANK && sel->kind != SELECT_NODE && sel->kind != SELECT_PAIR))
        return;
    double used = context_add_section(
        s, box,
        sel->kind == SELECT_RANK   ? "Talks to"
        : sel->kind == SELECT_NODE ? "Its ranks"
                                   : "Both ranks",
        (sel->kind == SELECT_RANK ? piece_pairs_range_text : piece_range_text)(s).text);
    box.y += used;
    box.h -= used;
    if (sel->kind == SELECT_RANK)
        context_add_partners(s, &box, model_row_of(s->model, sel->a));
    else
        context_add_its_ranks(s, &box, sel);
}

/* ---- alerts ---- */

/* The selected alert, else the first, in full; the others in one or two lines. */
static double context_add_alerts(struct stage *s, struct box box)
{
    static const enum alert_state order[] = {ALERT_FIRING, ALERT_PENDING, ALERT_RESOLVED};
    const struct alerts *all = &s->model->alerts;
    double used = 0;
    uint32_t shown = 0, live = 0;
    const struct alert *picked = s->ui->alert_picked ? alerts_find(all, s->ui->alert) : NULL;
    int waits = picked != NULL; /* the selected one has a place of its own */
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        for (uint32_t i = 0; i < all->count && shown < 3; i++) {
            const struct alert *a = &all->items[i];
            if (a->state != order[k] || (a->state == ALERT_RESOLVED && shown && a != picked) ||
                (waits && shown == 2 && a != picked))
                continue;
            waits &= a != picked;
            struct box room = {box.x, box.y + used, box.w, fmin(box.h * 0.75, box.h - used)};
            int full = picked ? a == picked : !shown && a->state != ALERT_RESOLVED;
            full &= s->ui->view != VIEW_OVERVIEW; /* which shows it itself */
            double h = evidence_card(s, room, a, full ? EVIDENCE_CARD : EVIDENCE_LINE);
            h = h > 0 || !full ? h : evidence_card(s, room, a, EVIDENCE_LINE);
            used += h > 0 ? h + 8 : 0;
            shown += h > 0;
            live += h > 0 && a->state != ALERT_RESOLVED;
        }
    }
    uint32_t more = alerts_count(all, ALERT_FIRING) + alerts_count(all, ALERT_PENDING) - live;
    if (more && shown && box.h - used > 20) {
        scene_textf(s->brush.scene, box.x + 2, box.y + used - 2, box.w, TEXT_SMALL, 0,
                    s->brush.theme->bad, "and %s", quantity_things(more, "more alert").text);
        scene_hit(s->brush.scene, (struct box){box.x, box.y + used - 4, box.w, 20}, HIT_BUTTON,
                  COMMAND_VIEW, VIEW_ALERTS);
        used += 20;
    }
    return used > 0 ? used + 6 : 0;
}

/* ---- lists ---- */

/* Pairs of a waiting rank and the rank that it waits for, the longest wait first.
 * @return how many of them were set, at most DELAYED */
static uint32_t context_find_delays(const struct range *r, uint32_t out[DELAYED])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->waits.count; i++) {
        if (!r->waits.figures[i] ||
            (count == DELAYED && r->waits.figures[i] <= r->waits.figures[out[count - 1]]))
            continue;
        uint32_t at = count < DELAYED ? count++ : count - 1;
        for (; at > 0 && r->waits.figures[out[at - 1]] < r->waits.figures[i]; at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
    return count;
}

/* On one node, in place of its links: they are spokes of a memory and say little. @return 0: no
 * delays are known */
static double context_add_delays(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    uint32_t worst[DELAYED], count = context_find_delays(s->range, worst);
    if (!count || (count > 1 && s->range->waits.figures[worst[count - 1]] * 10 >
                                    s->range->waits.figures[worst[0]] * 9))
        return 0; /* nobody waits, or all alike */
    double used = context_add_section(s, box, "Pairs by delay", "time waited for");
    for (uint32_t i = 0; i < count && used + 32 <= box.h; i++, used += 32) {
        const struct key key = s->model->waits.keys.keys[worst[i]];
        double ns = (double)s->range->waits.figures[worst[i]];
        struct box row = {box.x, box.y + used, box.w, 28};
        scene_rect(s->brush.scene, row, 4, t->panel);
        piece_row(s, row, HIT_PAIR, key.lo, key.hi, ui_pair_selected(s->ui, key.lo, key.hi),
                  UI_LISTS, 0);
        scene_textf(s->brush.scene, row.x + 12, row.y + 5, 128, TEXT_BODY, 0, t->text,
                    "%llu waits for %llu", (unsigned long long)key.hi, (unsigned long long)key.lo);
        widget_bar(&s->brush, (struct box){row.x + 146, row.y + 11, row.w - 146 - 84, 6},
                   ns / fmax((double)s->range->waits.figures[worst[0]], 1), t->warn);
        scene_text(s->brush.scene, row.x + row.w - 76, row.y + 5, 66, TEXT_BODY,
                   TEXT_RIGHT | TEXT_FIGURES, t->text, format_duration(ns).text);
        if (box_has(row, s->brush.mouse_x, s->brush.mouse_y))
            piece_pair_tip(s, (uint32_t)key.lo, (uint32_t)key.hi, 1);
    }
    return used + 10;
}

static double context_add_busiest_pairs(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct range *r = s->range;
    enum pair_column q = s->quantity;
    char name[64];
    double used = context_add_section(s, box, "Busiest pairs",
                                      q == PAIR_BYTES ? "bytes, share" : "messages, share");
    for (uint32_t i = 0; i < r->top_count[q] && used + 32 <= box.h; i++) {
        uint32_t n = r->top[q][i];
        struct model_pair p = model_pair_at(&s->model->pairs, n);
        uint64_t value = r->pairs.figures[(size_t)n * PAIR_COLUMNS + q];
        struct box row = {box.x, box.y + used, box.w, 28};
        scene_rect(s->brush.scene, row, 4, t->panel);
        piece_row(s, row, HIT_PAIR, p.source, p.destination,
                  ui_pair_selected(s->ui, p.source, p.destination), UI_LISTS, 0);
        char to[24];
        snprintf(to, sizeof to, p.destination == PAIR_OTHERS ? "others" : "%u", p.destination);
        snprintf(name, sizeof name, "%u %s %s", p.source, arrow, to);
        scene_text(s->brush.scene, row.x + 12, row.y + 5, 92, TEXT_BODY, 0, t->text, name);
        double share = (double)value / fmax((double)r->total[q], 1);
        double top = (double)r->pairs.figures[(size_t)r->top[q][0] * PAIR_COLUMNS + q];
        widget_bar(&s->brush, (struct box){row.x + 106, row.y + 11, row.w - 106 - 132, 6},
                   (double)value / fmax(top, 1), t->info);
        scene_text(s->brush.scene, row.x + row.w - 128, row.y + 6, 66, TEXT_SMALL,
                   TEXT_RIGHT | TEXT_FIGURES, t->second, piece_quantity(q, value).text);
        scene_text(s->brush.scene, row.x + row.w - 58, row.y + 5, 48, TEXT_BODY,
                   TEXT_RIGHT | TEXT_FIGURES, t->text, format_share(share).text);
        if (box_has(row, s->brush.mouse_x, s->brush.mouse_y))
            piece_pair_tip(s, p.source, p.destination, 1);
        used += 32;
    }
    if (!r->top_count[q]) {
        scene_text(s->brush.scene, box.x + 2, box.y + used, box.w, TEXT_SMALL, 0, t->faint,
                   "no messages between ranks");
        used += 24;
    }
    return used + 10;
}

static void context_add_waiting_ranks(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct range *r = s->range;
    double used = context_add_section(s, box, "Waiting the most", "share of time");
    for (uint32_t i = 0; i < r->by_waiting_count && used + 38 <= box.h; i++) {
        uint32_t rank = r->by_waiting[i];
        struct box row = {box.x, box.y + used, box.w, 34};
        int class_ = piece_waits_in(r, rank);
        double share = range_waiting(r, rank);
        scene_rect(s->brush.scene, row, 4, t->panel);
        piece_row(s, row, HIT_RANK, rank, 0, ui_row_selected(s->ui, s->model, rank), UI_LISTS, 0);
        scene_textf(s->brush.scene, row.x + 12, row.y + 2, 100, TEXT_SMALL_STRONG, 0, t->text, "%s",
                    piece_rank(s->model, rank).text);
        uint32_t awaited = range_awaited(r, rank);
        if (awaited != UINT32_MAX)
            scene_textf(s->brush.scene, row.x + 12, row.y + 17, 132, TEXT_AXIS, 0, t->second,
                        "%s, for rank %u", call_class_name((enum call_class)class_), awaited);
        else
            scene_textf(s->brush.scene, row.x + 12, row.y + 17, 132, TEXT_AXIS, 0, t->second,
                        "mostly %s", call_class_name((enum call_class)class_));
        widget_bar(&s->brush, (struct box){row.x + 148, row.y + 13, row.w - 148 - 66, 8}, share,
                   t->classes[class_]);
        scene_text(s->brush.scene, row.x + row.w - 60, row.y + 8, 50, TEXT_BODY,
                   TEXT_RIGHT | TEXT_FIGURES, t->text, format_share(share).text);
        if (box_has(row, s->brush.mouse_x, s->brush.mouse_y))
            piece_rank_tip(s, rank);
        used += 38;
    }
}

/* A list says something only where the values that it shows differ: by a twentieth, and by a
 * hundredth of the time. */
static int context_waits_apart(double most, double least)
{
    return most >= least + 0.01 && most >= 1.05 * least;
}

/* Of which time the figures of ranks are. */
static struct quantity context_format_time(const struct stage *s)
{
    return piece_is_since_start(s) ? quantity_print("since the start") : piece_time_text(s);
}

/* What there is to say of a job where nothing stands out and nothing is selected. */
static void context_add_summary(struct stage *s, struct box box)
{
    const struct model *m = s->model;
    const struct range *r = s->range;
    double end = box.y + box.h;
    const uint64_t *states = m->network.counts.states;
    int well = !alerts_count(&m->alerts, ALERT_FIRING) &&
               !alerts_count(&m->alerts, ALERT_PENDING) && !states[LINK_HOT] &&
               !states[LINK_CONGESTED];
    if (box.h < 120)
        return;
    double used =
        context_add_section(s, box, well ? "Nothing stands out" : "Nothing else stands out", "");
    struct box at = {box.x + 2, box.y + used, box.w - 4, box.h - used};
    context_fact(s, &at, "ranks", "%s on %s node%s", quantity_grouped(m->world).text,
                 quantity_grouped(m->host_count).text, m->host_count == 1 ? "" : "s");
    if (m->group > 1)
        context_fact(s, &at, "shown", "by groups of %s ranks", quantity_grouped(m->group).text);
    context_fact(s, &at, "time", "%s", context_format_time(s).text);
    uint64_t group = m->group > 1 ? m->group : 1, rows = (r->ranks.count + group - 1) / group;
    if (r->by_waiting_count && r->by_waiting_count < rows) /* what follows is of those */
        context_fact(s, &at, "with figures", "%s of %s %s",
                     quantity_grouped(r->by_waiting_count).text, quantity_grouped(rows).text,
                     group > 1 ? "groups" : "ranks");
    if (r->total[PAIR_MESSAGES])
        context_fact_traffic(s, &at, r->pairs_kind == r->kind ? "messages" : "messages so far",
                             r->total[PAIR_MESSAGES], r->total[PAIR_BYTES]);
    if (r->by_waiting_count && range_waiting(r, r->by_waiting[0]) > 0) {
        double most = range_waiting(r, r->by_waiting[0]),
               least = range_waiting(r, r->by_waiting[r->by_waiting_count - 1]);
        if (!context_waits_apart(most, least))
            context_fact(s, &at, "ranks wait", "all alike, %s of their time",
                         format_share(most).text);
        else
            context_fact(s, &at, "ranks wait", "%s to %s of their time", format_share(least).text,
                         format_share(most).text);
    }
    if (m->network.rows_known && well)
        context_fact(s, &at, "links", "none is hot");
    if (at.y + 56 <= end)
        scene_paragraph(s->brush.scene, at.x, at.y + 10, at.w, TEXT_SMALL, s->brush.theme->faint, 2,
                        "Click a rank, node, pair or link to see its figures here.");
}

static int context_waits_differ(const struct range *r, double h)
{
    uint32_t listed = (uint32_t)fmax(floor((h - 26) / 38), 2);
    listed = listed < r->by_waiting_count ? listed : r->by_waiting_count;
    return listed > 1 && context_waits_apart(range_waiting(r, r->by_waiting[0]),
                                             range_waiting(r, r->by_waiting[listed - 1]));
}

/* Likewise pairs: the busiest has a tenth more than the last one that would be listed. */
static int context_pairs_differ(const struct stage *s)
{
    const struct range *r = s->range;
    enum pair_column q = s->quantity;
    if (r->top_count[q] < 2)
        return 0;
    uint32_t listed = r->top_count[q];
    if (listed > DELAYED)
        listed = DELAYED;
    const uint64_t *most = r->pairs.figures + (size_t)r->top[q][0] * PAIR_COLUMNS;
    const uint64_t *least = r->pairs.figures + (size_t)r->top[q][listed - 1] * PAIR_COLUMNS;
    return (double)most[q] > 1.1 * (double)least[q];
}

/* Where nothing is selected: on one node pairs by delay; where something is wrong links if one is
 * hot, else pairs by traffic, and ranks that wait, each only where its values differ; else a
 * summary. */
static void context_add_lists(struct stage *s, struct box inner)
{
    const struct network *n = &s->model->network;
    int wrong = alerts_count(&s->model->alerts, ALERT_FIRING) ||
                alerts_count(&s->model->alerts, ALERT_PENDING);
    int hot =
        n->counts.states[LINK_HOT] || n->counts.states[LINK_CONGESTED] || s->ui->network.applied;
    double links_h = fmin(26 + 38 * fmin(8, n->link_count), inner.h * 0.56);
    struct box links = {inner.x, inner.y, inner.w, links_h};
    struct box delays = {inner.x, inner.y, inner.w, fmin(26 + 32 * DELAYED, inner.h * 0.48)};
    double used = s->model->host_count == 1 ? context_add_delays(s, delays) : 0;
    if (!hot && !wrong) {
        if (!used)
            context_add_summary(s, inner);
        return;
    }
    used = used > 0 || !hot ? used : context_hot_links(s, links);
    double pairs_h =
        fmin(26 + 32 * fmin(8, fmax(s->range->top_count[s->quantity], 1)), inner.h * 0.48);
    if (!used && context_pairs_differ(s))
        used = context_add_busiest_pairs(s, (struct box){inner.x, inner.y, inner.w, pairs_h});
    inner.y += used;
    inner.h -= used;
    if (context_waits_differ(s->range, inner.h))
        context_add_waiting_ranks(s, inner);
    else if (!used)
        context_add_summary(s, inner);
}

void context_layout(struct stage *s, struct box box, int drawer)
{
    const struct theme *t = s->brush.theme;
    scene_panel(s->brush.scene, box, drawer ? t->ground : 0, "context");
    if (drawer) {
        scene_overlay(s->brush.scene);
        scene_rect(s->brush.scene, (struct box){box.x, box.y, 1, box.h}, 0, t->line);
        scene_hit(s->brush.scene, box, HIT_NONE, 0, 0);
    }
    if (!s->model->job[0])
        return;
    struct box inner = {box.x + (drawer ? 14 : 2), box.y + 12, box.w - (drawer ? 28 : 16),
                        box.h - 20};
    double runs = context_runs(s, inner);
    inner.y += runs;
    inner.h -= runs;
    /* the alerts view shows all alerts itself, the overview one */
    uint32_t live = alerts_count(&s->model->alerts, ALERT_FIRING) +
                    alerts_count(&s->model->alerts, ALERT_PENDING);
    int shown = s->ui->view == VIEW_ALERTS || (s->ui->view == VIEW_OVERVIEW && live < 2);
    double used = shown && !drawer ? 0 : context_add_alerts(s, inner);
    inner.y += used;
    inner.h -= used;
    used = context_add_selection(s, inner);
    inner.y += used;
    inner.h -= used;
    if (used > 0)
        context_add_around(s, inner);
    else if (inner.h >= 90)
        context_add_lists(s, inner);
}
