/* Choices that the network views share: filter, metric, colours, the what-if. */
#include "viewer/ui/ui.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the selection, for routes and links --------------------------------- */

/* Marks the ranks of selections that are defined by ranks, such as a region. */
static int pick_ranks(struct ui *ui, const struct model *m)
{
    int changed = ui->network.picked_count != m->rank_count;
    if (changed) {
        if (array_resize(&ui->network.picked_ranks, m->rank_count + 1u) != 0)
            return -ENOMEM;
        ui->network.picked_count = m->rank_count;
        memset(ui->network.picked_ranks, 0, m->rank_count);
    }
    for (uint32_t r = 0; r < m->rank_count; r++) {
        uint8_t marked = ui_marks_rank(ui, m, r) != 0;
        changed |= marked != ui->network.picked_ranks[r];
        ui->network.picked_ranks[r] = marked;
    }
    ui->network.picked_version += changed != 0;
    return 0;
}

static int ui_network_pick(struct ui *ui, const struct model *m, struct flow_pick *out)
{
    const struct selection *s = &ui->selection;
    *out = (struct flow_pick){.a = s->a, .b = s->b};
    out->kind = s->kind == SELECT_NONE || s->kind == SELECT_CALL ? PICK_NONE
                : s->kind == SELECT_LINK                         ? PICK_LINK
                : s->kind == SELECT_ROUTE                        ? PICK_ROUTE
                : s->kind == SELECT_VERTEX                       ? PICK_VERTEX
                : s->kind == SELECT_PAIR                         ? PICK_PAIR
                                                                 : PICK_RANKS;
    if (out->kind != PICK_RANKS)
        return 0;
    if (pick_ranks(ui, m) < 0)
        return -ENOMEM;
    out->ranks = ui->network.picked_ranks;
    out->rank_count = ui->network.picked_count;
    out->version = ui->network.picked_version;
    return 0;
}

/* Whether the flows are needed: with very many pairs they cost some milliseconds a frame, which
 * other views need not spend. */
static int needs_flows(const struct ui *ui)
{
    enum select_kind kind = ui->selection.kind;
    return ui->view >= VIEW_LINKS || kind == SELECT_LINK || kind == SELECT_ROUTE ||
           kind == SELECT_VERTEX;
}

/* Flows and groups of a second run with a network of its own. Selection and picked items are
 * numbers of the first one. */
static int ui_network_update_second(struct ui *ui, const struct flows *first)
{
    struct other_run *other = ui->network.other;
    struct network_graph *g = &ui->second_graph;
    struct flow_filter filter = ui->network.filter;
    if (!ui_second_network(ui)) {
        if (other)
            flows_rest(&other->range.flows);
        return 0;
    }
    filter.picked = 0;
    g->camera = ui->graph.camera;
    g->tool = ui->graph.tool;
    g->size = ui->graph.size;
    g->chosen = ui->graph.chosen;
    g->kept = ui->graph.kept;
    g->level = ui->graph.level;
    const int changed = flows_update(&other->range.flows, other->model, &other->range, NULL);
    const int marked = flows_mark(&other->range.flows, other->model, &filter,
                                  &(struct flow_pick){.kind = PICK_NONE});
    const int ranked =
        ui->view == VIEW_LINKS ? flows_rank(&other->range.flows, ui->network.metric) : 0;
    const int grouped = ui->view == VIEW_NETWORK
                            ? network_graph_update(g, other->model, &other->range.flows, first)
                            : 0;
    return changed < 0 || marked < 0 || ranked < 0 || grouped < 0 ? -ENOMEM
                                                                  : changed || marked || grouped;
}

