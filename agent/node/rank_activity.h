/* What a rank that makes no calls is doing: what it waits for, the state of its process, and
 * whether it died. */
#ifndef HOLTER_AGENT_NODE_RANK_ACTIVITY_H
#define HOLTER_AGENT_NODE_RANK_ACTIVITY_H

#include "agent/node/rank.h"
#include "daemon/analysis/clocks/daemon_clock.h"

/** Reports what the rank waits for, when it has been in one call for long at the end of a window.
 *  Call after rank_end_window(). */
void rank_report_pending(const struct rank *rank, const struct drain_clocks *clocks,
                         struct transfer_sum *transfers);

/** Record the state of the process when the rank made no call in the window.
 *  Call after rank_end_window(). @param state  0: not known */
void rank_report_state(const struct rank *rank, char state, uint64_t window_ns);

/** Report how much of a window passed before the rank initialised MPI and after it ended, and how
 *  long its service threads waited in the rest.
 *  @param begin_ns  of the window, like the other times CLOCK_MONOTONIC  @param end_ns  its end
 *  @param ended_ns  when its process ended; UINT64_MAX: it runs */
void rank_report_presence(struct rank *rank, uint64_t begin_ns, uint64_t end_ns, uint64_t ended_ns);

/** Whether MPI_Finalize has returned. */
int rank_has_finalized(const struct rank *rank);

/** When a rank ended, so that the first one is known: a launcher that misses a rank which is on its
 *  way through exit() ends the others, which may be gone before it.
 *  @param noticed_ns  when its process was gone, CLOCK_MONOTONIC */
uint64_t rank_end_ns(const struct rank *rank, uint64_t noticed_ns);

/** Describes a rank's death. Call after the process is gone and its rings are drained.
 *  @param clock  daemon time, for the row
 *  @param out    set when it died
 *  @return 1 when it ended without MPI_Finalize */
int rank_describe_death(const struct rank *rank, const struct drain_clocks *clocks,
                        const struct daemon_clock *clock, struct wire_death_row *out);

#endif
