/* The segment: the shared memory of one rank. A probe makes it, the node's agent reads and removes
 * it.
 *
 * Name    /holter.<uid>.<session>.<pid>   (shm_open(3); mode 0600, owned by the user)
 *         with .<random> appended where another user has taken that name: this one cannot be
 *         foreseen, and files of other users are not read
 * Layout  struct segment, padded to SEGMENT_HEADER_BYTES
 *         struct ring_control[rings]
 *         struct comm_slot[comms]
 *         struct region_slot[regions]
 *         struct cart_slot[carts]
 *         struct source_slot[SEGMENT_SOURCES]
 *         of each ring: its records, its struct tally_row[tally_capacity]
 * Every offset and count is in the header; a reader checks them against the length of its mapping
 * before it uses them, and does not read them again. Memory is reserved (posix_fallocate) before it
 * is used, so that no store can fault: up to the end of the first ring when the segment is made,
 * that of each further ring when a thread claims it.
 */
#ifndef HOLTER_SEGMENT_H
#define HOLTER_SEGMENT_H

#include "holter/ring.h"

#define SEGMENT_MAGIC UINT64_C(0x31305245544c4f48) /* "HOLTER01" */
#define SEGMENT_VERSION 10u
#define SEGMENT_HEADER_BYTES 4096u

/* Default sizes: 2.5 MiB for a rank of one thread; 320 KiB more for each of its threads 2 to 4, and
 * 96 KiB for each further one. */
#define SEGMENT_RINGS 96u             /**< threads of a rank that may call MPI at one time */
#define SEGMENT_COMMS 5120u           /**< communicators of a rank that exist at one time */
#define SEGMENT_REGIONS 256u          /**< code regions of a rank */
#define SEGMENT_CARTS 64u             /**< Cartesian communicators of a rank, the first ones */
#define SEGMENT_SOURCES 1024u         /**< neighbours of a rank in its topologies, the first ones */
#define SEGMENT_FIRST_CAPACITY 32768u /**< records of the first thread's ring */
#define SEGMENT_EARLY_CAPACITY 4096u  /**< records of the rings 1 to 3 */
#define SEGMENT_LATE_CAPACITY 1024u   /**< records of all further rings */

enum mpi_flavour {
    MPI_FLAVOUR_NONE = 0,
    MPI_FLAVOUR_OPENMPI = 1,
    MPI_FLAVOUR_MPICH = 2,
};

enum segment_state {
    SEGMENT_MAKING = 0,    /**< header not complete yet: readers wait */
    SEGMENT_RUNNING = 1,   /**< MPI calls are being made */
    SEGMENT_FINALIZED = 2, /**< MPI_Finalize has returned */
    SEGMENT_ENDED = 3,     /**< exit() was called without MPI_Finalize: no more records follow */
    SEGMENT_ABORTED = 4,   /**< MPI_Abort was called */
};

enum tick_unit {
    TICK_TSC = 1, /**< invariant time stamp counter, shared by all cores of the node */
    TICK_NS = 2,  /**< nanoseconds of CLOCK_MONOTONIC */
};

/** Values of event.comm that are not slots. */
#define COMM_SLOT_NONE 0xffffu  /**< the call has no communicator */
#define COMM_SLOT_OTHER 0xfffeu /**< the table was full */

/** One communicator as this rank sees it. Slots are reused, oldest freed first, after
 *  MPI_Comm_free and MPI_Request_free of its persistent requests. */
struct comm_slot {
    /** Odd while live, even while free; it grows by two with each use. 0: never used, or changing.
     */
    _Atomic uint32_t generation;
    int32_t my_rank;      /**< this rank's rank in it (local group) */
    uint32_t size;        /**< ranks in the local group */
    uint32_t remote_size; /**< ranks in the remote group; 0: an intra-communicator */
    uint64_t id;     /**< job-wide: the same number on every member; 1 MPI_COMM_WORLD, 2 SELF */
    uint64_t parent; /**< id of the communicator it was made from; 0: none */
    /** Ticks: what was posted before this was on a communicator that had the slot before; 0: there
     *  was none. */
    uint64_t since;
    char name[24]; /**< MPI_Comm_set_name, else the call that made it; NUL-terminated */
};
_Static_assert(sizeof(struct comm_slot) == 64, "communicator slots are part of the contract");

