/* What counts as waiting, as time in MPI and as the time of ranks: the one definition that all
 * views, texts and exports use. */
#ifndef HOLTER_WAITING_H
#define HOLTER_WAITING_H

#include <stdint.h>

/** Time in which a rank waited for others: in receives, waits, polls, collectives and one-sided
 *  calls, and in blocking sends as long as the receiver had not come.
 *  @param row  pointer to a struct with the columns of WIRE_RANK_ROW or the fields of WIRE_TOTALS,
 *              or a sum of such: evaluated several times @return nanoseconds, uint64_t */
#define WAITING_NS(row)                                                                            \
    ((row)->recv_ns + (row)->wait_ns + (row)->poll_ns + (row)->collective_ns +                     \
     (row)->one_sided_ns + waiting_in_sends((row)->send_ns, (row)->send_wait_ns))

/** Time in calls of all classes. @param row  as above */
#define MPI_NS(row)                                                                                \
    ((row)->send_ns + (row)->recv_ns + (row)->wait_ns + (row)->poll_ns + (row)->collective_ns +    \
     (row)->one_sided_ns + (row)->io_ns + (row)->other_ns)

/** The part of it in sends: a wait that was reported late may be one of an earlier window. */
static inline uint64_t waiting_in_sends(uint64_t send_ns, uint64_t send_wait_ns)
{
    return send_wait_ns < send_ns ? send_wait_ns : send_ns;
}

/** Is a rank to be named for which another one waits longest? Others of its waits may be longer, of
 *  which it is not known for whom.
 *  @param awaited_ns  waits for it  @param waiting_ns  all waits */
static inline int waiting_is_for(uint64_t awaited_ns, uint64_t waiting_ns)
{
    return awaited_ns > 0 && awaited_ns >= waiting_ns / 10;
}

/** The time of ranks, of which the others are shares: that of the windows, less the time before
 *  they initialised MPI and after they ended.
 *  @param length_ns  of the windows together  @param absent_ns  of all these ranks together
 *  @return nanoseconds, summed over the ranks, not below 0 */
static inline double ranks_time_ns(uint64_t ranks, uint64_t length_ns, uint64_t absent_ns)
{
    const double whole = (double)ranks * (double)length_ns;
    return whole > (double)absent_ns ? whole - (double)absent_ns : 0;
}

#endif
