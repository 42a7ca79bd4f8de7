/* A network inferred from recorded routes or hop counts: partitions of Blue Gene/Q, the tiers of a
 * Cray XC, and tori of other shapes when routes have coordinates. */
#include "daemon/analysis/network/topology_infer.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/topology/route_file.h"
#include "daemon/topology/topology_build.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Theta: row, column, cage, slot, cpu. Route files have (column, cage + 3 row, slot, cpu, core). */
#define TIERS "dragonfly:2,12,3,16,4"
#define TIER_NODES (2u * 12 * 3 * 16 * 4)
#define CAGES 3u

#define DAMAGED_PART 100u  /* at most one hop in so many may contradict the others */
#define DAMAGED_COUNTS 20u /* likewise of hop counts */

static const uint32_t partitions[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
#define PARTITIONS (sizeof(partitions) / sizeof(*partitions))
#define POWERS_PER_NODE 6u /* up to 64 ranks a node */

struct shape {
    struct topology_spec spec;
    uint32_t per_node; /* ids of a node */
    int tiers;         /* coordinates are those of TIERS */
    int slots;         /* the last coordinate is the process on its node */
};

static uint32_t topology_recorded_node_of(const struct topology_spec *spec, const uint32_t *at)
{
    uint32_t node = 0;
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        node = node * spec->dimensions[d].size + at[d];
    return node;
}

static void topology_recorded_coordinates_of(const struct topology_spec *spec, uint32_t node,
                                             uint32_t *out)
{
    for (uint32_t d = spec->dimension_count; d-- > 0;) {
        out[d] = node % spec->dimensions[d].size;
        node /= spec->dimensions[d].size;
    }
}

static uint64_t topology_recorded_node_count(const struct topology_spec *spec)
{
    uint64_t nodes = 1;
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        nodes *= spec->dimensions[d].size;
    return nodes;
}

static struct topology_infer *topology_recorded_begin_infer(const struct topology_spec *spec)
{
    uint32_t size[TOPOLOGY_DIMENSIONS];
    struct topology_infer *infer = NULL;
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        size[d] = spec->dimensions[d].size;
    return topology_infer_create(&infer, spec->dimension_count, size) == 0 ? infer : NULL;
}

/* ---- shapes that fit the coordinates of routes ----------------------------- */

/* Sort the coordinates of an end by dimension. @return 0: out of range */
static int topology_recorded_in_order(const struct shape *shape, const uint32_t *given,
                                      uint32_t *out)
{
    uint32_t count = shape->spec.dimension_count;
    memcpy(out, given, count * sizeof(*out));
    if (shape->tiers) {
        const uint32_t at[] = {given[1] / CAGES, given[0], given[1] % CAGES, given[2], given[3]};
        memcpy(out, at, sizeof(at));
    }
    for (uint32_t d = 0; d < count; d++) {
        if (out[d] >= shape->spec.dimensions[d].size)
            return 0;
    }
    return 1;
}

/* Does an id match its coordinates? Sets per_node at the first end that determines it. */
static int topology_recorded_agrees(struct shape *shape, uint32_t id, const uint32_t *given,
                                    uint32_t slot)
{
    uint32_t at[TOPOLOGY_DIMENSIONS];
    if (!topology_recorded_in_order(shape, given, at) || slot > id)
        return 0;
    uint32_t node = topology_recorded_node_of(&shape->spec, at);
    if (shape->per_node == 0 && node > 0) {
        if ((id - slot) % node != 0)
            return 0;
        shape->per_node = (id - slot) / node;
    }
    if (node == 0 || shape->per_node == 0)
        return id == slot;
    return slot < shape->per_node && (uint64_t)node * shape->per_node + slot == id;
}

static int topology_recorded_hop_agrees(struct shape *shape, const struct route_file *file,
                                        const struct route_hop *hop)
{
    uint32_t last = file->coordinates - 1;
    return topology_recorded_agrees(shape, hop->from, hop->at, shape->slots ? hop->at[last] : 0) &&
           topology_recorded_agrees(shape, hop->to, hop->end, shape->slots ? hop->end[last] : 0);
}

/* Few hops may be damaged. */
static int topology_recorded_fits(struct shape *shape, const struct route_file *file, int slots)
{
    size_t wrong = 0;
    shape->slots = slots;
    for (size_t i = 0; i < file->count; i++) {
        wrong += !topology_recorded_hop_agrees(shape, file, &file->hops[i]);
        if (wrong > file->count / DAMAGED_PART)
            return 0;
    }
    if (shape->per_node == 0)
        shape->per_node = 1;
    return 1;
}

/* Do the coordinates fit the tiers? Nodes without a rank have arbitrary numbers there, so it is
 * enough if most fit. */
static int topology_recorded_fits_tiers(struct shape *shape, const struct route_file *file)
{
    char why[200];
    size_t right = 0;
    *shape = (struct shape){.per_node = 1, .tiers = 1};
    if (file->coordinates != 5 || topology_short(&shape->spec, TIERS, why, sizeof(why)) != 0)
        return 0;
    for (size_t i = 0; i < file->count; i++)
        right += (size_t)topology_recorded_agrees(shape, file->hops[i].from, file->hops[i].at, 0);
    return right > file->count / 2;
}

static int topology_recorded_fits_partition(struct shape *shape, const struct route_file *file,
                                            uint32_t nodes)
{
    int guessed;
    *shape = (struct shape){.per_node = 0};
    return file->coordinates == 6 && topology_partition(&shape->spec, nodes, &guessed) == 0 &&
           topology_recorded_fits(shape, file, 1);
}

/* Try a torus whose sizes are the largest coordinates plus one. */
static int topology_recorded_fits_torus(struct shape *shape, const struct route_file *file)
{
    struct topology_spec *spec = &shape->spec;
    *shape = (struct shape){.per_node = 0};
    int slots = file->coordinates == 6;
    spec->dimension_count = file->coordinates - (uint32_t)slots;
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        spec->dimensions[d].name[0] = (char)('A' + d);
        for (size_t i = 0; i < file->count; i++) {
            const struct route_hop *hop = &file->hops[i];
            uint32_t most = hop->at[d] > hop->end[d] ? hop->at[d] : hop->end[d];
            if (most >= TOPOLOGY_MAX_VERTICES)
                return 0;
            if (most >= spec->dimensions[d].size)
                spec->dimensions[d].size = most + 1;
        }
        if (topology_recorded_node_count(spec) > TOPOLOGY_MAX_VERTICES &&
            d + 1 == spec->dimension_count)
            return 0;
    }
    topology_spec_order(spec);
    return topology_recorded_fits(shape, file, slots);
}

