/* Writes a network as YAML. */
#include "agent/cli/topology_write.h"

#include "holter/order.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const connections[] = {"torus", "mesh", "all"};
static const char *const ties[] = {"parity", "plus", "minus"};

void topology_write_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

bool topology_write_can(const struct topology *topology)
{
    const enum topology_kind kind = topology_spec(topology)->kind;
    return kind != TOPOLOGY_TREE && kind != TOPOLOGY_GRAPH;
}

static void write_dimensions(FILE *out, const struct topology_spec *spec)
{
    fputs("kind: cartesian\ndimensions:\n", out);
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        fputs("- {name: ", out);
        topology_write_text(out, spec->dimensions[d].name);
        fprintf(out, ", size: %" PRIu32 ", connection: %s}\n", spec->dimensions[d].size,
                connections[spec->dimensions[d].connection]);
    }
    fputs("order: [", out);
    for (uint32_t step = 0; step < spec->dimension_count; step++)
        for (uint32_t d = 0; d < spec->dimension_count; d++)
            if (spec->dimensions[d].step == step) {
                fputs(step > 0 ? ", " : "", out);
                topology_write_text(out, spec->dimensions[d].name);
            }
    fprintf(out, "]\ntie: %s\n", ties[spec->tie]);
}

static void write_fat_tree(FILE *out, const struct topology_spec *spec)
{
    fputs("network: 'fattree:", out);
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        fprintf(out, "%s%" PRIu32, d > 0 ? "," : "", spec->dimensions[d].size);
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        fprintf(out, "%s%" PRIu32, d > 0 ? "," : "/", spec->dimensions[d].up);
    fputs("'\n", out);
}

/* Vertices are written by number, which unlike coordinates all kinds of networks have. */
static void write_hosts(FILE *out, const struct topology_spec *spec)
{
    const char *head = "nodes:\n";
    for (uint32_t v = 0; v < spec->vertex_count; v++) {
        if (!spec->vertices[v].name[0])
            continue;
        fprintf(out, "%s- {hosts: ", head);
        topology_write_text(out, spec->vertices[v].name);
        fprintf(out, ", at: %" PRIu32 "}\n", v);
        head = "";
    }
}

void topology_write(FILE *out, const struct topology *topology)
{
    const struct topology_spec *spec = topology_spec(topology);
    const struct topology_dimension *d = spec->dimensions;
    if (spec->name[0]) {
        fputs("name: ", out);
        topology_write_text(out, spec->name);
        fputc('\n', out);
    }
    if (spec->kind == TOPOLOGY_CARTESIAN)
        write_dimensions(out, spec);
    else if (spec->kind == TOPOLOGY_FAT_TREE)
        write_fat_tree(out, spec);
    else if (spec->kind == TOPOLOGY_DRAGONFLY)
        fprintf(out,
                "network: 'dragonfly:groups=%" PRIu32 ",routers=%" PRIu32 ",nodes=%" PRIu32
                ",global=%" PRIu32 "'\n",
                d[0].size, d[1].size, d[2].size, d[3].size);
    if (spec->capacity > 0)
        fprintf(out, "capacity: %.17g\n", spec->capacity);
    write_hosts(out, spec);
}

ORDER_FUNCTION(topology_write_compare_links, struct topology_ends,
               2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination))

static void write_route(FILE *out, const struct topology *topology, const uint32_t *path,
                        uint32_t count)
{
    char name[TOPOLOGY_NAME + 1];
    for (uint32_t k = 0; k < count; k++) {
        topology_vertex_name(topology, path[k], name, sizeof name);
        fputs(k > 0 ? ", " : "\n- [", out);
        topology_write_text(out, name);
    }
    fputc(']', out);
}

size_t topology_write_routes(FILE *out, const struct topology *topology,
                             struct topology_ends *left_out, size_t count)
{
    const struct topology_spec *spec = topology_spec(topology);
    size_t written = 0;
    if (count > 0)
        qsort(left_out, count, sizeof *left_out, topology_write_compare_links);
    for (uint32_t i = 0; i < spec->route_count; i++) {
        const uint32_t *path = spec->path + spec->routes[i].first, length = spec->routes[i].count;
        if (length == 0)
            continue;
        const struct topology_ends ends = {path[0], path[length - 1]};
        if (count > 0 && bsearch(&ends, left_out, count, sizeof ends, topology_write_compare_links))
            continue;
        write_route(out, topology, path, length);
        written++;
    }
    return written;
}
