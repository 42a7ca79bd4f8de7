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

int array_fit_zero(void *array_pointer, size_t element, uint32_t *capacity, uint64_t need)
{
    if (need <= *capacity)
        return 0;
    uint64_t grown = *capacity != 0 ? *capacity : INITIAL_CAPACITY;
    while (grown < need && grown <= UINT32_MAX)
        grown *= 2;
    char *array;
    if (grown > UINT32_MAX || array_resize(array_pointer, grown * element) != 0)
        return -ENOMEM;
    memcpy(&array, array_pointer, sizeof(array));
    memset(array + *capacity * element, 0, (grown - *capacity) * element);
    *capacity = (uint32_t)grown;
    return 0;
}
