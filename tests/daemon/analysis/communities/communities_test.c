#include "daemon/analysis/communities/communities.h"

#include "holter/error.h"
#include "tests/daemon/analysis/communities/communities_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct communities *create(double restart)
{
    struct communities *c;
    struct communities_params params = COMMUNITIES_DEFAULTS;
    params.restart = restart;
    assert_int_equal(communities_create(&c, &params), 0);
    return c;
}

static void update(struct communities *c, const struct edges *e)
{
    assert_int_equal(communities_update(c, e->vertices, e->edge, e->count), 0);
}

static double best(const struct communities *c)
{
    return communities_modularity(c, communities_best(c));
}

/* The definition, term by term. */
static double plain_modularity(const struct edges *e, const uint32_t *label)
{
    double *strength = calloc(e->vertices + 1u, sizeof(*strength)), total = 0, within = 0, sum = 0;
    for (size_t i = 0; i < e->count; i++) {
        strength[label[e->edge[i].a]] += e->edge[i].weight;
        strength[label[e->edge[i].b]] += e->edge[i].weight;
        total += 2 * e->edge[i].weight;
        within += label[e->edge[i].a] == label[e->edge[i].b] ? 2 * e->edge[i].weight : 0;
    }
    for (uint32_t v = 0; v < e->vertices && total > 0; v++)
        sum += strength[v] / total * (strength[v] / total);
    free(strength);
    return total > 0 ? within / total - sum : 0;
}

static uint32_t plain_components(const struct edges *e)
{
    uint32_t count = e->vertices, *label = malloc((e->vertices + 1u) * sizeof(*label));
    for (uint32_t v = 0; v < e->vertices; v++)
        label[v] = v;
    for (size_t i = 0; i < e->count; i++) {
        uint32_t a = label[e->edge[i].a], b = label[e->edge[i].b];
        count -= a != b;
        for (uint32_t v = 0; a != b && v < e->vertices; v++)
            label[v] = label[v] == b ? a : label[v];
    }
    free(label);
    return count;
}

/* Cuts nest, their labels ascend, merges are as reported, modularities are those of the cuts. */
static void assert_is_dendrogram(const struct communities *c, const struct edges *e, uint32_t step)
{
    uint32_t merges, n = e->vertices;
    uint32_t *labels = calloc(n + 1u, sizeof(*labels)), *above = calloc(n + 1u, sizeof(*above));
    const struct communities_merge *merge = communities_merges(c, &merges);
    assert_int_equal(n - merges, plain_components(e));
    for (uint32_t level = 0; level <= merges; level += step) {
        uint32_t count = n - level, seen = 0;
        assert_int_equal(communities_cut(c, count, labels), 0);
        for (uint32_t v = 0; v < n; v++) {
            assert_true(labels[v] <= seen);
            seen += labels[v] == seen;
        }
        assert_int_equal(seen, count);
        ASSERT_NEAR(communities_modularity(c, level), plain_modularity(e, labels), 1e-9);
        assert_true(communities_modularity(c, level) <= best(c) + 1e-12);
        if (level == merges)
            break;
        uint32_t a = labels[merge[level].a], b = labels[merge[level].b], vertices = 0;
        assert_int_equal(communities_cut(c, count - 1, above), 0);
        for (uint32_t v = 0; v < n; v++) {
            assert_true(labels[v] != a || v >= merge[level].a);
            assert_true(labels[v] != b || v >= merge[level].b);
            assert_true((above[v] == above[merge[level].a]) == (labels[v] == a || labels[v] == b));
            vertices += labels[v] == a || labels[v] == b;
        }
        assert_true(merge[level].a < merge[level].b);
        assert_int_equal(vertices, merge[level].vertices);
    }
    assert_int_equal(communities_cut(c, n - merges, labels), 0);
    assert_int_equal(communities_cut(c, n + 1, labels), -HOLTER_ERANGE);
    if (merges < n)
        assert_int_equal(communities_cut(c, n - merges - 1, labels), -HOLTER_ERANGE);
    free(labels);
    free(above);
}

/* ---- golden cases -------------------------------------------------------------- */

