#include "daemon/analysis/commgram/commgram_curve.h"

#include "holter/error.h"
#include "tests/daemon/analysis/commgram/plain_curve.h"
#include "tests/daemon/analysis/regions/graphs.h"
#include "tests/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct curve *create(struct curve_params params)
{
    struct curve *curve;
    assert_int_equal(curve_create(&curve, &params), 0);
    return curve;
}

static struct curve *create_exact(void)
{
    struct curve_params params = CURVE_DEFAULTS;
    params.tolerance = 0;
    return create(params);
}

static struct curve_phase as_given(const struct phase *phase)
{
    return (struct curve_phase){phase->labels, phase->ranks};
}

static struct curve_point append(struct curve *curve, const struct phase *phase,
                                 uint32_t *identities)
{
    struct curve_point point, before;
    uint32_t provisional[RANKS];
    const struct curve_phase given = as_given(phase);
    assert_int_equal(curve_provisional(curve, &given, &before, provisional), 0);
    assert_int_equal(curve_append(curve, &given, &point, identities), 0);
    assert_true(point.phase == before.phase && point.resembles == before.resembles);
    assert_int_equal(point.returned, before.returned);
    ASSERT_NEAR(point.height, before.height, 0);
    ASSERT_NEAR(point.difference, before.difference, 0);
    ASSERT_NEAR(point.resemblance, before.resemblance, 0);
    if (identities != NULL && phase->ranks > 0)
        assert_memory_equal(identities, provisional, phase->ranks * sizeof(*identities));
    return point;
}

/* Communities of so many ranks each, those before `shift` in the last. */
static struct phase blocks(uint32_t size, uint32_t shift)
{
    struct phase phase = {.ranks = RANKS};
    for (uint32_t r = 0; r < RANKS; r++)
        phase.labels[r] = (r + RANKS - shift) % RANKS / size;
    return phase;
}

static struct phase stride(uint32_t communities)
{
    struct phase phase = {.ranks = RANKS};
    for (uint32_t r = 0; r < RANKS; r++)
        phase.labels[r] = r % communities;
    return phase;
}

static struct phase random_phase(uint32_t communities, uint64_t *random)
{
    struct phase phase = {.ranks = RANKS};
    for (uint32_t r = 0; r < RANKS; r++)
        phase.labels[r] = random_next(random) % communities;
    return phase;
}

/* So many ranks go to a community at random. */
static void move(struct phase *phase, uint32_t count, uint64_t *random)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = phase->labels[random_next(random) % RANKS];
        phase->labels[random_next(random) % RANKS] = to;
    }
}

/* Other labels for the same communities, UINT32_MAX - 1 and 0 among them. */
static struct phase relabelled(const struct phase *phase, uint64_t *random)
{
    struct phase other = *phase;
    uint32_t name[RANKS];
    for (uint32_t i = 0; i < RANKS; i++)
        name[i] = i == 0   ? CURVE_ABSENT - 1
                  : i == 1 ? 0
                           : (random_next(random) & 0x7fffff00u) | (i & 255);
    for (uint32_t i = RANKS - 1; i > 0; i--) {
        uint32_t at = random_next(random) % (i + 1), was = name[i];
        name[i] = name[at];
        name[at] = was;
    }
    for (uint32_t r = 0; r < phase->ranks; r++)
        other.labels[r] =
            phase->labels[r] == CURVE_ABSENT ? CURVE_ABSENT : name[phase->labels[r] % RANKS];
    return other;
}

/* ---- against the plain reference ----------------------------------------------- */

static void assert_is_plain(const struct curve_params *params, const struct phase *phases,
                            uint32_t count)
{
    static struct plain plain;
    struct curve *curve = create(*params);
    memset(&plain, 0, sizeof(plain));
    plain.params = *params;
    for (uint32_t i = 0; i < count; i++) {
        struct curve_point point = append(curve, &phases[i], NULL);
        struct curve_point expected = plain_append(&plain, &phases[i]);
        ASSERT_NEAR(point.difference, expected.difference, 0);
        ASSERT_NEAR(point.resemblance, expected.resemblance, 1e-15);
        assert_true(!point.returned || point.resemblance >= 1 - params->tolerance - 1e-15);
        ASSERT_NEAR(point.height, expected.height, 1e-12);
        assert_true(point.phase == i && point.resembles == expected.resembles);
        assert_int_equal(point.returned, expected.returned);
    }
    curve_destroy(curve);
}

