/* The node agent: one loop that drains, sums and sends, and ends when no rank is left. */
#ifndef HOLTER_AGENT_NODE_AGENT_H
#define HOLTER_AGENT_NODE_AGENT_H

#include "agent/launch/rendezvous.h"
#include "agent/node/journal.h"

struct agent_options {
    const struct rendezvous *rendezvous; /**< borrowed */
    int lock_fd;          /**< the agent's lock file; owned by the agent from now on */
    const char *endpoint; /**< of the daemon; checked */
    const char *key_dir;  /**< NULL: no keys */
    int32_t face;    /**< pid that segments name as their agent's: the supervisor's, which outlives
                       a worker */
    int by_hand;     /**< started by hand: waits without limit for the first rank */
    uint64_t budget; /**< bytes a second; 0: the default */
};

/** Runs until the session needs no agent on this node any more, or SIGTERM or SIGINT requests a
 * stop.
 *  @param journal  borrowed; holds the state of an earlier worker
 *  @return 0 or a negative error that prevented the start */
int agent_run(const struct agent_options *options, struct journal *journal);

#endif
