/* The messages that collectives send, by the algorithms that MPI libraries document. A probe sees
 * the call, not what the library does; the CommGram shows these messages as modelled ones.
 * Algorithms and the sizes at which they change are MPICH's defaults (src/mpi/coll, MPIR_CVAR_*,
 * and Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH,
 * 2005). Open MPI's `tuned` component uses the same ones with other limits. p is the number of
 * ranks, n the bytes of the buffer.
 *
 * - Barrier: dissemination.
 * - Bcast: binomial tree; from 12,288 bytes and 8 ranks on a binomial scatter and recursive
 * doubling (p a power of two, below 524,288 bytes) or a ring.
 * - Gather, Scatter: binomial tree.
 * - Gatherv, Scatterv: linear, all with the root.
 * - Reduce: binomial tree; above 2,048 bytes Rabenseifner: recursive halving, then a binomial
 *   gather.
 * - Allreduce: recursive doubling; above 2,048 bytes Rabenseifner: recursive halving, then
 *   recursive doubling.
 * - Allgather, Allgatherv: recursive doubling (p a power of two, below 524,288 bytes in all), Bruck
 *   (below 81,920), ring.
 * - Alltoall: Bruck (up to 256 bytes for each rank and from 8 ranks on), else pairwise.
 * - Alltoallv, Alltoallw: pairwise.
 * - Reduce_scatter, Reduce_scatter_block: recursive halving; from 524,288 bytes on pairwise.
 * - Scan, Exscan: recursive doubling.
 *
 * Where p is no power of two, the excess ranks first send their part to a neighbour and receive the
 * result from it at the end. Trees, and all of Reduce, count positions from the root. Real
 * libraries also consider the machine (shared memory, hardware multicast); that is not modelled.
 * Bytes are those that a rank contributes, as its record counts them (holter/event.h). In Bcast,
 * Scatter and Scatterv only the root contributes: its call determines the messages of all ranks. In
 * everything else each rank's call determines its own messages. Where the parts of other ranks are
 * forwarded and may differ (Gather, Allgather and their -v), they are assumed to be as large as the
 * caller's.
 * Pure: no clock, no file, no socket, no memory. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_COLLECTIVE_EDGES_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_COLLECTIVE_EDGES_H

#include <stdint.h>

#define COLLECTIVE_MAXIMUM_EDGES 64u
#define COLLECTIVE_MAXIMUM_RANKS (1u << 24) /**< of a communicator */

/** Which rank's record determines the messages of a collective. */
enum collective_teller {
    COLLECTIVE_NOBODY, /**< not modelled: neighbourhoods, which depend on a topology that is not
                        * recorded, and calls that are no collectives */
    COLLECTIVE_EACH,   /**< each rank's record determines its own messages */
    COLLECTIVE_ROOT,   /**< the root's record determines those of all: call once for each position
                        * with the root's numbers, and skip the records of the others */
};

enum collective_teller collective_teller(uint16_t call);

/** Calls of one collective with the same parameters. */
struct collective_call {
    uint16_t call;     /**< see holter/call.h; blocking, immediate and persistent ones are alike */
    uint32_t size;     /**< ranks of the (intra-)communicator, 1 to COLLECTIVE_MAXIMUM_RANKS */
    uint32_t position; /**< the rank whose messages are listed; below size */
    uint32_t root;     /**< position of the root; ignored for collectives without one */
    uint64_t calls;    /**< how many; 0: no messages */
    uint64_t bytes;    /**< contributed in all of them by the rank whose record this is */
};

/** Messages to another rank of the communicator. */
struct collective_edge {
    uint32_t destination; /**< its position, never the sender's */
    uint32_t step;        /**< from 0: step of the algorithm; a destination may occur in several */
    uint64_t messages;    /**< in all of the calls; saturates at UINT64_MAX, as bytes do */
    uint64_t bytes;
};

struct collective_edges {
    const char *algorithm; /**< name for display: "recursive doubling"; static */
    uint32_t count;
    struct collective_edge edges[COLLECTIVE_MAXIMUM_EDGES]; /**< ordered by step */
    /** Sent evenly to all others, when those are too many for rows: pairwise exchange among more
     *  than COLLECTIVE_MAXIMUM_EDGES + 1 ranks. Else 0. */
    uint64_t spread_messages, spread_bytes;
};

/** Lists what one rank sends.
 *  @return 0; -HOLTER_EMISSING: this call's messages are not modelled; -HOLTER_ERANGE: size,
 *          position or root outside its range */
int collective_edges(const struct collective_call *call, struct collective_edges *out);

#endif
