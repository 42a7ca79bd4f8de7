/* Every view at every size, theme and scale: what the scene holds is inside its panel, and no text
 * lies upon another. With the real fonts where there are any, else with a plain measure. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include "viewer/draw/painter.h"
#include "viewer/draw/type.h"
#include "viewer/layout/format.h"
#include "viewer/places/absence.h"
#include "viewer/ui/ui_input.h"
#include "viewer/views/views.h"

#include "proto/client.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct synthetic_latency growing = {
    .regions = 4, .slow = 3, .onset = 40, .recovery = 900, .rate = 0.1, .most = 2.4};

/* A job whose third region grows slow, with its alert. */
static struct model *slow_job(uint32_t ranks, int windows)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, ranks, 16, 26, 1);
    synthetic_begin(&job, desk_apply, m);
    synthetic_regions(&job, &growing, desk_apply, m);
    for (int i = 0; i < windows; i++) {
        synthetic_window(&job, desk_apply, m);
        synthetic_latencies(&job, &growing, desk_apply, m);
    }
    synthetic_growth(&job, &growing, 7, "firing", desk_apply, m);
    synthetic_finish(&job);
    return m;
}

static struct model *model_of(uint32_t ranks, int windows, int trouble)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, ranks, ranks > 16 ? 16 : 4, 26, 1);
    synthetic_begin(&job, desk_apply, m);
    for (int i = 0; i < windows; i++) {
        if (trouble && i == windows / 2)
            synthetic_skip(&job, 3);
        synthetic_window(&job, desk_apply, m);
    }
    for (uint32_t rank = 0; trouble && rank < 5; rank++)
        synthetic_death(&job, rank, desk_apply, m);
    synthetic_finish(&job);
    return m;
}

/* The first job at all sizes, the others at the smallest and the largest. */
static void every_view_keeps_its_panels(void **state)
{
    static const double sizes[][2] = {
        {800, 500}, {2400, 1400}, {1600, 900}, {1280, 720}, {1024, 640}};
    struct model *models[] = {model_of(128, 90, 1), model_of(8, 30, 0), model_of(4096, 3, 1),
                              slow_job(64, 60)};
    (void)state;
    for (size_t m = 0; m < 4; m++) {
        for (size_t v = 0; v < VIEWS; v++) {
            for (size_t s = 0; s < (m == 0 ? sizeof sizes / sizeof *sizes : 2); s++) {
                /* Themes differ in colours: at each size one of them is as good as both. */
                const enum theme_kind theme = (enum theme_kind)((m + v + s) % THEMES);
                struct desk d;
                char what[64];
                desk_open(&d, sizes[s][0], sizes[s][1], theme ? 2 : 1, theme, (enum view_id)v);
                snprintf(what, sizeof what, "%s %.0fx%.0f theme %d job %zu", place_names[v].name,
                         d.ui.w, d.ui.h, (int)theme, m);
                desk_layout(&d, models[m]);
                desk_check(&d, what);
                d.ui.selection = (struct selection){SELECT_PAIR, 1, 2};
                d.ui.overlay.drawer = 1;
                d.ui.time.range = RANGE_START;
                d.ui.compress = 1;
                d.ui.regions.colour = COLOUR_LATENCY;
                ui_pick_alert(&d.ui, models[m], 7);
                desk_layout(&d, models[m]);
                desk_check(&d, what);
                d.ui.overlay.help = 1;
                desk_layout(&d, models[m]);
                desk_check(&d, what);
                desk_close(&d);
            }
        }
    }
    for (size_t m = 0; m < 4; m++)
        model_destroy(models[m]);
}

static void in_the_smallest_window_strips_of_the_time_are_whole(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    int texts = 0;
    desk_open(&d, 480, 320, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        const struct scene_panel *panel = &d.scene.panels[item->panel];
        if (item->kind != SCENE_TEXT || strncmp(panel->name, "strip.", 6) != 0)
            continue;
        texts++;
        assert_true(item->box.y >= panel->box.y);
        assert_true(item->box.y + item->box.h <= panel->box.y + panel->box.h);
    }
    assert_true(texts > 0);
    desk_close(&d);
    model_destroy(m);
}

static void without_data_every_view_says_so(void **state)
{
    (void)state;
    struct model *m;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    for (int job = 0; job < 2; job++) {
        for (int v = 0; v < VIEWS; v++) {
            struct desk d;
            desk_open(&d, 1024, 640, 1, THEME_DARK, (enum view_id)v);
            desk_layout(&d, m);
            desk_check(&d, place_names[v].name);
            desk_close(&d);
        }
        struct wire_message message = {.type = WIRE_TYPE_JOB};
        message.job = (struct wire_job){
            .job = "1", .state = "running", .app = "a", .mpi = "", .world = 1000000000000};
        desk_apply(m, &message, 0);
    }
    model_destroy(m);
}

static void the_header_shows_the_state_of_job_and_connection(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "LIVE"));
    assert_non_null(find_text(&d.scene, "8 ranks on 2 nodes"));
    assert_non_null(find_text(&d.scene, "s3d-insitu"));
    ui_command(&d.ui, m, COMMAND_PAUSE, 0);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "PAUSED"));
    d.ui.connection.state = CLIENT_LOST;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "DAEMON LOST"));
    assert_non_null(find_text(&d.scene, "what you see is old"));
    desk_close(&d);
    model_destroy(m);
}

/* Whether the title of a column shows that it determines the order. */
static int is_ordered_by(const struct scene *s, uint64_t column)
{
    for (size_t i = 0; i < s->item_count; i++)
        if (s->items[i].kind == SCENE_TEXT && s->items[i].cell == column + 1 &&
            strstr(scene_whole_text(s, &s->items[i]), "\xe2\x86\x93"))
            return 1;
    return 0;
}

static void the_header_of_a_job_of_one_rank_is_about_one(void **state)
{
    (void)state;
    struct model *m = model_of(1, 3, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, " 1 rank on 1 node "));
    desk_close(&d);
    model_destroy(m);
}

static void every_title_that_can_be_clicked_orders_its_list(void **state)
{
    static const enum view_id lists[] = {VIEW_PAIRS, VIEW_RANKS, VIEW_CALLS};
    struct model *m = model_of(64, 5, 0);
    (void)state;
    for (size_t v = 0; v < sizeof lists / sizeof *lists; v++) {
        struct desk d;
        desk_open(&d, 1600, 900, 1, THEME_DARK, lists[v]);
        desk_layout(&d, m);
        for (size_t i = 0; i < d.scene.hit_count; i++) {
            const struct scene_hit hit = d.scene.hits[i];
            if (hit.kind != HIT_SORT)
                continue;
            d.ui.list.sort[hit.a] = -1;
            ui_sort_list(&d.ui, hit.a, hit.b);
            desk_layout(&d, m);
            assert_true(is_ordered_by(&d.scene, hit.b));
        }
        desk_close(&d);
    }
    model_destroy(m);
}

static void many_ranks_are_added_up_and_it_is_said(void **state)
{
    (void)state;
    struct model *m = model_of(4096, 2, 0);
    struct desk d;
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    const char *note = find_text(&d.scene, "Each cell is the sum of");
    assert_non_null(note);
    assert_true(d.pictures.matrix.per_cell > 1);
    assert_true(d.pictures.matrix.image.w * 3 <= 640); /* cells that can be seen */
    assert_true((uint32_t)d.pictures.matrix.image.w <= 4096 / d.pictures.matrix.per_cell + 1);
    desk_close(&d);
    m->folded = 917504; /* in the small matrix of the overview, too */
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "917,504 further pairs are not drawn"));
    desk_close(&d);
    model_destroy(m);
}

/* The bytes of pairs of ranks at one distance. */
static double bytes_apart(const struct model *m, const struct range *r, uint32_t apart)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->pairs.count; i++) {
        const struct model_pair p = model_pair_at(&m->pairs, i);
        if (p.source + apart == p.destination || p.destination + apart == p.source)
            sum += (double)r->pairs.figures[(size_t)i * PAIR_COLUMNS + PAIR_BYTES];
    }
    return sum;
}

static void beside_the_matrix_are_the_distances_that_carry_most(void **state)
{
    (void)state;
    struct model *m = model_of(64, 3, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "share of bytes, in ranks"));
    uint32_t largest = 0;
    double all = 0;
    for (uint32_t apart = 0; apart < 64; apart++) {
        all += bytes_apart(m, &d.range, apart);
        if (bytes_apart(m, &d.range, apart) > bytes_apart(m, &d.range, largest))
            largest = apart;
    }
    char name[32];
    snprintf(name, sizeof name, "%u apart", largest);
    const char *first = find_text(&d.scene, " apart"); /* the first row */
    assert_non_null(first);
    assert_string_equal(first, name);
    assert_non_null(
        find_text(&d.scene, format_share(bytes_apart(m, &d.range, largest) / all).text));
    desk_check(&d, "distances");
    desk_close(&d);
    /* where thousands of distances carry a little each, ranges of them are listed */
    model_destroy(m);
    m = model_of(4096, 2, 0);
    for (uint32_t i = 0; i < m->pairs.keys.count; i++)
        m->pairs.keys.keys[i].lo = (m->pairs.keys.keys[i].lo * 40503u + i) % 4096;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "2,048 to 4,095 apart"));
    assert_null(find_text(&d.scene, "all others"));
    desk_check(&d, "ranges of distances");
    desk_close(&d);
    /* groups in place of ranks */
    m->group = 16;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "in groups of 16 ranks"));
    assert_non_null(find_text(&d.scene, "within a group"));
    desk_close(&d);
    model_destroy(m);
}

static void ranks_at_the_axes_of_the_matrix_are_whole_numbers(void **state)
{
    (void)state;
    struct model *m = model_of(131072, 1, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    for (size_t i = 0; i < d.scene.item_count; i++)
        assert_false(d.scene.items[i].kind == SCENE_TEXT && d.scene.items[i].whole_count &&
                     !strcmp(d.scene.panels[d.scene.items[i].panel].name, "matrix") &&
                     d.scene.items[i].box.w < 60);
    assert_non_null(find_text(&d.scene, "100\xc2\xa0k"));
    desk_close(&d);
    model_destroy(m);
}

static void a_rank_that_died_has_a_card_and_a_flag(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 1);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "rank 4 died"));
    assert_non_null(find_text(&d.scene, "and 2 more alerts"));
    assert_non_null(find_text(&d.scene, "3 windows missing"));
    desk_close(&d);
    model_destroy(m);
}

static void clicking_the_matrix_selects_the_pair_that_is_there(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    const struct scene_hit *area = NULL;
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_MATRIX)
            area = &d.scene.hits[i];
    assert_non_null(area);
    double cell = area->box.w / 8;
    struct input in = {
        .kind = INPUT_PRESS, .x = area->box.x + 2.5 * cell, .y = area->box.y + 5.5 * cell};
    ui_input(&d.ui, m, &d.scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d.ui, m, &d.scene, &in);
    assert_int_equal(d.ui.selection.kind, SELECT_PAIR);
    assert_int_equal(d.ui.selection.a, 5);
    assert_int_equal(d.ui.selection.b, 2);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "rank 5 \xe2\x86\x92 rank 2"));
    desk_close(&d);
    model_destroy(m);
}

static void a_cell_of_the_matrix_is_at_least_a_group_of_ranks(void **state)
{
    (void)state;
    enum { RANKS = 128, GROUP = 16 };
    const struct wire_pair_row pair = {
        .source = GROUP, .destination = 0, .messages = 22, .bytes = 99};
    struct wire_message m[] = {
        {.type = WIRE_TYPE_JOB}, {.type = WIRE_TYPE_TOTALS}, {.type = WIRE_TYPE_PAIR_WINDOW}};
    struct model *model;
    struct desk d;
    m[0].job = (struct wire_job){.job = "1.0", .world = RANKS, .group = GROUP, .window_ns = 1000};
    m[1].totals = (struct wire_totals){
        .job = "1.0", .window = 1, .length_ns = 1000, .sent = 22, .sent_bytes = 99};
    m[2].pair_window = (struct wire_pair_window){
        .job = "1.0", .window = 1, .windows = 1, .pairs = &pair, .pairs_count = 1};
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, model);
    const struct scene_hit *area = NULL;
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_MATRIX)
            area = &d.scene.hits[i];
    assert_non_null(area);
    struct input in = {.kind = INPUT_PRESS,
                       .x = area->box.x + area->box.w * 11 / RANKS,
                       .y = area->box.y + area->box.h * 29 / RANKS};
    d.ui.mouse.x = in.x;
    d.ui.mouse.y = in.y;
    desk_layout(&d, model);
    desk_layout(&d, model);
    assert_non_null(find_text(&d.scene, "ranks 16-31 \xe2\x86\x92 ranks 0-15"));
    assert_non_null(find_text(&d.scene, "22 messages, 99"));
    assert_null(find_text(&d.scene, "click to zoom in"));
    ui_input(&d.ui, model, &d.scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d.ui, model, &d.scene, &in);
    assert_int_equal(d.ui.selection.kind, SELECT_PAIR);
    for (int i = 0; i < 40; i++)
        ui_zoom_matrix(&d.ui, model, 0.5, 0, GROUP);
    desk_layout(&d, model);
    assert_int_equal(d.pictures.matrix.per_cell, GROUP);
    desk_check(&d, "groups in the matrix");
    desk_close(&d);
    model_destroy(model);
}

