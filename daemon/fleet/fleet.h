/* A daemon of a fleet, in the daemon's loop. It is a gateway for the agents that are connected to
 * it: what they send goes into a stream, and is acknowledged when it is stored there. And it is a
 * worker for the jobs that it holds: it reads their messages from the stream, in order.
 *
 * Each worker keeps a journal of what it publishes of a job that must not be published twice: which
 * windows it has closed, after which message, and its alerts. From time to time it stores the state
 * of the job. A daemon that takes the job over reads the messages after that state, closes windows
 * where the journal says that they were closed, and goes on from its end: see jobs_resume_begin().
 * Without a state that it can use it reads from the first message on. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_H
#define HOLTER_DAEMON_FLEET_FLEET_H

#include "daemon/job/jobs.h"
#include "daemon/server/front.h"

#include <uv.h>

struct fleet;

struct fleet_options {
    uv_loop_t *loop;
    const char *servers;  /**< borrowed, as all texts; see fleet_check() */
    const char *cluster;  /**< NULL: "default" */
    const char *keys;     /**< directory; NULL: none, see struct fleet_nats_options */
    const char *endpoint; /**< where this daemon listens, for clients that look for it; copied */
    uint64_t instance;    /**< of this run of the daemon */
    uint64_t lease_ns;
    uint64_t checkpoint_ns;          /**< how often the state of a job is stored, at most */
    uint64_t gather_ns;              /**< a message of an agent is published after it, at most */
    struct jobs_publisher publisher; /**< what jobs publish goes there, too */
    struct sinks *sinks; /**< borrowed; of all alerts of the jobs, which have none themselves */
    struct timeline *timeline; /**< follows the fleet's clock; borrowed */
    void *user;
    /** The servers refuse this daemon for good: only a new start may help. */
    void (*on_refused)(void *user);
};

/** Check the servers and the cluster of the options; sets why when they are wrong, or when this
 * daemon was built without libnats. @return 0 or -HOLTER_EUSAGE */
int fleet_check(const char *servers, const char *cluster, char *why, size_t capacity);

/** Connect to the servers. @return 0 or a negative error, and why says which */
int fleet_create(struct fleet **out, const struct fleet_options *options, char *why,
                 size_t capacity);
/** The publisher for the jobs; borrowed. */
struct jobs_publisher fleet_publisher(struct fleet *fleet);
/** Begin, with what was created after it; borrowed. */
void fleet_start(struct fleet *fleet, struct jobs *jobs, struct front *front);
/** Before jobs and front are destroyed: what waits is stored, within a bound, agents are
 * acknowledged, leases are released. NULL is fine. */
void fleet_stop(struct fleet *fleet);
/** NULL is fine; its handle closes in a later turn of the loop. */
void fleet_destroy(struct fleet *fleet);

/* ---- for the front: see struct front_callbacks ---- */

int fleet_ingest(struct fleet *fleet, uint64_t instance, const struct wire_message *message,
                 zmq_msg_t *bytes, uint64_t now_ns, struct job_fault *fault);
uint64_t fleet_stored_seq(const struct fleet *fleet, uint64_t instance);
/** @param bye  names the job that the agent left; none: all that it has reported to this daemon */
void fleet_agent_left(struct fleet *fleet, uint64_t instance, const struct wire_bye *bye,
                      uint64_t now_ns);

/** Send a message to agents, whichever daemon they are connected to. */
void fleet_send_agents(struct fleet *fleet, const uint64_t *instances, size_t count,
                       enum wire_type type, const void *message);

/** Add the jobs of the other daemons, as they announced them in the last seconds, but for those
 * that are in the list. Their texts are valid until the loop's next turn.
 *  @param fleet  NULL: none are added @return jobs in the list */
size_t fleet_list_jobs(const struct fleet *fleet, struct wire_job_row *rows, size_t count,
                       size_t capacity);

struct fleet_counts {
    uint64_t held, resuming; /**< jobs */
    uint64_t taken, lost;    /**< jobs, since its start */
    uint64_t stored;         /**< messages of agents */
    uint64_t unstored_bytes; /**< that wait for the servers */
    uint64_t read;           /**< envelopes */
    uint64_t states;         /**< of jobs, given to the servers */
    uint64_t rejected;       /**< messages of the servers */
    uint64_t clock_error_ns; /**< of this daemon's time; 0: its clock is the fleet's */
};

void fleet_count(const struct fleet *fleet, struct fleet_counts *out);

/** Before jobs_advance(): jobs whose lease has expired, also while this process was stopped, close
 * no further window. */
void fleet_check_leases(struct fleet *fleet);
/** To be called often, after jobs_advance(). */
void fleet_tick(struct fleet *fleet);

/* ---- export ---- */

struct fleet_export_options {
    uv_loop_t *loop;
    const char *servers, *cluster, *keys; /**< borrowed, as in struct fleet_options */
    const char *job;                      /**< its id; borrowed */
    void *user;
    /** Make the jobs, of which there are none yet. @param window_ns  length of the windows that the
     * fleet has closed; 0: it has closed none @return NULL after setting why */
    struct jobs *(*make_jobs)(void *user, uint64_t window_ns, char *why, size_t capacity);
};

/** Read all messages of one job that the servers have stored. The jobs record it as a worker does
 * that has it from its first message on; it may have ended, or run.
 *  @return 0 or a negative error, and why says which */
int fleet_export(const struct fleet_export_options *options, char *why, size_t capacity);

#endif
