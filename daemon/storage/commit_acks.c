/* Acknowledgements that wait for a commit: by agent the greatest message number, see
 * commit_acks.h. */
#include "daemon/storage/commit_acks.h"

#include <stdlib.h>

void commit_acks_add(struct commit_acks *list, uint64_t instance, uint64_t seq)
{
    /* Without memory the agent is acknowledged with a later message. */
    if (key_table_reserve(&list->agents, 1) != 0)
        return;
    if (list->agents.capacity > list->capacity) {
        uint64_t *seqs = realloc(list->seqs, list->agents.capacity * sizeof(*seqs));
        if (seqs == NULL)
            return;
        list->seqs = seqs;
        list->capacity = list->agents.capacity;
    }
    uint32_t known = list->agents.count;
    uint32_t at = key_table_add_hashed(&list->agents, (struct key){.hi = instance});
    if (at == known || list->seqs[at] < seq)
        list->seqs[at] = seq;
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
