/* Paints the views of the network: gallery_network DIRECTORY [VIEW]. Jobs: halo exchange on a small
 * torus with a hot link, and MiniMD and MiniAMR on Blue Gene/Q as recorded (tests/data). For visual
 * checks. */
#include "tests/data_file.h"
#include "tests/viewer/offscreen.h"
#include "tests/viewer/synthetic_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum job {
    JOB_STENCIL,
    JOB_IMB,
    JOB_HOST,
    JOB_MINIAMR,
    JOB_MINIMD,
    JOB_SMALL,
    JOB_THETA128,
    JOB_THETA256,
    JOB_THETA512,
    JOB_FAT_TREE,
    JOB_DRAGONFLY,
    JOB_IO_DEFAULT,
    JOB_IO_OPTIMISED,
    JOBS
};

struct shot {
    const char *name;
    enum view_id view;
    enum job job;
    double w, h, scale;
    enum theme_kind theme;
    struct selection selection;
    enum flow_metric metric;
    double keep; /* filter: minimum share of the largest figure; 0: show all */
    unsigned applied;
    enum network_compare compare; /* with applied; 0: after */
    int paused, log, suggested, drawer;
    uint32_t opened;                   /* groups */
    int single;                        /* no groups */
    int fold, lens, loads, all_routes; /* of the route matrix */
    double routes_extent;
    double mouse_x, mouse_y;
};

static const struct {
    const char *form, *file;
    uint32_t per_node;
    double share;
} jobs[JOBS] = {
    {"torus:8,4,4/capacity=2e8", NULL, 4, 0},
    {"torus:2,2,2,2,2", "par-comm-data/hopbyte/IMB-MPI1_Vesta_n32_c16_hopbyte.txt", 16, 1e-3},
    {"fattree:4,1/1,1", NULL, 1, 0},
    {"torus:4,4,4,4,2", "par-comm-data/hopbyte/MiniAMR_Vesta_n512_c1_s2_hopbyte.txt", 1, 1e-3},
    {"torus:4,4,4,16,2", "par-comm-data/hopbyte/MiniMD_Mira_n2048_c1_s1_hopbyte.txt", 1, 1e-3},
    {"torus:2,2,4,2,2", NULL, 1, 0},
    {"dragonfly:2,12,3,16,4", "par-comm-data/hopbyte/MiniMD_Theta_n128_c1_w_hopbyte.txt", 1, 1e-3},
    {"dragonfly:2,12,3,16,4", "par-comm-data/hopbyte/MiniMD_Theta_n256_c1_w_hopbyte.txt", 1, 1e-3},
    {"dragonfly:2,12,3,16,4", "par-comm-data/hopbyte/MiniAMR_Theta_n512_c1_s2_hopbyte.txt", 1,
     1e-3},
    {"fattree:k=8", "par-comm-data/hopbyte/MiniMD_Vesta_n128_c1_w_hopbyte.txt", 1, 1e-3},
    {"dragonfly:groups=8,routers=8,nodes=4,global=1",
     "par-comm-data/hopbyte/MiniMD_Vesta_n256_c1_w_hopbyte.txt", 1, 1e-3},
    {"torus:4,4,4,4,2", "par-comm-data/route/IoDefault_Mira_n512_c16_route.txt", 16, 0},
    {"torus:4,4,4,4,2", "par-comm-data/route/IoOpt_Mira_n512_c16_route.txt", 16, 0},
};

static struct model *tell(enum job job, struct synthetic_network *net)
{
    struct model *model;
    size_t length;
    if (model_create(&model, 256u << 20) < 0)
        return NULL;
    synthetic_network_init(net, jobs[job].form, jobs[job].per_node);
    if (jobs[job].file) {
        char *text = data_file(jobs[job].file, &length);
        if (jobs[job].share > 0)
            synthetic_network_read(net, text, jobs[job].share);
        else
            synthetic_network_read_routes(net, text);
        free(text);
    }
    net->measured = job == JOB_STENCIL;
    synthetic_network_begin(net, offscreen_apply_model, model);
    for (int i = 0; i < 75; i++)
        synthetic_network_window(net, offscreen_apply_model, model);
    return model;
}

