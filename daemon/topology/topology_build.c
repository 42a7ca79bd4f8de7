/* Collects the names, links and routes of a network while a file is read: see topology_build.h. */
#include "daemon/topology/topology_build.h"

#include "daemon/analysis/tables/array.h"

#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINKS (1u << 20) /* limit for one file */

void build_begin(struct build *b, struct faults *faults)
{
    *b = (struct build){.faults = faults};
}

void build_finish(struct build *b)
{
    topology_spec_finish(&b->spec);
    free(b->vertices);
    key_table_finish(&b->names);
    free(b->links);
    free(b->routes);
    free(b->words);
    free(b->owner);
    *b = (struct build){.faults = b->faults};
}

/* Reserve space for one more. @return 0: there is no memory */
static int topology_build_fit(struct build *b, void *array_pointer, size_t size, uint32_t count,
                              size_t *capacity)
{
    if (array_fit(array_pointer, size, capacity, count + (size_t)1) == 0)
        return 1;
    b->code = -ENOMEM;
    return 0;
}

/* ---- names --------------------------------------------------------------- */

uint32_t build_name(struct build *b, const char *name, unsigned line)
{
    size_t length = strlen(name);
    if (b->faults->count > FILE_FAULTS) {
        b->code =
            -HOLTER_EUSAGE; /* no further faults are reported, so there is no need to continue */
        return TOPOLOGY_NONE;
    }
    if (length == 0 || length > TOPOLOGY_NAME) {
        fault_at(b->faults, line, "'%.70s': names have 1 to %u bytes", name, TOPOLOGY_NAME);
        return TOPOLOGY_NONE;
    }
    struct key key = {.hi = key_hash(name)};
    for (uint32_t v; (v = key_table_find(&b->names, key)) != KEY_NONE; key.lo++) {
        if (strcmp(b->vertices[v].name, name) == 0)
            return v;
    }
    if (b->count == TOPOLOGY_MAX_VERTICES) {
        fault_at(b->faults, line, "more than %u names", TOPOLOGY_MAX_VERTICES);
        b->code = -HOLTER_EUSAGE;
        return TOPOLOGY_NONE;
    }
    if (!topology_build_fit(b, &b->vertices, sizeof(*b->vertices), b->count, &b->capacity))
        return TOPOLOGY_NONE;
    if (key_table_reserve(&b->names, 1) != 0) {
        b->code = -ENOMEM;
        return TOPOLOGY_NONE;
    }
    key_table_add(&b->names, key);
    struct build_vertex *vertex = &b->vertices[b->count];
    *vertex = (struct build_vertex){.used = line, .at = TOPOLOGY_NONE};
    memcpy(vertex->name, name, length + 1);
    return b->count++;
}

uint32_t build_declare(struct build *b, const char *name, enum topology_vertex kind, unsigned line)
{
    uint32_t v = build_name(b, name, line);
    if (v == TOPOLOGY_NONE)
        return v;
    struct build_vertex *vertex = &b->vertices[v];
    if (vertex->line != 0) {
        fault_at(b->faults, line, "%s %s stands there twice, first in line %u",
                 vertex->kind == kind ? kind == VERTEX_NODE ? "host" : "switch" : "the name",
                 vertex->name, vertex->line);
        return TOPOLOGY_NONE;
    }
    vertex->kind = kind;
    vertex->line = line;
    return v;
}

/* "(0,0,1)" for nodes with coordinates, else "5" */
static void topology_build_node_text(const struct build *b, uint32_t node, char *out,
                                     size_t capacity)
{
    uint32_t at[TOPOLOGY_DIMENSIONS], rest = node, count = b->spec.dimension_count;
    size_t used = 0;
    if (b->spec.kind != TOPOLOGY_CARTESIAN) {
        snprintf(out, capacity, "node %u", node);
        return;
    }
    for (uint32_t d = count; d-- > 0;) {
        at[d] = rest % b->spec.dimensions[d].size;
        rest /= b->spec.dimensions[d].size;
    }
    for (uint32_t d = 0; d < count && used < capacity; d++)
        used += (size_t)snprintf(out + used, capacity - used, "%c%u%s", d == 0 ? '(' : ',', at[d],
                                 d + 1 == count ? ")" : "");
}

void build_place(struct build *b, const char *host, uint32_t node, unsigned line)
{
    char place[160];
    uint32_t v = build_declare(b, host, VERTEX_NODE, line);
    if (v == TOPOLOGY_NONE)
        return;
    if (b->owner == NULL)
        b->owner = calloc((size_t)b->nodes + 1, sizeof(*b->owner));
    if (b->owner == NULL) {
        b->code = -ENOMEM;
        return;
    }
    if (node >= b->nodes) {
        fault_at(b->faults, line, "%s would be node %u, but the network has %u", host, node,
                 b->nodes);
        return;
    }
    if (b->owner[node] != 0) {
        const struct build_vertex *other = &b->vertices[b->owner[node] - 1];
        topology_build_node_text(b, node, place, sizeof(place));
        fault_at(b->faults, line, "%s: %s is the place of %s, line %u", host, place, other->name,
                 other->line);
        return;
    }
    b->owner[node] = v + 1;
    b->vertices[v].at = node;
}

/* ---- links and routes ---------------------------------------------------- */

void build_link(struct build *b, const struct build_link *link)
{
    if (b->link_count == MAX_LINKS) {
        fault_at(b->faults, link->line, "more than %u links", MAX_LINKS);
        b->code = -HOLTER_EUSAGE;
        return;
    }
    if (topology_build_fit(b, &b->links, sizeof(*b->links), b->link_count, &b->link_capacity))
        b->links[b->link_count++] = *link;
    if (link->upward)
        b->vertices[link->ends[0]].is_below = 1;
}

void build_join(struct build *b, const char *name, struct build_link *link, int hosts)
{
    link->ends[0] = build_name(b, name, link->line);
    if (link->ends[0] == TOPOLOGY_NONE)
        return;
    if (hosts && b->vertices[link->ends[0]].line == 0)
        build_declare(b, name, VERTEX_NODE, link->line);
    link->upward = 1;
    build_link(b, link);
}

void build_route(struct build *b, unsigned line)
{
    if (topology_build_fit(b, &b->routes, sizeof(*b->routes), b->route_count, &b->route_capacity))
        b->routes[b->route_count++] =
            (struct build_route){.first = b->word_count, .count = 0, .line = line};
}

void build_route_word(struct build *b, const char *word)
{
    if (b->code != 0 ||
        !topology_build_fit(b, &b->words, sizeof(*b->words), b->word_count, &b->word_capacity))
        return;
    b->words[b->word_count++] = word;
    b->routes[b->route_count - 1].count++;
}

/* ---- capacity ------------------------------------------------------------ */

int build_capacity(const char *text, double *out)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"", 1},           {"B/s", 1},       {"kB/s", 1e3},     {"MB/s", 1e6},
                 {"GB/s", 1e9},     {"TB/s", 1e12},   {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20},
                 {"GiB/s", 0x1p30}, {"bit/s", 0.125}, {"kbit/s", 125},   {"Mbit/s", 125e3},
                 {"Gbit/s", 125e6}, {"Tbit/s", 125e9}};
    char *end;
    if (*text < '0' || *text > '9' || text[1] == 'x' || text[1] == 'X')
        return 0;
    double value = strtod(text, &end);
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (strcmp(end, units[i].unit) != 0)
            continue;
        *out = value * units[i].bytes;
        return isfinite(*out) && *out > 0;
    }
    return 0;
}
