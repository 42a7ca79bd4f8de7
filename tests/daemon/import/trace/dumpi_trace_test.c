#include "daemon/import/trace/dumpi.h"

#include "holter/call.h"
#include "tests/daemon/import/trace/dumpi_sums.h"
#include "tests/daemon/import/trace/dumpi_text.h"
#include "tests/daemon/import/trace/dumpi_writer.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/data_file.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static char directory[DIRECTORY_ROOM];
static char told[8000];

static int make_directory(void **state)
{
    (void)state;
    told[0] = '\0';
    return directory_make(directory);
}

static int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

static void hear(void *user, const char *text)
{
    (void)user;
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s\n", text);
}

static const char *in_directory(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* ---- traces of others -------------------------------------------------------------- */

struct sample {
    const char *folder, *prefix;
    int ranks;
};

static const struct sample samples[] = {{"dumpi/", "testtrace", 4},
                                        {"dumpi/", "testbgp", 7},
                                        {"dumpi/minife-8/", "dumpi-2026.11.20.11.46.04", 8}};

static void unpack(const struct sample *sample, char *meta, size_t room)
{
    char name[200], path[256];
    for (int i = 0; i < sample->ranks; i++) {
        snprintf(name, sizeof name, "%s%s-%04d.bin", sample->folder, sample->prefix, i);
        data_file_unpack(name, directory, path, sizeof path);
    }
    snprintf(name, sizeof name, "%s%s.meta", sample->folder, sample->prefix);
    data_file_unpack(name, directory, meta, room);
}

static void add(struct dumpi_sums *to, const struct dumpi_sums *from)
{
    to->sent += from->sent;
    to->sent_bytes += from->sent_bytes;
    to->received += from->received;
    to->received_bytes += from->received_bytes;
    to->collectives += from->collectives;
    to->given += from->given;
    to->got += from->got;
}

static void count_record(struct dumpi_sums *sums, const struct event *e)
{
    if ((e->flags & (EVENT_SEND | EVENT_POST)) == (EVENT_SEND | EVENT_POST) &&
        e->peer != PEER_NULL) {
        sums->sent++;
        sums->sent_bytes += e->bytes;
    }
    if ((e->flags & (EVENT_RECV | EVENT_DONE)) == (EVENT_RECV | EVENT_DONE) &&
        e->peer != PEER_NULL) {
        sums->received++;
        sums->received_bytes += e->bytes;
    }
    if (call_class_of(e->call) == CALL_COLLECTIVE) {
        sums->collectives++;
        sums->given += e->bytes;
        sums->got += e->bytes_in;
    }
}

static void count_stream(struct dumpi_sums *sums, struct dumpi_trace *trace, uint32_t stream)
{
    static struct event batch[TRACE_BATCH];
    const struct trace_reader *reader = dumpi_trace_reader(trace);
    int got;
    *sums = (struct dumpi_sums){0};
    while ((got = reader->next(reader->user, stream, batch)) > 0)
        for (int i = 0; i < got; i++)
            count_record(sums, &batch[i]);
    assert_int_equal(got, 0);
}

static char *text_of_rank(const struct sample *sample, int rank)
{
    struct dumpi_file file;
    char path[256], why[200], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/%s-%04d.bin", directory, sample->prefix, rank);
    assert_int_equal(dumpi_file_open(&file, path, DUMPI_HEADER_AND_TYPES, why, sizeof why), 0);
    FILE *out = open_memstream(&text, &length);
    dumpi_text_calls(out, &file);
    fclose(out);
    dumpi_file_finish(&file);
    return text;
}

static void check_sample(const struct sample *sample, struct dumpi_sums *all)
{
    struct dumpi_trace *trace;
    char meta[256];
    unpack(sample, meta, sizeof meta);
    assert_true(dumpi_is_trace(meta));
    assert_int_equal(dumpi_trace_open(&trace, meta, 2, hear, NULL), 0);
    assert_string_equal(told, "");
    assert_int_equal(dumpi_trace_job(trace)->stream_count, sample->ranks);
    *all = (struct dumpi_sums){0};
    for (int rank = 0; rank < sample->ranks; rank++) {
        struct dumpi_sums from_text, from_records;
        char *text = text_of_rank(sample, rank);
        dumpi_sums_of_text(&from_text, text, rank, sample->ranks);
        count_stream(&from_records, trace, (uint32_t)rank);
        assert_memory_equal(&from_text, &from_records, sizeof from_text);
        add(all, &from_text);
        free(text);
    }
    assert_int_equal(dumpi_trace_facts(trace).unresolved, 0);
    dumpi_trace_close(trace);
}

static void records_are_what_the_text_says_of_every_rank(void **state)
{
    (void)state;
    struct dumpi_sums all;
    check_sample(&samples[0], &all);
    assert_int_equal(all.sent, 4);
    check_sample(&samples[1], &all);
    assert_int_equal(all.received, 588);
    check_sample(&samples[2], &all);
    assert_int_equal(all.sent_bytes, 817768);
}

/* The text beside the files is not ours. */
static void records_are_what_the_text_of_others_says(void **state)
{
    (void)state;
    static const char *const texts[] = {"dumpi/testtrace-0000.txt", NULL,
                                        "dumpi/minife-8/rank0.txt"};
    for (unsigned i = 0; i < 3; i += 2) {
        struct dumpi_trace *trace;
        struct dumpi_sums theirs, ours;
        char meta[256];
        size_t length;
        char *text = data_file(texts[i], &length);
        unpack(&samples[i], meta, sizeof meta);
        assert_int_equal(dumpi_trace_open(&trace, meta, 1, hear, NULL), 0);
        dumpi_sums_of_text(&theirs, text, 0, samples[i].ranks);
        count_stream(&ours, trace, 0);
        assert_memory_equal(&theirs, &ours, sizeof ours);
        dumpi_trace_close(trace);
        free(text);
    }
}

static void recordings_hold_all_of_it(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct dumpi_sums all;
        struct dumpi_facts facts;
        struct trace_counts counts;
        struct recorded_sums recorded;
        struct trace_options options = {.threads = 2, .fault = hear};
        char meta[256], path[256];
        check_sample(&samples[i], &all);
        snprintf(meta, sizeof meta, "%s/%s.meta", directory, samples[i].prefix);
        snprintf(path, sizeof path, "%s/%u.hrec", directory, i);
        assert_int_equal(dumpi_import(path, meta, 0, NULL, NULL, &options, &facts, &counts), 0);
        recorded_sums_read(&recorded, path);
        assert_int_equal(recorded.sent, all.sent);
        assert_int_equal(recorded.sent_bytes, all.sent_bytes);
        assert_int_equal(recorded.received, all.received);
        assert_int_equal(recorded.received_bytes, all.received_bytes);
        assert_int_equal(recorded.pair_messages, all.sent);
        assert_int_equal(counts.collectives, all.collectives);
        assert_int_equal(counts.unmatched, 0);
        assert_int_equal(counts.rejected, 0);
        assert_int_equal(counts.matched + counts.halves / 2, all.sent);
        assert_int_equal(counts.lost, 0);
    }
}

