/* Memory for arrays that are released together: see arena.h. */
#include "daemon/analysis/tables/arena.h"

#include <stdlib.h>

struct arena_block {
    struct arena_block *older;
    max_align_t array[];
};

void *arena_take(struct arena *arena, size_t count, size_t element)
{
    size_t bytes;
    struct arena_block *block = NULL;
    if (!__builtin_mul_overflow(count, element, &bytes) &&
        !__builtin_add_overflow(bytes, sizeof(*block), &bytes))
        block = calloc(1, bytes);
    if (block == NULL) {
        arena->failed = true;
        return NULL;
    }
    block->older = arena->newest;
    arena->newest = block;
    return block->array;
}

void arena_finish(struct arena *arena)
{
    while (arena->newest != NULL) {
        struct arena_block *block = arena->newest;
        arena->newest = block->older;
        free(block);
    }
    arena->failed = false;
}
