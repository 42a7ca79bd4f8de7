/* The frame around the view: header, rail, status line, and the scene as a whole. */
#include "viewer/views/frame/frame.h"

#include "viewer/layout/format.h"
#include "viewer/ui/ui_address.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/monitor/cost.h"
#include "viewer/views/views.h"

#include "holter/plain_text.h"
#include "proto/client.h"
#include "proto/quantity.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 46,
    RAIL = 98,
    TABS = 34,
    STATUS = 26,
    TRANSPORT = 46,
    CONTEXT = 316,
    WIDE = 1180,
    NARROW = 480,
    FACTS_LEFT = 14
};

/* "Open MPI v4.1.4, package: ..." up to the first comma or line. */
static void frame_format_mpi_name(char *out, size_t capacity, const char *mpi)
{
    snprintf(out, capacity, "%.*s", (int)strcspn(mpi, ",\n\r"), mpi);
}

/* ---- header ---- */

struct state_text {
    const char *text;
    color_t color, ground;
};

/* State of a replay, or that the user looks at another time than its position. */
static struct state_text frame_replay_state(const struct stage *s)
{
    const struct theme *t = s->brush.theme;
    const struct playback *p = &s->model->playback;
    if (model_is_timeless(s->model))
        return (struct state_text){"IMPORTED", t->second, t->raised};
    if (!s->ui->time.follow)
        return (struct state_text){"REPLAY, VIEW HELD", t->warn, t->warn_ground};
    if (p->state == PLAYBACK_SEEKING && p->known_ns && !(s->ui->transport.wanted & WISH_PLACE))
        return (struct state_text){"REPLAY, PREVIEW", t->warn, t->warn_ground};
    if (p->state == PLAYBACK_SEEKING || (s->ui->transport.wanted & WISH_PLACE))
        return (struct state_text){"REPLAY, SEEKING", t->warn, t->warn_ground};
    if (transport_plays(&s->ui->transport, p))
        return (struct state_text){"REPLAY", t->good, t->good_ground};
    if (p->state == PLAYBACK_ENDED)
        return (struct state_text){"REPLAY ENDED", t->second, t->raised};
    return (struct state_text){"REPLAY PAUSED", t->warn, t->warn_ground};
}

static struct state_text frame_state_of(const struct stage *s)
{
    const struct theme *t = s->brush.theme;
    switch (s->ui->connection.state) {
    case CLIENT_DIALLING:
        return (struct state_text){"CONNECTING", t->warn, t->warn_ground};
    case CLIENT_LOST:
        return (struct state_text){"DAEMON LOST", t->bad, t->bad_ground};
    case CLIENT_REFUSED:
        return (struct state_text){"REFUSED", t->bad, t->bad_ground};
    default:
        break;
    }
    if (!s->model->job[0])
        return (struct state_text){"NO JOB", t->second, t->raised};
    if (s->model->playback.known)
        return frame_replay_state(s);
    if (!s->ui->time.follow)
        return (struct state_text){"PAUSED", t->warn, t->warn_ground};
    if (!strcmp(s->model->state, "died"))
        return (struct state_text){"DIED", t->bad, t->bad_ground};
    if (!strcmp(s->model->state, "lost"))
        return (struct state_text){"LOST", t->bad, t->bad_ground};
    if (model_ended(s->model))
        return (struct state_text){"ENDED", t->second, t->raised};
    return (struct state_text){"LIVE", t->good, t->good_ground};
}

static double frame_add_state_pill(const struct stage *s, double right, double y)
{
    struct state_text state = frame_state_of(s);
    double w = scene_width(s->brush.scene, TEXT_SMALL_STRONG, 0, state.text) + 36;
    struct box box = {right - w, y, w, 22};
    scene_rect(s->brush.scene, box, 11, state.ground);
    scene_disc(s->brush.scene, box.x + 14, y + 11, 3.5, state.color);
    scene_text(s->brush.scene, box.x + 24, y + 3, w - 30, TEXT_SMALL_STRONG, 0, state.color,
               state.text);
    enum ui_command command = !s->ui->time.follow        ? COMMAND_FOLLOW
                              : s->model->playback.known ? COMMAND_REPLAY_PLAY
                                                         : COMMAND_PAUSE;
    scene_hit(s->brush.scene, box, HIT_BUTTON, command, 0);
    return w;
}

