/* The node's estimate of daemon time.
 *
 * Samples are round trips of clock_ask and clock_answer (t1, t4 on the node's CLOCK_MONOTONIC, t2,
 * t3 in daemon time): offset = ((t2 - t1) + (t3 - t4)) / 2, whose error is at most half the round
 * trip (RFC 5905, section 8). Of the newest samples the one with the smallest bound counts (minimum
 * round trip filter); the bound grows with age by the tolerance of a clock's rate (PHI, RFC 5905,
 * section 7.1). The mapping is slewed towards it, so that it increases strictly; only an error
 * beyond DAEMON_CLOCK_STEP_NS makes it jump.
 */
#ifndef HOLTER_AGENT_DAEMON_CLOCK_H
#define HOLTER_AGENT_DAEMON_CLOCK_H

#include <stdint.h>

#define DAEMON_CLOCK_SAMPLES 16u
#define DAEMON_CLOCK_STEP_NS 100000000

struct daemon_clock_sample {
    uint64_t mono_ns;  /**< when it was taken, CLOCK_MONOTONIC */
    int64_t offset_ns; /**< daemon time minus CLOCK_MONOTONIC */
    uint64_t trip_ns;  /**< round trip without the daemon's own time */
};

struct daemon_clock {
    uint64_t base_mono_ns; /**< the line in force goes through this point ... */
    uint64_t base_daemon_ns;
    double slew; /**< ... and gains this much over CLOCK_MONOTONIC, seconds per second */
    struct daemon_clock_sample samples[DAEMON_CLOCK_SAMPLES];
    unsigned count;
    unsigned next;
    int known;      /**< at least one sample was taken: before that it is a guess */
    uint64_t jumps; /**< how often the mapping jumped; the first contact is not one */
};

/** Start with a guess. @param daemon_ns  daemon time guessed for the moment mono_ns: the node's
 * real time */
void daemon_clock_init(struct daemon_clock *clock, uint64_t mono_ns, uint64_t daemon_ns);

/** Forget the samples, because another daemon answers from now on. The mapping goes on as it is. */
void daemon_clock_restart(struct daemon_clock *clock);

/** Take a sample.
 *  @return 0, or -HOLTER_ERANGE when the stamps contradict each other: the sample is ignored */
int daemon_clock_observe(struct daemon_clock *clock, uint64_t t1_mono, uint64_t t2_daemon,
                         uint64_t t3_daemon, uint64_t t4_mono);

/** Daemon time of a moment. */
uint64_t daemon_clock_at(const struct daemon_clock *clock, uint64_t mono_ns);

/** CLOCK_MONOTONIC of a moment in daemon time; 0 when that lies before its start. */
uint64_t daemon_clock_mono(const struct daemon_clock *clock, uint64_t daemon_ns);

/** Bound of the error now, nanoseconds; UINT64_MAX while nothing is known. */
uint64_t daemon_clock_error(const struct daemon_clock *clock, uint64_t mono_ns);

#endif
