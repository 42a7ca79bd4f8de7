/* Archives of programs that write what OTF2 allows, but not as Score-P does: definitions in another
 * order, large numbers, calling contexts in place of regions, no length. */
#include "daemon/import/otf2/import_otf2.h"
#include "holter/call.h"
#include "tests/daemon/import/otf2/otf2_writing.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/directory.h"
#include "tests/reported_faults.h"

#include <otf2/otf2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define SECOND UINT64_C(1000000000) /* ticks */
#define RANKS 2u
#define FAR 0xf0000000u /* number of a region that is far from all others */

enum { R_SEND, R_RECV, R_MAIN, R_OTHER, REGIONS };
static const char *const names[REGIONS] = {"MPI_Ssend", "MPI_Mrecv", "main", "other"};
#define TEMPLATE "void kernels::apply<std::vector<std::pair<int, double>>, kernels::"
static const char *const long_names[REGIONS] = {"MPI_Ssend", "MPI_Mrecv", TEMPLATE "first>()",
                                                TEMPLATE "second>()"};
static const char *const names_of_tau[REGIONS] = {"MPI_Ssend()", "MPI_Mrecv()  [ <size> = <100> ]",
                                                  "int main() C [{mpi_ring.c} {5,1}-{20,1}]",
                                                  "other"};

struct bed {
    char directory[DIRECTORY_ROOM], folder[80], archive[128], recording[64];
    struct reported_faults reported;
    OTF2_Archive *writing;
    OTF2_EvtWriter *events[RANKS];
    uint64_t time, no_length;
    int names_last, contexts, nameless, as_tau, long_names;
    uint64_t second; /* location of the second rank, as the list of locations has it */
    uint32_t comms;  /* besides the world: both ranks, the other way round */
    uint32_t first;  /* number of the first region */
    uint32_t tag;
    uint64_t zero;          /* that is claimed */
    uint64_t bytes, length; /* length: that is claimed, 0: as it is */
    struct import_otf2_counts counts;
    struct recorded_sums sums;
};

static void begin(struct bed *bed)
{
    *bed = (struct bed){.time = SECOND, .tag = 7, .bytes = 100, .second = 1, .zero = SECOND};
    assert_int_equal(directory_make(bed->directory), 0);
    snprintf(bed->folder, sizeof(bed->folder), "%s/archive", bed->directory);
    snprintf(bed->archive, sizeof(bed->archive), "%s/traces.otf2", bed->folder);
    snprintf(bed->recording, sizeof(bed->recording), "%s/t.hrec", bed->directory);
    bed->writing = otf2_writing(bed->folder, "traces", 1024 * 1024);
    for (uint32_t r = 0; r < RANKS; r++)
        bed->events[r] = OTF2_Archive_GetEvtWriter(bed->writing, r);
}

/* ---- events ---------------------------------------------------------------- */

static void enter(struct bed *bed, uint32_t rank, uint32_t region)
{
    bed->time += 10;
    good(bed->contexts
             ? OTF2_EvtWriter_CallingContextEnter(bed->events[rank], NULL, bed->time,
                                                  REGIONS - region, 1)
             : OTF2_EvtWriter_Enter(bed->events[rank], NULL, bed->time, bed->first + region));
}

static void leave(struct bed *bed, uint32_t rank, uint32_t region)
{
    bed->time += 10;
    good(bed->contexts
             ? OTF2_EvtWriter_CallingContextLeave(bed->events[rank], NULL, bed->time,
                                                  REGIONS - region)
             : OTF2_EvtWriter_Leave(bed->events[rank], NULL, bed->time, bed->first + region));
}

/* A message from rank 0 to rank 1: both its calls take 20 ns. */
static void pass_message(struct bed *bed)
{
    enter(bed, 0, R_MAIN);
    enter(bed, 0, R_SEND);
    good(OTF2_EvtWriter_MpiSend(bed->events[0], NULL, bed->time, 1, 0, bed->tag, bed->bytes));
    leave(bed, 0, R_SEND);
    leave(bed, 0, R_MAIN);
    enter(bed, 1, R_RECV);
    good(OTF2_EvtWriter_MpiRecv(bed->events[1], NULL, bed->time, 0, 0, bed->tag, bed->bytes));
    leave(bed, 1, R_RECV);
}