/* A loop of some patterns with noise, now and then something else, ranks that come and go. */
static void fill_random(struct phase *phases, uint32_t count, uint64_t *random)
{
    struct phase loop[8];
    uint32_t length = 1 + random_next(random) % 8;
    for (uint32_t i = 0; i < length; i++)
        loop[i] = random_phase(2 + random_next(random) % 20, random);
    for (uint32_t i = 0; i < count; i++) {
        phases[i] = loop[i % length];
        if (random_next(random) % 6 == 0)
            phases[i] = random_phase(1 + random_next(random) % RANKS, random);
        move(&phases[i], random_next(random) % 4, random);
        if (random_next(random) % 8 == 0)
            phases[i].ranks = random_next(random) % (RANKS + 1);
        if (random_next(random) % 4 == 0)
            phases[i].labels[random_next(random) % RANKS] = CURVE_ABSENT;
    }
}

static void the_curve_is_that_of_the_plain_method(void **state)
{
    static struct phase phases[50];
    uint64_t random = 3;
    (void)state;
    for (uint32_t round = 0; round < 18; round++) {
        struct curve_params params = CURVE_DEFAULTS;
        params.tolerance = round % 3 == 0 ? 0 : 0.05 * (double)(round % 3);
        params.most_patterns = round % 4 == 0 ? 64 : 2 + round % 8;
        fill_random(phases, 50, &random);
        assert_is_plain(&params, phases, 50);
    }
}

/* ---- goldens ------------------------------------------------------------------- */

static void the_curve_is_flat_while_the_pattern_repeats(void **state)
{
    struct curve *curve = create_exact();
    struct phase a = blocks(5, 0);
    uint32_t first[RANKS], identities[RANKS];
    uint64_t random = 1;
    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        struct phase same = relabelled(&a, &random);
        struct curve_point point = append(curve, &same, i == 0 ? first : identities);
        ASSERT_NEAR(point.height, 0, 0);
        ASSERT_NEAR(point.difference, 0, 0);
        assert_true(point.phase == i && point.communities == 12);
        assert_true(point.resembles == (i == 0 ? CURVE_NO_PHASE : 0));
        if (i > 0)
            assert_memory_equal(first, identities, sizeof(first));
    }
    curve_destroy(curve);
}

/* CommGram, Fig. 7: long flat, drop, short flat, back up. */
static void an_alternation_has_two_levels(void **state)
{
    struct curve *curve = create_exact();
    struct phase a = blocks(10, 0), b = stride(3);
    uint32_t of_a[RANKS], of_b[RANKS], identities[RANKS];
    double low = -plain_difference(&a, &b);
    (void)state;
    ASSERT_NEAR(low, -(1 - 12.0 / 60), 1e-15); /* each community keeps a third of its 10, or 4 */
    for (uint32_t i = 0; i < 40; i++) {
        bool is_b = i % 4 == 3;
        struct curve_point point = append(curve, is_b ? &b : &a, identities);
        ASSERT_NEAR(point.height, is_b ? low : 0, 1e-12);
        ASSERT_NEAR(point.difference, is_b || (i > 0 && i % 4 == 0) ? -low : 0, 1e-12);
        assert_int_equal(point.returned, i != 0 && i != 3);
        if (i == 0)
            memcpy(of_a, identities, sizeof(of_a));
        if (i == 3)
            memcpy(of_b, identities, sizeof(of_b));
        assert_memory_equal(identities, is_b ? of_b : of_a, sizeof(identities));
    }
    curve_destroy(curve);
}

static void a_pattern_that_returns_brings_its_height_back(void **state)
{
    const struct phase loop[5] = {blocks(10, 0), stride(3), blocks(6, 2), stride(20),
                                  blocks(15, 7)};
    uint32_t known[5][RANKS], identities[RANKS];
    double heights[5];
    struct curve *curve = create_exact();
    uint64_t random = 8;
    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t at = i < 5 ? i : random_next(&random) % 5;
        struct phase phase = relabelled(&loop[at], &random);
        struct curve_point point = append(curve, &phase, identities);
        if (i < 5) {
            heights[at] = point.height;
            memcpy(known[at], identities, sizeof(identities));
            continue;
        }
        ASSERT_NEAR(point.height, heights[at], 0);
        ASSERT_NEAR(point.resemblance, 1, 0);
        assert_true(point.resembles == at);
        assert_memory_equal(identities, known[at], sizeof(identities));
    }
    curve_destroy(curve);
}

/* C is like A: from B it goes up again. D is like B: from C it goes down. */
static void the_curve_goes_towards_the_most_similar_pattern(void **state)
{
    struct curve *curve = create_exact();
    struct phase a = blocks(10, 0), b = stride(3), c = blocks(10, 1), d = stride(3);
    (void)state;
    for (uint32_t r = 0; r < 6; r++)
        d.labels[r] = 3;
    append(curve, &a, NULL);
    double low = append(curve, &b, NULL).height;
    struct curve_point point = append(curve, &c, NULL);
    assert_true(low < 0 && point.height > low && point.resembles == 0 && !point.returned);
    ASSERT_NEAR(point.resemblance, 0.9, 1e-15);
    ASSERT_NEAR(point.height, low + point.difference, 1e-15);
    double high = point.height;
    point = append(curve, &d, NULL);
    assert_true(point.resembles == 1 && !point.returned);
    ASSERT_NEAR(point.resemblance, 0.9, 1e-15);
    ASSERT_NEAR(point.height, high - point.difference, 1e-15);
    curve_destroy(curve);
}

