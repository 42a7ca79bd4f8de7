/* Transport bar of a replay: buttons, position, marks of alerts, seek line. */
#include "viewer/views/frame/frame.h"

#include "viewer/layout/format.h"

#include <math.h>
#include <stdio.h>

enum {
    BUTTON = 30,
    GAP = 10,         /* marks closer than this are merged, pixels */
    SPEED = 96,       /* width of the buttons for slower and faster and what is between them */
    TRACK_LEAST = 90, /* minimum width of the line: other parts give way */
};

/* Layout of the bar. */
struct transport_bar {
    struct box box, track;
    double middle; /* y of the line */
    int times;     /* there is room for the position as text */
};

static double transport_x_of(const struct transport_bar *b, const struct playback *p, uint64_t ns)
{
    double whole = (double)(p->end_ns - p->begin_ns);
    return b->track.x + b->track.w * (double)(playback_clamp(p, ns) - p->begin_ns) / whole;
}

/* ---- buttons ---- */

static void transport_triangle(const struct brush *b, double x, double y, double size, int left,
                               color_t color)
{
    double way = left ? -1 : 1;
    const struct point corners[] = {{x - way * size * 0.5, y - size * 0.62},
                                    {x + way * size * 0.62, y},
                                    {x - way * size * 0.5, y + size * 0.62}};
    scene_shape(b->scene, corners, 3, color);
}

/* Background and hit of a button. @return colour of its symbol */
static color_t transport_button(const struct stage *s, struct box box, int raised,
                                enum ui_command command, uint64_t argument)
{
    const struct theme *t = s->brush.theme;
    int hover = box_has(box, s->brush.mouse_x, s->brush.mouse_y);
    if (hover || raised)
        scene_rect(s->brush.scene, box, 6, hover ? t->line : t->raised);
    scene_hit(s->brush.scene, box, HIT_BUTTON, command, argument);
    return hover || raised ? t->text : t->second;
}

static void transport_add_step_button(const struct stage *s, double x, double y, int forward)
{
    color_t color = transport_button(s, (struct box){x, y, BUTTON, BUTTON}, 0, COMMAND_REPLAY_STEP,
                                     (uint64_t)forward);
    double cx = x + BUTTON / 2.0, cy = y + BUTTON / 2.0, way = forward ? 1 : -1;
    transport_triangle(&s->brush, cx - way * 1.5, cy, 9, !forward, color);
    scene_rect(s->brush.scene, (struct box){cx + way * 6 - 1, cy - 6, 2, 12}, 0, color);
}

static void transport_add_play_button(const struct stage *s, double x, double y)
{
    int plays = transport_plays(&s->ui->transport, &s->model->playback);
    color_t color =
        transport_button(s, (struct box){x, y, BUTTON + 6, BUTTON}, 1, COMMAND_REPLAY_PLAY, 0);
    double cx = x + BUTTON / 2.0 + 3, cy = y + BUTTON / 2.0;
    if (!plays) {
        transport_triangle(&s->brush, cx, cy, 12, 0, color);
        return;
    }
    scene_rect(s->brush.scene, (struct box){cx - 5, cy - 6, 3.5, 12}, 0, color);
    scene_rect(s->brush.scene, (struct box){cx + 1.5, cy - 6, 3.5, 12}, 0, color);
}

/* Buttons for slower and faster around the present speed. @return x where they begin */
static double transport_add_speed_buttons(const struct stage *s, double right, double y)
{
    char text[32];
    const double sign = 24, figure = SPEED - 2 * sign;
    transport_speed_text(text, sizeof text,
                         transport_speed_shown(&s->ui->transport, &s->model->playback));
    struct box more = {right - sign, y + 3, sign, 24},
               less = {right - 2 * sign - figure, y + 3, sign, 24};
    color_t color = transport_button(s, more, 0, COMMAND_REPLAY_SPEED, 1);
    scene_text(s->brush.scene, more.x, more.y + 3, sign, TEXT_STRONG, TEXT_CENTRE, color, "+");
    color = transport_button(s, less, 0, COMMAND_REPLAY_SPEED, 0);
    scene_text(s->brush.scene, less.x, less.y + 3, sign, TEXT_STRONG, TEXT_CENTRE, color,
               "\xe2\x88\x92");
    scene_text(s->brush.scene, less.x + sign, y + 6, figure, TEXT_SMALL_STRONG,
               TEXT_CENTRE | TEXT_FIGURES, s->brush.theme->text, text);
    return less.x;
}

