/* Windows from ranks to journal, with clocks that the test sets: what a daemon would be sent. */
#include "agent/node/windows.h"

#include "holter/size_class.h"
#include "tests/agent/node/fake_rank.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SESSION "7e57c"
#define SECOND UINT64_C(1000000000)
#define BEGIN (100 * SECOND) /* of the rank; CLOCK_MONOTONIC as the test has it */
#define JOB "job.7"

struct bed {
    uv_loop_t loop;
    struct fake_rank fake;
    struct journal *journal;
    struct census census;
    struct windows windows;
    uint64_t position; /* in the journal: what has been looked at */
};

static void no_wake(void *user)
{
    (void)user;
}

static void start_worker(struct bed *bed)
{
    bed->census = (struct census){.loop = &bed->loop,
                                  .session = SESSION,
                                  .reader = 1,
                                  .journal = bed->journal,
                                  .wake = no_wake};
    journal_resume(bed->journal);
    assert_int_equal(windows_init(&bed->windows, &bed->census, bed->journal, "here"), 0);
}

static void stop_worker(struct bed *bed)
{
    census_finish(&bed->census);
    uv_run(&bed->loop, UV_RUN_DEFAULT);
    windows_finish(&bed->windows);
}

/* Daemon time is CLOCK_MONOTONIC here, so that windows are seconds. */
static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL || uv_loop_init(&bed->loop) != 0 ||
        journal_create(&bed->journal, 1u << 20) != 0 ||
        fake_rank_create(&bed->fake, SESSION, (int32_t)getpid(), JOB, -1, 0, 1024) != 0)
        return -1;
    bed->fake.segment->mono_start_ns = BEGIN;
    start_worker(bed);
    daemon_clock_init(&bed->windows.clock, 0, 0);
    bed->windows.clock.known = 1;
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    stop_worker(bed);
    fake_rank_destroy(&bed->fake);
    journal_destroy(bed->journal);
    uv_loop_close(&bed->loop);
    free(bed);
    return 0;
}

static void make_known(struct bed *bed)
{
    atomic_store(&bed->fake.segment->size, 4);
    atomic_store(&bed->fake.segment->rank, 2);
}

static void write_call(struct bed *bed, uint16_t call, uint64_t enter, uint64_t leave)
{
    struct event event = {.t_enter = enter,
                          .t_exit = leave,
                          .kind = EVENT_CALL,
                          .call = call,
                          .peer = PEER_NONE,
                          .comm = COMM_SLOT_NONE};
    fake_rank_write(&bed->fake, &event);
}

struct seen {
    uint64_t windows, first, last, calls, events, lost, time, max_time, flags, ranks_messages,
        deaths;
    struct wire_death_row death; /* the last one */
};

static uint64_t time_of(const struct wire_rank_row *row)
{
    return row->send_ns + row->recv_ns + row->wait_ns + row->poll_ns + row->collective_ns +
           row->one_sided_ns + row->io_ns + row->other_ns;
}

static void see_window(const struct wire_window *window, struct seen *seen)
{
    assert_string_equal(window->job, JOB);
    assert_true(seen->windows == 0 || window->window == seen->last + 1);
    seen->first = seen->windows == 0 ? window->window : seen->first;
    seen->last = window->window;
    seen->windows++;
    seen->flags |= window->flags;
    seen->deaths += window->deaths_count;
    seen->death = window->deaths_count > 0 ? window->deaths[0] : seen->death;
    for (uint64_t i = 0; i < window->ranks_count; i++) {
        const struct wire_rank_row *row = &window->ranks[i];
        seen->calls += row->calls;
        seen->events += row->events;
        seen->lost += row->lost;
        seen->time += time_of(row);
        seen->max_time = time_of(row) > seen->max_time ? time_of(row) : seen->max_time;
    }
}

/* What was committed since the last look. */
static struct seen look(struct bed *bed)
{
    struct seen seen = {0};
    struct wire_arena arena = {0};
    struct journal_message kept;
    for (; journal_read(bed->journal, bed->position, &kept); bed->position = kept.next_position) {
        struct wire_message message;
        assert_int_equal(wire_decode(&message, &arena, kept.bytes, kept.length, NULL), 0);
        if (message.type == WIRE_TYPE_WINDOW)
            see_window(&message.window, &seen);
        seen.ranks_messages += message.type == WIRE_TYPE_RANKS;
    }
    wire_arena_finish(&arena);
    return seen;
}

static void no_window_holds_more_time_than_it_is_long(void **state)
{
    struct bed *bed = *state;
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + SECOND);
    assert_int_equal(look(bed).windows, 0);
    write_call(bed, CALL_Init, BEGIN + SECOND / 10, BEGIN + 7 * SECOND / 2);
    make_known(bed);
    windows_process(&bed->windows, BEGIN + 7 * SECOND / 2 + 1000);
    struct seen early = look(bed);
    assert_int_equal(early.windows, 3);
    assert_int_equal(early.first, 100);
    assert_int_equal(early.last, 102);
    assert_int_equal(early.calls, 0);
    assert_int_equal(early.time, 29 * SECOND / 10);
    assert_true(early.max_time <= SECOND);
    assert_int_equal(early.ranks_messages, 1);
    windows_process(&bed->windows, BEGIN + 4 * SECOND);
    struct seen now = look(bed);
    assert_int_equal(now.windows, 1);
    assert_int_equal(now.first, 103);
    assert_int_equal(now.calls, 1);
    assert_int_equal(now.time, SECOND / 2);
    assert_int_equal(early.flags | now.flags, 0);
}

static void agent_that_slept_closes_each_window_by_itself(void **state)
{
    struct bed *bed = *state;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    for (uint64_t i = 0; i < 50; i++)
        write_call(bed, CALL_Barrier, BEGIN + i * SECOND / 10,
                   BEGIN + i * SECOND / 10 + SECOND / 20);
    windows_process(&bed->windows, BEGIN + 5 * SECOND);
    struct seen seen = look(bed);
    assert_int_equal(seen.windows, 5);
    assert_int_equal(seen.calls, 50);
    assert_int_equal(seen.max_time, SECOND / 2);
}

/* The daemon was started again after the clock of its machine was. */
static void windows_go_on_when_daemon_time_is_set_back(void **state)
{
    struct bed *bed = *state;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + SECOND);
    assert_int_equal(look(bed).last, 100);
    bed->windows.clock.mapping.mono_ns = 60 * SECOND;
    bed->windows.clock.jumps++;
    windows_process(&bed->windows, BEGIN + SECOND + SECOND / 2);
    struct seen open = look(bed);
    assert_int_equal(open.last, 101);
    assert_true(open.flags & WINDOW_CLOCK);
    windows_process(&bed->windows, BEGIN + 3 * SECOND);
    struct seen later = look(bed);
    assert_int_equal(later.first, 41);
    assert_int_equal(later.last, 42);
}

