/* Communicators of a job whose files contain only handles of single ranks: their members, and ids
 * that all members share.
 *
 * All members make a communicator from another one by the same call, and in the same order
 * (MPI 3.1, section 6.4.2). So the calls of all ranks are aligned: a split is resolved when color
 * and key of all members of its parent are known. If the program queried ranks of a communicator
 * (MPI_Comm_rank) they must agree with the resolution; otherwise the queried ranks are used if
 * complete, and else the members are unknown.
 *
 * First dumpi_comms_note() processes all calls of all ranks, then dumpi_comms_resolve_all()
 * resolves them, then communicators can be queried.
 *
 * Words
 *   slot  number of a communicator of a rank: 0 MPI_COMM_WORLD, 1 MPI_COMM_SELF, from 2 on those
 * that it made, in order, RMA windows among them. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_COMMS_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_COMMS_H

#include "daemon/import/dumpi/dumpi_stream.h"
#include "daemon/import/trace/trace.h"

#define DUMPI_MAX_SLOTS 65000u /**< slots of a rank; further communicators have none */
/** Limits of stored numbers: members of all communicators together; lists in the calls of all
 * ranks. Beyond them communicators are not resolved. 256 MiB each. */
#define DUMPI_MAX_MEMBERS (1u << 26)

/** A call that makes a communicator or an RMA window. */
struct dumpi_making {
    int32_t parent; /**< handle; -1: none */
    int32_t child;  /**< handle; DUMPI_COMM_NULL: this rank is not a member */
    int window;     /**< child is an RMA window: these have handles of their own */
};

/** @return 1: the call makes a communicator or RMA window */
int dumpi_comm_making(const struct dumpi_stream *stream, struct dumpi_making *out);

struct dumpi_comms;

/** @return 0 or -ENOMEM */
int dumpi_comms_create(struct dumpi_comms **out, uint32_t ranks);
void dumpi_comms_destroy(struct dumpi_comms *comms);

/** Add ranks that have no files, before the communicators are resolved. @return 0 or -ENOMEM */
int dumpi_comms_grow(struct dumpi_comms *comms, uint32_t ranks);

/** Process a call of a rank, in the order of its file. Different ranks may be processed
 * concurrently.
 * @return 0 or -ENOMEM */
int dumpi_comms_note(struct dumpi_comms *comms, uint32_t rank, const struct dumpi_stream *stream);

/** Resolve all communicators. @return 0 or -ENOMEM */
int dumpi_comms_resolve_all(struct dumpi_comms *comms);

/** Number of communicators whose members are unknown, not counting MPI_COMM_WORLD's own gaps. */
uint64_t dumpi_comms_unresolved(const struct dumpi_comms *comms);

/** The communicator of a slot. @return 0, or 1: the slot is unused */
int dumpi_comms_describe(const struct dumpi_comms *comms, uint32_t rank, uint32_t slot,
                         struct trace_comm *out);

/** A communicator as a rank sees it. */
struct dumpi_view {
    uint16_t slot;          /**< COMM_SLOT_OTHER: it has none */
    int32_t rank;           /**< the rank's number in it; -1: unknown */
    uint32_t size;          /**< 0: not known */
    uint32_t flags;         /**< EVENT_INTER or 0 */
    const int32_t *members; /**< world ranks; NULL: see identity */
    int identity;           /**< 1: ranks of the communicator are world ranks */
};

/** @param slot  any; an unused one gives an empty view */
struct dumpi_view dumpi_comms_view(const struct dumpi_comms *comms, uint32_t rank, uint32_t slot);

/** World rank of a rank of the communicator, or PEER_UNKNOWN. */
int32_t dumpi_view_peer(const struct dumpi_view *view, int64_t rank);

#endif