static void frame_format_facts(const struct stage *s, char *out, size_t capacity)
{
    static const char dot[] = " \xc2\xb7 ";
    const struct model *m = s->model;
    char mpi[129];
    int64_t begin, end;
    if (!m->job[0]) {
        snprintf(out, capacity, "%s", s->ui->connection.endpoint);
        return;
    }
    ui_whole_time(m, &begin, &end);
    uint64_t until = m->end_ns ? m->end_ns : (uint64_t)end;
    frame_format_mpi_name(mpi, sizeof mpi, m->mpi);
    int64_t length = m->start_ns ? (int64_t)(until - m->start_ns) : 0;
    snprintf(out, capacity, "job %s%s%s rank%s on %s node%s%s%s", m->job, dot,
             quantity_grouped(m->world).text, m->world == 1 ? "" : "s",
             quantity_grouped(m->host_count).text, m->host_count == 1 ? "" : "s", mpi[0] ? dot : "",
             mpi);
    if (!model_is_timeless(m))
        text_append(out, capacity, "%s%s", dot,
                    m->end_ns && length < INT64_C(10000000000)
                        ? format_duration((double)length).text
                        : format_elapsed(length).text);
    if (m->group > 1)
        text_append(out, capacity, "%sby groups of %s ranks", dot, quantity_grouped(m->group).text);
    if (m->seen < m->world)
        text_append(out, capacity, "%s%llu not seen%s", dot,
                    (unsigned long long)(m->world - m->seen), model_ended(m) ? "" : " yet");
}

static void frame_add_header(const struct stage *s, int folded)
{
    const struct theme *t = s->brush.theme;
    struct scene *scene = s->brush.scene;
    static const double beat[][2] = {{0, 0},  {14, 0},  {17, -4}, {20, 4}, {24, -11},
                                     {28, 9}, {31, -3}, {34, 0},  {48, 0}};
    scene_panel(scene, (struct box){0, 0, s->ui->w, HEADER}, t->panel, "header");
    scene_rect(scene, (struct box){0, HEADER - 1, s->ui->w, 1}, 0, t->line);
    double right = s->ui->w - 14, logo = scene_width(scene, TEXT_LOGO, 0, "holter");
    right -=
        widget_button(&s->brush, right - 58, 11, "? help", s->ui->overlay.help, COMMAND_HELP, 0) +
        8;
    int replay = s->model->playback.known;
    int goes =
        replay ? transport_plays(&s->ui->transport, &s->model->playback) : s->ui->time.follow;
    const char *pause = goes ? "pause  space" : replay ? "play  space" : "go on  space";
    double pause_w = scene_width(scene, TEXT_SMALL, 0, pause) + 20;
    if (s->ui->w >= NARROW && /* else the state of the job is the button */
        !model_is_timeless(s->model)) {
        widget_button(&s->brush, right - pause_w, 11, pause, 0,
                      replay ? COMMAND_REPLAY_PLAY : COMMAND_PAUSE, 0);
        right -= pause_w + 8;
    }
    if (folded) {
        double w = scene_width(scene, TEXT_SMALL, 0, "context") + 20;
        widget_button(&s->brush, right - w, 11, "context", s->ui->overlay.drawer, COMMAND_DRAWER,
                      0);
        right -= w + 8;
    }
    right -= frame_add_state_pill(s, right, 12) + 16;
    double x = 20 + (20 + logo <= right ? logo + 12 : 0);
    if (x > 20)
        scene_text(scene, 20, 10, logo + 1, TEXT_LOGO, 0, t->accent, "holter");
    if (x + 66 <= right) {
        scene_points(scene);
        for (size_t i = 0; i < sizeof beat / sizeof *beat; i++)
            scene_point(scene, x + beat[i][0], 23.5 + beat[i][1]);
        scene_curve(scene, 1.6, t->accent);
        x += 66;
    }
    const char *name = s->model->job[0] ? text_base_name(s->model->app) : "";
    if (right - x < 60)
        return;
    double used =
        scene_text(scene, x, 14, (right - x) * 0.4, TEXT_STRONG, TEXT_MIDDLE, t->text, name);
    x += used > 0 ? used + 16 : 0;
    char facts[512];
    frame_format_facts(s, facts, sizeof facts);
    scene_text(scene, x, 14, right - x, TEXT_BODY, TEXT_CLAUSES, t->second, facts);
}

