/* Allocations that fail or are counted, for tests. Programs that use it are linked with
 * memory_arguments (tests/meson.build): it then stands in for malloc(), calloc(), realloc(),
 * aligned_alloc() and free() of all that is linked into them, shared libraries left out. */
#ifndef HOLTER_TESTS_MEMORY_H
#define HOLTER_TESTS_MEMORY_H

#include <stddef.h>

/** From now on the allocation of this number fails, counted from 1, and no other. 0: none does. */
void memory_fail(unsigned long number);

/** Did it come to that since memory_fail()? */
int memory_failed(void);

/** Bytes that are allocated now. Only differences mean something: what a shared library allocates
 * and the program frees is subtracted all the same. */
size_t memory_used(void);

#endif
