/* Places of a graph's vertices, and the picture of its edges. */
#include "viewer/layout/bundle.h"
#include "viewer/layout/graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GROUPS = 5, EACH = 40, VERTICES = GROUPS * EACH };

struct sample {
    struct graph_vertex vertices[VERTICES + 1];
    struct graph_group groups[GROUPS];
    struct graph_edge edges[VERTICES * 3];
    uint32_t vertex_count, edge_count;
};

/* Rings of ranks, each also tied to the next but four; one edge from each ring to the next. */
static void fill(struct sample *s)
{
    memset(s, 0, sizeof *s);
    s->vertex_count = VERTICES;
    for (uint32_t i = 0; i < VERTICES; i++) {
        uint32_t g = i / EACH, k = i % EACH;
        s->vertices[i] = (struct graph_vertex){.key = 1000 + i, .group = g, .weight = 1};
        s->groups[g].key = 7 + g;
        for (uint32_t far = 1; far <= 5; far += 4) {
            uint32_t to = g * EACH + (k + far) % EACH;
            s->edges[s->edge_count++] =
                (struct graph_edge){i < to ? i : to, i < to ? to : i, 1 + far};
        }
    }
    for (uint32_t g = 0; g + 1 < GROUPS; g++)
        s->edges[s->edge_count++] = (struct graph_edge){g * EACH, (g + 1) * EACH, 3};
}

static void set(struct graph *g, struct sample *s)
{
    const struct graph given = {.vertices = s->vertices,
                                .groups = s->groups,
                                .edges = s->edges,
                                .vertex_count = s->vertex_count,
                                .group_count = GROUPS,
                                .edge_count = s->edge_count};
    assert_int_equal(graph_set(g, g, &given), 0);
}

static void lay_out(struct graph *g, struct sample *s)
{
    set(g, s);
    while (graph_work(g, UINT64_MAX))
        ;
}

static void groups_stand_apart_and_hold_their_vertices(void **state)
{
    (void)state;
    struct sample s;
    struct graph g = {0};
    fill(&s);
    lay_out(&g, &s);
    assert_int_equal(g.vertex_count, VERTICES);
    for (uint32_t a = 0; a < GROUPS; a++) {
        assert_true(fabs(g.groups[a].x) + g.groups[a].radius <= 1.0001);
        assert_true(fabs(g.groups[a].y) + g.groups[a].radius <= 1.0001);
        for (uint32_t b = a + 1; b < GROUPS; b++)
            assert_true(hypot(g.groups[a].x - g.groups[b].x, g.groups[a].y - g.groups[b].y) >
                        g.groups[a].radius + g.groups[b].radius);
    }
    for (uint32_t i = 0; i < VERTICES; i++) {
        const struct graph_vertex *v = &g.vertices[i];
        const struct graph_group *p = &g.groups[v->group];
        assert_int_equal(v->key, 1000 + i);
        assert_true(hypot(v->x - p->x, v->y - p->y) <= p->radius * 1.0001);
    }
    graph_finish(&g);
}

static void vertices_do_not_lie_upon_each_other(void **state)
{
    (void)state;
    struct sample s;
    struct graph g = {0};
    fill(&s);
    lay_out(&g, &s);
    uint32_t touching = 0;
    for (uint32_t a = 0; a < VERTICES; a++)
        for (uint32_t b = a + 1; b < VERTICES; b++)
            touching += hypot(g.vertices[a].x - g.vertices[b].x,
                              g.vertices[a].y - g.vertices[b].y) < g.vertices[a].radius * 1.6;
    assert_true(touching <= VERTICES / 50);
    graph_finish(&g);
}

