/* The transport bar of a replay: what the model takes in, what is laid out, and what mouse and keys
 * ask for. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include "viewer/ui/ui_input.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(a, b, most) assert_true(fabs((double)(a) - (double)(b)) <= (most))
#define BEGIN (SYNTHETIC_FIRST * SYNTHETIC_SECOND)

struct bed {
    struct model *model;
    struct synthetic job;
    struct synthetic_replay replay;
    struct desk desk;
    uint64_t now_ms;
};

static void tell(struct bed *b, int snapshot)
{
    synthetic_replay(&b->replay, snapshot, desk_apply, b->model);
}

static int make_bed(void **state)
{
    struct bed *b = calloc(1, sizeof *b);
    assert_int_equal(model_create(&b->model, 16 << 20), 0);
    synthetic_init(&b->job, 64, 16, 6, 1);
    synthetic_begin(&b->job, desk_apply, b->model);
    for (int i = 0; i < 90; i++)
        synthetic_window(&b->job, desk_apply, b->model);
    b->replay = (struct synthetic_replay){.state = "playing",
                                          .position = 0.15,
                                          .indexed = 0.5,
                                          .speed = 1,
                                          .marked = 1,
                                          .run = 1,
                                          .change = 1};
    tell(b, 1);
    desk_open(&b->desk, 1600, 900, 1, THEME_DARK, VIEW_LIVE);
    desk_layout(&b->desk, b->model);
    b->now_ms = 1000;
    *state = b;
    return 0;
}

static int drop_bed(void **state)
{
    struct bed *b = *state;
    desk_close(&b->desk);
    synthetic_finish(&b->job);
    model_destroy(b->model);
    free(b);
    return 0;
}

static int input(struct bed *b, struct input in)
{
    int effects = ui_input(&b->desk.ui, b->model, &b->desk.scene, &in);
    desk_layout(&b->desk, b->model);
    return effects;
}

static int type(struct bed *b, const char *text)
{
    struct input in = {.kind = INPUT_TEXT};
    snprintf(in.text, sizeof in.text, "%s", text);
    return input(b, in);
}

static void mouse(struct bed *b, enum input_kind kind, double x, double y)
{
    input(b, (struct input){.kind = kind, .x = x, .y = y, .clicks = 1});
}

static void click(struct bed *b, double x, double y)
{
    mouse(b, INPUT_MOVE, x, y);
    mouse(b, INPUT_PRESS, x, y);
    mouse(b, INPUT_RELEASE, x, y);
}

static struct playback *playback(struct bed *b)
{
    return &b->model->playback;
}

/* The next question; "" when there is none. */
static const char *asks(struct bed *b)
{
    static char text[64];
    text[0] = 0;
    b->now_ms += 1000;
    transport_next(&b->desk.ui.transport, playback(b), b->now_ms, text, sizeof text);
    return text;
}

static const struct scene_hit *hit_of(const struct bed *b, enum hit_kind kind, uint64_t a)
{
    for (size_t i = 0; i < b->desk.scene.hit_count; i++)
        if (b->desk.scene.hits[i].kind == kind && (b->desk.scene.hits[i].a == a || a == UINT64_MAX))
            return &b->desk.scene.hits[i];
    return NULL;
}

/* Where a share of the recording lies on its line. */
static double line_x(const struct bed *b, double share)
{
    const struct scene_hit *h = hit_of(b, HIT_PLAYBACK, UINT64_MAX);
    assert_non_null(h);
    double at = (double)BEGIN + share * SYNTHETIC_RECORDED;
    return h->box.x + (at - h->x0) / (h->x1 - h->x0) * h->box.w;
}

static double line_y(const struct bed *b)
{
    const struct scene_hit *h = hit_of(b, HIT_PLAYBACK, UINT64_MAX);
    return h->box.y + h->box.h - 6;
}

static double asked_share(const char *question)
{
    unsigned long long ns = 0;
    assert_int_equal(sscanf(question, "seek %llu", &ns), 1);
    return ((double)ns - (double)BEGIN) / SYNTHETIC_RECORDED;
}

