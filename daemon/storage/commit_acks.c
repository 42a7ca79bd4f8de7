/* Acknowledgements that wait for a commit: by agent the greatest message number, see
 * commit_acks.h. */
#include "daemon/storage/commit_acks.h"

#include <stdlib.h>

void commit_acks_add(struct commit_acks *list, uint64_t instance, uint64_t seq)
{
    /* Without memory the agent is acknowledged with a later message. */
    uint32_t at = KEY_TABLE_EXTEND(&list->agents, (struct key){.hi = instance}, UINT32_MAX,
                                   list->seqs, list->capacity);
    if (at != KEY_NONE && list->seqs[at] < seq)
        list->seqs[at] = seq;
}

void commit_acks_keep(struct commit_acks *list, uint64_t instance, uint64_t seq)
{
    if (list->agents.count < COMMIT_ACKS_KEPT ||
        key_table_find(&list->agents, (struct key){.hi = instance}) != KEY_NONE)
        commit_acks_add(list, instance, seq);
}

uint64_t commit_acks_find(const struct commit_acks *list, uint64_t instance)
{
    const uint32_t at = key_table_find(&list->agents, (struct key){.hi = instance});
    return at == KEY_NONE ? 0 : list->seqs[at];
}

void commit_acks_clear(struct commit_acks *list)
{
    key_table_finish(&list->agents);
    free(list->seqs);
    list->seqs = NULL;
    list->capacity = 0;
}

void commit_acks_merge(struct commit_acks *into, struct commit_acks *from)
{
    if (into->agents.count == 0) {
        commit_acks_clear(into);
        *into = *from;
        *from = (struct commit_acks){0};
        return;
    }
    for (uint32_t i = 0; i < from->agents.count; i++)
        commit_acks_add(into, from->agents.keys[i].hi, from->seqs[i]);
    commit_acks_clear(from);
}
