/* The feeder of a replay, and a client that collects what is published. */
#ifndef TESTS_DAEMON_REPLAY_FEEDER_FRAMES_H
#define TESTS_DAEMON_REPLAY_FEEDER_FRAMES_H

#include "daemon/replay/replay_feeder.h"
#include "daemon/server/msg_socket_type.h"

#include <stddef.h>
#include <stdint.h>

#define FEEDER_FRAMES 4096u /* most that are kept: more fail the test */

struct feeder_frames {
    struct msg_socket socket;
    int subscribed;
    int alone; /* set after listening: counts since the job's start are left out of the hashes */
    size_t count;
    struct feeder_frame {
        char topic[80];
        uint64_t hash; /* of the message */
    } list[FEEDER_FRAMES];
};

/** Open a recording, as a daemon without any option would. */
struct replay_feeder *feeder_open(const char *path, uint64_t window_ns);

/** Subscribe to everything that the feeder publishes from now on. @param frames  too large
 * for the stack */
void feeder_frames_listen(struct feeder_frames *frames, struct replay_feeder *feeder);

/** Forget all but those whose topic names one of these. */
void feeder_frames_only(struct feeder_frames *frames, const char *const *names, size_t count);

/** The last frames of all are those of the others, in each topic. */
void feeder_frames_end_with(const struct feeder_frames *all, const struct feeder_frames *others);

#endif
