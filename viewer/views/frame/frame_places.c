/* Where one is and where one can go: the rail of rooms, the tabs of the places in a room, and the
 * button in focus. */
#include "viewer/views/frame/frame.h"

#include "viewer/places/absence.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/views.h"

#include <math.h>
#include <stdio.h>

/* The view whose icon a room has. */
static const enum view_id room_icons[ROOMS] = {
    [ROOM_OVERVIEW] = VIEW_OVERVIEW, [ROOM_COMMUNICATION] = VIEW_MATRIX,
    [ROOM_LATENCY] = VIEW_ALERTS,    [ROOM_NETWORK] = VIEW_NETWORK,
    [ROOM_SYSTEM] = VIEW_NODES,
};

/* Number of firing alerts. */
static void places_add_alert_badge(const struct stage *s, struct box box)
{
    uint32_t firing = alerts_count(&s->model->alerts, ALERT_FIRING);
    if (!firing)
        return;
    scene_rect(s->brush.scene, box, 7, s->brush.theme->bad);
    scene_textf(s->brush.scene, box.x, box.y, box.w, TEXT_AXIS_STRONG, TEXT_CENTRE | TEXT_FIGURES,
                theme_on(s->brush.theme->bad), firing < 100 ? "%u" : "99+", firing);
}

static void places_add_room(const struct stage *s, struct box cell, enum room_id room, int on)
{
    const struct theme *t = s->brush.theme;
    struct scene *scene = s->brush.scene;
    int hover = box_has(cell, s->brush.mouse_x, s->brush.mouse_y);
    color_t color = on ? t->accent : hover ? t->text : t->second;
    if (on) {
        scene_rect(scene, cell, 0, color_mix(t->panel, t->raised, 0.7));
        scene_rect(scene, (struct box){cell.x, cell.y, 3, cell.h}, 0, t->accent);
    }
    int low = cell.h < 40; /* no room for an icon above the name */
    double middle = cell.y + cell.h / 2;
    if (!low)
        views[room_icons[room]]->icon(
            &s->brush, (struct box){cell.x + cell.w / 2 - 11, middle - 20, 22, 20}, color);
    scene_text(scene, cell.x + 1, middle + (low ? -7 : 5), cell.w - 2, TEXT_AXIS, TEXT_CENTRE,
               on ? t->text : color, room_names[room].label);
    if (room == ROOM_LATENCY)
        places_add_alert_badge(s, low ? (struct box){cell.x + cell.w - 21, middle - 7, 20, 14}
                                      : (struct box){cell.x + cell.w / 2 + 8, middle - 23, 20, 14});
    scene_hit(scene, cell, HIT_BUTTON, COMMAND_ROOM, room);
}

void places_add_rail(const struct stage *s, struct box box, enum view_id view)
{
    const struct theme *t = s->brush.theme;
    scene_panel(s->brush.scene, box, t->panel, "rail");
    scene_rect(s->brush.scene, (struct box){box.x + box.w - 1, box.y, 1, box.h}, 0, t->line);
    double h = fmin(62, (box.h - 16) / ROOMS), y = box.y + 10;
    for (int room = 0; room < ROOMS; room++, y += h)
        places_add_room(s, (struct box){box.x, y, box.w - 1, h - 4}, (enum room_id)room,
                        room == (int)place_names[view].room);
}

/* ---- tabs ---- */

static double places_tab_width(const struct stage *s, enum view_id view)
{
    return scene_width(s->brush.scene, TEXT_BODY, 0, place_names[view].label) + 24;
}

/* One tab. @return its width */
static double places_add_tab(const struct stage *s, double x, struct box box, enum view_id view,
                             int on)
{
    const struct theme *t = s->brush.theme;
    struct box cell = {x, box.y, places_tab_width(s, view), box.h - 1};
    int hover = box_has(cell, s->brush.mouse_x, s->brush.mouse_y);
    scene_text(s->brush.scene, x, cell.y + 8, cell.w, TEXT_BODY, TEXT_CENTRE,
               on || hover ? t->text : t->second, place_names[view].label);
    if (on)
        scene_rect(s->brush.scene, (struct box){x + 10, cell.y + cell.h - 2, cell.w - 20, 2}, 1,
                   t->accent);
    scene_hit(s->brush.scene, cell, HIT_BUTTON, COMMAND_VIEW, view);
    return cell.w;
}

/* Whether a place shows figures of a span of time. */
static int places_has_time(enum view_id view)
{
    return view != VIEW_JOBS && view != VIEW_MONITOR && view != VIEW_NODES && view != VIEW_ALERTS;
}

/* The visible time in words, and the choice of what sums are about; right edge at `right`. */
static void places_add_time(const struct stage *s, double left, double right, double y)
{
    const struct theme *t = s->brush.theme;
    double wide = piece_range_choice_width(s);
    if (!series_newest(&s->model->series) || right - wide < left)
        return;
    right -= piece_range_choice(s, right, y) + 10;
    struct quantity time = piece_time_text(s);
    double w = scene_width(s->brush.scene, TEXT_SMALL, TEXT_FIGURES, time.text) + 1;
    if (right - w > left)
        scene_text(s->brush.scene, right - w, y + 4, w, TEXT_SMALL, TEXT_FIGURES,
                   s->ui->time.follow ? t->second : t->warn, time.text);
}

void places_add_tabs(const struct stage *s, struct box box, enum view_id view)
{
    const struct theme *t = s->brush.theme;
    double x = box.x + 6, end = box.x + box.w - 14;
    scene_panel(s->brush.scene, box, t->ground, "tabs");
    scene_rect(s->brush.scene, (struct box){box.x, box.y + box.h - 1, box.w - 14, 1}, 0, t->line);
    for (int v = 0; v < VIEWS; v++) {
        if (place_names[v].room != place_names[view].room ||
            (v != (int)view && place_absence(s->model, (enum view_id)v)))
            continue;
        if (x + places_tab_width(s, (enum view_id)v) > end)
            break;
        x += places_add_tab(s, x, box, (enum view_id)v, v == (int)view);
    }
    if (s->model->job[0] && places_has_time(view))
        places_add_time(s, x + 16, end, box.y + 5);
}

/* ---- focus ---- */

void places_add_focus(const struct stage *s)
{
    const struct scene *scene = s->brush.scene;
    const struct ui_focus *focus = &s->ui->focus;
    for (size_t i = 0; focus->on && i < scene->hit_count; i++) {
        const struct scene_hit *hit = &scene->hits[i];
        if (hit->kind != HIT_BUTTON || hit->a != focus->command || hit->b != focus->argument)
            continue;
        struct box ring = box_inset(hit->box, 1, 1);
        scene_panel(s->brush.scene, hit->box, 0, "focus");
        scene_overlay(s->brush.scene);
        scene_outline(s->brush.scene, ring, 5, 2, s->brush.theme->info);
        return;
    }
}
