#include "viewer/ui/ui.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the selection, for routes and links -------------------------------------------------------
 */

/* The ranks of selections that only the ranks can tell, as of a region. */
static int pick_ranks(struct ui *ui, const struct model *m)
{
    int changed = ui->picked_count != m->rank_count;
    if (changed) {
        uint8_t *fresh = realloc(ui->picked_ranks, m->rank_count + 1u);
        if (!fresh)
            return -ENOMEM;
        ui->picked_ranks = fresh;
        ui->picked_count = m->rank_count;
        memset(fresh, 0, m->rank_count);
    }
    for (uint32_t r = 0; r < m->rank_count; r++) {
        uint8_t marked = ui_marks_rank(ui, m, r) != 0;
        changed |= marked != ui->picked_ranks[r];
        ui->picked_ranks[r] = marked;
    }
    ui->picked_version += changed != 0;
    return 0;
}

static int pick(struct ui *ui, const struct model *m, struct flow_pick *out)
{
    const struct selection *s = &ui->selection;
    *out = (struct flow_pick){.a = s->a, .b = s->b};
    switch (s->kind) {
    case SELECT_NONE:
    case SELECT_CALL:
        out->kind = PICK_NONE;
        return 0;
    case SELECT_LINK:
        out->kind = PICK_LINK;
        return 0;
    case SELECT_ROUTE:
        out->kind = PICK_ROUTE;
        return 0;
    case SELECT_VERTEX:
        out->kind = PICK_VERTEX;
        return 0;
    case SELECT_PAIR:
        out->kind = PICK_PAIR;
        return 0;
    default:
        break;
    }
    if (pick_ranks(ui, m) < 0)
        return -ENOMEM;
    out->kind = PICK_RANKS;
    out->ranks = ui->picked_ranks;
    out->rank_count = ui->picked_count;
    out->version = ui->picked_version;
    return 0;
}

int ui_update_flows(struct ui *ui, const struct model *m, struct range *range)
{
    struct flow_pick picked;
    for (int k = 0; k < SUGGESTIONS; k++)
        if (!m->network.suggestions[k].ready)
            ui->applied &= ~(1u << k);
    ui->flows = &range->flows;
    int changed = flows_update(&range->flows, m, range, ui->applied);
    if (changed < 0 || pick(ui, m, &picked) < 0)
        return -ENOMEM;
    int marked = flows_mark(&range->flows, m, &ui->filter, &picked);
    return marked < 0 ? marked : changed || marked;
}

/* ---- asking for better ones --------------------------------------------------------------------
 */

static const char *const objectives[REMAP_OBJECTIVES] = {"hop-bytes", "max-link", "inter-node"};

const char *ui_objective_name(enum remap_objective objective)
{
    return objective < REMAP_OBJECTIVES ? objectives[objective] : "?";
}

/* Ranks of the selection as "3,8-11"; "" when all may move. @return 0: they are too many to be named */
static int moving_ranks(const struct ui *ui, const struct model *m, char *out, size_t room)
{
    size_t used = 0;
    out[0] = 0;
    if (!ui->only_selected || ui->selection.kind == SELECT_NONE)
        return 1;
    for (uint32_t r = 0; r < m->rank_count; r++) {
        uint32_t first = r;
        if (!ui_marks_rank(ui, m, r))
            continue;
        while (r + 1 < m->rank_count && ui_marks_rank(ui, m, r + 1))
            r++;
        int n = first == r
                    ? snprintf(out + used, room - used, "%s%u", used ? "," : "", first)
                    : snprintf(out + used, room - used, "%s%u-%u", used ? "," : "", first, r);
        if (n < 0 || (size_t)n >= room - used)
            return 0;
        used += (size_t)n;
    }
    return 1;
}

char *ui_remap_argument(const struct ui *ui, const struct model *m, char *out, size_t room)
{
    char ranks[COMMGRAM_LIST];
    if (!m->network.topology || !moving_ranks(ui, m, ranks, sizeof ranks))
        return NULL;
    int used = snprintf(out, room, "objective=%s", ui_objective_name(ui->objective));
    if (ranks[0] && used > 0 && (size_t)used < room)
        used += snprintf(out + used, room - (size_t)used, " ranks=%s", ranks);
    return used > 0 && (size_t)used < room ? out : NULL;
}

/* Selected routes by name, the first of them where they are too many. */
static int name_routes(const struct flows *f, char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "routes=");
    int some = 0;
    for (uint32_t i = 0; i < f->route_count; i++) {
        if (!(f->route_marks[i] & FLOW_SELECTED))
            continue;
        int n = snprintf(out + used, room - used, "%s%u-%u", some ? "," : "", f->routes[i].source,
                         f->routes[i].destination);
        if (n < 0 || (size_t)n >= room - used) {
            out[used] = 0;
            break;
        }
        used += (size_t)n;
        some = 1;
    }
    return some;
}

char *ui_reroute_argument(const struct ui *ui, const struct model *m, char *out, size_t room)
{
    const struct selection *s = &ui->selection;
    if (!m->network.topology || room < 64)
        return NULL;
    if (s->kind == SELECT_LINK)
        snprintf(out, room, "link=%" PRIu64, s->a);
    else if (s->kind == SELECT_ROUTE)
        snprintf(out, room, "routes=%" PRIu64 "-%" PRIu64, s->a, s->b);
    else if (s->kind == SELECT_NONE || !ui->flows || !name_routes(ui->flows, out, room))
        snprintf(out, room, "top=100");
    return out;
}
