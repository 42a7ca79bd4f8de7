/* Numbers of agents' messages that are safe once all is committed. */
#ifndef HOLTER_DAEMON_STORAGE_COMMIT_ACKS_H
#define HOLTER_DAEMON_STORAGE_COMMIT_ACKS_H

#include "daemon/analysis/tables/key_table.h"

#include <stdint.h>

/** Zero is empty. */
struct kept_list {
    struct key_table agents; /**< hi: instance */
    uint64_t *seqs;          /**< owned; by agent, the greatest that was added */
    uint32_t room;
};

/** Without memory the agent is left out, and told by a later message of it. */
void kept_list_add(struct kept_list *list, uint64_t instance, uint64_t seq);

/** Forget all, and give memory back. */
void kept_list_clear(struct kept_list *list);

/** Add all of another list, which is empty then. */
void kept_list_merge(struct kept_list *into, struct kept_list *from);

#endif
