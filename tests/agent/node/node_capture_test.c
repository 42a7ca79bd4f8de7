/* Captures: the newest records of a rank are read exactly and within bounds while it writes further
 * ones. */
#include "agent/node/node_capture.h"
#include "agent/node/windows.h"
#include "agent/node/windows_stages.h"

#include "holter/error.h"
#include "tests/agent/node/fake_rank.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SESSION "7e57c4"
#define SECOND UINT64_C(1000000000)
#define BEGIN (100 * SECOND)
#define NOW (BEGIN + SECOND / 2)
#define JOB "job.9"
#define CAPACITY 16384u

struct bed {
    uv_loop_t loop;
    struct fake_rank fake;
    struct journal *journal;
    struct census census;
    struct windows windows;
    uint64_t position; /* in the journal: what has been looked at */
    struct wire_arena arena;
    struct wire_message message;
};

static void no_wake(void *user)
{
    (void)user;
}

/* Daemon time is CLOCK_MONOTONIC here, so that windows are seconds. */
static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL || uv_loop_init(&bed->loop) != 0 ||
        journal_create(&bed->journal, JOURNAL_BYTES) != 0 ||
        fake_rank_create(&bed->fake, SESSION, (int32_t)getpid(), JOB, 2, 4, CAPACITY) != 0)
        return -1;
    bed->fake.segment->mono_start_ns = BEGIN;
    bed->census = (struct census){.loop = &bed->loop,
                                  .session = SESSION,
                                  .reader = 1,
                                  .journal = bed->journal,
                                  .wake = no_wake};
    journal_resume(bed->journal);
    if (windows_init(&bed->windows, &bed->census, bed->journal, "here") != 0)
        return -1;
    daemon_clock_init(&bed->windows.clock, 0, 0);
    bed->windows.clock.known = 1;
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    bed->position = journal_state(bed->journal)->end;
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    wire_arena_finish(&bed->arena);
    census_finish(&bed->census);
    uv_run(&bed->loop, UV_RUN_DEFAULT);
    windows_finish(&bed->windows);
    fake_rank_destroy(&bed->fake);
    journal_destroy(bed->journal);
    uv_loop_close(&bed->loop);
    free(bed);
    return 0;
}

static struct event send_of(uint64_t number)
{
    return (struct event){.t_enter = BEGIN + 10 * number,
                          .t_exit = BEGIN + 10 * number + 4,
                          .bytes = 1000 + number,
                          .peer = 3,
                          .tag = (int32_t)(number % 1000),
                          .kind = EVENT_CALL,
                          .call = CALL_Send,
                          .flags = EVENT_SEND | EVENT_POST | EVENT_DONE};
}

static void write_sends(struct bed *bed, uint64_t from, uint64_t count)
{
    for (uint64_t i = from; i < from + count; i++) {
        struct event event = send_of(i);
        fake_rank_write(&bed->fake, &event);
    }
}

static int capture_until(struct bed *bed, const char *ranks, uint64_t events, uint64_t alert,
                         uint64_t until_ns, uint64_t now_ns)
{
    struct wire_capture_ask ask = {.job = JOB,
                                   .id = 7,
                                   .asked_ns = 5,
                                   .events = events,
                                   .ranks = ranks,
                                   .reason = "to see",
                                   .alert = alert,
                                   .nodes = 1,
                                   .until_ns = until_ns};
    return windows_capture(&bed->windows, &ask, now_ns);
}

static int capture(struct bed *bed, const char *ranks, uint64_t events, uint64_t alert,
                   uint64_t now_ns)
{
    return capture_until(bed, ranks, events, alert, 0, now_ns);
}

/* The next captured message. @return NULL: there is none */
static const struct wire_captured *next(struct bed *bed)
{
    struct journal_message kept;
    while (journal_read(bed->journal, bed->position, &kept)) {
        bed->position = kept.next_position;
        assert_int_equal(wire_decode(&bed->message, &bed->arena, kept.bytes, kept.length, NULL), 0);
        if (bed->message.type == WIRE_TYPE_CAPTURED) {
            assert_int_equal(bed->message.captured.seq, kept.seq);
            return &bed->message.captured;
        }
    }
    return NULL;
}

