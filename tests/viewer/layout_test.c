/* Every view of several jobs at several sizes: no text lies upon another or outside its panel, none
 * is shortened where there is room for all of it, only names and whole clauses of descriptions are
 * left out where there is none, and no panel is large and empty, or empty in its lower half. Prints
 * all that it finds before it fails. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic_commgram.h"
#include "tests/viewer/synthetic_network.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what is found in a scene ---- */

struct findings {
    const struct desk *desk;
    char what[96]; /* view, size, job */
    uint32_t count;
};

__attribute__((format(printf, 2, 3))) static void found(struct findings *f, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_message("%s: %s\n", f->what, text);
    f->count++;
}

static struct box box_both(struct box a, struct box b)
{
    double x = fmax(a.x, b.x), y = fmax(a.y, b.y);
    return (struct box){x, y, fmin(a.x + a.w, b.x + b.w) - x, fmin(a.y + a.h, b.y + b.h) - y};
}

static int box_inside(struct box inner, struct box outer, double slack)
{
    return inner.x >= outer.x - slack && inner.y >= outer.y - slack &&
           inner.x + inner.w <= outer.x + outer.w + slack &&
           inner.y + inner.h <= outer.y + outer.h + slack;
}

/* A box with a side that lines have upside down or not at all. */
static struct box box_upright(struct box b)
{
    return (struct box){fmin(b.x, b.x + b.w), fmin(b.y, b.y + b.h), fabs(b.w), fabs(b.h)};
}

/* Whether an item is the ground that a place stands on: a shape all around it. */
static int is_ground(const struct scene_item *item, struct box place)
{
    return (item->kind == SCENE_RECT || item->kind == SCENE_OUTLINE) &&
           box_inside(place, item->box, 1);
}

/* Whether a place is inside the panel of an item, and nothing but the ground and the item itself
 * is in it: in no panel, as panels can lie over each other. */
static int is_free(const struct scene *s, const struct scene_item *own, struct box place)
{
    const double margin = 6, gap = 8; /* to the edge of the panel, and between two texts */
    struct box inner = s->panels[own->panel].box;
    inner = (struct box){inner.x + margin, inner.y, inner.w - 2 * margin, inner.h};
    if (!box_inside(place, inner, 0))
        return 0;
    place = (struct box){place.x - gap, place.y, place.w + 2 * gap, place.h};
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *item = &s->items[i];
        struct box box = box_both(box_upright(item->box), s->panels[item->panel].box);
        struct box both = box_both(box, place);
        if (item == own || is_ground(item, place) || both.w < 0.5 || both.h < 0)
            continue;
        if (item->kind == SCENE_TEXT && !item->count)
            continue;
        return 0;
    }
    for (size_t p = own->panel + 1u; p < s->panel_count; p++) {
        struct box both = box_both(s->panels[p].box, place);
        if (both.w > 0 && both.h > 0 && !s->panels[p].overlay)
            return 0;
    }
    return 1;
}

/* Where the whole of a shortened text would lie in one line. */
static struct box whole_box(const struct scene *s, const struct scene_item *item)
{
    double w = scene_width(s, item->style, item->flags, scene_whole_text(s, item));
    struct box box = item->slot;
    box.x += item->flags & TEXT_RIGHT ? box.w - w : item->flags & TEXT_CENTRE ? (box.w - w) / 2 : 0;
    box.w = w;
    return box;
}

static int is_figure(const char *text)
{
    return strspn(text, "0123456789.,") > 0 && strlen(text) < 12;
}

/* Whether a description, of which this is the last line, lost whole clauses or words, and no
 * letters of those that are shown. */
static int lost_clauses(const struct scene_item *item, const char *whole, const char *shown)
{
    char kept[400];
    snprintf(kept, sizeof kept, "%.*s", (int)(strlen(shown) - strlen("\xe2\x80\xa6")), shown);
    const char *at = strstr(whole, kept);
    return item->flags & TEXT_CLAUSES && item->count && at != NULL &&
           strchr(",; ", at[strlen(kept)]) != NULL;
}

