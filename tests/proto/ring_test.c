#include "holter/ring.h"

#include "holter/error.h"
#include "holter/segment.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CAPACITY 64u
#define ROWS 16u /* of the tally */

/* A segment in private memory: rings need no shared memory to work. */
struct bed {
    struct segment *segment;
    size_t bytes;
    struct ring_writer writer;
    struct ring_reader reader;
};

static void bed_init(struct bed *bed)
{
    bed->bytes = SEGMENT_HEADER_BYTES + sizeof(struct ring_control) +
                 CAPACITY * sizeof(struct event) + ROWS * sizeof(struct tally_row);
    bed->segment = aligned_alloc(4096, (bed->bytes + 4095) / 4096 * 4096);
    assert_non_null(bed->segment);
    memset(bed->segment, 0, bed->bytes);
    bed->segment->rings = 1;
    bed->segment->rings_offset = SEGMENT_HEADER_BYTES;
    struct ring_control *control = segment_ring(bed->segment, 0);
    control->capacity = CAPACITY;
    control->offset = SEGMENT_HEADER_BYTES + sizeof(*control);
    control->tally_offset = control->offset + CAPACITY * sizeof(struct event);
    control->tally_capacity = ROWS;
    ((struct event *)((char *)bed->segment + control->offset))->seq = UINT64_MAX;
    atomic_store(&control->state, RING_ACTIVE);
    ring_writer_init(&bed->writer, bed->segment, control);
    assert_int_equal(ring_reader_init(&bed->reader, bed->segment, bed->bytes, 0), 0);
}

static void bed_finish(struct bed *bed)
{
    free(bed->segment);
}

static struct event *enter(struct bed *bed, uint64_t bytes)
{
    struct event *slot = ring_slot(&bed->writer);
    ring_put(slot, RING_WORD_T_ENTER, bytes * 2 + 1);
    ring_put(slot, RING_WORD_T_EXIT, 0);
    ring_put(slot, RING_WORD_BYTES, bytes);
    ring_put(slot, RING_WORD_BYTES_IN, ~bytes);
    ring_put(slot, RING_WORD_ENDS, ring_ends(-3, 77));
    ring_put(slot, RING_WORD_PLACE, ring_place(9, COMM_SLOT_OTHER, 12));
    ring_put(slot, RING_WORD_WHAT, ring_what(30, EVENT_RECV | EVENT_INTER, EVENT_CALL, 4));
    ring_enter(&bed->writer, slot);
    return slot;
}

static void leave(struct bed *bed, struct event *slot)
{
    ring_put(slot, RING_WORD_T_EXIT, slot->t_enter + 5);
    ring_fence();
    ring_publish(&bed->writer);
    if (ring_is_due(&bed->writer))
        ring_maintain(&bed->writer);
}

static void a_record_comes_out_as_it_was_put(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    leave(&bed, enter(&bed, 1000));
    struct event out[4];
    assert_int_equal(ring_read(&bed.reader, out, 4), 1);
    assert_int_equal(out[0].seq, 0);
    assert_int_equal(out[0].t_enter, 2001);
    assert_int_equal(out[0].t_exit, 2006);
    assert_int_equal(out[0].bytes, 1000);
    assert_int_equal(out[0].bytes_in, ~UINT64_C(1000));
    assert_int_equal(out[0].peer, -3);
    assert_int_equal(out[0].tag, 77);
    assert_int_equal(out[0].request, 9);
    assert_int_equal(out[0].comm, COMM_SLOT_OTHER);
    assert_int_equal(out[0].region, 12);
    assert_int_equal(out[0].call, 30);
    assert_int_equal(out[0].flags, EVENT_RECV | EVENT_INTER);
    assert_int_equal(out[0].kind, EVENT_CALL);
    assert_int_equal(out[0].parts, 4);
    assert_int_equal(ring_read(&bed.reader, out, 4), 0);
    bed_finish(&bed);
}

/* Any mix of bursts and reads, from empty to many laps behind: read + lost = written, in order, no
 * gap that is not counted. */
