/* Frames a second of the views of the network with 63,406 routes on 2,048 nodes (5D torus), drawn
 * into memory as the window does; and how long it takes from a click to the new picture. Usage:
 * network_views [VIEW [NETWORK [ROUTES]]]
 *
 *   scrolling     every frame another span of time: sums, routes and loads are computed anew
 *   data          ten windows a second stream in
 *   hover         only the mouse moves
 *   filter        every frame another range of link loads is let through
 *   select        every frame another link is selected, with its routes and ranks
 *   turn          torus: every frame the grid in space is turned and the rings are moved
 *   zooming       route matrix with all routes: every frame another part and resolution
 *   lens          likewise, and the lens moves
 */
#include "tests/viewer/offscreen.h"
#include "tests/viewer/synthetic_network.h"

#include "viewer/ui/ui_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60, ROUTES = 63406 };

struct desk {
    struct synthetic_network net;
    struct offscreen screen;
};

static void scroll(struct desk *d, int i)
{
    ui_pan_time(&d->screen.ui, d->screen.model, i % 2 ? 1300000000 : -4300000000);
}

/* Making the messages is not the viewer's: they are made before, and only the taking in is counted.
 */
static void data(struct desk *d, int i)
{
    ui_follow_data(&d->screen.ui, d->screen.model, (uint64_t)i * 33);
    ui_tick(&d->screen.ui, (uint64_t)i * 33 + 16);
}

static void hover(struct desk *d, int i)
{
    d->screen.ui.mouse.x = 200 + i * 17;
    d->screen.ui.mouse.y = 200 + i * 9;
}

static void filter(struct desk *d, int i)
{
    double most = d->screen.range.flows.maximum[METRIC_LOAD];
    flow_filter_range(&d->screen.ui.network.filter, METRIC_LOAD, most * (0.2 + 0.01 * i), most);
}

static void choose(struct desk *d, int i)
{
    const struct network *n = &d->screen.model->network;
    d->screen.ui.selection =
        (struct selection){SELECT_LINK, n->links[i * 11 % (int)n->link_count].link, 0};
}

static void turn(struct desk *d, int i)
{
    d->screen.ui.torus.space.yaw += 0.03;
    d->screen.ui.torus.plane.x = 0.01 * i;
}

static void zoom_routes(struct desk *d, int i)
{
    ui_zoom_routes(&d->screen.ui, d->screen.model, i % 40 < 20 ? 0.87 : 1 / 0.87, 0.3, 0.31);
}

static void move_lens(struct desk *d, int i)
{
    d->screen.ui.mouse.x = 250 + i * 8;
    d->screen.ui.mouse.y = 260 + i * 7;
}

struct rate {
    double frames, longest_ms;
};

static struct rate measure(struct desk *d, const char *name, void (*step)(struct desk *, int))
{
    uint64_t spent = 0, longest = 0;
    offscreen_frame(&d->screen);
    for (int i = 0; i < FRAMES; i++) {
        uint64_t took = 0;
        if (step == data && i % 3 == 0) {
            d->screen.apply_ns = 0;
            synthetic_network_window(&d->net, offscreen_apply, &d->screen);
            took = d->screen.apply_ns;
        }
        uint64_t before = offscreen_cpu_ns();
        step(d, i);
        offscreen_frame(&d->screen);
        took += offscreen_cpu_ns() - before;
        spent += took;
        longest = took > longest ? took : longest;
    }
    struct rate r = {FRAMES / ((double)spent / 1e9), (double)longest / 1e6};
    printf("  %-12s %6.0f frames/s  %6.2f ms mean, %6.2f ms longest\n", name, r.frames,
           1e3 / r.frames, r.longest_ms);
    return r;
}

/* @return the lowest rate */
static double closer(struct desk *d)
{
    uint32_t most = d->screen.ui.routes.maximum;
    d->screen.ui.routes.maximum = UINT32_MAX;
    double zoomed = measure(d, "zooming", zoom_routes).frames;
    d->screen.ui.routes.extent = 0;
    d->screen.ui.routes.lens = 1;
    double moved = measure(d, "lens", move_lens).frames;
    d->screen.ui.routes.lens = 0;
    d->screen.ui.routes.maximum = most;
    d->screen.ui.mouse.x = d->screen.ui.mouse.y = -1;
    return fmin(zoomed, moved);
}