static void partners_lie_nearer_than_others(void **state)
{
    (void)state;
    struct sample s;
    struct graph g = {0};
    fill(&s);
    lay_out(&g, &s);
    double partners = 0, all = 0;
    uint32_t n = 0, m = 0;
    for (uint32_t i = 0; i < g.edge_count; i++) {
        const struct graph_vertex *a = &g.vertices[g.edges[i].a], *b = &g.vertices[g.edges[i].b];
        if (a->group == b->group) {
            partners += hypot(a->x - b->x, a->y - b->y);
            n++;
        }
    }
    for (uint32_t a = 0; a < VERTICES; a++)
        for (uint32_t b = a + 1; b < VERTICES; b++)
            if (g.vertices[a].group == g.vertices[b].group) {
                all += hypot(g.vertices[a].x - g.vertices[b].x, g.vertices[a].y - g.vertices[b].y);
                m++;
            }
    assert_true(partners / n < 0.75 * all / m);
    graph_finish(&g);
}

static void the_same_graph_gives_the_same_places_in_any_shares(void **state)
{
    (void)state;
    struct sample s;
    struct graph a = {0}, b = {0};
    fill(&s);
    lay_out(&a, &s);
    set(&b, &s);
    uint32_t shares = 1;
    while (graph_work(&b, 50))
        shares++;
    assert_true(shares > 20);
    for (uint32_t i = 0; i < VERTICES; i++) {
        assert_true(a.vertices[i].x == b.vertices[i].x);
        assert_true(a.vertices[i].y == b.vertices[i].y);
    }
    graph_finish(&a);
    graph_finish(&b);
}

static void the_old_places_stay_until_the_new_are_done(void **state)
{
    (void)state;
    struct sample s;
    struct graph g = {0};
    fill(&s);
    lay_out(&g, &s);
    uint64_t version = g.version;
    struct graph_vertex before = g.vertices[3];
    s.vertex_count--;
    s.edge_count = 0;
    set(&g, &s);
    assert_int_equal(graph_work(&g, 1), 1);
    assert_int_equal(g.version, version);
    assert_int_equal(g.vertex_count, VERTICES);
    assert_true(g.vertices[3].x == before.x && g.vertices[3].y == before.y);
    while (graph_work(&g, 1000))
        ;
    assert_int_equal(g.vertex_count, VERTICES - 1);
    assert_int_equal(g.version, version + 1);
    graph_finish(&g);
}

static void a_small_change_moves_little(void **state)
{
    (void)state;
    struct sample s;
    struct graph g = {0};
    fill(&s);
    lay_out(&g, &s);
    struct graph_vertex before[VERTICES];
    memcpy(before, g.vertices, sizeof before);
    /* one vertex more, and one edge */
    s.vertices[VERTICES] = (struct graph_vertex){.key = 5, .group = 2, .weight = 1};
    s.vertex_count = VERTICES + 1;
    s.edges[s.edge_count++] = (struct graph_edge){2 * EACH, VERTICES, 4};
    lay_out(&g, &s);
    double moved = 0, radius = g.groups[0].radius;
    for (uint32_t i = 0; i < VERTICES; i++)
        moved += hypot(g.vertices[i].x - before[i].x, g.vertices[i].y - before[i].y) / VERTICES;
    assert_true(moved < 0.25 * radius);
    graph_finish(&g);
}

static void odd_graphs_are_laid_out_too(void **state)
{
    (void)state;
    struct graph g = {0};
    struct graph_vertex one = {.key = 1, .weight = 1};
    struct graph_group group = {.key = 1};
    assert_int_equal(graph_set(&g, &g, &(struct graph){0}), 0);
    assert_int_equal(graph_work(&g, UINT64_MAX), 0);
    assert_int_equal(g.vertex_count, 0);
    const struct graph given = {
        .vertices = &one, .groups = &group, .vertex_count = 1, .group_count = 1};
    assert_int_equal(graph_set(&g, &g, &given), 0);
    assert_int_equal(graph_work(&g, UINT64_MAX), 0);
    assert_true(isfinite(g.vertices[0].x) && isfinite(g.vertices[0].radius));
    graph_finish(&g);
}

/* ---- edges -------------------------------------------------------------------------------------
 */

enum { W = 200, H = 300 };

