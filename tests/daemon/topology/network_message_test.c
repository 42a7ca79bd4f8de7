/* A network as messages of topic topology, and put together from them again. */
#include "daemon/topology/network_message.h"

#include "daemon/analysis/network/topology_parts.h"
#include "holter/error.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The rows of a message are valid for the call only: each part is added at once. */
struct receiver {
    struct topology_parts parts;
    unsigned messages;
    uint64_t most_rows; /* of one message */
};

static void receive(void *user, const struct wire_topology *m)
{
    struct receiver *r = user;
    uint64_t rows = m->vertices_count + m->edges_count + m->hops_count + m->seats_count;
    assert_int_equal(topology_parts_add(&r->parts, m), 0);
    assert_string_equal(m->job, "job.0");
    r->messages++;
    r->most_rows = rows > r->most_rows ? rows : r->most_rows;
}

static void publish(struct receiver *r, const struct topology_spec *spec,
                    const struct wire_seat_row *seats, size_t seat_count)
{
    const struct network_publication network = {.job = "job.0",
                                                .source = "file",
                                                .fault = spec == NULL ? "no network" : "",
                                                .spec = spec,
                                                .seats = seats,
                                                .seat_count = seat_count};
    memset(r, 0, sizeof(*r));
    network_message(&network, receive, r);
    assert_false(r->parts.more);
}

static void assert_same_routes(const struct topology_spec *left, const struct topology_spec *right)
{
    assert_int_equal(left->route_count, right->route_count);
    for (uint32_t i = 0; i < left->route_count; i++) {
        const struct topology_table *a = &left->routes[i], *b = &right->routes[i];
        assert_int_equal(a->count, b->count);
        assert_memory_equal(left->path + a->first, right->path + b->first,
                            a->count * sizeof(*left->path));
    }
}

static void assert_same(const struct topology_spec *left, const struct topology_spec *right)
{
    assert_string_equal(left->name, right->name);
    assert_int_equal(left->kind, right->kind);
    assert_int_equal(left->tie, right->tie);
    assert_true(left->capacity == right->capacity);
    assert_int_equal(left->dimension_count, right->dimension_count);
    for (uint32_t d = 0; d < left->dimension_count; d++) {
        const struct topology_dimension *a = &left->dimensions[d], *b = &right->dimensions[d];
        assert_string_equal(a->name, b->name);
        assert_true(a->connection == b->connection && a->size == b->size && a->up == b->up &&
                    a->step == b->step);
    }
    assert_int_equal(left->vertex_count, right->vertex_count);
    for (uint32_t i = 0; i < left->vertex_count; i++) {
        assert_string_equal(left->vertices[i].name, right->vertices[i].name);
        assert_int_equal(left->vertices[i].kind, right->vertices[i].kind);
    }
    assert_int_equal(left->edge_count, right->edge_count);
    for (uint32_t i = 0; i < left->edge_count; i++) {
        const struct topology_edge *a = &left->edges[i], *b = &right->edges[i];
        assert_true(a->from == b->from && a->to == b->to && a->capacity == b->capacity);
        assert_string_equal(a->interface, b->interface);
    }
    assert_same_routes(left, right);
}

/* Give a network routes from node 0 to each of the others, along their numbers, and back. */
static void give_routes(struct topology_spec *spec, uint32_t nodes)
{
    spec->routes = calloc(2 * nodes, sizeof(*spec->routes));
    spec->path = calloc((size_t)2 * nodes * nodes, sizeof(*spec->path));
    assert_true(spec->routes != NULL && spec->path != NULL);
    for (int back = 0; back < 2; back++)
        for (uint32_t end = 1; end < nodes; end++) {
            spec->routes[spec->route_count++] = (struct topology_table){spec->path_count, end + 1};
            for (uint32_t at = 0; at <= end; at++)
                spec->path[spec->path_count++] = back ? end - at : at;
        }
}

static void name_vertices(struct topology_spec *spec, uint32_t count)
{
    spec->vertices = calloc(count, sizeof(*spec->vertices));
    assert_non_null(spec->vertices);
    for (; spec->vertex_count < count; spec->vertex_count++)
        snprintf(spec->vertices[spec->vertex_count].name, TOPOLOGY_NAME + 1, "n%05" PRIu32,
                 spec->vertex_count);
}

static struct topology_spec network(const char *text)
{
    struct topology_spec spec;
    char why[200];
    assert_int_equal(topology_short(&spec, text, why, sizeof(why)), 0);
    return spec;
}

static void routes_of_one_source_stay_apart(void **state)
{
    static const struct wire_seat_row seats[] = {{0, 3}, {1, 0}, {2, UINT64_MAX}};
    struct receiver r;
    struct topology_spec spec = network("mesh:12/capacity=1e9");
    (void)state;
    give_routes(&spec, 12);
    publish(&r, &spec, seats, 3);
    assert_int_equal(r.messages, 1);
    assert_same(&spec, &r.parts.spec);
    assert_string_equal(r.parts.source, "file");
    assert_int_equal(r.parts.seat_count, 3);
    assert_memory_equal(r.parts.seats, seats, sizeof(seats));
    topology_parts_finish(&r.parts);
    topology_spec_finish(&spec);
}

