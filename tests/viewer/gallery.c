/* Paints every view of synthetic jobs: gallery DIRECTORY [RANKS]. For looking at, and for the eye
 * of whoever changes a layout. */
#include "tests/viewer/offscreen.h"
#include "tests/viewer/synthetic.h"
#include "tests/viewer/synthetic_commgram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shot {
    const char *name;
    enum view_id view;
    double w, h, scale;
    enum theme_kind theme;
    int help, drawer, searching, paused, compress;
    enum graph_colour colour;
    uint64_t picked, graph_open; /* alert, region; 0: none */
    double zoom;
    int64_t span; /* seconds; 0: a minute */
    struct selection selection;
    uint64_t phases, communities;
    double mouse_x, mouse_y;
    double size_low;
    uint64_t open, stages; /* phase that is opened, or one part in stages of it */
    int unmodelled;
    int steps; /* dependencies by step */
    enum landscape_shape shape;
    uint32_t layout;
    const char *replay; /* state of a replay; NULL: live */
    double place, knob; /* of it, share; and where the user holds the knob, 0: nowhere */
};

static void answer(const struct synthetic_commgram *gram, const struct ui *ui, struct model *model)
{
    struct commgram_request request;
    if (ui->view != VIEW_COMMGRAM || !ui_commgram_request(ui, model, &request))
        return;
    commgram_asked(&model->commgram, &request);
    synthetic_picture(gram, &request, offscreen_apply_model, model);
    commgram_replied(&model->commgram, 0, NULL);
}

/* Where a replay is; or nothing is replayed. */
static void replay(const struct shot *shot, struct ui *ui, struct model *model)
{
    const struct synthetic_replay told = {.state = shot->replay,
                                          .position = shot->place,
                                          .indexed = 0.7,
                                          .target = shot->knob,
                                          .speed = shot->place > 0.3 ? 0 : 10,
                                          .looping = shot->drawer,
                                          .paused = shot->paused,
                                          .marked = 1,
                                          .run = 1};
    playback_clear(&model->playback);
    if (!shot->replay)
        return;
    synthetic_replay(&told, 1, offscreen_apply_model, model);
    if (!shot->knob)
        return;
    ui->transport.wanted = WISH_PLACE;
    ui->transport.place_ns = model->playback.begin_ns + (uint64_t)(shot->knob * SYNTHETIC_RECORDED);
}

static int take(const char *directory, const struct shot *shot, struct model *model,
                const struct synthetic_commgram *gram)
{
    struct offscreen screen;
    offscreen_open(&screen, model, shot->w, shot->h, shot->scale, shot->theme);
    struct ui *ui = &screen.ui;
    ui->view = shot->view;
    ui->overlay.help = shot->help;
    ui->overlay.drawer = shot->drawer;
    ui->overlay.searching = shot->searching;
    ui->selection = shot->selection;
    ui->compress = shot->compress;
    ui->regions.colour = shot->colour;
    ui->regions.open = shot->graph_open;
    ui->regions.camera.zoom = shot->zoom > 0 ? shot->zoom : 1;
    ui->dependencies.steps = shot->steps;
    ui->time.span_ns = shot->span ? shot->span * 1000000000 : ui->time.span_ns;
    if (shot->picked)
        ui_pick_alert(ui, model, shot->picked);
    snprintf(ui->overlay.search, sizeof ui->overlay.search, "%s", shot->searching ? "1" : "");
    ui->mouse.x = shot->mouse_x ? shot->mouse_x : -1;
    ui->mouse.y = shot->mouse_y ? shot->mouse_y : -1;
    ui->landscape.shape = shot->shape ? shot->shape : ui->landscape.shape;
    ui->landscape.layout = shot->layout;
    replay(shot, ui, model);
    if (shot->paused && !shot->replay)
        ui_pan_time(ui, model, -15ll * 1000000000);
    ui->commgram.phases = shot->phases ? shot->phases : ui->commgram.phases;
    ui->commgram.communities = shot->communities ? shot->communities : ui->commgram.communities;
    ui->commgram.size_low = shot->size_low;
    ui->commgram.unmodelled = shot->unmodelled;
    if (shot->open) {
        uint64_t begin = gram->begin_ns + (shot->open - 1) * gram->phase_ns;
        uint64_t length = gram->phase_ns * 2 / 3 / (shot->stages ? shot->stages : 1);
        ui_open(ui, model, (int64_t)begin, (int64_t)(begin + length), NULL);
    }
    answer(gram, ui, model);
    offscreen_update(&screen);
    offscreen_complete(&screen);
    int error = offscreen_save(&screen, directory, shot->name);
    offscreen_close(&screen);
    return error;
}

