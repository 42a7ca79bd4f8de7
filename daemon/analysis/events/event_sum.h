/* The summariser: events of the ranks of one job on this node in, rows of the window message out.
 *
 * Pure: no clock, no I/O, no shared memory. Everything that came from a rank is taken as data to be
 * counted, never as an index that is used unchecked.
 *
 * What counts where
 *   A call, its bytes and its messages count in the window in which they are summed, which the
 * caller makes the window of the call's exit. A call's time is split at window boundaries: at the
 * end of a window event_sum_in_progress() counts the time so far, and its exit counts only the
 * rest; so the class times of all windows, with service_ns, add up to the whole time. Polling calls
 * are the exception: one that is in progress may yet turn out to have found nothing, and is then in
 * the tally with its whole time; so its time counts when it ends. Every record is in `events` and
 * in the sums, or in `lost`. What a tally holds counts in the window in which the tally is read;
 * its records are in `tallied`, too, and in no burst. Messages and calls of collectives are also
 * gathered in bursts, see daemon/analysis/events/burst_gather.h: in the window in which they count,
 * whenever they were.
 */
#ifndef HOLTER_DAEMON_ANALYSIS_EVENTS_EVENT_SUM_H
#define HOLTER_DAEMON_ANALYSIS_EVENTS_EVENT_SUM_H

#include "daemon/analysis/clocks/tick_clock.h"
#include "daemon/analysis/events/burst_gather.h"
#include "holter/call.h"
#include "holter/ring.h"
#include "holter/wire.h"

/** What is remembered of one ring from window to window. Plain data: can be stored and taken up
 * again. */
struct ring_sum {
    uint64_t accounted_ns;          /**< time in calls before this moment is in sums already */
    uint64_t accounted_from_ns;     /**< begin of the call in progress whose time that is */
    uint32_t accounted_class;       /**< enum call_class of that call */
    uint64_t owed_ns[CALL_CLASSES]; /**< counted too much: a call in progress had ended earlier than
                                       seen */
    uint64_t window_ns[CALL_CLASSES]; /**< time in calls of this window */
    uint64_t untracked;               /**< as last sampled */
    uint64_t lost;         /**< records that are neither taken nor in the tally, as counted */
    uint64_t last_exit_ns; /**< exit of the last call, CLOCK_MONOTONIC */
    uint64_t last_comm;    /**< id of the last call's communicator; 0: none, or not known */
    int32_t last_peer;     /**< of the last call */
    uint16_t last_call;    /**< last call that ended; 0: none */
    uint8_t serves;        /**< its thread waits while others of its rank work */
};

/** From slots in a rank's tables to positions in the window's dictionaries. The owner raises the
 *  epochs: that of the communicators whenever slots may have been reused, both after
 *  event_sum_clear(). */
struct slot_position {
    uint64_t since; /**< ticks: what was posted before was on another communicator, not known */
    uint32_t epoch; /**< the position is good while this is the tables' epoch */
    uint32_t position;
};

struct sum_tables {
    struct slot_position *comms;   /**< by slot */
    struct slot_position *regions; /**< by slot */
    uint32_t comm_count;           /**< slots */
    uint32_t region_count;
    uint32_t comm_epoch;
    uint32_t region_epoch;
    /** Read the slot in the rank's table. @param since  0; may be set as struct slot_position has
     * it
     *  @return position, 0 when the slot holds nothing usable */
    uint32_t (*find_comm)(void *user, uint32_t slot, uint64_t *since);
    uint32_t (*find_region)(void *user, uint32_t slot);
    void *user;
};

struct event_sum;

/** @param most_pairs  rows of pairs kept apart in one window; what comes beyond goes to destination
 * -1 */
int event_sum_create(struct event_sum **out, uint32_t most_pairs);
void event_sum_destroy(struct event_sum *sum);

/** Add a rank. @param rank  in MPI_COMM_WORLD, of `world` ranks, below 2^31
 *  @return its index, counted from 0; -HOLTER_ERANGE or -ENOMEM */
int event_sum_add_rank(struct event_sum *sum, uint64_t rank, uint64_t world);

/** Remove a rank and its row of the window so far. Indices above it move down by one.
 *  @return records that the row counted as lost */
uint64_t event_sum_remove_rank(struct event_sum *sum, int rank);

/** Position of a communicator in this window's dictionary. @param row  copied; its name is cut at
 * 64 bytes
 *  @return position; 0 ("none or unknown") when there is no space */
uint32_t event_sum_comm(struct event_sum *sum, const struct wire_comm_row *row);

/** Position of a region in this window's dictionary, by name. @return position; 0 when there is no
 * space */
uint32_t event_sum_region(struct event_sum *sum, const char *name);

/** One ring's view for the calls below. */
struct sum_source {
    struct ring_sum *ring;
    struct sum_tables *tables;
    const struct tick_clock *clock;
    uint64_t end_ns; /**< CLOCK_MONOTONIC: end of the window */
    uint64_t now_ns; /**< CLOCK_MONOTONIC: no honest record ends later */
};

