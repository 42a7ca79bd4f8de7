/* Control of a replay by the user: requests that the daemon has not answered yet. Inputs set them,
 * the bar shows them at once, and the owner of the connection sends them one by one. */
#ifndef HOLTER_VIEWER_UI_UI_TRANSPORT_H
#define HOLTER_VIEWER_UI_UI_TRANSPORT_H

#include "viewer/layout/scene.h"
#include "viewer/model/playback.h"
#include "viewer/ui/ui_command.h"

struct ui;
struct model;

/** Kinds of requests, or-ed. */
enum transport_wish { WISH_SPEED = 1, WISH_LOOP = 2, WISH_PLACE = 4, WISH_PLAY = 8 };

/** Zero-initialised: no requests. */
struct transport {
    unsigned wanted; /**< requests shown instead of the daemon's state */
    unsigned due;    /**< of these: not sent yet */
    double speed;    /**< as in struct playback */
    int loops, plays;
    uint64_t place_ns; /**< daemon time */
    int steps;         /**< windows forward or, below 0, back, not requested yet */
    int held;          /**< the knob is dragged */
    uint64_t asked_ms; /**< when a seek was sent last */
};

/** Selectable speeds; 0 means as fast as possible. */
#define TRANSPORT_SPEEDS 13

/** "1x", "0.25x", "max". */
char *transport_speed_text(char *out, size_t capacity, double speed);

/** State to show, open requests included: does it play, does it loop, how fast, where. */
int transport_plays(const struct transport *transport, const struct playback *playback);
int transport_loops(const struct transport *transport, const struct playback *playback);
double transport_speed_shown(const struct transport *transport, const struct playback *playback);
uint64_t transport_position(const struct transport *transport, const struct playback *playback);

/** Commands of a replay. @return enum ui_effect; 0: nothing is replayed */
int transport_command(struct ui *ui, const struct model *model, enum ui_command command,
                      uint64_t argument);

/** The mouse: the button was pressed on the time line, which drags the knob; or clicked on marks.
 *  @return 1 when it was */
int transport_press(struct ui *ui, const struct model *model, const struct scene_hit *hit);
int transport_drag(struct ui *ui, const struct model *model, const struct scene_hit *hit);
int transport_click(struct ui *ui, const struct model *model, const struct scene_hit *hit);
void transport_release(struct ui *ui);

/** The next request to send, as argument of request "replay"; it counts as sent then. While the
 * knob is dragged at most five seeks a second are sent, and none while the daemon executes the
 * previous one.
 *  @return 1 when out was set, 0: nothing to send now */
int transport_next(struct transport *transport, const struct playback *playback, uint64_t now_ms,
                   char *out, size_t capacity);

/** All requests were answered: the daemon's state is shown from now on. */
void transport_settle(struct transport *transport);

#endif
