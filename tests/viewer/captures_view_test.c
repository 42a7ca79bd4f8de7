/* The view of captures, and what leads there. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include "viewer/layout/lanes.h"
#include "viewer/ui/ui_input.h"

#include "holter/call.h"
#include "holter/event.h"

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
    .regions = 4, .slow = 3, .onset = 20, .recovery = 900, .rate = 0.1, .most = 2.4};

/* A job with an alert of number 7, capture 1 of which was made for it, and capture 2 by hand. */
static struct model *job_of(uint32_t ranks, uint32_t calls, const char *fault)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    synthetic_init(&job, ranks, 16, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    for (int i = 0; i < 30; i++) {
        synthetic_window(&job, desk_apply, m);
        synthetic_latencies(&job, &growing, desk_apply, m);
    }
    synthetic_growth(&job, &growing, 7, "firing", desk_apply, m);
    if (calls) {
        synthetic_capture(
            &job, &(struct synthetic_capture){.id = 1, .alert = 7, .calls = calls, .fault = fault},
            0, desk_apply, m);
        synthetic_window(&job, desk_apply, m);
        synthetic_window(&job, desk_apply, m);
        synthetic_capture(&job, &(struct synthetic_capture){.id = 2, .calls = calls}, 0, desk_apply,
                          m);
        synthetic_window(&job, desk_apply, m);
    }
    synthetic_finish(&job);
    return m;
}

static const struct scene_hit *find_hit(const struct scene *s, enum hit_kind kind, uint64_t a,
                                        uint64_t b)
{
    for (size_t i = s->hit_count; i-- > 0;)
        if (s->hits[i].kind == kind && s->hits[i].a == a && s->hits[i].b == b)
            return &s->hits[i];
    return NULL;
}

static void point_at(struct desk *d, const struct model *m, double x, double y)
{
    const struct input in = {.kind = INPUT_MOVE, .x = x, .y = y};
    ui_input(&d->ui, m, &d->scene, &in);
    desk_layout(d, m);
    desk_layout(d, m); /* what is under the mouse is looked up in the scene before */
}

static void click_at(struct desk *d, const struct model *m, double x, double y)
{
    struct input in = {.kind = INPUT_PRESS, .x = x, .y = y, .clicks = 1};
    ui_input(&d->ui, m, &d->scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d->ui, m, &d->scene, &in);
    desk_layout(d, m);
}

static void click_on(struct desk *d, const struct model *m, const struct scene_hit *hit)
{
    assert_non_null(hit);
    click_at(d, m, hit->box.x + hit->box.w / 2, hit->box.y + hit->box.h / 2);
}

static void press_key(struct desk *d, const struct model *m, const char *text)
{
    struct input in = {.kind = INPUT_TEXT};
    snprintf(in.text, sizeof in.text, "%s", text);
    ui_input(&d->ui, m, &d->scene, &in);
    desk_layout(d, m);
}

/* Rectangles of the plot in the colour of a class. */
static uint32_t bars_of(const struct desk *d, enum call_class class_)
{
    uint32_t n = 0;
    for (size_t i = 0; i < d->scene.item_count; i++) {
        const struct scene_item *item = &d->scene.items[i];
        n += item->kind == SCENE_RECT && item->color == d->theme.classes[class_] &&
             !strcmp(d->scene.panels[item->panel].name, "captures.plot");
    }
    return n;
}

static void each_rank_has_a_row_with_its_calls(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, NULL);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "Capture 2"));
    assert_non_null(find_text(&d.scene, "8 ranks, 160 calls"));
    assert_non_null(find_text(&d.scene, "asked for by hand"));
    for (int rank = 0; rank < 8; rank++) {
        char text[16];
        snprintf(text, sizeof text, "rank %d", rank);
        assert_non_null(find_text(&d.scene, text));
    }
    /* 20 calls of each are four steps; sends and receives of a step share pixels with nothing
     * longer */
    assert_int_equal(bars_of(&d, CALL_COLLECTIVE), 8 * 4);
    assert_int_equal(bars_of(&d, CALL_WAIT), 8 * 4);
    assert_true(bars_of(&d, CALL_SEND) > 0);
    desk_check(&d, "captures");
    desk_close(&d);
    model_destroy(m);
}

static void the_moments_of_the_alert_stand_in_it(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, NULL);
    struct desk d;
    struct alert *a = (struct alert *)alerts_find(&m->alerts, 7);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    snprintf(a->title, sizeof a->title, "node3: messages take 28x as long");
    press_key(&d, m, ";");
    assert_non_null(find_text(&d.scene, "Capture 1"));
    /* as the alert has it now, not as it was when it fired */
    assert_non_null(find_text(&d.scene, "alert 7: node3: messages take 28x as long; it began "));
    /* an onset within its time is a line */
    a->onset_ns = (uint64_t)m->captures.items[1].begin_ns + 1000000;
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "it began 1"));
    assert_non_null(find_text(&d.scene, "it set in"));
    assert_non_null(find_text(&d.scene, "captured"));
    press_key(&d, m, ";");
    assert_non_null(find_text(&d.scene, "Capture 1")); /* there is no older one */
    press_key(&d, m, ":");
    assert_non_null(find_text(&d.scene, "Capture 2"));
    desk_close(&d);
    model_destroy(m);
}