/** Count records, oldest first.
 *  @return how many were taken: stops before the first that ends after source->end_ns */
size_t event_sum_events(struct event_sum *sum, int rank, const struct sum_source *source,
                        const struct event *events, size_t count);

/** How many of these records event_sum_events() would take, if they are in order of time. */
size_t event_sum_count_ended(const struct sum_source *source, const struct event *events,
                             size_t count);

/** The peer of a call; PEER_NONE where it is the root of a collective that the call only waits for,
 *  as nobody waits for that. */
int32_t event_sum_peer_of(const struct event *event);

/** At the end of the window: note a call that goes beyond it, and count its time so far unless it
 *  is of a pause.
 *  @param event  the call in progress, or the first record that event_sum_events() did not take */
void event_sum_in_progress(struct event_sum *sum, int rank, const struct sum_source *source,
                           const struct event *event);

/** The next record after those counted so far is in the tally: the time that was counted of it
 * while it was in progress is taken back. */
void event_sum_skip(const struct sum_source *source);

/** Count what a row of the ring's tally grew by.
 *  @param row  its what and where are used */
void event_sum_tally(struct event_sum *sum, int rank, const struct sum_source *source,
                     const struct tally_row *row, const struct tally_figures *grown);

/** Count records that were lost, requests that were not tracked; threads is the newest number. */
void event_sum_losses(struct event_sum *sum, int rank, uint64_t lost, uint64_t untracked,
                      uint64_t threads);

/** Has the rank neither begun nor ended a call in a window of this length? To be asked at its end.
 */
int event_sum_is_silent(const struct event_sum *sum, int rank, uint64_t window_ns);

/** State of the rank's process in this window, see struct wire_rank_row. */
void event_sum_state(struct event_sum *sum, int rank, char state);

/** Time of this window in which the rank was not there, see struct wire_rank_row. */
void event_sum_absence(struct event_sum *sum, int rank, uint64_t absent_ns);

/** At the end of a window: find the service threads of a rank, which wait for requests in MPI
 *  calls while its other threads work (a progress engine, a server of tasks). Their waiting is not
 *  the rank's: service_ns has it instead of the times of its classes. A thread is one while it
 *  waits for nearly all of each window, from the window on in which another thread of the rank was
 *  seen in calls at the same time: of threads that take turns, all waiting is the rank's. The
 *  thread that waited least is never one.
 *  @param rings    of all its threads; their window_ns is cleared
 *  @param from_ns  since when in the window the rank was there, CLOCK_MONOTONIC
 *  @param to_ns    until when */
void event_sum_service(struct event_sum *sum, int rank, struct ring_sum *const *rings,
                       uint32_t count, uint64_t from_ns, uint64_t to_ns);

/** Count records as lost with a rank by its number in MPI_COMM_WORLD. @return 0: it is not known */
int event_sum_lost_of(struct event_sum *sum, uint64_t rank, uint64_t lost);

/** Give up the window: all its records count as lost in the next one. */
void event_sum_discard(struct event_sum *sum);

/** Rows of the window so far. All memory belongs to the sum and holds until its next change. */
struct window_rows {
    const struct wire_comm_row *comms;
    const struct wire_region_row *regions;
    const struct wire_rank_row *ranks;
    struct wire_pair_row *pairs; /**< may be reordered and merged by the caller */
    const struct wire_call_row *calls;
    uint64_t comms_count, regions_count, ranks_count, pairs_count, calls_count;
    int folded; /**< pairs are in destination -1 because most_pairs was reached */
};

/** @return 0 or -ENOMEM: nothing is lost then, the rows can be asked for again */
int event_sum_rows(struct event_sum *sum, struct window_rows *out);

/** A rank has this position in a communicator of the dictionary, see burst_gather_member().
 */
void event_sum_member(struct event_sum *sum, int rank, uint32_t comm, uint32_t position);

/** To be called when all ranks were drained up to one moment: sort the logged messages into bursts,
 * if there are many. */
void event_sum_sort_bursts(struct event_sum *sum);

/** Bursts of the window so far, see burst_gather_rows(). What they and those without a row hold are
 *  the messages of all pairs. */
int event_sum_bursts(struct event_sum *sum, const struct burst_clock *clock, uint64_t most_rows,
                     struct burst_rows *out);

/** Begin the next window: ranks stay, their figures, pairs, calls and dictionaries are cleared. */
void event_sum_clear(struct event_sum *sum);

/** Number of the window since the sum was made: positions in dictionaries hold while it stays the
 *  same. */
uint32_t event_sum_epoch(const struct event_sum *sum);

/** Records counted in the window so far, and records lost. */
uint64_t event_sum_total(const struct event_sum *sum, uint64_t *lost);

#endif
