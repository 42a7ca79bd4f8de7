/* The node agent at work: one loop that drains, sums, sends, and leaves when nobody is left. */
#ifndef HOLTER_AGENT_NODE_AGENT_H
#define HOLTER_AGENT_NODE_AGENT_H

#include "agent/launch/rendezvous.h"
#include "agent/node/journal.h"

struct agent_options {
    const struct rendezvous *rendezvous; /**< borrowed */
    int lock_fd;                         /**< the agent's lock; taken over */
    const char *endpoint;                /**< of the daemon; checked */
    const char *key_dir;                 /**< NULL: no keys */
    int32_t face;    /**< pid that segments name as their agent's: the supervisor's, which outlives
                       a worker */
    int by_hand;     /**< waits for the first rank however long it takes */
    uint64_t budget; /**< bytes a second; 0: the default */
};

/** Work until the session needs no agent on this node any more, or SIGTERM or SIGINT asks it to
 *  stop.
 *  @param journal  borrowed; holds what an earlier worker left
 *  @return 0 or a negative error that kept it from starting */
int agent_run(const struct agent_options *options, struct journal *journal);

#endif
