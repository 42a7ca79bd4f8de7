/* Cartesian communicators from the segments of a node's ranks to rows of a message. */
#include "agent/node/carts.h"
#include "agent/node/rank.h"

#include "holter/error.h"
#include "tests/agent/node/fake_rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SESSION "7e57ca"

static struct cart_slot grid(uint64_t id, uint32_t position, uint32_t a, uint32_t b)
{
    return (struct cart_slot){
        .dimensions = 2, .periods = 2, .position = position, .id = id, .made = 7, .sizes = {a, b}};
}

static void ranks_of_a_node_share_what_is_known_of_a_communicator(void **state)
{
    (void)state;
    struct carts carts = {.count = 0};
    struct wire_ranks out = {.seq = 0};
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct cart_slot whole = grid(500, 3 - rank, 2, 2),
                         row = grid(600 + rank / 2, rank % 2, 1, 2);
        assert_int_equal(carts_add(&carts, &whole, rank, 8), 1);
        assert_int_equal(carts_add(&carts, &row, rank, 8), 1);
    }
    assert_int_equal(carts_list_rows(&carts, 0, &out), 0);
    assert_int_equal(out.carts_count, 6);
    assert_int_equal(out.cart_members_count, 8);
    for (uint64_t i = 0; i < 8; i++) {
        const struct wire_cart_member_row *m = &out.cart_members[i];
        const struct wire_cart_row *c = &out.carts[m->cart];
        assert_int_equal(m->rank, i / 2);
        assert_int_equal(c->id, i % 2 == 0 ? 500 : 600 + i / 4);
        assert_int_equal(m->position, i % 2 == 0 ? 3 - i / 2 : i / 2 % 2);
        assert_int_equal(c[0].size, i % 2 == 0 ? 2 : 1);
        assert_true(c[0].made == 7 && c[0].wraps == 0 && c[1].wraps == 1 && c[1].size == 2);
    }
    carts_mark_announced(&carts);
    assert_int_equal(carts_list_rows(&carts, 0, &out), 0);
    assert_int_equal(out.carts_count + out.cart_members_count, 0);
    struct cart_slot late = grid(601, 1, 1, 2);
    assert_int_equal(carts_add(&carts, &late, 9, 10), 1);
    assert_int_equal(carts_list_rows(&carts, 0, &out), 0); /* only what it is of */
    assert_int_equal(out.carts_count, 2);
    assert_int_equal(out.carts[out.cart_members[0].cart].id, 601);
    assert_int_equal(carts_list_rows(&carts, 1, &out), 0);
    assert_int_equal(out.carts_count, 6);
    assert_int_equal(out.cart_members_count, 9);
    carts_finish(&carts);
}

static void what_is_no_grid_is_passed_over(void **state)
{
    (void)state;
    struct carts carts = {.count = 0};
    struct cart_slot wrong[] = {
        grid(1, 4, 2, 2),                   /* beyond it */
        grid(1, 0, 0, 4),                   /* no size */
        grid(1, 0, 3, 3),                   /* more than there are */
        grid(1, 0, 1, 1),                   /* one rank */
        grid(0, 0, 2, 2),                   /* no communicator */
        grid(1, 0, UINT32_MAX, UINT32_MAX), /* more than 64 bits, with the next */
        grid(1, 0, 2, 2),
        grid(1, 0, 2, 2),
    };
    wrong[6].dimensions = 0;
    wrong[7].dimensions = CART_DIMENSIONS + 1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(carts_add(&carts, &wrong[i], 0, 8), 0);
    struct cart_slot many = {.dimensions = CART_DIMENSIONS, .id = 1};
    for (uint32_t i = 0; i < CART_DIMENSIONS; i++)
        many.sizes[i] = UINT32_MAX;
    assert_int_equal(carts_add(&carts, &many, 0, UINT64_MAX), 0);
    assert_int_equal(carts.count, 0);
    carts_finish(&carts);
}

static void there_is_a_bound(void **state)
{
    (void)state;
    struct carts carts = {.count = 0};
    struct wire_ranks out = {.seq = 0};
    for (uint64_t id = 1; id <= CARTS_MAXIMUM + 10; id++) {
        struct cart_slot slot = grid(id, 0, 2, 2);
        assert_int_equal(carts_add(&carts, &slot, 0, 4), id <= CARTS_MAXIMUM);
    }
    assert_int_equal(carts_list_rows(&carts, 1, &out), 0);
    assert_int_equal(out.carts_count, 2 * CARTS_MAXIMUM);
    carts_finish(&carts);
}

static void put(struct fake_rank *fake, uint32_t index, uint64_t id)
{
    struct cart_slot *slot = segment_cart(fake->segment, index);
    *slot = grid(id, 1, 2, 2);
    atomic_store(&slot->ready, 1);
    atomic_fetch_add(&fake->segment->carts_made, 1);
}

static void a_rank_is_asked_for_what_is_new(void **state)
{
    (void)state;
    struct fake_rank fake;
    struct rank *rank;
    struct carts carts = {.count = 0};
    assert_int_equal(fake_rank_create(&fake, SESSION, (int32_t)getpid(), "job.0", 2, 8, 64), 0);
    assert_int_equal(rank_open(&rank, fake.name, SESSION, 1), 0);
    assert_true(rank_is_initialised(rank));
    assert_int_equal(rank_collect_carts(rank, &carts), 0);
    put(&fake, 0, 40);
    put(&fake, 2, 42); /* 1 is being filled */
    assert_int_equal(rank_collect_carts(rank, &carts), 1);
    put(&fake, 1, 41);
    assert_int_equal(rank_collect_carts(rank, &carts), 2);
    for (uint32_t i = 3; i < SEGMENT_CARTS; i++)
        put(&fake, i, i == 10 ? 0 : 100 + i); /* one is not right */
    assert_int_equal(rank_collect_carts(rank, &carts), SEGMENT_CARTS - 4);
    assert_int_equal(rank_collect_carts(rank, &carts), 0);
    assert_int_equal(carts.places[0].rank, 2);
    carts_finish(&carts);
    rank_destroy(rank);
    fake_rank_destroy(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_a_node_share_what_is_known_of_a_communicator),
        cmocka_unit_test(what_is_no_grid_is_passed_over),
        cmocka_unit_test(there_is_a_bound),
        cmocka_unit_test(a_rank_is_asked_for_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