/* ---- facts -------------------------------------------------------------------------------------
 */

static void what_is_older_is_passed_over(void **state)
{
    struct bed *b = *state;
    b->replay.change = 5;
    b->replay.position = 0.4;
    tell(b, 0);
    assert_int_equal(playback(b)->position_ns, BEGIN + SYNTHETIC_RECORDED * 2 / 5);
    b->replay.change = 4;
    b->replay.position = 0.3;
    tell(b, 0);
    assert_int_equal(playback(b)->position_ns, BEGIN + SYNTHETIC_RECORDED * 2 / 5);
    b->replay.run = 2;
    b->replay.change = 1;
    b->replay.position = 0.1;
    tell(b, 0);
    assert_int_equal(playback(b)->position_ns, BEGIN + SYNTHETIC_RECORDED / 10);
    b->replay.run = 1; /* a restarted daemon counts from 1 again */
    tell(b, 0);
    assert_int_equal(playback(b)->run, 2);
    tell(b, 1);
    assert_int_equal(playback(b)->run, 1);
}

static void marks_stay_until_they_are_reported_again(void **state)
{
    struct bed *b = *state;
    assert_int_equal(playback(b)->mark_count, SYNTHETIC_MARKS);
    b->replay.change = 2;
    b->replay.marked = 0;
    tell(b, 0);
    assert_int_equal(playback(b)->mark_count, SYNTHETIC_MARKS);
    assert_int_equal(playback(b)->marks[3].severity, MARK_CRITICAL);
    assert_string_equal(playback(b)->marks[3].title, "rank 5 has not arrived");
}

static void what_cannot_be_is_kept_within_bounds(void **state)
{
    struct bed *b = *state;
    struct wire_replay r = {.job = "48213.0",
                            .file = "f",
                            .state = "nonsense",
                            .begin_ns = UINT64_MAX,
                            .end_ns = 3,
                            .position_ns = 7,
                            .indexed_ns = UINT64_MAX,
                            .target_ns = 1,
                            .speed = NAN,
                            .run = 9,
                            .change = 9};
    struct wire_message m = {.type = WIRE_TYPE_REPLAY, .replay = r};
    desk_apply(b->model, &m, 0);
    assert_true(playback(b)->begin_ns < playback(b)->end_ns);
    assert_true(playback(b)->position_ns >= playback(b)->begin_ns);
    desk_layout(&b->desk, b->model);
    m.replay.begin_ns = 0;
    m.replay.end_ns = UINT64_MAX;
    m.replay.speed = -INFINITY;
    m.replay.run = 10;
    desk_apply(b->model, &m, 0);
    desk_layout(&b->desk, b->model);
    assert_true(playback(b)->speed >= 0);
    click(b, line_x(b, 0), line_y(b));
    asks(b);
}

static void it_outlives_the_state_of_the_job(void **state)
{
    struct bed *b = *state;
    model_forget_job(b->model);
    assert_true(playback(b)->known);
    assert_int_equal(playback(b)->mark_count, SYNTHETIC_MARKS);
}

/* ---- pictures ----------------------------------------------------------------------------------
 */

static void the_bar_is_there_for_replays_alone(void **state)
{
    struct bed *b = *state;
    assert_non_null(hit_of(b, HIT_PLAYBACK, UINT64_MAX));
    assert_non_null(find_text(&b->desk.scene, "00:01:30"));
    assert_non_null(find_text(&b->desk.scene, "/ 00:10:00"));
    assert_non_null(find_text(&b->desk.scene, "2026-09-21 14:14:50"));
    assert_non_null(find_text(&b->desk.scene, "replaying holter-48213.0.hrec"));
    assert_non_null(find_text(&b->desk.scene, "REPLAY"));
    assert_null(find_text(&b->desk.scene, "LIVE"));
    playback_clear(playback(b));
    desk_layout(&b->desk, b->model);
    assert_null(hit_of(b, HIT_PLAYBACK, UINT64_MAX));
    assert_null(find_text(&b->desk.scene, "REPLAY"));
    assert_non_null(find_text(&b->desk.scene, "LIVE"));
}

