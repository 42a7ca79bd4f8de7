/* Archives as other tools than ours write them: threads and accelerators, records of other
 * paradigms between those of MPI, names of any length, clocks of any kind. */
#include "daemon/import/otf2/import_otf2.h"

#include "holter/call.h"
#include "holter/error.h"
#include "tests/daemon/import/otf2/otf2_writing.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/directory.h"
#include "tests/reported_faults.h"

#include <otf2/otf2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define RANKS 2u
#define SECOND UINT64_C(1234567) /* ticks: an odd clock */
#define ZERO UINT64_C(987654321987)
#define LONG_NAME 20000u
#define NO_FILE UINT64_MAX

/* Each rank has a thread that does most, one more, a stream of an accelerator, and metrics that
 * nobody took. */
enum { MASTER, WORKER, STREAM, METRICS, LOCATIONS };
enum { WORLD, PAIR, MANY };
enum {
    R_MAIN,
    R_SEND,
    R_RECV,
    R_IRECV,
    R_WAITANY,
    R_TEST,
    R_ALLREDUCE,
    R_BCAST,
    R_PUT,
    R_GET,
    R_KERNEL,
    R_OMP,
    R_FENCE,
    REGIONS
};
static const char *const regions[REGIONS] = {
    "main",         "MPI_Send",       "MPI_Recv",     "MPI_Irecv", "MPI_Waitany",
    "MPI_Test",     "MPI_Allreduce",  "MPI_Bcast",    "MPI_Put",   "MPI_Get",
    "saxpy kernel", "!$omp parallel", "MPI_Win_fence"};

struct bed {
    char directory[DIRECTORY_ROOM], folder[80], archive[128], recording[64];
    struct reported_faults reported;
    OTF2_Archive *writing;
    OTF2_EvtWriter *events[RANKS][LOCATIONS];
    uint64_t written[RANKS][LOCATIONS], time;
    struct import_otf2_counts counts;
    struct recorded_sums sums;
};

/* ---- writing --------------------------------------------------------------- */

static uint64_t location_id(uint32_t rank, uint32_t location)
{
    return (uint64_t)location << 32 | rank;
}

static void begin(struct bed *bed)
{
    *bed = (struct bed){.time = ZERO};
    assert_int_equal(directory_make(bed->directory), 0);
    snprintf(bed->folder, sizeof(bed->folder), "%s/archive", bed->directory);
    snprintf(bed->archive, sizeof(bed->archive), "%s/traces.otf2", bed->folder);
    snprintf(bed->recording, sizeof(bed->recording), "%s/t.hrec", bed->directory);
    bed->writing = otf2_writing(bed->folder, "traces", 1024 * 1024);
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t l = 0; l < METRICS; l++)
            bed->events[r][l] = OTF2_Archive_GetEvtWriter(bed->writing, location_id(r, l));
}

/* Time of the next record, some later than all before. */
static OTF2_TimeStamp next(struct bed *bed, uint32_t rank, uint32_t location)
{
    bed->written[rank][location]++;
    return bed->time += 10;
}

