/* The states of a replay that sleep, as the server knows them: each a process behind a link, from
 * which workers can be made. And links in a libuv loop. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_STATES_H
#define HOLTER_DAEMON_REPLAY_REPLAY_STATES_H

#include "daemon/replay/replay_link.h"

#include <uv.h>

/* ---- links ---------------------------------------------------------------- */

struct replay_watch;

/** Called for each note. @param note  NULL: the other end has gone @param fd  that came with it,
 * the callee's; -1: none */
typedef void replay_watch_note(void *user, struct replay_watch *watch,
                               const struct replay_note *note, int fd);

/** @param link  taken over, whatever is returned @return 0, -ENOMEM or a libuv error */
int replay_watch_open(struct replay_watch **out, uv_loop_t *loop, int link, replay_watch_note *note,
                      void *user);

/** @return as replay_link_send() */
int replay_watch_send(struct replay_watch *watch, const struct replay_note *note, const int *fds,
                      size_t count);

/** The other end finds it closed in a further turn of the loop. NULL is fine. */
void replay_watch_close(struct replay_watch *watch);

/* ---- states ----------------------------------------------------------------- */

struct replay_states;

/** @param most_bytes  of memory that they may take; 0: the machine's share (replay_thin.h) @return
 * 0 or -ENOMEM */
int replay_states_create(struct replay_states **out, uv_loop_t *loop, uint64_t most_bytes);
/** Ends all. NULL is fine. */
void replay_states_destroy(struct replay_states *states);

/** A state sleeps.
 *  @param note  place and process, and whether it is one near somebody: of those REPLAY_NEAR are
 * kept, the newest; one where another one is already is given up
 *  @param link  taken over, whatever is returned @return 0, -ENOMEM, -HOLTER_EFULL or a libuv error
 */
int replay_states_add(struct replay_states *states, const struct replay_note *note, int link);

/** Have the last state before the note's target make a worker.
 *  @return 0, -HOLTER_EEMPTY: there is none, or an error of replay_link_send() */
int replay_states_fork(struct replay_states *states, const struct replay_note *note,
                       const int fds[REPLAY_LINK_FDS]);

/** Have the index go on from the last state of who led. @param link  of it to the server; the
 * caller's
 *  @return 0, -HOLTER_EEMPTY: there is none, or an error of replay_link_send() */
int replay_states_index(struct replay_states *states, int link);

/** Have the first state of all make one. @return as replay_states_fork() */
int replay_states_fork_first(struct replay_states *states, const struct replay_note *note,
                             const int fds[REPLAY_LINK_FDS]);

/** Where a worker would begin. @return 0 or -HOLTER_EEMPTY: there is no state */
int replay_states_before(const struct replay_states *states, const struct replay_target *target,
                         struct replay_place *out);

/** Somebody goes elsewhere: those near where that was are given up. */
void replay_states_forget_near(struct replay_states *states);

/** What who leads is to be told. */
struct replay_keeping {
    int sparser; /**< every other state was given up, as there are too many, or memory is short */
    int hold;    /**< those that are to be packed take too much: wait until that is done */
};

/** Keep within bounds (replay_thin.h): have states packed, the first ones first, or give some up.
 * To be called whenever one was added, and now and then. */
struct replay_keeping replay_states_keep(struct replay_states *states);

/** Somebody waits for a seek, or does so no more: meanwhile none is told to pack, who would take a
 * processor from it. */
void replay_states_rest(struct replay_states *states, int resting);

/** Does a worker that begins at a place come through the target, or begin there? */
int replay_place_leads(const struct replay_place *place, const struct replay_target *target);

#endif