static void the_header_says_what_the_replay_does(void **state)
{
    struct bed *b = *state;
    static const struct {
        const char *state, *text;
        int paused;
    } cases[] = {{"paused", "REPLAY PAUSED", 1},
                 {"ended", "REPLAY ENDED", 0},
                 {"seeking", "REPLAY, SEEKING", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        b->replay.state = cases[i].state;
        b->replay.paused = cases[i].paused;
        b->replay.change++;
        tell(b, 0);
        desk_layout(&b->desk, b->model);
        assert_non_null(find_text(&b->desk.scene, cases[i].text));
    }
    b->replay.known = 0.2; /* what is shown is where it goes, but not all is known of it */
    b->replay.change++;
    tell(b, 0);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "REPLAY, PREVIEW"));
    b->replay.known = 0;
    b->replay.state = "playing";
    b->replay.paused = 1; /* a step in progress: the replay is paused after it */
    b->replay.change++;
    tell(b, 0);
    assert_false(transport_plays(&b->desk.ui.transport, playback(b)));
    b->replay.paused = 0;
    b->replay.change++;
    tell(b, 0);
    ui_pan_time(&b->desk.ui, b->model, -20 * (int64_t)SYNTHETIC_SECOND);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "REPLAY, VIEW HELD"));
}

/* Widths of the line's parts, from its left end: the whole, what is indexed, what was played. */
static void line_parts(const struct bed *b, double *parts)
{
    const struct scene *s = &b->desk.scene;
    int n = 0;
    for (size_t i = 0; i < s->item_count && n < 3; i++)
        if (s->items[i].kind == SCENE_RECT && fabs(s->items[i].box.x - line_x(b, 0)) < 0.01 &&
            fabs(s->items[i].box.h - 6) < 0.01)
            parts[n++] = s->items[i].box.w;
    assert_int_equal(n, 3);
}

static void the_line_shows_what_was_played_and_what_is_indexed(void **state)
{
    struct bed *b = *state;
    double parts[3];
    line_parts(b, parts);
    assert_near(parts[1] / parts[0], 0.5, 1e-6);
    assert_near(parts[2] / parts[0], 0.15, 1e-6);
}

/* All views, windows and scales: nothing leaves its panel or lies upon another. */
static void it_fits_every_window(void **state)
{
    struct bed *b = *state;
    static const double sizes[][2] = {{1600, 900}, {1024, 640}, {640, 480}, {2560, 1440}};
    b->replay.fault = "message 4711 at byte 1048576 is damaged, and 12 behind it were left out";
    for (int fault = 0; fault < 2; fault++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char what[64];
            struct desk d;
            desk_open(&d, sizes[i][0], sizes[i][1], 1, i % 2 ? THEME_LIGHT : THEME_DARK, VIEW_LIVE);
            for (int view = 0; view < VIEWS; view++) {
                d.ui.view = (enum view_id)view;
                desk_layout(&d, b->model);
                snprintf(what, sizeof what, "%.0fx%.0f %s", d.ui.w, d.ui.h, place_names[view].name);
                if (d.ui.w >= 1024) /* as of all views: below, what does not fit is cut */
                    desk_check(&d, what);
            }
            desk_close(&d);
        }
        b->replay.change++;
        tell(b, 0);
    }
}

