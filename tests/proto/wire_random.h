/* Random messages of any type, made from the tables: for round trips, fuzz seeds and benchmarks. */
#ifndef HOLTER_TESTS_WIRE_RANDOM_H
#define HOLTER_TESTS_WIRE_RANDOM_H

#include "proto/wire_table.h"

#include <stdint.h>

/** xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016). */
uint64_t random_next(uint64_t *state);

/** Uniform below a bound, which is not 0. */
uint64_t random_below(uint64_t *state, uint64_t bound);

/** A message with random contents within its limits: numbers of all lengths, texts with characters
 *  of one to four bytes, absent optional fields, rows. @return owned by the caller, for
 *  random_message_free() */
void *random_message(const struct wire_table *table, uint64_t *state, unsigned max_rows);

void random_message_free(const struct wire_table *table, void *message);

/** Compare two messages field by field. NULL and "" are the same text, NaN equals NaN.
 *  @return NULL when equal, else the name of the first field that differs */
const char *random_message_difference(const struct wire_table *table, const void *left,
                                      const void *right);

#endif