static void suggest(const struct synthetic_network *net, struct model *m, int suggested)
{
    for (int k = 0; k < SUGGESTIONS; k++)
        suggestion_clear(&m->network.suggestions[k]);
    if (!suggested)
        return;
    network_asked(&m->network, SUGGEST_MAPPING, "hop-bytes");
    synthetic_network_mapping(net, 0.4, offscreen_apply_model, m);
    if (suggested > 1) {
        synthetic_network_mapping(net, 1, offscreen_apply_model, m);
        network_replied(&m->network, SUGGEST_MAPPING, 0, NULL);
        network_asked(&m->network, SUGGEST_ROUTES, "");
        synthetic_network_routes(net, offscreen_apply_model, m);
        network_replied(&m->network, SUGGEST_ROUTES, 0, NULL);
    }
}

static int take(const char *directory, const struct shot *shot, struct model *model,
                const struct synthetic_network *net)
{
    struct offscreen screen;
    suggest(net, model, shot->suggested);
    offscreen_open(&screen, model, shot->w, shot->h, shot->scale, shot->theme);
    struct ui *ui = &screen.ui;
    const struct flows *flows = &screen.range.flows;
    ui->view = shot->view;
    ui->selection = shot->selection;
    ui->network.metric = shot->metric;
    ui->network.rank_log = shot->log;
    ui->overlay.drawer = shot->drawer;
    ui->mouse.x = shot->mouse_x ? shot->mouse_x : -1;
    ui->mouse.y = shot->mouse_y ? shot->mouse_y : -1;
    ui->routes.fold = shot->fold;
    ui->routes.lens = shot->lens;
    ui->routes.loads = shot->loads;
    ui->routes.maximum = shot->all_routes ? UINT32_MAX : ui->routes.maximum;
    ui->routes.x = ui->routes.y = 0.5 - shot->routes_extent / 2;
    ui->routes.extent = shot->routes_extent;
    if (shot->paused)
        ui_pan_time(ui, model, -15ll * 1000000000);
    offscreen_update(&screen);
    if (ui->selection.kind == SELECT_LINK && !ui->selection.a)
        ui->selection.a = flows->largest_link;
    if (shot->keep > 0)
        flow_filter_range(&ui->network.filter, ui->network.metric,
                          flows->maximum[ui->network.metric] * shot->keep,
                          flows->maximum[ui->network.metric]);
    ui->graph.chosen = shot->single;
    offscreen_update(&screen);
    for (int i = 0; (uint32_t)i < shot->opened; i++)
        ui_command(ui, model, COMMAND_NET_OPEN, (uint64_t)i);
    offscreen_update(&screen);
    offscreen_complete(&screen);
    for (int k = 0; k < SUGGESTIONS; k++) { /* the reality first: nodes keep its positions */
        if (!(shot->applied & 1u << k))
            continue;
        model->network.suggestions[k].base = what_if_state(&ui->network.what_if);
        ui_network_show(ui, model, (enum suggestion_kind)k);
        ui->network.compare = shot->compare ? shot->compare : COMPARE_AFTER;
        offscreen_update(&screen);
        offscreen_complete(&screen);
    }
    int error = offscreen_save(&screen, directory, shot->name);
    offscreen_close(&screen);
    return error;
}

#define LARGE .w = 1600, .h = 900, .scale = 1
#define SMALL .w = 1024, .h = 640, .scale = 1

