/* Annealing of boxes: what it finds, and that the sums that it keeps are those of the arrangement.
 */
#include "daemon/analysis/network/remap/remap_boxes.h"

#include "daemon/analysis/network/remap/remap_graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N REMAP_MAX_BOXES
#define WHOLE 8000 /* no box exchanges more: then weights are not rounded */

struct network {
    const char *name;
    struct remap_unit units[7];
    uint32_t unit_count, count;
};

#define RING TOPOLOGY_TORUS
#define MESH TOPOLOGY_MESH

static const struct network networks[] = {
    {"hypercube", {{MESH, 2, 0}, {MESH, 2, 0}, {MESH, 2, 0}, {MESH, 2, 0}, {MESH, 2, 0}}, 5, 32},
    {"ring, mesh and pair", {{RING, 8, 0}, {MESH, 5, 0}, {RING, 2, 0}}, 3, 80},
    {"eight blocks of codes", {{MESH, 50, 0}, {MESH, 2, 0}}, 2, 100},
    {"all", {{RING, 16, 0}, {MESH, 2, 0}, {RING, 4, 0}}, 3, 128},
};

static uint32_t apart(const struct remap_unit *unit, uint32_t a, uint32_t b)
{
    const uint32_t d = a > b ? a - b : b - a;
    return unit->connection == RING && d > unit->size - d ? unit->size - d : d;
}

static uint32_t distance(const struct network *n, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (uint32_t u = n->unit_count; u-- > 0;) {
        sum += apart(&n->units[u], a % n->units[u].size, b % n->units[u].size);
        a /= n->units[u].size;
        b /= n->units[u].size;
    }
    return sum;
}

static double cost(const struct network *n, const double *weights, const uint8_t *places)
{
    double sum = 0;
    bool seen[N] = {false};
    for (uint32_t p = 0; p < n->count; p++) {
        assert_true(places[p] < n->count && !seen[places[p]]);
        seen[places[p]] = true;
        for (uint32_t q = 0; q < p; q++)
            sum += weights[p * n->count + q] * distance(n, places[p], places[q]);
    }
    return sum;
}

static void add(const struct network *n, double *weights, uint32_t p, uint32_t q, double weight)
{
    weights[p * n->count + q] += weight;
    weights[q * n->count + p] += weight;
}

/* A few partners each, at random; the first two fill up to what is exact. */
static double *some_weights(const struct network *n, uint64_t seed)
{
    double *weights = calloc((size_t)n->count * n->count, sizeof(*weights));
    double first = 0, second = 0;
    for (uint32_t i = 0; i < 4 * n->count; i++) {
        const uint32_t p = remap_below(&seed, n->count), q = remap_below(&seed, n->count);
        if (p != q)
            add(n, weights, p, q, 1 + remap_below(&seed, 200));
    }
    for (uint32_t q = 0; q < n->count; q++) {
        first += weights[q];
        second += weights[n->count + q];
    }
    add(n, weights, 0, 1, WHOLE - (first > second ? first : second));
    return weights;
}

static void cold_exchanges_never_lose(void **state)
{
    (void)state;
    struct remap_boxes *boxes;
    assert_int_equal(remap_boxes_create(&boxes), 0);
    for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            const struct network *n = &networks[i];
            double *weights = some_weights(n, seed);
            assert_true(remap_boxes_begin(boxes, n->units, n->unit_count, n->count, weights, seed) >
                        0);
            const double begin = cost(n, weights, remap_boxes_places(boxes));
            for (uint32_t round = 0; round < 4; round++) { /* melt, then freeze */
                assert_true(remap_boxes_run(boxes, 0.5, 2000) > 0);
                double last = cost(n, weights, remap_boxes_places(boxes));
                for (uint32_t k = 0; k < 200; k++) {
                    remap_boxes_run(boxes, 0, 50);
                    const double now = cost(n, weights, remap_boxes_places(boxes));
                    assert_true(now <= last);
                    last = now;
                }
                assert_true(last < begin);
            }
            free(weights);
        }
    remap_boxes_destroy(boxes);
}