static void newest_records_are_reported_the_oldest_first(void **state)
{
    struct bed *bed = *state;
    write_sends(bed, 0, 500);
    assert_true(capture(bed, "0-3", 20, 4, NOW));
    const struct wire_captured *m = next(bed);
    assert_non_null(m);
    assert_string_equal(m->job, JOB);
    assert_string_equal(m->host, "here");
    assert_string_equal(m->reason, "to see");
    assert_string_equal(m->fault, "");
    assert_int_equal(m->id, 7);
    assert_int_equal(m->alert, 4);
    assert_int_equal(m->at_ns, NOW);
    assert_int_equal(m->window, 100);
    assert_int_equal(m->more, 0);
    assert_int_equal(m->threads_count, 1);
    assert_int_equal(m->threads[0].rank, 2);
    assert_int_equal(m->threads[0].records, 500);
    assert_int_equal(m->threads[0].lapped, 0);
    assert_int_equal(m->events_count, 20);
    for (uint64_t i = 0; i < 20; i++) {
        const struct wire_capture_event_row *row = &m->events[i];
        struct event event = send_of(480 + i);
        assert_int_equal(row->number, 480 + i);
        assert_int_equal(m->at_ns + (uint64_t)row->begin_ns, event.t_enter);
        assert_int_equal(row->length_ns, 4);
        assert_int_equal(row->bytes, event.bytes);
        assert_int_equal(row->tag, event.tag);
        assert_int_equal(row->call, CALL_Send);
        assert_int_equal(row->flags, event.flags);
        assert_int_equal(row->source, PEER_NONE);
        assert_int_equal(m->comms[row->comm].id, 1);
        assert_string_equal(m->comms[row->comm].name, "MPI_COMM_WORLD");
    }
    assert_null(next(bed));
}

static void newest_calls_that_ended_by_a_time_are_reported(void **state)
{
    struct bed *bed = *state;
    write_sends(bed, 0, CAPACITY + 500);
    for (uint64_t newest = 900; newest < CAPACITY; newest *= 2) {
        uint64_t until_ns = BEGIN + 10 * newest + 4, now_ns = NOW + newest * SECOND;
        assert_true(capture_until(bed, "", 20, 0, until_ns, now_ns));
        const struct wire_captured *m = next(bed);
        assert_int_equal(m->at_ns, until_ns);
        assert_int_equal(m->threads[0].lapped, 0);
        assert_int_equal(m->events_count, 20);
        assert_int_equal(m->events[0].number, newest - 19);
        assert_int_equal(m->events[19].number, newest);
        assert_int_equal(m->events[19].begin_ns, -4);
    }
    /* What was overwritten is not there any more. */
    assert_true(capture_until(bed, "", 20, 0, BEGIN + 5004, NOW + CAPACITY * SECOND));
    assert_int_equal(next(bed)->events_count, 0);
}

static void call_in_progress_is_the_last(void **state)
{
    struct bed *bed = *state;
    write_sends(bed, 0, 3);
    struct event barrier = {.t_enter = BEGIN + SECOND / 4,
                            .kind = EVENT_CALL,
                            .call = CALL_Barrier,
                            .peer = PEER_NONE,
                            .tag = TAG_NONE};
    fake_rank_enter(&bed->fake, &barrier);
    assert_true(capture(bed, "", 2, 0, NOW));
    const struct wire_captured *m = next(bed);
    assert_non_null(m);
    assert_int_equal(m->events_count, 2);
    assert_int_equal(m->events[0].number, 2);
    assert_int_equal(m->events[0].running, 0);
    assert_int_equal(m->events[1].number, 3);
    assert_int_equal(m->events[1].running, 1);
    assert_int_equal(m->events[1].call, CALL_Barrier);
    assert_int_equal(m->events[1].length_ns, SECOND / 4);
}