/* Ranks that differ only in the lowest bits are together. */
static void assert_are_blocks(const struct communities *c, uint32_t ranks, uint32_t size)
{
    uint32_t labels[64];
    assert_int_equal(communities_cut(c, ranks / size, labels), 0);
    for (uint32_t v = 0; v < ranks; v++)
        assert_int_equal(labels[v], v / size);
}

static void binary_swap_nests_in_pairs_of_pairs(void **state)
{
    (void)state;
    for (uint32_t ranks = 8; ranks <= 64; ranks *= 2)
        for (int halves = 0; halves < 2; halves++) {
            struct communities *c = create(0.2);
            struct edges e = edges_swap(ranks, 2, halves ? 0.5 : 1);
            update(c, &e);
            assert_is_dendrogram(c, &e, 1);
            for (uint32_t size = 1; size <= ranks; size *= 2)
                assert_are_blocks(c, ranks, size);
            communities_destroy(c);
            edges_finish(&e);
        }
}

static void two_cliques_are_two_communities(void **state)
{
    struct communities *c = create(0.2);
    struct edges e = edges_ring_of_cliques(2, 5);
    uint32_t labels[10];
    (void)state;
    update(c, &e);
    assert_is_dendrogram(c, &e, 1);
    assert_int_equal(communities_best(c), 8);
    assert_int_equal(communities_cut(c, 2, labels), 0);
    for (uint32_t v = 0; v < 10; v++)
        assert_int_equal(labels[v], v / 5);
    communities_destroy(c);
    edges_finish(&e);
}

/* Of few cliques: beyond, modularity itself would have pairs of them. */
static void cliques_in_a_ring_are_communities(void **state)
{
    struct communities *c = create(0.2);
    struct edges e = edges_ring_of_cliques(9, 6);
    uint32_t labels[54];
    (void)state;
    update(c, &e);
    assert_is_dendrogram(c, &e, 1);
    assert_int_equal(communities_best(c), 45);
    assert_int_equal(communities_cut(c, 9, labels), 0);
    for (uint32_t v = 0; v < 54; v++)
        assert_int_equal(labels[v], v / 6);
    communities_destroy(c);
    edges_finish(&e);
}

static void parts_without_connection_are_not_merged(void **state)
{
    struct communities *c = create(0.2);
    struct edges e = {.vertices = 9}; /* 0-1-2, 4-5, 7-8; 3 and 6 alone */
    uint32_t labels[9], merges;
    const uint32_t expected[] = {0, 0, 0, 1, 2, 2, 3, 4, 4};
    (void)state;
    edges_add(&e, 0, 1, 3);
    edges_add(&e, 2, 1, 1);
    edges_add(&e, 4, 5, 2);
    edges_add(&e, 8, 7, 2);
    update(c, &e);
    assert_is_dendrogram(c, &e, 1);
    communities_merges(c, &merges);
    assert_int_equal(merges, 4);
    assert_int_equal(communities_cut(c, 5, labels), 0);
    assert_memory_equal(labels, expected, sizeof(expected));
    communities_destroy(c);
    edges_finish(&e);
}

static void nothing_and_one_vertex_have_no_merges(void **state)
{
    struct communities *c = create(0.2);
    struct edges none = {0}, one = {.vertices = 1}, three = {.vertices = 3};
    uint32_t label = 9, merges;
    (void)state;
    communities_merges(c, &merges);
    assert_int_equal(merges, 0);
    assert_int_equal(communities_cut(c, 0, &label), 0);
    update(c, &none);
    assert_is_dendrogram(c, &none, 1);
    update(c, &one);
    assert_is_dendrogram(c, &one, 1);
    edges_add(&one, 0, 0, 5);
    update(c, &one);
    assert_is_dendrogram(c, &one, 1);
    update(c, &three);
    assert_is_dendrogram(c, &three, 1);
    ASSERT_NEAR(best(c), 0, 0);
    communities_destroy(c);
    communities_destroy(NULL);
    edges_finish(&one);
}