/* Neighbours in a cube of the same sizes, dealt out at random: annealing brings all of them
 * together again. */
static void a_network_finds_itself(void **state)
{
    (void)state;
    const struct network *n = &networks[0];
    struct remap_boxes *boxes;
    uint32_t found = 0;
    assert_int_equal(remap_boxes_create(&boxes), 0);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double weights[32 * 32] = {0}, least = 0;
        uint32_t deal[32];
        uint64_t random = seed;
        for (uint32_t p = 0; p < n->count; p++) {
            const uint32_t k = remap_below(&random, p + 1);
            deal[p] = deal[k];
            deal[k] = p;
        }
        for (uint32_t p = 0; p < n->count; p++)
            for (uint32_t bit = 1; bit < n->count; bit *= 2)
                if ((p & bit) == 0) {
                    add(n, weights, deal[p], deal[p | bit], 3.5);
                    least += 3.5;
                }
        remap_boxes_begin(boxes, n->units, n->unit_count, n->count, weights, seed);
        assert_true(cost(n, weights, remap_boxes_places(boxes)) > least);
        for (uint32_t i = 0; i < 64; i++)
            remap_boxes_run(boxes, 0.4 * pow(0.1, i / 64.0), 1000);
        found += cost(n, weights, remap_boxes_places(boxes)) == least;
    }
    assert_true(found >= 8);
    remap_boxes_destroy(boxes);
}

static void same_seed_gives_the_same_places(void **state)
{
    (void)state;
    const struct network *n = &networks[1];
    double *weights = some_weights(n, 5);
    uint8_t one[N];
    struct remap_boxes *boxes;
    assert_int_equal(remap_boxes_create(&boxes), 0);
    for (uint32_t i = 0; i < 2; i++) {
        remap_boxes_begin(boxes, n->units, n->unit_count, n->count, weights, 9);
        remap_boxes_run(boxes, 0.2, 5000);
        if (i == 0)
            memcpy(one, remap_boxes_places(boxes), n->count);
    }
    assert_memory_equal(one, remap_boxes_places(boxes), n->count);
    free(weights);
    remap_boxes_destroy(boxes);
}

static void what_cannot_be_annealed_is_refused(void **state)
{
    (void)state;
    const struct remap_unit odd[] = {{RING, 5, 0}, {MESH, 2, 0}}, all[] = {{TOPOLOGY_ALL, 10, 0}},
                            wide[] = {{MESH, 100, 0}}, even[] = {{RING, 10, 0}};
    double weights[N * N] = {0};
    struct remap_boxes *boxes;
    assert_int_equal(remap_boxes_create(&boxes), 0);
    assert_int_equal(remap_boxes_begin(boxes, even, 1, 10, weights, 1), 0); /* nothing is sent */
    weights[1] = weights[10] = 1;
    assert_int_equal(remap_boxes_begin(boxes, odd, 2, 10, weights, 1), 0);
    assert_int_equal(remap_boxes_begin(boxes, all, 1, 10, weights, 1), 0);
    assert_int_equal(remap_boxes_begin(boxes, wide, 1, 100, weights, 1), 0);
    assert_int_equal(remap_boxes_begin(boxes, even, 1, N + 1, weights, 1), 0);
    assert_int_equal(remap_boxes_begin(boxes, even, 1, 12, weights, 1), 0); /* not as many places */
    assert_true(remap_boxes_begin(boxes, even, 1, 10, weights, 1) > 0);
    for (uint32_t i = 0; i < 2; i++) {
        weights[1] = weights[10] = i == 0 ? HUGE_VAL : NAN;
        assert_int_equal(remap_boxes_begin(boxes, even, 1, 10, weights, 1), 0);
    }
    remap_boxes_destroy(boxes);
    remap_boxes_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cold_exchanges_never_lose),
        cmocka_unit_test(a_network_finds_itself),
        cmocka_unit_test(same_seed_gives_the_same_places),
        cmocka_unit_test(what_cannot_be_annealed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