/* ---- definitions ----------------------------------------------------------- */

static void write_regions(const struct bed *bed, OTF2_GlobalDefWriter *d)
{
    for (uint32_t i = 0; i < REGIONS; i++)
        good(OTF2_GlobalDefWriter_WriteRegion(
            d, bed->first + i, 1 + i, 0, 0, OTF2_REGION_ROLE_FUNCTION,
            i >= R_MAIN && !bed->as_tau ? OTF2_PARADIGM_COMPILER : OTF2_PARADIGM_MPI, 0, 0, 0, 0));
    for (uint32_t i = 0; bed->contexts && i < REGIONS; i++)
        good(OTF2_GlobalDefWriter_WriteCallingContext(d, REGIONS - i, bed->first + i,
                                                      OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
                                                      OTF2_UNDEFINED_CALLING_CONTEXT));
}

static void write_places(const struct bed *bed, OTF2_GlobalDefWriter *d)
{
    uint64_t locations[RANKS] = {0, bed->second}, world[RANKS] = {0, 1}, swapped[RANKS] = {1, 0};
    good(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t r = 0; r < RANKS; r++) {
        good(OTF2_GlobalDefWriter_WriteLocationGroup(d, r, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                     OTF2_UNDEFINED_LOCATION_GROUP));
        good(OTF2_GlobalDefWriter_WriteLocation(d, r, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 0, r));
    }
    good(OTF2_GlobalDefWriter_WriteGroup(d, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                         0, RANKS, locations));
    good(OTF2_GlobalDefWriter_WriteGroup(d, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, 0,
                                         RANKS, world));
    good(OTF2_GlobalDefWriter_WriteComm(d, 0, 0, 1, OTF2_UNDEFINED_COMM, 0));
    good(OTF2_GlobalDefWriter_WriteGroup(d, 2, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, 0,
                                         RANKS, swapped));
    for (uint32_t i = 0; i < bed->comms; i++)
        good(OTF2_GlobalDefWriter_WriteComm(d, 1 + i, 0, 2, 0, 0));
}

static void import_it(struct bed *bed)
{
    struct trace_wishes wishes = {.threads = 2, .fault = report_fault, .user = &bed->reported};
    for (uint32_t r = 0; r < RANKS; r++)
        good(OTF2_Archive_CloseEvtWriter(bed->writing, bed->events[r]));
    good(OTF2_Archive_CloseEvtFiles(bed->writing));
    OTF2_GlobalDefWriter *d = OTF2_Archive_GetGlobalDefWriter(bed->writing);
    good(OTF2_GlobalDefWriter_WriteClockProperties(d, SECOND, bed->zero,
                                                   bed->no_length     ? 0
                                                   : bed->length != 0 ? bed->length
                                                                      : bed->time - SECOND,
                                                   OTF2_UNDEFINED_TIMESTAMP));
    good(OTF2_GlobalDefWriter_WriteString(d, 0, ""));
    if (bed->names_last && !bed->nameless)
        write_regions(bed, d);
    for (uint32_t i = 0; i < REGIONS; i++)
        good(OTF2_GlobalDefWriter_WriteString(d, 1 + i,
                                              bed->as_tau       ? names_of_tau[i]
                                              : bed->long_names ? long_names[i]
                                                                : names[i]));
    if (!bed->names_last && !bed->nameless)
        write_regions(bed, d);
    write_places(bed, d);
    good(OTF2_Archive_Close(bed->writing));
    assert_int_equal(import_otf2(bed->recording, bed->archive, &wishes, &bed->counts), 0);
    recorded_sums_read(&bed->sums, bed->recording);
}

