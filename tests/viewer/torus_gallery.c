/* Paints view "torus" of real data: torus_gallery DIRECTORY [FORM], FORM a made-up job on that
 * network. For looking at; tells how long a picture takes when everything in it moved. */
#include "tests/daemon/analysis/network/pf3d.h"
#include "tests/data_file.h"
#include "tests/viewer/offscreen.h"
#include "tests/viewer/torus_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct shot {
    const char *name;
    enum theme_kind theme;
    double w, h;
    int view, pins, grid, mappings;
    unsigned hidden;
    double low, high, zoom;
    struct selection selection;
    int64_t from, to; /* windows; 0, 0: since the start */
    double mouse_x, mouse_y;
};

static void time_frames(struct offscreen *o, const char *name)
{
    enum { FRAMES = 20 };
    uint64_t start = offscreen_cpu_ns();
    for (int i = 0; i < FRAMES; i++) {
        o->ui.torus.space.yaw += 0.03;
        o->ui.torus.plane.x += 0.01;
        offscreen_frame(o);
    }
    printf("%-20s %6.1f ms a picture, items %zu\n", name,
           (double)(offscreen_cpu_ns() - start) / 1e6 / FRAMES, o->scene.item_count);
}

static void take(const char *directory, const struct shot *shot, struct model *m, int timed)
{
    struct offscreen d;
    offscreen_open(&d, m, shot->w ? shot->w : 1600, shot->h ? shot->h : 900, 1, shot->theme);
    d.ui.view = VIEW_TORUS;
    d.ui.time.range = shot->to ? RANGE_SPAN : RANGE_START;
    if (shot->to)
        ui_show_span(&d.ui, m,
                     (int64_t)((SYNTHETIC_FIRST + (uint64_t)shot->from) * SYNTHETIC_SECOND),
                     (int64_t)((SYNTHETIC_FIRST + (uint64_t)shot->to) * SYNTHETIC_SECOND));
    d.ui.torus.view = shot->view;
    d.ui.torus.view_chosen = 1;
    d.ui.torus.hidden = shot->hidden;
    d.ui.torus.low = shot->low;
    d.ui.torus.high = shot->high > 0 ? shot->high : 1;
    d.ui.torus.plane.zoom = shot->zoom > 0 ? shot->zoom : 1;
    d.ui.torus.grid = shot->grid;
    d.ui.selection = shot->selection;
    d.ui.mouse.x = shot->mouse_x > 0 ? shot->mouse_x : -1;
    d.ui.mouse.y = shot->mouse_x > 0 ? shot->mouse_y : -1;
    for (int i = 0; i < shot->mappings; i++) {
        uint32_t *seats = malloc(PF3D_RANKS * sizeof *seats);
        for (uint32_t rank = 0; seats && rank < PF3D_RANKS; rank++)
            seats[rank] = pf3d_node((enum pf3d_mapping)i, rank);
        torus_add_mapping(&d.ui.torus, pf3d_names[i], seats, PF3D_RANKS);
    }
    for (int i = 0; i < shot->pins; i++) {
        offscreen_update(&d);
        offscreen_lay_out(&d);
        ui_command(&d.ui, m, COMMAND_TORUS_PIN, 0);
        ui_pan_time(&d.ui, m, (int64_t)SYNTHETIC_SECOND);
    }
    offscreen_update(&d);
    offscreen_complete(&d);
    offscreen_save(&d, directory, shot->name);
    if (timed)
        time_frames(&d, shot->name);
    offscreen_close(&d);
}

struct text {
    char *bytes;
    size_t used, room;
};

static void pair_line(void *user, uint32_t source, uint32_t destination, uint64_t bytes)
{
    struct text *t = user;
    if (t->room - t->used < 64) {
        t->room = t->room ? t->room * 2 : 1 << 20;
        t->bytes = realloc(t->bytes, t->room);
        if (!t->bytes)
            abort();
    }
    t->used += (size_t)snprintf(t->bytes + t->used, 64, "%u %u %llu 1\n", source, destination,
                                (unsigned long long)bytes);
}

/* pF3D under its five mappings, as Landge et al., Fig. 8. */
static void pf3d(const char *directory)
{
    struct synthetic_network net;
    struct text text = {0};
    struct shot shots[] = {{.name = "pf3d"}, {.name = "pf3d-grid", .grid = 1}};
    pf3d_pairs(PF3D_X, pair_line, &text);
    pf3d_pairs(PF3D_Y, pair_line, &text);
    struct model *m = torus_job("torus:8,8,8", 4, text.bytes, 2, &net);
    for (size_t i = 0; i < sizeof shots / sizeof *shots; i++) {
        shots[i].mappings = PF3D_MAPPINGS;
        take(directory, &shots[i], m, 0);
    }
    free(text.bytes);
    synthetic_network_finish(&net);
    model_destroy(m);
}

int main(int argc, char **argv)
{
    static const struct shot counters[] = {
        {.name = "bgp", .view = 2},
        {.name = "bgp-light", .theme = THEME_LIGHT, .view = 0},
        {.name = "bgp-high", .low = 0.35, .high = 0.8},
        {.name = "bgp-regions", .from = 1, .to = 2, .pins = 5},
        {.name = "bgp-grid", .from = 1, .to = 2, .pins = 3, .grid = 1},
        {.name = "bgp-plane", .selection = {SELECT_PLANE, 1, 2}},
        {.name = "bgp-upright", .hidden = 2},
        {.name = "bgp-small", .w = 1024, .h = 640},
    };
    static const struct shot others[] = {
        {.name = "minimd"},
        {.name = "minimd-vertex", .selection = {SELECT_VERTEX, 700, 0}, .zoom = 2},
        {.name = "minimd-rank", .selection = {SELECT_RANK, 700, 0}, .mouse_x = 600, .mouse_y = 420},
    };
    static const struct shot plain = {.name = "made-up"};
    const char *directory = argc > 1 ? argv[1] : ".";
    struct synthetic_network net;
    if (argc > 2) {
        struct model *m = torus_job(argv[2], argc > 3 ? (uint32_t)atoi(argv[3]) : 1, NULL, 3, &net);
        take(directory, &plain, m, 1);
        synthetic_network_finish(&net);
        model_destroy(m);
        return 0;
    }
    pf3d(directory);
    uint64_t sums[16];
    int regions;
    char *text = data_file("bgp-counters/bgpc_links.yaml", &(size_t){0});
    struct model *m = torus_counters(text, &regions, sums);
    free(text);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        take(directory, &counters[i], m, i == 0);
    model_destroy(m);
    text = data_file("par-comm-data/hopbyte/MiniMD_Mira_n2048_c1_s1_hopbyte.txt", &(size_t){0});
    m = torus_job("torus:4,4,4,16,2/order=D,B,A,C,E", 1, text, 3, &net);
    free(text);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        take(directory, &others[i], m, i == 0);
    synthetic_network_finish(&net);
    model_destroy(m);
    return 0;
}
