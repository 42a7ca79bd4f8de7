/* Choices about the graph of the network: groups, tools and the lasso. */
#include "viewer/ui/ui_network_graph.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"
#include "viewer/layout/mix.h"
#include "viewer/ui/ui.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void network_graph_init(struct network_graph *g)
{
    *g = (struct network_graph){0};
    camera_init(&g->camera, 1);
}

void network_graph_finish(struct network_graph *g)
{
    array_release(&g->group_of);
    g->vertex_count = 0;
}

/* ---- groups -------------------------------------------------------------- */

static uint32_t in_use(const struct flows *f)
{
    uint32_t used = 0;
    for (uint32_t v = 0; v < f->vertex_count; v++)
        used += f->vertices[v].in || f->vertices[v].out || f->vertices[v].transit;
    return used;
}

/* The first dimensions, as many as result in few enough groups. */
static unsigned usual_dimensions(const struct topology_spec *spec)
{
    unsigned kept = 0;
    uint64_t groups = 1;
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        groups *= spec->dimensions[d].size;
        if (groups > NETWORK_TOGETHER && kept)
            break;
        kept |= 1u << d;
    }
    return kept;
}

static int has_dimensions(const struct topology_spec *spec)
{
    return spec->kind == TOPOLOGY_CARTESIAN || spec->kind == TOPOLOGY_DRAGONFLY;
}

/* Groups nodes by their coordinates in the chosen dimensions; a vertex without coordinates, such as
 * a switch of a dragonfly, belongs to the group of the first node it is linked to. */
static uint32_t ui_graph_group_at(const struct topology *t, const struct topology_spec *spec,
                                  unsigned kept, uint32_t vertex)
{
    uint32_t at[TOPOLOGY_DIMENSIONS], links[64], from, to, group = 0;
    uint32_t count = topology_coordinates(t, vertex, at);
    uint32_t out = count ? 0 : topology_out(t, vertex, links, 64);
    for (uint32_t i = 0; i < out && i < 64 && !count; i++)
        if (topology_link(t, links[i], &from, &to))
            count = topology_coordinates(t, to, at);
    if (!count)
        return NETWORK_ALONE;
    for (uint32_t d = 0; d < count && d < spec->dimension_count; d++)
        if (kept & 1u << d)
            group = group * spec->dimensions[d].size + at[d];
    return group;
}

/* Height of each vertex above those with ranks, and the first one above it. */
static uint32_t ui_graph_heights(const struct topology *t, const struct flows *f, uint32_t *height,
                                 uint32_t *above, uint32_t *order)
{
    uint32_t n = topology_vertices(t), seen = 0, highest = 0;
    for (uint32_t v = 0; v < n; v++) {
        int ends = v < topology_nodes(t) || (v < f->vertex_count && f->first_rank &&
                                             f->first_rank[v + 1] > f->first_rank[v]);
        height[v] = ends ? 0 : UINT32_MAX;
        above[v] = v;
        if (ends)
            order[seen++] = v;
    }
    for (uint32_t i = 0; i < seen; i++) {
        uint32_t links[256], v = order[i], from, to, count = topology_out(t, v, links, 256);
        for (uint32_t k = 0; k < count && k < 256; k++) {
            if (!topology_link(t, links[k], &from, &to))
                continue;
            if (height[to] == UINT32_MAX) {
                height[to] = height[v] + 1;
                highest = height[to] > highest ? height[to] : highest;
                order[seen++] = to;
            }
            if (height[to] == height[v] + 1 && above[v] == v)
                above[v] = to;
        }
    }
    return highest;
}

static int group_by_level(struct network_graph *g, const struct topology *t, const struct flows *f)
{
    uint32_t n = topology_vertices(t);
    uint32_t *height = calloc(n + 1u, sizeof *height), *above = calloc(n + 1u, sizeof *above),
             *order = calloc(n + 1u, sizeof *order);
    int error = height && above && order ? 0 : -ENOMEM;
    if (!error) {
        g->levels = ui_graph_heights(t, f, height, above, order);
        g->applied_level = g->applied_level < g->levels ? g->applied_level : g->levels;
        for (uint32_t v = 0; v < n && g->applied_level; v++) {
            uint32_t at = v;
            for (uint32_t k = 0; k < g->applied_level && height[at] < g->applied_level; k++)
                at = above[at];
            g->group_of[v] = height[v] <= g->applied_level ? at : NETWORK_ALONE;
        }
        g->groups = n;
    }
    free(height);
    free(above);
    free(order);
    return error;
}

