/* The process grid of a job, from what agents report of Cartesian communicators to a network with
 * ranks in it. */
#include "daemon/job/network/job_network.h"
#include "daemon/topology/network_grid.h"
#include "holter/error.h"
#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 64u

/* ---- what agents report -------------------------------------------------- */

struct telling {
    struct wire_cart_row carts[MOST];
    struct wire_cart_member_row members[MOST];
    struct wire_ranks message;
};

static void begin(struct telling *t, uint64_t world)
{
    memset(t, 0, sizeof(*t));
    t->message = (struct wire_ranks){.world = world, .carts = t->carts, .cart_members = t->members};
}

/* sizes: ended by 0; negative: it wraps. @return where it begins */
static uint64_t cart(struct telling *t, uint64_t id, uint64_t made, const int *sizes)
{
    uint64_t first = t->message.carts_count;
    for (; *sizes != 0; sizes++)
        t->carts[t->message.carts_count++] =
            (struct wire_cart_row){id, made, (uint64_t)abs(*sizes), *sizes < 0};
    return first;
}

static void member(struct telling *t, uint64_t first, uint64_t rank, uint64_t position)
{
    t->members[t->message.cart_members_count++] =
        (struct wire_cart_member_row){first, rank, position};
}

static void refused(const struct telling *t, const char *text)
{
    char why[128] = "";
    assert_int_equal(network_grid_check(&t->message, why, sizeof(why)), -HOLTER_ERANGE);
    if (strstr(why, text) == NULL)
        fail_msg("'%s' does not tell '%s'", why, text);
}

