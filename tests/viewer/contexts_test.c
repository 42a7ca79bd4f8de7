/* Sums by communicator and region, and measured loads of links: the model's memories behind view
 * "torus". */
#include "viewer/model/contexts.h"
#include "viewer/model/measured.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void rows_of_a_context_add_up(void **state)
{
    (void)state;
    struct contexts c = {0};
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 1000; i++) {
            const struct context row = {i, i + 1, i % 3, i % 5};
            assert_int_equal(contexts_add(&c, &row, 1, i), 0);
        }
    assert_int_equal(c.keys.count, 1000);
    for (uint32_t n = 0; n < 1000; n++) {
        struct context row = contexts_at(&c, n);
        assert_true(row.destination == row.source + 1 && row.comm == row.source % 3 &&
                    row.region == row.source % 5);
        assert_int_equal(c.sums[2 * n], 3);
        assert_int_equal(c.sums[2 * n + 1], 3 * row.source);
    }
    uint64_t version = c.version;
    contexts_restart(&c);
    assert_true(c.version > version && c.sums[0] == 0 && c.keys.count == 1000);
    contexts_finish(&c);
}

static void rows_beyond_the_bound_are_counted(void **state)
{
    (void)state;
    struct contexts c = {0};
    const struct context known = {0, 0, 0, 0}, fresh = {7, 7, 7, 7};
    for (uint32_t i = 0; i < CONTEXTS_MAXIMUM; i++) {
        const struct context row = {i, 0, 0, 0};
        assert_int_equal(contexts_add(&c, &row, 1, 1), 0);
    }
    assert_int_equal(contexts_add(&c, &fresh, 5, 1), 0);
    assert_int_equal(contexts_add(&c, &known, 1, 1), 0);
    assert_true(c.keys.count == CONTEXTS_MAXIMUM && c.left_out == 5 && c.sums[0] == 2);
    contexts_finish(&c);
}

static int apply(struct measured *m, uint64_t window, struct wire_link_row *rows, uint64_t count)
{
    struct wire_links message = {.job = "1", .window = window, .links = rows, .links_count = count};
    return measured_apply(m, &message);
}

static void what_was_measured_is_summed_over_any_span(void **state)
{
    (void)state;
    struct measured m;
    struct wire_link_row rows[4] = {{.link = 9, .measured = 5, .unit = 1},
                                    {.link = 2, .measured = 7, .unit = 1},
                                    {.link = 3, .measured = UINT64_MAX},
                                    {.link = UINT64_MAX, .measured = 1}};
    uint64_t sums[10] = {0};
    measured_init(&m);
    assert_int_equal(m.version, 0);
    for (uint64_t w = 100; w < 110; w++)
        assert_int_equal(apply(&m, w, rows, 4), 0);
    assert_int_equal(apply(&m, 109, rows, 4), 0); /* told again after a new connection */
    history_sum(&m.history, 102, 104, sums, 10);
    assert_true(sums[9] == 15 && sums[2] == 21 && sums[3] == 0 && m.unit == 1);
    history_sum(&m.history, 0, UINT64_MAX, sums, 10);
    assert_int_equal(sums[9], 50);
    measured_clear(&m);
    assert_int_equal(m.version, 0);
    assert_int_equal(apply(&m, 1, rows + 2, 1), 0);
    assert_int_equal(m.version, 0); /* nothing was measured */
    measured_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_context_add_up),
        cmocka_unit_test(rows_beyond_the_bound_are_counted),
        cmocka_unit_test(what_was_measured_is_summed_over_any_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
