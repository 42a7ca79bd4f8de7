/* Process correlation of graphs, for the tests of regions. */
#ifndef TESTS_DAEMON_ANALYSIS_REGIONS_CORRELATED_H
#define TESTS_DAEMON_ANALYSIS_REGIONS_CORRELATED_H

#include "daemon/analysis/regions/correlation.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/** R(p,q); 0 for p = q and for vertices without edges. */
static inline double correlation_value(const struct correlation *c, uint32_t p, uint32_t q)
{
    uint32_t count;
    const struct correlate *row = correlation_row(c, p, &count);
    for (uint32_t i = 0; i < count; i++)
        if (row[i].vertex == q)
            return (double)row[i].weight / CORRELATION_ONE;
    return 0;
}

/** Of all edges of a graph, without a hub. */
static inline struct correlation *correlate(const struct matrix *m)
{
    struct correlation *correlation;
    const struct correlation_params params = {m->vertices, UINT32_MAX, 1u << 20};
    assert_int_equal(correlation_create(&correlation, &params), 0);
    for (uint32_t a = 0; a < m->vertices; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_equal(correlation_edge(correlation, a, b, matrix_get(m, a, b)), 0);
    assert_int_equal(correlation_update(correlation), 0);
    return correlation;
}

#endif
