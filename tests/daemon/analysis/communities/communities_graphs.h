/* Weighted graphs of communication patterns, for the test and benchmark of communities. */
#ifndef TESTS_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITIES_GRAPHS_H
#define TESTS_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITIES_GRAPHS_H

#include "daemon/analysis/communities/communities.h"
#include "tests/daemon/analysis/regions/graphs.h"

/** Zeros are a graph without vertices. */
struct edges {
    uint32_t vertices;
    struct communities_edge *edge; /**< owned */
    size_t count, room;
};

static inline void edges_finish(struct edges *e)
{
    free(e->edge);
}

static inline void edges_add(struct edges *e, uint32_t a, uint32_t b, double weight)
{
    if (e->count == e->room) {
        e->room = e->room == 0 ? 1024 : 2 * e->room;
        e->edge = realloc(e->edge, e->room * sizeof(*e->edge));
        if (e->edge == NULL)
            abort();
    }
    e->edge[e->count++] = (struct communities_edge){a, b, weight};
}

/** A box of x * y * z ranks, with corners of up to 26 partners: most bytes through faces, least
 *  through corners. Without, up to six. */
static inline struct edges edges_halo(uint32_t x, uint32_t y, uint32_t z, bool corners)
{
    struct edges e = {.vertices = x * y * z};
    static const double bytes[] = {0, 4096, 64, 1};
    for (uint32_t a = 0; a < e.vertices; a++)
        for (int step = 14; step < 27; step++) {
            int dx = step % 3 - 1, dy = step / 3 % 3 - 1, dz = step / 9 - 1;
            int bx = (int)(a % x) + dx, by = (int)(a / x % y) + dy, bz = (int)(a / x / y) + dz;
            int away = abs(dx) + abs(dy) + abs(dz);
            if (bx < 0 || by < 0 || bz < 0 || bx >= (int)x || by >= (int)y || bz >= (int)z ||
                (!corners && away > 1))
                continue;
            edges_add(&e, a, (uint32_t)bx + x * ((uint32_t)by + y * (uint32_t)bz), bytes[away]);
        }
    return e;
}

/** Groups of `factor` ranks, groups of these and so on; each stage with `less` of the bytes. Factor
 *  2: binary swap; 0: two or three, 2-3 swap in its outline. */
static inline struct edges edges_swap(uint32_t vertices, uint32_t factor, double less)
{
    struct edges e = {.vertices = vertices};
    double bytes = 1 << 24;
    for (uint32_t stride = 1, by = factor; stride < vertices; stride *= by, bytes *= less) {
        by = factor == 0 ? 2 + stride % 2 : factor;
        for (uint32_t a = 0; a < vertices; a++)
            for (uint32_t i = a / stride % by + 1; i < by; i++)
                if (a + (i - a / stride % by) * stride < vertices)
                    edges_add(&e, a, a + (i - a / stride % by) * stride, bytes);
    }
    return e;
}

/** All to all within rows and columns. @param row  weight of an edge in a row; in columns 1 */
static inline struct edges edges_transpose(uint32_t rows, uint32_t columns, double row)
{
    struct edges e = {.vertices = rows * columns};
    for (uint32_t a = 0; a < e.vertices; a++)
        for (uint32_t b = a + 1; b < e.vertices; b++)
            if (a / columns == b / columns || a % columns == b % columns)
                edges_add(&e, a, b, a / columns == b / columns ? row : 1);
    return e;
}

/** At random, mostly between ranks that are equal modulo groups. */
static inline struct edges edges_scatter(uint32_t vertices, size_t count, uint32_t groups,
                                         uint64_t random)
{
    struct edges e = {.vertices = vertices};
    while (e.count < count) {
        uint32_t a = random_next(&random) % vertices, b = random_next(&random) % vertices;
        if (a != b && (a % groups == b % groups || random_next(&random) % (10 * groups) == 0))
            edges_add(&e, a, b, 2 + random_next(&random) % 1000);
    }
    return e;
}

/** Cliques of `size`, each joined to the next by one edge; two by one edge in all. */
static inline struct edges edges_ring_of_cliques(uint32_t cliques, uint32_t size)
{
    struct edges e = {.vertices = cliques * size};
    for (uint32_t a = 0; a < e.vertices; a++)
        for (uint32_t b = a + 1; b < e.vertices && b / size == a / size; b++)
            edges_add(&e, a, b, 1);
    for (uint32_t i = 0; i < (cliques == 2 ? 1 : cliques); i++)
        edges_add(&e, i * size + size - 1, (i + 1) % cliques * size, 1);
    return e;
}

/** One edge in `of` differs: half of these are left out, half have twice the weight. */
static inline struct edges edges_change(const struct edges *whole, uint32_t of, uint64_t *random)
{
    struct edges e = {.vertices = whole->vertices};
    for (size_t i = 0; i < whole->count; i++) {
        const struct communities_edge *from = &whole->edge[i];
        uint32_t dice = random_next(random) % (2 * of);
        if (dice > 0)
            edges_add(&e, from->a, from->b, dice == 1 ? 2 * from->weight : from->weight);
    }
    return e;
}

#endif
