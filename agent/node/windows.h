/* Windows: when they end, what is sent of them, and how the stages follow each other:
 * windows_process() drains and sums (census, rank_drain), matches (rank_match), closes
 * (windows_close), encodes (node_job) and appends to the journal (windows_journal); the uplink
 * reads the journal.
 *
 * Window k is [k, k+1) times the length, in daemon time. All jobs of the node share one boundary.
 * Numbers only grow: when daemon time turns out to be earlier than thought, the open window stays
 * open until daemon time has passed its end.
 */
#ifndef HOLTER_AGENT_NODE_WINDOWS_H
#define HOLTER_AGENT_NODE_WINDOWS_H

#include "agent/node/census.h"
#include "agent/node/drain.h"

#define WINDOWS_LENGTH_NS UINT64_C(1000000000) /**< until a daemon says otherwise */
#define WINDOWS_BUDGET UINT64_C(1000000)       /**< bytes a second, by default */
/** Between two captures of a job that persons ask for, and between two for alerts. */
#define WINDOWS_CAPTURE_NS UINT64_C(500000000)
#define WINDOWS_CAPTURE_ALERT_NS UINT64_C(5000000000)

struct windows {
    struct census *census;     /**< borrowed */
    struct journal *journal;   /**< borrowed */
    const char *host;          /**< borrowed */
    struct counters *counters; /**< of interfaces; borrowed; NULL: none are reported */
    struct tick_clock tsc, plain;
    struct daemon_clock clock;
    uint64_t window; /**< number of the open one */
    uint64_t length_ns;
    uint64_t next_length_ns;   /**< from the next window on */
    uint64_t budget;           /**< bytes a second */
    uint64_t jumps;            /**< of the clock, as far as they are flagged */
    struct node_totals totals; /**< uplink_bytes and cpu_ns: of earlier workers only */
    uint64_t uplink_bytes;     /**< of this worker; set by its owner */
    int connected;
    int resuming;      /**< the next turn takes up windows where an earlier worker left them */
    int ranks_dropped; /**< a message that announced ranks was dropped: announce all again */
    double call_cost_ns;
    struct drain_budget drains;
    uint64_t drained_ns; /**< when the rings were drained last, CLOCK_MONOTONIC */
    int drain_asked;     /**< a ring has given the alarm since then */
    struct event *batch; /**< owned; RANK_BATCH records */
    struct wire_buffer buffer;
    struct wire_arena arena;
    struct window_loss *losses; /**< owned: what dropped messages held, to be counted */
    uint32_t loss_count, loss_capacity;
};

/** Begin, or take up where the journal says. @return 0 or -ENOMEM */
int windows_init(struct windows *windows, struct census *census, struct journal *journal,
                 const char *host);
void windows_finish(struct windows *windows);

/** Drain if that is due, close every window that has ended, announce new ranks and report ended
 * ones.
 *  @param now_ns  CLOCK_MONOTONIC
 *  @return nonzero when messages were committed */
int windows_process(struct windows *windows, uint64_t now_ns);

/** A ring has given the alarm: the next turn drains. */
void windows_ask_drain(struct windows *windows);

/** Close the open window of all jobs at once: the agent is asked to stop. */
void windows_close_now(struct windows *windows, uint64_t now_ns);

/** When the next turn is due, CLOCK_MONOTONIC. */
uint64_t windows_next_due(const struct windows *windows, uint64_t now_ns);

/** A reading of both clocks, about once a second. */
void windows_observe_ticks(struct windows *windows);

/** A round trip to the daemon. */
void windows_observe_daemon(struct windows *windows, const struct wire_clock_answer *answer,
                            uint64_t t4_mono);

/** Window length and budget, as the daemon asks for them. @param budget  0: the default of the
 * agent */
void windows_welcome(struct windows *windows, uint64_t length_ns, uint64_t budget);

/** What messages of a job normally take, as the daemon computed it. */
void windows_criteria(struct windows *windows, const struct wire_criteria *criteria);

/** Read back the newest records of ranks, as the daemon asks; see capture.h. Windows come first:
 * with a backlog of messages nothing is captured, nor sooner than WINDOWS_CAPTURE_NS or
 *  WINDOWS_CAPTURE_ALERT_NS after the one before; then the daemon receives the reason.
 *  @param now_ns  CLOCK_MONOTONIC
 *  @return nonzero when messages were committed */
int windows_capture(struct windows *windows, const struct wire_capture_ask *ask, uint64_t now_ns);

/** The same unasked, when a rank of a job has died: of all its ranks on the node, before what they
 * leave behind is removed. Capture 0, to be numbered by the daemon. */
int windows_capture_deaths(struct windows *windows, uint64_t now_ns);

/** The daemon refuses a message, and would do so again: what it held counts as lost. */
void windows_drop_refused(struct windows *windows, uint64_t seq);

/** Announce all ranks of all jobs again: another daemon is connected. */
void windows_announce_all(struct windows *windows);

#endif