/* ---- files of our own --------------------------------------------------------------- */

static struct dumpi_writer writers[4];

static void begin_files(int ranks)
{
    for (int i = 0; i < ranks; i++)
        dumpi_writer_begin(&writers[i], 1700000000);
}

static void save_rank(int rank, size_t cut)
{
    char name[64];
    snprintf(name, sizeof name, "own-%04d.bin", rank);
    dumpi_writer_save(&writers[rank], in_directory(name), cut);
}

static void end_files(int ranks)
{
    for (int i = 0; i < ranks; i++) {
        dumpi_writer_end(&writers[i], NULL, 0);
        save_rank(i, 0);
    }
}

static struct dumpi_trace *open_files(void)
{
    struct dumpi_trace *trace;
    told[0] = '\0';
    assert_int_equal(dumpi_trace_open(&trace, in_directory("own-0000.bin"), 2, hear, NULL), 0);
    return trace;
}

#define RECORDS 400

/* All records of a stream. @param code  what ended it */
static int records_of(struct dumpi_trace *trace, uint32_t stream, struct event *out, int *code)
{
    static struct event batch[TRACE_BATCH];
    const struct trace_reader *reader = dumpi_trace_reader(trace);
    int count = 0, got;
    while ((got = reader->next(reader->user, stream, batch)) > 0) {
        assert_true(count + got <= RECORDS);
        memcpy(out + count, batch, (size_t)got * sizeof *out);
        count += got;
    }
    if (code != NULL)
        *code = got;
    else
        assert_int_equal(got, 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(out[i].seq, i);
    return count;
}

#define W &writers[0]
#define LL(value) ((long long)(value))
enum { INT_ = 9, DOUBLE_ = 14, WORLD_ = 2, SELF_ = 3, NOBODY_ = 1 };
#define IGNORED 0, (const struct dumpi_status *)NULL
#define STATUS(bytes, source, tag) 1, (&(struct dumpi_status){bytes, source, tag, 0, 0})

static void check(const struct event *e, uint16_t call, uint32_t flags, uint64_t bytes,
                  int32_t peer, int32_t tag)
{
    assert_int_equal(e->call, call);
    assert_int_equal(e->flags, flags);
    assert_int_equal(e->bytes, bytes);
    assert_int_equal(e->peer, peer);
    assert_int_equal(e->tag, tag);
}

static const uint32_t sent = EVENT_SEND | EVENT_POST | EVENT_DONE,
                      received = EVENT_RECV | EVENT_POST | EVENT_DONE;

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
    check(&e[4], CALL_Recv, received, 32, 1, 6);
    check(&e[5], CALL_Recv, received | EVENT_WILDCARD, 16, 1, 6);
    check(&e[6], CALL_Send, sent, 32, PEER_NULL, 6);
    check(&e[7], CALL_Probe, EVENT_WILDCARD, 0, 1, 6);
    check(&e[8], CALL_Iprobe, 0, 0, PEER_NONE, TAG_NONE);
    assert_int_equal(e[0].t_enter, 1);
    assert_int_equal(e[0].t_exit, 2001);
    assert_int_equal(e[1].t_enter, 3001);
    dumpi_trace_close(trace);
}