/* Each drain costs the agent and the rank, so there are few. */
static void rings_are_left_alone_until_one_is_half_full_or_the_window_ends(void **state)
{
    struct bed *bed = *state;
    const struct ring_control *control = segment_ring(bed->fake.segment, 0);
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    write_call(bed, CALL_Barrier, BEGIN + 2000, BEGIN + 3000);
    windows_process(&bed->windows, BEGIN + SECOND / 2);
    assert_int_equal(atomic_load(&control->tail), 0);
    windows_ask_drain(&bed->windows);
    assert_true(windows_next_due(&bed->windows, BEGIN + SECOND / 2) <= BEGIN + SECOND / 2);
    windows_process(&bed->windows, BEGIN + SECOND / 2 + 1000);
    assert_int_equal(atomic_load(&control->tail), 1);
    write_call(bed, CALL_Barrier, BEGIN + 6 * SECOND / 10, BEGIN + 6 * SECOND / 10 + 1000);
    assert_true(windows_next_due(&bed->windows, BEGIN + 9 * SECOND / 10) <= BEGIN + SECOND);
    windows_process(&bed->windows, BEGIN + 9 * SECOND / 10);
    assert_int_equal(atomic_load(&control->tail), 1);
    windows_process(&bed->windows, BEGIN + SECOND);
    assert_int_equal(atomic_load(&control->tail), 2);
    assert_int_equal(look(bed).calls, 2);
}

/* ---- counts of interfaces ------------------------------------------------ */

static void put_file(const char *root, const char *path, unsigned value)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *at = strchr(whole + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fprintf(file, "%u\n", value);
    fclose(file);
}

static void put_bytes(const char *root, unsigned sent, unsigned received)
{
    put_file(root, "class/net/eth0/statistics/tx_bytes", sent);
    put_file(root, "class/net/eth0/statistics/rx_bytes", received);
}

/* Bytes and nanoseconds of interfaces in all windows that were committed since the last look. */
static struct wire_counter_row counted(struct bed *bed, unsigned *rows)
{
    struct wire_counter_row sum = {0};
    struct wire_arena arena = {0};
    struct journal_message kept;
    for (*rows = 0; journal_read(bed->journal, bed->position, &kept);
         bed->position = kept.next_position) {
        struct wire_message message;
        assert_int_equal(wire_decode(&message, &arena, kept.bytes, kept.length, NULL), 0);
        for (uint64_t i = 0; message.type == WIRE_TYPE_WINDOW && i < message.window.counters_count;
             i++) {
            const struct wire_counter_row *row = &message.window.counters[i];
            assert_string_equal(row->name, "eth0");
            sum.sent += row->sent;
            sum.received += row->received;
            sum.length_ns += row->length_ns;
            ++*rows;
        }
    }
    wire_arena_finish(&arena);
    return sum;
}

static void windows_tell_what_interfaces_counted_since_the_job_was_met(void **state)
{
    struct bed *bed = *state;
    char root[DIRECTORY_ROOM];
    unsigned rows;
    assert_int_equal(directory_make(root), 0);
    put_bytes(root, 1000, 100);
    assert_int_equal(counters_create(&bed->windows.counters, root, 0), 0);
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    counted(bed, &rows);
    assert_int_equal(rows, 0);
    put_bytes(root, 1500, 101);
    windows_process(&bed->windows, BEGIN + SECOND + 5);
    struct wire_counter_row sum = counted(bed, &rows);
    assert_int_equal(rows, 1);
    assert_int_equal(sum.sent, 500);
    assert_int_equal(sum.received, 1);
    assert_int_equal(sum.length_ns, SECOND + 5 - 1000);
    put_bytes(root, 1900, 101);
    windows_process(&bed->windows, BEGIN + 4 * SECOND + 5); /* three windows end together */
    sum = counted(bed, &rows);
    assert_int_equal(rows, 1);
    assert_int_equal(sum.sent, 400);
    assert_int_equal(sum.length_ns, 3 * SECOND);
    counters_destroy(bed->windows.counters);
    directory_remove(root);
}

/* How often the process was looked at in the last of the windows since the last look. */
static uint64_t sampled(struct bed *bed)
{
    struct wire_arena arena = {0};
    struct journal_message kept;
    uint64_t samples = 0;
    for (; journal_read(bed->journal, bed->position, &kept); bed->position = kept.next_position) {
        struct wire_message message;
        assert_int_equal(wire_decode(&message, &arena, kept.bytes, kept.length, NULL), 0);
        if (message.type == WIRE_TYPE_WINDOW && message.window.processes_count > 0)
            samples = message.window.processes[0].samples;
    }
    wire_arena_finish(&arena);
    return samples;
}

static void process_is_looked_at_once_where_a_window_ends(void **state)
{
    struct bed *bed = *state;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    for (uint64_t quarter = 1; quarter <= 8; quarter++)
        windows_process(&bed->windows, BEGIN + quarter * SECOND / 4);
    assert_int_equal(sampled(bed), 4);
}

static void worker_that_takes_over_goes_on_where_the_killed_one_was(void **state)
{
    struct bed *bed = *state;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    write_call(bed, CALL_Barrier, BEGIN + 2000, BEGIN + 3000);
    windows_process(&bed->windows, BEGIN + SECOND);
    write_call(bed, CALL_Barrier, BEGIN + SECOND + 2000, BEGIN + SECOND + 3000);
    windows_process(&bed->windows, BEGIN + SECOND + SECOND / 2); /* summed, not committed */
    struct seen before = look(bed);
    stop_worker(bed);
    journal_count_restart(bed->journal);
    start_worker(bed);
    write_call(bed, CALL_Barrier, BEGIN + 3 * SECOND, BEGIN + 3 * SECOND + 500);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 4 * SECOND);
    struct seen after = look(bed);
    assert_int_equal(before.windows, 1);
    assert_int_equal(before.calls, 1);
    assert_int_equal(after.windows, 3);
    assert_int_equal(after.first, 101);
    assert_int_equal(after.calls, 2);
    assert_int_equal(after.time, 1500);
    assert_int_equal(after.flags, WINDOW_RESUMED);
}

