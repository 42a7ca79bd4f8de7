/* The published stream. Frames are "<topic>/<job>", three numbers, one message; see
 * WIRE in holter/wire.h. A subscriber that does not keep up loses frames and delays nobody. */
#ifndef HOLTER_DAEMON_SERVER_PUBLISH_H
#define HOLTER_DAEMON_SERVER_PUBLISH_H

#include "daemon/job/jobs.h"
#include "daemon/server/msg_socket.h"
#include "holter/wire.h"

struct publisher;

/** Silent at first: nothing is wanted, published or counted. @return 0 or -ENOMEM */
int publisher_create(struct publisher **out);

/** Publish to those behind a port from now on.
 *  @param port      taken over
 *  @param instance  of this run of the daemon, or of what it replays, as in welcome: each frame
 * tells it */
void publisher_open(struct publisher *publisher, struct port *port, uint64_t instance);

/** As it was created, without a word to those who listen: in a process that was forked from one
 * that published. */
void publisher_silence(struct publisher *publisher);

/** What was published still goes out; handles close in further turns of the loop. NULL is fine. */
void publisher_destroy(struct publisher *publisher);

/** Has anybody subscribed to this topic of this job? */
int publisher_wanted(const struct publisher *publisher, const char *job, enum wire_type type);

/** Publish one message. Numbers of frames go up whether anybody listens or not. */
void publisher_publish(struct publisher *publisher, const char *job, enum wire_type type,
                       const void *message);

/** The publisher as jobs need it; borrowed. */
struct jobs_publisher publisher_for_jobs(struct publisher *publisher);

/** Number of the newest frame of a job, 0: none. */
uint64_t publisher_frame(const struct publisher *publisher, const char *job);

/** A job is forgotten. */
void publisher_forget(struct publisher *publisher, const char *job);

/** Frames since the start. */
uint64_t publisher_frames(const struct publisher *publisher);

#endif