static void requests_complete_as_they_are_told(void **state)
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
    check(&e[13], CALL_Sendrecv, sent, 4, 1, 7);
    assert_int_equal(event_receive_source(&e[13]), PEER_ANY);
    check(&e[14], CALL_Sendrecv, received | EVENT_WILDCARD, 12, 1, 8);
    dumpi_trace_close(trace);
}

static struct trace_comm comm_of(struct dumpi_trace *trace, uint32_t rank, uint32_t slot)
{
    struct trace_comm comm;
    const struct trace_reader *reader = dumpi_trace_reader(trace);
    assert_int_equal(reader->comm(reader->user, rank, slot, &comm), 0);
    return comm;
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
        /* The library reordered: the program was told so. */
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

static void collectives_give_and_get_what_the_probe_would_count(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const int32_t a[] = {1, 2}, b[] = {3, 4}, places[] = {0, 0}, types[] = {INT_, DOUBLE_};
    static const int expected[][2] = {{4, 24},  {12, 0},  {0, 8},   {12, 12}, {24, 8}, {4, 8},  {8, 28},
                                      {8, 16}, {12, 28}, {20, 44}, {12, 4},  {8, 8},  {12, 12}};
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

static void windows_and_files_are_told_apart(void **state)
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
    check(&e[1], CALL_Send, sent, 4, 1, 0);
    dumpi_trace_close(trace);
}

/* ---- kinds of files ------------------------------------------------------------------ */

static void all_settings_and_versions_can_be_read(void **state)
{
    (void)state;
    static const uint8_t versions[][3] = {{0, 4, 0}, {0, 6, 1}, {0, 6, 2}, {0, 6, 3},
                                          {0, 6, 8}, {0, 6, 9}, {1, 0, 0}, {13, 0, 0}};
    static const uint8_t masks[] = {0x4f, 0xcf, 0x0b, 0x4c, 0x08, 0x04, 0x40, 0x00};
    const char *const argv[] = {"./sim", "-x"};
    const int32_t one[] = {5}, types[] = {INT_};
    struct event e[RECORDS];
    for (unsigned v = 0; v < 8; v++) {
        for (unsigned m = 0; m < 8; m++) {
            begin_files(2);
            memcpy(writers[0].version, versions[v], 3);
            writers[0].mask = masks[m];
            writers[0].counters = 3;
            writers[0].gatherv_type = (int)m % 2;
            dumpi_writer_call(W, DUMPI_Init, LL(2), argv);
            dumpi_writer_call(W, DUMPI_Type_struct, LL(1), 1, one, 1, one, 1, types, LL(30));
            dumpi_writer_call(W, DUMPI_Cart_get, LL(1), LL(WORLD_), LL(1), 1, one, 1, one, 1, one);
            dumpi_writer_call(W, DUMPI_Recv, LL(9), LL(30), LL(1), LL(3), LL(WORLD_),
                              STATUS(20, 1, 3));
            dumpi_writer_call(W, DUMPI_Gatherv, LL(0), LL(2), LL(3), LL(INT_), LL(1), LL(WORLD_),
                              LL(INT_));
            dumpi_writer_call(W, DUMPI_Gatherv, LL(0), LL(2), LL(3), LL(INT_), LL(1), LL(WORLD_),
                              LL(INT_));
            dumpi_writer_call(W, DUMPI_Finalize);
            end_files(2);
            struct dumpi_trace *trace = open_files();
            assert_string_equal(told, "");
            assert_int_equal(records_of(trace, 0, e, NULL), 5);
            check(&e[1], CALL_Recv, received, masks[m] & 3 ? 20 : 180, 1, 3);
            check(&e[2], CALL_Gatherv, 0, 12, 1, TAG_NONE);
            assert_int_equal(e[4].call, CALL_Finalize);
            assert_string_equal(dumpi_trace_job(trace)->app, "./sim");
            dumpi_trace_close(trace);
        }
    }
}

static void seconds_go_on_when_their_sixteen_bits_begin_anew(void **state)
{
    (void)state;
    struct event e[RECORDS];
    begin_files(1);
    writers[0].now_ns = UINT64_C(65535500000000);
    for (int i = 0; i < 3; i++) {
        writers[0].call_ns = 600000000;
        dumpi_writer_call(W, DUMPI_Barrier, LL(WORLD_));
        writers[0].now_ns += UINT64_C(20000000000000);
    }
    end_files(1);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(records_of(trace, 0, e, NULL), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(e[i].t_enter, 1 + (uint64_t)i * UINT64_C(20000600001000));
        assert_int_equal(e[i].t_exit - e[i].t_enter, 600000000);
    }
    dumpi_trace_close(trace);
}

static void clocks_of_hosts_that_are_far_apart_meet_at_the_end_of_init(void **state)
{
    (void)state;
    struct event e[RECORDS];
    const char *const argv[] = {"./sim"};
    begin_files(2);
    for (int i = 0; i < 2; i++) {
        writers[i].host = i == 0 ? "a" : "b";
        writers[i].now_ns = i == 0 ? 1000 : UINT64_C(5000000000000);
        dumpi_writer_call(&writers[i], DUMPI_Init, LL(1), argv);
        dumpi_writer_call(&writers[i], DUMPI_Barrier, LL(WORLD_));
    }
    end_files(2);
    struct dumpi_trace *trace = open_files();
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(records_of(trace, i, e, NULL), 2);
        assert_int_equal(e[0].t_exit, 2001);
        assert_int_equal(e[1].t_enter, 3001);
    }
    assert_int_equal(dumpi_trace_job(trace)->host_count, 2);
    dumpi_trace_close(trace);
}

