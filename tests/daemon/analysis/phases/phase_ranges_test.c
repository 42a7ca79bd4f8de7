#include "daemon/analysis/phases/phase_ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EDGES 400u

/* Edges one by one. */
struct plain {
    bool has[EDGES];
};

static uint32_t random_below(uint64_t *state, uint32_t most)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % most;
}

/* Some ranges, of which some touch. */
static struct phase_ranges make(uint64_t *state, struct plain *plain)
{
    struct phase_range of[PHASE_RANGES_MOST];
    struct phase_ranges ranges = {0};
    uint32_t count = 0, longest = 1 + random_below(state, 60);
    *plain = (struct plain){{false}};
    for (uint32_t at = random_below(state, longest); at < EDGES;) {
        uint32_t end = at + 1 + random_below(state, longest);
        end = end < EDGES ? end : EDGES;
        assert_true(phase_ranges_append(of, &count, at, end));
        memset(plain->has + at, true, end - at);
        at = end + random_below(state, longest);
    }
    phase_ranges_set(&ranges, of, count);
    assert_true(phase_ranges_are_known(&ranges));
    return ranges;
}

static void assert_ranges_are(const struct phase_ranges *ranges, const struct plain *plain)
{
    uint32_t at = 0;
    assert_true(phase_ranges_are_known(ranges));
    for (uint32_t i = 0; i < ranges->count; i++) {
        assert_true(i == 0 || ranges->of[i].first > ranges->of[i - 1].end);
        for (; at < ranges->of[i].first; at++)
            assert_false(plain->has[at]);
        for (; at < ranges->of[i].end; at++)
            assert_true(plain->has[at]);
    }
    for (; at < EDGES; at++)
        assert_false(plain->has[at]);
}

static void ranges_have_in_common_and_together_what_their_edges_have(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 500; round++) {
        struct plain left, right;
        struct phase_ranges one = make(&random, &left), other = make(&random, &right);
        uint32_t common = 0;
        for (uint32_t i = 0; i < EDGES; i++) {
            common += left.has[i] && right.has[i];
            left.has[i] = left.has[i] || right.has[i];
        }
        assert_int_equal(phase_ranges_common(&one, &other), common);
        assert_int_equal(phase_ranges_common(&other, &one), common);
        phase_ranges_join(&one, &other);
        assert_ranges_are(&one, &left);
        assert_false(phase_ranges_are_known(&other));
        phase_ranges_finish(&one);
    }
}

static void no_edges_are_known_to_be_none(void **state)
{
    (void)state;
    uint64_t random = 2;
    struct plain plain;
    struct phase_ranges none = {0}, some = make(&random, &plain);
    phase_ranges_set(&none, NULL, 0);
    assert_true(phase_ranges_are_known(&none));
    assert_int_equal(phase_ranges_common(&none, &some), 0);
    phase_ranges_join(&none, &some);
    assert_ranges_are(&none, &plain);
    phase_ranges_finish(&none);
}

/* Every second edge from one on. */
static struct phase_ranges scattered(uint32_t from)
{
    struct phase_range of[PHASE_RANGES_MOST];
    struct phase_ranges ranges = {0};
    uint32_t count = 0;
    while (count < PHASE_RANGES_MOST) {
        uint32_t edge = from + 2 * count;
        assert_true(phase_ranges_append(of, &count, edge, edge + 1));
    }
    assert_false(phase_ranges_append(of, &count, from + 2 * count, from + 2 * count + 1));
    assert_true(phase_ranges_append(of, &count, from + 2 * count - 1, from + 2 * count));
    assert_int_equal(count, PHASE_RANGES_MOST);
    phase_ranges_set(&ranges, of, count);
    return ranges;
}

static void too_many_ranges_are_not_known(void **state)
{
    (void)state;
    struct phase_ranges one = scattered(0), other = scattered(4 * PHASE_RANGES_MOST),
                        beyond = scattered(0);
    phase_ranges_join(&one, &other);
    assert_false(phase_ranges_are_known(&one));
    assert_false(phase_ranges_are_known(&other));
    phase_ranges_join(&beyond, &one);
    assert_false(phase_ranges_are_known(&beyond));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_have_in_common_and_together_what_their_edges_have),
        cmocka_unit_test(no_edges_are_known_to_be_none),
        cmocka_unit_test(too_many_ranges_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
