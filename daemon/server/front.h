/* The front: receives the messages of agents and clients.
 *
 * It decodes and checks each message, by the role of its sender, and calls one callback. The first
 * message of a peer is a hello. A peer that sends a malformed message, or one that its role does
 * not allow, is refused with the reason, counted, and ignored from then on. */
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

/** What the front calls for the messages that it accepts. A daemon that replays a recording accepts
 *  no agents: only user and request are set. */
struct front_callbacks {
    void *user;
    /** @return number of the agent's last message that is stored; all before it are, too */
    uint64_t (*committed_seq)(void *user, uint64_t instance);
    /** A RANKS, WINDOW or CAPTURED message. @param bytes as received, may be moved @return 0, or a
     * negative error and fault */
    int (*ingest)(void *user, uint64_t instance, const struct wire_message *message,
                  zmq_msg_t *bytes, uint64_t now_ns, struct job_fault *fault);
    /** The agent has left. @param bye  NULL: not in order, it was silent */
    void (*left)(void *user, uint64_t instance, const struct wire_bye *bye);
    /** A client's request, to be answered with front_send() and ended with a REPLY. */
    void (*request)(void *user, struct peer *peer, const struct wire_request *request);
    /** User whose agents alone may send a message of this type about a job; NULL or "": not known,
     * or ingest() decides. May be NULL, if options->users is 0. */
    const char *(*owner)(void *user, const char *job, enum wire_type type);
    /** A batch of messages was read. @param watermark_ns  see front_watermark() */
    void (*turn)(void *user, uint64_t watermark_ns, uint64_t now_ns);
};

struct front_counts {
    uint64_t rejected;
    char rejected_last[257]; /**< sender and reason of the last one */
    size_t agents, clients;  /**< connected, and have sent something in the last seconds */
    size_t agents_known;     /**< connected, or silent for a time in which they may come back */
    int had_agents;          /**< an agent has connected since the start */
};

/** Serve the peers of a message socket.
 *  @param socket    taken over, whatever is returned
 *  @param instance  number that names this run of the daemon
 *  @return 0 or -ENOMEM */
int front_create(struct front **out, struct msg_socket *socket,
                 const struct server_options *options, const struct timeline *timeline,
                 uint64_t instance, const struct front_callbacks *verbs);

/** Handles close in later turns of the loop. NULL is fine. */
void front_destroy(struct front *front);

/** Send one message. @return 0, or a negative error when it could not be sent: the peer has left,
 *  or does not read */
int front_send(struct front *front, struct peer *peer, enum wire_type type, const void *message);

/** As front_send(), of a message encoded before. @param encoded  copied by reference */
int front_send_encoded(struct front *front, struct peer *peer, zmq_msg_t *encoded);

/** @return the peer with a routing id; NULL: it has left, or was refused */
struct peer *front_find_peer(const struct front *front, const struct peer_id *id);

/** Acknowledge the messages of an agent up to this number. */
void front_send_ack(struct front *front, uint64_t instance, uint64_t seq);

/** Refuse a message of an agent after it was accepted: the agent counts what is in it as lost. */
void front_refuse_agent(struct front *front, uint64_t instance, uint64_t seq, int code,
                        const char *why);

/** Send one message to several agents; those that are not connected, or do not read, miss it. */
void front_send_agents(struct front *front, const uint64_t *instances, size_t count,
                       enum wire_type type, const void *message);

/** Announce another run of the daemon to all clients: they start over. */
void front_announce_restart(struct front *front, uint64_t instance);

/** To be called from time to time: drops silent peers. */
void front_tick(struct front *front);

/** Watermark: all messages that arrived before this daemon time were read. */
uint64_t front_watermark(const struct front *front, uint64_t now_ns);

void front_count(const struct front *front, struct front_counts *out);

#endif
