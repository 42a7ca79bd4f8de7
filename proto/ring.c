/* Reader of the ring of events. */
#include "holter/ring.h"

#include "holter/error.h"
#include "holter/segment.h"

#include <string.h>

/* Records; far more than any segment holds, and small enough for products below 2^64. */
#define CAPACITY_MAX (UINT64_C(1) << 32)

int ring_reader_init(struct ring_reader *reader, const void *segment, size_t bytes, uint32_t index)
{
    const struct segment *header = segment;
    if (bytes < SEGMENT_HEADER_BYTES)
        return -HOLTER_ECORRUPT;
    /* The header is another process' memory: every number is copied once, checked, and then used.
     */
    uint64_t table = *(const volatile uint64_t *)&header->rings_offset;
    uint32_t rings = *(const volatile uint32_t *)&header->rings;
    if (index >= rings || table % 64 != 0 || table > bytes ||
        (bytes - table) / sizeof(struct ring_control) <= index)
        return -HOLTER_ECORRUPT;
    const struct ring_control *control =
        (const struct ring_control *)((const char *)segment + table) + index;
    uint32_t state = atomic_load_explicit(&control->state, memory_order_acquire);
    if (state == RING_FREE || state == RING_RESERVING)
        return -HOLTER_EEMPTY;
    uint64_t capacity = *(const volatile uint64_t *)&control->capacity;
    uint64_t offset = *(const volatile uint64_t *)&control->offset;
    if (capacity < 2 || capacity > CAPACITY_MAX || (capacity & (capacity - 1)) != 0 ||
        offset % 64 != 0 || offset > bytes || (bytes - offset) / sizeof(struct event) < capacity)
        return -HOLTER_ECORRUPT;
    *reader = (struct ring_reader){
        .control = control,
        .slots = (const struct event *)((const char *)segment + offset),
        .capacity = capacity,
    };
    return 0;
}

/* Copy a record that its writer may be changing, by relaxed atomic loads: what is torn is thrown
 * away later, but the loads themselves must be defined (Boehm 2012, section 4). */
