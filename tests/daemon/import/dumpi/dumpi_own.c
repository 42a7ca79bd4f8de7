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

char directory[DIRECTORY_ROOM];
char told[8000];

int make_directory(void **state)
{
    (void)state;
    told[0] = '\0';
    return directory_make(directory);
}

int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

void hear(void *user, const char *text)
{
    (void)user;
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s\n", text);
}

const char *in_directory(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

struct dumpi_writer writers[4];

void begin_files(int ranks)
{
    for (int i = 0; i < ranks; i++)
        dumpi_writer_begin(&writers[i], 1700000000);
}

void save_rank(int rank, size_t cut)
{
    char name[64];
    snprintf(name, sizeof name, "own-%04d.bin", rank);
    dumpi_writer_save(&writers[rank], in_directory(name), cut);
}

void end_files(int ranks)
{
    for (int i = 0; i < ranks; i++) {
        dumpi_writer_end(&writers[i], NULL, 0);
        save_rank(i, 0);
    }
}

struct dumpi_trace *open_files(void)
{
    struct dumpi_trace *trace;
    told[0] = '\0';
    assert_int_equal(dumpi_trace_open(&trace, in_directory("own-0000.bin"), 2, hear, NULL), 0);
    return trace;
}

/* All records of a stream. @param code  what ended it */
int records_of(struct dumpi_trace *trace, uint32_t stream, struct event *out, int *code)
{
    static struct event batch[TRACE_BATCH];
    const struct trace_reader *reader = dumpi_trace_reader(trace);
    int count = 0, got;
    while ((got = reader->next(reader->user, stream, UINT64_MAX, batch)) > 0) {
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

struct trace_comm comm_of(struct dumpi_trace *trace, uint32_t rank, uint32_t slot)
{
    struct trace_comm comm;
    const struct trace_reader *reader = dumpi_trace_reader(trace);
    assert_int_equal(reader->comm(reader->user, rank, slot, &comm), 0);
    return comm;
}

/* ---- records ---------------------------------------------------------------------- */

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

void dumpi_sums_of_stream(struct dumpi_sums *sums, struct dumpi_trace *trace, uint32_t stream)
{
    static struct event batch[TRACE_BATCH];
    const struct trace_reader *reader = dumpi_trace_reader(trace);
    int got;
    *sums = (struct dumpi_sums){0};
    while ((got = reader->next(reader->user, stream, UINT64_MAX, batch)) > 0)
        for (int i = 0; i < got; i++)
            count_record(sums, &batch[i]);
    assert_int_equal(got, 0);
}