/* A heavy edge to itself keeps a vertex apart from a partner. */
static void edges_to_itself_count_twice_in_strength(void **state)
{
    struct communities *c = create(0.2);
    struct edges e = {.vertices = 4};
    (void)state;
    edges_add(&e, 0, 1, 1);
    edges_add(&e, 1, 2, 1);
    edges_add(&e, 2, 3, 1);
    edges_add(&e, 0, 0, 50);
    edges_add(&e, 1, 1, 50);
    update(c, &e);
    assert_is_dendrogram(c, &e, 1);
    assert_true(best(c) > 0.4);
    communities_destroy(c);
    edges_finish(&e);
}

/* ---- quality ------------------------------------------------------------------- */

/* Clauset, Newman, Moore with a matrix: the best pair of all, again and again. */
static double plain_greedy(const struct edges *e)
{
    uint32_t n = e->vertices;
    double *w = calloc((size_t)n * n, sizeof(*w)), *s = calloc(n, sizeof(*s)), total = 0, q = 0;
    bool *gone = calloc(n, sizeof(*gone));
    for (size_t i = 0; i < e->count; i++) {
        uint32_t a = e->edge[i].a, b = e->edge[i].b;
        w[a * n + b] += e->edge[i].weight;
        w[b * n + a] = w[a * n + b];
        s[a] += e->edge[i].weight;
        s[b] += e->edge[i].weight;
        total += 2 * e->edge[i].weight;
    }
    for (uint32_t v = 0; v < n; v++)
        q -= s[v] / total * (s[v] / total);
    for (;;) {
        double most = 0;
        uint32_t x = n, y = n;
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = a + 1; b < n && !gone[a]; b++) {
                double gain = 2 * (w[a * n + b] / total - s[a] / total * (s[b] / total));
                if (!gone[b] && w[a * n + b] > 0 && gain > most + 1e-15) {
                    most = gain;
                    x = a;
                    y = b;
                }
            }
        if (x == n)
            break;
        for (uint32_t v = 0; v < n; v++) {
            w[x * n + v] += w[y * n + v];
            w[v * n + x] = w[x * n + v];
        }
        s[x] += s[y];
        gone[y] = true;
        q += most;
    }
    free(w);
    free(s);
    free(gone);
    return q;
}

static void assert_reaches_greedy(struct edges e)
{
    struct communities *c = create(0.2);
    update(c, &e);
    assert_is_dendrogram(c, &e, e.vertices / 16 + 1);
    assert_true(best(c) >= plain_greedy(&e) - 1e-9);
    communities_destroy(c);
    edges_finish(&e);
}

static void modularity_is_at_least_that_of_plain_greedy_merging(void **state)
{
    (void)state;
    assert_reaches_greedy(edges_halo(5, 5, 6, true));
    assert_reaches_greedy(edges_halo(6, 6, 6, false));
    assert_reaches_greedy(edges_swap(128, 2, 0.5));
    assert_reaches_greedy(edges_swap(128, 2, 1));
    assert_reaches_greedy(edges_swap(144, 0, 0.5));
    assert_reaches_greedy(edges_swap(150, 0, 1));
    assert_reaches_greedy(edges_transpose(8, 16, 1));
    assert_reaches_greedy(edges_transpose(12, 12, 2));
    for (uint64_t seed = 1; seed < 12; seed++) {
        assert_reaches_greedy(edges_scatter(150, 500, 1, seed));
        assert_reaches_greedy(edges_scatter(120, 300, 8, seed));
    }
}

static void merges_of_hubs_end_soon(void **state)
{
    struct communities *c = create(0.2);
    struct edges e = {.vertices = 20000};
    (void)state;
    for (uint32_t v = 3; v < e.vertices; v++)
        for (uint32_t hub = 0; hub < 3; hub++)
            edges_add(&e, hub, v, 1 + (v * 7 + hub) % 5);
    update(c, &e);
    uint32_t merges;
    communities_merges(c, &merges);
    assert_int_equal(merges, e.vertices - 1);
    assert_true(communities_modularity(c, merges) <= best(c));
    communities_destroy(c);
    edges_finish(&e);
}

