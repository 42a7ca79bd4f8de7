/* Process correlation against the example of PCLVis and against a plain matrix. */
#include "holter/error.h"
#include "tests/daemon/analysis/regions/correlated.h"

static struct correlation *create(uint32_t vertices, uint32_t hub, uint64_t pairs)
{
    struct correlation *correlation;
    const struct correlation_params params = {vertices, hub, pairs};
    assert_int_equal(correlation_create(&correlation, &params), 0);
    return correlation;
}

static void tell(struct correlation *correlation, const struct matrix *m)
{
    for (uint32_t a = 0; a < m->vertices; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_equal(correlation_edge(correlation, a, b, matrix_get(m, a, b)), 0);
}

static uint32_t degree(const struct matrix *m, uint32_t v)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->vertices; i++)
        count += matrix_get(m, v, i);
    return count;
}

/* 36 times the definition: every simple path of up to three edges, one after the other. */
static uint32_t by_paths(const struct matrix *m, uint32_t p, uint32_t q, uint32_t hub)
{
    uint32_t weight = matrix_get(m, p, q) ? 36 : 0;
    for (uint32_t x = 0; x < m->vertices; x++) {
        if (x == p || x == q || !matrix_get(m, p, x) || degree(m, x) > hub)
            continue;
        weight += matrix_get(m, x, q) ? 9 : 0;
        for (uint32_t y = 0; y < m->vertices; y++)
            if (y != p && y != q && y != x && matrix_get(m, x, y) && matrix_get(m, y, q) &&
                degree(m, y) <= hub)
                weight += 4;
    }
    return weight;
}

static uint32_t weight_of(const struct correlation *correlation, uint32_t p, uint32_t q)
{
    uint32_t count;
    const struct correlate *row = correlation_row(correlation, p, &count);
    for (uint32_t i = 0; i < count; i++)
        if (row[i].vertex == q)
            return row[i].weight;
    return 0;
}

static void assert_is_by_paths(const struct correlation *correlation, const struct matrix *m,
                               uint32_t hub)
{
    for (uint32_t p = 0; p < m->vertices; p++)
        for (uint32_t q = 0; q < m->vertices; q++)
            assert_int_equal(weight_of(correlation, p, q), p == q ? 0 : by_paths(m, p, q, hub));
}

static void the_paper_s_table_1_is_reproduced(void **state)
{
    static const struct {
        uint32_t p, q;
        double r;
    } table[] = {
        {1, 2, 1.36}, {1, 3, 1.5},  {1, 4, 1.36}, {1, 5, .47}, {1, 6, .22},  {1, 7, .58},
        {1, 8, .11},  {2, 3, 1.36}, {2, 4, .72},  {2, 5, .33}, {2, 6, .11},  {2, 7, .36},
        {2, 8, .11},  {3, 4, 1.47}, {3, 5, .72},  {3, 6, .47}, {3, 7, 1.11}, {3, 8, .25},
        {4, 5, 1.11}, {4, 6, .47},  {4, 7, .72},  {4, 8, .22}, {5, 6, 1.25}, {5, 7, 1.36},
        {5, 8, .36},  {6, 7, 1.25}, {6, 8, .36},  {7, 8, 1},
    };
    struct correlation *correlation = create(9, UINT32_MAX, 100);
    (void)state;
    for (size_t i = 0; i < 11; i++)
        assert_int_equal(
            correlation_edge(correlation, table_1_edges[i][0], table_1_edges[i][1], true), 0);
    assert_int_equal(correlation_update(correlation), 0);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        double r = correlation_value(correlation, table[i].p, table[i].q);
        ASSERT_NEAR(r, table[i].r, 0.0051);
        ASSERT_NEAR(correlation_value(correlation, table[i].q, table[i].p), r, 0);
    }
    ASSERT_NEAR(correlation_value(correlation, 1, 2), 49 / 36., 1e-15);
    ASSERT_NEAR(correlation_value(correlation, 3, 4), 53 / 36., 1e-15);
    ASSERT_NEAR(correlation_value(correlation, 4, 8), 8 / 36., 1e-15);
    ASSERT_NEAR(correlation_value(correlation, 1, 1), 0, 0);
    ASSERT_NEAR(correlation_value(correlation, 0, 1), 0, 0);
    correlation_destroy(correlation);
}