static void marks_are_recognised_by_shape_and_close_ones_joined(void **state)
{
    struct bed *b = *state;
    uint32_t marks = 0, most = 0;
    for (size_t i = 0; i < b->desk.scene.hit_count; i++) {
        const struct scene_hit *h = &b->desk.scene.hits[i];
        marks += h->kind == HIT_MARK;
        most = h->kind == HIT_MARK && h->b > most ? (uint32_t)h->b : most;
    }
    assert_int_equal(marks, SYNTHETIC_MARKS - 1);
    assert_int_equal(most, 2);
    const struct scene_hit *pair = hit_of(b, HIT_MARK, 2), *died = hit_of(b, HIT_MARK, 5);
    assert_non_null(pair);
    mouse(b, INPUT_MOVE, pair->box.x + 7, pair->box.y + 7);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "2 alerts"));
    assert_non_null(find_text(&b->desk.scene, "rank 5 has not arrived, critical"));
    died = hit_of(b, HIT_MARK, 5);
    mouse(b, INPUT_MOVE, died->box.x + 7, died->box.y + 7);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "rank 17 died"));
    assert_non_null(find_text(&b->desk.scene, "from 00:09:00 to the end"));
    /* five points of a diamond or three of a triangle: not by colour alone */
    uint32_t diamonds = 0, triangles = 0;
    for (size_t i = 0; i < b->desk.scene.item_count; i++) {
        const struct scene_item *item = &b->desk.scene.items[i];
        if (strcmp(b->desk.scene.panels[item->panel].name, "transport") != 0 ||
            item->kind != SCENE_POLYGON)
            continue;
        diamonds += item->count == 4;
        triangles += item->count == 3 && item->box.y < died->box.y + 15;
    }
    assert_int_equal(diamonds, 2);
    assert_true(triangles >= 2);
}

static void the_mouse_over_the_time_line_shows_the_time_there(void **state)
{
    struct bed *b = *state;
    mouse(b, INPUT_MOVE, line_x(b, 0.2502), line_y(b));
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "00:02:30"));
    assert_null(find_text(&b->desk.scene, "not indexed yet"));
    mouse(b, INPUT_MOVE, line_x(b, 0.7502), line_y(b));
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "00:07:30"));
    assert_non_null(find_text(&b->desk.scene, "not indexed yet"));
}

/* ---- inputs ------------------------------------------------------------------------------------
 */

static void keys_control_the_replay(void **state)
{
    struct bed *b = *state;
    assert_true(type(b, " ") & UI_CHANGED);
    assert_true(b->desk.ui.time.follow); /* not the view */
    assert_non_null(find_text(&b->desk.scene, "REPLAY PAUSED"));
    assert_string_equal(asks(b), "pause");
    assert_string_equal(asks(b), "");
    type(b, " ");
    assert_string_equal(asks(b), "play");
    type(b, ".");
    type(b, ".");
    type(b, ",");
    assert_string_equal(asks(b), "step");
    assert_string_equal(asks(b), "");
    type(b, ",");
    assert_string_equal(asks(b), "step back");
    type(b, ">");
    type(b, ">");
    assert_non_null(find_text(&b->desk.scene, "5x"));
    assert_string_equal(asks(b), "speed 5");
    for (int i = 0; i < 20; i++)
        type(b, ">");
    assert_string_equal(asks(b), "speed max");
    type(b, "<");
    assert_string_equal(asks(b), "speed 1000");
    for (int i = 0; i < 20; i++)
        type(b, "<");
    assert_string_equal(asks(b), "speed 0.1");
    type(b, "L");
    assert_string_equal(asks(b), "loop on");
    type(b, "L");
    assert_string_equal(asks(b), "loop off");
}

/* A step after a seek is counted from the seek's target; playing or another seek cancels the step.
 */
static void steps_keep_their_place_among_what_is_asked(void **state)
{
    struct bed *b = *state;
    click(b, line_x(b, 0.4), line_y(b));
    type(b, ",");
    assert_near(asked_share(asks(b)), 0.4, 2e-3);
    b->replay.state = "seeking";
    b->replay.target = 0.4;
    b->replay.change++;
    tell(b, 0);
    assert_string_equal(asks(b), "");
    transport_settle(&b->desk.ui.transport);
    assert_false(transport_plays(&b->desk.ui.transport, playback(b)));
    b->replay.state = "playing";
    b->replay.target = 0;
    b->replay.change++;
    tell(b, 0);
    assert_string_equal(asks(b), "step back");
    type(b, ".");
    type(b, " ");
    assert_string_equal(asks(b), "play");
    assert_string_equal(asks(b), "");
    type(b, ".");
    click(b, line_x(b, 0.6), line_y(b));
    assert_near(asked_share(asks(b)), 0.6, 2e-3);
    assert_string_equal(asks(b), "");
}

