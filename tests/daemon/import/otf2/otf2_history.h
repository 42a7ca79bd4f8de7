/* An OTF2 archive with a history of MPI that is made up at random and known in every detail. */
#ifndef TESTS_DAEMON_IMPORT_OTF2_OTF2_HISTORY_H
#define TESTS_DAEMON_IMPORT_OTF2_OTF2_HISTORY_H

#include <otf2/otf2.h>
#include <stdint.h>

#define HISTORY_RANKS 16u
#define HISTORY_OPEN 64u

struct history_plan {
    uint64_t seed, rounds;
    uint32_t ranks, per_host, threads; /**< threads: of each rank */
    uint64_t resolution, offset, date; /**< of the clock; date 0: not known */
    uint64_t length;                   /**< in ticks, as the archive claims; 0: as it is */
    int plain;                         /**< only blocking messages and their like: for speed */
    int no_definitions;                /**< of locations */
    int no_calls;                      /**< records of MPI without the regions around them */
    int waiter; /**< the last thread of a rank waits for all requests, and does nothing else */
    int late;   /**< each rank begins its records later than the one before */
};

/** What the archive holds. */
struct history {
    uint64_t pairs[HISTORY_RANKS][HISTORY_RANKS], bytes[HISTORY_RANKS][HISTORY_RANKS];
    uint64_t received[HISTORY_RANKS], received_bytes[HISTORY_RANKS];
    uint64_t sends, within_hosts, collectives, events;
    uint64_t forks, puts, metrics; /**< records that nobody knows */
    uint64_t in_solver;            /**< messages sent in the code region "solver" */
    uint64_t last_ns;              /**< of the last record, since the zero of the trace */
};

/** Write it. @param folder  that the archive is made in; its anchor becomes folder/history.otf2 */
void history_write(struct history *out, const struct history_plan *plan, const char *folder);

#endif
