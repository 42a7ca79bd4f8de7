/* Dense numbers for keys: each new key gets the next number, counted from 0, for good. Open
 * addressing with linear probing; keys are never removed. */
#ifndef HOLTER_VIEWER_MODEL_KEYMAP_H
#define HOLTER_VIEWER_MODEL_KEYMAP_H

#include <stdint.h>

struct keymap_key {
    uint64_t a, b, c;
};

/** Zero-initialised is empty. */
struct keymap {
    struct keymap_key *keys; /**< owned; by number */
    uint32_t *slots;         /**< owned; number + 1, 0: free */
    uint32_t count;          /**< keys stored */
    uint32_t capacity;       /**< length of keys */
    uint32_t mask;           /**< length of slots - 1; 0: none yet */
    uint32_t guess; /**< number after the last one added: keys tend to be added in the same order */
};

#define KEYMAP_NONE UINT32_MAX

/** Number of a key; a new key is added. @return the number, or KEYMAP_NONE without memory */
uint32_t keymap_add(struct keymap *map, struct keymap_key key);

/** Number of a key, or KEYMAP_NONE. */
uint32_t keymap_find(const struct keymap *map, struct keymap_key key);

/** Free what it owns and make it empty. */
void keymap_finish(struct keymap *map);

#endif
