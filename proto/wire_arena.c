/* Memory of decoded messages. */
#include "proto/wire_arena.h"

#include <stdint.h>
#include <stdlib.h>

#define BLOCK_BYTES ((size_t)64 << 10)

/* A block of the arena; its memory follows. */
struct block {
    struct block *next;
    size_t capacity;
    size_t used;
    uint64_t reserved; /* keeps what follows aligned to sixteen bytes */
};

void wire_arena_finish(struct wire_arena *arena)
{
    for (struct block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (struct wire_arena){0};
}

static struct block *arena_grow(struct wire_arena *arena, size_t capacity)
{
    struct block *block = malloc(sizeof *block + capacity);
    if (!block)
        return NULL;
    *block = (struct block){.next = arena->blocks, .capacity = capacity};
    arena->blocks = block;
    return block;
}

/* One block is kept from message to message, grown so that the next message of that size finds
 * room at once, and given back when it turns out much too large. */
void wire_arena_empty(struct wire_arena *arena)
{
    struct block *first = arena->blocks;
    size_t wanted = arena->used;
    if (first &&
        (first->next || (first->capacity > BLOCK_BYTES && wanted < first->capacity / 16))) {
        wire_arena_finish(arena);
        (void)arena_grow(arena, wanted > BLOCK_BYTES ? wanted + wanted / 4 : BLOCK_BYTES);
        first = arena->blocks;
    }
    if (first)
        first->used = 0;
    arena->used = 0;
}

void *wire_arena_take(struct wire_arena *arena, size_t bytes, size_t align)
{
    struct block *block = arena->blocks;
    size_t start = block ? (block->used + align - 1) & ~(align - 1) : 0;
    if (!block || start > block->capacity || bytes > block->capacity - start) {
        block = arena_grow(arena, bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES);
        if (!block)
            return NULL;
        start = 0;
    }
    arena->used += bytes + (start - block->used);
    block->used = start + bytes;
    return (uint8_t *)(block + 1) + start;
}