/* A place in the plot: row and moment. */
static void place_of(const struct desk *d, const struct capture *c, uint32_t row, int64_t at,
                     double *x, double *y)
{
    const struct scene_hit *h = find_hit(&d->scene, HIT_CAPTURE, 1, 0);
    (void)c;
    assert_non_null(h);
    *x = h->box.x + h->box.w * ((double)at - h->x0) / (h->x1 - h->x0);
    *y = h->box.y + h->box.h * (row + 0.5 - h->y0) / (h->y1 - h->y0);
}

static void hovering_a_call_shows_what_it_is(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, NULL);
    struct desk d;
    double x, y;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    desk_layout(&d, m);
    const struct capture *c = &m->captures.items[0];
    const struct capture_call *call = &c->threads[3].calls[2];
    assert_string_equal(call_name(call->call), "MPI_Waitall");
    place_of(&d, c, 3, call->begin_ns + (int64_t)call->length_ns / 2, &x, &y);
    point_at(&d, m, x, y);
    assert_non_null(find_text(&d.scene, "MPI_Waitall"));
    assert_non_null(find_text(&d.scene, "rank 3 on node000"));
    assert_non_null(find_text(&d.scene, "took 400"));
    assert_non_null(find_text(&d.scene, "on MPI_COMM_WORLD"));
    assert_non_null(find_text(&d.scene, "in region halo exchange"));
    /* zoomed in, the neighbouring send is distinct: peer, tag and bytes */
    call = &c->threads[3].calls[1];
    d.ui.capture.begin_ns = call->begin_ns - 10000;
    d.ui.capture.end_ns = call->begin_ns + 20000;
    desk_layout(&d, m);
    place_of(&d, c, 3, call->begin_ns + (int64_t)call->length_ns / 2, &x, &y);
    point_at(&d, m, x, y);
    assert_non_null(find_text(&d.scene, "MPI_Isend"));
    assert_non_null(find_text(&d.scene, "to rank 4, tag 7"));
    assert_non_null(find_text(&d.scene, "64.0\xc2\xa0KiB"));
    click_at(&d, m, x, y);
    assert_true(ui_rank_selected(&d.ui, 3));
    /* the last call has not returned */
    press_key(&d, m, "0");
    call = &c->threads[3].calls[19];
    place_of(&d, c, 3, call->begin_ns + (int64_t)call->length_ns / 2, &x, &y);
    point_at(&d, m, x, y);
    assert_non_null(find_text(&d.scene, "in it for "));
    desk_close(&d);
    model_destroy(m);
}

/* On an intercommunicator, as after MPI_Comm_spawn, the root may be a rank of another world. */
static void a_root_that_is_no_rank_of_the_job_has_no_number(void **state)
{
    static const struct {
        int32_t peer;
        const char *text;
    } cases[] = {{5, "root is rank 5"},
                 {PEER_UNKNOWN, "root is unknown"},
                 {PEER_NULL, "root is MPI_PROC_NULL"}};
    (void)state;
    struct model *m = job_of(8, 20, NULL);
    struct desk d;
    double x, y;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    desk_layout(&d, m);
    const struct capture *c = &m->captures.items[0];
    struct capture_call *call = &c->threads[3].calls[2];
    call->call = (uint16_t)call_by_name("MPI_Bcast");
    place_of(&d, c, 3, call->begin_ns + (int64_t)call->length_ns / 2, &x, &y);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call->peer = cases[i].peer;
        point_at(&d, m, x, y);
        assert_non_null(find_text(&d.scene, cases[i].text));
    }
    assert_null(find_text(&d.scene, "rank -"));
    desk_close(&d);
    model_destroy(m);
}

/* Nodes answer one after the other: the plot ends when the last one has. */
static void a_ring_holds_no_calls_after_it_was_read(void **state)
{
    (void)state;
    struct model *m = job_of(8, 20, NULL);
    struct desk d;
    double x, y;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    desk_layout(&d, m);
    struct capture *c = &m->captures.items[0];
    struct capture_thread *first = &c->threads[2];
    first->count = 3;
    first->calls[2].running = 0;
    first->read_ns = first->calls[2].begin_ns + (int64_t)first->calls[2].length_ns + 1000;
    desk_layout(&d, m);
    place_of(&d, c, 2, (first->read_ns + c->end_ns) / 2, &x, &y);
    point_at(&d, m, x, y);
    assert_non_null(find_text(&d.scene, "rank 2 on node000"));
    assert_non_null(find_text(&d.scene, "its ring had been read before"));
    place_of(&d, c, 2, (c->begin_ns + first->calls[0].begin_ns) / 2, &x, &y);
    if (first->calls[0].begin_ns > c->begin_ns) {
        point_at(&d, m, x, y);
        assert_non_null(find_text(&d.scene, "its ring holds no earlier calls"));
    }
    desk_close(&d);
    model_destroy(m);
}