static void every_event_is_read_or_counted_as_lost(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event out[CAPACITY];
    uint64_t written = 0, read = 0;
    unsigned seed = 12345;
    for (int round = 0; round < 4000; round++) {
        seed = seed * 1103515245u + 12345u;
        unsigned burst = (seed >> 16) % (round % 7 == 0 ? 3 * CAPACITY : CAPACITY / 2);
        for (unsigned i = 0; i < burst; i++)
            leave(&bed, enter(&bed, written++));
        uint64_t lost_before = bed.reader.lost, next_before = bed.reader.next;
        size_t n = ring_read(&bed.reader, out, 1 + (seed >> 8) % CAPACITY);
        uint64_t skipped = bed.reader.lost - lost_before;
        for (size_t i = 0; i < n; i++)
            assert_int_equal(out[i].bytes, next_before + skipped + i);
        read += n;
        assert_int_equal(bed.reader.next, read + bed.reader.lost);
    }
    size_t n;
    while ((n = ring_read(&bed.reader, out, CAPACITY)) > 0)
        read += n;
    assert_int_equal(read + bed.reader.lost, written);
    assert_true(bed.reader.lost > 0);
    assert_true(read > written / 2);
    bed_finish(&bed);
}

static void the_slot_being_written_is_never_read(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event out[CAPACITY];
    for (unsigned i = 0; i < CAPACITY; i++)
        leave(&bed, enter(&bed, i));
    enter(&bed, 999); /* overwrites record 0 */
    assert_int_equal(ring_read(&bed.reader, out, CAPACITY), CAPACITY - 1);
    assert_int_equal(out[0].bytes, 1);
    assert_int_equal(bed.reader.lost, 1);
    bed_finish(&bed);
}

static void a_call_in_progress_is_seen_until_it_ends(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event out;
    assert_int_equal(ring_peek(&bed.reader, &out), -HOLTER_EEMPTY);
    struct event *first = ring_slot(&bed.writer); /* half written: not begun yet */
    ring_put(first, RING_WORD_WHAT, ring_what(30, 0, EVENT_CALL, 0));
    assert_int_equal(ring_peek(&bed.reader, &out), -HOLTER_EEMPTY);
    for (unsigned i = 0; i < 3 * CAPACITY; i++) {
        struct event *slot = enter(&bed, i);
        assert_int_equal(ring_peek(&bed.reader, &out), 0);
        assert_int_equal(out.bytes, i);
        assert_int_equal(out.t_exit, 0);
        ring_put(slot, RING_WORD_T_EXIT, 5);
        assert_int_equal(ring_peek(&bed.reader, &out), -HOLTER_EEMPTY);
        ring_publish(&bed.writer);
        assert_int_equal(ring_peek(&bed.reader, &out), -HOLTER_EEMPTY);
    }
    bed_finish(&bed);
}

static void capture_gives_the_newest_without_consuming(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event out[2 * CAPACITY];
    assert_int_equal(ring_capture_before(&bed.reader, UINT64_MAX, out, 8), 0);
    for (unsigned i = 0; i < 5; i++)
        leave(&bed, enter(&bed, i));
    assert_int_equal(ring_capture_before(&bed.reader, UINT64_MAX, out, 8), 5);
    assert_int_equal(ring_capture_before(&bed.reader, UINT64_MAX, out, 3), 3);
    assert_int_equal(out[0].bytes, 2);
    assert_int_equal(out[2].bytes, 4);
    for (unsigned i = 5; i < 1000; i++)
        leave(&bed, enter(&bed, i));
    assert_int_equal(ring_capture_before(&bed.reader, UINT64_MAX, out, 2 * CAPACITY), CAPACITY - 1);
    assert_int_equal(out[CAPACITY - 2].bytes, 999);
    assert_int_equal(bed.reader.next, 0);
    bed_finish(&bed);
}

static void a_control_block_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct ring_control *control = segment_ring(bed.segment, 0), good = *control;
    struct ring_reader reader;
    assert_int_equal(ring_reader_init(&reader, bed.segment, bed.bytes, 1), -HOLTER_ECORRUPT);
    assert_int_equal(ring_reader_init(&reader, bed.segment, good.tally_offset - 1, 0),
                     -HOLTER_ECORRUPT);
    assert_int_equal(ring_reader_init(&reader, bed.segment, 100, 0), -HOLTER_ECORRUPT);
    const uint64_t capacities[] = {0, 1, 63, 65, 128, UINT64_MAX, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        control->capacity = capacities[i];
        assert_int_equal(ring_reader_init(&reader, bed.segment, good.tally_offset, 0),
                         -HOLTER_ECORRUPT);
    }
    *control = good;
    const uint64_t offsets[] = {1, good.offset + 64, UINT64_MAX, UINT64_MAX - 63};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        control->offset = offsets[i];
        assert_int_equal(ring_reader_init(&reader, bed.segment, good.tally_offset, 0),
                         -HOLTER_ECORRUPT);
        control->offset = good.offset;
        bed.segment->rings_offset = offsets[i] & ~UINT64_C(63);
        if (bed.segment->rings_offset > SEGMENT_HEADER_BYTES)
            assert_int_equal(ring_reader_init(&reader, bed.segment, SEGMENT_HEADER_BYTES, 0),
                             -HOLTER_ECORRUPT);
        bed.segment->rings_offset = SEGMENT_HEADER_BYTES;
    }
    atomic_store(&control->state, RING_FREE);
    assert_int_equal(ring_reader_init(&reader, bed.segment, bed.bytes, 0), -HOLTER_EEMPTY);
    bed_finish(&bed);
}