static void a_job_that_begins_after_a_worker_took_over_is_not_resumed(void **state)
{
    struct bed *bed = *state;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + SECOND + 1);
    stop_worker(bed);
    fake_rank_destroy(&bed->fake);
    start_worker(bed);
    windows_process(&bed->windows, BEGIN + SECOND + 2);
    look(bed);
    assert_int_equal(fake_rank_create(&bed->fake, SESSION, (int32_t)getpid(), JOB, 2, 4, 1024), 0);
    bed->fake.segment->mono_start_ns = BEGIN + 2 * SECOND;
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 3 * SECOND + 1);
    windows_process(&bed->windows, BEGIN + 4 * SECOND + 1);
    const struct seen seen = look(bed);
    assert_true(seen.windows > 0);
    assert_int_equal(seen.flags & WINDOW_RESUMED, 0);
}

/* The segment of a process that is gone by the time the agent comes to it. */
static void replace_by_dead_process(struct bed *bed)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    fake_rank_destroy(&bed->fake);
    assert_int_equal(fake_rank_create(&bed->fake, SESSION, (int32_t)pid, JOB, 2, 4, 1024), 0);
    bed->fake.segment->mono_start_ns = BEGIN;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)pid);
}

/* The agent had no core for a while: the rank ended after the window that is still open. */
static void rank_that_has_ended_is_read_to_its_last_record(void **state)
{
    struct bed *bed = *state;
    replace_by_dead_process(bed);
    write_call(bed, CALL_Barrier, BEGIN + 1000, BEGIN + 2000);
    write_call(bed, CALL_Barrier, BEGIN + 2 * SECOND, BEGIN + 2 * SECOND + 1000);
    write_call(bed, CALL_Finalize, BEGIN + 3 * SECOND, BEGIN + 3 * SECOND + 1000);
    atomic_store(&bed->fake.segment->state, SEGMENT_FINALIZED);
    windows_process(&bed->windows, BEGIN + SECOND / 2);
    windows_process(&bed->windows, BEGIN + 4 * SECOND);
    struct seen seen = look(bed);
    assert_int_equal(seen.calls, 3);
    assert_int_equal(seen.lost, 0);
    assert_int_equal(seen.deaths, 0); /* it has finalized */
}

/* Containers with names of their own may share /dev/shm: each has an agent. */
static void a_rank_of_another_host_is_left_to_the_agent_of_that_host(void **state)
{
    struct bed *bed = *state;
    make_known(bed);
    strcpy(bed->fake.segment->host, "elsewhere");
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + SECOND / 2);
    assert_true(census_empty(&bed->census));
    assert_null(bed->census.jobs);
    assert_true(segment_is_own(bed->fake.name)); /* it is still there */
}

/* mpiexec may have the port of the one before, and its ranks that one's job id. */
static void ranks_of_the_next_launch_under_the_same_id_are_another_job(void **state)
{
    struct bed *bed = *state;
    struct fake_rank next;
    replace_by_dead_process(bed);
    write_call(bed, CALL_Finalize, BEGIN + 1000, BEGIN + 2000);
    atomic_store(&bed->fake.segment->state, SEGMENT_FINALIZED);
    windows_process(&bed->windows, BEGIN + SECOND / 2);
    assert_non_null(bed->census.jobs); /* whose registrations have not been read */
    uv_run(&bed->loop, UV_RUN_DEFAULT);
    assert_int_equal(fake_rank_create(&next, SESSION, (int32_t)getpid(), JOB, 2, 4, 1024), 0);
    next.segment->mono_start_ns = BEGIN + SECOND / 4;
    census_add_segment(&bed->census, next.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + SECOND / 2 + 1);
    const struct seen first = look(bed);
    assert_int_equal(first.flags, WINDOW_FINAL | WINDOW_FINALIZED);
    assert_int_equal(first.calls, 1);
    windows_process(&bed->windows, BEGIN + SECOND / 2 + 2);
    assert_non_null(bed->census.jobs);
    assert_int_equal(bed->census.jobs->member_count, 1);
    assert_int_equal(bed->census.jobs->members[0].pid, (uint64_t)getpid());
    fake_rank_destroy(&next);
}

/* As when its segment was truncated, of which the agent sees zeros from then on. */
static void ended_rank_whose_ring_has_gone_back_is_not_waited_for(void **state)
{
    struct bed *bed = *state;
    replace_by_dead_process(bed);
    for (uint64_t i = 0; i < 5; i++)
        write_call(bed, CALL_Barrier, BEGIN + 1000 * i, BEGIN + 1000 * i + 500);
    write_call(bed, CALL_Barrier, BEGIN + SECOND, BEGIN + SECOND + 500);
    windows_process(&bed->windows, BEGIN + SECOND / 2);
    assert_int_equal(bed->census.joined, 1);
    atomic_store(&segment_ring(bed->fake.segment, 0)->head, 0);
    windows_process(&bed->windows, BEGIN + 5 * SECOND);
    assert_int_equal(bed->census.joined, 0);
    windows_process(&bed->windows, BEGIN + 6 * SECOND);
    assert_true(census_empty(&bed->census));
    assert_int_equal(look(bed).deaths, 1);
}

/* Whatever its head claims, the records are not there, nor does anybody write them any more. */
static void ended_rank_whose_ring_is_overwritten_is_not_waited_for(void **state)
{
    struct bed *bed = *state;
    replace_by_dead_process(bed);
    write_call(bed, CALL_Barrier, BEGIN + SECOND, BEGIN + SECOND + 500);
    windows_process(&bed->windows, BEGIN + SECOND / 2);
    atomic_store(&segment_ring(bed->fake.segment, 0)->head, UINT64_C(1) << 40);
    for (uint64_t s = 2; s < 20; s++)
        windows_process(&bed->windows, BEGIN + s * SECOND);
    assert_true(census_empty(&bed->census));
    assert_int_equal(look(bed).deaths, 1);
}

static void windows_before_the_first_contact_get_their_numbers_then(void **state)
{
    struct bed *bed = *state;
    bed->windows.clock.known = 0;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    windows_process(&bed->windows, BEGIN + 3 * SECOND);
    /* the daemon is 50 s behind the guess */
    struct wire_clock_answer answer = {.t1_ns = BEGIN + 3 * SECOND + 1000,
                                       .t2_ns = BEGIN - 47 * SECOND + 2000,
                                       .t3_ns = BEGIN - 47 * SECOND + 2000};
    windows_observe_daemon(&bed->windows, &answer, BEGIN + 3 * SECOND + 3000);
    windows_process(&bed->windows, BEGIN + 4 * SECOND);
    struct seen seen = look(bed);
    assert_int_equal(seen.windows, 4);
    assert_int_equal(seen.first, 50);
    assert_int_equal(seen.last, 53);
    assert_int_equal(seen.flags, WINDOW_CLOCK);
}

