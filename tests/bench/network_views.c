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
#include "tests/viewer/synthetic_network.h"

#include "viewer/draw/painter.h"
#include "viewer/draw/type.h"
#include "viewer/ui/ui_input.h"
#include "viewer/views/frame/frame.h"
#include "viewer/views/views.h"

#include "proto/client.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 60, ROUTES = 63406 };

struct desk {
    struct model *model;
    struct synthetic_network net;
    struct ui ui;
    struct theme theme;
    struct range range;
    struct pictures pictures;
    struct scene scene;
    struct painter painter;
    struct type *type;
    uint64_t apply_ns;
};

/* Time of this one thread on its core, so that a busy machine does not count: nothing here waits.
 */
static uint64_t spent_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void into(void *user, const struct wire_message *message, int snapshot)
{
    struct desk *d = user;
    uint64_t start = spent_ns();
    model_apply(d->model, message, snapshot);
    d->apply_ns += spent_ns() - start;
}

static int frame(struct desk *d)
{
    uint64_t first = 0, last = 0;
    ui_windows(&d->ui, d->model, &first, &last);
    range_update(&d->range, d->model, d->ui.time.range, first, last);
    ui_update_flows(&d->ui, d->model, &d->range);
    torus_update(&d->ui, d->model, &d->range);
    theme_init(&d->theme, d->ui.theme);
    frame_scene(&d->scene, d->model, &d->range, &d->ui, &d->theme, &d->pictures,
                type_measure(d->type));
    return painter_paint(&d->painter, &d->scene, d->type);
}

static void scroll(struct desk *d, int i)
{
    ui_pan_time(&d->ui, d->model, i % 2 ? 1300000000 : -4300000000);
}

/* Making the messages is not the viewer's: they are made before, and only the taking in is counted.
 */
static void data(struct desk *d, int i)
{
    ui_follow_data(&d->ui, d->model, (uint64_t)i * 33);
    ui_tick(&d->ui, (uint64_t)i * 33 + 16);
}

static void hover(struct desk *d, int i)
{
    d->ui.mouse.x = 200 + i * 17;
    d->ui.mouse.y = 200 + i * 9;
}

static void filter(struct desk *d, int i)
{
    double most = d->range.flows.maximum[METRIC_LOAD];
    flow_filter_range(&d->ui.network.filter, METRIC_LOAD, most * (0.2 + 0.01 * i), most);
}

static void choose(struct desk *d, int i)
{
    const struct network *n = &d->model->network;
    d->ui.selection =
        (struct selection){SELECT_LINK, n->links[i * 11 % (int)n->link_count].link, 0};
}

static void turn(struct desk *d, int i)
{
    d->ui.torus.space.yaw += 0.03;
    d->ui.torus.plane.x = 0.01 * i;
}

static void zoom_routes(struct desk *d, int i)
{
    ui_zoom_routes(&d->ui, d->model, i % 40 < 20 ? 0.87 : 1 / 0.87, 0.3, 0.31);
}

static void move_lens(struct desk *d, int i)
{
    d->ui.mouse.x = 250 + i * 8;
    d->ui.mouse.y = 260 + i * 7;
}

struct rate {
    double frames, longest_ms;
};

static struct rate measure(struct desk *d, const char *name, void (*step)(struct desk *, int))
{
    uint64_t spent = 0, longest = 0;
    frame(d);
    for (int i = 0; i < FRAMES; i++) {
        uint64_t took = 0;
        if (step == data && i % 3 == 0) {
            d->apply_ns = 0;
            synthetic_network_window(&d->net, into, d);
            took = d->apply_ns;
        }
        uint64_t before = spent_ns();
        step(d, i);
        if (frame(d) < 0)
            exit(1);
        took += spent_ns() - before;
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
    uint32_t most = d->ui.routes.maximum;
    d->ui.routes.maximum = UINT32_MAX;
    double zoomed = measure(d, "zooming", zoom_routes).frames;
    d->ui.routes.extent = 0;
    d->ui.routes.lens = 1;
    double moved = measure(d, "lens", move_lens).frames;
    d->ui.routes.lens = 0;
    d->ui.routes.maximum = most;
    d->ui.mouse.x = d->ui.mouse.y = -1;
    return fmin(zoomed, moved);
}

static int view(struct desk *d, enum view_id id)
{
    uint64_t start = spent_ns();
    d->ui.view = id;
    d->ui.time.follow = 1;
    do
        frame(d);
    while (d->pictures.busy);
    printf("%s: first picture %.1f ms\n", place_names[id].name, (double)(spent_ns() - start) / 1e6);
    struct rate moving = measure(d, "scrolling", scroll);
    d->ui.time.follow = 1;
    struct rate live = measure(d, "data", data);
    measure(d, "hover", hover);
    d->ui.mouse.x = d->ui.mouse.y = -1;
    struct rate filtered = measure(d, "filter", filter);
    flow_filter_clear(&d->ui.network.filter);
    struct rate chosen = measure(d, "select", choose);
    d->ui.selection = (struct selection){0};
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
        ui_windows(&d->ui, d->model, &first, &last);
        range_update(&d->range, d->model, d->ui.time.range, first, last);
        uint64_t before = spent_ns();
        flows_update(&d->range.flows, d->model, &d->range, NULL);
        spent += spent_ns() - before;
    }
    printf("routes and loads of another span of time: %.2f ms\n", (double)spent / TIMES / 1e6);
    d->ui.time.follow = 1;
}

int main(int argc, char **argv)
{
    static const enum view_id network_views[] = {VIEW_LINKS, VIEW_NETWORK, VIEW_TORUS, VIEW_ROUTES};
    struct desk d = {0};
    char why[256];
    int wanted = argc > 1 ? place_find(argv[1]) : -1, met = 1;
    if ((argc > 1 && wanted < 0) || type_create(&d.type, 1, why, sizeof why) < 0 ||
        model_create(&d.model, 512u << 20) < 0) {
        fprintf(stderr, "usage: network_views [VIEW [NETWORK [ROUTES]]], and fonts are needed\n");
        return 2;
    }
    ui_init(&d.ui, 1600, 900, 1, THEME_DARK);
    d.ui.view = VIEW_LINKS;
    d.ui.connection.state = CLIENT_CONNECTED;
    synthetic_network_init(&d.net, argc > 2 ? argv[2] : "torus:4,4,4,16,2", 1);
    synthetic_network_scatter(&d.net, argc > 3 ? (uint32_t)atoi(argv[3]) : ROUTES, 1);
    d.net.most_rows = 4096;
    synthetic_network_begin(&d.net, into, &d);
    for (int i = 0; i < 70; i++)
        synthetic_network_window(&d.net, into, &d);
    uint64_t start = spent_ns();
    frame(&d);
    printf("first frame of all: %.1f ms\n", (double)(spent_ns() - start) / 1e6);
    printf("%u nodes, %u routes, %u loaded links; a window takes %.1f ms to take in\n",
           d.range.flows.vertex_count, d.range.flows.route_count, d.range.flows.links_used,
           (double)d.apply_ns / 70 / 1e6);
    compute(&d);
    for (size_t i = 0; i < sizeof network_views / sizeof *network_views; i++)
        if (wanted < 0 || wanted == (int)network_views[i])
            met &= view(&d, network_views[i]);
    painter_finish(&d.painter);
    scene_finish(&d.scene);
    pictures_finish(&d.pictures);
    range_finish(&d.range);
    ui_finish(&d.ui);
    type_destroy(d.type);
    synthetic_network_finish(&d.net);
    model_destroy(d.model);
    return !met;
}
