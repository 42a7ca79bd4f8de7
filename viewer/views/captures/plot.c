/* Plot of a capture: bars or colour cells of calls, selection, tooltip. */
#include "viewer/views/captures/plot.h"

#include "daemon/analysis/tables/array.h"

#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"

#include "holter/call.h"
#include "holter/event.h"
#include "proto/event_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(CALL_CLASSES == (int)LANES_KINDS, "a kind for each class of calls");

enum { FOOT = 3 }; /* vertical space between two bars */

static struct capture_thread *captures_plot_thread_at(const struct captures_plot *p, uint32_t row)
{
    return &p->capture->threads[row];
}

/* Position from which, and until which, calls of a thread are known: earlier calls were overwritten
 * in its ring, later ones not read. */
static double captures_plot_known_from(const struct captures_plot *p,
                                       const struct capture_thread *t)
{
    return t->count ? fmin(fmax(lane_x(&p->span, t->calls[0].begin_ns), 0), p->span.w) : p->span.w;
}

static double captures_plot_known_until(const struct captures_plot *p,
                                        const struct capture_thread *t)
{
    return fmin(fmax(lane_x(&p->span, t->read_ns), 0), p->span.w);
}

/* ---- bars ---- */

static void captures_plot_add_bars(const struct stage *s, const struct captures_plot *p,
                                   uint32_t row, double y, struct lane_bar *bars)
{
    const struct theme *t = s->brush.theme;
    const struct capture_thread *thread = captures_plot_thread_at(p, row);
    double top = y + 1, h = p->lanes.height - FOOT, x = p->box.x;
    double from = captures_plot_known_from(p, thread);
    struct lane lane;
    scene_rect(s->brush.scene,
               (struct box){x + from, top, fmax(captures_plot_known_until(p, thread) - from, 0), h},
               0, color_fade(t->second, 0.1));
    lane_begin(&lane, &p->span, bars);
    for (uint32_t i = 0; i < thread->count; i++)
        lane_add(&lane, thread->calls[i].begin_ns, thread->calls[i].length_ns,
                 call_class_of(thread->calls[i].call));
    for (uint32_t i = 0; i < lane.count;
         i++) /* a thin gap between neighbouring bars that are wide enough */
        scene_rect(s->brush.scene,
                   (struct box){x + bars[i].x0, top,
                                bars[i].x1 - bars[i].x0 - (bars[i].x1 - bars[i].x0 > 4 ? 0.5 : 0),
                                h},
                   0, t->classes[bars[i].kind]);
    const struct capture_call *newest = thread->count ? &thread->calls[thread->count - 1] : NULL;
    if (!newest || !newest->running)
        return;
    double end = lane_x(&p->span, newest->begin_ns + (int64_t)newest->length_ns);
    if (end < 0 || end > p->span.w)
        return;
    /* the call was still running */
    const struct point arrow[] = {{x + end, top}, {x + end + 5, top + h / 2}, {x + end, top + h}};
    scene_shape(s->brush.scene, arrow, 3, t->classes[call_class_of(newest->call)]);
}

static int captures_plot_paint_bars(const struct stage *s, const struct captures_plot *p)
{
    struct pictures *pictures = s->pictures;
    size_t capacity = lane_capacity(&p->span);
    if (ARRAY_FIT(pictures->bars, pictures->bars_capacity, capacity) != 0)
        return -1;
    for (uint32_t i = 0; i < p->lanes.count; i++)
        captures_plot_add_bars(s, p, p->lanes.first + i, p->box.y + i * p->lanes.height,
                               pictures->bars);
    return 0;
}

/* ---- cells ---- */

static uint64_t captures_plot_key_of(const struct stage *s, const struct captures_plot *p)
{
    uint64_t key = mix_number(1, p->capture->id);
    key = mix_number(key, p->capture->calls);
    key = mix_number(key, p->capture->thread_count);
    key = mix_number(key, (uint64_t)p->span.begin_ns);
    key = mix_number(key, (uint64_t)p->span.end_ns);
    key = mix_number(key, (uint64_t)p->lanes.per << 32 | p->lanes.first);
    key = mix_number(key, s->ui->theme);
    return key ? key : 1;
}

enum { SHADES = 64 };

/* Colours of the classes of calls, fainter the smaller their share of the time, and of time outside
 * MPI. */
struct shades {
    color_t kinds[LANES_KINDS][SHADES + 1];
    color_t known, unknown;
};

static void captures_plot_make_shades(const struct theme *t, struct shades *out)
{
    out->unknown = t->panel;
    out->known = color_mix(t->panel, t->second, 0.1);
    for (int k = 0; k < LANES_KINDS; k++)
        for (int i = 0; i <= SHADES; i++)
            out->kinds[k][i] = color_mix(out->known, t->classes[k], 0.35 + 0.65 * i / SHADES);
}

