/* Numbers for names: see trace_names.h. */
#include "daemon/import/trace/trace_names.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>
#include <string.h>

void trace_names_finish(struct trace_names *names)
{
    key_table_finish(&names->keys);
    free(names->names);
    *names = (struct trace_names){.count = 0};
}

uint32_t trace_names_find(struct trace_names *n, const char *name, uint32_t most)
{
    struct key key = {.hi = key_hash(name)};
    uint32_t number;
    while ((number = key_table_find(&n->keys, key)) != KEY_NONE)
        if (strcmp(n->names[number], name) == 0)
            return number;
        else
            key.lo++; /* another name with this hash */
    if (n->count >= most || strlen(name) >= TRACE_NAME || key_table_reserve(&n->keys, 1) != 0 ||
        ARRAY_FIT(n->names, n->room, n->count + (size_t)1) != 0)
        return TRACE_NAMES_FULL;
    memcpy(n->names[n->count], name, strlen(name) + 1);
    key_table_add(&n->keys, key);
    return n->count++;
}