/* Puts the choice into effect. */
static void ui_graph_apply(struct network_graph *g, const struct topology *t, const struct flows *f,
                           const struct flows *beside)
{
    const struct topology_spec *spec = topology_spec(t);
    uint32_t used = in_use(f);
    /* Hosts below a single switch would be one disc. */
    const int is_star = topology_vertices(t) == topology_nodes(t) + 1;
    const uint32_t most = g->chosen || is_star ? NETWORK_FULL : NETWORK_SINGLE;
    int many = used > most || (beside && used > NETWORK_TOGETHER && in_use(beside) > most);
    int named = has_dimensions(spec);
    g->applied = g->chosen && named ? g->kept : 0;
    g->applied_level = g->chosen && !named ? g->level : 0;
    if (named && spec->dimension_count < 32 && g->applied == (1u << spec->dimension_count) - 1)
        g->applied = 0; /* all dimensions: no groups */
    if (many && !g->applied && !g->applied_level) {
        g->applied = named ? usual_dimensions(spec) : 0;
        g->applied_level = !named;
    }
}

static int network_graph_open(const struct network_graph *g, uint32_t group)
{
    uint32_t low = BISECT(i, 0, g->open_count, g->open[i] < group);
    return low < g->open_count && g->open[low] == group;
}

int network_graph_update(struct network_graph *g, const struct model *m, const struct flows *f,
                         const struct flows *beside)
{
    const struct topology *t = m->network.topology;
    uint64_t key = mix_number(mix_number(5, m->network.version), f->vertex_count);
    if (!t || f->vertex_count != topology_vertices(t)) {
        g->vertex_count = 0;
        g->key = 0;
        return 0;
    }
    ui_graph_apply(g, t, f, beside);
    key = mix_number(mix_number(key, g->applied), g->applied_level);
    for (uint32_t i = 0; i < g->open_count; i++)
        key = mix_number(key, g->open[i]);
    if (key == g->key)
        return 0;
    uint32_t n = topology_vertices(t);
    if (ARRAY_RESIZE(g->group_of, n + 1u) != 0)
        return -ENOMEM;
    uint32_t *groups = g->group_of;
    g->vertex_count = n;
    g->groups = 0;
    g->levels = 0;
    for (uint32_t v = 0; v < n; v++) {
        groups[v] =
            g->applied ? ui_graph_group_at(t, topology_spec(t), g->applied, v) : NETWORK_ALONE;
        if (groups[v] != NETWORK_ALONE && groups[v] >= g->groups)
            g->groups = groups[v] + 1;
    }
    if (!has_dimensions(topology_spec(t)) && group_by_level(g, t, f) < 0)
        return -ENOMEM;
    for (uint32_t v = 0; v < n; v++)
        if (network_graph_open(g, groups[v]))
            groups[v] = NETWORK_ALONE;
    g->key = key;
    g->version++;
    return 1;
}

static void open_group(struct network_graph *g, uint32_t group)
{
    uint32_t at = g->open_count;
    if (group == NETWORK_ALONE || network_graph_open(g, group) || at == NETWORK_OPEN)
        return;
    for (; at && g->open[at - 1] > group; at--)
        g->open[at] = g->open[at - 1];
    g->open[at] = group;
    g->open_count++;
}

/* ---- commands ------------------------------------------------------------ */

/* Starts a choice from what is shown now. */
static void ui_graph_choose(struct network_graph *g)
{
    if (!g->chosen) {
        g->kept = g->applied;
        g->level = g->applied_level;
    }
    g->chosen = 1;
    g->open_count = 0;
}

int network_graph_command(struct ui *ui, const struct model *model, enum ui_command command,
                          uint64_t argument)
{
    (void)model;
    struct network_graph *g = &ui->graph;
    switch (command) {
    case COMMAND_NET_DIMENSION:
        ui_graph_choose(g);
        if (argument < TOPOLOGY_DIMENSIONS)
            g->kept ^= 1u << argument;
        break;
    case COMMAND_NET_LEVEL:
        ui_graph_choose(g);
        g->kept = 0;
        g->level = argument < 64 ? (uint32_t)argument : 0;
        break;
    case COMMAND_NET_OPEN:
        open_group(g, (uint32_t)argument);
        break;
    case COMMAND_NET_CLOSE:
        g->open_count = 0;
        break;
    case COMMAND_NET_ALL:
        camera_home(&g->camera);
        break;
    default:
        break;
    }
    return UI_CHANGED;
}