/* Fill a row of pixels with the colours of the dominant classes. */
static void captures_plot_fill_cells(const struct stage *s, const struct captures_plot *p,
                                     uint32_t lane, const struct shades *shades, uint32_t *pixels)
{
    uint32_t columns = lane_columns(&p->span);
    double *cells = s->pictures->cells, from = p->span.w, until = 0;
    uint32_t row = p->lanes.first + lane * p->lanes.per, rows = 0;
    memset(cells, 0, (size_t)columns * LANES_KINDS * sizeof *cells);
    for (; rows < p->lanes.per && row + rows < p->capture->thread_count; rows++) {
        const struct capture_thread *thread = captures_plot_thread_at(p, row + rows);
        from = fmin(from, captures_plot_known_from(p, thread));
        until = fmax(until, captures_plot_known_until(p, thread));
        for (uint32_t i = 0; i < thread->count; i++)
            lane_spread(&p->span, cells, thread->calls[i].begin_ns, thread->calls[i].length_ns,
                        call_class_of(thread->calls[i].call));
    }
    for (uint32_t x = 0; x < columns; x++) {
        double share;
        unsigned kind = lane_dominant_kind(cells, columns, x, rows, &share);
        color_t color = kind < LANES_KINDS          ? shades->kinds[kind][(int)(share * SHADES)]
                        : x + 1 > from && x < until ? shades->known
                                                    : shades->unknown;
        pixels[x] = color_pixel(color);
    }
}

static int captures_plot_paint_cells(const struct stage *s, const struct captures_plot *p)
{
    struct picture *picture = &s->pictures->captures;
    int w = (int)lane_columns(&p->span), h = (int)p->lanes.count;
    uint64_t key = captures_plot_key_of(s, p);
    if (picture->key != key || picture->image.w != w || picture->image.h != h) {
        /* painting a lane needs LANES_KINDS working cells for each pixel */
        if (picture_size(s->pictures, picture, w, h > LANES_KINDS ? h : LANES_KINDS) < 0)
            return -1;
        picture->image.h = h;
        struct shades shades;
        captures_plot_make_shades(s->brush.theme, &shades);
        for (int lane = 0; lane < h; lane++)
            captures_plot_fill_cells(s, p, (uint32_t)lane, &shades,
                                     picture->image.pixels + (size_t)lane * (size_t)w);
        picture->key = key;
        picture->image.version++;
    }
    scene_image(s->brush.scene, p->box, &picture->image);
    return 0;
}

/* ---- both ---- */

static void captures_plot_selected_rows(const struct stage *s, const struct captures_plot *p)
{
    if (s->ui->selection.kind == SELECT_NONE || p->lanes.per > 1)
        return;
    for (uint32_t i = 0; i < p->lanes.count; i++) {
        uint64_t rank = captures_plot_thread_at(p, p->lanes.first + i)->rank;
        if (rank < UINT32_MAX && ui_marks_rank(s->ui, s->model, (uint32_t)rank))
            scene_outline(s->brush.scene,
                          (struct box){p->box.x, p->box.y + i * p->lanes.height, p->box.w,
                                       p->lanes.height - FOOT + 2},
                          0, 1, color_fade(s->brush.theme->text, 0.6));
    }
}

void captures_plot_layout(struct stage *s, const struct captures_plot *p)
{
    int bars = p->lanes.per == 1 && p->lanes.height >= LANES_BAR_HEIGHT;
    if (p->lanes.count == 0 ||
        (bars ? captures_plot_paint_bars(s, p) : captures_plot_paint_cells(s, p)) < 0)
        return;
    captures_plot_selected_rows(s, p);
    struct scene_hit *hit = scene_hit(s->brush.scene, p->box, HIT_CAPTURE, p->lanes.per, 0);
    hit->x0 = (double)p->span.begin_ns;
    hit->x1 = (double)p->span.end_ns;
    hit->y0 = p->lanes.first;
    hit->y1 = p->lanes.first + (double)p->lanes.count * p->lanes.per;
}

/* ---- what is under the mouse ---- */

struct found {
    uint32_t count;
    const struct capture_call *call; /* the longest of the calls found */
    const struct capture_thread *thread;
};

static void captures_plot_find_calls(const struct capture_thread *t, int64_t begin, int64_t end,
                                     struct found *found)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct capture_call *c = &t->calls[i];
        if (c->begin_ns > end || c->begin_ns + (int64_t)c->length_ns < begin)
            continue;
        found->count++;
        if (found->call && found->call->length_ns >= c->length_ns)
            continue;
        found->call = c;
        found->thread = t;
    }
}

static void captures_plot_add_peer_line(struct stage *s, const struct capture_call *c)
{
    enum call_class class_ = call_class_of(c->call);
    const char *word = event_peer_text(c->peer);
    const char *way = class_ == CALL_SEND ? "to" : class_ == CALL_RECV ? "from" : "with";
    char tag[32] = "";
    if (c->peer == PEER_NONE || (word && !*word))
        return;
    if (c->tag >= 0)
        snprintf(tag, sizeof tag, ", tag %lld", (long long)c->tag);
    if (class_ == CALL_COLLECTIVE &&
        word) /* of two groups of ranks, where it is in the other one */
        tooltip_add(&s->tip, 0, "root is %s", word);
    else if (class_ == CALL_COLLECTIVE)
        tooltip_add(&s->tip, 0, "root is rank %d", c->peer);
    else if (word)
        tooltip_add(&s->tip, 0, "%s %s%s", way, word, tag);
    else if (c->peers)
        tooltip_add(&s->tip, 0, "with rank %d and others%s", c->peer, tag);
    else
        tooltip_add(&s->tip, 0, "%s rank %d%s", way, c->peer, tag);
}

