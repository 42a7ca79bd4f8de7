/* A recording fed to the jobs, message by message, through the very path of live messages: so what is
 * published and told to those who come late is what it was. In slices of an idle handle, as fast as it
 * goes; the job ends with its last message. Nothing is recorded, no sink is told of alerts. */
#ifndef HOLTER_DAEMON_REPLAY_H
#define HOLTER_DAEMON_REPLAY_H

#include "daemon/jobs.h"
#include "daemon/recording.h"

#include <uv.h>

struct replay;

/** @param cursor  taken over, whatever is returned
 *  @param path    of the recording, for people
 *  @param why     set on failure @return 0, -ENOMEM or another negative error */
int replay_create(struct replay **out, uv_loop_t *loop, struct jobs *jobs,
                  struct recording_cursor *cursor, const char *path, char *why, size_t room);

/** The handle closes in further turns of the loop. NULL is fine. */
void replay_destroy(struct replay *replay);

#endif
