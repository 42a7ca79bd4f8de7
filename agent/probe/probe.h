/* The inside of the probe: what its files share. One process, one probe; its state is the one place
 * of the project where mutable globals are right, because the wrappers get no context argument from
 * MPI.
 *
 * Words
 *   watch    the wrappers are in force and write records
 *   passive  every MPI function jumps straight to the MPI library; nothing is stored
 *   real_X   the next definition of X behind this library (dlsym(3), RTLD_NEXT)
 */
#ifndef HOLTER_PROBE_H
#define HOLTER_PROBE_H

#include "holter/call_list.h"
#include "holter/segment.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(OPEN_MPI)
#define PROBE_FLAVOUR MPI_FLAVOUR_OPENMPI
#elif defined(MPICH_VERSION) || defined(MPICH)
#define PROBE_FLAVOUR MPI_FLAVOUR_MPICH
#else
#error "Holter has no probe for this MPI"
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define HOT static inline __attribute__((always_inline))
#define COLD __attribute__((noinline, cold))

/* Any MPI handle as a number: a pointer in Open MPI, an int in MPICH. */
#if defined(OPEN_MPI)
#define HANDLE(h) ((uint64_t)(uintptr_t)(h))
#else
#define HANDLE(h) ((uint64_t)(uint32_t)(h))
#endif

#if defined(OPEN_MPI)
/* Open MPI's predefined handles are addresses of objects in its library. The library may be opened
 * long after this one, so they cannot be linked to: they are looked up, and mpi.h's names for them
 * redefined. */
#define OBJECTS(X)                                                                                 \
    X(ompi_request_null)                                                                           \
    X(ompi_request_empty)                                                                          \
    X(ompi_message_no_proc)                                                                        \
    X(ompi_mpi_comm_null)                                                                          \
    X(ompi_mpi_comm_world)                                                                         \
    X(ompi_mpi_comm_self)                                                                          \
    X(ompi_mpi_group_null)                                                                         \
    X(ompi_mpi_win_null)                                                                           \
    X(ompi_mpi_datatype_null)
struct objects {
#define X(name) void *name;
    OBJECTS(X)
#undef X
};
extern struct objects probe_objects;
#undef MPI_REQUEST_NULL
#undef MPI_MESSAGE_NO_PROC
#undef MPI_COMM_NULL
#undef MPI_COMM_WORLD
#undef MPI_COMM_SELF
#undef MPI_GROUP_NULL
#undef MPI_WIN_NULL
#undef MPI_DATATYPE_NULL
#define MPI_REQUEST_NULL ((MPI_Request)probe_objects.ompi_request_null)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)probe_objects.ompi_message_no_proc)
#define MPI_COMM_NULL ((MPI_Comm)probe_objects.ompi_mpi_comm_null)
#define MPI_COMM_WORLD ((MPI_Comm)probe_objects.ompi_mpi_comm_world)
#define MPI_COMM_SELF ((MPI_Comm)probe_objects.ompi_mpi_comm_self)
#define MPI_GROUP_NULL ((MPI_Group)probe_objects.ompi_mpi_group_null)
#define MPI_WIN_NULL ((MPI_Win)probe_objects.ompi_mpi_win_null)
#define MPI_DATATYPE_NULL ((MPI_Datatype)probe_objects.ompi_mpi_datatype_null)
#endif

/* ---- memory: all of it is static, together below 256 KiB ----------------- */

#define REQUEST_CAPACITY 4096u   /* requests outstanding at one time, a power of two */
#define REQUEST_WINDOW 16u       /* slots that a request may lie behind its first */
#define COLLECTIVE_CAPACITY 256u /* persistent collectives, and how far one may lie */
#define COLLECTIVE_WINDOW 16u    /* behind its first slot */
#define PEER_CAPACITY 1024u      /* cached translations of ranks, a power of two */
#define TYPE_CAPACITY 32u        /* cached datatype sizes for each thread, a power of two */
#define REGION_DEPTH 32u         /* code regions nested in a thread */
#define STATUS_BATCH 1024u /* statuses on the stack, when the application does not want them, */
#define MAX_STATUSES 4096u /* and where the call cannot be made by pieces */

/** One outstanding or persistent request. Two of its words are those of a record, so that its
 *  completion copies them. */