/* ---- status ---- */

/* The facts of the status line, from left to right, as far as there is room. */
struct status_line {
    const struct stage *stage;
    double x, end;
};

/* Append a fact, separated by a dot. */
__attribute__((format(printf, 3, 4))) static void
frame_add_fact(struct status_line *line, color_t color, const char *format, ...)
{
    const struct stage *s = line->stage;
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    double w = scene_width(s->brush.scene, TEXT_AXIS, 0, text), x = line->x;
    if (x + w > line->end) {
        line->x = line->end;
        return;
    }
    if (x > FACTS_LEFT)
        scene_disc(s->brush.scene, x - 9, s->ui->h - STATUS / 2.0, 1.2, s->brush.theme->faint);
    scene_text(s->brush.scene, x, s->ui->h - STATUS + 6, w + 1, TEXT_AXIS, 0, color, text);
    line->x = x + w + 18;
}

/* What the agents and the daemon lost, and the share of the received messages that latency rests
 * on. */
static void frame_add_loss_facts(struct status_line *line, const struct monitor_cost *c)
{
    const struct theme *t = line->stage->brush.theme;
    const struct model *m = line->stage->model;
    if (m->node_count)
        frame_add_fact(line, c->lost ? t->bad : t->second, "lost %s",
                       quantity_grouped(c->lost).text);
    if (m->untracked)
        frame_add_fact(line, t->bad, "%s requests not tracked",
                       quantity_grouped(m->untracked).text);
    if (c->dropped)
        frame_add_fact(line, t->bad, "%s windows dropped", quantity_grouped(c->dropped).text);
    if (m->series.missing)
        frame_add_fact(line, t->warn, "%s windows missing",
                       quantity_grouped(m->series.missing).text);
    if (m->matched + m->unmatched > 0 && model_has_times(m))
        frame_add_fact(line, m->unmatched > m->matched / 99 ? t->warn : t->second, "matched %s",
                       quantity_matched(m->matched, m->unmatched).text);
    if (m->latency.rejected)
        frame_add_fact(line, t->warn, "%s matches refused",
                       quantity_grouped(m->latency.rejected).text);
}

/* What this viewer missed, and whether all MPI functions in use are covered by the probe. */
static void frame_add_coverage_facts(struct status_line *line, int probed)
{
    const struct theme *t = line->stage->brush.theme;
    const struct model *m = line->stage->model;
    uint64_t missed = line->stage->ui->connection.missed;
    if (missed)
        frame_add_fact(line, t->warn, "%s frames missed here", quantity_grouped(missed).text);
    if (m->out_of_memory)
        frame_add_fact(line, t->bad, "the viewer is out of memory: figures are incomplete");
    if (m->uncovered_used)
        frame_add_fact(line, t->warn, "%u MPI functions in use are not covered", m->uncovered_used);
    else if (m->job[0] && probed)
        frame_add_fact(line, t->second, "every MPI call covered");
}

