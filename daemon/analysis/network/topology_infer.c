/* The evidence of routes and hop counts, and what follows from it: see topology_infer.h. */
#include "daemon/analysis/network/topology_infer.h"

#include "daemon/analysis/network/topology_inner.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAYS 3u
#define MAXIMUM_WAYS 6561u /* 3^8 */

struct topology_infer {
    uint32_t dimensions;
    uint32_t size[TOPOLOGY_DIMENSIONS];
    uint32_t routes, returns;
    uint32_t legs[TOPOLOGY_DIMENSIONS];  /* bit c: connection c fits all legs along the dimension */
    uint32_t rules[TOPOLOGY_DIMENSIONS]; /* bit t: rule t fits all ties, if it is a ring */
    uint32_t before[TOPOLOGY_DIMENSIONS]
                   [TOPOLOGY_DIMENSIONS]; /* routes; of the first and the second */
    uint32_t open[TOPOLOGY_DIMENSIONS]; /* bit c: some way of linking that fits has connection c */
    uint32_t
        *ways; /* owned; those that fit all hop counts: two bits a dimension. NULL: no count yet */
    uint32_t way_count;
};

int topology_infer_create(struct topology_infer **out, uint32_t dimensions, const uint32_t *size)
{
    uint64_t nodes = 1;
    if (dimensions == 0 || dimensions > TOPOLOGY_DIMENSIONS)
        return -HOLTER_ERANGE;
    for (uint32_t d = 0; d < dimensions; d++) {
        nodes *= size[d];
        if (nodes == 0 || nodes > TOPOLOGY_MAX_VERTICES)
            return -HOLTER_ERANGE;
    }
    struct topology_infer *infer = calloc(1, sizeof *infer);
    if (!infer)
        return -ENOMEM;
    infer->dimensions = dimensions;
    for (uint32_t d = 0; d < dimensions; d++) {
        infer->size[d] = size[d];
        infer->legs[d] = infer->rules[d] = (1u << WAYS) - 1;
    }
    *out = infer;
    return 0;
}

void topology_infer_destroy(struct topology_infer *infer)
{
    if (infer)
        free(infer->ways);
    free(infer);
}

static int infer_in_range(const struct topology_infer *infer, const uint32_t *at)
{
    for (uint32_t d = 0; d < infer->dimensions; d++)
        if (at[d] >= infer->size[d])
            return 0;
    return 1;
}

/* The only dimension in which two vertices differ; the number of dimensions: none or several. */
static uint32_t infer_hop_dimension(const struct topology_infer *infer, const uint32_t *a,
                                    const uint32_t *b)
{
    uint32_t found = infer->dimensions;
    for (uint32_t d = 0; d < infer->dimensions; d++)
        if (a[d] != b[d]) {
            if (found < infer->dimensions)
                return infer->dimensions;
            found = d;
        }
    return found;
}

static uint32_t infer_coordinate_distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static uint32_t infer_leg_length(uint32_t size, enum topology_connection connection, uint32_t a,
                                 uint32_t b)
{
    uint32_t straight = infer_coordinate_distance(a, b);
    if (connection == TOPOLOGY_ALL)
        return straight > 0;
    if (connection == TOPOLOGY_MESH)
        return straight;
    return straight < size - straight ? straight : size - straight;
}

/* Successive hops along one dimension. */
struct leg {
    uint32_t dimension, from, to, hops;
    uint32_t up, down; /* by one, also across the end */
    uint32_t round;    /* from one end to the other */
};

static void infer_add_hop(const struct topology_infer *infer, struct leg *leg, uint32_t a,
                          uint32_t b)
{
    uint32_t size = infer->size[leg->dimension];
    leg->hops++;
    leg->to = b;
    leg->up += b == (a + 1 < size ? a + 1 : 0);
    leg->down += a == (b + 1 < size ? b + 1 : 0);
    leg->round += size > 2 && infer_coordinate_distance(a, b) == size - 1;
}

