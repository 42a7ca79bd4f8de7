/* Zooms, moves and turns the visible part of a picture. */
#include "viewer/ui/camera.h"

#include <math.h>

static const double drag_turn = 0.008; /* radians of a logical pixel */

void camera_init(struct camera *c, double reach)
{
    c->reach = reach;
    camera_home(c);
}

void camera_home(struct camera *c)
{
    *c = (struct camera){.zoom = 1, .yaw = 0.55, .pitch = 0.42, .reach = c->reach};
}

int camera_is_home(const struct camera *c)
{
    return c->zoom == 1 && c->x == 0 && c->y == 0;
}

void camera_pan(struct camera *c, double dx, double dy)
{
    c->x = fmin(fmax(c->x + dx, -c->reach), c->reach);
    c->y = fmin(fmax(c->y + dy, -c->reach), c->reach);
}

void camera_zoom(struct camera *c, double factor, double x, double y)
{
    double zoom = fmin(fmax(c->zoom / factor, 0.5), 64), share = c->zoom / zoom;
    c->zoom = zoom;
    camera_pan(c, (x - c->x) * (1 - share), (y - c->y) * (1 - share));
}

void camera_zoom_centre(struct camera *c, double factor)
{
    camera_zoom(c, factor, c->x, c->y);
}

void camera_turn(struct camera *c, double yaw, double pitch)
{
    c->yaw = fmod(c->yaw + yaw, 2 * M_PI);
    c->pitch = fmin(fmax(c->pitch + pitch, -M_PI / 2), M_PI / 2);
}

void camera_wheel(struct camera *c, const struct scene_hit *ground, double x, double y,
                  double factor)
{
    camera_zoom(c, factor, scene_hit_x(ground, x), scene_hit_y(ground, y));
}

void camera_drag(struct camera *c, const struct scene_hit *ground, double dx, double dy)
{
    camera_pan(c, -dx * (ground->x1 - ground->x0) / fmax(ground->box.w, 1),
               -dy * (ground->y1 - ground->y0) / fmax(ground->box.h, 1));
}

void camera_drag_turn(struct camera *c, double dx, double dy)
{
    camera_turn(c, dx * drag_turn, dy * drag_turn);
}
