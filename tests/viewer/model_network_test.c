/* What the viewer keeps of topology, links and suggestions, whatever it is told. */
#include "viewer/model/flows.h"

#include "tests/viewer/synthetic_network.h"

#include "holter/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bed {
    struct synthetic_network net;
    struct model *model;
};

static void into(void *user, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(user, message, snapshot), 0);
}

static void open_bed(struct bed *b, const char *form, uint32_t per_node)
{
    assert_int_equal(model_create(&b->model, 64u << 20), 0);
    synthetic_network_init(&b->net, form, per_node);
}

static void close_bed(struct bed *b)
{
    synthetic_network_finish(&b->net);
    model_destroy(b->model);
}

static void a_topology_in_parts_is_put_together(void **state)
{
    struct bed b;
    char name[100];
    (void)state;
    open_bed(&b, "torus:4,4,2", 3);
    b.net.part_rows = 7;
    synthetic_network_begin(&b.net, into, b.model);
    const struct network *n = &b.model->network;
    assert_non_null(n->topology);
    assert_int_equal(n->version, 1);
    assert_int_equal(topology_vertices(n->topology), 32);
    assert_int_equal(n->seat_count, 96);
    for (uint32_t r = 0; r < 96; r++)
        assert_int_equal(network_seat(n, r), r / 3);
    assert_int_equal(network_seat(n, 96), TOPOLOGY_NONE);
    uint32_t link = topology_link_between(n->topology, 0, 8);
    assert_string_equal(network_link_name(n, link, name, sizeof name),
                        "(0,0,0) \xe2\x86\x92 (1,0,0)");
    b.net.seats[5].vertex = 31;
    synthetic_network_topology(&b.net, into, b.model);
    assert_int_equal(n->version, 2);
    assert_int_equal(network_seat(n, 5), 31);
    close_bed(&b);
}

static void apply_topology(struct model *m, struct wire_topology topology)
{
    struct wire_message message = {.type = WIRE_TYPE_TOPOLOGY};
    topology.job = "48213.0";
    topology.name = topology.name ? topology.name : "net";
    topology.source = topology.source ? topology.source : "";
    topology.fault = topology.fault ? topology.fault : "";
    message.topology = topology;
    into(m, &message, 0);
}

static void what_contradicts_itself_is_reported_and_the_rest_goes_on(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4", 1);
    const struct network *n = &b.model->network;
    const struct wire_edge_row loose[] = {{0, 99999999999, NAN, NULL}};
    const struct wire_vertex_row two[] = {{"a", 0}, {NULL, 77}};
    apply_topology(b.model, (struct wire_topology){.kind = TOPOLOGY_GRAPH,
                                                   .vertices = two,
                                                   .vertices_count = 2,
                                                   .edges = loose,
                                                   .edges_count = 1});
    assert_null(n->topology);
    assert_true(n->fault[0] != 0);
    apply_topology(b.model, (struct wire_topology){.kind = 15, .capacity = -INFINITY});
    assert_null(n->topology);
    apply_topology(b.model, (struct wire_topology){.fault = "line 3: no such dimension"});
    assert_string_equal(n->fault, "line 3: no such dimension");
    synthetic_network_begin(&b.net, into, b.model);
    assert_non_null(n->topology);
    assert_string_equal(n->fault, "");
    /* seats that are no vertices, and ranks beyond all bounds */
    const struct wire_seat_row seats[] = {{0, 16}, {1, 15}, {UINT64_MAX, 3}, {3, UINT64_MAX}};
    const struct wire_dimension_row side[] = {{"x", 4, 0, 0, 0}, {"y", 4, 0, 1, 0}};
    apply_topology(
        b.model, (struct wire_topology){
                     .dimensions = side, .dimensions_count = 2, .seats = seats, .seats_count = 4});
    assert_int_equal(n->seat_count, 4);
    assert_int_equal(network_seat(n, 0), TOPOLOGY_NONE);
    assert_int_equal(network_seat(n, 1), 15);
    assert_int_equal(network_seat(n, 3), TOPOLOGY_NONE);
    close_bed(&b);
}

