/* Allocations that fail, for tests. Programs that use it are linked with memory_arguments
 * (tests/meson.build): it then stands in for malloc(), calloc(), realloc() and aligned_alloc() of
 * all that is linked into them, shared libraries left out. */
#ifndef HOLTER_TESTS_MEMORY_H
#define HOLTER_TESTS_MEMORY_H

/** From now on the allocation of this number fails, counted from 1, and no other. 0: none does. */
void memory_fail(unsigned long number);

/** Did it come to that since memory_fail()? */
int memory_failed(void);

#endif