static double transport_add_loop_button(const struct stage *s, double right, double y)
{
    int loops = transport_loops(&s->ui->transport, &s->model->playback);
    double w = scene_width(s->brush.scene, TEXT_SMALL, 0, "loop") + 20;
    struct box box = {right - w, y + 3, w, 24};
    color_t color = transport_button(s, box, 0, COMMAND_REPLAY_LOOP, 0);
    scene_outline(s->brush.scene, box, 6, 1, loops ? s->brush.theme->accent : s->brush.theme->line);
    scene_text(s->brush.scene, box.x, box.y + 4, w, TEXT_SMALL, TEXT_CENTRE,
               loops ? s->brush.theme->text : color, "loop");
    return box.x;
}

/* ---- figures ---- */

/* Position of a replay: short recordings in tenths of seconds, long ones in seconds. */
static struct quantity transport_passed(const struct playback *p, uint64_t ns)
{
    uint64_t since = playback_clamp(p, ns) - p->begin_ns;
    struct quantity whole = format_elapsed((int64_t)since);
    if (p->end_ns - p->begin_ns < UINT64_C(60000000000))
        return quantity_print("%s.%u", whole.text, (unsigned)(since / 100000000 % 10));
    return whole;
}

static void transport_add_times(const struct stage *s, double x, double y, double w)
{
    const struct playback *p = &s->model->playback;
    const struct theme *t = s->brush.theme;
    char line[160];
    uint64_t ns = transport_position(&s->ui->transport, p);
    double used = scene_text(s->brush.scene, x, y, w, TEXT_STRONG, TEXT_FIGURES, t->text,
                             transport_passed(p, ns).text);
    snprintf(line, sizeof line, " / %s", transport_passed(p, p->end_ns).text);
    scene_text(s->brush.scene, x + used, y, w - used, TEXT_BODY, TEXT_FIGURES, t->second, line);
    if (p->fault[0])
        scene_text(s->brush.scene, x, y + 18, w, TEXT_AXIS, 0, t->warn, p->fault);
    else
        scene_text(s->brush.scene, x, y + 18, w, TEXT_AXIS, TEXT_FIGURES, t->second,
                   format_date((int64_t)ns).text);
}

/* ---- marks ---- */

/* Mark of an alert: severity by shape as well as by colour (disc, triangle, diamond). Alerts that
 * never fired are pale. */
static void transport_shape(const struct brush *b, double x, double y, enum mark_severity severity,
                            int fired)
{
    const struct theme *t = b->theme;
    color_t color = severity == MARK_CRITICAL  ? t->bad
                    : severity == MARK_WARNING ? t->warn
                                               : t->info;
    color = fired ? color : color_mix(color, t->panel, 0.55);
    if (severity == MARK_INFO) {
        scene_disc(b->scene, x, y, 3.6, color);
        return;
    }
    scene_points(b->scene);
    if (severity == MARK_CRITICAL) {
        scene_point(b->scene, x, y - 5.5);
        scene_point(b->scene, x + 5.5, y);
        scene_point(b->scene, x, y + 5.5);
        scene_point(b->scene, x - 5.5, y);
    } else {
        scene_point(b->scene, x, y - 5);
        scene_point(b->scene, x + 5, y + 4);
        scene_point(b->scene, x - 5, y + 4);
    }
    scene_polygon(b->scene, color);
}

/* Number of marks, from `first` on, that are close enough to be merged. */
static uint32_t transport_cluster(const struct transport_bar *b, const struct playback *p,
                                  uint32_t first, enum mark_severity *severity, int *fired)
{
    double x = transport_x_of(b, p, playback_mark_ns(&p->marks[first]));
    uint32_t count = 0;
    *severity = MARK_INFO;
    *fired = 0;
    for (uint32_t i = first; i < p->mark_count; i++, count++) {
        const struct playback_mark *m = &p->marks[i];
        if (fabs(transport_x_of(b, p, playback_mark_ns(m)) - x) > GAP)
            break;
        *severity = m->severity > *severity ? m->severity : *severity;
        *fired |= m->fired_ns != 0;
    }
    return count;
}

