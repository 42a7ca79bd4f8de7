#include "tests/daemon/import/dumpi/dumpi_own.h"

#include "holter/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define W &writers[0]

static void check(const struct event *e, uint16_t call, uint32_t flags, uint64_t bytes,
                  int32_t peer, int32_t tag)
{
    assert_int_equal(e->call, call);
    assert_int_equal(e->flags, flags);
    assert_int_equal(e->bytes, bytes);
    assert_int_equal(e->peer, peer);
    assert_int_equal(e->tag, tag);
}

static void statuses_tell_who_sent_and_how_much(void **state)
{
    (void)state;
    struct event e[RECORDS];
    begin_files(3);
    dumpi_writer_call(W, DUMPI_Irecv, LL(10), LL(INT_), LL(-1), LL(-1), LL(WORLD_), LL(2));
    dumpi_writer_call(W, DUMPI_Irecv, LL(10), LL(INT_), LL(-1), LL(5), LL(WORLD_), LL(3));
    dumpi_writer_call(W, DUMPI_Wait, LL(2), STATUS(8, 2, 77));
    dumpi_writer_call(W, DUMPI_Wait, LL(3), STATUS(0, -1, -1)); /* it was MPI_PROC_NULL */
    dumpi_writer_call(W, DUMPI_Recv, LL(4), LL(DOUBLE_), LL(1), LL(6), LL(WORLD_), IGNORED);
    dumpi_writer_call(W, DUMPI_Recv, LL(4), LL(DOUBLE_), LL(-1), LL(6), LL(WORLD_),
                      STATUS(16, 1, 6));
    dumpi_writer_call(W, DUMPI_Send, LL(4), LL(DOUBLE_), LL(-2), LL(6), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Probe, LL(-1), LL(-1), LL(WORLD_), STATUS(16, 1, 6));
    dumpi_writer_call(W, DUMPI_Iprobe, LL(1), LL(6), LL(WORLD_), LL(0), IGNORED);
    end_files(3);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 9);
    check(&e[0], CALL_Irecv, EVENT_RECV | EVENT_POST | EVENT_WILDCARD, 40, PEER_ANY, TAG_ANY);
    check(&e[1], CALL_Irecv, EVENT_RECV | EVENT_POST | EVENT_WILDCARD, 40, PEER_ANY, 5);
    check(&e[2], CALL_Wait, EVENT_RECV | EVENT_DONE | EVENT_WILDCARD, 8, 2, 77);
    assert_int_equal(e[2].request, e[0].request);
    assert_int_equal(e[2].t_post, e[0].t_enter);
    check(&e[3], CALL_Wait, EVENT_RECV | EVENT_DONE | EVENT_WILDCARD, 0, PEER_NULL, 5);
    check(&e[4], CALL_Recv, RECEIVED, 32, 1, 6);
    check(&e[5], CALL_Recv, RECEIVED | EVENT_WILDCARD, 16, 1, 6);
    check(&e[6], CALL_Send, SENT, 32, PEER_NULL, 6);
    check(&e[7], CALL_Probe, EVENT_WILDCARD, 0, 1, 6);
    check(&e[8], CALL_Iprobe, 0, 0, PEER_NONE, TAG_NONE);
    assert_int_equal(e[0].t_enter, 1);
    assert_int_equal(e[0].t_exit, 2001);
    assert_int_equal(e[1].t_enter, 3001);
    dumpi_trace_close(trace);
}

/* Statuses have 32 bits for the size. */
static void buffers_tell_the_size_of_messages_of_four_gibibytes(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const uint64_t large = UINT64_C(8) * 600000001;
    begin_files(2);
    dumpi_writer_call(W, DUMPI_Recv, LL(600000001), LL(DOUBLE_), LL(1), LL(6), LL(WORLD_),
                      STATUS((int32_t)(uint32_t)large, 1, 6));
    dumpi_writer_call(W, DUMPI_Recv, LL(600000001), LL(DOUBLE_), LL(1), LL(6), LL(WORLD_),
                      STATUS(800, 1, 6));
    dumpi_writer_call(W, DUMPI_Recv, LL(600000001), LL(DOUBLE_), LL(1), LL(6), LL(WORLD_),
                      STATUS(-32766, 1, 6));
    dumpi_writer_call(W, DUMPI_Recv, LL(1 << 30), LL(DOUBLE_), LL(1), LL(6), LL(WORLD_),
                      STATUS(0, 1, 6));
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 4);
    assert_int_equal(e[0].bytes, large);
    assert_int_equal(e[1].bytes, 800);
    assert_int_equal(e[2].bytes, large);
    assert_int_equal(e[3].bytes, 0);
    dumpi_trace_close(trace);
}