/* A job of one window with these pairs. */
static struct model *model_of_pairs(const struct wire_pair_row *pairs, uint64_t count)
{
    struct wire_message m[] = {
        {.type = WIRE_TYPE_JOB}, {.type = WIRE_TYPE_TOTALS}, {.type = WIRE_TYPE_PAIR_WINDOW}};
    struct model *model;
    m[0].job = (struct wire_job){.job = "1.0", .world = 8, .window_ns = 1000};
    m[1].totals = (struct wire_totals){
        .job = "1.0", .window = 1, .length_ns = 1000, .sent = 1, .sent_bytes = 8};
    m[2].pair_window = (struct wire_pair_window){
        .job = "1.0", .window = 1, .windows = 1, .pairs = pairs, .pairs_count = count};
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    return model;
}

static void a_job_of_empty_messages_is_shown_by_messages(void **state)
{
    (void)state;
    struct wire_pair_row pair = {.source = 1, .destination = 2, .messages = 40};
    for (pair.bytes = 0; pair.bytes <= 8; pair.bytes += 8) {
        struct model *model = model_of_pairs(&pair, 1);
        struct desk d;
        desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
        desk_layout(&d, model);
        assert_non_null(find_text(&d.scene, pair.bytes == 0 ? "messages, " : "bytes, "));
        desk_close(&d);
        model_destroy(model);
    }
}

static void the_tooltip_of_the_matrix_has_the_figures_of_both_runs(void **state)
{
    (void)state;
    const struct wire_pair_row
        before[] = {{.source = 1, .destination = 2, .messages = 40, .bytes = 400}},
        after[] = {{.source = 1, .destination = 2, .messages = 10, .bytes = 100},
                   {.source = 3, .destination = 2, .messages = 5, .bytes = 50}};
    struct model *m[] = {model_of_pairs(before, 1), model_of_pairs(after, 2)};
    struct other_run other = {.model = m[1], .names = {"a.hrec", "b.hrec"}};
    struct desk d;
    assert_true(other_run_update(&other, m[0], RANGE_START, 0, 0) >= 0);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    d.ui.time.range = RANGE_START;
    d.ui.network.other = &other;
    for (int compare = COMPARE_BEFORE; compare <= COMPARE_DIFFERENCE; compare++) {
        d.ui.network.compare = (enum network_compare)compare;
        for (int source = 1; source <= 3; source += 2) {
            desk_layout(&d, m[0]);
            for (size_t i = 0; i < d.scene.hit_count; i++)
                if (d.scene.hits[i].kind == HIT_MATRIX) {
                    d.ui.mouse.x = d.scene.hits[i].box.x + d.scene.hits[i].box.w * 2.5 / 8;
                    d.ui.mouse.y =
                        d.scene.hits[i].box.y + d.scene.hits[i].box.h * (source + 0.5) / 8;
                }
            desk_layout(&d, m[0]);
            desk_layout(&d, m[0]);
            if (compare == COMPARE_BEFORE) {
                assert_null(find_text(&d.scene, "after 10 messages"));
                continue;
            }
            assert_null(find_text(&d.scene, "no messages in this span of time"));
            assert_non_null(
                find_text(&d.scene, source == 1 ? "before 40 messages, 400" : "before 0 messages"));
            assert_non_null(find_text(&d.scene, source == 1 ? "after 10 messages, 100"
                                                            : "after 5 messages, 50"));
        }
    }
    d.ui.network.other = NULL;
    other_run_finish(&other);
    desk_close(&d);
    model_destroy(m[0]);
    model_destroy(m[1]);
}

static void figures_of_both_runs_are_not_cut(void **state)
{
    (void)state;
    const struct wire_pair_row pair = {.source = 1, .destination = 2, .messages = 1, .bytes = 8};
    struct model *m[] = {model_of_pairs(&pair, 1), model_of_pairs(&pair, 1)};
    struct other_run other = {.model = m[1], .names = {"a.hrec", "b.hrec"}};
    struct desk d;
    int whole = 0;
    assert_true(other_run_update(&other, m[0], RANGE_START, 0, 0) >= 0);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    d.ui.time.range = RANGE_START;
    d.ui.network.other = &other;
    desk_layout(&d, m[0]);
    for (size_t i = 0; i < d.scene.item_count; i++) /* 8 bytes in a microsecond */
        whole += d.scene.items[i].kind == SCENE_TEXT &&
                 !strcmp(scene_text_of(&d.scene, &d.scene.items[i]), "7.63\xc2\xa0MiB/s");
    assert_int_equal(whole, 2);
    assert_non_null(find_text(&d.scene, "half sent after"));
    d.ui.network.other = NULL;
    other_run_finish(&other);
    desk_close(&d);
    model_destroy(m[0]);
    model_destroy(m[1]);
}

/* A cell of several ranks may reach beyond the last one. */
static void tooltips_name_no_rank_that_the_job_does_not_have(void **state)
{
    (void)state;
    enum { RANKS = 1001 };
    static const struct {
        enum view_id view;
        enum hit_kind kind;
    } shown[] = {{VIEW_MATRIX, HIT_MATRIX}, {VIEW_LIVE, HIT_TIME}};
    struct model *m = model_of(RANKS, 3, 0);
    for (size_t v = 0; v < sizeof shown / sizeof *shown; v++) {
        struct desk d;
        struct box last = {0};
        desk_open(&d, 1600, 900, 1, THEME_DARK, shown[v].view);
        desk_layout(&d, m);
        for (size_t i = 0; i < d.scene.hit_count; i++)
            if (d.scene.hits[i].kind == shown[v].kind)
                last = d.scene.hits[i].box; /* of the live view that of single ranks */
        d.ui.mouse.x = last.x + last.w - 0.5;
        d.ui.mouse.y = last.y + last.h - 0.1;
        desk_layout(&d, m);
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "rank 1000"));
        assert_null(find_text(&d.scene, "ranks 1000"));
        desk_check(&d, "the last ranks");
        desk_close(&d);
    }
    model_destroy(m);
}

static const struct scene_hit *find_hit(const struct scene *s, enum hit_kind kind, uint64_t a)
{
    for (size_t i = s->hit_count; i-- > 0;)
        if (s->hits[i].kind == kind && s->hits[i].a == a)
            return &s->hits[i];
    return NULL;
}

static const struct scene_panel *find_panel(const struct scene *s, const char *name)
{
    for (size_t i = 0; i < s->panel_count; i++)
        if (!strcmp(s->panels[i].name, name))
            return &s->panels[i];
    return NULL;
}

static void click_at(struct desk *d, const struct model *m, double x, double y)
{
    struct input in = {.kind = INPUT_PRESS, .x = x, .y = y, .clicks = 1};
    ui_input(&d->ui, m, &d->scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d->ui, m, &d->scene, &in);
}

/* Discs of the panel whose colour is that of a relative latency above twice the reference. */
static uint32_t red_discs(const struct desk *d, const char *panel)
{
    uint32_t n = 0;
    for (size_t i = 0; i < d->scene.item_count; i++) {
        const struct scene_item *item = &d->scene.items[i];
        if (item->kind != SCENE_DISC || strcmp(d->scene.panels[item->panel].name, panel) != 0)
            continue;
        for (double ratio = 2.05; ratio <= 64; ratio += 0.01)
            if (item->color == theme_latency(&d->theme, ratio)) {
                n++;
                break;
            }
    }
    return n;
}

static void latency_stands_under_the_curve(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_panel(&d.scene, "evolution"));
    assert_non_null(find_text(&d.scene, "Latency by region"));
    assert_non_null(find_text(&d.scene, "inter-node"));
    assert_non_null(find_text(&d.scene, "region 3"));
    assert_non_null(find_text(&d.scene, "matched 99.98"));
    assert_non_null(find_text(&d.scene, "clock \xc2\xb1"
                                        "6.4"));
    assert_true(red_discs(&d, "evolution") >= 3);
    /* the slow region comes first, and clicking its row selects it */
    const struct scene_hit *third = find_hit(&d.scene, HIT_REGION, 3),
                           *first = find_hit(&d.scene, HIT_REGION, 1);
    assert_true(third && first && third->box.y < first->box.y);
    click_at(&d, m, third->box.x + third->box.w / 2, third->box.y + 4);
    assert_int_equal(d.ui.selection.kind, SELECT_REGION);
    assert_true(ui_marks_rank(&d.ui, m, 32) && ui_marks_rank(&d.ui, m, 47));
    assert_false(ui_marks_rank(&d.ui, m, 31) || ui_marks_rank(&d.ui, m, 48));
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "s \xc2\xb1 600\xc2\xa0ns"));
    d.ui.selection = (struct selection){.kind = SELECT_RANK, .a = 40};
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "x \xc2\xb1 0.3x the reference"));
    desk_close(&d);
    model_destroy(m);
}

/* First text item of a scene that holds a part. The test fails where there is none. */
static const struct scene_item *find_text_item(const struct scene *s, const char *part)
{
    for (size_t i = 0; i < s->item_count; i++)
        if (strstr(scene_text_of(s, &s->items[i]), part))
            return &s->items[i];
    fail_msg("no text has \"%s\"", part);
    return NULL;
}

static void what_marks_of_latency_mean_stands_below_their_title(void **state)
{
    (void)state;
    static const double widths[] = {1600, 1024, 800};
    struct model *m = slow_job(64, 60);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct desk d;
        desk_open(&d, widths[i], 900, 1, THEME_DARK, VIEW_LIVE);
        desk_layout(&d, m);
        const struct scene_item *title = find_text_item(&d.scene, "size: time lost");
        const double foot = title->box.y + title->box.h;
        assert_int_equal(title->whole_count, 0);
        assert_true(find_text_item(&d.scene, "growth")->box.y >= foot);
        assert_true(find_text_item(&d.scene, "high")->box.y >= foot);
        assert_true(find_text_item(&d.scene, "64x")->box.y >= foot);
        desk_check(&d, "legend of latency");
        desk_close(&d);
    }
    model_destroy(m);
}

static void the_drawer_covers_all_of_the_view(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_LIVE);
    d.ui.overlay.drawer = 1;
    desk_layout(&d, m);
    const struct scene_panel *drawer = find_panel(&d.scene, "context"),
                             *view = find_panel(&d.scene, "view.live");
    assert_true(drawer && view);
    assert_true(drawer->box.y + drawer->box.h >= view->box.y + view->box.h);
    for (size_t i = 0; i < d.scene.item_count; i++) /* lines do not break before it */
        assert_true(scene_text_of(&d.scene, &d.scene.items[i])[0] != '%');
    desk_close(&d);
    model_destroy(m);
}

static void a_job_that_is_well_has_no_red(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 39);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_int_equal(red_discs(&d, "evolution"), 0);
    desk_close(&d);
    model_destroy(m);
}

/* The discs of the row of a region in the strip. @return their number */
static size_t row_discs(const struct desk *d, uint64_t region, const struct scene_item **out,
                        size_t room)
{
    const struct scene_hit *row = find_hit(&d->scene, HIT_REGION, region);
    size_t n = 0;
    assert_non_null(row);
    for (size_t i = 0; i < d->scene.item_count && n < room; i++) {
        const struct scene_item *item = &d->scene.items[i];
        double y = item->box.y + item->box.h / 2;
        if (item->kind == SCENE_DISC && y > row->box.y && y < row->box.y + row->box.h &&
            !strcmp(d->scene.panels[item->panel].name, "evolution"))
            out[n++] = item;
    }
    return n;
}

static void the_worst_window_is_the_largest_circle(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    const struct scene_item *discs[200];
    struct latency_series *third =
        &m->latency.series[latency_find(&m->latency, SERIES_REGION, 3) - m->latency.series];
    struct latency_point *worst = &third->points[third->count - 5];
    /* all slow at once: few messages, which take the longest */
    worst->messages /= 4;
    worst->delayed = worst->messages;
    worst->typical = worst->reference = worst->highest = 14;
    worst->part_ns[LATENCY_NETWORK] *= 4;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    size_t n = row_discs(&d, 3, discs, 200), largest = 0, reddest = n;
    for (size_t i = 0; i < n; i++) {
        largest = discs[i]->box.w > discs[largest]->box.w ? i : largest;
        reddest = discs[i]->color == theme_latency(&d.theme, 14) ? i : reddest;
    }
    assert_true(n > 20 && reddest < n);
    assert_int_equal(largest, reddest);
    desk_close(&d);
    model_destroy(m);
}

/* Also where the newest circle stands for windows that are still to come. */
static void the_newest_latency_is_the_same_in_a_window_of_any_width(void **state)
{
    (void)state;
    for (int windows = 60; windows < 70; windows++) {
        struct model *m = slow_job(64, windows);
        struct desk d;
        struct latency_series *third =
            &m->latency.series[latency_find(&m->latency, SERIES_REGION, 3) - m->latency.series];
        third->points[third->count - 1].typical = 9.4;
        for (double w = 900; w <= 2560; w += 830) {
            desk_open(&d, w, 900, 1, THEME_DARK, VIEW_LIVE);
            desk_layout(&d, m);
            assert_non_null(find_text(&d.scene, "9.4x"));
            desk_close(&d);
        }
        model_destroy(m);
    }
}