/** One code region. Never freed; slot 0 is unused and means "outside all regions". */
struct region_slot {
    _Atomic uint32_t ready; /**< 1 once the name is complete */
    char name[60];          /**< NUL-terminated */
};
_Static_assert(sizeof(struct region_slot) == 64, "region slots are part of the contract");

/** Limit of a Cartesian communicator; those with more are not stored. */
#define CART_DIMENSIONS 8u

/** One Cartesian communicator of two ranks or more (MPI_Cart_create, MPI_Cart_sub), at its
 * creation. Never freed and never changed: the entry remains valid after the communicator is freed,
 * and many communicators exist for a moment only. Ranks are numbered in row-major order (MPI 4.0,
 * section 8.5), so that coordinates need not be stored. */
struct cart_slot {
    _Atomic uint32_t ready; /**< 1 once the rest is complete */
    uint32_t dimensions;    /**< 1 to CART_DIMENSIONS */
    uint32_t periods;       /**< bit d: dimension d wraps */
    uint32_t position;      /**< this rank's rank in it */
    uint64_t id;            /**< as in comm_slot */
    uint32_t made; /**< communicators made from the same parent before; same on all members */
    uint32_t reserved;
    uint32_t sizes[CART_DIMENSIONS]; /**< ranks along each dimension */
};
_Static_assert(sizeof(struct cart_slot) == 64, "Cartesian slots are part of the contract");

/** A neighbour that sends to this rank in collectives of neighbours on a communicator, entered at
 * the first one of them. Never freed and never changed; the neighbours of one communicator are all
 * there, or none is. */
struct source_slot {
    uint64_t comm;         /**< id of it, as in comm_slot */
    _Atomic uint32_t rank; /**< in MPI_COMM_WORLD, plus 1; 0 until the slot is complete */
    uint32_t reserved;
};
_Static_assert(sizeof(struct source_slot) == 16, "source slots are part of the contract");

struct segment {
    uint64_t magic;
    uint32_t version;
    /** enum segment_state; stored last (release) when the header is made. */
    _Atomic uint32_t state;
    uint64_t bytes; /**< length of the whole segment */
    int32_t pid;
    uint32_t uid;
    /** Start time of the process, field 22 of /proc/<pid>/stat: detects a reused pid. */
    uint64_t pid_start;
    _Atomic int32_t rank;   /**< in MPI_COMM_WORLD; -1 until MPI_Init has returned */
    _Atomic int32_t size;   /**< of MPI_COMM_WORLD; 0 until MPI_Init has returned */
    uint32_t flavour;       /**< enum mpi_flavour */
    uint32_t tick_unit;     /**< enum tick_unit */
    uint64_t tick_start;    /**< clock in ticks when the segment was made, and at the same moment */
    uint64_t mono_start_ns; /**< CLOCK_MONOTONIC */
    uint32_t rings, comms, regions, carts; /**< lengths of the tables */
    /** Bytes from the start. */
    uint64_t rings_offset, comms_offset, regions_offset, carts_offset, sources_offset;

    _Atomic uint64_t dropped;      /**< events that had no ring: too many threads at one time */
    _Atomic uint32_t carts_made;   /**< Cartesian communicators: more than `carts` have no slot */
    _Atomic uint32_t sources_made; /**< slots claimed: more than SEGMENT_SOURCES do not exist */
    _Atomic int32_t abort_code;    /**< argument of MPI_Abort */
    _Atomic uint64_t paused_at; /**< ticks: MPI_Pcontrol(0) is in force since then; 0: it is not */
    /** Agent that reads this segment; 0: none yet. Only the agent writes it. */
    _Atomic int32_t agent_pid;
    /** CLOCK_MONOTONIC of the agent's last visit. Only the agent writes it. */
    _Atomic uint64_t agent_beat_ns;
    _Atomic uint64_t exit_ns; /**< CLOCK_MONOTONIC when exit() was called; 0: it was not */

