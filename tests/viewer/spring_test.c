/* Places by springs: the same every time, neighbours near each other, what was there stays. */
#include "viewer/layout/quadtree.h"
#include "viewer/layout/spring.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1024 };

struct net {
    struct spring_vertex vertices[MOST];
    struct spring_edge edges[4 * MOST];
    uint32_t vertex_count, edge_count;
};

static void add_edge(struct net *n, uint32_t a, uint32_t b, double weight)
{
    n->edges[n->edge_count++] = (struct spring_edge){a, b, weight};
}

static void vertices(struct net *n, uint32_t count)
{
    memset(n, 0, sizeof *n);
    n->vertex_count = count;
    for (uint32_t i = 0; i < count; i++)
        n->vertices[i] = (struct spring_vertex){.key = i, .mass = 1};
}

static void grid(struct net *n, uint32_t side)
{
    vertices(n, side * side);
    for (uint32_t i = 0; i < side * side; i++) {
        if (i % side + 1 < side)
            add_edge(n, i, i + 1, 1);
        if (i + side < side * side)
            add_edge(n, i, i + side, 1);
    }
}

static void arrange(struct spring *s, const struct net *n, double unit, int calm, uint64_t share)
{
    assert_int_equal(
        spring_set(s, n->vertices, n->vertex_count, n->edges, n->edge_count, unit, calm), 0);
    while (spring_work(s, share))
        ;
    assert_int_equal(s->count, n->vertex_count);
    for (uint32_t i = 0; i < s->count; i++)
        assert_true(fabs(s->places[i].x) <= 1.0001 && fabs(s->places[i].y) <= 1.0001);
}

static double between(const struct spring *s, uint32_t a, uint32_t b)
{
    return hypot(s->places[a].x - s->places[b].x, s->places[a].y - s->places[b].y);
}

static double mean_edge(const struct spring *s, const struct net *n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n->edge_count; i++)
        sum += between(s, n->edges[i].a, n->edges[i].b);
    return sum / n->edge_count;
}

static double mean_pair(const struct spring *s)
{
    double sum = 0;
    for (uint32_t a = 0; a < s->count; a++)
        for (uint32_t b = 0; b < a; b++)
            sum += between(s, a, b);
    return sum * 2 / s->count / (s->count - 1.0);
}

static void test_same_every_time_in_any_shares(void **state)
{
    (void)state;
    static struct net n;
    struct spring a = {0}, b = {0};
    grid(&n, 12);
    arrange(&a, &n, 0, 0, UINT64_MAX);
    arrange(&b, &n, 0, 0, 500);
    assert_memory_equal(a.places, b.places, a.count * sizeof *a.places);
    assert_true(a.unit > 0 && a.half.x >= a.half.y);
    spring_finish(&a);
    spring_finish(&b);
}

static void test_grid_unfolds(void **state)
{
    (void)state;
    static struct net n;
    struct spring s = {0};
    grid(&n, 24);
    arrange(&s, &n, 0, 0, 100000);
    assert_true(mean_edge(&s, &n) < mean_pair(&s) / 6);
    /* opposite corners are about as far apart as anything is */
    assert_true(between(&s, 0, 24 * 24 - 1) > 1.2 * mean_pair(&s));
    spring_finish(&s);
}

static void test_heavy_links_pull_together(void **state)
{
    (void)state;
    static struct net n;
    struct spring s = {0};
    double inside = 0, across = 0;
    uint32_t pairs = 0, others = 0;
    vertices(&n, 40);
    for (uint32_t a = 0; a < 40; a++)
        for (uint32_t b = 0; b < a; b++)
            add_edge(&n, b, a, a / 10 == b / 10 ? 1 : 0.02);
    arrange(&s, &n, 0, 0, 100000);
    for (uint32_t a = 0; a < 40; a++)
        for (uint32_t b = 0; b < a; b++) {
            if (a / 10 == b / 10) {
                inside += between(&s, a, b);
                pairs++;
            } else {
                across += between(&s, a, b);
                others++;
            }
        }
    assert_true(inside / pairs < 0.5 * across / others);
    spring_finish(&s);
}

