/* A trace in memory: four ranks on two hosts, who send around a ring and reduce. */
#ifndef HOLTER_TESTS_FAKE_TRACE_H
#define HOLTER_TESTS_FAKE_TRACE_H

#include "daemon/import/trace/trace.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/directory.h"

#define FAKE_TRACE_STREAMS 16u
#define FAKE_TRACE_ROUNDS 100u /* five records of a rank each */
#define MS UINT64_C(1000000)

struct fake_trace {
    struct event *events[FAKE_TRACE_STREAMS];
    uint32_t count[FAKE_TRACE_STREAMS], at[FAKE_TRACE_STREAMS];
    int fails[FAKE_TRACE_STREAMS]; /* at its end */
    uint32_t rank_of[FAKE_TRACE_STREAMS], host_of[FAKE_TRACE_STREAMS];
    uint32_t streams, batch; /* 0: TRACE_BATCH */
    int waits;               /* streams are asked for what begins before a time */
    uint32_t closed;         /* by the import: windows, of all hosts together */
    struct trace_job job;
    char directory[DIRECTORY_ROOM], path[64], told[1000];
};

/** The ring, with a path for its recording in a new directory: round i of each rank at i ms, 100 +
 * i bytes to the right and from the left, then an allreduce of 8 bytes. */
void fake_trace_set_up_ring(struct fake_trace *f);
/** The same ranks and hosts; records are to be added. */
void fake_trace_set_up_ring_without_records(struct fake_trace *f);
void fake_trace_finish(struct fake_trace *f);

/** One more record of a stream: a call with neither message nor communicator. @return to be changed
 * before the next */
struct event *fake_trace_add(struct fake_trace *f, uint32_t stream, uint16_t call, uint64_t enter,
                             uint64_t leave);

/** A reader of it, from its begin. */
struct trace_reader fake_trace_reader(struct fake_trace *f);

/** Import it, from its begin. @return as trace_import() */
int fake_trace_import(struct fake_trace *f, unsigned threads, struct trace_counts *counts);
/** The same, which must not fail. @return what the recording holds */
struct recorded_sums fake_trace_import_all(struct fake_trace *f, unsigned threads,
                                           struct trace_counts *counts);

#endif
