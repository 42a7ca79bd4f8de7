/* A reel of a replay, and a client of it that keeps what is published. */
#ifndef TESTS_DAEMON_REPLAY_FEEDER_FRAMES_H
#define TESTS_DAEMON_REPLAY_FEEDER_FRAMES_H

#include "daemon/replay/replay_feeder.h"
#include "daemon/server/msg_socket_type.h"

#include <stddef.h>
#include <stdint.h>

#define REEL_FRAMES 4096u /* most that are kept: more fail the test */

struct reel_frames {
    struct port port;
    int subscribed;
    size_t count;
    struct reel_frame {
        char topic[80];
        uint64_t hash; /* of the message */
    } list[REEL_FRAMES];
};

/** Open a recording, as a daemon without any option would. */
struct replay_reel *reel_open(const char *path, uint64_t window_ns);

/** Subscribe to everything that the reel tells from now on. @param frames  as large as it is: not
 * for the stack */
void reel_frames_listen(struct reel_frames *frames, struct replay_reel *reel);

/** Forget all but those whose topic names one of these. */
void reel_frames_only(struct reel_frames *frames, const char *const *names, size_t count);

/** The last frames of all are those of the others, in each topic. */
void reel_frames_end_with(const struct reel_frames *all, const struct reel_frames *others);

#endif