static void the_wheel_zooms_about_what_lies_under_it(void **state)
{
    (void)state;
    struct model *m = job_of(8, 40, NULL);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    desk_layout(&d, m);
    const struct capture *c = &m->captures.items[0];
    const struct scene_hit *h = find_hit(&d.scene, HIT_CAPTURE, 1, 0);
    double x = h->box.x + h->box.w * 0.3, y = h->box.y + 4, at = scene_hit_x(h, x);
    struct input in = {.kind = INPUT_WHEEL, .x = x, .y = y, .wheel = 5};
    ui_input(&d.ui, m, &d.scene, &in);
    desk_layout(&d, m);
    h = find_hit(&d.scene, HIT_CAPTURE, 1, 0);
    assert_true(fabs(scene_hit_x(h, x) - at) < 3000);
    int64_t begin, end, first, last;
    ui_capture_span(&d.ui, c, &begin, &end);
    assert_true(end - begin < (c->end_ns - c->begin_ns) / 2);
    /* a drag moves along, never beyond the capture */
    in = (struct input){.kind = INPUT_PRESS, .x = x, .y = y};
    ui_input(&d.ui, m, &d.scene, &in);
    in.kind = INPUT_MOVE;
    in.x += 5000;
    ui_input(&d.ui, m, &d.scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d.ui, m, &d.scene, &in);
    ui_capture_span(&d.ui, c, &first, &last);
    assert_true(first < begin && first <= c->begin_ns && last - first <= end - begin + 1);
    for (int i = 0; i < 60; i++)
        press_key(&d, m, i < 30 ? "+" : "-");
    ui_capture_span(&d.ui, c, &first, &last);
    assert_true(first <= c->begin_ns && last >= c->end_ns);
    desk_close(&d);
    model_destroy(m);
}

static void many_ranks_share_lanes_until_one_looks_closer(void **state)
{
    (void)state;
    struct model *m = job_of(4096, 10, NULL);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    desk_layout(&d, m);
    desk_check(&d, "captures of many");
    const struct scene_hit *h = NULL;
    for (size_t i = 0; i < d.scene.hit_count; i++)
        if (d.scene.hits[i].kind == HIT_CAPTURE)
            h = &d.scene.hits[i];
    assert_non_null(h);
    assert_true(h->a > 1 && h->y1 >= 4096);
    assert_true(d.pictures.captures.image.h * LANES_MIN_HEIGHT <= 900);
    assert_int_equal(bars_of(&d, CALL_WAIT), 0); /* cells in place of bars */
    uint64_t version = d.pictures.captures.image.version;
    desk_layout(&d, m);
    assert_int_equal(d.pictures.captures.image.version,
                     version); /* nothing changed: the image is reused */
    double x = h->box.x + h->box.w / 2, y = h->box.y + h->box.h / 2;
    uint32_t row = (uint32_t)scene_hit_y(h, y);
    point_at(&d, m, x, y);
    assert_non_null(find_text(&d.scene, "click to see them rank by rank"));
    click_at(&d, m, x, y);
    d.ui.mouse.x = d.ui.mouse.y = -1;
    desk_layout(&d, m);
    h = find_hit(&d.scene, HIT_CAPTURE, 1, 0);
    assert_non_null(h);
    assert_true(h->y0 <= row && row < h->y1 && h->y1 - h->y0 < 60);
    assert_true(bars_of(&d, CALL_WAIT) > 0);
    /* the keys go from rank to rank */
    struct input down = {.kind = INPUT_KEY, .key = KEY_DOWN};
    for (int i = 0; i < 3; i++) {
        ui_input(&d.ui, m, &d.scene, &down);
        desk_layout(&d, m);
        ui_settle(&d.ui, m, &d.scene);
    }
    assert_int_equal(d.ui.selection.kind, SELECT_RANK);
    desk_check(&d, "captures rank by rank");
    press_key(&d, m, "o");
    assert_null(find_hit(&d.scene, HIT_CAPTURE, 1, 0));
    desk_close(&d);
    model_destroy(m);
}

