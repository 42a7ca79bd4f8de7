/* Internal declarations of the probe. A process has one probe, and its state is global, because the
 * wrappers get no context argument from MPI; nowhere else does the project use mutable globals.
 *
 * Words
 *   watch    the wrappers are in force and write records
 *   passive  every MPI function jumps straight to the MPI library; nothing is stored
 *   real_X   the definition of X that follows this library (dlsym(3), RTLD_NEXT)
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
#define NOINLINE static __attribute__((noinline))
#define COLD __attribute__((noinline, cold))

/* Any MPI handle as a number: a pointer in Open MPI, an int in MPICH. */
#if defined(OPEN_MPI)
#define HANDLE(h) ((uint64_t)(uintptr_t)(h))
#else
#define HANDLE(h) ((uint64_t)(uint32_t)(h))
#endif

#if defined(OPEN_MPI)
/* The predefined handles of Open MPI are addresses of objects in its library. The library may be
 * opened long after this one, so they cannot be linked: they are looked up by dlsym(3), and the
 * names in mpi.h are redefined. */
#define OBJECTS(X)                                                                                 \
    X(ompi_request_null)                                                                           \
    X(ompi_request_empty)                                                                          \
    X(ompi_message_no_proc)                                                                        \
    X(ompi_mpi_comm_null)                                                                          \
    X(ompi_mpi_comm_world)                                                                         \
    X(ompi_mpi_comm_self)                                                                          \
    X(ompi_mpi_group_null)                                                                         \
    X(ompi_mpi_win_null)                                                                           \
    X(ompi_mpi_datatype_null)                                                                      \
    X(ompi_mpi_op_no_op)
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
#undef MPI_NO_OP
#define MPI_REQUEST_NULL ((MPI_Request)probe_objects.ompi_request_null)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)probe_objects.ompi_message_no_proc)
#define MPI_COMM_NULL ((MPI_Comm)probe_objects.ompi_mpi_comm_null)
#define MPI_COMM_WORLD ((MPI_Comm)probe_objects.ompi_mpi_comm_world)
#define MPI_COMM_SELF ((MPI_Comm)probe_objects.ompi_mpi_comm_self)
#define MPI_GROUP_NULL ((MPI_Group)probe_objects.ompi_mpi_group_null)
#define MPI_WIN_NULL ((MPI_Win)probe_objects.ompi_mpi_win_null)
#define MPI_DATATYPE_NULL ((MPI_Datatype)probe_objects.ompi_mpi_datatype_null)
#define MPI_NO_OP ((MPI_Op)probe_objects.ompi_mpi_op_no_op)
#endif

/* ---- memory: static, together below 640 KiB; beyond that mapped, see memory.c ---------------- */

#define REQUEST_CAPACITY 4096u /* requests in the static table, a power of two */
#define REQUEST_WINDOW 16u     /* slots that are searched from the home slot on */
#define PEER_CAPACITY 1024u    /* cached translations of ranks, a power of two */
#define TYPE_CAPACITY 32u      /* cached datatype sizes for each thread, a power of two */
#define REGION_DEPTH 32u       /* code regions nested in a thread */
#define STACK_REQUESTS 64      /* requests of a call whose arrays are on the stack, under 4 KiB */
#define MAPPED_LIMIT (128u << 20) /* bytes that are mapped at one time */

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
    REQUEST_IDLE = 1 << 13,      /**< persistent, not started */
    REQUEST_CANCELLED = 1 << 14, /**< MPI_Cancel was called */
    REQUEST_MESSAGE = 1 << 15,   /**< not a request: a message that MPI_Mprobe matched */
    REQUEST_OWN = 7 << 13,
};

/** A communicator or an RMA window, which is recorded as a communicator of its own. Found by its
 *  handle; its index is that of its slot in the segment. */
struct comm {
    uint64_t handle; /**< 0: free */
    /** Ranks of the peer group for which world rank = offset + stride * rank; 0: look up. */
    uint32_t affine;
    int32_t offset;
    int32_t stride;
    int32_t rank;     /**< this process in the local group */
    int32_t size;     /**< of the local group */
    int32_t peers;    /**< size of the peer group: the remote one of an inter-communicator */
    uint32_t ordinal; /**< communicators made from this one so far */
    int32_t sources;  /**< neighbours that send to this rank; -1: not queried yet */
    int32_t sinks;    /**< neighbours this rank sends to */
    /** Persistent requests of it, and 1 until it is freed: its slot is in use until this is 0. */
    uint32_t uses;
    union {
        uint64_t absent; /**< bit i: neighbour i is MPI_PROC_NULL, beyond the border of a grid */
        uint64_t freed;  /**< of a free slot: comm_slot.since of its next use */
    };
    uint16_t slot; /**< index, or COMM_SLOT_* */
    uint16_t is_window;
    uint16_t flags; /**< EVENT_INTER or 0 */
};

