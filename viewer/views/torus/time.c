/* Time line of view "torus" with animation controls. */
#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/common/timeline.h"
#include "viewer/views/torus/drawing.h"

#include <math.h>

enum { BUTTONS = 148, RIGHT = 130 };

static double torus_time_bytes_rate(const struct window_totals *w)
{
    return w->length_ns ? (double)w->sent_bytes * 1e9 / (double)w->length_ns : 0;
}

static void torus_time_add_buttons(const struct stage *s, struct box box)
{
    const struct torus_choice *c = &s->ui->torus;
    double x = box.x + 6, y = box.y + (box.h - 24) / 2;
    x += widget_button(&s->brush, x, y, c->playing == TORUS_WINDOWS ? "stop" : "play",
                       c->playing == TORUS_WINDOWS, COMMAND_TORUS_PLAY, TORUS_WINDOWS);
    if (s->model->region_count > 1)
        widget_button(&s->brush, x + 2, y, c->playing == TORUS_REGIONS ? "stop" : "by region",
                      c->playing == TORUS_REGIONS, COMMAND_TORUS_PLAY, TORUS_REGIONS);
}

/* Mark of the visible time within the whole job. */
static void torus_time_add_visible(const struct stage *s, const struct timeline *whole,
                                   struct box plot)
{
    const struct theme *t = s->brush.theme;
    int64_t begin, end;
    ui_visible(s->ui, s->model, &begin, &end);
    double x0 = fmax(timeline_x(whole, begin), plot.x),
           x1 = fmin(timeline_x(whole, end), plot.x + plot.w);
    struct box frame = {x0, plot.y, fmax(x1 - x0, 5), plot.h};
    if (frame.x + frame.w > plot.x + plot.w)
        frame.x = plot.x + plot.w - frame.w;
    int start = s->ui->time.range == RANGE_START || s->ui->torus.comm || s->ui->torus.region;
    scene_rect(s->brush.scene, frame, 3, color_fade(start ? t->faint : t->accent, 0.16));
    scene_outline(s->brush.scene, frame, 3, 1, start ? t->second : t->accent);
}

void torus_time(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    int64_t oldest, newest, begin, end;
    piece_panel(s, box, "torus.time");
    torus_time_add_buttons(s, box);
    ui_whole_time(s->model, &oldest, &newest);
    if (newest <= oldest || box.w < BUTTONS + RIGHT + 60)
        return;
    ui_visible(s->ui, s->model, &begin, &end);
    int64_t start = s->model->start_ns ? (int64_t)s->model->start_ns : oldest;
    scene_textf(s->brush.scene, box.x + box.w - RIGHT, box.y + (box.h - 14) / 2, RIGHT - 10,
                TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES, t->second, "%s to %s",
                format_elapsed(begin > start ? begin - start : 0).text,
                format_elapsed(end > start ? end - start : 0).text);
    struct box plot = {box.x + BUTTONS, box.y + 5, box.w - BUTTONS - RIGHT, box.h - 10};
    struct timeline whole = {plot.x, plot.w, oldest, newest};
    double top = timeline_peak(s->model, &whole, torus_time_bytes_rate);
    timeline_curve(s, &whole, box_inset(plot, 0, 3), top > 0 ? top : 1, torus_time_bytes_rate,
                   color_fade(t->accent, 0.75));
    timeline_gaps(s, &whole, plot, 0);
    torus_time_add_visible(s, &whole, plot);
    struct scene_hit *hit = scene_hit(s->brush.scene, plot, HIT_BAND, 0, 0);
    hit->x0 = (double)oldest;
    hit->x1 = (double)newest;
}