struct request {
    uint64_t handle; /**< 0: free; 1: being filled by another thread */
    uint64_t t_post; /**< entry of the call that posted it, ticks */
    uint64_t bytes;  /**< size of the message; posted size of a receive */
    uint64_t ends;   /**< as ring_ends() has them */
    union {
        struct {
            uint32_t number; /**< counted from 1 in this rank */
            uint16_t comm;   /**< slot */
            uint16_t flags;  /**< EVENT_SEND, RECV, WILDCARD, PERSISTENT, INTER; REQUEST_* */
        };
        uint64_t place; /**< as ring_place() has it, with the flags instead of the region */
    };
};

enum request_flag {
    REQUEST_KNOWN = 1 << 12,     /**< how it ended is in the entry already: no status is needed */
    REQUEST_IDLE = 1 << 13,      /**< persistent, not started */
    REQUEST_CANCELLED = 1 << 14, /**< MPI_Cancel was called */
    REQUEST_MESSAGE = 1 << 15,   /**< not a request: a message that MPI_Mprobe took */
    REQUEST_OWN = 15 << 12,
};

/** A persistent collective besides its request. */
struct collective {
    uint32_t number;   /**< of the request; 0: free */
    uint64_t bytes_in; /**< what this rank gets by each start */
};

/** A communicator, or a window (which is a communicator of its own here), found by its handle.
 *  Index is that of its slot in the segment. */
struct comm {
    uint64_t handle; /**< 0: free */
    /** Ranks of the peer group for which world rank = offset + stride * rank; 0: look up. */
    uint32_t affine;
    int32_t offset;
    int32_t stride;
    int32_t rank;  /**< this process in the local group */
    int32_t size;  /**< of the local group */
    int32_t peers; /**< of the group that peers are in: the remote one of an inter-communicator */
    uint32_t ordinal; /**< communicators made from this one so far */
    int32_t sources;  /**< neighbours that send to this rank; -1: not asked yet */
    int32_t sinks;    /**< neighbours this rank sends to */
    uint64_t absent;  /**< bit i: neighbour i is MPI_PROC_NULL, beyond the border of a grid */
    uint16_t slot;    /**< index, or COMM_SLOT_* */
    uint16_t is_window;
    uint32_t flags; /**< EVENT_INTER or 0 */
};

struct type_size {
    uint64_t handle;
    uint64_t bytes;
};

enum gate {
    GATE_NEW = 1,    /**< the thread has no ring yet */
    GATE_INSIDE = 2, /**< in an MPI call already: what the library calls itself is not counted */
    GATE_CLOSED = 4, /**< no ring for this thread, or the process is ending */
};

/** State of a thread that calls MPI. Zero is not its start: see thread_self. */
struct thread {
    uint32_t gate;       /**< 0: record the next call */
    uint32_t type_epoch; /**< of probe.type_epoch when types was valid */
    struct ring_writer ring;
    const struct comm *last;      /**< communicator used last; never NULL */
    const struct type_size *type; /**< datatype used last; never NULL */
    uint16_t region;              /**< innermost */
    uint16_t depth;               /**< regions open */
    uint16_t regions[REGION_DEPTH];
    struct type_size types[TYPE_CAPACITY];
};

struct probe {
    struct request requests[REQUEST_CAPACITY]; /**< first, so that its offsets are those in here */
    struct segment *segment;                   /**< NULL: passive */
    uint32_t paused;                           /**< MPI_Pcontrol(0) is in force */
    uint32_t multiple;     /**< MPI_THREAD_MULTIPLE: requests are shared between threads */
    uint32_t tick_unit;    /**< enum tick_unit */
    uint32_t type_epoch;   /**< raised whenever a datatype is freed */
    uint32_t next_request; /**< numbers given so far */
    int32_t rank;          /**< in MPI_COMM_WORLD, -1 before MPI_Init */
    int32_t size;
    MPI_Group world; /**< group of MPI_COMM_WORLD, while world_known */
    int world_known;
    struct collective collectives[COLLECTIVE_CAPACITY];
    _Atomic uint64_t peers[PEER_CAPACITY];
};

extern struct probe probe;
extern __thread struct thread thread_self __attribute__((tls_model("initial-exec")));

/* ---- start.c ------------------------------------------------------------- */