static void copy_record(struct event *out, const struct event *slot)
{
    _Static_assert(sizeof(struct event) == RING_WORDS * sizeof(uint64_t), "copied in words");
    typedef uint64_t __attribute__((may_alias)) event_word;
    const event_word *from = (const event_word *)(const void *)slot;
    event_word *to = (event_word *)(void *)out;
#pragma GCC unroll 8
    for (size_t i = 0; i < RING_WORDS; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

static void fence_before_second_look(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wtsan"
    atomic_thread_fence(memory_order_acquire);
#pragma GCC diagnostic pop
}

/* Copy records first .. first + count, then drop those from the front that the writer may have
 * touched meanwhile. @return how many were dropped */
static size_t copy_records(const struct ring_reader *reader, struct event *out, uint64_t first,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        copy_record(&out[i], &reader->slots[(first + i) & (reader->capacity - 1)]);
    fence_before_second_look();
    uint64_t head = atomic_load_explicit(&reader->control->head, memory_order_relaxed);
    /* Record i is whole when i + capacity > head: the slot at the head itself is being written. */
    uint64_t oldest = head >= reader->capacity ? head - reader->capacity + 1 : 0;
    if (oldest <= first)
        return 0;
    size_t dropped = oldest - first < count ? (size_t)(oldest - first) : count;
    memmove(out, out + dropped, (count - dropped) * sizeof(*out));
    return dropped;
}

size_t ring_read(struct ring_reader *reader, struct event *out, size_t max)
{
    for (;;) {
        uint64_t head = atomic_load_explicit(&reader->control->head, memory_order_acquire);
        if (head < reader->next) { /* never by a sound writer: start over behind what it claims */
            reader->next = head;
            return 0;
        }
        if (head - reader->next >= reader->capacity) {
            uint64_t oldest = head - reader->capacity + 1;
            reader->lost += oldest - reader->next;
            reader->next = oldest;
        }
        size_t count = head - reader->next < max ? (size_t)(head - reader->next) : max;
        if (count == 0)
            return 0;
        size_t dropped = copy_records(reader, out, reader->next, count);
        reader->lost += dropped;
        reader->next += count;
        if (dropped < count)
            return count - dropped;
    }
}

static size_t ring_copy_again(struct ring_reader *reader, struct event *out, size_t max)
{
    struct ring_reader again = *reader;
    uint64_t left = reader->taken_until - reader->next;
    size_t count = ring_read(&again, out, left < max ? (size_t)left : max);
    reader->lost = again.lost;
    reader->next = again.next - count;
    return count;
}

size_t ring_copy(struct ring_reader *reader, struct event *out, size_t max)
{
    if (reader->next < reader->taken_until)
        return ring_copy_again(reader, out, max);
    uint64_t tail = atomic_load_explicit(&reader->control->tail, memory_order_acquire);
    if (tail > reader->next) {
        reader->lost += tail - reader->next;
        reader->next = tail;
    }
    uint64_t head = atomic_load_explicit(&reader->control->head, memory_order_acquire);
    if (head < reader->next) { /* never by a sound writer: start over behind what it claims */
        reader->next = head;
        return 0;
    }
    if (head - reader->next > reader->capacity) { /* the tail has moved on meanwhile */
        reader->lost += head - reader->capacity - reader->next;
        reader->next = head - reader->capacity;
    }
    size_t count = head - reader->next < max ? (size_t)(head - reader->next) : max;
    for (size_t i = 0; i < count; i++)
        copy_record(&out[i], &reader->slots[(reader->next + i) & (reader->capacity - 1)]);
    return count;
}

int ring_take(struct ring_reader *reader, struct ring_control *control, size_t count)
{
    uint64_t tail = reader->next;
    if (reader->next >= reader->taken_until &&
        !atomic_compare_exchange_strong_explicit(&control->tail, &tail, reader->next + count,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return 0;
    reader->next += count;
    return 1;
}

int ring_peek(const struct ring_reader *reader, struct event *out)
{
    uint64_t head = atomic_load_explicit(&reader->control->head, memory_order_acquire);
    const struct event *slot = &reader->slots[head & (reader->capacity - 1)];
    /* seq is stored after the entry fields, so it is looked at before them. */
    if (__atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE) != head)
        return -HOLTER_EEMPTY;
    struct event seen;
    copy_record(&seen, slot);
    fence_before_second_look();
    /* t_exit is stored before all other exit fields and before the head: still 0, nothing was torn.
     */
    if (__atomic_load_n(&slot->t_exit, __ATOMIC_RELAXED) != 0 ||
        __atomic_load_n(&slot->seq, __ATOMIC_RELAXED) != head ||
        atomic_load_explicit(&reader->control->head, memory_order_relaxed) != head)
        return -HOLTER_EEMPTY;
    if (seen.kind != EVENT_CALL)
        return -HOLTER_EEMPTY;
    *out = seen;
    return 0;
}

int ring_begun(const struct ring_reader *reader, struct event *out)
{
    const struct event *slot = &reader->slots[reader->next & (reader->capacity - 1)];
    if (__atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE) != reader->next)
        return -HOLTER_EEMPTY;
    struct event seen;
    copy_record(&seen, slot);
    fence_before_second_look();
    if (__atomic_load_n(&slot->seq, __ATOMIC_RELAXED) != reader->next)
        return -HOLTER_EEMPTY;
    *out = seen;
    return 0;
}

size_t ring_capture_before(const struct ring_reader *reader, uint64_t end, struct event *out,
                           size_t max)
{
    uint64_t head = atomic_load_explicit(&reader->control->head, memory_order_acquire);
    uint64_t first = head < reader->capacity - 1 ? 0 : head - (reader->capacity - 1);
    end = end < head ? end : head;
    uint64_t count = end > first ? end - first : 0;
    if (count > max)
        count = max;
    return (size_t)count - copy_records(reader, out, end - count, (size_t)count);
}