static void frame_add_cost_facts(const struct stage *s, double end)
{
    const struct theme *t = s->brush.theme;
    const struct model *m = s->model;
    struct status_line line = {s, FACTS_LEFT, end};
    struct monitor_cost c = monitor_cost_of(m);
    if (c.measured)
        frame_add_fact(&line, t->second, "probe %s/call", format_duration(c.call_ns).text);
    if (c.rated && c.measured) { /* an import had no agents */
        frame_add_fact(&line, t->second, "agents %s of a core", format_share(c.cpu_share).text);
        frame_add_fact(&line, t->second, "uplink %s per node", format_si(c.uplink, "B/s").text);
    }
    if (m->daemon.known && m->daemon.now_ns > m->daemon.before_ns) {
        double share = (double)(m->daemon.cpu_ns - m->daemon.cpu_before_ns) /
                       (double)(m->daemon.now_ns - m->daemon.before_ns);
        frame_add_fact(&line, t->second, "daemon %s of a core", format_share(share).text);
    }
    frame_add_loss_facts(&line, &c);
    uint64_t error = monitor_clock_error(m, &c);
    if (m->node_count && error == WIRE_ANY)
        frame_add_fact(&line, t->warn, "clocks not aligned yet");
    else if (m->node_count && error)
        frame_add_fact(&line, t->second, "clock \xc2\xb1%s", format_duration((double)error).text);
    frame_add_coverage_facts(&line, c.measured > 0);
}

static void frame_format_recording(const struct stage *s, char *out, size_t capacity,
                                   color_t *color)
{
    const struct model *m = s->model;
    const struct theme *t = s->brush.theme;
    *color = t->second;
    if (s->ui->overlay.notice[0]) {
        *color = t->text;
        snprintf(out, capacity, "%s", s->ui->overlay.notice);
    } else if (m->playback.known) {
        snprintf(out, capacity, "replaying %s", text_base_name(m->playback.file));
    } else if (m->daemon.recorder_error[0]) {
        *color = t->bad;
        snprintf(out, capacity, "recording stopped: %s", m->daemon.recorder_error);
    } else if (m->recording[0]) {
        const uint64_t bytes = model_recorded_bytes(m);
        snprintf(out, capacity, "%s %s%s%s", model_ended(m) ? "recorded in" : "recording",
                 text_base_name(m->recording), bytes ? " " : "",
                 bytes ? format_si((double)bytes, "B").text : "");
    } else if (m->job[0]) {
        snprintf(out, capacity, "not recording");
    } else {
        *out = 0;
    }
}

/* Buttons that copy the rows in sight. @return their width */
static double frame_add_copy(const struct stage *s, double right, struct box box)
{
    static const char *const words[] = {"csv", "copy rows as text"};
    const double begin = right;
    for (int i = 0; i < 2; i++) {
        double w = scene_width(s->brush.scene, TEXT_AXIS, 0, words[i]) + 1;
        struct box place = {right - w, box.y + 1, w, box.h - 1};
        int hover = box_has(place, s->brush.mouse_x, s->brush.mouse_y);
        scene_text(s->brush.scene, place.x, box.y + 6, w, TEXT_AXIS, 0,
                   hover ? s->brush.theme->text : s->brush.theme->info, words[i]);
        scene_hit(s->brush.scene, place, HIT_BUTTON, COMMAND_COPY_ROWS, !i);
        right -= w + 10;
    }
    return begin - right + 6;
}

/* The address of what is seen, at the right; a click copies it. @return width with its margin */
static double frame_add_address(const struct stage *s, struct box box)
{
    char text[ADDRESS_TEXT];
    struct address address;
    if (!s->model->job[0] || box.w < 900)
        return 0;
    ui_address(s->ui, s->model, &address);
    address_print(&address, text, sizeof text);
    double w = fmin(scene_width(s->brush.scene, TEXT_AXIS, 0, text) + 1, box.w * 0.25);
    struct box place = {box.w - 14 - w, box.y + 1, w, box.h - 1};
    int hover = box_has(place, s->brush.mouse_x, s->brush.mouse_y);
    scene_text(s->brush.scene, place.x, box.y + 6, w, TEXT_AXIS, TEXT_MIDDLE,
               hover ? s->brush.theme->text : s->brush.theme->info, text);
    scene_hit(s->brush.scene, place, HIT_BUTTON, COMMAND_COPY, 0);
    return w + 16 + frame_add_copy(s, place.x - 16, box);
}