void network_graph_escape(struct ui *ui)
{
    if (ui->graph.open_count)
        ui->graph.open_count = 0;
    else
        camera_home(&ui->graph.camera);
}

/* ---- moving -------------------------------------------------------------- */

static double ui_graph_within(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static void add_point(struct network_graph *g, double x, double y)
{
    if (g->lasso_count &&
        hypot(x - g->lasso[g->lasso_count - 1].x, y - g->lasso[g->lasso_count - 1].y) < 3)
        return;
    if (g->lasso_count == NETWORK_LASSO) { /* keep every second point */
        for (uint32_t i = 0; i < NETWORK_LASSO / 2; i++)
            g->lasso[i] = g->lasso[2 * i];
        g->lasso_count /= 2;
    }
    g->lasso[g->lasso_count++] = (struct point){x, y};
}

void network_graph_press(struct ui *ui, int shift, int ctrl)
{
    struct network_graph *g = &ui->graph;
    g->drawing = NETWORK_PAN;
    g->lasso_count = 0;
    if (ui->mouse.ground.kind != HIT_NETWORK)
        return;
    g->drawing = ctrl ? NETWORK_CROSSING : shift ? NETWORK_WITHIN : g->tool;
    add_point(g, ui->mouse.press_x, ui->mouse.press_y);
}

int network_graph_drag(struct ui *ui, double dx, double dy)
{
    const struct scene_hit *ground = &ui->mouse.ground;
    if (ground->kind != HIT_NETWORK)
        return 0;
    if (ui->graph.drawing != NETWORK_PAN)
        add_point(&ui->graph,
                  ui_graph_within(ui->mouse.x, ground->box.x, ground->box.x + ground->box.w),
                  ui_graph_within(ui->mouse.y, ground->box.y, ground->box.y + ground->box.h));
    else
        camera_drag(&ui->graph.camera, ground, dx, dy);
    return 1;
}

/* ---- lasso --------------------------------------------------------------- */

/* Positions of vertices, and which vertices and links are in the lasso. */
struct catch
{
    const struct network_graph *g;
    struct point *at; /* by vertex; x NaN: not drawn */
    uint8_t *in;      /* by vertex */
    uint8_t *links;   /* 0: not tested; 1: outside; 2: crosses the lasso or lies within */
    uint32_t *walk;
    uint64_t *items;
    uint32_t walk_capacity;
};

static int ui_graph_holds(const struct network_graph *g, struct point p)
{
    int in = 0;
    for (uint32_t i = 0, k = g->lasso_count - 1; i < g->lasso_count; k = i++) {
        const struct point *a = &g->lasso[i], *b = &g->lasso[k];
        if ((a->y > p.y) != (b->y > p.y) &&
            p.x < (b->x - a->x) * (p.y - a->y) / (b->y - a->y) + a->x)
            in = !in;
    }
    return in;
}

static double ui_graph_side(struct point a, struct point b, struct point p)
{
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

static int ui_graph_crosses(const struct network_graph *g, struct point a, struct point b)
{
    for (uint32_t i = 0, k = g->lasso_count - 1; i < g->lasso_count; k = i++) {
        struct point p = g->lasso[k], q = g->lasso[i];
        if ((ui_graph_side(a, b, p) > 0) != (ui_graph_side(a, b, q) > 0) &&
            (ui_graph_side(p, q, a) > 0) != (ui_graph_side(p, q, b) > 0))
            return 1;
    }
    return 0;
}

/* Positions of vertices in the last scene: a vertex of a group has the position of the group. */
static void ui_graph_find_places(struct catch *c, const struct scene *scene)
{
    const struct network_graph *g = c->g;
    struct point nowhere = {NAN, NAN};
    struct point *groups = calloc(g->groups + 1u, sizeof *groups);
    for (uint32_t v = 0; v < g->vertex_count; v++)
        c->at[v] = nowhere;
    for (uint32_t k = 0; groups && k < g->groups; k++)
        groups[k] = nowhere;
    for (size_t i = 0; i < scene->hit_count; i++) {
        const struct scene_hit *hit = &scene->hits[i];
        if (hit->kind != HIT_PLACE)
            continue;
        if (!hit->b && hit->a < g->vertex_count)
            c->at[hit->a] = (struct point){hit->x0, hit->y0};
        else if (hit->b && groups && hit->a < g->groups)
            groups[hit->a] = (struct point){hit->x0, hit->y0};
    }
    for (uint32_t v = 0; v < g->vertex_count; v++) {
        if (groups && g->group_of[v] < g->groups)
            c->at[v] = groups[g->group_of[v]];
        c->in[v] = !isnan(c->at[v].x) && ui_graph_holds(g, c->at[v]);
    }
    free(groups);
}

/* Whether a route is selected: all of it, or any part of it, must be in the lasso. */
static int ui_graph_caught(struct catch *c, const struct model *m, const struct flows *f,
                           uint32_t route)
{
    const struct flow *r = &f->routes[route];
    int crossing = c->g->drawing == NETWORK_CROSSING;
    int in = c->in[r->source] && c->in[r->destination];
    if (crossing ? c->in[r->source] || c->in[r->destination] : !in)
        return crossing;
    uint32_t length = flows_walk(f, m, route, c->walk, c->walk_capacity), from, to;
    if (length == TOPOLOGY_NONE || length > c->walk_capacity)
        return in;
    for (uint32_t k = 0; k < length; k++) {
        uint32_t link = c->walk[k];
        if (link >= f->link_count || !topology_link(m->network.topology, link, &from, &to))
            continue;
        if (!crossing && !c->in[to])
            return 0;
        if (crossing && !c->links[link])
            c->links[link] = (c->in[from] || c->in[to] ||
                              (!isnan(c->at[from].x) && !isnan(c->at[to].x) &&
                               ui_graph_crosses(c->g, c->at[from], c->at[to])))
                                 ? 2
                                 : 1;
        if (crossing && c->links[link] == 2)
            return 1;
    }
    return !crossing;
}

static uint32_t catch_routes(struct catch *c, const struct model *m, const struct flows *f)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->route_count; i++)
        if (ui_graph_caught(c, m, f, i))
            c->items[count++] = (uint64_t)f->routes[i].source << 32 | f->routes[i].destination;
    return count;
}

