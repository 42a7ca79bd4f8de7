/* The published stream: an XPUB socket. Frames are "<topic>/<job>", two numbers, one message; see
 * WIRE in holter/wire.h. A subscriber that does not keep up loses frames and delays nobody. */
#ifndef HOLTER_DAEMON_PUBLISH_H
#define HOLTER_DAEMON_PUBLISH_H

#include "daemon/listen.h"
#include "daemon/options.h"
#include "holter/wire.h"

#include <uv.h>

struct publisher;

/** Listen on the streams of all endpoints of the options.
 *  @param why  set on failure @return 0, -ENOMEM, -EADDRINUSE or another -errno */
int publisher_create(struct publisher **out, void *context, uv_loop_t *loop,
                     const struct options *options, char *why, size_t room);

/** What was published still goes out; handles close in further turns of the loop. NULL is fine. */
void publisher_destroy(struct publisher *publisher);

/** Has anybody subscribed to this topic of this job? */
int publisher_wanted(const struct publisher *publisher, const char *job, enum wire_type type);

/** Publish one message. Numbers of frames go up whether anybody listens or not. */
void publisher_publish(struct publisher *publisher, const char *job, enum wire_type type,
                       const void *message);

/** Number of the newest frame of a job, 0: none. */
uint64_t publisher_frame(const struct publisher *publisher, const char *job);

/** A job is forgotten. */
void publisher_forget(struct publisher *publisher, const char *job);

/** Frames since the start. */
uint64_t publisher_frames(const struct publisher *publisher);

#endif
