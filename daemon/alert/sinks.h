/* Where alerts are told: a line on the terminal, a file, a command, syslog, Alertmanager.
 *
 * Each sink has threads of its own and a queue that is bounded: the daemon's loop never waits. One
 * episode is told once when it fires and once when it is resolved; what happens while a sink fails
 * or is busy is told late, the newest state only. A sink that fails is tried again with growing
 * pauses; that it fails or hangs is reported once, and once that it works again. */
#ifndef HOLTER_DAEMON_ALERT_SINKS_H
#define HOLTER_DAEMON_ALERT_SINKS_H

#include "daemon/alert/rules.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

struct sinks;

/** Durations in nanoseconds; 0: the default. */
struct sinks_options {
    uint64_t retry_ns;      /**< first pause after a failure, doubled with each further one; 1 s */
    uint64_t most_retry_ns; /**< longest pause; 60 s */
    uint64_t update_ns;     /**< least time between two updates of one alert; 10 s */
    uint64_t hang_ns;       /**< a telling that lasts longer is reported; 15 s */
    uint64_t leave_ns;      /**< how long sinks_destroy() waits; 4 s */
    size_t most_waiting;    /**< alerts that wait in one sink; 1024 */
    int terminal;           /**< descriptor of the terminal sink; borrowed */
    void *user;
    /** A sink fails, or works again: a line for the log. From any thread. NULL: logged. */
    void (*report)(void *user, const char *text);
};

struct sinks_counts {
    uint64_t told;    /**< tellings that succeeded, of all sinks together */
    uint64_t failed;  /**< those that failed, to be tried again */
    uint64_t dropped; /**< alerts not told for want of room */
};

/** Start the sinks of the rules. @param rules  borrowed for the call
 *  @return 0, -ENOMEM or another -errno */
int sinks_create(struct sinks **out, const struct rules *rules,
                 const struct sinks_options *options);

/** Tell an alert: a new state of it. Never blocks. What is pending, or was never more, is not
 *  told. */
void sinks_take(struct sinks *sinks, const struct wire_alert *alert);

/** An alert that fires, of which an earlier daemon has told: it is not told again, its end is. */
void sinks_restore(struct sinks *sinks, const struct wire_alert *alert);

/** Notice sinks that hang; to be called from time to time. */
void sinks_check(struct sinks *sinks);

/** Which sink fails, and why; "" when all work. */
void sinks_error(struct sinks *sinks, char *out, size_t room);

void sinks_count(struct sinks *sinks, struct sinks_counts *out);

/** Try once more to tell all that waits, within the time to leave, then end the threads. A thread
 *  that does not come back is left behind. NULL is fine. */
void sinks_destroy(struct sinks *sinks);

#endif
