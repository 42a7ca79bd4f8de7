/* The hash table of a key table: open addressing, at most half full. */
#include "daemon/analysis/tables/key_table.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL_CAPACITY 16u
#define MAXIMUM_KEYS (1u << 31)
#define SPARSE 32u /* places for each key, of a table that is cleared key by key */

void key_table_finish(struct key_table *table)
{
    free(table->keys);
    free(table->after);
    free(table->index);
    *table = (struct key_table){0};
}

/* What is held stands between the place that its hash names and the next empty one. Unless few
 * places are used it is cheaper to write them all than to find those. */
void key_table_clear(struct key_table *table)
{
    if (table->count > table->mask / SPARSE)
        memset(table->index, 0, ((size_t)table->mask + 1) * sizeof(*table->index));
    else
        for (uint32_t i = 0; i < table->count; i++)
            for (uint32_t at = key_table_hash_of(table->keys[i]) & table->mask;
                 table->index[at] != 0; at = (at + 1) & table->mask)
                table->index[at] = 0;
    table->count = 0;
}

static int key_table_grow_index(struct key_table *table, uint32_t capacity)
{
    /* At most half full: probes stay short without the memory of a sparser table. */
    uint64_t places = 2 * INITIAL_CAPACITY;
    while (places < 2 * (uint64_t)capacity)
        places *= 2;
    if (table->index != NULL && places <= (uint64_t)table->mask + 1)
        return 0;
    uint32_t *index = calloc(places, sizeof(*index));
    if (index == NULL)
        return -ENOMEM;
    uint32_t mask = (uint32_t)(places - 1);
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t at = key_table_hash_of(table->keys[i]) & mask;
        while (index[at] != 0)
            at = (at + 1) & mask;
        index[at] = i + 1;
    }
    free(table->index);
    table->index = index;
    table->mask = mask;
    return 0;
}

int key_table_reserve(struct key_table *table, size_t further)
{
    if (further <= table->capacity - table->count)
        return 0;
    if (further > MAXIMUM_KEYS - table->count)
        return -ERANGE;
    uint64_t need = table->count + (uint64_t)further;
    uint64_t capacity = table->capacity + table->capacity / 2;
    capacity = capacity < INITIAL_CAPACITY ? INITIAL_CAPACITY : capacity;
    capacity = capacity < need ? need : capacity;
    capacity = capacity > MAXIMUM_KEYS ? MAXIMUM_KEYS : capacity;
    if (ARRAY_RESIZE(table->keys, capacity) != 0 || ARRAY_RESIZE(table->after, capacity) != 0)
        return -ENOMEM;
    int code = key_table_grow_index(table, (uint32_t)capacity);
    if (code == 0)
        table->capacity = (uint32_t)capacity;
    return code;
}

static uint32_t key_table_append(struct key_table *table, struct key key, uint32_t limit)
{
    if (table->count >= limit || key_table_reserve(table, 1) != 0)
        return KEY_NONE;
    uint32_t at = key_table_hash_of(key) & table->mask;
    while (table->index[at] != 0)
        at = (at + 1) & table->mask;
    table->keys[table->count] = key;
    table->after[table->count] = KEY_NONE;
    table->index[at] = ++table->count;
    return table->count - 1;
}

uint32_t key_table_number(struct key_table *table, struct key key, uint32_t limit)
{
    uint32_t number = key_table_find(table, key);
    return number != KEY_NONE ? number : key_table_append(table, key, limit);
}

uint32_t key_table_extend_new(struct key_table *table, struct key key, uint32_t limit, void *array,
                              size_t element, size_t *capacity)
{
    char *elements;
    if (array_fit(array, element, capacity, table->count + (size_t)1) != 0)
        return KEY_NONE;
    uint32_t number = key_table_append(table, key, limit);
    if (number == KEY_NONE)
        return KEY_NONE;
    memcpy(&elements, array, sizeof(elements)); /* the pointer is of any type */
    memset(elements + number * element, 0, element);
    return number;
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
uint64_t key_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

void key_table_copy_state(struct state_bytes *b, struct key_table *table)
{
    struct key_table copy = *table;
    STATE_VALUE(b, copy);
    STATE_ARRAY(b, copy.keys, copy.count, copy.capacity);
    STATE_ARRAY(b, copy.after, copy.count, copy.capacity);
    if (!b->reads)
        return;
    copy.index = NULL;
    if (b->code == 0 && copy.capacity > 0 && key_table_grow_index(&copy, copy.capacity) != 0)
        b->code = -ENOMEM;
    if (b->code != 0)
        key_table_finish(&copy);
    *table = copy;
}