static void alerts_and_time_lines_lead_to_it(void **state)
{
    (void)state;
    static const enum view_id from[] = {VIEW_LIVE, VIEW_ALERTS, VIEW_COMMGRAM};
    struct model *m = job_of(64, 20, NULL);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        struct desk d;
        desk_open(&d, 1600, 900, 1, THEME_DARK, from[i]);
        desk_layout(&d, m);
        desk_check(&d, "before");
        assert_non_null(find_text(&d.scene, "captured: 64 ranks, 1,280 calls"));
        click_on(&d, m, find_hit(&d.scene, HIT_BUTTON, COMMAND_CAPTURE, 1));
        assert_int_equal(d.ui.view, VIEW_CAPTURES);
        assert_non_null(find_text(&d.scene, "Capture 1"));
        struct input back = {.kind = INPUT_KEY, .key = KEY_BACKSPACE};
        ui_input(&d.ui, m, &d.scene, &back);
        assert_int_equal(d.ui.view, from[i]);
        desk_close(&d);
    }
    struct desk d; /* the ring at the foot of the curve */
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&d, m);
    const struct scene_hit *ring = find_hit(&d.scene, HIT_BUTTON, COMMAND_CAPTURE, 2);
    assert_non_null(ring);
    point_at(&d, m, ring->box.x + 7, ring->box.y + 7);
    assert_non_null(find_text(&d.scene, "click to see the calls"));
    /* picking an alert and going there: its capture */
    ui_pick_alert(&d.ui, m, 7);
    ui_go(&d.ui, VIEW_CAPTURES);
    desk_layout(&d, m);
    assert_int_equal(d.ui.view, VIEW_CAPTURES);
    assert_non_null(find_text(&d.scene, "Capture 1"));
    desk_close(&d);
    model_destroy(m);
}

/* Reading back once does not decide what is shown from then on. */
static void an_alert_leads_to_its_capture_after_one_was_read_back(void **state)
{
    (void)state;
    struct model *m = job_of(64, 20, NULL);
    struct wire_message message = {.type = WIRE_TYPE_CAPTURE};
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    assert_true(ui_command(&d.ui, m, COMMAND_CAPTURE_READ, 0) & UI_CAPTURE);
    message.capture = (struct wire_capture){.job = m->job, .id = 3, .host = "node000"};
    assert_int_equal(model_apply(m, &message, 0), 0);
    assert_int_equal(ui_capture(&d.ui, m)->id, 3);
    ui_pick_alert(&d.ui, m, 7);
    assert_int_equal(ui_capture(&d.ui, m)->id, 1);
    assert_true(ui_command(&d.ui, m, COMMAND_CAPTURE_READ, 0) & UI_CAPTURE);
    assert_true(ui_choose_job(&d.ui, m, 0) & UI_JOB);
    assert_int_equal(d.ui.capture.requested, 0);
    desk_close(&d);
    model_destroy(m);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    struct model *m = job_of(64, 5, "too soon after the capture before");
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    press_key(&d, m, ";");
    assert_non_null(find_text(&d.scene, "node000: too soon after the capture before"));
    desk_close(&d);
    model_destroy(m);
    m = job_of(64, 0, NULL);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CAPTURES);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "No capture so far"));
    press_key(&d, m, ";");
    press_key(&d, m, "+");
    desk_close(&d);
    model_destroy(m);
}

static void it_fits_every_window(void **state)
{
    (void)state;
    static const double sizes[][2] = {
        {2400, 1400}, {1280, 720}, {1024, 640}, {800, 500}, {640, 400}};
    static const uint32_t ranks[] = {8, 64, 512};
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
        struct model *m = job_of(ranks[k], 15, NULL);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int rows = 0; rows < 2; rows++)
                for (int theme = 0; theme < THEMES; theme++) {
                    struct desk d;
                    char what[64];
                    snprintf(what, sizeof what, "%u ranks %.0fx%.0f rows %d", ranks[k], sizes[i][0],
                             sizes[i][1], rows);
                    desk_open(&d, sizes[i][0], sizes[i][1], 1, (enum theme_kind)theme,
                              VIEW_CAPTURES);
                    d.ui.capture.rows = rows;
                    d.ui.selection = (struct selection){SELECT_RANK, 3, 0};
                    desk_layout(&d, m);
                    desk_check(&d, what);
                    desk_close(&d);
                }
        model_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rank_has_a_row_with_its_calls),
        cmocka_unit_test(the_moments_of_the_alert_stand_in_it),
        cmocka_unit_test(hovering_a_call_shows_what_it_is),
        cmocka_unit_test(a_root_that_is_no_rank_of_the_job_has_no_number),
        cmocka_unit_test(a_ring_holds_no_calls_after_it_was_read),
        cmocka_unit_test(the_wheel_zooms_about_what_lies_under_it),
        cmocka_unit_test(many_ranks_share_lanes_until_one_looks_closer),
        cmocka_unit_test(alerts_and_time_lines_lead_to_it),
        cmocka_unit_test(an_alert_leads_to_its_capture_after_one_was_read_back),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(it_fits_every_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
