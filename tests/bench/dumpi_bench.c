/* How fast a DUMPI trace is read: its calls, and as records. Processor time of one thread.
 *
 *   dumpi_bench [FILE]   of a rank, with those of the others beside it; default: one made here, of
 * a rank of a halo exchange with Isend, Irecv, Waitall and Allreduce */
#include "daemon/import/dumpi/dumpi_events.h"
#include "tests/daemon/import/dumpi/dumpi_own.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STEPS 100000
#define NEIGHBOURS 4

static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print(const char *what, double seconds, uint64_t bytes, uint64_t calls,
                  uint64_t records)
{
    printf("%-28s %7.1f MB/s %7.2f million calls/s", what, (double)bytes / seconds * 1e-6,
           (double)calls / seconds * 1e-6);
    if (records > 0)
        printf(" %7.2f million records/s", (double)records / seconds * 1e-6);
    putchar('\n');
}

static void measure_calls(const struct dumpi_file *file)
{
    uint64_t bytes = 0, calls = 0;
    double begin = processor_s();
    while (processor_s() - begin < 1) {
        struct dumpi_stream stream;
        if (dumpi_stream_init(&stream, file, 65536) != 0)
            exit(1);
        while (dumpi_stream_next(&stream) == 1)
            calls++;
        bytes += file->body_end;
        dumpi_stream_finish(&stream);
    }
    print("calls", processor_s() - begin, bytes, calls, 0);
}

static void measure_records(const char *path)
{
    static struct event batch[TRACE_BATCH];
    uint64_t bytes = 0, calls = 0, records = 0;
    double begin = processor_s();
    while (processor_s() - begin < 1) {
        struct dumpi_trace *trace;
        if (dumpi_trace_open(&trace, path, 1, hear, NULL) != 0)
            exit(1);
        const struct trace_reader *reader = dumpi_trace_reader(trace);
        for (uint32_t s = 0; s < dumpi_trace_job(trace)->stream_count; s++)
            for (int got; (got = reader->next(reader->user, s, UINT64_MAX, batch)) > 0;)
                records += (uint64_t)got;
        uint64_t at, all;
        reader->progress(reader->user, &at, &all);
        bytes += all;
        calls += dumpi_trace_facts(trace).calls;
        dumpi_trace_close(trace);
    }
    print("first look and records", processor_s() - begin, bytes, calls, records);
}

/* One rank of a halo exchange. */
static void make_file(char *path, size_t capacity)
{
    int32_t requests[2 * NEIGHBOURS];
    struct dumpi_status statuses[2 * NEIGHBOURS];
    begin_files(1);
    struct dumpi_writer *w = &writers[0];
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < NEIGHBOURS; i++) {
            requests[i] = 2 + i;
            requests[NEIGHBOURS + i] = 2 + NEIGHBOURS + i;
            statuses[i] = statuses[NEIGHBOURS + i] = (struct dumpi_status){8192, 0, step, 0, 0};
            dumpi_writer_call(w, DUMPI_Irecv, LL(1024), LL(DOUBLE_), LL(0), LL(step), LL(WORLD_),
                              LL(2 + i));
            dumpi_writer_call(w, DUMPI_Isend, LL(1024), LL(DOUBLE_), LL(0), LL(step), LL(WORLD_),
                              LL(2 + NEIGHBOURS + i));
        }
        dumpi_writer_call(w, DUMPI_Waitall, LL(2 * NEIGHBOURS), 2 * NEIGHBOURS, requests,
                          2 * NEIGHBOURS, statuses);
        dumpi_writer_call(w, DUMPI_Allreduce, LL(1), LL(DOUBLE_), LL(3), LL(WORLD_));
    }
    dumpi_writer_end(w, NULL, 0);
    save_rank(0, 0);
    snprintf(path, capacity, "%s", in_directory("own-0000.bin"));
}

int main(int argc, char **argv)
{
    char made[300], why[200];
    struct dumpi_file file;
    const char *path = argc > 1 ? argv[1] : made;
    if (argc == 1) {
        make_directory(NULL);
        make_file(made, sizeof made);
    }
    if (dumpi_file_open(&file, path, why, sizeof why) != 0) {
        fprintf(stderr, "%s: %s\n", path, why);
        return 1;
    }
    measure_calls(&file);
    measure_records(path);
    dumpi_file_finish(&file);
    if (argc == 1)
        remove_directory(NULL);
    return 0;
}
