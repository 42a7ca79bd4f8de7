#include "daemon/import/otf2/otf2_process.h"

#include "holter/error.h"
#include "tests/daemon/import/otf2/otf2_history.h"
#include "tests/directory.h"
#include "tests/reported_faults.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define STREAMS 4u

struct bed {
    char directory[DIRECTORY_ROOM], archive[80];
    struct reported_faults reported;
    struct otf2_process *process;
    struct event batch[TRACE_BATCH];
    uint64_t events[STREAMS], digest[STREAMS];
};

static void begin_plan(struct bed *bed, const struct history_plan *plan)
{
    struct history history;
    char folder[64];
    *bed = (struct bed){.process = NULL};
    assert_int_equal(directory_make(bed->directory), 0);
    snprintf(folder, sizeof(folder), "%s/archive", bed->directory);
    history_write(&history, plan, folder);
    snprintf(bed->archive, sizeof(bed->archive), "%s/history.otf2", folder);
}

static void begin_with(struct bed *bed, uint32_t threads)
{
    struct history_plan plan = {.seed = 5,
                                .rounds = 2000,
                                .ranks = STREAMS / threads,
                                .per_host = 2,
                                .threads = threads,
                                .resolution = 1000000000};
    begin_plan(bed, &plan);
}

static void begin(struct bed *bed)
{
    begin_with(bed, 1);
}

static void start(struct bed *bed)
{
    memset(bed->events, 0, sizeof(bed->events));
    memset(bed->digest, 0, sizeof(bed->digest));
    bed->reported.text[0] = '\0';
    assert_int_equal(
        otf2_process_start(&bed->process, bed->archive, 1, report_fault, &bed->reported), 0);
}

