/* Communicators of a job whose files know them only by handles of single ranks: who is in which,
 * and ids that all members have alike.
 *
 * All members make a communicator from another one by the same call, and in the same order
 * (MPI 3.1, section 6.4.2). So the calls of all ranks are laid beside each other: a split is
 * resolved when all members of its parent have told color and key. Where ranks of a communicator
 * were asked for by the program (MPI_Comm_rank) they must agree with what was resolved, else what
 * the program was told counts, or nothing.
 *
 * First dumpi_comms_note() sees all calls of all ranks, then comes dumpi_comms_settle(), then all
 * may be asked for.
 *
 * Words
 *   slot  of a rank: 0 MPI_COMM_WORLD, 1 MPI_COMM_SELF, from 2 on what it made, in order, windows
 * among them. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_COMMS_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_COMMS_H

#include "daemon/import/dumpi/dumpi_stream.h"
#include "daemon/import/trace/trace.h"

#define DUMPI_SLOTS_MOST 65000u /**< of a rank; what it makes later has none */
/** Numbers that are kept: members of all communicators together; lists that calls of all ranks
 * name. Beyond that communicators are not resolved. 256 MiB each. */
#define DUMPI_MEMBERS_MOST (1u << 26)

/** A call that makes a communicator or a window. */
struct dumpi_making {
    int32_t parent; /**< handle; -1: none */
    int32_t child;  /**< handle; DUMPI_COMM_NULL: this rank is not in it */
    int window;     /**< child is one: windows have handles of their own */
};

/** @return 1: the call makes one */
int dumpi_comm_making(const struct dumpi_stream *stream, struct dumpi_making *out);

struct dumpi_comms;

/** @return 0 or -ENOMEM */
int dumpi_comms_create(struct dumpi_comms **out, uint32_t ranks);
void dumpi_comms_destroy(struct dumpi_comms *comms);

/** There are more ranks, of which no file tells. Before they are settled. @return 0 or -ENOMEM */
int dumpi_comms_grow(struct dumpi_comms *comms, uint32_t ranks);

/** A call of a rank, in the order of its file. Of several ranks at a time.
 *  @return 0 or -ENOMEM */
int dumpi_comms_note(struct dumpi_comms *comms, uint32_t rank, const struct dumpi_stream *stream);

/** @return 0 or -ENOMEM */
int dumpi_comms_settle(struct dumpi_comms *comms);

/** Communicators whose members are not known, though all of them are in one program. */
uint64_t dumpi_comms_unresolved(const struct dumpi_comms *comms);

/** What a slot stands for. @return 0, or 1: nothing */
int dumpi_comms_describe(const struct dumpi_comms *comms, uint32_t rank, uint32_t slot,
                         struct trace_comm *out);

/** A communicator as a rank sees it. */
struct dumpi_view {
    uint16_t slot;          /**< COMM_SLOT_OTHER: it has none */
    int32_t rank;           /**< own one in it; -1: not known */
    uint32_t size;          /**< 0: not known */
    uint32_t flags;         /**< EVENT_INTER or 0 */
    const int32_t *members; /**< world ranks; NULL: see identity */
    int identity;           /**< world ranks are the communicator's ranks */
};

/** @param slot  any; one that stands for nothing gives a view of nobody */
struct dumpi_view dumpi_comms_view(const struct dumpi_comms *comms, uint32_t rank, uint32_t slot);

/** World rank of a rank in it; PEER_UNKNOWN. */
int32_t dumpi_view_peer(const struct dumpi_view *view, int64_t rank);

#endif
