/* The index of a replay: a process that feeds the recording from begin to end, and leaves a state
 * of it behind now and then, which sleeps until a worker is to go on from there. Memory is shared
 * until it is written to. A worker can do the same while it replays. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_INDEX_H
#define HOLTER_DAEMON_REPLAY_REPLAY_INDEX_H

#include "daemon/replay/replay_feeder.h"
#include "daemon/replay/replay_link.h"
#include "daemon/replay/replay_shared.h"

#include <stdint.h>

/** Processor time between two states: what a seek takes beyond its forks. It doubles with each
 * REPLAY_SPARSER. */
#define REPLAY_SPACING_NS UINT64_C(300000000)

struct replay_index {
    struct replay_reel_options reel; /**< alert is set here */
    struct replay_shared *shared;
    int link;            /**< to the server */
    int first_only;      /**< leave one state behind, at the begin: a worker leads from there */
    uint64_t spacing_ns; /**< 0: REPLAY_SPACING_NS */
    /** Runs a worker: in a process of its own, which it ends.
     *  @param note  as the server sent it
     *  @param fds   front, stream and link */
    void (*work)(void *user, struct replay_reel *reel, const struct replay_note *note,
                 const int fds[REPLAY_LINK_FDS]);
    void *work_user;
};

/** Run it, in a process that was forked for that and has one thread. Never returns: the process
 * ends when all is indexed, or the link is closed. */
_Noreturn void replay_index_run(const struct replay_index *index);

/** Who leaves states behind. In a process of one thread, where children are waited for. */
struct replay_leader {
    const struct replay_index *index;
    struct replay_reel *reel;
    int link;                    /**< to the server */
    int others[REPLAY_LINK_FDS]; /**< further descriptors that are not a state's */
    size_t other_count;
    int near; /**< it leaves states shortly before where somebody is, and leads nobody */
    uint64_t spacing_ns;
    uint64_t worked_ns; /**< processor time at the last state */
};

/** It begins: alerts of its reel are told. */
void replay_leader_init(struct replay_leader *leader, const struct replay_index *index,
                        struct replay_reel *reel, int link);

/** Likewise of a worker that leaves states near its target, while another process leads. */
void replay_leader_init_near(struct replay_leader *leader, const struct replay_index *index,
                             struct replay_reel *reel, int link);

/** Has it worked for long enough since the last state? */
int replay_leader_due(const struct replay_leader *leader);

/** Leave a state behind. Between windows: a step back ends there. @return 0, or negative: the
 * server has gone */
int replay_leader_state(struct replay_leader *leader);

/** All is fed: say so. @return 0, or negative: the server has gone */
int replay_leader_done(struct replay_leader *leader);

/** The same, with a last state. @return as replay_leader_done() */
int replay_leader_end(struct replay_leader *leader);

/** States half as often. */
void replay_leader_thin(struct replay_leader *leader);

/** Signals of a process of the replay: those that end the server are its business, and it ends us.
 */
void replay_signals(void);

#endif