/* The only fault is this one. */
static void import_with_fault(struct bed *bed, const char *what)
{
    import_it(bed);
    assert_non_null(strstr(bed->reported.text, what));
    assert_ptr_equal(strchr(bed->reported.text, '\n'),
                     bed->reported.text + strlen(bed->reported.text) - 1);
}

static void import_well(struct bed *bed)
{
    import_it(bed);
    assert_string_equal(bed->reported.text, "");
}

/* ---- tests ----------------------------------------------------------------- */

static void assert_a_message_in_its_calls(const struct bed *bed)
{
    assert_int_equal(bed->counts.counts.matched, 1);
    assert_int_equal(bed->counts.undefined + bed->counts.unbalanced, 0);
    assert_int_equal(bed->counts.other_count, 0);
    assert_int_equal(bed->sums.pair_size[0][1], 100);
    assert_int_equal(bed->sums.call[CALL_Ssend], 1);
    assert_int_equal(bed->sums.call_ns[CALL_Ssend], 10);
    assert_int_equal(bed->sums.call[CALL_Mrecv], 1);
    assert_int_equal(bed->sums.call_ns[CALL_Mrecv], 10);
}

static void regions_may_be_defined_before_their_names(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->names_last = 1;
    pass_message(bed);
    import_well(bed);
    assert_a_message_in_its_calls(bed);
    directory_remove(bed->directory);
}

static void regions_whose_long_names_begin_alike_are_two(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->long_names = 1;
    pass_message(bed);
    enter(bed, 0, R_OTHER);
    pass_message(bed);
    enter(bed, 0, R_SEND);
    leave(bed, 0, R_SEND);
    leave(bed, 0, R_OTHER);
    import_well(bed);
    assert_string_equal(bed->sums.region, "void kernels::apply<std::vector<std::pair<int, doubl#2");
    directory_remove(bed->directory);
}

static void regions_may_have_any_number(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->first = FAR;
    pass_message(bed);
    import_well(bed);
    assert_a_message_in_its_calls(bed);
    directory_remove(bed->directory);
}

/* As tools write them that unwind the stack at each region. */
static void calls_may_be_described_by_their_calling_contexts(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->contexts = 1;
    pass_message(bed);
    import_well(bed);
    assert_a_message_in_its_calls(bed);
    directory_remove(bed->directory);
}

/* The writer assigns every region with "mpi" in its name to MPI, and appends text to names of
 * calls. */
static void main_of_a_file_called_mpi_is_no_call(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->as_tau = 1;
    pass_message(bed);
    import_well(bed);
    assert_a_message_in_its_calls(bed);
    assert_int_equal(bed->counts.nameless, 0);
    directory_remove(bed->directory);
}

/* One location does not exist, and one belongs to another rank. */
static void ranks_are_processes_where_their_locations_are_wrong(void **state)
{
    static const uint64_t wrong[] = {77, 0};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct bed b, *bed = &b;
        begin(bed);
        bed->second = wrong[i];
        pass_message(bed);
        import_well(bed);
        assert_a_message_in_its_calls(bed);
        assert_int_equal(bed->counts.left_out, 0);
        assert_true(bed->counts.by_process);
        directory_remove(bed->directory);
    }
}

static void regions_that_are_not_defined_are_counted(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->nameless = 1;
    pass_message(bed);
    import_well(bed);
    assert_int_equal(bed->counts.undefined, 3);
    assert_int_equal(bed->counts.counts.matched, 1);
    assert_int_equal(bed->sums.call[CALL_Send], 1);
    directory_remove(bed->directory);
}

