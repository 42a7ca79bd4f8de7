/* Dendrograms of graphs that pictures have shown, with the least recently used dropped first. */
#include "daemon/analysis/commgram/commgram_cache.h"

#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_ENTRIES 4096u

struct entry {
    struct commgram_key key;
    struct commgram_merge *merges; /* owned; NULL: the entry is empty */
    uint32_t count, best;
    double modularity;
    uint64_t used; /* when it was used last, in uses of the cache */
};

struct commgram_cache {
    struct entry *entries; /* owned */
    uint32_t capacity;
    size_t bytes, most_bytes; /* of merges */
    uint64_t uses;
};

int commgram_cache_create(struct commgram_cache **out, size_t bytes, uint32_t entries)
{
    if (entries == 0 || entries > MAXIMUM_ENTRIES)
        return -HOLTER_ERANGE;
    struct commgram_cache *c = calloc(1, sizeof(*c));
    struct entry *all = calloc(entries, sizeof(*all));
    if (c == NULL || all == NULL) {
        free(c);
        free(all);
        return -ENOMEM;
    }
    *c = (struct commgram_cache){.entries = all, .capacity = entries, .most_bytes = bytes};
    *out = c;
    return 0;
}

void commgram_cache_destroy(struct commgram_cache *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->capacity; i++)
        free(c->entries[i].merges);
    free(c->entries);
    free(c);
}

/* @return NULL: not there */
static struct entry *commgram_cache_find(struct commgram_cache *c, const struct commgram_key *key)
{
    for (uint32_t i = 0; i < c->capacity; i++) {
        struct entry *e = &c->entries[i];
        if (e->merges != NULL && e->key.high == key->high && e->key.low == key->low)
            return e;
    }
    return NULL;
}

bool commgram_cache_get(struct commgram_cache *c, const struct commgram_key *key,
                        struct commgram_dendrogram *out)
{
    struct entry *e = commgram_cache_find(c, key);
    if (e == NULL)
        return false;
    e->used = ++c->uses;
    *out = (struct commgram_dendrogram){e->merges, e->count, e->best, e->modularity};
    return true;
}

/* An empty graph has no merges, but its entry must not look empty. */
static size_t commgram_cache_bytes_of(uint32_t count)
{
    return (count > 0 ? count : 1) * sizeof(struct commgram_merge);
}

static void commgram_cache_drop(struct commgram_cache *c, struct entry *e)
{
    c->bytes -= commgram_cache_bytes_of(e->count);
    free(e->merges);
    *e = (struct entry){0};
}

/* The entry that was not used for longest, among those in use if asked so; empty ones first. */
static struct entry *commgram_cache_oldest(struct commgram_cache *c, int in_use)
{
    struct entry *best = NULL;
    for (uint32_t i = 0; i < c->capacity; i++) {
        struct entry *e = &c->entries[i];
        if ((!in_use || e->merges != NULL) && (best == NULL || e->used < best->used))
            best = e;
    }
    return best;
}

void commgram_cache_put(struct commgram_cache *c, const struct commgram_key *key,
                        const struct commgram_dendrogram *d)
{
    size_t bytes = commgram_cache_bytes_of(d->count);
    if (bytes > c->most_bytes)
        return;
    struct commgram_merge *copy = malloc(bytes);
    if (copy == NULL)
        return;
    if (d->count > 0)
        memcpy(copy, d->merges, bytes);
    struct entry *e = commgram_cache_find(c, key);
    if (e != NULL)
        commgram_cache_drop(c, e);
    while (c->bytes > c->most_bytes - bytes)
        commgram_cache_drop(c, commgram_cache_oldest(c, 1));
    e = commgram_cache_oldest(c, 0);
    if (e->merges != NULL)
        commgram_cache_drop(c, e);
    *e = (struct entry){*key, copy, d->count, d->best, d->modularity, ++c->uses};
    c->bytes += bytes;
}
