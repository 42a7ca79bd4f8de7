/* Captures: which one is shown, and its visible part. */
#include "viewer/ui/ui.h"
#include "viewer/ui/ui_input.h"

#include "viewer/layout/lanes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_RECORDS = 1 << 18 }; /* of all ranks: a daemon requests no more */

static const int64_t shortest_ns = 1000;
static const uint32_t ring_records =
    16384; /* in the ring of a thread, unless HOLTER_RING says more */

const struct capture *ui_capture(const struct ui *ui, const struct model *m)
{
    const struct captures *all = &m->captures;
    const struct capture *c = ui->capture.chosen ? captures_find(all, ui->capture.chosen) : NULL;
    if (!c && ui->capture.requested && all->answer >= ui->capture.requested)
        c = captures_find(all, all->answer);
    const struct alert *alert = !c && ui->alert_picked ? alerts_find(&m->alerts, ui->alert) : NULL;
    c = alert ? captures_of_alert(all, alert) : c;
    return c || !all->count ? c : &all->items[0];
}

/* The selected ranks as a list; empty: all are meant, for none are selected, or more than can be
 * named. @return how many are meant */
static uint32_t ui_captures_name_ranks(const struct ui *ui, const struct model *m, char *list,
                                       size_t capacity)
{
    uint32_t selected = 0;
    list[0] = 0;
    if (ui->selection.kind != SELECT_NONE && ui->selection.kind != SELECT_CALL &&
        !ui_marked_ranks(ui, m, list, capacity))
        list[0] = 0;
    for (uint32_t rank = 0; list[0] && rank < m->rank_count; rank++)
        selected += ui_marks_rank(ui, m, rank) != 0;
    return list[0] ? selected : m->rank_count;
}

char *ui_capture_argument(const struct ui *ui, const struct model *m, char *out, size_t capacity)
{
    char list[COMMGRAM_LIST];
    uint32_t ranks = ui_captures_name_ranks(ui, m, list, sizeof list);
    uint32_t most = MOST_RECORDS / (ranks > 0 ? ranks : 1);
    uint32_t events = most > ring_records ? ring_records : most > 0 ? most : 1;
    int64_t begin, end;
    ui_dependencies_span(ui, m, &begin, &end);
    int used = snprintf(out, capacity, "events=%u", events);
    size_t whole = used > 0 && (size_t)used < capacity ? (size_t)used : 0;
    if (ui->view == VIEW_DEPENDENCIES && end != 0) {
        used = snprintf(out + whole, capacity - whole, " until=%" PRId64, end);
        whole += used > 0 && (size_t)used < capacity - whole ? (size_t)used : 0;
        out[whole] = 0;
    }
    used = list[0] ? snprintf(out + whole, capacity - whole, " ranks=%s", list) : 0;
    if (used < 0 || (size_t)used >= capacity - whole)
        out[whole] = 0; /* there is no room: all */
    return out;
}

/* The whole time of a capture with margins: the larger one at the end, where texts of moments are.
 */
static void whole_span(const struct capture *c, int64_t *begin, int64_t *end)
{
    int64_t last = c->asked_ns > c->end_ns ? c->asked_ns : c->end_ns;
    int64_t all = last - c->begin_ns;
    *begin = c->begin_ns - all / 64 - shortest_ns / 2;
    *end = last + all / 10 + shortest_ns / 2;
}

void ui_capture_span(const struct ui *ui, const struct capture *c, int64_t *begin, int64_t *end)
{
    whole_span(c, begin, end);
    if (ui->capture.end_ns <= ui->capture.begin_ns || ui->capture.end_ns <= *begin ||
        ui->capture.begin_ns >= *end)
        return; /* nothing was chosen, or it was of another capture */
    *begin = ui->capture.begin_ns;
    *end = ui->capture.end_ns;
}

/* Clamps a span to the capture's. */
static void ui_captures_show_progress(struct ui *ui, const struct capture *c, double begin,
                                      double span)
{
    int64_t first, last;
    whole_span(c, &first, &last);
    double maximum = (double)(last - first);
    span = fmin(fmax(span, (double)shortest_ns), maximum);
    begin = fmin(fmax(begin, 0), maximum - span);
    ui->capture.begin_ns = first + (int64_t)begin;
    ui->capture.end_ns = span < maximum ? ui->capture.begin_ns + (int64_t)span : last;
}

/* @param around  part of the visible time that stays in place */
static void ui_captures_zoom(struct ui *ui, const struct capture *c, double factor, double around)
{
    int64_t first, last, begin, end;
    whole_span(c, &first, &last);
    ui_capture_span(ui, c, &begin, &end);
    double span = (double)(end - begin), next = fmax(span * factor, (double)shortest_ns);
    ui_captures_show_progress(ui, c, (double)(begin - first) + (span - next) * around, next);
}

