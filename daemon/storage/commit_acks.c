#include "daemon/storage/commit_acks.h"

#include <stdlib.h>

void kept_list_add(struct kept_list *list, uint64_t instance, uint64_t seq)
{
    /* Without memory the agent is told by a later message of it. */
    if (key_table_reserve(&list->agents, 1) != 0)
        return;
    if (list->agents.capacity > list->room) {
        uint64_t *seqs = realloc(list->seqs, list->agents.capacity * sizeof(*seqs));
        if (seqs == NULL)
            return;
        list->seqs = seqs;
        list->room = list->agents.capacity;
    }
    uint32_t known = list->agents.count;
    uint32_t at = key_table_add_hashed(&list->agents, (struct key){.hi = instance});
    if (at == known || list->seqs[at] < seq)
        list->seqs[at] = seq;
}

void kept_list_clear(struct kept_list *list)
{
    key_table_finish(&list->agents);
    free(list->seqs);
    list->seqs = NULL;
    list->room = 0;
}

void kept_list_merge(struct kept_list *into, struct kept_list *from)
{
    if (into->agents.count == 0) {
        kept_list_clear(into);
        *into = *from;
        *from = (struct kept_list){0};
        return;
    }
    for (uint32_t i = 0; i < from->agents.count; i++)
        kept_list_add(into, from->agents.keys[i].hi, from->seqs[i]);
    kept_list_clear(from);
}
