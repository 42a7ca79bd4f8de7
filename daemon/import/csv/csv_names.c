/* Numbers for names: see csv_names.h. */
#include "daemon/import/csv/csv_names.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>
#include <string.h>

void csv_names_init(struct csv_names *names, uint32_t most)
{
    *names = (struct csv_names){.most = most};
}

void csv_names_finish(struct csv_names *names)
{
    key_table_finish(&names->keys);
    free(names->names);
    *names = (struct csv_names){.most = names->most};
}

uint32_t csv_names_find(struct csv_names *n, const char *name)
{
    struct key key = {.hi = key_hash(name)};
    uint32_t number;
    while ((number = key_table_find(&n->keys, key)) != KEY_NONE)
        if (strcmp(n->names[number], name) == 0)
            return number;
        else
            key.lo++; /* another name with this hash */
    if (n->count == n->most || strlen(name) >= CSV_NAME || key_table_reserve(&n->keys, 1) != 0 ||
        array_fit(&n->names, CSV_NAME, &n->room, n->count + (size_t)1) != 0)
        return CSV_NAMES_FULL;
    memcpy(n->names[n->count], name, strlen(name) + 1);
    key_table_add(&n->keys, key);
    return n->count++;
}