static void frame_add_status(const struct stage *s)
{
    const struct theme *t = s->brush.theme;
    struct box box = {0, s->ui->h - STATUS, s->ui->w, STATUS};
    char recording[600];
    color_t color;
    scene_panel(s->brush.scene, box, t->panel, "status");
    scene_rect(s->brush.scene, (struct box){0, box.y, box.w, 1}, 0, t->line);
    frame_format_recording(s, recording, sizeof recording, &color);
    double w = fmin(scene_width(s->brush.scene, TEXT_AXIS, 0, recording), box.w * 0.4);
    double right = box.w - 14 - frame_add_address(s, box) - w;
    scene_text(s->brush.scene, right, box.y + 6, w + 1, TEXT_AXIS, 0, color, recording);
    const struct ui_connection *c = &s->ui->connection;
    if (c->state == CLIENT_CONNECTED || !c->error[0])
        frame_add_cost_facts(s, right - 16);
    else
        scene_text(s->brush.scene, 14, box.y + 6, right - 30, TEXT_AXIS, 0, t->bad, c->error);
}

/* ---- the whole ---- */

/* Note over the last picture since when no new data has arrived. */
static void frame_add_stale_note(const struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    if (s->ui->connection.state == CLIENT_CONNECTED || !s->model->job[0])
        return;
    const char *text = s->ui->connection.state == CLIENT_REFUSED
                           ? "The daemon refuses this viewer; what you see is old."
                           : "The daemon cannot be reached; what you see is old. Trying again.";
    double w = scene_width(s->brush.scene, TEXT_SMALL, 0, text) + 28;
    struct box note = {box.x + (box.w - w) / 2, box.y + box.h - 44, w, 28};
    scene_panel(s->brush.scene, note, 0, "stale");
    scene_overlay(s->brush.scene);
    scene_rect(s->brush.scene, note, 6, t->bad_ground);
    scene_outline(s->brush.scene, note, 6, 1, t->bad);
    scene_text(s->brush.scene, note.x + 14, note.y + 6, w - 28, TEXT_SMALL, 0, t->text, text);
}

/* "after: b.hrec, 1,024 nodes, 123 GiB on links". */
static void frame_format_run(const struct stage *s, char *out, size_t capacity)
{
    const struct other_run *other = s->ui->network.other;
    snprintf(out, capacity, "%s: %.80s, %s node%s, %s on links", s->follows ? "before" : "after",
             other->names[!s->follows], quantity_grouped(s->model->host_count).text,
             s->model->host_count == 1 ? "" : "s",
             format_si((double)s->range->flows.bytes, "B").text);
}

/* A view below the name of the state that it shows. */
static void frame_add_half(struct stage *s, const struct view *view, struct box box)
{
    char state[280];
    if (s->second)
        frame_format_run(s, state, sizeof state);
    else
        ui_network_state(s->ui, state, sizeof state);
    scene_panel(s->brush.scene, box, s->brush.theme->ground, "view.half");
    scene_text(s->brush.scene, box.x + 16, box.y + 6, box.w - 32, TEXT_SMALL_STRONG, TEXT_CLAUSES,
               s->brush.theme->text, state);
    view->layout(s, (struct box){box.x, box.y + 20, box.w, box.h - 20});
}