/* They are sent and received, but their partners are not known. */
static void messages_of_ranks_that_are_not_in_the_communicator_are_counted(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    pass_message(bed);
    enter(bed, 0, R_SEND);
    good(OTF2_EvtWriter_MpiSend(bed->events[0], NULL, bed->time, RANKS, 0, 7, 100));
    leave(bed, 0, R_SEND);
    enter(bed, 1, R_RECV);
    good(OTF2_EvtWriter_MpiRecv(bed->events[1], NULL, bed->time, UINT32_MAX, 0, 7, 100));
    leave(bed, 1, R_RECV);
    import_well(bed);
    assert_int_equal(bed->counts.undefined, 2);
    assert_int_equal(bed->counts.sends + bed->counts.receives, 4);
    assert_int_equal(bed->counts.counts.matched, 1);
    directory_remove(bed->directory);
}

/* More communicators than slots: the ranks of their messages are known all the same. */
static void messages_of_any_number_of_communicators_have_their_ranks(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->comms = 70000;
    enter(bed, 0, R_SEND);
    good(OTF2_EvtWriter_MpiSend(bed->events[0], NULL, bed->time, 0, 69000, 7, 100));
    leave(bed, 0, R_SEND);
    enter(bed, 1, R_RECV);
    good(OTF2_EvtWriter_MpiRecv(bed->events[1], NULL, bed->time, 1, 69000, 7, 100));
    leave(bed, 1, R_RECV);
    import_well(bed);
    assert_int_equal(bed->counts.undefined, 0);
    assert_int_equal(bed->sums.pair_size[0][1], 100);
    directory_remove(bed->directory);
}

static void windows_are_as_many_where_the_length_is_not_reported(void **state)
{
    static const struct {
        uint64_t pause, window_ns;
    } cases[] = {{10000, 5000}, {100000000, 50000000}, {10 * SECOND, SECOND}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bed b, *bed = &b;
        begin(bed);
        bed->no_length = 1;
        for (int n = 0; n < 100; n++) {
            pass_message(bed);
            bed->time += cases[i].pause;
        }
        import_well(bed);
        assert_int_equal(bed->counts.counts.matched, 100);
        assert_int_equal(bed->counts.window_ns, cases[i].window_ns);
        directory_remove(bed->directory);
    }
}

static void pass_messages_with_pauses(struct bed *bed)
{
    for (int n = 0; n < 100; n++) {
        pass_message(bed);
        bed->time += 10000;
    }
}

static void assert_messages_with_pauses(const struct bed *bed)
{
    assert_int_equal(bed->counts.counts.matched, 100);
    assert_int_equal(bed->counts.counts.rejected, 0);
    assert_int_equal(bed->counts.early, 0);
    assert_int_equal(bed->counts.window_ns, 5000);
    assert_int_equal(bed->sums.call_ns[CALL_Ssend], 1000);
}

/* All records precede the zero, or half of them do, or all precede it slightly. */
static void a_zero_that_is_reported_too_late_costs_no_time(void **state)
{
    static const uint64_t zeros[] = {1000 * SECOND, SECOND + 500000, SECOND + 15};
    (void)state;
    for (size_t i = 0; i < sizeof(zeros) / sizeof(*zeros); i++) {
        struct bed b, *bed = &b;
        begin(bed);
        bed->zero = zeros[i];
        pass_messages_with_pauses(bed);
        bed->length = bed->time - SECOND;
        import_with_fault(bed, "its clock properties have a wrong begin: there are records ");
        assert_messages_with_pauses(bed);
        directory_remove(bed->directory);
    }
}

/* One time is invalid, and is reported with the others. */
static void a_record_long_before_the_zero_does_not_move_it(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->time = 5;
    leave(bed, 1, R_SEND);
    bed->time = SECOND;
    pass_messages_with_pauses(bed);
    import_well(bed);
    assert_int_equal(bed->counts.early, 1);
    assert_int_equal(bed->counts.counts.matched, 100);
    assert_int_equal(bed->sums.call_ns[CALL_Ssend], 1000);
    directory_remove(bed->directory);
}

static void times_may_be_dates_without_a_zero(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->zero = 0;
    bed->time = UINT64_C(1700000000) * SECOND;
    pass_messages_with_pauses(bed);
    bed->length = bed->time - UINT64_C(1700000000) * SECOND;
    import_well(bed);
    assert_messages_with_pauses(bed);
    directory_remove(bed->directory);
}