/* Moving pushes vertex after vertex along it. */
static void a_path_of_growing_weights_ends_soon(void **state)
{
    struct communities *c = create(0.2);
    struct edges e = {.vertices = 20000};
    (void)state;
    for (uint32_t v = 1; v < e.vertices; v++)
        edges_add(&e, v - 1, v, v);
    update(c, &e);
    assert_true(best(c) > 0.98);
    communities_destroy(c);
    edges_finish(&e);
}

static void order_direction_and_splitting_of_edges_do_not_matter(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (uint64_t seed = 1; seed < 10; seed++) {
        struct communities *one = create(0.2), *other = create(0.2);
        struct edges e = edges_scatter(80, 300, 4, seed), mixed = {.vertices = 80};
        uint32_t merges, others;
        for (size_t i = 0; i < e.count; i++) {
            edges_add(&mixed, e.edge[i].b, e.edge[i].a, e.edge[i].weight - 1);
            edges_add(&mixed, e.edge[i].a, e.edge[i].b, 1);
        }
        for (size_t i = mixed.count; i > 1; i--) {
            size_t at = random_next(&random) % i;
            struct communities_edge swapped = mixed.edge[i - 1];
            mixed.edge[i - 1] = mixed.edge[at];
            mixed.edge[at] = swapped;
        }
        update(one, &e);
        update(other, &mixed);
        const struct communities_merge *a = communities_merges(one, &merges);
        const struct communities_merge *b = communities_merges(other, &others);
        assert_int_equal(merges, others);
        for (uint32_t i = 0; i < merges; i++) {
            assert_int_equal(a[i].a, b[i].a);
            assert_int_equal(a[i].b, b[i].b);
            assert_int_equal(a[i].vertices, b[i].vertices);
            ASSERT_NEAR(a[i].modularity, b[i].modularity, 0);
        }
        communities_destroy(one);
        communities_destroy(other);
        edges_finish(&e);
        edges_finish(&mixed);
    }
}

/* ---- from phase to phase ------------------------------------------------------- */

static void an_equal_graph_keeps_the_result(void **state)
{
    struct communities *c = create(0.2);
    struct edges e = edges_halo(6, 6, 6, true);
    uint32_t merges;
    (void)state;
    update(c, &e);
    assert_int_equal(communities_started(c), COMMUNITIES_COLD);
    const struct communities_merge *before = communities_merges(c, &merges);
    update(c, &e);
    assert_int_equal(communities_started(c), COMMUNITIES_SAME);
    assert_ptr_equal(communities_merges(c, &merges), before);
    communities_destroy(c);
    edges_finish(&e);
}

static void assert_stays_good(struct edges whole, uint64_t random)
{
    struct communities *warm = create(0.2), *cold = create(0);
    uint32_t warms = 0;
    update(warm, &whole);
    for (uint32_t round = 0; round < 12; round++) {
        struct edges e = edges_change(&whole, 100, &random);
        update(warm, &e);
        update(cold, &e);
        warms += communities_started(warm) == COMMUNITIES_WARM;
        assert_int_equal(communities_started(cold), COMMUNITIES_COLD);
        assert_is_dendrogram(warm, &e, e.vertices / 8 + 1);
        assert_true(best(warm) >= 0.99 * best(cold));
        edges_finish(&e);
    }
    assert_true(warms >= 6);
    communities_destroy(warm);
    communities_destroy(cold);
    edges_finish(&whole);
}

static void warm_starts_stay_within_one_percent_of_cold_ones(void **state)
{
    (void)state;
    assert_stays_good(edges_halo(8, 8, 8, true), 1);
    assert_stays_good(edges_halo(8, 8, 8, false), 2);
    assert_stays_good(edges_swap(512, 2, 0.5), 3);
    assert_stays_good(edges_swap(432, 0, 0.5), 4);
    assert_stays_good(edges_transpose(16, 24, 2), 5);
    assert_stays_good(edges_scatter(500, 3000, 10, 6), 6);
}

static void what_changes_step_by_step_starts_cold_in_the_end(void **state)
{
    struct communities *c = create(0.1);
    struct edges e = edges_halo(6, 6, 6, false);
    uint32_t cold = 0;
    (void)state;
    update(c, &e);
    for (uint32_t i = 0; i < 100; i++) {
        e.edge[i % e.count].weight *= 3;
        update(c, &e);
        cold += communities_started(c) == COMMUNITIES_COLD;
    }
    assert_in_range(cold, 2, 20);
    communities_destroy(c);
    edges_finish(&e);
}