static void requests_complete_as_they_are_reported(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t requests[] = {2, 1, 3, 4}, indices[] = {2, 0};
    const struct dumpi_status two[] = {{4, 1, 2, 0, 0}, {12, 1, 0, 0, 0}};
    begin_files(2);
    for (int i = 0; i < 3; i++)
        dumpi_writer_call(W, DUMPI_Irecv, LL(10), LL(INT_), LL(1),
                          LL(i == 0   ? 0
                             : i == 1 ? 2
                                      : 3),
                          LL(WORLD_), LL(2 + i));
    dumpi_writer_call(W, DUMPI_Testany, LL(4), 4, requests, LL(-32766), LL(0), IGNORED);
    dumpi_writer_call(W, DUMPI_Waitsome, LL(4), 4, requests, LL(2), 2, indices, 2, two);
    dumpi_writer_call(W, DUMPI_Waitany, LL(4), 4, requests, LL(3), STATUS(20, 1, 3));
    dumpi_writer_call(W, DUMPI_Isend, LL(1), LL(INT_), LL(1), LL(9), LL(WORLD_), LL(2));
    dumpi_writer_call(W, DUMPI_Irecv, LL(1), LL(INT_), LL(1), LL(9), LL(WORLD_), LL(3));
    dumpi_writer_call(W, DUMPI_Cancel, LL(3));
    dumpi_writer_call(W, DUMPI_Testall, LL(2), 2, (const int32_t[]){2, 3}, LL(0), IGNORED);
    dumpi_writer_call(W, DUMPI_Testall, LL(2), 2, (const int32_t[]){2, 3}, LL(1), 2,
                      (const struct dumpi_status[]){{99, 9, 9, 0, 0}, {0, -1, -1, 1, 0}});
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 13);
    check(&e[3], CALL_Testany, 0, 0, PEER_NONE, TAG_NONE);
    check(&e[4], CALL_Waitsome, EVENT_RECV | EVENT_DONE, 4, 1, 2);
    assert_int_equal(e[4].parts, 1);
    check(&e[5], CALL_Waitsome, EVENT_RECV | EVENT_DONE, 12, 1, 0);
    assert_int_equal(e[5].kind, EVENT_PART);
    assert_int_equal(e[5].t_exit, e[4].t_exit);
    check(&e[6], CALL_Waitany, EVENT_RECV | EVENT_DONE, 20, 1, 3);
    check(&e[9], CALL_Cancel, 0, 0, 1, 9);
    check(&e[10], CALL_Testall, 0, 0, PEER_NONE, TAG_NONE);
    check(&e[11], CALL_Testall, EVENT_SEND | EVENT_DONE, 4, 1, 9);
    check(&e[12], CALL_Testall, EVENT_RECV | EVENT_CANCELLED, 0, 1, 9);
    assert_int_equal(e[12].request, e[8].request);
    dumpi_trace_close(trace);
}

static void places_behind_those_that_ended_mean_nothing(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t requests[] = {2, 3}, indices[] = {1, 0};
    begin_files(2);
    for (int i = 0; i < 2; i++)
        dumpi_writer_call(W, DUMPI_Irecv, LL(10), LL(INT_), LL(1), LL(5), LL(WORLD_),
                          i == 0 ? LL(2) : LL(3));
    dumpi_writer_call(W, DUMPI_Testsome, LL(2), 2, requests, LL(0), 2, indices, IGNORED);
    dumpi_writer_call(W, DUMPI_Waitsome, LL(2), 2, requests, LL(1), 2, indices, IGNORED);
    dumpi_writer_call(W, DUMPI_Waitsome, LL(2), 2, requests, LL(-32766), 2, indices, IGNORED);
    dumpi_writer_call(W, DUMPI_Wait, LL(2), IGNORED);
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 6);
    check(&e[2], CALL_Testsome, 0, 0, PEER_NONE, TAG_NONE);
    check(&e[3], CALL_Waitsome, EVENT_RECV | EVENT_DONE, 40, 1, 5);
    assert_int_equal(e[3].request, e[1].request);
    check(&e[4], CALL_Waitsome, 0, 0, PEER_NONE, TAG_NONE);
    check(&e[5], CALL_Wait, EVENT_RECV | EVENT_DONE, 40, 1, 5);
    dumpi_trace_close(trace);
}

