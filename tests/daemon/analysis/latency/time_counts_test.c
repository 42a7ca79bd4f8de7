/* Counts of transfer times by class against plain ones. */
#include "daemon/analysis/latency/criteria.h"
#include "daemon/analysis/latency/time_counts.h"
#include "holter/error.h"
#include "tests/daemon/analysis/latency/counted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 5000, SIZES = 7 };

struct row {
    unsigned locality, size_class;
    uint32_t time_class;
    uint64_t messages;
};

static struct row draw(void)
{
    return (struct row){.locality = (unsigned)rand() % LOCALITIES,
                        .size_class = (unsigned)rand() % SIZES * 100,
                        .time_class = 600 + (uint32_t)rand() % 300,
                        .messages = (uint64_t)rand() % 4};
}

static void count(struct time_counts *counts, struct row row)
{
    assert_int_equal(time_counts_add(counts, time_counts_class(row.locality, row.size_class),
                                     row.time_class, row.messages),
                     0);
}

static struct criteria *make(void)
{
    struct criteria *criteria;
    struct criteria_params params = CRITERIA_DEFAULTS;
    params.horizon = 3;
    assert_int_equal(criteria_create(&criteria, &params), 0);
    return criteria;
}

static void assert_same(const struct criteria *a, const struct criteria *b)
{
    for (unsigned l = 0; l < LOCALITIES; l++) {
        for (unsigned s = 0; s < SIZE_CLASSES; s++) {
            double one[] = {criteria_recent(a, l, s), criteria_reference(a, l, s)};
            double other[] = {criteria_recent(b, l, s), criteria_reference(b, l, s)};
            assert_memory_equal(one, other, sizeof(one));
        }
    }
    assert_int_equal(criteria_count(a), criteria_count(b));
}

/* Counted ahead, moved or added one by one: and some of both in one window. */
static void counts_make_the_criteria_that_rows_make(void **state)
{
    (void)state;
    struct criteria *rows = make(), *counts = make();
    struct time_counts window = {0}, late = {0};
    srand(3);
    for (uint64_t w = 0; w < 10; w++) {
        for (unsigned i = 0; i < ROWS; i++) {
            struct row row = draw();
            assert_int_equal(
                criteria_add(rows, row.locality, row.size_class, row.time_class, row.messages), 0);
            if (w % 2 == 1 && i % 10 == 0)
                assert_int_equal(criteria_add(counts, row.locality, row.size_class, row.time_class,
                                              row.messages),
                                 0);
            else
                count(i % 3 == 0 ? &late : &window, row);
        }
        assert_int_equal(time_counts_move(&window, &late), 0);
        assert_int_equal(counted_messages(&late), 0);
        assert_int_equal(criteria_count_times(counts, &window), 0);
        assert_int_equal(counted_messages(&window), 0);
        assert_int_equal(criteria_close(rows, w), 0);
        assert_int_equal(criteria_close(counts, w), 0);
        assert_same(rows, counts);
    }
    time_counts_finish(&window);
    time_counts_finish(&late);
    criteria_destroy(rows);
    criteria_destroy(counts);
}

static void messages_taken_back_were_never_there(void **state)
{
    (void)state;
    struct time_counts counts = {0};
    struct row rows[100];
    for (unsigned i = 0; i < 100; i++) {
        rows[i] = draw();
        count(&counts, rows[i]);
    }
    for (unsigned i = 0; i < 100; i++)
        time_counts_remove(&counts, time_counts_class(rows[i].locality, rows[i].size_class),
                           rows[i].time_class, rows[i].messages);
    assert_int_equal(counted_messages(&counts), 0);
    time_counts_finish(&counts);
}

static void more_messages_than_criteria_take_are_refused(void **state)
{
    (void)state;
    struct criteria *criteria = make();
    struct time_counts counts = {0};
    for (unsigned i = 0; i < 3; i++)
        count(&counts, (struct row){0, 100, 700 + i, UINT64_C(1) << 40});
    count(&counts, (struct row){0, 200, 700, 20});
    assert_int_equal(criteria_count_times(criteria, &counts), -HOLTER_ERANGE);
    assert_int_equal(counted_messages(&counts), 0);
    assert_int_equal(criteria_close(criteria, 0), 0);
    assert_int_equal(criteria_count(criteria), 2);
    time_counts_finish(&counts);
    criteria_destroy(criteria);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_make_the_criteria_that_rows_make),
        cmocka_unit_test(messages_taken_back_were_never_there),
        cmocka_unit_test(more_messages_than_criteria_take_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
