/* Collectives in the graph: a bar over the lanes of their ranks, where all of them meet. */
#include "viewer/views/dependencies/dependency_picture.h"

#include "holter/call.h"
#include "viewer/layout/format.h"

#include <math.h>

#define BAR 3.0
#define DOTS_LEAST 6.0 /* height of a lane that has room for the dot of a member */

void collective_bars_tip(struct stage *s, const struct dependency_plot *p, uint32_t at)
{
    const struct dependencies *d = &p->picture->d;
    const struct dependency_collective *c = &d->collectives[at];
    tooltip_add(&s->tip, 0, "%s of %s", call_name(c->call), quantity_things(c->count, "rank").text);
    if (c->awaited != DEPENDENCY_NONE)
        tooltip_add(&s->tip, s->brush.theme->text, "rank %u %s, %s after the first one",
                    d->events[c->awaited].rank,
                    c->root == d->events[c->awaited].rank ? "is its root and came" : "came last",
                    format_duration((double)(d->events[c->awaited].begin_ns - c->first_ns)).text);
    tooltip_add(&s->tip, 0, "%s from the first entry to the last exit",
                format_duration((double)(c->end_ns - c->first_ns)).text);
}

/* Middle of the lane of an event. */
static double collective_bars_y(const struct dependency_plot *p, uint32_t event)
{
    return section_y(&p->v, dependency_plot_lane(p, event) + 0.5);
}

static void collective_bars_dot(const struct stage *s, const struct dependency_plot *p,
                                struct point at, color_t color)
{
    if (p->v.uy >= DOTS_LEAST && at.y >= p->v.box.y && at.y <= p->v.box.y + p->v.box.h)
        scene_disc(s->brush.scene, at.x, at.y, BAR, color);
}

/* One bar from the highest lane to the lowest, with a dot for each lane that has a member. */
static void collective_bars_bar(struct stage *s, const struct dependency_plot *p, uint32_t at,
                                color_t color)
{
    const struct dependency_picture *d = p->picture;
    const struct dependency_collective *c = &d->d.collectives[at];
    const struct dependency_member *members = &d->d.members[c->first];
    const struct box plot = p->v.box;
    double x = floor(section_x(&p->v, p->steps ? c->step + 1 : c->layer));
    double top = INFINITY, bottom = -INFINITY, before = -INFINITY;
    if (x < plot.x || x > plot.x + plot.w)
        return;
    for (uint32_t k = 0; k < c->count; k++) {
        double y = collective_bars_y(p, members[k].enter);
        if (y != before) /* ranks of a host have one lane */
            collective_bars_dot(s, p, (struct point){x, y}, color);
        before = y;
        top = fmin(top, y);
        bottom = fmax(bottom, y);
    }
    top = fmax(top, plot.y + 2);
    bottom = fmin(bottom, plot.y + plot.h - 2);
    if (top > bottom)
        return;
    struct box hit = {x - BAR, top - BAR / 2, 2 * BAR, bottom - top + BAR};
    scene_rect(s->brush.scene, (struct box){x - BAR / 2, hit.y, BAR, hit.h}, BAR / 2, color);
    if (c->awaited != DEPENDENCY_NONE) {
        scene_hit(s->brush.scene, hit, HIT_RANK, d->d.events[c->awaited].rank, 0);
        if (c->last_ns > c->first_ns)
            collective_bars_dot(s, p, (struct point){x, collective_bars_y(p, c->awaited)},
                                s->brush.theme->warn);
    }
    if (box_has(hit, s->brush.mouse_x, s->brush.mouse_y) && s->tip.count == 0)
        collective_bars_tip(s, p, at);
}

void collective_bars_layout(struct stage *s, const struct dependency_plot *p)
{
    const struct dependencies *d = &p->picture->d;
    for (uint32_t i = 0; i < d->collective_count; i++)
        collective_bars_bar(s, p, i,
                            color_mix(s->brush.theme->second, s->brush.theme->panel, 0.35));
}