static void given_routes_go_before_the_rule(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4", 1);
    const struct network *n = &b.model->network;
    const struct wire_dimension_row side[] = {{"x", 4, 0, 0, 0}, {"y", 4, 0, 1, 0}};
    const struct wire_hop_row hops[] = {{0, 5, 1}, {0, 5, 5}, {0, 1, 4}, {0, 1, 5}, {0, 1, 1}};
    const struct wire_hop_row rest[] = {{9, 10, 10}};
    uint32_t links[16];
    apply_topology(
        b.model,
        (struct wire_topology){
            .dimensions = side, .dimensions_count = 2, .hops = hops, .hops_count = 4, .more = 1});
    assert_null(n->topology);
    apply_topology(b.model, (struct wire_topology){.hops = hops + 4, .hops_count = 1, .more = 1});
    apply_topology(b.model, (struct wire_topology){.hops = rest, .hops_count = 1});
    assert_string_equal(n->fault, "");
    assert_non_null(n->topology);
    assert_int_equal(topology_route(n->topology, 0, 1, links, 16), 3);
    assert_int_equal(topology_route(n->topology, 0, 5, links, 16), 2);
    assert_int_equal(links[0], topology_link_between(n->topology, 0, 1));
    close_bed(&b);
}

/* ---- links -------------------------------------------------------------------------------------
 */

static void rows_are_of_the_newest_window_and_samples_of_those_before(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4,4", 2);
    b.net.measured = 1;
    synthetic_network_begin(&b.net, into, b.model);
    const struct network *n = &b.model->network;
    uint32_t hot = b.net.hot, count;
    float loads[40];
    for (int i = 0; i < 40; i++) {
        synthetic_network_window(&b.net, into, b.model);
        loads[i] = (float)b.net.loads[hot];
    }
    assert_int_equal(n->window, SYNTHETIC_FIRST + 39);
    assert_int_equal(n->link_count, b.net.link_count);
    for (uint32_t i = 0; i < n->link_count; i++) {
        const struct wire_link_row *row = network_row(n, n->links[i].link);
        assert_ptr_equal(row, &n->links[i]);
        assert_int_equal(row->bytes, b.net.loads[row->link]);
        assert_true(!i || row->bytes <= row[-1].bytes);
    }
    for (uint64_t i = 0; i < 40; i++)
        assert_float_equal(network_sample(n, hot, SYNTHETIC_FIRST + i)->load, loads[i], 1);
    assert_null(network_sample(n, hot, SYNTHETIC_FIRST + 40));
    assert_null(network_sample(n, hot, SYNTHETIC_FIRST - 1));
    const struct wire_link_route_row *routes = network_routes_of(n, n->links[0].link, &count);
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++)
        assert_true(topology_crosses(n->topology, network_seat(n, routes[i].source),
                                     network_seat(n, routes[i].destination),
                                     (uint32_t)n->links[0].link));
    assert_null(network_routes_of(n, 123456, &count));
    assert_int_equal(count, 0);
    close_bed(&b);
}

static void put_links(struct model *m, uint64_t window, const struct wire_link_row *rows,
                      uint64_t count, int more)
{
    struct wire_message message = {.type = WIRE_TYPE_LINKS};
    message.links = (struct wire_links){.job = "48213.0",
                                        .window = window,
                                        .links = rows,
                                        .links_count = count,
                                        .more = (uint64_t)more};
    into(m, &message, 0);
}

