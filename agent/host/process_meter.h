/* What the kernel counts for the main thread of a rank's process, from files of /proc that stay
 * open: its times, its waits for a core, page faults, and the state that it is found in. A sample
 * costs one read (of a few microseconds), a row three more. Where the kernel does not count
 * something, it is 0. */
#ifndef HOLTER_AGENT_HOST_PROCESS_METER_H
#define HOLTER_AGENT_HOST_PROCESS_METER_H

#include "holter/wire.h"

/** Least time between two samples of a process, nanoseconds. */
#define PROCESS_SAMPLE_NS UINT64_C(240000000)

struct process_meter;

/** @param root  of /proc and /sys, ""; borrowed
 *  @return 0, -ENOENT: there is no such process, or -ENOMEM */
int process_meter_open(struct process_meter **out, const char *root, int32_t pid);

/** NULL is fine. */
void process_meter_close(struct process_meter *meter);

/** Note the state of the process, unless it was on a core all the time before the last row: it was
 * neither stopped nor blocked, and likely is not now. NULL is fine. */
void process_meter_sample(struct process_meter *meter);

/** What was counted since the last call; the first call only begins. NULL is fine.
 *  @param now_ns    CLOCK_MONOTONIC
 *  @param steal_ns  of core_times_read()
 *  @param row       all but its rank is set
 *  @return 1; 0: nothing is known, and the row is unchanged */
int process_meter_take(struct process_meter *meter, uint64_t now_ns, uint64_t steal_ns,
                       struct wire_process_row *row);

/** State of the process when process_meter_take() was last called: 'R', 'S', 'D', 'T', 'Z' ...; 0:
 * it was gone, or is not known. NULL is fine. */
char process_meter_state(const struct process_meter *meter);

/** Times of the node's cores since the boot, nanoseconds; 0: not known. */
struct core_times {
    uint64_t steal_ns; /**< the host of a virtual machine has taken, from each core in the mean */
    uint64_t idle_ns;  /**< those on which this process may run were idle, summed over them */
};

/** Read /proc/stat, which takes time on large nodes. */
void core_times_read(struct core_times *times, const char *root);

#endif