/* 1 of 60 ranks is elsewhere in each phase, as are 2 % of many. */
static void noise_moves_neither_heights_nor_most_identities(void **state)
{
    struct curve *curve = create(CURVE_DEFAULTS);
    const struct phase loop[2] = {blocks(10, 0), stride(3)};
    uint32_t known[2][RANKS], identities[RANKS];
    double low = -plain_difference(&loop[0], &loop[1]);
    uint64_t random = 5;
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t at = i < 2 ? i : i % 4 == 3, same = 0;
        struct phase phase = loop[at];
        if (i >= 2)
            phase.labels[random_next(&random) % RANKS] = random_next(&random) % 7;
        struct curve_point point = append(curve, &phase, identities);
        ASSERT_NEAR(point.height, at == 0 ? 0 : low, 0);
        if (i < 2)
            memcpy(known[at], identities, sizeof(identities));
        for (uint32_t r = 0; r < RANKS; r++)
            same += identities[r] == known[at][r];
        assert_true(same >= RANKS - 1);
    }
    curve_destroy(curve);
}

/* One rank more goes over in each phase: never far from the phase before. */
static void drift_is_not_lost_in_the_tolerance(void **state)
{
    struct curve *curve = create(CURVE_DEFAULTS);
    struct phase phase = blocks(30, 0);
    struct curve_point point = append(curve, &phase, NULL);
    (void)state;
    for (uint32_t r = 0; r < 24; r++) {
        phase.labels[r] = 1;
        point = append(curve, &phase, NULL);
        ASSERT_NEAR(point.difference, 1 / 60.0, 1e-15);
    }
    ASSERT_NEAR(fabs(point.height), 24 / 60.0, 1e-12);
    curve_destroy(curve);
}

static void labels_mean_nothing(void **state)
{
    static struct phase phases[80];
    uint64_t random = 21;
    (void)state;
    fill_random(phases, 80, &random);
    struct curve *one = create(CURVE_DEFAULTS), *other = create(CURVE_DEFAULTS);
    for (uint32_t i = 0; i < 80; i++) {
        uint32_t identities[2][RANKS] = {{0}};
        struct phase same = relabelled(&phases[i], &random);
        struct curve_point a = append(one, &phases[i], identities[0]);
        struct curve_point b = append(other, &same, identities[1]);
        ASSERT_NEAR(a.height, b.height, 0);
        ASSERT_NEAR(a.difference, b.difference, 0);
        assert_true(a.resembles == b.resembles);
        assert_memory_equal(identities[0], identities[1], sizeof(identities[0]));
    }
    curve_destroy(one);
    curve_destroy(other);
}

static void identities_tell_communities_apart(void **state)
{
    static struct phase phases[LONGEST];
    uint32_t identities[RANKS];
    uint64_t random = 17;
    struct curve *curve = create(CURVE_DEFAULTS);
    (void)state;
    fill_random(phases, LONGEST, &random);
    for (uint32_t i = 0; i < LONGEST; i++) {
        append(curve, &phases[i], identities);
        for (uint32_t a = 0; a < phases[i].ranks; a++) {
            uint32_t label = phases[i].labels[a];
            assert_int_equal(identities[a] == CURVE_ABSENT, label == CURVE_ABSENT);
            for (uint32_t b = 0; b < a; b++)
                assert_int_equal(identities[a] == identities[b], label == phases[i].labels[b]);
        }
    }
    curve_destroy(curve);
}

/* One community splits: one part keeps its identity, the larger one. */
static void the_larger_part_keeps_its_identity(void **state)
{
    struct curve *curve = create_exact();
    struct phase phase = blocks(20, 0);
    uint32_t before[RANKS], after[RANKS];
    (void)state;
    append(curve, &phase, before);
    for (uint32_t r = 0; r < 8; r++)
        phase.labels[r] = 99;
    append(curve, &phase, after);
    for (uint32_t r = 8; r < RANKS; r++)
        assert_int_equal(after[r], before[r]);
    for (uint32_t r = 0; r < 8; r++)
        assert_int_equal(after[r], 3);
    curve_destroy(curve);
}

/* ---- difference ---------------------------------------------------------------- */

static double difference(const struct phase *one, const struct phase *other)
{
    struct curve *curve = create_exact();
    append(curve, one, NULL);
    double d = append(curve, other, NULL).difference;
    curve_destroy(curve);
    return d;
}

