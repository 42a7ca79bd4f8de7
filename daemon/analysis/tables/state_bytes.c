/* The state of analyses as bytes, and back: structures, arrays, and whether they are there. */
#include "daemon/analysis/tables/state_bytes.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void state_write(struct state_bytes *b, const void *bytes, size_t length)
{
    if (b->code == 0 && ARRAY_FIT(b->bytes, b->capacity, b->length + length) != 0)
        b->code = -ENOMEM;
    if (b->code != 0 || length == 0)
        return;
    memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
}

static int state_read(struct state_bytes *b, void *bytes, size_t length)
{
    if (b->code == 0 && length > b->length - b->at)
        b->code = -HOLTER_ETRUNCATED;
    if (b->code != 0)
        return 0;
    if (length > 0)
        memcpy(bytes, b->bytes + b->at, length);
    b->at += length;
    return 1;
}

/* A number that has to be the same in this program. */
static int state_copy_size(struct state_bytes *b, uint64_t size)
{
    uint64_t written = size;
    if (!b->reads) {
        state_write(b, &written, sizeof(written));
    } else if (state_read(b, &written, sizeof(written)) && written != size) {
        b->code = -HOLTER_EVERSION;
    }
    return b->code == 0;
}

void state_copy_bytes(struct state_bytes *b, void *bytes, size_t length)
{
    if (!state_copy_size(b, length))
        return;
    if (b->reads)
        (void)state_read(b, bytes, length);
    else
        state_write(b, bytes, length);
}

/* @return 1: there is something where the pointer points to */
static int state_copy_presence(struct state_bytes *b, void *pointer_address)
{
    void *pointer;
    uint8_t is_there;
    memcpy(&pointer, pointer_address, sizeof(pointer)); /* it is of any type */
    is_there = pointer != NULL;
    if (!b->reads) {
        state_write(b, &is_there, 1);
        return is_there;
    }
    pointer = NULL;
    memcpy(pointer_address, &pointer, sizeof(pointer));
    return state_read(b, &is_there, 1) && is_there;
}

/* Memory for so many elements, of which some are copied. Of nothing it is one element. */
static void state_copy_memory(struct state_bytes *b, void *pointer_address, size_t element,
                              size_t count, size_t capacity)
{
    void *pointer;
    memcpy(&pointer, pointer_address, sizeof(pointer));
    if (!b->reads) {
        state_write(b, pointer, count * element);
        return;
    }
    if (count > (b->length - b->at) / element)
        b->code = -HOLTER_ETRUNCATED;
    capacity = capacity > count ? capacity : count;
    pointer = b->code != 0 ? NULL : calloc(capacity + (capacity == 0), element);
    if (b->code == 0 && pointer == NULL)
        b->code = -ENOMEM;
    if (pointer != NULL)
        (void)state_read(b, pointer, count * element);
    memcpy(pointer_address, &pointer, sizeof(pointer));
}

int state_copy_object(struct state_bytes *b, void *pointer_address, size_t size)
{
    if (!state_copy_presence(b, pointer_address) || !state_copy_size(b, size))
        return 0;
    state_copy_memory(b, pointer_address, size, 1, 1);
    return b->code == 0;
}

void state_copy_array(struct state_bytes *b, void *pointer_address, size_t element, size_t count,
                      size_t capacity)
{
    if (state_copy_presence(b, pointer_address) && state_copy_size(b, element) &&
        state_copy_size(b, count))
        state_copy_memory(b, pointer_address, element, count, capacity);
}
