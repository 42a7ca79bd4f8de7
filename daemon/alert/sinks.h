/* Sinks deliver alerts: to the terminal, a file, a command, syslog, Alertmanager.
 *
 * Each sink has its own threads and a bounded queue: the daemon's loop never waits. An episode is
 * delivered once when it fires and once when it is resolved. What happens while a sink fails or is
 * busy is delivered late, and only its newest state. A sink that fails is tried again with growing
 * pauses; the log says once that it fails or hangs, and once that it works again. */
#ifndef HOLTER_DAEMON_ALERT_SINKS_H
#define HOLTER_DAEMON_ALERT_SINKS_H

#include "daemon/alert/alert_labels.h"
#include "daemon/alert/rules.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

struct sinks;

/** Durations in nanoseconds; 0: the default. */
struct sinks_options {
    uint64_t retry_ns; /**< first pause after a failure, doubled with each further one; 1 s */
    uint64_t maximum_retry_ns; /**< longest pause; 60 s */
    uint64_t update_ns;        /**< minimum time between two updates of an alert; 10 s */
    uint64_t hang_ns;          /**< a delivery that takes longer is logged; 15 s */
    uint64_t leave_ns;         /**< how long sinks_destroy() waits; 4 s */
    size_t maximum_waiting;    /**< alerts that wait in one sink; 1024 */
    int terminal;              /**< descriptor of the terminal sink; borrowed */
    /** For those that route alerts; borrowed; NULL: none. In the URL %j is the id of the job. */
    const char *cluster, *external_url;
    void *user;
    /** A sink fails, or works again: a line for the log. From any thread. NULL: logged. */
    void (*report)(void *user, const char *text);
};

struct sinks_counts {
    uint64_t delivered; /**< deliveries that succeeded, of all sinks together */
    uint64_t failed;    /**< deliveries that failed and are tried again */
    uint64_t dropped;   /**< alerts not delivered because a queue was full */
};

/** Start the sinks of the rules. @param rules  borrowed for the call
 *  @return 0, -ENOMEM or another -errno */
int sinks_create(struct sinks **out, const struct rules *rules,
                 const struct sinks_options *options);

/** Queue a new state of an alert in all sinks. Never blocks. Pending alerts, and those that never
 *  fired, are not delivered.
 *  @param labels  those of its first state are used */
void sinks_queue(struct sinks *sinks, const struct wire_alert *alert,
                 const struct alert_labels *labels);

/** Restore a firing alert that an earlier daemon has delivered: only its end will be. */
void sinks_restore(struct sinks *sinks, const struct wire_alert *alert,
                   const struct alert_labels *labels);

/** Is a state of one of the job's alerts still to be delivered by a sink, as by one that fails? */
int sinks_have_undelivered(struct sinks *sinks, const char *job);

/** The daemon does not hold the job any more: what waits of its alerts is delivered, but none is
 * repeated, and none takes a place in the sinks. NULL is fine. */
void sinks_forget(struct sinks *sinks, const char *job);

/** Detect and log sinks that hang; to be called from time to time. */
void sinks_check(struct sinks *sinks);

/** Which sinks fail, and why; "" when all work. */
void sinks_error(struct sinks *sinks, char *out, size_t capacity);

void sinks_count(struct sinks *sinks, struct sinks_counts *out);

/** Try once more to deliver what waits, within options.leave_ns, then end the threads. A thread
 *  that does not return is detached. NULL is fine. */
void sinks_destroy(struct sinks *sinks);

#endif
