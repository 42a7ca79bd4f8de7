/* The published stream. Frames are "<topic>/<job>", three numbers, one message; see
 * WIRE in holter/wire.h. A subscriber that does not keep up loses frames and delays nobody. */
#ifndef HOLTER_DAEMON_SERVER_PUBLISH_H
#define HOLTER_DAEMON_SERVER_PUBLISH_H

#include "daemon/job/jobs.h"
#include "daemon/server/msg_socket.h"
#include "holter/wire.h"

#define PUBLISHER_PREFIX_BYTES 72u /**< room for "~USER/" */

struct publisher;

/** At first there are no subscribers, and nothing is published or counted. @return 0 or -ENOMEM */
int publisher_create(struct publisher **out);

/** Publish through a message socket from now on.
 *  @param socket    taken over
 *  @param instance  of this run of the daemon or of the replay, as in welcome; part of each frame
 */
void publisher_open(struct publisher *publisher, struct msg_socket *socket, uint64_t instance);

/** From now on, before subscribers connect to a socket with ZMQ_XPUB_MANUAL: those whose key
 * belongs to a user receive the frames of this user's jobs only. Their subscriptions have to begin
 * with
 * "~USER/"; others are not in force. A frame of a job with such subscribers is sent with this
 * prefix, too.
 *  @param owner  name of the user of a job; NULL or "": not known */
void publisher_separate_users(struct publisher *publisher,
                              const char *(*owner)(void *user, const char *job), void *user);

/** The prefix of a user's topics; of nobody's, "". */
void publisher_write_prefix(char out[PUBLISHER_PREFIX_BYTES], const char *user);

/** Reset to the state after creation, and leave the socket open: in a process that was forked from
 * one that published. */
void publisher_silence(struct publisher *publisher);

/** What was published is still sent; handles close in later turns of the loop. NULL is fine. */
void publisher_destroy(struct publisher *publisher);

/** Publish one message. Frames are numbered whether or not there are subscribers. */
void publisher_publish(struct publisher *publisher, const char *job, enum wire_type type,
                       const void *message);

/** The publisher as jobs need it; borrowed. */
struct jobs_publisher publisher_for_jobs(struct publisher *publisher);

/** Number of the newest frame of a job, 0: none. */
uint64_t publisher_newest_frame(const struct publisher *publisher, const char *job);

/** @return number of frames since the start */
uint64_t publisher_frames(const struct publisher *publisher);

#endif
