/* What the network carries, against a plain sum over pairs and hops. */
#include "viewer/ui/ui.h"

#include "tests/viewer/by_groups.h"
#include "tests/viewer/synthetic_network.h"

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
    struct range range;
    struct ui ui;
};

static void into(void *user, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(user, message, snapshot), 0);
}

static int update(struct bed *b)
{
    uint64_t first = 0, last = 0;
    ui_windows(&b->ui, b->model, &first, &last);
    assert_true(range_update(&b->range, b->model, b->ui.time.range, first, last) >= 0);
    int changed = ui_update_flows(&b->ui, b->model, &b->range);
    assert_true(changed >= 0);
    return changed;
}

static void open_bed(struct bed *b, const char *form, uint32_t per_node, int windows)
{
    memset(b, 0, sizeof *b);
    assert_int_equal(model_create(&b->model, 64u << 20), 0);
    ui_init(&b->ui, 1600, 900, 1, THEME_DARK);
    b->ui.view = VIEW_LINKS;
    synthetic_network_init(&b->net, form, per_node);
    synthetic_network_begin(&b->net, into, b->model);
    for (int i = 0; i < windows; i++)
        synthetic_network_window(&b->net, into, b->model);
    update(b);
}

static void close_bed(struct bed *b)
{
    synthetic_network_finish(&b->net);
    ui_finish(&b->ui);
    range_finish(&b->range);
    model_destroy(b->model);
}

/* ---- sums --------------------------------------------------------------------------------------
 */

struct plain {
    uint64_t *loads, *messages, *in, *out, *transit, bytes, local;
    double hop_bytes;
};

/* Pair by pair and hop by hop. */
static void add_up(const struct bed *b, const uint32_t *seats, struct plain *p)
{
    const struct topology *t = b->model->network.topology;
    uint32_t links[128], from, to;
    p->loads = calloc(topology_links(t) + 1, sizeof *p->loads);
    p->messages = calloc(topology_links(t) + 1, sizeof *p->messages);
    p->in = calloc(topology_vertices(t), sizeof *p->in);
    p->out = calloc(topology_vertices(t), sizeof *p->out);
    p->transit = calloc(topology_vertices(t), sizeof *p->transit);
    for (uint32_t i = 0; i < b->range.pairs.count; i++) {
        struct model_pair pair = model_pair_at(&b->model->pairs, i);
        const uint64_t *f = b->range.pairs.figures + (size_t)i * PAIR_COLUMNS;
        uint32_t a = seats[pair.source], c = seats[pair.destination];
        if (a == c) {
            p->local += f[PAIR_BYTES];
            continue;
        }
        uint32_t length = topology_route(t, a, c, links, 128);
        p->bytes += f[PAIR_BYTES];
        p->hop_bytes += (double)f[PAIR_BYTES] * length;
        p->out[a] += f[PAIR_MESSAGES];
        p->in[c] += f[PAIR_MESSAGES];
        for (uint32_t k = 0; k < length; k++) {
            p->loads[links[k]] += f[PAIR_BYTES];
            p->messages[links[k]] += f[PAIR_MESSAGES];
            topology_link(t, links[k], &from, &to);
            if (k + 1 < length)
                p->transit[to] += f[PAIR_BYTES];
        }
    }
}

static void free_plain(struct plain *p)
{
    free(p->loads);
    free(p->messages);
    free(p->in);
    free(p->out);
    free(p->transit);
}