/** Give the calling thread a ring, and the process its segment when it has none. @return the thread
 *  when its calls are to be recorded, else NULL */
COLD struct thread *thread_start(void);

/** Learn rank, size, thread level and the predefined communicators, once MPI is initialised. */
COLD void probe_on_initialized(void);

/** MPI_Finalize is about to begin. */
COLD void probe_on_finalize(void);

/** First call of any MPI function in this process: find the MPI library and decide between watching
 *  and passive. Called by the stubs. */
void probe_first(void);

/** One line on standard error, the only one that a process ever prints. */
COLD void probe_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Called instead of functions that the loaded MPI library does not have. */
int probe_fail_missing(void);

/* ---- the generated file -------------------------------------------------- */

/** One exported function. */
struct target {
    const char *name; /**< "PMPI_Send" */
    void **real;      /**< the next definition behind this library */
    void *watch;      /**< the wrapper */
};
extern const struct target probe_targets[];
extern const size_t probe_target_count;
extern const struct target probe_uses[]; /**< functions that the probe calls and does not watch */
extern const size_t probe_use_count;
extern void *probe_jump[]; /**< where each stub jumps, in the order of probe_targets */

/* ---- datatype.c ---------------------------------------------------------- */

extern const struct type_size type_null;

/** A datatype is about to be freed. */
COLD void type_freed(struct thread *t, uint64_t handle);

/* ---- communicator.c ------------------------------------------------------ */

extern const struct comm comm_null;

/** Find a communicator or window that is not the last one used; learn an unknown one. Never NULL.
 *  */
COLD const struct comm *comm_lookup(struct thread *t, uint64_t handle, int is_window);

/** World rank of a rank that is not covered by comm->affine; PEER_*. */
COLD int32_t comm_peer_lookup(const struct comm *comm, int rank);

/** A call made a communicator or window. All members of the parent take part in the call.
 *  @param parent  handle it was made from
 *  @param child   MPI_COMM_NULL: this rank is no member */
COLD void comm_made(struct thread *t, uint16_t call, MPI_Comm parent, MPI_Comm child);
COLD void comm_copied(struct thread *t, uint16_t call, MPI_Comm parent, MPI_Comm child);
COLD void comm_window_made(struct thread *t, uint16_t call, MPI_Comm parent, MPI_Win win);

/** A call made a communicator whose members alone took part: the id comes from the groups and the
 *  tag. */
COLD void comm_made_by_group(struct thread *t, uint16_t call, MPI_Comm parent, int tag,
                             MPI_Comm child);

/** MPI_COMM_WORLD and MPI_COMM_SELF. */
void comm_predefined(void);

/** It is freed: its slot may be given to another. */
COLD void comm_freed(uint64_t handle);
COLD void comm_named(MPI_Comm comm, const char *name);

/** Slot of an index that stands in a request. NULL for COMM_SLOT_*. */
const struct comm *comm_of_slot(uint16_t slot);

/** Fill comm->sources, comm->sinks and comm->absent. */
COLD const struct comm *comm_neighbours(const struct comm *comm, MPI_Comm handle);

/* ---- cartesian.c --------------------------------------------------------- */

/** A Cartesian communicator was made: note its shape, if there is room for it.
 *  @param rank, size  this rank's rank in it, and how many it has
 *  @param id          of comm_made() @param made  communicators made of the same parent before */
COLD void cartesian_made(MPI_Comm comm, int rank, int size, uint64_t id, uint32_t made);

/* ---- persistent.c -------------------------------------------------------- */

/** A persistent collective was made: keep what each start gets. */
COLD void collective_store_bytes(struct thread *t, uint64_t handle, uint64_t bytes_in);

/** Of the request with this number. @return bytes, 0 when none are kept */
COLD uint64_t collective_bytes_in(uint32_t number);

/** Its request is freed. */
COLD void collective_remove(uint32_t number);

/* ---- region.c ------------------------------------------------------------ */

/** What MPI_Pcontrol(level, argument) means to Holter.
 *  @param argument  the first variadic argument, or what happened to lie in its register: not to be
 *                   trusted
 *  @return region entered (> 0), left (< 0) or 0; changes t->region and probe.paused */
COLD int region_control(struct thread *t, int level, const void *argument);

#endif