static void persistent_requests_count_at_each_start(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t both[] = {2, 3};
    begin_files(2);
    dumpi_writer_call(W, DUMPI_Send_init, LL(2), LL(DOUBLE_), LL(1), LL(4), LL(WORLD_), LL(2));
    dumpi_writer_call(W, DUMPI_Recv_init, LL(2), LL(DOUBLE_), LL(1), LL(4), LL(WORLD_), LL(3));
    for (int i = 0; i < 2; i++) {
        dumpi_writer_call(W, DUMPI_Startall, LL(2), 2, both);
        dumpi_writer_call(W, DUMPI_Waitall, LL(2), 2, both, IGNORED);
    }
    dumpi_writer_call(W, DUMPI_Start, LL(2));
    dumpi_writer_call(W, DUMPI_Request_free, LL(3));
    dumpi_writer_call(W, DUMPI_Wait, LL(3), IGNORED);
    dumpi_writer_call(W, DUMPI_Sendrecv, LL(1), LL(INT_), LL(1), LL(7), LL(8), LL(INT_), LL(-1),
                      LL(-1), LL(WORLD_), STATUS(12, 1, 8));
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 15);
    check(&e[0], CALL_Send_init, EVENT_PERSISTENT, 16, 1, 4);
    check(&e[2], CALL_Startall, EVENT_SEND | EVENT_POST | EVENT_PERSISTENT, 16, 1, 4);
    check(&e[3], CALL_Startall, EVENT_RECV | EVENT_POST | EVENT_PERSISTENT, 16, 1, 4);
    check(&e[4], CALL_Waitall, EVENT_SEND | EVENT_DONE | EVENT_PERSISTENT, 16, 1, 4);
    check(&e[5], CALL_Waitall, EVENT_RECV | EVENT_DONE | EVENT_PERSISTENT, 16, 1, 4);
    check(&e[8], CALL_Waitall, EVENT_SEND | EVENT_DONE | EVENT_PERSISTENT, 16, 1, 4);
    check(&e[10], CALL_Start, EVENT_SEND | EVENT_POST | EVENT_PERSISTENT, 16, 1, 4);
    check(&e[11], CALL_Request_free, 0, 0, 1, 4);
    check(&e[12], CALL_Wait, 0, 0, PEER_NONE, TAG_NONE);
    check(&e[13], CALL_Sendrecv, SENT, 4, 1, 7);
    assert_int_equal(event_receive_source(&e[13]), PEER_ANY);
    check(&e[14], CALL_Sendrecv, RECEIVED | EVENT_WILDCARD, 12, 1, 8);
    dumpi_trace_close(trace);
}