/* A job with its latencies, as far as it went. */
struct story {
    const char *name;
    uint32_t ranks, per_node, partners;
    int windows, gap;
    struct synthetic_latency latency;
    int resolved, hang, death; /* an older alert; rank that hangs or died, 0: none */
    uint32_t captured;         /* calls of each rank, captured for the alert; 0: none */
    int messages;              /* of these calls */
    int late;                  /* ranks come late */
    struct synthetic_commgram gram;
};

static struct model *tell(const struct story *t, struct synthetic *job)
{
    struct model *model;
    struct synthetic_latency older = t->latency;
    older.slow = 1;
    older.onset = 22;
    if (model_create(&model, 256u << 20) < 0)
        return NULL;
    synthetic_init(job, t->ranks, t->per_node, t->partners, 1);
    synthetic_begin(job, offscreen_apply_model, model);
    synthetic_regions(job, &t->latency, offscreen_apply_model, model);
    for (int i = 0; i < t->windows; i++) {
        if (t->gap && i == t->gap)
            synthetic_skip(job, 4);
        synthetic_window(job, offscreen_apply_model, model);
        synthetic_latencies(job, &t->latency, offscreen_apply_model, model);
        if (t->late)
            synthetic_lateness(job, &t->latency, offscreen_apply_model, model);
        if (t->resolved && i == 40)
            synthetic_growth(job, &older, 3, "resolved", offscreen_apply_model, model);
    }
    if (t->gram.phase_ns) {
        struct synthetic_commgram gram = t->gram;
        uint64_t length = (uint64_t)t->windows * SYNTHETIC_SECOND;
        synthetic_phases(&gram, 1, length / gram.phase_ns - 1, offscreen_apply_model, model);
    }
    if (t->latency.slow)
        synthetic_growth(job, &t->latency, 7,
                         job->window > SYNTHETIC_FIRST + t->latency.recovery ? "resolved"
                                                                             : "firing",
                         offscreen_apply_model, model);
    if (t->captured)
        synthetic_capture(job,
                          &(struct synthetic_capture){
                              .id = 1, .alert = 7, .calls = t->captured, .messages = t->messages},
                          0, offscreen_apply_model, model);
    if (t->hang)
        synthetic_hang(job, 9, (uint32_t)t->hang, offscreen_apply_model, model);
    if (t->death)
        synthetic_death(job, (uint32_t)t->death, offscreen_apply_model, model);
    return model;
}

static const struct story growth = {.name = "growth",
                                    .ranks = 512,
                                    .per_node = 32,
                                    .partners = 26,
                                    .windows = 110,
                                    .gap = 62,
                                    .latency = {8, 3, 82, 900, 0.09, 2.4},
                                    .resolved = 1};
static const struct story healthy = {
    .name = "healthy", .ranks = 64, .per_node = 16, .partners = 6, .windows = 90, .latency = {4}};
static const struct story hang = {.name = "hang",
                                  .ranks = 64,
                                  .per_node = 16,
                                  .partners = 26,
                                  .windows = 90,
                                  .latency = {4, 2, 30, 62, 0.1, 2.0},
                                  .hang = 17};