static int is_pending(const struct transport *t)
{
    return t->due != 0 || t->steps != 0;
}

static void without_a_replay_they_do_not(void **state)
{
    struct bed *b = *state;
    playback_clear(playback(b));
    type(b, ".");
    type(b, ">");
    type(b, "L");
    type(b, ")");
    assert_false(is_pending(&b->desk.ui.transport));
    type(b, " ");
    assert_false(b->desk.ui.time.follow);
    assert_false(is_pending(&b->desk.ui.transport));
}

static void a_click_goes_to_a_place_and_keeps_what_the_user_sees(void **state)
{
    struct bed *b = *state;
    struct ui *ui = &b->desk.ui;
    ui_select(ui, (struct selection){SELECT_RANK, 3, 0});
    ui->view = VIEW_MATRIX;
    ui->matrix.extent = 16;
    ui->time.span_ns = 30 * (int64_t)SYNTHETIC_SECOND;
    desk_layout(&b->desk, b->model);
    click(b, line_x(b, 0.6), line_y(b));
    assert_near(asked_share(asks(b)), 0.6, 2e-3);
    assert_string_equal(asks(b), "");
    assert_int_equal(ui->view, VIEW_MATRIX);
    assert_int_equal(ui->selection.kind, SELECT_RANK);
    assert_near(ui->matrix.extent, 16, 0);
    assert_int_equal(ui->time.span_ns, 30 * (int64_t)SYNTHETIC_SECOND);
}

static void beyond_its_ends_are_its_ends(void **state)
{
    struct bed *b = *state;
    double end = line_x(b, 1) + 6, begin = line_x(b, 0) - 6;
    click(b, end, line_y(b));
    assert_near(asked_share(asks(b)), 1, 0);
    click(b, begin, line_y(b));
    assert_near(asked_share(asks(b)), 0, 0);
}

/* While the knob is held places are asked for now and then, where it is let go in any case; what is
 * shown is where it is held. */
static void the_knob_can_be_dragged(void **state)
{
    struct bed *b = *state;
    struct transport *t = &b->desk.ui.transport;
    char text[64];
    mouse(b, INPUT_MOVE, line_x(b, 0.15), line_y(b));
    mouse(b, INPUT_PRESS, line_x(b, 0.15), line_y(b));
    assert_int_equal(transport_next(t, playback(b), 5000, text, sizeof text), 1);
    mouse(b, INPUT_MOVE, line_x(b, 0.3), line_y(b) - 300);
    assert_int_equal(transport_next(t, playback(b), 5100, text, sizeof text), 0);
    transport_settle(t);
    assert_non_null(find_text(&b->desk.scene, "00:03:00"));
    assert_int_equal(transport_next(t, playback(b), 5300, text, sizeof text), 1);
    assert_near(asked_share(text), 0.3, 2e-3);
    b->replay.state = "seeking";
    b->replay.target = 0.3;
    b->replay.change++;
    tell(b, 0);
    mouse(b, INPUT_MOVE, line_x(b, 0.5), line_y(b) - 300);
    assert_int_equal(transport_next(t, playback(b), 9000, text, sizeof text), 0);
    mouse(b, INPUT_RELEASE, line_x(b, 0.5), line_y(b) - 300);
    assert_int_equal(transport_next(t, playback(b), 9001, text, sizeof text), 1);
    assert_near(asked_share(text), 0.5, 2e-3);
    /* until the daemon has said where it goes */
    assert_int_equal(transport_position(t, playback(b)), t->place_ns);
    b->replay.target = 0.5;
    b->replay.change++;
    tell(b, 0);
    transport_settle(t);
    assert_int_equal(transport_position(t, playback(b)), BEGIN + SYNTHETIC_RECORDED / 2);
}

