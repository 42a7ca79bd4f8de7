/* Dendrograms of phases that were computed already, for pictures of the same span that are asked
 * for again: a live view asks every window, and moving through the levels of detail changes only
 * the cut.
 *
 * A dendrogram belongs to a graph: to a 128-bit hash of its edges, identified by nothing else. It
 * does not depend on how many communities are asked for. When there is no room, those that were not
 * used for longest go.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_CACHE_H
#define HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Two clusters that merge, called by their lowest ranks; a below b. */
struct commgram_merge {
    uint32_t a, b;
};

/** Merges of a graph, in order. */
struct commgram_dendrogram {
    const struct commgram_merge *merges;
    uint32_t count;
    uint32_t best; /**< of these, those that lead to the greatest modularity */
    double modularity;
};

struct commgram_key {
    uint64_t high, low;
};

struct commgram_cache;

/** @param bytes    room for merges, 8 bytes each: about 8 a rank and phase (1 MiB holds 30 phases
 * of 4,320 ranks); larger dendrograms are not kept
 *  @param entries  at most; 1 to 4,096; 48 bytes each
 *  @return 0, -ENOMEM or -HOLTER_ERANGE */
int commgram_cache_create(struct commgram_cache **out, size_t bytes, uint32_t entries);
void commgram_cache_destroy(struct commgram_cache *cache);

/** @param out  its merges are borrowed until the next put
 *  @return whether it is known */
bool commgram_cache_get(struct commgram_cache *cache, const struct commgram_key *key,
                        struct commgram_dendrogram *out);

/** Keep a copy, if there is memory for it. */
void commgram_cache_put(struct commgram_cache *cache, const struct commgram_key *key,
                        const struct commgram_dendrogram *dendrogram);

#endif