static void check_shortened(struct findings *f)
{
    const struct scene *s = &f->desk->scene;
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *item = &s->items[i];
        if (!item->whole_count)
            continue;
        const char *whole = scene_whole_text(s, item), *shown = scene_text_of(s, item);
        const char *panel = s->panels[item->panel].name;
        if (is_free(s, item, whole_box(s, item)))
            found(f, "'%s' is shortened to '%s' beside free room in %s", whole, shown, panel);
        else if (is_figure(whole))
            found(f, "the figure '%s' is shortened to '%s' in %s", whole, shown, panel);
        else if (!(item->flags & TEXT_MIDDLE) && !lost_clauses(item, whole, shown))
            found(f, "'%s', which is no name, is shortened to '%s' in %s", whole, shown, panel);
    }
}

static void check_outside(struct findings *f)
{
    const struct scene *s = &f->desk->scene;
    const struct box window = {0, 0, s->w, s->h};
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *item = &s->items[i];
        const struct box panel = s->panels[item->panel].box;
        if (item->kind != SCENE_TEXT || !item->count)
            continue;
        if (!box_inside(item->box, window, 1.01))
            found(f, "'%s' is outside the window", scene_text_of(s, item));
        else if (!box_inside(item->box, panel, 1.01))
            found(f, "'%s' is cut by panel %s", scene_text_of(s, item),
                  s->panels[item->panel].name);
    }
}

static void check_overlaps(struct findings *f)
{
    const struct scene *s = &f->desk->scene;
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *a = &s->items[i];
        for (size_t k = i + 1; a->kind == SCENE_TEXT && k < s->item_count; k++) {
            const struct scene_item *b = &s->items[k];
            if (b->kind != SCENE_TEXT || s->panels[b->panel].overlay != s->panels[a->panel].overlay)
                continue;
            struct box both = box_both(a->box, b->box);
            if (both.w > 1 && both.h > 4)
                found(f, "'%s' lies upon '%s' in %s", scene_text_of(s, a), scene_text_of(s, b),
                      s->panels[a->panel].name);
        }
    }
}

/* The box around all that a panel with a ground of its own shows; and whether a text in its middle
 * says why that is little. */
static struct box box_shown(const struct scene *s, size_t p, int *explained)
{
    const struct box panel = s->panels[p].box;
    double x0 = panel.x + panel.w, x1 = panel.x, y0 = panel.y + panel.h, y1 = panel.y;
    for (size_t i = s->panels[p].first + 1u; i < s->item_count; i++) {
        const struct scene_item *item = &s->items[i];
        struct box box = box_both(box_upright(item->box), s->panels[item->panel].box);
        if (!box_inside(box, panel, 1.01) || (item->kind == SCENE_TEXT && !item->count))
            continue;
        if (item->kind == SCENE_TEXT && item->flags & TEXT_CENTRE && item->style == TEXT_TITLE)
            *explained = 1;
        x0 = fmin(x0, box.x);
        y0 = fmin(y0, box.y);
        x1 = fmax(x1, box.x + box.w);
        y1 = fmax(y1, box.y + box.h);
    }
    return (struct box){x0, y0, fmax(x1 - x0, 0), fmax(y1 - y0, 0)};
}

/* Whether a panel beside another, of the same height, needs most of that. */
static int has_full_neighbour(const struct scene *s, size_t p)
{
    const struct box box = s->panels[p].box;
    int full = 0, explained = 0;
    for (size_t i = 0; i < s->panel_count && !full; i++) {
        const struct box other = s->panels[i].box, shown = box_shown(s, i, &explained);
        full = i != p && fabs(other.y - box.y) < 1 && fabs(other.h - box.h) < 1 &&
               shown.y + shown.h > box.y + box.h * 0.75;
    }
    return full;
}

static void check_empty(struct findings *f)
{
    const struct scene *s = &f->desk->scene;
    for (size_t p = 0; p < s->panel_count; p++) {
        const struct scene_panel *panel = &s->panels[p];
        const struct scene_item *ground = &s->items[panel->first];
        int explained = 0;
        if (panel->overlay || panel->first >= s->item_count || ground->panel != p ||
            ground->kind != SCENE_RECT || !box_inside(panel->box, ground->box, 1))
            continue;
        struct box box = panel->box, shown = box_shown(s, p, &explained);
        double share = (box.w * box.h - shown.w * shown.h) / (s->w * s->h);
        double below = box.y + box.h - (shown.y + shown.h);
        if (share > 1.0 / 3 && !explained)
            found(f, "panel %s leaves %.0f %% of the window empty", panel->name, share * 100);
        else if (below > box.h / 2 && below > 60 && !explained &&
                 (below > s->h / 5 || !has_full_neighbour(s, p)))
            found(f, "panel %s leaves %.0f of its %.0f pixels of height empty", panel->name, below,
                  box.h);
    }
}