static void captures_plot_add_bytes_line(struct stage *s, const struct capture_call *c)
{
    char messages[96] = "";
    if (c->messages)
        snprintf(messages, sizeof messages, " in %s messages",
                 quantity_grouped((uint64_t)c->messages + (c->tag >= 0)).text);
    struct quantity bytes = format_si((double)c->bytes, "B");
    if (c->bytes_in && c->bytes_in != c->bytes)
        tooltip_add(&s->tip, 0, "%s sent, %s received", bytes.text,
                    format_si((double)c->bytes_in, "B").text);
    else if (c->bytes || c->messages)
        tooltip_add(&s->tip, 0, "%s%s", bytes.text, messages);
}

static void captures_plot_add_call_lines(struct stage *s, const struct captures_plot *p,
                                         const struct found *f)
{
    const struct capture_call *c = f->call;
    tooltip_add(&s->tip, c->running ? s->brush.theme->warn : s->brush.theme->text,
                c->running ? "in it for %s, began %s %s" : "took %s, began %s %s",
                format_duration((double)c->length_ns).text,
                format_duration(fabs((double)(p->capture->asked_ns - c->begin_ns))).text,
                c->begin_ns <= p->capture->asked_ns ? "before the capture" : "after it");
    captures_plot_add_peer_line(s, c);
    captures_plot_add_bytes_line(s, c);
    if (c->comm)
        tooltip_add(&s->tip, 0, "on %s", p->capture->names[c->comm].text);
    if (c->region)
        tooltip_add(&s->tip, 0, "in region %s", p->capture->names[c->region].text);
}

static void captures_plot_rank_text(const struct stage *s, const struct capture_thread *t,
                                    char *out, size_t capacity)
{
    const char *host = t->rank < UINT32_MAX ? model_host_of(s->model, (uint32_t)t->rank) : "?";
    if (t->thread)
        snprintf(out, capacity, "rank %llu, thread %llu, on %s", (unsigned long long)t->rank,
                 (unsigned long long)t->thread, host);
    else
        snprintf(out, capacity, "rank %llu on %s", (unsigned long long)t->rank, host);
}

void captures_plot_tip(struct stage *s, const struct captures_plot *p)
{
    double mx = s->brush.mouse_x, my = s->brush.mouse_y;
    if (!box_has(p->box, mx, my) || !s->hover || s->hover->kind != HIT_CAPTURE ||
        s->ui->mouse.dragging)
        return;
    uint32_t row = p->lanes.first + (uint32_t)((my - p->box.y) / p->lanes.height) * p->lanes.per,
             end = row + p->lanes.per;
    end = end < p->capture->thread_count ? end : p->capture->thread_count;
    if (row >= end)
        return;
    /* tolerance: calls one pixel wide can be hit */
    int64_t from = lane_time(&p->span, mx - p->box.x - 1),
            to = lane_time(&p->span, mx - p->box.x + 1);
    struct found f = {0};
    char where[128];
    for (uint32_t i = row; i < end; i++)
        captures_plot_find_calls(captures_plot_thread_at(p, i), from, to, &f);
    if (end - row > 1) {
        tooltip_add(&s->tip, 0, "ranks %llu\xe2\x80\x93%llu",
                    (unsigned long long)captures_plot_thread_at(p, row)->rank,
                    (unsigned long long)captures_plot_thread_at(p, end - 1)->rank);
        tooltip_add(&s->tip, 0, "%s calls here; click to see them rank by rank",
                    quantity_grouped(f.count).text);
    }
    captures_plot_rank_text(s, f.thread ? f.thread : captures_plot_thread_at(p, row), where,
                            sizeof where);
    if (!f.call) {
        if (end - row == 1) {
            const struct capture_thread *thread = captures_plot_thread_at(p, row);
            const double at = mx - p->box.x;
            tooltip_add(&s->tip, 0, "%s", where);
            tooltip_add(&s->tip, 0,
                        at < captures_plot_known_from(p, thread) ? "its ring holds no earlier calls"
                        : at > captures_plot_known_until(p, thread)
                            ? "its ring had been read before"
                            : "outside MPI");
        }
        return;
    }
    tooltip_add(&s->tip, 0, f.count > 1 && end - row > 1 ? "the longest: %s" : "%s",
                call_name(f.call->call));
    tooltip_add(&s->tip, 0, "%s", where);
    captures_plot_add_call_lines(s, p, &f);
    if (f.count > 1 && end - row == 1)
        tooltip_add(&s->tip, 0, "and %s shorter calls here: zoom in",
                    quantity_grouped(f.count - 1).text);
}