#define RECORD(rank, location, Kind, ...)                                                          \
    good(OTF2_EvtWriter_##Kind(bed->events[rank][location], NULL, next(bed, rank, location),       \
                               ##__VA_ARGS__))

struct text {
    OTF2_GlobalDefWriter *definitions;
    uint32_t next;
};

static uint32_t text(struct text *t, const char *string)
{
    good(OTF2_GlobalDefWriter_WriteString(t->definitions, t->next, string));
    return t->next++;
}

static void write_places(const struct bed *bed, struct text *t, uint32_t long_name)
{
    OTF2_GlobalDefWriter *d = t->definitions;
    uint32_t machine = text(t, "machine"), node = text(t, "node");
    good(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, long_name, machine,
                                                  OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    good(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 1, long_name, node, 0));
    for (uint32_t r = 0; r < RANKS; r++) {
        good(OTF2_GlobalDefWriter_WriteLocationGroup(
            d, r, long_name, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1, OTF2_UNDEFINED_LOCATION_GROUP));
        good(OTF2_GlobalDefWriter_WriteLocationGroup(d, RANKS + r, long_name,
                                                     OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 1, r));
        static const OTF2_LocationType types[] = {
            OTF2_LOCATION_TYPE_CPU_THREAD, OTF2_LOCATION_TYPE_CPU_THREAD,
            OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, OTF2_LOCATION_TYPE_METRIC};
        for (uint32_t l = 0; l < LOCATIONS; l++)
            good(OTF2_GlobalDefWriter_WriteLocation(d, location_id(r, l), long_name, types[l],
                                                    bed->written[r][l],
                                                    l == STREAM ? RANKS + r : r));
    }
}

static void write_groups(struct text *t, uint32_t long_name)
{
    OTF2_GlobalDefWriter *d = t->definitions;
    uint64_t all[RANKS], members[RANKS], streams[RANKS];
    for (uint32_t r = 0; r < RANKS; r++) {
        all[r] = location_id(r, MASTER);
        streams[r] = location_id(r, STREAM);
        members[r] = r;
    }
    uint32_t empty = text(t, ""), world = text(t, "MPI_COMM_WORLD");
    /* Those of the accelerator come first, as nothing forbids. */
    good(OTF2_GlobalDefWriter_WriteGroup(d, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                         OTF2_PARADIGM_CUDA, 0, RANKS, streams));
    good(OTF2_GlobalDefWriter_WriteGroup(d, 1, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                         OTF2_PARADIGM_MPI, 0, RANKS, all));
    good(OTF2_GlobalDefWriter_WriteGroup(d, 2, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                         0, RANKS, members));
    good(OTF2_GlobalDefWriter_WriteGroup(d, 3, empty, OTF2_GROUP_TYPE_COMM_GROUP,
                                         OTF2_PARADIGM_CUDA, 0, RANKS, members));
    good(OTF2_GlobalDefWriter_WriteComm(d, WORLD, world, 2, OTF2_UNDEFINED_COMM, 0));
    good(OTF2_GlobalDefWriter_WriteComm(d, PAIR, long_name, 2, WORLD, 0));
    good(OTF2_GlobalDefWriter_WriteComm(d, MANY, empty, 2, PAIR, 0));
    good(OTF2_GlobalDefWriter_WriteComm(d, 9, empty, 3, OTF2_UNDEFINED_COMM, 0));
    good(OTF2_GlobalDefWriter_WriteRmaWin(d, 0, empty, WORLD, 0));
    good(OTF2_GlobalDefWriter_WriteRmaWin(d, 1, empty, 9, 0));
}

static void close_files(struct bed *bed)
{
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t l = 0; l < METRICS; l++)
            good(OTF2_Archive_CloseEvtWriter(bed->writing, bed->events[r][l]));
    good(OTF2_Archive_CloseEvtFiles(bed->writing));
    good(OTF2_Archive_OpenDefFiles(bed->writing));
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t l = 0; l < METRICS; l++)
            good(OTF2_Archive_CloseDefWriter(
                bed->writing, OTF2_Archive_GetDefWriter(bed->writing, location_id(r, l))));
    good(OTF2_Archive_CloseDefFiles(bed->writing));
}

static void write_archive(struct bed *bed)
{
    static char name[LONG_NAME + 1];
    memset(name, 'n', LONG_NAME);
    close_files(bed);
    struct text t = {.definitions = OTF2_Archive_GetGlobalDefWriter(bed->writing)};
    OTF2_GlobalDefWriter *d = t.definitions;
    good(OTF2_GlobalDefWriter_WriteClockProperties(d, SECOND, ZERO, bed->time - ZERO,
                                                   OTF2_UNDEFINED_TIMESTAMP));
    uint32_t long_name = text(&t, name);
    for (uint32_t i = 0; i < REGIONS; i++)
        good(OTF2_GlobalDefWriter_WriteRegion(d, i, i == R_MAIN ? long_name : text(&t, regions[i]),
                                              0, 0, OTF2_REGION_ROLE_FUNCTION,
                                              i == R_MAIN     ? OTF2_PARADIGM_COMPILER
                                              : i == R_KERNEL ? OTF2_PARADIGM_CUDA
                                              : i == R_OMP    ? OTF2_PARADIGM_OPENMP
                                                              : OTF2_PARADIGM_MPI,
                                              0, 0, 0, 0));
    write_places(bed, &t, long_name);
    write_groups(&t, long_name);
    good(OTF2_Archive_Close(bed->writing));
}

