/* The inside of a worker, shared by replay_worker.c (its life and its link), replay_worker_feed.c
 * (feeding and reporting) and replay_worker_requests.c (what clients ask for). */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_WORKER_INTERNAL_H
#define HOLTER_DAEMON_REPLAY_REPLAY_WORKER_INTERNAL_H

#include "daemon/replay/replay_pace.h"
#include "daemon/replay/replay_watch.h"
#include "daemon/replay/replay_worker.h"
#include "daemon/server/control.h"
#include "daemon/server/front.h"
#include "daemon/server/msg_socket.h"

#include <uv.h>

struct replay_worker {
    const struct replay_worker_options *given;
    struct replay_feeder *feeder;
    struct replay_note note; /* as it was forked */
    int link;
    uv_loop_t loop;
    struct replay_watch *watch; /* of the link */
    uv_timer_t feed_timer, report_timer, tick, flush;
    uv_idle_t feed_idle;
    struct msg_socket *front_port, *stream_port;
    struct front *front;
    struct control *control;
    struct replay_pace pace;
    int looping, serving, ended, leaving, recording;
    int record_stopped; /* the recording of this replay failed */
    int replaced;       /* another worker serves, and clients know it */
    uint64_t steps;     /* still to be made */
    uint64_t begun_ns;  /* since when it serves; CLOCK_MONOTONIC */
    uint64_t polled_ns; /* at the link, on the way to the target; CLOCK_MONOTONIC */
    int seeking;        /* another worker is on its way to seek_target */
    struct replay_target seek_target;
    uint64_t known_ns; /* a preview: since when messages were fed; else 0 */
    /* The report to clients. */
    uint64_t change, marks_version;
    struct replay_marks marks;
    struct wire_mark_row rows[REPLAY_MARKS_MAXIMUM];
    struct wire_replay report;
};

/* ---- replay_worker.c ----------------------------------------------------------------- */

/** Send a note to the server. When that has ended, the link's poll ends this process. */
int replay_worker_send(struct replay_worker *worker, const struct replay_note *note);
/** Ask the server for another worker, which takes over at the target. */
void replay_worker_seek(struct replay_worker *worker, const struct replay_target *target);

/* ---- replay_worker_feed.c ------------------------------------------------------------ */

/** Start or stop feeding, by the pace and by what is asked for. */
void replay_worker_schedule(struct replay_worker *worker);
/** Change the pace at the current position. Outstanding steps are dropped unless it is paused. */
void replay_worker_set_pace(struct replay_worker *worker, double speed, int paused);
/** The end of the recording was reached: begin again in a loop, or ask for the daemon to stop. */
void replay_worker_on_end_of_recording(struct replay_worker *worker);
/** Does it feed, or is the next message only a matter of time? */
int replay_worker_is_feeding(const struct replay_worker *worker);

/** Media time of the end of the recording, as far as it is known. */
uint64_t replay_worker_end_ns(const struct replay_worker *worker);
/** Fill in the report. @param with_marks  whether marks are part of it even if they have not
 * changed
 */
const struct wire_replay *replay_worker_fill_report(struct replay_worker *worker, int with_marks);
/** Publish the report. */
void replay_worker_publish(struct replay_worker *worker);

/* ---- replay_worker_requests.c ---------------------------------------------------------- */

/** Pass the pace on to the worker that is to take over, if there is one. */
void replay_worker_send_mode(struct replay_worker *worker);
/** The requests of clients: see struct control_options. */
int replay_worker_request(void *user, const char *argument, char *why, size_t capacity);
const struct wire_replay *replay_worker_report(void *user);

#endif
