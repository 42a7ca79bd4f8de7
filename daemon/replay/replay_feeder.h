/* The feeder of a replay: it reads a recording message by message, and feeds them to the jobs along
 * the path of live messages. So what is published, also to those who connect late, is what was
 * published live. It has no clock and no event loop: a process that holds one can be forked
 * between two messages, after replay_feeder_close_file(). */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_FEEDER_H
#define HOLTER_DAEMON_REPLAY_REPLAY_FEEDER_H

#include "daemon/job/jobs.h"
#include "daemon/replay/replay_link.h"
#include "daemon/replay/replay_options.h"
#include "daemon/topology/shared_network.h"

struct replay_feeder;

struct replay_feeder_options {
    const struct replay_options *options; /**< borrowed, as the next two; window_ns and grace_ns
                                             are those of the recording */
    const struct network *network;
    const struct rules *rules;
    uint64_t last; /**< number of the last message to be fed, of a file that grows; 0: all are */
    void *user;
    /** Called for each alert of the replay; NULL: for none. */
    void (*alert)(void *user, const struct wire_alert *alert);
    /** Called for each message that recordings keep in tables; NULL: for none. */
    void (*table)(void *user, enum wire_type type, const void *message);
};

/** Open the recording; nothing is fed yet. @param why  set on failure @return 0 or a negative error
 */
int replay_feeder_create(struct replay_feeder **out, const struct replay_feeder_options *options,
                         char *why, size_t capacity);

/** NULL is fine. @param now_ns  see jobs_destroy() */
void replay_feeder_destroy(struct replay_feeder *feeder, uint64_t now_ns);

/** Do not call options.alert any more, or do so again: in a process that repeats what another one
 * feeds. */
void replay_feeder_mute_alerts(struct replay_feeder *feeder, int muted);

/** Release buffers that the next message allocates again: in a process that sleeps. */
void replay_feeder_release_memory(struct replay_feeder *feeder);

/** Look at the next message.
 *  @param time_ns  set to when it was received, but not before the message before it
 *  @return 1, or 0: there is none */
int replay_feeder_peek(struct replay_feeder *feeder, uint64_t *time_ns);

/** Feed the next message; after the last one, end the job. @return whether windows were closed */
int replay_feeder_feed(struct replay_feeder *feeder);

/** Feed up to a target.
 *  @param goes_on  called after each message; returns nonzero to go on; may be NULL
 *  @return 1, or 0 when goes_on returned 0 */
int replay_feeder_run(struct replay_feeder *feeder, const struct replay_target *target,
                      int (*goes_on)(void *user, const struct replay_place *place), void *user);

/** What a preview knows of the time before its target: at most so many windows, and about so many
 * bytes of messages. */
#define REPLAY_PREVIEW_WINDOWS 30u
#define REPLAY_PREVIEW_BYTES (UINT64_C(16) << 20)

/** Go on shortly before a time: of what lies before, only messages about ranks are fed, as if the
 * daemon had been started there. Only before anything is fed.
 *  @param since_ns  set to when the first message was received that is fed from there on
 *  @return 0, or negative: the feeder cannot be used any more */
int replay_feeder_jump(struct replay_feeder *feeder, uint64_t time_ns, uint64_t *since_ns);

/** Close the file before a fork. The next call that reads opens it again. */
void replay_feeder_close_file(struct replay_feeder *feeder);

/** How far it has come. */
struct replay_place replay_feeder_place(const struct replay_feeder *feeder);

/** Number of the newest window that was closed; 0: none was. */
uint64_t replay_feeder_window(const struct replay_feeder *feeder);

/** Number of messages fed. */
uint64_t replay_feeder_messages(const struct replay_feeder *feeder);

/** The first fault found in a message or in the file; "": none. */
const char *replay_feeder_fault(const struct replay_feeder *feeder);

/** The jobs that are fed, and what they publish to; borrowed. */
struct jobs *replay_feeder_jobs(struct replay_feeder *feeder);
struct publisher *replay_feeder_publisher(struct replay_feeder *feeder);

#endif