static int import_it(struct bed *bed)
{
    struct trace_wishes wishes = {.threads = 2, .fault = report_fault, .user = &bed->reported};
    bed->reported.text[0] = '\0';
    int code = import_otf2(bed->recording, bed->archive, &wishes, &bed->counts);
    if (code == 0)
        recorded_sums_read(&bed->sums, bed->recording);
    return code;
}

static void end(struct bed *bed)
{
    directory_remove(bed->directory);
}

static uint64_t others(const struct bed *bed, const char *name)
{
    for (uint32_t i = 0; i < bed->counts.other_count; i++)
        if (strcmp(bed->counts.others[i].name, name) == 0)
            return bed->counts.others[i].count;
    return 0;
}

static uint64_t all_written(const struct bed *bed)
{
    uint64_t sum = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t l = 0; l < LOCATIONS; l++)
            sum += bed->written[r][l];
    return sum;
}

/* ---- what is in them ------------------------------------------------------- */

static void send(struct bed *bed, uint32_t rank, uint32_t location, uint32_t comm, uint32_t tag,
                 uint64_t bytes)
{
    RECORD(rank, location, Enter, R_SEND);
    RECORD(rank, location, MpiSend, 1 - rank, comm, tag, bytes);
    RECORD(rank, location, Leave, R_SEND);
}

static void post(struct bed *bed, uint32_t rank, uint32_t location, uint64_t request)
{
    RECORD(rank, location, Enter, R_IRECV);
    RECORD(rank, location, MpiIrecvRequest, request);
    RECORD(rank, location, Leave, R_IRECV);
}

/* What the master posts the worker finds, one by one and in the other order, with looks in vain
 * before. */
static void threads_share_requests(struct bed *bed)
{
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t l = 0; l < 2; l++)
            RECORD(r, l, Enter, R_MAIN);
    for (uint64_t i = 0; i < 50; i++) {
        post(bed, 1, MASTER, 2 * i + 1);
        RECORD(1, MASTER, ThreadFork, OTF2_PARADIGM_OPENMP, 2);
        RECORD(1, WORKER, Enter, R_OMP);
        RECORD(1, WORKER, ThreadTaskCreate, 9, 1, (uint32_t)i);
        post(bed, 1, MASTER, 2 * i + 2);
        send(bed, 0, i % 2, PAIR, 3, 100 + i);
        send(bed, 0, MASTER, PAIR, 3, 900 + i);
        for (int look = 0; look < 3; look++) {
            RECORD(1, WORKER, Enter, R_TEST);
            RECORD(1, WORKER, MpiRequestTest, 2 * i + 2);
            RECORD(1, WORKER, Leave, R_TEST);
        }
        for (uint64_t k = 0; k < 2; k++) {
            RECORD(1, WORKER, Enter, R_WAITANY);
            RECORD(1, WORKER, MpiIrecv, 0, PAIR, 3, k == 0 ? 900 + i : 100 + i, 2 * i + 2 - k);
            RECORD(1, WORKER, Leave, R_WAITANY);
        }
        RECORD(1, WORKER, Leave, R_OMP);
        RECORD(1, MASTER, ThreadJoin, OTF2_PARADIGM_OPENMP);
        RECORD(1, STREAM, Enter, R_KERNEL);
        RECORD(1, STREAM, RmaGet, 1, 0, 4096, i);
        RECORD(1, STREAM, Leave, R_KERNEL);
    }
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t l = 0; l < 2; l++)
            RECORD(r, l, Leave, R_MAIN);
}

static void threads_and_accelerators_are_distinguished(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    threads_share_requests(bed);
    write_archive(bed);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.ranks, RANKS);
    assert_int_equal(bed->counts.hosts, 1);
    assert_int_equal(bed->counts.events, all_written(bed));
    assert_int_equal(bed->sums.pairs[0][1], 100);
    assert_int_equal(bed->sums.pair_size[0][1], 50 * 1000 + 50 * 49);
    assert_int_equal(bed->counts.counts.matched, 100);
    assert_int_equal(bed->counts.counts.rejected + bed->counts.counts.unmatched, 0);
    assert_int_equal(bed->counts.forced + bed->counts.unbalanced + bed->counts.undefined, 0);
    assert_int_equal(bed->sums.call[CALL_Test], 150);
    assert_int_equal(bed->sums.call[CALL_Waitany], 100);
    assert_int_equal(others(bed, "ThreadFork"), 50);
    assert_int_equal(others(bed, "ThreadTaskCreate"), 50);
    assert_int_equal(others(bed, "RmaGet"), 50);
    assert_int_equal(bed->sums.threads[0], 2);
    assert_int_equal(bed->sums.threads[1], 2);
    assert_int_equal(strlen(bed->sums.comm), 63);
    assert_int_equal(strspn(bed->sums.comm, "n"), 63);
    end(bed);
}

