/* The pace of a replay: which message of the recording is due at which wall time. Pure: clocks are
 * arguments.
 *
 * "Media time" is the recording's: nanoseconds since 1970, when messages were received. "Wall" is
 * CLOCK_MONOTONIC. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_PACE_H
#define HOLTER_DAEMON_REPLAY_REPLAY_PACE_H

#include <stdint.h>

#define PACE_SLOWEST 0.01
#define PACE_FASTEST 1e5

struct replay_pace {
    double speed; /**< media time by wall time; 0: as fast as it goes */
    int paused;
    uint64_t media_ns; /**< at the anchor */
    uint64_t wall_ns;  /**< of the anchor */
};

/** Media time now. @param next_ns  of the next message, which it does not pass; UINT64_MAX: none */
uint64_t replay_pace_now(const struct replay_pace *pace, uint64_t wall_ns, uint64_t next_ns);

/** Wall time at which a message is due; 0: at once; UINT64_MAX: never at this pace. */
uint64_t replay_pace_due(const struct replay_pace *pace, uint64_t media_ns);

/** A message was fed: without a speed, or paused, media time becomes that of the message. */
void replay_pace_fed(struct replay_pace *pace, uint64_t media_ns, uint64_t wall_ns);

/** Set the pace: media time stands still at this one, or goes on from it. */
void replay_pace_set(struct replay_pace *pace, double speed, int paused, uint64_t media_ns,
                     uint64_t wall_ns);

/** "2", "0.5", "max". @return 0 or -HOLTER_EUSAGE; out is set on success */
int replay_pace_parse(const char *text, double *out);

#endif
