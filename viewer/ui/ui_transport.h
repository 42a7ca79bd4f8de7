/* The user's hand on a replay: what is wanted of it until the daemon has answered. Inputs set it,
 * the bar shows it at once, and whoever holds the connection asks for it piece by piece. */
#ifndef HOLTER_VIEWER_UI_UI_TRANSPORT_H
#define HOLTER_VIEWER_UI_UI_TRANSPORT_H

#include "viewer/layout/scene.h"
#include "viewer/model/playback.h"
#include "viewer/ui/ui_command.h"

struct ui;
struct model;

/** What can be wanted, or-ed. */
enum transport_wish { WISH_SPEED = 1, WISH_LOOP = 2, WISH_PLACE = 4, WISH_PLAY = 8 };

/** Zero-initialised: nothing is wanted. */
struct transport {
    unsigned wanted; /**< shown in place of what the daemon says */
    unsigned due;    /**< of those: still to be asked for */
    double speed;    /**< as in struct playback */
    int loops, plays;
    uint64_t place_ns; /**< daemon time */
    int steps;         /**< windows forward or, below 0, back, still to be asked for */
    int held;          /**< the mouse holds the knob */
    uint64_t asked_ms; /**< when a place was asked for last */
};

/** Speeds to choose from, by number; 0 times stands for as fast as it goes. */
#define TRANSPORT_SPEEDS 13
double transport_speed(int number);

/** "1x", "0.25x", "max". */
char *transport_speed_text(char *out, size_t capacity, double speed);

/** What is shown, wishes included: is it to go on, is it a loop, how fast, where. */
int transport_plays(const struct transport *transport, const struct playback *playback);
int transport_loops(const struct transport *transport, const struct playback *playback);
double transport_speed_shown(const struct transport *transport, const struct playback *playback);
uint64_t transport_position(const struct transport *transport, const struct playback *playback);

/** Commands and keys of a replay; without one they do nothing. @return enum ui_effect; of a key 0:
 * it is none of them */
int transport_command(struct ui *ui, const struct model *model, enum ui_command command,
                      uint64_t argument);
int transport_key(struct ui *ui, const struct model *model, int key);

/** The mouse: the button went down on the line of time and takes its knob along; or was clicked on
 * marks.
 *  @return 1 when it was so */
int transport_press(struct ui *ui, const struct model *model, const struct scene_hit *hit);
int transport_drag(struct ui *ui, const struct model *model, const struct scene_hit *hit);
int transport_click(struct ui *ui, const struct model *model, const struct scene_hit *hit);
void transport_release(struct ui *ui);

/** What to ask for next, as request "replay" has it; it is asked then. While the knob is held a
 * place is asked for five times a second at most, and not while the daemon is still on its way to
 * the one before.
 *  @return 1 when out was set, 0: nothing now */
int transport_next(struct transport *transport, const struct playback *playback, uint64_t now_ms,
                   char *out, size_t capacity);

/** Is there still something to ask for? */
int transport_pending(const struct transport *transport);

/** All was answered: from now on what the daemon says is shown. */
void transport_settle(struct transport *transport);

#endif
