/* The index of a replay: a process that feeds the recording from begin to end, and forks
 * checkpoints: processes that sleep until a worker is to go on from there. Memory is
 * shared until it is written to. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_INDEX_H
#define HOLTER_DAEMON_REPLAY_REPLAY_INDEX_H

#include "daemon/replay/replay_feeder.h"
#include "daemon/replay/replay_link.h"
#include "daemon/replay/replay_shared.h"

#include <stdint.h>

/** Processor time between two checkpoints: what a seek takes at most, forks aside. It doubles with
 * each REPLAY_NOTE_SPARSER. */
#define REPLAY_SPACING_NS UINT64_C(300000000)

struct replay_index {
    struct replay_feeder_options feeder; /**< alert and user are set by the index */
    struct replay_shared *shared;
    int link;            /**< to the server */
    int first_only;      /**< leave one checkpoint at the begin, and end */
    uint64_t spacing_ns; /**< 0: REPLAY_SPACING_NS */
    /** Runs a worker in a process of its own, which ends when it returns.
     *  @param note  as the server sent it
     *  @param fds   front, stream and link */
    void (*work)(void *user, struct replay_feeder *feeder, const struct replay_note *note,
                 const int fds[REPLAY_LINK_FDS]);
    void *work_user;
};

/** Run the index in a process that was forked for it and has one thread. Never returns: the process
 * ends after the last message, or when the link was closed. */
_Noreturn void replay_index_run(const struct replay_index *index);

#endif