static void open_caught(struct network_graph *g, const struct catch *c)
{
    for (uint32_t v = 0; v < g->vertex_count; v++)
        if (c->in[v] && g->group_of[v] != NETWORK_ALONE)
            open_group(g, g->group_of[v]);
}

static void ui_graph_select_lasso(struct ui *ui, const struct model *m, const struct scene *scene)
{
    struct network_graph *g = &ui->graph;
    const struct flows *f = ui->network.flows;
    if (ui->mouse.ground.kind != HIT_NETWORK || g->drawing == NETWORK_PAN || !f ||
        !m->network.topology || g->lasso_count < 3 ||
        g->vertex_count != topology_vertices(m->network.topology) ||
        f->vertex_count != g->vertex_count)
        return;
    uint32_t capacity = topology_vertices(m->network.topology);
    struct catch c = {.g = g,
                      .at = calloc(g->vertex_count + 1u, sizeof *c.at),
                      .in = calloc(g->vertex_count + 1u, 1),
                      .links = calloc(f->link_count + 1u, 1),
                      .walk = calloc(capacity + 1u, sizeof *c.walk),
                      .items = calloc(f->route_count + 1u, sizeof *c.items),
                      .walk_capacity = capacity};
    if (c.at && c.in && c.links && c.walk && c.items) {
        ui_graph_find_places(&c, scene);
        uint32_t count = catch_routes(&c, m, f);
        if (count) {
            flow_filter_pick(&ui->network.filter, FLOW_ROUTES, c.items, count);
            if (g->drawing == NETWORK_WITHIN)
                open_caught(g, &c);
        }
    }
    free(c.at);
    free(c.in);
    free(c.links);
    free(c.walk);
    free(c.items);
}

void network_graph_release(struct ui *ui, const struct model *m, const struct scene *scene,
                           int dragged)
{
    if (dragged)
        ui_graph_select_lasso(ui, m, scene);
    ui->graph.drawing = NETWORK_PAN;
    ui->graph.lasso_count = 0;
}