static void each_kind_of_call_has_its_own_fifth_word(void **state)
{
    struct bed *bed = *state;
    struct event sendrecv = {.t_enter = BEGIN + 100,
                             .t_exit = BEGIN + 200,
                             .receive_ends = ring_ends(1, 17),
                             .peer = 3,
                             .kind = EVENT_CALL,
                             .call = CALL_Sendrecv,
                             .flags = EVENT_SEND | EVENT_POST | EVENT_DONE};
    struct event wait = {.t_enter = BEGIN + 300,
                         .t_exit = BEGIN + 400,
                         .t_post = BEGIN + 50,
                         .request = 9,
                         .kind = EVENT_CALL,
                         .call = CALL_Wait,
                         .flags = EVENT_RECV | EVENT_DONE};
    struct event gather = {.t_enter = BEGIN + 500,
                           .t_exit = BEGIN + 600,
                           .bytes = 8,
                           .bytes_in = 32,
                           .peer = PEER_NONE,
                           .kind = EVENT_CALL,
                           .call = CALL_Allgather};
    fake_rank_region(&bed->fake, 1, "solve");
    gather.region = 1;
    fake_rank_write(&bed->fake, &sendrecv);
    fake_rank_write(&bed->fake, &wait);
    fake_rank_write(&bed->fake, &gather);
    assert_true(capture(bed, "", 10, 0, NOW));
    const struct wire_captured *m = next(bed);
    assert_int_equal(m->events_count, 3);
    assert_int_equal(m->events[0].source, 1);
    assert_int_equal(m->events[0].source_tag, 17);
    assert_int_equal(m->events[0].posted_ns, 0);
    assert_int_equal(m->at_ns + (uint64_t)m->events[1].posted_ns, BEGIN + 50);
    assert_int_equal(m->events[1].request, 9);
    assert_int_equal(m->events[1].bytes_in, 0);
    assert_int_equal(m->events[2].bytes_in, 32);
    assert_string_equal(m->regions[m->events[2].region].name, "solve");
    assert_string_equal(m->regions[m->events[1].region].name, "");
}

/* Of the slots in use some are of another communicator; one names no rank of the job. */
static void neighbours_of_a_rank_are_reported_once_with_the_collectives_that_have_them(void **state)
{
    static const struct source_slot slots[] = {
        {77, 4, 0}, {88, 1, 0}, {77, 2, 0}, {77, 900, 0}, {77, 4, 0}};
    struct bed *bed = *state;
    struct event exchange = {.t_enter = BEGIN + 100,
                             .t_exit = BEGIN + 200,
                             .peer = PEER_NONE,
                             .tag = TAG_NONE,
                             .comm = 5,
                             .kind = EVENT_CALL,
                             .call = CALL_Neighbor_alltoall};
    fake_rank_comm(&bed->fake, 5, 77, 4, "ring");
    for (uint32_t i = 0; i < 5; i++)
        *segment_source(bed->fake.segment, i) = slots[i];
    write_sends(bed, 0, 1);
    assert_true(capture(bed, "", 10, 8, NOW));
    assert_int_equal(next(bed)->sources_count, 0);
    fake_rank_write(&bed->fake, &exchange);
    exchange.call = CALL_Start;
    exchange.tag = TAG_CALL - CALL_Neighbor_allgather_init;
    fake_rank_write(&bed->fake, &exchange);
    assert_true(capture(bed, "", 10, 0, NOW));
    const struct wire_captured *m = next(bed);
    static const uint64_t sources[] = {3, 1, 3};
    assert_int_equal(m->events_count, 3);
    assert_int_equal(m->sources_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(m->sources[i].comm, 77);
        assert_int_equal(m->sources[i].rank, 2);
        assert_int_equal(m->sources[i].source, sources[i]);
    }
}

static void calls_while_recording_was_paused_are_left_out(void **state)
{
    struct bed *bed = *state;
    struct event paused = send_of(1);
    paused.flags |= EVENT_PAUSED;
    write_sends(bed, 0, 1);
    fake_rank_write(&bed->fake, &paused);
    write_sends(bed, 2, 1);
    assert_true(capture(bed, "", 3, 0, NOW));
    const struct wire_captured *m = next(bed);
    assert_int_equal(m->events_count, 2);
    assert_int_equal(m->events[0].number, 0);
    assert_int_equal(m->events[1].number, 2);
}

