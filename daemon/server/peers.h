/* Who is connected to the front: agents and clients, by routing id and by instance. */
#ifndef HOLTER_DAEMON_SERVER_PEERS_H
#define HOLTER_DAEMON_SERVER_PEERS_H

#include "proto/curve_keys.h"

#include <stddef.h>
#include <stdint.h>

#define PEER_ID_BYTES 32u    /**< longest routing id that is served; libzmq makes ids of 5 bytes */
#define PEERS_MAXIMUM 65536u /**< connections known at one time */

struct peer {
    uint8_t id[PEER_ID_BYTES]; /**< routing id of the connection */
    size_t id_length;
    enum role role;    /**< what it said in its hello, and its key allows */
    int refused;       /**< it misbehaved: nothing from it is read any more */
    int said_bye;      /**< agents: left in order */
    uint64_t instance; /**< agents: see WIRE_HELLO; 0 otherwise */
    uint64_t heard_ns; /**< daemon time of its last message */
    uint64_t pid;
    char host[65];
    uint64_t messages_left, bytes_left; /**< of its rate, see peer_charge_rate() */
    uint64_t refilled_ns;
    struct peer *next_by_id, *next_by_instance, *next, *previous; /**< of peers.c */
};

struct peers;

/** @return 0 or -ENOMEM */
int peers_create(struct peers **out);
/** NULL is fine. */
void peers_destroy(struct peers *peers);

/** @return the peer, or NULL */
struct peer *peers_find(const struct peers *peers, const void *id, size_t length);
struct peer *peers_find_instance(const struct peers *peers, uint64_t instance);

/** @return a new peer, or NULL when there are too many or no memory */
struct peer *peers_add(struct peers *peers, const void *id, size_t length, uint64_t now_ns);

/** Say which agent it is. An older connection of the same agent is forgotten. */
void peers_set_instance(struct peers *peers, struct peer *peer, uint64_t instance);

void peers_remove(struct peers *peers, struct peer *peer);

/** Call for each. */
void peers_for_each(struct peers *peers, void (*one)(void *user, struct peer *peer), void *user);

/** Forget those that were not heard of for a while.
 *  @param left  called for each before it goes; may be NULL */
void peers_expire(struct peers *peers, uint64_t now_ns, uint64_t agent_ns, uint64_t client_ns,
                  void (*left)(void *user, const struct peer *peer), void *user);

/** May the peer send another message of so many bytes now? Its rate is a token bucket. */
int peer_charge_rate(struct peer *peer, uint64_t now_ns, size_t bytes);

/** How many agents are connected, and how many viewers and operators. */
void peers_count(const struct peers *peers, size_t *agents, size_t *clients);

#endif