static void a_large_network_comes_in_parts_of_bounded_size(void **state)
{
    struct receiver r;
    struct topology_spec spec = network("mesh:300,100");
    (void)state;
    name_vertices(&spec, 30000);
    give_routes(&spec, 100); /* 9,900 rows: some route is cut at the end of a part */
    publish(&r, &spec, NULL, 0);
    assert_int_equal(r.messages, 3);
    assert_int_equal(r.most_rows, WIRE_PART_ROWS);
    assert_same(&spec, &r.parts.spec);
    topology_parts_finish(&r.parts);
    topology_spec_finish(&spec);
}

static void a_graph_keeps_its_links(void **state)
{
    struct receiver r;
    struct topology_spec spec = {.name = "three", .kind = TOPOLOGY_GRAPH};
    (void)state;
    name_vertices(&spec, 3);
    spec.vertices[2].kind = VERTEX_SWITCH;
    spec.edge_count = 4;
    spec.edges = calloc(4, sizeof(*spec.edges));
    assert_non_null(spec.edges);
    for (uint32_t i = 0; i < 4; i++)
        spec.edges[i] =
            (struct topology_edge){i % 2 ? 2 : i / 2, i % 2 ? i / 2 : 2, 1e9 * i, "ib0"};
    publish(&r, &spec, NULL, 0);
    assert_same(&spec, &r.parts.spec);
    assert_true(topology_parts_has(&r.parts));
    topology_parts_finish(&r.parts);
    publish(&r, NULL, NULL, 0);
    assert_false(topology_parts_has(&r.parts));
    assert_string_equal(r.parts.fault, "no network");
    topology_parts_finish(&r.parts);
    topology_spec_finish(&spec);
}

static void numbers_out_of_range_refuse_the_network_and_its_further_parts(void **state)
{
    const struct wire_dimension_row side = {"x", 4, 0, 0, 0}, wide = {"x", UINT32_MAX, 0, 0, 0};
    const struct wire_vertex_row vertex = {"n0", 0};
    const struct wire_edge_row edge = {0, UINT64_C(1) << 32, 0, ""};
    const struct wire_hop_row hops[] = {
        {UINT64_MAX, 1, 1}, {0, UINT64_C(1) << 32, 1}, {0, 1, UINT32_MAX}};
    const struct wire_topology good = {.dimensions = &side, .dimensions_count = 1, .more = 1};
    const struct wire_topology bad[] = {
        {.dimensions = &wide, .dimensions_count = 1, .more = 1},
        {.kind = UINT64_C(1) << 32, .more = 1},
        {.tie = UINT64_MAX, .more = 1},
        {.edges = &edge, .edges_count = 1, .more = 1},
        {.hops = &hops[0], .hops_count = 1, .more = 1},
        {.hops = &hops[1], .hops_count = 1, .more = 1},
        {.hops = &hops[2], .hops_count = 1, .more = 1},
    };
    const struct wire_topology further = {.vertices = &vertex, .vertices_count = 1, .more = 1};
    struct topology_parts parts = {.more = 0};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (i > 2)
            assert_int_equal(topology_parts_add(&parts, &good), 0);
        assert_int_equal(topology_parts_add(&parts, &bad[i]), -HOLTER_ERANGE);
        assert_int_equal(topology_parts_add(&parts, &further), -HOLTER_ERANGE);
        assert_false(topology_parts_has(&parts));
        assert_int_equal(topology_parts_add(&parts, &(struct wire_topology){.more = 0}),
                         -HOLTER_ERANGE);
    }
    assert_int_equal(topology_parts_add(&parts, &good), 0); /* the next one is not */
    topology_parts_finish(&parts);
}

/* Parts that never end would take all memory otherwise. */
static void more_seats_than_a_job_has_ranks_refuse_the_network(void **state)
{
    const struct wire_seat_row seat = {0, 0};
    const struct wire_topology part = {.seats = &seat, .seats_count = 1, .more = 1};
    struct topology_parts parts = {.more = 0};
    (void)state;
    assert_int_equal(topology_parts_add(&parts, &part), 0);
    parts.seat_count = parts.seat_capacity = TOPOLOGY_MAXIMUM_SEATS;
    assert_int_equal(topology_parts_add(&parts, &part), -HOLTER_ERANGE);
    assert_null(parts.seats);
    assert_int_equal(topology_parts_add(&parts, &part), -HOLTER_ERANGE);
    topology_parts_finish(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_of_one_source_stay_apart),
        cmocka_unit_test(a_large_network_comes_in_parts_of_bounded_size),
        cmocka_unit_test(a_graph_keeps_its_links),
        cmocka_unit_test(more_seats_than_a_job_has_ranks_refuse_the_network),
        cmocka_unit_test(numbers_out_of_range_refuse_the_network_and_its_further_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