/* As in the tree of hosts, when the agent of a further one reports. */
static void another_network_begins_without_the_samples_of_the_one_before(void **state)
{
    struct model *m;
    (void)state;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    const struct wire_vertex_row one[] = {{"b", 0}, {"network", 1}},
                                 two[] = {{"a", 0}, {"b", 0}, {"network", 1}};
    const struct wire_edge_row below[] = {{0, 1, 0, NULL}, {1, 0, 0, NULL}, {0, 2, 0, NULL},
                                          {2, 0, 0, NULL}, {1, 2, 0, NULL}, {2, 1, 0, NULL}};
    const struct wire_seat_row seat = {0, 1};
    const struct wire_link_row up = {.link = 0, .to = 1, .bytes = 1000, .measured = 2000};
    const struct network *n = &m->network;
    struct wire_topology tree = {.kind = TOPOLOGY_TREE,
                                 .vertices = one,
                                 .vertices_count = 2,
                                 .edges = below,
                                 .edges_count = 2};
    uint64_t measured[6] = {0};
    apply_topology(m, tree);
    put_links(m, 10, &up, 1, 0);
    tree.seats = &seat;
    tree.seats_count = 1;
    apply_topology(m, tree); /* the same one: only a rank has moved */
    assert_non_null(network_sample(n, 0, 10));
    assert_int_equal(n->link_count, 1);
    tree.vertices = two;
    tree.vertices_count = 3;
    tree.edges = below + 2;
    tree.edges_count = 4;
    apply_topology(m, tree);
    assert_null(network_sample(n, 0, 10));
    assert_int_equal(n->link_count, 0);
    history_sum(&m->measured.history, 0, UINT64_MAX, measured, 6);
    assert_int_equal(measured[0], 0);
    put_links(m, 11, &up, 1, 0);
    assert_int_equal(network_sample(n, 0, 11)->load, 1000);
    history_sum(&m->measured.history, 0, UINT64_MAX, measured, 6);
    assert_int_equal(measured[0], 2000);
    model_destroy(m);
}

static void rings_hold_so_many_windows_and_links(void **state)
{
    enum { LINKS = NETWORK_TRACES + 300 };
    struct model *m;
    (void)state;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    const struct network *n = &m->network;
    struct wire_link_row *rows = calloc(LINKS, sizeof *rows);
    for (uint64_t i = 0; i < LINKS; i++)
        rows[i] = (struct wire_link_row){.link = i * 7, .bytes = 1000 + i, .share = NAN};
    put_links(m, 10, rows, 500, 1);
    assert_false(n->rows_known);
    put_links(m, 10, rows + 500, LINKS - 500, 0);
    assert_int_equal(n->link_count, LINKS);
    assert_int_equal(n->trace_count, NETWORK_TRACES);
    put_links(m, 11, rows + LINKS - 10, 10, 0); /* the ones that had no room take that of others */
    assert_int_equal(n->trace_count, NETWORK_TRACES);
    assert_int_equal(n->link_count, 10);
    assert_non_null(network_sample(n, 7 * (LINKS - 1), 11));
    put_links(m, 9, rows, 1, 0); /* late */
    assert_int_equal(n->window, 11);
    for (uint64_t w = 12; w < 12 + 2 * NETWORK_WINDOWS; w += 3)
        put_links(m, w, rows + LINKS - 1, 1, 0);
    uint64_t newest = n->window, known = 0;
    for (uint64_t w = 0; w <= newest; w++)
        known += network_sample(n, 7 * (LINKS - 1), w) != NULL;
    assert_int_equal(known, (NETWORK_WINDOWS + 2) / 3);
    free(rows);
    model_destroy(m);
}

static void senseless_rows_do_no_harm(void **state)
{
    struct model *m;
    char text[200];
    uint32_t count;
    (void)state;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    const struct network *n = &m->network;
    const struct wire_link_row rows[] = {
        {.link = UINT64_MAX, .from = UINT64_MAX, .to = 3},
        {.link = 5,
         .from = UINT64_MAX,
         .to = 1u << 31,
         .state = 7,
         .average = NAN,
         .share = -INFINITY,
         .latency = NAN,
         .ratio = INFINITY,
         .bytes = UINT64_MAX},
        {.link = 5, .bytes = 3},
    };
    const struct wire_link_route_row routes[] = {{UINT64_MAX, UINT64_MAX, 0, 0, 0, UINT64_MAX}};
    struct wire_message message = {.type = WIRE_TYPE_LINKS};
    message.links = (struct wire_links){.job = "48213.0",
                                        .window = UINT64_MAX,
                                        .links = rows,
                                        .links_count = 3,
                                        .routes = routes,
                                        .routes_count = 1,
                                        .hop_bytes = NAN};
    into(m, &message, 0);
    assert_int_equal(n->link_count, 2);
    assert_non_null(network_row(n, 5));
    assert_int_equal(network_row(n, 5)->state, LINK_CONGESTED);
    network_link_name(n, 5, text, sizeof text);
    network_link_name(n, 6, text, sizeof text);
    assert_string_equal(text, "link 6");
    assert_null(network_routes_of(n, 5, &count));
    const struct wire_hop_row hops[] = {{UINT64_MAX, UINT64_MAX, 3}, {0, UINT64_MAX, UINT64_MAX}};
    apply_topology(m, (struct wire_topology){.kind = 5, .hops = hops, .hops_count = 2});
    assert_true(n->topology == NULL && n->fault[0]);
    model_forget_job(m);
    assert_int_equal(n->link_count, 0);
    assert_null(network_sample(n, 5, UINT64_MAX));
    model_destroy(m);
}