static void check_scene(struct findings *f)
{
    check_outside(f);
    check_overlaps(f);
    check_shortened(f);
    check_empty(f);
}

/* ---- the jobs ---- */

/* A job with regions, its third slow from window 40 on when `fault`, with hosts whose names are as
 * long as those of large machines. */
static struct model *job_of(uint32_t ranks, uint32_t regions, int windows, int fault)
{
    const struct synthetic_latency latency = {.regions = regions,
                                              .slow = fault ? 3 : 0,
                                              .onset = (uint64_t)windows / 2,
                                              .recovery = 900,
                                              .rate = 0.4,
                                              .most = 14};
    struct synthetic job;
    struct model *m;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, ranks, ranks > 1024 ? 64 : 16, 26, 1);
    for (uint32_t n = 0; n < job.nodes; n++)
        snprintf(job.names[n], sizeof job.names[n], "nid%05u-hsn0.cluster.local", n % 100000);
    synthetic_begin(&job, desk_apply, m);
    synthetic_regions(&job, &latency, desk_apply, m);
    for (int i = 0; i < windows; i++) {
        synthetic_window(&job, desk_apply, m);
        synthetic_latencies(&job, &latency, desk_apply, m);
    }
    if (fault) {
        synthetic_growth(&job, &latency, 7, "firing", desk_apply, m);
        synthetic_capture(
            &job, &(struct synthetic_capture){.id = 1, .alert = 7, .calls = 40, .messages = 1}, 0,
            desk_apply, m);
        synthetic_hang(&job, 9, 17, desk_apply, m);
        synthetic_late_rank(&job, 11, 5, desk_apply, m);
        synthetic_death(&job, ranks / 3, desk_apply, m);
    }
    synthetic_finish(&job);
    return m;
}

/* A replay of a job on a network, whose file was imported. */
static struct model *imported_job(void)
{
    const struct synthetic_replay place = {
        .state = "playing", .position = 0.4, .indexed = 1, .speed = 10, .marked = 1, .run = 1};
    struct synthetic_network net;
    struct model *m;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_network_init(&net, "torus:4,4,4", 2);
    synthetic_network_begin(&net, desk_apply, m);
    for (int i = 0; i < 30; i++)
        synthetic_network_window(&net, desk_apply, m);
    synthetic_capture(&net.job, &(struct synthetic_capture){.id = 1, .calls = 12, .messages = 1}, 0,
                      desk_apply, m);
    synthetic_replay(&place, 1, desk_apply, m);
    synthetic_network_finish(&net);
    return m;
}

/* The answer to what view commgram asks for. */
static void answer_commgram(struct desk *d, struct model *m)
{
    const struct synthetic_commgram gram = {.ranks = (uint32_t)m->world,
                                            .every = 4,
                                            .begin_ns = SYNTHETIC_FIRST * SYNTHETIC_SECOND,
                                            .phase_ns = SYNTHETIC_SECOND};
    struct commgram_request request;
    if (d->ui.view != VIEW_COMMGRAM || !m->series.count)
        return;
    synthetic_phases(&gram, 1, m->series.count - 1, desk_apply, m);
    if (!ui_commgram_request(&d->ui, m, &request))
        return;
    commgram_asked(&m->commgram, &request);
    synthetic_picture(&gram, &request, desk_apply, m);
    commgram_replied(&m->commgram, 0, NULL);
}

/* ---- the tests ---- */

static const struct {
    double w, h;
} sizes[] = {{1024, 640}, {1600, 900}, {3840, 2160}, {LAYOUT_LEAST_W, LAYOUT_LEAST_H}};