static const struct story large = {.name = "large",
                                   .ranks = 1024,
                                   .per_node = 64,
                                   .partners = 26,
                                   .windows = 400,
                                   .latency = {8, 6, 300, 360, 0.06, 3.1}};
static const struct story huge = {.name = "huge",
                                  .ranks = 4096,
                                  .per_node = 64,
                                  .partners = 26,
                                  .windows = 30,
                                  .latency = {64, 9, 20, 300, 0.2, 2.6}};

static int shoot(const char *directory, const struct story *story, const struct shot *shots,
                 size_t count)
{
    struct synthetic job;
    struct model *model = tell(story, &job);
    int error = model ? 0 : 1;
    for (size_t i = 0; i < count && !error; i++)
        error = take(directory, &shots[i], model, &story->gram);
    synthetic_finish(&job);
    model_destroy(model);
    return error;
}

#define LARGE .w = 1600, .h = 900, .scale = 1
#define SMALL .w = 1024, .h = 640, .scale = 1
#define SHOOT(story, shots) shoot(directory, &story, shots, sizeof shots / sizeof *shots)

static int latency_shots(const char *directory)
{
    static const struct shot growing[] = {
        {.name = "overview", .view = VIEW_OVERVIEW, LARGE},
        {.name = "overview-small", .view = VIEW_OVERVIEW, SMALL},
        {.name = "overview-light", .view = VIEW_OVERVIEW, LARGE, .theme = THEME_LIGHT},
        {.name = "monitor", .view = VIEW_MONITOR, LARGE},
        {.name = "live", .view = VIEW_LIVE, LARGE, .mouse_x = 700, .mouse_y = 160},
        {.name = "live-row", .view = VIEW_LIVE, LARGE, .mouse_x = 1000, .mouse_y = 577},
        {.name = "live-light", .view = VIEW_LIVE, LARGE, .theme = THEME_LIGHT},
        {.name = "live-small", .view = VIEW_LIVE, SMALL, .paused = 1},
        {.name = "live-drawer", .view = VIEW_LIVE, SMALL, .drawer = 1},
        {.name = "live-4k", .view = VIEW_LIVE, .w = 1920, .h = 1080, .scale = 2},
        {.name = "live-4k-plain", .view = VIEW_LIVE, .w = 3840, .h = 2160, .scale = 1},
        {.name = "regions", .view = VIEW_REGIONS, LARGE},
        {.name = "regions-latency", .view = VIEW_REGIONS, LARGE, .colour = COLOUR_LATENCY},
        {.name = "regions-picked", .view = VIEW_REGIONS, LARGE, .picked = 7},
        {.name = "alerts", .view = VIEW_ALERTS, LARGE},
        {.name = "alerts-light", .view = VIEW_ALERTS, LARGE, .theme = THEME_LIGHT, .picked = 3},
        {.name = "alerts-small", .view = VIEW_ALERTS, SMALL},
        {.name = "attribution", .view = VIEW_ATTRIBUTION, LARGE, .mouse_x = 620, .mouse_y = 200},
        {.name = "attribution-ranks",
         .view = VIEW_ATTRIBUTION,
         LARGE,
         .theme = THEME_LIGHT,
         .picked = 7,
         .span = 40},
        {.name = "criteria", .view = VIEW_CRITERIA, LARGE, .mouse_x = 1150, .mouse_y = 270},
        {.name = "criteria-light", .view = VIEW_CRITERIA, SMALL, .theme = THEME_LIGHT},
        {.name = "attribution-small", .view = VIEW_ATTRIBUTION, SMALL},
    };
    static const struct shot replays[] = {
        {.name = "replay",
         .view = VIEW_LIVE,
         LARGE,
         .replay = "playing",
         .place = 0.183,
         .mouse_x = 972,
         .mouse_y = 839},
        {.name = "replay-alert",
         .view = VIEW_MATRIX,
         LARGE,
         .replay = "paused",
         .paused = 1,
         .place = 0.183,
         .mouse_x = 870,
         .mouse_y = 842},
        {.name = "replay-light",
         .view = VIEW_REGIONS,
         LARGE,
         .theme = THEME_LIGHT,
         .replay = "ended",
         .place = 1},
        {.name = "replay-seeking",
         .view = VIEW_ALERTS,
         SMALL,
         .replay = "seeking",
         .place = 0.31,
         .knob = 0.8},
        {.name = "replay-drawer",
         .view = VIEW_LIVE,
         SMALL,
         .drawer = 1,
         .replay = "playing",
         .place = 0.183},
        {.name = "replay-help",
         .view = VIEW_LIVE,
         SMALL,
         .help = 1,
         .replay = "playing",
         .place = 0.183},
        {.name = "replay-4k",
         .view = VIEW_LIVE,
         .w = 1024,
         .h = 640,
         .scale = 2,
         .replay = "playing",
         .place = 0.5},
    };
    static const struct shot well[] = {
        {.name = "healthy-overview", .view = VIEW_OVERVIEW, LARGE},
        {.name = "healthy-live", .view = VIEW_LIVE, LARGE},
        {.name = "healthy-regions", .view = VIEW_REGIONS, LARGE},
        {.name = "healthy-latency", .view = VIEW_REGIONS, SMALL, .colour = COLOUR_LATENCY},
        {.name = "healthy-alerts", .view = VIEW_ALERTS, LARGE},
    };
    static const struct shot hanging[] = {
        {.name = "hang-live", .view = VIEW_LIVE, LARGE},
        {.name = "hang-alerts", .view = VIEW_ALERTS, LARGE},
        {.name = "hang-regions", .view = VIEW_REGIONS, LARGE, .picked = 9},
    };
    static const struct shot thousand[] = {
        {.name = "large-live", .view = VIEW_LIVE, LARGE, .span = 300},
        {.name = "large-compressed", .view = VIEW_LIVE, LARGE, .compress = 1},
        {.name = "large-regions", .view = VIEW_REGIONS, LARGE},
        {.name = "large-regions-light", .view = VIEW_REGIONS, LARGE, .theme = THEME_LIGHT},
        {.name = "large-latency", .view = VIEW_REGIONS, LARGE, .colour = COLOUR_LATENCY},
        {.name = "large-regions-4k", .view = VIEW_REGIONS, .w = 1920, .h = 1080, .scale = 2},
        {.name = "large-zoomed", .view = VIEW_REGIONS, LARGE, .zoom = 3},
    };
    static const struct shot thousands[] = {
        {.name = "huge-live", .view = VIEW_LIVE, LARGE},
        {.name = "huge-regions", .view = VIEW_REGIONS, LARGE},
        {.name = "huge-open", .view = VIEW_REGIONS, LARGE, .graph_open = 9},
    };
    return SHOOT(growth, growing) | SHOOT(growth, replays) | SHOOT(healthy, well) |
           SHOOT(hang, hanging) | SHOOT(large, thousand) | SHOOT(huge, thousands);
}

