/* The argument of the request "replay" (WIRE_REQUEST in holter/wire.h), parsed. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_REQUEST_H
#define HOLTER_DAEMON_REPLAY_REPLAY_REQUEST_H

#include <stddef.h>

struct replay_request {
    enum replay_verb {
        REPLAY_REPORT, /**< only a report is asked for */
        REPLAY_PAUSE,
        REPLAY_PLAY,
        REPLAY_STEP,
        REPLAY_STEP_BACK,
        REPLAY_SEEK,
        REPLAY_SPEED,
        REPLAY_LOOP,
    } verb;
    char moment[65]; /**< seek: the text given, see proto/moment.h */
    double speed;    /**< as in struct replay_pace */
    int on;          /**< loop: on or off */
};

/** Parse a request. @param argument  NULL for none
 *  @param why       set on failure: a sentence for people
 *  @return 0 or -HOLTER_EUSAGE */
int replay_request_parse(struct replay_request *out, const char *argument, char *why,
                         size_t capacity);

#endif
