/* View "monitor": what watching costs, what it lost, what it rests on, and which places have no
 * data for this job, with the reason. */
#include "viewer/views/views.h"

#include "viewer/layout/format.h"
#include "viewer/places/absence.h"
#include "viewer/views/monitor/cost.h"

#include "holter/plain_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { NAME = 190, LINE = 24 };

/* Where the next line of a panel goes; what would lie below `end` is left out. */
struct monitor_pen {
    const struct stage *stage;
    double x, y, w, end;
    int measures; /* nothing is drawn */
};

__attribute__((format(printf, 4, 5))) static void
monitor_add(struct monitor_pen *p, color_t color, const char *name, const char *format, ...)
{
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct scene *scene = p->stage->brush.scene;
    double w = p->w - NAME, h = scene_paragraph_height(scene, w, TEXT_BODY, 3, text);
    if (p->y + h > p->end)
        return;
    if (!p->measures) {
        scene_text(scene, p->x, p->y, NAME - 12, TEXT_BODY, 0, p->stage->brush.theme->second, name);
        scene_paragraph(scene, p->x + NAME, p->y, w, TEXT_BODY, color, 3, text);
    }
    p->y += fmax(h + 4, LINE);
}

static void monitor_add_cost(struct monitor_pen *p, const struct monitor_cost *c)
{
    const struct theme *t = p->stage->brush.theme;
    const struct model *m = p->stage->model;
    const uint64_t recorded = model_recorded_bytes(m);
    if (c->measured)
        monitor_add(p, t->text, "probe", "%s for each MPI call", format_duration(c->call_ns).text);
    if (c->rated) {
        monitor_add(p, t->text, "agents", "%u, each %s of a core", m->node_count,
                    format_share(c->cpu_share).text);
        monitor_add(p, t->text, "uplink", "%s for each node", format_si(c->uplink, "B/s").text);
    }
    if (m->daemon.known)
        monitor_add(p, t->text, "daemon", "holterd %s on %s, %s of memory, %s", m->daemon.version,
                    m->daemon.host, format_si((double)m->daemon.rss_bytes, "B").text,
                    quantity_things(m->daemon.clients, "viewer").text);
    if (m->recording[0])
        monitor_add(p, t->text, "recording", "%s%s%s", text_base_name(m->recording),
                    recorded ? ", " : "", recorded ? format_si((double)recorded, "B").text : "");
}

static void monitor_add_losses(struct monitor_pen *p, const struct monitor_cost *c)
{
    const struct theme *t = p->stage->brush.theme;
    const struct model *m = p->stage->model;
    if (m->node_count)
        monitor_add(p, c->lost ? t->bad : t->text, "records lost", "%s",
                    quantity_grouped(c->lost).text);
    if (m->series.count)
        monitor_add(p, m->series.missing ? t->warn : t->text, "windows missing", "%s of %s",
                    quantity_grouped(m->series.missing).text,
                    quantity_grouped(m->series.count).text);
    if (m->span > 1)
        monitor_add(p, t->warn, "windows", "of %s hold less than two iterations; surer: of %s",
                    format_duration((double)m->window_ns).text,
                    format_duration((double)(m->span * m->window_ns)).text);
    if (m->matched + m->unmatched > 0)
        monitor_add(p, t->text, "messages matched", "%s of those received",
                    quantity_matched(m->matched, m->unmatched).text);
    int watched = model_has_agents(m);
    uint64_t error = monitor_clock_error(m, c);
    if (watched && (error == WIRE_ANY || !error))
        monitor_add(p, t->warn, "clocks", error ? "not aligned yet" : "not known");
    else if (watched)
        monitor_add(p, t->text, "clocks", "\xc2\xb1%s", format_duration((double)error).text);
    if (watched || m->uncovered_used)
        monitor_add(p, m->uncovered_used ? t->warn : t->text, "MPI functions",
                    m->uncovered_used ? "%u that the job uses are not covered"
                                      : "every call covered",
                    m->uncovered_used);
}

/* The places that are not in the tabs, each with the reason. */
static void monitor_add_absences(struct monitor_pen *p, const struct monitor_cost *c)
{
    (void)c;
    const struct theme *t = p->stage->brush.theme;
    const char *before = NULL;
    int absent = 0;
    for (int view = 0; view < VIEWS; view++) {
        const char *why = place_absence(p->stage->model, (enum view_id)view);
        char name[64];
        if (!why)
            continue;
        absent++;
        snprintf(name, sizeof name, "%s: %s", room_names[place_names[view].room].label,
                 place_names[view].label);
        monitor_add(p, t->text, name, "%s", why == before ? "the same" : why);
        before = why;
    }
    if (!absent)
        monitor_add(p, t->text, "nothing", "this job has data for every place");
}

typedef void (*monitor_adder)(struct monitor_pen *, const struct monitor_cost *);

enum { HEAD = 40, FOOT = 10 }; /* of a panel */

/* Height of a panel with all of its lines, as far as there is room. */
static double monitor_panel_height(const struct stage *s, monitor_adder add,
                                   const struct monitor_cost *c, double w, double most)
{
    struct monitor_pen pen = {s, 0, HEAD, w - 24, most, 1};
    add(&pen, c);
    return fmin(pen.y + FOOT, most);
}

static void monitor_layout(struct stage *s, struct box box)
{
    static const struct {
        const char *title, *note;
        monitor_adder add;
    } contents[] = {
        {"What watching costs", "", monitor_add_cost},
        {"What the figures rest on", "", monitor_add_losses},
        {"What this job has no data for", "these places are not in the tabs", monitor_add_absences},
    };
    struct box all = box_inset(box, 14, 10);
    const struct monitor_cost c = monitor_cost_of(s->model);
    const double half = floor((all.w - 10) / 2), most = floor(all.h * 0.6);
    const double top = fmax(monitor_panel_height(s, monitor_add_cost, &c, half, most),
                            monitor_panel_height(s, monitor_add_losses, &c, half, most));
    const struct box panels[] = {
        {all.x, all.y, half, top},
        {all.x + half + 10, all.y, half, top},
        {all.x, all.y + top + 10, all.w,
         monitor_panel_height(s, monitor_add_absences, &c, all.w, all.h - top - 10)}};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        const struct box panel = panels[i];
        struct monitor_pen pen = {
            s, panel.x + 12, panel.y + HEAD, panel.w - 24, panel.y + panel.h - 6, 0};
        scene_panel(s->brush.scene, panel, 0, "monitor.%zu", i);
        scene_rect(s->brush.scene, panel, 6, s->brush.theme->panel);
        widget_title(&s->brush, pen.x, panel.y + 8, pen.w, contents[i].title, contents[i].note);
        contents[i].add(&pen, &c);
    }
}

const struct view monitor_view = {.layout = monitor_layout};
