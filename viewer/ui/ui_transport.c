/* Requests of the user to a replay: pause, speed, position, loop. */
#include "viewer/ui/ui_transport.h"

#include "viewer/ui/ui.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MAXIMUM_STEPS = 8, SCRUB_MS = 200 };

static double transport_speed(int number)
{
    static const double speeds[TRANSPORT_SPEEDS] = {0.1, 0.25, 0.5, 1,   2,    5, 10,
                                                    20,  50,   100, 200, 1000, 0};
    return speeds[number < 0 ? 0 : number < TRANSPORT_SPEEDS ? number : TRANSPORT_SPEEDS - 1];
}

char *transport_speed_text(char *out, size_t capacity, double speed)
{
    if (speed > 0)
        snprintf(out, capacity, "%.*gx", speed < 1000 ? 3 : 6, speed);
    else
        snprintf(out, capacity, "max");
    return out;
}

/* ---- what is shown ------------------------------------------------------- */

int transport_plays(const struct transport *t, const struct playback *p)
{
    return t->wanted & WISH_PLAY
               ? t->plays
               : !p->paused && (p->state == PLAYBACK_SEEKING || p->state == PLAYBACK_PLAYING);
}

int transport_loops(const struct transport *t, const struct playback *p)
{
    return t->wanted & WISH_LOOP ? t->loops : p->looping;
}

double transport_speed_shown(const struct transport *t, const struct playback *p)
{
    return t->wanted & WISH_SPEED ? t->speed : p->speed;
}

uint64_t transport_position(const struct transport *t, const struct playback *p)
{
    return t->wanted & WISH_PLACE                         ? t->place_ns
           : p->state == PLAYBACK_SEEKING && p->target_ns ? p->target_ns
                                                          : p->position_ns;
}

/* ---- wishes -------------------------------------------------------------- */

static void ui_transport_request(struct transport *t, enum transport_wish wish)
{
    t->wanted |= wish;
    t->due |= wish;
}

/* A seek also makes the time of that position visible. */
static void ui_transport_seek(struct ui *ui, const struct playback *p, uint64_t ns)
{
    ui->transport.place_ns = playback_clamp(p, ns);
    ui->transport.steps = 0;
    ui_transport_request(&ui->transport, WISH_PLACE);
    ui->time.follow = 1;
}

/* A replay pauses after a step. */
static void ui_transport_step(struct ui *ui, int forward)
{
    struct transport *t = &ui->transport;
    t->steps += forward ? 1 : -1;
    t->steps = t->steps > MAXIMUM_STEPS    ? MAXIMUM_STEPS
               : t->steps < -MAXIMUM_STEPS ? -MAXIMUM_STEPS
                                           : t->steps;
    t->plays = 0;
    t->wanted |= WISH_PLAY;
    t->due &= ~(unsigned)WISH_PLAY;
    ui->time.follow = 1;
}

/* The next selectable speed; "as fast as possible" is above all others. */
static void change_speed(struct transport *t, const struct playback *p, int faster)
{
    double now = transport_speed_shown(t, p);
    int k = 0;
    now = now > 0 ? now : INFINITY;
    if (faster) {
        while (k < TRANSPORT_SPEEDS - 1 && transport_speed(k) <= now * (1 + 1e-9))
            k++;
    } else {
        k = TRANSPORT_SPEEDS - 2;
        while (k > 0 && transport_speed(k) >= now * (1 - 1e-9))
            k--;
    }
    t->speed = transport_speed(k);
    ui_transport_request(t, WISH_SPEED);
}

/* How far a replay has come since an alert on which a user could react: nowhere while it is paused.
 */
static uint64_t transport_moment_ns(const struct transport *t, const struct playback *p)
{
    const double part = (double)(p->end_ns - p->begin_ns) / 200,
                 speed = transport_speed_shown(t, p);
    return !transport_plays(t, p) ? 0 : (uint64_t)(speed > 0 ? fmin(part, 2e9 * speed) : part);
}

/* Seeks the alert before or after the shown time. Before: one passed more than a moment ago, so
 * that two steps back reach the one before. */
static void seek_mark(struct ui *ui, const struct playback *p, int forward)
{
    uint64_t at = transport_position(&ui->transport, p), best = 0;
    uint64_t moment = transport_moment_ns(&ui->transport, p);
    int found = 0;
    for (uint32_t i = 0; i < p->mark_count; i++) {
        uint64_t ns = playback_clamp(p, playback_mark_ns(&p->marks[i]));
        if (forward ? ns <= at || (found && ns >= best)
                    : ns + moment >= at || (found && ns <= best))
            continue;
        best = ns;
        found = 1;
    }
    if (found)
        ui_transport_seek(ui, p, best);
}