/* Windows follow another daemon slowly; events are timed by it at once. */
static void deaths_are_reported_by_the_best_estimate_of_daemon_time(void **state)
{
    struct bed *bed = *state;
    struct wire_clock_answer answer = {
        .t1_ns = BEGIN, .t2_ns = BEGIN + SECOND / 20 + 100, .t3_ns = BEGIN + SECOND / 20 + 100};
    daemon_clock_restart(&bed->windows.clock);
    windows_observe_daemon(&bed->windows, &answer, BEGIN + 200);
    replace_by_dead_process(bed);
    write_call(bed, CALL_Barrier, BEGIN + 1000, BEGIN + 2000);
    windows_process(&bed->windows, BEGIN + SECOND / 2);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    struct seen seen = look(bed);
    assert_int_equal(seen.deaths, 1);
    assert_int_equal(seen.death.at_ns, BEGIN + SECOND / 20 + 2000);
}

/* A rank dies within the first window, before a daemon that is 50 s behind the guess answers. */
static void assert_death_moves(struct bed *bed, uint64_t contact_ns)
{
    bed->windows.clock.known = 0;
    replace_by_dead_process(bed);
    write_call(bed, CALL_Barrier, BEGIN + 1000, BEGIN + 2000);
    windows_process(&bed->windows, BEGIN + SECOND / 2);
    assert_int_equal(bed->census.jobs->death_count, 1);
    const uint64_t ended_ns = bed->census.jobs->deaths[0].ended_ns;
    windows_process(&bed->windows, contact_ns);
    struct wire_clock_answer answer = {.t1_ns = contact_ns,
                                       .t2_ns = contact_ns - 50 * SECOND + 100,
                                       .t3_ns = contact_ns - 50 * SECOND + 100};
    windows_observe_daemon(&bed->windows, &answer, contact_ns + 200);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    struct seen seen = look(bed);
    assert_int_equal(seen.deaths, 1);
    assert_int_equal(seen.death.at_ns, BEGIN + 2000 - 50 * SECOND);
    assert_int_equal(seen.death.ended_ns, ended_ns - 50 * SECOND);
}

static void death_of_a_guessed_time_moves_with_its_window(void **state)
{
    assert_death_moves(*state, BEGIN + SECOND);
}

static void death_of_a_guessed_time_moves_in_the_window_that_is_open(void **state)
{
    assert_death_moves(*state, BEGIN + SECOND / 2 + 1000);
}

static void window_numbers_do_not_go_back_by_a_few_seconds(void **state)
{
    struct bed *bed = *state;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    assert_int_equal(look(bed).last, 101);
    struct wire_clock_answer answer = {.t1_ns = BEGIN + 2 * SECOND, .t2_ns = BEGIN, .t3_ns = BEGIN};
    daemon_clock_restart(&bed->windows.clock);
    windows_observe_daemon(&bed->windows, &answer, BEGIN + 2 * SECOND + 10);
    for (uint64_t tenth = 1; tenth < 60; tenth++)
        windows_process(&bed->windows, BEGIN + 2 * SECOND + tenth * SECOND / 10);
    struct seen seen = look(bed);
    assert_true(seen.windows >= 3);
    assert_int_equal(seen.first, 102);
    assert_true(seen.flags & WINDOW_CLOCK);
}

static void length_that_the_daemon_wants_holds_from_the_next_window(void **state)
{
    struct bed *bed = *state;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    windows_welcome(&bed->windows, SECOND / 4, WINDOWS_BUDGET);
    windows_process(&bed->windows, BEGIN + SECOND);
    assert_int_equal(look(bed).last, 100);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    struct seen seen = look(bed);
    assert_int_equal(seen.windows, 4);
    assert_int_equal(seen.first, 404);
}

static void replace_journal(struct bed *bed, size_t bytes)
{
    journal_destroy(bed->journal);
    assert_int_equal(journal_create(&bed->journal, bytes), 0);
    bed->windows.journal = bed->journal;
    bed->census.journal = bed->journal;
}

static void what_dropped_windows_held_is_lost_and_counted(void **state)
{
    struct bed *bed = *state;
    replace_journal(bed, 4096);
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    uint64_t written = 0;
    for (uint64_t s = 0; s < 40; s++) {
        for (int i = 0; i < 10; i++, written++)
            write_call(bed, CALL_Barrier, BEGIN + s * SECOND + 5000, BEGIN + s * SECOND + 5000);
        windows_process(&bed->windows, BEGIN + (s + 1) * SECOND);
    }
    struct seen seen = look(bed);
    assert_true(seen.windows < 40);
    assert_true(seen.flags & WINDOW_GAP);
    assert_true(bed->windows.totals.dropped > 0);
    /* what the newest drop took is counted in the window that is open */
    windows_process(&bed->windows, BEGIN + 41 * SECOND);
    struct journal_message first;
    assert_int_equal(journal_read(bed->journal, 0, &first), 1);
    bed->position = 0;
    seen = look(bed);
    uint64_t open_lost, open_events = event_sum_total(bed->census.jobs->sum, &open_lost);
    assert_int_equal(seen.events + seen.lost + open_events + open_lost, written);
    assert_int_equal(bed->windows.totals.lost, seen.lost); /* each once */
}

static void what_a_refused_window_held_is_lost_and_counted_in_a_later_one(void **state)
{
    struct bed *bed = *state;
    struct journal_message message;
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
    for (uint64_t s = 0; s < 3; s++) {
        write_call(bed, CALL_Barrier, BEGIN + s * SECOND + 5000, BEGIN + s * SECOND + 5000);
        windows_process(&bed->windows, BEGIN + (s + 1) * SECOND);
    }
    assert_int_equal(journal_read(bed->journal, 0, &message), 1);
    while (message.type != WIRE_TYPE_WINDOW)
        assert_int_equal(journal_read(bed->journal, message.next_position, &message), 1);
    windows_drop_refused(&bed->windows, message.seq);
    windows_drop_refused(&bed->windows, message.seq); /* once */
    windows_drop_refused(&bed->windows, 1000);        /* no such message */
    for (uint64_t s = 3; s < 5; s++)
        windows_process(&bed->windows, BEGIN + (s + 1) * SECOND);
    struct seen seen = look(bed);
    assert_int_equal(seen.windows, 4);
    assert_int_equal(seen.events, 2);
    assert_int_equal(seen.lost, 1);
    assert_true(seen.flags & WINDOW_GAP);
    assert_int_equal(bed->windows.totals.dropped, 1);
}

