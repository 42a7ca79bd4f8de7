/* The estimate of a daemon's time, of a node or of another daemon of its fleet.
 *
 * Samples are round trips of clock_ask and clock_answer (t1, t4 on the node's CLOCK_MONOTONIC, t2,
 * t3 in daemon time; RFC 5905, section 8). Nothing arrives before it was sent, so daemon time less
 * CLOCK_MONOTONIC was at most t2 - t1 at t1 and at least t3 - t4 at t4, whatever the delays were.
 * Over some ten seconds that difference is a line: offset and drift. All lines that pass below the
 * upper and above the lower points give an interval for it at any time (Duda, Harrus, Haddad,
 * Bernard, "Estimating global time in distributed systems", ICDCS 1987: convex hulls); the middle
 * is the estimate, half the width bounds its error. Both bounds come from the shortest trips that
 * way, so that a delay on one way only, as of a busy daemon, widens the interval but once. Older
 * points are moved apart by what a drift that changes may have done since.
 *
 * There are two mappings:
 *   daemon_clock_at()    for the numbers of windows and when they end. It increases strictly: it is
 *                        slewed towards the estimate, and only an error beyond
 *                        DAEMON_CLOCK_STEP_NS makes it jump.
 *   daemon_clock_best()  for the times of events: the estimate itself. Its error is bounded by
 *                        daemon_clock_error(). From one sample to the next it may step a little,
 *                        so that all times of one window have to be computed between two samples.
 */
#ifndef HOLTER_DAEMON_ANALYSIS_CLOCKS_DAEMON_CLOCK_H
#define HOLTER_DAEMON_ANALYSIS_CLOCKS_DAEMON_CLOCK_H

#include <stdint.h>

#define DAEMON_CLOCK_SAMPLES 96u
#define DAEMON_CLOCK_STEP_NS 100000000
/** Windows that are further ahead of daemon time: that was set back. */
#define DAEMON_CLOCK_AHEAD_NS UINT64_C(10000000000)

struct daemon_clock_sample {
    uint64_t t1_mono, t2_daemon, t3_daemon, t4_mono;
};

/** The estimate: a line, and how far the truth may be from it. Times in nanoseconds. */
struct daemon_clock_line {
    uint64_t mono_ns;  /**< newest sample */
    uint64_t first_ns; /**< oldest sample that counts, CLOCK_MONOTONIC */
    uint64_t daemon_ns;
    double drift;       /**< of daemon time against CLOCK_MONOTONIC, seconds per second */
    double drift_error; /**< bound of its error */
    double error;       /**< at mono_ns */
    double first_error; /**< at first_ns */
};

/** A mapping of CLOCK_MONOTONIC to daemon time: a line through a moment. */
struct daemon_clock_mapping {
    uint64_t mono_ns, daemon_ns; /**< of the moment */
    double slew;                 /**< gain over CLOCK_MONOTONIC, seconds per second */
};

uint64_t daemon_clock_map(const struct daemon_clock_mapping *mapping, uint64_t mono_ns);

struct daemon_clock {
    struct daemon_clock_mapping mapping;                      /**< of windows */
    struct daemon_clock_sample samples[DAEMON_CLOCK_SAMPLES]; /**< a ring */
    unsigned count;
    unsigned next;
    struct daemon_clock_line line; /**< valid while count > 0 */
    int known;                     /**< at least one sample was taken: before that it is a guess */
    uint64_t jumps; /**< how often the mapping jumped; the first contact is not one */
    /** Bound of the error of the clock that answers, as it said last: that of a daemon in a fleet
     * is itself an estimate. Part of the errors below. */
    uint64_t source_error_ns;
};

/** Start with a guess. @param daemon_ns  daemon time guessed for the moment mono_ns: the node's
 * real time */
void daemon_clock_init(struct daemon_clock *clock, uint64_t mono_ns, uint64_t daemon_ns);

/** Drops the samples, because another daemon answers from now on. The mapping continues unchanged.
 */
void daemon_clock_restart(struct daemon_clock *clock);

/** Drops the samples, because nothing answers from now on: the mapping continues with the drift
 * that was estimated last. */
void daemon_clock_detach(struct daemon_clock *clock, uint64_t mono_ns);

/** Adds a sample. Samples are ordered by their stamps.
 *  @return 0, or -HOLTER_ERANGE when the stamps contradict each other: the sample is ignored */
int daemon_clock_observe(struct daemon_clock *clock, uint64_t t1_mono, uint64_t t2_daemon,
                         uint64_t t3_daemon, uint64_t t4_mono);

/** Daemon time of a moment, for windows: increases strictly except for jumps. */
uint64_t daemon_clock_at(const struct daemon_clock *clock, uint64_t mono_ns);

/** CLOCK_MONOTONIC of a moment in daemon time, the inverse of daemon_clock_at(); 0 when that lies
 *  before its start. */
uint64_t daemon_clock_mono(const struct daemon_clock *clock, uint64_t daemon_ns);

/** Daemon time of a moment, for events: the best estimate. Without samples as daemon_clock_at(). */
uint64_t daemon_clock_best(const struct daemon_clock *clock, uint64_t mono_ns);

/** Bound of the error of daemon_clock_best() at a moment, nanoseconds; UINT64_MAX while nothing is
 *  known. */
uint64_t daemon_clock_error(const struct daemon_clock *clock, uint64_t mono_ns);

/** Bound of the error at any moment from one to another, CLOCK_MONOTONIC. */
uint64_t daemon_clock_error_between(const struct daemon_clock *clock, uint64_t from_ns,
                                    uint64_t to_ns);

/** Whether the newest round trip was so much longer than the shortest that another should be made.
 */
int daemon_clock_slow(const struct daemon_clock *clock);

#endif