static void alerts_are_reached_by_click_and_by_key(void **state)
{
    struct bed *b = *state;
    const struct scene_hit *died = hit_of(b, HIT_MARK, 5);
    click(b, died->box.x + 7, died->box.y + 7);
    assert_near(asked_share(asks(b)), 0.9, 1e-9);
    transport_settle(&b->desk.ui.transport);
    type(b, ")"); /* from 0.15 on */
    assert_near(asked_share(asks(b)), 200.0 / 600, 1e-9);
    type(b, ")");
    assert_near(asked_share(asks(b)), 302.0 / 600, 1e-9);
    type(b, "(");
    assert_near(asked_share(asks(b)), 200.0 / 600, 1e-9);
    type(b, "(");
    type(b, "(");
    assert_near(asked_share(asks(b)), 75.0 / 600, 1e-9);
    assert_string_equal(asks(b), "");
}

static void alerts_that_follow_each_other_closely_are_each_reached_by_key(void **state)
{
    struct bed *b = *state;
    struct playback *p = playback(b);
    assert_true(p->mark_count >= 3);
    p->paused = 1;
    for (uint64_t i = 0; i < 3; i++) /* a second apart, in a recording of ten minutes */
        p->marks[i].fired_ns = p->marks[i].since_ns = BEGIN + (200 + i) * SYNTHETIC_SECOND;
    p->position_ns = p->marks[2].fired_ns;
    type(b, "(");
    assert_near(asked_share(asks(b)), 201.0 / 600, 1e-9);
    type(b, "(");
    assert_near(asked_share(asks(b)), 200.0 / 600, 1e-9);
    /* of one that is passed just now the one before is meant */
    transport_settle(&b->desk.ui.transport);
    p->paused = 0;
    p->state = PLAYBACK_PLAYING;
    p->speed = 0.5;
    p->position_ns = p->marks[1].fired_ns + SYNTHETIC_SECOND / 2;
    type(b, "(");
    assert_near(asked_share(asks(b)), 200.0 / 600, 1e-9);
}

/* A view that is held is let go by whoever goes elsewhere in the recording. */
static void going_to_a_place_shows_it(void **state)
{
    struct bed *b = *state;
    ui_pan_time(&b->desk.ui, b->model, -20 * (int64_t)SYNTHETIC_SECOND);
    assert_false(b->desk.ui.time.follow);
    type(b, " ");
    assert_false(b->desk.ui.time.follow);
    click(b, line_x(b, 0.1), line_y(b));
    assert_true(b->desk.ui.time.follow);
}

static void buttons_do_what_keys_do(void **state)
{
    struct bed *b = *state;
    static const struct {
        enum ui_command command;
        uint64_t argument;
        const char *asks;
    } cases[] = {{COMMAND_REPLAY_PLAY, 0, "pause"},    {COMMAND_REPLAY_STEP, 0, "step back"},
                 {COMMAND_REPLAY_STEP, 1, "step"},     {COMMAND_REPLAY_SPEED, 0, "speed 0.5"},
                 {COMMAND_REPLAY_SPEED, 1, "speed 2"}, {COMMAND_REPLAY_LOOP, 0, "loop on"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct scene_hit *found = NULL;
        for (size_t k = 0; k < b->desk.scene.hit_count; k++) {
            const struct scene_hit *h = &b->desk.scene.hits[k];
            if (h->kind == HIT_BUTTON && h->a == cases[i].command && h->b == cases[i].argument &&
                h->box.y > 800)
                found = h;
        }
        assert_non_null(found);
        click(b, found->box.x + found->box.w / 2, found->box.y + found->box.h / 2);
        assert_string_equal(asks(b), cases[i].asks);
        transport_settle(&b->desk.ui.transport);
    }
}

/* Windows 0 to 89 were received, then the replay sought to a later position. */
static void what_the_replay_has_not_been_at_is_said(void **state)
{
    struct bed *b = *state;
    struct synthetic *job = &b->job;
    b->desk.ui.view = VIEW_MATRIX;
    job->window = SYNTHETIC_FIRST + 120;
    for (int i = 0; i < 10; i++)
        synthetic_window(job, desk_apply, b->model);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "30\xc2\xa0s of the last 60\xc2\xa0s"));
    b->desk.ui.view = VIEW_LIVE;
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "rank by rank only where the replay has been"));
}

