/* The panels of the torus view, and the loads in each. */
#include "viewer/ui/ui_torus.h"

#include "daemon/analysis/tables/array.h"
#include "viewer/layout/mix.h"
#include "viewer/layout/projection.h"
#include "viewer/ui/ui.h"

#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOTTER 1.25 /* ratio of loads at which a hidden dimension is shown by default */

/* ---- panels -------------------------------------------------------------- */

static void panel_finish(struct torus_panel *p)
{
    free(p->loads);
    free(p->before);
    free(p->seats);
    *p = (struct torus_panel){0};
}

void torus_finish(struct torus_choice *t)
{
    for (int i = 0; i < t->panel_count; i++)
        panel_finish(&t->panels[i]);
    panel_finish(&t->second);
    t->panel_count = 0;
}

/* Hash of a network; equal for networks whose links mean the same. */
static uint64_t ui_torus_panel_shape_of(const struct topology *topology)
{
    const struct topology_spec *spec = topology_spec(topology);
    uint64_t key = mix_number(spec->kind + 1u, spec->tie);
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        key = mix_number(mix_number(key, spec->dimensions[d].size), spec->dimensions[d].connection);
        key = mix_number(key, spec->dimensions[d].step);
    }
    return mix_number(key, topology_links(topology)) | 1;
}

static int need_loads(struct torus_panel *p, const struct topology *topology)
{
    uint32_t count = topology_links(topology);
    if (ARRAY_RESIZE(p->loads, count + 1) != 0)
        return -ENOMEM;
    p->link_count = count;
    memset(p->loads, 0, (count + 1) * sizeof *p->loads);
    p->shape = ui_torus_panel_shape_of(topology);
    return 0;
}

static int need_seats(struct torus_panel *p, const uint32_t *seats, uint32_t count)
{
    uint32_t *copy = malloc((count + 1) * sizeof *copy);
    if (!copy)
        return -ENOMEM;
    if (count)
        memcpy(copy, seats, count * sizeof *copy);
    free(p->seats);
    p->seats = copy;
    p->seat_count = count;
    return 0;
}

static void ui_torus_panel_settle(struct torus_choice *t, struct torus_panel *p)
{
    p->largest = 0;
    p->total = 0;
    for (uint32_t i = 0; i < p->link_count; i++) {
        p->largest = p->loads[i] > p->largest ? p->loads[i] : p->largest;
        p->total += (double)p->loads[i];
    }
    p->version = ++t->versions;
}

/* Adds what a pair of ranks sends to the loads of the links of its route. */
static void ui_torus_panel_add_route(struct torus_panel *p, const struct topology *topology,
                                     const uint32_t *seats, uint32_t seat_count,
                                     struct model_pair pair, uint64_t amount)
{
    uint32_t links[1024], maximum = sizeof links / sizeof *links;
    if (!amount || pair.source >= seat_count || pair.destination >= seat_count)
        return;
    uint32_t from = seats[pair.source], to = seats[pair.destination],
             vertices = topology_vertices(topology);
    if (from == to || from >= vertices || to >= vertices)
        return;
    uint32_t length = topology_route(topology, from, to, links, maximum);
    for (uint32_t i = 0; length != TOPOLOGY_NONE && i < length && i < maximum; i++)
        p->loads[links[i]] += amount;
}

static int ui_torus_panel_restricted(const struct torus_choice *t)
{
    return t->comm || t->region;
}

/* Computes the loads of messages, restricted or in the visible time, for given placements. */
static void ui_torus_panel_add_all(const struct ui *ui, struct torus_panel *p,
                                   const struct model *m, const struct range *r,
                                   const uint32_t *seats, uint32_t seat_count)
{
    const struct torus_choice *t = &ui->torus;
    const struct topology *topology = m->network.topology;
    size_t column = t->figure == TORUS_MESSAGES ? PAIR_MESSAGES : PAIR_BYTES;
    if (!ui_torus_panel_restricted(t)) {
        for (uint32_t i = 0; i < r->pairs.count; i++) {
            ui_torus_panel_add_route(p, topology, seats, seat_count, model_pair_at(&m->pairs, i),
                                     r->pairs.figures[(size_t)i * PAIR_COLUMNS + column]);
        }
        return;
    }
    const struct contexts *c = &m->contexts;
    for (uint32_t i = 0; i < c->keys.count; i++) {
        struct context row = contexts_at(c, i);
        if ((!t->comm || row.comm == t->comm - 1) && (!t->region || row.region == t->region - 1))
            ui_torus_panel_add_route(p, topology, seats, seat_count,
                                     (struct model_pair){row.source, row.destination},
                                     c->sums[(size_t)i * 2 + column]);
    }
}