static int texts_that_are(const struct scene *scene, const char *text)
{
    int n = 0;
    for (size_t i = 0; i < scene->item_count; i++)
        n += scene->items[i].kind == SCENE_TEXT &&
             !strcmp(scene_text_of(scene, &scene->items[i]), text);
    return n;
}

static void a_window_below_the_reference_is_not_called_high(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 39);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    const int before = texts_that_are(&d.scene, "high"); /* the legend */
    struct latency_point *newest = &m->latency.series[0].points[m->latency.series[0].count - 1];
    newest->trend = TREND_STEADY;
    newest->typical = 2.8;
    d.pictures.evolution.key = 0;
    desk_layout(&d, m);
    assert_int_equal(texts_that_are(&d.scene, "high"), before + 1);
    newest->typical = 0.6;
    d.pictures.evolution.key = 0;
    desk_layout(&d, m);
    assert_int_equal(texts_that_are(&d.scene, "high"), before);
    desk_close(&d);
    model_destroy(m);
}

static void a_series_that_is_judged_calm_has_no_red(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 39);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    for (uint32_t i = 0; i < m->latency.series_count; i++)
        for (uint32_t k = 0; k < m->latency.series[i].count; k++)
            m->latency.series[i].points[k].typical = 2.8;
    desk_layout(&d, m);
    assert_int_equal(red_discs(&d, "evolution"), 0);
    assert_non_null(find_text(&d.scene, "2.8x")); /* the figure is shown */
    m->latency.series[0].points[m->latency.series[0].count - 1].trend = TREND_STEADY;
    d.pictures.evolution.key = 0;
    desk_layout(&d, m);
    assert_int_equal(red_discs(&d, "evolution"), 1);
    desk_close(&d);
    model_destroy(m);
}

static void calm_time_is_compressed_to_three_circles(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 200);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_true(d.pictures.evolution.segment_count == 2);
    assert_true(d.pictures.evolution.segments[0].calm);
    assert_int_equal(d.pictures.evolution.segments[0].last, SYNTHETIC_FIRST + 39);
    assert_false(d.pictures.evolution.segments[1].calm);
    struct input c = {.kind = INPUT_TEXT, .text = "c"};
    ui_input(&d.ui, m, &d.scene, &c);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "40\xc2\xa0s")); /* what was compressed is said */
    const struct scene_panel *panel = find_panel(&d.scene, "evolution");
    assert_non_null(panel);
    desk_close(&d);
    model_destroy(m);
}

static void regions_that_do_not_fit_are_said_and_reached(void **state)
{
    (void)state;
    struct synthetic_latency many = growing;
    struct synthetic job;
    struct model *m;
    many.regions = 32;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    synthetic_init(&job, 64, 16, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    synthetic_regions(&job, &many, desk_apply, m);
    for (int i = 0; i < 20; i++) {
        synthetic_window(&job, desk_apply, m);
        synthetic_latencies(&job, &many, desk_apply, m);
    }
    struct desk d;
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, " of 32 regions"));
    assert_null(find_hit(&d.scene, HIT_REGION, 32));
    struct input down = {.kind = INPUT_KEY, .key = KEY_PAGE_DOWN};
    for (int i = 0; i < 3; i++) {
        ui_input(&d.ui, m, &d.scene, &down);
        desk_layout(&d, m);
        ui_settle(&d.ui, m, &d.scene);
    }
    desk_layout(&d, m);
    assert_int_equal(d.ui.selection.kind, SELECT_REGION);
    assert_non_null(find_hit(&d.scene, HIT_REGION, d.ui.selection.a));
    synthetic_finish(&job);
    desk_close(&d);
    model_destroy(m);
}

static void a_title_in_the_list_of_alerts_has_two_lines_and_ends_at_a_word(void **state)
{
    (void)state;
    static const char title[] = "messages between node3 and node7 take 5.1x as long as those "
                                "between all other nodes of the job and of its neighbours took "
                                "before";
    struct model *m = slow_job(64, 60);
    struct desk d;
    size_t at = 0;
    int lines = 0, ends = 0;
    snprintf(m->alerts.items[0].title, sizeof m->alerts.items[0].title, "%s", title);
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_ALERTS);
    desk_layout(&d, m);
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const char *panel = d.scene.panels[d.scene.items[i].panel].name;
        if (d.scene.items[i].kind != SCENE_TEXT || strcmp(panel, "alerts") != 0)
            continue;
        const char *text = scene_text_of(&d.scene, &d.scene.items[i]);
        const char *dots = strstr(text, "\xe2\x80\xa6");
        const size_t length = dots ? (size_t)(dots - text) : strlen(text);
        if (length < 8 || strncmp(title + at, text, length) != 0)
            continue;
        at += length;
        assert_int_equal(title[at], ' ');
        at++;
        lines++;
        ends += dots && dots[3] == 0; /* the end is left out, not the middle */
    }
    assert_int_equal(lines, 2);
    assert_int_equal(ends, 1);
    desk_close(&d);
    model_destroy(m);
}

static void the_evidence_says_each_thing_once(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct alert *a = &m->alerts.items[0];
    struct desk d;
    snprintf(a->title, sizeof a->title, "node3: messages take 5.1x as long since %s",
             format_clock((int64_t)a->onset_ns, 0).text);
    snprintf(a->text, sizeof a->text, "network 71 %%: %s", a->causes[0].text);
    snprintf(a->culprit, sizeof a->culprit, "node");
    snprintf(a->culprits, sizeof a->culprits, "node3");
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_ALERTS);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "network time 2.9x its reference"));
    assert_null(find_text(&d.scene, "network 71"));
    for (size_t i = 0; i < d.scene.item_count; i++)
        if (d.scene.items[i].kind == SCENE_TEXT)
            assert_true(strncmp(scene_text_of(&d.scene, &d.scene.items[i]), "since ", 6) != 0);
    d.ui.view = VIEW_OVERVIEW;
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "node node3"));
    d.ui.overlay.searching = 1;
    snprintf(d.ui.overlay.search, sizeof d.ui.overlay.search, "node");
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "node001, "));
    assert_null(find_text(&d.scene, "node node"));
    desk_close(&d);
    model_destroy(m);
}

static void a_window_without_room_for_evidence_says_where(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 640, 400, 1, THEME_DARK, VIEW_ALERTS);
    desk_layout(&d, m);
    int shown = 0;
    for (size_t i = 0; i < d.scene.item_count; i++)
        shown |= !strcmp(d.scene.panels[d.scene.items[i].panel].name, "alerts.evidence") &&
                 d.scene.items[i].kind == SCENE_TEXT &&
                 strstr(scene_text_of(&d.scene, &d.scene.items[i]), "region 3") != NULL;
    assert_true(shown);
    desk_close(&d);
    model_destroy(m);
}

static void an_alert_shows_its_evidence_and_leads_to_its_onset(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 200);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "Latency growing in region 3"));
    assert_non_null(find_text(&d.scene, "the reference"));
    assert_non_null(find_text(&d.scene, "late sender"));
    assert_non_null(find_text(&d.scene, "71\xc2\xa0%"));
    assert_non_null(find_text(&d.scene, "Wait or move"));
    assert_non_null(find_text(&d.scene, "hot links on their routes: (3,1,0)"));
    const struct scene_hit *card = find_hit(&d.scene, HIT_ALERT, 7);
    assert_non_null(card);
    click_at(&d, m, card->box.x + 20, card->box.y + 8);
    assert_int_equal(d.ui.selection.kind, SELECT_REGION);
    assert_int_equal(d.ui.selection.a, 3);
    int64_t begin, end, onset = (int64_t)((SYNTHETIC_FIRST + 40) * SYNTHETIC_SECOND);
    ui_visible(&d.ui, m, &begin, &end);
    assert_true(begin <= onset && onset < end);
    desk_layout(&d, m); /* its flag is in sight now, on the curve */
    const struct scene_hit *flag = NULL;
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_ALERT && d.scene.hits[i].box.x < 1200)
            flag = &d.scene.hits[i];
    assert_non_null(flag);
    d.ui.view = VIEW_ALERTS;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "1 firing, 0 pending, 0 resolved"));
    assert_non_null(find_text(&d.scene, "network time 2.9x its reference"));
    desk_close(&d);
    model_destroy(m);
}

static void what_an_alert_costs_is_not_cut(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 200);
    struct desk d;
    m->alerts.items[0].progress = 1;
    m->alerts.items[0].lost_ns = 210000000;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    const struct scene_hit *card = find_hit(&d.scene, HIT_ALERT, 7);
    int whole = 0;
    assert_non_null(card);
    for (size_t i = 0; i < d.scene.item_count; i++)
        whole |= d.scene.items[i].kind == SCENE_TEXT && d.scene.items[i].box.x > card->box.x &&
                 strstr(scene_text_of(&d.scene, &d.scene.items[i]), "lost") != NULL;
    assert_true(whole);
    desk_close(&d);
    model_destroy(m);
}

static void a_hang_is_named(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct synthetic job;
    struct desk d;
    synthetic_init(&job, 64, 16, 26, 1);
    job.window = SYNTHETIC_FIRST + 60;
    synthetic_hang(&job, 9, 17, desk_apply, m);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "rank 17 has not arrived"));
    assert_non_null(find_text(&d.scene, "63 of 64 ranks wait in MPI_Allreduce"));
    ui_pick_alert(&d.ui, m, 9);
    assert_true(ui_rank_selected(&d.ui, 17));
    synthetic_finish(&job);
    desk_close(&d);
    model_destroy(m);
}

static void ranks_that_wait_are_shown_with_the_rank_that_they_wait_for(void **state)
{
    static const int lists[] = {VIEW_LIVE, VIEW_RANKS};
    (void)state;
    struct model *m = slow_job(64, 20);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct desk d;
        desk_open(&d, 1600, 900, 1, THEME_DARK, lists[i]);
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "Waiting the most"));
        assert_non_null(find_text(&d.scene, ", for rank "));
        desk_close(&d);
    }
    model_destroy(m);
}

/* Links of one node are spokes of its memory; who waits for whom says more. */
static void on_one_node_pairs_are_listed_by_delay(void **state)
{
    static const uint32_t per_node[] = {8, 4};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct synthetic job;
        struct model *m;
        struct desk d;
        assert_int_equal(model_create(&m, 64u << 20), 0);
        synthetic_init(&job, 8, per_node[i], 6, 1);
        synthetic_begin(&job, desk_apply, m);
        for (int w = 0; w < 20; w++)
            synthetic_window(&job, desk_apply, m);
        desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
        desk_layout(&d, m);
        assert_int_equal(find_text(&d.scene, "Pairs by delay") != NULL, m->host_count == 1);
        assert_int_equal(find_text(&d.scene, " waits for 5") != NULL, m->host_count == 1);
        d.ui.view = VIEW_LINKS; /* there the whole list, and the latency of both */
        desk_layout(&d, m);
        assert_int_equal(find_text(&d.scene, "one node: its links") != NULL, m->host_count == 1);
        assert_int_equal(find_text(&d.scene, "of the other") != NULL, m->host_count == 1);
        assert_int_equal(m->host_count, 8 / per_node[i]);
        desk_check(&d, "pairs by delay");
        desk_close(&d);
        synthetic_finish(&job);
        model_destroy(m);
    }
}

static uint32_t ranks_drawn(const struct scene *s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->hit_count; i++)
        n += s->hits[i].kind == HIT_RANK && s->hits[i].box.x < 1250;
    return n;
}

static void the_graph_shows_every_rank_of_a_small_job(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    desk_layout(&d, m);
    assert_int_equal(ranks_drawn(&d.scene), 64);
    assert_int_equal(red_discs(&d, "regions.plot"), 0); /* coloured by region */
    assert_non_null(find_text(&d.scene, "region 2"));
    assert_non_null(find_text(&d.scene, "4 groups of ranks"));
    struct input l = {.kind = INPUT_TEXT, .text = "l"};
    ui_input(&d.ui, m, &d.scene, &l);
    ui_pan_time(&d.ui, m, 0);
    d.ui.time.span_ns = 6 * (int64_t)SYNTHETIC_SECOND; /* only the slow time is in sight */
    desk_layout(&d, m);
    assert_true(red_discs(&d, "regions.plot") >= 8);
    const struct scene_hit *hit = find_hit(&d.scene, HIT_RANK, 40);
    click_at(&d, m, hit->box.x + hit->box.w / 2, hit->box.y + hit->box.h / 2);
    assert_true(ui_rank_selected(&d.ui, 40));
    /* idle: nothing is left to do, and the same scene comes out */
    desk_layout(&d, m);
    assert_int_equal(d.pictures.busy, 0);
    desk_close(&d);
    model_destroy(m);
}

/* Items of a kind in the graph, of a colour; 0: of any. */
static int graph_items(const struct desk *d, enum scene_kind kind, color_t color)
{
    int n = 0;
    for (size_t i = 0; i < d->scene.item_count; i++)
        n += d->scene.items[i].kind == kind && (!color || d->scene.items[i].color == color) &&
             !strcmp(d->scene.panels[d->scene.items[i].panel].name, "regions.plot");
    return n;
}