static void infer_add_leg(struct topology_infer *infer, const struct leg *leg)
{
    uint32_t d = leg->dimension, size = infer->size[d], fits = 0;
    int steady = leg->up == leg->hops || leg->down == leg->hops;
    if (leg->hops == infer_leg_length(size, TOPOLOGY_ALL, leg->from, leg->to))
        fits |= 1u << TOPOLOGY_ALL;
    if (leg->hops == infer_leg_length(size, TOPOLOGY_MESH, leg->from, leg->to) && steady &&
        !leg->round)
        fits |= 1u << TOPOLOGY_MESH;
    if (leg->hops == infer_leg_length(size, TOPOLOGY_TORUS, leg->from, leg->to) && steady)
        fits |= 1u << TOPOLOGY_TORUS;
    infer->legs[d] &= fits;
    if (!(fits & 1u << TOPOLOGY_TORUS) || size <= 2 || 2 * leg->hops != size)
        return;
    int up = leg->up == leg->hops;
    infer->rules[d] &= (up ? 1u << TOPOLOGY_TIE_PLUS : 1u << TOPOLOGY_TIE_MINUS) |
                       (up == (leg->from % 2 == 0) ? 1u << TOPOLOGY_TIE_PARITY : 0);
}

int topology_infer_route(struct topology_infer *infer, const uint32_t *coordinates,
                         uint32_t vertices)
{
    uint32_t count = infer->dimensions;
    for (uint32_t i = 0; i < vertices; i++)
        if (!infer_in_range(infer, coordinates + (size_t)i * count) ||
            (i > 0 && infer_hop_dimension(infer, coordinates + (size_t)(i - 1) * count,
                                          coordinates + (size_t)i * count) == count))
            return -HOLTER_ERANGE;
    struct leg leg = {.dimension = count};
    uint32_t seen = 0;
    for (uint32_t i = 1; i < vertices; i++) {
        const uint32_t *a = coordinates + (size_t)(i - 1) * count, *b = a + count;
        uint32_t d = infer_hop_dimension(infer, a, b);
        if (d != leg.dimension) {
            if (leg.dimension < count)
                infer_add_leg(infer, &leg);
            infer->returns += (seen >> d) & 1;
            for (uint32_t other = 0; other < count; other++)
                if (other != d && (seen >> other) & 1)
                    infer->before[other][d]++;
            seen |= 1u << d;
            leg = (struct leg){.dimension = d, .from = a[d]};
        }
        infer_add_hop(infer, &leg, a[d], b[d]);
    }
    if (leg.dimension < count)
        infer_add_leg(infer, &leg);
    infer->routes++;
    return 0;
}

/* Number of connections that differ in hop counts. */
static uint32_t infer_count_choices(uint32_t size, int with_all)
{
    if (size <= 2)
        return 1u << TOPOLOGY_TORUS;
    return 1u << TOPOLOGY_TORUS | 1u << TOPOLOGY_MESH |
           (size > 3 && with_all ? 1u << TOPOLOGY_ALL : 0);
}

static enum topology_connection infer_connection_of(uint32_t way, uint32_t d)
{
    return way >> 2 * d & 3;
}

static int infer_list_ways(struct topology_infer *infer)
{
    uint64_t all = 1;
    for (uint32_t d = 0; d < infer->dimensions; d++)
        all *= infer->size[d] <= 2 ? 1 : infer->size[d] == 3 ? 2 : 3;
    int with_all =
        all <= MAXIMUM_WAYS; /* too many dimensions: rings and lines, 4096 ways at most */
    infer->ways = malloc(MAXIMUM_WAYS * sizeof *infer->ways);
    if (!infer->ways)
        return -ENOMEM;
    infer->ways[0] = 0;
    infer->way_count = 1;
    for (uint32_t d = 0; d < infer->dimensions; d++) {
        uint32_t had = infer->way_count;
        infer->open[d] = infer_count_choices(infer->size[d], with_all);
        for (uint32_t c = 1; c < WAYS; c++)
            for (uint32_t w = 0; infer->open[d] >> c & 1 && w < had; w++)
                infer->ways[infer->way_count++] = infer->ways[w] | c << 2 * d;
    }
    return 0;
}

static void infer_keep_ways(struct topology_infer *infer, const uint32_t length[][WAYS],
                            uint32_t hops)
{
    uint32_t kept = 0;
    memset(infer->open, 0, sizeof infer->open);
    for (uint32_t w = 0; w < infer->way_count; w++) {
        uint32_t way = infer->ways[w], sum = 0;
        for (uint32_t d = 0; d < infer->dimensions; d++)
            sum += length[d][infer_connection_of(way, d)];
        if (sum != hops)
            continue;
        infer->ways[kept++] = way;
        for (uint32_t d = 0; d < infer->dimensions; d++)
            infer->open[d] |= 1u << infer_connection_of(way, d);
    }
    infer->way_count = kept;
}

