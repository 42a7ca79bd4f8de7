/* The hash table of a key index: open addressing with linear probing. */
#include "daemon/analysis/tables/key_index.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL_CAPACITY 256u

int key_index_init(struct key_index *index, uint32_t limit)
{
    *index = (struct key_index){
        .slots = calloc(2 * INITIAL_CAPACITY, sizeof *index->slots),
        .slot_of = calloc(INITIAL_CAPACITY, sizeof *index->slot_of),
        .keys = calloc(INITIAL_CAPACITY, sizeof *index->keys),
        .capacity = INITIAL_CAPACITY,
        .limit = limit,
    };
    if (index->slots != NULL && index->slot_of != NULL && index->keys != NULL)
        return 0;
    key_index_finish(index);
    return -ENOMEM;
}

void key_index_finish(struct key_index *index)
{
    free(index->slots);
    free(index->slot_of);
    free(index->keys);
    *index = (struct key_index){0};
}

void key_index_clear(struct key_index *index)
{
    for (uint32_t i = 0; i < index->count; i++)
        index->slots[index->slot_of[i]] = 0;
    index->count = 0;
}

static void key_index_place(struct key_index *index, uint32_t number)
{
    uint32_t mask = 2 * index->capacity - 1;
    uint32_t slot = key_index_hash(index->keys[number]) & mask;
    while (index->slots[slot] != 0)
        slot = (slot + 1) & mask;
    index->slots[slot] = number + 1;
    index->slot_of[number] = slot;
}

static int key_index_grow(struct key_index *index)
{
    uint32_t capacity = 2 * index->capacity;
    uint32_t *slots = calloc(2 * (size_t)capacity, sizeof *slots);
    uint32_t *slot_of = realloc(index->slot_of, capacity * sizeof *slot_of);
    if (slot_of != NULL)
        index->slot_of = slot_of;
    struct index_key *keys = realloc(index->keys, capacity * sizeof *keys);
    if (keys != NULL)
        index->keys = keys;
    if (slots == NULL || slot_of == NULL || keys == NULL) {
        free(slots);
        return -ENOMEM;
    }
    free(index->slots);
    index->slots = slots;
    index->capacity = capacity;
    for (uint32_t i = 0; i < index->count; i++)
        key_index_place(index, i);
    return 0;
}

uint32_t key_index_add(struct key_index *index, struct index_key key)
{
    if (index->count >= index->limit ||
        (index->count == index->capacity && key_index_grow(index) != 0))
        return KEY_INDEX_FULL;
    index->keys[index->count] = key;
    key_index_place(index, index->count);
    return index->count++;
}

uint32_t key_index_extend(struct key_index *index, struct index_key key, uint32_t limit,
                          void *array, size_t element, size_t *capacity)
{
    if (index->count >= limit || array_fit(array, element, capacity, index->count + (size_t)1) != 0)
        return KEY_INDEX_FULL;
    uint32_t number = key_index_add(index, key);
    if (number == KEY_INDEX_FULL)
        return KEY_INDEX_FULL;
    char *elements;
    memcpy(&elements, array, sizeof elements); /* the pointer is of any type */
    memset(elements + number * element, 0, element);
    return number;
}
