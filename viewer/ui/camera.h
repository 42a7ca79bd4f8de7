/* The visible part of a picture that is zoomed, moved and, in space, turned. */
#ifndef HOLTER_VIEWER_UI_CAMERA_H
#define HOLTER_VIEWER_UI_CAMERA_H

#include "viewer/layout/scene.h"

struct camera {
    double x, y;       /**< centre, in units of the picture */
    double zoom;       /**< 1: all of it */
    double yaw, pitch; /**< radians; of pictures in space */
    double reach;      /**< largest distance of the centre from 0, along each axis */
};

void camera_init(struct camera *camera, double reach);

/** Show the whole picture from the first direction. */
void camera_home(struct camera *camera);

/** Whether the whole picture is shown, from whatever direction. */
int camera_is_home(const struct camera *camera);

/** Zoom around a point; by keys, around the centre. Factors below 1 enlarge. */
void camera_zoom(struct camera *camera, double factor, double x, double y);
void camera_zoom_centre(struct camera *camera, double factor);

void camera_pan(struct camera *camera, double dx, double dy);
void camera_turn(struct camera *camera, double yaw, double pitch);

/** Mouse: the wheel was turned over a picture at a point of the screen; the picture was dragged.
 * @param ground  hit of the whole picture: its values are units of the picture */
void camera_wheel(struct camera *camera, const struct scene_hit *ground, double x, double y,
                  double factor);
void camera_drag(struct camera *camera, const struct scene_hit *ground, double dx, double dy);
void camera_drag_turn(struct camera *camera, double dx, double dy);

#endif