    char session[32]; /**< key of the session, hexadecimal; the one in the segment's name */
    char job[64];     /**< job id, see docs: one MPI_COMM_WORLD */
    char host[64];
    char app[256];       /**< path of the executable */
    char mpi[128];       /**< library version, first line of MPI_Get_library_version */
    char probe[32];      /**< Holter's version */
    char placement[128]; /**< cores the rank may run on, as a cpu list ("0-3,8") */
};
_Static_assert(sizeof(struct segment) <= SEGMENT_HEADER_BYTES, "the header fits its page");

/** Sizes of a new segment. */
struct segment_shape {
    uint32_t rings;
    uint32_t comms;
    uint32_t regions;
    uint32_t carts;
    uint32_t first_capacity; /**< a power of two */
    uint32_t early_capacity; /**< a power of two */
    uint32_t late_capacity;  /**< a power of two */
};

/** Length in bytes of a segment of this shape. */
size_t segment_bytes(const struct segment_shape *shape);

/** Write a segment's name, "/holter.<uid>.<session>.<pid>".
 *  @return 0, or -HOLTER_ERANGE when the session key holds anything but hexadecimal digits or is
 *          empty */
int segment_name(char *out, size_t capacity, uint32_t uid, const char *session, int32_t pid);

#define SEGMENT_SUFFIX_DIGITS 16u /**< hexadecimal, of the random number after a name */

/** Append a random number to a segment's name. @return 0, or -HOLTER_ERANGE when it does not fit */
int segment_name_extend(char *name, size_t capacity, uint64_t number);

/** Is a segment, or what has its name, owned by this user? @param name  with the slash */
int segment_is_own(const char *name);

/** Read a directory entry of /dev/shm (without the slash), with or without a random number.
 *  @return 0 and the parts, or -HOLTER_EMALFORMED when it is not the name of a segment */
int segment_name_parse(const char *name, uint32_t *uid, char session[32], int32_t *pid);

/** Records of the first thread's ring, from HOLTER_RING. @return 0: the text is not a power of two
 *  from 1024 to 4194304 */
uint32_t segment_ring_records(const char *text);

/** Make a segment and its empty tables; state is SEGMENT_MAKING.
 *  @param out  mapped memory, owned by the caller until segment_unmap()
 *  @return 0, -EEXIST, -ENOSPC (/dev/shm is full: nothing remains) or another -errno */
int segment_create(struct segment **out, const char *name, const struct segment_shape *shape);

/** Reserve the memory of a ring that is in use for the first time; for the first ring
 *  segment_create() has done so. Preserves nothing of errno.
 *  @param name  of the segment. @return 0, -ENOSPC, or another -errno */
int segment_reserve_ring(struct segment *segment, const char *name, uint32_t index);

/** Map an existing segment and check every offset and count in it.
 *  @param writable  the agent stores agent_pid, agent_beat_ns, its words of rings and tallies
 *  @return 0, -HOLTER_EEMPTY while it is being made, -HOLTER_ECORRUPT, -HOLTER_EVERSION, -EACCES
 *          when it belongs to another user, or another -errno */
int segment_open(struct segment **out, size_t *bytes, const char *name, int writable);

/** Remove the name; what is mapped stays. @param name  with the slash */
void segment_remove(const char *name);

/** Unmap. NULL is fine. Does not remove the name. */
void segment_unmap(struct segment *segment, size_t bytes);

/** Tables of a mapped and checked segment. */
struct ring_control *segment_ring(const struct segment *segment, uint32_t index);
struct comm_slot *segment_comm(const struct segment *segment, uint32_t index);
struct region_slot *segment_region(const struct segment *segment, uint32_t index);
struct cart_slot *segment_cart(const struct segment *segment, uint32_t index);
struct source_slot *segment_source(const struct segment *segment, uint32_t index);

/** Is the process that made the segment still running? Compares pid and start time, so that a
 *  reused pid is detected. */
int segment_owner_alive(const struct segment *segment);

/** Start time of a process, clock ticks since boot, field 22 of /proc/<pid>/stat; 0: no such
 *  process, or a zombie. */
uint64_t process_start_time(int32_t pid);

#endif