static int topology_recorded_find_shape(struct shape *shape, const struct route_file *file)
{
    if (topology_recorded_fits_tiers(shape, file))
        return 1;
    for (size_t i = 0; i < PARTITIONS; i++) {
        if (topology_recorded_fits_partition(shape, file, partitions[i]))
            return 1;
    }
    return topology_recorded_fits_torus(shape, file);
}

/* ---- routes ---------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void
topology_recorded_add_remark(struct topology_file *out, unsigned line, const char *format, ...)
{
    size_t used = out->remarks == NULL ? 0 : strlen(out->remarks);
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (out->gaps + out->wrong_lines > FILE_FAULTS)
        return;
    const size_t capacity = used + strlen(text) + 16;
    if (ARRAY_RESIZE(out->remarks, capacity) == 0)
        snprintf(out->remarks + used, capacity - used, "%u: %s\n", line, text);
}

/* Coordinates of the nodes on a route. @return memory for free(), NULL: a node is not in the
 * network */
static uint32_t *topology_recorded_path_of(const struct shape *shape, const struct route_hop *hops,
                                           size_t count)
{
    uint32_t dimensions = shape->spec.dimension_count;
    uint64_t nodes = topology_recorded_node_count(&shape->spec);
    uint32_t *path = calloc((count + 1) * dimensions, sizeof(*path));
    for (size_t i = 0; path != NULL && i <= count; i++) {
        uint32_t node = (i == 0 ? hops[0].from : hops[i - 1].to) / shape->per_node;
        if (node >= nodes) {
            free(path);
            return NULL;
        }
        topology_recorded_coordinates_of(&shape->spec, node, path + i * dimensions);
    }
    return path;
}

