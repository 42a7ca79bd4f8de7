/* Which daemon of a fleet takes a job that nobody holds: the one with the least load. Pure. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_BALANCE_H
#define HOLTER_DAEMON_FLEET_FLEET_BALANCE_H

#include <stddef.h>
#include <stdint.h>

/** Whose load is known; of more daemons, those that announced theirs last. */
#define FLEET_BALANCE_DAEMONS 256u

/** The loads that daemons have announced. Zero-initialised: none. */
struct fleet_balance {
    struct fleet_balance_daemon {
        uint64_t daemon; /**< number of its run */
        uint64_t load;   /**< nanoseconds of processor time a second */
        uint64_t at_ns;  /**< when it was announced, CLOCK_MONOTONIC of this daemon */
    } daemons[FLEET_BALANCE_DAEMONS];
    size_t count;
};

/** A daemon has announced its load. */
void fleet_balance_note(struct fleet_balance *balance, uint64_t daemon, uint64_t load,
                        uint64_t now_ns);

/** Has no other daemon a smaller load? Of two with one load, the smaller number counts.
 *  @param since_ns  what was announced before is not considered: that daemon may have died */
int fleet_balance_is_least(const struct fleet_balance *balance, uint64_t daemon, uint64_t load,
                           uint64_t since_ns);

#endif
