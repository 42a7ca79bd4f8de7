/* The connected peers, hashed by routing id and by instance, and their rates. */
#include "daemon/server/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL_BUCKETS 256u

/* A peer's rate, far above what an agent needs (ten windows a second for each of its jobs, and its
 * journal of 8 MiB after a reconnect) and far below what would hurt. */
#define MESSAGES_PER_SECOND 5000u
#define MESSAGES_BURST 50000u
#define BYTES_PER_SECOND (64u << 20)
#define BYTES_BURST (256u << 20)

struct peers {
    struct peer **by_id, **by_instance;
    size_t buckets; /* a power of two */
    size_t count;
    struct peer *first;
};

static size_t peers_hash(const void *bytes, size_t length)
{
    /* FNV-1a; libzmq makes the ids, and one peer can only choose its own. */
    const uint8_t *p = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32);
}

static struct peer **peers_id_bucket(const struct peers *peers, const void *id, size_t length)
{
    return &peers->by_id[peers_hash(id, length) & (peers->buckets - 1)];
}

static struct peer **peers_instance_bucket(const struct peers *peers, uint64_t instance)
{
    return &peers->by_instance[peers_hash(&instance, sizeof(instance)) & (peers->buckets - 1)];
}

int peers_create(struct peers **out)
{
    struct peers *peers = calloc(1, sizeof(*peers));
    if (peers == NULL)
        return -ENOMEM;
    peers->buckets = INITIAL_BUCKETS;
    peers->by_id = calloc(INITIAL_BUCKETS, sizeof(struct peer *));
    peers->by_instance = calloc(INITIAL_BUCKETS, sizeof(struct peer *));
    if (peers->by_id == NULL || peers->by_instance == NULL) {
        peers_destroy(peers);
        return -ENOMEM;
    }
    *out = peers;
    return 0;
}

void peers_destroy(struct peers *peers)
{
    if (peers == NULL)
        return;
    while (peers->first != NULL) {
        struct peer *peer = peers->first;
        peers->first = peer->next;
        free(peer);
    }
    free(peers->by_id);
    free(peers->by_instance);
    free(peers);
}

struct peer *peers_find(const struct peers *peers, const void *id, size_t length)
{
    struct peer *peer = *peers_id_bucket(peers, id, length);
    while (peer != NULL && (peer->id_length != length || memcmp(peer->id, id, length) != 0))
        peer = peer->next_by_id;
    return peer;
}

struct peer *peers_find_instance(const struct peers *peers, uint64_t instance)
{
    struct peer *peer = *peers_instance_bucket(peers, instance);
    while (peer != NULL && peer->instance != instance)
        peer = peer->next_by_instance;
    return peer;
}

static void peers_link_instance(struct peers *peers, struct peer *peer)
{
    struct peer **bucket = peers_instance_bucket(peers, peer->instance);
    peer->next_by_instance = *bucket;
    *bucket = peer;
}

static void peers_unlink_instance(struct peers *peers, struct peer *peer)
{
    if (peer->instance == 0)
        return;
    struct peer **at = peers_instance_bucket(peers, peer->instance);
    while (*at != NULL && *at != peer)
        at = &(*at)->next_by_instance;
    if (*at != NULL)
        *at = peer->next_by_instance;
    peer->instance = 0;
}

/* Without memory the hash chains only get longer. */
static void peers_grow(struct peers *peers)
{
    size_t buckets = 2 * peers->buckets;
    struct peer **by_id = calloc(buckets, sizeof(struct peer *));
    struct peer **by_instance = calloc(buckets, sizeof(struct peer *));
    if (by_id == NULL || by_instance == NULL) {
        free(by_id);
        free(by_instance);
        return;
    }
    free(peers->by_id);
    free(peers->by_instance);
    peers->by_id = by_id;
    peers->by_instance = by_instance;
    peers->buckets = buckets;
    for (struct peer *peer = peers->first; peer != NULL; peer = peer->next) {
        struct peer **bucket = peers_id_bucket(peers, peer->id, peer->id_length);
        peer->next_by_id = *bucket;
        *bucket = peer;
        if (peer->instance != 0)
            peers_link_instance(peers, peer);
    }
}

struct peer *peers_add(struct peers *peers, const void *id, size_t length, uint64_t now_ns)
{
    if (length > PEER_ID_BYTES || peers->count >= PEERS_MAXIMUM)
        return NULL;
    struct peer *peer = calloc(1, sizeof(*peer));
    if (peer == NULL)
        return NULL;
    memcpy(peer->id, id, length);
    peer->id_length = length;
    peer->last_message_ns = peer->refilled_ns = now_ns;
    peer->messages_left = MESSAGES_BURST;
    peer->bytes_left = BYTES_BURST;
    struct peer **bucket = peers_id_bucket(peers, id, length);
    peer->next_by_id = *bucket;
    *bucket = peer;
    peer->next = peers->first;
    if (peer->next != NULL)
        peer->next->previous = peer;
    peers->first = peer;
    if (++peers->count > peers->buckets)
        peers_grow(peers);
    return peer;
}

void peers_set_instance(struct peers *peers, struct peer *peer, uint64_t instance)
{
    if (peer->instance == instance)
        return;
    struct peer *older = instance == 0 ? NULL : peers_find_instance(peers, instance);
    peers_unlink_instance(peers, peer);
    if (older != NULL)
        peers_remove(peers, older);
    peer->instance = instance;
    if (instance != 0)
        peers_link_instance(peers, peer);
}

void peers_remove(struct peers *peers, struct peer *peer)
{
    peers_unlink_instance(peers, peer);
    struct peer **at = peers_id_bucket(peers, peer->id, peer->id_length);
    while (*at != peer)
        at = &(*at)->next_by_id;
    *at = peer->next_by_id;
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

void peers_count(const struct peers *peers, size_t *agents, size_t *clients)
{
    *agents = *clients = 0;
    for (const struct peer *peer = peers->first; peer != NULL; peer = peer->next) {
        int live = !peer->refused && !peer->has_left;
        *agents += live && peer->role == ROLE_AGENT;
        *clients += live && (peer->role == ROLE_VIEWER || peer->role == ROLE_OPERATOR);
    }
}
