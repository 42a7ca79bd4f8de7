/* Answers that take long: pictures, made in steps by an idle handle of the loop, one step per turn,
 * for all clients in turn. Requests that a client sends meanwhile are queued, and answered in
 * order.
 *
 * The work for a client that leaves is dropped. At most ANSWERS_QUEUE_MAXIMUM requests of a client
 * wait, and several only if their rows take no more than ANSWERS_QUEUE_BYTES together. */
#ifndef HOLTER_DAEMON_SERVER_ANSWERS_H
#define HOLTER_DAEMON_SERVER_ANSWERS_H

#include "daemon/job/jobs.h"
#include "daemon/job/phases/picture.h"
#include "daemon/server/peers.h"

#include <uv.h>

#define ANSWERS_QUEUE_MAXIMUM 64u
#define ANSWERS_QUEUE_BYTES (16u << 20)

struct answers;
struct front;

/** @param answer  called for a request whose turn it is
 *  @return 0, -ENOMEM or a libuv error */
int answers_create(struct answers **out, uv_loop_t *loop, const struct jobs *jobs, void *user,
                   void (*answer)(void *user, struct front *front, struct peer *peer,
                                  const struct wire_request *request));

/** The handle closes in further turns of the loop. NULL is fine. */
void answers_destroy(struct answers *answers);

/** Make a picture for a peer, which has none under way, and send it with a reply to this request.
 *  @param picture  taken over, whatever is returned @return 0 or -ENOMEM */
int answers_start_picture(struct answers *answers, struct front *front, const struct peer *peer,
                          uint64_t id, struct job *job, struct picture *picture);

/** Is a picture for this peer under way? */
int answers_is_busy(const struct answers *answers, const struct peer *peer);

/** Queue a request after the picture. @param request  copied @return 0, -HOLTER_EFULL, or as
 *  wire_copy() */
int answers_queue(struct answers *answers, const struct peer *peer,
                  const struct wire_request *request);

#endif
