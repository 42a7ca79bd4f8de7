/* Cuts by count that keep pauses. */
#include "daemon/analysis/phases/phase_pauses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/daemon/analysis/phases/bursts.h"

#define PATTERNS 12u
#define FINE 1024u

/* Patterns of half a second to six seconds, of bursts up to 5 ms apart; within each now and then a
 * pause of 20 ms, between two of them one of 0.3 to 0.5 s.
 * @param begins  of the patterns @return what they are kept in */
static struct phases *make_patterns(uint64_t *random, int64_t *begins)
{
    struct phases *phases = create(4096, 250 * MS);
    int64_t at = 0;
    for (uint32_t i = 0; i < PATTERNS; i++) {
        int64_t end = at + (500 + random_next(random) % 5500) * MS;
        begins[i] = at;
        while (at < end) {
            assert_int_equal(add_at(phases, at), 0);
            at += 1 + random_next(random) % (5 * MS);
            at += random_next(random) % 100 == 0 ? 20 * MS : 0;
        }
        at += (300 + random_next(random) % 200) * MS;
    }
    return phases;
}

static size_t cut_patterns(struct phases *phases, size_t maximum, struct phase *out)
{
    size_t count;
    assert_int_equal(phases_cut_count(phases, EVER, FINE, out, &count), 0);
    assert_int_equal(phase_pauses_join(out, &count, maximum), 0);
    return count;
}

static bool begins_at(const struct phase *phases, size_t count, int64_t ns)
{
    for (size_t i = 0; i < count; i++)
        if (phases[i].begin_ns == ns)
            return true;
    return false;
}

static void pauses_between_patterns_are_cuts_at_every_level(void **state)
{
    static struct phase cut[FINE];
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        uint64_t random = seed, bursts;
        int64_t begins[PATTERNS];
        struct phases *phases = make_patterns(&random, begins);
        for (size_t maximum = 1; maximum <= 64; maximum++) {
            size_t count = cut_patterns(phases, maximum, cut), patterns = 0;
            assert_int_equal(count, maximum);
            for (uint32_t i = 0; i < PATTERNS; i++)
                patterns += begins_at(cut, count, begins[i]);
            assert_int_equal(patterns, maximum < PATTERNS ? maximum : PATTERNS);
            bursts = 0;
            for (size_t i = 0; i < count; i++) {
                assert_true(i == 0 || cut[i].begin_ns > cut[i - 1].end_ns);
                bursts += cut[i].bursts;
            }
            assert_int_equal(bursts, counts_of(phases).bursts);
        }
        phases_destroy(phases);
    }
}

static void without_clear_pauses_it_is_the_cut_of_the_tree(void **state)
{
    static struct phase fine[FINE], plain[FINE];
    struct phases *phases = create(4096, 250 * MS);
    uint64_t random = 3;
    int64_t at = 0;
    (void)state;
    for (uint32_t i = 0; i < 900; i++, at += MS + random_next(&random) % MS)
        assert_int_equal(add_at(phases, at), 0);
    for (size_t maximum = 1; maximum <= 1000; maximum += 37) {
        size_t count = cut_patterns(phases, maximum, fine), expected;
        assert_int_equal(phases_cut_count(phases, EVER, maximum, plain, &expected), 0);
        assert_int_equal(count, expected);
        for (size_t i = 0; i < count; i++)
            assert_true(fine[i].begin_ns == plain[i].begin_ns &&
                        fine[i].end_ns == plain[i].end_ns && fine[i].bursts == plain[i].bursts &&
                        fine[i].height_ns == plain[i].height_ns);
    }
    phases_destroy(phases);
}

static void few_phases_stay_as_they_are(void **state)
{
    struct phase one = {.bursts = 1};
    size_t count = 0;
    (void)state;
    assert_int_equal(phase_pauses_join(NULL, &count, 1), 0);
    assert_int_equal(count, 0);
    count = 1;
    assert_int_equal(phase_pauses_join(&one, &count, 1), 0);
    assert_true(count == 1 && one.bursts == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_between_patterns_are_cuts_at_every_level),
        cmocka_unit_test(without_clear_pauses_it_is_the_cut_of_the_tree),
        cmocka_unit_test(few_phases_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