/* A window with other figures moves vertices a little, and never turns the picture. */
static void test_what_was_there_stays(void **state)
{
    (void)state;
    static struct net n;
    struct spring s = {0};
    double most = 0;
    grid(&n, 16);
    arrange(&s, &n, 0, 0, 100000);
    struct point *before = malloc(s.count * sizeof *before);
    assert_non_null(before);
    memcpy(before, s.places, s.count * sizeof *before);
    for (uint32_t i = 0; i < n.vertex_count; i++) {
        n.vertices[i].known = 1;
        n.vertices[i].at = s.places[i];
    }
    for (uint32_t i = 0; i < n.edge_count; i++)
        n.edges[i].weight *= i % 3 ? 1 : 1.5;
    arrange(&s, &n, s.unit, 1, 100000);
    for (uint32_t i = 0; i < s.count; i++)
        most = fmax(most, hypot(s.places[i].x - before[i].x, s.places[i].y - before[i].y));
    assert_true(most < 0.15);
    free(before);
    spring_finish(&s);
}

static void test_places_before_stay_until_there_are_new_ones(void **state)
{
    (void)state;
    static struct net n;
    struct spring s = {0};
    grid(&n, 10);
    arrange(&s, &n, 0, 0, 100000);
    uint64_t version = s.version;
    double x = s.places[3].x;
    assert_int_equal(spring_set(&s, n.vertices, n.vertex_count, n.edges, n.edge_count, 0, 0), 0);
    assert_int_equal(spring_work(&s, 1), 1);
    assert_int_equal(s.version, version);
    assert_true(s.places[3].x == x);
    spring_finish(&s);
}

static void test_odd_graphs(void **state)
{
    (void)state;
    static struct net n;
    struct spring s = {0};
    vertices(&n, 0);
    arrange(&s, &n, 0, 0, 1000);
    vertices(&n, 1);
    arrange(&s, &n, 0, 0, 1000);
    vertices(&n, 300); /* no edge at all */
    arrange(&s, &n, 0, 0, 100000);
    assert_true(mean_pair(&s) > 0.3);
    vertices(&n, 600); /* a star */
    for (uint32_t i = 1; i < 600; i++)
        add_edge(&n, 0, i, 3);
    arrange(&s, &n, 0, 0, 100000);
    assert_true(mean_edge(&s, &n) < 1.2);
    vertices(&n, 200); /* all begin upon each other */
    for (uint32_t i = 0; i < 200; i++)
        n.vertices[i].known = 1;
    arrange(&s, &n, 0.1, 0, 100000);
    assert_true(mean_pair(&s) > 0.1);
    vertices(&n, 2); /* weights out of all reason */
    add_edge(&n, 0, 1, 1e12);
    arrange(&s, &n, 0, 0, 1000);
    spring_finish(&s);
}

static void test_push_as_all_pairs(void **state)
{
    (void)state;
    enum { POINTS = 500 };
    struct point at[POINTS];
    double mass[POINTS], off = 0, sum = 0;
    struct quadtree tree = {0};
    uint32_t seed = 7;
    for (uint32_t i = 0; i < POINTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        at[i].x = (seed >> 8) / 1e6;
        seed = seed * 1664525u + 1013904223u;
        at[i].y = (seed >> 8) / 1e6;
        mass[i] = 1 + i % 5;
    }
    at[7] = at[8]; /* upon each other */
    assert_int_equal(quadtree_build(&tree, at, mass, POINTS), 0);
    for (uint32_t i = 0; i < POINTS; i++) {
        struct point near = {0, 0}, plain = {0, 0};
        quadtree_push(&tree, at, mass, i, &near);
        for (uint32_t k = 0; k < POINTS; k++) {
            double dx = at[i].x - at[k].x, dy = at[i].y - at[k].y;
            double d2 = fmax(dx * dx + dy * dy, 1e-4);
            plain.x += k == i ? 0 : mass[k] * dx / d2;
            plain.y += k == i ? 0 : mass[k] * dy / d2;
        }
        off += hypot(near.x - plain.x, near.y - plain.y);
        sum += hypot(plain.x, plain.y);
    }
    assert_true(off < 0.06 * sum);
    quadtree_finish(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_every_time_in_any_shares),
        cmocka_unit_test(test_grid_unfolds),
        cmocka_unit_test(test_heavy_links_pull_together),
        cmocka_unit_test(test_what_was_there_stays),
        cmocka_unit_test(test_places_before_stay_until_there_are_new_ones),
        cmocka_unit_test(test_odd_graphs),
        cmocka_unit_test(test_push_as_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
