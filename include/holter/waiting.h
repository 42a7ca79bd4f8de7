/* What counts as waiting, and as time in MPI: the one definition that all views, texts and exports
 * use. */
#ifndef HOLTER_WAITING_H
#define HOLTER_WAITING_H

#include <stdint.h>

/** Time in which a rank waited for others: in receives, waits, polls and collectives, and in
 *  blocking sends as long as the receiver had not come.
 *  @param row  pointer to a struct with the columns of WIRE_RANK_ROW or the fields of WIRE_TOTALS,
 *              or a sum of such: evaluated several times @return nanoseconds, uint64_t */
#define WAITING_NS(row)                                                                            \
    ((row)->recv_ns + (row)->wait_ns + (row)->poll_ns + (row)->collective_ns +                     \
     waiting_in_sends((row)->send_ns, (row)->send_wait_ns))

/** Time in calls of all classes. @param row  as above */
#define MPI_NS(row)                                                                                \
    ((row)->send_ns + (row)->recv_ns + (row)->wait_ns + (row)->poll_ns + (row)->collective_ns +    \
     (row)->one_sided_ns + (row)->io_ns + (row)->other_ns)

/** The part of it in sends: a wait that was reported late may be one of an earlier window. */
static inline uint64_t waiting_in_sends(uint64_t send_ns, uint64_t send_wait_ns)
{
    return send_wait_ns < send_ns ? send_wait_ns : send_ns;
}

#endif
