/* The inside of the process that serves a replay, shared by replay.c (its begin and end),
 * replay_server_seek.c (workers) and replay_server_index.c (the index and its checkpoints). It has
 * one thread besides those of ZeroMQ. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_SERVER_H
#define HOLTER_DAEMON_REPLAY_REPLAY_SERVER_H

#include "daemon/replay/replay_checkpoints.h"
#include "daemon/replay/replay_index.h"
#include "daemon/replay/replay_worker.h"
#include "daemon/server/relay.h"
#include "daemon/server/sockets.h"
#include "daemon/server/zap.h"
#include "daemon/topology/shared_network.h"

#include <uv.h>

/** A worker as the server sees it. */
struct replay_server_worker {
    struct replay_watch *link; /* NULL: there is no worker */
    int front, stream;         /* until the relay has them; -1 */
    struct replay_note note;   /* as it was forked, and the pace that it is to have */
};

struct replay_server {
    struct replay_options *options;
    struct rules *rules;
    struct network network;
    struct timeline timeline;
    uint64_t instance; /* random; each run adds to it */
    uint64_t begin_ns; /* when the first message was received */
    uint64_t last;     /* number of the last message when the file was opened; 0: unknown */
    struct replay_shared *shared;
    struct replay_worker_options worker_options;
    void *context; /* of ZeroMQ */
    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t memory_timer, leave_timer;
    struct listen_locks locks;
    struct zap *zap;
    struct relay *relay;
    struct replay_checkpoints *checkpoints;
    struct replay_watch *index;           /* NULL: it has ended */
    struct replay_server_worker active;   /* serves clients */
    struct replay_server_worker next;     /* on its way to a target */
    struct replay_server_worker preview;  /* on its way to the same target, with less to feed */
    struct replay_server_worker previous; /* was replaced, and sends what it has left to send */
    enum { REPLAY_SERVER_RUNS, REPLAY_SERVER_LEAVES, REPLAY_SERVER_STOPPED } phase;
    int status; /* exit status */
};

/* ---- replay.c --------------------------------------------------------------------------- */

/** End at once. */
void replay_server_stop(struct replay_server *server);
/** End with a failure. @param what  logged, unless the server is leaving anyway */
void replay_server_fail(struct replay_server *server, const char *what);
/** End in order: the worker sends what it has to send, and ends its recording. */
void replay_server_leave(struct replay_server *server);

/* ---- replay_server_seek.c ---------------------------------------------------------------- */

/** Fork the first worker, which serves the begin; if the replay is to begin elsewhere, a seek
 * follows. @return 0 or a negative error: there is no worker */
int replay_server_begin(struct replay_server *server);
/** Close what the server has of a worker, which ends it. No worker is fine. */
void replay_server_drop_worker(struct replay_server_worker *worker);
/** Give the previous worker, or the active one when the server leaves, a moment to send the rest.
 */
void replay_server_start_leave_timer(struct replay_server *server);

/* ---- replay_server_index.c --------------------------------------------------------------- */

/** Fork the index: before there is any thread, and before other descriptors are open.
 *  @return 0 or a negative error */
int replay_server_start_index(struct replay_server *server);
/** Keep the checkpoints within their bounds. */
void replay_server_thin_checkpoints(struct replay_server *server);

#endif