int ui_update_flows(struct ui *ui, const struct model *m, struct range *range)
{
    struct flow_pick picked;
    struct what_if *steps = &ui->network.what_if;
    what_if_check(steps, m->job, &m->network);
    const struct what_if *shown = ui->network.compare != COMPARE_BEFORE ? steps : NULL;
    const struct other_run *other = ui_other_run(ui);
    other = other && other->same_network ? other : NULL;
    const struct model *of = other ? other->model : m;
    ui->network.applied = !needs_flows(ui) ? 0
                          : other          ? FLOWS_OTHER_RUN
                          : shown          ? what_if_kinds(shown)
                                           : 0;
    ui->network.flows = &range->flows;
    if (!ui->network.applied && range->reality.work)
        flows_finish(&range->reality);
    if (!needs_flows(ui)) {
        flows_rest(&range->flows);
        flows_rest(&range->reality);
        return ui_network_update_second(ui, &range->flows);
    }
    int changed = flows_update(&range->flows, of, other ? &other->range : range, shown);
    if (other)
        range->flows.applied = FLOWS_OTHER_RUN;
    int real = ui->network.applied ? flows_update(&range->reality, m, range, NULL) : 0;
    changed = changed < 0 || real < 0 ? -ENOMEM : changed || real;
    if (changed < 0 || ui_network_pick(ui, m, &picked) < 0)
        return -ENOMEM;
    const int ranks = ui->view == VIEW_LINKS || ui->view == VIEW_WHAT_IF;
    if (ranks && flows_rank(&range->flows, ui->network.metric) < 0)
        return -ENOMEM;
    int marked = flows_mark(&range->flows, of, &ui->network.filter, &picked);
    if (marked >= 0 && ui_shows_both(ui) && ui->network.applied &&
        flows_mark(&range->reality, m, &ui->network.filter, &picked) < 0)
        return -ENOMEM;
    int second = ui_network_update_second(ui, &range->flows);
    const struct flows *beside = ui_second_network(ui) ? &ui->network.other->range.flows : NULL;
    int grouped =
        ui->view == VIEW_NETWORK ? network_graph_update(&ui->graph, m, &range->flows, beside) : 0;
    if (marked < 0 || grouped < 0 || second < 0)
        return -ENOMEM;
    return changed || marked || grouped || second;
}

static const char *const objectives[REMAP_OBJECTIVES] = {"hop-bytes", "max-link", "inter-node"};

const char *ui_objective_name(enum remap_objective objective)
{
    return objective < REMAP_OBJECTIVES ? objectives[objective] : "?";
}

unsigned ui_remap_seconds(const struct ui *ui)
{
    static const unsigned seconds[REMAP_TIMES] = {2, 10, 60};
    return seconds[ui->network.remap_time];
}

/* ---- the what-if --------------------------------------------------------- */

/* The brush becomes the set of routes that were asked about: with less load they would leave its
 * range, and could not be compared. */
static void ui_network_keep_routes(struct ui *ui, const struct suggestion *s)
{
    uint64_t *routes = malloc(((size_t)s->route_count + 1) * sizeof *routes);
    if (!routes)
        return;
    for (uint32_t i = 0; i < s->route_count; i++)
        routes[i] = (uint64_t)s->routes[i].source << 32 | s->routes[i].destination;
    flow_filter_clear(&ui->network.filter);
    flow_filter_pick(&ui->network.filter, FLOW_ROUTES, routes, s->route_count);
    free(routes);
}

int ui_network_show(struct ui *ui, const struct model *m, enum suggestion_kind kind)
{
    const struct suggestion *s = &m->network.suggestions[kind];
    char name[128];
    if (kind == SUGGEST_MAPPING)
        snprintf(name, sizeof name, "mapping for less %s", s->objective);
    else
        snprintf(name, sizeof name, "%u of %u routes", suggestion_better_routes(s), s->route_count);
    int error = what_if_push(&ui->network.what_if, m->job, &m->network, kind, name);
    if (!error && kind == SUGGEST_ROUTES && ui->network.filter.ranged && s->route_count)
        ui_network_keep_routes(ui, s);
    if (!error && ui->network.compare == COMPARE_BEFORE)
        ui->network.compare = COMPARE_AFTER;
    return error;
}

