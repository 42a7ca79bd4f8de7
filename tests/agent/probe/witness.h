/* A rank that watches itself: reads what the probe wrote about it from its own segment, and
 * compares with what it knows it did. Included by each test program; built for both MPIs. */
#ifndef WITNESS_H
#define WITNESS_H

#include "holter/call.h"
#include "holter/segment.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct segment *witness_segment;
static size_t witness_bytes;
static struct ring_reader witness_reader;
static int witness_rank, witness_size, witness_failures;

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            witness_failures++;                                                                    \
            fprintf(stderr, "%s:%d: rank %d: not so: %s: ", __FILE__, __LINE__, witness_rank,      \
                    #condition);                                                                   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

/** After MPI_Init. The calling thread's ring is the one that is read. */
static void witness_open(void)
{
    char name[128];
    const char *session = getenv("HOLTER_SESSION");
    if (!session ||
        segment_name(name, sizeof(name), (uint32_t)getuid(), session, (int32_t)getpid()) != 0 ||
        segment_open(&witness_segment, &witness_bytes, name, 0) != 0 ||
        ring_reader_init(&witness_reader, witness_segment, witness_bytes, 0) != 0) {
        fprintf(stderr, "%s: no segment: was the probe preloaded?\n", name);
        exit(1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &witness_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &witness_size);
}

/** Next record, or an empty one when there is none. */
static inline struct event next_event(void)
{
    struct event event = {.call = 0};
    ring_read(&witness_reader, &event, 1);
    return event;
}

/** Throw away what was recorded so far. */
static inline void skip_events(void)
{
    while (next_event().call != 0)
        ;
}

/** The next record is of this kind and call. */
static inline struct event expect_call_at(int line, uint16_t call, uint16_t kind, uint32_t flags)
{
    struct event e = next_event();
    if (e.call != call || e.kind != kind || e.flags != flags) {
        witness_failures++;
        fprintf(stderr, "line %d: rank %d: got %s kind %u flags %x, expected %s kind %u flags %x\n",
                line, witness_rank, call_name(e.call), e.kind, e.flags, call_name(call), kind,
                flags);
    }
    return e;
}
#define EXPECT_CALL(name, flags) expect_call_at(__LINE__, CALL_##name, EVENT_CALL, flags)
#define EXPECT_PART(name, flags) expect_call_at(__LINE__, CALL_##name, EVENT_PART, flags)

/** Nothing more was recorded. */
static inline void expect_silence_at(int line)
{
    struct event e = next_event();
    if (e.call != 0) {
        witness_failures++;
        fprintf(stderr, "line %d: rank %d: unexpected %s\n", line, witness_rank, call_name(e.call));
    }
}
#define EXPECT_SILENCE() expect_silence_at(__LINE__)

static inline uint64_t comm_id(const struct event *e)
{
    return e->comm < witness_segment->comms ? segment_comm(witness_segment, e->comm)->id : 0;
}

/** Polling calls of a function that found nothing, in the tally of the first thread. */
static inline struct tally_figures polls(uint16_t call)
{
    const struct ring_control *control = segment_ring(witness_segment, 0);
    const struct tally_row *rows =
        (const void *)((const char *)witness_segment + control->tally_offset);
    struct tally_figures total = {0};
    for (uint32_t i = 0; i < atomic_load(&control->tally_count); i++) {
        if (atomic_load(&rows[i].what) != ring_what(call, 0, EVENT_POLL, 0))
            continue;
        struct tally_figures row = tally_read(&rows[i]);
        total.records += row.records;
        total.ticks += row.ticks;
    }
    return total;
}

/** Ends MPI. @return the program's status: all ranks' failures count */
static inline int witness_close(void)
{
    int all = 0;
    MPI_Allreduce(&witness_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (atomic_load(&witness_segment->state) != SEGMENT_FINALIZED) {
        fprintf(stderr, "rank %d: the end is not noted\n", witness_rank);
        return 1;
    }
    if (witness_rank == 0 && all == 0)
        printf("as it should be\n");
    return all == 0 ? 0 : 1;
}

#endif
