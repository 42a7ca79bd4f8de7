/* The peers that are connected to the front: agents and clients, by routing id and by instance. */
#ifndef HOLTER_DAEMON_SERVER_PEERS_H
#define HOLTER_DAEMON_SERVER_PEERS_H

#include "proto/curve_keys.h"

#include <stddef.h>
#include <stdint.h>

#define PEER_ID_BYTES 32u    /**< longest routing id that is served; libzmq makes ids of 5 bytes */
#define PEERS_MAXIMUM 65536u /**< connections at one time */

/** Routing id of a connection. */
struct peer_id {
    uint8_t bytes[PEER_ID_BYTES];
    size_t length;
};

struct peer {
    struct peer_id id;
    enum role role;           /**< claimed in its hello and allowed by its key */
    int refused;              /**< its messages are ignored */
    int has_left;             /**< agents: it has left in order */
    uint64_t instance;        /**< agents: see WIRE_HELLO; 0 otherwise */
    uint64_t last_message_ns; /**< daemon time of its last message */
    uint64_t pid;
    char host[65];
    char user[CURVE_USER_BYTES]; /**< whose its key is: it sees and reports this user's jobs only;
                                    "": nobody's */
    uint64_t messages_left, bytes_left; /**< tokens, see peer_charge_rate() */
    uint64_t refilled_ns;
    struct peer *next, *previous; /**< private to peers.c */
};

struct peers;

/** @return 0 or -ENOMEM */
int peers_create(struct peers **out);
/** NULL is fine. */
void peers_destroy(struct peers *peers);

/** @return the peer, or NULL */
struct peer *peers_find(const struct peers *peers, const void *id, size_t length);
struct peer *peers_find_instance(const struct peers *peers, uint64_t instance);

/** @return a new peer, in place of one that was refused if there are too many; NULL: there are too
 *  many others, or no memory */
struct peer *peers_add(struct peers *peers, const void *id, size_t length, uint64_t now_ns);

/** Set the instance of an agent. An older connection of the same agent is removed. */
void peers_set_instance(struct peers *peers, struct peer *peer, uint64_t instance);

void peers_remove(struct peers *peers, struct peer *peer);

/** Call a function for each peer. */
void peers_for_each(struct peers *peers, void (*one)(void *user, struct peer *peer), void *user);

/** How long peers may be silent. */
struct peer_limits {
    uint64_t agent_ns, client_ns;
    uint64_t refused_ns; /**< of those that were refused: so long their messages are ignored */
};

/** Remove peers that were silent for longer.
 *  @param left  called for each before it is removed; may be NULL */
void peers_expire(struct peers *peers, uint64_t now_ns, const struct peer_limits *limits,
                  void (*left)(void *user, const struct peer *peer), void *user);

/** @return whether this is the peer's id */
int peer_has_id(const struct peer *peer, const struct peer_id *id);

/** Charge a message of so many bytes to the peer's rate, a token bucket. @return 0: it sends too
 * much */
int peer_charge_rate(struct peer *peer, uint64_t now_ns, size_t bytes);

/** How many agents are connected, and how many viewers and operators.
 *  @param since_ns  those of which nothing has come since then are not counted */
void peers_count(const struct peers *peers, uint64_t since_ns, size_t *agents, size_t *clients);

#endif
