/* What hang.c (what ranks do), hang_graph.c (who waits for whom), hang_report.c and hang_text.c
 * share. */
#ifndef HOLTER_DAEMON_ANALYSIS_HANG_HANG_WATCH_H
#define HOLTER_DAEMON_ANALYSIS_HANG_HANG_WATCH_H

#include "daemon/analysis/hang/hang.h"
#include "daemon/analysis/tables/key_table.h"

#define HANG_NONE UINT32_MAX

/** What is known of a rank. */
struct hang_seat {
    uint64_t in_call_ns, in_call_comm;
    int64_t in_call_peer;
    uint64_t heard;      /**< number of the window that last had a row for it; 0: none */
    uint64_t active_ns;  /**< end of the window in which a call of it last ended or was begun */
    uint64_t moved_ns;   /**< the same without polls that found nothing */
    uint64_t stopped_ns; /**< end of the window before the first in which it was stopped; 0: runs */
    uint64_t ended_ns;   /**< end of the window in which it died or finished */
    uint32_t in_call;
    uint32_t pending;       /**< its first pending receive of this window; HANG_NONE: none */
    uint8_t state;          /**< enum hang_state */
    uint8_t dead, finished; /**< once and for all */
    uint8_t uncounted;      /**< its collectives are not all counted: records were lost */
    uint8_t excused; /**< it was held up by a stopped process: that wait is no measure of others */
};

/** What a communicator is known by. */
struct hang_comm_seat {
    uint64_t size, remote_size;
    uint32_t first;   /**< a member, number in watch.members; HANG_NONE: none */
    uint32_t members; /**< how many are known */
    char name[64];
};

/** A rank in a communicator. */
struct hang_member {
    uint64_t completed; /**< counted calls on it */
    uint32_t rank;
    uint32_t next; /**< of the same communicator; HANG_NONE: last */
};

enum hang_wait { HANG_WAIT_COLLECTIVE, HANG_WAIT_MESSAGE, HANG_WAITS };

struct hang_watch {
    struct hang_params params;
    char zone[16];
    uint64_t window, end_ns, length_ns; /**< of the last window */
    uint64_t world;
    struct hang_seat *seats; /**< owned; by rank */
    uint32_t seat_count, seat_room;
    uint32_t seats_heard;             /**< in the last window */
    int suspected;                    /**< one of those that were heard is suspect */
    struct key_table members;         /**< hi: communicator's id; lo: rank */
    struct hang_member *member_seats; /**< owned; by number of the member */
    uint32_t member_room;
    uint32_t member_last;              /**< number of the last one looked up: rows come in order */
    struct key_table comms;            /**< lo: id */
    struct hang_comm_seat *comm_seats; /**< owned; by number of the communicator */
    uint32_t comm_room;
    uint64_t longest[HANG_WAITS]; /**< waits that ended by themselves, ns */
    struct hang_pending *pending; /**< owned; of the last window */
    uint32_t *pending_next;       /**< owned; of the same rank; HANG_NONE: last */
    uint32_t pending_count, pending_room;
    struct hang *hangs;  /**< owned; HANG_MOST */
    struct hang *before; /**< owned; those of the window before */
    size_t hang_count, before_count;
    uint64_t last_id;
};

/** Does a rank wait in such a call, and for what? @return enum hang_wait, or HANG_WAITS: it does
 *  not wait there */
enum hang_wait hang_wait_of(uint32_t call);

/** Communicator of an operation that is counted; that of MPI_Finalize is MPI_COMM_WORLD. */
uint64_t hang_comm_of(const struct hang_seat *seat);

/** Number of a communicator in comm_seats; KEY_NONE: not known. */
uint32_t hang_find_comm(const struct hang_watch *watch, uint64_t id);

/** Is every rank of the job a member? */
int hang_comm_is_world(const struct hang_watch *watch, uint64_t id);

/** How long a wait lasts before it counts. */
uint64_t hang_threshold(const struct hang_watch *watch, enum hang_wait wait);

/** How long the rank has been in its state, ns. */
uint64_t hang_state_ns(const struct hang_watch *watch, const struct hang_seat *seat);

/** Has it waited in its call so long that who it waits for matters? */
int hang_is_stuck(const struct hang_watch *watch, const struct hang_seat *seat);

/** May others wait for it, or it for others, without end? Where none is suspect nothing hangs. */
int hang_is_suspect(const struct hang_watch *watch, const struct hang_seat *seat);

/** Find the hangs at the end of the window. Sets hangs and hang_count, without ids and texts.
 *  @return 0 or -ENOMEM */
int hang_find(struct hang_watch *watch);

/** Set title and text. */
void hang_describe(const struct hang_watch *watch, struct hang *hang);

#endif
