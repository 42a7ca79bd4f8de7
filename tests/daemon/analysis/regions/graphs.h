/* Graphs for the tests and benchmarks of regions. */
#ifndef TESTS_DAEMON_ANALYSIS_REGIONS_GRAPHS_H
#define TESTS_DAEMON_ANALYSIS_REGIONS_GRAPHS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/** cmocka's own compares as float. */
#define ASSERT_NEAR(value, expected, most) assert_true(fabs((value) - (expected)) <= (most))

/** The example of PCLVis, Table 1, its processes from 1 up. */
static const uint32_t table_1_edges[11][2] = {{1, 2}, {1, 3}, {1, 4}, {2, 3}, {3, 4}, {3, 7},
                                              {4, 5}, {5, 6}, {5, 7}, {6, 7}, {7, 8}};

/** A random number (Knuth's MMIX generator, its upper half). */
static inline uint32_t random_next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 32);
}

/** An adjacency matrix. */
struct matrix {
    uint32_t vertices;
    bool *edge; /**< owned; edge[a * vertices + b], symmetric */
};

static inline struct matrix matrix_create(uint32_t vertices)
{
    return (struct matrix){.vertices = vertices,
                           .edge = calloc((size_t)vertices * vertices, sizeof(bool))};
}

static inline bool matrix_get(const struct matrix *m, uint32_t a, uint32_t b)
{
    return m->edge[(size_t)a * m->vertices + b];
}

static inline void matrix_set(struct matrix *m, uint32_t a, uint32_t b, bool present)
{
    m->edge[(size_t)a * m->vertices + b] = m->edge[(size_t)b * m->vertices + a] = present;
}

/** A box of side^3 vertices, each joined to up to 26 around it; x fastest. */
static inline struct matrix matrix_stencil(uint32_t side)
{
    struct matrix m = matrix_create(side * side * side);
    for (uint32_t a = 0; a < m.vertices; a++)
        for (uint32_t b = 0; b < a; b++) {
            int dx = abs((int)(a % side) - (int)(b % side));
            int dy = abs((int)(a / side % side) - (int)(b / side % side));
            int dz = abs((int)(a / side / side) - (int)(b / side / side));
            if (dx <= 1 && dy <= 1 && dz <= 1)
                matrix_set(&m, a, b, true);
        }
    return m;
}

#endif
