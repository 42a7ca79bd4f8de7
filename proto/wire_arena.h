/* Memory of decoded messages: taken piece by piece, emptied at once. See struct wire_arena. */
#ifndef HOLTER_PROTO_WIRE_ARENA_H
#define HOLTER_PROTO_WIRE_ARENA_H

#include "holter/wire.h"

/** Forget what was taken. Memory is kept for the next message, unless it is much too much. */
void wire_arena_empty(struct wire_arena *arena);

/** @return borrowed from the arena, until it is emptied; NULL without memory */
void *wire_arena_take(struct wire_arena *arena, size_t bytes, size_t align);

#endif