static void topology_recorded_add_route(struct topology_file *out, struct topology_infer *infer,
                                        struct shape *shape, const struct route_file *file,
                                        size_t first, size_t count)
{
    const struct route_hop *at, *hops = &file->hops[first];
    const char *gap = route_file_gap(hops, count, shape->per_node, &at);
    for (size_t i = 0; gap == NULL && !shape->tiers && i < count; i++) {
        at = &hops[i];
        if (!topology_recorded_hop_agrees(shape, file, at))
            gap = "the numbers of the hop are not those of its coordinates";
    }
    if (gap == NULL) {
        uint32_t *path = topology_recorded_path_of(shape, hops, count);
        if (path == NULL || topology_infer_route(infer, path, (uint32_t)count + 1) != 0) {
            at = &hops[0];
            gap = hops[0].source / shape->per_node == hops[0].destination / shape->per_node
                      ? "the route's source is its destination"
                      : "a hop leads to a node that is not linked";
        }
        free(path);
    }
    out->routes += gap == NULL;
    if (gap == NULL)
        return;
    out->gaps++;
    topology_recorded_add_remark(out, at->line, "route %u-%u: %s", at->source, at->destination,
                                 gap);
}

static int topology_recorded_finish(struct topology_file *out, struct topology_infer *infer,
                                    struct topology_spec *spec, struct faults *faults)
{
    char why[300];
    int code = topology_infer_finish(infer, spec, why, sizeof(why));
    if (code == 0) {
        struct build build;
        build_begin(&build, faults);
        build.spec = *spec;
        build.nodes = (uint32_t)topology_recorded_node_count(spec);
        struct topology_file made = {.format = out->format};
        code = build_end(&build, &made);
        build_finish(&build);
        out->topology = made.topology;
        out->hosts = made.hosts;
    } else {
        fault_at(faults, 0, "%s", why);
    }
    return code;
}

static int topology_recorded_infer_routes(struct topology_file *out, const struct route_file *file,
                                          struct faults *faults)
{
    struct shape shape;
    if (!topology_recorded_find_shape(&shape, file)) {
        fault_at(faults, 0,
                 "the numbers of nodes do not follow from their coordinates in a network that is "
                 "known");
        return -HOLTER_EUSAGE;
    }
    struct topology_infer *infer = topology_recorded_begin_infer(&shape.spec);
    if (infer == NULL)
        return -ENOMEM;
    for (size_t at = 0; at < file->count;) {
        size_t count = route_file_length(file, at);
        topology_recorded_add_route(out, infer, &shape, file, at, count);
        at += count;
    }
    out->per_node = shape.per_node;
    int code = topology_recorded_finish(out, infer, &shape.spec, faults);
    topology_infer_destroy(infer);
    return code;
}

/* ---- hop counts ------------------------------------------------------------- */

#define COUNTS_EXPECTED "source, destination, bytes and hops are expected to find the network"

struct count {
    uint32_t source, destination, hops;
    unsigned line;
    int wrong; /* contradicts the network that is tried */
};

struct counts {
    struct count *list; /* owned */
    size_t count, wrong;
    uint32_t highest;
};

/* Malformed lines are left out, unless they are half of all or more. */
static int topology_recorded_read_counts(struct counts *out, struct topology_file *file,
                                         const char *text, size_t length, struct faults *faults)
{
    struct lines lines = lines_of(text, length);
    const char *at, *end, *word;
    size_t most = 1, letters;
    for (size_t i = 0; i < length; i++)
        most += text[i] == '\n';
    out->list = calloc(most, sizeof(*out->list));
    if (out->list == NULL)
        return -ENOMEM;
    while (lines_next(&lines, &at, &end)) {
        uint64_t source, destination, bytes, hops;
        const char *begin = at;
        if (!word_next(&begin, end, &word, &letters) || *word == '#')
            continue;
        if (!word_whole(&at, end, &source) || !word_whole(&at, end, &destination) ||
            !word_amount(&at, end, &bytes) || !word_whole(&at, end, &hops) ||
            word_next(&at, end, &word, &letters) || source >= UINT32_MAX ||
            destination >= UINT32_MAX || hops >= UINT32_MAX) {
            file->wrong_lines++;
            topology_recorded_add_remark(file, lines.number, "%s", COUNTS_EXPECTED);
            continue;
        }
        out->list[out->count++] = (struct count){(uint32_t)source, (uint32_t)destination,
                                                 (uint32_t)hops, lines.number, 0};
        out->highest = source > out->highest ? (uint32_t)source : out->highest;
        out->highest = destination > out->highest ? (uint32_t)destination : out->highest;
    }
    if (out->count > file->wrong_lines)
        return 0;
    if (file->wrong_lines == 0)
        fault_at(faults, 0, "no pair stands in it");
    else
        fault_at(faults, (unsigned)strtoul(file->remarks != NULL ? file->remarks : "0", NULL, 10),
                 "%s", COUNTS_EXPECTED);
    return -HOLTER_EUSAGE;
}