static void a_head_that_goes_back_does_not_trip_the_reader(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event out[CAPACITY];
    for (unsigned i = 0; i < 10; i++)
        leave(&bed, enter(&bed, i));
    assert_int_equal(ring_read(&bed.reader, out, CAPACITY), 10);
    atomic_store(&bed.writer.control->head, 3);
    assert_int_equal(ring_read(&bed.reader, out, CAPACITY), 0);
    atomic_store(&bed.writer.control->head, UINT64_MAX);
    assert_int_equal(ring_read(&bed.reader, out, CAPACITY), CAPACITY - 1);
    bed_finish(&bed);
}

/* ---- tally --------------------------------------------------------------- */

static struct tally_figures tally_total(const struct bed *bed)
{
    struct tally_figures total = {0};
    for (uint32_t i = 0; i < atomic_load(&bed->writer.control->tally_count); i++) {
        struct tally_figures row = tally_read(&bed->writer.tally[i]);
        total.records += row.records;
        total.bytes += row.bytes;
        total.bytes_in += row.bytes_in;
        total.ticks += row.ticks;
    }
    return total;
}

/* Any mix of bursts and takes, from empty to many laps behind. */
static void every_record_is_taken_or_in_the_tally(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event out[CAPACITY];
    uint64_t written = 0, taken = 0, bytes = 0;
    unsigned seed = 4711;
    for (int round = 0; round < 4000; round++) {
        seed = seed * 1103515245u + 12345u;
        for (unsigned i = (seed >> 16) % (round % 7 == 0 ? 3 * CAPACITY : CAPACITY / 2); i > 0; i--)
            leave(&bed, enter(&bed, written++));
        size_t n = ring_copy(&bed.reader, out, 1 + (seed >> 8) % CAPACITY);
        for (unsigned i = seed % 5 == 0 ? CAPACITY / 2 : 0; i > 0; i--)
            leave(&bed, enter(&bed, written++)); /* between the copy and its taking */
        uint64_t first = bed.reader.next;
        if (!ring_take(&bed.reader, bed.writer.control, n))
            continue;
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(out[i].seq, first + i);
            bytes += out[i].bytes;
        }
        taken += n;
        assert_int_equal(bed.reader.next, taken + bed.reader.lost);
    }
    for (size_t n; (n = ring_copy(&bed.reader, out, CAPACITY)) > 0; taken += n) {
        assert_int_equal(ring_take(&bed.reader, bed.writer.control, n), 1);
        for (size_t i = 0; i < n; i++)
            bytes += out[i].bytes;
    }
    struct tally_figures total = tally_total(&bed);
    assert_int_equal(taken + total.records, written);
    assert_int_equal(total.records, bed.reader.lost);
    assert_int_equal(bytes + total.bytes, written * (written - 1) / 2);
    assert_int_equal(total.ticks, 5 * total.records);
    assert_int_equal(total.bytes_in, 0); /* a receive has the time of its posting there */
    assert_true(total.records > 0 && taken > total.records / 2);
    bed_finish(&bed);
}

static void lap(struct bed *bed, const struct event *event, unsigned records)
{
    for (unsigned i = 0; i < records; i++) {
        struct event *slot = enter(bed, event->bytes);
        ring_put(slot, RING_WORD_BYTES_IN, event->bytes_in);
        ring_put(slot, RING_WORD_ENDS, ring_ends(event->peer, (int32_t)i));
        ring_put(slot, RING_WORD_PLACE, ring_place(event->request, event->comm, event->region));
        ring_put(slot, RING_WORD_WHAT, ring_what(event->call, event->flags, event->kind, 0));
        leave(bed, slot);
    }
}

