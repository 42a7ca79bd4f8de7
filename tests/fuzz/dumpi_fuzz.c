/* Any bytes as the DUMPI file of rank 0, beside a whole one of rank 1 that makes communicators with
 * it: what comes of it are records that keep the rules of records. */
#include "daemon/import/dumpi/dumpi.h"
#include "daemon/import/dumpi/dumpi_file.h"
#include "holter/segment.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS_MOST 100000u

static char directory[64];

static void save(const char *name, const uint8_t *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void remove_directory(void)
{
    char path[128];
    static const char *const names[] = {"f-0.bin", "f-1.bin"};
    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
}

/* Files have names. In memory, where there is a file system for that. */
static void make_directory(void)
{
    static uint8_t other[FUZZ_BYTES];
    if (directory[0] != '\0')
        return;
    snprintf(directory, sizeof directory, "%s/holter-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(directory) == NULL)
        abort();
    atexit(remove_directory);
    size_t length = fuzz_seed(0, other);
    save("f-1.bin", other, length);
}

static void nothing(void *user, const char *text)
{
    (void)user;
    FUZZ_HOLDS(strchr(text, '\n') == NULL);
}

static void check(const struct trace_reader *reader, uint32_t ranks, uint32_t rank,
                  const struct event *event)
{
    FUZZ_HOLDS(event->t_exit >= event->t_enter && event->t_enter > 0);
    FUZZ_HOLDS(event->kind == EVENT_CALL || event->kind == EVENT_PART);
    FUZZ_HOLDS(event->peer >= PEER_UNKNOWN && event->peer < (int32_t)ranks);
    FUZZ_HOLDS(!(event->flags & EVENT_SEND) || !(event->flags & EVENT_RECV));
    FUZZ_HOLDS(event->call != 0);
    struct trace_comm comm;
    if (event->comm < COMM_SLOT_OTHER &&
        reader->comm(reader->user, rank, event->comm, &comm) == 0) {
        FUZZ_HOLDS(comm.id != 0);
        FUZZ_HOLDS(memchr(comm.name, '\0', sizeof comm.name) != NULL);
    }
}

static void read_all(struct dumpi_trace *trace)
{
    static struct event batch[TRACE_BATCH];
    const struct trace_reader *reader = dumpi_trace_reader(trace);
    const struct trace_job *job = dumpi_trace_job(trace);
    for (uint32_t s = 0; s < job->stream_count; s++) {
        uint64_t seq = 0;
        int got;
        while ((got = reader->next(reader->user, s, UINT64_MAX, batch)) > 0 && seq < RECORDS_MOST)
            for (int i = 0; i < got; i++) {
                FUZZ_HOLDS(batch[i].seq == seq++);
                check(reader, job->ranks, job->rank_of[s], &batch[i]);
            }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dumpi_trace *trace;
    char path[128];
    make_directory();
    save("f-0.bin", data, size);
    snprintf(path, sizeof path, "%s/f-1.bin", directory);
    if (dumpi_trace_open(&trace, path, 1, nothing, NULL) != 0)
        return 0;
    read_all(trace);
    dumpi_trace_close(trace);
    return 0;
}

/* ---- seeds ------------------------------------------------------------------------- */

struct seed {
    uint8_t *out;
    size_t length;
};

static void put(struct seed *seed, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        if (seed->length < FUZZ_BYTES)
            seed->out[seed->length++] = (uint8_t)(value >> (8 * i));
}

static void put_magic(struct seed *seed)
{
    static const uint8_t magic[8] = {0xff, 0xaa, 0xdd, 'D', 'U', 'M', 'P', 'I'};
    for (unsigned i = 0; i < 8; i++)
        put(seed, magic[i], 1);
}

/* A call with each field at its least: small numbers, arrays of two. */
static void put_call(struct seed *seed, uint32_t function, unsigned number)
{
    put(seed, function, 2);
    put(seed, 0x4b, 1); /* statuses, wall clock, thread */
    put(seed, number % 3 == 0, 2);
    put(seed, number / 1000, 2);
    put(seed, number % 1000 * 1000000, 4);
    put(seed, number / 1000, 2);
    put(seed, number % 1000 * 1000000 + 500, 4);
    unsigned n = 0;
    for (const struct dumpi_field *field = dumpi_layout(function)->fields;
         field->kind != DUMPI_KIND_NONE; field++) {
        unsigned kind = field->kind, value = 1 + (n++ + number) % 5;
        if (kind == DUMPI_KIND_IF_EQUAL) {
            field++;
        } else if (kind <= DUMPI_KIND_WHENCE) {
            put(seed, value, 1);
        } else if (kind <= DUMPI_KIND_TYPE_AT_ROOT_OR_ALL) {
            put(seed, kind == DUMPI_KIND_COMM ? 2 + number % 4 : value, 2);
        } else if (kind <= DUMPI_KIND_INT_OR_NOTHING) {
            if (kind != DUMPI_KIND_SKIP_BEFORE_0_6_2)
                put(seed, kind == DUMPI_KIND_REQUEST ? 2 + number % 3 : value, 4);
        } else if (kind == DUMPI_KIND_INT64) {
            put(seed, value, 8);
        } else if (kind == DUMPI_KIND_STATUS || kind == DUMPI_KIND_STATUSES) {
            put(seed, 1, 4);
            put(seed, 8, 4);
            put(seed, number % 2, 4);
            put(seed, 0, 2);
            put(seed, value, 4);
        } else if (kind == DUMPI_KIND_ARGV) {
            put(seed, 0, 4);
        } else if (kind == DUMPI_KIND_STRING || kind == DUMPI_KIND_STRINGS ||
                   kind == DUMPI_KIND_STRING_LISTS || kind == DUMPI_KIND_INT_LISTS) {
            put(seed, 0, 4);
        } else {
            unsigned each = kind == DUMPI_KIND_TYPES || kind == DUMPI_KIND_INFOS ? 2
                            : kind == DUMPI_KIND_DISTRIBUTIONS                   ? 1
                                                                                 : 4;
            put(seed, 2, 4);
            put(seed, 2, each);
            put(seed, 1, each);
        }
    }
}

static void put_end(struct seed *seed)
{
    put(seed, DUMPI_END, 2);
    size_t header = seed->length;
    put(seed, 0x0d0000, 3);
    put(seed, 1700000000, 8);
    put(seed, 1, 2);
    put(seed, 'h', 1);
    put(seed, 0, 2);
    put(seed, 0, 4);
    put(seed, 0, 4);
    put_magic(seed);
    const size_t places[] = {0, 0, 0, header, 8, 0, 0};
    for (unsigned i = 0; i < 7; i++)
        put(seed, places[i], 8);
}

/* As dumpi2ascii prints it. */
static void put_text(struct seed *seed)
{
    static const char text[] =
        "version=1.0.0\nhostname=h\nmeshcrd=[1, 2]\n"
        "MPI_Init entering at walltime 1.000000001, cputime 0.1 seconds in thread 0.\n"
        "int argc=1\nstring argv[2]=[\"./a\", \"b\"]\n"
        "MPI_Init returning at walltime 1.000000002, cputime 0.1 seconds in thread 0.\n"
        "MPI_Irecv entering at walltime 2.000000001, cputime 0.1 seconds in thread 0.\n"
        "int count=4\nMPI_Datatype datatype=9 (MPI_INT)\nint source=-1 (MPI_ANY_SOURCE)\nint "
        "tag=1\n"
        "MPI_Comm comm=2 (MPI_COMM_WORLD)\nMPI_Request request=[5]\n"
        "MPI_Irecv returning at walltime 2.000000002, cputime 0.1 seconds in thread 0.\n"
        "MPI_Waitall entering at walltime 3.000000001, cputime 0.1 seconds in thread 0.\n"
        "int count=2\nMPI_Request requests[2]=[5, 1]\nMPI_Status statuses[1]=[{bytes=8, "
        "cancelled=0, "
        "source=0, tag=1, error=0}]\n"
        "MPI_Waitall returning at walltime 3.000000002, cputime 0.1 seconds in thread 0.\n"
        "MPI_Send called 7 times and ignored 2 times\nDatatype 30 (user-defined-datatype) has size "
        "8\n";
    for (size_t i = 0; i < sizeof text - 1; i++)
        put(seed, (uint8_t)text[i], 1);
}

/* 0: what makes communicators; then calls of all functions, some at a time; the 12th without an
 * end; last a text. */
size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static const uint32_t making[] = {DUMPI_Comm_split,  DUMPI_Comm_group,  DUMPI_Group_incl,
                                      DUMPI_Comm_create, DUMPI_Cart_create, DUMPI_Cart_sub,
                                      DUMPI_Comm_dup,    DUMPI_Comm_rank,   DUMPI_Win_create,
                                      DUMPI_Send,        DUMPI_Irecv,       DUMPI_Waitall};
    struct seed seed = {out, 0};
    if (number > 13)
        return SIZE_MAX;
    if (number == 13) {
        put_text(&seed);
        return seed.length;
    }
    put_magic(&seed);
    put(&seed, 0, 8);
    for (unsigned i = 0; number == 0 && i < 36; i++)
        put_call(&seed, making[i % 12], i);
    for (unsigned i = 0; number > 0 && i < 50; i++)
        put_call(&seed, (number * 50 + i * 7) % DUMPI_FUNCTIONS, i);
    if (number < 12)
        put_end(&seed);
    return seed.length;
}
