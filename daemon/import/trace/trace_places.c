/* Placement of the ranks of a trace on a list of hosts: see trace_places.h. */
#include "daemon/import/trace/trace_places.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/topology/hostlist.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int trace_places_fit(uint32_t ranks, uint32_t hosts, uint32_t *per_node, char *why, size_t room)
{
    if (*per_node == 0)
        *per_node = (ranks - 1) / hosts + 1;
    if ((ranks - 1) / *per_node < hosts)
        return 0;
    snprintf(why, room, "%" PRIu32 " ranks, %" PRIu32 " on each, do not fit on %" PRIu32 " hosts",
             ranks, *per_node, hosts);
    return -HOLTER_EUSAGE;
}

struct listed {
    struct trace_places *places;
    size_t room;
};

static int trace_places_add_host(void *user, const char *name)
{
    struct listed *l = user;
    struct trace_places *p = l->places;
    if (ARRAY_FIT(p->hosts, l->room, p->host_count + (size_t)1) != 0)
        return -ENOMEM;
    snprintf(p->hosts[p->host_count++], sizeof(*p->hosts), "%s", name);
    return 0;
}

static int trace_places_compare_by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int trace_places_check_unique(const struct trace_places *p, char *why, size_t room)
{
    const char **names = calloc((size_t)p->host_count + 1, sizeof(*names));
    int code = names == NULL ? -ENOMEM : 0;
    for (uint32_t h = 0; code == 0 && h < p->host_count; h++)
        names[h] = p->hosts[h];
    if (code == 0)
        qsort(names, p->host_count, sizeof(*names), trace_places_compare_by_name);
    for (uint32_t h = 1; code == 0 && h < p->host_count; h++) {
        if (strcmp(names[h - 1], names[h]) != 0)
            continue;
        snprintf(why, room, "host %s is there twice", names[h]);
        code = -HOLTER_EUSAGE;
    }
    free(names);
    return code;
}

int trace_places_list(struct trace_places *out, const char *list, uint32_t ranks, uint32_t per_node,
                      char *why, size_t room)
{
    struct listed listed = {out, 0};
    *out = (struct trace_places){.host_of = calloc((size_t)ranks + 1, sizeof(uint32_t))};
    snprintf(why, room, "no memory");
    int code = out->host_of == NULL
                   ? -ENOMEM
                   : hostlist_expand(list, ranks, trace_places_add_host, &listed, why, room);
    if (code == 0 && out->host_count == 0) {
        snprintf(why, room, "there are no hosts in the list");
        code = -HOLTER_EUSAGE;
    }
    code = code != 0 ? code : trace_places_check_unique(out, why, room);
    code = code != 0 ? code : trace_places_fit(ranks, out->host_count, &per_node, why, room);
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