static int commgram_shots(const char *directory)
{
    static const struct story paper = {
        .name = "paper",
        .ranks = 4320,
        .per_node = 60,
        .partners = 6,
        .windows = 82,
        .latency = {72, 3, 60, 300, 0.09, 2.4},
        .gram = {4320, 9, SYNTHETIC_FIRST * SYNTHETIC_SECOND + SYNTHETIC_SECOND,
                 SYNTHETIC_SECOND * 5 / 2, .modelled = 1, .folded = 12},
    };
    static const struct shot shots[] = {
        {.name = "commgram",
         .view = VIEW_COMMGRAM,
         LARGE,
         .phases = 27,
         .communities = 18,
         .span = 75},
        {.name = "commgram-light",
         .view = VIEW_COMMGRAM,
         LARGE,
         .theme = THEME_LIGHT,
         .span = 75,
         .phases = 27,
         .communities = 18,
         .mouse_x = 560,
         .mouse_y = 520},
        {.name = "commgram-small",
         .view = VIEW_COMMGRAM,
         SMALL,
         .span = 30,
         .phases = 12,
         .communities = 18,
         .selection = {SELECT_COMMUNITY, 7, 3}},
        {.name = "commgram-4k",
         .view = VIEW_COMMGRAM,
         .w = 1024,
         .h = 640,
         .scale = 2,
         .span = 40,
         .phases = 9,
         .mouse_x = 300,
         .mouse_y = 150},
        {.name = "commgram-swap",
         .view = VIEW_COMMGRAM,
         LARGE,
         .phases = 12,
         .communities = 18,
         .open = 9,
         .mouse_x = 700,
         .mouse_y = 500},
        {.name = "commgram-ranks",
         .view = VIEW_COMMGRAM,
         LARGE,
         .phases = 1,
         .communities = 4320,
         .open = 10},
        {.name = "commgram-stage",
         .view = VIEW_COMMGRAM,
         LARGE,
         .phases = 1,
         .communities = 4320,
         .open = 9,
         .stages = 13,
         .unmodelled = 1},
        {.name = "commgram-halo",
         .view = VIEW_COMMGRAM,
         LARGE,
         .phases = 1,
         .communities = 61,
         .open = 10,
         .unmodelled = 1,
         .theme = THEME_LIGHT},
        {.name = "commgram-rank",
         .view = VIEW_COMMGRAM,
         LARGE,
         .phases = 8,
         .communities = 60,
         .selection = {SELECT_RANK, 1200, 0},
         .span = 20,
         .size_low = 12},
    };
    return SHOOT(paper, shots);
}

