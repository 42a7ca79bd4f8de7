/* One writer that laps, two readers, a taker and a peeker, all at full speed. Every record's words
 * are computed from its index, so that a torn one shows. To be run under ThreadSanitizer as well
 * (-Db_sanitize=thread). */
#include "holter/ring.h"

#include "holter/segment.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CAPACITY 256u
#define RECORDS 200000u          /* written at least */
#define RECORDS_MOST 1000000000u /* and at most, if the readers never get a turn */
#define READ_ENOUGH 20000u
#define PEEK_ENOUGH 50u
#define TAKE_ENOUGH 20000u
#define ROWS 512u /* of the tally: enough for all functions that the writer uses */

struct bed {
    struct segment *segment;
    size_t bytes;
    atomic_int done;
    _Atomic uint64_t written, read_by[2], lost_by[2], peeked, taken, tallied;
};

struct outcome {
    struct bed *bed;
    size_t batch;
    _Atomic uint64_t *progress, *lapped;
    uint64_t read, lost, torn;
};

static uint64_t mix(uint64_t i, uint64_t word)
{
    return (i * 8 + word + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static int enough(struct bed *bed)
{
    return atomic_load_explicit(&bed->read_by[0], memory_order_relaxed) >= READ_ENOUGH &&
           atomic_load_explicit(&bed->read_by[1], memory_order_relaxed) >= READ_ENOUGH &&
           atomic_load_explicit(&bed->lost_by[1], memory_order_relaxed) > 0 &&
           atomic_load_explicit(&bed->taken, memory_order_relaxed) >= TAKE_ENOUGH &&
           atomic_load_explicit(&bed->peeked, memory_order_relaxed) >= PEEK_ENOUGH;
}

static void *write_all(void *argument)
{
    struct bed *bed = argument;
    struct ring_control *control = segment_ring(bed->segment, 0);
    struct ring_writer writer;
    ring_writer_init(&writer, bed->segment, control);
    uint64_t i = 0;
    for (; i < RECORDS || (i < RECORDS_MOST && !enough(bed)); i++) {
        struct event *slot = ring_slot(&writer);
        ring_put(slot, RING_WORD_T_ENTER, mix(i, RING_WORD_T_ENTER));
        ring_put(slot, RING_WORD_T_EXIT, 0);
        ring_put(slot, RING_WORD_BYTES, mix(i, RING_WORD_BYTES));
        ring_put(slot, RING_WORD_BYTES_IN, mix(i, RING_WORD_BYTES_IN));
        ring_put(slot, RING_WORD_ENDS, mix(i, RING_WORD_ENDS));
        ring_put(slot, RING_WORD_PLACE, (uint32_t)mix(i, RING_WORD_PLACE));
        ring_put(slot, RING_WORD_WHAT, ring_what((uint16_t)(i % 256), 0, EVENT_CALL, 0));
        ring_enter(&writer, slot);
        if (i % (CAPACITY + 7) == 0) /* inside a call, or the peeker would seldom see one */
            sched_yield();
        ring_put(slot, RING_WORD_T_EXIT, mix(i, RING_WORD_T_EXIT) | 1);
        ring_fence();
        ring_put(slot, RING_WORD_BYTES_IN, ~mix(i, RING_WORD_BYTES_IN));
        ring_publish(&writer);
        if (ring_is_due(&writer))
            ring_maintain(&writer);
    }
    for (uint32_t row = 0; row < atomic_load(&control->tally_count); row++)
        bed->tallied += tally_read(&writer.tally[row]).records;
    atomic_store(&bed->written, i);
    atomic_store(&bed->done, 1);
    return NULL;
}

/* exited: 1 for a published record, 0 for a call in progress */
static int whole(const struct event *event, uint64_t index, int exited)
{
    uint64_t words[RING_WORDS];
    memcpy(words, event, sizeof(words));
    uint64_t in = mix(index, RING_WORD_BYTES_IN);
    return words[RING_WORD_SEQ] == index &&
           words[RING_WORD_T_ENTER] == mix(index, RING_WORD_T_ENTER) &&
           words[RING_WORD_T_EXIT] == (exited ? mix(index, RING_WORD_T_EXIT) | 1 : 0) &&
           words[RING_WORD_BYTES] == mix(index, RING_WORD_BYTES) &&
           words[RING_WORD_BYTES_IN] == (exited ? ~in : in) &&
           words[RING_WORD_ENDS] == mix(index, RING_WORD_ENDS) &&
           words[RING_WORD_PLACE] == (uint32_t)mix(index, RING_WORD_PLACE) &&
           event->call == index % 256;
}

static void *read_all(void *argument)
{
    struct outcome *outcome = argument;
    struct ring_reader reader;
    struct event out[CAPACITY];
    if (ring_reader_init(&reader, outcome->bed->segment, outcome->bed->bytes, 0) != 0)
        return NULL;
    for (int last = 0;;) {
        size_t n = ring_read(&reader, out, outcome->batch);
        for (size_t i = 0; i < n; i++)
            outcome->torn += !whole(&out[i], reader.next - n + i, 1);
        outcome->read += n;
        atomic_store_explicit(outcome->progress, outcome->read, memory_order_relaxed);
        atomic_store_explicit(outcome->lapped, reader.lost, memory_order_relaxed);
        if (n == 0 && last)
            break;
        last = atomic_load(&outcome->bed->done);
    }
    outcome->lost = reader.lost;
    return NULL;
}

/* As the agent does. */
static void *take_all(void *argument)
{
    struct outcome *outcome = argument;
    struct ring_control *control = segment_ring(outcome->bed->segment, 0);
    struct ring_reader reader;
    struct event out[CAPACITY];
    if (ring_reader_init(&reader, outcome->bed->segment, outcome->bed->bytes, 0) != 0)
        return NULL;
    for (int last = 0;;) {
        size_t n = ring_copy(&reader, out, outcome->batch);
        uint64_t first = reader.next;
        int taken = ring_take(&reader, control, n);
        for (size_t i = 0; taken && i < n; i++)
            outcome->torn += !whole(&out[i], first + i, 1);
        outcome->read += taken ? n : 0;
        atomic_store_explicit(outcome->progress, outcome->read, memory_order_relaxed);
        if (n == 0 && last)
            break;
        last = atomic_load(&outcome->bed->done);
    }
    outcome->lost = reader.lost;
    return NULL;
}

static void *peek_all(void *argument)
{
    struct outcome *outcome = argument;
    struct ring_reader reader;
    struct event out;
    if (ring_reader_init(&reader, outcome->bed->segment, outcome->bed->bytes, 0) != 0)
        return NULL;
    while (!atomic_load(&outcome->bed->done)) {
        if (ring_peek(&reader, &out) == 0) {
            atomic_fetch_add(&outcome->bed->peeked, 1);
            outcome->torn += !whole(&out, out.seq, 0);
        }
    }
    return NULL;
}

static void lapped_readers_never_see_torn_records_and_none_is_missing(void **state)
{
    (void)state;
    struct bed bed = {.bytes = SEGMENT_HEADER_BYTES + sizeof(struct ring_control) +
                               CAPACITY * sizeof(struct event) + ROWS * sizeof(struct tally_row)};
    bed.segment = aligned_alloc(4096, (bed.bytes + 4095) / 4096 * 4096);
    assert_non_null(bed.segment);
    memset(bed.segment, 0, bed.bytes);
    bed.segment->rings = 1;
    bed.segment->rings_offset = SEGMENT_HEADER_BYTES;
    struct ring_control *control = segment_ring(bed.segment, 0);
    control->capacity = CAPACITY;
    control->offset = SEGMENT_HEADER_BYTES + sizeof(*control);
    control->tally_offset = control->offset + CAPACITY * sizeof(struct event);
    control->tally_capacity = ROWS;
    /* as segment_create() does: nothing has been entered yet */
    ((struct event *)(void *)((char *)bed.segment + control->offset))->seq = UINT64_MAX;
    atomic_store(&control->state, RING_ACTIVE);

    struct outcome outcomes[4] = {
        {.bed = &bed, .batch = CAPACITY, .progress = &bed.read_by[0], .lapped = &bed.lost_by[0]},
        {.bed = &bed, .batch = 3, .progress = &bed.read_by[1], .lapped = &bed.lost_by[1]},
        {.bed = &bed},
        {.bed = &bed, .batch = CAPACITY / 4, .progress = &bed.taken}};
    pthread_t threads[5];
    assert_int_equal(pthread_create(&threads[0], NULL, read_all, &outcomes[0]), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, read_all, &outcomes[1]), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, peek_all, &outcomes[2]), 0);
    assert_int_equal(pthread_create(&threads[3], NULL, write_all, &bed), 0);
    assert_int_equal(pthread_create(&threads[4], NULL, take_all, &outcomes[3]), 0);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(outcomes[i].read + outcomes[i].lost, atomic_load(&bed.written));
        assert_int_equal(outcomes[i].torn, 0);
        assert_true(outcomes[i].read >= READ_ENOUGH);
    }
    assert_int_equal(outcomes[2].torn, 0);
    assert_int_equal(outcomes[3].torn, 0);
    assert_int_equal(outcomes[3].read + atomic_load(&bed.tallied), atomic_load(&bed.written));
    assert_int_equal(outcomes[3].lost, atomic_load(&bed.tallied));
    assert_true(outcomes[3].read >= TAKE_ENOUGH);
    assert_true(outcomes[1].lost > 0);
    print_message("read %llu and %llu of %llu, peeked %llu\n", (unsigned long long)outcomes[0].read,
                  (unsigned long long)outcomes[1].read,
                  (unsigned long long)atomic_load(&bed.written),
                  (unsigned long long)atomic_load(&bed.peeked));
    free(bed.segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lapped_readers_never_see_torn_records_and_none_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