static void ranks_and_nodes_are_named_and_what_an_alert_names_is_ringed(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60); /* four regions, each on its node */
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    desk_layout(&d, m);
    desk_check(&d, "marks");
    assert_int_equal(graph_items(&d, SCENE_POLYGON, 0), 4);         /* hulls */
    assert_int_equal(graph_items(&d, SCENE_DISC, d.theme.bad), 16); /* the slow region */
    assert_int_equal(graph_items(&d, SCENE_DISC, d.theme.warn), 0);
    assert_non_null(find_text(&d.scene, "Red ring: what alert 7 names"));
    assert_non_null(find_text(&d.scene, "40"));
    snprintf(m->alerts.items[0].victims, sizeof m->alerts.items[0].victims, "0-3,8");
    d.ui.regions.camera.zoom = 3; /* more room, more names */
    desk_layout(&d, m);
    desk_check(&d, "zoomed");
    snprintf(m->alerts.items[0].victims, sizeof m->alerts.items[0].victims, "no list");
    d.ui.regions.camera.zoom = 1;
    d.ui.regions.colour = COLOUR_LATENCY;
    desk_layout(&d, m);
    assert_int_equal(graph_items(&d, SCENE_DISC, d.theme.warn), 0);
    assert_non_null(find_text(&d.scene, "64x"));
    snprintf(m->alerts.items[0].victims, sizeof m->alerts.items[0].victims, "0-3,8");
    desk_layout(&d, m);
    assert_int_equal(graph_items(&d, SCENE_DISC, d.theme.warn), 5);
    desk_close(&d);
    model_destroy(m);
}

static void latency_beyond_four_goes_on_to_other_colours(void **state)
{
    (void)state;
    static struct theme t;
    theme_init(&t, THEME_DARK);
    assert_int_equal(theme_latency(&t, THEME_LATENCY_LEAST), t.latency[0]);
    assert_int_not_equal(theme_latency(&t, 30), theme_latency(&t, 4));
    assert_int_not_equal(theme_latency(&t, 30), theme_latency(&t, 60));
    assert_int_equal(theme_latency(&t, THEME_LATENCY_MOST), t.latency[255]);
    assert_int_equal(theme_latency(&t, 1e300), t.latency[255]);
    assert_int_equal(theme_latency(&t, 0), t.latency[0]);
}

static void a_death_in_a_group_of_ranks_is_shown_at_the_group(void **state)
{
    (void)state;
    struct model *m;
    struct synthetic job;
    struct desk d;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, 16, 4, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    for (int i = 0; i < 3; i++)
        synthetic_window(&job, desk_apply, m);
    synthetic_death(&job, 6, desk_apply, m);
    m->group = 4;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_RANKS);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "4: 1 died"));
    assert_null(find_text(&d.scene, "8: "));
    ui_select(&d.ui, (struct selection){SELECT_RANK, 4, 0});
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "1 of them died"));
    ui_select(&d.ui, (struct selection){SELECT_RANK, 8, 0});
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "of them died"));
    synthetic_finish(&job);
    desk_close(&d);
    model_destroy(m);
}

static void a_row_of_the_heat_map_is_at_least_a_group_of_ranks(void **state)
{
    (void)state;
    const struct wire_rank_row ranks[] = {{.rank = 0, .wait_ns = 2400, .ranks = 4},
                                          {.rank = 4, .wait_ns = 2400, .ranks = 4}};
    struct wire_message m[] = {
        {.type = WIRE_TYPE_JOB}, {.type = WIRE_TYPE_TOTALS}, {.type = WIRE_TYPE_RANK_WINDOW}};
    struct model *model;
    struct desk d;
    m[0].job = (struct wire_job){.job = "1.0", .world = 8, .group = 4, .window_ns = 1000};
    m[1].totals =
        (struct wire_totals){.job = "1.0", .window = 1, .length_ns = 1000, .wait_ns = 4800};
    m[2].rank_window = (struct wire_rank_window){.job = "1.0",
                                                 .window = 1,
                                                 .length_ns = 1000,
                                                 .windows = 1,
                                                 .ranks = ranks,
                                                 .ranks_count = 2};
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, model);
    assert_int_equal(d.pictures.heat.image.h, 2); /* no empty rows for the others of a group */
    assert_non_null(find_text(&d.scene, "each row the mean of 4 ranks"));
    desk_close(&d);
    model_destroy(model);
}

/* A search, an alert or a capture may select it. */
static void a_rank_within_a_group_has_the_figures_of_its_group(void **state)
{
    (void)state;
    static const enum view_id shown[] = {VIEW_RANKS, VIEW_PAIRS, VIEW_MATRIX};
    struct wire_rank_row ranks[2] = {{.rank = 0, .sent = 11}, {.rank = 8, .sent = 22}};
    const struct wire_pair_row pair = {.source = 8, .destination = 0, .messages = 22, .bytes = 99};
    struct wire_message m[] = {{.type = WIRE_TYPE_JOB},
                               {.type = WIRE_TYPE_TOTALS},
                               {.type = WIRE_TYPE_RANK_WINDOW},
                               {.type = WIRE_TYPE_PAIR_WINDOW}};
    struct model *model;
    m[0].job = (struct wire_job){.job = "1.0", .world = 16, .group = 8, .window_ns = 1000};
    m[1].totals = (struct wire_totals){
        .job = "1.0", .window = 1, .length_ns = 1000, .sent = 33, .sent_bytes = 99, .send_ns = 9};
    m[2].rank_window = (struct wire_rank_window){
        .job = "1.0", .window = 1, .length_ns = 1000, .windows = 1, .ranks = ranks};
    m[2].rank_window.ranks_count = 2;
    m[3].pair_window = (struct wire_pair_window){
        .job = "1.0", .window = 1, .windows = 1, .pairs = &pair, .pairs_count = 1};
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    for (size_t v = 0; v < sizeof shown / sizeof *shown; v++) {
        struct desk d;
        desk_open(&d, 1600, 900, 1, THEME_DARK, shown[v]);
        desk_layout(&d, model);
        ui_select(&d.ui, (struct selection){SELECT_RANK, 5, 0});
        desk_layout(&d, model);
        assert_non_null(find_text(&d.scene, "11, "));
        assert_non_null(find_text(&d.scene, "from ranks 8-15"));
        assert_null(find_text(&d.scene, "0 of ranks"));
        assert_null(find_text(&d.scene, "No messages between ranks"));
        desk_close(&d);
    }
    model_destroy(model);
}

static void the_mean_waiting_of_a_node_is_that_of_the_ranks_with_figures(void **state)
{
    (void)state;
    const struct wire_rank_row ranks[] = {{.rank = 0, .wait_ns = 2400, .ranks = 4},
                                          {.rank = 4, .wait_ns = 2400, .ranks = 4}};
    const struct wire_host_row host = {.name = "node1"};
    struct wire_place_row places[8] = {{0}};
    struct wire_message m[] = {{.type = WIRE_TYPE_JOB},
                               {.type = WIRE_TYPE_PLACES},
                               {.type = WIRE_TYPE_TOTALS},
                               {.type = WIRE_TYPE_RANK_WINDOW}};
    struct model *model;
    struct desk d;
    for (uint64_t rank = 0; rank < 8; rank++)
        places[rank].rank = rank;
    m[0].job = (struct wire_job){.job = "1.0", .world = 8, .group = 4, .window_ns = 1000};
    m[1].places = (struct wire_places){
        .job = "1.0", .hosts = &host, .hosts_count = 1, .places = places, .places_count = 8};
    m[2].totals =
        (struct wire_totals){.job = "1.0", .window = 1, .length_ns = 1000, .wait_ns = 4800};
    m[3].rank_window = (struct wire_rank_window){.job = "1.0",
                                                 .window = 1,
                                                 .length_ns = 1000,
                                                 .windows = 1,
                                                 .ranks = ranks,
                                                 .ranks_count = 2};
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_NODES);
    ui_select(&d.ui, (struct selection){SELECT_NODE, 0, 0});
    desk_layout(&d, model);
    assert_non_null(find_text(&d.scene, "waiting, mean"));
    assert_non_null(find_text(&d.scene, "60.0"));
    assert_null(find_text(&d.scene, "15.0"));
    desk_close(&d);
    model_destroy(model);
}

/* Of 2,000 ranks by groups of 6, the last one of 2, with figures of the first rank of each. */
static void a_bar_of_the_profile_is_of_whole_groups(void **state)
{
    (void)state;
    enum { RANKS = 2000, GROUP = 6, ROWS = (RANKS + GROUP - 1) / GROUP };
    static struct wire_rank_row rows[ROWS];
    struct wire_message m[] = {
        {.type = WIRE_TYPE_JOB}, {.type = WIRE_TYPE_TOTALS}, {.type = WIRE_TYPE_RANK_WINDOW}};
    struct model *model;
    for (uint64_t i = 0; i < ROWS; i++)
        rows[i] = (struct wire_rank_row){.rank = i * GROUP, .wait_ns = 2400, .ranks = GROUP};
    m[0].job = (struct wire_job){.job = "1.0", .world = RANKS, .group = GROUP, .window_ns = 1000};
    m[1].totals =
        (struct wire_totals){.job = "1.0", .window = 1, .length_ns = 1000, .wait_ns = 4800};
    m[2].rank_window = (struct wire_rank_window){
        .job = "1.0", .window = 1, .length_ns = 1000, .ranks = rows, .ranks_count = ROWS};
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    for (int wide = 0; wide < 2; wide++) {
        struct desk d;
        desk_open(&d, wide ? 1600 : 800, 900, 1, THEME_DARK, VIEW_RANKS);
        desk_layout(&d, model);
        const struct rank_profile *p = &d.pictures.profile;
        const uint64_t bars = p->key - 1 - d.range.version * MODEL_RANKS;
        assert_true(wide ? bars == ROWS : bars == (ROWS + 1) / 2);
        for (uint64_t bar = 0; bar < bars; bar++)
            assert_true(p->bars[bar * MODEL_CLASSES] >= 0); /* not NaN */
        for (size_t i = 0; i < d.scene.panel_count; i++) {
            const struct box box = d.scene.panels[i].box;
            if (strcmp(d.scene.panels[i].name, "ranks.profile") != 0)
                continue;
            d.ui.mouse.x = box.x + box.w - 18.5; /* on the last bar */
            d.ui.mouse.y = box.y + box.h / 2;
        }
        desk_layout(&d, model);
        assert_non_null(find_text(&d.scene, wide ? "ranks 1998-1999, the first on" : "1999"));
        desk_close(&d);
    }
    model_destroy(model);
}

static void the_tooltip_of_a_cell_of_several_nodes_names_the_one_that_is_marked(void **state)
{
    (void)state;
    enum { NODES = 9000 };
    static struct wire_host_row hosts[NODES];
    static struct wire_place_row places[NODES];
    static char names[NODES][12];
    struct wire_message m[] = {{.type = WIRE_TYPE_JOB},
                               {.type = WIRE_TYPE_TOTALS},
                               {.type = WIRE_TYPE_PLACES},
                               {.type = WIRE_TYPE_ALERT}};
    struct model *model;
    struct desk d;
    for (uint64_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%u", (unsigned)i);
        hosts[i].name = names[i];
        places[i].rank = places[i].node = i;
    }
    m[0].job = (struct wire_job){.job = "1.0", .state = "running", .world = NODES};
    m[0].job.window_ns = 1000;
    m[1].totals = (struct wire_totals){.job = "1.0", .window = 1, .length_ns = 1000};
    m[2].places = (struct wire_places){.job = "1.0",
                                       .hosts = hosts,
                                       .hosts_count = NODES,
                                       .places = places,
                                       .places_count = NODES};
    m[3].alert = (struct wire_alert){
        .job = "1.0", .id = 1, .kind = "slow", .state = "firing", .severity = "critical"};
    m[3].alert.title = "slow";
    m[3].alert.culprit = "node";
    m[3].alert.culprits = "n4501";
    m[3].alert.rank = -1;
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, model);
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        if (item->kind != SCENE_RECT || item->color != d.theme.bad || item->box.w > 8 ||
            fabs(item->box.w - item->box.h) > 0.1)
            continue;
        d.ui.mouse.x = item->box.x + item->box.w / 2;
        d.ui.mouse.y = item->box.y + item->box.h / 2;
    }
    desk_layout(&d, model);
    assert_non_null(find_text(&d.scene, "nodes, among them n4"));
    assert_non_null(find_text(&d.scene, "marked: n4501"));
    desk_close(&d);
    model_destroy(model);
}

static void many_ranks_are_discs_that_open(void **state)
{
    (void)state;
    struct model *m = slow_job(4096, 8);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "4,096 ranks as 256 discs"));
    assert_int_equal(ranks_drawn(&d.scene), 0);
    const struct scene_hit *disc = NULL;
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_BUTTON && d.scene.hits[i].a == COMMAND_GRAPH_OPEN &&
            d.scene.hits[i].b == 2)
            disc = &d.scene.hits[i];
    assert_non_null(disc);
    click_at(&d, m, disc->box.x + disc->box.w / 2, disc->box.y + disc->box.h / 2);
    assert_int_equal(d.ui.regions.open, 2);
    desk_layout(&d, m);
    assert_int_equal(ranks_drawn(&d.scene), 1024);
    struct input escape = {.kind = INPUT_KEY, .key = KEY_ESCAPE};
    ui_input(&d.ui, m, &d.scene, &escape);
    assert_int_equal(d.ui.regions.open, 0);
    desk_close(&d);
    model_destroy(m);
}