/* Durations of alerts below the line, and their marks above it. */
static void transport_add_marks(const struct stage *s, const struct transport_bar *b)
{
    const struct playback *p = &s->model->playback;
    const struct theme *t = s->brush.theme;
    enum mark_severity severity;
    int fired;
    for (uint32_t i = 0, count; i < p->mark_count; i += count) {
        count = transport_cluster(b, p, i, &severity, &fired);
        double x = transport_x_of(b, p, playback_mark_ns(&p->marks[i])),
               from = b->track.x + b->track.w, to = b->track.x;
        for (uint32_t k = i; k < i + count; k++) {
            from = fmin(from, transport_x_of(b, p, p->marks[k].since_ns));
            to =
                fmax(to, transport_x_of(b, p, p->marks[k].end_ns ? p->marks[k].end_ns : p->end_ns));
        }
        color_t color = severity == MARK_CRITICAL  ? t->bad
                        : severity == MARK_WARNING ? t->warn
                                                   : t->info;
        scene_rect(s->brush.scene, (struct box){from, b->middle + 7, fmax(to - from, 1), 2}, 0,
                   color_mix(color, t->panel, 0.5));
        scene_line(s->brush.scene, x, b->middle - 9, x, b->middle - 4, 1,
                   color_mix(color, t->panel, 0.4));
        transport_shape(&s->brush, x, b->middle - 14, severity, fired);
        scene_hit(s->brush.scene, (struct box){x - 7, b->middle - 21, 14, 15}, HIT_MARK, i, count);
    }
}

static void transport_add_mark_tip(struct stage *s, uint64_t first, uint64_t count)
{
    enum { LINES = 6 };
    const struct playback *p = &s->model->playback;
    if (count > 1)
        tooltip_add(&s->tip, 0, "%llu alerts", (unsigned long long)count);
    for (uint64_t i = first; i < first + count && i < p->mark_count; i++) {
        const struct playback_mark *m = &p->marks[i];
        if (count > LINES && i == first + LINES - 1) {
            tooltip_add(&s->tip, 0, "and %llu more", (unsigned long long)(first + count - i));
            break;
        }
        if (count > 1) {
            tooltip_add(&s->tip, 0, "%s  %s, %s", transport_passed(p, m->since_ns).text, m->title,
                        playback_severity_name(m->severity));
            continue;
        }
        tooltip_add(&s->tip, 0, "%s", m->title);
        tooltip_add(&s->tip, 0, "%s, %s%s", playback_severity_name(m->severity), m->kind,
                    m->fired_ns ? "" : ", pending: it never fired");
        if (m->end_ns > m->since_ns)
            tooltip_add(&s->tip, 0, "from %s, for %s", transport_passed(p, m->since_ns).text,
                        format_duration((double)(m->end_ns - m->since_ns)).text);
        else
            tooltip_add(&s->tip, 0, "from %s to the end", transport_passed(p, m->since_ns).text);
    }
    tooltip_add(&s->tip, 0, "click: go there");
}

/* ---- the line ---- */