/* ---- what is wrong with files ----------------------------------------------------------- */

static void write_barriers(int ranks, int count)
{
    begin_files(ranks);
    for (int i = 0; i < ranks; i++)
        for (int k = 0; k < count; k++)
            dumpi_writer_call(&writers[i], DUMPI_Barrier, LL(WORLD_));
}

static void a_file_that_is_cut_off_gives_what_is_whole(void **state)
{
    (void)state;
    struct event e[RECORDS];
    char expected[400];
    int code;
    write_barriers(2, 5);
    size_t length = writers[0].length; /* 16, and 31 for each call */
    dumpi_writer_end(&writers[0], NULL, 0);
    dumpi_writer_end(&writers[1], NULL, 0);
    save_rank(0, writers[0].length - length + 3);
    save_rank(1, 0);
    struct dumpi_trace *trace = open_files();
    assert_int_equal(length, 16 + 5 * 31);
    snprintf(expected, sizeof expected,
             "%s: the file ends within the call at offset %d; 4 calls before it are imported",
             in_directory("own-0000.bin"), 16 + 4 * 31);
    assert_non_null(strstr(told, expected));
    assert_int_equal(dumpi_trace_facts(trace).broken, 1);
    assert_int_equal(records_of(trace, 0, e, &code), 4);
    assert_true(code < 0);
    assert_int_equal(records_of(trace, 1, e, NULL), 5);
    dumpi_trace_close(trace);
}

