/* The index of a replay: a process that feeds the recording from begin to end, and forks a state of it now and then,
 * which sleeps until a worker is to go on from there. Memory is shared until it is written to. */
#ifndef HOLTER_DAEMON_REPLAY_INDEX_H
#define HOLTER_DAEMON_REPLAY_INDEX_H

#include "daemon/replay_link.h"
#include "daemon/replay_reel.h"
#include "daemon/replay_shared.h"

#include <stdint.h>

/** Processor time between two states: what a seek takes beyond its forks. It doubles with each REPLAY_SPARSER. */
#define REPLAY_SPACING_NS UINT64_C(300000000)

struct replay_index {
    struct replay_reel_options reel; /**< alert is set here */
    struct replay_shared *shared;
    int link;            /**< to the server */
    uint64_t spacing_ns; /**< 0: REPLAY_SPACING_NS */
    /** Runs a worker: in a process of its own, which it ends.
     *  @param note  as the server sent it
     *  @param fds   front, stream and link */
    void (*work)(void *user, struct replay_reel *reel, const struct replay_note *note,
                 const int fds[REPLAY_LINK_FDS]);
    void *work_user;
};

/** Run it, in a process that was forked for that and has one thread. Never returns: the process ends when all is
 *  indexed, or the link is closed. */
_Noreturn void replay_index_run(const struct replay_index *index);

/** Signals of a process of the replay: those that end the server are its business, and it ends us. */
void replay_signals(void);

#endif