/* @return 1 and the network, 0: try another, or a negative error */
static int topology_recorded_try_counts(struct topology_file *out, const struct counts *counts,
                                        const struct topology_spec *shape, uint32_t per_node,
                                        struct faults *faults)
{
    struct topology_spec spec = *shape;
    char why[300];
    uint32_t a[TOPOLOGY_DIMENSIONS], b[TOPOLOGY_DIMENSIONS];
    struct topology_infer *infer = topology_recorded_begin_infer(&spec);
    int code = infer == NULL ? -ENOMEM : 0;
    for (size_t i = 0; code == 0 && i < counts->count; i++) {
        if (counts->list[i].wrong)
            continue;
        topology_recorded_coordinates_of(&spec, counts->list[i].source / per_node, a);
        topology_recorded_coordinates_of(&spec, counts->list[i].destination / per_node, b);
        code = topology_infer_hops(infer, a, b, counts->list[i].hops);
    }
    code = code != 0 ? code : topology_infer_finish(infer, &spec, why, sizeof(why));
    if (code == 0)
        code = topology_recorded_finish(out, infer, &spec, faults);
    topology_infer_destroy(infer);
    out->per_node = per_node;
    return code == 0 ? 1 : code == -ENOMEM ? code : 0;
}

/* Mark the counts that a network does not have, which may be damaged.
 * @return 0, or -ENOMEM */
static int topology_recorded_mark_wrong(struct counts *counts, const struct topology_spec *spec,
                                        uint32_t per_node)
{
    struct topology *topology;
    char why[200];
    if (topology_create(&topology, spec, why, sizeof(why)) != 0)
        return -ENOMEM;
    counts->wrong = 0;
    for (size_t i = 0; i < counts->count; i++) {
        struct count *c = &counts->list[i];
        c->wrong =
            topology_distance(topology, c->source / per_node, c->destination / per_node) != c->hops;
        counts->wrong += (size_t)c->wrong;
    }
    topology_destroy(topology);
    return 0;
}

/* A network that could have the numbers of the file, linked as it usually is.
 * @param which  from 0 up: the tiers, then partitions with 1, 2, 4, ... numbers a node
 * @return 1, 0: it has too few or too many nodes, or -1: there are no more */
static int topology_recorded_candidate(struct topology_spec *spec, uint32_t *per_node,
                                       const struct counts *counts, size_t which)
{
    const uint64_t used = (uint64_t)counts->highest + 1;
    char why[200];
    int guessed;
    *per_node = 1;
    if (which == 0)
        return used <= TIER_NODES && topology_short(spec, TIERS, why, sizeof(why)) == 0;
    if (which > PARTITIONS * (POWERS_PER_NODE + 1))
        return -1;
    *per_node = UINT32_C(1) << (which - 1) / PARTITIONS;
    const uint32_t nodes = partitions[(which - 1) % PARTITIONS];
    const uint64_t ids = (uint64_t)nodes * *per_node;
    return ids >= used && ids / 2 < used && topology_partition(spec, nodes, &guessed) == 0;
}