static void a_split_is_the_same_on_all_its_members(void **state)
{
    (void)state;
    struct event e[RECORDS];
    begin_files(4);
    for (int i = 0; i < 4; i++) {
        /* handles of ranks have nothing to do with each other */
        dumpi_writer_call(&writers[i], DUMPI_Comm_split, LL(WORLD_), LL(i % 2), LL(-i), LL(10 + i));
        dumpi_writer_call(&writers[i], DUMPI_Comm_dup, LL(10 + i), LL(20 + i));
        dumpi_writer_call(&writers[i], DUMPI_Comm_set_name, LL(20 + i), i % 2 ? "odd" : "even");
        dumpi_writer_call(&writers[i], DUMPI_Send, LL(1), LL(INT_), LL(0), LL(0), LL(10 + i));
        dumpi_writer_call(&writers[i], DUMPI_Send, LL(1), LL(INT_), LL(1), LL(0), LL(20 + i));
        dumpi_writer_call(&writers[i], DUMPI_Send, LL(1), LL(INT_), LL(2), LL(0),
                          LL(20 + i)); /* none such */
        dumpi_writer_call(&writers[i], DUMPI_Send, LL(1), LL(INT_), LL(0), LL(0), LL(SELF_));
    }
    end_files(4);
    struct dumpi_trace *trace = open_files();
    for (int i = 0; i < 4; i++) {
        assert_int_equal(records_of(trace, (uint32_t)i, e, NULL), 7);
        assert_int_equal(e[3].peer, i % 2 ? 3 : 2); /* the greatest rank had the least key */
        assert_int_equal(e[4].peer, i % 2 ? 1 : 0);
        assert_int_equal(e[5].peer, PEER_UNKNOWN);
        assert_int_equal(e[6].peer, i);
        struct trace_comm split = comm_of(trace, (uint32_t)i, e[3].comm),
                          dup = comm_of(trace, (uint32_t)i, e[4].comm);
        struct trace_comm same = comm_of(trace, (uint32_t)(i ^ 2), e[3].comm);
        struct trace_comm other = comm_of(trace, (uint32_t)(i ^ 1), e[3].comm);
        assert_int_equal(split.size, 2);
        assert_int_equal(split.my_rank, i < 2);
        assert_int_equal(split.parent, 1);
        assert_true(split.id == same.id && split.id != other.id && split.id > 2);
        assert_true(dup.id != split.id && dup.parent == split.id && dup.my_rank == split.my_rank);
        assert_string_equal(dup.name, i % 2 ? "odd" : "even");
        assert_string_equal(split.name, "MPI_Comm_split");
    }
    dumpi_trace_close(trace);
}

static void grids_and_groups_are_translated(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t dims[] = {2, 2}, rows[] = {0, 1}, ranges[] = {3, 1, -1};
    begin_files(4);
    for (int i = 0; i < 4; i++) {
        struct dumpi_writer *w = &writers[i];
        /* The library reordered ranks, and the program received the new ones. */
        dumpi_writer_call(w, DUMPI_Cart_create, LL(WORLD_), LL(2), 2, dims, 2, rows, LL(1), LL(4));
        dumpi_writer_call(w, DUMPI_Comm_rank, LL(4), LL(3 - i));
        dumpi_writer_call(w, DUMPI_Cart_sub, LL(2), LL(4), 2, rows, LL(5));
        dumpi_writer_call(w, DUMPI_Comm_group, LL(WORLD_), LL(3));
        dumpi_writer_call(w, DUMPI_Group_range_incl, LL(3), LL(1), 3, ranges, LL(4)); /* 3, 2, 1 */
        dumpi_writer_call(w, DUMPI_Comm_create, LL(WORLD_), LL(4), LL(i == 0 ? NOBODY_ : 6));
        dumpi_writer_call(w, DUMPI_Send, LL(1), LL(INT_), LL(0), LL(0), LL(4));
        dumpi_writer_call(w, DUMPI_Send, LL(1), LL(INT_), LL(1), LL(0), LL(5));
        if (i > 0)
            dumpi_writer_call(w, DUMPI_Send, LL(1), LL(INT_), LL(0), LL(0), LL(6));
    }
    end_files(4);
    struct dumpi_trace *trace = open_files();
    for (int i = 0; i < 4; i++) {
        int count = records_of(trace, (uint32_t)i, e, NULL);
        assert_int_equal(count, i == 0 ? 5 : 6);
        assert_int_equal(e[3].peer, 3);
        assert_int_equal(e[4].peer,
                         i < 2 ? 0 : 2); /* grid ranks 0 1 | 2 3 are world ranks 3 2 | 1 0 */
        assert_int_equal(comm_of(trace, (uint32_t)i, e[4].comm).size, 2);
        if (i == 0)
            continue;
        assert_int_equal(e[5].peer, 3);
        assert_int_equal(comm_of(trace, (uint32_t)i, e[5].comm).my_rank, 3 - i);
        assert_int_equal(comm_of(trace, (uint32_t)i, e[5].comm).size, 3);
    }
    assert_int_equal(dumpi_trace_facts(trace).unresolved, 0);
    dumpi_trace_close(trace);
}