static void the_difference_is_a_metric(void **state)
{
    struct phase phases[40];
    static double d[40][40];
    uint64_t random = 77;
    (void)state;
    fill_random(phases, 40, &random);
    for (uint32_t a = 0; a < 40; a++)
        for (uint32_t b = 0; b < 40; b++) {
            d[a][b] = difference(&phases[a], &phases[b]);
            ASSERT_NEAR(d[a][b], plain_difference(&phases[a], &phases[b]), 0);
            assert_true(d[a][b] >= 0 && d[a][b] <= 1);
        }
    for (uint32_t a = 0; a < 40; a++) {
        ASSERT_NEAR(d[a][a], 0, 0);
        for (uint32_t b = 0; b < 40; b++) {
            ASSERT_NEAR(d[a][b], d[b][a], 0);
            for (uint32_t c = 0; c < 40; c++)
                assert_true(d[a][c] <= d[a][b] + d[b][c] + 1e-12);
        }
    }
}

static void ranks_come_and_go(void **state)
{
    struct curve *curve = create_exact();
    struct phase a = blocks(10, 0), fewer = a, none = a;
    uint32_t identities[RANKS];
    (void)state;
    fewer.ranks = 45;
    none.ranks = 0;
    append(curve, &a, NULL);
    ASSERT_NEAR(append(curve, &fewer, NULL).difference, 0.25, 1e-15);
    ASSERT_NEAR(append(curve, &none, NULL).difference, 1, 0);
    struct curve_point point = append(curve, &none, NULL);
    ASSERT_NEAR(point.difference, 0, 0);
    assert_true(point.returned && point.communities == 0);
    for (uint32_t r = 0; r < RANKS; r++)
        none.labels[r] = CURVE_ABSENT;
    none.ranks = RANKS; /* all of them absent: the same */
    point = append(curve, &none, identities);
    assert_true(point.returned && point.resembles == 2);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_true(identities[r] == CURVE_ABSENT);
    point = append(curve, &a, NULL);
    ASSERT_NEAR(point.height, 0, 0);
    assert_true(point.returned && point.resembles == 0);
    curve_destroy(curve);
}

static void memory_is_bounded_by_the_patterns_remembered(void **state)
{
    const size_t before = memory_used();
    struct curve *curve = create_exact();
    uint64_t random = 4;
    (void)state;
    for (uint32_t i = 0; i < 2 * LONGEST; i++) {
        struct phase phase = random_phase(1 + i % RANKS, &random);
        append(curve, &phase, NULL);
        assert_true(memory_used() - before < (64 * 12 + 230) * RANKS + 30000);
    }
    curve_destroy(curve);
}

static void errors_change_nothing(void **state)
{
    struct curve *curve;
    struct curve_params params = CURVE_DEFAULTS;
    struct phase a = blocks(10, 0), b = stride(4);
    struct curve_point point = {.phase = 99};
    const struct curve_params wrong[] = {{0, 64, 0},          {UINT32_MAX, 64, 0}, {64, 1, 0},
                                         {64, UINT32_MAX, 0}, {64, 64, -1},        {64, 64, NAN},
                                         {64, 64, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(curve_create(&curve, &wrong[i]), -HOLTER_ERANGE);
    params.most_ranks = RANKS;
    curve = create(params);
    append(curve, &a, NULL);
    struct curve_phase given = as_given(&b);
    given.ranks = RANKS + 1;
    assert_int_equal(curve_append(curve, &given, &point, NULL), -HOLTER_ELIMIT);
    assert_int_equal(curve_provisional(curve, &given, &point, NULL), -HOLTER_ELIMIT);
    assert_int_equal(point.phase, 99);
    given = as_given(&b);
    assert_int_equal(curve_provisional(curve, &given, &point, NULL), 0);
    point = append(curve, &a, NULL);
    assert_true(point.phase == 1 && point.returned && point.difference < 1e-15);
    size_t bytes = memory_used();
    curve_destroy(curve);
    assert_true(bytes - memory_used() < 100000);
    curve_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_is_that_of_the_plain_method),
        cmocka_unit_test(the_curve_is_flat_while_the_pattern_repeats),
        cmocka_unit_test(an_alternation_has_two_levels),
        cmocka_unit_test(a_pattern_that_returns_brings_its_height_back),
        cmocka_unit_test(the_curve_goes_towards_the_most_similar_pattern),
        cmocka_unit_test(noise_moves_neither_heights_nor_most_identities),
        cmocka_unit_test(drift_is_not_lost_in_the_tolerance),
        cmocka_unit_test(labels_mean_nothing),
        cmocka_unit_test(identities_tell_communities_apart),
        cmocka_unit_test(the_larger_part_keeps_its_identity),
        cmocka_unit_test(the_difference_is_a_metric),
        cmocka_unit_test(ranks_come_and_go),
        cmocka_unit_test(memory_is_bounded_by_the_patterns_remembered),
        cmocka_unit_test(errors_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