static void changes_at_random_leave_a_dendrogram(void **state)
{
    uint64_t random = 11;
    (void)state;
    for (uint32_t round = 0; round < 30; round++) {
        struct communities *c = create(1);
        struct edges e = edges_scatter(2 + random_next(&random) % 60, 90, 1 + round % 4, round + 1);
        update(c, &e);
        for (uint32_t i = 0; i < 8; i++) {
            struct edges changed = edges_change(&e, 2 + random_next(&random) % 30, &random);
            update(c, &changed);
            assert_is_dendrogram(c, &changed, 1);
            edges_finish(&changed);
        }
        communities_destroy(c);
        edges_finish(&e);
    }
}

static void hostile_graphs_are_refused_and_change_nothing(void **state)
{
    const double wrong[] = {0, -1, NAN, INFINITY, -INFINITY, 1e101, 1e-101};
    struct communities *c = create(0.2), *none;
    struct communities_params params = COMMUNITIES_DEFAULTS;
    struct edges e = edges_ring_of_cliques(3, 4);
    uint32_t merges, others;
    (void)state;
    update(c, &e);
    const struct communities_merge *before = communities_merges(c, &merges);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct communities_edge edge = {0, 1, wrong[i]};
        assert_int_equal(communities_update(c, 12, &edge, 1), -HOLTER_ERANGE);
    }
    const struct communities_edge beyond = {0, 12, 1};
    assert_int_equal(communities_update(c, 12, &beyond, 1), -HOLTER_ERANGE);
    assert_int_equal(communities_update(c, UINT32_MAX, NULL, 0), -HOLTER_ELIMIT);
    assert_int_equal(communities_update(c, 12, &beyond, SIZE_MAX), -HOLTER_ELIMIT);
    assert_ptr_equal(communities_merges(c, &others), before);
    assert_int_equal(merges, others);
    params.restart = NAN;
    assert_int_equal(communities_create(&none, &params), -HOLTER_ERANGE);
    communities_destroy(c);
    edges_finish(&e);
}

/* Weights of all sizes side by side. */
static void extreme_weights_end(void **state)
{
    uint64_t random = 4;
    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        struct communities *c = create(0.5);
        struct edges e = {.vertices = 30};
        uint32_t merges;
        for (uint32_t i = 0; i < 120; i++)
            edges_add(&e, random_next(&random) % 30, random_next(&random) % 30,
                      pow(10, (double)(random_next(&random) % 201) - 100));
        update(c, &e);
        e.edge[0].weight = 1;
        update(c, &e);
        communities_merges(c, &merges);
        assert_int_equal(30 - merges, plain_components(&e));
        assert_true(isfinite(best(c)));
        communities_destroy(c);
        edges_finish(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_swap_nests_in_pairs_of_pairs),
        cmocka_unit_test(two_cliques_are_two_communities),
        cmocka_unit_test(cliques_in_a_ring_are_communities),
        cmocka_unit_test(parts_without_connection_are_not_merged),
        cmocka_unit_test(nothing_and_one_vertex_have_no_merges),
        cmocka_unit_test(edges_to_itself_count_twice_in_strength),
        cmocka_unit_test(modularity_is_at_least_that_of_plain_greedy_merging),
        cmocka_unit_test(merges_of_hubs_end_soon),
        cmocka_unit_test(a_path_of_growing_weights_ends_soon),
        cmocka_unit_test(order_direction_and_splitting_of_edges_do_not_matter),
        cmocka_unit_test(an_equal_graph_keeps_the_result),
        cmocka_unit_test(warm_starts_stay_within_one_percent_of_cold_ones),
        cmocka_unit_test(what_changes_step_by_step_starts_cold_in_the_end),
        cmocka_unit_test(changes_at_random_leave_a_dendrogram),
        cmocka_unit_test(hostile_graphs_are_refused_and_change_nothing),
        cmocka_unit_test(extreme_weights_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