/* ---- suggestions -------------------------------------------------------------------------------
 */

static void a_mapping_comes_with_progress_and_ends_with_its_reply(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4", 2);
    synthetic_network_begin(&b.net, into, b.model);
    struct network *n = &b.model->network;
    const struct suggestion *s = &n->suggestions[SUGGEST_MAPPING];
    synthetic_network_mapping(&b.net, 1, into, b.model); /* nobody asked */
    assert_false(s->ready);
    network_asked(n, SUGGEST_MAPPING, "hop-bytes");
    synthetic_network_mapping(&b.net, 0.3, into, b.model);
    assert_true(s->waiting && !s->ready);
    assert_float_equal(s->progress, 0.3, 1e-12);
    synthetic_network_mapping(&b.net, 1, into, b.model);
    network_replied(n, SUGGEST_MAPPING, 0, NULL);
    assert_true(!s->waiting && s->ready);
    assert_int_equal(s->seat_count, 32);
    assert_int_equal(s->seats[4], 3);
    assert_int_equal(s->gain_count, 4);
    uint64_t version = s->version;
    network_asked(n, SUGGEST_MAPPING, "max-link");
    assert_true(s->version > version && !s->ready && s->waiting);
    network_replied(n, SUGGEST_MAPPING, -HOLTER_EUSAGE, "no such objective");
    assert_string_equal(s->error_text, "no such objective");
    close_bed(&b);
}

static void suggested_routes_with_a_gap_are_not_used(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4", 1);
    synthetic_network_begin(&b.net, into, b.model);
    struct network *n = &b.model->network;
    const struct suggestion *s = &n->suggestions[SUGGEST_ROUTES];
    const struct wire_reroute_row rows[] = {{5, 0, 1, 2, 2, 1, 1},
                                            {0, 5, 1, 2, 2, 1, 1},
                                            {0, 10, 1, 4, 4, 1, 1},
                                            {3, 3000000000, 1, 4, 4, 1, 1}};
    const struct wire_hop_row hops[] = {{0, 5, 4},   {0, 5, 5}, {0, 10, 5},
                                        {0, 10, 10}, {7, 8, 8}, {3, 3000000000, 3000000000},
                                        {0, 5, 6}};
    struct wire_message message = {.type = WIRE_TYPE_ROUTES};
    message.routes = (struct wire_routes){
        .job = "48213.0", .routes = rows, .routes_count = 4, .hops = hops, .hops_count = 6};
    network_asked(n, SUGGEST_ROUTES, "");
    into(b.model, &message, 0);
    network_replied(n, SUGGEST_ROUTES, 0, NULL);
    assert_int_equal(s->route_count, 4);
    assert_int_equal(s->routes[0].destination, 5);
    assert_int_equal(s->routes[0].count, 3);
    assert_int_equal(s->routes[1].count, 0); /* 0 and 5 are not linked */
    assert_int_equal(s->routes[2].count, 0);
    assert_int_equal(s->routes[3].count, 0);
    close_bed(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topology_in_parts_is_put_together),
        cmocka_unit_test(what_contradicts_itself_is_reported_and_the_rest_goes_on),
        cmocka_unit_test(given_routes_go_before_the_rule),
        cmocka_unit_test(rows_are_of_the_newest_window_and_samples_of_those_before),
        cmocka_unit_test(another_network_begins_without_the_samples_of_the_one_before),
        cmocka_unit_test(rings_hold_so_many_windows_and_links),
        cmocka_unit_test(senseless_rows_do_no_harm),
        cmocka_unit_test(a_mapping_comes_with_progress_and_ends_with_its_reply),
        cmocka_unit_test(suggested_routes_with_a_gap_are_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
