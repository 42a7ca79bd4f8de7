/* What a client asks of a replay: the argument of the request "replay", see WIRE_REQUEST in
 * holter/wire.h. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_ASK_H
#define HOLTER_DAEMON_REPLAY_REPLAY_ASK_H

#include <stddef.h>

struct replay_ask {
    enum replay_verb {
        REPLAY_LOOK, /**< only the state is asked for */
        REPLAY_PAUSE,
        REPLAY_PLAY,
        REPLAY_STEP,
        REPLAY_STEP_BACK,
        REPLAY_SEEK,
        REPLAY_SPEED,
        REPLAY_LOOP,
    } verb;
    char moment[65]; /**< seek: T as given, see proto/moment.h */
    double speed;    /**< 0: as fast as it goes */
    int on;          /**< loop */
};

/** @param argument  NULL for none
 *  @param why       set on failure: a sentence for people
 *  @return 0 or -HOLTER_EUSAGE */
int replay_ask_parse(struct replay_ask *out, const char *argument, char *why, size_t room);

#endif