static void what_the_program_was_told_counts_against_what_was_resolved(void **state)
{
    (void)state;
    struct event e[RECORDS];
    begin_files(2);
    for (int i = 0; i < 2; i++) {
        dumpi_writer_call(&writers[i], DUMPI_Comm_dup, LL(WORLD_), LL(4));
        dumpi_writer_call(&writers[i], DUMPI_Comm_rank, LL(4), LL(1)); /* cannot be: on both */
        dumpi_writer_call(&writers[i], DUMPI_Send, LL(1), LL(INT_), LL(0), LL(0), LL(4));
        dumpi_writer_call(&writers[i], DUMPI_Send, LL(1), LL(INT_), LL(0), LL(0),
                          LL(99)); /* never made */
    }
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(dumpi_trace_facts(trace).unresolved, 1);
    assert_non_null(strstr(told, "of 1 communicators the members are not known"));
    assert_int_equal(records_of(trace, 0, e, NULL), 3);
    assert_int_equal(e[1].peer, PEER_UNKNOWN);
    assert_int_equal(e[2].peer, PEER_UNKNOWN);
    dumpi_trace_close(trace);
}

static void sizes_of_types_follow_from_how_they_were_made(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t lengths[] = {1, 3}, places[] = {0, 8}, types[] = {INT_, 40}, zero[] = {0, 0},
                  sub[] = {2, 3};
    static const int32_t expected[] = {24, 48, 32, 4 + 3 * 24, 6 * 8, 48};
    begin_files(1);
    dumpi_writer_call(W, DUMPI_Type_contiguous, LL(3), LL(DOUBLE_), LL(40));
    dumpi_writer_call(W, DUMPI_Type_vector, LL(2), LL(3), LL(5), LL(DOUBLE_), LL(41));
    dumpi_writer_call(W, DUMPI_Type_indexed, LL(2), 2, lengths, 2, places, LL(DOUBLE_), LL(42));
    dumpi_writer_call(W, DUMPI_Type_create_struct, LL(2), 2, lengths, 2, places, 2, types, LL(43));
    dumpi_writer_call(W, DUMPI_Type_create_subarray, LL(2), 2, (const int32_t[]){9, 9}, 2, sub, 2,
                      zero, LL(1), LL(DOUBLE_), LL(44));
    dumpi_writer_call(W, DUMPI_Type_dup, LL(41), LL(45));
    for (int i = 0; i < 6; i++)
        dumpi_writer_call(W, DUMPI_Bcast, LL(1), LL(40 + i), LL(0), LL(WORLD_));
    end_files(1);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(e[i].bytes, expected[i]);
    dumpi_trace_close(trace);
}

/* Each element of the array is on one process, however it is distributed. */
static void parts_of_a_distributed_array_are_the_whole_together(void **state)
{
    (void)state;
    static const int32_t kinds[][2] = {{1, 1}, {1, 2}, {2, 2}, {2, 0}, {2, 1}},
                         arguments[][2] = {{-1, -1}, {4, 2}, {3, 5}, {1, -1}, {-1, 4}},
                         along[][2] = {{2, 3}, {2, 3}, {3, 2}, {6, 1}, {2, 3}};
    struct event e[RECORDS];
    const int32_t sizes[] = {7, 11};
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t bytes = 0;
        begin_files(1);
        for (int rank = 0; rank < 6; rank++) {
            dumpi_writer_call(W, DUMPI_Type_create_darray, LL(6), LL(rank), LL(2), 2, sizes, 2,
                              kinds[k], 2, arguments[k], 2, along[k], LL(1), LL(DOUBLE_), LL(40));
            dumpi_writer_call(W, DUMPI_Bcast, LL(1), LL(40), LL(0), LL(WORLD_));
        }
        end_files(1);
        struct dumpi_trace *trace = open_files();
        int records = records_of(trace, 0, e, NULL);
        for (int i = 0; i < records; i++)
            bytes += e[i].bytes;
        assert_int_equal(records, 6);
        assert_int_equal(bytes, 7 * 11 * 8);
        dumpi_trace_close(trace);
    }
}