/* The reality beside the state that is shown: the same positions, scale and order. */
static void frame_split_states(struct stage *left, struct stage *right, struct ui ui[2],
                               struct range *real)
{
    struct torus_panel *before = &ui[0].torus.panels[0];
    if (ui[0].network.applied)
        real->flows = real->reality;
    ui[0].network.compare = COMPARE_BEFORE;
    ui[0].network.applied = 0;
    ui[1].network.compare = COMPARE_AFTER;
    if (before->before) {
        before->loads = before->before;
        before->version = ~before->version; /* another one than that of any panel */
    }
    before->before = ui[1].torus.panels[0].before = NULL;
    left->range = real;
    left->pictures = right->pictures->beside[0];
}

/* What both halves share where only the first has the items: buttons, the ground, which moves both,
 * the ends of the colours, and lists. */
static int frame_is_common(enum hit_kind kind)
{
    return kind == HIT_BUTTON || kind == HIT_NETWORK || kind == HIT_TORUS || kind == HIT_ROUTES ||
           kind == HIT_SCALE || kind == HIT_HANDLE || kind == HIT_LIST || kind == HIT_SORT;
}

/* Two runs on different networks. What is chosen is of the first. */
static void frame_split_networks(struct stage *left, struct stage *right, struct ui *ui,
                                 const struct other_run *second)
{
    const struct window_totals *w = series_newest(&second->model->series);
    if (w)
        ui_show_span(ui, second->model, (int64_t)(second->range.first * w->length_ns),
                     (int64_t)((second->range.last + 1) * w->length_ns));
    ui->torus.panels[0] = ui->torus.second;
    ui->torus.panel_count = 1;
    ui->torus.panel = ui->torus.grid = ui->torus.menu = 0;
    ui->graph = ui->second_graph;
    ui->selection = (struct selection){0};
    ui->network.filter.picked = 0;
    ui->network.flows = &second->range.flows;
    right->second = left->range;
    left->second = right->range = &second->range;
    right->model = second->model;
    right->pictures = left->pictures->beside[1];
    if (right->hover && !frame_is_common(right->hover->kind))
        right->hover = NULL;
}

static void frame_keep_common_hits(struct scene *scene, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < scene->hit_count; i++)
        if (frame_is_common(scene->hits[i].kind))
            scene->hits[kept++] = scene->hits[i];
    scene->hit_count = kept;
}

/* The same view twice: pictures side by side, lists one below the other. The right half is first,
 * as a reality takes its positions. */
static void frame_add_both(struct stage *s, const struct view *view, struct box box)
{
    const struct other_run *second = ui_second_network(s->ui);
    struct pictures **beside = &s->pictures->beside[second != NULL];
    const int first = !*beside;
    if (first)
        *beside = calloc(1, sizeof **beside);
    struct ui *ui = malloc(2 * sizeof *ui);
    if (!*beside || !ui) {
        free(ui);
        return;
    }
    struct range real = *s->range;
    struct stage left = *s, right = *s;
    left.ui = &ui[0];
    right.ui = &ui[1];
    ui[0] = ui[1] = *s->ui;
    left.follows = 1;
    if (second)
        frame_split_networks(&left, &right, &ui[1], second);
    else
        frame_split_states(&left, &right, ui, &real);
    left.other = right.pictures;
    right.other = left.pictures;
    (*beside)->busy = 0;
    struct box halves[2] = {box, box};
    if (view == &links_view) {
        halves[0].h = floor(box.h / 2);
        halves[1].y += halves[0].h;
        halves[1].h -= halves[0].h;
    } else {
        halves[0].w = floor(box.w / 2);
        halves[1].x += halves[0].w;
        halves[1].w -= halves[0].w;
    }
    const size_t hits = s->brush.scene->hit_count;
    frame_add_half(&right, view, halves[1]);
    if (second)
        frame_keep_common_hits(s->brush.scene, hits);
    s->brush.scene->suffix = ".before";
    frame_add_half(&left, view, halves[0]);
    s->brush.scene->suffix = NULL;
    s->pictures->busy |= (*beside)->busy | first; /* the scale is known once both have been made */
    s->tip = right.tip.count ? right.tip : left.tip;
    free(ui);
}

