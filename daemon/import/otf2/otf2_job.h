/* The job of an OTF2 archive: hosts, streams, communicators, code regions. Made once from the
 * definitions, in memory that processes share, and read-only from then on. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_JOB_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_JOB_H

#include "daemon/import/otf2/otf2_calls.h"
#include "daemon/import/trace/trace.h"

#define OTF2_COMM_SLOTS 65000u /**< number of communicators that have a slot: the first ones */

/** The ranks of a communicator, by their positions in it. */
struct otf2_group {
    const int32_t *world; /**< world rank, or PEER_UNKNOWN; NULL: position and rank are the same */
    const uint32_t *by_rank; /**< positions, by ascending world rank; NULL with world */
    uint32_t size;
};

struct otf2_comm {
    struct trace_comm known;  /**< my_rank is not set */
    struct otf2_group group;  /**< the group of an intra-communicator */
    struct otf2_group remote; /**< intercommunicators: the other group; else empty */
    int self; /**< 1: a communicator of one rank, which each rank has for itself (MPI_COMM_SELF) */
};

struct otf2_job {
    uint32_t ranks, host_count, stream_count, comm_count, code_region_count;
    const uint32_t *rank_of;        /**< by stream */
    const uint32_t *thread_of;      /**< by stream: index among the streams of its rank */
    const uint32_t *threads_of;     /**< by rank: number of its streams */
    const uint32_t *streams;        /**< grouped by rank, those of a rank by their indices */
    const uint32_t *first_of;       /**< by rank: position of its first stream in that */
    const uint32_t *cpu_threads_of; /**< by rank: number of those that are threads of a processor */
    const uint64_t *locations;      /**< by stream: id in the archive */
    const uint64_t *events_of;      /**< by stream: number of events as stated by the definitions */
    const uint32_t *host_of;        /**< by rank */
    const char (*hosts)[65];        /**< by host */
    const struct otf2_comm *comms;  /**< by number, which is also the slot of those that have one */
    const char (*code_regions)[64]; /**< names by slot, from 1 */
    uint64_t resolution, offset;    /**< ticks a second; the trace's zero in ticks */
    uint64_t begin_ns, length_ns;   /**< as struct trace_job has them */
    uint64_t events;                /**< of all streams as stated by the definitions; 0: unknown */
    uint64_t left_out;              /**< locations that belong to no rank */
    int by_process;    /**< ranks are the processes in order: the list of locations is wrong */
    char creator[128]; /**< of the archive */
};

/** Nanoseconds since the trace's zero. */
static inline uint64_t otf2_job_ns(const struct otf2_job *job, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t second = UINT64_C(1000000000);
    if (ticks <= job->offset)
        return 0;
    uint64_t whole = (ticks - job->offset) / job->resolution;
    uint64_t rest = (ticks - job->offset) % job->resolution;
    if (whole >= INT64_MAX / second)
        return INT64_MAX;
    uint64_t part = rest <= UINT64_MAX / second ? rest * second / job->resolution
                                                : (uint64_t)((wide)rest * second / job->resolution);
    return whole * second + part;
}

/** World rank of a position in a communicator, as seen by one of its members.
 * @param number  of the communicator
 * @param inter  set: the peer belongs to the other group @return PEER_UNKNOWN: there is none */
int32_t otf2_job_peer(const struct otf2_job *job, uint32_t rank, uint32_t number, uint32_t position,
                      int *inter);

/** As trace_reader.comm. */
int otf2_job_comm(const struct otf2_job *job, uint32_t rank, uint32_t slot, struct trace_comm *out);

#endif
