/* Names in the picture of a tree or fat tree. */
#include "viewer/views/torus/tier_names.h"

#include "viewer/model/model_network.h"

#include "holter/plain_text.h"

#include <math.h>
#include <stdio.h>

enum {
    SHORTEST = 12, /* width in pixels of the shortest names: no other is measured */
    SPACE = 8,     /* between two names */
    LINE = 14,
    CHILDREN = 4096
};

/* Without the vertices above it, which the picture shows. */
static const char *tier_names_format(const struct stage *s, uint32_t vertex,
                                     char name[TOPOLOGY_NAME + 1])
{
    return text_base_name(network_vertex_name(&s->model->network, vertex, name, TOPOLOGY_NAME + 1));
}

static int tier_names_is_lowest(const struct floor_plan *plan, uint32_t vertex)
{
    return plan->at[vertex].y > (plan->levels / 2.0 - 1) * plan->level_height;
}

/* A name below a place of the lowest level, in the middle of a width. */
static void tier_names_add_below(const struct stage *s, const struct section *k, struct point at,
                                 double width, double size, const char *name)
{
    const double x = section_x(k, at.x), y = section_y(k, at.y) + size / 2 + 3;
    if (scene_width(s->brush.scene, TEXT_AXIS, 0, name) + SPACE <= width &&
        x - width / 2 >= k->box.x && x + width / 2 <= k->box.x + k->box.w && y >= k->box.y &&
        y + LINE <= k->box.y + k->box.h)
        scene_text(s->brush.scene, x - width / 2, y, width, TEXT_AXIS, TEXT_CENTRE,
                   s->brush.theme->second, name);
}

/* A name between a place and the next one to the right of it. */
static void tier_names_add_beside(const struct stage *s, const struct section *k, struct point at,
                                  double free, double size, const char *name)
{
    const double x = section_x(k, at.x) + size / 2 + 5, y = section_y(k, at.y) - LINE / 2.0;
    const double w = scene_width(s->brush.scene, TEXT_AXIS, 0, name);
    if (w <= free - size - SPACE && x >= k->box.x && x + w <= k->box.x + k->box.w &&
        y >= k->box.y && y + LINE <= k->box.y + k->box.h)
        scene_text(s->brush.scene, x, y, w + 1, TEXT_AXIS, 0, s->brush.theme->second, name);
}

/* "node0000 to node0063" below the children of a vertex, none of which has space for its own. */
static void tier_names_add_range(const struct floor_plan *plan, const struct stage *s,
                                 const struct section *k, uint32_t vertex)
{
    const struct topology *t = s->model->network.topology;
    uint32_t links[CHILDREN], first = TOPOLOGY_NONE, last = TOPOLOGY_NONE, from, to, children = 0;
    const uint32_t count = topology_out(t, vertex, links, CHILDREN);
    for (uint32_t i = 0; i < count && i < CHILDREN; i++)
        if (topology_link(t, links[i], &from, &to) && to < plan->vertex_count &&
            plan->at[to].y > plan->at[vertex].y && tier_names_is_lowest(plan, to)) {
            first = first == TOPOLOGY_NONE || plan->at[to].x < plan->at[first].x ? to : first;
            last = last == TOPOLOGY_NONE || plan->at[to].x > plan->at[last].x ? to : last;
            children++;
        }
    if (children < 2)
        return;
    char a[TOPOLOGY_NAME + 1], b[TOPOLOGY_NAME + 1], text[2 * TOPOLOGY_NAME + 8];
    const double own = (double)plan->width[first] * k->ux,
                 size = fmax((double)plan->size[first] * k->ux, 1);
    const char *begin = tier_names_format(s, first, a), *end = tier_names_format(s, last, b);
    if (scene_width(s->brush.scene, TEXT_AXIS, 0, begin) + SPACE <= own)
        return;
    snprintf(text, sizeof text, "%s to %s", begin, end);
    const struct point middle = {(plan->at[first].x + plan->at[last].x) / 2, plan->at[first].y};
    tier_names_add_below(s, k, middle, (plan->at[last].x - plan->at[first].x) * k->ux + own, size,
                         text);
}

void tier_names_add(const struct floor_plan *plan, const struct stage *s, const struct section *k)
{
    const int is_tree = topology_spec(s->model->network.topology)->kind == TOPOLOGY_TREE;
    char name[TOPOLOGY_NAME + 1];
    for (uint32_t v = 0; v < plan->vertex_count && plan->levels > 0; v++) {
        const double width = (double)plan->width[v] * k->ux,
                     size = fmax((double)plan->size[v] * k->ux, 1);
        if (width < SHORTEST)
            continue;
        if (tier_names_is_lowest(plan, v))
            tier_names_add_below(s, k, plan->at[v], width, size, tier_names_format(s, v, name));
        else if (is_tree) {
            tier_names_add_beside(s, k, plan->at[v], (double)plan->beside[v] * k->ux, size,
                                  tier_names_format(s, v, name));
            tier_names_add_range(plan, s, k, v);
        }
    }
}
