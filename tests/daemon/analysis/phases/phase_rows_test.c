/* Sorted tables of edges against plain arrays indexed by edge. */
#include "daemon/analysis/phases/phase_rows.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EDGES 6000u

/* What a table should hold, edge by edge. */
struct plain {
    uint64_t messages[EDGES], bytes[EDGES];
};

/* Groups of edges that follow each other, and some edges alone.
 * @param from, step  the first group of 50 edges, and the distance to the next: tables from 0 and
 *                    from 1 in steps of 2 have no edge in common
 * @param maximum     messages of an edge */
static struct phase_rows random_table(struct plain *plain, unsigned from, unsigned step,
                                      uint64_t maximum, uint64_t *random)
{
    struct phase_rows table = {
        .rows = malloc((size_t)EDGES * PHASE_ROWS_PER_EDGE * sizeof(struct phase_row))};
    struct phase_excess excess = {0};
    assert_non_null(table.rows);
    memset(plain, 0, sizeof(*plain));
    for (uint32_t group = from; (group + 1) * 50 <= EDGES; group += step) {
        uint32_t part = random_next(random) % 4;
        for (uint32_t i = 0; i < 50 && part > 0; i++) {
            uint32_t edge = group * 50 + i;
            if (part == 1 && i % 7 != 3)
                continue;
            plain->messages[edge] = 1 + random_next(random) % maximum;
            plain->bytes[edge] = random_next(random) % 1000;
            phase_rows_append(&table, edge, plain->messages[edge], plain->bytes[edge], &excess);
        }
    }
    assert_true(excess.messages == 0 && excess.bytes == 0);
    phase_rows_fit(&table);
    return table;
}

static void add(struct plain *to, const struct plain *from)
{
    for (uint32_t e = 0; e < EDGES; e++) {
        to->messages[e] += from->messages[e];
        to->bytes[e] += from->bytes[e];
    }
}

static void assert_table_is(const struct phase_rows *table, const struct plain *plain)
{
    static struct plain found;
    uint32_t rows = 0;
    memset(&found, 0, sizeof(found));
    for (uint32_t i = 0; i < table->count; i++) {
        const struct phase_row *row = &table->rows[i];
        assert_true(i == 0 || row->edge >= table->rows[i - 1].edge);
        assert_true(row->messages > 0);
        found.messages[row->edge] += row->messages;
        found.bytes[row->edge] += row->bytes;
    }
    for (uint32_t e = 0; e < EDGES; e++)
        rows += phase_rows_needed(plain->messages[e]);
    assert_int_equal(table->count, rows);
    assert_memory_equal(&found, plain, sizeof(found));
}

static uint32_t plain_common(const struct plain *a, const struct plain *b)
{
    uint32_t common = 0;
    for (uint32_t e = 0; e < EDGES; e++) {
        uint32_t one = phase_rows_needed(a->messages[e]), other = phase_rows_needed(b->messages[e]);
        common += one < other ? one : other;
    }
    return common;
}

/* Large sums take several rows for an edge, small ones one. */
static void tables_have_in_common_what_both_have(void **state)
{
    static struct plain one, other;
    uint64_t random = 1;
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        uint64_t maximum = round % 2 == 0 ? 5 : UINT64_C(3) << 32;
        struct phase_rows a = random_table(&one, 0, 1 + round % 3, maximum, &random);
        struct phase_rows b = random_table(&other, round % 2, 1 + round % 5, 9, &random);
        assert_int_equal(phase_rows_common(&a, &b), plain_common(&one, &other));
        assert_int_equal(phase_rows_common(&b, &a), plain_common(&one, &other));
        phase_rows_finish(&a);
        phase_rows_finish(&b);
    }
}

/* Apart, overlapping, and, the second time, one within the other. */
static void merged_tables_have_the_sums_of_both(void **state)
{
    static struct plain one, other, third;
    uint64_t random = 2;
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        uint64_t maximum = round % 3 == 0 ? UINT64_C(3) << 31 : 5;
        struct phase_excess excess = {0};
        struct phase_rows a = random_table(&one, 0, 2, maximum, &random);
        struct phase_rows b = random_table(&other, 1, 2, 5, &random);
        struct phase_rows c = random_table(&third, 0, 1, 7, &random), part = {0};
        assert_int_equal(phase_rows_merge(&a, &b, &excess), 0);
        add(&one, &other);
        assert_int_equal(b.count, 0);
        assert_table_is(&a, &one);
        assert_int_equal(phase_rows_common(&c, &a), plain_common(&one, &third));
        assert_int_equal(phase_rows_merge(&c, &a, &excess), 0);
        add(&third, &one);
        assert_table_is(&c, &third);
        part.rows = malloc(c.count * sizeof(*part.rows));
        for (uint32_t i = 0; i < c.count; i += 3)
            if (part.count == 0 || part.rows[part.count - 1].edge != c.rows[i].edge)
                part.rows[part.count++] = (struct phase_row){c.rows[i].edge, 1, 2};
        for (uint32_t i = 0; i < part.count; i++) {
            third.messages[part.rows[i].edge] += 1;
            third.bytes[part.rows[i].edge] += 2;
        }
        if (round % 2 == 0)
            assert_int_equal(phase_rows_merge(&c, &part, &excess), 0);
        else
            assert_int_equal(phase_rows_merge(&part, &c, &excess), 0);
        assert_table_is(round % 2 == 0 ? &c : &part, &third);
        assert_true(excess.messages == 0 && excess.bytes == 0);
        phase_rows_finish(&part);
        phase_rows_finish(&c);
    }
}

static void what_exceeds_the_rows_of_an_edge_is_returned(void **state)
{
    const uint64_t maximum = (uint64_t)PHASE_ROWS_PER_EDGE * UINT32_MAX;
    struct phase_rows one = {.rows = malloc(4 * sizeof(struct phase_row))},
                      other = {.rows = malloc(4 * sizeof(struct phase_row))};
    struct phase_excess excess = {0};
    (void)state;
    phase_rows_append(&one, 7, maximum, 1000, &excess);
    phase_rows_append(&other, 7, maximum, 3000, &excess);
    assert_int_equal(excess.messages, 0);
    assert_int_equal(phase_rows_merge(&one, &other, &excess), 0);
    assert_int_equal(one.count, 4);
    assert_true(excess.messages == maximum && excess.bytes == 2000);
    phase_rows_finish(&one);
    phase_rows_finish(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_in_common_what_both_have),
        cmocka_unit_test(merged_tables_have_the_sums_of_both),
        cmocka_unit_test(what_exceeds_the_rows_of_an_edge_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