static void assert_as_plain(const struct bed *b, const uint32_t *seats)
{
    const struct flows *f = &b->range.flows;
    struct plain p = {0};
    add_up(b, seats, &p);
    assert_int_equal(f->bytes, p.bytes);
    assert_int_equal(f->local_bytes, p.local);
    assert_int_equal(f->unplaced_bytes, 0);
    assert_true(fabs(f->hop_bytes - p.hop_bytes) <= 1e-9 * p.hop_bytes);
    uint64_t largest = 0;
    for (uint32_t l = 0; l < f->link_count; l++) {
        assert_int_equal(f->loads[l], p.loads[l]);
        assert_int_equal(f->messages[l], p.messages[l]);
        largest = p.loads[l] > largest ? p.loads[l] : largest;
    }
    assert_int_equal(f->largest, largest);
    for (uint32_t v = 0; v < f->vertex_count; v++) {
        assert_int_equal(f->vertices[v].in, p.in[v]);
        assert_int_equal(f->vertices[v].out, p.out[v]);
        assert_int_equal(f->vertices[v].transit, p.transit[v]);
    }
    for (uint32_t i = 1; i < f->route_count; i++) {
        const struct flow *a = &f->routes[i - 1], *c = &f->routes[i];
        assert_true(a->source < c->source ||
                    (a->source == c->source && a->destination < c->destination));
    }
    free_plain(&p);
}

static void loads_are_those_of_every_pair_and_hop(void **state)
{
    static const char *const forms[] = {"torus:4,4,2",
                                        "mesh:8,8",
                                        "torus:4,3,5a",
                                        "hypercube:5",
                                        "dragonfly:groups=5,routers=4,nodes=2,global=1",
                                        "fattree:k=4"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct bed b;
        open_bed(&b, forms[i], 3, 5);
        assert_true(b.range.flows.route_count > 0);
        assert_as_plain(&b, b.model->network.seats);
        for (uint32_t v = 0; v < topology_nodes(b.net.topology); v++) {
            const struct flows *f = &b.range.flows;
            assert_int_equal(f->first_rank[v + 1] - f->first_rank[v], 3);
            assert_int_equal(f->ranks[f->first_rank[v]], v * 3);
        }
        close_bed(&b);
    }
}

static void a_part_of_the_time_has_its_own_loads(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4,4", 2, 90);
    uint64_t all = b.range.flows.bytes;
    ui_pan_time(&b.ui, b.model, -20ll * 1000000000);
    ui_zoom_time(&b.ui, b.model, 0.25, b.ui.time.end_ns);
    assert_int_equal(update(&b), 1);
    assert_true(b.range.flows.bytes < all);
    assert_as_plain(&b, b.model->network.seats);
    assert_int_equal(update(&b), 0); /* nothing changed */
    close_bed(&b);
}

/* A group of eight ranks is on three nodes of three ranks each. */
static void a_job_by_groups_of_ranks_has_the_routes_of_its_nodes(void **state)
{
    (void)state;
    struct bed b;
    open_bed(&b, "torus:4,4,2", 3, 5);
    const uint32_t routes = b.range.flows.route_count;
    model_keep_by_groups(b.model, 8, 3);
    update(&b);
    assert_int_equal(b.range.flows.route_count, routes);
    assert_as_plain(&b, b.model->network.seats);
    ui_select(&b.ui, (struct selection){SELECT_RANK, 8, 0});
    update(&b);
    const struct flows *f = &b.range.flows;
    assert_true(f->selected_routes > 0);
    for (uint32_t i = 0; i < f->route_count; i++) {
        const uint32_t from = f->ranks[f->first_rank[f->routes[i].source]] / 8,
                       to = f->ranks[f->first_rank[f->routes[i].destination]] / 8;
        assert_int_equal((f->route_marks[i] & FLOW_SELECTED) != 0, from == 1 || to == 1);
    }
    close_bed(&b);
}

static void ranks_that_move_take_their_messages_along(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4,4", 2, 5);
    for (uint32_t r = 0; r < b.net.job.ranks; r++)
        b.net.seats[r].vertex = (r * 5 + r / 7) % 64;
    synthetic_network_topology(&b.net, into, b.model);
    assert_int_equal(update(&b), 1);
    assert_as_plain(&b, b.model->network.seats);
    b.net.seats[0].vertex = UINT64_MAX;
    synthetic_network_topology(&b.net, into, b.model);
    update(&b);
    assert_true(b.range.flows.unplaced_bytes > 0);
    close_bed(&b);
}