static void what_is_no_call_ends_the_file(void **state)
{
    (void)state;
    struct event e[RECORDS];
    int code;
    write_barriers(2, 3);
    writers[0].bytes[16 + 2 * 31 + 7] = 0xff; /* nanoseconds of a time */
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(
        told, "own-0000.bin: what stands at offset 78 is no call; 2 calls before it are imported"));
    assert_int_equal(records_of(trace, 0, e, &code), 2);
    assert_true(code < 0);
    dumpi_trace_close(trace);
}

static void calls_that_nobody_knows_are_left_out(void **state)
{
    (void)state;
    struct event e[RECORDS];
    write_barriers(2, 2);
    size_t at = writers[0].length;
    dumpi_writer_call(W, DUMPI_Barrier, LL(WORLD_));
    writers[0].bytes[at] = DUMPI_FUNCTIONS >> 8;
    writers[0].bytes[at + 1] = (uint8_t)DUMPI_FUNCTIONS; /* 290: what other versions may have */
    dumpi_writer_bytes(W, "\x01\x02\x03\x04\x05\x06\x07", 7);
    dumpi_writer_call(W, DUMPI_Barrier, LL(WORLD_));
    end_files(2);
    struct dumpi_trace *trace = open_files();
    assert_non_null(strstr(
        told, "1 calls of functions that are not known are left out, 38 bytes; the first is number "
              "290 at offset 78"));
    assert_int_equal(dumpi_trace_facts(trace).unknown, 1);
    assert_int_equal(records_of(trace, 0, e, NULL), 3);
    assert_int_equal(e[2].t_enter, 9001);
    dumpi_trace_close(trace);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    struct event e[RECORDS];
    write_barriers(2, 1);
    end_files(2);
    FILE *meta = fopen(in_directory("own.meta"), "we");
    fputs("hostname=h\nnumprocs=4\nstartime=5\nfileprefix=elsewhere/own\nversion=13\n", meta);
    fclose(meta);
    assert_true(dumpi_is_trace(in_directory("own.meta")));
    assert_true(dumpi_is_trace(directory));
    assert_true(dumpi_is_trace(in_directory("own-0001.bin")));
    assert_false(dumpi_is_trace(in_directory("nothing")));
    struct dumpi_trace *trace;
    assert_int_equal(dumpi_trace_open(&trace, directory, 0, hear, NULL), 0);
    assert_non_null(strstr(told, "files of 2 ranks are missing, the first is that of rank 2"));
    assert_int_equal(dumpi_trace_job(trace)->ranks, 4);
    assert_int_equal(dumpi_trace_job(trace)->stream_count, 2);
    assert_int_equal(records_of(trace, 1, e, NULL), 1);
    dumpi_trace_close(trace);
    unlink(in_directory("own-0000.bin"));
    unlink(in_directory("own-0001.bin"));
    assert_true(dumpi_trace_open(&trace, in_directory("own.meta"), 0, hear, NULL) < 0);
    assert_non_null(
        strstr(told, "own.meta: there is no file own-0000.bin, or of another rank, beside it"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_are_what_the_text_says_of_every_rank),
        TEST(records_are_what_the_text_of_others_says),
        TEST(recordings_hold_all_of_it),
        TEST(statuses_tell_who_sent_and_how_much),
        TEST(requests_complete_as_they_are_told),
        TEST(persistent_requests_count_at_each_start),
        TEST(a_split_is_the_same_on_all_its_members),
        TEST(grids_and_groups_are_translated),
        TEST(what_the_program_was_told_counts_against_what_was_resolved),
        TEST(sizes_of_types_follow_from_how_they_were_made),
        TEST(collectives_give_and_get_what_the_probe_would_count),
        TEST(windows_and_files_are_told_apart),
        TEST(each_thread_has_a_stream),
        TEST(all_settings_and_versions_can_be_read),
        TEST(seconds_go_on_when_their_sixteen_bits_begin_anew),
        TEST(clocks_of_hosts_that_are_far_apart_meet_at_the_end_of_init),
        TEST(a_file_that_is_cut_off_gives_what_is_whole),
        TEST(what_is_no_call_ends_the_file),
        TEST(calls_that_nobody_knows_are_left_out),
        TEST(missing_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