/* The same request again and again, started by one thread and completed by one: often by another,
 * and not always by the same. Were one taken for that of another turn, sizes would not fit and
 * messages be rejected. */
static void turns_of_a_persistent_request_may_alternate_between_threads(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    for (uint32_t i = 0; i < 6000; i++) {
        uint32_t starts = i % 2, completes = i / 3 % 2;
        post(bed, 1, starts, 7);
        send(bed, 0, MASTER, PAIR, 3, 100 + i);
        RECORD(1, completes, Enter, R_WAITANY);
        RECORD(1, completes, MpiIrecv, 0, PAIR, 3, 100 + i, 7);
        RECORD(1, completes, Leave, R_WAITANY);
    }
    write_archive(bed);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.counts.matched, 6000);
    assert_int_equal(bed->counts.counts.rejected + bed->counts.counts.unmatched, 0);
    assert_int_equal(bed->counts.forced, 0);
    assert_int_equal(bed->sums.pair_size[0][1], UINT64_C(6000) * 100 + UINT64_C(6000) * 5999 / 2);
    end(bed);
}

static void times_are_exact_with_any_clock(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->time += SECOND - 10;
    send(bed, 0, MASTER, WORLD, 0, 5);
    bed->time += 3 * SECOND;
    RECORD(1, MASTER, Enter, R_RECV);
    bed->time += SECOND - 20;
    RECORD(1, MASTER, MpiRecv, 0, WORLD, 0, 5);
    RECORD(1, MASTER, Leave, R_RECV);
    write_archive(bed);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.counts.matched, 1);
    assert_int_equal(bed->sums.call_ns[CALL_Recv], 1000000000);
    end(bed);
}

static void collectives_of_several_communicators_are_counted(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    for (uint32_t comm = WORLD; comm <= MANY; comm++)
        for (uint32_t r = 0; r < RANKS; r++) {
            RECORD(r, comm % 2, Enter, R_ALLREDUCE);
            RECORD(r, comm % 2, MpiCollectiveBegin);
            RECORD(r, comm % 2, ParameterInt, 0, 7);
            RECORD(r, comm % 2, MpiCollectiveEnd, OTF2_COLLECTIVE_OP_ALLREDUCE, comm,
                   OTF2_COLLECTIVE_ROOT_NONE, 16, 24);
            RECORD(r, comm % 2, Leave, R_ALLREDUCE);
            RECORD(r, MASTER, Enter, R_BCAST);
            RECORD(r, MASTER, MpiCollectiveBegin);
            RECORD(r, MASTER, MpiCollectiveEnd, OTF2_COLLECTIVE_OP_BCAST, comm, 1, r == 1 ? 8 : 0,
                   8);
            RECORD(r, MASTER, Leave, R_BCAST);
        }
    write_archive(bed);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.collectives, 12);
    assert_int_equal(bed->sums.call[CALL_Allreduce], 6);
    assert_int_equal(bed->sums.call_bytes[CALL_Allreduce], 6 * 16);
    assert_int_equal(bed->sums.call_bytes_in[CALL_Allreduce], 6 * 24);
    assert_int_equal(bed->sums.call[CALL_Bcast], 6);
    assert_int_equal(bed->sums.call_bytes[CALL_Bcast], 3 * 8);
    end(bed);
}

/* Records of remote memory are those of a call of MPI where they stand in one, and of no interest
 * elsewhere. */
