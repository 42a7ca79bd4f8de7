/* The replay that the daemon runs: its position in the recording, its state, and the alerts of the
 * whole recording. It belongs to the daemon, not to the job: it survives a seek, after which the
 * job is published again from scratch. Memory: 240 bytes a mark, PLAYBACK_MARKS at most. */
#ifndef HOLTER_VIEWER_MODEL_PLAYBACK_H
#define HOLTER_VIEWER_MODEL_PLAYBACK_H

#include "holter/wire.h"

#define PLAYBACK_MARKS 1024u /**< the wire's maximum */

enum playback_state { PLAYBACK_PLAYING, PLAYBACK_PAUSED, PLAYBACK_SEEKING, PLAYBACK_ENDED };

enum mark_severity { MARK_INFO, MARK_WARNING, MARK_CRITICAL };

/** An alert of the recording. */
struct playback_mark {
    uint64_t id;
    enum mark_severity severity;
    uint64_t since_ns, fired_ns,
        end_ns; /**< daemon time; fired 0: never did, end 0: not resolved */
    char kind[33], title[129];
};

/** Zero-initialised: nothing is replayed. Times are daemon time. */
struct playback {
    int known; /**< the daemon replays a recording */
    char file[513];
    char fault[257]; /**< what could not be read; "": no fault */
    enum playback_state state;
    int paused, looping;
    uint64_t begin_ns, end_ns; /**< of the recording; begin is below end */
    uint64_t position_ns;      /**< shown now, between them */
    uint64_t indexed_ns;       /**< seeks up to this time are fast; between them */
    uint64_t target_ns;        /**< while seeking: the target; 0: not reported */
    uint64_t reached_ns;       /**< while seeking: the time reached; 0: not reported */
    uint64_t known_ns; /**< a preview is shown, which has data of the job from this time on; 0: no
                          preview */
    double speed;      /**< times real time; 0: as fast as possible */
    uint64_t change, run;

    struct playback_mark *marks; /**< owned; by begin */
    uint32_t mark_count;

    char refused[257]; /**< why the last request was refused; "": it was not */
    uint64_t version;  /**< incremented by every change */
};

/** Applies a message of topic replay, unless it is older than the last one.
 *  @param state  1: part of a current state, which is never older
 *  @return 1 when something changed, 0, or -ENOMEM: the marks are unchanged */
int playback_apply(struct playback *playback, const struct wire_replay *message, int state);

/** Handles the reply to a request: code 0, or the error with its text. */
void playback_replied(struct playback *playback, int code, const char *text);

/** Nothing is replayed any more. */
void playback_clear(struct playback *playback);

/** Clamps a time to the recording. */
uint64_t playback_clamp(const struct playback *playback, uint64_t ns);

/** Start of a mark on the time axis: when the alert fired, else its begin. */
uint64_t playback_mark_ns(const struct playback_mark *mark);

/** "critical" and so on. */
const char *playback_severity_name(enum mark_severity severity);

/** The severity of that name, as alerts and their marks have it; NULL and others: a warning. */
enum mark_severity playback_severity(const char *name);

#endif
