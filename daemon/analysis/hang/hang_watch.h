/* Internal state of the hang detection, shared by hang.c (what ranks do), hang_graph.c (who waits
 * for whom), hang_report.c, hang_text.c and hang_advice.c. */
#ifndef HOLTER_DAEMON_ANALYSIS_HANG_HANG_WATCH_H
#define HOLTER_DAEMON_ANALYSIS_HANG_HANG_WATCH_H

#include "daemon/analysis/hang/hang.h"
#include "daemon/analysis/tables/key_table.h"

#define HANG_NONE UINT32_MAX

/** State of one rank. */
struct hang_seat {
    uint64_t in_call_ns, in_call_comm;
    int64_t in_call_peer;
    uint64_t heard;      /**< number of the window that last had a row for it; 0: none */
    uint64_t active_ns;  /**< end of the last window in which a call of it ended or began */
    uint64_t moved_ns;   /**< as active_ns, without polls that found nothing */
    uint64_t polled_ns;  /**< end of the last window in which it did something else than poll */
    uint64_t stopped_ns; /**< end of the last window in which it was not stopped; 0: it runs */
    uint64_t ended_ns;   /**< end of the window in which it died or finished */
    uint32_t in_call;
    uint32_t pending;       /**< its first pending receive of this window; HANG_NONE: none */
    uint8_t state;          /**< enum hang_state */
    uint8_t dead, finished; /**< final: never reset */
    uint8_t uncounted;      /**< some of its collectives are not counted: records were lost */
    uint8_t excused;        /**< a stopped process delayed it: that wait is no measure for others */
    uint8_t in_hang;        /**< it was in a hang, waiting or stopped, when there were hangs last */
};

/** State of a communicator. */
struct hang_comm_seat {
    uint64_t size, remote_size;
    uint32_t first;   /**< first member, index in member_seats; HANG_NONE: none */
    uint32_t members; /**< known members */
    uint64_t calls;   /**< counted calls of all members, at the last search of hang_forget() */
    char name[64];
};

/** A rank in a communicator. */
struct hang_member {
    uint64_t completed; /**< counted calls on it */
    uint32_t rank;
    uint32_t next; /**< next member of the same communicator; HANG_NONE: last */
};

enum hang_wait {
    HANG_WAIT_COLLECTIVE,
    HANG_WAIT_MESSAGE,
    HANG_WAIT_UNKNOWN, /**< for others, but it is not known for whom */
    HANG_WAIT_POLL,    /**< likewise, by polling all the time */
    HANG_WAITS
};

struct hang_watch {
    struct hang_params params;
    char zone[16];
    uint64_t window, end_ns, length_ns; /**< of the last window */
    uint64_t world;
    struct hang_seat *seats; /**< owned; by rank */
    uint32_t seat_count, seat_capacity;
    uint32_t seats_heard;             /**< ranks with a row in the last window */
    int suspected;                    /**< at least one of these ranks is suspect */
    struct key_table members;         /**< hi: communicator's id; lo: rank */
    struct hang_member *member_seats; /**< owned; by number of the member */
    uint32_t member_capacity;
    uint32_t member_last;   /**< number of the last member that was looked up: rows come in the same
                               order */
    struct key_table comms; /**< lo: id */
    struct hang_comm_seat *comm_seats; /**< owned; by number of the communicator */
    size_t comm_capacity;
    uint64_t searched;            /**< window of the last search of hang_forget() */
    uint64_t longest[HANG_WAITS]; /**< waits that ended by themselves, ns */
    uint64_t ended[HANG_WAITS]; /**< the same, while there are hangs: counts when these are over */
    struct wire_pending_row *pending; /**< owned; of the last window */
    uint32_t *pending_next; /**< index of the next one of the same rank; HANG_NONE: last */
    uint32_t pending_count, pending_capacity;
    struct hang *hangs;  /**< owned; HANG_MOST */
    struct hang *before; /**< owned; those of the previous window */
    size_t hang_count, before_count;
    uint64_t last_id;
    uint64_t hang_ns; /**< end of the last window with hangs */
    /* Of jobs by groups of ranks. */
    uint64_t still_ns; /**< since when most ranks wait and no call ends; 0: they do not */
    int moved;         /**< 1: nor did they in the last window that all ranks reported */
};

/** What a rank waits for in such a call. @return enum hang_wait, or HANG_WAITS: it does not wait
 * there */
enum hang_wait hang_wait_of(uint32_t call);

/** Source of the one receive that a rank waits for. @return a rank or PEER_*; PEER_UNKNOWN: it
 * waits for none, or for several */
int64_t hang_source_of(const struct hang_watch *watch, const struct hang_seat *seat);

/** Communicator of an operation that is counted; that of MPI_Finalize is MPI_COMM_WORLD. */
uint64_t hang_comm_of(const struct hang_seat *seat);

/** Number of a communicator in comm_seats; KEY_NONE: not known. */
uint32_t hang_find_comm(const struct hang_watch *watch, uint64_t id);

/** Forget communicators without counted calls for 64 windows, once there are more than 4,096. Their
 * members have made as many calls on them, so that they may count from 0 again; names and sizes
 * come with each window that uses them. Without memory all are kept. */
void hang_forget(struct hang_watch *watch);

/** Whether every rank of the job is a member. */
int hang_comm_is_world(const struct hang_watch *watch, uint64_t id);

/** Minimum duration of a wait that counts. */
uint64_t hang_threshold(const struct hang_watch *watch, enum hang_wait wait);

/** How long the rank has been in its state, ns. */
uint64_t hang_state_ns(const struct hang_watch *watch, const struct hang_seat *seat);

/** Whether it has waited in its call so long that it may be part of a hang. */
int hang_waits_long(const struct hang_watch *watch, const struct hang_seat *seat);

/** The same, of a wait whose partners may be known. */
int hang_is_stuck(const struct hang_watch *watch, const struct hang_seat *seat);

/** Whether the rank may be part of a hang: one that others wait for, or that waits. Without any
 *  suspect rank there is no hang. */
int hang_is_suspect(const struct hang_watch *watch, const struct hang_seat *seat);

/** Finds the hangs at the end of the window. Sets hangs and hang_count, without ids and texts.
 *  @return 0 or -ENOMEM */
int hang_find(struct hang_watch *watch);

/** Finds the hang of a job that is kept by groups of ranks, with its text. */
void hang_standstill(struct hang_watch *watch, const struct hang_window *window);

/** Sets title, text and advice. */
void hang_describe(const struct hang_watch *watch, struct hang *hang);

#endif
