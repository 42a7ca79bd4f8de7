/* Where the ranks of a job run. */
#include "daemon/job/job_places.h"

#include <stdlib.h>
#include <string.h>

void job_places_finish(struct job_places *places)
{
    for (uint32_t i = 0; i < places->keys.count; i++)
        free(places->list[i].placement);
    free(places->list);
    key_table_finish(&places->keys);
}

uint32_t job_places_find_node(const struct job_places *places, uint64_t rank)
{
    uint32_t at = key_table_find(&places->keys, (struct key){.hi = rank});
    return at == KEY_NONE ? KEY_NONE : places->list[at].node;
}

const struct job_place *job_places_find(const struct job_places *places, uint64_t rank)
{
    uint32_t at = key_table_find(&places->keys, (struct key){.hi = rank});
    return at == KEY_NONE ? NULL : &places->list[at];
}

struct job_place *job_places_add(struct job_places *places, uint64_t rank)
{
    uint32_t known = places->keys.count;
    uint32_t at = KEY_TABLE_EXTEND(&places->keys, (struct key){.hi = rank}, UINT32_MAX,
                                   places->list, places->capacity);
    if (at == known)
        places->list[at] = (struct job_place){.rank = (uint32_t)rank, .node = KEY_NONE};
    return at == KEY_NONE ? NULL : &places->list[at];
}

int job_places_update(struct job_places *places, struct job_place *place, uint32_t node,
                      const struct wire_member_row *member)
{
    const char *placement = member->placement == NULL ? "" : member->placement;
    if (place->node == node && place->pid == member->pid && place->core == member->core &&
        place->socket == member->socket && place->numa == member->numa &&
        place->placement != NULL && strcmp(place->placement, placement) == 0)
        return 0;
    char *copy = strdup(placement); /* without memory the place is known, but not its cores */
    free(place->placement);
    place->placement = copy;
    place->node = node;
    place->pid = member->pid;
    place->core = member->core;
    place->socket = member->socket;
    place->numa = member->numa;
    places->changed = 1;
    return 1;
}

void job_places_copy_state(struct state_bytes *b, struct job_places *places)
{
    STATE_VALUE(b, *places);
    key_table_copy_state(b, &places->keys);
    STATE_ARRAY(b, places->list, places->keys.count, places->capacity);
    if (places->list == NULL)
        key_table_finish(&places->keys);
    for (uint32_t i = 0; i < places->keys.count; i++) {
        struct job_place *place = &places->list[i];
        size_t length = b->reads || place->placement == NULL ? 0 : strlen(place->placement);
        STATE_VALUE(b, length);
        STATE_ARRAY(b, place->placement, length, length + 1);
    }
}