static void without_topology_nothing_is_carried(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4", 1, 3);
    struct wire_message message = {.type = WIRE_TYPE_TOPOLOGY};
    message.topology = (struct wire_topology){
        .job = "48213.0", .name = "n", .source = "", .fault = "line 2: not a number"};
    into(b.model, &message, 0);
    assert_int_equal(update(&b), 1);
    assert_int_equal(b.range.flows.route_count, 0);
    assert_int_equal(b.range.flows.link_count, 0);
    assert_int_equal(flows_find(&b.range.flows, 0, 1), FLOWS_NONE);
    close_bed(&b);
}

static void views_of_other_things_need_no_sums(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4", 2, 3);
    uint64_t bytes = b.range.flows.bytes;
    assert_true(bytes > 0);
    b.ui.view = VIEW_LIVE;
    update(&b);
    assert_int_equal(b.range.flows.link_count, 0);
    assert_int_equal(b.range.flows.route_count, 0);
    assert_int_equal(update(&b), 0);
    ui_select(&b.ui, (struct selection){SELECT_LINK, b.net.hot, 0});
    assert_int_equal(update(&b), 1);
    assert_int_equal(b.range.flows.bytes, bytes);
    assert_as_plain(&b, b.model->network.seats);
    assert_true(b.range.flows.selected_routes > 0);
    ui_select(&b.ui, (struct selection){0});
    update(&b);
    assert_int_equal(b.range.flows.bytes, 0);
    b.ui.view = VIEW_LINKS;
    update(&b);
    assert_int_equal(b.range.flows.bytes, bytes);
    close_bed(&b);
}

/* ---- suggestions -------------------------------------------------------------------------------
 */

static void a_suggested_mapping_is_applied_and_undone(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:8,4", 2, 5);
    struct network *n = &b.model->network;
    double before = b.range.flows.hop_bytes;
    uint64_t largest = b.range.flows.largest;
    ui_command(&b.ui, b.model, COMMAND_APPLY, SUGGEST_MAPPING); /* there is none */
    assert_int_equal(b.ui.network.applied, 0);
    network_asked(n, SUGGEST_MAPPING, "hop-bytes");
    synthetic_network_mapping(&b.net, 1, into, b.model);
    network_replied(n, SUGGEST_MAPPING, 0, NULL);
    n->suggestions[SUGGEST_MAPPING].seats[7] = TOPOLOGY_NONE; /* stays where it is */
    ui_command(&b.ui, b.model, COMMAND_APPLY, SUGGEST_MAPPING);
    assert_int_equal(update(&b), 1);
    uint32_t *seats = malloc(n->seat_count * sizeof *seats);
    memcpy(seats, n->suggestions[SUGGEST_MAPPING].seats, n->seat_count * sizeof *seats);
    seats[7] = n->seats[7];
    assert_as_plain(&b, seats);
    free(seats);
    assert_true(b.range.reality.hop_bytes == before && b.range.reality.largest == largest);
    ui_command(&b.ui, b.model, COMMAND_COMPARE, COMPARE_BEFORE);
    update(&b);
    assert_true(b.range.flows.hop_bytes == before && b.range.flows.largest == largest);
    ui_command(&b.ui, b.model, COMMAND_COMPARE, COMPARE_DIFFERENCE);
    update(&b);
    assert_int_equal(b.ui.network.applied, FLOWS_MAPPING);
    ui_command(&b.ui, b.model, COMMAND_UNDO_STEP, 0);
    update(&b);
    assert_true(b.range.flows.hop_bytes == before && b.range.flows.largest == largest);
    close_bed(&b);
}

