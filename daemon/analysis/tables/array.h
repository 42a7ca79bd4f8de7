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

/** Free an array, and set the pointer to NULL. */
void array_release(void *array_pointer);

/** Give an array space for so many elements, no more; new elements are zero. */
int array_extend_zero(void *array_pointer, size_t element, uint32_t *capacity, uint32_t need);

/** As array_fit() by doubling, and new elements are zero. Up to UINT32_MAX elements. */
int array_fit_zero(void *array_pointer, size_t element, uint32_t *capacity, uint64_t need);

/** The same functions for an array and a capacity that are named: the size of an element follows.
 *
 *      if (ARRAY_FIT(list->rows, list->capacity, list->count + 1) != 0)
 *          return -ENOMEM; */
#define ARRAY_FIT(array, capacity, need) array_fit(&(array), sizeof(*(array)), &(capacity), need)
#define ARRAY_FIT_ZERO(array, capacity, need)                                                      \
    array_fit_zero(&(array), sizeof(*(array)), &(capacity), need)
#define ARRAY_EXTEND_ZERO(array, capacity, need)                                                   \
    array_extend_zero(&(array), sizeof(*(array)), &(capacity), need)
#define ARRAY_RESIZE(array, count) array_resize(&(array), (size_t)(count) * sizeof(*(array)))

/** ARRAY_FIT_ZERO() for the element of an index: for the next one, where that is a count. */
#define ARRAY_FIT_AT(array, capacity, index) ARRAY_FIT_ZERO(array, capacity, (uint64_t)(index) + 1)

#endif
