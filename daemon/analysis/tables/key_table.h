/* Numbers for keys: each distinct 128-bit key gets the next number, counted from 0, and keeps it.
 *
 * Rows that describe a key are arrays indexed by its number, so a table costs 20 bytes a key and 8
 * to 16 for the index, whatever is kept about it. Keys come in an order that hardly changes from
 * window to window (the partners of a rank as its agent lists them), so the table remembers which
 * key came after which, and looks there, and one further, and at the next number, before it
 * hashes: what is found so lies in memory beside what was used just before. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_KEY_TABLE_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_KEY_TABLE_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stddef.h>
#include <stdint.h>

/** Keys compare by hi, then by lo. */
struct key {
    uint64_t hi, lo;
};

/** Zero-initialised: empty. */
struct key_table {
    struct key *keys;  /**< owned; keys[number] */
    uint32_t *after;   /**< owned; after[number]: the key that came after it last time */
    uint32_t count;    /**< keys so far */
    uint32_t capacity; /**< keys that fit without growing */
    uint32_t *index;   /**< owned; open addressing: number + 1, or 0 for an empty place */
    uint32_t mask;     /**< places of the index, less one; a power of two, less one */
};

#define KEY_NONE UINT32_MAX /**< no number */

/** Release a table. It is empty then. */
void key_table_finish(struct key_table *table);

/** Reserve space for this many further keys. @return 0, -ENOMEM, or -ERANGE beyond 2^31 keys */
int key_table_reserve(struct key_table *table, size_t further);

/** Forget all keys, and keep the memory; costs as much as there are keys. */
void key_table_clear(struct key_table *table);

/* Multiply and fold, after wyhash (W. Yi): both halves of a 64 x 64 bit product. Keys come from
 * peers, so `hi` is added: no single `lo` makes all keys meet. */
static inline uint32_t key_table_hash_of(struct key key)
{
    __extension__ typedef unsigned __int128 wide;
    wide product =
        (wide)(key.hi ^ UINT64_C(0xa0761d6478bd642f)) * (key.lo ^ UINT64_C(0xe7037ed1a0b428db));
    uint64_t folded = (uint64_t)product ^ (uint64_t)(product >> 64);
    return (uint32_t)((folded + key.hi * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/** Number of a key. @return the number, or KEY_NONE */
static inline uint32_t key_table_find(const struct key_table *table, struct key key)
{
    if (table->index == NULL)
        return KEY_NONE;
    for (uint32_t at = key_table_hash_of(key) & table->mask;; at = (at + 1) & table->mask) {
        uint32_t number = table->index[at];
        if (number == 0)
            return KEY_NONE;
        const struct key *k = &table->keys[number - 1];
        if (k->hi == key.hi && k->lo == key.lo)
            return number - 1;
    }
}

/** Number of a key. A new key gets the next one, unless there are `limit` keys or more.
 *  @return KEY_NONE: there are so many, or there is no memory */
uint32_t key_table_number(struct key_table *table, struct key key, uint32_t limit);

/** The same without a limit. Cannot fail where space was reserved. */
static inline uint32_t key_table_add(struct key_table *table, struct key key)
{
    return key_table_number(table, key, UINT32_MAX);
}

/** Add a key that is not there; the element of its number in an array of the caller is made zero.
 *  @param array     address of the pointer to the array, which may move
 *  @param capacity  elements there is space for; brought up to date
 *  @return as key_table_number() */
uint32_t key_table_extend_new(struct key_table *table, struct key key, uint32_t limit, void *array,
                              size_t element, size_t *capacity);

/** As key_table_number(), with an array as in key_table_extend_new(). */
static inline uint32_t key_table_extend(struct key_table *table, struct key key, uint32_t limit,
                                        void *array, size_t element, size_t *capacity)
{
    uint32_t number = key_table_find(table, key);
    return number != KEY_NONE ? number
                              : key_table_extend_new(table, key, limit, array, element, capacity);
}
#define KEY_TABLE_EXTEND(table, key, limit, array, capacity)                                       \
    key_table_extend(table, key, limit, &(array), sizeof(*(array)), &(capacity))

static inline int key_table_is(const struct key_table *table, uint32_t number, struct key key)
{
    return number < table->count && table->keys[number].hi == key.hi &&
           table->keys[number].lo == key.lo;
}

/** Look for a key where it came last time in a list, without hashing.
 *  @param before  number of the key before it in the list; KEY_NONE: it is the first, or not known
 *  @return its number; KEY_NONE: it is not there */
static inline uint32_t key_table_find_after(const struct key_table *table, struct key key,
                                            uint32_t before)
{
    uint32_t next = before < table->count ? table->after[before] : KEY_NONE;
    if (key_table_is(table, next, key))
        return next;
    if (next < table->count && key_table_is(table, table->after[next], key))
        return table->after[next]; /* one was left out this time */
    if (key_table_is(table, before + 1, key))
        return before + 1; /* the list is cut elsewhere this time, or begins: KEY_NONE + 1 is 0 */
    return KEY_NONE;
}

/** Remember for key_table_find_after() what came after a key. */
static inline void key_table_set_after(struct key_table *table, uint32_t before, uint32_t next)
{
    if (before < table->count)
        table->after[before] = next;
}

/** As key_table_add(), for the keys of a list one after the other: see key_table_find_after(). */
static inline uint32_t key_table_number_after(struct key_table *table, struct key key,
                                              uint32_t before)
{
    uint32_t number = key_table_find_after(table, key, before);
    if (number == KEY_NONE) {
        number = key_table_add(table, key);
        key_table_set_after(table, before, number);
    }
    return number;
}

/** Hash of a text, to make keys of. Texts may share one: whoever needs them apart counts in the
 *  key's other word. */
uint64_t key_hash(const char *text);

/** See state_bytes.h. */
void key_table_copy_state(struct state_bytes *b, struct key_table *table);

#endif
