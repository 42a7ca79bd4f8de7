/* Captures that are read from a recording. */
#include "daemon/export/captured_calls.h"
#include "holter/call.h"
#include "holter/event.h"
#include "proto/capture_request.h"
#include "tests/daemon/export/recorded.h"
#include "tests/daemon/storage/recording_writer.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ASKED_NS (RECORDED_BEGIN_NS + UINT64_C(2000000000))
#define MOST_EVENTS 8u

struct bed {
    char directory[DIRECTORY_ROOM], path[80];
};

/* A node has been asked for the records of a rank until a time: it has sent those with the numbers
 * from `first` to 7.
 * @param asked_id  number that the daemon gave the request; another one than `id` when it had to be
 * changed */
static void add_capture(const struct bed *bed, uint64_t id, uint64_t asked_id, uint64_t asked_ns,
                        uint64_t rank, uint64_t first)
{
    struct recording *recording;
    char why[300];
    struct wire_capture_thread_row thread = {.rank = rank, .records = MOST_EVENTS};
    struct wire_capture_event_row events[MOST_EVENTS];
    for (uint64_t i = first; i < MOST_EVENTS; i++)
        events[i - first] = (struct wire_capture_event_row){.number = i,
                                                            .kind = EVENT_CALL,
                                                            .call = CALL_Barrier,
                                                            .begin_ns = 1000 * (int64_t)i - 9000,
                                                            .length_ns = 10,
                                                            .peer = PEER_NONE,
                                                            .tag = TAG_NONE};
    struct wire_captured m = {.seq = 100 + id,
                              .job = "job.0",
                              .host = "alpha",
                              .window = ASKED_NS / 1000000000,
                              .id = asked_id,
                              .asked_ns = asked_ns,
                              .at_ns = asked_ns,
                              .threads = &thread,
                              .threads_count = 1,
                              .events = events,
                              .events_count = MOST_EVENTS - first,
                              .nodes = 1};
    struct wire_capture told = wire_capture_from_captured(&m);
    told.id = id;
    told.answered = 1;
    told.records = m.events_count;
    assert_int_equal(recording_open(&recording, bed->path, why, sizeof(why)), 0);
    kept_message(recording,
                 (struct recorded){.instance = 1,
                                   .seq = m.seq,
                                   .time_ns = ASKED_NS + 1000000000 * id,
                                   .received_ns = ASKED_NS + 1000000000 * id},
                 WIRE_TYPE_CAPTURED, &m);
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_CAPTURE, &told), 0);
    assert_int_equal(recording_close(recording), 0);
}

static void set_up(struct bed *bed)
{
    assert_int_equal(directory_make(bed->directory), 0);
    snprintf(bed->path, sizeof(bed->path), "%s/a.hrec", bed->directory);
    recorded_make(bed->path);
}

static void assert_capture(const struct bed *bed, uint64_t number, uint64_t rank, uint64_t records)
{
    struct captured_list list;
    struct tables *tables;
    char why[600];
    assert_int_equal(tables_open(&tables, bed->path, why, sizeof(why)), 0);
    assert_int_equal(captured_list_read(&list, tables, bed->path, number, NULL, why, sizeof(why)),
                     0);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.list[0].calls.thread_count, 1);
    assert_int_equal(list.list[0].calls.threads[0].rank, rank);
    assert_int_equal(list.list[0].calls.records, records);
    captured_list_finish(&list);
    tables_close(tables);
}

/* As when somebody asks for further ranks, or for more records, before the same moment. */
static void captures_until_the_same_time_are_kept_apart(void **state)
{
    struct bed bed;
    (void)state;
    set_up(&bed);
    add_capture(&bed, 1, 1, ASKED_NS, 0, 6);
    add_capture(&bed, 2, 2, ASKED_NS, 1, 6);
    add_capture(&bed, 3, 3, ASKED_NS, 0, 2);
    assert_capture(&bed, 1, 0, 2);
    assert_capture(&bed, 2, 1, 2);
    assert_capture(&bed, 3, 0, 6);
    directory_remove(bed.directory);
}

/* A daemon that was started again counts from 1 again. */
static void a_capture_whose_number_was_changed_is_found_by_its_time(void **state)
{
    struct bed bed;
    (void)state;
    set_up(&bed);
    add_capture(&bed, 1, 1, ASKED_NS, 0, 6);
    add_capture(&bed, 2, 1, ASKED_NS + 5, 1, 5);
    assert_capture(&bed, 1, 0, 2);
    assert_capture(&bed, 2, 1, 3);
    directory_remove(bed.directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_until_the_same_time_are_kept_apart),
        cmocka_unit_test(a_capture_whose_number_was_changed_is_found_by_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
