/* A job that never ran: the messages a daemon would publish of a halo exchange on a grid of ranks,
 * with known figures. The same seed gives the same messages. */
#ifndef HOLTER_TESTS_VIEWER_SYNTHETIC_H
#define HOLTER_TESTS_VIEWER_SYNTHETIC_H

#include "holter/wire.h"

#include <stdint.h>

#define SYNTHETIC_SECOND UINT64_C(1000000000)
/** Number of the first window; each is one second long. */
#define SYNTHETIC_FIRST UINT64_C(1790000000)

struct synthetic {
    uint32_t ranks, per_node;
    uint32_t side[3];  /**< grid of ranks; periodic */
    uint32_t partners; /**< 6 (faces), or 26 (faces, edges, corners) */
    uint64_t seed;
    uint64_t window; /**< number of the next window */
    struct wire_rank_row *rank_rows;
    struct wire_pair_row *pair_rows;
    uint32_t pair_count;
    struct wire_place_row *place_rows;
    struct wire_host_row *host_rows;
    struct wire_node_row *node_rows;
    char (*names)[32];
    uint32_t nodes;
};

/** Where messages go. */
typedef void synthetic_sink(void *user, const struct wire_message *message, int snapshot);

/** @param partners  6 or 26; ranks should be a product of small numbers */
void synthetic_init(struct synthetic *job, uint32_t ranks, uint32_t per_node, uint32_t partners,
                    uint64_t seed);
void synthetic_finish(struct synthetic *job);

/** Messages "job", "places" and, with jobs, the daemon's status with its list of jobs. */
void synthetic_begin(struct synthetic *job, synthetic_sink *sink, void *user);

/** All messages of the next window: totals, ranks, pairs, calls, nodes. Phases change every 20
 * windows; rank 5 of 8 and its like are slow, so that their neighbours wait. */
void synthetic_window(struct synthetic *job, synthetic_sink *sink, void *user);

/** Let windows pass that nobody hears of. */
void synthetic_skip(struct synthetic *job, uint64_t windows);

/** How latency goes in a job: regions of equal size, ranks in a row. In one of them it begins to
 * grow by rate a window, holds at most and is well again, all in windows from SYNTHETIC_FIRST. */
struct synthetic_latency {
    uint32_t regions;
    uint32_t slow; /**< id of that region; 0: all are well */
    uint64_t onset, recovery;
    double rate, most;
};

/** Relative latency of a region, by reference, in a window. */
double synthetic_ratio(const struct synthetic_latency *latency, uint32_t region, uint64_t window);

/** The regions. */
void synthetic_regions(const struct synthetic *job, const struct synthetic_latency *latency,
                       synthetic_sink *sink, void *user);

/** Latencies of the window that was sent last. */
void synthetic_latencies(const struct synthetic *job, const struct synthetic_latency *latency,
                         synthetic_sink *sink, void *user);

/** Alert number id that the slow region's latency grows, with evidence, as of the window sent last.
 *  @param state  "pending", "firing" or "resolved" */
void synthetic_growth(const struct synthetic *job, const struct synthetic_latency *latency,
                      uint64_t id, const char *state, synthetic_sink *sink, void *user);

/** Alert number id that a rank computes longer and others wait for it, with the longest texts that
 * such an alert has. */
void synthetic_late_rank(const struct synthetic *job, uint64_t id, uint32_t rank,
                         synthetic_sink *sink, void *user);

/** Alert number id that a rank is the cause, with all others inside a collective. */
void synthetic_hang(const struct synthetic *job, uint64_t id, uint32_t rank, synthetic_sink *sink,
                    void *user);

/** Who came late in the newest window: from the onset on the ranks of the third node cause it, and
 * the farther a node is from that one, the later its ranks are late; each 64th rank is late by
 * itself.
 */
void synthetic_lateness(const struct synthetic *job, const struct synthetic_latency *latency,
                        synthetic_sink *sink, void *user);

/** The alert that a rank died. */
void synthetic_death(struct synthetic *job, uint32_t rank, synthetic_sink *sink, void *user);

/** A capture of all ranks, each its last calls of halo exchanges of one millisecond; rank 5 of 8
 * and its like take longer in MPI_Waitall; all are in the same MPI_Allreduce. */
struct synthetic_capture {
    uint64_t id, alert; /**< alert 0: by hand */
    uint32_t calls;     /**< of each rank */
    const char *fault;  /**< of the first node; NULL: none */
    int messages;       /**< the end of each exchange completes a message of the rank below */
};

void synthetic_capture(const struct synthetic *job, const struct synthetic_capture *capture,
                       int snapshot, synthetic_sink *sink, void *user);

/** A recording of ten minutes from the first window on, with alerts of each severity, some of them
 * close to each other, one that never fired and one that lasts to the end. */
struct synthetic_replay {
    const char *state;        /**< as in wire.h */
    double position, indexed; /**< shares of it */
    double target;            /**< seeking: likewise; 0: none is told */
    double known;             /**< a preview: where what it knows begins; 0: it is none */
    double speed;
    int paused, looping, marked;
    uint64_t run, change;
    const char *fault;
};

#define SYNTHETIC_RECORDED (600 * SYNTHETIC_SECOND)
#define SYNTHETIC_MARKS 6u

void synthetic_replay(const struct synthetic_replay *replay, int snapshot, synthetic_sink *sink,
                      void *user);

/** Messages of one pair and their bytes in one window, for checking. */
uint64_t synthetic_messages(const struct synthetic *job, uint64_t window);

#endif