/* A view as it opens; with a selection and an alert picked; with the list of keys over it. */
static uint32_t check_view(struct model *m, const char *job, enum view_id view, size_t size,
                           double scale)
{
    struct desk d;
    struct findings f = {.desk = &d};
    /* themes differ in colours only: each size and scale has one of them */
    enum theme_kind theme = (size + (scale > 1)) % 2 ? THEME_LIGHT : THEME_DARK;
    const char *name = place_names[view].name;
    desk_open(&d, sizes[size].w, sizes[size].h, scale, theme, view);
    answer_commgram(&d, m);
    snprintf(f.what, sizeof f.what, "%s %.0fx%.0f@%.0f %s", name, d.ui.w, d.ui.h, scale, job);
    desk_layout(&d, m);
    check_scene(&f);
    snprintf(f.what, sizeof f.what, "%s %.0fx%.0f@%.0f %s, selected", name, d.ui.w, d.ui.h, scale,
             job);
    ui_pick_alert(&d.ui, m, 7);
    d.ui.selection = (struct selection){SELECT_RANK, 5, 0};
    d.ui.regions.colour = COLOUR_LATENCY;
    desk_layout(&d, m);
    check_scene(&f);
    desk_close(&d);
    return f.count;
}

/* @param scales  2: at twice the pixels for each logical one, too, where fonts are of other widths
 */
static void check_job(struct model *m, const char *job, int scales)
{
    uint32_t count = 0;
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
        for (int v = 0; v < VIEWS; v++)
            for (int scale = 1; scale <= scales; scale++)
                count += check_view(m, job, (enum view_id)v, size, scale);
    model_destroy(m);
    assert_int_equal(count, 0);
}

static void a_calm_job_has_room_for_its_texts(void **state)
{
    (void)state;
    check_job(job_of(64, 4, 60, 0), "calm", 2);
}

static void a_job_with_faults_has_room_for_its_texts(void **state)
{
    (void)state;
    check_job(job_of(128, 8, 60, 1), "fault", 2);
}

static void an_imported_job_has_room_for_its_texts(void **state)
{
    (void)state;
    check_job(imported_job(), "import", 1);
}

static void a_job_of_4096_ranks_has_room_for_its_texts(void **state)
{
    (void)state;
    check_job(job_of(4096, 64, 12, 0), "4096 ranks", 1);
    check_job(job_of(4096, 64, 12, 1), "4096 ranks with faults", 1);
}

/* A job of 2^20 ranks on 16,384 nodes, of whose ranks one a node has rows of its own: the stream of
 * a job that is too large for more. The job that is synthesised has these ranks only. */
enum { MILLION = 1 << 20, MILLION_NODES = 1 << 14, MILLION_PER = MILLION / MILLION_NODES };

static void spread_ranks(struct wire_message *message)
{
    struct wire_rank_row *ranks = (struct wire_rank_row *)message->rank_window.ranks;
    for (uint64_t i = 0; i < message->rank_window.ranks_count; i++) {
        ranks[i].rank *= MILLION_PER;
        ranks[i].awaited = ranks[i].awaited ? (ranks[i].awaited - 1) * MILLION_PER + 1 : 0;
    }
}

static void spread_pairs(struct wire_message *message)
{
    struct wire_pair_row *pairs = (struct wire_pair_row *)message->pair_window.pairs;
    for (uint64_t i = 0; i < message->pair_window.pairs_count; i++) {
        pairs[i].source *= MILLION_PER;
        pairs[i].destination *= MILLION_PER;
    }
}

static void shrink_pairs(struct wire_message *message)
{
    struct wire_pair_row *pairs = (struct wire_pair_row *)message->pair_window.pairs;
    for (uint64_t i = 0; i < message->pair_window.pairs_count; i++) {
        pairs[i].source /= MILLION_PER;
        pairs[i].destination /= MILLION_PER;
    }
}

