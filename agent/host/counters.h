/* What the node's network interfaces carry: the traffic of all programs on the node.
 * The counts are read once a window from files that stay open: a few microseconds an interface.
 * The interfaces are listed again every COUNTERS_LOOK_EVERY readings, and when one cannot be read
 * any more. Each job on the node receives what was counted since its own last report. Counts may
 * wrap at 2^32, be reset, or stop at their maximum (32-bit ones of InfiniBand do). Wrapping is
 * accounted for. After a reset the interface starts again from scratch, and what it carried since
 * the last reading is not reported. While a count stays at its maximum, its interface has no row.
 * An interface that disappears and comes back counts as a new one. Memory: some 60 KiB, and a mark
 * of 2 KiB for each job. */
#ifndef HOLTER_AGENT_HOST_COUNTERS_H
#define HOLTER_AGENT_HOST_COUNTERS_H

#include "agent/host/interfaces.h"
#include "holter/wire.h"

#define COUNTERS_LOOK_EVERY 30u

struct counters;

/** The sums of all interfaces at one time. */
struct counters_mark {
    uint64_t at_ns; /**< 0: never */
    uint32_t count;
    struct {
        uint32_t serial;
        uint64_t sums[INTERFACE_QUANTITIES];
    } of[MAXIMUM_INTERFACES];
};

/** @param root  of the sysfs, "/sys"; borrowed
 *  @param own   only interfaces of this process' network namespace; 0: all that are there, for
 * trees that are made for a test
 *  @return 0 or -ENOMEM */
int counters_create(struct counters **out, const char *root, int own);

/** NULL is fine. */
void counters_destroy(struct counters *counters);

/** Reads all interfaces. @param now_ns  CLOCK_MONOTONIC; a second call for the same time does
 * nothing */
void counters_read(struct counters *counters, uint64_t now_ns);

/** Copies the sums of the last reading. */
void counters_mark(const struct counters *counters, struct counters_mark *mark);

/** What was counted between a mark and the last reading.
 *  @param rows  at least MAXIMUM_INTERFACES; names are borrowed until the next reading
 *  @return how many */
uint64_t counters_since(const struct counters *counters, const struct counters_mark *mark,
                        struct wire_counter_row *rows);

#endif