static void one_sided_calls_have_their_bytes(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    RECORD(0, MASTER, Enter, R_FENCE);
    RECORD(0, MASTER, RmaCollectiveBegin);
    RECORD(0, MASTER, RmaCollectiveEnd, OTF2_COLLECTIVE_OP_BARRIER, OTF2_RMA_SYNC_LEVEL_MEMORY, 0,
           0, 0, 0);
    RECORD(0, MASTER, Leave, R_FENCE);
    for (uint64_t i = 0; i < 10; i++) {
        RECORD(0, MASTER, Enter, R_PUT);
        RECORD(0, MASTER, RmaPut, 0, 1, 1000 + i, i);
        RECORD(0, MASTER, RmaOpCompleteBlocking, 0, i);
        RECORD(0, MASTER, Leave, R_PUT);
        RECORD(1, WORKER, Enter, R_GET);
        RECORD(1, WORKER, RmaGet, 0, 0, 500, i);
        RECORD(1, WORKER, Leave, R_GET);
        RECORD(1, WORKER, Enter, R_GET);
        RECORD(1, WORKER, RmaAtomic, 77, 5, OTF2_RMA_ATOMIC_TYPE_SWAP, 8, 16, i);
        RECORD(1, WORKER, Leave, R_GET);
        RECORD(1, STREAM, RmaPut, 1, 0, 4096, i);
    }
    write_archive(bed);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.events, all_written(bed));
    assert_int_equal(bed->sums.call[CALL_Win_fence], 1);
    assert_int_equal(bed->sums.call[CALL_Put], 10);
    assert_int_equal(bed->sums.call_bytes[CALL_Put], 10045);
    assert_int_equal(bed->sums.call_bytes_in[CALL_Put], 0);
    assert_int_equal(bed->sums.call[CALL_Get], 20);
    assert_int_equal(bed->sums.call_bytes[CALL_Get], 80);
    assert_int_equal(bed->sums.call_bytes_in[CALL_Get], 10 * 500 + 10 * 16);
    assert_int_equal(others(bed, "RmaPut"), 10);
    assert_int_equal(others(bed, "RmaGet"), 0);
    assert_int_equal(others(bed, "RmaOpCompleteBlocking"), 10);
    assert_int_equal(bed->sums.sent + bed->sums.received, 0);
    end(bed);
}

static void a_cancelled_receive_takes_no_message(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    for (uint64_t i = 0; i < 20; i++) {
        post(bed, 1, i % 2, 2 * i + 1);
        post(bed, 1, MASTER, 2 * i + 2);
        RECORD(1, WORKER, Enter, R_WAITANY);
        RECORD(1, WORKER, MpiRequestCancelled, 2 * i + 1);
        RECORD(1, WORKER, Leave, R_WAITANY);
        send(bed, 0, MASTER, WORLD, 0, 10 + i);
        RECORD(1, WORKER, Enter, R_WAITANY);
        RECORD(1, WORKER, MpiIrecv, 0, WORLD, 0, 10 + i, 2 * i + 2);
        RECORD(1, WORKER, Leave, R_WAITANY);
    }
    write_archive(bed);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.counts.matched, 20);
    assert_int_equal(bed->sums.rank_received[1], 20);
    assert_int_equal(bed->counts.counts.rejected + bed->counts.counts.unmatched, 0);
    assert_int_equal(bed->counts.forced, 0);
    end(bed);
}

/* The worker waits for what the master posted first of all, and both send more than is kept before.
 */
static void a_request_that_stays_open_too_long_counts_where_it_ends(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    post(bed, 1, MASTER, 1);
    for (uint64_t i = 0; i < 40000; i++)
        send(bed, 1, i % 2, WORLD, 1, i);
    send(bed, 0, MASTER, WORLD, 0, 77);
    RECORD(1, WORKER, Enter, R_WAITANY);
    RECORD(1, WORKER, MpiIrecv, 0, WORLD, 0, 77, 1);
    RECORD(1, WORKER, Leave, R_WAITANY);
    for (uint64_t i = 0; i < 40000; i++) {
        RECORD(0, MASTER, Enter, R_RECV);
        RECORD(0, MASTER, MpiRecv, 1, WORLD, 1, i);
        RECORD(0, MASTER, Leave, R_RECV);
    }
    write_archive(bed);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.forced, 1);
    assert_int_equal(bed->counts.counts.matched, 40001);
    assert_int_equal(bed->counts.counts.rejected + bed->counts.counts.unmatched, 0);
    assert_int_equal(bed->sums.rank_received[1], 1);
    end(bed);
}

/* One thread has nothing for long, the other thousands of records: what it ends and begins is known
 * all the same. */