static const struct shot shots[] = {
    {.name = "links",
     .view = VIEW_LINKS,
     LARGE,
     .metric = METRIC_LOAD,
     .mouse_x = 300,
     .mouse_y = 140},
    {.name = "links-selected",
     .view = VIEW_LINKS,
     LARGE,
     .metric = METRIC_HOP_BYTES,
     .selection = {SELECT_LINK, 0, 0},
     .suggested = 2},
    {.name = "links-light",
     .view = VIEW_LINKS,
     LARGE,
     .theme = THEME_LIGHT,
     .metric = METRIC_IN,
     .suggested = 1,
     .selection = {SELECT_VERTEX, 5, 0}},
    {.name = "links-applied",
     .view = VIEW_LINKS,
     LARGE,
     .metric = METRIC_LOAD,
     .suggested = 2,
     .applied = FLOWS_MAPPING | FLOWS_ROUTES},
    {.name = "links-difference",
     .view = VIEW_LINKS,
     LARGE,
     .metric = METRIC_LOAD,
     .suggested = 2,
     .compare = COMPARE_DIFFERENCE,
     .applied = FLOWS_MAPPING | FLOWS_ROUTES},
    {.name = "links-minimd-applied",
     .view = VIEW_LINKS,
     .job = JOB_MINIMD,
     LARGE,
     .metric = METRIC_LOAD,
     .suggested = 2,
     .applied = FLOWS_MAPPING},
    {.name = "links-small", .view = VIEW_LINKS, SMALL, .metric = METRIC_LENGTH, .paused = 1},
    {.name = "links-drawer",
     .view = VIEW_LINKS,
     SMALL,
     .metric = METRIC_LENGTH,
     .drawer = 1,
     .selection = {SELECT_LINK, 0, 0}},
    {.name = "links-miniamr",
     .view = VIEW_LINKS,
     .job = JOB_MINIAMR,
     LARGE,
     .metric = METRIC_HOP_BYTES,
     .log = 1,
     .keep = 0.5},
    {.name = "links-minimd",
     .view = VIEW_LINKS,
     .job = JOB_MINIMD,
     LARGE,
     .metric = METRIC_LOAD,
     .keep = 0.6,
     .mouse_x = 1000,
     .mouse_y = 300},
    {.name = "links-minimd-4k",
     .view = VIEW_LINKS,
     .job = JOB_MINIMD,
     .w = 1920,
     .h = 1080,
     .scale = 2,
     .metric = METRIC_TRANSIT,
     .selection = {SELECT_RANK, 7, 0}},
    {.name = "network-live", .view = VIEW_LIVE, LARGE},
    {.name = "graph", .view = VIEW_NETWORK, LARGE, .metric = METRIC_BYTES},
    {.name = "graph-selected",
     .view = VIEW_NETWORK,
     LARGE,
     .metric = METRIC_LOAD,
     .theme = THEME_LIGHT,
     .selection = {SELECT_LINK, 0, 0},
     .mouse_x = 700,
     .mouse_y = 400},
    {.name = "graph-routes-before",
     .view = VIEW_NETWORK,
     LARGE,
     .metric = METRIC_LOAD,
     .suggested = 2},
    {.name = "graph-routes-after",
     .view = VIEW_NETWORK,
     LARGE,
     .metric = METRIC_LOAD,
     .suggested = 2,
     .applied = FLOWS_ROUTES},
    {.name = "graph-routes-difference",
     .view = VIEW_NETWORK,
     LARGE,
     .metric = METRIC_LOAD,
     .suggested = 2,
     .compare = COMPARE_DIFFERENCE,
     .applied = FLOWS_ROUTES},
    {.name = "graph-routes-both",
     .view = VIEW_NETWORK,
     LARGE,
     .metric = METRIC_LOAD,
     .suggested = 2,
     .compare = COMPARE_BOTH,
     .applied = FLOWS_MAPPING},
    {.name = "torus-both",
     .view = VIEW_TORUS,
     LARGE,
     .suggested = 2,
     .compare = COMPARE_BOTH,
     .applied = FLOWS_MAPPING},
    {.name = "routes-both",
     .view = VIEW_ROUTES,
     LARGE,
     .suggested = 2,
     .loads = 1,
     .all_routes = 1,
     .compare = COMPARE_BOTH,
     .applied = FLOWS_MAPPING},
    {.name = "graph-small", .view = VIEW_NETWORK, SMALL, .metric = METRIC_BYTES},
    {.name = "graph-imb", .view = VIEW_NETWORK, .job = JOB_IMB, LARGE, .metric = METRIC_BYTES},
    {.name = "graph-host", .view = VIEW_NETWORK, .job = JOB_HOST, LARGE, .metric = METRIC_BYTES},
    {.name = "graph-miniamr",
     .view = VIEW_NETWORK,
     .job = JOB_MINIAMR,
     LARGE,
     .metric = METRIC_BYTES},
    {.name = "graph-miniamr-filter",
     .view = VIEW_NETWORK,
     .job = JOB_MINIAMR,
     LARGE,
     .metric = METRIC_HOP_BYTES,
     .keep = 0.6},
    {.name = "graph-minimd",
     .view = VIEW_NETWORK,
     .job = JOB_MINIMD,
     LARGE,
     .metric = METRIC_BYTES},
    {.name = "graph-minimd-open",
     .view = VIEW_NETWORK,
     .job = JOB_MINIMD,
     LARGE,
     .metric = METRIC_BYTES,
     .opened = 4},
    {.name = "graph-minimd-all",
     .view = VIEW_NETWORK,
     .job = JOB_MINIMD,
     LARGE,
     .metric = METRIC_BYTES,
     .single = 1},
    {.name = "routes", .view = VIEW_ROUTES, LARGE, .selection = {SELECT_LINK, 0, 0}, .loads = 1},
    {.name = "routes-suggested",
     .view = VIEW_ROUTES,
     LARGE,
     .selection = {SELECT_LINK, 0, 0},
     .suggested = 2,
     .fold = 2},
    {.name = "routes-applied",
     .view = VIEW_ROUTES,
     .theme = THEME_LIGHT,
     LARGE,
     .selection = {SELECT_LINK, 0, 0},
     .suggested = 2,
     .applied = FLOWS_ROUTES},
    {.name = "routes-small", .view = VIEW_ROUTES, SMALL, .loads = 1},
    /* Visuco, Fig. 6 */
    {.name = "routes-one",
     .view = VIEW_ROUTES,
     .job = JOB_SMALL,
     LARGE,
     .selection = {SELECT_ROUTE, 42, 24},
     .loads = 1},
    {.name = "routes-minimd", .view = VIEW_ROUTES, .job = JOB_MINIMD, LARGE, .all_routes = 1},
    {.name = "routes-minimd-lens",
     .view = VIEW_ROUTES,
     .job = JOB_MINIMD,
     LARGE,
     .metric = METRIC_LOAD,
     .keep = 0.6,
     .lens = 1,
     .mouse_x = 420,
     .mouse_y = 460},
    {.name = "routes-minimd-folded",
     .view = VIEW_ROUTES,
     .job = JOB_MINIMD,
     LARGE,
     .metric = METRIC_LOAD,
     .keep = 0.6,
     .fold = 4,
     .loads = 1},
    /* Visuco, Fig. 12 */
    {.name = "routes-io-default",
     .view = VIEW_ROUTES,
     .job = JOB_IO_DEFAULT,
     LARGE,
     .all_routes = 1,
     .loads = 1},
    {.name = "routes-io-optimised",
     .view = VIEW_ROUTES,
     .job = JOB_IO_OPTIMISED,
     LARGE,
     .all_routes = 1,
     .loads = 1},
    /* Visuco, Fig. 13 */
    {.name = "tiers-theta-128", .view = VIEW_TORUS, .job = JOB_THETA128, LARGE},
    {.name = "tiers-theta-256", .view = VIEW_TORUS, .job = JOB_THETA256, LARGE},
    {.name = "tiers-theta-512", .view = VIEW_TORUS, .job = JOB_THETA512, LARGE},
    {.name = "tiers-theta-selected",
     .view = VIEW_TORUS,
     .job = JOB_THETA256,
     SMALL,
     .selection = {SELECT_LINK, 0, 0}},
    {.name = "tiers-fat-tree", .view = VIEW_TORUS, .job = JOB_FAT_TREE, LARGE},
    {.name = "tiers-dragonfly", .view = VIEW_TORUS, .job = JOB_DRAGONFLY, LARGE},
    {.name = "tiers-host", .view = VIEW_TORUS, .job = JOB_HOST, SMALL, .theme = THEME_LIGHT},
    {.name = "routes-theta-128",
     .view = VIEW_ROUTES,
     .job = JOB_THETA128,
     LARGE,
     .all_routes = 1,
     .fold = 2},
    {.name = "routes-theta-256",
     .view = VIEW_ROUTES,
     .job = JOB_THETA256,
     LARGE,
     .all_routes = 1,
     .fold = 2},
    {.name = "routes-theta-512",
     .view = VIEW_ROUTES,
     .job = JOB_THETA512,
     LARGE,
     .all_routes = 1,
     .fold = 2},
};

int main(int argc, char **argv)
{
    int error = 0, wanted = argc > 2 ? place_find(argv[2]) : -1;
    if (argc < 2 || (argc > 2 && wanted < 0)) {
        fprintf(stderr, "usage: gallery_network DIRECTORY [VIEW]\n");
        return 2;
    }
    for (int job = 0; job < JOBS && !error; job++) {
        struct synthetic_network net;
        struct model *model = NULL;
        for (size_t i = 0; i < sizeof shots / sizeof *shots && !error; i++) {
            if ((int)shots[i].job != job || (wanted >= 0 && (int)shots[i].view != wanted))
                continue;
            if (!model && !(model = tell((enum job)job, &net)))
                return 1;
            error = take(argv[1], &shots[i], model, &net);
        }
        if (model)
            synthetic_network_finish(&net);
        model_destroy(model);
    }
    return error;
}