/* Strides and displacements are no data, also of types of types; a handle may be used again. */
static void strided_types_move_their_data_only(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t lengths[] = {2, 0, 5}, places[] = {0, 1000, 100000};
    static const uint64_t expected[] = {3 * 2 * 8, 7 * 4, 2 * 48, 3 * 3 * 4, 96, 4, 1000 * 96};
    begin_files(1);
    dumpi_writer_call(W, DUMPI_Type_create_hvector, LL(3), LL(2), LL(4096), LL(DOUBLE_), LL(40));
    dumpi_writer_call(W, DUMPI_Type_create_hindexed, LL(3), 3, lengths, 3, places, LL(INT_),
                      LL(41));
    dumpi_writer_call(W, DUMPI_Type_vector, LL(2), LL(1), LL(-7), LL(40), LL(42));
    dumpi_writer_call(W, DUMPI_Type_create_indexed_block, LL(3), LL(3), 3, places, LL(INT_),
                      LL(43));
    dumpi_writer_call(W, DUMPI_Type_create_resized, LL(42), LL(-64), LL(1 << 20), LL(44));
    for (int i = 0; i < 5; i++)
        dumpi_writer_call(W, DUMPI_Bcast, LL(1), LL(40 + i), LL(0), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Type_free, LL(40));
    dumpi_writer_call(W, DUMPI_Type_contiguous, LL(1), LL(INT_), LL(40));
    dumpi_writer_call(W, DUMPI_Bcast, LL(1), LL(40), LL(0), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Bcast, LL(1000), LL(42), LL(0), LL(WORLD_)); /* as it was made */
    end_files(1);
    struct dumpi_trace *trace = open_files();
    int records = records_of(trace, 0, e, NULL), seen = 0;
    for (int i = 0; i < records; i++)
        if (e[i].call == CALL_Bcast)
            assert_int_equal(e[i].bytes, expected[seen++]);
    assert_int_equal(seen, 7);
    dumpi_trace_close(trace);
}

/* Whatever the pointer is that a call moves, and whether the program asks how much it was. */
static void all_ways_to_a_file_have_their_bytes(void **state)
{
    (void)state;
    struct event e[RECORDS];
    uint64_t written = 0, read = 0;
    begin_files(1);
    dumpi_writer_call(W, DUMPI_File_open, LL(WORLD_), "out", LL(3), LL(0), LL(1));
    dumpi_writer_call(W, DUMPI_Type_vector, LL(5), LL(2), LL(9), LL(INT_), LL(40));
    dumpi_writer_call(W, DUMPI_File_set_view, LL(1), LL(1) << 40, LL(INT_), LL(40), "native",
                      LL(0));
    dumpi_writer_call(W, DUMPI_File_write, LL(1), LL(3), LL(40), IGNORED);
    dumpi_writer_call(W, DUMPI_File_write_at, LL(1), LL(-1), LL(1), LL(40), STATUS(40, 0, 0));
    dumpi_writer_call(W, DUMPI_File_write_all, LL(1), LL(1), LL(40), IGNORED);
    dumpi_writer_call(W, DUMPI_File_write_shared, LL(1), LL(1), LL(40), IGNORED);
    dumpi_writer_call(W, DUMPI_File_write_ordered, LL(1), LL(1), LL(40), IGNORED);
    dumpi_writer_call(W, DUMPI_File_write_all_begin, LL(1), LL(1), LL(40));
    dumpi_writer_call(W, DUMPI_File_write_all_end, LL(1), STATUS(40, 0, 0));
    dumpi_writer_call(W, DUMPI_File_iwrite_at, LL(1), LL(8), LL(1), LL(40), LL(3));
    dumpi_writer_call(W, DUMPIO_Wait, LL(3), STATUS(40, 0, 0));
    dumpi_writer_call(W, DUMPI_File_read_at_all_begin, LL(1), LL(0), LL(2), LL(40));
    dumpi_writer_call(W, DUMPI_File_read_at_all_end, LL(1), IGNORED);
    dumpi_writer_call(W, DUMPI_File_read_ordered, LL(1), LL(2), LL(40), IGNORED);
    dumpi_writer_call(W, DUMPI_File_iread_shared, LL(1), LL(1), LL(40), LL(4));
    dumpi_writer_call(W, DUMPIO_Wait, LL(4), STATUS(40, 0, 0));
    end_files(1);
    struct dumpi_trace *trace = open_files();
    assert_string_equal(told, "");
    int records = records_of(trace, 0, e, NULL);
    for (int i = 0; i < records; i++) {
        if (call_class_of(e[i].call) != CALL_IO)
            continue;
        written += e[i].bytes;
        read += e[i].bytes_in;
    }
    assert_int_equal(written, (3 + 6) * 40);
    assert_int_equal(read, 5 * 40);
    dumpi_trace_close(trace);
}