/* @param share  of the visible time */
static void ui_captures_pan(struct ui *ui, const struct capture *c, double share)
{
    int64_t first, last, begin, end;
    whole_span(c, &first, &last);
    ui_capture_span(ui, c, &begin, &end);
    double span = (double)(end - begin);
    ui_captures_show_progress(ui, c, (double)(begin - first) + span * share, span);
}

static void ui_captures_see(struct ui *ui, uint64_t id)
{
    ui->capture.chosen = id;
    ui->capture.begin_ns = ui->capture.end_ns = 0;
    ui->list.scroll[LIST_CAPTURE] = 0;
    ui->list.cursor[LIST_CAPTURE] = 0;
    ui_dependencies_begin(ui);
}

static void ui_captures_step(struct ui *ui, const struct model *m, int newer)
{
    const struct captures *all = &m->captures;
    const struct capture *c = ui_capture(ui, m);
    if (!c)
        return;
    uint32_t at = (uint32_t)(c - all->items); /* the newest is first */
    if (newer ? at > 0 : at + 1 < all->count)
        ui_captures_see(ui, all->items[newer ? at - 1 : at + 1].id);
}

int ui_capture_command(struct ui *ui, const struct model *m, enum ui_command command,
                       uint64_t argument)
{
    const struct capture *c = ui_capture(ui, m);
    if (command == COMMAND_CAPTURE) {
        if (captures_find(&m->captures, argument)) {
            ui_go(ui, VIEW_CAPTURES);
            ui_captures_see(ui, argument);
        }
    } else if (command == COMMAND_CAPTURE_STEP) {
        ui_captures_step(ui, m, argument != 0);
    } else if (command == COMMAND_CAPTURE_ALL) {
        ui->capture.begin_ns = ui->capture.end_ns = 0;
    } else if (command == COMMAND_CAPTURE_READ) {
        ui->capture.requested = (m->captures.count ? m->captures.items[0].id : 0) + 1;
        ui_captures_see(ui, 0);
        return UI_CHANGED | UI_CAPTURE;
    } else if (command == COMMAND_CAPTURE_ZOOM && c) {
        ui_captures_zoom(ui, c, argument ? 0.5 : 2, 0.5);
    }
    return UI_CHANGED;
}

int ui_capture_arrow(struct ui *ui, const struct model *m, int horizontal, int far)
{
    const struct capture *c = ui_capture(ui, m);
    if (c)
        ui_captures_pan(ui, c, horizontal * (far ? 1.0 : 0.125));
    return UI_CHANGED;
}

void ui_capture_drag(struct ui *ui, const struct model *m, const struct scene_hit *hit, double dx,
                     double dy)
{
    const struct capture *c = ui_capture(ui, m);
    if (!c)
        return;
    ui_captures_pan(ui, c, -dx / fmax(hit->box.w, 1));
    if (ui->capture.rows) {
        double rows = hit->y1 - hit->y0;
        ui->list.scroll[LIST_CAPTURE] =
            fmin(fmax(ui->list.scroll[LIST_CAPTURE] - dy * rows / fmax(hit->box.h, 1), 0),
                 fmax(c->thread_count - rows, 0));
    }
}

void ui_capture_wheel(struct ui *ui, const struct model *m, const struct scene_hit *hit,
                      const struct input *in)
{
    const struct capture *c = ui_capture(ui, m);
    if (!c)
        return;
    if (in->shift)
        ui_captures_pan(ui, c, -in->wheel / 10);
    else
        ui_captures_zoom(ui, c, pow(0.8, in->wheel), (in->x - hit->box.x) / fmax(hit->box.w, 1));
}

void ui_capture_click(struct ui *ui, const struct model *m, const struct scene_hit *hit)
{
    const struct capture *c = ui_capture(ui, m);
    double row = scene_hit_y(hit, ui->mouse.y);
    if (!c || !(row >= 0) || row >= c->thread_count)
        return;
    if (hit->a == 1) {
        ui_select(ui, (struct selection){SELECT_RANK, c->threads[(uint32_t)row].rank, 0});
        return;
    }
    /* rows that share a lane are to be drawn individually, in the middle of the view */
    ui->capture.rows = 1;
    ui->list.scroll[LIST_CAPTURE] =
        fmax(floor(row) - floor(hit->box.h / LANES_LEGIBLE_HEIGHT / 2), 0);
}