static void a_thread_that_rests_holds_nobody_up(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    for (uint64_t turn = 0; turn < 3; turn++) {
        for (uint64_t i = 0; i < 25000; i++) {
            send(bed, 1, MASTER, WORLD, 1, i);
            RECORD(0, MASTER, Enter, R_RECV);
            RECORD(0, MASTER, MpiRecv, 1, WORLD, 1, i);
            RECORD(0, MASTER, Leave, R_RECV);
        }
        post(bed, 1, turn % 2, 2 * turn + 1);
        post(bed, 1, turn % 2, 2 * turn + 2);
        send(bed, 0, WORKER, WORLD, 0, 70 + turn);
        send(bed, 0, WORKER, WORLD, 0, 80 + turn);
        RECORD(1, 1 - turn % 2, Enter, R_WAITANY);
        RECORD(1, 1 - turn % 2, MpiIrecv, 0, WORLD, 0, 80 + turn, 2 * turn + 2);
        RECORD(1, 1 - turn % 2, MpiIrecv, 0, WORLD, 0, 70 + turn, 2 * turn + 1);
        RECORD(1, 1 - turn % 2, Leave, R_WAITANY);
    }
    write_archive(bed);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.forced, 0);
    assert_int_equal(bed->counts.counts.matched, 3 * 25000 + 6);
    assert_int_equal(bed->counts.counts.rejected + bed->counts.counts.unmatched, 0);
    end(bed);
}

static void locations_without_events_are_no_error(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    send(bed, 0, MASTER, WORLD, 0, 5);
    write_archive(bed);
    char path[256];
    snprintf(path, sizeof(path), "%.100s/traces/%llu.evt", bed->folder,
             (unsigned long long)location_id(1, MASTER));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->counts.counts.failed_streams, 0);
    assert_int_equal(bed->sums.pairs[0][1], 1);
    end(bed);
}

static void a_link_to_an_archive_may_have_any_name(void **state)
{
    struct bed b, *bed = &b;
    char link[128];
    (void)state;
    begin(bed);
    send(bed, 0, MASTER, WORLD, 0, 5);
    write_archive(bed);
    snprintf(link, sizeof(link), "%.100s/latest", bed->directory);
    assert_int_equal(symlink(bed->archive, link), 0);
    snprintf(bed->archive, sizeof(bed->archive), "%s", link);
    assert_int_equal(import_it(bed), 0);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(bed->sums.pairs[0][1], 1);
    end(bed);
}

/* The anchor file names the way in which files are stored. */
static void a_substrate_that_cannot_be_read_is_reported(void **state)
{
    struct bed b, *bed = &b;
    char bytes[64];
    (void)state;
    begin(bed);
    send(bed, 0, MASTER, WORLD, 0, 5);
    write_archive(bed);
    FILE *file = fopen(bed->archive, "r+be");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
    /* Behind the lengths of two kinds of chunks: the substrate, and the compression. */
    assert_int_equal(bytes[28], OTF2_SUBSTRATE_POSIX);
    assert_int_equal(bytes[29], OTF2_COMPRESSION_NONE);
    assert_int_equal(fseek(file, 28, SEEK_SET), 0);
    assert_int_equal(fputc(OTF2_SUBSTRATE_SION, file), OTF2_SUBSTRATE_SION);
    assert_int_equal(fclose(file), 0);
    assert_true(import_it(bed) < 0);
    assert_non_null(strstr(bed->reported.text, "traces.otf2: "));
    assert_non_null(strstr(bed->reported.text, "such as SION, which this libotf2 cannot read"));
    assert_int_equal(access(bed->recording, F_OK), -1);
    end(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_accelerators_are_distinguished),
        cmocka_unit_test(turns_of_a_persistent_request_may_alternate_between_threads),
        cmocka_unit_test(times_are_exact_with_any_clock),
        cmocka_unit_test(collectives_of_several_communicators_are_counted),
        cmocka_unit_test(one_sided_calls_have_their_bytes),
        cmocka_unit_test(a_cancelled_receive_takes_no_message),
        cmocka_unit_test(a_request_that_stays_open_too_long_counts_where_it_ends),
        cmocka_unit_test(a_thread_that_rests_holds_nobody_up),
        cmocka_unit_test(locations_without_events_are_no_error),
        cmocka_unit_test(a_link_to_an_archive_may_have_any_name),
        cmocka_unit_test(a_substrate_that_cannot_be_read_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
