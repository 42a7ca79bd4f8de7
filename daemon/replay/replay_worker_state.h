/* The inside of a worker, shared by replay_worker.c (its life, feeding, the server),
 * replay_worker_ask.c (what clients ask of the replay) and replay_worker_lead.c (what it leaves
 * behind). */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_WORKER_STATE_H
#define HOLTER_DAEMON_REPLAY_REPLAY_WORKER_STATE_H

#include "daemon/replay/replay_pace.h"
#include "daemon/replay/replay_worker.h"
#include "daemon/server/control.h"
#include "daemon/server/front.h"
#include "daemon/server/msg_socket.h"

struct worker {
    const struct replay_worker_options *given;
    struct replay_reel *reel;
    struct replay_note note; /* as it was forked */
    int link;
    uv_loop_t loop;
    uv_poll_t link_poll;
    uv_timer_t next, tell, tick, flush;
    uv_idle_t idle;
    struct port *front_port, *stream_port;
    struct front *front;
    struct control *control;
    struct replay_pace pace;
    int looping, going, ended, leaving, recording;
    int record_stopped;  /* its recording has */
    int replaced;        /* another one serves, and clients know */
    uint64_t steps;      /* asked for, and still to be made */
    int leads, left_out; /* it leaves states behind; it has left out some */
    struct replay_leader leader;
    struct replay_leader near; /* of states shortly before where it is; for steps back */
    uint64_t near_steps;       /* at the last of them */
    uint64_t way_steps;        /* that it has seen on its way */
    uint64_t full_ns;          /* since when clients hold it up; 0: they do not */
    uint64_t begun_ns, looked_ns;
    /* A seek that another worker is on its way to. */
    int seeking;
    struct replay_target target; /* of that */
    uint64_t known_ns;           /* a preview: from when on it knows the job; else 0 */
    /* What is told. */
    uint64_t change, marks_version;
    struct replay_marks marks;
    struct wire_mark_row rows[REPLAY_MARKS];
    struct wire_replay state;
};

/** Media time: of the last message known; where it is. */
uint64_t worker_end_ns(const struct worker *worker);
uint64_t worker_position(struct worker *worker);

/** As it is to be told. @param marked  whether marks are told in any case */
const struct wire_replay *worker_fill_state(struct worker *worker, int marked);
/** Tell all who listen. */
void worker_tell(struct worker *worker);

/** replay_worker_lead.c: it leads, if its note says so, as long as it goes on as fast as it can. */
void worker_start_leading(struct worker *worker, const int fds[REPLAY_LINK_FDS]);
void worker_lead_or_not(struct worker *worker);
/** A window was published; all were. */
void worker_lead_on(struct worker *worker);
void worker_lead_to_end(struct worker *worker);
/** The index goes on from the last state that it has left behind. */
void worker_lead_no_more(struct worker *worker);

/** It may leave states near where it is: on its way to its target, asked after each message, and
 * wherever it is. */
void worker_start_near(struct worker *worker, const int fds[REPLAY_LINK_FDS]);
void worker_leave_on_way(struct worker *worker, const struct replay_place *place);
void worker_leave_near(struct worker *worker);
/** When to feed again. */
void worker_plan(struct worker *worker);
/** Another worker is to take over there. */
void worker_want(struct worker *worker, const struct replay_target *target);

/** From where it is now. Steps under way are made, unless it plays. */
void worker_set_pace(struct worker *worker, double speed, int paused);
/** The worker that takes over, if one is on its way, goes on as this one is asked now. */
void worker_tell_mode(struct worker *worker);

/** See struct control_options. */
int worker_ask(void *user, const char *argument, char *why, size_t room);
const struct wire_replay *worker_replay_state(void *user);

#endif