static void very_long_routes_load_their_links_though_they_are_not_stored(void **state)
{
    struct bed b;
    (void)state;
    memset(&b, 0, sizeof b);
    assert_int_equal(model_create(&b.model, 64u << 20), 0);
    ui_init(&b.ui, 1600, 900, 1, THEME_DARK);
    b.ui.view = VIEW_LINKS;
    synthetic_network_init(&b.net, "mesh:1024", 1);
    synthetic_network_scatter(&b.net, 60000, 1);
    synthetic_network_begin(&b.net, into, b.model);
    synthetic_network_window(&b.net, into, b.model);
    update(&b);
    const struct flows *f = &b.range.flows;
    double sum = 0, hops = 0;
    for (uint32_t l = 0; l < f->link_count; l++)
        sum += (double)f->loads[l];
    for (uint32_t i = 0; i < f->route_count; i++)
        hops += f->routes[i].length;
    assert_true(hops > 4 << 20);
    assert_true(sum == f->hop_bytes && sum > 0);
    close_bed(&b);
}

static void suggested_routes_unload_the_hot_link(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:8,4,4", 1, 5);
    struct network *n = &b.model->network;
    uint64_t before = b.range.flows.loads[b.net.hot];
    network_asked(n, SUGGEST_ROUTES, "");
    uint32_t count = synthetic_network_routes(&b.net, into, b.model);
    network_replied(n, SUGGEST_ROUTES, 0, NULL);
    assert_true(count >= 2);
    ui_command(&b.ui, b.model, COMMAND_APPLY, SUGGEST_ROUTES);
    update(&b);
    const struct flows *f = &b.range.flows;
    assert_true(f->loads[b.net.hot] < before / 4);
    uint32_t given = 0, links[64];
    for (uint32_t i = 0; i < f->route_count; i++) {
        if (f->routes[i].given == FLOWS_NONE)
            continue;
        given++;
        uint32_t length = flows_walk(f, b.model, i, links, 64);
        assert_int_equal(length, f->routes[i].length);
        for (uint32_t k = 0; k < length; k++)
            assert_true(flows_crosses(f, b.model, i, links[k]));
        assert_false(flows_crosses(f, b.model, i, b.net.hot));
    }
    assert_int_equal(given, count);
    suggestion_clear(&n->suggestions[SUGGEST_ROUTES]); /* discarded: the step remains */
    update(&b);
    assert_int_equal(b.ui.network.applied, FLOWS_ROUTES);
    ui_command(&b.ui, b.model, COMMAND_UNDO_STEP, 0);
    update(&b);
    assert_int_equal(b.ui.network.applied, 0);
    assert_int_equal(f->loads[b.net.hot], before);
    close_bed(&b);
}

/* ---- marks -------------------------------------------------------------------------------------
 */

static void a_link_selects_its_routes_and_their_ranks(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:8,4,4", 2, 5);
    const struct topology *t = b.model->network.topology;
    const struct flows *f = &b.range.flows;
    uint8_t *expected = calloc(b.model->rank_count, 1);
    for (uint32_t i = 0; i < b.range.pairs.count; i++) {
        struct model_pair p = model_pair_at(&b.model->pairs, i);
        uint32_t from = p.source / 2, to = p.destination / 2;
        if (from != to && topology_crosses(t, from, to, b.net.hot))
            expected[p.source] = expected[p.destination] = 1;
    }
    ui_select(&b.ui, (struct selection){SELECT_LINK, b.net.hot, 0});
    assert_int_equal(update(&b), 1);
    assert_true(f->selected_routes >= 4);
    for (uint32_t r = 0; r < b.model->rank_count; r++)
        assert_int_equal(ui_marks_rank(&b.ui, b.model, r), expected[r]);
    for (uint32_t i = 0; i < f->route_count; i++)
        assert_int_equal(
            (f->route_marks[i] & FLOW_SELECTED) != 0,
            topology_crosses(t, f->routes[i].source, f->routes[i].destination, b.net.hot));
    free(expected);
    close_bed(&b);
}

