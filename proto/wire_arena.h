/* Memory of decoded messages: allocated piece by piece, released together. See struct wire_arena.
 */
#ifndef HOLTER_PROTO_WIRE_ARENA_H
#define HOLTER_PROTO_WIRE_ARENA_H

#include "holter/wire.h"

/** Release all pieces. The memory is reused for the next message, unless it is far too large. */
void wire_arena_empty(struct wire_arena *arena);

/** @return borrowed from the arena, until it is emptied; NULL without memory */
void *wire_arena_take(struct wire_arena *arena, size_t bytes, size_t align);

#endif