static int ui_torus_panel_measures(const struct ui *ui, const struct range *r,
                                   const struct model *m)
{
    const struct torus_choice *t = &ui->torus;
    if (t->figure_chosen)
        return t->figure == TORUS_MEASURED;
    return m->measured.version && !r->flows.route_count;
}

/* Sums up measured loads, over the windows of the other sums. */
static void measured_loads(struct torus_panel *p, const struct ui *ui, const struct model *m,
                           const struct range *r)
{
    int start = ui->time.range == RANGE_START;
    history_sum(&m->measured.history, start ? 0 : r->first, start ? UINT64_MAX : r->last, p->loads,
                p->link_count);
}

static uint64_t key_of(const struct ui *ui, const struct model *m, const struct range *r,
                       const struct torus_panel *p, enum torus_figure figure)
{
    const struct torus_choice *t = &ui->torus;
    uint64_t key = mix_number(mix_number(figure + 1u, m->network.version), (uint64_t)p->mapping);
    for (const char *c = m->job; *c; c++)
        key = mix_number(key, (unsigned char)*c);
    if (figure == TORUS_MEASURED)
        return mix_number(
                   mix_number(mix_number(mix_number(key, m->measured.version), r->first), r->last),
                   (uint64_t)ui->time.range) |
               1;
    key = mix_number(mix_number(key, t->comm), t->region);
    key = mix_number(key, ui_torus_panel_restricted(t) ? m->contexts.version : r->version);
    key = mix_number(mix_number(key, r->flows.version), r->reality.version);
    key = mix_number(mix_number(key, p->slice_of), p->slices + p->slice_at);
    return mix_number(key, ui->network.applied * 2u +
                               (unsigned)(ui_shows_difference(ui) || ui_shows_both(ui))) |
           1;
}

/* Loads of an unrestricted present are taken from the flows, suggestions included. */
static int from_flows(const struct torus_choice *t, const struct torus_panel *p,
                      const struct range *r)
{
    return !p->mapping && !ui_torus_panel_restricted(t) && r->flows.loads &&
           r->flows.link_count == p->link_count;
}

/* Keeps the loads of the reality while they are shown, too, or the difference from them. */
static int ui_torus_panel_set_before(const struct ui *ui, struct torus_panel *p,
                                     const struct range *r)
{
    const struct flows *real = &r->reality;
    free(p->before);
    p->before = NULL;
    if (!(ui_shows_difference(ui) || ui_shows_both(ui)) || !from_flows(&ui->torus, p, r) ||
        p->figure == TORUS_MEASURED || real->link_count != p->link_count)
        return 0;
    p->before = malloc((p->link_count + 1) * sizeof *p->before);
    if (!p->before)
        return -ENOMEM;
    memcpy(p->before, p->figure == TORUS_BYTES ? real->loads : real->messages,
           p->link_count * sizeof *p->before);
    return 0;
}

/* Leaves only the links at the coordinate that the panel shows. */
static void ui_torus_panel_cut_slice(struct torus_panel *p, const struct topology *topology)
{
    uint32_t from, to, at[TOPOLOGY_DIMENSIONS];
    for (uint32_t link = 0; p->slices && link < p->link_count; link++) {
        if (topology_link(topology, link, &from, &to) &&
            p->slice_of < topology_coordinates(topology, from, at) &&
            at[p->slice_of] == p->slice_at)
            continue;
        p->loads[link] = 0;
        if (p->before)
            p->before[link] = 0;
    }
}

