/* The front: what agents and clients talk to.
 *
 * It unpacks and checks each message, knows who sent it and what that one may, and calls one verb.
 * A peer says hello first. Whoever sends what cannot be read or is not allowed is told why,
 * counted, and not read any more. */
#ifndef HOLTER_DAEMON_SERVER_FRONT_H
#define HOLTER_DAEMON_SERVER_FRONT_H

#include "daemon/job/daemon_time.h"
#include "daemon/job/job.h"
#include "daemon/server/msg_socket.h"
#include "daemon/server/peers.h"
#include "daemon/server/server_options.h"
#include "holter/wire.h"

#include <uv.h>
#include <zmq.h>

struct front;

/** What the front calls. */
struct front_callbacks {
    void *user;
    /** Highest number of the agent's messages that is safe. */
    uint64_t (*kept)(void *user, uint64_t instance);
    /** A RANKS, WINDOW or CAPTURED message. @param bytes as received, may be moved @return 0, or a
     * negative error and fault */
    int (*take)(void *user, uint64_t instance, const struct wire_message *message, zmq_msg_t *bytes,
                uint64_t now_ns, struct job_fault *fault);
    /** The agent has left, in order or by silence. */
    void (*left)(void *user, uint64_t instance, int in_order);
    /** A client's request, to be answered with front_send() and ended with a REPLY. */
    void (*request)(void *user, struct peer *peer, const struct wire_request *request);
    /** A turn of reading is over. @param heard_ns  see job.h */
    void (*turn)(void *user, uint64_t heard_ns, uint64_t now_ns);
};

struct front_counts {
    uint64_t rejected;
    char rejected_last[257]; /**< from where and why */
    size_t agents, clients;  /**< connected */
    int had_agents;          /**< has any agent ever been here? */
};

/** Serve those behind a port.
 *  @param port      taken over, whatever is returned
 *  @param instance  number that names this run of the daemon
 *  @return 0 or -ENOMEM */
int front_create(struct front **out, struct msg_socket *socket,
                 const struct server_options *options, const struct timeline *timeline,
                 uint64_t instance, const struct front_callbacks *verbs);

/** Handles close in further turns of the loop. NULL is fine. */
void front_destroy(struct front *front);

/** Send one message. @return 0, or a negative error when it could not be sent: the peer has gone,
 *  or does not read */
int front_send(struct front *front, struct peer *peer, enum wire_type type, const void *message);

/** As front_send(), of a message encoded before. @param encoded  copied by reference */
int front_send_encoded(struct front *front, struct peer *peer, zmq_msg_t *encoded);

/** The peer of a routing id, if it is still there. @return NULL: it has gone, or may not ask any
 * more */
struct peer *front_find_peer(const struct front *front, const void *id, size_t length);

/** Tell an agent that its messages up to this number are safe. */
void front_send_ack(struct front *front, uint64_t instance, uint64_t seq);

/** Send one message to several agents; those that are not connected, or do not read, miss it. */
void front_send_agents(struct front *front, const uint64_t *instances, size_t count,
                       enum wire_type type, const void *message);

/** Tell all clients that another run of the daemon answers from now on: they start over. */
void front_announce_restart(struct front *front, uint64_t instance);

/** To be called from time to time: forgets peers that are gone. */
void front_tick(struct front *front);

/** Up to when has everything that arrived been read? Daemon time. */
uint64_t front_watermark(const struct front *front, uint64_t now_ns);

void front_count(const struct front *front, struct front_counts *out);

#endif