static void frame_layout(struct stage *s)
{
    const struct ui *ui = s->ui;
    const struct theme *t = s->brush.theme;
    int folded = ui->w < WIDE;
    double context_w = folded ? 0 : CONTEXT;
    /* What has no times cannot be played, nor paused. */
    double bar_h = s->model->playback.known && !model_is_timeless(s->model) ? TRANSPORT : 0;
    struct box main_box = {RAIL, HEADER + TABS, ui->w - RAIL - context_w,
                           ui->h - HEADER - TABS - STATUS - bar_h};
    scene_panel(s->brush.scene, (struct box){0, 0, ui->w, ui->h}, t->ground, "ground");
    frame_add_header(s, folded);
    enum view_id view = ui->jobs_first || !s->model->job[0] ? VIEW_JOBS : ui->view;
    places_add_rail(s, (struct box){0, HEADER, RAIL, ui->h - HEADER - STATUS}, view);
    places_add_tabs(s, (struct box){RAIL, HEADER, ui->w - RAIL - context_w, TABS}, view);
    if (!folded)
        context_layout(
            s, (struct box){main_box.x + main_box.w, HEADER, context_w, main_box.h + TABS}, 0);
    double verdict_h = folded ? verdict_layout(s, main_box) : 0;
    main_box.y += verdict_h;
    main_box.h -= verdict_h;
    scene_panel(s->brush.scene, main_box, t->ground, "view.%s", place_names[view].name);
    const int room = main_box.h >= VIEW_LEAST && main_box.w >= VIEW_LEAST_W;
    if (room && view == ui->view && ui_shows_both(ui))
        frame_add_both(s, views[view], main_box);
    else if (room)
        views[view]->layout(s, main_box);
    else
        piece_empty(s, main_box, "Too little room for this view", NULL);
    if (bar_h > 0)
        transport_layout(s, (struct box){RAIL, main_box.y + main_box.h, ui->w - RAIL, bar_h});
    frame_add_status(s); /* buttons come into focus in this order: its are the last ones */
    frame_add_stale_note(s, main_box);
    if (folded && ui->overlay.drawer) {
        double high = main_box.y + main_box.h - HEADER;
        scene_hit(s->brush.scene, (struct box){0, HEADER, ui->w, high}, HIT_COVER, 0, 0);
        s->tip.count = 0;
        double w = fmin(CONTEXT, ui->w - 20);
        context_layout(s, (struct box){ui->w - w, HEADER, w, high}, 1);
    }
    if (ui->overlay.help || ui->overlay.searching)
        s->tip.count = 0;
    if (ui->overlay.help)
        help_layout(s);
    if (ui->overlay.searching)
        search_layout(s);
    places_add_focus(s);
    const char *whole = scene_shortened_at(s->brush.scene, s->brush.mouse_x, s->brush.mouse_y);
    if (whole)
        tooltip_add_text(&s->tip, t->text, whole);
    widget_tooltip(&s->brush, &s->tip);
}

void frame_scene(struct scene *scene, const struct model *model, const struct range *range,
                 const struct ui *ui, const struct theme *theme, struct pictures *pictures,
                 struct text_measure measure)
{
    const struct scene_hit *under = scene_hit_at(scene, ui->mouse.x, ui->mouse.y);
    struct scene_hit hover = under ? *under : (struct scene_hit){0};
    struct stage stage = {
        .brush = {scene, theme, ui->mouse.x, ui->mouse.y},
        .model = model,
        .range = range,
        .ui = ui,
        .pictures = pictures,
        .quantity = piece_has_bytes(model, range) ? ui->quantity : PAIR_MESSAGES,
        .hover = under ? &hover : NULL,
    };
    pictures->busy = 0;
    scene_begin(scene, ui->w, ui->h, ui->scale, measure);
    frame_layout(&stage);
    scene_end(scene);
}