static void all_but_single_ranks(void *user, const struct wire_message *message, int snapshot)
{
    if (message->type != WIRE_TYPE_RANK_WINDOW)
        model_apply(user, message, snapshot);
}

/* It was paused, or the recording ends there: nothing of single ranks comes. */
static void nor_where_it_has_been_nowhere(void **state)
{
    struct bed *b = *state;
    history_clear(&b->model->rank_history);
    b->job.window = SYNTHETIC_FIRST + 120;
    for (int i = 0; i < 10; i++)
        synthetic_window(&b->job, all_but_single_ranks, b->model);
    b->desk.ui.view = VIEW_LIVE;
    desk_layout(&b->desk, b->model);
    assert_null(find_text(&b->desk.scene, "No figures of single ranks"));
    assert_non_null(find_text(&b->desk.scene, "rank by rank only where the replay has been"));
    playback_clear(playback(b)); /* as a viewer that comes late to a live job */
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "rank by rank only since this viewer connected"));
}

static void totals_alone(void *user, const struct wire_message *message, int snapshot)
{
    if (message->type == WIRE_TYPE_TOTALS)
        model_apply(user, message, snapshot);
}

/* The replay sought to a position whose windows have not been received yet: the sums are then those
 * since the start, as the state reports them. */
static void where_it_has_not_been_sums_are_those_since_the_start(void **state)
{
    struct bed *b = *state;
    b->desk.ui.view = VIEW_MATRIX;
    b->job.window = SYNTHETIC_FIRST + 200;
    for (int i = 0; i < 70; i++)
        synthetic_window(&b->job, totals_alone, b->model);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "since the start (no finer figures received)"));
    assert_true(b->desk.range.total[PAIR_MESSAGES] > 0);
}

static void totals_and_ranks(void *user, const struct wire_message *message, int snapshot)
{
    if (message->type == WIRE_TYPE_TOTALS || message->type == WIRE_TYPE_RANK_WINDOW)
        model_apply(user, message, snapshot);
}

/* The state reports past windows: what ranks did in them, and nothing of pairs. */
static void where_only_ranks_are_known_sums_of_pairs_are_those_since_the_start(void **state)
{
    struct bed *b = *state;
    b->desk.ui.view = VIEW_MATRIX;
    b->job.window = SYNTHETIC_FIRST + 200;
    for (int i = 0; i < 70; i++)
        synthetic_window(&b->job, totals_and_ranks, b->model);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "since the start (no finer figures received)"));
    assert_true(b->desk.range.total[PAIR_MESSAGES] > 0);
    b->desk.ui.view = VIEW_RANKS;
    desk_layout(&b->desk, b->model);
    assert_null(find_text(&b->desk.scene, "since the start ("));
    assert_non_null(find_text(&b->desk.scene, "last 60\xc2\xa0s"));
    for (int i = 0; i < 10; i++)
        synthetic_window(&b->job, desk_apply, b->model);
    b->desk.ui.view = VIEW_MATRIX;
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "10\xc2\xa0s of the last 60\xc2\xa0s"));
}

/* As a viewer that connects late to a live job: of the minute before it did
 * it has totals and figures of ranks only. */