struct type_size {
    uint64_t handle;
    uint64_t bytes;
};

enum gate {
    GATE_NEW = 1,    /**< the thread has no ring yet */
    GATE_INSIDE = 2, /**< in an MPI call: nested calls of the library are not recorded */
    GATE_CLOSED = 4, /**< no ring for this thread, or the process is ending */
};

/** Families of polling calls, whose calls that find nothing go to the tally. */
enum poll_family {
    POLL_TEST,  /**< MPI_Test, Testany, Testall, Testsome, Request_get_status */
    POLL_PROBE, /**< MPI_Iprobe, Improbe */
    POLL_FAMILIES,
};

/** State of a thread that calls MPI. Its initial value is that of thread_self, not zero. */
struct thread {
    uint32_t gate;       /**< 0: record the next call */
    uint32_t type_epoch; /**< value of probe.type_epoch for which types is valid */
    const void *frame; /**< of the wrapper that recorded last: those of nested calls are below it */
    struct ring_writer ring;
    struct {
        struct tally_row *row; /**< of the newest call that found nothing */
        uint16_t call;         /**< its number; 0: none since the region changed */
    } polls[POLL_FAMILIES];
    struct tally_row no_polls;    /**< instead of a row that there is no space for */
    const struct comm *last;      /**< communicator used last; never NULL */
    const struct type_size *type; /**< datatype used last; never NULL */
    uint16_t region;              /**< innermost */
    uint16_t depth;               /**< regions open */
    uint16_t ending;              /**< MPI_Finalize or MPI_Abort was called */
    uint16_t regions[REGION_DEPTH];
    struct type_size types[TYPE_CAPACITY];
    void *scratch; /**< of memory_scratch(); owned */
    size_t scratch_bytes;
};

struct probe {
    struct request requests[REQUEST_CAPACITY];
    struct segment *segment; /**< NULL: passive */
    uint32_t paused;         /**< MPI_Pcontrol(0) is in force */
    uint32_t multiple;       /**< MPI_THREAD_MULTIPLE: requests are shared between threads */
    uint32_t tick_unit;      /**< enum tick_unit */
    uint32_t type_epoch;     /**< raised whenever a datatype is freed */
    uint32_t next_request;   /**< number of the newest request */
    int32_t rank;            /**< in MPI_COMM_WORLD or mpi://WORLD, -1 before MPI is initialised */
    int32_t size;
    _Atomic uint64_t peers[PEER_CAPACITY];
};

extern struct probe probe;
extern __thread struct thread thread_self __attribute__((tls_model("initial-exec")));

/* ---- start.c ------------------------------------------------------------- */

/** Assign a ring to the calling thread; makes the segment first if the process has none.
 *  @return the thread, or NULL if its calls are not recorded */
COLD struct thread *thread_start(void);

/** The same of a thread that records no call now, or is in one that it may have left.
 *  @param frame  of the wrapper */
COLD struct thread *thread_enter(const void *frame);

/** Query rank, size and thread level, and enter the predefined communicators. MPI is initialised.
 */
COLD void probe_on_initialized(void);

/** MPI_Finalize is about to begin. */
COLD void probe_on_finalize(void);

#if defined(MPI_SESSION_NULL)
/** A session was opened; it gives the ranks of a program that does not call MPI_Init. */
COLD void probe_on_session(MPI_Session session);

/** MPI_Session_finalize is about to begin. */
COLD void probe_on_session_finalize(MPI_Session session);

/** MPI_Session_finalize has returned. */
COLD void probe_on_session_finalized(void);
#endif

/** First call of any MPI function in this process: find the MPI library and decide between watching
 *  and passive. Called by the stubs. */
void probe_first(void);

/** Print one line to standard error. Only the first call in a process prints. */
COLD void probe_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Called instead of functions that the loaded MPI library does not have. */
int probe_fail_missing(void);

/* ---- the generated file -------------------------------------------------- */

/** One exported function. */
struct target {
    const char *name; /**< "PMPI_Send" */
    void **real;      /**< set to the definition that follows this library */
    void *watch;      /**< the wrapper */
};
extern const struct target probe_targets[];
extern const size_t probe_target_count;
extern const struct target probe_uses[]; /**< functions that the probe calls and does not watch */
extern const size_t probe_use_count;
extern void *probe_jump[]; /**< where each stub jumps, in the order of probe_targets */