static void stop(struct bed *bed)
{
    otf2_process_stop(bed->process);
    bed->process = NULL;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static int read_some(struct bed *bed, uint32_t stream)
{
    int count = otf2_process_next(bed->process, stream, UINT64_MAX, bed->batch);
    for (int i = 0; i < count; i++) {
        const struct event *e = &bed->batch[i];
        bed->events[stream]++;
        bed->digest[stream] =
            (bed->digest[stream] ^ e->t_enter ^ e->bytes << 20 ^ e->call) * UINT64_C(0x100000001b3);
    }
    return count;
}

/* @param deadly  sent to the reader after each batch; 0: none */
static void read_all(struct bed *bed, int deadly)
{
    int left = STREAMS;
    int ended[STREAMS] = {0};
    while (left > 0)
        for (uint32_t s = 0; s < STREAMS; s++) {
            int count = ended[s] ? 0 : read_some(bed, s);
            assert_true(count >= 0);
            if (count == 0 && !ended[s])
                left--;
            ended[s] |= count == 0;
            if (deadly != 0 && count > 0 && otf2_process_reader(bed->process) > 0)
                kill(otf2_process_reader(bed->process), deadly);
        }
}

static void replace_readers(uint32_t threads)
{
    struct bed bed;
    begin_with(&bed, threads);
    start(&bed);
    read_all(&bed, 0);
    uint64_t digest[STREAMS], events = otf2_process_reports(bed.process)[1].totals.events;
    memcpy(digest, bed.digest, sizeof(digest));
    assert_true(bed.events[0] > TRACE_BATCH);
    stop(&bed);
    static const int deadly[] = {SIGKILL, SIGSEGV, SIGABRT};
    for (int i = 0; i < 3; i++) {
        start(&bed);
        read_all(&bed, deadly[i]);
        assert_memory_equal(bed.digest, digest, sizeof(digest));
        assert_int_equal(otf2_process_reports(bed.process)[1].totals.events, events);
        assert_string_equal(bed.reported.text, "");
        stop(&bed);
    }
    directory_remove(bed.directory);
}

static void a_reader_that_dies_between_questions_is_replaced(void **state)
{
    (void)state;
    replace_readers(1);
}

/* Streams of a rank have been read on for each other's sake. */
static void a_reader_of_threads_is_replaced(void **state)
{
    (void)state;
    replace_readers(2);
    replace_readers(4);
}

/* It is random whether the reader dies during its work: the checks of the streams hold in both
 * cases. If one of several threads is lost, its records are missing for the others. */
static void lose_streams(uint32_t threads)
{
    struct bed bed;
    uint64_t digest[STREAMS];
    int ended[STREAMS] = {0}, left = STREAMS;
    begin_with(&bed, threads);
    start(&bed);
    read_all(&bed, 0);
    memcpy(digest, bed.digest, sizeof(digest));
    stop(&bed);
    start(&bed);
    pid_t killer = fork();
    for (int i = 0; killer == 0 && i < 100; i++) {
        int reader = otf2_process_reader(bed.process);
        if (reader > 0)
            kill(reader, SIGSEGV);
        usleep(300);
    }
    if (killer == 0)
        _exit(0);
    while (left > 0)
        for (uint32_t s = 0; s < STREAMS; s++) {
            int count = ended[s] ? 1 : read_some(&bed, s);
            ended[s] = ended[s] ? ended[s] : count > 0 ? 0 : count < 0 ? -1 : 1;
            left -= count <= 0;
        }
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    for (uint32_t s = 0; s < STREAMS && threads == 1; s++)
        assert_true(ended[s] < 0 || bed.digest[s] == digest[s]);
    assert_int_equal(ended[0] < 0 || ended[1] < 0 || ended[2] < 0 || ended[3] < 0,
                     strstr(bed.reported.text, "libotf2 crashed on it") != NULL);
    stop(&bed);
    directory_remove(bed.directory);
}

static void a_reader_that_dies_at_work_loses_the_stream_that_it_read(void **state)
{
    (void)state;
    lose_streams(1);
}

/* It may have read a stream for the sake of another. */
static void a_reader_of_threads_that_dies_at_work_loses_no_other_stream(void **state)
{
    (void)state;
    lose_streams(2);
    lose_streams(4);
}

/* The reader dies with its watcher, a little later: until then it would answer. */
static void kill_watcher(const struct otf2_process *process)
{
    struct pollfd reader = {pidfd_open(otf2_process_reader(process), 0), POLLIN, 0};
    assert_true(reader.fd >= 0);
    assert_int_equal(kill(otf2_process_watcher(process), SIGKILL), 0);
    while (poll(&reader, 1, -1) < 0 && errno == EINTR)
        continue;
    close(reader.fd);
}

static void when_the_watcher_is_gone_streams_end_with_an_error(void **state)
{
    struct bed bed;
    (void)state;
    begin(&bed);
    start(&bed);
    assert_true(read_some(&bed, 0) > 0);
    kill_watcher(bed.process);
    int count;
    while ((count = read_some(&bed, 1)) > 0)
        continue;
    assert_int_equal(count, -HOLTER_ECORRUPT);
    assert_non_null(strstr(bed.reported.text, "/history/1.evt: "));
    stop(&bed);
    directory_remove(bed.directory);
}

/* Most that a process has had at once. */
static unsigned long max_mib(int process)
{
    char path[64], line[256];
    unsigned long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", process);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoul(line + 6, NULL, 10);
    assert_int_equal(fclose(file), 0);
    return kib / 1024;
}

/* Most that the reader of an archive of 64 streams has had. */
static unsigned long mib_of_archive(int no_definitions)
{
    struct history_plan plan = {.seed = 5,
                                .rounds = 100,
                                .ranks = HISTORY_RANKS,
                                .per_host = 2,
                                .threads = 4,
                                .resolution = 1000000000,
                                .no_definitions = no_definitions};
    struct bed bed;
    begin_plan(&bed, &plan);
    assert_int_equal(otf2_process_start(&bed.process, bed.archive, 1, report_fault, &bed.reported),
                     0);
    for (uint32_t s = 0; s < HISTORY_RANKS * 4; s++)
        assert_true(otf2_process_next(bed.process, s, UINT64_MAX, bed.batch) >= 0);
    unsigned long mib = max_mib(otf2_process_reader(bed.process));
    stop(&bed);
    directory_remove(bed.directory);
    return mib;
}

/* libotf2 keeps what it took for a file of definitions that is not there: 4 MiB. */
static void locations_without_definitions_of_their_own_take_little_memory(void **state)
{
    (void)state;
    unsigned long with = mib_of_archive(0), without = mib_of_archive(1);
    assert_in_range(without, 1, with + 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_that_dies_between_questions_is_replaced),
        cmocka_unit_test(a_reader_of_threads_is_replaced),
        cmocka_unit_test(a_reader_that_dies_at_work_loses_the_stream_that_it_read),
        cmocka_unit_test(a_reader_of_threads_that_dies_at_work_loses_no_other_stream),
        cmocka_unit_test(when_the_watcher_is_gone_streams_end_with_an_error),
        cmocka_unit_test(locations_without_definitions_of_their_own_take_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