static void where_a_live_job_was_not_followed_sums_are_those_since_the_start(void **state)
{
    struct bed *b = *state;
    struct series *s = &b->model->series;
    playback_clear(playback(b));
    b->desk.ui.view = VIEW_MATRIX;
    b->job.window = SYNTHETIC_FIRST + 200;
    for (int i = 0; i < 70; i++)
        synthetic_window(&b->job, totals_and_ranks, b->model);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "since the start (no finer figures received)"));
    assert_true(b->desk.range.total[PAIR_MESSAGES] > 0);
    for (int i = 0; i < 10; i++)
        synthetic_window(&b->job, desk_apply, b->model);
    desk_layout(&b->desk, b->model);
    assert_non_null(find_text(&b->desk.scene, "10\xc2\xa0s of the last 60\xc2\xa0s"));
    for (uint64_t i = 200; i < 270; i++) { /* a silent minute is one */
        struct window_totals *w = &s->windows[SYNTHETIC_FIRST + i - s->first];
        w->ranks = 0;
        w->sent = w->calls = 0;
    }
    b->desk.range.valid = 0;
    desk_layout(&b->desk, b->model);
    assert_null(find_text(&b->desk.scene, " of the last 60\xc2\xa0s"));
    assert_non_null(find_text(&b->desk.scene, "last 60\xc2\xa0s"));
}

static void help_lists_the_keys(void **state)
{
    struct bed *b = *state;
    type(b, "?");
    assert_non_null(find_text(&b->desk.scene, "slower, faster"));
    assert_non_null(find_text(&b->desk.scene, "a window back"));
}

static void in_a_tiny_window_the_line_has_the_room_of_the_speed(void **state)
{
    struct bed *b = *state;
    static const double widths[] = {1600, 330};
    for (int i = 0; i < 2; i++) {
        struct desk d;
        double line = 0, buttons = 1e9;
        desk_open(&d, widths[i], 240, 1, THEME_DARK, VIEW_LIVE);
        desk_layout(&d, b->model);
        for (size_t k = 0; k < d.scene.hit_count; k++) {
            const struct scene_hit *hit = &d.scene.hits[k];
            if (hit->kind == HIT_PLAYBACK)
                line = hit->box.x + hit->box.w - 8; /* it can be grasped from beside it */
            else if (hit->kind == HIT_BUTTON &&
                     (hit->a == COMMAND_REPLAY_SPEED || hit->a == COMMAND_REPLAY_LOOP))
                buttons = fmin(buttons, hit->box.x);
        }
        assert_true(line > 0 && line < buttons);
        desk_close(&d);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_bed, drop_bed)
    const struct CMUnitTest tests[] = {
        T(what_is_older_is_passed_over),
        T(marks_stay_until_they_are_reported_again),
        T(what_cannot_be_is_kept_within_bounds),
        T(it_outlives_the_state_of_the_job),
        T(the_bar_is_there_for_replays_alone),
        T(in_a_tiny_window_the_line_has_the_room_of_the_speed),
        T(the_header_says_what_the_replay_does),
        T(the_line_shows_what_was_played_and_what_is_indexed),
        T(it_fits_every_window),
        T(marks_are_recognised_by_shape_and_close_ones_joined),
        T(the_mouse_over_the_time_line_shows_the_time_there),
        T(keys_control_the_replay),
        T(steps_keep_their_place_among_what_is_asked),
        T(without_a_replay_they_do_not),
        T(a_click_goes_to_a_place_and_keeps_what_the_user_sees),
        T(beyond_its_ends_are_its_ends),
        T(the_knob_can_be_dragged),
        T(alerts_are_reached_by_click_and_by_key),
        T(alerts_that_follow_each_other_closely_are_each_reached_by_key),
        T(going_to_a_place_shows_it),
        T(buttons_do_what_keys_do),
        T(what_the_replay_has_not_been_at_is_said),
        T(nor_where_it_has_been_nowhere),
        T(where_it_has_not_been_sums_are_those_since_the_start),
        T(where_only_ranks_are_known_sums_of_pairs_are_those_since_the_start),
        T(where_a_live_job_was_not_followed_sums_are_those_since_the_start),
        T(help_lists_the_keys),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