static int captures_shots(const char *directory)
{
    static const struct shot few[] = {
        {.name = "captures-bars", .view = VIEW_CAPTURES, LARGE, .mouse_x = 700, .mouse_y = 300},
        {.name = "captures-bars-small", .view = VIEW_CAPTURES, SMALL, .theme = THEME_LIGHT},
    };
    static const struct shot many[] = {
        {.name = "captures-cells", .view = VIEW_CAPTURES, LARGE, .mouse_x = 700, .mouse_y = 300},
        {.name = "captures-alerts", .view = VIEW_ALERTS, LARGE},
    };
    struct story told = growth;
    told.captured = 40;
    told.ranks = 24;
    told.per_node = 8;
    int failed = SHOOT(told, few);
    told.ranks = 4096;
    told.per_node = 64;
    told.windows = 90;
    return failed | SHOOT(told, many);
}

static int dependencies_shots(const char *directory)
{
    static const struct shot few[] = {
        {.name = "dependencies", .view = VIEW_DEPENDENCIES, LARGE, .mouse_x = 700, .mouse_y = 300},
        {.name = "dependencies-steps",
         .view = VIEW_DEPENDENCIES,
         LARGE,
         .steps = 1,
         .selection = {SELECT_RANK, 5, 0},
         .theme = THEME_LIGHT},
        {.name = "dependencies-small", .view = VIEW_DEPENDENCIES, SMALL},
    };
    static const struct shot many[] = {
        {.name = "dependencies-nodes", .view = VIEW_DEPENDENCIES, LARGE},
        {.name = "dependencies-nodes-steps", .view = VIEW_DEPENDENCIES, LARGE, .steps = 1},
        {.name = "lateness", .view = VIEW_DEPENDENCIES, LARGE, .steps = BY_WINDOW},
    };
    struct story told = growth;
    told.captured = 60;
    told.messages = told.late = 1;
    told.ranks = 12;
    told.per_node = 4;
    int failed = SHOOT(told, few);
    told.ranks = 4096;
    told.per_node = 64;
    told.windows = 90;
    return failed | SHOOT(told, many);
}

