/* What must outlive a crash of the worker process: the messages that the daemon has not
 * acknowledged, how far each ring has been summed into them, and the ends of messages that wait for
 * each other there.
 * The journal is memory that the supervisor shares with its worker. Messages and positions change
 * together: a worker appends the messages of a window, describes the rings' state in a second copy,
 * and journal_commit() makes both valid by one atomic store. A worker that replaces one killed at
 * any moment finds messages and positions that match, so nothing is counted twice or left out.
 * Messages are bounded: when the ring is full, the oldest are dropped and passed to the caller, who
 * counts their contents. */
#ifndef HOLTER_AGENT_NODE_JOURNAL_H
#define HOLTER_AGENT_NODE_JOURNAL_H

#include "daemon/analysis/clocks/daemon_clock.h"
#include "daemon/analysis/events/event_sum.h"
#include "daemon/analysis/matching/match.h"

#include <stddef.h>
#include <stdint.h>

/** Capacity for messages; reached only when the daemon is unreachable for long. */
#define JOURNAL_BYTES (8u << 20)
#define JOURNAL_RINGS 8192u          /**< rings whose state is stored */
#define JOURNAL_MATCHING (16u << 20) /**< bytes for the states of matchers */

/** How far one ring has been summed. */
struct journal_ring {
    uint64_t pid_start;
    int32_t pid;
    uint32_t ring;        /**< index in the segment */
    uint64_t next;        /**< first record not in a committed message */
    uint64_t lost;        /**< as in struct ring_reader */
    uint32_t tally_epoch; /**< of the figures in a committed message, see struct tally_row */
    uint64_t dropped;     /**< of the segment, counted in sums already; in the entry of ring 0 */
    /** What the matcher knows of: records lost; in the entry of ring 0, dropped of the
     *  segment. */
    uint64_t lost_matched, dropped_matched;
    struct ring_sum sum;
};

/** What the agent counts over all its workers, since the first of them began. */
struct node_totals {
    uint64_t events;  /**< records summed */
    uint64_t lost;    /**< records lost */
    uint64_t dropped; /**< window messages dropped */
    struct match_counts matches;
    uint64_t sampled, passed_over; /**< ends of messages between nodes: sent, and left out */
    uint64_t uplink_bytes;         /**< handed to the transport */
    uint64_t cpu_ns;               /**< processor time, nanoseconds */
};

/** State that belongs to the messages appended so far. */
struct journal_state {
    uint64_t end;       /**< position after the newest message; positions only grow */
    uint64_t next_seq;  /**< number of the next message, from 1 up */
    uint64_t window;    /**< number of the open window; 0: none was opened yet */
    uint64_t window_ns; /**< length of that window */
    struct daemon_clock clock;
    struct tick_clock tsc; /**< that the times in the matchers are of */
    struct node_totals totals;
    uint32_t ring_count;
    uint32_t matching_length; /**< of `matching` */
    struct journal_ring rings[JOURNAL_RINGS];
    _Alignas(8) uint8_t matching[JOURNAL_MATCHING]; /**< see journal_add_matching() */
};

struct journal;

/** @param bytes  capacity for messages, a multiple of 8. @return 0 or -ENOMEM */
int journal_create(struct journal **out, size_t bytes);
void journal_destroy(struct journal *journal);

/** Random number that names this agent; the same for all workers of a supervisor. */
uint64_t journal_instance(const struct journal *journal);

/** CLOCK_MONOTONIC at creation: the agent's start. */
uint64_t journal_start_ns(const struct journal *journal);

/** How often a worker took over from a crashed one; counted by the supervisor with
 * journal_count_restart(). */
uint64_t journal_restarts(const struct journal *journal);
void journal_count_restart(struct journal *journal);

/** A worker begins: state and messages are those of the last commit. */
void journal_resume(struct journal *journal);

/** The committed state. */
const struct journal_state *journal_state(const struct journal *journal);

/** The state to be committed next: a copy of the committed one without its matchers, to be changed;
 *  end and next_seq are updated by journal_append(). */
struct journal_state *journal_prepare(struct journal *journal);

/** Make the prepared state and the messages appended since the last commit valid. */
void journal_commit(struct journal *journal);

/** Add the state of the matcher of a job that belongs to the positions of its rings. One that does
 *  not fit is left out. */
void journal_add_matching(struct journal_state *state, const char job[64], const void *bytes,
                          size_t length);

/** The state of the matcher of a job that the worker before this one has committed, once: a worker
 *  that crashes over it is replaced by one that does without. None after the first
 * commit of this worker: a job of that id that begins later is another one.
 *  @param length  set to its bytes @return NULL: there is none */
uint8_t *journal_take_matching(struct journal *journal, const char job[64], size_t *length);

/** A message in the journal. */
struct journal_message {
    uint64_t position;      /**< of this message */
    uint64_t next_position; /**< position after the message */
    uint64_t seq;
    uint32_t type; /**< enum wire_type */
    uint32_t length;
    const uint8_t *bytes; /**< in the journal; valid until it is acknowledged or dropped */
};

/** Number that the next appended message must carry. */
uint64_t journal_next_seq(const struct journal *journal);

/** Appends a message. The oldest are dropped until it fits.
 *  @param dropped  called for each message before it is dropped; may be NULL
 *  @return 0, or -HOLTER_ELIMIT when it would not fit an empty journal */
int journal_append(struct journal *journal, uint32_t type, const void *bytes, size_t length,
                   void (*dropped)(void *user, const struct journal_message *message), void *user);

/** The first committed message at or after a position. @return 1 when out was set, 0 when there is
 * none */
int journal_read(const struct journal *journal, uint64_t position, struct journal_message *out);

/** Drop a committed message that the daemon refuses.
 *  @param out  the message; its bytes are valid until the next one is appended
 *  @return 1, or 0: there is none of that number */
int journal_drop(struct journal *journal, uint64_t seq, struct journal_message *out);

/** The daemon has received all messages up to a number. Numbers never appended are ignored. */
void journal_ack(struct journal *journal, uint64_t seq);

/** Whether there are messages, committed or not, that are not acknowledged. */
int journal_has_pending(const struct journal *journal);

/** Bytes of the messages that are not acknowledged. */
size_t journal_backlog(const struct journal *journal);

/** Memory of the journal that has been touched, bytes. */
size_t journal_resident(const struct journal *journal);

#endif
