/* Choices that the network views share: filter, metric, colours, suggestions. */
#include "viewer/ui/ui.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

int ui_update_flows(struct ui *ui, const struct model *m, struct range *range)
{
    struct flow_pick picked;
    for (int k = 0; k < SUGGESTIONS; k++)
        if (!m->network.suggestions[k].ready)
            ui->network.applied &= ~(1u << k);
    ui->network.flows = &range->flows;
    if (!needs_flows(ui)) {
        flows_rest(&range->flows);
        return 0;
    }
    int changed = flows_update(&range->flows, m, range, ui->network.applied);
    if (changed < 0 || ui_network_pick(ui, m, &picked) < 0)
        return -ENOMEM;
    if (ui->view == VIEW_LINKS && flows_rank(&range->flows, ui->network.metric) < 0)
        return -ENOMEM;
    int marked = flows_mark(&range->flows, m, &ui->network.filter, &picked);
    int grouped = ui->view == VIEW_NETWORK ? network_graph_update(&ui->graph, m, &range->flows) : 0;
    if (marked < 0 || grouped < 0)
        return -ENOMEM;
    return changed || marked || grouped;
}

/* ---- asking for better ones ---------------------------------------------- */

static const char *const objectives[REMAP_OBJECTIVES] = {"hop-bytes", "max-link", "inter-node"};

const char *ui_objective_name(enum remap_objective objective)
{
    return objective < REMAP_OBJECTIVES ? objectives[objective] : "?";
}

/* Ranks of the selection; "" when all may move. @return 0: too many for a request */
static int moving_ranks(const struct ui *ui, const struct model *m, char *out, size_t capacity)
{
    out[0] = 0;
    if (!ui->network.only_selected || ui->selection.kind == SELECT_NONE)
        return 1;
    return ui_marked_ranks(ui, m, out, capacity);
}

char *ui_remap_argument(const struct ui *ui, const struct model *m, char *out, size_t capacity)
{
    char ranks[COMMGRAM_LIST];
    if (!m->network.topology || !moving_ranks(ui, m, ranks, sizeof ranks))
        return NULL;
    int used = snprintf(out, capacity, "objective=%s", ui_objective_name(ui->network.objective));
    if (ranks[0] && used > 0 && (size_t)used < capacity)
        used += snprintf(out + used, capacity - (size_t)used, " ranks=%s", ranks);
    return used > 0 && (size_t)used < capacity ? out : NULL;
}

/* Names of the selected routes, of the first ones where there are too many. */
static int name_routes(const struct flows *f, char *out, size_t capacity)
{
    size_t used = (size_t)snprintf(out, capacity, "routes=");
    int some = 0;
    for (uint32_t i = 0; i < f->route_count; i++) {
        if (!(f->route_marks[i] & FLOW_SELECTED))
            continue;
        int n = snprintf(out + used, capacity - used, "%s%u-%u", some ? "," : "",
                         f->routes[i].source, f->routes[i].destination);
        if (n < 0 || (size_t)n >= capacity - used) {
            out[used] = 0;
            break;
        }
        used += (size_t)n;
        some = 1;
    }
    return some;
}

char *ui_reroute_argument(const struct ui *ui, const struct model *m, char *out, size_t capacity)
{
    const struct selection *s = &ui->selection;
    if (!m->network.topology || capacity < 64)
        return NULL;
    if (s->kind == SELECT_LINK)
        snprintf(out, capacity, "link=%" PRIu64, s->a);
    else if (s->kind == SELECT_ROUTE)
        snprintf(out, capacity, "routes=%" PRIu64 "-%" PRIu64, s->a, s->b);
    else if (s->kind == SELECT_NONE || !ui->network.flows ||
             !name_routes(ui->network.flows, out, capacity))
        snprintf(out, capacity, "top=100");
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
        b = b > hit->x1 - 1.5 * pixel ? hit->x1 : b; /* the largest one lies on the edge */
    } else {
        uint32_t from = ranked_at(ui, scene_hit_y(hit, ui->mouse.press_y));
        uint32_t to = ranked_at(ui, scene_hit_y(hit, ui->mouse.y));
        if (from == FLOWS_NONE || to == FLOWS_NONE)
            return;
        a = flows_value(ui->network.flows, ui->network.metric, from);
        b = flows_value(ui->network.flows, ui->network.metric, to);
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
                      flows_value(f, ui->network.metric, f->ranked[kept - 1]),
                      flows_value(f, ui->network.metric, f->ranked[0]));
}

/* ---- commands ------------------------------------------------------------ */

int ui_network_command(struct ui *ui, const struct model *m, enum ui_command command,
                       uint64_t argument)
{
    unsigned bit = argument < SUGGESTIONS ? 1u << argument : 0;
    switch (command) {
    case COMMAND_METRIC:
        ui->network.metric = argument < METRICS ? (enum flow_metric)argument : METRIC_BYTES;
        break;
    case COMMAND_FILTER_CLEAR:
        flow_filter_clear(&ui->network.filter);
        break;
    case COMMAND_RANK_SCALE:
        ui->network.rank_log = argument != 0;
        break;
    case COMMAND_OBJECTIVE:
        ui->network.objective =
            argument < REMAP_OBJECTIVES ? (enum remap_objective)argument : REMAP_HOP_BYTES;
        break;
    case COMMAND_ONLY_SELECTED:
        ui->network.only_selected = argument != 0;
        break;
    case COMMAND_REMAP:
        return m->network.topology ? UI_CHANGED | UI_REMAP : UI_CHANGED;
    case COMMAND_REROUTE:
        return m->network.topology ? UI_CHANGED | UI_REROUTE : UI_CHANGED;
    case COMMAND_APPLY:
        if (bit && m->network.suggestions[argument].ready)
            ui->network.applied ^= bit;
        break;
    case COMMAND_DISCARD:
        ui->network.applied &= ~bit;
        ui->network.discarded = (enum suggestion_kind)argument;
        return bit ? UI_CHANGED | UI_DISCARD : UI_CHANGED;
    case COMMAND_SAVE_MAPPING:
        return m->network.suggestions[SUGGEST_MAPPING].ready ? UI_CHANGED | UI_MAPPING : UI_CHANGED;
    default:
        break;
    }
    return UI_CHANGED;
}