int topology_infer_hops(struct topology_infer *infer, const uint32_t *source,
                        const uint32_t *destination, uint32_t hops)
{
    uint32_t length[TOPOLOGY_DIMENSIONS][WAYS], minimum = 0, maximum = 0;
    if (!infer_in_range(infer, source) || !infer_in_range(infer, destination))
        return -HOLTER_ERANGE;
    if (!infer->ways && infer_list_ways(infer) != 0)
        return -ENOMEM;
    for (uint32_t d = 0; d < infer->dimensions; d++) {
        uint32_t low = UINT32_MAX, high = 0;
        for (uint32_t c = 0; c < WAYS; c++) {
            uint32_t one = infer_leg_length(infer->size[d], c, source[d], destination[d]);
            length[d][c] = one;
            if (!(infer->open[d] >> c & 1))
                continue;
            low = one < low ? one : low;
            high = one > high ? one : high;
        }
        minimum += low == UINT32_MAX ? 0 : low;
        maximum += high;
    }
    if (minimum != maximum || minimum != hops)
        infer_keep_ways(infer, (const uint32_t(*)[WAYS])length, hops);
    return 0;
}

/* Preference of a way of linking: that of the caller, then rings, then lines. */
static uint32_t infer_preference(const struct topology_spec *spec, uint32_t way)
{
    uint32_t sum = 0;
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        enum topology_connection connection = infer_connection_of(way, d);
        sum += connection == spec->dimensions[d].connection ? 64 : 2 - (uint32_t)connection;
    }
    return sum;
}

/* Connections along one dimension that are equivalent to this one: of size 2 all are, of size 3
 * rings and all-to-all. */
static uint32_t infer_counts_equal(uint32_t size, enum topology_connection connection)
{
    if (size <= 2)
        return (1u << WAYS) - 1;
    if (size == 3 && connection != TOPOLOGY_MESH)
        return 1u << TOPOLOGY_TORUS | 1u << TOPOLOGY_ALL;
    return 1u << connection;
}

static int infer_fits_legs(const struct topology_infer *infer, uint32_t way)
{
    for (uint32_t d = 0; d < infer->dimensions; d++)
        if (!(infer->legs[d] & infer_counts_equal(infer->size[d], infer_connection_of(way, d))))
            return 0;
    return 1;
}

static int infer_decide_by_counts(const struct topology_infer *infer, struct topology_spec *spec,
                                  const struct refusal *why)
{
    uint32_t best = 0, any = 0;
    for (uint32_t w = 0; w < infer->way_count; w++) {
        uint32_t way = infer->ways[w];
        if (!infer_fits_legs(infer, way))
            continue;
        if (!any || infer_preference(spec, way) > infer_preference(spec, best))
            best = way;
        any = 1;
    }
    if (!any)
        return refusal_set(why, "no way of linking these dimensions fits all hop counts%s",
                           infer->routes ? " and routes" : "");
    for (uint32_t d = 0; d < infer->dimensions; d++) {
        enum topology_connection connection = infer_connection_of(best, d);
        if (!(infer_counts_equal(infer->size[d], connection) &
              1u << spec->dimensions[d].connection))
            spec->dimensions[d].connection = connection;
    }
    return 0;
}

static int infer_decide_by_legs(const struct topology_infer *infer, struct topology_spec *spec,
                                const struct refusal *why)
{
    for (uint32_t d = 0; d < infer->dimensions; d++) {
        struct topology_dimension *dimension = &spec->dimensions[d];
        uint32_t legs = infer->legs[d], c = 0;
        if (legs == 0)
            return refusal_set(why, "dimension %u is no ring, no line and not all to all", d + 1);
        while (!(legs >> c & 1))
            c++;
        if (!(legs >> dimension->connection & 1))
            dimension->connection = c;
    }
    return 0;
}

