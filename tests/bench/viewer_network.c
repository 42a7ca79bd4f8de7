/* Frames a second of view "network" with 2,048 nodes of a five-dimensional torus and 63,406 routes,
 * drawn into memory as the window does; with "large" 8,192 nodes and 128,496 routes.
 * Usage: viewer_network [large] [DIRECTORY, for pictures]
 *
 *   first picture     from nothing until there are nodes and routes to be seen, and until all is
 *                     at rest
 *   nothing           the same picture again and again
 *   panning, zooming  every frame another part in sight (lines are drawn again in shares)
 *   hover             only the mouse moves
 *   data              ten windows a second at thirty frames
 *   selection         another link each time, until the frame that shows it
 *
 * Both with each node alone and with those of the same A, B, C together.
 */
#include "tests/viewer/offscreen.h"
#include "tests/viewer/synthetic_network.h"

#include "viewer/ui/ui_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60, WINDOWS = 20 };

struct size {
    const char *name, *form;
    uint32_t nodes, routes;
    double selection_ms; /* at most */
};

static const struct size sizes[] = {{"2,048 nodes", "torus:4,4,4,16,2", 2048, 63406, 100},
                                    {"8,192 nodes", "torus:8,8,4,16,2", 8192, 128496, 50}};

struct desk {
    struct synthetic_network net;
    struct offscreen screen;
    const struct size *size;
};

/* Partners as refined meshes have them: most in the next layers, some far away (xorshift64). */
static void make_pairs(struct synthetic_network *net, uint32_t nodes, uint32_t routes)
{
    struct wire_pair_row *rows = calloc(routes, sizeof *rows);
    uint64_t seed = 88172645463325252u;
    if (!rows)
        exit(1);
    for (uint32_t i = 0; i < routes; i++) {
        uint32_t source = (uint32_t)((uint64_t)i * nodes / routes), k = i % 31;
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        uint32_t to = k < 20   ? (source + (k < 10 ? k + 1 : nodes - k + 9)) % nodes
                      : k < 26 ? (source + 32 * (k - 19)) % nodes
                               : (uint32_t)(seed % nodes);
        rows[i] = (struct wire_pair_row){.source = source,
                                         .destination = to == source ? (to + 77) % nodes : to,
                                         .size_class = 1,
                                         .bytes = 1000 + seed % 60000 / (k + 1)};
    }
    free(net->job.pair_rows);
    net->job.pair_rows = rows;
    net->job.pair_count = routes;
}

static double measure(struct desk *d, const char *name, void (*step)(struct desk *, int))
{
    uint64_t all = 0, longest = 0;
    for (int i = 0; i < FRAMES; i++) {
        d->screen.apply_ns = 0;
        step(d, i); /* the making of messages is not the viewer's */
        uint64_t before = offscreen_cpu_ns();
        offscreen_frame(&d->screen);
        uint64_t took = offscreen_cpu_ns() - before + d->screen.apply_ns;
        all += took;
        longest = took > longest ? took : longest;
    }
    double ms = (double)all / FRAMES / 1e6;
    printf("  %-12s %7.0f frames/s   %6.2f ms mean, %6.2f ms longest\n", name, 1e3 / ms, ms,
           (double)longest / 1e6);
    return 1e3 / ms;
}

static void nothing(struct desk *d, int i)
{
    (void)d;
    (void)i;
}

static void pan(struct desk *d, int i)
{
    camera_pan(&d->screen.ui.graph.camera, i % 60 < 30 ? 0.006 : -0.006, 0.001);
}

static void zoom(struct desk *d, int i)
{
    camera_zoom(&d->screen.ui.graph.camera, i % 40 < 20 ? 0.95 : 1 / 0.95, 0.1, 0.1);
}

static void hover(struct desk *d, int i)
{
    d->screen.ui.mouse.x = 300 + i * 6;
    d->screen.ui.mouse.y = 250 + i * 4;
}

