/* Average linkage against merging one pair after the other. */
#include "daemon/analysis/regions/linkage.h"

#include "tests/daemon/analysis/regions/correlated.h"

#include <string.h>

#define MOST 128u

/* The plain algorithm: look at all pairs, merge the best, begin again. */
struct plain {
    uint32_t count;
    uint32_t size[MOST]; /* 0: merged into another */
    uint64_t sum[MOST][MOST];
};

static double plain_height(const struct plain *p, uint32_t a, uint32_t b)
{
    return (double)p->sum[a][b] / (double)((uint64_t)p->size[a] * p->size[b] * 144);
}

static bool plain_find(const struct plain *p, struct linkage_merge *best)
{
    bool found = false;
    for (uint32_t a = 0; a < p->count; a++)
        for (uint32_t b = a + 1; b < p->count; b++) {
            struct linkage_merge one = {.a = a, .b = b, .vertices = p->size[a] + p->size[b]};
            if (p->size[a] == 0 || p->size[b] == 0 || p->sum[a][b] == 0)
                continue;
            one.height = plain_height(p, a, b);
            if (!found || one.height > best->height ||
                (one.height == best->height && one.vertices < best->vertices))
                *best = one; /* ties of size: the first found has the lowest vertices */
            found = true;
        }
    return found;
}

static size_t plain_run(struct plain *p, struct linkage_merge *merges)
{
    size_t count = 0;
    struct linkage_merge one;
    for (; plain_find(p, &one); merges[count++] = one) {
        p->size[one.a] = one.vertices;
        p->size[one.b] = 0;
        for (uint32_t v = 0; v < p->count; v++) {
            p->sum[one.a][v] += p->sum[one.b][v];
            p->sum[v][one.a] = p->sum[one.a][v];
        }
    }
    return count;
}

static void fill_plain(struct plain *p, const struct correlation *correlation, uint32_t vertices,
                       const struct linkage_history *history)
{
    memset(p, 0, sizeof(*p));
    p->count = vertices;
    for (uint32_t v = 0; v < vertices; v++) {
        uint32_t count;
        const struct correlate *row = correlation_row(correlation, v, &count);
        p->size[v] = 1;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t q = row[i].vertex;
            bool together = v < history->vertices && q < history->vertices &&
                            history->group[v] != 0 && history->group[v] == history->group[q];
            p->sum[v][q] = (uint64_t)row[i].weight * (4 + (together ? history->quarters : 0));
        }
    }
}

/* m must be connected. */
static void assert_is_plain(struct linkage *linkage, const struct matrix *m,
                            const struct linkage_history *history, uint64_t seed)
{
    static struct plain plain;
    struct linkage_merge expected[MOST], merges[MOST];
    uint32_t members[MOST];
    struct correlation *correlation = correlate(m);
    fill_plain(&plain, correlation, m->vertices, history);
    assert_int_equal(plain_run(&plain, expected), m->vertices - 1);
    for (uint32_t i = 0; i < m->vertices; i++) { /* in any order */
        uint32_t at = random_next(&seed) % (i + 1);
        members[i] = members[at];
        members[at] = i;
    }
    assert_int_equal(linkage_run(linkage, correlation, history, members, m->vertices, merges), 0);
    qsort(merges, m->vertices - 1, sizeof(merges[0]), linkage_compare);
    for (uint32_t i = 0; i + 1 < m->vertices; i++) {
        assert_int_equal(merges[i].a, expected[i].a);
        assert_int_equal(merges[i].b, expected[i].b);
        assert_int_equal(merges[i].vertices, expected[i].vertices);
        ASSERT_NEAR(merges[i].height, expected[i].height, 0);
    }
    correlation_destroy(correlation);
}

/* A path through all vertices and random edges. */
static struct matrix random_graph(uint32_t vertices, uint32_t edges, uint64_t *random)
{
    struct matrix m = matrix_create(vertices);
    for (uint32_t v = 1; v < vertices; v++)
        matrix_set(&m, v - 1, v, true);
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t a = random_next(random) % vertices, b = random_next(random) % vertices;
        if (a != b)
            matrix_set(&m, a, b, true);
    }
    return m;
}

static void merges_are_those_of_the_plain_algorithm(void **state)
{
    struct linkage *linkage;
    const struct linkage_history none = {0};
    uint64_t random = 99;
    (void)state;
    assert_int_equal(linkage_create(&linkage), 0);
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t vertices = 2 + random_next(&random) % 60;
        struct matrix m = random_graph(vertices, random_next(&random) % (3 * vertices), &random);
        assert_is_plain(linkage, &m, &none, random);
        free(m.edge);
    }
    linkage_destroy(linkage);
}

/* Rings, grids and complete graphs: nearly every comparison is a tie. */
static void ties_are_broken_as_in_the_plain_algorithm(void **state)
{
    struct linkage *linkage;
    const struct linkage_history none = {0};
    (void)state;
    assert_int_equal(linkage_create(&linkage), 0);
    for (uint32_t shape = 0; shape < 5; shape++) {
        struct matrix m = shape == 0 ? matrix_stencil(4) : matrix_create(64);
        for (uint32_t a = 0; a < 64; a++)
            for (uint32_t b = 0; b < a; b++)
                if ((shape == 1 && (a - b == 1 || a - b == 63)) ||
                    (shape == 2 && (a - b == 8 || (a - b == 1 && a % 8 != 0))) || shape == 3 ||
                    (shape == 4 && b == 0))
                    matrix_set(&m, a, b, true);
        for (uint64_t seed = 1; seed < 5; seed++)
            assert_is_plain(linkage, &m, &none, seed);
        free(m.edge);
    }
    linkage_destroy(linkage);
}

static void pairs_that_were_together_have_an_advantage(void **state)
{
    struct linkage *linkage;
    uint32_t group[MOST];
    uint64_t random = 5;
    (void)state;
    assert_int_equal(linkage_create(&linkage), 0);
    for (uint32_t round = 0; round < 40; round++) {
        uint32_t vertices = 40;
        struct matrix m = random_graph(vertices, 60, &random);
        for (uint32_t v = 0; v < vertices; v++)
            group[v] = random_next(&random) % 4;
        const struct linkage_history history = {group, vertices - round % 5, 1 + round % 8};
        assert_is_plain(linkage, &m, &history, random);
        free(m.edge);
    }
    linkage_destroy(linkage);
}

static void the_paper_s_example_merges_at_its_heights(void **state)
{
    static const double heights[] = {1.5, 1.417, 1.361, 1.25, 1.148, .574, .462};
    static const uint32_t members[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const struct linkage_history none = {NULL, 0, 0};
    struct linkage_merge merges[7];
    struct linkage *linkage;
    struct matrix m = matrix_create(9);
    (void)state;
    for (size_t i = 0; i < 11; i++)
        matrix_set(&m, table_1_edges[i][0], table_1_edges[i][1], true);
    struct correlation *correlation = correlate(&m);
    assert_int_equal(linkage_create(&linkage), 0);
    assert_int_equal(linkage_run(linkage, correlation, &none, members, 8, merges), 0);
    qsort(merges, 7, sizeof(merges[0]), linkage_compare);
    for (size_t i = 0; i < 7; i++)
        ASSERT_NEAR(merges[i].height, heights[i], 0.0005);
    linkage_destroy(linkage);
    correlation_destroy(correlation);
    free(m.edge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_are_those_of_the_plain_algorithm),
        cmocka_unit_test(ties_are_broken_as_in_the_plain_algorithm),
        cmocka_unit_test(pairs_that_were_together_have_an_advantage),
        cmocka_unit_test(the_paper_s_example_merges_at_its_heights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