static void of_many_regions_each_is_one_disc_with_its_number(void **state)
{
    (void)state;
    struct model *m;
    struct synthetic job;
    struct desk d;
    const struct synthetic_latency latency = {.regions = 64};
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, 4096, 16, 6, 1); /* 256 nodes */
    synthetic_begin(&job, desk_apply, m);
    synthetic_regions(&job, &latency, desk_apply, m);
    for (int i = 0; i < 3; i++)
        synthetic_window(&job, desk_apply, m);
    synthetic_finish(&job);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    do
        desk_layout(&d, m);
    while (d.pictures.busy);
    assert_non_null(find_text(&d.scene, "4,096 ranks as 64 discs"));
    for (uint32_t region = 1; region <= 64; region++) {
        char number[8];
        int shown = 0;
        snprintf(number, sizeof number, "%u", region);
        for (size_t i = 0; i < d.scene.item_count; i++)
            shown |= !strcmp(scene_text_of(&d.scene, &d.scene.items[i]), number);
        assert_true(shown);
    }
    desk_close(&d);
    model_destroy(m);
}

static void the_graph_moves_under_the_mouse(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 20);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    desk_layout(&d, m);
    const struct scene_hit *hit = find_hit(&d.scene, HIT_RANK, 40);
    struct box before = hit->box;
    struct input in = {.kind = INPUT_PRESS, .x = hit->box.x + 5, .y = hit->box.y + 5};
    ui_input(&d.ui, m, &d.scene, &in);
    in.kind = INPUT_MOVE;
    in.x += 60;
    in.y -= 25;
    ui_input(&d.ui, m, &d.scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d.ui, m, &d.scene, &in);
    desk_layout(&d, m);
    hit = find_hit(&d.scene, HIT_RANK, 40);
    assert_true(fabs(hit->box.x - before.x - 60) < 1e-6 && fabs(hit->box.y - before.y + 25) < 1e-6);
    /* the wheel zooms about what lies under it */
    in = (struct input){.kind = INPUT_WHEEL,
                        .x = hit->box.x + hit->box.w / 2,
                        .y = hit->box.y + hit->box.h / 2,
                        .wheel = 2};
    double x = in.x;
    ui_input(&d.ui, m, &d.scene, &in);
    desk_layout(&d, m);
    hit = find_hit(&d.scene, HIT_RANK, 40);
    assert_true(fabs(hit->box.x + hit->box.w / 2 - x) < 0.01);
    assert_true(d.ui.regions.camera.zoom > 1.3);
    desk_close(&d);
    model_destroy(m);
}

/* Whether the context column has a text. */
static int context_has(const struct desk *d, const char *part)
{
    for (size_t i = 0; i < d->scene.item_count; i++)
        if (!strcmp(d->scene.panels[d->scene.items[i].panel].name, "context") &&
            strstr(scene_text_of(&d->scene, &d->scene.items[i]), part))
            return 1;
    return 0;
}

/* Of a rank with very many partners the lesser ones are one row without a rank of its own. */
static void lesser_partners_have_their_figures_beside_the_view(void **state)
{
    (void)state;
    const struct wire_pair_row pairs[] = {
        {.source = 1, .destination = 2, .messages = 40, .bytes = 4096},
        {.source = 1, .destination = -1, .messages = 22, .bytes = 99}};
    struct wire_message m[] = {
        {.type = WIRE_TYPE_JOB}, {.type = WIRE_TYPE_TOTALS}, {.type = WIRE_TYPE_PAIR_WINDOW}};
    struct model *model;
    struct desk d;
    m[0].job = (struct wire_job){.job = "1.0", .world = 8, .window_ns = 1000};
    m[1].totals = (struct wire_totals){
        .job = "1.0", .window = 1, .length_ns = 1000, .sent = 62, .sent_bytes = 4195};
    m[2].pair_window = (struct wire_pair_window){
        .job = "1.0", .window = 1, .windows = 1, .pairs = pairs, .pairs_count = 2};
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_PAIRS);
    ui_select(&d.ui, (struct selection){SELECT_PAIR, 1, PAIR_OTHERS});
    desk_layout(&d, model);
    assert_true(context_has(&d, "1 \xe2\x86\x92 others"));
    assert_true(context_has(&d, "22, 99"));
    assert_false(context_has(&d, "4294967295"));
    assert_false(context_has(&d, "no messages"));
    desk_check(&d, "lesser partners");
    desk_close(&d);
    model_destroy(model);
}

/* Ranks 5 and 1 are in the groups of ranks 4 and 0, which have the figures. */
static void the_groups_of_both_ranks_of_a_pair_are_listed_beside_the_view(void **state)
{
    (void)state;
    const struct wire_rank_row ranks[] = {{.rank = 0, .wait_ns = 2400, .ranks = 4},
                                          {.rank = 4, .wait_ns = 1200, .ranks = 4}};
    struct wire_message m[] = {
        {.type = WIRE_TYPE_JOB}, {.type = WIRE_TYPE_TOTALS}, {.type = WIRE_TYPE_RANK_WINDOW}};
    struct model *model;
    struct desk d;
    m[0].job = (struct wire_job){.job = "1.0", .world = 8, .group = 4, .window_ns = 1000};
    m[1].totals =
        (struct wire_totals){.job = "1.0", .window = 1, .length_ns = 1000, .wait_ns = 3600};
    m[2].rank_window = (struct wire_rank_window){
        .job = "1.0", .window = 1, .length_ns = 1000, .ranks = ranks, .ranks_count = 2};
    assert_int_equal(model_create(&model, 64 << 20), 0);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        desk_apply(model, &m[i], 0);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_PAIRS);
    ui_select(&d.ui, (struct selection){SELECT_PAIR, 5, 1});
    desk_layout(&d, model);
    assert_true(context_has(&d, "ranks 0-3"));
    assert_true(context_has(&d, "waits 60"));
    assert_true(context_has(&d, "ranks 4-7"));
    assert_true(context_has(&d, "waits 30"));
    desk_close(&d);
    model_destroy(model);
}

static void the_summary_counts_groups_of_ranks_that_have_figures(void **state)
{
    (void)state;
    struct model *m = model_of(64, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MONITOR);
    desk_layout(&d, m);
    m->group = 4;
    for (uint32_t groups = 16; groups > 14; groups--) {
        d.range.by_waiting_count = groups;
        for (uint32_t i = 0; i < groups; i++) /* all wait alike: there is nothing to list */
            d.range.by_waiting[i] = d.range.by_waiting[0];
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "by groups of 4 ranks"));
        if (groups == 16)
            assert_null(find_text(&d.scene, "with figures"));
        else
            assert_non_null(find_text(&d.scene, "15 of 16 groups"));
    }
    desk_close(&d);
    model_destroy(m);
}

static void the_column_lists_nothing_where_all_is_alike(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    assert_true(context_has(&d, "Nothing stands out")); /* no alert, no hot link */
    assert_false(context_has(&d, "Waiting the most"));
    desk_close(&d);
    model_destroy(m);
    m = slow_job(16, 60);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    assert_true(context_has(&d, "Waiting the most"));           /* one rank of eight is slow */
    for (uint32_t rank = 0; rank < d.range.ranks.count; rank++) /* all like the first */
        memcpy(d.range.ranks.figures + (size_t)rank * RANK_COLUMNS, d.range.ranks.figures,
               RANK_COLUMNS * sizeof *d.range.ranks.figures);
    for (uint32_t pair = 0; pair < d.range.pairs.count; pair++)
        memcpy(d.range.pairs.figures + (size_t)pair * PAIR_COLUMNS, d.range.pairs.figures,
               PAIR_COLUMNS * sizeof *d.range.pairs.figures);
    desk_layout(&d, m);
    assert_false(context_has(&d, "Waiting the most") || context_has(&d, "Busiest pairs"));
    for (uint32_t i = 0; i < m->alerts.count; i++)
        m->alerts.items[i].state = ALERT_PENDING;
    desk_layout(&d, m);
    assert_true(context_has(&d, "Nothing else stands out"));
    desk_check(&d, "alike");
    desk_close(&d);
    model_destroy(m);
}

static void the_summary_says_of_which_time_its_figures_are(void **state)
{
    (void)state;
    struct model *m = model_of(8, 100, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    assert_true(context_has(&d, "last 60\xc2\xa0s"));
    d.ui.time.range = RANGE_START;
    desk_layout(&d, m);
    assert_true(context_has(&d, "since the start"));
    assert_false(context_has(&d, "last 60\xc2\xa0s"));
    d.ui.view = VIEW_OVERVIEW; /* where the share of time in MPI is of the visible time */
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "waiting of ranks since the start"));
    d.ui.time.range = RANGE_SPAN;
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "waiting of ranks since the start"));
    d.ui.view = VIEW_MATRIX;
    /* of a viewer that came late the daemon knows what ranks did before, but not pairs */
    d.ui.time.range = RANGE_SPAN;
    history_clear(&m->pairs.history);
    m->details_version++;
    desk_layout(&d, m);
    assert_true(context_has(&d, "last 60\xc2\xa0s"));
    assert_true(context_has(&d, "messages so far"));
    d.ui.selection = (struct selection){SELECT_NODE, 0, 0};
    desk_layout(&d, m);
    assert_true(context_has(&d, "waits "));
    assert_false(context_has(&d, "since the start"));
    desk_close(&d);
    model_destroy(m);
}

static void the_alert_that_is_chosen_is_in_the_column_among_many(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    for (uint64_t id = 11; id < 17; id++) {
        char title[32];
        struct wire_message message = {.type = WIRE_TYPE_ALERT};
        snprintf(title, sizeof title, "trouble number %u", (unsigned)id);
        message.alert = (struct wire_alert){.job = m->job,
                                            .id = id,
                                            .kind = "rank-died",
                                            .state = "firing",
                                            .title = title,
                                            .since_ns = SYNTHETIC_FIRST * SYNTHETIC_SECOND,
                                            .rank = -1};
        desk_apply(m, &message, 0);
    }
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_RANKS);
    for (uint64_t id = 11; id < 17; id++) {
        char title[32];
        snprintf(title, sizeof title, "trouble number %u", (unsigned)id);
        ui_pick_alert(&d.ui, m, id);
        desk_layout(&d, m);
        assert_true(context_has(&d, title));
        assert_true(context_has(&d, "and 3 more alerts"));
    }
    desk_close(&d);
    model_destroy(m);
}

/* Rows in the column that begin with a text. */
static int context_rows(const struct desk *d, const char *begin)
{
    int rows = 0;
    for (size_t i = 0; i < d->scene.item_count; i++)
        rows += !strcmp(d->scene.panels[d->scene.items[i].panel].name, "context") &&
                !strncmp(scene_text_of(&d->scene, &d->scene.items[i]), begin, strlen(begin));
    return rows;
}

static void the_column_is_about_the_selection(void **state)
{
    (void)state;
    struct model *m = model_of(64, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_RANKS);
    ui_select(&d.ui, (struct selection){SELECT_RANK, 3, 0});
    desk_layout(&d, m);
    assert_true(context_has(&d, "rank 3 on node000") && context_has(&d, "Talks to"));
    assert_false(context_has(&d, "Waiting the most") || context_has(&d, "Hot links"));
    assert_non_null(find_hit(&d.scene, HIT_BUTTON, COMMAND_VIEW)); /* where more of it is */
    ui_select(&d.ui, (struct selection){SELECT_NODE, 1, 0});
    desk_layout(&d, m);
    assert_true(context_has(&d, "Its ranks") && context_has(&d, "waits "));
    desk_check(&d, "node");
    desk_close(&d);
    model_destroy(m);
}

/* Of 26,000 pairs a thousand are sorted: most ranks have none among them. */
static void the_column_names_the_partners_of_any_rank(void **state)
{
    (void)state;
    struct model *m = model_of(4096, 2, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_RANKS);
    for (uint32_t rank = 5; rank < 4096; rank += 409) {
        ui_select(&d.ui, (struct selection){SELECT_RANK, rank, 0});
        desk_layout(&d, m);
        assert_true(context_has(&d, "Talks to"));
        assert_int_equal(context_rows(&d, "to rank ") + context_rows(&d, "from rank "), 6);
    }
    desk_close(&d);
    model_destroy(m);
}