static void collectives_give_and_get_what_the_probe_would_count(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t a[] = {1, 2}, b[] = {3, 4}, places[] = {0, 0}, types[] = {INT_, DOUBLE_};
    static const int expected[][2] = {{4, 24}, {12, 0}, {0, 8},  {12, 12}, {24, 8},
                                      {4, 8},  {8, 28}, {8, 16}, {12, 28}, {20, 44},
                                      {12, 4}, {8, 8},  {12, 12}};
    begin_files(2);
    for (int i = 0; i < 2; i++) {
        struct dumpi_writer *w = &writers[i];
        w->gatherv_type = 1;
        if (i == 0) /* by rank: the root, and another one */
            dumpi_writer_call(w, DUMPI_Gather, LL(0), LL(1), LL(INT_), LL(0), LL(WORLD_), LL(3),
                              LL(INT_));
        else
            dumpi_writer_call(w, DUMPI_Gather, LL(1), LL(2), LL(INT_), LL(0), LL(WORLD_));
    }
    dumpi_writer_call(W, DUMPI_Gatherv, LL(0), LL(2), LL(3), LL(INT_), LL(1), LL(WORLD_), LL(INT_));
    dumpi_writer_call(W, DUMPI_Bcast, LL(2), LL(INT_), LL(1), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Scatterv, LL(0), LL(2), LL(INT_), LL(3), LL(INT_), LL(0), LL(WORLD_),
                      2, a, 2, places);
    dumpi_writer_call(W, DUMPI_Scatter, LL(0), LL(2), LL(INT_), LL(0), LL(WORLD_), LL(3), LL(INT_));
    dumpi_writer_call(W, DUMPI_Allgather, LL(1), LL(INT_), LL(1), LL(INT_), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Allgatherv, LL(2), LL(2), LL(INT_), 2, b, 2, places, LL(INT_),
                      LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Alltoall, LL(1), LL(INT_), LL(2), LL(INT_), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Alltoallv, LL(2), 2, a, 2, places, LL(INT_), 2, b, 2, places,
                      LL(INT_), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Alltoallw, LL(2), 2, a, 2, places, 2, types, 2, b, 2, places, 2,
                      types, LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Reduce_scatter, LL(2), 2, a, LL(INT_), LL(3), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Reduce, LL(2), LL(INT_), LL(3), LL(0), LL(WORLD_));
    dumpi_writer_call(W, DUMPI_Scan, LL(3), LL(INT_), LL(3), LL(WORLD_));
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 13);
    for (int i = 0; i < 13; i++) {
        assert_int_equal(e[i].bytes, expected[i][0]);
        assert_int_equal(e[i].bytes_in, expected[i][1]);
    }
    assert_int_equal(e[1].peer, 1);
    assert_int_equal(records_of(trace, 1, e, NULL), 1);
    assert_int_equal(e[0].bytes, 8);
    assert_int_equal(e[0].bytes_in, 0);
    dumpi_trace_close(trace);
}

