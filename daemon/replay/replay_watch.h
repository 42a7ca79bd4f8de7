/* A link between processes of a replay (replay_link.h) in a libuv loop. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_WATCH_H
#define HOLTER_DAEMON_REPLAY_REPLAY_WATCH_H

#include "daemon/replay/replay_link.h"

#include <uv.h>

struct replay_watch;

/** Called for each note.
 *  @param note  NULL: the other end was closed
 *  @param fd    descriptor that was attached, owned by the callee; -1: none */
typedef void replay_watch_on_note(void *user, struct replay_watch *watch,
                                  const struct replay_note *note, int fd);

/** @param link  taken over, whatever is returned @return 0, -ENOMEM or a libuv error */
int replay_watch_open(struct replay_watch **out, uv_loop_t *loop, int link,
                      replay_watch_on_note *on_note, void *user);

/** @return as replay_link_send() */
int replay_watch_send(struct replay_watch *watch, const struct replay_note *note, const int *fds,
                      size_t count);

/** Close the link in a later turn of the loop. NULL is fine. */
void replay_watch_close(struct replay_watch *watch);

#endif
