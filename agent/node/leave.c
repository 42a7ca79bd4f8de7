/* How long an agent that no rank needs any more waits for acknowledgements. */
#include "agent/node/leave.h"

int leave_is_worth_waiting(struct leave *leave, size_t backlog, int connected, uint64_t now_ns)
{
    if (leave->progress_ns == 0 || backlog != leave->backlog || connected > leave->connected)
        leave->progress_ns = now_ns;
    leave->backlog = backlog;
    leave->connected = connected;
    return now_ns - leave->progress_ns < LEAVE_TIMEOUT_NS &&
           now_ns - leave->since_ns < LEAVE_MAXIMUM_NS;
}