static void windows_and_files_are_distinguished(void **state)
{
    (void)state;
    struct event e[RECORDS];
    begin_files(2);
    for (int i = 0; i < 2; i++)
        dumpi_writer_call(&writers[i], DUMPI_Win_create, LL(64), LL(1), LL(0), LL(WORLD_), LL(1));
    dumpi_writer_call(W, DUMPI_Win_fence, LL(0), LL(1));
    dumpi_writer_call(W, DUMPI_Put, LL(2), LL(DOUBLE_), LL(1), LL(0), LL(2), LL(DOUBLE_), LL(1));
    dumpi_writer_call(W, DUMPI_Get, LL(3), LL(INT_), LL(1), LL(0), LL(3), LL(INT_), LL(1));
    dumpi_writer_call(W, DUMPI_File_open, LL(WORLD_), "out", LL(3), LL(0), LL(1));
    dumpi_writer_call(W, DUMPI_File_write_at_all, LL(1), LL(1) << 33, LL(5), LL(INT_),
                      STATUS(20, 0, 0));
    dumpi_writer_call(W, DUMPI_File_iread, LL(1), LL(6), LL(INT_), LL(2));
    dumpi_writer_call(W, DUMPIO_Wait, LL(2), STATUS(24, 0, 0));
    dumpi_writer_call(W, DUMPI_Irecv, LL(1), LL(INT_), LL(1), LL(0), LL(WORLD_),
                      LL(2)); /* the same handle */
    dumpi_writer_call(W, DUMPI_Wait, LL(2), STATUS(4, 1, 0));
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 10);
    check(&e[2], CALL_Put, 0, 16, 1, TAG_NONE);
    check(&e[3], CALL_Get, 0, 0, 1, TAG_NONE);
    assert_int_equal(e[3].bytes_in, 12);
    assert_int_equal(e[1].comm, e[2].comm);
    assert_int_not_equal(e[2].comm, e[4].comm);
    assert_int_equal(comm_of(trace, 0, e[2].comm).id, comm_of(trace, 1, e[2].comm).id);
    check(&e[5], CALL_File_write_at_all, 0, 20, PEER_NONE, TAG_NONE);
    check(&e[6], CALL_File_iread, EVENT_POST, 0, PEER_NONE, TAG_NONE);
    assert_int_equal(e[6].bytes_in, 24);
    check(&e[7], CALL_Wait, EVENT_DONE, 0, PEER_NONE, TAG_NONE);
    assert_int_equal(e[7].request, e[6].request);
    check(&e[9], CALL_Wait, EVENT_RECV | EVENT_DONE, 4, 1, 0);
    dumpi_trace_close(trace);
}

static void each_thread_has_a_stream(void **state)
{
    (void)state;
    struct event e[RECORDS];
    begin_files(2);
    dumpi_writer_call(W, DUMPI_Init_thread, LL(0), (const char *const *)NULL, LL(4), LL(4));
    dumpi_writer_call(W, DUMPI_Irecv, LL(1), LL(INT_), LL(1), LL(0), LL(WORLD_), LL(2));
    writers[0].thread = 7;
    dumpi_writer_call(W, DUMPI_Wait, LL(2), STATUS(4, 1, 0)); /* what another thread has posted */
    dumpi_writer_call(W, DUMPI_Send, LL(1), LL(INT_), LL(1), LL(0), LL(WORLD_));
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(dumpi_trace_job(trace)->stream_count, 3);
    assert_int_equal(dumpi_trace_job(trace)->rank_of[1], 0);
    assert_int_equal(records_of(trace, 0, e, NULL), 2);
    assert_int_equal(e[1].call, CALL_Irecv);
    assert_int_equal(records_of(trace, 1, e, NULL), 2);
    check(&e[0], CALL_Wait, EVENT_RECV | EVENT_DONE, 4, 1, 0);
    check(&e[1], CALL_Send, SENT, 4, 1, 0);
    dumpi_trace_close(trace);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(statuses_tell_who_sent_and_how_much),
        TEST(buffers_tell_the_size_of_messages_of_four_gibibytes),
        TEST(requests_complete_as_they_are_reported),
        TEST(places_behind_those_that_ended_mean_nothing),
        TEST(persistent_requests_count_at_each_start),
        TEST(a_split_is_the_same_on_all_its_members),
        TEST(grids_and_groups_are_translated),
        TEST(what_the_program_was_told_counts_against_what_was_resolved),
        TEST(sizes_of_types_follow_from_how_they_were_made),
        TEST(parts_of_a_distributed_array_are_the_whole_together),
        TEST(strided_types_move_their_data_only),
        TEST(all_ways_to_a_file_have_their_bytes),
        TEST(collectives_give_and_get_what_the_probe_would_count),
        TEST(windows_and_files_are_distinguished),
        TEST(each_thread_has_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