static void rows_are_the_sum_over_paths_after_every_change(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        uint32_t hub = round % 3 == 0 ? UINT32_MAX : 3 + round;
        struct matrix m = matrix_create(24);
        struct correlation *correlation = create(24, hub, 24 * 24);
        for (uint32_t update = 0; update < 12; update++) {
            for (uint32_t i = 0; i < (update == 0 ? 80u : 6u); i++) {
                uint32_t a = random_next(&random) % 24, b = random_next(&random) % 24;
                if (a == b)
                    continue;
                matrix_set(&m, a, b, !matrix_get(&m, a, b));
                assert_int_equal(correlation_edge(correlation, a, b, matrix_get(&m, a, b)), 0);
            }
            assert_int_equal(correlation_update(correlation), 0);
            correlation_clear_changes(correlation);
            assert_is_by_paths(correlation, &m, hub);
        }
        correlation_destroy(correlation);
        free(m.edge);
    }
}

static void telling_what_is_known_changes_nothing(void **state)
{
    struct correlation *correlation = create(10, UINT32_MAX, 100);
    (void)state;
    assert_int_equal(correlation_edge(correlation, 2, 2, true), 0);
    assert_int_equal(correlation_edge(correlation, 2, 3, false), 0);
    assert_false(correlation_changed(correlation));
    assert_int_equal(correlation_edge(correlation, 2, 3, true), 0);
    assert_int_equal(correlation_update(correlation), 0);
    assert_true(correlation_touched(correlation, 3));
    correlation_clear_changes(correlation);
    assert_int_equal(correlation_edge(correlation, 3, 2, true), 0);
    assert_false(correlation_changed(correlation));
    assert_false(correlation_touched(correlation, 3));
    correlation_destroy(correlation);
}

static void what_is_beyond_the_bounds_is_refused(void **state)
{
    struct correlation *correlation;
    (void)state;
    assert_int_equal(correlation_create(&correlation, &(struct correlation_params){65537, 8, 9}),
                     -HOLTER_ERANGE);
    assert_int_equal(
        correlation_create(&correlation, &(struct correlation_params){65536, UINT32_MAX, 9}),
        -HOLTER_ERANGE);
    assert_int_equal(
        correlation_create(&correlation, &(struct correlation_params){9, 9, (1u << 26) + 1}),
        -HOLTER_ERANGE);
    correlation = create(4, UINT32_MAX, 100);
    assert_int_equal(correlation_edge(correlation, 0, 4, true), -HOLTER_ERANGE);
    assert_int_equal(correlation_edge(correlation, UINT32_MAX, 0, true), -HOLTER_ERANGE);
    assert_int_equal(correlation_edge(correlation, 0, 3, true), 0);
    correlation_destroy(correlation);
}

static void too_many_pairs_are_refused_until_edges_go(void **state)
{
    struct matrix m = matrix_create(8);
    struct correlation *correlation = create(8, UINT32_MAX, 20);
    (void)state;
    for (uint32_t v = 1; v < 8; v++)
        matrix_set(&m, 0, v, true);
    tell(correlation, &m);
    assert_int_equal(correlation_update(correlation), -HOLTER_ELIMIT);
    assert_int_equal(correlation_update(correlation), -HOLTER_ELIMIT);
    for (uint32_t v = 4; v < 8; v++)
        matrix_set(&m, 0, v, false);
    tell(correlation, &m);
    assert_int_equal(correlation_update(correlation), 0);
    assert_is_by_paths(correlation, &m, UINT32_MAX);
    correlation_destroy(correlation);
    free(m.edge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paper_s_table_1_is_reproduced),
        cmocka_unit_test(rows_are_the_sum_over_paths_after_every_change),
        cmocka_unit_test(telling_what_is_known_changes_nothing),
        cmocka_unit_test(what_is_beyond_the_bounds_is_refused),
        cmocka_unit_test(too_many_pairs_are_refused_until_edges_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
