#include "tests/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

static unsigned long left; /* until the one that fails, itself included; 0: none will */
static int failed;
static atomic_size_t used;

void memory_fail(unsigned long number)
{
    left = number;
    failed = 0;
}

int memory_failed(void)
{
    return failed;
}

static int fails(void)
{
    if (left == 0 || --left > 0)
        return 0;
    errno = ENOMEM;
    failed = 1;
    return 1;
}

size_t memory_used(void)
{
    return atomic_load(&used);
}

static void *counted(void *memory)
{
    atomic_fetch_add(&used, malloc_usable_size(memory));
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    size_t before = malloc_usable_size(old);
    void *memory = __real_realloc(old, size);
    if (memory == NULL)
        return NULL;
    atomic_fetch_sub(&used, before);
    return counted(memory);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory)
{
    atomic_fetch_sub(&used, malloc_usable_size(memory));
    __real_free(memory);
}