/* The rest is added up for each function, so that nothing is lost. */
static void more_peers_than_rows_are_added_up_without_peer(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event send = {.bytes = 100,
                         .comm = 3,
                         .call = 7,
                         .flags = EVENT_SEND | EVENT_POST | EVENT_DONE,
                         .kind = EVENT_CALL};
    for (send.peer = 0; send.peer < 40; send.peer++)
        lap(&bed, &send, 10);
    lap(&bed, &send, CAPACITY); /* the last of them leave the ring */
    struct tally_figures total = tally_total(&bed);
    assert_int_equal(total.bytes, 100 * total.records);
    assert_true(total.records >= 400);
    uint32_t rows = atomic_load(&bed.writer.control->tally_count);
    assert_int_equal(rows, ROWS - ROWS / 4 + 1);
    assert_int_equal(ring_peer(atomic_load(&bed.writer.tally[rows - 1].where)), PEER_UNKNOWN);
    for (uint32_t i = 0; i + 1 < rows; i++) {
        assert_int_equal(ring_peer(atomic_load(&bed.writer.tally[i].where)), (int32_t)i);
        assert_int_equal(tally_read(&bed.writer.tally[i]).records, 10);
    }
    bed_finish(&bed);
}

/* The agent needs their number alone, to know that none is lost. */
static void records_of_a_pause_share_a_row(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event send = {.bytes = 100,
                         .call = 7,
                         .flags = EVENT_SEND | EVENT_POST | EVENT_DONE | EVENT_PAUSED,
                         .kind = EVENT_CALL};
    for (send.peer = 0; send.peer < 40; send.peer++)
        lap(&bed, &send, 10);
    struct tally_figures total = tally_total(&bed);
    assert_int_equal(atomic_load(&bed.writer.control->tally_count), 1);
    assert_true(total.records >= 400 - CAPACITY);
    assert_int_equal(total.bytes + total.ticks, 0);
    bed_finish(&bed);
}

/* What goes to MPI_PROC_NULL, or comes from it, is no message, however few rows there are. */
static void messages_of_nobody_stay_apart_without_rows(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event send = {.bytes = 100,
                         .comm = 3,
                         .call = 7,
                         .flags = EVENT_SEND | EVENT_POST | EVENT_DONE,
                         .kind = EVENT_CALL},
                 nobody = send;
    nobody.peer = PEER_NULL;
    for (send.peer = 0; send.peer < 40; send.peer++)
        lap(&bed, &send, 1);
    lap(&bed, &nobody, 10);
    lap(&bed, &(struct event){.kind = EVENT_REGION}, 2 * CAPACITY); /* all sends leave the ring */
    uint64_t of_nobody = 0;
    for (uint32_t i = 0; i < atomic_load(&bed.writer.control->tally_count); i++) {
        const struct tally_row *row = &bed.writer.tally[i];
        if (ring_peer(atomic_load(&row->where)) == PEER_NULL)
            of_nobody += tally_read(row).records;
    }
    assert_int_equal(of_nobody, 10);
    bed_finish(&bed);
}

static void more_sizes_than_rows_are_added_up_by_peer(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event send = {
        .comm = 3, .call = 7, .flags = EVENT_SEND | EVENT_POST | EVENT_DONE, .kind = EVENT_CALL};
    for (unsigned size = 1; size <= 60; size++) {
        send.bytes = size;
        send.peer = (int32_t)size % 3;
        lap(&bed, &send, 1);
    }
    lap(&bed, &(struct event){.kind = EVENT_REGION}, 2 * CAPACITY); /* all sends leave the ring */
    uint64_t records[3] = {0}, bytes[3] = {0};
    for (uint32_t i = 0; i < atomic_load(&bed.writer.control->tally_count); i++) {
        const struct tally_row *row = &bed.writer.tally[i];
        int32_t peer = ring_peer(atomic_load(&row->where));
        assert_true(peer < 3);
        if (peer < 0)
            continue;
        records[peer] += tally_read(row).records;
        bytes[peer] += tally_read(row).bytes;
    }
    for (unsigned peer = 0; peer < 3; peer++) {
        assert_int_equal(records[peer], 20);
        assert_int_equal(bytes[peer], peer == 0 ? 630 : peer == 1 ? 590 : 610);
    }
    bed_finish(&bed);
}

static void the_tally_counts_received_bytes_of_collectives_only(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct event reduce = {.bytes = 8, .bytes_in = 9, .peer = -1, .call = 40, .kind = EVENT_CALL};
    lap(&bed, &reduce, 3);
    reduce.flags = EVENT_DONE; /* its end, with the time of its start in place of the bytes */
    reduce.request = 5;
    lap(&bed, &reduce, 3 + CAPACITY);
    assert_int_equal(tally_total(&bed).bytes_in, 3 * 9);
    bed_finish(&bed);
}