static void other_selections_reach_the_network_too(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:8,4,4", 2, 5);
    const struct flows *f = &b.range.flows;
    ui_select(&b.ui, (struct selection){SELECT_VERTEX, 3, 0});
    update(&b);
    for (uint32_t r = 0; r < b.model->rank_count; r++)
        assert_int_equal(ui_marks_rank(&b.ui, b.model, r), r / 2 == 3);
    assert_true(f->selected_routes > 0 && (f->vertex_marks[3] & FLOW_SELECTED));
    ui_select(&b.ui, (struct selection){SELECT_ROUTE, 0, 2});
    update(&b);
    assert_int_equal(f->selected_routes, flows_find(f, 0, 2) != FLOWS_NONE);
    ui_select(&b.ui, (struct selection){SELECT_RANK, 8, 0});
    update(&b);
    for (uint32_t i = 0; i < f->route_count; i++)
        if (f->route_marks[i] & FLOW_SELECTED)
            assert_true(f->routes[i].source == 4 || f->routes[i].destination == 4);
    assert_true(f->selected_routes > 0);
    ui_select(&b.ui, (struct selection){SELECT_NODE, 2, 0}); /* of the job: two ranks */
    update(&b);
    assert_true((f->vertex_marks[2] & FLOW_SELECTED) && !(f->vertex_marks[1] & FLOW_SELECTED));
    ui_select(&b.ui, (struct selection){SELECT_PAIR, 0, 2});
    update(&b);
    assert_int_equal(f->selected_routes, 1);
    ui_select(&b.ui, (struct selection){0});
    update(&b);
    assert_int_equal(f->selected_routes, 0);
    ui_select(&b.ui, (struct selection){SELECT_VERTEX, UINT64_MAX, 0}); /* of a network before */
    update(&b);
    ui_select(&b.ui, (struct selection){SELECT_LINK, UINT64_MAX, 0});
    update(&b);
    assert_int_equal(f->selected_routes, 0);
    close_bed(&b);
}

static int loaded_above(const struct bed *b, uint32_t route, double low)
{
    uint32_t links[64];
    uint32_t length = flows_walk(&b->range.flows, b->model, route, links, 64);
    for (uint32_t k = 0; k < length; k++)
        if ((double)b->range.flows.loads[links[k]] >= low)
            return 1;
    return 0;
}

static void filters_let_pass_what_is_in_range(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:8,4,4", 2, 5);
    const struct flows *f = &b.range.flows;
    assert_int_equal(f->shown_routes, f->route_count);
    double low = f->maximum[METRIC_LOAD] * 0.5;
    flow_filter_range(&b.ui.network.filter, METRIC_LOAD, low, f->maximum[METRIC_LOAD]);
    update(&b);
    assert_in_range(f->shown_routes, 1, f->route_count - 1);
    for (uint32_t i = 0; i < f->route_count; i++)
        assert_int_equal((f->route_marks[i] & FLOW_SHOWN) != 0, loaded_above(&b, i, low));
    for (uint32_t l = 0; l < f->link_count; l++)
        assert_int_equal((f->link_marks[l] & FLOW_SHOWN) != 0, (double)f->loads[l] >= low);
    flow_filter_range(&b.ui.network.filter, METRIC_LENGTH, 3, 100);
    update(&b);
    for (uint32_t i = 0; i < f->route_count; i++)
        assert_int_equal((f->route_marks[i] & FLOW_SHOWN) != 0, f->routes[i].length >= 3);
    flow_filter_range(&b.ui.network.filter, METRIC_OUT, f->maximum[METRIC_OUT], INFINITY);
    update(&b);
    for (uint32_t i = 0; i < f->route_count; i++)
        assert_int_equal((f->route_marks[i] & FLOW_SHOWN) != 0,
                         (double)f->vertices[f->routes[i].source].out >= f->maximum[METRIC_OUT]);
    flow_filter_range(&b.ui.network.filter, METRIC_TRANSIT, NAN, NAN);
    update(&b);
    assert_int_equal(f->shown_routes, 0);
    flow_filter_clear(&b.ui.network.filter);
    update(&b);
    assert_int_equal(f->shown_routes, f->route_count);
    close_bed(&b);
}

