/* Memory for arrays that are released together, with their owner. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_ARENA_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/** Zero-initialised is empty. Not to be copied while it is in use. */
struct arena {
    struct arena_block *newest; /**< owned */
    bool failed;                /**< there was no memory for some array */
};

/** @return an array of zeros, owned by the arena; NULL: no memory, see `failed` */
void *arena_take(struct arena *arena, size_t count, size_t element);

/** The same for an array that is named: the size of an element follows. */
#define ARENA_TAKE(arena, array, count) ((array) = arena_take(arena, count, sizeof(*(array))))

/** Release all arrays; the arena is empty again. */
void arena_finish(struct arena *arena);

#endif
