/* An index from 128-bit keys to dense numbers 0, 1, 2, ...: open addressing with linear probing.
 *
 * Sums live in plain arrays of the caller, addressed by the dense number, so that reading them out
 * is a walk over what was used and clearing costs as much as was used, not as much as was ever
 * used.
 */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_KEY_INDEX_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_KEY_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define KEY_INDEX_FULL UINT32_MAX

struct index_key {
    uint64_t a, b;
};

struct key_index {
    uint32_t *slots;        /**< owned; dense number + 1, 0: empty */
    uint32_t *slot_of;      /**< owned; where each dense number stands */
    struct index_key *keys; /**< owned; by dense number */
    uint32_t count;         /**< keys held */
    uint32_t capacity;      /**< keys there is memory for; half the slots */
    uint32_t limit;         /**< most keys ever */
};

/** @param limit  most keys, at most 2^30. @return 0 or -ENOMEM */
int key_index_init(struct key_index *index, uint32_t limit);
void key_index_finish(struct key_index *index);

/** Forget all keys, keep the memory. */
void key_index_clear(struct key_index *index);

/** Put in a key that key_index_find() did not find. @return its number, or KEY_INDEX_FULL */
uint32_t key_index_add(struct key_index *index, struct index_key key);

/** Put in a key that key_index_find() did not find, unless there are `limit` keys or more, and make
 * the element of its number in an array of the caller, zero.
 *  @param array  address of the pointer to the array, which may move
 *  @param capacity   elements there is space for; brought up to date
 *  @return its number, or KEY_INDEX_FULL: nothing has changed */
uint32_t key_index_extend(struct key_index *index, struct index_key key, uint32_t limit,
                          void *array, size_t element, size_t *capacity);

/* Multiply and fold, after wyhash (W. Yi): both halves of a 64 x 64 bit product. */
static inline uint32_t key_index_hash(struct index_key key)
{
    __extension__ typedef unsigned __int128 wide;
    wide product =
        (wide)(key.a ^ UINT64_C(0xa0761d6478bd642f)) * (key.b ^ UINT64_C(0xe7037ed1a0b428db));
    uint64_t folded = (uint64_t)product ^ (uint64_t)(product >> 64);
    return (uint32_t)(folded ^ folded >> 32);
}

/** @return number of the key, or KEY_INDEX_FULL when it is not there */
static inline uint32_t key_index_find(const struct key_index *index, struct index_key key)
{
    uint32_t mask = 2 * index->capacity - 1;
    for (uint32_t slot = key_index_hash(key) & mask;; slot = (slot + 1) & mask) {
        uint32_t number = index->slots[slot];
        if (number == 0)
            return KEY_INDEX_FULL;
        const struct index_key *held = &index->keys[number - 1];
        if (held->a == key.a && held->b == key.b)
            return number - 1;
    }
}

#endif