/* The rank has ended by the time when a message with its records is dropped. */
static void what_dropped_windows_held_of_ended_ranks_is_counted_once(void **state)
{
    struct bed *bed = *state;
    uint64_t written = 0;
    replace_journal(bed, 1024);
    replace_by_dead_process(bed);
    for (uint64_t s = 0; s < 6; s++)
        for (int i = 0; i < 10; i++, written++)
            write_call(bed, CALL_Barrier, BEGIN + s * SECOND + 5000, BEGIN + s * SECOND + 5000);
    atomic_store(&bed->fake.segment->state, SEGMENT_FINALIZED);
    for (uint64_t tenth = 5; tenth < 120; tenth += 5) {
        windows_process(&bed->windows, BEGIN + tenth * SECOND / 10);
        bed->position = 0;
        struct seen seen = look(bed);
        uint64_t open_lost, open_events = event_sum_total(bed->census.jobs->sum, &open_lost);
        if (tenth > 60)
            assert_int_equal(bed->windows.totals.lost + open_lost + seen.events + open_events,
                             written);
    }
    assert_true(bed->windows.totals.lost > 0);
}

/* The rows of the newest window about messages. */
struct told {
    struct wire_transfer_row transfer;
    struct wire_half_row half;
    struct wire_pending_row pending, last_pending;
    struct wire_node_row node;
    struct wire_rank_row rank;
    uint64_t window, transfers, latencies, halves, pendings;
};

static struct told tell(struct bed *bed)
{
    struct told told = {0};
    struct wire_arena arena = {0};
    struct journal_message kept;
    for (; journal_read(bed->journal, bed->position, &kept); bed->position = kept.next_position) {
        struct wire_message message;
        assert_int_equal(wire_decode(&message, &arena, kept.bytes, kept.length, NULL), 0);
        const struct wire_window *window = &message.window;
        if (message.type != WIRE_TYPE_WINDOW)
            continue;
        told.window = window->window;
        told.transfers += window->transfers_count;
        told.halves += window->halves_count;
        told.pendings += window->pending_count;
        for (uint64_t i = 0; i < window->latencies_count; i++)
            told.latencies += window->latencies[i].messages;
        if (window->transfers_count > 0)
            told.transfer = window->transfers[0];
        if (window->halves_count > 0)
            told.half = window->halves[0];
        if (window->pending_count > 0) {
            told.pending = window->pending[0];
            told.last_pending = window->pending[window->pending_count - 1];
        }
        told.node = window->node[0];
        told.rank = window->ranks[0];
    }
    told.node.host = NULL; /* in the arena */
    wire_arena_finish(&arena);
    return told;
}

static struct event message_event(uint16_t call, uint32_t flags, int32_t peer, uint64_t enter,
                                  uint64_t leave)
{
    return (struct event){.t_enter = enter,
                          .t_exit = leave,
                          .kind = EVENT_CALL,
                          .call = call,
                          .flags = (uint16_t)flags,
                          .bytes = 100,
                          .peer = peer,
                          .tag = 3};
}

/* From rank 2 to itself. */
static void write_message(struct bed *bed, uint64_t enter, uint64_t leave)
{
    struct event sent = message_event(CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 2, enter,
                                      enter + 10),
                 received = message_event(CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, 2,
                                          enter + 20, leave);
    fake_rank_write(&bed->fake, &sent);
    fake_rank_write(&bed->fake, &received);
}

static void begin_watching(struct bed *bed)
{
    make_known(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 1000);
}

static void messages_within_the_node_are_reported_with_their_times(void **state)
{
    struct bed *bed = *state;
    struct wire_criterion_row criterion = {.size_class = size_class_of(100), .recent_ns = 1500};
    struct wire_criteria criteria = {.job = JOB, .criteria = &criterion, .criteria_count = 1};
    begin_watching(bed);
    write_message(bed, BEGIN + 2000, BEGIN + 3000);
    windows_process(&bed->windows, BEGIN + SECOND);
    struct told told = tell(bed);
    assert_int_equal(told.transfers, 1);
    assert_int_equal(told.transfer.source, 2);
    assert_int_equal(told.transfer.destination, 2);
    assert_int_equal(told.transfer.size_class, size_class_of(100));
    assert_int_equal(told.transfer.messages, 1);
    assert_int_equal(told.transfer.delayed, 0); /* no criterion has come yet */
    assert_int_equal(told.transfer.transfer_ns, 1000);
    assert_int_equal(told.transfer.late_receiver_ns, 20);
    assert_int_equal(told.transfer.network_ns, 980);
    assert_int_equal(told.latencies, 1);
    assert_int_equal(told.node.matched, 1);
    windows_criteria(&bed->windows, &criteria);
    write_message(bed, BEGIN + SECOND + 2000, BEGIN + SECOND + 3000);
    write_message(bed, BEGIN + SECOND + 4000, BEGIN + SECOND + 6000);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    told = tell(bed);
    assert_int_equal(told.transfer.messages, 2);
    assert_int_equal(told.transfer.delayed, 1);
    assert_int_equal(told.node.matched, 3);
    assert_int_equal(told.node.unmatched + told.node.rejected, 0);
}

/* Its send is in a window of the killed worker, its receive is not. A receive of the wrong size
 * would be rejected if it were taken for that of the next message. */