static void polls_that_find_nothing_have_a_row_for_each_function(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    struct tally_row *test = tally_find_polls(&bed.writer, 50, 0);
    struct tally_row *probe = tally_find_polls(&bed.writer, 51, 0);
    struct tally_row *inside = tally_find_polls(&bed.writer, 50, 2);
    assert_true(test != probe && test != inside && probe != inside);
    assert_ptr_equal(tally_find_polls(&bed.writer, 50, 0), test);
    tally_add_poll(test, 30);
    tally_add_poll(test, 40);
    assert_int_equal(tally_read(test).records, 2);
    assert_int_equal(tally_read(test).ticks, 70);
    bed_finish(&bed);
}

/* Offsets and counts that another process has changed lead nowhere outside the ring. */
static void a_tail_without_sense_does_not_trip_the_writer(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    const uint64_t tails[] = {UINT64_MAX, UINT64_MAX / 2, 0, 1, 1000};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        atomic_store(&bed.writer.control->tail, tails[i]);
        for (unsigned k = 0; k < 10 * RING_MAINTAIN_EVERY; k++)
            leave(&bed, enter(&bed, k));
        assert_true(bed.writer.due > bed.writer.head);
    }
    bed_finish(&bed);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
    (void)number;
    alarms++;
}

/* Write so many records as the probe does. @return alarms that came */
static int alarms_of(struct bed *bed, unsigned records)
{
    alarms = 0;
    for (unsigned i = 0; i < records; i++) {
        leave(bed, enter(bed, i));
    }
    return alarms;
}

static void the_reader_is_woken_once_where_it_asked(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    signal(RING_ALARM_SIGNAL, count_alarm);
    assert_int_equal(alarms_of(&bed, 4 * RING_MAINTAIN_EVERY), 0); /* nobody asked */
    uint64_t head = bed.writer.head;
    ring_alarm_set(bed.writer.control, head + 2 * RING_MAINTAIN_EVERY, (int32_t)getpid());
    assert_int_equal(alarms_of(&bed, 2 * RING_MAINTAIN_EVERY - 1), 0);
    assert_int_equal(alarms_of(&bed, 1), 1);
    assert_int_equal(alarms_of(&bed, 9 * RING_MAINTAIN_EVERY), 0);
    ring_alarm_set(bed.writer.control, head, (int32_t)getpid()); /* passed already */
    assert_int_equal(alarms_of(&bed, RING_MAINTAIN_EVERY), 1);
    signal(RING_ALARM_SIGNAL, SIG_DFL);
    bed_finish(&bed);
}

/* kill(2) takes 0 and negative numbers for groups of processes, and 1 is never a reader. */
static void an_alarm_reaches_one_process_or_none(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed);
    signal(RING_ALARM_SIGNAL, count_alarm);
    const int32_t pids[] = {1, 0, -1, -(int32_t)getpgrp(), INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
        ring_alarm_set(bed.writer.control, bed.writer.head, pids[i]);
        errno = 42;
        assert_int_equal(alarms_of(&bed, RING_MAINTAIN_EVERY), 0);
        assert_int_equal(errno, 42); /* the application's */
    }
    signal(RING_ALARM_SIGNAL, SIG_DFL);
    bed_finish(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_comes_out_as_it_was_put),
        cmocka_unit_test(every_event_is_read_or_counted_as_lost),
        cmocka_unit_test(the_slot_being_written_is_never_read),
        cmocka_unit_test(a_call_in_progress_is_seen_until_it_ends),
        cmocka_unit_test(capture_gives_the_newest_without_consuming),
        cmocka_unit_test(a_control_block_that_does_not_fit_is_refused),
        cmocka_unit_test(a_head_that_goes_back_does_not_trip_the_reader),
        cmocka_unit_test(every_record_is_taken_or_in_the_tally),
        cmocka_unit_test(more_peers_than_rows_are_added_up_without_peer),
        cmocka_unit_test(records_of_a_pause_share_a_row),
        cmocka_unit_test(messages_of_nobody_stay_apart_without_rows),
        cmocka_unit_test(more_sizes_than_rows_are_added_up_by_peer),
        cmocka_unit_test(the_tally_counts_received_bytes_of_collectives_only),
        cmocka_unit_test(polls_that_find_nothing_have_a_row_for_each_function),
        cmocka_unit_test(a_tail_without_sense_does_not_trip_the_writer),
        cmocka_unit_test(the_reader_is_woken_once_where_it_asked),
        cmocka_unit_test(an_alarm_reaches_one_process_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