static int infer_decide_tie(const struct topology_infer *infer, struct topology_spec *spec,
                            const struct refusal *why)
{
    uint32_t rules = (1u << WAYS) - 1, t = 0;
    for (uint32_t d = 0; d < infer->dimensions; d++)
        if (spec->dimensions[d].connection == TOPOLOGY_TORUS)
            rules &= infer->rules[d];
    if (rules == 0)
        return refusal_set(why, "half way round a ring routes follow no known rule");
    while (!(rules >> t & 1))
        t++;
    if (!(rules >> spec->tie & 1))
        spec->tie = t;
    return 0;
}

/* Of the dimensions that no other one has to precede, the first by default comes next. */
static int infer_decide_order(const struct topology_infer *infer, struct topology_spec *spec,
                              const struct refusal *why)
{
    uint32_t count = infer->dimensions, done = 0, step[TOPOLOGY_DIMENSIONS];
    if (infer->returns)
        return refusal_set(why, "%u routes come back to a dimension", infer->returns);
    for (uint32_t s = 0; s < count; s++) {
        uint32_t best = count;
        for (uint32_t d = 0; d < count; d++) {
            int free_to_go = !(done >> d & 1);
            for (uint32_t other = 0; other < count; other++)
                free_to_go &= other == d || done >> other & 1 || !infer->before[other][d];
            if (free_to_go &&
                (best == count || spec->dimensions[d].step < spec->dimensions[best].step))
                best = d;
        }
        if (best == count)
            return refusal_set(why, "routes correct their dimensions in different orders");
        step[best] = s;
        done |= 1u << best;
    }
    for (uint32_t d = 0; d < count; d++)
        spec->dimensions[d].step = step[d];
    return 0;
}

static int infer_check_sizes(const struct topology_infer *infer, const struct topology_spec *spec)
{
    if (spec->kind != TOPOLOGY_CARTESIAN || spec->dimension_count != infer->dimensions)
        return -1;
    for (uint32_t d = 0; d < infer->dimensions; d++)
        if (spec->dimensions[d].size != infer->size[d] ||
            (uint32_t)spec->dimensions[d].connection > TOPOLOGY_ALL)
            return -1;
    return (uint32_t)spec->tie > TOPOLOGY_TIE_MINUS ? -1 : 0;
}

int topology_infer_finish(const struct topology_infer *infer, struct topology_spec *spec, char *why,
                          size_t capacity)
{
    struct refusal reason = {why, capacity};
    if (infer_check_sizes(infer, spec) != 0)
        return refusal_set(&reason, "the network has other dimensions than the recording");
    struct topology_spec result = *spec;
    int error = infer->ways ? infer_decide_by_counts(infer, &result, &reason)
                            : infer_decide_by_legs(infer, &result, &reason);
    if (!error)
        error = infer_decide_tie(infer, &result, &reason);
    if (error)
        return error;
    for (uint32_t d = 0; d < infer->dimensions; d++)
        if (result.dimensions[d].connection != spec->dimensions[d].connection) {
            topology_spec_order(&result);
            break;
        }
    error = infer_decide_order(infer, &result, &reason);
    if (error)
        return error;
    *spec = result;
    return 0;
}

int topology_partition(struct topology_spec *out, uint32_t nodes, int *guessed)
{
    static const struct {
        uint32_t size[5];
        int guessed;
    } shapes[] = {
        {{1, 2, 2, 2, 2}, 1},  {{2, 2, 2, 2, 2}, 0},   {{2, 2, 4, 2, 2}, 0}, {{2, 2, 4, 4, 2}, 0},
        {{4, 2, 4, 4, 2}, 0},  {{4, 4, 4, 4, 2}, 0},   {{4, 4, 4, 8, 2}, 0}, {{4, 4, 4, 16, 2}, 0},
        {{4, 4, 8, 16, 2}, 1}, {{4, 4, 16, 16, 2}, 1},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const uint32_t *size = shapes[s].size;
        if (size[0] * size[1] * size[2] * size[3] * size[4] != nodes)
            continue;
        memset(out, 0, sizeof *out);
        out->dimension_count = 5;
        for (uint32_t d = 0; d < 5; d++) {
            out->dimensions[d].name[0] = (char)('A' + (int)d);
            out->dimensions[d].size = size[d];
            out->dimensions[d].connection =
                nodes == 1024 && d == 3 ? TOPOLOGY_MESH : TOPOLOGY_TORUS;
        }
        topology_spec_order(out);
        *guessed = shapes[s].guessed;
        return 0;
    }
    return -HOLTER_ERANGE;
}
