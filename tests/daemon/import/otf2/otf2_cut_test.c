/* Files of events of several chunks that are cut off, or have a hole: what comes before is
 * imported, once, and losses are reported. */
#include "daemon/import/otf2/import_otf2.h"

#include "tests/daemon/import/otf2/otf2_writing.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/directory.h"
#include "tests/reported_faults.h"

#include <fcntl.h>
#include <otf2/otf2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define CHUNK 262144L
#define MESSAGES 30000u

enum { R_SEND, R_RECV, REGIONS };

struct bed {
    char directory[DIRECTORY_ROOM], folder[80], archive[128], events[128], recording[64];
    struct reported_faults reported;
    long size; /* of the events of rank 0 */
    struct import_otf2_counts counts;
    struct recorded_sums sums;
};

/* Rank 0 sends 100, 101, 102 ... bytes to rank 1. @return the time of the last record */
static uint64_t write_events(OTF2_Archive *archive)
{
    OTF2_EvtWriter *e[2];
    uint64_t t = 100;
    for (uint64_t r = 0; r < 2; r++)
        e[r] = OTF2_Archive_GetEvtWriter(archive, r);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        good(OTF2_EvtWriter_Enter(e[0], NULL, t += 5, R_SEND));
        good(OTF2_EvtWriter_MpiSend(e[0], NULL, t += 5, 1, 0, 1, 100 + i));
        good(OTF2_EvtWriter_Leave(e[0], NULL, t += 5, R_SEND));
        good(OTF2_EvtWriter_Enter(e[1], NULL, t += 5, R_RECV));
        good(OTF2_EvtWriter_MpiRecv(e[1], NULL, t += 5, 0, 0, 1, 100 + i));
        good(OTF2_EvtWriter_Leave(e[1], NULL, t += 5, R_RECV));
    }
    for (uint64_t r = 0; r < 2; r++)
        good(OTF2_Archive_CloseEvtWriter(archive, e[r]));
    return t;
}

static void write_definitions(OTF2_GlobalDefWriter *d, uint64_t end)
{
    static const char *const texts[] = {"MPI_Send", "MPI_Recv", "node", ""};
    const uint64_t ranks[] = {0, 1};
    for (uint32_t i = 0; i < 4; i++)
        good(OTF2_GlobalDefWriter_WriteString(d, i, texts[i]));
    good(OTF2_GlobalDefWriter_WriteClockProperties(d, 1000000000, 0, end + 1,
                                                   OTF2_UNDEFINED_TIMESTAMP));
    for (uint32_t i = 0; i < REGIONS; i++)
        good(OTF2_GlobalDefWriter_WriteRegion(d, i, i, i, 3, OTF2_REGION_ROLE_POINT2POINT,
                                              OTF2_PARADIGM_MPI, 0, 3, 0, 0));
    good(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, 2, 2, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t r = 0; r < 2; r++) {
        good(OTF2_GlobalDefWriter_WriteLocationGroup(d, r, 3, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                     OTF2_UNDEFINED_LOCATION_GROUP));
        good(OTF2_GlobalDefWriter_WriteLocation(d, r, 3, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                3 * MESSAGES, r));
    }
    good(OTF2_GlobalDefWriter_WriteGroup(d, 0, 3, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                         0, 2, ranks));
    good(OTF2_GlobalDefWriter_WriteGroup(d, 1, 3, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, 0,
                                         2, ranks));
    good(OTF2_GlobalDefWriter_WriteComm(d, 0, 3, 1, OTF2_UNDEFINED_COMM, 0));
}

static void begin(struct bed *bed)
{
    struct stat status;
    *bed = (struct bed){.size = 0};
    assert_int_equal(directory_make(bed->directory), 0);
    snprintf(bed->folder, sizeof(bed->folder), "%s/archive", bed->directory);
    snprintf(bed->archive, sizeof(bed->archive), "%s/traces.otf2", bed->folder);
    snprintf(bed->events, sizeof(bed->events), "%s/traces/0.evt", bed->folder);
    snprintf(bed->recording, sizeof(bed->recording), "%s/t.hrec", bed->directory);
    OTF2_Archive *archive = otf2_writing(bed->folder, "traces", CHUNK);
    uint64_t last = write_events(archive);
    good(OTF2_Archive_CloseEvtFiles(archive));
    write_definitions(OTF2_Archive_GetGlobalDefWriter(archive), last);
    good(OTF2_Archive_Close(archive));
    assert_int_equal(stat(bed->events, &status), 0);
    bed->size = (long)status.st_size;
    assert_true(bed->size > 4 * CHUNK);
}

static void import_it(struct bed *bed)
{
    struct trace_wishes wishes = {.threads = 1, .fault = report_fault, .user = &bed->reported};
    remove(bed->recording);
    bed->reported.text[0] = '\0';
    assert_int_equal(import_otf2(bed->recording, bed->archive, &wishes, &bed->counts), 0);
    recorded_sums_read(&bed->sums, bed->recording);
}

/* The first messages, none twice. @return how many */
static uint64_t check_first_messages(const struct bed *bed)
{
    uint64_t n = bed->sums.sent;
    assert_in_range(n, 1, MESSAGES);
    assert_int_equal(bed->sums.sent_bytes, 100 * n + n * (n - 1) / 2);
    assert_int_equal(bed->sums.received, MESSAGES);
    return n;
}

static void what_comes_before_a_cut_is_imported_once(void **state)
{
    static const long shorter[] = {2,         1000,          CHUNK / 2,     CHUNK,
                                   CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK + 77};
    struct bed b, *bed = &b;
    uint64_t before = MESSAGES;
    (void)state;
    begin(bed);
    import_it(bed);
    assert_string_equal(bed->reported.text, "");
    assert_int_equal(check_first_messages(bed), MESSAGES);
    for (size_t i = 0; i < sizeof(shorter) / sizeof(shorter[0]); i++) {
        assert_int_equal(truncate(bed->events, bed->size - shorter[i]), 0);
        import_it(bed);
        assert_int_equal(bed->counts.counts.failed_streams, 1);
        assert_non_null(strstr(bed->reported.text, "traces/0.evt: after event "));
        assert_non_null(strstr(bed->reported.text, ", before byte "));
        assert_true(check_first_messages(bed) <= before);
        before = bed->sums.sent;
    }
    for (long chunks = 2; chunks > 0; chunks--) {
        assert_int_equal(truncate(bed->events, chunks * CHUNK), 0);
        import_it(bed);
        assert_int_equal(bed->counts.counts.failed_streams, 1);
        assert_true(check_first_messages(bed) < before);
        before = bed->sums.sent;
    }
    directory_remove(bed->directory);
}

/* libotf2 takes zeros for what is left of a chunk, and says nothing. */
static void events_that_are_missing_in_the_middle_are_reported(void **state)
{
    static const char zeros[CHUNK / 4];
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    int fd = open(bed->events, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, zeros, sizeof(zeros), CHUNK + CHUNK / 2), sizeof(zeros));
    close(fd);
    import_it(bed);
    assert_int_equal(bed->counts.counts.failed_streams, 1);
    assert_non_null(strstr(bed->reported.text, "traces/0.evt: after event "));
    assert_non_null(strstr(bed->reported.text, "fewer events than the definitions state: 90000"));
    assert_in_range(bed->sums.sent, MESSAGES / 2, MESSAGES - 1);
    directory_remove(bed->directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_before_a_cut_is_imported_once),
        cmocka_unit_test(events_that_are_missing_in_the_middle_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
