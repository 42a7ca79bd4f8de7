/* The way between the daemon's loop and the servers of a fleet.
 *
 * Four threads wait for the servers, so that the loop never does: one publishes messages of
 * agents, one journals and states of jobs, each in the order in which it was asked; one acquires
 * and renews leases, and one reads journal and state of a job that was acquired. What happens comes
 * back as events, which the loop handles in its own thread (uv_async); messages of a job come in
 * order. When the loop is behind, the reading from the servers waits. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_LINK_H
#define HOLTER_DAEMON_FLEET_FLEET_LINK_H

#include "daemon/fleet/fleet_nats.h"
#include "daemon/job/daemon_time.h"

#include <uv.h>

struct fleet_link;

enum fleet_event_type {
    FLEET_STORED,   /**< publications up to the token are stored: of a journal, if there is a job,
                         and the newest has this number */
    FLEET_JOURNAL,  /**< an envelope of the journal of a job that is being acquired */
    FLEET_SAVED,    /**< after the journal: the state that was stored last; seq: its position */
    FLEET_ACQUIRED, /**< this daemon holds the job; seq: the newest message of its subject */
    FLEET_MESSAGE,  /**< an envelope of a job that this daemon holds */
    FLEET_REGAINED, /**< the lease had expired, and nobody has gone on with the job since; seq: as
                         of FLEET_ACQUIRED */
    FLEET_TOO_LONG, /**< an envelope with the one message of an agent that the servers do not accept
                         any more; FLEET_STORED with its token follows */
    FLEET_LOST,     /**< this daemon holds the job no longer */
    FLEET_CONTROL,  /**< an envelope to agents */
    FLEET_REFUSED,  /**< the servers refuse this daemon for good */
};

struct fleet_event {
    enum fleet_event_type type;
    char job[NATS_JOB_BYTES];
    uint64_t seq;   /**< of an envelope in the stream */
    uint64_t token; /**< of FLEET_STORED */
    uint8_t *bytes; /**< owned by the link, valid during the call */
    size_t length;
    struct fleet_event *next; /**< private to the link */
};

struct fleet_link_options {
    uv_loop_t *loop;
    struct fleet_nats_options nats; /**< its callback is set by the link */
    const char *value;              /**< of this daemon's leases; borrowed */
    void *user;
    void (*on_event)(void *user, const struct fleet_event *event);
    /** A batch of events was handled. @param empty  no further one waits */
    void (*on_turn)(void *user, int empty);
};

/** Connect. @return 0 or a negative error */
int fleet_link_create(struct fleet_link **out, const struct fleet_link_options *options, char *why,
                      size_t capacity);
/** Publish what waits, within a bound; release all leases; handle the events that are left.
 * NULL is fine. */
void fleet_link_stop(struct fleet_link *link);
/** After fleet_link_stop(); its handle closes in a later turn of the loop. NULL is fine. */
void fleet_link_destroy(struct fleet_link *link);

/** The fleet's clock as this daemon knows it. */
void fleet_link_read_clock(struct fleet_link *link, struct timeline *out);

/** Publish an envelope. @param bytes  taken over @param token  0: no event reports that it is
 * stored
 *  @return 0 or -ENOMEM: nothing was taken over */
int fleet_link_publish(struct fleet_link *link, enum fleet_subject subject, const char *job,
                       uint8_t *bytes, size_t length, uint64_t token);
/** Store the state of a job, and note in its journal that it was. What fails is given up: the state
 * before it stays. @param bytes  taken over @param position  of the job's messages that are in it
 *  @return as fleet_link_publish() */
int fleet_link_publish_state(struct fleet_link *link, const char *job, uint8_t *bytes,
                             size_t length, uint64_t position);
/** Processor time that compressing the newest state of a job took; 0: none was compressed since
 * this daemon acquired it. */
uint64_t fleet_link_packing_ns(struct fleet_link *link, const char *job);
/** Read the messages of an acquired job, from this number on. */
void fleet_link_read(struct fleet_link *link, const char *job, uint64_t from);
/** Bytes of agents' messages that wait to be published or are under way. */
size_t fleet_link_backlog(struct fleet_link *link);
/** Longest envelope. */
size_t fleet_link_maximum(const struct fleet_link *link);
/** Send an envelope to all daemons. */
void fleet_link_send_all(struct fleet_link *link, const void *bytes, size_t length);

/** A daemon has announced its load (fleet_envelope.h). */
void fleet_link_note_load(struct fleet_link *link, uint64_t daemon, uint64_t load);
/** There are messages of this job: somebody has to hold it. */
void fleet_link_note(struct fleet_link *link, const char *job);
/** The job, which this daemon holds, runs, or has ended: nobody need take it over. */
void fleet_link_set_running(struct fleet_link *link, const char *job, int running);
/** Release the lease. */
void fleet_link_release(struct fleet_link *link, const char *job);
/** Does this daemon hold the job, by what it knows without asking the servers? */
int fleet_link_holds(struct fleet_link *link, const char *job);

#endif
