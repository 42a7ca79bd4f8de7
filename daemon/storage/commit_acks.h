/* Acknowledgements of agents' messages that are to be sent once these are committed to disk: by
 * agent the greatest message number. */
#ifndef HOLTER_DAEMON_STORAGE_COMMIT_ACKS_H
#define HOLTER_DAEMON_STORAGE_COMMIT_ACKS_H

#include "daemon/analysis/tables/key_table.h"

#include <stdint.h>

#define COMMIT_ACKS_KEPT (1u << 20) /**< agents in a list of commit_acks_keep() */

/** Zero-initialised: empty. */
struct commit_acks {
    struct key_table agents; /**< hi: instance of the agent */
    uint64_t *seqs;          /**< owned; by the agent's index in `agents`: greatest number added */
    size_t capacity;         /**< of seqs */
};

/** Add a message. Without memory the agent is left out, and is acknowledged with a later message.
 */
void commit_acks_add(struct commit_acks *list, uint64_t instance, uint64_t seq);

/** The same in a list that is kept as long as the daemon runs, for agents that connect again. Of
 * further agents than COMMIT_ACKS_KEPT nothing is kept: they send again what is stored already,
 * which does no harm. */
void commit_acks_keep(struct commit_acks *list, uint64_t instance, uint64_t seq);

/** @return the greatest number of an agent's messages; 0: none was added */
uint64_t commit_acks_find(const struct commit_acks *list, uint64_t instance);

/** Remove all agents and free the memory. */
void commit_acks_clear(struct commit_acks *list);

/** Move all agents of another list into this one; the other list is empty afterwards. */
void commit_acks_merge(struct commit_acks *into, struct commit_acks *from);

#endif
