/* Hostile shared memory to the agent's reader: a segment whose header, tables and control blocks
 * are any bytes. */
#include "holter/error.h"
#include "holter/segment.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS 64

static const struct segment_shape shape = {.rings = 2,
                                           .comms = 4,
                                           .regions = 4,
                                           .carts = 4,
                                           .first_capacity = 16,
                                           .early_capacity = 8,
                                           .late_capacity = 8};

static void read_ring(const struct segment *segment, size_t bytes, uint32_t index)
{
    struct ring_reader reader;
    struct event events[EVENTS];
    if (ring_reader_init(&reader, segment, bytes, index) != 0)
        return;
    for (int turn = 0; turn < 3; turn++)
        FUZZ_HOLDS(ring_read(&reader, events, EVENTS) <= EVENTS);
    (void)ring_peek(&reader, events);
    FUZZ_HOLDS(ring_capture_before(&reader, UINT64_MAX, events, EVENTS) <= EVENTS);
}

static void read_segment(const struct segment *segment, size_t bytes)
{
    uint64_t sum = 0;
    /* Beyond the tables, too: a segment says how many rings it has, and is not to be believed. */
    for (uint32_t i = 0; i < 20; i++)
        read_ring(segment, bytes, i);
    for (uint32_t i = 0; i < segment->comms && i < 4096; i++)
        sum += segment_comm(segment, i)->id;
    for (uint32_t i = 0; i < segment->regions && i < 4096; i++)
        sum += (uint8_t)segment_region(segment, i)->name[59];
    for (uint32_t i = 0; i < segment->carts && i < 4096; i++)
        sum += segment_cart(segment, i)->sizes[7];
    FUZZ_HOLDS(sum + 1 != 0 || sum == UINT64_MAX);
    (void)segment_owner_alive(segment);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[64];
    struct segment *segment = NULL;
    size_t bytes = 0;
    snprintf(name, sizeof name, "/holter-fuzz.%d", (int)getpid());
    int fd = shm_open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return 0;
    if (write(fd, data, size) == (ssize_t)size && segment_open(&segment, &bytes, name, 0) == 0) {
        FUZZ_HOLDS(bytes == size);
        read_segment(segment, bytes);
        segment_unmap(segment, bytes);
    }
    close(fd);
    shm_unlink(name);
    return 0;
}

/* A real segment with some records in its rings, as its maker leaves it. */
size_t fuzz_seed(unsigned number, uint8_t *out)
{
    char name[64];
    struct segment *segment = NULL;
    size_t bytes = segment_bytes(&shape);
    if (number >= 4)
        return SIZE_MAX;
    snprintf(name, sizeof name, "/holter-fuzz-seed.%d", (int)getpid());
    shm_unlink(name);
    if (bytes > FUZZ_BYTES || segment_create(&segment, name, &shape) != 0)
        return 0;
    for (uint32_t i = 0; i < number && i < shape.rings; i++) {
        struct ring_control *ring = segment_ring(segment, i);
        ring->state = RING_ACTIVE;
        ring->head = 5 + 20 * number;
    }
    segment->rank = (int32_t)number;
    segment->size = 8;
    segment->state = SEGMENT_RUNNING;
    memcpy(out, segment, bytes);
    segment_unmap(segment, bytes);
    shm_unlink(name);
    return bytes;
}