static int landscape_shots(const char *directory, uint32_t ranks)
{
    static const struct shot shots[] = {
        {.name = "landscape", .view = VIEW_LANDSCAPE, LARGE, .mouse_x = 800, .mouse_y = 420},
        {.name = "landscape-small", .view = VIEW_LANDSCAPE, SMALL, .theme = THEME_LIGHT},
        {.name = "landscape-matrix", .view = VIEW_LANDSCAPE, LARGE, .shape = LANDSCAPE_MATRIX},
        {.name = "landscape-histogram",
         .view = VIEW_LANDSCAPE,
         LARGE,
         .shape = LANDSCAPE_HISTOGRAM,
         .selection = {SELECT_NODE, 1, 0}},
        {.name = "landscape-sphere",
         .view = VIEW_LANDSCAPE,
         LARGE,
         .shape = LANDSCAPE_LAYOUT,
         .selection = {SELECT_NODE, 1, 0}},
        {.name = "landscape-block",
         .view = VIEW_LANDSCAPE,
         SMALL,
         .shape = LANDSCAPE_LAYOUT,
         .layout = 1},
        {.name = "landscape-torus",
         .view = VIEW_LANDSCAPE,
         LARGE,
         .shape = LANDSCAPE_LAYOUT,
         .layout = 2},
        {.name = "landscape-scatter",
         .view = VIEW_LANDSCAPE,
         SMALL,
         .shape = LANDSCAPE_LAYOUT,
         .layout = 3},
    };
    struct story told = growth;
    told.ranks = ranks;
    told.per_node = ranks >= 64 ? ranks / 16 : 4;
    return SHOOT(told, shots);
}

static int other_shots(const char *directory, uint32_t ranks)
{
    static const struct shot shots[] = {
        {.name = "matrix",
         .view = VIEW_MATRIX,
         LARGE,
         .selection = {SELECT_RANK, 3, 0},
         .mouse_x = 600,
         .mouse_y = 400},
        {.name = "matrix-light",
         .view = VIEW_MATRIX,
         LARGE,
         .theme = THEME_LIGHT,
         .selection = {SELECT_REGION, 2, 0}},
        {.name = "pairs", .view = VIEW_PAIRS, LARGE, .selection = {SELECT_RANK, 3, 0}},
        {.name = "ranks", .view = VIEW_RANKS, LARGE, .mouse_x = 500, .mouse_y = 500},
        {.name = "ranks-small", .view = VIEW_RANKS, SMALL, .drawer = 1},
        {.name = "calls", .view = VIEW_CALLS, LARGE},
        {.name = "nodes", .view = VIEW_NODES, LARGE, .selection = {SELECT_NODE, 1, 0}},
        {.name = "jobs", .view = VIEW_JOBS, LARGE, .theme = THEME_LIGHT},
        {.name = "help", .view = VIEW_LIVE, SMALL, .help = 1},
        {.name = "search", .view = VIEW_MATRIX, .w = 1280, .h = 720, .scale = 1, .searching = 1},
    };
    struct story other = growth;
    other.ranks = ranks;
    other.per_node = ranks >= 64 ? ranks / 16 : 4;
    other.death = ranks > 8 ? (int)ranks / 3 : 0;
    return SHOOT(other, shots);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: gallery DIRECTORY [RANKS | commgram | captures | dependencies | "
                        "landscape [RANKS]]\n");
        return 2;
    }
    uint32_t ranks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 512;
    if (argc > 2 && !strcmp(argv[2], "commgram"))
        return commgram_shots(argv[1]);
    if (argc > 2 && !strcmp(argv[2], "captures"))
        return captures_shots(argv[1]);
    if (argc > 2 && !strcmp(argv[2], "dependencies"))
        return dependencies_shots(argv[1]);
    if (argc > 2 && !strcmp(argv[2], "landscape"))
        return landscape_shots(argv[1], argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 4096);
    return landscape_shots(argv[1], 512) | captures_shots(argv[1]) | dependencies_shots(argv[1]) |
           commgram_shots(argv[1]) | latency_shots(argv[1]) | other_shots(argv[1], ranks);
}
