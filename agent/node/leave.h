/* How long an agent that no rank needs any more goes on sending what the daemon has not
 * acknowledged. */
#ifndef HOLTER_AGENT_NODE_LEAVE_H
#define HOLTER_AGENT_NODE_LEAVE_H

#include <stddef.h>
#include <stdint.h>

/** Without progress, which is an acknowledgement or a connection. */
#define LEAVE_TIMEOUT_NS UINT64_C(5000000000)
/** In all. `holter run` waits for its agents as long, and a little longer. */
#define LEAVE_MAXIMUM_NS UINT64_C(60000000000)

/** Zero-initialised: ranks are there. */
struct leave {
    uint64_t since_ns; /**< since when no rank is there; 0: there is one */
    uint64_t progress_ns;
    size_t backlog;
    int connected;
};

/** No rank is left, and messages are not acknowledged.
 *  @param backlog    bytes of them
 *  @param connected  the daemon has sent a welcome
 *  @return 0: it is time to give them up */
int leave_is_worth_waiting(struct leave *leave, size_t backlog, int connected, uint64_t now_ns);

#endif
