/* A hash map from a key of three integers to an ordinal. */
#include "viewer/model/keymap.h"

#include <stdlib.h>
#include <string.h>

/* Finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): spreads small integers over all bits.
 */
static uint64_t keymap_mix_hash(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint32_t keymap_slot_of(const struct keymap *map, struct keymap_key key)
{
    uint64_t h = keymap_mix_hash(key.a + UINT64_C(0x9e3779b97f4a7c15) * (key.b + 1) +
                                 keymap_mix_hash(key.c + 1));
    uint32_t i = (uint32_t)h & map->mask;
    while (map->slots[i]) {
        const struct keymap_key *k = &map->keys[map->slots[i] - 1];
        if (k->a == key.a && k->b == key.b && k->c == key.c)
            break;
        i = (i + 1) & map->mask;
    }
    return i;
}

static int keymap_grow(struct keymap *map)
{
    uint32_t capacity = map->capacity ? map->capacity * 2 : 64;
    if (capacity < map->capacity)
        return -1;
    struct keymap_key *keys = realloc(map->keys, capacity * sizeof *keys);
    if (!keys)
        return -1;
    map->keys = keys;
    uint32_t *slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (!slots)
        return -1;
    free(map->slots);
    map->slots = slots;
    map->capacity = capacity;
    map->mask = capacity * 2 - 1;
    for (uint32_t i = 0; i < map->count; i++)
        map->slots[keymap_slot_of(map, map->keys[i])] = i + 1;
    return 0;
}

uint32_t keymap_find(const struct keymap *map, struct keymap_key key)
{
    if (!map->slots)
        return KEYMAP_NONE;
    uint32_t found = map->slots[keymap_slot_of(map, key)];
    return found ? found - 1 : KEYMAP_NONE;
}

uint32_t keymap_add(struct keymap *map, struct keymap_key key)
{
    if (map->guess < map->count) {
        const struct keymap_key *k = &map->keys[map->guess];
        if (k->a == key.a && k->b == key.b && k->c == key.c)
            return map->guess++;
    }
    uint32_t found = keymap_find(map, key);
    if (found != KEYMAP_NONE) {
        map->guess = found + 1;
        return found;
    }
    if (map->count == map->capacity && keymap_grow(map) < 0)
        return KEYMAP_NONE;
    map->keys[map->count] = key;
    map->slots[keymap_slot_of(map, key)] = map->count + 1;
    return map->count++;
}

void keymap_finish(struct keymap *map)
{
    free(map->keys);
    free(map->slots);
    memset(map, 0, sizeof *map);
}
