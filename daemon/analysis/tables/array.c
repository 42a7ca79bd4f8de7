/* Arrays on the heap that grow. */
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL_CAPACITY 16u

/* The pointer is of any type: it is copied, not read as another one. */
int array_resize(void *array_pointer, size_t bytes)
{
    void *array;
    memcpy(&array, array_pointer, sizeof(array));
    array = realloc(array, bytes);
    if (array == NULL)
        return -ENOMEM;
    memcpy(array_pointer, &array, sizeof(array));
    return 0;
}

void array_release(void *array_pointer)
{
    void *array;
    memcpy(&array, array_pointer, sizeof(array));
    free(array);
    array = NULL;
    memcpy(array_pointer, &array, sizeof(array));
}

int array_fit(void *array_pointer, size_t element, size_t *capacity, size_t need)
{
    if (need <= *capacity)
        return 0;
    size_t grown = *capacity + *capacity / 2 < need ? need : *capacity + *capacity / 2;
    if (array_resize(array_pointer, grown * element) != 0)
        return -ENOMEM;
    *capacity = grown;
    return 0;
}

int array_extend_zero(void *array_pointer, size_t element, uint32_t *capacity, uint32_t need)
{
    if (need <= *capacity)
        return 0;
    char *array;
    memcpy(&array, array_pointer, sizeof(array));
    /* calloc() takes pages from the kernel that use no memory until they are written. */
    char *grown = array == NULL ? calloc(need, element) : realloc(array, need * element);
    if (grown == NULL)
        return -ENOMEM;
    if (array != NULL)
        memset(grown + *capacity * element, 0, (need - *capacity) * element);
    memcpy(array_pointer, &grown, sizeof(grown));
    *capacity = need;
    return 0;
}

int array_fit_zero(void *array_pointer, size_t element, uint32_t *capacity, uint64_t need)
{
    if (need <= *capacity)
        return 0;
    uint64_t grown = *capacity != 0 ? *capacity : INITIAL_CAPACITY;
    while (grown < need && grown <= UINT32_MAX)
        grown *= 2;
    return grown > UINT32_MAX
               ? -ENOMEM
               : array_extend_zero(array_pointer, element, capacity, (uint32_t)grown);
}