/* Ranks begin near the end of the first window, all of the rest of which they are in MPI. */
static void the_mean_time_in_mpi_is_a_share_of_the_time_of_the_ranks(void **state)
{
    (void)state;
    struct model *m;
    struct desk d;
    assert_int_equal(model_create(&m, 8 << 20), 0);
    struct wire_message message = {.type = WIRE_TYPE_JOB};
    message.job = (struct wire_job){.job = "1", .state = "running", .app = "a", .world = 4};
    desk_apply(m, &message, 0);
    for (int i = 0; i < 4; i++) {
        message = (struct wire_message){.type = WIRE_TYPE_TOTALS};
        message.totals =
            (struct wire_totals){.job = "1",
                                 .window = SYNTHETIC_FIRST + (uint64_t)i,
                                 .start_ns = (SYNTHETIC_FIRST + (uint64_t)i) * SYNTHETIC_SECOND,
                                 .length_ns = SYNTHETIC_SECOND,
                                 .ranks = 4,
                                 .absent_ns = i ? 0 : 4 * SYNTHETIC_SECOND * 9 / 10,
                                 .collective_ns = 4 * SYNTHETIC_SECOND / 10};
        desk_apply(m, &message, 0);
    }
    /* 0.4 of 3.1 seconds of each rank; the mean of the shares of the windows is 32.5 % */
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "mean 12.9\xc2\xa0%"));
    ui_go(&d.ui, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "12.9\xc2\xa0% of the time is in MPI"));
    desk_close(&d);
    model_destroy(m);
}

/* Many windows share a pixel: every other one has one rank, all of the time in MPI, and the others
 * have 99, which never are. */
static void a_point_of_the_time_in_mpi_is_a_share_of_the_time_of_the_ranks(void **state)
{
    (void)state;
    struct model *m;
    struct desk d;
    assert_int_equal(model_create(&m, 8 << 20), 0);
    struct wire_message message = {.type = WIRE_TYPE_JOB};
    message.job = (struct wire_job){.job = "1", .state = "running", .app = "a", .world = 99};
    desk_apply(m, &message, 0);
    for (uint64_t i = 0; i < 4000; i++) {
        message = (struct wire_message){.type = WIRE_TYPE_TOTALS};
        message.totals = (struct wire_totals){.job = "1",
                                              .window = SYNTHETIC_FIRST + i,
                                              .start_ns = (SYNTHETIC_FIRST + i) * SYNTHETIC_SECOND,
                                              .length_ns = SYNTHETIC_SECOND,
                                              .ranks = i % 2 ? 1 : 99,
                                              .collective_ns = i % 2 ? SYNTHETIC_SECOND : 0};
        desk_apply(m, &message, 0);
    }
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    ui_command(&d.ui, m, COMMAND_TIME_ALL, 0);
    desk_layout(&d, m);
    int areas = 0;
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        const struct scene_panel *panel = &d.scene.panels[item->panel];
        if (item->kind != SCENE_AREA || strcmp(panel->name, "strip.mpi.plot") != 0)
            continue;
        areas++;
        for (uint32_t k = 0; k + 1 < item->count; k += 2)
            assert_true(d.scene.points[item->first + k + 1].y - d.scene.points[item->first + k].y <
                        0.05 * panel->box.h);
    }
    assert_true(areas > 0);
    desk_close(&d);
    model_destroy(m);
}

/* The card: the rectangle that the title lies in. */
static struct box card_of(const struct desk *d, const char *title)
{
    const struct scene *s = &d->scene;
    struct box card = {0, 0, 0, 0};
    for (size_t i = 0; i < s->item_count && card.w <= 0; i++)
        for (size_t k = i; k-- > 0 && !strcmp(scene_text_of(s, &s->items[i]), title);)
            if (s->items[k].kind == SCENE_RECT && s->items[k].panel == s->items[i].panel &&
                box_has(s->items[k].box, s->items[i].box.x, s->items[i].box.y)) {
                card = s->items[k].box;
                break;
            }
    return card;
}

static void the_card_of_a_region_has_room_for_its_trend(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_RANKS);
    ui_select(&d.ui, (struct selection){SELECT_REGION, 3, 0});
    desk_layout(&d, m);
    const struct box card = card_of(&d, "region 3");
    int found = 0;
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        if (strcmp(scene_text_of(&d.scene, item), "trend") != 0)
            continue;
        found++;
        assert_true(item->box.y + item->box.h <= card.y + card.h);
    }
    assert_int_equal(found, 1);
    desk_close(&d);
    model_destroy(m);
}

static void the_rail_has_rooms_and_the_tabs_what_the_job_has(void **state)
{
    (void)state;
    struct model *m = model_of(64, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MATRIX);
    desk_layout(&d, m);
    for (int room = 0; room < ROOMS; room++)
        assert_non_null(find_text(&d.scene, room_names[room].label));
    assert_non_null(find_text(&d.scene, "CommGram"));
    assert_null(find_text(&d.scene, "Attribution"));              /* of another room */
    assert_non_null(find_text(&d.scene, "communication/matrix")); /* the address */
    ui_go(&d.ui, VIEW_MONITOR);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "What this job has no data for"));
    assert_non_null(find_text(&d.scene, "Network: Topology"));
    assert_non_null(find_text(&d.scene, "No network is known"));
    desk_check(&d, "monitor");
    ui_go(&d.ui, VIEW_NETWORK); /* chosen all the same: its tab is there, no other */
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "Topology"));
    /* the button in focus has a ring */
    d.ui.focus = (struct ui_focus){1, COMMAND_ROOM, ROOM_SYSTEM};
    desk_layout(&d, m);
    assert_non_null(find_panel(&d.scene, "focus"));
    desk_close(&d);
    model_destroy(m);
}

static void the_graph_of_regions_says_what_its_colours_mean(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "Colour: region; red figure: from 1.5x."));
    d.ui.regions.colour = COLOUR_LATENCY; /* that has a scale of its own */
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "Colour: region"));
    desk_close(&d);
    model_destroy(m);
}

static void the_graph_of_regions_says_of_which_time_its_latency_is(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 90);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "that communicate most, last "));
    assert_null(find_text(&d.scene, "Latency: "));
    /* in the past there are figures of ranks, but none of pairs */
    d.ui.time.span_ns = 20ll * 1000000000;
    ui_pan_time(&d.ui, m, -15ll * 1000000000);
    desk_layout(&d, m);
    d.range.pairs_kind = RANGE_START;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "that communicate most, since the start"));
    struct quantity from = format_clock((int64_t)(d.range.first * 1000000000), 0);
    char text[80];
    snprintf(text, sizeof text, "Latency: %s to ", from.text);
    assert_non_null(find_text(&d.scene, text));
    desk_check(&d, "time of latency");
    desk_close(&d);
    model_destroy(m);
}

static void latency_of_ranks_says_of_how_much_time_it_was_received(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 20);
    struct wire_rank_latency_row rank = {
        .rank = 5, .messages = 10, .reference = 2, .typical = 2, .error = 0};
    struct wire_message last = {.type = WIRE_TYPE_LATENCIES};
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_REGIONS);
    d.ui.selection = (struct selection){SELECT_RANK, 5, 0};
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "latency of "));
    /* who connects now gets the latencies of the newest window only */
    history_clear(&m->latency.ranks);
    last.latencies = (struct wire_latencies){.job = m->job,
                                             .window = m->latency.newest,
                                             .length_ns = 1000000000,
                                             .ranks = &rank,
                                             .ranks_count = 1};
    desk_apply(m, &last, 0);
    m->details_version++;
    desk_layout(&d, m);
    const struct quantity second = format_duration(1e9);
    assert_non_null(find_text(
        &d.scene, quantity_print("Latency: of %s, as far as it was received.", second.text).text));
    assert_non_null(find_text(&d.scene, quantity_print("latency of %s", second.text).text));
    /* of sums since the start the visible second is not all */
    d.ui.time.span_ns = 1000000000;
    d.ui.time.range = RANGE_START;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, quantity_print("latency of %s", second.text).text));
    desk_close(&d);
    model_destroy(m);
}

static void buttons_of_the_status_line_are_the_last_to_come_into_focus(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1280, 800, 1, THEME_DARK, VIEW_LINKS);
    desk_layout(&d, m);
    size_t last = 0, others = 0;
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_BUTTON && d.scene.hits[i].box.y > 770)
            last++;
        else if (d.scene.hits[i].kind == HIT_BUTTON && ++others)
            assert_int_equal(last, 0);
    assert_true(last > 0 && others > 10);
    desk_close(&d);
    model_destroy(m);
}

static void names_in_the_rail_keep_a_distance_from_its_edges(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    double w = find_panel(&d.scene, "rail")->box.w;
    for (int room = 0; room < ROOMS; room++)
        assert_true(scene_width(&d.scene, TEXT_AXIS, 0, room_names[room].label) + 2 * 6 <= w);
    desk_close(&d);
    model_destroy(m);
}

/* The strip below has circles in colours of alarm: the verdict says so, too. */
static void the_overview_of_a_job_without_alert_says_how_high_latency_was(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    m->alerts.count = 0;
    strcpy(m->state, "ended");
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "The job has ended"));
    assert_null(find_text(&d.scene, "so far"));
    const char *text = find_text(&d.scene, "no alert; latency of region ");
    assert_non_null(text);
    assert_non_null(strstr(text, "x of the reference"));
    desk_close(&d);
    model_destroy(m);
}

static void the_overview_of_a_calm_job_says_what_it_does(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    d.ui.overlay.first_run = 1;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "The job is well"));
    assert_non_null(find_text(&d.scene, "no alert so far"));
    assert_non_null(find_text(&d.scene, "running for"));
    assert_non_null(find_text(&d.scene, "Who sends to whom"));
    assert_non_null(find_text(&d.scene, "messages sent"));
    assert_non_null(find_text(&d.scene, "Balance"));
    assert_null(find_text(&d.scene, "What to do"));
    assert_non_null(find_text(&d.scene, "flat while it stays, a step where it changes"));
    desk_check(&d, "calm");
    ui_command(&d.ui, m, COMMAND_UNDERSTOOD, 0);
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "a step where it changes"));
    desk_close(&d);
    model_destroy(m);
}

static void the_list_of_jobs_has_the_newest_figures_of_the_job_in_view(void **state)
{
    (void)state;
    struct model *m = model_of(64, 3, 0);
    struct desk d;
    free(m->jobs); /* of the synthetic daemon */
    m->jobs = calloc(1, sizeof *m->jobs);
    assert_non_null(m->jobs);
    m->job_count = 1;
    strcpy(m->jobs[0].job, m->job);
    strcpy(m->jobs[0].state, "running");
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_JOBS);
    desk_layout(&d, m);
    size_t found = 0;
    for (size_t i = 0; i < d.scene.item_count; i++)
        if (d.scene.items[i].kind == SCENE_TEXT)
            found += strcmp(scene_text_of(&d.scene, &d.scene.items[i]), "64") == 0;
    assert_int_equal(found, 1);
    desk_close(&d);
    model_destroy(m);
}

static void a_job_of_another_day_has_the_day_in_the_list(void **state)
{
    (void)state;
    struct model *m = model_of(8, 3, 0);
    struct desk d;
    m->daemon.now_ns = UINT64_C(1700000000000000000); /* 2023-11-14 22:13:20 */
    m->jobs[0].start_ns = m->start_ns = m->daemon.now_ns - UINT64_C(3600000000000);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_JOBS);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "21:13:20"));
    assert_null(find_text(&d.scene, "2023-11-14"));
    m->jobs[0].start_ns = m->start_ns = m->daemon.now_ns - UINT64_C(82800000000000);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "2023-11-13 23:13:20"));
    desk_check(&d, "jobs");
    desk_close(&d);
    model_destroy(m);
}

/* The daemon counts all recordings that it writes, which are those of jobs that run. */
static void the_size_of_a_recording_is_shown_where_it_is_that_of_the_job(void **state)
{
    (void)state;
    struct model *m = model_of(64, 3, 0);
    struct desk d;
    struct model_job_row *jobs = calloc(2, sizeof *jobs);
    assert_non_null(jobs);
    jobs[0] = m->jobs[0];
    strcpy(jobs[1].job, "48214.0");
    strcpy(jobs[1].state, "running");
    free(m->jobs);
    m->jobs = jobs;
    for (int view = 0; view < 2; view++) {
        desk_open(&d, 1600, 900, 1, THEME_DARK, view ? VIEW_MONITOR : VIEW_OVERVIEW);
        strcpy(m->state, "running");
        m->job_count = 1;
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "holter-48213.hrec"));
        assert_non_null(find_text(&d.scene, "212\xc2\xa0MiB"));
        m->job_count = 2;
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "holter-48213.hrec"));
        assert_null(find_text(&d.scene, "212\xc2\xa0MiB"));
        strcpy(m->jobs[0].state, "ended");
        strcpy(m->state, "ended");
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "recorded in holter-48213.hrec"));
        assert_null(find_text(&d.scene, "212\xc2\xa0MiB"));
        strcpy(m->jobs[0].state, "running");
        desk_close(&d);
    }
    model_destroy(m);
}

static void a_job_of_one_window_has_sums_and_nothing_over_time(void **state)
{
    (void)state;
    struct model *m = model_of(64, 1, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "Rates")); /* it still runs */
    assert_null(place_absence(m, VIEW_LIVE));
    strcpy(m->state, "ended");
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "Rates"));
    assert_null(find_text(&d.scene, "Pattern of communication"));
    assert_non_null(find_text(&d.scene, "Sums"));
    assert_non_null(find_text(&d.scene, quantity_grouped(series_newest(&m->series)->sent).text));
    assert_non_null(place_absence(m, VIEW_LIVE));
    desk_check(&d, "one window");
    desk_close(&d);
    model_destroy(m);
}