static int update_panel(struct ui *ui, struct torus_panel *p, const struct model *m,
                        const struct range *r)
{
    struct torus_choice *t = &ui->torus;
    enum torus_figure figure = ui_torus_panel_measures(ui, r, m) && !p->mapping ? TORUS_MEASURED
                               : t->figure == TORUS_MESSAGES                    ? TORUS_MESSAGES
                                                                                : TORUS_BYTES;
    uint64_t key = key_of(ui, m, r, p, figure);
    if (key == p->key)
        return 0;
    if (need_loads(p, m->network.topology) < 0)
        return -ENOMEM;
    const struct what_if *shown = &ui->network.what_if;
    int applied = (ui->network.applied & FLOWS_MAPPING) && shown->seats;
    const struct network *n =
        ui->network.applied & FLOWS_OTHER_RUN ? &ui->network.other->model->network : &m->network;
    if (!p->mapping && need_seats(p, applied ? shown->seats : n->seats,
                                  applied ? shown->seat_count : n->seat_count) < 0)
        return -ENOMEM;
    p->figure = figure;
    p->packets = figure == TORUS_MEASURED && m->measured.unit;
    if (figure == TORUS_MEASURED)
        measured_loads(p, ui, m, r);
    else if (from_flows(t, p, r))
        memcpy(p->loads, figure == TORUS_BYTES ? r->flows.loads : r->flows.messages,
               p->link_count * sizeof *p->loads);
    else
        ui_torus_panel_add_all(ui, p, m, r, p->seats, p->seat_count);
    if (ui_torus_panel_set_before(ui, p, r) < 0)
        return -ENOMEM;
    ui_torus_panel_cut_slice(p, m->network.topology);
    ui_torus_panel_settle(t, p);
    p->key = key;
    return 1;
}

/* The largest load of the links along each dimension, in the present. */
static void ui_torus_panel_list_most(const struct torus_panel *p, const struct topology *topology,
                                     uint64_t most[TOPOLOGY_DIMENSIONS])
{
    uint32_t from, to, a[TOPOLOGY_DIMENSIONS], b[TOPOLOGY_DIMENSIONS];
    for (uint32_t link = 0; link < p->link_count; link++) {
        if (p->loads[link] == 0 || !topology_link(topology, link, &from, &to))
            continue;
        uint32_t count = topology_coordinates(topology, from, a), d = 0;
        topology_coordinates(topology, to, b);
        while (d < count && a[d] == b[d])
            d++;
        if (d < count && p->loads[link] > most[d])
            most[d] = p->loads[link];
    }
}

/* The dimension of the fullest link, if its load is clearly above those of the dimensions that are
 * shown: so the picture does not change its dimensions with every window. */
static void ui_torus_panel_find_hottest(struct torus_choice *t, const struct topology *topology)
{
    const struct topology_spec *spec = topology_spec(topology);
    uint64_t most[TOPOLOGY_DIMENSIONS] = {0}, seen = 0;
    uint32_t shown[3], hottest = 0;
    int count = torus_shown(t, topology, shown);
    ui_torus_panel_list_most(&t->panels[0], topology, most);
    for (int i = 0; i < count; i++)
        seen = most[shown[i]] > seen ? most[shown[i]] : seen;
    for (uint32_t d = 1; d < spec->dimension_count; d++)
        hottest = most[d] > most[hottest] ? d : hottest;
    if ((double)most[hottest] > HOTTER * (double)seen)
        t->hottest = hottest + 1;
}

int torus_update(struct ui *ui, const struct model *m, const struct range *r)
{
    struct torus_choice *t = &ui->torus;
    const struct other_run *other = ui->view == VIEW_TORUS ? ui_second_network(ui) : NULL;
    uint32_t shown[3];
    int changed = 0;
    if (other)
        t->comm = t->region = 0; /* numbers that mean nothing in the second run */
    if (other && torus_shown(t, other->model->network.topology, shown))
        changed = update_panel(ui, &t->second, other->model, &other->range);
    if (changed < 0 || ui->view != VIEW_TORUS || !torus_shown(t, m->network.topology, shown))
        return changed;
    for (int i = 0; i < t->panel_count; i++) {
        if (i > 0 && !t->panels[i].mapping && !t->panels[i].slices)
            continue;
        int one = update_panel(ui, &t->panels[i], m, r);
        if (one < 0)
            return one;
        changed |= one;
    }
    if (changed && !t->chosen)
        ui_torus_panel_find_hottest(t, m->network.topology);
    if (!t->view_chosen)
        t->view = torus_view_by_shape(t, m->network.topology);
    if (t->panels[t->panel].shape != t->panels[0].shape)
        t->panel = 0;
    return changed;
}

uint32_t torus_sliced_dimension(const struct torus_choice *t, const struct topology *topology)
{
    uint32_t shown[3], found = PROJECTION_NONE, most = 1;
    if (!topology || !topology_grid(topology) || !torus_shown(t, topology, shown))
        return PROJECTION_NONE;
    const struct topology_spec *spec = topology_spec(topology);
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        const uint32_t size = spec->dimensions[d].size;
        if (d == shown[0] || d == shown[1] || d == shown[2] || size <= most || size >= TORUS_PANELS)
            continue;
        found = d;
        most = size;
    }
    return found;
}