const struct other_run *ui_other_run(const struct ui *ui)
{
    return ui->network.compare != COMPARE_BEFORE && !ui->network.what_if.count ? ui->network.other
                                                                               : NULL;
}

const struct other_run *ui_second_network(const struct ui *ui)
{
    const struct other_run *other = ui_other_run(ui);
    return other && !other->same_network && ui->view >= VIEW_LINKS && ui->view <= VIEW_ROUTES
               ? other
               : NULL;
}

int ui_shows_difference(const struct ui *ui)
{
    return ui->network.applied && ui->network.compare == COMPARE_DIFFERENCE;
}

int ui_shows_both(const struct ui *ui)
{
    const int pictures =
        ui->view == VIEW_NETWORK || ui->view == VIEW_TORUS || ui->view == VIEW_ROUTES;
    return ui_second_network(ui) ||
           (ui->network.compare == COMPARE_BOTH &&
            ((pictures && ui->network.applied) || (ui->view == VIEW_MATRIX && ui_other_run(ui))));
}

char *ui_network_state(const struct ui *ui, char *out, size_t capacity)
{
    char text[200];
    const struct other_run *other = ui->network.other;
    out[0] = 0;
    if (!ui->network.what_if.count && other) {
        static const char *const states[COMPARES] = {"before", "after", "difference", "after"};
        const int differs = ui->network.compare == COMPARE_DIFFERENCE;
        const int after = !differs && ui->network.compare != COMPARE_BEFORE;
        if (!other->same_network && ui->view >= VIEW_LINKS)
            snprintf(out, capacity, "first of two networks, before: %.80s", other->names[0]);
        else
            snprintf(out, capacity, "%s: %.80s%s%.80s, %s", states[ui->network.compare],
                     other->names[after], differs ? " to " : "", differs ? other->names[1] : "",
                     other_run_text(other, text, sizeof text));
        return out;
    }
    if (!ui->network.what_if.count)
        return out;
    what_if_text(&ui->network.what_if, text, sizeof text);
    snprintf(out, capacity, "%s%s%s", ui->network.applied ? "" : "reality, before ", text,
             ui_shows_difference(ui) ? ", difference from the reality" : "");
    return out;
}

/* ---- figures by rank ----------------------------------------------------- */

double ui_rank_at(const struct ui *ui, double place)
{
    return ui->network.rank_log ? pow(10, place) - 1 : place;
}

/* The ranked item at a place of the axis; its index, or FLOWS_NONE. */
static uint32_t ranked_at(const struct ui *ui, double place)
{
    const struct flows *f = ui->network.flows;
    double rank = floor(ui_rank_at(ui, place));
    if (!f || !f->ranked_count || f->ranked_metric != ui->network.metric)
        return FLOWS_NONE;
    return f->ranked[(uint32_t)fmin(fmax(rank, 0), f->ranked_count - 1)];
}

void ui_click_metric(struct ui *ui, const struct scene_hit *hit)
{
    uint32_t number = ranked_at(ui, scene_hit_y(hit, ui->mouse.y));
    if (number == FLOWS_NONE)
        return;
    switch (flows_kind(ui->network.metric)) {
    case FLOW_ROUTES:
        ui_select(ui, (struct selection){SELECT_ROUTE, ui->network.flows->routes[number].source,
                                         ui->network.flows->routes[number].destination});
        break;
    case FLOW_LINKS:
        ui_select(ui, (struct selection){SELECT_LINK, number, 0});
        break;
    default:
        ui_select(ui, (struct selection){SELECT_VERTEX, number, 0});
        break;
    }
}