static int take(struct network_grid *grid, const struct telling *t)
{
    char why[128] = "";
    if (network_grid_check(&t->message, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return network_grid_update(grid, &t->message);
}

/* ---- which grid ---------------------------------------------------------- */

static void without_reports_there_is_no_grid(void **state)
{
    (void)state;
    struct network_grid grid = {0};
    struct telling t;
    begin(&t, 8);
    assert_int_equal(take(&grid, &t), 0);
    assert_int_equal(grid.ranks, 0);
    assert_int_equal(network_grid_node(&grid, 0), TOPOLOGY_NONE);
    network_grid_finish(&grid);
}

static void ranks_stand_where_the_communicator_has_them(void **state)
{
    (void)state;
    struct network_grid grid = {0};
    struct telling t;
    begin(&t, 8);
    uint64_t first = cart(&t, 77, 0, (int[]){-3, 2, 0});
    for (uint64_t p = 0; p < 6; p++)
        member(&t, first, 7 - p, p); /* turned round, and ranks 0 and 1 are not in it */
    assert_int_equal(take(&grid, &t), 2);
    assert_int_equal(take(&grid, &t), 0); /* the same again */
    assert_int_equal(grid.ranks, 6);
    assert_int_equal(network_grid_node(&grid, 7), 0);
    assert_int_equal(network_grid_node(&grid, 2), 5);
    assert_int_equal(network_grid_node(&grid, 1), TOPOLOGY_NONE);
    assert_true(network_grid_node(&grid, UINT64_MAX) == TOPOLOGY_NONE);
    struct topology_spec spec;
    struct topology *topology;
    char why[100], name[TOPOLOGY_NAME + 1];
    network_grid_spec(&grid, &spec);
    assert_int_equal(spec.dimensions[0].connection, TOPOLOGY_TORUS);
    assert_int_equal(spec.dimensions[1].connection, TOPOLOGY_MESH);
    assert_int_equal(topology_create(&topology, &spec, why, sizeof(why)), 0);
    assert_int_equal(topology_nodes(topology), 6);
    topology_vertex_name(topology, 3, name, sizeof(name)); /* as MPI_Cart_coords has it */
    assert_string_equal(name, "(1,1)");
    assert_int_equal(topology_distance(topology, 0, 4), 1);
    topology_destroy(topology);
    topology_spec_finish(&spec);
    network_grid_finish(&grid);
}

/* The grids below are reported in any order; the one that is used is listed first. */
static void one_of_several_is_taken_whatever_comes_first(void **state)
{
    (void)state;
    static const struct {
        uint64_t id, made;
        int sizes[5];
    } grids[] = {{9, 3, {2, 2, 2}}, {4, 4, {2, 2, 2}}, {9, 4, {2, 2, 2, 1}}, {1, 0, {8}},
                 {2, 0, {4, 2}},    {3, 0, {8, 1, 1}}, {5, 0, {2, 3}},       {6, 0, {2}}};
    enum { COUNT = sizeof(grids) / sizeof(*grids) };
    srand(7);
    for (int turn = 0; turn < 200; turn++) {
        struct network_grid grid = {0};
        for (int i = 0; i < 3 * COUNT; i++) {
            int which = i < 2 * COUNT ? rand() % COUNT : (i + turn) % COUNT;
            struct telling t;
            begin(&t, 8);
            member(&t, cart(&t, 1000, 9, (int[]){2, 0}), 7, 1);
            member(&t, cart(&t, grids[which].id, grids[which].made, grids[which].sizes),
                   (uint64_t)which, 1);
            assert_true(take(&grid, &t) >= 0);
        }
        assert_int_equal(grid.id, 9);
        assert_int_equal(grid.made, 3);
        assert_int_equal(grid.dimensions, 3);
        assert_int_equal(network_grid_node(&grid, 0), 1);
        for (uint64_t rank = 1; rank < 8; rank++)
            assert_int_equal(network_grid_node(&grid, rank), TOPOLOGY_NONE);
        network_grid_finish(&grid);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct telling t;
    begin(&t, 8);
    cart(&t, 5, 0, (int[]){4, 0});
    t.carts[0].size = 0;
    refused(&t, "carts[0] and what follows is no grid");
    begin(&t, 8);
    cart(&t, 4, 0, (int[]){4, 2, 0});
    cart(&t, 5, 0, (int[]){3, 3, 0}); /* nine ranks of eight */
    refused(&t, "carts[2]");
    begin(&t, 8);
    cart(&t, 5, 0, (int[]){1, 1, 0}); /* one rank is no grid */
    refused(&t, "carts[0]");
    begin(&t, UINT64_MAX);
    for (int i = 0; i < 4; i++) /* 2^64 */
        t.carts[t.message.carts_count++] = (struct wire_cart_row){.id = 5, .size = 65536};
    refused(&t, "carts[0]");
    t.carts[1].size = UINT64_MAX;
    refused(&t, "carts[0]");
    begin(&t, 8);
    cart(&t, 5, 0, (int[]){8, 1, 1, 1, 1, 1, 1, 1, 1, 0}); /* nine dimensions */
    refused(&t, "1 to 8 dimensions");
    begin(&t, 8);
    member(&t, 0, 1, 0);
    refused(&t, "cart_members[0].cart");
    cart(&t, 5, 0, (int[]){4, 2, 0});
    member(&t, 1, 1, 0); /* its second dimension */
    refused(&t, "cart_members[1].cart");
    t.message.cart_members_count = 1;
    t.members[0].position = 8;
    refused(&t, "cart_members[0].position is 8 of 8");
    t.members[0] = (struct wire_cart_member_row){0, 8, 0};
    refused(&t, "cart_members[0].rank is 8 of 8");
}

/* Any numbers: what the check lets through does no harm. */
static void random_rows_are_taken_or_refused(void **state)
{
    (void)state;
    struct network_grid grid = {0};
    unsigned taken = 0;
    srand(11);
    for (int turn = 0; turn < 20000; turn++) {
        struct telling t;
        char why[128];
        begin(&t, 1 + (uint64_t)(rand() % 64));
        t.message.carts_count = (uint64_t)(rand() % 6);
        t.message.cart_members_count = (uint64_t)(rand() % 3);
        for (uint64_t i = 0; i < t.message.carts_count; i++)
            t.carts[i] = (struct wire_cart_row){(uint64_t)(rand() % 3), (uint64_t)(rand() % 2),
                                                (uint64_t)(rand() % 16 == 0 ? 0 : 1 + rand() % 3),
                                                (uint64_t)(rand() % 2)};
        for (uint64_t i = 0; i < t.message.cart_members_count; i++)
            t.members[i] = (struct wire_cart_member_row){
                (uint64_t)(rand() % 4), (uint64_t)(rand() % 16), (uint64_t)(rand() % 5)};
        if (network_grid_check(&t.message, why, sizeof(why)) != 0)
            continue;
        assert_true(network_grid_update(&grid, &t.message) >= 0);
        taken += t.message.cart_members_count > 0;
        for (uint64_t rank = 0; rank < 64; rank++)
            assert_true(network_grid_node(&grid, rank) == TOPOLOGY_NONE ||
                        network_grid_node(&grid, rank) < grid.ranks);
    }
    assert_true(taken > 100);
    network_grid_finish(&grid);
}

/* ---- the network of a job ------------------------------------------------ */

static struct {
    uint64_t kind, dimensions, seats[MOST], told;
    char source[513], fault[513];
} told;

static void on_topology(void *user, const struct wire_topology *m)
{
    (void)user;
    told.told++;
    told.kind = m->kind;
    told.dimensions = m->dimensions_count;
    snprintf(told.source, sizeof(told.source), "%s", m->source);
    snprintf(told.fault, sizeof(told.fault), "%s", m->fault);
    for (uint64_t i = 0; i < m->seats_count; i++)
        told.seats[m->seats[i].rank] = m->seats[i].vertex;
}

/* 0 sends to 1, and 1 to 2. */
static struct wire_links close_window(struct job_network *n, uint64_t number)
{
    static struct wire_pair_row pairs[] = {
        {.source = 0, .destination = 1, .messages = 1, .bytes = 100},
        {.source = 1, .destination = 2, .messages = 1, .bytes = 10},
    };
    struct closed_window window = {.number = number, .pairs = pairs, .pair_count = 2};
    struct wire_links links = {.window = 0};
    assert_int_equal(job_network_update(n, &window), 0);
    assert_true(job_network_links(n, &links));
    return links;
}

static void the_tree_stands_for_the_grid_until_there_is_one(void **state)
{
    (void)state;
    struct network given;
    network_read(&given, NETWORK_GRID);
    struct job_network *n;
    struct job_network_options options = {
        .job = "j", .given = &given, .window_ns = UINT64_C(1000000000)};
    assert_int_equal(job_network_create(&n, &options), 0);
    for (uint32_t rank = 0; rank < 4; rank++)
        assert_int_equal(job_network_place(n, rank, 0, "host", rank + 1, 1), 0);
    close_window(n, 1);
    job_network_publish(n, "j", on_topology, NULL);
    assert_int_equal(told.kind, TOPOLOGY_TREE);
    assert_string_equal(told.source, "");
    assert_non_null(strstr(told.fault, "no Cartesian communicator"));
    job_network_set_published(n, 1);

    struct telling t; /* 0 and 1 are the ends of a line, 2 is beside 0, 3 is not in it */
    begin(&t, 4);
    uint64_t first = cart(&t, 50, 0, (int[]){3, 0});
    static const uint64_t places[] = {0, 2, 1};
    for (uint64_t rank = 0; rank < 3; rank++)
        member(&t, first, rank, places[rank]);
    assert_int_equal(job_network_add_grids(n, &t.message), 0);
    struct wire_links links = close_window(n, 2);
    assert_true(job_network_has_changed(n));
    job_network_publish(n, "j", on_topology, NULL);
    assert_int_equal(told.kind, TOPOLOGY_CARTESIAN);
    assert_string_equal(told.source, NETWORK_GRID);
    assert_string_equal(told.fault, "");
    assert_int_equal(told.seats[1], 2);
    assert_true(told.seats[3] == UINT64_MAX);
    assert_true(links.hop_bytes > 209.5 && links.hop_bytes < 210.5); /* two hops and one */
    job_network_set_published(n, 1);
    close_window(n, 3);
    assert_false(job_network_has_changed(n));

    begin(&t, 4); /* a larger one comes later */
    first = cart(&t, 60, 0, (int[]){-2, 2, 0});
    for (uint64_t rank = 0; rank < 4; rank++)
        member(&t, first, rank, rank);
    assert_int_equal(job_network_add_grids(n, &t.message), 0);
    links = close_window(n, 4);
    job_network_publish(n, "j", on_topology, NULL);
    assert_int_equal(told.dimensions, 2);
    assert_int_equal(told.seats[3], 3);
    assert_true(links.hop_bytes > 119.5 && links.hop_bytes < 120.5);
    job_network_destroy(n);
    network_finish(&given);
}

static void a_grid_that_nobody_asked_for_is_not_kept(void **state)
{
    (void)state;
    struct job_network *n;
    struct job_network_options options = {.job = "j", .window_ns = 1000};
    struct telling t;
    begin(&t, 4);
    member(&t, cart(&t, 50, 0, (int[]){3, 0}), 0, 0);
    assert_int_equal(job_network_create(&n, &options), 0);
    assert_int_equal(job_network_place(n, 0, 0, "host", 1, 1), 0);
    size_t bytes = memory_used();
    assert_int_equal(job_network_add_grids(n, &t.message), 0);
    assert_int_equal(memory_used(), bytes);
    job_network_destroy(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_reports_there_is_no_grid),
        cmocka_unit_test(ranks_stand_where_the_communicator_has_them),
        cmocka_unit_test(one_of_several_is_taken_whatever_comes_first),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(random_rows_are_taken_or_refused),
        cmocka_unit_test(the_tree_stands_for_the_grid_until_there_is_one),
        cmocka_unit_test(a_grid_that_nobody_asked_for_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
