/* Lists of rows of matched messages. */
#include "daemon/analysis/matching/transfers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROWS = 1000 };

/* One row of seven has a figure of more than 32 bits, each figure in turn. */
static struct transfer draw(uint32_t i)
{
    struct transfer row = {.source = i,
                           .destination = i % 5 == 0 ? UINT32_MAX : i + 1,
                           .size_class = (uint16_t)(i % SIZE_CLASSES),
                           .locality = (uint8_t)(i % LOCALITIES),
                           .messages = i % 3 == 0 ? 1023 : i % 100,
                           .delayed = i % 4 == 0 ? 1023 : 0,
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
        row.messages = 1024;
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

static void rows_are_stored_in_full(void **state)
{
    (void)state;
    struct transfers rows = {0};
    for (int round = 0; round < 2; round++) {
        transfers_clear(&rows);
        assert_int_equal(transfers_reserve(&rows, round == 0 ? 0 : ROWS), 0);
        for (uint32_t i = 0; i < ROWS; i++) {
            struct transfer row = draw(i);
            assert_int_equal(transfers_add(&rows, &row), 0);
        }
        assert_int_equal(rows.count, ROWS);
        for (uint32_t i = 0; i < ROWS; i++)
            assert_same(rows.rows[i], draw(i));
    }
    transfers_finish(&rows);
    transfers_finish(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_stored_in_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
