#include "daemon/analysis/matching/transfers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROWS = 1000 };

/* Of each seven rows one has a figure more than fits, another one in turn. */
static struct transfer draw(uint32_t i)
{
    struct transfer row = {.source = i,
                           .destination = i % 5 == 0 ? UINT32_MAX : i + 1,
                           .size_class = (uint16_t)(i % SIZE_CLASSES),
                           .locality = (uint8_t)(i % LOCALITIES),
                           .messages = i % 3 == 0 ? TRANSFER_MOST : i % 100,
                           .delayed = i % 4 == 0 ? TRANSFER_MOST : 0,
                           .transfer_ns = UINT32_MAX - i,
                           .late_sender_ns = i,
                           .late_receiver_ns = UINT32_MAX,
                           .network_ns = 3 * i,
                           .joint_ns = UINT32_MAX / 2,
                           .log2_sum = 77 * i};
    uint64_t *const figures[] = {&row.messages,       &row.delayed,          &row.transfer_ns,
                                 &row.late_sender_ns, &row.late_receiver_ns, &row.network_ns,
                                 &row.joint_ns,       &row.log2_sum};
    if (i % 7 == 0)
        *figures[i / 7 % 8] = i % 2 == 0 ? UINT64_MAX : UINT64_C(1) << 32;
    if (i % 77 == 0)
        row.messages = TRANSFER_MOST + 1;
    return row;
}

static void assert_same(struct transfer a, struct transfer b)
{
    assert_true(a.source == b.source && a.destination == b.destination &&
                a.size_class == b.size_class && a.locality == b.locality);
#define X(name) assert_int_equal(a.name, b.name);
    TRANSFER_SUMS(X)
#undef X
}

static void rows_come_back_whether_they_fit_or_not(void **state)
{
    (void)state;
    struct transfers rows = {0};
    for (int round = 0; round < 2; round++) {
        transfers_clear(&rows);
        assert_int_equal(transfers_room(&rows, round == 0 ? 0 : ROWS), 0);
        for (uint32_t i = 0; i < ROWS; i++) {
            struct transfer row = draw(i);
            assert_int_equal(transfers_add(&rows, &row), 0);
        }
        assert_int_equal(rows.count, ROWS);
        assert_int_equal(rows.wide_count, (ROWS + 6) / 7);
        for (uint32_t i = 0; i < ROWS; i++)
            assert_same(transfer_at(&rows, i), draw(i));
    }
    transfers_finish(&rows);
    transfers_finish(&rows);
}

static void rows_left_out_are_gone_and_others_stay(void **state)
{
    (void)state;
    struct transfers rows = {0};
    for (uint32_t i = 0; i < 100; i++) {
        struct transfer row = draw(i);
        assert_int_equal(transfers_add(&rows, &row), 0);
    }
    rows.near_count = 60;
    transfers_cut(&rows, 49); /* the next one was wide */
    assert_int_equal(rows.wide_count, 7);
    assert_int_equal(rows.near_count, 49);
    struct transfer row = draw(49);
    assert_int_equal(transfers_add(&rows, &row), 0);
    assert_int_equal(rows.count, 50);
    for (uint32_t i = 0; i < 50; i++)
        assert_same(transfer_at(&rows, i), draw(i));
    transfers_clear(&rows);
    assert_int_equal(rows.count + rows.near_count, 0);
    transfers_finish(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_whether_they_fit_or_not),
        cmocka_unit_test(rows_left_out_are_gone_and_others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
