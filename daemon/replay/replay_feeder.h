/* The reel of a replay: a recording, fed message by message to the jobs, through the very path of
 * live messages. So what is published and told to those who come late is what it was. It knows no
 * clock and no event loop: processes that hold one can be forked between any two messages, behind
 * replay_reel_park(). */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_FEEDER_H
#define HOLTER_DAEMON_REPLAY_REPLAY_FEEDER_H

#include "daemon/daemon_options.h"
#include "daemon/job/jobs.h"
#include "daemon/replay/replay_link.h"
#include "daemon/topology/shared_network.h"

struct replay_reel;

struct replay_reel_options {
    const struct options *
        options; /**< borrowed, as the next two: window_ns and grace_ns as the recording has them */
    const struct network *network;
    const struct rules *rules;
    uint64_t last; /**< number of the last message to be fed, of a file that grows; 0: all are */
    /** An alert of the replay; what recordings keep in tables. Both may be NULL. */
    void *user;
    void (*alert)(void *user, const struct wire_alert *alert);
    void (*table)(void *user, enum wire_type type, const void *message);
};

/** At the begin: nothing is fed. @param why  set on failure @return 0 or a negative error */
int replay_reel_create(struct replay_reel **out, const struct replay_reel_options *options,
                       char *why, size_t room);

/** NULL is fine. @param now_ns  see jobs_destroy() */
void replay_reel_destroy(struct replay_reel *reel, uint64_t now_ns);

/** Alerts are told to nobody from now on: the process is another one's child, or follows another
 * one. */
void replay_reel_hush(struct replay_reel *reel);

/** In the process of a state, which is another one's child: as replay_reel_hush(), and memory that
 * is not needed is given back. Parked. */
void replay_reel_rest(struct replay_reel *reel);

/** They are told again: it is the one that leads. */
void replay_reel_speak(struct replay_reel *reel);

/** Look at the next message. @param time_ns  set to when it is to be fed: not before the one before
 * it
 *  @return 1, or 0: there is none */
int replay_reel_peek(struct replay_reel *reel, uint64_t *time_ns);

/** Feed the next message, or end the job behind the last one. Nothing is left after that.
 *  @return 1: windows were published with it, 0 */
int replay_reel_feed(struct replay_reel *reel);

/** Feed up to a target, without a word to anybody.
 *  @param goes_on  asked after each message: nonzero to go on; may be NULL
 *  @return 1, or 0: goes_on has ended it */
int replay_reel_run(struct replay_reel *reel, const struct replay_target *target,
                    int (*goes_on)(void *user, const struct replay_place *place), void *user);

/** What a preview knows of before its target at most: so many windows, and about so many bytes of
 * messages. */
#define REPLAY_PREVIEW_WINDOWS 30u
#define REPLAY_PREVIEW_BYTES (UINT64_C(16) << 20)

/** Go on shortly before a time, without what lies between but for what was said about ranks: a
 * state as if the job had been attached to there. Before anything is fed.
 *  @param since_ns  set to from when on messages are fed
 *  @return 0, or negative: the reel is of no use */
int replay_reel_jump(struct replay_reel *reel, uint64_t time_ns, uint64_t *since_ns);

/** Close the file, which is opened again by what comes next: before a fork. */
void replay_reel_park(struct replay_reel *reel);

/** Where it is. */
struct replay_place replay_reel_place(const struct replay_reel *reel);

/** Newest window that was published; 0: none was. */
uint64_t replay_reel_window(const struct replay_reel *reel);

/** Messages fed, and what was wrong with some, or the file; "": nothing. */
uint64_t replay_reel_messages(const struct replay_reel *reel);
const char *replay_reel_fault(const struct replay_reel *reel);

/** The jobs it feeds, and what they publish to; borrowed. */
struct jobs *replay_reel_jobs(struct replay_reel *reel);
struct publisher *replay_reel_publisher(struct replay_reel *reel);

#endif