static void picked_sets_filter_too(void **state)
{
    struct bed b;
    char text[160];
    (void)state;
    open_bed(&b, "torus:8,4,4", 2, 5);
    const struct flows *f = &b.range.flows;
    const uint64_t links[] = {b.net.hot}, nodes[] = {9, 3, UINT64_MAX},
                   routes[] = {(uint64_t)f->routes[7].source << 32 | f->routes[7].destination};
    assert_int_equal(flow_filter_pick(&b.ui.network.filter, FLOW_ROUTES, routes, 1), 0);
    update(&b);
    assert_int_equal(f->shown_routes, 1);
    assert_true(f->route_marks[7] & FLOW_SHOWN);
    assert_string_equal(flow_filter_text(&b.ui.network.filter, text, sizeof text),
                        "1 route picked");
    flow_filter_pick(&b.ui.network.filter, FLOW_VERTICES, nodes, 3);
    update(&b);
    for (uint32_t i = 0; i < f->route_count; i++) {
        const struct flow *r = &f->routes[i];
        assert_int_equal((f->route_marks[i] & FLOW_SHOWN) != 0, r->source == 3 || r->source == 9 ||
                                                                    r->destination == 3 ||
                                                                    r->destination == 9);
    }
    flow_filter_pick(&b.ui.network.filter, FLOW_LINKS, links, 1);
    flow_filter_range(&b.ui.network.filter, METRIC_BYTES, f->maximum[METRIC_BYTES],
                      f->maximum[METRIC_BYTES]);
    update(&b);
    assert_int_equal(f->shown_routes, 1);
    flow_filter_text(&b.ui.network.filter, text, sizeof text);
    assert_non_null(strstr(text, "message size"));
    assert_non_null(strstr(text, "1 link picked"));
    close_bed(&b);
}

static void figures_are_ranked(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:8,4,4", 2, 5);
    struct flows *f = &b.range.flows;
    for (int metric = 0; metric < METRICS; metric++) {
        enum flow_metric m = (enum flow_metric)metric;
        uint32_t used = 0;
        assert_true(flows_rank(f, m) >= 0);
        assert_int_equal(flows_rank(f, m), 0);
        for (uint32_t i = 0; i < flows_count(f, m); i++)
            used += flows_value(f, m, i) > 0;
        assert_int_equal(f->ranked_count, used);
        assert_true(flows_value(f, m, f->ranked[0]) == f->maximum[metric]);
        for (uint32_t i = 1; i < used; i++)
            assert_true(flows_value(f, m, f->ranked[i]) <= flows_value(f, m, f->ranked[i - 1]));
        assert_int_equal(flows_above(f, 0), used);
        assert_int_equal(flows_above(f, f->maximum[metric] * 1.01), 0);
        assert_true(flows_above(f, f->maximum[metric]) >= 1);
    }
    close_bed(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_every_pair_and_hop),
        cmocka_unit_test(a_part_of_the_time_has_its_own_loads),
        cmocka_unit_test(a_job_by_groups_of_ranks_has_the_routes_of_its_nodes),
        cmocka_unit_test(ranks_that_move_take_their_messages_along),
        cmocka_unit_test(without_topology_nothing_is_carried),
        cmocka_unit_test(views_of_other_things_need_no_sums),
        cmocka_unit_test(a_suggested_mapping_is_applied_and_undone),
        cmocka_unit_test(suggested_routes_unload_the_hot_link),
        cmocka_unit_test(very_long_routes_load_their_links_though_they_are_not_stored),
        cmocka_unit_test(a_link_selects_its_routes_and_their_ranks),
        cmocka_unit_test(other_selections_reach_the_network_too),
        cmocka_unit_test(filters_let_pass_what_is_in_range),
        cmocka_unit_test(picked_sets_filter_too),
        cmocka_unit_test(figures_are_ranked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
