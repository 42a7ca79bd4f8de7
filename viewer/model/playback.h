/* The replay that the daemon gives: where it is in its recording, what it does, and the alerts of
 * all of it. Of the daemon, not of the job: it outlives what is told anew behind a seek.
 *
 * Memory: 240 bytes a mark, PLAYBACK_MARKS at most. */
#ifndef HOLTER_VIEWER_MODEL_PLAYBACK_H
#define HOLTER_VIEWER_MODEL_PLAYBACK_H

#include "holter/wire.h"

#define PLAYBACK_MARKS 1024u /**< as many as the wire has */

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
    int known; /**< a replay is followed */
    char file[513];
    char fault[257]; /**< what could not be read; "": all could */
    enum playback_state state;
    int paused, looping;
    uint64_t begin_ns, end_ns; /**< of the recording; begin is below end */
    uint64_t position_ns;      /**< that is shown, between them */
    uint64_t indexed_ns;       /**< seeks up to here are fast, between them */
    uint64_t target_ns;        /**< seeking: where to; 0: not reported */
    uint64_t reached_ns;       /**< seeking: how far; 0: not reported */
    uint64_t known_ns; /**< a preview is shown, which knows the job from here on; 0: it is none */
    uint64_t window, window_ns;
    double speed; /**< times as fast as it was; 0: as fast as it goes */
    uint64_t change, run;

    struct playback_mark *marks; /**< owned; by begin */
    uint32_t mark_count;
    uint64_t marks_left_out;

    char refused[257]; /**< why the last thing that was asked for was not done; "": it was */
    uint64_t version;  /**< raised by every change */
};

/** Take in a message of topic replay, unless it is older than what is known.
 *  @param state  1: part of a current state, which is never older
 *  @return 1 when something changed, 0, or -ENOMEM: the marks are those of before */
int playback_apply(struct playback *playback, const struct wire_replay *message, int state);

/** The end of something asked: code 0, or the error with its text. */
void playback_replied(struct playback *playback, int code, const char *text);

/** Nothing is replayed any more. */
void playback_clear(struct playback *playback);

/** A time within the recording. */
uint64_t playback_clamp(const struct playback *playback, uint64_t ns);

/** When a mark begins to be seen: when it fired, else its begin. */
uint64_t playback_mark_ns(const struct playback_mark *mark);

/** "critical" and so on. */
const char *playback_severity_name(enum mark_severity severity);

#endif