static void transport_add_line(const struct stage *s, const struct transport_bar *b)
{
    const struct playback *p = &s->model->playback;
    const struct transport *wish = &s->ui->transport;
    const struct theme *t = s->brush.theme;
    struct scene *scene = s->brush.scene;
    double left = b->track.x, y = b->middle - 3,
           at = transport_x_of(b, p, transport_position(wish, p)),
           indexed = transport_x_of(b, p, p->indexed_ns);
    int hover = wish->held || (s->hover && s->hover->kind == HIT_PLAYBACK);
    scene_rect(scene, (struct box){left, y, b->track.w, 6}, 3, t->line);
    if (p->indexed_ns > p->begin_ns && p->indexed_ns < p->end_ns)
        scene_rect(scene, (struct box){left, y, indexed - left, 6}, 3,
                   color_mix(t->line, t->second, 0.35));
    int away = p->state == PLAYBACK_SEEKING || (wish->wanted & WISH_PLACE);
    double played =
        !away ? at : transport_x_of(b, p, p->reached_ns ? p->reached_ns : p->position_ns);
    if (played > left)
        scene_rect(scene, (struct box){left, y, fmin(played, left + b->track.w) - left, 6},
                   fmin(3, (played - left) / 2),
                   away ? color_mix(t->accent, t->panel, 0.45) : t->accent);
    transport_add_marks(s, b);
    scene_disc(scene, at, b->middle, hover ? 8 : 7, t->panel);
    scene_disc(scene, at, b->middle, hover ? 7 : 6, t->accent);
    if (p->state == PLAYBACK_SEEKING && !wish->held)
        scene_disc(scene, at, b->middle, 3.5, t->panel);
}

/* Tooltip of the time under the mouse. */
static void transport_add_line_tip(struct stage *s, const struct transport_bar *b)
{
    const struct playback *p = &s->model->playback;
    if (!s->hover || s->ui->mouse.dragging)
        return;
    if (s->hover->kind == HIT_MARK)
        transport_add_mark_tip(s, s->hover->a, s->hover->b);
    if (s->hover->kind != HIT_PLAYBACK)
        return;
    double x = fmin(fmax(s->brush.mouse_x, b->track.x), b->track.x + b->track.w);
    uint64_t ns =
        p->begin_ns + (uint64_t)((x - b->track.x) / b->track.w * (double)(p->end_ns - p->begin_ns));
    scene_rect(s->brush.scene, (struct box){x - 0.5, b->middle - 8, 1, 16}, 0,
               s->brush.theme->text);
    tooltip_add(&s->tip, 0, "%s", transport_passed(p, ns).text);
    tooltip_add(&s->tip, 0, "%s", format_date((int64_t)ns).text);
    if (ns > p->indexed_ns)
        tooltip_add(&s->tip, 0, "not indexed yet: seeking takes a while");
}

void transport_layout(struct stage *s, struct box box)
{
    struct scene *scene = s->brush.scene;
    const struct theme *t = s->brush.theme;
    const struct playback *p = &s->model->playback;
    char widest[160];
    scene_panel(scene, box, t->panel, "transport");
    scene_rect(scene, (struct box){box.x, box.y, box.w, 1}, 0, t->line);
    double x = box.x + 10, y = box.y + (box.h - BUTTON) / 2 + 1, right = box.x + box.w - 12;
    transport_add_step_button(s, x, y, 0);
    transport_add_play_button(s, x + BUTTON + 2, y);
    transport_add_step_button(s, x + 2 * BUTTON + 10, y, 1);
    x += 3 * BUTTON + 22;
    right = transport_add_loop_button(s, right, y) - 6;
    if (right - x > SPEED + TRACK_LEAST / 2.0)
        right = transport_add_speed_buttons(s, right, y);
    right -= 18;
    struct quantity all = transport_passed(p, p->end_ns);
    snprintf(widest, sizeof widest, "%s / %s", all.text, all.text);
    double w = fmax(scene_width(scene, TEXT_STRONG, TEXT_FIGURES, widest), 118) + 4;
    struct transport_bar bar = {.box = box, .times = right - x - w - 34 >= TRACK_LEAST};
    if (bar.times)
        transport_add_times(s, x, box.y + 7, w);
    x += bar.times ? w + 22 : 12;
    bar.track = (struct box){x, box.y + 4, fmax(right - x, 20), box.h - 8};
    bar.middle = floor(box.y + box.h / 2) + 5;
    struct scene_hit *hit = scene_hit(scene, box_inset(bar.track, -8, 0), HIT_PLAYBACK, 0, 0);
    double ns = (double)(p->end_ns - p->begin_ns), beyond = ns * 8 / bar.track.w;
    hit->x0 = (double)p->begin_ns - beyond;
    hit->x1 = (double)p->end_ns + beyond;
    transport_add_line(s, &bar);
    transport_add_line_tip(s, &bar);
}
