/* The notes that the processes of a replay send each other over socketpair(2), SOCK_SEQPACKET: one
 * note per packet, with file descriptors attached.
 *
 * The processes are described in replay.h. Each kind of note names its sender and its receiver. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_LINK_H
#define HOLTER_DAEMON_REPLAY_REPLAY_LINK_H

#include <stddef.h>
#include <stdint.h>

#define REPLAY_LINK_FDS 3u /**< maximum number of file descriptors attached to a note */

/** A target in the recording: the state after all messages that were received up to a time, or
 * after a number of steps. A step is a message, or the end of the job, that closed windows. */
struct replay_target {
    enum { REPLAY_TO_TIME, REPLAY_TO_STEP } kind;
    uint64_t value; /**< nanoseconds since 1970, or the number of steps from the begin */
};

/** How far a feeder has come. */
struct replay_place {
    uint64_t time_ns; /**< when the last message that was fed was received; 0: none was fed */
    uint64_t steps;   /**< steps from the begin */
    int ended;        /**< the end of the job was fed, too */
};

enum replay_note_kind {
    REPLAY_NOTE_CHECKPOINT, /**< index to server: a checkpoint sleeps at place; its link attached */
    REPLAY_NOTE_SPARSER,    /**< server to index: leave checkpoints half as often */
    REPLAY_NOTE_FORK,  /**< server to checkpoint: fork a worker; front, stream, link attached */
    REPLAY_NOTE_READY, /**< worker to server: the target is reached */
    REPLAY_NOTE_SERVE, /**< server to worker: serve clients, with speed, paused, looping */
    REPLAY_NOTE_SEEK,  /**< worker to server: start another worker for this target; server to
                          worker: do so, a predecessor was asked for it too late */
    REPLAY_NOTE_MODE,  /**< worker to server: speed, paused, looping of its successor; server
                          to worker: the same, when a predecessor was asked too late */
    REPLAY_NOTE_SEEK_FAILED, /**< server to worker: no worker reaches the target */
    REPLAY_NOTE_LEAVE,       /**< server to worker: end; instance names the successor, 0: none */
    REPLAY_NOTE_UNRECORDED,  /**< worker to server: its recording stopped before its end */
    REPLAY_NOTE_STOP,        /**< worker to server: a client or the end stops the daemon */
};

struct replay_note {
    enum replay_note_kind kind;
    struct replay_place place;
    struct replay_target target;
    double speed; /**< see struct replay_pace */
    int paused, looping;
    int seeking;       /**< SERVE: another worker is on its way to the target already */
    int preview;       /**< FORK: begin shortly before the target, see replay_feeder_jump() */
    uint64_t run;      /**< number of the worker, from 1 */
    uint64_t instance; /**< random identity that clients see in "welcome" */
    int64_t process;   /**< CHECKPOINT: its process id */
};

/** @return 0, -EAGAIN, -EPIPE when the other end was closed, or another negative errno */
int replay_link_send(int link, const struct replay_note *note, const int *fds, size_t count);

/** @param fds    array of REPLAY_LINK_FDS; the descriptors received are the caller's to close
 *  @param count  set to the number of descriptors received
 *  @return 1, 0 when the other end was closed, -EAGAIN on a non-blocking link, or another negative
 * errno */
int replay_link_receive(int link, struct replay_note *note, int *fds, size_t *count);

/** Create two connected links. @return 0 or -errno */
int replay_link_pair(int out[2]);

/** @return whether the other end was closed; does not block */
int replay_link_closed(int link);

#endif