static void of_counters_without_times_neither_times_nor_rates_are_shown(void **state)
{
    (void)state;
    struct model *m = model_of(64, 1, 0);
    struct desk d;
    strcpy(m->state, "ended");
    m->playback = (struct playback){.known = 1, .state = PLAYBACK_ENDED, .speed = 1};
    for (int timed = 1; timed >= 0; timed--) {
        struct window_totals *w = (struct window_totals *)series_newest(&m->series);
        if (!timed)
            memset(w->class_ns, 0, sizeof w->class_ns);
        desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
        desk_layout(&d, m);
        assert_int_equal(find_text(&d.scene, "ended after") != NULL, timed);
        assert_int_equal(find_text(&d.scene, "REPLAY ENDED") != NULL, timed);
        assert_int_equal(find_text(&d.scene, "IMPORTED") != NULL, !timed);
        assert_int_equal(find_text(&d.scene, "play  space") != NULL, timed);
        assert_non_null(find_text(&d.scene, "whole time"));
        assert_int_equal(find_text(&d.scene, "whole time, ") != NULL, timed);
        desk_close(&d);
        desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_ATTRIBUTION);
        desk_layout(&d, m);
        desk_layout(&d, m);
        assert_int_equal(find_text(&d.scene, "sent a second") != NULL, timed);
        assert_int_equal(find_text(&d.scene, "B/s") != NULL, timed);
        assert_int_equal(find_text(&d.scene, "+") != NULL, timed); /* "+500 ms" of an axis */
        desk_close(&d);
    }
    model_destroy(m);
}

/* The first text of a style in a panel. */
static const char *first_text_of(const struct scene *s, const char *panel, enum text_style style)
{
    for (size_t i = 0; i < s->item_count; i++)
        if (s->items[i].kind == SCENE_TEXT && s->items[i].style == style &&
            !strcmp(s->panels[s->items[i].panel].name, panel))
            return scene_text_of(s, &s->items[i]);
    return "";
}

static void the_overview_of_a_fault_says_where_why_and_what_to_do(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "The job is well"));
    assert_non_null(find_text(&d.scene, "Latency growing in region 3"));
    assert_non_null(find_panel(&d.scene, "overview.where"));
    assert_non_null(find_text(&d.scene, "late sender"));
    assert_non_null(find_text(&d.scene, "Wait or move"));
    assert_non_null(find_text(&d.scene, "the evidence"));
    /* ranks 32 to 47 carry it: their cells have the colour of the alert */
    uint32_t marked = 0;
    for (size_t i = 0; i < d.scene.item_count; i++)
        marked += d.scene.items[i].kind == SCENE_RECT && d.scene.items[i].color == d.theme.bad &&
                  !strcmp(d.scene.panels[d.scene.items[i].panel].name, "overview.where");
    assert_int_equal(marked, 16);
    const struct scene_hit *verdict = find_hit(&d.scene, HIT_ALERT, 7);
    assert_non_null(verdict);
    click_at(&d, m, verdict->box.x + 60, verdict->box.y + 10);
    assert_true(d.ui.alert_picked);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "overview?alert=7"));
    desk_check(&d, "fault");
    desk_close(&d);
    model_destroy(m);
}

static void the_overview_is_about_the_alert_that_is_worst(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct alert *slow = &m->alerts.items[0], late = *slow, dead = *slow;
    struct desk d;
    late.id = 8;
    late.lost_ns = slow->lost_ns + UINT64_C(5000000000);
    snprintf(late.title, sizeof late.title, "rank 5 computes longer");
    dead.id = 9;
    dead.lost_ns = 0;
    snprintf(dead.title, sizeof dead.title, "rank 21 died");
    snprintf(dead.severity, sizeof dead.severity, "critical");
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    m->alerts.items[1] = late;
    m->alerts.count = 2;
    desk_layout(&d, m);
    assert_string_equal(first_text_of(&d.scene, "overview.verdict", TEXT_TITLE), late.title);
    m->alerts.items[2] = dead;
    m->alerts.count = 3;
    desk_layout(&d, m);
    assert_string_equal(first_text_of(&d.scene, "overview.verdict", TEXT_TITLE), dead.title);
    desk_close(&d);
    model_destroy(m);
}

/* Width of the largest disc in the row of a locality in the strip, or of the job. */
static double largest_disc(const struct desk *d, uint64_t scope)
{
    const struct scene_hit *row = find_hit(&d->scene, HIT_SERIES, scope);
    double w = 0;
    assert_non_null(row);
    for (size_t i = 0; i < d->scene.item_count; i++) {
        const struct scene_item *item = &d->scene.items[i];
        double y = item->box.y + item->box.h / 2;
        if (item->kind == SCENE_DISC && y > row->box.y && y < row->box.y + row->box.h)
            w = fmax(w, item->box.w);
    }
    return w;
}

static void in_the_overview_latency_has_the_time_of_the_curve(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    /* within nodes messages are as slow as between them, but lose little */
    for (uint32_t i = 0; i < m->latency.series_count; i++) {
        struct latency_series *series = &m->latency.series[i];
        for (uint32_t k = 0; k < series->count && series->scope == SERIES_INTRA; k++) {
            struct latency_point *at = &series->points[k];
            at->reference = 16;
            for (int part = 0; part < LATENCY_PARTS; part++)
                at->part_ns[part] /= 50;
        }
    }
    for (int calm = 0; calm < 2; calm++) {
        desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
        m->alerts.count = calm ? 0 : m->alerts.count;
        desk_layout(&d, m);
        const struct scene_panel *curve = find_panel(&d.scene, "commgram.strip.plot");
        const struct scene_hit *time = NULL;
        assert_non_null(find_panel(&d.scene, "evolution"));
        for (size_t i = 0; i < d.scene.hit_count; i++)
            if (d.scene.hits[i].kind == HIT_SERIES && d.scene.hits[i].x1 > d.scene.hits[i].x0)
                time = &d.scene.hits[i];
        assert_true(curve && time);
        assert_true(time->box.x == curve->box.x && time->box.w == curve->box.w);
        /* what was lost between nodes and within them is drawn to one scale */
        assert_true(largest_disc(&d, SERIES_INTRA) < largest_disc(&d, SERIES_INTER));
        desk_check(&d, "one time");
        desk_close(&d);
    }
    model_destroy(m);
}

static void a_small_overview_says_once_what_is_wrong(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_null(find_panel(&d.scene, "verdict"));
    assert_non_null(find_panel(&d.scene, "overview.verdict"));
    ui_go(&d.ui, VIEW_MATRIX);
    desk_layout(&d, m);
    assert_non_null(find_panel(&d.scene, "verdict"));
    desk_close(&d);
    desk_open(&d, 533, 240, 1, THEME_DARK, VIEW_OVERVIEW); /* no room for the view */
    desk_layout(&d, m);
    assert_non_null(find_panel(&d.scene, "verdict"));
    assert_null(find_panel(&d.scene, "overview.verdict"));
    desk_close(&d);
    model_destroy(m);
}

static void a_flag_on_the_curve_names_the_culprit(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct alert *a = &m->alerts.items[0];
    struct desk d;
    snprintf(a->title, sizeof a->title,
             "nodes n3 and n7: messages take 5.1x as long since 08:00:48");
    snprintf(a->culprit, sizeof a->culprit, "node");
    snprintf(a->culprits, sizeof a->culprits, "n3 and n7");
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    size_t flags = 0, where = 0;
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        const char *panel = d.scene.panels[item->panel].name;
        int named =
            item->kind == SCENE_TEXT && !strcmp(d.scene.letters + item->first, "nodes n3 and n7");
        flags += named && !strcmp(panel, "commgram.strip.plot");
        where += named && !strcmp(panel, "overview.where");
    }
    assert_int_equal(flags, 1);
    assert_int_equal(where, 1);
    desk_close(&d);
    model_destroy(m);
}

/* Rectangles of a colour in the panel of a view. */
static size_t rects_of(const struct desk *d, const char *panel, color_t color)
{
    size_t n = 0;
    for (size_t i = 0; i < d->scene.item_count; i++)
        n += d->scene.items[i].kind == SCENE_RECT && d->scene.items[i].color == color &&
             !strcmp(d->scene.panels[d->scene.items[i].panel].name, panel);
    return n;
}

static void a_late_rank_is_numbered_and_neither_links_nor_mapping_are_offered(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct alert *a = &m->alerts.items[0];
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    snprintf(a->culprit, sizeof a->culprit, "rank");
    snprintf(a->culprits, sizeof a->culprits, "33");
    snprintf(a->causes[0].name, sizeof a->causes[0].name, "kept-off-its-core");
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "kept off its core"));
    assert_null(find_text(&d.scene, "the links"));
    assert_null(find_text(&d.scene, "a better mapping"));
    m->rank_count = 8;
    desk_layout(&d, m);
    size_t numbers = 0;
    for (size_t i = 0; i < d.scene.item_count; i++)
        numbers += d.scene.items[i].kind == SCENE_TEXT &&
                   !strcmp(d.scene.panels[d.scene.items[i].panel].name, "overview.where") &&
                   strspn(d.scene.letters + d.scene.items[i].first, "01234567") == 1;
    assert_int_equal(numbers, 8);
    m->rank_count = 64;
    desk_close(&d);
    model_destroy(m);
}

static void where_has_nodes_in_the_order_of_their_names(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct alert *a = &m->alerts.items[0];
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    snprintf(m->hosts[0].name, sizeof m->hosts[0].name, "node10");
    snprintf(m->hosts[1].name, sizeof m->hosts[1].name, "node2");
    snprintf(a->culprit, sizeof a->culprit, "node");
    snprintf(a->culprits, sizeof a->culprits, "node2");
    desk_layout(&d, m);
    const struct scene_hit *node10 = find_hit(&d.scene, HIT_NODE, 0);
    const struct scene_hit *node2 = find_hit(&d.scene, HIT_NODE, 1);
    assert_non_null(node10);
    assert_non_null(node2);
    assert_true(node2->box.x < node10->box.x);
    desk_close(&d);
    model_destroy(m);
}

static void lists_mark_what_an_alert_names(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct alert *a = &m->alerts.items[0];
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_NODES);
    snprintf(a->culprit, sizeof a->culprit, "node");
    snprintf(a->culprits, sizeof a->culprits, "%s", m->hosts[1].name);
    desk_layout(&d, m);
    assert_int_equal(rects_of(&d, "nodes", d.theme.bad), 1);
    ui_go(&d.ui, VIEW_RANKS);
    desk_layout(&d, m);
    size_t without = rects_of(&d, "ranks", d.theme.bad);
    a->rank = d.range.by_waiting[0]; /* the first in the list */
    desk_layout(&d, m);
    assert_int_equal(rects_of(&d, "ranks", d.theme.bad), without + 1);
    desk_close(&d);
    model_destroy(m);
}

static void agents_of_a_job_that_ended_have_left_and_only_others_are_missed(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_NODES);
    m->nodes[0].now.connected = 0;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "no contact"));
    snprintf(m->state, sizeof m->state, "ended");
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "no contact"));
    assert_non_null(find_text(&d.scene, "has left"));
    snprintf(m->state, sizeof m->state, "lost");
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "no contact"));
    desk_close(&d);
    model_destroy(m);
}

/* As of a file with counts of messages: nothing was matched, no call has a time. */
/* A bound of 0 is none: no clock is known exactly. */
static void a_clock_of_which_nothing_is_known_is_not_called_exact(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    for (uint32_t i = 0; i < m->node_count; i++)
        m->nodes[i].now.clock_error_ns = 0;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_NODES);
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "\xc2\xb1"));
    ui_go(&d.ui, VIEW_MONITOR);
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "\xc2\xb1"));
    assert_non_null(find_text(&d.scene, "not known"));
    m->nodes[0].now.clock_error_ns = 4000;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "\xc2\xb1"
                                        "4\xc2\xa0\xc2\xb5s"));
    desk_close(&d);
    model_destroy(m);
}

static void what_has_no_times_is_not_judged(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 30);
    struct desk d;
    m->alerts.count = 0;
    for (uint32_t i = 0; i < m->latency.series_count; i++)
        for (uint32_t k = 0; k < m->latency.series[i].count; k++)
            m->latency.series[i].points[k].messages = 0;
    for (uint64_t k = 0; k < m->series.count; k++) {
        struct window_totals *w =
            (struct window_totals *)series_at(&m->series, m->series.first + k);
        memset(w->class_ns, 0, sizeof w->class_ns);
    }
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_null(find_panel(&d.scene, "evolution"));
    assert_non_null(find_text(&d.scene, "No times of calls are known"));
    assert_null(find_text(&d.scene, "all ranks wait alike"));
    ui_go(&d.ui, VIEW_LIVE);
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "Time in MPI"));
    assert_null(find_panel(&d.scene, "heat"));
    ui_go(&d.ui, VIEW_RANKS);
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "Where the time goes"));
    assert_null(find_text(&d.scene, "waits in"));
    assert_non_null(find_text(&d.scene, "bytes sent"));
    desk_close(&d);
    model_destroy(m);
}