static void into_million(void *user, const struct wire_message *given, int snapshot)
{
    struct wire_message message = *given;
    struct wire_place_row *places = NULL;
    if (message.type == WIRE_TYPE_JOB) {
        message.job.world = message.job.seen = MILLION;
    } else if (message.type == WIRE_TYPE_PLACES) {
        uint64_t count = message.places.places_count;
        places = malloc(count * sizeof *places);
        assert_non_null(places);
        memcpy(places, message.places.places, count * sizeof *places);
        for (uint64_t i = 0; i < count; i++)
            places[i].rank *= MILLION_PER;
        message.places.places = places;
    } else if (message.type == WIRE_TYPE_RANK_WINDOW) {
        spread_ranks(&message); /* the rows are made again for each window */
    } else if (message.type == WIRE_TYPE_PAIR_WINDOW) {
        spread_pairs(&message);
    } else if (message.type == WIRE_TYPE_CALLER_WINDOW) {
        return;
    }
    model_apply(user, &message, snapshot);
    if (message.type == WIRE_TYPE_PAIR_WINDOW)
        shrink_pairs(&message);
    free(places);
}

static struct model *job_of_a_million_ranks(void)
{
    const struct synthetic_latency latency = {
        .regions = 64, .slow = 3, .onset = 2, .recovery = 900, .rate = 0.4, .most = 14};
    struct synthetic job;
    struct model *m;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, MILLION_NODES, 1, 6, 1);
    for (uint32_t n = 0; n < job.nodes; n++)
        snprintf(job.names[n], sizeof job.names[n], "nid%05u-hsn0.cluster.local", n % 100000);
    synthetic_begin(&job, into_million, m);
    for (int i = 0; i < 4; i++)
        synthetic_window(&job, into_million, m);
    struct synthetic whole = job; /* regions name spans of ranks: of all of them */
    whole.ranks = MILLION;
    whole.per_node = MILLION_PER;
    synthetic_regions(&whole, &latency, desk_apply, m);
    synthetic_growth(&whole, &latency, 7, "firing", desk_apply, m);
    synthetic_finish(&job);
    assert_int_equal(m->rank_count, MILLION);
    assert_int_equal(m->host_count, MILLION_NODES);
    return m;
}

/* What a scene may have: some items for each of the pixels of a line, whatever the number of ranks.
 */
static void check_bounds(struct findings *f)
{
    const struct scene *s = &f->desk->scene;
    size_t most = 8 * (size_t)(s->w + s->h);
    if (s->item_count > most || s->point_count > most || s->hit_count > most)
        found(f, "%zu items, %zu points, %zu hits: more than %zu", s->item_count, s->point_count,
              s->hit_count, most);
}

static void a_job_of_a_million_ranks_has_room_for_its_texts_and_bounded_scenes(void **state)
{
    struct model *m = job_of_a_million_ranks();
    uint32_t count = 0;
    (void)state;
    for (int v = 0; v < VIEWS; v++) {
        struct desk d;
        struct findings f = {.desk = &d};
        desk_open(&d, 1600, 900, 1, THEME_DARK, (enum view_id)v);
        snprintf(f.what, sizeof f.what, "%s 2^20 ranks", place_names[v].name);
        desk_layout(&d, m);
        check_scene(&f);
        check_bounds(&f);
        if (v == VIEW_RANKS)
            assert_non_null(find_text(&d.scene, "of the 16,384 of 1,048,576 ranks"));
        count += f.count;
        desk_close(&d);
    }
    model_destroy(m);
    assert_int_equal(count, 0);
}

/* Texts of the header lie beside each other, and buttons of views neither in it nor on the rail. */
static void check_header(struct findings *f)
{
    const struct scene *s = &f->desk->scene;
    struct box header = {0};
    for (size_t p = 0; p < s->panel_count; p++)
        if (!strcmp(s->panels[p].name, "header"))
            header = s->panels[p].box;
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *a = &s->items[i];
        int own = !strcmp(s->panels[a->panel].name, "header");
        for (size_t k = i + 1; own && k < s->item_count && s->items[k].panel == a->panel; k++) {
            struct box both = box_both(a->box, s->items[k].box);
            if (a->kind == SCENE_TEXT && s->items[k].kind == SCENE_TEXT && both.w > 1 && both.h > 4)
                found(f, "'%s' lies upon '%s'", scene_text_of(s, a),
                      scene_text_of(s, &s->items[k]));
        }
        struct box both = box_both(a->box, header);
        if (!own && a->kind == SCENE_TEXT && both.w > 1 && both.h > 1 && a->count)
            found(f, "'%s' lies upon the header", scene_text_of(s, a));
    }
    for (size_t i = 0; i < s->hit_count; i++)
        if (s->hits[i].kind == HIT_BUTTON && (s->hits[i].box.x < 0 || s->hits[i].box.y < 0))
            found(f, "a button is outside the window at %.0f,%.0f", s->hits[i].box.x,
                  s->hits[i].box.y);
}