void ui_brush_metric(struct ui *ui, const struct scene_hit *hit)
{
    int along = fabs(ui->mouse.x - ui->mouse.press_x) >= fabs(ui->mouse.y - ui->mouse.press_y);
    double a, b;
    if (along) {
        double pixel = (hit->x1 - hit->x0) / fmax(hit->box.w, 1);
        a = scene_hit_x(hit, fmin(ui->mouse.press_x, ui->mouse.x));
        b = scene_hit_x(hit, fmax(ui->mouse.press_x, ui->mouse.x));
        a = a < hit->x0 + 1.5 * pixel ? hit->x0 : a;
        b = b > hit->x1 - 1.5 * pixel ? INFINITY : b; /* figures of a running job grow */
    } else {
        uint32_t from = ranked_at(ui, scene_hit_y(hit, ui->mouse.press_y));
        uint32_t to = ranked_at(ui, scene_hit_y(hit, ui->mouse.y));
        if (from == FLOWS_NONE || to == FLOWS_NONE)
            return;
        a = flows_value(ui->network.flows, ui->network.metric, from);
        b = flows_value(ui->network.flows, ui->network.metric, to);
        uint32_t largest = ui->network.flows->ranked[0];
        if (from == largest || to == largest) {
            a = fmin(a, b);
            b = INFINITY;
        }
    }
    flow_filter_range(&ui->network.filter, ui->network.metric, fmax(fmin(a, b), 0), fmax(a, b));
}

void ui_move_colour(struct ui *ui, const struct scene_hit *hit)
{
    double at = fmin(fmax(scene_hit_x(hit, ui->mouse.x), 0), 1);
    double *low = &ui->network.colour_low[ui->network.metric],
           *high = &ui->network.colour_high[ui->network.metric];
    if (hit->b)
        *high = fmax(at, *low + 0.01);
    else
        *low = fmin(at, *high - 0.01);
}

void ui_narrow_metric(struct ui *ui, int narrower)
{
    const struct flows *f = ui->network.flows;
    if (!f || !f->ranked_count || f->ranked_metric != ui->network.metric)
        return;
    int ranged = ui->network.filter.ranged && ui->network.filter.metric == ui->network.metric;
    uint32_t kept = ranged ? flows_above(f, ui->network.filter.low) : f->ranked_count;
    kept = narrower ? kept / 2 : kept * 2;
    if (kept >= f->ranked_count) {
        ui->network.filter.ranged = 0;
        ui->network.filter.version++;
        return;
    }
    kept = kept ? kept : 1;
    flow_filter_range(&ui->network.filter, ui->network.metric,
                      flows_value(f, ui->network.metric, f->ranked[kept - 1]), INFINITY);
}

/* ---- commands ------------------------------------------------------------ */

int ui_network_command(struct ui *ui, const struct model *m, enum ui_command command,
                       uint64_t argument)
{
    struct ui_network_choice *n = &ui->network;
    int suggests = argument < SUGGESTIONS;
    switch (command) {
    case COMMAND_FILTER_CLEAR:
        flow_filter_clear(&n->filter);
        break;
    case COMMAND_REMAP:
        return m->network.topology ? UI_CHANGED | UI_REMAP : UI_CHANGED;
    case COMMAND_REROUTE:
        return m->network.topology ? UI_CHANGED | UI_REROUTE : UI_CHANGED;
    case COMMAND_APPLY:
        if (suggests)
            ui_network_show(ui, m, (enum suggestion_kind)argument);
        break;
    case COMMAND_UNDO_STEP:
        what_if_undo(&n->what_if);
        break;
    case COMMAND_LINKS_UNFOLD:
        n->unfolded = (uint32_t)argument;
        break;
    case COMMAND_DISCARD:
        n->discarded = suggests ? (enum suggestion_kind)argument : SUGGEST_MAPPING;
        return suggests ? UI_CHANGED | UI_DISCARD : UI_CHANGED;
    case COMMAND_SAVE_MAPPING:
        n->saved = argument == SAVED_ANSWER ? SAVED_ANSWER : SAVED_STATE;
        return m->network.suggestions[SUGGEST_MAPPING].ready || n->what_if.seats
                   ? UI_CHANGED | UI_MAPPING
                   : UI_CHANGED;
    default:
        break;
    }
    return UI_CHANGED;
}