int transport_command(struct ui *ui, const struct model *m, enum ui_command command,
                      uint64_t argument)
{
    struct transport *t = &ui->transport;
    const struct playback *p = &m->playback;
    if (!p->known)
        return 0;
    switch (command) {
    case COMMAND_REPLAY_PLAY:
        t->plays = !transport_plays(t, p);
        t->steps = 0;
        ui_transport_request(t, WISH_PLAY);
        break;
    case COMMAND_REPLAY_STEP:
        ui_transport_step(ui, argument != 0);
        break;
    case COMMAND_REPLAY_SPEED:
        change_speed(t, p, argument != 0);
        break;
    case COMMAND_REPLAY_LOOP:
        t->loops = !transport_loops(t, p);
        ui_transport_request(t, WISH_LOOP);
        break;
    case COMMAND_REPLAY_MARK:
        seek_mark(ui, p, argument != 0);
        break;
    default:
        return 0;
    }
    return UI_CHANGED;
}

/* ---- mouse --------------------------------------------------------------- */

static void seek_mouse(struct ui *ui, const struct playback *p, const struct scene_hit *hit)
{
    double at = scene_hit_x(hit, ui->mouse.x);
    ui_transport_seek(ui, p, at > 0 ? (uint64_t)at : 0);
}

int transport_press(struct ui *ui, const struct model *m, const struct scene_hit *hit)
{
    if (hit->kind != HIT_PLAYBACK || !m->playback.known)
        return 0;
    ui->transport.held = 1;
    seek_mouse(ui, &m->playback, hit);
    return 1;
}

int transport_drag(struct ui *ui, const struct model *m, const struct scene_hit *hit)
{
    if (hit->kind != HIT_PLAYBACK)
        return 0;
    if (ui->transport.held && m->playback.known)
        seek_mouse(ui, &m->playback, hit);
    return 1;
}

void transport_release(struct ui *ui)
{
    ui->transport.held = 0;
}

int transport_click(struct ui *ui, const struct model *m, const struct scene_hit *hit)
{
    const struct playback *p = &m->playback;
    if (hit->kind != HIT_MARK || hit->a >= p->mark_count)
        return 0;
    ui_transport_seek(ui, p, playback_mark_ns(&p->marks[hit->a]));
    return 1;
}

/* ---- asking -------------------------------------------------------------- */

static int may_seek(const struct transport *t, const struct playback *p, uint64_t now_ms)
{
    return !t->held ||
           (p->state != PLAYBACK_SEEKING && (!t->asked_ms || now_ms >= t->asked_ms + SCRUB_MS));
}

/* Whether a step can be sent: steps start where a seek ends; during a preview the daemon refuses
 * them. */
static int may_step(const struct transport *t, const struct playback *p)
{
    return !(t->due & WISH_PLACE) &&
           !(p->state == PLAYBACK_SEEKING && p->target_ns && !p->known_ns);
}

static int ui_transport_is_possible(struct transport *t, enum transport_wish wish)
{
    int due = (t->due & wish) != 0;
    t->due &= ~(unsigned)wish;
    return due;
}

int transport_next(struct transport *t, const struct playback *p, uint64_t now_ms, char *out,
                   size_t capacity)
{
    if (!p->known) {
        *t = (struct transport){0};
        return 0;
    }
    if (ui_transport_is_possible(t, WISH_SPEED)) {
        if (t->speed > 0)
            snprintf(out, capacity, "speed %g", t->speed);
        else
            snprintf(out, capacity, "speed max");
        return 1;
    }
    if (ui_transport_is_possible(t, WISH_LOOP)) {
        snprintf(out, capacity, "loop %s", t->loops ? "on" : "off");
        return 1;
    }
    if (t->due & WISH_PLACE && may_seek(t, p, now_ms)) {
        t->due &= ~(unsigned)WISH_PLACE;
        t->asked_ms = now_ms;
        snprintf(out, capacity, "seek %" PRIu64, t->place_ns);
        return 1;
    }
    if (ui_transport_is_possible(t, WISH_PLAY)) {
        snprintf(out, capacity, "%s", t->plays ? "play" : "pause");
        return 1;
    }
    if (t->steps && may_step(t, p)) {
        snprintf(out, capacity, "step%s", t->steps > 0 ? "" : " back");
        t->steps += t->steps > 0 ? -1 : 1;
        return 1;
    }
    return 0;
}

void transport_settle(struct transport *t)
{
    t->wanted &=
        t->due | (t->held ? (unsigned)WISH_PLACE : 0u) | (t->steps ? (unsigned)WISH_PLAY : 0u);
}