static struct bundle_edge straight(double x0, double y0, double x1, double y1)
{
    struct bundle_edge e = {.color = 0xff8000ff, .weight = 1};
    for (int i = 0; i < 4; i++)
        e.at[i] = (struct point){x0 + (x1 - x0) * i / 3, y0 + (y1 - y0) * i / 3};
    return e;
}

static void draw(struct bundle *b, const struct bundle_edge *edges, size_t count, uint64_t units)
{
    assert_int_equal(bundle_begin(b, W, H, 0x101820ff), 0);
    for (size_t i = 0; i < count; i++)
        bundle_add(b, &edges[i]);
    bundle_start(b);
    while (bundle_work(b, units))
        ;
}

static void a_picture_made_in_shares_is_the_same(void **state)
{
    (void)state;
    struct bundle a = {0}, b = {0};
    struct bundle_edge edges[30];
    for (int i = 0; i < 30; i++)
        edges[i] = straight(i * 6, 0, 200 - i * 5, 299);
    draw(&a, edges, 30, UINT64_MAX);
    draw(&b, edges, 30, 40);
    assert_memory_equal(a.image.pixels, b.image.pixels, W * H * sizeof(uint32_t));
    assert_int_equal(a.image.pixels[(H / 2) * W + 1], 0xff101820); /* bare ground */
    bundle_finish(&a);
    bundle_finish(&b);
}

static uint32_t red_at(const struct bundle *b, int x, int y)
{
    return b->image.pixels[y * W + x] >> 16 & 0xff;
}

static void more_edges_are_brighter_and_none_is_lost(void **state)
{
    (void)state;
    struct bundle b = {0};
    struct bundle_edge edges[9];
    for (int i = 0; i < 8; i++)
        edges[i] = straight(50.5, 10, 50.5, 290);
    edges[8] = straight(150.5, 10, 150.5, 290);
    draw(&b, edges, 9, UINT64_MAX);
    for (int y = 20; y < 280; y++) {
        assert_true(red_at(&b, 150, y) > 0x10 + 8);
        assert_true(red_at(&b, 50, y) > red_at(&b, 150, y));
        assert_int_equal(red_at(&b, 100, y), 0x10);
    }
    bundle_finish(&b);
}

static void edges_outside_the_picture_do_no_harm(void **state)
{
    (void)state;
    struct bundle b = {0};
    struct bundle_edge edges[] = {straight(-1e7, -1e7, 1e7, 1e7), straight(-50, 150, 400, 150),
                                  straight(NAN, 0, 10, 10)};
    draw(&b, edges, 3, UINT64_MAX);
    assert_int_equal(b.image.w, W);
    bundle_finish(&b);
}

static void edges_between_the_same_groups_run_together(void **state)
{
    (void)state;
    struct bundle_edge a = straight(20, 100, 180, 110), b = straight(20, 200, 180, 190);
    struct point p = {30, 150}, q = {170, 150};
    bundle_bend(&a, p, q);
    bundle_bend(&b, p, q);
    double middle_a = (a.at[0].y + 3 * a.at[1].y + 3 * a.at[2].y + a.at[3].y) / 8;
    double middle_b = (b.at[0].y + 3 * b.at[1].y + 3 * b.at[2].y + b.at[3].y) / 8;
    assert_true(middle_b - middle_a < 40); /* straight ones would be 90 apart */
    assert_true(a.at[0].y == 100 && a.at[3].y == 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_stand_apart_and_hold_their_vertices),
        cmocka_unit_test(vertices_do_not_lie_upon_each_other),
        cmocka_unit_test(partners_lie_nearer_than_others),
        cmocka_unit_test(the_same_graph_gives_the_same_places_in_any_shares),
        cmocka_unit_test(the_old_places_stay_until_the_new_are_done),
        cmocka_unit_test(a_small_change_moves_little),
        cmocka_unit_test(odd_graphs_are_laid_out_too),
        cmocka_unit_test(a_picture_made_in_shares_is_the_same),
        cmocka_unit_test(more_edges_are_brighter_and_none_is_lost),
        cmocka_unit_test(edges_outside_the_picture_do_no_harm),
        cmocka_unit_test(edges_between_the_same_groups_run_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