static void in_the_smallest_window_header_and_buttons_stay_apart(void **state)
{
    struct model *models[] = {job_of(64, 4, 20, 1), imported_job()};
    uint32_t count = 0;
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        for (int v = 0; v < VIEWS; v++) {
            struct desk d;
            struct findings f = {.desk = &d};
            desk_open(&d, 320, 200, 1, THEME_DARK, (enum view_id)v);
            snprintf(f.what, sizeof f.what, "%s 320x200", place_names[v].name);
            desk_layout(&d, models[m]);
            check_header(&f);
            count += f.count;
            desk_close(&d);
        }
        model_destroy(models[m]);
    }
    assert_int_equal(count, 0);
}

static void tables_and_the_commgram_stay_in_their_panels_in_small_windows(void **state)
{
    static const enum view_id views_of_it[] = {VIEW_PAIRS, VIEW_RANKS, VIEW_CALLS,
                                               VIEW_NODES, VIEW_JOBS,  VIEW_COMMGRAM};
    static const double small[][2] = {{480, 320}, {560, 360}, {640, 400}, {720, 440}};
    struct model *m = job_of(64, 4, 20, 1);
    uint32_t count = 0;
    (void)state;
    for (size_t i = 0; i < 24; i++) {
        enum view_id view = views_of_it[i % 6];
        struct desk d;
        struct findings f = {.desk = &d};
        desk_open(&d, small[i / 6][0], small[i / 6][1], 1, THEME_DARK, view);
        answer_commgram(&d, m);
        snprintf(f.what, sizeof f.what, "%s %.0fx%.0f", place_names[view].name, d.ui.w, d.ui.h);
        desk_layout(&d, m);
        check_outside(&f);
        count += f.count;
        desk_close(&d);
    }
    model_destroy(m);
    assert_int_equal(count, 0);
}

/* Some window managers ignore the smallest size that a window asks for. */
static void a_window_of_any_size_is_laid_out(void **state)
{
    static const double any[][2] = {{1, 1},     {90, 60},   {200, 100},
                                    {318, 400}, {318, 900}, {900, 60}};
    struct model *models[] = {job_of(64, 4, 20, 1), imported_job()};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof any / sizeof *any; i++)
        for (int v = 0; v < VIEWS; v++) {
            struct desk d;
            desk_open(&d, any[i / 2][0], any[i / 2][1], 1, THEME_DARK, (enum view_id)v);
            answer_commgram(&d, models[i % 2]);
            desk_layout(&d, models[i % 2]);
            for (size_t k = 0; k < d.scene.item_count; k++) {
                const struct box box = d.scene.items[k].box;
                assert_true(isfinite(box.x + box.y + box.w + box.h));
            }
            desk_close(&d);
        }
    model_destroy(models[0]);
    model_destroy(models[1]);
}

/* Whether a text, a shortened one or the first line of a paragraph begins as this one does. */
static int shows_begin_of(const struct scene *s, const char *text)
{
    for (size_t i = 0; i < s->item_count; i++) {
        const char *shown = scene_text_of(s, &s->items[i]), *dots = strstr(shown, "\xe2\x80\xa6");
        const size_t length = dots ? (size_t)(dots - shown) : strlen(shown);
        if (length >= 12 && strncmp(text, shown, length) == 0)
            return 1;
    }
    return find_text(s, text) != NULL;
}

static void in_a_narrow_window_the_first_alert_stays_in_sight(void **state)
{
    struct model *m = job_of(64, 4, 20, 1);
    (void)state;
    for (int v = 0; v < VIEWS; v++) {
        struct desk d;
        desk_open(&d, 1024, 640, 1, THEME_DARK, (enum view_id)v);
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "LIVE"));
        const char *title = NULL;
        for (uint32_t i = 0; i < m->alerts.count && !title; i++)
            title = m->alerts.items[i].state == ALERT_FIRING ? m->alerts.items[i].title : NULL;
        assert_non_null(title);
        if (v != VIEW_JOBS)
            assert_true(shows_begin_of(&d.scene, title));
        desk_close(&d);
    }
    model_destroy(m);
}

