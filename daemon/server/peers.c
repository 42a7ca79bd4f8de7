/* The connected peers, by routing id and by instance, and their rates. */
#include "daemon/server/peers.h"

#include "holter/order.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A peer's rate, far above what an agent needs (ten windows a second for each of its jobs, and its
 * journal of 8 MiB after a reconnect) and far below what would hurt. */
#define MESSAGES_PER_SECOND 5000u
#define MESSAGES_BURST 50000u
#define BYTES_PER_SECOND (64u << 20)
#define BYTES_BURST (256u << 20)

struct peers {
    void *by_id, *by_instance; /* trees of tsearch(3) */
    size_t count;
    struct peer *first;
};

ORDER_FUNCTION(peers_compare_ids, struct peer,
               a->id.length != b->id.length ? ORDER(a->id.length, b->id.length)
                                            : memcmp(a->id.bytes, b->id.bytes, a->id.length))

ORDER_FUNCTION(peers_compare_instances, struct peer, ORDER(a->instance, b->instance))

int peers_create(struct peers **out)
{
    *out = calloc(1, sizeof(**out));
    return *out == NULL ? -ENOMEM : 0;
}

void peers_destroy(struct peers *peers)
{
    while (peers != NULL && peers->first != NULL)
        peers_remove(peers, peers->first);
    free(peers);
}

struct peer *peers_find(const struct peers *peers, const void *id, size_t length)
{
    struct peer key = {.id.length = length};
    if (length > PEER_ID_BYTES)
        return NULL;
    memcpy(key.id.bytes, id, length);
    struct peer *const *found = tfind(&key, &peers->by_id, peers_compare_ids);
    return found == NULL ? NULL : *found;
}

struct peer *peers_find_instance(const struct peers *peers, uint64_t instance)
{
    const struct peer key = {.instance = instance};
    struct peer *const *found = tfind(&key, &peers->by_instance, peers_compare_instances);
    return found == NULL ? NULL : *found;
}

/* Remove the peer that was refused first, if one was: it need not be connected any more. */
static void peers_drop_refused(struct peers *peers)
{
    struct peer *first = NULL;
    for (struct peer *peer = peers->first; peer != NULL; peer = peer->next) {
        if (peer->refused && (first == NULL || peer->last_message_ns < first->last_message_ns))
            first = peer;
    }
    if (first != NULL)
        peers_remove(peers, first);
}

struct peer *peers_add(struct peers *peers, const void *id, size_t length, uint64_t now_ns)
{
    if (length > PEER_ID_BYTES)
        return NULL;
    if (peers->count >= PEERS_MAXIMUM)
        peers_drop_refused(peers);
    if (peers->count >= PEERS_MAXIMUM)
        return NULL;
    struct peer *peer = calloc(1, sizeof(*peer));
    if (peer == NULL)
        return NULL;
    memcpy(peer->id.bytes, id, length);
    peer->id.length = length;
    peer->last_message_ns = peer->refilled_ns = now_ns;
    peer->messages_left = MESSAGES_BURST;
    peer->bytes_left = BYTES_BURST;
    if (tsearch(peer, &peers->by_id, peers_compare_ids) == NULL) {
        free(peer);
        return NULL;
    }
    peer->next = peers->first;
    if (peer->next != NULL)
        peer->next->previous = peer;
    peers->first = peer;
    peers->count++;
    return peer;
}

/* Without memory an agent is not found by its new instance. */
void peers_set_instance(struct peers *peers, struct peer *peer, uint64_t instance)
{
    if (peer->instance == instance)
        return;
    struct peer *older = peers_find_instance(peers, instance);
    if (older != NULL)
        peers_remove(peers, older);
    tdelete(peer, &peers->by_instance, peers_compare_instances);
    peer->instance = instance;
    if (instance != 0)
        tsearch(peer, &peers->by_instance, peers_compare_instances);
}

void peers_remove(struct peers *peers, struct peer *peer)
{
    tdelete(peer, &peers->by_id, peers_compare_ids);
    tdelete(peer, &peers->by_instance, peers_compare_instances);
    if (peer->previous != NULL)
        peer->previous->next = peer->next;
    else
        peers->first = peer->next;
    if (peer->next != NULL)
        peer->next->previous = peer->previous;
    peers->count--;
    free(peer);
}

void peers_for_each(struct peers *peers, void (*one)(void *user, struct peer *peer), void *user)
{
    for (struct peer *peer = peers->first; peer != NULL; peer = peer->next)
        one(user, peer);
}

void peers_expire(struct peers *peers, uint64_t now_ns, const struct peer_limits *limits,
                  void (*left)(void *user, const struct peer *peer), void *user)
{
    for (struct peer *peer = peers->first, *next; peer != NULL; peer = next) {
        next = peer->next;
        uint64_t bound = peer->refused              ? limits->refused_ns
                         : peer->role == ROLE_AGENT ? limits->agent_ns
                                                    : limits->client_ns;
        if (now_ns < peer->last_message_ns || now_ns - peer->last_message_ns <= bound)
            continue;
        if (left != NULL)
            left(user, peer);
        peers_remove(peers, peer);
    }
}

int peer_has_id(const struct peer *peer, const struct peer_id *id)
{
    return peer->id.length == id->length && memcmp(peer->id.bytes, id->bytes, id->length) == 0;
}

int peer_charge_rate(struct peer *peer, uint64_t now_ns, size_t bytes)
{
    uint64_t passed = now_ns > peer->refilled_ns ? now_ns - peer->refilled_ns : 0;
    passed = passed > UINT64_C(10000000000) ? UINT64_C(10000000000) : passed;
    uint64_t messages = passed * MESSAGES_PER_SECOND / UINT64_C(1000000000);
    if (messages > 0) { /* else the fraction of a message would be lost */
        peer->messages_left += messages;
        peer->bytes_left += passed / 1000 * BYTES_PER_SECOND / 1000000;
        peer->refilled_ns = now_ns;
    }
    if (peer->messages_left > MESSAGES_BURST)
        peer->messages_left = MESSAGES_BURST;
    if (peer->bytes_left > BYTES_BURST)
        peer->bytes_left = BYTES_BURST;
    if (peer->messages_left == 0 || peer->bytes_left < bytes)
        return 0;
    peer->messages_left--;
    peer->bytes_left -= bytes;
    return 1;
}

void peers_count(const struct peers *peers, uint64_t since_ns, size_t *agents, size_t *clients)
{
    *agents = *clients = 0;
    for (const struct peer *peer = peers->first; peer != NULL; peer = peer->next) {
        int live = !peer->refused && !peer->has_left && peer->last_message_ns >= since_ns;
        *agents += live && peer->role == ROLE_AGENT;
        *clients += live && (peer->role == ROLE_VIEWER || peer->role == ROLE_OPERATOR);
    }
}