/* ---- memory.c ------------------------------------------------------------ */

/** Map zeroed memory. @return NULL: there is none, or MAPPED_LIMIT is reached; errno is preserved
 */
COLD void *memory_map(size_t bytes);
COLD void memory_unmap(void *at, size_t bytes);

/** Map zeroed memory at the first call for all threads. @param shared  NULL until then
 *  @return the memory, or NULL as memory_map() */
COLD void *memory_map_once(void **shared, size_t bytes);

/** Memory of a thread for the duration of a call; its content is arbitrary. @return as memory_map()
 */
COLD void *memory_scratch(struct thread *t, size_t bytes);
COLD void memory_free_scratch(struct thread *t);

/* ---- datatype.c ---------------------------------------------------------- */

extern const struct type_size type_null;

/** A datatype is about to be freed. */
COLD void type_freed(struct thread *t, uint64_t handle);

/* ---- communicator.c ------------------------------------------------------ */

extern const struct comm comm_null;

/** Find a communicator or RMA window that is not the one used last; an unknown one is added.
 *  @return never NULL */
COLD const struct comm *comm_lookup(struct thread *t, uint64_t handle, int is_window);

/** World rank of a rank that is not covered by comm->affine; PEER_*. */
COLD int32_t comm_peer_lookup(const struct comm *comm, int rank);

/** The entry of a communicator or RMA window: comm_null without one, and that of all others where
 *  it has none of its own. */
COLD const struct comm *comm_known(uint64_t handle);

/** Enter a new communicator or RMA window, made by a call that is collective over the parent.
 *  @param parent  communicator that it was made from
 *  @param child   MPI_COMM_NULL: this rank is not a member */
COLD void comm_made(uint16_t call, MPI_Comm parent, MPI_Comm child);
COLD void comm_copied(uint16_t call, MPI_Comm parent, MPI_Comm child);
COLD void comm_window_made(uint16_t call, MPI_Comm parent, MPI_Win win);

/** Enter a new communicator, made by a call that is collective over its members only: the id is
 * made of the groups and the tag. */
COLD void comm_made_by_group(uint16_t call, MPI_Comm parent, int tag, MPI_Comm child);

/** Enter MPI_COMM_WORLD and MPI_COMM_SELF. */
void comm_predefined(void);

/** Set the group by which world ranks are known, and free the one before.
 *  @param group  ownership passes to this function; MPI_GROUP_NULL: none */
void comm_set_world(MPI_Group group);

/** A persistent request was made on the communicator of a slot, and was freed. */
COLD void comm_add_request(uint16_t slot);
COLD void comm_remove_request(uint16_t slot);

/** Remove a communicator or RMA window that was freed; its slot may be reused once its persistent
 *  requests were freed, too.
 *  @param comm  of comm_known(), before the call that freed it; its handle may be another's now */
COLD void comm_freed(const struct comm *comm, uint64_t handle);
COLD void comm_named(MPI_Comm comm, const char *name);

/** The communicator of a slot number, as stored in a request. @return NULL for COMM_SLOT_* */
const struct comm *comm_of_slot(uint16_t slot);

/** Fill comm->sources, comm->sinks and comm->absent. */
COLD const struct comm *comm_neighbours(const struct comm *comm, MPI_Comm handle);

/* ---- cartesian.c --------------------------------------------------------- */

/** Write the shape of a new Cartesian communicator to the segment, if a slot is free.
 *  @param rank, size  of this process in the communicator, and of the communicator
 *  @param id          of comm_made() @param made  communicators made of the same parent before */
COLD void cartesian_made(MPI_Comm comm, int rank, int size, uint64_t id, uint32_t made);

/* ---- persistent.c -------------------------------------------------------- */

/** Store the bytes that each start of a new persistent collective receives. */
COLD void collective_store_bytes(struct thread *t, uint64_t handle, uint64_t bytes_in);

/** Look up the received bytes by the number of the request. @return bytes, 0 if none are stored */
COLD uint64_t collective_bytes_in(uint32_t number);

/** Remove the entry of a request that is freed. */
COLD void collective_remove(uint32_t number);

/* ---- region.c ------------------------------------------------------------ */

/** Interpret MPI_Pcontrol(level, argument).
 *  @param argument  the first variadic argument, or an arbitrary value of its register: not trusted
 *  @return region entered (> 0), left (< 0) or 0; changes t->region and probe.paused */
COLD int region_control(struct thread *t, int level, const void *argument);

#endif