static void at_three_times_the_pixels_texts_have_room(void **state)
{
    struct model *m = job_of(64, 4, 20, 1);
    uint32_t count = 0;
    (void)state;
    for (int v = 0; v < VIEWS; v++)
        count += check_view(m, "scale 3", (enum view_id)v, 1, 3);
    model_destroy(m);
    assert_int_equal(count, 0);
}

static void the_help_fits_into_the_window(void **state)
{
    struct model *m = job_of(64, 4, 20, 0);
    struct desk d;
    struct findings f = {.desk = &d};
    (void)state;
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
        desk_open(&d, sizes[size].w, sizes[size].h, 1, THEME_DARK, VIEW_LIVE);
        d.ui.overlay.help = 1;
        snprintf(f.what, sizeof f.what, "help %.0fx%.0f", d.ui.w, d.ui.h);
        desk_layout(&d, m);
        check_scene(&f);
        desk_close(&d);
    }
    model_destroy(m);
    assert_int_equal(f.count, 0);
}

static void letters_are_no_larger_than_the_window_has_room_for(void **state)
{
    (void)state;
    assert_float_equal(scene_fitting_scale(2, 1600, 1000), 2, 1e-6);
    assert_float_equal(scene_fitting_scale(3, 1024, 640), 1.28, 1e-6);
    assert_float_equal(scene_fitting_scale(2, 640, 400), 1, 1e-6);
    assert_float_equal(scene_fitting_scale(0.5, 640, 400), 0.5, 1e-6);
}

static void the_whole_of_a_shortened_text_is_its_tooltip(void **state)
{
    struct scene s = {0};
    struct desk d;
    (void)state;
    desk_open(&d, 400, 300, 1, THEME_DARK, VIEW_LIVE);
    scene_begin(&s, 400, 300, 1, d.measure);
    scene_panel(&s, (struct box){0, 0, 400, 300}, 0, "one");
    scene_text(&s, 10, 10, 100, TEXT_BODY, TEXT_MIDDLE, 0xff, "node0001.a-long-name.example.org");
    scene_text(&s, 10, 40, 300, TEXT_BODY, 0, 0xff, "short");
    scene_paragraph(&s, 10, 70, 100, TEXT_BODY, 0xff, 2,
                    "a text of more words than two lines hold");
    assert_string_equal(scene_shortened_at(&s, 50, 18), "node0001.a-long-name.example.org");
    assert_null(scene_shortened_at(&s, 20, 48));
    assert_string_equal(scene_shortened_at(&s, 20, 70 + text_line(TEXT_BODY) + 4),
                        "a text of more words than two lines hold");
    scene_panel(&s, (struct box){0, 0, 400, 30}, 0, "over it");
    assert_null(scene_shortened_at(&s, 50, 18));
    scene_finish(&s);
    desk_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_no_larger_than_the_window_has_room_for),
        cmocka_unit_test(the_whole_of_a_shortened_text_is_its_tooltip),
        cmocka_unit_test(in_the_smallest_window_header_and_buttons_stay_apart),
        cmocka_unit_test(tables_and_the_commgram_stay_in_their_panels_in_small_windows),
        cmocka_unit_test(a_window_of_any_size_is_laid_out),
        cmocka_unit_test(in_a_narrow_window_the_first_alert_stays_in_sight),
        cmocka_unit_test(at_three_times_the_pixels_texts_have_room),
        cmocka_unit_test(the_help_fits_into_the_window),
        cmocka_unit_test(a_calm_job_has_room_for_its_texts),
        cmocka_unit_test(a_job_with_faults_has_room_for_its_texts),
        cmocka_unit_test(an_imported_job_has_room_for_its_texts),
        cmocka_unit_test(a_job_of_a_million_ranks_has_room_for_its_texts_and_bounded_scenes),
        cmocka_unit_test(a_job_of_4096_ranks_has_room_for_its_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
