/* Numbers for names: see name_table.h. */
#include "daemon/analysis/tables/name_table.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>
#include <string.h>

void name_table_finish(struct name_table *names)
{
    key_table_finish(&names->keys);
    free(names->names);
    *names = (struct name_table){.count = 0};
}

void name_table_clear(struct name_table *names)
{
    key_table_clear(&names->keys);
    names->count = 0;
}

uint32_t name_table_number(struct name_table *n, const char *name, uint32_t most)
{
    struct key key = {.hi = key_hash(name)};
    uint32_t number;
    while ((number = key_table_find(&n->keys, key)) != KEY_NONE &&
           strcmp(n->names[number], name) != 0)
        key.lo++; /* another name with this hash */
    if (number != KEY_NONE)
        return number;
    if (n->count >= most || strlen(name) >= NAME_TABLE_BYTES ||
        key_table_reserve(&n->keys, 1) != 0 ||
        ARRAY_FIT(n->names, n->capacity, n->count + (size_t)1) != 0)
        return NAME_TABLE_NONE;
    memcpy(n->names[n->count], name, strlen(name) + 1);
    key_table_add(&n->keys, key);
    return n->count++;
}

void name_table_copy_state(struct state_bytes *b, struct name_table *names)
{
    key_table_copy_state(b, &names->keys);
    STATE_ARRAY(b, names->names, names->count, names->capacity);
}