static int view(struct desk *d, enum view_id id)
{
    uint64_t start = offscreen_cpu_ns();
    d->screen.ui.view = id;
    d->screen.ui.time.follow = 1;
    do
        offscreen_frame(&d->screen);
    while (d->screen.pictures.busy);
    printf("%s: first picture %.1f ms\n", place_names[id].name,
           (double)(offscreen_cpu_ns() - start) / 1e6);
    struct rate moving = measure(d, "scrolling", scroll);
    d->screen.ui.time.follow = 1;
    struct rate live = measure(d, "data", data);
    measure(d, "hover", hover);
    d->screen.ui.mouse.x = d->screen.ui.mouse.y = -1;
    struct rate filtered = measure(d, "filter", filter);
    flow_filter_clear(&d->screen.ui.network.filter);
    struct rate chosen = measure(d, "select", choose);
    d->screen.ui.selection = (struct selection){0};
    if (id == VIEW_TORUS)
        moving.frames = fmin(moving.frames, measure(d, "turn", turn).frames);
    double near = id == VIEW_ROUTES ? closer(d) : live.frames;
    int met = fmin(fmin(moving.frames, near), fmin(live.frames, filtered.frames)) >= 30 &&
              chosen.longest_ms < 100;
    printf("  budget of 30 frames/s, and 100 ms from selection to redraw: %s\n",
           met ? "met" : "MISSED");
    return met;
}

static void compute(struct desk *d)
{
    enum { TIMES = 20 };
    uint64_t spent = 0;
    for (int i = 0; i < TIMES; i++) {
        scroll(d, i);
        uint64_t first = 0, last = 0;
        ui_windows(&d->screen.ui, d->screen.model, &first, &last);
        range_update(&d->screen.range, d->screen.model, d->screen.ui.time.range, first, last);
        uint64_t before = offscreen_cpu_ns();
        flows_update(&d->screen.range.flows, d->screen.model, &d->screen.range, NULL);
        spent += offscreen_cpu_ns() - before;
    }
    printf("routes and loads of another span of time: %.2f ms\n", (double)spent / TIMES / 1e6);
    d->screen.ui.time.follow = 1;
}

int main(int argc, char **argv)
{
    static const enum view_id network_views[] = {VIEW_LINKS, VIEW_NETWORK, VIEW_TORUS, VIEW_ROUTES};
    struct desk d = {0};
    struct model *model;
    int wanted = argc > 1 ? place_find(argv[1]) : -1, met = 1;
    if ((argc > 1 && wanted < 0) || model_create(&model, 512u << 20) < 0) {
        fprintf(stderr, "usage: network_views [VIEW [NETWORK [ROUTES]]]\n");
        return 2;
    }
    offscreen_open(&d.screen, model, 1600, 900, 1, THEME_DARK);
    d.screen.ui.view = VIEW_LINKS;
    synthetic_network_init(&d.net, argc > 2 ? argv[2] : "torus:4,4,4,16,2", 1);
    synthetic_network_scatter(&d.net, argc > 3 ? (uint32_t)atoi(argv[3]) : ROUTES, 1);
    d.net.most_rows = 4096;
    synthetic_network_begin(&d.net, offscreen_apply, &d.screen);
    for (int i = 0; i < 70; i++)
        synthetic_network_window(&d.net, offscreen_apply, &d.screen);
    d.screen.ui.view = VIEW_LINKS;
    uint64_t start = offscreen_cpu_ns();
    offscreen_frame(&d.screen);
    printf("first frame of all: %.1f ms\n", (double)(offscreen_cpu_ns() - start) / 1e6);
    printf("%u nodes, %u routes, %u loaded links; a window takes %.1f ms to take in\n",
           d.screen.range.flows.vertex_count, d.screen.range.flows.route_count,
           d.screen.range.flows.links_used, (double)d.screen.apply_ns / 70 / 1e6);
    compute(&d);
    for (size_t i = 0; i < sizeof network_views / sizeof *network_views; i++)
        if (wanted < 0 || wanted == (int)network_views[i])
            met &= view(&d, network_views[i]);
    offscreen_close(&d.screen);
    synthetic_network_finish(&d.net);
    model_destroy(d.screen.model);
    return !met;
}
