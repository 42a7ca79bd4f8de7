/* How long a blocking send waited for its receiver. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_SEND_WAIT_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_SEND_WAIT_H

#include <stdint.h>

/** Nobody waits while a message is copied into a buffer: at most this, and 1 ns for each byte. */
#define SEND_COPY_NS UINT64_C(20000)

/** Time in the call that posted a send until the receiver came.
 *
 *  While the call lasts and the receiver has not come, the sender waits for it. A call that ended
 *  before the receiver came has left the message in a buffer: it waited only if it took longer than
 *  copying does, as where the buffers are full.
 *  @param send_ns   entry of the call that posted the send
 *  @param exit_ns   its exit
 *  @param enter_ns  entry of the call that completed the receive
 *  @return nanoseconds */
static inline uint64_t send_wait_ns(uint64_t send_ns, uint64_t exit_ns, uint64_t enter_ns,
                                    uint64_t bytes)
{
    if (enter_ns <= send_ns || exit_ns <= send_ns)
        return 0;
    if (exit_ns > enter_ns)
        return enter_ns - send_ns;
    uint64_t took = exit_ns - send_ns;
    return took > SEND_COPY_NS && took - SEND_COPY_NS > bytes ? took - SEND_COPY_NS - bytes : 0;
}

#endif
