/* Numbers for keys: each distinct 128-bit key gets the next number, counted from 0, and keeps it.
 *
 * Rows that describe a key are arrays indexed by its number, so a table costs 20 bytes a key and 8
 * to 16 for the index, whatever is kept about it. Keys come in an order that hardly changes from
 * window to window (the partners of a rank as its agent lists them), so the table remembers which
 * key came after which, and looks there, and one further, and at the next number, before it
 * hashes: what is found so lies in memory beside what was used just before. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_KEY_TABLE_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>

/** Keys compare by hi, then by lo. */
struct key {
    uint64_t hi, lo;
};

struct key_table {
    struct key *keys;  /**< owned; keys[number] */
    uint32_t *after;   /**< owned; after[number]: the key that came after it last time */
    uint32_t count;    /**< keys so far */
    uint32_t capacity; /**< keys that fit without growing */
    uint32_t *index;   /**< owned; open addressing: number + 1, or 0 for an empty place */
    uint32_t mask;     /**< places of the index, less one; a power of two, less one */
};

#define KEY_NONE UINT32_MAX /**< no number */

/** An empty table; allocates nothing. */
void key_table_init(struct key_table *table);
void key_table_finish(struct key_table *table);

/** Reserve space for this many further keys. @return 0, -ENOMEM, or -ERANGE beyond 2^31 keys */
int key_table_reserve(struct key_table *table, size_t further);

/** Number of a key. @return the number, or KEY_NONE */
uint32_t key_table_find(const struct key_table *table, struct key key);

/** Number of a key, which is given one when it is new. Room must have been reserved. */
uint32_t key_table_add_hashed(struct key_table *table, struct key key);

static inline int key_table_is(const struct key_table *table, uint32_t number, struct key key)
{
    return number < table->count && table->keys[number].hi == key.hi &&
           table->keys[number].lo == key.lo;
}

/** As key_table_add_hashed(), for the keys of a list one after the other.
 *  @param before  number of the key before it in the list; KEY_NONE for the first
 *  @param guess   where to look when it is the first: the number that the first had last time */
static inline uint32_t key_table_add(struct key_table *table, struct key key, uint32_t before,
                                     uint32_t guess)
{
    uint32_t next = before < table->count ? table->after[before] : guess;
    if (key_table_is(table, next, key))
        return next;
    if (next < table->count && key_table_is(table, table->after[next], key))
        return table->after[next]; /* one was left out this time */
    if (key_table_is(table, before + 1, key))
        return before + 1; /* the list is cut elsewhere this time */
    next = key_table_add_hashed(table, key);
    if (before < table->count)
        table->after[before] = next;
    return next;
}

/** As key_table_add(), which makes room. @param before  KEY_NONE: not known
 *  @return the number, or KEY_NONE without memory */
static inline uint32_t key_table_number_after(struct key_table *table, struct key key,
                                              uint32_t before)
{
    return key_table_reserve(table, 1) == 0 ? key_table_add(table, key, before, KEY_NONE)
                                            : KEY_NONE;
}

/** Hash of a text, to make keys of. Texts may share one: whoever needs them apart counts in the
 *  key's other word. */
uint64_t key_hash(const char *text);

/** Bytes on the heap. */
size_t key_table_bytes(const struct key_table *table);

#endif
