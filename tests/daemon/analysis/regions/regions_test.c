/* Communication regions: partitions against a batch, and identities over time. */
#include "daemon/analysis/regions/regions.h"

#include "holter/error.h"
#include "tests/daemon/analysis/regions/correlated.h"
#include "tests/memory.h"

static struct regions *create(struct regions_params params)
{
    struct regions *regions;
    assert_int_equal(regions_create(&regions, &params), 0);
    return regions;
}

static void tell(struct regions *regions, const struct matrix *m)
{
    for (uint32_t a = 0; a < m->vertices; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_equal(regions_edge(regions, a, b, matrix_get(m, a, b)), 0);
}

static void update(struct regions *regions, uint64_t window, int expected)
{
    int changed;
    assert_int_equal(regions_update(regions, window, &changed), 0);
    assert_int_equal(changed, expected);
}

/* As many groups of 6, each complete, the ends of neighbouring ones joined by an edge. */
static struct matrix chain_of_groups(uint32_t groups)
{
    struct matrix m = matrix_create(6 * groups);
    for (uint32_t a = 0; a < m.vertices; a++)
        for (uint32_t b = 0; b < a; b++)
            if (a / 6 == b / 6 || (a % 6 == 0 && a - b == 1))
                matrix_set(&m, a, b, true);
    return m;
}

static void assert_same_partition(const struct regions *one, const struct regions *other,
                                  uint32_t vertices)
{
    for (uint32_t v = 0; v < vertices; v++) {
        assert_int_equal(regions_of(one, v) == 0, regions_of(other, v) == 0);
        for (uint32_t u = 0; u < v; u++)
            assert_int_equal(regions_of(one, v) == regions_of(one, u),
                             regions_of(other, v) == regions_of(other, u));
    }
}

static void the_paper_s_example_has_its_two_regions(void **state)
{
    struct regions *regions = create(REGIONS_DEFAULTS);
    struct region_info info[3];
    (void)state;
    for (size_t i = 0; i < 11; i++)
        assert_int_equal(regions_edge(regions, table_1_edges[i][0], table_1_edges[i][1], 1), 0);
    update(regions, 17, 1);
    for (uint32_t v = 1; v <= 8; v++)
        assert_int_equal(regions_of(regions, v), v <= 4 ? 1 : 2);
    assert_int_equal(regions_of(regions, 0), 0);
    assert_int_equal(regions_of(regions, 9), 0);
    assert_int_equal(regions_list(regions, info, 3), 2);
    assert_int_equal(info[1].id, 2);
    assert_int_equal(info[1].vertices, 4);
    assert_int_equal(info[1].since, 17);
    regions_destroy(regions);
}

/* Whatever came before: same edges, same result, wherever the hierarchy is cut. */
static void without_hold_streaming_equals_batch(void **state)
{
    static const double thresholds[] = {0.1, 0.3, 0.5, 1};
    struct regions_params params = REGIONS_DEFAULTS;
    uint64_t random = 31;
    (void)state;
    params.hold = 0;
    for (uint32_t round = 0; round < 8; round++) {
        params.threshold = thresholds[round / 2];
        struct matrix m = round % 2 == 0 ? matrix_stencil(4) : chain_of_groups(10);
        struct regions *streaming = create(params);
        for (uint32_t window = 0; window < 20; window++) {
            for (uint32_t i = 0; i < 5; i++) {
                uint32_t a = random_next(&random) % m.vertices;
                uint32_t b = random_next(&random) % m.vertices;
                if (a != b)
                    matrix_set(&m, a, b, !matrix_get(&m, a, b));
            }
            tell(streaming, &m);
            assert_int_equal(regions_update(streaming, window, NULL), 0);
            struct regions *batch = create(params);
            tell(batch, &m);
            assert_int_equal(regions_update(batch, window, NULL), 0);
            assert_same_partition(streaming, batch, m.vertices);
            regions_destroy(batch);
        }
        regions_destroy(streaming);
        free(m.edge);
    }
}

static void the_order_of_edges_does_not_matter(void **state)
{
    struct matrix m = chain_of_groups(8);
    struct regions *one = create(REGIONS_DEFAULTS), *other = create(REGIONS_DEFAULTS);
    (void)state;
    for (uint32_t window = 0; window < 4; window++) {
        for (uint32_t i = 0; i < 5; i++)
            matrix_set(&m, 7 * window + i, 11 * window + 6 + i,
                       !matrix_get(&m, 7 * window + i, 11 * window + 6 + i));
        for (uint32_t a = m.vertices; a-- > 0;)
            for (uint32_t b = m.vertices; b-- > 0;)
                assert_int_equal(regions_edge(one, a, b, matrix_get(&m, a, b)), 0);
        tell(other, &m);
        assert_int_equal(regions_update(one, window, NULL), 0);
        assert_int_equal(regions_update(other, window, NULL), 0);
        for (uint32_t v = 0; v < m.vertices; v++)
            assert_int_equal(regions_of(one, v), regions_of(other, v));
    }
    regions_destroy(one);
    regions_destroy(other);
    free(m.edge);
}

static void a_component_without_a_changed_edge_stays_as_it_is(void **state)
{
    struct matrix m = matrix_create(40);
    struct regions *regions = create(REGIONS_DEFAULTS);
    (void)state;
    for (uint32_t v = 1; v < 40; v++)
        if (v != 20) /* two chains */
            matrix_set(&m, v - 1, v, true);
    tell(regions, &m);
    update(regions, 1, 1);
    update(regions, 2, 0);
    uint32_t before[40];
    for (uint32_t v = 0; v < 40; v++)
        before[v] = regions_of(regions, v);
    for (uint32_t v = 0; v < 20; v++)
        matrix_set(&m, v, v == 19 ? 0 : v + 1, v % 2 == 1); /* the first falls apart otherwise */
    tell(regions, &m);
    update(regions, 3, 1);
    for (uint32_t v = 20; v < 40; v++)
        assert_int_equal(regions_of(regions, v), before[v]);
    regions_destroy(regions);
    free(m.edge);
}

static void a_region_keeps_its_id_while_ranks_come_and_go(void **state)
{
    struct matrix m = chain_of_groups(4);
    struct regions *regions = create(REGIONS_DEFAULTS);
    struct region_info info[8];
    (void)state;
    tell(regions, &m);
    update(regions, 5, 1);
    assert_int_equal(regions_list(regions, info, 8), 4);
    uint32_t third = regions_of(regions, 14), fourth = regions_of(regions, 20);
    for (uint32_t v = 0; v < 24; v++) /* 17 talks to the fourth from now on */
        if (v != 17)
            matrix_set(&m, 17, v, v >= 18);
    for (uint32_t v = 0; v < 6; v++) /* the first group falls silent */
        for (uint32_t u = 0; u < 24; u++)
            if (u != v)
                matrix_set(&m, v, u, false);
    tell(regions, &m);
    update(regions, 6, 1);
    assert_int_equal(regions_of(regions, 0), 0);
    assert_int_equal(regions_of(regions, 14), third);
    assert_int_equal(regions_of(regions, 17), fourth);
    assert_int_equal(regions_list(regions, info, 8), 3);
    assert_int_equal(info[2].vertices, 7);
    assert_int_equal(info[2].since, 5);
    struct matrix whole = chain_of_groups(4);
    tell(regions, &whole);
    update(regions, 7, 1);
    assert_int_equal(regions_of(regions, 0), 5); /* a new one: ids are not given twice */
    assert_int_equal(regions_list(regions, info, 8), 4);
    assert_int_equal(info[3].since, 7);
    regions_destroy(regions);
    free(m.edge);
    free(whole.edge);
}

static void the_ranks_around_a_master_are_in_its_region(void **state)
{
    const size_t before = memory_used();
    struct regions *regions = create(REGIONS_DEFAULTS);
    (void)state;
    for (uint32_t v = 1; v < 4096; v++)
        assert_int_equal(regions_edge(regions, 0, v, 1), 0);
    update(regions, 0, 1);
    for (uint32_t v = 0; v < 4096; v++)
        assert_int_equal(regions_of(regions, v), 1);
    assert_in_range(memory_used() - before, 1, 4u << 20); /* not 4,096 squared */
    regions_destroy(regions);
}

static void all_to_all_is_one_region(void **state)
{
    const size_t before = memory_used();
    struct regions *regions = create(REGIONS_DEFAULTS);
    struct region_info info;
    (void)state;
    for (uint32_t a = 0; a < 512; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_equal(regions_edge(regions, a, b, 1), 0);
    update(regions, 0, 1);
    assert_int_equal(regions_list(regions, &info, 1), 1);
    assert_int_equal(info.vertices, 512);
    assert_in_range(memory_used() - before, 1, 8u << 20);
    regions_destroy(regions);
}

static void of_many_small_regions_neighbours_are_taken_together(void **state)
{
    struct regions_params params = REGIONS_DEFAULTS;
    struct region_info info[256];
    (void)state;
    for (params.max_regions = 0; params.max_regions <= 64; params.max_regions += 64) {
        struct regions *regions = create(params);
        for (uint32_t v = 0; v < 512; v++) /* a ring: each talks to two */
            assert_int_equal(regions_edge(regions, v, (v + 1) % 512, 1), 0);
        update(regions, 0, 1);
        size_t count = params.max_regions == 0 ? 256 : 64;
        assert_int_equal(regions_list(regions, info, 256), count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(info[i].vertices, 512 / count);
        assert_int_equal(regions_of(regions, 0), regions_of(regions, 1));
        regions_destroy(regions);
    }
}

/* 16 x 16 x 16 ranks with 26 partners each: eight boxes of 8 x 8 x 8, neither slabs nor crumbs. */
static void a_regular_torus_is_cut_into_equal_boxes(void **state)
{
    struct regions *regions = create(REGIONS_DEFAULTS);
    (void)state;
    for (uint32_t v = 0; v < 4096; v++) /* the lowest corner of the 27 around `centre` */
        for (uint32_t i = 0; i < 27; i++) {
            uint32_t x = (v + i % 3) % 16, y = (v / 16 + i / 3 % 3) % 16;
            uint32_t z = (v / 256 + i / 9) % 16;
            uint32_t centre = (v % 16 + 1) % 16 + 16 * ((v / 16 + 1) % 16);
            centre += 256 * ((v / 256 + 1) % 16);
            assert_int_equal(regions_edge(regions, centre, x + 16 * y + 256 * z, 1), 0);
        }
    update(regions, 0, 1);
    assert_int_equal(regions_list(regions, NULL, 0), 8);
    for (uint32_t v = 0; v < 4096; v++) {
        uint32_t corner = v / 8 % 2 * 8 + v / 128 % 2 * 128 + v / 2048 * 2048;
        assert_int_equal(regions_of(regions, v), regions_of(regions, corner));
    }
    regions_destroy(regions);
}

/* Sum of R less threshold over the pairs within a region. */
static double strength(const struct regions *regions, const struct matrix *m, double threshold)
{
    struct correlation *correlation = correlate(m);
    double sum = 0;
    for (uint32_t a = 0; a < m->vertices; a++)
        for (uint32_t b = 0; b < a; b++)
            if (regions_of(regions, a) != 0 && regions_of(regions, a) == regions_of(regions, b))
                sum += correlation_value(correlation, a, b) - threshold;
    correlation_destroy(correlation);
    return sum;
}

/* 1 % of a stencil's edges go and come back in each of 20 windows. */
static void regions_of_a_stencil_stay_while_few_edges_change(void **state)
{
    struct matrix whole = matrix_stencil(8), m = matrix_stencil(8);
    struct regions *regions = create(REGIONS_DEFAULTS);
    struct regions_params free_params = REGIONS_DEFAULTS;
    uint64_t random = 11;
    uint32_t kept = 0, before[512];
    (void)state;
    free_params.hold = 0;
    for (uint32_t window = 0; window < 20; window++) {
        for (uint32_t v = 0; v < 512; v++)
            before[v] = regions_of(regions, v);
        tell(regions, &m);
        assert_int_equal(regions_update(regions, window, NULL), 0);
        for (uint32_t v = 0; window > 0 && v < 512; v++)
            kept += before[v] == regions_of(regions, v);
        struct regions *batch = create(free_params);
        tell(batch, &m);
        assert_int_equal(regions_update(batch, window, NULL), 0);
        assert_true(strength(regions, &m, 0.5) > 0.9 * strength(batch, &m, 0.5));
        regions_destroy(batch);
        for (uint32_t a = 0; a < 512; a++)
            for (uint32_t b = 0; b < a; b++)
                if (matrix_get(&whole, a, b))
                    matrix_set(&m, a, b, random_next(&random) % 100 != 0);
    }
    assert_in_range(kept, 19 * 512 * 95 / 100, 19 * 512);
    regions_destroy(regions);
    free(whole.edge);
    free(m.edge);
}

/* hold must not keep what is gone. */
static void regions_follow_a_pattern_that_changes(void **state)
{
    struct regions *regions = create(REGIONS_DEFAULTS);
    struct matrix first = chain_of_groups(4), second = matrix_create(24);
    (void)state;
    for (uint32_t a = 0; a < 24; a++)
        for (uint32_t b = 0; b < a; b++)
            matrix_set(&second, a, b, a % 4 == b % 4);
    tell(regions, &first);
    update(regions, 0, 1);
    tell(regions, &second);
    update(regions, 1, 1);
    for (uint32_t a = 0; a < 24; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_equal(regions_of(regions, a) == regions_of(regions, b), a % 4 == b % 4);
    regions_destroy(regions);
    free(first.edge);
    free(second.edge);
}

static void what_is_out_of_range_is_refused(void **state)
{
    struct regions_params params = REGIONS_DEFAULTS;
    struct regions *regions;
    (void)state;
    params.threshold = NAN;
    assert_int_equal(regions_create(&regions, &params), -HOLTER_ERANGE);
    params.threshold = 0;
    assert_int_equal(regions_create(&regions, &params), -HOLTER_ERANGE);
    params = REGIONS_DEFAULTS;
    params.hold = 4.5;
    assert_int_equal(regions_create(&regions, &params), -HOLTER_ERANGE);
    params = REGIONS_DEFAULTS;
    params.max_vertices = 1u << 20;
    assert_int_equal(regions_create(&regions, &params), -HOLTER_ERANGE);
    regions = create(REGIONS_DEFAULTS);
    assert_int_equal(regions_edge(regions, 16384, 0, 1), -HOLTER_ERANGE);
    update(regions, 0, 0);
    assert_int_equal(regions_list(regions, NULL, 0), 0);
    regions_destroy(regions);
    regions_destroy(NULL);
}

static void regions_stay_when_there_are_too_many_pairs(void **state)
{
    struct regions_params params = REGIONS_DEFAULTS;
    int changed = 7;
    (void)state;
    params.max_pairs = 200;
    struct regions *regions = create(params);
    struct matrix small = chain_of_groups(2), large = matrix_create(40);
    for (uint32_t v = 1; v < 40; v++)
        matrix_set(&large, 0, v, true);
    tell(regions, &small);
    update(regions, 1, 1);
    tell(regions, &large);
    assert_int_equal(regions_update(regions, 2, &changed), -HOLTER_ELIMIT);
    assert_int_equal(changed, 7);
    assert_int_equal(regions_list(regions, NULL, 0), 2);
    assert_int_equal(regions_of(regions, 39), 0);
    for (uint32_t v = 1; v < 40; v++)
        assert_int_equal(regions_edge(regions, 0, v, 0), 0);
    tell(regions, &small);
    update(regions, 3, 0);
    regions_destroy(regions);
    free(small.edge);
    free(large.edge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paper_s_example_has_its_two_regions),
        cmocka_unit_test(without_hold_streaming_equals_batch),
        cmocka_unit_test(the_order_of_edges_does_not_matter),
        cmocka_unit_test(a_component_without_a_changed_edge_stays_as_it_is),
        cmocka_unit_test(a_region_keeps_its_id_while_ranks_come_and_go),
        cmocka_unit_test(the_ranks_around_a_master_are_in_its_region),
        cmocka_unit_test(all_to_all_is_one_region),
        cmocka_unit_test(of_many_small_regions_neighbours_are_taken_together),
        cmocka_unit_test(a_regular_torus_is_cut_into_equal_boxes),
        cmocka_unit_test(regions_of_a_stencil_stay_while_few_edges_change),
        cmocka_unit_test(regions_follow_a_pattern_that_changes),
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(regions_stay_when_there_are_too_many_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