void torus_toggle_slices(struct ui *ui, const struct model *m)
{
    struct torus_choice *t = &ui->torus;
    const struct topology *topology = m->network.topology;
    const uint32_t dimension = torus_sliced_dimension(t, topology);
    int removed = 0;
    for (int i = t->panel_count - 1; i > 0; i--) {
        if (!t->panels[i].slices)
            continue;
        torus_unpin(t, (uint64_t)i);
        removed = 1;
    }
    if (removed || dimension == PROJECTION_NONE) {
        t->grid = removed ? 0 : t->grid;
        return;
    }
    const struct topology_spec *spec = topology_spec(topology);
    const uint32_t size = spec->dimensions[dimension].size;
    if ((uint32_t)t->panel_count + size > TORUS_PANELS)
        return;
    for (uint32_t at = 0; at < size; at++) {
        struct torus_panel *p = &t->panels[t->panel_count++];
        *p = (struct torus_panel){.slices = size, .slice_of = dimension, .slice_at = at};
        snprintf(p->title, sizeof p->title, "%s = %u", spec->dimensions[dimension].name, at);
        snprintf(p->note, sizeof p->note, "the present, one of %u", size);
    }
    t->slice[dimension] = 0;
    t->grid = 1;
}

/* Title of a pinned panel: what the present picture shows. */
static void pin_title(const struct ui *ui, const struct model *m, struct torus_panel *p)
{
    static const char *const figures[TORUS_FIGURES] = {"bytes", "messages", "measured"};
    const struct torus_choice *t = &ui->torus;
    int64_t begin, end;
    const char *comm = t->comm && t->comm <= m->comm_count ? m->comms[t->comm - 1].name : "";
    const char *region =
        t->region && t->region <= m->region_count ? m->regions[t->region - 1].name : "";
    const char *of = ui->network.applied & FLOWS_OTHER_RUN ? ui->network.other->names[1]
                     : ui->network.applied & FLOWS_MAPPING ? "suggested mapping"
                                                           : m->job;
    char title[280];
    snprintf(title, sizeof title, "%s%s%s%s%s", of, *comm ? ", " : "", comm, *region ? ", " : "",
             region);
    snprintf(p->title, sizeof p->title, "%.63s", title);
    ui_settled_time(ui, m, &begin, &end);
    double from = (double)(begin - (int64_t)m->start_ns) / 1e9,
           to = (double)(end - (int64_t)m->start_ns) / 1e9;
    if (ui->time.range == RANGE_START || ui_torus_panel_restricted(t))
        snprintf(p->note, sizeof p->note, "%s, since the start", figures[p->figure]);
    else
        snprintf(p->note, sizeof p->note, "%s, %.0f s to %.0f s", figures[p->figure], fmax(from, 0),
                 fmax(to, 0));
}

void torus_pin(struct ui *ui, const struct model *m)
{
    struct torus_choice *t = &ui->torus;
    const struct torus_panel *from = &t->panels[0];
    if (t->panel_count == TORUS_PANELS || !from->loads)
        return;
    struct torus_panel p = *from;
    p.slices = 0;
    p.loads = malloc((from->link_count + 1) * sizeof *p.loads);
    p.before = NULL;
    p.seats = NULL;
    p.seat_count = 0;
    if (!p.loads || need_seats(&p, from->seats, from->seat_count) < 0) {
        free(p.loads);
        return;
    }
    memcpy(p.loads, from->loads, from->link_count * sizeof *p.loads);
    p.version = ++t->versions;
    pin_title(ui, m, &p);
    t->panels[t->panel_count++] = p;
}

void torus_unpin(struct torus_choice *t, uint64_t which)
{
    if (which == 0 || which >= (uint64_t)t->panel_count)
        return;
    panel_finish(&t->panels[which]);
    memmove(&t->panels[which], &t->panels[which + 1],
            ((size_t)--t->panel_count - which) * sizeof *t->panels);
    if (t->panel >= (int)which)
        t->panel = t->panel == (int)which ? 0 : t->panel - 1;
}

int torus_add_mapping(struct torus_choice *t, const char *title, uint32_t *seats,
                      uint32_t seat_count)
{
    if (t->panel_count == TORUS_PANELS) {
        free(seats);
        return -HOLTER_ELIMIT;
    }
    struct torus_panel *p = &t->panels[t->panel_count++];
    *p = (struct torus_panel){.seats = seats, .seat_count = seat_count, .mapping = 1};
    snprintf(p->title, sizeof p->title, "%s", title);
    snprintf(p->note, sizeof p->note, "by mapping");
    return 0;
}