/* Tags that are negative, missing, or larger than MPI allows. */
static void tags_of_any_size_are_matched(void **state)
{
    static const uint32_t tags[] = {0, INT32_MAX, 0x80000005u, UINT32_MAX - 1, UINT32_MAX};
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
        bed->tag = tags[i];
        pass_message(bed);
    }
    import_well(bed);
    assert_int_equal(bed->counts.counts.matched, 5);
    assert_int_equal(bed->counts.counts.unmatched, 0);
    directory_remove(bed->directory);
}

static void messages_of_more_bytes_than_memory_are_left_out(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    bed->bytes = UINT64_C(1) << 63;
    for (int i = 0; i < 3; i++) {
        pass_message(bed);
        bed->time += SECOND;
    }
    bed->bytes = 100;
    pass_message(bed);
    import_with_fault(bed, "t.hrec: 6 records are none, or have too many bytes, and left out");
    assert_int_equal(bed->counts.counts.lost, 6);
    assert_int_equal(bed->counts.counts.matched, 1);
    assert_int_equal(bed->sums.sent_bytes, 100);
    assert_int_equal(bed->sums.received_bytes, 100);
    directory_remove(bed->directory);
}

/* A few of many records, so that the length in the archive is accepted. */
static void records_far_beyond_the_end_are_counted_and_reported(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    begin(bed);
    for (int i = 0; i < 1000; i++)
        pass_message(bed);
    bed->length = bed->time - SECOND;
    bed->time = UINT64_C(1) << 62;
    pass_message(bed);
    import_it(bed);
    assert_int_equal(bed->counts.counts.matched, 1000);
    assert_int_equal(bed->counts.counts.lost, 3);
    assert_non_null(
        strstr(bed->reported.text, "t.hrec: 3 records are none, or far beyond the end"));
    assert_non_null(strstr(bed->reported.text, "is of rank 0, at 4611686017."));
    assert_ptr_equal(strchr(bed->reported.text, '\n'),
                     bed->reported.text + strlen(bed->reported.text) - 1);
    directory_remove(bed->directory);
}

/* As of a program that was not built for MPI, or a summary without events. */
static void an_archive_without_records_of_mpi_is_reported(void **state)
{
    struct bed b, *bed = &b;
    (void)state;
    for (int events = 0; events < 2; events++) {
        begin(bed);
        for (int i = 0; i < events; i++) {
            enter(bed, 0, R_MAIN);
            leave(bed, 0, R_MAIN);
        }
        import_with_fault(bed, "traces.otf2: there are no records of MPI in it");
        directory_remove(bed->directory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_may_be_defined_before_their_names),
        cmocka_unit_test(regions_whose_long_names_begin_alike_are_two),
        cmocka_unit_test(regions_may_have_any_number),
        cmocka_unit_test(calls_may_be_described_by_their_calling_contexts),
        cmocka_unit_test(main_of_a_file_called_mpi_is_no_call),
        cmocka_unit_test(ranks_are_processes_where_their_locations_are_wrong),
        cmocka_unit_test(regions_that_are_not_defined_are_counted),
        cmocka_unit_test(messages_of_ranks_that_are_not_in_the_communicator_are_counted),
        cmocka_unit_test(messages_of_any_number_of_communicators_have_their_ranks),
        cmocka_unit_test(windows_are_as_many_where_the_length_is_not_reported),
        cmocka_unit_test(a_zero_that_is_reported_too_late_costs_no_time),
        cmocka_unit_test(a_record_long_before_the_zero_does_not_move_it),
        cmocka_unit_test(times_may_be_dates_without_a_zero),
        cmocka_unit_test(tags_of_any_size_are_matched),
        cmocka_unit_test(messages_of_more_bytes_than_memory_are_left_out),
        cmocka_unit_test(records_far_beyond_the_end_are_counted_and_reported),
        cmocka_unit_test(an_archive_without_records_of_mpi_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