static void data(struct desk *d, int i)
{
    if (i % 3 == 0)
        synthetic_network_window(&d->net, offscreen_apply, &d->screen);
}

/* Until it is all at rest. @return CPU milliseconds; first: until something is to be seen */
static double settle(struct desk *d, double *first, double *longest)
{
    uint64_t start = offscreen_cpu_ns();
    *first = *longest = 0;
    do {
        uint64_t before = offscreen_cpu_ns();
        offscreen_frame(&d->screen);
        *longest = fmax(*longest, (double)(offscreen_cpu_ns() - before) / 1e6);
        for (size_t i = 0; !(*first > 0) && i < d->screen.scene.hit_count; i++)
            if (d->screen.scene.hits[i].kind == HIT_PLACE)
                *first = (double)(offscreen_cpu_ns() - start) / 1e6;
    } while (d->screen.pictures.busy);
    return (double)(offscreen_cpu_ns() - start) / 1e6;
}

static double select_links(struct desk *d)
{
    double longest = 0, first, share;
    settle(d, &first, &share); /* a picture of new data in progress is not the selection's */
    for (int i = 0; i < 6; i++) {
        ui_select(&d->screen.ui, (struct selection){SELECT_LINK, (uint64_t)(101 * i + 7), 0});
        longest = fmax(longest, settle(d, &first, &share));
    }
    ui_select(&d->screen.ui, (struct selection){0});
    printf("  selection    %7.1f ms at most until it is drawn\n", longest);
    return longest;
}

static int run(struct desk *d, const char *what, const char *directory)
{
    double first, longest, all = settle(d, &first, &longest);
    printf("%s: %u routes; first picture %.0f ms, at rest %.0f ms, in shares of at most %.1f ms\n",
           what, d->screen.range.flows.route_count, first, all, longest);
    if (directory) {
        offscreen_save(&d->screen, directory, d->screen.ui.graph.chosen ? "bench-a" : "bench-b");
    }
    double least = measure(d, "nothing", nothing);
    least = fmin(least, measure(d, "panning", pan));
    least = fmin(least, measure(d, "zooming", zoom));
    ui_command(&d->screen.ui, d->screen.model, COMMAND_NET_ALL, 0);
    least = fmin(least, measure(d, "hover", hover));
    least = fmin(least, measure(d, "data", data));
    d->screen.ui.mouse.x = d->screen.ui.mouse.y = -1;
    return (least >= 30) & (select_links(d) < d->size->selection_ms) & (first < 1000);
}

int main(int argc, char **argv)
{
    struct desk d = {0};
    struct model *model;
    if (model_create(&model, 512u << 20) < 0)
        return 2;
    offscreen_open(&d.screen, model, 1600, 900, 1, THEME_DARK);
    const int large = argc > 1 && strcmp(argv[1], "large") == 0;
    const char *directory = argc > 1 + large ? argv[1 + large] : NULL;
    d.size = &sizes[large];
    synthetic_network_init(&d.net, d.size->form, 1);
    make_pairs(&d.net, d.size->nodes, d.size->routes);
    synthetic_network_begin(&d.net, offscreen_apply, &d.screen);
    for (int i = 0; i < WINDOWS; i++)
        synthetic_network_window(&d.net, offscreen_apply, &d.screen);
    offscreen_frame(&d.screen);
    d.screen.ui.view = VIEW_NETWORK;
    d.screen.ui.graph.chosen = 1;
    int met = run(&d, d.size->name, directory);
    d.screen.ui.graph.chosen = 0;
    met &= run(&d, "grouped", directory);
    printf("30 frames/s, selection within %.0f ms, first picture within 1 s: %s\n",
           d.size->selection_ms, met ? "met" : "MISSED");
    offscreen_close(&d.screen);
    synthetic_network_finish(&d.net);
    model_destroy(d.screen.model);
    return !met;
}
