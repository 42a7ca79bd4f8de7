/* Numbers for names by a hash table: see csv_names.h. */
#include "daemon/import/csv/csv_names.h"

#include <stdlib.h>
#include <string.h>

void csv_names_init(struct csv_names *names, uint32_t most)
{
    *names = (struct csv_names){.most = most};
}

void csv_names_finish(struct csv_names *names)
{
    free(names->names);
    free(names->slots);
    *names = (struct csv_names){.most = names->most};
}

/* FNV-1a. */
static uint64_t csv_names_hash(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

static uint32_t *csv_names_slot_of(const struct csv_names *n, const char *name)
{
    uint32_t mask = 2 * n->room - 1, at = (uint32_t)csv_names_hash(name) & mask;
    while (n->slots[at] != 0 && strcmp(n->names[n->slots[at] - 1], name) != 0)
        at = (at + 1) & mask;
    return &n->slots[at];
}

static int csv_names_grow(struct csv_names *n)
{
    uint32_t room = n->room == 0 ? 64 : 2 * n->room;
    uint32_t *slots = calloc(2 * (size_t)room, sizeof(*slots));
    void *names = slots == NULL ? NULL : realloc(n->names, (size_t)room * CSV_NAME);
    if (names == NULL) {
        free(slots);
        return -1;
    }
    free(n->slots);
    n->slots = slots;
    n->names = names;
    n->room = room;
    for (uint32_t i = 0; i < n->count; i++)
        *csv_names_slot_of(n, n->names[i]) = i + 1;
    return 0;
}

uint32_t csv_names_find(struct csv_names *n, const char *name)
{
    if (n->count == n->room && csv_names_grow(n) != 0)
        return CSV_NAMES_FULL;
    uint32_t *slot = csv_names_slot_of(n, name);
    if (*slot != 0)
        return *slot - 1;
    if (n->count == n->most || strlen(name) >= CSV_NAME)
        return CSV_NAMES_FULL;
    memcpy(n->names[n->count], name, strlen(name) + 1);
    *slot = ++n->count;
    return n->count - 1;
}