/* The candidate that contradicts the fewest counts, if these are few. */
static int topology_recorded_try_damaged(struct topology_file *out, struct counts *counts,
                                         struct faults *faults)
{
    struct topology_spec spec;
    uint32_t per_node;
    size_t fewest = SIZE_MAX, best = 0;
    int fits;
    for (size_t i = 0; (fits = topology_recorded_candidate(&spec, &per_node, counts, i)) >= 0;
         i++) {
        if (!fits)
            continue;
        if (topology_recorded_mark_wrong(counts, &spec, per_node) != 0)
            return -ENOMEM;
        best = counts->wrong < fewest ? i : best;
        fewest = counts->wrong < fewest ? counts->wrong : fewest;
    }
    if (fewest > counts->count / 2)
        return 0; /* it is another network */
    topology_recorded_candidate(&spec, &per_node, counts, best);
    if (topology_recorded_mark_wrong(counts, &spec, per_node) != 0)
        return -ENOMEM;
    const struct count *first = counts->list;
    while (counts->wrong > 0 && !first->wrong)
        first++;
    if (fewest > counts->count / DAMAGED_COUNTS) {
        fault_at(faults, first->line,
                 "%zu of %zu lines, this one first, contradict the network that fits best, of "
                 "%" PRIu64 " nodes; at most one in %u may",
                 fewest, counts->count, topology_recorded_node_count(&spec), DAMAGED_COUNTS);
        return -HOLTER_EUSAGE;
    }
    int code = topology_recorded_try_counts(out, counts, &spec, per_node, faults);
    for (const struct count *c = first; code == 1 && c < counts->list + counts->count; c++) {
        if (!c->wrong)
            continue;
        out->wrong_lines++;
        topology_recorded_add_remark(out, c->line, "%u hops from %u to %u contradict the others",
                                     c->hops, c->source, c->destination);
    }
    return code;
}

/* @param last  the highest number in the file must be the last node of the network, which is nearly
 * always so; else it must only be in the network */
static int topology_recorded_try_partitions(struct topology_file *out, const struct counts *counts,
                                            int last, struct faults *faults)
{
    struct topology_spec spec;
    int code = 0, guessed;
    for (uint32_t per_node = 1; code == 0 && per_node <= 64; per_node *= 2) {
        for (size_t p = 0; code == 0 && p < PARTITIONS; p++) {
            uint64_t ids = (uint64_t)partitions[p] * per_node, used = (uint64_t)counts->highest + 1;
            if ((last ? ids == used : ids > used && ids / 2 < used) &&
                topology_partition(&spec, partitions[p], &guessed) == 0)
                code = topology_recorded_try_counts(out, counts, &spec, per_node, faults);
        }
    }
    return code;
}

static int topology_recorded_infer_counts(struct topology_file *out, struct counts *counts,
                                          struct faults *faults)
{
    struct topology_spec spec;
    char why[200];
    int code = topology_recorded_try_partitions(out, counts, 1, faults);
    if (code == 0 && counts->highest < TIER_NODES &&
        topology_short(&spec, TIERS, why, sizeof(why)) == 0)
        code = topology_recorded_try_counts(out, counts, &spec, 1, faults);
    code = code != 0 ? code : topology_recorded_try_partitions(out, counts, 0, faults);
    code = code != 0 ? code : topology_recorded_try_damaged(out, counts, faults);
    if (code == 0)
        fault_at(faults, 0, "the hops are not those of a network that is known");
    return code == 1 ? 0 : code == 0 ? -HOLTER_EUSAGE : code;
}

/* ---- both -------------------------------------------------------------------- */

static int topology_recorded_read_routes(struct topology_file *out, const char *text, size_t length,
                                         struct faults *faults)
{
    struct route_file file;
    int code = route_file_parse(&file, text, length, faults);
    if (code != 0)
        return code;
    for (uint32_t i = 0; i < file.wrong_lines && i < FILE_FAULTS; i++)
        topology_recorded_add_remark(out, file.wrong[i].line, "%s", file.wrong[i].why);
    out->wrong_lines = file.wrong_lines;
    code = topology_recorded_infer_routes(out, &file, faults);
    route_file_finish(&file);
    return code;
}

static int topology_recorded_read_hops(struct topology_file *out, const char *text, size_t length,
                                       struct faults *faults)
{
    struct counts counts = {0};
    int code = topology_recorded_read_counts(&counts, out, text, length, faults);
    code = code != 0 ? code : topology_recorded_infer_counts(out, &counts, faults);
    free(counts.list);
    return code;
}

int topology_recorded(struct topology_file *out, const char *text, size_t length,
                      struct faults *faults)
{
    int code = out->format == TOPOLOGY_FORMAT_ROUTES
                   ? topology_recorded_read_routes(out, text, length, faults)
                   : topology_recorded_read_hops(out, text, length, faults);
    if (code != 0)
        topology_file_finish(out);
    return code;
}
