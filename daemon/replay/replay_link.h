/* What the processes of a replay tell each other, over socketpair(2), SOCK_SEQPACKET: one note a
 * packet, with descriptors that go along.
 *
 * The server has the sockets of ZeroMQ. The index feeds the recording from begin to end, and leaves
 * a state behind now and then, which sleeps. A state forks a worker when it is told to; the worker
 * feeds on to the target, and serves. A worker that replays from the begin as fast as it can leaves
 * states behind itself, and the index goes on from its last one when it does so no more: nothing is
 * worked out twice. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_LINK_H
#define HOLTER_DAEMON_REPLAY_REPLAY_LINK_H

#include <stddef.h>
#include <stdint.h>

#define REPLAY_LINK_FDS 3u

/** A place in the recording: the state behind all that was received up to a time, or behind so many
 * steps (a step is a message, or the end, with which windows were published). */
struct replay_target {
    enum { REPLAY_TO_TIME, REPLAY_TO_STEP } kind;
    uint64_t value;
};

struct replay_note {
    enum replay_note_kind {
        REPLAY_STATE,   /**< who leads to server: a state sleeps; its link goes along, and place is
                           set */
        REPLAY_SPARSER, /**< server to who leads: states half as often */
        REPLAY_HOLD,    /**< server to the index: wait, as long as paused says so */
        REPLAY_PACK,   /**< server to state: take less memory (replay_pack.h), or again so little */
        REPLAY_PACKED, /**< state to server: that is done; or it cannot be done */
        REPLAY_DONE,   /**< who leads to server: that was all */
        REPLAY_FOLLOW, /**< worker to server: it leads no more */
        REPLAY_INDEX,  /**< server to state: the index goes on there; its link goes along */
        REPLAY_FORK,   /**< server to state: a worker; its front, stream and link go along */
        REPLAY_READY,  /**< worker to server: the target is reached */
        REPLAY_GO,     /**< server to worker: serve, with this speed, paused, looping */
        /* Worker to server; and on to the worker that had taken over meanwhile. */
        REPLAY_WANT,   /**< another worker is to take over there */
        REPLAY_MODE,   /**< speed, paused, looping of the one that takes over */
        REPLAY_FAILED, /**< server to worker: that came to nothing */
        REPLAY_LEAVE,  /**< server to worker: another one takes over, instance names it; 0: all ends
                        */
        REPLAY_UNRECORDED, /**< worker to server: its recording stopped before its end */
        REPLAY_STOP,       /**< worker to server: a client, or the end, stops the daemon */
    } kind;
    struct replay_place {
        uint64_t time_ns, steps;
        int ended;
    } place;
    struct replay_target target;
    double speed;
    int paused, looping;
    int seeking; /**< REPLAY_GO: another worker is on its way to the target already */
    int leads;   /**< REPLAY_FORK: it is the one that leaves states behind */
    int preview; /**< REPLAY_FORK: a state of what lies shortly before the target alone */
    int near; /**< REPLAY_STATE: one shortly before where somebody is, beside those of who leads */
    uint64_t run;      /**< from 1 up */
    uint64_t instance; /**< as in welcome */
    int64_t process;   /**< REPLAY_STATE: that sleeps */
};

/** @return 0, -EAGAIN, -EPIPE: the other end has gone, whether or not it had read all; or another
 * error */
int replay_link_send(int link, const struct replay_note *note, const int *fds, size_t count);

/** @param fds    REPLAY_LINK_FDS; owned by the caller
 *  @param count  set to how many came
 *  @return 1, 0: the other end was closed, -EAGAIN when the link does not block, or another error
 */
int replay_link_receive(int link, struct replay_note *note, int *fds, size_t *count);

/** A pair of links. @return 0 or -errno */
int replay_link_pair(int out[2]);

/** Has the other end been closed? Does not wait. */
int replay_link_over(int link);

#endif