static void calls_before_a_long_pause_fill_the_capture(void **state)
{
    struct bed *bed = *state;
    struct event paused = send_of(1);
    paused.flags |= EVENT_PAUSED;
    write_sends(bed, 0, 10);
    for (int i = 0; i < 20; i++)
        fake_rank_write(&bed->fake, &paused);
    write_sends(bed, 30, 2);
    assert_true(capture(bed, "", 6, 0, NOW));
    const struct wire_captured *m = next(bed);
    static const uint64_t numbers[] = {6, 7, 8, 9, 30, 31};
    assert_int_equal(m->events_count, 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(m->events[i].number, numbers[i]);
}

static void a_call_from_before_a_communicator_had_its_slot_names_none(void **state)
{
    struct bed *bed = *state;
    struct event event = send_of(0);
    event.comm = 5;
    fake_rank_comm(&bed->fake, 5, 77, 4, "ring");
    segment_comm(bed->fake.segment, 5)->since = send_of(1).t_enter;
    fake_rank_write(&bed->fake, &event);
    event = send_of(1);
    event.comm = 5;
    fake_rank_write(&bed->fake, &event);
    assert_true(capture(bed, "", 3, 0, NOW));
    const struct wire_captured *m = next(bed);
    assert_int_equal(m->events[0].comm, 0);
    assert_int_equal(m->comms[m->events[1].comm].id, 77);
}

static void part_without_its_call_is_left_out(void **state)
{
    struct bed *bed = *state;
    struct event part = send_of(1);
    part.kind = EVENT_PART;
    write_sends(bed, 0, 1);
    fake_rank_write(&bed->fake, &part);
    fake_rank_write(&bed->fake, &part);
    write_sends(bed, 2, 1);
    assert_true(capture(bed, "", 3, 0, NOW));
    const struct wire_captured *m = next(bed);
    assert_int_equal(m->events_count, 1);
    assert_int_equal(m->events[0].kind, EVENT_CALL);
    assert_int_equal(m->events[0].number, 3);
}

static void node_without_such_ranks_says_so(void **state)
{
    struct bed *bed = *state;
    write_sends(bed, 0, 10);
    assert_true(capture(bed, "0-1,3", 10, 0, NOW));
    const struct wire_captured *m = next(bed);
    assert_non_null(m);
    assert_int_equal(m->threads_count, 0);
    assert_int_equal(m->events_count, 0);
    assert_int_equal(m->more, 0);
}

static void other_job_and_unknown_clock_are_not_answered(void **state)
{
    struct bed *bed = *state;
    struct wire_capture_ask ask = {.job = "job.8", .id = 1, .events = 10, .ranks = ""};
    assert_false(windows_capture(&bed->windows, &ask, NOW));
    bed->windows.clock.known = 0;
    assert_false(capture(bed, "", 10, 0, NOW));
    bed->windows.clock.known = 1;
    assert_null(next(bed));
}

static void long_capture_comes_in_parts(void **state)
{
    struct bed *bed = *state;
    const struct wire_captured *m;
    uint64_t number = 0, parts = 0, more = 1;
    write_sends(bed, 0, 10000);
    assert_true(capture(bed, "", 65536, 0, NOW));
    while ((m = next(bed)) != NULL) {
        assert_int_equal(more, 1);
        assert_true(m->events_count <= CAPTURE_MESSAGE_RECORDS);
        assert_true(m->events_count == 0 || m->threads_count == 1);
        for (uint64_t i = 0; i < m->events_count; i++)
            assert_int_equal(m->events[i].number, number++);
        more = m->more;
        parts++;
    }
    assert_int_equal(more, 0);
    assert_int_equal(number, 10000);
    assert_int_equal(parts, 3);
}

static void captures_come_no_faster_than_allowed(void **state)
{
    struct bed *bed = *state;
    write_sends(bed, 0, 10);
    assert_true(capture(bed, "", 5, 0, NOW));
    assert_int_equal(next(bed)->events_count, 5);
    assert_true(capture(bed, "", 5, 0, NOW + WINDOWS_CAPTURE_NS - 1));
    const struct wire_captured *m = next(bed);
    assert_int_equal(m->events_count, 0);
    assert_string_not_equal(m->fault, "");
    assert_true(capture(bed, "", 5, 8, NOW + WINDOWS_CAPTURE_NS - 1)); /* for an alert */
    assert_int_equal(next(bed)->events_count, 5);
    assert_true(capture(bed, "", 5, 9, NOW + WINDOWS_CAPTURE_ALERT_NS));
    assert_int_equal(next(bed)->events_count, 0);
    assert_true(capture(bed, "", 5, 0, NOW + WINDOWS_CAPTURE_ALERT_NS));
    assert_int_equal(next(bed)->events_count, 5);
}

static void windows_come_before_captures(void **state)
{
    struct bed *bed = *state;
    char *bytes = calloc(1, 3u << 20);
    struct wire_bye bye = {.seq = 1};
    struct wire_buffer buffer = {0};
    assert_int_equal(wire_encode(&buffer, WIRE_TYPE_BYE, &bye), 0);
    memcpy(bytes, buffer.bytes, buffer.length);
    write_sends(bed, 0, 10);
    assert_int_equal(windows_append(&bed->windows, WIRE_TYPE_WINDOW, bytes, 3u << 20), 0);
    windows_commit(&bed->windows);
    bed->position = journal_state(bed->journal)->end;
    assert_true(capture(bed, "", 5, 0, NOW));
    const struct wire_captured *m = next(bed);
    assert_int_equal(m->events_count, 0);
    assert_non_null(strstr(m->fault, "backlog"));
    wire_buffer_finish(&buffer);
    free(bytes);
}

static void garbage_in_a_ring_is_reported_as_data_or_not_at_all(void **state)
{
    struct bed *bed = *state;
    uint64_t seed = 12345, told = 0;
    for (int i = 0; i < 5000; i++) {
        struct event event;
        unsigned char *at = (unsigned char *)&event;
        for (size_t k = 0; k < sizeof event; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            at[k] = (unsigned char)(seed >> 56);
        }
        if (i % 4 != 0)
            event.kind = (uint16_t)(i % 4);
        event.flags &= (uint16_t)~EVENT_PAUSED; /* those would be left out */
        fake_rank_write(&bed->fake, &event);
    }
    bed->fake.segment->comms_offset = bed->fake.segment->regions_offset = UINT64_MAX;
    assert_true(capture(bed, "", 65536, 0, NOW));
    const struct wire_captured *m;
    while ((m = next(bed)) != NULL) {
        for (uint64_t i = 0; i < m->events_count; i++, told++) {
            assert_true(m->events[i].thread < m->threads_count);
            assert_true(m->events[i].comm < m->comms_count);
            assert_true(m->events[i].region < m->regions_count);
            assert_true(m->events[i].begin_ns <= 0);
        }
    }
    assert_true(told >= 3749 && told <= 5000);
}

/* A process that ends without MPI_Finalize, and the segment that it leaves behind. */
static void rank_that_dies_is_captured_before_it_is_removed(void **state)
{
    struct bed *bed = *state;
    struct fake_rank other;
    int gate[2], status;
    char byte;
    assert_int_equal(pipe(gate), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 0 ? 7 : 8);
    }
    close(gate[0]);
    assert_int_equal(fake_rank_create(&other, SESSION, (int32_t)pid, JOB, 3, 4, 1024), 0);
    other.segment->mono_start_ns = BEGIN;
    census_add_segment(&bed->census, other.name, (int32_t)pid);
    windows_process(&bed->windows, BEGIN + 2000);
    write_sends(bed, 0, 5);
    struct event event = send_of(77);
    fake_rank_write(&other, &event);
    windows_process(&bed->windows, BEGIN + 3000);
    assert_null(next(bed)); /* all live */
    close(gate[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    uv_run(&bed->loop, UV_RUN_NOWAIT); /* that it has ended is an event of the loop */
    windows_process(&bed->windows, NOW);
    const struct wire_captured *m = next(bed);
    assert_non_null(m);
    assert_int_equal(m->id, 0);
    assert_string_equal(m->reason, "rank 3 died");
    assert_int_equal(m->threads_count, 2); /* of those that live, too */
    assert_int_equal(m->events_count, 6);
    assert_int_equal(m->threads[1].rank, 3);
    assert_int_equal(m->events[5].tag, 77);
    windows_process(&bed->windows, BEGIN + SECOND + 1000); /* it goes, and is not captured again */
    assert_null(next(bed));
    fake_rank_destroy(&other);
}

/* ---- while it is being overwritten ----------------------------------------- */

struct writer {
    struct bed *bed;
    _Atomic int stop;
};

static void *write_on(void *user)
{
    struct writer *writer = user;
    for (uint64_t i = 0; !atomic_load(&writer->stop); i++)
        write_sends(writer->bed, i, 1);
    return NULL;
}

static void what_is_overwritten_meanwhile_is_left_out_and_counted(void **state)
{
    struct bed *bed = *state;
    struct writer writer = {.bed = bed};
    struct rank_capture read = {0};
    const struct rank *rank;
    pthread_t thread;
    assert_int_equal(census_ranks(&bed->census, bed->census.jobs, &rank, 1), 1);
    assert_int_equal(pthread_create(&thread, NULL, write_on, &writer), 0);
    for (int round = 0; round < 50; round++) {
        assert_int_equal(rank_capture_read(&read, rank, RANK_CAPTURE_MAXIMUM, NULL, UINT64_MAX), 0);
        for (size_t i = 0; i < read.count; i++) {
            const struct event *event = &read.list[i].event;
            assert_int_equal(event->t_enter, BEGIN + 10 * event->seq);
            assert_int_equal(event->bytes, 1000 + event->seq);
            assert_true(i == 0 || event->seq == read.list[i - 1].event.seq + 1);
        }
        assert_true(read.count + read.lapped[0] <= RANK_CAPTURE_MAXIMUM + 1);
    }
    atomic_store(&writer.stop, 1);
    pthread_join(thread, NULL);
    rank_capture_finish(&read);
}

static struct ring_writer second_ring(struct bed *bed)
{
    struct ring_control *control = segment_ring(bed->fake.segment, 1);
    atomic_store(&control->state, RING_ACTIVE);
    control->tid = 4711;
    struct ring_writer writer;
    ring_writer_init(&writer, bed->fake.segment, control);
    return writer;
}

static void newest_records_of_all_threads_together_are_reported(void **state)
{
    struct bed *bed = *state;
    struct ring_writer first = bed->fake.writer, second = second_ring(bed);
    uint64_t seed = 7, by_ring[2] = {0, 0};
    for (uint64_t i = 0; i < 60; i++) {
        int other = (int)((seed = seed * 6364136223846793005u + 1) >> 63);
        struct event event = send_of(i);
        bed->fake.writer = other ? second : first;
        fake_rank_write(&bed->fake, &event);
        *(other ? &second : &first) = bed->fake.writer;
        by_ring[other] += i >= 20;
    }
    bed->fake.writer = first;
    windows_process(&bed->windows, BEGIN + 2000); /* the further thread is seen */
    assert_true(capture(bed, "", 40, 0, NOW));
    const struct wire_captured *m = next(bed);
    assert_int_equal(m->events_count, 40);
    assert_int_equal(m->threads_count, 2);
    assert_int_equal(m->threads[1].thread, 1);
    assert_int_equal(m->threads[1].tid, 4711);
    uint64_t sums = 0, counted[2] = {0, 0};
    for (uint64_t i = 0; i < 40; i++) {
        sums += m->events[i].bytes - 1000;
        counted[m->events[i].thread]++;
    }
    assert_int_equal(sums, 40 * (20 + 59) / 2);
    assert_int_equal(counted[0], by_ring[0]);
    assert_int_equal(counted[1], by_ring[1]);
}

int main(void)
{
#define WITH_BED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_BED(newest_records_are_reported_the_oldest_first),
        WITH_BED(newest_calls_that_ended_by_a_time_are_reported),
        WITH_BED(call_in_progress_is_the_last),
        WITH_BED(each_kind_of_call_has_its_own_fifth_word),
        WITH_BED(neighbours_of_a_rank_are_reported_once_with_the_collectives_that_have_them),
        WITH_BED(calls_while_recording_was_paused_are_left_out),
        WITH_BED(calls_before_a_long_pause_fill_the_capture),
        WITH_BED(a_call_from_before_a_communicator_had_its_slot_names_none),
        WITH_BED(part_without_its_call_is_left_out),
        WITH_BED(node_without_such_ranks_says_so),
        WITH_BED(other_job_and_unknown_clock_are_not_answered),
        WITH_BED(long_capture_comes_in_parts),
        WITH_BED(captures_come_no_faster_than_allowed),
        WITH_BED(windows_come_before_captures),
        WITH_BED(garbage_in_a_ring_is_reported_as_data_or_not_at_all),
        WITH_BED(rank_that_dies_is_captured_before_it_is_removed),
        WITH_BED(what_is_overwritten_meanwhile_is_left_out_and_counted),
        WITH_BED(newest_records_of_all_threads_together_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