static void a_message_under_way_when_a_worker_is_killed_is_matched_by_the_next(void **state)
{
    struct bed *bed = *state;
    begin_watching(bed);
    struct event sent = message_event(CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 2,
                                      BEGIN + 2000, BEGIN + 2010),
                 received = message_event(CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, 2,
                                          BEGIN + SECOND, BEGIN + SECOND + 1000);
    fake_rank_write(&bed->fake, &sent);
    windows_process(&bed->windows, BEGIN + SECOND);
    assert_int_equal(tell(bed).node.matched, 0);
    stop_worker(bed);
    journal_count_restart(bed->journal);
    start_worker(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    fake_rank_write(&bed->fake, &received);
    write_message(bed, BEGIN + SECOND + 2000, BEGIN + SECOND + 3000);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    struct told told = tell(bed);
    assert_int_equal(told.node.matched, 2);
    assert_int_equal(told.node.unmatched + told.node.rejected, 0);
}

static void a_node_reports_the_shared_memory_that_its_ranks_take(void **state)
{
    struct bed *bed = *state;
    struct stat file;
    char path[128];
    begin_watching(bed);
    windows_process(&bed->windows, BEGIN + SECOND);
    snprintf(path, sizeof path, "/dev/shm%s", bed->fake.name);
    assert_int_equal(stat(path, &file), 0);
    uint64_t allocated = 512 * (uint64_t)file.st_blocks, told = tell(bed).node.shm_bytes;
    /* The kernel gives whole pages of 4096 bytes. */
    assert_in_range(told, allocated - 4095, allocated);
}

static void ends_between_nodes_are_reported_in_daemon_time(void **state)
{
    struct bed *bed = *state;
    begin_watching(bed);
    struct event sent = message_event(CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 1,
                                      BEGIN + 5000, BEGIN + 5700);
    fake_rank_write(&bed->fake, &sent);
    windows_process(&bed->windows, BEGIN + SECOND);
    assert_int_equal(tell(bed).halves, 0); /* rank 1 may yet turn out to live here */
    for (uint64_t s = 2; s < 6; s++)
        windows_process(&bed->windows, BEGIN + s * SECOND);
    struct journal_message kept;
    bed->position = 0;
    assert_int_equal(journal_read(bed->journal, 0, &kept), 1);
    struct told told = tell(bed);
    assert_int_equal(told.halves, 1);
    assert_int_equal(told.half.source, 2);
    assert_int_equal(told.half.destination, 1);
    assert_int_equal(told.half.length_ns, 700);
    assert_int_equal(told.half.bytes, 100);
    assert_int_equal(told.half.begin_ns, 5000 - 2 * (int64_t)SECOND); /* handed out in the third */
    assert_int_equal(told.node.sampled, 1);
    assert_int_equal(told.node.passed_over, 0);
}

/* Ends that were timed by a guess are left out: nobody can join them. */
static void ends_between_nodes_of_a_guessed_time_count_as_passed_over(void **state)
{
    struct bed *bed = *state;
    bed->windows.clock.known = 0;
    begin_watching(bed);
    struct event sent = message_event(CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 1,
                                      BEGIN + 5000, BEGIN + 5700);
    fake_rank_write(&bed->fake, &sent);
    for (uint64_t s = 1; s < 6; s++)
        windows_process(&bed->windows, BEGIN + s * SECOND);
    struct told told = tell(bed);
    assert_int_equal(told.halves, 1);
    assert_int_equal(told.node.sampled, 1);
    struct wire_clock_answer answer = {.t1_ns = BEGIN + 5 * SECOND + 1000,
                                       .t2_ns = BEGIN - 45 * SECOND + 2000,
                                       .t3_ns = BEGIN - 45 * SECOND + 2000};
    windows_observe_daemon(&bed->windows, &answer, BEGIN + 5 * SECOND + 3000);
    for (int later = 0; later < 2; later++) {
        told = tell(bed);
        assert_int_equal(told.halves, 0);
        assert_int_equal(told.node.sampled, 0);
        assert_int_equal(told.node.passed_over, 1);
        windows_process(&bed->windows, BEGIN + 6 * SECOND);
    }
}

static void ends_between_nodes_in_dropped_windows_count_as_passed_over(void **state)
{
    struct bed *bed = *state;
    replace_journal(bed, 1024);
    begin_watching(bed);
    struct event sent = message_event(CALL_Send, EVENT_SEND | EVENT_POST | EVENT_DONE, 1,
                                      BEGIN + 5000, BEGIN + 5700);
    fake_rank_write(&bed->fake, &sent);
    uint64_t sampled = 0;
    for (uint64_t s = 1; s < 12; s++) {
        windows_process(&bed->windows, BEGIN + s * SECOND);
        sampled += tell(bed).node.sampled;
    }
    assert_true(sampled > 0);
    bed->position = 0;
    struct told told = tell(bed);
    assert_int_equal(told.halves, 0);
    assert_int_equal(told.node.sampled, 0);
    assert_int_equal(told.node.passed_over, 1);
}

static void a_rank_that_waits_for_long_reports_for_what(void **state)
{
    struct bed *bed = *state;
    begin_watching(bed);
    struct event waits =
        message_event(CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, 1, BEGIN + SECOND / 2, 0);
    fake_rank_enter(&bed->fake, &waits);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    struct told told = tell(bed);
    assert_int_equal(told.pendings, 0);
    windows_process(&bed->windows, BEGIN + 3 * SECOND);
    told = tell(bed);
    assert_int_equal(told.pendings, 1);
    assert_int_equal(told.pending.rank, 2);
    assert_int_equal(told.pending.source, 1);
    assert_int_equal(told.pending.tag, 3);
    assert_int_equal(told.pending.comm, 1);
    assert_int_equal(told.pending.waited_ns, 5 * SECOND / 2);
    assert_int_equal(told.rank.process_state,
                     'R'); /* this process: it made no call in the window */
}

/* The last row stands for the receives that are not listed. */
static void a_rank_that_waits_for_many_receives_says_that_there_are_more(void **state)
{
    struct bed *bed = *state;
    begin_watching(bed);
    for (uint32_t i = 0; i < 20; i++) {
        struct event post = message_event(CALL_Irecv, EVENT_RECV | EVENT_POST, 0,
                                          BEGIN + 2000 + 20 * i, BEGIN + 2010 + 20 * i);
        post.request = 1 + i;
        fake_rank_write(&bed->fake, &post);
    }
    const struct event waits = message_event(CALL_Waitall, 0, PEER_NONE, BEGIN + SECOND / 2, 0);
    fake_rank_enter(&bed->fake, &waits);
    windows_process(&bed->windows, BEGIN + 3 * SECOND);
    const struct told told = tell(bed);
    assert_int_equal(told.pendings, 9);
    assert_int_equal(told.pending.source, 0);
    assert_int_equal(told.last_pending.source, PEER_ANY);
}

/* Partitioned requests are not among those that are matched. */
static void a_wait_is_reported_for_the_source_of_its_request(void **state)
{
    struct bed *bed = *state;
    begin_watching(bed);
    struct event other = message_event(CALL_Irecv, EVENT_RECV | EVENT_POST, 0, BEGIN + 2000,
                                       BEGIN + 3000),
                 made = message_event(CALL_Precv_init, EVENT_RECV | EVENT_PERSISTENT, 1,
                                      BEGIN + 4000, BEGIN + 5000),
                 waits = message_event(CALL_Wait, EVENT_RECV | EVENT_DONE | EVENT_PERSISTENT, 1,
                                       BEGIN + SECOND / 2, 0);
    other.request = 1;
    made.request = waits.request = 2;
    fake_rank_write(&bed->fake, &other);
    fake_rank_write(&bed->fake, &made);
    fake_rank_enter(&bed->fake, &waits);
    windows_process(&bed->windows, BEGIN + 3 * SECOND);
    const struct told told = tell(bed);
    assert_int_equal(told.pendings, 1);
    assert_int_equal(told.pending.source, 1);
}

static void state_of_a_process_that_calls_is_not_looked_at(void **state)
{
    struct bed *bed = *state;
    begin_watching(bed);
    write_call(bed, CALL_Barrier, BEGIN + 2000, BEGIN + 3000);
    windows_process(&bed->windows, BEGIN + SECOND);
    assert_int_equal(tell(bed).rank.process_state, 0);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    assert_int_equal(tell(bed).rank.process_state, 'R');
}

/* Bursts that were committed since the last look. */
struct bursts_told {
    uint64_t windows, bursts, messages, pairs, rows, calls, collectives, degraded;
    struct wire_burst_row burst[8]; /* the first ones */
    struct wire_collective_row collective;
    uint64_t comm; /* its id */
    struct wire_comm_member_row member;
    uint64_t members;
};

static void see_bursts(const struct wire_window *window, struct bursts_told *told)
{
    told->windows++;
    told->degraded |= window->degraded;
    for (uint64_t i = 0; i < window->pairs_count; i++)
        told->pairs += window->pairs[i].messages;
    for (uint64_t i = 0; i < window->bursts_count; i++) {
        const struct wire_burst_row *burst = &window->bursts[i];
        *(burst->collective ? &told->calls : &told->messages) += burst->messages;
        if (told->bursts < 8)
            told->burst[told->bursts] = *burst;
        told->bursts++;
    }
    told->rows += window->bursts_count + window->burst_pairs_count;
    for (uint64_t i = 0; i < window->collectives_count; i++) {
        told->collective = window->collectives[i];
        told->comm = window->comms[told->collective.comm].id;
    }
    told->collectives += window->collectives_count;
    for (uint64_t i = 0; i < window->comm_members_count; i++)
        told->member = window->comm_members[i];
    told->members += window->comm_members_count;
}

static struct bursts_told look_at_bursts(struct bed *bed)
{
    struct bursts_told told = {0};
    struct wire_arena arena = {0};
    struct journal_message kept;
    for (; journal_read(bed->journal, bed->position, &kept); bed->position = kept.next_position) {
        struct wire_message message;
        assert_int_equal(wire_decode(&message, &arena, kept.bytes, kept.length, NULL), 0);
        if (message.type == WIRE_TYPE_WINDOW)
            see_bursts(&message.window, &told);
    }
    wire_arena_finish(&arena);
    assert_int_equal(told.messages, told.pairs);
    return told;
}

static void bursts_are_reported_in_daemon_time(void **state)
{
    struct bed *bed = *state;
    daemon_clock_init(&bed->windows.clock, BEGIN, BEGIN + 10 * SECOND);
    bed->windows.clock.known = 1;
    begin_watching(bed);
    for (uint64_t run = 1; run <= 3; run++)
        for (uint64_t i = 0; i < 10 * run; i++) /* all of a run at one moment */
            write_message(bed, BEGIN + run * SECOND / 4, BEGIN + run * SECOND / 4 + 100);
    windows_process(&bed->windows, BEGIN + SECOND);
    struct bursts_told told = look_at_bursts(bed);
    assert_int_equal(told.windows, 1);
    assert_int_equal(told.bursts, 3);
    for (uint64_t run = 1; run <= 3; run++) {
        const struct wire_burst_row *burst = &told.burst[run - 1];
        assert_int_equal(burst->messages, 10 * run);
        assert_int_equal(burst->bytes, 1000 * run);
        assert_int_equal(burst->pairs, 1);
        /* The call lasted 10 ns. */
        assert_int_equal(burst->first_ns, BEGIN + 10 * SECOND + run * SECOND / 4 + 5);
        assert_int_equal(burst->last_ns, burst->first_ns);
    }
    assert_int_equal(told.degraded, 0);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    assert_int_equal(look_at_bursts(bed).bursts, 0);
}

static void collectives_are_reported_with_their_communicators(void **state)
{
    struct bed *bed = *state;
    fake_rank_comm(&bed->fake, 3, 55, 2, "MPI_Comm_split");
    segment_comm(bed->fake.segment, 3)->my_rank = 1;
    begin_watching(bed);
    for (uint64_t i = 0; i < 2; i++) {
        struct event event = {.t_enter = BEGIN + i * SECOND + 1000,
                              .t_exit = BEGIN + i * SECOND + 3000,
                              .kind = EVENT_CALL,
                              .call = CALL_Bcast,
                              .bytes = 64,
                              .peer = 3,
                              .comm = 3};
        fake_rank_write(&bed->fake, &event);
        windows_process(&bed->windows, BEGIN + (i + 1) * SECOND);
        struct bursts_told told = look_at_bursts(bed);
        assert_int_equal(told.calls, 1);
        assert_int_equal(told.burst[0].collective, 1);
        assert_int_equal(told.burst[0].first_ns, BEGIN + i * SECOND + 2000);
        assert_int_equal(told.burst[0].bytes, 64);
        assert_int_equal(told.collectives, 1);
        assert_int_equal(told.collective.call, CALL_Bcast);
        assert_int_equal(told.collective.root, 3);
        assert_int_equal(told.comm, 55);
        assert_int_equal(told.members, 1); /* in each window */
        assert_int_equal(told.member.comm, told.collective.comm);
        assert_int_equal(told.member.rank, 2);
        assert_int_equal(told.member.position, 1);
    }
    write_call(bed, CALL_Barrier, BEGIN + 2 * SECOND + 10, BEGIN + 2 * SECOND + 20);
    struct event world = {.t_enter = BEGIN + 2 * SECOND + 30,
                          .t_exit = BEGIN + 2 * SECOND + 40,
                          .kind = EVENT_CALL,
                          .call = CALL_Barrier,
                          .peer = PEER_NONE};
    fake_rank_write(&bed->fake, &world);
    windows_process(&bed->windows, BEGIN + 3 * SECOND);
    struct bursts_told told = look_at_bursts(bed);
    assert_int_equal(told.calls, 2);
    assert_int_equal(told.collectives, 2); /* one communicator is not known */
    assert_int_equal(told.members, 0);
}

/* The announcement of the window's end holds it: what follows is placed by it. */
static void a_cartesian_communicator_is_announced_before_the_window_it_was_made_in(void **state)
{
    struct bed *bed = *state;
    begin_watching(bed);
    windows_process(&bed->windows, BEGIN + SECOND);
    look(bed);
    struct cart_slot *slot = segment_cart(bed->fake.segment, 0);
    *slot = (struct cart_slot){
        .dimensions = 1, .periods = 1, .position = 3, .id = 99, .made = 5, .sizes = {4}};
    atomic_store(&slot->ready, 1);
    write_message(bed, BEGIN + SECOND + 2000, BEGIN + SECOND + 3000);
    windows_process(&bed->windows, BEGIN + 2 * SECOND);
    struct wire_arena arena = {0};
    struct wire_message message;
    struct journal_message kept;
    assert_true(journal_read(bed->journal, bed->position, &kept));
    assert_int_equal(wire_decode(&message, &arena, kept.bytes, kept.length, NULL), 0);
    assert_int_equal(message.type, WIRE_TYPE_RANKS);
    assert_int_equal(message.ranks.members_count, 0); /* they were reported before */
    assert_int_equal(message.ranks.carts_count, 1);
    assert_true(message.ranks.carts[0].id == 99 && message.ranks.carts[0].size == 4 &&
                message.ranks.carts[0].wraps == 1 && message.ranks.carts[0].made == 5);
    assert_int_equal(message.ranks.cart_members_count, 1);
    assert_true(message.ranks.cart_members[0].cart == 0 &&
                message.ranks.cart_members[0].rank == 2 &&
                message.ranks.cart_members[0].position == 3);
    wire_arena_finish(&arena);
    struct seen seen = look(bed);
    assert_true(seen.windows == 1 && seen.ranks_messages == 1);
    windows_process(&bed->windows, BEGIN + 3 * SECOND);
    assert_int_equal(look(bed).ranks_messages, 0);
    windows_announce_all(&bed->windows);
    assert_int_equal(look(bed).ranks_messages, 1);
}

/* What was gathered and not committed is gathered once more, by the one who commits it. */
static void bursts_of_a_killed_worker_do_not_count_twice(void **state)
{
    struct bed *bed = *state;
    begin_watching(bed);
    write_message(bed, BEGIN + 2000, BEGIN + 3000);
    windows_process(&bed->windows, BEGIN + SECOND);
    write_message(bed, BEGIN + SECOND + 2000, BEGIN + SECOND + 3000);
    windows_process(&bed->windows, BEGIN + SECOND + SECOND / 2); /* summed, not committed */
    struct bursts_told before = look_at_bursts(bed);
    stop_worker(bed);
    journal_count_restart(bed->journal);
    start_worker(bed);
    census_add_segment(&bed->census, bed->fake.name, (int32_t)getpid());
    windows_process(&bed->windows, BEGIN + 4 * SECOND);
    struct bursts_told after = look_at_bursts(bed);
    assert_int_equal(before.messages, 1);
    assert_int_equal(after.messages, 1);
    assert_int_equal(after.burst[0].first_ns, BEGIN + SECOND + 2005);
}

static void bursts_of_a_guessed_time_move_with_their_window(void **state)
{
    struct bed *bed = *state;
    bed->windows.clock.known = 0;
    begin_watching(bed);
    write_message(bed, BEGIN + 2000, BEGIN + 3000);
    windows_process(&bed->windows, BEGIN + SECOND);
    /* the daemon is 50 s behind the guess */
    struct wire_clock_answer answer = {.t1_ns = BEGIN + SECOND + 1000,
                                       .t2_ns = BEGIN - 49 * SECOND + 2000,
                                       .t3_ns = BEGIN - 49 * SECOND + 2000};
    windows_observe_daemon(&bed->windows, &answer, BEGIN + SECOND + 3000);
    struct bursts_told told = look_at_bursts(bed);
    assert_int_equal(told.messages, 1);
    assert_int_equal(told.burst[0].first_ns, BEGIN - 50 * SECOND + 2005);
    assert_int_equal(told.burst[0].time_sum_low, told.burst[0].first_ns);
}

static void daemon_says_how_many_rows_bursts_may_have(void **state)
{
    struct bed *bed = *state;
    struct wire_criteria criteria = {.job = JOB, .burst_rows = 4};
    begin_watching(bed);
    for (uint64_t second = 0; second < 3; second++) {
        for (uint64_t i = 0; i < 6; i++)
            write_message(bed, BEGIN + second * SECOND + i * SECOND / 10 + 2000,
                          BEGIN + second * SECOND + i * SECOND / 10 + 3000);
        windows_process(&bed->windows, BEGIN + (second + 1) * SECOND);
        struct bursts_told told = look_at_bursts(bed);
        assert_int_equal(told.messages, 6);
        assert_true(second == 1 ? told.rows <= 4 : told.rows == 12);
        criteria.burst_rows = second == 0 ? 4 : 0;
        windows_criteria(&bed->windows, &criteria);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_window_holds_more_time_than_it_is_long, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(windows_go_on_when_daemon_time_is_set_back, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(agent_that_slept_closes_each_window_by_itself, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(windows_tell_what_interfaces_counted_since_the_job_was_met,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(worker_that_takes_over_goes_on_where_the_killed_one_was,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(ranks_of_the_next_launch_under_the_same_id_are_another_job,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rank_of_another_host_is_left_to_the_agent_of_that_host,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_that_begins_after_a_worker_took_over_is_not_resumed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(rank_that_has_ended_is_read_to_its_last_record, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ended_rank_whose_ring_has_gone_back_is_not_waited_for,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(ended_rank_whose_ring_is_overwritten_is_not_waited_for,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(windows_before_the_first_contact_get_their_numbers_then,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(deaths_are_reported_by_the_best_estimate_of_daemon_time,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(death_of_a_guessed_time_moves_with_its_window, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(death_of_a_guessed_time_moves_in_the_window_that_is_open,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(window_numbers_do_not_go_back_by_a_few_seconds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(length_that_the_daemon_wants_holds_from_the_next_window,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_a_refused_window_held_is_lost_and_counted_in_a_later_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_dropped_windows_held_is_lost_and_counted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_dropped_windows_held_of_ended_ranks_is_counted_once,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_within_the_node_are_reported_with_their_times,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_message_under_way_when_a_worker_is_killed_is_matched_by_the_next, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_node_reports_the_shared_memory_that_its_ranks_take,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_between_nodes_are_reported_in_daemon_time, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ends_between_nodes_of_a_guessed_time_count_as_passed_over,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_between_nodes_in_dropped_windows_count_as_passed_over,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rank_that_waits_for_long_reports_for_what, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_rank_that_waits_for_many_receives_says_that_there_are_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wait_is_reported_for_the_source_of_its_request, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(state_of_a_process_that_calls_is_not_looked_at, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bursts_are_reported_in_daemon_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(collectives_are_reported_with_their_communicators, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_cartesian_communicator_is_announced_before_the_window_it_was_made_in, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(process_is_looked_at_once_where_a_window_ends, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bursts_of_a_killed_worker_do_not_count_twice, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bursts_of_a_guessed_time_move_with_their_window, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(daemon_says_how_many_rows_bursts_may_have, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            rings_are_left_alone_until_one_is_half_full_or_the_window_ends, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