static void what_no_agent_has_watched_has_no_cost_and_no_nodes(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 30);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_MONITOR);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "agents"));
    assert_null(find_text(&d.scene, "No agent has reported"));
    for (uint32_t i = 0; i < m->node_count; i++)
        m->nodes[i].now.rss_bytes = 0;
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "of a core"));
    assert_null(find_text(&d.scene, "every call covered"));
    assert_non_null(find_text(&d.scene, "No agent has reported"));
    desk_close(&d);
    model_destroy(m);
}

static void a_short_job_that_ended_fills_the_visible_time(void **state)
{
    (void)state;
    struct model *m = model_of(8, 3, 0);
    struct desk d;
    int64_t begin, end, first, last;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    ui_whole_time(m, &first, &last);
    ui_visible(&d.ui, m, &begin, &end);
    assert_true(end - begin > last - first);
    snprintf(m->state, sizeof m->state, "ended");
    ui_visible(&d.ui, m, &begin, &end);
    assert_true(end - begin == last - first);
    desk_close(&d);
    model_destroy(m);
}

static void the_overview_of_a_replay_says_that_it_is_one(void **state)
{
    (void)state;
    struct model *m = model_of(8, 30, 0);
    struct desk d;
    const struct synthetic_replay replay = {
        .state = "paused", .position = 0.05, .indexed = 1, .speed = 1, .paused = 1, .run = 1};
    synthetic_replay(&replay, 1, desk_apply, m);
    m->daemon.now_ns = model_now_ns(m) + 34 * 3600 * SYNTHETIC_SECOND; /* it is watched later */
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_OVERVIEW);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "replay: at 30"));
    assert_non_null(find_text(&d.scene, "REPLAY PAUSED"));
    assert_null(find_text(&d.scene, "running for"));
    ui_go(&d.ui, VIEW_JOBS);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "replay"));
    assert_null(find_text(&d.scene, "34\xc2\xa0h"));
    assert_null(find_text(&d.scene, "running"));
    desk_check(&d, "replay");
    desk_close(&d);
    model_destroy(m);
}

static void every_view_has_a_text_snapshot(void **state)
{
    (void)state;
    struct model *m = slow_job(64, 60);
    for (int v = 0; v < VIEWS; v++) {
        struct desk d;
        char *text[2] = {NULL, NULL};
        size_t bytes[2];
        for (int k = 0; k < 2; k++) { /* the same facts give the same scene */
            desk_open(&d, 1600, 900, 1, THEME_DARK, (enum view_id)v);
            desk_layout(&d, m);
            FILE *file = open_memstream(&text[k], &bytes[k]);
            scene_dump(&d.scene, file);
            fclose(file);
            desk_close(&d);
        }
        assert_string_equal(text[0], text[1]);
        char panel[64];
        snprintf(panel, sizeof panel, "panel view.%s ", place_names[v].name);
        assert_non_null(strstr(text[0], panel));
        free(text[0]);
        free(text[1]);
    }
    model_destroy(m);
}

static void every_kind_of_hit_has_a_name_in_a_text_snapshot(void **state)
{
    (void)state;
    struct scene s = {0};
    char *text = NULL;
    size_t bytes;
    scene_begin(&s, 400, 300, 1, (struct text_measure){0});
    for (int kind = HIT_NONE; kind <= HIT_COVER; kind++)
        scene_hit(&s, (struct box){0, 0, 1, 1}, (enum hit_kind)kind, 0, 0);
    FILE *file = open_memstream(&text, &bytes);
    scene_dump(&s, file);
    fclose(file);
    assert_non_null(strstr(text, "hit dependency "));
    assert_null(strstr(text, "(null)"));
    free(text);
    scene_finish(&s);
}

static void the_same_scene_is_not_painted_twice(void **state)
{
    (void)state;
    struct model *m = model_of(64, 30, 0);
    struct desk d;
    struct painter painter = {0};
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_LIVE);
    if (!d.type)
        skip(); /* no fonts on this machine */
    desk_layout(&d, m);
    assert_int_equal(painter_paint(&painter, &d.scene, d.type), 0);
    assert_int_equal(painter.dirty_count, 1);
    size_t bytes = (size_t)painter.canvas.w * (size_t)painter.canvas.h * 4;
    desk_layout(&d, m);
    assert_int_equal(painter_paint(&painter, &d.scene, d.type), 0);
    assert_int_equal(painter.dirty_count, 0);
    /* what is painted in parts equals what is painted at once */
    d.ui.mouse.x = 300;
    d.ui.mouse.y = 150;
    d.ui.selection = (struct selection){SELECT_RANK, 3, 0};
    desk_layout(&d, m);
    desk_layout(&d, m);
    painter_paint(&painter, &d.scene, d.type);
    assert_true(painter.dirty_count > 0);
    struct painter fresh = {0};
    painter_paint(&fresh, &d.scene, d.type);
    assert_memory_equal(painter.canvas.pixels, fresh.canvas.pixels, bytes);
    painter_finish(&fresh);
    painter_finish(&painter);
    desk_close(&d);
    model_destroy(m);
}

static void nothing_is_painted_outside_a_panel(void **state)
{
    (void)state;
    struct model *m = model_of(64, 90, 1);
    for (int v = 0; v < VIEWS; v++) {
        struct desk d;
        struct painter whole = {0};
        desk_open(&d, 1280, 720, 1, THEME_DARK, (enum view_id)v);
        if (!d.type)
            skip();
        desk_layout(&d, m);
        painter_paint(&whole, &d.scene, d.type);
        for (int y = 0; y < 720; y++) /* the gap between view and context shows bare ground */
            for (int x = 1280 - 316 - 10; x < 1280 - 316 - 2; x++)
                if (y > 48 && y < 720 - 28)
                    assert_int_equal(whole.canvas.pixels[y * 1280 + x],
                                     0xff000000u | d.theme.ground >> 8);
        painter_finish(&whole);
        desk_close(&d);
    }
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_keeps_its_panels),
        cmocka_unit_test(in_the_smallest_window_strips_of_the_time_are_whole),
        cmocka_unit_test(without_data_every_view_says_so),
        cmocka_unit_test(the_header_shows_the_state_of_job_and_connection),
        cmocka_unit_test(the_header_of_a_job_of_one_rank_is_about_one),
        cmocka_unit_test(every_title_that_can_be_clicked_orders_its_list),
        cmocka_unit_test(many_ranks_are_added_up_and_it_is_said),
        cmocka_unit_test(beside_the_matrix_are_the_distances_that_carry_most),
        cmocka_unit_test(ranks_at_the_axes_of_the_matrix_are_whole_numbers),
        cmocka_unit_test(a_rank_that_died_has_a_card_and_a_flag),
        cmocka_unit_test(clicking_the_matrix_selects_the_pair_that_is_there),
        cmocka_unit_test(a_cell_of_the_matrix_is_at_least_a_group_of_ranks),
        cmocka_unit_test(a_row_of_the_heat_map_is_at_least_a_group_of_ranks),
        cmocka_unit_test(a_job_of_empty_messages_is_shown_by_messages),
        cmocka_unit_test(the_tooltip_of_the_matrix_has_the_figures_of_both_runs),
        cmocka_unit_test(figures_of_both_runs_are_not_cut),
        cmocka_unit_test(tooltips_name_no_rank_that_the_job_does_not_have),
        cmocka_unit_test(latency_stands_under_the_curve),
        cmocka_unit_test(what_marks_of_latency_mean_stands_below_their_title),
        cmocka_unit_test(the_drawer_covers_all_of_the_view),
        cmocka_unit_test(a_job_that_is_well_has_no_red),
        cmocka_unit_test(the_worst_window_is_the_largest_circle),
        cmocka_unit_test(the_newest_latency_is_the_same_in_a_window_of_any_width),
        cmocka_unit_test(a_window_below_the_reference_is_not_called_high),
        cmocka_unit_test(a_series_that_is_judged_calm_has_no_red),
        cmocka_unit_test(calm_time_is_compressed_to_three_circles),
        cmocka_unit_test(regions_that_do_not_fit_are_said_and_reached),
        cmocka_unit_test(a_title_in_the_list_of_alerts_has_two_lines_and_ends_at_a_word),
        cmocka_unit_test(the_evidence_says_each_thing_once),
        cmocka_unit_test(a_window_without_room_for_evidence_says_where),
        cmocka_unit_test(an_alert_shows_its_evidence_and_leads_to_its_onset),
        cmocka_unit_test(what_an_alert_costs_is_not_cut),
        cmocka_unit_test(a_hang_is_named),
        cmocka_unit_test(ranks_that_wait_are_shown_with_the_rank_that_they_wait_for),
        cmocka_unit_test(on_one_node_pairs_are_listed_by_delay),
        cmocka_unit_test(the_graph_shows_every_rank_of_a_small_job),
        cmocka_unit_test(ranks_and_nodes_are_named_and_what_an_alert_names_is_ringed),
        cmocka_unit_test(latency_beyond_four_goes_on_to_other_colours),
        cmocka_unit_test(a_death_in_a_group_of_ranks_is_shown_at_the_group),
        cmocka_unit_test(a_rank_within_a_group_has_the_figures_of_its_group),
        cmocka_unit_test(the_mean_waiting_of_a_node_is_that_of_the_ranks_with_figures),
        cmocka_unit_test(a_bar_of_the_profile_is_of_whole_groups),
        cmocka_unit_test(the_tooltip_of_a_cell_of_several_nodes_names_the_one_that_is_marked),
        cmocka_unit_test(many_ranks_are_discs_that_open),
        cmocka_unit_test(of_many_regions_each_is_one_disc_with_its_number),
        cmocka_unit_test(the_graph_moves_under_the_mouse),
        cmocka_unit_test(lesser_partners_have_their_figures_beside_the_view),
        cmocka_unit_test(the_groups_of_both_ranks_of_a_pair_are_listed_beside_the_view),
        cmocka_unit_test(the_summary_counts_groups_of_ranks_that_have_figures),
        cmocka_unit_test(the_column_lists_nothing_where_all_is_alike),
        cmocka_unit_test(the_summary_says_of_which_time_its_figures_are),
        cmocka_unit_test(the_alert_that_is_chosen_is_in_the_column_among_many),
        cmocka_unit_test(the_column_is_about_the_selection),
        cmocka_unit_test(the_column_names_the_partners_of_any_rank),
        cmocka_unit_test(the_card_of_a_region_has_room_for_its_trend),
        cmocka_unit_test(the_mean_time_in_mpi_is_a_share_of_the_time_of_the_ranks),
        cmocka_unit_test(a_point_of_the_time_in_mpi_is_a_share_of_the_time_of_the_ranks),
        cmocka_unit_test(the_rail_has_rooms_and_the_tabs_what_the_job_has),
        cmocka_unit_test(the_graph_of_regions_says_what_its_colours_mean),
        cmocka_unit_test(latency_of_ranks_says_of_how_much_time_it_was_received),
        cmocka_unit_test(the_graph_of_regions_says_of_which_time_its_latency_is),
        cmocka_unit_test(buttons_of_the_status_line_are_the_last_to_come_into_focus),
        cmocka_unit_test(names_in_the_rail_keep_a_distance_from_its_edges),
        cmocka_unit_test(the_overview_of_a_job_without_alert_says_how_high_latency_was),
        cmocka_unit_test(the_overview_of_a_calm_job_says_what_it_does),
        cmocka_unit_test(the_list_of_jobs_has_the_newest_figures_of_the_job_in_view),
        cmocka_unit_test(a_job_of_another_day_has_the_day_in_the_list),
        cmocka_unit_test(the_size_of_a_recording_is_shown_where_it_is_that_of_the_job),
        cmocka_unit_test(a_job_of_one_window_has_sums_and_nothing_over_time),
        cmocka_unit_test(of_counters_without_times_neither_times_nor_rates_are_shown),
        cmocka_unit_test(the_overview_of_a_fault_says_where_why_and_what_to_do),
        cmocka_unit_test(the_overview_is_about_the_alert_that_is_worst),
        cmocka_unit_test(in_the_overview_latency_has_the_time_of_the_curve),
        cmocka_unit_test(a_small_overview_says_once_what_is_wrong),
        cmocka_unit_test(a_flag_on_the_curve_names_the_culprit),
        cmocka_unit_test(a_late_rank_is_numbered_and_neither_links_nor_mapping_are_offered),
        cmocka_unit_test(where_has_nodes_in_the_order_of_their_names),
        cmocka_unit_test(lists_mark_what_an_alert_names),
        cmocka_unit_test(agents_of_a_job_that_ended_have_left_and_only_others_are_missed),
        cmocka_unit_test(a_clock_of_which_nothing_is_known_is_not_called_exact),
        cmocka_unit_test(what_has_no_times_is_not_judged),
        cmocka_unit_test(what_no_agent_has_watched_has_no_cost_and_no_nodes),
        cmocka_unit_test(a_short_job_that_ended_fills_the_visible_time),
        cmocka_unit_test(the_overview_of_a_replay_says_that_it_is_one),
        cmocka_unit_test(every_view_has_a_text_snapshot),
        cmocka_unit_test(every_kind_of_hit_has_a_name_in_a_text_snapshot),
        cmocka_unit_test(the_same_scene_is_not_painted_twice),
        cmocka_unit_test(nothing_is_painted_outside_a_panel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
