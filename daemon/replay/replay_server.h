/* The inside of the process that serves a replay, shared by replay.c (its begin and end),
 * replay_server_seek.c (workers: each seek has another one made, which takes over) and
 * replay_server_lead.c (the states that workers begin at, and who leaves them behind). One thread.
 */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_SERVER_H
#define HOLTER_DAEMON_REPLAY_REPLAY_SERVER_H

#include "daemon/replay/replay_states.h"
#include "daemon/replay/replay_worker.h"
#include "daemon/server/relay.h"
#include "daemon/server/sockets.h"
#include "daemon/server/zap.h"
#include "daemon/storage/recording_blocks.h"
#include "daemon/topology/shared_network.h"

#include <uv.h>

/** A worker as the server sees it. */
struct replay_server_worker {
    struct replay_watch *link; /* NULL: there is none */
    int front, stream;         /* until the relay has them; -1 */
    struct replay_note note;   /* as it was forked, and how it is to go on */
};

struct replay_server {
    struct options *options;
    struct rules *rules;
    struct network network;
    struct timeline timeline;
    uint64_t instance; /* of run 0 */
    uint64_t begin_ns;
    uint64_t last; /* number of the last message there was then; 0: not known */
    struct replay_shared *shared;
    struct replay_worker_options given;
    void *context;
    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t tick, patience;
    struct listen_locks locks;
    struct zap *zap;
    struct relay *relay;
    struct replay_states *states;
    struct replay_watch *index; /* NULL: there is none, or not yet */
    int leading;                /* the active worker leaves states behind, in place of the index */
    int held;                   /* who leads is to wait until states are packed */
    struct replay_server_worker active, next,
        before;                          /* serving; on its way; saying its last words */
    struct replay_server_worker preview; /* on its way to the same target, with less to do */
    struct recording_weights weights;
    int indexed, leaving, status;
};

/* ---- replay.c --------------------------------------------------------------------------- */

/** End at once. */
void replay_server_stop(struct replay_server *server);
/** End with a failure. @param what  logged, unless it is leaving anyway */
void replay_server_fail(struct replay_server *server, const char *what);
/** End in order: the worker says its last words, and ends its recording. */
void replay_server_leave(struct replay_server *server);

/* ---- replay_server_seek.c ---------------------------------------------------------------- */

/** The first worker serves the begin, while another one goes to where it is to begin.
 *  @return 0 or a negative error: there is no worker */
int replay_server_begin(struct replay_server *server);
/** End a worker, and have none in its place. One that is none is fine. */
void replay_server_forget(struct replay_server_worker *worker);
/** Wait some moments for a worker's last words, not longer. */
void replay_server_be_patient(struct replay_server *server);
/** States are packed, or while somebody waits for a seek they are not: that would take a processor
 * from the worker. */
void replay_server_pack_or_not(struct replay_server *server);

/* ---- replay_server_lead.c ---------------------------------------------------------------- */

/** Fork the index, before there is any thread, and before descriptors of others. @return 0 or a
 * negative error */
int replay_server_start_index(struct replay_server *server);
/** Take in a state that was left behind. @param fd  given away */
void replay_server_take_state(struct replay_server *server, const struct replay_note *note, int fd);
/** Keep states within their bound: packed, fewer, or who leads is to wait. */
void replay_server_keep_states(struct replay_server *server);
/** What the active worker says that leads. @param fd  given away, if it was that @return whether it
 * was that */
int replay_server_take_lead(struct replay_server *server, const struct replay_note *note, int fd);

#endif
