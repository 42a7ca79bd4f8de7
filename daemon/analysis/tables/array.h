/* Arrays on the heap that grow. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_ARRAY_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/** Reserve space for so many elements, half as many again at least.
 *  @param array_pointer  address of the pointer to the array, which may move
 *  @param element        size of one element, bytes
 *  @param capacity           elements there is space for; brought up to date
 *  @return 0 or -ENOMEM: nothing has changed */
int array_fit(void *array_pointer, size_t element, size_t *capacity, size_t need);

/** Give an array so many bytes, no fewer and no more. @return 0 or -ENOMEM: nothing has changed */
int array_resize(void *array_pointer, size_t bytes);

/** As array_fit() by doubling, and new elements are zero. Up to UINT32_MAX elements. */
int array_fit_zero(void *array_pointer, size_t element, uint32_t *capacity, uint64_t need);

#endif
