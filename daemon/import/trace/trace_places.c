/* Placement of the ranks of a trace on a list of hosts: see trace_places.h. */
#include "daemon/import/trace/trace_places.h"

#include "daemon/analysis/tables/name_table.h"
#include "daemon/topology/hostlist.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int trace_places_fit(uint32_t ranks, uint32_t hosts, uint32_t *per_node, char *why, size_t capacity)
{
    if (*per_node == 0)
        *per_node = (ranks - 1) / hosts + 1;
    if ((ranks - 1) / *per_node < hosts)
        return 0;
    snprintf(why, capacity,
             "%" PRIu32 " ranks, %" PRIu32 " on each, do not fit on %" PRIu32 " hosts", ranks,
             *per_node, hosts);
    return -HOLTER_EUSAGE;
}

struct listed {
    struct name_table names;
    char *why;
    size_t capacity;
};

static int trace_places_add_host(void *user, const char *name)
{
    struct listed *l = user;
    uint32_t count = l->names.count;
    if (name_table_number(&l->names, name, NAME_TABLE_NONE) == NAME_TABLE_NONE)
        return -ENOMEM;
    if (l->names.count > count)
        return 0;
    snprintf(l->why, l->capacity, "host %s is there twice", name);
    return -HOLTER_EUSAGE;
}

int trace_places_list(struct trace_places *out, const char *list, uint32_t ranks, uint32_t per_node,
                      char *why, size_t capacity)
{
    struct listed listed = {.why = why, .capacity = capacity};
    *out = (struct trace_places){.host_of = calloc((size_t)ranks + 1, sizeof(uint32_t))};
    snprintf(why, capacity, "no memory");
    int code = out->host_of == NULL
                   ? -ENOMEM
                   : hostlist_expand(list, ranks, trace_places_add_host, &listed, why, capacity);
    key_table_finish(&listed.names.keys);
    out->hosts = listed.names.names;
    out->host_count = listed.names.count;
    if (code == 0 && out->host_count == 0) {
        snprintf(why, capacity, "there are no hosts in the list");
        code = -HOLTER_EUSAGE;
    }
    code = code != 0 ? code : trace_places_fit(ranks, out->host_count, &per_node, why, capacity);
    for (uint32_t r = 0; code == 0 && r < ranks; r++)
        out->host_of[r] = r / per_node;
    if (code == 0)
        out->host_count = (ranks - 1) / per_node + 1;
    else
        trace_places_finish(out);
    return code;
}

void trace_places_finish(struct trace_places *p)
{
    free(p->host_of);
    free(p->hosts);
    *p = (struct trace_places){.host_count = 0};
}
